//! Which functions of single numbers generated code calls, where it has no instruction for them.
//!
//! They are the interpreter's own, so the bits agree. Vectors of `f32` use `kernels`' functions on strips instead (see
//! [`crate::pointwise::stages`]), which give the same bits.

use ir::math;
use ir::scalar::{Binary, Unary};
use kernels::{Function, Isa, strip_function};

use crate::elem::Elem;

/// A function that generated code may call.
struct Row {
    /// The symbol.
    name: &'static str,
    /// What it computes.
    meaning: Meaning,
    /// The type of its arguments and result.
    elem: Elem,
    /// Where it is.
    code: Code,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Unary(Unary),
    Binary(Binary),
}

#[derive(Clone, Copy)]
enum Code {
    F32(extern "C" fn(f32) -> f32),
    F32Pair(extern "C" fn(f32, f32) -> f32),
    F64(extern "C" fn(f64) -> f64),
    F64Pair(extern "C" fn(f64, f64) -> f64),
}

macro_rules! rows {
    ($($name:literal $wrapper:ident($($arg:ident),+) $elem:ident $ty:ty, $code:ident, $meaning:expr, $body:expr;)+) => {
        $(extern "C" fn $wrapper($($arg: $ty),+) -> $ty {
            $body
        })+
        static ROWS: &[Row] = &[
            $(Row { name: $name, meaning: $meaning, elem: Elem::$elem, code: Code::$code($wrapper) }),+
        ];
    };
}

rows! {
    "optc_exp_f32" exp_f32(x) F32 f32, F32, Meaning::Unary(Unary::Exp), math::exp(x);
    "optc_log_f32" log_f32(x) F32 f32, F32, Meaning::Unary(Unary::Log), math::log(x);
    "optc_tanh_f32" tanh_f32(x) F32 f32, F32, Meaning::Unary(Unary::Tanh), math::tanh(x);
    "optc_erf_f32" erf_f32(x) F32 f32, F32, Meaning::Unary(Unary::Erf), math::erf(x);
    "optc_sigmoid_f32" sigmoid_f32(x) F32 f32, F32, Meaning::Unary(Unary::Sigmoid), math::sigmoid(x);
    "optc_sin_f32" sin_f32(x) F32 f32, F32, Meaning::Unary(Unary::Sin), math::sin(x);
    "optc_cos_f32" cos_f32(x) F32 f32, F32, Meaning::Unary(Unary::Cos), math::cos(x);
    "optc_rem_f32" rem_f32(x, y) F32 f32, F32Pair, Meaning::Binary(Binary::Rem), x % y;
    "optc_pow_f32" pow_f32(x, y) F32 f32, F32Pair, Meaning::Binary(Binary::Pow), math::pow(x, y);
    "optc_exp_f64" exp_f64(x) F64 f64, F64, Meaning::Unary(Unary::Exp), libm::exp(x);
    "optc_log_f64" log_f64(x) F64 f64, F64, Meaning::Unary(Unary::Log), libm::log(x);
    "optc_tanh_f64" tanh_f64(x) F64 f64, F64, Meaning::Unary(Unary::Tanh), libm::tanh(x);
    "optc_erf_f64" erf_f64(x) F64 f64, F64, Meaning::Unary(Unary::Erf), libm::erf(x);
    "optc_sigmoid_f64" sigmoid_f64(x) F64 f64, F64, Meaning::Unary(Unary::Sigmoid), math::sigmoid_f64(x);
    "optc_sin_f64" sin_f64(x) F64 f64, F64, Meaning::Unary(Unary::Sin), libm::sin(x);
    "optc_cos_f64" cos_f64(x) F64 f64, F64, Meaning::Unary(Unary::Cos), libm::cos(x);
    "optc_rem_f64" rem_f64(x, y) F64 f64, F64Pair, Meaning::Binary(Binary::Rem), x % y;
    "optc_pow_f64" pow_f64(x, y) F64 f64, F64Pair, Meaning::Binary(Binary::Pow), libm::pow(x, y);
}

fn name_of(meaning: Meaning, elem: Elem) -> Option<&'static str> {
    Some(ROWS.iter().find(|row| row.meaning == meaning && row.elem == elem)?.name)
}

/// The symbol of a function of one number.
pub(crate) fn unary_name(function: Unary, elem: Elem) -> Option<&'static str> {
    name_of(Meaning::Unary(function), elem)
}

/// The symbol of a function of two numbers.
pub(crate) fn binary_name(function: Binary, elem: Elem) -> Option<&'static str> {
    name_of(Meaning::Binary(function), elem)
}

/// The vector functions of strips of `f32`: `(to, from, count)`.
static STRIPS: &[(Unary, &str, Function)] = &[
    (Unary::Exp, "optc_strip_exp", Function::Exp),
    (Unary::Log, "optc_strip_log", Function::Log),
    (Unary::Tanh, "optc_strip_tanh", Function::Tanh),
    (Unary::Erf, "optc_strip_erf", Function::Erf),
    (Unary::Sigmoid, "optc_strip_sigmoid", Function::Sigmoid),
];

/// The symbol of `kernels`' function on a strip of `f32`: `(to, from, count)`.
pub(crate) fn strip_name(function: Unary) -> Option<&'static str> {
    Some(STRIPS.iter().find(|row| row.0 == function)?.1)
}

/// All symbols with their addresses.
pub(crate) fn symbols(isa: Isa) -> Vec<(&'static str, *const u8)> {
    let mut symbols: Vec<(&'static str, *const u8)> = Vec::new();
    for row in ROWS {
        let address = match row.code {
            Code::F32(code) => code as *const u8,
            Code::F32Pair(code) => code as *const u8,
            Code::F64(code) => code as *const u8,
            Code::F64Pair(code) => code as *const u8,
        };
        symbols.push((row.name, address));
    }
    for (_, name, function) in STRIPS {
        let strip = strip_function(*function, isa).expect("functions of strips have a vector form");
        symbols.push((name, strip as *const u8));
    }
    symbols
}
