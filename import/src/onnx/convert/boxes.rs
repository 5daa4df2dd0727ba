//! Conversion of what detection networks do with boxes: NonMaxSuppression, and RoiAlign, which reads images
//! at places inside boxes.

use ir::dims::SizeArithmetic;
use ir::{Dim, FloatKind, TypeData, Value};

use super::pick::broadcast;
use super::sample::{ImageAxis, Tap, crossed};
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::open::OpenAxis;

/// NonMaxSuppression: for each image and class, the boxes of the highest scores that do not overlap. How many
/// they are depends on data; a limit that is a constant bounds it.
pub(crate) fn non_max_suppression(call: &mut NodeConversion<'_, '_>) -> Results {
    let boxes = corners(call)?;
    let (scores, counted) = scores(call, boxes)?;
    let shape = call.dims(scores)?;
    let &[images, classes, count] = &shape[..] else { return Err("scores of other than three axes".into()) };
    for (own, expected) in call.dims(boxes)?.into_iter().zip([images, count, Dim::Known(4)]) {
        call.require_equal(own, expected);
    }
    let int64 = call.ctx().int(64);
    let most = match call.optional(2) {
        Some(most) => call.cast(most, int64)?,
        None => call.int(0)?,
    };
    let places = match call.known_ints(2) {
        Ok(most) => most.map_or(Some(0), |most| most.first().copied()),
        Err(_) => None,
    };
    let places = places.map_or(count, |places| {
        SizeArithmetic(call.ctx()).min(count, Dim::Known(u64::try_from(places).unwrap_or(0)))
    });
    let overlap = limit(call, 3, 0.0, scores)?;
    let least = limit(call, 4, f64::NAN, scores)?;
    let most = call.reshape(most, &[])?;
    let attrs = [("places", call.ctx().dims_attr(&[places]))];
    let operands = [boxes, scores, most, overlap, least];
    let picked = if counted {
        call.emit_open("nn.non_max_suppression", &operands, &attrs, None)?
    } else {
        call.emit("nn.non_max_suppression", &operands, &attrs)?
    };
    let op = call.builder.body.defining_op(picked).expect("it was just made");
    let is_picked = call.builder.body.result(op, 1);
    let all = [images, classes, places];
    let mut columns = Vec::new();
    for axis in [0, 1] {
        let along = call.indices_along(all[axis], axis, 3)?;
        columns.push(broadcast(call, along, &all)?);
    }
    columns.push(picked);
    let count = SizeArithmetic(call.ctx()).product(&all);
    for column in &mut columns {
        *column = call.reshape_to(*column, &[count, Dim::Known(1)])?;
    }
    let table = call.concatenated(&columns, 1)?;
    let is_picked = call.reshape_to(is_picked, &[count])?;
    Ok(vec![call.compressed(table, is_picked, 0)?])
}

/// A threshold, or its default.
fn limit(
    call: &mut NodeConversion<'_, '_>,
    index: usize,
    default: f64,
    like: Value,
) -> Result<Value, Refusal> {
    match call.optional(index) {
        Some(limit) => call.reshape(limit, &[]),
        None => call.scalar_like(default, like),
    }
}

/// The boxes, as two opposite corners each.
fn corners(call: &mut NodeConversion<'_, '_>) -> Result<Value, Refusal> {
    let boxes = call.operand(0)?;
    if !matches!(call.ctx().type_data(call.element(boxes)), TypeData::Float(FloatKind::F32)) {
        return Err("boxes that are not of f32".into());
    }
    match call.node.int("center_point_box")?.unwrap_or(0) {
        0 => return Ok(boxes),
        1 => {}
        other => return Err(format!("`center_point_box` {other}, expected 0 or 1").into()),
    }
    let shape = call.dims(boxes)?;
    let last = shape.len().saturating_sub(1);
    let mut column = |index| call.part(boxes, last, Dim::Known(index), Dim::Known(1));
    let (centres, sizes) = ([column(1)?, column(0)?], [column(3)?, column(2)?]);
    let mut halves = Vec::new();
    for size in sizes {
        // What is smaller than nothing overlaps nothing, as what is nothing.
        let size = call.with_number("nn.max", size, 0.0)?;
        halves.push(call.with_number("nn.div", size, 2.0)?);
    }
    let mut parts = Vec::new();
    for name in ["nn.sub", "nn.add"] {
        for (centre, half) in centres.iter().zip(&halves) {
            parts.push(call.two(name, *centre, *half)?);
        }
    }
    call.concatenated(&parts, last)
}

/// The scores; and whether the number of boxes depends on data: then what lies after the elements is no
/// score.
fn scores(call: &mut NodeConversion<'_, '_>, boxes: Value) -> Result<(Value, bool), Refusal> {
    let scores = call.operand(1)?;
    match (call.open(boxes), call.open(scores)) {
        (None, None) => Ok((scores, false)),
        (Some(OpenAxis { axis: 1, count }), Some(open @ OpenAxis { axis: 2, .. })) if open.count == count => {
            Ok((call.filled(scores, open, f64::NAN)?, true))
        }
        _ => Err("boxes and scores whose numbers depend on different data".into()),
    }
}

/// Samples in a bin, along an axis, at most: each is read on its own.
const MOST_SAMPLES: i64 = 8;

/// RoiAlign: the mean, or the maximum, of samples of an image in each bin of a box.
pub(crate) fn roi_align(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, boxes, images) = (call.operand(0)?, call.operand(1)?, call.operand(2)?);
    let &[batch, channels, height, width] = &call.dims(x)?[..] else {
        return Err("an image of other than four axes".into());
    };
    let [Some(height), Some(width)] = [height.known(), width.known()] else {
        return Err("an image of a size that is not known".into());
    };
    let &[count, corners] = &call.dims(boxes)?[..] else { return Err("boxes of other than two axes".into()) };
    call.require_equal(corners, Dim::Known(4));
    let &[numbers] = &call.dims(images)?[..] else { return Err("images of other than one axis".into()) };
    call.require_equal(numbers, count);
    let bins = [bins(call, "output_height")?, bins(call, "output_width")?];
    let samples = call.node.int("sampling_ratio")?.unwrap_or(0);
    if !(1..=MOST_SAMPLES).contains(&samples) {
        let message = format!("`sampling_ratio` {samples}, expected 1 to {MOST_SAMPLES}");
        let help = "at 0 the number of samples depends on the sizes of the boxes".to_owned();
        return Err(Refusal { message, help: Some(help) });
    }
    let join = match call.node.text("mode")?.unwrap_or("avg") {
        "avg" => "nn.add",
        "max" => "nn.max",
        other => return Err(format!("`mode` {other:?}, expected \"avg\" or \"max\"").into()),
    };
    let rows = sampled(call, boxes, 1, height, bins[0], samples)?;
    let columns = sampled(call, boxes, 0, width, bins[1], samples)?;
    let sizes = SizeArithmetic(call.ctx());
    let area = height.checked_mul(width).ok_or("an image larger than memory")?;
    let all = sizes.mul(batch, Dim::Known(area));
    let pixels = call.transposed(x, &[0, 2, 3, 1])?;
    let pixels = call.reshape_to(pixels, &[all, channels])?;
    let int64 = call.ctx().int(64);
    let first = call.cast(images, int64)?;
    let first = call.with_number("nn.mul", first, area as f64)?;
    let index = call.reshape_to(first, &[count, Dim::Known(1), Dim::Known(1)])?;
    let first = Tap { index, weight: None, exists: None };
    let mut result = None;
    for row in &rows {
        for column in &columns {
            let taps = crossed(call, std::slice::from_ref(&first), row, width)?;
            let taps = crossed(call, &taps, column, 1)?;
            let mut sample = None;
            for tap in &taps {
                let term = tap.read(call, pixels)?;
                sample = Some(sample.map_or(Ok(term), |sample| call.two(join, sample, term))?);
            }
            let sample = sample.ok_or("nothing is read")?;
            result = Some(result.map_or(Ok(sample), |result| call.two(join, result, sample))?);
        }
    }
    let mut result = result.ok_or("no sample is read")?;
    if join == "nn.add" {
        result = call.with_number("nn.div", result, (samples * samples) as f64)?;
    }
    Ok(vec![call.transposed(result, &[0, 3, 1, 2])?])
}

/// How many bins a box has in the direction of an attribute.
fn bins(call: &NodeConversion<'_, '_>, name: &str) -> Result<u64, Refusal> {
    let size = call.node.int(name)?.unwrap_or(1);
    let size = u64::try_from(size).ok().filter(|size| (1..1 << 16).contains(size));
    size.ok_or_else(|| format!("`{name}` is no size").into())
}

/// What is read along an axis of an image for each sample of a bin: the taps of all boxes and bins, for axis
/// 0, the columns, `[count, 1, bins]`, for the rows `[count, bins, 1]`.
fn sampled(
    call: &mut NodeConversion<'_, '_>,
    boxes: Value,
    axis: u64,
    size: u64,
    bins: u64,
    samples: i64,
) -> Result<Vec<Vec<Tap>>, Refusal> {
    let scale = call.number("spatial_scale", 1.0)?;
    let default = if call.version < 16 { "output_half_pixel" } else { "half_pixel" };
    let is_half = match call.node.text("coordinate_transformation_mode")?.unwrap_or(default) {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => return Err(format!("`coordinate_transformation_mode` {other:?}").into()),
    };
    let mut edge = |index: u64| -> Result<Value, Refusal> {
        let edge = call.part(boxes, 1, Dim::Known(index), Dim::Known(1))?;
        let edge = call.with_number("nn.mul", edge, scale)?;
        if is_half { call.with_number("nn.sub", edge, 0.5) } else { Ok(edge) }
    };
    let (start, end) = (edge(axis)?, edge(axis + 2)?);
    let mut length = call.two("nn.sub", end, start)?;
    if !is_half {
        length = call.with_number("nn.max", length, 1.0)?;
    }
    let bin = call.with_number("nn.div", length, bins as f64)?;
    let numbers: Vec<f64> = (0..bins).map(|bin| bin as f64).collect();
    let numbers = call.numbers_like(&numbers, &[1, bins], boxes)?;
    let steps = call.two("nn.mul", numbers, bin)?;
    let from = call.two("nn.add", start, steps)?;
    let count = call.dims(boxes)?[0];
    let shape = if axis == 0 {
        [count, Dim::Known(1), Dim::Known(bins)]
    } else {
        [count, Dim::Known(bins), Dim::Known(1)]
    };
    let image = ImageAxis::of_pixels(size);
    let mut taps = Vec::new();
    for sample in 0..samples {
        let inside = call.with_number("nn.mul", bin, sample as f64 + 0.5)?;
        let inside = call.with_number("nn.div", inside, samples as f64)?;
        let place = call.two("nn.add", from, inside)?;
        let place = call.reshape_to(place, &shape)?;
        taps.push(near(call, &image, place, size)?);
    }
    Ok(taps)
}

/// The two elements around a place; those at most one element beyond the border are the border's.
fn near(
    call: &mut NodeConversion<'_, '_>,
    image: &ImageAxis,
    place: Value,
    size: u64,
) -> Result<Vec<Tap>, Refusal> {
    let after = call.with_number("nn.ge", place, -1.0)?;
    let before = call.with_number("nn.le", place, size as f64)?;
    let exists = call.two("nn.and", after, before)?;
    let least = call.with_number("nn.max", place, 0.0)?;
    let place = call.with_number("nn.min", least, size as f64 - 1.0)?;
    let mut taps = image.taps_at(call, place, "linear")?;
    for tap in &mut taps {
        tap.exists = Some(exists);
    }
    Ok(taps)
}
