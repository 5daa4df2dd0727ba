//! Pooling: the largest element or the mean of each window.
//!
//! A window is read row by row. The search for its largest element starts at the least number of its type,
//! minus infinity for floats: padding never wins, NaN always does. The mean is the sum in reading order,
//! divided by the count.

use super::contract::{ChannelLayout, Image, pixel, slide};
use super::reduce::larger;
use super::{Operand, by_lane, row_major};
use crate::body::OpRef;
use crate::dialects::nn::{SlidingWindow, window_of};
use crate::interp::element::{Elem, Extension, IntElem, Lane, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};

/// The largest element of each window.
///
/// # Errors
/// If sizes do not fit, or an attribute is missing.
pub fn max_pool2d(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    pool(op, operands, PoolFold::Max)
}

/// The mean of each window, over the image only, or with `count_include_pad` also over the padding.
///
/// # Errors
/// If sizes do not fit, or an attribute is missing.
pub fn avg_pool2d(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let with_pad = op.attr("count_include_pad").is_some();
    pool(op, operands, if with_pad { PoolFold::MeanWithPad } else { PoolFold::Mean })
}

#[derive(Clone, Copy)]
enum PoolFold {
    Max,
    Mean,
    MeanWithPad,
}

struct PoolGeometry {
    fold: PoolFold,
    /// The least number of the element type.
    least: f64,
    layout: ChannelLayout,
    batch: usize,
    input: Image,
    out: Image,
    window: SlidingWindow,
}

fn pool(op: OpRef<'_>, operands: &[Tensor], fold: PoolFold) -> Result<Vec<Tensor>, EvalError> {
    let operand = Operand::of(op, operands, 0)?;
    let layout = ChannelLayout::of(op);
    let (batch, input) = layout.image(&operand.shape)?;
    let window = window_of(op).ok_or("its window is malformed")?;
    let out = slide(&window, input, input.channels)?;
    let least = least(operand.elem);
    let pool = PoolGeometry { fold, least, layout, batch, input, out, window };
    let bytes = by_lane!(operand.elem, run(&pool, &operand));
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &layout.sizes(batch, out), bytes)?])
}

/// The least number of a type.
fn least(elem: Elem) -> f64 {
    match elem {
        Elem::Int(IntElem { width, extension: Extension::Sign }) => -f64::powi(2.0, width as i32 - 1),
        Elem::Int(_) => 0.0,
        _ => f64::NEG_INFINITY,
    }
}

fn run<L: Lane>(pool: &PoolGeometry, operand: &Operand<'_>) -> Vec<u8> {
    let lanes = read_all::<L>(operand.elem, operand.bytes);
    let input_strides = image_strides(pool.layout, pool.batch, pool.input);
    let out_strides = image_strides(pool.layout, pool.batch, pool.out);
    let mut out = vec![L::default(); pool.batch * pool.out.channels * pool.out.size[0] * pool.out.size[1]];
    for n in 0..pool.batch {
        for channel in 0..pool.out.channels {
            let start = |strides: [usize; 4]| n * strides[0] + channel * strides[1];
            let plane = &lanes[start(input_strides)..];
            for y in 0..pool.out.size[0] {
                for x in 0..pool.out.size[1] {
                    let at = start(out_strides) + y * out_strides[2] + x * out_strides[3];
                    out[at] = pool.fold_window(plane, input_strides, [y, x]);
                }
            }
        }
    }
    write_all(operand.elem, &out)
}

/// Strides of batch, channels, rows and columns.
fn image_strides(layout: ChannelLayout, batch: usize, image: Image) -> [usize; 4] {
    let strides = row_major(&layout.sizes(batch, image));
    let [a, b, c, d] = [0, 1, 2, 3].map(|axis| strides[axis] as usize);
    match layout {
        ChannelLayout::ChannelsFirst => [a, b, c, d],
        ChannelLayout::ChannelsLast => [a, d, b, c],
    }
}

impl PoolGeometry {
    /// The pixels along `axis` that window `number` covers.
    fn pixels(&self, axis: usize, number: usize) -> impl Iterator<Item = usize> + Clone {
        let taps = 0..self.window.kernel[axis] as usize;
        taps.filter_map(move |tap| pixel(&self.window, axis, self.input.size[axis], number, tap))
    }

    /// The number of elements of window `number` along `axis` in the image or the padding; elements beyond
    /// result from rounding up.
    fn padded_count(&self, axis: usize, number: usize) -> usize {
        let window = &self.window;
        let padded = self.input.size[axis] as u64 + window.pads[axis] + window.pads[axis + 2];
        let first = number as u64 * window.strides[axis];
        let taps = (0..window.kernel[axis]).map(|tap| first + tap * window.dilations[axis]);
        taps.filter(|at| *at < padded).count()
    }

    /// The result of window `[y, x]`.
    fn fold_window<L: Lane>(&self, plane: &[L], strides: [usize; 4], [y, x]: [usize; 2]) -> L {
        let (rows, columns) = (self.pixels(0, y), self.pixels(1, x));
        let elements = rows
            .clone()
            .flat_map(|row| columns.clone().map(move |column| row * strides[2] + column * strides[3]));
        let elements = elements.map(|at| plane[at]);
        match self.fold {
            PoolFold::Max => elements.fold(L::from_f64(self.least), |largest, x| larger(x, largest)),
            PoolFold::Mean => elements.fold(L::default(), L::plus).over(rows.count() * columns.count()),
            PoolFold::MeanWithPad => {
                let count = self.padded_count(0, y) * self.padded_count(1, x);
                elements.fold(L::default(), L::plus).over(count)
            }
        }
    }
}
