//! im2col of `bf16` images: how numbers are copied, with the prologue, and with rounding of `f32` images.

use super::{PairConv2d, PairOperands, PairUnit};
use crate::bf16::{StoredFloat, load, nearest_bf16, store, wide_bf16};
use crate::conv::{Conv2d, ConvPrologue};
use crate::im2col::CopiedImage;
use crate::math;
use crate::scalar;
use crate::simd::{Simd, Task};

/// The image of a convolution.
#[derive(Clone, Copy)]
pub(super) struct PairImage<'c> {
    pub(super) this: &'c PairConv2d,
    pub(super) images: &'c PairOperands,
}

impl CopiedImage for PairImage<'_> {
    type Number = u16;

    #[inline(always)]
    fn conv(&self) -> &Conv2d {
        &self.this.conv
    }

    #[inline(always)]
    fn padding(&self) -> u16 {
        0
    }

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.this.conv.prologue == ConvPrologue::None
    }

    #[inline(always)]
    unsafe fn copy<S: Simd>(&self, s: S, channel: usize, from: isize, to: *mut u16, n: usize) {
        let conv = &self.this.conv;
        let stored = self.this.input;
        let step = conv.strides.input.c as usize;
        // SAFETY: the caller's promise: the elements are readable, and `to` has room.
        unsafe {
            match (stored, step, conv.prologue) {
                (StoredFloat::Bf16, 1, ConvPrologue::None) => {
                    copy_words(s, self.images.x.cast::<u16>().offset(from), to, n);
                }
                (_, 1, _) => self.round(s, channel, from as usize, to, n),
                _ => {
                    for index in 0..n {
                        let at = from + (index * step) as isize;
                        let x = match stored {
                            StoredFloat::F32 => *self.images.x.cast::<f32>().offset(at),
                            StoredFloat::Bf16 => wide_bf16(*self.images.x.cast::<u16>().offset(at)),
                        };
                        *to.add(index) = nearest_bf16(self.prologue_of_one(x, channel + index));
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn copy_apart(&self, [from, step]: [isize; 2], to: *mut u16, stride: usize, count: usize) {
        let at = |index: usize| from + index as isize * step;
        // SAFETY: the caller's promise.
        unsafe {
            match self.this.input {
                StoredFloat::F32 => {
                    let x = self.images.x.cast::<f32>();
                    (0..count).for_each(|index| *to.add(index * stride) = nearest_bf16(*x.offset(at(index))));
                }
                StoredFloat::Bf16 => {
                    let x = self.images.x.cast::<u16>();
                    (0..count).for_each(|index| *to.add(index * stride) = *x.offset(at(index)));
                }
            }
        }
    }

    /// Pads K to whole pairs, and to whole steps of matrix tiles, with zeros.
    #[inline(always)]
    unsafe fn end_row(&self, to: *mut u16) {
        // SAFETY: the caller's promise.
        (self.this.conv.depth()..2 * self.this.pairs()).for_each(|k| unsafe { *to.add(k) = 0 });
    }
}

/// Contiguous numbers to be rounded by the machine's instruction.
struct RoundedNumbers<'c> {
    image: PairImage<'c>,
    channel: usize,
    from: usize,
    to: *mut u16,
    n: usize,
}

impl<S: Simd> Task<S> for RoundedNumbers<'_> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let RoundedNumbers { image, channel, from, to, n } = self;
        let vectors = n / S::LANES * S::LANES;
        // SAFETY: the caller's promise. A number of lanes known at compile time needs no masks.
        unsafe {
            for i in (0..vectors).step_by(S::LANES) {
                let x = load(s, image.images.x, image.this.input, from + i, S::LANES);
                let x = image.prologue(s, x, channel + i, S::LANES);
                s.store_nearest_at_once(to.add(i), S::LANES, x);
            }
            if vectors < n {
                let left = n - vectors;
                let x = load(s, image.images.x, image.this.input, from + vectors, left);
                let x = image.prologue(s, x, channel + vectors, left);
                s.store_nearest_at_once(to.add(vectors), left, x);
            }
        }
    }
}

impl PairImage<'_> {
    /// Applies the prologue to contiguous numbers of successive channels, from `channel` on, and rounds them.
    #[inline(always)]
    unsafe fn round<S: Simd>(&self, s: S, channel: usize, from: usize, to: *mut u16, n: usize) {
        if S::MAY_PAIR && self.this.unit != PairUnit::Widened {
            // SAFETY: the caller's promise; the machine has the instructions for pairs.
            return unsafe { S::vectorize_pairs(RoundedNumbers { image: *self, channel, from, to, n }) };
        }
        for i in (0..n).step_by(S::LANES) {
            let left = n - i;
            // SAFETY: the caller's promise.
            unsafe {
                let x = load(s, self.images.x, self.this.input, from + i, left);
                store(s, to.cast(), StoredFloat::Bf16, i, left, self.prologue(s, x, channel + i, left));
            }
        }
    }

    /// The prologue applied to one number of channel `channel`.
    #[inline(always)]
    unsafe fn prologue_of_one(&self, x: f32, channel: usize) -> f32 {
        let prologue = self.this.conv.prologue;
        if prologue == ConvPrologue::None {
            return x;
        }
        // SAFETY: scale and shift have all input channels.
        let [scale, shift] =
            unsafe { [self.images.scale, self.images.shift].map(|numbers| *numbers.add(channel)) };
        let value = x.mul_add(scale, shift);
        if prologue == ConvPrologue::ScaleShiftRelu { scalar::relu(value) } else { value }
    }

    /// The prologue applied to at most `left` channels, from `channel` on.
    #[inline(always)]
    unsafe fn prologue<S: Simd>(&self, s: S, x: S::F, channel: usize, left: usize) -> S::F {
        if self.this.conv.prologue == ConvPrologue::None {
            return x;
        }
        // SAFETY: scale and shift have all input channels.
        unsafe {
            let scale = s.load_first(self.images.scale.add(channel), left);
            let shift = s.load_first(self.images.shift.add(channel), left);
            let value = s.mul_add(x, scale, shift);
            match self.this.conv.prologue {
                ConvPrologue::ScaleShiftRelu => math::relu(s, value),
                _ => value,
            }
        }
    }
}

/// Copies `n` words; may write up to a vector more.
///
/// # Safety
/// `from` is valid for `n` words, `to` for a vector more.
#[inline(always)]
pub(super) unsafe fn copy_words<S: Simd>(s: S, from: *const u16, to: *mut u16, n: usize) {
    let words = 2 * S::LANES;
    let mut i = 0;
    // SAFETY: the caller's promise; a vector has twice as many words as floats.
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
