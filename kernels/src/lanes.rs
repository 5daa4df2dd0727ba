//! Depthwise and grouped convolution: a vector holds consecutive channels, of several groups at once.
//!
//! With groups of G channels (G = 1, 2, 4, 8), output lane l of group l / G needs, for the j-th input channel
//! of its group, input lane (l / G) * G + j of the same vector: one permutation per j, and none for G = 1. So
//! all lanes do useful work, and the input is read in place. Where a group has one input channel and M output
//! channels, output channel o needs input channel o / M: one permutation again. Taps outside the image are
//! skipped.

use crate::abi::piece;
use crate::bf16::StoredFloat;
use crate::conv::{Conv2d, ConvOperands};
use crate::depthwise::strip_with_tiles;
use crate::map::{Finish, apply_rows};
use crate::math;
use crate::pack::PANEL;
use crate::pairs::ConvNumbers;
use crate::pixels::Pixel;
use crate::simd::{AllLanes, First, Simd, Task, Width, opaque};
use std::ops::Range;

/// Floats of a row of packed weights.
pub(crate) const ROW: usize = PANEL / 2;

/// Output lines of an image, one or two.
pub(crate) struct OutputLines {
    pub(crate) n: usize,
    /// The first line, and how many there are.
    pub(crate) y: usize,
    pub(crate) count: usize,
    /// The kernel rows inside the image, of the first line.
    pub(crate) ky: Range<usize>,
    /// The pixels for which every tap is inside the image's columns.
    pub(crate) interior: Range<usize>,
}

impl OutputLines {
    /// Line `line` of all images, with up to `most - 1` lines of the same image that are computed together
    /// with it.
    #[inline(always)]
    fn new(conv: &Conv2d, line: usize, most: usize) -> OutputLines {
        let (stride, pad) = (conv.stride_w as usize, conv.pad_left as usize);
        let reach = (conv.kernel_w as usize - 1) * conv.dilation_w as usize;
        let first = pad.div_ceil(stride).min(conv.out_w as usize);
        let end = (conv.in_w as usize + pad).checked_sub(reach + 1).map_or(0, |last| last / stride + 1);
        let y = line % conv.out_h as usize;
        OutputLines {
            n: line / conv.out_h as usize,
            y,
            count: most.min(conv.out_h as usize - y).min(conv.lines_together()),
            ky: taps(y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h),
            interior: first..end.clamp(first, (conv.out_w as usize).max(first)),
        }
    }

    /// The row that the first kernel row inside the image meets, counted from the first one of the padding.
    #[inline(always)]
    pub(crate) fn first_row(&self, conv: &Conv2d) -> usize {
        self.y * conv.stride_h as usize + self.ky.start * conv.dilation_h as usize
    }
}

/// The taps of an axis that are inside the image for output index `at`.
#[inline(always)]
fn taps(at: usize, stride: u32, dilation: u32, pad: u32, kernel: u32, size: u32) -> Range<usize> {
    let (origin, dilation) = (at * stride as usize, dilation as usize);
    let first = (pad as usize).saturating_sub(origin).div_ceil(dilation);
    let reach = (size as usize + pad as usize).saturating_sub(origin);
    let end = reach.div_ceil(dilation).min(kernel as usize);
    first..end.max(first)
}

/// The images and weights of a running convolution, with the types of the images' elements.
#[derive(Clone, Copy)]
pub(crate) struct LaneImages {
    pub(crate) out: *mut u8,
    pub(crate) x: *const u8,
    pub(crate) weights: *const f32,
    pub(crate) bias: *const f32,
    pub(crate) residual: *const u8,
    /// All `f32`, but for convolutions with [`Conv2d::columns_of_tiles`].
    pub(crate) numbers: ConvNumbers,
}

impl From<ConvOperands> for LaneImages {
    fn from(ConvOperands { out, x, weights, bias, residual, .. }: ConvOperands) -> LaneImages {
        let f32 = StoredFloat::F32;
        let numbers = ConvNumbers { input: f32, residual: f32, output: f32 };
        LaneImages { out: out.cast(), x: x.cast(), weights, bias, residual: residual.cast(), numbers }
    }
}

/// Runs part `part`: a range of output lines and of panels.
///
/// # Safety
/// That of [`crate::KernelFn`], with `Conv2d`'s operands.
#[inline(always)]
pub(crate) unsafe fn run<S: Simd>(conv: &Conv2d, images: &LaneImages, part: usize) {
    let panel_parts = conv.panel_parts as usize;
    let panels = piece(conv.panels().count(), panel_parts, part % panel_parts);
    let lines = conv.batch as usize * conv.out_h as usize;
    let mut rest = piece(lines, conv.row_parts as usize, part / panel_parts);
    while !rest.is_empty() {
        let lines = &OutputLines::new(conv, rest.start, rest.len());
        rest.start += lines.count;
        // SAFETY: the caller's promise; `activate` runs after the strips, which write its operands.
        unsafe {
            for panel in panels.clone() {
                panel_lines::<S>(conv, images, lines, panel);
            }
            activate::<S>(conv, images, lines, panels.clone());
        }
    }
}

/// Computes a panel's channels of some lines, a vector at a time.
#[inline(always)]
unsafe fn panel_lines<S: Simd>(conv: &Conv2d, images: &LaneImages, lines: &OutputLines, index: usize) {
    let panel = conv.panels().get(index);
    for lane in (0..panel.count).step_by(S::LANES) {
        let count = (panel.count - lane).min(S::LANES);
        // SAFETY: the panel's weights start at its offset.
        let weights = unsafe { images.weights.add(panel.offset + lane) };
        let strip = ChannelStrip { conv, images, lines, channel: panel.first + lane, count, weights };
        // SAFETY: the caller's promise; the path is chosen for these groups only.
        unsafe {
            if let Some(columns) = conv.columns_of_tiles() {
                strip_with_tiles::<S>(columns, strip);
                continue;
            }
            match (conv.in_group, conv.out_group) {
                (1, 2..) => strip_line::<S, 1, true>(strip),
                (1, _) => strip_line::<S, 1, false>(strip),
                (2, _) => strip_line::<S, 2, false>(strip),
                (4, _) => strip_line::<S, 4, false>(strip),
                _ => strip_line::<S, 8, false>(strip),
            }
        }
    }
}

/// Applies the activation to the outputs of lines, if the tiles leave it for later.
#[inline(always)]
unsafe fn activate<S: Simd>(conv: &Conv2d, images: &LaneImages, lines: &OutputLines, panels: Range<usize>) {
    let is_done = !conv.activation.is_deferred() || images.numbers.output != StoredFloat::F32;
    if is_done || panels.is_empty() {
        return;
    }
    let (first, last) = (conv.panels().get(panels.start), conv.panels().get(panels.end - 1));
    let channels = last.first + last.count - first.first;
    let output = conv.strides.output;
    // SAFETY: the pixels' channels are outputs of this part.
    unsafe {
        for y in lines.y..lines.y + lines.count {
            let start =
                images.out.cast::<f32>().add(output.offset(Pixel { n: lines.n, y, x: 0 }) + first.first);
            apply_rows::<S>(conv.activation, start, [conv.out_w as usize, channels], output.w as usize);
        }
    }
}

/// Up to a vector of channels of some output lines.
#[derive(Clone, Copy)]
pub(crate) struct ChannelStrip<'c> {
    pub(crate) conv: &'c Conv2d,
    pub(crate) images: &'c LaneImages,
    pub(crate) lines: &'c OutputLines,
    /// The first channel, and the number of channels.
    pub(crate) channel: usize,
    pub(crate) count: usize,
    /// The channels' weights.
    pub(crate) weights: *const f32,
}

/// Computes a strip, in a function of its own, so that its sums get all registers. A group has `G` input
/// channels, and as many output channels, or more if it `SPREADS` its only input channel.
///
/// # Safety
/// The machine has `S`; the strip's operands are those of [`run`].
#[inline(never)]
unsafe fn strip_line<S: Simd, const G: usize, const SPREADS: bool>(strip: ChannelStrip<'_>) {
    // SAFETY: the caller's promise.
    unsafe { S::vectorize(StripTask::<G, SPREADS>(strip)) }
}

struct StripTask<'c, const G: usize, const SPREADS: bool>(ChannelStrip<'c>);

impl<S: Simd, const G: usize, const SPREADS: bool> Task<S> for StripTask<'_, G, SPREADS> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        // SAFETY: the caller's promise; `First` is as wide as the strip.
        unsafe {
            if self.0.count == S::LANES {
                Tiles::<S, AllLanes, G, SPREADS>::new(s, AllLanes, self.0).line();
            } else {
                Tiles::<S, First<S>, G, SPREADS>::new(s, First(s.mask(self.0.count)), self.0).line();
            }
        }
    }
}

/// The state shared by the tiles of a strip.
struct Tiles<'c, S: Simd, W, const G: usize, const SPREADS: bool> {
    s: S,
    width: W,
    strip: ChannelStrip<'c>,
    bias: S::F,
    /// For each input channel of a group, the permutation: the input lane of each output lane.
    lanes: [S::I; G],
    /// The input channels of the strip, if they are fewer than its output channels.
    inputs: First<S>,
    /// The line's first pixel of each image, at the strip's first channel of it; the residual may be null.
    x: *const f32,
    out: *mut f32,
    residual: *const f32,
}

impl<'c, S: Simd, W: Width<S>, const G: usize, const SPREADS: bool> Tiles<'c, S, W, G, SPREADS> {
    #[inline(always)]
    unsafe fn new(s: S, width: W, strip: ChannelStrip<'c>) -> Self {
        let ChannelStrip { conv, images, lines: line, channel, count, .. } = strip;
        let outputs = if SPREADS { conv.out_group as usize } else { 1 };
        // The lanes of the first group that belong to the strip before this one.
        let before = channel % outputs;
        let mut lanes = [s.splat_int(0); G];
        for (j, lanes) in lanes.iter_mut().enumerate() {
            let row: [i32; 16] = std::array::from_fn(|lane| ((before + lane) / outputs / G * G + j) as i32);
            // SAFETY: the row has 16 lanes.
            *lanes = unsafe { s.load_int(row.as_ptr()) };
        }
        let pixel = Pixel { n: line.n, y: line.y, x: 0 };
        let image = Pixel { n: line.n, y: 0, x: 0 };
        // SAFETY: bias has all channels and the images all pixels, where they are given.
        unsafe {
            let bias =
                if images.bias.is_null() { s.splat(0.0) } else { width.load(s, images.bias.add(channel)) };
            let residual = images.residual.cast::<f32>();
            let residual = if residual.is_null() {
                residual
            } else {
                residual.add(conv.strides.residual.offset(pixel) + channel)
            };
            let x = images.x.cast::<f32>().add(conv.strides.input.offset(image) + channel / outputs);
            let out = images.out.cast::<f32>().add(conv.strides.output.offset(pixel) + channel);
            let inputs = First(s.mask((before + count).div_ceil(outputs)));
            Tiles { s, width, strip, bias, lanes, inputs, x, out, residual }
        }
    }

    /// Computes the line: tiles of 8, then of 4 pixels if every tap is inside, and single pixels elsewhere.
    #[inline(always)]
    unsafe fn line(&self) {
        let ChannelStrip { conv, lines: line, .. } = self.strip;
        let width = conv.kernel_w as usize;
        let mut x = 0;
        while x < conv.out_w as usize {
            let inside = if line.interior.contains(&x) { line.interior.end - x } else { 0 };
            // SAFETY: the pixels are inside the line, and every tap given is inside the image.
            x += unsafe {
                match inside {
                    8.. => self.tile::<8>(x, 0..width, 0..width),
                    4.. => self.tile::<4>(x, 0..width, 0..width),
                    1.. => self.tile::<1>(x, 0..width, 0..width),
                    0 => {
                        let (pad, in_w) = (conv.pad_left, conv.in_w);
                        let kx = taps(x, conv.stride_w, conv.dilation_w, pad, conv.kernel_w, in_w);
                        let all = if conv.multiplies_padding() { 0..width } else { kx.clone() };
                        self.tile::<1>(x, kx, all)
                    }
                }
            };
        }
    }

    /// Computes `P` pixels from `x` on, with `taps` of each kernel row, of which those of `kx` are inside the
    /// image and the others read zeros; returns `P`.
    #[inline(always)]
    unsafe fn tile<const P: usize>(&self, x: usize, kx: Range<usize>, taps: Range<usize>) -> usize {
        let (s, conv) = (self.s, self.strip.conv);
        let mut sums = [self.bias; P];
        // SAFETY: the caller's promise: all pixels are inside the output, and the residual if there is one.
        unsafe {
            if !self.residual.is_null() {
                let step = conv.strides.residual.w as usize;
                for (p, sum) in sums.iter_mut().enumerate() {
                    *sum = s.add(*sum, self.width.load(s, self.residual.add((x + p) * step)));
                }
            }
            self.accumulate(x, kx, taps, &mut sums);
            if let Finish::Clip { lo, hi } = conv.activation.finish() {
                for sum in &mut sums {
                    *sum = math::clip(s, *sum, lo, hi);
                }
            }
            let step = conv.strides.output.w as usize;
            let to = self.out.add(x * step);
            for (p, &sum) in sums.iter().enumerate() {
                self.width.store(s, to.add(p * step), sum);
            }
        }
        P
    }

    /// Adds the products of the taps, in the order (ky, kx, j).
    #[inline(always)]
    unsafe fn accumulate<const P: usize>(
        &self,
        x: usize,
        inside: Range<usize>,
        taps: Range<usize>,
        sums: &mut [S::F; P],
    ) {
        let ChannelStrip { conv, lines: line, weights, .. } = self.strip;
        let s = self.s;
        let (h, w) = (conv.strides.input.h as usize, conv.strides.input.w as usize);
        let (step, tap_step) = (conv.stride_w as usize * w, conv.dilation_w as usize * w);
        let (top, left) = (line.y * conv.stride_h as usize, x * conv.stride_w as usize);
        for ky in line.ky.clone() {
            let y = top + ky * conv.dilation_h as usize - conv.pad_top as usize;
            // The first taps may lie outside: only those inside are read.
            let row = self.x.wrapping_add(y * h + left * w).wrapping_sub(conv.pad_left as usize * w);
            for kx in taps.clone() {
                let mut values = [s.splat(0.0); P];
                // SAFETY: the tap is inside the image; each tap has `G` rows of weights.
                unsafe {
                    let from = opaque(row.wrapping_add(kx * tap_step));
                    for (p, value) in values.iter_mut().enumerate().filter(|_| inside.contains(&kx)) {
                        let from = from.add(p * step);
                        *value = if SPREADS { self.inputs.load(s, from) } else { self.width.load(s, from) };
                    }
                    let tap = weights.add((ky * conv.kernel_w as usize + kx) * G * ROW);
                    for (j, &lanes) in self.lanes.iter().enumerate() {
                        let weight = s.load(tap.add(j * ROW));
                        for (sum, &value) in sums.iter_mut().zip(&values) {
                            let value = if G == 1 && !SPREADS { value } else { s.permute(value, lanes) };
                            *sum = s.mul_add(value, weight, *sum);
                        }
                    }
                }
            }
        }
    }
}
