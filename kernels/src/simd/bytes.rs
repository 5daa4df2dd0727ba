//! Lookup of bytes in tables of 256, for each instruction set.
//!
//! ```text
//! portable   byte by byte                                          3 bytes in a nanosecond
//! AVX2       16 tables of 16 bytes, their answers joined           8
//! AVX-512    2 tables of 64 words, for even and odd bytes         19
//! VBMI       2 tables of 128 bytes                                60
//! ```
//! The speeds were measured on a Zen 4, with bytes in the first-level cache; all give the same bytes.
//!
//! The functions share a contract: `table` is valid for reads of 256 bytes, `from` of `count`, and `to` for
//! writes of `count`. `from` and `to` are the same or do not overlap; the table does not overlap with `to`.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// `to[i] = table[from[i]]`.
///
/// # Safety
/// The contract at the top of this file.
#[inline(always)]
pub(super) unsafe fn look_up(table: *const u8, from: *const u8, to: *mut u8, count: usize) {
    for at in 0..count {
        // SAFETY: the caller's promise; a byte is less than 256.
        unsafe { *to.add(at) = *table.add(usize::from(*from.add(at))) }
    }
}

/// The same with AVX2, whose table lookup has 16 bytes, and gives 0 for an index with the highest bit set.
///
/// 16 is subtracted repeatedly, saturating. A byte `x` below 128 is looked up in the tables 0 to `x / 16`,
/// always at `x % 16`, until it is negative. Each table holds the exclusive or of its part of the whole table
/// and the part before, so the exclusive or of all answers is the result. The upper half works the same way
/// with the highest bit flipped.
///
/// # Safety
/// The contract at the top of this file; the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn look_up_avx2(table: *const u8, from: *const u8, to: *mut u8, count: usize) {
    /// Bytes at once.
    const STEP: usize = 32;
    // SAFETY: the caller's promise; whole vectors end before `count`.
    unsafe {
        let whole = count / STEP * STEP;
        let part =
            |number: usize| _mm256_broadcastsi128_si256(_mm_loadu_si128(table.add(16 * number).cast()));
        let tables: [__m256i; 16] = std::array::from_fn(|number| match number % 8 {
            0 => part(number),
            _ => _mm256_xor_si256(part(number), part(number - 1)),
        });
        let sixteen = _mm256_set1_epi8(16);
        for at in (0..whole).step_by(STEP) {
            let mut lower = _mm256_loadu_si256(from.add(at).cast());
            let mut upper = _mm256_xor_si256(lower, _mm256_set1_epi8(-128));
            let mut found = _mm256_setzero_si256();
            for number in 0..8 {
                let low = _mm256_shuffle_epi8(tables[number], lower);
                let high = _mm256_shuffle_epi8(tables[number + 8], upper);
                found = _mm256_xor_si256(found, _mm256_xor_si256(low, high));
                lower = _mm256_subs_epi8(lower, sixteen);
                upper = _mm256_subs_epi8(upper, sixteen);
            }
            _mm256_storeu_si256(to.add(at).cast(), found);
        }
        look_up(table, from.add(whole), to.add(whole), count - whole);
    }
}

/// Applies a function of 64 bytes, and of fewer at the end.
#[cfg(target_arch = "x86_64")]
macro_rules! sixty_fours {
    ($from:ident, $to:ident, $count:ident, |$x:ident| $value:expr) => {
        let mut at = 0;
        while at < $count {
            let mask = if $count - at >= 64 { u64::MAX } else { (1 << ($count - at)) - 1 };
            let $x = _mm512_maskz_loadu_epi8(mask, $from.add(at).cast());
            _mm512_mask_storeu_epi8($to.add(at).cast(), mask, $value);
            at += 64;
        }
    };
}

/// The same with AVX-512, whose tables have 64 words: a byte's seven upper bits are the index of a word, and
/// its lowest bit selects the half.
///
/// # Safety
/// The contract at the top of this file; the machine has AVX-512 F and BW.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn look_up_words(table: *const u8, from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: the caller's promise; masked bytes are not accessed.
    unsafe {
        let [a, b, c, d] = [0, 64, 128, 192].map(|at| _mm512_loadu_epi8(table.add(at).cast()));
        // Only the six low bits of an index count.
        let word = |index, is_upper| {
            let lower = _mm512_permutex2var_epi16(a, index, b);
            _mm512_mask_mov_epi16(lower, is_upper, _mm512_permutex2var_epi16(c, index, d))
        };
        let eight = _mm512_set1_epi16(8);
        sixty_fours!(from, to, count, |x| {
            // The even bytes are the low halves of words, and so are their results.
            let is_upper = _mm512_test_epi16_mask(x, _mm512_set1_epi16(0x80));
            let even = word(_mm512_srli_epi16::<1>(x), is_upper);
            let even = _mm512_srlv_epi16(even, _mm512_and_si512(_mm512_slli_epi16::<3>(x), eight));
            let odd = word(_mm512_srli_epi16::<9>(x), _mm512_movepi16_mask(x));
            let odd = _mm512_sllv_epi16(odd, _mm512_andnot_si512(_mm512_srli_epi16::<5>(x), eight));
            _mm512_mask_mov_epi8(even, 0xaaaa_aaaa_aaaa_aaaa, odd)
        });
    }
}

/// Whether this machine has AVX-512 VBMI. Machine code for object files does not ask, since the answer would
/// be cached in static memory.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn has_vbmi() -> bool {
    cfg!(not(optc_object)) && is_x86_feature_detected!("avx512vbmi")
}

/// The same with AVX-512 VBMI, whose tables have 128 bytes.
///
/// # Safety
/// The contract at the top of this file; the machine has AVX-512 F, BW and VBMI.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn look_up_vbmi(table: *const u8, from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: the caller's promise; masked bytes are not accessed.
    unsafe {
        let [a, b, c, d] = [0, 64, 128, 192].map(|at| _mm512_loadu_epi8(table.add(at).cast()));
        sixty_fours!(from, to, count, |x| {
            let lower = _mm512_permutex2var_epi8(a, x, b);
            let upper = _mm512_permutex2var_epi8(c, x, d);
            _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(x), upper)
        });
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;
    use crate::isa::Isa;

    type Way = unsafe fn(*const u8, *const u8, *mut u8, usize);

    /// The implementations that this machine can run, by name.
    fn ways() -> Vec<(&'static str, Way)> {
        let mut ways: Vec<(&'static str, Way)> = vec![("portable", look_up)];
        let available = Isa::available();
        if available.contains(&Isa::Avx2) {
            ways.push(("avx2", look_up_avx2));
        }
        if available.contains(&Isa::Avx512) {
            ways.push(("avx512", look_up_words));
            if has_vbmi() {
                ways.push(("vbmi", look_up_vbmi));
            }
        }
        ways
    }

    #[test]
    fn every_way_finds_every_byte_at_every_place_of_a_vector() {
        let table: Vec<u8> = (0..=255u8).map(|byte| byte.wrapping_mul(167) ^ 0x5a).collect();
        for (name, way) in ways() {
            for first in 0..=255u8 {
                let x: Vec<u8> =
                    (0..256 + 64).map(|at| (at as u8).wrapping_mul(3).wrapping_add(first)).collect();
                let mut out = vec![0; x.len()];
                // SAFETY: the slices have these sizes, and the machine has the instructions.
                unsafe { way(table.as_ptr(), x.as_ptr(), out.as_mut_ptr(), x.len()) }
                let expected: Vec<u8> = x.iter().map(|byte| table[usize::from(*byte)]).collect();
                assert_eq!(out, expected, "{name}");
            }
        }
    }

    #[test]
    #[ignore = "a measurement: cargo test --release -p optc-kernels look_up_speed -- --ignored --nocapture"]
    fn look_up_speed() {
        let table: Vec<u8> = (0..=255u8).rev().collect();
        for count in [4096usize, 1 << 16, 1 << 20, 1 << 24] {
            let x: Vec<u8> =
                (0..count as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect();
            let mut out = vec![0u8; count];
            for (name, way) in ways() {
                let runs = ((1 << 22) / count).max(1);
                let best = (0..15).map(|_| {
                    let start = std::time::Instant::now();
                    for _ in 0..runs {
                        // SAFETY: the slices have these sizes, and the machine has the instructions.
                        unsafe {
                            way(table.as_ptr(), x.as_ptr(), std::hint::black_box(out.as_mut_ptr()), count)
                        }
                    }
                    start.elapsed().as_nanos() as f64
                });
                let speed = (runs * count) as f64 / best.fold(f64::INFINITY, f64::min);
                println!("{count:9} bytes, {name:8}: {speed:5.1} bytes/ns");
            }
        }
    }
}
