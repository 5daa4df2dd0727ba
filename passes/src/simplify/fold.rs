//! Constant folding: operations on small constants with a small constant as their result.
//!
//! [`crate::constants`] defines which constants are small.

use ir::interp::{Tensor, constant_value, eval_op};
use ir::{Attr, Body, Context, Location, Type};

use super::nodes::OpHead;
use crate::constants::{RESULT_LIMIT, attr, elements, written};

/// The attribute of a constant operation, if its elements are part of the program and few.
pub(super) fn written_value(ctx: &Context, op: &OpHead) -> Option<Attr> {
    let value = ctx.dict_get(op.properties, ctx.ident("value"))?;
    written(ctx, value, op.ty)
}

/// The value of an operation on constants, each with its type, if it is small; none if an operand is not
/// constant.
pub(super) fn fold(
    ctx: &Context,
    op: &OpHead,
    operands: impl Iterator<Item = Option<(Attr, Type)>>,
) -> Option<Attr> {
    if elements(ctx, op.ty)? > RESULT_LIMIT {
        return None;
    }
    let mut values: Vec<Tensor> = Vec::new();
    for operand in operands {
        let (value, ty) = operand?;
        values.push(constant_value(ctx, value, ty).ok()?);
    }
    evaluate(ctx, op, &values).map(|result| attr(ctx, op.ty, &result.bytes))
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
