//! Options of compilation.

use std::sync::Arc;

use crate::prepared::Prepared;
use crate::target::Cpu;

/// Options of compilation.
#[derive(Clone)]
pub struct CodegenOptions {
    /// The number of threads that scratch was planned for, and the maximum for running the program.
    pub threads: usize,
    /// The processor whose kernels are used unless the plan names another (`optc.target`), with an embedder's
    /// own kernels.
    pub cpu: Cpu,
    /// What happens to dead memory.
    pub dead: DeadMemory,
    /// Whether runs can be timed step by step.
    pub steps: StepTimes,
    /// Code and weights of earlier compilations, which are reused; new ones are added.
    pub prepared: Option<Arc<Prepared>>,
}

impl CodegenOptions {
    /// Options for the processor of this process, without poison and step times.
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

/// Whether code reports each finished step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepTimes {
    /// It does not.
    Unknown,
    /// After each step it calls [`runtime::optc_stamp`] with the index of the operation in the function.
    Stamped,
}
