//! Exact placement of the peak steps, with all other buffers placed around it.
//!
//! With thousands of buffers only a small part of the steps is hard: those at which nearly all of the arena
//! is live. The buffers alive there are placed by the exact search, and all others greedily in the remaining
//! space. (Compare idealloc, Lamprou et al., 2024, which for the same purpose boxes buffers with similar live
//! ranges, and so decides the hardest part first.)
//!
//! ```text
//! live bytes        _#_ _
//!               _#__###_#__      the buffers alive at the steps marked # are searched,
//!            ___################     the others placed around them by size
//! ```

use super::best::Best;
use super::exact;
use super::greedy::{Fit, Greedy, GreedyOrder, breadths};
use super::portfolio::try_orders;
use super::{Placement, PlannerOptions, Problem, Stop};

/// A step counts as a peak step from this per mille of the bound on; in the order of trial.
const SHARES: [u64; 4] = [900, 800, 950, 980];

/// The limit of members of sections for the search of the peak steps: at this size it takes a second.
const MAX_MEMBERS: usize = 400_000;

/// The portfolio, then [`improve`].
pub(super) fn peak(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>) -> Placement {
    let mut best = Best::new(problem);
    try_orders(problem, &mut best, stop, ..);
    improve(problem, options, stop, &mut best);
    best.into_placement()
}

/// Tries each of [`SHARES`] until one placement is enough.
pub(super) fn improve(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>, best: &mut Best) {
    if best.is_enough() || !exact::is_plain(problem) {
        return;
    }
    let breadths = breadths(problem);
    for share in SHARES {
        if stop() {
            return;
        }
        let full = (u128::from(best.lower_bound_bytes) * u128::from(share) / 1000) as u64;
        let mut pinned = problem.clone();
        for (id, buffer) in &mut pinned.buffers {
            if breadths[id] < full {
                buffer.size_bytes = 0;
            }
        }
        pinned.capacity = Some(best.target());
        let Some(placement) = exact::fit(&pinned, options, stop, MAX_MEMBERS) else { continue };
        for (id, buffer) in &mut pinned.buffers {
            if buffer.size_bytes == 0 {
                buffer.size_bytes = problem.buffers[id].size_bytes;
            } else {
                buffer.pin = Some(placement.offsets[id]);
            }
        }
        let greedy = Greedy::new(&pinned);
        for (order, fit) in [
            (GreedyOrder::Size, Fit::First),
            (GreedyOrder::SizeBreadth, Fit::First),
            (GreedyOrder::Size, Fit::Best),
        ] {
            best.offer(greedy.place(&order.sort(&pinned), fit, best.size_bytes), "peak");
            if best.is_enough() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Family;
    use super::*;

    #[test]
    fn placing_the_full_steps_first_meets_bounds_that_no_order_meets() {
        let never = &|| false;
        let problems: Vec<Problem> = (0..40).map(|seed| Family::Uniform.draw(150, seed)).collect();
        let mut left: Vec<(&Problem, Best)> = Vec::new();
        for problem in &problems {
            let mut best = Best::new(problem);
            try_orders(problem, &mut best, never, ..);
            left.extend((!best.is_enough()).then_some((problem, best)));
        }
        assert!(left.len() > 10, "orders meet all but {} bounds", left.len());
        for (problem, mut best) in left {
            improve(problem, &PlannerOptions::default(), never, &mut best);
            assert!(best.is_enough(), "{} of {}", best.size_bytes, best.lower_bound_bytes);
        }
    }
}
