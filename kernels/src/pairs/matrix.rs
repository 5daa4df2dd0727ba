//! Products of `bf16` by the machine's matrix tiles ([`crate::simd::amx`]).
//!
//! K is cut into steps of equally many pairs. Within a step, the first numbers of the pairs are multiplied
//! and added one after the other, and so are the second ones; the two sums are added, and then added to the
//! sum of the steps before. Numbers below 2^-126 are zero. The bits do not depend on blocks and threads, but
//! differ from those of vectors.

use super::{PairConv2d, PairOperands};
use crate::bf16::{Numbers, StoredFloat};
use crate::conv::ImageStrides;
use crate::map::{Finish, FunctionCode, MapBody, apply};
use crate::math;
use crate::pack::{PANEL, Panel};
use crate::pixels::Pixel;
use crate::segments::SegmentedRows;
use crate::simd::amx::{self, Former, ROWS, SUM_COLUMNS, TileNumbers, TileProduct, TileSizes};
use crate::simd::{Simd, Task};
use crate::tiled::{TileRows, TiledBlock, TiledOperands};

/// Bytes of a pair.
const PAIR: usize = 4;

/// A block for one panel.
#[derive(Clone, Copy)]
pub(super) struct PanelBlock<'b> {
    pub(super) this: &'b PairConv2d,
    pub(super) images: &'b PairOperands,
    /// The block's first pixel and its rows.
    pub(super) pixel: Pixel,
    pub(super) count: usize,
    pub(super) from: SegmentedRows,
    pub(super) panel: Panel,
}

impl PanelBlock<'_> {
    /// The outputs (or the residuals) from one row of the block on, and their distance from row to row.
    #[inline(always)]
    fn floats(&self, start: *mut u8, stored: StoredFloat, strides: ImageStrides, row: usize) -> Numbers {
        let first = strides.offset(self.pixel) + row * strides.w as usize + self.panel.first;
        Numbers { start, stored, first }
    }
}

impl TiledBlock for PanelBlock<'_> {
    #[inline(always)]
    fn numbers(&self) -> TileNumbers {
        TileNumbers::Bf16
    }

    #[inline(always)]
    fn operands(&self) -> TiledOperands {
        let PanelBlock { this, images, from, panel, .. } = *self;
        TiledOperands {
            from,
            rows: self.count,
            weights: images.weights.wrapping_add(panel.offset),
            width: panel.width,
            words: this.pairs() / from.segments,
            step: this.step as usize,
        }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(&self, tile: &TileRows, sums: *mut f32) {
        let PanelBlock { this, images, panel, .. } = self;
        let conv = &this.conv;
        let row = tile.first + tile.done;
        let (output, residual) = (conv.strides.output, conv.strides.residual);
        let task = FinishedRows {
            rows: tile.count - tile.done,
            columns: panel.count,
            sums,
            out: self.floats(images.out, this.output, output, row),
            out_stride: output.w as usize,
            bias: match images.bias.is_null() {
                true => images.bias,
                false => images.bias.wrapping_add(panel.first),
            },
            residual: self.floats(images.residual.cast_mut(), this.residual, residual, row),
            residual_stride: residual.w as usize,
            activation: conv.activation,
        };
        // SAFETY: the caller's promise: the machine has tiles, and so the instructions for pairs.
        unsafe { S::vectorize_pairs(task) };
    }
}

/// Rows of sums whose outputs are to be written.
struct FinishedRows {
    rows: usize,
    columns: usize,
    /// `SUM_COLUMNS` in each row; those after `columns` do not matter.
    sums: *mut f32,
    out: Numbers,
    out_stride: usize,
    /// Null for zeros.
    bias: *const f32,
    /// At null for zeros.
    residual: Numbers,
    residual_stride: usize,
    activation: FunctionCode,
}

impl<S: Simd> Task<S> for FinishedRows {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        // SAFETY: the caller's promise: sums, bias and residual have these rows and columns, and `out` room.
        unsafe {
            for column in (0..self.columns).step_by(S::LANES) {
                match self.columns - column {
                    count if count < S::LANES => self.column(s, column, count),
                    _ => self.column(s, column, S::LANES),
                }
            }
            if self.activation.is_deferred() {
                let n = self.rows * SUM_COLUMNS;
                apply::<S>(MapBody { code: self.activation, from: self.sums, to: self.sums, n });
                for row in 0..self.rows {
                    for column in (0..self.columns).step_by(S::LANES) {
                        let sum = s.load(self.sums.add(row * SUM_COLUMNS + column));
                        self.store(s, [row, column], self.columns - column, sum);
                    }
                }
            }
        }
    }
}

impl FinishedRows {
    /// Finishes the first `count` columns from one on, or makes them ready for a deferred function. A number
    /// known at compile time needs no masks.
    #[inline(always)]
    unsafe fn column<S: Simd>(&self, s: S, column: usize, count: usize) {
        let is_deferred = self.activation.is_deferred();
        let finish = self.activation.finish();
        // SAFETY: the caller's promise: sums, bias and residual have these rows and columns, and `out` room.
        unsafe {
            let bias = match self.bias.is_null() {
                true => s.splat(0.0),
                false => s.load_first(self.bias.add(column), count),
            };
            for row in 0..self.rows {
                let at = self.sums.add(row * SUM_COLUMNS + column);
                let sum = s.add(self.begin(s, bias, [row, column], count), s.load(at));
                if is_deferred {
                    s.store(at, sum);
                } else if let Finish::Clip { lo, hi } = finish {
                    self.store(s, [row, column], count, math::clip(s, sum, lo, hi));
                } else {
                    self.store(s, [row, column], count, sum);
                }
            }
        }
    }

    /// What is added to the first `count` sums from a column on: bias and residual.
    #[inline(always)]
    unsafe fn begin<S: Simd>(&self, s: S, bias: S::F, [row, column]: [usize; 2], count: usize) -> S::F {
        if self.residual.start.is_null() {
            return bias;
        }
        // SAFETY: passed on from `run`.
        unsafe { s.add(bias, self.residual.load(s, row * self.residual_stride + column, count)) }
    }

    /// # Safety
    /// `out` has these columns; the machine has the instructions for pairs.
    #[inline(always)]
    unsafe fn store<S: Simd>(&self, s: S, [row, column]: [usize; 2], count: usize, x: S::F) {
        let at = row * self.out_stride + column;
        // SAFETY: the caller's promise.
        unsafe {
            match self.out.stored {
                StoredFloat::F32 => self.out.store(s, at, count, x),
                StoredFloat::Bf16 => {
                    let to = self.out.start.cast::<u16>().add(self.out.first + at);
                    s.store_nearest_at_once(to, count, x);
                }
            }
        }
    }
}

/// `c = a b`, or `c = c + a b`, with sums in `f32`, `a` in whole steps, and `b` in panels of pairs.
pub(crate) struct TiledProduct {
    /// 1 to 32.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Pairs of the depth, and those of a step, which divide them.
    pub(crate) pairs: usize,
    pub(crate) step: usize,
    pub(crate) a: *const u8,
    /// In bytes.
    pub(crate) a_stride: usize,
    /// Panels of [`PANEL`] columns; one pair in each element.
    pub(crate) b: *const u32,
    /// Rows of whole tiles of columns.
    pub(crate) c: *mut f32,
    pub(crate) c_stride: usize,
}

impl TiledProduct {
    /// # Safety
    /// The matrices are valid for these sizes.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, sizes: &TileSizes, former: Former) {
        let tiles = self.rows.div_ceil(ROWS);
        let rows = self.rows.div_ceil(tiles);
        // The second tile may begin before the end of the first: both compute the same sums there, and load
        // the former ones before either stores.
        let firsts = [0, self.rows - rows];
        sizes.set(rows, self.step);
        for column in (0..self.columns).step_by(PANEL) {
            let product = TileProduct {
                a: firsts.map(|first| self.a.wrapping_add(first * self.a_stride)),
                a_stride: self.a_stride,
                a_step: self.step * PAIR,
                a_jump: 0,
                b: self.b.wrapping_add(column * self.pairs).cast(),
                b_stride: PANEL * PAIR,
                b_step: self.step * PANEL * PAIR,
                steps: self.pairs / self.step,
                segments: 1,
                sums: firsts.map(|first| self.c.wrapping_add(first * self.c_stride + column).cast()),
                sums_stride: self.c_stride * size_of::<f32>(),
                former,
                ahead: std::ptr::null(),
                ahead_lines: 0,
            };
            let column_tiles = (self.columns - column).div_ceil(ROWS).min(2);
            // SAFETY: the caller's promise.
            unsafe { amx::multiply(TileNumbers::Bf16, &product, [tiles, column_tiles]) };
        }
    }
}
