//! How loops get the machine's vector unit without unsafe code.

/// Runs `body` compiled for AVX2 and fused multiply-add where the machine has them. Results have the same
/// bits anyway: `mul_add` rounds once on every machine, only slower where it is a library call.
///
/// What `body` calls must be inlined into it to profit.
#[inline(always)]
pub(super) fn vectorised<R>(body: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(body)
}
