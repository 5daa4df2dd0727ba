//! Time stamps of steps, for step-by-step timing of runs.
//!
//! Code compiled for timing calls [`optc_stamp`] after each step, in the thread that entered it. Stamps are
//! kept for [`stamped`] of that thread, and are dropped if no such call is active.

use std::cell::RefCell;
use std::time::Instant;

/// The time at which a step ended.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// The step's number.
    pub step: u64,
    /// The time.
    pub at: Instant,
}

thread_local! {
    static STAMPS: RefCell<Option<Vec<Stamp>>> = const { RefCell::new(None) };
}

/// Runs `work`, and returns the stamps of the steps that it ran in this thread, in order.
pub fn stamped<R>(work: impl FnOnce() -> R) -> (R, Vec<Stamp>) {
    let before = STAMPS.replace(Some(Vec::new()));
    let result = work();
    let stamps = STAMPS.replace(before);
    (result, stamps.unwrap_or_default())
}

/// Records the end of a step. Code compiled for timing calls it after each step.
pub extern "C" fn optc_stamp(step: u64) {
    STAMPS.with_borrow_mut(|stamps| {
        stamps.iter_mut().for_each(|all| all.push(Stamp { step, at: Instant::now() }))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_those_of_the_work() {
        optc_stamp(7);
        let (inner, outer) = stamped(|| {
            optc_stamp(1);
            let inner = stamped(|| optc_stamp(2)).1;
            optc_stamp(3);
            inner
        });
        let steps = |stamps: &[Stamp]| stamps.iter().map(|stamp| stamp.step).collect::<Vec<_>>();
        assert_eq!([steps(&inner), steps(&outer)], [vec![2], vec![1, 3]]);
        assert!(outer[0].at <= inner[0].at && inner[0].at <= outer[1].at);
    }
}
