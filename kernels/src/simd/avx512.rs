//! The vector operations on AVX-512.

use super::{Lanewise, Simd, Task, bytes};
use math::coefficients::ROUND;
#[cfg(not(miri))]
use std::arch::asm;
use std::arch::x86_64::*;
use std::sync::OnceLock;

/// Proof that the machine has AVX-512 F, VL, BW and DQ (and AVX2 and FMA).
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// Tasks compiled with the instruction set. As methods of the task, they are compiled beside its type. As
/// functions here, they would be one unit of work for the compiler, half of the crate.
trait CompiledForAvx512: Task<Avx512> {
    /// # Safety
    /// That of [`Simd::vectorize`].
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
    unsafe fn vectorized(self) {
        // SAFETY: the caller's promise for the task; the features are on in this function.
        unsafe { self.run(Avx512(())) }
    }

    /// # Safety
    /// That of [`Simd::vectorize_pairs`].
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx512bf16,avx2,fma")]
    unsafe fn with_pairs(self) {
        // SAFETY: the caller's promise for the task; the features are on in this function.
        unsafe { self.run(Avx512(())) }
    }

    /// # Safety
    /// That of [`Simd::vectorize_quads`].
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx512vnni,avx2,fma")]
    unsafe fn with_quads(self) {
        // SAFETY: the caller's promise for the task; the features are on in this function.
        unsafe { self.run(Avx512(())) }
    }
}

impl<T: Task<Avx512>> CompiledForAvx512 for T {}

/// [`Lanewise::together`].
#[cfg(not(miri))]
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
fn together(mut a: __m512, mut b: __m512) -> [__m512; 2] {
    // SAFETY: no instruction is emitted.
    unsafe {
        asm!(
            "/* {0} {1} */",
            inout(zmm_reg) a,
            inout(zmm_reg) b,
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

impl Lanewise for Avx512 {
    type F = __m512;
    type I = __m512i;

    #[cfg(not(miri))]
    #[inline(always)]
    fn together(self, a: __m512, b: __m512) -> [__m512; 2] {
        // SAFETY: the token proves that the machine has AVX-512.
        unsafe { together(a, b) }
    }

    map! {
        splat(x: f32) -> __m512 = _mm512_set1_ps(x);
        add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
        sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
        mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
        div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
        mul_add(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
        max(a: __m512, b: __m512) -> __m512 = _mm512_max_ps(a, b);
        min(a: __m512, b: __m512) -> __m512 = _mm512_min_ps(a, b);
        sqrt(a: __m512) -> __m512 = _mm512_sqrt_ps(a);
        abs(a: __m512) -> __m512 = _mm512_abs_ps(a);
        copysign(magnitude: __m512, sign: __m512) -> __m512 = {
            // Truth table 0xca: the second operand where the first is set, otherwise the third.
            let sign_bit = _mm512_set1_epi32(i32::MIN);
            let (magnitude, sign) = (_mm512_castps_si512(magnitude), _mm512_castps_si512(sign));
            _mm512_castsi512_ps(_mm512_ternarylogic_epi32::<0xca>(sign_bit, sign, magnitude))
        };
        select_gt(a: __m512, b: __m512, yes: __m512, no: __m512) -> __m512 =
            _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), no, yes);
        select_eq(a: __m512, b: __m512, yes: __m512, no: __m512) -> __m512 =
            _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b), no, yes);
        splat_int(x: i32) -> __m512i = _mm512_set1_epi32(x);
        bits(a: __m512) -> __m512i = _mm512_castps_si512(a);
        float(a: __m512i) -> __m512 = _mm512_castsi512_ps(a);
        to_float(a: __m512i) -> __m512 = _mm512_cvtepi32_ps(a);
        add_int(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
        sub_int(a: __m512i, b: __m512i) -> __m512i = _mm512_sub_epi32(a, b);
        and_int(a: __m512i, b: __m512i) -> __m512i = _mm512_and_si512(a, b);
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves that the machine has the instruction.
        unsafe { _mm512_srai_epi32::<N>(a) }
    }

    #[inline(always)]
    fn scale(self, a: __m512, shifted: __m512) -> __m512 {
        // SAFETY: the token proves that the machine has the instructions.
        unsafe { _mm512_scalef_ps(a, _mm512_sub_ps(shifted, _mm512_set1_ps(ROUND))) }
    }

    #[inline(always)]
    fn scale_normal(self, a: __m512, shifted: __m512) -> __m512 {
        self.scale(a, shifted)
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves that the machine has the instruction.
        unsafe { _mm512_slli_epi32::<N>(a) }
    }
}

impl Simd for Avx512 {
    const LANES: usize = 16;
    const TILE_ROWS: usize = 14;
    const MAY_PAIR: bool = true;
    const MAY_QUAD: bool = true;
    type Mask = __mmask16;

    #[inline(always)]
    unsafe fn vectorize<T: Task<Self>>(task: T) {
        // SAFETY: the caller's promise.
        unsafe { task.vectorized() }
    }

    map! {
        permute(a: __m512, lanes: __m512i) -> __m512 = _mm512_permutexvar_ps(lanes, a);
    }

    #[inline(always)]
    fn mask(self, count: usize) -> __mmask16 {
        if count >= 16 { u16::MAX } else { (1 << count) - 1 }
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
        unsafe { super::avx2::transpose::<N>(from.cast(), from_stride, to.cast(), to_stride) }
    }

    #[inline(always)]
    unsafe fn load_upper(self, from: *const u16, count: usize) -> __m512i {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe {
            let words = _mm256_maskz_loadu_epi16(self.mask(count), from.cast());
            _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(words))
        }
    }

    #[inline(always)]
    unsafe fn store_upper(self, to: *mut u16, count: usize, a: __m512i) {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe {
            // One instruction that narrows and stores. If the mask is known and has one lane, LLVM 22.1 turns
            // a masked store of words that it narrows itself into a store of four bytes.
            _mm512_mask_cvtepi32_storeu_epi16(to.cast(), self.mask(count), _mm512_srli_epi32::<16>(a));
        }
    }

    fn multiplies_two() -> bool {
        // Miri knows no such instruction.
        if cfg!(miri) {
            return false;
        }
        static FOUND: OnceLock<bool> = OnceLock::new();
        *FOUND.get_or_init(|| {
            // Intel's machines with AMX are servers, which have two multipliers.
            let has_amx = __cpuid(0).eax >= 7 && __cpuid_count(7, 0).edx & 1 << 24 != 0;
            // AMD's of family 1Ah (Zen 5), but for the mobile models 2xh, 3xh and 6xh. Virtual machines hide
            // the flag for it.
            let version = __cpuid(1).eax;
            let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
            let is_amd = __cpuid(0).ebx == u32::from_le_bytes(*b"Auth");
            has_amx || is_amd && family == 0x1a && !matches!(version >> 16 & 0xf, 2 | 3 | 6)
        })
    }

    #[inline(always)]
    fn has_pairs() -> bool {
        is_x86_feature_detected!("avx512bf16")
    }

    #[inline(always)]
    unsafe fn vectorize_pairs<T: Task<Self>>(task: T) {
        // SAFETY: the caller's promise.
        unsafe { task.with_pairs() }
    }

    #[inline(always)]
    unsafe fn add_pairs_at_once(self, a: __m512i, b: __m512i, sum: __m512) -> __m512 {
        // SAFETY: the caller's promise; both types are 64 bytes of any content.
        unsafe {
            let [a, b] = [a, b].map(|pairs| std::mem::transmute::<__m512i, __m512bh>(pairs));
            _mm512_dpbf16_ps(sum, a, b)
        }
    }

    #[inline(always)]
    unsafe fn store_nearest_at_once(self, to: *mut u16, count: usize, a: __m512) {
        // SAFETY: the caller's promise; both types are 32 bytes of any content; only the masked lanes are
        // accessed.
        unsafe {
            let words = std::mem::transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(a));
            if count >= 16 {
                _mm256_storeu_si256(to.cast(), words);
            } else {
                _mm256_mask_storeu_epi16(to.cast(), self.mask(count), words);
            }
        }
    }

    map! {
        add_quads(unsigned: __m512i, signed: __m512i, sum: __m512i) -> __m512i = {
            // Even and odd bytes are multiplied separately, each widened to a 16-bit word.
            let even = _mm512_madd_epi16(
                _mm512_and_si512(unsigned, _mm512_set1_epi16(0xff)),
                _mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(signed)),
            );
            let odd = _mm512_madd_epi16(_mm512_srli_epi16::<8>(unsigned), _mm512_srai_epi16::<8>(signed));
            _mm512_add_epi32(_mm512_add_epi32(sum, even), odd)
        };
        add_neighbours(a: __m512i, b: __m512i) -> __m512i = {
            let [a, b] = [_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)];
            let even = _mm512_castps_si512(_mm512_shuffle_ps::<0b10_00_10_00>(a, b));
            let odd = _mm512_castps_si512(_mm512_shuffle_ps::<0b11_01_11_01>(a, b));
            _mm512_add_epi32(even, odd)
        };
        turn_signs(bytes: __m512i) -> __m512i = _mm512_xor_si512(bytes, _mm512_set1_epi8(i8::MIN));
        mul_int(a: __m512i, b: __m512i) -> __m512i = _mm512_mullo_epi32(a, b);
        max_unsigned(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epu8(a, b);
        max_signed(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epi8(a, b);
        round(a: __m512) -> __m512 =
            _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
    }

    #[inline(always)]
    fn has_quads() -> bool {
        // Code of object files keeps no state, but the answer to this question is cached.
        cfg!(not(optc_object)) && is_x86_feature_detected!("avx512vnni")
    }

    #[inline(always)]
    unsafe fn vectorize_quads<T: Task<Self>>(task: T) {
        // SAFETY: the caller's promise.
        unsafe { task.with_quads() }
    }

    #[inline(always)]
    unsafe fn add_quads_at_once(self, unsigned: __m512i, signed: __m512i, sum: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_dpbusd_epi32(sum, unsigned, signed) }
    }

    #[inline(always)]
    unsafe fn load_repeated(self, from: *const u8) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    fn trunc(self, a: __m512) -> __m512 {
        // SAFETY: the machine has AVX-512.
        unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a) }
    }

    #[inline(always)]
    unsafe fn load_unsigned(self, from: *const u8, count: usize) -> __m512i {
        // SAFETY: the caller's promise; masked bytes are not accessed.
        unsafe { _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(self.mask(count), from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_signed(self, from: *const u8, count: usize) -> __m512i {
        // SAFETY: the caller's promise; masked bytes are not accessed.
        unsafe { _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(self.mask(count), from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_unsigned(self, to: *mut u8, count: usize, a: __m512) {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe {
            // If the operands cannot be compared, the result is the second one. A float too large for an
            // integer becomes 2^31.
            let numbers = _mm512_cvttps_epi32(_mm512_max_ps(a, _mm512_setzero_ps()));
            // One instruction that narrows and stores, as in `store_upper`.
            _mm512_mask_cvtusepi32_storeu_epi8(to.cast(), self.mask(count), numbers);
        }
    }

    #[inline(always)]
    unsafe fn store_signed(self, to: *mut u8, count: usize, a: __m512) {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe {
            let is_number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, a);
            let numbers = _mm512_maskz_cvttps_epi32(is_number, _mm512_min_ps(a, _mm512_set1_ps(127.0)));
            _mm512_mask_cvtsepi32_storeu_epi8(to.cast(), self.mask(count), numbers);
        }
    }

    #[inline(always)]
    unsafe fn store_near_unsigned(self, to: *mut u8, count: usize, a: __m512, added: i32) {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe {
            // As in `store_unsigned`: no number is negative now. Numbers that are too large are still too
            // large, as unsigned integers, after the addition.
            let numbers = _mm512_cvtps_epi32(_mm512_max_ps(a, _mm512_set1_ps(-added as f32)));
            let numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(added));
            _mm512_mask_cvtusepi32_storeu_epi8(to.cast(), self.mask(count), numbers);
        }
    }

    #[inline(always)]
    unsafe fn store_near_signed(self, to: *mut u8, count: usize, a: __m512, added: i32) {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe {
            // The same for numbers shifted by 128; then the upper bit is flipped.
            let is_number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, a);
            let a = _mm512_max_ps(a, _mm512_set1_ps((-128 - added) as f32));
            let numbers = _mm512_mask_cvtps_epi32(_mm512_set1_epi32(-added), is_number, a);
            let numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(added + 128));
            let bytes = _mm_xor_si128(_mm512_cvtusepi32_epi8(numbers), _mm_set1_epi8(i8::MIN));
            if count >= 16 {
                _mm_storeu_si128(to.cast(), bytes);
            } else {
                _mm_mask_storeu_epi8(to.cast(), self.mask(count), bytes);
            }
        }
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8, count: usize) -> __m512 {
        let mask = if count >= 64 { u64::MAX } else { (1 << count) - 1 };
        // SAFETY: the caller's promise; masked bytes are not accessed.
        unsafe { _mm512_castsi512_ps(_mm512_maskz_loadu_epi8(mask, from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, count: usize, a: __m512) {
        let mask = if count >= 64 { u64::MAX } else { (1 << count) - 1 };
        // SAFETY: the caller's promise; masked bytes are not accessed.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), mask, _mm512_castps_si512(a)) }
    }

    #[inline(always)]
    unsafe fn look_up(self, table: *const u8, from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's promise; the token proves that the machine has AVX-512.
        unsafe {
            match bytes::has_vbmi() {
                true => bytes::look_up_vbmi(table, from, to, count),
                false => bytes::look_up_words(table, from, to, count),
            }
        }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn load_int(self, from: *const i32) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_epi32(from) }
    }

    #[inline(always)]
    unsafe fn load_masked(self, from: *const f32, mask: __mmask16) -> __m512 {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe { _mm512_maskz_loadu_ps(mask, from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, a: __m512) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_ps(to, a) }
    }

    #[inline(always)]
    unsafe fn store_masked(self, to: *mut f32, mask: __mmask16, a: __m512) {
        // SAFETY: the caller's promise; masked lanes are not accessed.
        unsafe { _mm512_mask_storeu_ps(to, mask, a) }
    }
}
