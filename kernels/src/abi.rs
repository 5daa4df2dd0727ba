//! The interface of kernels to generated code: one signature for all, and descriptors of plain bytes.
//!
//! A kernel run is `parts` independent calls of one function, by any worker in any order; the result's bits
//! depend neither on the number of parts nor on who runs them. The caller passes the descriptor's bytes
//! (8-byte aligned), a table of operand pointers in the order that the descriptor's type documents (null for
//! an absent optional operand), the part's index, and scratch memory of its own (64-byte aligned,
//! `scratch_bytes` long, contents arbitrary). Kernels neither allocate nor unwind.

use crate::isa::Isa;
use crate::simd::{Avx2, Avx512, Portable, Simd, Task};
use crate::table::Tabled;

/// The signature of every kernel.
///
/// # Safety
/// `desc` points at the bytes of the kernel's descriptor, aligned to 8; `ptrs` at its operands, each valid
/// for the extent that the descriptor's type documents and aliasing only as it allows; `part` is below the
/// descriptor's `parts`; `scratch` is valid for `scratch_bytes`, aligned to 64, and used by no other running
/// part.
pub type KernelFn = unsafe extern "C" fn(desc: *const u8, ptrs: *const *mut u8, part: u32, scratch: *mut u8);

/// A kernel's descriptor: what to compute, with blocking and parts already chosen.
///
/// # Safety
/// Implementors are `#[repr(C)]`, without padding, pointers or destructors, aligned to at most 8, and `entry`
/// returns a function that reads exactly this type.
pub unsafe trait Kernel: Copy + 'static {
    /// The number of independent parts, 0 if there is nothing to compute.
    fn parts(&self) -> u32;

    /// Bytes of scratch memory that each worker needs.
    fn scratch_bytes(&self) -> usize;

    /// The greatest scratch for the same work at any sizes up to these.
    fn most_scratch_bytes(&self) -> usize {
        self.scratch_bytes()
    }

    /// Scratch that is enough for the same work at any sizes up to these, for kernels that can do with less.
    fn enough_scratch_bytes(&self) -> usize {
        self.most_scratch_bytes()
    }

    /// The function that runs one part, for the instruction set given when the descriptor was made.
    fn entry(&self) -> KernelFn;

    /// The descriptor as bytes, to be embedded in a program.
    fn as_bytes(&self) -> &[u8] {
        // SAFETY: the trait's contract: no padding, so every byte is initialised.
        let bytes: &[u8] =
            unsafe { std::slice::from_raw_parts((&raw const *self).cast(), size_of::<Self>()) };
        // If the contract is broken, Miri reports it.
        #[cfg(miri)]
        for byte in bytes {
            std::hint::black_box(*byte);
        }
        bytes
    }
}

/// The operand table of a running part.
#[derive(Clone, Copy)]
pub(crate) struct OperandTable(pub(crate) *const *mut u8);

impl OperandTable {
    /// The `index`-th operand as a pointer to `T`.
    ///
    /// # Safety
    /// The table has more than `index` entries.
    #[inline(always)]
    pub(crate) unsafe fn get<T>(self, index: usize) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { (*self.0.add(index)).cast() }
    }
}

/// What a kernel does for one part, written once for all instruction sets.
pub(crate) trait KernelBody: Kernel {
    /// Runs part `part`. Implementations are `#[inline(always)]`, so that they are compiled for `S`'s
    /// features.
    ///
    /// # Safety
    /// That of [`KernelFn`].
    unsafe fn run<S: Simd>(&self, simd: S, operands: OperandTable, part: u32, scratch: *mut u8);
}

/// A body with its arguments, waiting to be run with some instruction set. A tuple has no module of its own,
/// so the machine code is compiled beside the kernel's type, not all kernels' in one unit.
type BodyCall<'d, K> = (&'d K, OperandTable, u32, *mut u8);

impl<S: Simd, K: KernelBody> Task<S> for BodyCall<'_, K> {
    #[inline(always)]
    unsafe fn run(self, simd: S) {
        let (desc, operands, part, scratch) = self;
        // SAFETY: passed on from `enter`.
        unsafe { desc.run(simd, operands, part, scratch) }
    }
}

unsafe extern "C" fn enter<K: KernelBody, S: Simd>(
    desc: *const u8,
    ptrs: *const *mut u8,
    part: u32,
    scratch: *mut u8,
) {
    // SAFETY: `KernelFn`'s contract: `desc` is an aligned `K`, and `entry` was asked for an available
    // instruction set.
    unsafe {
        let call: BodyCall<'_, K> = (&*desc.cast::<K>(), OperandTable(ptrs), part, scratch);
        S::vectorize(call);
    }
}

/// The machine code of `K`'s body, for each of [`Isa::PATHS`].
pub(crate) const fn entries<K: KernelBody>() -> [KernelFn; 3] {
    [enter::<K, Portable>, enter::<K, Avx2>, enter::<K, Avx512>]
}

/// The entry point of `K`'s body for an instruction set.
pub(crate) fn entry_of<K: Tabled>(isa: Isa) -> KernelFn {
    K::entries()[isa.path()]
}

/// Where row `row` of a box begins, by the strides of a tensor. Rows run along the last axis, and are counted
/// in the order of the other axes.
#[inline(always)]
pub(crate) fn row_start<const RANK: usize>(sizes: &[u64; RANK], strides: &[i64; RANK], row: usize) -> isize {
    let mut rest = row;
    let mut start = 0;
    for axis in (0..RANK - 1).rev() {
        let size = sizes[axis] as usize;
        let stride = strides[axis] as isize;
        // Mostly there are no further rows, and no division is needed.
        if rest < size {
            return start + rest as isize * stride;
        }
        start += (rest % size) as isize * stride;
        rest /= size;
    }
    start
}

/// The `index`-th of `parts` nearly equal pieces of `0..count`.
#[inline(always)]
pub(crate) fn piece(count: usize, parts: usize, index: usize) -> std::ops::Range<usize> {
    count * index / parts..count * (index + 1) / parts
}
