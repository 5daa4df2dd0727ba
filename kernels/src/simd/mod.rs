//! The vector operations of the kernels, so that each kernel is written once for all instruction sets.
//!
//! A type that implements [`Simd`] is a token: a value of it proves that the machine has the instructions, so
//! arithmetic is safe and only memory access is not. All methods and all generic code above them are
//! `#[inline(always)]`, and become machine code inside [`Simd::vectorize`], the one function compiled with
//! the instruction set's features. [`Portable`] needs no features: on x86 its long methods are called.

pub(crate) mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bytes;
mod portable;
mod several;
mod squares;

use math::coefficients::{ONE_BITS, ROUND};

pub(crate) use portable::Portable;
pub(crate) use several::Several;
pub(crate) use squares::{SQUARE, turn_small};
#[cfg(target_arch = "x86_64")]
pub(crate) use {avx2::Avx2, avx512::Avx512};
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use {portable::Portable as Avx2, portable::Portable as Avx512};

/// A piece of work to be compiled for an instruction set.
pub(crate) trait Task<S>: Sized {
    /// Does the work; implementations are `#[inline(always)]`.
    ///
    /// # Safety
    /// As each task states.
    unsafe fn run(self, simd: S);
}

/// Lanewise operations on vectors of `f32` and of `i32` bit patterns.
///
/// The float operations round once, to nearest, like those of `f32`; `max`, `min` and the selections are
/// those of [`crate::scalar`].
pub(crate) trait Lanewise: Copy + 'static {
    /// Floats.
    type F: Copy;
    /// The same number of 32-bit integers.
    type I: Copy;

    fn splat(self, x: f32) -> Self::F;
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c`, rounded once.
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    fn abs(self, a: Self::F) -> Self::F;
    /// `magnitude` with the sign of `sign`.
    fn copysign(self, magnitude: Self::F, sign: Self::F) -> Self::F;
    fn sqrt(self, a: Self::F) -> Self::F;
    /// Per lane `a > b ? yes : no`.
    fn select_gt(self, a: Self::F, b: Self::F, yes: Self::F, no: Self::F) -> Self::F;
    /// Per lane `a == b ? yes : no`.
    fn select_eq(self, a: Self::F, b: Self::F, yes: Self::F, no: Self::F) -> Self::F;

    /// The same vectors, but opaque to the compiler, which must assume that each depends on both: so neither
    /// is computed much later than the other.
    #[inline(always)]
    fn together(self, a: Self::F, b: Self::F) -> [Self::F; 2] {
        [a, b]
    }

    fn splat_int(self, x: i32) -> Self::I;
    fn bits(self, a: Self::F) -> Self::I;
    fn float(self, a: Self::I) -> Self::F;
    /// The integers as floats; exact below 2^24.
    fn to_float(self, a: Self::I) -> Self::F;
    fn add_int(self, a: Self::I, b: Self::I) -> Self::I;
    fn sub_int(self, a: Self::I, b: Self::I) -> Self::I;
    fn and_int(self, a: Self::I, b: Self::I) -> Self::I;
    /// Arithmetic shift right by `N`.
    fn shift_right<const N: u32>(self, a: Self::I) -> Self::I;
    /// Shift left by `N`.
    fn shift_left<const N: u32>(self, a: Self::I) -> Self::I;

    /// `a * 2^n`, rounded once, for `shifted` = [`ROUND`] + n with an integer n from -252 to 252. This
    /// default takes two steps; the first is exact if `a` is about 1.
    #[inline(always)]
    fn scale(self, a: Self::F, shifted: Self::F) -> Self::F {
        let power = self.sub_int(self.bits(shifted), self.splat_int(ROUND.to_bits() as i32));
        let half = self.shift_right::<1>(power);
        let [first, second] = [half, self.sub_int(power, half)]
            .map(|power| self.float(self.add_int(self.shift_left::<23>(power), self.splat_int(ONE_BITS))));
        self.mul(self.mul(a, first), second)
    }

    /// [`Self::scale`], with the same bits, if `a` is about 1 and the result normal, or `a` is NaN.
    #[inline(always)]
    fn scale_normal(self, a: Self::F, shifted: Self::F) -> Self::F {
        let power = self.shift_left::<23>(self.bits(shifted));
        self.mul(a, self.float(self.add_int(power, self.splat_int(ONE_BITS))))
    }
}

/// Vectors, masks of their first lanes, and memory.
pub(crate) trait Simd: Lanewise {
    /// Lanes of a vector: 8 or 16.
    const LANES: usize;
    /// Rows of the largest contraction tile that is two vectors wide and fits the registers.
    const TILE_ROWS: usize;
    /// Whether its operations are calls: tiles would be long and slow.
    const CALLS: bool = false;
    /// A mask of the first lanes.
    type Mask: Copy;

    /// Runs `task` compiled with this instruction set.
    ///
    /// # Safety
    /// The machine has the instruction set, and the task's own conditions hold.
    unsafe fn vectorize<T: Task<Self>>(task: T);

    /// Lane `i` of the result is lane `lanes[i]` of `a`; every index is below `LANES`.
    fn permute(self, a: Self::F, lanes: Self::I) -> Self::F;

    /// A mask of the first `count` lanes; all of them if `count` is `LANES` or more.
    fn mask(self, count: usize) -> Self::Mask;

    /// Loads the first `count` words as the upper halves of the lanes; everything else is zero.
    ///
    /// # Safety
    /// `from` is valid for reads of those words.
    unsafe fn load_upper(self, from: *const u16, count: usize) -> Self::I;
    /// Stores the upper halves of the first `count` lanes.
    ///
    /// # Safety
    /// `to` is valid for writes of those words.
    unsafe fn store_upper(self, to: *mut u16, count: usize, a: Self::I);

    /// The nearest `bf16` of each lane in its upper half, as [`crate::nearest_bf16`] computes it.
    #[inline(always)]
    fn nearest_bf16(self, a: Self::F) -> Self::I {
        let bits = self.bits(a);
        let odd = self.and_int(self.shift_right::<16>(bits), self.splat_int(1));
        let rounded = self.add_int(self.add_int(bits, self.splat_int(0x7fff)), odd);
        // A NaN, which is not equal to itself; the addition makes it quiet.
        self.bits(self.select_eq(a, a, self.float(rounded), self.add(a, a)))
    }

    /// Per lane, the products of two pairs of `bf16`, added to a sum one after the other, the upper one
    /// first: `a.low * b.low + (a.high * b.high + sum)`, each step rounded once.
    #[inline(always)]
    fn add_pairs(self, a: Self::I, b: Self::I, sum: Self::F) -> Self::F {
        let upper = self.mul_add(self.upper_bf16(a), self.upper_bf16(b), sum);
        self.mul_add(self.lower_bf16(a), self.lower_bf16(b), upper)
    }

    /// The `bf16` in the upper half of each lane.
    #[inline(always)]
    fn upper_bf16(self, pairs: Self::I) -> Self::F {
        self.float(self.and_int(pairs, self.splat_int(0xffff_0000_u32 as i32)))
    }

    /// The `bf16` in the lower half of each lane.
    #[inline(always)]
    fn lower_bf16(self, pairs: Self::I) -> Self::F {
        self.float(self.shift_left::<16>(pairs))
    }

    /// Whether this machine multiplies two whole vectors in each cycle, where others with this instruction
    /// set multiply one.
    fn multiplies_two() -> bool {
        false
    }

    /// Whether some machines have instructions for [`Simd::add_pairs`] and [`Simd::nearest_bf16`].
    const MAY_PAIR: bool = false;

    /// Whether this machine has them.
    fn has_pairs() -> bool {
        false
    }

    /// Runs `task` compiled with this instruction set and those instructions.
    ///
    /// # Safety
    /// The machine has both, and the task's own conditions hold.
    #[inline(always)]
    unsafe fn vectorize_pairs<T: Task<Self>>(task: T) {
        // SAFETY: the caller's promise.
        unsafe { Self::vectorize(task) }
    }

    /// [`Simd::add_pairs`] by its instruction. It takes numbers below 2^-126 for zeros.
    ///
    /// # Safety
    /// The machine has the instruction.
    #[inline(always)]
    unsafe fn add_pairs_at_once(self, a: Self::I, b: Self::I, sum: Self::F) -> Self::F {
        self.add_pairs(a, b, sum)
    }

    /// Stores the nearest `bf16` of the first `count` lanes, or of all if `count` is larger, by one
    /// instruction. It treats numbers below 2^-126 as zeros.
    ///
    /// # Safety
    /// The machine has the instruction; `to` is valid for writes of those words.
    #[inline(always)]
    unsafe fn store_nearest_at_once(self, to: *mut u16, count: usize, a: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { self.store_upper(to, count, self.nearest_bf16(a)) }
    }

    /// Per lane, the sum of the products of its four bytes and `sum`, with wrapping.
    fn add_quads(self, unsigned: Self::I, signed: Self::I, sum: Self::I) -> Self::I;

    /// Whether some machines have an instruction for [`Simd::add_quads`].
    const MAY_QUAD: bool = false;

    /// Whether this machine has it.
    fn has_quads() -> bool {
        false
    }

    /// Runs `task` compiled with this instruction set and that instruction.
    ///
    /// # Safety
    /// The machine has both, and the task's own conditions hold.
    #[inline(always)]
    unsafe fn vectorize_quads<T: Task<Self>>(task: T) {
        // SAFETY: the caller's promise.
        unsafe { Self::vectorize(task) }
    }

    /// [`Simd::add_quads`] by its instruction.
    ///
    /// # Safety
    /// The machine has the instruction.
    #[inline(always)]
    unsafe fn add_quads_at_once(self, unsigned: Self::I, signed: Self::I, sum: Self::I) -> Self::I {
        self.add_quads(unsigned, signed, sum)
    }

    /// Per lane, one byte of each of up to four rows, the first row's in the low bits, and zeros for missing
    /// rows. Only the first `count` lanes are loaded (all if `count` is larger); the others are zero.
    ///
    /// # Safety
    /// Each row is valid for reads of those bytes.
    #[inline(always)]
    unsafe fn load_quads<const ROWS: usize>(self, rows: [*const u8; ROWS], count: usize) -> Self::I {
        let mut quads = self.splat_int(0);
        for row in rows.into_iter().rev() {
            // SAFETY: the caller's promise.
            quads = self.add_int(self.shift_left::<8>(quads), unsafe { self.load_unsigned(row, count) });
        }
        quads
    }

    /// The same 16 bytes in each 16 bytes of a vector.
    ///
    /// # Safety
    /// They are valid for reads.
    unsafe fn load_repeated(self, from: *const u8) -> Self::I;

    /// In each 16 bytes: the sums of neighbouring lanes, first of `a`, then of `b`, with wrapping.
    fn add_neighbours(self, a: Self::I, b: Self::I) -> Self::I;

    /// The bytes with the upper bit of each flipped: signed numbers become unsigned numbers that are 128
    /// larger.
    #[inline(always)]
    fn turn_signs(self, bytes: Self::I) -> Self::I {
        let signs = self.splat_int(0x8080_8080_u32 as i32);
        let twice = self.shift_left::<1>(self.and_int(bytes, signs));
        self.sub_int(self.add_int(bytes, signs), twice)
    }

    /// The products of integers, which wrap.
    fn mul_int(self, a: Self::I, b: Self::I) -> Self::I;

    /// The larger of unsigned bytes, byte by byte, four in a lane.
    fn max_unsigned(self, a: Self::I, b: Self::I) -> Self::I;

    /// The larger of signed bytes.
    fn max_signed(self, a: Self::I, b: Self::I) -> Self::I;

    /// Rounds to the nearest integers, ties to even.
    fn round(self, a: Self::F) -> Self::F;

    /// Rounds to integers towards zero.
    fn trunc(self, a: Self::F) -> Self::F;

    /// Loads the first `count` bytes (all if `count` is larger) as unsigned numbers; the other lanes are
    /// zero.
    ///
    /// # Safety
    /// `from` is valid for reads of those bytes.
    unsafe fn load_unsigned(self, from: *const u8, count: usize) -> Self::I;

    /// The same as signed numbers.
    ///
    /// # Safety
    /// As there.
    unsafe fn load_signed(self, from: *const u8, count: usize) -> Self::I;

    /// Stores the first `count` lanes (all if `count` is larger) as unsigned bytes: truncated towards zero,
    /// saturated, and zero for a NaN.
    ///
    /// # Safety
    /// `to` is valid for writes of those bytes.
    unsafe fn store_unsigned(self, to: *mut u8, count: usize, a: Self::F);
    /// The same as signed bytes.
    ///
    /// # Safety
    /// As there.
    unsafe fn store_signed(self, to: *mut u8, count: usize, a: Self::F);

    /// [`Simd::store_unsigned`] of the nearest integers plus a number from -255 to 255.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn store_near_unsigned(self, to: *mut u8, count: usize, a: Self::F, added: i32) {
        // SAFETY: the caller's promise.
        unsafe { self.store_unsigned(to, count, self.add(self.round(a), self.splat(added as f32))) }
    }

    /// [`Simd::store_signed`] of the nearest integers plus a number from -255 to 255.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn store_near_signed(self, to: *mut u8, count: usize, a: Self::F, added: i32) {
        // SAFETY: the caller's promise.
        unsafe { self.store_signed(to, count, self.add(self.round(a), self.splat(added as f32))) }
    }

    /// Loads the first `count` bytes of a vector (all if `count` is larger); the others are zero.
    ///
    /// # Safety
    /// `from` is valid for reads of those bytes.
    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8, count: usize) -> Self::F {
        let mut bytes = [0u8; 64];
        // SAFETY: the caller's promise; no vector is longer.
        unsafe {
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), count.min(4 * Self::LANES));
            self.load(bytes.as_ptr().cast())
        }
    }

    /// Stores the first `count` bytes of a vector (all if `count` is larger).
    ///
    /// # Safety
    /// `to` is valid for writes of those bytes.
    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, count: usize, a: Self::F) {
        let mut bytes = [0u8; 64];
        // SAFETY: the caller's promise; no vector is longer.
        unsafe {
            self.store(bytes.as_mut_ptr().cast(), a);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, count.min(4 * Self::LANES));
        }
    }

    /// Transposes a square of words: word `j` of row `i` becomes word `i` of row `j`, the rows with these
    /// strides in words. Rows are written one after the other, so they may overlap.
    ///
    /// # Safety
    /// `from` is valid for reads of the rows, and `to` for writes, at any addresses; the two do not overlap.
    #[inline(always)]
    unsafe fn transpose<const N: usize>(
        self,
        from: *const u32,
        from_stride: isize,
        to: *mut u32,
        to_stride: isize,
    ) {
        for row in 0..N as isize {
            for column in 0..N as isize {
                // SAFETY: the caller's promise.
                unsafe {
                    let word = from.offset(column * from_stride + row).read_unaligned();
                    to.offset(row * to_stride + column).write_unaligned(word);
                }
            }
        }
    }

    /// `to[i] = table[from[i]]` for `count` bytes.
    ///
    /// # Safety
    /// `table` is valid for reads of 256 bytes, `from` of `count`, and `to` for writes of `count`; `from` and
    /// `to` are the same or do not overlap, and the table does not overlap with `to`.
    #[inline(always)]
    unsafe fn look_up(self, table: *const u8, from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's promise.
        unsafe { bytes::look_up(table, from, to, count) }
    }

    /// # Safety
    /// `from` is valid for reads of `LANES` floats.
    unsafe fn load(self, from: *const f32) -> Self::F;
    /// # Safety
    /// `from` is valid for reads of `LANES` integers.
    unsafe fn load_int(self, from: *const i32) -> Self::I;
    /// The masked lanes from memory, zero in the others.
    ///
    /// # Safety
    /// `from` is valid for reads of the masked lanes.
    unsafe fn load_masked(self, from: *const f32, mask: Self::Mask) -> Self::F;
    /// # Safety
    /// `to` is valid for writes of `LANES` floats.
    unsafe fn store(self, to: *mut f32, a: Self::F);
    /// # Safety
    /// `to` is valid for writes of the masked lanes.
    unsafe fn store_masked(self, to: *mut f32, mask: Self::Mask, a: Self::F);

    /// The first `count` lanes from memory (all where `count` is larger), zero in the others.
    ///
    /// # Safety
    /// `from` is valid for reads of those lanes.
    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe {
            if count >= Self::LANES { self.load(from) } else { self.load_masked(from, self.mask(count)) }
        }
    }

    /// Stores the first `count` lanes (all if `count` is larger).
    ///
    /// # Safety
    /// `to` is valid for writes of those lanes.
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, count: usize, a: Self::F) {
        // SAFETY: the caller's promise.
        unsafe {
            if count >= Self::LANES { self.store(to, a) } else { self.store_masked(to, self.mask(count), a) }
        }
    }
}

/// The lanes of a vector that are loaded or stored.
pub(crate) trait Width<S: Simd>: Copy {
    /// # Safety
    /// `from` is valid for reads of the lanes.
    unsafe fn load(self, s: S, from: *const f32) -> S::F;
    /// # Safety
    /// `to` is valid for writes of the lanes.
    unsafe fn store(self, s: S, to: *mut f32, a: S::F);
}

/// All lanes.
#[derive(Clone, Copy)]
pub(crate) struct AllLanes;

/// The masked lanes.
#[derive(Clone, Copy)]
pub(crate) struct First<S: Simd>(pub(crate) S::Mask);

impl<S: Simd> Width<S> for AllLanes {
    #[inline(always)]
    unsafe fn load(self, s: S, from: *const f32) -> S::F {
        // SAFETY: the caller's promise.
        unsafe { s.load(from) }
    }

    #[inline(always)]
    unsafe fn store(self, s: S, to: *mut f32, a: S::F) {
        // SAFETY: the caller's promise.
        unsafe { s.store(to, a) }
    }
}

impl<S: Simd> Width<S> for First<S> {
    #[inline(always)]
    unsafe fn load(self, s: S, from: *const f32) -> S::F {
        // SAFETY: the caller's promise.
        unsafe { s.load_masked(from, self.0) }
    }

    #[inline(always)]
    unsafe fn store(self, s: S, to: *mut f32, a: S::F) {
        // SAFETY: the caller's promise.
        unsafe { s.store_masked(to, self.0, a) }
    }
}

/// A block for each number below a constant (at most 14), one after the other.
///
/// The sums of a tile stay in registers only without a loop over them. The compiler unrolls a loop only if
/// the result is below its own size limit, and a tile beyond that limit is five times as slow.
///
/// Copies that are not wanted cost the compiler time as well, since they are dropped late: where blocks are
/// nested, say the greatest number.
macro_rules! written_out {
    ($index:ident in $count:ident => $block:block) => {
        crate::simd::written_out!($index in $count, among 0 1 2 3 4 5 6 7 8 9 10 11 12 13 => $block)
    };
    ($index:ident in $count:ident, at most 2 => $block:block) => {
        crate::simd::written_out!($index in $count, among 0 1 => $block)
    };
    ($index:ident in $count:ident, at most 5 => $block:block) => {
        crate::simd::written_out!($index in $count, among 0 1 2 3 4 => $block)
    };
    ($index:ident in $count:ident, at most 7 => $block:block) => {
        crate::simd::written_out!($index in $count, among 0 1 2 3 4 5 6 => $block)
    };
    ($index:ident in $count:ident, among $($number:literal)* => $block:block) => {
        const { assert!($count <= [$($number),*].len()) };
        $(if const { $number < $count } {
            let $index: usize = $number;
            $block
        })*
    };
}
pub(crate) use written_out;

/// The same pointer, opaque to the compiler.
///
/// Without it, the optimizer turns the addresses of a tile's pixels, which are one pointer plus small
/// multiples of a stride, into two dozen pointers. It advances each of them and keeps them on the stack, with
/// as many loads and stores as there are products.
#[inline(always)]
pub(crate) fn opaque(pointer: *const f32) -> *const f32 {
    // Miri knows no assembler.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut address = pointer.expose_provenance();
        // SAFETY: no instruction is emitted.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags));
        }
        std::ptr::with_exposed_provenance(address)
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    pointer
}

/// Prefetches the cache line at `address` into the second-level cache. Any address is allowed: a prefetch
/// never faults.
#[inline(always)]
pub(crate) fn prefetch(address: *const f32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch does not access memory architecturally.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
