//! The activations that kernels apply to the result of a contraction, recognized by their scalar meaning.

use ir::body::OpRef;
use ir::scalar::{Binary, Unary};
use ir::{Kind, Scalar};
use kernels::Activation;

const X: &Scalar = &Scalar::Arg(0);
const ZERO: &Scalar = &Scalar::Const(0.0);
const ONE: &Scalar = &Scalar::Const(1.0);
const HALF: &Scalar = &Scalar::Const(0.5);
const SIXTH_AND_HALF: &Scalar = &Scalar::Fma(&Scalar::Const(1.0 / 6.0), X, HALF);
const SWISH: &Scalar = &Scalar::Binary(Binary::Min, ONE, &Scalar::Binary(Binary::Max, ZERO, SIXTH_AND_HALF));
const HARD_SIGMOID: &Scalar =
    &Scalar::Binary(Binary::Max, ZERO, &Scalar::Fma(&Scalar::Attr("alpha"), X, &Scalar::Attr("beta")));
const CLIP_BELOW: &Scalar = &Scalar::Binary(Binary::Max, &Scalar::Attr("lo"), X);
const IS_POSITIVE: &Scalar = &Scalar::Binary(Binary::Gt, X, ZERO);

/// A scalar meaning with the kernels' name for it.
struct ActivationRow {
    meaning: Scalar,
    activation: fn(OpRef<'_>) -> Option<Activation>,
}

static ROWS: &[ActivationRow] = &[
    ActivationRow { meaning: Scalar::Binary(Binary::Max, ZERO, X), activation: |_| Some(Activation::Relu) },
    ActivationRow {
        meaning: Scalar::Binary(Binary::Min, &Scalar::Attr("hi"), CLIP_BELOW),
        activation: |op| Some(Activation::Clip { lo: number(op, "lo")?, hi: number(op, "hi")? }),
    },
    ActivationRow {
        meaning: Scalar::Binary(Binary::Mul, X, &Scalar::Unary(Unary::Sigmoid, X)),
        activation: |_| Some(Activation::Silu),
    },
    ActivationRow {
        meaning: Scalar::Binary(Binary::Min, ONE, HARD_SIGMOID),
        activation: |op| {
            Some(Activation::HardSigmoid { alpha: number(op, "alpha")?, beta: number(op, "beta")? })
        },
    },
    ActivationRow {
        meaning: Scalar::Binary(Binary::Mul, X, SWISH),
        activation: |_| Some(Activation::HardSwish),
    },
    ActivationRow {
        meaning: Scalar::Select(IS_POSITIVE, X, &Scalar::Binary(Binary::Mul, &Scalar::Attr("alpha"), X)),
        activation: |op| Some(Activation::LeakyRelu { alpha: number(op, "alpha")? }),
    },
    ActivationRow { meaning: Scalar::Unary(Unary::Gelu, X), activation: |_| Some(Activation::Gelu) },
    ActivationRow { meaning: Scalar::Unary(Unary::GeluTanh, X), activation: |_| Some(Activation::GeluTanh) },
    ActivationRow { meaning: Scalar::Unary(Unary::Sigmoid, X), activation: |_| Some(Activation::Sigmoid) },
    ActivationRow { meaning: Scalar::Unary(Unary::Tanh, X), activation: |_| Some(Activation::Tanh) },
    ActivationRow { meaning: Scalar::Unary(Unary::Erf, X), activation: |_| Some(Activation::Erf) },
    ActivationRow { meaning: Scalar::Unary(Unary::Exp, X), activation: |_| Some(Activation::Exp) },
    ActivationRow { meaning: Scalar::Unary(Unary::Log, X), activation: |_| Some(Activation::Log) },
    ActivationRow { meaning: Scalar::Unary(Unary::Sqrt, X), activation: |_| Some(Activation::Sqrt) },
];

fn number(op: OpRef<'_>, name: &str) -> Option<f32> {
    op.float(name).map(|value| value as f32)
}

/// The activation that an operation on `f32` is, if the kernels have it.
pub(crate) fn activation(op: OpRef<'_>) -> Option<Activation> {
    let Kind::Elementwise(meaning) = op.kind() else { return None };
    let is_f32 = op.ctx.elem(op.result_type(0)) == op.ctx.f32();
    let row = ROWS.iter().find(|row| is_f32 && row.meaning == *meaning)?;
    (row.activation)(op)
}
