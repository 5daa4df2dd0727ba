//! The states of a context in its arena, where their places depend on sizes.

use std::sync::Arc;

use crate::buffer::{OutOfMemory, zeros};
use crate::program::Program;
use crate::specialization::Specialization;

/// The states of a context between two runs at different sizes.
///
/// The places of states in the arena depend on sizes, and a larger arena is new memory. So before a run at
/// other sizes they are copied out, and back once the arena is ready.
#[derive(Default)]
pub(crate) struct KeptStates {
    /// The bytes of each state.
    sizes: Vec<usize>,
    /// The bytes of all states, one after the other, while they are not in the arena.
    bytes: Vec<u8>,
    /// Whether `bytes` holds values to be copied back.
    is_out: bool,
    /// The specialization that determines their current places; none before the first run.
    at: Option<Arc<Specialization>>,
}

impl KeptStates {
    /// The states of a program; without named sizes they stay in place.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn of(program: &Program) -> Result<KeptStates, OutOfMemory> {
        let sizes: Vec<usize> = program.states().iter().map(|state| state.tensor.size_bytes).collect();
        let count = if program.symbols().is_empty() { 0 } else { sizes.iter().sum() };
        Ok(KeptStates { sizes, bytes: zeros(count)?, is_out: false, at: None })
    }

    /// Copies them out of the arena, if they have other places at `next`.
    pub(crate) fn leave(&mut self, arena: &[u8], next: &Arc<Specialization>) {
        let Some(at) = self.at.take_if(|at| !Arc::ptr_eq(at, next)) else { return };
        let mut rest = &mut self.bytes[..];
        for (size, start) in self.sizes.iter().zip(at.states()) {
            let (copy, after) = rest.split_at_mut(*size);
            copy.copy_from_slice(&arena[*start..*start + *size]);
            rest = after;
        }
        self.is_out = !self.sizes.is_empty();
    }

    /// Copies them to their places at `next`, if they are out.
    pub(crate) fn enter(&mut self, arena: &mut [u8], next: &Arc<Specialization>) {
        if self.at.is_some() {
            return;
        }
        if self.is_out {
            let mut rest = &self.bytes[..];
            for (size, start) in self.sizes.iter().zip(next.states()) {
                let (copy, after) = rest.split_at(*size);
                arena[*start..*start + *size].copy_from_slice(copy);
                rest = after;
            }
        }
        self.is_out = false;
        self.at = Some(Arc::clone(next));
    }
}
