//! Liveness along control-flow edges: each variable is followed backward from its reads.
//!
//! A variable is followed backward from its reads through the preceding basic blocks, each of which is
//! entered once. This is the per-variable path exploration of Boissinot, Brandner, Darte, Dupont de Dinechin
//! and Rastello, "Computing Liveness Sets for SSA-Form Programs" (2011, hal inria-00558509v1), extended to
//! several writes. The graph may have any form: irreducible graphs are treated like all others. Time is
//! linear in the edges between the basic blocks through which variables are live.

use std::ops::Range;

use super::{LiveSpan, Moment};
use crate::entities::Value;
use crate::flow::FlowGraph;

/// The predecessors of each basic block, by place in their order, and the progress of one variable through
/// them.
pub(super) struct Edges {
    points: Vec<Range<u32>>,
    /// The predecessors of each place, indexed by [`Edges::starts`].
    before: Vec<u32>,
    starts: Vec<u32>,
    /// The variable that was last followed out of each place.
    left: Vec<Option<Value>>,
    stack: Vec<u32>,
    /// Places through which the variable is live.
    through: Vec<u32>,
}

impl Edges {
    /// The edges of a graph.
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

    /// Continues with the predecessors of a place.
    pub(super) fn go_back(&mut self, place: usize) {
        let range = self.starts[place] as usize..self.starts[place + 1] as usize;
        self.stack.extend_from_slice(&self.before[range]);
    }

    /// The next place to which the variable has not been followed yet.
    pub(super) fn pop(&mut self, variable: Value) -> Option<usize> {
        loop {
            let place = self.stack.pop()? as usize;
            if self.left[place].replace(variable) != Some(variable) {
                return Some(place);
            }
        }
    }

    /// Records that the variable is live throughout a place, and continues with its predecessors.
    pub(super) fn go_through(&mut self, place: usize) {
        self.through.push(place as u32);
        self.go_back(place);
    }

    /// Passes on the spans of places through which the variable is live; adjacent places form one span.
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
