//! Liveness: the live range of each variable, on every path through a function.
//!
//! A *variable* is whatever the caller maps values to: each value itself, or the root that owns its bytes
//! (see [`crate::alias`]). So a variable may be written several times: by each operation that overwrites it,
//! and by each copy into a loop's argument. It is *live* at a moment if a path leads from there to a read
//! without a write between. The answer is a list of [`LiveSpan`]s for each variable, in the order of the
//! graph's points; a write without a read is a span of its own.
//!
//! Each basic block is scanned once, backward (`search`). A variable read there before it is written is live
//! on the paths to the block. In nested regions those paths are runs of points, found from the nesting alone,
//! in time linear in the reads times the depth (`nests`). Otherwise they are followed, basic block by basic
//! block (`edges`). Tests compare both with the data-flow equations (`worklist`) and with two passes over the
//! loop forest (`forest`).

use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashSet;

use crate::body::Body;
use crate::context::Context;
use crate::entities::Value;
use crate::flow::{FlowGraph, Point};

mod edges;
#[cfg(test)]
mod forest;
mod nests;
mod search;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod worklist;

use search::{LivenessSearch, Variables};

/// A program point's reads or, after these, its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u32);

impl Moment {
    /// The moment of a point's reads.
    pub fn read(point: Point) -> Moment {
        Moment(2 * point.as_u32())
    }

    /// The moment of a point's writes.
    pub fn write(point: Point) -> Moment {
        Moment(2 * point.as_u32() + 1)
    }

    /// The point.
    pub fn point(self) -> Point {
        Point::from_u32(self.0 / 2)
    }

    /// Whether the moment is that of the point's writes.
    pub fn is_write(self) -> bool {
        self.0 % 2 == 1
    }
}

/// A live range segment: from a first to a last moment, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveSpan {
    /// The first moment.
    pub first: Moment,
    /// The last moment.
    pub last: Moment,
}

/// A basic block that reads a variable before it writes it: the variable is live at the block's start.
#[derive(Clone, Copy)]
struct Exposed {
    /// The index of the basic block.
    place: u32,
    /// The last read that no write precedes in the block.
    last: Moment,
    /// The number of the variable's previous entry; 0 if there is none.
    before: u32,
}

/// A basic block that writes a variable.
#[derive(Clone, Copy)]
struct BlockWrite {
    /// The index of the basic block.
    place: u32,
    /// The last write.
    last: Moment,
    /// The number of the variable's previous entry; 0 if there is none.
    before: u32,
}

/// The live range of each variable of a function.
pub struct Liveness {
    /// The start of each variable's spans, by its index; one entry more than there are variables.
    starts: Vec<u32>,
    spans: Vec<LiveSpan>,
    /// Variables by the moment when they first become live.
    variables: Vec<Value>,
}

impl Liveness {
    /// Computes the live ranges. `variable` maps each value to its variable, or to none if it is ignored.
    /// Arguments of the function are written before its first point.
    pub fn of(
        ctx: &Context,
        body: &Body,
        graph: &FlowGraph,
        variable: impl Fn(Value) -> Option<Value>,
    ) -> Liveness {
        Liveness::of_parts(ctx, body, graph, variable, |_| false)
    }

    /// Like `of`, but a write for which `continues` holds keeps the other bytes of its variable, so the
    /// variable stays live before it.
    pub fn of_parts(
        ctx: &Context,
        body: &Body,
        graph: &FlowGraph,
        variable: impl Fn(Value) -> Option<Value>,
        continues: impl Fn(Value) -> bool,
    ) -> Liveness {
        let values = || (0..body.value_capacity()).map(Value::new);
        let variables: Vec<PackedOption<Value>> = values().map(|value| variable(value).into()).collect();
        let parts: FxHashSet<Value> = values().filter(|value| continues(*value)).collect();
        Liveness::find(
            LivenessSearch::new(ctx, body, graph, Variables { of_values: &variables, parts: &parts }),
            graph,
        )
    }

    fn find(mut search: LivenessSearch<'_>, graph: &FlowGraph) -> Liveness {
        search.write_args();
        for &basic_block in graph.basic_blocks() {
            search.scan(basic_block);
        }
        search.follow();
        search.finish()
    }

    /// The live range of a variable: sorted spans with gaps between them.
    pub fn spans(&self, variable: Value) -> &[LiveSpan] {
        let index = variable.index();
        match self.starts.get(index..index + 2) {
            Some(range) => &self.spans[range[0] as usize..range[1] as usize],
            None => &[],
        }
    }

    /// From the first to the last moment of a variable's live range; none if it is never live.
    pub fn hull(&self, variable: Value) -> Option<LiveSpan> {
        let spans = self.spans(variable);
        Some(LiveSpan { first: spans.first()?.first, last: spans.last()?.last })
    }

    /// Whether a variable is live at a moment. O(log spans).
    pub fn is_live(&self, variable: Value, moment: Moment) -> bool {
        contains(self.spans(variable), moment)
    }

    /// The variables that are live at some moment, ordered by the first one.
    pub fn variables(&self) -> &[Value] {
        &self.variables
    }

    /// The variables that are live at a moment. O(variables).
    pub fn live_at(&self, moment: Moment) -> impl Iterator<Item = Value> + '_ {
        self.variables.iter().copied().filter(move |variable| self.is_live(*variable, moment))
    }
}

/// Whether sorted spans contain a moment.
pub fn contains(spans: &[LiveSpan], moment: Moment) -> bool {
    let index = spans.partition_point(|span| span.last < moment);
    spans.get(index).is_some_and(|span| span.first <= moment)
}

/// Sorts spans, and merges those that overlap or touch.
pub fn normalise(spans: &mut Vec<LiveSpan>) {
    // Mostly two sorted lists, one after the other: a stable sort merges them.
    spans.sort();
    spans.dedup_by(|next, kept| {
        let joins = next.first.0 <= kept.last.0 + 1;
        if joins {
            kept.last = kept.last.max(next.last);
        }
        joins
    });
}
