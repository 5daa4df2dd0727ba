//! The loops around the microkernel of `bf16` products: those of [`crate::rows`], with all of K in one block.

use super::gather::PairImage;
use super::matrix::PanelBlock;
use super::pixel_lines::GroupImage;
use super::tile::{PairTile, tile_function, tile_rows};
use super::{PairConv2d, PairOperands, PairUnit};
use crate::conv::Path;
use crate::im2col::RowCopies;
use crate::lines::Lines;
use crate::pack::Panel;
use crate::segments::{RowsOfLine, SegmentedRows};
use crate::simd::Simd;
use crate::tiled::TiledPart;
use crate::wide_lines::{LinesOfBlock, WidenedImage};
use std::ops::Range;

/// What a part has made ready: copied lines, of one of two kinds, and matrix tiles.
struct PartState<'b> {
    numbers: Lines,
    pixels: LinesOfBlock,
    tiles: Option<TiledPart<PanelBlock<'b>>>,
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
    let tiles = (this.unit == PairUnit::Tiles).then(|| TiledPart::new(this.sum_places(), scratch.cast()));
    let mut state = PartState { numbers: Lines::none(), pixels: LinesOfBlock::none(), tiles };
    let (panels, blocks) = this.conv.blocks(this.panels().count(), part);
    for rows in blocks {
        // SAFETY: the caller's promise; the rows are within one line.
        unsafe { row_block(s, this, images, rows, panels.clone(), (scratch, &mut state)) };
    }
    if let Some(tiles) = &mut state.tiles {
        // SAFETY: the caller's promise.
        unsafe { tiles.finish::<S>() };
    }
}

/// Computes a block of rows for a range of panels.
#[inline(always)]
unsafe fn row_block<'b, S: Simd>(
    s: S,
    this: &'b PairConv2d,
    images: &'b PairOperands,
    rows: Range<usize>,
    panels: Range<usize>,
    (scratch, state): (*mut u8, &mut PartState<'b>),
) {
    let all = this.panels();
    let mut group = usize::MAX;
    let mut from = SegmentedRows::whole(std::ptr::null(), 0);
    for index in panels {
        let panel = all.get(index);
        // SAFETY: the caller's promise; rows and panel are inside the images.
        unsafe {
            if panel.group != group {
                group = panel.group;
                from = block_rows(s, this, images, &rows, group, (scratch, state));
            }
            let sums = scratch.cast();
            if let Some(tiles) = &mut state.tiles {
                let pixel = this.conv.pixel(rows.start);
                tiles.add::<S>(PanelBlock { this, images, pixel, count: rows.len(), from, panel });
            } else {
                panel_block::<S>(this, images, &rows, from, panel, sums);
            }
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
    (scratch, state): (*mut u8, &mut PartState<'_>),
) -> SegmentedRows {
    let conv = &this.conv;
    let ready = scratch.cast::<f32>().wrapping_add(this.sums()).cast::<u16>();
    if conv.path == Path::Lines {
        let image = GroupImage { this, images, group };
        // SAFETY: scratch has the sums, the lines and a vector more.
        let before = unsafe { state.pixels.advance(s, &image, rows, ready.cast()) };
        return this.wide_lines().rows(ready.cast(), image.line_bytes(), before);
    }
    let image = PairImage { this, images };
    if conv.path != Path::Gather {
        let input = &conv.strides.input;
        let offset = input.offset(conv.pixel(rows.start)) + group * conv.in_group as usize;
        // SAFETY: the pixel is inside the input, and the block's rows follow it at the stride of a pixel.
        let start = unsafe { images.x.cast::<u16>().add(offset) };
        return SegmentedRows::whole(start.cast(), input.w as usize * size_of::<u16>());
    }
    let stride = conv.slab_stride as usize;
    let copies = RowCopies::new(&image, group);
    let mut pixel = conv.pixel(rows.start);
    // SAFETY: scratch has the sums, the lines, `block_rows` rows of `slab_stride` words, and a vector more.
    unsafe {
        let slab = ready.add(this.words_of_lines());
        if this.line_words > 0 {
            for (pixel, done, count) in conv.output_lines(rows) {
                let to = slab.add(done * stride);
                let words = this.line_words as usize;
                state.numbers.rows(s, &image, group, (pixel, count), (ready, words), (to, stride));
            }
        } else if copies.has_channels_apart() {
            copies.rows_apart(rows, slab, stride);
        } else {
            for index in 0..rows.len() {
                copies.row(s, pixel, slab.add(index * stride));
                pixel = conv.next(pixel);
            }
        }
        SegmentedRows::whole(slab.cast(), stride * size_of::<u16>())
    }
}

/// Computes a block for one panel, tile by tile.
#[inline(always)]
unsafe fn panel_block<S: Simd>(
    this: &PairConv2d,
    images: &PairOperands,
    rows: &Range<usize>,
    from: SegmentedRows,
    panel: Panel,
    sums: *mut f32,
) {
    let conv = &this.conv;
    let at_once = u32::from(this.unit != PairUnit::Widened);
    let most = tile_rows::<S>(at_once);
    let columns = panel.width.min(2 * S::LANES);
    let pixel = conv.pixel(rows.start);
    let (output, residual) = (conv.strides.output, conv.strides.residual);
    let pairs = this.pairs();
    let inside = this.pairs_inside(pixel);
    let tiles = rows.len().div_ceil(most) * panel.count.div_ceil(columns);
    let ahead_stride = panel.width.div_ceil(tiles);
    // Prefetch the weights after this panel's.
    let mut ahead = images.weights.wrapping_add(panel.offset + pairs * panel.width);
    let mut column = 0;
    while column < panel.count {
        let channel = panel.first + column;
        for RowsOfLine { first: row, count: tile_rows, start } in from.tiles(rows.len(), most) {
            // SAFETY: rows and columns of the tile are inside the block and the panel, for each operand that
            // is not null.
            unsafe {
                let tile = PairTile {
                    pairs: inside.len() / from.segments,
                    segments: from.segments,
                    segment_stride: from.jump / size_of::<u16>(),
                    a: start.cast::<u16>().add(2 * inside.start),
                    a_stride: from.stride / size_of::<u16>(),
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
                    sums,
                    ahead,
                    ahead_stride,
                };
                tile_function::<S>(tile_rows, columns / S::LANES, at_once)(&tile);
            }
            ahead = ahead.wrapping_add(pairs * ahead_stride);
        }
        column += columns;
    }
}
