//! `nn`'s rows along one axis: arg-max and arg-min, running sums and products.

use super::attr;
use crate::body::OpRef;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    Access, AttrDef, AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Reuse,
    Traits, TypeClass,
};
use crate::types::Dim;

const AXIS: AttrDef = attr("axis", AttrKind::Axis, Presence::Required, "The axis, from 0.");
const ARG: &[AttrDef] = &[
    AXIS,
    attr("keepdims", AttrKind::Unit, Presence::Optional, "If there, the axis stays, with size 1."),
    attr("last", AttrKind::Unit, Presence::Optional, "If there, the last of equal elements counts."),
];
const RUNNING: &[AttrDef] = &[
    AXIS,
    attr("exclusive", AttrKind::Unit, Presence::Optional, "If there, an element is no part of its result."),
    attr("reverse", AttrKind::Unit, Presence::Optional, "If there, the last element comes first."),
];

macro_rules! arg {
    ($name:literal, $doc:literal) => {
        OpDef {
            name: concat!("nn.", $name),
            doc: $doc,
            example: concat!("%1 = nn.", $name, " %0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>"),
            operands: &[OperandDef::one("x", TypeClass::Tensor)],
            results: &[OperandDef::one("result", TypeClass::IntTensor)],
            attrs: ARG,
            infer: Infer::Rule(infer_arg),
            traits: Traits::PURE,
            kind: Kind::Kernel($name),
            eval: Some(nn::arg_extreme),
            ..OpDef::BLANK
        }
    };
}

macro_rules! running {
    ($name:literal, $doc:literal) => {
        OpDef {
            name: concat!("nn.", $name),
            doc: $doc,
            example: concat!("%1 = nn.", $name, " %0 {axis = 1 : i64} : tensor<2x3xf32>"),
            operands: &[OperandDef::one("x", TypeClass::Tensor)],
            results: &[OperandDef::one("result", TypeClass::Tensor)],
            attrs: RUNNING,
            infer: Infer::SameAs(0),
            verify: Some(verify_axis),
            traits: Traits::PURE,
            kind: Kind::Kernel($name),
            reuse: &[Reuse { result: 0, operand: 0, access: Access::SameIndex }],
            eval: Some(nn::cumulate),
            ..OpDef::BLANK
        }
    };
}

pub(super) static OPS: &[OpDef] = &[
    arg!(
        "arg_max",
        "The index along an axis of the largest element: 0, until another element compares as larger (a NaN never does)."
    ),
    arg!(
        "arg_min",
        "The index along an axis of the smallest element: 0, until another element compares as smaller (a NaN never does)."
    ),
    running!("cum_sum", "The sums of the elements along an axis up to each."),
    running!("cum_prod", "The products of the elements along an axis up to each."),
];

fn infer_arg(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let shape = input.shape(0)?;
    let axis = input.int("axis").and_then(|axis| usize::try_from(axis).ok());
    let axis = axis.filter(|axis| *axis < shape.len()).ok_or("`axis` is not one of the operand's axes")?;
    if shape[axis] == Dim::Known(0) {
        return Err("there is no element along `axis`".into());
    }
    let mut sizes = shape.to_vec();
    match input.attr("keepdims") {
        Some(_) => sizes[axis] = Dim::Known(1),
        None => drop(sizes.remove(axis)),
    }
    Ok(vec![input.tensor(sizes, input.ctx.int(64))])
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
