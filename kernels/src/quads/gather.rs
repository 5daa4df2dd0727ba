//! Implicit im2col of bytes: one output pixel's inputs are copied side by side into scratch, with the zero
//! point in the padding.

use super::{QuadConv2d, QuadOperands};
use crate::gather::TapRange;
use crate::pixels::Pixel;
use crate::simd::Simd;
use std::ops::Range;

/// The copies for a group of channels.
#[derive(Clone, Copy)]
pub(super) struct QuadGather<'c> {
    this: &'c QuadConv2d,
    images: &'c QuadOperands,
    /// The group's first input channel.
    channel: usize,
    /// Whether the taps of a kernel row lie side by side.
    touching: bool,
}

impl<'c> QuadGather<'c> {
    #[inline(always)]
    pub(super) fn new(this: &'c QuadConv2d, images: &'c QuadOperands, group: usize) -> QuadGather<'c> {
        let conv = &this.conv;
        let dense = conv.strides.input.c == 1 && conv.strides.input.w == u64::from(conv.in_group);
        let touching = dense && conv.dilation_w == 1;
        QuadGather { this, images, channel: group * conv.in_group as usize, touching }
    }

    /// Writes all of K for one pixel to `to`, and zeros to the end of its last quad; may write up to a vector
    /// more.
    ///
    /// # Safety
    /// The operands are valid; `to` is valid for K, rounded up to quads, and a vector more.
    #[inline(always)]
    pub(super) unsafe fn row<S: Simd>(&self, s: S, pixel: Pixel, to: *mut u8) {
        let conv = &self.this.conv;
        let input = &conv.strides.input;
        let in_group = conv.in_group as usize;
        let width = conv.kernel_w as usize * in_group;
        let y = TapRange::of(pixel.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
        let x =
            TapRange::of(pixel.x, conv.stride_w, conv.dilation_w, conv.pad_left, conv.kernel_w, conv.in_w);
        let corner = (pixel.n * input.n as usize + self.channel * input.c as usize) as isize;
        let step = conv.dilation_w as isize * input.w as isize;
        let zero = self.images.zero_byte;
        let whole = [y.end - y.first, x.end - x.first] == [conv.kernel_h as usize, conv.kernel_w as usize];
        if whole && self.touching {
            let corner = corner + y.origin * input.h as isize + x.origin * input.w as isize;
            let row_step = conv.dilation_h as usize * input.h as usize;
            // SAFETY: all taps are readable; what a copy writes too much, the next one overwrites.
            return unsafe {
                let from = self.images.x.offset(corner);
                for ky in 0..conv.kernel_h as usize {
                    copy_bytes(s, from.add(ky * row_step), to.add(ky * width), width);
                }
                end_row(self.this, to);
            };
        }
        let mut done = to;
        // SAFETY: taps inside the image are readable; what a copy writes too much, the next one overwrites.
        unsafe {
            for ky in 0..conv.kernel_h as usize {
                let to = done;
                done = to.add(width);
                if ky < y.first || ky >= y.end {
                    fill(s, to, width, zero);
                    continue;
                }
                let row = corner
                    + (y.origin + (ky * conv.dilation_h as usize) as isize) * input.h as isize
                    + x.origin * input.w as isize;
                let first = x.first * in_group;
                fill(s, to, first, zero);
                if self.touching {
                    self.copy(s, row + first as isize, to.add(first), (x.end - x.first) * in_group);
                } else {
                    for kx in x.first..x.end {
                        self.copy(s, row + kx as isize * step, to.add(kx * in_group), in_group);
                    }
                }
                fill(s, to.add(x.end * in_group), width - x.end * in_group, zero);
            }
            end_row(self.this, to);
        }
    }

    /// Whether the channels of a pixel lie apart from each other, as in an image whose channels come first.
    #[inline(always)]
    pub(super) fn has_channels_apart(&self) -> bool {
        self.this.conv.strides.input.c != 1
    }

    /// As [`QuadGather::row`] for the pixels `rows`, whose rows are `stride` bytes from each other, where
    /// channels lie apart: for each tap and channel all pixels of an output line, one after the other.
    ///
    /// # Safety
    /// As for [`QuadGather::row`], for each of the rows.
    #[inline(always)]
    pub(super) unsafe fn rows_apart(&self, rows: &Range<usize>, to: *mut u8, stride: usize) {
        for (pixel, done, count) in self.this.conv.output_lines(rows) {
            // SAFETY: passed on; the pixels are those of one output line.
            unsafe { self.line_apart(pixel, count, to.add(done * stride), stride) };
        }
    }

    /// The same for pixels of one output line.
    #[inline(always)]
    unsafe fn line_apart(&self, pixel: Pixel, count: usize, to: *mut u8, stride: usize) {
        let conv = &self.this.conv;
        let [in_group, kernel_w] = [conv.in_group as usize, conv.kernel_w as usize];
        let y = TapRange::of(pixel.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
        let zero = self.images.zero_byte;
        for tap in 0..conv.kernel_h as usize * kernel_w {
            let (ky, kx) = (tap / kernel_w, tap % kernel_w);
            let x = (pixel.x * conv.stride_w as usize + kx * conv.dilation_w as usize) as isize
                - conv.pad_left as isize;
            let inside = match ky >= y.first && ky < y.end {
                true => pixels_inside(x, conv.stride_w as isize, conv.in_w as isize, count),
                false => 0..0,
            };
            let row = y.origin + (ky * conv.dilation_h as usize) as isize;
            for channel in 0..in_group {
                // SAFETY: pixels inside the image are readable, and each row has room for K.
                unsafe {
                    let to = to.add(tap * in_group + channel);
                    let outside = (0..inside.start).chain(inside.end..count);
                    outside.for_each(|index| *to.add(index * stride) = zero);
                    self.tap_apart([pixel.n as isize, row, x], channel, inside.clone(), (to, stride));
                }
            }
        }
        // SAFETY: a row has room for K, rounded up to quads.
        (0..count).for_each(|index| unsafe { end_row(self.this, to.add(index * stride)) });
    }

    /// Copies a tap's numbers of a channel, for those `inside` of the pixels of an output line; the first
    /// pixel of all has the tap at `[n, row, x]`.
    #[inline(always)]
    unsafe fn tap_apart(
        &self,
        [n, row, x]: [isize; 3],
        channel: usize,
        inside: Range<usize>,
        (to, stride): (*mut u8, usize),
    ) {
        let conv = &self.this.conv;
        let input = &conv.strides.input;
        let from = n * input.n as isize
            + row * input.h as isize
            + x * input.w as isize
            + ((self.channel + channel) * input.c as usize) as isize;
        let step = conv.stride_w as isize * input.w as isize;
        for index in inside {
            // SAFETY: the caller's promise.
            unsafe { *to.add(index * stride) = *self.images.x.offset(from + index as isize * step) }
        }
    }

    /// Copies `n` bytes from element `from` on, whose channels are contiguous; may write up to a vector more.
    #[inline(always)]
    unsafe fn copy<S: Simd>(&self, s: S, from: isize, to: *mut u8, n: usize) {
        // SAFETY: the caller's promise: the elements are readable, and `to` has room.
        unsafe { copy_bytes(s, self.images.x.offset(from), to, n) }
    }
}

/// Writes zeros after a row's K, to the end of its last quad.
///
/// # Safety
/// `to` is valid for the row, rounded up to quads.
#[inline(always)]
pub(super) unsafe fn end_row(this: &QuadConv2d, to: *mut u8) {
    for k in this.conv.depth()..4 * this.quads() {
        // SAFETY: the caller's promise.
        unsafe { *to.add(k) = 0 }
    }
}

/// Which of `count` pixels read inside an axis of `size`, where the first reads at `x` and each further one
/// `step` after it.
#[inline(always)]
fn pixels_inside(x: isize, step: isize, size: isize, count: usize) -> Range<usize> {
    let below = |bound: isize| ((bound - x).max(0) + step - 1) / step;
    let end = (below(size) as usize).min(count);
    (below(0) as usize).min(end)..end
}

/// Copies `n` bytes; may write up to a vector more.
///
/// # Safety
/// `from` is valid for `n` bytes, `to` for a vector more.
#[inline(always)]
unsafe fn copy_bytes<S: Simd>(s: S, from: *const u8, to: *mut u8, n: usize) {
    let vector = 4 * S::LANES;
    let mut i = 0;
    // SAFETY: the caller's promise.
    unsafe {
        while i + vector <= n {
            s.store(to.add(i).cast(), s.load(from.add(i).cast()));
            i += vector;
        }
        if i == n {
            return;
        }
        if n >= vector {
            s.store(to.add(n - vector).cast(), s.load(from.add(n - vector).cast()));
        } else {
            s.store(to.cast(), s.load_bytes(from, n));
        }
    }
}

/// Writes a byte `n` times, and up to a vector more.
///
/// # Safety
/// `to` is valid for them.
#[inline(always)]
unsafe fn fill<S: Simd>(s: S, to: *mut u8, n: usize, byte: u8) {
    let bytes = s.float(s.splat_int(i32::from_le_bytes([byte; 4])));
    let mut i = 0;
    while i < n {
        // SAFETY: the caller left room for a vector past the end.
        unsafe { s.store(to.add(i).cast(), bytes) };
        i += 4 * S::LANES;
    }
}
