//! How one output pixel's inputs are copied side by side into scratch (implicit im2col), with padding and prologue.

use crate::conv::{Conv2d, Images, Pixel, Prologue};
use crate::math;
use crate::simd::Simd;
use std::ops::Range;

/// A run of K whose inputs are contiguous: elements `valid` lie at `from`, the others are padding.
struct Run {
    from: *const f32,
    /// Distance between its elements.
    step: usize,
    valid: Range<usize>,
    /// The input channel of element 0.
    channel: usize,
}

/// Writes `depth` of the pixel's inputs, in the order (ky, kx, ci), to `to`; may write up to a vector more.
///
/// # Safety
/// `Conv2d`'s operands are valid; `to` is valid for `depth.len()` floats and a vector more.
#[inline(always)]
pub(crate) unsafe fn row<S: Simd>(
    s: S,
    conv: &Conv2d,
    images: &Images,
    pixel: Pixel,
    group: usize,
    depth: Range<usize>,
    to: *mut f32,
) {
    let (in_group, kernel_w) = (conv.in_group as usize, conv.kernel_w as usize);
    let merged = merges_taps(conv);
    let length = if merged { in_group * kernel_w } else { in_group };
    let mut k = depth.start;
    while k < depth.end {
        let (run, first) = (k / length, k % length);
        let last = length.min(first + depth.end - k);
        // SAFETY: the run's valid elements are inside the input; `to` has room for `depth`.
        unsafe {
            let run = if merged {
                whole_row(conv, images, pixel, run)
            } else {
                one_tap(conv, images, pixel, group, run / kernel_w, run % kernel_w)
            };
            copy(s, conv, images, &run, first..last, to.add(k - depth.start));
        }
        k += last - first;
    }
}

/// Whether the taps of a kernel row are contiguous in memory.
#[inline(always)]
fn merges_taps(conv: &Conv2d) -> bool {
    let dense = conv.strides.input.c == 1 && conv.strides.input.w == u64::from(conv.in_group);
    dense && conv.groups == 1 && conv.dilation_w == 1 && conv.prologue == Prologue::None
}

/// The input row of a tap, if it is inside the image.
#[inline(always)]
fn input_row(conv: &Conv2d, y: usize, ky: usize) -> Option<usize> {
    let at = y * conv.stride_h as usize + ky * conv.dilation_h as usize;
    at.checked_sub(conv.pad_top as usize).filter(|&iy| iy < conv.in_h as usize)
}

/// All taps of kernel row `ky`: elements before the image's left edge and behind its right are padding.
#[inline(always)]
fn whole_row(conv: &Conv2d, images: &Images, pixel: Pixel, ky: usize) -> Run {
    let (channels, in_w) = (conv.in_group as usize, conv.in_w as usize);
    let (x, pad) = (pixel.x * conv.stride_w as usize, conv.pad_left as usize);
    let valid = match input_row(conv, pixel.y, ky) {
        Some(_) => {
            let first = pad.saturating_sub(x);
            first..(in_w + pad).saturating_sub(x).clamp(first, first.max(conv.kernel_w as usize))
        }
        None => 0..0,
    };
    let row = pixel.n * conv.strides.input.n as usize
        + input_row(conv, pixel.y, ky).unwrap_or(0) * conv.strides.input.h as usize;
    // The first elements may be padding, before the row's start: the pointer is only formed, not read.
    let from = images.x.wrapping_add(row + x * channels).wrapping_sub(pad * channels);
    Run { from, step: 1, valid: valid.start * channels..valid.end * channels, channel: 0 }
}

/// The channels of one tap.
#[inline(always)]
fn one_tap(conv: &Conv2d, images: &Images, pixel: Pixel, group: usize, ky: usize, kx: usize) -> Run {
    let at = pixel.x * conv.stride_w as usize + kx * conv.dilation_w as usize;
    let column = at.checked_sub(conv.pad_left as usize).filter(|&ix| ix < conv.in_w as usize);
    let input = &conv.strides.input;
    let (channel, step) = (group * conv.in_group as usize, input.c as usize);
    match (input_row(conv, pixel.y, ky), column) {
        (Some(y), Some(x)) => {
            let offset = input.offset(Pixel { n: pixel.n, y, x }) + channel * step;
            Run { from: images.x.wrapping_add(offset), step, valid: 0..conv.in_group as usize, channel }
        }
        _ => Run { from: images.x, step, valid: 0..0, channel },
    }
}

/// Copies elements `range` of a run: zeros, valid elements, zeros.
///
/// # Safety
/// The run's valid elements are readable; `to` is valid for `range.len()` floats and a vector more.
#[inline(always)]
unsafe fn copy<S: Simd>(s: S, conv: &Conv2d, images: &Images, run: &Run, range: Range<usize>, to: *mut f32) {
    let start = run.valid.start.clamp(range.start, range.end);
    let end = run.valid.end.clamp(start, range.end);
    // SAFETY: all three pieces are inside `range`; elements `start..end` are valid.
    unsafe {
        zero(s, to, start - range.start);
        let (at, n) = (to.add(start - range.start), end - start);
        if run.step != 1 {
            strided(conv, images, run, start..end, at);
        } else if conv.prologue == Prologue::None {
            let from = run.from.wrapping_add(start);
            let mut i = 0;
            while i + S::LANES <= n {
                s.store(at.add(i), s.load(from.add(i)));
                i += S::LANES;
            }
            if i < n {
                s.store(at.add(i), s.load_masked(from.add(i), s.mask(n - i)));
            }
        } else {
            prologue(s, conv, images, run, start..end, at);
        }
        zero(s, to.add(end - range.start), range.end - end);
    }
}

/// Copies elements that are not contiguous, one by one, with the prologue.
#[inline(always)]
unsafe fn strided(conv: &Conv2d, images: &Images, run: &Run, range: Range<usize>, to: *mut f32) {
    for (i, element) in range.enumerate() {
        // SAFETY: the caller's promise for the run and for `to`; scale and shift have all input channels.
        unsafe {
            let x = *run.from.add(element * run.step);
            let channel = run.channel + element;
            *to.add(i) = match conv.prologue {
                Prologue::None => x,
                Prologue::ScaleShift => x.mul_add(*images.scale.add(channel), *images.shift.add(channel)),
                Prologue::ScaleShiftRelu => {
                    crate::scalar::relu(x.mul_add(*images.scale.add(channel), *images.shift.add(channel)))
                }
            };
        }
    }
}

/// Copies contiguous elements with the prologue.
#[inline(always)]
unsafe fn prologue<S: Simd>(
    s: S,
    conv: &Conv2d,
    images: &Images,
    run: &Run,
    range: Range<usize>,
    to: *mut f32,
) {
    let mut i = range.start;
    while i < range.end {
        let mask = s.mask(range.end - i);
        // SAFETY: the caller's promise for the run and for `to`; scale and shift have all input channels.
        unsafe {
            let x = s.load_masked(run.from.add(i), mask);
            let scale = s.load_masked(images.scale.add(run.channel + i), mask);
            let shift = s.load_masked(images.shift.add(run.channel + i), mask);
            let value = s.mul_add(x, scale, shift);
            let relu = conv.prologue == Prologue::ScaleShiftRelu;
            s.store(to.add(i - range.start), if relu { math::relu(s, value) } else { value });
        }
        i += S::LANES;
    }
}

/// Writes `n` zeros, in whole vectors.
#[inline(always)]
unsafe fn zero<S: Simd>(s: S, to: *mut f32, n: usize) {
    let mut i = 0;
    while i < n {
        // SAFETY: the caller left room for a vector past the end.
        unsafe { s.store(to.add(i), s.splat(0.0)) };
        i += S::LANES;
    }
}
