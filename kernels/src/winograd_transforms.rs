//! The transforms of Winograd's F(4x4, 3x3), on vectors of channels.
//!
//! An output tile of 4 x 4 pixels is `A^T [(G g G^T) * (B^T d B)] A`, where `g` is the 3 x 3 filter, `d` the
//! 6 x 6 pixels that the tile reads, and `*` multiplies elements: 36 products in the place of 144. The
//! matrices are those of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016), section
//! 4.3, which interpolate at 0, 1, -1, 2, -2 and infinity:
//!
//! ```text
//!       | 4  0 -5  0  1  0 |       | 1/4    0    0   |         | 1  1  1  1  1  0 |
//!       | 0 -4 -4  1  1  0 |       |-1/6  -1/6 -1/6  |   A^T = | 0  1 -1  2 -2  0 |
//! B^T = | 0  4 -4 -1  1  0 |   G = |-1/6   1/6 -1/6  |         | 0  1  1  4  4  0 |
//!       | 0 -2 -1  2  1  0 |       | 1/24  1/12  1/6 |         | 0  1 -1  8 -8  1 |
//!       | 0  2 -1 -2  1  0 |       | 1/24 -1/12  1/6 |
//!       | 0  4  0 -5  0  1 |       |  0     0    1   |
//! ```
//!
//! Each is applied to the columns, then to the rows. Which sums are rounded where is fixed here, so that all
//! instruction sets give the same bits.

use crate::simd::Simd;

/// Output pixels along each side of a tile.
pub(crate) const TILE_SIDE: usize = 4;
/// Pixels along each side of what a tile reads.
pub(crate) const READ_SIDE: usize = 6;
/// Products of a tile, for each pair of channels.
pub(crate) const POINTS: usize = READ_SIDE * READ_SIDE;
/// Taps along each side of the filter.
pub(crate) const FILTER_SIDE: usize = 3;

/// `B^T d`.
#[inline(always)]
fn read<S: Simd>(s: S, d: [S::F; READ_SIDE]) -> [S::F; READ_SIDE] {
    let times = |factor: f32, x: S::F, sum: S::F| s.mul_add(s.splat(factor), x, sum);
    let even = times(-4.0, d[2], d[4]);
    let odd = times(-4.0, d[1], d[3]);
    let even_2 = s.sub(d[4], d[2]);
    let odd_2 = s.mul(s.splat(2.0), s.sub(d[3], d[1]));
    [
        times(4.0, d[0], times(-5.0, d[2], d[4])),
        s.add(even, odd),
        s.sub(even, odd),
        s.add(even_2, odd_2),
        s.sub(even_2, odd_2),
        times(4.0, d[1], times(-5.0, d[3], d[5])),
    ]
}

/// `G g`.
#[inline(always)]
fn filter<S: Simd>(s: S, g: [S::F; FILTER_SIDE]) -> [S::F; READ_SIDE] {
    let by = |factor: f32, x: S::F| s.mul(s.splat(factor), x);
    let even = by(-1.0 / 6.0, s.add(g[0], g[2]));
    let odd = by(1.0 / 6.0, g[1]);
    let even_2 = s.mul_add(s.splat(1.0 / 24.0), g[0], by(1.0 / 6.0, g[2]));
    let odd_2 = by(1.0 / 12.0, g[1]);
    [by(0.25, g[0]), s.sub(even, odd), s.add(even, odd), s.add(even_2, odd_2), s.sub(even_2, odd_2), g[2]]
}

/// `A^T m`.
#[inline(always)]
fn write<S: Simd>(s: S, m: [S::F; READ_SIDE]) -> [S::F; TILE_SIDE] {
    let times = |factor: f32, x: S::F, sum: S::F| s.mul_add(s.splat(factor), x, sum);
    let even = s.add(m[1], m[2]);
    let odd = s.sub(m[1], m[2]);
    let even_2 = s.add(m[3], m[4]);
    let odd_2 = s.sub(m[3], m[4]);
    [
        s.add(m[0], s.add(even, even_2)),
        times(2.0, odd_2, odd),
        times(4.0, even_2, even),
        s.add(times(8.0, odd_2, odd), m[5]),
    ]
}

/// Applies a transform to the columns of what `load(row, column)` gives, then to the rows, and gives
/// `store(row, column, value)` each result.
macro_rules! both_sides {
    ($name:ident, $one:ident, $from:ident, $to:ident, $doc:literal) => {
        #[doc = $doc]
        #[inline(always)]
        pub(crate) fn $name<S: Simd>(
            s: S,
            load: impl Fn(usize, usize) -> S::F,
            mut store: impl FnMut(usize, usize, S::F),
        ) {
            let mut columns = [[s.splat(0.0); $from]; $to];
            for column in 0..$from {
                let mut values = [s.splat(0.0); $from];
                for (row, value) in values.iter_mut().enumerate() {
                    *value = load(row, column);
                }
                for (row, value) in $one(s, values).into_iter().enumerate() {
                    columns[row][column] = value;
                }
            }
            for (row, values) in columns.into_iter().enumerate() {
                for (column, value) in $one(s, values).into_iter().enumerate() {
                    store(row, column, value);
                }
            }
        }
    };
}

both_sides!(read_tile, read, READ_SIDE, READ_SIDE, "`B^T d B` of the 6 x 6 pixels that a tile reads.");
both_sides!(transform_filter, filter, FILTER_SIDE, READ_SIDE, "`G g G^T` of a 3 x 3 filter.");
both_sides!(write_tile, write, READ_SIDE, TILE_SIDE, "`A^T m A` of a tile's 36 sums: its 4 x 4 pixels.");
