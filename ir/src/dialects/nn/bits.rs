//! `nn`'s rows that pack elements of less than a byte.

use super::attr;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Traits, TypeClass,
};
use crate::size::storage_bits;
use crate::types::{Signedness, TypeData};

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.unpack",
        doc: "The elements of x, which has several in a byte, one to a byte: a signed integer with copies of its highest bit above it, others \
              with zeros.",
        example: "%1 = nn.unpack %0 : (tensor<3xi4>) -> tensor<3xi8>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: &[OperandDef::one("result", TypeClass::IntTensor)],
        infer: Infer::Rule(infer_unpack),
        traits: Traits::PURE,
        kind: Kind::Kernel("unpack"),
        eval: Some(nn::unpack),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.pack",
        doc: "The low bits of the bytes of x as elements of less than a byte, several in a byte, the first in the low bits.",
        example: "%1 = nn.pack %0 {to = i4} : (tensor<3xi8>) -> tensor<3xi4>",
        operands: &[OperandDef::one("x", TypeClass::IntTensor)],
        results: &[OperandDef::one("result", TypeClass::Tensor)],
        attrs: &[attr("to", AttrKind::Type, Presence::Required, "The type of the result's elements.")],
        infer: Infer::Rule(infer_pack),
        traits: Traits::PURE,
        kind: Kind::Kernel("pack"),
        eval: Some(nn::pack),
        ..OpDef::BLANK
    },
];

fn is_packed(input: &InferInput<'_>, elem: Type) -> bool {
    matches!(storage_bits(input.ctx, elem), Some(1 | 2 | 4))
}

fn infer_unpack(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let elem = input.elem(0)?;
    if !is_packed(input, elem) {
        return Err("the operand's elements are not packed".into());
    }
    let signedness = match input.ctx.type_data(elem) {
        TypeData::Integer { signedness, .. } => *signedness,
        _ => Signedness::Unsigned,
    };
    let byte = input.ctx.ty(TypeData::Integer { width: 8, signedness });
    Ok(vec![input.tensor(input.shape(0)?.to_vec(), byte)])
}

fn infer_pack(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let types = super::broadcast::infer_cast(input)?;
    let is_byte = matches!(input.ctx.type_data(input.elem(0)?), TypeData::Integer { width: 8, .. });
    if is_byte && is_packed(input, input.ctx.elem(types[0])) {
        return Ok(types);
    }
    Err("the operand is not of bytes, or `to` is not packed".into())
}
