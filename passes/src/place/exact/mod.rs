//! Exact placement: a search that finds the smallest placement and proves it.
//!
//! The search asks whether everything fits below a *target*: first the lower bound; if that is too hard,
//! sizes between the bound and the best placement so far. A target without placement raises the bound, so
//! that the answer may be proved best above max-live. A problem with a capacity has only that one target.
//! Pins and overlaps are not modelled: such problems are for [`super::stack`] and [`super::reorder`].

mod model;
mod nogoods;
mod race;
mod search;
mod state;
mod strategy;
#[cfg(test)]
mod tests;

use super::best::Best;
use super::portfolio::try_orders;
use super::{Placement, PlannerOptions, Problem, Stop};
use cranelift_entity::PrimaryMap;
use model::PlacementModel;
use race::{Verdict, race};

/// The limit of members of sections in all; the search keeps three lists of each.
const MAX_MEMBERS: usize = 4_000_000;

/// The best greedy placement, then the search; see the module's documentation.
pub(super) fn exact(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>) -> Placement {
    let mut best = Best::new(problem);
    try_orders(problem, &mut best, stop, ..);
    improve(problem, options, stop, &mut best);
    best.into_placement()
}

/// Whether the search models the problem: it has neither pins nor overlaps.
pub(super) fn is_plain(problem: &Problem) -> bool {
    problem.overlaps.is_empty() && problem.buffers.values().all(|buffer| buffer.pin.is_none())
}

/// A placement within the capacity of the problem, if the search finds one and the sections have at most
/// `max_members` members.
pub(super) fn fit(
    problem: &Problem,
    options: &PlannerOptions,
    stop: Stop<'_>,
    max_members: usize,
) -> Option<Placement> {
    let model = PlacementModel::new(problem, max_members)?;
    let mut best = Best::new(problem);
    descend(problem, &model, options, stop, &mut best);
    best.is_enough().then(|| best.into_placement())
}

/// Searches for smaller placements until one is enough, `options.max_nodes` are used up, or `stop` returns
/// true.
pub(super) fn improve(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>, best: &mut Best) {
    if best.is_enough() || !is_plain(problem) {
        return;
    }
    if let Some(model) = PlacementModel::new(problem, MAX_MEMBERS) {
        descend(problem, &model, options, stop, best);
    }
}

fn descend(
    problem: &Problem,
    model: &PlacementModel,
    options: &PlannerOptions,
    stop: Stop<'_>,
    best: &mut Best,
) {
    let mut descent = Descent { problem, model, options, stop, best, nodes_left: options.max_nodes };
    // With a capacity there is only one question, which may have all nodes.
    let mut nodes = match problem.capacity {
        Some(_) => options.max_nodes,
        None => options.max_nodes.div_ceil(2).min(64 * 1024),
    };
    while !descent.is_over() && descent.cycle(nodes) {
        nodes = nodes.saturating_mul(4);
    }
}

/// The state of the search for ever smaller sizes.
struct Descent<'a, 'b> {
    problem: &'a Problem,
    model: &'a PlacementModel,
    options: &'a PlannerOptions,
    stop: Stop<'a>,
    best: &'b mut Best,
    nodes_left: u64,
}

impl Descent<'_, '_> {
    fn is_over(&self) -> bool {
        self.best.is_enough() || self.nodes_left == 0 || (self.stop)()
    }

    /// Tries the bound with `nodes`; if that is too hard, repeatedly halves the gap above it, with fewer
    /// nodes. Returns whether more nodes could improve the result.
    fn cycle(&mut self, nodes: u64) -> bool {
        let grain = self.model.grain;
        let mut verdict = self.ask(self.best.target(), nodes);
        while verdict == Verdict::Impossible && self.problem.capacity.is_none() && !self.is_over() {
            verdict = self.ask(self.best.target(), nodes);
        }
        if self.problem.capacity.is_some() {
            return verdict == Verdict::Unknown && !self.is_over();
        }
        let mut hard = self.best.target();
        while !self.is_over() && self.best.size_bytes > hard + grain {
            let target = hard + (self.best.size_bytes - hard) / grain / 2 * grain;
            if !matches!(self.ask(target.max(hard + grain), nodes.div_ceil(4)), Verdict::Fits(_)) {
                hard = target.max(hard + grain);
            }
        }
        !self.is_over()
    }

    /// Whether everything fits below `target`; keeps a better placement or bound.
    fn ask(&mut self, target: u64, nodes: u64) -> Verdict {
        let nodes = nodes.min(self.nodes_left);
        let (verdict, used) = race(self.model, target, nodes, self.options.threads, self.stop);
        self.nodes_left -= used.min(self.nodes_left);
        match &verdict {
            Verdict::Fits(found) => {
                let mut offsets: PrimaryMap<_, u64> = self.problem.buffers.values().map(|_| 0).collect();
                let mut size_bytes = 0;
                for (&(id, offset), facts) in found.iter().zip(self.model.items.values()) {
                    offsets[id] = offset;
                    size_bytes = size_bytes.max(offset + facts.size);
                }
                self.best.offer(Some((offsets, size_bytes)), "exact");
            }
            Verdict::Impossible => self.best.prove_above(target, self.model.grain),
            Verdict::Unknown => {}
        }
        verdict
    }
}
