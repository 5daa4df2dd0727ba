//! Implicit im2col: the inputs of one output pixel are copied contiguously into scratch, with padding and
//! prologue.
//!
//! The order is that of K: (ky, kx, ci). A *run* is a contiguous piece of memory in K: the channels of a tap,
//! or all taps of a kernel row if pixels are adjacent. The part of a run outside the image becomes zeros.

use crate::conv::{Conv2d, ConvOperands, ConvPrologue};
use crate::math;
use crate::pixels::Pixel;
use crate::simd::Simd;
use std::ops::Range;

/// The widest run, in vectors, that is copied for all pixels of a line before the next run.
const NARROW_VECTORS: usize = 2;

/// The copies of a block of K: elements, group and runs.
#[derive(Clone, Copy)]
pub(crate) struct Gather<'c> {
    conv: &'c Conv2d,
    images: &'c ConvOperands,
    /// The group's first input channel.
    channel: usize,
    /// Elements of a run, taps of a run, and runs of a kernel row.
    length: usize,
    taps: usize,
    of_row: usize,
    /// The start of the block in K: kernel row, run of the row, element of the run.
    corner: [usize; 3],
    /// Elements of K in the block.
    depth: usize,
}

impl<'c> Gather<'c> {
    /// The copies of elements `depth` of K for a group.
    #[inline(always)]
    pub(crate) fn new(
        conv: &'c Conv2d,
        images: &'c ConvOperands,
        group: usize,
        depth: Range<usize>,
    ) -> Gather<'c> {
        let (in_group, kernel_w) = (conv.in_group as usize, conv.kernel_w as usize);
        let touching = conv.strides.input.c == 1 && conv.strides.input.w == u64::from(conv.in_group);
        let whole = touching && conv.groups * conv.dilation_w == 1 && conv.prologue == ConvPrologue::None;
        let (taps, of_row) = if whole { (kernel_w, 1) } else { (1, kernel_w) };
        // An empty product has no depth.
        let length = (taps * in_group).max(1);
        let run = depth.start / length;
        let corner = [run / of_row, run % of_row, depth.start % length];
        Gather { conv, images, channel: group * in_group, length, taps, of_row, corner, depth: depth.len() }
    }

    /// Writes the block's elements for `count` pixels of a line, `stride` floats apart. It may write up to a
    /// vector more after the last pixel's.
    ///
    /// # Safety
    /// `Conv2d`'s operands are valid; `to` is valid for the pixels' elements and a vector more.
    #[inline(always)]
    pub(crate) unsafe fn line<S: Simd>(&self, s: S, first: Pixel, count: usize, to: *mut f32, stride: usize) {
        if self.depth == 0 {
            return;
        }
        let conv = self.conv;
        let is_narrow = self.length <= NARROW_VECTORS * S::LANES && self.depth == conv.depth();
        let is_apart = conv.strides.input.c != 1;
        let copies_lines = (is_narrow || is_apart) && conv.prologue == ConvPrologue::None;
        let inside = if copies_lines { self.pixels_inside(first.x, count) } else { 0..0 };
        let at = |index: usize| Pixel { x: first.x + index, ..first };
        // SAFETY: the caller's promise. Extra elements written after a pixel are overwritten by the next
        // pixel; interior pixels write only their own elements.
        unsafe {
            for index in 0..inside.start {
                self.row(s, at(index), to.add(index * stride));
            }
            if !inside.is_empty() {
                let first = at(inside.start);
                let to = to.add(inside.start * stride);
                if is_apart {
                    self.taps_apart(first, inside.len(), to, stride);
                } else {
                    self.taps(s, first, inside.len(), to, stride);
                }
            }
            for index in inside.end..count {
                self.row(s, at(index), to.add(index * stride));
            }
        }
    }

    /// Whether elements are copied unchanged and are contiguous in memory.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.conv.strides.input.c == 1 && self.conv.prologue == ConvPrologue::None
    }

    /// The range of those of `count` pixels of a line, the first in column `x`, whose taps are all in columns
    /// of the image.
    #[inline(always)]
    fn pixels_inside(&self, x: usize, count: usize) -> Range<usize> {
        let Conv2d { stride_w, dilation_w, kernel_w, pad_left, in_w, .. } = *self.conv;
        let begin = pad_left.div_ceil(stride_w) as usize;
        let end = (in_w + pad_left).checked_sub((kernel_w - 1) * dilation_w + 1);
        let end = end.map_or(0, |last| (last / stride_w) as usize + 1);
        let first = begin.saturating_sub(x).min(count);
        first..end.saturating_sub(x).clamp(first, count)
    }

    /// Copies all of K, run by run, for pixels of a line whose taps are all in columns of the image. Each
    /// copy of a run after the first takes two additions.
    ///
    /// # Safety
    /// The taps are readable if their row is in the image; `to` is valid for the pixels' elements.
    #[inline(always)]
    unsafe fn taps<S: Simd>(&self, s: S, first: Pixel, count: usize, to: *mut f32, stride: usize) {
        let (conv, input) = (self.conv, &self.conv.strides.input);
        let y = TapRange::of(first.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
        let x = (first.x * conv.stride_w as usize) as isize - conv.pad_left as isize;
        let corner = (first.n * input.n as usize + self.channel) as isize;
        let origin = corner + y.origin * input.h as isize + x * input.w as isize;
        let row_step = conv.dilation_h as isize * input.h as isize;
        let run_step = self.taps as isize * conv.dilation_w as isize * input.w as isize;
        let pixel_step = conv.stride_w as usize * input.w as usize;
        for ky in 0..conv.kernel_h as usize {
            let is_inside = ky >= y.first && ky < y.end;
            for run in 0..self.of_row {
                let offset = origin + ky as isize * row_step + run as isize * run_step;
                let from = self.images.x.wrapping_offset(offset);
                let to = to.wrapping_add((ky * self.of_row + run) * self.length);
                for lane in (0..self.length).step_by(S::LANES) {
                    let left = self.length - lane;
                    let mut from = from.wrapping_add(lane);
                    let mut to = to.wrapping_add(lane);
                    for _ in 0..count {
                        // SAFETY: the caller's promise.
                        unsafe {
                            let elements = if is_inside { s.load_first(from, left) } else { s.splat(0.0) };
                            s.store_first(to, left, elements);
                        }
                        from = from.wrapping_add(pixel_step);
                        to = to.wrapping_add(stride);
                    }
                }
            }
        }
    }

    /// Copies the block of K, element by element, for the same pixels where channels are not contiguous. The
    /// elements of one channel are often close together.
    ///
    /// # Safety
    /// That of [`Gather::taps`].
    #[inline(always)]
    unsafe fn taps_apart(&self, first: Pixel, count: usize, to: *mut f32, stride: usize) {
        let (conv, input) = (self.conv, &self.conv.strides.input);
        let y = TapRange::of(first.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
        let column = (first.x * conv.stride_w as usize) as isize - conv.pad_left as isize;
        let image = first.n * input.n as usize + self.channel * input.c as usize;
        let pixel_step = conv.stride_w as usize * input.w as usize;
        let start = (self.corner[0] * self.of_row + self.corner[1]) * self.length + self.corner[2];
        for k in 0..self.depth {
            let at = start + k;
            let (tap, channel) = (at / conv.in_group as usize, at % conv.in_group as usize);
            let (ky, kx) = (tap / conv.kernel_w as usize, tap % conv.kernel_w as usize);
            let row = y.origin + (ky * conv.dilation_h as usize) as isize;
            let x = column + (kx * conv.dilation_w as usize) as isize;
            let offset = row * input.h as isize + x * input.w as isize;
            let mut from = self.images.x.wrapping_add(image + channel * input.c as usize);
            from = from.wrapping_offset(offset);
            let mut to = to.wrapping_add(k);
            let is_inside = ky >= y.first && ky < y.end;
            for _ in 0..count {
                // SAFETY: the caller's promise.
                unsafe { *to = if is_inside { *from } else { 0.0 } };
                from = from.wrapping_add(pixel_step);
                to = to.wrapping_add(stride);
            }
        }
    }

    /// Writes the block's elements for one pixel to `to`; may write up to a vector more.
    ///
    /// # Safety
    /// `Conv2d`'s operands are valid; `to` is valid for the block's depth and a vector more.
    #[inline(always)]
    unsafe fn row<S: Simd>(&self, s: S, pixel: Pixel, to: *mut f32) {
        let (conv, input) = (self.conv, &self.conv.strides.input);
        let y = TapRange::of(pixel.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
        let x =
            TapRange::of(pixel.x, conv.stride_w, conv.dilation_w, conv.pad_left, conv.kernel_w, conv.in_w);
        let corner = (pixel.n * input.n as usize + self.channel * input.c as usize) as isize;
        let origin = corner + y.origin * input.h as isize + x.origin * input.w as isize;
        let row_step = conv.dilation_h as isize * input.h as isize;
        let run_step = self.taps as isize * conv.dilation_w as isize * input.w as isize;
        if self.is_plain() && self.depth == conv.depth() {
            let from = self.images.x.wrapping_offset(origin);
            // SAFETY: the taps given by `y` and `x` are inside the image, and the block is all of K.
            return unsafe {
                if y.is_all(conv.kernel_h) && x.is_all(conv.kernel_w) {
                    self.interior(s, from, [row_step, run_step], to)
                } else {
                    self.border(s, from, [row_step, run_step], [y, x], to)
                }
            };
        }
        let [mut ky, mut run, mut element] = self.corner;
        let mut done = 0;
        while done < self.depth {
            let range = element..self.length.min(element + self.depth - done);
            done += range.len();
            // Only elements of taps inside the image are read; the pointer itself may lie outside.
            let from =
                self.images.x.wrapping_offset(origin + ky as isize * row_step + run as isize * run_step);
            // SAFETY: elements of taps inside the image are readable; `to` has room for `depth` and a vector.
            unsafe {
                let to = to.add(done - range.len());
                let taps = if ky >= y.first && ky < y.end { x.of_run(run, self.taps) } else { 0..0 };
                self.copy_padded(s, from, taps, range, to);
            }
            (run, element) = (run + 1, 0);
            if run == self.of_row {
                (run, ky) = (0, ky + 1);
            }
        }
    }

    /// Copies all of K for a pixel whose taps are all inside the image, the first at `origin`, without a
    /// prologue.
    ///
    /// # Safety
    /// The taps are readable; `to` is valid for all of K and a vector more.
    #[inline(always)]
    unsafe fn interior<S: Simd>(&self, s: S, origin: *const f32, steps: [isize; 2], to: *mut f32) {
        let (mut row, mut to) = (origin, to);
        for _ in 0..self.conv.kernel_h {
            let mut from = row;
            for _ in 0..self.of_row {
                // SAFETY: the run is inside the image.
                unsafe {
                    copy(s, from, to, self.length);
                    to = to.add(self.length);
                }
                from = from.wrapping_offset(steps[1]);
            }
            row = row.wrapping_offset(steps[0]);
        }
    }

    /// The same for a pixel with only the taps given by `y` and `x` inside the image: for each kernel row
    /// zeros, taps, zeros.
    ///
    /// # Safety
    /// Those taps are readable, tap 0 at `origin`; `to` is valid for all of K and a vector more.
    #[inline(always)]
    unsafe fn border<S: Simd>(
        &self,
        s: S,
        origin: *const f32,
        steps: [isize; 2],
        [y, x]: [TapRange; 2],
        to: *mut f32,
    ) {
        let (in_group, width) = (self.conv.in_group as usize, self.of_row * self.length);
        let (left, right) = (x.first * in_group, x.end * in_group);
        for ky in 0..self.conv.kernel_h as usize {
            // Only elements of taps inside the image are read; the pointer itself may lie outside.
            let from = origin.wrapping_offset(ky as isize * steps[0]);
            // SAFETY: `to` has room for the row; extra elements of a copy are overwritten by the next one.
            unsafe {
                let to = to.add(ky * width);
                if ky < y.first || ky >= y.end {
                    zero(s, to, width);
                    continue;
                }
                zero(s, to, left);
                if self.of_row == 1 {
                    copy(s, from.wrapping_add(left), to.add(left), right - left);
                } else {
                    for kx in x.first..x.end {
                        copy(
                            s,
                            from.wrapping_offset(kx as isize * steps[1]),
                            to.add(kx * in_group),
                            in_group,
                        );
                    }
                }
                zero(s, to.add(right), width - right);
            }
        }
    }

    /// Copies elements `range` of a run with only `taps` inside the image: zeros, elements, zeros.
    ///
    /// # Safety
    /// The elements of `taps` are readable; `to` is valid for `range.len()` floats and a vector more.
    #[inline(always)]
    unsafe fn copy_padded<S: Simd>(
        &self,
        s: S,
        from: *const f32,
        taps: Range<usize>,
        range: Range<usize>,
        to: *mut f32,
    ) {
        let in_group = self.conv.in_group as usize;
        let start = (taps.start * in_group).clamp(range.start, range.end);
        let end = (taps.end * in_group).clamp(start, range.end);
        let step = self.conv.strides.input.c as usize;
        // SAFETY: all three pieces are inside `range`; elements `start..end` are readable.
        unsafe {
            zero(s, to, start - range.start);
            let at = to.add(start - range.start);
            if step == 1 {
                copy(s, from.wrapping_add(start), at, end - start);
            } else {
                for (i, element) in (start..end).enumerate() {
                    *at.add(i) = *from.wrapping_add(element * step);
                }
            }
            if self.conv.prologue != ConvPrologue::None {
                self.prologue(s, start..end, at);
            }
            zero(s, to.add(end - range.start), range.end - end);
        }
    }

    /// Applies the prologue to the elements `range` of a tap, already copied to `at`.
    ///
    /// # Safety
    /// Scale and shift have all input channels; `at` is valid for the elements and a vector more.
    #[inline(always)]
    unsafe fn prologue<S: Simd>(&self, s: S, range: Range<usize>, at: *mut f32) {
        let relu = self.conv.prologue == ConvPrologue::ScaleShiftRelu;
        let first = self.channel + range.start;
        for i in (0..range.len()).step_by(S::LANES) {
            let left = range.len() - i;
            // SAFETY: the caller's promise.
            unsafe {
                let scale = s.load_first(self.images.scale.add(first + i), left);
                let shift = s.load_first(self.images.shift.add(first + i), left);
                let value = s.mul_add(s.load(at.add(i)), scale, shift);
                s.store(at.add(i), if relu { math::relu(s, value) } else { value });
            }
        }
    }
}

/// The part of an axis's taps that is inside the image.
#[derive(Clone, Copy)]
pub(crate) struct TapRange {
    /// The input index of tap 0, which may be negative.
    pub(crate) origin: isize,
    pub(crate) first: usize,
    pub(crate) end: usize,
}

impl TapRange {
    #[inline(always)]
    pub(crate) fn of(at: usize, stride: u32, dilation: u32, pad: u32, kernel: u32, size: u32) -> TapRange {
        let origin = (at * stride as usize) as isize - pad as isize;
        let last = origin + ((kernel - 1) * dilation) as isize;
        if origin >= 0 && last < size as isize {
            return TapRange { origin, first: 0, end: kernel as usize };
        }
        let dilation = dilation as isize;
        let first = (((-origin).max(0) + dilation - 1) / dilation).min(kernel as isize);
        let end = ((size as isize - origin).max(0) + dilation - 1) / dilation;
        let end = end.min(kernel as isize).max(first);
        TapRange { origin, first: first as usize, end: end as usize }
    }

    /// Whether all taps are inside.
    #[inline(always)]
    fn is_all(&self, kernel: u32) -> bool {
        self.first == 0 && self.end == kernel as usize
    }

    /// For run `run` of a kernel row, its taps inside the image, counted from the run's first.
    #[inline(always)]
    fn of_run(&self, run: usize, taps: usize) -> Range<usize> {
        let begin = run * taps;
        self.first.clamp(begin, begin + taps) - begin..self.end.clamp(begin, begin + taps) - begin
    }
}

/// Copies `n` floats; may write up to a vector more.
///
/// # Safety
/// `from` is valid for `n` floats, `to` for a vector more.
#[inline(always)]
pub(crate) unsafe fn copy<S: Simd>(s: S, from: *const f32, to: *mut f32, n: usize) {
    let mut i = 0;
    // SAFETY: the caller's promise.
    unsafe {
        while i + S::LANES <= n {
            s.store(to.add(i), s.load(from.add(i)));
            i += S::LANES;
        }
        if i < n {
            s.store(to.add(i), s.load_masked(from.add(i), s.mask(n - i)));
        }
    }
}

/// Writes `n` zeros, and up to a vector more.
///
/// # Safety
/// `to` is valid for them.
#[inline(always)]
pub(crate) unsafe fn zero<S: Simd>(s: S, to: *mut f32, n: usize) {
    let mut i = 0;
    while i < n {
        // SAFETY: the caller left room for a vector past the end.
        unsafe { s.store(to.add(i), s.splat(0.0)) };
        i += S::LANES;
    }
}
