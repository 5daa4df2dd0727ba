//! Lines of an image whose channels lie apart, made ready for the copies of a convolution: rounded to `bf16`,
//! with the channels of a pixel side by side and zeros for the padding. Then all taps of a kernel row are one
//! stretch of a line, and a line is read from the image once for all output lines that need it.

use super::{PairConv2d, PairOperands};
use crate::bf16::{StoredFloat, nearest_bf16};
use crate::conv::ConvPrologue;
use crate::pixels::Pixel;
use crate::simd::Simd;
use std::ops::Range;

/// The most words of a worker's scratch for lines.
pub(super) const MOST_WORDS: usize = 8 * 1024;
/// Words of a vector, which a copy of a stretch may read and write too much.
const VECTOR: usize = 32;

/// Words of a line, with room for a vector after it; none if the convolution copies its rows otherwise.
pub(super) fn line_words(this: &PairConv2d) -> Option<usize> {
    let conv = &this.conv;
    let is_copied = conv.strides.input.c != 1 && conv.prologue == ConvPrologue::None;
    let has_stretches = conv.kernel_w > 1 && conv.dilation_w == 1 && conv.dilation_h == 1;
    let pixels = (conv.out_w as usize).saturating_sub(1) * conv.stride_w as usize + conv.kernel_w as usize;
    let words = (pixels * conv.in_group as usize).next_multiple_of(VECTOR) + VECTOR;
    (is_copied && has_stretches && words * conv.kernel_h as usize <= MOST_WORDS).then_some(words)
}

/// The lines that a worker has ready: line `y` at `y % kernel_h`.
pub(super) struct Lines {
    /// Image and group that they are of, if there are any.
    of: Option<[usize; 2]>,
    /// Which lines, counted from the first of the padding.
    ready: Range<usize>,
}

impl Lines {
    /// None are ready.
    pub(super) fn none() -> Lines {
        Lines { of: None, ready: 0..0 }
    }

    /// Writes all of K for `count` pixels from `first` on, which are of one output line, to rows that are
    /// `stride` words from each other, and a zero after an odd K; may write up to a vector more.
    ///
    /// # Safety
    /// The operands are valid, `lines` is valid for `kernel_h` lines of `words` words and holds what this
    /// says; `to` is valid for the rows and a vector more.
    #[inline(always)]
    pub(super) unsafe fn rows<S: Simd>(
        &mut self,
        s: S,
        (this, images): (&PairConv2d, &PairOperands),
        group: usize,
        (first, count): (Pixel, usize),
        (lines, words): (*mut u16, usize),
        (to, stride): (*mut u16, usize),
    ) {
        let conv = &this.conv;
        let [in_group, kernel_h] = [conv.in_group as usize, conv.kernel_h as usize];
        let width = conv.kernel_w as usize * in_group;
        let top = first.y * conv.stride_h as usize;
        let wanted = top..top + kernel_h;
        let of = Some([first.n, group]);
        let ready = if self.of == of && self.ready.start <= top { self.ready.end.max(top) } else { top };
        // SAFETY: the caller's promise; a stretch and a vector after it are within a line and its room.
        unsafe {
            for y in ready..wanted.end {
                write_line(this, images, group, [first.n, y], (lines.add(y % kernel_h * words), words));
            }
            // Pixel by pixel: what a copy writes too much, the next one overwrites.
            for index in 0..count {
                let first = (first.x + index) * conv.stride_w as usize * in_group;
                let to = to.add(index * stride);
                let mut slot = top % kernel_h;
                for ky in 0..kernel_h {
                    let from = lines.add(slot * words + first);
                    let to = to.add(ky * width);
                    slot = if slot + 1 < kernel_h { slot + 1 } else { 0 };
                    for word in (0..width).step_by(2 * S::LANES) {
                        s.store(to.add(word).cast(), s.load(from.add(word).cast()));
                    }
                }
                *to.add(kernel_h * width) = 0;
            }
        }
        *self = Lines { of, ready: wanted };
    }
}

/// Writes one line; `y` counts from the first of the padding.
///
/// # Safety
/// The operands are valid; `line` is valid for `words` words.
#[inline(always)]
unsafe fn write_line(
    this: &PairConv2d,
    images: &PairOperands,
    group: usize,
    [n, y]: [usize; 2],
    (line, words): (*mut u16, usize),
) {
    let conv = &this.conv;
    let input = &conv.strides.input;
    let [in_group, pad] = [conv.in_group as usize, conv.pad_left as usize];
    let inside = conv.pad_top as usize..conv.pad_top as usize + conv.in_h as usize;
    // SAFETY: only elements inside the image are read, and words of the line written.
    unsafe {
        line.write_bytes(0, words);
        if !inside.contains(&y) {
            return;
        }
        let pixels = ((words - VECTOR) / in_group).saturating_sub(pad).min(conv.in_w as usize);
        for channel in 0..in_group {
            let from = n * input.n as usize
                + (y - inside.start) * input.h as usize
                + (group * in_group + channel) * input.c as usize;
            let to = line.add(pad * in_group + channel);
            match this.input {
                StoredFloat::F32 => {
                    let from = images.x.cast::<f32>().add(from);
                    for x in 0..pixels {
                        *to.add(x * in_group) = nearest_bf16(*from.add(x * input.w as usize));
                    }
                }
                StoredFloat::Bf16 => {
                    let from = images.x.cast::<u16>().add(from);
                    for x in 0..pixels {
                        *to.add(x * in_group) = *from.add(x * input.w as usize);
                    }
                }
            }
        }
    }
}
