//! The dialect `arith`: arithmetic on numbers, and elementwise on vectors and tensors.

use crate::Type;
use crate::body::OpRef;
use crate::opdef::{AttrDef, AttrKind, Dialect, InferError, InferInput, OperandDef, Presence, TypeClass};
use crate::words::{Flags, Words};

mod casts;
mod compare;
mod extended;
mod floats;
mod integers;
mod rest;

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "arith",
    doc: "Arithmetic on numbers, and on vectors and tensors of them element by element, as in MLIR. What MLIR leaves open \
          (a division by zero, a shift by more bits than there are) has a result here.",
    tables: &[integers::OPS, floats::OPS, compare::OPS, casts::OPS, extended::OPS, rest::OPS],
};

/// Flags that exclude overflows of integers; if one happens, the result is any number.
const OVERFLOW: AttrDef = AttrDef {
    name: "overflowFlags",
    kind: AttrKind::Flags(&Flags {
        dialect: "arith",
        mnemonic: "overflow",
        words: &["nsw", "nuw"],
        all: None,
        separator: ", ",
    }),
    presence: Presence::NoFlags,
    doc: "What does not happen: a signed (`nsw`) or unsigned (`nuw`) overflow.",
};

/// Assumptions that are allowed for floats.
const FASTMATH: AttrDef = AttrDef {
    name: "fastmath",
    kind: AttrKind::Flags(&Flags {
        dialect: "arith",
        mnemonic: "fastmath",
        words: &["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"],
        all: Some("fast"),
        separator: ",",
    }),
    presence: Presence::NoFlags,
    doc: "What may be assumed of the numbers; nothing here makes use of it.",
};

/// The same attribute, but its absence differs from no flags.
const OPTIONAL_FASTMATH: AttrDef = AttrDef { presence: Presence::Optional, ..FASTMATH };

const ROUNDING: AttrDef = AttrDef {
    name: "roundingmode",
    kind: AttrKind::Word(&Words {
        bits: 32,
        words: &["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"],
    }),
    presence: Presence::Optional,
    doc: "Which of the two nearest numbers is taken; absent, as `to_nearest_even`, which alone is computed.",
};

const INTS: &[OperandDef] =
    &[OperandDef::one("lhs", TypeClass::IntLike), OperandDef::one("rhs", TypeClass::IntLike)];
const INT: &[OperandDef] = &[OperandDef::one("result", TypeClass::IntLike)];
const FLOATS: &[OperandDef] =
    &[OperandDef::one("lhs", TypeClass::FloatLike), OperandDef::one("rhs", TypeClass::FloatLike)];
const FLOAT: &[OperandDef] = &[OperandDef::one("result", TypeClass::FloatLike)];
const BOOL: &[OperandDef] = &[OperandDef::one("result", TypeClass::BoolLike)];

/// `i1`, or a vector or tensor of as many `i1` as the first operand has elements.
fn truths(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let ty = *input.operands.first().ok_or("operand 0 is missing")?;
    Ok(vec![input.ctx.with_elem(ty, input.ctx.int(1))])
}

/// The widths of the elements of operand 0 and of the result in bits, unless one has no fixed width.
fn widths(op: OpRef<'_>) -> Option<(u32, u32)> {
    let bits = |ty| crate::words::element_bits(op.ctx, ty);
    Some((bits(op.operand_type(0))?, bits(op.result_type(0))?))
}
