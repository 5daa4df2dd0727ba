//! The two products of attention: scores, and powers of e by v. They are of `f32`, or of pairs of `bf16`.

use std::ops::Range;

use super::pairs::RoundedRow;
use super::{AttentionHead, ScratchTables};
use crate::pairs::{PackedPairProduct, TiledProduct};
use crate::product::PackedProduct;
use crate::simd::Simd;
use crate::simd::amx::{Former, ROWS, step_within};
use crate::soften::BlockTurn;
use crate::tile::Start;

impl AttentionHead<'_> {
    /// Multiplies a block of rows by a packed block of keys.
    #[inline(always)]
    pub(super) unsafe fn scores<S: Simd>(
        &self,
        s: S,
        rows: &Range<usize>,
        keys: &Range<usize>,
        stride: usize,
        tables: ScratchTables,
    ) {
        let depth = self.shape.depth as usize;
        // SAFETY: the tables have the blocks' sizes, and q has these rows.
        unsafe {
            if self.is_in_pairs() {
                self.copy_pairs_of_queries(s, rows, tables.q.cast());
                if let Some(sizes) = self.tiles {
                    let scores = TiledProduct {
                        rows: rows.len(),
                        columns: keys.len(),
                        pairs: self.depth_pairs,
                        step: step_within(self.depth_pairs).unwrap_or(1),
                        a: tables.q.cast_const().cast(),
                        a_stride: self.q_stride * size_of::<f32>(),
                        b: tables.k.cast_const().cast(),
                        c: tables.scores,
                        c_stride: stride,
                    };
                    return scores.run(sizes, Former::Overwritten);
                }
                let scores = PackedPairProduct {
                    rows: rows.len(),
                    columns: keys.len(),
                    pairs: depth.div_ceil(2),
                    a: tables.q.cast_const().cast(),
                    a_stride: 2 * self.q_stride,
                    b: tables.k.cast_const().cast(),
                    c: tables.scores,
                    c_stride: stride,
                };
                return scores.run::<S>(Former::Overwritten);
            }
            self.copy_queries(s, rows, tables.q);
            let scores = PackedProduct {
                rows: rows.len(),
                columns: keys.len(),
                depth,
                a: tables.q,
                a_stride: self.q_stride,
                b: tables.k,
                c: tables.scores,
                c_stride: stride,
            };
            scores.run::<S>(FRESH);
        }
    }

    /// Rounds a row of powers of e, in place. For pairs the row becomes one of `bf16`, at its beginning.
    #[inline(always)]
    pub(super) unsafe fn round_powers<S: Simd>(&self, s: S, powers: *mut f32, count: usize) {
        // SAFETY: the row has `count` powers, padded to whole vectors, and the machine has the instruction
        // for pairs if they are multiplied by it.
        unsafe {
            if self.is_in_pairs() {
                return S::vectorize_pairs(RoundedRow { powers, count });
            }
            for at in (0..count).step_by(S::LANES) {
                let rounded = s.nearest_bf16(s.load(powers.add(at)));
                s.store(powers.add(at), s.upper_bf16(rounded));
            }
        }
    }

    /// Adds the product of a block of powers of e and a packed block of v to rows of the result.
    #[inline(always)]
    pub(super) unsafe fn add_weighted<S: Simd>(
        &self,
        [rows, keys]: [usize; 2],
        stride: usize,
        turn: BlockTurn,
        c: *mut f32,
        tables: ScratchTables,
    ) {
        let columns = self.shape.columns as usize;
        let c_stride = match self.has_results {
            false => self.shape.out.row as usize,
            true => self.result_stride,
        };
        let former = match turn {
            BlockTurn::First => Former::Overwritten,
            BlockTurn::Later => Former::Kept,
        };
        // SAFETY: the tables have the blocks' sizes, and the result has these rows.
        unsafe {
            if let Some(sizes) = self.tiles {
                let weighted = TiledProduct {
                    rows,
                    columns,
                    pairs: self.key_pairs(keys),
                    step: ROWS,
                    a: tables.scores.cast_const().cast(),
                    a_stride: stride * size_of::<f32>(),
                    b: tables.v.cast_const().cast(),
                    c,
                    c_stride,
                };
                return weighted.run(sizes, former);
            }
            if self.is_in_pairs() {
                let weighted = PackedPairProduct {
                    rows,
                    columns,
                    pairs: keys.div_ceil(2),
                    a: tables.scores.cast_const().cast(),
                    a_stride: 2 * stride,
                    b: tables.v.cast_const().cast(),
                    c,
                    c_stride,
                };
                return weighted.run::<S>(former);
            }
            let weighted = PackedProduct {
                rows,
                columns,
                depth: keys,
                a: tables.scores,
                a_stride: stride,
                b: tables.v,
                c,
                c_stride,
            };
            weighted.run::<S>(if turn == BlockTurn::First { FRESH } else { Start::Resume });
        }
    }
}

/// The initial sum zero.
const FRESH: Start = Start::Fresh { bias: std::ptr::null(), residual: std::ptr::null(), residual_stride: 0 };
