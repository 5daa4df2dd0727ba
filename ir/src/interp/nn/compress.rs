//! Compress: picks slices by a condition.

use super::axis_below;
use super::views::Moved;
use crate::body::OpRef;
use crate::interp::tensor::{EvalError, Tensor};

/// The slices of operand 0 along attribute `axis` for which operand 1 holds, followed by zeros; and their
/// number.
///
/// # Errors
/// If the condition does not have exactly one axis.
pub fn compress(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let (from, condition) = (Moved::of(op, operands, 0)?, Moved::of(op, operands, 1)?);
    let axis = axis_below(op, from.shape.len())?;
    let [conditions] = condition.shape[..] else { return Err("the condition has not one axis".into()) };
    let size = from.shape[axis];
    let kept = from.shape[axis].min(conditions);
    let run = from.shape[axis + 1..].iter().product::<usize>() * from.size;
    let outer: usize = from.shape[..axis].iter().product();
    let picked: Vec<usize> = (0..kept).filter(|index| condition.bytes[*index] != 0).collect();
    let mut bytes = Vec::with_capacity(outer * kept * run);
    for i in 0..outer {
        for index in &picked {
            bytes.extend_from_slice(&from.bytes[(i * size + index) * run..][..run]);
        }
        bytes.resize((i + 1) * kept * run, 0);
    }
    let mut shape = from.shape.clone();
    shape[axis] = kept;
    let count = (picked.len() as i64).to_le_bytes().to_vec();
    let picked = Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?;
    Ok(vec![picked, Tensor::of_shape(op.ctx, op.result_type(1), &[], count)?])
}
