//! Placement: the offset of each buffer in one arena.
//!
//! The problem is *dynamic storage allocation*: buffers with known live ranges and sizes get offsets so that
//! buffers alive at the same step share no bytes, and the highest end is as low as possible. It is
//! NP-hard, so there are several planners ([`PLANNERS`]) and one independent [`checker`].
//!
//! ```text
//! live  0 1 2 3 4        offset
//! a     ###       4  =>  b:0  a:8  c:4     size 12, which is the bound:
//! b     #####     4      at step 1, a, b and c are alive
//! c       ###     4
//! ```
//!
//! All functions here are pure functions on numbers and know neither operations nor types. Two buffers may be
//! allowed to share bytes at a minimum distance ([`Overlap`]): an operation that has consumed the first rows
//! of its input may write its first rows of output over them.
//!
//! A conflict of `a` and `b` is a disjunction: `offset(b) >= offset(a) + D(a, b)` or
//! `offset(a) >= offset(b) + D(b, a)`, where `D(a, b)` is `size(a)` for an ordinary pair. An overlap lowers
//! `D(output, input)` to its distance; so every planner treats both kinds of pair alike (see `Separations`).

use std::sync::Arc;

use cranelift_entity::{PrimaryMap, entity_impl};

mod best;
mod bound;
pub mod checker;
pub mod csv;
mod exact;
#[cfg(test)]
mod families;
mod greedy;
#[cfg(test)]
mod laws;
mod neighbours;
pub mod orders;
mod peak;
mod placer;
mod portfolio;
pub(crate) mod random;
mod registry;
mod reorder;
mod separations;
mod stack;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod validate;

use best::Best;

pub use bound::{live_bytes, lower_bound, peak as peak_of, whole_tensor_bound};
pub use placer::Placer;
pub use registry::{PLANNERS, Planner, planner};
pub use validate::ProblemFault;

/// A buffer of a [`Problem`], by its index in the problem's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(u32);
entity_impl!(BufferId, "buffer");

/// A point in time: the index of an operation in the order of execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step(u32);
entity_impl!(Step, "step");

/// A range of memory that is needed for some steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The first step at which the bytes must be kept.
    pub first: Step,
    /// The last such step, included: `first == last` is a live range of one step.
    pub last: Step,
    /// The size. Zero is allowed: such a buffer gets offset 0 and conflicts with nothing.
    pub size_bytes: u64,
    /// The offset is a multiple of this; at least 1, not necessarily a power of two.
    pub align: u64,
    /// A fixed offset, if it is given from outside.
    pub pin: Option<u64>,
}

/// Permission for two buffers alive at once to share bytes: they are disjoint, or
/// `offset(input) - offset(output) >= min_distance_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The buffer that is consumed while `output` is written.
    pub input: BufferId,
    /// The buffer that may be written over `input`.
    pub output: BufferId,
    /// How far `input` must start above `output`; negative where the output may start above the input.
    pub min_distance_bytes: i64,
}

/// A placement problem.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The buffers. A planner's answer is a table with the same indices.
    pub buffers: PrimaryMap<BufferId, Buffer>,
    /// Pairs that may share bytes; several entries for a pair allow what any of them allows.
    pub overlaps: Vec<Overlap>,
    /// The arena's size if it is fixed: a planner stops at the first placement that fits.
    pub capacity: Option<u64>,
}

/// The offsets of all buffers, with their quality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The offset of each buffer, in bytes from the arena's start.
    pub offsets: PrimaryMap<BufferId, u64>,
    /// The highest end of a buffer.
    pub size_bytes: u64,
    /// A lower bound of all placements of this problem.
    pub lower_bound_bytes: u64,
    /// Whether no smaller placement exists: the bound is met, or an exhaustive search proved it.
    pub proved_best: bool,
    /// The name of the planner that found it: a row of [`PLANNERS`], or one of its orders.
    pub planner: &'static str,
}

impl Placement {
    /// The bytes between the placement and the bound.
    pub fn gap_bytes(&self) -> u64 {
        self.size_bytes.saturating_sub(self.lower_bound_bytes)
    }

    /// The gap as a share of the bound: 0.01 is one percent.
    pub fn gap(&self) -> f64 {
        match self.gap_bytes() {
            0 => 0.0,
            gap => gap as f64 / self.lower_bound_bytes.max(1) as f64,
        }
    }
}

/// Limits of a planner's work. They count work, never time, so that results are reproducible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannerOptions {
    /// The nodes that the exact search may visit in all.
    pub max_nodes: u64,
    /// The number of threads; the result is the same for any number.
    pub threads: usize,
}

impl Default for PlannerOptions {
    fn default() -> Self {
        Self { max_nodes: 20_000, threads: 1 }
    }
}

/// Places `problem` as well as the limit of nodes allows: takes the best of several orders, then searches for
/// a smaller placement. It is [`sketch`], then [`finish`].
///
/// # Panics
/// If [`Problem::validate`] finds a fault.
pub fn place(problem: &Problem, options: &PlannerOptions) -> Placement {
    place_until(problem, options, &|| false)
}

/// Like [`place`], but stops early when `stop` returns true, with the best placement so far. If `stop`
/// depends on time, so does the result.
///
/// # Panics
/// If [`Problem::validate`] finds a fault.
pub fn place_until(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>) -> Placement {
    let mut best = portfolio::begin(problem, options, stop);
    improve(problem, options, stop, &mut best);
    best.into_placement()
}

/// Like [`place_until`], and calls `watch` with each better placement: its size, and the lower bound proved
/// so far.
///
/// # Panics
/// If [`Problem::validate`] finds a fault.
pub fn place_watched(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>, watch: Watch) -> Placement {
    let mut best = portfolio::begin(problem, options, stop);
    best.watch(watch);
    improve(problem, options, stop, &mut best);
    best.into_placement()
}

/// A placement found fast, for comparing problems.
pub fn sketch(problem: &Problem) -> Placement {
    portfolio::begin(problem, &PlannerOptions::default(), &|| false).into_placement()
}

/// The result of [`place`], computed from that of [`sketch`].
pub fn finish(problem: &Problem, sketch: Placement) -> Placement {
    let mut best = Best::of(problem, sketch);
    improve(problem, &PlannerOptions::default(), &|| false, &mut best);
    best.into_placement()
}

/// Searches for a placement smaller than the sketch.
fn improve(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>, best: &mut Best) {
    if problem.buffers.len() > MANY {
        peak::improve(problem, options, stop, best);
        portfolio::try_orders(problem, best, stop, portfolio::GOOD_ATTEMPTS..);
    } else if exact::is_plain(problem) {
        return exact::improve(problem, options, stop, best);
    }
    stack::improve(problem, options, stop, best);
    reorder::improve(problem, options, stop, best);
}

/// For more buffers than this, the search is confined to the peak steps.
const MANY: usize = 4_000;

/// Called with a placement's size and the lower bound.
pub type Watch = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Called now and then by a planner; true stops the search.
pub type Stop<'s> = &'s (dyn Fn() -> bool + Sync);
