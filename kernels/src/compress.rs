//! Compaction: slices selected by a condition are moved together and counted.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of};
use crate::isa::Isa;
use crate::simd::Simd;

/// Slices selected by a condition. Operands: `[out, count, x, condition]`: `x` has `[outer, size]` slices,
/// `out` has `[outer, kept]`, there are `kept` conditions of one byte, and the count is an `i64`. The slices
/// of `out` after the selected ones are zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Compress {
    outer: u64,
    size: u64,
    kept: u64,
    slice_bytes: u64,
    isa: Isa,
    reserved: u32,
}

impl Compress {
    /// The kernel for `outer` times `size` slices, with conditions for the first `kept`.
    ///
    /// # Panics
    /// If there are more conditions than slices.
    pub fn new(outer: usize, size: usize, kept: usize, slice_bytes: usize, isa: Isa) -> Compress {
        assert!(kept <= size, "{kept} conditions for {size} slices");
        let [outer, size, kept, slice_bytes] = [outer, size, kept, slice_bytes].map(|number| number as u64);
        Compress { outer, size, kept, slice_bytes, isa, reserved: 0 }
    }
}

// SAFETY: four `u64` and two `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for Compress {
    fn parts(&self) -> u32 {
        1
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Compress>(self.isa)
    }
}

impl KernelBody for Compress {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, _part: u32, _scratch: *mut u8) {
        let [outer, size, kept, bytes] =
            [self.outer, self.size, self.kept, self.slice_bytes].map(|number| number as usize);
        // SAFETY: the operands have the extents that the descriptor was made for; at most all `kept`
        // conditions hold, so at most `kept` slices are written.
        unsafe {
            let out = operands.get::<u8>(0);
            let x = operands.get::<u8>(2).cast_const();
            let condition = operands.get::<u8>(3).cast_const();
            let mut picked = 0;
            for number in 0..outer {
                let mut to = out.add(number * kept * bytes);
                picked = 0;
                for index in (0..kept).filter(|index| condition.add(*index).read() != 0) {
                    std::ptr::copy_nonoverlapping(x.add((number * size + index) * bytes), to, bytes);
                    to = to.add(bytes);
                    picked += 1;
                }
                to.write_bytes(0, (kept - picked) * bytes);
            }
            if outer == 0 {
                picked = (0..kept).filter(|index| condition.add(*index).read() != 0).count();
            }
            operands.get::<i64>(1).write_unaligned(picked as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check([outer, size]: [usize; 2], condition: &[u8], expected: &[u32], count: i64) {
        let x: Vec<u32> = (1..=(outer * size) as u32).collect();
        let kernel = Compress::new(outer, size, condition.len(), 4, Isa::detect());
        let mut out = vec![7u32; outer * condition.len()];
        let mut found = -1i64;
        let operands = [
            out.as_mut_ptr().cast::<u8>(),
            (&raw mut found).cast(),
            x.as_ptr().cast_mut().cast(),
            condition.as_ptr().cast_mut(),
        ];
        // SAFETY: the operands have the extents that the descriptor was made for; no scratch is used.
        unsafe {
            kernel.entry()(kernel.as_bytes().as_ptr(), operands.as_ptr(), 0, std::ptr::null_mut());
        }
        assert_eq!((&out[..], found), (expected, count));
    }

    #[test]
    fn picked_slices_stand_first_and_zeros_behind_them() {
        check([1, 4], &[0, 1, 1, 0], &[2, 3, 0, 0], 2);
        check([2, 3], &[1, 0, 1], &[1, 3, 0, 4, 6, 0], 2);
        check([2, 3], &[0, 1], &[2, 0, 5, 0], 1);
        check([1, 2], &[0, 0], &[0, 0], 0);
        check([1, 2], &[1, 1], &[1, 2], 2);
        check([0, 2], &[1, 0], &[], 1);
    }
}
