//! Values of constants, sizes and ranges of integers.

use crate::attrs::{AttrData, DenseData, Splat};
use crate::blob::Blob;
use crate::body::OpRef;
use crate::context::Context;
use crate::entities::{Attr, Ident, Type};
use crate::interp::element::{Elem, read_all};
use crate::interp::tensor::{EvalError, Tensor};
use crate::size::{storage_bits, tensor_bytes};
use crate::strings::{digests, is_string};
use crate::types::TypeData;

/// The value of attribute `value`.
///
/// # Errors
/// If it holds no elements, or its blob is missing.
pub fn constant(op: OpRef<'_>, _: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let value = op.attr("value").ok_or("lacks `value`")?;
    Ok(vec![constant_value(op.ctx, value, op.result_type(0))?])
}

/// The sizes in attribute `value`.
///
/// # Errors
/// If one of them is not a number yet.
pub fn sizes(op: OpRef<'_>, _: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let sizes = op.ints("value").ok_or("has sizes that are not known")?;
    let bytes = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    Ok(vec![Tensor::new(op.ctx, op.result_type(0), bytes)])
}

/// The integers from 0 on.
///
/// # Errors
/// If their number is not known yet.
pub fn iota(op: OpRef<'_>, _: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let shape = op.result_shape(0).ok_or("has a size that is not known")?;
    let bytes = (0..shape.iter().product()).flat_map(u64::to_le_bytes).collect();
    Ok(vec![Tensor::new(op.ctx, op.result_type(0), bytes)])
}

/// The value of type `ty` that an attribute holds: elements of a tensor, or a number.
///
/// # Errors
/// If it holds none, or its elements do not match the type, or its blob is missing.
pub fn constant_value(ctx: &Context, attr: Attr, ty: Type) -> Result<Tensor, EvalError> {
    let size = tensor_bytes(ctx, ty).ok_or("a constant's sizes are not known")? as usize;
    let bytes = match ctx.attr_data(attr) {
        AttrData::Dense { data: DenseData::Bytes { splat: Splat::All, bytes }, .. } => bytes.to_vec(),
        AttrData::Dense { data: DenseData::Bytes { splat: Splat::One, bytes }, .. } => {
            bytes.repeat(size / bytes.len().max(1))
        }
        AttrData::Dense { data: DenseData::Strings(strings), .. } if is_string(ctx, ctx.elem(ty)) => {
            digests(strings.iter().map(|string| &**string))?.repeat(if strings.len() == 1 {
                size / 8
            } else {
                1
            })
        }
        AttrData::Resource { key, .. } => intact_blob(ctx, *key)?.to_vec(),
        AttrData::Sparse { indices, values, .. } => sparse(ctx, *indices, *values, ty, size)?,
        AttrData::Integer { value, .. } => value.to_le_bytes()[..size.min(16)].to_vec(),
        AttrData::Bool(value) => vec![u8::from(*value)],
        AttrData::Float { bits, .. } => bits.to_le_bytes()[..size.min(16)].to_vec(),
        _ => return Err("the attribute holds no elements".into()),
    };
    if bytes.len() != size {
        return Err(format!("a constant of {size} bytes holds {}", bytes.len()).into());
    }
    // One bit is stored as one byte, 0 or 1; a signed `true` is all ones.
    let bytes = match ctx.type_data(ctx.elem(ty)) {
        TypeData::Integer { width: 1, .. } => bytes.iter().map(|byte| byte & 1).collect(),
        _ => bytes,
    };
    Ok(Tensor::new(ctx, ty, bytes))
}

/// The bytes of a resource, checked.
pub(crate) fn intact_blob(ctx: &Context, key: Ident) -> Result<Blob, EvalError> {
    let blob = ctx.blob(key).ok_or_else(|| format!("no data for resource `{}`", ctx.str(key)))?;
    blob.check().map_err(|why| format!("resource `{}`: {why}", ctx.str(key)))?;
    Ok(blob)
}

/// Zeros, except for `values` at `indices`: one row of indices, one number per axis, for each value.
fn sparse(ctx: &Context, indices: Attr, values: Attr, ty: Type, size: usize) -> Result<Vec<u8>, EvalError> {
    let shape = ctx.static_shape(ty).ok_or("a constant's sizes are not known")?;
    let rows = all_elements(ctx, indices)?;
    let Elem::Int(_) = Elem::of(ctx, rows.ty)? else { return Err("sparse indices are no integers".into()) };
    let rows = read_all::<i64>(Elem::of(ctx, rows.ty)?, &rows.bytes);
    let values = all_elements(ctx, values)?;
    let bits = storage_bits(ctx, ctx.elem(ty)).filter(|bits| bits % 8 == 0);
    let width = bits.ok_or("elements of less than a byte are not moved")? as usize / 8;
    let mut bytes = vec![0; size];
    for (number, value) in values.bytes.chunks_exact(width).enumerate() {
        let row = rows.get(number * shape.len()..(number + 1) * shape.len());
        let row = row.ok_or("a sparse constant has more values than indices")?;
        let at = row.iter().zip(&shape).fold(0, |at, (index, size)| at * *size as usize + *index as usize);
        let at = at.checked_mul(width).filter(|at| at + width <= size);
        let at = at.ok_or_else(|| format!("sparse index {row:?} is outside"))?;
        bytes[at..at + width].copy_from_slice(value);
    }
    Ok(bytes)
}

fn all_elements(ctx: &Context, attr: Attr) -> Result<Tensor, EvalError> {
    match ctx.attr_data(attr) {
        AttrData::Dense { ty, .. } => constant_value(ctx, attr, *ty),
        _ => Err("a sparse constant is made of dense ones".into()),
    }
}
