//! Sums and maps of contiguous elements.
//!
//! Sums have a fixed order: element `k` is added to accumulator `k` modulo their number, and in the end one
//! half of the accumulators is added to the other until one is left. So the bits are the same on any
//! instruction set.

use crate::simd::Simd;

/// The most lanes of a vector.
const MOST_LANES: usize = 16;

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

/// Maps a row of `count` elements, which may be written where they are read. `load` and `map` get the first
/// element of a vector and how many elements are left from there; `map` also gets what was loaded.
///
/// The last vector ends where the row ends, if the row is as long: a masked store would delay loads of the
/// next row, since the processor takes it to write a whole vector.
#[inline(always)]
pub(crate) fn map_row<S: Simd>(
    count: usize,
    load: impl Fn(usize, usize) -> S::F,
    map: impl Fn(usize, usize, S::F) -> S::F,
    store: impl Fn(usize, usize, S::F),
) {
    let whole = count - count % S::LANES;
    if whole == 0 {
        if count > 0 {
            store(0, count, map(0, count, load(0, count)));
        }
        return;
    }
    let last = count - S::LANES;
    let last_loaded = load(last, S::LANES);
    for first in (0..whole).step_by(S::LANES) {
        store(first, S::LANES, map(first, S::LANES, load(first, S::LANES)));
    }
    if whole < count {
        store(last, S::LANES, map(last, S::LANES, last_loaded));
    }
}
