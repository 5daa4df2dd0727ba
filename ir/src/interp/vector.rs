//! Vectorized loops without unsafe code.

/// Runs `body` compiled for AVX2 and fused multiply-add if the machine has them. The results have the same
/// bits in any case: `mul_add` rounds once on every machine, and is only slower if it is a library call.
///
/// Functions called by `body` only profit if they are inlined into it.
#[inline(always)]
pub(super) fn vectorised<R>(body: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(body)
}
