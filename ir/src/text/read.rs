//! The parser: text to module.
//!
//! This is a recursive descent parser over tokens, in one pass, without backtracking except inside opaque
//! types. Nesting is bounded ([`MAX_DEPTH`]), also through aliases, so that no text can exhaust the stack of
//! the parser or of a later walk. Semantic errors (an unknown value, a wrong count) are recorded, and parsing
//! continues; a syntax error ends it. Then the text is parsed once more, to find all its errors: this time
//! parsing continues with the operation after the faulty one (`recover`).

use std::fmt::Display;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::index::TextIndex;
use super::lexer::{self, Token, TokenKind};
use super::{IndexedText, ParseOptions};
use crate::body::Body;
use crate::context::Context;
use crate::diag::{Diagnostic, MOST_FAULTS};
use crate::entities::{Attr, Location, Type};
use crate::module::{Aliases, Module, Resource};
use crate::source::SourceText;

mod affine;
mod attrs;
mod dense;
mod dims;
mod early;
mod flow;
mod kept;
mod lines;
mod locations;
mod memo;
mod metadata;
mod numbers;
mod opaque;
mod ops;
mod pretty;
mod record;
mod recover;
mod regions;
mod syntax;
mod top;
mod types;
mod values;

use memo::Memo;

pub(super) use dense::element_bytes;
pub(super) use kept::{KeptOp, Rereading};

/// The maximal nesting depth of brackets, regions and aliases.
pub(super) const MAX_DEPTH: u32 = 256;

/// A syntax error that is already recorded.
#[derive(Debug)]
pub(super) struct Failed;

/// The meaning of a piece of text, or a syntax error.
pub(super) type Read<T> = Result<T, Failed>;

/// The state of the parser of a text.
pub(super) struct TextReader<'c> {
    ctx: &'c Context,
    options: &'c ParseOptions,
    text: &'c str,
    /// The start of the text in the numbering of source offsets.
    base: u32,
    token: Token,
    /// The end of the previous token.
    passed: usize,
    depth: u32,
    /// The greatest depth since the start of the current alias definition.
    deepest: u32,
    diagnostics: Vec<Diagnostic>,
    attr_aliases: FxHashMap<&'c str, Alias<Attr>>,
    type_aliases: FxHashMap<&'c str, Alias<Type>>,
    aliases: Aliases,
    /// Names, with their sigils, in the texts of opaque types and attributes that denote nothing.
    undefined: FxHashSet<&'c str>,
    resources: Vec<Resource>,
    /// Whether a location's alias was used before its definition.
    has_deferred: bool,
    distinct: FxHashMap<u64, Attr>,
    seen: early::SeenBodies,
    memo: Memo<'c>,
    lines: lines::SeenLines<'c>,
    /// Bytes of wide elements parsed so far.
    wide_bytes: usize,
    /// Values with a number of at least this are treated like other names.
    number_limit: usize,
    /// Operands of the current line; kept to reuse the allocation.
    numbers: Vec<lines::ScannedName>,
    /// Operands of the current operation; kept to reuse the allocation.
    mentions: Vec<values::Mention<'c>>,
    after_fault: AfterFault,
    /// Locations of isolated operations that were parsed without errors.
    sound: FxHashSet<Location>,
    /// Records the places of names, if requested.
    recorder: Option<Box<record::Recorder<'c>>>,
    /// The last parse of the edited text, if there was one.
    rereading: Option<Box<Rereading>>,
}

/// The behaviour after a syntax error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterFault {
    /// Parsing ends.
    Stop,
    /// Parsing continues with the next operation.
    GoOn,
}

/// The meaning of an alias, and its nesting depth.
#[derive(Clone, Copy)]
struct Alias<T> {
    value: T,
    height: u32,
}

/// Parses a module.
pub(super) fn module(
    ctx: &Arc<Context>,
    name: &str,
    text: String,
    options: &ParseOptions,
) -> Result<Module, Vec<Diagnostic>> {
    let source = add_source(ctx, name, text)?;
    let mut reader = TextReader::new(ctx, source, options, AfterFault::Stop);
    reader.whole_module(ctx).map_err(|faults| {
        if faults.len() >= MOST_FAULTS {
            return faults;
        }
        let mut again = TextReader::new(ctx, source, options, AfterFault::GoOn);
        again.whole_module(ctx).err().unwrap_or(faults)
    })
}

/// Parses a module, and records the places of its names.
pub(super) fn indexed(ctx: &Arc<Context>, name: &str, text: String, options: &ParseOptions) -> IndexedText {
    let source = match add_source(ctx, name, text) {
        Ok(source) => source,
        Err(faults) => return IndexedText { module: Err(faults), index: TextIndex::default() },
    };
    let mut reader = TextReader::new(ctx, source, options, AfterFault::GoOn);
    reader.recorder = Some(Box::default());
    let module = reader.whole_module(ctx);
    let mut index = reader.recorder.take().map(|recorder| recorder.index).unwrap_or_default();
    index.add_global_names(&source.text);
    IndexedText { module, index }
}

/// The result of parsing an edited text again.
pub(super) struct ReadAgain {
    /// None if the text was not parsed to its end.
    pub top: Option<Body>,
    /// The errors that [`module`] reports.
    pub faults: Vec<Diagnostic>,
    /// All violations by functions that were parsed without errors.
    pub breaches: Vec<Diagnostic>,
    pub rereading: Rereading,
}

/// Parses an edited text again, and returns its start in the numbering of source offsets. None if there is no
/// room for it.
pub(super) fn again(
    ctx: &Context,
    name: &str,
    text: &str,
    options: &ParseOptions,
    rereading: Rereading,
) -> Option<(u32, ReadAgain)> {
    let source = add_source(ctx, name, text.to_owned()).ok()?;
    let mut reader = TextReader::new(ctx, source, options, AfterFault::GoOn);
    reader.rereading = Some(Box::new(rereading));
    let top = reader.top();
    let rereading = *reader.rereading.take().expect("it was just given");
    let (faults, breaches) = reader.faults(top.as_ref().ok());
    Some((source.start, ReadAgain { top: top.ok(), faults, breaches, rereading }))
}

fn add_source<'c>(ctx: &'c Context, name: &str, text: String) -> Result<&'c SourceText, Vec<Diagnostic>> {
    if ctx.has_room(text.len()) {
        return Ok(ctx.add_source(name, text));
    }
    let message = format!("`{name}` is too long: all texts of a run together hold at most 2 GiB");
    Err(vec![Diagnostic::error(Location::UNKNOWN, message)])
}

/// Parses one item, which must be the whole text.
pub(super) fn whole<T>(
    ctx: &Context,
    text: &str,
    read: impl FnOnce(&mut TextReader<'_>) -> Read<T>,
) -> Result<T, Vec<Diagnostic>> {
    let options = ParseOptions::default();
    let source = add_source(ctx, "<text>", text.to_owned())?;
    let mut reader = TextReader::new(ctx, source, &options, AfterFault::Stop);
    let found = read(&mut reader).and_then(|found| match reader.token.kind {
        TokenKind::End => Ok(found),
        _ => Err(reader.expected("the end of the text")),
    });
    found.map_err(|Failed| reader.diagnostics)
}

impl<'c> TextReader<'c> {
    fn new(
        ctx: &'c Context,
        source: &'c SourceText,
        options: &'c ParseOptions,
        after_fault: AfterFault,
    ) -> TextReader<'c> {
        TextReader {
            ctx,
            options,
            text: &source.text,
            base: source.start,
            token: lexer::next(source.text.as_bytes(), 0),
            passed: 0,
            depth: 0,
            deepest: 0,
            diagnostics: Vec::new(),
            attr_aliases: FxHashMap::default(),
            type_aliases: FxHashMap::default(),
            aliases: Aliases::default(),
            undefined: FxHashSet::default(),
            resources: Vec::new(),
            has_deferred: false,
            distinct: FxHashMap::default(),
            seen: early::SeenBodies::default(),
            memo: Memo::default(),
            lines: lines::SeenLines::default(),
            wide_bytes: 0,
            number_limit: source.text.len() / 8 + 16,
            numbers: Vec::new(),
            mentions: Vec::new(),
            after_fault,
            sound: FxHashSet::default(),
            recorder: None,
            rereading: None,
        }
    }

    /// The whole text, as a module.
    fn whole_module(&mut self, ctx: &Arc<Context>) -> Result<Module, Vec<Diagnostic>> {
        self.open_names();
        let top = self.top();
        self.close_names();
        if self.diagnostics.is_empty() {
            let top = top.expect("a reader that failed has noted why");
            let aliases = std::mem::take(&mut self.aliases);
            let resources = std::mem::take(&mut self.resources);
            return Ok(Module { ctx: ctx.clone(), top, aliases, resources });
        }
        let (faults, _) = self.faults(top.as_ref().ok());
        Err(faults)
    }

    /// The recorded errors and, if the text was not parsed to its end, the violations by functions parsed
    /// without errors; then these violations alone.
    fn faults(&mut self, top: Option<&Body>) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        let mut faults = std::mem::take(&mut self.diagnostics);
        faults.sort_by_key(|diagnostic| diagnostic.location.source_offset());
        let (Some(top), AfterFault::GoOn, false) = (top, self.after_fault, faults.is_empty()) else {
            return (faults, Vec::new());
        };
        let room = MOST_FAULTS.saturating_sub(faults.len());
        let breaches = self.breaches(top);
        let placed = breaches.iter().filter(|breach| breach.location.source_offset().is_some());
        faults.extend(placed.take(room).cloned());
        faults.sort_by_key(|diagnostic| diagnostic.location.source_offset());
        (faults, breaches)
    }

    fn bytes(&self) -> &'c [u8] {
        self.text.as_bytes()
    }

    /// The text of the current token.
    fn spelling(&self) -> &'c str {
        let Token { start, end, .. } = self.token;
        self.text.get(start..end).unwrap_or("")
    }

    /// Moves to the next token, and returns the text of the previous one.
    fn advance(&mut self) -> &'c str {
        let spelling = self.spelling();
        self.passed = self.token.end;
        self.token = lexer::next(self.bytes(), self.token.end);
        spelling
    }

    /// Continues at byte `at`.
    fn resume(&mut self, at: usize) {
        self.passed = at;
        self.token = lexer::next(self.bytes(), at);
    }

    fn is(&self, byte: u8) -> bool {
        self.token.kind == TokenKind::Byte(byte)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token.kind == TokenKind::Word && self.spelling() == word
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.is(byte);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Read<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.expected(format_args!("`{}`", byte as char))) }
    }

    fn expect_kind(&mut self, kind: TokenKind, what: &str) -> Read<&'c str> {
        if self.token.kind == kind { Ok(self.advance()) } else { Err(self.expected(what)) }
    }

    fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(format_args!("`{word}`"))) }
    }

    /// Parses `item`s between commas until `close`, and consumes it.
    fn list(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(close) {
                return Ok(());
            }
            if !self.eat(b',') {
                return Err(self.expected(format_args!("`,` or `{}`", close as char)));
            }
        }
    }

    /// Parses something with a nesting depth one higher.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.reach(1)?;
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Records that an item of this height is at the current place.
    fn reach(&mut self, height: u32) -> Read<()> {
        let depth = self.depth + height;
        self.deepest = self.deepest.max(depth);
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        let start = self.token.start;
        Err(self.fault(start, format!("nests deeper than {MAX_DEPTH}")))
    }

    /// The location of a byte of the text.
    fn location(&self, at: usize) -> Location {
        Location::at_source(self.base + at as u32)
    }

    /// Records an error at a byte, unless there are too many, and continues.
    fn note(&mut self, at: usize, message: impl Into<String>) {
        self.note_fault(Diagnostic::error(self.location(at), message));
    }

    /// Records an error, unless there are too many, and continues.
    fn note_fault(&mut self, fault: Diagnostic) {
        if self.diagnostics.len() < MOST_FAULTS {
            self.diagnostics.push(fault);
        }
    }

    /// Ends parsing once [`MOST_FAULTS`] errors are recorded.
    fn stop_at_most_faults(&mut self) -> Read<()> {
        if self.diagnostics.len() < MOST_FAULTS {
            return Ok(());
        }
        let start = self.token.start;
        Err(self.fault(start, format!("{MOST_FAULTS} errors were found: the rest is not read")))
    }

    /// Records an error at a byte that ends parsing.
    fn fault(&mut self, at: usize, message: impl Into<String>) -> Failed {
        self.diagnostics.push(Diagnostic::error(self.location(at), message));
        Failed
    }

    /// Records that `what` was expected here.
    fn expected(&mut self, what: impl Display) -> Failed {
        let Token { kind, start, .. } = self.token;
        let found = match (kind, self.bytes().get(start)) {
            (TokenKind::End, _) => "the end of the text".to_owned(),
            (TokenKind::Invalid, Some(b'"')) => "a string without its end".to_owned(),
            (TokenKind::Invalid, Some(0)) => "a NUL byte".to_owned(),
            (TokenKind::Invalid, _) => match self.text.get(start..).and_then(|rest| rest.chars().next()) {
                Some(found) => format!("`{}`", found.escape_default()),
                None => "half a character".to_owned(),
            },
            _ => format!("`{}`", shortened(self.spelling())),
        };
        self.fault(start, format!("expected {what}, found {found}"))
    }
}

/// At most 40 characters of a text quoted in a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
