//! Convolutions of byte images with few channels: a quad has the channels of one pixel.
//!
//! Lines of the image are copied to scratch ([`crate::wide_lines`]), each pixel widened to a quad, with the
//! zero point in the padding.
//!
//! The image's order of axes does not matter. Copied bytes are unsigned, and packed weights signed.

use super::gather::QuadImage;
use super::steps::ByteSign;
use super::{QuadConv2d, SLAB_TAIL, TILE};
use crate::conv::{Conv2dShape, Path};
use crate::lines::MOST_BYTES;
use crate::pixels::Pixel;
use crate::simd::Simd;
use crate::tiled::TILES_TOGETHER;
use crate::wide_lines::{LineRun, WideBlock, WideLines, WidenedImage};
use std::ops::Range;

/// Bytes of a pixel.
pub(super) const PIXEL: usize = 4;
/// The least distance of pixels that are not broadcast, in bytes, if channels are contiguous.
const PIXEL_STEP: u64 = 2;
/// The most output channels. With more, copies of rows are a small part of the time: from 4 to 512 channels,
/// a 3x3 kernel on 32 x 32 pixels takes 1.7 times as long with lines (AMD EPYC (Zen 4)).
const MOST_OUTPUTS: usize = 128;
/// Output channels of a vector.
const VECTOR: usize = 16;
/// Cycles that it takes to copy a kernel row's taps for an output pixel, about (AMD EPYC (Zen 4)).
const COPY: usize = 10;

impl Conv2dShape {
    /// Whether the kernel for bytes copies lines of the image, in any order of the image's axes and as fast.
    /// Batch and input do not matter.
    pub fn widens_pixels(&self) -> bool {
        let Conv2dShape { kernel, stride, dilation, groups, in_channels, out_channels, .. } = *self;
        let is_whole = groups == 1 && dilation == [1, 1] && out_channels <= MOST_OUTPUTS;
        let is_narrow = kernel[0] * kernel[1] > 0 && (2..=PIXEL).contains(&in_channels);
        // Its rows may be read in place.
        let is_pointwise = kernel == [1, 1] && stride == [1, 1] && in_channels == PIXEL;
        let columns = (TILE - 1).saturating_mul(stride[1]).saturating_add(kernel[1]);
        let bytes = columns.saturating_mul(PIXEL).saturating_add(SLAB_TAIL).saturating_mul(kernel[0]);
        if !is_whole || !is_narrow || is_pointwise || bytes > MOST_BYTES {
            return false;
        }
        // A quad for each pixel is more of them than full quads would be.
        let taps = kernel[0] * kernel[1];
        let more = taps - (taps * in_channels).div_ceil(PIXEL);
        more * out_channels.div_ceil(VECTOR) <= COPY * kernel[0]
    }
}

impl QuadConv2d {
    /// Whether a quad has the channels of one pixel.
    #[inline(always)]
    pub(super) fn has_pixel_quads(&self) -> bool {
        self.conv.path == Path::Lines && self.conv.in_group as usize <= PIXEL
    }

    /// The sizes of copied lines; beside them are the zero-point terms.
    #[inline(always)]
    pub(super) fn wide_lines(&self) -> WideLines<'_> {
        let lines = self.pixel_lines();
        match self.has_pixel_quads() {
            true => lines,
            false => WideLines {
                pixel: self.conv.in_group as usize,
                most: self.slab as usize,
                tile: self.tile(),
                together: if self.has_tiles() { TILES_TOGETHER } else { 1 },
                ..lines
            },
        }
    }

    /// Those of lines of quads.
    #[inline(always)]
    fn pixel_lines(&self) -> WideLines<'_> {
        WideLines {
            conv: &self.conv,
            pixel: PIXEL,
            beside: size_of::<i32>(),
            most: MOST_BYTES,
            tile: TILE,
            together: 1,
        }
    }

    /// Output pixels whose lines and zero-point terms take at most `slab` bytes. Sets the length of a copied
    /// line, and how many rows blocks may have in a line.
    pub(super) fn choose_lines(&mut self, slab: usize) -> usize {
        let WideBlock { pixels, line_bytes, together } = self.wide_lines().choose(slab);
        self.line_bytes = line_bytes as u32;
        self.conv.line = together as u32;
        pixels
    }

    /// An upper bound of the bytes of the copied lines and of the zero-point terms at smaller sizes. There
    /// are no more terms than quads in lines.
    pub(super) fn most_bytes_of_pixel_lines(&self) -> usize {
        let [height, width] = [self.conv.out_h, self.conv.out_w].map(|size| (size as usize).max(1));
        let lines = self.pixel_lines().most_bytes();
        lines + (height * width * 4).min(lines).next_multiple_of(64)
    }
}

impl WidenedImage for QuadImage<'_> {
    #[inline(always)]
    fn lines(&self) -> WideLines<'_> {
        self.this.wide_lines()
    }

    #[inline(always)]
    fn line_bytes(&self) -> usize {
        self.this.line_bytes as usize
    }

    #[inline(always)]
    fn group(&self) -> usize {
        // Grouped convolutions have other lines.
        0
    }

    #[inline(always)]
    unsafe fn copy_line<S: Simd>(&self, s: S, first: Pixel, count: usize, y: usize, to: *mut u8) {
        let QuadImage { this, images } = *self;
        let conv = &this.conv;
        let input = &conv.strides.input;
        let channels = conv.in_group as usize;
        let used = u32::MAX >> (32 - 8 * channels);
        let outside = (u32::from_le_bytes([images.x_zero as u8; PIXEL]) & used).to_le();
        let LineRun { before, inside, after, first } = self.lines().run(first, count, y);
        let from = images.x.wrapping_add(input.offset(first));
        let words = to.cast::<u32>();
        // SAFETY: the caller's promise; pixels inside are of the image. What copies write beyond is written
        // after.
        unsafe {
            for column in 0..before {
                words.add(column).write_unaligned(outside);
            }
            let pixels = PixelRun { from, step: [input.w as usize, input.c as usize], count: inside, used };
            let inner = words.add(before);
            match (input.w, input.c, channels) {
                (1, _, 2) => pixels.widen_planes::<S, 2>(s, this, inner),
                (1, _, 3) => pixels.widen_planes::<S, 3>(s, this, inner),
                (1, _, _) => pixels.widen_planes::<S, 4>(s, this, inner),
                // Four bytes of a pixel are within the image if the next pixel is after them.
                (PIXEL_STEP.., 1, _) => pixels.widen_together(this, inner),
                _ => pixels.widen_apart(this, inner, 0..pixels.count),
            }
            for column in before + inside..before + inside + after {
                words.add(column).write_unaligned(outside);
            }
        }
    }
}

/// Neighbouring pixels of the image.
struct PixelRun {
    from: *const u8,
    /// Bytes between pixels and between channels.
    step: [usize; 2],
    count: usize,
    /// The bytes in use of a pixel's quad.
    used: u32,
}

impl PixelRun {
    /// What makes the bytes of a quad unsigned.
    #[inline(always)]
    fn turned(&self, this: &QuadConv2d) -> u32 {
        u32::from_le_bytes([this.image.turn(); PIXEL]) & self.used
    }

    /// Widens pixels whose channels are apart, each channel contiguous.
    #[inline(always)]
    unsafe fn widen_planes<S: Simd, const CHANNELS: usize>(&self, s: S, this: &QuadConv2d, to: *mut u32) {
        let used = s.splat_int(self.used as i32);
        let is_signed = this.image == ByteSign::Signed;
        for first in (0..self.count).step_by(S::LANES) {
            let rows = std::array::from_fn(|channel| self.from.wrapping_add(channel * self.step[1] + first));
            // SAFETY: the pixels are of the image; the caller's promise.
            unsafe {
                let quads = s.load_quads::<CHANNELS>(rows, self.count - first);
                let quads = if is_signed { s.and_int(s.turn_signs(quads), used) } else { quads };
                s.store(to.add(first).cast(), s.float(quads));
            }
        }
    }

    /// Widens pixels whose channels are contiguous.
    #[inline(always)]
    unsafe fn widen_together(&self, this: &QuadConv2d, to: *mut u32) {
        let turned = self.turned(this);
        // Four bytes of the last pixel may go beyond the image.
        let last = self.count.saturating_sub(1);
        for pixel in 0..last {
            // SAFETY: the pixels are of the image; the caller's promise.
            unsafe {
                let quad = self.from.add(pixel * self.step[0]).cast::<u32>().read_unaligned();
                let quad = u32::from_le(quad);
                to.add(pixel).write_unaligned(((quad & self.used) ^ turned).to_le());
            }
        }
        // SAFETY: as above.
        unsafe { self.widen_apart(this, to, last..self.count) }
    }

    /// Widens some of the pixels, in any order of axes.
    #[inline(always)]
    unsafe fn widen_apart(&self, this: &QuadConv2d, to: *mut u32, pixels: Range<usize>) {
        let channels = this.conv.in_group as usize;
        let turned = self.turned(this);
        for pixel in pixels {
            let mut quad = [0; PIXEL];
            for (channel, byte) in quad.iter_mut().enumerate().take(channels) {
                // SAFETY: the pixels are of the image.
                *byte = unsafe { *self.from.add(pixel * self.step[0] + channel * self.step[1]) };
            }
            // SAFETY: the caller's promise.
            unsafe { to.add(pixel).write_unaligned((u32::from_le_bytes(quad) ^ turned).to_le()) }
        }
    }
}
