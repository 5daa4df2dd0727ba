//! Packing of elements of 2 or 4 bits (the first in the low bits) from bytes, and unpacking to bytes.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::isa::Isa;
use crate::simd::Simd;

/// The direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BitPacking {
    /// The low bits of bytes side by side; unused bits of the last byte are 0.
    Pack,
    /// Each element in a byte, zero-extended.
    Unpack,
    /// Each element in a byte, sign-extended.
    UnpackSigned,
}

/// Packs bytes, or unpacks packed elements. Operands: `[out, x]`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Bits {
    count: u64,
    bits: u32,
    packing: BitPacking,
    parts: u32,
    isa: Isa,
}

impl Bits {
    /// The kernel for this number of elements.
    ///
    /// # Panics
    /// If elements are not of 1, 2 or 4 bits.
    pub fn new(count: u64, bits: u32, packing: BitPacking, isa: Isa, threads: usize) -> Bits {
        assert!([1, 2, 4].contains(&bits), "elements of {bits} bits");
        let worth = count.div_ceil(65_536).min(4 * threads as u64);
        Bits { count, bits, packing, parts: worth as u32, isa }
    }
}

// SAFETY: a `u64` and four `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for Bits {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Bits>(self.isa)
    }
}

impl KernelBody for Bits {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let bits = self.bits as usize;
        let each = 8 / bits;
        let count = self.count as usize;
        let unused = 8 - self.bits;
        for byte in piece(count.div_ceil(each), self.parts as usize, part as usize) {
            let elements = byte * each..count.min((byte + 1) * each);
            // SAFETY: the operands have the extents that the descriptor was made for; parts write disjoint
            // bytes.
            unsafe {
                let out = operands.get::<u8>(0);
                let x = operands.get::<u8>(1).cast_const();
                if self.packing == BitPacking::Pack {
                    let packed = elements.clone().fold(0, |packed, at| {
                        packed | (*x.add(at) << unused >> unused) << ((at - elements.start) * bits)
                    });
                    *out.add(byte) = packed;
                    continue;
                }
                let packed = *x.add(byte);
                for at in elements.clone() {
                    let upper = packed >> ((at - elements.start) * bits) << unused;
                    *out.add(at) = match self.packing {
                        BitPacking::UnpackSigned => (upper.cast_signed() >> unused).cast_unsigned(),
                        _ => upper >> unused,
                    };
                }
            }
        }
    }
}
