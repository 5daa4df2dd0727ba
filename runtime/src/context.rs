//! How a program is run: what is checked before the machine code is entered, and what it is handed.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::abi::Context;
use crate::buffer::{Arena, ArenaError};
use crate::pool::Pool;
use crate::program::{Program, TensorDesc};

/// What one caller needs to run a program: threads, an arena, and the tables of pointers. After the first
/// run, a run allocates nothing.
pub struct RunContext<'a> {
    program: Arc<Program>,
    pool: Arc<Pool>,
    arena: Arena<'a>,
    inputs: Vec<*const u8>,
    outputs: Vec<*mut u8>,
}

// SAFETY: the pointers in the tables are leftovers of the last run, never followed; each run writes them
// anew. The rest is `Send`.
unsafe impl Send for RunContext<'_> {}

/// An input of a program that overwrites some of its inputs.
#[derive(Debug)]
pub enum InputBuffer<'a> {
    /// An input that stays as it is.
    Shared(&'a [u8]),
    /// An input whose memory the program may use; its contents are garbage afterwards.
    Donated(&'a mut [u8]),
}

/// On which side of the program a tensor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// An input.
    Input,
    /// An output.
    Output,
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
        let inputs = vec![NonNull::dangling().as_ptr() as *const u8; program.inputs().len()];
        let outputs = vec![NonNull::dangling().as_ptr(); program.outputs().len()];
        Ok(RunContext { program, pool, arena, inputs, outputs })
    }

    /// The program that is run.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The bytes of arena held now: 0 before the first run, unless the arena was given.
    pub fn arena_bytes(&self) -> usize {
        self.arena.size_bytes()
    }

    /// Runs the program on `inputs` and fills `outputs`, both in the order of the program's descriptors, each
    /// of exactly the descriptor's bytes and alignment (4, unless the descriptor says otherwise).
    ///
    /// # Errors
    /// Anything but [`RunError::Threads`]. After an error the context is as usable as before.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        check_count(Side::Input, program.inputs(), inputs.len())?;
        for ((desc, input), slot) in program.inputs().iter().zip(inputs).zip(&mut self.inputs) {
            *slot = shared_input(desc, input)?;
        }
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
        let program = Arc::clone(&self.program);
        check_count(Side::Input, program.inputs(), inputs.len())?;
        for ((desc, input), slot) in program.inputs().iter().zip(inputs).zip(&mut self.inputs) {
            *slot = match input {
                InputBuffer::Shared(bytes) => shared_input(desc, bytes)?,
                InputBuffer::Donated(bytes) => {
                    check_buffer(Side::Input, desc, bytes)?;
                    bytes.as_mut_ptr()
                }
            };
        }
        self.run_bound(outputs)
    }

    /// Binds the outputs and enters the code; the inputs are bound and checked.
    fn run_bound(&mut self, outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        let parts = self.program.parts();
        check_count(Side::Output, &parts.outputs, outputs.len())?;
        for ((desc, output), slot) in parts.outputs.iter().zip(outputs).zip(&mut self.outputs) {
            check_buffer(Side::Output, desc, output)?;
            *slot = output.as_mut_ptr();
        }
        let arena = self.arena.reserve(parts.arena_bytes).map_err(RunError::Arena)?;
        let context = Context::new(&self.pool);
        let no_dims = NonNull::<i64>::dangling();
        // SAFETY: the maker of the code vouched that it touches only what it is handed (see `jit`): an arena
        // and weights of the planned sizes, and buffers that were just compared with the descriptors. They
        // are borrowed until the call returns: inputs shared (or exclusive, where they are overwritten),
        // outputs and arena exclusive, so none of these overlap.
        let status = unsafe {
            (parts.code.entry())(
                &context,
                arena.as_mut_ptr(),
                parts.weights.bytes().as_ptr(),
                self.inputs.as_ptr(),
                self.outputs.as_ptr(),
                no_dims.as_ptr(),
            )
        };
        if status == 0 { Ok(()) } else { Err(fault(&parts.faults, status)) }
    }
}

fn check_count(side: Side, descs: &[TensorDesc], found: usize) -> Result<(), RunError> {
    let expected = descs.len();
    if found == expected { Ok(()) } else { Err(RunError::Count { side, expected, found }) }
}

fn check_buffer(side: Side, desc: &TensorDesc, buffer: &[u8]) -> Result<(), RunError> {
    let name = || desc.name.clone();
    if buffer.len() != desc.size_bytes {
        let (expected, found) = (desc.size_bytes, buffer.len());
        return Err(RunError::Size { side, name: name(), shape: desc.shape.clone(), expected, found });
    }
    if !buffer.is_empty() && buffer.as_ptr().align_offset(desc.align) != 0 {
        return Err(RunError::Alignment { side, name: name(), align: desc.align });
    }
    Ok(())
}

fn shared_input(desc: &TensorDesc, bytes: &[u8]) -> Result<*const u8, RunError> {
    if desc.overwritten {
        return Err(RunError::NotDonated { name: desc.name.clone() });
    }
    check_buffer(Side::Input, desc, bytes)?;
    Ok(bytes.as_ptr())
}

fn fault(faults: &[String], status: i32) -> RunError {
    let known = usize::try_from(status).ok().and_then(|number| faults.get(number.checked_sub(1)?));
    let message = known.cloned().unwrap_or_else(|| "a fault that the compiler did not name".to_owned());
    RunError::Fault { status, message }
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
            RunError::Arena(error) => error.fmt(f),
            RunError::Fault { message, .. } => write!(f, "the program stopped: {message}"),
        }
    }
}

impl std::error::Error for RunError {}
