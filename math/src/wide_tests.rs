//! Formulas in `f64` against libm's, rounded.

use super::*;

type FormulaPair = (&'static str, fn(f32) -> f32, fn(f64) -> f64);

const PAIRS: [FormulaPair; 11] = [
    ("sin", sin, libm::sin),
    ("cos", cos, libm::cos),
    ("tan", tan, libm::tan),
    ("asin", asin, libm::asin),
    ("acos", acos, libm::acos),
    ("atan", atan, libm::atan),
    ("sinh", sinh, libm::sinh),
    ("cosh", cosh, libm::cosh),
    ("asinh", asinh, libm::asinh),
    // Below 1, libm has arbitrary values.
    ("acosh", acosh, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
    ("atanh", atanh, libm::atanh),
];

/// The error of a number in units of the last place of the exact value.
fn error(found: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if found == rounded || found.is_nan() && rounded.is_nan() {
        return if found.is_finite() { (f64::from(found) - exact).abs() / unit(rounded) } else { 0.0 };
    }
    (f64::from(found) - exact).abs() / unit(rounded)
}

/// A unit in the last place.
fn unit(x: f32) -> f64 {
    let exponent = (x.abs().to_bits() >> 23).max(1);
    f64::from_bits(u64::from(exponent + 1023 - 127 - 23) << 52)
}

/// The greatest error of each function over every `step`-th input.
fn sweep(step: usize) {
    for (name, function, exact) in PAIRS {
        let mut worst = (0.0, 0.0f32);
        for bits in (0..=u32::MAX).step_by(step) {
            let x = f32::from_bits(bits);
            let found = error(function(x), exact(x.into()));
            assert!(!found.is_nan(), "{name}({x:e}) is {}", function(x));
            worst = if found > worst.0 { (found, x) } else { worst };
        }
        println!("{name}: {:.5} ulp at {:e}", worst.0, worst.1);
        assert!(worst.0 < 0.501, "{name}: {} ulp at {:e}", worst.0, worst.1);
    }
}

#[test]
fn formulas_are_right_to_half_a_unit() {
    sweep(10_007);
}

#[test]
#[ignore = "takes half an hour: all inputs"]
fn formulas_are_right_to_half_a_unit_at_all_inputs() {
    sweep(1);
}

#[test]
fn powers_are_those_of_libm() {
    let special = [0.0, 1.0, 2.0, 0.5, 1e-40, 3.0, 2.5, 1e30, 16_777_215.0, f32::INFINITY, f32::NAN];
    let special: Vec<f32> = special.into_iter().flat_map(|x| [x, -x]).collect();
    let usual = (0..400u32).map(|i| f32::from_bits(i.wrapping_mul(0x9E37_79B9) >> 1));
    let bases: Vec<f32> = special.iter().copied().chain(usual).collect();
    let usual = (0..200u32).map(|i| (i as f32 - 100.0) * 0.377);
    let exponents: Vec<f32> = special.iter().copied().chain(usual).collect();
    for (x, y) in bases.iter().flat_map(|x| exponents.iter().map(move |y| (*x, *y))) {
        let found = pow(x, y);
        let exact = libm::pow(x.into(), y.into());
        let is_special = found == exact as f32 && found.is_sign_negative() == exact.is_sign_negative();
        let is_right = is_special || found.is_nan() && exact.is_nan() || error(found, exact) < 0.501;
        assert!(is_right, "{x:e} to the power {y:e} is {found:e}, expected {exact:e}");
    }
}

#[test]
fn near_remainders_are_exact() {
    let mut bits = 1u32;
    let mut random = || {
        bits = bits.wrapping_mul(0x9E37_79B9).wrapping_add(0x7F4A_7C15);
        bits
    };
    let special =
        [0.0, 1.0, 3.0, 0.5, 1e-40, 5.9e-39, 7.25, 1e30, 16_777_215.0, f32::MAX, f32::INFINITY, f32::NAN];
    let pairs = special.into_iter().flat_map(|x| special.map(|y| (x, y)));
    let mut pairs: Vec<(f32, f32)> = pairs.flat_map(|(x, y)| [(x, y), (-x, y), (x, -y), (-x, -y)]).collect();
    for _ in 0..300_000 {
        let divisor = f32::from_bits(random() >> 1);
        // Multiples of the divisor, and their neighbours.
        let multiple = divisor * (random() >> (random() & 31)) as f32;
        let beside = f32::from_bits(multiple.to_bits().wrapping_add(random() % 3).wrapping_sub(1));
        pairs.extend([(f32::from_bits(random()), divisor), (multiple, divisor), (-beside, divisor)]);
    }
    let mut near = 0;
    for (x, y) in pairs.into_iter().filter(|(x, y)| is_near_rem(*x, *y)) {
        assert_eq!(near_rem(x, y).to_bits(), (x % y).to_bits(), "{x:e} % {y:e}");
        near += 1;
    }
    assert!(near > 300_000, "{near} are near");
}
