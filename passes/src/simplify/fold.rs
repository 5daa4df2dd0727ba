//! Which operations on small constants have a small constant as their result.
//!
//! Only tensors are: [`crate::constants`] says which.

use egg::Id;
use ir::attrs::{DenseData, Splat};
use ir::interp::{Tensor, constant_value, eval_op};
use ir::{Attr, AttrData, Body, Context, FloatKind, Location, Type, TypeData};

use super::graph::{Graph, OpHead};
use crate::constants::{RESULT_LIMIT, dense, elements, written};

/// The attribute of a constant operation, if its elements are written in the program and few.
pub(super) fn written_value(ctx: &Context, op: &OpHead) -> Option<Attr> {
    let value = ctx.dict_get(op.properties, ctx.ident("value"))?;
    written(ctx, value, op.ty).filter(|value| matches!(ctx.attr_data(*value), AttrData::Dense { .. }))
}

/// The value of an operation on constants, if it is small.
pub(super) fn fold(graph: &Graph<'_>, op: &OpHead, children: &[Id]) -> Option<Attr> {
    let ctx = graph.analysis.ctx;
    ctx.static_shape(op.ty)?;
    if elements(ctx, op.ty)? > RESULT_LIMIT {
        return None;
    }
    let mut operands = Vec::with_capacity(children.len());
    for child in children {
        let fact = &graph[*child].data;
        operands.push(constant_value(ctx, fact.constant?, fact.ty).ok()?);
    }
    evaluate(ctx, op, &operands).map(|result| dense(ctx, op.ty, &result.bytes))
}

fn evaluate(ctx: &Context, head: &OpHead, operands: &[Tensor]) -> Option<Tensor> {
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let args: Vec<_> = operands.iter().map(|operand| body.add_arg(block, operand.ty)).collect();
    let op = body.make_op(head.name, &args, &[head.ty], Location::UNKNOWN);
    body.set_properties(op, head.properties);
    body.append(op, block);
    eval_op(body.at(ctx, op), operands).ok()?.pop()
}

/// A tensor without axes that holds this number; none if the element type is no f32.
pub(super) fn number(ctx: &Context, elem: Type, value: f64) -> Option<(Attr, Type)> {
    let TypeData::Float(FloatKind::F32) = ctx.type_data(elem) else { return None };
    let ty = ctx.tensor(&[], elem);
    Some((dense(ctx, ty, &(value as f32).to_le_bytes()), ty))
}

/// The number that all elements of a constant are.
pub(super) fn splat(ctx: &Context, value: Attr) -> Option<f64> {
    let AttrData::Dense { ty, data: DenseData::Bytes { splat, bytes } } = ctx.attr_data(value) else {
        return None;
    };
    let TypeData::Float(FloatKind::F32) = ctx.type_data(ctx.elem(*ty)) else { return None };
    let mut elements = bytes.chunks_exact(4);
    let first: [u8; 4] = elements.next()?.try_into().ok()?;
    let is_splat = *splat == Splat::One || elements.all(|element| element == first);
    is_splat.then(|| f32::from_le_bytes(first).into())
}
