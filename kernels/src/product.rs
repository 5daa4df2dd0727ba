//! A product of matrices in scratch or in place, tile by tile.

use crate::map::Finish;
use crate::pack::PANEL;
use crate::simd::Simd;
use crate::tile::{Start, Tile, tile_function, tile_ranges};

/// `c = start + a b`, with b packed in panels.
pub(crate) struct PackedProduct {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) depth: usize,
    pub(crate) a: *const f32,
    pub(crate) a_stride: usize,
    pub(crate) b: *const f32,
    pub(crate) c: *mut f32,
    pub(crate) c_stride: usize,
}

impl PackedProduct {
    /// # Safety
    /// The matrices are valid for these sizes, `b` for whole panels.
    #[inline(always)]
    pub(crate) unsafe fn run<S: Simd>(&self, start: Start) {
        for column in (0..self.columns).step_by(2 * S::LANES) {
            let vectors = (self.columns - column).div_ceil(S::LANES).min(2);
            let lane = column % PANEL;
            let panel = column - lane;
            for rows in tile_ranges(self.rows, S::TILE_ROWS) {
                // SAFETY: the caller's promise; the tile is within the matrices.
                unsafe {
                    let tile = Tile {
                        depth: self.depth,
                        segments: 1,
                        segment_stride: 0,
                        a: self.a.add(rows.start * self.a_stride),
                        a_stride: self.a_stride,
                        b: self.b.add(panel * self.depth + lane),
                        b_stride: PANEL,
                        panel_stride: 0,
                        c: self.c.add(rows.start * self.c_stride + column),
                        c_stride: self.c_stride,
                        cols: self.columns - column,
                        start,
                        finish: Finish::Store,
                        ahead: self.b,
                        ahead_stride: 0,
                    };
                    tile_function::<S>(rows.len(), vectors)(&tile);
                }
            }
        }
    }
}
