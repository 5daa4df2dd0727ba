//! Which operations on small constants have a small constant as their result.
//!
//! [`crate::constants`] says which are small.

use egg::Id;
use ir::interp::{Tensor, constant_value, eval_op};
use ir::{Attr, Body, Context, Location};

use super::graph::{LawGraph, OpHead};
use crate::constants::{RESULT_LIMIT, attr, elements, written};

/// The attribute of a constant operation, if its elements are written in the program and few.
pub(super) fn written_value(ctx: &Context, op: &OpHead) -> Option<Attr> {
    let value = ctx.dict_get(op.properties, ctx.ident("value"))?;
    written(ctx, value, op.ty)
}

/// The value of an operation on constants, if it is small.
pub(super) fn fold(graph: &LawGraph<'_>, op: &OpHead, children: &[Id]) -> Option<Attr> {
    let ctx = graph.analysis.ctx;
    if elements(ctx, op.ty)? > RESULT_LIMIT {
        return None;
    }
    let mut operands = Vec::with_capacity(children.len());
    for child in children {
        let fact = &graph[*child].data;
        operands.push(constant_value(ctx, fact.constant?, fact.ty).ok()?);
    }
    evaluate(ctx, op, &operands).map(|result| attr(ctx, op.ty, &result.bytes))
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
