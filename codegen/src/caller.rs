//! The addresses of a function's arguments and results: in buffers of the caller, or, for states, in the
//! arena.

use ir::plan::signature::Signature;
use ir::states::{STATE, StateArgument};
use ir::{Body, Context, Value};

use crate::address::{Address, Base};

/// The addresses of a function's arguments and results.
#[derive(Default)]
pub(crate) struct CallerBuffers {
    /// The arguments and results.
    pub(crate) signature: Signature,
    /// The start of the pool of states in the memory of all pools.
    start: u64,
}

impl CallerBuffers {
    /// The addresses for a function.
    ///
    /// # Errors
    /// If its signature is wrong, or if its pool of states is too small.
    pub(crate) fn of(ctx: &Context, body: &Body) -> Result<CallerBuffers, String> {
        let signature = Signature::of(ctx, body)?;
        let Some(last) = signature.states.last() else { return Ok(CallerBuffers { signature, start: 0 }) };
        let pool = ir::memory_pools::pools(ctx, body)?.into_iter().find(|pool| pool.name == STATE);
        let pool = pool.ok_or("the function has states, but no pool `state`")?;
        let end = last.offset + last.size_bytes;
        if end > pool.size_bytes {
            return Err(format!("the states take {end} bytes, and the pool `state` has {}", pool.size_bytes));
        }
        Ok(CallerBuffers { signature, start: pool.start })
    }

    /// The address of an argument.
    pub(crate) fn arg(&self, index: usize) -> Address {
        match self.signature.args[index].input {
            Some(input) => Address { base: Base::Input(input), offset: 0 },
            None => self.state(|state| state.index == index),
        }
    }

    /// The address of a result.
    pub(crate) fn result(&self, index: usize) -> Address {
        match self.signature.results[index].output {
            Some(output) => Address { base: Base::Output(output), offset: 0 },
            None => self.state(|state| state.result == Some(index)),
        }
    }

    /// The states, each with its offset in the memory of all pools.
    pub(crate) fn states(&self) -> impl Iterator<Item = (&StateArgument, u64)> {
        self.signature.states.iter().map(|state| (state, self.start + state.offset))
    }

    /// Whether a value is a state on entry.
    pub(crate) fn is_state(&self, value: Value) -> bool {
        self.signature.states.iter().any(|state| state.value == value)
    }

    fn state(&self, is_it: impl Fn(&StateArgument) -> bool) -> Address {
        let state = self.states().find(|(state, _)| is_it(state));
        let (_, offset) = state.expect("what the caller does not pass is a state");
        Address { base: Base::Arena, offset }
    }
}
