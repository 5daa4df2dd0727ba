//! Which blocking and parts a 3x3 convolution by Winograd's F(4x4, 3x3) has, and when it is faster.
//!
//! The output is cut into tiles of 4 x 4 pixels, counted from its corner. For each of the 36 points, the
//! tiles' transformed pixels (rows) meet the transformed filters (columns) in a matrix product over the input
//! channels; [`crate::winograd_transforms`] has the algorithm and its source.
//!
//! The weights stay as [`crate::Conv2d`] packs them. A filter is transformed where it is used: a block of
//! input channels for one panel of output channels at a time, into scratch that stays in the second-level
//! cache. Stored transformed, weights would take four times the bytes, and be read from memory.
//!
//! The bits of a result depend on the shape and operands alone: a tile's sums are taken in the order of the
//! channels, from zero; bias, then residual are added after the last transform. They differ from those of
//! [`crate::Conv2d`].

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::conv::{Conv2dShape, ConvOperands, ConvPrologue, ConvStrides};
use crate::isa::Isa;
use crate::map::{Activation, FunctionCode};
use crate::pack::{PANEL, Panels};
use crate::simd::Simd;
use crate::winograd_run as run;
use crate::winograd_transforms::{FILTER_SIDE, POINTS, TILE_SIDE};

/// A convolution by Winograd's F(4x4, 3x3).
///
/// Operands: `[out, x, packed weights, bias, residual]`, the weights as [`crate::Conv2d::pack`] packs them
/// for the same shape. Bias (`out_channels`) and residual may be null. The residual may be the output itself
/// (same address and strides); otherwise the output overlaps nothing.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Winograd {
    pub(crate) strides: ConvStrides,
    pub(crate) batch: u32,
    pub(crate) in_h: u32,
    pub(crate) in_w: u32,
    pub(crate) out_h: u32,
    pub(crate) out_w: u32,
    pub(crate) pad_top: u32,
    pub(crate) pad_left: u32,
    pub(crate) in_channels: u32,
    pub(crate) out_channels: u32,
    pub(crate) activation: FunctionCode,
    /// The most tiles that are computed at a time.
    pub(crate) block_tiles: u32,
    /// The most input channels that are taken at a time, a multiple of 16.
    pub(crate) block_depth: u32,
    pub(crate) tile_parts: u32,
    pub(crate) panel_parts: u32,
    pub(crate) isa: Isa,
    /// Stands where there would be padding.
    pub(crate) reserved: u32,
}

/// Its bytes are told apart, and read by others: there is no padding among them.
const _: () = assert!(size_of::<Winograd>() == size_of::<ConvStrides>() + 18 * size_of::<u32>());

/// The most tiles of a block: then transforming the filters again costs a tenth of the products.
const MOST_TILES: usize = 56;
/// Rows of a whole matrix tile.
const WHOLE_TILES: usize = 14;
/// The fewest tiles of a block, where scratch is scarce.
const LEAST_TILES: usize = 6;
/// The most input channels of a block: its transformed filters are 288 KiB, a third of the second-level
/// cache.
const MOST_DEPTH: usize = 64;
/// The most where scratch is scarce: fewer channels leave room for more tiles.
const NARROW_DEPTHS: [usize; 2] = [32, 16];
/// Floats between the points' blocks, beside their own: neighbours fall in different sets of the caches.
const APART: usize = 16;

/// Cycles of parts of the work, fitted to the 3x3 layers of `examples/layers.rs` on an AMD EPYC (Zen 4,
/// AVX-512, one thread): of transforming 16 filters, of reading 16 channels of a tile, and of writing them.
const FILTER_CYCLES: f64 = 200.0;
const READ_CYCLES: f64 = 300.0;
const WRITE_CYCLES: f64 = 400.0;
/// Of a step of a matrix tile, beside a cycle for each row and vector.
const STEP_CYCLES: f64 = 2.0;
/// Of a matrix tile, beside its steps.
const TILE_CYCLES: f64 = 60.0;
/// Of a call.
const CALL_CYCLES: f64 = 1500.0;
/// How much longer than expected a part may take because its core is busy elsewhere.
const DISTURBANCE: f64 = 0.25;
/// Of a product of [`crate::Conv2d`] with 16 weights, with all that it does beside.
const DIRECT_CYCLES: f64 = 1.2;

impl Winograd {
    /// The rows of the output in a tile. Computed in parts whose rows are a multiple of this (the last part
    /// may have any number), the output has the same bits as when it is computed at once.
    pub const TILE_ROWS: usize = TILE_SIDE;

    /// Whether it can compute a convolution of a shape: 3x3 with stride and dilation 1 and one group.
    pub fn computes(shape: &Conv2dShape) -> bool {
        let Conv2dShape { kernel, stride, dilation, groups, .. } = *shape;
        kernel == [FILTER_SIDE; 2] && [stride, dilation] == [[1; 2]; 2] && groups == 1
    }

    /// The convolution of a shape; none if it can't compute that ([`Winograd::computes`]), or the input's
    /// channels lie apart.
    pub fn new(
        shape: &Conv2dShape,
        strides: &ConvStrides,
        activation: Activation,
        isa: Isa,
        threads: usize,
    ) -> Option<Winograd> {
        let [out_h, out_w] = shape.output();
        let count = shape.batch * out_h * out_w * shape.in_channels * shape.out_channels;
        if !Winograd::computes(shape) || strides.input.c != 1 || count == 0 {
            return None;
        }
        let blocks = shape.in_channels.div_ceil(MOST_DEPTH);
        let mut winograd = Winograd {
            strides: *strides,
            batch: shape.batch as u32,
            in_h: shape.input[0] as u32,
            in_w: shape.input[1] as u32,
            out_h: out_h as u32,
            out_w: out_w as u32,
            pad_top: shape.pads[0] as u32,
            pad_left: shape.pads[1] as u32,
            in_channels: shape.in_channels as u32,
            out_channels: shape.out_channels as u32,
            activation: activation.into(),
            block_tiles: 0,
            block_depth: shape.in_channels.div_ceil(blocks).next_multiple_of(16) as u32,
            tile_parts: 0,
            panel_parts: 0,
            reserved: 0,
            isa,
        };
        winograd.choose(MOST_TILES.min(winograd.tiles()), threads);
        Some(winograd)
    }

    /// The same convolution, to the bit, with no more than `scratch_bytes` for each worker, or with as few as
    /// it can do with.
    pub fn within(self, scratch_bytes: usize, threads: usize) -> Winograd {
        if self.scratch_bytes() <= scratch_bytes {
            return self;
        }
        let (mut best, least) = self.narrowest();
        best.block_tiles = least as u32;
        let whole = |narrow: &Winograd| narrow.cost(narrow.tiles(), narrow.panels().count());
        let mut best_cost = whole(&best);
        for depth in [self.block_depth as usize].into_iter().chain(NARROW_DEPTHS) {
            let mut narrow = Winograd { block_depth: self.block_depth.min(depth as u32), ..self };
            let Some(tiles) = narrow.tiles_within(scratch_bytes).filter(|tiles| *tiles >= least) else {
                continue;
            };
            narrow.block_tiles = self.block_tiles.min(tiles as u32);
            let cost = whole(&narrow);
            if cost < best_cost {
                (best, best_cost) = (narrow, cost);
            }
        }
        best.choose(best.block_tiles as usize, threads);
        best
    }

    /// The largest number of tiles of a block whose scratch fits: scratch is linear in it.
    fn tiles_within(&self, scratch_bytes: usize) -> Option<usize> {
        let [none, one] = [0, 1].map(|tiles| self.scratch_floats(tiles));
        Some((scratch_bytes / 4).checked_sub(none)? / (one - none))
    }

    /// The kernel with the fewest channels of a block, and the fewest tiles of one.
    fn narrowest(&self) -> (Winograd, usize) {
        let [.., depth] = NARROW_DEPTHS;
        let block_depth = self.block_depth.min(depth as u32);
        (Winograd { block_depth, ..*self }, LEAST_TILES.min(self.block_tiles as usize))
    }

    /// The fewest bytes of scratch that each worker can do with.
    pub fn least_scratch_bytes(&self) -> usize {
        let (narrowest, tiles) = self.narrowest();
        narrowest.scratch_floats(tiles) * 4
    }

    /// How many times faster than [`crate::Conv2d`] it is about.
    pub fn speedup(&self, threads: usize) -> f64 {
        let threads = threads as f64;
        let parts = f64::from(self.tile_parts * self.panel_parts);
        let tiles = self.tiles().div_ceil(self.tile_parts as usize);
        let panels = self.panels().count().div_ceil(self.panel_parts as usize);
        let rounds = (parts / threads).ceil();
        let pixels = f64::from(self.batch * self.out_h * self.out_w);
        let vectors = (self.panels().packed_len() / 16) as f64;
        pixels * vectors * DIRECT_CYCLES / threads / (self.cost(tiles, panels) * rounds)
    }

    /// Tiles along each side of the output.
    pub fn tile_grid(&self) -> [usize; 2] {
        [self.out_h, self.out_w].map(|size| (size as usize).div_ceil(TILE_SIDE))
    }

    /// Tiles of all images.
    pub(crate) fn tiles(&self) -> usize {
        let [rows, columns] = self.tile_grid();
        self.batch as usize * rows * columns
    }

    /// How the output channels are cut into panels of packed weights.
    pub(crate) fn panels(&self) -> Panels {
        let depth = FILTER_SIDE * FILTER_SIDE * self.in_channels as usize;
        Panels::new(depth, self.out_channels as usize, 1, PANEL)
    }

    /// Blocks of input channels.
    pub(crate) fn depth_blocks(&self) -> usize {
        self.in_channels.div_ceil(self.block_depth) as usize
    }

    /// Where scratch's pieces begin, in floats, and its end: pixels outside of the image, transformed pixels,
    /// transformed filters, sums.
    pub(crate) fn pieces(&self, tiles: usize) -> [usize; 5] {
        let width = self.panels().get(0).width;
        let depth = self.block_depth as usize;
        let read = (self.in_channels as usize).next_multiple_of(16);
        let filters = read + self.depth_blocks() * POINTS * apart(tiles * depth);
        let sums = filters + POINTS * apart(depth * width);
        [0, read, filters, sums, sums + POINTS * apart(tiles * width)]
    }

    fn scratch_floats(&self, tiles: usize) -> usize {
        self.pieces(tiles)[4]
    }

    /// Blocks of at most that many tiles, and the parts for which the slowest worker finishes first.
    fn choose(&mut self, block_tiles: usize, threads: usize) {
        self.block_tiles = block_tiles as u32;
        let tiles = self.tiles();
        let panels = self.panels().count();
        let waiting = if threads > 1 { DISTURBANCE } else { 0.0 };
        let most = if threads > 1 { threads * 4 } else { 1 };
        let mut best = (f64::INFINITY, 1, 1);
        for tile_parts in 1..=most.min(tiles) {
            for panel_parts in 1..=(most / tile_parts).min(panels) {
                let rounds = (tile_parts * panel_parts).div_ceil(threads) as f64 + waiting;
                let cost = self.cost(tiles.div_ceil(tile_parts), panels.div_ceil(panel_parts)) * rounds;
                if (cost, panel_parts, tile_parts) < best {
                    best = (cost, panel_parts, tile_parts);
                }
            }
        }
        (self.tile_parts, self.panel_parts) = (best.2 as u32, best.1 as u32);
    }

    /// About how many cycles a part takes, by its tiles and panels.
    fn cost(&self, tiles: usize, panels: usize) -> f64 {
        let blocks = tiles.div_ceil(self.block_tiles as usize);
        let heights = tiles.div_ceil(WHOLE_TILES).max(blocks) as f64;
        let [tiles, panels, blocks] = [tiles, panels, blocks].map(|count| count as f64);
        let channels = f64::from(self.in_channels);
        let vectors = panels * self.panels().get(0).width as f64 / 16.0;
        let steps = channels * (tiles * vectors + heights * panels * STEP_CYCLES);
        let matrix_tiles = heights * panels * self.depth_blocks() as f64 * TILE_CYCLES;
        let filters = blocks * channels * vectors * FILTER_CYCLES;
        let reads = tiles * (channels / 16.0).ceil() * READ_CYCLES;
        let writes = tiles * vectors * WRITE_CYCLES;
        POINTS as f64 * (steps + matrix_tiles) + filters + reads + writes + CALL_CYCLES
    }
}

/// The floats from one point's block to the next's.
pub(crate) fn apart(floats: usize) -> usize {
    floats + APART
}

// SAFETY: `u64` strides, then 4-byte fields of an even number (the code has three): no padding; `entry` reads
// this type.
unsafe impl Kernel for Winograd {
    fn parts(&self) -> u32 {
        self.tile_parts * self.panel_parts
    }

    fn scratch_bytes(&self) -> usize {
        self.scratch_floats(self.block_tiles as usize) * 4
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Winograd>(self.isa)
    }
}

impl KernelBody for Winograd {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        // SAFETY: `KernelFn`'s promise, with the operands that `Winograd` documents.
        unsafe {
            let images = ConvOperands::new(operands, ConvPrologue::None);
            run::run(s, self, &images, part as usize, scratch.cast());
        }
    }
}
