//! Which types elementwise rows give: how sizes broadcast.

use crate::entities::Type;
use crate::opdef::{InferError, InferInput};
use crate::types::Dim;

/// The shape that operands broadcast to, as in numpy: axes are aligned at the last, and size 1 stretches.
///
/// Two unknown sizes give an unknown one; an unknown size against a known one above 1 gives the known one.
pub(super) fn broadcast_shapes(shapes: &[&[Dim]]) -> Result<Vec<Dim>, InferError> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![Dim::Known(1); rank];
    for shape in shapes {
        for (axis, &size) in shape.iter().enumerate() {
            let axis = axis + rank - shape.len();
            result[axis] = match (result[axis], size) {
                (a, b) if a == b => a,
                (Dim::Known(1), b) => b,
                (a, Dim::Known(1)) => a,
                (Dim::Known(a), Dim::Unknown) | (Dim::Unknown, Dim::Known(a)) => Dim::Known(a),
                (Dim::Known(a), Dim::Known(b)) => {
                    return Err(format!("sizes {a} and {b} of axis {axis} do not broadcast").into());
                }
                (Dim::Unknown, Dim::Unknown) => Dim::Unknown,
            };
        }
    }
    Ok(result)
}

fn same_elem(input: &InferInput<'_>, first: usize) -> Result<Type, InferError> {
    let elem = input.elem(first)?;
    match (first..input.operands.len()).find(|&index| input.elem(index) != Ok(elem)) {
        Some(index) => Err(format!("operands {first} and {index} differ in element type").into()),
        None => Ok(elem),
    }
}

fn shapes<'a>(input: &InferInput<'a>) -> Result<Vec<&'a [Dim]>, InferError> {
    (0..input.operands.len()).map(|index| input.shape(index)).collect()
}

pub(super) fn infer_broadcast(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let elem = same_elem(input, 0)?;
    Ok(vec![input.tensor(broadcast_shapes(&shapes(input)?)?, elem)])
}

pub(super) fn infer_compare(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    same_elem(input, 0)?;
    Ok(vec![input.tensor(broadcast_shapes(&shapes(input)?)?, input.ctx.int(1))])
}

pub(super) fn infer_select(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    if input.elem(0)? != input.ctx.int(1) {
        return Err("the condition's elements are not `i1`".into());
    }
    let elem = same_elem(input, 1)?;
    Ok(vec![input.tensor(broadcast_shapes(&shapes(input)?)?, elem)])
}

pub(super) fn infer_cast(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let to = input.attr("to").ok_or("`to` is missing")?;
    let crate::AttrData::Type(elem) = *input.ctx.attr_data(to) else {
        return Err("`to` is not a type".into());
    };
    Ok(vec![input.tensor(input.shape(0)?.to_vec(), elem)])
}
