//! Conversion of operators on boxes in detection networks: NonMaxSuppression, and RoiAlign, which reads
//! images inside of boxes.

use ir::dims::SizeArithmetic;
use ir::{Dim, FloatKind, TypeData, Value};

use super::pick::broadcast;
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
        // A box of negative size overlaps nothing, like an empty box.
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

/// The scores, and whether the number of boxes depends on data: then padding must not count as a score.
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

/// RoiAlign: the mean, or the maximum, of samples of an image in each bin of a box.
pub(crate) fn roi_align(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, boxes, images) = (call.operand(0)?, call.operand(1)?, call.operand(2)?);
    if call.rank(x)? != 4 {
        return Err("an image of other than four axes".into());
    }
    let &[count, corners] = &call.dims(boxes)?[..] else { return Err("boxes of other than two axes".into()) };
    call.require_equal(corners, Dim::Known(4));
    let &[numbers] = &call.dims(images)?[..] else { return Err("images of other than one axis".into()) };
    call.require_equal(numbers, count);
    let bins = [bins(call, "output_height")?, bins(call, "output_width")?];
    let samples = call.node.int("sampling_ratio")?.unwrap_or(0);
    if !(0..=MOST_SAMPLES).contains(&samples) {
        return Err(format!("`sampling_ratio` {samples}, expected 0 to {MOST_SAMPLES}").into());
    }
    let mode = match call.node.text("mode")?.unwrap_or("avg") {
        "avg" => "mean",
        "max" => "max",
        other => return Err(format!("`mode` {other:?}, expected \"avg\" or \"max\"").into()),
    };
    let ctx = call.ctx();
    let mut boxes = placed(call, boxes)?;
    let mut images = call.cast(images, ctx.int(64))?;
    if let (Some(of_boxes), Some(of_images)) = (call.open_along(boxes, 0), call.open_along(images, 0)) {
        boxes = call.filled(boxes, of_boxes, 0.0)?;
        images = call.filled(images, of_images, 0.0)?;
    }
    let pixels = call.transposed(x, &[0, 2, 3, 1])?;
    let attrs =
        [("bins", ctx.ints_attr(&bins)), ("samples", ctx.int_attr(samples)), ("mode", ctx.str_attr(mode))];
    let result = call.emit("nn.roi_align", &[pixels, boxes, images], &attrs)?;
    Ok(vec![call.transposed(result, &[0, 3, 1, 2])?])
}

/// The greatest number of samples in a bin, along an axis.
const MOST_SAMPLES: i64 = 1 << 12;

/// The number of bins of a box along the axis of an attribute.
fn bins(call: &NodeConversion<'_, '_>, name: &str) -> Result<i64, Refusal> {
    let size = call.node.int(name)?.unwrap_or(1);
    if (1..1 << 16).contains(&size) { Ok(size) } else { Err(format!("`{name}` is no size").into()) }
}

/// The boxes, given by two corners each, as lower corner and size, in elements of the image.
fn placed(call: &mut NodeConversion<'_, '_>, boxes: Value) -> Result<Value, Refusal> {
    let scale = call.number("spatial_scale", 1.0)?;
    let default = if call.version < 16 { "output_half_pixel" } else { "half_pixel" };
    let is_half = match call.node.text("coordinate_transformation_mode")?.unwrap_or(default) {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => return Err(format!("`coordinate_transformation_mode` {other:?}").into()),
    };
    let ctx = call.ctx();
    let mut boxes = boxes;
    if !matches!(ctx.type_data(call.element(boxes)), TypeData::Float(FloatKind::F32 | FloatKind::F64)) {
        boxes = call.cast(boxes, ctx.f32())?;
    }
    let scaled = call.with_number("nn.mul", boxes, scale)?;
    let moved = if is_half { call.with_number("nn.sub", scaled, 0.5)? } else { scaled };
    let start = call.part(moved, 1, Dim::Known(0), Dim::Known(2))?;
    let end = call.part(moved, 1, Dim::Known(2), Dim::Known(2))?;
    let mut length = call.two("nn.sub", end, start)?;
    if !is_half {
        length = call.with_number("nn.max", length, 1.0)?;
    }
    call.concatenated(&[start, length], 1)
}
