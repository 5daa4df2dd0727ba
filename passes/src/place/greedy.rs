//! Greedy placement: buffers are placed one after another and never moved.
//!
//! A [`GreedyOrder`] says which buffer comes first, a [`Fit`] which free gap is taken. Both are the classical
//! ones (Pisarchyk and Lee, *Efficient Memory Management for Deep Neural Net Inference*, 2020; Sekiyama et
//! al., *Profile-guided memory optimization for deep neural networks*, 2018).
//!
//! The placed buffers are kept in a list by offset; a new buffer walks up the list past those that are alive
//! with it. This takes O(n) for each buffer with a small constant, and first fit stops at the first gap. If
//! few buffers are alive together, only those are visited ([`Neighbours`]).

use super::neighbours::Neighbours;
use super::separations::Separations;
use super::{Buffer, BufferId, Problem, Step};
use cranelift_entity::PrimaryMap;
use std::cmp::Reverse;

/// The choice among the gaps that are large enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The lowest.
    First,
    /// The one that leaves the fewest bytes free; the lowest of equal ones.
    Best,
}

/// The order in which buffers are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GreedyOrder {
    /// The largest first; of equal ones that with the longest live range.
    Size,
    /// The largest first; of equal ones that with the most live bytes at some step of its live range.
    SizeBreadth,
    /// The largest product of size and live range.
    Area,
    /// The longest live range.
    Life,
    /// The earliest first step.
    Birth,
    /// The latest last step.
    Death,
    /// The most buffers alive with it.
    Degree,
    /// The most live bytes at some step of its live range; of equal ones the largest.
    Breadth,
    /// Like `Breadth`; of equal ones that with the longest live range.
    BreadthLife,
    /// Those alive at a peak step by birth, then the others by size. Buffers stacked at the peak become free
    /// from the top at earlier steps, so the room left there is in one piece.
    PeakBirth,
    /// Like `PeakBirth`, with those at the peak by live range.
    PeakLife,
    /// Like `PeakBirth`, with those at the peak by death.
    PeakDeath,
}

/// The key of an order; larger keys come first.
type GreedyKey = (bool, u64, u64, u64);

impl GreedyOrder {
    /// The buffers that have bytes and no pin, in this order; equal keys are ordered by size, then live
    /// range, then index.
    pub(super) fn sort(self, problem: &Problem) -> Vec<BufferId> {
        let movable = |(_, buffer): &(BufferId, &Buffer)| buffer.size_bytes > 0 && buffer.pin.is_none();
        let mut order: Vec<BufferId> = problem.buffers.iter().filter(movable).map(|(id, _)| id).collect();
        let keys = self.keys(problem);
        order.sort_by_cached_key(|&id| {
            let buffer = &problem.buffers[id];
            (Reverse(keys[id]), Reverse(buffer.size_bytes), Reverse(life(buffer)), id)
        });
        order
    }

    fn keys(self, problem: &Problem) -> PrimaryMap<BufferId, GreedyKey> {
        let birth = |buffer: &Buffer| u64::from(u32::MAX - buffer.first.as_u32());
        let death = |buffer: &Buffer| u64::from(buffer.last.as_u32());
        let of_each = |key: &dyn Fn(&Buffer) -> (u64, u64)| {
            let whole = |buffer| (false, key(buffer).0, key(buffer).1, 0);
            problem.buffers.values().map(whole).collect()
        };
        let with_breadth = |key: &dyn Fn(&Buffer, u64, u64) -> GreedyKey| {
            let breadths = breadths(problem);
            let peak = breadths.values().copied().max().unwrap_or(0);
            problem.buffers.iter().map(|(id, buffer)| key(buffer, breadths[id], peak)).collect()
        };
        let peak_first = |key: &dyn Fn(&Buffer) -> u64| {
            with_breadth(&|buffer, breadth, peak| {
                if breadth == peak {
                    (true, key(buffer), 0, 0)
                } else {
                    (false, buffer.size_bytes, breadth, 0)
                }
            })
        };
        match self {
            Self::Size => of_each(&|buffer| (buffer.size_bytes, 0)),
            Self::Life => of_each(&|buffer| (life(buffer), 0)),
            Self::Birth => of_each(&|buffer| (birth(buffer), 0)),
            Self::Death => of_each(&|buffer| (death(buffer), 0)),
            Self::Area => of_each(&|buffer| wide_product(buffer.size_bytes, life(buffer))),
            Self::Degree => degrees(problem),
            Self::Breadth => with_breadth(&|_, breadth, _| (false, breadth, 0, 0)),
            Self::BreadthLife => with_breadth(&|buffer, breadth, _| (false, breadth, life(buffer), 0)),
            Self::SizeBreadth => with_breadth(&|buffer, breadth, _| (false, buffer.size_bytes, breadth, 0)),
            Self::PeakBirth => peak_first(&birth),
            Self::PeakLife => peak_first(&life),
            Self::PeakDeath => peak_first(&death),
        }
    }
}

/// The product in two words, the higher first.
fn wide_product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

fn life(buffer: &Buffer) -> u64 {
    u64::from(buffer.last.as_u32() - buffer.first.as_u32()) + 1
}

/// For each buffer, the number of buffers alive with it (itself included): those born by its end, less those
/// dead before it.
fn degrees(problem: &Problem) -> PrimaryMap<BufferId, GreedyKey> {
    let mut births: Vec<_> = problem.buffers.values().map(|buffer| buffer.first).collect();
    let mut deaths: Vec<_> = problem.buffers.values().map(|buffer| buffer.last).collect();
    births.sort_unstable();
    deaths.sort_unstable();
    let degree = |buffer: &Buffer| {
        let born = births.partition_point(|&first| first <= buffer.last);
        let dead = deaths.partition_point(|&last| last < buffer.first);
        (false, (born - dead) as u64, 0, 0)
    };
    problem.buffers.values().map(degree).collect()
}

/// For each buffer, the most live bytes at a step of its live range: a range maximum over the births' steps,
/// by a sparse table in O(n log n).
pub(super) fn breadths(problem: &Problem) -> PrimaryMap<BufferId, u64> {
    let mut steps: Vec<_> = problem.buffers.values().map(|buffer| buffer.first).collect();
    steps.sort_unstable();
    steps.dedup();
    let mut change = vec![0i64; steps.len() + 1];
    let range = |buffer: &Buffer| {
        (steps.partition_point(|&s| s < buffer.first), steps.partition_point(|&s| s <= buffer.last))
    };
    for buffer in problem.buffers.values() {
        let (from, to) = range(buffer);
        change[from] += buffer.size_bytes as i64;
        change[to] -= buffer.size_bytes as i64;
    }
    let mut live = 0;
    let sums = change.iter().take(steps.len()).map(|delta| {
        live += delta;
        live as u64
    });
    let mut table: Vec<Vec<u64>> = vec![sums.collect()];
    while 2 << (table.len() - 1) <= steps.len() {
        let half = 1 << (table.len() - 1);
        let last = &table[table.len() - 1];
        table.push((0..last.len() - half).map(|i| last[i].max(last[i + half])).collect());
    }
    let breadth = |buffer: &Buffer| {
        let (from, to) = range(buffer);
        let level = (to - from).ilog2() as usize;
        table[level][from].max(table[level][to - (1 << level)])
    };
    problem.buffers.values().map(breadth).collect()
}

/// A buffer with an offset.
#[derive(Clone, Copy)]
struct PlacedBuffer {
    offset: u64,
    end: u64,
    first: Step,
    last: Step,
    id: BufferId,
}

impl PlacedBuffer {
    fn new(id: BufferId, buffer: &Buffer, offset: u64) -> Self {
        Self { offset, end: offset + buffer.size_bytes, first: buffer.first, last: buffer.last, id }
    }

    fn lives_with(&self, buffer: &Buffer) -> bool {
        self.first <= buffer.last && buffer.first <= self.last
    }
}

/// Places the pinned buffers, then those of `order` one after another; `None` as soon as the size would reach
/// `limit`. Buffers in neither stay at 0.
pub(super) fn greedy(
    problem: &Problem,
    separations: &Separations,
    order: &[BufferId],
    fit: Fit,
    limit: u64,
) -> Option<(PrimaryMap<BufferId, u64>, u64)> {
    let mut offsets: PrimaryMap<BufferId, u64> =
        problem.buffers.values().map(|b| b.pin.unwrap_or(0)).collect();
    let pinned = problem.buffers.iter().filter(|(_, b)| b.pin.is_some() && b.size_bytes > 0);
    let mut placed: Vec<PlacedBuffer> =
        pinned.map(|(id, b)| PlacedBuffer::new(id, b, b.pin.unwrap_or(0))).collect();
    placed.sort_by_key(|entry| (entry.offset, entry.id));
    let mut size_bytes = placed.iter().map(|entry| entry.end).max().unwrap_or(0);
    for &id in order {
        let offset = if separations.is_special(id) {
            fit_special(problem, separations, &placed, id, fit)
        } else {
            fit_ordinary(problem, &placed, id, fit)
        };
        offsets[id] = offset;
        size_bytes = size_bytes.max(offset + problem.buffers[id].size_bytes);
        if size_bytes >= limit {
            return None;
        }
        let position = placed.partition_point(|entry| entry.offset < offset);
        placed.insert(position, PlacedBuffer::new(id, &problem.buffers[id], offset));
    }
    Some((offsets, size_bytes))
}

/// Places the buffers of one problem in any number of orders.
pub(super) struct Greedy<'p> {
    problem: &'p Problem,
    separations: Separations,
    neighbours: Option<Neighbours>,
}

impl<'p> Greedy<'p> {
    pub(super) fn new(problem: &'p Problem) -> Greedy<'p> {
        Greedy { problem, separations: Separations::new(problem), neighbours: Neighbours::of(problem) }
    }

    /// Like [`greedy`], with the fastest method for this problem.
    pub(super) fn place(
        &self,
        order: &[BufferId],
        fit: Fit,
        limit: u64,
    ) -> Option<(PrimaryMap<BufferId, u64>, u64)> {
        match &self.neighbours {
            None => greedy(self.problem, &self.separations, order, fit, limit),
            Some(neighbours) => self.place_by_lists(neighbours, order, fit, limit),
        }
    }

    /// Like [`greedy`], but each buffer looks only at those alive with it.
    fn place_by_lists(
        &self,
        neighbours: &Neighbours,
        order: &[BufferId],
        fit: Fit,
        limit: u64,
    ) -> Option<(PrimaryMap<BufferId, u64>, u64)> {
        let buffers = &self.problem.buffers;
        let mut offsets: PrimaryMap<BufferId, u64> = buffers.values().map(|b| b.pin.unwrap_or(0)).collect();
        let mut is_placed: PrimaryMap<BufferId, bool> = buffers.values().map(|b| b.pin.is_some()).collect();
        let pinned = buffers.values().filter(|b| b.size_bytes > 0);
        let mut size_bytes = pinned.filter_map(|b| Some(b.pin? + b.size_bytes)).max().unwrap_or(0);
        let mut obstacles = Vec::new();
        for &id in order {
            obstacles.clear();
            let placed = neighbours.with(id).iter().filter(|other| is_placed[**other]);
            let forbidden =
                placed.map(|other| self.separations.forbidden(self.problem, id, *other, offsets[*other]));
            obstacles.extend(forbidden.filter(|(low, high)| low < high));
            let offset = GapWalk::new(&buffers[id], fit).through(&mut obstacles);
            offsets[id] = offset;
            is_placed[id] = true;
            size_bytes = size_bytes.max(offset + buffers[id].size_bytes);
            if size_bytes >= limit {
                return None;
            }
        }
        Some((offsets, size_bytes))
    }
}

/// Walks the gaps from below: obstacles are passed in the order of their lower edges.
struct GapWalk {
    align: i64,
    fit: Fit,
    /// The lowest offset above all obstacles so far.
    floor: i64,
    /// The fewest bytes left over in a gap so far, and that gap's offset.
    best: Option<(i64, i64)>,
}

impl GapWalk {
    fn new(buffer: &Buffer, fit: Fit) -> Self {
        Self { align: buffer.align as i64, fit, floor: 0, best: None }
    }

    /// Passes an obstacle that forbids the offsets strictly between `low` and `high`; true if the walk is
    /// over.
    fn pass(&mut self, low: i64, high: i64) -> bool {
        if low >= self.floor {
            let slack = low - self.floor;
            if self.best.is_none_or(|(least, _)| slack < least) {
                self.best = Some((slack, self.floor));
            }
            if self.fit == Fit::First || slack == 0 {
                return true;
            }
        }
        if high > self.floor {
            self.floor = round_up(high, self.align);
        }
        false
    }

    /// The offset after all of some unsorted obstacles.
    fn through(mut self, obstacles: &mut [(i64, i64)]) -> u64 {
        obstacles.sort_unstable();
        obstacles.iter().any(|(low, high)| self.pass(*low, *high));
        self.offset()
    }

    fn offset(&self) -> u64 {
        self.best.map_or(self.floor, |(_, offset)| offset) as u64
    }
}

/// Rounds a number up to a multiple of an alignment.
pub(super) fn round_up(value: i64, align: i64) -> i64 {
    // Divisions are slow, and nearly every alignment is a power of two.
    match align & (align - 1) {
        0 => (value + align - 1) & -align,
        _ => (value as u64).next_multiple_of(align as u64) as i64,
    }
}

fn fit_ordinary(problem: &Problem, placed: &[PlacedBuffer], id: BufferId, fit: Fit) -> u64 {
    let buffer = &problem.buffers[id];
    let size = buffer.size_bytes as i64;
    let mut walk = GapWalk::new(buffer, fit);
    for entry in placed {
        if entry.lives_with(buffer) && walk.pass(entry.offset as i64 - size, entry.end as i64) {
            break;
        }
    }
    walk.offset()
}

/// Like `fit_ordinary` for a buffer with overlaps, whose obstacles are not sorted by their lower edges.
fn fit_special(
    problem: &Problem,
    separations: &Separations,
    placed: &[PlacedBuffer],
    id: BufferId,
    fit: Fit,
) -> u64 {
    let buffer = &problem.buffers[id];
    let mut obstacles = Vec::new();
    for entry in placed {
        if entry.lives_with(buffer) {
            let (low, high) = separations.forbidden(problem, id, entry.id, entry.offset);
            if low < high {
                obstacles.push((low, high));
            }
        }
    }
    GapWalk::new(buffer, fit).through(&mut obstacles)
}

#[cfg(test)]
#[path = "greedy_tests.rs"]
mod order_tests;

#[cfg(test)]
mod tests {
    use super::super::testing::{Family, buffer, problem};
    use super::*;

    fn offsets(problem: &Problem, order: GreedyOrder, fit: Fit) -> Vec<u64> {
        let order = order.sort(problem);
        let (offsets, _) =
            greedy(problem, &Separations::new(problem), &order, fit, u64::MAX).expect("no limit");
        offsets.values().copied().collect()
    }

    #[test]
    fn looking_at_neighbours_alone_finds_the_same_places() {
        for family in Family::ALL {
            let problem = family.draw(700, 5);
            let plain = Greedy { neighbours: None, ..Greedy::new(&problem) };
            let neighbours = Some(Neighbours::all(&problem));
            let listed = Greedy { neighbours, ..Greedy::new(&problem) };
            for order in [GreedyOrder::Size, GreedyOrder::Birth, GreedyOrder::PeakLife] {
                for fit in [Fit::First, Fit::Best] {
                    let order = order.sort(&problem);
                    let [plain, listed] = [&plain, &listed].map(|greedy| greedy.place(&order, fit, u64::MAX));
                    assert_eq!(plain, listed, "{family:?}");
                }
            }
        }
    }

    #[test]
    fn first_fit_takes_the_lowest_gap_and_best_fit_the_tightest() {
        // Two long buffers leave gaps of 5 (below the 20) and of 2 (between 20 and 9).
        let mut problem = problem(&[buffer(0, 9, 20), buffer(0, 9, 9), buffer(5, 5, 2)]);
        problem.buffers[BufferId::from_u32(0)].pin = Some(5);
        problem.buffers[BufferId::from_u32(1)].pin = Some(27);
        assert_eq!(offsets(&problem, GreedyOrder::Size, Fit::First), [5, 27, 0]);
        assert_eq!(offsets(&problem, GreedyOrder::Size, Fit::Best), [5, 27, 25]);
    }

    #[test]
    fn breadth_is_the_largest_live_sum_of_the_life() {
        let problem = problem(&[buffer(0, 4, 1), buffer(1, 1, 7), buffer(3, 3, 9), buffer(6, 6, 2)]);
        assert_eq!(breadths(&problem).values().copied().collect::<Vec<_>>(), [10, 8, 10, 2]);
        assert_eq!(degrees(&problem).values().map(|key| key.1).collect::<Vec<_>>(), [3, 2, 2, 1]);
    }

    #[test]
    fn an_output_is_written_over_its_input_at_the_distance() {
        let mut problem = problem(&[buffer(0, 1, 100), buffer(1, 2, 100)]);
        let (input, output) = (BufferId::from_u32(0), BufferId::from_u32(1));
        problem.overlaps.push(super::super::Overlap { input, output, min_distance_bytes: 30 });
        assert_eq!(offsets(&problem, GreedyOrder::Birth, Fit::First), [0, 100]);
        assert_eq!(offsets(&problem, GreedyOrder::Death, Fit::First), [30, 0]);
        problem.overlaps[0].min_distance_bytes = -30;
        assert_eq!(offsets(&problem, GreedyOrder::Birth, Fit::First), [0, 0]);
    }
}
