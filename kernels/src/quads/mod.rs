//! Convolutions and matrix products of 8-bit integers, with exact 32-bit integer sums that wrap.
//!
//! Like [`crate::PairConv2d`], with quads (four neighbours in K) in place of pairs. AVX-512 VNNI has an
//! instruction that multiplies a quad of unsigned bytes by a quad of signed bytes and adds the four products.
//! Matrix tiles (AMX) do the same to whole tiles (`matrix`). Other machines widen the bytes first. The
//! result bits are the same.
//!
//! The instruction needs weights of the other sign than the image's, so weights are packed with that sign. If
//! both have the same sign, 128 is added to signed weights and subtracted from unsigned ones, and likewise
//! for their zero points. Let `w` and `z` be a packed weight and its zero point. Then `sum of (x - x_zero) *
//! (w - z)` is
//!
//! - `sum of x * w`,
//! - less `x_zero * (sum of w)`: the last row of a panel holds the sums of `w`,
//! - less `z * (sum of x - K * x_zero)`: computed for each row if `z` is not 0.
//!
//! All of K is one block: the sums stay in registers until they are stored.
//!
//! Depthwise convolutions and groups of few channels do not use im2col; see `lanes` and `groups`. Images with
//! few channels are read from copied lines; see `pixel_lines`. For tiles, so are those of whole quads; see
//! `group_lines`.

mod gather;
mod group_lines;
mod group_tile;
mod groups;
mod lane_tile;
mod lanes;
mod matrix;
mod packing;
mod pixel_lines;
mod rows;
mod steps;
mod tile;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides, Path, WorkCosts};
use crate::gemm::GemmShape;
use crate::isa::Isa;
use crate::lines::{MOST_BYTES, line_numbers};
use crate::map::Activation;
use crate::pack::PANEL;
use crate::simd::{Simd, amx};
use crate::tiled::SumPlaces;
use std::array::from_fn;
pub use steps::{ByteSign, StepOperand, StoredSum, SumStep, WeightZero};
use steps::{StepCode, are_possible, without_vain_ends};
pub(crate) use steps::{cut_signed, cut_unsigned};

/// How the numbers of an integer convolution are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuadNumbers {
    /// The sign of the image's bytes.
    pub image: ByteSign,
    /// The sign of the weights' bytes.
    pub weights: ByteSign,
    /// The zero point of the weights.
    pub zero: WeightZero,
    /// The type of the stored results.
    pub output: StoredSum,
}

/// A two-dimensional convolution of 8-bit integers, also grouped.
///
/// An output is `stored(steps(sum over (ky, kx, ci) of (x - x_zero) * (w - w_zero)))`; taps in the padding
/// add nothing. The sum wraps. It is converted to the nearest `f32` unless the output is [`StoredSum::I32`].
///
/// Operands: `[out, x, packed weights, x_zero, w_zero, residual]`, followed by the `f32` operands of the
/// steps in order. Such an operand has one number, or one for each output channel. `x` and `x_zero` are bytes
/// of the image's sign; `x_zero` is one byte, and may be null for 0. `w_zero` has bytes of the weights' sign:
/// one, or one for each output channel. It is not read if weights have no zero point. The residual is `f32`,
/// or bytes for [`SumStep::ByteResidual`]. It may be the output itself (same address and strides) if elements
/// of both have the same size; apart from that, the output overlaps nothing. Strides are in elements of each
/// tensor.
///
/// Depthwise convolutions of images with contiguous channels use vectors of channels, and so do several
/// groups of 4, 8 or 16 inputs and as many outputs, or one of 16; others are matrix products, one for each
/// group.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct QuadConv2d {
    conv: Conv2d,
    image: ByteSign,
    weights: ByteSign,
    zero: WeightZero,
    output: StoredSum,
    /// Bytes of a line of the image in the line buffer in scratch; 0 without a line buffer.
    line_bytes: u32,
    /// Quads that matrix tiles multiply in one step; 0 if they are not used.
    step: u32,
    /// The most bytes of copied rows, or of copied lines of whole quads, without a limit.
    slab: u32,
    step_count: u32,
    steps: [StepCode; QuadConv2d::MOST_STEPS],
}

/// Descriptors are embedded and compared as bytes, so there is no padding between fields.
const _: () = assert!(
    size_of::<QuadConv2d>() == size_of::<Conv2d>() + (8 + 5 * QuadConv2d::MOST_STEPS) * size_of::<u32>()
);

/// What multiplies quads of bytes. The result bits are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuadUnit {
    /// An instruction for vectors of quads where the machine has one, else instructions for widened bytes.
    Vectors,
    /// Matrix tiles (AMX); where a program runs on a machine that has none, vectors do their work.
    Tiles,
}

impl QuadUnit {
    /// The fastest unit of this machine for an instruction set.
    pub fn fastest(isa: Isa) -> QuadUnit {
        if isa == Isa::Avx512 && amx::has_bytes() { QuadUnit::Tiles } else { QuadUnit::Vectors }
    }
}

/// The ways in which a convolution is computed, each with its own packing.
enum QuadWay {
    /// A vector has channels, each a group: `lanes`.
    Channels,
    /// A vector has channels of several groups: `groups`.
    Groups,
    /// A matrix product for each group: `rows`.
    Product,
}

/// Bytes of copied rows: with a depth of 4,608 (3x3 of 512 channels), 14 rows fit.
const SLAB: usize = 66 * 1024;
/// The same for matrix tiles, with copied lines.
const SLAB_OF_TILES: usize = 96 * 1024;
/// The same beside weights of more bytes than this, which leave the second-level cache from block to block:
/// tiles multiply so fast that reading them again takes most of the time.
const SLAB_BESIDE_LARGE: usize = 384 * 1024;
const LARGE_WEIGHTS: usize = 768 * 1024;
/// Bytes after the copied rows: copies store whole vectors.
const SLAB_TAIL: usize = 64;
/// Rows of the largest tile.
const TILE: usize = 14;
/// Sums of a tile, kept in scratch for functions that cannot be applied in registers.
const SUMS: usize = TILE * PANEL;
/// Rows of a block that is read in place.
const DIRECT_ROWS: usize = 112;
/// The same for matrix tiles.
const DIRECT_ROWS_OF_TILES: usize = 256;
/// What products of matrix tiles cost, beside products of `f32`, with a quad in the place of a number.
const COSTS_OF_TILES: WorkCosts = WorkCosts { product: 0.2, weight: 12.0 };
/// Rows of a tile that may fall in the same set of the first-level cache, at most.
const SET_ROWS: usize = 8;
/// The index of the steps' first operand.
const FIRST_STEP_OPERAND: usize = 6;

impl QuadConv2d {
    /// The most steps of a convolution.
    pub const MOST_STEPS: usize = 16;

    /// The convolution of a shape. None if there are too many steps or two residuals, or if there are steps
    /// but the output is [`StoredSum::I32`]. Panics where [`Conv2d::new`] does.
    pub fn new(
        shape: &Conv2dShape,
        strides: &ConvStrides,
        bytes: &QuadNumbers,
        steps: &[SumStep],
        isa: Isa,
        threads: usize,
    ) -> Option<QuadConv2d> {
        QuadConv2d::on(QuadUnit::fastest(isa), shape, strides, bytes, steps, (isa, threads))
    }

    /// The same for a unit of this machine or another one.
    pub fn on(
        unit: QuadUnit,
        shape: &Conv2dShape,
        strides: &ConvStrides,
        bytes: &QuadNumbers,
        steps: &[SumStep],
        (isa, threads): (Isa, usize),
    ) -> Option<QuadConv2d> {
        if !are_possible(steps, bytes, QuadConv2d::MOST_STEPS) {
            return None;
        }
        let QuadNumbers { image, weights, zero, output } = *bytes;
        let steps = without_vain_ends(steps, output);
        let mut this = QuadConv2d {
            conv: Conv2d::new(shape, strides, ConvPrologue::None, Activation::None, isa, 1),
            image,
            weights,
            zero,
            output,
            line_bytes: 0,
            step: 0,
            slab: SLAB as u32,
            step_count: steps.len() as u32,
            steps: from_fn(|index| steps.get(index).map_or(StepCode::end(), |step| (*step).into())),
        };
        this.conv.slab_stride = 0;
        this.conv.path = this.choose_path(unit, shape);
        if unit == QuadUnit::Tiles {
            this.choose_step();
            let is_large = this.packed_len() * size_of::<f32>() > LARGE_WEIGHTS;
            this.slab = if is_large { SLAB_BESIDE_LARGE } else { SLAB_OF_TILES } as u32;
        }
        if this.conv.path == Path::Gather {
            this.line_bytes = line_numbers(&this.conv, 1).unwrap_or(0) as u32;
        }
        this.conv.line = this.conv.uniform_rows() as u32;
        this.choose_blocks(this.slab as usize);
        this.choose_parts(threads);
        Some(this)
    }

    /// Chooses the quads that tiles multiply in one step. Copied lines that have no whole steps give way to
    /// copied rows, and rows that have none are padded: how weights are packed depends on their shape alone.
    fn choose_step(&mut self) {
        let quads = self.quads();
        let of_lines = match self.conv.path {
            Path::Lines => amx::step_within(quads / (self.conv.kernel_h as usize).max(1)),
            _ => None,
        };
        if self.has_pixel_quads() || quads == 0 || self.conv.path == Path::Lanes {
            self.step = of_lines.unwrap_or(0) as u32;
            return;
        }
        let of_rows = amx::step_within(quads);
        let needs_copies = self.conv.path == Path::Lines && of_lines.is_none() || of_rows.is_none();
        if needs_copies {
            self.conv.path = Path::Gather;
        }
        self.step = of_lines.or(of_rows).unwrap_or(amx::ROWS) as u32;
    }

    /// A product with packed `b`; the operands are those of a convolution, `a` in the place of `x`.
    pub fn product(
        shape: &GemmShape,
        bytes: &QuadNumbers,
        steps: &[SumStep],
        isa: Isa,
        threads: usize,
    ) -> Option<QuadConv2d> {
        let (pixels, strides) = shape.as_line();
        QuadConv2d::new(&pixels, &strides, bytes, steps, isa, threads)
    }

    /// The same convolution, to the bit, with at most `scratch_bytes` of scratch for each worker, or with the
    /// least it can do with.
    pub fn within(mut self, scratch_bytes: usize, threads: usize) -> QuadConv2d {
        if self.scratch_bytes() > scratch_bytes {
            // The per-row zero-point terms of a block are padded to whole cache lines.
            self.choose_blocks(scratch_bytes.saturating_sub(self.sums() * 4 + SLAB_TAIL + 64));
            self.choose_parts(threads);
        }
        self
    }

    /// The fewest bytes of scratch that each worker can do with.
    pub fn least_scratch_bytes(&self) -> usize {
        let mut least = *self;
        least.choose_blocks(0);
        least.scratch_bytes()
    }

    /// The sign of the bytes of a product's rows.
    #[inline(always)]
    fn row_sign(&self) -> ByteSign {
        if self.has_pixel_quads() { ByteSign::Unsigned } else { self.image }
    }

    /// What is added to bytes of the image as they are copied.
    #[inline(always)]
    fn image_shift(&self) -> i32 {
        if self.has_pixel_quads() { i32::from(self.image.turn()) } else { 0 }
    }

    /// The zero point of packed weights, from its stored byte.
    #[inline(always)]
    fn shifted_zero(&self, byte: u8) -> i32 {
        self.weights.number(byte) + self.zero_shift()
    }

    /// What is added to weights, and to their zero points, as they are packed.
    #[inline(always)]
    fn zero_shift(&self) -> i32 {
        match self.weights {
            sign if sign == self.packed_sign() => 0,
            ByteSign::Unsigned => -128,
            ByteSign::Signed => 128,
        }
    }

    /// The steps in use.
    #[inline(always)]
    fn steps(&self) -> &[StepCode] {
        &self.steps[..QuadConv2d::MOST_STEPS.min(self.step_count as usize)]
    }

    /// The way it is computed.
    #[inline(always)]
    fn way(&self) -> QuadWay {
        match self.conv.path {
            Path::Lanes if self.is_depthwise() => QuadWay::Channels,
            Path::Lanes => QuadWay::Groups,
            _ => QuadWay::Product,
        }
    }

    /// Rows are read in place if each quad is one 4-byte word in memory.
    fn choose_path(&self, unit: QuadUnit, shape: &Conv2dShape) -> Path {
        if self.fits_lanes() || self.fits_groups() {
            return Path::Lanes;
        }
        if shape.widens_pixels() {
            return Path::Lines;
        }
        let conv = &self.conv;
        if unit == QuadUnit::Tiles && self.has_group_lines(shape) {
            return Path::Lines;
        }
        // Rows 4096 bytes apart share a set of the first-level cache, and a tile of vectors has more rows
        // than a set has ways. Matrix tiles read whole cache lines, each once.
        let collides = conv.strides.input.w.is_multiple_of(4096) && conv.rows() > SET_ROWS;
        let fits = unit == QuadUnit::Tiles || !collides;
        let is_direct = conv.is_product(shape) && conv.in_group.is_multiple_of(4) && fits;
        if is_direct { Path::Direct } else { Path::Gather }
    }

    /// Quads of K, with those that fill the last step.
    #[inline(always)]
    fn quads(&self) -> usize {
        let taps = self.conv.kernel_h as usize * self.conv.kernel_w as usize;
        (taps * self.tap_bytes()).div_ceil(4).next_multiple_of((self.step as usize).max(1))
    }

    /// Whether matrix tiles are used.
    #[inline(always)]
    fn has_tiles(&self) -> bool {
        self.step > 0
    }

    /// Bytes of a copied row.
    #[inline(always)]
    fn row_depth(&self) -> usize {
        self.conv.depth().max(4 * self.quads())
    }

    /// Whether matrix tiles are used at other sizes, if not here.
    fn may_have_tiles(&self) -> bool {
        self.slab as usize >= SLAB_OF_TILES
    }

    /// Rows of the largest tile.
    #[inline(always)]
    fn tile(&self) -> usize {
        if self.has_tiles() { amx::ROWS } else { TILE }
    }

    /// Elements of scratch for the sums of a tile, or of one or two products of matrix tiles.
    #[inline(always)]
    fn sums(&self) -> usize {
        if self.has_tiles() { self.sum_places().floats() } else { SUMS }
    }

    /// Where the sums of matrix tiles are.
    #[inline(always)]
    fn sum_places(&self) -> SumPlaces {
        SumPlaces::for_outputs(&self.conv)
    }

    /// Bytes of scratch for the line buffer.
    #[inline(always)]
    fn bytes_of_lines(&self) -> usize {
        let lines = match self.conv.path {
            Path::Lines => self.wide_lines().copied(),
            _ => self.conv.kernel_h as usize,
        };
        lines * self.line_bytes as usize
    }

    /// Bytes of scratch for the zero-point terms of a block's rows.
    #[inline(always)]
    fn bytes_of_terms(&self) -> usize {
        (self.conv.block_rows as usize * 4).next_multiple_of(64)
    }

    /// Chooses blocks whose copied rows, zero-point terms and line buffer take at most `slab` bytes, or as
    /// few as possible.
    fn choose_blocks(&mut self, slab: usize) {
        let rows = self.conv.rows().max(1);
        let depth = self.row_depth();
        self.conv.block_depth = depth as u32;
        self.conv.block_rows = match self.conv.path {
            Path::Gather => {
                let stride = row_bytes(depth);
                self.conv.slab_stride = stride as u32;
                let fitting = slab.saturating_sub(self.bytes_of_lines()) / (stride + 4);
                let tile = self.tile();
                if fitting >= rows { rows } else { (fitting.max(tile) / tile * tile).min(rows) }
            }
            Path::Lines => self.choose_lines(slab),
            // Tiles do not multiply these: their strips are no longer than those of vectors.
            Path::Lanes if self.is_depthwise() => self.strip_pixels(slab.min(SLAB)),
            Path::Lanes => {
                // The lines of a strip take the place of the depth of a block.
                let [lines, pixels] = self.group_strip(slab);
                self.conv.block_depth = lines as u32;
                pixels
            }
            _ if self.has_tiles() => DIRECT_ROWS_OF_TILES,
            _ => DIRECT_ROWS,
        } as u32;
    }

    /// Chooses parts by [`Conv2d`]'s cost model: a quad takes as long as one `f32` there, and a depthwise
    /// panel is four times as wide in the same time.
    fn choose_parts(&mut self, threads: usize) {
        let mut quarter = self.conv;
        match self.way() {
            QuadWay::Channels => quarter.groups = quarter.groups.div_ceil(4),
            QuadWay::Groups | QuadWay::Product => quarter.in_group = quarter.in_group.div_ceil(4),
        }
        let costs = if self.has_tiles() { COSTS_OF_TILES } else { WorkCosts::OWN };
        quarter.choose_parts_at(threads, costs);
        self.conv.row_parts = quarter.row_parts;
        self.conv.panel_parts = quarter.panel_parts;
    }
}

/// The stride of copied rows: an odd number of cache lines, so that successive rows fall in different sets.
fn row_bytes(depth: usize) -> usize {
    (depth.div_ceil(64) | 1) * 64
}

// SAFETY: `Conv2d` has no padding; eight 4-byte fields and steps of five 4-byte fields follow. `entry` reads
// this type.
unsafe impl Kernel for QuadConv2d {
    fn parts(&self) -> u32 {
        self.conv.parts()
    }

    fn scratch_bytes(&self) -> usize {
        let block_rows = self.conv.block_rows as usize;
        let beside_sums = match self.conv.path {
            Path::Gather => {
                let rows = block_rows * self.conv.slab_stride as usize;
                self.bytes_of_terms() + self.bytes_of_lines() + rows + SLAB_TAIL
            }
            Path::Lines => self.bytes_of_terms() + self.bytes_of_lines() + SLAB_TAIL,
            Path::Lanes if self.is_depthwise() => self.bytes_of_strips(block_rows),
            Path::Lanes => self.bytes_of_group_strips([self.conv.block_depth as usize, block_rows]),
            _ => self.bytes_of_terms(),
        };
        self.sums() * 4 + beside_sums
    }

    /// An upper bound from rows and depth. At a smaller size, rows may be copied instead of read in place,
    /// lines may fit the line buffer, and the channels of a single pixel may count as contiguous. With fewer
    /// channels, weights of named sizes may be computed in another way.
    fn most_scratch_bytes(&self) -> usize {
        if let QuadWay::Channels = self.way() {
            return SUMS * 4 + self.most_bytes_of_strips(SLAB);
        }
        let rows = self.conv.rows().max(1);
        let row = row_bytes(self.row_depth());
        let most = self.slab as usize;
        let has_tiles = self.may_have_tiles();
        let direct_rows = if has_tiles { DIRECT_ROWS_OF_TILES } else { DIRECT_ROWS };
        let tile = if has_tiles { amx::ROWS } else { TILE };
        let sums = if has_tiles { self.sum_places().floats() } else { SUMS };
        let of_groups = if has_tiles { most + 64 + SLAB_TAIL } else { 0 };
        let terms = rows.clamp(direct_rows, most / 64) * 4;
        let lines = if self.conv.strides.input.c == 1 { 0 } else { MOST_BYTES };
        let slab = (rows * row).min(most.max(tile * row)) + lines + SLAB_TAIL;
        let copied = match self.conv.groups {
            1 => self.most_bytes_of_pixel_lines() + SLAB_TAIL,
            _ => self.most_bytes_of_strips(SLAB),
        };
        let strips = self.most_bytes_of_group_strips().max(copied).max(of_groups);
        sums * 4 + (terms.next_multiple_of(64) + slab).max(strips)
    }

    fn entry(&self) -> KernelFn {
        entry_of::<QuadConv2d>(self.conv.isa)
    }
}

impl KernelBody for QuadConv2d {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        // SAFETY: `KernelFn`'s promise, with the operands that `QuadConv2d` documents.
        unsafe {
            let images = &QuadOperands::new(operands, self);
            match self.way() {
                QuadWay::Channels => lanes::run(s, self, images, part as usize, scratch),
                QuadWay::Groups => groups::run::<S>(self, images, part as usize, scratch),
                QuadWay::Product => rows::run(s, self, images, part as usize, scratch),
            }
        }
    }
}

/// The operands of a running convolution.
#[derive(Clone, Copy)]
struct QuadOperands {
    out: *mut u8,
    x: *const u8,
    weights: *const i32,
    /// The image's zero point, as a number of rows and as the stored byte.
    x_zero: i32,
    zero_byte: u8,
    weight_zeros: *const u8,
    residual: *const u8,
    /// All operands.
    table: OperandTable,
}

impl QuadOperands {
    /// # Safety
    /// The table has the operands of [`QuadConv2d`].
    #[inline(always)]
    unsafe fn new(table: OperandTable, this: &QuadConv2d) -> QuadOperands {
        // SAFETY: the caller's promise.
        unsafe {
            let x_zero = table.get::<u8>(3);
            let zero_byte = if x_zero.is_null() { 0 } else { *x_zero };
            QuadOperands {
                out: table.get(0),
                x: table.get::<u8>(1),
                weights: table.get::<i32>(2),
                x_zero: this.image.number(zero_byte) + this.image_shift(),
                zero_byte,
                weight_zeros: table.get::<u8>(4),
                residual: table.get::<u8>(5),
                table,
            }
        }
    }
}

#[cfg(test)]
#[path = "way_tests.rs"]
mod tests;
