//! Resampling: elements along an axis are replaced by weighted sums of some of them.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::isa::Isa;
use crate::simd::Simd;

/// A part writes at least this many floats, so that its work exceeds the cost of handing it out.
const MIN_PART: usize = 16_384;

/// `f32` sums along an axis. Operands: `[out, x, places, weights]`: `x` has `[outer, size]` slices of `inner`
/// floats, `out` has `[outer, count]`, in rows of `row` floats that begin `pitch` floats apart; places
/// (`i64`) and weights have `[taps, count]`. Slice `j` of `out` is the sum over `t` of `weights[t, j] *
/// x[places[t, j]]`, in that order, one fused multiply-add for each after the first. A place outside selects
/// the nearest slice; with a `size` of 0, sums are zero. `out` overlaps nothing.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Resample {
    outer: u64,
    size: u64,
    count: u64,
    inner: u64,
    taps: u64,
    row: u64,
    pitch: u64,
    parts: u32,
    isa: Isa,
}

impl Resample {
    /// The kernel for `outer` times `[size, count]` slices of `inner` floats.
    ///
    /// # Panics
    /// If there are no taps.
    pub fn new(
        outer: usize,
        [size, count]: [usize; 2],
        inner: usize,
        taps: usize,
        isa: Isa,
        threads: usize,
    ) -> Resample {
        assert!(taps > 0, "a sum of nothing");
        let worth = (outer * count * inner).div_ceil(MIN_PART);
        let parts = worth.min(outer * count).min(threads * 4) as u32;
        let [outer, size, count, inner, taps] = [outer, size, count, inner, taps].map(|number| number as u64);
        let row = outer * count * inner;
        Resample { outer, size, count, inner, taps, row, pitch: row, parts, isa }
    }

    /// The same kernel for an `out` in rows of `row` floats that begin `pitch` floats apart.
    ///
    /// # Panics
    /// Unless a row is a number of slices, or a slice a number of rows.
    pub fn in_rows(self, row: usize, pitch: usize) -> Resample {
        let [row, pitch] = [row, pitch].map(|number| number as u64);
        assert!(
            row > 0 && (self.inner.is_multiple_of(row) || row.is_multiple_of(self.inner)),
            "a row ends in a slice"
        );
        Resample { row, pitch, ..self }
    }
}

// SAFETY: seven `u64` and two `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for Resample {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Resample>(self.isa)
    }
}

impl KernelBody for Resample {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let [size, count, inner] = [self.size, self.count, self.inner].map(|number| number as usize);
        let [row, pitch] = [self.row, self.pitch].map(|number| number as usize);
        let slices = piece(self.outer as usize * count, self.parts as usize, part as usize);
        let run = row.min(inner).max(1);
        for number in slices {
            // SAFETY: the operands have the extents that the descriptor was made for; parts write disjoint
            // slices.
            unsafe {
                let x = operands.get::<f32>(1).cast_const().add(number / count * size * inner);
                let sum = Sum {
                    x,
                    inner,
                    last: size as i64 - 1,
                    places: operands.get::<i64>(2).cast_const().add(number % count),
                    weights: operands.get::<f32>(3).cast_const().add(number % count),
                    step: count,
                    taps: self.taps as usize,
                };
                for first in (0..inner).step_by(run) {
                    let at = number * inner + first;
                    let to = operands.get::<f32>(0).add(at / row * pitch + at % row);
                    let floats = Floats { first, count: run };
                    match (inner, sum.taps) {
                        _ if size == 0 => to.write_bytes(0, run),
                        (1, _) => *to = sum.single(),
                        (_, 2) => sum.slice_of_two(s, floats, to),
                        _ => sum.slice(s, floats, to),
                    }
                }
            }
        }
    }
}

/// Consecutive floats of a slice.
#[derive(Clone, Copy)]
struct Floats {
    first: usize,
    count: usize,
}

/// The sum for one slice.
#[derive(Clone, Copy)]
struct Sum {
    /// The slices that are added, each of `inner` floats.
    x: *const f32,
    inner: usize,
    /// The last slice.
    last: i64,
    /// The first place and weight, and the distance to the next.
    places: *const i64,
    weights: *const f32,
    step: usize,
    taps: usize,
}

impl Sum {
    /// The slice of a tap, and its weight.
    ///
    /// # Safety
    /// The tap is one of them.
    #[inline(always)]
    unsafe fn tap(&self, tap: usize) -> (*const f32, f32) {
        // SAFETY: the caller's promise; the place is made one of the slices.
        unsafe {
            let place = self.places.add(tap * self.step).read().clamp(0, self.last) as usize;
            (self.x.add(place * self.inner), *self.weights.add(tap * self.step))
        }
    }

    /// The sum of single floats.
    ///
    /// # Safety
    /// The slices are valid, each of a float.
    #[inline(always)]
    unsafe fn single(&self) -> f32 {
        // SAFETY: the caller's promise; there is at least one tap.
        unsafe {
            let (x, weight) = self.tap(0);
            let mut sum = *x * weight;
            for tap in 1..self.taps {
                let (x, weight) = self.tap(tap);
                sum = (*x).mul_add(weight, sum);
            }
            sum
        }
    }

    /// Writes the sum of these floats of slices, a vector at a time.
    ///
    /// # Safety
    /// The slices are valid, and so is `to` for these floats.
    #[inline(always)]
    unsafe fn slice<S: Simd>(&self, s: S, floats: Floats, to: *mut f32) {
        for at in (0..floats.count).step_by(S::LANES) {
            let left = floats.count - at;
            // SAFETY: the caller's promise; there is at least one tap.
            unsafe {
                let (x, weight) = self.tap(0);
                let mut sum = s.mul(s.load_first(x.add(floats.first + at), left), s.splat(weight));
                for tap in 1..self.taps {
                    let (x, weight) = self.tap(tap);
                    sum = s.mul_add(s.load_first(x.add(floats.first + at), left), s.splat(weight), sum);
                }
                s.store_first(to.add(at), left, sum);
            }
        }
    }

    /// The same for two taps, which are read once.
    ///
    /// # Safety
    /// That of [`Sum::slice`].
    #[inline(always)]
    unsafe fn slice_of_two<S: Simd>(&self, s: S, floats: Floats, to: *mut f32) {
        // SAFETY: the caller's promise; there are two taps.
        unsafe {
            let [(first, first_weight), (second, second_weight)] = [self.tap(0), self.tap(1)];
            let [first, second] = [first, second].map(|slice| slice.add(floats.first));
            let [first_weight, second_weight] = [first_weight, second_weight].map(|weight| s.splat(weight));
            for at in (0..floats.count).step_by(S::LANES) {
                let left = floats.count - at;
                let sum = s.mul(s.load_first(first.add(at), left), first_weight);
                let sum = s.mul_add(s.load_first(second.add(at), left), second_weight, sum);
                s.store_first(to.add(at), left, sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's results.
    fn run(kernel: &Resample, x: &[f32], places: &[i64], weights: &[f32]) -> Vec<f32> {
        let floats = (kernel.outer * kernel.count * kernel.inner) as usize;
        let rows = floats.div_ceil(kernel.row.max(1) as usize);
        let mut out = vec![f32::NAN; rows * kernel.pitch as usize + 1];
        let operands: [*mut u8; 4] = [
            out.as_mut_ptr().cast(),
            x.as_ptr().cast_mut().cast(),
            places.as_ptr().cast_mut().cast(),
            weights.as_ptr().cast_mut().cast(),
        ];
        // The last part first, so that writes past a part's end are seen.
        for part in (0..kernel.parts()).rev() {
            // SAFETY: the operands have the extents that the kernel was made for; no scratch is used.
            unsafe {
                kernel.entry()(kernel.as_bytes().as_ptr(), operands.as_ptr(), part, std::ptr::null_mut());
            }
        }
        assert!(out.pop().is_some_and(f32::is_nan), "it writes past the end");
        let [row, pitch] = [kernel.row, kernel.pitch].map(|number| number.max(1) as usize);
        let gaps = out.chunks(pitch).flat_map(|chunk| &chunk[row.min(chunk.len())..]);
        assert!(gaps.copied().all(f32::is_nan), "it writes between rows");
        out.chunks(pitch).flat_map(|chunk| &chunk[..row.min(chunk.len())]).copied().collect()
    }

    /// Numbers, places, some of them outside, and weights.
    fn operands(kernel: &Resample) -> (Vec<f32>, Vec<i64>, Vec<f32>) {
        let table = kernel.taps * kernel.count;
        let x = (0..kernel.outer * kernel.size * kernel.inner).map(|i| (i * 37 % 101) as f32 - 50.3);
        let places = (0..table).map(|i| (i * 7 % 11) as i64 - 2);
        (x.collect(), places.collect(), (0..table).map(|i| (i % 5) as f32 / 3.0 - 0.5).collect())
    }

    /// Element `at` of the result.
    fn plain(kernel: &Resample, x: &[f32], places: &[i64], weights: &[f32], at: usize) -> f32 {
        let [size, count, inner] = [kernel.size, kernel.count, kernel.inner].map(|number| number as usize);
        let (slice, element) = (at / inner, at % inner);
        let (outer, index) = (slice / count, slice % count);
        let mut sum = 0.0;
        for tap in 0..if size == 0 { 0 } else { kernel.taps as usize } {
            let place = places[tap * count + index].clamp(0, size as i64 - 1) as usize;
            let x = x[(outer * size + place) * inner + element];
            let weight = weights[tap * count + index];
            sum = if tap == 0 { x * weight } else { x.mul_add(weight, sum) };
        }
        sum
    }

    /// Checks a kernel whose result has no gaps, or rows of this many floats.
    fn check(outer: usize, sizes: [usize; 2], inner: usize, taps: usize, rows: Option<usize>) {
        for isa in Isa::available() {
            for threads in [1, 3] {
                let kernel = Resample::new(outer, sizes, inner, taps, isa, threads);
                let kernel = rows.map_or(kernel, |row| kernel.in_rows(row, row + 3));
                let (x, places, weights) = operands(&kernel);
                let found = run(&kernel, &x, &places, &weights);
                for (at, found) in found.iter().enumerate() {
                    let expected = plain(&kernel, &x, &places, &weights, at);
                    assert_eq!(
                        found.to_bits(),
                        expected.to_bits(),
                        "{found} for {expected} at {at}: {kernel:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn sums_are_those_of_the_plain_loop_to_the_bit() {
        let inners: &[usize] = if cfg!(miri) { &[1, 9] } else { &[1, 2, 7, 8, 9, 16, 31, 33, 2000] };
        for (number, &inner) in inners.iter().enumerate() {
            for taps in 1..5 {
                for sizes in [[1, 3], [5, 4], [6, 23], [0, 2], [3, 0]] {
                    check(1 + number % 3, sizes, inner, taps, None);
                }
                check(2, [5, 4], inner, taps, Some(inner));
                check(2, [5, 4], inner, taps, Some(4 * inner));
                check(1, [5, 4], 3 * inner, taps, Some(inner));
            }
        }
    }
}
