//! The output pixels of a convolution, which are the rows of its im2col matrix, and the kernel rows they
//! read.

use crate::abi::piece;
use crate::conv::{Conv2d, ImageStrides};
use crate::gather::TapRange;
use std::ops::Range;

/// An output pixel's coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Pixel {
    pub(crate) n: usize,
    pub(crate) y: usize,
    pub(crate) x: usize,
}

impl Conv2d {
    /// The coordinates of output pixel `row`.
    #[inline(always)]
    pub(crate) fn pixel(&self, row: usize) -> Pixel {
        let [out_w, out_h] = [self.out_w as usize, self.out_h as usize];
        Pixel { n: row / out_w / out_h, y: row / out_w % out_h, x: row % out_w }
    }

    /// The kernel rows inside the image for output line `y`.
    #[inline(always)]
    pub(crate) fn rows_inside(&self, y: usize) -> Range<usize> {
        let taps = TapRange::of(y, self.stride_h, self.dilation_h, self.pad_top, self.kernel_h, self.in_h);
        taps.first..taps.end
    }

    /// The columns of the image in a copied line of `columns` columns, of which the first is column `begin`
    /// of the padded image; and how many columns of padding come before them.
    #[inline(always)]
    pub(crate) fn columns_inside(&self, begin: usize, columns: usize) -> (usize, Range<usize>) {
        let pad = self.pad_left as usize;
        let before = pad.saturating_sub(begin).min(columns);
        let first = (begin + before).saturating_sub(pad);
        let count = (self.in_w as usize).saturating_sub(first).min(columns - before);
        (before, first..first + count)
    }

    /// Splits `rows` by output line: the first pixel of each, how many of the rows come before it, and how
    /// many the line has.
    #[inline(always)]
    pub(crate) fn output_lines(&self, rows: &Range<usize>) -> impl Iterator<Item = (Pixel, usize, usize)> {
        let conv = *self;
        let rows = rows.clone();
        let mut row = rows.start;
        std::iter::from_fn(move || {
            let pixel = conv.pixel(row);
            let count = (conv.out_w as usize - pixel.x).min(rows.end - row);
            let done = row - rows.start;
            row += count;
            (count > 0).then_some((pixel, done, count))
        })
    }

    /// The panels (of `panels` in all) and the blocks of rows of part `part`; each block is within one line.
    #[inline(always)]
    pub(crate) fn blocks(
        &self,
        panels: usize,
        part: usize,
    ) -> (Range<usize>, impl Iterator<Item = Range<usize>>) {
        let panel_parts = self.panel_parts as usize;
        let rows = piece(self.rows(), self.row_parts as usize, part / panel_parts);
        let [line, most] = [self.line as usize, self.block_rows as usize];
        let mut row = rows.start;
        let together = self.pixels_together();
        let begin = move |row: usize| row / together * together;
        let blocks = std::iter::from_fn(move || {
            let first = row;
            (first < rows.end).then(|| {
                row = rows.end.min(begin(first) + most).min((first / line + 1) * line);
                first..row
            })
        });
        (piece(panels, panel_parts, part % panel_parts), blocks)
    }

    /// The pixel after `pixel`.
    #[inline(always)]
    pub(crate) fn next(&self, pixel: Pixel) -> Pixel {
        let Pixel { n, y, x } = pixel;
        if x + 1 < self.out_w as usize {
            Pixel { n, y, x: x + 1 }
        } else if y + 1 < self.out_h as usize {
            Pixel { n, y: y + 1, x: 0 }
        } else {
            Pixel { n: n + 1, y: 0, x: 0 }
        }
    }
}

impl ImageStrides {
    /// The offset in elements of a pixel's first channel.
    #[inline(always)]
    pub(crate) fn offset(&self, pixel: Pixel) -> usize {
        pixel.n * self.n as usize + pixel.y * self.h as usize + pixel.x * self.w as usize
    }
}
