//! `bf16` in memory: the upper half of an `f32`. Arithmetic is in `f32`. Stores round to nearest, ties to
//! even; a NaN becomes a quiet one.

use crate::simd::{Simd, prefetch};
use crate::tile::LINE;

/// The storage type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum StoredFloat {
    /// `f32`.
    F32 = 0,
    /// `bf16`, the upper halves.
    Bf16 = 1,
}

impl StoredFloat {
    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            StoredFloat::F32 => 4,
            StoredFloat::Bf16 => 2,
        }
    }
}

/// The nearest `bf16`.
pub fn nearest_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    if x.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// A `bf16` as `f32`.
pub fn wide_bf16(x: u16) -> f32 {
    f32::from_bits(u32::from(x) << 16)
}

/// Stores the first `count` lanes, or all of them if `count` is larger, rounded, at element `index`.
///
/// # Safety
/// `to` is valid for writes of these elements.
#[inline(always)]
pub(crate) unsafe fn store<S: Simd>(
    s: S,
    to: *mut u8,
    stored: StoredFloat,
    index: usize,
    count: usize,
    x: S::F,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match stored {
            StoredFloat::F32 => s.store_first(to.cast::<f32>().add(index), count, x),
            StoredFloat::Bf16 => s.store_upper(to.cast::<u16>().add(index), count, s.nearest_bf16(x)),
        }
    }
}

/// Loads the first `count` lanes from element `index` on; the others are zero.
///
/// # Safety
/// `from` is valid for reads of these elements.
#[inline(always)]
pub(crate) unsafe fn load<S: Simd>(
    s: S,
    from: *const u8,
    stored: StoredFloat,
    index: usize,
    count: usize,
) -> S::F {
    // SAFETY: the caller's promise.
    unsafe {
        match stored {
            StoredFloat::F32 => s.load_first(from.cast::<f32>().add(index), count),
            StoredFloat::Bf16 => s.float(s.load_upper(from.cast::<u16>().add(index), count)),
        }
    }
}

/// The elements of an operand, starting at one of them.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) start: *mut u8,
    pub(crate) stored: StoredFloat,
    pub(crate) first: usize,
}

impl Numbers {
    /// The same elements, starting at a later one.
    #[inline(always)]
    pub(crate) fn from(self, index: usize) -> Numbers {
        Numbers { first: self.first + index, ..self }
    }

    /// # Safety
    /// The operand has these elements.
    #[inline(always)]
    pub(crate) unsafe fn load<S: Simd>(self, s: S, index: usize, count: usize) -> S::F {
        // SAFETY: the caller's promise.
        unsafe { load(s, self.start, self.stored, self.first + index, count) }
    }

    /// # Safety
    /// The operand has this element.
    #[inline(always)]
    pub(crate) unsafe fn one(self, index: usize) -> f32 {
        // SAFETY: the caller's promise.
        unsafe {
            match self.stored {
                StoredFloat::F32 => *self.start.cast::<f32>().add(self.first + index),
                StoredFloat::Bf16 => wide_bf16(*self.start.cast::<u16>().add(self.first + index)),
            }
        }
    }

    /// # Safety
    /// The operand has these elements.
    #[inline(always)]
    pub(crate) unsafe fn store<S: Simd>(self, s: S, index: usize, count: usize, x: S::F) {
        // SAFETY: the caller's promise.
        unsafe { store(s, self.start, self.stored, self.first + index, count, x) }
    }

    /// Prefetches `count` elements; the operand need not have them.
    #[inline(always)]
    pub(crate) fn fetch(self, index: usize, count: usize) {
        let bytes = self.stored.bytes();
        let from = self.start.wrapping_add((self.first + index) * bytes);
        for at in (0..count * bytes).step_by(LINE * size_of::<f32>()) {
            prefetch(from.wrapping_add(at).cast());
        }
    }

    /// The address of an element of an `f32` operand.
    #[inline(always)]
    pub(crate) fn floats(self, index: usize) -> *mut f32 {
        self.start.cast::<f32>().wrapping_add(self.first + index)
    }
}
