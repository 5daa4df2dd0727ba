//! That vector functions have the bits of their scalar definitions, including tails and special values.

use crate::common::{Rng, assert_same_bits, input, or_few, output, run, ways};
use kernels::{ScalarFunction, VectorMap};

const FUNCTIONS: [ScalarFunction; 16] = [
    ScalarFunction::None,
    ScalarFunction::Relu,
    ScalarFunction::Clip { lo: -0.5, hi: 6.0 },
    ScalarFunction::Sigmoid,
    ScalarFunction::Silu,
    ScalarFunction::HardSigmoid { alpha: 0.2, beta: 0.5 },
    ScalarFunction::HardSwish,
    ScalarFunction::Tanh,
    ScalarFunction::Gelu,
    ScalarFunction::GeluTanh,
    ScalarFunction::LeakyRelu { alpha: 0.1 },
    ScalarFunction::Exp,
    ScalarFunction::Log,
    ScalarFunction::Erf,
    ScalarFunction::Softplus,
    ScalarFunction::Sqrt,
];

/// Special values, thresholds of the formulas with their neighbours, and every 30,011th bit pattern of either
/// sign.
fn values() -> Vec<f32> {
    let special = [0.0, 1.0, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NAN, 1e-45, 6.0, 0.5];
    let of_powers = [88.72284, 88.55, 88.37626, 87.33654, 87.0, 103.97, 104.0, 89.0];
    let thresholds = [0.625, 10.0, 0.92, 4.0, 11.0, 12.0, 3.0, 0.707_106_77];
    let edges = special.into_iter().chain(of_powers).chain(thresholds);
    let near = edges.flat_map(|x| [x.to_bits().saturating_sub(1), x.to_bits(), x.to_bits() + 1]);
    let sweep = (0..0x7f80_0000u32).step_by(or_few(30_011, 30_011_111));
    near.chain(sweep).flat_map(|bits| [f32::from_bits(bits), -f32::from_bits(bits)]).collect()
}

#[test]
fn every_function_gives_its_scalar_bits() {
    let x = values();
    for function in FUNCTIONS {
        let want: Vec<f32> = x.iter().map(|&x| function.apply(x)).collect();
        for (isa, threads) in ways() {
            let mut y = vec![7.0; x.len()];
            run(&VectorMap::new(function, x.len(), isa, threads), &[output(&mut y), input(&x)]);
            assert_same_bits(&want, &y, (function, isa, threads));
        }
    }
}

#[test]
fn every_length_is_computed_in_place_and_nothing_behind_it() {
    let mut rng = Rng::new(1);
    for n in (0..70).step_by(or_few(1, 3)) {
        let x = rng.floats(n + 3);
        for (isa, threads) in ways() {
            let mut y = x.clone();
            let data = output(&mut y);
            run(&VectorMap::new(ScalarFunction::Exp, n, isa, threads), &[data, data]);
            let want: Vec<f32> = x
                .iter()
                .enumerate()
                .map(|(i, &x)| if i < n { ScalarFunction::Exp.apply(x) } else { x })
                .collect();
            assert_same_bits(&want, &y, (n, isa, threads));
        }
    }
}
