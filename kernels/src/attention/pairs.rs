//! Attention of `bf16` operands: how blocks of q, k and v are packed into pairs, and powers of e are rounded.

use std::ops::Range;

use super::{AttentionHead, SQUARE};
use crate::bf16::Numbers;
use crate::pack::PANEL;
use crate::simd::{Simd, Task};

/// A row of powers of e that is rounded to `bf16`, in place: the rounded numbers lie at its beginning, with
/// zeros up to a multiple of two vectors, which matrix tiles multiply.
pub(super) struct RoundedRow {
    pub(super) powers: *mut f32,
    /// Powers, which are padded to whole vectors.
    pub(super) count: usize,
}

impl<S: Simd> Task<S> for RoundedRow {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        for at in (0..self.count).step_by(S::LANES) {
            // SAFETY: the row has whole vectors; each is loaded before its first half is written, and the
            // second half of none is. The caller promises the instruction.
            unsafe {
                let powers = s.load(self.powers.add(at));
                s.store_nearest_at_once(self.powers.cast::<u16>().add(at), S::LANES, powers);
            }
        }
        let end = self.count.next_multiple_of(S::LANES);
        if !end.is_multiple_of(2 * S::LANES) {
            // SAFETY: these words are in the row's second half.
            unsafe { s.store_nearest_at_once(self.powers.cast::<u16>().add(end), S::LANES, s.splat(0.0)) };
        }
    }
}

impl AttentionHead<'_> {
    /// Copies rows of q, padded with zeros to whole pairs or steps.
    #[inline(always)]
    pub(super) unsafe fn copy_pairs_of_queries<S: Simd>(&self, s: S, rows: &Range<usize>, to: *mut u16) {
        let (depth, column) = (self.shape.depth as usize, self.shape.q.column as usize);
        for (index, row) in rows.clone().enumerate() {
            // SAFETY: the row is one of q's, and the table's rows have an even length of at least `depth`.
            unsafe {
                let from = words(self.q.from(row * self.shape.q.row as usize));
                let to = to.add(index * 2 * self.q_stride);
                if column == 1 {
                    for at in (0..depth).step_by(S::LANES) {
                        let x = s.load_upper(from.add(at), depth - at);
                        s.store_upper(to.add(at), depth - at, x);
                    }
                } else {
                    (0..depth).for_each(|at| *to.add(at) = *from.add(at * column));
                }
                (depth..2 * self.depth_pairs).for_each(|at| *to.add(at) = 0);
            }
        }
    }

    /// Packs a block of k into panels of 32 keys. A panel has all pairs of the depth; each of its rows has
    /// one pair of each key. Lanes after the last key are zero, as is what pads the depth to whole pairs or
    /// steps.
    #[inline(always)]
    pub(super) unsafe fn pack_pairs_of_keys<S: Simd>(&self, s: S, keys: &Range<usize>, to: *mut u32) {
        let depth = self.shape.depth as usize;
        let distance = [self.shape.k.column as usize, self.shape.k.row as usize];
        for first in (0..keys.len()).step_by(PANEL) {
            let count = PANEL.min(keys.len() - first);
            // SAFETY: these keys are k's, and the table has whole panels.
            unsafe {
                let from = words(self.k.from((keys.start + first) * distance[1]));
                let to = to.add(first * self.depth_pairs);
                pack_panel(s, from, to, [depth, count, self.depth_pairs], distance);
            }
        }
    }

    /// Packs a block of v into panels of 32 columns, each with all pairs of the block's keys. Lanes after the
    /// last column are zero, as is what pads the keys to whole pairs or steps.
    #[inline(always)]
    pub(super) unsafe fn pack_pairs_of_values<S: Simd>(&self, s: S, keys: &Range<usize>, to: *mut u32) {
        let columns = self.shape.columns as usize;
        let pairs = self.key_pairs(keys.len());
        let distance = [self.shape.v.row as usize, self.shape.v.column as usize];
        for first in (0..columns).step_by(PANEL) {
            let count = PANEL.min(columns - first);
            // SAFETY: these columns are v's, and the table has whole panels.
            unsafe {
                let from = words(self.v.from(keys.start * distance[0] + first * distance[1]));
                pack_panel(s, from, to.add(first * pairs), [keys.len(), count, pairs], distance);
            }
        }
    }
}

/// The elements of a `bf16` operand.
#[inline(always)]
fn words(numbers: Numbers) -> *const u16 {
    numbers.start.cast_const().cast::<u16>().wrapping_add(numbers.first)
}

/// Packs `depth` numbers of each of `count` lanes into a panel of `padded` rows: row `k` has the pair `2 k`,
/// `2 k + 1` of each lane.
///
/// # Safety
/// `from` is valid for numbers at these distances from each other (along the depth, and from lane to lane),
/// `to` for the panel.
#[inline(always)]
unsafe fn pack_panel<S: Simd>(
    s: S,
    from: *const u16,
    to: *mut u32,
    [depth, count, padded]: [usize; 3],
    [along, across]: [usize; 2],
) {
    let pairs = depth.div_ceil(2);
    // SAFETY: the panel has these rows.
    unsafe { to.add(pairs * PANEL).write_bytes(0, (padded - pairs) * PANEL) };
    // Rows and lanes whose pairs are words in memory and can be transposed in registers.
    let [rows, lanes] = match along == 1 && across.is_multiple_of(2) {
        true => [depth / 2, count].map(|size| size / SQUARE * SQUARE),
        false => [0, 0],
    };
    // SAFETY: the caller's promise: there are `depth` numbers in each of `count` lanes, and a panel has 32.
    // Squares are read and written as vectors, which need no alignment.
    unsafe {
        for lane in (0..lanes).step_by(SQUARE) {
            for row in (0..rows).step_by(SQUARE) {
                let from = from.add(lane * across + 2 * row).cast::<u32>();
                let to = to.add(row * PANEL + lane);
                s.transpose::<SQUARE>(from, (across / 2).cast_signed(), to, PANEL.cast_signed());
            }
        }
        for row in 0..pairs {
            let to = to.add(row * PANEL);
            let pair = from.wrapping_add(2 * row * along);
            let is_whole = 2 * row + 1 < depth;
            if across == 1 {
                for lane in (0..PANEL).step_by(S::LANES) {
                    let left = count.saturating_sub(lane);
                    let load = |from: *const u16| match left {
                        0 => s.splat_int(0),
                        _ => s.load_upper(from.wrapping_add(lane), left),
                    };
                    let low = s.and_int(s.shift_right::<16>(load(pair)), s.splat_int(0xffff));
                    let high = if is_whole { load(pair.wrapping_add(along)) } else { s.splat_int(0) };
                    s.store(to.add(lane).cast(), s.float(s.add_int(low, high)));
                }
                continue;
            }
            for lane in if row < rows { lanes } else { 0 }..PANEL {
                let number = |from: *const u16| u32::from(*from.add(lane * across));
                *to.add(lane) = match (lane < count, is_whole) {
                    (false, _) => 0,
                    (true, false) => number(pair),
                    (true, true) => number(pair) | number(pair.wrapping_add(along)) << 16,
                };
            }
        }
    }
}
