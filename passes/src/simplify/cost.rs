//! The cost model: the cost of an operation without its operands.
//!
//! The unit is one byte moved to or from memory; a core does about [`FLOPS_PER_BYTE`] operations meanwhile.
//! Elementwise operations are nearly always fused with their neighbours, so they cost an eighth of their
//! bytes: a batch norm that could not be folded into its convolution is cheaper than a second convolution.
//! Other kernels pay in full. A weight is computed once, at load, and costs almost nothing. Sizes that are
//! named or unknown count as [`UNKNOWN_SIZE`]: a wrong guess costs time, but never correctness.

use ir::opdef::Contract;
use ir::scalar::{Binary, Scalar, Unary};
use ir::{Context, Dim, Kind, Traits, Type, dims, size};

use super::graph::LawGraph;
use super::nodes::{ENode, OpHead};

const FLOPS_PER_BYTE: f64 = 8.0;
const UNKNOWN_SIZE: u64 = 128;
/// The cost of starting an operation; a quarter of it for fused ones.
const START: f64 = 256.0;

/// The cost of a node; 0 for a value from outside.
pub(super) fn cost(graph: &LawGraph<'_>, node: &ENode) -> f64 {
    let facts = &graph.analysis;
    let Some(op) = facts.op(node) else { return 0.0 };
    if op.def.traits.contains(Traits::CONSTANT) {
        return 1.0;
    }
    if node.children.iter().all(|child| graph[*child].data.is_weight) {
        return 2.0;
    }
    let types: Vec<Type> = node.children.iter().map(|child| graph[*child].data.ty).collect();
    let moved: f64 = types.iter().map(|ty| bytes(facts.ctx, *ty)).sum::<f64>() + bytes(facts.ctx, op.ty);
    work(facts.ctx, op, &types, moved)
}

fn work(ctx: &Context, op: &OpHead, operands: &[Type], moved: f64) -> f64 {
    let results = elements(ctx, op.ty);
    match op.def.kind {
        Kind::View(_) if op.def.traits.contains(Traits::SAME_ORDER) => 1.0,
        Kind::View(_) => START + moved,
        Kind::Elementwise(tree) => START / 4.0 + moved / 8.0 + results * steps(tree) / FLOPS_PER_BYTE,
        Kind::Contract(contract) => {
            let depth = match contract {
                Contract::Conv2d | Contract::QuantizedConv2d => {
                    elements(ctx, operands[1]) / first_size(ctx, operands[1])
                }
                Contract::Matmul | Contract::QuantizedMatmul => {
                    (elements(ctx, operands[0]) * elements(ctx, operands[1]) / results.max(1.0)).sqrt()
                }
            };
            START + moved + 2.0 * results * depth / FLOPS_PER_BYTE
        }
        _ => START + moved,
    }
}

/// The number of simple operations per element.
fn steps(tree: &Scalar) -> f64 {
    match tree {
        Scalar::Arg(_) | Scalar::Attr(_) | Scalar::Const(_) => 0.0,
        Scalar::Unary(unary, a) => unary_steps(*unary) + steps(a),
        Scalar::Convert(a) | Scalar::ConvertUnsigned(a) | Scalar::Resize(a) => 1.0 + steps(a),
        Scalar::Signed(a) | Scalar::Unsigned(a) => steps(a),
        Scalar::Choose(_, all) => all.iter().map(steps).fold(0.0, f64::max),
        Scalar::Binary(binary, a, b) => binary_steps(*binary) + steps(a) + steps(b),
        Scalar::Fma(a, b, c) | Scalar::Select(a, b, c) => 1.0 + steps(a) + steps(b) + steps(c),
    }
}

fn unary_steps(unary: Unary) -> f64 {
    match unary {
        Unary::Neg | Unary::Abs | Unary::Floor | Unary::Ceil | Unary::RoundEven | Unary::Not => 1.0,
        Unary::Sqrt => 4.0,
        _ => 16.0,
    }
}

/// Power and remainder are formulas in `f64`.
fn binary_steps(binary: Binary) -> f64 {
    match binary {
        Binary::Pow | Binary::Rem => 64.0,
        _ => 1.0,
    }
}

fn sizes(ctx: &Context, ty: Type) -> impl Iterator<Item = u64> + '_ {
    let shape: &[Dim] = ctx.type_data(ty).tensor_shape().unwrap_or_default();
    shape.iter().map(|dim| match dim {
        Dim::Known(size) => *size,
        Dim::Symbolic(expr) => {
            let size = dims::evaluate(ctx, *expr, &|_| Some(UNKNOWN_SIZE as i64));
            size.and_then(|size| u64::try_from(size).ok()).unwrap_or(UNKNOWN_SIZE)
        }
        Dim::Unknown => UNKNOWN_SIZE,
    })
}

fn elements(ctx: &Context, ty: Type) -> f64 {
    sizes(ctx, ty).map(|size| size as f64).product()
}

fn first_size(ctx: &Context, ty: Type) -> f64 {
    sizes(ctx, ty).next().unwrap_or(1).max(1) as f64
}

fn bytes(ctx: &Context, ty: Type) -> f64 {
    elements(ctx, ty) * size::storage_bits(ctx, ctx.elem(ty)).unwrap_or(64) as f64 / 8.0
}
