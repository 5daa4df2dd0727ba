//! Broadcasting: the result types of elementwise rows.

use crate::dims::SizeArithmetic;
use crate::entities::Type;
use crate::opdef::{InferError, InferInput};
use crate::types::Dim;

/// The shape that operands broadcast to, as in numpy: axes are aligned at the last one, and size 1 stretches.
///
/// A size that is not known may be 1, and then stretches, so it never decides alone. Two such sizes that are
/// not provably equal give an unknown one. If one of the two is known not to be 1, the result is that one.
pub(super) fn broadcast_shapes(sizes: SizeArithmetic<'_>, shapes: &[&[Dim]]) -> Result<Vec<Dim>, InferError> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![Dim::Known(1); rank];
    for shape in shapes {
        for (axis, &size) in shape.iter().enumerate() {
            let axis = axis + rank - shape.len();
            result[axis] = broadcast_sizes(sizes, result[axis], size).ok_or_else(|| {
                let (a, b) = (sizes.text(result[axis]), sizes.text(size));
                format!("sizes {a} and {b} of axis {axis} do not broadcast")
            })?;
        }
    }
    Ok(result)
}

/// The size that two sizes broadcast to; none if they do so for no values of the symbols.
fn broadcast_sizes(sizes: SizeArithmetic<'_>, a: Dim, b: Dim) -> Option<Dim> {
    let is_not_1 = |size| sizes.are_different(size, Dim::Known(1));
    match (a, b) {
        _ if a == b || sizes.are_equal(a, b) => Some(a),
        (Dim::Known(1), b) => Some(b),
        (a, Dim::Known(1)) => Some(a),
        _ if sizes.are_different(a, b) && is_not_1(a) && is_not_1(b) => None,
        _ if is_not_1(a) => Some(a),
        _ if is_not_1(b) => Some(b),
        _ => Some(Dim::Unknown),
    }
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
    Ok(vec![input.tensor(broadcast_shapes(input.sizes(), &shapes(input)?)?, elem)])
}

pub(super) fn infer_compare(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    same_elem(input, 0)?;
    Ok(vec![input.tensor(broadcast_shapes(input.sizes(), &shapes(input)?)?, input.ctx.int(1))])
}

pub(super) fn infer_select(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    if input.elem(0)? != input.ctx.int(1) {
        return Err("the condition's elements are not `i1`".into());
    }
    let elem = same_elem(input, 1)?;
    Ok(vec![input.tensor(broadcast_shapes(input.sizes(), &shapes(input)?)?, elem)])
}

pub(super) fn infer_cast(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let to = input.attr("to").ok_or("`to` is missing")?;
    let crate::AttrData::Type(elem) = *input.ctx.attr_data(to) else {
        return Err("`to` is not a type".into());
    };
    Ok(vec![input.tensor(input.shape(0)?.to_vec(), elem)])
}
