//! Lines of an image whose channels lie apart, made ready for the copies of a convolution: with the channels
//! of a pixel side by side and the zero point in the padding. Then all taps of a kernel row are one stretch
//! of a line, and a line is read from the image once for all output lines that need it.

use super::gather::end_row;
use super::{QuadConv2d, QuadOperands};
use crate::pixels::Pixel;
use crate::simd::Simd;
use std::ops::Range;

/// The most bytes of a worker's scratch for lines.
pub(super) const MOST_BYTES: usize = 16 * 1024;
/// Bytes of a vector, which a copy of a stretch may read and write too much.
const VECTOR: usize = 64;

/// Bytes of a line, with room for a vector after it; none if the convolution copies its rows otherwise.
pub(super) fn line_bytes(this: &QuadConv2d) -> Option<usize> {
    let conv = &this.conv;
    let has_stretches = conv.kernel_w > 1 && conv.dilation_w == 1 && conv.dilation_h == 1;
    let pixels = (conv.out_w as usize).saturating_sub(1) * conv.stride_w as usize + conv.kernel_w as usize;
    let bytes = (pixels * conv.in_group as usize).next_multiple_of(VECTOR) + VECTOR;
    let is_short = bytes * conv.kernel_h as usize <= MOST_BYTES && conv.in_group > 0;
    (conv.strides.input.c != 1 && has_stretches && is_short).then_some(bytes)
}

/// The lines that a worker has ready: line `y` at `y % kernel_h`.
pub(super) struct QuadLines {
    /// Image and group that they are of, if there are any.
    of: Option<[usize; 2]>,
    /// Which lines, counted from the first of the padding.
    ready: Range<usize>,
}

impl QuadLines {
    /// None are ready.
    pub(super) fn none() -> QuadLines {
        QuadLines { of: None, ready: 0..0 }
    }

    /// Writes all of K for `count` pixels from `first` on, which are of one output line, to rows that are
    /// `stride` bytes from each other, and zeros to the end of the last quad of each; may write up to a
    /// vector more.
    ///
    /// # Safety
    /// The operands are valid, `lines` is valid for `kernel_h` lines of `line_bytes` and holds what this
    /// says; `to` is valid for the rows and a vector more.
    #[inline(always)]
    pub(super) unsafe fn rows<S: Simd>(
        &mut self,
        s: S,
        (this, images): (&QuadConv2d, &QuadOperands),
        group: usize,
        (first, count): (Pixel, usize),
        lines: *mut u8,
        (to, stride): (*mut u8, usize),
    ) {
        let conv = &this.conv;
        let bytes = this.line_bytes as usize;
        let [in_group, kernel_h] = [conv.in_group as usize, conv.kernel_h as usize];
        let width = conv.kernel_w as usize * in_group;
        let top = first.y * conv.stride_h as usize;
        let wanted = top..top + kernel_h;
        let of = Some([first.n, group]);
        let ready = if self.of == of && self.ready.start <= top { self.ready.end.max(top) } else { top };
        // SAFETY: the caller's promise; a stretch and a vector after it are within a line and its room.
        unsafe {
            for y in ready..wanted.end {
                write_line(this, images, group, [first.n, y], lines.add(y % kernel_h * bytes));
            }
            // Pixel by pixel: what a copy writes too much, the next one overwrites.
            for index in 0..count {
                let first = (first.x + index) * conv.stride_w as usize * in_group;
                let to = to.add(index * stride);
                let mut slot = top % kernel_h;
                for ky in 0..kernel_h {
                    let from = lines.add(slot * bytes + first);
                    let to = to.add(ky * width);
                    slot = if slot + 1 < kernel_h { slot + 1 } else { 0 };
                    for byte in (0..width).step_by(4 * S::LANES) {
                        s.store(to.add(byte).cast(), s.load(from.add(byte).cast()));
                    }
                }
                end_row(this, to);
            }
        }
        *self = QuadLines { of, ready: wanted };
    }
}

/// Writes one line; `y` counts from the first of the padding.
///
/// # Safety
/// The operands are valid; `line` is valid for `line_bytes`.
#[inline(always)]
unsafe fn write_line(
    this: &QuadConv2d,
    images: &QuadOperands,
    group: usize,
    [n, y]: [usize; 2],
    line: *mut u8,
) {
    let conv = &this.conv;
    let input = &conv.strides.input;
    let bytes = this.line_bytes as usize;
    let [in_group, pad] = [conv.in_group as usize, conv.pad_left as usize];
    let inside = conv.pad_top as usize..conv.pad_top as usize + conv.in_h as usize;
    // SAFETY: only elements inside the image are read, and bytes of the line written.
    unsafe {
        line.write_bytes(images.zero_byte, bytes);
        if !inside.contains(&y) {
            return;
        }
        let pixels = ((bytes - VECTOR) / in_group).saturating_sub(pad).min(conv.in_w as usize);
        for channel in 0..in_group {
            let from = n * input.n as usize
                + (y - inside.start) * input.h as usize
                + (group * in_group + channel) * input.c as usize;
            let from = images.x.add(from);
            let to = line.wrapping_add(pad * in_group + channel);
            for x in 0..pixels {
                *to.add(x * in_group) = *from.add(x * input.w as usize);
            }
        }
    }
}
