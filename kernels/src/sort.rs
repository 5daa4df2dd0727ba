//! Sorting along one axis: the indices of elements in the order of the elements.

use std::cmp::Ordering;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::along::{Arithmetic, Direction, NumberType, OperandLines, by_number};
use crate::isa::Isa;
use crate::simd::Simd;

/// For each line the indices of its elements, from the least element to the largest, or the other way; equal
/// elements in the order of their indices, and NaN as the largest of all. Operands: `[out, x]`, with indices
/// as `i64`. Scratch holds the indices of a line.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ArgSort {
    lines: OperandLines,
    number: NumberType,
    direction: Direction,
    parts: u32,
    isa: Isa,
}

/// The order of two elements, with NaN as the largest.
#[inline(always)]
fn order<T: PartialOrd + Copy>(a: T, b: T) -> Ordering {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    a.partial_cmp(&b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

impl ArgSort {
    /// The kernel for an operand `[outer, count, inner]`.
    pub fn new(
        [outer, count, inner]: [usize; 3],
        number: NumberType,
        direction: Direction,
        isa: Isa,
        threads: usize,
    ) -> ArgSort {
        let lines = OperandLines::new([outer, count, inner]);
        ArgSort { lines, number, direction, parts: lines.parts(threads), isa }
    }

    #[inline(always)]
    unsafe fn part<T: Arithmetic>(&self, operands: OperandTable, part: u32, scratch: *mut u8) {
        let (count, inner) = self.lines.count_and_inner();
        for (_, start) in self.lines.of_part(self.parts, part) {
            // SAFETY: the operands have the extents that the descriptor was made for, scratch that of `count`
            // indices; parts write other lines, and have scratch of their own.
            unsafe {
                let x = operands.get::<T>(1).add(start);
                let scratch = scratch.cast::<i64>();
                for index in 0..count {
                    scratch.add(index).write(index as i64);
                }
                let indices = std::slice::from_raw_parts_mut(scratch, count);
                let element = |index: i64| *x.add(index as usize * inner);
                indices.sort_unstable_by(|a, b| {
                    let order = order(element(*a), element(*b));
                    let order = if self.direction == Direction::Forward { order } else { order.reverse() };
                    order.then(a.cmp(b))
                });
                for (at, index) in indices.iter().enumerate() {
                    *operands.get::<i64>(0).add(start + at * inner) = *index;
                }
            }
        }
    }
}

// SAFETY: three `u64` and four `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for ArgSort {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        8 * self.lines.count_and_inner().0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<ArgSort>(self.isa)
    }
}

impl KernelBody for ArgSort {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        // SAFETY: the caller's promise; elements are of the type that the descriptor names.
        unsafe { by_number!(self.number, self.part(operands, part, scratch)) }
    }
}
