//! Liveness along control-flow edges: each variable is followed backward from its reads.
//!
//! A variable is followed up from where it is read, through the basic blocks before, each of which it enters
//! once: the per-variable path exploration of Boissinot, Brandner, Darte, Dupont de Dinechin and Rastello,
//! "Computing Liveness Sets for SSA-Form Programs" (2011, hal inria-00558509v1), extended to several writes.
//! Nothing is asked of the graph's form: irreducible graphs are treated like all others. Time is linear in
//! the edges between the basic blocks through which variables are live.

use std::ops::Range;

use super::{LiveSpan, Moment};
use crate::entities::Value;
use crate::flow::FlowGraph;

/// The basic blocks before each basic block, by place in their order, and how far a variable was followed
/// through them.
pub(super) struct Edges {
    points: Vec<Range<u32>>,
    /// The places of the basic blocks before each place, by [`Edges::starts`].
    before: Vec<u32>,
    starts: Vec<u32>,
    /// Which variable each place was left with last.
    left: Vec<Option<Value>>,
    stack: Vec<u32>,
    /// Places through which the variable is live.
    through: Vec<u32>,
}

impl Edges {
    /// Those of a graph.
    pub(super) fn of(graph: &FlowGraph) -> Edges {
        let order = graph.basic_blocks();
        let previous = graph.previous();
        let mut before = Vec::new();
        let mut starts = vec![0];
        for basic_block in order {
            before.extend(previous[*basic_block].iter().map(|basic_block| graph.place(*basic_block) as u32));
            starts.push(before.len() as u32);
        }
        let points = order.iter().map(|basic_block| graph.points(*basic_block)).collect();
        let left = vec![None; order.len()];
        Edges { points, before, starts, left, stack: Vec::new(), through: Vec::new() }
    }

    /// The points of a place.
    pub(super) fn points(&self, place: usize) -> Range<u32> {
        self.points[place].clone()
    }

    /// Goes on with what is before a place.
    pub(super) fn go_back(&mut self, place: usize) {
        let range = self.starts[place] as usize..self.starts[place + 1] as usize;
        self.stack.extend_from_slice(&self.before[range]);
    }

    /// The next place that the variable was not followed to yet.
    pub(super) fn pop(&mut self, variable: Value) -> Option<usize> {
        loop {
            let place = self.stack.pop()? as usize;
            if self.left[place].replace(variable) != Some(variable) {
                return Some(place);
            }
        }
    }

    /// Notes that the variable is live throughout a place, and goes on with what is before.
    pub(super) fn go_through(&mut self, place: usize) {
        self.through.push(place as u32);
        self.go_back(place);
    }

    /// Gives the places through which the variable is live, those that are neighbours as one.
    pub(super) fn drain_spans(&mut self, mut give: impl FnMut(LiveSpan)) {
        let (Some(&low), Some(&high)) = (self.through.iter().min(), self.through.iter().max()) else {
            return;
        };
        let mut give = |first: u32, last: u32| {
            let (first, last) = (self.points[first as usize].start, self.points[last as usize].end);
            if first < last {
                give(LiveSpan { first: Moment(2 * first), last: Moment(2 * last - 1) });
            }
        };
        if (high - low) as usize + 1 == self.through.len() {
            give(low, high);
        } else {
            self.through.sort_unstable();
            for run in self.through.chunk_by(|a, b| a + 1 == *b) {
                give(run[0], run[run.len() - 1]);
            }
        }
        self.through.clear();
    }
}
