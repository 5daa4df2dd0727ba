//! Which values share bytes.
//!
//! The one alias analysis: fusion, reuse, liveness, planning and code generation all ask it. Every value has a *root*,
//! the value that owns the bytes, and a range of the root's bytes. A value is its own root unless
//!
//! - it is a view of an operand whose elements lie without gaps in the operand's bytes: every reshape, a slice of the
//!   outermost axes, a transpose that only moves axes of size 1, a broadcast that changes nothing;
//! - a tie (`mem.tie`) says that it overwrites an operand;
//! - it is the result of a loop: that has the bytes of the argument that carries it.
//!
//! Any other view is a copy: a step of the program with a result of its own.

use std::ops::Range;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::entities::{Op, Value};
use crate::flow;
use crate::opdef::{Flow, Kind, Strided, View};
use crate::size::{storage_bytes, tensor_bytes};

/// The sharing of bytes among the values of a body.
pub struct AliasSets {
    aliases: SecondaryMap<Value, Entry>,
    bytes: SecondaryMap<Value, Option<u64>>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    root: PackedOption<Value>,
    offset_bytes: u64,
}

impl AliasSets {
    /// Finds who shares bytes with whom, in one walk over the operations in text order.
    pub fn of(ctx: &Context, body: &Body) -> AliasSets {
        let mut sets = AliasSets { aliases: SecondaryMap::new(), bytes: SecondaryMap::new() };
        for &block in body.blocks(body.root()) {
            sets.measure(ctx, body, body.args(block));
        }
        flow::walk(ctx, body, |op| sets.add(ctx, body, op));
        sets
    }

    /// The value that owns the bytes of `value`: itself, if it shares no other's.
    pub fn root(&self, value: Value) -> Value {
        self.aliases[value].root.expand().unwrap_or(value)
    }

    /// The bytes of its root that a value has; none if its size is not known.
    pub fn range(&self, value: Value) -> Option<Range<u64>> {
        let start = self.aliases[value].offset_bytes;
        Some(start..start + self.bytes[value]?)
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
        if let Some(offset_bytes) = view_offset_bytes(op_ref) {
            self.share(body.result(op, 0), op_ref.operand(0), offset_bytes);
        }
        for (result, operand) in ties(op_ref) {
            self.share(body.result(op, result), op_ref.operand(operand), 0);
        }
    }

    fn add_structured(&mut self, op: OpRef<'_>) {
        for index in 0..op.body.regions(op.op).len() {
            self.measure(op.ctx, op.body, flow::region_args(op.body, op.op, index));
        }
        let carried = match op.kind() {
            Kind::Region(Flow::For) => flow::carried(op.body, op.op),
            Kind::Region(Flow::While) => flow::region_args(op.body, op.op, 1).into(),
            _ => return,
        };
        op.body.results(op.op).zip(carried).for_each(|(result, arg)| self.share(result, arg, 0));
    }

    fn share(&mut self, value: Value, operand: Value, offset_bytes: u64) {
        let base = self.aliases[operand].offset_bytes;
        self.aliases[value] = Entry { root: self.root(operand).into(), offset_bytes: base + offset_bytes };
    }
}

/// Where in the bytes of operand 0 the result's bytes begin, if `op` is a view that needs no copy.
pub fn view_offset_bytes(op: OpRef<'_>) -> Option<u64> {
    let Kind::View(View::OfOperand(map)) = op.kind() else { return None };
    let Some(shape) = op.operand_shape(0) else {
        return is_reshape(op).then_some(0);
    };
    let layout = map(op, 0, &Strided::row_major(0, shape))?;
    let offset = u64::try_from(layout.offset).ok()?;
    let is_dense = layout.is_row_major() && op.result_shape(0)? == layout.shape;
    let elem = op.ctx.elem(op.operand_type(0));
    is_dense.then(|| storage_bytes(op.ctx, elem, offset)).flatten()
}

/// Whether the row says that the result has the operand's elements in the same order, whatever the sizes.
fn is_reshape(op: OpRef<'_>) -> bool {
    op.has(crate::opdef::Traits::SAME_ORDER)
}

/// Which results overwrite which operands: the pairs of `mem.tie`.
pub fn ties(op: OpRef<'_>) -> impl Iterator<Item = (usize, usize)> {
    let ties = op.attr("mem.tie").and_then(|attr| op.ctx.ints_in(attr));
    let pairs = ties.into_iter().flatten().enumerate().take(op.body.result_count(op.op));
    pairs.filter_map(|(result, operand)| Some((result, usize::try_from(operand).ok()?)))
}

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
        assert_eq!(sets.range(rows), Some(24..72));
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
        let sum = builder.value("nn.add", &[arg, relu], &[("mem.tie", ctx.ints_attr(&[1]))]).unwrap();
        let sets = AliasSets::of(&ctx, &body);
        assert_eq!((sets.root(sum), sets.root(relu)), (relu, relu));
    }
}
