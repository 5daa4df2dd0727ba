//! Trigonometric and hyperbolic functions and powers of `f32`: formulas in `f64`, rounded once.
//!
//! They have no branches except selections of two values. They use only `+ - * /`, square roots, comparisons,
//! conversions, and integer operations on bit patterns, each rounded separately. So a compiler can vectorize
//! them with the same bits. The one exception is angles that are not near ([`is_near`]).
//!
//! Errors against the exact value over all inputs are on the crate's front page. The polynomials are
//! interpolations at Chebyshev's points, each within 2e-12 of its function, or 2e-5 units in the last place
//! of `f32`.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LOG2_E, PI};

/// Horner's rule; the highest power's coefficient first.
#[inline(always)]
fn poly<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = sum * x + coefficient;
    }
    sum
}

/// Adding it pushes a float's fraction out of its mantissa: 1.5 * 2^52.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Reduction of angles from here on takes more bits of pi.
const FAR: f32 = 4.0e8;
/// pi/2 in two parts, the first of 25 bits, so that its product with a number below 2^28 is exact.
const HALF_PI_HI: f64 = 1.570_796_310_901_641_8;
const HALF_PI_LO: f64 = 1.589_325_477_352_819_7e-8;

/// Of z = r^2: sin(r) / r and cos(r), for |r| up to pi/4.
const SIN: [f64; 6] = [
    -2.475_603_662_189_620_7e-8,
    2.755_526_472_148_897_4e-6,
    -0.000_198_412_632_644_408_8,
    0.008_333_333_323_813_858,
    -0.166_666_666_666_162_62,
    0.999_999_999_999_996_3,
];
const COS: [f64; 6] = [
    -2.717_334_278_368_412e-7,
    2.479_892_756_667_054e-5,
    -0.001_388_888_038_818_794,
    0.041_666_666_543_806_394,
    -0.499_999_999_993_504_53,
    0.999_999_999_999_944_6,
];

/// Whether an angle is reduced without branches; false for infinities and NaN.
#[inline(always)]
pub fn is_near(x: f32) -> bool {
    x.abs() < FAR
}

/// Sine and cosine of `x` minus a number of quarter turns, and this number in the lowest bits.
#[inline(always)]
fn quarter(x: f32) -> (f64, f64, u64) {
    let x = f64::from(x);
    let shifted = x * FRAC_2_PI + ROUND;
    let turns = shifted - ROUND;
    let r = x - turns * HALF_PI_HI - turns * HALF_PI_LO;
    let z = r * r;
    (r * poly(z, SIN), poly(z, COS), shifted.to_bits())
}

/// The sine of an angle that [`is_near`].
#[inline(always)]
pub fn near_sin(x: f32) -> f32 {
    let (sin, cos, turns) = quarter(x);
    let value = if turns & 1 == 0 { sin } else { cos };
    (if turns & 2 == 0 { value } else { -value }) as f32
}

/// The cosine of an angle that [`is_near`].
#[inline(always)]
pub fn near_cos(x: f32) -> f32 {
    let (sin, cos, turns) = quarter(x);
    let value = if turns & 1 == 0 { cos } else { sin };
    (if turns.wrapping_add(1) & 2 == 0 { value } else { -value }) as f32
}

/// The tangent of an angle that [`is_near`].
#[inline(always)]
pub fn near_tan(x: f32) -> f32 {
    let (sin, cos, turns) = quarter(x);
    let is_even = turns & 1 == 0;
    let top = if is_even { sin } else { -cos };
    let bottom = if is_even { cos } else { sin };
    (top / bottom) as f32
}

/// The sine; NaN for infinities.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    if is_near(x) { near_sin(x) } else { libm::sin(x.into()) as f32 }
}

/// The cosine; NaN for infinities.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    if is_near(x) { near_cos(x) } else { libm::cos(x.into()) as f32 }
}

/// The tangent; NaN for infinities.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    if is_near(x) { near_tan(x) } else { libm::tan(x.into()) as f32 }
}

/// Of z = t^2: asin(t) / t for t up to 1/2.
const ASIN: [f64; 10] = [
    0.032_068_458_679_777_1,
    -0.002_995_806_278_592_391_5,
    0.018_703_585_584_369_34,
    0.016_456_370_311_653_857,
    0.022_475_027_004_306_793,
    0.030_374_840_670_761_318,
    0.044_643_136_845_818_776,
    0.074_999_994_435_088_05,
    0.166_666_666_709_462_56,
    0.999_999_999_999_946_3,
];

/// The inverse sine of |x| up to 1/2, else that of sqrt((1 - |x|) / 2); both inverses follow from it.
#[inline(always)]
fn half_asin(x: f64) -> f64 {
    let folded = (1.0 - x.abs()) * 0.5;
    let is_small = x.abs() <= 0.5;
    let z = if is_small { x * x } else { folded };
    let t = if is_small { x.abs() } else { folded.sqrt() };
    t * poly(z, ASIN)
}

/// The inverse sine; NaN beyond [-1, 1].
#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let x = f64::from(x);
    let part = half_asin(x);
    let value = if x.abs() <= 0.5 { part } else { FRAC_PI_2 - 2.0 * part };
    value.copysign(x) as f32
}

/// The inverse cosine; NaN beyond [-1, 1].
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let x = f64::from(x);
    let part = half_asin(x);
    let far = if x > 0.0 { 2.0 * part } else { PI - 2.0 * part };
    (if x.abs() <= 0.5 { FRAC_PI_2 - part.copysign(x) } else { far }) as f32
}

/// Of z = t^2: atan(t) / t for t up to tan(pi/8).
const ATAN: [f64; 9] = [
    0.030_701_087_505_010_85,
    -0.058_771_658_555_386_28,
    0.075_644_477_334_533_18,
    -0.090_785_005_243_512_78,
    0.111_103_938_068_060_28,
    -0.142_856_907_084_249_28,
    0.199_999_996_131_915_8,
    -0.333_333_333_308_717_67,
    0.999_999_999_999_974_7,
];

/// The inverse tangent.
#[inline(always)]
pub fn atan(x: f32) -> f32 {
    let a = f64::from(x.abs());
    // The tangents of pi/8 and of 3/8 pi.
    let is_middle = a > 0.414_213_562_373_095_1;
    let is_large = a > 2.414_213_562_373_095;
    let middle = (a - 1.0) / (a + 1.0);
    let t = if is_middle { middle } else { a };
    let t = if is_large { -1.0 / a } else { t };
    let base = if is_middle { FRAC_PI_4 } else { 0.0 };
    let base = if is_large { FRAC_PI_2 } else { base };
    (base + t * poly(t * t, ATAN)).copysign(x.into()) as f32
}

const LN2_HI: f64 = 0.693_147_180_369_123_8;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
/// e^r for |r| up to ln(2)/2.
const EXP: [f64; 9] = [
    2.488_453_723_532_191_4e-5,
    0.000_199_158_811_395_929_32,
    0.001_388_880_158_720_515_8,
    0.008_333_266_071_476_1,
    0.041_666_667_041_598_19,
    0.166_666_668_911_851_2,
    0.499_999_999_994_366_23,
    0.999_999_999_979_767,
    1.000_000_000_000_014_2,
];

/// e^x for |x| up to 700.
#[inline(always)]
fn exp(x: f64) -> f64 {
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN2_HI - n * LN2_LO;
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0f64.to_bits()));
    poly(r, EXP) * scale
}

/// The bits of sqrt(1/2): mantissas are scaled into [sqrt(1/2), sqrt(2)).
const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
/// Of z = s^2: atanh(s) / s for s up to (sqrt(2) - 1) / (sqrt(2) + 1).
const LOG: [f64; 6] = [
    0.098_049_434_351_122_43,
    0.110_870_625_958_187_02,
    0.142_860_845_890_387_67,
    0.199_999_974_308_991_3,
    0.333_333_333_398_416_5,
    0.999_999_999_999_973_9,
];

/// The natural logarithm of a normal number above 0; infinity for infinity, NaN for NaN.
#[inline(always)]
fn log(x: f64) -> f64 {
    let offset = x.to_bits().wrapping_sub(SQRT_HALF_BITS);
    let mantissa = (offset & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF_BITS);
    // The exponent as a float: it is inserted into a mantissa, plus 2048 so that it is not negative.
    let exponent =
        f64::from_bits((offset.wrapping_add(2048 << 52) >> 52) | ROUND.to_bits()) - (ROUND + 2048.0);
    let m = f64::from_bits(mantissa);
    let s = (m - 1.0) / (m + 1.0);
    let value = exponent * LN2_HI + (2.0 * s * poly(s * s, LOG) + exponent * LN2_LO);
    if x < f64::INFINITY { value } else { x }
}

/// Of z = x^2: sinh(x) / x for x up to 1.
const SINH: [f64; 6] = [
    2.553_827_714_415_963_7e-8,
    2.755_183_311_497_221_5e-6,
    0.000_198_412_983_317_919_76,
    0.008_333_333_266_495_666,
    0.166_666_666_672_399_24,
    0.999_999_999_999_920_6,
];

/// e^|x|, with |x| limited to 100: beyond, all results computed from it overflow.
#[inline(always)]
fn exp_of_size(x: f64) -> f64 {
    exp(if x.abs() > 100.0 { 100.0 } else { x.abs() })
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let x = f64::from(x);
    let e = exp_of_size(x);
    let large = (0.5 * (e - 1.0 / e)).copysign(x);
    (if x.abs() < 1.0 { x * poly(x * x, SINH) } else { large }) as f32
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let e = exp_of_size(x.into());
    (0.5 * (e + 1.0 / e)) as f32
}

/// Below it, inverse hyperbolic functions are computed by their series.
const SMALL: f64 = 0.02;

/// The inverse hyperbolic sine.
#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let x = f64::from(x);
    let a = x.abs();
    let z = x * x;
    let small = a * poly(z, [-15.0 / 336.0, 3.0 / 40.0, -1.0 / 6.0, 1.0]);
    let large = log(a + (z + 1.0).sqrt());
    (if a < SMALL { small } else { large }).copysign(x) as f32
}

/// The inverse hyperbolic cosine; NaN below 1.
#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    let x = f64::from(x);
    let value = log(x + (x * x - 1.0).sqrt());
    (if x >= 1.0 { value } else { f64::NAN }) as f32
}

/// The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let x = f64::from(x);
    let a = x.abs();
    let z = x * x;
    let small = a * poly(z, [1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0]);
    let large = 0.5 * log((1.0 + a) / (1.0 - a));
    let value = if a < SMALL { small } else { large };
    (if a <= 1.0 { value.copysign(x) } else { f64::NAN }) as f32
}

/// `x` to the power `y`, with the special cases of C's `pow`: 1 for `y` = 0 and any `x`.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    let x = f64::from(x);
    let y = f64::from(y);
    let size = x.abs();
    let power = y * (if size == 0.0 { f64::NEG_INFINITY } else { log(size) });
    let power = if power > 200.0 { 200.0 } else { power };
    let power = if power < -200.0 { -200.0 } else { power };
    let value = exp(power);
    let value = if y == 0.0 || x == 1.0 || size == 1.0 && !y.is_nan() { 1.0 } else { value };
    // Whole numbers from 2^24 on are even.
    let is_whole = y.abs() >= 16_777_216.0 || (y + ROUND) - ROUND == y;
    let half = y * 0.5;
    let is_odd = is_whole && y.abs() < 16_777_216.0 && (half + ROUND) - ROUND != half;
    let value = if x.is_sign_negative() && is_odd { -value } else { value };
    let is_real = x >= 0.0 || is_whole || size == f64::INFINITY || x.is_nan();
    let value = if is_real { value } else { f64::NAN };
    (if x.is_nan() && y != 0.0 { f64::NAN } else { value }) as f32
}

/// Whether [`near_rem`] is the remainder: the integer part of the quotient has at most 28 bits.
#[inline(always)]
pub fn is_near_rem(x: f32, y: f32) -> bool {
    (f64::from(x) / f64::from(y)).abs() < 268_435_456.0 && y.abs() < f32::INFINITY
}

/// `x % y`, with the sign of `x`, if the two are near. No step rounds: the products have at most 53 bits, and
/// all differences are multiples of the last place of `y` (or equal to `x`).
#[inline(always)]
pub fn near_rem(x: f32, y: f32) -> f32 {
    let size = f64::from(x).abs();
    let divisor = f64::from(y).abs();
    let nearest = (size / divisor + ROUND) - ROUND;
    let rest = size - nearest * divisor;
    let rest = if rest < 0.0 { rest + divisor } else { rest };
    (rest as f32).copysign(x)
}

#[cfg(test)]
#[path = "wide_tests.rs"]
mod tests;
