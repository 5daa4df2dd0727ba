//! Repeat, pad, fill and gather.

use super::views::Moved;
use super::{Operand, axis_below, by_lane, ints_of_rank, row_major};
use crate::body::OpRef;
use crate::interp::element::{Elem, Lane, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};

/// Repeats each element `counts` times in a row along each axis.
///
/// # Errors
/// If a count is below 1, or their number is not that of the axes.
pub fn repeat(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let from = Moved::of(op, operands, 0)?;
    let counts = ints_of_rank(op, "counts", from.shape.len())?;
    let counts: Option<Vec<usize>> =
        counts.iter().map(|count| usize::try_from(*count).ok().filter(|count| *count > 0)).collect();
    let counts = counts.ok_or("a count is below 1")?;
    // Each axis is followed by one over equal elements.
    let sizes: Vec<usize> =
        from.shape.iter().zip(&counts).flat_map(|(size, count)| [*size, *count]).collect();
    let strides: Vec<i64> = row_major(&from.shape).iter().flat_map(|stride| [*stride, 0]).collect();
    let shape: Vec<usize> = from.shape.iter().zip(&counts).map(|(size, count)| size * count).collect();
    let bytes = from.copy(0, &sizes, &strides);
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}

/// The operand with `low` elements before and `high` after each axis, all equal to `value`; negative counts
/// remove elements.
///
/// # Errors
/// If more elements would be removed than there are.
pub fn pad(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let from = Moved::of(op, operands, 0)?;
    let rank = from.shape.len();
    let (low, high) = (ints_of_rank(op, "low", rank)?, ints_of_rank(op, "high", rank)?);
    let grown: Option<Vec<usize>> = (0..rank)
        .map(|axis| usize::try_from(from.shape[axis] as i64 + low[axis] + high[axis]).ok())
        .collect();
    let shape = grown.ok_or("a padded size is below zero")?;
    let elem = Elem::of(op.ctx, operands[0].ty)?;
    let value = op.float("value").ok_or("lacks `value`")?;
    let mut bytes = by_lane!(elem, element(elem, value)).repeat(shape.iter().product());
    // The remaining part of the operand, and its position in the result.
    let first: Vec<i64> = low.iter().map(|low| (-low).max(0)).collect();
    let kept: Vec<usize> = (0..rank)
        .map(|axis| (from.shape[axis] as i64 + low[axis].min(0) + high[axis].min(0)).max(0) as usize)
        .collect();
    let own = row_major(&from.shape);
    let offset = first.iter().zip(&own).map(|(first, stride)| first * stride).sum();
    let window = from.copy(offset, &kept, &own);
    place(&mut bytes, &shape, &low, &window, &kept, from.size);
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}

/// A tensor of one number.
///
/// # Errors
/// If a size is not a number yet.
pub fn fill(op: OpRef<'_>, _: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let ty = op.result_type(0);
    let shape = op.result_shape(0).ok_or("has a size that is not known")?;
    let elem = Elem::of(op.ctx, ty)?;
    let value = op.float("value").ok_or("lacks `value`")?;
    let bytes = by_lane!(elem, element(elem, value)).repeat(shape.iter().product::<u64>() as usize);
    Ok(vec![Tensor::new(op.ctx, ty, bytes)])
}

fn element<L: Lane>(elem: Elem, value: f64) -> Vec<u8> {
    write_all(elem, &[L::from_f64(value)])
}

/// Writes a packed window of sizes `kept` into `bytes`, whose first element is at index `max(low, 0)`.
fn place(bytes: &mut [u8], shape: &[usize], low: &[i64], window: &[u8], kept: &[usize], size: usize) {
    let strides = row_major(shape);
    let run = kept.last().copied().unwrap_or(1);
    if window.is_empty() {
        return;
    }
    for (number, row) in window.chunks_exact(run * size).enumerate() {
        let mut rest = number;
        let mut at = low.last().map_or(0, |low| (*low).max(0));
        for axis in (0..shape.len().saturating_sub(1)).rev() {
            at += (low[axis].max(0) + (rest % kept[axis]) as i64) * strides[axis];
            rest /= kept[axis];
        }
        let at = at as usize * size;
        bytes[at..at + row.len()].copy_from_slice(row);
    }
}

/// The slices of operand 0 along attribute `axis` whose indices are in operand 1; a negative index counts
/// from the end.
///
/// # Errors
/// If an index is out of range.
pub fn gather(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let from = Moved::of(op, operands, 0)?;
    let indices = Operand::of(op, operands, 1)?;
    let axis = axis_below(op, from.shape.len())?;
    let Elem::Int(_) = indices.elem else { return Err("the indices are no integers".into()) };
    let size = from.shape[axis];
    let outer: usize = from.shape[..axis].iter().product();
    let run = from.shape[axis + 1..].iter().product::<usize>() * from.size;
    let picked = read_all::<i64>(indices.elem, indices.bytes);
    let mut bytes = Vec::with_capacity(outer * picked.len() * run);
    for i in 0..outer {
        for &index in &picked {
            let index = if index < 0 { index.wrapping_add(size as i64) } else { index };
            let inside = usize::try_from(index).ok().filter(|index| *index < size);
            let at = (i * size + inside.ok_or_else(|| format!("index {index} is outside 0..{size}"))?) * run;
            bytes.extend_from_slice(&from.bytes[at..at + run]);
        }
    }
    let shape = [&from.shape[..axis], &indices.shape, &from.shape[axis + 1..]].concat();
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}
