//! The microkernel of 8-bit products: like [`crate::tile`]'s, a register tile of up to 14 rows by 2 vectors
//! of columns. Each step broadcasts a quad of each row and multiplies it by a vector of quads.

use super::SUMS;
use super::steps::{ByteSign, StepCode, StoredSum, after_steps};
use crate::abi::OperandTable;
use crate::pack::PANEL;
use crate::simd::{Simd, Task, opaque, prefetch, written_out};
use crate::tile::{FETCHED_DEPTH, LINE};

/// `rows x cols` outputs: `c[i][j] = stored(steps(begin[j] + terms[i] * zeros[j] + sum over quads of a[i][k]
/// . b[k][j]))`, strides in elements. A row of `a` has equal segments, `jump` bytes from one to the next.
#[derive(Clone, Copy)]
pub(super) struct QuadTile<'t> {
    pub(super) segments: usize,
    /// Quads of a segment.
    pub(super) quads: usize,
    pub(super) jump: usize,
    pub(super) a: *const u8,
    pub(super) a_stride: usize,
    pub(super) b: *const i32,
    pub(super) b_stride: usize,
    pub(super) begin: *const i32,
    /// Zero-point terms of the rows; null for zeros.
    pub(super) terms: *const i32,
    /// Zero points of the columns; null for ones.
    pub(super) zeros: *const i32,
    pub(super) c: *mut u8,
    pub(super) c_stride: usize,
    pub(super) output: StoredSum,
    /// For rounded byte outputs: the integer to add after rounding to nearest, before the store.
    pub(super) rounded: Option<i32>,
    /// Valid columns, at least 1; all are valid if this exceeds the tile's width.
    pub(super) cols: usize,
    /// The tile's first element of the residual, if a step adds one.
    pub(super) residual: *const u8,
    pub(super) residual_stride: usize,
    pub(super) steps: &'t [StepCode],
    pub(super) operands: OperandTable,
    /// The output channel of the first column.
    pub(super) channel: usize,
    /// Room for `SUMS` spilled sums, as bits.
    pub(super) sums: *mut f32,
    /// What to prefetch: at step `k` the cache line at `ahead + k * ahead_stride`.
    pub(super) ahead: *const i32,
    pub(super) ahead_stride: usize,
}

/// A tile function for a fixed number of rows and of column vectors.
pub(super) type QuadTileFn = unsafe fn(&QuadTile);

/// Rows that share a base address: x86 addresses the offsets of 0, 1 and 2 strides in one operand.
const ROW_GROUP: usize = 3;
/// Groups that the largest tile has.
const ROW_GROUPS: usize = 5;

/// Rows of the largest tile. Without the instruction for quads, widened bytes need registers, too.
#[inline(always)]
pub(super) const fn tile_rows<S: Simd>(at_once: u32) -> usize {
    match (at_once, S::LANES) {
        (1, _) => S::TILE_ROWS,
        (_, 16) => 6,
        _ => 4,
    }
}

/// The tile function for `rows` in `1..=tile_rows(at_once)` and `vectors` in 1..=2, or exactly 2 if a vector
/// has 8 lanes. It uses the machine's instruction for quads if `at_once` is 1.
#[inline(always)]
pub(super) fn tile_function<S: Simd>(
    rows: usize,
    vectors: usize,
    at_once: u32,
    image: ByteSign,
) -> QuadTileFn {
    macro_rules! table {
        ($($rows:literal)*) => {
            match (rows, vectors, at_once, image) {
                $(($rows, 1, 0, ByteSign::Unsigned) => tile::<S, $rows, 1, 0, 0>,)*
                $(($rows, 2, 0, ByteSign::Unsigned) => tile::<S, $rows, 2, 0, 0>,)*
                $(($rows, 1, 0, ByteSign::Signed) => tile::<S, $rows, 1, 0, 1>,)*
                $(($rows, 2, 0, ByteSign::Signed) => tile::<S, $rows, 2, 0, 1>,)*
                $(($rows, 1, _, ByteSign::Unsigned) => tile::<S, $rows, 1, 1, 0>,)*
                $(($rows, 2, _, ByteSign::Unsigned) => tile::<S, $rows, 2, 1, 0>,)*
                $(($rows, 1, _, ByteSign::Signed) => tile::<S, $rows, 1, 1, 1>,)*
                $(($rows, 2, _, ByteSign::Signed) => tile::<S, $rows, 2, 1, 1>,)*
                _ => unreachable!("the caller keeps to the largest tile"),
            }
        };
    }
    table!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

/// # Safety
/// The machine has `S`, and its instruction for quads if `AT_ONCE` is 1. `a` and `b` are valid for the tile's
/// reads (`b`, `begin` and `zeros` for whole vectors), the residual and the steps' operands for its valid
/// columns, and `c` for writes of those. The bytes of `a` are signed if `IMAGE` is 1, and the bytes of `b` if
/// it is 0.
unsafe fn tile<S: Simd, const ROWS: usize, const VECTORS: usize, const AT_ONCE: u32, const IMAGE: u32>(
    tile: &QuadTile,
) {
    let is_there = const {
        let is_wide = VECTORS * S::LANES >= PANEL / 2;
        ROWS <= tile_rows::<S>(AT_ONCE) && (AT_ONCE == 0 || S::MAY_QUAD) && is_wide
    };
    if !is_there {
        unreachable!("the caller keeps to the largest tile, and to instructions that there are");
    }
    let task = QuadTileTask::<ROWS, VECTORS, AT_ONCE, IMAGE>(tile);
    // SAFETY: the caller's promise.
    unsafe { if AT_ONCE == 1 { S::vectorize_quads(task) } else { S::vectorize(task) } }
}

struct QuadTileTask<'t, const ROWS: usize, const VECTORS: usize, const AT_ONCE: u32, const IMAGE: u32>(
    &'t QuadTile<'t>,
);

impl<S: Simd, const ROWS: usize, const VECTORS: usize, const AT_ONCE: u32, const IMAGE: u32> Task<S>
    for QuadTileTask<'_, ROWS, VECTORS, AT_ONCE, IMAGE>
{
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let tile = *self.0;
        // SAFETY: `tile`'s promise, for the rows and columns of this size.
        unsafe {
            let mut sums = begin::<S, ROWS, VECTORS>(s, &tile);
            fetch_outputs::<ROWS>(&tile);
            let mut b = tile.b;
            let mut a = [tile.a; ROW_GROUPS];
            for (group, a) in a.iter_mut().enumerate() {
                let first = tile.a.wrapping_add(group * ROW_GROUP * tile.a_stride);
                *a = opaque(first.cast()).cast();
            }
            let mut ahead = tile.ahead;
            for _ in 0..tile.segments {
                for _ in 0..tile.quads {
                    let mut weights = [s.splat_int(0); VECTORS];
                    for (v, weight) in weights.iter_mut().enumerate() {
                        *weight = s.load_int(b.add(v * S::LANES));
                    }
                    prefetch(ahead.cast());
                    if tile.ahead_stride > LINE {
                        prefetch(ahead.wrapping_add(LINE).cast());
                    }
                    ahead = ahead.wrapping_add(tile.ahead_stride);
                    // After the last step this pointer is out of bounds, but not read.
                    b = b.wrapping_add(tile.b_stride);
                    written_out!(row in ROWS => {
                        let from = a[row / ROW_GROUP].add(row % ROW_GROUP * tile.a_stride);
                        let quad = s.splat_int(i32::from_le(from.cast::<i32>().read_unaligned()));
                        for (sum, &weight) in sums[row].iter_mut().zip(&weights) {
                            *sum = add_quads::<S, AT_ONCE, IMAGE>(s, quad, weight, *sum);
                        }
                    });
                    for a in &mut a {
                        *a = a.wrapping_add(4);
                    }
                }
                for a in &mut a {
                    *a = a.wrapping_add(tile.jump).wrapping_sub(4 * tile.quads);
                }
            }
            let mut floats = [[s.splat(0.0); VECTORS]; ROWS];
            written_out!(row in ROWS => {
                for (float, sum) in floats[row].iter_mut().zip(sums[row]) {
                    *float = s.float(sum);
                }
            });
            if const { ROWS >= IN_REGISTERS && AT_ONCE == 1 } {
                return finish::<S, ROWS, VECTORS>(s, self.0, floats);
            }
            written_out!(row in ROWS => {
                for (v, float) in floats[row].iter().enumerate() {
                    s.store(tile.sums.add(row * PANEL + v * S::LANES), *float);
                }
            });
            finish_rows::<S>(self.0, ROWS, VECTORS);
        }
    }
}

/// Adds the products of an image's quads and weights' quads, which have the other sign.
///
/// # Safety
/// The machine has the instruction if `AT_ONCE` is 1.
#[inline(always)]
pub(super) unsafe fn add_quads<S: Simd, const AT_ONCE: u32, const IMAGE: u32>(
    s: S,
    image: S::I,
    weights: S::I,
    sum: S::I,
) -> S::I {
    let [unsigned, signed] = if IMAGE == 1 { [weights, image] } else { [image, weights] };
    match AT_ONCE {
        // SAFETY: the caller's promise.
        1 => unsafe { s.add_quads_at_once(unsigned, signed, sum) },
        _ => s.add_quads(unsigned, signed, sum),
    }
}

/// Prefetches the outputs of a deep tile.
#[inline(always)]
fn fetch_outputs<const ROWS: usize>(tile: &QuadTile) {
    if tile.segments * tile.quads >= FETCHED_DEPTH {
        written_out!(row in ROWS => {
            let at = tile.c.wrapping_add(row * tile.c_stride * tile.output.bytes());
            prefetch(at.cast_const().cast());
            if tile.output.bytes() > 1 {
                prefetch(at.wrapping_add(LINE * 4).cast_const().cast());
            }
        });
    }
}

/// The initial sums: the columns' addends and the rows' zero-point terms.
#[inline(always)]
unsafe fn begin<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &QuadTile,
) -> [[S::I; VECTORS]; ROWS] {
    let mut sums = [[s.splat_int(0); VECTORS]; ROWS];
    written_out!(v in VECTORS, at most 2 => {
        let first = v * S::LANES;
        // SAFETY: `tile`'s promise.
        unsafe {
            let addend = s.load_int(tile.begin.add(first));
            if tile.terms.is_null() {
                written_out!(row in ROWS => {
                    sums[row][v] = addend;
                });
            } else if tile.zeros.is_null() {
                written_out!(row in ROWS => {
                    sums[row][v] = s.add_int(addend, s.splat_int(*tile.terms.add(row)));
                });
            } else {
                let zeros = s.load_int(tile.zeros.add(first));
                written_out!(row in ROWS => {
                    let term = s.splat_int(*tile.terms.add(row));
                    sums[row][v] = s.add_int(addend, s.mul_int(term, zeros));
                });
            }
        }
    });
    sums
}

/// Tiles with fewer rows spill their sums and call [`finish_rows`]. Steps in registers take less time, but
/// their code is too large to repeat for every small tile size.
const IN_REGISTERS: usize = 12;

/// Applies the steps to spilled sums and stores the results.
///
/// # Safety
/// The machine has `S`; `tile`'s promise, and `tile.sums` holds `rows` rows of sums.
#[inline(never)]
pub(super) unsafe fn finish_rows<S: Simd>(tile: &QuadTile, rows: usize, vectors: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match vectors {
            1 => S::vectorize(FinishTask::<1> { tile, rows }),
            _ => S::vectorize(FinishTask::<2> { tile, rows }),
        }
    }
}

struct FinishTask<'t, const VECTORS: usize> {
    tile: &'t QuadTile<'t>,
    rows: usize,
}

impl<S: Simd, const VECTORS: usize> Task<S> for FinishTask<'_, VECTORS> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let FinishTask { mut tile, rows } = self;
        let mut rest;
        let mut left = rows;
        // The portable vectors of such a tile do not fit registers, and their code would be large.
        let holds_8 = VECTORS == 1 && S::TILE_ROWS > 4;
        loop {
            // Each call asks which steps there are: 8 vectors share the answers.
            // SAFETY: the caller's promise, for the rows that there are.
            let done = unsafe {
                match left {
                    7 | 11 | 14 if holds_8 => finish_stored::<S, 7, 1>(s, tile),
                    8.. if holds_8 => finish_stored::<S, 8, 1>(s, tile),
                    4.. => finish_stored::<S, 4, VECTORS>(s, tile),
                    _ => finish_stored::<S, 1, VECTORS>(s, tile),
                }
            };
            left -= done;
            if left == 0 {
                return;
            }
            rest = tile.at([done, 0]);
            tile = &rest;
        }
    }
}

impl QuadTile<'_> {
    /// What is to be finished of the tile from a row and a column on.
    #[inline(always)]
    pub(super) fn at(&self, [row, column]: [usize; 2]) -> Self {
        let residual_bytes = StepCode::residual_bytes(self.steps);
        QuadTile {
            terms: if self.terms.is_null() { self.terms } else { self.terms.wrapping_add(row) },
            c: self.c.wrapping_add((row * self.c_stride + column) * self.output.bytes()),
            cols: self.cols - column,
            residual: self.residual.wrapping_add((row * self.residual_stride + column) * residual_bytes),
            channel: self.channel + column,
            sums: self.sums.wrapping_add(row * PANEL + column),
            ..*self
        }
    }
}

/// Applies the steps to some rows of spilled sums, stores the results, and returns how many rows these are.
#[inline(always)]
unsafe fn finish_stored<S: Simd, const ROWS: usize, const VECTORS: usize>(s: S, tile: &QuadTile) -> usize {
    let mut floats = [[s.splat(0.0); VECTORS]; ROWS];
    // SAFETY: `tile`'s promise; sums are stored.
    unsafe {
        written_out!(row in ROWS => {
            for (v, float) in floats[row].iter_mut().enumerate() {
                *float = s.load(tile.sums.add(row * PANEL + v * S::LANES));
            }
        });
        finish::<S, ROWS, VECTORS>(s, tile, floats);
    }
    ROWS
}

/// Applies the steps to the sums of some rows, given as bits of integers, and stores the results.
///
/// # Safety
/// `tile`'s promise, except for the operands of the products.
#[inline(always)]
pub(super) unsafe fn finish<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &QuadTile,
    mut floats: [[S::F; VECTORS]; ROWS],
) {
    let is_whole = tile.cols >= VECTORS * S::LANES;
    let cols = tile.cols.min(VECTORS * S::LANES);
    // SAFETY: `tile`'s promise: each operand has the valid columns.
    unsafe {
        if tile.output != StoredSum::I32 {
            written_out!(row in ROWS => {
                for float in &mut floats[row] {
                    *float = s.to_float(s.bits(*float));
                }
            });
            floats = after_steps::<S, ROWS, VECTORS>(s, tile, floats);
        }
        // A number of columns known at compile time needs no masks.
        match is_whole {
            true => store_all::<S, ROWS, VECTORS>(s, tile, VECTORS * S::LANES, floats),
            false => store_all::<S, ROWS, VECTORS>(s, tile, cols, floats),
        }
    }
}

/// Stores the first `cols` columns.
#[inline(always)]
unsafe fn store_all<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &QuadTile,
    cols: usize,
    floats: [[S::F; VECTORS]; ROWS],
) {
    macro_rules! each {
        (|$first:ident, $at:ident, $float:ident| $store:expr) => {{
            written_out!(row in ROWS => {
                for (v, &$float) in floats[row].iter().enumerate() {
                    let $first = v * S::LANES;
                    let $at = row * tile.c_stride + $first;
                    if cols > $first {
                        $store;
                    }
                }
            });
        }};
    }
    let to = tile.c;
    // SAFETY: `tile`'s promise: `c` has the valid columns.
    unsafe {
        match (tile.output, tile.rounded) {
            (StoredSum::I32 | StoredSum::F32, _) => {
                each!(|first, at, float| s.store_first(to.cast::<f32>().add(at), cols - first, float));
            }
            (StoredSum::U8, None) => {
                each!(|first, at, float| s.store_unsigned(to.add(at), cols - first, float));
            }
            (StoredSum::U8, Some(added)) => {
                each!(|first, at, float| s.store_near_unsigned(to.add(at), cols - first, float, added));
            }
            (StoredSum::I8, None) => {
                each!(|first, at, float| s.store_signed(to.add(at), cols - first, float));
            }
            (StoredSum::I8, Some(added)) => {
                each!(|first, at, float| s.store_near_signed(to.add(at), cols - first, float, added));
            }
        }
    }
}

/// Rows of bytes to sum up.
#[derive(Clone, Copy)]
pub(super) struct RowSums {
    pub(super) a: *const u8,
    pub(super) a_stride: usize,
    pub(super) segments: usize,
    pub(super) jump: usize,
    /// Quads of a segment.
    pub(super) quads: usize,
    pub(super) rows: usize,
    pub(super) image: ByteSign,
    pub(super) to: *mut i32,
}

struct RowSumsTask<const AT_ONCE: u32>(RowSums);

/// Writes the sum of each row, with the machine's instruction for quads if `at_once` is 1.
///
/// # Safety
/// The machine has `S`, and the instruction if `at_once` is 1. `a` is valid for reads of the rows, and `to`
/// for writes of one sum for each row.
#[inline(always)]
pub(super) unsafe fn row_sums<S: Simd>(sums: RowSums, at_once: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match at_once {
            1 => S::vectorize_quads(RowSumsTask::<1>(sums)),
            _ => S::vectorize(RowSumsTask::<0>(sums)),
        }
    }
}

impl<S: Simd, const AT_ONCE: u32> Task<S> for RowSumsTask<AT_ONCE> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let RowSums { a, a_stride, segments, jump, quads, rows, image, to } = self.0;
        let ones = s.splat_int(0x0101_0101);
        for row in 0..rows {
            let mut sum = s.splat_int(0);
            // SAFETY: the caller's promise.
            unsafe {
                for segment in 0..segments {
                    let from = a.add(row * a_stride + segment * jump).cast::<f32>();
                    for quad in (0..quads).step_by(S::LANES) {
                        let bytes = s.bits(s.load_first(from.add(quad), quads - quad));
                        sum = match image {
                            ByteSign::Unsigned => add_quads::<S, AT_ONCE, 0>(s, bytes, ones, sum),
                            ByteSign::Signed => add_quads::<S, AT_ONCE, 1>(s, bytes, ones, sum),
                        };
                    }
                }
                let mut lanes = [0i32; 16];
                s.store(lanes.as_mut_ptr().cast(), s.float(sum));
                *to.add(row) = lanes.iter().fold(0, |all, lane| all.wrapping_add(*lane));
            }
        }
    }
}

/// The largest tile's sums fit.
const _: () = assert!(SUMS >= 14 * PANEL);

#[cfg(test)]
#[path = "tile_tests.rs"]
mod tests;
