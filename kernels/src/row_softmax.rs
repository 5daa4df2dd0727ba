//! Softmax of contiguous rows.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::contiguous::{RowMap, first_lanes, join, map_row};
use crate::isa::Isa;
use crate::map::{FunctionCode, MapBody, ScalarFunction, apply};
use crate::simd::Simd;

/// Accumulators of a row's sum.
const ACCUMULATORS: usize = 16;
/// The greatest number of vectors for them.
const MOST_VECTORS: usize = ACCUMULATORS / 8;
/// About as many floats stay in the first-level cache between the difference and the quotient.
const STRIP: usize = 2048;
/// A part has at least this many floats, so that its work exceeds the cost of handing it out.
const MIN_PART: usize = 4096;

/// `e^(x - max) / sum of e^(x - max)` of each row. Operands: `[out, x]`: both have `rows` rows of `size`
/// contiguous floats. Power `k` of a row is added to accumulator `k mod 16`, and one half of the accumulators
/// to the other; `out` may be `x` itself, otherwise they do not overlap.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RowSoftmax {
    rows: u64,
    size: u64,
    parts: u32,
    isa: Isa,
}

impl RowSoftmax {
    /// The kernel for `rows` rows of `size` floats.
    pub fn new(rows: usize, size: usize, isa: Isa, threads: usize) -> RowSoftmax {
        let worth = (rows * size).div_ceil(MIN_PART);
        let parts = worth.min(rows).min(threads * 4) as u32;
        RowSoftmax { rows: rows as u64, size: size as u64, parts, isa }
    }
}

// SAFETY: two `u64` and two `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for RowSoftmax {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<RowSoftmax>(self.isa)
    }
}

impl KernelBody for RowSoftmax {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let size = self.size as usize;
        let rows = piece(self.rows as usize, self.parts as usize, part as usize);
        let strip = (STRIP / size.max(1)).max(1);
        let exp = FunctionCode::from(ScalarFunction::Exp);
        for first in rows.clone().step_by(strip) {
            let rows = first..rows.end.min(first + strip);
            let row = |row: usize| {
                // SAFETY: the operands have the extents that the descriptor was made for.
                let [out, x] = [0, 1].map(|index| unsafe { operands.get::<f32>(index).add(row * size) });
                Row { out, x: x.cast_const(), size }
            };
            // SAFETY: parts write disjoint rows.
            unsafe {
                for number in rows.clone() {
                    row(number).subtract_largest(s);
                }
                let powers = row(first).out;
                apply::<S>(MapBody { code: exp, from: powers, to: powers, n: rows.len() * size });
                for number in rows {
                    row(number).divide_by_sum(s);
                }
            }
        }
    }
}

/// A row.
#[derive(Clone, Copy)]
struct Row {
    out: *mut f32,
    x: *const f32,
    size: usize,
}

impl Row {
    /// Writes each element of `x` less the largest.
    ///
    /// # Safety
    /// `x` is valid for reads and `out` for writes of the row; they are the same or do not overlap.
    #[inline(always)]
    unsafe fn subtract_largest<S: Simd>(self, s: S) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut largest = s.splat(f32::NEG_INFINITY);
            for at in (0..self.size).step_by(S::LANES) {
                let left = self.size - at;
                let larger = s.max(s.load_first(self.x.add(at), left), largest);
                largest = if left >= S::LANES { larger } else { first_lanes(s, left, larger, largest) };
            }
            let largest = s.splat(join(s, [largest], 1, |a, b| s.max(a, b)));
            map_row(s, self.size, &Differences { row: self, largest });
        }
    }

    /// Divides each element of `out` by their sum.
    ///
    /// # Safety
    /// `out` is valid for reads and writes of the row.
    #[inline(always)]
    unsafe fn divide_by_sum<S: Simd>(self, s: S) {
        let vectors = ACCUMULATORS / S::LANES;
        let mut sums = [s.splat(0.0); MOST_VECTORS];
        // SAFETY: the caller's promise.
        unsafe {
            for first in (0..self.size).step_by(ACCUMULATORS) {
                for (number, sum) in sums.iter_mut().enumerate().take(vectors) {
                    let at = first + number * S::LANES;
                    let left = self.size.saturating_sub(at);
                    // What is not loaded is 0, and no sum is -0.
                    let power = if left == 0 { s.splat(0.0) } else { s.load_first(self.out.add(at), left) };
                    *sum = s.add(*sum, power);
                }
            }
            let sum = s.splat(join(s, sums, vectors, |a, b| s.add(a, b)));
            map_row(s, self.size, &Quotients { row: self, sum });
        }
    }
}

/// The elements of `x` less the largest.
struct Differences<S: Simd> {
    row: Row,
    largest: S::F,
}

impl<S: Simd> RowMap<S> for Differences<S> {
    #[inline(always)]
    unsafe fn vector(&self, s: S, first: usize, count: usize) -> S::F {
        // SAFETY: the caller's promise.
        s.sub(unsafe { s.load_first(self.row.x.add(first), count) }, self.largest)
    }

    #[inline(always)]
    unsafe fn store(&self, s: S, first: usize, count: usize, results: S::F) {
        // SAFETY: the caller's promise.
        unsafe { s.store_first(self.row.out.add(first), count, results) }
    }
}

/// The powers in `out`, divided by their sum.
struct Quotients<S: Simd> {
    row: Row,
    sum: S::F,
}

impl<S: Simd> RowMap<S> for Quotients<S> {
    #[inline(always)]
    unsafe fn vector(&self, s: S, first: usize, count: usize) -> S::F {
        // SAFETY: the caller's promise.
        s.div(unsafe { s.load_first(self.row.out.add(first), count) }, self.sum)
    }

    #[inline(always)]
    unsafe fn store(&self, s: S, first: usize, count: usize, results: S::F) {
        // SAFETY: the caller's promise.
        unsafe { s.store_first(self.row.out.add(first), count, results) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar;
    use crate::softmax::tests::run;

    /// The results by the definition.
    fn plain(kernel: &RowSoftmax, x: &[f32]) -> Vec<f32> {
        let mut out = x.to_vec();
        for row in out.chunks_exact_mut((kernel.size as usize).max(1)) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter_mut().for_each(|x| *x = scalar::exp(*x - largest));
            let mut sums = [0.0; ACCUMULATORS];
            row.iter().enumerate().for_each(|(at, power)| sums[at % ACCUMULATORS] += power);
            for half in [8, 4, 2, 1] {
                (0..half).for_each(|at| sums[at] += sums[at + half]);
            }
            row.iter_mut().for_each(|power| *power /= sums[0]);
        }
        out
    }

    fn check(rows: usize, size: usize) {
        for isa in Isa::available() {
            for threads in [1, 3] {
                let kernel = RowSoftmax::new(rows, size, isa, threads);
                // The largest element may be below 0, and anywhere.
                let x = (0..rows * size).map(|at| (at * 37 % 101) as f32 / 3.0 - 40.3);
                let x: Vec<f32> = x.collect();
                let expected = plain(&kernel, &x);
                let apart = run(&kernel, vec![f32::NAN; x.len()], Some(&x));
                for found in [apart, run(&kernel, x.clone(), None)] {
                    let same = found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same, "{found:?} for {expected:?}: {kernel:?}");
                }
            }
        }
    }

    #[test]
    fn rows_are_those_of_the_plain_loop_to_the_bit() {
        let sizes: Vec<usize> =
            if cfg!(miri) { vec![1, 9, 20] } else { (0..70).chain([100, 777, 2047, 2049, 5000]).collect() };
        for size in sizes {
            for rows in [0, 1, 3, 50] {
                check(rows, size);
            }
        }
        check(if cfg!(miri) { 3 } else { 9_000 }, 2);
    }

    #[test]
    fn a_row_of_which_an_element_is_not_a_number_is_none_and_its_neighbours_are_whole() {
        for isa in Isa::available() {
            for odd in [f32::NAN, f32::INFINITY] {
                for place in [20, 36] {
                    let kernel = RowSoftmax::new(3, 20, isa, 1);
                    let mut x = vec![1.0; 60];
                    x[place] = odd;
                    let found = run(&kernel, vec![0.0; x.len()], Some(&x));
                    for (at, found) in found.into_iter().enumerate() {
                        if at / 20 == 1 { assert!(found.is_nan(), "{at}") } else { assert_eq!(found, 0.05) }
                    }
                }
            }
        }
    }
}
