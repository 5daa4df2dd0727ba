//! Conversion of elementwise operators that take several operations of the IR: rounding aside, the
//! definitions of onnx.ai/onnx/operators.

use ir::{Context, Dim, FloatKind, Type, TypeData, Value};

use super::powers::PowerRounding;
use super::small::OverflowMode;
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::element::Element;
use crate::onnx::weights::element_type;

/// Cast, to the type that the attribute `to` numbers, or up to version 5 names.
pub(crate) fn cast(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let to = target(call)?;
    Ok(vec![call.cast_or(x, to, narrowing(call)?)?])
}

/// The attributes `round_mode`, for powers of two, and `saturate`, for numbers beyond the greatest float of 8
/// bits.
fn narrowing(call: &NodeConversion<'_, '_>) -> Result<(PowerRounding, OverflowMode), Refusal> {
    let is_cut = call.node.truth("saturate")?.unwrap_or(true);
    let rounding = match call.node.text("round_mode")?.unwrap_or("up") {
        "up" => PowerRounding::Up,
        "down" => PowerRounding::Down,
        "nearest" => PowerRounding::Nearest,
        other => return Err(format!("`round_mode` {other:?}, expected up, down or nearest").into()),
    };
    Ok((rounding, if is_cut { OverflowMode::Cut } else { OverflowMode::Kept }))
}

fn target(call: &NodeConversion<'_, '_>) -> Result<Type, Refusal> {
    if call.version < 6 {
        let name = call.node.text("to")?.ok_or("`to` is left out")?;
        let element = Element::ALL.iter().find(|element| element.name().eq_ignore_ascii_case(name));
        let element =
            element.ok_or_else(|| format!("`to` {name:?}, expected the name of an element type"))?;
        return Ok(element_type(call.ctx(), *element)?);
    }
    let number = call.node.int("to")?.ok_or("`to` is left out")?;
    numbered_type(call, "to", number)
}

/// The type in which floats of a type are computed: `f64` for itself, `f32` for others.
pub(super) fn computed_type(ctx: &Context, elem: Type) -> Option<Type> {
    match ctx.type_data(elem) {
        TypeData::Float(FloatKind::F64) => Some(elem),
        TypeData::Float(_) => Some(ctx.f32()),
        _ => None,
    }
}

/// The type whose number is given by an attribute.
pub(in crate::onnx) fn numbered_type(
    call: &NodeConversion<'_, '_>,
    name: &str,
    number: i64,
) -> Result<Type, Refusal> {
    let element = i32::try_from(number).ok().and_then(Element::from_number);
    let element = element.filter(|element| *element != Element::String);
    let element =
        element.ok_or_else(|| format!("`{name}` {number}, expected the number of a numeric type"))?;
    Ok(element_type(call.ctx(), element)?)
}

/// BitCast.
pub(crate) fn bit_cast(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let to = target(call)?;
    Ok(vec![call.with_bits(x, to)?])
}

/// BitShift.
pub(crate) fn bit_shift(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, bits) = (call.operand(0)?, call.operand(1)?);
    match call.node.text("direction")?.ok_or("`direction` is left out")? {
        "LEFT" => Ok(vec![call.two("nn.shl", x, bits)?]),
        "RIGHT" => Ok(vec![call.two("nn.shr", x, bits)?]),
        other => Err(format!("`direction` {other:?}, expected \"LEFT\" or \"RIGHT\"").into()),
    }
}

/// CastLike, to the type of the second operand.
pub(crate) fn cast_like(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let to = call.element(call.operand(1)?);
    Ok(vec![call.cast_or(x, to, narrowing(call)?)?])
}

/// Where.
pub(crate) fn choose(call: &mut NodeConversion<'_, '_>) -> Results {
    let (condition, a, b) = (call.operand(0)?, call.operand(1)?, call.operand(2)?);
    let elem = call.element(a);
    let [a, b] = call.digests_of_strings([a, b])?;
    let chosen = call.select(condition, a, b)?;
    Ok(vec![call.with_bits(chosen, elem)?])
}

/// Pow: the exponent may be of another type. An integer to the power of a float is a float that is cut to an
/// integer; else the exponent is converted to the base's type.
pub(crate) fn pow(call: &mut NodeConversion<'_, '_>) -> Results {
    let (a, b) = (call.operand(0)?, call.operand(1)?);
    let elem = call.element(a);
    let is_float = |value: Value| matches!(call.ctx().type_data(call.element(value)), TypeData::Float(_));
    if is_float(b) && !is_float(a) {
        let wide = call.ctx().float(FloatKind::F64);
        let (base, exponent) = (call.cast(a, wide)?, call.cast(b, wide)?);
        let power = call.two("nn.pow", base, exponent)?;
        return Ok(vec![call.cast(power, elem)?]);
    }
    let b = call.cast(b, elem)?;
    Ok(vec![call.two("nn.pow", a, b)?])
}

/// Mod: with the sign of the divisor, or with `fmod` that of the dividend.
pub(crate) fn remainder(call: &mut NodeConversion<'_, '_>) -> Results {
    let (a, b) = (call.operand(0)?, call.operand(1)?);
    let rest = call.two("nn.rem", a, b)?;
    if call.node.truth("fmod")?.unwrap_or(false) {
        return Ok(vec![rest]);
    }
    let is_some = call.with_number("nn.ne", rest, 0.0)?;
    let rest_is_below = call.with_number("nn.lt", rest, 0.0)?;
    let divisor_is_below = call.with_number("nn.lt", b, 0.0)?;
    let differ = call.two("nn.xor", rest_is_below, divisor_is_below)?;
    let wrong = call.two("nn.and", is_some, differ)?;
    let moved = call.two("nn.add", rest, b)?;
    let result = call.select(wrong, moved, rest)?;
    if !matches!(call.ctx().type_data(call.element(a)), TypeData::Float(_)) {
        return Ok(vec![result]);
    }
    // A zero has the divisor's sign too.
    let (plus, minus) = (call.scalar_like(0.0, b)?, call.scalar_like(-0.0, b)?);
    let zero = call.select(divisor_is_below, minus, plus)?;
    Ok(vec![call.select(is_some, result, zero)?])
}

/// Mean of all operands.
pub(crate) fn mean(call: &mut NodeConversion<'_, '_>) -> Results {
    let sum = super::pointwise::fold(call, "nn.add")?[0];
    let count = call.operand_count() as f64;
    Ok(vec![call.with_number("nn.div", sum, count)?])
}

/// Sign: -1, 0 or 1; NaN for NaN.
pub(crate) fn sign(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let (above, below) = (call.with_number("nn.gt", x, 0.0)?, call.with_number("nn.lt", x, 0.0)?);
    let elem = call.element(x);
    let (above, below) = (call.cast(above, elem)?, call.cast(below, elem)?);
    let sign = call.two("nn.sub", above, below)?;
    if !matches!(call.ctx().type_data(elem), TypeData::Float(_)) {
        return Ok(vec![sign]);
    }
    let is_number = call.two("nn.eq", x, x)?;
    Ok(vec![call.select(is_number, sign, x)?])
}

/// Selu: `gamma` times Elu.
pub(crate) fn selu(call: &mut NodeConversion<'_, '_>) -> Results {
    let alpha = call.number("alpha", 1.673_263_2)?;
    let gamma = call.number("gamma", 1.050_701)?;
    let x = call.operand(0)?;
    let elu = elu(call, x, alpha)?;
    Ok(vec![call.with_number("nn.mul", elu, gamma)?])
}

/// Celu: `max(x, 0) + min(alpha * (e^(x / alpha) - 1), 0)`, which is `alpha * elu(x / alpha)` where alpha is
/// above 0.
pub(crate) fn celu(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let alpha = call.number("alpha", 1.0)?;
    if alpha < 0.0 {
        let below = call.with_number("nn.min", x, 0.0)?;
        let scaled = call.with_number("nn.div", below, alpha)?;
        let power = call.one("nn.exp", scaled)?;
        let less = call.with_number("nn.sub", power, 1.0)?;
        let below = call.with_number("nn.mul", less, alpha)?;
        let above = call.with_number("nn.max", x, 0.0)?;
        return Ok(vec![call.two("nn.add", above, below)?]);
    }
    let scaled = call.with_number("nn.div", x, alpha)?;
    let elu = elu(call, scaled, 1.0)?;
    Ok(vec![call.with_number("nn.mul", elu, alpha)?])
}

fn elu(call: &mut NodeConversion<'_, '_>, x: Value, alpha: f64) -> Result<Value, Refusal> {
    let alpha = call.ctx().f32_attr(alpha as f32);
    call.emit("nn.elu", &[x], &[("alpha", alpha)])
}

/// ThresholdedRelu: x where it is above `alpha`, else 0.
pub(crate) fn thresholded_relu(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let alpha = call.number("alpha", 1.0)?;
    let is_above = call.with_number("nn.gt", x, alpha)?;
    let zero = call.scalar_like(0.0, x)?;
    Ok(vec![call.select(is_above, x, zero)?])
}

/// Shrink: numbers within `lambd` of 0 become 0, and others move towards 0 by `bias`.
pub(crate) fn shrink(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let elem = call.element(x);
    // For integers, a bound between two integers is rounded to an integer.
    let is_float = matches!(call.ctx().type_data(elem), TypeData::Float(_));
    let x = if is_float { x } else { call.cast(x, call.ctx().float(FloatKind::F64))? };
    let bias = call.number("bias", 0.0)?;
    let bound = call.number("lambd", 0.5)?;
    let (is_below, is_above) = (call.with_number("nn.lt", x, -bound)?, call.with_number("nn.gt", x, bound)?);
    let (up, down) = (call.with_number("nn.add", x, bias)?, call.with_number("nn.sub", x, bias)?);
    let zero = call.scalar_like(0.0, x)?;
    let rest = call.select(is_above, down, zero)?;
    let shrunk = call.select(is_below, up, rest)?;
    Ok(vec![call.cast(shrunk, elem)?])
}

/// PRelu: x, times the second operand where x is below 0. Up to version 6, that has one number, or one for
/// each channel.
pub(crate) fn prelu(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, mut slope) = (call.operand(0)?, call.operand(1)?);
    if call.version < 7 && call.rank(slope)? == 1 {
        let mut shape = call.dims(slope)?;
        shape.resize(call.rank(x)?.max(2) - 1, Dim::Known(1));
        slope = call.reshape_to(slope, &shape)?;
    }
    let is_below = call.with_number("nn.lt", x, 0.0)?;
    let scaled = call.two("nn.mul", x, slope)?;
    Ok(vec![call.select(is_below, scaled, x)?])
}

/// Softsign: `x / (1 + |x|)`.
pub(crate) fn softsign(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let size = call.one("nn.abs", x)?;
    let divisor = call.with_number("nn.add", size, 1.0)?;
    Ok(vec![call.two("nn.div", x, divisor)?])
}

/// Mish: `x * tanh(softplus(x))`.
pub(crate) fn mish(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let softplus = call.one("nn.softplus", x)?;
    let tanh = call.one("nn.tanh", softplus)?;
    Ok(vec![call.two("nn.mul", x, tanh)?])
}

/// Swish: `x * sigmoid(alpha * x)`.
pub(crate) fn swish(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let alpha = call.number("alpha", 1.0)?;
    let scaled = if alpha == 1.0 { x } else { call.with_number("nn.mul", x, alpha)? };
    let gate = call.one("nn.sigmoid", scaled)?;
    Ok(vec![call.two("nn.mul", x, gate)?])
}

/// SwiGLU: Swish of the first operand, times the second.
pub(crate) fn swiglu(call: &mut NodeConversion<'_, '_>) -> Results {
    let gate = swish(call)?[0];
    let x = call.operand(1)?;
    Ok(vec![call.two("nn.mul", gate, x)?])
}

/// Gelu: exact, or with `approximate` "tanh": `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`.
pub(crate) fn gelu(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    match call.node.text("approximate")?.unwrap_or("none") {
        "none" => Ok(vec![call.one("nn.gelu", x)?]),
        "tanh" => Ok(vec![call.one("nn.gelu_tanh", x)?]),
        other => Err(format!("`approximate` {other:?}, expected \"none\" or \"tanh\"").into()),
    }
}

/// IsNaN: what differs from itself.
pub(crate) fn is_nan(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    Ok(vec![call.two("nn.ne", x, x)?])
}

/// IsInf, of the signs that `detect_positive` and `detect_negative` ask for.
pub(crate) fn is_inf(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let up = call.node.truth("detect_positive")?.unwrap_or(true);
    let down = call.node.truth("detect_negative")?.unwrap_or(true);
    let is = |call: &mut NodeConversion<'_, '_>, number: f64| call.with_number("nn.eq", x, number);
    match (up, down) {
        (true, false) => Ok(vec![is(call, f64::INFINITY)?]),
        (false, true) => Ok(vec![is(call, f64::NEG_INFINITY)?]),
        (true, true) => {
            let size = call.one("nn.abs", x)?;
            Ok(vec![call.with_number("nn.eq", size, f64::INFINITY)?])
        }
        (false, false) => Ok(vec![call.two("nn.lt", x, x)?]),
    }
}
