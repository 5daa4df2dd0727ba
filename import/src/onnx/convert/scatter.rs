//! Conversion of ScatterND under a mask: `x[mask] = updates`.
//!
//! ```text
//! ScatterND(x, transpose(NonZero(mask)), updates)  =>  select(mask, gather(updates, cum_sum(mask) - 1), x)
//! ```
//!
//! Each element is written once or not at all, so the order of writing does not matter, and nothing after
//! the updates is written. Other indices are refused.

use ir::dims::Sizes;
use ir::{Dim, Value};

use crate::onnx::call::{Call, Refusal};

/// ScatterND to where a condition holds.
pub(crate) fn scatter_nd(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, indices, updates) = (call.operand(0)?, call.operand(1)?, call.operand(2)?);
    let join = match call.node.text("reduction")?.unwrap_or("none") {
        "none" => None,
        "add" => Some("nn.add"),
        "mul" => Some("nn.mul"),
        "max" => Some("nn.max"),
        "min" => Some("nn.min"),
        other => return Err(format!("`reduction` {other:?}, expected add, max, min, mul or none").into()),
    };
    let (holds, found) =
        condition(call, indices).ok_or("indices that are not those of NonZero, transposed")?;
    let shape = call.dims(x)?;
    let sizes = Sizes(call.ctx());
    let fits = |own: &[Dim], other: &[Dim]| {
        own.len() == other.len() && own.iter().zip(other).all(|(a, b)| sizes.are_equal(*a, *b))
    };
    let rest = shape.get(found.len()..).filter(|_| fits(&shape[..found.len()], &found));
    let rest = rest.ok_or("indices that were found in another shape")?;
    let count = call.open(indices).map(|open| open.count);
    let written = call.open_along(updates, 0).map(|open| open.count);
    if call.open(x).is_some() || written != count || !fits(rest, &call.dims(updates)?[1..]) {
        return Err(
            "updates that are not one for each index, or of what has a size that depends on data".into()
        );
    }
    let picked = ranked(call, holds, updates)?;
    let picked = call.reshape_to(picked, &shape)?;
    let picked = join.map_or(Ok(picked), |join| call.two(join, x, picked))?;
    let mask = [&found[..], &vec![Dim::Known(1); rest.len()]].concat();
    let mask = call.reshape_to(holds, &mask)?;
    Ok(vec![call.emit("nn.select", &[mask, picked, x], &[])?])
}

/// The condition whose places these indices are, in a row, and the shape in which it stands.
fn condition(call: &Call<'_, '_>, indices: Value) -> Option<(Value, Vec<Dim>)> {
    let body = &*call.builder.body;
    let op = body.at(call.ctx(), body.defining_op(indices)?);
    let is_turned = op.name() == "nn.transpose" && op.ints("permutation").as_deref() == Some(&[1, 0]);
    if is_turned { call.open.conditions.get(&op.operand(0)).cloned() } else { None }
}

/// For each element of a condition the slice for it, where it holds; any other, where it does not.
fn ranked(call: &mut Call<'_, '_>, holds: Value, slices: Value) -> Result<Value, Refusal> {
    let int64 = call.ctx().int(64);
    let numbers = call.cast(holds, int64)?;
    let axis = [("axis", call.ctx().int_attr(0))];
    let ranks = call.emit("nn.cum_sum", &[numbers], &axis)?;
    let ranks = call.with_number("nn.sub", ranks, 1.0)?;
    let ranks = call.with_number("nn.max", ranks, 0.0)?;
    call.emit_open("nn.gather", &[slices, ranks], &axis, None)
}
