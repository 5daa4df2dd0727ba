//! The work of a step, as the basis for its speed.

use ir::body::OpRef;
use ir::opdef::Contract;
use ir::{Body, Context, Kind, Op, Value, size};

/// The work of a step, independent of its kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepWork {
    /// Bytes of its operands and results including weights, without duplicates.
    pub(crate) bytes: u64,
    /// Floating-point operations: two for each product of a contraction, one for each element that other
    /// operations compute or reduce.
    pub(crate) flops: u64,
}

impl StepWork {
    /// The work of an operation with known sizes.
    pub(crate) fn of(ctx: &Context, body: &Body, op: Op) -> StepWork {
        let bytes = |value: Value| size::tensor_bytes(ctx, body.ty(value)).unwrap_or(0);
        let values = body.operands(op).chain(body.results(op));
        StepWork { bytes: values.map(bytes).sum(), flops: flops(ctx, body, op) }
    }
}

fn flops(ctx: &Context, body: &Body, op: Op) -> u64 {
    let at = body.at(ctx, op);
    let results = || body.results(op).map(|result| elements(ctx, body, result)).sum::<u64>();
    match at.kind() {
        Kind::Contract(contract) => 2 * results() * depth(at, contract),
        Kind::Elementwise(_) | Kind::Kernel(_) => results(),
        Kind::Reduce(_) => body.operands(op).next().map_or(0, |value| elements(ctx, body, value)),
        Kind::Group => {
            let blocks = body.regions(op).iter().flat_map(|region| body.blocks(*region));
            blocks.flat_map(|block| body.ops(*block)).map(|inner| flops(ctx, body, inner)).sum()
        }
        _ => 0,
    }
}

/// The number of products summed for an element of a contraction's result.
fn depth(at: OpRef<'_>, contract: Contract) -> u64 {
    let shape = |index: usize| sizes(at.ctx, at.body, at.body.operand(at.op, index));
    match contract {
        Contract::Matmul | Contract::QuantizedMatmul => {
            let left = shape(0);
            let from_end = if at.attr("transpose_a").is_some() && left.len() > 1 { 2 } else { 1 };
            left.len().checked_sub(from_end).map_or(1, |axis| left[axis])
        }
        Contract::Conv2d | Contract::QuantizedConv2d => shape(1).iter().skip(1).product(),
    }
}

fn elements(ctx: &Context, body: &Body, value: Value) -> u64 {
    sizes(ctx, body, value).iter().product()
}

/// The sizes of a tensor; empty if they are not known.
fn sizes(ctx: &Context, body: &Body, value: Value) -> Vec<u64> {
    let data = ctx.type_data(body.ty(value));
    let sizes = data.tensor_shape().map(|shape| shape.iter().map(|dim| dim.known().unwrap_or(0)).collect());
    sizes.unwrap_or_default()
}
