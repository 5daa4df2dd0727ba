//! Elementwise rows of `nn`: the function of each for one element.

use super::attr;
use super::broadcast::{infer_broadcast, infer_cast, infer_compare, infer_select};
use crate::opdef::{AttrKind, Infer, Kind, OpDef, OperandDef, Presence, Traits, TypeClass};
use crate::scalar::{Binary, Scalar, Unary};

const X: &Scalar = &Scalar::Arg(0);
const Y: &Scalar = &Scalar::Arg(1);
const Z: &Scalar = &Scalar::Arg(2);
const ZERO: &Scalar = &Scalar::Const(0.0);
const ONE: &Scalar = &Scalar::Const(1.0);
const HALF: &Scalar = &Scalar::Const(0.5);
const SIGMOID: Scalar = Scalar::Unary(Unary::Sigmoid, X);
const RELU: Scalar = Scalar::Binary(Binary::Max, ZERO, X);
const E: &Scalar = &Scalar::Unary(Unary::Exp, &Scalar::Unary(Unary::Neg, &Scalar::Unary(Unary::Abs, X)));
const ONE_MORE: &Scalar = &Scalar::Binary(Binary::Add, ONE, E);
const LOST: &Scalar = &Scalar::Binary(Binary::Sub, E, &Scalar::Binary(Binary::Sub, ONE_MORE, ONE));
const SOFTPLUS: Scalar = Scalar::Binary(
    Binary::Add,
    &Scalar::Binary(Binary::Max, ZERO, X),
    &Scalar::Binary(
        Binary::Add,
        &Scalar::Unary(Unary::Log, ONE_MORE),
        &Scalar::Binary(Binary::Div, LOST, ONE_MORE),
    ),
);
const CLIP: Scalar =
    Scalar::Binary(Binary::Min, &Scalar::Attr("hi"), &Scalar::Binary(Binary::Max, &Scalar::Attr("lo"), X));
const IS_POSITIVE: &Scalar = &Scalar::Binary(Binary::Gt, X, ZERO);
const ALPHA: &Scalar = &Scalar::Attr("alpha");
const LEAKY_RELU: Scalar = Scalar::Select(IS_POSITIVE, X, &Scalar::Binary(Binary::Mul, ALPHA, X));
const ELU: Scalar = Scalar::Select(
    IS_POSITIVE,
    X,
    &Scalar::Binary(Binary::Mul, ALPHA, &Scalar::Binary(Binary::Sub, &Scalar::Unary(Unary::Exp, X), ONE)),
);
const HARD_SIGMOID: Scalar = Scalar::Binary(
    Binary::Min,
    ONE,
    &Scalar::Binary(Binary::Max, ZERO, &Scalar::Fma(ALPHA, X, &Scalar::Attr("beta"))),
);
const HARD_SIGMOID_OF_SWISH: Scalar = Scalar::Binary(
    Binary::Min,
    ONE,
    &Scalar::Binary(Binary::Max, ZERO, &Scalar::Fma(&Scalar::Const(1.0 / 6.0), X, HALF)),
);

const RESULT: &[OperandDef] = &[OperandDef::one("result", TypeClass::Tensor)];

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.neg",
        doc: "-x.",
        example: "%1 = nn.neg %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Neg, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.abs",
        doc: "The magnitude of x.",
        example: "%1 = nn.abs %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(Traits::IDEMPOTENT),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Abs, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.sqrt",
        doc: "The square root of x; NaN below zero.",
        example: "%1 = nn.sqrt %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Sqrt, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.floor",
        doc: "The largest integer not above x.",
        example: "%1 = nn.floor %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(Traits::IDEMPOTENT),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Floor, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.ceil",
        doc: "The smallest integer not below x.",
        example: "%1 = nn.ceil %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(Traits::IDEMPOTENT),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Ceil, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.round",
        doc: "The integer nearest to x, ties to even.",
        example: "%1 = nn.round %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(Traits::IDEMPOTENT),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::RoundEven, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.exp",
        doc: "e to the power x.",
        example: "%1 = nn.exp %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Exp, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.log",
        doc: "The natural logarithm of x.",
        example: "%1 = nn.log %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Log, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.tanh",
        doc: "The hyperbolic tangent of x.",
        example: "%1 = nn.tanh %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Tanh, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.erf",
        doc: "The error function of x.",
        example: "%1 = nn.erf %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Erf, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.sigmoid",
        doc: "1 / (1 + e^-x).",
        example: "%1 = nn.sigmoid %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Sigmoid, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.sin",
        doc: "The sine of x.",
        example: "%1 = nn.sin %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Sin, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.cos",
        doc: "The cosine of x.",
        example: "%1 = nn.cos %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Cos, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.not",
        doc: "Every bit of x flipped; of a boolean, its truth.",
        example: "%1 = nn.not %0 : tensor<4xi1>",
        operands: &[OperandDef::one("x", TypeClass::IntTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Not, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.relu",
        doc: "x, but at least 0; NaN for NaN.",
        example: "%1 = nn.relu %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(Traits::IDEMPOTENT),
        kind: Kind::Elementwise(&RELU),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.silu",
        doc: "x * sigmoid(x).",
        example: "%1 = nn.silu %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Mul, X, &SIGMOID)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.gelu",
        doc: "x/2 * (1 + erf(x / sqrt 2)).",
        example: "%1 = nn.gelu %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::Gelu, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.gelu_tanh",
        doc: "The tanh form of GELU: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).",
        example: "%1 = nn.gelu_tanh %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Unary(Unary::GeluTanh, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.softplus",
        doc: "log(1 + e^x), without overflow.",
        example: "%1 = nn.softplus %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&SOFTPLUS),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.hard_swish",
        doc: "x * clip(x/6 + 1/2, 0, 1).",
        example: "%1 = nn.hard_swish %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Mul, X, &HARD_SIGMOID_OF_SWISH)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.reciprocal",
        doc: "1 / x.",
        example: "%1 = nn.reciprocal %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Div, ONE, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.square",
        doc: "x * x.",
        example: "%1 = nn.square %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Mul, X, X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.clip",
        doc: "x, but at least `lo` and at most `hi`; NaN for NaN.",
        example: "%1 = nn.clip %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        attrs: &[
            attr("lo", AttrKind::Float, Presence::DefaultFloat(f64::NEG_INFINITY), "Least value."),
            attr("hi", AttrKind::Float, Presence::DefaultFloat(f64::INFINITY), "Greatest value."),
        ],
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(Traits::IDEMPOTENT),
        kind: Kind::Elementwise(&CLIP),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.leaky_relu",
        doc: "x where x > 0, else `alpha` * x.",
        example: "%1 = nn.leaky_relu %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        attrs: &[attr("alpha", AttrKind::Float, Presence::DefaultFloat(0.01), "Slope below zero.")],
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&LEAKY_RELU),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.elu",
        doc: "x where x > 0, else `alpha` * (e^x - 1).",
        example: "%1 = nn.elu %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        attrs: &[attr("alpha", AttrKind::Float, Presence::DefaultFloat(1.0), "Scale below zero.")],
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&ELU),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.hard_sigmoid",
        doc: "clip(`alpha` * x + `beta`, 0, 1), the sum rounded once.",
        example: "%1 = nn.hard_sigmoid %0 : tensor<4xf32>",
        operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
        results: RESULT,
        attrs: &[
            attr("alpha", AttrKind::Float, Presence::DefaultFloat(0.2), "Slope."),
            attr("beta", AttrKind::Float, Presence::DefaultFloat(0.5), "Offset."),
        ],
        infer: Infer::SameAs(0),
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        kind: Kind::Elementwise(&HARD_SIGMOID),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.cast",
        doc: "x with its elements converted: floats round to nearest even, to integers towards zero (saturating, NaN to 0); to booleans, whether x is not 0.",
        example: "%1 = nn.cast %0 {to = f16} : (tensor<4xf32>) -> tensor<4xf16>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: RESULT,
        attrs: &[attr("to", AttrKind::Type, Presence::Required, "Element type of the result.")],
        infer: Infer::Rule(infer_cast),
        traits: Traits::PURE.union(Traits::CAST),
        kind: Kind::Elementwise(&Scalar::Convert(X)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.add",
        doc: "a + b.",
        example: "%2 = nn.add %0, %1 : tensor<4xf32>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE.union(Traits::COMMUTATIVE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Add, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.sub",
        doc: "a - b.",
        example: "%2 = nn.sub %0, %1 : tensor<4xf32>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Sub, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.mul",
        doc: "a * b.",
        example: "%2 = nn.mul %0, %1 : tensor<4xf32>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE.union(Traits::COMMUTATIVE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Mul, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.div",
        doc: "a / b; integers truncate, by zero give 0.",
        example: "%2 = nn.div %0, %1 : tensor<4xf32>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Div, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.rem",
        doc: "The remainder of a / b, with a's sign.",
        example: "%2 = nn.rem %0, %1 : tensor<4xf32>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Rem, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.max",
        doc: "a where a > b, else b.",
        example: "%2 = nn.max %0, %1 : tensor<4xf32>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Max, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.min",
        doc: "a where a < b, else b.",
        example: "%2 = nn.min %0, %1 : tensor<4xf32>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Min, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.pow",
        doc: "a to the power b.",
        example: "%2 = nn.pow %0, %1 : tensor<4xf32>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Pow, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.and",
        doc: "Bitwise and.",
        example: "%2 = nn.and %0, %1 : tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::IntTensor), OperandDef::one("b", TypeClass::IntTensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE.union(Traits::COMMUTATIVE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::And, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.or",
        doc: "Bitwise or.",
        example: "%2 = nn.or %0, %1 : tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::IntTensor), OperandDef::one("b", TypeClass::IntTensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE.union(Traits::COMMUTATIVE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Or, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.xor",
        doc: "Bitwise exclusive or.",
        example: "%2 = nn.xor %0, %1 : tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::IntTensor), OperandDef::one("b", TypeClass::IntTensor)],
        results: RESULT,
        infer: Infer::Rule(infer_broadcast),
        traits: Traits::PURE.union(Traits::COMMUTATIVE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Xor, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.eq",
        doc: "Whether a = b; false on NaN.",
        example: "%2 = nn.eq %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_compare),
        traits: Traits::PURE.union(Traits::COMMUTATIVE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Eq, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.ne",
        doc: "Whether a is not b; true on NaN.",
        example: "%2 = nn.ne %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_compare),
        traits: Traits::PURE.union(Traits::COMMUTATIVE),
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Ne, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.lt",
        doc: "Whether a < b.",
        example: "%2 = nn.lt %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_compare),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Lt, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.le",
        doc: "Whether a <= b.",
        example: "%2 = nn.le %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_compare),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Le, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.gt",
        doc: "Whether a > b.",
        example: "%2 = nn.gt %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_compare),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Gt, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.ge",
        doc: "Whether a >= b.",
        example: "%2 = nn.ge %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        operands: &[OperandDef::one("a", TypeClass::Tensor), OperandDef::one("b", TypeClass::Tensor)],
        results: RESULT,
        infer: Infer::Rule(infer_compare),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Binary(Binary::Ge, X, Y)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.select",
        doc: "a where cond is true, else b.",
        example: "%3 = nn.select %0, %1, %2 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        operands: &[
            OperandDef::one("cond", TypeClass::IntTensor),
            OperandDef::one("a", TypeClass::Tensor),
            OperandDef::one("b", TypeClass::Tensor),
        ],
        results: RESULT,
        infer: Infer::Rule(infer_select),
        traits: Traits::PURE,
        kind: Kind::Elementwise(&Scalar::Select(X, Y, Z)),
        ..OpDef::BLANK
    },
];
