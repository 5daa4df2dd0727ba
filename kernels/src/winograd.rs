//! Winograd convolution: its blocking and parts, and when it is faster.
//!
//! The output is cut into tiles, counted from its corner: of 3 x 3 pixels if the filter has 2 x 2 taps, 4 x 4
//! for 3 x 3, 2 x 2 for 5 x 5, and of 3, 4, 2 or 4 pixels of a row or column if it has 2, 3, 5 or 7 taps in
//! one. A tile needs 16, 36, 36, 4, 6, 6 or 10 products instead of 36, 144, 100, 6, 12, 10 or 28. The pixels
//! of a tile are as far apart as the taps of the filter, with other tiles in between. For each of these
//! points, the tiles' transformed pixels (rows) are multiplied with the transformed filters (columns) in a
//! matrix product over the input channels; [`crate::winograd_transforms`] has the algorithm and its source.
//!
//! The weights stay as [`crate::Conv2d`] packs them. Filters are transformed when they are used, a block of
//! input channels for one panel of output channels at a time, into scratch that stays in the second-level
//! cache. Stored transformed weights would take four times the bytes, and be read from memory.
//!
//! Weights and images may be stored as `bf16`, but transforms, products and sums are `f32`: rounding the
//! transformed pixels of a 4 x 4 tile to `bf16` would multiply their errors.
//!
//! The bits of a result depend only on the shape and the operands: a tile's sums are taken in the order of
//! the channels, from zero; bias, then residual are added after the last transform. They differ from those of
//! [`crate::Conv2d`].

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::bf16::StoredFloat;
use crate::conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides};
use crate::isa::Isa;
use crate::map::{Activation, FunctionCode};
use crate::pack::{PANEL, Panels};
use crate::pairs::{ConvNumbers, PairUnit};
use crate::simd::{Avx512, Simd};
use crate::winograd_filter::WinogradFilter;
use crate::winograd_run::{self as run, WinogradImages};

/// A convolution by Winograd's algorithm.
///
/// Operands: `[out, x, packed weights, bias, residual]`, the weights as [`crate::Conv2d::pack`] packs them
/// for the same shape, or, if they are `bf16`, as [`crate::PairConv2d::pack`] does. Bias (`out_channels`) and
/// residual may be null. The residual may be the output itself (same address and strides); otherwise the
/// output overlaps nothing.
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
    /// Between pixels of a tile, and between taps: rows and columns.
    pub(crate) dilation: [u32; 2],
    pub(crate) in_channels: u32,
    pub(crate) out_channels: u32,
    /// With several groups, each has a multiple of 16 input channels, so that no vector spans two.
    groups: u32,
    pub(crate) activation: FunctionCode,
    /// The most tiles of a block.
    pub(crate) block_tiles: u32,
    /// The most input channels of a block, a multiple of 16.
    pub(crate) block_depth: u32,
    pub(crate) tile_parts: u32,
    pub(crate) panel_parts: u32,
    pub(crate) isa: Isa,
    pub(crate) filter: WinogradFilter,
    /// The weights' element type; images of `f32` weights are `f32`.
    weights: StoredFloat,
    input: StoredFloat,
    residual: StoredFloat,
    output: StoredFloat,
    /// Always 0: fills what would be padding at the end.
    unused: u32,
}

/// Descriptors are embedded, compared and read as bytes, so there is no padding between fields.
const _: () = assert!(size_of::<Winograd>() == size_of::<ConvStrides>() + 26 * size_of::<u32>());

/// The most products of a block (tiles times points) for each pair of channels. Transforming the filters for
/// each block then costs a tenth of the products.
const MOST_PRODUCTS: usize = 56 * 36;
/// The fewest products of a block, where scratch is scarce.
const LEAST_PRODUCTS: usize = 6 * 36;
/// The most input channels of a block: its transformed filters are 288 KiB, a third of the second-level
/// cache.
const MOST_DEPTH: usize = 64;
/// The fewest, where scratch is scarce: fewer channels leave room for more tiles.
const NARROWEST_DEPTH: usize = 16;
/// Floats of padding between the points' blocks, so that neighbours fall in different sets of the caches.
const APART: usize = 16;

/// Cycles of a step of a matrix tile, besides those of its products, which are one for each row and vector;
/// half of both on machines that multiply two vectors in each cycle. This and the following costs are fitted
/// to the 3x3 layers of `examples/layers.rs` on an AMD EPYC (Zen 4, AVX-512, one thread). On a Zen 3 with
/// AVX2, nine of ten layers of all filters took from 0.9 to 1.9 times as long as expected.
const STEP_CYCLES: f64 = 2.0;
/// Cycles of a matrix tile, besides its steps.
const TILE_CYCLES: f64 = 60.0;
/// Cycles of a call.
const CALL_CYCLES: f64 = 1500.0;
/// How much longer than expected a part may take because its core is busy elsewhere.
const DISTURBANCE: f64 = 0.25;
/// Cycles of a product with 16 numbers, or pairs, with all its overhead, on machines that multiply one vector
/// of 512 bits in each cycle, and on those that multiply two. The second are fitted on an AMD EPYC (Zen 5).
type ProductCycles = [f64; 2];
/// Those of [`crate::Conv2d`].
const DIRECT: ProductCycles = [1.2, 0.6];
/// The same in a group with a single vector of output channels, whose rows are copied.
const NARROW_DIRECT: ProductCycles = [1.5, 0.8];
/// How long a convolution with few outputs takes on machines that multiply two vectors, beside others.
const PLANES_OF_TWO: f64 = 0.65;
/// How long transforms of filters take there.
const FILTERS_OF_TWO: f64 = 0.55;
/// Those of [`crate::PairConv2d`] on a machine with an instruction for pairs.
const PAIRS: ProductCycles = [1.2, 0.57];
/// The same in a group with a single vector of output channels.
const NARROW_PAIRS: ProductCycles = [3.0, 3.2];
/// The same where rows are read from copied lines. The first number is estimated from the second. The second
/// is 0.52 for most layers, and more for those of slices of wider images.
const PAIRS_OF_LINES: ProductCycles = [1.1, 0.57];
/// The same in a group with a single vector of output channels; the first number is estimated, too.
const NARROW_PAIRS_OF_LINES: ProductCycles = [1.3, 0.7];
/// Those of [`crate::PairConv2d`] in all groups on machines without the instruction. No machine without it is
/// known to multiply two vectors.
const PAIRS_APART: ProductCycles = [2.8; 2];

impl Winograd {
    /// The rows of the output in a strip of tiles. If the output is computed in parts whose rows are a
    /// multiple of this (except in the last part), it has the same bits as when computed at once.
    pub fn strip_rows(&self) -> usize {
        self.strip()[0]
    }

    /// The rows and columns of the output from a tile to the next one below it or beside it.
    pub(crate) fn strip(&self) -> [usize; 2] {
        let tile = self.filter.tile();
        [0, 1].map(|side| tile[side] * self.dilation[side] as usize)
    }

    /// Whether it can compute a convolution of a shape: filters of 2x2, 3x3, 5x5, or 2, 3, 5 or 7 taps in a
    /// row or column, with stride 1, and one group or a multiple of 16 input channels in each.
    pub fn computes(shape: &Conv2dShape) -> bool {
        WinogradFilter::of(shape).is_some()
    }

    /// The convolution of a shape, for one worker and with all the scratch that it prefers. None if Winograd
    /// cannot compute it ([`Winograd::computes`]) or the input's channels are not contiguous.
    pub fn new(
        shape: &Conv2dShape,
        strides: &ConvStrides,
        activation: Activation,
        isa: Isa,
    ) -> Option<Winograd> {
        let [out_h, out_w] = shape.output();
        let count = shape.batch * out_h * out_w * shape.in_channels * shape.out_channels;
        let filter = WinogradFilter::of(shape)?;
        if strides.input.c != 1 || count == 0 {
            return None;
        }
        let in_group = shape.in_channels / shape.groups;
        let block_depth = depths(in_group).next()?;
        let mut winograd = Winograd {
            strides: *strides,
            batch: shape.batch as u32,
            in_h: shape.input[0] as u32,
            in_w: shape.input[1] as u32,
            out_h: out_h as u32,
            out_w: out_w as u32,
            pad_top: shape.pads[0] as u32,
            pad_left: shape.pads[1] as u32,
            dilation: filter.dilation(shape).map(|distance| distance as u32),
            in_channels: shape.in_channels as u32,
            out_channels: shape.out_channels as u32,
            groups: shape.groups as u32,
            activation: activation.into(),
            block_tiles: 0,
            block_depth: block_depth as u32,
            tile_parts: 1,
            panel_parts: 1,
            filter,
            isa,
            weights: StoredFloat::F32,
            input: StoredFloat::F32,
            residual: StoredFloat::F32,
            output: StoredFloat::F32,
            unused: 0,
        };
        winograd.block_tiles = winograd.most_tiles().min(winograd.tiles()) as u32;
        Some(winograd)
    }

    /// The same with weights of `bf16`, packed for [`crate::PairConv2d`] with this unit, and images of the
    /// given types; none if the number of input channels is odd. An `f32` input is rounded to `bf16`. For
    /// matrix tiles none, too: they pad K, and are always faster (the algorithm has 0.1 to 0.4 of their
    /// speed).
    pub fn of_bf16(self, numbers: ConvNumbers, unit: PairUnit) -> Option<Winograd> {
        let ConvNumbers { input, residual, output } = numbers;
        let weights = StoredFloat::Bf16;
        let is_fit = self.in_group().is_multiple_of(2) && unit != PairUnit::Tiles;
        is_fit.then_some(Winograd { weights, input, residual, output, ..self })
    }

    /// The same convolution, to the bit, with at most `scratch_bytes` of scratch for each worker, or with the
    /// least it can do with.
    pub fn within(self, scratch_bytes: usize) -> Winograd {
        if self.scratch_bytes() <= scratch_bytes {
            return self;
        }
        let (mut best, least) = self.narrowest();
        best.block_tiles = least as u32;
        let mut best_cost = best.whole_cost();
        for depth in depths(self.in_group()) {
            let mut narrow = Winograd { block_depth: depth as u32, ..self };
            let Some(tiles) = narrow.tiles_within(scratch_bytes).filter(|tiles| *tiles >= least) else {
                continue;
            };
            let rows = self.matrix_tile_rows();
            for tiles in [tiles, tiles / rows * rows].into_iter().filter(|tiles| *tiles >= least) {
                narrow.block_tiles = self.block_tiles.min(tiles as u32);
                let cost = narrow.whole_cost();
                if cost < best_cost {
                    (best, best_cost) = (narrow, cost);
                }
            }
        }
        best
    }

    /// The same convolution, to the bit, cut into parts such that the slowest of `threads` workers finishes
    /// first.
    pub fn on(self, threads: usize) -> Winograd {
        self.cut(threads, if threads > 1 { threads.saturating_mul(4) } else { 1 })
    }

    /// The same convolution, to the bit, cut into at most this many parts: no more threads than that compute
    /// it, each with its own scratch.
    pub fn in_parts(self, most: usize) -> Winograd {
        self.cut(most, most)
    }

    /// The same convolution, cut into at most `most` parts for these threads.
    fn cut(self, threads: usize, most: usize) -> Winograd {
        let [tiles, panels] = self.divisible();
        let [threads, most] = [threads, most].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let waiting = if threads > 1 { DISTURBANCE } else { 0.0 };
        let cost = self.cost();
        let mut best = (f64::INFINITY, 1, 1);
        for tile_parts in 1..=most.min(tiles) {
            let part = tiles.div_ceil(tile_parts);
            let mut rounds = 0;
            for panel_parts in 1..=(most / tile_parts).min(panels) {
                while rounds * threads < tile_parts * panel_parts {
                    rounds += 1;
                }
                let cost = cost(part, panels.div_ceil(panel_parts)) * (f64::from(rounds) + waiting);
                if (cost, panel_parts, tile_parts) < best {
                    best = (cost, panel_parts, tile_parts);
                }
            }
        }
        let (_, panel_parts, tile_parts) = best;
        Winograd { tile_parts, panel_parts, ..self }
    }

    /// The most tiles of a block whose scratch fits; scratch is linear in that number.
    fn tiles_within(&self, scratch_bytes: usize) -> Option<usize> {
        let [none, one] = [0, 1].map(|tiles| self.scratch_floats(tiles));
        Some((scratch_bytes / 4).checked_sub(none)? / (one - none))
    }

    /// The kernel with the fewest channels in a block, and the fewest tiles of a block.
    fn narrowest(&self) -> (Winograd, usize) {
        let block_depth = self.block_depth.min(NARROWEST_DEPTH as u32);
        let tiles = LEAST_PRODUCTS.div_ceil(self.filter.points());
        (Winograd { block_depth, ..*self }, tiles.min(self.block_tiles as usize))
    }

    /// The most tiles of a block: with more, transforming the filters takes hardly less time.
    pub fn most_tiles(&self) -> usize {
        MOST_PRODUCTS / self.filter.points()
    }

    /// The fewest bytes of scratch that each worker can do with.
    pub fn least_scratch_bytes(&self) -> usize {
        let (narrowest, tiles) = self.narrowest();
        narrowest.scratch_floats(tiles) * 4
    }

    /// The approximate speedup over [`crate::Conv2d`] or [`crate::PairConv2d`], on one thread.
    pub fn speedup(&self) -> f64 {
        self.direct_cost() / self.whole_cost()
    }

    /// Cycles of [`crate::Conv2d`] or [`crate::PairConv2d`].
    fn direct_cost(&self) -> f64 {
        let pixels = f64::from(self.batch * self.out_h * self.out_w);
        let vectors = (self.panels().packed_len() / 16) as f64;
        if self.weights == StoredFloat::F32 {
            let direct =
                Conv2d::new(&self.shape(), &self.strides, ConvPrologue::None, Activation::None, self.isa, 1);
            if let Some(cycles) = direct.plane_cycles() {
                return if self.multiplies_two() { cycles * PLANES_OF_TWO } else { cycles };
            }
        }
        let is_narrow = self.groups > 1 && self.panels().get(0).width < PANEL;
        let cycles = match self.weights {
            StoredFloat::F32 if is_narrow => NARROW_DIRECT,
            StoredFloat::F32 => DIRECT,
            StoredFloat::Bf16 if self.isa == Isa::Avx512 && Avx512::has_pairs() => {
                match (is_narrow, self.shape().widens_to_pairs()) {
                    (true, true) => NARROW_PAIRS_OF_LINES,
                    (true, false) => NARROW_PAIRS,
                    (false, true) => PAIRS_OF_LINES,
                    (false, false) => PAIRS,
                }
            }
            StoredFloat::Bf16 => PAIRS_APART,
        };
        let share = if self.weights == StoredFloat::F32 { self.direct_share() } else { 1.0 };
        let cycles = share * cycles[usize::from(self.multiplies_two())];
        pixels * vectors * cycles
    }

    /// Whether the machine multiplies two vectors in each cycle.
    fn multiplies_two(&self) -> bool {
        self.isa == Isa::Avx512 && Avx512::multiplies_two()
    }

    /// The shape that it computes.
    fn shape(&self) -> Conv2dShape {
        let kernel = self.filter.kernel();
        let [input, output] =
            [[self.in_h, self.in_w], [self.out_h, self.out_w]].map(|size| size.map(|size| size as usize));
        let dilation = self.dilation.map(|distance| distance as usize);
        let [top, left] = [self.pad_top as usize, self.pad_left as usize];
        let after = |side: usize, before: usize| {
            output[side] + (kernel[side] - 1) * dilation[side] - input[side] - before
        };
        Conv2dShape {
            batch: self.batch as usize,
            input,
            in_channels: self.in_channels as usize,
            out_channels: self.out_channels as usize,
            kernel,
            stride: [1, 1],
            dilation,
            pads: [top, left, after(0, top), after(1, left)],
            groups: self.groups as usize,
        }
    }

    /// Strips of tiles of an image, from top to bottom, and the tiles of a strip.
    pub fn tile_grid(&self) -> [usize; 2] {
        let [height, width] = self.strip();
        let tiles: usize = self.dilation.iter().map(|distance| *distance as usize).product();
        let [strips, columns] =
            [(self.out_h as usize).div_ceil(height), (self.out_w as usize).div_ceil(width)];
        [strips, columns * tiles]
    }

    /// Tiles of all images.
    pub(crate) fn tiles(&self) -> usize {
        let [strips, tiles] = self.tile_grid();
        self.batch as usize * strips * tiles
    }

    /// The share of the products that [`crate::Conv2d`] computes: of a dilated filter, it leaves out the taps
    /// that meet padding. Without dilation these are few, and part of [`DIRECT`].
    fn direct_share(&self) -> f64 {
        let kernel = self.filter.kernel();
        let share = |side: usize, input: u32, output: u32, pad: u32| {
            let inside = |tap: u32| {
                let from = tap * self.dilation[side];
                (input + pad).saturating_sub(from).min(output) - pad.saturating_sub(from).min(output)
            };
            let taps = kernel[side] as u32;
            let share = f64::from((0..taps).map(inside).sum::<u32>()) / f64::from(taps * output);
            if self.dilation[side] == 1 { 1.0 } else { share }
        };
        share(0, self.in_h, self.out_h, self.pad_top) * share(1, self.in_w, self.out_w, self.pad_left)
    }

    /// How the output channels are cut into panels of packed weights; a row has the weights of one input
    /// channel, or of two if they are `bf16`.
    pub(crate) fn panels(&self) -> Panels {
        let [height, width] = self.filter.kernel();
        let rows = self.in_group() * self.weights.bytes() / size_of::<f32>();
        let groups = self.groups as usize;
        Panels::new(height * width * rows, self.out_channels as usize / groups, groups, PANEL)
    }

    /// Input channels of a group.
    pub(crate) fn in_group(&self) -> usize {
        (self.in_channels / self.groups) as usize
    }

    /// The element types of the images.
    pub(crate) fn numbers(&self) -> ConvNumbers {
        ConvNumbers { input: self.input, residual: self.residual, output: self.output }
    }

    /// Rows of a matrix tile.
    fn matrix_tile_rows(&self) -> usize {
        match self.isa {
            Isa::Avx512 => 14,
            Isa::Avx2 => 6,
            Isa::Scalar | Isa::Aarch64 => 4,
        }
    }

    /// Blocks of a group's input channels.
    pub(crate) fn depth_blocks(&self) -> usize {
        self.in_group().div_ceil(self.block_depth as usize)
    }

    /// Where the pieces of scratch begin, in floats, and the end: a pixel of zeros for padding, transformed
    /// pixels, transformed filters, sums.
    pub(crate) fn pieces(&self, tiles: usize) -> [usize; 5] {
        let width = self.panels().get(0).width;
        let depth = self.block_depth as usize;
        let points = self.filter.points();
        let read = (self.in_channels as usize).next_multiple_of(16);
        let blocks = self.depth_blocks() * self.groups as usize;
        let filters = read + blocks * points * apart(tiles * depth);
        let sums = filters + points * apart(depth * width);
        [0, read, filters, sums, sums + points * apart(tiles * width)]
    }

    fn scratch_floats(&self, tiles: usize) -> usize {
        self.pieces(tiles)[4]
    }

    /// Cycles, about, of a part, by its tiles and panels.
    fn cost(&self) -> impl Fn(u32, u32) -> f64 + use<> {
        let block_tiles = self.block_tiles;
        let matrix_tile_rows = self.matrix_tile_rows() as u32;
        let in_group = self.in_group() as f64;
        let width = self.panels().get(0).width as f64;
        let depth_blocks = self.depth_blocks() as f64;
        let points = self.filter.points() as f64;
        let costs = self.filter.costs();
        let product = if self.multiplies_two() { 0.5 } else { 1.0 };
        let step = STEP_CYCLES * product;
        let filter = costs.filter * if self.multiplies_two() { FILTERS_OF_TWO } else { 1.0 };
        // The groups that a part's panels belong to.
        let read = (in_group / 16.0).ceil() * costs.read;
        let of_group = self.panels().of_group() as u32;
        let all_groups = self.groups;
        // 64-bit divisions take twice as long as 32-bit ones, and each candidate cut needs three.
        move |tiles, panels| {
            let blocks = tiles.div_ceil(block_tiles);
            // A part that begins within a group may touch one more.
            let more = u32::from(!panels.is_multiple_of(of_group));
            let groups = f64::from(((panels - more).div_ceil(of_group) + more).min(all_groups));
            let heights = f64::from(tiles.div_ceil(blocks).div_ceil(matrix_tile_rows) * blocks);
            let [tiles, panels, blocks] = [tiles, panels, blocks].map(f64::from);
            let vectors = panels * width / 16.0;
            let steps = in_group * (tiles * vectors * product + heights * panels * step);
            let matrix_tiles = heights * panels * depth_blocks * TILE_CYCLES;
            let filters = blocks * in_group * vectors * filter;
            let writes = tiles * vectors * costs.write;
            points * (steps + matrix_tiles) + filters + groups * tiles * read + writes + CALL_CYCLES
        }
    }

    /// Cycles, about, of all the work in one part.
    fn whole_cost(&self) -> f64 {
        let [tiles, panels] = self.divisible();
        self.cost()(tiles, panels)
    }

    /// Tiles and panels, the two ranges that are cut into parts.
    fn divisible(&self) -> [u32; 2] {
        [self.tiles(), self.panels().count()].map(|count| u32::try_from(count).unwrap_or(u32::MAX))
    }
}

/// The possible numbers of channels in a block, the largest first.
fn depths(in_group: usize) -> impl Iterator<Item = usize> {
    let blocks = in_group.div_ceil(MOST_DEPTH).max(1);
    let most = in_group.div_ceil(blocks).next_multiple_of(16);
    [most, 32, NARROWEST_DEPTH].into_iter().filter(move |depth| *depth <= most)
}

/// The distance in floats between the points' blocks.
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
        let part = part as usize;
        // SAFETY: `KernelFn`'s promise, with the operands that `Winograd` documents; `CHANNELS` fits
        // the weights' type.
        unsafe {
            match self.weights {
                StoredFloat::F32 => self.run_stored::<1, S>(s, operands, part, scratch),
                StoredFloat::Bf16 => self.run_stored::<2, S>(s, operands, part, scratch),
            }
        }
    }
}

impl Winograd {
    /// Runs a part; a row of packed weights has `CHANNELS` input channels.
    ///
    /// # Safety
    /// That of [`KernelBody::run`].
    #[inline(always)]
    unsafe fn run_stored<const CHANNELS: usize, S: Simd>(
        &self,
        s: S,
        operands: OperandTable,
        part: usize,
        scratch: *mut u8,
    ) {
        let scratch = scratch.cast();
        // SAFETY: the caller's promise.
        unsafe {
            let images = WinogradImages::<CHANNELS>::new(self, operands);
            run::run::<CHANNELS, S>(s, self, &images, part, scratch);
        }
    }
}

#[cfg(test)]
#[path = "winograd_tests.rs"]
mod tests;
