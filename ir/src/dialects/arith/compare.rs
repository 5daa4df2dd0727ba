//! Comparisons of `arith`, and selection: `arith.cmpi`, `arith.cmpf` and `arith.select`.

use super::{BOOL, FASTMATH, FLOATS, INTS, truths};
use crate::body::OpRef;
use crate::opdef::{AttrDef, AttrKind, Infer, Kind, OpDef, OperandDef, Presence, Traits, TypeClass};
use crate::scalar::{Binary, Scalar, Unary};
use crate::words::Words;

const X: &Scalar = &Scalar::Arg(0);
const Y: &Scalar = &Scalar::Arg(1);

const fn signed(binary: Binary) -> Scalar {
    const X: &Scalar = &Scalar::Signed(&Scalar::Arg(0));
    const Y: &Scalar = &Scalar::Signed(&Scalar::Arg(1));
    Scalar::Binary(binary, X, Y)
}

const fn unsigned(binary: Binary) -> Scalar {
    const X: &Scalar = &Scalar::Unsigned(&Scalar::Arg(0));
    const Y: &Scalar = &Scalar::Unsigned(&Scalar::Arg(1));
    Scalar::Binary(binary, X, Y)
}

const fn plain(binary: Binary) -> Scalar {
    Scalar::Binary(binary, X, Y)
}

const OF_INTEGERS: &[Scalar] = &[
    plain(Binary::Eq),
    plain(Binary::Ne),
    signed(Binary::Lt),
    signed(Binary::Le),
    signed(Binary::Gt),
    signed(Binary::Ge),
    unsigned(Binary::Lt),
    unsigned(Binary::Le),
    unsigned(Binary::Gt),
    unsigned(Binary::Ge),
];

const LESS: &Scalar = &plain(Binary::Lt);
const GREATER: &Scalar = &plain(Binary::Gt);
const AT_MOST: &Scalar = &plain(Binary::Le);
const AT_LEAST: &Scalar = &plain(Binary::Ge);
const LESS_OR_GREATER: &Scalar = &Scalar::Binary(Binary::Or, LESS, GREATER);
const X_IS_NUMBER: &Scalar = &Scalar::Binary(Binary::Eq, X, X);
const Y_IS_NUMBER: &Scalar = &Scalar::Binary(Binary::Eq, Y, Y);
const ARE_NUMBERS: &Scalar = &Scalar::Binary(Binary::And, X_IS_NUMBER, Y_IS_NUMBER);
const X_IS_NAN: &Scalar = &Scalar::Binary(Binary::Ne, X, X);

/// Comparisons that are false on NaN (`o`), and those that are true on it (`u`), written as negated
/// opposites.
const OF_FLOATS: &[Scalar] = &[
    Scalar::Binary(Binary::And, X_IS_NUMBER, X_IS_NAN),
    plain(Binary::Eq),
    plain(Binary::Gt),
    plain(Binary::Ge),
    plain(Binary::Lt),
    plain(Binary::Le),
    *LESS_OR_GREATER,
    *ARE_NUMBERS,
    Scalar::Unary(Unary::Not, LESS_OR_GREATER),
    Scalar::Unary(Unary::Not, AT_MOST),
    Scalar::Unary(Unary::Not, LESS),
    Scalar::Unary(Unary::Not, AT_LEAST),
    Scalar::Unary(Unary::Not, GREATER),
    plain(Binary::Ne),
    Scalar::Unary(Unary::Not, ARE_NUMBERS),
    Scalar::Binary(Binary::Or, X_IS_NUMBER, X_IS_NAN),
];

const fn predicate(words: &'static Words) -> AttrDef {
    let doc = "Which comparison: `s` of signed, `u` of unsigned integers; of floats `o` is false and `u` true on NaN.";
    AttrDef { name: "predicate", kind: AttrKind::Word(words), presence: Presence::Required, doc }
}

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "arith.cmpi",
        doc: "Whether the comparison of integers holds.",
        example: "%0 = arith.cmpi slt, %a, %b : i32",
        syntax: Some("$predicate, $lhs, $rhs attr-dict : type($lhs, $rhs)"),
        operands: INTS,
        results: BOOL,
        attrs: &[predicate(&Words {
            bits: 64,
            words: &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"],
        })],
        infer: Infer::Rule(truths),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Choose("predicate", OF_INTEGERS)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "arith.cmpf",
        doc: "Whether the comparison of floats holds.",
        example: "%0 = arith.cmpf olt, %a, %b : f32",
        syntax: Some("$predicate, $lhs, $rhs $fastmath attr-dict : type($lhs, $rhs)"),
        operands: FLOATS,
        results: BOOL,
        attrs: &[
            predicate(&Words {
                bits: 64,
                words: &[
                    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
                    "ule", "une", "uno", "true",
                ],
            }),
            FASTMATH,
        ],
        infer: Infer::Rule(truths),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Choose("predicate", OF_FLOATS)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "arith.select",
        doc: "The second operand where the condition holds, else the third; one condition may stand for all elements.",
        example: "func.func @f(%c: i1, %a: f32, %b: f32) -> f32 {\n  %0 = arith.select %c, %a, %b : f32\n  return %0 : f32\n}",
        syntax: Some(
            "$condition, $true_value, $false_value attr-dict : type-unless-i1($condition) type($true_value, $false_value, $result)",
        ),
        operands: &[
            OperandDef::one("condition", TypeClass::BoolLike),
            OperandDef::one("true_value", TypeClass::Any),
            OperandDef::one("false_value", TypeClass::Any),
        ],
        results: &[OperandDef::one("result", TypeClass::Any)],
        infer: Infer::SameAs(1),
        verify: Some(alike),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Select(X, Y, &Scalar::Arg(2))),
        ..OpDef::BLANK
    },
];

/// Both values have one type, and the condition is one truth value or one for each of their elements.
fn alike(op: OpRef<'_>) -> Result<(), String> {
    if op.operand_type(1) != op.operand_type(2) {
        return Err("the two values have different types".to_owned());
    }
    let truth = op.ctx.int(1);
    let condition = op.operand_type(0);
    let wanted = op.ctx.with_elem(op.operand_type(1), truth);
    if condition == truth || condition == wanted {
        Ok(())
    } else {
        Err("the condition is neither an `i1` nor one for each element".to_owned())
    }
}
