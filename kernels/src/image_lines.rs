//! Rows of a matrix product that overlap. Lines of the image are copied into scratch once, with padding, the
//! channels of a pixel side by side. Then the taps of a kernel row are contiguous, and a tile reads a pixel's
//! inputs where they are, one segment for each kernel row. Where rows are copied instead ([`crate::gather`]),
//! an input is copied once for each tap that reads it.
//!
//! Numbers of 16 bits and bytes have lines of their own ([`crate::wide_lines`]), of pixels widened to pairs
//! or quads; else the words that are multiplied would go beyond the end of a segment.

use crate::conv::{Conv2d, Conv2dShape, ConvOperands, ConvPrologue, ImageStrides, Path};
use crate::copy::turn_squares;
use crate::gather::{copy, zero};
use crate::pixels::Pixel;
use crate::simd::{SQUARE, Simd};
use std::array::from_fn;
use std::ops::Range;

/// The most floats of the copied lines, so that they stay in the nearest caches.
const MOST_FLOATS: usize = 8 * 1024;
/// The fewest output pixels of a copied line: those of a tile, which does not go beyond an output line.
const LEAST_PIXELS: usize = 14;
/// The most products of an output.
const MOST_DEPTH: usize = 1152;
/// The most channels of a pixel if they are contiguous and neighbouring pixels read the same columns.
/// Thirteen layers of 24 to 128 channels with 3x3 kernels take 0.75 to 0.96 of the time of copied rows with
/// AVX-512, and 0.90 to 1.04 with AVX2; with 256 channels it is 1.07 and 1.04 (one thread of an Intel Xeon).
const MOST_CHANNELS: usize = 128;
/// The same where they do not: then copies of rows have few short pieces.
const MOST_CHANNELS_APART: usize = 16;
/// The most channels of a pixel that are put side by side in one loop over pixels.
const FEW_CHANNELS: usize = 4;

impl Conv2dShape {
    /// Whether a convolution without a prologue reads copied lines of its image, in any order of the image's
    /// axes and as fast, where output lines have at least 14 pixels. Batch and input do not matter.
    pub fn reads_copied_lines(&self) -> bool {
        self.in_channels <= FEW_CHANNELS && self.overlaps()
    }

    /// Whether copied lines never take more room than copied rows, and tiles can read them.
    fn overlaps(&self) -> bool {
        let Conv2dShape { kernel, stride, dilation, groups, in_channels, .. } = *self;
        let is_whole = groups == 1 && dilation == [1, 1];
        let touches = kernel[0] > 1 && kernel[0] >= stride[0] && kernel[1] >= stride[1];
        is_whole && touches && (1..=MOST_DEPTH).contains(&(kernel[0] * kernel[1] * in_channels))
    }
}

/// A block of output pixels that read copied lines: some pixels of one output line, or some whole lines.
pub(crate) struct LineBlock {
    /// Output pixels.
    pub(crate) pixels: usize,
    /// Floats of a copied line.
    pub(crate) length: usize,
}

impl Conv2d {
    /// Whether lines of the image should be copied if there is room for them.
    pub(crate) fn should_copy_lines(&self, shape: &Conv2dShape) -> bool {
        let is_apart = self.strides.input.c != 1;
        let is_plain = self.prologue == ConvPrologue::None && self.out_w as usize >= LEAST_PIXELS;
        let is_shared = shape.kernel[1] > shape.stride[1];
        let most = if is_shared { MOST_CHANNELS } else { MOST_CHANNELS_APART };
        is_plain && shape.overlaps() && (is_apart || shape.in_channels <= most)
    }

    /// The largest block whose copied lines take at most `slab` floats; none if a tile's take more.
    pub(crate) fn line_block(&self, slab: usize) -> Option<LineBlock> {
        let slab = slab.min(MOST_FLOATS);
        let [width, height] = [self.out_w as usize, self.out_h as usize];
        let [kernel_h, kernel_w] = [self.kernel_h as usize, self.kernel_w as usize];
        let length = self.floats_of_line(width);
        if let Some(more) = (slab / length).checked_sub(kernel_h) {
            let lines = (more / self.stride_h as usize + 1).min(height);
            return Some(LineBlock { pixels: lines * width, length });
        }
        let columns = slab / (kernel_h * self.in_group as usize);
        let pixels = columns.checked_sub(kernel_w)? / self.stride_w as usize + 1;
        let pixels = pixels / LEAST_PIXELS * LEAST_PIXELS;
        (pixels > 0).then(|| LineBlock { pixels, length: self.floats_of_line(pixels) })
    }

    /// Floats of a copied line that `pixels` output pixels read.
    fn floats_of_line(&self, pixels: usize) -> usize {
        let columns = pixels.saturating_sub(1) * self.stride_w as usize + self.kernel_w as usize;
        columns * self.in_group as usize
    }

    /// Floats that are copied for each output pixel, about.
    pub(crate) fn copied_floats(&self) -> f64 {
        f64::from(self.in_group * self.stride_h * self.stride_w)
    }

    /// Floats of the copied lines of a block.
    pub(crate) fn floats_of_lines(&self) -> usize {
        let lines = (self.block_rows / self.out_w).max(1);
        ((lines - 1) * self.stride_h + self.kernel_h) as usize * self.slab_stride as usize
    }

    /// The pixels of an output line that are always in one block; 1 if a block may begin at any pixel.
    pub(crate) fn pixels_together(&self) -> usize {
        if self.path == Path::Lines && self.block_rows >= self.out_w { self.out_w as usize } else { 1 }
    }
}

/// The copied lines of a block.
pub(crate) struct ImageLines<'c> {
    conv: &'c Conv2d,
    start: *mut f32,
    /// The output pixel whose taps come first.
    first: Pixel,
}

impl<'c> ImageLines<'c> {
    /// Copies what a block of output pixels, `rows`, reads. It may write up to a vector more.
    ///
    /// # Safety
    /// `Conv2d`'s operands are valid; `to` is valid for the lines and a vector more.
    #[inline(always)]
    pub(crate) unsafe fn copy<S: Simd>(
        s: S,
        conv: &'c Conv2d,
        images: &ConvOperands,
        rows: &Range<usize>,
        to: *mut f32,
    ) -> ImageLines<'c> {
        let first = conv.pixel(rows.start);
        let together = conv.pixels_together();
        let first = Pixel { x: first.x / together * together, ..first };
        let lines = conv.pixel(rows.end - 1).y - first.y;
        let count = lines * conv.stride_h as usize + conv.kernel_h as usize;
        let top = (first.y * conv.stride_h as usize) as isize - conv.pad_top as isize;
        for index in 0..count {
            let y = top + index as isize;
            let y = (0..conv.in_h as isize).contains(&y).then_some(y as usize);
            // SAFETY: the caller's promise; the line is in the image, if there is one.
            unsafe { copy_line(s, conv, images, (first, y), to.add(index * conv.slab_stride as usize)) };
        }
        ImageLines { conv, start: to, first }
    }

    /// Where the taps of an output pixel begin.
    #[inline(always)]
    pub(crate) fn of_pixel(&self, pixel: Pixel) -> *mut f32 {
        let conv = self.conv;
        let line = (pixel.y - self.first.y) * conv.stride_h as usize * conv.slab_stride as usize;
        let column = (pixel.x - self.first.x) * conv.stride_w as usize * conv.in_group as usize;
        self.start.wrapping_add(line + column)
    }
}

/// Copies what the output pixels from `first` on read of line `y`; no line means padding alone.
///
/// # Safety
/// The line is in the image; `to` is valid for a copied line and a vector more.
#[inline(always)]
unsafe fn copy_line<S: Simd>(
    s: S,
    conv: &Conv2d,
    images: &ConvOperands,
    (first, y): (Pixel, Option<usize>),
    to: *mut f32,
) {
    let input = &conv.strides.input;
    let channels = conv.in_group as usize;
    let length = conv.slab_stride as usize;
    let columns = length / channels;
    let (before, inside) = conv.columns_inside(first.x * conv.stride_w as usize, columns);
    // SAFETY: the caller's promise; the columns `inside` are the image's.
    unsafe {
        let Some(y) = y else {
            zero(s, to, length);
            return;
        };
        zero(s, to, before * channels);
        let offset = input.offset(Pixel { n: first.n, y, x: inside.start });
        copy_pixels(s, conv, images.x.wrapping_add(offset), to.add(before * channels), inside.len());
        let end = (before + inside.len()) * channels;
        zero(s, to.add(end), length - end);
    }
}

/// Copies `pixels` pixels of a line of the image side by side. It may write up to a vector more.
///
/// # Safety
/// `from` is valid for the pixels, `to` for a vector more.
#[inline(always)]
unsafe fn copy_pixels<S: Simd>(s: S, conv: &Conv2d, from: *const f32, to: *mut f32, pixels: usize) {
    let ImageStrides { w, c, .. } = conv.strides.input;
    let [step, apart, channels] = [w as usize, c as usize, conv.in_group as usize];
    // SAFETY: the caller's promise.
    unsafe {
        match (channels, step, apart) {
            (_, _, 1) if step == channels => copy(s, from, to, pixels * channels),
            (_, _, 1) => {
                for x in 0..pixels {
                    copy(s, from.add(x * step), to.add(x * channels), channels);
                }
            }
            (1, 1, _) => copy(s, from, to, pixels),
            (2, 1, _) => interleave::<2>(from, apart, to, pixels),
            (3, 1, _) => interleave_three(s, from, apart, to, pixels),
            (4, 1, _) => interleave::<4>(from, apart, to, pixels),
            (SQUARE.., 1, _) if pixels >= SQUARE => {
                let strides = [apart as isize, channels as isize];
                turn_squares(s, [pixels, channels], (from, to), strides);
            }
            _ => {
                for channel in 0..channels {
                    for x in 0..pixels {
                        *to.add(x * channels + channel) = *from.add(x * step + channel * apart);
                    }
                }
            }
        }
    }
}

/// Copies `pixels` pixels of three channels, which are `apart` floats from each other, side by side.
///
/// # Safety
/// Both are valid for all pixels' channels.
#[inline(always)]
unsafe fn interleave_three<S: Simd>(s: S, from: *const f32, apart: usize, to: *mut f32, pixels: usize) {
    let whole = pixels / S::LANES * S::LANES;
    // SAFETY: the caller's promise.
    unsafe {
        let [of_pixels, of_channels] = lanes_of_three::<S>();
        let of_pixels = of_pixels.each_ref().map(|lanes| s.bits(s.load(lanes.as_ptr())));
        let of_channels = of_channels.each_ref().map(|lanes| s.load(lanes.as_ptr()));
        for x in (0..whole).step_by(S::LANES) {
            let channels = [0, 1, 2].map(|channel: usize| s.load(from.add(channel * apart + x)));
            for (vector, (lanes, channel)) in of_pixels.iter().zip(of_channels).enumerate() {
                let [first, second, third] = channels.map(|channel| s.permute(channel, *lanes));
                let later = s.select_eq(channel, s.splat(1.0), second, third);
                let value = s.select_eq(channel, s.splat(0.0), first, later);
                s.store(to.add(3 * x + vector * S::LANES), value);
            }
        }
        interleave::<3>(from.add(whole), apart, to.add(3 * whole), pixels - whole);
    }
}

/// Copies `pixels` pixels of `CHANNELS` channels, which are `step` floats apart, side by side.
///
/// # Safety
/// Both are valid for all pixels' channels.
#[inline(always)]
unsafe fn interleave<const CHANNELS: usize>(from: *const f32, step: usize, to: *mut f32, pixels: usize) {
    for pixel in 0..pixels {
        for channel in 0..CHANNELS {
            // SAFETY: the caller's promise.
            unsafe { *to.add(pixel * CHANNELS + channel) = *from.add(channel * step + pixel) };
        }
    }
}

/// Three vectors of pixels' channels side by side: the pixel of each lane, as the bits of an integer, and its
/// channel.
#[inline(always)]
fn lanes_of_three<S: Simd>() -> [[[f32; 16]; 3]; 2] {
    let lanes = |value: fn(usize) -> f32| from_fn(|vector| from_fn(|lane| value(vector * S::LANES + lane)));
    [lanes(|at| f32::from_bits((at / 3) as u32)), lanes(|at| (at % 3) as f32)]
}
