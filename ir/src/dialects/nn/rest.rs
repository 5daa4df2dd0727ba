//! `nn`'s other rows: constants, normalisation, padding, softmax, gather, lookup.

use super::attr;
use crate::body::OpRef;
use crate::dims::SizeArithmetic;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    Access, AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Reuse, Strided,
    Traits, TypeClass,
};
use crate::types::{Dim, TypeData};

const RESULT: &[OperandDef] = &[OperandDef::one("result", TypeClass::Tensor)];

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.constant",
        doc: "A constant tensor.",
        example: "%0 = nn.constant dense<1.0> : tensor<4xf32>",
        results: RESULT,
        attrs: &[attr("value", AttrKind::Elements, Presence::Required, "Its elements.")],
        infer: Infer::Rule(infer_constant),
        traits: Traits::PURE.union(Traits::CONSTANT),
        kind: Kind::Source,
        eval: Some(nn::constant),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.sizes",
        doc: "A tensor of integers that are sizes, known when the program is run on inputs of some sizes.",
        example: "%0 = nn.sizes {value = #optc.dims<N, 3>} : tensor<2xi64>",
        results: RESULT,
        attrs: &[attr("value", AttrKind::Sizes, Presence::Required, "The sizes.")],
        infer: Infer::Rule(infer_sizes),
        traits: Traits::PURE,
        kind: Kind::Source,
        eval: Some(nn::sizes),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.iota",
        doc: "The integers from 0 on, as many as a size that is known when the program is run says.",
        example: "%0 = nn.iota {size = #optc.dims<N>} : tensor<?xi64, #optc.dims<N>>",
        results: RESULT,
        attrs: &[attr("size", AttrKind::Sizes, Presence::Required, "How many.")],
        infer: Infer::Rule(infer_iota),
        traits: Traits::PURE,
        kind: Kind::Source,
        eval: Some(nn::iota),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.batch_norm",
        doc: "(x - mean) / sqrt(variance + `epsilon`) * scale + bias, for each channel.",
        example: "%1 = nn.batch_norm %x, %s, %b, %m, %v : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>",
        operands: &[
            OperandDef::one("x", TypeClass::FloatTensor),
            OperandDef::one("scale", TypeClass::FloatTensor),
            OperandDef::one("bias", TypeClass::FloatTensor),
            OperandDef::one("mean", TypeClass::FloatTensor),
            OperandDef::one("variance", TypeClass::FloatTensor),
        ],
        results: RESULT,
        attrs: &[
            attr("epsilon", AttrKind::Float, Presence::DefaultFloat(1e-5), "Added to the variance."),
            attr("axis", AttrKind::Axis, Presence::DefaultInt(1), "The channel axis."),
        ],
        infer: Infer::SameAs(0),
        verify: Some(verify_batch_norm),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::Kernel("batch_norm"),
        reuse: &[Reuse { result: 0, operand: 0, access: Access::SameIndex }],
        eval: Some(nn::batch_norm),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.group_norm",
        doc: "(x - mean) / sqrt(variance + `epsilon`) * scale + bias, with a scale and a bias for each channel, and the mean and \
              variance over `axes` and the channels of each of `groups` groups of consecutive ones; 0 for a group for each channel. \
              Without other axes and in one group, it is a layer norm, and about zero an RMS norm.",
        example: "%1 = nn.group_norm %x, %s, %b {axes = array<i64: 2, 3>, groups = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>",
        operands: &[
            OperandDef::one("x", TypeClass::FloatTensor),
            OperandDef::one("scale", TypeClass::FloatTensor),
            OperandDef::one("bias", TypeClass::FloatTensor),
        ],
        results: RESULT,
        attrs: &[
            attr("epsilon", AttrKind::Float, Presence::DefaultFloat(1e-5), "Added to the variance."),
            attr("axis", AttrKind::Axis, Presence::DefaultInt(1), "The channel axis."),
            attr("axes", AttrKind::Axes, Presence::Required, "The axes that go into the mean, besides."),
            attr(
                "groups",
                AttrKind::Int,
                Presence::Required,
                "How many groups the channels are divided into.",
            ),
            attr(
                "about_zero",
                AttrKind::Unit,
                Presence::Optional,
                "If there, no mean is subtracted, and the variance is about 0.",
            ),
        ],
        infer: Infer::SameAs(0),
        verify: Some(verify_group_norm),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::Kernel("group_norm"),
        reuse: &[Reuse { result: 0, operand: 0, access: Access::Whole }],
        eval: Some(nn::group_norm),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.softmax",
        doc: "e^x over the sum of e^x along an axis; the largest element is subtracted first.",
        example: "%1 = nn.softmax %0 {axis = 1 : i64} : tensor<2x3xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        attrs: &[attr("axis", AttrKind::Axis, Presence::Required, "The axis, from 0.")],
        infer: Infer::SameAs(0),
        verify: Some(verify_axis),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::Kernel("softmax"),
        reuse: &[Reuse { result: 0, operand: 0, access: Access::RowWise }],
        eval: Some(nn::softmax),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.pad",
        doc: "The operand with more elements, equal to `value`, around it.",
        example: "%1 = nn.pad %0 {low = array<i64: 1>, high = array<i64: 0>} : (tensor<4xf32>) -> tensor<5xf32>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: RESULT,
        attrs: &[
            attr(
                "low",
                AttrKind::PerAxis,
                Presence::Required,
                "How many before the first element of each axis.",
            ),
            attr(
                "high",
                AttrKind::PerAxis,
                Presence::Required,
                "How many after the last element of each axis.",
            ),
            attr("value", AttrKind::Float, Presence::DefaultFloat(0.0), "What they are."),
        ],
        infer: Infer::Rule(infer_pad),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::Kernel("pad"),
        frame: Some(pad_frame),
        eval: Some(nn::pad),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.repeat",
        doc: "The operand with each element repeated `counts` times along each axis.",
        example: "%1 = nn.repeat %0 {counts = array<i64: 1, 2>} : (tensor<4x3xf32>) -> tensor<4x6xf32>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: RESULT,
        attrs: &[attr("counts", AttrKind::PerAxis, Presence::Required, "How often, for each axis.")],
        infer: Infer::Rule(infer_repeat),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::Kernel("repeat"),
        eval: Some(nn::repeat),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.gather",
        doc: "Slices of x along an axis, picked by index; a negative index counts from the end.",
        example: "%1 = nn.gather %x, %i {axis = 0 : i64} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>",
        operands: &[
            OperandDef::one("x", TypeClass::Tensor),
            OperandDef::one("indices", TypeClass::IntTensor),
        ],
        results: RESULT,
        attrs: &[attr("axis", AttrKind::Axis, Presence::DefaultInt(0), "The axis, from 0.")],
        infer: Infer::Rule(infer_gather),
        traits: Traits::PURE.union(Traits::SELECTS).union(Traits::PERMUTABLE),
        kind: Kind::Kernel("gather"),
        eval: Some(nn::gather),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.lookup",
        doc: "For each byte of x the element of a table of 256 that its bits, as a number without a sign, \
              count from 0.",
        example: "%1 = nn.lookup %x, %table : (tensor<2x3xui8>, tensor<256xui8>) -> tensor<2x3xui8>",
        operands: &[
            OperandDef::one("x", TypeClass::IntTensor),
            OperandDef::one("table", TypeClass::IntTensor),
        ],
        results: &[OperandDef::one("result", TypeClass::IntTensor)],
        infer: Infer::Rule(infer_lookup),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::Kernel("lookup"),
        reuse: &[Reuse { result: 0, operand: 0, access: Access::SameIndex }],
        eval: Some(nn::lookup),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.resample",
        doc: "Weighted sums of elements along an axis: element j of the result is the sum over t of \
              weights[t, j] times element places[t, j] of x, in this order; each product after the first is \
              added without being rounded. A place outside of the axis stands for the nearest one inside; \
              sums of elements of an empty axis are 0.",
        example: "%1 = nn.resample %x, %places, %weights {axis = 0 : i64} \
                  : (tensor<8x4xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<3x4xf32>",
        operands: &[
            OperandDef::one("x", TypeClass::FloatTensor),
            OperandDef::one("places", TypeClass::IntTensor),
            OperandDef::one("weights", TypeClass::FloatTensor),
        ],
        results: &[OperandDef::one("result", TypeClass::FloatTensor)],
        attrs: &[attr("axis", AttrKind::Axis, Presence::DefaultInt(0), "The axis, from 0.")],
        infer: Infer::Rule(infer_resample),
        traits: Traits::PURE.union(Traits::PERMUTABLE),
        kind: Kind::Kernel("resample"),
        eval: Some(nn::resample),
        ..OpDef::BLANK
    },
];

fn infer_constant(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    use crate::AttrData::{Dense, Resource, Sparse};
    let value = input.attr("value").ok_or("`value` is missing")?;
    match input.ctx.attr_data(value) {
        Dense { ty, .. } | Resource { ty, .. } | Sparse { ty, .. } => Ok(vec![*ty]),
        _ => Err("`value` holds no elements".into()),
    }
}

fn infer_sizes(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let sizes = input.dims("value")?;
    if sizes.contains(&Dim::Unknown) {
        return Err("`value` has a size that is not given".into());
    }
    if sizes.iter().all(|size| size.known().is_some()) {
        return Err("`value` has only numbers, which `nn.constant` is for".into());
    }
    Ok(vec![input.ctx.tensor(&[sizes.len() as u64], input.ctx.int(64))])
}

fn infer_iota(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    match input.dims("size")?[..] {
        [size @ (Dim::Symbolic(_) | Dim::Known(_))] => Ok(vec![input.tensor(vec![size], input.ctx.int(64))]),
        _ => Err("`size` is not one size that is a number or follows from named ones".into()),
    }
}

fn verify_axis(op: OpRef<'_>) -> Result<(), String> {
    let rank = op.ctx.type_data(op.operand_type(0)).tensor_shape().map_or(0, <[Dim]>::len);
    let axis = op.int("axis").expect("the attributes were checked against the row");
    if (0..rank as i64).contains(&axis) {
        Ok(())
    } else {
        Err(format!("axis {axis} is not one of the operand's {rank}"))
    }
}

fn verify_batch_norm(op: OpRef<'_>) -> Result<(), String> {
    verify_axis(op)?;
    let axis = op.int("axis").unwrap_or(1) as usize;
    let shape = op.ctx.type_data(op.operand_type(0)).tensor_shape().unwrap_or(&[]);
    for index in 1..op.operand_count() {
        if op.ctx.elem(op.operand_type(index)) != op.ctx.elem(op.operand_type(0)) {
            return Err(format!("operand {index} has elements of another type than operand 0"));
        }
        match op.ctx.type_data(op.operand_type(index)).tensor_shape() {
            Some(&[size]) if !SizeArithmetic(op.ctx).are_different(size, shape[axis]) => {}
            _ => return Err(format!("operand {index} is not a tensor of one number for each channel")),
        }
    }
    Ok(())
}

fn verify_group_norm(op: OpRef<'_>) -> Result<(), String> {
    verify_batch_norm(op)?;
    let axis = op.int("axis").unwrap_or(1);
    let shape = op.ctx.type_data(op.operand_type(0)).tensor_shape().unwrap_or(&[]);
    let axes = op.ints("axes").expect("the attributes were checked against the row");
    for (index, other) in axes.iter().enumerate() {
        if !(0..shape.len() as i64).contains(other) || *other == axis || axes[..index].contains(other) {
            return Err(format!("{other} in `axes` is not another axis of the operand, named once"));
        }
    }
    let groups = op.int("groups").and_then(|groups| u64::try_from(groups).ok());
    let groups = groups.ok_or("`groups` is not at least 0")?;
    if groups == 0 {
        return Ok(());
    }
    let sizes = SizeArithmetic(op.ctx);
    let channels = shape[axis as usize];
    if sizes.are_different(sizes.modulo(channels, groups), Dim::Known(0)) {
        Err(format!("{} channels are not divided by {groups} groups", sizes.text(channels)))
    } else {
        Ok(())
    }
}

fn infer_pad(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let shape = input.shape(0)?;
    let low = input.ints("low")?;
    let high = input.ints("high")?;
    if low.len() != shape.len() || high.len() != shape.len() {
        return Err(format!("`low` and `high` do not have {} numbers each", shape.len()).into());
    }
    let grown = shape.iter().zip(low.iter().zip(&high)).map(|(size, (low, high))| match size {
        Dim::Unknown => Ok(Dim::Unknown),
        Dim::Symbolic(_) => match low.checked_add(*high) {
            Some(added) => Ok(input.sizes().offset(*size, added)),
            None => Ok(Dim::Unknown),
        },
        Dim::Known(size) => {
            let size = (*size as i64).checked_add(*low).and_then(|size| size.checked_add(*high));
            let size = size.and_then(|size| u64::try_from(size).ok());
            size.map(Dim::Known).ok_or_else(|| InferError("a padded size is below zero".into()))
        }
    });
    Ok(vec![input.tensor(grown.collect::<Result<_, _>>()?, input.elem(0)?)])
}

/// The layout of a padded operand in the result; none if the operand is cropped.
fn pad_frame(op: OpRef<'_>, whole: &Strided) -> Option<Strided> {
    let low = op.ints("low")?;
    let high = op.ints("high")?;
    let shape = op.operand_shape(0)?;
    let is_grown = low.iter().chain(&high).all(|count| *count >= 0);
    let skipped: i64 = low.iter().zip(&whole.strides).map(|(low, stride)| low * stride).sum();
    is_grown.then(|| Strided { offset: whole.offset + skipped, shape, strides: whole.strides.clone() })
}

fn infer_repeat(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let shape = input.shape(0)?;
    let counts = input.ints("counts")?;
    if counts.len() != shape.len() {
        return Err(format!("`counts` has {} numbers for {} axes", counts.len(), shape.len()).into());
    }
    let repeated = shape.iter().zip(&counts).map(|(size, count)| {
        let count = u64::try_from(*count).ok().filter(|count| *count > 0);
        let count = count.ok_or("a count is not at least 1")?;
        match size {
            Dim::Unknown => Ok(Dim::Unknown),
            Dim::Symbolic(_) => Ok(input.sizes().mul(*size, Dim::Known(count))),
            Dim::Known(size) => size.checked_mul(count).map(Dim::Known).ok_or("a size is too large"),
        }
    });
    let repeated: Result<Vec<Dim>, &str> = repeated.collect();
    Ok(vec![input.tensor(repeated?, input.elem(0)?)])
}

fn infer_gather(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (shape, indices) = (input.shape(0)?, input.shape(1)?);
    let axis = input.int("axis").and_then(|axis| usize::try_from(axis).ok());
    let axis = axis.filter(|axis| *axis < shape.len()).ok_or("`axis` is not one of the operand's axes")?;
    let sizes = [&shape[..axis], indices, &shape[axis + 1..]].concat();
    Ok(vec![input.tensor(sizes, input.elem(0)?)])
}

fn infer_resample(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (shape, places, weights) = (input.shape(0)?, input.shape(1)?, input.shape(2)?);
    let axis = input.int("axis").and_then(|axis| usize::try_from(axis).ok());
    let axis = axis.filter(|axis| *axis < shape.len()).ok_or("`axis` is not one of the operand's axes")?;
    let &[Dim::Known(1..), count] = places else {
        return Err("the places have not two axes, the first of at least one element".into());
    };
    if places != weights {
        return Err("there are not as many places as weights".into());
    }
    let f32 = input.ctx.f32();
    if input.elem(0)? != f32 || input.elem(2)? != f32 || input.elem(1)? != input.ctx.int(64) {
        return Err("its elements are not f32, or the places not i64".into());
    }
    let sizes = [&shape[..axis], &[count], &shape[axis + 1..]].concat();
    Ok(vec![input.tensor(sizes, f32)])
}

fn infer_lookup(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    for index in 0..2 {
        let TypeData::Integer { width: 8, .. } = input.ctx.type_data(input.elem(index)?) else {
            return Err(format!("operand {index} is not of bytes").into());
        };
    }
    match input.shape(1)? {
        [Dim::Known(256)] => Ok(vec![input.tensor(input.shape(0)?.to_vec(), input.elem(1)?)]),
        _ => Err("the table is not of one axis of 256 elements".into()),
    }
}
