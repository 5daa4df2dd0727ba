//! Implicit im2col of 8- and 16-bit images: the inputs of one output pixel are copied side by side into
//! scratch, with padding. The [`CopiedImage`] determines how numbers are stored and rounded.

use crate::conv::Conv2d;
use crate::gather::TapRange;
use crate::pixels::Pixel;
use crate::simd::Simd;
use std::ops::Range;

/// An image to copy from.
pub(crate) trait CopiedImage {
    /// A number of a copied row.
    type Number: Copy;

    /// The convolution.
    fn conv(&self) -> &Conv2d;

    /// The value of padding.
    fn padding(&self) -> Self::Number;

    /// Whether numbers are copied without a prologue, so that a whole kernel row may be one copy.
    fn is_plain(&self) -> bool;

    /// Copies `n` numbers from element `from` on, at the stride of channels. They belong to the channels of a
    /// group from `channel` on. May write up to a vector more.
    ///
    /// # Safety
    /// The elements are readable, and `to` is valid for a vector more.
    unsafe fn copy<S: Simd>(&self, s: S, channel: usize, from: isize, to: *mut Self::Number, n: usize);

    /// Copies `count` numbers of one channel: `from` is the first element and the step between elements, and
    /// `stride` the step between places in `to`.
    ///
    /// # Safety
    /// The elements are readable, and the places writable.
    unsafe fn copy_apart(&self, from: [isize; 2], to: *mut Self::Number, stride: usize, count: usize);

    /// Pads a row after K to a multiple of the numbers that are multiplied together.
    ///
    /// # Safety
    /// `to` is valid for the row and this padding.
    unsafe fn end_row(&self, to: *mut Self::Number);
}

/// Copies the inputs of one group of channels.
#[derive(Clone, Copy)]
pub(crate) struct RowCopies<'i, I> {
    image: &'i I,
    /// The group's first input channel.
    channel: usize,
    /// Whether the taps of a kernel row are contiguous.
    touching: bool,
}

impl<'i, I: CopiedImage> RowCopies<'i, I> {
    #[inline(always)]
    pub(crate) fn new(image: &'i I, group: usize) -> RowCopies<'i, I> {
        let conv = image.conv();
        let dense = conv.strides.input.c == 1 && conv.strides.input.w == u64::from(conv.in_group);
        let touching = dense && conv.dilation_w == 1 && image.is_plain();
        RowCopies { image, channel: group * conv.in_group as usize, touching }
    }

    /// Writes the im2col row of one pixel to `to`, with its padding after K; may write up to a vector more.
    ///
    /// # Safety
    /// The image is valid; `to` is valid for K, the padding after it, and a vector more.
    #[inline(always)]
    pub(crate) unsafe fn row<S: Simd>(&self, s: S, pixel: Pixel, to: *mut I::Number) {
        let conv = self.image.conv();
        let input = &conv.strides.input;
        let in_group = conv.in_group as usize;
        let width = conv.kernel_w as usize * in_group;
        let y = TapRange::of(pixel.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
        let x =
            TapRange::of(pixel.x, conv.stride_w, conv.dilation_w, conv.pad_left, conv.kernel_w, conv.in_w);
        let corner = (pixel.n * input.n as usize + self.channel * input.c as usize) as isize;
        let step = conv.dilation_w as isize * input.w as isize;
        let is_whole = [y.end - y.first, x.end - x.first] == [conv.kernel_h as usize, conv.kernel_w as usize];
        if is_whole && self.touching {
            let first = corner + y.origin * input.h as isize + x.origin * input.w as isize;
            let row_step = conv.dilation_h as isize * input.h as isize;
            // SAFETY: all taps are readable; the next copy overwrites what one writes past its end.
            return unsafe {
                for ky in 0..conv.kernel_h as usize {
                    let from = first + ky as isize * row_step;
                    self.image.copy(s, self.channel, from, to.add(ky * width), width);
                }
                self.image.end_row(to);
            };
        }
        // SAFETY: taps inside the image are readable; the next copy overwrites what one writes past its end.
        unsafe {
            for ky in 0..conv.kernel_h as usize {
                let to = to.add(ky * width);
                if ky < y.first || ky >= y.end {
                    self.pad(s, to, width);
                    continue;
                }
                let row = corner
                    + (y.origin + (ky * conv.dilation_h as usize) as isize) * input.h as isize
                    + x.origin * input.w as isize;
                let first = x.first * in_group;
                self.pad(s, to, first);
                if self.touching {
                    let count = (x.end - x.first) * in_group;
                    self.image.copy(s, self.channel, row + first as isize, to.add(first), count);
                } else {
                    for kx in x.first..x.end {
                        let from = row + kx as isize * step;
                        self.image.copy(s, self.channel, from, to.add(kx * in_group), in_group);
                    }
                }
                self.pad(s, to.add(x.end * in_group), width - x.end * in_group);
            }
            self.image.end_row(to);
        }
    }

    /// Whether the channels of a pixel are not contiguous (as in channels-first images) and there is no
    /// prologue.
    #[inline(always)]
    pub(crate) fn has_channels_apart(&self) -> bool {
        self.image.conv().strides.input.c != 1 && self.image.is_plain()
    }

    /// Like [`RowCopies::row`], for the pixels `rows` of an image whose channels are not contiguous. The rows
    /// are `stride` numbers apart. For each tap and channel, all pixels of an output line are copied in one
    /// loop.
    ///
    /// # Safety
    /// As for [`RowCopies::row`], for each of the rows.
    #[inline(always)]
    pub(crate) unsafe fn rows_apart(&self, rows: &Range<usize>, to: *mut I::Number, stride: usize) {
        for (pixel, done, count) in self.image.conv().output_lines(rows) {
            // SAFETY: passed on; the pixels are those of one output line.
            unsafe { self.line_apart(pixel, count, to.add(done * stride), stride) };
        }
    }

    /// The same for pixels of one output line.
    #[inline(always)]
    unsafe fn line_apart(&self, pixel: Pixel, count: usize, to: *mut I::Number, stride: usize) {
        let conv = self.image.conv();
        let input = &conv.strides.input;
        let [in_group, kernel_w] = [conv.in_group as usize, conv.kernel_w as usize];
        let y = TapRange::of(pixel.y, conv.stride_h, conv.dilation_h, conv.pad_top, conv.kernel_h, conv.in_h);
        let step = conv.stride_w as isize * input.w as isize;
        for tap in 0..conv.kernel_h as usize * kernel_w {
            let (ky, kx) = (tap / kernel_w, tap % kernel_w);
            let x = (pixel.x * conv.stride_w as usize + kx * conv.dilation_w as usize) as isize
                - conv.pad_left as isize;
            let inside = match ky >= y.first && ky < y.end {
                true => pixels_inside(x, conv.stride_w as isize, conv.in_w as isize, count),
                false => 0..0,
            };
            let row = y.origin + (ky * conv.dilation_h as usize) as isize;
            let corner = pixel.n as isize * input.n as isize
                + row * input.h as isize
                + (x + inside.start as isize * conv.stride_w as isize) * input.w as isize;
            for channel in 0..in_group {
                let from = corner + ((self.channel + channel) * input.c as usize) as isize;
                // SAFETY: pixels inside the image are readable, and each row has room for K.
                unsafe {
                    let to = to.add(tap * in_group + channel);
                    let outside = (0..inside.start).chain(inside.end..count);
                    outside.for_each(|index| *to.add(index * stride) = self.image.padding());
                    let first = to.add(inside.start * stride);
                    self.image.copy_apart([from, step], first, stride, inside.len());
                }
            }
        }
        // SAFETY: a row has room for K and what follows it.
        (0..count).for_each(|index| unsafe { self.image.end_row(to.add(index * stride)) });
    }

    /// Writes `n` numbers of padding, and up to a vector more.
    ///
    /// # Safety
    /// `to` is valid for it.
    #[inline(always)]
    unsafe fn pad<S: Simd>(&self, s: S, to: *mut I::Number, n: usize) {
        let in_vector = size_of::<f32>() * S::LANES / size_of::<I::Number>();
        let many = [self.image.padding(); 4];
        // SAFETY: numbers have 1, 2 or 4 bytes, so four of them fill at least a word.
        let bytes = unsafe { s.float(s.splat_int(many.as_ptr().cast::<i32>().read_unaligned())) };
        for i in (0..n).step_by(in_vector) {
            // SAFETY: the caller left room for a vector past the end.
            unsafe { s.store(to.add(i).cast(), bytes) };
        }
    }
}

/// The pixels, of `count`, that read inside an axis of `size` elements: the first reads at `x`, and each
/// further one `step` later.
#[inline(always)]
fn pixels_inside(x: isize, step: isize, size: isize, count: usize) -> Range<usize> {
    let below = |bound: isize| ((bound - x).max(0) + step - 1) / step;
    let end = (below(size) as usize).min(count);
    (below(0) as usize).min(end)..end
}
