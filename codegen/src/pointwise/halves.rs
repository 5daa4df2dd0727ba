//! Conversions of 16-bit floats to `f32` and back: one, or four in 32-bit lanes. They are integers in
//! registers.
//!
//! Rounding is to nearest, ties to even; a NaN becomes a quiet one. A number too small for a normal `f16` is
//! rounded by adding a constant whose last digit has the weight of the subnormal's last digit (Giesen, \"half
//! to float done quick\", 2012).

use crate::cranelift::{
    Clif, Emitter, Endianness, FloatCC, InstBuilder, IntCC, MemFlagsData, PLAIN, Value, types,
};

/// The bits of infinity in `f32`.
const INFINITY: i64 = 0x7f80_0000;
/// 2^-14, the least normal `f16`.
const LEAST_NORMAL: i64 = 0x3880_0000;
/// 2^16, above every finite `f16`.
const BEYOND: i64 = 0x4780_0000;
/// One half: its last digit as an `f32` is 2^-24, the last digit of a subnormal `f16`.
const HALF: i64 = 0x3f00_0000;
/// The difference of the exponent biases of `f32` and `f16`.
const REBIAS: i64 = 112 << 23;

/// A register type with as many lanes as `like`, of 32-bit integers or of `f32`.
fn lanes_of(e: &Emitter<'_>, like: Value, lane: Clif) -> Clif {
    let lanes = e.ins.func.dfg.value_type(like).lane_count();
    if lanes == 1 { lane } else { lane.by(lanes).expect("there are four lanes") }
}

fn to_float(e: &mut Emitter<'_>, bits: Value) -> Value {
    let ty = lanes_of(e, bits, types::F32);
    e.ins.ins().bitcast(ty, lanes_in_order(), bits)
}

fn to_bits(e: &mut Emitter<'_>, float: Value) -> Value {
    let ty = lanes_of(e, float, types::I32);
    e.ins.ins().bitcast(ty, lanes_in_order(), float)
}

/// A number in each lane of a register like `like`.
fn constant(e: &mut Emitter<'_>, like: Value, number: i64) -> Value {
    let word = e.ins.ins().iconst(types::I32, i64::from(number as u32));
    match lanes_of(e, like, types::I32) {
        types::I32 => word,
        ty => e.ins.ins().splat(ty, word),
    }
}

fn and(e: &mut Emitter<'_>, words: Value, mask: i64) -> Value {
    let mask = constant(e, words, mask);
    e.ins.ins().band(words, mask)
}

fn or(e: &mut Emitter<'_>, words: Value, bits: i64) -> Value {
    let bits = constant(e, words, bits);
    e.ins.ins().bor(words, bits)
}

fn plus(e: &mut Emitter<'_>, words: Value, number: i64) -> Value {
    let number = constant(e, words, number);
    e.ins.ins().iadd(words, number)
}

/// Lanes of `a` where `words` have this relation to a number, otherwise lanes of `b`. The words are not
/// negative.
fn choose(e: &mut Emitter<'_>, relation: IntCC, [words, a, b]: [Value; 3], number: i64) -> Value {
    let number = constant(e, words, number);
    let holds = e.ins.ins().icmp(relation, words, number);
    match lanes_of(e, words, types::I32) {
        types::I32 => e.ins.ins().select(holds, a, b),
        _ => e.ins.ins().bitselect(holds, a, b),
    }
}

/// An `f64` rounded to odd: if it is no `f32`, its neighbour whose last bit is 1, so that it may be rounded
/// again (see [`ir::narrow`]).
pub(super) fn rounded_to_odd(e: &mut Emitter<'_>, double: Value) -> Value {
    let nearest = e.ins.ins().fdemote(types::F32, double);
    let wide = e.ins.ins().fpromote(types::F64, nearest);
    let is_exact = e.ins.ins().fcmp(FloatCC::UnorderedOrEqual, wide, double);
    let [magnitude, of_double] = [wide, double].map(|number| e.ins.ins().fabs(number));
    let is_beyond = e.ins.ins().fcmp(FloatCC::GreaterThan, magnitude, of_double);
    let is_beyond = e.ins.ins().uextend(types::I32, is_beyond);
    let bits = to_bits(e, nearest);
    let towards_zero = e.ins.ins().isub(bits, is_beyond);
    let odd = e.ins.ins().bor_imm_s(towards_zero, 1);
    let odd = to_float(e, odd);
    e.ins.ins().select(is_exact, nearest, odd)
}

/// `bf16` as `f32`: the same bits, then zeros.
pub(super) fn wide_bf16(e: &mut Emitter<'_>, half: Value) -> Value {
    let wide = e.ins.ins().uextend(types::I32, half);
    let bits = e.ins.ins().ishl_imm_u(wide, 16);
    to_float(e, bits)
}

/// The nearest `bf16`.
pub(super) fn narrow_bf16(e: &mut Emitter<'_>, float: Value) -> Value {
    let bits = to_bits(e, float);
    let upper = e.ins.ins().ushr_imm_u(bits, 16);
    let quiet = e.ins.ins().bor_imm_s(upper, 0x40);
    let odd = e.ins.ins().band_imm_s(upper, 1);
    let below_half = e.ins.ins().iadd_imm_s(bits, 0x7fff);
    let carried = e.ins.ins().iadd(below_half, odd);
    let rounded = e.ins.ins().ushr_imm_u(carried, 16);
    let size = e.ins.ins().band_imm_s(bits, 0x7fff_ffff);
    let is_nan = e.ins.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, size, INFINITY);
    let bits = e.ins.ins().select(is_nan, quiet, rounded);
    e.ins.ins().ireduce(types::I16, bits)
}

/// Four `bf16` in memory as `f32`.
pub(super) fn load_bf16(e: &mut Emitter<'_>, address: Value, offset: i32) -> Value {
    let halves = e.ins.ins().uload16x4(PLAIN, address, offset);
    let bits = e.ins.ins().ishl_imm_u(halves, 16);
    e.ins.ins().bitcast(types::F32X4, lanes_in_order(), bits)
}

/// Stores four `f32` that hold `bf16` numbers as `bf16`.
pub(super) fn store_bf16(e: &mut Emitter<'_>, value: Value, address: Value, offset: i32) {
    let bits = e.ins.ins().bitcast(types::I32X4, lanes_in_order(), value);
    let upper = e.ins.ins().ushr_imm_u(bits, 16);
    let halves = e.ins.ins().unarrow(upper, upper);
    let pairs = e.ins.ins().bitcast(types::I64X2, lanes_in_order(), halves);
    let four = e.ins.ins().extractlane(pairs, 0);
    e.ins.ins().store(PLAIN, four, address, offset);
}

/// The nearest `bf16` of four `f32`, as `f32`.
pub(super) fn round_to_bf16(e: &mut Emitter<'_>, floats: Value) -> Value {
    let bits = e.ins.ins().bitcast(types::I32X4, lanes_in_order(), floats);
    let odd = e.ins.ins().ushr_imm_u(bits, 16);
    let [one, below_half, upper, quiet] = [1, 0x7fff, 0xffff_0000_u32 as i32, 0x40_0000].map(|number| {
        let number = e.ins.ins().iconst(types::I32, i64::from(number as u32));
        e.ins.ins().splat(types::I32X4, number)
    });
    let odd = e.ins.ins().band(odd, one);
    let rounded = e.ins.ins().iadd(bits, below_half);
    let rounded = e.ins.ins().iadd(rounded, odd);
    let nan = e.ins.ins().bor(bits, quiet);
    let is_number = e.ins.ins().fcmp(FloatCC::Ordered, floats, floats);
    let nearest = e.ins.ins().bitselect(is_number, rounded, nan);
    let nearest = e.ins.ins().band(nearest, upper);
    e.ins.ins().bitcast(types::F32X4, lanes_in_order(), nearest)
}

fn lanes_in_order() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

/// `f16` as `f32`: one of 16 bits, or four in 32-bit lanes.
pub(super) fn wide_f16(e: &mut Emitter<'_>, half: Value) -> Value {
    let wide = match e.ins.func.dfg.value_type(half) {
        types::I16 => e.ins.ins().uextend(types::I32, half),
        _ => half,
    };
    let sign = and(e, wide, 0x8000);
    let sign = e.ins.ins().ishl_imm_u(sign, 16);
    let size = and(e, wide, 0x7fff);
    let shifted = e.ins.ins().ishl_imm_u(size, 13);
    let small = to_float(e, shifted);
    let factor = constant(e, wide, 0x7780_0000);
    let factor = to_float(e, factor);
    let finite = e.ins.ins().fmul(small, factor);
    let finite = to_bits(e, finite);
    let infinite = plus(e, shifted, 2 * REBIAS);
    let quiet = or(e, infinite, 0x40_0000);
    let infinite = choose(e, IntCC::SignedGreaterThan, [size, quiet, infinite], 0x7c00);
    let bits = choose(e, IntCC::SignedLessThan, [size, finite, infinite], 0x7c00);
    let bits = e.ins.ins().bor(bits, sign);
    to_float(e, bits)
}

/// The nearest `f16`: one of 16 bits, or four in 32-bit lanes.
pub(super) fn narrow_f16(e: &mut Emitter<'_>, float: Value) -> Value {
    let bits = to_bits(e, float);
    let sign = e.ins.ins().ushr_imm_u(bits, 16);
    let sign = and(e, sign, 0x8000);
    let size = and(e, bits, 0x7fff_ffff);
    let upper = e.ins.ins().ushr_imm_u(size, 13);
    let odd = and(e, upper, 1);
    let rounded = plus(e, size, 0xfff - REBIAS);
    let rounded = e.ins.ins().iadd(rounded, odd);
    let normal = e.ins.ins().ushr_imm_u(rounded, 13);
    let half = constant(e, bits, HALF);
    let half = to_float(e, half);
    let magnitude = to_float(e, size);
    let moved = e.ins.ins().fadd(magnitude, half);
    let moved = to_bits(e, moved);
    let small = plus(e, moved, -HALF);
    let finite = choose(e, IntCC::SignedLessThan, [size, small, normal], LEAST_NORMAL);
    let infinity = constant(e, bits, 0x7c00);
    let payload = and(e, upper, 0x1ff);
    let nan = or(e, payload, 0x7e00);
    let beyond = choose(e, IntCC::SignedGreaterThan, [size, nan, infinity], INFINITY);
    let bits = choose(e, IntCC::SignedGreaterThanOrEqual, [size, beyond, finite], BEYOND);
    let bits = e.ins.ins().bor(bits, sign);
    match lanes_of(e, bits, types::I32) {
        types::I32 => e.ins.ins().ireduce(types::I16, bits),
        _ => bits,
    }
}
