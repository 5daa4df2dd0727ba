//! Conversion of operators that take parts of a tensor or repeat them (Gather, Slice, Tile, ...).

use ir::dims::{self, SizeArithmetic};
use ir::{Attr, AttrData, Blob, Context, Dim, DimExpr, Value};

use super::counted::{bounds, expected_one, range_of_elements, stretched};
use super::doubles::is_double;
use super::opened::part_of_elements;
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::element::Element;
use crate::onnx::weights::Weight;

/// A window on a value: its start, its number of elements, and its step along each axis.
pub(super) struct SliceWindow {
    pub(super) starts: Vec<Dim>,
    pub(super) sizes: Vec<Dim>,
    pub(super) strides: Vec<i64>,
}

impl SliceWindow {
    /// The whole of a value of this shape.
    pub(super) fn whole(shape: &[Dim]) -> SliceWindow {
        let starts = vec![Dim::Known(0); shape.len()];
        SliceWindow { starts, sizes: shape.to_vec(), strides: vec![1; shape.len()] }
    }

    pub(super) fn emit(&self, call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
        if self.sizes == call.dims(x)? && self.strides.iter().all(|stride| *stride == 1) {
            return Ok(x);
        }
        call.emit("nn.slice", &[x], &self.attrs(call.ctx()))
    }

    pub(super) fn attrs(&self, ctx: &Context) -> Vec<(&'static str, Attr)> {
        let mut attrs = vec![("starts", ctx.dims_attr(&self.starts)), ("sizes", ctx.dims_attr(&self.sizes))];
        if self.strides.iter().any(|stride| *stride != 1) {
            attrs.push(("strides", ctx.ints_attr(&self.strides)));
        }
        attrs
    }
}

/// Slice: attributes up to version 9, operands from 10 on, which also brought steps. Bounds beyond the ends
/// are cut.
pub(crate) fn slice(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let given = |call: &NodeConversion<'_, '_>, name: &str, index: usize| match call.version {
        ..10 => Ok(call
            .node
            .ints(name)?
            .map(|ints| ints.iter().map(|int| dims::constant(call.ctx(), *int)).collect::<Vec<_>>())),
        _ => call.known_sizes(index),
    };
    let starts = given(call, "starts", 1)?.ok_or("the starts are left out")?;
    let ends = given(call, "ends", 2)?.ok_or("the ends are left out")?;
    let axes = match call.version {
        ..10 => call.node.ints("axes")?.map(<[i64]>::to_vec),
        _ => call.known_ints(3)?,
    };
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = call.known_ints(4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err("starts, ends, axes and steps of different lengths".into());
    }
    let mut part = SliceWindow::whole(&shape);
    let open = call.open(x);
    let mut of_open = None;
    for index in 0..starts.len() {
        let axis = call.axis(axes[index], shape.len())?;
        if let Some(open) = open.filter(|open| open.axis == axis) {
            of_open = Some((open, [starts[index], ends[index]], steps[index]));
            continue;
        }
        let (start, size) = along(call, shape[axis], starts[index], ends[index], steps[index])?;
        (part.starts[axis], part.sizes[axis], part.strides[axis]) = (start, size, steps[index]);
    }
    let part = part.emit(call, x)?;
    Ok(vec![match of_open {
        Some((open, bounds, step)) => part_of_elements(call, part, open, bounds, step)?,
        None => part,
    }])
}

/// The start of a slice of an axis of `size` elements, and its number of elements.
pub(super) fn along(
    call: &NodeConversion<'_, '_>,
    size: Dim,
    start: DimExpr,
    end: DimExpr,
    step: i64,
) -> Result<(Dim, Dim), Refusal> {
    let ctx = call.ctx();
    let numbers = (size.known(), ctx.dim_expr(start).constant(), ctx.dim_expr(end).constant());
    if let (Some(size), Some(start), Some(end)) = numbers {
        let (start, count) = along_known(size.cast_signed(), start, end, step)?;
        return Ok((Dim::Known(start.cast_unsigned()), Dim::Known(count.cast_unsigned())));
    }
    let text = SizeArithmetic(ctx).text(size);
    let size = SizeArithmetic(ctx).expr(size).ok_or("a slice of an axis of unknown size")?;
    if step < 1 {
        return Err(format!("a step of {step} along a size `{text}`, expected 1 or more").into());
    }
    let (start, end) = (cut(call, start, size)?, cut(call, end, size)?);
    let count = || {
        let room = dims::sub(ctx, end, start)?;
        let room =
            if call.is_at_most(start, end) { room } else { dims::max(ctx, room, dims::constant(ctx, 0))? };
        dims::ceil_div(ctx, room, dims::constant(ctx, step))
    };
    let count = count().ok_or_else(|| format!("a part of a size `{text}` that can't be written"))?;
    Ok((dims::size(ctx, start), dims::size(ctx, count)))
}

/// Bounds from here on mean the end of an axis.
pub(super) const ENDLESS: i64 = i32::MAX as i64;

/// A bound of a slice, counted from the end if it is below 0, and clamped to the axis.
fn cut(call: &NodeConversion<'_, '_>, bound: DimExpr, size: DimExpr) -> Result<DimExpr, Refusal> {
    let ctx = call.ctx();
    let zero = dims::constant(ctx, 0);
    if ctx.dim_expr(bound).constant().is_some_and(|bound| bound >= ENDLESS) {
        return Ok(size);
    }
    let found = || {
        let bound = match () {
            () if call.is_at_most(zero, bound) => bound,
            () if call.is_at_most(bound, dims::constant(ctx, -1)) => dims::add(ctx, bound, size)?,
            () => return None,
        };
        let bound = if call.is_at_most(zero, bound) { bound } else { dims::max(ctx, bound, zero)? };
        match () {
            () if call.is_at_most(bound, size) => Some(bound),
            () if call.is_at_most(size, bound) => Some(size),
            () => dims::min(ctx, bound, size),
        }
    };
    found().ok_or_else(|| {
        let bound = dims::print(ctx, bound);
        format!("a bound `{bound}` that may be below 0 or not, expected one of the two").into()
    })
}

fn along_known(size: i64, start: i64, end: i64, step: i64) -> Result<(i64, i64), Refusal> {
    let from_end = |bound: i64| if bound < 0 { bound.saturating_add(size) } else { bound };
    let (start, end) = (from_end(start), from_end(end));
    if step > 0 {
        let (start, end) = (start.clamp(0, size), end.clamp(0, size));
        let count = (end - start).max(0) as u64;
        return Ok((start.min((size - 1).max(0)), count.div_ceil(step as u64) as i64));
    }
    if step == 0 {
        return Err("a step of 0".into());
    }
    // A start before the beginning is moved to the beginning.
    let (start, end) = (start.clamp(0, (size - 1).max(0)), end.clamp(-1, size - 1));
    let count = if size == 0 { 0 } else { (start - end).max(0) as u64 };
    Ok((start, count.div_ceil(step.unsigned_abs()) as i64))
}

/// Gather along an axis; with known indices that follow one another, a slice.
pub(crate) fn gather(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, indices) = (call.operand(0)?, call.operand(1)?);
    let shape = call.dims(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(0), shape.len())?;
    let is_open = call.open_along(x, axis).is_some();
    if let Some((start, count)) = run_of_indices(call, shape[axis]).filter(|_| !is_open) {
        let mut part = SliceWindow::whole(&shape);
        part.starts[axis] = start;
        part.sizes[axis] = count;
        let part = part.emit(call, x)?;
        let joined = [&shape[..axis], &call.dims(indices)?, &shape[axis + 1..]].concat();
        return Ok(vec![match call.open(part) {
            Some(open) if open.axis > axis => {
                call.reshape_open(part, open, &joined, open.axis + joined.len() - shape.len())?
            }
            Some(open) => call.reshape_open(part, open, &joined, open.axis)?,
            None => call.reshape_to(part, &joined)?,
        }]);
    }
    Ok(vec![call.picked(x, indices, axis)?])
}

/// The start and number of the indices in operand 1 into an axis of this size, if they are consecutive and
/// all in range. A range of a named size counts as such, too.
fn run_of_indices(call: &NodeConversion<'_, '_>, size: Dim) -> Option<(Dim, Dim)> {
    let ctx = call.ctx();
    let zero = dims::constant(ctx, 0);
    let sizes = SizeArithmetic(ctx);
    let size = sizes.expr(size)?;
    if let Some(count) = iota_size(call, call.operand(1).ok()?) {
        return call.is_at_most(sizes.expr(count)?, size).then_some((Dim::Known(0), count));
    }
    let from_start = |index: DimExpr| match () {
        () if call.is_at_most(zero, index) => Some(index),
        () if call.is_at_most(index, dims::constant(ctx, -1)) => dims::add(ctx, index, size),
        () => None,
    };
    let known = call.known_sizes(1).ok().flatten()?;
    let known: Vec<DimExpr> = known.into_iter().map(from_start).collect::<Option<_>>()?;
    let one = dims::constant(ctx, 1);
    let follow = known.windows(2).all(|pair| dims::sub(ctx, pair[1], pair[0]) == Some(one));
    let first = *known.first()?;
    let last = *known.last()?;
    let is_inside = call.is_at_most(zero, first) && call.is_at_most(dims::add(ctx, last, one)?, size);
    (follow && is_inside).then(|| (dims::size(ctx, first), Dim::Known(known.len() as u64)))
}

/// The size of the range from 0 on that a value holds, in any shape.
fn iota_size(call: &NodeConversion<'_, '_>, value: Value) -> Option<Dim> {
    let ctx = call.ctx();
    let body = &*call.builder.body;
    let op = body.at(ctx, body.defining_op(value)?);
    if op.name() == "nn.reshape" {
        return iota_size(call, op.operand(0));
    }
    match ctx.attr_data(op.attr("size").filter(|_| op.name() == "nn.iota")?) {
        AttrData::Dims(size) => size.first().copied(),
        _ => None,
    }
}

pub(super) fn gather_along(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    indices: Value,
    axis: usize,
) -> Result<Value, Refusal> {
    let axis = call.ctx().int_attr(axis as i64);
    call.emit("nn.gather", &[x, indices], &[("axis", axis)])
}

/// Expand: the shape is broadcast with the input's.
pub(crate) fn expand(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let wanted = call.counted_sizes(1)?.ok_or("the shape is left out")?;
    let (wanted, open) = bounds(call, &wanted)?;
    let from = call.dims(x)?;
    let sizes = SizeArithmetic(call.ctx());
    let rank = wanted.len().max(from.len());
    let mut shape = Vec::with_capacity(rank);
    for axis in 0..rank {
        let one = Dim::Known(1);
        let own = (axis + from.len()).checked_sub(rank).map_or(one, |axis| from[axis]);
        let other = (axis + wanted.len()).checked_sub(rank).map_or(one, |axis| wanted[axis]);
        shape.push(match (own, other) {
            (Dim::Known(1), size) | (size, Dim::Known(1)) => size,
            (Dim::Known(own), Dim::Known(other)) if own != other && open.is_none() => {
                return Err(format!("sizes {own} and {other} of axis {axis}, of which none stretches").into());
            }
            _ if sizes.are_equal(own, other) || sizes.are_different(own, one) => own,
            _ if sizes.are_different(other, one) => other,
            _ => {
                call.require_stretch(own, other);
                let (own, other) = (sizes.text(own), sizes.text(other));
                return Err(format!(
                    "sizes {own} and {other} of axis {axis}, of which none is known to stretch"
                )
                .into());
            }
        });
    }
    Ok(vec![match open {
        Some(open) => stretched(call, x, &shape, open)?,
        None => {
            expected_one(call, x, &wanted)?;
            broadcast(call, x, &shape)?
        }
    }])
}

pub(super) fn broadcast(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    shape: &[Dim],
) -> Result<Value, Refusal> {
    if call.dims(x)? == shape {
        return Ok(x);
    }
    let shape = call.ctx().dims_attr(shape);
    call.emit("nn.broadcast", &[x], &[("shape", shape)])
}

/// Tile: the input repeated along each axis.
pub(crate) fn tile(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let times = call.known_sizes(1)?.ok_or("the repeats are left out")?;
    let shape = call.dims(x)?;
    let times: Vec<Dim> = times.into_iter().map(|times| dims::size(call.ctx(), times)).collect();
    if times.len() != shape.len() || times.contains(&Dim::Unknown) {
        return Err("repeats that are not one for each axis".into());
    }
    let apart: Vec<Dim> = shape.iter().flat_map(|size| [Dim::Known(1), *size]).collect();
    let wide: Vec<Dim> = times.iter().zip(&shape).flat_map(|(times, size)| [*times, *size]).collect();
    let sizes = SizeArithmetic(call.ctx());
    let joined: Vec<Dim> = times.iter().zip(&shape).map(|(times, size)| sizes.mul(*times, *size)).collect();
    if joined.contains(&Dim::Unknown) {
        return Err("more elements than can be counted".into());
    }
    let x = call.reshape_to(x, &apart)?;
    let x = broadcast(call, x, &wide)?;
    Ok(vec![call.reshape_to(x, &joined)?])
}

/// DepthToSpace: blocks of channels become blocks of pixels, in the order of `mode`.
pub(crate) fn depth_to_space(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, [n, c, h, w], block) = image_and_block(call)?;
    let sizes = SizeArithmetic(call.ctx());
    let side = Dim::Known(block);
    let area = block * block;
    if sizes.are_different(sizes.modulo(c, area), Dim::Known(0)) {
        return Err(format!("`{}` channels, expected a multiple of {area}", sizes.text(c)).into());
    }
    let rest = sizes.floor_div(c, Dim::Known(area));
    let (apart, order) = match call.node.text("mode")?.unwrap_or("DCR") {
        "DCR" => ([n, side, side, rest, h, w], [0, 3, 4, 1, 5, 2]),
        "CRD" => ([n, rest, side, side, h, w], [0, 1, 4, 2, 5, 3]),
        other => return Err(format!("`mode` {other:?}, expected \"DCR\" or \"CRD\"").into()),
    };
    rearranged(call, x, &apart, &order, &[n, rest, sizes.mul(h, side), sizes.mul(w, side)])
}

/// SpaceToDepth: blocks of pixels become blocks of channels.
pub(crate) fn space_to_depth(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, [n, c, h, w], block) = image_and_block(call)?;
    let sizes = SizeArithmetic(call.ctx());
    let side = Dim::Known(block);
    if [h, w].iter().any(|size| sizes.are_different(sizes.modulo(*size, block), Dim::Known(0))) {
        let (h, w) = (sizes.text(h), sizes.text(w));
        return Err(format!("`{h}` x `{w}` pixels, expected multiples of {block}").into());
    }
    let [rows, columns] = [h, w].map(|size| sizes.floor_div(size, side));
    let channels = sizes.product(&[c, side, side]);
    let apart = [n, c, rows, side, columns, side];
    let order = match call.node.text("mode")?.unwrap_or("DCR") {
        "DCR" => [0, 3, 5, 1, 2, 4],
        "CRD" => [0, 1, 3, 5, 2, 4],
        other => return Err(format!("`mode` {other:?}, expected \"DCR\" or \"CRD\"").into()),
    };
    rearranged(call, x, &apart, &order, &[n, channels, rows, columns])
}

fn image_and_block(call: &mut NodeConversion<'_, '_>) -> Result<(Value, [Dim; 4], u64), Refusal> {
    let x = call.operand(0)?;
    let image = <[Dim; 4]>::try_from(call.dims(x)?)
        .map_err(|shape| format!("an input of {} axes, expected 4", shape.len()))?;
    let block =
        call.node.int("blocksize")?.and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0);
    Ok((x, image, block.filter(|size| *size < 1 << 16).ok_or("`blocksize` is left out or not a size")?))
}

fn rearranged(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    apart: &[Dim],
    order: &[i64],
    joined: &[Dim],
) -> Results {
    let x = call.reshape_to(x, apart)?;
    let order = call.ctx().ints_attr(order);
    let x = call.emit("nn.transpose", &[x], &[("permutation", order)])?;
    Ok(vec![call.reshape_to(x, joined)?])
}

/// Size: the number of elements, a constant if all sizes are known.
pub(crate) fn size(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    if call.open(x).is_some() {
        return Ok(vec![call.open_size(x)?]);
    }
    let count = SizeArithmetic(call.ctx()).product(&call.dims(x)?);
    Ok(vec![number(call, count)?])
}

/// A tensor of rank 0 with a size.
pub(super) fn number(call: &mut NodeConversion<'_, '_>, size: Dim) -> Result<Value, Refusal> {
    match size {
        Dim::Known(size) => call.int64_constant(&[size.cast_signed()], &[]),
        Dim::Symbolic(_) => {
            let sizes = call.ctx().dims_attr(&[size]);
            let value = call.emit("nn.sizes", &[], &[("value", sizes)])?;
            call.reshape(value, &[])
        }
        Dim::Unknown => Err("a size that is not known".into()),
    }
}

/// ConstantOfShape: a tensor filled with one number.
pub(crate) fn constant_of_shape(call: &mut NodeConversion<'_, '_>) -> Results {
    let shape = call.counted_sizes(0)?.ok_or("the shape is left out")?;
    let (shape, open) = bounds(call, &shape)?;
    let filler = match call.node.tensor("value")? {
        Some(tensor) => {
            let name = call.node.outputs[0];
            let weight = call.read_tensor(tensor, &format!("const:{name}"))?;
            let value = call.constant(weight, name)?;
            call.reshape(value, &[])?
        }
        None => {
            let weight = Weight { element: Element::Float, dims: vec![], blob: Blob::from_bytes(vec![0; 4]) };
            call.constant(weight, call.node.outputs[0])?
        }
    };
    Ok(vec![match open {
        Some(open) => stretched(call, filler, &shape, open)?,
        None => broadcast(call, filler, &shape)?,
    }])
}

/// Range: from a start to a limit in steps, all of them constants, or sizes that are named or depend on data.
pub(crate) fn range(call: &mut NodeConversion<'_, '_>) -> Results {
    let numbers = |index| {
        let sizes = call.known_sizes(index).ok().flatten()?;
        sizes.iter().map(|size| call.ctx().dim_expr(*size).constant()).collect::<Option<Vec<i64>>>()
    };
    if let [Some(start), Some(limit), Some(step)] = [0, 1, 2].map(numbers) {
        let (&[start], &[limit], &[step]) = (&start[..], &limit[..], &step[..]) else {
            return Err("a start, limit or step that is not one number".into());
        };
        let count = range_count(start, limit, step)?;
        let values: Vec<i64> = (0..count).map(|at| start.wrapping_add(at.wrapping_mul(step))).collect();
        let range = call.int64_constant(&values, &[values.len() as u64])?;
        let elem = call.element(call.operand(0)?);
        return Ok(vec![if call.element(range) == elem { range } else { cast_to(call, range, elem)? }]);
    }
    if let Some(range) = range_of_elements(call)? {
        return Ok(vec![range]);
    }
    if let Some(range) = symbolic_range(call)? {
        return Ok(vec![range]);
    }
    let known = [0, 1, 2].map(|index| call.known_number(index));
    let [Ok(Some(start)), Ok(Some(limit)), Ok(Some(step))] = known else {
        return Err("a start, limit or step that is computed, expected constants".into());
    };
    if step == 0.0 {
        return Err(no_step());
    }
    let count = ((limit - start) / step).ceil().max(0.0);
    let count = if count <= MOST_IN_RANGE as f64 { count as u64 } else { return Err(too_many_in_range()) };
    let first = call.operand(0)?;
    let elem = call.element(first);
    let numbers = (0..count).map(|index| start + index as f64 * step);
    let (element, bytes): (_, Vec<u8>) = if is_double(call, first) {
        (Element::Double, numbers.flat_map(f64::to_le_bytes).collect())
    } else {
        (Element::Float, numbers.flat_map(|number| (number as f32).to_le_bytes()).collect())
    };
    let weight = Weight { element, dims: vec![count], blob: Blob::from_bytes(bytes) };
    let range = call.constant(weight, call.node.outputs[0])?;
    Ok(vec![if call.element(range) == elem { range } else { cast_to(call, range, elem)? }])
}

/// The greatest number of elements of a constant range: a file of a few bytes may ask for any.
const MOST_IN_RANGE: i64 = 1 << 24;

fn too_many_in_range() -> Refusal {
    format!("a range of more than {MOST_IN_RANGE} elements").into()
}

fn no_step() -> Refusal {
    "a range in steps of 0".into()
}

/// The number of integers between two bounds in steps.
fn range_count(start: i64, limit: i64, step: i64) -> Result<i64, Refusal> {
    if step == 0 {
        return Err(no_step());
    }
    let room = i128::from(limit) - i128::from(start);
    let step = i128::from(step);
    let is_towards = room != 0 && (step > 0) == (room > 0);
    let count = if is_towards { (room.abs() + step.abs() - 1) / step.abs() } else { 0 };
    i64::try_from(count).ok().filter(|count| *count <= MOST_IN_RANGE).ok_or_else(too_many_in_range)
}

/// A range of integers whose bounds follow from sizes; none if they do not.
fn symbolic_range(call: &mut NodeConversion<'_, '_>) -> Result<Option<Value>, Refusal> {
    let ctx = call.ctx();
    let bounds = [0, 1, 2].map(|index| call.known_sizes(index).ok().flatten());
    let [Some(start), Some(limit), Some(step)] = &bounds else { return Ok(None) };
    let (&[start], &[limit], &[step]) = (&start[..], &limit[..], &step[..]) else { return Ok(None) };
    let Some(by) = ctx.dim_expr(step).constant().filter(|step| *step > 0) else { return Ok(None) };
    let count = || {
        let room = dims::sub(ctx, limit, start)?;
        let room =
            if call.is_at_most(start, limit) { room } else { dims::max(ctx, room, dims::constant(ctx, 0))? };
        dims::ceil_div(ctx, room, step)
    };
    let Some(count @ Dim::Symbolic(_)) = count().map(|count| dims::size(ctx, count)) else { return Ok(None) };
    let mut range = call.emit("nn.iota", &[], &[("size", ctx.dims_attr(&[count]))])?;
    if by != 1 {
        range = call.with_number("nn.mul", range, by as f64)?;
    }
    if ctx.dim_expr(start).constant() != Some(0) {
        let start = number(call, dims::size(ctx, start))?;
        range = call.two("nn.add", range, start)?;
    }
    let elem = call.element(call.operand(0)?);
    Ok(Some(if call.element(range) == elem { range } else { cast_to(call, range, elem)? }))
}

fn cast_to(call: &mut NodeConversion<'_, '_>, x: Value, to: ir::Type) -> Result<Value, Refusal> {
    let to = call.ctx().type_attr(to);
    call.emit("nn.cast", &[x], &[("to", to)])
}
