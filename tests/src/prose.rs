//! Rules of prose and layout that a program can check.
//!
//! The rules of `tidy` count; these read the text: whether comments end at a column, whether a lit file gives
//! its reason, and whether one `let` binds unrelated values.

use crate::source::{Code, words};
use crate::tidy::{Fault, at};
use crate::workspace::TextFile;

/// The last column of code, comments and documents.
pub const MOST_COLUMNS: usize = 110;

/// Comments beyond [`MOST_COLUMNS`]. (Code is `rustfmt`'s.)
pub fn comment_width(file: &TextFile) -> Vec<Fault> {
    wide_lines(file, |line| line.trim_start().starts_with("//"))
}

/// Lines of a document beyond [`MOST_COLUMNS`].
pub fn document_width(file: &TextFile) -> Vec<Fault> {
    wide_lines(file, |_| true)
}

fn wide_lines(file: &TextFile, counts: impl Fn(&str) -> bool) -> Vec<Fault> {
    let lines = (1..).zip(file.text.lines()).filter(|(_, line)| counts(line));
    let wide =
        lines.map(|(n, line)| (n, line.chars().count())).filter(|(_, columns)| *columns > MOST_COLUMNS);
    wide.map(|(n, columns)| at(file, n, &format!("{columns} columns, at most {MOST_COLUMNS} are allowed")))
        .collect()
}

/// The fewest words of a reason.
const FEWEST_WORDS: usize = 4;

/// A lit file whose second line does not begin a comment with a sentence about its reason.
pub fn reason(file: &TextFile) -> Vec<Fault> {
    let is_prose = |line: &&str| line.starts_with("// ") && !line.starts_with("// -----");
    let comment: Vec<&str> = file.text.lines().skip(1).take_while(is_prose).collect();
    let text = comment.iter().map(|line| line.trim_start_matches("// ")).collect::<Vec<_>>().join(" ");
    let begins = text.starts_with(|c: char| c.is_uppercase() || c == '`' || c == '%');
    let is_sentence = begins && text.ends_with('.') && text.split_whitespace().count() >= FEWEST_WORDS;
    if is_sentence && !text.starts_with("RUN:") {
        return Vec::new();
    }
    vec![at(file, 2, "the second line must begin a sentence that says why the file exists")]
}

/// A `let` of a tuple with values of different forms, which are assumed to be unrelated: each deserves a
/// `let` of its own. Values of one form (`(a.rows(), b.rows())`, `(0, 0)`) are allowed.
pub fn tuples_of_unrelated_values(file: &TextFile) -> Vec<Fault> {
    let code = Code::of(&file.text);
    let lines = code.lines().map(|(n, line)| (n, line.trim()));
    let lets = lines.filter_map(|(n, line)| {
        let (_, values) = line.strip_prefix("let (")?.split_once(") = (")?;
        Some((n, values.strip_suffix(");")?))
    });
    let differ = |values: &str| {
        let forms: Vec<String> = split(values).into_iter().map(form).collect();
        forms.windows(2).any(|pair| pair[0] != pair[1])
    };
    let found = lets.filter(|(_, values)| differ(values));
    found
        .map(|(n, _)| at(file, n, "a tuple `let` of unrelated values: each takes a `let` of its own"))
        .collect()
}

/// The expressions of a list, without the text in brackets.
fn split(values: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in values.chars() {
        let part = parts.last_mut().expect("there is one from the beginning");
        match c {
            '(' | '[' | '{' => {
                if depth == 0 {
                    part.push(c);
                }
                depth += 1;
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            _ if depth == 0 => part.push(c),
            _ => {}
        }
    }
    parts
}

/// The form of an expression: the called functions, in order. All variables, fields and numbers, and
/// operations on them, become `v`.
fn form(expr: String) -> String {
    let mut form = String::new();
    let mut end = 0;
    let mut words = words(&expr).into_iter();
    while let Some(range) = words.next() {
        form.extend(expr[end..range.start].chars().filter(|c| !is_operator(*c)));
        end = range.end;
        let is_called = expr[end..].starts_with(['(', '!']) || expr[end..].starts_with("::");
        match &expr[range] {
            "mut" => {}
            "as" => end = words.next().map_or(end, |ty| ty.end),
            word if is_called || word.starts_with(char::is_uppercase) => form += word,
            _ => form.push('v'),
        }
    }
    form.extend(expr[end..].chars().filter(|c| !is_operator(*c)));
    loop {
        let shorter = form.replace("v.v", "v").replace("v[", "v").replace("vv", "v");
        if shorter == form {
            // A string contains no words, and counts as a value like a number.
            return if form.is_empty() { "v".to_owned() } else { form };
        }
        form = shorter;
    }
}

fn is_operator(c: char) -> bool {
    c.is_whitespace() || "+-*/%|^&<>=!".contains(c)
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
