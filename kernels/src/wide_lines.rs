//! Copied lines of images whose pixels are widened to whole words of the products: four bytes, or pairs of
//! `bf16`. The taps of a kernel row are then consecutive words, and neighbouring output pixels read
//! overlapping rows of a matrix in place, one segment for each row of the kernel. Where rows are copied
//! instead ([`crate::im2col`]), each number is copied once for each tap that reads it.
//!
//! A block has whole output lines of an image, or some pixels of one. Lines that the block before has read
//! are moved, not copied again.

use crate::conv::Conv2d;
use crate::pixels::Pixel;
use crate::segments::SegmentedRows;
use crate::simd::Simd;
use std::ops::Range;

/// Cache lines, of which copied lines are made.
const CACHE_LINE: usize = 64;

/// The sizes of copied lines.
#[derive(Clone, Copy)]
pub(crate) struct WideLines<'c> {
    pub(crate) conv: &'c Conv2d,
    /// Bytes of a widened pixel.
    pub(crate) pixel: usize,
    /// Bytes of scratch beside the lines, for each output pixel of a block.
    pub(crate) beside: usize,
    /// The most bytes of a block's lines and of what is beside them.
    pub(crate) most: usize,
    /// Output pixels of the largest tile.
    pub(crate) tile: usize,
    /// Tiles for which weights are read once: the smallest block has as many, if that is not too much.
    pub(crate) together: usize,
}

/// A block of output pixels.
pub(crate) struct WideBlock {
    /// Its output pixels.
    pub(crate) pixels: usize,
    /// Bytes of a copied line.
    pub(crate) line_bytes: usize,
    /// Output pixels among which a block must lie.
    pub(crate) together: usize,
}

impl WideLines<'_> {
    /// Bytes of a copied line for `pixels` output pixels.
    #[inline(always)]
    fn length(&self, pixels: usize) -> usize {
        let columns = pixels.saturating_sub(1) * self.conv.stride_w as usize + self.conv.kernel_w as usize;
        (columns * self.pixel).next_multiple_of(CACHE_LINE)
    }

    /// What `count` output pixels from `first` on read of line `y` of the image, counted from the first line
    /// of the padding.
    #[inline(always)]
    pub(crate) fn run(&self, first: Pixel, count: usize, y: usize) -> LineRun {
        let conv = self.conv;
        let columns = count.saturating_sub(1) * conv.stride_w as usize + conv.kernel_w as usize;
        let (before, inside) = conv.columns_inside(first.x * conv.stride_w as usize, columns);
        let line = y.wrapping_sub(conv.pad_top as usize);
        let is_inside = line < conv.in_h as usize && !inside.is_empty();
        let first = Pixel { n: first.n, y: line, x: inside.start };
        match is_inside {
            true => LineRun { before, inside: inside.len(), after: columns - before - inside.len(), first },
            false => LineRun { before: columns, inside: 0, after: 0, first: Pixel { y: 0, x: 0, ..first } },
        }
    }

    /// Lines of the image that `lines` output lines read.
    #[inline(always)]
    fn lines_of(&self, lines: usize) -> usize {
        lines.saturating_sub(1) * self.conv.stride_h as usize + self.conv.kernel_h as usize
    }

    /// Lines of the image that are in scratch together, by the chosen block.
    #[inline(always)]
    pub(crate) fn copied(&self) -> usize {
        self.lines_of(self.conv.block_rows as usize / (self.conv.out_w as usize).max(1))
    }

    /// The block whose lines, and what is beside them, take at most `slab` bytes: whole lines, whole tiles of
    /// one, or else the smallest block.
    pub(crate) fn choose(&self, slab: usize) -> WideBlock {
        let [height, width] = [self.conv.out_h, self.conv.out_w].map(|size| (size as usize).max(1));
        let bytes = |lines: usize, pixels: usize| {
            let copied = self.length(pixels).saturating_mul(self.lines_of(lines));
            copied.saturating_add(lines * pixels * self.beside)
        };
        let fits = |lines: usize, pixels: usize| bytes(lines, pixels) <= slab.min(self.most);
        let lines = (1..=height).take_while(|lines| fits(*lines, width)).last();
        let tiles = || (1..=width / self.tile).take_while(|tiles| fits(1, tiles * self.tile)).last();
        let fitting = lines.map(|lines| lines * width).or_else(|| tiles().map(|tiles| tiles * self.tile));
        // A tile does not go beyond a line.
        let several = match width <= self.tile {
            true => [self.together.min(height), width],
            false => [1, width.min(self.together * self.tile)],
        };
        let smallest = match bytes(several[0], several[1]) <= self.most {
            true => several[0] * several[1],
            false => width.min(self.tile),
        };
        let pixels = fitting.unwrap_or(0).max(smallest);
        let image = self.conv.out_h as usize * self.conv.out_w as usize;
        let together = if pixels < width { width } else { self.conv.uniform_rows().min(image.max(1)) };
        WideBlock { pixels, line_bytes: self.length(pixels.min(width)), together }
    }

    /// An upper bound of the bytes of lines at smaller sizes.
    pub(crate) fn most_bytes(&self) -> usize {
        let [height, width] = [self.conv.out_h, self.conv.out_w].map(|size| (size as usize).max(1));
        self.length(width).saturating_mul(self.lines_of(height)).min(self.most)
    }

    /// The rows of a block whose lines are at `start`; `before` is what [`LinesOfBlock::advance`] returned.
    #[inline(always)]
    pub(crate) fn rows(&self, start: *const u8, line_bytes: usize, before: usize) -> SegmentedRows {
        SegmentedRows {
            start,
            stride: self.conv.stride_w as usize * self.pixel,
            segments: self.conv.kernel_h as usize,
            jump: line_bytes,
            line: self.conv.out_w as usize,
            before,
            line_stride: self.conv.stride_h as usize * line_bytes,
        }
    }
}

/// Columns of a line of the image: those in the padding before it, those inside, of which `first` is the
/// first pixel, and those in the padding after it.
pub(crate) struct LineRun {
    pub(crate) before: usize,
    pub(crate) inside: usize,
    pub(crate) after: usize,
    pub(crate) first: Pixel,
}

/// An image whose lines are copied.
pub(crate) trait WidenedImage {
    /// Its lines.
    fn lines(&self) -> WideLines<'_>;

    /// Bytes of a copied line.
    fn line_bytes(&self) -> usize;

    /// The group whose channels are copied.
    fn group(&self) -> usize;

    /// Copies what `count` output pixels from `first` on read of one line; `y` counts from the first line of
    /// the padding. May write up to a vector more.
    ///
    /// # Safety
    /// The image is valid, and `to` for the line and a vector more.
    unsafe fn copy_line<S: Simd>(&self, s: S, first: Pixel, count: usize, y: usize, to: *mut u8);
}

/// The copied lines of a block of output pixels.
pub(crate) struct LinesOfBlock {
    /// The image and group, the lines, counted from the first one of the padding, and the output columns that
    /// read them, if there are any.
    of: Option<([usize; 2], Range<usize>, Range<usize>)>,
}

impl LinesOfBlock {
    pub(crate) fn none() -> LinesOfBlock {
        LinesOfBlock { of: None }
    }

    /// Copies what a block of output pixels, `rows`, reads: of whole lines, or of some pixels of one. What is
    /// there already is moved. Returns how many pixels the first line has before the block.
    ///
    /// # Safety
    /// The image is valid; `to` is valid for the block's lines and a vector more, and has those recorded in
    /// `self`.
    #[inline(always)]
    pub(crate) unsafe fn advance<S: Simd, I: WidenedImage>(
        &mut self,
        s: S,
        image: &I,
        rows: &Range<usize>,
        to: *mut u8,
    ) -> usize {
        let sizes = image.lines();
        let conv = sizes.conv;
        let length = image.line_bytes();
        let [first, last] = [rows.start, rows.end - 1].map(|row| conv.pixel(row));
        let columns = match conv.block_rows >= conv.out_w {
            true => 0..conv.out_w as usize,
            false => first.x..last.x + 1,
        };
        let top = first.y * conv.stride_h as usize;
        let wanted = top..top + sizes.lines_of(last.y - first.y + 1);
        let planes = [first.n, image.group()];
        let kept = match &self.of {
            Some((image, lines, of)) if *image == planes && *of == columns && lines.contains(&top) => {
                let kept = top..lines.end.min(wanted.end);
                // SAFETY: the caller's promise: these lines are there.
                unsafe { to.copy_from(to.add((top - lines.start) * length), kept.len() * length) };
                kept.end
            }
            _ => top,
        };
        let start = Pixel { x: columns.start, ..first };
        for y in kept..wanted.end {
            // SAFETY: the caller's promise; what a copy writes beyond a line is overwritten by the next, or
            // after the last.
            unsafe { image.copy_line(s, start, columns.len(), y, to.add((y - top) * length)) };
        }
        let before = first.x - columns.start;
        self.of = Some((planes, wanted, columns));
        before
    }
}

#[cfg(test)]
mod tests {
    use super::WideLines;
    use crate::conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides};
    use crate::isa::Isa;
    use crate::map::Activation;

    /// The pixels of the smallest block of lines of `width` output pixels, if they take at most `most` bytes.
    fn smallest(width: usize, together: usize, most: usize) -> usize {
        let shape = Conv2dShape {
            batch: 1,
            input: [20, width],
            in_channels: 8,
            out_channels: 8,
            kernel: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            pads: [1; 4],
            groups: 1,
        };
        let strides = ConvStrides::dense(&shape);
        let conv = Conv2d::new(&shape, &strides, ConvPrologue::None, Activation::None, Isa::Scalar, 1);
        let lines = WideLines { conv: &conv, pixel: 16, beside: 0, most, tile: 16, together };
        lines.choose(0).pixels
    }

    #[test]
    fn the_smallest_block_has_as_many_tiles_as_share_weights() {
        let large = 1 << 20;
        // Two tiles of one line, two lines that are a tile each, and a line that ends within the second tile.
        assert_eq!([128, 33, 7, 16, 20].map(|width| smallest(width, 2, large)), [32, 32, 14, 32, 20]);
        assert_eq!([128, 33, 7, 16, 20].map(|width| smallest(width, 1, large)), [16, 16, 7, 16, 16]);
        // Three lines of 34 pixels, of 16 bytes each, are 1632 bytes: 1728 in whole cache lines.
        assert_eq!([1728, 1727].map(|most| smallest(128, 2, most)), [32, 16]);
        assert_eq!([1024, 500].map(|most| smallest(7, 2, most)), [14, 7]);
    }
}
