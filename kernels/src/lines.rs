//! A line buffer for im2col of channels-first images. Each line of the image is copied into scratch once:
//! converted, padded, and with the channels of a pixel side by side. The taps of a kernel row are then
//! contiguous, and all output lines that need the line read the copy.

use crate::conv::{Conv2d, ConvPrologue};
use crate::im2col::CopiedImage;
use crate::pixels::Pixel;
use crate::simd::Simd;
use std::ops::Range;

/// The most bytes of a worker's line buffer.
pub(crate) const MOST_BYTES: usize = 16 * 1024;
/// Bytes of a vector: a copy of taps may read and write that many too many.
const VECTOR: usize = 64;

/// The numbers (of `size` bytes) that a buffered line needs, with room for a vector after it; none if the
/// convolution does not use a line buffer.
pub(crate) fn line_numbers(conv: &Conv2d, size: usize) -> Option<usize> {
    let is_copied = conv.strides.input.c != 1 && conv.prologue == ConvPrologue::None && conv.in_group > 0;
    let has_stretches = conv.kernel_w > 1 && conv.dilation_w == 1 && conv.dilation_h == 1;
    let pixels = (conv.out_w as usize).saturating_sub(1) * conv.stride_w as usize + conv.kernel_w as usize;
    let vector = VECTOR / size;
    let numbers = (pixels * conv.in_group as usize).next_multiple_of(vector) + vector;
    let is_short = numbers * size * conv.kernel_h as usize <= MOST_BYTES;
    (is_copied && has_stretches && is_short).then_some(numbers)
}

/// The state of a worker's line buffer, a ring: line `y` is at `y % kernel_h`.
pub(crate) struct Lines {
    /// The image and group of the lines, if there are any.
    of: Option<[usize; 2]>,
    /// The lines in the buffer, counted from the first line of the padding.
    ready: Range<usize>,
}

impl Lines {
    /// An empty line buffer.
    pub(crate) fn none() -> Lines {
        Lines { of: None, ready: 0..0 }
    }

    /// Writes the im2col rows of `count` pixels of one output line, from `first` on, at a distance of
    /// `stride` numbers, each with its padding after K. Lines that are missing in the buffer are read first.
    /// May write up to a vector more.
    ///
    /// # Safety
    /// The image is valid; `lines` is valid for `kernel_h` lines of `length` numbers and holds the lines
    /// recorded in `self`; `to` is valid for the rows and a vector more.
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
        // SAFETY: the caller's promise; the taps of a kernel row, and a vector after them, are within a line.
        unsafe {
            for y in ready..wanted.end {
                write_line(image, group, [first.n, y], (lines.add(y % kernel_h * length), length));
            }
            // Pixel by pixel, since a copy may overrun into the next row, which is written after it.
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

/// Copies one line into the buffer; `y` counts from the first line of the padding.
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
    let in_group = conv.in_group as usize;
    let inside = conv.pad_top as usize..conv.pad_top as usize + conv.in_h as usize;
    // SAFETY: only elements inside the image are read, and numbers of the line written.
    unsafe {
        (0..length).for_each(|index| *line.add(index) = image.padding());
        if !inside.contains(&y) {
            return;
        }
        let room = length - VECTOR / size_of::<I::Number>();
        let (before, columns) = conv.columns_inside(0, room / in_group);
        for channel in 0..in_group {
            let from = n * input.n as usize
                + (y - inside.start) * input.h as usize
                + (group * in_group + channel) * input.c as usize;
            let to = line.wrapping_add(before * in_group + channel);
            image.copy_apart([from as isize, input.w as isize], to, in_group, columns.len());
        }
    }
}
