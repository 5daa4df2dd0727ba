//! How a program is compiled.

use std::sync::Arc;

use crate::prepared::Prepared;
use crate::target::Cpu;

/// How a program is compiled.
#[derive(Clone)]
pub struct CodegenOptions {
    /// Threads that scratch was planned for, and the most that may run the program.
    pub threads: usize,
    /// The processor whose kernels run what no plan says otherwise of (`optc.target`), and its embedder's own
    /// kernels.
    pub cpu: Cpu,
    /// What happens to dead memory.
    pub dead: DeadMemory,
    /// Whether runs can be timed step by step.
    pub steps: StepTimes,
    /// What is made already, and where what is made now is kept for others.
    pub prepared: Option<Arc<Prepared>>,
}

impl CodegenOptions {
    /// The processor that this process runs on; dead memory is left as it is, and steps are not timed.
    pub fn new(threads: usize) -> CodegenOptions {
        CodegenOptions {
            threads,
            cpu: *Cpu::native(),
            dead: DeadMemory::Kept,
            steps: StepTimes::Unknown,
            prepared: None,
        }
    }
}

/// What happens to memory that no later step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadMemory {
    /// Nothing.
    Kept,
    /// It is filled with NaN at once, so that a wrong plan shows in the results.
    Poisoned,
}

/// Whether code says when its steps are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepTimes {
    /// It does not.
    Unknown,
    /// After each step it calls [`runtime::optc_stamp`] with the index of the operation in the function.
    Stamped,
}
