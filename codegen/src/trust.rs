//! The unsafe part of this crate: promises that it makes to the runtime.
//!
//! Machine code stays within its buffers by construction, and no caller can check that. Every address in it
//! comes from a plan that [`crate::place`] has checked against the sizes of its memory. The sizes passed to a
//! call come from the lowering that chose its operands. For an embedder's own kernel, only the embedder can
//! promise the same.

#![allow(
    unsafe_code,
    reason = "code that was made here is handed to who runs it, and embedders vouch for theirs"
)]

use std::collections::BTreeMap;

use ir::body::OpRef;
use kernels::KernelFn;
use runtime::{CodeImage, LoadError, LoadedCode, Specialization, SpecializationParts};

use crate::entry;
use crate::row::{EmbedderKernel, KernelRow, KernelWork, Runs};

/// Loads code whose entry was emitted by [`crate::entry`], with the addresses of the image's functions.
///
/// # Errors
/// If the image is damaged, or the system gives no memory for it.
pub(crate) fn load(
    image: &CodeImage,
    symbols: &BTreeMap<&'static str, *const u8>,
) -> Result<(LoadedCode, Vec<u64>), LoadError> {
    // SAFETY: this crate emitted the functions, now or when it made an artifact that the artifact's reader
    // has found undamaged. `place` found the plan's places to lie within the memory that the program's
    // descriptors declare, and kernels are called with the descriptors that were made with their operands.
    unsafe { LoadedCode::load(image, entry::NAME, |name| symbols.get(name).copied()) }
}

/// A specialization from a frame that [`crate::frame`] wrote for its code.
pub(crate) fn specialization(parts: SpecializationParts) -> Specialization {
    // SAFETY: the frame's offsets are those of places that were checked against the sizes in `parts`, its
    // addresses are of functions of the code, of kernels, and of weights that `parts.weights` owns.
    unsafe { Specialization::new(parts) }
}

impl KernelRow {
    /// An embedder's function, which runs operations of the kind `Kernel(name)`. `describe` makes its
    /// descriptor from the operation and the greatest number of threads that will run it.
    ///
    /// Its table of operands has the operation's results, then its operands, each contiguous and in row-major
    /// order. The operation's row says whether a result may overwrite an operand (`reuse`). The plan counts
    /// the scratch requested by `describe`.
    ///
    /// # Safety
    /// For every operation of this kind that `describe` accepts, `entry` keeps the contract of [`KernelFn`]
    /// with the result of `describe`: it reads the operands and writes the results within the bytes of their
    /// types, uses no more scratch than requested, and does not unwind; parts that run at the same time write
    /// disjoint bytes.
    pub const unsafe fn new(
        name: &'static str,
        entry: KernelFn,
        describe: fn(OpRef<'_>, usize) -> Result<KernelWork, String>,
    ) -> KernelRow {
        KernelRow {
            name,
            doc: "An embedder's own.",
            runs: Runs::Kernel(name),
            own: Some(EmbedderKernel { entry, describe }),
            ..KernelRow::PLAIN
        }
    }
}
