//! Depth-first search for offsets that fit all items into a capacity.
//!
//! There is one kind of decision: the item that is lowest among its open neighbours is *placed* there, or it
//! is *lifted*, which means that it rests on an open neighbour. Every placement that cannot be pushed down
//! further (the canonical ones of MiniMalloc, Moffitt, ASPLOS 2023) is reached by exactly one sequence of
//! such decisions. Unlike MiniMalloc, this search may choose the next item in any section.
//!
//! - **Parts.** If the open items split into parts that share no section, each is solved on its own: a part
//!   without solution fails at once, without trying the other parts' alternatives.
//! - **Nogoods.** Whether a part can be solved depends only on its open items and their positions. The hashes
//!   (128 bits) of parts without solution are kept, whatever decisions led there.
//! - **Twins.** Items of the same sections, size, and alignment are interchangeable: they have the same hash,
//!   and a position ruled out for one is ruled out for all.
//!
//! The search has an explicit stack, so that it can be halted after any node and resumed.

use super::model::{PlacementItem, PlacementModel, Section};
use super::nogoods::Nogoods;
use super::state::{Dead, SearchState};
use super::strategy::{Focus, Rank, choose};
use cranelift_entity::PrimaryMap;
use std::ops::Range;

/// The outcome of a run of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchOutcome {
    /// All items are placed.
    Solved,
    /// No placement fits.
    Impossible,
    /// The nodes are used up, or it was halted; the next run resumes it.
    Unfinished,
}

/// A run of [`PlacementSearch::lists`]: the open items of a part when it was entered.
type ItemRange = Range<usize>;

enum SearchFrame {
    /// The item was placed; or it was lifted, because that failed or it floats.
    Decision { item: PlacementItem, mark: usize, list: ItemRange, key: u128, alternative: Alternative },
    /// All parts have to be solved; those before `next` are, or are being solved above this frame.
    Parts { mark: usize, parts: Vec<ItemRange>, next: usize },
}

#[derive(Clone, Copy)]
enum Alternative {
    Lift,
    None,
}

enum NextMove {
    Enter(ItemRange),
    Fail,
    Solved,
}

/// A search for a placement within one capacity, by one strategy.
pub(super) struct PlacementSearch<'m> {
    state: SearchState<'m>,
    focus: Focus,
    rank: PrimaryMap<PlacementItem, u32>,
    frames: Vec<SearchFrame>,
    lists: Vec<PlacementItem>,
    next: NextMove,
    nogoods: Nogoods,
    nodes: u64,
}

impl<'m> PlacementSearch<'m> {
    pub(super) fn new(model: &'m PlacementModel, capacity: u64, (focus, rank): (Focus, Rank)) -> Self {
        Self {
            state: SearchState::new(model, capacity),
            focus,
            rank: rank.positions(model),
            frames: Vec::new(),
            lists: model.items.keys().collect(),
            next: NextMove::Enter(0..model.items.len()),
            nogoods: Nogoods::new(),
            nodes: 0,
        }
    }

    /// The number of nodes visited so far.
    pub(super) fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The offsets, after [`SearchOutcome::Solved`].
    pub(super) fn offset(&self, item: PlacementItem) -> u64 {
        self.state.positions[item].low
    }

    /// Visits up to `nodes` more nodes; calls `halt` every 64 nodes.
    pub(super) fn run(&mut self, nodes: u64, halt: &dyn Fn() -> bool) -> SearchOutcome {
        let limit = self.nodes + nodes;
        loop {
            self.next = match std::mem::replace(&mut self.next, NextMove::Fail) {
                NextMove::Enter(list) if self.nodes >= limit || (self.nodes.is_multiple_of(64) && halt()) => {
                    self.next = NextMove::Enter(list);
                    return SearchOutcome::Unfinished;
                }
                NextMove::Enter(list) => self.enter(list),
                NextMove::Fail => match self.fail() {
                    Some(next) => next,
                    None => return SearchOutcome::Impossible,
                },
                NextMove::Solved => match self.next_part() {
                    Some(next) => next,
                    None => {
                        self.next = NextMove::Solved;
                        return SearchOutcome::Solved;
                    }
                },
            }
        }
    }

    /// Propagates constraints and takes a decision.
    fn enter(&mut self, list: ItemRange) -> NextMove {
        self.nodes += 1;
        if self.state.propagate().is_err() {
            return NextMove::Fail;
        }
        let list = self.still_open(list);
        if list.is_empty() {
            return NextMove::Solved;
        }
        if std::mem::take(&mut self.state.severed) {
            let parts = self.split(list.clone());
            if parts.len() > 1 {
                let first = parts[0].clone();
                self.frames.push(SearchFrame::Parts { mark: self.state.mark(), parts, next: 1 });
                return NextMove::Enter(first);
            }
        }
        let key = self.key(&self.lists[list.clone()]);
        if self.nogoods.contains(key) {
            return NextMove::Fail;
        }
        let mark = self.state.mark();
        let item = choose(&self.state, &self.lists[list.clone()], self.focus, &self.rank);
        if self.state.positions[item].floats {
            let alternative = Alternative::None;
            self.frames.push(SearchFrame::Decision { item, mark, list: list.clone(), key, alternative });
            return self.lift(item, list);
        }
        self.frames.push(SearchFrame::Decision {
            item,
            mark,
            list: list.clone(),
            key,
            alternative: Alternative::Lift,
        });
        self.state.place(item);
        NextMove::Enter(list)
    }

    /// Lifts an item and its twins.
    fn lift(&mut self, item: PlacementItem, list: ItemRange) -> NextMove {
        let position = self.state.positions[item];
        let model = self.state.model;
        let twins = model.twins(item).iter().copied();
        let same = twins.filter(|&twin| self.state.open[twin] && self.state.positions[twin] == position);
        let result: Result<(), Dead> =
            same.collect::<Vec<PlacementItem>>().into_iter().try_for_each(|twin| self.state.lift(twin));
        if result.is_ok() { NextMove::Enter(list) } else { NextMove::Fail }
    }

    /// Undoes the last decision and tries its alternative.
    fn fail(&mut self) -> Option<NextMove> {
        match self.frames.pop()? {
            SearchFrame::Parts { mark, parts, .. } => {
                self.state.undo(mark);
                self.lists.truncate(parts[0].start);
                Some(NextMove::Fail)
            }
            SearchFrame::Decision { item, mark, list, key, alternative: Alternative::Lift } => {
                self.state.undo(mark);
                self.lists.truncate(list.end);
                let alternative = Alternative::None;
                self.frames.push(SearchFrame::Decision { item, mark, list: list.clone(), key, alternative });
                Some(self.lift(item, list))
            }
            SearchFrame::Decision { mark, list, key, alternative: Alternative::None, .. } => {
                self.state.undo(mark);
                self.lists.truncate(list.start);
                self.nogoods.insert(key);
                Some(NextMove::Fail)
            }
        }
    }

    /// Continues with the next part of the innermost split, now that the current one is solved.
    fn next_part(&mut self) -> Option<NextMove> {
        loop {
            match self.frames.last_mut()? {
                SearchFrame::Parts { parts, next, .. } if *next < parts.len() => {
                    *next += 1;
                    return Some(NextMove::Enter(parts[*next - 1].clone()));
                }
                _ => self.frames.pop(),
            };
        }
    }

    fn still_open(&mut self, list: ItemRange) -> ItemRange {
        let start = self.lists.len();
        for index in list {
            if self.state.open[self.lists[index]] {
                self.lists.push(self.lists[index]);
            }
        }
        start..self.lists.len()
    }

    /// Splits a list into parts that share no section.
    fn split(&mut self, list: ItemRange) -> Vec<ItemRange> {
        let model = self.state.model;
        let items = &self.lists[list.clone()];
        let from = items.iter().map(|&item| model.items[item].from).min().unwrap_or(0);
        let to = items.iter().map(|&item| model.items[item].to).max().unwrap_or(0);
        let ends =
            (from + 1..=to).filter(|&end| end == to || self.state.cuts[Section::from_u32(end - 1)] == 0);
        let mut parts = Vec::new();
        let mut begin = from;
        for end in ends.collect::<Vec<u32>>() {
            let start = self.lists.len();
            for index in list.clone() {
                if (begin..end).contains(&model.items[self.lists[index]].from) {
                    self.lists.push(self.lists[index]);
                }
            }
            if self.lists.len() > start {
                parts.push(start..self.lists.len());
            }
            begin = end;
        }
        if parts.len() == 1 {
            self.lists.truncate(list.end);
        }
        parts
    }

    /// The hash of a part: a sum, so that twins with the same position add up.
    fn key(&self, list: &[PlacementItem]) -> u128 {
        let hash = |&item: &PlacementItem| {
            let position = self.state.positions[item];
            mix(self.state.model.items[item].kind, 2 * position.low + u64::from(position.floats))
        };
        list.iter().map(hash).fold(1, u128::wrapping_add)
    }
}

/// Two rounds of SplitMix64's finalizer, with different constants for the halves.
fn mix(kind: u32, value: u64) -> u128 {
    let half = |seed: u64| {
        let mut z = value.wrapping_add((u64::from(kind) + 1).wrapping_mul(seed));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (u128::from(half(0x9e37_79b9_7f4a_7c15)) << 64) | u128::from(half(0xd1b5_4a32_d192_ed03))
}
