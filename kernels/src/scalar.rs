//! The definition of each elementwise function on one `f32`, to the last bit.
//!
//! Every vector path of this crate, its tails and its epilogues compute the same bits as these definitions.
//! So they only use operations with an exact vector counterpart: `+ - * /`, `mul_add` (one rounding),
//! comparisons that select, integer adds, shifts and masks of the bit pattern (so `abs` and `copysign`), and
//! exact int-to-float conversion. Functions shared with the interpreter are defined in `math`.
//!
//! Selection is that of x86's `maxps`/`minps`: `max(a, b)` is `b` unless `a > b`. Hence the second operand
//! decides about NaN and signed zeros; each function states its result. NaN results have an unspecified
//! payload and sign. Denormal inputs and results are kept unless a function says otherwise.
//!
//! Errors against the exact value, over all finite inputs (the crate's tests sweep them): those of `math`;
//! `softplus` 2 ulp; `silu` 3 ulp or 4e-37.

pub use math::{erf, exp, gelu, gelu_tanh, log, max, min, sigmoid, tanh};

/// x * sigmoid(x); NaN for NaN and for -infinity.
#[inline(always)]
pub fn silu(x: f32) -> f32 {
    x * sigmoid(x)
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|), without overflow; NaN for NaN.
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    let e = exp(-x.abs());
    let one_more = 1.0 + e;
    let lost = e - (one_more - 1.0);
    max(0.0, x) + (log(one_more) + lost / one_more)
}

/// `0 > x ? 0 : x`, one `maxps(0, x)`: itself for NaN and for either zero.
#[inline(always)]
pub fn relu(x: f32) -> f32 {
    max(0.0, x)
}

/// `minps(hi, maxps(lo, x))`: NaN for NaN.
#[inline(always)]
pub fn clip(x: f32, lo: f32, hi: f32) -> f32 {
    min(hi, max(lo, x))
}

/// `x > 0 ? x : alpha * x`; NaN for NaN.
#[inline(always)]
pub fn leaky_relu(x: f32, alpha: f32) -> f32 {
    if x > 0.0 { x } else { alpha * x }
}

/// clip(alpha * x + beta, 0, 1), the sum rounded once; NaN for NaN.
#[inline(always)]
pub fn hard_sigmoid(x: f32, alpha: f32, beta: f32) -> f32 {
    clip(alpha.mul_add(x, beta), 0.0, 1.0)
}

/// x * hard_sigmoid(x, 1/6, 1/2); NaN for NaN and for -infinity.
#[inline(always)]
pub fn hard_swish(x: f32) -> f32 {
    x * hard_sigmoid(x, 1.0 / 6.0, 0.5)
}

#[cfg(test)]
#[path = "scalar_tests.rs"]
mod tests;
