//! Views: copies of the bytes that they show.

use super::{axis_below, ints_of_rank, row_major};
use crate::body::OpRef;
use crate::interp::tensor::{EvalError, Tensor};
use crate::size::storage_bits;
use crate::strings::{is_string, text};

/// An operand whose elements are moved without computation: any type of whole bytes.
pub(super) struct Moved<'a> {
    pub(super) shape: Vec<usize>,
    pub(super) bytes: &'a [u8],
    /// Bytes of an element.
    pub(super) size: usize,
}

impl<'a> Moved<'a> {
    pub(super) fn of(op: OpRef<'_>, operands: &'a [Tensor], index: usize) -> Result<Moved<'a>, EvalError> {
        let value = operands.get(index).ok_or_else(|| format!("lacks operand {index}"))?;
        let bits = storage_bits(op.ctx, op.ctx.elem(value.ty)).filter(|bits| bits % 8 == 0);
        let size = bits.ok_or("elements of less than a byte are not moved")? as usize / 8;
        Ok(Moved { shape: value.shape(op.ctx)?, bytes: &value.bytes, size })
    }

    /// Copies the elements at `offset + sum(i * strides)` for every index `i` below `shape`, in row-major
    /// order.
    pub(super) fn copy(&self, offset: i64, shape: &[usize], strides: &[i64]) -> Vec<u8> {
        let count: usize = shape.iter().product();
        let mut out = Vec::with_capacity(count * self.size);
        if count == 0 {
            return out;
        }
        let (inner, step) = match (shape.last(), strides.last()) {
            (Some(&inner), Some(&step)) => (inner, step),
            _ => (1, 1),
        };
        let outer = &shape[..shape.len().saturating_sub(1)];
        let mut index = vec![0; outer.len()];
        let mut start = offset;
        loop {
            self.copy_run(&mut out, start, inner, step);
            if !advance(&mut index, outer, &mut start, strides) {
                return out;
            }
        }
    }

    fn copy_run(&self, out: &mut Vec<u8>, start: i64, count: usize, step: i64) {
        if step == 1 {
            let start = start as usize * self.size;
            out.extend_from_slice(&self.bytes[start..start + count * self.size]);
            return;
        }
        for i in 0..count as i64 {
            let at = (start + i * step) as usize * self.size;
            out.extend_from_slice(&self.bytes[at..at + self.size]);
        }
    }
}

/// The operand's bytes in another type.
///
/// # Errors
/// If the types differ in width, or bits become a string but are not those of one.
pub fn bitcast(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let mut digests = operands[0].bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    if is_string(op.ctx, op.ctx.elem(op.result_type(0))) && digests.any(|digest| text(digest).is_none()) {
        return Err("makes a string of the digest of none".into());
    }
    let shape = operands[0].shape(op.ctx)?;
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, operands[0].bytes.to_vec())?])
}

/// The operand's one element as another kind of value.
///
/// # Errors
/// If the result's type has sizes that the operand does not have.
pub fn same_bytes(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &[], operands[0].bytes.to_vec())?])
}

/// Advances `index` to the next one below `shape`, and `start` with it; false at the end.
fn advance(index: &mut [usize], shape: &[usize], start: &mut i64, strides: &[i64]) -> bool {
    for axis in (0..shape.len()).rev() {
        index[axis] += 1;
        *start += strides[axis];
        if index[axis] < shape[axis] {
            return true;
        }
        *start -= strides[axis] * shape[axis] as i64;
        index[axis] = 0;
    }
    false
}

fn result(op: OpRef<'_>, shape: &[usize], bytes: Vec<u8>) -> Result<Vec<Tensor>, EvalError> {
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), shape, bytes)?])
}

/// The same elements, in row-major order, in the sizes of attribute `shape`; one size may be -1 and is then
/// inferred. Shares the operand's bytes.
///
/// # Errors
/// If the number of elements differs.
pub fn reshape(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let value = operands.first().ok_or("lacks operand 0")?;
    let from = value.shape(op.ctx)?;
    let wanted = op.ints("shape").ok_or("lacks `shape`")?;
    let given: i64 = wanted.iter().filter(|size| **size >= 0).product();
    let count = from.iter().product::<usize>() as i64;
    let rest = count.checked_div(given).unwrap_or(0);
    let sizes: Vec<i64> = wanted.iter().map(|size| if *size < 0 { rest } else { *size }).collect();
    if sizes.iter().product::<i64>() != count {
        return Err(format!("{from:?} has not as many elements as {wanted:?}").into());
    }
    let sizes: Vec<u64> = sizes.iter().map(|size| *size as u64).collect();
    let ty = op.ctx.tensor(&sizes, op.ctx.elem(value.ty));
    Ok(vec![Tensor { ty, bytes: value.bytes.clone() }])
}

/// Axis `i` of the result is axis `permutation[i]` of the operand.
///
/// # Errors
/// If `permutation` is not a permutation of the operand's axes.
pub fn transpose(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let from = Moved::of(op, operands, 0)?;
    let permutation = ints_of_rank(op, "permutation", from.shape.len())?;
    let mut seen = permutation.clone();
    seen.sort_unstable();
    if !seen.iter().copied().eq(0..from.shape.len() as i64) {
        return Err(format!("{permutation:?} is no permutation of the axes").into());
    }
    let own = row_major(&from.shape);
    let shape: Vec<usize> = permutation.iter().map(|axis| from.shape[*axis as usize]).collect();
    let strides: Vec<i64> = permutation.iter().map(|axis| own[*axis as usize]).collect();
    result(op, &shape, from.copy(0, &shape, &strides))
}

/// Element `i` along each axis is the operand's `starts + i * strides`.
///
/// # Errors
/// If an index is out of range.
pub fn slice(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let from = Moved::of(op, operands, 0)?;
    let shape = ints_of_rank(op, "sizes", from.shape.len())?;
    let shape: Vec<usize> = shape.iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX)).collect();
    let (offset, strides) = window(op, &from.shape, &shape)?;
    result(op, &shape, from.copy(offset, &shape, &strides))
}

/// Operand 1 with the elements at `starts + i * strides` along each axis replaced by operand 0's.
///
/// # Errors
/// If an index is out of range of operand 1, or the element types differ.
pub fn insert_slice(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let (from, to) = (Moved::of(op, operands, 0)?, Moved::of(op, operands, 1)?);
    if from.size != to.size || from.shape.len() != to.shape.len() {
        return Err("has operands of different rank or element size".into());
    }
    let (mut start, strides) = window(op, &to.shape, &from.shape)?;
    let mut bytes = to.bytes.to_vec();
    let mut index = vec![0; from.shape.len()];
    for element in from.bytes.chunks_exact(from.size) {
        let at = start as usize * from.size;
        bytes[at..at + from.size].copy_from_slice(element);
        advance(&mut index, &from.shape, &mut start, &strides);
    }
    result(op, &to.shape, bytes)
}

/// The layout of a window of these sizes in a row-major tensor, which begins at `starts` and has steps of
/// `strides`: its first element, and the distance of neighbours along each axis.
fn window(op: OpRef<'_>, shape: &[usize], sizes: &[usize]) -> Result<(i64, Vec<i64>), EvalError> {
    let rank = shape.len();
    let starts = ints_of_rank(op, "starts", rank)?;
    let steps = if op.ints("strides").is_some() { ints_of_rank(op, "strides", rank)? } else { vec![1; rank] };
    let own = row_major(shape);
    let mut offset = 0;
    for axis in 0..rank {
        let inside = 0..shape[axis] as i64;
        let last = i64::try_from(sizes[axis]).ok().and_then(|size| (size - 1).checked_mul(steps[axis]));
        let last = last.and_then(|span| span.checked_add(starts[axis]));
        let is_inside = inside.contains(&starts[axis]) && last.is_some_and(|last| inside.contains(&last));
        if sizes[axis] > 0 && !is_inside {
            return Err(format!("the window along axis {axis} leaves the operand").into());
        }
        offset += starts[axis] * own[axis];
    }
    Ok((offset, own.iter().zip(&steps).map(|(own, step)| own * step).collect()))
}

/// The operand stretched to the sizes of attribute `shape`, as in numpy.
///
/// # Errors
/// If a size that is not 1 would have to stretch.
pub fn broadcast(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let from = Moved::of(op, operands, 0)?;
    let shape: Vec<usize> =
        op.ints("shape").ok_or("lacks `shape`")?.iter().map(|size| *size as usize).collect();
    let new_axes = shape.len().checked_sub(from.shape.len()).ok_or("has fewer axes than its operand")?;
    let mut strides = vec![0; shape.len()];
    for (axis, stride) in row_major(&from.shape).into_iter().enumerate() {
        match (from.shape[axis], shape[new_axes + axis]) {
            (own, wanted) if own == wanted => strides[new_axes + axis] = stride,
            (1, _) => {}
            (own, wanted) => return Err(format!("size {own} does not stretch to {wanted}").into()),
        }
    }
    result(op, &shape, from.copy(0, &shape, &strides))
}

/// The operands concatenated along attribute `axis`.
///
/// # Errors
/// If their other sizes differ.
pub fn concat(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let first = Moved::of(op, operands, 0)?;
    let axis = axis_below(op, first.shape.len())?;
    let mut shape = first.shape.clone();
    shape[axis] = 0;
    let mut parts = Vec::new();
    for index in 0..operands.len() {
        let part = Moved::of(op, operands, index)?;
        shape[axis] += part.shape.get(axis).copied().unwrap_or(0);
        let mut whole = part.shape.clone();
        whole[axis] = shape[axis];
        if whole != shape {
            return Err(
                format!("operand {index} has sizes {:?}, operand 0 {:?}", part.shape, first.shape).into()
            );
        }
        parts.push(part);
    }
    let outer: usize = shape[..axis].iter().product();
    let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * first.size);
    for i in 0..outer {
        for part in &parts {
            let run = part.bytes.len() / outer;
            bytes.extend_from_slice(&part.bytes[i * run..(i + 1) * run]);
        }
    }
    result(op, &shape, bytes)
}
