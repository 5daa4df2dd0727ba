//! `nn`'s views: rows whose result is a window on an operand, or an operand a window on the result.

use super::attr;
use crate::body::OpRef;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    Access, AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Reuse, Strided,
    Traits, TypeClass, View,
};
use crate::types::Dim;

const X: &[OperandDef] = &[OperandDef::one("x", TypeClass::Tensor)];
const RESULT: &[OperandDef] = &[OperandDef::one("result", TypeClass::Tensor)];

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.reshape",
        doc: "The operand's elements, in row-major order, in another shape.",
        example: "%1 = nn.reshape %0 {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>",
        operands: X,
        results: RESULT,
        attrs: &[attr(
            "shape",
            AttrKind::Ints,
            Presence::Required,
            "The sizes; at most one is -1 and follows.",
        )],
        infer: Infer::Rule(infer_reshape),
        traits: Traits::PURE.union(Traits::SAME_ORDER),
        kind: Kind::View(View::OfOperand(reshape_layout)),
        eval: Some(nn::reshape),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.transpose",
        doc: "The operand with its axes reordered: axis i of the result is axis `permutation[i]` of the operand.",
        example: "%1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>",
        operands: X,
        results: RESULT,
        attrs: &[attr("permutation", AttrKind::Ints, Presence::Required, "Each axis of the operand once.")],
        infer: Infer::Rule(infer_transpose),
        traits: Traits::PURE,
        kind: Kind::View(View::OfOperand(transpose_layout)),
        eval: Some(nn::transpose),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.slice",
        doc: "A window of the operand.",
        example: "%1 = nn.slice %0 {starts = array<i64: 1>, sizes = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>",
        operands: X,
        results: RESULT,
        attrs: &[
            attr("starts", AttrKind::PerAxis, Presence::Required, "First index along each axis."),
            attr("sizes", AttrKind::PerAxis, Presence::Required, "Elements along each axis."),
            attr(
                "strides",
                AttrKind::PerAxis,
                Presence::Optional,
                "Distance, possibly negative, of neighbours along each axis; absent: 1.",
            ),
        ],
        infer: Infer::Rule(infer_slice),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::View(View::OfOperand(slice_layout)),
        eval: Some(nn::slice),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.insert_slice",
        doc: "The second operand with a window of it replaced by the first.",
        example: "%2 = nn.insert_slice %0, %1 {starts = array<i64: 1>} : (tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>",
        operands: &[OperandDef::one("source", TypeClass::Tensor), OperandDef::one("dest", TypeClass::Tensor)],
        results: RESULT,
        attrs: &[
            attr("starts", AttrKind::PerAxis, Presence::Required, "First index along each axis."),
            attr(
                "strides",
                AttrKind::PerAxis,
                Presence::Optional,
                "Distance, possibly negative, of neighbours along each axis; absent: 1.",
            ),
        ],
        infer: Infer::Rule(infer_insert_slice),
        traits: Traits::PURE,
        kind: Kind::Kernel("insert_slice"),
        reuse: &[Reuse { result: 0, operand: 1, access: Access::SameIndex }],
        eval: Some(nn::insert_slice),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.broadcast",
        doc: "The operand stretched to a shape, as in numpy.",
        example: "%1 = nn.broadcast %0 {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>",
        operands: X,
        results: RESULT,
        attrs: &[attr("shape", AttrKind::Ints, Presence::Required, "The sizes.")],
        infer: Infer::Rule(infer_broadcast_to),
        traits: Traits::PURE,
        kind: Kind::View(View::OfOperand(broadcast_layout)),
        eval: Some(nn::broadcast),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.concat",
        doc: "The operands one behind the other along an axis.",
        example: "%2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>",
        operands: &[OperandDef::variadic("parts", TypeClass::Tensor)],
        results: RESULT,
        attrs: &[attr("axis", AttrKind::Axis, Presence::Required, "The axis, from 0.")],
        infer: Infer::Rule(infer_concat),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::View(View::OfResult(concat_layout)),
        eval: Some(nn::concat),
        ..OpDef::BLANK
    },
];

fn product(shape: &[Dim]) -> Option<u64> {
    shape.iter().try_fold(1u64, |count, dim| count.checked_mul(dim.known()?))
}

fn infer_reshape(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (from, shape) = (input.shape(0)?, input.ints("shape")?);
    if shape.iter().any(|size| *size < -1) || shape.iter().filter(|size| **size == -1).count() > 1 {
        return Err(format!("`shape` is {shape:?}: sizes are at least 0, and at most one is -1").into());
    }
    let known: Vec<Dim> =
        shape.iter().filter(|size| **size >= 0).map(|size| Dim::Known(*size as u64)).collect();
    let known = product(&known).ok_or("`shape` has too many elements")?;
    let inferred = match product(from) {
        None => Dim::Unknown,
        Some(count) if known == count && !shape.contains(&-1) => Dim::Known(1),
        Some(count) if shape.contains(&-1) && known > 0 && count % known == 0 => Dim::Known(count / known),
        Some(count) => return Err(format!("{count} elements do not fit the shape {shape:?}").into()),
    };
    let sizes = shape.iter().map(|&size| if size < 0 { inferred } else { Dim::Known(size as u64) });
    Ok(vec![input.tensor(sizes.collect(), input.elem(0)?)])
}

fn reshape_layout(op: OpRef<'_>, _: usize, from: &Strided) -> Option<Strided> {
    let shape = op.result_shape(0)?;
    from.is_row_major().then(|| Strided::row_major(from.offset, shape))
}

fn permutation(values: &[i64], rank: usize) -> Result<Vec<usize>, InferError> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    match sorted.iter().copied().eq(0..rank as i64) {
        true => Ok(values.iter().map(|axis| *axis as usize).collect()),
        false => Err(format!("{values:?} is no permutation of the operand's {rank} axes").into()),
    }
}

fn infer_transpose(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let shape = input.shape(0)?;
    let permutation = permutation(&input.ints("permutation")?, shape.len())?;
    Ok(vec![input.tensor(permutation.iter().map(|axis| shape[*axis]).collect(), input.elem(0)?)])
}

fn transpose_layout(op: OpRef<'_>, _: usize, from: &Strided) -> Option<Strided> {
    let permutation = permutation(&op.ints("permutation")?, from.shape.len()).ok()?;
    Some(Strided {
        offset: from.offset,
        shape: permutation.iter().map(|axis| from.shape[*axis]).collect(),
        strides: permutation.iter().map(|axis| from.strides[*axis]).collect(),
    })
}

fn infer_slice(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (shape, sizes) = (input.shape(0)?, input.ints("sizes")?);
    check_window(input, shape, &sizes)?;
    Ok(vec![input.tensor(sizes.iter().map(|size| Dim::Known(*size as u64)).collect(), input.elem(0)?)])
}

/// A window of so many elements, which begins at `starts` and walks in `strides`, lies in a tensor of this shape.
fn check_window(input: &InferInput<'_>, shape: &[Dim], sizes: &[i64]) -> Result<(), InferError> {
    let starts = input.ints("starts")?;
    let strides = match input.attr("strides") {
        Some(_) => input.ints("strides")?,
        None => vec![1; shape.len()],
    };
    if [starts.len(), sizes.len(), strides.len()] != [shape.len(); 3] {
        return Err(
            format!("`starts`, `sizes` and `strides` do not have {} numbers each", shape.len()).into()
        );
    }
    for (axis, size) in shape.iter().enumerate() {
        let last =
            (sizes[axis] - 1).checked_mul(strides[axis]).and_then(|span| span.checked_add(starts[axis]));
        let bound = size.known().map_or(i64::MAX, |size| size as i64);
        let is_inside = |index: i64| (0..bound).contains(&index);
        let is_right = sizes[axis] == 0 || (is_inside(starts[axis]) && last.is_some_and(is_inside));
        if sizes[axis] < 0 || !is_right {
            return Err(format!("the window along axis {axis} leaves the operand").into());
        }
    }
    Ok(())
}

fn infer_insert_slice(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (source, dest) = (input.shape(0)?, input.shape(1)?);
    if input.elem(0)? != input.elem(1)? || source.len() != dest.len() {
        return Err("the operands differ in element type or number of axes".into());
    }
    let sizes: Option<Vec<i64>> = source.iter().map(|size| Some(size.known()? as i64)).collect();
    check_window(input, dest, &sizes.ok_or("the sizes of the first operand are not known")?)?;
    Ok(vec![input.operands[1]])
}

fn slice_layout(op: OpRef<'_>, _: usize, from: &Strided) -> Option<Strided> {
    let (starts, sizes) = (op.ints("starts")?, op.ints("sizes")?);
    let steps = op.ints("strides").unwrap_or(vec![1; starts.len()]);
    let skipped: i64 = starts.iter().zip(&from.strides).map(|(start, stride)| start * stride).sum();
    Some(Strided {
        offset: from.offset + skipped,
        shape: sizes.iter().map(|size| *size as u64).collect(),
        strides: from.strides.iter().zip(&steps).map(|(stride, step)| stride * step).collect(),
    })
}

fn infer_broadcast_to(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (from, shape) = (input.shape(0)?, input.ints("shape")?);
    if shape.iter().any(|size| *size < 0) || shape.len() < from.len() {
        return Err(format!("an operand of {} axes does not stretch to {shape:?}", from.len()).into());
    }
    let shape: Vec<Dim> = shape.iter().map(|size| Dim::Known(*size as u64)).collect();
    let tail = &shape[shape.len() - from.len()..];
    let stretches = |(from, to): (&Dim, &Dim)| *from == Dim::Known(1) || *from == Dim::Unknown || from == to;
    if !from.iter().zip(tail).all(stretches) {
        return Err("a size that is not 1 does not stretch".into());
    }
    Ok(vec![input.tensor(shape, input.elem(0)?)])
}

fn broadcast_layout(op: OpRef<'_>, _: usize, from: &Strided) -> Option<Strided> {
    let shape = op.result_shape(0)?;
    let new_axes = shape.len() - from.shape.len();
    let mut strides = vec![0; shape.len()];
    for (axis, stride) in from.strides.iter().enumerate() {
        strides[new_axes + axis] = if from.shape[axis] == shape[new_axes + axis] { *stride } else { 0 };
    }
    Some(Strided { offset: from.offset, shape, strides })
}

fn infer_concat(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let mut shape = input.shape(0)?.to_vec();
    let axis = input.int("axis").ok_or("`axis` is missing")?;
    let axis = usize::try_from(axis).ok().filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| format!("`axis` is not one of the operands' {} axes", shape.len()))?;
    for index in 1..input.operands.len() {
        let part = input.shape(index)?;
        if part.len() != shape.len() || input.elem(index)? != input.elem(0)? {
            return Err(format!("operands 0 and {index} differ in axes or element type").into());
        }
        for (other, (whole, part)) in shape.iter_mut().zip(part).enumerate() {
            *whole = match (other == axis, *whole, *part) {
                (true, Dim::Known(a), Dim::Known(b)) => {
                    Dim::Known(a.checked_add(b).ok_or("too many elements")?)
                }
                (true, ..) => Dim::Unknown,
                (false, Dim::Known(a), Dim::Known(b)) if a != b => {
                    return Err(format!("sizes {a} and {b} of axis {other} differ").into());
                }
                (false, Dim::Unknown, size) | (false, size, _) => size,
            };
        }
    }
    Ok(vec![input.tensor(shape, input.elem(0)?)])
}

/// The layout of operand `index` inside the result's.
fn concat_layout(op: OpRef<'_>, index: usize, whole: &Strided) -> Option<Strided> {
    let axis = usize::try_from(op.int("axis")?).ok()?;
    let sizes: Option<Vec<u64>> = (0..index).map(|part| Some(op.operand_shape(part)?[axis])).collect();
    let before: u64 = sizes?.iter().sum();
    Some(Strided {
        offset: whole.offset + before as i64 * whole.strides[axis],
        shape: op.operand_shape(index)?,
        strides: whole.strides.clone(),
    })
}
