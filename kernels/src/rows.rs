//! Convolution as a matrix product whose rows are output pixels.
//!
//! A part is a range of rows and a range of panels. Rows and K are cut into blocks. Each block of rows is
//! read in place or copied to scratch once, and used by all the part's panels of its group. Within a block
//! the panel is the outer loop, so that its weights stay in the first-level cache while the tiles of rows
//! pass. Each tile prefetches its share of the next weights; otherwise the first tile of a panel would wait
//! for memory.

use crate::conv::{Conv2d, ConvOperands, Path};
use crate::gather::Gather;
use crate::image_lines::ImageLines;
use crate::map::{Finish, apply_rows};
use crate::pack::{PANEL, Panel};
use crate::simd::Simd;
use crate::tile::{Start, Tile, panels_at_once, tile_function, tile_ranges};
use std::ops::Range;

/// Panels whose outputs get the activation together: long rows that are still in the second-level cache.
const ACTIVATED: usize = 8;

/// A block of rows and of K.
#[derive(Clone)]
struct Block {
    rows: Range<usize>,
    depth: Range<usize>,
}

/// Where a block's rows lie, counted from the block's corner: element `k` of a segment of a row is at
/// `start + row * stride + segment * segment_stride + k`.
#[derive(Clone, Copy)]
struct BlockRows {
    start: *const f32,
    stride: usize,
    segments: usize,
    segment_stride: usize,
}

impl Conv2d {
    /// The K of a row's products. A dilated kernel's outer lines that meet only padding are left out: they
    /// add zeros.
    fn depth_of(&self, row: usize) -> Range<usize> {
        let line = row / self.out_w as usize % self.out_h as usize;
        // Lines are counted from the first one of the padding.
        let top = line * self.stride_h as usize;
        let image = self.pad_top as usize..(self.pad_top + self.in_h) as usize;
        let meets_image = |line: &usize| image.contains(&(top + line * self.dilation_h as usize));
        let mut lines = 0..self.kernel_h as usize;
        let (Some(first), Some(last)) = (lines.clone().find(meets_image), lines.rfind(meets_image)) else {
            return 0..self.depth();
        };
        let depth_of_line = (self.kernel_w * self.in_group) as usize;
        first * depth_of_line..(last + 1) * depth_of_line
    }

    /// The first of some rows that follow each other, up to where the K of their products changes; and that
    /// K.
    fn rows_of_same_depth(&self, rows: Range<usize>) -> (Range<usize>, Range<usize>) {
        if self.path != Path::Gather || self.dilation_h == 1 || rows.is_empty() {
            return (rows, 0..self.depth());
        }
        let width = self.out_w as usize;
        let depth = self.depth_of(rows.start);
        let mut end = rows.start / width * width + width;
        while end < rows.end && self.depth_of(end) == depth {
            end += width;
        }
        (rows.start..end.min(rows.end), depth)
    }
}

/// Runs part `part`.
///
/// # Safety
/// That of [`crate::KernelFn`], with `Conv2d`'s operands.
#[inline(always)]
pub(crate) unsafe fn run<S: Simd>(
    s: S,
    conv: &Conv2d,
    images: &ConvOperands,
    part: usize,
    scratch: *mut f32,
) {
    let (panels, blocks) = conv.blocks(conv.panels().count(), part);
    for mut rest in blocks {
        if conv.path == Path::Lines {
            // SAFETY: the caller's promise; scratch has room for the lines of a block.
            unsafe {
                let lines = ImageLines::copy(s, conv, images, &rest, scratch);
                for (pixel, done, count) in conv.output_lines(&rest) {
                    let first = rest.start + done;
                    let block = Block { rows: first..first + count, depth: 0..conv.depth() };
                    row_block(s, conv, images, block, panels.clone(), lines.of_pixel(pixel));
                }
            }
            continue;
        }
        while !rest.is_empty() {
            let (rows, depth) = conv.rows_of_same_depth(rest.clone());
            rest.start = rows.end;
            // SAFETY: the caller's promise; the rows are within one line.
            unsafe { row_block(s, conv, images, Block { rows, depth }, panels.clone(), scratch) };
        }
    }
}

/// Computes a block of rows, of all their K, for a range of panels. If lines are copied, `scratch` begins
/// with the inputs of the first row.
#[inline(always)]
unsafe fn row_block<S: Simd>(
    s: S,
    conv: &Conv2d,
    images: &ConvOperands,
    Block { rows, depth }: Block,
    panels: Range<usize>,
    scratch: *mut f32,
) {
    let of_group = conv.panels().of_group();
    // The first panel without its activation.
    let mut activated = panels.start;
    let mut panel = panels.start;
    while panel < panels.end {
        let group = panel / of_group;
        // Rows that are read in place cost nothing to visit again, so the weights of each panel are read from
        // end to end.
        let end = match conv.path {
            Path::Direct => panel + panels_at_once::<S>(rows.len()),
            _ => panels.end,
        };
        let end = end.min(panels.end).min((group + 1) * of_group);
        let mut k = depth.start;
        loop {
            let block_depth = k..depth.end.min(k + conv.block_depth as usize);
            let block = Block { rows: rows.clone(), depth: block_depth };
            k = block.depth.end;
            // SAFETY: the caller's promise; the block is within the image and within K.
            unsafe {
                let from = block_rows(s, conv, images, &block, group, scratch);
                let mut index = panel;
                while index < end {
                    let columns = TileColumns::new::<S>(conv, index..end, rows.len());
                    panel_block::<S>(conv, images, &block, &depth, from, columns);
                    index += columns.panels;
                    let is_due = index - activated >= ACTIVATED || index == panels.end;
                    if k == depth.end && conv.activation.is_deferred() && is_due {
                        activate::<S>(conv, images, rows.clone(), activated..index);
                        activated = index;
                    }
                }
            }
            if k == depth.end {
                break;
            }
        }
        panel = end;
    }
}

/// Applies the activation to the outputs of a block of rows in some panels.
///
/// # Safety
/// These outputs were written by this part.
#[inline(always)]
unsafe fn activate<S: Simd>(conv: &Conv2d, images: &ConvOperands, rows: Range<usize>, panels: Range<usize>) {
    let (first, last) = (conv.panels().get(panels.start), conv.panels().get(panels.end - 1));
    let channels = last.first + last.count - first.first;
    let output = conv.strides.output;
    // SAFETY: the caller's promise; the rows follow each other at the stride of a pixel.
    unsafe {
        let start = images.out.add(output.offset(conv.pixel(rows.start)) + first.first);
        apply_rows::<S>(conv.activation, start, [rows.len(), channels], output.w as usize);
    }
}

/// The block's rows: in place, or copied to scratch.
#[inline(always)]
unsafe fn block_rows<S: Simd>(
    s: S,
    conv: &Conv2d,
    images: &ConvOperands,
    block: &Block,
    group: usize,
    scratch: *mut f32,
) -> BlockRows {
    if conv.path == Path::Gather {
        let stride = conv.slab_stride as usize;
        let gather = Gather::new(conv, images, group, block.depth.clone());
        for (pixel, done, count) in conv.output_lines(&block.rows) {
            // SAFETY: scratch has `block_rows` rows of `slab_stride` floats, and a vector more.
            unsafe { gather.line(s, pixel, count, scratch.add(done * stride), stride) };
        }
        return BlockRows { start: scratch, stride, segments: 1, segment_stride: 0 };
    }
    if conv.path == Path::Lines {
        return BlockRows {
            start: scratch,
            stride: (conv.stride_w * conv.in_group) as usize,
            segments: conv.kernel_h as usize,
            segment_stride: conv.slab_stride as usize,
        };
    }
    let input = &conv.strides.input;
    let offset =
        input.offset(conv.pixel(block.rows.start)) + group * conv.in_group as usize + block.depth.start;
    // SAFETY: the pixel is inside the input, and the block's rows follow it at the stride of a pixel.
    let start = unsafe { images.x.add(offset) };
    BlockRows { start, stride: input.w as usize, segments: 1, segment_stride: 0 }
}

/// Panels side by side in the tiles of a block.
#[derive(Clone, Copy)]
struct TileColumns {
    first: Panel,
    panels: usize,
    /// Output channels.
    count: usize,
}

impl TileColumns {
    /// The first of some panels of a group, with the neighbours that a tile of `rows` rows takes at once.
    #[inline(always)]
    fn new<S: Simd>(conv: &Conv2d, panels: Range<usize>, rows: usize) -> TileColumns {
        let of = conv.panels();
        let first = of.get(panels.start);
        let together = panels_at_once::<S>(rows);
        if together > 1 && panels.len() >= together {
            let last = of.get(panels.start + together - 1);
            if last.width == PANEL {
                return TileColumns { first, panels: together, count: last.first + last.count - first.first };
            }
        }
        TileColumns { first, panels: 1, count: first.count }
    }
}

/// Computes a block for some panels, tile by tile; `depth` is the K of all blocks of its rows.
#[inline(always)]
unsafe fn panel_block<S: Simd>(
    conv: &Conv2d,
    images: &ConvOperands,
    block: &Block,
    depth: &Range<usize>,
    from: BlockRows,
    TileColumns { first: panel, panels, count }: TileColumns,
) {
    let rows = block.rows.len();
    let columns = if panels > 1 { panels * PANEL } else { panel.width.min(2 * S::LANES) };
    let pixel = conv.pixel(block.rows.start);
    let (output, residual) = (conv.strides.output, conv.strides.residual);
    let finish = if block.depth.end == depth.end { conv.activation.finish() } else { Finish::Store };
    let tiles = rows.div_ceil(S::TILE_ROWS) * count.div_ceil(columns);
    let ahead_stride = panel.width.div_ceil(tiles);
    let mut ahead = images.weights.wrapping_add(next_weights(conv, block, panel));
    let mut column = 0;
    while column < count {
        let channel = panel.first + column;
        for tile_rows in tile_ranges(rows, S::TILE_ROWS) {
            let row = tile_rows.start;
            // SAFETY: rows and columns of the tile are inside the block and the panel, for each operand that
            // is not null.
            unsafe {
                let start = if block.depth.start > depth.start {
                    Start::Resume
                } else {
                    Start::Fresh {
                        bias: offset(images.bias, channel),
                        residual: offset(
                            images.residual,
                            residual.offset(pixel) + row * residual.w as usize + channel,
                        ),
                        residual_stride: residual.w as usize,
                    }
                };
                let tile = Tile {
                    depth: block.depth.len() / from.segments,
                    segments: from.segments,
                    segment_stride: from.segment_stride,
                    a: from.start.add(row * from.stride),
                    a_stride: from.stride,
                    b: images.weights.add(panel.offset + block.depth.start * panel.width + column),
                    b_stride: panel.width,
                    panel_stride: conv.depth() * PANEL,
                    c: images.out.add(output.offset(pixel) + row * output.w as usize + channel),
                    c_stride: output.w as usize,
                    cols: count - column,
                    start,
                    finish,
                    ahead,
                    ahead_stride,
                };
                tile_function::<S>(tile_rows.len(), columns / S::LANES)(&tile);
            }
            ahead = ahead.wrapping_add(block.depth.len() * ahead_stride);
        }
        column += columns;
    }
}

/// Where the weights after those of a block begin. A panel is used from end to end if rows are read in place;
/// otherwise the same block of K of the next panel follows.
fn next_weights(conv: &Conv2d, block: &Block, panel: Panel) -> usize {
    let depth = match conv.path {
        Path::Direct => block.depth.end,
        _ => block.depth.start + conv.depth(),
    };
    panel.offset + depth * panel.width
}

/// `base + index`, or null for null.
///
/// # Safety
/// `base` is null or valid up to `index`.
#[inline(always)]
unsafe fn offset(base: *const f32, index: usize) -> *const f32 {
    if base.is_null() {
        return base;
    }
    // SAFETY: the caller's promise.
    unsafe { base.add(index) }
}
