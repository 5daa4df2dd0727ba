//! Floats of 8 bits that are powers of two (`f8E8M0FNU`): the byte is the exponent plus 127, and 255 is NaN.
//!
//! Every number is widened to `f64` first: there all numbers of the format are normal, so the exponent of a
//! rounded number is the byte. 64-bit integers would be rounded twice, and are refused.

use ir::{FloatKind, Signedness, Type, TypeData, Value};

use super::small::OverflowMode;
use crate::onnx::call::{NodeConversion, Refusal};

/// The byte of NaN.
const NAN: f64 = 255.0;
/// The exponent of 1 in `f64`, minus that in the format.
const BIAS: f64 = 1023.0 - 127.0;

/// Rounding to one of the two neighbouring powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PowerRounding {
    Up,
    Down,
    /// To the nearest; the upper one if both are equally near.
    Nearest,
}

impl PowerRounding {
    /// A number added to the bits of an `f64` before its fraction is truncated.
    fn added(self) -> f64 {
        match self {
            PowerRounding::Up => ((1u64 << 52) - 1) as f64,
            PowerRounding::Down => 0.0,
            PowerRounding::Nearest => (1u64 << 51) as f64,
        }
    }
}

/// Whether it is the format of powers of two.
pub(super) fn is_power(ctx: &ir::Context, elem: Type) -> bool {
    matches!(ctx.type_data(elem), TypeData::Float(FloatKind::F8E8M0FNU))
}

fn byte(call: &NodeConversion<'_, '_>) -> Type {
    call.ctx().ty(TypeData::Integer { width: 8, signedness: Signedness::Unsigned })
}

/// Powers of two as `f32`, which is exact.
pub(super) fn of_powers(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let mut numbers: Vec<f64> = (0..255).map(|code| f64::from(code - 127).exp2()).collect();
    numbers.push(f64::NAN);
    let table = call.numbers(&numbers, &[256])?;
    let to = call.ctx().type_attr(byte(call));
    let codes = call.emit("nn.bitcast", &[x], &[("to", to)])?;
    call.picked(table, codes, 0)
}

/// Numbers as powers of two. The standard does not define negative numbers: they become NaN.
pub(super) fn powers(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    to: Type,
    (rounding, beyond): (PowerRounding, OverflowMode),
) -> Result<Value, Refusal> {
    let ctx = call.ctx();
    if matches!(ctx.type_data(call.element(x)), TypeData::Integer { width: 64, .. } | TypeData::Index) {
        return Err("integers of 64 bits, of which no power of two is found with one rounding".into());
    }
    if beyond == OverflowMode::Kept && rounding != PowerRounding::Nearest {
        return Err(
            "`round_mode` other than nearest where `saturate` is 0, of which the standard says nothing"
                .into(),
        );
    }
    let wide = call.cast(x, ctx.float(FloatKind::F64))?;
    let [least, most] = [-127f64, 127.0].map(f64::exp2);
    let cut = call.with_number("nn.max", wide, least)?;
    let cut = call.with_number("nn.min", cut, most)?;
    let bits = call.emit("nn.bitcast", &[cut], &[("to", ctx.type_attr(ctx.int(64)))])?;
    let rounded = call.with_number("nn.add", bits, rounding.added())?;
    let exponent = call.with_number("nn.shr", rounded, 52.0)?;
    let code = call.with_number("nn.sub", exponent, BIAS)?;
    let (low, high) = match beyond {
        OverflowMode::Cut => (0.0, f64::INFINITY),
        OverflowMode::Kept => (least, most),
    };
    // Every comparison with NaN is false.
    let (after, before) = (call.with_number("nn.ge", wide, low)?, call.with_number("nn.le", wide, high)?);
    let is_number = call.two("nn.and", after, before)?;
    let code = call.where_or(is_number, code, NAN)?;
    let code = call.cast(code, byte(call))?;
    call.emit("nn.bitcast", &[code], &[("to", ctx.type_attr(to))])
}
