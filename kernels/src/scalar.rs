//! What each elementwise function computes, to the last bit, on one `f32`.
//!
//! These are the definitions: every vector path of this crate, its tails and its epilogues compute the same
//! bits. So only operations with an exact vector counterpart are used: `+ - * /`, `mul_add` (one rounding),
//! comparisons that select, integer adds, shifts and masks of the bit pattern (so `abs` and `copysign`),
//! exact int-to-float conversion. The module depends on nothing, so that an interpreter can carry it
//! unchanged.
//!
//! Selection is that of x86's `maxps`/`minps`: `max(a, b)` is `b` unless `a > b`. Hence which operand stands
//! second decides what happens to NaN and to signed zeros; each function states it. NaN results carry an
//! unspecified payload and sign. Denormal inputs and results are kept (no flush to zero).
//!
//! Errors against the exact value, over all finite inputs (the crate's tests sweep them): `exp`, `log`,
//! `sigmoid` 4 ulp; `tanh` 5 ulp; `erf` 5 ulp or 3e-7; `softplus` 4 ulp; `silu` 5 ulp or 1e-45 * |x|; `gelu`,
//! `gelu_tanh` 4e-7 * max(1, |x|).
//!
//! Sources: Cephes `expf` and `logf` (Moshier, 1989) for the polynomials of `exp` and `log`; Eigen's rational
//! minimax approximations (`MathFunctionsImpl.h`) for `tanh` and `erf`.

/// `a` if `a > b`, else `b`: `b` where either is NaN or both are zeros.
#[inline]
pub fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// `a` if `a < b`, else `b`: `b` where either is NaN or both are zeros.
#[inline]
pub fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Horner's rule with one rounding a step; the highest power's coefficient first.
#[inline]
fn poly<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

/// The bits of 1.0, and of a number that pushes a float's fraction out of its mantissa when added: 1.5 *
/// 2^23.
pub(crate) const ONE_BITS: i32 = 0x3f80_0000;
pub(crate) const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts, the first short enough that `n * LN2_HI` is exact for |n| < 2^15.
pub(crate) const LN2_HI: f32 = 0.693_359_4;
pub(crate) const LN2_LO: f32 = -2.121_944_4e-4;
pub(crate) const EXP: [f32; 8] =
    [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1, 1.0, 1.0];

/// e^x. Overflows to infinity above 88.72284, is denormal below -87.33654 and 0 below -103.97; NaN for NaN.
#[inline]
pub fn exp(x: f32) -> f32 {
    let x = min(89.0, max(-104.0, x));
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LO, n.mul_add(-LN2_HI, x));
    let power = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    // 2^power in two factors, so that denormal results round only once.
    let half = power >> 1;
    let rest = power.wrapping_sub(half);
    let first = f32::from_bits(half.wrapping_shl(23).wrapping_add(ONE_BITS) as u32);
    let second = f32::from_bits(rest.wrapping_shl(23).wrapping_add(ONE_BITS) as u32);
    poly(r, EXP) * first * second
}

pub(crate) const LOG: [f32; 9] = [
    7.037_683_6e-2,
    -1.151_461e-1,
    1.167_699_8e-1,
    -1.242_014_1e-1,
    1.424_932_3e-1,
    -1.666_805_8e-1,
    2.000_071_5e-1,
    -2.499_999_4e-1,
    3.333_333e-1,
];
/// The bits of sqrt(1/2): mantissas are brought into [sqrt(1/2), sqrt(2)).
pub(crate) const SQRT_HALF_BITS: i32 = 0x3f35_04f3;

/// Natural logarithm: -infinity for either zero, NaN below zero and for NaN, infinity for infinity.
#[inline]
pub fn log(x: f32) -> f32 {
    let denormal = x < f32::MIN_POSITIVE;
    let scaled = if denormal { x * 8_388_608.0 } else { x };
    let bias = if denormal { -23.0 } else { 0.0 };
    let offset = (scaled.to_bits() as i32).wrapping_sub(SQRT_HALF_BITS);
    let exponent = (offset >> 23) as f32 + bias;
    let f = f32::from_bits((offset & 0x007f_ffff).wrapping_add(SQRT_HALF_BITS) as u32) - 1.0;
    let square = f * f;
    let tail = poly(f, LOG) * f;
    let small = exponent.mul_add(LN2_LO, tail * square);
    let value = exponent.mul_add(LN2_HI, f + square.mul_add(-0.5, small));
    let value = if x < f32::INFINITY { value } else { x };
    let value = if x > 0.0 { value } else { f32::NAN };
    if x == 0.0 { f32::NEG_INFINITY } else { value }
}

pub(crate) const TANH_TOP: [f32; 7] = [
    -2.760_768_5e-16,
    2.000_188e-13,
    -8.604_672e-11,
    5.122_297e-8,
    1.485_722_4e-5,
    6.372_619_3e-4,
    4.893_524_6e-3,
];
pub(crate) const TANH_BOTTOM: [f32; 4] = [1.198_258_4e-6, 1.185_347_1e-4, 2.268_434_6e-3, 4.893_525e-3];

/// Hyperbolic tangent; exactly 1 in magnitude above 9.02, keeps the sign of zero, NaN for NaN.
#[inline]
pub fn tanh(x: f32) -> f32 {
    let z = min(7.905_311, max(-7.905_311, x));
    let square = z * z;
    let value = z * poly(square, TANH_TOP) / poly(square, TANH_BOTTOM);
    let value = if x.abs() > 9.02 { 1f32.copysign(x) } else { value };
    if x.abs() < 4e-4 { x } else { value }
}

pub(crate) const ERF_TOP: [f32; 7] = [
    -2.726_142_3e-10,
    2.770_681_4e-8,
    -2.101_024e-6,
    -5.692_506_4e-5,
    -7.349_906_3e-4,
    -2.954_6e-3,
    -1.609_603_3e-2,
];
pub(crate) const ERF_BOTTOM: [f32; 5] =
    [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2];

/// The error function; exactly 1 in magnitude above 3.75, keeps the sign of zero, NaN for NaN.
#[inline]
pub fn erf(x: f32) -> f32 {
    let z = min(3.75, max(-3.75, x));
    let square = z * z;
    let value = z * poly(square, ERF_TOP) / poly(square, ERF_BOTTOM);
    if x.abs() > 3.75 { 1f32.copysign(x) } else { value }
}

/// 1 / (1 + e^-x), relatively exact for large negative `x` too; NaN for NaN.
#[inline]
pub fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    let top = if x < 0.0 { e } else { 1.0 };
    top / (1.0 + e)
}

/// x * sigmoid(x); NaN for NaN and for -infinity.
#[inline]
pub fn silu(x: f32) -> f32 {
    x * sigmoid(x)
}

/// x/2 * (1 + erf(x / sqrt 2)); NaN for NaN and for -infinity.
#[inline]
pub fn gelu(x: f32) -> f32 {
    let half = 0.5 * x;
    half.mul_add(erf(x * std::f32::consts::FRAC_1_SQRT_2), half)
}

/// The tanh form of gelu: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))); NaN for NaN and for -infinity.
#[inline]
pub fn gelu_tanh(x: f32) -> f32 {
    let half = 0.5 * x;
    let scale = (x * x).mul_add(0.035_677_407, 0.797_884_6);
    half.mul_add(tanh(x * scale), half)
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|), without overflow; NaN for NaN.
#[inline]
pub fn softplus(x: f32) -> f32 {
    let e = exp(-x.abs());
    let one_more = 1.0 + e;
    let lost = e - (one_more - 1.0);
    max(0.0, x) + (log(one_more) + lost / one_more)
}

/// `0 > x ? 0 : x`, one `maxps(0, x)`: itself for NaN and for either zero.
#[inline]
pub fn relu(x: f32) -> f32 {
    max(0.0, x)
}

/// `minps(hi, maxps(lo, x))`: NaN for NaN.
#[inline]
pub fn clip(x: f32, lo: f32, hi: f32) -> f32 {
    min(hi, max(lo, x))
}

/// `x > 0 ? x : alpha * x`; NaN for NaN.
#[inline]
pub fn leaky_relu(x: f32, alpha: f32) -> f32 {
    if x > 0.0 { x } else { alpha * x }
}

/// clip(alpha * x + beta, 0, 1), the sum rounded once; NaN for NaN.
#[inline]
pub fn hard_sigmoid(x: f32, alpha: f32, beta: f32) -> f32 {
    clip(alpha.mul_add(x, beta), 0.0, 1.0)
}

/// x * hard_sigmoid(x, 1/6, 1/2); NaN for NaN and for -infinity.
#[inline]
pub fn hard_swish(x: f32) -> f32 {
    x * hard_sigmoid(x, 1.0 / 6.0, 0.5)
}

#[cfg(test)]
#[path = "scalar_tests.rs"]
mod tests;
