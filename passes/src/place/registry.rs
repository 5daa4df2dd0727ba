//! The registry of planners.

use super::exact::exact;
use super::greedy::{Fit, GreedyOrder};
use super::peak::peak;
use super::portfolio::{portfolio, reorder, single};
use super::stack::stack;
use super::{Placement, PlannerOptions, Problem, Stop, place_until};

/// A planner, chosen by `plan{planner=NAME}`.
#[derive(Clone, Copy)]
pub struct Planner {
    /// The name, unique in [`PLANNERS`].
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// Places a valid problem; returns the best placement so far if the last argument returns true.
    pub run: fn(&Problem, &PlannerOptions, Stop<'_>) -> Placement,
}

/// All planners. A new one is a new row here, and all law tests then apply to it.
pub const PLANNERS: &[Planner] = &[
    Planner { name: "auto", doc: "what fits the problem's size and kind", run: place_until },
    Planner {
        name: "portfolio",
        doc: "the best of twelve orders, each by first fit and by best fit, then a short walk through others",
        run: portfolio,
    },
    Planner {
        name: "exact",
        doc: "the portfolio, then a search that ends at the bound or with a proof, within its nodes",
        run: exact,
    },
    Planner {
        name: "peak",
        doc: "the portfolio, then a search of the peak steps with everything else around them",
        run: peak,
    },
    Planner {
        name: "reorder",
        doc: "the portfolio, then a walk through other orders that moves the topmost buffers forward",
        run: reorder,
    },
    Planner {
        name: "stack",
        doc: "the portfolio, then a search through all ways to stack a few buffers, with pins and overlaps",
        run: stack,
    },
    Planner {
        name: "size",
        doc: "first fit, the largest buffer first",
        run: |problem, _, _| single(problem, "size", GreedyOrder::Size, Fit::First),
    },
    Planner {
        name: "area",
        doc: "first fit, the largest product of size and live range first",
        run: |problem, _, _| single(problem, "area", GreedyOrder::Area, Fit::First),
    },
    Planner {
        name: "birth",
        doc: "best fit in the order of execution, as an allocator at run time would do it",
        run: |problem, _, _| single(problem, "birth", GreedyOrder::Birth, Fit::Best),
    },
];

/// The planner with this name.
pub fn planner(name: &str) -> Option<&'static Planner> {
    PLANNERS.iter().find(|planner| planner.name == name)
}
