//! Other rows of `arith`: constants, and conversions that the interpreter does not compute.

use super::{OPTIONAL_FASTMATH, ROUNDING};
use crate::body::OpRef;
use crate::interp::nn::constant;
use crate::opdef::{
    AttrDef, AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Traits, TypeClass,
};
use crate::{Signedness, Type, TypeData};

const SCALED: &[OperandDef] =
    &[OperandDef::one("in", TypeClass::FloatLike), OperandDef::one("scale", TypeClass::FloatLike)];
const OUT: &[OperandDef] = &[OperandDef::one("out", TypeClass::FloatLike)];
const PURE_CAST: Traits = Traits::PURE.union(Traits::CAST);

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "arith.constant",
        doc: "The number, or the elements, that the attribute holds.",
        example: "%0 = arith.constant 1.5 : f32",
        results: &[OperandDef::one("result", TypeClass::Any)],
        attrs: &[AttrDef {
            name: "value",
            kind: AttrKind::Any,
            presence: Presence::Required,
            doc: "The number, or the elements.",
        }],
        infer: Infer::Rule(of_value),
        verify: Some(has_no_sign),
        traits: Traits::PURE.union(Traits::CONSTANT),
        kind: Kind::Source,
        eval: Some(constant),
        ..OpDef::BLANK
    },
    OpDef {
        name: "arith.scaling_extf",
        doc: "The product of a float and a scale, in a wider type. It has no evaluation here.",
        example: "func.func @f(%a: f4E2M1FN, %s: f8E8M0FNU) -> f32 {\n  %0 = arith.scaling_extf %a, %s : f4E2M1FN, f8E8M0FNU to f32\n  return %0 : f32\n}",
        syntax: Some("$in, $scale $fastmath attr-dict : type($in), type($scale) to type($out)"),
        operands: SCALED,
        results: OUT,
        attrs: {
            const ATTRS: &[AttrDef] = &[OPTIONAL_FASTMATH];
            ATTRS
        },
        traits: PURE_CAST,
        kind: Kind::Kernel("scaling_extf"),
        ..OpDef::BLANK
    },
    OpDef {
        name: "arith.scaling_truncf",
        doc: "The quotient of a float and a scale, in a narrower type. It has no evaluation here.",
        example: "func.func @f(%a: f32, %s: f8E8M0FNU) -> f4E2M1FN {\n  %0 = arith.scaling_truncf %a, %s : f32, f8E8M0FNU to f4E2M1FN\n  return %0 : f4E2M1FN\n}",
        syntax: Some("$in, $scale $roundingmode $fastmath attr-dict : type($in), type($scale) to type($out)"),
        operands: SCALED,
        results: OUT,
        attrs: {
            const ATTRS: &[AttrDef] = &[ROUNDING, OPTIONAL_FASTMATH];
            ATTRS
        },
        traits: PURE_CAST,
        kind: Kind::Kernel("scaling_truncf"),
        ..OpDef::BLANK
    },
];

fn of_value(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let value = input.attr("value").ok_or("`value` is missing")?;
    let ty = input.ctx.attr_type(value).ok_or("`value` has no type")?;
    Ok(vec![ty])
}

/// A constant integer is signless.
fn has_no_sign(op: OpRef<'_>) -> Result<(), String> {
    match op.ctx.type_data(op.result_type(0)) {
        TypeData::Integer { signedness: Signedness::Signed | Signedness::Unsigned, .. } => {
            Err("an integer here has no sign".to_owned())
        }
        _ => Ok(()),
    }
}
