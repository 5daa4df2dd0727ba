//! Dequantized floats: the pattern `(bytes - zero) * scale` of quantized networks.

use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::entities::{Op, Value};
use crate::opdef::{Kind, Traits};
use crate::scalar::{Binary, Scalar};
use crate::types::TypeData;

/// A dequantized value of `f32`: `(bytes - zero) * scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dequantized {
    /// Integers of 8 bits, of the value's shape.
    pub bytes: Value,
    /// The zero point, as the float that is subtracted; 0 if absent.
    pub zero: Option<Value>,
    /// The scale, a float.
    pub scale: Value,
    /// The operations that compute the value, the last one first.
    pub ops: Vec<Op>,
}

impl Dequantized {
    /// Matches a dequantized value; zero point and scale may have any shape that broadcasts.
    pub fn of(ctx: &Context, body: &Body, value: Value) -> Option<Dequantized> {
        let product = f32_result(ctx, body, value)?;
        let scale = other_operand(product, Binary::Mul)?;
        let made = |numbers, scale| Dequantized::of_product(product, numbers, scale);
        made(product.operand(0), scale).or_else(|| made(scale, product.operand(0)))
    }

    /// Matches a product of two values.
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

    /// Matches `other` as a dequantized operand of an elementwise addition. Each of its steps must have no
    /// other use, and zero point and scale must be single numbers.
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

/// Whether a convolution of 8-bit integers takes less time than the same convolution of dequantized floats.
/// The filter's sizes are output channels, input channels of a group, and those of its window. Matrix
/// products need several channels in a group; groups of four inputs and outputs share vectors. Depthwise
/// windows are limited to the 256 products whose sum is exact in `f32`.
pub fn are_integers_faster(groups: u64, filter: &[u64]) -> bool {
    /// The fewest input channels of a group that are worth a matrix product.
    const NARROW: u64 = 8;
    /// The most elements of a depthwise window.
    const MOST_TAPS: u64 = 256;
    match filter {
        [out, 1, window @ ..] if groups > 1 && *out == groups => window.iter().product::<u64>() <= MOST_TAPS,
        [out, 4, ..] if groups > 1 && Some(*out) == groups.checked_mul(4) => true,
        [_, channels, ..] => groups == 1 || *channels >= NARROW,
        _ => false,
    }
}

/// The 8-bit integers that an operation converts to `f32`, if it is such a conversion.
pub fn bytes_of(op: OpRef<'_>) -> Option<Value> {
    let from = op.has(Traits::CAST).then(|| op.operand(0))?;
    let is_byte =
        matches!(op.ctx.type_data(op.ctx.elem(op.body.ty(from))), TypeData::Integer { width: 8, .. });
    (is_byte && op.ctx.elem(op.result_type(0)) == op.ctx.f32()).then_some(from)
}

/// The operation that computes a value, if that is `f32`.
fn f32_result<'a>(ctx: &'a Context, body: &'a Body, value: Value) -> Option<OpRef<'a>> {
    let op = body.defining_op(value)?;
    (ctx.elem(body.ty(value)) == ctx.f32()).then(|| body.at(ctx, op))
}

/// Operand 1 of an operation, if the operation applies this function to its two operands.
fn other_operand(op: OpRef<'_>, function: Binary) -> Option<Value> {
    match op.kind() {
        Kind::Elementwise(Scalar::Binary(found, Scalar::Arg(0), Scalar::Arg(1))) if *found == function => {
            Some(op.operand(1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_faster_but_in_groups_of_few_channels() {
        for (groups, filter, expected) in [
            (1, &[4, 3, 3, 3][..], true),
            (1, &[1, 1, 17, 17], true),
            (2, &[16, 8, 3, 3], true),
            (2, &[16, 7, 3, 3], false),
            (4, &[16, 4, 3, 3], true),
            (2, &[16, 4, 3, 3], false),
            (u64::MAX, &[4, 4, 3, 3], false),
            (8, &[8, 1, 3, 3], true),
            // Two output channels for each group of one channel.
            (8, &[16, 1, 3, 3], false),
            // A window whose sums are no longer exact as floats.
            (8, &[8, 1, 16, 16], true),
            (8, &[8, 1, 16, 17], false),
            (1, &[4], false),
        ] {
            assert_eq!(are_integers_faster(groups, filter), expected, "{groups} groups of {filter:?}");
        }
    }
}
