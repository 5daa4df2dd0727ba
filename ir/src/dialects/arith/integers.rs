//! Integers of `arith`: the function of each operation for one element.

use super::{INT, INTS, OVERFLOW};
use crate::opdef::{AttrDef, Infer, Kind, OpDef, Traits};
use crate::scalar::{Binary, Scalar, Unary};

const X: &Scalar = &Scalar::Arg(0);
const Y: &Scalar = &Scalar::Arg(1);
const ZERO: &Scalar = &Scalar::Const(0.0);
const ONE: &Scalar = &Scalar::Const(1.0);
const SIGNED_X: &Scalar = &Scalar::Signed(X);
const SIGNED_Y: &Scalar = &Scalar::Signed(Y);
const UNSIGNED_X: &Scalar = &Scalar::Unsigned(X);
const UNSIGNED_Y: &Scalar = &Scalar::Unsigned(Y);

const QUOTIENT: &Scalar = &Scalar::Binary(Binary::Div, SIGNED_X, SIGNED_Y);
const HAS_REST: &Scalar = &Scalar::Binary(Binary::Ne, &Scalar::Binary(Binary::Rem, SIGNED_X, SIGNED_Y), ZERO);
const X_IS_NEGATIVE: &Scalar = &Scalar::Binary(Binary::Lt, SIGNED_X, ZERO);
const Y_IS_NEGATIVE: &Scalar = &Scalar::Binary(Binary::Lt, SIGNED_Y, ZERO);
const SIGNS_DIFFER: &Scalar = &Scalar::Binary(Binary::Xor, X_IS_NEGATIVE, Y_IS_NEGATIVE);
const FLOOR: &Scalar = &Scalar::Select(
    &Scalar::Binary(Binary::And, HAS_REST, SIGNS_DIFFER),
    &Scalar::Binary(Binary::Sub, QUOTIENT, ONE),
    QUOTIENT,
);
const CEIL: &Scalar = &Scalar::Select(
    &Scalar::Binary(Binary::And, HAS_REST, &Scalar::Unary(Unary::Not, SIGNS_DIFFER)),
    &Scalar::Binary(Binary::Add, QUOTIENT, ONE),
    QUOTIENT,
);
const UNSIGNED_QUOTIENT: &Scalar = &Scalar::Binary(Binary::Div, UNSIGNED_X, UNSIGNED_Y);
const UNSIGNED_REST: &Scalar = &Scalar::Binary(Binary::Rem, UNSIGNED_X, UNSIGNED_Y);
const UNSIGNED_CEIL: &Scalar = &Scalar::Select(
    &Scalar::Binary(Binary::Ne, UNSIGNED_REST, ZERO),
    &Scalar::Binary(Binary::Add, UNSIGNED_QUOTIENT, ONE),
    UNSIGNED_QUOTIENT,
);

const PLAIN: &str = "$lhs, $rhs attr-dict : type($lhs, $rhs, $result)";
const WITH_FLAGS: &str = "$lhs, $rhs $overflowFlags attr-dict : type($lhs, $rhs, $result)";
const COMMUTES: Traits = Traits::COMMUTATIVE;

/// A row without flags.
const fn row(
    name: &'static str,
    doc: &'static str,
    example: &'static str,
    traits: Traits,
    tree: &'static Scalar,
) -> OpDef {
    OpDef {
        name,
        doc,
        example,
        syntax: Some(PLAIN),
        operands: INTS,
        results: INT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(traits),
        kind: Kind::Elementwise(tree),
        ..OpDef::BLANK
    }
}

/// The same row, with overflow flags.
const fn with_flags(row: OpDef) -> OpDef {
    const ATTRS: &[AttrDef] = &[OVERFLOW];
    OpDef { syntax: Some(WITH_FLAGS), attrs: ATTRS, ..row }
}

pub(super) static OPS: &[OpDef] = &[
    with_flags(row(
        "arith.addi",
        "Sum; wraps.",
        "%0 = arith.addi %a, %b overflow<nsw> : i32",
        COMMUTES,
        &Scalar::Binary(Binary::Add, X, Y),
    )),
    with_flags(row(
        "arith.subi",
        "Difference; wraps.",
        "%0 = arith.subi %a, %b : index",
        Traits::empty(),
        &Scalar::Binary(Binary::Sub, X, Y),
    )),
    with_flags(row(
        "arith.muli",
        "Product; wraps.",
        "%0 = arith.muli %a, %b : vector<4xi32>",
        COMMUTES,
        &Scalar::Binary(Binary::Mul, X, Y),
    )),
    row(
        "arith.divsi",
        "Quotient of signed integers, cut towards zero; by zero 0.",
        "%0 = arith.divsi %a, %b : i64",
        Traits::empty(),
        &Scalar::Resize(QUOTIENT),
    ),
    row(
        "arith.divui",
        "Quotient of unsigned integers; by zero 0.",
        "%0 = arith.divui %a, %b : i64",
        Traits::empty(),
        &Scalar::Resize(UNSIGNED_QUOTIENT),
    ),
    row(
        "arith.remsi",
        "Remainder of signed integers, with the dividend's sign; by zero 0.",
        "%0 = arith.remsi %a, %b : i64",
        Traits::empty(),
        &Scalar::Resize(&Scalar::Binary(Binary::Rem, SIGNED_X, SIGNED_Y)),
    ),
    row(
        "arith.remui",
        "Remainder of unsigned integers; by zero 0.",
        "%0 = arith.remui %a, %b : i64",
        Traits::empty(),
        &Scalar::Resize(UNSIGNED_REST),
    ),
    row(
        "arith.ceildivsi",
        "Quotient of signed integers, rounded up; by zero 0.",
        "%0 = arith.ceildivsi %a, %b : i64",
        Traits::empty(),
        &Scalar::Resize(CEIL),
    ),
    row(
        "arith.ceildivui",
        "Quotient of unsigned integers, rounded up; by zero 0.",
        "%0 = arith.ceildivui %a, %b : i64",
        Traits::empty(),
        &Scalar::Resize(UNSIGNED_CEIL),
    ),
    row(
        "arith.floordivsi",
        "Quotient of signed integers, rounded down; by zero 0.",
        "%0 = arith.floordivsi %a, %b : i64",
        Traits::empty(),
        &Scalar::Resize(FLOOR),
    ),
    row(
        "arith.andi",
        "Bitwise and.",
        "%0 = arith.andi %a, %b : i1",
        COMMUTES,
        &Scalar::Binary(Binary::And, X, Y),
    ),
    row(
        "arith.ori",
        "Bitwise or.",
        "%0 = arith.ori %a, %b : i32",
        COMMUTES,
        &Scalar::Binary(Binary::Or, X, Y),
    ),
    row(
        "arith.xori",
        "Bitwise exclusive or.",
        "%0 = arith.xori %a, %b : tensor<4xi32>",
        COMMUTES,
        &Scalar::Binary(Binary::Xor, X, Y),
    ),
    with_flags(row(
        "arith.shli",
        "Left shift by an unsigned number of bits; 0 from the width on.",
        "%0 = arith.shli %a, %b : i32",
        Traits::empty(),
        &Scalar::Resize(&Scalar::Binary(Binary::Shl, UNSIGNED_X, UNSIGNED_Y)),
    )),
    row(
        "arith.shrsi",
        "Right shift that repeats the sign bit.",
        "%0 = arith.shrsi %a, %b : i32",
        Traits::empty(),
        &Scalar::Resize(&Scalar::Binary(Binary::Shr, SIGNED_X, SIGNED_Y)),
    ),
    row(
        "arith.shrui",
        "Right shift that brings in zeros.",
        "%0 = arith.shrui %a, %b : i32",
        Traits::empty(),
        &Scalar::Resize(&Scalar::Binary(Binary::Shr, UNSIGNED_X, UNSIGNED_Y)),
    ),
    row(
        "arith.maxsi",
        "The larger of signed integers.",
        "%0 = arith.maxsi %a, %b : i32",
        COMMUTES,
        &Scalar::Resize(&Scalar::Binary(Binary::Max, SIGNED_X, SIGNED_Y)),
    ),
    row(
        "arith.maxui",
        "The larger of unsigned integers.",
        "%0 = arith.maxui %a, %b : i32",
        COMMUTES,
        &Scalar::Resize(&Scalar::Binary(Binary::Max, UNSIGNED_X, UNSIGNED_Y)),
    ),
    row(
        "arith.minsi",
        "The smaller of signed integers.",
        "%0 = arith.minsi %a, %b : i32",
        COMMUTES,
        &Scalar::Resize(&Scalar::Binary(Binary::Min, SIGNED_X, SIGNED_Y)),
    ),
    row(
        "arith.minui",
        "The smaller of unsigned integers.",
        "%0 = arith.minui %a, %b : i32",
        COMMUTES,
        &Scalar::Resize(&Scalar::Binary(Binary::Min, UNSIGNED_X, UNSIGNED_Y)),
    ),
];
