//! Instructions that load, convert and store four integers at once. Those of 8 bits are the `f32` that they
//! stand for, which hold each of them exactly; those of 32 bits are only loaded and converted to `f32`.

use crate::cranelift::{Emitter, Endianness, FloatCC, InstBuilder, MemFlagsData, PLAIN, Value, types};
use crate::elem::ElemType;

/// The sum of this number, one and a half times 2^23, and an integer of up to 22 bits has the integer in its
/// lowest bits.
const MAGIC: f32 = 12_582_912.0;

/// How many integers there are of 8 bits.
const BYTES: f32 = 256.0;

/// Whether elements are integers of 8 bits.
pub(super) fn is_byte(elem: ElemType) -> bool {
    matches!(elem, ElemType::Int { bits: 8, .. })
}

/// Whether elements are integers of 32 bits with a sign.
pub(super) fn is_word(elem: ElemType) -> bool {
    elem == ElemType::Int { bits: 32, signed: true }
}

/// The number that an integer of 8 bits is.
pub(super) fn number(elem: ElemType, bits: u64) -> f32 {
    if elem.is_signed() { f32::from((bits as u8).cast_signed()) } else { f32::from(bits as u8) }
}

/// Four integers of 8 bits in memory as `f32`.
pub(super) fn load_bytes(e: &mut Emitter<'_>, elem: ElemType, address: Value, offset: i32) -> Value {
    let four = e.ins.ins().load(types::I32, PLAIN, address, offset);
    let bytes = e.ins.ins().scalar_to_vector(types::I32X4, four);
    let bytes = e.ins.ins().bitcast(types::I8X16, lanes_in_order(), bytes);
    let words = if elem.is_signed() {
        let halves = e.ins.ins().swiden_low(bytes);
        e.ins.ins().swiden_low(halves)
    } else {
        let halves = e.ins.ins().uwiden_low(bytes);
        e.ins.ins().uwiden_low(halves)
    };
    from_words(e, words)
}

/// Stores four `f32` that are integers of 8 bits as these.
pub(super) fn store_bytes(e: &mut Emitter<'_>, elem: ElemType, value: Value, address: Value, offset: i32) {
    let magic = splat(e, MAGIC);
    let sum = e.ins.ins().fadd(value, magic);
    let [sum, magic] = [sum, magic].map(|x| e.ins.ins().bitcast(types::I32X4, lanes_in_order(), x));
    let words = e.ins.ins().isub(sum, magic);
    let halves = e.ins.ins().snarrow(words, words);
    let bytes = match elem.is_signed() {
        true => e.ins.ins().snarrow(halves, halves),
        false => e.ins.ins().unarrow(halves, halves),
    };
    // A lane of floats is stored without a detour.
    let fours = e.ins.ins().bitcast(types::F32X4, lanes_in_order(), bytes);
    let four = e.ins.ins().extractlane(fours, 0);
    e.ins.ins().store(PLAIN, four, address, offset);
}

/// Four integers of 32 bits as the nearest `f32`.
pub(super) fn from_words(e: &mut Emitter<'_>, words: Value) -> Value {
    e.ins.ins().fcvt_from_sint(types::F32X4, words)
}

/// Four `f32` cut towards zero to integers of 8 bits: they saturate, NaN gives 0. No zero has a sign.
pub(super) fn cut_to_bytes(e: &mut Emitter<'_>, elem: ElemType, floats: Value) -> Value {
    if !elem.is_signed() {
        // Zero is the least: NaN and a zero with a sign give it too.
        let inside = clamp(e, floats, 0.0, 255.0);
        return e.ins.ins().trunc(inside);
    }
    let is_number = e.ins.ins().fcmp(FloatCC::Ordered, floats, floats);
    let bits = e.ins.ins().bitcast(types::I32X4, lanes_in_order(), floats);
    let bits = e.ins.ins().band(bits, is_number);
    let numbers = e.ins.ins().bitcast(types::F32X4, lanes_in_order(), bits);
    let inside = clamp(e, numbers, -128.0, 127.0);
    let cut = e.ins.ins().trunc(inside);
    let zero = splat(e, 0.0);
    e.ins.ins().fadd(cut, zero)
}

/// Integers of 8 bits, as `f32`, with the same bits in a type that takes the upper half otherwise.
pub(super) fn change_sign(e: &mut Emitter<'_>, to: ElemType, bytes: Value) -> Value {
    let (distance, least) = if to.is_signed() { (-BYTES, 128.0) } else { (BYTES, 0.0) };
    let [distance, least] = [distance, least].map(|number| splat(e, number));
    let moved = e.ins.ins().fadd(bytes, distance);
    let is_less = e.ins.ins().fcmp(FloatCC::LessThan, bytes, least);
    match to.is_signed() {
        true => choose(e, is_less, bytes, moved),
        false => choose(e, is_less, moved, bytes),
    }
}

/// The nearest number in a range; NaN gives the least.
fn clamp(e: &mut Emitter<'_>, x: Value, least: f32, greatest: f32) -> Value {
    let [least, greatest] = [least, greatest].map(|bound| splat(e, bound));
    let is_above = e.ins.ins().fcmp(FloatCC::LessThan, least, x);
    let x = choose(e, is_above, x, least);
    let is_below = e.ins.ins().fcmp(FloatCC::LessThan, x, greatest);
    choose(e, is_below, x, greatest)
}

fn choose(e: &mut Emitter<'_>, mask: Value, a: Value, b: Value) -> Value {
    let mask = e.ins.ins().bitcast(types::F32X4, lanes_in_order(), mask);
    e.ins.ins().bitselect(mask, a, b)
}

fn splat(e: &mut Emitter<'_>, number: f32) -> Value {
    let number = e.ins.ins().f32const(number);
    e.ins.ins().splat(types::F32X4, number)
}

fn lanes_in_order() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}
