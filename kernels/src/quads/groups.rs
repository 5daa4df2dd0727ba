//! Convolutions of bytes with few channels in a group: a vector holds output channels of several groups.
//!
//! A block is 16 output channels. They read 16 input channels, so a tap of a pixel is 16 bytes: four quads,
//! each of one group. A vector repeats these bytes, so that lane `4r + j` has quad `j`. It is multiplied by
//! as many vectors of weights as a group has quads: vector `a` of weights has there the weights of quad `j`
//! for output channel `4a + r` of the quad's group. Of the sums that belong to one output channel, those of
//! neighbouring lanes are added at the end, and the channels put in order.
//!
//! A strip is one block of channels for pixels of some lines of the output. What its pixels read of the image
//! is copied to scratch, with the zero point in the padding, so that products need no bounds checks.
//!
//! Weights are signed and images unsigned: 128 is subtracted from unsigned weights and added to signed
//! images, and likewise for their zero points. The zero point of weights is multiplied by the sum of a
//! pixel's inputs, for which the weights of a tile are ones.

use super::group_tile::{GroupTile, tile_function};
use super::steps::{StepCode, StepPlan, WeightZero};
use super::tile::{QuadTile, finish_rows};
use super::{QuadConv2d, QuadOperands, SUMS, TILE};
use crate::abi::piece;
use crate::pack::{PANEL, Panel, Panels, WeightStrides};
use crate::pixels::Pixel;
use crate::simd::{Simd, Task};
use std::array::from_fn;
use std::ops::Range;

/// Output channels of a block, and bytes of a copied pixel.
pub(super) const BLOCK: usize = 16;
/// Bytes of scratch for the copied pixels of a strip, so that they stay in the first-level cache.
const STRIP: usize = 16 * 1024;
/// Bytes of scratch before the copied pixels: the sums of a tile, and those of its inputs.
const BEFORE_STRIP: usize = 2 * SUMS * 4;

impl QuadConv2d {
    /// Whether groups are whole quads, blocks whole groups, and what a pixel reads fits the strip.
    #[inline(always)]
    pub(super) fn has_whole_blocks(&self) -> bool {
        let conv = &self.conv;
        let [inputs, outputs] = [conv.in_group, conv.out_group];
        let is_whole = inputs == outputs && matches!(inputs, 4 | 8 | 16);
        // A block of one group is a good matrix product if its rows are not copied.
        let is_worth_it = conv.groups > 1 || inputs == 16 && conv.kernel_h * conv.kernel_w > 1;
        is_whole && is_worth_it && self.strip_bytes(1, 1) <= STRIP
    }

    /// Whether this file's kernel can compute it.
    pub(super) fn fits_groups(&self) -> bool {
        let strides = &self.conv.strides;
        self.has_whole_blocks() && strides.input.c == 1 && strides.output.c == 1
    }

    /// Quads of a group: vectors of weights of a tap.
    #[inline(always)]
    fn group_quads(&self) -> usize {
        self.conv.in_group as usize / 4
    }

    /// The panels of packed weights: one for each block. Row `t * quads + a` has vector `a` of tap `t`; the
    /// last one has the sum of each channel's weights.
    pub(super) fn group_panels(&self) -> Panels {
        let channels = self.conv.groups * self.conv.out_group;
        Panels::new(self.quads() + 1, channels as usize, 1, BLOCK)
    }

    /// Packs all weights, as signed bytes.
    pub(super) fn pack_groups(&self, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        let [kernel_w, in_group] = [self.conv.kernel_w as usize, self.conv.in_group as usize];
        let vectors = self.group_quads();
        let turned = if self.weights == self.packed_sign() { 0 } else { 0x80 };
        let panels = self.group_panels();
        for panel in (0..panels.count()).map(|index| panels.get(index)) {
            let rows = &mut out[panel.offset..panel.offset + panels.depth() * BLOCK];
            let (quads, sums) = rows.split_at_mut(self.quads() * BLOCK);
            let mut totals = [0i32; BLOCK];
            for (row, slots) in quads.chunks_exact_mut(BLOCK).enumerate() {
                let (tap, vector) = (row / vectors, row % vectors);
                for (lane, slot) in slots.iter_mut().enumerate() {
                    let channel = lane % 4 / vectors * in_group + vector * 4 + lane / 4;
                    let first = lane % 4 % vectors * 4;
                    let base = (panel.first + channel) * strides.o
                        + tap / kernel_w * strides.h
                        + tap % kernel_w * strides.w;
                    let bytes = from_fn(|index| match channel < panel.count {
                        true => weights[base + (first + index) * strides.i] as i32 as u8 ^ turned,
                        false => 0,
                    });
                    totals[channel] += bytes.iter().map(|byte| i32::from(*byte as i8)).sum::<i32>();
                    *slot = f32::from_bits(u32::from_le_bytes(bytes));
                }
            }
            for (slot, total) in sums.iter_mut().zip(totals) {
                *slot = f32::from_bits(total as u32);
            }
        }
    }

    /// Rows and columns of the image that `lines` lines of `pixels` pixels read.
    #[inline(always)]
    fn reach(&self, lines: usize, pixels: usize) -> [usize; 2] {
        let conv = &self.conv;
        let along = |count: usize, stride: u32, kernel: u32, dilation: u32| {
            let taps = (kernel as usize).saturating_sub(1) * dilation as usize + 1;
            (count.saturating_sub(1) * stride as usize).saturating_add(taps)
        };
        [
            along(lines, conv.stride_h, conv.kernel_h, conv.dilation_h),
            along(pixels, conv.stride_w, conv.kernel_w, conv.dilation_w),
        ]
    }

    /// Bytes of the copied pixels for `lines` lines of `pixels` pixels.
    #[inline(always)]
    fn strip_bytes(&self, lines: usize, pixels: usize) -> usize {
        let [rows, columns] = self.reach(lines, pixels);
        rows.saturating_mul(columns).saturating_mul(BLOCK)
    }

    /// Lines and pixels of a strip with at most `slab` bytes of scratch: several whole lines, or as many
    /// pixels of one as fit. Even if `slab` is smaller, a strip has a tile's pixels if they fit the
    /// first-level cache.
    pub(super) fn group_strip(&self, slab: usize) -> [usize; 2] {
        let conv = &self.conv;
        let [lines, pixels] = [conv.out_h, conv.out_w].map(|size| (size as usize).max(1));
        let room = slab.saturating_sub(BEFORE_STRIP).min(STRIP);
        let fitting = |room: usize, most: usize, bytes: &dyn Fn(usize) -> usize| {
            (1..=most).take_while(|count| bytes(*count) <= room).last().unwrap_or(0)
        };
        let whole = fitting(room, lines, &|lines| self.strip_bytes(lines, pixels));
        if whole > 0 {
            return [whole, pixels];
        }
        let of_line = |pixels| self.strip_bytes(1, pixels);
        let least = fitting(STRIP, pixels.min(TILE), &of_line);
        match fitting(room, pixels, &of_line).max(least) {
            fitting if fitting >= TILE => [1, fitting / TILE * TILE],
            fitting => [1, fitting],
        }
    }

    /// Bytes of scratch for strips of this size, without the sums of a tile.
    pub(super) fn bytes_of_group_strips(&self, [lines, pixels]: [usize; 2]) -> usize {
        BEFORE_STRIP - SUMS * 4 + self.strip_bytes(lines, pixels)
    }

    /// An upper bound of the bytes of scratch for strips of at most this many lines and pixels; 0 if what one
    /// pixel reads does not fit.
    pub(super) fn most_bytes_of_group_strips(&self) -> usize {
        let all = self.strip_bytes(self.conv.out_h as usize, self.conv.out_w as usize);
        let fits = self.strip_bytes(1, 1) <= STRIP;
        if fits { BEFORE_STRIP - SUMS * 4 + all.min(STRIP) } else { 0 }
    }
}

/// The context of a running part.
struct GroupsPart<'r> {
    this: &'r QuadConv2d,
    images: &'r QuadOperands,
    plan: StepPlan,
    /// 1 if the machine has an instruction for quads.
    at_once: u32,
    /// The image's zero point, as an unsigned byte.
    x_zero: u8,
    scratch: *mut u8,
}

/// Runs part `part`: a range of output lines and of panels.
///
/// # Safety
/// That of [`crate::KernelFn`], with `QuadConv2d`'s operands.
#[inline(always)]
pub(super) unsafe fn run<S: Simd>(this: &QuadConv2d, images: &QuadOperands, part: usize, scratch: *mut u8) {
    let conv = &this.conv;
    let call = GroupsPart {
        this,
        images,
        // SAFETY: the caller's promise.
        plan: unsafe { StepPlan::new(this, images.table) },
        at_once: u32::from(S::has_quads()),
        x_zero: images.zero_byte ^ this.image.turn(),
        scratch,
    };
    let all = this.group_panels();
    let panel_parts = conv.panel_parts as usize;
    let [height, width] = [conv.out_h as usize, conv.out_w as usize];
    let lines = piece(conv.batch as usize * height, conv.row_parts as usize, part / panel_parts);
    let [most_lines, most_pixels] = [conv.block_depth as usize, conv.block_rows as usize];
    for panel in piece(all.count(), panel_parts, part % panel_parts).map(|index| all.get(index)) {
        // SAFETY: the caller's promise: there are zero points and weights of the panel.
        let weights = unsafe { call.weights(panel) };
        let mut line = lines.start;
        while line < lines.end {
            let [n, y] = [line / height, line % height];
            let line_count = (lines.end - line).min(height - y).min(most_lines);
            for x in (0..width).step_by(most_pixels) {
                let first = Pixel { n, y, x };
                let count = (width - x).min(most_pixels);
                let strip = GroupStrip { part: &call, weights: &weights, panel, first, line_count, count };
                // SAFETY: the caller's promise; strips are inside the output, and scratch has room for them.
                unsafe {
                    strip.copy_pixels();
                    strip.compute::<S>();
                }
            }
            line += line_count;
        }
    }
}

/// Weights of a panel.
struct GroupWeights {
    packed: *const i32,
    /// The initial value of each channel's sum.
    begin: [i32; BLOCK],
    /// The zero point of each channel.
    zeros: [i32; BLOCK],
}

impl GroupWeights {
    /// Whether all zero points are 0.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.zeros == [0; BLOCK]
    }
}

impl GroupsPart<'_> {
    /// The weights of a panel.
    #[inline(always)]
    unsafe fn weights(&self, panel: Panel) -> GroupWeights {
        let GroupsPart { this, images, .. } = *self;
        let x_zero = i32::from(self.x_zero);
        let all = (this.conv.depth() as i32).wrapping_mul(x_zero);
        let mut weights = GroupWeights {
            packed: images.weights.wrapping_add(panel.offset),
            begin: [0; BLOCK],
            zeros: [0; BLOCK],
        };
        for lane in 0..panel.count {
            // SAFETY: the caller's promise.
            unsafe {
                let zero = this.shifted_zero(match this.zero {
                    WeightZero::None => 0,
                    WeightZero::One => *images.weight_zeros,
                    WeightZero::Channel => *images.weight_zeros.add(panel.first + lane),
                });
                let total = *weights.packed.add(this.quads() * BLOCK + lane);
                weights.zeros[lane] = zero;
                weights.begin[lane] = zero.wrapping_mul(all).wrapping_sub(total.wrapping_mul(x_zero));
            }
        }
        weights
    }

    /// Room for the sums of a tile.
    fn sums(&self) -> *mut i32 {
        self.scratch.cast()
    }

    /// Room for the sums of a tile's inputs.
    fn input_sums(&self) -> *mut i32 {
        self.sums().wrapping_add(SUMS)
    }

    /// Room for the copied pixels of a strip.
    fn pixels(&self) -> *mut u8 {
        self.scratch.wrapping_add(BEFORE_STRIP)
    }
}

/// A block of channels of some pixels of some lines of the output.
struct GroupStrip<'p> {
    part: &'p GroupsPart<'p>,
    weights: &'p GroupWeights,
    panel: Panel,
    first: Pixel,
    line_count: usize,
    /// Pixels of each line.
    count: usize,
}

/// Weights that sum up the inputs.
static ONES: [i32; BLOCK] = [0x0101_0101; BLOCK];

impl GroupStrip<'_> {
    /// Copies what the strip reads of the image, row by row.
    #[inline(always)]
    unsafe fn copy_pixels(&self) {
        let GroupsPart { this, images, x_zero, .. } = *self.part;
        let conv = &this.conv;
        let input = &conv.strides.input;
        let [rows, columns] = this.reach(self.line_count, self.count);
        let outside = u128::from_ne_bytes([x_zero; BLOCK]);
        let turned = u128::from_ne_bytes([this.image.turn(); BLOCK]);
        let (start, inside) = conv.columns_inside(self.first.x * conv.stride_w as usize, columns);
        let end = start + inside.len();
        let corner = input.offset(Pixel { n: self.first.n, y: 0, x: inside.start }) + self.panel.first;
        let mut to = self.part.pixels().cast::<u128>();
        for row in 0..rows {
            let y = (self.first.y * conv.stride_h as usize + row).wrapping_sub(conv.pad_top as usize);
            let is_inside = y < conv.in_h as usize;
            let (start, end) = if is_inside { (start, end) } else { (columns, columns) };
            let mut from = images.x.wrapping_add(corner + if is_inside { y * input.h as usize } else { 0 });
            // SAFETY: the caller's promise: the columns inside are of the image, and scratch has room for
            // all.
            unsafe {
                for column in (0..start).chain(end..columns) {
                    to.add(column).write_unaligned(outside);
                }
                for column in start..end {
                    let bytes = match self.panel.count {
                        BLOCK => from.cast::<u128>().read_unaligned(),
                        count => first_bytes(from, count),
                    };
                    to.add(column).write_unaligned(bytes ^ turned);
                    // After the last column this pointer is out of bounds, but not read.
                    from = from.wrapping_add(input.w as usize);
                }
                to = to.add(columns);
            }
        }
    }

    /// Computes the strip from the copied pixels.
    #[inline(always)]
    unsafe fn compute<S: Simd>(&self) {
        // Without the instruction for quads, the largest tile has 4 pixels.
        let most = if self.part.at_once == 1 { TILE } else { TILE / 4 * 4 };
        for line in 0..self.line_count {
            for first in (0..self.count).step_by(most) {
                let pixels = (self.count - first).min(most);
                // SAFETY: the caller's promise; pixels were copied, and there is room for sums.
                unsafe {
                    self.add_products::<S>(line, first..first + pixels);
                    if !self.weights.is_plain() {
                        S::vectorize(SubtractZeros { strip: self, pixels });
                    }
                    finish_rows::<S>(&self.finish(line, first), pixels, BLOCK / S::LANES);
                }
            }
        }
    }

    /// Stores the sums of some of a line's pixels, and those of their inputs unless weights are plain.
    #[inline(always)]
    unsafe fn add_products<S: Simd>(&self, line: usize, pixels: Range<usize>) {
        let quads = self.part.this.group_quads();
        let mut done = pixels.start;
        while done < pixels.end {
            let (function, count) = tile_function::<S>(pixels.end - done, quads, self.part.at_once);
            let at = (done - pixels.start) * PANEL;
            let tile = GroupTile { to: self.part.sums().wrapping_add(at), ..self.tile(line, done) };
            // SAFETY: the caller's promise.
            unsafe {
                function(&tile);
                if !self.weights.is_plain() {
                    let to = self.part.input_sums().wrapping_add(at);
                    function(&GroupTile { weights: ONES.as_ptr(), weight_step: 0, begin: None, to, ..tile });
                }
            }
            done += count;
        }
    }

    /// The products of a line's pixels, from pixel `done` on.
    #[inline(always)]
    fn tile(&self, line: usize, done: usize) -> GroupTile<'_> {
        let GroupsPart { this, .. } = *self.part;
        let conv = &this.conv;
        let [_, columns] = this.reach(self.line_count, self.count);
        let row_step = columns * BLOCK;
        let step = conv.stride_w as usize * BLOCK;
        GroupTile {
            from: self.part.pixels().wrapping_add(line * conv.stride_h as usize * row_step + done * step),
            step,
            tap_step: conv.dilation_w as usize * BLOCK,
            row_step: conv.dilation_h as usize * row_step,
            kernel: [conv.kernel_h as usize, conv.kernel_w as usize],
            weights: self.weights.packed,
            weight_step: BLOCK,
            begin: Some(&self.weights.begin),
            to: self.part.sums(),
        }
    }

    /// What is done to the sums of a line's pixels, from pixel `done` on.
    #[inline(always)]
    fn finish(&self, line: usize, done: usize) -> QuadTile<'_> {
        let GroupsPart { this, images, ref plan, .. } = *self.part;
        let [output, residual] = [this.conv.strides.output, this.conv.strides.residual];
        let pixel = Pixel { y: self.first.y + line, x: self.first.x + done, ..self.first };
        let channel = self.panel.first;
        let residual_first = (residual.offset(pixel) + channel) * StepCode::residual_bytes(plan.steps());
        QuadTile {
            segments: 1,
            quads: this.quads(),
            jump: 0,
            a: std::ptr::null(),
            a_stride: 0,
            b: std::ptr::null(),
            b_stride: 0,
            begin: std::ptr::null(),
            terms: std::ptr::null(),
            zeros: std::ptr::null(),
            c: images.out.wrapping_add((output.offset(pixel) + channel) * this.output.bytes()),
            c_stride: output.w as usize,
            output: this.output,
            rounded: plan.rounded,
            cols: self.panel.count,
            residual: images.residual.wrapping_add(residual_first),
            residual_stride: residual.w as usize,
            steps: plan.steps(),
            operands: images.table,
            channel,
            sums: self.part.sums().cast(),
            ahead: std::ptr::null(),
            ahead_stride: 0,
        }
    }
}

/// The first `count` bytes, a multiple of 4 below 16, and zeros.
///
/// # Safety
/// They are valid for reads.
#[inline(always)]
unsafe fn first_bytes(from: *const u8, count: usize) -> u128 {
    let mut bytes = 0;
    for quad in (0..count / 4).rev() {
        // SAFETY: the caller's promise.
        let quad = unsafe { from.cast::<u32>().add(quad).read_unaligned() };
        bytes = bytes << 32 | u128::from(u32::from_le(quad));
    }
    bytes.to_le()
}

/// Subtracts the weights' zero points times the sums of the inputs from the sums of some pixels.
///
/// # Safety
/// Of running it: both sums are stored.
struct SubtractZeros<'s> {
    strip: &'s GroupStrip<'s>,
    pixels: usize,
}

impl<S: Simd> Task<S> for SubtractZeros<'_> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let GroupStrip { part, weights, .. } = *self.strip;
        for (pixel, lane) in
            (0..self.pixels).flat_map(|pixel| (0..BLOCK).step_by(S::LANES).map(move |lane| (pixel, lane)))
        {
            let at = pixel * PANEL + lane;
            // SAFETY: the promise of running it.
            unsafe {
                let zeros = s.load_int(weights.zeros.as_ptr().add(lane));
                let inputs = s.load_int(part.input_sums().add(at));
                let sums = s.load_int(part.sums().add(at));
                let sums = s.sub_int(sums, s.mul_int(inputs, zeros));
                s.store(part.sums().add(at).cast(), s.float(sums));
            }
        }
    }
}
