//! `optc`: what fusion makes.

use crate::opdef::{Dialect, Infer, Kind, OpDef, OperandDef, RegionCount, Traits, TypeClass};
use crate::scalar::Scalar;

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
        name: "optc.yield",
        doc: "Ends the body of a group with its results.",
        example: "optc.yield %a : tensor<4xf32>",
        operands: &[OperandDef::variadic("values", TypeClass::Any)],
        traits: Traits::TERMINATOR.union(Traits::YIELD),
        ..OpDef::BLANK
    },
];
