//! Diagnostics: errors and remarks about the input, and how they are rendered.
//!
//! ```text
//! error: `nn.relu` expects a tensor of floats, found `tensor<4xi32>`
//!  --> net.mlir:3:8
//!   |
//! 3 |   %0 = nn.relu %arg0 : tensor<4xi32>
//!   |        ^^^^^^^
//!   = help: ...
//! ```

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use indexmap::IndexSet;

use crate::context::Context;
use crate::entities::{Location, OpName};
use crate::location::LocationData;
use crate::source::SourcePosition;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input is rejected.
    Error,
    /// The input is suspicious.
    Warning,
    /// What a pass did, or the reason why it did nothing.
    Remark,
}

/// A message for the user, in lower case: what was found, what was expected, where, and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The place.
    pub location: Location,
    /// The number of source bytes that the caret marks; 0 for the word at the location.
    pub length: u32,
    /// Further places, each with a note.
    pub notes: Vec<(Location, String)>,
    /// A hint: how to correct it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `location`.
    pub fn error(location: Location, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        Diagnostic { severity: Severity::Error, message, location, length: 0, notes: Vec::new(), help: None }
    }

    /// A remark at `location`.
    pub fn remark(location: Location, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Remark, ..Diagnostic::error(location, message) }
    }

    /// Adds a hint.
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a note at a place.
    pub fn with_note(mut self, location: Location, note: impl Into<String>) -> Diagnostic {
        self.notes.push((location, note.into()));
        self
    }

    /// The notes with their places, a line each.
    pub fn note_texts(&self, ctx: &Context) -> Vec<String> {
        let text = |(location, note): &(Location, String)| match describe(ctx, *location) {
            Some(place) => format!("{place}: {note}"),
            None => note.clone(),
        };
        self.notes.iter().map(text).collect()
    }

    /// The rendered text without colours: message, place with a caret under it, notes, hint.
    pub fn render(&self, ctx: &Context) -> String {
        self.render_with(ctx, &Renderer::plain())
    }

    /// The rendered text with colours.
    pub fn render_styled(&self, ctx: &Context) -> String {
        self.render_with(ctx, &Renderer::styled())
    }

    fn render_with(&self, ctx: &Context, renderer: &Renderer) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Remark => Level::NOTE.with_name("remark"),
        };
        let notes = self.note_texts(ctx);
        let place = describe(ctx, self.location);
        let excerpt = excerpt(ctx, self.location, self.length);
        let title = match (&place, &excerpt) {
            (Some(place), None) => format!("{place}: {}", self.message),
            _ => self.message.clone(),
        };
        let mut group = Group::with_title(level.primary_title(title));
        if let Some(Excerpt { name, text, line, span }) = excerpt {
            let snippet = Snippet::source(text).path(name).line_start(line).fold(true);
            group = group.element(snippet.annotation(AnnotationKind::Primary.span(span)));
        }
        for note in &notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// The place of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessagePlace {
    /// In a text.
    Text {
        /// The name of the text.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
    },
    /// An object of this name: a file, or a node or a tensor of a model.
    Named(String),
}

impl fmt::Display for MessagePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessagePlace::Text { file, line, column } => write!(f, "{file}:{line}:{column}"),
            MessagePlace::Named(name) => write!(f, "`{name}`"),
        }
    }
}

/// The place of a location, if it has one.
pub fn place(ctx: &Context, location: Location) -> Option<MessagePlace> {
    if let Some(offset) = location.source_offset() {
        let source = ctx.source_at(offset)?;
        let SourcePosition { line, column, .. } = source.place((offset - source.start) as usize);
        return Some(MessagePlace::Text { file: source.name.to_string(), line, column });
    }
    match ctx.location_data(location) {
        LocationData::FileLineCol { file, line, column, .. } => {
            Some(MessagePlace::Text { file: ctx.str(*file).to_owned(), line: *line, column: *column })
        }
        LocationData::Name { name, .. } => Some(MessagePlace::Named(ctx.str(*name).to_owned())),
        LocationData::CallSite { callee, .. } => place(ctx, *callee),
        LocationData::Fused { parts, .. } => parts.iter().find_map(|part| place(ctx, *part)),
        LocationData::Unknown => None,
    }
}

/// `file:line:column` of a location, or its name.
pub fn describe(ctx: &Context, location: Location) -> Option<String> {
    Some(place(ctx, location)?.to_string())
}

/// An operation as messages name it: its name, and its place if known.
///
/// ```text
/// `nn.conv2d` (`Conv_5`)    of a model
/// `nn.mul` (net.mlir:3:8)   of a text
/// ```
pub fn describe_op(ctx: &Context, name: OpName, location: Location) -> String {
    let name = ctx.op_name_str(name);
    match place(ctx, location) {
        Some(place) => format!("`{name}` ({place})"),
        None => format!("`{name}`"),
    }
}

/// Line and column of a byte offset, both from 1; the column counts characters.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let offset = text.floor_char_boundary(offset.min(text.len()));
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The most faults of one kind that are reported, so that a text full of faults does not need a multiple of
/// its memory.
pub(crate) const MOST_FAULTS: usize = 1000;

/// The part of a text that a message shows.
struct Excerpt<'c> {
    name: &'c str,
    /// Whole lines, except that the last may be cut.
    text: &'c str,
    /// The number of the first line.
    line: usize,
    /// The marked range of `text`.
    span: std::ops::Range<usize>,
}

/// The most bytes of a line shown before a span, and after it.
const MOST_SHOWN: usize = 2000;

/// The marked bytes of the source text: `length` bytes from the location on, or the word there, within its
/// line. None if the location is not in a source text.
pub fn marked_span(ctx: &Context, location: Location, length: u32) -> Option<std::ops::Range<usize>> {
    let offset = location.source_offset()?;
    let source = ctx.source_at(offset)?;
    let start = source.text.floor_char_boundary((offset - source.start) as usize);
    let rest = &source.text[start..];
    let rest = &rest[..rest.floor_char_boundary(MOST_SHOWN)];
    let line_end = rest.find('\n').unwrap_or(rest.len());
    let word = rest.find(|c: char| c.is_whitespace() || "(){}<>[],:=".contains(c)).unwrap_or(rest.len());
    let wanted = if length > 0 { length as usize } else { word };
    let end = rest.floor_char_boundary(wanted.min(line_end).max(usize::from(line_end > 0)));
    Some(start..start + end)
}

/// The line of the marked span. Its end is cut, so that long inputs stay cheap to render; none if too much
/// text precedes the span.
fn excerpt(ctx: &Context, location: Location, length: u32) -> Option<Excerpt<'_>> {
    let span = marked_span(ctx, location, length)?;
    let source = ctx.source_at(location.source_offset()?)?;
    let SourcePosition { line, line_start, .. } = source.place(span.start);
    let line_start = line_start as usize;
    if span.start - line_start > MOST_SHOWN {
        return None;
    }
    let rest = &source.text[span.start..];
    let rest = &rest[..rest.floor_char_boundary(MOST_SHOWN)];
    let line_end = span.start + rest.find('\n').unwrap_or(rest.len());
    Some(Excerpt {
        name: &source.name,
        text: &source.text[line_start..line_end],
        line: line as usize,
        span: span.start - line_start..span.end - line_start,
    })
}

/// The candidates that a misspelt word may have meant, nearest first.
///
/// A candidate is near if its edit distance (optimal string alignment) is at most a third of the word's
/// length; no candidate is near to a word of more than 100 bytes.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    const LONGEST_WORD: usize = 100;
    if word.len() > LONGEST_WORD {
        return Vec::new();
    }
    let limit = (word.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|other| (strsim::osa_distance(word, other), other))
        .filter(|near| near.0 <= limit)
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, other)| other).collect()
}

/// "did you mean `x`?" for the nearest candidate, if one is near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).first().map(|near| suggestion(near))
}

/// "did you mean `x`?" for the nearest candidate; if none is near and they are few, "there are `a`, `b`".
pub fn did_you_mean_or_all<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const MOST_NAMES: usize = 8;
    let candidates: IndexSet<&str> = candidates.into_iter().collect();
    if let Some(hint) = did_you_mean(word, candidates.iter().copied()) {
        return Some(hint);
    }
    let names: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => None,
        [name] => Some(format!("there is only {name}")),
        names if names.len() <= MOST_NAMES => Some(format!("there are {}", names.join(", "))),
        _ => None,
    }
}

/// The hint "did you mean `x`?" for one name.
pub(crate) fn suggestion(near: &str) -> String {
    format!("did you mean `{near}`?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swapped_pair_is_one_edit_away() {
        assert_eq!(nearest("fues", ["fold", "fuse", "unused"]), ["fuse"]);
        assert_eq!(nearest("inplcae", ["plan", "inplace", "fuse"]), ["inplace"]);
    }

    #[test]
    fn a_source_location_is_shown_with_a_caret() {
        let ctx = Context::new();
        let start = ctx.add_source("a.mlir", "first\n  second x\n".into()).start;
        let text = Diagnostic::error(Location::at_source(start + 8), "bad").with_help("try").render(&ctx);
        assert!(text.contains("a.mlir:2:3") && text.contains("^^^^^^") && text.contains("try"), "{text}");
    }
}
