//! Text index: the names and operations of a text, for editors.

use std::ops::Range;

use cranelift_entity::{EntityRef, PrimaryMap, entity_impl};
use rustc_hash::FxHashSet;

use super::lexer::{self, TokenKind};
use crate::body::Body;
use crate::entities::{Attr, Op, OpName, Type, Value};
use crate::module::Module;

/// An operation of a [`TextIndex`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextOpId(u32);
entity_impl!(TextOpId, "textop");

/// A named entity of a [`TextIndex`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThingId(u32);
entity_impl!(ThingId, "thing");

/// The sigils: characters that most names begin with.
pub const SIGILS: [char; 5] = ['%', '^', '@', '#', '!'];

/// The places of names and operations in a text. All places are byte offsets.
#[derive(Default)]
pub struct TextIndex {
    /// The operations, as far as they could be parsed, in text order: each before its nested ones.
    pub ops: PrimaryMap<TextOpId, TextOp>,
    /// Every occurrence of a name, in text order.
    pub names: Vec<NameSite>,
    /// The entities that the names denote.
    pub things: PrimaryMap<ThingId, NamedThing>,
    /// The comments, each from its `//` to the end of its line.
    pub comments: Vec<Range<usize>>,
    /// Whether the text's operations are in a module that is not in the text.
    pub(super) is_wrapped: bool,
    /// The places of symbols that are definitions.
    pub(super) defined_symbols: FxHashSet<usize>,
}

/// An operation of a text.
#[derive(Clone, Debug)]
pub struct TextOp {
    /// From its first result, or its name, to its end.
    pub span: Range<usize>,
    /// The start of its name.
    pub name_start: usize,
    /// The parsed operation; none if its text has an error.
    pub op: Option<ReadTextOp>,
    /// The operation that contains it.
    pub parent: Option<TextOpId>,
    /// The nearest isolated operation around it.
    pub scope: Option<TextOpId>,
}

/// A parsed operation.
#[derive(Clone, Debug)]
pub struct ReadTextOp {
    /// Its name.
    pub name: OpName,
    /// Its inherent attributes.
    pub properties: Attr,
    /// All others.
    pub attrs: Attr,
    /// The operation itself, in the tables of the nearest isolated operation around it.
    pub handle: Op,
}

/// An occurrence of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSite {
    /// The name, with its sigil, if it has one here.
    pub span: Range<usize>,
    /// The entity it denotes; none until its definition is parsed.
    pub(super) stands_for: Option<ThingId>,
    /// Whether this is the definition.
    pub role: NameRole,
    /// The type of the value that the name denotes.
    pub ty: Option<Type>,
}

/// Whether an occurrence defines or reads a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRole {
    /// It is defined.
    Definition,
    /// It is read.
    Mention,
}

/// A named entity.
#[derive(Clone, Debug)]
pub struct NamedThing {
    /// The kind of the entity.
    pub kind: NameKind,
    /// The first of the values that the name denotes, in the tables of the isolated operation around it.
    pub value: Option<Value>,
    /// The number of values that it denotes; 0 for other things, and if the definition has an error.
    pub value_count: u32,
    /// The nearest isolated operation around a value or a block; none at the top of the text.
    pub scope: Option<TextOpId>,
}

/// A kind of named entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// `%x`.
    Value,
    /// `^bb0`.
    Block,
    /// `@f`.
    Symbol,
    /// `#map` or `!type`.
    Alias,
}

impl TextIndex {
    /// Whether the text's operations are in a module that is not in the text.
    pub fn is_wrapped(&self) -> bool {
        self.is_wrapped
    }

    /// The occurrence of a name that contains a byte, or ends there.
    pub fn name_at(&self, at: usize) -> Option<&NameSite> {
        let after = self.names.partition_point(|site| site.span.start <= at);
        self.names[..after].last().filter(|site| at <= site.span.end)
    }

    /// All occurrences of the name of an entity.
    pub fn sites(&self, thing: ThingId) -> impl Iterator<Item = &NameSite> {
        self.names.iter().filter(move |site| site.stands_for == Some(thing))
    }

    /// The definition of an entity, if it is in the text.
    pub fn definition(&self, thing: ThingId) -> Option<&NameSite> {
        self.sites(thing).find(|site| site.role == NameRole::Definition)
    }

    /// The first operation that begins after a byte.
    pub fn op_after(&self, at: usize) -> Option<TextOpId> {
        let after = self.ops.as_values_slice().partition_point(|op| op.span.start <= at);
        (after < self.ops.len()).then(|| TextOpId::new(after))
    }

    /// The last operation that begins at or before a byte.
    pub fn op_before(&self, at: usize) -> Option<TextOpId> {
        let after = self.ops.as_values_slice().partition_point(|op| op.span.start <= at);
        after.checked_sub(1).map(TextOpId::new)
    }

    /// The innermost operation around a byte.
    pub fn op_at(&self, at: usize) -> Option<TextOpId> {
        let mut found = self.op_before(at);
        while let Some(op) = found.filter(|op| self.ops[*op].span.end < at) {
            found = self.ops[op].parent;
        }
        found
    }

    /// The tables that contain an operation of the text.
    pub fn body_around<'m>(&self, module: &'m Module, op: TextOpId) -> Option<&'m Body> {
        match self.ops[op].scope {
            Some(scope) => self.body_of(module, scope),
            None if self.is_wrapped => Some(module.body()),
            None => Some(&module.top),
        }
    }

    /// The tables of an isolated operation of the text.
    pub fn body_of<'m>(&self, module: &'m Module, op: TextOpId) -> Option<&'m Body> {
        let handle = self.ops[op].op.as_ref()?.handle;
        self.body_around(module, op)?.child(handle)
    }

    /// Adds the comments of a text, and symbols and aliases, which have one meaning in all of it.
    pub(super) fn add_global_names(&mut self, text: &str) {
        let mut globals = GlobalNames::default();
        let bytes = text.as_bytes();
        let mut before = [TokenKind::End; 2];
        let mut word = 0..0;
        let mut end = 0;
        loop {
            let token = lexer::next(bytes, end);
            self.add_comments(text, end..token.start);
            let spelling = text.get(token.start..token.end).unwrap_or("");
            match token.kind {
                TokenKind::End => break,
                TokenKind::At => {
                    let is_defined = self.defined_symbols.contains(&token.start);
                    let role = if is_defined { NameRole::Definition } else { NameRole::Mention };
                    globals.add(NameKind::Symbol, spelling, &spelling[1..], token.start, role);
                }
                TokenKind::Hash | TokenKind::Bang if !spelling.contains('.') => {
                    let is_number = before[1] == TokenKind::Percent && end == token.start;
                    let next = lexer::next(bytes, token.end).kind;
                    let begins_line = text[..token.start].trim_end_matches([' ', '\t']).ends_with('\n');
                    let is_defined =
                        next == TokenKind::Byte(b'=') && (begins_line || token.start == 0 || end == 0);
                    let role = if is_defined { NameRole::Definition } else { NameRole::Mention };
                    if !is_number {
                        globals.add(NameKind::Alias, spelling, spelling, token.start, role);
                    }
                }
                TokenKind::Text
                    if before == [TokenKind::Word, TokenKind::Byte(b'=')]
                        && &text[word.clone()] == "sym_name" =>
                {
                    let name = spelling.trim_matches('"');
                    globals.add(NameKind::Symbol, name, name, token.start + 1, NameRole::Definition);
                }
                _ => {}
            }
            if token.kind == TokenKind::Word {
                word = token.start..token.end;
            }
            before = [before[1], token.kind];
            end = token.end;
        }
        globals.finish(self);
    }

    /// Adds the comments in the gap between two tokens.
    fn add_comments(&mut self, text: &str, gap: Range<usize>) {
        // Nearly every gap is a space, or empty.
        if gap.len() < 2 {
            return;
        }
        let mut at = gap.start;
        while let Some(found) = text[at..gap.end].find("//") {
            let start = at + found;
            let length = text[start..gap.end].find('\n').unwrap_or(gap.end - start);
            at = start + length;
            self.comments.push(start..start + text[start..at].trim_end().len());
        }
    }
}

/// Symbols and aliases while they are collected.
#[derive(Default)]
struct GlobalNames<'t> {
    found: Vec<GlobalSite<'t>>,
}

struct GlobalSite<'t> {
    kind: NameKind,
    name: &'t str,
    span: Range<usize>,
    role: NameRole,
}

impl<'t> GlobalNames<'t> {
    fn add(&mut self, kind: NameKind, spelling: &'t str, name: &'t str, start: usize, role: NameRole) {
        self.found.push(GlobalSite { kind, name, span: start..start + spelling.len(), role });
    }

    /// Adds symbols, and the types or attributes of aliases, to the names of a text.
    fn finish(self, index: &mut TextIndex) {
        let is_alias = |site: &&GlobalSite<'t>| site.kind == NameKind::Alias;
        let defined = |site: &&GlobalSite<'t>| site.role == NameRole::Definition;
        let aliases: FxHashSet<&str> =
            self.found.iter().filter(is_alias).filter(defined).map(|site| site.name).collect();
        let mut things = indexmap::IndexMap::new();
        for site in self.found {
            if site.kind == NameKind::Alias && !aliases.contains(site.name) {
                continue;
            }
            let thing = NamedThing { kind: site.kind, value: None, value_count: 0, scope: None };
            let thing = *things
                .entry((site.kind == NameKind::Alias, site.name))
                .or_insert_with(|| index.things.push(thing));
            index.names.push(NameSite {
                span: site.span,
                stands_for: Some(thing),
                role: site.role,
                ty: None,
            });
        }
        index.names.sort_by_key(|site| site.span.start);
    }
}

impl NameSite {
    /// The entity that the name denotes.
    pub fn thing(&self) -> ThingId {
        self.stands_for.expect("all names of a text that is read stand for something")
    }
}
