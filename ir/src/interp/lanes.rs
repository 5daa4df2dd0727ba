//! Scalar operations on lanes.
//!
//! This file defines the meaning of [`Unary`] and [`Binary`]: on floats by [`math`](crate::math), on integers
//! with wrapping, guarded divisions and shifts. The loops are also compiled for the machine's vector unit,
//! without changing any bit of the results.

use super::element::{Elem, Extension, IntElem};
use super::registers::{LaneValues, Register};
use super::tensor::EvalError;
use super::vector::vectorised;
use crate::narrow::{nearest_bf16, nearest_f16};
use crate::scalar::{Binary, Unary};
use ::math;

/// Whether the operation returns a boolean.
pub(super) fn compares(binary: Binary) -> bool {
    matches!(binary, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge)
}

/// Whether the operation is defined on elements of this type.
///
/// # Errors
/// If it is not.
pub(super) fn check_unary(unary: Unary, elem: Elem) -> Result<(), EvalError> {
    let is_int = matches!(elem, Elem::Int(_));
    let fits = match unary {
        Unary::Neg | Unary::Abs => true,
        Unary::Not => is_int,
        _ => !is_int,
    };
    if fits { Ok(()) } else { Err(format!("{unary:?} is not defined on `{elem}`").into()) }
}

/// Whether the operation is defined on elements of this type.
///
/// # Errors
/// If it is not.
pub(super) fn check_binary(binary: Binary, elem: Elem) -> Result<(), EvalError> {
    let is_int = matches!(elem, Elem::Int(_));
    let of_bits = matches!(binary, Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr);
    if of_bits && !is_int { Err(format!("{binary:?} is not defined on `{elem}`").into()) } else { Ok(()) }
}

#[inline(always)]
fn map1<A: Register, R: Register>(target: &mut LaneValues, a: &LaneValues, count: usize, f: impl Fn(A) -> R) {
    let target = &mut R::of_mut(target)[..count];
    let a = &A::of(a)[..count];
    vectorised(
        #[inline(always)]
        || {
            for (target, a) in target.iter_mut().zip(a) {
                *target = f(*a);
            }
        },
    );
}

#[inline(always)]
fn map2<A: Register, R: Register>(
    target: &mut LaneValues,
    [a, b]: [&LaneValues; 2],
    count: usize,
    f: impl Fn(A, A) -> R,
) {
    let target = &mut R::of_mut(target)[..count];
    let a = &A::of(a)[..count];
    let b = &A::of(b)[..count];
    vectorised(
        #[inline(always)]
        || {
            for ((target, a), b) in target.iter_mut().zip(a).zip(b) {
                *target = f(*a, *b);
            }
        },
    );
}

/// `target = unary(a)`.
pub(super) fn unary(unary: Unary, elem: Elem, target: &mut LaneValues, a: &LaneValues, count: usize) {
    match elem {
        Elem::F16 | Elem::Bf16 | Elem::F32 => unary_f32(unary, target, a, count),
        Elem::F64 => map1(target, a, count, |x: f64| unary_f64(unary, x)),
        Elem::Int(int) => map1(target, a, count, |x: i64| unary_int(unary, int, x)),
    }
}

fn unary_f32(unary: Unary, target: &mut LaneValues, a: &LaneValues, n: usize) {
    match unary {
        Unary::Neg => map1(target, a, n, |x: f32| -x),
        Unary::Abs => map1(target, a, n, f32::abs),
        Unary::Sqrt => map1(target, a, n, f32::sqrt),
        Unary::Floor => map1(target, a, n, f32::floor),
        Unary::Ceil => map1(target, a, n, f32::ceil),
        Unary::RoundEven => map1(target, a, n, f32::round_ties_even),
        Unary::Exp => map1(target, a, n, math::exp),
        Unary::Log => map1(target, a, n, math::log),
        Unary::Tanh => map1(target, a, n, math::tanh),
        Unary::Erf => map1(target, a, n, math::erf),
        Unary::Sigmoid => map1(target, a, n, math::sigmoid),
        Unary::Gelu => map1(target, a, n, math::gelu),
        Unary::GeluTanh => map1(target, a, n, math::gelu_tanh),
        Unary::Sin => map1(target, a, n, math::sin),
        Unary::Cos => map1(target, a, n, math::cos),
        Unary::Tan => map1(target, a, n, math::tan),
        Unary::Asin => map1(target, a, n, math::asin),
        Unary::Acos => map1(target, a, n, math::acos),
        Unary::Atan => map1(target, a, n, math::atan),
        Unary::Sinh => map1(target, a, n, math::sinh),
        Unary::Cosh => map1(target, a, n, math::cosh),
        Unary::Asinh => map1(target, a, n, math::asinh),
        Unary::Acosh => map1(target, a, n, math::acosh),
        Unary::Atanh => map1(target, a, n, math::atanh),
        Unary::Not => unreachable!("floats have no `not`"),
    }
}

fn unary_f64(unary: Unary, x: f64) -> f64 {
    match unary {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Sqrt => x.sqrt(),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::RoundEven => x.round_ties_even(),
        Unary::Exp => libm::exp(x),
        Unary::Log => libm::log(x),
        Unary::Tanh => libm::tanh(x),
        Unary::Erf => libm::erf(x),
        Unary::Sigmoid => math::sigmoid_f64(x),
        Unary::Gelu => math::gelu_f64(x),
        Unary::GeluTanh => math::gelu_tanh_f64(x),
        Unary::Sin => libm::sin(x),
        Unary::Cos => libm::cos(x),
        Unary::Tan => libm::tan(x),
        Unary::Asin => libm::asin(x),
        Unary::Acos => libm::acos(x),
        Unary::Atan => libm::atan(x),
        Unary::Sinh => libm::sinh(x),
        Unary::Cosh => libm::cosh(x),
        Unary::Asinh => libm::asinh(x),
        Unary::Acosh => libm::acosh(x),
        Unary::Atanh => libm::atanh(x),
        Unary::Not => unreachable!("floats have no `not`"),
    }
}

fn unary_int(unary: Unary, int: IntElem, x: i64) -> i64 {
    let value = match unary {
        Unary::Neg => x.wrapping_neg(),
        Unary::Abs if int.number(x) < 0 => x.wrapping_neg(),
        Unary::Abs => x,
        Unary::Not => !x,
        other => unreachable!("integers have no {other:?}"),
    };
    int.wrap(value)
}

/// `target = binary(a, b)`.
pub(super) fn binary(
    binary: Binary,
    elem: Elem,
    target: &mut LaneValues,
    ab: [&LaneValues; 2],
    count: usize,
) {
    match elem {
        Elem::Int(int) => map2(target, ab, count, |a: i64, b: i64| binary_int(binary, int, a, b)),
        Elem::F64 if compares(binary) => compare_floats::<f64>(binary, target, ab, count),
        Elem::F64 => map2(target, ab, count, |a: f64, b: f64| binary_f64(binary, a, b)),
        _ if compares(binary) => compare_floats::<f32>(binary, target, ab, count),
        _ => binary_f32(binary, target, ab, count),
    }
}

fn compare_floats<F: Register>(binary: Binary, target: &mut LaneValues, ab: [&LaneValues; 2], n: usize) {
    match binary {
        Binary::Eq => map2(target, ab, n, |a: F, b: F| i64::from(a == b)),
        Binary::Ne => map2(target, ab, n, |a: F, b: F| i64::from(a != b)),
        Binary::Lt => map2(target, ab, n, |a: F, b: F| i64::from(a < b)),
        Binary::Le => map2(target, ab, n, |a: F, b: F| i64::from(a <= b)),
        Binary::Gt => map2(target, ab, n, |a: F, b: F| i64::from(a > b)),
        Binary::Ge => map2(target, ab, n, |a: F, b: F| i64::from(a >= b)),
        other => unreachable!("{other:?} does not compare"),
    }
}

fn binary_f32(binary: Binary, target: &mut LaneValues, ab: [&LaneValues; 2], n: usize) {
    match binary {
        Binary::Add => map2(target, ab, n, |a: f32, b: f32| a + b),
        Binary::Sub => map2(target, ab, n, |a: f32, b: f32| a - b),
        Binary::Mul => map2(target, ab, n, |a: f32, b: f32| a * b),
        Binary::Div => map2(target, ab, n, |a: f32, b: f32| a / b),
        Binary::Rem => map2(target, ab, n, |a: f32, b: f32| a % b),
        Binary::Max => map2(target, ab, n, math::max::<f32>),
        Binary::Min => map2(target, ab, n, math::min::<f32>),
        Binary::Pow => map2(target, ab, n, math::pow),
        other => unreachable!("floats have no {other:?}"),
    }
}

fn binary_f64(binary: Binary, a: f64, b: f64) -> f64 {
    match binary {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => a % b,
        Binary::Max => math::max(a, b),
        Binary::Min => math::min(a, b),
        Binary::Pow => libm::pow(a, b),
        other => unreachable!("floats have no {other:?}"),
    }
}

fn binary_int(binary: Binary, int: IntElem, a: i64, b: i64) -> i64 {
    let (x, y) = (int.number(a), int.number(b));
    let value = match binary {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div => (if y == 0 { 0 } else { x / y }) as i64,
        Binary::Rem => (if y == 0 { 0 } else { x % y }) as i64,
        Binary::Max => (if x > y { x } else { y }) as i64,
        Binary::Min => (if x < y { x } else { y }) as i64,
        Binary::Pow if int.extension == Extension::Zero => math::power_u64(a as u64, b as u64) as i64,
        Binary::Pow => math::power_i64(a, b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl | Binary::Shr => shift(binary, int, a, b),
        Binary::Eq => i64::from(x == y),
        Binary::Ne => i64::from(x != y),
        Binary::Lt => i64::from(x < y),
        Binary::Le => i64::from(x <= y),
        Binary::Gt => i64::from(x > y),
        Binary::Ge => i64::from(x >= y),
    };
    int.wrap(value)
}

/// A shift by `b` bits, read as an unsigned number. A shift by at least the width moves all bits out.
fn shift(binary: Binary, int: IntElem, a: i64, b: i64) -> i64 {
    let bits = IntElem { extension: Extension::Zero, ..int }.wrap(b) as u64;
    let outside = bits >= u64::from(int.width);
    match binary {
        Binary::Shl if outside => 0,
        Binary::Shl => a << bits,
        _ => (int.number(a) >> bits.min(64)) as i64,
    }
}

/// `target = a * b + c`.
pub(super) fn fma(elem: Elem, target: &mut LaneValues, abc: [&LaneValues; 3], count: usize) {
    match elem {
        Elem::F16 | Elem::Bf16 | Elem::F32 => fma_lanes::<f32>(target, abc, count, |lane| lane),
        Elem::F64 => fma_lanes::<f64>(target, abc, count, |lane| lane),
        Elem::Int(int) => fma_lanes::<i64>(target, abc, count, |lane| int.wrap(lane)),
    }
}

fn fma_lanes<L: Register>(
    target: &mut LaneValues,
    [a, b, c]: [&LaneValues; 3],
    n: usize,
    wrap: impl Fn(L) -> L,
) {
    let target = &mut L::of_mut(target)[..n];
    let a = &L::of(a)[..n];
    let b = &L::of(b)[..n];
    let c = &L::of(c)[..n];
    vectorised(
        #[inline(always)]
        || {
            for (i, target) in target.iter_mut().enumerate() {
                *target = wrap(a[i].fma(b[i], c[i]));
            }
        },
    );
}

/// `target = condition ? a : b`.
pub(super) fn select(target: &mut LaneValues, abc: [&LaneValues; 3], count: usize) {
    match target {
        LaneValues::F32(_) => select_lanes::<f32>(target, abc, count),
        LaneValues::F64(_) => select_lanes::<f64>(target, abc, count),
        LaneValues::Int(_) => select_lanes::<i64>(target, abc, count),
    }
}

fn select_lanes<L: Register>(target: &mut LaneValues, [condition, a, b]: [&LaneValues; 3], count: usize) {
    let condition = i64::of(condition);
    let a = L::of(a);
    let b = L::of(b);
    for (i, target) in L::of_mut(target)[..count].iter_mut().enumerate() {
        *target = if condition[i] != 0 { a[i] } else { b[i] };
    }
}

/// `target = a` in the type `to`. Floats round to nearest even. Conversions to integers truncate toward zero
/// and saturate, and NaN gives 0. Conversions to booleans give true for all values except zero. Integers
/// wrap.
pub(super) fn convert(from: Elem, to: Elem, target: &mut LaneValues, a: &LaneValues, count: usize) {
    match (from, to) {
        (Elem::F64, Elem::F64) => map1(target, a, count, |x: f64| x),
        (Elem::F64, Elem::Int(int)) => map1(target, a, count, |x: f64| int_of_float(int, x)),
        (Elem::F64, _) => map1(target, a, count, |x: f64| narrow(to, x)),
        (Elem::Int(int), Elem::F64) => map1(target, a, count, |x: i64| int.number(x) as f64),
        (Elem::Int(_), Elem::Int(bool)) if bool.width == 1 => {
            map1(target, a, count, |x: i64| i64::from(x != 0))
        }
        (Elem::Int(_), Elem::Int(to)) => map1(target, a, count, |x: i64| to.wrap(x)),
        (Elem::Int(int), _) => map1(target, a, count, |x: i64| int.number(x) as f32),
        (_, Elem::F64) => map1(target, a, count, |x: f32| f64::from(x)),
        (_, Elem::Int(int)) => map1(target, a, count, |x: f32| int_of_float(int, x.into())),
        (_, _) => map1(target, a, count, |x: f32| narrow(to, x.into())),
    }
}

/// `target` = the lowest bits of the integers `a`, in the integer type `to`.
pub(super) fn resize(to: Elem, target: &mut LaneValues, a: &LaneValues, count: usize) {
    let Elem::Int(int) = to else { unreachable!("{to:?} has no lowest bits") };
    map1(target, a, count, |x: i64| int.wrap(x));
}

fn int_of_float(int: IntElem, value: f64) -> i64 {
    if int.width == 1 {
        return i64::from(value != 0.0);
    }
    let (low, high) = int.range();
    (value as i128).clamp(low, high) as i64
}

/// The `f32` lane of a number rounded once to a narrow float type.
fn narrow(to: Elem, value: f64) -> f32 {
    match to {
        Elem::F16 => nearest_f16(value).to_f32(),
        Elem::Bf16 => nearest_bf16(value).to_f32(),
        _ => value as f32,
    }
}
