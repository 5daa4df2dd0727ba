//! Depthwise convolution of bytes: a vector holds consecutive channels, and each of its lanes a quad of taps,
//! four vertical neighbours in the kernel.
//!
//! A strip is one vector of channels for some pixels of an output line, or of two. The image's columns that
//! its pixels read are interleaved into quads in scratch, with the zero point in the padding. Each column is
//! then read from scratch by every pixel with a tap in it, so products need no bounds checks.
//!
//! The zero points are subtracted from the weights once for each part and panel. The difference `v` may not
//! fit a signed byte; it is then split into a sum of two or three signed bytes, its terms. `sum of (x -
//! x_zero) * v` is `sum of x * v` with `-x_zero * (sum of v)` as the initial value. 128 is added to signed
//! images, so that `x` is unsigned.

use super::lane_tile::{LaneTile, tile_pixels};
use super::steps::{ByteSign, StepCode, StepPlan, WeightZero};
use super::tile::QuadTile;
use super::{QuadConv2d, QuadOperands, SLAB, SUMS, TILE};
use crate::abi::piece;
use crate::pack::{PANEL, Panel, Panels, WeightStrides};
use crate::pixels::Pixel;
use crate::simd::{Simd, Task};
use std::array::from_fn;
use std::ops::Range;

/// Channels of a panel of packed weights: as many as a cache line of the image has bytes. No other path has
/// panels this wide, so the width tells packings apart.
pub(super) const WIDE: usize = 64;
const _: () = assert!(WIDE > PANEL);
/// The most rows of a panel.
const MOST_ROWS: usize = 64;
/// Signed bytes that a weight less its zero point, from -255 to 255, is split into, at most.
const MOST_TERMS: usize = 3;
/// The most output lines that share columns.
const MOST_LINES: usize = 2;
/// Bytes of scratch for the columns of one row of quads, so that they stay in the first-level cache.
const COLUMNS: usize = 16 * 1024;
/// Bytes of the largest vector.
const VECTOR: usize = 64;

impl QuadConv2d {
    /// Whether each group has one input and one output channel.
    #[inline(always)]
    pub(super) fn is_depthwise(&self) -> bool {
        let conv = &self.conv;
        conv.groups > 1 && conv.in_group == 1 && conv.out_group == 1
    }

    /// Whether this file's kernel can compute it: a panel's weights and a pixel's columns must fit scratch.
    pub(super) fn fits_lanes(&self) -> bool {
        let strides = &self.conv.strides;
        let is_contiguous = strides.input.c == 1 && strides.output.c == 1;
        let is_small = self.lane_rows() <= MOST_ROWS && self.columns(1) * self.column_bytes() <= COLUMNS;
        self.is_depthwise() && is_contiguous && is_small
    }

    /// Quads of a kernel column.
    #[inline(always)]
    fn column_quads(&self) -> usize {
        self.conv.kernel_h.div_ceil(4) as usize
    }

    /// Rows of a panel: the quads of all kernel columns.
    #[inline(always)]
    pub(super) fn lane_rows(&self) -> usize {
        self.column_quads() * self.conv.kernel_w as usize
    }

    /// Output lines that share columns. If the last quad of a kernel column has an unused byte, the same rows
    /// of the image also serve the next output line, with its taps one row lower.
    #[inline(always)]
    fn lines_at_once(&self) -> usize {
        let conv = &self.conv;
        let is_dense = conv.stride_h == 1 && conv.dilation_h == 1;
        if is_dense && !conv.kernel_h.is_multiple_of(4) { MOST_LINES } else { 1 }
    }

    /// The panels of packed weights: row `q * kernel_w + kx` has the taps (4q, kx) to (4q + 3, kx).
    #[inline(always)]
    pub(super) fn lane_panels(&self) -> Panels {
        Panels::new(self.lane_rows(), self.conv.groups as usize, 1, WIDE)
    }

    /// Packs the bytes of weights unchanged, with zeros below the kernel's last row.
    pub(super) fn pack_lanes(&self, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        let [kernel_h, kernel_w] = [self.conv.kernel_h as usize, self.conv.kernel_w as usize];
        let panels = self.lane_panels();
        for panel in (0..panels.count()).map(|index| panels.get(index)) {
            let rows = &mut out[panel.offset..panel.offset + panels.depth() * WIDE];
            for (row, slots) in rows.chunks_exact_mut(WIDE).enumerate() {
                let [first, kx] = [row / kernel_w * 4, row % kernel_w];
                for (lane, slot) in slots.iter_mut().enumerate() {
                    let bytes = from_fn(|index| match first + index {
                        ky if ky < kernel_h && lane < panel.count => {
                            let at = (panel.first + lane) * strides.o + ky * strides.h + kx * strides.w;
                            weights[at] as i32 as u8
                        }
                        _ => 0,
                    });
                    *slot = f32::from_bits(u32::from_le_bytes(bytes));
                }
            }
        }
    }

    /// Columns of the image that `pixels` neighbouring pixels of an output line read.
    #[inline(always)]
    fn columns(&self, pixels: usize) -> usize {
        let conv = &self.conv;
        let reach = (conv.kernel_w as usize - 1) * conv.dilation_w as usize + 1;
        pixels.saturating_sub(1) * conv.stride_w as usize + reach
    }

    /// Bytes of scratch for a column.
    #[inline(always)]
    fn column_bytes(&self) -> usize {
        self.column_quads() * VECTOR
    }

    /// Bytes of scratch before the columns: the terms of a panel's weights for each line, the initial sums,
    /// and a vector of zero points.
    #[inline(always)]
    fn bytes_before_columns(&self) -> usize {
        (self.lines_at_once() * MOST_TERMS * self.lane_rows() + 1) * WIDE * 4 + VECTOR
    }

    /// Pixels whose columns fit `slab` bytes of scratch together with everything else, at least one.
    fn fitting_pixels(&self, slab: usize) -> usize {
        let room = slab.saturating_sub(self.bytes_before_columns());
        let room = room.min(COLUMNS * self.column_quads()) / self.column_bytes();
        room.saturating_sub(self.columns(1)) / self.conv.stride_w as usize + 1
    }

    /// Pixels of a strip: the whole line, or else whole tiles if one fits. Even if `slab` is smaller, a strip
    /// has a tile's pixels, or as many as fit the first-level cache: strips of single pixels would share no
    /// columns.
    pub(super) fn strip_pixels(&self, slab: usize) -> usize {
        let pixels = (self.conv.out_w as usize).max(1);
        let least = self.fitting_pixels(SLAB).min(TILE);
        match self.fitting_pixels(slab).max(least) {
            fitting if fitting >= pixels => pixels,
            fitting if fitting >= TILE => fitting / TILE * TILE,
            fitting => fitting,
        }
    }

    /// Bytes of scratch for strips of `pixels` pixels, without the sums of a tile.
    pub(super) fn bytes_of_strips(&self, pixels: usize) -> usize {
        self.bytes_before_columns() + self.columns(pixels) * self.column_bytes()
    }

    /// An upper bound of the bytes of scratch for strips of lines that are at most this long; 0 if a panel's
    /// weights do not fit.
    pub(super) fn most_bytes_of_strips(&self, slab: usize) -> usize {
        if self.lane_rows() > MOST_ROWS {
            return 0;
        }
        self.bytes_of_strips(self.fitting_pixels(slab).min(self.conv.out_w as usize))
    }
}

/// The context of a running part.
struct LanesPart<'r> {
    this: &'r QuadConv2d,
    images: &'r QuadOperands,
    plan: StepPlan,
    /// 1 if the machine has an instruction for quads.
    at_once: u32,
    /// The image's zero point, as an unsigned byte.
    x_zero: u8,
    scratch: *mut u8,
}

/// The weights of a panel, less their zero points.
#[derive(Clone, Copy)]
struct LaneWeights {
    /// For each of the lines that share columns: the rows of the first term, then of the second, and so on.
    start: [*const i32; MOST_LINES],
    terms: usize,
    /// The initial values of the sums.
    begin: *const i32,
}

/// Runs part `part`: a range of output lines and of panels.
///
/// # Safety
/// That of [`crate::KernelFn`], with `QuadConv2d`'s operands.
#[inline(always)]
pub(super) unsafe fn run<S: Simd>(
    s: S,
    this: &QuadConv2d,
    images: &QuadOperands,
    part: usize,
    scratch: *mut u8,
) {
    let conv = &this.conv;
    let call = LanesPart {
        this,
        images,
        // SAFETY: the caller's promise.
        plan: unsafe { StepPlan::new(this, images.table) },
        at_once: u32::from(S::has_quads()),
        x_zero: images.zero_byte ^ this.image.turn(),
        scratch,
    };
    let all = this.lane_panels();
    let panel_parts = conv.panel_parts as usize;
    let [lines, pixels] = [conv.batch as usize * conv.out_h as usize, conv.out_w as usize];
    let lines = piece(lines, conv.row_parts as usize, part / panel_parts);
    // SAFETY: the caller's promise; strips are inside the output, and scratch has room for them.
    unsafe {
        call.zero_row().write_bytes(images.zero_byte, VECTOR);
        for panel in piece(all.count(), panel_parts, part % panel_parts).map(|index| all.get(index)) {
            let weights = call.weights(s, panel);
            let mut line = lines.start;
            while line < lines.end {
                let [n, y] = [line / conv.out_h as usize, line % conv.out_h as usize];
                let left = (lines.end - line).min(conv.out_h as usize - y);
                let line_count = left.min(this.lines_at_once());
                for x in (0..pixels).step_by(conv.block_rows as usize) {
                    let first = Pixel { n, y, x };
                    let count = (pixels - x).min(conv.block_rows as usize);
                    for lane in (0..panel.count).step_by(S::LANES) {
                        strip::<S>(&Strip { part: &call, weights, panel, lane, first, line_count, count });
                    }
                }
                line += line_count;
            }
        }
    }
}

impl LanesPart<'_> {
    /// Room for the terms of a panel's weights, for one of the lines that share columns.
    fn terms(&self, line: usize) -> *mut i32 {
        let numbers = MOST_TERMS * self.this.lane_rows() * WIDE;
        self.scratch.cast::<i32>().wrapping_add(SUMS + line * numbers)
    }

    /// Room for the initial sums of a panel.
    fn begin(&self) -> *mut i32 {
        self.terms(self.this.lines_at_once())
    }

    /// A vector of the image's zero point as stored, read in place of rows outside the image.
    fn zero_row(&self) -> *mut u8 {
        self.begin().wrapping_add(WIDE).cast()
    }

    /// Room for the columns of a strip.
    fn columns(&self) -> *mut i32 {
        self.zero_row().wrapping_add(VECTOR).cast()
    }

    /// Whether weights are signed bytes whose zero point is 0.
    #[inline(always)]
    unsafe fn has_plain_weights(&self, panel: Panel) -> bool {
        let ZeroPoints { first, count } = self.zeros(panel);
        // SAFETY: the caller's promise: there are these zero points.
        let is_zero = |index: usize| unsafe { *first.add(index) == 0 };
        self.this.weights == ByteSign::Signed && (0..count).all(is_zero)
    }

    /// The zero points of a panel's weights.
    #[inline(always)]
    fn zeros(&self, panel: Panel) -> ZeroPoints {
        let first = self.images.weight_zeros;
        match self.this.zero {
            WeightZero::None => ZeroPoints { first, count: 0 },
            WeightZero::One => ZeroPoints { first, count: 1 },
            WeightZero::Channel => ZeroPoints { first: first.wrapping_add(panel.first), count: panel.count },
        }
    }

    /// The weights of a panel, less their zero points.
    #[inline(always)]
    unsafe fn weights<S: Simd>(&self, s: S, panel: Panel) -> LaneWeights {
        let LanesPart { this, images, .. } = *self;
        let x_zero = s.splat_int(-i32::from(self.x_zero));
        let ones = s.splat_int(0x0101_0101);
        // SAFETY: the caller's promise: weights and zero points are those of the panel, and scratch has room.
        unsafe {
            let packed = images.weights.add(panel.offset);
            let is_plain = self.has_plain_weights(panel);
            let mut far = s.splat(0.0);
            for lane in (0..panel.count).step_by(S::LANES) {
                let from = packed.add(lane);
                let mut sum = s.splat_int(0);
                if is_plain {
                    for row in 0..this.lane_rows() {
                        sum = s.add_quads(ones, s.load_int(from.add(row * WIDE)), sum);
                    }
                } else {
                    let zeros = self.lane_zeros(s, panel, lane);
                    sum = self.split_lanes(s, from, self.terms(0).add(lane), zeros, &mut far);
                }
                s.store(self.begin().add(lane).cast(), s.float(s.mul_int(sum, x_zero)));
            }
            let mut lanes = [0f32; 16];
            s.store(lanes.as_mut_ptr(), far);
            let terms = match lanes.into_iter().fold(0.0, f32::max) {
                ..=127.5 => 1,
                127.5..=254.5 => 2,
                _ => MOST_TERMS,
            };
            let first = if is_plain { packed } else { self.terms(0) };
            let mut start = [first; MOST_LINES];
            if this.lines_at_once() > 1 {
                start[1] = self.terms(1);
                for lane in (0..panel.count).step_by(S::LANES) {
                    self.lower_taps(s, first.add(lane), self.terms(1).add(lane), terms);
                }
            }
            LaneWeights { start, terms, begin: self.begin() }
        }
    }

    /// The zero points of a vector of channels.
    #[inline(always)]
    unsafe fn lane_zeros<S: Simd>(&self, s: S, panel: Panel, lane: usize) -> S::I {
        let ZeroPoints { first, count } = self.zeros(panel);
        // SAFETY: the caller's promise: there are these zero points.
        unsafe {
            match (self.this.zero, self.this.weights) {
                (WeightZero::None, _) => s.splat_int(0),
                (WeightZero::One, sign) => s.splat_int(sign.number(*first)),
                (WeightZero::Channel, ByteSign::Unsigned) => s.load_unsigned(first.add(lane), count - lane),
                (WeightZero::Channel, ByteSign::Signed) => s.load_signed(first.add(lane), count - lane),
            }
        }
    }

    /// Subtracts the zero points from a vector of weights, writes the terms of the differences, and returns
    /// the sum of the differences. `far` is raised to their largest distance from -0.5, the middle of the
    /// signed bytes' range.
    #[inline(always)]
    unsafe fn split_lanes<S: Simd>(
        &self,
        s: S,
        from: *const i32,
        to: *mut i32,
        zeros: S::I,
        far: &mut S::F,
    ) -> S::I {
        let this = self.this;
        // Adding 1.5 * 2^23 to an integer leaves it in the low bits of the float.
        let shift = s.splat(1.5 * (1u32 << 23) as f32);
        let byte = s.splat_int(0xff);
        let [least, most] = [s.splat(-128.0), s.splat(127.0)];
        let mut sum = s.splat_int(0);
        for row in 0..this.lane_rows() {
            let taps = this.conv.kernel_h as usize - row / this.conv.kernel_w as usize * 4;
            // SAFETY: the caller's promise.
            let mut quad = unsafe { s.load_int(from.add(row * WIDE)) };
            let mut terms = [s.splat_int(0); MOST_TERMS];
            for tap in (0..4).rev() {
                let mut weight = s.shift_right::<24>(quad);
                if this.weights == ByteSign::Unsigned {
                    weight = s.and_int(weight, byte);
                }
                quad = s.shift_left::<8>(quad);
                let weight = if tap < taps { s.sub_int(weight, zeros) } else { s.splat_int(0) };
                sum = s.add_int(sum, weight);
                let mut left = s.to_float(weight);
                *far = s.max(*far, s.abs(s.add(left, s.splat(0.5))));
                for term in &mut terms {
                    let cut = s.max(least, s.min(most, left));
                    left = s.sub(left, cut);
                    let number = s.and_int(s.bits(s.add(cut, shift)), byte);
                    *term = s.add_int(s.shift_left::<8>(*term), number);
                }
            }
            for (index, term) in terms.into_iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { s.store(to.add((index * this.lane_rows() + row) * WIDE).cast(), s.float(term)) }
            }
        }
        sum
    }

    /// Writes the terms of a vector of weights with all taps one row lower.
    #[inline(always)]
    unsafe fn lower_taps<S: Simd>(&self, s: S, from: *const i32, to: *mut i32, terms: usize) {
        let [rows, kernel_w] = [self.this.lane_rows(), self.this.conv.kernel_w as usize];
        for row in 0..terms * rows {
            // SAFETY: the caller's promise.
            unsafe {
                let mut quad = s.shift_left::<8>(s.load_int(from.add(row * WIDE)));
                if row % rows >= kernel_w {
                    let above = s.shift_right::<24>(s.load_int(from.add((row - kernel_w) * WIDE)));
                    quad = s.add_int(quad, s.and_int(above, s.splat_int(0xff)));
                }
                s.store(to.add(row * WIDE).cast(), s.float(quad));
            }
        }
    }
}

/// The zero points of a panel's weights.
struct ZeroPoints {
    first: *const u8,
    count: usize,
}

/// Up to a vector of channels of some pixels of an output line, or of two.
#[derive(Clone, Copy)]
struct Strip<'p> {
    part: &'p LanesPart<'p>,
    weights: LaneWeights,
    panel: Panel,
    /// The first channel of the strip, within the panel.
    lane: usize,
    first: Pixel,
    /// Lines that share columns: the first pixel's line and those after it.
    line_count: usize,
    /// Pixels of each line.
    count: usize,
}

/// Computes a strip.
///
/// # Safety
/// The machine has `S`; the strip's operands are those of [`run`].
#[inline(always)]
unsafe fn strip<S: Simd>(strip: &Strip<'_>) {
    // SAFETY: the caller's promise.
    unsafe {
        match strip.part.at_once {
            1 if S::MAY_QUAD => S::vectorize_quads(LaneStripTask::<1>(strip)),
            _ => S::vectorize(LaneStripTask::<0>(strip)),
        }
    }
}

struct LaneStripTask<'p, const AT_ONCE: u32>(&'p Strip<'p>);

impl<S: Simd, const AT_ONCE: u32> Task<S> for LaneStripTask<'_, AT_ONCE> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let strip = self.0;
        let LanesPart { this, .. } = *strip.part;
        // SAFETY: the caller's promise; the columns are those that the tiles read.
        unsafe {
            for q in 0..this.column_quads() {
                let rows = this.conv.kernel_h as usize + strip.line_count - 1 - 4 * q;
                match (rows, this.image) {
                    (1, ByteSign::Unsigned) => strip.write_columns::<S, 1, 0>(s, q),
                    (2, ByteSign::Unsigned) => strip.write_columns::<S, 2, 0>(s, q),
                    (3, ByteSign::Unsigned) => strip.write_columns::<S, 3, 0>(s, q),
                    (_, ByteSign::Unsigned) => strip.write_columns::<S, 4, 0>(s, q),
                    (1, ByteSign::Signed) => strip.write_columns::<S, 1, 1>(s, q),
                    (2, ByteSign::Signed) => strip.write_columns::<S, 2, 1>(s, q),
                    (3, ByteSign::Signed) => strip.write_columns::<S, 3, 1>(s, q),
                    (_, ByteSign::Signed) => strip.write_columns::<S, 4, 1>(s, q),
                }
            }
            for line in 0..strip.line_count {
                let mut done = 0;
                while done < strip.count {
                    let tile = strip.tile::<S>(line, done);
                    let left = strip.count - done;
                    // 11 and 14 pixels leave no single ones if they begin with 7.
                    let takes_8 = left != 11 && left != 14;
                    done += match left {
                        14.. if AT_ONCE == 1 => tile_pixels::<S, 14, AT_ONCE>(&tile),
                        8.. if AT_ONCE == 0 && takes_8 => tile_pixels::<S, 8, AT_ONCE>(&tile),
                        7.. => tile_pixels::<S, 7, AT_ONCE>(&tile),
                        4.. => tile_pixels::<S, 4, AT_ONCE>(&tile),
                        _ => tile_pixels::<S, 1, AT_ONCE>(&tile),
                    };
                }
            }
        }
    }
}

impl Strip<'_> {
    /// The number of columns that the strip reads.
    #[inline(always)]
    fn columns(&self) -> usize {
        self.part.this.columns(self.count)
    }

    /// Interleaves `ROWS` rows of the image, from row `4 * q` of the strip on, into row `q` of the columns'
    /// quads. The image's bytes are signed if `IMAGE` is 1.
    #[inline(always)]
    unsafe fn write_columns<S: Simd, const ROWS: usize, const IMAGE: u32>(&self, s: S, q: usize) {
        let LanesPart { this, images, x_zero, .. } = *self.part;
        let conv = &this.conv;
        let input = &conv.strides.input;
        let columns = self.columns();
        let left = (self.first.x * conv.stride_w as usize) as isize - conv.pad_left as isize;
        let start = (-left).clamp(0, columns as isize) as usize;
        let end = (conv.in_w as isize - left).clamp(start as isize, columns as isize) as usize;
        let corner = Pixel { n: self.first.n, y: 0, x: (left + start as isize).max(0) as usize };
        let corner = input.offset(corner) + self.panel.first + self.lane;
        let mut rows = [(self.part.zero_row().cast_const(), 0); ROWS];
        for (index, row) in rows.iter_mut().enumerate() {
            let y = self.first.y * conv.stride_h as usize + (4 * q + index) * conv.dilation_h as usize;
            let y = y.wrapping_sub(conv.pad_top as usize);
            if y < conv.in_h as usize {
                *row = (images.x.wrapping_add(corner + y * input.h as usize), input.w as usize);
            }
        }
        // SAFETY: the caller's promise: the columns inside are of the image, and scratch has room for all.
        unsafe {
            let to = self.part.columns().add(q * columns * S::LANES);
            let outside = s.float(s.splat_int(i32::from_ne_bytes([x_zero; 4])));
            for column in (0..start).chain(end..columns) {
                s.store(to.add(column * S::LANES).cast(), outside);
            }
            match self.panel.count - self.lane {
                // A number of channels known at compile time needs no masks.
                count if count >= S::LANES => {
                    write_inside::<S, ROWS, IMAGE>(s, rows, start..end, to, S::LANES);
                }
                count => write_inside::<S, ROWS, IMAGE>(s, rows, start..end, to, count),
            }
        }
    }

    /// The tile of a line of the strip, from pixel `done` on.
    #[inline(always)]
    fn tile<S: Simd>(&self, line: usize, done: usize) -> LaneTile<'_> {
        let LanesPart { this, images, ref plan, scratch, .. } = *self.part;
        let conv = &this.conv;
        let [output, residual] = [conv.strides.output, conv.strides.residual];
        let pixel = Pixel { y: self.first.y + line, x: self.first.x + done, ..self.first };
        let channel = self.panel.first + self.lane;
        let step = conv.stride_w as usize * S::LANES;
        let residual_bytes = StepCode::residual_bytes(plan.steps());
        let residual_first = residual.offset(pixel) + channel;
        LaneTile {
            columns: self.part.columns().wrapping_add(done * step),
            step,
            tap_step: conv.dilation_w as usize * S::LANES,
            row_step: self.columns() * S::LANES,
            rows: this.column_quads(),
            taps: conv.kernel_w as usize,
            terms: self.weights.terms,
            tile: QuadTile {
                segments: 1,
                quads: this.lane_rows(),
                jump: 0,
                a: std::ptr::null(),
                a_stride: 0,
                b: self.weights.start[line].wrapping_add(self.lane),
                b_stride: WIDE,
                begin: self.weights.begin.wrapping_add(self.lane),
                terms: std::ptr::null(),
                zeros: std::ptr::null(),
                c: images.out.wrapping_add((output.offset(pixel) + channel) * this.output.bytes()),
                c_stride: output.w as usize,
                output: this.output,
                rounded: plan.rounded,
                cols: self.panel.count - self.lane,
                residual: images.residual.wrapping_add(residual_first * residual_bytes),
                residual_stride: residual.w as usize,
                steps: plan.steps(),
                operands: images.table,
                channel,
                sums: scratch.cast(),
                ahead: std::ptr::null(),
                ahead_stride: 0,
            },
        }
    }
}

/// Writes the quads of the columns inside the image. A row is given by its first byte and its step between
/// columns.
///
/// # Safety
/// The rows are valid for reads of `count` bytes of each column, `to` for writes of the columns.
#[inline(always)]
unsafe fn write_inside<S: Simd, const ROWS: usize, const IMAGE: u32>(
    s: S,
    rows: [(*const u8, usize); ROWS],
    columns: Range<usize>,
    to: *mut i32,
    count: usize,
) {
    let mut from = [std::ptr::null(); ROWS];
    for (from, (first, _)) in from.iter_mut().zip(rows) {
        *from = first;
    }
    for column in columns {
        // SAFETY: the caller's promise.
        unsafe {
            let quads = s.load_quads(from, count);
            let quads = if IMAGE == 1 { s.turn_signs(quads) } else { quads };
            s.store(to.add(column * S::LANES).cast(), s.float(quads));
        }
        for (from, (_, step)) in from.iter_mut().zip(rows) {
            // After the last column this pointer is out of bounds, but not read.
            *from = from.wrapping_add(step);
        }
    }
}
