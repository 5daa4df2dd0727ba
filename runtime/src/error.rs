//! Errors of runs.

use std::fmt;

use crate::binding::TensorSide;
use crate::buffer::ArenaError;
use crate::shapes::ShapeError;

/// The reason why a program was not run, or did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// Too few or too many buffers.
    Count {
        /// The side: inputs or outputs.
        side: TensorSide,
        /// The program's number of buffers.
        expected: usize,
        /// The given number of buffers.
        found: usize,
    },
    /// A buffer of the wrong size.
    Size {
        /// An input or an output.
        side: TensorSide,
        /// Its name.
        name: String,
        /// Its dimensions.
        shape: Vec<u64>,
        /// The bytes of the tensor.
        expected: usize,
        /// The given bytes.
        found: usize,
    },
    /// A misaligned buffer.
    Alignment {
        /// An input or an output.
        side: TensorSide,
        /// Its name.
        name: String,
        /// The required alignment of the address.
        align: usize,
    },
    /// The program overwrites this input, and it was given for reading only.
    NotDonated {
        /// The input's name.
        name: String,
    },
    /// A number of threads beyond the one that the program's scratch was planned for.
    Threads {
        /// The most threads it was planned for.
        most: usize,
        /// The requested number.
        found: usize,
    },
    /// The system can't start a thread.
    NoThread {
        /// The system's message.
        message: String,
    },
    /// The program can't be run with the current shapes.
    Shape(ShapeError),
    /// The arena can't serve the program.
    Arena(ArenaError),
    /// The program found a fault in its data and stopped; the outputs are garbage.
    Fault {
        /// The code's status.
        status: i32,
        /// The compiler's message for this status.
        message: String,
    },
    /// The observer of the run ended it; the outputs are garbage.
    Stopped,
}

impl fmt::Display for TensorSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TensorSide::Input => "input",
            TensorSide::Output => "output",
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
            RunError::NoThread { message } => write!(f, "the system starts no thread: {message}"),
            RunError::Shape(error) => error.fmt(f),
            RunError::Arena(error) => error.fmt(f),
            RunError::Fault { message, .. } => write!(f, "the program stopped: {message}"),
            RunError::Stopped => f.write_str("the run was cancelled"),
        }
    }
}

impl std::error::Error for RunError {}
