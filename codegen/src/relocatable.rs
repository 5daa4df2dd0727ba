//! A program without addresses, for object files: machine code, a frame and weights.
//!
//! The frame is that of [`crate::frame`], but for its addresses: words that hold functions are listed with
//! what they are of, and weights are distances from the pointer to weights that the entry is handed.

use std::sync::Arc;

use kernels::{Isa, kernel_number};
use runtime::{AlignedBuffer, CodeImage, OpenOutput, StateDesc, TensorDesc};

use crate::machine_code::UNLOADED;

/// A program of known sizes that is at no address yet.
pub struct RelocatableProgram {
    /// The instructions that it needs.
    pub isa: Isa,
    /// The most threads that scratch is planned for.
    pub threads: usize,
    /// Its machine code, entered at [`crate::ENTRY`].
    pub image: Arc<CodeImage>,
    /// What the code reads.
    pub frame: Vec<i64>,
    /// The words of the frame that are addresses of functions.
    pub callees: Vec<(usize, FrameCallee)>,
    /// All weights, as kernels want them packed.
    pub weights: AlignedBuffer,
    /// The bytes of arena that a run needs.
    pub arena_bytes: usize,
    /// The inputs, in the entry's order.
    pub inputs: Vec<TensorDesc>,
    /// The outputs, in the entry's order.
    pub outputs: Vec<TensorDesc>,
    /// The outputs with a dimension that data decide.
    pub open: Vec<OpenOutput>,
    /// What stays in the arena from run to run, each with where it begins.
    pub states: Vec<(StateDesc, usize)>,
    /// What the code's statuses 1, 2, ... mean.
    pub faults: Arc<[String]>,
}

/// A function that a step calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameCallee {
    /// A function of the image, by its number.
    Generated(usize),
    /// A kernel, by its number in the table of `kernels`.
    Kernel(usize, Isa),
    /// A function of an embedder.
    Unknown,
}

impl FrameCallee {
    /// What a word of a frame for code that is not loaded says.
    pub(crate) fn of(word: u64) -> FrameCallee {
        if let Some(number) = word.checked_sub(UNLOADED) {
            return FrameCallee::Generated(number as usize);
        }
        kernel_number(word).map_or(FrameCallee::Unknown, |(number, isa)| FrameCallee::Kernel(number, isa))
    }
}
