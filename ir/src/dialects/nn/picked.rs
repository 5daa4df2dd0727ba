//! `nn`'s rows with data-dependent result sizes: stored as an upper bound, with the actual size as another
//! result.

use super::attr;
use crate::body::OpRef;
use crate::dims::SizeArithmetic;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Traits, TypeClass,
};
use crate::types::{Dim, FloatKind, TypeData};

pub(super) const OPS: &[OpDef] = &[COMPRESS, NON_MAX_SUPPRESSION];

const COMPRESS: OpDef = OpDef {
    name: "nn.compress",
    doc: "The slices of x along an axis whose condition holds, one after the other, and then zeros in the place of the others that have a \
          condition; and how many there are.",
    example: "%y, %n = nn.compress %x, %c {axis = 0 : i64} : (tensor<8x4xf32>, tensor<6xi1>) -> (tensor<6x4xf32>, tensor<i64>)",
    operands: &[OperandDef::one("x", TypeClass::Tensor), OperandDef::one("condition", TypeClass::BoolLike)],
    results: &[OperandDef::one("picked", TypeClass::Tensor), OperandDef::one("count", TypeClass::IntTensor)],
    attrs: &[attr("axis", AttrKind::Axis, Presence::DefaultInt(0), "The axis, from 0.")],
    infer: Infer::Rule(infer_compress),
    traits: Traits::PURE,
    kind: Kind::Kernel("compress"),
    eval: Some(nn::compress),
    ..OpDef::BLANK
};

const NON_MAX_SUPPRESSION: OpDef = OpDef {
    name: "nn.non_max_suppression",
    doc: "For each image and class the numbers of at most `most` boxes, those of higher scores first, of equal \
          ones in their order: of boxes whose score is above `least` and not NaN, without those whose \
          intersection with one that is picked is more than `overlap` of their union. A `least` of NaN is below \
          all scores. Beside each place whether a box is picked for it; 0 where none is.",
    example: "%y, %p = nn.non_max_suppression %b, %s, %k, %o, %l {places = array<i64: 3>} : \
              (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> \
              (tensor<1x2x3xi64>, tensor<1x2x3xi1>)",
    operands: &[
        OperandDef::one("boxes", TypeClass::FloatTensor),
        OperandDef::one("scores", TypeClass::FloatTensor),
        OperandDef::one("most", TypeClass::IntTensor),
        OperandDef::one("overlap", TypeClass::FloatTensor),
        OperandDef::one("least", TypeClass::FloatTensor),
    ],
    results: &[OperandDef::one("picked", TypeClass::Tensor), OperandDef::one("is_picked", TypeClass::Tensor)],
    attrs: &[attr(
        "places",
        AttrKind::Sizes,
        Presence::Required,
        "For how many boxes of each image and class there are places; no more are picked.",
    )],
    infer: Infer::Rule(infer_suppression),
    verify: Some(verify_suppression),
    traits: Traits::PURE,
    kind: Kind::Kernel("non_max_suppression"),
    eval: Some(nn::non_max_suppression),
    ..OpDef::BLANK
};

fn infer_compress(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (shape, condition) = (input.shape(0)?, input.shape(1)?);
    let axis = input.int("axis").and_then(|axis| usize::try_from(axis).ok());
    let axis = axis.filter(|axis| *axis < shape.len()).ok_or("`axis` is not one of the operand's axes")?;
    let [conditions] = condition else { return Err("the condition has more than one axis, or none".into()) };
    let mut shape = shape.to_vec();
    shape[axis] = match (shape[axis], *conditions) {
        (Dim::Unknown, _) | (_, Dim::Unknown) => Dim::Unknown,
        (size, conditions) => input.sizes().min(size, conditions),
    };
    Ok(vec![input.tensor(shape, input.elem(0)?), input.tensor(Vec::new(), input.ctx.int(64))])
}

fn infer_suppression(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let ([images, classes, _], [places]) = (input.shape(1)?, &input.dims("places")?[..]) else {
        return Err("the scores have not three axes, or `places` is more than one size".into());
    };
    let shape = vec![*images, *classes, *places];
    let is_picked = input.tensor(shape.clone(), input.ctx.int(1));
    Ok(vec![input.tensor(shape, input.ctx.int(64)), is_picked])
}

fn verify_suppression(op: OpRef<'_>) -> Result<(), String> {
    let shape = |index: usize| op.ctx.type_data(op.operand_type(index)).tensor_shape().unwrap_or(&[]);
    let sizes = SizeArithmetic(op.ctx);
    let (boxes, scores) = (shape(0), shape(1));
    let (&[images, count, corners], &[own, _, scored]) = (boxes, scores) else {
        return Err("the boxes or the scores have not three axes".to_owned());
    };
    let pairs = [(images, own), (count, scored), (corners, Dim::Known(4))];
    if pairs.iter().any(|(a, b)| sizes.are_different(*a, *b)) {
        return Err(format!("boxes of sizes {}, but scores of {}", sizes.list(boxes), sizes.list(scores)));
    }
    let is_f32 = |index: usize| {
        matches!(op.ctx.type_data(op.ctx.elem(op.operand_type(index))), TypeData::Float(FloatKind::F32))
    };
    if ![0, 1, 3, 4].into_iter().all(is_f32) || op.ctx.elem(op.operand_type(2)) != op.ctx.int(64) {
        return Err("the boxes, scores and thresholds are not of f32, or `most` is not of i64".to_owned());
    }
    if ![2, 3, 4].into_iter().all(|index| shape(index).is_empty()) {
        return Err("a limit is not one number".to_owned());
    }
    Ok(())
}
