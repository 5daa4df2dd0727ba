//! Conversion of quantization: between numbers and small integers with a scale and a zero point.
//!
//! There is one scale for all elements, or one for each index of an axis, or one for each block of indices of
//! it.

use ir::{Dim, Type, TypeData, Value};

use super::composed::{computed_type, numbered_type};
use super::small::is_small;
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::element::Element;
use crate::onnx::weights::element_type;

/// DequantizeLinear: `(x - zero point) * scale`.
pub(crate) fn dequantize(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, scale) = (call.operand(0)?, call.operand(1)?);
    let elem = named_type(call, "output_dtype")?.unwrap_or_else(|| call.element(scale));
    if !is_small(call.ctx(), call.element(x)) {
        range(call, call.element(x))?;
    }
    // A large integer may exceed floats of 16 bits while its product with a scale does not.
    let wide = wide_type(call, elem)?;
    let mut numbers = call.cast(x, wide)?;
    if let Some(zero) = call.optional(2) {
        let zero = call.cast(zero, wide)?;
        let zero = spread(call, zero, x)?;
        numbers = call.two("nn.sub", numbers, zero)?;
    }
    let scale = call.cast(scale, wide)?;
    let scale = spread(call, scale, x)?;
    let product = call.two("nn.mul", numbers, scale)?;
    Ok(vec![call.cast(product, elem)?])
}

/// QuantizeLinear: `x / scale`, rounded to even, plus the zero point, cut to the range of the result's type.
pub(crate) fn quantize(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, scale) = (call.operand(0)?, call.operand(1)?);
    let precision = named_type(call, "precision")?.unwrap_or_else(|| call.element(scale));
    let named = named_type(call, "output_dtype")?;
    let to = match call.optional(2) {
        Some(zero) => call.element(zero),
        None => named.map_or_else(|| element_type(call.ctx(), Element::Uint8), Ok)?,
    };
    let (number, scale) = (call.cast(x, precision)?, call.cast(scale, precision)?);
    let scale = spread(call, scale, x)?;
    let quotient = call.two("nn.div", number, scale)?;
    if is_small(call.ctx(), to) {
        return Ok(vec![call.cast(quotient, to)?]);
    }
    let rounded = call.emit("nn.round", &[quotient], &[])?;
    // 16-bit integers are not exact as floats of 16 bits.
    let wide = wide_type(call, precision)?;
    let mut rounded = call.cast(rounded, wide)?;
    if let Some(zero) = call.optional(2) {
        let zero = call.cast(zero, wide)?;
        let zero = spread(call, zero, x)?;
        rounded = call.two("nn.add", rounded, zero)?;
    }
    Ok(vec![saturate(call, rounded, to)?])
}

/// DynamicQuantizeLinear: scale and zero point such that the range of x and 0 is that of `uint8`; the result,
/// then both.
pub(crate) fn dynamic_quantize(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let to = element_type(call.ctx(), Element::Uint8)?;
    let axes: Vec<i64> = (0..call.rank(x)? as i64).collect();
    let axes = [("axes", call.ctx().ints_attr(&axes))];
    let (most, least) = (call.emit("nn.reduce_max", &[x], &axes)?, call.emit("nn.reduce_min", &[x], &axes)?);
    let (most, least) = (call.with_number("nn.max", most, 0.0)?, call.with_number("nn.min", least, 0.0)?);
    let range = call.two("nn.sub", most, least)?;
    // If all elements are zero: as in ONNX's reference.
    let is_wide = call.with_number("nn.gt", range, 0.0)?;
    let range = call.where_or(is_wide, range, 1.0)?;
    let scale = call.with_number("nn.div", range, 255.0)?;
    let below = call.two("nn.div", least, scale)?;
    let above = call.emit("nn.neg", &[below], &[])?;
    let zero = clip(call, above, (0.0, 255.0))?;
    let zero = call.emit("nn.round", &[zero], &[])?;
    let quotient = call.two("nn.div", x, scale)?;
    let rounded = call.emit("nn.round", &[quotient], &[])?;
    let moved = call.two("nn.add", rounded, zero)?;
    Ok(vec![saturate(call, moved, to)?, scale, call.cast(zero, to)?])
}

/// The type in which a float type is computed.
fn wide_type(call: &NodeConversion<'_, '_>, elem: Type) -> Result<Type, Refusal> {
    computed_type(call.ctx(), elem).ok_or_else(|| "a scale that is no float".into())
}

/// The type whose number is attribute `name`; none if it is omitted or 0.
fn named_type(call: &NodeConversion<'_, '_>, name: &str) -> Result<Option<Type>, Refusal> {
    let Some(number) = call.node.int(name)?.filter(|number| *number != 0) else { return Ok(None) };
    Ok(Some(numbered_type(call, name, number)?))
}

/// The range of an integer type.
fn range(call: &NodeConversion<'_, '_>, elem: Type) -> Result<(f32, f32), Refusal> {
    match call.ctx().type_data(elem) {
        TypeData::Integer { width: width @ (2 | 4 | 8 | 16 | 32), signedness } => Ok(match signedness {
            ir::Signedness::Unsigned => (0.0, ((1u64 << width) - 1) as f32),
            _ => (-((1u64 << (width - 1)) as f32), ((1u64 << (width - 1)) - 1) as f32),
        }),
        _ => {
            Err("quantised elements of this type, expected integers of at most 32 bits, or small floats"
                .into())
        }
    }
}

fn clip(call: &mut NodeConversion<'_, '_>, x: Value, (lo, hi): (f32, f32)) -> Result<Value, Refusal> {
    let (lo, hi) = (call.ctx().f32_attr(lo), call.ctx().f32_attr(hi));
    call.emit("nn.clip", &[x], &[("lo", lo), ("hi", hi)])
}

pub(super) fn saturate(call: &mut NodeConversion<'_, '_>, x: Value, to: Type) -> Result<Value, Refusal> {
    if is_small(call.ctx(), to) {
        return call.cast(x, to);
    }
    let range = range(call, to)?;
    let cut = clip(call, x, range)?;
    call.cast(cut, to)
}

/// A scale or zero point in a shape that broadcasts with `x`.
fn spread(call: &mut NodeConversion<'_, '_>, scale: Value, x: Value) -> Result<Value, Refusal> {
    let (shape, sizes) = (call.dims(x)?, call.dims(scale)?);
    let block = call.node.int("block_size")?.unwrap_or(0);
    if sizes.iter().all(|size| *size == Dim::Known(1)) && block == 0 {
        return call.reshape(scale, &[]);
    }
    let axis = call.axis(call.node.int("axis")?.unwrap_or(1), shape.len())?;
    if block == 0 {
        let mut along = vec![Dim::Known(1); shape.len()];
        along[axis] = shape[axis];
        return call.reshape_to(scale, &along);
    }
    let mut counts = vec![1; shape.len()];
    counts[axis] = block;
    let counts = call.ctx().ints_attr(&counts);
    let repeated = call.emit("nn.repeat", &[scale], &[("counts", counts)])?;
    if call.dims(repeated)? == shape {
        return Ok(repeated);
    }
    let starts = call.ctx().ints_attr(&vec![0; shape.len()]);
    let sizes = call.ctx().dims_attr(&shape);
    call.emit("nn.slice", &[repeated], &[("starts", starts), ("sizes", sizes)])
}
