//! Convolutions with few output channels: a vector holds pixels of one channel, where otherwise it would hold
//! the output channels, most of its lanes unused.
//!
//! The pixels of the input are transposed: for a block of columns, the lines of the image that a line of the
//! output reads are kept in scratch, each channel's pixels contiguous. The next line of the output reads the
//! same lines but for the first, so each line is transposed once. A sum has the same products in the same
//! order as in a matrix product, so it has the same bits.

use crate::abi::piece;
use crate::conv::{Conv2d, ConvOperands, ConvPrologue, Path};
use crate::map::{Finish, apply_rows};
use crate::math;
use crate::pixels::Pixel;
use crate::simd::Simd;

/// The most output channels.
const MOST_OUTPUTS: u32 = 8;
/// The least products of an output: with fewer, results are written slower than they are computed.
const LEAST_DEPTH: usize = 64;
/// The numbers of columns of a block, the best first.
const COLUMNS: [usize; 4] = [64, 48, 32, 16];
/// The least columns of an output: a vector.
const LEAST_COLUMNS: usize = 16;
/// The most lanes of a vector, and vectors of pixels that are computed together.
const MOST_LANES: usize = 16;
const MOST_VECTORS: usize = 4;
/// Cycles for each vector of pixels that a sum adds: for each output, and for all outputs together, with the
/// share of transposing it. Measured on an AMD EPYC (Zen 4) with 1 to 8 outputs of 16 to 128 channels.
const OUTPUT_CYCLES: f64 = 1.1;
const PIXELS_CYCLES: f64 = 1.3;
/// Rows and columns of a square that is transposed in registers.
const SQUARE: usize = 8;

impl Conv2d {
    /// Whether a vector should hold pixels.
    pub(crate) fn should_transpose(&self) -> bool {
        let is_plain = self.prologue == ConvPrologue::None && self.strides.input.c == 1;
        let is_one_group = self.groups == 1 && self.out_group <= MOST_OUTPUTS;
        let is_close = self.stride_w == 1 && (self.dilation_h == 1 || self.kernel_h == 1);
        let is_large = self.depth() >= LEAST_DEPTH && self.out_w as usize >= LEAST_COLUMNS;
        is_plain && is_one_group && is_close && is_large
    }

    /// Floats from a channel to the next in a transposed line, for a block of `columns`.
    fn plane_floats(&self, columns: usize) -> usize {
        let reach = (self.kernel_w as usize - 1) * self.dilation_w as usize;
        // Vectors begin at a column of the block, and end before the reach beyond the last one.
        (columns.next_multiple_of(MOST_LANES) + reach).next_multiple_of(MOST_LANES)
    }

    /// Chooses the most columns of a block whose lines take at most `floats` of scratch, and no more than
    /// copied rows may; false if there is no such block.
    pub(crate) fn choose_columns(&mut self, floats: usize) -> bool {
        let most = floats.min(self.most_copied_floats());
        let planes = (self.kernel_h * self.in_group) as usize;
        let fits = |columns: &usize| planes * self.plane_floats(*columns) <= most;
        let is_filled = |columns: &usize| *columns < self.out_w as usize + MOST_LANES;
        let Some(columns) = COLUMNS.into_iter().filter(is_filled).find(fits) else {
            return false;
        };
        self.block_depth = self.depth() as u32;
        self.block_rows = columns as u32;
        self.slab_stride = self.plane_floats(columns) as u32;
        true
    }

    /// Cycles, about, of a line of a block: of its sums, of the line of the image that is transposed for it,
    /// and none for the first line alone.
    pub(crate) fn plane_costs(&self) -> [f64; 3] {
        let vectors = f64::from(self.block_rows) / MOST_LANES as f64;
        let sums = self.depth() as f64 * vectors * f64::from(self.out_group + 1);
        [sums, vectors * f64::from(self.in_group) * 6.0, 0.0]
    }

    /// The approximate cycles on one thread, if a vector holds pixels.
    pub(crate) fn plane_cycles(&self) -> Option<f64> {
        let vectors = self.batch * self.out_h * self.out_w.div_ceil(MOST_LANES as u32);
        let row = f64::from(self.out_group) * OUTPUT_CYCLES + PIXELS_CYCLES;
        (self.path == Path::Planes).then(|| f64::from(vectors) * self.depth() as f64 * row)
    }

    /// Blocks of columns.
    pub(crate) fn plane_blocks(&self) -> u32 {
        self.out_w.div_ceil(self.block_rows.max(1))
    }
}

/// Runs part `part`: some lines of some blocks of columns.
///
/// # Safety
/// That of [`crate::KernelFn`], with `Conv2d`'s operands.
#[inline(always)]
pub(crate) unsafe fn run<S: Simd>(
    s: S,
    conv: &Conv2d,
    images: &ConvOperands,
    part: usize,
    scratch: *mut f32,
) {
    let height = conv.out_h as usize;
    let blocks = conv.plane_blocks() as usize;
    let columns = conv.block_rows as usize;
    let mut lines = Planes { scratch, plane: conv.slab_stride as usize, next: isize::MIN };
    for unit in piece(conv.batch as usize * blocks * height, conv.row_parts as usize, part) {
        let (y, of_image) = (unit % height, unit / height);
        let x = of_image % blocks * columns;
        let first = Pixel { n: of_image / blocks, y, x };
        let count = columns.min(conv.out_w as usize - x);
        if y == 0 {
            lines.next = isize::MIN;
        }
        // SAFETY: the caller's promise; scratch has room for the lines of a block.
        unsafe {
            lines.advance(s, conv, images, first, count);
            match conv.out_group {
                1 => line::<S, 1>(s, conv, images, &lines, first, count),
                2 => line::<S, 2>(s, conv, images, &lines, first, count),
                3 => line::<S, 3>(s, conv, images, &lines, first, count),
                4 => line::<S, 4>(s, conv, images, &lines, first, count),
                5 => line::<S, 5>(s, conv, images, &lines, first, count),
                6 => line::<S, 6>(s, conv, images, &lines, first, count),
                7 => line::<S, 7>(s, conv, images, &lines, first, count),
                _ => line::<S, 8>(s, conv, images, &lines, first, count),
            }
        }
    }
}

/// The transposed lines of a block of columns: line `y` of the image, counted from the first one of the
/// padding, is the `y mod kernel_h`-th.
struct Planes {
    scratch: *mut f32,
    /// Floats of a channel.
    plane: usize,
    /// The first line that is not there yet.
    next: isize,
}

impl Planes {
    /// Transposes the lines that the output line at `first` reads, unless they are there.
    ///
    /// # Safety
    /// Scratch has room for them; the pixel is one of the output, with `count` pixels of its line.
    #[inline(always)]
    unsafe fn advance<S: Simd>(
        &mut self,
        s: S,
        conv: &Conv2d,
        images: &ConvOperands,
        first: Pixel,
        count: usize,
    ) {
        let top = (first.y * conv.stride_h as usize).cast_signed();
        let end = top + conv.kernel_h as isize;
        for y in self.next.max(top)..end {
            // SAFETY: the caller's promise.
            unsafe { self.transpose(s, conv, images, Pixel { y: y.cast_unsigned(), ..first }, count) };
        }
        self.next = end;
    }

    /// Line `y` of the block, counted from the first one of the padding.
    fn line(&self, conv: &Conv2d, y: usize) -> *mut f32 {
        let channels = conv.in_group as usize;
        self.scratch.wrapping_add(y % conv.kernel_h as usize * channels * self.plane)
    }

    /// Transposes a line, `y` counted from the first one of the padding, which is zeros.
    ///
    /// # Safety
    /// As [`Planes::advance`].
    #[inline(always)]
    unsafe fn transpose<S: Simd>(
        &self,
        s: S,
        conv: &Conv2d,
        images: &ConvOperands,
        Pixel { n, y, x }: Pixel,
        count: usize,
    ) {
        let to = self.line(conv, y);
        let channels = conv.in_group as usize;
        let length = count + (conv.kernel_w as usize - 1) * conv.dilation_w as usize;
        let (top, left) = (conv.pad_top as usize, conv.pad_left as usize);
        let is_inside = (top..top + conv.in_h as usize).contains(&y);
        // The columns inside the image, counted from the first one of the line.
        let start = left.saturating_sub(x).min(length);
        let end = if is_inside {
            (left + conv.in_w as usize).saturating_sub(x).clamp(start, length)
        } else {
            start
        };
        // SAFETY: the caller's promise; the pixels from `start` to `end` are inside the image.
        unsafe {
            if start > 0 || end < self.plane {
                for channel in 0..channels {
                    let plane = to.add(channel * self.plane);
                    plane.write_bytes(0, start);
                    plane.add(end).write_bytes(0, self.plane - end);
                }
            }
            if start == end {
                return;
            }
            let pixel = Pixel { n, y: y - top, x: x + start - left };
            let from = images.x.add(conv.strides.input.offset(pixel));
            let apart = conv.strides.input.w as usize;
            let whole = [(end - start) / SQUARE * SQUARE, channels / SQUARE * SQUARE];
            for column in (0..whole[0]).step_by(SQUARE) {
                for channel in (0..whole[1]).step_by(SQUARE) {
                    let from = from.add(column * apart + channel).cast::<u32>();
                    let to = to.add(channel * self.plane + start + column).cast::<u32>();
                    s.transpose::<SQUARE>(from, apart.cast_signed(), to, self.plane.cast_signed());
                }
            }
            for column in 0..end - start {
                let rest = if column < whole[0] { whole[1] } else { 0 };
                for channel in rest..channels {
                    *to.add(channel * self.plane + start + column) = *from.add(column * apart + channel);
                }
            }
        }
    }
}

/// Computes `count` pixels of a line of the output, of `OUTPUTS` channels.
///
/// # Safety
/// As [`run`]; the lines are there.
#[inline(always)]
unsafe fn line<S: Simd, const OUTPUTS: usize>(
    s: S,
    conv: &Conv2d,
    images: &ConvOperands,
    lines: &Planes,
    first: Pixel,
    count: usize,
) {
    // The sums take up to 24 of 32 registers, or 12 of 16.
    let together = match OUTPUTS {
        _ if S::LANES < MOST_LANES => 12 / OUTPUTS,
        _ => 24 / OUTPUTS,
    };
    let mut done = 0;
    // SAFETY: the caller's promise.
    unsafe {
        while done < count {
            let left = (count - done).div_ceil(S::LANES).min(together);
            let at = Pixel { x: first.x + done, ..first };
            let pixels = (count - done).min(left.min(MOST_VECTORS) * S::LANES);
            match left {
                1 => sums::<S, OUTPUTS, 1>(s, conv, images, lines, [done, pixels], at),
                2 => sums::<S, OUTPUTS, 2>(s, conv, images, lines, [done, pixels], at),
                3 => sums::<S, OUTPUTS, 3>(s, conv, images, lines, [done, pixels], at),
                _ => sums::<S, OUTPUTS, 4>(s, conv, images, lines, [done, pixels], at),
            }
            done += pixels;
        }
        if conv.activation.is_deferred() {
            let output = conv.strides.output;
            let start = images.out.add(output.offset(first));
            apply_rows::<S>(conv.activation, start, [count, OUTPUTS], output.w as usize);
        }
    }
}

/// Computes the sums of `count` pixels from `at` on, in `VECTORS` vectors; they are the block's pixels from
/// `done` on.
///
/// # Safety
/// As [`run`]; the lines are there.
#[inline(always)]
unsafe fn sums<S: Simd, const OUTPUTS: usize, const VECTORS: usize>(
    s: S,
    conv: &Conv2d,
    images: &ConvOperands,
    lines: &Planes,
    [done, count]: [usize; 2],
    at: Pixel,
) {
    let channels = conv.in_group as usize;
    let width = conv.panels().get(0).width;
    // SAFETY: the caller's promise; a line has the pixels of whole vectors, for each tap.
    unsafe {
        let mut numbers = first_sums::<OUTPUTS>(conv, images, at, count);
        let mut sums = [[s.splat(0.0); VECTORS]; OUTPUTS];
        for (sums, numbers) in sums.iter_mut().zip(&numbers) {
            for (vector, sum) in sums.iter_mut().enumerate() {
                *sum = s.load(numbers.as_ptr().add(vector * S::LANES));
            }
        }
        let mut weights = images.weights;
        for row in 0..conv.kernel_h as usize {
            let line = lines.line(conv, at.y * conv.stride_h as usize + row);
            for tap in 0..conv.kernel_w as usize {
                let mut from = line.add(done + tap * conv.dilation_w as usize).cast_const();
                for _ in 0..channels {
                    let mut pixels = [s.splat(0.0); VECTORS];
                    for (vector, pixels) in pixels.iter_mut().enumerate() {
                        *pixels = s.load(from.add(vector * S::LANES));
                    }
                    for (channel, sums) in sums.iter_mut().enumerate() {
                        let weight = s.splat(*weights.add(channel));
                        for (sum, pixels) in sums.iter_mut().zip(pixels) {
                            *sum = s.mul_add(pixels, weight, *sum);
                        }
                    }
                    from = from.add(lines.plane);
                    weights = weights.add(width);
                }
            }
        }
        let finish = conv.activation.finish();
        for (sums, numbers) in sums.iter().zip(&mut numbers) {
            for (vector, sum) in sums.iter().enumerate() {
                let value = match finish {
                    Finish::Clip { lo, hi } => math::clip(s, *sum, lo, hi),
                    Finish::Store => *sum,
                };
                s.store(numbers.as_mut_ptr().add(vector * S::LANES), value);
            }
        }
        let apart = conv.strides.output.w as usize;
        let to = images.out.add(conv.strides.output.offset(at));
        for pixel in 0..count {
            for (channel, numbers) in numbers.iter().enumerate() {
                *to.add(pixel * apart + channel) = numbers[pixel];
            }
        }
    }
}

/// What the sums of `count` pixels from `at` on begin with, for each output: bias and residual.
///
/// # Safety
/// As [`run`].
#[inline(always)]
unsafe fn first_sums<const OUTPUTS: usize>(
    conv: &Conv2d,
    images: &ConvOperands,
    at: Pixel,
    count: usize,
) -> [[f32; MOST_VECTORS * MOST_LANES]; OUTPUTS] {
    let mut numbers = [[0.0; MOST_VECTORS * MOST_LANES]; OUTPUTS];
    let apart = conv.strides.residual.w as usize;
    for (channel, numbers) in numbers.iter_mut().enumerate() {
        // SAFETY: the caller's promise: the bias has every output, the residual every pixel.
        unsafe {
            if !images.bias.is_null() {
                numbers.fill(*images.bias.add(channel));
            }
            if !images.residual.is_null() {
                let from = images.residual.add(conv.strides.residual.offset(at) + channel);
                for (pixel, number) in numbers.iter_mut().enumerate().take(count) {
                    *number += *from.add(pixel * apart);
                }
            }
        }
    }
    numbers
}
