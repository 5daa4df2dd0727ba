//! `scf`: conditions and loops as operations with regions.

use crate::body::OpRef;
use crate::opdef::{
    AttrDef, AttrKind, Dialect, Kind, OpDef, OperandDef, Presence, RegionCount, RegionFlow, Traits, TypeClass,
};

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "scf",
    doc: "Conditions and loops as operations whose regions are what they run, as in MLIR.",
    tables: &[OPS],
};

static OPS: &[OpDef] = &[
    OpDef {
        name: "scf.if",
        doc: "What the first region yields if the condition holds, else what the second does; without results the second may be empty.",
        example: r#"func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {
  %0 = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  return %0 : f32
}"#,
        operands: &[OperandDef::one("condition", TypeClass::Bool)],
        results: &[OperandDef::variadic("results", TypeClass::Any)],
        regions: RegionCount::Exactly(2),
        traits: Traits::SINGLE_BLOCK,
        kind: Kind::Region(RegionFlow::If),
        ..OpDef::BLANK
    },
    OpDef {
        name: "scf.for",
        doc: "Runs its region for each number from the lower bound up to, not including, the upper; what it yields is the \
              next turn's argument, and in the end the results.",
        example: r#"func.func @f(%n: index, %one: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.for %i = %one to %n step %one iter_args(%y = %x) -> (tensor<4xf32>) {
    %1 = nn.add %y, %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}"#,
        operands: &[
            OperandDef::one("lower", TypeClass::Int),
            OperandDef::one("upper", TypeClass::Int),
            OperandDef::one("step", TypeClass::Int),
            OperandDef::variadic("initial", TypeClass::Any),
        ],
        results: &[OperandDef::variadic("results", TypeClass::Any)],
        attrs: &[AttrDef {
            name: "unsignedCmp",
            kind: AttrKind::Unit,
            presence: Presence::Optional,
            doc: "The numbers are unsigned; absent, signed.",
        }],
        regions: RegionCount::Exactly(1),
        traits: Traits::SINGLE_BLOCK,
        verify: Some(one_counter),
        kind: Kind::Region(RegionFlow::For),
        ..OpDef::BLANK
    },
    OpDef {
        name: "scf.while",
        doc: "Runs its first region, and if that ends with a condition that holds, the second, and so on; results are what \
              the first hands over in the end.",
        example: r#"func.func @f(%c: i1, %d: i1) -> i1 {
  %0 = scf.while (%a = %c) : (i1) -> i1 {
    scf.condition(%a) %a : i1
  } do {
  ^bb0(%b: i1):
    scf.yield %d : i1
  }
  return %0 : i1
}"#,
        operands: &[OperandDef::variadic("initial", TypeClass::Any)],
        results: &[OperandDef::variadic("results", TypeClass::Any)],
        regions: RegionCount::Exactly(2),
        traits: Traits::SINGLE_BLOCK,
        kind: Kind::Region(RegionFlow::While),
        ..OpDef::BLANK
    },
    OpDef {
        name: "scf.condition",
        doc: "Ends the first region of a loop: if the condition holds, the second region takes the values, else they are the loop's results.",
        example: r#"func.func @f(%c: i1, %d: i1) -> i1 {
  %0 = scf.while (%a = %c) : (i1) -> i1 {
    scf.condition(%a) %a : i1
  } do {
  ^bb0(%b: i1):
    scf.yield %d : i1
  }
  return %0 : i1
}"#,
        syntax: Some("($condition) attr-dict [$values : type($values)]"),
        operands: &[
            OperandDef::one("condition", TypeClass::Bool),
            OperandDef::variadic("values", TypeClass::Any),
        ],
        traits: Traits::TERMINATOR.union(Traits::PURE).union(Traits::CONDITION),
        ..OpDef::BLANK
    },
    OpDef {
        name: "scf.yield",
        doc: "Ends a region with what it hands to the operation around it.",
        example: r#"func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {
  %0 = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  return %0 : f32
}"#,
        syntax: Some("attr-dict [$values : type($values)]"),
        operands: &[OperandDef::variadic("values", TypeClass::Any)],
        traits: Traits::TERMINATOR.union(Traits::YIELD).union(Traits::PURE),
        ..OpDef::BLANK
    },
];

/// Both bounds and the step have one type.
fn one_counter(op: OpRef<'_>) -> Result<(), String> {
    let lower = op.operand_type(0);
    if (1..3).all(|index| op.operand_type(index) == lower) {
        Ok(())
    } else {
        Err("lower bound, upper bound and step have different types".to_owned())
    }
}
