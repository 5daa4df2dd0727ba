//! Transposes of squares of eight by eight elements of one or two bytes.

/// Rows and columns of a square.
pub(crate) const SQUARE: usize = 8;

/// Transposes a square of elements of one or two bytes: element `j` of row `i` becomes element `i` of row
/// `j`, the rows with these strides in elements.
///
/// # Safety
/// `from` is valid for reads of the rows, and `to` for writes; the two do not overlap. `T` has one or two
/// bytes.
#[inline(always)]
pub(crate) unsafe fn turn_small<T: Copy>(from: *const T, from_stride: isize, to: *mut T, to_stride: isize) {
    // SAFETY: the caller's promise; SSE2 is part of x86-64.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        match size_of::<T>() {
            1 => turn_bytes(from.cast(), from_stride, to.cast(), to_stride),
            _ => turn_halves(from.cast(), from_stride, to.cast(), to_stride),
        }
        #[cfg(not(target_arch = "x86_64"))]
        for row in 0..SQUARE as isize {
            for column in 0..SQUARE as isize {
                let element = from.offset(column * from_stride + row).read_unaligned();
                to.offset(row * to_stride + column).write_unaligned(element);
            }
        }
    }
}

/// [`turn_small`] of bytes.
///
/// # Safety
/// As there.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turn_bytes(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize) {
    use std::arch::x86_64::*;
    // SAFETY: the caller's promise; each row has eight bytes.
    unsafe {
        let row = |row: isize| _mm_loadl_epi64(from.offset(row * from_stride).cast());
        // Pairs, quads and then rows of all eight.
        let pairs = |first: isize| _mm_unpacklo_epi8(row(first), row(first + 1));
        let [a, b, c, d] = [pairs(0), pairs(2), pairs(4), pairs(6)];
        let halves = [
            [_mm_unpacklo_epi16(a, b), _mm_unpacklo_epi16(c, d)],
            [_mm_unpackhi_epi16(a, b), _mm_unpackhi_epi16(c, d)],
        ];
        for (half, [low, high]) in halves.into_iter().enumerate() {
            for (two, rows) in
                [_mm_unpacklo_epi32(low, high), _mm_unpackhi_epi32(low, high)].into_iter().enumerate()
            {
                let to = to.offset((4 * half + 2 * two) as isize * to_stride);
                _mm_storel_epi64(to.cast(), rows);
                _mm_storel_epi64(to.offset(to_stride).cast(), _mm_unpackhi_epi64(rows, rows));
            }
        }
    }
}

/// [`turn_small`] of words of two bytes.
///
/// # Safety
/// As there.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turn_halves(from: *const u16, from_stride: isize, to: *mut u16, to_stride: isize) {
    use std::arch::x86_64::*;
    // SAFETY: the caller's promise; each row has eight words.
    unsafe {
        let row = |row: isize| _mm_loadu_si128(from.offset(row * from_stride).cast());
        let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
        let [e, f, g, h] = [row(4), row(5), row(6), row(7)];
        // Pairs, quads and then rows of all eight.
        let pairs = [
            [
                _mm_unpacklo_epi16(a, b),
                _mm_unpacklo_epi16(c, d),
                _mm_unpacklo_epi16(e, f),
                _mm_unpacklo_epi16(g, h),
            ],
            [
                _mm_unpackhi_epi16(a, b),
                _mm_unpackhi_epi16(c, d),
                _mm_unpackhi_epi16(e, f),
                _mm_unpackhi_epi16(g, h),
            ],
        ];
        for (half, [ab, cd, ef, gh]) in pairs.into_iter().enumerate() {
            let quads = [
                [_mm_unpacklo_epi32(ab, cd), _mm_unpacklo_epi32(ef, gh)],
                [_mm_unpackhi_epi32(ab, cd), _mm_unpackhi_epi32(ef, gh)],
            ];
            for (two, [low, high]) in quads.into_iter().enumerate() {
                let to = to.offset((4 * half + 2 * two) as isize * to_stride);
                _mm_storeu_si128(to.cast(), _mm_unpacklo_epi64(low, high));
                _mm_storeu_si128(to.offset(to_stride).cast(), _mm_unpackhi_epi64(low, high));
            }
        }
    }
}
