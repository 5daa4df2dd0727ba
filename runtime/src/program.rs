//! What a compiled program is made of, all of it shared and constant.

use std::ops::Range;
use std::sync::Arc;

use crate::buffer::{AlignedBuffer, Arena};
use crate::context::{RunContext, RunError};
use crate::exact::OpenOutput;
use crate::jit::JitCode;
use crate::mapped::MappedFile;
use crate::pool::Pool;

/// What the elements of an input or output are. How many bits they take is the compiler's knowledge; here it
/// comes as [`TensorDesc::size_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the types")]
pub enum ElementKind {
    Bool,
    I4,
    U4,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    BF16,
    F32,
    F64,
}

/// One input or output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorDesc {
    /// The name by which the model knows it.
    pub name: String,
    /// The kind of its elements.
    pub element: ElementKind,
    /// Its dimensions, outermost first; rows are dense.
    pub shape: Vec<u64>,
    /// The bytes that the caller's buffer must have, exactly.
    pub size_bytes: usize,
    /// What the buffer's address must be a multiple of: a power of two.
    pub align: usize,
    /// Whether the program overwrites it: true only of an input that the compiler was told is donated.
    pub overwritten: bool,
}

impl TensorDesc {
    /// A tensor that is only read (or, as an output, only written), aligned to 4 bytes.
    pub fn new(
        name: impl Into<String>,
        element: ElementKind,
        shape: Vec<u64>,
        size_bytes: usize,
    ) -> TensorDesc {
        TensorDesc { name: name.into(), element, shape, size_bytes, align: 4, overwritten: false }
    }
}

/// A tensor that a context keeps from run to run, in its arena.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDesc {
    /// What it is; its name is that by which it is set.
    pub tensor: TensorDesc,
    /// Where in the arena it begins.
    pub offset: usize,
    /// The name of its next value, if runs change it.
    pub result: Option<String>,
}

/// The constants of a program, packed as its code expects them, beginning at a multiple of 64.
#[derive(Debug)]
pub struct Weights(Bytes);

#[derive(Debug)]
enum Bytes {
    Buffer(AlignedBuffer),
    Mapped(MappedFile, Range<usize>),
}

impl Weights {
    /// No constants.
    pub fn none() -> Weights {
        Weights(Bytes::Buffer(AlignedBuffer::zeroed(0).expect("an empty buffer needs no memory")))
    }

    /// Constants in a buffer that the compiler has filled.
    pub fn buffer(buffer: AlignedBuffer) -> Weights {
        Weights(Bytes::Buffer(buffer))
    }

    /// Constants in a range of a file's bytes.
    ///
    /// # Panics
    /// If the range is not within the file, or begins at no multiple of 64.
    pub fn mapped(file: MappedFile, range: Range<usize>) -> Weights {
        assert!(range.start.is_multiple_of(64), "weights begin at a multiple of 64, not at {}", range.start);
        assert!(range.start <= range.end && range.end <= file.bytes().len(), "weights lie within their file");
        Weights(Bytes::Mapped(file, range))
    }

    /// The constants' bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Buffer(buffer) => buffer.as_slice(),
            Bytes::Mapped(file, range) => &file.bytes()[range.clone()],
        }
    }
}

/// What [`Program::new`] takes.
#[derive(Debug)]
pub struct ProgramParts {
    /// The machine code; its maker vouches that it keeps to what the other fields say.
    pub code: JitCode,
    /// The constants; several programs may share them.
    pub weights: Arc<Weights>,
    /// The bytes of arena that a run needs, every kernel's scratch included.
    pub arena_bytes: usize,
    /// The threads that scratch was planned for, and so the most that a context may have.
    pub threads: usize,
    /// The inputs, in the entry's order.
    pub inputs: Vec<TensorDesc>,
    /// The outputs, in the entry's order.
    pub outputs: Vec<TensorDesc>,
    /// What the entry's statuses 1, 2, ... mean, as messages for the user.
    pub faults: Vec<String>,
}

/// A compiled program. It is constant; what changes during a run belongs to a [`RunContext`], of which there
/// may be many.
#[derive(Debug)]
pub struct Program {
    parts: ProgramParts,
    states: Vec<StateDesc>,
    open: Vec<OpenOutput>,
}

impl Program {
    /// A program of its parts.
    ///
    /// # Panics
    /// If `threads` is 0, or an alignment is no power of two: faults of the compiler.
    pub fn new(parts: ProgramParts) -> Program {
        assert!(parts.threads > 0, "a program is planned for one thread at the least");
        for desc in parts.inputs.iter().chain(&parts.outputs) {
            assert!(
                desc.align.is_power_of_two(),
                "{} is aligned to {}, which is no power of two",
                desc.name,
                desc.align
            );
        }
        Program { parts, states: Vec::new(), open: Vec::new() }
    }

    /// The same program, whose contexts keep these tensors.
    ///
    /// # Panics
    /// If one lies outside the arena: a fault of the compiler.
    pub fn with_states(self, states: Vec<StateDesc>) -> Program {
        for StateDesc { tensor, offset, .. } in &states {
            let end = offset + tensor.size_bytes;
            assert!(end <= self.parts.arena_bytes, "the state {} ends at {end} of the arena", tensor.name);
        }
        Program { states, ..self }
    }

    /// The same program, the sizes of which outputs are known behind a run only.
    ///
    /// # Panics
    /// If there are no such outputs, or one has other axes: faults of the compiler.
    pub fn with_open(self, open: Vec<OpenOutput>) -> Program {
        for OpenOutput { output, rank, axis, count } in &open {
            let desc = &self.parts.outputs[*output];
            assert!(
                desc.shape.len() == *rank && axis < rank && *count < self.parts.outputs.len(),
                "{} has the axis that is open, and a size",
                desc.name
            );
        }
        Program { open, ..self }
    }

    /// A context with `threads` threads of its own and an arena that it allocates at its first run.
    ///
    /// # Errors
    /// [`RunError::Threads`] if there are none, or more than the program was planned for.
    pub fn context(self: &Arc<Self>, threads: usize) -> Result<RunContext<'static>, RunError> {
        self.check_threads(threads)?;
        RunContext::new(Arc::clone(self), Arc::new(Pool::new(threads)), Arena::owned())
    }

    /// A context on threads that others may use too, and in an arena that may be the embedder's.
    ///
    /// # Errors
    /// [`RunError::Threads`] as for [`Program::context`]; [`RunError::Arena`] if the memory given is too
    /// small or not aligned.
    pub fn context_in<'a>(
        self: &Arc<Self>,
        pool: Arc<Pool>,
        arena: Arena<'a>,
    ) -> Result<RunContext<'a>, RunError> {
        self.check_threads(pool.threads())?;
        RunContext::new(Arc::clone(self), pool, arena)
    }

    fn check_threads(&self, found: usize) -> Result<(), RunError> {
        let most = self.parts.threads;
        if (1..=most).contains(&found) { Ok(()) } else { Err(RunError::Threads { most, found }) }
    }

    /// The inputs, in the order in which [`RunContext::run`] takes them.
    pub fn inputs(&self) -> &[TensorDesc] {
        &self.parts.inputs
    }

    /// The outputs, in the order in which [`RunContext::run`] takes them.
    pub fn outputs(&self) -> &[TensorDesc] {
        &self.parts.outputs
    }

    /// What a context keeps from run to run: see [`RunContext::state`].
    pub fn states(&self) -> &[StateDesc] {
        &self.states
    }

    /// The bytes of arena that a run needs.
    pub fn arena_bytes(&self) -> usize {
        self.parts.arena_bytes
    }

    /// The bytes of packed constants.
    pub fn weights_bytes(&self) -> usize {
        self.parts.weights.bytes().len()
    }

    /// The most threads that a context may have.
    pub fn threads(&self) -> usize {
        self.parts.threads
    }

    pub(crate) fn open(&self) -> &[OpenOutput] {
        &self.open
    }

    pub(crate) fn parts(&self) -> &ProgramParts {
        &self.parts
    }
}
