//! Parser of types and attributes of unregistered dialects: text with balanced brackets.
//!
//! Parts with a meaning for the printer (aliases, affine maps and sets, distinct attributes, other dialects'
//! types and attributes) are parsed as such, so that `#d.x<#map>` and `#d.x<affine_map<(d0) -> (d0)>>` are
//! equal.

use super::attrs::Suffix;
use super::{Read, TextReader};
use crate::entities::{Attr, Ident};
use crate::text::lexer::{self, TokenKind};
use crate::text::mentions;
use crate::types::OpaquePiece;

/// Printers of MLIR that write two blanks: dialect, start of the text, with one blank, and with two.
const TWO_BLANKS: [(&str, &str, &str, &str); 2] = [
    ("irdl", "variadicity_array[", ", ", ",  "),
    ("acc", "declare<dataClause", "dataClause = ", "dataClause =  "),
];

/// The pieces of an opaque text while they are collected.
#[derive(Default)]
struct OpaquePieces {
    done: Vec<OpaquePiece>,
    text: String,
}

impl OpaquePieces {
    fn push(&mut self, piece: OpaquePiece) {
        self.part();
        if !self.text.is_empty() {
            self.done.push(OpaquePiece::Text(std::mem::take(&mut self.text).into()));
        }
        self.done.push(piece);
    }

    fn push_text(&mut self, text: &str) {
        if text.bytes().next().is_some_and(|byte| byte == b'<' || lexer::is_name_byte(byte)) {
            self.part();
        }
        self.text.push_str(text);
    }

    /// A blank, if the next text would otherwise continue the name that the piece before may be printed as.
    fn part(&mut self) {
        if self.text.is_empty() && !self.done.is_empty() {
            self.text.push(' ');
        }
    }

    fn finish(mut self, dialect: &str) -> Box<[OpaquePiece]> {
        if !self.text.is_empty() {
            self.done.push(OpaquePiece::Text(self.text.into()));
        }
        for (name, start, blank, blanks) in TWO_BLANKS {
            match self.done.first_mut() {
                Some(OpaquePiece::Text(text)) if name == dialect && text.starts_with(start) => {
                    *text = text.replace(blank, blanks).into();
                }
                _ => {}
            }
        }
        self.done.into()
    }
}

impl TextReader<'_> {
    /// The dialect and body of the `!dialect.body`, `!dialect<body>` (or `#`) at the current place; none for
    /// an alias.
    pub(super) fn dialect_symbol(&mut self) -> Read<Option<(Ident, Box<[OpaquePiece]>)>> {
        let name = &self.spelling()[1..];
        let end = self.token.end;
        let is_open = self.bytes().get(end) == Some(&b'<');
        let mut pieces = OpaquePieces::default();
        let Some((dialect, rest)) = name.split_once('.') else {
            if !is_open {
                return Ok(None);
            }
            let end = self.opaque(end + 1, &mut pieces)?;
            // The bracket that closes the body is the last byte of its last piece of text.
            pieces.text.pop();
            self.resume(end);
            return Ok(Some((self.ctx.ident(name), pieces.finish(name))));
        };
        pieces.text.push_str(rest);
        let end = if is_open {
            pieces.text.push('<');
            self.opaque(end + 1, &mut pieces)?
        } else {
            end
        };
        self.resume(end);
        Ok(Some((self.ctx.ident(dialect), pieces.finish(dialect))))
    }

    /// Collects the text from `at`, after an open `<`, until its closing bracket. Returns the byte after it.
    fn opaque(&mut self, mut at: usize, pieces: &mut OpaquePieces) -> Read<usize> {
        let bytes = self.bytes();
        let start = at;
        let mut open = vec![b'>'];
        while let Some(&byte) = bytes.get(at) {
            if let Some(end) = self.piece(at, pieces)? {
                at = end;
                continue;
            }
            let end = match byte {
                b'"' => match lexer::string_end(bytes, at) {
                    Some(end) => end,
                    None => return Err(self.fault(at, "a string without its end")),
                },
                b'-' if bytes.get(at + 1) == Some(&b'>') => at + 2,
                _ => at + utf8_length(byte),
            };
            match byte {
                b'<' => open.push(b'>'),
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b'>' | b')' | b']' | b'}' => self.close(at, byte, &mut open)?,
                0 => return Err(self.fault(at, "a NUL byte")),
                _ => {}
            }
            let space_end = lexer::skip_space(bytes, at);
            if space_end > at {
                pieces.text.push(' ');
                at = space_end;
                continue;
            }
            pieces.push_text(&self.text[at..end]);
            at = end;
            if open.is_empty() {
                return Ok(at);
            }
        }
        Err(self.fault(start, "a bracket that is never closed"))
    }

    fn close(&mut self, at: usize, byte: u8, open: &mut Vec<u8>) -> Read<()> {
        match open.pop() {
            Some(expected) if expected == byte => Ok(()),
            expected => {
                let expected = expected.unwrap_or(b'>') as char;
                Err(self.fault(at, format!("expected `{expected}`, found `{}`", byte as char)))
            }
        }
    }

    /// Parses the piece at `at` if it has a meaning of its own. Returns the byte after it.
    fn piece(&mut self, at: usize, pieces: &mut OpaquePieces) -> Read<Option<usize>> {
        let bytes = self.bytes();
        let is_inside_word = pieces.text.bytes().next_back().is_some_and(lexer::is_word_byte);
        let rest = &bytes[at..];
        let is_piece = match bytes[at] {
            b'#' | b'!' => matches!(rest.get(1), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_')),
            b'a' => rest.starts_with(b"affine_map<") || rest.starts_with(b"affine_set<"),
            b'd' => rest.starts_with(b"distinct["),
            _ => false,
        };
        if is_inside_word || !is_piece {
            return Ok(None);
        }
        if let Some(end) = mentions::alias_end(bytes, at) {
            let (sigil, name) = self.text[at..end].split_at(1);
            let is_known = match sigil {
                "!" => self.type_aliases.contains_key(name),
                _ => self.attr_aliases.contains_key(name),
            };
            if !is_known {
                // It stays text, so no alias may get this name.
                self.undefined.insert(&self.text[at..end]);
                return Ok(None);
            }
        }
        self.token = lexer::next(bytes, at);
        let piece = self.nested(|reader| match reader.token.kind {
            TokenKind::Bang => reader.ty().map(OpaquePiece::Type),
            _ => reader.attr_without_type().map(OpaquePiece::Attr),
        })?;
        pieces.push(piece);
        // White space after a piece belongs to the text.
        Ok(Some(self.passed))
    }

    /// An attribute, without the `: type` that may follow it.
    fn attr_without_type(&mut self) -> Read<Attr> {
        match self.token.kind {
            TokenKind::Hash => self.hash_attr(Suffix::Leave),
            _ => self.word_attr(Suffix::Leave),
        }
    }
}

/// The length of the character that begins with `byte`.
fn utf8_length(byte: u8) -> usize {
    match byte {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}
