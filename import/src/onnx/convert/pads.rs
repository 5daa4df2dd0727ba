//! Conversion of Pad: a padding with a number, a concatenation with slices of the input, or a gather of its
//! elements.

use ir::dims::{self, SizeArithmetic};
use ir::{Context, Dim, DimExpr, Value};

use super::pick::{SliceWindow, broadcast, gather_along, number};
use crate::onnx::call::{MOST_WRITTEN, NodeConversion, Refusal, Results};

/// Pad: sizes are attributes up to version 10 and operands from 11 on. Mode `constant` is a padding; `edge`,
/// `reflect` and `wrap` pick elements of the input, and ignore the number that is padded with.
pub(crate) fn pad(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let ctx = call.ctx();
    let pads = match call.version {
        ..11 => {
            let pads = call.node.ints(if call.version == 1 { "paddings" } else { "pads" })?;
            pads.map(|pads| pads.iter().map(|pad| dims::constant(ctx, *pad)).collect())
        }
        _ => call.known_sizes(1)?,
    };
    let pads: Vec<DimExpr> = pads.ok_or("the pads are left out")?;
    let axes = match call.version {
        18.. => call.known_ints(3)?.unwrap_or_else(|| (0..shape.len() as i64).collect()),
        _ => (0..shape.len() as i64).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(format!("{} pads, expected two for each of {} axes", pads.len(), axes.len()).into());
    }
    let (mut low, mut high) = (vec![0; shape.len()], vec![0; shape.len()]);
    let mut named = Vec::new();
    for (index, axis) in axes.iter().enumerate() {
        let axis = call.axis(*axis, shape.len())?;
        let [before, after] = [pads[index], pads[axes.len() + index]];
        match [before, after].map(|pad| ctx.dim_expr(pad).constant()) {
            [Some(before), Some(after)] => (low[axis], high[axis]) = (before, after),
            _ => named.push((axis, [before, after])),
        }
    }
    let mode = call.node.text("mode")?.unwrap_or("constant");
    if mode != "constant" && !named.is_empty() {
        return Err(format!("pads of named sizes in mode {mode:?}, expected numbers").into());
    }
    match mode {
        "constant" => {
            let number = filler(call)?;
            if f64::from(number as f32) != number && !number.is_nan() {
                // `nn.pad` has an `f32` attribute.
                named.extend(taken_from(ctx, &mut low, &mut high));
            }
            let value = ctx.f32_attr(number as f32);
            let attrs = [("low", ctx.ints_attr(&low)), ("high", ctx.ints_attr(&high)), ("value", value)];
            let mut padded = x;
            if named.is_empty() || low.iter().chain(&high).any(|pad| *pad != 0) {
                padded = call.emit("nn.pad", &[x], &attrs)?;
            }
            for (axis, pads) in named {
                padded = surrounded(call, padded, axis, pads, number)?;
            }
            Ok(vec![padded])
        }
        "edge" => pad_from_inside(call, x, PadMode::Edge, &low, &high),
        "wrap" => pad_from_inside(call, x, PadMode::Wrap, &low, &high),
        "reflect" => pad_from_inside(call, x, PadMode::Reflect, &low, &high),
        other => Err(format!("`mode` {other:?}, expected constant, edge, reflect or wrap").into()),
    }
}

/// The number in the padding.
fn filler(call: &NodeConversion<'_, '_>) -> Result<f64, Refusal> {
    let number = match call.version {
        ..11 => call.node.float("value")?.map(f64::from),
        _ => call.known_number(2)?,
    };
    Ok(number.unwrap_or(0.0))
}

/// Moves the additions along each axis out of `low` and `high`, so that only removals (negative pads) remain
/// there.
fn taken_from(ctx: &Context, low: &mut [i64], high: &mut [i64]) -> Vec<(usize, [DimExpr; 2])> {
    let mut taken = Vec::new();
    for (axis, (low, high)) in low.iter_mut().zip(high).enumerate() {
        let around = [low, high].map(|pad| std::mem::replace(pad, (*pad).min(0)).max(0));
        if around != [0, 0] {
            taken.push((axis, around.map(|pad| dims::constant(ctx, pad))));
        }
    }
    taken
}

/// A value with a number before and after each axis, by these sizes.
fn surrounded(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    axis: usize,
    pads: [DimExpr; 2],
    number: f64,
) -> Result<Value, Refusal> {
    let ctx = call.ctx();
    let mut parts = [None, Some(x), None];
    for (place, pad) in [0, 2].into_iter().zip(pads) {
        if !call.is_at_most(dims::constant(ctx, 0), pad) {
            let pad = dims::print(ctx, pad);
            return Err(format!("a pad of `{pad}`, which may be below 0, expected 0 or more").into());
        }
        let mut shape = call.dims(x)?;
        shape[axis] = dims::size(ctx, pad);
        if shape[axis] != Dim::Known(0) {
            let filler = call.scalar_like(number, x)?;
            parts[place] = Some(broadcast(call, filler, &shape)?);
        }
    }
    joined(call, parts, axis)
}

/// A value with what stands before and after it along an axis.
fn joined(
    call: &mut NodeConversion<'_, '_>,
    parts: [Option<Value>; 3],
    axis: usize,
) -> Result<Value, Refusal> {
    let parts: Vec<Value> = parts.into_iter().flatten().collect();
    let axis = call.ctx().int_attr(axis as i64);
    call.emit("nn.concat", &parts, &[("axis", axis)])
}

/// The source element for a position outside of an axis.
#[derive(Clone, Copy)]
enum PadMode {
    /// The nearest one.
    Edge,
    /// That of the axis repeated periodically.
    Wrap,
    /// That of the axis repeated back and forth, with each end once.
    Reflect,
}

impl PadMode {
    /// The index of the element for position `at` of an axis of `size` elements, 1 or more.
    fn index(self, at: i64, size: i64) -> i64 {
        match self {
            PadMode::Edge => at.clamp(0, size - 1),
            PadMode::Wrap => at.rem_euclid(size),
            PadMode::Reflect => {
                let period = (2 * (size - 1)).max(1);
                let at = at.rem_euclid(period);
                at.min(period - at).min(size - 1)
            }
        }
    }

    /// [`PadMode::index`] of every element of `at`, for a size known at run time.
    fn indices(self, call: &mut NodeConversion<'_, '_>, at: Value, size: Value) -> Result<Value, Refusal> {
        let last = call.with_number("nn.sub", size, 1.0)?;
        match self {
            PadMode::Edge => {
                let at = call.two("nn.min", at, last)?;
                call.with_number("nn.max", at, 0.0)
            }
            PadMode::Wrap => remainder(call, at, size),
            PadMode::Reflect => {
                let period = call.with_number("nn.mul", last, 2.0)?;
                let period = call.with_number("nn.max", period, 1.0)?;
                let at = remainder(call, at, period)?;
                let back = call.two("nn.sub", period, at)?;
                let nearer = call.two("nn.min", at, back)?;
                call.two("nn.min", nearer, last)
            }
        }
    }
}

/// The nonnegative remainder of integers by a divisor above 0.
fn remainder(call: &mut NodeConversion<'_, '_>, at: Value, by: Value) -> Result<Value, Refusal> {
    let rest = call.two("nn.rem", at, by)?;
    let moved = call.two("nn.add", rest, by)?;
    call.two("nn.rem", moved, by)
}

fn pad_from_inside(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    mode: PadMode,
    low: &[i64],
    high: &[i64],
) -> Results {
    let shape = call.dims(x)?;
    let mut padded = x;
    for axis in (0..shape.len()).filter(|axis| low[*axis] != 0 || high[*axis] != 0) {
        if let Some(parts) = around(call, padded, mode, axis, [low[axis], high[axis]])? {
            padded = joined(call, parts, axis)?;
            continue;
        }
        let indices = match shape[axis] {
            Dim::Known(0) => return Err("an axis without elements, expected some to pick from".into()),
            Dim::Known(size) => {
                let size = size.cast_signed();
                let places = low[axis].saturating_neg()..size.saturating_add(high[axis]);
                if places.end.saturating_sub(places.start) > MOST_WRITTEN.cast_signed() {
                    return Err(format!("an axis padded to more than {MOST_WRITTEN} elements").into());
                }
                let picked: Vec<i64> = places.map(|at| mode.index(at, size)).collect();
                call.int64_constant(&picked, &[picked.len() as u64])?
            }
            size => {
                let count = SizeArithmetic(call.ctx()).offset(size, low[axis].saturating_add(high[axis]));
                let from_low = call.indices(count)?;
                let places = call.with_number("nn.sub", from_low, low[axis] as f64)?;
                let size = number(call, size)?;
                mode.indices(call, places, size)?
            }
        };
        padded = gather_along(call, padded, indices, axis)?;
    }
    Ok(vec![padded])
}

/// The parts of a padded axis: slices of `x` before and after it, and `x` itself. None if these would be more
/// than one slice on a side, or the axis is of a named size.
fn around(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    mode: PadMode,
    axis: usize,
    pads: [i64; 2],
) -> Result<Option<[Option<Value>; 3]>, Refusal> {
    let shape = call.dims(x)?;
    let Dim::Known(size) = shape[axis] else { return Ok(None) };
    let most = match mode {
        PadMode::Reflect => size.saturating_sub(1),
        PadMode::Wrap | PadMode::Edge => size,
    };
    let [Ok(before), Ok(after)] = pads.map(u64::try_from) else { return Ok(None) };
    if size == 0 || before.max(after) > most {
        return Ok(None);
    }
    // Where the slices begin, and their direction; an edge is one element, repeated.
    let (starts, stride) = match mode {
        PadMode::Reflect => ([before, size.saturating_sub(2)], -1),
        PadMode::Wrap => ([size - before, 0], 1),
        PadMode::Edge => ([0, size - 1], 1),
    };
    let mut parts = [None, Some(x), None];
    for (place, (start, count)) in [0, 2].into_iter().zip(starts.into_iter().zip([before, after])) {
        if count == 0 {
            continue;
        }
        let mut window = SliceWindow::whole(&shape);
        window.starts[axis] = Dim::Known(start);
        window.sizes[axis] = Dim::Known(if let PadMode::Edge = mode { 1 } else { count });
        window.strides[axis] = stride;
        let slice = window.emit(call, x)?;
        window.sizes[axis] = Dim::Known(count);
        parts[place] = Some(broadcast(call, slice, &window.sizes)?);
    }
    Ok(Some(parts))
}
