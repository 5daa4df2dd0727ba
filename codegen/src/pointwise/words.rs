//! Vector code on four integers, each in a 32-bit lane: loads, conversions, arithmetic and stores.
//!
//! A narrower integer is extended according to its sign. A truth value is a mask. An `f16` is kept as its
//! bits.

use ir::scalar::{Binary, Unary};

use super::halves;
use super::integers::integer_condition;
use crate::cranelift::{
    Clif, Emitter, Endianness, FloatCC, InstBuilder, IntCC, MemFlagsData, PLAIN, Value, types,
};
use crate::elem::ElemType;

/// Whether four elements of this type fit a vector register: those of 64 bits do not.
pub(super) fn has_lanes(elem: ElemType) -> bool {
    !matches!(elem, ElemType::F64 | ElemType::Int { bits: 64, .. })
}

/// Whether elements of this type are float lanes in a register.
pub(super) fn has_float_lanes(elem: ElemType) -> bool {
    matches!(elem, ElemType::F32 | ElemType::Bf16)
}

/// Whether four integers or truth values have instructions for the function.
pub(super) fn has_binary(function: Binary) -> bool {
    !matches!(function, Binary::Div | Binary::Rem | Binary::Pow | Binary::Shl | Binary::Shr)
}

/// Loads four contiguous elements.
pub(super) fn load(e: &mut Emitter<'_>, elem: ElemType, address: Value, offset: i32) -> Value {
    match elem {
        ElemType::F32 => e.ins.ins().load(types::F32X4, PLAIN, address, offset),
        ElemType::Bf16 => halves::load_bf16(e, address, offset),
        ElemType::Int { bits: 16, signed: true } => e.ins.ins().sload16x4(PLAIN, address, offset),
        ElemType::Int { bits: 16, .. } | ElemType::F16 => e.ins.ins().uload16x4(PLAIN, address, offset),
        ElemType::Bool => {
            let words = load_bytes(e, elem, address, offset);
            is_not_zero(e, words)
        }
        ElemType::Int { bits: 8, .. } => load_bytes(e, elem, address, offset),
        _ => e.ins.ins().load(types::I32X4, PLAIN, address, offset),
    }
}

fn load_bytes(e: &mut Emitter<'_>, elem: ElemType, address: Value, offset: i32) -> Value {
    let four = e.ins.ins().load(types::I32, PLAIN, address, offset);
    let bytes = e.ins.ins().scalar_to_vector(types::I32X4, four);
    let bytes = cast(e, types::I8X16, bytes);
    if elem.is_signed() {
        let halves = e.ins.ins().swiden_low(bytes);
        e.ins.ins().swiden_low(halves)
    } else {
        let halves = e.ins.ins().uwiden_low(bytes);
        e.ins.ins().uwiden_low(halves)
    }
}

/// Stores four contiguous elements.
pub(super) fn store(e: &mut Emitter<'_>, elem: ElemType, value: Value, address: Value, offset: i32) {
    match elem {
        ElemType::Bf16 => halves::store_bf16(e, value, address, offset),
        ElemType::Int { bits: 8, .. } => store_bytes(e, elem, value, address, offset),
        ElemType::Bool => {
            let words = masked(e, value, 1);
            store_bytes(e, elem, words, address, offset);
        }
        ElemType::Int { bits: 16, .. } | ElemType::F16 => {
            let halves = match elem.is_signed() {
                true => e.ins.ins().snarrow(value, value),
                false => e.ins.ins().unarrow(value, value),
            };
            store_lane(e, types::F64X2, halves, address, offset);
        }
        _ => _ = e.ins.ins().store(PLAIN, value, address, offset),
    }
}

fn store_bytes(e: &mut Emitter<'_>, elem: ElemType, words: Value, address: Value, offset: i32) {
    let halves = e.ins.ins().snarrow(words, words);
    let bytes = match elem.is_signed() {
        true => e.ins.ins().snarrow(halves, halves),
        false => e.ins.ins().unarrow(halves, halves),
    };
    store_lane(e, types::F32X4, bytes, address, offset);
}

/// Stores the first lane of a vector of floats: one instruction, not through a general register.
fn store_lane(e: &mut Emitter<'_>, ty: Clif, register: Value, address: Value, offset: i32) {
    let lanes = cast(e, ty, register);
    let lane = e.ins.ins().extractlane(lanes, 0);
    e.ins.ins().store(PLAIN, lane, address, offset);
}

/// A function of one integer or truth value.
pub(super) fn unary(e: &mut Emitter<'_>, function: Unary, elem: ElemType, a: Value) -> Value {
    let value = match function {
        Unary::Not => e.ins.ins().bnot(a),
        Unary::Neg => e.ins.ins().ineg(a),
        Unary::Abs if elem.is_signed() => e.ins.ins().iabs(a),
        Unary::Abs => a,
        other => unreachable!("{other:?} of integers was refused"),
    };
    wrapped(e, elem, value)
}

/// A function of two integers or truth values.
pub(super) fn binary(e: &mut Emitter<'_>, function: Binary, elem: ElemType, a: Value, b: Value) -> Value {
    if let Some(condition) = integer_condition(function, elem) {
        return e.ins.ins().icmp(condition, a, b);
    }
    let value = match function {
        Binary::Add => e.ins.ins().iadd(a, b),
        Binary::Sub => e.ins.ins().isub(a, b),
        Binary::Mul => e.ins.ins().imul(a, b),
        Binary::And => return e.ins.ins().band(a, b),
        Binary::Or => return e.ins.ins().bor(a, b),
        Binary::Xor => return e.ins.ins().bxor(a, b),
        Binary::Max if elem.is_signed() => return e.ins.ins().smax(a, b),
        Binary::Max => return e.ins.ins().umax(a, b),
        Binary::Min if elem.is_signed() => return e.ins.ins().smin(a, b),
        Binary::Min => return e.ins.ins().umin(a, b),
        other => unreachable!("{other:?} of integers is computed one by one"),
    };
    wrapped(e, elem, value)
}

/// Wraps each lane to the element's bits and extends it again. (A mask needs no wrapping.)
fn wrapped(e: &mut Emitter<'_>, elem: ElemType, words: Value) -> Value {
    match elem {
        ElemType::Int { bits: bits @ (8 | 16), signed: true } => {
            let unused = i64::from(32 - bits);
            let upper = e.ins.ins().ishl_imm_u(words, unused);
            e.ins.ins().sshr_imm_u(upper, unused)
        }
        ElemType::Int { bits: bits @ (8 | 16), .. } => masked(e, words, (1 << bits) - 1),
        _ => words,
    }
}

/// Four elements in another type: see [`super::integers::convert`].
pub(super) fn convert(e: &mut Emitter<'_>, from: ElemType, to: ElemType, a: Value) -> Value {
    match (from, to) {
        (ElemType::F16, _) => halves::wide_f16(e, a),
        (ElemType::Bf16, _) => a,
        (ElemType::F32, ElemType::F16) => halves::narrow_f16(e, a),
        (_, ElemType::Bf16) => halves::round_to_bf16(e, a),
        (ElemType::F32, ElemType::Bool) => {
            let zero = splat(e, 0.0);
            let floats = in_register(e, a);
            e.ins.ins().fcmp(FloatCC::NotEqual, floats, zero)
        }
        (ElemType::F32, to) => cut(e, to, a),
        (_, ElemType::Bool) => is_not_zero(e, a),
        (ElemType::Bool, ElemType::F32) => {
            let bits = masked(e, a, 1f32.to_bits());
            cast(e, types::F32X4, bits)
        }
        (ElemType::Int { bits: 32, signed: false }, ElemType::F32) => {
            e.ins.ins().fcvt_from_uint(types::F32X4, a)
        }
        (_, ElemType::F32) => e.ins.ins().fcvt_from_sint(types::F32X4, a),
        (ElemType::Bool, _) => masked(e, a, 1),
        (_, to) => wrapped(e, to, a),
    }
}

/// Four `f32` cut towards zero to integers: they saturate, NaN gives 0.
fn cut(e: &mut Emitter<'_>, to: ElemType, floats: Value) -> Value {
    match (to, to.range()) {
        (ElemType::Int { bits: 32, signed: true }, _) => e.ins.ins().fcvt_to_sint_sat(types::I32X4, floats),
        (ElemType::Int { signed: false, bits: 8 | 16 }, Some((_, greatest))) => {
            // Zero is the lower bound, so NaN gives 0 too.
            let inside = clamp(e, floats, 0.0, greatest as f32);
            e.cut_to_words(inside)
        }
        (ElemType::Int { signed: true, .. }, Some((least, greatest))) => {
            let is_number = e.ins.ins().fcmp(FloatCC::Ordered, floats, floats);
            let bits = cast(e, types::I32X4, floats);
            let bits = e.ins.ins().band(bits, is_number);
            let numbers = cast(e, types::F32X4, bits);
            let inside = clamp(e, numbers, least as f32, greatest as f32);
            e.cut_to_words(inside)
        }
        _ => e.ins.ins().fcvt_to_uint_sat(types::I32X4, floats),
    }
}

/// `x` clamped to a range; NaN gives the lower bound.
fn clamp(e: &mut Emitter<'_>, x: Value, least: f32, greatest: f32) -> Value {
    let [least, greatest] = [least, greatest].map(|bound| splat(e, bound));
    let is_above = e.ins.ins().fcmp(FloatCC::LessThan, least, x);
    let x = choose(e, is_above, x, least);
    let is_below = e.ins.ins().fcmp(FloatCC::LessThan, x, greatest);
    choose(e, is_below, x, greatest)
}

/// Floats of the first register where the mask is set, otherwise of the second.
pub(super) fn choose(e: &mut Emitter<'_>, mask: Value, a: Value, b: Value) -> Value {
    let mask = cast(e, types::F32X4, mask);
    e.ins.ins().bitselect(mask, a, b)
}

/// The same floats, forced into a register so that a comparison cannot fold their load. Before AVX, `cmpps`
/// faults on an address that is no multiple of 16; Cranelift 0.135 folds unaligned loads into no other
/// instruction.
pub(super) fn in_register(e: &mut Emitter<'_>, floats: Value) -> Value {
    let bits = cast(e, types::I32X4, floats);
    cast(e, types::F32X4, bits)
}

fn is_not_zero(e: &mut Emitter<'_>, words: Value) -> Value {
    let zero = e.ins.ins().iconst(types::I32, 0);
    let zero = e.ins.ins().splat(types::I32X4, zero);
    e.ins.ins().icmp(IntCC::NotEqual, words, zero)
}

/// Each lane masked by these bits.
fn masked(e: &mut Emitter<'_>, words: Value, mask: u32) -> Value {
    let mask = e.ins.ins().iconst(types::I32, i64::from(mask));
    let mask = e.ins.ins().splat(types::I32X4, mask);
    e.ins.ins().band(words, mask)
}

fn splat(e: &mut Emitter<'_>, number: f32) -> Value {
    let number = e.ins.ins().f32const(number);
    e.ins.ins().splat(types::F32X4, number)
}

/// The same register with lanes of another type.
pub(super) fn cast(e: &mut Emitter<'_>, ty: Clif, register: Value) -> Value {
    e.ins.ins().bitcast(ty, MemFlagsData::new().with_endianness(Endianness::Little), register)
}
