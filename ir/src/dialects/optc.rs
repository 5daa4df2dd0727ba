//! The dialect `optc`: groups of operations made by fusion.

use crate::attrs::AttrData;
use crate::body::OpRef;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    AttrDef, AttrKind, Dialect, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence,
    RegionCount, Traits, TypeClass,
};
use crate::scalar::Scalar;
use crate::types::Dim;

/// The dialect.
pub static DIALECT: Dialect =
    Dialect { name: "optc", doc: "Fused operations: bodies that are run as one step.", tables: &[OPS] };

static OPS: &[OpDef] = &[
    OpDef {
        name: "optc.group",
        doc: "What its body yields, computed in one step; the body reads nothing but its arguments.",
        example: "%1 = optc.group(%a = %0) : (tensor<4xf32>) -> tensor<4xf32> { optc.yield %a : tensor<4xf32> }",
        operands: &[OperandDef::variadic("inputs", TypeClass::Any)],
        results: &[OperandDef::variadic("results", TypeClass::Any)],
        regions: RegionCount::Exactly(1),
        infer: Infer::Declared,
        traits: Traits::PURE.union(Traits::SINGLE_BLOCK),
        kind: Kind::Group,
        verify: Some(verify_group),
        ..OpDef::BLANK
    },
    OpDef {
        name: "optc.copy",
        doc: "The operand's elements in bytes of their own: what an output needs that is also an input. It is made for its \
              place, so that it is neither a weight, where the operand is one, nor the same as another copy.",
        example: "%1 = optc.copy %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::Any)],
        results: &[OperandDef::one("result", TypeClass::Any)],
        infer: Infer::SameAs(0),
        traits: Traits::SAME_TYPE,
        kind: Kind::Elementwise(&Scalar::Arg(0)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "optc.fill",
        doc: "A tensor of one number in bytes of its own, into which a loop writes slice by slice. As it is made for its place, it is no weight, \
              nor the same as another one.",
        example: "%0 = optc.fill {shape = array<i64: 4>, to = f32} : tensor<4xf32>",
        results: &[OperandDef::one("result", TypeClass::Tensor)],
        attrs: &[
            attr("shape", AttrKind::Sizes, Presence::Required, "The sizes."),
            attr("to", AttrKind::Type, Presence::Required, "The type of the elements."),
            attr("value", AttrKind::Float, Presence::DefaultFloat(0.0), "The number."),
        ],
        infer: Infer::Rule(infer_fill),
        kind: Kind::Kernel("fill"),
        eval: Some(nn::fill),
        ..OpDef::BLANK
    },
    OpDef {
        name: "optc.yield",
        doc: "Ends the body of a group with its results.",
        example: "optc.yield %a : tensor<4xf32>",
        operands: &[OperandDef::variadic("values", TypeClass::Any)],
        traits: Traits::TERMINATOR.union(Traits::YIELD),
        ..OpDef::BLANK
    },
];

const fn attr(name: &'static str, kind: AttrKind, presence: Presence, doc: &'static str) -> AttrDef {
    AttrDef { name, kind, presence, doc }
}

fn verify_group(op: OpRef<'_>) -> Result<(), String> {
    match op.body.result_count(op.op) {
        0 => Err("a group without results computes nothing".to_owned()),
        _ => Ok(()),
    }
}

fn infer_fill(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let shape = input.dims("shape")?;
    if shape.contains(&Dim::Unknown) {
        return Err("a size of `shape` is not given".into());
    }
    match input.attr("to").map(|to| input.ctx.attr_data(to)) {
        Some(AttrData::Type(elem)) => Ok(vec![input.tensor(shape, *elem)]),
        _ => Err("`to` is not a type".into()),
    }
}
