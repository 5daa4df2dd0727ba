//! Conversion of Split: a view of the operand for each part.

use ir::dims::{self, SizeArithmetic};
use ir::{Dim, DimExpr, Value};

use super::pick::SliceWindow;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// Split: sizes are an attribute up to version 12 and an operand from 13 on; left out, the parts are equal,
/// from version 18 on the last of them smaller if need be.
pub(crate) fn split(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(0), shape.len())?;
    let whole = shape[axis];
    let given = match call.version {
        ..13 => {
            let constant = |size: &i64| dims::constant(call.ctx(), *size);
            call.node.ints("split")?.map(|sizes| sizes.iter().map(constant).collect())
        }
        _ => call.known_sizes(1)?,
    };
    let count = call.node.outputs.len() as u64;
    let parts = match given {
        Some(given) => given_parts(call, whole, given)?,
        None if call.version >= 18 => nearly_equal_parts(call, whole, count)?,
        None => {
            let text = SizeArithmetic(call.ctx()).text(whole);
            let rest = SizeArithmetic(call.ctx()).modulo(whole, count);
            match (whole, rest) {
                (Dim::Unknown, _) => return Err("parts of an axis of unknown size".into()),
                (Dim::Known(_), Dim::Known(1..)) => {
                    return Err(format!("{count} equal parts of an axis of {text}").into());
                }
                (_, Dim::Known(0)) => {
                    vec![SizeArithmetic(call.ctx()).floor_div(whole, Dim::Known(count)); count as usize]
                }
                _ => return equal_parts(call, x, axis, count),
            }
        }
    };
    if parts.len() as u64 != count {
        return Err(format!("{} sizes of {count} parts", parts.len()).into());
    }
    let mut start = Dim::Known(0);
    let mut results = Vec::new();
    for size in parts {
        let mut part = SliceWindow::whole(&shape);
        (part.starts[axis], part.sizes[axis]) = (start, size);
        results.push(part.emit(call, x)?);
        start = SizeArithmetic(call.ctx()).add(start, size);
    }
    Ok(results)
}

/// Parts of given sizes, which must be all of the axis.
pub(crate) fn given_parts(
    call: &mut NodeConversion<'_, '_>,
    whole: Dim,
    given: Vec<DimExpr>,
) -> Result<Vec<Dim>, Refusal> {
    let sizes = SizeArithmetic(call.ctx());
    let parts: Vec<Dim> = given.into_iter().map(|size| dims::size(call.ctx(), size)).collect();
    let total = parts.iter().fold(Dim::Known(0), |total, size| sizes.add(total, *size));
    if sizes.are_equal(total, whole) {
        return Ok(parts);
    }
    call.require_equal(total, whole);
    Err(format!("parts of {} of an axis of {}", sizes.list(&parts), sizes.text(whole)).into())
}

/// This number of parts; the last is smaller if needed, or empty.
fn nearly_equal_parts(call: &NodeConversion<'_, '_>, whole: Dim, count: u64) -> Result<Vec<Dim>, Refusal> {
    let ctx = call.ctx();
    let sizes = SizeArithmetic(call.ctx());
    let text = || format!("{count} parts of an axis of {}", sizes.text(whole));
    let part = sizes.floor_div(sizes.offset(whole, count.cast_signed() - 1), Dim::Known(count));
    let size = |index: u64| {
        let (whole, part) = (sizes.expr(whole)?, sizes.expr(part)?);
        let before = dims::mul(ctx, part, dims::constant(ctx, index.cast_signed()))?;
        let rest = dims::sub(ctx, whole, before)?;
        let zero = dims::constant(ctx, 0);
        let rest = if call.is_at_most(zero, rest) { rest } else { dims::max(ctx, rest, zero)? };
        Some(dims::size(ctx, if call.is_at_most(part, rest) { part } else { dims::min(ctx, part, rest)? }))
    };
    (0..count).map(|index| size(index).ok_or_else(|| text().into())).collect()
}

/// This number of parts of an axis whose size they need not divide. At each run, only one number of elements
/// has these shapes.
fn equal_parts(call: &mut NodeConversion<'_, '_>, x: Value, axis: usize, count: u64) -> Results {
    let shape = call.dims(x)?;
    let size = SizeArithmetic(call.ctx()).floor_div(shape[axis], Dim::Known(count));
    let apart = [&shape[..axis], &[Dim::Known(count), size], &shape[axis + 1..]].concat();
    let one = [&shape[..axis], &[size], &shape[axis + 1..]].concat();
    let x = call.reshape_to(x, &apart)?;
    let mut parts = Vec::new();
    for index in 0..count {
        let mut part = SliceWindow::whole(&apart);
        (part.starts[axis], part.sizes[axis]) = (Dim::Known(index), Dim::Known(1));
        let part = part.emit(call, x)?;
        parts.push(call.reshape_to(part, &one)?);
    }
    Ok(parts)
}
