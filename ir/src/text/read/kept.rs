//! Reuse of isolated operations whose bytes an edit of the text did not change.
//!
//! The meaning of such an operation depends on its bytes, on the aliases defined before it, on its nesting
//! depth, and on the token after it (which might have been its location). If all these are the same, its
//! tables are taken over from the last parse, and its locations are moved. Operations that change the
//! parser's state (a name in an opaque type that denotes nothing, a distinct attribute) are parsed each time,
//! and so are those with a location in the text.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHasher};

use super::TextReader;
use super::values::OpenBody;
use crate::body::{Body, OpParts};
use crate::context::Context;
use crate::entities::{Block, Location, Op};
use crate::opdef::Traits;

/// The most bytes after a token that the lexer reads to find the token's end.
const LOOKAHEAD: usize = 3;

/// An isolated operation that was parsed without errors.
pub(in crate::text) struct KeptOp {
    mark: ReadMark,
    parts: OpParts,
    body: Body,
}

/// Where an isolated operation was parsed, and the context it depends on. Places are bytes of the text.
#[derive(Clone)]
struct ReadMark {
    /// The range from its first byte to its end.
    span: Range<usize>,
    /// The end of the token after it.
    next_end: usize,
    depth: u32,
    /// The aliases defined before it, as [`Rereading::aliases`].
    aliases: u64,
    location: Location,
}

/// The data of the last parse that the current one uses, and the data recorded for the next.
#[derive(Default)]
pub(in crate::text) struct Rereading {
    /// Operations that may be taken over, by their first byte in the current text.
    kept: FxHashMap<usize, KeptOp>,
    marks: Vec<ReadMark>,
    /// A fingerprint of the texts of the aliases defined so far.
    aliases: u64,
    pub taken_over: usize,
}

/// The parser's state that an operation may change for later ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ReaderState {
    undefined: usize,
    distinct: usize,
    wide_bytes: usize,
    has_deferred: bool,
}

impl Rereading {
    /// Prepares the parse of a text that shares its first `prefix` bytes and its last `suffix` bytes with the
    /// text of the kept operations. That text had `old_length` bytes; this one has `length`.
    pub(in crate::text) fn new(
        kept: Vec<KeptOp>,
        [prefix, suffix]: [usize; 2],
        [old_length, length]: [usize; 2],
    ) -> Rereading {
        let is_same = prefix == old_length.max(length);
        let moved = |mut op: KeptOp| {
            let Range { start, end } = op.mark.span;
            if op.mark.next_end + LOOKAHEAD > prefix && !is_same {
                if start < old_length - suffix {
                    return None;
                }
                let after = |place: usize| place + length - old_length;
                op.mark.span = after(start)..after(end);
                op.mark.next_end = after(op.mark.next_end);
            }
            Some((op.mark.span.start, op))
        };
        Rereading { kept: kept.into_iter().filter_map(moved).collect(), ..Rereading::default() }
    }

    /// Takes the operations that need not be parsed again out of a body, and of the modules in it.
    pub(in crate::text) fn harvest(&mut self, ctx: &Context, body: &mut Body) -> Vec<KeptOp> {
        let marks = std::mem::take(&mut self.marks).into_iter();
        let mut marks: FxHashMap<Location, ReadMark> = marks.map(|mark| (mark.location, mark)).collect();
        let mut found = Vec::new();
        take_kept(ctx, body, &mut marks, &mut found);
        found
    }
}

fn take_kept(
    ctx: &Context,
    body: &mut Body,
    marks: &mut FxHashMap<Location, ReadMark>,
    found: &mut Vec<KeptOp>,
) {
    let ops: Vec<Op> = body.children().map(|(op, _)| op).collect();
    for op in ops {
        let OpParts { name, properties, attrs, location } = OpParts {
            name: body.name(op),
            properties: body.properties(op),
            attrs: body.attrs(op),
            location: body.location(op),
        };
        let child = body.child_mut(op).expect("an operation with a child");
        match marks.remove(&location) {
            Some(mark) => {
                let body = std::mem::replace(child, Body::new(0));
                found.push(KeptOp { mark, parts: OpParts { name, properties, attrs, location }, body });
            }
            None if ctx.def(name).is_some_and(|def| def.traits.contains(Traits::SYMBOL_TABLE)) => {
                take_kept(ctx, child, marks, found);
            }
            None => {}
        }
    }
}

impl KeptOp {
    /// The range of the operation in the text.
    pub(in crate::text) fn span(&self) -> Range<usize> {
        self.mark.span.clone()
    }

    /// The operation's own tables.
    pub(in crate::text) fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

impl<'c> TextReader<'c> {
    pub(super) fn state(&self) -> ReaderState {
        ReaderState {
            undefined: self.undefined.len(),
            distinct: self.distinct.len(),
            wide_bytes: self.wide_bytes,
            has_deferred: self.has_deferred,
        }
    }

    /// Takes over the operation that begins here, if it need not be parsed again.
    pub(super) fn take_over(&mut self, frame: &mut OpenBody<'c>, block: Block) -> Option<Op> {
        let rereading = self.rereading.as_mut()?;
        let KeptOp { mut mark, mut parts, mut body } = rereading.kept.remove(&self.token.start)?;
        if mark.depth != self.depth || mark.aliases != rereading.aliases {
            return None;
        }
        let location = Location::at_source(self.base + self.token.start as u32);
        let offset = |location: Location| location.source_offset().expect("a place of the text");
        body.move_locations(offset(mark.location), mark.span.len(), offset(location));
        mark.location = location;
        parts.location = location;
        let end = mark.span.end;
        rereading.marks.push(mark);
        rereading.taken_over += 1;
        let op = frame.body.make(parts, &[], &[]);
        frame.body.set_child(op, body);
        frame.body.append(op, block);
        self.resume(end);
        Some(op)
    }

    /// Records the place of the last operation, which was parsed from byte `start` on without errors, if it
    /// may be taken over the next time. `before` is the parser's state before it.
    pub(super) fn note_kept(
        &mut self,
        frame: &OpenBody<'c>,
        block: Block,
        start: usize,
        before: ReaderState,
    ) {
        if self.rereading.is_none() || self.state() != before || before.has_deferred || before.distinct > 0 {
            return;
        }
        let Some(op) = frame.body.last_op(block) else { return };
        let body = &frame.body;
        let is_table =
            self.ctx.def(body.name(op)).is_none_or(|def| def.traits.contains(Traits::SYMBOL_TABLE));
        let is_alone = body.result_count(op) == 0 && body.operand_count(op) == 0;
        if is_table || !is_alone || body.child(op).is_none() || body.location(op) != self.location(start) {
            return;
        }
        let location = self.location(start);
        let mark = ReadMark {
            span: start..self.passed,
            next_end: self.token.end,
            depth: self.depth,
            aliases: 0,
            location,
        };
        let rereading = self.rereading.as_mut().expect("asked above");
        rereading.marks.push(ReadMark { aliases: rereading.aliases, ..mark });
    }

    /// Records the definition of an alias, by the text from byte `start` to here.
    pub(super) fn note_alias(&mut self, start: usize) {
        let text = self.text.get(start..self.passed);
        if let Some(rereading) = &mut self.rereading {
            let mut hasher = FxHasher::default();
            (rereading.aliases, text).hash(&mut hasher);
            rereading.aliases = hasher.finish();
        }
    }
}
