//! Where the names of a text stand, and its operations: what an editor asks of a text.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::lexer::{self, TokenKind};
use crate::body::Body;
use crate::entities::{Attr, Op, OpName, Type, Value};
use crate::module::Module;

/// Where the names of a text stand, and its operations. All places are bytes of the text.
#[derive(Default)]
pub struct TextIndex {
    /// The operations, as far as they could be read, in text order: each before those that it holds.
    pub ops: Vec<TextOp>,
    /// Every place where a name stands, in text order.
    pub names: Vec<NameSite>,
    /// What the names stand for.
    pub things: Vec<NamedThing>,
    /// The comments, each from its `//` to the end of its line.
    pub comments: Vec<Range<usize>>,
    /// Whether the operations of the text stand in a module that the text does not have.
    pub(super) is_wrapped: bool,
}

/// An operation of a text.
#[derive(Clone, Debug)]
pub struct TextOp {
    /// From its first result, or its name, to its end.
    pub span: Range<usize>,
    /// Where its name begins.
    pub name_start: usize,
    /// What it is; none if its text is at fault.
    pub op: Option<ReadTextOp>,
    /// The operation that holds it, by its place in [`TextIndex::ops`].
    pub parent: Option<usize>,
    /// The nearest isolated operation around it, likewise.
    pub scope: Option<usize>,
}

/// An operation that was read.
#[derive(Clone, Debug)]
pub struct ReadTextOp {
    /// Its name.
    pub name: OpName,
    /// Its inherent attributes.
    pub properties: Attr,
    /// All others.
    pub attrs: Attr,
    /// The types of its results.
    pub results: Vec<Type>,
    /// The operation itself, in the tables of the nearest isolated operation around it.
    pub handle: Op,
}

/// A place where a name stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSite {
    /// The name, with its sigil, if it has one here.
    pub span: Range<usize>,
    /// What it stands for, by its place in [`TextIndex::things`].
    pub thing: usize,
    /// Whether it is defined here.
    pub role: NameRole,
    /// The type of the value that is meant here.
    pub ty: Option<Type>,
}

/// Whether a name is defined or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRole {
    /// It is defined.
    Definition,
    /// It is read.
    Mention,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub struct NamedThing {
    /// Which kind of thing it is.
    pub kind: NameKind,
    /// The first of the values that it stands for, in the tables of the isolated operation around it.
    pub value: Option<Value>,
    /// How many values it stands for; 0 for what is no value, or whose definition is at fault.
    pub value_count: u32,
    /// The nearest isolated operation around a value or a block, by its place in [`TextIndex::ops`]; none at
    /// the top of the text.
    pub scope: Option<usize>,
}

/// A kind of things that have names.
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

impl NameKind {
    /// The byte before the name.
    pub fn sigil(self, spelling: &str) -> Option<char> {
        spelling.chars().next().filter(|first| "%^@#!".contains(*first))
    }
}

impl TextIndex {
    /// Whether the operations of the text stand in a module that the text does not have.
    pub fn is_wrapped(&self) -> bool {
        self.is_wrapped
    }

    /// The name at a byte, or that ends there.
    pub fn name_at(&self, at: usize) -> Option<&NameSite> {
        let after = self.names.partition_point(|site| site.span.start <= at);
        self.names[..after].last().filter(|site| at <= site.span.end)
    }

    /// All places of what a name stands for.
    pub fn sites(&self, thing: usize) -> impl Iterator<Item = &NameSite> {
        self.names.iter().filter(move |site| site.thing == thing)
    }

    /// Where a thing is defined, if the text does that.
    pub fn definition(&self, thing: usize) -> Option<&NameSite> {
        self.sites(thing).find(|site| site.role == NameRole::Definition)
    }

    /// The innermost operation around a byte, by its place in [`TextIndex::ops`].
    pub fn op_at(&self, at: usize) -> Option<usize> {
        let after = self.ops.partition_point(|op| op.span.start <= at);
        let mut found = after.checked_sub(1);
        while let Some(index) = found {
            if at <= self.ops[index].span.end {
                return found;
            }
            found = self.ops[index].parent;
        }
        None
    }

    /// The tables that an operation of the text stands in, by its place in [`TextIndex::ops`].
    pub fn body_around<'m>(&self, module: &'m Module, op: usize) -> Option<&'m Body> {
        match self.ops[op].scope {
            Some(scope) => self.body_of(module, scope),
            None if self.is_wrapped => Some(module.body()),
            None => Some(&module.top),
        }
    }

    /// The tables of an isolated operation of the text.
    pub fn body_of<'m>(&self, module: &'m Module, op: usize) -> Option<&'m Body> {
        let handle = self.ops[op].op.as_ref()?.handle;
        self.body_around(module, op)?.child(handle)
    }

    /// Adds the comments of a text, and symbols and aliases, which mean the same everywhere in it.
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
                    let is_defined = before[1] == TokenKind::Word && defines_symbols(&text[word.clone()]);
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

    /// Adds the comments in what stands between two tokens.
    fn add_comments(&mut self, text: &str, gap: Range<usize>) {
        let mut at = gap.start;
        while let Some(found) = text[at..gap.end].find("//") {
            let start = at + found;
            let length = text[start..gap.end].find('\n').unwrap_or(gap.end - start);
            at = start + length;
            self.comments.push(start..start + text[start..at].trim_end().len());
        }
    }
}

/// Whether a symbol after this word is defined there.
fn defines_symbols(word: &str) -> bool {
    matches!(word, "private" | "public" | "nested" | "module")
        || word.ends_with(".func")
        || word.ends_with(".module")
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

    /// Puts symbols, and what an alias is defined for, among the names of a text.
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
            let thing = *things.entry((site.kind == NameKind::Alias, site.name)).or_insert_with(|| {
                index.things.push(NamedThing { kind: site.kind, value: None, value_count: 0, scope: None });
                index.things.len() - 1
            });
            index.names.push(NameSite { span: site.span, thing, role: site.role, ty: None });
        }
        index.names.sort_by_key(|site| site.span.start);
    }
}
