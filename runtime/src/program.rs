//! A compiled program: constants, inputs and outputs, and specializations with the code. It is immutable and
//! shared.
//!
//! A program has any number of named sizes. Without named sizes it has one specialization, made when it was
//! compiled; otherwise one is made for each combination of sizes that occurs, and the last few are cached.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::buffer::{AlignedBuffer, Arena};
use crate::context::RunContext;
use crate::error::RunError;
use crate::exact::OpenOutput;
use crate::mapped::MappedFile;
use crate::shapes::{Declared, ShapeError, Symbol};
use crate::specialization::{Specialization, SpecializationCache, Specialize};
use crate::tensor::{StateDesc, TensorSpec};
use crate::threads::ThreadPool;

/// The constants of a program, packed for its code, aligned to 64.
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
    /// If the range is not within the file, or does not begin at a multiple of 64.
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

/// The parts of a program that are the same at all sizes.
#[derive(Debug)]
pub struct ProgramParts {
    /// The constants that the code gets as its argument; several programs may share them. Code that finds
    /// constants through its frame needs none here.
    pub weights: Arc<Weights>,
    /// The number of threads that scratch is planned for: the maximum of a context.
    pub threads: usize,
}

/// The named sizes of a program, with the parts that depend on them.
pub struct NamedSizes {
    /// The sizes chosen at run time; at least one.
    pub symbols: Vec<Symbol>,
    /// The inputs, in the entry's order.
    pub inputs: Vec<TensorSpec>,
    /// The outputs, in the entry's order.
    pub outputs: Vec<TensorSpec>,
    /// Makes specializations.
    pub specialize: Box<dyn Specialize>,
    /// The maximum number of cached specializations.
    pub cached: usize,
    /// An arena that suffices at all sizes, in bytes, if it is known: a context allocates it at its first
    /// preparation.
    pub bound_bytes: Option<usize>,
}

/// A compiled program. It is immutable; each run needs a [`RunContext`], of which there may be many.
pub struct Program {
    parts: ProgramParts,
    declared: Declared,
    outputs: Vec<TensorSpec>,
    open: Vec<OpenOutput>,
    specialize: Option<Box<dyn Specialize>>,
    kept: SpecializationCache,
    bound_bytes: Option<usize>,
    states: Vec<StateDesc>,
}

impl Program {
    /// A program without named sizes, with its only specialization.
    ///
    /// # Panics
    /// If `threads` is 0: an error of the compiler.
    pub fn new(parts: ProgramParts, only: Specialization) -> Program {
        let inputs = only.inputs().iter().map(TensorSpec::from).collect();
        let outputs = only.outputs().iter().map(TensorSpec::from).collect();
        let program = Program::of(parts, Declared::new(Vec::new(), inputs), outputs, 1);
        let bound_bytes = Some(only.arena_bytes());
        program.kept.add(&[], &Arc::new(only));
        Program { bound_bytes, ..program }
    }

    /// A program of named sizes.
    ///
    /// # Panics
    /// If `threads` is 0, there are no symbols, or a dimension uses a symbol that does not exist: errors of
    /// the compiler.
    pub fn with_sizes(parts: ProgramParts, sizes: NamedSizes) -> Program {
        let NamedSizes { symbols, inputs, outputs, specialize, cached, bound_bytes } = sizes;
        assert!(!symbols.is_empty(), "a program of named sizes has some");
        let declared = Declared::new(symbols, inputs);
        let program = Program::of(parts, declared, outputs, cached);
        Program { specialize: Some(specialize), bound_bytes, ..program }
    }

    fn of(parts: ProgramParts, declared: Declared, outputs: Vec<TensorSpec>, cached: usize) -> Program {
        assert!(parts.threads > 0, "a program is planned for one thread at the least");
        Program {
            parts,
            declared,
            outputs,
            open: Vec::new(),
            specialize: None,
            kept: SpecializationCache::new(cached),
            bound_bytes: None,
            states: Vec::new(),
        }
    }

    /// The same program, with these data-dependent outputs.
    ///
    /// # Panics
    /// If there are no such outputs, or one has other axes: errors of the compiler.
    pub fn with_open(self, open: Vec<OpenOutput>) -> Program {
        for OpenOutput { output, rank, axis, count } in &open {
            let spec = &self.outputs[*output];
            assert!(
                spec.extents.len() == *rank && axis < rank && *count < self.outputs.len(),
                "{} has the axis whose size data decide, and that size is an output",
                spec.name
            );
        }
        Program { open, ..self }
    }

    /// The same program, with these tensors that contexts keep from run to run.
    ///
    /// # Panics
    /// If its only specialization has no place for one in its arena: an error of the compiler.
    #[must_use]
    pub fn with_states(self, states: Vec<StateDesc>) -> Program {
        let program = Program { states, ..self };
        program.only().iter().for_each(|only| program.check_states(only));
        program
    }

    fn check_states(&self, made: &Specialization) {
        assert_eq!(self.states.len(), made.states().len(), "each state has a place");
        for (StateDesc { tensor, .. }, start) in self.states.iter().zip(made.states()) {
            let end = start + tensor.size_bytes;
            assert!(end <= made.arena_bytes(), "the state {} ends at {end} of the arena", tensor.name);
        }
    }

    /// A context with `threads` threads of its own, and an arena that is allocated when it is prepared, or at
    /// its first run.
    ///
    /// # Errors
    /// [`RunError::Threads`] if `threads` is 0, or more than the program was planned for;
    /// [`RunError::NoThread`] if the system can't start them; [`RunError::Arena`] if there is no memory for
    /// the states.
    pub fn context(self: &Arc<Self>, threads: usize) -> Result<RunContext<'static>, RunError> {
        self.check_threads(threads)?;
        let pool = ThreadPool::try_new(threads);
        let pool = pool.map_err(|error| RunError::NoThread { message: error.to_string() })?;
        RunContext::new(Arc::clone(self), Arc::new(pool), Arena::owned())
    }

    /// A context on given threads, which others may share, and in an arena that may be the embedder's: sizes
    /// that need more are refused.
    ///
    /// # Errors
    /// [`RunError::Threads`] as for [`Program::context`]; [`RunError::Arena`] if the given memory is not
    /// aligned, or too small for the only specialization.
    pub fn context_in<'a>(
        self: &Arc<Self>,
        pool: Arc<ThreadPool>,
        arena: Arena<'a>,
    ) -> Result<RunContext<'a>, RunError> {
        self.check_threads(pool.threads())?;
        RunContext::new(Arc::clone(self), pool, arena)
    }

    fn check_threads(&self, found: usize) -> Result<(), RunError> {
        let most = self.parts.threads;
        if (1..=most).contains(&found) { Ok(()) } else { Err(RunError::Threads { most, found }) }
    }

    /// The named sizes, in the order of the numbers that [`Program::at`] takes.
    pub fn symbols(&self) -> &[Symbol] {
        &self.declared.symbols
    }

    /// The inputs, in the order in which [`RunContext::run`] takes them.
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.declared.inputs
    }

    /// The outputs, in the order in which [`RunContext::run`] takes them.
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.outputs
    }

    /// The data-dependent outputs.
    pub fn open(&self) -> &[OpenOutput] {
        &self.open
    }

    /// The only specialization of a program without named sizes.
    pub fn only(&self) -> Option<Arc<Specialization>> {
        if self.symbols().is_empty() { self.kept.find(&[]) } else { None }
    }

    /// The tensors that a context keeps from run to run, see [`RunContext::state`].
    pub fn states(&self) -> &[StateDesc] {
        &self.states
    }

    /// An arena that suffices at all sizes, in bytes, if it is known.
    pub fn bound_bytes(&self) -> Option<usize> {
        self.bound_bytes
    }

    /// The bytes of constants that have been packed so far.
    pub fn weights_bytes(&self) -> usize {
        let own = self.parts.weights.bytes().len();
        let shared = self.specialize.as_ref().map_or(0, |specialize| specialize.weights_bytes());
        own + shared + self.kept.weights_bytes()
    }

    /// The maximum number of threads of a context.
    pub fn threads(&self) -> usize {
        self.parts.threads
    }

    /// The current number of cached specializations.
    pub fn cached(&self) -> usize {
        self.kept.len()
    }

    /// The number of specializations that were made so far.
    pub fn specialized(&self) -> u64 {
        self.kept.made()
    }

    /// The specialization at these sizes, one for each symbol in order: a cached one, or a new one. Other
    /// callers do not wait meanwhile.
    ///
    /// # Errors
    /// [`ShapeError::Refused`] if the program can't be run at these sizes, or a symbol may not have its size.
    ///
    /// # Panics
    /// If there are not as many sizes as symbols.
    pub fn at(&self, sizes: &[u64]) -> Result<Arc<Specialization>, ShapeError> {
        assert_eq!(sizes.len(), self.symbols().len(), "each symbol has a size");
        if let Some(kept) = self.kept.find(sizes) {
            return Ok(kept);
        }
        self.declared.check_ranges(sizes).map_err(|message| self.declared.refused(sizes, message))?;
        let specialize = self.specialize.as_ref().expect("the only specialization is kept");
        let made = specialize.specialize(sizes).map_err(|message| self.declared.refused(sizes, message))?;
        self.check(sizes, &made);
        let made = Arc::new(made);
        self.kept.add(sizes, &made);
        Ok(made)
    }

    /// Checks that a specialization has the program's inputs and outputs, at the requested sizes; otherwise
    /// its maker has an error.
    fn check(&self, sizes: &[u64], made: &Specialization) {
        let sides = [(self.inputs(), made.inputs()), (self.outputs(), made.outputs())];
        for (specs, descs) in sides {
            let mut pairs = specs.iter().zip(descs);
            assert!(
                specs.len() == descs.len()
                    && pairs.all(|(spec, desc)| Declared::has_shape(spec, sizes, &desc.shape)),
                "a specialization has the shapes that follow from its sizes"
            );
        }
        let most = self.bound_bytes.unwrap_or(usize::MAX);
        assert!(made.arena_bytes() <= most, "a specialization fits what is enough for all sizes");
        self.check_states(made);
    }

    pub(crate) fn declared(&self) -> &Declared {
        &self.declared
    }

    pub(crate) fn parts(&self) -> &ProgramParts {
        &self.parts
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("symbols", &self.symbols())
            .field("inputs", &self.inputs())
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}
