//! Arg-max and running sums along one axis.
//!
//! The operand is dense, `[outer, count, inner]`. A line consists of the `count` elements with equal first
//! and last index. One part processes a line, in order, so the bits do not depend on the number of parts.

use std::ops::Range;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::isa::Isa;
use crate::simd::Simd;

/// The type of an element; a truth value is a byte 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[expect(missing_docs, reason = "the names are the types")]
pub enum NumberType {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

/// Calls `$self.$method::<T>(...)` for the type `T` of a [`NumberType`].
macro_rules! by_number {
    ($number:expr, $self:ident.$method:ident($($argument:expr),*)) => {
        match $number {
            NumberType::F32 => $self.$method::<f32>($($argument),*),
            NumberType::F64 => $self.$method::<f64>($($argument),*),
            NumberType::I8 => $self.$method::<i8>($($argument),*),
            NumberType::I16 => $self.$method::<i16>($($argument),*),
            NumberType::I32 => $self.$method::<i32>($($argument),*),
            NumberType::I64 => $self.$method::<i64>($($argument),*),
            NumberType::U8 => $self.$method::<u8>($($argument),*),
            NumberType::U16 => $self.$method::<u16>($($argument),*),
            NumberType::U32 => $self.$method::<u32>($($argument),*),
            NumberType::U64 => $self.$method::<u64>($($argument),*),
        }
    };
}

pub(crate) use by_number;

/// Arithmetic on an element type: floats round, integers wrap.
pub(crate) trait Arithmetic: Copy + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    ($($ty:ty: $zero:literal $one:literal $plus:path, $times:path;)*) => {$(
        impl Arithmetic for $ty {
            const ZERO: $ty = $zero;
            const ONE: $ty = $one;
            #[inline(always)]
            fn plus(self, other: $ty) -> $ty {
                $plus(self, other)
            }
            #[inline(always)]
            fn times(self, other: $ty) -> $ty {
                $times(self, other)
            }
        }
    )*};
}

arithmetic! {
    f32: 0.0 1.0 std::ops::Add::add, std::ops::Mul::mul;
    f64: 0.0 1.0 std::ops::Add::add, std::ops::Mul::mul;
    i8: 0 1 i8::wrapping_add, i8::wrapping_mul;
    i16: 0 1 i16::wrapping_add, i16::wrapping_mul;
    i32: 0 1 i32::wrapping_add, i32::wrapping_mul;
    i64: 0 1 i64::wrapping_add, i64::wrapping_mul;
    u8: 0 1 u8::wrapping_add, u8::wrapping_mul;
    u16: 0 1 u16::wrapping_add, u16::wrapping_mul;
    u32: 0 1 u32::wrapping_add, u32::wrapping_mul;
    u64: 0 1 u64::wrapping_add, u64::wrapping_mul;
}

/// The lines of an operand.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct OperandLines {
    outer: u64,
    count: u64,
    inner: u64,
}

impl OperandLines {
    /// The lines of an operand `[outer, count, inner]`.
    pub(crate) fn new(sizes: [usize; 3]) -> OperandLines {
        let [outer, count, inner] = sizes.map(|size| size as u64);
        OperandLines { outer, count, inner }
    }

    /// The number of elements of a line, and the stride between two of them.
    #[inline(always)]
    pub(crate) fn count_and_inner(self) -> (usize, usize) {
        (self.count as usize, self.inner as usize)
    }

    /// Parts for `threads`: none smaller than some ten thousand elements.
    pub(crate) fn parts(&self, threads: usize) -> u32 {
        let lines = (self.outer * self.inner) as usize;
        let worth = (lines * self.count as usize).div_ceil(16_384);
        lines.min(worth.max(1)).min(threads * 4) as u32
    }

    /// The lines of a part: each line's number and its first element.
    #[inline(always)]
    pub(crate) fn of_part(self, parts: u32, part: u32) -> impl Iterator<Item = (usize, usize)> {
        let inner = self.inner as usize;
        let lines: Range<usize> = piece(self.outer as usize * inner, parts as usize, part as usize);
        lines.map(move |line| (line, line / inner * self.count as usize * inner + line % inner))
    }
}

/// The kind of element to find in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Extreme {
    /// The first of equal maxima.
    FirstMax,
    /// The last of equal maxima.
    LastMax,
    /// The first of equal minima.
    FirstMin,
    /// The last of equal minima.
    LastMin,
}

/// The index, an `i64`, of the extreme element of each line. Lines are not empty. The index is 0 until
/// another element compares as more extreme (a NaN never does). Operands: `[out, x]`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ArgExtreme {
    lines: OperandLines,
    number: NumberType,
    extreme: Extreme,
    parts: u32,
    isa: Isa,
}

impl ArgExtreme {
    /// The kernel for an operand `[outer, count, inner]`.
    pub fn new(
        [outer, count, inner]: [usize; 3],
        number: NumberType,
        extreme: Extreme,
        isa: Isa,
        threads: usize,
    ) -> ArgExtreme {
        assert!(count > 0, "a line has an element");
        let lines = OperandLines::new([outer, count, inner]);
        ArgExtreme { lines, number, extreme, parts: lines.parts(threads), isa }
    }

    #[inline(always)]
    unsafe fn part<T: Arithmetic>(&self, operands: OperandTable, part: u32) {
        let replaces = |x: T, best: T| match self.extreme {
            Extreme::FirstMax => x > best,
            Extreme::LastMax => x >= best,
            Extreme::FirstMin => x < best,
            Extreme::LastMin => x <= best,
        };
        for (line, start) in self.lines.of_part(self.parts, part) {
            // SAFETY: the operands have the extents that the descriptor was made for; parts write disjoint
            // lines.
            unsafe {
                let x = operands.get::<T>(1).add(start);
                let mut best = *x;
                let mut found = 0;
                for index in 1..self.lines.count as usize {
                    let element = *x.add(index * self.lines.inner as usize);
                    if replaces(element, best) {
                        (best, found) = (element, index);
                    }
                }
                *operands.get::<i64>(0).add(line) = found as i64;
            }
        }
    }
}

// SAFETY: three `u64` and four `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for ArgExtreme {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<ArgExtreme>(self.isa)
    }
}

impl KernelBody for ArgExtreme {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        // SAFETY: the caller's promise; elements are of the type that the descriptor names.
        unsafe { by_number!(self.number, self.part(operands, part)) }
    }
}

/// The operation that accumulates elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Accumulation {
    /// Sums.
    Sum,
    /// Products.
    Product,
}

/// Whether a result includes the element at its own index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OwnElement {
    /// It does.
    Included,
    /// A result accumulates only the elements before it.
    Excluded,
}

/// The end of a line at which accumulation starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Direction {
    /// The first element comes first.
    Forward,
    /// The last element comes first.
    Backward,
}

/// Cumulative sums or products along each line. Operands: `[out, x]`, which may be the same.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Cumulate {
    lines: OperandLines,
    number: NumberType,
    running: Accumulation,
    own: OwnElement,
    direction: Direction,
    parts: u32,
    isa: Isa,
}

impl Cumulate {
    /// The kernel for an operand `[outer, count, inner]`.
    pub fn new(
        [outer, count, inner]: [usize; 3],
        number: NumberType,
        (running, own, direction): (Accumulation, OwnElement, Direction),
        isa: Isa,
        threads: usize,
    ) -> Cumulate {
        let lines = OperandLines::new([outer, count, inner]);
        Cumulate { lines, number, running, own, direction, parts: lines.parts(threads), isa }
    }

    #[inline(always)]
    unsafe fn part<T: Arithmetic>(&self, operands: OperandTable, part: u32) {
        let (count, inner) = (self.lines.count as usize, self.lines.inner as usize);
        for (_, start) in self.lines.of_part(self.parts, part) {
            let mut sum = match self.running {
                Accumulation::Sum => T::ZERO,
                Accumulation::Product => T::ONE,
            };
            for step in 0..count {
                let index = match self.direction {
                    Direction::Forward => step,
                    Direction::Backward => count - 1 - step,
                };
                let at = start + index * inner;
                // SAFETY: the operands have the extents that the descriptor was made for; parts access
                // disjoint lines, and an element is read before its place is written.
                unsafe {
                    let x = *operands.get::<T>(1).add(at);
                    let next = match self.running {
                        Accumulation::Sum => sum.plus(x),
                        Accumulation::Product => sum.times(x),
                    };
                    *operands.get::<T>(0).add(at) = if self.own == OwnElement::Included { next } else { sum };
                    sum = next;
                }
            }
        }
    }
}

// SAFETY: three `u64` and six `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for Cumulate {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Cumulate>(self.isa)
    }
}

impl KernelBody for Cumulate {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        // SAFETY: the caller's promise; elements are of the type that the descriptor names.
        unsafe { by_number!(self.number, self.part(operands, part)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<K: Kernel, T, U>(kernel: &K, out: &mut [T], x: &[U]) {
        let ptrs: [*mut u8; 2] = [out.as_mut_ptr().cast(), x.as_ptr().cast_mut().cast()];
        for part in 0..kernel.parts() {
            // SAFETY: the operands have the extents that the test made the descriptor for; no scratch is
            // used.
            unsafe { kernel.entry()(kernel.as_bytes().as_ptr(), ptrs.as_ptr(), part, std::ptr::null_mut()) }
        }
    }

    #[test]
    fn the_first_or_the_last_of_equal_elements_is_found() {
        let x = [1, 7, 7, -2, -2, 3i16];
        for (extreme, expected) in
            [(Extreme::FirstMax, 1), (Extreme::LastMax, 2), (Extreme::FirstMin, 3), (Extreme::LastMin, 4)]
        {
            let mut out = [-1i64];
            run(&ArgExtreme::new([1, 6, 1], NumberType::I16, extreme, Isa::detect(), 2), &mut out, &x);
            assert_eq!(out, [expected], "{extreme:?}");
        }
    }

    #[test]
    fn lines_apart_are_found_in_parts() {
        let [outer, count, inner] = if cfg!(miri) { [2, 3, 33] } else { [5, 70, 130] };
        let x: Vec<f32> = (0..outer * count * inner).map(|i| ((i * 7919) % 100_003) as f32).collect();
        let mut out = vec![-1i64; outer * inner];
        let kernel =
            ArgExtreme::new([outer, count, inner], NumberType::F32, Extreme::FirstMax, Isa::detect(), 2);
        assert!(cfg!(miri) || kernel.parts() > 1);
        run(&kernel, &mut out, &x);
        for (line, found) in out.iter().enumerate() {
            let at = |index: usize| x[(line / inner * count + index) * inner + line % inner];
            let expected = (0..count).fold(0, |best, index| if at(index) > at(best) { index } else { best });
            assert_eq!(*found, expected as i64, "line {line}");
        }
    }

    #[test]
    fn running_sums_overwrite_their_operand_from_either_end() {
        let kernel = |way| Cumulate::new([1, 3, 2], NumberType::I32, way, Isa::detect(), 2);
        let x = [1, 10, 2, 20, 3, 30];
        for (own, direction, expected) in [
            (OwnElement::Included, Direction::Forward, [1, 10, 3, 30, 6, 60]),
            (OwnElement::Excluded, Direction::Forward, [0, 0, 1, 10, 3, 30]),
            (OwnElement::Included, Direction::Backward, [6, 60, 5, 50, 3, 30]),
            (OwnElement::Excluded, Direction::Backward, [5, 50, 3, 30, 0, 0]),
        ] {
            let mut out = x;
            let place = out.as_mut_ptr().cast();
            let kernel = kernel((Accumulation::Sum, own, direction));
            // SAFETY: six elements, read and written at the same place; no scratch is used.
            unsafe {
                kernel.entry()(kernel.as_bytes().as_ptr(), [place; 2].as_ptr(), 0, std::ptr::null_mut());
            }
            assert_eq!(out, expected);
        }
        let mut products = [0; 6];
        run(&kernel((Accumulation::Product, OwnElement::Included, Direction::Forward)), &mut products, &x);
        assert_eq!(products, [1, 10, 2, 200, 6, 6000]);
    }
}
