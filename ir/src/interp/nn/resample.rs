//! Resampling: weighted sums of elements along an axis.

use super::{Operand, axis_below};
use crate::body::OpRef;
use crate::interp::element::{Elem, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};

/// For each place along attribute `axis` of the result the sum of elements of operand 0 at the indices of
/// operand 1, times the weights of operand 2; all are `f32`, and the indices `i64`.
///
/// # Errors
/// If places and weights do not have the same two axes, or elements of another type.
pub fn resample(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let from = Operand::like(op, operands, 0, Elem::F32)?;
    let places = Operand::of(op, operands, 1)?;
    let weights = Operand::like(op, operands, 2, Elem::F32)?;
    let axis = axis_below(op, from.shape.len())?;
    let &[taps, count] = &places.shape[..] else { return Err("the places have not two axes".into()) };
    if weights.shape != places.shape {
        return Err("there are not as many places as weights".into());
    }
    let size = from.shape[axis];
    let inner: usize = from.shape[axis + 1..].iter().product();
    let outer: usize = from.shape[..axis].iter().product();
    let x: Vec<f32> = read_all(from.elem, from.bytes);
    let weights: Vec<f32> = read_all(weights.elem, weights.bytes);
    let places: Vec<i64> = read_all(places.elem, places.bytes);
    let places: Vec<usize> =
        places.into_iter().map(|place| place.clamp(0, (size as i64 - 1).max(0)) as usize).collect();
    let mut sums = vec![0.0; outer * count * inner];
    for (at, sum) in sums.iter_mut().enumerate().filter(|_| size > 0) {
        let (number, index, element) = (at / inner / count, at / inner % count, at % inner);
        for tap in 0..taps {
            let at = tap * count + index;
            let x = x[(number * size + places[at]) * inner + element];
            *sum = if tap == 0 { x * weights[at] } else { x.mul_add(weights[at], *sum) };
        }
    }
    let mut shape = from.shape.clone();
    shape[axis] = count;
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, write_all(from.elem, &sums))?])
}
