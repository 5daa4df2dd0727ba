//! Gather: slices are copied by index, after a check that every index is in range.
//!
//! [`CheckIndices`] runs first and reports whether all indices are in range. [`Take`] relies on it, but still
//! bounds every index that it reads: an index out of range selects the last slice, so no memory outside the
//! operand is ever read.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::isa::Isa;
use crate::simd::Simd;

/// The type and range of indices.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Indices {
    /// The number of indices.
    pub count: u64,
    /// The number of slices to select from: indices range from `-size` to `size - 1`, and negative ones count
    /// from the end.
    pub size: u64,
    /// Bytes of an index: 1, 2, 4 or 8.
    pub bytes: u32,
    /// 1 if they are signed, otherwise 0.
    pub signed: u32,
}

/// An element of a tensor of indices.
trait Index: Copy {
    /// The slice that it selects of `size`; out of range if the result is.
    fn place(self, size: u64) -> u64;
}

macro_rules! index {
    ($signed:ty, $unsigned:ty) => {
        impl Index for $signed {
            #[inline(always)]
            fn place(self, size: u64) -> u64 {
                // An index below `-size` stays negative, and becomes a number beyond every size.
                let index = i64::from(self);
                (if index < 0 { index.wrapping_add(size.cast_signed()) } else { index }).cast_unsigned()
            }
        }

        impl Index for $unsigned {
            #[inline(always)]
            fn place(self, _size: u64) -> u64 {
                u64::from(self)
            }
        }
    };
}
index!(i8, u8);
index!(i16, u16);
index!(i32, u32);
index!(i64, u64);

/// Indices that are read at once.
const BLOCK: usize = 64;

impl Indices {
    /// The slices that the indices from `at` on select; a result of `size` or more is out of range.
    ///
    /// # Safety
    /// `from` is valid for `at + places.len()` indices.
    #[inline(always)]
    unsafe fn places(&self, from: *const u8, at: usize, places: &mut [u64]) {
        // SAFETY: the caller's promise.
        unsafe {
            match (self.bytes, self.signed != 0) {
                (1, true) => self.places_of::<i8>(from, at, places),
                (1, false) => self.places_of::<u8>(from, at, places),
                (2, true) => self.places_of::<i16>(from, at, places),
                (2, false) => self.places_of::<u16>(from, at, places),
                (4, true) => self.places_of::<i32>(from, at, places),
                (4, false) => self.places_of::<u32>(from, at, places),
                (_, true) => self.places_of::<i64>(from, at, places),
                (_, false) => self.places_of::<u64>(from, at, places),
            }
        }
    }

    /// [`Indices::places`] of indices of one type.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn places_of<I: Index>(&self, from: *const u8, at: usize, places: &mut [u64]) {
        for (number, place) in places.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *place = unsafe { from.cast::<I>().add(at + number).read() }.place(self.size);
        }
    }

    /// The slice that index `at` selects, if it is in range.
    ///
    /// # Safety
    /// `from` is valid for `at + 1` indices.
    #[inline(always)]
    pub(crate) unsafe fn slice(&self, from: *const u8, at: usize) -> Option<usize> {
        let mut place = [0];
        // SAFETY: the caller's promise.
        unsafe { self.places(from, at, &mut place) };
        (place[0] < self.size).then_some(place[0] as usize)
    }
}

/// Whether every index is in range. Operands: `[truth, indices]`; the truth is a byte 0 or 1.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CheckIndices {
    indices: Indices,
    isa: Isa,
    reserved: u32,
}

impl CheckIndices {
    /// The kernel for these indices.
    pub fn new(indices: Indices, isa: Isa) -> CheckIndices {
        assert!([1, 2, 4, 8].contains(&indices.bytes), "indices of {} bytes", indices.bytes);
        CheckIndices { indices, isa, reserved: 0 }
    }
}

// SAFETY: two `u64` and four `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for CheckIndices {
    fn parts(&self) -> u32 {
        1
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<CheckIndices>(self.isa)
    }
}

impl KernelBody for CheckIndices {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, _part: u32, _scratch: *mut u8) {
        let count = self.indices.count as usize;
        let mut places = [0; BLOCK];
        // SAFETY: the operands have the extents that the descriptor was made for.
        unsafe {
            let all = (0..count).step_by(BLOCK).all(|at| {
                let places = &mut places[..BLOCK.min(count - at)];
                self.indices.places(operands.get::<u8>(1), at, places);
                places.iter().fold(true, |all, place| all & (*place < self.indices.size))
            });
            *operands.get::<u8>(0) = u8::from(all);
        }
    }
}

/// Slices selected by index. Operands: `[out, x, indices]`, with `x` of `[outer, size]` slices and `out` of
/// `[outer, count]`, which do not overlap.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Take {
    indices: Indices,
    outer: u64,
    slice_bytes: u64,
    parts: u32,
    isa: Isa,
}

impl Take {
    /// The kernel for these indices, applied to each of `outer` operands.
    pub fn new(indices: Indices, outer: usize, slice_bytes: usize, isa: Isa, threads: usize) -> Take {
        assert!([1, 2, 4, 8].contains(&indices.bytes), "indices of {} bytes", indices.bytes);
        let slices = outer * indices.count as usize;
        let worth = (slices * slice_bytes).div_ceil(65_536);
        let parts = slices.min(worth.max(1)).min(threads * 4);
        let parts = if slice_bytes == 0 || indices.size == 0 { 0 } else { parts as u32 };
        Take { indices, outer: outer as u64, slice_bytes: slice_bytes as u64, parts, isa }
    }
}

// SAFETY: four `u64` and four `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for Take {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Take>(self.isa)
    }
}

impl KernelBody for Take {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let (count, size) = (self.indices.count as usize, self.indices.size as usize);
        let bytes = self.slice_bytes as usize;
        let all = piece(self.outer as usize * count, self.parts as usize, part as usize);
        let mut places = [0; BLOCK];
        let mut next = all.start;
        while next < all.end {
            let (outer, at) = (next / count, next % count);
            let places = &mut places[..BLOCK.min(count - at).min(all.end - next)];
            // SAFETY: the operands have the extents that the descriptor was made for, and each slice is one
            // of `size`; parts write disjoint slices.
            unsafe {
                self.indices.places(operands.get::<u8>(2), at, places);
                let from = operands.get::<u8>(1).add(outer * size * bytes);
                let to = operands.get::<u8>(0).add(next * bytes);
                match bytes {
                    1 => copy_elements::<u8>(to, from, places, size),
                    2 => copy_elements::<u16>(to, from, places, size),
                    4 => copy_elements::<u32>(to, from, places, size),
                    8 => copy_elements::<u64>(to, from, places, size),
                    _ => {
                        for (number, place) in places.iter().enumerate() {
                            let from = from.add((*place as usize).min(size - 1) * bytes);
                            std::ptr::copy_nonoverlapping(from, to.add(number * bytes), bytes);
                        }
                    }
                }
            }
            next += places.len();
        }
    }
}

/// Copies the elements at these places; one out of range is the last one.
///
/// # Safety
/// `from` has `size` elements, at least one, and `to` has room for as many as there are places.
#[inline(always)]
unsafe fn copy_elements<E: Copy>(to: *mut u8, from: *const u8, places: &[u64], size: usize) {
    for (number, place) in places.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe {
            let element = from.cast::<E>().add((*place as usize).min(size - 1)).read_unaligned();
            to.cast::<E>().add(number).write_unaligned(element);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kernel: &impl Kernel, operands: &[*mut u8]) {
        for part in 0..kernel.parts() {
            // SAFETY: the operands have the extents that the test made the descriptor for; no scratch is
            // used.
            unsafe {
                kernel.entry()(kernel.as_bytes().as_ptr(), operands.as_ptr(), part, std::ptr::null_mut());
            }
        }
    }

    fn inside(indices: &[i32], size: u64) -> bool {
        let shape = Indices { count: indices.len() as u64, size, bytes: 4, signed: 1 };
        let mut truth = 7u8;
        let operands = [&raw mut truth, indices.as_ptr().cast_mut().cast()];
        run(&CheckIndices::new(shape, Isa::detect()), &operands);
        assert!(truth < 2);
        truth == 1
    }

    #[test]
    fn indices_are_inside_from_minus_size_on() {
        assert!(inside(&[0, 2, -3, -1], 3) && inside(&[], 0));
        assert!(!inside(&[0, 3], 3) && !inside(&[-4, 0], 3) && !inside(&[0], 0));
    }

    #[test]
    fn an_unsigned_index_has_no_negative_numbers() {
        let shape = Indices { count: 1, size: 300, bytes: 1, signed: 0 };
        let x: Vec<u16> = (0..300).collect();
        let mut out = 0u16;
        let mut index = 255u8;
        let operands = [(&raw mut out).cast(), x.as_ptr().cast_mut().cast(), &raw mut index];
        run(&Take::new(shape, 1, 2, Isa::detect(), 2), &operands);
        assert_eq!(out, 255);
    }

    #[test]
    fn slices_are_picked_in_parts() {
        let outer = 3;
        let size = 50;
        let len = if cfg!(miri) { 7 } else { 700 };
        let x: Vec<u32> = (0..(outer * size * len) as u32).collect();
        let indices: Vec<i64> = (0..40).map(|i| (i * 37) % 100 - 50).collect();
        let shape = Indices { count: 40, size: size as u64, bytes: 8, signed: 1 };
        let kernel = Take::new(shape, outer, len * 4, Isa::detect(), 2);
        assert!(cfg!(miri) || kernel.parts() > 1);
        let mut out = vec![u32::MAX; outer * 40 * len];
        let operands =
            [out.as_mut_ptr().cast(), x.as_ptr().cast_mut().cast(), indices.as_ptr().cast_mut().cast()];
        run(&kernel, &operands);
        for (at, found) in out.iter().enumerate() {
            let (slice, element) = (at / len, at % len);
            let index = indices[slice % 40].rem_euclid(size as i64) as usize;
            assert_eq!(*found as usize, (slice / 40 * size + index) * len + element);
        }
    }

    /// Indices of a type as bytes, and the slices that they select; none for those out of range.
    fn drawn(bytes: u32, signed: u32, count: usize, size: u64) -> (Vec<u8>, Vec<Option<usize>>) {
        let bits = 8 * bytes;
        let all = (0..count as i128).map(|at| {
            let number = (at * 37 + 11) % (2 * i128::from(size) + 7) - i128::from(size) - 3;
            // The number as the type has it.
            let stored = number & ((1 << bits) - 1);
            let read = if signed == 1 && stored >> (bits - 1) == 1 { stored - (1 << bits) } else { stored };
            let from_start = if read < 0 { read + i128::from(size) } else { read };
            let slice = (0..i128::from(size)).contains(&from_start).then_some(from_start as usize);
            (stored.to_le_bytes()[..bytes as usize].to_vec(), slice)
        });
        let (stored, slices): (Vec<Vec<u8>>, Vec<Option<usize>>) = all.unzip();
        (stored.concat(), slices)
    }

    #[test]
    fn elements_of_every_size_are_picked_by_indices_of_every_type() {
        for (bytes, signed) in [1, 2, 4, 8].into_iter().flat_map(|bytes| [(bytes, 0), (bytes, 1)]) {
            for (slice_bytes, count) in [(1, 63), (2, 64), (4, 65), (8, 130), (3, 70), (16, 1)] {
                let (outer, size) = (3, 100);
                let shape = Indices { count: count as u64, size, bytes, signed };
                let (indices, slices) = drawn(bytes, signed, count, size);
                let x: Vec<u8> = (0..outer * size as usize * slice_bytes).map(|at| (at * 7) as u8).collect();
                let mut out = vec![0; outer * count * slice_bytes];
                let mut kernel = Take::new(shape, outer, slice_bytes, Isa::detect(), 2);
                kernel.parts = 4;
                let operands = [out.as_mut_ptr(), x.as_ptr().cast_mut(), indices.as_ptr().cast_mut()];
                run(&kernel, &operands);
                for (at, found) in out.chunks(slice_bytes).enumerate() {
                    let slice = slices[at % count].unwrap_or(size as usize - 1);
                    let from = (at / count * size as usize + slice) * slice_bytes;
                    assert_eq!(found, &x[from..from + slice_bytes], "{bytes} {signed} {slice_bytes} {at}");
                }
                let mut truth = 7;
                run(&CheckIndices::new(shape, Isa::detect()), &[&raw mut truth, indices.as_ptr().cast_mut()]);
                assert_eq!(truth, u8::from(slices.iter().all(Option::is_some)), "{bytes} {signed} {count}");
            }
        }
    }
}
