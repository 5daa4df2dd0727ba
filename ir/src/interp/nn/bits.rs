//! Packing and unpacking of elements of less than a byte.

use crate::body::OpRef;
use crate::interp::tensor::{EvalError, Tensor};
use crate::size::storage_bits;
use crate::types::{Signedness, TypeData};

/// Bits of the packed elements of a tensor's type.
fn packed_bits(op: OpRef<'_>, ty: crate::entities::Type) -> Result<usize, EvalError> {
    let bits = storage_bits(op.ctx, op.ctx.elem(ty)).filter(|bits| [1, 2, 4].contains(bits));
    Ok(bits.ok_or("elements that are not packed")? as usize)
}

/// Unpacks each element into a byte: signed integers are sign-extended, others zero-extended.
///
/// # Errors
/// If the elements are not packed.
pub fn unpack(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let x = operands.first().ok_or("lacks operand 0")?;
    let bits = packed_bits(op, x.ty)?;
    let shape = x.shape(op.ctx)?;
    let is_signed = match op.ctx.type_data(op.ctx.elem(x.ty)) {
        TypeData::Integer { signedness, .. } => *signedness != Signedness::Unsigned,
        _ => false,
    };
    let unused = 8 - bits;
    let element = |at: usize| {
        let upper = x.bytes[at * bits / 8] >> (at * bits % 8) << unused;
        if is_signed { (upper.cast_signed() >> unused).cast_unsigned() } else { upper >> unused }
    };
    let bytes = (0..shape.iter().product()).map(element).collect();
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}

/// Packs the low bits of bytes, the first element lowest.
///
/// # Errors
/// If the result's elements are not packed.
pub fn pack(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let x = operands.first().ok_or("lacks operand 0")?;
    let bits = packed_bits(op, op.result_type(0))?;
    let shape = x.shape(op.ctx)?;
    let unused = 8 - bits;
    let mut bytes = vec![0; (shape.iter().product::<usize>() * bits).div_ceil(8)];
    for (at, byte) in x.bytes.iter().enumerate() {
        bytes[at * bits / 8] |= (byte << unused >> unused) << (at * bits % 8);
    }
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}
