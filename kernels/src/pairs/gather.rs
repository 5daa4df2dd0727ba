//! Implicit im2col of `bf16`: one output pixel's inputs are copied side by side into scratch, with padding,
//! prologue, and rounding where they are stored as `f32`.

use super::{PairConv2d, PairOperands};
use crate::bf16::{StoredFloat, load, nearest_bf16, store, wide_bf16};
use crate::conv::ConvPrologue;
use crate::gather::TapRange;
use crate::math;
use crate::pixels::Pixel;
use crate::scalar;
use crate::simd::Simd;
use std::ops::Range;

/// The copies for a group of channels.
#[derive(Clone, Copy)]
pub(super) struct PairGather<'c> {
    this: &'c PairConv2d,
    images: &'c PairOperands,
    /// The group's first input channel.
    channel: usize,
    /// Whether the taps of a kernel row lie side by side.
    touching: bool,
}

impl<'c> PairGather<'c> {
    #[inline(always)]
    pub(super) fn new(this: &'c PairConv2d, images: &'c PairOperands, group: usize) -> PairGather<'c> {
        let conv = &this.conv;
        let dense = conv.strides.input.c == 1 && conv.strides.input.w == u64::from(conv.in_group);
        let touching = dense && conv.dilation_w == 1 && conv.prologue == ConvPrologue::None;
        PairGather { this, images, channel: group * conv.in_group as usize, touching }
    }

    /// Writes all of K for one pixel to `to`, and a zero after an odd K; may write up to a vector more.
    ///
    /// # Safety
    /// The operands are valid; `to` is valid for K, rounded up to pairs, and a vector more.
    #[inline(always)]
    pub(super) unsafe fn row<S: Simd>(&self, s: S, pixel: Pixel, to: *mut u16) {
        let conv = &self.this.conv;
        let input = &conv.strides.input;
        let in_group = conv.in_group as usize;
        let width = conv.kernel_w as usize * in_group;
        let y = TapRange::of(pixel.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
        let x =
            TapRange::of(pixel.x, conv.stride_w, conv.dilation_w, conv.pad_left, conv.kernel_w, conv.in_w);
        let corner = (pixel.n * input.n as usize + self.channel * input.c as usize) as isize;
        let step = conv.dilation_w as isize * input.w as isize;
        // SAFETY: taps inside the image are readable; what a copy writes too much, the next one overwrites.
        unsafe {
            for ky in 0..conv.kernel_h as usize {
                let to = to.add(ky * width);
                if ky < y.first || ky >= y.end {
                    zero(s, to, width);
                    continue;
                }
                let row = corner
                    + (y.origin + (ky * conv.dilation_h as usize) as isize) * input.h as isize
                    + x.origin * input.w as isize;
                zero(s, to, x.first * in_group);
                if self.touching {
                    let first = x.first * in_group;
                    self.copy(s, row + first as isize, to.add(first), (x.end - x.first) * in_group);
                } else {
                    for kx in x.first..x.end {
                        self.copy(s, row + kx as isize * step, to.add(kx * in_group), in_group);
                    }
                }
                zero(s, to.add(x.end * in_group), width - x.end * in_group);
            }
            *to.add(conv.kernel_h as usize * width) = 0;
        }
    }

    /// Whether the channels of a pixel lie apart from each other, as in an image whose channels come first.
    #[inline(always)]
    pub(super) fn has_channels_apart(&self) -> bool {
        self.this.conv.strides.input.c != 1 && self.this.conv.prologue == ConvPrologue::None
    }

    /// As [`PairGather::row`] for the pixels `rows`, whose rows are `stride` words from each other, where
    /// channels lie apart: for each tap and channel all pixels of an output line, one after the other.
    ///
    /// # Safety
    /// As for [`PairGather::row`], for each of the rows.
    #[inline(always)]
    pub(super) unsafe fn rows_apart(&self, rows: &Range<usize>, to: *mut u16, stride: usize) {
        for (pixel, done, count) in self.this.conv.output_lines(rows) {
            // SAFETY: passed on; the pixels are those of one output line.
            unsafe { self.line_apart(pixel, count, to.add(done * stride), stride) };
        }
    }

    /// The same for pixels of one output line.
    #[inline(always)]
    unsafe fn line_apart(&self, pixel: Pixel, count: usize, to: *mut u16, stride: usize) {
        let conv = &self.this.conv;
        let [in_group, kernel_w] = [conv.in_group as usize, conv.kernel_w as usize];
        let y = TapRange::of(pixel.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
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
                    (0..inside.start).chain(inside.end..count).for_each(|index| *to.add(index * stride) = 0);
                    self.tap_apart([pixel.n as isize, row, x], channel, inside.clone(), (to, stride));
                }
            }
        }
        let depth = conv.depth();
        if depth % 2 == 1 {
            // SAFETY: a row has room for K, rounded up to pairs.
            (0..count).for_each(|index| unsafe { *to.add(index * stride + depth) = 0 });
        }
    }

    /// Copies a tap's numbers of a channel, for those `inside` of the pixels of an output line; the first
    /// pixel of all has the tap at `[n, row, x]`.
    #[inline(always)]
    unsafe fn tap_apart(
        &self,
        [n, row, x]: [isize; 3],
        channel: usize,
        inside: Range<usize>,
        (to, stride): (*mut u16, usize),
    ) {
        let conv = &self.this.conv;
        let input = &conv.strides.input;
        let from = n * input.n as isize
            + row * input.h as isize
            + x * input.w as isize
            + ((self.channel + channel) * input.c as usize) as isize;
        let step = conv.stride_w as isize * input.w as isize;
        let at = |index: usize| from + index as isize * step;
        // SAFETY: the caller's promise.
        unsafe {
            match self.this.input {
                StoredFloat::F32 => {
                    let x = self.images.x.cast::<f32>();
                    inside.for_each(|index| *to.add(index * stride) = nearest_bf16(*x.offset(at(index))));
                }
                StoredFloat::Bf16 => {
                    let x = self.images.x.cast::<u16>();
                    inside.for_each(|index| *to.add(index * stride) = *x.offset(at(index)));
                }
            }
        }
    }

    /// Copies `n` numbers from element `from` on, at the distance of channels; may write up to a vector more.
    #[inline(always)]
    unsafe fn copy<S: Simd>(&self, s: S, from: isize, to: *mut u16, n: usize) {
        let conv = &self.this.conv;
        let stored = self.this.input;
        let step = conv.strides.input.c as usize;
        // SAFETY: the caller's promise: the elements are readable, and `to` has room.
        unsafe {
            match (stored, step, conv.prologue) {
                (StoredFloat::Bf16, 1, ConvPrologue::None) => {
                    copy_words(s, self.images.x.cast::<u16>().offset(from), to, n);
                }
                (_, 1, _) => self.round(s, from as usize, to, 0..n),
                _ => {
                    for index in 0..n {
                        let at = from + (index * step) as isize;
                        let x = match stored {
                            StoredFloat::F32 => *self.images.x.cast::<f32>().offset(at),
                            StoredFloat::Bf16 => wide_bf16(*self.images.x.cast::<u16>().offset(at)),
                        };
                        *to.add(index) = nearest_bf16(self.prologue_of_one(x, index));
                    }
                }
            }
        }
    }

    /// Rounds contiguous numbers, after the prologue; numbers are those of the group's channels in order.
    #[inline(always)]
    unsafe fn round<S: Simd>(&self, s: S, from: usize, to: *mut u16, channels: Range<usize>) {
        for i in channels.clone().step_by(S::LANES) {
            let left = channels.end - i;
            // SAFETY: the caller's promise.
            unsafe {
                let x = load(s, self.images.x, self.this.input, from + i, left);
                store(s, to.cast(), StoredFloat::Bf16, i, left, self.prologue(s, x, i, left));
            }
        }
    }

    /// The prologue of one number, of channel `i` of the group.
    #[inline(always)]
    unsafe fn prologue_of_one(&self, x: f32, i: usize) -> f32 {
        let prologue = self.this.conv.prologue;
        if prologue == ConvPrologue::None {
            return x;
        }
        // SAFETY: scale and shift have all input channels.
        let [scale, shift] =
            unsafe { [self.images.scale, self.images.shift].map(|numbers| *numbers.add(self.channel + i)) };
        let value = x.mul_add(scale, shift);
        if prologue == ConvPrologue::ScaleShiftRelu { scalar::relu(value) } else { value }
    }

    /// The prologue of `left` channels at most, from channel `i` of the group on.
    #[inline(always)]
    unsafe fn prologue<S: Simd>(&self, s: S, x: S::F, i: usize, left: usize) -> S::F {
        if self.this.conv.prologue == ConvPrologue::None {
            return x;
        }
        // SAFETY: scale and shift have all input channels.
        unsafe {
            let scale = s.load_first(self.images.scale.add(self.channel + i), left);
            let shift = s.load_first(self.images.shift.add(self.channel + i), left);
            let value = s.mul_add(x, scale, shift);
            match self.this.conv.prologue {
                ConvPrologue::ScaleShiftRelu => math::relu(s, value),
                _ => value,
            }
        }
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

/// Copies `n` words; may write up to a vector more.
///
/// # Safety
/// `from` is valid for `n` words, `to` for a vector more.
#[inline(always)]
unsafe fn copy_words<S: Simd>(s: S, from: *const u16, to: *mut u16, n: usize) {
    let words = 2 * S::LANES;
    let mut i = 0;
    // SAFETY: the caller's promise; a vector of floats is one of twice as many words.
    unsafe {
        while i + words <= n {
            s.store(to.add(i).cast(), s.load(from.add(i).cast()));
            i += words;
        }
        if i < n {
            let mask = s.mask((n - i) / 2);
            s.store(to.add(i).cast(), s.load_masked(from.add(i).cast(), mask));
            if n % 2 == 1 {
                *to.add(n - 1) = *from.add(n - 1);
            }
        }
    }
}

/// Writes `n` zeros, and up to a vector more.
///
/// # Safety
/// `to` is valid for them.
#[inline(always)]
unsafe fn zero<S: Simd>(s: S, to: *mut u16, n: usize) {
    let mut i = 0;
    while i < n {
        // SAFETY: the caller left room for a vector past the end.
        unsafe { s.store(to.add(i).cast(), s.splat(0.0)) };
        i += 2 * S::LANES;
    }
}
