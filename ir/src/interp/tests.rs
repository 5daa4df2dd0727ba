//! Tests of the interpreter against ONNX Runtime, numpy and the registry rows.

mod contract;
mod elementwise;
mod flow;
mod walk;
mod whole;

use super::{EvalError, Tensor, eval_op};
use crate::body::Body;
use crate::builder::{Builder, OpSpec};
use crate::context::Context;
use crate::entities::{Attr, Type, Value};

/// The result of one operation on these values; its type is inferred.
fn eval(
    ctx: &Context,
    name: &str,
    operands: &[&Tensor],
    attrs: &[(&str, Attr)],
) -> Result<Tensor, EvalError> {
    eval_as(ctx, name, operands, attrs, None)
}

/// The result of one operation whose type is `ty`, or inferred.
fn eval_as(
    ctx: &Context,
    name: &str,
    operands: &[&Tensor],
    attrs: &[(&str, Attr)],
    ty: Option<Type>,
) -> Result<Tensor, EvalError> {
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let args: Vec<Value> = operands.iter().map(|value| body.add_arg(block, value.ty)).collect();
    let mut builder = Builder::at_end(ctx, &mut body, block);
    let results = ty.as_ref().map(std::slice::from_ref);
    let spec = OpSpec { operands: &args, attrs, results, ..OpSpec::default() };
    let op = builder.build(name, spec).map_err(|error| EvalError(error.0))?;
    let operands: Vec<Tensor> = operands.iter().map(|value| (*value).clone()).collect();
    let results = eval_op(body.at(ctx, op), &operands)?;
    assert_eq!(ctx.static_shape(results[0].ty), ctx.static_shape(body.ty(body.result(op, 0))));
    Ok(results[0].clone())
}

/// Pseudo-random whole numbers from -5 to 5, so that sums of products are exact in any order.
fn numbers(ctx: &Context, shape: &[u64]) -> Tensor {
    let count: u64 = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
    Tensor::from_f32(ctx, shape, &values)
}

/// The elements as text, so that NaN and signed zeros can be compared.
fn text(value: &Tensor) -> String {
    let words: Vec<String> = value.to_f32().iter().map(f32::to_string).collect();
    words.join(" ")
}
