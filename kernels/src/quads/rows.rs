//! The loops around the microkernel of 8-bit products: those of [`crate::rows`], with all of K in one block.

use super::gather::QuadImage;
use super::group_lines::ByteGroupImage;
use super::matrix::ByteBlock;
use super::steps::{StepCode, StepPlan, WeightZero};
use super::tile::{QuadTile, RowSums, row_sums, tile_function, tile_rows};
use super::{QuadConv2d, QuadOperands};
use crate::conv::Path;
use crate::im2col::RowCopies;
use crate::lines::Lines;
use crate::pack::{PANEL, Panel};
use crate::segments::{RowsOfLine, SegmentedRows};
use crate::simd::{Simd, amx};
use crate::tiled::TiledPart;
use crate::wide_lines::LinesOfBlock;
use std::ops::Range;

/// The context of a running part.
pub(super) struct QuadPart<'r> {
    pub(super) this: &'r QuadConv2d,
    pub(super) images: &'r QuadOperands,
    plan: StepPlan,
    /// 1 if the machine has an instruction for quads.
    at_once: u32,
    /// The factor of row sums, if all columns have the same zero point.
    zero: i32,
    /// Whether the sums of rows are needed.
    pub(super) has_terms: bool,
    scratch: *mut u8,
}

/// What a part has made ready: copied lines, of one of two kinds, and matrix tiles.
struct BytePartState<'p> {
    bytes: Lines,
    pixels: LinesOfBlock,
    tiles: Option<TiledPart<ByteBlock<'p>>>,
}

/// Whether a channel's zero point is not 0 for packed weights, if each channel has one.
///
/// # Safety
/// The zero points are valid for reads.
#[inline(always)]
unsafe fn has_zero_points(this: &QuadConv2d, images: &QuadOperands) -> bool {
    let channels = (this.conv.groups * this.conv.out_group) as usize;
    // SAFETY: the caller's promise.
    let is_zero = |channel: usize| unsafe { this.shifted_zero(*images.weight_zeros.add(channel)) == 0 };
    this.zero == WeightZero::Channel && !(0..channels).all(is_zero)
}

/// Zero-point corrections of a panel: an addend for each column, and a factor for each column's share of a
/// row's term.
struct PanelZeros {
    begin: [i32; PANEL],
    zeros: [i32; PANEL],
}

/// Runs part `part`.
///
/// # Safety
/// That of [`crate::KernelFn`], with `QuadConv2d`'s operands.
#[inline(always)]
pub(super) unsafe fn run<S: Simd>(
    s: S,
    this: &QuadConv2d,
    images: &QuadOperands,
    part: usize,
    scratch: *mut u8,
) {
    let zero = match this.zero {
        // SAFETY: the caller's promise: there is one zero point.
        WeightZero::One => this.shifted_zero(unsafe { *images.weight_zeros }),
        _ => this.shifted_zero(0),
    };
    let call = QuadPart {
        this,
        images,
        // SAFETY: the caller's promise.
        plan: unsafe { StepPlan::new(this, images.table) },
        at_once: u32::from(S::has_quads()),
        zero,
        // SAFETY: the caller's promise.
        has_terms: zero != 0 || unsafe { has_zero_points(this, images) },
        scratch,
    };
    // A program may run on a machine with fewer units than the one it was made on.
    let has_tiles = S::MAY_QUAD && this.has_tiles() && amx::has_bytes();
    let tiles = has_tiles.then(|| TiledPart::new(this.sum_places(), scratch.cast()));
    let mut state = BytePartState { bytes: Lines::none(), pixels: LinesOfBlock::none(), tiles };
    let (panels, blocks) = this.conv.blocks(this.panels().count(), part);
    for rows in blocks {
        // SAFETY: the caller's promise; outputs of the rows are at the same distance.
        unsafe { call.row_block(s, rows, panels.clone(), &mut state) };
    }
    if let Some(tiles) = &mut state.tiles {
        // SAFETY: the caller's promise.
        unsafe { tiles.finish::<S>() };
    }
}

impl<'p> QuadPart<'p> {
    /// Room for the zero-point terms of a block's rows.
    fn terms(&self) -> *mut i32 {
        self.scratch.cast::<i32>().wrapping_add(self.this.sums())
    }

    /// Computes a block of rows for a range of panels.
    #[inline(always)]
    unsafe fn row_block<S: Simd>(
        &'p self,
        s: S,
        rows: Range<usize>,
        panels: Range<usize>,
        state: &mut BytePartState<'p>,
    ) {
        let all = self.this.panels();
        let mut group = usize::MAX;
        let mut from = SegmentedRows::whole(std::ptr::null(), 0);
        for index in panels {
            let panel = all.get(index);
            // SAFETY: the caller's promise; rows and panel are inside the images.
            unsafe {
                if panel.group != group {
                    group = panel.group;
                    from = self.block_rows(s, &rows, group, state);
                    if self.has_terms {
                        // The product that is begun needs the terms of its own rows.
                        if let Some(tiles) = &mut state.tiles {
                            tiles.finish::<S>();
                        }
                        self.write_terms::<S>(from, rows.len());
                    }
                }
                if let Some(tiles) = &mut state.tiles {
                    tiles.add::<S>(ByteBlock { part: self, rows: [rows.start, rows.end], from, panel });
                } else {
                    self.panel_block::<S>(&rows, from, panel);
                }
            }
        }
    }

    /// The block's rows: in place, or copied to scratch.
    #[inline(always)]
    unsafe fn block_rows<S: Simd>(
        &self,
        s: S,
        rows: &Range<usize>,
        group: usize,
        state: &mut BytePartState<'_>,
    ) -> SegmentedRows {
        let QuadPart { this, images, .. } = *self;
        let conv = &this.conv;
        let ready = self.scratch.wrapping_add(this.sums() * 4 + this.bytes_of_terms());
        if conv.path == Path::Lines {
            // SAFETY: scratch has the sums, the terms, the lines and their tail.
            let before = unsafe {
                match this.has_pixel_quads() {
                    true => state.pixels.advance(s, &QuadImage { this, images }, rows, ready),
                    false => state.pixels.advance(s, &ByteGroupImage { this, images, group }, rows, ready),
                }
            };
            return this.wide_lines().rows(ready, this.line_bytes as usize, before);
        }
        if conv.path != Path::Gather {
            let input = &conv.strides.input;
            let offset = input.offset(conv.pixel(rows.start)) + group * conv.in_group as usize;
            // SAFETY: the pixel is inside the input, and the block's rows follow it at the stride of a pixel.
            let start = unsafe { images.x.add(offset) };
            return SegmentedRows::whole(start, input.w as usize);
        }
        let stride = conv.slab_stride as usize;
        let image = QuadImage { this, images };
        let copies = RowCopies::new(&image, group);
        let mut pixel = conv.pixel(rows.start);
        // SAFETY: scratch has the sums, the terms, the lines, `block_rows` rows of `slab_stride` bytes, and a
        // vector more.
        unsafe {
            let slab = ready.add(this.bytes_of_lines());
            if this.line_bytes > 0 {
                for (pixel, done, count) in conv.output_lines(rows) {
                    let to = slab.add(done * stride);
                    let length = this.line_bytes as usize;
                    state.bytes.rows(s, &image, group, (pixel, count), (ready, length), (to, stride));
                }
            } else if copies.has_channels_apart() {
                copies.rows_apart(rows, slab, stride);
            } else {
                for index in 0..rows.len() {
                    copies.row(s, pixel, slab.add(index * stride));
                    pixel = conv.next(pixel);
                }
            }
            SegmentedRows::whole(slab, stride)
        }
    }

    /// Writes the zero-point term of each row. If each column has its own zero point, the tile multiplies the
    /// term by it.
    #[inline(always)]
    unsafe fn write_terms<S: Simd>(&self, from: SegmentedRows, rows: usize) {
        let SegmentedRows { stride, segments, jump, .. } = from;
        let quads = self.this.quads() / segments;
        let image = self.this.row_sign();
        let to = self.terms();
        let all = (self.this.conv.depth() as i32).wrapping_mul(self.images.x_zero);
        let factor = if self.this.zero == WeightZero::Channel { 1 } else { self.zero };
        // SAFETY: the rows are readable to the end of their last quad, and scratch has room for their terms.
        unsafe {
            for RowsOfLine { first, count: rows, start: a } in from.lines(rows) {
                let to = to.add(first);
                let sums = RowSums { a, a_stride: stride, segments, jump, quads, rows, image, to };
                row_sums::<S>(sums, self.at_once);
            }
            for row in 0..rows {
                *to.add(row) = all.wrapping_sub(*to.add(row)).wrapping_mul(factor);
            }
        }
    }

    /// The zero-point corrections of a panel.
    #[inline(always)]
    unsafe fn panel_zeros(&self, panel: Panel) -> PanelZeros {
        let QuadPart { this, images, .. } = *self;
        let mut all = PanelZeros { begin: [0; PANEL], zeros: [0; PANEL] };
        // SAFETY: the panel's last row has its sums, and each channel has a zero point.
        unsafe {
            if images.x_zero != 0 {
                let sums = images.weights.add(panel.offset + this.quads() * panel.width);
                for (lane, begin) in all.begin.iter_mut().enumerate().take(panel.width) {
                    *begin = (*sums.add(lane)).wrapping_mul(images.x_zero.wrapping_neg());
                }
            }
            if this.zero == WeightZero::Channel {
                for (lane, zero) in all.zeros.iter_mut().enumerate().take(panel.count) {
                    *zero = this.shifted_zero(*images.weight_zeros.add(panel.first + lane));
                }
            }
        }
        all
    }

    /// Computes a block for one panel, tile by tile.
    #[inline(always)]
    unsafe fn panel_block<S: Simd>(&self, rows: &Range<usize>, from: SegmentedRows, panel: Panel) {
        let QuadPart { this, images, .. } = *self;
        let most = tile_rows::<S>(self.at_once);
        let columns = panel.width.min(2 * S::LANES);
        let quads = this.quads();
        let tiles = rows.len().div_ceil(most) * panel.count.div_ceil(columns);
        let ahead_stride = panel.width.div_ceil(tiles);
        // Prefetch the weights after this panel's.
        let mut ahead = images.weights.wrapping_add(panel.offset + (quads + 1) * panel.width);
        // SAFETY: the caller's promise.
        let added = unsafe { self.panel_zeros(panel) };
        for column in (0..panel.count).step_by(columns) {
            for RowsOfLine { first: row, count, start: a } in from.tiles(rows.len(), most) {
                // SAFETY: rows and columns of the tile are inside the block and the panel, for each operand
                // that there is.
                unsafe {
                    let tile = QuadTile {
                        segments: from.segments,
                        quads: quads / from.segments,
                        jump: from.jump,
                        a,
                        a_stride: from.stride,
                        b: images.weights.add(panel.offset + column),
                        b_stride: panel.width,
                        begin: added.begin.as_ptr().add(column),
                        zeros: match this.zero {
                            WeightZero::Channel => added.zeros.as_ptr().add(column),
                            _ => std::ptr::null(),
                        },
                        ahead,
                        ahead_stride,
                        ..self.tile(rows, row, panel, column)
                    };
                    let vectors = columns / S::LANES;
                    tile_function::<S>(count, vectors, self.at_once, this.row_sign())(&tile);
                }
                ahead = ahead.wrapping_add(quads * ahead_stride);
            }
        }
    }

    /// The tile from a row of a block and a column of a panel on, without the operands of its product.
    ///
    /// # Safety
    /// The row and the column are inside the images.
    #[inline(always)]
    pub(super) unsafe fn tile(
        &self,
        rows: &Range<usize>,
        row: usize,
        panel: Panel,
        column: usize,
    ) -> QuadTile<'_> {
        let QuadPart { this, images, .. } = *self;
        let pixel = this.conv.pixel(rows.start);
        let [output, residual] = [this.conv.strides.output, this.conv.strides.residual];
        let channel = panel.first + column;
        let residual_first = residual.offset(pixel) + row * residual.w as usize + channel;
        let first = output.offset(pixel) + row * output.w as usize + channel;
        let residual_bytes = StepCode::residual_bytes(self.plan.steps());
        let none: *const i32 = std::ptr::null();
        // SAFETY: the caller's promise.
        let c = unsafe { images.out.add(first * this.output.bytes()) };
        QuadTile {
            segments: 0,
            quads: 0,
            jump: 0,
            a: none.cast(),
            a_stride: 0,
            b: none,
            b_stride: 0,
            begin: none,
            terms: if self.has_terms { self.terms().wrapping_add(row) } else { none },
            zeros: none,
            c,
            c_stride: output.w as usize,
            output: this.output,
            rounded: self.plan.rounded,
            cols: panel.count - column,
            residual: images.residual.wrapping_add(residual_first * residual_bytes),
            residual_stride: residual.w as usize,
            steps: self.plan.steps(),
            operands: images.table,
            channel,
            sums: self.scratch.cast(),
            ahead: none,
            ahead_stride: 0,
        }
    }
}
