//! Hover texts: an operation's documentation, a value's type and place, an attribute's meaning, a pass.

use std::fmt::Write;
use std::ops::Range;

use codegen::{PlaceMemory, ReadPlan};
use cranelift_entity::EntityRef;
use ir::alias::AliasSets;
use ir::plan::attrs;
use ir::text::index::{NameKind, NameRole, NameSite, NamedThing};
use ir::{Body, Op, Value};
use passes::plan::ArenaProblem;

use super::document::{Document, Part};
use crate::describe;
use crate::opt::Setup;
use crate::plan_report::{names, plan_report};

/// The hover text at a byte of a document, as Markdown, and the range that it describes.
pub(super) fn hover(setup: &Setup, document: &Document, at: usize) -> Option<(String, Range<usize>)> {
    let word = word_at(&document.text, at);
    let spelling = document.text[word.clone()].to_owned();
    if document.position(at).line == 0 && document.text.starts_with("// RUN:") {
        return Some((code(&describe::pass(setup.registry.get(&spelling)?)), word));
    }
    let part = document.part_at(at)?;
    if let Some(site) = part.name_at(at) {
        return Some((name_text(document, part, site), part.in_document(&site.span)));
    }
    let inner = at - part.start;
    let site = &part.index.ops[part.index.op_at(inner)?];
    if word.contains(&(part.start + site.name_start)) || word.start == part.start + site.name_start + 1 {
        let name = site.op.as_ref()?.name;
        return Some((code(&describe::op(part.ctx.def(name)?)), word));
    }
    let row = site.op.as_ref().and_then(|op| part.ctx.def(op.name)).and_then(|def| def.attr(&spelling));
    if let Some(attr) = row {
        return Some((code(&describe::attr(attr)), word));
    }
    let plan = attrs::ALL.iter().find(|attr| attr.name == spelling)?;
    let said = format!(
        "`{}` on {}: {}.\n\nWritten by {}; read by {}.",
        plan.name, plan.on, plan.says, plan.written_by, plan.read_by
    );
    Some((said, word))
}

fn code(text: &str) -> String {
    format!("```text\n{}\n```", text.trim_end())
}

/// The word around a byte: letters, digits, `_`, `.`, `-` and `$`.
pub(super) fn word_at(text: &str, at: usize) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || "_.-$".contains(c);
    let start = text[..at]
        .rfind(|c| !is_word(c))
        .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
    let end = text[at..].find(|c| !is_word(c)).map_or(text.len(), |length| at + length);
    start..end
}

/// The hover text of a name.
fn name_text(document: &Document, part: &Part, site: &NameSite) -> String {
    let spelling = &document.text[part.in_document(&site.span)];
    let thing = &part.index.things[site.thing()];
    let readers = part.index.sites(site.thing()).filter(|other| other.role == NameRole::Mention).count();
    let mut text = format!("`{spelling}`");
    if let Some(ty) = site.ty {
        write!(text, " : `{}`", ir::text::type_text(&part.ctx, ty)).expect("writing to a string");
    }
    if let Some(definition) = part.index.definition(site.thing()) {
        let line = document.position(part.start + definition.span.start).line + 1;
        let by = part.index.op_at(definition.span.start).map(|op| &part.index.ops[op]);
        let by = by.filter(|op| definition.span.start < op.name_start).and_then(|op| op.op.as_ref());
        match by {
            Some(op) => write!(text, "\n\nresult of `{}` in line {line}", part.ctx.op_name_str(op.name)),
            None if thing.kind == NameKind::Value => write!(text, "\n\nargument, in line {line}"),
            None => write!(text, "\n\ndefined in line {line}"),
        }
        .expect("writing to a string");
    }
    write!(text, ", read {}", times(readers)).expect("writing to a string");
    if let Some(place) = place_text(document, part, thing) {
        write!(text, "\n\n{place}").expect("writing to a string");
    }
    text
}

fn times(count: usize) -> String {
    match count {
        0 => "nowhere".to_owned(),
        1 => "once".to_owned(),
        _ => format!("{count} times"),
    }
}

/// The place of a value in a planned function, and its live range.
fn place_text(document: &Document, part: &Part, thing: &NamedThing) -> Option<String> {
    let module = part.module.as_ref()?;
    let body = part.index.body_of(module, thing.scope?)?;
    let value = thing.value?;
    let place = ReadPlan::of(&part.ctx, body).ok()?.value(value)?;
    let end = place.offset + place.bytes;
    let memory = match place.memory {
        PlaceMemory::Arena => "arena".to_owned(),
        PlaceMemory::Input(number) => format!("input {number}"),
        PlaceMemory::Output(number) => format!("output {number}"),
    };
    let mut text = format!("{memory}, bytes {} to {end} ({} bytes)", place.offset, place.bytes);
    if let Some((first, last)) = lives(part, body, value) {
        let line = |op: Op| {
            let site = part.index.ops.values().find(|site| {
                site.scope == thing.scope && site.op.as_ref().is_some_and(|read| read.handle == op)
            });
            site.map(|site| document.position(part.start + site.name_start).line + 1)
        };
        if let (Some(first), Some(last)) = (line(first), line(last)) {
            write!(text, ", kept from line {first} to line {last}").expect("writing to a string");
        }
    }
    Some(text)
}

/// The first and the last operation of a value's live range.
fn lives(part: &Part, body: &Body, value: Value) -> Option<(Op, Op)> {
    let name = &names(body, body.entry(body.root())?)[value];
    let report = plan_report(&part.ctx, body, 0).ok()?;
    let known = report.values.iter().find(|known| known.name == *name)?;
    let aliases = AliasSets::of(&part.ctx, body);
    let arena = ArenaProblem::of(&part.ctx, body, &aliases).ok()?;
    let steps = arena.steps();
    let first = steps.iter().find(|(step, _)| step.index() >= known.first)?;
    let last = steps.iter().filter(|(step, _)| step.index() <= known.last).last()?;
    Some((first.1, last.1))
}
