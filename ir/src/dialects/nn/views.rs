//! `nn`'s views: rows whose result is a window on an operand, or an operand a window on the result.

use super::attr;
use crate::body::OpRef;
use crate::dims::{self, SizeArithmetic};
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    Access, AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Reuse, Strided,
    Traits, TypeClass, View,
};
use crate::size::storage_bits;
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
            AttrKind::Sizes,
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
        name: "nn.bitcast",
        doc: "The operand's bits as elements of another type of the same width.",
        example: "%1 = nn.bitcast %0 {to = i32} : (tensor<4xf32>) -> tensor<4xi32>",
        operands: X,
        results: RESULT,
        attrs: &[attr("to", AttrKind::Type, Presence::Required, "Element type of the result.")],
        infer: Infer::Rule(infer_bitcast),
        traits: Traits::PURE.union(Traits::SAME_SHAPE).union(Traits::SAME_ORDER),
        kind: Kind::View(View::OfOperand(same_layout)),
        eval: Some(nn::bitcast),
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
        attrs: &[attr("shape", AttrKind::Sizes, Presence::Required, "The sizes.")],
        infer: Infer::Rule(infer_broadcast_to),
        traits: Traits::PURE,
        kind: Kind::View(View::OfOperand(broadcast_layout)),
        eval: Some(nn::broadcast),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.concat",
        doc: "The operands one after the other along an axis.",
        example: "%2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>",
        operands: &[OperandDef::variadic("parts", TypeClass::Tensor)],
        results: RESULT,
        attrs: &[attr("axis", AttrKind::Axis, Presence::Required, "The axis, from 0.")],
        infer: Infer::Rule(infer_concat),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::View(View::OfResult(concat_layouts)),
        eval: Some(nn::concat),
        ..OpDef::BLANK
    },
];

fn infer_bitcast(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let types = super::broadcast::infer_cast(input)?;
    let truth = input.ctx.int(1);
    if input.ctx.elem(types[0]) == truth && input.elem(0)? != truth {
        return Err("bits need not be a truth value".into());
    }
    let bits = [input.elem(0)?, input.ctx.elem(types[0])].map(|elem| storage_bits(input.ctx, elem));
    match bits {
        [Some(from), Some(to)] if from == to => Ok(types),
        _ => Err("the bits of an element are no element of type `to`".into()),
    }
}

fn same_layout(_: OpRef<'_>, _: usize, layout: &Strided) -> Option<Strided> {
    Some(layout.clone())
}

fn infer_reshape(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let from = input.shape(0)?;
    let mut shape = input.dims("shape")?;
    let sizes = input.sizes();
    let mut open = shape.iter().enumerate().filter(|(_, size)| **size == Dim::Unknown);
    let follows = open.next().map(|(axis, _)| axis);
    let another = open.next();
    if another.is_some() {
        return Err("at most one size of `shape` is not given".into());
    }
    let given: Vec<Dim> = shape.iter().copied().filter(|size| *size != Dim::Unknown).collect();
    let (count, given) = (sizes.product(from), sizes.product(&given));
    let does_not_fit = || {
        let shape = sizes.list(&shape).replace('?', "-1");
        InferError(format!("{} elements do not fit the shape {shape}", sizes.text(count)))
    };
    match follows {
        None if sizes.are_different(count, given) => return Err(does_not_fit()),
        None => {}
        Some(axis) => {
            let size = sizes.floor_div(count, given);
            let is_rounded = sizes.are_different(sizes.mul(size, given), count);
            if is_rounded || (size == Dim::Unknown && count != Dim::Unknown && given == Dim::Known(0)) {
                return Err(does_not_fit());
            }
            shape[axis] = size;
        }
    }
    Ok(vec![input.tensor(shape, input.elem(0)?)])
}

fn reshape_layout(op: OpRef<'_>, _: usize, from: &Strided) -> Option<Strided> {
    let shape = op.result_shape(0)?;
    if from.is_row_major() {
        return Some(Strided::row_major(from.offset, shape));
    }
    Some(Strided { offset: from.offset, strides: reshaped_strides(from, &shape)?, shape })
}

/// The strides of the same elements in another shape; none if non-contiguous axes would be merged. Like
/// numpy's reshape without a copy, it matches runs of axes of equal products from the outermost on.
fn reshaped_strides(from: &Strided, shape: &[u64]) -> Option<Vec<i64>> {
    let old = from.shape.iter().zip(&from.strides).filter(|(size, _)| **size != 1);
    let mut old = old.map(|(size, stride)| (*size, *stride)).peekable();
    let mut strides = vec![1; shape.len()];
    let mut axis = 0;
    while axis < shape.len() {
        let first = axis;
        let mut wanted = shape[axis];
        let mut found = 1;
        let mut inner = 1;
        axis += 1;
        while wanted != found {
            if found < wanted {
                let (size, stride) = old.next()?;
                if found > 1 && inner != size as i64 * stride {
                    return None;
                }
                (found, inner) = (found * size, stride);
            } else {
                wanted *= shape.get(axis)?;
                axis += 1;
            }
        }
        for axis in (first..axis).rev() {
            strides[axis] = inner;
            inner *= shape[axis] as i64;
        }
    }
    old.peek().is_none().then_some(strides)
}

fn permutation(values: &[i64], rank: usize) -> Result<Vec<usize>, InferError> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    if sorted.iter().copied().eq(0..rank as i64) {
        Ok(values.iter().map(|axis| *axis as usize).collect())
    } else {
        Err(format!("{values:?} is no permutation of the operand's {rank} axes").into())
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
    let shape = input.shape(0)?;
    let sizes = input.dims("sizes")?;
    if sizes.contains(&Dim::Unknown) {
        return Err("a size of the window is not given".into());
    }
    check_window(input, shape, &sizes)?;
    Ok(vec![input.tensor(sizes, input.elem(0)?)])
}

/// Rejects a window of `window` elements, from `starts` on in steps of `strides`, that provably leaves a
/// tensor of shape `shape`.
fn check_window(input: &InferInput<'_>, shape: &[Dim], window: &[Dim]) -> Result<(), InferError> {
    let starts = input.dims("starts")?;
    let strides = match input.attr("strides") {
        Some(_) => input.ints("strides")?,
        None => vec![1; shape.len()],
    };
    if [starts.len(), window.len(), strides.len()] != [shape.len(); 3] {
        return Err(
            format!("`starts`, `sizes` and `strides` do not have {} numbers each", shape.len()).into()
        );
    }
    for (axis, size) in shape.iter().enumerate() {
        if !may_lie_in(input.sizes(), *size, starts[axis], window[axis], strides[axis]) {
            return Err(format!("the window along axis {axis} leaves the operand").into());
        }
    }
    Ok(())
}

/// Whether, for some values of the symbols, `count` elements from `start` on lie in an axis of this size.
fn may_lie_in(sizes: SizeArithmetic<'_>, size: Dim, start: Dim, count: Dim, stride: i64) -> bool {
    if let [Some(size), Some(first), Some(count)] = [size, start, count].map(small_number) {
        let last = first + (count - 1) * i128::from(stride);
        return count == 0 || first < size && (0..size).contains(&last);
    }
    if sizes.is_at_most(count, 0) || count == Dim::Unknown {
        return true;
    }
    let indices = || {
        let first = sizes.expr(start)?;
        let steps = dims::sub(sizes.0, sizes.expr(count)?, dims::constant(sizes.0, 1))?;
        let span = dims::mul(sizes.0, steps, dims::constant(sizes.0, stride))?;
        Some([first, dims::add(sizes.0, first, span)?])
    };
    let Some(indices) = indices() else { return count.known().is_none() };
    let minus_one = dims::constant(sizes.0, -1);
    let leaves = |index| {
        sizes.are_ordered(index, minus_one)
            || sizes.expr(size).is_some_and(|size| sizes.are_ordered(size, index))
    };
    let is_empty_somewhere =
        !sizes.expr(count).is_some_and(|count| sizes.are_ordered(dims::constant(sizes.0, 1), count));
    is_empty_somewhere || !indices.into_iter().any(leaves)
}

/// A known size that is small enough for arithmetic.
fn small_number(size: Dim) -> Option<i128> {
    Some(i64::try_from(size.known()?).ok()?.into())
}

fn infer_insert_slice(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (source, dest) = (input.shape(0)?, input.shape(1)?);
    if input.elem(0)? != input.elem(1)? || source.len() != dest.len() {
        return Err("the operands differ in element type or number of axes".into());
    }
    if source.contains(&Dim::Unknown) {
        return Err("the sizes of the first operand are not known".into());
    }
    check_window(input, dest, source)?;
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
    let from = input.shape(0)?;
    let shape = input.dims("shape")?;
    let sizes = input.sizes();
    if shape.contains(&Dim::Unknown) || shape.len() < from.len() {
        let shape = sizes.list(&shape);
        return Err(format!("an operand of {} axes does not stretch to {shape}", from.len()).into());
    }
    let tail = &shape[shape.len() - from.len()..];
    let stays = |(from, to): (&Dim, &Dim)| {
        sizes.are_different(*from, Dim::Known(1)) && sizes.are_different(*from, *to)
    };
    if from.iter().zip(tail).any(stays) {
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
    let sizes = input.sizes();
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
                (true, a, b) => sizes.add(a, b),
                (false, a, b) if sizes.are_different(a, b) => {
                    let (a, b) = (sizes.text(a), sizes.text(b));
                    return Err(format!("sizes {a} and {b} of axis {other} differ").into());
                }
                // They are equal in every valid run; a number is the most precise.
                (false, Dim::Unknown, size) | (false, Dim::Symbolic(_), size @ Dim::Known(_)) => size,
                (false, size, _) => size,
            };
        }
    }
    Ok(vec![input.tensor(shape, input.elem(0)?)])
}

/// The operands' layouts inside the result's.
fn concat_layouts(op: OpRef<'_>, whole: &Strided) -> Vec<Option<Strided>> {
    let Some(axis) = op.int("axis").and_then(|axis| usize::try_from(axis).ok()) else { return Vec::new() };
    let size = |part| op.ctx.type_data(op.operand_type(part)).tensor_shape()?.get(axis)?.known();
    let mut before = Some(0u64);
    let layouts = (0..op.operand_count()).map(|part| {
        let first = before;
        before = before.zip(size(part)).and_then(|(before, size)| before.checked_add(size));
        Some(Strided {
            offset: whole.offset + first? as i64 * whole.strides[axis],
            shape: op.operand_shape(part)?,
            strides: whole.strides.clone(),
        })
    });
    layouts.collect()
}
