//! Operations of dialect `nn` whose meaning is not a scalar tree.
//!
//! Each function is an [`Eval`](crate::opdef::Eval): it takes the operands' values and returns those of the
//! results. Narrow floats are computed in `f32` and rounded once, when the result is written.

mod along;
mod bits;
mod compress;
mod contract;
mod gather;
mod lookup;
mod matmul;
mod normalise;
mod order;
mod pooling;
mod reduce;
mod regions;
mod resample;
mod source;
mod suppress;
mod tile;
mod views;

pub use along::{arg_extreme, cumulate};
pub use bits::{pack, unpack};
pub use compress::compress;
pub use contract::{conv2d, quantized_conv2d};
pub use gather::{fill, gather, pad, repeat};
pub use lookup::lookup;
pub(crate) use matmul::Side;
pub use matmul::{matmul, quantized_matmul};
pub use normalise::{batch_norm, group_norm, softmax};
pub use order::{arg_sort, scatter};
pub use pooling::{avg_pool2d, max_pool2d};
pub use reduce::reduce;
pub use regions::roi_align;
pub use resample::resample;
pub(crate) use source::intact_blob;
pub use source::{constant, constant_value, iota, sizes};
pub use suppress::non_max_suppression;
pub use views::{bitcast, broadcast, concat, insert_slice, reshape, same_bytes, slice, transpose};

use super::element::Elem;
use super::tensor::{EvalError, Tensor};
use crate::body::OpRef;

/// Calls `$function::<lane>` for the lane type of `$elem`.
macro_rules! by_lane {
    ($elem:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $crate::interp::element::Elem::lane($elem) {
            $crate::interp::element::LaneKind::F32 => $function::<f32>($($argument),*),
            $crate::interp::element::LaneKind::F64 => $function::<f64>($($argument),*),
            $crate::interp::element::LaneKind::Int => $function::<i64>($($argument),*),
        }
    };
}
use by_lane;

/// Operand `index` with its element type and sizes.
struct Operand<'a> {
    elem: Elem,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

impl<'a> Operand<'a> {
    fn of(op: OpRef<'_>, operands: &'a [Tensor], index: usize) -> Result<Operand<'a>, EvalError> {
        let value = operands.get(index).ok_or_else(|| format!("lacks operand {index}"))?;
        Ok(Operand { elem: Elem::of(op.ctx, value.ty)?, shape: value.shape(op.ctx)?, bytes: &value.bytes })
    }

    /// Operand `index`, checked to have this element type.
    fn like(
        op: OpRef<'_>,
        operands: &'a [Tensor],
        index: usize,
        elem: Elem,
    ) -> Result<Operand<'a>, EvalError> {
        let operand = Operand::of(op, operands, index)?;
        if operand.elem != elem {
            return Err(format!("operand {index} holds `{}`, another `{elem}`", operand.elem).into());
        }
        Ok(operand)
    }
}

/// The numbers of an attribute, one for each axis of a tensor of this rank.
fn ints_of_rank(op: OpRef<'_>, name: &str, rank: usize) -> Result<Vec<i64>, EvalError> {
    let values = op.ints(name).ok_or_else(|| format!("lacks `{name}`"))?;
    if values.len() != rank {
        return Err(format!("`{name}` has {} numbers, expected {rank}", values.len()).into());
    }
    Ok(values)
}

/// The axis given by attribute `axis`, from 0.
fn axis_below(op: OpRef<'_>, rank: usize) -> Result<usize, EvalError> {
    let axis = op.int("axis").ok_or("lacks `axis`")?;
    let axis = usize::try_from(axis).ok().filter(|axis| *axis < rank);
    axis.ok_or_else(|| format!("`axis` is not below {rank}").into())
}

/// The strides, in elements, of a packed row-major tensor.
fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as i64;
    }
    strides
}
