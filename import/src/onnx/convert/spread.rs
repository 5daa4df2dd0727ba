//! Conversion of convolutions and pools with any number of spatial axes, and of operators based on them:
//! Col2Im, LpPool, LRN.
//!
//! The IR's windows have two axes. A line is an image of one row. A convolution over more axes is a sum, over
//! the kernel elements along the first axis, of convolutions over the others. A pool over more axes is a pool
//! along the first axis, then one along the others: the maximum, sum and number of elements in a box follow
//! from its sides.

use ir::dims::SizeArithmetic;
use ir::{Dim, Value};

use super::doubles::is_double;
use super::pick::SliceWindow;
use super::window::{WindowAttrs, convolution_2d, pads_of, pool_2d};
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// More steps are refused: each takes some operations of the program.
const MOST_STEPS: u64 = 4096;

pub(super) fn check_steps(steps: u64) -> Result<(), Refusal> {
    if steps <= MOST_STEPS {
        Ok(())
    } else {
        Err(format!("{steps} steps, expected at most {MOST_STEPS}").into())
    }
}

/// The placement of a kernel over an axis.
#[derive(Clone, Copy)]
pub(super) struct Along {
    pub(super) kernel: u64,
    pub(super) stride: u64,
    pub(super) dilation: u64,
    pub(super) low: u64,
    pub(super) high: u64,
}

impl Along {
    /// The extent of a window: elements from the first to the last, both included.
    pub(super) fn reach(self) -> u64 {
        (self.kernel - 1) * self.dilation + 1
    }

    /// The number of windows over an axis of this size.
    pub(super) fn windows(self, size: u64) -> u64 {
        (size + self.low + self.high).checked_sub(self.reach()).map_or(0, |room| room / self.stride + 1)
    }

    /// The same windows, and a last one beyond the end, if it begins inside.
    pub(super) fn with_ceil(mut self, size: u64) -> Along {
        let room = (size + self.low + self.high).saturating_sub(self.reach());
        let last = room.div_ceil(self.stride);
        let begins_inside = last * self.stride < size + self.low;
        let last = if begins_inside { last } else { last.saturating_sub(1) };
        self.high = (last * self.stride + self.reach()).saturating_sub(size + self.low);
        self
    }
}

/// A convolution of any number of spatial axes, of known sizes if there are more than two.
pub(super) fn convolution(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    filter: Value,
    bias: Option<Value>,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    match window.kernel.len() {
        1 => {
            let row = one_row(call, x)?;
            let filter = one_row(call, filter)?;
            let y = convolution_2d(call, row, filter, bias, &window.of_one_row())?;
            of_one_row(call, y)
        }
        2 => convolution_2d(call, x, filter, bias, window),
        0 => Err("a kernel without axes".into()),
        _ => convolution_of_slices(call, x, filter, bias, window),
    }
}

/// The sum of the convolutions of slices along the first spatial axis.
fn convolution_of_slices(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    filter: Value,
    bias: Option<Value>,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    let (first, rest) = window.first_and_rest()?;
    let x = call.padded(x, 2, [first.low.cast_signed(), first.high.cast_signed()], 0.0)?;
    let shape = call.shape(x)?;
    let filter_shape = call.shape(filter)?;
    let count = first.windows(shape[2] - first.low - first.high);
    check_steps(first.kernel)?;
    let rank = shape.len() as i64;
    let order: Vec<i64> = [0, 2, 1].into_iter().chain(3..rank).collect();
    let images = [&[shape[0] * count, shape[1]], &shape[3..]].concat();
    let mut sum = None;
    for step in 0..first.kernel {
        let mut part = SliceWindow::whole(&call.dims(x)?);
        part.starts[2] = Dim::Known(step * first.dilation);
        part.sizes[2] = Dim::Known(count);
        part.strides[2] = first.stride.cast_signed();
        let slices = part.emit(call, x)?;
        let by_image = call.transposed(slices, &order)?;
        let batch = call.reshape(by_image, &images)?;
        let plane = call.part(filter, 2, Dim::Known(step), Dim::Known(1))?;
        let plane = call.reshape(plane, &[&filter_shape[..2], &filter_shape[3..]].concat())?;
        let bias = bias.filter(|_| step == 0);
        let term = convolution(call, batch, plane, bias, &rest)?;
        sum = Some(sum.map_or(Ok(term), |sum| call.two("nn.add", sum, term))?);
    }
    let sum = sum.ok_or("a kernel without elements")?;
    let done = call.shape(sum)?;
    let y = call.reshape(sum, &[&[shape[0], count, done[1]], &done[2..]].concat())?;
    call.transposed(y, &order)
}

/// A line for each channel as an image of one row.
pub(super) fn one_row(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let [batch, channels, width] = call.dims(x)?[..] else { return Err("lines of another rank".into()) };
    call.reshape_to(x, &[batch, channels, Dim::Known(1), width])
}

pub(super) fn of_one_row(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let [batch, channels, _, width] = call.dims(x)?[..] else { return Err("rows of another rank".into()) };
    call.reshape_to(x, &[batch, channels, width])
}

/// The reduction of a window.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    Largest,
    /// The mean, with or without the padding.
    Mean {
        counts_padding: bool,
    },
}

/// A pool of any number of spatial axes.
pub(super) fn pool(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    pool_kind: Pooling,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    match window.kernel.len() {
        1 => {
            let row = one_row(call, x)?;
            let y = pool(call, row, pool_kind, &window.of_one_row())?;
            of_one_row(call, y)
        }
        2 if pool_kind != Pooling::Largest
            && (is_double(call, x) || window.dilations.iter().any(|dilation| *dilation != 1)) =>
        {
            mean_of_sums(call, x, pool_kind, window)
        }
        2 => pool_2d(call, x, pool_kind, window),
        0 => Err("a window without axes".into()),
        _ => {
            let shape = call.shape(x)?;
            let (_, rest) = window.first_and_rest()?;
            let lines = [shape[0], shape[1], shape[2], shape[3..].iter().product()];
            let lines = call.reshape(x, &lines)?;
            let pooled = pool(call, lines, pool_kind, &window.of_first_column()?)?;
            let count = call.shape(pooled)?[2];
            let images = call.reshape(pooled, &[&[shape[0], shape[1] * count], &shape[3..]].concat())?;
            let y = pool(call, images, pool_kind, &rest)?;
            let done = call.shape(y)?;
            call.reshape(y, &[&[shape[0], shape[1], count], &done[2..]].concat())
        }
    }
}

/// The mean of windows with gaps, or of doubles: a convolution with ones, divided by the number of elements.
fn mean_of_sums(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    pool_kind: Pooling,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    let shape = call.shape(x)?;
    let sum = window_sums(call, x, window)?;
    let mut counts = vec![1.0];
    let mut sizes = vec![1, 1];
    for (axis, along) in pads_of(window)?.into_iter().enumerate() {
        let size = shape[2 + axis];
        let whole = if window.ceil { along.with_ceil(size) } else { along };
        let (low, high) = match pool_kind {
            Pooling::Mean { counts_padding: true } => (0, size + along.low + along.high),
            _ => (along.low, size + along.low),
        };
        let count = whole.windows(size);
        let inside = (0..count).map(|index| {
            let taps = (0..along.kernel).map(|tap| index * along.stride + tap * along.dilation);
            taps.filter(|at| (low..high).contains(at)).count() as f64
        });
        let inside: Vec<f64> = inside.collect();
        counts = counts.iter().flat_map(|count| inside.iter().map(move |inside| count * inside)).collect();
        sizes.push(count);
    }
    let counts = call.numbers_like(&counts, &sizes, x)?;
    call.two("nn.div", sum, counts)
}

/// The sum of each window of each channel, with 0 in the padding.
fn window_sums(call: &mut NodeConversion<'_, '_>, x: Value, window: &WindowAttrs) -> Result<Value, Refusal> {
    let shape = call.shape(x)?;
    let channels = shape[1];
    let filter: Vec<Dim> = [channels, 1].into_iter().chain(window.kernel.clone()).map(Dim::Known).collect();
    let ones = call.filler(1.0, x, &filter)?;
    let mut window = window.clone();
    if window.ceil {
        let along =
            pads_of(&window)?.into_iter().zip(&shape[2..]).map(|(along, size)| along.with_ceil(*size));
        let along: Vec<Along> = along.collect();
        let (low, high) = (along.iter().map(|along| along.low), along.iter().map(|along| along.high));
        window.pads = low.chain(high).map(Dim::Known).collect();
    }
    window.groups = channels.cast_signed();
    convolution(call, x, ones, None, &window)
}

/// The position in the input of each window's first largest element: its flat index, with the last axis
/// fastest, or with `storage_order` 1 the first spatial axis.
pub(super) fn places_of_largest(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    let shape = call.shape(x)?;
    let rank = shape.len() - 2;
    let is_turned = call.node.truth("storage_order")?.unwrap_or(false);
    let all = call.indices(Dim::Known(shape.iter().product()))?;
    let mut places = if is_turned {
        let turned: Vec<u64> = shape[..2].iter().chain(shape[2..].iter().rev()).copied().collect();
        let order: Vec<i64> = [0, 1].into_iter().chain((2..2 + rank as i64).rev()).collect();
        let places = call.reshape(all, &turned)?;
        call.transposed(places, &order)?
    } else {
        call.reshape(all, &shape)?
    };
    let mut wide = x;
    let mut along = pads_of(window)?;
    let mut counts = Vec::new();
    for (axis, along) in along.iter_mut().enumerate() {
        let size = shape[2 + axis];
        *along = if window.ceil { along.with_ceil(size) } else { *along };
        counts.push(along.windows(size));
        let pads = [along.low.cast_signed(), along.high.cast_signed()];
        wide = call.padded(wide, 2 + axis, pads, f64::NEG_INFINITY)?;
        places = call.padded(places, 2 + axis, pads, 0.0)?;
    }
    let taps: u64 = window.kernel.iter().product();
    check_steps(taps)?;
    let mut best: Option<[Value; 2]> = None;
    for tap in 0..taps {
        let mut part = SliceWindow::whole(&call.dims(wide)?);
        let mut rest = tap;
        for axis in (0..rank).rev() {
            part.starts[2 + axis] = Dim::Known(rest % window.kernel[axis] * along[axis].dilation);
            part.sizes[2 + axis] = Dim::Known(counts[axis]);
            part.strides[2 + axis] = along[axis].stride.cast_signed();
            rest /= window.kernel[axis];
        }
        let [element, place] = [part.emit(call, wide)?, part.emit(call, places)?];
        best = Some(match best {
            None => [element, place],
            Some([most, at]) => {
                let is_more = call.two("nn.gt", element, most)?;
                [call.select(is_more, element, most)?, call.select(is_more, place, at)?]
            }
        });
    }
    Ok(best.ok_or("a window without elements")?[1])
}

/// LpPool: `(sum |x|^p)^(1/p)` of each window.
pub(crate) fn lp_pool(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let window = WindowAttrs::of_pool(call, x)?;
    let p = call.node.int("p")?.unwrap_or(2);
    if p < 1 {
        return Err(format!("`p` {p}, expected 1 or more").into());
    }
    let size = call.one("nn.abs", x)?;
    let powers = if p == 1 { size } else { call.with_number("nn.pow", size, p as f64)? };
    let sums = window_sums(call, powers, &window)?;
    Ok(vec![if p == 1 { sums } else { call.with_number("nn.pow", sums, 1.0 / p as f64)? }])
}

/// The value with `stride - 1` zeros between two elements along an axis.
pub(super) fn with_gaps(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    axis: usize,
    stride: u64,
) -> Result<Value, Refusal> {
    let shape = call.dims(x)?;
    if stride == 1 || shape[axis] == Dim::Known(0) {
        return Ok(x);
    }
    let sizes = SizeArithmetic(call.ctx());
    let own = sizes.mul(shape[axis], Dim::Known(stride));
    let kept = sizes.offset(own, 1 - stride.cast_signed());
    let apart = call.reshape_to(x, &[&shape[..=axis], &[Dim::Known(1)], &shape[axis + 1..]].concat())?;
    let filled = call.padded(apart, axis + 1, [0, (stride - 1).cast_signed()], 0.0)?;
    let wide = call.reshape_to(filled, &[&shape[..axis], &[own], &shape[axis + 1..]].concat())?;
    call.part(wide, axis, Dim::Known(0), kept)
}

/// Col2Im: columns, each the elements of a block, added up where the blocks lie in an image.
pub(crate) fn columns_to_image(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let known = |call: &NodeConversion<'_, '_>, index: usize| -> Result<Vec<u64>, Refusal> {
        let numbers = call.known_ints(index)?.ok_or_else(|| format!("input {index} is left out"))?;
        let sizes = numbers.iter().map(|number| u64::try_from(*number).ok().filter(|size| *size > 0));
        sizes.collect::<Option<_>>().ok_or_else(|| format!("input {index} has a size below 1").into())
    };
    let (image, block) = (known(call, 1)?, known(call, 2)?);
    let [batch, stacked, columns] = call.shape(x)?[..] else {
        return Err("an input that is not [batch, elements, columns]".into());
    };
    let spatial: Vec<Dim> = image.iter().copied().map(Dim::Known).collect();
    let window = WindowAttrs::of(call, &spatial, Some(&block))?;
    let along = pads_of(&window)?;
    let counts: Vec<u64> = along.iter().zip(&image).map(|(along, size)| along.windows(*size)).collect();
    let area: u64 = block.iter().product();
    if stacked % area != 0 || counts.iter().product::<u64>() != columns {
        return Err(
            format!("{stacked} x {columns} elements for blocks {block:?} at {counts:?} places").into()
        );
    }
    check_steps(area)?;
    let channels = stacked / area;
    let x = call.reshape(x, &[&[batch, channels, area], &counts[..]].concat())?;
    let mut sum = None;
    for step in 0..area {
        let part = call.part(x, 2, Dim::Known(step), Dim::Known(1))?;
        let mut part = call.reshape(part, &[&[batch, channels], &counts[..]].concat())?;
        let mut inside = step;
        for axis in (0..block.len()).rev() {
            let at = inside % block[axis];
            inside /= block[axis];
            part = with_gaps(call, part, 2 + axis, along[axis].stride)?;
            let low = (at * along[axis].dilation).cast_signed() - along[axis].low.cast_signed();
            let covered = low + ((counts[axis] - 1) * along[axis].stride + 1).cast_signed();
            let high = image[axis].cast_signed() - covered;
            part = call.padded(part, 2 + axis, [low, high], 0.0)?;
        }
        sum = Some(sum.map_or(Ok(part), |sum| call.two("nn.add", sum, part))?);
    }
    Ok(vec![sum.ok_or("a block without elements")?])
}

/// LRN: `x / (bias + alpha / size * sum of squares of neighbouring channels) ^ beta`.
pub(crate) fn local_response_normalization(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let size = call.node.int("size")?.filter(|size| *size > 0).ok_or("`size` is left out or below 1")?;
    check_steps(size.unsigned_abs())?;
    let (alpha, beta) = (call.number("alpha", 0.0001)?, call.number("beta", 0.75)?);
    let bias = call.number("bias", 1.0)?;
    let channels = *call.dims(x)?.get(1).ok_or("an input without channels")?;
    let squares = call.one("nn.square", x)?;
    let wide = call.padded(squares, 1, [(size - 1) / 2, size / 2], 0.0)?;
    let mut sum = call.part(wide, 1, Dim::Known(0), channels)?;
    for step in 1..size.unsigned_abs() {
        let part = call.part(wide, 1, Dim::Known(step), channels)?;
        sum = call.two("nn.add", sum, part)?;
    }
    let scaled = call.with_number("nn.mul", sum, alpha / size as f64)?;
    let moved = call.with_number("nn.add", scaled, bias)?;
    let divisor = call.with_number("nn.pow", moved, beta)?;
    Ok(vec![call.two("nn.div", x, divisor)?])
}

/// CenterCropPad: axes cut or padded with zeros at both ends to given sizes.
pub(crate) fn center_crop_pad(call: &mut NodeConversion<'_, '_>) -> Results {
    let mut x = call.operand(0)?;
    let shape = call.shape(x)?;
    let wanted = call.known_ints(1)?.ok_or("the shape is left out")?;
    let axes = match call.node.ints("axes")? {
        Some(axes) => axes.to_vec(),
        None => (0..shape.len() as i64).collect(),
    };
    if axes.len() != wanted.len() {
        return Err("as many sizes as axes were expected".into());
    }
    for (axis, wanted) in axes.into_iter().zip(wanted) {
        let axis = call.axis(axis, shape.len())?;
        let wanted = u64::try_from(wanted).map_err(|_| "a size below 0")?;
        let own = shape[axis];
        x = if wanted <= own {
            call.part(x, axis, Dim::Known((own - wanted) / 2), Dim::Known(wanted))?
        } else {
            let low = ((wanted - own) / 2).cast_signed();
            call.padded(x, axis, [low, (wanted - own).cast_signed() - low], 0.0)?
        };
    }
    Ok(vec![x])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_steps_as_the_limit_are_not_refused() {
        assert!(check_steps(MOST_STEPS).is_ok());
        let Err(refusal) = check_steps(MOST_STEPS + 1) else { panic!("it is above the limit") };
        assert_eq!(refusal.message, "4097 steps, expected at most 4096");
    }
}
