//! The microkernel of contractions: a tile of up to 14 rows by 2 vectors of columns, all sums in registers.
//! Tiles of few rows have columns of several panels, for the same number of sums.
//!
//! For each k the packed weights' vectors are loaded once, each row's element is broadcast from where it
//! lies, and every sum takes one fused multiply-add: 28 independent chains with AVX-512, where 8 hide the
//! latency. After Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008), with the
//! roles of the operands exchanged: the weights are the vectors, so that channels-last activations need no
//! packing.

use std::ops::Range;

use crate::map::Finish;
use crate::math;
use crate::pack::PANEL;
use crate::simd::{Simd, Task, opaque, prefetch, written_out};

/// How a tile's sums begin.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// The first block of K: bias + residual, either of which may be null for zero.
    Fresh { bias: *const f32, residual: *const f32, residual_stride: usize },
    /// A later block: the partial sums that the former block left in the output.
    Resume,
}

/// `rows x cols` outputs: `c[i][j] = finish(start[i][j] + sum over k of a[i][k] * b[k][j])`, strides in
/// elements.
#[derive(Clone, Copy)]
pub(crate) struct Tile {
    /// Elements of K in each segment of a row of `a`.
    pub(crate) depth: usize,
    /// Segments of a row of `a`; those of `b` follow each other.
    pub(crate) segments: usize,
    pub(crate) segment_stride: usize,
    pub(crate) a: *const f32,
    pub(crate) a_stride: usize,
    pub(crate) b: *const f32,
    pub(crate) b_stride: usize,
    /// Between the panels of a tile that has several.
    pub(crate) panel_stride: usize,
    pub(crate) c: *mut f32,
    pub(crate) c_stride: usize,
    /// Valid columns, at least 1; more than the tile has means all.
    pub(crate) cols: usize,
    pub(crate) start: Start,
    pub(crate) finish: Finish,
    /// What is fetched from memory meanwhile, for the next block: until step `k` the lines from `ahead` to
    /// `ahead + k * ahead_stride`. A tile of several panels fetches nothing: it has no more additions than
    /// loads, so that each line fetched would take the time of a load, and the processor foresees its few
    /// streams.
    pub(crate) ahead: *const f32,
    pub(crate) ahead_stride: usize,
}

/// A tile function for a fixed number of rows and of vectors of columns.
pub(crate) type TileFn = unsafe fn(&Tile);

/// Steps of K that are written out one after the other, so that what counts them is done once for all.
const STEPS: usize = 4;
/// Rows that are addressed from the first of them: at no, one and two strides, as x86 does it in one operand.
const ROW_GROUP: usize = 3;
/// Groups of the most rows.
const ROW_GROUPS: usize = 5;
/// The fewest steps of a tile that fetches the lines that it stores to; in a shorter one they would come too
/// late.
pub(crate) const FETCHED_DEPTH: usize = 128;
/// The most steps of a tile that takes hardly longer than its stores. It fetches the lines of the next tile
/// in the same columns: of as many rows after its own.
const FETCHED_AHEAD_DEPTH: usize = 40;

/// Floats of a cache line.
pub(crate) const LINE: usize = 16;

/// The number of panels of a tile of `rows` rows. Few rows of one panel have too few sums to hide the latency
/// of an addition: they get more panels, for up to 16 sums.
#[inline(always)]
pub(crate) const fn panels_at_once<S: Simd>(rows: usize) -> usize {
    match (S::LANES, rows) {
        (16, 1 | 2) => 4,
        (16, 3) | (8, 1) => 2,
        _ => 1,
    }
}

/// The rows of each tile of a block: at most `most`, and as even as can be, since a tile of few rows has too
/// few sums to hide the latency of an addition.
#[inline(always)]
pub(crate) fn tile_ranges(rows: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let tiles = rows.div_ceil(most);
    let least = rows / tiles.max(1);
    let longer = rows % tiles.max(1);
    (0..tiles).map(move |tile| {
        let first = tile * least + tile.min(longer);
        first..first + least + usize::from(tile < longer)
    })
}

/// The tile function for `rows` in `1..=S::TILE_ROWS` and `vectors` of 1 or 2, or those of
/// [`panels_at_once`] panels.
#[inline(always)]
pub(crate) fn tile_function<S: Simd>(rows: usize, vectors: usize) -> TileFn {
    macro_rules! table {
        ($($rows:literal)*) => {
            match (rows, vectors) {
                $(($rows, 1) => tile::<S, $rows, 1>,)*
                $(($rows, 2) => tile::<S, $rows, 2>,)*
                (1, 8) => tile::<S, 1, 8>,
                (2, 8) => tile::<S, 2, 8>,
                (3, 4) => tile::<S, 3, 4>,
                _ => unreachable!("the caller keeps to the largest tile"),
            }
        };
    }
    table!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

/// # Safety
/// The machine has `S`; `a`, `b` are valid for the tile's reads (`b` for whole vectors), bias and residual
/// for its valid columns, `c` for reads and writes of them. The residual may be `c` itself.
unsafe fn tile<S: Simd, const ROWS: usize, const VECTORS: usize>(tile: &Tile) {
    if const { ROWS > S::TILE_ROWS || VECTORS > 2 && VECTORS * S::LANES != panels_at_once::<S>(ROWS) * PANEL }
    {
        unreachable!("the caller keeps to the largest tile");
    }
    // SAFETY: the caller's promise.
    unsafe { S::vectorize(TileTask::<ROWS, VECTORS>(tile)) }
}

struct TileTask<'t, const ROWS: usize, const VECTORS: usize>(&'t Tile);

impl<S: Simd, const ROWS: usize, const VECTORS: usize> Task<S> for TileTask<'_, ROWS, VECTORS> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let tile = *self.0;
        // SAFETY: `tile`'s promise, for the rows and columns of this size.
        unsafe {
            let mut sums = begin::<S, ROWS, VECTORS>(s, &tile);
            let depth = tile.segments * tile.depth;
            let next = if depth >= FETCHED_DEPTH { 0 } else { ROWS * tile.c_stride };
            if depth >= FETCHED_DEPTH || depth <= FETCHED_AHEAD_DEPTH {
                written_out!(row in ROWS => {
                    for v in 0..VECTORS {
                        prefetch(tile.c.wrapping_add(next + row * tile.c_stride + v * S::LANES));
                    }
                });
            }
            let mut b = tile.b;
            let mut a = [tile.a; ROW_GROUPS];
            for (group, a) in a.iter_mut().enumerate() {
                *a = opaque(tile.a.wrapping_add(group * ROW_GROUP * tile.a_stride));
            }
            let mut ahead = tile.ahead;
            let lines =
                if VECTORS * S::LANES <= PANEL { (tile.ahead_stride * STEPS).div_ceil(LINE) } else { 0 };
            for _ in 0..tile.segments {
                for _ in 0..tile.depth / STEPS {
                    for line in 0..lines {
                        prefetch(ahead.wrapping_add(line * LINE));
                    }
                    ahead = ahead.wrapping_add(STEPS * tile.ahead_stride);
                    written_out!(step in STEPS => {
                        add_products::<S, ROWS, VECTORS>(s, &tile, &a, step, b, &mut sums);
                        // After the last step it is formed, never followed.
                        b = b.wrapping_add(tile.b_stride);
                    });
                    for a in &mut a {
                        *a = a.wrapping_add(STEPS);
                    }
                }
                for step in 0..tile.depth % STEPS {
                    add_products::<S, ROWS, VECTORS>(s, &tile, &a, step, b, &mut sums);
                    b = b.wrapping_add(tile.b_stride);
                }
                for a in &mut a {
                    *a = a.wrapping_add(tile.segment_stride).wrapping_sub(tile.depth / STEPS * STEPS);
                }
            }
            if let Finish::Clip { lo, hi } = tile.finish {
                written_out!(row in ROWS => {
                    for sum in &mut sums[row] {
                        *sum = math::clip(s, *sum, lo, hi);
                    }
                });
            }
            written_out!(row in ROWS => {
                store_row(s, tile.c.add(row * tile.c_stride), tile.cols, &sums[row]);
            });
        }
    }
}

/// Adds the products of one step, whose weights are at `b`: `step` elements after where the groups of rows
/// are.
#[inline(always)]
unsafe fn add_products<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &Tile,
    a: &[*const f32; ROW_GROUPS],
    step: usize,
    b: *const f32,
    sums: &mut [[S::F; VECTORS]; ROWS],
) {
    // SAFETY: `tile`'s promise.
    unsafe {
        let mut weights = [s.splat(0.0); VECTORS];
        for (v, weight) in weights.iter_mut().enumerate() {
            let lane = v * S::LANES;
            *weight = s.load(b.add(lane / PANEL * tile.panel_stride + lane % PANEL));
        }
        written_out!(row in ROWS => {
            let x = s.splat(*a[row / ROW_GROUP].add(row % ROW_GROUP * tile.a_stride + step));
            for (sum, &weight) in sums[row].iter_mut().zip(&weights) {
                *sum = s.mul_add(x, weight, *sum);
            }
        });
    }
}

/// The sums before the first product.
#[inline(always)]
unsafe fn begin<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &Tile,
) -> [[S::F; VECTORS]; ROWS] {
    // SAFETY: `tile`'s promise: bias, residual and output have the valid columns.
    unsafe {
        let (addend, residual, stride) = match tile.start {
            Start::Resume => ([s.splat(0.0); VECTORS], tile.c.cast_const(), tile.c_stride),
            Start::Fresh { bias, residual, residual_stride } if bias.is_null() => {
                ([s.splat(0.0); VECTORS], residual, residual_stride)
            }
            Start::Fresh { bias, residual, residual_stride } => {
                (load_row(s, bias, tile.cols), residual, residual_stride)
            }
        };
        let mut sums = [addend; ROWS];
        if matches!(tile.start, Start::Resume) {
            written_out!(row in ROWS => {
                sums[row] = load_row(s, residual.add(row * stride), tile.cols);
            });
        } else if !residual.is_null() {
            written_out!(row in ROWS => {
                let values: [S::F; VECTORS] = load_row(s, residual.add(row * stride), tile.cols);
                for (sum, value) in sums[row].iter_mut().zip(values) {
                    *sum = s.add(*sum, value);
                }
            });
        }
        sums
    }
}

/// The first `cols` elements at `from`, zeros after them.
#[inline(always)]
unsafe fn load_row<S: Simd, const VECTORS: usize>(s: S, from: *const f32, cols: usize) -> [S::F; VECTORS] {
    let mut row = [s.splat(0.0); VECTORS];
    for (v, value) in row.iter_mut().enumerate() {
        let at = from.wrapping_add(v * S::LANES);
        let first = v * S::LANES;
        // SAFETY: only elements below `cols` are read.
        unsafe {
            if cols > first {
                *value = s.load_first(at, cols - first);
            }
        }
    }
    row
}

/// Stores the first `cols` elements.
#[inline(always)]
unsafe fn store_row<S: Simd, const VECTORS: usize>(s: S, to: *mut f32, cols: usize, row: &[S::F; VECTORS]) {
    for (v, &value) in row.iter().enumerate() {
        let at = to.wrapping_add(v * S::LANES);
        let first = v * S::LANES;
        // SAFETY: only elements below `cols` are written.
        unsafe {
            if cols > first {
                s.store_first(at, cols - first, value);
            }
        }
    }
}
