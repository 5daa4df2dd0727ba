//! Aliases: the names of attributes, types and locations in the text.
//!
//! As in MLIR's printer (`AliasInitializer`), affine maps, integer sets, locations, distinct attributes and
//! big tuples get generated names (`#map`, `#map1`, ...); all others keep the name from the module's text.
//! Everything is visited once, in the printer's order. Names are assigned by nesting depth of named subjects,
//! types before attributes, by name, and then in the order of visiting. Subjects that only locations of
//! operations need are defined after the module.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::index_of;
use super::lines::LineStarts;
use crate::attrs::AttrData;
use crate::body::Body;
use crate::context::Context;
use crate::entities::{Attr, Ident, Location, Op, Region, Type, Value};
use crate::location::LocationData;
use crate::module::Module;
use crate::text::{Locations, mentions};
use crate::types::{OpaquePiece, TypeData};

/// Tuples of more types than this get a name.
const BIG_TUPLE: usize = 16;

/// Something that may have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AliasSubject {
    /// An attribute that is not a location.
    Attr(Attr),
    /// A type.
    Type(Type),
    /// A location, of an operation or as an attribute.
    Location(Location),
}

/// The place of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefinitionTime {
    /// Before the module.
    Before,
    /// After the module.
    Behind,
}

/// The names of a module's text.
#[derive(Default)]
pub(super) struct AliasNames {
    names: FxHashMap<AliasSubject, Box<str>>,
    /// The named subjects, in the order of definition.
    pub order: Vec<(AliasSubject, DefinitionTime)>,
    /// Resources in the order of visiting.
    pub resources: Vec<Ident>,
}

impl AliasNames {
    /// The names of all subjects in a module.
    pub(super) fn of(module: &Module, locations: Locations, lines: &mut LineStarts) -> AliasNames {
        let mut visitor = Visitor {
            ctx: &module.ctx,
            module,
            locations,
            lines,
            found: IndexMap::default(),
            types: Vec::new(),
            dicts: FxHashSet::default(),
            last_dicts: (Attr::EMPTY, Attr::EMPTY),
            resources: Vec::new(),
            undefined: FxHashSet::default(),
        };
        visitor.op(&module.top, module.op());
        visitor.finish()
    }

    /// The name of a subject, with its sigil.
    pub(super) fn get(&self, subject: AliasSubject) -> Option<&str> {
        if self.names.is_empty() { None } else { self.names.get(&subject).map(|name| &**name) }
    }
}

/// The properties of a subject.
struct SubjectFacts {
    name: Option<Name>,
    /// 0 if neither it nor its contents have a name; else one more than the deepest named subject in it.
    depth: u32,
    turn: DefinitionTime,
    children: Vec<usize>,
}

/// The preferred name of a subject.
#[derive(Clone, Copy)]
enum Name {
    /// This name, with a number if it is taken.
    Prefix(&'static str),
    /// This name, and its place in the parsed text.
    Kept(Ident, usize),
}

struct Visitor<'m> {
    ctx: &'m Context,
    module: &'m Module,
    locations: Locations,
    lines: &'m mut LineStarts,
    found: IndexMap<AliasSubject, SubjectFacts, FxBuildHasher>,
    /// The visited types of values, by their index.
    types: Vec<bool>,
    /// Visited attributes of operations (inherent, other).
    dicts: FxHashSet<(Attr, Attr)>,
    /// Those of the previous operation.
    last_dicts: (Attr, Attr),
    resources: Vec<Ident>,
    /// Names, with their sigils, that denote nothing in the texts of opaque types and attributes; no subject
    /// may get them.
    undefined: FxHashSet<&'m str>,
}

/// The accumulated properties of a subject's parts during the visit.
struct VisitedParts {
    depth: u32,
    children: Vec<usize>,
    turn: DefinitionTime,
}

impl<'m> Visitor<'m> {
    fn op(&mut self, body: &'m Body, op: Op) {
        if self.locations != Locations::Hidden {
            self.location(body.location(op), DefinitionTime::Behind);
        }
        match body.child(op) {
            Some(child) => self.regions(child, child.roots()),
            None => self.regions(body, body.regions(op)),
        }
        let values = body.operands(op).chain(body.results(op));
        values.for_each(|value| self.value_type(body.ty(value)));
        self.attrs(body.properties(op), body.attrs(op));
    }

    fn regions(&mut self, body: &'m Body, regions: &[Region]) {
        for &block in regions.iter().flat_map(|region| body.blocks(*region)) {
            body.args(block).iter().for_each(|arg| self.arg(body, *arg));
            for op in body.ops(block) {
                self.op(body, op);
            }
        }
    }

    fn arg(&mut self, body: &Body, arg: Value) {
        self.top(AliasSubject::Type(body.ty(arg)));
        if self.locations != Locations::Hidden {
            self.location(body.arg_location(arg), DefinitionTime::Before);
        }
    }

    fn value_type(&mut self, ty: Type) {
        let index = index_of(ty);
        if index >= self.types.len() {
            self.types.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.types[index], true) {
            self.top(AliasSubject::Type(ty));
        }
    }

    /// All attributes of an operation, sorted by name.
    fn attrs(&mut self, properties: Attr, attrs: Attr) {
        if std::mem::replace(&mut self.last_dicts, (properties, attrs)) == (properties, attrs)
            || !self.dicts.insert((properties, attrs))
        {
            return;
        }
        let mut all = self.ctx.dict_entries(properties).to_vec();
        all.extend_from_slice(self.ctx.dict_entries(attrs));
        all.sort_by(|a, b| self.ctx.str(a.0).cmp(self.ctx.str(b.0)));
        for (_, attr) in all {
            let subject = self.subject(attr);
            self.top(subject);
        }
    }

    fn location(&mut self, location: Location, turn: DefinitionTime) {
        let location = self.lines.interned(self.ctx, location);
        self.visit(AliasSubject::Location(location), turn);
    }

    fn top(&mut self, subject: AliasSubject) {
        self.visit(subject, DefinitionTime::Before);
    }

    fn subject(&mut self, attr: Attr) -> AliasSubject {
        match self.ctx.attr_data(attr) {
            AttrData::Location(location) => AliasSubject::Location(self.lines.interned(self.ctx, *location)),
            _ => AliasSubject::Attr(attr),
        }
    }

    /// Visits a subject with all its parts. Returns its index among those found, and its depth.
    fn visit(&mut self, subject: AliasSubject, turn: DefinitionTime) -> (usize, u32) {
        if let Some((index, _, found)) = self.found.get_full(&subject) {
            let depth = found.depth;
            if turn == DefinitionTime::Before {
                self.define_before(index);
            }
            return (index, depth);
        }
        let name = self.name(subject);
        let depth = u32::from(name.is_some());
        let (index, _) =
            self.found.insert_full(subject, SubjectFacts { name, depth, turn, children: Vec::new() });
        let mut parts = VisitedParts { depth: 0, children: Vec::new(), turn };
        match subject {
            AliasSubject::Attr(attr) => self.attr_parts(attr, &mut parts),
            AliasSubject::Type(ty) => self.type_parts(ty, &mut parts),
            AliasSubject::Location(location) => self.location_parts(location, &mut parts),
        }
        let found = &mut self.found[index];
        found.children = parts.children;
        if parts.depth > 0 {
            found.depth = parts.depth + 1;
        }
        (index, found.depth)
    }

    /// Moves a subject, and all its parts, before the module.
    fn define_before(&mut self, index: usize) {
        let mut pending = vec![index];
        while let Some(index) = pending.pop() {
            let found = &mut self.found[index];
            if found.turn == DefinitionTime::Behind {
                found.turn = DefinitionTime::Before;
                pending.extend_from_slice(&found.children);
            }
        }
    }

    fn part(&mut self, subject: AliasSubject, parts: &mut VisitedParts) {
        let (index, depth) = self.visit(subject, parts.turn);
        parts.children.push(index);
        parts.depth = parts.depth.max(depth);
    }

    fn attr_part(&mut self, attr: Attr, parts: &mut VisitedParts) {
        let subject = self.subject(attr);
        self.part(subject, parts);
    }

    fn attr_parts(&mut self, attr: Attr, parts: &mut VisitedParts) {
        match self.ctx.attr_data(attr) {
            AttrData::Dict(entries) => entries.iter().for_each(|(_, value)| self.attr_part(*value, parts)),
            AttrData::Array(items) => items.iter().for_each(|item| self.attr_part(*item, parts)),
            AttrData::Distinct { inner, .. } => self.attr_part(*inner, parts),
            AttrData::Type(ty) | AttrData::Dense { ty, .. } | AttrData::Sparse { ty, .. } => {
                self.part(AliasSubject::Type(*ty), parts);
            }
            AttrData::Resource { ty, key } => {
                self.resources.push(*key);
                self.part(AliasSubject::Type(*ty), parts);
            }
            AttrData::String { ty, .. } => {
                ty.iter().for_each(|ty| self.part(AliasSubject::Type(*ty), parts));
            }
            AttrData::Opaque { body, ty, .. } => {
                self.pieces(body, parts);
                ty.iter().for_each(|ty| self.part(AliasSubject::Type(*ty), parts));
            }
            _ => {}
        }
    }

    fn pieces(&mut self, body: &'m [OpaquePiece], parts: &mut VisitedParts) {
        for piece in body {
            match piece {
                OpaquePiece::Text(text) => self.undefined.extend(mentions::of_text(text)),
                OpaquePiece::Attr(attr) => self.attr_part(*attr, parts),
                OpaquePiece::Type(ty) => self.part(AliasSubject::Type(*ty), parts),
            }
        }
    }

    fn type_parts(&mut self, ty: Type, parts: &mut VisitedParts) {
        let (types, attrs): (&[Type], [Option<Attr>; 2]) = match self.ctx.type_data(ty) {
            TypeData::Complex(part) => (std::slice::from_ref(part), [None, None]),
            TypeData::Tuple(types) => (types, [None, None]),
            TypeData::Vector { elem, .. } | TypeData::UnrankedTensor { elem } => {
                (std::slice::from_ref(elem), [None, None])
            }
            TypeData::Tensor { elem, encoding, .. } => (std::slice::from_ref(elem), [*encoding, None]),
            TypeData::MemRef { elem, layout, space, .. } => (std::slice::from_ref(elem), [*layout, *space]),
            TypeData::UnrankedMemRef { elem, space } => (std::slice::from_ref(elem), [*space, None]),
            TypeData::Function { inputs, results } => {
                inputs.iter().chain(results).for_each(|ty| self.part(AliasSubject::Type(*ty), parts));
                return;
            }
            TypeData::Opaque { body, .. } => return self.pieces(body, parts),
            _ => return,
        };
        types.iter().for_each(|ty| self.part(AliasSubject::Type(*ty), parts));
        attrs.into_iter().flatten().for_each(|attr| self.attr_part(attr, parts));
    }

    fn location_parts(&mut self, location: Location, parts: &mut VisitedParts) {
        let ctx = self.ctx;
        let mut inside = |visitor: &mut Self, location: Location| {
            let location = visitor.lines.interned(ctx, location);
            visitor.part(AliasSubject::Location(location), parts);
        };
        match ctx.location_data(location) {
            LocationData::Name { child, .. } if *child != Location::UNKNOWN => inside(self, *child),
            LocationData::CallSite { callee, caller } => {
                inside(self, *callee);
                inside(self, *caller);
            }
            LocationData::Fused { metadata, parts: locations } => {
                let metadata = metadata.map(|metadata| self.subject(metadata));
                metadata.into_iter().for_each(|subject| self.part(subject, parts));
                for location in locations {
                    let location = self.lines.interned(ctx, *location);
                    self.part(AliasSubject::Location(location), parts);
                }
            }
            _ => {}
        }
    }

    /// The preferred name of a subject: its name in the parsed text, unless that is only its usual name with
    /// a number.
    fn name(&self, subject: AliasSubject) -> Option<Name> {
        let aliases = &self.module.aliases;
        let (kept, usual) = match subject {
            AliasSubject::Attr(attr) => {
                (aliases.attrs.get_full(&attr).map(|found| (*found.2, found.0)), self.usual(attr))
            }
            AliasSubject::Type(ty) => {
                let is_big =
                    matches!(self.ctx.type_data(ty), TypeData::Tuple(types) if types.len() > BIG_TUPLE);
                (aliases.types.get_full(&ty).map(|found| (*found.2, found.0)), is_big.then_some("tuple"))
            }
            AliasSubject::Location(_) => (None, Some("loc")),
        };
        match (kept, usual) {
            (Some((name, _)), Some(usual)) if without_number(self.ctx.str(name)) == usual => {
                Some(Name::Prefix(usual))
            }
            (Some((name, place)), _) => Some(Name::Kept(name, place)),
            (None, usual) => usual.map(Name::Prefix),
        }
    }

    fn usual(&self, attr: Attr) -> Option<&'static str> {
        match self.ctx.attr_data(attr) {
            AttrData::AffineMap(_) => Some("map"),
            AttrData::AffineSet(_) => Some("set"),
            AttrData::Distinct { inner, .. } if *self.ctx.attr_data(*inner) != AttrData::Unit => {
                Some("distinct")
            }
            _ => None,
        }
    }

    /// Sorts the named subjects, and assigns the names.
    fn finish(mut self) -> AliasNames {
        let mut named: Vec<(AliasSubject, Name, u32, DefinitionTime)> = self
            .found
            .drain(..)
            .filter_map(|(subject, found)| Some((subject, found.name?, found.depth, found.turn)))
            .collect();
        let key = |(subject, name, depth, _): &(AliasSubject, Name, u32, DefinitionTime)| {
            let prefix = match name {
                Name::Prefix(prefix) => prefix,
                Name::Kept(name, _) => without_number(self.ctx.str(*name)),
            };
            (*depth, !matches!(subject, AliasSubject::Type(_)), prefix)
        };
        named.sort_by(|a, b| key(a).cmp(&key(b)));
        keep_order(&mut named);
        let kept = named.iter().filter_map(|(subject, name, ..)| match name {
            Name::Kept(name, _) => Some(sigil(*subject).to_owned() + self.ctx.str(*name)),
            Name::Prefix(_) => None,
        });
        let mut used: FxHashSet<String> = kept.collect();
        let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
        let mut names = AliasNames { resources: self.resources, ..AliasNames::default() };
        for (subject, name, _, turn) in named {
            let sigil = sigil(subject);
            let text = match name {
                Name::Kept(name, _) => format!("{sigil}{}", self.ctx.str(name)),
                Name::Prefix(prefix) => loop {
                    let count = counts.entry(prefix).or_insert(0);
                    let text = if *count == 0 {
                        format!("{sigil}{prefix}")
                    } else {
                        format!("{sigil}{prefix}{count}")
                    };
                    *count += 1;
                    if !self.undefined.contains(&*text) && used.insert(text.clone()) {
                        break text;
                    }
                },
            };
            names.names.insert(subject, text.into());
            names.order.push((subject, turn));
        }
        names
    }
}

/// Sorts kept names of one depth in the order of the parsed text.
fn keep_order(named: &mut [(AliasSubject, Name, u32, DefinitionTime)]) {
    for group in named.chunk_by_mut(|a, b| (a.2, sigil(a.0)) == (b.2, sigil(b.0))) {
        let is_kept = |entry: &(AliasSubject, Name, u32, DefinitionTime)| matches!(entry.1, Name::Kept(..));
        let mut kept: Vec<_> = group.iter().copied().filter(is_kept).collect();
        kept.sort_by_key(|entry| if let Name::Kept(_, place) = entry.1 { place } else { 0 });
        group.iter_mut().filter(|entry| is_kept(entry)).zip(kept).for_each(|(place, entry)| *place = entry);
    }
}

fn sigil(subject: AliasSubject) -> &'static str {
    if let AliasSubject::Type(_) = subject { "!" } else { "#" }
}

fn without_number(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}
