//! im2col of 8-bit images: how bytes are copied, with the zero point in the padding.

use super::{QuadConv2d, QuadOperands};
use crate::conv::Conv2d;
use crate::im2col::CopiedImage;
use crate::simd::Simd;

/// The image of a convolution.
#[derive(Clone, Copy)]
pub(super) struct QuadImage<'c> {
    pub(super) this: &'c QuadConv2d,
    pub(super) images: &'c QuadOperands,
}

impl CopiedImage for QuadImage<'_> {
    type Number = u8;

    #[inline(always)]
    fn conv(&self) -> &Conv2d {
        &self.this.conv
    }

    #[inline(always)]
    fn padding(&self) -> u8 {
        self.images.zero_byte
    }

    #[inline(always)]
    fn is_plain(&self) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn copy<S: Simd>(&self, s: S, _channel: usize, from: isize, to: *mut u8, n: usize) {
        // SAFETY: the caller's promise: channels that are not contiguous are copied by `copy_apart`.
        unsafe { copy_bytes(s, self.images.x.offset(from), to, n) }
    }

    #[inline(always)]
    unsafe fn copy_apart(&self, [from, step]: [isize; 2], to: *mut u8, stride: usize, count: usize) {
        for index in 0..count {
            // SAFETY: the caller's promise.
            unsafe { *to.add(index * stride) = *self.images.x.offset(from + index as isize * step) }
        }
    }

    /// Pads a row with zeros to the end of its last quad.
    #[inline(always)]
    unsafe fn end_row(&self, to: *mut u8) {
        for k in self.this.conv.depth()..4 * self.this.quads() {
            // SAFETY: the caller's promise.
            unsafe { *to.add(k) = 0 }
        }
    }
}

/// Copies `n` bytes; may write up to a vector more.
///
/// # Safety
/// `from` is valid for `n` bytes, `to` for a vector more.
#[inline(always)]
pub(super) unsafe fn copy_bytes<S: Simd>(s: S, from: *const u8, to: *mut u8, n: usize) {
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
