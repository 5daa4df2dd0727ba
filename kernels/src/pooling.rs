//! Pooling of channels-last images: the maximum or the mean of each window.
//!
//! A vector holds consecutive channels of one pixel. A window's elements are reduced in row-major order. A
//! maximum starts from minus infinity, and a NaN wins and stays. A mean starts from zero; the sum is divided
//! by the count. Maxima of bytes use a whole vector of bytes.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::bf16::{Numbers, StoredFloat, load, store};
use crate::conv::ImageStrides;
use crate::isa::Isa;
use crate::quads::ByteSign;
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

/// The reduction over a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// The largest element; padding is ignored.
    Max,
    /// The mean of the elements inside the image.
    Average,
    /// The mean of the elements inside the image or its padding, which is zero; elements beyond the padding
    /// do not count.
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
    /// The element type of both images.
    numbers: PooledNumber,
}

/// The element type of a pool's images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PooledNumber {
    /// As `f32`.
    F32 = 0,
    /// As `bf16`.
    Bf16 = 1,
    /// As unsigned bytes.
    U8 = 2,
    /// As signed bytes.
    I8 = 3,
}

impl PooledNumber {
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            PooledNumber::F32 => 4,
            PooledNumber::Bf16 => 2,
            PooledNumber::U8 | PooledNumber::I8 => 1,
        }
    }
}

impl From<StoredFloat> for PooledNumber {
    fn from(stored: StoredFloat) -> PooledNumber {
        match stored {
            StoredFloat::F32 => PooledNumber::F32,
            StoredFloat::Bf16 => PooledNumber::Bf16,
        }
    }
}

impl From<ByteSign> for PooledNumber {
    fn from(sign: ByteSign) -> PooledNumber {
        match sign {
            ByteSign::Unsigned => PooledNumber::U8,
            ByteSign::Signed => PooledNumber::I8,
        }
    }
}

impl Pool2d {
    /// A pool from and to images of these strides (in elements, channels contiguous).
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
            numbers: PooledNumber::F32,
        }
    }

    /// The same pool over images of another element type. Bytes have no mean.
    pub fn stored(self, numbers: PooledNumber) -> Pool2d {
        assert!(numbers.bytes() > 1 || self.kind == PoolKind::Max as u32, "bytes have no mean");
        Pool2d { numbers, ..self }
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

    /// The number of elements along `axis` of window `window` inside the image or its padding.
    #[inline(always)]
    fn padded_count(&self, axis: usize, window: usize) -> usize {
        let end = (self.input[axis] + self.pads[axis] + self.pads[axis + 2]) as usize;
        let start = window * self.stride[axis] as usize;
        end.saturating_sub(start).div_ceil(self.dilation[axis] as usize).min(self.kernel[axis] as usize)
    }

    /// Computes one window for all channels. Each of the images is a pointer and the index of its first
    /// element.
    #[inline(always)]
    unsafe fn window<S: Simd>(&self, s: S, images: [(*mut u8, usize); 2], window: [usize; 2]) {
        // SAFETY: passed on.
        unsafe {
            match self.numbers {
                PooledNumber::F32 => self.window_of_floats(s, images, StoredFloat::F32, window),
                PooledNumber::Bf16 => self.window_of_floats(s, images, StoredFloat::Bf16, window),
                PooledNumber::U8 => self.window_of_bytes(s, images, window, S::max_unsigned, 0),
                PooledNumber::I8 => self.window_of_bytes(s, images, window, S::max_signed, LEAST_SIGNED),
            }
        }
    }

    /// Computes one window of bytes with a maximum function; each byte of `least` is its neutral element.
    #[inline(always)]
    unsafe fn window_of_bytes<S: Simd>(
        &self,
        s: S,
        [x, out]: [(*mut u8, usize); 2],
        [row, column]: [usize; 2],
        larger: impl Fn(S, S::I, S::I) -> S::I,
        least: i32,
    ) {
        let (top, rows) = self.span(0, row);
        let (left, columns) = self.span(1, column);
        let [down, across] = [self.input_strides.h as usize, self.input_strides.w as usize];
        let [step_down, step_across] = [down * self.dilation[0] as usize, across * self.dilation[1] as usize];
        let first = x.1.wrapping_add(top.wrapping_mul(down)).wrapping_add(left.wrapping_mul(across));
        let channels = self.channels as usize;
        for channel in (0..channels).step_by(4 * S::LANES) {
            let count = channels - channel;
            let mut largest = s.splat_int(least);
            for ky in 0..rows {
                for kx in 0..columns {
                    let at = first + ky * step_down + kx * step_across + channel;
                    // SAFETY: `span` keeps rows and columns within the image, and `count` the channels.
                    let bytes = unsafe { s.load_bytes(x.0.add(at), count) };
                    largest = larger(s, s.bits(bytes), largest);
                }
            }
            // SAFETY: the caller's output pixel has `channels` elements.
            unsafe { s.store_bytes(out.0.add(out.1 + channel), count, s.float(largest)) };
        }
    }

    /// Computes one window of floats.
    #[inline(always)]
    unsafe fn window_of_floats<S: Simd>(
        &self,
        s: S,
        [x, out]: [(*mut u8, usize); 2],
        stored: StoredFloat,
        [row, column]: [usize; 2],
    ) {
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
                    let value = unsafe { load(s, x.0, stored, x.1 + at, lanes) };
                    sum = if is_max { larger(s, value, sum) } else { s.add(sum, value) };
                }
            }
            let result = if is_max { sum } else { s.div(sum, s.splat(count as f32)) };
            // SAFETY: the caller's output pixel has `channels` elements.
            unsafe { store(s, out.0, stored, out.1 + channel, lanes, result) };
        }
    }
}

/// Four bytes of -128.
const LEAST_SIGNED: i32 = i32::from_ne_bytes([0x80; 4]);

/// The larger of two numbers in each lane; NaN if either is NaN.
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
            // disjoint lines.
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
/// Pixels are added in order, one sum of `f32` for each channel, and the sum is divided by their count.
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
    /// The element type of operand and result.
    stored: StoredFloat,
    /// Always 0: fills what would be padding at the end.
    unused: u32,
}

/// Descriptors are embedded, compared and read as bytes, so there is no padding between fields.
const _: () = assert!(size_of::<GlobalAveragePool>() == 5 * size_of::<u64>() + 4 * size_of::<u32>());

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
            stored: StoredFloat::F32,
            unused: 0,
        }
    }

    /// The same means of elements of another type.
    pub fn stored(self, stored: StoredFloat) -> GlobalAveragePool {
        GlobalAveragePool { stored, ..self }
    }

    /// The means of up to `BLOCK` channels.
    #[inline(always)]
    unsafe fn block<S: Simd>(&self, s: S, x: Numbers, out: Numbers, channels: usize) {
        let count = s.splat(self.pixels as f32);
        for first in (0..channels).step_by(4 * S::LANES) {
            let lanes = |vector: usize| (channels - first).saturating_sub(vector * S::LANES);
            let mut sums = [s.splat(0.0); 4];
            for pixel in 0..self.pixels as usize {
                for (vector, sum) in sums.iter_mut().enumerate() {
                    let at = pixel * self.pixel_stride as usize + first + vector * S::LANES;
                    if lanes(vector) > 0 {
                        // SAFETY: the pixel has `channels` elements from here on.
                        *sum = s.add(*sum, unsafe { x.load(s, at, lanes(vector)) });
                    }
                }
            }
            for (vector, sum) in sums.into_iter().enumerate().filter(|(vector, _)| lanes(*vector) > 0) {
                // SAFETY: the output has `channels` elements from here on.
                unsafe { out.store(s, first + vector * S::LANES, lanes(vector), s.div(sum, count)) };
            }
        }
    }
}

// SAFETY: five `u64` and four fields of 4 bytes, without padding; `entry` reads this type.
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
            // SAFETY: the operands have the extents that the descriptor was made for; parts write
            // disjoint blocks.
            unsafe {
                let numbers = |operand: usize, first: usize| Numbers {
                    start: operands.get::<u8>(operand),
                    stored: self.stored,
                    first,
                };
                let x = numbers(1, n * self.image_stride as usize + first);
                let out = numbers(0, n * channels + first);
                self.block(s, x, out, BLOCK.min(channels - first));
            }
        }
    }
}

#[cfg(test)]
#[path = "pooling_tests.rs"]
mod tests;
