//! Symbols: resolves references to operations.
//!
//! A symbol is an operation with a `sym_name`; it belongs to the body around it. A reference `@a::@b` is
//! resolved by searching for `@a` in the enclosing bodies from the inside out, and then for `@b` in the body
//! of `@a`.

use std::rc::Rc;

use ir::attrs::AttrData;
use ir::types::OpaquePiece;
use ir::{Attr, Body, Context, Ident, Op, TypeData};
use rustc_hash::FxHashMap;

/// The index of a body, in text order.
pub type BodyIndex = usize;

/// The bodies of a module, with the symbols in each.
pub struct ModuleSymbols<'m> {
    ctx: &'m Context,
    bodies: Vec<Held<'m>>,
}

/// A body and its contents.
struct Held<'m> {
    body: &'m Body,
    /// The enclosing body, and the operation there that owns this one.
    around: Option<(BodyIndex, Op)>,
    symbols: FxHashMap<&'m str, Op>,
    inside: FxHashMap<Op, BodyIndex>,
}

impl<'m> ModuleSymbols<'m> {
    /// The bodies below an outermost body.
    pub fn of(ctx: &'m Context, top: &'m Body) -> ModuleSymbols<'m> {
        let mut symbols = ModuleSymbols { ctx, bodies: Vec::new() };
        symbols.add(top, None);
        symbols
    }

    /// The outermost body.
    pub const TOP: BodyIndex = 0;

    fn add(&mut self, body: &'m Body, around: Option<(BodyIndex, Op)>) -> BodyIndex {
        let scope = self.bodies.len();
        self.bodies.push(Held { body, around, symbols: FxHashMap::default(), inside: FxHashMap::default() });
        let name = self.ctx.ident("sym_name");
        for op in body.roots().iter().flat_map(|root| body.blocks(*root)).flat_map(|block| body.ops(*block)) {
            if let Some(symbol) = body.attr(self.ctx, op, name).and_then(|attr| self.ctx.str_value(attr)) {
                self.bodies[scope].symbols.entry(symbol).or_insert(op);
            }
        }
        for (op, child) in body.children() {
            let inside = self.add(child, Some((scope, op)));
            self.bodies[scope].inside.insert(op, inside);
        }
        scope
    }

    /// All bodies, in text order.
    pub fn scopes(&self) -> impl Iterator<Item = BodyIndex> + use<> {
        0..self.bodies.len()
    }

    /// A body.
    pub fn body(&self, scope: BodyIndex) -> &'m Body {
        self.bodies[scope].body
    }

    /// The body around another one, with the operation there that owns the inner one.
    pub fn around(&self, scope: BodyIndex) -> Option<(BodyIndex, Op)> {
        self.bodies[scope].around
    }

    /// The body that an operation owns.
    pub fn inside(&self, scope: BodyIndex, op: Op) -> Option<BodyIndex> {
        self.bodies[scope].inside.get(&op).copied()
    }

    /// Whether a body has a symbol that this operation defines.
    pub fn defines(&self, scope: BodyIndex, op: Op) -> bool {
        let name = self.ctx.ident("sym_name");
        self.bodies[scope]
            .body
            .attr(self.ctx, op, name)
            .is_some_and(|attr| self.ctx.str_value(attr).is_some())
    }

    /// The operations on the path of a reference in a body, outermost first; none if it names nothing.
    pub fn resolve(&self, scope: BodyIndex, path: &[Ident]) -> Option<Vec<(BodyIndex, Op)>> {
        let (first, rest) = path.split_first()?;
        let first = self.ctx.str(*first);
        let outwards = std::iter::successors(Some(scope), |scope| Some(self.around(*scope)?.0));
        let mut found = outwards.filter_map(|scope| Some((scope, *self.bodies[scope].symbols.get(first)?)));
        let mut path = vec![found.next()?];
        for name in rest {
            let &(scope, op) = path.last()?;
            let inside = self.inside(scope, op)?;
            path.push((inside, *self.bodies[inside].symbols.get(self.ctx.str(*name))?));
        }
        Some(path)
    }
}

/// Finds the symbol references in attributes.
pub struct References<'c> {
    ctx: &'c Context,
    known: FxHashMap<Attr, Rc<[Box<[Ident]>]>>,
}

impl<'c> References<'c> {
    /// A finder with an empty cache.
    pub fn new(ctx: &'c Context) -> References<'c> {
        References { ctx, known: FxHashMap::default() }
    }

    /// The paths of all references in an attribute; in opaque attributes and types, all words after an `@`.
    pub fn of(&mut self, attr: Attr) -> Rc<[Box<[Ident]>]> {
        if let Some(known) = self.known.get(&attr) {
            return known.clone();
        }
        let mut paths: Vec<Box<[Ident]>> = Vec::new();
        match self.ctx.attr_data(attr) {
            AttrData::SymbolRef { root, nested } => {
                paths.push(std::iter::once(*root).chain(nested.iter().copied()).collect());
            }
            AttrData::Array(items) => {
                items.iter().for_each(|item| paths.extend(self.of(*item).iter().cloned()))
            }
            AttrData::Dict(entries) => {
                entries.iter().for_each(|entry| paths.extend(self.of(entry.1).iter().cloned()));
            }
            AttrData::Distinct { inner, .. } => paths.extend(self.of(*inner).iter().cloned()),
            AttrData::Type(ty) => {
                if let TypeData::Opaque { body, .. } = self.ctx.type_data(*ty) {
                    self.pieces(body, &mut paths);
                }
            }
            AttrData::Opaque { body, .. } => self.pieces(body, &mut paths),
            _ => {}
        }
        let paths: Rc<[Box<[Ident]>]> = paths.into();
        self.known.insert(attr, paths.clone());
        paths
    }

    fn pieces(&mut self, pieces: &[OpaquePiece], paths: &mut Vec<Box<[Ident]>>) {
        for piece in pieces {
            match piece {
                OpaquePiece::Attr(attr) => paths.extend(self.of(*attr).iter().cloned()),
                OpaquePiece::Type(_) => {}
                OpaquePiece::Text(text) => {
                    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
                    for word in text.split('@').skip(1) {
                        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
                        paths.push([self.ctx.ident(&word[..end])].into());
                    }
                }
            }
        }
    }
}
