//! Detection of instruction sets: levels of x86-64, queried from the processor itself.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

use kernels::Isa;

/// Whether the machine has the instructions of code for the instruction set `isa`.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has(isa: u64) -> bool {
    if isa == Isa::Scalar as u64 {
        return true;
    }
    if isa == Isa::Aarch64 as u64 {
        return false;
    }
    if __cpuid(0).eax < 7 || __cpuid(0x8000_0000).eax < 0x8000_0001 {
        return false;
    }
    // SSE3, SSSE3, FMA, CMPXCHG16B, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX, F16C.
    const V3_1: u32 = bits(&[0, 9, 12, 13, 19, 20, 22, 23, 27, 28, 29]);
    // BMI1, AVX2, BMI2.
    const V3_7: u32 = bits(&[3, 5, 8]);
    // AVX-512 F, DQ, CD, BW, VL.
    const V4_7: u32 = bits(&[16, 17, 28, 30, 31]);
    // LZCNT.
    const V3_EXTENDED: u32 = bits(&[5]);
    let seventh = __cpuid_count(7, 0).ebx;
    if !holds(__cpuid(1).ecx, V3_1) || !holds(seventh, V3_7) || !holds(__cpuid(0x8000_0001).ecx, V3_EXTENDED)
    {
        return false;
    }
    // SAFETY: the bit OSXSAVE tells that the instruction exists.
    let saved = unsafe { saved_registers() };
    // The system must save the registers of AVX, or of AVX-512.
    match isa == Isa::Avx512 as u64 {
        true => holds(seventh, V4_7) && holds(saved, 0b1110_0110),
        false => holds(saved, 0b110),
    }
}

/// Other machines run only portable code, and AArch64 has no levels.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn has(isa: u64) -> bool {
    isa == Isa::Scalar as u64 || isa == Isa::Aarch64 as u64 && cfg!(target_arch = "aarch64")
}

/// The registers that the system saves for a thread.
///
/// # Safety
/// The machine has the instruction XGETBV.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
unsafe fn saved_registers() -> u32 {
    // SAFETY: register 0 always exists.
    unsafe { _xgetbv(0) as u32 }
}

#[cfg(target_arch = "x86_64")]
const fn bits(numbers: &[u32]) -> u32 {
    let (mut all, mut index) = (0, 0);
    while index < numbers.len() {
        all |= 1 << numbers[index];
        index += 1;
    }
    all
}

#[cfg(target_arch = "x86_64")]
const fn holds(found: u32, wanted: u32) -> bool {
    found & wanted == wanted
}
