//! Pooling of channels-last images: the largest element of each window, or the mean.
//!
//! A vector holds consecutive channels of one pixel. A window's elements are taken in row-major order, from
//! minus infinity (NaN wins and stays) or from zero; a mean is the sum divided by the count.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::bf16::{StoredFloat, load, store};
use crate::conv::ImageStrides;
use crate::isa::Isa;
use crate::simd::Simd;

/// The sizes of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool2dShape {
    /// Images.
    pub batch: usize,
    /// Rows and columns of an image.
    pub input: [usize; 2],
    /// Channels.
    pub channels: usize,
    /// Rows and columns of a window.
    pub kernel: [usize; 2],
    /// Distance between neighbouring windows.
    pub stride: [usize; 2],
    /// Distance between neighbouring elements of a window.
    pub dilation: [usize; 2],
    /// Padding above, left, below, right.
    pub pads: [usize; 4],
    /// Windows down and across; the last ones may reach beyond the padding.
    pub output: [usize; 2],
}

/// What a pool makes of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// Its largest element; padding never is.
    Max,
    /// The mean of its elements in the image.
    Average,
    /// The mean of its elements in image or padding, where padding is zero; what lies beyond the padding does
    /// not count.
    AverageWithPads,
}

/// A pool over windows. Operands: `[out, x]`, which do not overlap.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pool2d {
    input_strides: ImageStrides,
    output_strides: ImageStrides,
    batch: u64,
    channels: u64,
    input: [u64; 2],
    kernel: [u64; 2],
    stride: [u64; 2],
    dilation: [u64; 2],
    pads: [u64; 4],
    output: [u64; 2],
    kind: u32,
    parts: u32,
    isa: Isa,
    /// Of both images.
    stored: StoredFloat,
}

impl Pool2d {
    /// A pool from images with these strides (in elements, channels contiguous) to such images.
    pub fn new(
        shape: &Pool2dShape,
        input: ImageStrides,
        output: ImageStrides,
        kind: PoolKind,
        isa: Isa,
        threads: usize,
    ) -> Pool2d {
        assert!(input.c == 1 && output.c == 1, "channels are contiguous");
        let lines = shape.batch * shape.output[0];
        let work = lines * shape.output[1] * shape.channels * shape.kernel[0] * shape.kernel[1];
        let parts = if work < 16_384 { 1 } else { (threads * 4).min(lines) };
        let wide = |pair: [usize; 2]| pair.map(|size| size as u64);
        Pool2d {
            input_strides: input,
            output_strides: output,
            batch: shape.batch as u64,
            channels: shape.channels as u64,
            input: wide(shape.input),
            kernel: wide(shape.kernel),
            stride: wide(shape.stride),
            dilation: wide(shape.dilation),
            pads: shape.pads.map(|size| size as u64),
            output: wide(shape.output),
            kind: kind as u32,
            parts: if work == 0 { 0 } else { parts as u32 },
            isa,
            stored: StoredFloat::F32,
        }
    }

    /// The same over images whose numbers are stored otherwise.
    pub fn stored(self, stored: StoredFloat) -> Pool2d {
        Pool2d { stored, ..self }
    }

    /// The elements along `axis` of window `window`: the first, and how many lie in the image.
    #[inline(always)]
    fn span(&self, axis: usize, window: usize) -> (usize, usize) {
        let (step, pad) = (self.dilation[axis] as usize, self.pads[axis] as usize);
        let start = window * self.stride[axis] as usize;
        let skipped = pad.saturating_sub(start).div_ceil(step);
        let first = start + skipped * step;
        let end = self.input[axis] as usize + pad;
        let fitting = end.saturating_sub(first).div_ceil(step);
        let left = (self.kernel[axis] as usize).saturating_sub(skipped);
        (first.wrapping_sub(pad), left.min(fitting))
    }

    /// How many elements along `axis` of window `window` lie in image or padding.
    #[inline(always)]
    fn padded_count(&self, axis: usize, window: usize) -> usize {
        let end = (self.input[axis] + self.pads[axis] + self.pads[axis + 2]) as usize;
        let start = window * self.stride[axis] as usize;
        end.saturating_sub(start).div_ceil(self.dilation[axis] as usize).min(self.kernel[axis] as usize)
    }

    /// One window, all channels: of an image to an output pixel, each with its first element.
    #[inline(always)]
    unsafe fn window<S: Simd>(&self, s: S, [x, out]: [(*mut u8, usize); 2], [row, column]: [usize; 2]) {
        let (top, rows) = self.span(0, row);
        let (left, columns) = self.span(1, column);
        let is_max = self.kind == PoolKind::Max as u32;
        let count = if self.kind == PoolKind::AverageWithPads as u32 {
            self.padded_count(0, row) * self.padded_count(1, column)
        } else {
            rows * columns
        };
        let (down, across) = (self.input_strides.h as usize, self.input_strides.w as usize);
        let (step_down, step_across) = (down * self.dilation[0] as usize, across * self.dilation[1] as usize);
        let channels = self.channels as usize;
        for channel in (0..channels).step_by(S::LANES) {
            let lanes = channels - channel;
            let mut sum = s.splat(if is_max { f32::NEG_INFINITY } else { 0.0 });
            for ky in 0..rows {
                for kx in 0..columns {
                    let at = top * down + left * across + ky * step_down + kx * step_across + channel;
                    // SAFETY: `span` keeps rows and columns within the image, and `lanes` the channels.
                    let value = unsafe { load(s, x.0, self.stored, x.1 + at, lanes) };
                    sum = if is_max { larger(s, value, sum) } else { s.add(sum, value) };
                }
            }
            let result = if is_max { sum } else { s.div(sum, s.splat(count as f32)) };
            // SAFETY: the caller's output pixel has `channels` elements.
            unsafe { store(s, out.0, self.stored, out.1 + channel, lanes, result) };
        }
    }
}

/// Per lane the larger of a number and the largest so far; NaN once there was one.
#[inline(always)]
fn larger<S: Simd>(s: S, x: S::F, largest: S::F) -> S::F {
    s.select_eq(x, x, s.max(x, largest), x)
}

// SAFETY: 64 + 16 + 5 * 16 + 32 bytes of `u64`, then four `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for Pool2d {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Pool2d>(self.isa)
    }
}

impl KernelBody for Pool2d {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let (rows, columns) = (self.output[0] as usize, self.output[1] as usize);
        for line in piece(self.batch as usize * rows, self.parts as usize, part as usize) {
            let (n, row) = (line / rows, line % rows);
            // SAFETY: the operands are images of the shape that the descriptor was made for; parts write
            // other lines.
            unsafe {
                let image = (operands.get::<u8>(1), n * self.input_strides.n as usize);
                let to = &self.output_strides;
                let line = n * to.n as usize + row * to.h as usize;
                for column in 0..columns {
                    let pixel = (operands.get::<u8>(0), line + column * to.w as usize);
                    self.window(s, [image, pixel], [row, column]);
                }
            }
        }
    }
}

/// The mean of each channel of channels-last images. Operands: `[out, x]`; `out` holds `batch * channels`
/// elements.
///
/// Pixels are added in order, one sum for each channel, and the sum is divided by their count.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GlobalAveragePool {
    batch: u64,
    pixels: u64,
    channels: u64,
    pixel_stride: u64,
    image_stride: u64,
    parts: u32,
    isa: Isa,
}

/// Channels that one pass over the pixels sums: eight lines of a cache.
const BLOCK: usize = 128;

impl GlobalAveragePool {
    /// Means over `pixels` pixels, `pixel_stride` elements apart, of images `image_stride` elements apart.
    pub fn new(
        batch: usize,
        pixels: usize,
        channels: usize,
        pixel_stride: usize,
        image_stride: usize,
        isa: Isa,
        threads: usize,
    ) -> GlobalAveragePool {
        let blocks = batch * channels.div_ceil(BLOCK);
        let parts = if batch * pixels * channels < 16_384 { blocks.min(1) } else { blocks.min(threads * 4) };
        GlobalAveragePool {
            batch: batch as u64,
            pixels: pixels as u64,
            channels: channels as u64,
            pixel_stride: pixel_stride as u64,
            image_stride: image_stride as u64,
            parts: parts as u32,
            isa,
        }
    }

    /// The sums of up to `BLOCK` channels from `channel` on.
    #[inline(always)]
    unsafe fn block<S: Simd>(&self, s: S, x: *const f32, out: *mut f32, channels: usize) {
        let count = s.splat(self.pixels as f32);
        for first in (0..channels).step_by(4 * S::LANES) {
            let lanes = |vector: usize| (channels - first).saturating_sub(vector * S::LANES);
            let mut sums = [s.splat(0.0); 4];
            for pixel in 0..self.pixels as usize {
                for (vector, sum) in sums.iter_mut().enumerate() {
                    let at = pixel * self.pixel_stride as usize + first + vector * S::LANES;
                    if lanes(vector) > 0 {
                        // SAFETY: the pixel has `channels` elements from here on.
                        *sum = s.add(*sum, unsafe { s.load_first(x.add(at), lanes(vector)) });
                    }
                }
            }
            for (vector, sum) in sums.into_iter().enumerate().filter(|(vector, _)| lanes(*vector) > 0) {
                // SAFETY: the output has `channels` elements from here on.
                unsafe {
                    s.store_first(out.add(first + vector * S::LANES), lanes(vector), s.div(sum, count))
                };
            }
        }
    }
}

// SAFETY: five `u64` and two `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for GlobalAveragePool {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<GlobalAveragePool>(self.isa)
    }
}

impl KernelBody for GlobalAveragePool {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let channels = self.channels as usize;
        let blocks = channels.div_ceil(BLOCK);
        for index in piece(self.batch as usize * blocks, self.parts as usize, part as usize) {
            let n = index / blocks;
            let first = index % blocks * BLOCK;
            // SAFETY: the operands have the extents that the descriptor was made for; parts write other
            // blocks.
            unsafe {
                let x = operands.get::<f32>(1).add(n * self.image_stride as usize + first);
                let out = operands.get::<f32>(0).add(n * channels + first);
                self.block(s, x, out, BLOCK.min(channels - first));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bf16::{nearest_bf16, wide_bf16};

    fn run(kernel: &impl Kernel, out: &mut [f32], x: &[f32]) {
        let ptrs: [*mut u8; 2] = [out.as_mut_ptr().cast(), x.as_ptr().cast_mut().cast()];
        for part in 0..kernel.parts() {
            // SAFETY: the operands have the extents that the test made the descriptor for; no scratch is
            // used.
            unsafe { kernel.entry()(kernel.as_bytes().as_ptr(), ptrs.as_ptr(), part, std::ptr::null_mut()) }
        }
    }

    /// The definition, one element at a time.
    fn expected(shape: &Pool2dShape, kind: PoolKind, x: &[f32], [y, column, channel]: [usize; 3]) -> f32 {
        let mut sum = 0.0f32;
        let mut max = f32::NEG_INFINITY;
        let mut inside = 0;
        let mut padded = 0;
        for ky in 0..shape.kernel[0] {
            for kx in 0..shape.kernel[1] {
                let at = [
                    y * shape.stride[0] + ky * shape.dilation[0],
                    column * shape.stride[1] + kx * shape.dilation[1],
                ];
                let end = |axis: usize| shape.input[axis] + shape.pads[axis] + shape.pads[axis + 2];
                padded += usize::from(at[0] < end(0) && at[1] < end(1));
                let is_inside = |axis: usize| {
                    (shape.pads[axis]..shape.pads[axis] + shape.input[axis]).contains(&at[axis])
                };
                if is_inside(0) && is_inside(1) {
                    let (row, col) = (at[0] - shape.pads[0], at[1] - shape.pads[1]);
                    let value = x[(row * shape.input[1] + col) * shape.channels + channel];
                    sum += value;
                    max = if value > max || value.is_nan() { value } else { max };
                    inside += 1;
                }
            }
        }
        match kind {
            PoolKind::Max => max,
            PoolKind::Average => sum / inside as f32,
            PoolKind::AverageWithPads => sum / padded as f32,
        }
    }

    /// The definition of all elements.
    fn all_expected(shape: &Pool2dShape, kind: PoolKind, x: &[f32]) -> Vec<f32> {
        let [rows, columns] = shape.output;
        let at = |index: usize| {
            let (pixel, channel) = (index / shape.channels, index % shape.channels);
            expected(shape, kind, x, [pixel / columns, pixel % columns, channel])
        };
        (0..rows * columns * shape.channels).map(at).collect()
    }

    fn values(count: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7919) % 1013) as f32 / 100.0 - 5.0).collect()
    }

    #[test]
    fn every_pool_is_its_definition_to_the_bit() {
        let base = Pool2dShape {
            batch: 1,
            input: [9, 7],
            channels: if cfg!(miri) { 9 } else { 37 },
            kernel: [3, 3],
            stride: [2, 2],
            dilation: [1, 1],
            pads: [1, 1, 1, 1],
            output: [5, 4],
        };
        let shapes = [
            base,
            Pool2dShape { pads: [0; 4], output: [4, 3], ..base },
            Pool2dShape { pads: [0; 4], output: [5, 4], input: [10, 8], ..base },
            Pool2dShape { dilation: [2, 2], stride: [1, 1], output: [7, 5], ..base },
            Pool2dShape { kernel: [2, 5], stride: [1, 3], channels: 3, output: [10, 2], ..base },
        ];
        for (shape, kind) in shapes
            .iter()
            .flat_map(|s| [PoolKind::Max, PoolKind::Average, PoolKind::AverageWithPads].map(|k| (s, k)))
        {
            let x = values(shape.input[0] * shape.input[1] * shape.channels);
            let wanted = all_expected(shape, kind, &x);
            for isa in Isa::available() {
                let (from, to) = (shape.input, shape.output);
                let strides = [from, to].map(|size| ImageStrides::nhwc(size, shape.channels));
                let pool = Pool2d::new(shape, strides[0], strides[1], kind, isa, 2);
                let mut out = vec![f32::NAN; to[0] * to[1] * shape.channels];
                run(&pool, &mut out, &x);
                for (index, (found, wanted)) in out.iter().zip(&wanted).enumerate() {
                    assert_eq!(found.to_bits(), wanted.to_bits(), "{shape:?} {kind:?} {isa:?} at {index}");
                }
            }
        }
    }

    #[test]
    fn a_window_with_nan_has_nan_for_its_largest_element() {
        let shape = Pool2dShape {
            batch: 1,
            input: [6, 6],
            channels: 19,
            kernel: [3, 2],
            stride: [1, 1],
            dilation: [1, 1],
            pads: [1, 1, 0, 0],
            output: [5, 6],
        };
        for at in (0..36 * 19).step_by(if cfg!(miri) { 400 } else { 1 }) {
            let mut x = values(36 * 19);
            x[at] = f32::NAN;
            x[(at + 40) % (36 * 19)] = f32::INFINITY;
            let wanted = all_expected(&shape, PoolKind::Max, &x);
            for isa in Isa::available() {
                let strides =
                    [shape.input, shape.output].map(|size| ImageStrides::nhwc(size, shape.channels));
                let pool = Pool2d::new(&shape, strides[0], strides[1], PoolKind::Max, isa, 1);
                let mut out = vec![0.0; 30 * 19];
                run(&pool, &mut out, &x);
                for (index, (found, wanted)) in out.iter().zip(&wanted).enumerate() {
                    assert!(found == wanted || found.is_nan() && wanted.is_nan(), "{isa:?} {at} at {index}");
                }
            }
        }
    }

    #[test]
    fn a_pool_of_bf16_is_that_of_the_same_numbers() {
        let shape = Pool2dShape {
            batch: 1,
            input: [7, 9],
            channels: 21,
            kernel: [3, 3],
            stride: [2, 2],
            dilation: [1, 1],
            pads: [1, 1, 1, 1],
            output: [4, 5],
        };
        let halves: Vec<u16> = values(63 * 21).into_iter().map(nearest_bf16).collect();
        let x: Vec<f32> = halves.iter().map(|half| wide_bf16(*half)).collect();
        for isa in Isa::available() {
            let strides = [shape.input, shape.output].map(|size| ImageStrides::nhwc(size, shape.channels));
            let pool = Pool2d::new(&shape, strides[0], strides[1], PoolKind::Max, isa, 2);
            let mut wanted = vec![f32::NAN; 20 * 21];
            run(&pool, &mut wanted, &x);
            let mut found = vec![7u16; 20 * 21 + 1];
            let ptrs: [*mut u8; 2] = [found.as_mut_ptr().cast(), halves.as_ptr().cast_mut().cast()];
            let pool = pool.stored(StoredFloat::Bf16);
            for part in 0..pool.parts() {
                // SAFETY: the operands have the extents of the shape.
                unsafe { pool.entry()(pool.as_bytes().as_ptr(), ptrs.as_ptr(), part, std::ptr::null_mut()) }
            }
            let wanted: Vec<u16> = wanted.into_iter().map(nearest_bf16).chain([7]).collect();
            assert_eq!(found, wanted, "{isa:?}");
        }
    }

    #[test]
    fn a_global_mean_adds_pixels_in_order() {
        for channels in [1, 16, 37, 130, 300] {
            let batch = 2;
            let pixels = if cfg!(miri) { 2 } else { 49 };
            let x = values(batch * pixels * channels);
            for isa in Isa::available() {
                let pool =
                    GlobalAveragePool::new(batch, pixels, channels, channels, pixels * channels, isa, 2);
                let mut out = vec![f32::NAN; batch * channels];
                run(&pool, &mut out, &x);
                for (index, found) in out.iter().enumerate() {
                    let (n, channel) = (index / channels, index % channels);
                    let sum = (0..pixels).fold(0.0, |sum, p| sum + x[(n * pixels + p) * channels + channel]);
                    assert_eq!(*found, sum / pixels as f32, "{isa:?} {channels} at {index}");
                }
            }
        }
    }

    #[test]
    fn a_pool_writes_into_a_wider_image_and_nothing_beside() {
        let shape = Pool2dShape {
            batch: 1,
            input: [4, 4],
            channels: 5,
            kernel: [2, 2],
            stride: [2, 2],
            dilation: [1, 1],
            pads: [0; 4],
            output: [2, 2],
        };
        let x = values(80);
        let to = ImageStrides::nhwc([2, 2], 9);
        let pool = Pool2d::new(&shape, ImageStrides::nhwc([4, 4], 5), to, PoolKind::Max, Isa::detect(), 1);
        let mut out = vec![777.0; 36];
        run(&pool, &mut out, &x);
        for (index, value) in out.iter().enumerate() {
            assert_eq!(*value == 777.0, index % 9 >= 5, "element {index}");
        }
    }
}
