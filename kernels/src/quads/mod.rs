//! Convolutions and matrix products of 8-bit integers, whose sums are exact integers of 32 bits that wrap.
//!
//! As [`crate::PairConv2d`], with quads of neighbours in K in the place of pairs. AVX-512 VNNI has an
//! instruction that multiplies and adds a quad of unsigned bytes and one of signed ones; other machines take
//! the bytes apart. The bits are the same.
//!
//! So packed weights have the sign that the image has not: where both have the same, 128 is added to signed
//! weights and taken from unsigned ones, and so it is for their zero point. With `w` and `z` as they are
//! then, `sum of (x - x_zero) * (w - z)` is `sum of x * w`, less `x_zero * (sum of w)`, which a panel has in
//! its last row, less `z * (sum of x - K * x_zero)`, which is computed for each row where `z` is not 0.
//!
//! All of K is one block: the sums stay in registers until they are stored.
//!
//! Depthwise convolutions are computed without rows of a matrix, as `lanes` says.

mod gather;
mod lane_tile;
mod lanes;
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
use std::array::from_fn;
pub use steps::{ByteSign, StepOperand, StoredSum, SumStep, WeightZero};
use steps::{StepCode, are_possible, without_vain_ends};

/// How the numbers of an integer convolution are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuadNumbers {
    /// The sign of the image's bytes.
    pub image: ByteSign,
    /// The sign of the weights' bytes.
    pub weights: ByteSign,
    /// The zero point of the weights.
    pub zero: WeightZero,
    /// What is stored of the sums.
    pub output: StoredSum,
}

/// A two-dimensional convolution of 8-bit integers, also grouped.
///
/// An output is `stored(steps(sum over (ky, kx, ci) of (x - x_zero) * (w - w_zero)))`, where taps in the
/// padding add nothing. The sum wraps; it becomes the nearest `f32` unless it is stored as it is.
///
/// Operands: `[out, x, packed weights, x_zero, w_zero, residual]`, and then numbers of `f32` for each step
/// that has some, in their order: one, or one for each output channel. `x` and `x_zero` are bytes of the
/// image's sign; `x_zero` is one, and may be null for 0. `w_zero` has bytes of the weights' sign, one or one
/// for each output channel; it is not read where weights have no zero point. The residual has `f32`, or bytes
/// where the step is [`SumStep::ByteResidual`]; it may be the output itself (same address and strides) where
/// that is of the same size too, otherwise the output overlaps nothing. Distances are in elements of each
/// tensor.
///
/// Depthwise convolutions of images whose channels are contiguous have vectors of channels; all others are
/// products of matrices, group by group.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct QuadConv2d {
    conv: Conv2d,
    image: ByteSign,
    weights: ByteSign,
    zero: WeightZero,
    output: StoredSum,
    /// Bytes of each line of the image that is made ready in scratch; 0 if none is.
    line_bytes: u32,
    step_count: u32,
    steps: [StepCode; QuadConv2d::MOST_STEPS],
}

/// Its bytes are told apart: there is no padding among them.
const _: () = assert!(
    size_of::<QuadConv2d>() == size_of::<Conv2d>() + (6 + 5 * QuadConv2d::MOST_STEPS) * size_of::<u32>()
);

/// Bytes of copied rows: with a depth of 4,608 (3x3 of 512 channels), 14 rows fit.
const SLAB: usize = 66 * 1024;
/// Bytes after the copied rows: copies store whole vectors.
const SLAB_TAIL: usize = 64;
/// Rows of the largest tile.
const TILE: usize = 14;
/// Numbers of a tile's sums that are kept for a function that is not applied in registers.
const SUMS: usize = TILE * PANEL;
/// Rows of a block that is read in place.
const DIRECT_ROWS: usize = 112;
/// The most rows of a tile that may be as far from each other as lines of one set of the first-level cache.
const SET_ROWS: usize = 8;
/// The first operand of a step.
const FIRST_STEP_OPERAND: usize = 6;

impl QuadConv2d {
    /// The most steps of a convolution.
    pub const MOST_STEPS: usize = 16;

    /// The convolution of a shape, or none if there are too many steps, two residuals, or steps before sums
    /// that are stored as they are. Panics where [`Conv2d::new`] does.
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
        this.conv.path = this.choose_path(shape.pads);
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

    /// The same convolution, to the bit, with no more than `scratch_bytes` for each worker, or with as few as
    /// it can do with.
    pub fn within(mut self, scratch_bytes: usize, threads: usize) -> QuadConv2d {
        if self.scratch_bytes() > scratch_bytes {
            // The terms of a block's rows take whole cache lines.
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

    /// How the output channels are cut into panels of packed weights. A row is one quad of each channel; in
    /// the last row there are the sums of all their quads. Depthwise convolutions have panels that are wider
    /// than any other, whose quads are of taps of one column, without a last row of sums.
    pub fn panels(&self) -> Panels {
        if self.conv.path == Path::Lanes {
            return self.lane_panels();
        }
        let conv = &self.conv;
        Panels::new(self.quads() + 1, conv.out_group as usize, conv.groups as usize, PANEL)
    }

    /// Elements of the packed weights, of 4 bytes.
    pub fn packed_len(&self) -> usize {
        self.panels().packed_len()
    }

    /// Packs all weights (element (o, i, ky, kx) at the given strides), which are the integers before a zero
    /// point is taken from them, into `out`, which has `packed_len` elements: the bits of each are a quad,
    /// the first in the lowest byte, or a sum.
    pub fn pack(&self, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        assert_eq!(out.len(), self.packed_len());
        if self.conv.path == Path::Lanes {
            return self.pack_lanes(weights, strides, out);
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

    /// Packs a quad of each of a panel's channels, and adds it to their totals.
    fn pack_row(
        &self,
        quad: usize,
        (weights, strides): (&[f32], WeightStrides),
        panel: Panel,
        row: &mut [f32],
        totals: &mut [i32; PANEL],
    ) {
        let [kernel_w, in_group] = [self.conv.kernel_w as usize, self.conv.in_group as usize];
        let is_same = self.image == self.weights;
        let flipped = if is_same { 0x80 } else { 0 };
        let signed_after = (self.weights == ByteSign::Signed) != is_same;
        let sign = if signed_after { ByteSign::Signed } else { ByteSign::Unsigned };
        let bases: [Option<usize>; 4] = from_fn(|index| {
            let k = 4 * quad + index;
            (k < self.conv.depth()).then(|| {
                let (tap, ci) = (k / in_group, k % in_group);
                ci * strides.i + tap / kernel_w * strides.h + tap % kernel_w * strides.w
            })
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

    /// The zero point of packed weights, by its byte.
    #[inline(always)]
    fn shifted_zero(&self, byte: u8) -> i32 {
        let shift = match self.weights {
            _ if self.image != self.weights => 0,
            ByteSign::Unsigned => -128,
            ByteSign::Signed => 128,
        };
        self.weights.number(byte) + shift
    }

    /// The steps that there are.
    #[inline(always)]
    fn steps(&self) -> &[StepCode] {
        &self.steps[..QuadConv2d::MOST_STEPS.min(self.step_count as usize)]
    }

    /// Rows are read in place where each quad is one word of memory.
    fn choose_path(&self, pads: [usize; 4]) -> Path {
        if self.fits_lanes() {
            return Path::Lanes;
        }
        let conv = &self.conv;
        let input = &conv.strides.input;
        let pointwise = conv.kernel_h * conv.kernel_w * conv.stride_h * conv.stride_w == 1;
        let in_quads = conv.in_group.is_multiple_of(4) && input.c == 1;
        // Rows 4096 bytes apart share one set of the first-level cache, which has fewer ways than a tile has
        // rows.
        let collides = input.w.is_multiple_of(4096) && conv.rows() > SET_ROWS;
        if pointwise && pads == [0; 4] && in_quads && !collides { Path::Direct } else { Path::Gather }
    }

    /// Quads of K.
    #[inline(always)]
    fn quads(&self) -> usize {
        self.conv.depth().div_ceil(4)
    }

    /// Bytes of scratch for lines of the image.
    #[inline(always)]
    fn bytes_of_lines(&self) -> usize {
        self.conv.kernel_h as usize * self.line_bytes as usize
    }

    /// Bytes of scratch for what each row of a block adds to its sums.
    #[inline(always)]
    fn bytes_of_terms(&self) -> usize {
        (self.conv.block_rows as usize * 4).next_multiple_of(64)
    }

    /// Blocks whose copied rows, with their terms and lines of the image, take at most `slab` bytes, or else
    /// as few as they can.
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
            Path::Lanes => self.strip_pixels(slab),
            _ => DIRECT_ROWS,
        } as u32;
    }

    /// A quad takes as long as one of [`Conv2d`]'s numbers, and so does, for lanes, a panel that is four
    /// times as wide.
    fn choose_parts(&mut self, threads: usize) {
        let mut quarter = self.conv;
        match quarter.path {
            Path::Lanes => quarter.groups = quarter.groups.div_ceil(4),
            _ => quarter.in_group = quarter.in_group.div_ceil(4),
        }
        quarter.choose_parts(threads);
        self.conv.row_parts = quarter.row_parts;
        self.conv.panel_parts = quarter.panel_parts;
    }
}

/// The distance of copied rows: an odd number of cache lines, so that successive ones fall in different sets.
fn row_bytes(depth: usize) -> usize {
    (depth.div_ceil(64) | 1) * 64
}

// SAFETY: `Conv2d` has no padding, and six fields of 4 bytes and steps of five follow; `entry` reads this
// type.
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
            Path::Direct => self.bytes_of_terms(),
            Path::Lanes => self.bytes_of_strips(block_rows),
        };
        SUMS * 4 + beside_sums
    }

    /// Rows and depth bound what is copied. Which rows lie so that they are copied is another question at
    /// each size, and so is whether lines are short enough to be made ready, and whether channels that lie
    /// apart do so where there is one pixel.
    fn most_scratch_bytes(&self) -> usize {
        let strips = if self.is_depthwise() { self.most_bytes_of_strips(SLAB) } else { 0 };
        if self.conv.path == Path::Lanes {
            return SUMS * 4 + strips;
        }
        let rows = self.conv.rows().max(1);
        let row = row_bytes(self.conv.depth());
        let terms = rows.clamp(DIRECT_ROWS, SLAB / 64) * 4;
        let lines = if self.conv.strides.input.c == 1 { 0 } else { MOST_BYTES };
        let slab = (rows * row).min(SLAB.max(TILE * row)) + lines + SLAB_TAIL;
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
            let images = &QuadOperands::new(operands, self.image);
            match self.conv.path {
                Path::Lanes => lanes::run(s, self, images, part as usize, scratch),
                _ => rows::run(s, self, images, part as usize, scratch),
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
    /// The image's zero point, as a number and as it is stored.
    x_zero: i32,
    zero_byte: u8,
    weight_zeros: *const u8,
    residual: *const u8,
    /// All of them.
    table: OperandTable,
}

impl QuadOperands {
    /// # Safety
    /// The table has the operands of [`QuadConv2d`].
    #[inline(always)]
    unsafe fn new(table: OperandTable, image: ByteSign) -> QuadOperands {
        // SAFETY: the caller's promise.
        unsafe {
            let x_zero = table.get::<u8>(3);
            let zero_byte = if x_zero.is_null() { 0 } else { *x_zero };
            QuadOperands {
                out: table.get(0),
                x: table.get::<u8>(1),
                weights: table.get::<i32>(2),
                x_zero: image.number(zero_byte),
                zero_byte,
                weight_zeros: table.get::<u8>(4),
                residual: table.get::<u8>(5),
                table,
            }
        }
    }
}
