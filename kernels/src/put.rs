//! Scatter: slices are written by index, after [`crate::CheckIndices`] has checked that every index is in
//! range.
//!
//! One part applies the updates in order. So the last of several updates of one slice counts, and sums have
//! the same bits at any number of threads.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::along::{Arithmetic, NumberType, by_number};
use crate::isa::Isa;
use crate::simd::Simd;
use crate::take::Indices;

/// How an update and an element are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Join {
    /// The update replaces the element.
    Replace,
    /// Their sum.
    Add,
    /// Their product.
    Multiply,
    /// The larger one: the element if it compares as larger, otherwise the update.
    Max,
    /// The smaller one: the element if it compares as smaller, otherwise the update.
    Min,
}

/// Slices written by index. Operands: `[out, x, indices, updates]`: `out` and `x`, which may be the same,
/// have one slice for each possible index, and `updates` one for each index.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Put {
    indices: Indices,
    /// Elements of a slice.
    slice: u64,
    number: NumberType,
    join: Join,
    isa: Isa,
    parts: u32,
}

impl Put {
    /// The kernel for these indices, with slices of this number of elements.
    pub fn new(indices: Indices, slice: usize, number: NumberType, join: Join, isa: Isa) -> Put {
        let parts = u32::from(slice > 0 && indices.size > 0);
        Put { indices, slice: slice as u64, number, join, isa, parts }
    }

    #[inline(always)]
    unsafe fn part<T: Arithmetic>(&self, operands: OperandTable) {
        let slice = self.slice as usize;
        // SAFETY: the operands have the extents that the descriptor was made for, and a slice is one of
        // `size`; an index out of range, already reported, is skipped.
        unsafe {
            let out = operands.get::<T>(0);
            let x = operands.get::<T>(1).cast_const();
            if out.cast_const() != x {
                std::ptr::copy_nonoverlapping(x, out, self.indices.size as usize * slice);
            }
            for at in 0..self.indices.count as usize {
                let Some(to) = self.indices.slice(operands.get::<u8>(2), at) else { continue };
                let update = operands.get::<T>(3).add(at * slice);
                for i in 0..slice {
                    let own = out.add(to * slice + i);
                    let new = *update.add(i);
                    *own = match self.join {
                        Join::Replace => new,
                        Join::Add => (*own).plus(new),
                        Join::Multiply => (*own).times(new),
                        Join::Max if *own > new => *own,
                        Join::Min if *own < new => *own,
                        Join::Max | Join::Min => new,
                    };
                }
            }
        }
    }
}

// SAFETY: three `u64`, two `u32` in `indices` and four after it, without padding; `entry` reads this type.
unsafe impl Kernel for Put {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Put>(self.isa)
    }
}

impl KernelBody for Put {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, _part: u32, _scratch: *mut u8) {
        // SAFETY: the caller's promise; elements are of the type that the descriptor names.
        unsafe { by_number!(self.number, self.part(operands)) }
    }
}
