//! Conversion of signal processing: windows, DFT, STFT, MelWeightMatrix. Transforms are products with
//! matrices of sines and cosines.

use std::f64::consts::TAU;

use ir::{Type, Value};

use super::along::along_operand;
use super::composed::numbered_type;
use crate::onnx::call::{NodeConversion, Refusal, Results, is_half};
use ir::Dim;

/// The greatest number of elements of a table.
const MOST: u64 = 1 << 24;

/// A small size that is a known operand.
fn known_size(call: &NodeConversion<'_, '_>, index: usize) -> Result<Option<u64>, Refusal> {
    let Some(numbers) = call.known_ints(index)? else { return Ok(None) };
    match numbers[..] {
        [number] if (1..MOST.cast_signed()).contains(&number) => Ok(Some(number.unsigned_abs())),
        _ => Err(format!("input {index} is no size").into()),
    }
}

/// The type whose number is an attribute, or `f32`.
fn output_type(call: &NodeConversion<'_, '_>) -> Result<Type, Refusal> {
    match call.node.int("output_datatype")? {
        Some(number) => numbered_type(call, "output_datatype", number),
        None => Ok(call.ctx().f32()),
    }
}

/// A table of numbers of a type.
fn table(
    call: &mut NodeConversion<'_, '_>,
    numbers: &[f64],
    shape: &[u64],
    elem: Type,
) -> Result<Value, Refusal> {
    call.numbers_of(numbers, shape, elem)
}

/// A sum of cosines with these weights, periodic or symmetric.
fn window(call: &mut NodeConversion<'_, '_>, weights: &[f64]) -> Results {
    let size = known_size(call, 0)?.ok_or("the size is left out")?;
    let is_periodic = call.node.truth("periodic")?.unwrap_or(true);
    let period = if is_periodic { size } else { size - 1 } as f64;
    let number = |index: u64| {
        let angle = TAU * index as f64 / period;
        let terms = weights.iter().enumerate().map(|(order, weight)| weight * (angle * order as f64).cos());
        terms.sum::<f64>()
    };
    let numbers: Vec<f64> = (0..size).map(number).collect();
    let elem = output_type(call)?;
    Ok(vec![table(call, &numbers, &[size], elem)?])
}

/// HannWindow.
pub(crate) fn hann_window(call: &mut NodeConversion<'_, '_>) -> Results {
    window(call, &[0.5, -0.5])
}

/// HammingWindow.
pub(crate) fn hamming_window(call: &mut NodeConversion<'_, '_>) -> Results {
    window(call, &[25.0 / 46.0, -21.0 / 46.0])
}

/// BlackmanWindow.
pub(crate) fn blackman_window(call: &mut NodeConversion<'_, '_>) -> Results {
    window(call, &[0.42, -0.5, 0.08])
}

/// Cosines, then sines, of `2 pi row column / length`, times a factor: two matrices.
fn waves(
    call: &mut NodeConversion<'_, '_>,
    [rows, columns, length]: [u64; 3],
    factor: &dyn Fn(u64) -> f64,
    like: Value,
) -> Result<[Value; 2], Refusal> {
    if rows.saturating_mul(columns) > MOST {
        return Err(format!("a transform of {rows} by {columns} numbers").into());
    }
    let angle = |index: u64| {
        let turns = (index / columns) * (index % columns) % length;
        TAU * turns as f64 / length as f64
    };
    let count = rows * columns;
    let cosines: Vec<f64> = (0..count).map(|at| angle(at).cos() * factor(at / columns)).collect();
    let sines: Vec<f64> = (0..count).map(|at| angle(at).sin() * factor(at / columns)).collect();
    Ok([
        call.numbers_like(&cosines, &[rows, columns], like)?,
        call.numbers_like(&sines, &[rows, columns], like)?,
    ])
}

/// The direction and result of a transform.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transform {
    /// To all frequencies, or to those up to half the length.
    Forward,
    ForwardHalf,
    Inverse,
    /// From the frequencies up to half the length to real numbers.
    InverseHalf,
}

/// The transform along the last axis: real parts, and imaginary parts if there are any, of the operand and of
/// the result.
fn transformed(
    call: &mut NodeConversion<'_, '_>,
    [real, imaginary]: [Option<Value>; 2],
    length: u64,
    transform: Transform,
) -> Result<[Option<Value>; 2], Refusal> {
    let real = real.ok_or("no real part")?;
    let axis = call.rank(real)? - 1;
    let rows = call.shape(real)?[axis];
    let columns = if transform == Transform::ForwardHalf { length / 2 + 1 } else { length };
    let scale = 1.0 / length as f64;
    let factor = |row: u64| match transform {
        Transform::Forward | Transform::ForwardHalf => 1.0,
        Transform::Inverse => scale,
        // Each frequency except the first and the middle one also counts for its negative.
        Transform::InverseHalf if row == 0 || 2 * row == length => scale,
        Transform::InverseHalf => 2.0 * scale,
    };
    let [cosines, sines] = waves(call, [rows, columns, length], &factor, real)?;
    let is_forward = matches!(transform, Transform::Forward | Transform::ForwardHalf);
    let [add, subtract] = if is_forward { ["nn.add", "nn.sub"] } else { ["nn.sub", "nn.add"] };
    let mut new_real = call.two("nn.matmul", real, cosines)?;
    if let Some(imaginary) = imaginary {
        let part = call.two("nn.matmul", imaginary, sines)?;
        new_real = call.two(add, new_real, part)?;
    }
    if transform == Transform::InverseHalf {
        return Ok([Some(new_real), None]);
    }
    let part = call.two("nn.matmul", real, sines)?;
    let zero = call.scalar_like(0.0, part)?;
    let mut new_imaginary = call.two(subtract, zero, part)?;
    if let Some(imaginary) = imaginary {
        let part = call.two("nn.matmul", imaginary, cosines)?;
        new_imaginary = call.two("nn.add", new_imaginary, part)?;
    }
    Ok([Some(new_real), Some(new_imaginary)])
}

/// The components of numbers in the last axis: real, and imaginary if there are two.
fn parts(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<[Option<Value>; 2], Refusal> {
    let shape = call.shape(x)?;
    let (last, rest) = shape.split_last().ok_or("a number, expected a signal")?;
    let mut parts = [None, None];
    if !(1..=2).contains(last) {
        return Err(format!("numbers of {last} parts, expected 1 or 2").into());
    }
    for (index, part) in parts.iter_mut().enumerate().take(*last as usize) {
        let slice = call.part(x, rest.len(), Dim::Known(index as u64), Dim::Known(1))?;
        *part = Some(call.reshape(slice, rest)?);
    }
    Ok(parts)
}

/// Components stacked along a new last axis.
fn side_by_side(call: &mut NodeConversion<'_, '_>, parts: [Option<Value>; 2]) -> Result<Value, Refusal> {
    let mut all = Vec::new();
    for part in parts.into_iter().flatten() {
        let shape = call.shape(part)?;
        all.push(call.reshape(part, &[&shape[..], &[1]].concat())?);
    }
    let axis = call.rank(all[0])? - 1;
    if all.len() == 1 { Ok(all[0]) } else { call.concatenated(&all, axis) }
}

/// DFT along an axis. The last axis has the real and the imaginary part.
pub(crate) fn dft(call: &mut NodeConversion<'_, '_>) -> Results {
    let rank = call.rank(call.operand(0)?)?;
    if call.version >= 20 && call.optional(2).is_some() {
        return along_operand(call, 2, (rank, rank.saturating_sub(1)), dft_along);
    }
    let axis = if call.version < 20 { call.node.int("axis")?.unwrap_or(1) } else { -2 };
    let axis = call.axis(axis, rank)?;
    Ok(vec![dft_along(call, axis)?])
}

fn dft_along(call: &mut NodeConversion<'_, '_>, axis: usize) -> Result<Value, Refusal> {
    let x = call.operand(0)?;
    let rank = call.rank(x)?;
    if axis + 1 == rank {
        return Err("the axis of real and imaginary parts".into());
    }
    let is_inverse = call.node.truth("inverse")?.unwrap_or(false);
    let transform = match (is_inverse, call.node.truth("onesided")?.unwrap_or(false)) {
        (false, false) => Transform::Forward,
        (false, true) => Transform::ForwardHalf,
        (true, false) => Transform::Inverse,
        (true, true) => Transform::InverseHalf,
    };
    let own = call.shape(x)?[axis];
    let length = known_size(call, 1)?;
    let default = if transform == Transform::InverseHalf { 2 * own.saturating_sub(1) } else { own };
    let length = length.unwrap_or(default);
    let taken = if transform == Transform::InverseHalf { length / 2 + 1 } else { length };
    if length == 0 {
        return Err("a transform of length 0".into());
    }
    let mut parts = parts(call, x)?;
    let mut order: Vec<i64> = (0..rank as i64 - 1).filter(|other| *other != axis as i64).collect();
    order.push(axis as i64);
    for part in parts.iter_mut().flatten() {
        *part = call.transposed(*part, &order)?;
        *part = call.part(*part, rank - 2, Dim::Known(0), Dim::Known(own.min(taken)))?;
    }
    let mut found = transformed(call, parts, length, transform)?;
    let back: Vec<i64> = (0..rank as i64 - 1)
        .map(|at| order.iter().position(|other| *other == at).unwrap_or(0) as i64)
        .collect();
    for part in found.iter_mut().flatten() {
        *part = call.transposed(*part, &back)?;
    }
    side_by_side(call, found)
}

/// STFT: the transforms of windows that begin every `frame_step` samples.
pub(crate) fn stft(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let step = known_size(call, 1)?.ok_or("the step is left out")?;
    let window = call.optional(2);
    let length = match (known_size(call, 3)?, window) {
        (Some(length), _) => length,
        (None, Some(window)) => call.shape(window)?.first().copied().unwrap_or(0),
        (None, None) => return Err("neither a window nor its length".into()),
    };
    let mut parts = parts(call, x)?;
    let [batch, samples] = call.shape(parts[0].ok_or("no real part")?)?[..] else {
        return Err("a signal that is not [batch, samples, parts]".into());
    };
    let frames = samples.checked_sub(length).filter(|_| length > 0).map(|room| room / step + 1);
    let frames = frames.ok_or_else(|| format!("frames of {length} samples of {samples}"))?;
    if frames.saturating_mul(length) > MOST {
        return Err(format!("{frames} frames of {length} samples").into());
    }
    let places: Vec<i64> =
        (0..frames * length).map(|at| (at / length * step + at % length).cast_signed()).collect();
    for part in parts.iter_mut().flatten() {
        let places = call.int64_constant(&places, &[frames, length])?;
        *part = call.picked(*part, places, 1)?;
        if let Some(window) = window {
            let window = call.reshape(window, &[length])?;
            *part = call.two("nn.mul", *part, window)?;
        }
        *part = call.reshape(*part, &[batch, frames, length])?;
    }
    let half = call.node.truth("onesided")?.unwrap_or(true);
    let transform = if half { Transform::ForwardHalf } else { Transform::Forward };
    let found = transformed(call, parts, length, transform)?;
    Ok(vec![side_by_side(call, found)?])
}

/// MelWeightMatrix: triangles over the spectrum, equally wide on the mel scale.
pub(crate) fn mel_weight_matrix(call: &mut NodeConversion<'_, '_>) -> Results {
    let bins = known_size(call, 0)?.ok_or("the number of bands is left out")?;
    let length = known_size(call, 1)?.ok_or("the length of the transform is left out")?;
    let rate = known_size(call, 2)?.ok_or("the sample rate is left out")? as f64;
    let bound = |index| call.known_float(index)?.ok_or_else(|| Refusal::from("a bound is left out"));
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let [low, high] = [mel(bound(3)?), mel(bound(4)?)];
    let spectrum = length / 2 + 1;
    if spectrum.saturating_mul(bins) > MOST {
        return Err(format!("{spectrum} by {bins} weights").into());
    }
    let edge = |index: u64| {
        let hertz =
            700.0 * (10f64.powf((low + index as f64 * (high - low) / (bins + 2) as f64) / 2595.0) - 1.0);
        ((length + 1) as f64 * hertz / rate).floor()
    };
    let mut weights = vec![0.0; (spectrum * bins) as usize];
    for band in 0..bins {
        let [left, centre, right] = [edge(band), edge(band + 1), edge(band + 2)];
        for row in 0..spectrum {
            let x = row as f64;
            let weight = &mut weights[(row * bins + band) as usize];
            if x == centre && left == centre {
                *weight = 1.0;
            } else if (left..=centre).contains(&x) {
                *weight = (x - left) / (centre - left);
            } else if (centre..right).contains(&x) {
                *weight = (right - x) / (right - centre);
            }
        }
    }
    let elem = output_type(call)?;
    Ok(vec![table(call, &weights, &[spectrum, bins], elem)?])
}

/// ReverseSequence: for each batch, the first elements along the time axis in reverse order; their number is
/// the batch's length.
pub(crate) fn reverse_sequence(call: &mut NodeConversion<'_, '_>) -> Results {
    let (mut x, lengths) = (call.operand(0)?, call.operand(1)?);
    let shape = call.shape(x)?;
    let axis = |name: &str, default: i64| call.axis(call.node.int(name)?.unwrap_or(default), shape.len());
    let [time, batch] = [axis("time_axis", 0)?, axis("batch_axis", 1)?];
    if time + batch != 1 {
        return Err("axes of time and batch that are not the first two".into());
    }
    let rest: Vec<i64> = (2..shape.len() as i64).collect();
    let turned = [&[1, 0], &rest[..]].concat();
    if batch == 1 {
        x = call.transposed(x, &turned)?;
    }
    let whole = call.shape(x)?;
    let [batches, steps] = [whole[0], whole[1]];
    let int64 = call.ctx().int(64);
    let lengths = call.cast(lengths, int64)?;
    let lengths = call.reshape(lengths, &[batches, 1])?;
    let step = call.indices_along(Dim::Known(steps), 1, 2)?;
    let turned_step = call.two("nn.sub", lengths, step)?;
    let turned_step = call.with_number("nn.sub", turned_step, 1.0)?;
    let is_inside = call.two("nn.lt", step, lengths)?;
    let places = call.select(is_inside, turned_step, step)?;
    let line = call.indices_along(Dim::Known(batches), 0, 2)?;
    let before = call.with_number("nn.mul", line, steps as f64)?;
    let places = call.two("nn.add", places, before)?;
    let lines = call.reshape(x, &[&[batches * steps], &whole[2..]].concat())?;
    let y = call.picked(lines, places, 0)?;
    let y = call.reshape(y, &whole)?;
    Ok(vec![if batch == 1 { call.transposed(y, &turned)? } else { y }])
}

/// Det: by Gaussian elimination of a row after the other, each time with the largest pivot.
pub(crate) fn determinant(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.shape(x)?;
    let [outer @ .., rows, columns] = &shape[..] else { return Err("an input that is no matrix".into()) };
    if rows != columns || *rows > 64 {
        return Err(format!("{rows} x {columns} numbers, expected a square of at most 64 x 64").into());
    }
    let count: u64 = outer.iter().product();
    // There are no kernels for floats of 16 bits.
    let elem = call.element(x);
    let x = if is_half(call.ctx(), elem) { call.cast(x, call.ctx().f32())? } else { x };
    let mut matrix = call.reshape(x, &[count, *rows, *rows])?;
    let mut product = call.filler(1.0, x, &[Dim::Known(count), Dim::Known(1), Dim::Known(1)])?;
    for size in (1..=*rows).rev() {
        let column = call.part(matrix, 2, Dim::Known(0), Dim::Known(1))?;
        let sizes = call.one("nn.abs", column)?;
        let axis = call.ctx().int_attr(1);
        let keeps = call.ctx().unit_attr();
        let at = call.emit("nn.arg_max", &[sizes], &[("axis", axis), ("keepdims", keeps)])?;
        let numbers = call.indices_along(Dim::Known(size), 1, 3)?;
        let is_pivot = call.two("nn.eq", numbers, at)?;
        let row = call.where_or(is_pivot, matrix, 0.0)?;
        let row = call.folded("sum", row, &[1])?;
        let pivot = call.part(row, 2, Dim::Known(0), Dim::Known(1))?;
        product = call.two("nn.mul", product, pivot)?;
        // A pivot row other than the first was exchanged with the first.
        let is_moved = call.with_number("nn.ne", at, 0.0)?;
        let opposite = call.one("nn.neg", product)?;
        product = call.select(is_moved, opposite, product)?;
        if size == 1 {
            break;
        }
        let first = call.part(matrix, 1, Dim::Known(0), Dim::Known(1))?;
        let exchanged = call.select(is_pivot, first, matrix)?;
        let rest = call.part(exchanged, 1, Dim::Known(1), Dim::Known(size - 1))?;
        let below = call.part(rest, 2, Dim::Known(0), Dim::Known(1))?;
        let one = call.scalar_like(1.0, pivot)?;
        let is_zero = call.with_number("nn.eq", pivot, 0.0)?;
        let divisor = call.select(is_zero, one, pivot)?;
        let factor = call.two("nn.div", below, divisor)?;
        let removed = call.two("nn.mul", factor, row)?;
        let rest = call.two("nn.sub", rest, removed)?;
        matrix = call.part(rest, 2, Dim::Known(1), Dim::Known(size - 1))?;
    }
    let product = call.reshape(product, outer)?;
    Ok(vec![call.cast(product, elem)?])
}
