//! Products of bytes by the machine's matrix tiles ([`crate::simd::amx`]). Vectors add what is due to zero
//! points to their sums, and apply the steps.

use super::rows::QuadPart;
use super::steps::{ByteSign, WeightZero};
use super::tile::{QuadTile, finish};
use crate::pack::Panel;
use crate::segments::SegmentedRows;
use crate::simd::amx::{SUM_COLUMNS, TileNumbers};
use crate::simd::{Simd, Task, written_out};
use crate::tiled::{TileRows, TiledBlock, TiledOperands};
use std::ops::Range;

/// A block for one panel.
#[derive(Clone, Copy)]
pub(super) struct ByteBlock<'b> {
    pub(super) part: &'b QuadPart<'b>,
    /// The block's first row and its end.
    pub(super) rows: [usize; 2],
    pub(super) from: SegmentedRows,
    pub(super) panel: Panel,
}

impl ByteBlock<'_> {
    fn rows(&self) -> Range<usize> {
        self.rows[0]..self.rows[1]
    }
}

impl TiledBlock for ByteBlock<'_> {
    #[inline(always)]
    fn numbers(&self) -> TileNumbers {
        match self.part.this.row_sign() {
            ByteSign::Unsigned => TileNumbers::UnsignedBySigned,
            ByteSign::Signed => TileNumbers::SignedByUnsigned,
        }
    }

    #[inline(always)]
    fn operands(&self) -> TiledOperands {
        let ByteBlock { part, from, panel, .. } = *self;
        TiledOperands {
            from,
            rows: self.rows().len(),
            weights: part.images.weights.wrapping_add(panel.offset),
            width: panel.width,
            words: part.this.quads() / from.segments,
            step: part.this.step as usize,
        }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(&self, tile: &TileRows, sums: *mut f32) {
        let ByteBlock { part, panel, .. } = *self;
        let row = tile.first + tile.done;
        // SAFETY: the caller's promise.
        unsafe {
            let task = FinishedSums {
                tile: QuadTile { sums, ..part.tile(&self.rows(), row, panel, 0) },
                rows: tile.count - tile.done,
                part,
                panel,
            };
            S::vectorize(task);
        }
    }
}

/// Rows of sums whose outputs are to be written.
struct FinishedSums<'t> {
    /// The outputs, and `SUM_COLUMNS` sums in each row.
    tile: QuadTile<'t>,
    rows: usize,
    part: &'t QuadPart<'t>,
    panel: Panel,
}

impl<S: Simd> Task<S> for FinishedSums<'_> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        if const { !S::MAY_QUAD } {
            unreachable!("machines with tiles have vectors of quads");
        }
        // SAFETY: the caller's promise.
        unsafe {
            for column in (0..self.panel.count).step_by(2 * S::LANES) {
                match self.panel.count - column > S::LANES {
                    true => self.columns::<S, 2>(s, column),
                    false => self.columns::<S, 1>(s, column),
                }
            }
        }
    }
}

impl FinishedSums<'_> {
    /// Finishes some vectors of columns.
    #[inline(always)]
    unsafe fn columns<S: Simd, const VECTORS: usize>(&self, s: S, column: usize) {
        let mut added = [[s.splat_int(0); 2]; VECTORS];
        let mut row = 0;
        // SAFETY: the caller's promise: the rows and columns are within the block and the panel.
        unsafe {
            for (v, added) in added.iter_mut().enumerate() {
                *added = self.added(s, column + v * S::LANES);
            }
            while row < self.rows {
                row += match self.rows - row {
                    7 | 14 => self.finish::<S, 7, VECTORS>(s, [row, column], added),
                    8.. => self.finish::<S, 8, VECTORS>(s, [row, column], added),
                    4.. => self.finish::<S, 4, VECTORS>(s, [row, column], added),
                    _ => self.finish::<S, 1, VECTORS>(s, [row, column], added),
                };
            }
        }
    }

    /// What is added to the sums of a vector of columns for the image's zero point, and the columns' factors
    /// of the rows' terms.
    #[inline(always)]
    unsafe fn added<S: Simd>(&self, s: S, column: usize) -> [S::I; 2] {
        let FinishedSums { part, panel, .. } = self;
        let mut added = [s.splat_int(0), s.splat_int(1)];
        // SAFETY: the panel's last row has its sums, and each channel has a zero point.
        unsafe {
            if part.images.x_zero != 0 {
                let sums = part.images.weights.add(panel.offset + part.this.quads() * panel.width + column);
                added[0] = s.mul_int(s.load_int(sums), s.splat_int(part.images.x_zero.wrapping_neg()));
            }
            if part.has_terms && part.this.zero == WeightZero::Channel {
                let from = part.images.weight_zeros.add(panel.first + column);
                let left = panel.count - column;
                let zeros = match part.this.weights {
                    ByteSign::Unsigned => s.load_unsigned(from, left),
                    ByteSign::Signed => s.load_signed(from, left),
                };
                added[1] = s.add_int(zeros, s.splat_int(part.this.zero_shift()));
            }
        }
        added
    }

    /// Finishes some rows, and returns how many these are.
    #[inline(always)]
    unsafe fn finish<S: Simd, const ROWS: usize, const VECTORS: usize>(
        &self,
        s: S,
        [row, column]: [usize; 2],
        added: [[S::I; 2]; VECTORS],
    ) -> usize {
        let mut floats = [[s.splat(0.0); VECTORS]; ROWS];
        let tile = self.tile.at([row, column]);
        // SAFETY: the caller's promise.
        unsafe {
            written_out!(row in ROWS => {
                for (v, (float, [begin, _])) in floats[row].iter_mut().zip(added).enumerate() {
                    let sum = s.load_int(tile.sums.add(row * SUM_COLUMNS + v * S::LANES).cast());
                    *float = s.float(s.add_int(sum, begin));
                }
            });
            if !tile.terms.is_null() {
                written_out!(row in ROWS => {
                    let term = s.splat_int(*tile.terms.add(row));
                    for (float, [_, zeros]) in floats[row].iter_mut().zip(added) {
                        *float = s.float(s.add_int(s.bits(*float), s.mul_int(term, zeros)));
                    }
                });
            }
            finish::<S, ROWS, VECTORS>(s, &tile, floats);
        }
        ROWS
    }
}
