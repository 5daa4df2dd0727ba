//! Row pitch: which images have rows that begin at multiples of their pool's pitch.
//!
//! ```text
//! %0 = nn.relu %x : tensor<1x5x7x3xf32>
//! =>    %0 = nn.relu %x {mem.pitch = array<i64: 84, 128>} : tensor<1x5x7x3xf32>
//! ```
//!
//! An image is a value of four axes, channels last. In a pool with a pitch, it takes height x depth rows,
//! each with the bytes of a row of pixels rounded up to the pitch. Other values are dense in the same pool.
//! So is an image that is passed by control flow or is a concatenation with operands in place, and one whose
//! producer, readers or views do not support rows (a remark names them). Decided after `inplace`: a result
//! that overwrites an image has the same rows. Linear in uses.

use cranelift_entity::SecondaryMap;
use ir::alias::{AliasSets, is_marked_view, parts, view_offset_bytes};
use ir::memory_pools::{MemoryPool, pools, wanted};
use ir::opdef::Strided;
use ir::plan::attrs;
use ir::size::{static_extents, storage_bits};
use ir::weights::WeightSet;
use ir::window::{Arrangement, ByteWindow};
use ir::{Body, Context, Diagnostic, Location, Op, Target, Traits, Value, flow};

/// Gives images their rows (`mem.pitch`). Returns how many, and a remark for each that stays dense.
///
/// # Errors
/// If `optc.pools` of the function is malformed.
pub(super) fn pitch_rows(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    aliases: &AliasSets,
) -> Result<(usize, Vec<Diagnostic>), Vec<Diagnostic>> {
    let pools = pools(ctx, body).map_err(|fault| vec![Diagnostic::error(Location::UNKNOWN, fault)])?;
    if pools.iter().all(|pool| pool.pitch == 1) {
        return Ok((0, Vec::new()));
    }
    let chooser = PitchChooser::new(ctx, target, body, aliases);
    let (mut chosen, mut remarks) = (Vec::new(), Vec::new());
    for &root in &chooser.roots {
        let Some((pitch, window)) = chooser.rows(root, &pools) else { continue };
        match chooser.check(root, window) {
            Ok(()) => chosen.push((window, chooser.touched(root))),
            Err(reason) => {
                let message =
                    format!("the rows of this image do not begin at multiples of {pitch}: {reason}");
                remarks.push(Diagnostic::remark(chooser.location(root), message));
            }
        }
    }
    let count = chosen.len();
    for (window, touched) in chosen {
        let rows = ctx.ints_attr(&[window.row as i64, window.pitch as i64]);
        touched.makers.iter().for_each(|op| body.set_attr(ctx, *op, attrs::MEM_PITCH, rows));
        for op in touched.makers.into_iter().chain(touched.readers) {
            crate::select::select_again(ctx, target, body, op);
        }
    }
    Ok((count, remarks))
}

/// Operations whose kernels must support the rows.
struct Touched {
    makers: Vec<Op>,
    readers: Vec<Op>,
}

struct PitchChooser<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    body: &'a Body,
    aliases: &'a AliasSets,
    /// The values that own bytes, in text order, except returned ones.
    roots: Vec<Value>,
    /// The results that have a root's bytes.
    members: SecondaryMap<Value, Vec<Value>>,
}

impl<'a> PitchChooser<'a> {
    fn new(
        ctx: &'a Context,
        target: &'a dyn Target,
        body: &'a Body,
        aliases: &'a AliasSets,
    ) -> PitchChooser<'a> {
        let weights = WeightSet::of(ctx, body);
        let mut members: SecondaryMap<Value, Vec<Value>> = SecondaryMap::new();
        let mut roots = Vec::new();
        flow::walk(ctx, body, |op| {
            for result in body.results(op).filter(|result| !weights.contains(*result)) {
                let root = aliases.root(result);
                members[root].push(result);
                roots.extend((root == result).then_some(root));
            }
        });
        let mut is_returned: SecondaryMap<Value, bool> = SecondaryMap::new();
        for end in super::returns(ctx, body) {
            body.operands(end).for_each(|value| is_returned[aliases.root(value)] = true);
        }
        roots.retain(|root| !is_returned[*root]);
        PitchChooser { ctx, target, body, aliases, roots, members }
    }

    fn location(&self, value: Value) -> Location {
        self.body.defining_op(value).map_or(Location::UNKNOWN, |op| self.body.location(op))
    }

    /// The rows of an image in its pool, and the pool's pitch; none if it would be dense anyway.
    fn rows(&self, root: Value, pools: &[MemoryPool]) -> Option<(u64, ByteWindow)> {
        let name = wanted(self.ctx, self.body, root);
        let pitch = pools.iter().find(|pool| pool.name == name)?.pitch;
        let [depth, height, width, channels] = static_extents(self.ctx, self.body.ty(root))?[..] else {
            return None;
        };
        let bits = storage_bits(self.ctx, self.ctx.elem(self.body.ty(root)))?;
        let row = Some(width * channels * bits / 8).filter(|_| bits.is_multiple_of(8))?;
        let is_image = depth * height > 1 && row > 0 && !row.is_multiple_of(pitch);
        is_image.then(|| (pitch, ByteWindow::of_rows(0, depth * height, row, row.next_multiple_of(pitch))))
    }

    /// Refuses rows that a producer, reader or view of the bytes does not support.
    fn check(&self, root: Value, rows: ByteWindow) -> Result<(), String> {
        self.members[root].iter().try_for_each(|member| {
            self.check_member(*member, rows)?;
            self.body.uses(*member).try_for_each(|used| {
                let op = self.body.at(self.ctx, used.op);
                match view_offset_bytes(op) {
                    _ if op.has(Traits::TERMINATOR) || op.is_structured() => {
                        Err(format!("`{}` hands it on", op.name()))
                    }
                    None if !self.target.reads_rows(op, used.index) => {
                        Err(format!("`{}` does not read it in rows", op.name()))
                    }
                    _ => Ok(()),
                }
            })
        })
    }

    fn check_member(&self, member: Value, rows: ByteWindow) -> Result<(), String> {
        let op = self.body.at(self.ctx, self.body.defining_op(member).expect("members are results"));
        if is_marked_view(op) {
            return Err(format!("`{}` is a view of it with gaps", op.name()));
        }
        let is_view = view_offset_bytes(op).is_some();
        let is_plain = op.body.result_count(op.op) == 1 && !op.is_structured() && parts(op).is_empty();
        let is_free = op.attr(attrs::MEM_PITCH).is_none();
        let takes_rows = is_view || is_plain && is_free && self.target.writes_rows(op);
        if !takes_rows {
            return Err(format!("`{}` does not write it in rows", op.name()));
        }
        let window = self.aliases.window(member).and_then(|window| window.within(&rows));
        let layout = || {
            let bits = storage_bits(self.ctx, self.ctx.elem(self.body.ty(member)))?;
            let shape = static_extents(self.ctx, self.body.ty(member))?;
            Some(Strided { offset: 0, strides: window?.strides(&shape, bits)?, shape })
        };
        let is_written = |layout: &Strided| {
            is_view || Arrangement::of(layout) != Arrangement::Strides || self.target.writes_strides(op)
        };
        let rows = layout().filter(is_written);
        rows.map(drop).ok_or_else(|| format!("the result of `{}` is no rows of it", op.name()))
    }

    fn touched(&self, root: Value) -> Touched {
        let op_of = |member: &Value| self.body.defining_op(*member);
        let is_view = |op: &Op| view_offset_bytes(self.body.at(self.ctx, *op)).is_some();
        let makers: Vec<Op> = self.members[root].iter().filter_map(op_of).filter(|op| !is_view(op)).collect();
        let readers =
            self.members[root].iter().flat_map(|member| self.body.uses(*member)).map(|used| used.op);
        let mut readers: Vec<Op> = readers.filter(|op| !is_view(op) && !makers.contains(op)).collect();
        readers.sort_unstable();
        readers.dedup();
        Touched { makers, readers }
    }
}
