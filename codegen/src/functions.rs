//! Functions of `kernels` called by generated code for computations without a machine instruction.
//!
//! A scalar function is the interpreter's own, so the bits agree. Vectors of `f32` use functions on strips
//! instead (see [`crate::pointwise::stages`]), with the same bits.

use ir::scalar::{Binary, Unary};
use kernels::{Isa, NUMBER_FUNCTIONS, STRIP_FUNCTIONS};

use crate::elem::ElemType;

/// What a function computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FunctionMeaning {
    Unary(Unary),
    Binary(Binary),
}

use FunctionMeaning::{Binary as Two, Unary as One};

/// The type of a row's arguments that are 64-bit integers.
const I64: ElemType = ElemType::Int { bits: 64, signed: true };
const U64: ElemType = ElemType::Int { bits: 64, signed: false };
const F32: ElemType = ElemType::F32;
const F64: ElemType = ElemType::F64;

/// The scalar functions: the meaning, the type of arguments and result, and the symbol.
static NUMBERS: &[(FunctionMeaning, ElemType, &str)] = &[
    (One(Unary::Exp), F32, "optc_exp_f32"),
    (One(Unary::Log), F32, "optc_log_f32"),
    (One(Unary::Tanh), F32, "optc_tanh_f32"),
    (One(Unary::Erf), F32, "optc_erf_f32"),
    (One(Unary::Sigmoid), F32, "optc_sigmoid_f32"),
    (One(Unary::Gelu), F32, "optc_gelu_f32"),
    (One(Unary::GeluTanh), F32, "optc_gelu_tanh_f32"),
    (One(Unary::Sin), F32, "optc_sin_f32"),
    (One(Unary::Cos), F32, "optc_cos_f32"),
    (One(Unary::Tan), F32, "optc_tan_f32"),
    (One(Unary::Asin), F32, "optc_asin_f32"),
    (One(Unary::Acos), F32, "optc_acos_f32"),
    (One(Unary::Atan), F32, "optc_atan_f32"),
    (One(Unary::Sinh), F32, "optc_sinh_f32"),
    (One(Unary::Cosh), F32, "optc_cosh_f32"),
    (One(Unary::Asinh), F32, "optc_asinh_f32"),
    (One(Unary::Acosh), F32, "optc_acosh_f32"),
    (One(Unary::Atanh), F32, "optc_atanh_f32"),
    (Two(Binary::Rem), F32, "optc_rem_f32"),
    (Two(Binary::Pow), F32, "optc_pow_f32"),
    (One(Unary::Exp), F64, "optc_exp_f64"),
    (One(Unary::Log), F64, "optc_log_f64"),
    (One(Unary::Tanh), F64, "optc_tanh_f64"),
    (One(Unary::Erf), F64, "optc_erf_f64"),
    (One(Unary::Sigmoid), F64, "optc_sigmoid_f64"),
    (One(Unary::Gelu), F64, "optc_gelu_f64"),
    (One(Unary::GeluTanh), F64, "optc_gelu_tanh_f64"),
    (One(Unary::Sin), F64, "optc_sin_f64"),
    (One(Unary::Cos), F64, "optc_cos_f64"),
    (One(Unary::Tan), F64, "optc_tan_f64"),
    (One(Unary::Asin), F64, "optc_asin_f64"),
    (One(Unary::Acos), F64, "optc_acos_f64"),
    (One(Unary::Atan), F64, "optc_atan_f64"),
    (One(Unary::Sinh), F64, "optc_sinh_f64"),
    (One(Unary::Cosh), F64, "optc_cosh_f64"),
    (One(Unary::Asinh), F64, "optc_asinh_f64"),
    (One(Unary::Acosh), F64, "optc_acosh_f64"),
    (One(Unary::Atanh), F64, "optc_atanh_f64"),
    (Two(Binary::Rem), F64, "optc_rem_f64"),
    (Two(Binary::Pow), I64, "optc_pow_i64"),
    (Two(Binary::Pow), U64, "optc_pow_u64"),
    (Two(Binary::Pow), F64, "optc_pow_f64"),
];

/// The vector functions of strips of `f32`: `(to, from, with, count)`.
static STRIPS: &[(FunctionMeaning, &str)] = &[
    (One(Unary::Exp), "optc_strip_exp"),
    (One(Unary::Log), "optc_strip_log"),
    (One(Unary::Tanh), "optc_strip_tanh"),
    (One(Unary::Erf), "optc_strip_erf"),
    (One(Unary::Sigmoid), "optc_strip_sigmoid"),
    (One(Unary::Gelu), "optc_strip_gelu"),
    (One(Unary::GeluTanh), "optc_strip_gelu_tanh"),
    (One(Unary::Sin), "optc_strip_sin"),
    (One(Unary::Cos), "optc_strip_cos"),
    (One(Unary::Tan), "optc_strip_tan"),
    (One(Unary::Asin), "optc_strip_asin"),
    (One(Unary::Acos), "optc_strip_acos"),
    (One(Unary::Atan), "optc_strip_atan"),
    (One(Unary::Sinh), "optc_strip_sinh"),
    (One(Unary::Cosh), "optc_strip_cosh"),
    (One(Unary::Asinh), "optc_strip_asinh"),
    (One(Unary::Acosh), "optc_strip_acosh"),
    (One(Unary::Atanh), "optc_strip_atanh"),
    (Two(Binary::Rem), "optc_strip_rem"),
    (Two(Binary::Pow), "optc_strip_pow"),
];

macro_rules! library {
    ($($name:literal $wrapper:ident($($arg:ident),+) $ty:ty, $body:expr;)+) => {
        $(extern "C" fn $wrapper($($arg: $ty),+) -> $ty {
            $body
        })+
        /// The functions that Cranelift calls if an instruction set lacks an instruction, under their C
        /// names.
        pub(crate) fn library() -> Vec<(&'static str, *const u8)> {
            vec![$(($name, $wrapper as *const u8)),+]
        }
    };
}

library! {
    "ceilf" ceil_f32(x) f32, x.ceil();
    "ceil" ceil_f64(x) f64, x.ceil();
    "floorf" floor_f32(x) f32, x.floor();
    "floor" floor_f64(x) f64, x.floor();
    "truncf" trunc_f32(x) f32, x.trunc();
    "trunc" trunc_f64(x) f64, x.trunc();
    "nearbyintf" nearest_f32(x) f32, x.round_ties_even();
    "nearbyint" nearest_f64(x) f64, x.round_ties_even();
    "fmaf" fma_f32(x, y, z) f32, x.mul_add(y, z);
    "fma" fma_f64(x, y, z) f64, x.mul_add(y, z);
}

fn name_of(meaning: FunctionMeaning, elem: ElemType) -> Option<&'static str> {
    Some(NUMBERS.iter().find(|row| (row.0, row.1) == (meaning, elem))?.2)
}

/// The symbol of a function of one number.
pub(crate) fn unary_name(function: Unary, elem: ElemType) -> Option<&'static str> {
    name_of(One(function), elem)
}

/// The symbol of a function of two numbers.
pub(crate) fn binary_name(function: Binary, elem: ElemType) -> Option<&'static str> {
    name_of(Two(function), elem)
}

/// The symbol of a function of one number on a strip of `f32`: `(to, from, with, count)`, where `with` may be
/// any address.
pub(crate) fn unary_strip(function: Unary) -> Option<&'static str> {
    strip_name(One(function))
}

/// The symbol of a function of two numbers on strips of `f32`: `(to, from, with, count)`.
pub(crate) fn binary_strip(function: Binary) -> Option<&'static str> {
    strip_name(Two(function))
}

fn strip_name(meaning: FunctionMeaning) -> Option<&'static str> {
    Some(STRIPS.iter().find(|row| row.0 == meaning)?.1)
}

/// All symbols with their addresses.
pub(crate) fn symbols(isa: Isa) -> Vec<(&'static str, *const u8)> {
    let numbers = NUMBER_FUNCTIONS.iter().map(|function| (function.name, function.address()));
    let strips = STRIP_FUNCTIONS.iter().map(|strip| (strip.name, strip.function(isa) as *const u8));
    numbers.chain(strips).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_over_f32_call_each_function_on_strips() {
        let called = NUMBERS.iter().filter(|row| row.1 == F32);
        let per_element = called.filter(|row| strip_name(row.0).is_none()).map(|row| row.2);
        assert_eq!(per_element.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn each_name_is_that_of_a_function() {
        let names = NUMBERS.iter().map(|row| row.2).chain(STRIPS.iter().map(|row| row.1));
        let functions = symbols(Isa::Scalar).into_iter().map(|(name, _)| name);
        assert_eq!(names.collect::<Vec<_>>(), functions.collect::<Vec<_>>());
    }
}
