//! The portfolio: the smallest of the classical greedy placements, improved by a short walk.
//!
//! Every order is tried with every fit until one meets the bound (or the capacity, if one is given). An
//! attempt ends as soon as it reaches the best size so far. If none meets it, a short walk through other
//! orders follows: the overlaps of a few pairs may suit none of the classical orders, and a few hundred moves
//! find a better one.

use super::best::Best;
use super::greedy::{Fit, Greedy, GreedyOrder};
use super::{MANY, Placement, PlannerOptions, Problem, Stop, reorder};
use std::slice::SliceIndex;

/// A greedy placement, with its name.
pub(super) type Attempt = (&'static str, GreedyOrder, Fit);

/// The orders and fits in the order of trial, each with its name; the most successful come first.
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

/// The length of the walk in nodes: milliseconds for hundreds of buffers.
const WALK_NODES: u64 = 2_000;

/// The limit of buffers for the walk; with more it is too short to help.
const WALK_BUFFERS: usize = 1_000;

/// The best of [`ATTEMPTS`], the first of equals, improved by a walk of [`WALK_NODES`].
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

/// Like [`portfolio`], but for many buffers without the orders that are seldom the best: a search may be
/// faster there.
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

/// The number of [`ATTEMPTS`] to try before a search that may be faster than the others.
pub(super) const GOOD_ATTEMPTS: usize = 6;

/// Tries a range of [`ATTEMPTS`] until one is enough or `stop` returns true; at least one is completed.
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

/// One order and one fit, as a planner of its own.
pub(super) fn single(problem: &Problem, name: &'static str, order: GreedyOrder, fit: Fit) -> Placement {
    let mut best = Best::new(problem);
    best.offer(Greedy::new(problem).place(&order.sort(problem), fit, u64::MAX), name);
    best.into_placement()
}
