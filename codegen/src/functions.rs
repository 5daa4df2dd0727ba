//! Which functions of single numbers generated code calls, where it has no instruction for them.
//!
//! They are the interpreter's own, so the bits agree. Vectors of `f32` use functions on strips instead (see
//! [`crate::pointwise::stages`]), which give the same bits: those of `kernels`, and vector code that is made
//! of the interpreter's formulas.

use ir::math;
use ir::scalar::{Binary, Unary};
use kernels::{Formula, Isa, ScalarFunction, StripFn, formula_function, strip_function};

use crate::elem::ElemType;

/// A function that generated code may call.
struct FunctionRow {
    /// The symbol.
    name: &'static str,
    /// What it computes.
    meaning: FunctionMeaning,
    /// The type of its arguments and result.
    elem: ElemType,
    /// Where it is.
    code: CalleeCode,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FunctionMeaning {
    Unary(Unary),
    Binary(Binary),
}

#[derive(Clone, Copy)]
enum CalleeCode {
    F32(extern "C" fn(f32) -> f32),
    F32Pair(extern "C" fn(f32, f32) -> f32),
    F64(extern "C" fn(f64) -> f64),
    F64Pair(extern "C" fn(f64, f64) -> f64),
    I64Pair(extern "C" fn(i64, i64) -> i64),
    U64Pair(extern "C" fn(u64, u64) -> u64),
}

/// The type of a row's arguments that are 64-bit integers.
const I64: ElemType = ElemType::Int { bits: 64, signed: true };
const U64: ElemType = ElemType::Int { bits: 64, signed: false };
const F32: ElemType = ElemType::F32;
const F64: ElemType = ElemType::F64;

macro_rules! rows {
    ($($name:literal $wrapper:ident($($arg:ident),+) $elem:ident $ty:ty, $code:ident, $meaning:expr, $body:expr;)+) => {
        $(extern "C" fn $wrapper($($arg: $ty),+) -> $ty {
            $body
        })+
        static ROWS: &[FunctionRow] = &[
            $(FunctionRow { name: $name, meaning: $meaning, elem: $elem, code: CalleeCode::$code($wrapper) }),+
        ];
    };
}

rows! {
    "optc_exp_f32" exp_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Exp), math::exp(x);
    "optc_log_f32" log_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Log), math::log(x);
    "optc_tanh_f32" tanh_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Tanh), math::tanh(x);
    "optc_erf_f32" erf_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Erf), math::erf(x);
    "optc_sigmoid_f32" sigmoid_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Sigmoid), math::sigmoid(x);
    "optc_sin_f32" sin_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Sin), math::sin(x);
    "optc_cos_f32" cos_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Cos), math::cos(x);
    "optc_tan_f32" tan_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Tan), math::tan(x);
    "optc_asin_f32" asin_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Asin), math::asin(x);
    "optc_acos_f32" acos_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Acos), math::acos(x);
    "optc_atan_f32" atan_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Atan), math::atan(x);
    "optc_sinh_f32" sinh_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Sinh), math::sinh(x);
    "optc_cosh_f32" cosh_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Cosh), math::cosh(x);
    "optc_asinh_f32" asinh_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Asinh), math::asinh(x);
    "optc_acosh_f32" acosh_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Acosh), math::acosh(x);
    "optc_atanh_f32" atanh_f32(x) F32 f32, F32, FunctionMeaning::Unary(Unary::Atanh), math::atanh(x);
    "optc_rem_f32" rem_f32(x, y) F32 f32, F32Pair, FunctionMeaning::Binary(Binary::Rem), x % y;
    "optc_pow_f32" pow_f32(x, y) F32 f32, F32Pair, FunctionMeaning::Binary(Binary::Pow), math::pow(x, y);
    "optc_exp_f64" exp_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Exp), libm::exp(x);
    "optc_log_f64" log_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Log), libm::log(x);
    "optc_tanh_f64" tanh_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Tanh), libm::tanh(x);
    "optc_erf_f64" erf_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Erf), libm::erf(x);
    "optc_sigmoid_f64" sigmoid_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Sigmoid), math::sigmoid_f64(x);
    "optc_sin_f64" sin_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Sin), libm::sin(x);
    "optc_cos_f64" cos_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Cos), libm::cos(x);
    "optc_tan_f64" tan_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Tan), libm::tan(x);
    "optc_asin_f64" asin_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Asin), libm::asin(x);
    "optc_acos_f64" acos_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Acos), libm::acos(x);
    "optc_atan_f64" atan_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Atan), libm::atan(x);
    "optc_sinh_f64" sinh_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Sinh), libm::sinh(x);
    "optc_cosh_f64" cosh_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Cosh), libm::cosh(x);
    "optc_asinh_f64" asinh_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Asinh), libm::asinh(x);
    "optc_acosh_f64" acosh_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Acosh), libm::acosh(x);
    "optc_atanh_f64" atanh_f64(x) F64 f64, F64, FunctionMeaning::Unary(Unary::Atanh), libm::atanh(x);
    "optc_rem_f64" rem_f64(x, y) F64 f64, F64Pair, FunctionMeaning::Binary(Binary::Rem), x % y;
    "optc_pow_i64" pow_i64(x, y) I64 i64, I64Pair, FunctionMeaning::Binary(Binary::Pow), math::power_i64(x, y);
    "optc_pow_u64" pow_u64(x, y) U64 u64, U64Pair, FunctionMeaning::Binary(Binary::Pow), math::power_u64(x, y);
    "optc_pow_f64" pow_f64(x, y) F64 f64, F64Pair, FunctionMeaning::Binary(Binary::Pow), libm::pow(x, y);
}

fn name_of(meaning: FunctionMeaning, elem: ElemType) -> Option<&'static str> {
    Some(ROWS.iter().find(|row| row.meaning == meaning && row.elem == elem)?.name)
}

/// The symbol of a function of one number.
pub(crate) fn unary_name(function: Unary, elem: ElemType) -> Option<&'static str> {
    name_of(FunctionMeaning::Unary(function), elem)
}

/// The symbol of a function of two numbers.
pub(crate) fn binary_name(function: Binary, elem: ElemType) -> Option<&'static str> {
    name_of(FunctionMeaning::Binary(function), elem)
}

macro_rules! formulas {
    ($($name:ident $value:path $(, $usual:path, $is_usual:path)?;)+) => {
        $(struct $name;
        impl Formula for $name {
            #[inline(always)]
            fn value(x: f32) -> f32 {
                $value(x)
            }
            $(
            #[inline(always)]
            fn usual(x: f32) -> f32 {
                $usual(x)
            }
            #[inline(always)]
            fn is_usual(x: f32) -> bool {
                $is_usual(x)
            })?
        })+
    };
}

formulas! {
    Sin math::sin, math::near_sin, math::is_near;
    Cos math::cos, math::near_cos, math::is_near;
    Tan math::tan, math::near_tan, math::is_near;
    Asin math::asin;
    Acos math::acos;
    Atan math::atan;
    Sinh math::sinh;
    Cosh math::cosh;
    Asinh math::asinh;
    Acosh math::acosh;
    Atanh math::atanh;
}

/// The vector form of a function.
type StripMaker = fn(Isa) -> StripFn;

/// A vector form that `kernels` has.
fn known(function: ScalarFunction, isa: Isa) -> StripFn {
    strip_function(function, isa).expect("functions of strips have a vector form")
}

/// The vector functions of strips of `f32`: `(to, from, count)`.
static STRIPS: &[(Unary, &str, StripMaker)] = &[
    (Unary::Exp, "optc_strip_exp", |isa| known(ScalarFunction::Exp, isa)),
    (Unary::Log, "optc_strip_log", |isa| known(ScalarFunction::Log, isa)),
    (Unary::Tanh, "optc_strip_tanh", |isa| known(ScalarFunction::Tanh, isa)),
    (Unary::Erf, "optc_strip_erf", |isa| known(ScalarFunction::Erf, isa)),
    (Unary::Sigmoid, "optc_strip_sigmoid", |isa| known(ScalarFunction::Sigmoid, isa)),
    (Unary::Sin, "optc_strip_sin", formula_function::<Sin>),
    (Unary::Cos, "optc_strip_cos", formula_function::<Cos>),
    (Unary::Tan, "optc_strip_tan", formula_function::<Tan>),
    (Unary::Asin, "optc_strip_asin", formula_function::<Asin>),
    (Unary::Acos, "optc_strip_acos", formula_function::<Acos>),
    (Unary::Atan, "optc_strip_atan", formula_function::<Atan>),
    (Unary::Sinh, "optc_strip_sinh", formula_function::<Sinh>),
    (Unary::Cosh, "optc_strip_cosh", formula_function::<Cosh>),
    (Unary::Asinh, "optc_strip_asinh", formula_function::<Asinh>),
    (Unary::Acosh, "optc_strip_acosh", formula_function::<Acosh>),
    (Unary::Atanh, "optc_strip_atanh", formula_function::<Atanh>),
];

/// The symbol of a function on a strip of `f32`: `(to, from, count)`.
pub(crate) fn strip_name(function: Unary) -> Option<&'static str> {
    Some(STRIPS.iter().find(|row| row.0 == function)?.1)
}

/// All symbols with their addresses.
pub(crate) fn symbols(isa: Isa) -> Vec<(&'static str, *const u8)> {
    let mut symbols: Vec<(&'static str, *const u8)> = Vec::new();
    for row in ROWS {
        let address = match row.code {
            CalleeCode::F32(code) => code as *const u8,
            CalleeCode::F32Pair(code) => code as *const u8,
            CalleeCode::F64(code) => code as *const u8,
            CalleeCode::F64Pair(code) => code as *const u8,
            CalleeCode::I64Pair(code) => code as *const u8,
            CalleeCode::U64Pair(code) => code as *const u8,
        };
        symbols.push((row.name, address));
    }
    symbols.extend(STRIPS.iter().map(|(_, name, strip)| (*name, strip(isa) as *const u8)));
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions of `f32` that loops call element by element, as they have no vector form.
    const PER_ELEMENT: [&str; 2] = ["optc_rem_f32", "optc_pow_f32"];

    #[test]
    fn loops_over_f32_call_only_these_functions_element_by_element() {
        let has_strips = |row: &&FunctionRow| match row.meaning {
            FunctionMeaning::Unary(function) => strip_name(function).is_some(),
            FunctionMeaning::Binary(_) => false,
        };
        let called = ROWS.iter().filter(|row| row.elem == F32 && !has_strips(row));
        assert_eq!(called.map(|row| row.name).collect::<Vec<_>>(), PER_ELEMENT);
    }
}
