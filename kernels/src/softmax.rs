//! Softmax of columns: along an axis that is not the last.
//!
//! The elements of a column are `columns` floats apart, and those of all columns of a block contiguous. Many
//! columns are computed a part at a time. Of few, a vector holds elements of several steps along the axis:
//! what is subtracted from it, and what it is divided by, is a pattern that repeats after a multiple of both
//! `columns` and 16 floats.

use std::ops::Range;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::isa::Isa;
use crate::map::{FunctionCode, MapBody, ScalarFunction, apply};
use crate::simd::Simd;

/// The most columns that are computed together.
const MOST_COLUMNS: usize = 1024;
/// Columns below which a vector may hold several steps.
const FEW_COLUMNS: usize = 64;
/// Floats of the longest pattern: 63 columns in vectors of 16.
const MOST_PATTERN: usize = (FEW_COLUMNS - 1) * LANES;
/// The most lanes of a vector.
const LANES: usize = 16;
/// About as many floats stay in the first-level cache between the difference and its power.
const STRIP: usize = 2048;
/// A part has at least this many floats, so that its work exceeds the cost of handing it out.
const MIN_PART: usize = 4096;

/// `e^(x - max) / sum of e^(x - max)` along the columns of `f32` blocks. Operands: `[out, x]`: both have
/// `blocks` blocks of `[size, columns]` floats. The powers of a column are added in their order; `out` may be
/// `x` itself, otherwise they do not overlap.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ColumnSoftmax {
    blocks: u64,
    size: u64,
    columns: u64,
    parts: u32,
    isa: Isa,
}

impl ColumnSoftmax {
    /// The kernel for blocks of `[size, columns]` floats.
    pub fn new(blocks: usize, [size, columns]: [usize; 2], isa: Isa, threads: usize) -> ColumnSoftmax {
        let worth = (blocks * size * columns).div_ceil(MIN_PART);
        let pieces = blocks * columns.div_ceil(MOST_COLUMNS);
        let parts = worth.min(pieces).min(threads * 4) as u32;
        let [blocks, size, columns] = [blocks, size, columns].map(|number| number as u64);
        ColumnSoftmax { blocks, size, columns, parts, isa }
    }
}

// SAFETY: three `u64` and two `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for ColumnSoftmax {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<ColumnSoftmax>(self.isa)
    }
}

impl KernelBody for ColumnSoftmax {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let [blocks, size, stride] = [self.blocks, self.size, self.columns].map(|number| number as usize);
        let of_block = stride.div_ceil(MOST_COLUMNS);
        for number in piece(blocks * of_block, self.parts as usize, part as usize) {
            let column = number % of_block * MOST_COLUMNS;
            let first = number / of_block * size * stride + column;
            let columns = MOST_COLUMNS.min(stride - column);
            // SAFETY: the operands have the extents that the descriptor was made for, and parts write
            // disjoint columns.
            unsafe {
                let x = operands.get::<f32>(1).cast_const().add(first);
                let out = operands.get::<f32>(0).add(first);
                ColumnBlock { out, x, size, columns, stride }.run(s);
            }
        }
    }
}

/// Columns that are computed together, and the distance between their steps.
#[derive(Clone, Copy)]
struct ColumnBlock {
    out: *mut f32,
    x: *const f32,
    size: usize,
    columns: usize,
    stride: usize,
}

impl ColumnBlock {
    /// # Safety
    /// `x` is valid for reads and `out` for writes of the block; they are the same or do not overlap.
    #[inline(always)]
    unsafe fn run<S: Simd>(self, s: S) {
        let written = ColumnBlock { x: self.out, ..self };
        let exp = FunctionCode::from(ScalarFunction::Exp);
        let strip = if self.is_contiguous() { (STRIP / self.columns).max(1) } else { 1 };
        // SAFETY: the caller's promise.
        unsafe {
            let largest = self.folded(s, f32::NEG_INFINITY, |largest, x| s.max(x, largest));
            for first in (0..self.size).step_by(strip) {
                let part = self.steps(first..self.size.min(first + strip));
                part.combine(s, &largest, |x, largest| s.sub(x, largest));
                apply::<S>(MapBody { code: exp, from: part.out, to: part.out, n: part.size * part.columns });
            }
            let sums = written.folded(s, 0.0, |sum, power| s.add(sum, power));
            written.combine(s, &sums, |power, sum| s.div(power, sum));
        }
    }

    #[inline(always)]
    fn is_contiguous(self) -> bool {
        self.columns == self.stride
    }

    /// Some steps along the axis.
    ///
    /// # Safety
    /// The block has them.
    #[inline(always)]
    unsafe fn steps(self, steps: Range<usize>) -> ColumnBlock {
        let first = steps.start * self.stride;
        // SAFETY: the caller's promise.
        unsafe { ColumnBlock { out: self.out.add(first), x: self.x.add(first), size: steps.len(), ..self } }
    }

    /// Folds each column of `x` in its order.
    ///
    /// # Safety
    /// The block is valid for reads.
    #[inline(always)]
    unsafe fn folded<S: Simd>(
        self,
        s: S,
        start: f32,
        fold: impl Fn(S::F, S::F) -> S::F,
    ) -> [f32; MOST_COLUMNS] {
        let mut folded = [0.0; MOST_COLUMNS];
        for column in (0..self.columns).step_by(S::LANES) {
            let left = self.columns - column;
            let mut value = s.splat(start);
            // SAFETY: the caller's promise.
            unsafe {
                for step in 0..self.size {
                    value = fold(value, s.load_first(self.x.add(step * self.stride + column), left));
                }
                s.store_first(folded.as_mut_ptr().add(column), left, value);
            }
        }
        folded
    }

    /// Combines each element of `x` with its column's value.
    ///
    /// # Safety
    /// The block is valid for reads and writes.
    #[inline(always)]
    unsafe fn combine<S: Simd>(
        self,
        s: S,
        of_columns: &[f32; MOST_COLUMNS],
        combine: impl Fn(S::F, S::F) -> S::F + Copy,
    ) {
        if self.columns >= FEW_COLUMNS || !self.is_contiguous() {
            for step in 0..self.size {
                // SAFETY: the block has this step.
                unsafe { self.steps(step..step + 1).combine_all(s, &of_columns[..self.columns], combine) };
            }
            return;
        }
        let common = 1 << self.columns.trailing_zeros().min(LANES.trailing_zeros());
        let steps = LANES / common;
        let mut pattern = [0.0; MOST_PATTERN];
        for (at, value) in pattern[..steps.min(self.size) * self.columns].iter_mut().enumerate() {
            *value = of_columns[at % self.columns];
        }
        for first in (0..self.size).step_by(steps) {
            let steps = first..self.size.min(first + steps);
            let values = &pattern[..steps.len() * self.columns];
            // SAFETY: the block has these steps.
            unsafe { self.steps(steps).combine_all(s, values, combine) };
        }
    }

    /// Combines each element of `x` with a value of its own.
    ///
    /// # Safety
    /// The block is valid for reads and writes, and has as many elements as there are values.
    #[inline(always)]
    unsafe fn combine_all<S: Simd>(self, s: S, values: &[f32], combine: impl Fn(S::F, S::F) -> S::F) {
        for at in (0..values.len()).step_by(S::LANES) {
            let left = values.len() - at;
            // SAFETY: the caller's promise.
            unsafe {
                let value = s.load_first(values.as_ptr().add(at), left);
                let combined = combine(s.load_first(self.x.add(at), left), value);
                s.store_first(self.out.add(at), left, combined);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::scalar;

    /// The kernel's results in `out`, which holds the operand itself if it is not given apart.
    pub(crate) fn run(kernel: &impl Kernel, mut out: Vec<f32>, x: Option<&[f32]>) -> Vec<f32> {
        out.push(7.0);
        let from = x.map_or(out.as_mut_ptr(), |x| x.as_ptr().cast_mut());
        let operands: [*mut u8; 2] = [out.as_mut_ptr().cast(), from.cast()];
        // The last part first, so that writes past a part's end are seen.
        for part in (0..kernel.parts()).rev() {
            // SAFETY: the operands have the extents that the kernel was made for; no scratch is used.
            unsafe {
                kernel.entry()(kernel.as_bytes().as_ptr(), operands.as_ptr(), part, std::ptr::null_mut());
            }
        }
        assert_eq!(out.pop(), Some(7.0), "it writes past the end");
        out
    }

    /// The results by the definition.
    fn plain(kernel: &ColumnSoftmax, x: &[f32]) -> Vec<f32> {
        let [size, columns] = [kernel.size, kernel.columns].map(|number| number as usize);
        let mut out = x.to_vec();
        for block in out.chunks_exact_mut((size * columns).max(1)) {
            for column in 0..columns {
                let places = || (0..size).map(|step| step * columns + column);
                let largest = places().map(|at| block[at]).fold(f32::NEG_INFINITY, f32::max);
                places().for_each(|at| block[at] = scalar::exp(block[at] - largest));
                let sum: f32 = places().map(|at| block[at]).fold(0.0, |sum, power| sum + power);
                places().for_each(|at| block[at] /= sum);
            }
        }
        out
    }

    fn check(blocks: usize, sizes: [usize; 2]) {
        for isa in Isa::available() {
            for threads in [1, 3] {
                let kernel = ColumnSoftmax::new(blocks, sizes, isa, threads);
                let count = blocks * sizes[0] * sizes[1];
                let x: Vec<f32> = (0..count).map(|at| (at * 37 % 101) as f32 / 3.0 - 20.3).collect();
                let expected = plain(&kernel, &x);
                let apart = run(&kernel, vec![f32::NAN; count], Some(&x));
                for found in [apart, run(&kernel, x.clone(), None)] {
                    let same = found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same, "{found:?} for {expected:?}: {kernel:?}");
                }
            }
        }
    }

    #[test]
    fn columns_are_those_of_the_plain_loop_to_the_bit() {
        let all: Vec<usize> =
            if cfg!(miri) { vec![1, 3, 20] } else { (1..130).chain([300, 1024, 1025, 2100]).collect() };
        for columns in all {
            for size in [1, 2, 7, 16, 70] {
                check(1 + columns % 5, [size, columns]);
            }
        }
        check(if cfg!(miri) { 3 } else { 300 }, [5, 4]);
    }

    #[test]
    fn nothing_of_no_elements_is_written() {
        check(0, [3, 4]);
        check(3, [0, 4]);
    }

    #[test]
    fn a_column_of_which_an_element_is_not_a_number_is_none_and_its_neighbours_are_whole() {
        for isa in Isa::available() {
            let kernel = ColumnSoftmax::new(1, [5, 3], isa, 1);
            for odd in [f32::NAN, f32::INFINITY] {
                let mut x = vec![1.0; 15];
                x[7] = odd;
                let found = run(&kernel, vec![0.0; x.len()], Some(&x));
                for (at, found) in found.into_iter().enumerate() {
                    if at % 3 == 1 { assert!(found.is_nan(), "{at}") } else { assert_eq!(found, 0.2) }
                }
            }
        }
    }
}
