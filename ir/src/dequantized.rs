//! Floats that are made of integers of 8 bits, as quantized networks have them.

use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::entities::{Op, Value};
use crate::opdef::{Kind, Traits};
use crate::scalar::{Binary, Scalar};
use crate::types::TypeData;

/// A value of `f32` that is `(bytes - zero) * scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dequantized {
    /// Integers of 8 bits, of the value's shape.
    pub bytes: Value,
    /// The float that is subtracted; absent: 0.
    pub zero: Option<Value>,
    /// The float that is multiplied by.
    pub scale: Value,
    /// The operations that compute the value, the last one first.
    pub ops: Vec<Op>,
}

impl Dequantized {
    /// What a value is made of, if it is; zero point and scale may have any shape that broadcasts.
    pub fn of(ctx: &Context, body: &Body, value: Value) -> Option<Dequantized> {
        let product = f32_result(ctx, body, value)?;
        let scale = other_operand(product, Binary::Mul)?;
        let made = |numbers, scale| Dequantized::of_product(product, numbers, scale);
        made(product.operand(0), scale).or_else(|| made(scale, product.operand(0)))
    }

    /// What a product of two values is made of.
    fn of_product(product: OpRef<'_>, mut numbers: Value, scale: Value) -> Option<Dequantized> {
        let OpRef { ctx, body, .. } = product;
        let mut ops = vec![product.op];
        let mut zero = None;
        let less = f32_result(ctx, body, numbers)?;
        if let Some(subtracted) = other_operand(less, Binary::Sub) {
            zero = Some(subtracted);
            ops.push(less.op);
            numbers = less.operand(0);
        }
        let cast = f32_result(ctx, body, numbers)?;
        ops.push(cast.op);
        let bytes = bytes_of(cast)?;
        let is_whole = product.result_type(0) == ctx.with_elem(body.ty(bytes), ctx.f32());
        is_whole.then_some(Dequantized { bytes, zero, scale, ops })
    }

    /// What `other` is made of, if an operation adds it, element by element, and all steps of it are for this
    /// alone; zero point and scale are numbers.
    pub fn of_addend(op: OpRef<'_>, other: Value) -> Option<Dequantized> {
        let OpRef { ctx, body, .. } = op;
        other_operand(op, Binary::Add).filter(|_| body.ty(other) == op.result_type(0))?;
        let made = Dequantized::of(ctx, body, other)?;
        let is_one = |value: Value| {
            ctx.static_shape(body.ty(value)).is_some_and(|shape| shape.iter().all(|size| *size == 1))
        };
        let is_private = made.ops.iter().all(|op| body.uses(body.result(*op, 0)).count() == 1);
        (is_private && is_one(made.scale) && made.zero.is_none_or(is_one)).then_some(made)
    }
}

/// Whether a convolution of 8-bit integers takes less time than one of the floats that they are made of. The
/// filter's sizes are output channels, input channels of a group, and those of its window: products of
/// matrices need some channels in a group, and of one channel in and out, as in depthwise convolutions,
/// sums of up to 256 products are exact as floats.
pub fn are_integers_faster(groups: u64, filter: &[u64]) -> bool {
    /// Fewer input channels of a group are not worth a product of matrices.
    const NARROW: u64 = 8;
    /// The most elements of a window of one channel.
    const MOST_TAPS: u64 = 256;
    match filter {
        [out, 1, window @ ..] if groups > 1 && *out == groups => window.iter().product::<u64>() <= MOST_TAPS,
        [_, channels, ..] => groups == 1 || *channels >= NARROW,
        _ => false,
    }
}

/// The integers of 8 bits that an operation converts to `f32`, if it does.
pub fn bytes_of(op: OpRef<'_>) -> Option<Value> {
    let from = op.has(Traits::CAST).then(|| op.operand(0))?;
    let is_byte =
        matches!(op.ctx.type_data(op.ctx.elem(op.body.ty(from))), TypeData::Integer { width: 8, .. });
    (is_byte && op.ctx.elem(op.result_type(0)) == op.ctx.f32()).then_some(from)
}

/// The operation that computes a value of `f32`.
fn f32_result<'a>(ctx: &'a Context, body: &'a Body, value: Value) -> Option<OpRef<'a>> {
    let op = body.defining_op(value)?;
    (ctx.elem(body.ty(value)) == ctx.f32()).then(|| body.at(ctx, op))
}

/// Operand 1 of an operation that is this function of its two operands.
fn other_operand(op: OpRef<'_>, function: Binary) -> Option<Value> {
    match op.kind() {
        Kind::Elementwise(Scalar::Binary(found, Scalar::Arg(0), Scalar::Arg(1))) if *found == function => {
            Some(op.operand(1))
        }
        _ => None,
    }
}
