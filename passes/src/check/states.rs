//! Is each state where its signature says, and does it hold its next value when the function returns?

use ir::states::{STATE, StateArgument};
use ir::{Op, Value};

use super::PlanChecker;
use super::memory::Home;

impl PlanChecker<'_> {
    /// The home of an argument that is a state; none for an input. Reports a fault if the pool does not hold
    /// it.
    pub(super) fn home_of_state(&mut self, arg: Value) -> Option<Home> {
        let StateArgument { offset, size_bytes, index, .. } =
            *self.states.iter().find(|state| state.value == arg)?;
        match self.in_pool(STATE, offset, size_bytes) {
            Ok((pool, start)) => Some(Home::dense(pool, start..start + size_bytes)),
            Err(message) => {
                self.faults
                    .push(ir::Diagnostic::error(ir::Location::UNKNOWN, format!("state {index}: {message}")));
                None
            }
        }
    }

    /// The home of the state whose next value a result of the function is.
    pub(super) fn home_of_next(&self, result: usize) -> Option<Home> {
        let state = self.states.iter().find(|state| state.result == Some(result))?;
        let (pool, start) = self.in_pool(STATE, state.offset, state.size_bytes).ok()?;
        Some(Home::dense(pool, start..start + state.size_bytes))
    }

    /// Checks that states without a next value are unchanged.
    pub(super) fn check_kept_states(&mut self, end: Op) {
        let kept: Vec<StateArgument> =
            self.states.iter().filter(|state| state.result.is_none()).copied().collect();
        for StateArgument { value, index, .. } in kept {
            let home = self.homes.get(value).cloned();
            if home.is_some_and(|home| !self.memory.holds(&home, value, 0)) {
                self.fault(end, format!("the state {index} is overwritten, and has no next value"));
            }
        }
    }
}
