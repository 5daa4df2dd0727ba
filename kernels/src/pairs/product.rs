//! A product of matrices of pairs of `bf16`, tile by tile: [`crate::product`] with half the depth.

use super::tile::{PairTile, tile_function, tile_rows};
use crate::bf16::StoredFloat;
use crate::map::{FunctionCode, ScalarFunction};
use crate::pack::PANEL;
use crate::simd::Simd;
use crate::simd::amx::Former;
use crate::tile::tile_ranges;

/// `c = a b`, or `c = c + a b`, with sums in `f32` and b packed in panels of pairs.
pub(crate) struct PackedPairProduct {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Pairs of the depth.
    pub(crate) pairs: usize,
    pub(crate) a: *const u16,
    /// In numbers.
    pub(crate) a_stride: usize,
    /// One pair in each element, the first number in its lower half.
    pub(crate) b: *const i32,
    pub(crate) c: *mut f32,
    pub(crate) c_stride: usize,
}

impl PackedPairProduct {
    /// # Safety
    /// The machine has the instruction for pairs; the matrices are valid for these sizes, `b` for whole
    /// panels.
    #[inline(always)]
    pub(crate) unsafe fn run<S: Simd>(&self, former: Former) {
        for column in (0..self.columns).step_by(2 * S::LANES) {
            let vectors = (self.columns - column).div_ceil(S::LANES).min(2);
            let lane = column % PANEL;
            let panel = column - lane;
            for rows in tile_ranges(self.rows, tile_rows::<S>(1)) {
                let first = rows.start * self.c_stride + column;
                // SAFETY: the caller's promise; the tile is within the matrices.
                unsafe {
                    let tile = PairTile {
                        pairs: self.pairs,
                        segments: 1,
                        segment_stride: 0,
                        a: self.a.add(rows.start * self.a_stride),
                        a_stride: self.a_stride,
                        b: self.b.add(panel * self.pairs + lane),
                        b_stride: PANEL,
                        c: self.c.cast(),
                        c_first: first,
                        c_stride: self.c_stride,
                        output: StoredFloat::F32,
                        cols: self.columns - column,
                        bias: std::ptr::null(),
                        residual: match former {
                            Former::Overwritten => std::ptr::null(),
                            Former::Kept => self.c.cast_const().cast(),
                        },
                        residual_first: first,
                        residual_stride: self.c_stride,
                        residual_stored: StoredFloat::F32,
                        activation: FunctionCode::from(ScalarFunction::None),
                        sums: std::ptr::null_mut(),
                        ahead: self.b,
                        ahead_stride: 0,
                    };
                    tile_function::<S>(rows.len(), vectors, 1)(&tile);
                }
            }
        }
    }
}
