//! Formatting of a document: its printed form, with its own names and comments.
//!
//! The printed text is parsed again: its operations and names are those of the document, in the same order.
//! So each name gets the document's spelling, and each comment moves to its operation. The result is parsed
//! once more; unless it is the same program, nothing is changed.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use ir::text::index::{NameKind, NameRole, TextIndex, ThingId};
use ir::text::{Locations, PrintForm, PrintOptions, parse_indexed};

use super::document::{Document, Part};
use crate::opt::Setup;

/// The formatted text of a document.
///
/// # Errors
/// If a program in it has errors.
pub(super) fn formatted(setup: &Setup, document: &Document) -> Result<String, String> {
    let mut text = String::new();
    for part in document.parts() {
        if part.start > 0 {
            text.push_str("// -----\n");
        }
        text += &formatted_part(setup, document, part)?;
    }
    Ok(text)
}

fn formatted_part(setup: &Setup, document: &Document, part: &Part) -> Result<String, String> {
    let text = &document.text[part.start..part.start + part.length];
    let module = part.module.as_ref().ok_or("the text is at fault")?;
    let is_generic = part.index.ops.values().next().is_some_and(|op| text[op.name_start..].starts_with('"'));
    let has_locations = text.contains(" loc(");
    let options = PrintOptions {
        form: if is_generic { PrintForm::Generic } else { PrintForm::Pretty },
        locations: if has_locations { Locations::Shown } else { Locations::Hidden },
        ..PrintOptions::default()
    };
    let mut printed = ir::text::print_with(module, &options);
    if part.index.is_wrapped() {
        printed = without_module(&printed);
    }
    let read =
        |text: &str| parse_indexed(&setup.context(), "text", text.to_owned(), &document.parse_options());
    printed = without_comments(&printed, &read(&printed).index);
    let plain = read(&printed).index;
    let named = with_names(text, &part.index, &printed, &plain)?;
    let index = read(&named).index;
    let formatted = with_comments(text, &part.index, &named, &index);
    let again = read(&formatted).module.map_err(|_| "the text can't be formatted".to_owned())?;
    let is_same = ir::text::print_with(&again, &options) == ir::text::print_with(module, &options);
    if is_same { Ok(formatted) } else { Err("the text can't be formatted".to_owned()) }
}

/// A printed text without the printer's comments.
fn without_comments(printed: &str, index: &TextIndex) -> String {
    let mut text = String::new();
    let mut at = 0;
    for comment in &index.comments {
        text.push_str(printed[at..comment.start].trim_end_matches(' '));
        at = comment.end;
    }
    text.push_str(&printed[at..]);
    text
}

/// The text of a printed module without the module around it.
fn without_module(printed: &str) -> String {
    let mut text = String::new();
    let mut is_inside = false;
    for line in printed.split_inclusive('\n') {
        match line.trim_end() {
            "module {" | "\"builtin.module\"() ({" if !is_inside => is_inside = true,
            "}" | "}) : () -> ()" if is_inside => is_inside = false,
            _ if is_inside => text.push_str(line.strip_prefix("  ").unwrap_or(line)),
            _ => text.push_str(line),
        }
    }
    text
}

/// The definitions of names of a kind, in text order, with the number of values of each.
fn definitions<'t>(text: &'t str, index: &TextIndex, kind: NameKind) -> Vec<(ThingId, &'t str, u32)> {
    let sites = index.names.iter().filter(|site| site.role == NameRole::Definition);
    let of_kind = sites.filter(|site| index.things[site.thing()].kind == kind);
    let named =
        of_kind.map(|site| (site.thing(), &text[site.span.clone()], index.things[site.thing()].value_count));
    named.collect()
}

/// A printed text with the document's names of values and blocks.
fn with_names(text: &str, index: &TextIndex, printed: &str, plain: &TextIndex) -> Result<String, String> {
    let mut spellings: BTreeMap<ThingId, &str> = BTreeMap::new();
    let wanted = definitions(text, index, NameKind::Value);
    let mut wanted = wanted.iter();
    for (thing, _, count) in definitions(printed, plain, NameKind::Value) {
        let mut left = count;
        while left > 0 {
            let (_, spelling, each) = wanted.next().ok_or("the text can't be formatted")?;
            spellings.entry(thing).or_insert(spelling);
            left = left.checked_sub(*each).ok_or("the text can't be formatted")?;
        }
    }
    let blocks = definitions(text, index, NameKind::Block);
    let printed_blocks = definitions(printed, plain, NameKind::Block);
    if blocks.len() == printed_blocks.len() {
        let pairs = printed_blocks.iter().zip(&blocks);
        spellings.extend(pairs.map(|((thing, _, _), (_, spelling, _))| (*thing, *spelling)));
    }
    let mut named = String::new();
    let mut at = 0;
    for site in &plain.names {
        if let Some(spelling) = spellings.get(&site.thing()) {
            named.push_str(&printed[at..site.span.start]);
            named.push_str(spelling);
            at = site.span.end;
        }
    }
    named.push_str(&printed[at..]);
    Ok(named)
}

/// Insertions into the lines of a text.
#[derive(Default)]
struct Insertions<'t> {
    /// Before each line.
    before: BTreeMap<usize, Vec<&'t str>>,
    /// At the end of each line.
    after: BTreeMap<usize, Vec<&'t str>>,
    /// Lines with an empty line before them.
    spaced: Vec<usize>,
}

/// A text with the comments of the document, and with an empty line before an operation if the document has
/// one or more there.
fn with_comments(text: &str, index: &TextIndex, named: &str, plain: &TextIndex) -> String {
    let starts: Vec<usize> =
        std::iter::once(0).chain(named.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let line_of = |at: usize| starts.partition_point(|start| *start <= at) - 1;
    let last = line_of(named.len().saturating_sub(1)) + 1;
    let line_text = |line: usize| {
        let end = starts.get(line + 1).copied().unwrap_or(named.len());
        &named[starts[line].min(named.len())..end]
    };
    let mut put = Insertions::default();
    for comment in &index.comments {
        let said = &text[comment.clone()];
        let head = text[..comment.start].rsplit('\n').next().unwrap_or_default();
        let next = index.op_after(comment.start);
        if !head.trim().is_empty() {
            // It ends the line of the construct that last began or ended before it.
            let line = match index.op_before(comment.start) {
                _ if head.trim_start().starts_with('}') => {
                    closing_line(index, plain, comment.start, &line_of)
                }
                Some(op) => line_of(plain.ops[op].span.start),
                None => 0,
            };
            put.after.entry(line).or_default().push(said);
            continue;
        }
        let around = index.op_at(comment.start);
        let line = match next.filter(|op| index.ops[*op].parent == around) {
            Some(op) => {
                let mut line = line_of(plain.ops[op].span.start);
                // It may belong before the block label of the operation's block, or before the end of a
                // region.
                let between = &text[comment.end..index.ops[op].span.start];
                while line > 0 && belongs_below(line_text(line - 1), between) {
                    line -= 1;
                }
                line
            }
            None => around.map_or(last, |op| line_of(plain.ops[op].span.end.saturating_sub(1))),
        };
        put.before.entry(line).or_default().push(said);
    }
    for (op, plain) in index.ops.values().zip(plain.ops.values()) {
        let gap = text[..op.span.start].trim_end_matches([' ', '\t']);
        if gap.ends_with("\n\n") {
            put.spaced.push(line_of(plain.span.start));
        }
    }
    put.into_text(named, text, &index.comments)
}

/// Whether a line of the printed text is a block label or ends a region, and the document has it after a
/// comment.
fn belongs_below(line: &str, between: &str) -> bool {
    let line = line.trim();
    line.starts_with('^') && between.contains('^') || line.starts_with('}') && between.contains('}')
}

/// The line on which the last construct ending before a byte of the document ends.
fn closing_line(index: &TextIndex, plain: &TextIndex, at: usize, line_of: &dyn Fn(usize) -> usize) -> usize {
    let ended = index.ops.iter().filter(|(_, op)| op.span.end <= at);
    let last = ended.max_by_key(|(number, op)| (op.span.end, Reverse(*number)));
    last.map_or(0, |(number, _)| line_of(plain.ops[number].span.end.saturating_sub(1)))
}

impl Insertions<'_> {
    fn into_text(self, named: &str, text: &str, comments: &[Range<usize>]) -> String {
        let spaced_comments: Vec<&str> = comments
            .iter()
            .filter(|comment| text[..comment.start].trim_end_matches([' ', '\t']).ends_with("\n\n"))
            .map(|comment| &text[comment.clone()])
            .collect();
        let mut out = String::new();
        for (number, line) in named.split_inclusive('\n').enumerate() {
            let own: String = line.chars().take_while(|c| *c == ' ').collect();
            let stands_out = line.trim_start().starts_with(['}', '^']);
            let indent = if stands_out { own + "  " } else { own };
            for comment in self.before.get(&number).into_iter().flatten() {
                self.push_comment(&mut out, &indent, comment, &spaced_comments);
            }
            if self.spaced.contains(&number) && !out.is_empty() && !out.ends_with("{\n") {
                out.push('\n');
            }
            out.push_str(line.trim_end_matches('\n'));
            for comment in self.after.get(&number).into_iter().flatten() {
                out.push_str("  ");
                out.push_str(comment);
            }
            out.push('\n');
        }
        let lines = named.split_inclusive('\n').count();
        for comment in self.before.range(lines..).flat_map(|(_, comments)| comments) {
            self.push_comment(&mut out, "", comment, &spaced_comments);
        }
        out
    }

    fn push_comment(&self, out: &mut String, indent: &str, comment: &str, spaced: &[&str]) {
        let is_spaced = spaced.iter().any(|other| std::ptr::eq(*other, comment));
        if is_spaced && !out.is_empty() {
            out.push('\n');
        }
        out.push_str(indent);
        out.push_str(comment);
        out.push('\n');
    }
}
