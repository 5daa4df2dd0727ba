//! What the elementwise functions compute, to the last bit.
//!
//! On `f32`, the formulas are those of machine code's vector functions, operation by operation: only
//! `+ - * /`, `mul_add` (one rounding), comparisons that select, integer adds, shifts and masks of the bit
//! pattern, exact conversions. So a value folded at compile time equals the one computed at run time.
//! Denormals are kept. `max` and `min` are x86's: the second operand wins where the comparison fails, which
//! decides what becomes of NaN and of signed zeros. A NaN result has an unspecified sign and payload.
//!
//! Errors against the exact value, over all finite inputs: `exp`, `log`, `sigmoid` 4 ulp; `tanh` 5 ulp; `erf`
//! 5 ulp or 3e-7; `pow`, trigonometric and hyperbolic functions (but `tanh`) 0.501 ulp. Functions
//! on `f64` are those of `libm` (a port of musl's), within 1 ulp, the same on every platform.
//!
//! Sources: Cephes `expf` and `logf` (Moshier, 1989) for the polynomials of `exp` and `log`; Eigen's rational
//! minimax approximations (`MathFunctionsImpl.h`) for `tanh` and `erf`.
//!
//! Functions are always inlined, so that a caller compiled for fused multiply-add gets one instruction for
//! `mul_add`.

mod regions;
mod wide;

pub use regions::{BoxAxis, BoxSample, Coordinate, MOST_SAMPLES};
pub use wide::{acos, acosh, asin, asinh, atan, atanh, cos, cosh, is_near, near_cos, near_sin, near_tan};
pub use wide::{pow, sin, sinh, tan};

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

/// Whether the intersection of two boxes, `[y, x, y, x]` of two opposite corners, is more than a part of
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

/// Horner's rule with one rounding a step; the highest power's coefficient first.
#[inline(always)]
fn poly<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

/// The bits of 1.0, and of a number that pushes a float's fraction out of its mantissa when added: 1.5 *
/// 2^23.
const ONE_BITS: i32 = 0x3f80_0000;
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts, the first short enough that `n * LN2_HI` is exact for |n| < 2^15.
const LN2_HI: f32 = 0.693_359_4;
const LN2_LO: f32 = -2.121_944_4e-4;
const EXP: [f32; 8] =
    [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1, 1.0, 1.0];

/// e^x. Overflows to infinity above 88.72284, is denormal below -87.33654 and 0 below -103.97; NaN for NaN.
#[inline(always)]
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

const LOG: [f32; 9] = [
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
const SQRT_HALF_BITS: i32 = 0x3f35_04f3;

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

const TANH_TOP: [f32; 7] = [
    -2.760_768_5e-16,
    2.000_188e-13,
    -8.604_672e-11,
    5.122_297e-8,
    1.485_722_4e-5,
    6.372_619_3e-4,
    4.893_524_6e-3,
];
const TANH_BOTTOM: [f32; 4] = [1.198_258_4e-6, 1.185_347_1e-4, 2.268_434_6e-3, 4.893_525e-3];

/// Hyperbolic tangent; exactly 1 in magnitude above 9.02, keeps the sign of zero, NaN for NaN.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let z = min(7.905_311, max(-7.905_311, x));
    let square = z * z;
    let value = z * poly(square, TANH_TOP) / poly(square, TANH_BOTTOM);
    let value = if x.abs() > 9.02 { 1f32.copysign(x) } else { value };
    if x.abs() < 4e-4 { x } else { value }
}

const ERF_TOP: [f32; 7] = [
    -2.726_142_3e-10,
    2.770_681_4e-8,
    -2.101_024e-6,
    -5.692_506_4e-5,
    -7.349_906_3e-4,
    -2.954_6e-3,
    -1.609_603_3e-2,
];
const ERF_BOTTOM: [f32; 5] =
    [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2];

/// The error function; exactly 1 in magnitude above 3.75, keeps the sign of zero, NaN for NaN.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let z = min(3.75, max(-3.75, x));
    let square = z * z;
    let value = z * poly(square, ERF_TOP) / poly(square, ERF_BOTTOM);
    if x.abs() > 3.75 { 1f32.copysign(x) } else { value }
}

/// 1 / (1 + e^-x), relatively exact for large negative `x` too; NaN for NaN.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    let top = if x < 0.0 { e } else { 1.0 };
    top / (1.0 + e)
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

/// `base` to the power `exponent`, wrapping; a negative power is that of the exact reciprocal, cut to an
/// integer, and 0 of 0.
pub fn power_i64(base: i64, exponent: i64) -> i64 {
    match (base, exponent) {
        (_, 0..) => power_u64(base.cast_unsigned(), exponent.cast_unsigned()).cast_signed(),
        (1, _) => 1,
        (-1, _) if exponent % 2 == 0 => 1,
        (-1, _) => -1,
        _ => 0,
    }
}
