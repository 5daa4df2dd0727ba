//! The dialect `cf`: branches between blocks.

use crate::body::OpRef;
use crate::interp::{EvalError, Tensor};
use crate::opdef::{
    AttrDef, AttrKind, Branch, Dialect, Kind, OpDef, OperandDef, Presence, Traits, TypeClass,
};
use crate::types::TypeData;

/// The dialect.
pub static DIALECT: Dialect =
    Dialect { name: "cf", doc: "Branches between the blocks of a function, as in MLIR.", tables: &[OPS] };

const SEGMENTS: AttrDef = AttrDef {
    name: "operandSegmentSizes",
    kind: AttrKind::Int32s,
    presence: Presence::Required,
    doc: "How many operands stand at each place of the row.",
};

static OPS: &[OpDef] = &[
    OpDef {
        name: "cf.assert",
        doc: "Stops the program with a message unless the condition holds.",
        example: r#"func.func @f(%c: i1) {
  cf.assert %c, "sizes differ"
  return
}"#,
        syntax: Some("$condition, $msg attr-dict"),
        operands: &[OperandDef::one("condition", TypeClass::Bool)],
        attrs: &[AttrDef {
            name: "msg",
            kind: AttrKind::Text,
            presence: Presence::Required,
            doc: "What is said when the program stops.",
        }],
        kind: Kind::Kernel("assert"),
        eval: Some(assert),
        ..OpDef::BLANK
    },
    OpDef {
        name: "cf.br",
        doc: "Goes to a block, with the operands as its arguments.",
        example: r#"func.func @f(%x: f32) -> f32 {
  cf.br ^bb1(%x : f32)
^bb1(%y: f32):
  return %y : f32
}"#,
        syntax: Some("block(0) attr-dict"),
        operands: &[OperandDef::variadic("arguments", TypeClass::Any)],
        traits: Traits::TERMINATOR.union(Traits::PURE),
        kind: Kind::Branch(Branch::Always),
        ..OpDef::BLANK
    },
    OpDef {
        name: "cf.cond_br",
        doc: "Goes to the first block if the condition holds, else to the second.",
        example: r#"func.func @f(%c: i1, %x: f32) -> f32 {
  cf.cond_br %c, ^bb1(%x : f32), ^bb2
^bb1(%y: f32):
  return %y : f32
^bb2:
  return %x : f32
}"#,
        syntax: Some("$condition [weights($branch_weights)], block(0), block(1) attr-dict"),
        operands: &[
            OperandDef::one("condition", TypeClass::Bool),
            OperandDef::variadic("true arguments", TypeClass::Any),
            OperandDef::variadic("false arguments", TypeClass::Any),
        ],
        attrs: &[
            SEGMENTS,
            AttrDef {
                name: "branch_weights",
                kind: AttrKind::Int32s,
                presence: Presence::Optional,
                doc: "How often each block is gone to, compared with the other.",
            },
        ],
        traits: Traits::TERMINATOR.union(Traits::PURE),
        kind: Kind::Branch(Branch::Condition),
        ..OpDef::BLANK
    },
    OpDef {
        name: "cf.switch",
        doc: "Goes to the block of the case that the flag equals, or to the first, if it equals none.",
        example: r#"func.func @f(%i: i32) -> i32 {
  cf.switch %i : i32, [default: ^bb1(%i : i32), 7: ^bb2]
^bb1(%j: i32):
  return %j : i32
^bb2:
  return %i : i32
}"#,
        syntax: Some("$flag : type($flag), cases attr-dict"),
        operands: &[
            OperandDef::one("flag", TypeClass::Int),
            OperandDef::variadic("default arguments", TypeClass::Any),
            OperandDef::variadic("case arguments", TypeClass::Any),
        ],
        attrs: &[
            SEGMENTS,
            AttrDef {
                name: "case_values",
                kind: AttrKind::Elements,
                presence: Presence::Optional,
                doc: "The number of each case, of the flag's type.",
            },
            AttrDef {
                name: "case_operand_segments",
                kind: AttrKind::Int32s,
                presence: Presence::Required,
                doc: "How many of the case arguments each case's block takes.",
            },
        ],
        verify: Some(cases),
        traits: Traits::TERMINATOR.union(Traits::PURE),
        kind: Kind::Branch(Branch::Switch),
        ..OpDef::BLANK
    },
];

/// Each case has a number of the flag's type, and a block.
fn cases(op: OpRef<'_>) -> Result<(), String> {
    let blocks = op.body.successors(op.op).len();
    let Some(values) = op.attr("case_values") else {
        return match blocks {
            0 | 1 => Ok(()),
            _ => Err(format!("{} blocks of cases have no `case_values`", blocks - 1)),
        };
    };
    let ty = op.ctx.attr_type(values).expect("elements have a type");
    let count = match op.ctx.type_data(ty) {
        TypeData::Vector { shape, .. } => shape.iter().map(|dim| dim.size).product::<u64>(),
        _ => op.ctx.static_shape(ty).unwrap_or_default().iter().product(),
    };
    if op.ctx.elem(ty) != op.operand_type(0) {
        return Err("`case_values` are not of the flag's type".to_owned());
    }
    if count == blocks.saturating_sub(1) as u64 {
        Ok(())
    } else {
        Err(format!("{count} `case_values` for {} blocks of cases", blocks.saturating_sub(1)))
    }
}

fn assert(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    match operands[0].bytes[0] & 1 {
        1 => Ok(Vec::new()),
        _ => Err(EvalError(op.text("msg").unwrap_or_default().to_owned())),
    }
}
