//! The functions of [`crate::scalar`] on vectors: the same operations in the same order, hence the same bits.
//!
//! Each function mirrors the one with the same name there, statement by statement; see there for its meaning.
//! there.

use crate::simd::Lanewise;
use std::f32::consts::LOG2_E;

#[inline(always)]
fn poly<S: Lanewise, const N: usize>(s: S, x: S::F, coefficients: &[f32; N]) -> S::F {
    let mut sum = s.splat(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        sum = s.mul_add(sum, x, s.splat(coefficient));
    }
    sum
}

#[inline(always)]
fn exp_in_two<S: Lanewise>(s: S, x: S::F) -> [S::F; 2] {
    use math::coefficients::{EXP, LN2_HI, LN2_LO, ROUND};
    let shifted = s.mul_add(x, s.splat(LOG2_E), s.splat(ROUND));
    let n = s.sub(shifted, s.splat(ROUND));
    let r = s.mul_add(n, s.splat(-LN2_LO), s.mul_add(n, s.splat(-LN2_HI), x));
    [poly(s, r, &EXP), shifted]
}

#[inline(always)]
pub(crate) fn exp<S: Lanewise>(s: S, x: S::F) -> S::F {
    let x = s.min(s.splat(89.0), s.max(s.splat(-104.0), x));
    let [mantissa, shifted] = exp_in_two(s, x);
    s.scale(mantissa, shifted)
}

/// [`exp_or_infinity`] for an `x` with a normal result.
#[inline(always)]
fn exp_normal<S: Lanewise>(s: S, x: S::F) -> S::F {
    let [mantissa, shifted] = exp_in_two(s, x);
    s.scale_normal(mantissa, shifted)
}

#[inline(always)]
fn exp_or_infinity<S: Lanewise>(s: S, x: S::F) -> S::F {
    let [mantissa, shifted] = exp_in_two(s, x);
    s.mul(mantissa, power_of_two(s, shifted))
}

/// 2^n of `ROUND + n`: infinity for 128, and a float with the sign bit set below -127.
#[inline(always)]
fn power_of_two<S: Lanewise>(s: S, shifted: S::F) -> S::F {
    use math::coefficients::ONE_BITS;
    s.float(s.add_int(s.shift_left::<23>(s.bits(shifted)), s.splat_int(ONE_BITS)))
}

#[inline(always)]
pub(crate) fn exp_or_zero<S: Lanewise>(s: S, x: S::F) -> S::F {
    let [mantissa, shifted] = exp_in_two(s, x);
    s.mul(mantissa, s.max(s.splat(0.0), power_of_two(s, shifted)))
}

#[inline(always)]
pub(crate) fn log<S: Lanewise>(s: S, x: S::F) -> S::F {
    use math::coefficients::{LN2_HI, LN2_LO, LOG, SQRT_HALF_BITS};
    let (zero, smallest) = (s.splat(0.0), s.splat(f32::MIN_POSITIVE));
    let scaled = s.select_gt(smallest, x, s.mul(x, s.splat(8_388_608.0)), x);
    let bias = s.select_gt(smallest, x, s.splat(-23.0), zero);
    let offset = s.sub_int(s.bits(scaled), s.splat_int(SQRT_HALF_BITS));
    let exponent = s.add(s.to_float(s.shift_right::<23>(offset)), bias);
    let mantissa = s.and_int(offset, s.splat_int(0x007f_ffff));
    let f = s.sub(s.float(s.add_int(mantissa, s.splat_int(SQRT_HALF_BITS))), s.splat(1.0));
    let square = s.mul(f, f);
    let tail = s.mul(poly(s, f, &LOG), f);
    let small = s.mul_add(exponent, s.splat(LN2_LO), s.mul(tail, square));
    let near = s.add(f, s.mul_add(square, s.splat(-0.5), small));
    let value = s.mul_add(exponent, s.splat(LN2_HI), near);
    let value = s.select_gt(s.splat(f32::INFINITY), x, value, x);
    let value = s.select_gt(x, zero, value, s.splat(f32::NAN));
    s.select_eq(x, zero, s.splat(f32::NEG_INFINITY), value)
}

#[inline(always)]
pub(crate) fn tanh<S: Lanewise>(s: S, x: S::F) -> S::F {
    use math::coefficients::{TANH, TANH_NEAR, TANH_ONE};
    let size = s.abs(x);
    let square = s.mul(x, x);
    let near = s.mul_add(s.mul(poly(s, square, &TANH), square), size, size);
    let limited = s.min(s.splat(TANH_ONE), size);
    let e = exp_normal(s, s.add(limited, limited));
    let far = s.sub(s.splat(1.0), s.div(s.splat(2.0), s.add(e, s.splat(1.0))));
    s.copysign(s.select_gt(s.splat(TANH_NEAR), size, near, far), x)
}

#[inline(always)]
pub(crate) fn erf<S: Lanewise>(s: S, x: S::F) -> S::F {
    use math::coefficients::{ERF, ERF_FAR, ERF_NEAR};
    let size = s.min(s.splat(4.0), s.abs(x));
    let near = s.mul_add(poly(s, s.mul(size, size), &ERF), size, size);
    let minus = s.sub(s.splat(0.0), size);
    let far = s.sub(s.splat(1.0), exp_normal(s, s.mul_add(minus, poly(s, size, &ERF_FAR), minus)));
    s.copysign(s.select_gt(s.splat(ERF_NEAR), size, near, far), x)
}

/// -|x|.
#[inline(always)]
fn minus_abs<S: Lanewise>(s: S, x: S::F) -> S::F {
    s.copysign(x, s.splat(-1.0))
}

#[inline(always)]
pub(crate) fn sigmoid<S: Lanewise>(s: S, x: S::F) -> S::F {
    let minus = s.sub(s.splat(0.0), x);
    let e = exp_or_infinity(s, s.min(s.splat(89.0), s.max(s.splat(-87.0), minus)));
    s.div(s.splat(1.0), s.add(s.splat(1.0), e))
}

#[inline(always)]
pub(crate) fn silu<S: Lanewise>(s: S, x: S::F) -> S::F {
    s.mul(x, sigmoid(s, x))
}

#[inline(always)]
pub(crate) fn gelu<S: Lanewise>(s: S, x: S::F) -> S::F {
    use math::coefficients::{GELU_ZERO, LN_NORMAL};
    let below = s.max(s.splat(GELU_ZERO), minus_abs(s, x));
    s.mul_add(below, exp_or_zero(s, poly(s, below, &LN_NORMAL)), positive_part(s, x))
}

#[inline(always)]
fn positive_part<S: Lanewise>(s: S, x: S::F) -> S::F {
    s.mul_add(s.abs(x), s.splat(0.5), s.mul(s.splat(0.5), x))
}

#[inline(always)]
pub(crate) fn gelu_tanh<S: Lanewise>(s: S, x: S::F) -> S::F {
    use math::coefficients::{GELU_TANH, GELU_TANH_ZERO};
    let below = s.max(s.splat(GELU_TANH_ZERO), minus_abs(s, x));
    let e = exp_or_zero(s, s.mul(below, poly(s, s.mul(below, below), &GELU_TANH)));
    s.mul_add(below, s.div(e, s.add(s.splat(1.0), e)), positive_part(s, x))
}

#[inline(always)]
pub(crate) fn softplus<S: Lanewise>(s: S, x: S::F) -> S::F {
    let e = exp(s, minus_abs(s, x));
    let one_more = s.add(s.splat(1.0), e);
    let lost = s.sub(e, s.sub(one_more, s.splat(1.0)));
    let log1p = s.add(log(s, one_more), s.div(lost, one_more));
    s.add(s.max(s.splat(0.0), x), log1p)
}

#[inline(always)]
pub(crate) fn relu<S: Lanewise>(s: S, x: S::F) -> S::F {
    s.max(s.splat(0.0), x)
}

#[inline(always)]
pub(crate) fn clip<S: Lanewise>(s: S, x: S::F, lo: f32, hi: f32) -> S::F {
    s.min(s.splat(hi), s.max(s.splat(lo), x))
}

#[inline(always)]
pub(crate) fn leaky_relu<S: Lanewise>(s: S, x: S::F, alpha: f32) -> S::F {
    s.select_gt(x, s.splat(0.0), x, s.mul(s.splat(alpha), x))
}

#[inline(always)]
pub(crate) fn hard_sigmoid<S: Lanewise>(s: S, x: S::F, alpha: f32, beta: f32) -> S::F {
    clip(s, s.mul_add(s.splat(alpha), x, s.splat(beta)), 0.0, 1.0)
}

#[inline(always)]
pub(crate) fn hard_swish<S: Lanewise>(s: S, x: S::F) -> S::F {
    s.mul(x, hard_sigmoid(s, x, 1.0 / 6.0, 0.5))
}
