//! The lexer: the token that begins at a byte of a text.
//!
//! The tokens are MLIR's. The lexer's only state is a position, so the parser may set it anywhere: sizes
//! (`4x8xf32`) and the text of opaque types are parsed byte by byte from the start of a token.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// The end of the text.
    End,
    /// A byte that begins no token, or a string that does not end on its line.
    Invalid,
    /// `word`, `nn.add`.
    Word,
    /// `@word`, `@"text"`.
    At,
    /// `#word`.
    Hash,
    /// `!word`.
    Bang,
    /// `%word`.
    Percent,
    /// `^word`.
    Caret,
    /// `12`, `0x1F`.
    Integer,
    /// `1.5e-3`.
    Float,
    /// `"text"`.
    Text,
    /// A punctuation byte: `(`, `=`, ...
    Byte(u8),
    /// `::`.
    DoubleColon,
    /// `->`.
    Arrow,
    /// `>=`.
    AtLeast,
    /// `==`.
    Equals,
    /// `{-#`.
    OpenMetadata,
    /// `#-}`.
    CloseMetadata,
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

const WORD_START: u8 = 1;
const WORD: u8 = 2;
const SUFFIX: u8 = 4;
const DIGIT: u8 = 8;
const SPACE: u8 = 16;

/// The classes of each byte.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        class[byte] = match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => WORD_START | WORD | SUFFIX,
            b'0'..=b'9' => WORD | SUFFIX | DIGIT,
            b'$' | b'.' => WORD | SUFFIX,
            b'-' => SUFFIX,
            b' ' | b'\t' | b'\n' | b'\r' => SPACE,
            _ => 0,
        };
        byte += 1;
    }
    class
};

fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Whether a byte may occur in a word.
pub(super) fn is_word_byte(byte: u8) -> bool {
    is(byte, WORD)
}

/// Whether a byte may occur in the name after a sigil.
pub(super) fn is_name_byte(byte: u8) -> bool {
    is(byte, SUFFIX)
}

/// Whether a text needs no quotes in the place of a word.
pub(super) fn is_bare_word(text: &[u8]) -> bool {
    text.first().is_some_and(|&first| is(first, WORD_START)) && text.iter().all(|&byte| is(byte, WORD))
}

/// The end of the run of bytes of a class from `at` on.
fn run(text: &[u8], mut at: usize, class: u8) -> usize {
    while at < text.len() && is(text[at], class) {
        at += 1;
    }
    at
}

/// The end of the white space and comments from `at` on.
pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    loop {
        at = run(text, at, SPACE);
        if !text[at..].starts_with(b"//") {
            return at;
        }
        at = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |newline| at + newline);
    }
}

/// The end of the string whose first quote is at `at`; none if it does not end on its line.
pub(super) fn string_end(text: &[u8], at: usize) -> Option<usize> {
    string(text, at).ok()
}

/// The end of the string whose first quote is at `at`; an error with the end of what was read of it if it
/// does not end on its line.
fn string(text: &[u8], at: usize) -> Result<usize, usize> {
    let mut end = at + 1;
    loop {
        match text.get(end) {
            Some(b'"') => return Ok(end + 1),
            Some(b'\\') => end += 2,
            None | Some(b'\n' | 0) => return Err(end.min(text.len())),
            Some(_) => end += 1,
        }
    }
}

/// The first token from `at` on.
pub(super) fn next(text: &[u8], at: usize) -> Token {
    let start = skip_space(text, at);
    let Some(&first) = text.get(start) else {
        return Token { kind: TokenKind::End, start, end: start };
    };
    let (kind, end) = match first {
        b'%' => prefixed(text, start, TokenKind::Percent),
        b'"' => match string(text, start) {
            Ok(end) => (TokenKind::Text, end),
            // Not its quote alone: each escaped quote in it would begin one more.
            Err(end) => (TokenKind::Invalid, end),
        },
        _ if is(first, WORD_START) => (TokenKind::Word, run(text, start, WORD)),
        _ if is(first, DIGIT) => number(text, start),
        b'@' if text.get(start + 1) == Some(&b'"') => match string(text, start + 1) {
            Ok(end) => (TokenKind::At, end),
            Err(end) => (TokenKind::Invalid, end),
        },
        b'@' => match text.get(start + 1) {
            Some(&byte) if is(byte, WORD_START) => (TokenKind::At, run(text, start + 1, WORD)),
            _ => (TokenKind::Invalid, start + 1),
        },
        b'#' if text[start..].starts_with(b"#-}") => (TokenKind::CloseMetadata, start + 3),
        b'#' => prefixed(text, start, TokenKind::Hash),
        b'!' => prefixed(text, start, TokenKind::Bang),
        b'^' => prefixed(text, start, TokenKind::Caret),
        _ => punctuation(text, start),
    };
    Token { kind, start, end }
}

/// A sigil with the digits, or the word, after it.
fn prefixed(text: &[u8], start: usize, kind: TokenKind) -> (TokenKind, usize) {
    let end = match text.get(start + 1) {
        Some(&byte) if is(byte, DIGIT) => run(text, start + 1, DIGIT),
        Some(&byte) if is(byte, SUFFIX) => run(text, start + 1, SUFFIX),
        _ => return (TokenKind::Invalid, start + 1),
    };
    (kind, end)
}

fn number(text: &[u8], start: usize) -> (TokenKind, usize) {
    if text[start] == b'0' && text.get(start + 1) == Some(&b'x') {
        let is_hex = |at: usize| text.get(at).is_some_and(u8::is_ascii_hexdigit);
        let mut end = start + 2;
        while is_hex(end) {
            end += 1;
        }
        return if end > start + 2 { (TokenKind::Integer, end) } else { (TokenKind::Integer, start + 1) };
    }
    let end = run(text, start, DIGIT);
    if text.get(end) != Some(&b'.') {
        return (TokenKind::Integer, end);
    }
    let end = run(text, end + 1, DIGIT);
    if !matches!(text.get(end), Some(b'e' | b'E')) {
        return (TokenKind::Float, end);
    }
    let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
    let exponent_end = run(text, end + 1 + sign, DIGIT);
    (TokenKind::Float, if exponent_end > end + 1 + sign { exponent_end } else { end })
}

fn punctuation(text: &[u8], start: usize) -> (TokenKind, usize) {
    let rest = &text[start..];
    if rest.starts_with(b"{-#") {
        return (TokenKind::OpenMetadata, start + 3);
    }
    let pair = match rest {
        [b'-', b'>', ..] => Some(TokenKind::Arrow),
        [b':', b':', ..] => Some(TokenKind::DoubleColon),
        [b'>', b'=', ..] => Some(TokenKind::AtLeast),
        [b'=', b'=', ..] => Some(TokenKind::Equals),
        _ => None,
    };
    match pair {
        Some(kind) => (kind, start + 2),
        None if b"(){}[]<>,:=-+*?|/.;".contains(&rest[0]) => (TokenKind::Byte(rest[0]), start + 1),
        None => (TokenKind::Invalid, start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(TokenKind, &str)]) {
        let mut found = Vec::new();
        let mut at = 0;
        loop {
            let token = next(text.as_bytes(), at);
            if token.kind == TokenKind::End {
                break;
            }
            found.push((token.kind, &text[token.start..token.end]));
            at = token.end;
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn a_result_number_is_a_token_of_its_own() {
        check("%x#1", &[(TokenKind::Percent, "%x"), (TokenKind::Hash, "#1")]);
    }

    #[test]
    fn a_comment_ends_with_its_line() {
        check("a // b \"\nc", &[(TokenKind::Word, "a"), (TokenKind::Word, "c")]);
    }

    #[test]
    fn a_string_may_not_pass_its_line() {
        check("\"a\\\"b\" \"c\n", &[(TokenKind::Text, "\"a\\\"b\""), (TokenKind::Invalid, "\"c")]);
        check("\"c\\", &[(TokenKind::Invalid, "\"c\\")]);
        check("@\"\\\"\nd", &[(TokenKind::Invalid, "@\"\\\""), (TokenKind::Word, "d")]);
    }

    #[test]
    fn zero_x_without_digits_is_a_zero() {
        check(
            "0xf32 0xq",
            &[(TokenKind::Integer, "0xf32"), (TokenKind::Integer, "0"), (TokenKind::Word, "xq")],
        );
    }
}
