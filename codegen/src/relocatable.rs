//! A program without addresses, for object files: machine code, a frame and weights.
//!
//! The frame is that of [`crate::frame`], but for its addresses: words that hold functions are listed with
//! what they are of, and weights are distances from the pointer to weights that the entry is handed. A
//! program of named sizes has a frame at each of them ([`crate::SizedFrame`]).

use std::sync::Arc;

use kernels::{Isa, kernel_number};
use runtime::{AlignedBuffer, CodeImage, OpenOutput, StateDesc, TensorDesc};

use crate::machine_code::{MachineCode, UNLOADED};

/// A program that is at no address yet: of known sizes, or of named ones at their greatest.
pub struct RelocatableProgram {
    /// The instructions that it needs.
    pub isa: Isa,
    /// The most threads that scratch is planned for.
    pub threads: usize,
    /// Its machine code, entered at [`crate::ENTRY`]: that of the program, and that of each function that
    /// runs in its place at some sizes.
    pub images: Vec<Arc<CodeImage>>,
    /// What the code reads; of the first image.
    pub frame: RelocatableFrame,
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
    /// What the code's statuses 1, 2, ... mean; one image after the other.
    pub faults: Vec<String>,
}

/// What code reads, without an address in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelocatableFrame {
    /// All of it.
    pub words: Vec<i64>,
    /// The words that are addresses of functions.
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

/// A function that a step calls.
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
    /// What a word of a frame for code that is not loaded says.
    pub(crate) fn of(word: u64) -> FrameCallee {
        if let Some(number) = word.checked_sub(UNLOADED) {
            return FrameCallee::Generated(number as usize);
        }
        kernel_number(word).map_or(FrameCallee::Unknown, |(number, isa)| FrameCallee::Kernel(number, isa))
    }
}
