//! Online softmax: turns a block of scores into powers of e, normalized only at the end.
//!
//! Each row has a running maximum and a running sum of `e^(score - maximum)`. Score `k` of a block is added
//! to accumulator `k mod 16`; a tree of halves adds up the accumulators. If all scores of a row so far are
//! -infinity, its powers are zero, not NaN, since a later block may have larger scores.

use crate::simd::{Lanewise, Several, Simd};
use crate::{math, scalar};

/// Accumulators of a sum.
const ACCUMULATORS: usize = 16;
/// Powers of e with this exponent or less become zero, as do all denormal results: next to the 1 of the
/// largest score they add nothing.
const LEAST: f32 = -104.0;

/// Each row's running maximum and sum of powers.
#[derive(Clone, Copy)]
pub(crate) struct SoftmaxState {
    pub(crate) largest: *mut f32,
    pub(crate) sums: *mut f32,
}

/// Whether a block is the first of its row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockTurn {
    /// The first block.
    First,
    /// A later block.
    Later,
}

/// How to rescale the earlier blocks' results, since the maximum may have grown.
pub(crate) enum Rescale {
    /// Not at all.
    Keep,
    /// By a factor.
    By(f32),
}

/// Turns `count` scores of row `row` into powers of e, and adds them to its state.
///
/// # Safety
/// `scores` is valid for `count` floats rounded up to 16, and the state for the row. For a later block, the
/// state is the previous block's.
#[inline(always)]
pub(crate) unsafe fn soften<S: Simd>(
    s: S,
    scores: *mut f32,
    count: usize,
    turn: BlockTurn,
    state: SoftmaxState,
    row: usize,
) -> Rescale {
    let padded = count.next_multiple_of(ACCUMULATORS);
    // SAFETY: the caller's promise.
    unsafe {
        let (largest, sum) = (state.largest.add(row), state.sums.add(row));
        (count..padded).for_each(|at| *scores.add(at) = f32::NEG_INFINITY);
        let before = if turn == BlockTurn::First { f32::NEG_INFINITY } else { *largest };
        let most = scalar::max(largest_of(s, scores, padded), before);
        // A difference of two -infinities would be NaN.
        let base = if most == f32::NEG_INFINITY { 0.0 } else { most };
        let added = powers(s, scores, padded, base);
        *largest = most;
        if turn == BlockTurn::First {
            *sum = added;
            return Rescale::Keep;
        }
        let factor = scalar::exp(before - base);
        *sum = (*sum).mul_add(factor, added);
        if factor == 1.0 { Rescale::Keep } else { Rescale::By(factor) }
    }
}

/// The largest score, ignoring NaNs.
#[inline(always)]
unsafe fn largest_of<S: Simd>(s: S, scores: *const f32, padded: usize) -> f32 {
    let mut largest = s.splat(f32::NEG_INFINITY);
    let mut lanes = [f32::NEG_INFINITY; ACCUMULATORS];
    // SAFETY: the caller's promise; a vector has at most 16 lanes.
    unsafe {
        for at in (0..padded).step_by(S::LANES) {
            largest = s.max(s.load(scores.add(at)), largest);
        }
        s.store(lanes.as_mut_ptr(), largest);
    }
    lanes.into_iter().fold(f32::NEG_INFINITY, |largest, x| scalar::max(x, largest))
}

/// `e^(score - base)`.
#[inline(always)]
fn power<S: Lanewise>(s: S, scores: S::F, base: f32) -> S::F {
    math::exp_or_zero(s, s.max(s.splat(LEAST), s.sub(scores, s.splat(base))))
}

/// Replaces each score by `e^(score - base)` and returns the sum.
#[inline(always)]
unsafe fn powers<S: Simd>(s: S, scores: *mut f32, padded: usize, base: f32) -> f32 {
    let vectors = ACCUMULATORS / S::LANES;
    let mut sums = [s.splat(0.0); 2];
    let mut lanes = [0.0; ACCUMULATORS];
    let mut at = 0;
    // SAFETY: the caller's promise; one or two vectors have 16 lanes.
    unsafe {
        while at + Several::<S>::LANES <= padded {
            let several = Several(s);
            let powers = power(several, several.load(scores.add(at)), base);
            several.store(scores.add(at), powers);
            for (number, power) in powers.into_iter().enumerate() {
                sums[number % vectors] = s.add(sums[number % vectors], power);
            }
            at += Several::<S>::LANES;
        }
        while at < padded {
            let power = power(s, s.load(scores.add(at)), base);
            s.store(scores.add(at), power);
            let sum = &mut sums[at / S::LANES % vectors];
            *sum = s.add(*sum, power);
            at += S::LANES;
        }
        for (number, sum) in sums.into_iter().enumerate().take(vectors) {
            s.store(lanes.as_mut_ptr().add(number * S::LANES), sum);
        }
    }
    let mut count = ACCUMULATORS;
    while count > 1 {
        count /= 2;
        for lane in 0..count {
            lanes[lane] += lanes[lane + count];
        }
    }
    lanes[0]
}

/// Multiplies a row.
///
/// # Safety
/// `row` is valid for `count` floats.
#[inline(always)]
pub(crate) unsafe fn scale_row<S: Simd>(s: S, row: *mut f32, count: usize, factor: f32) {
    let factor = s.splat(factor);
    for at in (0..count).step_by(S::LANES) {
        // SAFETY: the caller's promise.
        unsafe {
            s.store_first(row.add(at), count - at, s.mul(s.load_first(row.add(at), count - at), factor))
        }
    }
}

/// Divides a row by its sum, or fills it with zeros if there is none.
///
/// # Safety
/// `row` is valid for `count` floats.
#[inline(always)]
pub(crate) unsafe fn divide_row<S: Simd>(s: S, row: *mut f32, count: usize, sum: Option<f32>) {
    for at in (0..count).step_by(S::LANES) {
        // SAFETY: the caller's promise.
        unsafe {
            let value = match sum {
                Some(sum) => s.div(s.load_first(row.add(at), count - at), s.splat(sum)),
                None => s.splat(0.0),
            };
            s.store_first(row.add(at), count - at, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;
    use crate::simd::{Avx2, Avx512, Portable, Task};

    /// A row of scores that is one block.
    struct Row {
        scores: *mut f32,
        count: usize,
        state: SoftmaxState,
    }

    impl<S: Simd> Task<S> for Row {
        #[inline(always)]
        unsafe fn run(self, s: S) {
            // SAFETY: the caller's promise.
            unsafe { soften(s, self.scores, self.count, BlockTurn::First, self.state, 0) };
        }
    }

    /// The sum by its definition: score `k` is added to accumulator `k mod 16`; then a tree of halves adds
    /// them up.
    fn sum(powers: &[f32]) -> f32 {
        let mut accumulators = [0.0; ACCUMULATORS];
        for (k, power) in powers.iter().enumerate() {
            accumulators[k % ACCUMULATORS] += power;
        }
        let mut count = ACCUMULATORS;
        while count > 1 {
            count /= 2;
            for lane in 0..count {
                accumulators[lane] += accumulators[lane + count];
            }
        }
        accumulators[0]
    }

    #[test]
    fn powers_and_their_sum_have_the_bits_of_the_definition_at_every_count() {
        for count in if cfg!(miri) { 30..36_usize } else { 1..200 } {
            let x: Vec<f32> = (0..count).map(|k| -((k * 37 % 101) as f32) * 0.31).collect();
            let most = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f32> = x.iter().map(|x| scalar::exp(x - most)).collect();
            for isa in Isa::available() {
                let mut scores = x.clone();
                scores.resize(count.next_multiple_of(ACCUMULATORS), 0.0);
                let [mut largest, mut total] = [0.0; 2];
                let state = SoftmaxState { largest: &raw mut largest, sums: &raw mut total };
                let row = Row { scores: scores.as_mut_ptr(), count, state };
                // SAFETY: the machine has the instructions; the scores are padded.
                unsafe {
                    match isa {
                        Isa::Avx512 => Avx512::vectorize(row),
                        Isa::Avx2 => Avx2::vectorize(row),
                        Isa::Scalar | Isa::Aarch64 => Portable::vectorize(row),
                    }
                }
                assert_eq!((largest, total), (most, sum(&powers)), "{count} scores, {isa:?}");
                assert_eq!(scores[..count], powers, "{count} scores, {isa:?}");
            }
        }
    }
}
