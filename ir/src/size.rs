//! How many bytes values take.

use crate::context::Context;
use crate::entities::Type;
use crate::types::TypeData;

/// Bits that one element of this type takes in memory; none for types without a memory format.
///
/// `i1` takes a byte; other formats of less than a byte (`i4`, `f4E2M1FN`) are packed.
pub fn storage_bits(ctx: &Context, elem: Type) -> Option<u64> {
    match ctx.type_data(elem) {
        TypeData::Integer { width: 1, .. } => Some(8),
        TypeData::Integer { width, .. } if *width < 8 => Some((*width).next_power_of_two().into()),
        TypeData::Integer { width, .. } => Some(u64::from(width.div_ceil(8).next_power_of_two()) * 8),
        TypeData::Float(kind) if kind.bits() < 8 => Some(kind.bits().next_power_of_two().into()),
        TypeData::Float(kind) => Some(u64::from(kind.bits().div_ceil(8).next_power_of_two()) * 8),
        TypeData::Index => Some(64),
        TypeData::Complex(part) => Some(2 * storage_bits(ctx, *part)?),
        _ => None,
    }
}

/// Bytes that `count` elements of this type take, without padding between them.
pub fn storage_bytes(ctx: &Context, elem: Type, count: u64) -> Option<u64> {
    Some(storage_bits(ctx, elem)?.checked_mul(count)?.div_ceil(8))
}

/// Bytes of a tensor or vector whose sizes are all known (a scalar type counts as one element).
pub fn tensor_bytes(ctx: &Context, ty: Type) -> Option<u64> {
    match ctx.type_data(ty) {
        TypeData::Tensor { shape, elem, .. } => {
            let count = shape.iter().try_fold(1u64, |count, dim| count.checked_mul(dim.known()?))?;
            storage_bytes(ctx, *elem, count)
        }
        TypeData::Vector { shape, elem } => {
            let count = shape.iter().try_fold(1u64, |count, dim| match dim.scalable {
                true => None,
                false => count.checked_mul(dim.size),
            })?;
            storage_bytes(ctx, *elem, count)
        }
        _ => storage_bytes(ctx, ty, 1),
    }
}

/// The sizes of a tensor, if all are known; a number by itself has none, like a tensor of rank 0.
pub fn static_extents(ctx: &Context, ty: Type) -> Option<Vec<u64>> {
    match ctx.type_data(ty) {
        TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index => Some(Vec::new()),
        _ => ctx.static_shape(ty),
    }
}
