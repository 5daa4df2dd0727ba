//! Line and column of a place in a parsed text.

use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::entities::Location;
use crate::location::LocationData;
use crate::text::Locations;

/// The starts of the lines of texts, computed once for each text.
pub(super) struct LineStarts {
    locations: Locations,
    /// For each text, keyed by its first place: the offsets at which lines begin.
    starts: FxHashMap<u32, Vec<u32>>,
}

impl LineStarts {
    pub(super) fn new(locations: Locations) -> LineStarts {
        LineStarts { locations, starts: FxHashMap::default() }
    }

    /// A location with its content interned: a place in a text becomes file, line and column (in bytes, from
    /// 1), with the name of the value defined there, if names are shown.
    pub(super) fn interned(&mut self, ctx: &Context, location: Location) -> Location {
        let Some(offset) = location.source_offset() else { return location };
        let Some(source) = ctx.source_at(offset) else { return Location::UNKNOWN };
        let starts = self.starts.entry(source.start).or_insert_with(|| {
            let ends = source.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect()
        });
        let offset = offset - source.start;
        let line = starts.partition_point(|start| *start <= offset);
        let column = offset - starts[line - 1] + 1;
        let file = ctx.ident(&source.name);
        let place = LocationData::FileLineCol { file, line: line as u32, column, end: None };
        let child = ctx.location(place);
        match ctx.location_name(location).filter(|_| self.locations == Locations::Named) {
            Some(name) => ctx.location(LocationData::Name { name: ctx.ident(name), child }),
            None => child,
        }
    }
}
