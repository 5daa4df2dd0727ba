//! How depthwise convolutions and narrow groups run: a vector holds consecutive channels, of several groups at once.
//!
//! With groups of G channels (G = 1, 2, 4, 8), output lane l of group l / G needs, for the j-th input channel of its group, input
//! lane (l / G) * G + j of the same vector: one permutation per j, and none for G = 1. So all lanes do useful work, and the input is
//! read in place. Taps outside the image are left out.

use crate::abi::piece;
use crate::conv::{Conv2d, Images, Pixel};
use crate::map::{Finish, apply};
use crate::math;
use crate::pack::{PANEL, Panel};
use crate::simd::Simd;
use std::ops::Range;

/// Up to a vector of channels of one output line.
#[derive(Clone, Copy)]
struct Strip<'c> {
    conv: &'c Conv2d,
    images: &'c Images,
    line: &'c Line,
    /// The first channel, and how many there are.
    channel: usize,
    channels: usize,
    /// The channels' weights, rows of 16 floats.
    weights: *const f32,
}

/// An output line.
struct Line {
    n: usize,
    y: usize,
    /// The kernel rows inside the image.
    ky: Range<usize>,
    /// The pixels for which every tap is inside the image's columns.
    interior: Range<usize>,
}

impl Line {
    #[inline(always)]
    fn new(conv: &Conv2d, line: usize) -> Line {
        let (stride, pad) = (conv.stride_w as usize, conv.pad_left as usize);
        let reach = (conv.kernel_w as usize - 1) * conv.dilation_w as usize;
        let first = pad.div_ceil(stride).min(conv.out_w as usize);
        let end = (conv.in_w as usize + pad).checked_sub(reach + 1).map_or(0, |last| last / stride + 1);
        let y = line % conv.out_h as usize;
        Line {
            n: line / conv.out_h as usize,
            y,
            ky: taps(y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h),
            interior: first..end.clamp(first, (conv.out_w as usize).max(first)),
        }
    }
}

/// Runs part `part`: a range of output lines and of panels.
///
/// # Safety
/// That of [`crate::KernelFn`], with `Conv2d`'s operands.
#[inline(always)]
pub(crate) unsafe fn run<S: Simd>(s: S, conv: &Conv2d, images: &Images, part: usize) {
    // SAFETY: the caller's promise; the path is chosen for these groups only.
    unsafe {
        match conv.in_group {
            1 => part_of::<S, 1>(s, conv, images, part),
            2 => part_of::<S, 2>(s, conv, images, part),
            4 => part_of::<S, 4>(s, conv, images, part),
            _ => part_of::<S, 8>(s, conv, images, part),
        }
    }
}

#[inline(always)]
unsafe fn part_of<S: Simd, const G: usize>(s: S, conv: &Conv2d, images: &Images, part: usize) {
    let panel_parts = conv.panel_parts as usize;
    let panels = piece(conv.panels().count(), panel_parts, part % panel_parts);
    let lines = conv.batch as usize * conv.out_h as usize;
    for index in piece(lines, conv.row_parts as usize, part / panel_parts) {
        let line = &Line::new(conv, index);
        for index in panels.clone() {
            let panel: Panel = conv.panels().get(index);
            for lane in (0..panel.count).step_by(S::LANES) {
                let (channel, channels) = (panel.first + lane, (panel.count - lane).min(S::LANES));
                // SAFETY: the caller's promise; the panel's weights start at its offset.
                unsafe {
                    let weights = images.weights.add(panel.offset + lane);
                    strip_line::<S, G>(s, Strip { conv, images, line, channel, channels, weights });
                }
            }
        }
        // SAFETY: these outputs were just written by this part.
        unsafe { activate(s, conv, images, line, panels.clone()) };
    }
}

/// Applies a function that the tiles left for later to a line's outputs.
#[inline(always)]
unsafe fn activate<S: Simd>(s: S, conv: &Conv2d, images: &Images, line: &Line, panels: Range<usize>) {
    if !conv.activation.is_deferred() || panels.is_empty() {
        return;
    }
    let (first, last) = (conv.panels().get(panels.start), conv.panels().get(panels.end - 1));
    let channels = last.first + last.count - first.first;
    for x in 0..conv.out_w as usize {
        let pixel = Pixel { n: line.n, y: line.y, x };
        // SAFETY: the pixel's channels are outputs of this part.
        unsafe {
            let at = images.out.add(conv.strides.output.offset(pixel) + first.first);
            apply(s, conv.activation, at, at, channels);
        }
    }
}

#[inline(always)]
unsafe fn strip_line<S: Simd, const G: usize>(s: S, strip: Strip<'_>) {
    let Strip { conv, line, .. } = strip;
    let mut x = 0;
    while x < conv.out_w as usize {
        let inside = line.interior.contains(&x);
        let left = if inside { line.interior.end - x } else { 1 };
        let kx = if inside {
            0..conv.kernel_w as usize
        } else {
            taps(x, conv.stride_w, conv.dilation_w, conv.pad_left, conv.kernel_w, conv.in_w)
        };
        // SAFETY: the caller's promise; the pixels are inside the line, and those of the interior have the same taps.
        x += unsafe {
            match left {
                8.. => tile::<S, G, 8>(s, strip, x, kx),
                4.. => tile::<S, G, 4>(s, strip, x, kx),
                _ => tile::<S, G, 1>(s, strip, x, kx),
            }
        };
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

/// Computes `P` pixels from `x` on, which have the same taps inside the image; returns `P`.
#[inline(always)]
unsafe fn tile<S: Simd, const G: usize, const P: usize>(
    s: S,
    strip: Strip<'_>,
    x: usize,
    kx: Range<usize>,
) -> usize {
    let Strip { conv, images, channels, .. } = strip;
    let pixel = Pixel { n: strip.line.n, y: strip.line.y, x };
    let mut lanes = [s.splat_int(0); G];
    for (j, lanes) in lanes.iter_mut().enumerate() {
        // SAFETY: a row of the table has 16 lanes.
        *lanes = unsafe { s.load_int(permutation::<G>(j).as_ptr()) };
    }
    // SAFETY: the caller's promise; the output has the strip's channels of all `P` pixels.
    unsafe {
        let mut sums = begin::<S, P>(s, strip, pixel);
        accumulate::<S, G, P>(s, strip, (x, kx), lanes, &mut sums);
        let output = &conv.strides.output;
        let to = images.out.add(output.offset(pixel) + strip.channel);
        for (p, sum) in sums.into_iter().enumerate() {
            let value = match conv.activation.finish() {
                Finish::Clip { lo, hi } => math::clip(s, sum, lo, hi),
                Finish::Store => sum,
            };
            s.store_first(to.add(p * output.w as usize), channels, value);
        }
    }
    P
}

/// Adds the products of all taps inside the image, in the order (ky, kx, j).
#[inline(always)]
unsafe fn accumulate<S: Simd, const G: usize, const P: usize>(
    s: S,
    strip: Strip<'_>,
    (x, taps): (usize, Range<usize>),
    lanes: [S::I; G],
    sums: &mut [S::F; P],
) {
    let Strip { conv, images, line, .. } = strip;
    let input = &conv.strides.input;
    let step = conv.stride_w as usize * input.w as usize;
    let [top, left] = [line.y * conv.stride_h as usize, x * conv.stride_w as usize];
    for ky in line.ky.clone() {
        let y = top + ky * conv.dilation_h as usize - conv.pad_top as usize;
        for kx in taps.clone() {
            let x = left + kx * conv.dilation_w as usize - conv.pad_left as usize;
            let tap = ky * conv.kernel_w as usize + kx;
            let mut values = [s.splat(0.0); P];
            // SAFETY: `taps` keeps to the image, masks to the strip's channels; each tap has `G` rows of weights.
            unsafe {
                let from = images.x.add(input.offset(Pixel { n: line.n, y, x }) + strip.channel);
                for (p, value) in values.iter_mut().enumerate() {
                    *value = s.load_first(from.add(p * step), strip.channels);
                }
                for (j, &lanes) in lanes.iter().enumerate() {
                    let weight = s.load(strip.weights.add((tap * G + j) * PANEL / 2));
                    for (sum, &value) in sums.iter_mut().zip(&values) {
                        let value = if G == 1 { value } else { s.permute(value, lanes) };
                        *sum = s.mul_add(value, weight, *sum);
                    }
                }
            }
        }
    }
}

/// Bias + residual for each pixel.
#[inline(always)]
unsafe fn begin<S: Simd, const P: usize>(s: S, strip: Strip<'_>, pixel: Pixel) -> [S::F; P] {
    let Strip { conv, images, channel, channels, .. } = strip;
    let mut sums = [s.splat(0.0); P];
    // SAFETY: bias has all channels, the residual all output pixels, where they are given.
    unsafe {
        if !images.bias.is_null() {
            sums = [s.load_first(images.bias.add(channel), channels); P];
        }
        if !images.residual.is_null() {
            let residual = &conv.strides.residual;
            let from = images.residual.add(residual.offset(pixel) + channel);
            for (p, sum) in sums.iter_mut().enumerate() {
                let value = s.load_first(from.add(p * residual.w as usize), channels);
                *sum = s.add(*sum, value);
            }
        }
    }
    sums
}

/// For output lane l in groups of `G`: the lane of its group's input channel `j`.
#[inline(always)]
fn permutation<const G: usize>(j: usize) -> [i32; 16] {
    std::array::from_fn(|lane| (lane / G * G + j) as i32)
}
