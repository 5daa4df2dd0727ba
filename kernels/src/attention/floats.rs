//! Attention in `f32`: how blocks of q, k and v are packed.

use std::ops::Range;

use super::{AttentionHead, SQUARE};
use crate::bf16::{Numbers, StoredFloat};
use crate::pack::PANEL;
use crate::simd::Simd;

/// Rows of k to prefetch ahead of the one being packed.
const KEYS_AHEAD: usize = 8;

impl AttentionHead<'_> {
    /// Copies rows of q, multiplied by the factor.
    #[inline(always)]
    pub(super) unsafe fn copy_queries<S: Simd>(&self, s: S, rows: &Range<usize>, to: *mut f32) {
        let (depth, column) = (self.shape.depth as usize, self.shape.q.column as usize);
        let factor = s.splat(self.q_factor);
        for (index, row) in rows.clone().enumerate() {
            // SAFETY: the row is one of q's, and the table has rows of at least `depth`.
            unsafe {
                let from = self.q.from(row * self.shape.q.row as usize);
                let to = to.add(index * self.q_stride);
                if column == 1 {
                    for at in (0..depth).step_by(S::LANES) {
                        let x = from.load(s, at, depth - at);
                        s.store_first(to.add(at), depth - at, s.mul(x, factor));
                    }
                } else {
                    for at in 0..depth {
                        *to.add(at) = from.one(at * column) * self.q_factor;
                    }
                }
            }
        }
    }

    /// Packs a block of k, multiplied by its factor, into panels of 32 keys. A panel has the whole depth;
    /// each of its rows has one number of each key. Lanes after the last key are zero.
    #[inline(always)]
    pub(super) unsafe fn pack_keys<S: Simd>(&self, s: S, keys: &Range<usize>, to: *mut f32) {
        let depth = self.shape.depth as usize;
        let (row, column) = (self.shape.k.row as usize, self.shape.k.column as usize);
        for first in (0..keys.len()).step_by(PANEL) {
            let count = PANEL.min(keys.len() - first);
            // SAFETY: these keys are k's, and the table has whole panels.
            unsafe {
                let from = self.k.from((keys.start + first) * row);
                let to = to.add(first * depth);
                if row == 1 {
                    copy_rows(s, from, to, [depth, count], column, self.k_factor);
                    continue;
                }
                let squares = self.squares(count);
                for lane in (0..squares[0]).step_by(SQUARE) {
                    (lane..lane + SQUARE).for_each(|lane| from.fetch((lane + KEYS_AHEAD) * row, depth));
                    for at in (0..squares[1]).step_by(SQUARE) {
                        let from = from.floats(lane * row + at).cast::<u32>().cast_const();
                        let to = to.add(at * PANEL + lane).cast::<u32>();
                        s.transpose::<SQUARE>(from, row.cast_signed(), to, PANEL.cast_signed());
                    }
                }
                for lane in 0..PANEL {
                    let done = if lane < squares[0] { squares[1] } else { 0 };
                    if done == 0 {
                        from.fetch((lane + KEYS_AHEAD) * row, depth);
                    }
                    for at in done..depth {
                        let x = if lane < count { from.one(lane * row + at * column) } else { 0.0 };
                        *to.add(at * PANEL + lane) = x * self.k_factor;
                    }
                }
            }
        }
    }

    /// Of a panel of k with `count` keys, how many keys and rows can be transposed in registers: none if a
    /// key's numbers are apart, or must be converted or multiplied.
    #[inline(always)]
    fn squares(&self, count: usize) -> [usize; 2] {
        let is_copied = self.k.stored == StoredFloat::F32 && self.k_factor == 1.0;
        match is_copied && self.shape.k.column == 1 {
            true => [count, self.shape.depth as usize].map(|size| size / SQUARE * SQUARE),
            false => [0, 0],
        }
    }

    /// Packs a block of v into panels of 32 columns, each with all of the block's keys. Lanes after the last
    /// column are zero.
    #[inline(always)]
    pub(super) unsafe fn pack_values<S: Simd>(&self, s: S, keys: &Range<usize>, to: *mut f32) {
        let columns = self.shape.columns as usize;
        let (row, column) = (self.shape.v.row as usize, self.shape.v.column as usize);
        for first in (0..columns).step_by(PANEL) {
            let count = PANEL.min(columns - first);
            // SAFETY: these columns are v's, and the table has whole panels.
            unsafe {
                let from = self.v.from(keys.start * row + first * column);
                let to = to.add(first * keys.len());
                if column == 1 {
                    copy_rows(s, from, to, [keys.len(), count], row, 1.0);
                    continue;
                }
                for key in 0..keys.len() {
                    for lane in 0..PANEL {
                        let x = if lane < count { from.one(key * row + lane * column) } else { 0.0 };
                        *to.add(key * PANEL + lane) = x;
                    }
                }
            }
        }
    }
}

/// Copies `rows` rows of `count` numbers, multiplied by a factor, into rows of a panel.
///
/// # Safety
/// `from` is valid for these rows at a distance of `stride`, `to` for as many rows of a panel.
#[inline(always)]
unsafe fn copy_rows<S: Simd>(
    s: S,
    from: Numbers,
    to: *mut f32,
    [rows, count]: [usize; 2],
    stride: usize,
    factor: f32,
) {
    let factor = s.splat(factor);
    for row in 0..rows {
        for lane in (0..PANEL).step_by(S::LANES) {
            // SAFETY: the caller's promise; lanes from `count` on are not read.
            unsafe {
                let x =
                    if lane < count { from.load(s, row * stride + lane, count - lane) } else { s.splat(0.0) };
                s.store(to.add(row * PANEL + lane), s.mul(x, factor));
            }
        }
    }
}
