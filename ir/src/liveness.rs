//! From when to when the bytes of each variable must be kept, on every way through a function.
//!
//! A *variable* is what the caller maps values to: each value itself, or the root that owns its bytes (see [`crate::alias`]), so that
//! a variable may be written several times: by what overwrites it, and by each hand-over into a loop's argument. It is
//! *live* at a moment if some way leads from there to a read with no write between. The answer is a list of
//! [`Span`]s for each variable, in the order of the graph's points; a write that nothing reads is a span of its own.
//!
//! Each stretch is scanned once, backward; a variable that is read there before it is written is then followed up
//! through the stretches before, each of which it enters once: the per-variable path exploration of Boissinot, Brandner,
//! Darte, Dupont de Dinechin and Rastello, "Computing Liveness Sets for SSA-Form Programs" (2011, hal inria-00558509v1),
//! extended to several writes. Nothing is asked of the graph's form: irreducible graphs are treated like all others. Time and
//! memory are linear in the reads and writes and in the answer (stretches through which a variable is live count one each).

use std::ops::Range;

use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::FxHashMap;

use crate::body::Body;
use crate::context::Context;
use crate::entities::Value;
use crate::flow::{FlowGraph, Point, Stretch};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod worklist;

/// A point's reads, or, behind them, its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u32);

impl Moment {
    /// When a point reads.
    pub fn read(point: Point) -> Moment {
        Moment(2 * point.as_u32())
    }

    /// When a point writes.
    pub fn write(point: Point) -> Moment {
        Moment(2 * point.as_u32() + 1)
    }

    /// The point.
    pub fn point(self) -> Point {
        Point::from_u32(self.0 / 2)
    }

    /// Whether it is a point's writes.
    pub fn is_write(self) -> bool {
        self.0 % 2 == 1
    }
}

/// From a moment to a moment, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first.
    pub first: Moment,
    /// The last.
    pub last: Moment,
}

/// When each variable of a function is live.
pub struct Liveness {
    /// Where the spans of each variable begin, by its index; one entry more than there are variables.
    starts: Vec<u32>,
    spans: Vec<Span>,
    /// Variables by the moment when they first become live.
    variables: Vec<Value>,
}

impl Liveness {
    /// When each variable is live; `variable` says which one a value belongs to, if it counts. Arguments of the function are
    /// written before its first point.
    pub fn of(
        ctx: &Context,
        body: &Body,
        graph: &FlowGraph,
        variable: impl Fn(Value) -> Option<Value>,
    ) -> Liveness {
        Liveness::of_parts(ctx, body, graph, variable, |_| false)
    }

    /// The same, where a write for which `continues` holds leaves the rest of the variable as it was.
    pub fn of_parts(
        ctx: &Context,
        body: &Body,
        graph: &FlowGraph,
        variable: impl Fn(Value) -> Option<Value>,
        continues: impl Fn(Value) -> bool,
    ) -> Liveness {
        let mut search = Search::new(ctx, body, graph, variable, continues);
        for &stretch in graph.stretches() {
            search.scan(stretch);
        }
        search.write_args();
        search.follow();
        search.finish()
    }

    /// When a variable is live: sorted spans with gaps between.
    pub fn spans(&self, variable: Value) -> &[Span] {
        let index = variable.index();
        match self.starts.get(index..index + 2) {
            Some(range) => &self.spans[range[0] as usize..range[1] as usize],
            None => &[],
        }
    }

    /// From the first moment when a variable is live to the last; none if it never is.
    pub fn hull(&self, variable: Value) -> Option<Span> {
        let spans = self.spans(variable);
        Some(Span { first: spans.first()?.first, last: spans.last()?.last })
    }

    /// Whether a variable is live at a moment. O(log spans).
    pub fn is_live(&self, variable: Value, moment: Moment) -> bool {
        contains(self.spans(variable), moment)
    }

    /// The variables that are live at some moment, in the order in which they first are.
    pub fn variables(&self) -> &[Value] {
        &self.variables
    }

    /// The variables that are live at a moment. O(variables).
    pub fn live_at(&self, moment: Moment) -> impl Iterator<Item = Value> + '_ {
        self.variables.iter().copied().filter(move |variable| self.is_live(*variable, moment))
    }
}

/// Whether sorted spans contain a moment.
pub fn contains(spans: &[Span], moment: Moment) -> bool {
    let index = spans.partition_point(|span| span.last < moment);
    spans.get(index).is_some_and(|span| span.first <= moment)
}

/// Sorts spans and joins those that meet or touch.
pub fn normalise(spans: &mut Vec<Span>) {
    spans.sort_unstable();
    spans.dedup_by(|next, kept| {
        let joins = next.first.0 <= kept.last.0 + 1;
        if joins {
            kept.last = kept.last.max(next.last);
        }
        joins
    });
}

/// Where the read of a variable that is open in the stretch being scanned is.
#[derive(Clone, Copy, Default)]
struct Open {
    /// The stretch's number, from 1 on.
    stamp: u32,
    last: u32,
}

/// The stretches before each stretch, by place in their order, and how far a variable was followed through them.
struct Ways<'a> {
    order: &'a [Stretch],
    points: Vec<Range<u32>>,
    /// The places of the stretches before each place, by [`Ways::starts`].
    before: Vec<u32>,
    starts: Vec<u32>,
    place_of: SecondaryMap<Stretch, u32>,
    /// Which variable each place was left with last.
    left: Vec<Option<Value>>,
    stack: Vec<u32>,
    /// Places through which the variable is live.
    through: Vec<u32>,
}

impl<'a> Ways<'a> {
    fn of(graph: &'a FlowGraph) -> Ways<'a> {
        let order = graph.stretches();
        let mut place_of = SecondaryMap::new();
        order.iter().enumerate().for_each(|(place, stretch)| place_of[*stretch] = place as u32);
        let previous = graph.previous();
        let (mut before, mut starts) = (Vec::new(), vec![0]);
        for stretch in order {
            before.extend(previous[*stretch].iter().map(|stretch| place_of[*stretch]));
            starts.push(before.len() as u32);
        }
        let points = order.iter().map(|stretch| graph.points(*stretch)).collect();
        let left = vec![None; order.len()];
        Ways { order, points, before, starts, place_of, left, stack: Vec::new(), through: Vec::new() }
    }

    fn go_back(&mut self, stretch: Stretch) {
        self.push_before(self.place_of[stretch] as usize);
    }

    fn push_before(&mut self, place: usize) {
        let range = self.starts[place] as usize..self.starts[place + 1] as usize;
        self.stack.extend_from_slice(&self.before[range]);
    }

    /// The next place that the variable was not followed to yet.
    fn pop(&mut self, variable: Value) -> Option<usize> {
        loop {
            let place = self.stack.pop()? as usize;
            if self.left[place].replace(variable) != Some(variable) {
                return Some(place);
            }
        }
    }

    fn go_through(&mut self, place: usize) {
        self.through.push(place as u32);
        self.push_before(place);
    }

    /// Gives the places through which the variable is live, those that are neighbours as one.
    fn drain_spans(&mut self, mut give: impl FnMut(Span)) {
        let (Some(&low), Some(&high)) = (self.through.iter().min(), self.through.iter().max()) else {
            return;
        };
        let mut give = |first: u32, last: u32| {
            let (first, last) = (self.points[first as usize].start, self.points[last as usize].end);
            if first < last {
                give(Span { first: Moment(2 * first), last: Moment(2 * last - 1) });
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

/// Where a variable is written: the first stretch, its last write there, and whether further stretches write it.
#[derive(Clone, Copy)]
struct Writes {
    stretch: Stretch,
    last: Moment,
    has_more: bool,
}

struct Search<'a, F, C> {
    ctx: &'a Context,
    body: &'a Body,
    graph: &'a FlowGraph,
    variable: F,
    continues: C,
    written: SecondaryMap<Value, Option<Writes>>,
    /// The last write in each further stretch that writes a variable.
    also_written: FxHashMap<(Value, Stretch), Moment>,
    open: SecondaryMap<Value, Open>,
    /// The span of each variable that was found first: mostly there is no other.
    only: SecondaryMap<Value, Option<Span>>,
    /// All others.
    further: Vec<(Value, Span)>,
    /// Variables that are live where a stretch begins, as far as the stretch itself reads them.
    exposed: Vec<(Value, Stretch)>,
}

impl<'a, F: Fn(Value) -> Option<Value>, C: Fn(Value) -> bool> Search<'a, F, C> {
    fn new(ctx: &'a Context, body: &'a Body, graph: &'a FlowGraph, variable: F, continues: C) -> Self {
        let capacity = body.value_capacity();
        Search {
            ctx,
            body,
            graph,
            variable,
            continues,
            written: SecondaryMap::with_capacity(capacity),
            also_written: FxHashMap::default(),
            open: SecondaryMap::with_capacity(capacity),
            only: SecondaryMap::with_capacity(capacity),
            further: Vec::new(),
            exposed: Vec::new(),
        }
    }

    /// The function's arguments are written before its first point.
    fn write_args(&mut self) {
        let Some(&first) = self.graph.stretches().first() else { return };
        let args = self.body.entry(self.body.root()).map_or(&[][..], |block| self.body.args(block));
        for &arg in args {
            if let Some(variable) = (self.variable)(arg) {
                self.note_write(variable, first, Moment(0));
                self.found(variable, Span { first: Moment(0), last: Moment(0) });
            }
        }
    }

    fn found(&mut self, variable: Value, span: Span) {
        match &mut self.only[variable] {
            Some(_) => self.further.push((variable, span)),
            none => *none = Some(span),
        }
    }

    /// A write in a stretch that is scanned backward: the first that is noted is its last.
    fn note_write(&mut self, variable: Value, stretch: Stretch, moment: Moment) {
        match &mut self.written[variable] {
            Some(writes) if writes.stretch == stretch => {}
            Some(writes) => {
                writes.has_more = true;
                self.also_written.entry((variable, stretch)).or_insert(moment);
            }
            none => *none = Some(Writes { stretch, last: moment, has_more: false }),
        }
    }

    fn last_write(&self, variable: Value, writes: Option<Writes>, stretch: Stretch) -> Option<Moment> {
        match writes? {
            Writes { stretch: first, last, .. } if first == stretch => Some(last),
            Writes { has_more: true, .. } => self.also_written.get(&(variable, stretch)).copied(),
            _ => None,
        }
    }

    /// Finds the spans that end with a read in a stretch, as far as they lie in it.
    fn scan(&mut self, stretch: Stretch) {
        let stamp = stretch.as_u32() + 1;
        let mut opened: Vec<Value> = Vec::new();
        for point in self.graph.points(stretch).rev().map(Point::from_u32) {
            let event = self.graph.event(point);
            let writes = event.writes(self.ctx, self.body);
            for &value in &writes {
                let Some(variable) = (self.variable)(value) else { continue };
                let first = Moment::write(point);
                let open = &mut self.open[variable];
                let last = if open.stamp == stamp { Moment(open.last) } else { first };
                open.stamp = 0;
                self.found(variable, Span { first, last });
                self.note_write(variable, stretch, first);
            }
            let kept = writes.into_iter().filter(|value| (self.continues)(*value));
            for value in event.reads(self.body).chain(kept) {
                let Some(variable) = (self.variable)(value) else { continue };
                let open = &mut self.open[variable];
                if open.stamp != stamp {
                    *open = Open { stamp, last: Moment::read(point).0 };
                    opened.push(variable);
                }
            }
        }
        let first = Moment(2 * self.graph.points(stretch).start);
        for variable in opened {
            let open = &mut self.open[variable];
            if open.stamp == stamp {
                let last = Moment(open.last);
                open.stamp = 0;
                self.found(variable, Span { first, last });
                self.exposed.push((variable, stretch));
            }
        }
    }

    /// Follows each variable from where it is read, up to where it is written.
    fn follow(&mut self) {
        let mut exposed = std::mem::take(&mut self.exposed);
        exposed.sort_unstable();
        let mut ways = Ways::of(self.graph);
        for group in exposed.chunk_by(|a, b| a.0 == b.0) {
            let variable = group[0].0;
            let writes = self.written[variable];
            group.iter().for_each(|(_, stretch)| ways.go_back(*stretch));
            while let Some(place) = ways.pop(variable) {
                match self.last_write(variable, writes, ways.order[place]) {
                    Some(first) => {
                        let last = Moment(2 * ways.points[place].end - 1);
                        self.found(variable, Span { first, last });
                    }
                    None => ways.go_through(place),
                }
            }
            ways.drain_spans(|span| self.found(variable, span));
        }
    }

    /// Sorts what was found by variables.
    fn finish(mut self) -> Liveness {
        let count = self.body.value_capacity();
        self.further.sort_unstable();
        let mut further = self.further.chunk_by(|a, b| a.0 == b.0).peekable();
        let (mut starts, mut spans) = (Vec::with_capacity(count + 1), Vec::with_capacity(count));
        let mut variables: Vec<(Moment, Value)> = Vec::with_capacity(count);
        let mut list: Vec<Span> = Vec::new();
        for index in 0..count {
            starts.push(spans.len() as u32);
            let variable = Value::new(index);
            let Some(only) = self.only[variable] else { continue };
            match further.next_if(|group| group[0].0 == variable) {
                None => spans.push(only),
                Some(group) => {
                    list.clear();
                    list.push(only);
                    list.extend(group.iter().map(|(_, span)| *span));
                    normalise(&mut list);
                    spans.extend_from_slice(&list);
                }
            }
            variables.push((spans[starts[index] as usize].first, variable));
        }
        starts.push(spans.len() as u32);
        variables.sort_unstable();
        Liveness { starts, spans, variables: variables.into_iter().map(|(_, variable)| variable).collect() }
    }
}
