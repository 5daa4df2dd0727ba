//! Which buffers of the caller the arguments and results of a function are, and which of them are states.

use ir::states::{STATE, State, states};
use ir::{Body, Context, Value};

use crate::place::{Address, Base};

/// How arguments and results are handed over.
#[derive(Default)]
pub(crate) struct Signature {
    /// For each argument, its number among the caller's inputs; none for states.
    pub(crate) inputs: Vec<Option<usize>>,
    /// For each result, its number among the caller's outputs; none for next states.
    pub(crate) outputs: Vec<Option<usize>>,
    states: Vec<State>,
    /// Where the pool of states begins in the memory of all pools.
    start: u64,
}

impl Signature {
    /// Of a function with so many arguments and results.
    ///
    /// # Errors
    /// What is wrong with its states.
    pub(crate) fn of(ctx: &Context, body: &Body, args: usize, results: usize) -> Result<Signature, String> {
        let states = states(ctx, body)?;
        let mut start = 0;
        if !states.is_empty() {
            let pool = ir::pools::pools(ctx, body)?.into_iter().find(|pool| pool.name == STATE);
            let pool = pool.ok_or("the function has states, but no pool `state`")?;
            let end = states.last().map_or(0, |state| state.offset + state.size_bytes);
            if end > pool.size_bytes {
                return Err(format!(
                    "the states take {end} bytes, and the pool `state` has {}",
                    pool.size_bytes
                ));
            }
            start = pool.start;
        }
        let inputs = numbered(args, |index| states.iter().all(|state| state.index != index));
        let outputs = numbered(results, |index| states.iter().all(|state| state.result != Some(index)));
        Ok(Signature { inputs, outputs, states, start })
    }

    /// Where an argument is.
    pub(crate) fn arg(&self, index: usize) -> Address {
        match self.states.iter().find(|state| state.index == index) {
            Some(state) => self.address(state),
            None => Address { base: Base::Input(self.inputs[index].expect("no state")), offset: 0 },
        }
    }

    /// Where a result is to be.
    pub(crate) fn result(&self, index: usize) -> Address {
        match self.states.iter().find(|state| state.result == Some(index)) {
            Some(state) => self.address(state),
            None => Address { base: Base::Output(self.outputs[index].expect("no state")), offset: 0 },
        }
    }

    /// The states, each with where it begins in the memory of all pools.
    pub(crate) fn states(&self) -> impl Iterator<Item = (&State, u64)> {
        self.states.iter().map(|state| (state, self.start + state.offset))
    }

    /// Whether a value is a state as it is on entry.
    pub(crate) fn is_state(&self, value: Value) -> bool {
        self.states.iter().any(|state| state.value == value)
    }

    fn address(&self, state: &State) -> Address {
        Address { base: Base::Arena, offset: self.start + state.offset }
    }
}

/// Numbers those of `0..count` for which `is_counted` holds.
fn numbered(count: usize, is_counted: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
    let mut next = 0;
    let number = |index: usize| {
        let number = is_counted(index).then_some(next);
        next += usize::from(number.is_some());
        number
    };
    (0..count).map(number).collect()
}
