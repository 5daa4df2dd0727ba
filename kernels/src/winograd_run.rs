//! A part of a Winograd convolution: tiles are read, multiplied and written block by block.
//!
//! ```text
//! for each block of tiles:  pixels -> read[block of channels][point][tile][channel]
//!   for each panel of output channels:
//!     for each block of input channels:
//!       weights -> filters[point][channel][output];  for each point: sums[point] += read * filters
//!     sums -> output, with bias, residual and activation
//! ```

use std::ops::Range;

use crate::abi::{OperandTable, piece};
use crate::bf16::{self, Numbers, StoredFloat};
use crate::conv::ImageStrides;
use crate::map::{Finish, apply_rows};
use crate::math;
use crate::pack::Panel;
use crate::pairs::ConvNumbers;
use crate::pixels::Pixel;
use crate::simd::Simd;
use crate::tile::{Start, Tile, tile_function, tile_ranges};
use crate::winograd::{Winograd, apart};
use crate::winograd_filter::WinogradFilter;
use crate::winograd_transforms::{Line, Square, WinogradTransform};

/// The most pixels that a tile reads.
const MOST_READ: usize = 36;
/// The most pixels that a tile writes.
const MOST_WRITTEN: usize = 16;

/// The most lanes of a vector.
const MOST_LANES: usize = 16;

/// The operands of a running convolution; a row of packed weights has `CHANNELS` input channels.
#[derive(Clone, Copy)]
pub(crate) struct WinogradImages<const CHANNELS: usize> {
    out: Numbers,
    x: Numbers,
    weights: *const f32,
    bias: *const f32,
    /// Null without a residual.
    residual: Numbers,
}

impl<const CHANNELS: usize> WinogradImages<CHANNELS> {
    /// # Safety
    /// The table has `conv`'s operands, and its weights are stored in rows of `CHANNELS`.
    #[inline(always)]
    pub(crate) unsafe fn new(conv: &Winograd, operands: OperandTable) -> WinogradImages<CHANNELS> {
        let numbers = |start, stored| {
            // Without `bf16` weights, the type is known at compile time.
            let stored = if CHANNELS == 1 { StoredFloat::F32 } else { stored };
            Numbers { start, stored, first: 0 }
        };
        let ConvNumbers { input, residual, output } = conv.numbers();
        // SAFETY: the caller's promise.
        unsafe {
            WinogradImages {
                out: numbers(operands.get(0), output),
                x: numbers(operands.get(1), input),
                weights: operands.get::<f32>(2),
                bias: operands.get::<f32>(3),
                residual: numbers(operands.get(4), residual),
            }
        }
    }

    /// Whether the activation is applied to stored results. Results that are rounded for the store get it
    /// before.
    #[inline(always)]
    fn is_activated_after(&self, conv: &Winograd) -> bool {
        conv.activation.is_deferred() && self.out.stored == StoredFloat::F32
    }

    /// Loads pixels of the input as `f32`, rounded as the products need them.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` channels.
    #[inline(always)]
    unsafe fn load<S: Simd>(&self, s: S, from: *const u8, first: usize, count: usize) -> S::F {
        // SAFETY: the caller's promise.
        let pixels = unsafe { bf16::load(s, from, self.x.stored, first, count) };
        let is_rounded = CHANNELS == 2 && self.x.stored == StoredFloat::F32;
        if is_rounded { s.upper_bf16(s.nearest_bf16(pixels)) } else { pixels }
    }

    /// The packed weights of channel `channel` of a row.
    ///
    /// # Safety
    /// `from` is valid for reads of a vector.
    #[inline(always)]
    unsafe fn weight<S: Simd>(s: S, from: *const f32, channel: usize) -> S::F {
        // SAFETY: the caller's promise.
        unsafe {
            match (CHANNELS, channel) {
                (1, _) => s.load(from),
                (_, 0) => s.lower_bf16(s.load_int(from.cast())),
                _ => s.upper_bf16(s.load_int(from.cast())),
            }
        }
    }
}

/// The pieces of scratch.
#[derive(Clone, Copy)]
struct WinogradScratch {
    zeros: *const f32,
    read: *mut f32,
    filters: *mut f32,
    sums: *mut f32,
    /// Tiles that the pieces are laid out for.
    tiles: usize,
}

impl WinogradScratch {
    /// # Safety
    /// `scratch` has what `conv` asks for.
    #[inline(always)]
    unsafe fn new(conv: &Winograd, scratch: *mut f32) -> WinogradScratch {
        let tiles = conv.block_tiles as usize;
        let [zeros, read, filters, sums, _] = conv.pieces(tiles);
        // SAFETY: the caller's promise; the pixels outside of the image come first.
        unsafe {
            scratch.write_bytes(0, read);
            let [read, filters, sums] = [read, filters, sums].map(|first| scratch.add(first));
            WinogradScratch { zeros: scratch.add(zeros), read, filters, sums, tiles }
        }
    }
}

/// Evaluates an expression where a name stands for the transforms of a kernel's filter. Only what reads or
/// writes transformed numbers is compiled for each filter.
macro_rules! by_filter {
    ($conv:expr, $transforms:ident => $call:expr) => {
        match $conv.filter {
            WinogradFilter::Square2 => by_filter!(@ Square<Line<3, 2>>, $transforms => $call),
            WinogradFilter::Square3 => by_filter!(@ Square<Line<4, 3>>, $transforms => $call),
            WinogradFilter::Square5 => by_filter!(@ Square<Line<2, 5>>, $transforms => $call),
            WinogradFilter::Row2 | WinogradFilter::Column2 => by_filter!(@ Line<3, 2>, $transforms => $call),
            WinogradFilter::Row3 | WinogradFilter::Column3 => by_filter!(@ Line<4, 3>, $transforms => $call),
            WinogradFilter::Row5 | WinogradFilter::Column5 => by_filter!(@ Line<2, 5>, $transforms => $call),
            WinogradFilter::Row7 | WinogradFilter::Column7 => by_filter!(@ Line<4, 7>, $transforms => $call),
        }
    };
    (@ $chosen:ty, $transforms:ident => $call:expr) => {{
        type $transforms = $chosen;
        $call
    }};
}

/// Runs part `part`, by the transforms of the kernel's filter.
///
/// # Safety
/// That of [`crate::KernelFn`], with `Winograd`'s operands.
#[inline(always)]
pub(crate) unsafe fn run<const CHANNELS: usize, S: Simd>(
    s: S,
    conv: &Winograd,
    images: &WinogradImages<CHANNELS>,
    part: usize,
    scratch: *mut f32,
) {
    let panel_parts = conv.panel_parts as usize;
    let panels = piece(conv.panels().count(), panel_parts, part % panel_parts);
    let tiles = piece(conv.tiles(), conv.tile_parts as usize, part / panel_parts);
    let blocks = tiles.len().div_ceil(conv.block_tiles as usize);
    // SAFETY: the caller's promise.
    let scratch = unsafe { WinogradScratch::new(conv, scratch) };
    let groups = conv.panels().get(panels.start).group..conv.panels().get(panels.end - 1).group + 1;
    for index in 0..blocks {
        let block = piece(tiles.len(), blocks, index);
        let block = tiles.start + block.start..tiles.start + block.end;
        // SAFETY: the caller's promise; the block has at most `block_tiles` tiles.
        unsafe {
            for (row, tile) in block.clone().enumerate() {
                let place = (tile, row);
                by_filter!(conv, T => {
                    read_pixels::<T, CHANNELS, S>(s, conv, images, &scratch, &groups, place);
                });
            }
            for index in panels.clone() {
                let panel = conv.panels().get(index);
                multiply::<CHANNELS, S>(s, conv, images, &scratch, block.len(), panel);
                for (row, tile) in block.clone().enumerate() {
                    let place = (tile, row);
                    by_filter!(conv, T => {
                        write_pixels::<T, CHANNELS, S>(s, conv, images, &scratch, panel, place);
                    });
                }
            }
            if images.is_activated_after(conv) {
                activate::<CHANNELS, S>(conv, images, &block, &panels);
            }
        }
    }
}

/// The first output pixel of a tile; some tiles of the last strips begin outside the output.
#[inline(always)]
fn corner(conv: &Winograd, tile: usize) -> Pixel {
    let [strips, tiles] = conv.tile_grid();
    let [height, width] = conv.strip();
    let [rows, columns] = conv.dilation.map(|distance| distance as usize);
    let (strip, within) = (tile / tiles, tile % tiles);
    let (row, place) = (within / (tiles / rows), within % (tiles / rows));
    let y = strip % strips * height + row;
    Pixel { n: strip / strips, y, x: place / columns * width + place % columns }
}

/// The addresses of the input pixels that a tile reads, row by row; those outside the image point at zeros.
#[inline(never)]
fn pixels_read(conv: &Winograd, image: Numbers, zeros: *const f32, tile: usize) -> [*const u8; MOST_READ] {
    let Pixel { n, y, x } = corner(conv, tile);
    let (in_h, in_w) = (conv.in_h as usize, conv.in_w as usize);
    let [height, width] = conv.filter.read();
    let [rows, columns] = conv.dilation.map(|distance| distance as usize);
    let mut pixels = [zeros.cast::<u8>(); MOST_READ];
    for (row, pixels) in pixels.chunks_exact_mut(width).enumerate().take(height) {
        // Rows above the image and columns before it wrap around, and count as outside too.
        let y = (y + row * rows).wrapping_sub(conv.pad_top as usize);
        for (column, pixel) in pixels.iter_mut().enumerate() {
            let x = (x + column * columns).wrapping_sub(conv.pad_left as usize);
            if y < in_h && x < in_w {
                let index = conv.strides.input.offset(Pixel { n, y, x });
                *pixel = image.start.wrapping_add(index * image.stored.bytes());
            }
        }
    }
    pixels
}

/// Transforms the pixels that a tile reads, for the channels of some groups, into row `row` of each point's
/// block.
#[inline(always)]
unsafe fn read_pixels<T: WinogradTransform, const CHANNELS: usize, S: Simd>(
    s: S,
    conv: &Winograd,
    images: &WinogradImages<CHANNELS>,
    scratch: &WinogradScratch,
    groups: &Range<usize>,
    (tile, row): (usize, usize),
) {
    debug_assert_eq!(T::POINTS, conv.filter.points(), "the transforms are those of the filter");
    let pixels = pixels_read(conv, images.x, scratch.zeros, tile);
    let depth = conv.block_depth as usize;
    let in_group = conv.in_group();
    let point = apart(scratch.tiles * depth);
    for group in groups.clone() {
        for within in (0..in_group).step_by(S::LANES) {
            let count = in_group - within;
            let block = (group * conv.depth_blocks() + within / depth) * T::POINTS * point;
            let to = scratch.read.wrapping_add(block + row * depth + within % depth);
            // SAFETY: pixels inside the image have all channels, and so have the zeros; a point's block has
            // `depth` floats, whole vectors, for each tile.
            T::read(
                s,
                |pixel| unsafe { images.load(s, pixels[pixel], group * in_group + within, count) },
                |index, value| unsafe { s.store(to.add(index * point), value) },
            );
        }
    }
}

/// Computes the products of all points for a block of tiles and a panel, into the sums.
#[inline(always)]
unsafe fn multiply<const CHANNELS: usize, S: Simd>(
    s: S,
    conv: &Winograd,
    images: &WinogradImages<CHANNELS>,
    scratch: &WinogradScratch,
    tiles: usize,
    panel: Panel,
) {
    let depth = conv.block_depth as usize;
    let channels = conv.in_group();
    let points = conv.filter.points();
    let taps = conv.filter.taps();
    for block in 0..conv.depth_blocks() {
        let inputs = block * depth..channels.min((block + 1) * depth);
        // SAFETY: passed on from `run`; the panel's filters are in the packed weights.
        unsafe {
            let weights = images.weights.add(panel.offset);
            by_filter!(conv, T => filters::<T, CHANNELS, S>(s, conv, scratch, weights, &inputs, panel.width));
            let next = if inputs.end < channels { inputs.end } else { taps * channels };
            let ahead = weights.wrapping_add(next / CHANNELS * panel.width);
            for point in 0..points {
                multiply_point::<CHANNELS, S>(conv, scratch, tiles, panel, &inputs, point, ahead);
            }
        }
    }
}

/// Transforms a panel's filters of some input channels.
#[inline(always)]
unsafe fn filters<T: WinogradTransform, const CHANNELS: usize, S: Simd>(
    s: S,
    conv: &Winograd,
    scratch: &WinogradScratch,
    weights: *const f32,
    inputs: &Range<usize>,
    width: usize,
) {
    let tap = conv.in_group() / CHANNELS * width;
    let point = apart(conv.block_depth as usize * width);
    for row in 0..inputs.len() / CHANNELS {
        let weights = weights.wrapping_add((inputs.start / CHANNELS + row) * width);
        for channel in 0..CHANNELS {
            let to = scratch.filters.wrapping_add((row * CHANNELS + channel) * width);
            for lane in (0..width).step_by(S::LANES) {
                // SAFETY: the panel has `width` weights, whole vectors, for each tap and row; a point's block
                // has as many for each channel of the block.
                T::filter(
                    s,
                    |index| unsafe {
                        WinogradImages::<CHANNELS>::weight(s, weights.add(index * tap + lane), channel)
                    },
                    |index, value| unsafe { s.store(to.add(index * point + lane), value) },
                );
            }
        }
    }
}

/// Adds the product of one point's block of tiles with its filters to the point's sums. Meanwhile it
/// prefetches `ahead`, the weights that are transformed next; the points share that work.
#[inline(always)]
unsafe fn multiply_point<const CHANNELS: usize, S: Simd>(
    conv: &Winograd,
    scratch: &WinogradScratch,
    tiles: usize,
    panel: Panel,
    inputs: &Range<usize>,
    point: usize,
    ahead: *const f32,
) {
    let (depth, width) = (conv.block_depth as usize, panel.width);
    let read_apart = apart(scratch.tiles * depth);
    let block = panel.group * conv.depth_blocks() + inputs.start / depth;
    let points = conv.filter.points();
    let read = scratch.read.wrapping_add((block * points + point) * read_apart);
    let filters = scratch.filters.wrapping_add(point * apart(depth * width));
    let sums = scratch.sums.wrapping_add(point * apart(scratch.tiles * width));
    let start = match inputs.start {
        0 => Start::Fresh { bias: std::ptr::null(), residual: std::ptr::null(), residual_stride: 0 },
        _ => Start::Resume,
    };
    // Several points may share the prefetch of one tap's weights.
    let sharing = points / conv.filter.taps();
    let tap = point / sharing * conv.in_group() + point % sharing * inputs.len() / sharing;
    let mut fetch = (ahead.wrapping_add(tap / CHANNELS * width), width / sharing / CHANNELS);
    let columns = width.min(2 * S::LANES);
    for tile_rows in tile_ranges(tiles, S::TILE_ROWS) {
        let row = tile_rows.start;
        let rows = tile_rows.len();
        for column in (0..width).step_by(columns) {
            let tile = Tile {
                depth: inputs.len(),
                segments: 1,
                segment_stride: 0,
                a: read.wrapping_add(row * depth),
                a_stride: depth,
                b: filters.wrapping_add(column),
                b_stride: width,
                panel_stride: 0,
                c: sums.wrapping_add(row * width + column),
                c_stride: width,
                cols: columns,
                start,
                finish: Finish::Store,
                ahead: fetch.0,
                ahead_stride: fetch.1,
            };
            // SAFETY: the rows are those of the block's tiles, the columns those of the panel, and the depth
            // that of the block of channels.
            unsafe { tile_function::<S>(rows, columns / S::LANES)(&tile) };
            fetch = (read.wrapping_add(read_apart + row * depth), rows);
        }
    }
}

/// The offset in an image of each pixel that a tile writes; none outside the output.
#[inline(never)]
fn pixels_written(conv: &Winograd, strides: &ImageStrides, first: Pixel) -> [Option<usize>; MOST_WRITTEN] {
    let [tile_rows, tile_columns] = conv.filter.tile();
    let [rows, columns] = conv.dilation.map(|distance| distance as usize);
    let mut pixels = [None; MOST_WRITTEN];
    for (index, pixel) in pixels.iter_mut().enumerate().take(tile_rows * tile_columns) {
        let y = first.y + index / tile_columns * rows;
        let x = first.x + index % tile_columns * columns;
        if y < conv.out_h as usize && x < conv.out_w as usize {
            *pixel = Some(strides.offset(Pixel { y, x, ..first }));
        }
    }
    pixels
}

/// Writes the pixels of a tile, for the channels of a panel: `row` is the tile's row in the sums.
#[inline(always)]
unsafe fn write_pixels<T: WinogradTransform, const CHANNELS: usize, S: Simd>(
    s: S,
    conv: &Winograd,
    images: &WinogradImages<CHANNELS>,
    scratch: &WinogradScratch,
    panel: Panel,
    (tile, row): (usize, usize),
) {
    debug_assert_eq!(T::OUTPUTS, conv.filter.tile().into_iter().product::<usize>());
    let first = corner(conv, tile);
    let point = apart(scratch.tiles * panel.width);
    let written = pixels_written(conv, &conv.strides.output, first);
    let added =
        (!images.residual.start.is_null()).then(|| pixels_written(conv, &conv.strides.residual, first));
    let finish = conv.activation.finish();
    let is_activated_before = conv.activation.is_deferred() && !images.is_activated_after(conv);
    for lane in (0..panel.count).step_by(S::LANES) {
        let (channel, count) = (panel.first + lane, panel.count - lane);
        let from = scratch.sums.wrapping_add(row * panel.width + lane);
        // SAFETY: the sums of a panel are whole vectors; pixels inside the output have all channels, there
        // and in the residual, and so has the bias.
        unsafe {
            let bias = images.bias.wrapping_add(channel);
            let bias = if images.bias.is_null() { s.splat(0.0) } else { s.load_first(bias, count) };
            T::write(
                s,
                |index| s.load(from.add(index * point)),
                |index, value| {
                    let Some(pixel) = written[index] else { return };
                    let mut value = s.add(value, bias);
                    if let Some(residual) = added.as_ref().and_then(|added| added[index]) {
                        value = s.add(value, images.residual.load(s, residual + channel, count));
                    }
                    if let Finish::Clip { lo, hi } = finish {
                        value = math::clip(s, value, lo, hi);
                    }
                    if is_activated_before {
                        value = activated(s, conv, value);
                    }
                    images.out.store(s, pixel + channel, count, value);
                },
            );
        }
    }
}

/// Applies the activation to a vector.
///
/// # Safety
/// The machine has `S`.
#[inline(always)]
unsafe fn activated<S: Simd>(s: S, conv: &Winograd, value: S::F) -> S::F {
    let mut lanes = [0.0f32; MOST_LANES];
    // SAFETY: the caller's promise; no vector has more lanes.
    unsafe {
        s.store(lanes.as_mut_ptr(), value);
        apply_rows::<S>(conv.activation, lanes.as_mut_ptr(), [1, S::LANES], S::LANES);
        s.load(lanes.as_ptr())
    }
}

/// Applies the activation to the outputs just written: the pixels of some tiles, in the channels of some
/// panels.
#[inline(always)]
unsafe fn activate<const CHANNELS: usize, S: Simd>(
    conv: &Winograd,
    images: &WinogradImages<CHANNELS>,
    tiles: &Range<usize>,
    panels: &Range<usize>,
) {
    let (first, last) = (conv.panels().get(panels.start), conv.panels().get(panels.end - 1));
    let channels = last.first + last.count - first.first;
    let [height, _] = conv.strip();
    let width = conv.filter.tile()[1];
    let [rows, columns] = conv.dilation.map(|distance| distance as usize);
    let output = conv.strides.output;
    for corner in tiles.clone().map(|tile| corner(conv, tile)) {
        let pixels = width.min((conv.out_w as usize).saturating_sub(corner.x).div_ceil(columns));
        for y in (corner.y..(conv.out_h as usize).min(corner.y + height)).step_by(rows) {
            // SAFETY: these outputs were just written by this part.
            unsafe {
                let start = images.out.floats(output.offset(Pixel { y, ..corner }) + first.first);
                let apart = output.w as usize * columns;
                apply_rows::<S>(conv.activation, start, [pixels, channels], apart);
            }
        }
    }
}
