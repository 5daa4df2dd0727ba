//! Orders of placement that were good at other sizes are tried first.
//!
//! For each choice of sizes, first come the orders that were best at other sizes, then a few of the classical
//! ones, each by first fit. The search stops when one meets the peak of live bytes, or comes [near](NEAR) it.
//! The whole portfolio is tried only if none is [good enough](ENOUGH). As a rule one order suffices. The
//! pairs of buffers alive together are known in advance, so each buffer looks only at its own.
//!
//! Each placement is checked before it is returned: buffers alive at one step share no byte.

use cranelift_entity::PrimaryMap;

use super::greedy::{Fit, GreedyOrder, greedy, round_up};
use super::portfolio::portfolio;
use super::separations::Separations;
use super::{BufferId, Overlap, PlannerOptions, Problem};

/// The search stops at a placement at most 1 / `NEAR` above the bound.
pub const NEAR: u64 = 64;

/// After all orders were tried, a placement at most 1 / `ENOUGH` above the bound is accepted.
pub const ENOUGH: u64 = 25;

/// The most orders that are kept.
const MOST_ORDERS: usize = 8;

/// After this number of orders, a placement [near](NEAR) the bound is accepted.
const PATIENCE: usize = 1;

/// The classical orders that are tried.
const CLASSICAL: [GreedyOrder; 3] = [GreedyOrder::Size, GreedyOrder::PeakBirth, GreedyOrder::PeakLife];

/// A list of pairs alive together is kept up to this number.
const MOST_PAIRS: usize = 1 << 20;

/// Limits of the work for a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Tries a few orders.
    Little,
    /// Runs all planners if a few orders are not good enough.
    AsNeeded,
    /// Runs all planners.
    Full,
}

/// Buffers with known live ranges, and the orders that placed them well.
pub struct KnownOrders {
    /// The live ranges; all sizes are 0.
    problem: Problem,
    /// The buffers in order of their first steps.
    births: Vec<BufferId>,
    /// Orders that were good at some sizes.
    orders: Vec<Vec<BufferId>>,
    /// The buffers alive with each, unless there are too many pairs.
    neighbours: Option<PrimaryMap<BufferId, Vec<BufferId>>>,
}

/// The placement of buffers at some sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedPlacement {
    /// The offset of each buffer.
    pub offsets: PrimaryMap<BufferId, u64>,
    /// The highest end.
    pub size_bytes: u64,
    /// The peak of live bytes, which is a lower bound; 0 if some buffers may share bytes.
    pub bound_bytes: u64,
}

impl KnownOrders {
    /// Buffers with these live ranges and alignments, without pins and overlaps.
    pub fn new(problem: Problem) -> KnownOrders {
        let mut births: Vec<BufferId> = problem.buffers.keys().collect();
        births.sort_by_key(|id| problem.buffers[*id].first);
        let neighbours = neighbours(&problem, &births, MOST_PAIRS);
        KnownOrders { problem, births, orders: Vec::new(), neighbours }
    }

    /// The live ranges.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Remembers the order of a good placement at some sizes for other sizes.
    pub fn learn(&mut self, sizes: &PrimaryMap<BufferId, u64>, placed: &BoundedPlacement) {
        // Buffers without bytes here may have some at other sizes.
        let mut order = self.births.clone();
        order.sort_by_key(|id| (sizes[*id] == 0, placed.offsets[*id]));
        if self.orders.len() < MOST_ORDERS && !self.orders.contains(&order) {
            self.orders.push(order);
        }
    }

    /// Places buffers of these sizes; pairs in `overlaps` may share bytes. Stops once the size is at most
    /// `max(enough, bound)`.
    ///
    /// # Panics
    /// If the planner's placement is refused.
    pub fn place(
        &self,
        sizes: &PrimaryMap<BufferId, u64>,
        overlaps: Vec<Overlap>,
        enough: u64,
        effort: Effort,
    ) -> BoundedPlacement {
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

    /// Places buffers of these sizes by first fit in this order; pairs in `overlaps` may share bytes.
    ///
    /// # Panics
    /// If two buffers that are live together share a byte without an overlap.
    pub fn place_in_order(
        &self,
        sizes: &PrimaryMap<BufferId, u64>,
        overlaps: Vec<Overlap>,
        order: &[BufferId],
    ) -> BoundedPlacement {
        let problem = Problem { overlaps, ..self.sized(sizes) };
        let separations = Separations::new(&problem);
        let order: Vec<BufferId> =
            order.iter().copied().filter(|id| problem.buffers[*id].size_bytes > 0).collect();
        let placed = self.first_fit(&problem, &separations, &order, u64::MAX);
        let (offsets, _) = placed.expect("there is no limit");
        let bound_bytes = if problem.overlaps.is_empty() { most_live(&problem) } else { 0 };
        self.checked(&problem, sizes, offsets, bound_bytes)
    }

    fn place_fully(&self, sizes: &PrimaryMap<BufferId, u64>, overlaps: Vec<Overlap>) -> BoundedPlacement {
        let problem = Problem { overlaps, ..self.sized(sizes) };
        let bound_bytes = if problem.overlaps.is_empty() { most_live(&problem) } else { 0 };
        let placement = portfolio(&problem, &PlannerOptions::default(), &|| false);
        self.checked(&problem, sizes, placement.offsets, bound_bytes)
    }

    fn place_quickly(
        &self,
        sizes: &PrimaryMap<BufferId, u64>,
        overlaps: Vec<Overlap>,
        enough: u64,
    ) -> BoundedPlacement {
        let problem = Problem { overlaps, ..self.sized(sizes) };
        let has_bound = problem.overlaps.is_empty();
        let bound_bytes = if has_bound { most_live(&problem) } else { 0 };
        let enough = bound_bytes.max(enough);
        let (near, most) = (enough + enough / NEAR, enough + enough / ENOUGH);
        let separations = Separations::new(&problem);
        let mut best: Option<(PrimaryMap<BufferId, u64>, u64)> = None;
        let mut attempt = |order: &[BufferId]| {
            let limit = best.as_ref().map_or(u64::MAX, |best| best.1);
            best = self.first_fit(&problem, &separations, order, limit).or(best.take());
            best.as_ref().map_or(u64::MAX, |best| best.1)
        };
        let has_bytes = |id: &BufferId| problem.buffers[*id].size_bytes > 0;
        let mut least = u64::MAX;
        for (tried, order) in self.orders.iter().enumerate() {
            let order: Vec<BufferId> = order.iter().copied().filter(has_bytes).collect();
            least = attempt(&order);
            // With overlaps, no lower bound is known.
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
        let (offsets, _) = best.expect("the first order has no limit");
        self.checked(&problem, sizes, offsets, bound_bytes)
    }

    /// The result of [`greedy`] for an order by first fit.
    fn first_fit(
        &self,
        problem: &Problem,
        separations: &Separations,
        order: &[BufferId],
        limit: u64,
    ) -> Option<(PrimaryMap<BufferId, u64>, u64)> {
        let Some(neighbours) = &self.neighbours else {
            return greedy(problem, separations, order, Fit::First, limit);
        };
        let count = problem.buffers.len();
        let mut offsets: PrimaryMap<BufferId, u64> = std::iter::repeat_n(0, count).collect();
        // The ends of the buffers placed so far.
        let mut ends: PrimaryMap<BufferId, u64> = offsets.clone();
        let (mut size_bytes, mut obstacles) = (0, Vec::new());
        for &id in order {
            let buffer = &problem.buffers[id];
            let forbidden = |other: BufferId| {
                if separations.is_special(id) {
                    separations.forbidden(problem, id, other, offsets[other])
                } else {
                    (offsets[other] as i64 - buffer.size_bytes as i64, ends[other] as i64)
                }
            };
            obstacles.clear();
            let placed = neighbours[id].iter().filter(|other| ends[**other] > 0);
            obstacles.extend(placed.map(|other| forbidden(*other)).filter(|(low, high)| low < high));
            obstacles.sort_unstable();
            let mut offset = 0;
            for (low, high) in &obstacles {
                if *low >= offset {
                    break;
                }
                offset = offset.max(round_up(*high, buffer.align as i64));
            }
            (offsets[id], ends[id]) = (offset as u64, offset as u64 + buffer.size_bytes);
            size_bytes = size_bytes.max(ends[id]);
            if size_bytes >= limit {
                return None;
            }
        }
        Some((offsets, size_bytes))
    }

    /// A checked placement of the rounded sizes. The padding of the highest buffer to its alignment is not
    /// counted.
    fn checked(
        &self,
        problem: &Problem,
        sizes: &PrimaryMap<BufferId, u64>,
        offsets: PrimaryMap<BufferId, u64>,
        bound_bytes: u64,
    ) -> BoundedPlacement {
        let ends = |sizes: &dyn Fn(BufferId) -> u64| {
            let all = offsets.iter().map(|(id, offset)| (id, *offset, sizes(id)));
            all.filter(|(.., size)| *size > 0).map(|(_, offset, size)| offset + size).max().unwrap_or(0)
        };
        let rounded_bytes = ends(&|id| problem.buffers[id].size_bytes);
        let is_right = self.is_right(problem, &offsets, rounded_bytes);
        assert!(is_right, "buffers that live at one time share bytes");
        let size_bytes = ends(&|id| sizes[id]);
        BoundedPlacement { offsets, size_bytes, bound_bytes: bound_bytes.min(size_bytes) }
    }

    /// The problem at some sizes, each rounded up to its alignment.
    fn sized(&self, sizes: &PrimaryMap<BufferId, u64>) -> Problem {
        let mut problem = self.problem.clone();
        for (id, buffer) in problem.buffers.iter_mut() {
            buffer.size_bytes = sizes[id].next_multiple_of(buffer.align);
        }
        problem
    }

    /// Whether buffers alive at one step share no byte unless allowed: each newcomer is compared with all
    /// that are alive.
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

/// The buffers that are alive with each; none if there are more pairs than `most`.
fn neighbours(
    problem: &Problem,
    births: &[BufferId],
    most: usize,
) -> Option<PrimaryMap<BufferId, Vec<BufferId>>> {
    let mut neighbours: PrimaryMap<BufferId, Vec<BufferId>> =
        problem.buffers.keys().map(|_| Vec::new()).collect();
    let (mut alive, mut pairs): (Vec<BufferId>, usize) = (Vec::new(), 0);
    for &id in births {
        alive.retain(|other| problem.buffers[*other].last >= problem.buffers[id].first);
        pairs += alive.len();
        if pairs > most {
            return None;
        }
        alive.iter().for_each(|other| neighbours[*other].push(id));
        neighbours[id].extend(&alive);
        alive.push(id);
    }
    Some(neighbours)
}

/// The peak of live bytes.
fn most_live(problem: &Problem) -> u64 {
    super::live_bytes(problem).into_iter().max().unwrap_or(0)
}

/// Whether an overlap is of these two, and they keep its distance.
fn may_share(overlap: &Overlap, pair: [BufferId; 2], offsets: &PrimaryMap<BufferId, u64>) -> bool {
    let Overlap { input, output, min_distance_bytes } = *overlap;
    (pair == [input, output] || pair == [output, input])
        && offsets[input] as i64 - offsets[output] as i64 >= min_distance_bytes
}

#[cfg(test)]
#[path = "orders_tests.rs"]
mod known_tests;

#[cfg(test)]
mod tests {
    use cranelift_entity::EntityRef;

    use super::super::PlannerOptions;
    use super::super::random::Random;
    use super::super::testing::{buffer, problem};
    use super::*;

    fn orders(lives: &[(u32, u32)]) -> KnownOrders {
        let buffers: Vec<_> = lives.iter().map(|(first, last)| buffer(*first, *last, 0)).collect();
        KnownOrders::new(problem(&buffers))
    }

    fn sizes(sizes: &[u64]) -> PrimaryMap<BufferId, u64> {
        sizes.iter().copied().collect()
    }

    #[test]
    fn the_order_of_other_sizes_serves() {
        let mut orders = orders(&[(0, 1), (0, 2), (2, 4)]);
        let few = sizes(&[4, 4, 4]);
        let placed = orders.place(&few, Vec::new(), 0, Effort::AsNeeded);
        orders.learn(&few, &placed);
        let placed = orders.place(&sizes(&[40, 40, 40]), Vec::new(), 0, Effort::AsNeeded);
        assert_eq!((placed.size_bytes, placed.bound_bytes), (80, 80));
    }

    #[test]
    fn a_placement_that_shares_bytes_is_refused() {
        let orders = orders(&[(0, 1), (1, 2), (2, 3)]);
        let problem = orders.sized(&sizes(&[8, 8, 8]));
        let is_right = |offsets: &[u64], size| orders.is_right(&problem, &sizes(offsets), size);
        assert!(is_right(&[0, 8, 0], 16));
        assert!(!is_right(&[0, 7, 0], 16), "a byte of the one before");
        assert!(!is_right(&[0, 0, 8], 16), "all bytes of the one before");
        assert!(!is_right(&[0, 8, 16], 16), "beyond the end");
    }

    #[test]
    fn only_buffers_of_an_overlap_share_bytes_and_as_far_apart_as_it_wants() {
        let orders = orders(&[(0, 1), (1, 2), (2, 3)]);
        let mut problem = orders.sized(&sizes(&[8, 8, 8]));
        let [input, output] = [0, 1].map(BufferId::new);
        problem.overlaps.push(Overlap { input, output, min_distance_bytes: 4 });
        let is_right = |offsets: &[u64]| orders.is_right(&problem, &sizes(offsets), 24);
        assert!(is_right(&[4, 0, 8]));
        assert!(!is_right(&[3, 0, 8]), "nearer than that");
        assert!(!is_right(&[0, 4, 12]), "the other is above");
        assert!(!is_right(&[4, 0, 7]), "a third shares a byte");
        assert!(!is_right(&[12, 4, 8]), "a third shares some bytes, as far apart");
    }

    /// Random live ranges, of at most six steps.
    fn lives(random: &mut Random, count: usize) -> Vec<(u32, u32)> {
        let life = |_| {
            let first = random.range(0, 20) as u32;
            (first, first + random.range(0, 5) as u32)
        };
        (0..count).map(life).collect()
    }

    #[test]
    fn who_looks_at_neighbours_only_is_placed_as_by_looking_at_all() {
        let (mut random, mut sharing) = (Random(11), 0);
        for _ in 0..200 {
            let lives = lives(&mut random, 30);
            let orders = orders(&lives);
            let mut problem = orders.sized(&lives.iter().map(|_| random.range(0, 50)).collect());
            let ids: Vec<BufferId> = problem.buffers.keys().collect();
            for pair in ids.windows(2).filter(|pair| lives[pair[0].index()].1 == lives[pair[1].index()].0) {
                let overlap = |input, output, distance: u64| Overlap {
                    input,
                    output,
                    min_distance_bytes: distance as i64 - 20,
                };
                problem.overlaps.push(overlap(pair[0], pair[1], random.range(0, 40)));
                problem.overlaps.push(overlap(pair[1], pair[0], random.range(0, 40)));
            }
            sharing += problem.overlaps.len();
            let separations = Separations::new(&problem);
            for (order, limit) in CLASSICAL.into_iter().zip([u64::MAX, u64::MAX, 150]) {
                let order = order.sort(&problem);
                let expected = greedy(&problem, &separations, &order, Fit::First, limit);
                assert_eq!(orders.first_fit(&problem, &separations, &order, limit), expected);
            }
        }
        assert!(sharing > 100, "{sharing} overlaps");
    }

    #[test]
    fn too_many_pairs_are_not_kept() {
        let problem = orders(&[(0, 3), (1, 2), (2, 3), (4, 4)]).problem;
        let births: Vec<BufferId> = problem.buffers.keys().collect();
        assert!(neighbours(&problem, &births, 2).is_none(), "there are three");
        let found = neighbours(&problem, &births, 3).expect("three are not too many");
        let counts: Vec<usize> = found.values().map(Vec::len).collect();
        assert_eq!(counts, [2, 2, 2, 0]);
    }

    #[test]
    fn placements_are_near_the_bound_or_as_good_as_the_portfolio() {
        let mut random = Random(7);
        for _ in 0..50 {
            let lives = lives(&mut random, 30);
            let mut orders = orders(&lives);
            let mut draw = || sizes(&lives.iter().map(|_| random.range(0, 50)).collect::<Vec<_>>());
            let others = draw();
            let placed = orders.place_fully(&others, Vec::new());
            orders.learn(&others, &placed);
            let sizes = draw();
            let placed = orders.place(&sizes, Vec::new(), 0, Effort::AsNeeded);
            let problem = orders.sized(&sizes);
            let best = portfolio(&problem, &PlannerOptions::default(), &|| false).size_bytes;
            assert!(super::super::lower_bound(&problem) >= placed.bound_bytes);
            let enough = placed.bound_bytes + placed.bound_bytes / ENOUGH;
            assert!(placed.size_bytes <= enough.max(best), "{placed:?}, {best}");
        }
    }
}
