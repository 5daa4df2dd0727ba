//! The search for the order of a block's items with the lowest peak.
//!
//! The given order is cut into *segments* at the items that every other one must precede or follow. All
//! orders pass through the same states there, so each segment is solved on its own (series decomposition).
//! Segments are solved from the highest peak down, as long as that may lower the total peak; the others keep
//! their order. In a segment:
//!
//! - **Frontiers.** States are sets of done items. A best-first search by peak visits each state once and is
//!   exact: the first complete state that it takes has the lowest peak. If a ready item frees at least as
//!   many bytes as it adds, without a new peak, running it first is optimal, and no other is tried; so chains
//!   cost one state per item.
//! - **Beam.** If there are too many frontiers, only the best few states of each size are kept.
//!
//! Work is limited in visits of items, never in time. An order that is not better than the given one is not
//! taken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::model::{Cost, ItemId, ScheduleModel};

/// The limit of visits of items for all segments of a block.
const WORK: usize = 3_000_000;
/// The most states of one size that a beam keeps.
const WIDTH: usize = 48;

/// An order of all items, and its peak.
pub(super) struct Schedule {
    pub(super) order: Vec<ItemId>,
    pub(super) peak_bytes: u64,
}

/// The order with the lowest peak found; the given one if none is lower.
pub(super) fn best_order(model: &ScheduleModel) -> Schedule {
    let mut segments = segments(model);
    segments.sort_by_key(|segment| (Reverse(segment.peak_bytes), segment.first));
    let mut order: Vec<ItemId> = model.items.keys().collect();
    let mut peak_bytes = model.bytes_on_entry();
    let mut work = WORK;
    for segment in segments {
        if segment.peak_bytes <= peak_bytes {
            break;
        }
        match segment.solve(&mut work) {
            Some((found, found_bytes)) => {
                order[segment.first..segment.end].copy_from_slice(&found);
                peak_bytes = peak_bytes.max(found_bytes);
            }
            None => peak_bytes = segment.peak_bytes,
        }
    }
    Schedule { order, peak_bytes }
}

/// The items from `first` up to `end`: all earlier items run before them, and all later ones after them.
struct ItemSegment<'m> {
    model: &'m ScheduleModel,
    first: usize,
    end: usize,
    /// Live bytes before it.
    live_bytes: u64,
    /// The peak in the given order.
    peak_bytes: u64,
}

/// Cuts the given order at every item that each other one must precede or follow.
fn segments(model: &ScheduleModel) -> Vec<ItemSegment<'_>> {
    let cuts = cuts(model);
    let mut segments: Vec<ItemSegment<'_>> = Vec::new();
    let mut live_bytes = model.bytes_on_entry();
    for item in model.items.keys() {
        let at = item.index();
        if at == 0 || cuts[at] || cuts[at - 1] {
            segments.push(ItemSegment { model, first: at, end: at, live_bytes, peak_bytes: 0 });
        }
        let cost = model.cost(item, live_bytes, |other| other < item);
        let segment = segments.last_mut().expect("one was begun at the first item");
        segment.end = at + 1;
        segment.peak_bytes = segment.peak_bytes.max(cost.peak_bytes);
        live_bytes = cost.live_bytes;
    }
    segments
}

/// The items that each other one must precede or follow. Such an item is the only one up to itself without a
/// successor there, so all before lead to it, and the only one from itself on without a predecessor there.
fn cuts(model: &ScheduleModel) -> Vec<bool> {
    let count = model.items.len();
    let mut first_after = vec![count; count];
    let mut sources = vec![0isize; count + 1];
    for (item, data) in model.items.iter() {
        let from = data.before.iter().map(|before| before.index() + 1).max().unwrap_or(0);
        sources[from] += 1;
        sources[item.index() + 1] -= 1;
        for before in &data.before {
            first_after[before.index()] = first_after[before.index()].min(item.index());
        }
    }
    let mut sinks = vec![0isize; count + 1];
    for (at, after) in first_after.into_iter().enumerate() {
        sinks[at] += 1;
        sinks[after] -= 1;
    }
    let sums = |steps: Vec<isize>| {
        steps.into_iter().scan(0, |sum, step| Some(std::mem::replace(sum, *sum + step) + step))
    };
    sums(sinks).zip(sums(sources)).take(count).map(|ends| ends == (1, 1)).collect()
}

/// The items of a segment that have run, as bits.
type Done = SmallVec<[u64; 2]>;

/// A state: the items that have run, the path to it, and its cost.
struct ScheduleState {
    done: Done,
    live_bytes: u64,
    peak_bytes: u64,
    /// The previous state, and the item that led from there; none at the beginning.
    from: Option<(usize, ItemId)>,
}

/// The work limit is reached.
struct OutOfWork;

impl ItemSegment<'_> {
    /// An order with a lower peak than the given one, with its peak; none if none was found. `work` is the
    /// remaining work.
    fn solve(&self, work: &mut usize) -> Option<(Vec<ItemId>, u64)> {
        if self.end - self.first < 2 {
            return None;
        }
        let mut half = *work / 2;
        *work -= half;
        let found = self.search_frontiers(&mut half);
        *work += half;
        found.unwrap_or_else(|OutOfWork| self.search_beam(work))
    }

    fn start(&self) -> ScheduleState {
        let words = (self.end - self.first).div_ceil(64);
        let live_bytes = self.live_bytes;
        ScheduleState { done: SmallVec::from_elem(0, words), live_bytes, peak_bytes: live_bytes, from: None }
    }

    fn is_done(&self, done: &Done, item: ItemId) -> bool {
        let at = item.index();
        at < self.first || at < self.end && done[(at - self.first) / 64] >> ((at - self.first) % 64) & 1 == 1
    }

    /// The items that may run next, with their costs; only one if running it first is optimal.
    fn steps(
        &self,
        node: &ScheduleState,
        work: &mut usize,
    ) -> Result<SmallVec<[(ItemId, Cost); 8]>, OutOfWork> {
        *work = work.checked_sub(self.end - self.first).ok_or(OutOfWork)?;
        let mut steps = SmallVec::new();
        for item in (self.first..self.end).map(ItemId::new) {
            let is_ready =
                || self.model.items[item].before.iter().all(|before| self.is_done(&node.done, *before));
            if self.is_done(&node.done, item) || !is_ready() {
                continue;
            }
            let cost = self.model.cost(item, node.live_bytes, |other| self.is_done(&node.done, other));
            if cost.live_bytes <= node.live_bytes && cost.peak_bytes <= node.peak_bytes {
                return Ok(SmallVec::from_elem((item, cost), 1));
            }
            if cost.peak_bytes < self.peak_bytes {
                steps.push((item, cost));
            }
        }
        Ok(steps)
    }

    fn after(&self, nodes: &[ScheduleState], from: usize, (item, cost): (ItemId, Cost)) -> ScheduleState {
        let mut done = nodes[from].done.clone();
        let at = item.index() - self.first;
        done[at / 64] |= 1 << (at % 64);
        let peak_bytes = nodes[from].peak_bytes.max(cost.peak_bytes);
        ScheduleState { done, live_bytes: cost.live_bytes, peak_bytes, from: Some((from, item)) }
    }

    /// The exact search; none if no order is better than the given one.
    fn search_frontiers(&self, work: &mut usize) -> Result<Option<(Vec<ItemId>, u64)>, OutOfWork> {
        let mut nodes = vec![self.start()];
        let mut best: FxHashMap<Done, u64> = FxHashMap::default();
        let mut open = BinaryHeap::from([(Reverse(self.live_bytes), 0, Reverse(0))]);
        while let Some((_, depth, Reverse(at))) = open.pop() {
            if depth as usize == self.end - self.first {
                return Ok(Some((path(&nodes, at), nodes[at].peak_bytes)));
            }
            if best.get(&nodes[at].done).is_some_and(|bytes| *bytes < nodes[at].peak_bytes) {
                continue;
            }
            for step in self.steps(&nodes[at], work)? {
                let node = self.after(&nodes, at, step);
                let known = best.entry(node.done.clone()).or_insert(u64::MAX);
                if node.peak_bytes < *known {
                    *known = node.peak_bytes;
                    open.push((Reverse(node.peak_bytes), depth + 1, Reverse(nodes.len())));
                    nodes.push(node);
                }
            }
        }
        Ok(None)
    }

    /// The beam search, which keeps the best few states of each size; none if no better order than the given
    /// one was found.
    fn search_beam(&self, work: &mut usize) -> Option<(Vec<ItemId>, u64)> {
        let count = self.end - self.first;
        let width = (*work / (count * count)).min(WIDTH);
        let mut nodes = vec![self.start()];
        let mut layer = vec![0];
        for _ in 0..count {
            let mut best: FxHashMap<Done, usize> = FxHashMap::default();
            let mut next: Vec<usize> = Vec::new();
            for &at in layer.iter().take(width) {
                for step in self.steps(&nodes[at], work).ok()? {
                    let node = self.after(&nodes, at, step);
                    let slot = *best.entry(node.done.clone()).or_insert_with(|| {
                        next.push(nodes.len());
                        nodes.len()
                    });
                    match nodes.get_mut(slot) {
                        None => nodes.push(node),
                        Some(known) if node.peak_bytes < known.peak_bytes => *known = node,
                        Some(_) => {}
                    }
                }
            }
            next.sort_by_key(|at| (nodes[*at].peak_bytes, nodes[*at].live_bytes, *at));
            layer = next;
        }
        let at = *layer.first()?;
        Some((path(&nodes, at), nodes[at].peak_bytes))
    }
}

/// The items that led to a state.
fn path(nodes: &[ScheduleState], mut at: usize) -> Vec<ItemId> {
    let mut items = Vec::new();
    while let Some((from, item)) = nodes[at].from {
        items.push(item);
        at = from;
    }
    items.reverse();
    items
}
