//! Source positions: line and column of a byte of a source text.
//!
//! Checkpoints at equal distances in the text store the position there; they are computed on first use. So
//! finding a position costs a walk over the bytes after its checkpoint, even if a long text has a thousand
//! errors.

use std::sync::OnceLock;

/// The distance between checkpoints, in bytes.
const STRIDE: usize = 4096;

/// A source text, with its start in the numbering of [`Location::at_source`](crate::Location::at_source).
#[derive(Clone)]
pub struct SourceText {
    /// The file's name as given by the user.
    pub name: String,
    /// The text.
    pub text: String,
    /// Offset of its first byte.
    pub start: u32,
    marks: OnceLock<Box<[SourcePosition]>>,
}

/// The position of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The first byte of the line.
    pub line_start: u32,
}

impl SourcePosition {
    const FIRST: SourcePosition = SourcePosition { line: 1, column: 1, line_start: 0 };

    /// The position after `bytes`, which start at this position and at offset `offset`.
    fn after(self, bytes: &[u8], offset: usize) -> SourcePosition {
        let is_first = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            None => {
                SourcePosition { column: self.column + bytes.iter().filter(is_first).count() as u32, ..self }
            }
            Some(newline) => SourcePosition {
                line: self.line + bytes.iter().filter(|byte| **byte == b'\n').count() as u32,
                column: 1 + bytes[newline + 1..].iter().filter(is_first).count() as u32,
                line_start: (offset + newline + 1) as u32,
            },
        }
    }
}

impl SourceText {
    /// The name, without `%`, of the value defined at a byte: an argument whose name begins there, or the
    /// first result of an operation that begins there, after its results. None if the name is a number.
    pub(crate) fn value_name(&self, at: usize) -> Option<&str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_$.-".contains(c);
        let (before, after) = self.text.split_at_checked(at)?;
        let name = after.strip_prefix('%').or_else(|| {
            let results = before.trim_end().strip_suffix('=')?.lines().next_back()?;
            let begin = results.rfind(['{', '}', '(', ')', ';']).map_or(0, |last| last + 1);
            results[begin..].trim_start().strip_prefix('%')
        })?;
        let name = &name[..name.find(|c| !is_part(c)).unwrap_or(name.len())];
        name.starts_with(|c: char| !c.is_ascii_digit()).then_some(name)
    }

    /// A text whose first byte has the number `start`.
    pub(crate) fn new(name: &str, text: String, start: u32) -> SourceText {
        SourceText { name: name.to_owned(), text, start, marks: OnceLock::new() }
    }

    /// The position of a byte: that of its character, or of the end of the text if the offset is beyond it.
    pub fn place(&self, offset: usize) -> SourcePosition {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let marks = self.marks.get_or_init(|| marks(self.text.as_bytes()));
        let mark = offset / STRIDE;
        let start = mark * STRIDE;
        marks[mark].after(&self.text.as_bytes()[start..offset], start)
    }
}

fn marks(text: &[u8]) -> Box<[SourcePosition]> {
    let mut place = SourcePosition::FIRST;
    let places = text.chunks(STRIDE).enumerate().map(|(index, bytes)| {
        place = place.after(bytes, index * STRIDE);
        place
    });
    std::iter::once(SourcePosition::FIRST).chain(places).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::line_column;

    #[test]
    fn places_are_those_that_a_walk_from_the_beginning_finds() {
        let line = "a line\nand, behind \u{e9}\u{20ac}\u{1f600}, one more \u{e9}\n\n";
        let text = [line.repeat(300), "\u{e9}".repeat(STRIDE), line.repeat(3)].concat();
        let source = SourceText::new("t", text.clone(), 0);
        for offset in (0..text.len() + 2).filter(|offset| offset % 7 == 0 || offset % STRIDE < 3) {
            let SourcePosition { line, column, line_start } = source.place(offset);
            assert_eq!((line as usize, column as usize), line_column(&text, offset), "{offset}");
            let before = &text[..text.floor_char_boundary(offset)];
            assert_eq!(line_start as usize, before.rfind('\n').map_or(0, |newline| newline + 1));
        }
    }

    #[test]
    fn a_value_is_named_where_it_is_defined() {
        let text = "func.func @f(%x: f32, %1: f32) {\n  %a, %b = test.two\n  %c:2 = \"test.two\"()\n  \
                    %3 = test.one\n  test.none %x\n  %d = test.if { %e.f = test.one }\n  %g =\n    test.one\n}";
        let source = SourceText::new("t", text.to_owned(), 0);
        let named = |part: &str, index: usize| {
            let (at, _) = text.match_indices(part).nth(index).expect("it is there");
            source.value_name(at)
        };
        assert_eq!([named("%x", 0), named("%1", 0)], [Some("x"), None]);
        assert_eq!([named("test.two", 0), named("\"test.two", 0)], [Some("a"), Some("c")]);
        assert_eq!([named("test.one", 0), named("test.none", 0)], [None, None]);
        assert_eq!([named("test.if", 0), named("test.one", 1)], [Some("d"), Some("e.f")]);
        assert_eq!([named("test.one", 2), source.value_name(0)], [Some("g"), None]);
        assert_eq!(source.value_name(text.len() + 1), None);
    }
}
