//! Depthwise convolutions with kernels of 3, 5 or 7 columns: tiles of pixels of one or two output lines.
//!
//! A vector holds channels. Each input vector of a tile is loaded once for all taps that need it, in both
//! lines, while the sums and a kernel row of each line stay in registers. Columns outside the image are
//! zeros; kernel rows outside it are left out. Images may be stored as `bf16`; weights, products and sums are
//! `f32`.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::bf16::{StoredFloat, load, store};
use crate::conv::{Conv2d, Conv2dShape, ConvOperands, ConvPrologue, ConvStrides, Path};
use crate::isa::Isa;
use crate::lanes::{self, ChannelStrip, LaneImages, ROW};
use crate::map::{Activation, Finish, MapBody, apply};
use crate::math;
use crate::pack::{Panels, WeightStrides};
use crate::pairs::ConvNumbers;
use crate::pixels::Pixel;
use crate::simd::{Simd, Task, opaque, written_out};
use std::array::from_fn;

/// The most output lines of a tile.
const LINES: usize = 2;
/// The most pixels of a line in a tile. Networks halve 224 again and again, so 7 leaves few for other tiles.
const PIXELS: usize = 7;
/// Pixels of a line in a tile at an edge.
const SMALL: usize = 4;
/// What is read in place of a column outside the image. A load there with a mask would be right, too, but
/// takes about a thousand cycles where no memory is mapped (AMD EPYC (Zen 4)).
static ZEROS: [f32; 16] = [0.0; 16];
/// The most columns of the image that a tile reads.
const COLUMNS: usize = (PIXELS - 1) * 2 + 5;

/// A depthwise convolution, whose images may be stored as `bf16`.
///
/// Operands: those of [`Conv2d`], with strides in elements; bias and packed weights are `f32`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DepthwiseConv2d {
    conv: Conv2d,
    input: StoredFloat,
    residual: StoredFloat,
    output: StoredFloat,
    /// Fills what would be padding between fields.
    unused: u32,
}

impl DepthwiseConv2d {
    /// The convolution of a shape, or none if it is not depthwise or its kernel has other columns. Panics
    /// where [`Conv2d::new`] does.
    pub fn new(
        shape: &Conv2dShape,
        strides: &ConvStrides,
        numbers: ConvNumbers,
        activation: Activation,
        isa: Isa,
        threads: usize,
    ) -> Option<DepthwiseConv2d> {
        let conv = Conv2d::new(shape, strides, ConvPrologue::None, activation, isa, threads);
        let ConvNumbers { input, residual, output } = numbers;
        let this = DepthwiseConv2d { conv, input, residual, output, unused: 0 };
        conv.columns_of_tiles().map(|_| this)
    }

    /// How the output channels are cut into panels of packed weights.
    pub fn panels(&self) -> Panels {
        self.conv.panels()
    }

    /// Floats of the packed weights.
    pub fn packed_len(&self) -> usize {
        self.conv.packed_len()
    }

    /// Packs all weights as [`Conv2d::pack`] does.
    pub fn pack(&self, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        self.conv.pack(weights, strides, out);
    }
}

// SAFETY: `Conv2d` has no padding, and four `u32` follow; `entry` reads this type.
unsafe impl Kernel for DepthwiseConv2d {
    fn parts(&self) -> u32 {
        self.conv.parts()
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<DepthwiseConv2d>(self.conv.isa)
    }
}

impl KernelBody for DepthwiseConv2d {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _: S, operands: OperandTable, part: u32, _: *mut u8) {
        let DepthwiseConv2d { input, residual, output, .. } = *self;
        // SAFETY: `KernelFn`'s promise, with the operands that `DepthwiseConv2d` documents.
        unsafe {
            let images = ConvOperands::new(operands, ConvPrologue::None);
            let images = LaneImages { numbers: ConvNumbers { input, residual, output }, ..images.into() };
            lanes::run::<S>(&self.conv, &images, part as usize);
        }
    }
}

impl Conv2d {
    /// Columns of the kernel, and the steps between windows, where there are tiles for them.
    #[inline(always)]
    pub(crate) fn columns_of_tiles(&self) -> Option<(u32, u32)> {
        let fits = match self.isa {
            Isa::Scalar => false,
            Isa::Avx512 => true,
            // Where vectors have 8 lanes, instructions with masks are slow.
            Isa::Avx2 | Isa::Aarch64 => self.groups.is_multiple_of(8),
        };
        (fits && self.multiplies_padding()).then_some((self.kernel_w, self.stride_w))
    }

    /// Whether taps beside the image are multiplied as zeros. They are if there are tiles for these columns,
    /// and then also on machines that have none, so that all get the same bits.
    #[inline(always)]
    pub(crate) fn multiplies_padding(&self) -> bool {
        let is_depthwise = (self.in_group, self.out_group, self.dilation_w) == (1, 1, 1);
        self.path == Path::Lanes
            && is_depthwise
            && matches!((self.kernel_w, self.stride_w), (3 | 5, 1 | 2) | (7, 1))
    }

    /// Output lines of an image that are computed together.
    #[inline(always)]
    pub(crate) fn lines_together(&self) -> usize {
        if self.columns_of_tiles().is_some() && self.dilation_h == 1 { 2 } else { 1 }
    }
}

/// Computes a strip with tiles for these columns.
///
/// # Safety
/// The machine has `S`; the strip's operands are those of [`lanes::run`]; there are tiles for the columns.
#[inline(always)]
pub(crate) unsafe fn strip_with_tiles<S: Simd>(columns: (u32, u32), strip: ChannelStrip<'_>) {
    macro_rules! either {
        ($K:literal, $STEP:literal) => {
            // SAFETY: the caller's promise.
            unsafe {
                match strip.images.numbers.input {
                    StoredFloat::F32 => strip_lines::<S, $K, $STEP, false>(strip),
                    StoredFloat::Bf16 => strip_lines::<S, $K, $STEP, true>(strip),
                }
            }
        };
    }
    match columns {
        _ if S::CALLS => unreachable!("there are no tiles for it"),
        (3, 1) => either!(3, 1),
        (3, 2) => either!(3, 2),
        (5, 1) => either!(5, 1),
        (5, 2) => either!(5, 2),
        _ => either!(7, 1),
    }
}

/// Computes a strip, in a function of its own, so that its sums get all registers. The kernel has `K`
/// columns, and windows are `STEP` columns apart; the image is `bf16` if `HALF`.
#[inline(never)]
unsafe fn strip_lines<S: Simd, const K: usize, const STEP: usize, const HALF: bool>(strip: ChannelStrip<'_>) {
    // SAFETY: the caller's promise.
    unsafe { S::vectorize(TiledStrip::<K, STEP, HALF>(strip)) }
}

struct TiledStrip<'c, const K: usize, const STEP: usize, const HALF: bool>(ChannelStrip<'c>);

impl<S: Simd, const K: usize, const STEP: usize, const HALF: bool> Task<S> for TiledStrip<'_, K, STEP, HALF> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let tiles = StripTiles::<S, K, STEP, HALF> { s, strip: self.0 };
        // SAFETY: the caller's promise.
        unsafe {
            match S::LANES {
                16 => tiles.lines::<PIXELS>(),
                _ => tiles.lines::<SMALL>(),
            }
        }
    }
}

/// The tiles of a strip.
struct StripTiles<'c, S, const K: usize, const STEP: usize, const HALF: bool> {
    s: S,
    strip: ChannelStrip<'c>,
}

/// What a tile reads of a row of the image: its first column, the bytes between columns, and which of them
/// are inside the image.
#[derive(Clone, Copy)]
struct Columns {
    from: *const u8,
    step: usize,
    inside: [bool; COLUMNS],
}

/// The sums of a tile, in memory.
type StoredSums = [f32; (LINES * PIXELS).next_multiple_of(4) * 16];

impl<S: Simd, const K: usize, const STEP: usize, const HALF: bool> StripTiles<'_, S, K, STEP, HALF> {
    /// Bytes of an input element.
    const SIZE: usize = if HALF { 2 } else { 4 };
    /// Whether strips may have fewer channels than lanes.
    const MAY_BE_PARTIAL: bool = S::LANES == 16;

    /// Computes the lines: in tiles of `P` pixels where all lanes and columns are inside the image, and
    /// elsewhere in masked tiles of `SMALL` pixels.
    #[inline(always)]
    unsafe fn lines<const P: usize>(&self) {
        let ChannelStrip { conv, lines, count, .. } = self.strip;
        let mut x = 0;
        while x < conv.out_w as usize {
            let is_inside = lines.interior.contains(&x) && x + P <= lines.interior.end;
            // SAFETY: the caller's promise; tiles neither load nor store what is outside the images.
            unsafe {
                if is_inside && count == S::LANES {
                    self.tile::<P, false>(x);
                    x += P;
                } else {
                    self.tile::<SMALL, true>(x);
                    x += SMALL;
                }
            }
        }
    }

    /// Computes `P` pixels of each line from `x` on, or what of them is inside the output. Without `MASKED`,
    /// all lanes, pixels and columns are inside.
    #[inline(always)]
    unsafe fn tile<const P: usize, const MASKED: bool>(&self, x: usize) {
        let ChannelStrip { conv, images, lines, channel, count, .. } = self.strip;
        let s = self.s;
        let valid = if MASKED { (conv.out_w as usize - x).min(P) } else { P };
        let mask = s.mask(count);
        // SAFETY: the caller's promise: all pixels are inside the output, and the residual if there is one.
        unsafe {
            let bias = match images.bias.is_null() {
                true => s.splat(0.0),
                false => s.load_masked(images.bias.add(channel), mask),
            };
            let mut sums = [[bias; P]; LINES];
            if !images.residual.is_null() {
                self.add_residual(x, valid, &mut sums);
            }
            self.accumulate::<P, MASKED>(self.columns(x), &mut sums);
            if let Finish::Clip { lo, hi } = conv.activation.finish() {
                written_out!(l in LINES, at most 2 => {
                    written_out!(p in P, at most 7 => { sums[l][p] = math::clip(s, sums[l][p], lo, hi); });
                });
            }
            if images.numbers.output != StoredFloat::F32 {
                return self.store_rounded(x, valid, &sums);
            }
            let strides = &conv.strides.output;
            written_out!(l in LINES, at most 2 => {
                let first = strides.offset(Pixel { n: lines.n, y: lines.y + l, x }) + channel;
                let to = images.out.cast::<f32>().wrapping_add(first);
                written_out!(p in P, at most 7 => {
                    if l < lines.count && p < valid {
                        let to = to.wrapping_add(p * strides.w as usize);
                        if MASKED && Self::MAY_BE_PARTIAL {
                            s.store_masked(to, mask, sums[l][p]);
                        } else {
                            s.store(to, sums[l][p]);
                        }
                    }
                });
            });
        }
    }

    /// Adds the first `valid` pixels of the residual from `x` on.
    #[inline(always)]
    unsafe fn add_residual<const P: usize>(&self, x: usize, valid: usize, sums: &mut [[S::F; P]; LINES]) {
        let ChannelStrip { conv, images, lines, channel, count, .. } = self.strip;
        let s = self.s;
        let strides = &conv.strides.residual;
        let mut added: StoredSums = [0.0; _];
        let start = added.as_mut_ptr();
        // SAFETY: the caller's promise; there is room for all lanes of all sums.
        unsafe {
            for l in 0..lines.count {
                let first = strides.offset(Pixel { n: lines.n, y: lines.y + l, x }) + channel;
                for p in 0..valid {
                    let at = first + p * strides.w as usize;
                    let value = load(s, images.residual, images.numbers.residual, at, count);
                    s.store(start.add((l * P + p) * S::LANES), value);
                }
            }
            written_out!(l in LINES, at most 2 => {
                written_out!(p in P, at most 7 => {
                    sums[l][p] = s.add(sums[l][p], s.load(start.add((l * P + p) * S::LANES)));
                });
            });
        }
    }

    /// Applies the activation if it waits for the sums in memory, and stores the first `valid` pixels from
    /// `x` on as `bf16`. Functions of lines of `f32` are faster, but `bf16` would be rounded twice.
    #[inline(always)]
    unsafe fn store_rounded<const P: usize>(&self, x: usize, valid: usize, sums: &[[S::F; P]; LINES]) {
        let ChannelStrip { conv, images, lines, channel, count, .. } = self.strip;
        let s = self.s;
        let strides = &conv.strides.output;
        let mut floats: StoredSums = [0.0; _];
        let start = floats.as_mut_ptr();
        // SAFETY: the caller's promise; there is room for all lanes of all sums.
        unsafe {
            written_out!(l in LINES, at most 2 => {
                written_out!(p in P, at most 7 => {
                    s.store(start.add((l * P + p) * S::LANES), sums[l][p]);
                });
            });
            if conv.activation.is_deferred() {
                // Functions are fastest on four vectors at once; what is beyond the sums is ignored.
                let n = (lines.count * P).next_multiple_of(4) * S::LANES;
                apply::<S>(MapBody { code: conv.activation, from: start, to: start, n });
            }
            for l in 0..lines.count {
                let first = strides.offset(Pixel { n: lines.n, y: lines.y + l, x }) + channel;
                for p in 0..valid {
                    let sum = s.load(start.add((l * P + p) * S::LANES));
                    let at = first + p * strides.w as usize;
                    store(s, images.out, images.numbers.output, at, count, sum);
                }
            }
        }
    }

    /// The columns that the tile at `x` reads, in the row that the first kernel row inside the image meets.
    #[inline(always)]
    fn columns(&self, x: usize) -> Columns {
        let ChannelStrip { conv, images, lines, channel, .. } = self.strip;
        let input = &conv.strides.input;
        let step = input.w as usize * Self::SIZE;
        let left = (x * STEP).wrapping_sub(conv.pad_left as usize);
        let inside = from_fn(|column| left.wrapping_add(column) < conv.in_w as usize);
        let pixel = Pixel { n: lines.n, y: lines.first_row(conv).wrapping_sub(conv.pad_top as usize), x: 0 };
        let first = input.offset(pixel).wrapping_add(channel).wrapping_mul(Self::SIZE);
        Columns { from: images.x.wrapping_add(first).wrapping_add(left.wrapping_mul(step)), step, inside }
    }

    /// Adds the products of the taps inside the image, in the order (ky, kx).
    #[inline(always)]
    unsafe fn accumulate<const P: usize, const MASKED: bool>(
        &self,
        mut columns: Columns,
        sums: &mut [[S::F; P]; LINES],
    ) {
        let ChannelStrip { conv, lines, .. } = self.strip;
        let dilation = conv.dilation_h as usize;
        let height = conv.kernel_h as usize;
        // Rows count from the first one of the padding.
        let last = (lines.y + lines.count - 1) * conv.stride_h as usize + (height - 1) * dilation;
        let end = (last + 1).min(conv.pad_top as usize + conv.in_h as usize);
        let mut row = lines.first_row(conv);
        let mut ky = lines.ky.start;
        // No kernel row of a second line is inside the image if there is none.
        let apart = if lines.count == 2 { conv.stride_h as usize } else { usize::MAX / 2 };
        while row < end {
            let next = ky.wrapping_sub(apart);
            // SAFETY: the caller's promise.
            unsafe {
                if ky < height && next < height {
                    self.row::<LINES, P, MASKED>(&columns, [ky, next], 0, sums);
                } else if ky < height {
                    self.row::<1, P, MASKED>(&columns, [ky; 2], 0, sums);
                } else if next < height {
                    self.row::<1, P, MASKED>(&columns, [next; 2], 1, sums);
                }
            }
            columns.from = columns.from.wrapping_add(dilation * conv.strides.input.h as usize * Self::SIZE);
            row += dilation;
            ky += 1;
        }
    }

    /// Adds the products of a row of the image and kernel row `ky` of each of `M` lines from `line` on.
    #[inline(always)]
    unsafe fn row<const M: usize, const P: usize, const MASKED: bool>(
        &self,
        columns: &Columns,
        ky: [usize; 2],
        line: usize,
        sums: &mut [[S::F; P]; LINES],
    ) {
        let s = self.s;
        let mut kernel = [[s.splat(0.0); K]; LINES];
        // SAFETY: the caller's promise.
        unsafe {
            written_out!(l in M, at most 2 => {
                let weights = self.strip.weights.add(ky[l] * K * ROW);
                written_out!(kx in K, at most 7 => { kernel[l][kx] = s.load(weights.add(kx * ROW)); });
            });
            let from = opaque(columns.from.cast()).cast::<u8>();
            written_out!(column in COLUMNS, among 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 => {
                if column < (P - 1) * STEP + K {
                    let from = from.wrapping_add(column * columns.step);
                    let is_outside = MASKED && !columns.inside[column];
                    let value = self.load::<MASKED>(if is_outside { ZEROS.as_ptr().cast() } else { from });
                    written_out!(kx in K, at most 7 => {
                        if column >= kx && (column - kx).is_multiple_of(STEP) && (column - kx) / STEP < P {
                            let p = (column - kx) / STEP;
                            sums[line][p] = s.mul_add(value, kernel[0][kx], sums[line][p]);
                            if M == 2 {
                                sums[1][p] = s.mul_add(value, kernel[1][kx], sums[1][p]);
                            }
                        }
                    });
                }
            });
        }
    }

    /// Loads the strip's lanes of a column.
    #[inline(always)]
    unsafe fn load<const MASKED: bool>(&self, from: *const u8) -> S::F {
        let (s, count) = (self.s, self.strip.count);
        // SAFETY: the caller's promise.
        unsafe {
            match (HALF, MASKED && Self::MAY_BE_PARTIAL) {
                (false, false) => s.load(from.cast()),
                (false, true) => s.load_masked(from.cast(), s.mask(count)),
                (true, false) => s.float(s.load_upper(from.cast(), S::LANES)),
                (true, true) => s.float(s.load_upper(from.cast(), count)),
            }
        }
    }
}
