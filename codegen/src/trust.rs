//! The unsafe part of this crate: promises that it makes to the runtime.
//!
//! That machine code keeps to its buffers follows from how it was made, which no caller can check: every
//! address in it is one of a plan that [`crate::place`] has checked against the sizes of its memory, and
//! every call is told sizes by the lowering that asked for the operands. An embedder's own kernel is code of
//! which only the embedder can say as much.

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

/// Code whose entry [`crate::entry`] emitted, with the addresses of the image's functions.
///
/// # Errors
/// If the image is damaged, or the system gives no memory for it.
pub(crate) fn load(
    image: &CodeImage,
    symbols: &BTreeMap<&'static str, *const u8>,
) -> Result<(LoadedCode, Vec<u64>), LoadError> {
    // SAFETY: the functions were emitted by this crate, now or when an artifact was made that its reader has
    // found undamaged, for a plan whose places `place` found to lie within the memory that the program's
    // descriptors say; kernels are called with the descriptors that were made with their operands.
    unsafe { LoadedCode::load(image, entry::NAME, |name| symbols.get(name).copied()) }
}

/// A program at some sizes, of a frame that [`crate::frame`] wrote for its code.
pub(crate) fn specialization(parts: SpecializationParts) -> Specialization {
    // SAFETY: the frame's offsets are those of places that were checked against the sizes in `parts`, its
    // addresses are of functions of the code, of kernels, and of weights that `parts.weights` owns.
    unsafe { Specialization::new(parts) }
}

impl KernelRow {
    /// An embedder's function, which runs operations of the kind `Kernel(name)`; what it is told of each is
    /// for `describe` to say, from the operation and the most threads that will run it.
    ///
    /// Its table of operands has the operation's results, then its operands, each without gaps and in
    /// row-major order. Whether a result may be an operand's memory is for the operation's row to say
    /// (`reuse`). The plan counts the scratch that `describe` asks for.
    ///
    /// # Safety
    /// For every operation of this kind that `describe` accepts, `entry` keeps the contract of [`KernelFn`]
    /// with what `describe` says: it reads the operands and writes the results within the bytes of their
    /// types, uses no more scratch than that, and does not unwind; parts that run at the same time write
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
