//! In-place concatenation: which operands of a concatenation are written directly into its result.
//!
//! ```text
//! %0 = nn.conv2d %x, %w                    %0 = nn.conv2d %x, %w {mem.pitch = array<i64: 64, 192>}
//! %1 = nn.max_pool2d %x             =>     %1 = nn.max_pool2d %x {mem.pitch = array<i64: 128, 192>}
//! %2 = nn.concat %0, %1                    %2 = nn.concat %0, %1 {mem.parts = array<i64: 0, 1>}
//! ```
//!
//! This also applies to the operand of a padding, which then writes only the elements around the operand.
//!
//! An operand in place shares the result's bytes. Unless the axis is the outermost, it consists of rows with
//! gaps (`mem.pitch`: the bytes of a row, and the pitch). Concatenations are visited from the last to the
//! first, since a result may itself be an operand in place. Concatenations with the same first operands are
//! nested before that (`nest`), so that a block in which each layer reads all earlier results has one buffer.
//! An operand stays a copy if it is a weight or an argument, is passed to a block, is in place elsewhere, or
//! if its producer or some reader does not support gaps; each refusal is a remark. Operands in place that
//! would raise the peak of live bytes are dropped (`peak`). Linear in uses.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use ir::alias::{AliasSets, has_parts, part_windows, parts, ties};
use ir::memory_pools::wanted;
use ir::opdef::Strided;
use ir::plan::attrs;
use ir::size::{static_extents, storage_bits, tensor_bytes};
use ir::weights::WeightSet;
use ir::window::{Arrangement, ByteWindow};
use ir::{Body, Context, Diagnostic, Op, Target, Value, flow};

mod links;
mod nest;
mod peak;

use crate::readers::{MoveObstacle, check_readers, collect_readers};
use links::Link;
use peak::{ConcatValue, Peak};

/// The treatment of values that the producers of operands in place may overwrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwritten {
    /// They are computed in the operand's place and overwritten there.
    InPlace,
    /// They keep bytes of their own, and are live beside the operand.
    Beside,
}

/// The operands in place.
#[derive(Default)]
pub struct PlacedOperands {
    /// The number of operands of concatenations and paddings in place.
    pub parts: usize,
    /// The number of their producers that overwrite an operand there.
    pub ties: usize,
    /// The bytes of the largest value with operands in place.
    pub whole_bytes: u64,
    /// A remark for each operand that is copied, and for each refused overwriting by a producer.
    pub remarks: Vec<Diagnostic>,
}

/// Puts operands of concatenations and paddings in place.
pub fn place_parts(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    overwritten: Overwritten,
) -> PlacedOperands {
    let wholes = concatenations(ctx, body);
    if wholes.is_empty() {
        return PlacedOperands::default();
    }
    nest::nest(ctx, body, &wholes);
    let (chosen, remarks) = ConcatChooser::choose(ctx, target, body, &wholes, overwritten);
    apply(ctx, target, body, &chosen);
    let ties = chosen.iter().map(|part| part.links.len()).sum();
    let whole_bytes = chosen.iter().filter_map(|part| tensor_bytes(ctx, body.ty(part.whole))).max();
    PlacedOperands { parts: chosen.len(), ties, whole_bytes: whole_bytes.unwrap_or(0), remarks }
}

/// A remark for each operand in place in a function, as if it were copied because that lowers the peak of
/// live bytes.
pub fn copied_parts(ctx: &Context, body: &Body) -> Vec<Diagnostic> {
    let mut remarks = Vec::new();
    flow::walk(ctx, body, |op| {
        let parts = parts(body.at(ctx, op)).into_iter();
        remarks.extend(parts.map(|operand| refusal(body, op, operand, RAISES)));
    });
    remarks
}

/// The reason for copying operands that could be in place.
const RAISES: &str = "that would raise the peak of live bytes";
/// The reason why an operand can't be rows of the result.
const CUTS: &str = "a row of it ends inside an axis";

fn refusal(body: &Body, op: Op, operand: usize, reason: &str) -> Diagnostic {
    let message = format!("operand {operand} is copied to its place in the result: {reason}");
    Diagnostic::remark(body.location(op), message)
}

/// Whether there are concatenations or paddings without operands in place that are still to be decided.
pub(crate) fn has_open_parts(ctx: &Context, body: &Body) -> bool {
    !concatenations(ctx, body).is_empty()
}

/// The concatenations and paddings that are still to be decided, in text order.
fn concatenations(ctx: &Context, body: &Body) -> Vec<Op> {
    let mut found = Vec::new();
    flow::walk(ctx, body, |op| {
        let op_ref = body.at(ctx, op);
        let is_open = has_parts(op_ref) && parts(op_ref).is_empty();
        found.extend(is_open.then_some(op));
    });
    if !found.is_empty() {
        let weights = WeightSet::of(ctx, body);
        found.retain(|op| !weights.is_weight_op(body, *op));
    }
    found
}

/// An operand in place.
#[derive(Clone)]
struct ConcatOperand {
    /// The concatenation.
    op: Op,
    operand: usize,
    /// The alias root that owns the operand's bytes.
    root: Value,
    /// The outermost value that it is in place in, and its rows in that.
    whole: Value,
    window: ByteWindow,
    /// The values that its producer overwrites there, and so on.
    links: Vec<Link>,
    /// The operation that overwrites it there, if it is in place in an overwritten value.
    overwriter: Option<Op>,
}

impl ConcatOperand {
    /// The values that use its window, one after the other.
    fn roots(&self) -> impl Iterator<Item = Value> + '_ {
        std::iter::once(self.root).chain(self.links.iter().map(|link| link.root))
    }

    /// The operation that overwrites a value in its window.
    fn overwriter(&self, root: Value) -> Option<Op> {
        let link = self.links.iter().find(|link| link.root == root);
        link.map_or(self.overwriter, |link| Some(link.op))
    }
}

struct ConcatChooser<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    body: &'a Body,
    weights: WeightSet,
    aliases: AliasSets,
    chosen: Vec<ConcatOperand>,
    overwritten: Overwritten,
    /// For each root, the chosen operand in place whose window it uses.
    part_of: SecondaryMap<Value, Option<usize>>,
    remarks: Vec<Diagnostic>,
}

impl<'a> ConcatChooser<'a> {
    fn choose(
        ctx: &'a Context,
        target: &'a dyn Target,
        body: &'a Body,
        wholes: &[Op],
        overwritten: Overwritten,
    ) -> (Vec<ConcatOperand>, Vec<Diagnostic>) {
        let weights = WeightSet::of(ctx, body);
        let aliases = AliasSets::of(ctx, body);
        let chosen = Vec::new();
        let part_of = SecondaryMap::new();
        let remarks = Vec::new();
        let mut chooser =
            ConcatChooser { ctx, target, body, weights, aliases, chosen, overwritten, part_of, remarks };
        for &op in wholes.iter().rev() {
            chooser.look_at(op);
        }
        chooser.keep_what_lowers_the_peak();
        (chooser.chosen, chooser.remarks)
    }

    /// Decides for each operand of a concatenation or padding.
    fn look_at(&mut self, op: Op) {
        let windows = part_windows(self.body.at(self.ctx, op));
        let mut counts: HashMap<Value, usize> = HashMap::new();
        for operand in self.body.operands(op) {
            *counts.entry(self.aliases.root(operand)).or_default() += 1;
        }
        for (operand, window) in windows.into_iter().enumerate() {
            self.look_at_operand(op, operand, window, &counts);
        }
    }

    fn look_at_operand(
        &mut self,
        op: Op,
        operand: usize,
        window: Option<ByteWindow>,
        counts: &HashMap<Value, usize>,
    ) {
        match self.part(op, operand, window, counts) {
            Ok(mut part) => {
                self.part_of[part.root] = Some(self.chosen.len());
                if self.overwritten == Overwritten::InPlace {
                    part.links = self.links(part.root, part.window);
                }
                part.links.iter().for_each(|link| self.part_of[link.root] = Some(self.chosen.len()));
                self.chosen.push(part);
            }
            Err(reason) => self.refuse(op, operand, &reason),
        }
    }

    fn refuse(&mut self, op: Op, operand: usize, reason: &str) {
        self.remarks.push(refusal(self.body, op, operand, reason));
    }

    /// The place of an operand with this window if it is written in place, or the reason why it is copied.
    /// `counts` says how many operands have each root.
    fn part(
        &self,
        op: Op,
        operand: usize,
        window: Option<ByteWindow>,
        counts: &HashMap<Value, usize>,
    ) -> Result<ConcatOperand, String> {
        let value = self.body.operand(op, operand);
        if self.weights.contains(value) {
            return Err("it is a weight".into());
        }
        let root = self.aliases.root(value);
        let unknown = || "its rows are not known".to_owned();
        let bytes = self.aliases.size_bytes(root).filter(|bytes| *bytes > 0).ok_or_else(unknown)?;
        if self.aliases.window(value) != Some(ByteWindow::dense(0, bytes)) {
            return Err("it is a part of a larger value".into());
        }
        let maker = self.body.defining_op(root).ok_or("it is an argument")?;
        if self.body.block_of(maker) != self.body.block_of(op) || self.body.result_count(maker) != 1 {
            return Err("it is made elsewhere".into());
        }
        if counts[&root] > 1 {
            return Err("it stands there more than once".into());
        }
        if self.part_of[root].is_some() {
            return Err("it has its place in another concatenation".into());
        }
        let result = self.body.result(op, 0);
        if wanted(self.ctx, self.body, root) != wanted(self.ctx, self.body, result) {
            return Err("it must be in another pool".into());
        }
        let near = window.ok_or_else(unknown)?;
        let outer = self.part_of[result].map(|index| &self.chosen[index]);
        let (whole, window) = match outer {
            Some(outer) => (outer.whole, near.within(&outer.window).ok_or_else(unknown)?),
            None => (self.aliases.root(result), near),
        };
        let overwriter = outer.and_then(|outer| outer.overwriter(result));
        if let Some(overwriter) = overwriter {
            self.check_last_reader(overwriter, root).map_err(|obstacle| obstacle.reason)?;
        }
        self.check_maker(maker, window)?;
        self.check_readers(Some(op), root, window).map_err(|obstacle| obstacle.reason)?;
        Ok(ConcatOperand { op, operand, root, whole, window, links: Vec::new(), overwriter })
    }

    /// Refuses a producer that can't write gaps, or rows shorter than its last axis.
    fn check_maker(&self, maker: Op, window: ByteWindow) -> Result<(), String> {
        let op = self.body.at(self.ctx, maker);
        let is_plain = !op.is_structured() && ties(op).next().is_none();
        if !is_plain || !window.is_dense() && !self.target.writes_rows(op) {
            return Err(format!("`{}` does not write it in rows", op.name()));
        }
        let layout = self.layout(self.body.result(maker, 0), window).ok_or(CUTS)?;
        let is_apart = Arrangement::of(&layout) == Arrangement::Strides;
        if is_apart && !self.target.writes_strides(op) { Err(CUTS.into()) } else { Ok(()) }
    }

    /// The strides of a value in a window.
    fn layout(&self, value: Value, window: ByteWindow) -> Option<Strided> {
        let shape = static_extents(self.ctx, self.body.ty(value))?;
        let bits = storage_bits(self.ctx, self.ctx.elem(self.body.ty(value)))?;
        Some(Strided { offset: 0, strides: window.strides(&shape, bits)?, shape })
    }

    /// Refuses readers of a value, or of views of it, that can't read gaps; `whole` is the concatenation
    /// itself.
    fn check_readers(&self, whole: Option<Op>, value: Value, window: ByteWindow) -> Result<(), MoveObstacle> {
        let layout = self.layout(value, window).ok_or(CUTS)?;
        check_readers(self.ctx, self.target, self.body, value, &layout, whole)
    }

    /// Drops operands in place that would raise the peak.
    fn keep_what_lowers_the_peak(&mut self) {
        let mut wholes: Vec<ConcatValue> = Vec::new();
        let mut numbers: HashMap<Value, usize> = HashMap::new();
        for part in &self.chosen {
            let number = *numbers.entry(part.whole).or_insert(wholes.len());
            if number == wholes.len() {
                wholes.push(ConcatValue { value: part.whole, parts: Vec::new() });
            }
            wholes[number].parts.extend(part.roots());
        }
        let kept = Peak::of(self.ctx, self.body, &self.weights, &self.aliases).keep(&wholes);
        let is_kept = |part: &ConcatOperand| kept[numbers[&part.whole]];
        let (chosen, dropped): (Vec<ConcatOperand>, Vec<ConcatOperand>) =
            std::mem::take(&mut self.chosen).into_iter().partition(is_kept);
        self.chosen = chosen;
        for part in dropped {
            self.refuse(part.op, part.operand, RAISES);
        }
    }
}

/// Writes the choice into the function, and selects kernels again for the operations that it affects.
fn apply(ctx: &Context, target: &dyn Target, body: &mut Body, chosen: &[ConcatOperand]) {
    let mut touched: Vec<Op> = Vec::new();
    for parts in chosen.chunk_by(|a, b| a.op == b.op) {
        let operands: Vec<i64> = parts.iter().map(|part| part.operand as i64).collect();
        body.set_attr(ctx, parts[0].op, attrs::MEM_PARTS, ctx.ints_attr(&operands));
        touched.push(parts[0].op);
    }
    for part in chosen {
        for link in &part.links {
            body.set_attr(ctx, link.op, attrs::MEM_TIE, ctx.ints_attr(&[link.operand as i64]));
        }
        for root in part.roots().filter(|_| !part.window.is_dense()) {
            let maker = body.defining_op(root).expect("a part is made by an operation");
            let pitch = [part.window.row as i64, part.window.pitch as i64];
            body.set_attr(ctx, maker, attrs::MEM_PITCH, ctx.ints_attr(&pitch));
            touched.push(maker);
            collect_readers(ctx, body, root, &mut touched);
        }
    }
    touched.sort_unstable();
    touched.dedup();
    for op in touched {
        crate::select::select_again(ctx, target, body, op);
    }
}
