//! The microkernel of depthwise convolution: a register tile of up to 14 neighbouring pixels of an output
//! line, each with one vector of channels.

use super::TILE;
use super::tile::{QuadTile, add_quads, finish, finish_rows};
use crate::pack::PANEL;
use crate::simd::{Simd, Task, opaque, written_out};

/// Pixels of a strip to compute; distances are in quads of one channel.
pub(super) struct LaneTile<'t> {
    /// The image's columns, from the first one that the first pixel reads.
    pub(super) columns: *const i32,
    /// Distance between pixels.
    pub(super) step: usize,
    /// Distance between taps of a kernel row.
    pub(super) tap_step: usize,
    /// Distance between rows of quads.
    pub(super) row_step: usize,
    pub(super) rows: usize,
    /// Taps of a kernel row.
    pub(super) taps: usize,
    /// Signed-byte terms that each weight is split into.
    pub(super) terms: usize,
    /// The other operands: `b` has the weights' terms, and the rows of the tile are pixels.
    pub(super) tile: QuadTile<'t>,
}

/// Pixels that share a base address: x86 addresses the offsets of 0, 1 and 2 steps in one operand.
const PIXEL_GROUP: usize = 3;
/// Groups that the largest tile has.
const PIXEL_GROUPS: usize = TILE.div_ceil(PIXEL_GROUP);
/// Tiles of fewer pixels spill their sums and finish from memory, as in [`super::tile`].
const IN_REGISTERS: usize = 7;

/// Computes `P` pixels and returns `P`. It is not inlined, so that its sums get all registers.
///
/// # Safety
/// The machine has `S`, and where `AT_ONCE` is 1 its instruction for quads; the tile's operands are valid for
/// `P` pixels.
#[inline(never)]
pub(super) unsafe fn tile_pixels<S: Simd, const P: usize, const AT_ONCE: u32>(tile: &LaneTile<'_>) -> usize {
    let task = LaneTileTask::<P, AT_ONCE>(tile);
    // SAFETY: the caller's promise.
    unsafe { if AT_ONCE == 1 { S::vectorize_quads(task) } else { S::vectorize(task) } }
    P
}

struct LaneTileTask<'t, const P: usize, const AT_ONCE: u32>(&'t LaneTile<'t>);

impl<S: Simd, const P: usize, const AT_ONCE: u32> Task<S> for LaneTileTask<'_, P, AT_ONCE> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let LaneTile { step, tap_step, taps, ref tile, .. } = *self.0;
        let is_dense = step == S::LANES && tap_step == S::LANES;
        // SAFETY: the caller's promise, for the pixels of this size; `begin` has whole vectors.
        unsafe {
            let mut sums = [s.load_int(tile.begin); P];
            match taps {
                3 if const { P >= IN_REGISTERS && AT_ONCE == 1 } && is_dense => {
                    self.add_window::<S, 3>(s, &mut sums);
                }
                5 if const { P >= IN_REGISTERS && AT_ONCE == 1 } && is_dense => {
                    self.add_window::<S, 5>(s, &mut sums);
                }
                _ => self.add_taps(s, &mut sums),
            }
            let mut floats = [[s.splat(0.0)]; P];
            written_out!(p in P => {
                floats[p] = [s.float(sums[p])];
            });
            if const { P >= IN_REGISTERS && AT_ONCE == 1 } {
                return finish::<S, P, 1>(s, tile, floats);
            }
            written_out!(p in P => {
                s.store(tile.sums.add(p * PANEL), floats[p][0]);
            });
            finish_rows::<S>(tile, P, 1);
        }
    }
}

impl<const P: usize, const AT_ONCE: u32> LaneTileTask<'_, P, AT_ONCE> {
    /// Adds the products, tap by tap.
    #[inline(always)]
    unsafe fn add_taps<S: Simd>(&self, s: S, sums: &mut [S::I; P]) {
        let LaneTile { columns, step, tap_step, row_step, rows, taps, terms, ref tile } = *self.0;
        let mut weights = tile.b;
        let mut row = columns;
        for index in 0..terms * rows {
            row = if index % rows == 0 { columns } else { row.wrapping_add(row_step) };
            let mut from = [row; PIXEL_GROUPS];
            for (group, from) in from.iter_mut().enumerate() {
                let first = row.wrapping_add(group * PIXEL_GROUP * step);
                *from = opaque(first.cast()).cast();
            }
            for _ in 0..taps {
                // SAFETY: the tile's promise: all columns have whole vectors, and so have weights.
                unsafe {
                    let weight = s.load_int(weights);
                    written_out!(p in P => {
                        let quads = s.load_int(from[p / PIXEL_GROUP].add(p % PIXEL_GROUP * step));
                        sums[p] = add_quads::<S, AT_ONCE, 0>(s, quads, weight, sums[p]);
                    });
                }
                // After the last tap these pointers are out of bounds, but not read.
                weights = weights.wrapping_add(tile.b_stride);
                for from in &mut from {
                    *from = from.wrapping_add(tap_step);
                }
            }
        }
    }

    /// Adds the products of `K` taps a row if neighbouring pixels and taps read neighbouring columns: each
    /// column is loaded once for all pixels that read it.
    #[inline(always)]
    unsafe fn add_window<S: Simd, const K: usize>(&self, s: S, sums: &mut [S::I; P]) {
        let LaneTile { columns, row_step, rows, terms, ref tile, .. } = *self.0;
        let mut weights = tile.b;
        let mut row = columns;
        for index in 0..terms * rows {
            row = if index % rows == 0 { columns } else { row.wrapping_add(row_step) };
            // SAFETY: the tile's promise: all columns have whole vectors, and so have weights.
            unsafe {
                let mut taps = [s.splat_int(0); K];
                written_out!(k in K, at most 5 => {
                    taps[k] = s.load_int(weights.add(k * tile.b_stride));
                });
                written_out!(p in P => {
                    let quads = s.load_int(row.add(p * S::LANES));
                    written_out!(k in K, at most 5 => {
                        if k <= p {
                            sums[p - k] = add_quads::<S, AT_ONCE, 0>(s, quads, taps[k], sums[p - k]);
                        }
                    });
                });
                // The columns after the last pixel's first column.
                written_out!(after in K, at most 5 => {
                    if after + 1 < K {
                        let quads = s.load_int(row.add((P + after) * S::LANES));
                        written_out!(k in K, at most 5 => {
                            if k > after {
                                let sum = &mut sums[P + after - k];
                                *sum = add_quads::<S, AT_ONCE, 0>(s, quads, taps[k], *sum);
                            }
                        });
                    }
                });
            }
            weights = weights.wrapping_add(K * tile.b_stride);
        }
    }
}
