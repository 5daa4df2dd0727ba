//! The vector operations on AVX2 with FMA.

use super::{Lanewise, Simd, Task, bytes};
#[cfg(not(miri))]
use std::arch::asm;
use std::arch::x86_64::*;

/// Proof that the machine has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// Tasks compiled with the instruction set. As methods of the task, they are compiled beside its type. As
/// functions here, they would be one unit of work for the compiler.
trait CompiledForAvx2: Task<Avx2> {
    /// # Safety
    /// That of [`Simd::vectorize`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn vectorized(self) {
        // SAFETY: the caller's promise for the task; the features are on in this function.
        unsafe { self.run(Avx2(())) }
    }
}

impl<T: Task<Avx2>> CompiledForAvx2 for T {}

/// Eight set words before eight clear ones: a window into it is a mask of the first lanes.
static MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// [`Lanewise::together`].
#[cfg(not(miri))]
#[inline]
#[target_feature(enable = "avx2,fma")]
fn together(mut a: __m256, mut b: __m256) -> [__m256; 2] {
    // SAFETY: no instruction is emitted.
    unsafe {
        asm!(
            "/* {0} {1} */",
            inout(ymm_reg) a,
            inout(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    [a, b]
}

macro_rules! map {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $value:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: $ty),*) -> $out {
            // SAFETY: the token proves that the machine has these instructions.
            unsafe { $value }
        }
    )*};
}

/// [`Simd::transpose`] of 4 or 8 rows.
///
/// # Safety
/// As there.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn transpose<const N: usize>(
    from: *const f32,
    from_stride: isize,
    to: *mut f32,
    to_stride: isize,
) {
    const { assert!(N == 4 || N == 8) };
    // SAFETY: the caller's promise.
    unsafe {
        if N == 4 {
            let row = |row: isize| _mm_loadu_ps(from.offset(row * from_stride));
            let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
            let ab_low = _mm_unpacklo_ps(a, b);
            let ab_high = _mm_unpackhi_ps(a, b);
            let cd_low = _mm_unpacklo_ps(c, d);
            let cd_high = _mm_unpackhi_ps(c, d);
            _mm_storeu_ps(to, _mm_movelh_ps(ab_low, cd_low));
            _mm_storeu_ps(to.offset(to_stride), _mm_movehl_ps(cd_low, ab_low));
            _mm_storeu_ps(to.offset(2 * to_stride), _mm_movelh_ps(ab_high, cd_high));
            _mm_storeu_ps(to.offset(3 * to_stride), _mm_movehl_ps(cd_high, ab_high));
            return;
        }
        // Rows `i` and `i + 4` share a register, one in each half; each half holds a square of four.
        let half = |row: isize, half: isize| _mm_loadu_ps(from.offset(row * from_stride + 4 * half));
        for side in 0..2 {
            let row = |row: isize| _mm256_set_m128(half(row + 4, side), half(row, side));
            let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
            let ab_low = _mm256_unpacklo_ps(a, b);
            let ab_high = _mm256_unpackhi_ps(a, b);
            let cd_low = _mm256_unpacklo_ps(c, d);
            let cd_high = _mm256_unpackhi_ps(c, d);
            let to = to.offset(4 * side * to_stride);
            _mm256_storeu_ps(to, _mm256_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low));
            _mm256_storeu_ps(to.offset(to_stride), _mm256_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low));
            _mm256_storeu_ps(to.offset(2 * to_stride), _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high));
            _mm256_storeu_ps(to.offset(3 * to_stride), _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high));
        }
    }
}

/// Stores the first `count` of eight bytes (all if `count` is larger): the first four of each half.
///
/// # Safety
/// `to` is valid for writes of those bytes.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn store_bytes(to: *mut u8, count: usize, halves: __m256i) {
    let bytes = _mm_unpacklo_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
    // SAFETY: the caller's promise.
    unsafe {
        if count >= 8 {
            _mm_storel_epi64(to.cast(), bytes);
        } else {
            let mut first = [0u8; 16];
            _mm_storeu_si128(first.as_mut_ptr().cast(), bytes);
            std::ptr::copy_nonoverlapping(first.as_ptr(), to, count);
        }
    }
}

impl Lanewise for Avx2 {
    type F = __m256;
    type I = __m256i;

    #[cfg(not(miri))]
    #[inline(always)]
    fn together(self, a: __m256, b: __m256) -> [__m256; 2] {
        // SAFETY: the token proves that the machine has AVX2.
        unsafe { together(a, b) }
    }

    map! {
        splat(x: f32) -> __m256 = _mm256_set1_ps(x);
        add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
        sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
        mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
        div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
        mul_add(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
        max(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
        min(a: __m256, b: __m256) -> __m256 = _mm256_min_ps(a, b);
        sqrt(a: __m256) -> __m256 = _mm256_sqrt_ps(a);
        abs(a: __m256) -> __m256 = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        copysign(magnitude: __m256, sign: __m256) -> __m256 = {
            let sign_bit = _mm256_set1_ps(-0.0);
            _mm256_or_ps(_mm256_andnot_ps(sign_bit, magnitude), _mm256_and_ps(sign_bit, sign))
        };
        select_gt(a: __m256, b: __m256, yes: __m256, no: __m256) -> __m256 =
            _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_GT_OQ>(a, b));
        select_eq(a: __m256, b: __m256, yes: __m256, no: __m256) -> __m256 =
            _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b));
        splat_int(x: i32) -> __m256i = _mm256_set1_epi32(x);
        bits(a: __m256) -> __m256i = _mm256_castps_si256(a);
        float(a: __m256i) -> __m256 = _mm256_castsi256_ps(a);
        to_float(a: __m256i) -> __m256 = _mm256_cvtepi32_ps(a);
        add_int(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
        sub_int(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi32(a, b);
        and_int(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves that the machine has the instruction.
        unsafe { _mm256_sra_epi32(a, _mm_cvtsi32_si128(N as i32)) }
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves that the machine has the instruction.
        unsafe { _mm256_sll_epi32(a, _mm_cvtsi32_si128(N as i32)) }
    }
}

impl Simd for Avx2 {
    const LANES: usize = 8;
    const TILE_ROWS: usize = 6;
    type Mask = __m256i;

    #[inline(always)]
    unsafe fn vectorize<T: Task<Self>>(task: T) {
        // SAFETY: the caller's promise.
        unsafe { task.vectorized() }
    }

    map! {
        permute(a: __m256, lanes: __m256i) -> __m256 = _mm256_permutevar8x32_ps(a, lanes);
        mask(count: usize) -> __m256i = _mm256_loadu_si256(MASKS.as_ptr().add(8 - count.min(8)).cast());
    }

    #[inline(always)]
    unsafe fn transpose<const N: usize>(
        self,
        from: *const u32,
        from_stride: isize,
        to: *mut u32,
        to_stride: isize,
    ) {
        // SAFETY: the caller's promise; the token proves that the machine has the instructions.
        unsafe { transpose::<N>(from.cast(), from_stride, to.cast(), to_stride) }
    }

    #[inline(always)]
    unsafe fn load_upper(self, from: *const u16, count: usize) -> __m256i {
        // SAFETY: the caller's promise: only the first `count` words are read.
        unsafe {
            let words = if count >= 8 {
                _mm_loadu_si128(from.cast())
            } else {
                let mut words = [0u16; 8];
                std::ptr::copy_nonoverlapping(from, words.as_mut_ptr(), count);
                _mm_loadu_si128(words.as_ptr().cast())
            };
            _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(words))
        }
    }

    #[inline(always)]
    unsafe fn store_upper(self, to: *mut u16, count: usize, a: __m256i) {
        // SAFETY: the caller's promise: only the first `count` words are written.
        unsafe {
            let words = _mm256_srli_epi32::<16>(a);
            let words = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(words, words));
            let words = _mm256_castsi256_si128(words);
            if count >= 8 {
                _mm_storeu_si128(to.cast(), words);
            } else {
                let mut first = [0u16; 8];
                _mm_storeu_si128(first.as_mut_ptr().cast(), words);
                std::ptr::copy_nonoverlapping(first.as_ptr(), to, count);
            }
        }
    }

    map! {
        add_quads(unsigned: __m256i, signed: __m256i, sum: __m256i) -> __m256i = {
            // Even and odd bytes are multiplied separately, each widened to a 16-bit word.
            let even = _mm256_madd_epi16(
                _mm256_and_si256(unsigned, _mm256_set1_epi16(0xff)),
                _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(signed)),
            );
            let odd = _mm256_madd_epi16(_mm256_srli_epi16::<8>(unsigned), _mm256_srai_epi16::<8>(signed));
            _mm256_add_epi32(_mm256_add_epi32(sum, even), odd)
        };
        turn_signs(bytes: __m256i) -> __m256i = _mm256_xor_si256(bytes, _mm256_set1_epi8(i8::MIN));
        mul_int(a: __m256i, b: __m256i) -> __m256i = _mm256_mullo_epi32(a, b);
        add_neighbours(a: __m256i, b: __m256i) -> __m256i = _mm256_hadd_epi32(a, b);
        max_unsigned(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epu8(a, b);
        max_signed(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epi8(a, b);
        round(a: __m256) -> __m256 = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
    }

    #[inline(always)]
    unsafe fn load_repeated(self, from: *const u8) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    fn trunc(self, a: __m256) -> __m256 {
        // SAFETY: the machine has AVX2.
        unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a) }
    }

    #[inline(always)]
    unsafe fn load_unsigned(self, from: *const u8, count: usize) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { _mm256_cvtepu8_epi32(eight_bytes(from, count)) }
    }

    #[inline(always)]
    unsafe fn load_signed(self, from: *const u8, count: usize) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { _mm256_cvtepi8_epi32(eight_bytes(from, count)) }
    }

    #[inline(always)]
    unsafe fn load_quads<const ROWS: usize>(self, rows: [*const u8; ROWS], count: usize) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let mut bytes = [_mm_setzero_si128(); 4];
            for (bytes, row) in bytes.iter_mut().zip(rows) {
                *bytes = eight_bytes(row, count);
            }
            let [first, second, third, fourth] = bytes;
            let [lower, upper] = [_mm_unpacklo_epi8(first, second), _mm_unpacklo_epi8(third, fourth)];
            _mm256_set_m128i(_mm_unpackhi_epi16(lower, upper), _mm_unpacklo_epi16(lower, upper))
        }
    }

    #[inline(always)]
    unsafe fn store_unsigned(self, to: *mut u8, count: usize, a: __m256) {
        // SAFETY: the caller's promise.
        unsafe {
            // If the operands cannot be compared, the result is the second one.
            let a = _mm256_min_ps(_mm256_max_ps(a, _mm256_setzero_ps()), _mm256_set1_ps(255.0));
            let words = _mm256_packs_epi32(_mm256_cvttps_epi32(a), _mm256_setzero_si256());
            store_bytes(to, count, _mm256_packus_epi16(words, words));
        }
    }

    #[inline(always)]
    unsafe fn store_signed(self, to: *mut u8, count: usize, a: __m256) {
        // SAFETY: the caller's promise.
        unsafe {
            let is_number = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_ORD_Q>(a, a));
            let a = _mm256_min_ps(_mm256_max_ps(a, _mm256_set1_ps(-128.0)), _mm256_set1_ps(127.0));
            let numbers = _mm256_and_si256(_mm256_cvttps_epi32(a), is_number);
            let words = _mm256_packs_epi32(numbers, _mm256_setzero_si256());
            store_bytes(to, count, _mm256_packs_epi16(words, words));
        }
    }

    #[inline(always)]
    unsafe fn look_up(self, table: *const u8, from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's promise; the token proves that the machine has AVX2.
        unsafe {
            // For few bytes, loading the tables is not worthwhile.
            match count < 64 {
                true => bytes::look_up(table, from, to, count),
                false => bytes::look_up_avx2(table, from, to, count),
            }
        }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn load_int(self, from: *const i32) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_masked(self, from: *const f32, mask: __m256i) -> __m256 {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe { _mm256_maskload_ps(from, mask) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, a: __m256) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_ps(to, a) }
    }

    #[inline(always)]
    unsafe fn store_masked(self, to: *mut f32, mask: __m256i, a: __m256) {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe { _mm256_maskstore_ps(to, mask, a) }
    }
}

/// The first `count` bytes, at most eight, and zeros.
///
/// # Safety
/// `from` is valid for reads of those bytes, and the machine has AVX2.
#[inline(always)]
unsafe fn eight_bytes(from: *const u8, count: usize) -> __m128i {
    let mut bytes = [0u8; 8];
    // SAFETY: the caller's promise.
    unsafe {
        if count >= 8 {
            return _mm_loadl_epi64(from.cast());
        }
        std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), count);
        _mm_loadl_epi64(bytes.as_ptr().cast())
    }
}
