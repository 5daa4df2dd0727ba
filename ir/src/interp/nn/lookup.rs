//! Lookup: a function of single bytes, given as a table.

use crate::body::OpRef;
use crate::interp::tensor::{EvalError, Tensor};

/// For each byte of operand 0, read as an unsigned number, the element of operand 1 at this index.
///
/// # Errors
/// If the table does not have 256 bytes.
pub fn lookup(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let [x, table] = operands else { return Err("takes two operands".into()) };
    let table: &[u8; 256] = table.bytes[..].try_into().map_err(|_| "the table is not of 256 bytes")?;
    let bytes = x.bytes.iter().map(|byte| table[usize::from(*byte)]).collect();
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &x.shape(op.ctx)?, bytes)?])
}
