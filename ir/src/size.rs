//! Sizes in bytes: the memory that elements, values and tensors take.

use crate::context::Context;
use crate::dims::{self, Ranges, SizeArithmetic};
use crate::entities::{DimExpr, Type};
use crate::strings::is_string;
use crate::types::{Dim, TypeData};

/// Bits of one element of this type in memory; none for types without a memory format.
///
/// `i1` takes a byte; other formats of less than a byte (`i4`, `f4E2M1FN`) are packed.
pub fn storage_bits(ctx: &Context, elem: Type) -> Option<u64> {
    if elem == ctx.common().f32 {
        return Some(32);
    }
    match ctx.type_data(elem) {
        TypeData::Integer { width: 1, .. } => Some(8),
        TypeData::Integer { width, .. } if *width < 8 => Some((*width).next_power_of_two().into()),
        TypeData::Integer { width, .. } => Some(u64::from(width.div_ceil(8).next_power_of_two()) * 8),
        TypeData::Float(kind) if kind.bits() < 8 => Some(kind.bits().next_power_of_two().into()),
        TypeData::Float(kind) => Some(u64::from(kind.bits().div_ceil(8).next_power_of_two()) * 8),
        TypeData::Index => Some(64),
        TypeData::Complex(part) => Some(2 * storage_bits(ctx, *part)?),
        TypeData::Opaque { .. } if is_string(ctx, elem) => Some(64),
        _ => None,
    }
}

/// Bytes of `count` elements of this type, without padding between them.
pub fn storage_bytes(ctx: &Context, elem: Type, count: u64) -> Option<u64> {
    Some(storage_bits(ctx, elem)?.checked_mul(count)?.div_ceil(8))
}

/// Bytes of a tensor or vector whose sizes are all known; a scalar type counts as one element.
pub fn tensor_bytes(ctx: &Context, ty: Type) -> Option<u64> {
    match ctx.type_data(ty) {
        TypeData::Tensor { shape, elem, .. } => {
            let count = shape.iter().try_fold(1u64, |count, dim| count.checked_mul(dim.known()?))?;
            storage_bytes(ctx, *elem, count)
        }
        TypeData::Vector { shape, elem } => {
            let count = shape
                .iter()
                .try_fold(1u64, |count, dim| if dim.scalable { None } else { count.checked_mul(dim.size) })?;
            storage_bytes(ctx, *elem, count)
        }
        _ => storage_bytes(ctx, ty, 1),
    }
}

/// Whether memory could hold a value: false only for tensors of known sizes with too many elements.
pub fn fits_memory(ctx: &Context, ty: Type) -> bool {
    let Some(shape) = ctx.static_shape(ty) else { return true };
    let count = shape.iter().try_fold(1u64, |count, size| count.checked_mul(*size));
    let is_counted = count.is_some() || shape.contains(&0);
    is_counted && tensor_bytes(ctx, ty).is_none_or(|bytes| bytes <= isize::MAX as u64)
}

/// Bytes of a tensor as an expression of its sizes; none if a size is unknown, or elements are not whole
/// bytes.
pub fn bytes_expr(ctx: &Context, ty: Type) -> Option<DimExpr> {
    let sizes = SizeArithmetic(ctx);
    let elem_bytes = storage_bits(ctx, ctx.elem(ty)).filter(|bits| bits % 8 == 0)? / 8;
    let count = sizes.product(ctx.type_data(ty).tensor_shape()?);
    sizes.expr(sizes.mul(count, Dim::Known(elem_bytes)))
}

/// Whether a tensor provably takes more bytes than another, if all symbols are at least 1.
pub fn is_larger(ctx: &Context, ty: Type, than: Type) -> bool {
    let more = || {
        let least = dims::add(ctx, bytes_expr(ctx, than)?, dims::constant(ctx, 1))?;
        Some(dims::provably_at_most(ctx, least, bytes_expr(ctx, ty)?, &Ranges::default()))
    };
    match (tensor_bytes(ctx, ty), tensor_bytes(ctx, than)) {
        (Some(bytes), Some(than)) => bytes > than,
        _ => more().unwrap_or(false),
    }
}

/// Whether two types are tensors whose sizes are provably equal.
pub fn have_equal_sizes(ctx: &Context, a: Type, b: Type) -> bool {
    let (a, b) = (ctx.type_data(a), ctx.type_data(b));
    match (a.tensor_shape(), b.tensor_shape()) {
        (Some(a), Some(b)) => {
            let sizes = SizeArithmetic(ctx);
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| sizes.are_equal(*a, *b))
        }
        _ => false,
    }
}

/// The sizes of a tensor, if all are known; a scalar has none, like a tensor of rank 0.
pub fn static_extents(ctx: &Context, ty: Type) -> Option<Vec<u64>> {
    match ctx.type_data(ty) {
        TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index => Some(Vec::new()),
        _ => ctx.static_shape(ty),
    }
}
