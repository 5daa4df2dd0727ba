//! Which of the classical greedy placements is the smallest, and what a short walk makes of it.
//!
//! Every order is tried with every fit until one meets the bound (or the capacity, if one is given). An
//! attempt ends as soon as it reaches the best size so far. Where none meets it, a short walk through other
//! orders follows: the overlaps of a few pairs fit into none of the classical ones, and a few hundred moves
//! find one into which they do.

use super::greedy::{Fit, Greedy, Order};
use super::{BufferId, MANY, Options, Placement, Problem, Stop, lower_bound, reorder};
use cranelift_entity::PrimaryMap;
use std::slice::SliceIndex;

/// The best placement so far and what ends the search for a better one.
pub(super) struct Best {
    pub(super) offsets: PrimaryMap<BufferId, u64>,
    pub(super) size_bytes: u64,
    pub(super) lower_bound_bytes: u64,
    pub(super) planner: &'static str,
    target_bytes: u64,
}

impl Best {
    /// Nothing placed yet.
    pub(super) fn new(problem: &Problem) -> Self {
        let lower_bound_bytes = lower_bound(problem);
        Self {
            offsets: PrimaryMap::new(),
            size_bytes: u64::MAX,
            lower_bound_bytes,
            planner: "",
            target_bytes: lower_bound_bytes.max(problem.capacity.unwrap_or(0)),
        }
    }

    /// What was found before.
    pub(super) fn of(problem: &Problem, found: Placement) -> Self {
        let Placement { offsets, size_bytes, lower_bound_bytes, planner, .. } = found;
        let target_bytes = lower_bound_bytes.max(problem.capacity.unwrap_or(0));
        Self { offsets, size_bytes, lower_bound_bytes, planner, target_bytes }
    }

    /// Whether a smaller placement is impossible or not wanted.
    pub(super) fn is_enough(&self) -> bool {
        self.size_bytes <= self.target_bytes
    }

    /// The size at which the search ends.
    pub(super) fn target(&self) -> u64 {
        self.target_bytes
    }

    /// Notes that no placement has `size_bytes` or fewer, where all sizes are multiples of `grain`.
    pub(super) fn prove_above(&mut self, size_bytes: u64, grain: u64) {
        self.lower_bound_bytes = self.lower_bound_bytes.max((size_bytes / grain + 1) * grain);
        self.target_bytes = self.target_bytes.max(self.lower_bound_bytes);
    }

    /// Takes a placement if it is smaller.
    pub(super) fn offer(&mut self, found: Option<(PrimaryMap<BufferId, u64>, u64)>, planner: &'static str) {
        if let Some((offsets, size_bytes)) = found.filter(|&(_, size_bytes)| size_bytes < self.size_bytes) {
            (self.offsets, self.size_bytes, self.planner) = (offsets, size_bytes, planner);
        }
    }

    /// [`Best::offer`] for a placement that is copied only if it is taken.
    pub(super) fn offer_ref(
        &mut self,
        offsets: &PrimaryMap<BufferId, u64>,
        size_bytes: u64,
        planner: &'static str,
    ) {
        if size_bytes < self.size_bytes {
            self.offer(Some((offsets.clone(), size_bytes)), planner);
        }
    }

    fn has_placement(&self) -> bool {
        self.size_bytes < u64::MAX
    }

    pub(super) fn into_placement(self) -> Placement {
        let proved_best = self.size_bytes <= self.lower_bound_bytes;
        let Self { offsets, size_bytes, lower_bound_bytes, planner, .. } = self;
        Placement { offsets, size_bytes, lower_bound_bytes, proved_best, planner }
    }
}

/// A greedy placement, with its name.
pub(super) type Attempt = (&'static str, Order, Fit);

/// The orders and fits in the order of trial, each with its name: those that most often are the best come
/// first.
pub(super) const ATTEMPTS: [Attempt; 24] = [
    ("size-first", Order::Size, Fit::First),
    ("peak-birth-first", Order::PeakBirth, Fit::First),
    ("peak-life-first", Order::PeakLife, Fit::First),
    ("peak-death-first", Order::PeakDeath, Fit::First),
    ("breadth-life-first", Order::BreadthLife, Fit::First),
    ("size-breadth-first", Order::SizeBreadth, Fit::First),
    ("area-first", Order::Area, Fit::First),
    ("breadth-first", Order::Breadth, Fit::First),
    ("life-first", Order::Life, Fit::First),
    ("degree-first", Order::Degree, Fit::First),
    ("birth-first", Order::Birth, Fit::First),
    ("death-first", Order::Death, Fit::First),
    ("size-best", Order::Size, Fit::Best),
    ("peak-birth-best", Order::PeakBirth, Fit::Best),
    ("peak-life-best", Order::PeakLife, Fit::Best),
    ("peak-death-best", Order::PeakDeath, Fit::Best),
    ("breadth-life-best", Order::BreadthLife, Fit::Best),
    ("size-breadth-best", Order::SizeBreadth, Fit::Best),
    ("area-best", Order::Area, Fit::Best),
    ("breadth-best", Order::Breadth, Fit::Best),
    ("life-best", Order::Life, Fit::Best),
    ("degree-best", Order::Degree, Fit::Best),
    ("birth-best", Order::Birth, Fit::Best),
    ("death-best", Order::Death, Fit::Best),
];

/// How long the walk after the orders is, in nodes: milliseconds for hundreds of buffers.
const WALK_NODES: u64 = 2_000;

/// The most buffers for which a walk of that length leads anywhere.
const WALK_BUFFERS: usize = 1_000;

/// The best of [`ATTEMPTS`], the first of equals, or what is reached from there in [`WALK_NODES`].
pub(super) fn portfolio(problem: &Problem, options: &Options, stop: Stop<'_>) -> Placement {
    let mut best = Best::new(problem);
    try_orders(problem, &mut best, stop, ..);
    walk(problem, options, stop, &mut best);
    best.into_placement()
}

/// The same, without the orders that seldom are the best if each takes long: where a search may be faster.
pub(super) fn begin(problem: &Problem, options: &Options, stop: Stop<'_>) -> Best {
    let mut best = Best::new(problem);
    let orders = if problem.buffers.len() > MANY { GOOD_ATTEMPTS } else { ATTEMPTS.len() };
    try_orders(problem, &mut best, stop, ..orders);
    walk(problem, options, stop, &mut best);
    best
}

fn walk(problem: &Problem, options: &Options, stop: Stop<'_>, best: &mut Best) {
    if problem.buffers.len() <= WALK_BUFFERS {
        let walk = Options { max_nodes: options.max_nodes.min(WALK_NODES), ..*options };
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
pub(super) fn single(problem: &Problem, name: &'static str, order: Order, fit: Fit) -> Placement {
    let mut best = Best::new(problem);
    best.offer(Greedy::new(problem).place(&order.sort(problem), fit, u64::MAX), name);
    best.into_placement()
}
