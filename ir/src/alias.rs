//! The alias analysis: which values share bytes.
//!
//! Fusion, reuse, liveness, planning and code generation all use this analysis. Every value has a *root*, the
//! value that owns the bytes, and a window on the root's bytes. A value is its own root unless
//!
//! - it is a view whose elements are a dense range of the operand's bytes: a reshape, a slice of the
//!   outermost axes, a transpose that only moves axes of size 1, a broadcast that changes nothing;
//! - it is a view that is marked as read where its operand is (`mem.view`), with any strides;
//! - a tie (`mem.tie`) says that it overwrites an operand;
//! - it is an operand in place in a concatenation or a padding (`mem.parts` of that operation): its bytes are
//!   rows of the result's;
//! - it is the result of a loop: it has the bytes of the loop-carried argument.
//!
//! A root has no gaps, unless `mem.pitch` says that its rows are further apart.
//!
//! Any other view is a copy: a step of the program with a result of its own. So is a view with `mem.copy`,
//! which is a copy at other sizes of the function.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::entities::{Op, Value};
use crate::flow;
use crate::opdef::{Kind, RegionFlow, Strided, View};
use crate::plan::attrs;
pub use crate::plan::views::{
    has_parts, is_free, is_free_view, is_marked_view, parts, ties, view_offset_bytes,
};
use crate::size::{static_extents, storage_bits, tensor_bytes};
use crate::walk::walk;
use crate::window::{self, Arrangement, ByteWindow};

/// Which values of a body share bytes.
pub struct AliasSets {
    aliases: SecondaryMap<Value, AliasEntry>,
    /// The layouts of values with gaps in the bytes of their root, apart from the gaps of concatenations.
    lies: SecondaryMap<Value, Lie>,
    bytes: SecondaryMap<Value, Option<u64>>,
    /// For each value in place in a concatenation, and otherwise a root: the root of the concatenation and
    /// the value's rows there, if sizes are known. A root with gaps has itself and its rows here.
    wholes: SecondaryMap<Value, Option<(Value, Option<ByteWindow>)>>,
    /// Values written into a root's bytes after other parts of it.
    later_parts: SecondaryMap<Value, bool>,
    /// The values that have bytes of others, in text order.
    shared: Vec<ByteSharing>,
    /// The operations with operands in place, and these operands, in text order.
    assembled: Vec<(Op, Vec<usize>)>,
}

/// The reason why a value has bytes of another.
#[derive(Clone, Copy)]
enum ByteSharing {
    /// It has all of them at all sizes: a tie, or the result of a loop.
    Whole { value: Value, operand: Value },
    /// It is the result of this view.
    View(Op),
}

#[derive(Clone, Copy, Default)]
struct AliasEntry {
    root: PackedOption<Value>,
    offset_bytes: u64,
}

/// The layout of a value in the bytes of its root.
#[derive(Clone, Default)]
enum Lie {
    /// Without gaps.
    #[default]
    Dense,
    /// With the strides of this layout, counted from the root's first element, and inside this window.
    Strided(Box<(Strided, ByteWindow)>),
    /// A view without a layout: its bytes are not known.
    Unknown,
}

impl AliasSets {
    /// Analyses a body, in one walk over the operations in text order.
    pub fn of(ctx: &Context, body: &Body) -> AliasSets {
        let values = body.value_capacity();
        let mut sets = AliasSets {
            aliases: SecondaryMap::with_capacity(values),
            lies: SecondaryMap::new(),
            bytes: SecondaryMap::with_capacity(values),
            wholes: SecondaryMap::new(),
            later_parts: SecondaryMap::new(),
            shared: Vec::new(),
            assembled: Vec::new(),
        };
        for &block in body.blocks(body.root()) {
            sets.measure(ctx, body, body.args(block));
        }
        let mut pitched = Vec::new();
        walk(ctx, body, |op| {
            sets.add(ctx, body, op);
            let at = body.at(ctx, op);
            let parts = parts(at);
            sets.assembled.extend((!parts.is_empty()).then_some((op, parts)));
            pitched.extend(at.attr(attrs::MEM_PITCH).map(|_| op));
        });
        sets.add_all_parts(ctx, body);
        if !sets.assembled.is_empty() {
            sets.order_parts(ctx, body);
        }
        pitched.into_iter().for_each(|op| sets.add_rows(ctx, body, op));
        sets
    }

    /// Recomputes the windows of values after only sizes have changed. `resized` are the values whose size
    /// may have changed, with their new sizes in bytes. The views that need a copy must be the same as
    /// before, and only rows of operands in place may have a pitch.
    pub fn resize(
        &mut self,
        ctx: &Context,
        body: &Body,
        resized: impl Iterator<Item = (Value, Option<u64>)>,
    ) {
        resized.for_each(|(value, bytes)| self.bytes[value] = bytes);
        for index in 0..self.shared.len() {
            self.add_shared(ctx, body, self.shared[index]);
        }
        self.wholes.clear();
        self.add_all_parts(ctx, body);
    }

    /// In reverse order: the result of a concatenation may itself be in place in another one.
    fn add_all_parts(&mut self, ctx: &Context, body: &Body) {
        let assembled = std::mem::take(&mut self.assembled);
        assembled.iter().rev().for_each(|(op, parts)| self.add_parts(body.at(ctx, *op), parts));
        self.assembled = assembled;
    }

    /// The value that owns the bytes of `value`: itself, unless it shares the bytes of another.
    #[inline]
    pub fn root(&self, value: Value) -> Value {
        let near = self.near_root(value);
        self.wholes[near].map_or(near, |(whole, _)| whole)
    }

    /// The bytes of its root that a value occupies, perhaps with gaps between them; none if its size is not
    /// known.
    pub fn window(&self, value: Value) -> Option<ByteWindow> {
        let window = match &self.lies[value] {
            Lie::Dense => ByteWindow::dense(self.aliases[value].offset_bytes, self.bytes[value]?),
            Lie::Strided(strided) => strided.1,
            Lie::Unknown => return None,
        };
        match &self.wholes[self.near_root(value)] {
            Some((_, outer)) => window.within(outer.as_ref()?),
            None => Some(window),
        }
    }

    /// Whether the bytes of a value's window are exactly its elements, in its own row-major order.
    pub fn is_in_order(&self, value: Value) -> bool {
        match &self.lies[value] {
            Lie::Dense => true,
            Lie::Strided(strided) => {
                Arrangement::of(&strided.0) != Arrangement::Strides
                    && strided.1.rows * strided.1.row == self.bytes[value].unwrap_or(0)
            }
            Lie::Unknown => false,
        }
    }

    /// Whether a write of this value keeps bytes of the root that were written before, as for the second
    /// operand of a concatenation in place. Such a write does not begin a new live range.
    pub fn is_later_part(&self, value: Value) -> bool {
        self.later_parts[value]
    }

    /// The bytes that a root occupies in memory, with the gaps after its rows; none if its size is not known.
    pub fn extent_bytes(&self, root: Value) -> Option<u64> {
        match self.rows(root) {
            Some(window) => window.rows.checked_mul(window.pitch),
            None => self.bytes[root],
        }
    }

    /// The rows of a root that has gaps between its rows.
    pub fn rows(&self, root: Value) -> Option<ByteWindow> {
        self.wholes[root].filter(|(whole, _)| *whole == root).and_then(|(_, window)| window)
    }

    /// The result of the concatenation or padding that a value is written into in place, if any.
    pub fn whole(&self, value: Value) -> Option<Value> {
        let near = self.near_root(value);
        self.wholes[near].map(|(whole, _)| whole).filter(|whole| *whole != near)
    }

    /// The root, ignoring concatenations in place.
    fn near_root(&self, value: Value) -> Value {
        self.aliases[value].root.expand().unwrap_or(value)
    }

    /// Bytes that a value takes; none if its size is not known.
    pub fn size_bytes(&self, value: Value) -> Option<u64> {
        self.bytes[value]
    }

    fn measure(&mut self, ctx: &Context, body: &Body, values: &[Value]) {
        values.iter().for_each(|value| self.bytes[*value] = tensor_bytes(ctx, body.ty(*value)));
    }

    fn add(&mut self, ctx: &Context, body: &Body, op: Op) {
        for result in body.results(op) {
            self.bytes[result] = tensor_bytes(ctx, body.ty(result));
        }
        let op_ref = body.at(ctx, op);
        if op_ref.is_structured() {
            return self.add_structured(op_ref);
        }
        if matches!(op_ref.kind(), Kind::View(View::OfOperand(_))) {
            self.add_if_shared(op_ref, ByteSharing::View(op));
        }
        for (result, operand) in ties(op_ref) {
            let operand = op_ref.operand(operand);
            self.add_if_shared(op_ref, ByteSharing::Whole { value: body.result(op, result), operand });
        }
    }

    fn add_structured(&mut self, op: OpRef<'_>) {
        for index in 0..op.body.regions(op.op).len() {
            self.measure(op.ctx, op.body, flow::region_args(op.body, op.op, index));
        }
        let carried = match op.kind() {
            Kind::Region(RegionFlow::For) => flow::carried(op.body, op.op),
            Kind::Region(RegionFlow::While) => flow::region_args(op.body, op.op, 1).into(),
            _ => return,
        };
        for (value, operand) in op.body.results(op.op).zip(carried) {
            self.add_if_shared(op, ByteSharing::Whole { value, operand });
        }
    }

    fn add_if_shared(&mut self, op: OpRef<'_>, shared: ByteSharing) {
        if self.add_shared(op.ctx, op.body, shared) {
            self.shared.push(shared);
        }
    }

    /// Records the place of a value in the bytes of another. Returns whether it has one.
    fn add_shared(&mut self, ctx: &Context, body: &Body, shared: ByteSharing) -> bool {
        match shared {
            ByteSharing::Whole { value, operand } => {
                self.share(value, operand, 0);
                true
            }
            ByteSharing::View(op) => self.add_view(body.at(ctx, op)),
        }
    }

    fn add_view(&mut self, op: OpRef<'_>) -> bool {
        let Kind::View(View::OfOperand(map)) = op.kind() else { return false };
        let offset = view_offset_bytes(op);
        let value = op.body.result(op.op, 0);
        let operand = op.body.operands(op.op).next();
        let Some(operand) = operand.filter(|_| offset.is_some() || is_marked_view(op)) else { return false };
        if let (Some(offset), Lie::Dense) = (offset, &self.lies[operand]) {
            self.share(value, operand, offset);
            return true;
        }
        self.share(value, operand, 0);
        let layout = self.layout(op, operand).and_then(|from| map(op, 0, &from));
        let bits = storage_bits(op.ctx, op.ctx.elem(op.result_type(0)));
        let window = layout.as_ref().zip(bits).and_then(|(layout, bits)| ByteWindow::covering(layout, bits));
        let strided = layout.zip(window).map(Box::new);
        self.lies[value] = strided.map_or(Lie::Unknown, Lie::Strided);
        true
    }

    /// The layout of an operand, counted from the first element of its root.
    fn layout(&self, op: OpRef<'_>, operand: Value) -> Option<Strided> {
        match &self.lies[operand] {
            Lie::Dense => {
                let bits = storage_bits(op.ctx, op.ctx.elem(op.body.ty(operand)))?;
                let offset = i64::try_from(self.aliases[operand].offset_bytes * 8 / bits).ok()?;
                Some(Strided::row_major(offset, static_extents(op.ctx, op.body.ty(operand))?))
            }
            Lie::Strided(strided) => Some(strided.0.clone()),
            Lie::Unknown => None,
        }
    }

    fn share(&mut self, value: Value, operand: Value, offset_bytes: u64) {
        let base = self.aliases[operand].offset_bytes;
        self.aliases[value] =
            AliasEntry { root: self.near_root(operand).into(), offset_bytes: base + offset_bytes };
        if !matches!((&self.lies[operand], &self.lies[value]), (Lie::Dense, Lie::Dense)) {
            self.lies[value] = self.lies[operand].clone();
        }
    }

    fn add_parts(&mut self, op: OpRef<'_>, parts: &[usize]) {
        let whole = op.result(0);
        let root = self.root(whole);
        let outer = self.window(whole);
        let windows = part_windows(op);
        for &index in parts {
            let near = self.near_root(op.operand(index));
            let window = windows[index].zip(outer).and_then(|(window, outer)| window.within(&outer));
            self.wholes[near] = Some((root, window));
        }
    }

    /// Records the rows of a root that is not in place in another.
    fn add_rows(&mut self, ctx: &Context, body: &Body, op: Op) {
        let Some(root) = body.results(op).next().filter(|result| self.root(*result) == *result) else {
            return;
        };
        let rows = window::pitch(ctx, body, root).zip(self.bytes[root]);
        if let Some(((row, pitch), bytes)) = rows.filter(|((row, _), bytes)| *row > 0 && bytes % row == 0) {
            self.wholes[root] = Some((root, Some(ByteWindow::of_rows(0, bytes / row, row, pitch))));
        }
    }

    /// Finds the writes into a root with operands in place, except the first write.
    fn order_parts(&mut self, ctx: &Context, body: &Body) {
        let mut is_begun: SecondaryMap<Value, bool> = SecondaryMap::new();
        let mut wholes: SecondaryMap<Value, bool> = SecondaryMap::new();
        self.wholes.values().flatten().for_each(|(whole, _)| wholes[*whole] = true);
        walk(ctx, body, |op| {
            for result in body.results(op) {
                let root = self.root(result);
                if wholes[root] {
                    self.later_parts[result] = std::mem::replace(&mut is_begun[root], true);
                }
            }
        });
    }
}

/// The layouts of the operands inside a result of this layout, where one can be in place there (those of a
/// concatenation or padding) and is known.
pub fn part_layouts(op: OpRef<'_>, whole: &Strided) -> Vec<Option<Strided>> {
    match op.kind() {
        Kind::View(View::OfResult(map)) => map(op, whole),
        _ => vec![op.def().and_then(|def| def.frame?(op, whole))],
    }
}

/// The rows that each operand of a concatenation or a padding occupies in the result; none if they are not
/// regular rows, or a size is not known.
pub fn part_windows(op: OpRef<'_>) -> Vec<Option<ByteWindow>> {
    let bits = storage_bits(op.ctx, op.ctx.elem(op.result_type(0)));
    let window = |layout: Option<Strided>| ByteWindow::of_layout(&layout?, bits?);
    let whole = op.result_shape(0).map(|shape| Strided::row_major(0, shape));
    let layouts = whole.map(|whole| part_layouts(op, &whole)).unwrap_or_default();
    let mut windows: Vec<Option<ByteWindow>> = layouts.into_iter().map(window).collect();
    windows.resize(op.operand_count(), None);
    windows
}

/// The operations that write their result 0 into a concatenation or padding in place.
pub fn makers_in_place(ctx: &Context, body: &Body, aliases: &AliasSets) -> Vec<Op> {
    let mut makers = Vec::new();
    walk(ctx, body, |op| {
        let result = body.results(op).next().filter(|result| aliases.whole(*result).is_some());
        makers.extend(result.filter(|_| !is_free_view(body.at(ctx, op))).map(|_| op));
    });
    makers
}

/// The bytes of a row of result 0 and the distance between rows, if the operation writes into a concatenation
/// in place, with gaps.
pub fn pitch_in_whole(ctx: &Context, body: &Body, aliases: &AliasSets, op: Op) -> Option<[u64; 2]> {
    let result = body.results(op).next().filter(|_| !is_free_view(body.at(ctx, op)))?;
    aliases.whole(result)?;
    let window = aliases.window(result).filter(|window| !window.is_dense())?;
    Some([window.row, window.pitch])
}

#[cfg(test)]
#[path = "alias_tests.rs"]
mod layout_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::entities::Block;

    fn function(ctx: &Context) -> (Body, Block, Value) {
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        let arg = body.add_arg(block, ctx.tensor(&[1, 4, 1, 6], ctx.f32()));
        (body, block, arg)
    }

    #[test]
    fn views_of_views_share_the_bytes_of_their_root() {
        let ctx = Context::new();
        let (mut body, block, arg) = function(&ctx);
        let mut builder = Builder::at_end(&ctx, &mut body, block);
        let matrix = builder.value("nn.reshape", &[arg], &[("shape", ctx.ints_attr(&[4, 6]))]).unwrap();
        let window = [("starts", ctx.ints_attr(&[1, 0])), ("sizes", ctx.ints_attr(&[2, 6]))];
        let rows = builder.value("nn.slice", &[matrix], &window).unwrap();
        let sets = AliasSets::of(&ctx, &body);
        assert_eq!(sets.root(rows), arg);
        assert_eq!(sets.window(rows), Some(ByteWindow::dense(24, 48)));
    }

    #[test]
    fn a_window_with_gaps_is_a_copy() {
        let ctx = Context::new();
        let (mut body, block, arg) = function(&ctx);
        let mut builder = Builder::at_end(&ctx, &mut body, block);
        let window = [("starts", ctx.ints_attr(&[0, 0, 0, 0])), ("sizes", ctx.ints_attr(&[1, 4, 1, 5]))];
        let columns = builder.value("nn.slice", &[arg], &window).unwrap();
        assert_eq!(AliasSets::of(&ctx, &body).root(columns), columns);
    }

    #[test]
    fn a_transpose_shares_bytes_only_if_it_moves_axes_of_one_element() {
        let ctx = Context::new();
        let (mut body, block, arg) = function(&ctx);
        let mut builder = Builder::at_end(&ctx, &mut body, block);
        let free =
            builder.value("nn.transpose", &[arg], &[("permutation", ctx.ints_attr(&[0, 2, 1, 3]))]).unwrap();
        let real =
            builder.value("nn.transpose", &[arg], &[("permutation", ctx.ints_attr(&[0, 3, 2, 1]))]).unwrap();
        let sets = AliasSets::of(&ctx, &body);
        assert_eq!((sets.root(free), sets.root(real)), (arg, real));
    }

    #[test]
    fn a_tied_result_has_the_operands_root() {
        let ctx = Context::new();
        let (mut body, block, arg) = function(&ctx);
        let mut builder = Builder::at_end(&ctx, &mut body, block);
        let relu = builder.value("nn.relu", &[arg], &[]).unwrap();
        let sum = builder.value("nn.add", &[arg, relu], &[(attrs::MEM_TIE, ctx.ints_attr(&[1]))]).unwrap();
        let sets = AliasSets::of(&ctx, &body);
        assert_eq!((sets.root(sum), sets.root(relu)), (relu, relu));
    }

    #[test]
    fn a_marked_view_has_the_bytes_of_its_operand_in_rows_or_turned() {
        let ctx = Context::new();
        let (mut body, block, arg) = function(&ctx);
        let mut builder = Builder::at_end(&ctx, &mut body, block);
        let window = [
            ("starts", ctx.ints_attr(&[0, 1, 0, 2])),
            ("sizes", ctx.ints_attr(&[1, 3, 1, 4])),
            (attrs::MEM_VIEW, ctx.unit_attr()),
        ];
        let part = builder.value("nn.slice", &[arg], &window).unwrap();
        let matrix = builder.value("nn.reshape", &[part], &[("shape", ctx.ints_attr(&[3, 4]))]).unwrap();
        let turn = [("permutation", ctx.ints_attr(&[1, 0])), (attrs::MEM_VIEW, ctx.unit_attr())];
        let turned = builder.value("nn.transpose", &[matrix], &turn).unwrap();
        let flat = builder.value("nn.reshape", &[turned], &[("shape", ctx.ints_attr(&[12]))]).unwrap();
        let sets = AliasSets::of(&ctx, &body);
        let rows = ByteWindow::of_rows(32, 3, 16, 24);
        for (value, in_order) in [(part, true), (matrix, true), (turned, false)] {
            assert_eq!((sets.root(value), sets.window(value)), (arg, Some(rows)));
            assert_eq!(sets.is_in_order(value), in_order);
        }
        assert_eq!(sets.window(flat), None);
    }
}
