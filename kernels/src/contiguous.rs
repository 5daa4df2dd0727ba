//! Sums and maps of contiguous elements.
//!
//! Sums have a fixed order: element `k` is added to accumulator `k` modulo their number, and in the end one
//! half of the accumulators is added to the other until one is left. So the bits are the same on any
//! instruction set.

use crate::bf16::Numbers;
use crate::simd::Simd;

/// The most lanes of a vector.
const MOST_LANES: usize = 16;
/// Accumulators of the sum of a row.
const ACCUMULATORS: usize = 64;
/// The greatest number of vectors for them.
const MOST_VECTORS: usize = ACCUMULATORS / 8;

/// The numbers of the lanes.
static LANES: [f32; MOST_LANES] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];

/// The first `count` lanes of `a`, and the others of `b`.
#[inline(always)]
pub(crate) fn first_lanes<S: Simd>(s: S, count: usize, a: S::F, b: S::F) -> S::F {
    // SAFETY: there are at least as many numbers as lanes.
    let lanes = unsafe { s.load(LANES.as_ptr()) };
    s.select_gt(s.splat(count.min(MOST_LANES) as f32), lanes, a, b)
}

/// Joins accumulators, a power of two of vectors, with an operation whose operands may change places.
#[inline(always)]
pub(crate) fn join<S: Simd, const VECTORS: usize>(
    s: S,
    mut values: [S::F; VECTORS],
    vectors: usize,
    join: impl Fn(S::F, S::F) -> S::F,
) -> f32 {
    let mut left = vectors;
    while left > 1 {
        left /= 2;
        for number in 0..left {
            values[number] = join(values[number], values[number + left]);
        }
    }
    let mut value = values[0];
    let mut apart = S::LANES / 2;
    while apart > 0 {
        let mut lanes = [0_i32; MOST_LANES];
        for (lane, from) in lanes.iter_mut().enumerate() {
            *from = (lane ^ apart) as i32;
        }
        // SAFETY: there are at least as many numbers as lanes.
        value = join(value, s.permute(value, unsafe { s.load_int(lanes.as_ptr()) }));
        apart /= 2;
    }
    let mut first = [0.0; MOST_LANES];
    // SAFETY: there are at least as many floats as lanes.
    unsafe { s.store(first.as_mut_ptr(), value) };
    first[0]
}

/// The summand of a sum over a row.
pub(crate) trait RowSummand {
    /// A sum with one more element of each lane.
    fn add<S: Simd>(s: S, sum: S::F, x: S::F, centre: S::F) -> S::F;
}

/// The elements.
pub(crate) struct RowValues;

impl RowSummand for RowValues {
    #[inline(always)]
    fn add<S: Simd>(s: S, sum: S::F, x: S::F, _: S::F) -> S::F {
        s.add(sum, x)
    }
}

/// The squares of the deviations from the centre.
pub(crate) struct RowSquares;

impl RowSummand for RowSquares {
    #[inline(always)]
    fn add<S: Simd>(s: S, sum: S::F, x: S::F, centre: S::F) -> S::F {
        let deviation = s.sub(x, centre);
        s.mul_add(deviation, deviation, sum)
    }
}

/// The sum over a row: element `k` is added to accumulator `k mod 64`.
///
/// # Safety
/// `x` is valid for `count` elements.
#[inline(always)]
pub(crate) unsafe fn sum_row<S: Simd, T: RowSummand>(s: S, x: Numbers, count: usize, centre: f32) -> f32 {
    let middle = s.splat(centre);
    let vectors = ACCUMULATORS / S::LANES;
    let whole = count - count % ACCUMULATORS;
    let mut sums = [s.splat(0.0); MOST_VECTORS];
    // SAFETY: the caller's promise.
    unsafe {
        for first in (0..whole).step_by(ACCUMULATORS) {
            for (number, sum) in sums.iter_mut().enumerate().take(vectors) {
                *sum = T::add(s, *sum, x.load(s, first + number * S::LANES, S::LANES), middle);
            }
        }
        for (number, sum) in sums.iter_mut().enumerate().take(vectors) {
            let first = whole + number * S::LANES;
            if first >= count {
                break;
            }
            let added = T::add(s, *sum, x.load(s, first, count - first), middle);
            *sum = if count - first >= S::LANES { added } else { first_lanes(s, count - first, added, *sum) };
        }
    }
    join(s, sums, vectors, |a, b| s.add(a, b))
}

/// A function of the elements of a row, which may be written where they are read.
pub(crate) trait RowMap<S: Simd> {
    /// The results for `count` elements from `first` on; as many as a vector has lanes, or fewer.
    ///
    /// # Safety
    /// The row has these elements.
    unsafe fn vector(&self, s: S, first: usize, count: usize) -> S::F;

    /// Writes the results for `count` elements from `first` on.
    ///
    /// # Safety
    /// The row has these elements.
    unsafe fn store(&self, s: S, first: usize, count: usize, results: S::F);
}

/// Maps a row of `count` elements. The last vector ends where the row ends, if the row is as long as one:
/// with masked stores at the ends, rows in place take up to twice the time (softmax of rows of 49, Zen 4).
///
/// # Safety
/// The row has these elements.
#[inline(always)]
pub(crate) unsafe fn map_row<S: Simd>(s: S, count: usize, row: &impl RowMap<S>) {
    let whole = count - count % S::LANES;
    // SAFETY: the caller's promise.
    unsafe {
        if whole == 0 {
            return row.store(s, 0, count, row.vector(s, 0, count));
        }
        let last = count - S::LANES;
        // It is read before its first elements are written.
        let last_vector = row.vector(s, last, S::LANES);
        for first in (0..whole).step_by(S::LANES) {
            row.store(s, first, S::LANES, row.vector(s, first, S::LANES));
        }
        if whole < count {
            row.store(s, last, S::LANES, last_vector);
        }
    }
}
