//! How long a thread looks before it sleeps.
//!
//! A thread that sleeps costs about 50 us to wake, a thread that spins costs its core. The next kernel of a
//! model usually follows within microseconds, so both sides of the pool look for a bounded time first. The
//! bound is in time, not in turns: one `pause` takes from 4 to 140 cycles, depending on the processor.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// How long a thread spins before it gives its core away.
const SPIN: Duration = Duration::from_micros(200);

/// Turns between two looks at the clock, which costs about 25 ns.
const TURNS_PER_LOOK: u32 = 64;

/// Calls `ready` until it answers or the bound has passed; then `None`.
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
