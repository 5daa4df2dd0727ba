//! Liveness in structured control flow, from the nesting of regions.
//!
//! Between two places of one zone ([`crate::flow::Zone`]), control passes through one run of points, whatever
//! is nested there. So a variable is live from the nearest write before a read up to that read. If the write
//! is in a branch or a loop that ended before the read, the variable is live from the end of this `if` or
//! loop to the read, and at the end of each branch, or of the loop. If the zone has no write before the read,
//! the variable is live from the start of the zone, at the point from which the zone is entered, and at the
//! end of each iteration:
//!
//! ```text
//! %x = ...                 =>  from here
//! scf.if %c {
//!   ...
//! } else {                 =>  to the entry of the `if`; and from the start of this branch
//!   scf.for ... {
//!     ... %x ...           =>  to the end of the loop, since the next iteration reads it again
//!   }
//! }
//! ```
//!
//! Each read and each write costs at most its nesting depth, however many basic blocks lie between them. In
//! functions with several blocks outside of all zones, variables live across these blocks are left to
//! [`super::edges`].

use cranelift_entity::EntityRef;

use super::{BlockWrite, Exposed, LiveSpan, Moment, normalise};
use crate::entities::Value;
use crate::flow::{BasicBlock, FlowGraph, Turns, Zone};

/// The zones of a graph, and the progress of one variable through them.
pub(super) struct Nests<'a> {
    graph: &'a FlowGraph,
    /// The variable that was last followed from the start of each zone.
    begun: Vec<Option<Value>>,
    /// The variable that was last followed from the end of each place.
    ended: Vec<Option<Value>>,
    /// Places at the end of which the variable is live.
    ends: Vec<usize>,
    spans: Vec<LiveSpan>,
}

/// A variable, with the last write of each place that writes it, in order.
#[derive(Clone, Copy)]
struct WrittenVariable<'w> {
    variable: Value,
    writes: &'w [BlockWrite],
}

/// The nesting does not determine where the variable is live.
struct UnknownNesting;

impl<'a> Nests<'a> {
    /// The zones of a graph.
    pub(super) fn of(graph: &'a FlowGraph) -> Nests<'a> {
        let (begun, ended) = (vec![None; graph.zone_count()], vec![None; graph.basic_blocks().len()]);
        Nests { graph, begun, ended, ends: Vec::new(), spans: Vec::new() }
    }

    /// The spans in which a variable with these writes is live before these reads; none if the nesting does
    /// not determine them.
    pub(super) fn spans(
        &mut self,
        variable: Value,
        writes: &[BlockWrite],
        mut reads: impl Iterator<Item = Exposed>,
    ) -> Option<&[LiveSpan]> {
        self.spans.clear();
        self.ends.clear();
        let written = WrittenVariable { variable, writes };
        let found = reads.try_for_each(|read| self.go_up(written, read.place as usize, read.last));
        found.and_then(|()| self.go_on(written)).ok()?;
        normalise(&mut self.spans);
        Some(&self.spans)
    }

    /// Follows the variable up from the ends of places where it is live.
    fn go_on(&mut self, written: WrittenVariable<'_>) -> Result<(), UnknownNesting> {
        while let Some(place) = self.ends.pop() {
            if self.ended[place].replace(written.variable) == Some(written.variable) {
                continue;
            }
            let last = Moment(2 * self.graph.points(self.graph.basic_blocks()[place]).end - 1);
            match written.before(place + 1).filter(|write| write.place as usize == place) {
                Some(write) => self.push(write.last, last),
                None => self.go_up(written, place, last)?,
            }
        }
        Ok(())
    }

    /// Follows the variable up from a moment in a place; the place has no write before this moment.
    fn go_up(
        &mut self,
        written: WrittenVariable<'_>,
        place: usize,
        last: Moment,
    ) -> Result<(), UnknownNesting> {
        let zone = self.zone_of(place);
        if zone.is_none() && !self.graph.is_one_block() {
            return Err(UnknownNesting);
        }
        let first = zone.map_or(0, |zone| self.graph.zone(zone).places.start);
        match written.before(place).filter(|write| write.place as usize >= first) {
            None => self.begin(written.variable, zone, last),
            Some(write) if self.zone_of(write.place as usize) == zone => self.push(write.last, last),
            Some(write) => self.go_around(write, zone, last),
        }
        Ok(())
    }

    /// Records that the variable is live from the start of a zone.
    fn begin(&mut self, variable: Value, zone: Option<Zone>, last: Moment) {
        let Some(zone) = zone else { return self.push(Moment(0), last) };
        let data = self.graph.zone(zone);
        self.push(Moment(2 * data.points.start), last);
        if self.begun[zone.index()].replace(variable) != Some(variable) {
            self.ends.push(self.graph.place(data.from));
            if data.turns == Turns::Many {
                self.ends.push(data.places.end - 1);
            }
        }
    }

    /// Records that the variable is live from the end of an `if` or loop in this zone that contains a write.
    fn go_around(&mut self, write: BlockWrite, zone: Option<Zone>, last: Moment) {
        let mut inner =
            self.zone_of(write.place as usize).expect("a place in a zone is in another zone or in none");
        let from = loop {
            let from = self.graph.zone(inner).from;
            match self.graph.zone_of(from) {
                around if around == zone => break from,
                around => inner = around.expect("a zone holds those that are entered from it"),
            }
        };
        let mut end = self.graph.points(from).end;
        for &next in self.graph.next(from) {
            let entered = self.graph.zone_of(next).filter(|_| self.graph.zone_of(next) != zone);
            let left = entered.map(|zone| self.graph.zone(zone));
            end = end.max(left.map_or(0, |zone| zone.points.end));
            self.ends.push(self.graph.place(left.map_or(from, |zone| zone.exit)));
        }
        self.push(Moment(2 * end), last);
    }

    fn push(&mut self, first: Moment, last: Moment) {
        match self.spans.last_mut() {
            Some(span) if span.first == first => span.last = span.last.max(last),
            _ => self.spans.push(LiveSpan { first, last }),
        }
    }

    fn zone_of(&self, place: usize) -> Option<Zone> {
        let basic_block: BasicBlock = self.graph.basic_blocks()[place];
        self.graph.zone_of(basic_block)
    }
}

impl WrittenVariable<'_> {
    /// The nearest write in the places before this one.
    fn before(self, place: usize) -> Option<BlockWrite> {
        let count = match self.writes {
            [write] => usize::from((write.place as usize) < place),
            writes => writes.partition_point(|write| (write.place as usize) < place),
        };
        Some(self.writes[count.checked_sub(1)?])
    }
}
