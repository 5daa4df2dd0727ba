//! Which operations on small constants have a small constant as their result.
//!
//! Only what is written in the program is folded, never what lies in a file or is made by a rule: arithmetic on weights
//! stays in the program, and is evaluated when it is loaded.

use std::sync::Arc;

use egg::Id;
use ir::attrs::{DenseData, Splat};
use ir::interp::{Tensor, eval_op, nn::constant_value};
use ir::{Attr, AttrData, Body, Context, FloatKind, Location, Type, TypeData, size};

use super::graph::{Graph, OpHead};

/// Constants of more elements are not looked into.
const READ_LIMIT: u64 = 4096;
/// Results of more elements are not folded.
const RESULT_LIMIT: u64 = 64;

/// The attribute of a constant operation, if its elements are written in the program and few.
pub(super) fn written_value(ctx: &Context, op: &OpHead) -> Option<Attr> {
    let value = ctx.dict_get(op.properties, ctx.ident("value"))?;
    let AttrData::Dense { data: DenseData::Bytes { .. }, .. } = ctx.attr_data(value) else { return None };
    (elements(ctx, op.ty)? <= READ_LIMIT).then_some(value)
}

/// The value of an operation on constants, if it is small.
pub(super) fn fold(graph: &Graph<'_>, op: &OpHead, children: &[Id]) -> Option<Attr> {
    let ctx = graph.analysis.ctx;
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

/// `dense<...>` of packed elements; equal ones are written once.
fn dense(ctx: &Context, ty: Type, bytes: &[u8]) -> Attr {
    let width =
        size::storage_bytes(ctx, ctx.elem(ty), 1).expect("what was computed has a memory format") as usize;
    let first = &bytes[..width.min(bytes.len())];
    let is_splat = bytes.chunks_exact(width).all(|element| element == first);
    let (splat, bytes) = if is_splat { (Splat::One, first) } else { (Splat::All, bytes) };
    ctx.attr(AttrData::Dense { ty, data: DenseData::Bytes { splat, bytes: Arc::from(bytes) } })
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

fn elements(ctx: &Context, ty: Type) -> Option<u64> {
    ctx.static_shape(ty)?.into_iter().try_fold(1u64, u64::checked_mul)
}
