//! Convolutions and matrix products of `bf16` numbers with sums in `f32`.
//!
//! Like [`crate::Conv2d`], with pairs of neighbours in K in place of single numbers. Packed weights and
//! copied rows hold `bf16`. An odd K is padded with a zero. The two products of a pair are added one after
//! the other, the second first. AVX-512 BF16 has an instruction for that; other machines widen the numbers
//! first. The result bits are the same, except that the instruction flushes numbers below 2^-126 to zero.
//!
//! All of K is one block: the sums stay in registers until they are rounded. Rows of `f32` images are rounded
//! while they are copied.

mod gather;
mod pixel_lines;
mod product;
mod rows;
mod tile;

pub(crate) use product::{Former, PackedPairProduct};

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::bf16::{StoredFloat, nearest_bf16};
use crate::conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides, Path};
use crate::gemm::GemmShape;
use crate::isa::Isa;
use crate::lines::{MOST_BYTES, line_numbers};
use crate::map::Activation;
use crate::pack::{PANEL, Panels, WeightStrides};
use crate::pixels::Pixel;
use crate::simd::{Avx512, Simd};
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

/// A two-dimensional convolution of `bf16` numbers, except depthwise and in groups of 2, 4 or 8.
///
/// Operands: those of [`Conv2d`], with strides in elements; packed weights have `packed_len` pairs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PairConv2d {
    conv: Conv2d,
    input: StoredFloat,
    residual: StoredFloat,
    output: StoredFloat,
    /// 1 if the machine that made the descriptor has the instruction for pairs.
    at_once: u32,
    /// Words of a line of the image that is copied to scratch; 0 if none is.
    line_words: u32,
    /// Fills what would be padding between fields.
    unused: u32,
}

/// Descriptors are embedded and compared as bytes, so there is no padding between fields.
const _: () = assert!(size_of::<PairConv2d>() == size_of::<Conv2d>() + 6 * size_of::<u32>());

/// Words of copied rows: with a depth of 2,304 (3x3 of 256 channels), 14 rows fit.
const SLAB: usize = 32 * 1024;
/// Words after the copied rows: copies store whole vectors.
const SLAB_TAIL: usize = 64;
/// Rows of the largest tile.
const TILE: usize = 14;
/// Sums of a tile, kept in scratch for functions that cannot be applied in registers.
const SUMS: usize = TILE * PANEL;
/// Rows of a block that is read in place.
const DIRECT_ROWS: usize = 112;

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
        let mut conv = Conv2d::new(shape, strides, prologue, activation, isa, threads);
        if conv.path == Path::Lanes {
            return None;
        }
        let in_pairs = conv.in_group.is_multiple_of(2) && numbers.input == StoredFloat::Bf16;
        if conv.path != Path::Direct || !in_pairs {
            conv.path = Path::Gather;
        }
        let mut this = PairConv2d {
            conv,
            input: numbers.input,
            residual: numbers.residual,
            output: numbers.output,
            at_once: u32::from(isa == Isa::Avx512 && Avx512::has_pairs()),
            line_words: 0,
            unused: 0,
        };
        if shape.widens_to_pairs() && this.conv.may_widen(prologue) {
            this.conv.path = Path::Lines;
        }
        if this.conv.path == Path::Gather {
            this.line_words = line_numbers(&this.conv, size_of::<u16>()).unwrap_or(0) as u32;
        }
        this.choose_blocks(SLAB);
        this.conv.choose_parts(threads);
        Some(this)
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
            let words = scratch_bytes.saturating_sub(SUMS * 4) / 2;
            self.choose_blocks(words.saturating_sub(SLAB_TAIL));
            self.conv.choose_parts(threads);
        }
        self
    }

    /// The fewest bytes of scratch that each worker can do with.
    pub fn least_scratch_bytes(&self) -> usize {
        let mut least = *self;
        least.choose_blocks(0);
        least.scratch_bytes()
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
    /// That pays if whole tiles fill a line and some lines have such kernel rows.
    fn may_leave_out_taps(&self) -> bool {
        let conv = &self.conv;
        let is_whole = |y: usize| conv.rows_inside(y) == (0..conv.kernel_h as usize);
        let last = (conv.out_h as usize).saturating_sub(1);
        let fills_lines = conv.out_w > 0 && (conv.out_w as usize).is_multiple_of(TILE);
        conv.path == Path::Gather && fills_lines && !(is_whole(0) && is_whole(last))
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

    /// Pairs of K.
    fn pairs(&self) -> usize {
        (self.conv.kernel_h as usize * self.conv.kernel_w as usize * self.tap_numbers()).div_ceil(2)
    }

    /// Numbers of a tap in packed weights.
    fn tap_numbers(&self) -> usize {
        match self.conv.path {
            Path::Lines => self.pixel_numbers(),
            _ => self.conv.in_group as usize,
        }
    }

    /// Words of scratch for the line buffer.
    fn words_of_lines(&self) -> usize {
        self.conv.kernel_h as usize * self.line_words as usize
    }

    /// The most bytes of scratch with copied rows of at most `slab` words, at any sizes up to these: at a
    /// smaller size, rows may be copied instead of read in place, and lines may fit the line buffer.
    fn most_bytes_of(&self, slab: usize) -> usize {
        let lines = match self.conv.path {
            Path::Lines => MOST_LINES,
            _ if self.conv.strides.input.c != 1 => MOST_BYTES,
            _ => 0,
        };
        let lines = lines / size_of::<u16>();
        SUMS * 4 + (slab + lines + SLAB_TAIL) * 2
    }

    /// Chooses blocks whose copied rows and line buffer take at most `slab` words, or as few as possible.
    fn choose_blocks(&mut self, slab: usize) {
        let rows = self.conv.rows().max(1);
        let depth = self.conv.depth();
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
                if fitting >= rows { rows } else { (fitting.max(TILE) / TILE * TILE).min(rows) }
            }
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
        SUMS * 4 + slab * 2
    }

    /// An upper bound from rows and depth.
    fn most_scratch_bytes(&self) -> usize {
        let row = row_words(self.conv.depth());
        self.most_bytes_of((self.conv.rows().max(1) * row).min(SLAB.max(TILE * row)))
    }

    /// Room for a tile.
    fn enough_scratch_bytes(&self) -> usize {
        let row = row_words(self.conv.depth());
        self.most_bytes_of(self.conv.rows().clamp(1, TILE) * row)
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
