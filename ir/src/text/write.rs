//! The printer: module to text.
//!
//! The writer fills a buffer and flushes it between operations. Types and attributes with a name in the
//! module's text are written by name. Values are numbered beforehand, in the order in which MLIR's printer
//! visits them ([`names`]).

use std::fmt::{self, Write};

use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;

use super::{Locations, PrintForm, PrintOptions, ResourceText};
use crate::body::{Body, OpRef, ValueDef};
use crate::context::Context;
use crate::entities::{Attr, Block, Location, Op, Region, Value};
use crate::module::Module;

mod affine;
mod aliases;
mod attrs;
mod buffer;
mod dense;
mod endings;
mod flow;
mod lines;
mod locations;
mod metadata;
mod names;
mod pretty;
mod syntax;
mod types;

use aliases::{AliasNames, AliasSubject, DefinitionTime};
use buffer::TextBuffer;
use endings::{Endings, TextRange};
use lines::LineStarts;
use names::{Named, Numbering, ValueNumbers};

/// The most bytes of a type or attribute in a message.
pub(super) const SHORT: usize = 200;

/// The buffer is flushed at this length, in bytes.
const CHUNK: usize = 1 << 16;

/// Text that is being written.
pub(super) struct TextWriter<'m> {
    ctx: &'m Context,
    options: PrintOptions,
    buffer: TextBuffer,
    /// Types and attributes are truncated at this length.
    limit: usize,
    names: ValueNumbers,
    indent: usize,
    /// Numbers of distinct attributes, in the order of their first appearance.
    distinct: FxHashMap<Attr, usize>,
    aliases: AliasNames,
    endings: Endings,
    lines: LineStarts,
}

/// A body whose operations are written, with its index among all bodies.
#[derive(Clone, Copy)]
struct WrittenBody<'m> {
    body: &'m Body,
    number: u32,
}

/// Writes a module.
pub(super) fn module(module: &Module, options: &PrintOptions, out: &mut dyn Write) -> fmt::Result {
    let mut writer = TextWriter::new(&module.ctx, *options, usize::MAX);
    let op = module.op();
    writer.names = ValueNumbers::of_op(&module.top, op, Numbering::of(options.form));
    writer.aliases = AliasNames::of(module, options.locations, &mut writer.lines);
    writer.definitions(DefinitionTime::Before);
    writer.op(WrittenBody { body: &module.top, number: 0 }, op, out)?;
    writer.buffer.push('\n');
    writer.definitions(DefinitionTime::Behind);
    if options.resources == ResourceText::Kept {
        writer.metadata(&module.resources);
    }
    out.write_str(writer.buffer.as_str())
}

/// The regions of an isolated operation.
pub(super) fn body(ctx: &Context, body: &Body) -> String {
    let mut writer = TextWriter::new(ctx, PrintOptions::default(), usize::MAX);
    writer.names = ValueNumbers::of_body(body, Numbering::PerScope);
    let mut text = String::new();
    for &region in body.roots() {
        writer
            .region(WrittenBody { body, number: 0 }, region, BlockHeader::Arguments, &mut text)
            .expect("a string takes all text");
        writer.buffer.push('\n');
    }
    text + writer.buffer.as_str()
}

/// The output of `write`, truncated to `limit` bytes.
pub(super) fn whole(ctx: &Context, limit: usize, write: impl FnOnce(&mut TextWriter<'_>)) -> String {
    let mut writer = TextWriter::new(ctx, PrintOptions::default(), limit);
    write(&mut writer);
    let mut text = writer.buffer.as_str().to_owned();
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push_str("...");
    }
    text
}

/// Whether a region's entry block gets a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockHeader {
    /// If it has arguments or predecessors.
    Arguments,
    /// If it has arguments, no operations, or predecessors.
    ArgumentsOrEmpty,
    /// No: its arguments are shown outside.
    Never,
    /// No, and a final yield of nothing is omitted.
    Bare,
}

impl<'m> TextWriter<'m> {
    fn new(ctx: &'m Context, options: PrintOptions, limit: usize) -> TextWriter<'m> {
        TextWriter {
            ctx,
            options,
            buffer: TextBuffer::default(),
            limit,
            names: ValueNumbers::default(),
            indent: 0,
            distinct: FxHashMap::default(),
            aliases: AliasNames::default(),
            endings: Endings::default(),
            lines: LineStarts::new(options.locations),
        }
    }

    /// `#name = ...` and `!name = ...`, each on its line.
    fn definitions(&mut self, turn: DefinitionTime) {
        for (subject, _) in self.aliases.order.clone().into_iter().filter(|entry| entry.1 == turn) {
            self.alias(subject);
            self.buffer.push_str(" = ");
            match subject {
                AliasSubject::Attr(attr) => self.attr_itself(attr),
                AliasSubject::Type(ty) => self.type_itself(ty),
                AliasSubject::Location(location) => self.location_itself(location),
            }
            self.buffer.push('\n');
        }
    }

    /// Writes the alias of a subject, if it has one.
    fn alias(&mut self, subject: AliasSubject) -> bool {
        let Some(name) = self.aliases.get(subject) else { return false };
        self.buffer.push_str(name);
        true
    }

    /// Adds formatted text.
    fn put(&mut self, text: fmt::Arguments<'_>) {
        self.buffer.write_fmt(text).expect("a string takes all text");
    }

    /// Writes items with commas between them.
    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        for (index, one) in items.into_iter().enumerate() {
            if index > 0 {
                self.buffer.push_str(", ");
            }
            item(self, one);
        }
    }

    fn start_line(&mut self) {
        const BLANKS: &str = "                                                                ";
        let mut count = self.indent * 2;
        while count > BLANKS.len() {
            self.buffer.push_str(BLANKS);
            count -= BLANKS.len();
        }
        self.buffer.push_str(&BLANKS[..count]);
    }

    /// An operation with its results, without the end of its line.
    fn op(&mut self, scope: WrittenBody<'m>, op: Op, out: &mut dyn Write) -> fmt::Result {
        if self.buffer.len() > CHUNK {
            out.write_str(self.buffer.as_str())?;
            self.buffer.truncate(0);
        }
        self.start_line();
        let count = scope.body.result_count(op);
        if count > 0 {
            self.buffer.push('%');
            self.names.write_value(scope.number, scope.body.result(op, 0), &mut self.buffer);
            if count > 1 {
                self.put(format_args!(":{count}"));
            }
            self.buffer.push_str(" = ");
        }
        let is_pretty = self.options.form == PrintForm::Pretty && self.pretty_op(scope, op, out)?;
        if !is_pretty {
            self.generic_op(scope, op, out)?;
        }
        self.trailing_location(scope.body.location(op));
        Ok(())
    }

    /// `%x`, `%x#1`.
    fn value(&mut self, scope: WrittenBody<'m>, value: Value) {
        self.buffer.push('%');
        if self.names.write_value(scope.number, value, &mut self.buffer) == Named::WithOthers
            && let ValueDef::Result(_, index) = scope.body.def(value)
        {
            self.buffer.push('#');
            self.buffer.push_number(index as u32);
        }
    }

    fn operands(&mut self, scope: WrittenBody<'m>, op: Op) {
        self.list(scope.body.operands(op), |writer, value| writer.value(scope, value));
    }

    fn block_name(&mut self, scope: WrittenBody<'m>, block: Block) {
        let number = self.names.block(scope.number, block);
        self.put(format_args!("^bb{number}"));
    }

    fn successors(&mut self, scope: WrittenBody<'m>, op: Op) {
        let successors = scope.body.successors(op);
        if !successors.is_empty() {
            self.buffer.push('[');
            self.list(successors, |writer, successor| writer.block_name(scope, successor.block));
            self.buffer.push(']');
        }
    }

    /// `"name"(operands)[successors] <{properties}> (regions) {attributes} : (types) -> types`.
    fn generic_op(&mut self, scope: WrittenBody<'m>, op: Op, out: &mut dyn Write) -> fmt::Result {
        let body = scope.body;
        if body.is_plain(op)
            && let Some((head, tail)) = self.endings.find(body, op)
        {
            self.endings.write(head, &mut self.buffer);
            self.operands(scope, op);
            self.endings.write(tail, &mut self.buffer);
            return Ok(());
        }
        let start = self.buffer.len();
        self.quoted(self.ctx.op_name_str(body.name(op)).as_bytes());
        self.buffer.push('(');
        let head = TextRange { start, end: self.buffer.len() };
        self.operands(scope, op);
        let start = self.buffer.len();
        self.buffer.push(')');
        self.successors(scope, op);
        let properties = body.properties(op);
        if properties != Attr::EMPTY {
            self.buffer.push_str(" <");
            self.attr(properties);
            self.buffer.push('>');
        }
        self.region_list(scope, op, out)?;
        let attrs = body.attrs(op);
        if attrs != Attr::EMPTY {
            self.buffer.push(' ');
            self.attr(attrs);
        }
        self.buffer.push_str(" : ");
        self.signature(body, op);
        if body.is_plain(op) {
            let tail = TextRange { start, end: self.buffer.len() };
            self.endings.keep(body, op, &self.buffer, head, tail);
        }
        Ok(())
    }

    /// ` ({...}, {...})`, if the operation has regions.
    fn region_list(&mut self, scope: WrittenBody<'m>, op: Op, out: &mut dyn Write) -> fmt::Result {
        let (inside, regions) = self.regions(scope, op);
        if regions.is_empty() {
            return Ok(());
        }
        self.buffer.push_str(" (");
        for (index, &region) in regions.iter().enumerate() {
            if index > 0 {
                self.buffer.push_str(", ");
            }
            self.region(inside, region, BlockHeader::ArgumentsOrEmpty, out)?;
        }
        self.buffer.push(')');
        Ok(())
    }

    /// The regions of an operation, and the body that contains them.
    fn regions(&self, scope: WrittenBody<'m>, op: Op) -> (WrittenBody<'m>, &'m [Region]) {
        match scope.body.child(op) {
            Some(body) => (WrittenBody { body, number: self.names.child(scope.number, op) }, body.roots()),
            None => (scope, scope.body.regions(op)),
        }
    }

    /// `(types) -> types`.
    fn signature(&mut self, body: &Body, op: Op) {
        self.buffer.push('(');
        self.list(body.operands(op), |writer, value| writer.ty(body.ty(value)));
        self.buffer.push_str(") -> ");
        self.result_types(body.results(op).map(|value| body.ty(value)));
    }

    /// `{`, the blocks, `}`.
    fn region(
        &mut self,
        scope: WrittenBody<'m>,
        region: Region,
        header: BlockHeader,
        out: &mut dyn Write,
    ) -> fmt::Result {
        let body = scope.body;
        self.buffer.push_str("{\n");
        let blocks = body.blocks(region);
        let predecessors = predecessors(body, blocks, |block| self.names.block(scope.number, block));
        for (index, &block) in blocks.iter().enumerate() {
            let from: &[u32] = predecessors.get(&block).map_or(&[], |found| found);
            let is_named = !body.args(block).is_empty() || !from.is_empty();
            let has_header = match header {
                _ if index > 0 => true,
                BlockHeader::Arguments => is_named,
                BlockHeader::ArgumentsOrEmpty => is_named || body.first_op(block).is_none(),
                BlockHeader::Never | BlockHeader::Bare => false,
            };
            if has_header {
                self.block_header(scope, block, index, from);
            }
            self.indent += 1;
            for op in body.ops(block) {
                if header == BlockHeader::Bare && self.is_bare_end(OpRef::new(self.ctx, body, op)) {
                    break;
                }
                self.op(scope, op, out)?;
                self.buffer.push('\n');
            }
            self.indent -= 1;
        }
        self.start_line();
        self.buffer.push('}');
        Ok(())
    }

    /// `^bb1(%0: type):  // pred: ^bb0`.
    fn block_header(&mut self, scope: WrittenBody<'m>, block: Block, index: usize, predecessors: &[u32]) {
        self.start_line();
        self.block_name(scope, block);
        let args = scope.body.args(block);
        if !args.is_empty() {
            self.buffer.push('(');
            self.list(args, |writer, arg| {
                writer.value(scope, *arg);
                writer.buffer.push_str(": ");
                writer.ty(scope.body.ty(*arg));
                writer.arg_location(scope.body, *arg);
            });
            self.buffer.push(')');
        }
        self.buffer.push(':');
        match predecessors {
            [] if index > 0 => self.buffer.push_str("  // no predecessors"),
            [] => {}
            [one] => self.put(format_args!("  // pred: ^bb{one}")),
            many => {
                self.put(format_args!("  // {} preds: ", many.len()));
                self.list(many, |writer, number| writer.put(format_args!("^bb{number}")));
            }
        }
        self.buffer.push('\n');
    }

    /// ` loc(...)`, if locations are shown.
    fn trailing_location(&mut self, location: Location) {
        if self.options.locations != Locations::Hidden {
            self.buffer.push(' ');
            self.location(location);
        }
    }
}

/// The numbers of the predecessors of each block, sorted, one for each edge.
fn predecessors(body: &Body, blocks: &[Block], number: impl Fn(Block) -> u32) -> FxHashMap<Block, Vec<u32>> {
    let mut found: FxHashMap<Block, Vec<u32>> = FxHashMap::default();
    for &block in blocks {
        let Some(last) = body.last_op(block) else { continue };
        for successor in body.successors(last) {
            found.entry(successor.block).or_default().push(number(block));
        }
    }
    for block in blocks {
        if let Some(numbers) = found.get_mut(block) {
            numbers.sort_unstable();
        }
    }
    found
}

/// The index of an entity as a table index.
fn index_of(entity: impl EntityRef) -> usize {
    entity.index()
}
