//! A document that is open in an editor: its text and its analysis.

use std::ops::Range;
use std::sync::Arc;

use ir::opdef::Traits;
use ir::text::index::{NameSite, TextIndex, TextOpId};
use ir::text::{EditedText, ParseOptions, parse_indexed};
use ir::{Context, Module};
use passes::manager::Pipeline;
use serde_json::{Value, json};

use super::protocol::{ContentChange, Span, TextPosition};
use crate::lit;
use crate::opt::{OptArgs, Setup, part_ranges};

/// A document, with the analysis of its current text.
pub(super) struct Document {
    pub text: String,
    /// The start of each line.
    lines: Vec<usize>,
    /// The names and operations of the programs; none until requested for the current text.
    parts: Option<Vec<Part>>,
    /// The state of each program's functions, for incremental errors.
    edited: Vec<EditedText>,
}

/// A program in a document: the whole text, or the text between lines `// -----`.
pub(super) struct Part {
    /// Its start in the document.
    pub start: usize,
    /// Its length in bytes.
    pub length: usize,
    pub ctx: Arc<Context>,
    /// None if the text has errors.
    pub module: Option<Module>,
    pub index: TextIndex,
}

impl Document {
    pub(super) fn new(text: String) -> Document {
        let lines = line_starts(&text);
        Document { text, lines, parts: None, edited: Vec::new() }
    }

    /// Applies an edit.
    pub(super) fn change(&mut self, change: &ContentChange) {
        match change.range {
            Some(span) => {
                let range = self.bytes(span);
                self.text.replace_range(range, &change.text);
            }
            None => self.text.clone_from(&change.text),
        }
        self.lines = line_starts(&self.text);
        self.parts = None;
    }

    /// Parses the programs of the text, if it changed since the last time.
    pub(super) fn read(&mut self, setup: &Setup) {
        if self.parts.is_some() {
            return;
        }
        let options = self.parse_options();
        let read = |range: Range<usize>| {
            let ctx = setup.context();
            let indexed = parse_indexed(&ctx, "text", self.text[range.clone()].to_owned(), &options);
            let module = indexed.module.ok().filter(|module| ir::verify::verify(module).is_ok());
            Part { start: range.start, length: range.len(), ctx, module, index: indexed.index }
        };
        self.parts = Some(part_ranges(&self.text).into_iter().map(read).collect());
    }

    /// The parse options of the first line.
    pub(super) fn parse_options(&self) -> ParseOptions {
        self.run_line().map(|line| line.args.parse_options()).unwrap_or_default()
    }

    /// The parsed programs.
    pub(super) fn parts(&self) -> &[Part] {
        self.parts.as_deref().unwrap_or_default()
    }

    /// The program at a byte.
    pub(super) fn part_at(&self, at: usize) -> Option<&Part> {
        self.parts().iter().find(|part| (part.start..=part.start + part.length).contains(&at))
    }

    /// All errors of the text, as the protocol's `Diagnostic`s. Functions that are unchanged since the last
    /// call are not parsed again.
    pub(super) fn diagnostics(&mut self, setup: &Setup) -> Vec<Value> {
        let options = self.parse_options();
        let mut edited = std::mem::take(&mut self.edited);
        let mut said = Vec::new();
        let ranges = part_ranges(&self.text);
        edited.truncate(ranges.len());
        for (number, range) in ranges.into_iter().enumerate() {
            let text = &self.text[range.clone()];
            let fresh = || EditedText::new(setup.context(), options);
            match edited.get_mut(number) {
                Some(known) if known.can_read(text, &options) => {}
                Some(known) => *known = fresh(),
                None => edited.push(fresh()),
            }
            let edited = &mut edited[number];
            for fault in edited.read("text", text) {
                said.push(self.fault(edited.ctx(), range.start, &fault));
            }
        }
        self.edited = edited;
        if let Some(RunLine { args, pipeline }) = self.run_line() {
            let ctx = setup.context();
            for fault in Pipeline::parse(&ctx, &args.passes, &setup.registry).err().unwrap_or_default() {
                let marked = ir::diag::marked_span(&ctx, fault.location, fault.length).unwrap_or(0..0);
                let range = pipeline.start + marked.start..pipeline.start + marked.end;
                let help = fault.help.iter().map(|help| format!("\nhelp: {help}"));
                said.push(self.diagnostic(range, &(fault.message.clone() + &help.collect::<String>())));
            }
        }
        said
    }

    /// An error of a program that begins at byte `start`.
    fn fault(&self, ctx: &Context, start: usize, fault: &ir::Diagnostic) -> Value {
        let marked = ir::diag::marked_span(ctx, fault.location, fault.length);
        let range = marked.map_or(0..0, |range| start + range.start..start + range.end);
        let mut message = fault.message.clone();
        message.extend(fault.help.iter().map(|help| format!("\nhelp: {help}")));
        message.extend(fault.note_texts(ctx).iter().map(|note| format!("\nnote: {note}")));
        self.diagnostic(range, &message)
    }

    fn diagnostic(&self, range: Range<usize>, message: &str) -> Value {
        json!({ "range": self.span(range), "severity": 1, "source": "optc", "message": message })
    }

    /// The command of the first line, if it is one.
    fn run_line(&self) -> Option<RunLine> {
        let line = self.text.lines().next()?;
        let words = lit::run_line_words(line)?;
        let args = OptArgs::parse(words.get(1..)?).ok()?;
        let start = line.find("--passes=").map_or(0, |at| at + "--passes=".len());
        let start = start + line[start..].find(&args.passes)?;
        let pipeline = start..start + args.passes.len();
        Some(RunLine { args, pipeline })
    }

    /// The byte range of a span.
    pub(super) fn bytes(&self, span: Span) -> Range<usize> {
        let start = self.offset(span.start);
        start..self.offset(span.end).max(start)
    }

    /// The byte of a position; if there is no such position, the end of the line or of the text.
    pub(super) fn offset(&self, position: TextPosition) -> usize {
        let Some(&start) = self.lines.get(position.line as usize) else { return self.text.len() };
        let line = self.line_text(position.line as usize);
        let mut units = 0;
        for (at, character) in line.char_indices() {
            if units >= position.character as usize {
                return start + at;
            }
            units += character.len_utf16();
        }
        start + line.len()
    }

    /// A line without its end.
    pub(super) fn line_text(&self, line: usize) -> &str {
        let start = self.lines[line];
        let end = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The position of a byte.
    pub(super) fn position(&self, at: usize) -> TextPosition {
        let at = self.text.floor_char_boundary(at.min(self.text.len()));
        let line = self.lines.partition_point(|start| *start <= at) - 1;
        let before = &self.text[self.lines[line]..at];
        TextPosition { line: line as u32, character: before.encode_utf16().count() as u32 }
    }

    /// The span of a byte range.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        Span { start: self.position(range.start), end: self.position(range.end) }
    }
}

/// The first line of a test.
struct RunLine {
    args: OptArgs,
    /// The range of the pipeline in the text.
    pipeline: Range<usize>,
}

impl Part {
    /// A byte range of the part, as one of the document.
    pub(super) fn in_document(&self, range: &Range<usize>) -> Range<usize> {
        self.start + range.start..self.start + range.end
    }

    /// The name at a byte of the document.
    pub(super) fn name_at(&self, at: usize) -> Option<&NameSite> {
        self.index.name_at(at.checked_sub(self.start)?)
    }

    /// Whether names in an operation have no meaning outside it.
    pub(super) fn is_isolated(&self, op: TextOpId) -> bool {
        let def = self.index.ops[op].op.as_ref().and_then(|op| self.ctx.def(op.name));
        def.is_some_and(|def| def.traits.contains(Traits::ISOLATED))
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}
