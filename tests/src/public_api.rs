//! The public items of a crate as a list of lines, so that a removed or changed item shows in a diff.
//!
//! Sources are read by rustfmt's indentation. Every `pub` item counts as public: the lint `unreachable_pub`
//! allows no others.

use crate::source::Code;
use crate::workspace::TextFile;

/// The public items of sources, in the order of the files. Tests are left out.
pub fn public_items(files: &[TextFile]) -> String {
    let mut text = String::new();
    for file in files.iter().filter(|file| !file.path.ends_with("tests.rs")) {
        let items = items(&file.text);
        if !items.is_empty() {
            text += &format!("{}\n", file.path);
            items.iter().for_each(|item| text += &format!("    {item}\n"));
        }
    }
    text
}

/// The kind of item around indented lines.
#[derive(Clone, PartialEq, Eq)]
enum Around {
    Nothing,
    /// Public items and fields count.
    Public(String),
    /// All items count.
    Whole(String),
}

/// The public items of a source.
fn items(source: &str) -> Vec<String> {
    // Comments would look like items; strings are kept, since constants may have them.
    let code: Vec<String> = Code::of(source).lines().map(|(_, line)| line.to_owned()).collect();
    let lines: Vec<&str> = source.lines().collect();
    let end = lines.iter().position(|line| *line == "#[cfg(test)]").unwrap_or(lines.len());
    let mut items = Vec::new();
    let mut around = Around::Nothing;
    for (number, blanked) in code.iter().enumerate().take(end) {
        let line = blanked.trim_end();
        let indent = line.len() - line.trim_start().len();
        let start = line.trim_start();
        if indent == 0 && start.starts_with(['}', ')']) {
            around = Around::Nothing;
        } else if indent == 0 && !start.is_empty() {
            let item = item(&code[number..], &lines[number..]);
            let is_public = start.starts_with("pub ");
            around = match start.split_whitespace().nth(usize::from(is_public)).unwrap_or_default() {
                "enum" | "trait" if is_public => Around::Whole(name_of(&item)),
                word if word.starts_with("impl") => Around::Public(item.clone()),
                _ if is_public => Around::Public(name_of(&item)),
                _ => Around::Nothing,
            };
            let is_of_trait = start.starts_with("impl") && item.contains(" for ");
            items.extend((is_public || is_of_trait).then_some(item));
        } else if indent == 4 && !start.starts_with(['}', ')', '#']) {
            let (context, counts) = match &around {
                Around::Nothing => continue,
                Around::Public(context) => (context, start.starts_with("pub ")),
                Around::Whole(context) => (context, true),
            };
            if counts && !start.starts_with(['{', '"']) {
                items.push(format!("{context} :: {}", item(&code[number..], &lines[number..])));
            }
        }
    }
    items
}

/// The name of an item: `Model` of `pub struct Model`.
fn name_of(item: &str) -> String {
    let mut words = item.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    words.nth(2).unwrap_or_default().to_owned()
}

/// An item in one line, from its first line to the start of its body, value or end.
fn item(code: &[String], lines: &[&str]) -> String {
    let is_use = code[0].trim_start().starts_with("pub use");
    let mut words = String::new();
    for (code, line) in code.iter().zip(lines) {
        let code = code.trim_end();
        let line = line.trim();
        words += if words.is_empty() { "" } else { " " };
        let ends = [";", ",", "{", "}"].iter().any(|end| code.ends_with(end));
        let is_open = words.matches('(').count() + line.matches('(').count()
            > words.matches(')').count() + line.matches(')').count();
        words += line;
        if (ends && !is_open && !is_use) || code.ends_with(';') {
            break;
        }
    }
    let head = if is_use { &*words } else { words.split(" = ").next().unwrap_or_default() };
    head.trim_end_matches([' ', '{', ';', ',']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_fields_variants_and_methods_are_listed_by_their_first_lines() {
        let source = "//! Docs with pub fn in them.
/// A struct.
pub struct Open {
    /// A field.
    pub field: Vec<u8>,
    hidden: u8,
}
pub(crate) fn hidden() {}
pub enum Kind {
    /// One.
    First,
    Second(u8),
}
impl Open {
    /// Makes one.
    pub fn new(
        text: &str,
        count: usize,
    ) -> Open {
        inner();
    }
    fn hidden(&self) {}
}
impl Clone for Open {
    fn clone(&self) -> Open { todo() }
}
pub const N: usize = 3;
pub use a::{
    B,
    C,
};
#[cfg(test)]
mod tests {
    pub fn test() {}
}
";
        let expected = [
            "pub struct Open",
            "Open :: pub field: Vec<u8>",
            "pub enum Kind",
            "Kind :: First",
            "Kind :: Second(u8)",
            "impl Open :: pub fn new( text: &str, count: usize, ) -> Open",
            "impl Clone for Open",
            "pub const N: usize",
            "pub use a::{ B, C, }",
        ];
        assert_eq!(items(source), expected);
    }
}
