//! A scanner of Rust sources: which text is code, and where functions begin and end.
//!
//! It is not a parser: it knows strings, characters, lifetimes and comments, enough to count braces and to
//! find words. Macro bodies count as code.

use std::ops::Range;

/// A Rust source reduced to its code.
#[derive(Debug)]
pub struct Code {
    /// The source, with every character within comments, strings and character literals replaced by a blank.
    /// Line ends stay, so that positions and line numbers are those of the source as long as it is ASCII.
    text: String,
}

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSpan {
    /// Its name.
    pub name: String,
    /// The line of its `fn`, from 1.
    pub line: usize,
    /// Its lines, from the `fn` to the closing brace.
    pub lines: usize,
    /// The text between its name and its body: generics, parameters, result, bounds.
    pub signature: String,
}

/// A string in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// The line of its first quote, from 1.
    pub line: usize,
    /// The text between the quotes, with `\"` as `"`.
    pub text: String,
    /// The function or macro whose first argument it is; empty if it is none.
    pub callee: String,
}

/// The strings in quotes (raw ones and those of bytes left out) of a source's code, in order.
pub fn literals(source: &str) -> Vec<Literal> {
    let chars: Vec<char> = source.chars().collect();
    let mut literals = Vec::new();
    let mut code = String::new();
    let mut line = 1;
    let mut i = 0;
    while i < chars.len() {
        let end = end_of_text(&chars, i);
        if end == i {
            code.push(chars[i]);
        } else if chars[i] == '"' && !code.ends_with(['b', 'c']) {
            let text: String = chars[i + 1..end.saturating_sub(1).max(i + 1)].iter().collect();
            literals.push(Literal { line, text: text.replace("\\\"", "\""), callee: callee(&code) });
        }
        let end = end.max(i + 1);
        line += chars[i..end].iter().filter(|c| **c == '\n').count();
        i = end;
    }
    literals
}

/// The word before the bracket (and the `!`) at the end of code.
fn callee(code: &str) -> String {
    let Some(before) = code.trim_end().strip_suffix('(') else { return String::new() };
    let before = before.trim_end_matches('!');
    words(before)
        .last()
        .filter(|word| word.end == before.len())
        .map_or_else(String::new, |word| before[word.clone()].to_owned())
}

impl Code {
    /// Replaces everything except code in `source` by blanks.
    pub fn of(source: &str) -> Code {
        let chars: Vec<char> = source.chars().collect();
        let mut text = String::with_capacity(source.len());
        let mut i = 0;
        while i < chars.len() {
            let end = end_of_text(&chars, i);
            if end == i {
                text.push(chars[i]);
                i += 1;
            } else {
                text.extend(chars[i..end].iter().map(|&c| if c == '\n' { c } else { ' ' }));
                i = end;
            }
        }
        Code { text }
    }

    /// The lines of code, with their numbers from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The functions that have a body, in the order of their beginnings. Functions within functions are
    /// counted in both.
    pub fn functions(&self) -> Vec<FunctionSpan> {
        let words = words(&self.text);
        let pairs = words.windows(2).filter(|pair| &self.text[pair[0].clone()] == "fn");
        pairs.filter_map(|pair| self.function(&pair[0], &pair[1])).collect()
    }

    fn function(&self, keyword: &Range<usize>, name: &Range<usize>) -> Option<FunctionSpan> {
        // `fn(` is the type of a pointer: more than a blank is between it and the next word.
        if !self.text[keyword.end..name.start].trim().is_empty() {
            return None;
        }
        let body = body(&self.text[name.end..])?;
        let end = name.end + body.end;
        Some(FunctionSpan {
            name: self.text[name.clone()].to_owned(),
            line: 1 + self.text[..keyword.start].matches('\n').count(),
            lines: 1 + self.text[keyword.start..end].matches('\n').count(),
            signature: self.text[name.end..name.end + body.start].to_owned(),
        })
    }
}

/// Whether `line` contains `word` without a letter, digit or `_` next to it.
pub fn has_word(line: &str, word: &str) -> bool {
    words(line).into_iter().any(|range| &line[range] == word)
}

/// The identifiers and numbers of `text`.
pub(crate) fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, c.is_alphanumeric() || c == '_') {
            (None, true) => start = Some(i),
            (Some(from), false) => {
                words.push(from..i);
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The first block in braces outside of brackets, or `None` if a `;` comes first.
fn body(text: &str) -> Option<Range<usize>> {
    let (mut brackets, mut braces, mut start) = (0i32, 0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            ';' if brackets == 0 && braces == 0 => return None,
            '{' => {
                start = if braces == 0 { i } else { start };
                braces += 1;
            }
            '}' if braces == 1 && brackets == 0 => return Some(start..i + 1),
            '}' => braces -= 1,
            _ => {}
        }
    }
    None
}

/// The end of the comment, string or character literal that begins at `i`; `i` itself if there is code.
fn end_of_text(chars: &[char], i: usize) -> usize {
    match chars[i..] {
        ['/', '/', ..] => find(chars, i, '\n'),
        ['/', '*', ..] => end_of_block_comment(chars, i),
        ['"', ..] => end_of_quoted(chars, i + 1, '"'),
        ['r', '"' | '#', ..] if !continues_word(chars, i) => end_of_raw_string(chars, i),
        ['b' | 'c', 'r', '"' | '#', ..] if !continues_word(chars, i) => {
            end_of_raw_string(chars, i + 1).max(i)
        }
        ['\'', '\\', ..] => end_of_quoted(chars, i + 1, '\''),
        ['\'', _, '\'', ..] => i + 3,
        _ => i,
    }
}

fn continues_word(chars: &[char], i: usize) -> bool {
    i > 0 && (chars[i - 1].is_alphanumeric() || chars[i - 1] == '_')
}

fn find(chars: &[char], from: usize, wanted: char) -> usize {
    chars[from..].iter().position(|&c| c == wanted).map_or(chars.len(), |at| from + at)
}

/// Block comments nest.
fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut i = start;
    while i < chars.len() {
        match chars[i..] {
            ['/', '*', ..] => (depth, i) = (depth + 1, i + 2),
            ['*', '/', ..] if depth == 1 => return i + 2,
            ['*', '/', ..] => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    i
}

fn end_of_quoted(chars: &[char], mut i: usize, quote: char) -> usize {
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// `r##"..."##` with any number of `#`; a raw identifier such as `r#fn` is code.
fn end_of_raw_string(chars: &[char], r: usize) -> usize {
    let hashes = chars[r + 1..].iter().take_while(|&&c| c == '#').count();
    if chars.get(r + 1 + hashes) != Some(&'"') {
        return r;
    }
    let mut i = r + 2 + hashes;
    while i < chars.len() {
        let quote = find(chars, i, '"');
        let closing = chars[(quote + 1).min(chars.len())..].iter().take_while(|&&c| c == '#').count();
        if closing >= hashes {
            return (quote + 1 + hashes).min(chars.len());
        }
        i = quote + 1;
    }
    chars.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the code; `.` is a blank that was text.
    fn check_code(source: &str, code: &str) {
        assert_eq!(Code::of(source).text, code.replace('.', " "), "{source}");
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        check_code("a // b\nc", "a ....\nc");
        check_code("a /* b /* c */ d */ e", "a ................. e");
        check_code(r#"f("{ \" }", b"{")"#, "f(........, b...)");
        check_code("f(r#\"{\"}\"#) }", "f(........) }");
        check_code("f(br\"{\") }", "f(.....) }");
        check_code("let r#fn = '{'; 'a: loop { '\\'' }", "let r#fn = ...; 'a: loop { .... }");
        check_code("\"a\nb\" c", "..\n.. c");
        check_code("\"no end", ".......");
        check_code("r#\"no end\"", "..........");
    }

    #[test]
    fn strings_are_found_with_whom_they_are_given_to() {
        let source = "f(\"a\", b\"c\"); // \"d\"\ng!(\n  \"e\\\"\") + '\"' + \"h\"";
        let found = literals(source)
            .into_iter()
            .map(|found| format!("{} {} {}", found.line, found.text, found.callee));
        assert_eq!(found.collect::<Vec<_>>(), ["1 a f", "3 e\" g", "3 h "]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("pub unsafe fn", "unsafe"));
        assert!(!has_word("unsafe_code", "unsafe"));
        assert!(!has_word("a::not_unsafe", "unsafe"));
    }

    /// Compares the functions, each as `name line lines`.
    fn check_functions(source: &str, expected: &[&str]) {
        let functions = Code::of(source).functions();
        let found: Vec<String> =
            functions.iter().map(|f| format!("{} {} {}", f.name, f.line, f.lines)).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn functions_are_measured_from_fn_to_brace() {
        check_functions("fn a() {}", &["a 1 1"]);
        check_functions("\npub fn a(\n  x: [u8; 2],\n) -> u8 {\n  '}' // }\n}\n", &["a 2 5"]);
        check_functions("trait T { fn a(x: [u8; 2]);\n fn b() {\n} }", &["b 2 2"]);
        check_functions("type F = fn(u8) -> u8; fn a() { let f: fn (u8); }", &["a 1 1"]);
        check_functions("fn a() {\n fn b() {\n }\n}", &["a 1 4", "b 2 2"]);
        check_functions("fn a<const N: usize>(x: [u8; { N }]) {\n}", &["a 1 2"]);
    }

    #[test]
    fn a_signature_ends_where_the_body_begins() {
        let functions = Code::of("fn a<T>(x: T) -> u8 where T: Copy { x(y) }").functions();
        assert_eq!(functions[0].signature, "<T>(x: T) -> u8 where T: Copy ");
    }
}
