//! Which of the classical greedy placements is the smallest, and what a short walk makes of it.
//!
//! Every order is tried with every fit until one meets the bound (or the capacity, if one is given). An
//! attempt ends as soon as it reaches the best size so far. Where none meets it, a short walk through other
//! orders follows: the overlaps of a few pairs fit into none of the classical ones, and a few hundred moves
//! find one into which they do.

use super::best::Best;
use super::greedy::{Fit, Greedy, GreedyOrder};
use super::{MANY, Placement, PlannerOptions, Problem, Stop, reorder};
use std::slice::SliceIndex;

/// A greedy placement, with its name.
pub(super) type Attempt = (&'static str, GreedyOrder, Fit);

/// The orders and fits in the order of trial, each with its name: those that most often are the best come
/// first.
pub(super) const ATTEMPTS: [Attempt; 24] = [
    ("size-first", GreedyOrder::Size, Fit::First),
    ("peak-birth-first", GreedyOrder::PeakBirth, Fit::First),
    ("peak-life-first", GreedyOrder::PeakLife, Fit::First),
    ("peak-death-first", GreedyOrder::PeakDeath, Fit::First),
    ("breadth-life-first", GreedyOrder::BreadthLife, Fit::First),
    ("size-breadth-first", GreedyOrder::SizeBreadth, Fit::First),
    ("area-first", GreedyOrder::Area, Fit::First),
    ("breadth-first", GreedyOrder::Breadth, Fit::First),
    ("life-first", GreedyOrder::Life, Fit::First),
    ("degree-first", GreedyOrder::Degree, Fit::First),
    ("birth-first", GreedyOrder::Birth, Fit::First),
    ("death-first", GreedyOrder::Death, Fit::First),
    ("size-best", GreedyOrder::Size, Fit::Best),
    ("peak-birth-best", GreedyOrder::PeakBirth, Fit::Best),
    ("peak-life-best", GreedyOrder::PeakLife, Fit::Best),
    ("peak-death-best", GreedyOrder::PeakDeath, Fit::Best),
    ("breadth-life-best", GreedyOrder::BreadthLife, Fit::Best),
    ("size-breadth-best", GreedyOrder::SizeBreadth, Fit::Best),
    ("area-best", GreedyOrder::Area, Fit::Best),
    ("breadth-best", GreedyOrder::Breadth, Fit::Best),
    ("life-best", GreedyOrder::Life, Fit::Best),
    ("degree-best", GreedyOrder::Degree, Fit::Best),
    ("birth-best", GreedyOrder::Birth, Fit::Best),
    ("death-best", GreedyOrder::Death, Fit::Best),
];

/// How long the walk after the orders is, in nodes: milliseconds for hundreds of buffers.
const WALK_NODES: u64 = 2_000;

/// The most buffers for which a walk of that length leads anywhere.
const WALK_BUFFERS: usize = 1_000;

/// The best of [`ATTEMPTS`], the first of equals, or what is reached from there in [`WALK_NODES`].
pub(super) fn portfolio(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>) -> Placement {
    let mut best = Best::new(problem);
    try_orders(problem, &mut best, stop, ..);
    walk(problem, options, stop, &mut best);
    best.into_placement()
}

/// The best of [`ATTEMPTS`], then [`reorder::improve`] from there.
pub(super) fn reorder(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>) -> Placement {
    let mut best = Best::new(problem);
    try_orders(problem, &mut best, stop, ..);
    reorder::improve(problem, options, stop, &mut best);
    best.into_placement()
}

/// [`portfolio`] without the orders that seldom are the best if each takes long: where a search may be faster.
pub(super) fn begin(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>) -> Best {
    let mut best = Best::new(problem);
    let orders = if problem.buffers.len() > MANY { GOOD_ATTEMPTS } else { ATTEMPTS.len() };
    try_orders(problem, &mut best, stop, ..orders);
    walk(problem, options, stop, &mut best);
    best
}

fn walk(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>, best: &mut Best) {
    if problem.buffers.len() <= WALK_BUFFERS {
        let walk = PlannerOptions { max_nodes: options.max_nodes.min(WALK_NODES), ..*options };
        reorder::improve(problem, &walk, stop, best);
    }
}

/// How many of [`ATTEMPTS`] are tried before a search that could be faster than the others.
pub(super) const GOOD_ATTEMPTS: usize = 6;

/// Tries a range of [`ATTEMPTS`] until one is enough or `stop` says so; one at least is run to its end.
pub(super) fn try_orders(
    problem: &Problem,
    best: &mut Best,
    stop: Stop<'_>,
    range: impl SliceIndex<[Attempt], Output = [Attempt]>,
) {
    let greedy = Greedy::new(problem);
    for &(name, order, fit) in &ATTEMPTS[range] {
        if best.is_enough() || (best.has_placement() && stop()) {
            break;
        }
        let found = greedy.place(&order.sort(problem), fit, best.size_bytes);
        best.offer(found, name);
    }
}

/// One order and one fit, named as a planner of its own.
pub(super) fn single(problem: &Problem, name: &'static str, order: GreedyOrder, fit: Fit) -> Placement {
    let mut best = Best::new(problem);
    best.offer(Greedy::new(problem).place(&order.sort(problem), fit, u64::MAX), name);
    best.into_placement()
}
