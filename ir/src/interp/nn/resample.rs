//! Resampling: weighted sums of elements along an axis.

use super::axis_below;
use super::views::Moved;
use crate::body::OpRef;
use crate::interp::tensor::{EvalError, Tensor};

/// For each place along attribute `axis` of the result the sum of elements of operand 0 at the indices of
/// operand 1, times the weights of operand 2; all are `f32`, and the indices `i64`.
///
/// # Errors
/// If places and weights do not have the same two axes.
pub fn resample(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let [from, places, weights] = [0, 1, 2].map(|index| Moved::of(op, operands, index));
    let (from, places, weights) = (from?, places?, weights?);
    let axis = axis_below(op, from.shape.len())?;
    let &[taps, count] = &places.shape[..] else { return Err("the places have not two axes".into()) };
    if weights.shape != places.shape {
        return Err("there are not as many places as weights".into());
    }
    let size = from.shape[axis];
    let inner: usize = from.shape[axis + 1..].iter().product();
    let outer: usize = from.shape[..axis].iter().product();
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes
            .chunks_exact(4)
            .map(|float| f32::from_le_bytes([float[0], float[1], float[2], float[3]]))
            .collect()
    };
    let [x, weights] = [&from, &weights].map(|operand| floats(operand.bytes));
    let place = |at: usize| {
        let bytes: [u8; 8] = places.bytes[at * 8..][..8].try_into().expect("eight bytes");
        i64::from_le_bytes(bytes).clamp(0, size as i64 - 1) as usize
    };
    let mut bytes = Vec::with_capacity(outer * count * inner * 4);
    for at in 0..outer * count * inner {
        let (number, index, element) = (at / inner / count, at / inner % count, at % inner);
        let tap = |tap: usize| {
            let at = tap * count + index;
            (x[(number * size + place(at)) * inner + element], weights[at])
        };
        let mut sum = 0.0;
        for number in (0..taps).filter(|_| size > 0) {
            let (x, weight) = tap(number);
            sum = if number == 0 { x * weight } else { x.mul_add(weight, sum) };
        }
        bytes.extend_from_slice(&sum.to_le_bytes());
    }
    let mut shape = from.shape.clone();
    shape[axis] = count;
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}
