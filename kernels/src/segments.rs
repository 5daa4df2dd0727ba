//! Rows of a matrix product in equal segments. Rows in copied lines of an image have one for each kernel row.

use crate::tile::tile_ranges;

/// Where a block's rows lie: byte `k` of segment `i` of row `x` of line `y` at `start + y * line_stride + x *
/// stride + i * jump + k`.
#[derive(Clone, Copy)]
pub(crate) struct SegmentedRows {
    pub(crate) start: *const u8,
    pub(crate) stride: usize,
    /// Equal parts of a row.
    pub(crate) segments: usize,
    pub(crate) jump: usize,
    /// Rows of a line, and those of the first one that are before the block.
    pub(crate) line: usize,
    pub(crate) before: usize,
    pub(crate) line_stride: usize,
}

/// Rows of a block that are in one line: the first, how many, and where the first begins.
pub(crate) struct RowsOfLine {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) start: *const u8,
}

impl SegmentedRows {
    /// Rows of one segment in one line.
    #[inline(always)]
    pub(crate) fn whole(start: *const u8, stride: usize) -> SegmentedRows {
        SegmentedRows { start, stride, segments: 1, jump: 0, line: usize::MAX, before: 0, line_stride: 0 }
    }

    /// The lines of the first `count` rows.
    #[inline(always)]
    pub(crate) fn lines(self, count: usize) -> impl Iterator<Item = RowsOfLine> {
        let mut first = 0;
        std::iter::from_fn(move || {
            let at = self.before + first;
            let [y, x] = [at / self.line, at % self.line];
            let found = RowsOfLine {
                first,
                count: (self.line - x).min(count - first),
                start: self.start.wrapping_add(y * self.line_stride + x * self.stride),
            };
            first += found.count;
            (found.count > 0).then_some(found)
        })
    }

    /// The first `count` rows, at most `most` of a line together.
    #[inline(always)]
    pub(crate) fn tiles(self, count: usize, most: usize) -> impl Iterator<Item = RowsOfLine> {
        self.lines(count).flat_map(move |line| {
            tile_ranges(line.count, most).map(move |rows| RowsOfLine {
                first: line.first + rows.start,
                count: rows.len(),
                start: line.start.wrapping_add(rows.start * self.stride),
            })
        })
    }
}
