//! Recording of the places of operations, and of the names of values and blocks, during parsing.

use rustc_hash::FxHashMap;

use super::TextReader;
use super::values::Mention;
use crate::entities::{Block, Op, Type, Value};
use crate::text::index::{
    NameKind, NameRole, NameSite, NamedThing, ReadTextOp, TextIndex, TextOp, TextOpId, ThingId,
};

/// The data recorded for a text.
#[derive(Default)]
pub(super) struct Recorder<'c> {
    pub index: TextIndex,
    /// The operations being parsed, the innermost last.
    open: Vec<TextOpId>,
    /// The isolated operations being parsed, the innermost last, and the file.
    scopes: Vec<RecordedScope<'c>>,
}

/// The meanings of names in an isolated operation being parsed.
#[derive(Default)]
struct RecordedScope<'c> {
    op: Option<TextOpId>,
    values: FxHashMap<&'c str, ThingId>,
    /// The indices of occurrences of values before their definition.
    waiting: FxHashMap<&'c str, Vec<usize>>,
    blocks: FxHashMap<Block, ThingId>,
}

impl<'c> Recorder<'c> {
    fn scope(&mut self) -> &mut RecordedScope<'c> {
        self.scopes.last_mut().expect("names stand in a scope")
    }

    fn thing(&mut self, kind: NameKind, values: Option<(Value, u32)>) -> ThingId {
        let scope = self.scope().op;
        let value = values.map(|(first, _)| first);
        let value_count = values.map_or(0, |(_, count)| count);
        self.index.things.push(NamedThing { kind, value, value_count, scope })
    }

    fn site(&mut self, at: usize, name: &str, thing: Option<ThingId>, role: NameRole, ty: Option<Type>) {
        self.index.names.push(NameSite { span: at..at + 1 + name.len(), stands_for: thing, role, ty });
    }

    /// Groups the occurrences of a name without a definition in the text.
    fn name_what_waits(&mut self) {
        let mut waiting: Vec<Vec<usize>> = std::mem::take(&mut self.scope().waiting).into_values().collect();
        waiting.sort_unstable();
        for sites in waiting {
            let thing = self.thing(NameKind::Value, None);
            sites.into_iter().for_each(|site| self.index.names[site].stands_for = Some(thing));
        }
    }
}

impl<'c> TextReader<'c> {
    fn recorder(&mut self) -> Option<&mut Recorder<'c>> {
        self.recorder.as_deref_mut()
    }

    /// Records the start of an operation.
    pub(super) fn open_op_site(&mut self) {
        let start = self.token.start;
        let Some(recorder) = self.recorder() else { return };
        let parent = recorder.open.last().copied();
        let scope = recorder.scope().op;
        let op = TextOp { span: start..start, name_start: start, op: None, parent, scope };
        let op = recorder.index.ops.push(op);
        recorder.open.push(op);
    }

    /// Records the place of the operation's name.
    pub(super) fn note_op_name(&mut self) {
        let start = self.token.start;
        let Some(recorder) = self.recorder() else { return };
        let innermost = *recorder.open.last().expect("an operation is read");
        recorder.index.ops[innermost].name_start = start;
    }

    /// Records the parsed operation.
    pub(super) fn note_op(&mut self, frame: &super::values::OpenBody<'c>, op: Op) {
        let Some(recorder) = self.recorder.as_deref_mut() else { return };
        let body = &frame.body;
        let innermost = *recorder.open.last().expect("an operation is read");
        recorder.index.ops[innermost].op = Some(ReadTextOp {
            name: body.name(op),
            properties: body.properties(op),
            attrs: body.attrs(op),
            handle: op,
        });
    }

    /// Records the end of the operation.
    pub(super) fn close_op_site(&mut self) {
        let end = self.passed;
        let Some(recorder) = self.recorder() else { return };
        let innermost = recorder.open.pop().expect("an operation is read");
        let span = &mut recorder.index.ops[innermost].span;
        span.end = end.max(span.start);
    }

    /// Opens a scope of names for the operation being parsed.
    pub(super) fn open_names(&mut self) {
        let Some(recorder) = self.recorder() else { return };
        let op = recorder.open.last().copied();
        recorder.scopes.push(RecordedScope { op, ..RecordedScope::default() });
    }

    /// Closes this scope.
    pub(super) fn close_names(&mut self) {
        let Some(recorder) = self.recorder() else { return };
        recorder.name_what_waits();
        recorder.scopes.pop();
    }

    /// Records the definition of `count` values, from the first one on; the values of a faulty definition are
    /// unknown.
    pub(super) fn note_definition(
        &mut self,
        name: &'c str,
        at: usize,
        first: Option<(Value, Type)>,
        count: u32,
    ) {
        let Some(recorder) = self.recorder() else { return };
        let thing = recorder.thing(NameKind::Value, first.map(|(value, _)| (value, count)));
        recorder.site(at, name, Some(thing), NameRole::Definition, first.map(|(_, ty)| ty));
        recorder.scope().values.insert(name, thing);
        for site in recorder.scope().waiting.remove(name).unwrap_or_default() {
            recorder.index.names[site].stands_for = Some(thing);
        }
    }

    /// Records a use of a value.
    pub(super) fn note_mention(&mut self, mention: Mention<'c>, ty: Type) {
        let Some(recorder) = self.recorder() else { return };
        let known = recorder.scope().values.get(mention.name).copied();
        if known.is_none() {
            let site = recorder.index.names.len();
            recorder.scope().waiting.entry(mention.name).or_default().push(site);
        }
        recorder.site(mention.at, mention.name, known, NameRole::Mention, Some(ty));
    }

    /// Records that a name is free again.
    pub(super) fn note_end_of_name(&mut self, name: &'c str) {
        if let Some(recorder) = self.recorder() {
            recorder.scope().values.remove(name);
        }
    }

    /// Records an occurrence of a block's name.
    pub(super) fn note_block(&mut self, name: &'c str, at: usize, block: Block, role: NameRole) {
        let Some(recorder) = self.recorder() else { return };
        let known = recorder.scope().blocks.get(&block).copied();
        let thing = known.unwrap_or_else(|| recorder.thing(NameKind::Block, None));
        recorder.scope().blocks.insert(block, thing);
        recorder.site(at, name, Some(thing), role, None);
    }

    /// Records that the symbol at the current place is defined here.
    pub(super) fn note_symbol_definition(&mut self) {
        let start = self.token.start;
        if let Some(recorder) = self.recorder() {
            recorder.index.defined_symbols.insert(start);
        }
    }
}
