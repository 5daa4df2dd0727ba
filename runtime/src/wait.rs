//! Spin time: how long a thread spins before it sleeps.
//!
//! A sleeping thread takes about 50 us to wake, and a spinning thread occupies its core. The next kernel of a
//! model usually follows within microseconds, so both sides of the pool spin for a bounded time first. The
//! bound is a time, not a number of iterations: one `pause` takes from 4 to 140 cycles, depending on the
//! processor.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// The time that a thread spins before it gives up its core.
const SPIN: Duration = Duration::from_micros(200);

/// Iterations between two looks at the clock, which costs about 25 ns.
const TURNS_PER_LOOK: u32 = 64;

/// Calls `ready` until it returns a value or the bound has passed; then returns `None`.
pub(crate) fn spin_for<T>(mut ready: impl FnMut() -> Option<T>) -> Option<T> {
    let mut deadline = None;
    loop {
        for _ in 0..TURNS_PER_LOOK {
            if let Some(answer) = ready() {
                return Some(answer);
            }
            spin_loop();
        }
        let now = Instant::now();
        if now >= *deadline.get_or_insert(now + SPIN) {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_never_comes_ends_the_spin() {
        assert_eq!(spin_for(|| None::<u32>), None);
    }

    #[test]
    fn an_answer_ends_the_spin_at_once() {
        let mut turns = 0;
        let answer = spin_for(|| {
            turns += 1;
            (turns == 3).then_some(turns)
        });
        assert_eq!(answer, Some(3));
    }
}
