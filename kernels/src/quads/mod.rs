//! Convolutions and matrix products of 8-bit integers, with exact 32-bit integer sums that wrap.
//!
//! Like [`crate::PairConv2d`], with quads (four neighbours in K) in place of pairs. AVX-512 VNNI has an
//! instruction that multiplies a quad of unsigned bytes by a quad of signed bytes and adds the four products.
//! Other machines widen the bytes first. The result bits are the same.
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
//! few channels are read from copied lines; see `pixel_lines`.

mod gather;
mod group_tile;
mod groups;
mod lane_tile;
mod lanes;
mod pixel_lines;
mod rows;
mod steps;
mod tile;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides, Path};
use crate::gemm::GemmShape;
use crate::isa::Isa;
use crate::lines::{MOST_BYTES, line_numbers};
use crate::map::Activation;
use crate::pack::{PANEL, Panel, Panels, WeightStrides};
use crate::simd::Simd;
use pixel_lines::PIXEL;
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
    step_count: u32,
    steps: [StepCode; QuadConv2d::MOST_STEPS],
}

/// Descriptors are embedded and compared as bytes, so there is no padding between fields.
const _: () = assert!(
    size_of::<QuadConv2d>() == size_of::<Conv2d>() + (6 + 5 * QuadConv2d::MOST_STEPS) * size_of::<u32>()
);

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
/// Bytes after the copied rows: copies store whole vectors.
const SLAB_TAIL: usize = 64;
/// Rows of the largest tile.
const TILE: usize = 14;
/// Sums of a tile, kept in scratch for functions that cannot be applied in registers.
const SUMS: usize = TILE * PANEL;
/// Rows of a block that is read in place.
const DIRECT_ROWS: usize = 112;
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
            step_count: steps.len() as u32,
            steps: from_fn(|index| steps.get(index).map_or(StepCode::end(), |step| (*step).into())),
        };
        this.conv.slab_stride = 0;
        this.conv.path = this.choose_path(shape);
        if this.conv.path == Path::Gather {
            this.line_bytes = line_numbers(&this.conv, 1).unwrap_or(0) as u32;
        }
        this.conv.line = this.conv.uniform_rows() as u32;
        this.choose_blocks(SLAB);
        this.choose_parts(threads);
        Some(this)
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
            self.choose_blocks(scratch_bytes.saturating_sub(SUMS * 4 + SLAB_TAIL + 64));
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

    /// How the output channels are cut into panels of packed weights. A row has one quad of each channel; the
    /// last row holds the sum of each channel's weights. The panels of depthwise convolutions are wider than
    /// all others. Their quads are taps of one kernel column, and they have no row of sums. A panel of a
    /// block is as wide as a narrow one of a product.
    pub fn panels(&self) -> Panels {
        match self.way() {
            QuadWay::Channels => self.lane_panels(),
            QuadWay::Groups => self.group_panels(),
            QuadWay::Product => {
                let conv = &self.conv;
                Panels::new(self.quads() + 1, conv.out_group as usize, conv.groups as usize, PANEL)
            }
        }
    }

    /// Elements of the packed weights, of 4 bytes.
    pub fn packed_len(&self) -> usize {
        self.panels().packed_len()
    }

    /// Packs all weights (element (o, i, ky, kx) at the given strides), given as integers before their zero
    /// point is subtracted, into `out` of `packed_len` elements. The bits of an element are a quad, the first
    /// byte lowest, or a sum.
    pub fn pack(&self, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        assert_eq!(out.len(), self.packed_len());
        match self.way() {
            QuadWay::Channels => return self.pack_lanes(weights, strides, out),
            QuadWay::Groups => return self.pack_groups(weights, strides, out),
            QuadWay::Product => {}
        }
        let panels = self.panels();
        for panel in (0..panels.count()).map(|index| panels.get(index)) {
            let rows = &mut out[panel.offset..panel.offset + panels.depth() * panel.width];
            let (quads, sums) = rows.split_at_mut(self.quads() * panel.width);
            let mut totals = [0i32; PANEL];
            for (quad, row) in quads.chunks_exact_mut(panel.width).enumerate() {
                self.pack_row(quad, (weights, strides), panel, row, &mut totals);
            }
            for (slot, total) in sums.iter_mut().zip(totals) {
                *slot = f32::from_bits(total as u32);
            }
        }
    }

    /// Packs one quad of each channel of a panel and adds its bytes to the channel's total.
    fn pack_row(
        &self,
        quad: usize,
        (weights, strides): (&[f32], WeightStrides),
        panel: Panel,
        row: &mut [f32],
        totals: &mut [i32; PANEL],
    ) {
        let [kernel_w, in_group] = [self.conv.kernel_w as usize, self.conv.in_group as usize];
        let taps = self.conv.kernel_h as usize * kernel_w;
        let sign = self.packed_sign();
        let flipped = if sign == self.weights { 0 } else { 0x80 };
        let bases: [Option<usize>; 4] = from_fn(|index| {
            let k = 4 * quad + index;
            let (tap, ci) = (k / self.tap_bytes(), k % self.tap_bytes());
            (tap < taps && ci < in_group)
                .then(|| ci * strides.i + tap / kernel_w * strides.h + tap % kernel_w * strides.w)
        });
        for (lane, (slot, total)) in row.iter_mut().zip(totals).enumerate() {
            let bytes = bases.map(|base| match base {
                Some(base) if lane < panel.count => {
                    weights[base + (panel.first + lane) * strides.o] as i32 as u8 ^ flipped
                }
                _ => 0,
            });
            *total += bytes.iter().map(|byte| sign.number(*byte)).sum::<i32>();
            *slot = f32::from_bits(u32::from_le_bytes(bytes));
        }
    }

    /// The sign of packed weights.
    #[inline(always)]
    fn packed_sign(&self) -> ByteSign {
        match (self.conv.path, self.image) {
            (Path::Lanes, _) if self.is_depthwise() => self.weights,
            // Images become unsigned as they are copied.
            (Path::Lines | Path::Lanes, _) | (_, ByteSign::Unsigned) => ByteSign::Signed,
            (_, ByteSign::Signed) => ByteSign::Unsigned,
        }
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

    /// What packed bytes depend on beside panels and weights: the way of the computation, the bytes of a tap,
    /// and the sign.
    pub fn packing_code(&self) -> usize {
        let way = match self.way() {
            QuadWay::Channels => 0,
            QuadWay::Groups => 1,
            QuadWay::Product => 2 + self.tap_bytes(),
        };
        2 * way + self.packed_sign() as usize
    }

    /// Bytes of a tap in packed weights of a product.
    #[inline(always)]
    fn tap_bytes(&self) -> usize {
        if self.has_pixel_quads() { PIXEL } else { self.conv.in_group as usize }
    }

    /// The zero point of packed weights, from its stored byte.
    #[inline(always)]
    fn shifted_zero(&self, byte: u8) -> i32 {
        let shift = match self.weights {
            sign if sign == self.packed_sign() => 0,
            ByteSign::Unsigned => -128,
            ByteSign::Signed => 128,
        };
        self.weights.number(byte) + shift
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
    fn choose_path(&self, shape: &Conv2dShape) -> Path {
        if self.fits_lanes() || self.fits_groups() {
            return Path::Lanes;
        }
        if shape.widens_pixels() {
            return Path::Lines;
        }
        let conv = &self.conv;
        let input = &conv.strides.input;
        let pointwise = conv.kernel_h * conv.kernel_w * conv.stride_h * conv.stride_w == 1;
        let in_quads = conv.in_group.is_multiple_of(4) && input.c == 1;
        // Rows 4096 bytes apart share a set of the first-level cache, and a tile has more rows than a set has
        // ways.
        let collides = input.w.is_multiple_of(4096) && conv.rows() > SET_ROWS;
        if pointwise && shape.pads == [0; 4] && in_quads && !collides { Path::Direct } else { Path::Gather }
    }

    /// Quads of K.
    #[inline(always)]
    fn quads(&self) -> usize {
        (self.conv.kernel_h as usize * self.conv.kernel_w as usize * self.tap_bytes()).div_ceil(4)
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
        let depth = self.conv.depth();
        self.conv.block_depth = depth as u32;
        self.conv.block_rows = match self.conv.path {
            Path::Gather => {
                let stride = row_bytes(depth);
                self.conv.slab_stride = stride as u32;
                let fitting = slab.saturating_sub(self.bytes_of_lines()) / (stride + 4);
                if fitting >= rows { rows } else { (fitting.max(TILE) / TILE * TILE).min(rows) }
            }
            Path::Lines => self.choose_lines(slab),
            Path::Lanes if self.is_depthwise() => self.strip_pixels(slab),
            Path::Lanes => {
                // The lines of a strip take the place of the depth of a block.
                let [lines, pixels] = self.group_strip(slab);
                self.conv.block_depth = lines as u32;
                pixels
            }
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
        quarter.choose_parts(threads);
        self.conv.row_parts = quarter.row_parts;
        self.conv.panel_parts = quarter.panel_parts;
    }
}

/// The stride of copied rows: an odd number of cache lines, so that successive rows fall in different sets.
fn row_bytes(depth: usize) -> usize {
    (depth.div_ceil(64) | 1) * 64
}

// SAFETY: `Conv2d` has no padding; six 4-byte fields and steps of five 4-byte fields follow. `entry` reads
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
        SUMS * 4 + beside_sums
    }

    /// An upper bound from rows and depth. At a smaller size, rows may be copied instead of read in place,
    /// lines may fit the line buffer, and the channels of a single pixel may count as contiguous. With fewer
    /// channels, weights of named sizes may be computed in another way.
    fn most_scratch_bytes(&self) -> usize {
        if let QuadWay::Channels = self.way() {
            return SUMS * 4 + self.most_bytes_of_strips(SLAB);
        }
        let rows = self.conv.rows().max(1);
        let row = row_bytes(self.conv.depth());
        let terms = rows.clamp(DIRECT_ROWS, SLAB / 64) * 4;
        let lines = if self.conv.strides.input.c == 1 { 0 } else { MOST_BYTES };
        let slab = (rows * row).min(SLAB.max(TILE * row)) + lines + SLAB_TAIL;
        let copied = match self.conv.groups {
            1 => self.most_bytes_of_pixel_lines() + SLAB_TAIL,
            _ => self.most_bytes_of_strips(SLAB),
        };
        let strips = self.most_bytes_of_group_strips().max(copied);
        SUMS * 4 + (terms.next_multiple_of(64) + slab).max(strips)
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
