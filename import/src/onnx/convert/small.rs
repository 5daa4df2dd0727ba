//! Floats of 8 and of 4 bits: conversions to and from `f32`. Elements narrower than a byte, which are packed,
//! go through bytes.
//!
//! To `f32`, it is a table of all numbers. From `f32`, it is arithmetic on the bits: magnitudes of a format
//! are in the order of their codes, so a rounded magnitude above the greatest code is out of range.

use ir::{FloatKind, Signedness, Type, TypeData, Value};

use crate::onnx::call::{NodeConversion, Refusal};

/// The meaning of the bits: one sign bit, then the exponent, then the mantissa.
#[derive(Clone, Copy)]
struct SmallFloat {
    mantissa: u32,
    bias: i32,
    /// The code of the greatest number.
    most: u8,
    /// The code of a number out of range, unless it is clamped: infinity or NaN.
    beyond: u8,
    /// The code of NaN.
    nan: u8,
    /// Whether zero has a sign, and NaN another one.
    signs_zero: bool,
    /// The bit of the sign.
    sign: u8,
}

fn format(ctx: &ir::Context, elem: Type) -> Option<SmallFloat> {
    let TypeData::Float(kind) = ctx.type_data(elem) else { return None };
    let (mantissa, bias, most, beyond, nan, signs_zero) = match kind {
        // NaN becomes -0.
        FloatKind::F4E2M1FN => (1, 1, 7, 7, 8, true),
        FloatKind::F8E4M3FN => (3, 7, 0x7e, 0x7f, 0x7f, true),
        FloatKind::F8E4M3FNUZ => (3, 8, 0x7f, 0x80, 0x80, false),
        FloatKind::F8E5M2 => (2, 15, 0x7b, 0x7c, 0x7e, true),
        FloatKind::F8E5M2FNUZ => (2, 16, 0x7f, 0x80, 0x80, false),
        _ => return None,
    };
    let sign = if *kind == FloatKind::F4E2M1FN { 8 } else { 0x80 };
    Some(SmallFloat { mantissa, bias, most, beyond, nan, signs_zero, sign })
}

/// Whether it is a float of 8 or 4 bits that is converted here.
pub(super) fn is_small(ctx: &ir::Context, elem: Type) -> bool {
    format(ctx, elem).is_some()
}

/// Whether its elements are integers of 2 or 4 bits.
pub(super) fn is_packed(ctx: &ir::Context, elem: Type) -> bool {
    matches!(ctx.type_data(elem), TypeData::Integer { width: 2 | 4, .. })
}

/// The low bits of integers, or of truncated floats, as packed integers.
pub(super) fn packed(call: &mut NodeConversion<'_, '_>, x: Value, to: Type) -> Result<Value, Refusal> {
    let (int32, int8) = (call.ctx().int(32), call.ctx().int(8));
    let wide = match call.ctx().type_data(call.element(x)) {
        TypeData::Float(_) => call.cast(x, int32)?,
        _ => x,
    };
    let bytes = call.cast(wide, int8)?;
    call.emit("nn.pack", &[bytes], &[("to", call.ctx().type_attr(to))])
}

impl SmallFloat {
    /// The number of a code.
    fn number(self, code: u8) -> f64 {
        let magnitude = code & (self.sign - 1);
        let is_nan = if self.signs_zero { magnitude > self.beyond.max(self.most) } else { code == self.nan };
        let sign = if code & self.sign == 0 { 1.0 } else { -1.0 };
        if is_nan || (self.signs_zero && magnitude == self.nan) {
            return f64::NAN;
        }
        if magnitude > self.most {
            return sign * f64::INFINITY;
        }
        let exponent = i32::from(magnitude >> self.mantissa);
        let fraction = f64::from(magnitude & ((1 << self.mantissa) - 1)) / f64::from(1 << self.mantissa);
        let value = match exponent {
            0 => fraction * f64::from(1 - self.bias).exp2(),
            _ => (1.0 + fraction) * f64::from(exponent - self.bias).exp2(),
        };
        sign * value
    }
}

fn byte(call: &NodeConversion<'_, '_>) -> Type {
    call.ctx().ty(TypeData::Integer { width: 8, signedness: Signedness::Unsigned })
}

/// Floats of 8 or 4 bits as `f32`.
pub(super) fn widened(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let format = format(call.ctx(), call.element(x)).ok_or("elements that are no floats of 8 bits")?;
    let numbers: Vec<f64> = (0..=2 * (format.sign - 1) + 1).map(|code| format.number(code)).collect();
    let table = call.numbers(&numbers, &[numbers.len() as u64])?;
    let codes = if format.sign == 8 {
        call.one("nn.unpack", x)?
    } else {
        let to = call.ctx().type_attr(byte(call));
        call.emit("nn.bitcast", &[x], &[("to", to)])?
    };
    call.picked(table, codes, 0)
}

/// Handling of numbers out of range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OverflowMode {
    /// They are clamped to the greatest number.
    Cut,
    /// They become infinity or NaN.
    Kept,
}

/// `f32` rounded to floats of 8 or 4 bits, to nearest, ties to even.
pub(super) fn narrowed(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    to: Type,
    beyond: OverflowMode,
) -> Result<Value, Refusal> {
    let format = format(call.ctx(), to).ok_or("elements that are no floats of 8 bits")?;
    let int32 = call.ctx().int(32);
    let as_int = call.ctx().type_attr(int32);
    let bits = call.emit("nn.bitcast", &[x], &[("to", as_int)])?;
    let size = call.with_number("nn.and", bits, f64::from(i32::MAX))?;
    let cut = 23 - format.mantissa;
    let upper = call.with_number("nn.shr", size, f64::from(cut))?;
    let odd = call.with_number("nn.and", upper, 1.0)?;
    let up = call.with_number("nn.add", size, f64::from((1u32 << (cut - 1)) - 1))?;
    let rounded = call.two("nn.add", up, odd)?;
    let rounded = call.with_number("nn.shr", rounded, f64::from(cut))?;
    let normal = call.with_number("nn.sub", rounded, f64::from((127 - format.bias) << format.mantissa))?;
    // A number whose last digit has the weight of the format's last digit.
    let weight = f64::from(1 - format.bias - format.mantissa as i32 + 23).exp2();
    let magnitude = call.one("nn.abs", x)?;
    let moved = call.with_number("nn.add", magnitude, weight)?;
    let moved = call.emit("nn.bitcast", &[moved], &[("to", as_int)])?;
    let small = call.with_number("nn.sub", moved, f64::from((weight as f32).to_bits()))?;
    let is_small = call.with_number("nn.lt", magnitude, f64::from(1 - format.bias).exp2())?;
    let code = call.select(is_small, small, normal)?;
    let greatest = match beyond {
        OverflowMode::Cut => format.most,
        OverflowMode::Kept => format.beyond,
    };
    let is_beyond = call.with_number("nn.gt", code, f64::from(format.most))?;
    let greatest = call.scalar_like(f64::from(greatest), code)?;
    let code = call.select(is_beyond, greatest, code)?;
    let sign = call.with_number("nn.shr", bits, if format.sign == 8 { 28.0 } else { 24.0 })?;
    let mut sign = call.with_number("nn.and", sign, f64::from(format.sign))?;
    if !format.signs_zero {
        let has_sign = call.with_number("nn.ne", code, 0.0)?;
        sign = call.where_or(has_sign, sign, 0.0)?;
    }
    let code = call.two("nn.or", code, sign)?;
    let is_nan = call.two("nn.ne", x, x)?;
    let nan = call.scalar_like(f64::from(format.nan), code)?;
    let code = call.select(is_nan, nan, code)?;
    let code = call.cast(code, byte(call))?;
    let to = call.ctx().type_attr(to);
    let name = if format.sign == 8 { "nn.pack" } else { "nn.bitcast" };
    call.emit(name, &[code], &[("to", to)])
}
