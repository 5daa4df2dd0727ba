//! A program without addresses, for object files: machine code, a frame and weights.
//!
//! The frame is that of [`crate::frame`] without addresses: words for function addresses are listed with
//! their functions, and weights are offsets from the weights pointer passed to the entry. A program of named
//! sizes has one frame for each choice of sizes ([`crate::SizedFrame`]).

use std::sync::Arc;

use kernels::{Isa, kernel_number};
use runtime::{AlignedBuffer, CodeImage, OpenOutput, StateDesc, TensorDesc};

use crate::machine_code::{MachineCode, UNLOADED};

/// A program without addresses: of known sizes, or of named sizes at their maximum.
pub struct RelocatableProgram {
    /// The instruction set that it needs.
    pub isa: Isa,
    /// The number of threads that scratch is planned for.
    pub threads: usize,
    /// Its machine code with the entry [`crate::ENTRY`]: the program's, and that of each variant for some
    /// sizes.
    pub images: Vec<Arc<CodeImage>>,
    /// The frame of the first image.
    pub frame: RelocatableFrame,
    /// All weights, packed.
    pub weights: AlignedBuffer,
    /// The bytes of arena needed by a run.
    pub arena_bytes: usize,
    /// The inputs, in the entry's order.
    pub inputs: Vec<TensorDesc>,
    /// The outputs, in the entry's order.
    pub outputs: Vec<TensorDesc>,
    /// The outputs with a dimension whose size depends on data.
    pub open: Vec<OpenOutput>,
    /// The states, which stay in the arena from run to run, each with its offset.
    pub states: Vec<(StateDesc, usize)>,
    /// The messages of the code's statuses 1, 2, ..., one image after the other.
    pub faults: Vec<String>,
}

/// A frame without addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelocatableFrame {
    /// The words of the frame.
    pub words: Vec<i64>,
    /// The words to be replaced by addresses of functions.
    pub callees: Vec<(usize, FrameCallee)>,
}

impl RelocatableFrame {
    /// The frame of code that is not loaded.
    pub(crate) fn of<C>(code: &MachineCode<C>, words: Vec<i64>) -> RelocatableFrame {
        let callee = |word: usize| (word, FrameCallee::of(words[word] as u64));
        let callees = code.function_words(&words).into_iter().map(callee).collect();
        RelocatableFrame { words, callees }
    }
}

/// A function called by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameCallee {
    /// A function of the frame's image, by its number.
    Generated(usize),
    /// A kernel, by its number in the table of `kernels`.
    Kernel(usize, Isa),
    /// A function of an embedder.
    Unknown,
}

impl FrameCallee {
    /// The function named by a word of a frame for code that is not loaded.
    pub(crate) fn of(word: u64) -> FrameCallee {
        if let Some(number) = word.checked_sub(UNLOADED) {
            return FrameCallee::Generated(number as usize);
        }
        kernel_number(word).map_or(FrameCallee::Unknown, |(number, isa)| FrameCallee::Kernel(number, isa))
    }
}
