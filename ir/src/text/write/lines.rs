//! Which line and column a place in a text that was read has.

use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::entities::Location;
use crate::location::LocationData;

/// Where the lines of texts begin, found once for each text.
#[derive(Default)]
pub(super) struct LineStarts {
    /// By a text's first place: offsets in it at which lines begin.
    starts: FxHashMap<u32, Vec<u32>>,
}

impl LineStarts {
    /// A location with its content interned: a place in a text becomes file, line and column (in bytes, from
    /// 1).
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
        ctx.location(LocationData::FileLineCol { file, line: line as u32, column, end: None })
    }
}
