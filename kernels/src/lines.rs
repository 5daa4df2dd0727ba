//! Lines of an image whose channels lie apart, made ready for the copies of a convolution: converted, with
//! the channels of a pixel side by side and with padding. Then all taps of a kernel row are one stretch of a
//! line, and a line is read from the image once for all output lines that need it.

use crate::conv::{Conv2d, ConvPrologue};
use crate::im2col::CopiedImage;
use crate::pixels::Pixel;
use crate::simd::Simd;
use std::ops::Range;

/// The most bytes of a worker's scratch for lines.
pub(crate) const MOST_BYTES: usize = 16 * 1024;
/// Bytes of a vector, which a copy of a stretch may read and write too much.
const VECTOR: usize = 64;

/// Numbers of `size` bytes of a line, with room for a vector after it; none if the convolution copies its
/// rows otherwise.
pub(crate) fn line_numbers(conv: &Conv2d, size: usize) -> Option<usize> {
    let is_copied = conv.strides.input.c != 1 && conv.prologue == ConvPrologue::None && conv.in_group > 0;
    let has_stretches = conv.kernel_w > 1 && conv.dilation_w == 1 && conv.dilation_h == 1;
    let pixels = (conv.out_w as usize).saturating_sub(1) * conv.stride_w as usize + conv.kernel_w as usize;
    let vector = VECTOR / size;
    let numbers = (pixels * conv.in_group as usize).next_multiple_of(vector) + vector;
    let is_short = numbers * size * conv.kernel_h as usize <= MOST_BYTES;
    (is_copied && has_stretches && is_short).then_some(numbers)
}

/// The lines that a worker has ready: line `y` at `y % kernel_h`.
pub(crate) struct Lines {
    /// Image and group that they are of, if there are any.
    of: Option<[usize; 2]>,
    /// Which lines, counted from the first of the padding.
    ready: Range<usize>,
}

impl Lines {
    /// None are ready.
    pub(crate) fn none() -> Lines {
        Lines { of: None, ready: 0..0 }
    }

    /// Writes all of K for `count` pixels from `first` on, which are of one output line, to rows that are
    /// `stride` numbers from each other, and what follows K; may write up to a vector more.
    ///
    /// # Safety
    /// The image is valid, `lines` is valid for `kernel_h` lines of `length` numbers and holds what this
    /// says; `to` is valid for the rows and a vector more.
    #[inline(always)]
    pub(crate) unsafe fn rows<S: Simd, I: CopiedImage>(
        &mut self,
        s: S,
        image: &I,
        group: usize,
        (first, count): (Pixel, usize),
        (lines, length): (*mut I::Number, usize),
        (to, stride): (*mut I::Number, usize),
    ) {
        let conv = image.conv();
        let [in_group, kernel_h] = [conv.in_group as usize, conv.kernel_h as usize];
        let width = conv.kernel_w as usize * in_group;
        let top = first.y * conv.stride_h as usize;
        let wanted = top..top + kernel_h;
        let of = Some([first.n, group]);
        let ready = if self.of == of && self.ready.start <= top { self.ready.end.max(top) } else { top };
        let in_vector = size_of::<f32>() * S::LANES / size_of::<I::Number>();
        // SAFETY: the caller's promise; a stretch and a vector after it are within a line and its room.
        unsafe {
            for y in ready..wanted.end {
                write_line(image, group, [first.n, y], (lines.add(y % kernel_h * length), length));
            }
            // Pixel by pixel: what a copy writes too much, the next one overwrites.
            for index in 0..count {
                let first = (first.x + index) * conv.stride_w as usize * in_group;
                let to = to.add(index * stride);
                let mut slot = top % kernel_h;
                for ky in 0..kernel_h {
                    let from = lines.add(slot * length + first);
                    let to = to.add(ky * width);
                    slot = if slot + 1 < kernel_h { slot + 1 } else { 0 };
                    for number in (0..width).step_by(in_vector) {
                        s.store(to.add(number).cast(), s.load(from.add(number).cast()));
                    }
                }
                image.end_row(to);
            }
        }
        *self = Lines { of, ready: wanted };
    }
}

/// Writes one line; `y` counts from the first of the padding.
///
/// # Safety
/// The image is valid; `line` is valid for `length` numbers.
#[inline(always)]
unsafe fn write_line<I: CopiedImage>(
    image: &I,
    group: usize,
    [n, y]: [usize; 2],
    (line, length): (*mut I::Number, usize),
) {
    let conv = image.conv();
    let input = &conv.strides.input;
    let [in_group, pad] = [conv.in_group as usize, conv.pad_left as usize];
    let inside = conv.pad_top as usize..conv.pad_top as usize + conv.in_h as usize;
    // SAFETY: only elements inside the image are read, and numbers of the line written.
    unsafe {
        (0..length).for_each(|index| *line.add(index) = image.padding());
        if !inside.contains(&y) {
            return;
        }
        let room = length - VECTOR / size_of::<I::Number>();
        let pixels = (room / in_group).saturating_sub(pad).min(conv.in_w as usize);
        for channel in 0..in_group {
            let from = n * input.n as usize
                + (y - inside.start) * input.h as usize
                + (group * in_group + channel) * input.c as usize;
            let to = line.wrapping_add(pad * in_group + channel);
            image.copy_apart([from as isize, input.w as isize], to, in_group, pixels);
        }
    }
}
