//! `nn`'s rows with data-dependent result sizes: stored as an upper bound, with the actual size as another
//! result.

use super::attr;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Traits, TypeClass,
};
use crate::types::Dim;

pub(super) const OPS: &[OpDef] = &[OpDef {
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
}];

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
