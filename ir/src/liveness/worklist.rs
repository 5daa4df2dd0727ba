//! The first oracle of liveness: sets of live variables for each basic block, iterated until nothing changes.
//!
//! These are the textbook's backward data-flow equations, on sets, moment by moment. They are slow, and share
//! only the graph with the code under test.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::flow::BasicBlock;

/// The variables that are live at each moment.
pub(super) fn live_sets(
    ctx: &Context,
    body: &Body,
    graph: &FlowGraph,
    variable: &dyn Fn(Value) -> Option<Value>,
    continues: &dyn Fn(Value) -> bool,
) -> BTreeMap<Moment, BTreeSet<Value>> {
    let mut live_in: BTreeMap<BasicBlock, BTreeSet<Value>> = BTreeMap::new();
    let mut moments = BTreeMap::new();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for &basic_block in graph.basic_blocks() {
            let next = graph.next(basic_block).iter().filter_map(|next| live_in.get(next));
            let mut live: BTreeSet<Value> = next.flatten().copied().collect();
            for point in graph.points(basic_block).rev().map(Point::from_u32) {
                let event = graph.event(point);
                let written = event.writes(ctx, body);
                let writes: Vec<Value> = written.iter().copied().filter_map(variable).collect();
                live.extend(&writes);
                moments.insert(Moment::write(point), live.clone());
                writes.iter().for_each(|write| {
                    live.remove(write);
                });
                let kept = written.into_iter().filter(|value| continues(*value));
                live.extend(event.reads(body).chain(kept).filter_map(variable));
                moments.insert(Moment::read(point), live.clone());
            }
            has_changed |= live_in.insert(basic_block, live.clone()).as_ref() != Some(&live);
        }
    }
    if let Some(first) = moments.get_mut(&Moment(0)) {
        first.extend(body.args(body.entry(body.root()).unwrap()).iter().copied().filter_map(variable));
    }
    moments
}
