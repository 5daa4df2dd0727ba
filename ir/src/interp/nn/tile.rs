//! The inner loop of every contraction: a few rows times a block of columns.

use crate::interp::element::Lane;

/// Rows of a tile: they share one pass over the columns of `b`.
pub(super) const ROWS: usize = 8;
/// Columns of a tile: its `ROWS * COLUMNS` sums stay in the first-level cache.
pub(super) const COLUMNS: usize = 256;

/// Rows of `out`, to which products of rows of `a` and a block of `b` are added.
pub(super) struct RowTile<'a> {
    /// For each row: its start in `a`, and in `out`.
    pub(super) rows: &'a [(usize, usize)],
    /// Elements of a row of `a`; also the number of rows of `b`.
    pub(super) depth: usize,
    /// The start of the block in `b`, and the distance of its rows.
    pub(super) block: (usize, usize),
    /// Columns of the block.
    pub(super) width: usize,
}

/// `out[row][j] += sum over k of a[row][k] * b[k][j]`: one fused multiply-add for each `k`, in order.
#[inline(always)]
pub(super) fn multiply_add<L: Lane>(tile: &RowTile<'_>, a: &[L], b: &[L], out: &mut [L]) {
    let (start, stride) = tile.block;
    let row_of_b = |k: usize| &b[start + k * stride..start + k * stride + tile.width];
    let fours = tile.depth / 4 * 4;
    for k in (0..fours).step_by(4) {
        let rows = [row_of_b(k), row_of_b(k + 1), row_of_b(k + 2), row_of_b(k + 3)];
        for &(from, to) in tile.rows {
            let x = &a[from + k..from + k + 4];
            add_four(&mut out[to..to + tile.width], [x[0], x[1], x[2], x[3]], rows);
        }
    }
    for k in fours..tile.depth {
        let row = row_of_b(k);
        for &(from, to) in tile.rows {
            let x = a[from + k];
            for (sum, b) in out[to..to + tile.width].iter_mut().zip(row) {
                *sum = x.fma(*b, *sum);
            }
        }
    }
}

/// Adds four terms to each sum, so that sums are read and written once for all four.
#[inline(always)]
fn add_four<L: Lane>(sums: &mut [L], x: [L; 4], rows: [&[L]; 4]) {
    let n = sums.len();
    let [r0, r1, r2, r3] = rows.map(|row| &row[..n]);
    for j in 0..n {
        let two = x[1].fma(r1[j], x[0].fma(r0[j], sums[j]));
        sums[j] = x[3].fma(r3[j], x[2].fma(r2[j], two));
    }
}

/// The matrices of `[.., rows, columns]` transposed.
pub(super) fn swap_last_axes<L: Lane>(lanes: &[L], rows: usize, columns: usize) -> Vec<L> {
    let mut out = vec![L::default(); lanes.len()];
    if lanes.is_empty() {
        return out;
    }
    for (from, to) in lanes.chunks_exact(rows * columns).zip(out.chunks_exact_mut(rows * columns)) {
        for (column, to) in to.chunks_exact_mut(rows).enumerate() {
            for (row, to) in to.iter_mut().enumerate() {
                *to = from[row * columns + column];
            }
        }
    }
    out
}
