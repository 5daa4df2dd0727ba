//! Names of aliases in the text of another dialect's type or attribute.
//!
//! The parser makes a piece of each name that is defined; a name left in the text denotes nothing. The
//! printer must not give such a name to anything, or its output would be parsed differently.

use super::lexer;

/// The end of the name of an alias (`#name`, `!name`, without `.` and without `<` after it) whose sigil is
/// at `at`.
pub(super) fn alias_end(text: &[u8], at: usize) -> Option<usize> {
    if !matches!(text[at], b'#' | b'!') || !text.get(at + 1).is_some_and(|&byte| is_start(byte)) {
        return None;
    }
    let end = lexer::next(text, at).end;
    let is_alias = !text[at..end].contains(&b'.') && text.get(end) != Some(&b'<');
    is_alias.then_some(end)
}

/// The names, with their sigils, in a text, except for those in strings and those that continue a word.
pub(super) fn of_text(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            let is_inside_word = at > 0 && lexer::is_word_byte(bytes[at - 1]);
            at += 1;
            match byte {
                b'"' => at = lexer::string_end(bytes, start).unwrap_or(bytes.len()),
                b'#' | b'!' if !is_inside_word => {
                    if let Some(end) = alias_end(bytes, start) {
                        at = end;
                        return Some(&text[start..end]);
                    }
                }
                _ => {}
            }
        }
        None
    })
}

fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_are_names() {
        let text = r##"x<#a, "#b", c#d, !e-f #g.h #i<1> #4 =#loc4>"##;
        assert_eq!(of_text(text).collect::<Vec<_>>(), ["#a", "!e-f", "#loc4"]);
    }
}
