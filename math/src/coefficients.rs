//! Coefficients of the formulas of the functions, also used by vector code for the same formulas. Polynomials
//! begin with the coefficient of the highest power.

/// The bits of 1.0.
pub const ONE_BITS: i32 = 0x3f80_0000;
/// Adding it pushes a float's fraction out of its mantissa: 1.5 * 2^23.
pub const ROUND: f32 = 12_582_912.0;
/// The high part of ln 2, short enough that `n * LN2_HI` is exact for |n| < 2^15.
pub const LN2_HI: f32 = 0.693_359_4;
/// The rest of ln 2.
pub const LN2_LO: f32 = -2.121_944_4e-4;
/// e^x for |x| <= ln 2 / 2.
pub const EXP: [f32; 8] =
    [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1, 1.0, 1.0];
/// (ln(1 + x) - x + x^2 / 2) / x^3 for 1 + x between sqrt(1/2) and sqrt(2).
pub const LOG: [f32; 9] = [
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
/// The bits of sqrt(1/2): mantissas are scaled into [sqrt(1/2), sqrt(2)).
pub const SQRT_HALF_BITS: i32 = 0x3f35_04f3;
/// Below this magnitude, tanh x is `x + x * x^2 * TANH(x^2)`.
pub const TANH_NEAR: f32 = 0.625;
/// From this magnitude, tanh x is 1: 2 / (e^2x + 1) is less than half a unit in the last place below 1.
pub const TANH_ONE: f32 = 10.0;
/// (tanh x / x - 1) / x^2 by x^2, for |x| < [`TANH_NEAR`]; the relative error of tanh is at most
/// 0.074 * 2^-24.
pub const TANH: [f32; 5] = [-5.705_027e-3, 2.063_912_3e-2, -5.373_972_7e-2, 1.333_144_3e-1, -3.333_328e-1];
/// Below this, gelu x is 0: its greatest magnitude there is 3e-32.
pub const GELU_ZERO: f32 = -12.0;
/// ln(normal distribution function) of x, from -6 to 0: the error is at most 4e-8 above -1 and 5e-6 at -6.
/// Below -6 it falls faster than the function, to -118.2 at [`GELU_ZERO`].
pub const LN_NORMAL: [f32; 11] = [
    -1.667_382_7e-8,
    -5.121_054e-7,
    -6.729_341_7e-6,
    -4.803_517e-5,
    -1.772_495e-4,
    3.323_987_4e-5,
    4.854_047e-3,
    3.637_420_8e-2,
    -3.183_002_2e-1,
    7.978_853_6e-1,
    -6.931_472e-1,
];
/// Below this, the tanh form of gelu x is 0.
pub const GELU_TANH_ZERO: f32 = -11.0;
/// The tanh form of gelu x is `x / (1 + e^-(x * (a * x^2 + b)))` with these a and b: b is 2 sqrt(2/pi), and a
/// 0.044715 of that.
pub const GELU_TANH: [f32; 2] = [0.071_354_814, 1.595_769_2];
/// Below this magnitude, erf x is `x + x * ERF(x^2)`.
pub const ERF_NEAR: f32 = 0.92;
/// erf x / x - 1 by x^2, for |x| < [`ERF_NEAR`]; the relative error of erf is at most 0.26 * 2^-24.
pub const ERF: [f32; 6] =
    [-5.999_42e-4, 4.994_833e-3, -2.676_772_1e-2, 1.128_184_6e-1, -3.761_249_8e-1, 1.283_791_5e-1];
/// -ln(1 - erf x) / x - 1 by x, from [`ERF_NEAR`] to 4; the relative error of erf is at most 0.05 * 2^-24.
pub const ERF_FAR: [f32; 6] =
    [-2.139_822_8e-4, 3.214_935_3e-3, -2.288_990_5e-2, 1.052_617_6e-1, 6.357_184e-1, 1.285_143_5e-1];
