//! A document that is open in an editor: its text, and what is known of it.

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

/// A document, and what is known of its present text.
pub(super) struct Document {
    pub text: String,
    /// Where each line begins.
    lines: Vec<usize>,
    /// What names and operations the programs have; none until that is asked of the present text.
    parts: Option<Vec<Part>>,
    /// What is known of the functions of each program, for their faults.
    edited: Vec<EditedText>,
}

/// A program in a document: all of it, or what stands between lines `// -----`.
pub(super) struct Part {
    /// Where it begins in the document.
    pub start: usize,
    /// Its length in bytes.
    pub length: usize,
    pub ctx: Arc<Context>,
    /// None if the text is at fault.
    pub module: Option<Module>,
    pub index: TextIndex,
}

impl Document {
    pub(super) fn new(text: String) -> Document {
        let lines = line_starts(&text);
        Document { text, lines, parts: None, edited: Vec::new() }
    }

    /// Puts in what was typed.
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

    /// Reads the programs of the text, if it was changed since they were read.
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

    /// How the first line says that the text is read.
    pub(super) fn parse_options(&self) -> ParseOptions {
        self.run_line().map(|line| line.args.parse_options()).unwrap_or_default()
    }

    /// The programs that were read.
    pub(super) fn parts(&self) -> &[Part] {
        self.parts.as_deref().unwrap_or_default()
    }

    /// The program at a byte.
    pub(super) fn part_at(&self, at: usize) -> Option<&Part> {
        self.parts().iter().find(|part| (part.start..=part.start + part.length).contains(&at))
    }

    /// All faults of the text, as the protocol's `Diagnostic`s. Functions that are as they were when this was
    /// last asked are not read again.
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

    /// A fault of a program that begins at byte `start`.
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

    /// What the first line says is run on the text, if it says that.
    fn run_line(&self) -> Option<RunLine> {
        let line = self.text.lines().next()?;
        let words = lit::run_line_words(line)?;
        let args = OptArgs::parse(words.get(1..)?).ok()?;
        let start = line.find("--passes=").map_or(0, |at| at + "--passes=".len());
        let start = start + line[start..].find(&args.passes)?;
        let pipeline = start..start + args.passes.len();
        Some(RunLine { args, pipeline })
    }

    /// The bytes from one place to another.
    pub(super) fn bytes(&self, span: Span) -> Range<usize> {
        let start = self.offset(span.start);
        start..self.offset(span.end).max(start)
    }

    /// The byte of a place; the end of the line, or of the text, where it has no such place.
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

    /// The place of a byte.
    pub(super) fn position(&self, at: usize) -> TextPosition {
        let at = self.text.floor_char_boundary(at.min(self.text.len()));
        let line = self.lines.partition_point(|start| *start <= at) - 1;
        let before = &self.text[self.lines[line]..at];
        TextPosition { line: line as u32, character: before.encode_utf16().count() as u32 }
    }

    /// The places of some bytes.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        Span { start: self.position(range.start), end: self.position(range.end) }
    }
}

/// The first line of a test.
struct RunLine {
    args: OptArgs,
    /// Where the pipeline stands in the text.
    pipeline: Range<usize>,
}

impl Part {
    /// Bytes of the part, as bytes of the document.
    pub(super) fn in_document(&self, range: &Range<usize>) -> Range<usize> {
        self.start + range.start..self.start + range.end
    }

    /// The name at a byte of the document.
    pub(super) fn name_at(&self, at: usize) -> Option<&NameSite> {
        self.index.name_at(at.checked_sub(self.start)?)
    }

    /// Whether names in an operation stand for nothing outside it.
    pub(super) fn is_isolated(&self, op: TextOpId) -> bool {
        let def = self.index.ops[op].op.as_ref().and_then(|op| self.ctx.def(op.name));
        def.is_some_and(|def| def.traits.contains(Traits::ISOLATED))
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}
