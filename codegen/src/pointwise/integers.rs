//! Scalar code for integers: arithmetic that wraps, and divisions, shifts and conversions that never trap.

use ir::scalar::{Binary, Unary};

use super::halves;
use crate::cranelift::{Clif, Emitter, FloatCC, InstBuilder, IntCC, Value, types};
use crate::elem::ElemType;

/// Whether the function is generated for elements of this type.
pub(super) fn has_binary(function: Binary, elem: ElemType) -> bool {
    use Binary::{And, Or, Xor};
    match elem {
        ElemType::Bool => {
            matches!(function, And | Or | Xor) || integer_condition(function, ElemType::Bool).is_some()
        }
        ElemType::Int { .. } => true,
        _ => false,
    }
}

/// A function of one integer (or truth value).
pub(super) fn unary(e: &mut Emitter<'_>, function: Unary, elem: ElemType, a: Value) -> Value {
    match function {
        Unary::Not if elem == ElemType::Bool => e.ins.ins().bxor_imm_u(a, 1),
        Unary::Not => e.ins.ins().bnot(a),
        Unary::Neg => e.ins.ins().ineg(a),
        Unary::Abs if elem.is_signed() => e.ins.ins().iabs(a),
        Unary::Abs => a,
        other => unreachable!("{other:?} of integers was refused"),
    }
}

/// A function of two integers (or truth values).
pub(super) fn binary(e: &mut Emitter<'_>, function: Binary, elem: ElemType, a: Value, b: Value) -> Value {
    if let Some(condition) = integer_condition(function, elem) {
        return e.ins.ins().icmp(condition, a, b);
    }
    match function {
        Binary::Add => e.ins.ins().iadd(a, b),
        Binary::Sub => e.ins.ins().isub(a, b),
        Binary::Mul => e.ins.ins().imul(a, b),
        Binary::And => e.ins.ins().band(a, b),
        Binary::Or => e.ins.ins().bor(a, b),
        Binary::Xor => e.ins.ins().bxor(a, b),
        Binary::Max if elem.is_signed() => e.ins.ins().smax(a, b),
        Binary::Max => e.ins.ins().umax(a, b),
        Binary::Min if elem.is_signed() => e.ins.ins().smin(a, b),
        Binary::Min => e.ins.ins().umin(a, b),
        Binary::Div | Binary::Rem => divide(e, function, elem, a, b),
        Binary::Shl | Binary::Shr => shift(e, function, elem, a, b),
        other => unreachable!("{other:?} of integers was refused"),
    }
}

/// Quotient or remainder. Division by 0 gives 0; the smallest number by -1 gives itself, with remainder 0.
fn divide(e: &mut Emitter<'_>, function: Binary, elem: ElemType, a: Value, b: Value) -> Value {
    let ty = elem.clif();
    let (zero, one) = (e.ins.ins().iconst(ty, 0), e.ins.ins().iconst(ty, 1));
    let by_zero = e.ins.ins().icmp(IntCC::Equal, b, zero);
    let safe = e.ins.ins().select(by_zero, one, b);
    let value = match (function, elem.is_signed()) {
        (Binary::Div, false) => e.ins.ins().udiv(a, safe),
        (_, false) => e.ins.ins().urem(a, safe),
        (_, true) => {
            // A division by -1 is a negation, which wraps where the division would trap.
            let minus_one = e.ins.ins().icmp_imm_s(IntCC::Equal, b, -1);
            let safe = e.ins.ins().select(minus_one, one, safe);
            let (value, by_minus_one) = match function {
                Binary::Div => (e.ins.ins().sdiv(a, safe), e.ins.ins().ineg(a)),
                _ => (e.ins.ins().srem(a, safe), zero),
            };
            e.ins.ins().select(minus_one, by_minus_one, value)
        }
    };
    e.ins.ins().select(by_zero, zero, value)
}

/// A shift by an unsigned number of bits; if that is the width or more, every bit is shifted out.
fn shift(e: &mut Emitter<'_>, function: Binary, elem: ElemType, a: Value, b: Value) -> Value {
    let ty = elem.clif();
    let most = i64::from(ty.bits()) - 1;
    let outside = e.ins.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, b, most);
    let last = e.ins.ins().iconst(ty, most);
    let zero = e.ins.ins().iconst(ty, 0);
    match function {
        Binary::Shr if elem.is_signed() => {
            let bits = e.ins.ins().select(outside, last, b);
            e.ins.ins().sshr(a, bits)
        }
        Binary::Shr => {
            let value = e.ins.ins().ushr(a, b);
            e.ins.ins().select(outside, zero, value)
        }
        _ => {
            let value = e.ins.ins().ishl(a, b);
            e.ins.ins().select(outside, zero, value)
        }
    }
}

/// Converts a value to another element type. Floats round to nearest even. Conversions to integers cut
/// towards zero and saturate; NaN gives 0. As a truth value, everything except zero is true.
pub(crate) fn convert(e: &mut Emitter<'_>, from: ElemType, to: ElemType, a: Value) -> Value {
    match (from, to) {
        (ElemType::F16, _) => halves::wide_f16(e, a),
        (ElemType::Bf16, _) => halves::wide_bf16(e, a),
        (ElemType::F32, ElemType::F16) => halves::narrow_f16(e, a),
        (ElemType::F32, ElemType::Bf16) => halves::narrow_bf16(e, a),
        (ElemType::F64, ElemType::F16 | ElemType::Bf16) => {
            let odd = halves::rounded_to_odd(e, a);
            convert(e, ElemType::F32, to, odd)
        }
        (ElemType::F32, ElemType::F64) => e.ins.ins().fpromote(types::F64, a),
        (ElemType::F64, ElemType::F32) => e.ins.ins().fdemote(types::F32, a),
        (ElemType::F32 | ElemType::F64, ElemType::Bool) => {
            let zero = match from {
                ElemType::F32 => e.ins.ins().f32const(0.0),
                _ => e.ins.ins().f64const(0.0),
            };
            e.ins.ins().fcmp(FloatCC::NotEqual, a, zero)
        }
        (ElemType::F32 | ElemType::F64, ElemType::Int { bits, .. }) => float_to_int(e, a, bits, to),
        (ElemType::F32, ElemType::F32) | (ElemType::F64, ElemType::F64) => a,
        (_, ElemType::Bool) => e.ins.ins().icmp_imm_s(IntCC::NotEqual, a, 0),
        (_, ElemType::F32 | ElemType::F64) => {
            let wide = resize(e, from, 64, a);
            match from.is_signed() {
                true => e.ins.ins().fcvt_from_sint(to.clif(), wide),
                false => e.ins.ins().fcvt_from_uint(to.clif(), wide),
            }
        }
        (_, ElemType::Int { bits, .. }) => resize(e, from, u32::from(bits), a),
        (_, ElemType::F16 | ElemType::Bf16) => unreachable!("floats of 16 bits are made from floats"),
    }
}

/// The low bits of an integer, or the integer extended according to its own sign.
fn resize(e: &mut Emitter<'_>, from: ElemType, bits: u32, a: Value) -> Value {
    let to = int_type(bits);
    match from.clif().bits() {
        had if had == bits => a,
        had if had > bits => e.ins.ins().ireduce(to, a),
        _ if from.is_signed() => e.ins.ins().sextend(to, a),
        _ => e.ins.ins().uextend(to, a),
    }
}

/// A float cut towards zero to an integer type `to` of `bits` bits; saturates, and NaN gives 0.
fn float_to_int(e: &mut Emitter<'_>, a: Value, bits: u8, to: ElemType) -> Value {
    let signed = to.is_signed();
    let wide = if bits == 64 { types::I64 } else { types::I32 };
    let value = match signed {
        true => e.ins.ins().fcvt_to_sint_sat(wide, a),
        false => e.ins.ins().fcvt_to_uint_sat(wide, a),
    };
    if bits >= 32 {
        return value;
    }
    let highest = (1i64 << (bits - u8::from(signed))) - 1;
    let high = e.ins.ins().iconst(wide, highest);
    let value = match signed {
        true => {
            let low = e.ins.ins().iconst(wide, -highest - 1);
            let value = e.ins.ins().smin(value, high);
            e.ins.ins().smax(value, low)
        }
        false => e.ins.ins().umin(value, high),
    };
    e.ins.ins().ireduce(int_type(u32::from(bits)), value)
}

fn int_type(bits: u32) -> Clif {
    Clif::int(bits as u16).expect("elements have 8 to 64 bits")
}

/// The condition of a comparison of integers or booleans.
pub(super) fn integer_condition(function: Binary, elem: ElemType) -> Option<IntCC> {
    let condition = match function {
        Binary::Eq => IntCC::Equal,
        Binary::Ne => IntCC::NotEqual,
        Binary::Lt => IntCC::SignedLessThan,
        Binary::Le => IntCC::SignedLessThanOrEqual,
        Binary::Gt => IntCC::SignedGreaterThan,
        Binary::Ge => IntCC::SignedGreaterThanOrEqual,
        _ => return None,
    };
    Some(if elem.is_signed() { condition } else { condition.unsigned() })
}
