//! How a program is run: what is checked before the machine code is entered, and what it is handed.

use std::fmt;
use std::sync::Arc;

use crate::binding::{Binding, Entered, InputBuffer, Side};
use crate::buffer::{Arena, ArenaError};
use crate::exact::Exact;
use crate::pool::Pool;
use crate::program::Program;
use crate::shapes::ShapeError;

/// What one caller needs to run a program: threads, an arena, and the tables of pointers. After the first
/// run, a run allocates nothing.
pub struct RunContext<'a> {
    program: Arc<Program>,
    pool: Arc<Pool>,
    arena: Arena<'a>,
    binding: Binding,
    exact: Exact,
}

/// Why a program was not run, or did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// Too few or too many buffers.
    Count {
        /// Of inputs or outputs.
        side: Side,
        /// How many the program has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A buffer of the wrong size.
    Size {
        /// An input or an output.
        side: Side,
        /// Its name.
        name: String,
        /// Its dimensions.
        shape: Vec<u64>,
        /// The bytes that it has.
        expected: usize,
        /// The bytes that were given.
        found: usize,
    },
    /// A buffer at an odd address.
    Alignment {
        /// An input or an output.
        side: Side,
        /// Its name.
        name: String,
        /// What the address must be a multiple of.
        align: usize,
    },
    /// The program overwrites this input, and it was given for reading only.
    NotDonated {
        /// The input's name.
        name: String,
    },
    /// A number of threads that the program's scratch was not planned for.
    Threads {
        /// The most that it was planned for.
        most: usize,
        /// What was asked for.
        found: usize,
    },
    /// The shapes that were set can't be run.
    Shape(ShapeError),
    /// The arena can't serve the program.
    Arena(ArenaError),
    /// The program found a fault in its data and stopped; the outputs are garbage.
    Fault {
        /// The code's status.
        status: i32,
        /// What the compiler says of it.
        message: String,
    },
}

impl<'a> RunContext<'a> {
    pub(crate) fn new(
        program: Arc<Program>,
        pool: Arc<Pool>,
        mut arena: Arena<'a>,
    ) -> Result<Self, RunError> {
        arena.check(program.arena_bytes()).map_err(RunError::Arena)?;
        let binding = Binding::new(program.inputs().len(), program.outputs().len());
        let exact = Exact::new(program.open());
        Ok(RunContext { program, pool, arena, binding, exact })
    }

    /// The program that is run.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The bytes of arena held now: 0 before the first run, unless the arena was given.
    pub fn arena_bytes(&self) -> usize {
        self.arena.size_bytes()
    }

    /// The shape that an output had in the last run, if data decide its size; else the descriptor says it, and before a run nothing is known.
    /// Its elements are the first of its buffer, the rest of which is garbage.
    pub fn exact_shape(&self, output: usize) -> Option<&[u64]> {
        self.exact.shape(self.program.open(), output)
    }

    /// The bytes of a state, by its number in [`Program::states`]: what the last run left, or what was written here; zeros before, or
    /// what the embedder's memory held. Allocates the arena, if no run did.
    ///
    /// # Errors
    /// [`RunError::Arena`].
    ///
    /// # Panics
    /// If there is no such state.
    pub fn state(&mut self, index: usize) -> Result<&mut [u8], RunError> {
        let state = &self.program.states()[index];
        let bytes = state.offset..state.offset + state.tensor.size_bytes;
        let arena = self.arena.reserve(self.program.arena_bytes()).map_err(RunError::Arena)?;
        Ok(&mut arena[bytes])
    }

    /// Runs the program on `inputs` and fills `outputs`, both in the order of the program's descriptors, each
    /// of exactly the descriptor's bytes and alignment (4, unless the descriptor says otherwise).
    ///
    /// # Errors
    /// Anything but [`RunError::Threads`]. After an error the context is as usable as before.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        self.exact.forget();
        self.binding.share(self.program.inputs(), inputs)?;
        self.run_bound(outputs)
    }

    /// As [`RunContext::run`], for a program that overwrites inputs: those must be [`InputBuffer::Donated`].
    ///
    /// # Errors
    /// As [`RunContext::run`].
    pub fn run_donating(
        &mut self,
        inputs: &mut [InputBuffer<'_>],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RunError> {
        self.exact.forget();
        self.binding.donate(self.program.inputs(), inputs)?;
        self.run_bound(outputs)
    }

    /// Binds the outputs and enters the code; the inputs are bound and checked.
    fn run_bound(&mut self, outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        let parts = self.program.parts();
        self.binding.fill(&parts.outputs, outputs)?;
        let arena = self.arena.reserve(parts.arena_bytes).map_err(RunError::Arena)?;
        let (code, faults, weights) = (&parts.code, &parts.faults, parts.weights.bytes());
        let run = Entered { code, faults, pool: &self.pool, arena, weights, frame: &[] };
        // SAFETY: the inputs were bound by our callers and the outputs above, with the program's descriptors; arena and weights
        // are the program's, and code that is compiled for one size reads no frame.
        unsafe { self.binding.enter(run)? };
        self.exact.cut(self.program.open(), &parts.outputs, outputs);
        Ok(())
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Input => "input",
            Side::Output => "output",
        })
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Count { side, expected, found } => {
                write!(f, "{found} {side} buffers were given, and the program has {expected} {side}s")
            }
            RunError::Size { side, name, shape, expected, found } => {
                write!(
                    f,
                    "{side} `{name}` of shape {shape:?} has {expected} bytes, and the buffer given has {found}"
                )
            }
            RunError::Alignment { side, name, align } => {
                write!(f, "the buffer given for {side} `{name}` must begin at a multiple of {align} bytes")
            }
            RunError::NotDonated { name } => {
                write!(f, "the program overwrites input `{name}`, which must be donated: use `run_donating`")
            }
            RunError::Threads { most, found } => {
                write!(f, "the program is planned for 1 to {most} threads, and {found} were asked for")
            }
            RunError::Shape(error) => error.fmt(f),
            RunError::Arena(error) => error.fmt(f),
            RunError::Fault { message, .. } => write!(f, "the program stopped: {message}"),
        }
    }
}

impl std::error::Error for RunError {}
