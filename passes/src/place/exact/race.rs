//! A race of search strategies for whether everything fits below a target.
//!
//! The strategies take turns. Each round lets more of them run, and gives each twice the nodes of the round
//! before; a search resumes where it stopped. The answer is the first in the order of (round, strategy), at
//! any number of threads: a thread takes the next strategy in order, and a strategy that has found its answer
//! halts only those after it.

use super::super::{BufferId, Stop};
use super::model::PlacementModel;
use super::search::{PlacementSearch, SearchOutcome};
use super::strategy::strategies;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The result of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The offset of each item, in the order of the model's items.
    Fits(Vec<(BufferId, u64)>),
    /// There is no such placement.
    Impossible,
    /// The nodes did not suffice.
    Unknown,
}

/// The number of strategies in the first round, and of those added in each later round.
const WIDTH: usize = 8;

/// The nodes of a strategy in the first round, for each item.
const NODES_PER_ITEM: u64 = 4;

/// Races the strategies with `nodes` in all. Returns the verdict and the nodes used.
pub(super) fn race(
    model: &PlacementModel,
    target: u64,
    nodes: u64,
    threads: usize,
    stop: Stop<'_>,
) -> (Verdict, u64) {
    let runners: Vec<Mutex<Option<PlacementSearch<'_>>>> =
        strategies().iter().map(|_| Mutex::new(None)).collect();
    let mut left = nodes;
    let mut slice = NODES_PER_ITEM * model.items.len().max(1) as u64;
    let mut width = WIDTH;
    loop {
        let width_left = usize::try_from(left.div_ceil(slice)).unwrap_or(usize::MAX);
        let running = &runners[..runners.len().min(width).min(width_left)];
        let heat = Heat { model, target, runners: running, slice, left, stop };
        let (verdict, used) = heat.run(threads);
        left -= used.min(left);
        if verdict != Verdict::Unknown || left == 0 || stop() {
            return (verdict, nodes - left);
        }
        slice = slice.saturating_mul(2);
        width += WIDTH;
    }
}

/// One round.
struct Heat<'h, 'm> {
    model: &'m PlacementModel,
    target: u64,
    runners: &'h [Mutex<Option<PlacementSearch<'m>>>],
    slice: u64,
    left: u64,
    stop: Stop<'h>,
}

impl Heat<'_, '_> {
    fn run(&self, threads: usize) -> (Verdict, u64) {
        let next = AtomicUsize::new(0);
        let winner = AtomicUsize::new(usize::MAX);
        let results: Vec<Mutex<(Verdict, u64)>> =
            self.runners.iter().map(|_| Mutex::new((Verdict::Unknown, 0))).collect();
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= self.runners.len() || winner.load(Ordering::Relaxed) < index || (self.stop)() {
                    return;
                }
                let result = self.run_one(index, &winner);
                if result.0 != Verdict::Unknown {
                    winner.fetch_min(index, Ordering::Relaxed);
                }
                *results[index].lock().expect("no thread panics") = result;
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(self.runners.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut used = 0;
        for result in results {
            let (verdict, nodes) = result.into_inner().expect("no thread panics");
            used += nodes;
            if verdict != Verdict::Unknown {
                return (verdict, used);
            }
        }
        (Verdict::Unknown, used)
    }

    fn run_one(&self, index: usize, winner: &AtomicUsize) -> (Verdict, u64) {
        let mut runner = self.runners[index].lock().expect("no thread panics");
        let search =
            runner.get_or_insert_with(|| PlacementSearch::new(self.model, self.target, strategies()[index]));
        let before = search.nodes();
        let nodes = self.slice.min(self.left.saturating_sub(self.slice.saturating_mul(index as u64)));
        let halt = || winner.load(Ordering::Relaxed) < index || (self.stop)();
        let verdict = match search.run(nodes, &halt) {
            SearchOutcome::Solved => {
                let offset = |(item, facts): (_, &super::model::ItemFacts)| (facts.id, search.offset(item));
                Verdict::Fits(self.model.items.iter().map(offset).collect())
            }
            SearchOutcome::Impossible => Verdict::Impossible,
            SearchOutcome::Unfinished => Verdict::Unknown,
        };
        (verdict, search.nodes() - before)
    }
}
