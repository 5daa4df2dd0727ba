//! Convolutions and matrix products of `bf16` numbers with sums in `f32`.
//!
//! Like [`crate::Conv2d`], with pairs of neighbours in K in place of single numbers. Packed weights and
//! copied rows hold `bf16`. An odd K is padded with a zero. The two products of a pair are added one after
//! the other, the second first. AVX-512 BF16 has an instruction for that; other machines widen the numbers
//! first. The result bits are the same, except that the instruction flushes numbers below 2^-126 to zero.
//! Where there are matrix tiles (AMX), they are used, and sums are added in another order ([`matrix`]).
//!
//! All of K is one block: the sums stay in registers until they are rounded. Rows of `f32` images are rounded
//! while they are copied.

mod gather;
mod matrix;
mod pixel_lines;
mod product;
mod rows;
mod tile;

pub(crate) use matrix::TiledProduct;
pub(crate) use product::PackedPairProduct;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::bf16::{StoredFloat, nearest_bf16};
use crate::conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides, Path, WorkCosts};
use crate::gemm::GemmShape;
use crate::isa::Isa;
use crate::lines::{MOST_BYTES, line_numbers};
use crate::map::Activation;
use crate::pack::{PANEL, Panels, WeightStrides};
use crate::pixels::Pixel;
use crate::simd::{Avx512, Simd, amx};
use crate::tiled::SumPlaces;
use pixel_lines::MOST_LINES;
use std::ops::Range;

/// The element types of a convolution's tensors. Weights are `bf16`, the bias is `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvNumbers {
    /// The input's; `f32` inputs are rounded to `bf16`.
    pub input: StoredFloat,
    /// The residual's; ignored without a residual.
    pub residual: StoredFloat,
    /// The output's.
    pub output: StoredFloat,
}

/// A two-dimensional convolution of `bf16` numbers, except depthwise and in groups of 2, 4 or 8 (with matrix
/// tiles, of 2 or 4).
///
/// Operands: those of [`Conv2d`], with strides in elements; packed weights have `packed_len` pairs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PairConv2d {
    conv: Conv2d,
    input: StoredFloat,
    residual: StoredFloat,
    output: StoredFloat,
    unit: PairUnit,
    /// Words of a line of the image that is copied to scratch; 0 if none is.
    line_words: u32,
    /// Pairs that tiles multiply in one step; 0 without tiles.
    step: u32,
}

/// What multiplies pairs of `bf16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PairUnit {
    /// Instructions for `f32`, after the numbers are widened.
    Widened = 0,
    /// An instruction for vectors of pairs (AVX-512 BF16).
    Vectors = 1,
    /// Matrix tiles (AMX).
    Tiles = 2,
}

impl PairUnit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            PairUnit::Widened => "f32",
            PairUnit::Vectors => "AVX-512 BF16",
            PairUnit::Tiles => "AMX",
        }
    }

    /// The units of this machine for an instruction set, the slowest first.
    pub fn available(isa: Isa) -> Vec<PairUnit> {
        let mut found = vec![PairUnit::Widened];
        if isa == Isa::Avx512 && Avx512::has_pairs() {
            found.push(PairUnit::Vectors);
            if amx::has_bf16() {
                found.push(PairUnit::Tiles);
            }
        }
        found
    }

    /// The fastest unit of this machine for an instruction set.
    pub fn fastest(isa: Isa) -> PairUnit {
        match isa == Isa::Avx512 && Avx512::has_pairs() {
            true if amx::has_bf16() => PairUnit::Tiles,
            true => PairUnit::Vectors,
            false => PairUnit::Widened,
        }
    }
}

/// Descriptors are embedded and compared as bytes, so there is no padding between fields.
const _: () = assert!(size_of::<PairConv2d>() == size_of::<Conv2d>() + 6 * size_of::<u32>());

/// Words of copied rows: with a depth of 2,304 (3x3 of 256 channels), 14 rows fit.
const SLAB: usize = 32 * 1024;
/// Bytes of copied rows or lines for matrix tiles.
const LINES_OF_TILES: usize = 160 * 1024;
/// The same beside weights of more bytes than this, which leave the second-level cache from block to block:
/// tiles multiply so fast that reading them again takes most of the time.
const MOST_BESIDE_LARGE: usize = 768 * 1024;
const LARGE_WEIGHTS: usize = 768 * 1024;
/// Words after the copied rows: copies store whole vectors.
const SLAB_TAIL: usize = 64;
/// Rows of the largest tile.
const TILE: usize = 14;
/// Sums of a tile, kept in scratch for functions that cannot be applied in registers.
const SUMS: usize = TILE * PANEL;
/// Rows of a block that is read in place.
const DIRECT_ROWS: usize = 112;
/// The same for matrix tiles.
const DIRECT_ROWS_OF_TILES: usize = 256;
/// What products of matrix tiles cost, beside products of `f32`; estimated for weights that come from memory
/// or from the third-level cache. Two threads take 0.8 of the time of parts that are cut for vectors.
const COSTS_OF_TILES: WorkCosts = WorkCosts { product: 0.1, weight: 6.0 };
/// The fewest channels of a group for matrix tiles; those of narrower groups would mostly multiply zeros.
const LEAST_LANES_OF_TILES: u32 = 8;

impl PairConv2d {
    /// The convolution of a shape, or none for groups so narrow that a vector should hold channels of
    /// several. Panics where [`Conv2d::new`] does.
    pub fn new(
        shape: &Conv2dShape,
        strides: &ConvStrides,
        numbers: ConvNumbers,
        prologue: ConvPrologue,
        activation: Activation,
        isa: Isa,
        threads: usize,
    ) -> Option<PairConv2d> {
        let conv = Conv2d::new(shape, strides, prologue, activation, isa, threads);
        PairConv2d::on(PairUnit::fastest(isa), conv, shape, numbers, threads)
    }

    /// The convolution that `conv` computes in `f32`, by a unit of this machine.
    pub fn on(
        unit: PairUnit,
        mut conv: Conv2d,
        shape: &Conv2dShape,
        numbers: ConvNumbers,
        threads: usize,
    ) -> Option<PairConv2d> {
        let has_many_lanes = conv.in_group.min(conv.out_group) >= LEAST_LANES_OF_TILES;
        if conv.path == Path::Lanes && (unit != PairUnit::Tiles || !has_many_lanes) {
            return None;
        }
        let in_pairs = conv.in_group.is_multiple_of(2) && numbers.input == StoredFloat::Bf16;
        // Tiles read whole cache lines, each once: it does not matter in which sets of the cache rows fall.
        let reads_rows = conv.path == Path::Direct || unit == PairUnit::Tiles && conv.is_product(shape);
        let is_direct = in_pairs && reads_rows;
        let widens = if unit == PairUnit::Tiles { shape.widens_to_tiles() } else { shape.widens_to_pairs() };
        let has_lines = widens && conv.may_widen();
        conv.path = match (has_lines, is_direct) {
            (true, _) => Path::Lines,
            (false, true) => Path::Direct,
            (false, false) => Path::Gather,
        };
        let ConvNumbers { input, residual, output } = numbers;
        let mut this = PairConv2d { conv, input, residual, output, unit, line_words: 0, step: 0 };
        if unit == PairUnit::Tiles {
            this.choose_step(shape);
            if this.pairs() == 0 {
                return PairConv2d::on(PairUnit::Vectors, conv, shape, numbers, threads);
            }
        }
        if this.conv.path == Path::Gather {
            this.line_words = line_numbers(&this.conv, size_of::<u16>()).unwrap_or(0) as u32;
        }
        this.choose_blocks(this.slab());
        this.choose_parts(threads);
        Some(this)
    }

    /// Chooses the pairs that tiles multiply in one step, by the shape of the weights alone. Rows that have
    /// no whole steps are copied and padded.
    fn choose_step(&mut self, shape: &Conv2dShape) {
        let widens = shape.widens_to_tiles() && self.conv.prologue == ConvPrologue::None;
        let unit = match widens {
            true => self.conv.kernel_w as usize * self.pixel_numbers() / 2,
            false => self.pairs(),
        };
        let step = amx::step_within(unit);
        self.step = step.unwrap_or(amx::ROWS) as u32;
        if step.is_none() {
            self.conv.path = Path::Gather;
        }
    }

    /// A product with packed `b`; operands are those of [`crate::Gemm`].
    pub fn product(
        shape: &GemmShape,
        numbers: ConvNumbers,
        activation: Activation,
        isa: Isa,
        threads: usize,
    ) -> Option<PairConv2d> {
        let (pixels, strides) = shape.as_line();
        PairConv2d::new(&pixels, &strides, numbers, ConvPrologue::None, activation, isa, threads)
    }

    /// The same convolution, to the bit, with at most `scratch_bytes` of scratch for each worker, or with the
    /// least it can do with.
    pub fn within(mut self, scratch_bytes: usize, threads: usize) -> PairConv2d {
        if self.scratch_bytes() > scratch_bytes {
            let words = scratch_bytes.saturating_sub(self.sums() * 4) / 2;
            self.choose_blocks(words.saturating_sub(SLAB_TAIL));
            self.choose_parts(threads);
        }
        self
    }

    fn choose_parts(&mut self, threads: usize) {
        match self.unit {
            PairUnit::Tiles => self.conv.choose_parts_at(threads, COSTS_OF_TILES),
            PairUnit::Widened | PairUnit::Vectors => self.conv.choose_parts(threads),
        }
    }

    /// The fewest bytes of scratch that each worker can do with.
    pub fn least_scratch_bytes(&self) -> usize {
        let mut least = *self;
        least.choose_blocks(0);
        least.scratch_bytes()
    }

    /// Pairs that matrix tiles multiply in one step; 0 without tiles.
    pub fn step(&self) -> usize {
        self.step as usize
    }

    /// How the output channels are cut into panels of packed weights; a row is one pair of each channel.
    pub fn panels(&self) -> Panels {
        let conv = &self.conv;
        Panels::new(self.pairs(), conv.out_group as usize, conv.groups as usize, PANEL)
    }

    /// Pairs of the packed weights.
    pub fn packed_len(&self) -> usize {
        self.panels().packed_len()
    }

    /// Packs all weights (element (o, i, ky, kx) at the given strides) into `out` of `packed_len` elements.
    /// The bits of an element are a pair, the first number in the lower half.
    pub fn pack(&self, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        assert_eq!(out.len(), self.packed_len());
        let panels = self.panels();
        let taps = self.conv.kernel_h as usize * self.conv.kernel_w as usize;
        let kernel_w = self.conv.kernel_w as usize;
        let in_group = self.conv.in_group as usize;
        for panel in (0..panels.count()).map(|index| panels.get(index)) {
            let rows = &mut out[panel.offset..panel.offset + panels.depth() * panel.width];
            for (pair, row) in rows.chunks_exact_mut(panel.width).enumerate() {
                let [low, high] = [2 * pair, 2 * pair + 1].map(|k| {
                    let (tap, ci) = (k / self.tap_numbers(), k % self.tap_numbers());
                    let base = ci * strides.i + tap / kernel_w * strides.h + tap % kernel_w * strides.w;
                    (tap < taps && ci < in_group).then_some(base)
                });
                for (lane, slot) in row.iter_mut().enumerate() {
                    let number = |base: Option<usize>| match base {
                        Some(base) if lane < panel.count => {
                            nearest_bf16(weights[base + (panel.first + lane) * strides.o])
                        }
                        _ => 0,
                    };
                    *slot = f32::from_bits(u32::from(number(low)) | u32::from(number(high)) << 16);
                }
            }
        }
    }

    /// Whether blocks end at the ends of output lines, so that kernel rows outside the image can be skipped.
    /// That pays if whole tiles fill a line and some lines have such kernel rows. Steps of matrix tiles would
    /// have other bits without them.
    fn may_leave_out_taps(&self) -> bool {
        let conv = &self.conv;
        let is_whole = |y: usize| conv.rows_inside(y) == (0..conv.kernel_h as usize);
        let last = (conv.out_h as usize).saturating_sub(1);
        let fills_lines = conv.out_w > 0 && (conv.out_w as usize).is_multiple_of(TILE);
        let may_skip = conv.path == Path::Gather && self.unit != PairUnit::Tiles;
        may_skip && fills_lines && !(is_whole(0) && is_whole(last))
    }

    /// The pairs of K that a block multiplies, by its first output pixel. If all its pixels are in one line,
    /// these are the pairs of kernel rows inside the image.
    fn pairs_inside(&self, pixel: Pixel) -> Range<usize> {
        let conv = &self.conv;
        if conv.line != conv.out_w || conv.path != Path::Gather {
            return 0..self.pairs();
        }
        let width = conv.kernel_w as usize * conv.in_group as usize;
        let rows = conv.rows_inside(pixel.y);
        rows.start * width / 2..(rows.end * width).div_ceil(2)
    }

    /// Pairs of K, with those that fill the last step.
    fn pairs(&self) -> usize {
        let taps = self.conv.kernel_h as usize * self.conv.kernel_w as usize;
        (taps * self.tap_numbers()).div_ceil(2).next_multiple_of((self.step as usize).max(1))
    }

    /// Numbers of a copied row.
    fn row_depth(&self) -> usize {
        self.conv.depth().max(2 * self.pairs())
    }

    /// Numbers of a tap in packed weights.
    fn tap_numbers(&self) -> usize {
        match self.conv.path {
            Path::Lines => self.pixel_numbers(),
            _ => self.conv.in_group as usize,
        }
    }

    /// The most words of copied rows.
    fn slab(&self) -> usize {
        if self.unit == PairUnit::Tiles { self.most_lines() / size_of::<u16>() } else { SLAB }
    }

    /// The most bytes of copied lines.
    fn most_lines(&self) -> usize {
        match self.unit {
            PairUnit::Tiles if self.packed_len() * size_of::<f32>() > LARGE_WEIGHTS => MOST_BESIDE_LARGE,
            PairUnit::Tiles => LINES_OF_TILES,
            PairUnit::Widened | PairUnit::Vectors => MOST_LINES,
        }
    }

    /// Floats of scratch for the sums of a tile, or of one or two products of matrix tiles.
    fn sums(&self) -> usize {
        match self.unit {
            PairUnit::Tiles => self.sum_places().floats(),
            PairUnit::Widened | PairUnit::Vectors => SUMS,
        }
    }

    /// Where the sums of matrix tiles are.
    fn sum_places(&self) -> SumPlaces {
        SumPlaces::for_outputs(&self.conv)
    }

    /// Rows of the largest tile.
    fn tile(&self) -> usize {
        if self.unit == PairUnit::Tiles { amx::ROWS } else { TILE }
    }

    /// Words of scratch for the line buffer.
    fn words_of_lines(&self) -> usize {
        self.conv.kernel_h as usize * self.line_words as usize
    }

    /// The most bytes of scratch with copied rows of at most `slab` words, at any sizes up to these: at a
    /// smaller size, rows may be copied instead of read in place, and lines may fit the line buffer.
    fn most_bytes_of(&self, slab: usize) -> usize {
        let lines = match self.conv.path {
            Path::Lines => self.most_lines(),
            _ if self.conv.strides.input.c != 1 => MOST_BYTES,
            _ => 0,
        };
        let lines = lines / size_of::<u16>();
        self.sums() * 4 + (slab + lines + SLAB_TAIL) * 2
    }

    /// Chooses blocks whose copied rows and line buffer take at most `slab` words, or as few as possible.
    fn choose_blocks(&mut self, slab: usize) {
        let rows = self.conv.rows().max(1);
        let depth = self.row_depth();
        self.conv.block_depth = depth as u32;
        self.conv.line = match self.may_leave_out_taps() {
            true => self.conv.out_w,
            false => self.conv.uniform_rows() as u32,
        };
        self.conv.block_rows = match self.conv.path {
            Path::Lines => self.choose_lines(slab * size_of::<u16>()),
            Path::Gather => {
                let stride = row_words(depth);
                self.conv.slab_stride = stride as u32;
                let fitting = slab.saturating_sub(self.words_of_lines()) / stride;
                let tile = self.tile();
                if fitting >= rows { rows } else { (fitting.max(tile) / tile * tile).min(rows) }
            }
            _ if self.unit == PairUnit::Tiles => DIRECT_ROWS_OF_TILES,
            _ => DIRECT_ROWS,
        } as u32;
    }
}

/// The stride of copied rows: an odd number of cache lines, so that successive rows fall in different sets.
fn row_words(depth: usize) -> usize {
    (depth.div_ceil(32) | 1) * 32
}

// SAFETY: `Conv2d` has no padding, and six `u32` follow; `entry` reads this type.
unsafe impl Kernel for PairConv2d {
    fn parts(&self) -> u32 {
        self.conv.parts()
    }

    fn scratch_bytes(&self) -> usize {
        let slab = match self.conv.path {
            Path::Gather => {
                let rows = (self.conv.block_rows * self.conv.slab_stride) as usize;
                self.words_of_lines() + rows + SLAB_TAIL
            }
            Path::Lines => self.wide_lines().copied() * self.line_words as usize + SLAB_TAIL,
            _ => 0,
        };
        self.sums() * 4 + slab * 2
    }

    /// An upper bound from rows and depth.
    fn most_scratch_bytes(&self) -> usize {
        let row = row_words(self.row_depth());
        self.most_bytes_of((self.conv.rows().max(1) * row).min(self.slab().max(self.tile() * row)))
    }

    /// Room for a tile.
    fn enough_scratch_bytes(&self) -> usize {
        let row = row_words(self.row_depth());
        self.most_bytes_of(self.conv.rows().clamp(1, self.tile()) * row)
    }

    fn entry(&self) -> KernelFn {
        entry_of::<PairConv2d>(self.conv.isa)
    }
}

impl KernelBody for PairConv2d {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        // SAFETY: `KernelFn`'s promise, with the operands that `PairConv2d` documents.
        unsafe {
            rows::run(s, self, &PairOperands::new(operands, self.conv.prologue), part as usize, scratch)
        }
    }
}

/// The operands of a running convolution.
#[derive(Clone, Copy)]
struct PairOperands {
    out: *mut u8,
    x: *const u8,
    weights: *const i32,
    bias: *const f32,
    residual: *const u8,
    scale: *const f32,
    shift: *const f32,
}

impl PairOperands {
    /// # Safety
    /// The table has the operands of [`Conv2d`]; without a prologue, the last two may be missing.
    #[inline(always)]
    unsafe fn new(operands: OperandTable, prologue: ConvPrologue) -> PairOperands {
        let optional = |index: usize| match prologue {
            ConvPrologue::None => std::ptr::null(),
            // SAFETY: the caller's promise.
            _ => unsafe { operands.get::<f32>(index).cast_const() },
        };
        // SAFETY: the caller's promise.
        unsafe {
            PairOperands {
                out: operands.get(0),
                x: operands.get::<u8>(1),
                weights: operands.get::<i32>(2),
                bias: operands.get::<f32>(3),
                residual: operands.get::<u8>(4),
                scale: optional(5),
                shift: optional(6),
            }
        }
    }
}
