//! Sorting along one axis: the indices of a line's elements in the order of the elements (argsort).

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::along::{Arithmetic, Direction, NumberType, OperandLines, by_number};
use crate::isa::Isa;
use crate::simd::Simd;

/// For each line, the indices of its elements in ascending or descending order; equal elements stay in the
/// order of their indices, and NaN counts as the largest of all. Operands: `[out, x]`, with indices as `i64`.
/// Scratch holds the indices of a line.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ArgSort {
    lines: OperandLines,
    number: NumberType,
    direction: Direction,
    parts: u32,
    isa: Isa,
}

/// Elements of all types are sorted as unsigned keys: the code of a sort is large, so few copies are
/// compiled.
trait SortKey: Arithmetic {
    /// Whether all keys fit into 32 bits.
    const IS_NARROW: bool;
    /// The sort key, in the order of the elements: equal for equal elements, and largest for NaN.
    fn key(self) -> u64;
}

macro_rules! sort_keys {
    ($($ty:ty as $bits:ty, $element:ident => $key:expr;)*) => {$(
        impl SortKey for $ty {
            const IS_NARROW: bool = size_of::<$ty>() <= 4;
            #[inline(always)]
            fn key(self) -> u64 {
                let $element = self;
                let key: $bits = $key;
                u64::from(key)
            }
        }
    )*};
}

sort_keys! {
    f32 as u32, x => if x.is_nan() { u32::MAX } else { ordered((x + 0.0).to_bits()) };
    f64 as u64, x => if x.is_nan() { u64::MAX } else { ordered_wide((x + 0.0).to_bits()) };
    i8 as u32, x => x as i32 as u32 ^ (1 << 31);
    i16 as u32, x => x as i32 as u32 ^ (1 << 31);
    i32 as u32, x => x as u32 ^ (1 << 31);
    i64 as u64, x => x as u64 ^ (1 << 63);
    u8 as u32, x => u32::from(x);
    u16 as u32, x => u32::from(x);
    u32 as u32, x => x;
    u64 as u64, x => x;
}

/// The bits of a float as an integer in the same order: negative numbers have their bits inverted.
#[inline(always)]
fn ordered(bits: u32) -> u32 {
    bits ^ (((bits as i32) >> 31) as u32 | 1 << 31)
}

/// The same for 64 bits.
#[inline(always)]
fn ordered_wide(bits: u64) -> u64 {
    bits ^ (((bits as i64) >> 63) as u64 | 1 << 63)
}

/// Sorts the indices from 0 on by their keys, and equal keys by index: each key and its index are packed in
/// one number.
#[inline(always)]
fn sort_narrow(indices: &mut [i64], key: impl Fn(usize) -> u64) {
    for (index, packed) in indices.iter_mut().enumerate() {
        // The order of the keys is unsigned, that of `i64` is not.
        *packed = ((key(index) << 32 | index as u64) ^ (1 << 63)) as i64;
    }
    indices.sort_unstable();
    for packed in indices {
        *packed &= i64::from(u32::MAX);
    }
}

/// The same for keys too large to be packed with an index; `flip` is 0, or all ones for descending order.
fn sort_wide(indices: &mut [i64], key: &dyn Fn(usize) -> u64, flip: u64) {
    for (index, place) in indices.iter_mut().enumerate() {
        *place = index as i64;
    }
    indices.sort_unstable_by_key(|index| (key(*index as usize) ^ flip, *index));
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
    unsafe fn part<T: SortKey>(&self, operands: OperandTable, part: u32, scratch: *mut u8) {
        let (count, inner) = self.lines.count_and_inner();
        let flip = if self.direction == Direction::Forward { 0 } else { u64::MAX };
        for (_, start) in self.lines.of_part(self.parts, part) {
            // SAFETY: the operands have the extents that the descriptor was made for, scratch that of `count`
            // indices; parts write disjoint lines and have scratch of their own.
            unsafe {
                let x = operands.get::<T>(1).add(start);
                let scratch = scratch.cast::<i64>();
                scratch.write_bytes(0, count);
                let indices = std::slice::from_raw_parts_mut(scratch, count);
                let key = |index: usize| (*x.add(index * inner)).key();
                if T::IS_NARROW && u32::try_from(count).is_ok() {
                    let flip = flip & u64::from(u32::MAX);
                    sort_narrow(indices, |index| key(index) ^ flip);
                } else {
                    sort_wide(indices, &key, flip);
                }
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
