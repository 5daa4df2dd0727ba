//! Conversion of operators that write slices or elements by index (ScatterND, ScatterElements, TopK, ...).
//!
//! All write to the flattened operand: indices become numbers of slices, like those of gathers. A mask
//! (`x[mask] = updates`) has a data-dependent number of positions, so there each element is selected instead:
//!
//! ```text
//! ScatterND(x, transpose(NonZero(mask)), updates)  =>  select(mask, gather(updates, cum_sum(mask) - 1), x)
//! ```

use ir::dims::SizeArithmetic;
use ir::{Dim, FloatKind, TypeData, Value};

use super::gather::PickedIndices;
use super::pick::{broadcast, number};
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// The operation by which attribute `reduction` joins an old and a new element.
fn join(call: &NodeConversion<'_, '_>) -> Result<&'static str, Refusal> {
    Ok(match call.node.text("reduction")?.unwrap_or("none") {
        "none" => "none",
        "add" => "add",
        "mul" => "mul",
        "max" => "max",
        "min" => "min",
        other => return Err(format!("`reduction` {other:?}, expected add, max, min, mul or none").into()),
    })
}

/// Writes one slice for each index into a value with a slice for each possible index.
fn written(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    (places, all): (Value, Dim),
    updates: Value,
    join: &str,
) -> Result<Value, Refusal> {
    let shape = call.dims(x)?;
    let sizes = SizeArithmetic(call.ctx());
    let count = sizes.product(&call.dims(places)?);
    let slice = sizes.floor_div(sizes.product(&shape), all);
    let elem = call.element(x);
    let is_half = matches!(call.ctx().type_data(elem), TypeData::Float(FloatKind::F16 | FloatKind::Bf16));
    let wide = if is_half && join != "none" { call.ctx().f32() } else { elem };
    let x = call.cast(x, wide)?;
    let updates = call.cast(updates, wide)?;
    let x = call.reshape_to(x, &[all, slice])?;
    let places = call.reshape_to(places, &[count])?;
    let updates = call.reshape_to(updates, &[count, slice])?;
    let join = call.ctx().str_attr(join);
    let attrs = if call.ctx().str_attr("none") == join { vec![] } else { vec![("join", join)] };
    let y = call.emit("nn.scatter", &[x, places, updates], &attrs)?;
    let y = call.cast(y, elem)?;
    call.reshape_to(y, &shape)
}

/// ScatterND.
pub(crate) fn scatter_nd(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, indices, updates) = (call.operand(0)?, call.operand(1)?, call.operand(2)?);
    if let Some((holds, found)) = condition(call, indices) {
        return scatter_by_condition(call, holds, &found);
    }
    let shape = call.dims(x)?;
    let picked = call.dims(indices)?;
    let (last, outer) = picked.split_last().ok_or("indices of rank 0")?;
    let depth = last.known().and_then(|depth| usize::try_from(depth).ok());
    let depth = depth.filter(|depth| (1..=shape.len()).contains(depth)).ok_or("indices of no axes")?;
    let mut places = PickedIndices::new(&shape[..depth], None);
    for axis in 0..depth {
        let along = call.part(indices, outer.len(), Dim::Known(axis as u64), Dim::Known(1))?;
        let along = call.reshape_to(along, outer)?;
        places.pick(call, axis, along)?;
    }
    let numbers = places.numbers(call)?;
    let join = join(call)?;
    Ok(vec![written(call, x, numbers, updates, join)?])
}

/// The flat indices, in a shape, of the elements whose index along an axis is given.
fn along(
    call: &mut NodeConversion<'_, '_>,
    shape: &[Dim],
    indices: Value,
    axis: usize,
) -> Result<(Value, Dim), Refusal> {
    let picked = call.dims(indices)?;
    if picked.len() != shape.len() {
        return Err(format!("indices of {} axes, expected {}", picked.len(), shape.len()).into());
    }
    let mut places = PickedIndices::new(shape, None);
    for (other, size) in picked.iter().enumerate() {
        if other == axis {
            places.pick(call, axis, indices)?;
        } else {
            places.stay(call, other, *size, (shape.len(), None))?;
        }
    }
    let (numbers, all) = places.numbers(call)?;
    Ok((broadcast(call, numbers, &picked)?, all))
}

/// ScatterElements, and Scatter before it.
pub(crate) fn scatter_elements(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, indices, updates) = (call.operand(0)?, call.operand(1)?, call.operand(2)?);
    let shape = call.dims(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(0), shape.len())?;
    let numbers = along(call, &shape, indices, axis)?;
    let join = join(call)?;
    Ok(vec![written(call, x, numbers, updates, join)?])
}

/// TensorScatter: slices written one after the other from an index on, one for each batch.
pub(crate) fn tensor_scatter(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, updates) = (call.operand(0)?, call.operand(1)?);
    let shape = call.dims(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(-2), shape.len())?;
    if axis == 0 {
        return Err("the axis of batches".into());
    }
    let sizes = call.dims(updates)?;
    if sizes.len() != shape.len() {
        return Err(format!("updates of {} axes for a value of {}", sizes.len(), shape.len()).into());
    }
    let steps = sizes[axis];
    let outer = &shape[..axis];
    let mut index = call.indices_along(steps, axis, axis + 1)?;
    if let Some(first) = call.optional(2) {
        let mut by_batch = vec![Dim::Known(1); axis + 1];
        by_batch[0] = shape[0];
        let first = call.cast(first, call.ctx().int(64))?;
        let first = call.reshape_to(first, &by_batch)?;
        index = call.two("nn.add", index, first)?;
    }
    match call.node.text("mode")?.unwrap_or("linear") {
        "linear" => {}
        "circular" => {
            let size = number(call, shape[axis])?;
            index = call.two("nn.rem", index, size)?;
        }
        other => return Err(format!("`mode` {other:?}, expected \"linear\" or \"circular\"").into()),
    }
    let mut places = PickedIndices::new(&shape[..=axis], None);
    for (other, size) in outer.iter().enumerate() {
        places.stay(call, other, *size, (axis + 1, None))?;
    }
    places.pick(call, axis, index)?;
    let (numbers, all) = places.numbers(call)?;
    let numbers = broadcast(call, numbers, &[outer, &[steps]].concat())?;
    Ok(vec![written(call, x, (numbers, all), updates, "none")?])
}

/// MaxUnpool: elements written to where MaxPool has found them; 0 elsewhere.
pub(crate) fn max_unpool(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, indices) = (call.operand(0)?, call.operand(1)?);
    let shape = call.shape(x)?;
    let rank = shape.len().saturating_sub(2);
    let list = |name: &str, default: Option<i64>, count: usize| -> Result<Vec<i64>, Refusal> {
        let given = call.node.ints(name)?.map(<[i64]>::to_vec);
        let all = given.or_else(|| Some(vec![default?; count])).filter(|all| all.len() == count);
        all.ok_or_else(|| format!("`{name}` has not {count} numbers").into())
    };
    let (kernel, strides) = (list("kernel_shape", None, rank)?, list("strides", Some(1), rank)?);
    let pads = list("pads", Some(0), 2 * rank)?;
    let mut whole = shape[..shape.len() - rank].to_vec();
    for axis in 0..rank {
        let covered = shape[2 + axis].cast_signed().saturating_sub(1).saturating_mul(strides[axis]);
        let size = covered.saturating_add(kernel[axis]) - pads[axis] - pads[rank + axis];
        whole.push(u64::try_from(size).ok().filter(|size| *size < 1 << 31).ok_or("a size of no image")?);
    }
    let all = Dim::Known(whole.iter().product());
    let zeros = call.filler(0.0, x, &[all])?;
    let y = written(call, zeros, (indices, all), x, "none")?;
    let mut y = call.reshape(y, &whole)?;
    if let Some(wanted) = call.known_ints(2)? {
        if wanted.len() != whole.len() {
            return Err("an output shape of another rank".into());
        }
        for (axis, (wanted, own)) in wanted.into_iter().zip(whole).enumerate() {
            y = call.padded(y, axis, [0, wanted - own.cast_signed()], 0.0)?;
        }
    }
    Ok(vec![y])
}

/// TopK: the largest or smallest elements along an axis, and their indices.
pub(crate) fn top_k(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(-1), shape.len())?;
    let count = match call.version {
        ..10 => call.node.int("k")?,
        _ => match call.known_ints(1)?.as_deref() {
            Some([count]) => Some(*count),
            _ => None,
        },
    };
    let count =
        count.and_then(|count| u64::try_from(count).ok()).ok_or("a number of elements that is no size")?;
    if shape[axis].known().is_some_and(|size| size < count) {
        return Err(format!("{count} of fewer elements").into());
    }
    let is_half =
        matches!(call.ctx().type_data(call.element(x)), TypeData::Float(FloatKind::F16 | FloatKind::Bf16));
    let sorted = if is_half { call.cast(x, call.ctx().f32())? } else { x };
    let mut attrs = vec![("axis", call.ctx().int_attr(axis as i64))];
    if call.node.truth("largest")?.unwrap_or(true) {
        attrs.push(("descending", call.ctx().unit_attr()));
    }
    let order = call.emit("nn.arg_sort", &[sorted], &attrs)?;
    let indices = call.part(order, axis, Dim::Known(0), Dim::Known(count))?;
    let (places, all) = along(call, &shape, indices, axis)?;
    let flat = call.reshape_to(x, &[all])?;
    Ok(vec![call.picked(flat, places, 0)?, indices])
}

/// ScatterND to the positions of a condition. Each element is written at most once, so the order of writes
/// does not matter, and the padding of the updates is not written.
fn scatter_by_condition(call: &mut NodeConversion<'_, '_>, holds: Value, found: &[Dim]) -> Results {
    let (x, indices, updates) = (call.operand(0)?, call.operand(1)?, call.operand(2)?);
    let join = match join(call)? {
        "none" => None,
        join => Some(format!("nn.{join}")),
    };
    let shape = call.dims(x)?;
    let sizes = SizeArithmetic(call.ctx());
    let fits = |own: &[Dim], other: &[Dim]| {
        own.len() == other.len() && own.iter().zip(other).all(|(a, b)| sizes.are_equal(*a, *b))
    };
    let rest = shape.get(found.len()..).filter(|_| fits(&shape[..found.len()], found));
    let rest = rest.ok_or("indices that were found in another shape")?;
    let count = call.open(indices).map(|open| open.count);
    let written = call.open_along(updates, 0).map(|open| open.count);
    if call.open(x).is_some() || written != count || !fits(rest, &call.dims(updates)?[1..]) {
        return Err(
            "updates that are not one for each index, or of what has a size that depends on data".into()
        );
    }
    let rows = ranked(call, holds, updates)?;
    let picked = call.reshape_to(rows, &shape)?;
    let joined = join.map_or(Ok(picked), |join| call.two(&join, x, picked))?;
    let mask_shape = [found, &vec![Dim::Known(1); rest.len()]].concat();
    let mask = call.reshape_to(holds, &mask_shape)?;
    Ok(vec![call.emit("nn.select", &[mask, joined, x], &[])?])
}

/// The flattened condition whose positions these indices are, and its shape.
fn condition(call: &NodeConversion<'_, '_>, indices: Value) -> Option<(Value, Vec<Dim>)> {
    let body = &*call.builder.body;
    let op = body.at(call.ctx(), body.defining_op(indices)?);
    let is_turned = op.name() == "nn.transpose" && op.ints("permutation").as_deref() == Some(&[1, 0]);
    if is_turned { call.open.conditions.get(&op.operand(0)).cloned() } else { None }
}

/// For each element of a condition: its slice if it is true, any other slice if it is false.
fn ranked(call: &mut NodeConversion<'_, '_>, holds: Value, slices: Value) -> Result<Value, Refusal> {
    let int64 = call.ctx().int(64);
    let numbers = call.cast(holds, int64)?;
    let axis = [("axis", call.ctx().int_attr(0))];
    let counts = call.emit("nn.cum_sum", &[numbers], &axis)?;
    let ranks = call.with_number("nn.sub", counts, 1.0)?;
    let indices = call.with_number("nn.max", ranks, 0.0)?;
    call.emit_open("nn.gather", &[slices, indices], &axis, None)
}
