//! Conversion of operators along one axis (ArgMax, CumSum, Hardmax, ...), and of GlobalLpPool.

use ir::dims::SizeArithmetic;
use ir::{Dim, FloatKind, TypeData, Value};

use super::opened::RangeEnd;
use crate::onnx::call::{NodeConversion, Refusal, Results, is_half};

/// ArgMax.
pub(crate) fn arg_max(call: &mut NodeConversion<'_, '_>) -> Results {
    arg(call, "nn.arg_max")
}

/// ArgMin.
pub(crate) fn arg_min(call: &mut NodeConversion<'_, '_>) -> Results {
    arg(call, "nn.arg_min")
}

fn arg(call: &mut NodeConversion<'_, '_>, name: &str) -> Results {
    let x = call.operand(0)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(0), call.rank(x)?)?;
    let mut attrs = vec![("axis", call.ctx().int_attr(axis as i64))];
    if call.node.truth("keepdims")?.unwrap_or(true) {
        attrs.push(("keepdims", call.ctx().unit_attr()));
    }
    if call.node.truth("select_last_index")?.unwrap_or(false) {
        attrs.push(("last", call.ctx().unit_attr()));
    }
    let Some(open) = call.open_along(x, axis) else {
        let x = comparable(call, x)?;
        return Ok(vec![call.emit(name, &[x], &attrs)?]);
    };
    let x = match call.ctx().type_data(call.element(x)) {
        // A NaN is never an extreme element, except in the first position.
        TypeData::Float(_) => call.filled(x, open, f64::NAN)?,
        _ if name == "nn.arg_max" => call.filled(x, open, call.extreme(x, RangeEnd::Least))?,
        _ => call.filled(x, open, call.extreme(x, RangeEnd::Greatest))?,
    };
    let x = comparable(call, x)?;
    let found = call.emit_open(name, &[x], &attrs, None)?;
    // If the last of equal integers counts, padding must not equal any element.
    let one = call.int(1)?;
    let last = call.two("nn.sub", open.count, one)?;
    let found = call.two("nn.min", found, last)?;
    Ok(vec![call.of_some(found, open.count)?])
}

/// The same numbers in a type with a kernel for extremes: floats of 16 bits are widened.
fn comparable(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let f32 = call.ctx().f32();
    match call.ctx().type_data(call.element(x)) {
        TypeData::Float(FloatKind::F16 | FloatKind::Bf16) => call.cast(x, f32),
        _ => Ok(x),
    }
}

/// CumSum.
pub(crate) fn cum_sum(call: &mut NodeConversion<'_, '_>) -> Results {
    cumulate(call, "nn.cum_sum")
}

/// CumProd.
pub(crate) fn cum_prod(call: &mut NodeConversion<'_, '_>) -> Results {
    cumulate(call, "nn.cum_prod")
}

fn cumulate(call: &mut NodeConversion<'_, '_>, name: &str) -> Results {
    let x = call.operand(0)?;
    let rank = call.rank(x)?;
    along_operand(call, 1, (rank, rank), |call, axis| {
        let mut attrs = vec![("axis", call.ctx().int_attr(axis as i64))];
        for flag in ["exclusive", "reverse"] {
            if call.node.truth(flag)?.unwrap_or(false) {
                attrs.push((flag, call.ctx().unit_attr()));
            }
        }
        // There is no machine code for floats of 16 bits.
        let elem = call.element(x);
        let wide = if is_half(call.ctx(), elem) { call.cast(x, call.ctx().f32())? } else { x };
        let y = match call.open_along(wide, axis) {
            None => call.emit(name, &[wide], &attrs)?,
            Some(open) => {
                let neutral = if name == "nn.cum_prod" { 1.0 } else { 0.0 };
                let filled = call.filled(wide, open, neutral)?;
                call.emit_open(name, &[filled], &attrs, Some(open))?
            }
        };
        call.cast(y, elem)
    })
}

/// The result of `make` along the axis given by operand `index`, one of the first `allowed` of `rank`. If the
/// axis is computed at run time, the results for all axes are computed, and one of them is gathered; the run
/// fails for an axis out of range.
pub(super) fn along_operand(
    call: &mut NodeConversion<'_, '_>,
    index: usize,
    (rank, allowed): (usize, usize),
    make: impl Fn(&mut NodeConversion<'_, '_>, usize) -> Result<Value, Refusal>,
) -> Results {
    let refusal = match call.known_ints(index) {
        Ok(axes) => {
            let Some([axis]) = axes.as_deref() else { return Err("the axis is not one number".into()) };
            let axis = call.axis(*axis, rank)?;
            return Ok(vec![make(call, axis)?]);
        }
        Err(refusal) => refusal,
    };
    let axis = call.operand(index)?;
    let x = call.operand(0)?;
    if call.shape(axis)?.iter().product::<u64>() != 1 || call.open(x).is_some() {
        return Err(refusal);
    }
    let mut found: Vec<Value> = Vec::new();
    for axis in 0..allowed {
        let value = make(call, axis)?;
        let shape = call.dims(value)?;
        let whole = [&[Dim::Known(1)], &shape[..]].concat();
        if found.first().map(|first| call.dims(*first)).transpose()?.is_some_and(|first| first != whole) {
            return Err(refusal);
        }
        found.push(call.reshape_to(value, &whole)?);
    }
    let [count, most] = [call.int(rank as i64)?, call.int(allowed as i64)?];
    let axis = call.reshape(axis, &[])?;
    let (axis, is_inside) = call.wrapped(axis, count)?;
    let axis = call.select(is_inside, axis, most)?;
    let all = call.concatenated(&found, 0)?;
    Ok(vec![call.picked(all, axis, 0)?])
}

/// Hardmax: 1 for the first largest element, else 0: along one axis from version 13 on; before, along all
/// dimensions from `axis` on.
pub(crate) fn hardmax(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let rank = shape.len();
    let axes = match (call.version >= 13, call.node.int("axis")?) {
        (true, axis) => {
            let axis = call.axis(axis.unwrap_or(-1), rank)?;
            axis..axis + 1
        }
        (false, axis) => call.position(axis.unwrap_or(1), rank)?..rank,
    };
    let count = |sizes: &[Dim]| SizeArithmetic(call.ctx()).product(sizes);
    let line = count(&shape[axes.clone()]);
    let apart = [count(&shape[..axes.start]), line, count(&shape[axes.end..])];
    let lines = call.reshape_to(x, &apart)?;
    let lines = comparable(call, lines)?;
    let attrs = [("axis", call.ctx().int_attr(1)), ("keepdims", call.ctx().unit_attr())];
    let found = call.emit("nn.arg_max", &[lines], &attrs)?;
    let indices = call.indices(line)?;
    let indices = call.reshape_to(indices, &[Dim::Known(1), line, Dim::Known(1)])?;
    let chosen = call.two("nn.eq", indices, found)?;
    let to = call.ctx().type_attr(call.element(x));
    let chosen = call.emit("nn.cast", &[chosen], &[("to", to)])?;
    Ok(vec![call.reshape_to(chosen, &shape)?])
}

/// GlobalLpPool: `(sum |x|^p)^(1/p)` of each channel.
pub(crate) fn global_lp_pool(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let p = match call.version {
        1 => call.node.float("p")?.unwrap_or(2.0).into(),
        _ => call.node.int("p")?.unwrap_or(2) as f64,
    };
    if p <= 0.0 {
        return Err(format!("`p` {p}, expected a number above 0").into());
    }
    let axes: Vec<i64> = (2..call.rank(x)? as i64).collect();
    let attrs = [("axes", call.ctx().ints_attr(&axes)), ("keepdims", call.ctx().unit_attr())];
    let sizes = call.emit("nn.abs", &[x], &[])?;
    let powers = match p {
        1.0 => sizes,
        2.0 => call.emit("nn.square", &[x], &[])?,
        _ => call.with_number("nn.pow", sizes, p)?,
    };
    let sum = call.emit("nn.reduce_sum", &[powers], &attrs)?;
    Ok(vec![match p {
        1.0 => sum,
        2.0 => call.emit("nn.sqrt", &[sum], &[])?,
        _ => call.with_number("nn.pow", sum, 1.0 / p)?,
    }])
}
