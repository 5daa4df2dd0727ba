//! Convolution of images, on floats and on 8-bit integers.
//!
//! Each sum starts at the bias (or 0) and takes one fused multiply-add per term, in the order row of the
//! window, column of the window, channel. Terms in the padding are skipped. Internally, images are
//! channels-last and the filter is `[group][row][column][channel][output channel]`, so that the innermost
//! loop runs over output channels.

use super::matmul::{less, zeros};
use super::tile::{COLUMNS, ROWS, RowTile, multiply_add, swap_last_axes};
use super::{Operand, by_lane};
use crate::body::OpRef;
use crate::dialects::nn::{SlidingWindow, window_of};
use crate::interp::element::{Elem, Lane, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};
use crate::interp::vector::vectorised;

/// Two-dimensional convolution of operand 0 with the filter OIHW in operand 1, plus the bias in operand 2, if
/// any.
///
/// # Errors
/// If sizes do not fit, or an attribute is missing.
pub fn conv2d(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let conv = Conv::of(op, operands)?;
    let elem = Operand::of(op, operands, 0)?.elem;
    let bytes = by_lane!(elem, run(op, &conv, operands))?;
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &conv.layout.sizes(conv.batch, conv.out), bytes)?])
}

/// Two-dimensional convolution of the integers in operand 0 with the filter OIHW in operand 1, minus the zero
/// points in operands 2 and 3.
///
/// # Errors
/// If sizes do not fit, or an attribute is missing.
pub fn quantized_conv2d(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let conv = Conv::of(op, operands)?;
    let (input, filter) = (Operand::of(op, operands, 0)?, Operand::of(op, operands, 1)?);
    let mut image = read_all(input.elem, input.bytes);
    less(&mut image, &zeros(op, operands, 2, 1)?);
    let mut weights: Vec<i64> = read_all(filter.elem, filter.bytes);
    let zeros = zeros(op, operands, 3, conv.out.channels)?;
    let of_channel = (weights.len() / conv.out.channels.max(1)).max(1);
    for (channel, weights) in weights.chunks_mut(of_channel).enumerate() {
        let zero = zeros[channel % zeros.len()];
        weights.iter_mut().for_each(|weight| *weight -= zero);
    }
    let out = convolved(&conv, image, &weights, &vec![0; conv.out.channels]);
    let bytes = write_all(Elem::of(op.ctx, op.result_type(0))?, &out);
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &conv.layout.sizes(conv.batch, conv.out), bytes)?])
}

/// Channels, rows, columns.
#[derive(Clone, Copy)]
pub(super) struct Image {
    pub(super) channels: usize,
    pub(super) size: [usize; 2],
}

/// The position of the channels among a tensor's axes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChannelLayout {
    ChannelsFirst,
    ChannelsLast,
}

impl ChannelLayout {
    pub(super) fn of(op: OpRef<'_>) -> ChannelLayout {
        if op.text("layout") == Some("NHWC") {
            ChannelLayout::ChannelsLast
        } else {
            ChannelLayout::ChannelsFirst
        }
    }

    /// Batch and image of a tensor of four axes.
    pub(super) fn image(self, shape: &[usize]) -> Result<(usize, Image), EvalError> {
        match (self, shape) {
            (ChannelLayout::ChannelsFirst, &[batch, channels, h, w]) => {
                Ok((batch, Image { channels, size: [h, w] }))
            }
            (ChannelLayout::ChannelsLast, &[batch, h, w, channels]) => {
                Ok((batch, Image { channels, size: [h, w] }))
            }
            _ => Err(format!("an image has 4 axes, found {}", shape.len()).into()),
        }
    }

    /// The sizes of a tensor of images.
    pub(super) fn sizes(self, batch: usize, image: Image) -> [usize; 4] {
        let [h, w] = image.size;
        match self {
            ChannelLayout::ChannelsFirst => [batch, image.channels, h, w],
            ChannelLayout::ChannelsLast => [batch, h, w, image.channels],
        }
    }
}

/// The image that results from a window sliding over another image.
///
/// # Errors
/// If it does not fit.
pub(super) fn slide(window: &SlidingWindow, image: Image, channels: usize) -> Result<Image, EvalError> {
    let count = |axis: usize| window.count(axis, image.size[axis] as u64).map(|count| count as usize);
    match (count(0), count(1)) {
        (Some(rows), Some(columns)) => Ok(Image { channels, size: [rows, columns] }),
        _ => Err(format!("a window of {:?} does not fit an image of {:?}", window.kernel, image.size).into()),
    }
}

/// The pixel of an image of `size` that element `tap` of window `number` covers along `axis`, unless it lies
/// in the padding.
#[inline(always)]
pub(super) fn pixel(
    window: &SlidingWindow,
    axis: usize,
    size: usize,
    number: usize,
    tap: usize,
) -> Option<usize> {
    let at = number * window.strides[axis] as usize + tap * window.dilations[axis] as usize;
    at.checked_sub(window.pads[axis] as usize).filter(|at| *at < size)
}

struct Conv {
    layout: ChannelLayout,
    batch: usize,
    input: Image,
    out: Image,
    groups: usize,
    window: SlidingWindow,
}

impl Conv {
    fn of(op: OpRef<'_>, operands: &[Tensor]) -> Result<Conv, EvalError> {
        let layout = ChannelLayout::of(op);
        let (batch, input) = layout.image(&Operand::of(op, operands, 0)?.shape)?;
        let filter = Operand::of(op, operands, 1)?.shape;
        let &[channels, depth, _, _] = filter.as_slice() else {
            return Err(format!("a filter has 4 axes, found {}", filter.len()).into());
        };
        let groups = op.int("groups").and_then(|groups| usize::try_from(groups).ok());
        let groups = groups.filter(|groups| *groups > 0).ok_or("`groups` is not positive")?;
        let window = window_of(op).ok_or("its window is malformed")?;
        if channels % groups != 0 || depth * groups != input.channels {
            let found = input.channels;
            return Err(format!("{groups} groups of a filter {filter:?} do not take {found} channels").into());
        }
        Ok(Conv { layout, batch, input, out: slide(&window, input, channels)?, groups, window })
    }

    /// Rows and columns of the window.
    fn kernel(&self) -> [usize; 2] {
        self.window.kernel.map(|size| size as usize)
    }

    /// Channels of a group of the input, and of the result.
    fn group(&self) -> (usize, usize) {
        (self.input.channels / self.groups, self.out.channels / self.groups)
    }
}

fn run<L: Lane>(op: OpRef<'_>, conv: &Conv, operands: &[Tensor]) -> Result<Vec<u8>, EvalError> {
    let input = Operand::of(op, operands, 0)?;
    let image = read_all::<L>(input.elem, input.bytes);
    let filter = Operand::like(op, operands, 1, input.elem)?;
    let bias = match operands.len() {
        0..=2 => vec![L::default(); conv.out.channels],
        _ => {
            let bias = Operand::like(op, operands, 2, input.elem)?;
            read_all(bias.elem, bias.bytes)
        }
    };
    if bias.len() != conv.out.channels {
        return Err("the bias has not one number for each output channel".into());
    }
    let out = convolved(conv, image, &read_all::<L>(filter.elem, filter.bytes), &bias);
    Ok(write_all(input.elem, &out))
}

/// The convolution of an image with a filter; each channel's sums begin with its bias.
fn convolved<L: Lane>(conv: &Conv, mut image: Vec<L>, filter: &[L], bias: &[L]) -> Vec<L> {
    let pixels = |image: Image| image.size[0] * image.size[1];
    if conv.layout == ChannelLayout::ChannelsFirst {
        image = swap_last_axes(&image, conv.input.channels, pixels(conv.input));
    }
    let filter = pack(conv, filter);
    let mut out = bias.repeat(conv.batch * pixels(conv.out));
    vectorised(
        #[inline(always)]
        || accumulate(conv, &image, &filter, &mut out),
    );
    if conv.layout == ChannelLayout::ChannelsFirst {
        out = swap_last_axes(&out, pixels(conv.out), conv.out.channels);
    }
    out
}

/// The filter as `[group][row][column][channel][output channel]`.
fn pack<L: Lane>(conv: &Conv, filter: &[L]) -> Vec<L> {
    let (depth, width) = conv.group();
    let taps = conv.kernel().iter().product::<usize>();
    let mut packed = vec![L::default(); filter.len()];
    for (channel, filter) in filter.chunks_exact((depth * taps).max(1)).enumerate() {
        let (group, column) = (channel / width, channel % width);
        for (i, value) in filter.iter().enumerate() {
            let (deep, tap) = (i / taps, i % taps);
            packed[((group * taps + tap) * depth + deep) * width + column] = *value;
        }
    }
    packed
}

#[inline(always)]
fn accumulate<L: Lane>(conv: &Conv, image: &[L], filter: &[L], out: &mut [L]) {
    let (_, width) = conv.group();
    let [height, row_length] = conv.out.size;
    for row in 0..conv.batch * height {
        for first in (0..row_length).step_by(ROWS) {
            let windows = first..row_length.min(first + ROWS);
            for group in 0..conv.groups {
                for column in (0..width).step_by(COLUMNS) {
                    let columns = column..width.min(column + COLUMNS);
                    accumulate_tile(conv, image, filter, out, (row, windows.clone()), (group, columns));
                }
            }
        }
    }
}

/// Adds all terms of some windows of one row of the result, for some output channels of one group.
#[inline(always)]
fn accumulate_tile<L: Lane>(
    conv: &Conv,
    image: &[L],
    filter: &[L],
    out: &mut [L],
    (row, windows): (usize, std::ops::Range<usize>),
    (group, columns): (usize, std::ops::Range<usize>),
) {
    let (depth, width) = conv.group();
    let (n, y) = (row / conv.out.size[0], row % conv.out.size[0]);
    let [kernel_height, kernel_width] = conv.kernel();
    for tap_y in 0..kernel_height {
        let Some(from_y) = pixel(&conv.window, 0, conv.input.size[0], y, tap_y) else { continue };
        let image_row = (n * conv.input.size[0] + from_y) * conv.input.size[1];
        for tap_x in 0..kernel_width {
            let mut rows = [(0, 0); ROWS];
            let mut count = 0;
            for x in windows.clone() {
                let Some(from_x) = pixel(&conv.window, 1, conv.input.size[1], x, tap_x) else { continue };
                let from = (image_row + from_x) * conv.input.channels + group * depth;
                let to = (row * conv.out.size[1] + x) * conv.out.channels + group * width + columns.start;
                rows[count] = (from, to);
                count += 1;
            }
            let tap = (group * kernel_height + tap_y) * kernel_width + tap_x;
            let block = (tap * depth * width + columns.start, width);
            let tile = RowTile { rows: &rows[..count], depth, block, width: columns.len() };
            multiply_add(&tile, image, filter, out);
        }
    }
}
