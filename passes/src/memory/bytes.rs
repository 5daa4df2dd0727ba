//! Bytes of values at all sizes: proofs that two are equal, or that one is at most the other.

use ir::dims::{self, Ranges};
use ir::size::{bytes_expr, tensor_bytes};
use ir::{Body, Context, DimExpr, Type, Value};

/// Whether two values have equally many bytes at all sizes in their ranges.
pub(crate) fn are_as_large(ctx: &Context, body: &Body, a: Value, b: Value, ranges: &Ranges) -> bool {
    let bytes = |value: Value| bytes_of(ctx, body.ty(value));
    bytes(a).zip(bytes(b)).is_some_and(|(a, b)| dims::provably_equal(ctx, a, b, ranges))
}

/// Whether a value has at most as many bytes as another, at all sizes in their ranges.
pub(crate) fn is_at_most(ctx: &Context, body: &Body, value: Value, other: Value, ranges: &Ranges) -> bool {
    let bytes = |value: Value| bytes_of(ctx, body.ty(value));
    let Some((value, other)) = bytes(value).zip(bytes(other)) else { return false };
    let most = || dims::maximum(ctx, dims::sub(ctx, value, other)?, ranges);
    dims::provably_at_most(ctx, value, other, ranges) || most().is_some_and(|most| most.value <= 0)
}

/// The bytes of a value of a type; none if no symbol determines them.
pub(crate) fn bytes_of(ctx: &Context, ty: Type) -> Option<DimExpr> {
    let number = || i64::try_from(tensor_bytes(ctx, ty)?).ok();
    number().map(|bytes| dims::constant(ctx, bytes)).or_else(|| bytes_expr(ctx, ty))
}
