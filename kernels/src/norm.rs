//! Group normalization in three steps, so that the result may overwrite the operand.
//!
//! Image `n`, channel `c` of group `g`: `activation((x - mean(n, g)) * (scale[c] / sqrt(variance(n, g) +
//! epsilon)) + bias[c])`, the last product and sum rounded once.
//!
//! - *Moments*: each image is divided into chunks of pixels, one a part; for each channel of a chunk, the
//!   mean and the sum of squared deviations from it. A chunk is read in blocks that stay in the first-level
//!   cache, each twice: for its mean, then for the deviations from it. Blocks are joined by the method of
//!   Chan, Golub and LeVeque ("Updating Formulae and a Pairwise Algorithm for Computing Sample Variances",
//!   1979), so a mean far from zero costs no precision.
//! - *Factors*: one part joins chunks and channels to groups, in `f64`.
//! - *Apply*: each part maps its own pixels. If the result is stored as `bf16`, a pixel's channels are
//!   computed as `f32` in scratch, so the activation is that of `f32`, and the result is rounded once.
//!
//! The division into chunks and blocks depends only on the sizes. A lane is a channel; if instead the pixels
//! of a channel are contiguous, they are added in the order of [`crate::contiguous`]. So the bits are the
//! same on any instruction set, and at any number of threads.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::bf16::{Numbers, StoredFloat};
use crate::contiguous::{RowMap, RowSquares, RowValues, map_row, sum_row};
use crate::isa::Isa;
use crate::map::{Activation, FunctionCode, MapBody, apply};
use crate::simd::Simd;

/// The sizes and strides (in elements) of a normalization of groups of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupNormShape {
    /// Images.
    pub batch: usize,
    /// Pixels of an image.
    pub pixels: usize,
    /// Channels, a multiple of `groups`.
    pub channels: usize,
    /// Groups of consecutive channels with a mean and a variance each.
    pub groups: usize,
    /// Between images.
    pub image_stride: usize,
    /// Between pixels.
    pub pixel_stride: usize,
    /// Between channels. If it is 1, a vector has channels; otherwise it has pixels, if they are contiguous.
    pub channel_stride: usize,
}

impl GroupNormShape {
    /// The number of chunks of an image, for the moments.
    pub fn chunks(&self) -> usize {
        (self.pixels * self.channels / CHUNK).clamp(1, MOST_CHUNKS).min(self.pixels.max(1))
    }

    /// Floats of the moments of all chunks: for each image and chunk the means of the channels, then their
    /// squared deviations.
    pub fn moments_len(&self) -> usize {
        self.batch * self.chunks() * 2 * self.channels
    }

    /// Floats of the factors: for each image the means of the channels, then the factors of the deviations
    /// from them.
    pub fn factors_len(&self) -> usize {
        self.batch * 2 * self.channels
    }
}

/// The least elements of a chunk.
const CHUNK: usize = 16 * 1024;
/// The most chunks of an image.
const MOST_CHUNKS: usize = 32;
/// The approximate number of elements of a block of a chunk.
const BLOCK: usize = 8 * 1024;

/// The centre of the deviations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Centre {
    /// The mean.
    Mean = 0,
    /// Zero: nothing is subtracted.
    Zero = 1,
}

/// One of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum GroupNormStep {
    /// Operands: `[moments, x]`.
    Moments = 0,
    /// Operands: `[factors, moments, scale, bias]`; the bias is not read.
    Factors = 1,
    /// Operands: `[out, x, factors, bias]`; `out` may be `x` itself if both are stored alike, otherwise they
    /// do not overlap.
    Apply = 2,
}

/// One step of a normalization of groups of channels.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GroupNorm {
    batch: u64,
    pixels: u64,
    channels: u64,
    groups: u64,
    image_stride: u64,
    pixel_stride: u64,
    channel_stride: u64,
    chunks: u64,
    epsilon: f32,
    activation: FunctionCode,
    step: GroupNormStep,
    centre: Centre,
    parts: u32,
    isa: Isa,
    input: StoredFloat,
    output: StoredFloat,
}

impl GroupNorm {
    /// A step. Panics if the channels are not a multiple of the groups.
    pub fn new(
        shape: &GroupNormShape,
        step: GroupNormStep,
        centre: Centre,
        epsilon: f32,
        activation: Activation,
        isa: Isa,
        threads: usize,
    ) -> GroupNorm {
        assert!(shape.groups > 0 && shape.channels.is_multiple_of(shape.groups));
        let is_empty = shape.batch * shape.pixels * shape.channels == 0;
        let units = shape.batch * shape.chunks();
        let parts = match step {
            _ if is_empty => 0,
            GroupNormStep::Moments => units,
            GroupNormStep::Factors => 1,
            GroupNormStep::Apply => units.min(threads * 8),
        };
        GroupNorm {
            batch: shape.batch as u64,
            pixels: shape.pixels as u64,
            channels: shape.channels as u64,
            groups: shape.groups as u64,
            image_stride: shape.image_stride as u64,
            pixel_stride: shape.pixel_stride as u64,
            channel_stride: shape.channel_stride as u64,
            chunks: shape.chunks() as u64,
            epsilon,
            activation: activation.into(),
            step,
            centre,
            parts: parts as u32,
            isa,
            input: StoredFloat::F32,
            output: StoredFloat::F32,
        }
    }

    /// The same step with other storage types of the operand `x` and the result `out`.
    pub fn stored(self, input: StoredFloat, output: StoredFloat) -> GroupNorm {
        GroupNorm { input, output, ..self }
    }

    /// Whether a pixel's channels are computed in scratch.
    fn is_beside(&self) -> bool {
        self.output != StoredFloat::F32 && self.activation.is_applied()
    }

    fn channels(&self) -> usize {
        self.channels as usize
    }

    /// The pixels of a chunk.
    fn chunk(&self, chunk: usize) -> std::ops::Range<usize> {
        piece(self.pixels as usize, self.chunks as usize, chunk)
    }

    /// The number of pixels in a block.
    fn block_pixels(&self) -> usize {
        (BLOCK / self.channels().max(1)).max(1)
    }

    /// The moments of a chunk: `means` and `squares` of each channel; `fresh` has room for one block's means
    /// and squares.
    ///
    /// # Safety
    /// `x` is an image of the descriptor's sizes; the others have as many floats as there are channels,
    /// `fresh` twice as many.
    #[inline(always)]
    unsafe fn moments<S: Simd>(
        &self,
        s: S,
        x: Numbers,
        [means, squares, fresh]: [*mut f32; 3],
        chunk: usize,
    ) {
        let channels = self.channels();
        let pixels = self.chunk(chunk);
        let block_means = fresh;
        let block_squares = fresh.wrapping_add(channels);
        let mut done = 0usize;
        for first in pixels.clone().step_by(self.block_pixels()) {
            let count = self.block_pixels().min(pixels.end - first);
            // SAFETY: the block is part of the image; each table has a place for each channel.
            unsafe {
                let block = x.from(first * self.pixel_stride as usize);
                self.sum_block(s, block, count, block_means);
                self.square_block(s, block, count, block_means, block_squares);
                join(s, channels, [done, count], [block_means, block_squares], [means, squares]);
            }
            done += count;
        }
    }

    /// The mean of each channel over `count` pixels.
    ///
    /// # Safety
    /// As [`Self::moments`].
    #[inline(always)]
    unsafe fn sum_block<S: Simd>(&self, s: S, x: Numbers, count: usize, means: *mut f32) {
        let channels = self.channels();
        let pixel_stride = self.pixel_stride as usize;
        let divisor = count as f32;
        // SAFETY: the caller's promise.
        unsafe {
            if self.channel_stride != 1 {
                for channel in 0..channels {
                    let from = x.from(channel * self.channel_stride as usize);
                    let sum = match pixel_stride {
                        1 => sum_row::<S, RowValues>(s, from, count, 0.0),
                        _ => (0..count).fold(0.0, |sum, pixel| sum + from.one(pixel * pixel_stride)),
                    };
                    *means.add(channel) = sum / divisor;
                }
                return;
            }
            for pixel in 0..count {
                let from = x.from(pixel * pixel_stride);
                for first in (0..channels).step_by(S::LANES) {
                    let left = channels - first;
                    let sum = if pixel == 0 { s.splat(0.0) } else { s.load_first(means.add(first), left) };
                    let sum = s.add(sum, from.load(s, first, left));
                    let mean = if pixel + 1 == count { s.div(sum, s.splat(divisor)) } else { sum };
                    s.store_first(means.add(first), left, mean);
                }
            }
        }
    }

    /// The sum of squared deviations of each channel over `count` pixels.
    ///
    /// # Safety
    /// As [`Self::moments`].
    #[inline(always)]
    unsafe fn square_block<S: Simd>(
        &self,
        s: S,
        x: Numbers,
        count: usize,
        means: *const f32,
        squares: *mut f32,
    ) {
        let channels = self.channels();
        let pixel_stride = self.pixel_stride as usize;
        // SAFETY: the caller's promise.
        unsafe {
            if self.channel_stride != 1 {
                for channel in 0..channels {
                    let from = x.from(channel * self.channel_stride as usize);
                    let mean = *means.add(channel);
                    let deviation = |pixel: usize| from.one(pixel * pixel_stride) - mean;
                    let square = |sum: f32, pixel: usize| deviation(pixel).mul_add(deviation(pixel), sum);
                    *squares.add(channel) = match pixel_stride {
                        1 => sum_row::<S, RowSquares>(s, from, count, mean),
                        _ => (0..count).fold(0.0, square),
                    };
                }
                return;
            }
            for pixel in 0..count {
                let from = x.from(pixel * pixel_stride);
                for first in (0..channels).step_by(S::LANES) {
                    let left = channels - first;
                    let sum = if pixel == 0 { s.splat(0.0) } else { s.load_first(squares.add(first), left) };
                    let mean = s.load_first(means.add(first), left);
                    let deviation = s.sub(from.load(s, first, left), mean);
                    s.store_first(squares.add(first), left, s.mul_add(deviation, deviation, sum));
                }
            }
        }
    }

    /// The factors of image `n`: the group's mean for each channel, and `scale / sqrt(variance + epsilon)`.
    ///
    /// # Safety
    /// The tables have the lengths that [`GroupNormShape`] says, `scale` a number for each channel.
    #[inline(always)]
    unsafe fn factors(&self, moments: *const f32, scale: *const f32, factors: *mut f32) {
        let channels = self.channels();
        let chunks = self.chunks as usize;
        let size = channels / self.groups as usize;
        for group in 0..self.groups as usize {
            let of_group =
                || (0..chunks).flat_map(|chunk| (group * size..(group + 1) * size).map(move |c| (chunk, c)));
            let moment = |row: usize, channel: usize| {
                // SAFETY: the caller's promise.
                f64::from(unsafe { *moments.add(row * channels + channel) })
            };
            let mean = |(chunk, channel): (usize, usize)| moment(2 * chunk, channel);
            let square = |(chunk, channel): (usize, usize)| moment(2 * chunk + 1, channel);
            let weight = |(chunk, _): (usize, usize)| self.chunk(chunk).len() as f64;
            let count = self.pixels as f64 * size as f64;
            let total: f64 = of_group().map(|at| weight(at) * mean(at)).sum();
            let centre = if self.centre == Centre::Zero { 0.0 } else { total / count };
            let spread = |at| square(at) + weight(at) * (mean(at) - centre).powi(2);
            let variance = of_group().map(spread).sum::<f64>() / count;
            let factor = 1.0 / (variance + f64::from(self.epsilon)).sqrt();
            for channel in group * size..(group + 1) * size {
                // SAFETY: the caller's promise.
                unsafe {
                    *factors.add(channel) = centre as f32;
                    *factors.add(channels + channel) = (f64::from(*scale.add(channel)) * factor) as f32;
                }
            }
        }
    }

    /// Maps some pixels of an image.
    ///
    /// # Safety
    /// `out` and `x` start at the first of them; `factors` and `bias` are those of the image; `beside` has
    /// room for [`Self::scratch_bytes`].
    #[inline(always)]
    unsafe fn map<S: Simd>(
        &self,
        s: S,
        [out, x]: [Numbers; 2],
        factors: *const f32,
        bias: *const f32,
        count: usize,
        beside: *mut f32,
    ) {
        let channels = self.channels();
        let (pixel_stride, channel_stride) = (self.pixel_stride as usize, self.channel_stride as usize);
        let beside = Numbers { start: beside.cast(), stored: StoredFloat::F32, first: 0 };
        // SAFETY: the caller's promise.
        unsafe {
            if self.channel_stride != 1 {
                for channel in 0..channels {
                    let (mean, factor) = (*factors.add(channel), *factors.add(channels + channel));
                    if pixel_stride == 1 && !self.is_beside() {
                        let at = channel * channel_stride;
                        let (out, x) = (out.from(at), x.from(at));
                        let [mean, factor, bias] = [mean, factor, *bias.add(channel)].map(|one| s.splat(one));
                        map_row(s, count, &MappedChannel { out, x, mean, factor, bias });
                        self.activate(s, out, out, count);
                        continue;
                    }
                    for pixel in 0..count {
                        let at = channel * channel_stride + pixel * pixel_stride;
                        let value = (x.one(at) - mean).mul_add(factor, *bias.add(channel));
                        let to = if self.is_beside() { beside } else { out.from(at) };
                        to.store(s, 0, 1, s.splat(value));
                        self.activate(s, to, out.from(at), 1);
                    }
                }
                return;
            }
            for pixel in 0..count {
                let (from, out) = (x.from(pixel * pixel_stride), out.from(pixel * pixel_stride));
                let to = if self.is_beside() { beside } else { out };
                for first in (0..channels).step_by(S::LANES) {
                    let left = channels - first;
                    let load = |from: *const f32| s.load_first(from.add(first), left);
                    let deviation = s.sub(from.load(s, first, left), load(factors));
                    let value = s.mul_add(deviation, load(factors.add(channels)), load(bias));
                    to.store(s, first, left, value);
                }
                self.activate(s, to, out, channels);
            }
        }
    }

    /// Applies the activation to `count` elements at `to`, which are `f32` if there is one, and stores them
    /// in `out` if that is another tensor.
    ///
    /// # Safety
    /// Both have these elements.
    #[inline(always)]
    unsafe fn activate<S: Simd>(&self, s: S, to: Numbers, out: Numbers, count: usize) {
        if !self.activation.is_applied() {
            return;
        }
        let at = to.floats(0);
        // SAFETY: the caller's promise.
        unsafe {
            apply::<S>(MapBody { code: self.activation, from: at, to: at, n: count });
            if self.is_beside() {
                for first in (0..count).step_by(S::LANES) {
                    out.store(s, first, count - first, to.load(s, first, count - first));
                }
            }
        }
    }
}

/// The contiguous pixels of a channel, once the factors are known.
struct MappedChannel<S: Simd> {
    out: Numbers,
    x: Numbers,
    mean: S::F,
    factor: S::F,
    bias: S::F,
}

impl<S: Simd> RowMap<S> for MappedChannel<S> {
    #[inline(always)]
    unsafe fn vector(&self, s: S, first: usize, count: usize) -> S::F {
        // SAFETY: the caller's promise.
        let deviation = s.sub(unsafe { self.x.load(s, first, count) }, self.mean);
        s.mul_add(deviation, self.factor, self.bias)
    }

    #[inline(always)]
    unsafe fn store(&self, s: S, first: usize, count: usize, results: S::F) {
        // SAFETY: the caller's promise.
        unsafe { self.out.store(s, first, count, results) }
    }
}

/// Joins the moments of `count` pixels with those of `done` others.
///
/// # Safety
/// The tables have `channels` floats each.
#[inline(always)]
unsafe fn join<S: Simd>(
    s: S,
    channels: usize,
    [done, count]: [usize; 2],
    [block_means, block_squares]: [*mut f32; 2],
    [means, squares]: [*mut f32; 2],
) {
    let share = s.splat(count as f32 / (done + count) as f32);
    let weight = s.splat(done as f32 * (count as f32 / (done + count) as f32));
    for first in (0..channels).step_by(S::LANES) {
        let left = channels - first;
        // SAFETY: the caller's promise.
        unsafe {
            let (mean, square) =
                (s.load_first(block_means.add(first), left), s.load_first(block_squares.add(first), left));
            if done == 0 {
                s.store_first(means.add(first), left, mean);
                s.store_first(squares.add(first), left, square);
                continue;
            }
            let (old_mean, old_square) =
                (s.load_first(means.add(first), left), s.load_first(squares.add(first), left));
            let step = s.sub(mean, old_mean);
            s.store_first(means.add(first), left, s.mul_add(step, share, old_mean));
            let between = s.mul_add(s.mul(step, step), weight, square);
            s.store_first(squares.add(first), left, s.add(old_square, between));
        }
    }
}

// SAFETY: eight `u64`, then ten of four bytes, without padding; `entry` reads this type.
unsafe impl Kernel for GroupNorm {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        match self.step {
            GroupNormStep::Moments => 2 * self.channels() * 4,
            GroupNormStep::Apply if self.is_beside() => self.channels() * 4,
            _ => 0,
        }
    }

    fn entry(&self) -> KernelFn {
        entry_of::<GroupNorm>(self.isa)
    }
}

impl KernelBody for GroupNorm {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        let channels = self.channels();
        let chunks = self.chunks as usize;
        // SAFETY: the operands have the extents that the descriptor was made for; parts write disjoint chunks
        // or pixels.
        unsafe {
            match self.step {
                GroupNormStep::Moments => {
                    let (n, chunk) = (part as usize / chunks, part as usize % chunks);
                    let means = operands.get::<f32>(0).add(part as usize * 2 * channels);
                    let first = n * self.image_stride as usize;
                    let x = Numbers { start: operands.get::<u8>(1), stored: self.input, first };
                    self.moments(s, x, [means, means.add(channels), scratch.cast()], chunk);
                }
                GroupNormStep::Factors => {
                    for n in 0..self.batch as usize {
                        let factors = operands.get::<f32>(0).add(n * 2 * channels);
                        let moments = operands.get::<f32>(1).add(n * chunks * 2 * channels);
                        self.factors(moments, operands.get(2), factors);
                    }
                }
                GroupNormStep::Apply => {
                    for unit in piece(self.batch as usize * chunks, self.parts as usize, part as usize) {
                        let n = unit / chunks;
                        let pixels = self.chunk(unit % chunks);
                        let at = n * self.image_stride as usize + pixels.start * self.pixel_stride as usize;
                        let images = [(0, self.output), (1, self.input)].map(|(index, stored)| Numbers {
                            start: operands.get::<u8>(index),
                            stored,
                            first: at,
                        });
                        let factors = operands.get::<f32>(2).add(n * 2 * channels);
                        self.map(s, images, factors, operands.get(3), pixels.len(), scratch.cast());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "norm_tests.rs"]
mod tests;
