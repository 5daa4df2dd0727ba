//! That every elementwise function has the same bits at compile time, in its row, and in machine code's
//! vector functions.

use ir::interp::{Tensor, eval_op};
use ir::{Attr, Body, Builder, Context, OpSpec};
use kernels::ScalarFunction;

/// All exponents with both signs, denormals, zeros, infinities and NaN.
fn samples() -> Vec<f32> {
    let finite =
        (0..0x7f80_0000u32).step_by(9973).flat_map(|bits| [f32::from_bits(bits), -f32::from_bits(bits)]);
    let special = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN, f32::MIN_POSITIVE];
    finite.chain(special).collect()
}

/// Fails where two results differ in their bits; the payload of NaN does not count.
#[track_caller]
fn check(name: &str, found: &[f32], expected: impl Fn(f32) -> f32) {
    let samples = samples();
    assert_eq!(found.len(), samples.len());
    for (x, found) in samples.into_iter().zip(found) {
        let expected = expected(x);
        let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(is_same, "{name}({x:e}) is {found:e} here, {expected:e} there");
    }
}

/// The results of a unary operation's row for all samples.
fn row(ctx: &Context, name: &str, attrs: &[(&str, f32)]) -> Vec<f32> {
    let samples = samples();
    let value = Tensor::from_f32(ctx, &[samples.len() as u64], &samples);
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let arg = body.add_arg(block, value.ty);
    let attrs: Vec<(&str, Attr)> = attrs.iter().map(|(name, x)| (*name, ctx.f32_attr(*x))).collect();
    let mut builder = Builder::at_end(ctx, &mut body, block);
    let spec = OpSpec { operands: &[arg], attrs: &attrs, ..OpSpec::default() };
    let op = builder.build(name, spec).expect("the row takes a tensor of f32");
    eval_op(body.at(ctx, op), &[value]).expect("elementwise rows have a meaning")[0].to_f32()
}

#[test]
fn rows_compute_what_the_kernels_functions_do() {
    let ctx = Context::new();
    type Row = (&'static str, &'static [(&'static str, f32)], ScalarFunction);
    let functions: [Row; 16] = [
        ("nn.relu", &[], ScalarFunction::Relu),
        ("nn.clip", &[("lo", -0.5), ("hi", 6.0)], ScalarFunction::Clip { lo: -0.5, hi: 6.0 }),
        ("nn.sigmoid", &[], ScalarFunction::Sigmoid),
        ("nn.silu", &[], ScalarFunction::Silu),
        (
            "nn.hard_sigmoid",
            &[("alpha", 0.2), ("beta", 0.5)],
            ScalarFunction::HardSigmoid { alpha: 0.2, beta: 0.5 },
        ),
        ("nn.hard_swish", &[], ScalarFunction::HardSwish),
        ("nn.tanh", &[], ScalarFunction::Tanh),
        ("nn.gelu", &[], ScalarFunction::Gelu),
        ("nn.gelu_tanh", &[], ScalarFunction::GeluTanh),
        ("nn.leaky_relu", &[("alpha", 0.01)], ScalarFunction::LeakyRelu { alpha: 0.01 }),
        ("nn.exp", &[], ScalarFunction::Exp),
        ("nn.log", &[], ScalarFunction::Log),
        ("nn.erf", &[], ScalarFunction::Erf),
        ("nn.softplus", &[], ScalarFunction::Softplus),
        ("nn.sqrt", &[], ScalarFunction::Sqrt),
        ("optc.copy", &[], ScalarFunction::None),
    ];
    for (name, attrs, function) in functions {
        check(name, &row(&ctx, name, attrs), |x| function.apply(x));
    }
}
