//! The loops around the microkernel of `bf16` products: those of [`crate::rows`], with all of K in one block.

use super::gather::PairImage;
use super::tile::{PairTile, tile_function, tile_rows};
use super::{PairConv2d, PairOperands, SUMS};
use crate::conv::Path;
use crate::im2col::RowCopies;
use crate::lines::Lines;
use crate::pack::Panel;
use crate::simd::Simd;
use crate::tile::tile_ranges;
use std::ops::Range;

/// Where a block's rows lie: element (row, k) at `start + row * stride + k`.
#[derive(Clone, Copy)]
struct PairRows {
    start: *const u16,
    stride: usize,
    /// Room for the sums of a tile.
    sums: *mut f32,
}

/// Runs part `part`.
///
/// # Safety
/// That of [`crate::KernelFn`], with `PairConv2d`'s operands.
#[inline(always)]
pub(super) unsafe fn run<S: Simd>(
    s: S,
    this: &PairConv2d,
    images: &PairOperands,
    part: usize,
    scratch: *mut u8,
) {
    let mut lines = Lines::none();
    let (panels, blocks) = this.conv.blocks(this.panels().count(), part);
    for rows in blocks {
        // SAFETY: the caller's promise; the rows are within one line.
        unsafe { row_block(s, this, images, rows, panels.clone(), (scratch, &mut lines)) };
    }
}

/// Computes a block of rows for a range of panels.
#[inline(always)]
unsafe fn row_block<S: Simd>(
    s: S,
    this: &PairConv2d,
    images: &PairOperands,
    rows: Range<usize>,
    panels: Range<usize>,
    (scratch, lines): (*mut u8, &mut Lines),
) {
    let all = this.panels();
    let mut group = usize::MAX;
    let mut from = PairRows { start: std::ptr::null(), stride: 0, sums: scratch.cast() };
    for index in panels {
        let panel = all.get(index);
        // SAFETY: the caller's promise; rows and panel are inside the images.
        unsafe {
            if panel.group != group {
                group = panel.group;
                from = block_rows(s, this, images, &rows, group, (scratch, lines));
            }
            panel_block::<S>(this, images, &rows, from, panel);
        }
    }
}

/// The block's rows: in place, or copied to scratch.
#[inline(always)]
unsafe fn block_rows<S: Simd>(
    s: S,
    this: &PairConv2d,
    images: &PairOperands,
    rows: &Range<usize>,
    group: usize,
    (scratch, lines): (*mut u8, &mut Lines),
) -> PairRows {
    let conv = &this.conv;
    let sums = scratch.cast::<f32>();
    if conv.path == Path::Gather {
        let stride = conv.slab_stride as usize;
        let image = PairImage { this, images };
        let copies = RowCopies::new(&image, group);
        let mut pixel = conv.pixel(rows.start);
        // SAFETY: scratch has the sums, the lines, `block_rows` rows of `slab_stride` words, and a vector
        // more.
        unsafe {
            let ready = sums.add(SUMS).cast::<u16>();
            let slab = ready.add(this.words_of_lines());
            if this.line_words > 0 {
                for (pixel, done, count) in conv.output_lines(rows) {
                    let to = slab.add(done * stride);
                    let words = this.line_words as usize;
                    lines.rows(s, &image, group, (pixel, count), (ready, words), (to, stride));
                }
                return PairRows { start: slab, stride, sums };
            }
            if copies.has_channels_apart() {
                copies.rows_apart(rows, slab, stride);
                return PairRows { start: slab, stride, sums };
            }
            for index in 0..rows.len() {
                copies.row(s, pixel, slab.add(index * stride));
                pixel = conv.next(pixel);
            }
            return PairRows { start: slab, stride, sums };
        }
    }
    let input = &conv.strides.input;
    let offset = input.offset(conv.pixel(rows.start)) + group * conv.in_group as usize;
    // SAFETY: the pixel is inside the input, and the block's rows follow it at the stride of a pixel.
    let start = unsafe { images.x.cast::<u16>().add(offset) };
    PairRows { start, stride: input.w as usize, sums }
}

/// Computes a block for one panel, tile by tile.
#[inline(always)]
unsafe fn panel_block<S: Simd>(
    this: &PairConv2d,
    images: &PairOperands,
    rows: &Range<usize>,
    from: PairRows,
    panel: Panel,
) {
    let conv = &this.conv;
    let count = rows.len();
    let most = tile_rows::<S>(this.at_once);
    let columns = panel.width.min(2 * S::LANES);
    let pixel = conv.pixel(rows.start);
    let (output, residual) = (conv.strides.output, conv.strides.residual);
    let pairs = this.pairs();
    let inside = this.pairs_inside(pixel);
    let tiles = count.div_ceil(most) * panel.count.div_ceil(columns);
    let ahead_stride = panel.width.div_ceil(tiles);
    // Prefetch the weights after this panel's.
    let mut ahead = images.weights.wrapping_add(panel.offset + pairs * panel.width);
    let mut column = 0;
    while column < panel.count {
        let channel = panel.first + column;
        for tile_rows in tile_ranges(count, most) {
            let row = tile_rows.start;
            // SAFETY: rows and columns of the tile are inside the block and the panel, for each operand that
            // is not null.
            unsafe {
                let tile = PairTile {
                    pairs: inside.len(),
                    a: from.start.add(row * from.stride + 2 * inside.start),
                    a_stride: from.stride,
                    b: images.weights.add(panel.offset + inside.start * panel.width + column),
                    b_stride: panel.width,
                    c: images.out,
                    c_first: output.offset(pixel) + row * output.w as usize + channel,
                    c_stride: output.w as usize,
                    output: this.output,
                    cols: panel.count - column,
                    bias: match images.bias.is_null() {
                        true => images.bias,
                        false => images.bias.add(channel),
                    },
                    residual: images.residual,
                    residual_first: residual.offset(pixel) + row * residual.w as usize + channel,
                    residual_stride: residual.w as usize,
                    residual_stored: this.residual,
                    activation: conv.activation,
                    sums: from.sums,
                    ahead,
                    ahead_stride,
                };
                tile_function::<S>(tile_rows.len(), columns / S::LANES, this.at_once)(&tile);
            }
            ahead = ahead.wrapping_add(pairs * ahead_stride);
        }
        column += columns;
    }
}
