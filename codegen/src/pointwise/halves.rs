//! Instructions that convert one float of 16 bits, as an integer in a register, to `f32` and back.
//!
//! Rounding is to nearest, ties to even; a NaN becomes a quiet one. Numbers too small for a normal `f16` are
//! rounded by adding one whose last digit has their weight (Giesen, \"half to float done quick\", 2012).

use crate::cranelift::{Emitter, Endianness, FloatCC, InstBuilder, IntCC, MemFlagsData, PLAIN, Value, types};

/// The bits of the infinite `f32`.
const INFINITY: i64 = 0x7f80_0000;
/// 2^-14, the least normal `f16`.
const LEAST_NORMAL: i64 = 0x3880_0000;
/// 2^16, above all that is an `f16`.
const BEYOND: i64 = 0x4780_0000;
/// One half: its last digit as an `f32` is 2^-24, the last digit of small `f16`.
const HALF: i64 = 0x3f00_0000;
/// What the exponents of `f32` and `f16` differ by.
const REBIAS: i64 = 112 << 23;

fn to_float(e: &mut Emitter<'_>, bits: Value) -> Value {
    e.ins.ins().bitcast(types::F32, MemFlagsData::new(), bits)
}

fn to_bits(e: &mut Emitter<'_>, float: Value) -> Value {
    e.ins.ins().bitcast(types::I32, MemFlagsData::new(), float)
}

/// Of the two `f32` around an `f64` that none is, that whose last bit is 1, so that it may be rounded again:
/// see [`ir::narrow`].
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

/// Stores four `f32` that are `bf16` as these.
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

/// `f16` as `f32`.
pub(super) fn wide_f16(e: &mut Emitter<'_>, half: Value) -> Value {
    let wide = e.ins.ins().uextend(types::I32, half);
    let sign = e.ins.ins().band_imm_s(wide, 0x8000);
    let sign = e.ins.ins().ishl_imm_u(sign, 16);
    let size = e.ins.ins().band_imm_s(wide, 0x7fff);
    let shifted = e.ins.ins().ishl_imm_u(size, 13);
    let small = to_float(e, shifted);
    let factor = e.ins.ins().f32const(f32::from_bits(0x7780_0000));
    let finite = e.ins.ins().fmul(small, factor);
    let finite = to_bits(e, finite);
    let infinite = e.ins.ins().iadd_imm_s(shifted, 2 * REBIAS);
    let quiet = e.ins.ins().bor_imm_s(infinite, 0x40_0000);
    let is_nan = e.ins.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, size, 0x7c00);
    let infinite = e.ins.ins().select(is_nan, quiet, infinite);
    let is_finite = e.ins.ins().icmp_imm_s(IntCC::UnsignedLessThan, size, 0x7c00);
    let bits = e.ins.ins().select(is_finite, finite, infinite);
    let bits = e.ins.ins().bor(bits, sign);
    to_float(e, bits)
}

/// The nearest `f16`.
pub(super) fn narrow_f16(e: &mut Emitter<'_>, float: Value) -> Value {
    let bits = to_bits(e, float);
    let sign = e.ins.ins().ushr_imm_u(bits, 16);
    let sign = e.ins.ins().band_imm_s(sign, 0x8000);
    let size = e.ins.ins().band_imm_s(bits, 0x7fff_ffff);
    let upper = e.ins.ins().ushr_imm_u(size, 13);
    let odd = e.ins.ins().band_imm_s(upper, 1);
    let rounded = e.ins.ins().iadd_imm_s(size, 0xfff - REBIAS);
    let rounded = e.ins.ins().iadd(rounded, odd);
    let normal = e.ins.ins().ushr_imm_u(rounded, 13);
    let half = e.ins.ins().f32const(0.5);
    let magnitude = to_float(e, size);
    let moved = e.ins.ins().fadd(magnitude, half);
    let moved = to_bits(e, moved);
    let small = e.ins.ins().iadd_imm_s(moved, -HALF);
    let is_small = e.ins.ins().icmp_imm_s(IntCC::UnsignedLessThan, size, LEAST_NORMAL);
    let finite = e.ins.ins().select(is_small, small, normal);
    let infinity = e.ins.ins().iconst(types::I32, 0x7c00);
    let payload = e.ins.ins().band_imm_s(upper, 0x1ff);
    let nan = e.ins.ins().bor_imm_s(payload, 0x7e00);
    let is_nan = e.ins.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, size, INFINITY);
    let beyond = e.ins.ins().select(is_nan, nan, infinity);
    let is_beyond = e.ins.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, size, BEYOND);
    let bits = e.ins.ins().select(is_beyond, beyond, finite);
    let bits = e.ins.ins().bor(bits, sign);
    e.ins.ins().ireduce(types::I16, bits)
}
