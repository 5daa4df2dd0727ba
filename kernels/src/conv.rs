//! `f32` convolutions: what they compute, and which blocking, parts and path are chosen for a shape.
//!
//! Output pixel (n, oy, ox), channel o of group g: `activation(bias[o] + residual + sum over (ky, kx, ci) of
//! x * w)`, the sum in that order, one fused multiply-add a product. A tap outside the image is multiplied as
//! zero or skipped; the shape alone decides which. The two differ only for weights that are not finite and in
//! the sign of a zero sum.
//!
//! Three paths. *Tiles*: pixels are the rows of a matrix product with the packed weights; 1x1 convolutions at
//! stride 1 read them in place, others copy a block of rows (implicit im2col) into scratch, or, with few
//! channels, the lines of the image that these rows are parts of. *Lanes*: for depthwise convolution, with
//! one or several outputs of each channel, and groups of 2, 4 or 8 channels, a vector holds 16 consecutive
//! channels, of several groups at once; [`crate::depthwise`] has tiles for the first. *Planes*: for at most 8
//! output channels, a vector holds pixels.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::image_lines::LineBlock;
use crate::isa::Isa;
use crate::lanes;
use crate::map::{Activation, FunctionCode};
use crate::pack::{PANEL, Panels};
use crate::planes;
use crate::rows;
use crate::simd::Simd;

/// The sizes of a two-dimensional convolution, in elements; pairs are (height, width).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv2dShape {
    /// Images.
    pub batch: usize,
    /// Input height and width.
    pub input: [usize; 2],
    /// Input channels, a multiple of `groups`.
    pub in_channels: usize,
    /// Output channels, a multiple of `groups`.
    pub out_channels: usize,
    /// Kernel height and width.
    pub kernel: [usize; 2],
    /// Steps between output pixels.
    pub stride: [usize; 2],
    /// Steps between taps.
    pub dilation: [usize; 2],
    /// Zeros around the image: top, left, bottom, right.
    pub pads: [usize; 4],
    /// Groups of channels that are convolved separately.
    pub groups: usize,
}

impl Conv2dShape {
    /// The product of a matrix of `rows` rows and `depth` columns with one of `columns` columns: a 1x1
    /// convolution over one line of pixels.
    pub(crate) fn line(rows: usize, depth: usize, columns: usize) -> Conv2dShape {
        Conv2dShape {
            batch: 1,
            input: [1, rows],
            in_channels: depth,
            out_channels: columns,
            kernel: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            pads: [0; 4],
            groups: 1,
        }
    }

    /// Output height and width: (input + pads - dilation * (kernel - 1) - 1) / stride + 1, or 0 where the
    /// kernel does not fit.
    pub fn output(&self) -> [usize; 2] {
        [0, 1].map(|axis| {
            let padded = self.input[axis] + self.pads[axis] + self.pads[axis + 2];
            let extent = self.dilation[axis] * (self.kernel[axis] - 1) + 1;
            if padded < extent { 0 } else { (padded - extent) / self.stride[axis] + 1 }
        })
    }
}

/// Whether groups of these numbers of input and output channels are so narrow that a vector holds channels of
/// several of them. They are fast only if the channels of the input are contiguous.
pub fn are_narrow(groups: usize, inputs: usize, outputs: usize) -> bool {
    let is_depthwise = inputs == 1 && outputs <= MOST_SPREAD;
    groups > 1 && (is_depthwise || inputs == outputs && matches!(inputs, 2 | 4 | 8))
}

/// Distances in elements between neighbours of an image along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ImageStrides {
    /// Between images.
    pub n: u64,
    /// Between rows.
    pub h: u64,
    /// Between pixels of a row.
    pub w: u64,
    /// Between channels; 1 for outputs and residuals.
    pub c: u64,
}

impl ImageStrides {
    /// A channels-last image of `channels` channels. For an image inside a wider tensor, pass the wider
    /// tensor's channels.
    pub fn nhwc(size: [usize; 2], channels: usize) -> ImageStrides {
        let w = channels as u64;
        let h = (size[1] * channels) as u64;
        ImageStrides { n: size[0] as u64 * h, h, w, c: 1 }
    }

    /// A channels-first image.
    pub fn nchw(size: [usize; 2], channels: usize) -> ImageStrides {
        let c = (size[0] * size[1]) as u64;
        ImageStrides { n: channels as u64 * c, h: size[1] as u64, w: 1, c }
    }
}

/// The strides of a convolution's images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ConvStrides {
    /// Of the input, channels at any stride.
    pub input: ImageStrides,
    /// Of the output, channels contiguous.
    pub output: ImageStrides,
    /// Of the residual, channels contiguous; ignored without a residual.
    pub residual: ImageStrides,
}

impl ConvStrides {
    /// Dense channels-last images.
    pub fn dense(shape: &Conv2dShape) -> ConvStrides {
        let output = ImageStrides::nhwc(shape.output(), shape.out_channels);
        let input = ImageStrides::nhwc(shape.input, shape.in_channels);
        ConvStrides { input, output, residual: output }
    }
}

/// What is done to each input element before the products; zeros of the padding stay zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ConvPrologue {
    /// Nothing.
    None = 0,
    /// `x * scale[c] + shift[c]`, rounded once.
    ScaleShift = 1,
    /// The same, then [`crate::scalar::relu`].
    ScaleShiftRelu = 2,
}

/// A two-dimensional convolution (also depthwise and grouped).
///
/// Operands: `[out, x, packed weights, bias, residual, scale, shift]`. Bias (`out_channels`) and residual may
/// be null; scale and shift (`in_channels`) are read only with a prologue. The residual may be the output
/// itself (same address and strides); otherwise the output overlaps nothing.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Conv2d {
    pub(crate) strides: ConvStrides,
    pub(crate) batch: u32,
    pub(crate) in_h: u32,
    pub(crate) in_w: u32,
    pub(crate) out_h: u32,
    pub(crate) out_w: u32,
    pub(crate) kernel_h: u32,
    pub(crate) kernel_w: u32,
    pub(crate) stride_h: u32,
    pub(crate) stride_w: u32,
    pub(crate) dilation_h: u32,
    pub(crate) dilation_w: u32,
    pub(crate) pad_top: u32,
    pub(crate) pad_left: u32,
    pub(crate) groups: u32,
    /// Input channels of a group.
    pub(crate) in_group: u32,
    /// Output channels of a group.
    pub(crate) out_group: u32,
    pub(crate) activation: FunctionCode,
    pub(crate) prologue: ConvPrologue,
    pub(crate) path: Path,
    /// Rows (output pixels) at a constant stride in every image that is read or written in place.
    pub(crate) line: u32,
    /// Rows and depth of a block, and the stride of its rows in scratch (0 if rows are read in place).
    pub(crate) block_rows: u32,
    pub(crate) block_depth: u32,
    pub(crate) slab_stride: u32,
    pub(crate) row_parts: u32,
    pub(crate) panel_parts: u32,
    pub(crate) isa: Isa,
}

/// Descriptors are embedded, compared and read as bytes, so there is no padding between fields.
const _: () = assert!(size_of::<Conv2d>() == size_of::<ConvStrides>() + 28 * size_of::<u32>());

/// The way a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Path {
    /// A matrix product, its rows read in place.
    Direct = 0,
    /// A matrix product, its rows copied to scratch block by block.
    Gather = 1,
    /// Sixteen channels of several groups side by side.
    Lanes = 2,
    /// A matrix product whose rows overlap: they are read from copied lines of the image.
    Lines = 3,
    /// Pixels of a channel side by side, from transposed lines of the image.
    Planes = 4,
}

/// The most output channels of a group that spreads its only input channel. The more there are, the less it
/// gains: of 17 it takes 0.4 of a matrix product's time, of 32 0.7 (64 groups, 28 x 28 pixels, a 3x3 kernel,
/// AMD EPYC (Zen 4)).
const MOST_SPREAD: usize = 32;
/// Scratch for the copied rows, in floats: with a 256-deep block, 49 rows (a 7x7 image) fit.
const SLAB: usize = 14 * 1024;
/// The depth of a block that is copied: 32 columns of weights at this depth are 36 KiB, which stay in the
/// first-level cache.
const DEPTH: usize = 288;
/// The depth of a block that is read in place. Reading weights again from the second-level cache takes less
/// time than storing and reloading sums: with 1024 instead of 288, products of vit_b_16 and whisper_tiny_enc
/// take 2 to 4 % less on an AMD EPYC (Zen 4), with AVX-512 and with AVX2.
const DIRECT_DEPTH: usize = 1024;
/// Floats after the copied rows: copies store whole vectors.
const SLAB_TAIL: usize = 16;
/// The depth of a block where scratch is scarce.
const NARROW_DEPTH: usize = 256;
/// Rows of the largest tile: blocks are whole tiles.
const TILE: usize = 14;
/// Rows of a block that is read in place.
const DIRECT_ROWS: usize = 112;
impl Conv2d {
    /// The convolution of a shape. Panics if the channels are not a multiple of the groups or a stride or
    /// dilation is 0.
    pub fn new(
        shape: &Conv2dShape,
        strides: &ConvStrides,
        prologue: ConvPrologue,
        activation: Activation,
        isa: Isa,
        threads: usize,
    ) -> Conv2d {
        let groups = shape.groups;
        assert!(
            groups > 0
                && shape.in_channels.is_multiple_of(groups)
                && shape.out_channels.is_multiple_of(groups)
        );
        assert!(shape.stride[0].min(shape.stride[1]).min(shape.dilation[0]).min(shape.dilation[1]) > 0);
        let [out_h, out_w] = shape.output();
        let mut conv = Conv2d {
            strides: *strides,
            batch: shape.batch as u32,
            in_h: shape.input[0] as u32,
            in_w: shape.input[1] as u32,
            out_h: out_h as u32,
            out_w: out_w as u32,
            kernel_h: shape.kernel[0] as u32,
            kernel_w: shape.kernel[1] as u32,
            stride_h: shape.stride[0] as u32,
            stride_w: shape.stride[1] as u32,
            dilation_h: shape.dilation[0] as u32,
            dilation_w: shape.dilation[1] as u32,
            pad_top: shape.pads[0] as u32,
            pad_left: shape.pads[1] as u32,
            groups: groups as u32,
            in_group: (shape.in_channels / groups) as u32,
            out_group: (shape.out_channels / groups) as u32,
            activation: activation.into(),
            prologue,
            path: Path::Direct,
            line: 0,
            block_rows: 0,
            block_depth: 0,
            slab_stride: 0,
            row_parts: 0,
            panel_parts: 0,
            isa,
        };
        conv.path = conv.choose_path(shape);
        conv.choose_blocks(SLAB, DEPTH);
        conv.choose_parts(threads);
        conv
    }

    /// The same convolution, to the bit, with at most `scratch_bytes` of scratch for each worker, or with the
    /// least it can do with.
    pub fn within(mut self, scratch_bytes: usize, threads: usize) -> Conv2d {
        if self.scratch_bytes() > scratch_bytes {
            self.choose_blocks((scratch_bytes / 4).saturating_sub(SLAB_TAIL), NARROW_DEPTH);
            self.choose_parts(threads);
        }
        self
    }

    /// The fewest bytes of scratch that each worker can do with.
    pub fn least_scratch_bytes(&self) -> usize {
        let mut least = *self;
        if least.scratch_bytes() > 0 {
            least.choose_blocks(0, NARROW_DEPTH);
        }
        least.scratch_bytes()
    }

    /// Output pixels: the rows of the matrix product.
    pub(crate) fn rows(&self) -> usize {
        self.batch as usize * self.out_h as usize * self.out_w as usize
    }

    /// Products of one output: the depth of the matrix product.
    pub(crate) fn depth(&self) -> usize {
        self.kernel_h as usize * self.kernel_w as usize * self.in_group as usize
    }

    /// How the output channels are cut into panels of packed weights.
    pub fn panels(&self) -> Panels {
        let depth = self.depth();
        match self.path {
            Path::Lanes => Panels::new(depth, self.groups as usize * self.out_group as usize, 1, PANEL / 2),
            _ => Panels::new(depth, self.out_group as usize, self.groups as usize, PANEL),
        }
    }

    /// Floats of the packed weights.
    pub fn packed_len(&self) -> usize {
        self.panels().packed_len()
    }

    /// Whether its input is the left matrix of a product, whose rows can be read in place.
    pub(crate) fn is_product(&self, shape: &Conv2dShape) -> bool {
        let is_pointwise = self.kernel_h * self.kernel_w * self.stride_h * self.stride_w == 1;
        let is_plain = self.prologue == ConvPrologue::None && self.strides.input.c == 1;
        is_pointwise && shape.pads == [0; 4] && is_plain
    }

    fn choose_path(&self, shape: &Conv2dShape) -> Path {
        let plain = self.prologue == ConvPrologue::None && self.strides.input.c == 1;
        if plain && are_narrow(self.groups as usize, self.in_group as usize, self.out_group as usize) {
            return Path::Lanes;
        }
        // Rows 4096 bytes apart share a set of the first-level cache, and a tile has more rows than a set has
        // ways.
        let collides = self.strides.input.w.is_multiple_of(1024) && self.rows() > 12;
        if self.is_product(shape) && !collides {
            return Path::Direct;
        }
        if self.should_transpose() {
            return Path::Planes;
        }
        if self.should_copy_lines(shape) { Path::Lines } else { Path::Gather }
    }

    pub(crate) fn uniform_rows(&self) -> usize {
        let row = u64::from(self.out_w);
        let image = u64::from(self.out_h) * u64::from(self.out_w);
        let ConvStrides { input, output, residual } = self.strides;
        let used = [output, residual, if self.path == Path::Direct { input } else { output }];
        let by_row = used.iter().all(|s| s.h == row * s.w || self.out_h == 1);
        let by_image = by_row && used.iter().all(|s| s.n == image * s.w || self.batch == 1);
        let lines = if by_image {
            self.rows() as u64
        } else if by_row {
            image
        } else {
            row
        };
        lines.max(1) as usize
    }

    /// Chooses blocks of a depth of at most `most_depth` whose copied rows take at most `slab` floats, or as
    /// few as possible.
    fn choose_blocks(&mut self, slab: usize, most_depth: usize) {
        let rows = self.rows().max(1);
        let depth = self.depth().max(1);
        let most_depth = if self.path == Path::Direct { DIRECT_DEPTH } else { most_depth };
        if self.path == Path::Lines {
            if let Some(LineBlock { pixels, length }) = self.line_block(slab) {
                self.block_depth = depth as u32;
                (self.block_rows, self.slab_stride) = (pixels as u32, length as u32);
                self.line = if self.pixels_together() > 1 { self.out_h * self.out_w } else { self.out_w };
                return;
            }
            self.path = Path::Gather;
        }
        if self.path == Path::Planes {
            if self.choose_columns(slab) {
                return;
            }
            self.path = Path::Gather;
        }
        self.line = self.uniform_rows() as u32;
        let blocks = depth.div_ceil(most_depth);
        // Whole vectors, so that the copies of a block are aligned.
        let block_depth = depth.div_ceil(blocks).next_multiple_of(16);
        self.block_depth = block_depth as u32;
        match self.path {
            Path::Direct => self.block_rows = DIRECT_ROWS as u32,
            Path::Gather => {
                let stride = row_floats(block_depth);
                self.slab_stride = stride as u32;
                let fitting = slab / stride;
                let block_rows =
                    if fitting >= rows { rows } else { (fitting.max(TILE) / TILE * TILE).min(rows) };
                self.block_rows = block_rows as u32;
            }
            Path::Lanes => self.block_rows = 1,
            Path::Lines | Path::Planes => unreachable!("it has its blocks, or became another path"),
        }
    }

    /// The most scratch that rows may be copied to, in floats.
    pub(crate) fn most_copied_floats(&self) -> usize {
        let row = row_floats(self.depth().clamp(1, DEPTH));
        (self.rows().max(1) * row).min(SLAB)
    }

    /// Whether rows may be copied at a smaller size. Some are, which are read in place here.
    fn may_copy(&self) -> bool {
        match self.path {
            Path::Gather | Path::Lines | Path::Planes => true,
            Path::Direct => self.strides.input.w >= 1024,
            Path::Lanes => false,
        }
    }
}

/// The stride of copied rows: an odd number of cache lines, so that successive rows fall in different sets.
fn row_floats(depth: usize) -> usize {
    (depth.div_ceil(16) | 1) * 16
}

// SAFETY: `u64` strides, then 4-byte fields of an even number (the code has three): no padding; `entry` reads
// this type.
unsafe impl Kernel for Conv2d {
    fn parts(&self) -> u32 {
        self.row_parts * self.panel_parts
    }

    fn scratch_bytes(&self) -> usize {
        let floats = match self.path {
            Path::Gather => (self.block_rows * self.slab_stride) as usize,
            Path::Lines => self.floats_of_lines(),
            Path::Planes => (self.kernel_h * self.in_group * self.slab_stride) as usize,
            Path::Direct | Path::Lanes => return 0,
        };
        (floats + SLAB_TAIL) * 4
    }

    /// An upper bound from rows and depth, and from `SLAB`, which has room for a tile of the longest rows.
    fn most_scratch_bytes(&self) -> usize {
        if self.may_copy() { (self.most_copied_floats() + SLAB_TAIL) * 4 } else { 0 }
    }

    /// Room for a tile.
    fn enough_scratch_bytes(&self) -> usize {
        let row = row_floats(self.depth().clamp(1, NARROW_DEPTH));
        if self.may_copy() { (self.rows().clamp(1, TILE) * row + SLAB_TAIL) * 4 } else { 0 }
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Conv2d>(self.isa)
    }
}

impl KernelBody for Conv2d {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        // SAFETY: `KernelFn`'s promise, with the operands that `Conv2d` documents.
        unsafe {
            let images = ConvOperands::new(operands, self.prologue);
            match self.path {
                Path::Lanes => lanes::run::<S>(self, &images.into(), part as usize),
                Path::Planes => planes::run(s, self, &images, part as usize, scratch.cast()),
                Path::Direct | Path::Gather | Path::Lines => {
                    rows::run(s, self, &images, part as usize, scratch.cast())
                }
            }
        }
    }
}

/// The operands of a running convolution.
#[derive(Clone, Copy)]
pub(crate) struct ConvOperands {
    pub(crate) out: *mut f32,
    pub(crate) x: *const f32,
    pub(crate) weights: *const f32,
    pub(crate) bias: *const f32,
    pub(crate) residual: *const f32,
    pub(crate) scale: *const f32,
    pub(crate) shift: *const f32,
}

impl ConvOperands {
    /// # Safety
    /// The table has the operands of [`Conv2d`]; without a prologue, the last two may be missing.
    #[inline(always)]
    pub(crate) unsafe fn new(operands: OperandTable, prologue: ConvPrologue) -> ConvOperands {
        let optional = |index: usize| match prologue {
            ConvPrologue::None => std::ptr::null(),
            // SAFETY: the caller's promise.
            _ => unsafe { operands.get::<f32>(index).cast_const() },
        };
        // SAFETY: the caller's promise.
        unsafe {
            ConvOperands {
                out: operands.get(0),
                x: operands.get::<f32>(1),
                weights: operands.get::<f32>(2),
                bias: operands.get::<f32>(3),
                residual: operands.get::<f32>(4),
                scale: optional(5),
                shift: optional(6),
            }
        }
    }
}

#[path = "conv_parts.rs"]
mod parts;
#[cfg(test)]
#[path = "conv_tests.rs"]
mod tests;

pub(crate) use parts::WorkCosts;
