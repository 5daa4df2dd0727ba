//! Convolutions of images with few channels: the channels of a pixel are whole pairs.
//!
//! Lines of the image are copied to scratch ([`crate::wide_lines`]) and rounded; an odd number of channels is
//! padded with a zero. The image's order of axes does not matter.

use super::gather::copy_words;
use super::{LINES_OF_TILES, PairConv2d, PairOperands, PairUnit, SLAB_TAIL, TILE};
use crate::bf16::{Numbers, StoredFloat, nearest_bf16};
use crate::conv::{Conv2d, Conv2dShape, ConvPrologue};
use crate::pixels::Pixel;
use crate::simd::Simd;
use crate::tiled::TILES_TOGETHER;
use crate::wide_lines::{LineRun, WideBlock, WideLines, WidenedImage};
use std::array::from_fn;

/// The most channels of a group. With more, copies of rows are a small part of the time: from 128 to 32
/// channels, a 3x3 kernel on 28 x 28 pixels takes 1.2 times as long with them, from 256 to 256 on 14 x 14 as
/// long (AMD EPYC (Zen 5)).
const MOST_CHANNELS: usize = 256;
/// The fewest output pixels of a line: tiles do not go beyond it. Lines of 7 take 0.5 to 0.9 of the time of
/// copied rows.
const LEAST_PIXELS: u32 = 7;
/// The most channels, each contiguous, that are put side by side as vectors.
const MOST_PLANES: usize = 4;
/// The most bytes of the lines of a block.
pub(super) const MOST_LINES: usize = 48 * 1024;

impl Conv2dShape {
    /// Whether the kernel for pairs, without a prologue, copies lines of the image where output lines have at
    /// least 7 pixels; with three channels in a group, everywhere. Batch and input do not matter.
    pub fn widens_to_pairs(&self) -> bool {
        self.widens_within(MOST_LINES) && self.in_channels / self.groups <= MOST_CHANNELS
    }

    /// The same for matrix tiles, with any number of channels: tiles multiply so fast that copies of rows are
    /// a large part of the time.
    pub(super) fn widens_to_tiles(&self) -> bool {
        self.widens_within(LINES_OF_TILES)
    }

    /// Whether lines can be copied of which those of a tile take at most `most` bytes.
    fn widens_within(&self, most: usize) -> bool {
        let Conv2dShape { kernel, stride, dilation, groups, in_channels, .. } = *self;
        let in_group = in_channels / groups;
        let touches = kernel[0] >= stride[0] && kernel[1] >= stride[1] && kernel[0] * kernel[1] > 1;
        let columns = (TILE - 1).saturating_mul(stride[1]).saturating_add(kernel[1]);
        let words = columns.saturating_mul(in_group.next_multiple_of(2)).saturating_add(SLAB_TAIL);
        let is_short = words.saturating_mul(size_of::<u16>() * kernel[0]) <= most;
        let is_even = in_group.is_multiple_of(2) && in_group >= 2;
        dilation == [1, 1] && touches && is_short && (is_even || in_group == 3)
    }

    /// Whether it does so in any order of the image's axes and as fast.
    pub fn widens_planes(&self) -> bool {
        self.widens_to_pairs() && self.groups == 1 && self.in_channels <= MOST_PLANES
    }
}

impl Conv2d {
    /// Whether lines can be copied for pairs, by what [`Conv2dShape::widens_to_pairs`] does not know. How
    /// weights are packed, which depends on the path if there are three channels, must not depend on the
    /// width.
    pub(super) fn may_widen(&self) -> bool {
        let has_tiles = self.out_w >= LEAST_PIXELS || !self.in_group.is_multiple_of(2);
        self.prologue == ConvPrologue::None && has_tiles
    }
}

impl PairConv2d {
    /// Numbers of a copied pixel.
    #[inline(always)]
    pub(super) fn pixel_numbers(&self) -> usize {
        (self.conv.in_group as usize).next_multiple_of(2)
    }

    /// The sizes of copied lines.
    #[inline(always)]
    pub(super) fn wide_lines(&self) -> WideLines<'_> {
        WideLines {
            conv: &self.conv,
            pixel: self.pixel_numbers() * size_of::<u16>(),
            beside: 0,
            most: self.most_lines(),
            tile: self.tile(),
            together: if self.unit == PairUnit::Tiles { TILES_TOGETHER } else { 1 },
        }
    }

    /// Output pixels whose lines take at most `slab` bytes. Sets the length of a copied line, and how many
    /// rows blocks may have in a line.
    pub(super) fn choose_lines(&mut self, slab: usize) -> usize {
        let WideBlock { pixels, line_bytes, together } = self.wide_lines().choose(slab);
        self.line_words = (line_bytes / size_of::<u16>()) as u32;
        self.conv.line = together as u32;
        pixels
    }
}

/// The channels of a group.
pub(super) struct GroupImage<'c> {
    pub(super) this: &'c PairConv2d,
    pub(super) images: &'c PairOperands,
    pub(super) group: usize,
}

impl WidenedImage for GroupImage<'_> {
    #[inline(always)]
    fn lines(&self) -> WideLines<'_> {
        self.this.wide_lines()
    }

    #[inline(always)]
    fn line_bytes(&self) -> usize {
        self.this.line_words as usize * size_of::<u16>()
    }

    #[inline(always)]
    fn group(&self) -> usize {
        self.group
    }

    #[inline(always)]
    unsafe fn copy_line<S: Simd>(&self, s: S, first: Pixel, count: usize, y: usize, to: *mut u8) {
        let input = &self.this.conv.strides.input;
        let pixel = self.this.pixel_numbers();
        let LineRun { before, inside, after, first } = self.lines().run(first, count, y);
        let channel = self.group * self.this.conv.in_group as usize;
        let at = input.offset(first) + channel * input.c as usize;
        let from = Numbers { start: self.images.x.cast_mut(), stored: self.this.input, first: at };
        let to = to.cast::<u16>();
        // SAFETY: the caller's promise; pixels inside are of the image. What a copy writes beyond is written
        // after.
        unsafe {
            to.write_bytes(0, before * pixel);
            let to = to.add(before * pixel);
            if inside > 0 {
                self.copy_pixels(s, from, to, inside);
            }
            to.add(inside * pixel).write_bytes(0, after * pixel);
        }
    }
}

impl GroupImage<'_> {
    /// Copies `count` pixels side by side, each padded to whole pairs. May write up to a vector more.
    ///
    /// # Safety
    /// `from` is the first pixel; `to` is valid for the pixels and a vector more.
    #[inline(always)]
    unsafe fn copy_pixels<S: Simd>(&self, s: S, from: Numbers, to: *mut u16, count: usize) {
        let conv = &self.this.conv;
        let [step, apart] = [conv.strides.input.w, conv.strides.input.c].map(|distance| distance as usize);
        let channels = conv.in_group as usize;
        let pixel = self.this.pixel_numbers();
        // SAFETY: the caller's promise.
        unsafe {
            match (apart, step, channels) {
                (1, _, 3) if step == 3 => pair_threes(s, from, to.cast(), count),
                (1, _, _) if [step, channels] == [pixel; 2] => round_numbers(s, from, to, count * pixel),
                (1, _, _) if channels == pixel => {
                    for index in 0..count {
                        round_numbers(s, from.from(index * step), to.add(index * pixel), channels);
                    }
                }
                (_, 1, 2) => pair_planes::<S, 2>(s, from, apart, to.cast(), count),
                (_, 1, 3) => pair_planes::<S, 3>(s, from, apart, to.cast(), count),
                (_, 1, 4) => pair_planes::<S, 4>(s, from, apart, to.cast(), count),
                _ => {
                    for channel in 0..pixel {
                        let from = from.from(channel * apart);
                        for index in 0..count {
                            let x = if channel < channels { from.one(index * step) } else { 0.0 };
                            *to.add(index * pixel + channel) = nearest_bf16(x);
                        }
                    }
                }
            }
        }
    }
}

/// Copies `count` contiguous numbers, rounded. May write up to a vector more: stores of a part of a vector
/// take long.
///
/// # Safety
/// `from` is valid for them, `to` for a vector more.
#[inline(always)]
unsafe fn round_numbers<S: Simd>(s: S, from: Numbers, to: *mut u16, count: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if from.stored == StoredFloat::Bf16 {
            return copy_words(s, from.start.cast_const().cast::<u16>().add(from.first), to, count);
        }
        for at in (0..count).step_by(S::LANES) {
            s.store_upper(to.add(at), S::LANES, s.nearest_bf16(from.load(s, at, count - at)));
        }
    }
}

/// Widens `count` pixels of three contiguous channels to two pairs. May write up to a vector more.
///
/// # Safety
/// `from` is valid for the pixels, `to` for as many pixels of two pairs and a vector more.
#[inline(always)]
unsafe fn pair_threes<S: Simd>(s: S, from: Numbers, to: *mut u32, count: usize) {
    // The channels of a vector's pixels are in two vectors, half a vector apart.
    let pixels = S::LANES / 2;
    let begin = |lane: usize| lane / 2 * 3 - if lane < pixels { 0 } else { pixels };
    // Even lanes have the first two channels, odd ones the third.
    let low: [i32; 16] = from_fn(|lane| (begin(lane) + lane % 2 * 2) as i32);
    let high: [i32; 16] = from_fn(|lane| (begin(lane) + 1) as i32);
    let is_odd: [f32; 16] = from_fn(|lane| (lane % 2) as f32);
    let is_later: [f32; 16] = from_fn(|lane| f32::from(u8::from(lane >= pixels)));
    // SAFETY: the caller's promise; a vector has at most 16 lanes.
    unsafe {
        let is_odd = s.load(is_odd.as_ptr());
        let is_later = s.load(is_later.as_ptr());
        let low = s.load_int(low.as_ptr().cast());
        let high = s.load_int(high.as_ptr().cast());
        for first in (0..count).step_by(pixels) {
            let left = 3 * (count - first);
            let earlier = from.load(s, 3 * first, left);
            let later = match left > pixels {
                true => from.load(s, 3 * first + pixels, left - pixels),
                false => s.splat(0.0),
            };
            let mut numbers = [s.splat(0.0); 2];
            for (numbers, lanes) in numbers.iter_mut().zip([low, high]) {
                let of_later = s.permute(later, lanes);
                *numbers = s.select_eq(is_later, s.splat(1.0), of_later, s.permute(earlier, lanes));
            }
            let [firsts, seconds] = numbers;
            let seconds = s.select_eq(is_odd, s.splat(1.0), s.splat(0.0), seconds);
            s.store(to.add(2 * first).cast(), pair_of(s, firsts, seconds));
        }
    }
}

/// Numbers as pairs, rounded, the first in the lower half.
#[inline(always)]
fn pair_of<S: Simd>(s: S, first: S::F, second: S::F) -> S::F {
    let low = s.and_int(s.shift_right::<16>(s.nearest_bf16(first)), s.splat_int(0xffff));
    let high = s.and_int(s.nearest_bf16(second), s.splat_int(0xffff_0000_u32 as i32));
    s.float(s.add_int(low, high))
}

/// Puts two to four channels of `count` pixels, each channel contiguous and `apart` numbers from the next,
/// side by side, as pairs. May write up to a vector more.
///
/// # Safety
/// `from` is valid for the pixels, `to` for as many pixels of whole pairs and a vector more.
#[inline(always)]
unsafe fn pair_planes<S: Simd, const CHANNELS: usize>(
    s: S,
    from: Numbers,
    apart: usize,
    to: *mut u32,
    count: usize,
) {
    let pairs = CHANNELS.div_ceil(2);
    let lanes: [f32; 16] = from_fn(|lane| f32::from_bits(lane as u32 / 2));
    let odd: [f32; 16] = from_fn(|lane| (lane % 2) as f32);
    for first in (0..count).step_by(S::LANES) {
        let left = count - first;
        // SAFETY: the caller's promise; a vector has at most 16 lanes.
        unsafe {
            let mut planes = [s.splat(0.0); 4];
            for (channel, plane) in planes.iter_mut().enumerate().take(CHANNELS) {
                *plane = from.load(s, channel * apart + first, left);
            }
            let [a, b, c, d] = planes;
            let to = to.add(first * pairs);
            let even_pairs = pair_of(s, a, b);
            if pairs == 1 {
                s.store(to.cast(), even_pairs);
                continue;
            }
            let odd_pairs = pair_of(s, c, d);
            let lanes = s.bits(s.load(lanes.as_ptr()));
            let odd = s.load(odd.as_ptr());
            for half in 0..if left > S::LANES / 2 { 2 } else { 1 } {
                let lanes = s.add_int(lanes, s.splat_int((half * S::LANES / 2) as i32));
                let even = s.permute(even_pairs, lanes);
                let value = s.select_eq(odd, s.splat(1.0), s.permute(odd_pairs, lanes), even);
                s.store(to.add(half * S::LANES).cast(), value);
            }
        }
    }
}
