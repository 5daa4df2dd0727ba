//! Conversion of operators with data-dependent result sizes: the result's type has the upper bound, see
//! [`crate::onnx::open`].

use ir::dims::SizeArithmetic;
use ir::{Dim, OpSpec, Traits, Value};

use super::pick::number;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// Compress: along an axis, or of all elements in a row.
pub(crate) fn compress(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, condition) = (call.operand(0)?, call.operand(1)?);
    let shape = call.dims(x)?;
    let Some(axis) = call.node.int("axis")? else {
        let count = SizeArithmetic(call.ctx()).product(&shape);
        let flat = call.reshape_to(x, &[count])?;
        return pick(call, flat, condition, 0);
    };
    let axis = call.axis(axis, shape.len())?;
    pick(call, x, condition, axis)
}

/// The slices selected by a condition: none from the padding, if the sizes of both depend on the same data.
fn pick(call: &mut NodeConversion<'_, '_>, x: Value, condition: Value, axis: usize) -> Results {
    let condition = match (call.open_along(x, axis), call.open(condition)) {
        (None, None) => condition,
        (Some(x), Some(own)) if x.count == own.count => call.filled(condition, own, 0.0)?,
        (Some(_), _) => {
            return Err("a size that depends on data, with conditions that need not be as many".into());
        }
        (None, Some(own)) => {
            let sizes = SizeArithmetic(call.ctx());
            if !sizes.are_equal(call.dims(x)?[axis], call.dims(condition)?[0]) {
                return Err(
                    "conditions whose number depends on data, and may be larger than what they pick from"
                        .into(),
                );
            }
            call.filled(condition, own, 0.0)?
        }
    };
    if call.open(x).is_some_and(|open| open.axis != axis) {
        return Err("sizes along two axes that depend on data".into());
    }
    Ok(vec![call.compressed(x, condition, axis)?])
}

/// NonZero: of the numbers of all elements, along each axis one, those whose element is not zero.
pub(crate) fn non_zero(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    if shape.is_empty() {
        return Err("a number has no axes to say where it is not zero".into());
    }
    let ctx = call.ctx();
    let sizes = SizeArithmetic(call.ctx());
    let truth = truth(call, x);
    if let Some(found) = call.open.found.get(&truth).copied() {
        call.open(x);
        return Ok(vec![found]);
    }
    let count = sizes.product(&shape);
    let mut holds = call.cast(x, ctx.int(1))?;
    if let Some(open) = call.open(holds) {
        holds = call.filled(holds, open, 0.0)?;
    }
    if shape.len() > 1 {
        // The condition is false in the padding, so the flattened result is complete.
        let attrs = [("shape", ctx.dims_attr(&[count]))];
        holds = call.emit_open("nn.reshape", &[holds], &attrs, None)?;
    }
    let numbers = call.indices(count)?;
    let mut rows = Vec::new();
    for axis in 0..shape.len() {
        let inside = sizes.product(&shape[axis + 1..]);
        let along = coordinates(call, numbers, inside, (axis > 0).then_some(shape[axis]))?;
        rows.push(call.reshape_to(along, &[Dim::Known(1), count])?);
    }
    let attrs = [("axis", ctx.int_attr(0))];
    let spec = OpSpec { operands: &rows, attrs: &attrs, ..OpSpec::default() };
    let table = call.builder.build("nn.concat", spec)?;
    let table = call.builder.body.result(table, 0);
    let found = call.compressed(table, holds, 1)?;
    call.open.found.insert(truth, found);
    if call.open(holds).is_none() {
        call.open.conditions.insert(found, (holds, shape));
    }
    Ok(vec![found])
}

/// The truth values that a value was converted from, or the value itself.
fn truth(call: &NodeConversion<'_, '_>, x: Value) -> Value {
    let body = &*call.builder.body;
    let of = body.defining_op(x).map(|op| body.at(call.ctx(), op)).filter(|op| op.has(Traits::CAST));
    of.map(|op| op.operand(0)).filter(|of| call.element(*of) == call.ctx().int(1)).unwrap_or(x)
}

/// The coordinates along an axis of this size, none for the outermost, of elements with these flat indices;
/// `inner` is the number of elements per index.
fn coordinates(
    call: &mut NodeConversion<'_, '_>,
    numbers: Value,
    inside: Dim,
    size: Option<Dim>,
) -> Result<Value, Refusal> {
    let inside = number(call, inside)?;
    let along = call.two("nn.div", numbers, inside)?;
    let Some(size) = size else { return Ok(along) };
    let size = number(call, size)?;
    let whole = call.two("nn.div", along, size)?;
    let whole = call.two("nn.mul", whole, size)?;
    call.two("nn.sub", along, whole)
}
