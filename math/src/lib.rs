//! Elementwise functions, defined to the last bit.
//!
//! On `f32`, the formulas are those of the vector functions in machine code, operation by operation. They use
//! only `+ - * /`, `mul_add` (one rounding), comparisons that select, integer adds, shifts and masks of the
//! bit pattern, and exact conversions. So a value folded at compile time equals the one computed at run time.
//! Denormals are kept unless a function's documentation says otherwise. `max` and `min` are x86's: they
//! return the second operand if the comparison fails, which determines the results for NaN and for signed
//! zeros. A NaN result has an unspecified sign and payload.
//!
//! Greatest errors over all 2^32 inputs against the exact value, in units of the last place: `exp` 0.85,
//! `log` 0.81, `tanh` 1.36, `erf` 1.09, `sigmoid` 2.49 (but 0 where the result is denormal); `pow`,
//! trigonometric and hyperbolic functions (except `tanh`) 0.501; `gelu` and `gelu_tanh` 2 for positive
//! numbers (for negative ones at most 1e-7, and 3e-7 of the result above -1, 7e-6 of it above -6). Functions
//! on `f64` are those of `libm` (a port of musl's), within 1, the same on every platform.
//!
//! Sources: Cephes `expf` and `logf` (Moshier, 1989) for the polynomials of `exp` and `log`. Those of `tanh`
//! and `erf` are minimax fits of the relative error, by Remez' exchange. Away from 0, `tanh` has Cephes' form
//! `1 - 2 / (e^2x + 1)`; `1 - erf` is the exponential of a polynomial, a form of Hastings (Approximations for
//! Digital Computers, 1955), as used by N. Juffa. `gelu` has the same form, with a fit of weighted error.
//!
//! Functions are always inlined, so a caller compiled for fused multiply-add gets one instruction for
//! `mul_add`.

pub mod coefficients;
mod regions;
mod wide;

use coefficients::{
    ERF, ERF_FAR, ERF_NEAR, EXP, GELU_TANH, GELU_TANH_ZERO, GELU_ZERO, LN_NORMAL, LN2_HI, LN2_LO, LOG,
    ONE_BITS, ROUND, SQRT_HALF_BITS, TANH, TANH_NEAR, TANH_ONE,
};

pub use regions::{BoxAxis, BoxSample, Coordinate, MOST_SAMPLES};
pub use wide::{acos, acosh, asin, asinh, atan, atanh, cos, cosh, is_near, near_cos, near_sin, near_tan};
pub use wide::{is_near_rem, near_rem, pow, sin, sinh, tan};

/// `a` if `a > b`, else `b`: `b` where either is NaN or both are zeros.
#[inline(always)]
pub fn max<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// `a` if `a < b`, else `b`: `b` where either is NaN or both are zeros.
#[inline(always)]
pub fn min<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

/// Whether the intersection of two boxes, `[y, x, y, x]` of two opposite corners, is more than `part` of
/// their union.
#[inline(always)]
pub fn boxes_overlap(a: [f32; 4], b: [f32; 4], part: f32) -> bool {
    let sorted = |a: f32, b: f32| if a < b { [a, b] } else { [b, a] };
    let mut intersection = 1.0;
    let mut areas = [1.0, 1.0];
    for axis in [1, 0] {
        let [a_low, a_high] = sorted(a[axis], a[axis + 2]);
        let [b_low, b_high] = sorted(b[axis], b[axis + 2]);
        let low = if a_low < b_low { b_low } else { a_low };
        let high = if b_high < a_high { b_high } else { a_high };
        if high <= low {
            return false;
        }
        intersection *= high - low;
        areas[0] *= a_high - a_low;
        areas[1] *= b_high - b_low;
    }
    let union = areas[0] + areas[1] - intersection;
    let is_some = intersection > 0.0 && areas[0] > 0.0 && areas[1] > 0.0 && union > 0.0;
    is_some && intersection / union > part
}

/// Horner's rule with one rounding per step; the highest power's coefficient first.
#[inline(always)]
fn poly<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

/// e^x as `[m, ROUND + n]`, which is m * 2^n with m about 1 and a whole n.
#[inline(always)]
fn exp_in_two(x: f32) -> [f32; 2] {
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LO, n.mul_add(-LN2_HI, x));
    [poly(r, EXP), shifted]
}

/// e^x. Overflows to infinity above 88.72284, is denormal below -87.33654 and 0 below -103.97; NaN for NaN.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = min(89.0, max(-104.0, x));
    let [mantissa, shifted] = exp_in_two(x);
    let power = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    // 2^power in two factors, so that denormal results round only once.
    let half = power >> 1;
    let rest = power.wrapping_sub(half);
    let first = f32::from_bits(half.wrapping_shl(23).wrapping_add(ONE_BITS) as u32);
    let second = f32::from_bits(rest.wrapping_shl(23).wrapping_add(ONE_BITS) as u32);
    mantissa * first * second
}

/// Like [`exp`], with the same bits, for an `x` from -87 to 88.37 or NaN: the result is normal, so one factor
/// scales it. From 88.38 to 89 it is infinity.
#[inline(always)]
fn exp_or_infinity(x: f32) -> f32 {
    let [mantissa, shifted] = exp_in_two(x);
    mantissa * power_of_two(shifted)
}

/// 2^n for `ROUND + n`: infinity for 128, and the bits of a negative number below -127.
#[inline(always)]
fn power_of_two(shifted: f32) -> f32 {
    f32::from_bits((shifted.to_bits() << 23).wrapping_add(ONE_BITS as u32))
}

/// e^x for an `x` from -170 to 88 or NaN; 0 instead of denormal results.
#[inline(always)]
fn exp_or_zero(x: f32) -> f32 {
    let [mantissa, shifted] = exp_in_two(x);
    mantissa * max(0.0, power_of_two(shifted))
}

/// Natural logarithm: -infinity for either zero, NaN below zero and for NaN, infinity for infinity.
#[inline(always)]
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

/// Hyperbolic tangent: a polynomial near 0, `1 - 2 / (e^(2|x|) + 1)` elsewhere. Exactly 1 in
/// magnitude from 10, keeps the sign of zero, NaN for NaN.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let square = x * x;
    let near = (poly(square, TANH) * square).mul_add(size, size);
    let limited = min(TANH_ONE, size);
    let far = 1.0 - 2.0 / (exp_or_infinity(limited + limited) + 1.0);
    let value = if size < TANH_NEAR { near } else { far };
    value.copysign(x)
}

/// The error function: a polynomial near 0, `1 - e^-(|x| + |x| * q(|x|))` elsewhere with a polynomial q.
/// Exactly 1 in magnitude above 4, keeps the sign of zero, NaN for NaN.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let size = min(4.0, x.abs());
    let near = poly(size * size, ERF).mul_add(size, size);
    let far = 1.0 - exp_or_infinity((-size).mul_add(poly(size, ERF_FAR), -size));
    let value = if size < ERF_NEAR { near } else { far };
    value.copysign(x)
}

/// x/2 * (1 + erf(x / sqrt 2)), as `max(x, 0) - |x| * p(-|x|)` with the normal distribution function p.
/// Exactly 0 below -12; NaN for NaN and for -infinity.
#[inline(always)]
pub fn gelu(x: f32) -> f32 {
    let below = max(GELU_ZERO, -x.abs());
    below.mul_add(exp_or_zero(poly(below, LN_NORMAL)), positive_part(x))
}

/// `max(x, 0)`, but NaN for -infinity, like the product of infinity and 0.
#[inline(always)]
fn positive_part(x: f32) -> f32 {
    x.abs().mul_add(0.5, 0.5 * x)
}

/// [`gelu`] on `f64`.
pub fn gelu_f64(x: f64) -> f64 {
    0.5 * x * libm::erfc(x * -std::f64::consts::FRAC_1_SQRT_2)
}

/// The tanh form of gelu: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), as
/// `max(x, 0) - |x| * sigmoid(-u)` with u twice the hyperbolic tangent's argument. Exactly 0 below -11; NaN
/// for NaN and for -infinity.
#[inline(always)]
pub fn gelu_tanh(x: f32) -> f32 {
    let below = max(GELU_TANH_ZERO, -x.abs());
    let e = exp_or_zero(below * poly(below * below, GELU_TANH));
    below.mul_add(e / (1.0 + e), positive_part(x))
}

/// [`gelu_tanh`] on `f64`.
pub fn gelu_tanh_f64(x: f64) -> f64 {
    let root = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2;
    x * sigmoid_f64(2.0 * root * (x + 0.044715 * x * x * x))
}

/// 1 / (1 + e^-x), relatively exact also for negative `x`; 0 below -88.4, NaN for NaN.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    let e = exp_or_infinity(min(89.0, max(-87.0, 0.0 - x)));
    1.0 / (1.0 + e)
}

/// `sigmoid` on `f64`.
pub fn sigmoid_f64(x: f64) -> f64 {
    let e = libm::exp(-x.abs());
    let top = if x < 0.0 { e } else { 1.0 };
    top / (1.0 + e)
}

/// `base` to the power `exponent`, wrapping.
pub fn power_u64(base: u64, exponent: u64) -> u64 {
    let mut power = 1u64;
    let mut square = base;
    let mut rest = exponent;
    while rest > 0 {
        if rest & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    power
}

/// `base` to the power `exponent`, wrapping. A negative power is that of the exact reciprocal, truncated to
/// an integer; for `base` 0 it is 0.
pub fn power_i64(base: i64, exponent: i64) -> i64 {
    match (base, exponent) {
        (_, 0..) => power_u64(base.cast_unsigned(), exponent.cast_unsigned()).cast_signed(),
        (1, _) => 1,
        (-1, _) if exponent % 2 == 0 => 1,
        (-1, _) => -1,
        _ => 0,
    }
}
