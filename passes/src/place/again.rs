//! Where buffers go whose lives are known long before their sizes, again and again.
//!
//! At each choice of sizes, the orders that were best at others are tried first, then a few of the classical ones, each by first fit, until one meets
//! the most bytes that are live at a step, or comes [near](NEAR) it. Only where none is [good enough](ENOUGH), the whole portfolio is asked. O(n) for a buffer with
//! a small constant, and as a rule one order is enough.
//!
//! Each placement is judged before it is given: buffers that are alive at one step share no byte.

use cranelift_entity::PrimaryMap;

use super::greedy::{Fit, Order, greedy};
use super::portfolio::portfolio;
use super::separations::Separations;
use super::{BufferId, Options, Overlap, Problem};

/// How near to the bound ends the search: one part in so many above it.
pub const NEAR: u64 = 64;

/// How near to the bound is good enough when all orders were tried.
pub const ENOUGH: u64 = 25;

/// The most orders that are kept.
const MOST_ORDERS: usize = 8;

/// After so many orders, less is good enough.
const PATIENCE: usize = 1;

/// The classical orders that are tried.
const CLASSICAL: [Order; 3] = [Order::Size, Order::PeakBirth, Order::PeakLife];

/// How long a placement is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A few orders are tried.
    Little,
    /// All that planners can do, where a few orders are not good enough.
    AsNeeded,
    /// All that planners can do.
    Full,
}

/// Buffers whose lives are known.
pub struct Again {
    /// The lives; all sizes are 0.
    problem: Problem,
    /// The buffers in the order in which they begin.
    births: Vec<BufferId>,
    /// Orders that were good at some sizes.
    orders: Vec<Vec<BufferId>>,
}

/// Where the buffers are at some sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedAgain {
    /// The first byte of each.
    pub offsets: PrimaryMap<BufferId, u64>,
    /// The highest end.
    pub size_bytes: u64,
    /// The most bytes that are live at a step: no placement is smaller. 0 where some may share bytes.
    pub bound_bytes: u64,
}

impl Again {
    /// Buffers with these lives and alignments, without pins and overlaps.
    pub fn new(problem: Problem) -> Again {
        let mut births: Vec<BufferId> = problem.buffers.keys().collect();
        births.sort_by_key(|id| problem.buffers[*id].first);
        Again { problem, births, orders: Vec::new() }
    }

    /// The lives.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Keeps the order of a good placement of some sizes for others.
    pub fn learn(&mut self, sizes: &PrimaryMap<BufferId, u64>, placed: &PlacedAgain) {
        // What has no bytes here may have some elsewhere.
        let mut order = self.births.clone();
        order.sort_by_key(|id| (sizes[*id] == 0, placed.offsets[*id]));
        if self.orders.len() < MOST_ORDERS && !self.orders.contains(&order) {
            self.orders.push(order);
        }
    }

    /// Places buffers of these sizes, of which some may share bytes; so many bytes are few enough, if no bound is above them.
    ///
    /// # Panics
    /// If the planner's placement is refused.
    pub fn place(
        &self,
        sizes: &PrimaryMap<BufferId, u64>,
        overlaps: Vec<Overlap>,
        enough: u64,
        effort: Effort,
    ) -> PlacedAgain {
        match effort {
            Effort::Little => self.place_quickly(sizes, overlaps, enough),
            Effort::Full => self.place_fully(sizes, overlaps),
            Effort::AsNeeded => {
                let quick = self.place_quickly(sizes, overlaps.clone(), enough);
                let enough = quick.bound_bytes.max(enough);
                if quick.size_bytes <= enough + enough / ENOUGH {
                    return quick;
                }
                let full = self.place_fully(sizes, overlaps);
                if full.size_bytes < quick.size_bytes { full } else { quick }
            }
        }
    }

    fn place_fully(&self, sizes: &PrimaryMap<BufferId, u64>, overlaps: Vec<Overlap>) -> PlacedAgain {
        let problem = Problem { overlaps, ..self.sized(sizes) };
        let bound_bytes = if problem.overlaps.is_empty() { most_live(&problem) } else { 0 };
        let placement = portfolio(&problem, &Options::default(), &|| false);
        self.judged(&problem, placement.offsets, placement.size_bytes, bound_bytes)
    }

    fn place_quickly(
        &self,
        sizes: &PrimaryMap<BufferId, u64>,
        overlaps: Vec<Overlap>,
        enough: u64,
    ) -> PlacedAgain {
        let problem = Problem { overlaps, ..self.sized(sizes) };
        let has_bound = problem.overlaps.is_empty();
        let bound_bytes = if has_bound { most_live(&problem) } else { 0 };
        let enough = bound_bytes.max(enough);
        let (near, most) = (enough + enough / NEAR, enough + enough / ENOUGH);
        let separations = Separations::new(&problem);
        let mut best: Option<(PrimaryMap<BufferId, u64>, u64)> = None;
        let mut attempt = |order: &[BufferId]| {
            let limit = best.as_ref().map_or(u64::MAX, |best| best.1);
            best = greedy(&problem, &separations, order, Fit::First, limit).or(best.take());
            best.as_ref().map_or(u64::MAX, |best| best.1)
        };
        let has_bytes = |id: &BufferId| problem.buffers[*id].size_bytes > 0;
        let mut least = u64::MAX;
        for (tried, order) in self.orders.iter().enumerate() {
            let order: Vec<BufferId> = order.iter().copied().filter(has_bytes).collect();
            least = attempt(&order);
            // Where some may share bytes, how few are possible is not known.
            let wanted = match (has_bound, tried < PATIENCE) {
                (true, true) => enough,
                (true, false) | (false, true) => near,
                (false, false) => most,
            };
            if least <= wanted {
                break;
            }
        }
        if least > most {
            CLASSICAL.iter().any(|order| attempt(&order.sort(&problem)) <= near);
        }
        let (offsets, size_bytes) = best.expect("the first order has no limit");
        self.judged(&problem, offsets, size_bytes, bound_bytes)
    }

    fn judged(
        &self,
        problem: &Problem,
        offsets: PrimaryMap<BufferId, u64>,
        size_bytes: u64,
        bound_bytes: u64,
    ) -> PlacedAgain {
        assert!(self.is_right(problem, &offsets, size_bytes), "buffers that live at one time share bytes");
        PlacedAgain { offsets, size_bytes, bound_bytes }
    }

    /// The problem at some sizes, each rounded up to its alignment.
    fn sized(&self, sizes: &PrimaryMap<BufferId, u64>) -> Problem {
        let mut problem = self.problem.clone();
        for (id, buffer) in problem.buffers.iter_mut() {
            buffer.size_bytes = sizes[id].next_multiple_of(buffer.align);
        }
        problem
    }

    /// Whether buffers that are alive at one step share no byte that they may not: each newcomer is compared with all that are alive.
    fn is_right(&self, problem: &Problem, offsets: &PrimaryMap<BufferId, u64>, size_bytes: u64) -> bool {
        let mut alive: Vec<BufferId> = Vec::new();
        self.births.iter().filter(|id| problem.buffers[**id].size_bytes > 0).all(|&id| {
            let this = &problem.buffers[id];
            alive.retain(|other| problem.buffers[*other].last >= this.first);
            let (start, end) = (offsets[id], offsets[id] + this.size_bytes);
            let is_apart = |other: &BufferId| {
                let from = offsets[*other];
                let is_disjoint = end <= from || from + problem.buffers[*other].size_bytes <= start;
                is_disjoint
                    || problem.overlaps.iter().any(|overlap| may_share(overlap, [id, *other], offsets))
            };
            let is_right =
                start.is_multiple_of(this.align) && end <= size_bytes && alive.iter().all(is_apart);
            alive.push(id);
            is_right
        })
    }
}

/// The most bytes that are live at a step.
fn most_live(problem: &Problem) -> u64 {
    super::live_bytes(problem).into_iter().max().unwrap_or(0)
}

/// Whether an overlap is of these two, and they are as far apart as it wants.
fn may_share(overlap: &Overlap, pair: [BufferId; 2], offsets: &PrimaryMap<BufferId, u64>) -> bool {
    let Overlap { input, output, min_distance_bytes } = *overlap;
    (pair == [input, output] || pair == [output, input])
        && offsets[input] as i64 - offsets[output] as i64 >= min_distance_bytes
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::super::random::Random;
    use super::super::testing::{buffer, problem};
    use super::*;

    fn again(lives: &[(u32, u32)]) -> Again {
        let buffers: Vec<_> = lives.iter().map(|(first, last)| buffer(*first, *last, 0)).collect();
        Again::new(problem(&buffers))
    }

    fn sizes(sizes: &[u64]) -> PrimaryMap<BufferId, u64> {
        sizes.iter().copied().collect()
    }

    #[test]
    fn the_order_of_other_sizes_serves() {
        let mut again = again(&[(0, 1), (0, 2), (2, 4)]);
        let few = sizes(&[4, 4, 4]);
        let placed = again.place(&few, Vec::new(), 0, Effort::AsNeeded);
        again.learn(&few, &placed);
        let placed = again.place(&sizes(&[40, 40, 40]), Vec::new(), 0, Effort::AsNeeded);
        assert_eq!((placed.size_bytes, placed.bound_bytes), (80, 80));
    }

    #[test]
    fn a_placement_that_shares_bytes_is_refused() {
        let again = again(&[(0, 1), (1, 2), (2, 3)]);
        let problem = again.sized(&sizes(&[8, 8, 8]));
        let is_right = |offsets: &[u64], size| again.is_right(&problem, &sizes(offsets), size);
        assert!(is_right(&[0, 8, 0], 16));
        assert!(!is_right(&[0, 7, 0], 16), "a byte of the one before");
        assert!(!is_right(&[0, 0, 8], 16), "all bytes of the one before");
        assert!(!is_right(&[0, 8, 16], 16), "beyond the end");
    }

    #[test]
    fn placements_are_near_the_bound_or_as_good_as_the_portfolio() {
        let mut random = Random(7);
        for _ in 0..50 {
            let lives: Vec<(u32, u32)> = (0..30)
                .map(|_| {
                    let first = random.range(0, 20) as u32;
                    (first, first + random.range(0, 5) as u32)
                })
                .collect();
            let mut again = again(&lives);
            let mut draw = || sizes(&lives.iter().map(|_| random.range(0, 50)).collect::<Vec<_>>());
            let others = draw();
            let placed = again.place_fully(&others, Vec::new());
            again.learn(&others, &placed);
            let sizes = draw();
            let placed = again.place(&sizes, Vec::new(), 0, Effort::AsNeeded);
            let problem = again.sized(&sizes);
            let best = portfolio(&problem, &Options::default(), &|| false).size_bytes;
            assert!(super::super::lower_bound(&problem) >= placed.bound_bytes);
            let enough = placed.bound_bytes + placed.bound_bytes / ENOUGH;
            assert!(placed.size_bytes <= enough.max(best), "{placed:?}, {best}");
        }
    }
}
