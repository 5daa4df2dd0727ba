//! Conversion of elementwise operators.
//!
//! Up to version 6, a binary operator broadcasts only on request (`broadcast`), with its second operand
//! aligned to the first from `axis` on. From version 7 on it uses numpy's rule, like the IR.

use ir::dims::SizeArithmetic;
use ir::{Dim, FloatKind, TypeData, Value};

use crate::onnx::call::{NodeConversion, Refusal, Results};

/// `nn.NAME` of the one operand.
pub(crate) fn unary(call: &mut NodeConversion<'_, '_>, name: &str) -> Results {
    let x = call.operand(0)?;
    Ok(vec![call.emit(name, &[x], &[])?])
}

/// `nn.NAME` of two operands.
pub(crate) fn binary(call: &mut NodeConversion<'_, '_>, name: &str) -> Results {
    let a = call.operand(0)?;
    let mut b = call.operand(1)?;
    if call.version < 7 {
        b = legacy_broadcast(call, a, b)?;
    }
    let operands = call.digests_of_strings([a, b])?;
    Ok(vec![call.emit(name, &operands, &[])?])
}

/// `nn.NAME` of all operands, from left to right.
pub(crate) fn fold(call: &mut NodeConversion<'_, '_>, name: &str) -> Results {
    let mut result = call.operand(0)?;
    for index in 1..call.operand_count() {
        let operand = call.operand(index)?;
        result = call.emit(name, &[result, operand], &[])?;
    }
    Ok(vec![result])
}

/// Max.
pub(crate) fn largest(call: &mut NodeConversion<'_, '_>) -> Results {
    extreme(call, "nn.max")
}

/// Min.
pub(crate) fn smallest(call: &mut NodeConversion<'_, '_>) -> Results {
    extreme(call, "nn.min")
}

/// `nn.NAME` of all operands. If one of two is NaN, its result is the second operand; so a known number comes
/// first.
fn extreme(call: &mut NodeConversion<'_, '_>, name: &str) -> Results {
    let mut result = call.operand(0)?;
    let is_number = |index: usize| matches!(call.known_number(index), Ok(Some(number)) if !number.is_nan());
    let numbers: Vec<bool> = (0..call.operand_count()).map(is_number).collect();
    for (index, operand_is_number) in numbers.iter().enumerate().skip(1) {
        let operand = call.operand(index)?;
        let larger = if *operand_is_number {
            call.two(name, operand, result)?
        } else {
            call.two(name, result, operand)?
        };
        let is_float = matches!(call.ctx().type_data(call.element(result)), TypeData::Float(_));
        result = if !is_float || *operand_is_number || (index == 1 && numbers[0]) {
            larger
        } else {
            let is_nan = call.two("nn.ne", result, result)?;
            call.select(is_nan, result, larger)?
        };
    }
    Ok(vec![result])
}

fn legacy_broadcast(call: &mut NodeConversion<'_, '_>, a: Value, b: Value) -> Result<Value, Refusal> {
    let (full, part) = (call.dims(a)?, call.dims(b)?);
    let list = |shape: &[Dim]| SizeArithmetic(call.ctx()).list(shape);
    if !call.node.truth("broadcast")?.unwrap_or(false) {
        let found =
            format!("shapes {} and {}, expected equal ones without `broadcast`", list(&full), list(&part));
        return if full == part { Ok(b) } else { Err(found.into()) };
    }
    let Some(axis) = call.node.int("axis")? else { return Ok(b) };
    let axis = if axis < 0 { axis.saturating_add_unsigned(full.len() as u64) } else { axis };
    let axis = usize::try_from(axis).ok().filter(|axis| full.get(*axis..*axis + part.len()).is_some());
    let axis =
        axis.ok_or_else(|| format!("`axis` does not fit the shapes {} and {}", list(&full), list(&part)))?;
    let mut shape = part;
    shape.resize(full.len() - axis, Dim::Known(1));
    call.reshape_to(b, &shape)
}

/// Clip: bounds are attributes up to version 10, then operands, either of which may be left out.
pub(crate) fn clip(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    if call.version < 11 {
        let lo = call.node.float("min")?.unwrap_or(f32::MIN);
        let hi = call.node.float("max")?.unwrap_or(f32::MAX);
        return clip_between(call, x, lo, hi);
    }
    let is_f32 = matches!(call.ctx().type_data(call.element(x)), TypeData::Float(FloatKind::F32));
    let constant = |value: Option<Value>| value.is_none_or(|value| call.is_known(value));
    if is_f32 && constant(call.optional(1)) && constant(call.optional(2)) {
        let lo = call.known_float(1)?.map_or(f32::NEG_INFINITY, |lo| lo as f32);
        let hi = call.known_float(2)?.map_or(f32::INFINITY, |hi| hi as f32);
        return clip_between(call, x, lo, hi);
    }
    let mut result = x;
    // The bound comes first: if an element is NaN, the second operand is the result.
    for (index, name) in [(1, "nn.max"), (2, "nn.min")] {
        if let Some(bound) = call.optional(index) {
            result = call.emit(name, &[bound, result], &[])?;
        }
    }
    Ok(vec![result])
}

fn clip_between(call: &mut NodeConversion<'_, '_>, x: Value, lo: f32, hi: f32) -> Results {
    let (lo, hi) = (call.ctx().f32_attr(lo), call.ctx().f32_attr(hi));
    Ok(vec![call.emit("nn.clip", &[x], &[("lo", lo), ("hi", hi)])?])
}

/// LeakyRelu.
pub(crate) fn leaky_relu(call: &mut NodeConversion<'_, '_>) -> Results {
    with_floats(call, "nn.leaky_relu", &[("alpha", 0.01)])
}

/// Elu.
pub(crate) fn elu(call: &mut NodeConversion<'_, '_>) -> Results {
    with_floats(call, "nn.elu", &[("alpha", 1.0)])
}

/// HardSigmoid.
pub(crate) fn hard_sigmoid(call: &mut NodeConversion<'_, '_>) -> Results {
    with_floats(call, "nn.hard_sigmoid", &[("alpha", 0.2), ("beta", 0.5)])
}

/// A unary operator with float attributes of the same names, and their defaults.
fn with_floats(call: &mut NodeConversion<'_, '_>, name: &str, defaults: &[(&str, f32)]) -> Results {
    let x = call.operand(0)?;
    let mut attrs = Vec::new();
    for &(attr, default) in defaults {
        let number = call.node.float(attr)?.unwrap_or(default);
        attrs.push((attr, call.ctx().f32_attr(number)));
    }
    Ok(vec![call.emit(name, &[x], &attrs)?])
}

/// Identity, and Dropout outside training: the operand itself.
pub(crate) fn identity(call: &mut NodeConversion<'_, '_>) -> Results {
    Ok(vec![call.operand(0)?])
}

/// Dropout: the operand, and the mask of kept elements, which is all true. In training it would be random,
/// unless nothing is dropped. From version 12 on, an operand selects training, and another gives the ratio.
pub(crate) fn dropout(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    if call.known_ints(2)?.is_some_and(|training| training.iter().any(|&flag| flag != 0))
        && call.known_float(1)?.unwrap_or(0.5) != 0.0
    {
        return Err("training mode, expected inference".into());
    }
    if !call.wants_result(1) {
        return Ok(vec![x]);
    }
    let mut kept = call.scalar_like(1.0, x)?;
    if call.version >= 10 {
        kept = call.cast(kept, call.ctx().int(1))?;
    }
    let sizes = call.ctx().dims_attr(&call.dims(x)?);
    let open = call.open(x);
    Ok(vec![x, call.emit_open("nn.broadcast", &[kept], &[("shape", sizes)], open)?])
}
