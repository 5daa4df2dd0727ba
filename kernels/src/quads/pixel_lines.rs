//! Convolutions of byte images with few channels: a quad has the channels of one pixel.
//!
//! Lines of the image are copied to scratch, each pixel widened to a quad, with the zero point in the
//! padding. The taps of a kernel row are then consecutive quads, and neighbouring output pixels read
//! overlapping rows of a matrix in place, one segment for each row of the kernel. Where rows are copied
//! instead (`gather`), each byte is copied once for each tap that reads it.
//!
//! The image's order of axes does not matter. Copied bytes are unsigned, and packed weights signed.

use super::steps::ByteSign;
use super::{QuadConv2d, QuadOperands, SLAB_TAIL, TILE};
use crate::conv::{Conv2dShape, Path};
use crate::lines::MOST_BYTES;
use crate::pixels::Pixel;
use crate::simd::Simd;
use std::ops::Range;

/// Bytes of a pixel.
pub(super) const PIXEL: usize = 4;
/// The least distance of pixels that are not broadcast, in bytes, if channels are contiguous.
const PIXEL_STEP: u64 = 2;
/// Cache lines, of which copied lines are made.
const CACHE_LINE: usize = 64;
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
        self.conv.path == Path::Lines
    }

    /// Bytes of a copied line for `pixels` output pixels.
    #[inline(always)]
    fn line_length(&self, pixels: usize) -> usize {
        let columns = pixels.saturating_sub(1) * self.conv.stride_w as usize + self.conv.kernel_w as usize;
        (columns * PIXEL).next_multiple_of(CACHE_LINE)
    }

    /// Lines of the image that are in scratch together.
    #[inline(always)]
    pub(super) fn copied_lines(&self) -> usize {
        let conv = &self.conv;
        match conv.path {
            Path::Lines => self.lines_of(conv.block_rows as usize / (conv.out_w as usize).max(1)),
            _ => conv.kernel_h as usize,
        }
    }

    /// Lines of the image that `lines` output lines read.
    #[inline(always)]
    fn lines_of(&self, lines: usize) -> usize {
        lines.saturating_sub(1) * self.conv.stride_h as usize + self.conv.kernel_h as usize
    }

    /// Output pixels whose lines and zero-point terms take at most `slab` bytes: whole lines, whole tiles of
    /// one, or else one tile. Sets the length of a copied line, and how many rows blocks may have in a line.
    pub(super) fn choose_lines(&mut self, slab: usize) -> usize {
        let [height, width] = [self.conv.out_h, self.conv.out_w].map(|size| (size as usize).max(1));
        let room = slab.min(MOST_BYTES);
        let fits = |lines: usize, pixels: usize| {
            let copied = self.line_length(pixels).saturating_mul(self.lines_of(lines));
            copied.saturating_add(lines * pixels * 4) <= room
        };
        let lines = (1..=height).take_while(|lines| fits(*lines, width)).last();
        let tiles =
            || (1..=width / TILE).map(|tiles| tiles * TILE).take_while(|pixels| fits(1, *pixels)).last();
        let chosen = lines.map(|lines| lines * width).or_else(tiles).unwrap_or(width.min(TILE));
        self.line_bytes = self.line_length(chosen.min(width)) as u32;
        // A block is within one line, or has whole lines of one image.
        let image = self.conv.out_h as usize * self.conv.out_w as usize;
        let line = if chosen < width { width } else { self.conv.uniform_rows().min(image.max(1)) };
        self.conv.line = line as u32;
        chosen
    }

    /// An upper bound of the bytes of the copied lines and of the zero-point terms at smaller sizes. There
    /// are no more terms than quads in lines.
    pub(super) fn most_bytes_of_pixel_lines(&self) -> usize {
        let [height, width] = [self.conv.out_h, self.conv.out_w].map(|size| (size as usize).max(1));
        let lines = self.line_length(width).saturating_mul(self.lines_of(height)).min(MOST_BYTES);
        lines + (height * width * 4).min(lines).next_multiple_of(64)
    }
}

/// The copied lines of a block of output pixels.
pub(super) struct PixelLines {
    /// The image, its lines, counted from the first one of the padding, and the output columns that read
    /// them, if there are any.
    of: Option<(usize, Range<usize>, Range<usize>)>,
}

impl PixelLines {
    pub(super) fn none() -> PixelLines {
        PixelLines { of: None }
    }

    /// Copies what a block of output pixels, `rows`, reads: of whole lines, or of some pixels of one. What is
    /// there already is moved. Returns how many pixels the first line has before the block.
    ///
    /// # Safety
    /// The image is valid; `to` is valid for the block's lines and a tail, and has those recorded in `self`.
    #[inline(always)]
    pub(super) unsafe fn advance<S: Simd>(
        &mut self,
        s: S,
        (this, images): (&QuadConv2d, &QuadOperands),
        rows: &Range<usize>,
        to: *mut u8,
    ) -> usize {
        let conv = &this.conv;
        let length = this.line_bytes as usize;
        let [first, last] = [rows.start, rows.end - 1].map(|row| conv.pixel(row));
        let columns = match conv.block_rows >= conv.out_w {
            true => 0..conv.out_w as usize,
            false => first.x..last.x + 1,
        };
        let top = first.y * conv.stride_h as usize;
        let wanted = top..top + this.lines_of(last.y - first.y + 1);
        let kept = match &self.of {
            Some((n, lines, of)) if *n == first.n && *of == columns && lines.contains(&top) => {
                let kept = top..lines.end.min(wanted.end);
                // SAFETY: the caller's promise: these lines are there.
                unsafe { to.copy_from(to.add((top - lines.start) * length), kept.len() * length) };
                kept.end
            }
            _ => top,
        };
        let start = Pixel { x: columns.start, ..first };
        for y in kept..wanted.end {
            // SAFETY: the caller's promise; a line's end is overwritten by the next line, or in the tail.
            unsafe { copy_line(s, (this, images), (start, columns.len()), y, to.add((y - top) * length)) };
        }
        let before = first.x - columns.start;
        self.of = Some((first.n, wanted, columns));
        before
    }
}

/// Copies what output pixels read of one line; `y` counts from the first line of the padding. May write up to
/// a vector more.
///
/// # Safety
/// The image is valid, and `to` for the line and a vector more.
#[inline(always)]
unsafe fn copy_line<S: Simd>(
    s: S,
    (this, images): (&QuadConv2d, &QuadOperands),
    (first, count): (Pixel, usize),
    y: usize,
    to: *mut u8,
) {
    let conv = &this.conv;
    let input = &conv.strides.input;
    let channels = conv.in_group as usize;
    let used = u32::MAX >> (32 - 8 * channels);
    let outside = (u32::from_le_bytes([images.x_zero as u8; PIXEL]) & used).to_le();
    let columns = count.saturating_sub(1) * conv.stride_w as usize + conv.kernel_w as usize;
    let (before, inside) = conv.columns_inside(first.x * conv.stride_w as usize, columns);
    let line = y.wrapping_sub(conv.pad_top as usize);
    let inside = if line < conv.in_h as usize { inside } else { 0..0 };
    let pixel = Pixel { n: first.n, y: if inside.is_empty() { 0 } else { line }, x: inside.start };
    let from = images.x.wrapping_add(input.offset(pixel));
    let words = to.cast::<u32>();
    let before = if inside.is_empty() { columns } else { before };
    // SAFETY: the caller's promise; pixels inside are of the image. What copies write beyond is written
    // after.
    unsafe {
        for column in 0..before {
            words.add(column).write_unaligned(outside);
        }
        let pixels = PixelRun { from, step: [input.w as usize, input.c as usize], count: inside.len(), used };
        let inner = words.add(before);
        match (input.w, input.c, channels) {
            (1, _, 2) => pixels.widen_planes::<S, 2>(s, this, inner),
            (1, _, 3) => pixels.widen_planes::<S, 3>(s, this, inner),
            (1, _, _) => pixels.widen_planes::<S, 4>(s, this, inner),
            // Four bytes of a pixel are within the image if the next pixel is after them.
            (PIXEL_STEP.., 1, _) => pixels.widen_together(this, inner),
            _ => pixels.widen_apart(this, inner, 0..pixels.count),
        }
        for column in before + inside.len()..columns {
            words.add(column).write_unaligned(outside);
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
