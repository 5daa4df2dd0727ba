//! The microkernel of `bf16` products: like [`crate::tile`]'s, a register tile of up to 14 rows by 2 vectors
//! of columns. Each step broadcasts a pair of each row and multiplies it by a vector of pairs.

use super::SUMS;
use crate::bf16::{StoredFloat, load, store};
use crate::map::{Finish, FunctionCode, MapBody, apply};
use crate::math;
use crate::pack::PANEL;
use crate::simd::{Simd, Task, prefetch, written_out};
use crate::tile::{FETCHED_DEPTH, LINE};

/// `rows x cols` outputs: `c[i][j] = finish(bias[j] + residual[i][j] + sum over pairs of a[i][k] . b[k][j])`,
/// strides in elements.
#[derive(Clone, Copy)]
pub(super) struct PairTile {
    /// Pairs of a segment of a row.
    pub(super) pairs: usize,
    /// Segments of a row of `a`, and their distance; those of `b` follow each other.
    pub(super) segments: usize,
    pub(super) segment_stride: usize,
    pub(super) a: *const u16,
    pub(super) a_stride: usize,
    pub(super) b: *const i32,
    pub(super) b_stride: usize,
    pub(super) c: *mut u8,
    pub(super) c_first: usize,
    pub(super) c_stride: usize,
    pub(super) output: StoredFloat,
    /// Valid columns, at least 1; all are valid if this exceeds the tile's width.
    pub(super) cols: usize,
    /// Null for zeros.
    pub(super) bias: *const f32,
    /// Null for zeros.
    pub(super) residual: *const u8,
    pub(super) residual_first: usize,
    pub(super) residual_stride: usize,
    pub(super) residual_stored: StoredFloat,
    pub(super) activation: FunctionCode,
    /// Room for `SUMS` sums, for functions that cannot be applied in registers.
    pub(super) sums: *mut f32,
    /// What to prefetch: at step `k` the cache line at `ahead + k * ahead_stride`.
    pub(super) ahead: *const i32,
    pub(super) ahead_stride: usize,
}

/// A tile function for a fixed number of rows and of column vectors.
pub(super) type PairTileFn = unsafe fn(&PairTile);

/// Rows of the largest tile. Without the instruction for pairs, widened numbers need registers, too.
#[inline(always)]
pub(super) const fn tile_rows<S: Simd>(at_once: u32) -> usize {
    match (at_once, S::LANES) {
        (1, _) => S::TILE_ROWS,
        (_, 16) => 12,
        _ => 4,
    }
}

/// The tile function for `rows` in `1..=tile_rows(at_once)` and `vectors` in 1..=2. It uses the machine's
/// instruction for pairs if `at_once` is 1.
#[inline(always)]
pub(super) fn tile_function<S: Simd>(rows: usize, vectors: usize, at_once: u32) -> PairTileFn {
    macro_rules! table {
        ($($rows:literal)*) => {
            match (rows, vectors, at_once) {
                $(($rows, 1, 0) => tile::<S, $rows, 1, 0>,)*
                $(($rows, 2, 0) => tile::<S, $rows, 2, 0>,)*
                $(($rows, 1, _) => tile::<S, $rows, 1, 1>,)*
                $(($rows, 2, _) => tile::<S, $rows, 2, 1>,)*
                _ => unreachable!("the caller keeps to the largest tile"),
            }
        };
    }
    table!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

/// # Safety
/// The machine has `S`, and its instruction for pairs if `AT_ONCE` is 1. `a` and `b` are valid for the tile's
/// reads (`b` for whole vectors), bias and residual for its valid columns, and `c` for writes of those. The
/// residual may be `c` itself.
unsafe fn tile<S: Simd, const ROWS: usize, const VECTORS: usize, const AT_ONCE: u32>(tile: &PairTile) {
    if const { ROWS > tile_rows::<S>(AT_ONCE) || AT_ONCE == 1 && !S::MAY_PAIR } {
        unreachable!("the caller keeps to the largest tile, and to instructions that there are");
    }
    let task = PairTileTask::<ROWS, VECTORS, AT_ONCE>(tile);
    // SAFETY: the caller's promise.
    unsafe { if AT_ONCE == 1 { S::vectorize_pairs(task) } else { S::vectorize(task) } }
}

struct PairTileTask<'t, const ROWS: usize, const VECTORS: usize, const AT_ONCE: u32>(&'t PairTile);

impl<S: Simd, const ROWS: usize, const VECTORS: usize, const AT_ONCE: u32> Task<S>
    for PairTileTask<'_, ROWS, VECTORS, AT_ONCE>
{
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let tile = *self.0;
        // SAFETY: `tile`'s promise, for the rows and columns of this size.
        unsafe {
            let is_whole = tile.cols >= VECTORS * S::LANES;
            let mut sums = match is_whole {
                true => begin::<S, ROWS, VECTORS>(s, &tile, VECTORS * S::LANES),
                false => begin::<S, ROWS, VECTORS>(s, &tile, tile.cols),
            };
            if tile.pairs >= FETCHED_DEPTH {
                let bytes = tile.output.bytes();
                let first = tile.c.wrapping_add(tile.c_first * bytes);
                written_out!(row in ROWS => {
                    let at = first.wrapping_add(row * tile.c_stride * bytes);
                    prefetch(at.cast_const().cast());
                    if tile.output == StoredFloat::F32 && VECTORS > 1 {
                        prefetch(at.wrapping_add(LINE * 4).cast_const().cast());
                    }
                });
            }
            let mut b = tile.b;
            let mut ahead = tile.ahead;
            for segment in 0..tile.segments {
                let a = tile.a.add(segment * tile.segment_stride);
                for k in 0..tile.pairs {
                    let mut weights = [s.splat_int(0); VECTORS];
                    for (v, weight) in weights.iter_mut().enumerate() {
                        *weight = s.load_int(b.add(v * S::LANES));
                    }
                    prefetch(ahead.cast());
                    if tile.ahead_stride > LINE {
                        prefetch(ahead.wrapping_add(LINE).cast());
                    }
                    // After the last step these pointers are out of bounds, but not read.
                    ahead = ahead.wrapping_add(tile.ahead_stride);
                    b = b.wrapping_add(tile.b_stride);
                    written_out!(row in ROWS => {
                        let pair = a.add(row * tile.a_stride + 2 * k).cast::<i32>().read_unaligned();
                        let pair = s.splat_int(pair);
                        for (sum, &weight) in sums[row].iter_mut().zip(&weights) {
                            *sum = if AT_ONCE == 1 {
                                s.add_pairs_at_once(pair, weight, *sum)
                            } else {
                                s.add_pairs(pair, weight, *sum)
                            };
                        }
                    });
                }
            }
            let sums = activated::<S, ROWS, VECTORS>(s, &tile, sums);
            match is_whole {
                true => store_all::<S, ROWS, VECTORS, AT_ONCE>(s, &tile, VECTORS * S::LANES, sums),
                false => store_all::<S, ROWS, VECTORS, AT_ONCE>(s, &tile, tile.cols, sums),
            }
        }
    }
}

/// The initial sums of the first `cols` columns: bias and residual. A number of columns known at compile time
/// needs no masks.
#[inline(always)]
unsafe fn begin<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &PairTile,
    cols: usize,
) -> [[S::F; VECTORS]; ROWS] {
    let mut sums = [[s.splat(0.0); VECTORS]; ROWS];
    written_out!(v in VECTORS, at most 2 => {
        let first = v * S::LANES;
        if cols > first {
            let count = cols - first;
            // SAFETY: `tile`'s promise: bias and residual have the valid columns.
            unsafe {
                if !tile.bias.is_null() {
                    let bias = s.load_first(tile.bias.add(first), count);
                    written_out!(row in ROWS => {
                        sums[row][v] = bias;
                    });
                }
                if !tile.residual.is_null() {
                    written_out!(row in ROWS => {
                        let at = tile.residual_first + row * tile.residual_stride + first;
                        let added = load(s, tile.residual, tile.residual_stored, at, count);
                        sums[row][v] = s.add(sums[row][v], added);
                    });
                }
            }
        }
    });
    sums
}

/// The sums after the activation.
#[inline(always)]
unsafe fn activated<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &PairTile,
    mut sums: [[S::F; VECTORS]; ROWS],
) -> [[S::F; VECTORS]; ROWS] {
    if let Finish::Clip { lo, hi } = tile.activation.finish() {
        written_out!(row in ROWS => {
            for sum in &mut sums[row] {
                *sum = math::clip(s, *sum, lo, hi);
            }
        });
    }
    if tile.activation.is_deferred() {
        // SAFETY: `tile.sums` has room for the largest tile.
        unsafe {
            written_out!(row in ROWS => {
                for (v, sum) in sums[row].iter().enumerate() {
                    s.store(tile.sums.add(row * PANEL + v * S::LANES), *sum);
                }
            });
            for row in 0..ROWS {
                let at = tile.sums.add(row * PANEL);
                apply::<S>(MapBody { code: tile.activation, from: at, to: at, n: tile.cols.min(PANEL) });
            }
            written_out!(row in ROWS => {
                for (v, sum) in sums[row].iter_mut().enumerate() {
                    *sum = s.load(tile.sums.add(row * PANEL + v * S::LANES));
                }
            });
        }
    }
    sums
}

/// Stores the first `cols` columns.
#[inline(always)]
unsafe fn store_all<S: Simd, const ROWS: usize, const VECTORS: usize, const AT_ONCE: u32>(
    s: S,
    tile: &PairTile,
    cols: usize,
    sums: [[S::F; VECTORS]; ROWS],
) {
    written_out!(row in ROWS => {
        for (v, sum) in sums[row].iter().enumerate() {
            let first = v * S::LANES;
            if cols <= first {
                continue;
            }
            let at = tile.c_first + row * tile.c_stride + first;
            // SAFETY: `tile`'s promise: `c` has the valid columns, and the machine the instruction.
            unsafe {
                if AT_ONCE == 1 && tile.output == StoredFloat::Bf16 {
                    s.store_nearest_at_once(tile.c.cast::<u16>().add(at), cols - first, *sum);
                } else {
                    store(s, tile.c, tile.output, at, cols - first, *sum);
                }
            }
        }
    });
}

/// The largest tile's sums fit.
const _: () = assert!(SUMS >= 14 * PANEL);
