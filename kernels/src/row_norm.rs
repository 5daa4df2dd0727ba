//! Normalization of single rows, each read from memory once: layer and RMS normalization.
//!
//! Row `r`, channel `c`: `activation((x - mean(r)) * (scale[c] * (1 / sqrt(variance(r) + epsilon))) +
//! bias[c])`, the last product and sum rounded once. First the sum is computed, then the sum of squared
//! deviations, then the row is mapped, while it stays in the first-level cache: so a mean far from zero costs
//! no precision.
//!
//! - If the channels of a row are contiguous, channel `c` is added to accumulator `c mod 64`; in the end one
//!   half of the accumulators is joined with the other, and so on.
//! - If rows are contiguous, a lane is a row; channel `c` is added to accumulator `c mod 4`, and the last
//!   `channels mod 4` to the first.
//!
//! So the bits are the same on any instruction set, and at any number of threads.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::bf16::{Numbers, StoredFloat};
use crate::contiguous::{RowMap, RowSquares, RowSummand, RowValues, map_row, sum_row};
use crate::isa::Isa;
use crate::map::{Activation, FunctionCode, MapBody, apply};
use crate::norm::Centre;
use crate::simd::Simd;

/// The sizes of a dense tensor whose middle axis is normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowNormShape {
    /// The first axis.
    pub blocks: usize,
    /// The middle axis: the numbers of a row.
    pub channels: usize,
    /// The last axis: contiguous rows.
    pub rows: usize,
}

/// Contiguous rows in one unit of work.
const ROWS: usize = 16;
/// The least elements of a part.
const PART: usize = 8 * 1024;

/// A normalization of rows. Operands: `[out, x, scale, bias]`; `out` may be `x` itself, otherwise they do not
/// overlap.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RowNorm {
    blocks: u64,
    channels: u64,
    rows: u64,
    epsilon: f32,
    activation: FunctionCode,
    centre: Centre,
    parts: u32,
    isa: Isa,
    input: StoredFloat,
    output: StoredFloat,
    reserved: u32,
}

impl RowNorm {
    /// A normalization of rows about `centre`.
    pub fn new(
        shape: &RowNormShape,
        centre: Centre,
        epsilon: f32,
        activation: Activation,
        isa: Isa,
        threads: usize,
    ) -> RowNorm {
        let RowNormShape { blocks, channels, rows } = *shape;
        let elements = blocks * channels * rows;
        let units = blocks * rows.div_ceil(ROWS);
        let parts = if elements == 0 { 0 } else { units.min(threads * 8).min(elements.div_ceil(PART)) };
        RowNorm {
            blocks: blocks as u64,
            channels: channels as u64,
            rows: rows as u64,
            epsilon,
            activation: activation.into(),
            centre,
            parts: parts as u32,
            isa,
            input: StoredFloat::F32,
            output: StoredFloat::F32,
            reserved: 0,
        }
    }

    /// The same kernel with other storage types of operand 1 and of the result.
    ///
    /// # Panics
    /// If a result of `bf16` has an activation.
    pub fn stored(self, input: StoredFloat, output: StoredFloat) -> RowNorm {
        assert!(
            output == StoredFloat::F32 || !self.activation.is_applied(),
            "functions are applied to `f32`"
        );
        RowNorm { input, output, ..self }
    }

    fn channels(&self) -> usize {
        self.channels as usize
    }

    /// Normalizes a row with contiguous channels.
    ///
    /// # Safety
    /// All are valid for one number per channel.
    #[inline(always)]
    unsafe fn row<S: Simd>(&self, s: S, [out, x]: [Numbers; 2], [scale, bias]: [*const f32; 2]) {
        let channels = self.channels();
        let count = channels as f32;
        // SAFETY: the caller's promise.
        unsafe {
            let mean = match self.centre {
                Centre::Mean => sum_row::<S, RowValues>(s, x, channels, 0.0) / count,
                Centre::Zero => 0.0,
            };
            let variance = sum_row::<S, RowSquares>(s, x, channels, mean) / count;
            let factor = s.splat(1.0 / (variance + self.epsilon).sqrt());
            let mean = s.splat(mean);
            map_row(s, channels, &MappedRow { out, x, scale, bias, mean, factor });
            if self.activation.is_applied() {
                let at = out.floats(0);
                apply::<S>(MapBody { code: self.activation, from: at, to: at, n: channels });
            }
        }
    }

    /// Normalizes `count` contiguous rows, at most the number of lanes of a vector.
    ///
    /// # Safety
    /// `out` and `x` point at the first channel of the first row; the others are valid for one float per
    /// channel.
    #[inline(always)]
    unsafe fn rows<S: Simd>(
        &self,
        s: S,
        [out, x]: [Numbers; 2],
        [scale, bias]: [*const f32; 2],
        count: usize,
    ) {
        let channels = self.channels();
        let stride = self.rows as usize;
        let divisor = s.splat(self.channels as f32);
        let zero = s.splat(0.0);
        // SAFETY: the caller's promise.
        unsafe {
            let mean = match self.centre {
                Centre::Mean => s.div(self.sum_rows::<S, RowValues>(s, x, count, zero), divisor),
                Centre::Zero => zero,
            };
            let variance = s.div(self.sum_rows::<S, RowSquares>(s, x, count, mean), divisor);
            let deviation = s.sqrt(s.add(variance, s.splat(self.epsilon)));
            let factor = s.div(s.splat(1.0), deviation);
            for channel in 0..channels {
                let deviation = s.sub(x.load(s, channel * stride, count), mean);
                let factor = s.mul(s.splat(*scale.add(channel)), factor);
                let value = s.mul_add(deviation, factor, s.splat(*bias.add(channel)));
                out.store(s, channel * stride, count, value);
                if self.activation.is_applied() {
                    let to = out.floats(channel * stride);
                    apply::<S>(MapBody { code: self.activation, from: to, to, n: count.min(S::LANES) });
                }
            }
        }
    }

    /// The sum over the channels of `count` contiguous rows.
    ///
    /// # Safety
    /// As [`Self::rows`].
    #[inline(always)]
    unsafe fn sum_rows<S: Simd, T: RowSummand>(&self, s: S, x: Numbers, count: usize, centre: S::F) -> S::F {
        let channels = self.channels();
        let stride = self.rows as usize;
        let whole = channels - channels % 4;
        let mut sums = [s.splat(0.0); 4];
        // SAFETY: the caller's promise.
        unsafe {
            for channel in (0..whole).step_by(4) {
                for (next, sum) in sums.iter_mut().enumerate() {
                    *sum = T::add(s, *sum, x.load(s, (channel + next) * stride, count), centre);
                }
            }
            for channel in whole..channels {
                sums[0] = T::add(s, sums[0], x.load(s, channel * stride, count), centre);
            }
        }
        s.add(s.add(sums[0], sums[2]), s.add(sums[1], sums[3]))
    }
}

/// A row with contiguous channels, once its moments are known.
struct MappedRow<S: Simd> {
    out: Numbers,
    x: Numbers,
    scale: *const f32,
    bias: *const f32,
    mean: S::F,
    factor: S::F,
}

impl<S: Simd> RowMap<S> for MappedRow<S> {
    #[inline(always)]
    unsafe fn vector(&self, s: S, first: usize, count: usize) -> S::F {
        // SAFETY: the caller's promise.
        unsafe {
            let deviation = s.sub(self.x.load(s, first, count), self.mean);
            let factor = s.mul(s.load_first(self.scale.add(first), count), self.factor);
            s.mul_add(deviation, factor, s.load_first(self.bias.add(first), count))
        }
    }

    #[inline(always)]
    unsafe fn store(&self, s: S, first: usize, count: usize, results: S::F) {
        // SAFETY: the caller's promise.
        unsafe { self.out.store(s, first, count, results) }
    }
}

// SAFETY: three `u64`, then ten of four bytes, without padding; `entry` reads this type.
unsafe impl Kernel for RowNorm {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<RowNorm>(self.isa)
    }
}

impl KernelBody for RowNorm {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _: *mut u8) {
        let rows = self.rows as usize;
        let units = rows.div_ceil(ROWS);
        // SAFETY: the operands have the extents that the descriptor was made for; parts write disjoint rows.
        unsafe {
            let weights = [operands.get::<f32>(2).cast_const(), operands.get::<f32>(3).cast_const()];
            for unit in piece(self.blocks as usize * units, self.parts as usize, part as usize) {
                let block = unit / units;
                let first = unit % units * ROWS;
                let at = |row: usize| {
                    let first = block * self.channels() * rows + row;
                    [(0, self.output), (1, self.input)].map(|(index, stored)| Numbers {
                        start: operands.get::<u8>(index),
                        stored,
                        first,
                    })
                };
                if rows == 1 {
                    self.row(s, at(0), weights);
                    continue;
                }
                let last = rows.min(first + ROWS);
                for row in (first..last).step_by(S::LANES) {
                    self.rows(s, at(row), weights, last - row);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "row_norm_tests.rs"]
mod tests;
