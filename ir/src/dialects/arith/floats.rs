//! Floats of `arith`: the function of each operation for one element.

use super::{FASTMATH, FLOAT, FLOATS};
use crate::opdef::{AttrDef, Infer, Kind, OpDef, OperandDef, Traits, TypeClass};
use crate::scalar::{Binary, Scalar, Unary};

const X: &Scalar = &Scalar::Arg(0);
const Y: &Scalar = &Scalar::Arg(1);
const X_IS_NAN: &Scalar = &Scalar::Binary(Binary::Ne, X, X);
const Y_IS_NAN: &Scalar = &Scalar::Binary(Binary::Ne, Y, Y);
const ARE_ZERO: &Scalar = &Scalar::Binary(
    Binary::And,
    &Scalar::Binary(Binary::Eq, X, &Scalar::Const(0.0)),
    &Scalar::Binary(Binary::Eq, Y, &Scalar::Const(0.0)),
);
/// The positive one of two zeros: their sum.
const LARGER_ZERO: &Scalar = &Scalar::Binary(Binary::Add, X, Y);
/// The negative one of two zeros: the negated sum of the negated zeros.
const SMALLER_ZERO: &Scalar =
    &Scalar::Unary(Unary::Neg, &Scalar::Binary(Binary::Sub, &Scalar::Unary(Unary::Neg, X), Y));
const LARGER: &Scalar = &Scalar::Select(ARE_ZERO, LARGER_ZERO, &Scalar::Binary(Binary::Max, X, Y));
const SMALLER: &Scalar = &Scalar::Select(ARE_ZERO, SMALLER_ZERO, &Scalar::Binary(Binary::Min, X, Y));

const fn row(
    name: &'static str,
    doc: &'static str,
    example: &'static str,
    traits: Traits,
    tree: &'static Scalar,
) -> OpDef {
    const ATTRS: &[AttrDef] = &[FASTMATH];
    OpDef {
        name,
        doc,
        example,
        syntax: Some("$lhs, $rhs $fastmath attr-dict : type($lhs, $rhs, $result)"),
        operands: FLOATS,
        results: FLOAT,
        attrs: ATTRS,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(traits),
        kind: Kind::Elementwise(tree),
        ..OpDef::BLANK
    }
}

pub(super) static OPS: &[OpDef] = &[
    row(
        "arith.addf",
        "Sum.",
        "%0 = arith.addf %a, %b fastmath<nnan,nsz> : f32",
        Traits::COMMUTATIVE,
        &Scalar::Binary(Binary::Add, X, Y),
    ),
    row(
        "arith.subf",
        "Difference.",
        "%0 = arith.subf %a, %b : f64",
        Traits::empty(),
        &Scalar::Binary(Binary::Sub, X, Y),
    ),
    row(
        "arith.mulf",
        "Product.",
        "%0 = arith.mulf %a, %b : tensor<4xf32>",
        Traits::COMMUTATIVE,
        &Scalar::Binary(Binary::Mul, X, Y),
    ),
    row(
        "arith.divf",
        "Quotient.",
        "%0 = arith.divf %a, %b : vector<4xf32>",
        Traits::empty(),
        &Scalar::Binary(Binary::Div, X, Y),
    ),
    row(
        "arith.remf",
        "Remainder of the quotient cut towards zero.",
        "%0 = arith.remf %a, %b : f32",
        Traits::empty(),
        &Scalar::Binary(Binary::Rem, X, Y),
    ),
    row(
        "arith.maximumf",
        "The larger; NaN if either is, and 0 is larger than -0.",
        "%0 = arith.maximumf %a, %b : f32",
        Traits::COMMUTATIVE,
        &Scalar::Select(X_IS_NAN, X, &Scalar::Select(Y_IS_NAN, Y, LARGER)),
    ),
    row(
        "arith.minimumf",
        "The smaller; NaN if either is, and -0 is smaller than 0.",
        "%0 = arith.minimumf %a, %b : f32",
        Traits::COMMUTATIVE,
        &Scalar::Select(X_IS_NAN, X, &Scalar::Select(Y_IS_NAN, Y, SMALLER)),
    ),
    row(
        "arith.maxnumf",
        "The larger; the other, if one is NaN.",
        "%0 = arith.maxnumf %a, %b : f32",
        Traits::COMMUTATIVE,
        &Scalar::Select(X_IS_NAN, Y, &Scalar::Select(Y_IS_NAN, X, LARGER)),
    ),
    row(
        "arith.minnumf",
        "The smaller; the other, if one is NaN.",
        "%0 = arith.minnumf %a, %b : f32",
        Traits::COMMUTATIVE,
        &Scalar::Select(X_IS_NAN, Y, &Scalar::Select(Y_IS_NAN, X, SMALLER)),
    ),
    OpDef {
        syntax: Some("$operand $fastmath attr-dict : type($operand, $result)"),
        operands: &[OperandDef::one("operand", TypeClass::FloatLike)],
        ..row(
            "arith.negf",
            "The opposite, of NaN and zero too.",
            "%0 = arith.negf %a : f32",
            Traits::empty(),
            &Scalar::Unary(Unary::Neg, X),
        )
    },
];
