//! Elementwise arithmetic between quantizations: numbers are dequantized, computed with, and quantized again,
//! in registers.
//!
//! The computation is a list of steps on one value, with a second value set aside:
//!
//! ```text
//! round((a - z) * s + (b - y) * t)
//!   load a, sub z, mul s, set aside; load b, sub y, mul t; add aside, round
//! ```
//!
//! Each step rounds as the operation alone would, so results have the same bits. The steps are read again for
//! every few vectors; that takes less time than the steps themselves, and needs no generated code.

mod steps;

pub use steps::{RequantizeStep, StepFunction, StepNumber, StepSource};

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece, row_start};
use crate::isa::Isa;
use crate::quads::{cut_signed, cut_unsigned};
use crate::simd::{Simd, Task};
use steps::{ASIDE, NUMBER, StepAction, StepWords};

/// Axes at most.
const MAX_RANK: usize = Requantize::MOST_AXES;
/// The last axis, which is the innermost loop.
const LAST: usize = MAX_RANK - 1;
/// The result and the operands.
const MOST_TENSORS: usize = 1 + Requantize::MOST_OPERANDS;
/// Vectors that are computed together.
const VECTORS: usize = 4;
/// The most lanes of a vector.
const MOST_LANES: usize = 16;
/// A part has at least this many steps of elements, so that its work exceeds the cost of handing it out.
const MIN_PART: usize = 131_072;

/// How a tensor lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum BoxForm {
    /// All elements side by side, in the order of the iterations.
    Flat = 0,
    /// One element for all iterations.
    One = 1,
    /// By its strides.
    Strided = 2,
}

/// The steps, applied to each element of a box.
///
/// Operands: `[out, x0, x1, ...]`. The result may be one of the operands (the same address, strides, and
/// bytes of an element); otherwise it overlaps none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Requantize {
    sizes: [u64; MAX_RANK],
    /// In bytes, of the result and of the operands.
    strides: [[i64; MAX_RANK]; MOST_TENSORS],
    steps: [StepWords; Requantize::MOST_STEPS],
    /// Of the result and of the operands.
    forms: [BoxForm; MOST_TENSORS],
    numbers: [StepNumber; Requantize::MOST_OPERANDS],
    step_count: u32,
    operand_count: u32,
    output: StepNumber,
    parts: u32,
    isa: Isa,
}

/// What it computes.
#[derive(Clone, Copy, Debug)]
pub struct Requantization<'a> {
    /// The steps, in order; the first one loads.
    pub steps: &'a [RequantizeStep],
    /// The types of the operands' elements.
    pub operands: &'a [StepNumber],
    /// The type of the result's elements. A value is stored as bytes as by [`RequantizeStep::Byte`].
    pub output: StepNumber,
}

impl Requantization<'_> {
    /// Whether there is a kernel for it.
    pub fn is_possible(&self) -> bool {
        let begins = matches!(self.steps.first(), Some(RequantizeStep::Load(_)));
        begins
            && self.steps.len() <= Requantize::MOST_STEPS
            && self.operands.len() <= Requantize::MOST_OPERANDS
    }
}

impl Requantize {
    /// The most axes.
    pub const MOST_AXES: usize = 6;
    /// The most operands.
    pub const MOST_OPERANDS: usize = 15;
    /// The most steps.
    pub const MOST_STEPS: usize = 40;

    /// The kernel for a box of elements; strides of the result and of the operands count elements, outermost
    /// axis first.
    ///
    /// # Panics
    /// If the computation is not possible, there are more than [`Requantize::MOST_AXES`] axes, an axis lacks
    /// a stride, or a step reads an operand that does not exist.
    pub fn new(
        what: &Requantization<'_>,
        sizes: &[usize],
        strides: &[Vec<i64>],
        isa: Isa,
        threads: usize,
    ) -> Requantize {
        assert!(
            what.is_possible(),
            "at most {} steps and {} operands",
            Self::MOST_STEPS,
            Self::MOST_OPERANDS
        );
        assert!(sizes.len() <= MAX_RANK, "at most {MAX_RANK} axes");
        assert!(strides.len() == 1 + what.operands.len(), "strides for each operand");
        assert!(strides.iter().all(|strides| strides.len() == sizes.len()), "a stride for each axis");
        let end = RequantizeStep::SetAside.into();
        let mut kernel = Requantize {
            sizes: [1; MAX_RANK],
            strides: [[0; MAX_RANK]; MOST_TENSORS],
            steps: [end; Requantize::MOST_STEPS],
            forms: [BoxForm::Strided; MOST_TENSORS],
            numbers: [StepNumber::F32; Requantize::MOST_OPERANDS],
            step_count: what.steps.len() as u32,
            operand_count: what.operands.len() as u32,
            output: what.output,
            parts: 0,
            isa,
        };
        for (to, step) in kernel.steps.iter_mut().zip(what.steps) {
            *to = (*step).into();
            assert!(to.source >= ASIDE || to.source < kernel.operand_count, "an operand of {step:?}");
        }
        kernel.numbers[..what.operands.len()].copy_from_slice(what.operands);
        let first = MAX_RANK - sizes.len();
        for (to, size) in kernel.sizes[first..].iter_mut().zip(sizes) {
            *to = *size as u64;
        }
        let bytes =
            std::iter::once(what.output.bytes()).chain(what.operands.iter().map(|number| number.bytes()));
        for ((to, strides), bytes) in kernel.strides.iter_mut().zip(strides).zip(bytes) {
            for (to, stride) in to[first..].iter_mut().zip(strides) {
                *to = stride * bytes as i64;
            }
        }
        for tensor in 0..strides.len() {
            kernel.forms[tensor] = kernel.form(tensor);
        }
        let work = sizes.iter().product::<usize>() * what.steps.len();
        kernel.parts = work.div_ceil(MIN_PART).min(4 * threads) as u32;
        kernel
    }

    /// Bytes of an element of a tensor.
    #[inline(always)]
    fn bytes(&self, tensor: usize) -> usize {
        match tensor {
            0 => self.output.bytes(),
            _ => self.numbers[tensor - 1].bytes(),
        }
    }

    /// How a tensor lies in memory.
    fn form(&self, tensor: usize) -> BoxForm {
        let axes = || self.sizes.iter().zip(&self.strides[tensor]).rev().filter(|(size, _)| **size > 1);
        if axes().all(|(_, stride)| *stride == 0) && tensor > 0 {
            return BoxForm::One;
        }
        let mut apart = self.bytes(tensor) as i64;
        for (size, stride) in axes() {
            if *stride != apart {
                return BoxForm::Strided;
            }
            apart *= *size as i64;
        }
        BoxForm::Flat
    }
}

// SAFETY: 8-byte integers, then 4-byte fields, an even number of them (a step has three): no padding; `entry`
// reads this type.
unsafe impl Kernel for Requantize {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Requantize>(self.isa)
    }
}

const _: () = assert!(
    size_of::<Requantize>()
        == 8 * (MAX_RANK + MAX_RANK * MOST_TENSORS)
            + 4 * (3 * Requantize::MOST_STEPS + MOST_TENSORS + Requantize::MOST_OPERANDS + 5)
);

impl KernelBody for Requantize {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let count: u64 = self.sizes.iter().product();
        let range = piece(count as usize, self.parts as usize, part as usize);
        let columns = self.sizes[LAST] as usize;
        let most = VECTORS * S::LANES;
        let mut at = Iteration { first: range.start, row: 0, column: 0 };
        if range.start < range.end {
            at.row = range.start / columns;
            at.column = range.start % columns;
        }
        while at.first < range.end {
            let mut count = most.min(range.end - at.first);
            // A chunk of long rows ends with its row, so that it is one piece.
            if columns >= most {
                count = count.min(columns - at.column);
            }
            // SAFETY: the operands have the extents that the descriptor was made for, and parts write
            // disjoint elements.
            unsafe {
                // A number of elements known at compile time needs no masks.
                match count == most {
                    true => self.chunk(s, operands, at, VECTORS * S::LANES),
                    false => self.chunk(s, operands, at, count),
                }
            }
            at.first += count;
            at.column += count;
            while at.column >= columns {
                at.column -= columns;
                at.row += 1;
            }
        }
    }
}

/// An iteration, counted from the first, and as a row and a column.
#[derive(Clone, Copy)]
struct Iteration {
    first: usize,
    row: usize,
    column: usize,
}

/// Elements of a row: its number, the first column, how many, and how many of the chunk are before.
#[derive(Clone, Copy)]
struct RowPiece {
    row: usize,
    column: usize,
    count: usize,
    done: usize,
}

impl Requantize {
    /// The pieces of rows in `count` iterations.
    #[inline(always)]
    fn pieces(&self, at: Iteration, count: usize) -> impl Iterator<Item = RowPiece> {
        let columns = self.sizes[LAST] as usize;
        let Iteration { mut row, mut column, .. } = at;
        let mut done = 0;
        std::iter::from_fn(move || {
            let piece = RowPiece { row, column, count: (columns - column).min(count - done), done };
            row += 1;
            column = 0;
            done += piece.count;
            (piece.count > 0).then_some(piece)
        })
    }

    /// Where an element of a tensor lies, in bytes, and the distance to the next one of its row.
    #[inline(always)]
    fn place(&self, tensor: usize, row: usize, column: usize) -> [isize; 2] {
        let apart = self.strides[tensor][LAST] as isize;
        [row_start(&self.sizes, &self.strides[tensor], row) + column as isize * apart, apart]
    }

    /// Computes `count` elements, at most [`VECTORS`] vectors, from an iteration on.
    ///
    /// # Safety
    /// The machine has `S`; the operands have these elements.
    #[inline(always)]
    unsafe fn chunk<S: Simd>(&self, s: S, operands: OperandTable, at: Iteration, count: usize) {
        let mut value = [s.splat(0.0); VECTORS];
        let mut aside = value;
        for step in &self.steps[..(self.step_count as usize).min(Requantize::MOST_STEPS)] {
            let other = match step.source {
                NUMBER => [s.splat(step.number); VECTORS],
                ASIDE => aside,
                // SAFETY: the caller's promise; the operand exists.
                operand => unsafe { self.load(s, operand as usize, operands, at, count) },
            };
            macro_rules! each {
                (|$value:ident, $other:ident| $after:expr) => {{
                    for ($value, $other) in value.iter_mut().zip(other) {
                        *$value = $after;
                    }
                }};
            }
            match step.action {
                StepAction::Load => value = other,
                StepAction::SetAside => aside = value,
                StepAction::Add => each!(|value, other| s.add(*value, other)),
                StepAction::Sub => each!(|value, other| s.sub(*value, other)),
                StepAction::SubFrom => each!(|value, other| s.sub(other, *value)),
                StepAction::Mul => each!(|value, other| s.mul(*value, other)),
                StepAction::Div => each!(|value, other| s.div(*value, other)),
                StepAction::DivInto => each!(|value, other| s.div(other, *value)),
                StepAction::Max => each!(|value, other| s.max(other, *value)),
                StepAction::Min => each!(|value, other| s.min(other, *value)),
                StepAction::Round => each!(|value, _other| s.round(*value)),
                StepAction::Unsigned => each!(|value, _other| cut_unsigned(s, *value)),
                StepAction::Signed => each!(|value, _other| cut_signed(s, *value)),
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.store(s, operands.get::<u8>(0), at, count, value) }
    }

    /// Loads `count` elements of an operand as floats.
    ///
    /// # Safety
    /// As [`Requantize::chunk`]; the operand exists.
    #[inline(always)]
    unsafe fn load<S: Simd>(
        &self,
        s: S,
        operand: usize,
        operands: OperandTable,
        at: Iteration,
        count: usize,
    ) -> [S::F; VECTORS] {
        let number = self.numbers[operand];
        // SAFETY: the caller's promise.
        unsafe {
            let from = operands.get::<u8>(1 + operand).cast_const();
            match self.forms[1 + operand] {
                BoxForm::One => [s.splat(element(number, from)); VECTORS],
                BoxForm::Flat => load_side_by_side(s, number, from.add(at.first * number.bytes()), count),
                BoxForm::Strided if self.is_one_piece(1 + operand, at, count) => {
                    let [offset, apart] = self.place(1 + operand, at.row, at.column);
                    match apart {
                        0 => [s.splat(element(number, from.offset(offset))); VECTORS],
                        _ => load_side_by_side(s, number, from.offset(offset), count),
                    }
                }
                BoxForm::Strided => {
                    let mut floats = [0.0f32; (VECTORS + 1) * MOST_LANES];
                    let to = floats.as_mut_ptr();
                    S::vectorize(LoadPieces { kernel: self, operand, from, at, count, to });
                    load_side_by_side(s, StepNumber::F32, to.cast_const().cast(), VECTORS * S::LANES)
                }
            }
        }
    }

    /// Whether `count` elements of a tensor lie one after the other, or are the same one, in one row.
    #[inline(always)]
    fn is_one_piece(&self, tensor: usize, at: Iteration, count: usize) -> bool {
        let apart = self.strides[tensor][LAST];
        let is_simple = apart == 0 || apart == self.bytes(tensor) as i64;
        is_simple && count <= self.sizes[LAST] as usize - at.column
    }

    /// Stores `count` elements of the result.
    ///
    /// # Safety
    /// As [`Requantize::chunk`].
    #[inline(always)]
    unsafe fn store<S: Simd>(&self, s: S, to: *mut u8, at: Iteration, count: usize, value: [S::F; VECTORS]) {
        let bytes = self.output.bytes();
        // SAFETY: the caller's promise; lanes after the valid ones are not accessed.
        unsafe {
            if self.forms[0] == BoxForm::Flat {
                return store_side_by_side(s, self.output, to.add(at.first * bytes), count, value);
            }
            let mut stored = [0u8; 4 * VECTORS * MOST_LANES];
            store_side_by_side(s, self.output, stored.as_mut_ptr(), count, value);
            S::vectorize(StorePieces { kernel: self, from: stored.as_ptr(), at, count, to });
        }
    }
}

/// Loads elements of an operand row by row, as floats.
///
/// # Safety
/// Of running it: the operand has these elements, and `to` room for them and a vector more.
struct LoadPieces<'k> {
    kernel: &'k Requantize,
    operand: usize,
    from: *const u8,
    at: Iteration,
    count: usize,
    to: *mut f32,
}

impl<S: Simd> Task<S> for LoadPieces<'_> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let LoadPieces { kernel, operand, from, at, count, to } = self;
        let number = kernel.numbers[operand];
        for piece in kernel.pieces(at, count) {
            let [offset, apart] = kernel.place(1 + operand, piece.row, piece.column);
            // SAFETY: the caller's promise. Vectors are stored whole, also the last one of a piece.
            unsafe {
                let from = from.offset(offset);
                let to = to.add(piece.done);
                if apart == number.bytes() as isize {
                    for first in (0..piece.count).step_by(S::LANES) {
                        let from = from.add(first * number.bytes());
                        s.store(to.add(first), load_vector(s, number, from, piece.count - first));
                    }
                } else if apart == 0 {
                    for first in (0..piece.count).step_by(S::LANES) {
                        s.store(to.add(first), s.splat(element(number, from)));
                    }
                } else {
                    for index in 0..piece.count {
                        *to.add(index) = element(number, from.offset(index as isize * apart));
                    }
                }
            }
        }
    }
}

/// Stores elements of the result row by row.
///
/// # Safety
/// Of running it: the result has these elements, and so has `from`.
struct StorePieces<'k> {
    kernel: &'k Requantize,
    from: *const u8,
    at: Iteration,
    count: usize,
    to: *mut u8,
}

impl<S: Simd> Task<S> for StorePieces<'_> {
    #[inline(always)]
    unsafe fn run(self, _s: S) {
        let StorePieces { kernel, from, at, count, to } = self;
        let bytes = kernel.output.bytes();
        for piece in kernel.pieces(at, count) {
            let [offset, apart] = kernel.place(0, piece.row, piece.column);
            // SAFETY: the caller's promise.
            unsafe {
                let from = from.add(piece.done * bytes);
                let to = to.offset(offset);
                if apart == bytes as isize {
                    std::ptr::copy_nonoverlapping(from, to, piece.count * bytes);
                    continue;
                }
                for index in 0..piece.count {
                    let to = to.offset(index as isize * apart);
                    std::ptr::copy_nonoverlapping(from.add(index * bytes), to, bytes);
                }
            }
        }
    }
}

/// Loads the first `count` elements, at most a vector, as floats; zero in the other lanes.
///
/// # Safety
/// `from` is valid for reads of them.
#[inline(always)]
unsafe fn load_vector<S: Simd>(s: S, number: StepNumber, from: *const u8, count: usize) -> S::F {
    // SAFETY: the caller's promise.
    unsafe {
        match number {
            StepNumber::F32 => s.load_first(from.cast::<f32>(), count),
            StepNumber::U8 => s.to_float(s.load_unsigned(from, count)),
            StepNumber::I8 => s.to_float(s.load_signed(from, count)),
        }
    }
}

/// Loads `count` elements that lie one after the other, as floats.
///
/// # Safety
/// `from` is valid for reads of them.
#[inline(always)]
unsafe fn load_side_by_side<S: Simd>(
    s: S,
    number: StepNumber,
    from: *const u8,
    count: usize,
) -> [S::F; VECTORS] {
    let mut values = [s.splat(0.0); VECTORS];
    for (v, value) in values.iter_mut().enumerate() {
        let first = v * S::LANES;
        let from = from.wrapping_add(first * number.bytes());
        // SAFETY: the caller's promise; lanes after the valid ones are not accessed.
        *value = unsafe { load_vector(s, number, from, count.saturating_sub(first)) };
    }
    values
}

/// An element as a float.
///
/// # Safety
/// `from` is valid for reads of it.
#[inline(always)]
unsafe fn element(number: StepNumber, from: *const u8) -> f32 {
    // SAFETY: the caller's promise.
    unsafe {
        match number {
            StepNumber::F32 => *from.cast::<f32>(),
            StepNumber::U8 => f32::from(*from),
            StepNumber::I8 => f32::from(*from.cast::<i8>()),
        }
    }
}

/// Stores `count` elements one after the other.
///
/// # Safety
/// `to` is valid for writes of them.
#[inline(always)]
unsafe fn store_side_by_side<S: Simd>(
    s: S,
    output: StepNumber,
    to: *mut u8,
    count: usize,
    value: [S::F; VECTORS],
) {
    for (v, value) in value.into_iter().enumerate() {
        let first = v * S::LANES;
        if first >= count {
            return;
        }
        let left = count - first;
        // SAFETY: the caller's promise.
        unsafe {
            match output {
                StepNumber::F32 => s.store_first(to.cast::<f32>().add(first), left, value),
                StepNumber::U8 => s.store_unsigned(to.add(first), left, value),
                StepNumber::I8 => s.store_signed(to.add(first), left, value),
            }
        }
    }
}

#[cfg(test)]
mod tests;
