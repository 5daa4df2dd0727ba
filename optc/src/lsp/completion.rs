//! Completion at a position of a document: operations, attributes, types, names, passes.

use std::collections::BTreeSet;

use ir::opdef::OpDef;
use ir::plan::attrs;
use ir::text::index::{NameKind, NameRole, SIGILS};
use ir::text::op_of_word;
use ir::{Context, Dialect};

use super::document::{Document, Part};
use super::protocol::{Item, ItemKind};
use crate::describe;
use crate::opt::Setup;

/// Types that need no definition.
const TYPES: &[(&str, &str)] = &[
    ("tensor", "tensor<4x8xf32>: elements of one type, with a size for each axis"),
    ("memref", "memref<4x8xf32>: a buffer"),
    ("vector", "vector<4xf32>"),
    ("tuple", "tuple<i32, f32>"),
    ("complex", "complex<f32>"),
    ("f64", "64-bit float"),
    ("f32", "32-bit float"),
    ("f16", "16-bit float (IEEE)"),
    ("bf16", "16-bit float with the exponents of f32"),
    ("i64", "64-bit integer"),
    ("i32", "32-bit integer"),
    ("i16", "16-bit integer"),
    ("i8", "8-bit integer"),
    ("i1", "a truth value"),
    ("index", "an integer as wide as an address"),
];

/// The kind of completion, from the text before the position on its line.
enum ExpectedThing {
    /// A name after this sigil.
    Name(char),
    /// An attribute of an operation.
    Attribute(&'static OpDef),
    /// A type.
    Type,
    /// An operation.
    Operation,
}

/// The completions at a byte.
pub(super) fn completion(setup: &Setup, document: &Document, at: usize) -> Vec<Item> {
    let line_start = document.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &document.text[line_start..at];
    if before.starts_with("// RUN:") {
        return if before.contains("--passes=") { passes(setup) } else { Vec::new() };
    }
    if before.contains("//") {
        return Vec::new();
    }
    let ctx = setup.context();
    match expected(&ctx, before) {
        ExpectedThing::Name(sigil) => {
            document.part_at(at).map_or_else(Vec::new, |part| names(document, part, at, sigil))
        }
        ExpectedThing::Attribute(def) => attributes(def),
        ExpectedThing::Type => types(),
        ExpectedThing::Operation => operations(&ctx),
    }
}

fn expected(ctx: &Context, before: &str) -> ExpectedThing {
    let is_word = |c: char| c.is_alphanumeric() || "_.$-".contains(c);
    let typed = before.trim_end_matches(is_word);
    if let Some(sigil) = typed.chars().last().filter(|last| SIGILS.contains(last)) {
        return ExpectedThing::Name(sigil);
    }
    // An operation's attributes are in braces that are open on its line, and take a value after `=`.
    let open = before.rfind('{').filter(|open| !before[*open..].contains('}'));
    let def = open.and_then(|open| op_of_line(ctx, &before[..open]));
    if let (Some(open), Some(def)) = (open, def) {
        let entry = before[open + 1..].rsplit(',').next().unwrap_or_default();
        if !entry.contains('=') {
            return ExpectedThing::Attribute(def);
        }
    }
    match typed.trim() {
        "" => ExpectedThing::Operation,
        text if text.ends_with('=') && text.starts_with('%') && !text.contains(['(', '{']) => {
            ExpectedThing::Operation
        }
        _ => ExpectedThing::Type,
    }
}

/// The operation at the beginning of a line.
fn op_of_line(ctx: &Context, line: &str) -> Option<&'static OpDef> {
    let text = line.split_once(" = ").map_or(line, |(_, rest)| rest).trim_start();
    let name = text.trim_start_matches('"').split([' ', '(', '"', '{']).next()?;
    op_of_word(ctx, name).map(|(_, def)| def)
}

fn item(kind: ItemKind, label: &str, detail: &str, documentation: String) -> Item {
    Item { label: label.to_owned(), kind: kind as u8, detail: detail.to_owned(), documentation }
}

fn passes(setup: &Setup) -> Vec<Item> {
    setup.registry.iter().map(|def| item(ItemKind::Pass, def.name, "pass", def.doc.to_owned())).collect()
}

fn operations(ctx: &Context) -> Vec<Item> {
    let ops = ctx.dialects().flat_map(Dialect::ops);
    let item = |def: &'static OpDef| {
        let example = def.example.lines().next().unwrap_or_default();
        item(ItemKind::Operation, def.name, example, def.doc.to_owned())
    };
    ops.map(item).collect()
}

fn attributes(def: &'static OpDef) -> Vec<Item> {
    let own = def.attrs.iter().map(|attr| {
        let detail = describe::attr_kind(attr.kind);
        item(
            ItemKind::Attribute,
            attr.name,
            &detail,
            format!("{}\n\n{}", describe::presence(attr.presence), attr.doc),
        )
    });
    let plan =
        attrs::ALL.iter().map(|attr| item(ItemKind::Attribute, attr.name, attr.on, attr.says.to_owned()));
    own.chain(plan).collect()
}

fn types() -> Vec<Item> {
    TYPES.iter().map(|(name, says)| item(ItemKind::Type, name, says, String::new())).collect()
}

/// The names known at a byte of a document that begin with a sigil.
fn names(document: &Document, part: &Part, at: usize, sigil: char) -> Vec<Item> {
    let kind = match sigil {
        '%' => NameKind::Value,
        '^' => NameKind::Block,
        '@' => NameKind::Symbol,
        _ => NameKind::Alias,
    };
    let inner = at - part.start;
    let around = part.index.op_at(inner);
    let is_global = matches!(kind, NameKind::Symbol | NameKind::Alias);
    // A value is known after its definition in the same isolated operation; a block is known before it too.
    let scope = around.and_then(|op| if part.is_isolated(op) { Some(op) } else { part.index.ops[op].scope });
    let known = part.index.names.iter().filter(|site| {
        let thing = &part.index.things[site.thing()];
        let is_near = is_global || thing.scope == scope;
        let is_before = kind != NameKind::Value || site.span.end < inner;
        site.role == NameRole::Definition && thing.kind == kind && is_near && is_before
    });
    let mut seen = BTreeSet::new();
    let mut items = Vec::new();
    for site in known {
        let spelling = &document.text[part.in_document(&site.span)];
        let is_wanted = kind == NameKind::Symbol || spelling.starts_with(sigil);
        let name = spelling.trim_start_matches(SIGILS);
        if is_wanted && site.span != (inner..inner) && seen.insert(name.to_owned()) {
            let detail = site.ty.map_or(String::new(), |ty| ir::text::type_text(&part.ctx, ty));
            let kind = match kind {
                NameKind::Value => ItemKind::Value,
                NameKind::Block => ItemKind::Block,
                NameKind::Symbol => ItemKind::Operation,
                NameKind::Alias => ItemKind::Alias,
            };
            items.push(item(kind, name, &detail, String::new()));
        }
    }
    items
}
