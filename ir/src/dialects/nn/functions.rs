//! Further elementwise rows of `nn`: trigonometric and hyperbolic functions, shifts.

use super::broadcast::infer_broadcast;
use crate::opdef::{Infer, Kind, OpDef, OperandDef, Traits, TypeClass};
use crate::scalar::{Binary, Scalar, Unary};

macro_rules! function {
    ($name:literal, $doc:literal, $unary:ident) => {
        OpDef {
            name: concat!("nn.", $name),
            doc: $doc,
            example: concat!("%1 = nn.", $name, " %0 : tensor<4xf32>"),
            operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
            results: &[OperandDef::one("result", TypeClass::Tensor)],
            infer: Infer::SameAs(0),
            traits: Traits::PURE.union(Traits::SAME_TYPE),
            kind: Kind::Elementwise(&Scalar::Unary(Unary::$unary, &Scalar::Arg(0))),
            ..OpDef::BLANK
        }
    };
}

macro_rules! shift {
    ($name:literal, $doc:literal, $binary:ident) => {
        OpDef {
            name: concat!("nn.", $name),
            doc: $doc,
            example: concat!("%2 = nn.", $name, " %0, %1 : tensor<4xui8>"),
            operands: &[
                OperandDef::one("x", TypeClass::IntTensor),
                OperandDef::one("bits", TypeClass::IntTensor),
            ],
            results: &[OperandDef::one("result", TypeClass::Tensor)],
            infer: Infer::Rule(infer_broadcast),
            traits: Traits::PURE,
            kind: Kind::Elementwise(&Scalar::Binary(Binary::$binary, &Scalar::Arg(0), &Scalar::Arg(1))),
            ..OpDef::BLANK
        }
    };
}

pub(super) static OPS: &[OpDef] = &[
    function!("tan", "The tangent of x.", Tan),
    function!("asin", "The angle in [-pi/2, pi/2] whose sine is x; NaN beyond [-1, 1].", Asin),
    function!("acos", "The angle in [0, pi] whose cosine is x; NaN beyond [-1, 1].", Acos),
    function!("atan", "The angle in [-pi/2, pi/2] whose tangent is x.", Atan),
    function!("sinh", "The hyperbolic sine of x.", Sinh),
    function!("cosh", "The hyperbolic cosine of x.", Cosh),
    function!("asinh", "The number whose hyperbolic sine is x.", Asinh),
    function!("acosh", "The number, at least 0, whose hyperbolic cosine is x; NaN below 1.", Acosh),
    function!("atanh", "The number whose hyperbolic tangent is x; NaN beyond [-1, 1].", Atanh),
    shift!(
        "shl",
        "x with its bits moved up by a number of bits; 0 where that is negative, or the width or more.",
        Shl
    ),
    shift!(
        "shr",
        "x with its bits moved down by a number of bits, with copies of its sign after them; nothing but those where that is \
         negative, or the width or more.",
        Shr
    ),
];
