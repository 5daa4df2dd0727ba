//! Names in a document: definitions, references and renaming; the outline of a document; types beside names.

use std::ops::Range;

use ir::text::index::{NameKind, NameRole, NameSite, SIGILS, TextIndex, TextOp};
use ir::{Attr, Traits};
use serde_json::{Value, json};

use super::document::{Document, Part};
use super::protocol::{OutlineEntry, TextEdit};

/// Whether definitions are included in the references.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Definitions {
    Included,
    LeftOut,
}

/// The definition of the name at a byte.
pub(super) fn definition(document: &Document, at: usize) -> Option<Range<usize>> {
    let part = document.part_at(at)?;
    let site = part.name_at(at)?;
    Some(part.in_document(&part.index.definition(site.thing())?.span))
}

/// The references to the name at a byte.
pub(super) fn references(document: &Document, at: usize, definitions: Definitions) -> Vec<Range<usize>> {
    let Some(part) = document.part_at(at) else { return Vec::new() };
    let Some(site) = part.name_at(at) else { return Vec::new() };
    let wanted = |site: &&NameSite| definitions == Definitions::Included || site.role == NameRole::Mention;
    part.index.sites(site.thing()).filter(wanted).map(|site| part.in_document(&site.span)).collect()
}

/// The edits that rename the name at a byte.
///
/// # Errors
/// The reason why it can't have the new name.
pub(super) fn rename(document: &Document, at: usize, new_name: &str) -> Result<Vec<TextEdit>, String> {
    let part = document.part_at(at).ok_or("there is no name")?;
    let site = part.name_at(at).ok_or("there is no name")?;
    let text = &document.text[part.start..part.start + part.length];
    let kind = part.index.things[site.thing()].kind;
    let name = new_name.strip_prefix(SIGILS).unwrap_or(new_name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_$.-".contains(c);
    let begins =
        |c: char| c.is_ascii_alphabetic() || c == '_' || c.is_ascii_digit() && kind == NameKind::Value;
    if !name.chars().all(is_name) || !name.starts_with(begins) {
        return Err(format!("`{new_name}` is no name: letters, digits and `_` are"));
    }
    if kind == NameKind::Alias && name.contains('.') {
        return Err("the name of an alias has no `.`: that is how dialects' names are told apart".to_owned());
    }
    if part.index.definition(site.thing()).is_none() {
        return Err(format!("`{}` is not defined in this text", &text[site.span.clone()]));
    }
    if is_taken(&part.index, text, site, name) {
        return Err(format!("something else is called `{name}` there"));
    }
    let edit = |site: &NameSite| {
        let sigil = text[site.span.clone()].chars().next().filter(|first| SIGILS.contains(first));
        let sigil = sigil.map(String::from).unwrap_or_default();
        let range = document.span(part.in_document(&site.span));
        TextEdit { range, new_text: sigil + name }
    };
    Ok(part.index.sites(site.thing()).map(edit).collect())
}

/// Whether a name has another meaning in the scope of this one.
fn is_taken(index: &TextIndex, text: &str, site: &NameSite, name: &str) -> bool {
    let thing = &index.things[site.thing()];
    index.names.iter().filter(|other| other.thing() != site.thing()).any(|other| {
        let known = &index.things[other.thing()];
        let spelling = &text[other.span.clone()];
        let bare = spelling.trim_start_matches(SIGILS);
        known.kind == thing.kind && known.scope == thing.scope && bare == name
    })
}

/// The functions and modules of a document, each with its members.
pub(super) fn outline(document: &Document) -> Vec<OutlineEntry> {
    document.parts().iter().flat_map(|part| outline_of(document, part)).collect()
}

fn outline_of(document: &Document, part: &Part) -> Vec<OutlineEntry> {
    let mut outer = Vec::new();
    // The entries that have not ended yet, the innermost last, each with its end.
    let mut open: Vec<(usize, OutlineEntry)> = Vec::new();
    for site in part.index.ops.values() {
        close(&mut open, &mut outer, site.span.start);
        open.extend(entry(document, part, site).map(|entry| (site.span.end, entry)));
    }
    close(&mut open, &mut outer, usize::MAX);
    outer
}

/// Moves the entries that end before a byte into their parents.
fn close(open: &mut Vec<(usize, OutlineEntry)>, outer: &mut Vec<OutlineEntry>, at: usize) {
    while let Some((_, entry)) = open.pop_if(|(end, _)| *end <= at) {
        match open.last_mut() {
            Some((_, around)) => around.children.push(entry),
            None => outer.push(entry),
        }
    }
}

/// The outline's entry for an operation: only for symbols and modules.
fn entry(document: &Document, part: &Part, site: &TextOp) -> Option<OutlineEntry> {
    const MODULE: u8 = 2;
    const FUNCTION: u8 = 12;
    let op = site.op.as_ref()?;
    let def = part.ctx.def(op.name);
    let is_module = def.is_some_and(|def| def.traits.contains(Traits::SYMBOL_TABLE));
    let name = symbol(part, op.properties).or_else(|| symbol(part, op.attrs));
    Some(OutlineEntry {
        name: name.or_else(|| is_module.then(|| "module".to_owned()))?,
        detail: part.ctx.op_name_str(op.name).to_owned(),
        kind: if is_module { MODULE } else { FUNCTION },
        range: document.span(part.in_document(&site.span)),
        selection_range: document.span(part.in_document(&(site.name_start..site.name_start + 1))),
        children: Vec::new(),
    })
}

fn symbol(part: &Part, attrs: Attr) -> Option<String> {
    let value = part.ctx.dict_get(attrs, part.ctx.ident("sym_name"))?;
    part.ctx.str_value(value).map(str::to_owned)
}

/// The types of values in a byte range of a document where the text omits them: beside arguments without a
/// type, and beside results whose type is not on the line.
pub(super) fn type_hints(document: &Document, range: Range<usize>) -> Vec<Value> {
    let mut hints = Vec::new();
    for part in document.parts() {
        let sites = part.index.names.iter().filter(|site| site.role == NameRole::Definition);
        for site in sites.filter(|site| range.contains(&(part.start + site.span.start))) {
            let Some(ty) = site.ty else { continue };
            let ty = ir::text::type_text(&part.ctx, ty);
            let end = part.start + site.span.end;
            let rest = &document.text[end..];
            let line = rest.split('\n').next().unwrap_or_default();
            let op = part.index.op_at(site.span.start).map(|op| &part.index.ops[op]);
            let is_result = op.is_some_and(|op| site.span.start < op.name_start);
            let is_said = if is_result { line.contains(&ty) } else { line.trim_start().starts_with(':') };
            if !is_said {
                hints.push(json!({
                    "position": document.position(end),
                    "label": format!(": {ty}"),
                    "kind": 1,
                    "paddingLeft": true,
                }));
            }
        }
    }
    hints
}
