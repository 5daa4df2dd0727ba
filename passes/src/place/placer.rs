//! The planner of a function: a named one, or the best for each problem.

use super::{Placement, Planner, PlannerOptions, Problem, finish, planner, sketch};

/// The planner that [`super::place`] is.
const BEST: &str = "auto";

/// Places problems with one planner, first fast and then well.
#[derive(Clone, Copy)]
pub struct Placer {
    /// None for the best one.
    named: Option<&'static Planner>,
}

impl Placer {
    /// The planner of this name in [`super::PLANNERS`]; none if there is none.
    pub fn named(name: &str) -> Option<Placer> {
        let named = planner(name)?;
        Some(Placer { named: (named.name != BEST).then_some(named) })
    }

    /// A fast placement, for comparing problems.
    pub fn sketch(&self, problem: &Problem) -> Placement {
        self.named.map_or_else(
            || sketch(problem),
            |planner| (planner.run)(problem, &PlannerOptions::default(), &|| false),
        )
    }

    /// The final placement of a problem that was sketched.
    pub fn finish(&self, problem: &Problem, sketch: Placement) -> Placement {
        if self.named.is_some() { sketch } else { finish(problem, sketch) }
    }

    /// The placement of a problem.
    pub fn place(&self, problem: &Problem) -> Placement {
        self.finish(problem, self.sketch(problem))
    }
}
