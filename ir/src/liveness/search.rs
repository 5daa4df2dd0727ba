//! Liveness search: the backward scan of basic blocks, and the live ranges that result.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::edges::Edges;
use super::nests::Nests;
use super::{BlockWrite, Exposed, LiveSpan, Liveness, Moment, normalise};
use crate::body::Body;
use crate::context::Context;
use crate::entities::Value;
use crate::flow::{Act, BasicBlock, FlowGraph, Point};

/// The state of a variable during the scan.
#[derive(Clone, Copy)]
struct Track {
    /// The number, from 1 on, of the scanned basic block if the variable is read in it after the current
    /// point.
    stamp: u32,
    /// The last of those reads.
    open: u32,
    /// The span found first, in most cases the only one: it begins with the last write in the first place
    /// that writes. While there is none, it ends before it begins.
    only: LiveSpan,
}

/// The places that write and read a variable.
#[derive(Clone, Copy)]
struct AccessBlocks {
    /// The first place that writes the variable.
    first: u32,
    /// The number of the last entry among the writes of further places, from 1 on.
    newest_write: u32,
    /// The number of the last entry among the exposed reads, from 1 on.
    newest_read: u32,
}

impl AccessBlocks {
    const NONE: AccessBlocks = AccessBlocks { first: u32::MAX, newest_write: 0, newest_read: 0 };
}

impl Track {
    const NONE: Track = Track { stamp: 0, open: 0, only: LiveSpan { first: Moment(1), last: Moment(0) } };
}

/// The mapping of values to variables.
#[derive(Clone, Copy)]
pub(super) struct Variables<'a> {
    /// The variable of each value; none for ignored values.
    pub of_values: &'a [PackedOption<Value>],
    /// Values whose write keeps the other bytes of their variable, and so counts as a read.
    pub parts: &'a FxHashSet<Value>,
}

pub(super) struct LivenessSearch<'a> {
    ctx: &'a Context,
    body: &'a Body,
    graph: &'a FlowGraph,
    variables: Variables<'a>,
    tracks: PrimaryMap<Value, Track>,
    places: PrimaryMap<Value, AccessBlocks>,
    /// All spans except the one found first.
    further: Vec<(Value, LiveSpan)>,
    writes: Vec<BlockWrite>,
    exposed: Vec<Exposed>,
    /// Variables that were read in the scanned basic block.
    opened: Vec<Value>,
}

impl<'a> LivenessSearch<'a> {
    pub(super) fn new(
        ctx: &'a Context,
        body: &'a Body,
        graph: &'a FlowGraph,
        variables: Variables<'a>,
    ) -> Self {
        let count = variables.of_values.len();
        LivenessSearch {
            ctx,
            body,
            graph,
            variables,
            tracks: PrimaryMap::from_iter(std::iter::repeat_n(Track::NONE, count)),
            places: PrimaryMap::from_iter(std::iter::repeat_n(AccessBlocks::NONE, count)),
            further: Vec::new(),
            writes: Vec::new(),
            exposed: Vec::with_capacity(count),
            opened: Vec::new(),
        }
    }

    fn variable(&self, value: Value) -> Option<Value> {
        self.variables.of_values[value.index()].expand()
    }

    /// The function's arguments are written before its first point.
    pub(super) fn write_args(&mut self) {
        let args = self.body.entry(self.body.root()).map_or(&[][..], |block| self.body.args(block));
        if self.graph.point_count() == 0 {
            return;
        }
        for &arg in args {
            if let Some(variable) = self.variable(arg) {
                self.found(variable, LiveSpan { first: Moment(0), last: Moment(0) });
                self.note_write(variable, 0, Moment(0));
            }
        }
    }

    fn found(&mut self, variable: Value, span: LiveSpan) {
        let only = &mut self.tracks[variable].only;
        if only.first > only.last { *only = span } else { self.further.push((variable, span)) }
    }

    /// Records a write in a basic block scanned backward, after its span was found: the first one recorded is
    /// the block's last write.
    fn note_write(&mut self, variable: Value, place: u32, last: Moment) {
        let places = &mut self.places[variable];
        if places.first == u32::MAX {
            places.first = place;
            return;
        }
        let known = match places.newest_write {
            0 => (places.first, self.tracks[variable].only.first),
            newest => (self.writes[newest as usize - 1].place, self.writes[newest as usize - 1].last),
        };
        // The entry of an argument is not a write of the first place.
        if known.0 != place || !known.1.is_write() {
            self.writes.push(BlockWrite { place, last, before: places.newest_write });
            places.newest_write = self.writes.len() as u32;
        }
    }

    /// Finds the spans that end with a read in a basic block, as far as they lie in the block.
    pub(super) fn scan(&mut self, basic_block: BasicBlock) {
        let stamp = basic_block.as_u32() + 1;
        let place = self.graph.place(basic_block) as u32;
        for point in self.graph.points(basic_block).rev().map(Point::from_u32) {
            let event = self.graph.event(point);
            if event.act == Act::Run && self.variables.parts.is_empty() {
                self.body.results(event.op).for_each(|value| self.write(value, point, (stamp, place)));
                self.body.operands(event.op).for_each(|value| self.read(value, point, stamp));
                continue;
            }
            let writes = event.writes(self.ctx, self.body);
            writes.iter().for_each(|value| self.write(*value, point, (stamp, place)));
            let kept = writes.into_iter().filter(|value| self.variables.parts.contains(value));
            let kept: SmallVec<[Value; 4]> = kept.collect();
            event.reads(self.body).chain(kept).for_each(|value| self.read(value, point, stamp));
        }
        for index in 0..self.opened.len() {
            let variable = self.opened[index];
            let track = &mut self.tracks[variable];
            if track.stamp == stamp {
                let last = Moment(track.open);
                let places = &mut self.places[variable];
                track.stamp = 0;
                self.exposed.push(Exposed { place, last, before: places.newest_read });
                places.newest_read = self.exposed.len() as u32;
            }
        }
        self.opened.clear();
    }

    fn write(&mut self, value: Value, point: Point, (stamp, place): (u32, u32)) {
        let Some(variable) = self.variable(value) else { return };
        let first = Moment::write(point);
        let track = &mut self.tracks[variable];
        let last = if track.stamp == stamp { Moment(track.open) } else { first };
        track.stamp = 0;
        self.found(variable, LiveSpan { first, last });
        self.note_write(variable, place, first);
    }

    fn read(&mut self, value: Value, point: Point, stamp: u32) {
        let Some(variable) = self.variable(value) else { return };
        let track = &mut self.tracks[variable];
        if track.stamp != stamp {
            track.stamp = stamp;
            track.open = Moment::read(point).0;
            self.opened.push(variable);
        }
    }

    /// Extends the live ranges of variables that are live at the start of basic blocks.
    pub(super) fn follow(&mut self) {
        let exposed = std::mem::take(&mut self.exposed);
        let mut nests = Nests::of(self.graph);
        let mut edges = None;
        let mut writes = Vec::new();
        for variable in self.tracks.keys() {
            let places = self.places[variable];
            if places.newest_read == 0 {
                continue;
            }
            let entry = |number: u32| Some(exposed[(number as usize).checked_sub(1)?]);
            // Latest first: the result for one read often covers the next.
            let reads = std::iter::successors(entry(places.newest_read), |read| entry(read.before));
            self.list_writes(variable, &mut writes);
            match nests.spans(variable, &writes, reads.clone()) {
                Some(spans) => spans.iter().for_each(|span| self.extend(variable, *span)),
                None => {
                    let edges = edges.get_or_insert_with(|| Edges::of(self.graph));
                    self.explore(variable, &writes, reads, edges);
                }
            }
        }
    }

    /// Lists the writes of a variable in order.
    fn list_writes(&self, variable: Value, list: &mut Vec<BlockWrite>) {
        let AccessBlocks { first, newest_write, .. } = self.places[variable];
        list.clear();
        if newest_write > 0 {
            let entry = |number: u32| Some(self.writes[(number as usize).checked_sub(1)?]);
            list.extend(std::iter::successors(entry(newest_write), |write| entry(write.before)));
        }
        if first < u32::MAX {
            list.push(BlockWrite { place: first, last: self.tracks[variable].only.first, before: 0 });
        }
        list.reverse();
    }

    /// Follows a variable up from its reads to its writes.
    fn explore(
        &mut self,
        variable: Value,
        writes: &[BlockWrite],
        reads: impl Iterator<Item = Exposed>,
        edges: &mut Edges,
    ) {
        for read in reads {
            let first = Moment(2 * edges.points(read.place as usize).start);
            self.found(variable, LiveSpan { first, last: read.last });
            edges.go_back(read.place as usize);
        }
        while let Some(place) = edges.pop(variable) {
            let count = writes.partition_point(|write| write.place as usize <= place);
            match writes[..count].last().filter(|write| write.place as usize == place) {
                Some(write) => {
                    let last = Moment(2 * edges.points(place).end - 1);
                    self.found(variable, LiveSpan { first: write.last, last });
                }
                None => edges.go_through(place),
            }
        }
        edges.drain_spans(|span| self.found(variable, span));
    }

    /// Records a span, which may begin with the one found first.
    fn extend(&mut self, variable: Value, span: LiveSpan) {
        let only = &mut self.tracks[variable].only;
        if only.first == span.first {
            only.last = only.last.max(span.last)
        } else {
            self.found(variable, span)
        }
    }

    /// Sorts the spans by variable.
    pub(super) fn finish(mut self) -> Liveness {
        let count = self.tracks.len();
        // The spans of one variable come in descending order: a sort that detects runs has little to do.
        self.further.sort();
        let mut further = self.further.chunk_by(|a, b| a.0 == b.0).peekable();
        let (mut starts, mut spans) = (Vec::with_capacity(count + 1), Vec::with_capacity(count));
        let mut list: Vec<LiveSpan> = Vec::new();
        for (variable, track) in &self.tracks {
            starts.push(spans.len() as u32);
            if track.only.first > track.only.last {
                continue;
            }
            match further.next_if(|group| group[0].0 == variable) {
                None => spans.push(track.only),
                Some(group) => {
                    list.clear();
                    list.push(track.only);
                    list.extend(group.iter().map(|(_, span)| *span));
                    normalise(&mut list);
                    spans.extend_from_slice(&list);
                }
            }
        }
        starts.push(spans.len() as u32);
        let variables = by_begin(self.graph, &starts, &spans);
        Liveness { starts, spans, variables }
    }
}

/// The variables that have spans, by the start of their first span: a counting sort.
fn by_begin(graph: &FlowGraph, starts: &[u32], spans: &[LiveSpan]) -> Vec<Value> {
    let mut ends = vec![0u32; 2 * graph.point_count() + 1];
    let begins = || {
        let ranges = starts.windows(2).enumerate().filter(|(_, range)| range[0] < range[1]);
        ranges.map(|(index, range)| (index, spans[range[0] as usize].first.0 as usize))
    };
    begins().for_each(|(_, begin)| ends[begin] += 1);
    let mut count = 0;
    for end in &mut ends {
        // Holds the start of the moment's variables, and later grows to their end.
        count += std::mem::replace(end, count);
    }
    let mut variables = vec![Value::new(0); count as usize];
    for (index, begin) in begins() {
        variables[ends[begin] as usize] = Value::new(index);
        ends[begin] += 1;
    }
    variables
}
