//! The functions that generated code calls by name: functions of single numbers without a machine
//! instruction, and functions of strips of `f32`.
//!
//! Both use the interpreter's formulas (the crate `math`), so the bits agree.

use crate::isa::Isa;
use crate::map::ScalarFunction;
use crate::strip::{Formula, StripFn, formula_functions, strip_functions};

/// A function of single numbers.
pub struct NumberFunction {
    /// The symbol that generated code calls it by.
    pub name: &'static str,
    code: Code,
}

#[derive(Clone, Copy)]
enum Code {
    F32(extern "C" fn(f32) -> f32),
    F32Pair(extern "C" fn(f32, f32) -> f32),
    F64(extern "C" fn(f64) -> f64),
    F64Pair(extern "C" fn(f64, f64) -> f64),
    I64Pair(extern "C" fn(i64, i64) -> i64),
    U64Pair(extern "C" fn(u64, u64) -> u64),
}

impl NumberFunction {
    /// The function's address.
    pub fn address(&self) -> *const u8 {
        match self.code {
            Code::F32(code) => code as *const u8,
            Code::F32Pair(code) => code as *const u8,
            Code::F64(code) => code as *const u8,
            Code::F64Pair(code) => code as *const u8,
            Code::I64Pair(code) => code as *const u8,
            Code::U64Pair(code) => code as *const u8,
        }
    }
}

macro_rules! numbers {
    ($($name:literal $function:ident($($arg:ident),+) $ty:ty, $code:ident, $body:expr;)+) => {
        // SAFETY: nothing else has a name that begins with `optc_`.
        $(#[unsafe(export_name = $name)]
        extern "C" fn $function($($arg: $ty),+) -> $ty {
            $body
        })+

        /// All functions of single numbers.
        pub static NUMBER_FUNCTIONS: &[NumberFunction] =
            &[$(NumberFunction { name: $name, code: Code::$code($function) }),+];
    };
}

numbers! {
    "optc_exp_f32" exp_f32(x) f32, F32, math::exp(x);
    "optc_log_f32" log_f32(x) f32, F32, math::log(x);
    "optc_tanh_f32" tanh_f32(x) f32, F32, math::tanh(x);
    "optc_erf_f32" erf_f32(x) f32, F32, math::erf(x);
    "optc_sigmoid_f32" sigmoid_f32(x) f32, F32, math::sigmoid(x);
    "optc_gelu_f32" gelu_f32(x) f32, F32, math::gelu(x);
    "optc_gelu_tanh_f32" gelu_tanh_f32(x) f32, F32, math::gelu_tanh(x);
    "optc_sin_f32" sin_f32(x) f32, F32, math::sin(x);
    "optc_cos_f32" cos_f32(x) f32, F32, math::cos(x);
    "optc_tan_f32" tan_f32(x) f32, F32, math::tan(x);
    "optc_asin_f32" asin_f32(x) f32, F32, math::asin(x);
    "optc_acos_f32" acos_f32(x) f32, F32, math::acos(x);
    "optc_atan_f32" atan_f32(x) f32, F32, math::atan(x);
    "optc_sinh_f32" sinh_f32(x) f32, F32, math::sinh(x);
    "optc_cosh_f32" cosh_f32(x) f32, F32, math::cosh(x);
    "optc_asinh_f32" asinh_f32(x) f32, F32, math::asinh(x);
    "optc_acosh_f32" acosh_f32(x) f32, F32, math::acosh(x);
    "optc_atanh_f32" atanh_f32(x) f32, F32, math::atanh(x);
    "optc_rem_f32" rem_f32(x, y) f32, F32Pair, x % y;
    "optc_pow_f32" pow_f32(x, y) f32, F32Pair, math::pow(x, y);
    "optc_exp_f64" exp_f64(x) f64, F64, libm::exp(x);
    "optc_log_f64" log_f64(x) f64, F64, libm::log(x);
    "optc_tanh_f64" tanh_f64(x) f64, F64, libm::tanh(x);
    "optc_erf_f64" erf_f64(x) f64, F64, libm::erf(x);
    "optc_sigmoid_f64" sigmoid_f64(x) f64, F64, math::sigmoid_f64(x);
    "optc_gelu_f64" gelu_f64(x) f64, F64, math::gelu_f64(x);
    "optc_gelu_tanh_f64" gelu_tanh_f64(x) f64, F64, math::gelu_tanh_f64(x);
    "optc_sin_f64" sin_f64(x) f64, F64, libm::sin(x);
    "optc_cos_f64" cos_f64(x) f64, F64, libm::cos(x);
    "optc_tan_f64" tan_f64(x) f64, F64, libm::tan(x);
    "optc_asin_f64" asin_f64(x) f64, F64, libm::asin(x);
    "optc_acos_f64" acos_f64(x) f64, F64, libm::acos(x);
    "optc_atan_f64" atan_f64(x) f64, F64, libm::atan(x);
    "optc_sinh_f64" sinh_f64(x) f64, F64, libm::sinh(x);
    "optc_cosh_f64" cosh_f64(x) f64, F64, libm::cosh(x);
    "optc_asinh_f64" asinh_f64(x) f64, F64, libm::asinh(x);
    "optc_acosh_f64" acosh_f64(x) f64, F64, libm::acosh(x);
    "optc_atanh_f64" atanh_f64(x) f64, F64, libm::atanh(x);
    "optc_rem_f64" rem_f64(x, y) f64, F64Pair, x % y;
    "optc_pow_i64" pow_i64(x, y) i64, I64Pair, math::power_i64(x, y);
    "optc_pow_u64" pow_u64(x, y) u64, U64Pair, math::power_u64(x, y);
    "optc_pow_f64" pow_f64(x, y) f64, F64Pair, libm::pow(x, y);
}

macro_rules! formulas {
    ($($numbers:literal $name:ident($x:pat_param, $y:pat_param)
        $value:expr $(, $usual:expr, $is_usual:expr)?;)+) => {
        $(struct $name;
        impl Formula for $name {
            const NUMBERS: usize = $numbers;
            #[inline(always)]
            fn value($x: f32, $y: f32) -> f32 {
                $value
            }
            $(
            #[inline(always)]
            fn usual($x: f32, $y: f32) -> f32 {
                $usual
            }
            #[inline(always)]
            fn is_usual($x: f32, $y: f32) -> bool {
                $is_usual
            })?
        })+
    };
}

formulas! {
    1 Sin(x, _) math::sin(x), math::near_sin(x), math::is_near(x);
    1 Cos(x, _) math::cos(x), math::near_cos(x), math::is_near(x);
    1 Tan(x, _) math::tan(x), math::near_tan(x), math::is_near(x);
    1 Asin(x, _) math::asin(x);
    1 Acos(x, _) math::acos(x);
    1 Atan(x, _) math::atan(x);
    1 Sinh(x, _) math::sinh(x);
    1 Cosh(x, _) math::cosh(x);
    1 Asinh(x, _) math::asinh(x);
    1 Acosh(x, _) math::acosh(x);
    1 Atanh(x, _) math::atanh(x);
    2 Rem(x, y) x % y, math::near_rem(x, y), math::is_near_rem(x, y);
    2 Pow(x, y) math::pow(x, y);
}

/// A function of strips of `f32`.
pub struct StripFunction {
    /// The symbol that generated code calls it by.
    pub name: &'static str,
    number: usize,
}

impl StripFunction {
    /// The function for an instruction set, which the machine must have to call it.
    pub fn function(&self, isa: Isa) -> StripFn {
        STRIP_TABLE[self.number][isa.path()]
    }
}

macro_rules! strips {
    ($($name:literal $functions:expr;)+) => {
        /// The machine code of [`STRIP_FUNCTIONS`], for each of [`Isa::PATHS`].
        // SAFETY: nothing else has a name that begins with `optc_`.
        #[unsafe(export_name = "optc_strips")]
        static STRIP_TABLE: [[StripFn; 3]; STRIP_FUNCTIONS.len()] = [$($functions),+];

        /// All functions of strips.
        pub static STRIP_FUNCTIONS: &[StripFunction] = &{
            let mut number = 0;
            [$({
                number += 1;
                StripFunction { name: $name, number: number - 1 }
            }),+]
        };
    };
}

strips! {
    "optc_strip_exp" strip_functions(ScalarFunction::Exp);
    "optc_strip_log" strip_functions(ScalarFunction::Log);
    "optc_strip_tanh" strip_functions(ScalarFunction::Tanh);
    "optc_strip_erf" strip_functions(ScalarFunction::Erf);
    "optc_strip_sigmoid" strip_functions(ScalarFunction::Sigmoid);
    "optc_strip_gelu" strip_functions(ScalarFunction::Gelu);
    "optc_strip_gelu_tanh" strip_functions(ScalarFunction::GeluTanh);
    "optc_strip_sin" formula_functions::<Sin>();
    "optc_strip_cos" formula_functions::<Cos>();
    "optc_strip_tan" formula_functions::<Tan>();
    "optc_strip_asin" formula_functions::<Asin>();
    "optc_strip_acos" formula_functions::<Acos>();
    "optc_strip_atan" formula_functions::<Atan>();
    "optc_strip_sinh" formula_functions::<Sinh>();
    "optc_strip_cosh" formula_functions::<Cosh>();
    "optc_strip_asinh" formula_functions::<Asinh>();
    "optc_strip_acosh" formula_functions::<Acosh>();
    "optc_strip_atanh" formula_functions::<Atanh>();
    "optc_strip_rem" formula_functions::<Rem>();
    "optc_strip_pow" formula_functions::<Pow>();
}
