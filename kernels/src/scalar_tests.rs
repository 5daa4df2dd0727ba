//! That the scalar definitions have the documented accuracy and special values.

use super::*;

/// Every 997th bit pattern from 0 to infinity, with both signs: all exponents, denormals included.
fn sweep() -> impl Iterator<Item = f32> {
    (0..0x7f80_0000u32).step_by(997).flat_map(|bits| [f32::from_bits(bits), -f32::from_bits(bits)])
}

/// The distance of `found` from `exact` in units of the last place of the f32 nearest to `exact`.
fn ulps(found: f32, exact: f64) -> f64 {
    let nearest = (exact as f32).abs().clamp(f32::MIN_POSITIVE, f32::MAX);
    let ulp = f64::from(f32::from_bits(nearest.to_bits() + 1)) - f64::from(nearest);
    let ulp = if ulp.is_finite() { ulp } else { 2f64.powi(104) };
    if exact as f32 == found { 0.0 } else { (f64::from(found) - exact).abs() / ulp }
}

#[track_caller]
fn check(name: &str, function: fn(f32) -> f32, exact: fn(f64) -> f64, allowed: impl Fn(f32, f64) -> bool) {
    for x in sweep() {
        let found = function(x);
        let want = exact(f64::from(x));
        assert!(allowed(found, want), "{name}({x:e}) is {found:e}, want {want:e}: {} ulp", ulps(found, want));
    }
}

fn exact_sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// erf by its Taylor series below 3 and the continued fraction of erfc above (Abramowitz and Stegun 7.1.5,
/// 7.1.14).
fn exact_erf(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 3.0 {
        let (mut term, mut sum) = (a, a);
        for n in 1..100 {
            term *= -a * a / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let fraction = (1..60).rev().fold(a, |tail, n| a + 0.5 * f64::from(n) / tail);
        1.0 - (-a * a).exp() / (fraction * std::f64::consts::PI.sqrt())
    };
    value.copysign(x)
}

#[test]
fn exp_is_within_one_ulp() {
    check("exp", exp, f64::exp, |found, want| ulps(found, want) <= 1.0);
}

#[test]
fn log_is_within_one_ulp() {
    check("log", log, f64::ln, |found, want| want.is_nan() && found.is_nan() || ulps(found, want) <= 1.0);
}

#[test]
fn sigmoid_is_within_two_and_a_half_ulp_or_denormal() {
    check("sigmoid", sigmoid, exact_sigmoid, |found, want| {
        ulps(found, want) <= 2.5 || found == 0.0 && want < f64::from(f32::MIN_POSITIVE)
    });
}

#[test]
fn silu_is_within_three_ulp_until_its_sigmoid_is_denormal() {
    let exact = |x: f64| x * exact_sigmoid(x);
    check("silu", silu, exact, |found, want| {
        ulps(found, want) <= 3.0 || (f64::from(found) - want).abs() <= 4e-37
    });
}

#[test]
fn softplus_is_within_two_ulp() {
    check(
        "softplus",
        softplus,
        |x| x.max(0.0) + (-x.abs()).exp().ln_1p(),
        |found, want| ulps(found, want) <= 2.0,
    );
}

#[test]
fn tanh_is_within_one_and_a_half_ulp() {
    check("tanh", tanh, f64::tanh, |found, want| ulps(found, want) <= 1.5);
}

#[test]
fn erf_is_within_one_and_a_half_ulp() {
    check("erf", erf, exact_erf, |found, want| ulps(found, want) <= 1.5);
}

#[track_caller]
fn check_gelu(gelu: fn(f32) -> f32, exact: fn(f64) -> f64) {
    for x in sweep() {
        let found = gelu(x);
        let want = exact(f64::from(x));
        let error = (f64::from(found) - want).abs();
        let is_near = match x {
            0.0.. => ulps(found, want) <= 2.0,
            -1.0..0.0 => error <= 3e-7 * want.abs() || error <= 1e-44,
            -6.0..-1.0 => error <= 1e-7 && error <= 7e-6 * want.abs(),
            _ => error <= 1e-8,
        };
        assert!(is_near, "gelu({x:e}) is {found:e}, want {want:e}: {} ulp", ulps(found, want));
    }
}

#[test]
fn gelu_is_within_two_ulp_of_positive_numbers_and_near_of_negative_ones() {
    check_gelu(gelu, |x| 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2));
}

#[test]
fn the_tanh_form_of_gelu_is_within_two_ulp_of_positive_numbers_and_near_of_negative_ones() {
    check_gelu(gelu_tanh, |x| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        x / (1.0 + (-2.0 * inner).exp())
    });
}

#[test]
fn gelu_of_large_negative_numbers_is_zero() {
    for x in [-12.5, -1e3, -1e10, f32::MIN] {
        assert_eq!(gelu(x), 0.0);
        assert_eq!(gelu_tanh(x), 0.0);
    }
    for gelu in [gelu, gelu_tanh] {
        assert!(gelu(f32::NEG_INFINITY).is_nan());
        assert_eq!([gelu(f32::INFINITY), gelu(f32::MAX)], [f32::INFINITY, f32::MAX]);
    }
}

#[test]
fn infinities_nan_and_zeros_are_as_documented() {
    let infinity = f32::INFINITY;
    assert_eq!([exp(infinity), exp(-infinity), exp(0.0), exp(-0.0)], [infinity, 0.0, 1.0, 1.0]);
    assert_eq!([log(infinity), log(0.0), log(-0.0), log(1.0)], [infinity, -infinity, -infinity, 0.0]);
    assert!(log(-infinity).is_nan() && log(-1e-40).is_nan());
    assert_eq!([tanh(infinity), tanh(-infinity), erf(infinity), erf(-infinity)], [1.0, -1.0, 1.0, -1.0]);
    assert_eq!(
        [sigmoid(infinity), sigmoid(-infinity), softplus(infinity), softplus(-infinity)],
        [1.0, 0.0, infinity, 0.0]
    );
    for odd in [tanh, erf] {
        assert_eq!(odd(-0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(odd(0.0).to_bits(), 0);
    }
    for function in [exp, log, tanh, erf, sigmoid, silu, gelu, gelu_tanh, softplus, hard_swish, relu] {
        assert!(function(f32::NAN).is_nan());
    }
    assert_eq!(relu(-0.0).to_bits(), (-0.0f32).to_bits());
    assert!(clip(f32::NAN, -1.0, 1.0).is_nan() && hard_sigmoid(f32::NAN, 0.2, 0.5).is_nan());
    assert!(leaky_relu(f32::NAN, 0.1).is_nan());
    assert_eq!(
        [hard_sigmoid(-9.0, 0.2, 0.5), hard_sigmoid(9.0, 0.2, 0.5), hard_swish(3.0), hard_swish(-3.0)],
        [0.0, 1.0, 3.0, 0.0]
    );
}
