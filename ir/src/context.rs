//! The context that all modules share: interned contents, dialects, blobs, source texts.
//!
//! A context only grows. Reading a handle takes no lock; making one takes a short lock, so passes may run on
//! many functions at once. Temporary types and attributes are made in a copy of the context, which can be
//! [reset](Context::forget).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use crate::attrs::AttrData;
use crate::blob::Blob;
use crate::dialects;
use crate::dims::Polynomial;
use crate::entities::{Attr, DimExpr, Ident, Location, OpName, Type};
use crate::intern::Interner;
use crate::location::LocationData;
use crate::opdef::{Dialect, OpDef};
use crate::source::SourceText;
use crate::types::{FloatKind, Signedness, TypeData};
use cranelift_entity::EntityRef;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The data that all modules share.
pub struct Context {
    types: Interner<TypeData>,
    attrs: Interner<AttrData>,
    idents: Interner<Box<str>>,
    dim_exprs: Interner<Polynomial>,
    locations: Interner<LocationData>,
    names: Interner<OpNameEntry>,
    dialects: boxcar::Vec<&'static Dialect>,
    blobs: RwLock<IndexMap<Ident, (Blob, BlobHome)>>,
    sources: boxcar::Vec<SourceText>,
    references: RwLock<HashMap<String, String>>,
    distinct_count: AtomicU64,
    common: Common,
    /// Identical in all copies.
    family: Arc<()>,
}

/// Handles that are needed too often to be looked up.
#[derive(Clone)]
pub(crate) struct Common {
    /// Most attributes have one of these two types.
    pub(crate) i64: Type,
    pub(crate) f32: Type,
    /// The names in [`DECISIONS`].
    decisions: [Ident; DECISIONS.len()],
}

macro_rules! decisions {
    ($($name:literal)*) => {
        /// The attributes in which passes record their decisions for each other, sorted.
        pub(crate) const DECISIONS: [&str; [$($name),*].len()] = [$(concat!("mem.", $name)),*];

        /// The index of a name in [`DECISIONS`]. Lengths and bytes of the entries are constants, so for a
        /// constant name the compiler computes the result.
        #[inline(always)]
        pub(crate) fn decision_number(name: &str) -> Option<usize> {
            let name = name.strip_prefix("mem.")?;
            let mut number = 0;
            $(
                if name == $name {
                    return Some(number);
                }
                number += 1;
            )*
            debug_assert_eq!(number, DECISIONS.len());
            None
        }
    };
}

decisions!("args" "kernel" "lines" "overlap" "parts" "pitch" "place" "pool" "scratch" "tie" "view");

/// Where a reader of the printed module finds a blob's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobHome {
    /// At the place given by [`Context::references`], if any; else in the text.
    Reference,
    /// In the text, with this alignment in bytes.
    Text {
        /// A power of two.
        alignment: u32,
    },
}

/// An operation's name with its registry row; equal if the names are equal.
#[derive(Clone)]
struct OpNameEntry {
    ident: Ident,
    def: OnceLock<&'static OpDef>,
}

impl PartialEq for OpNameEntry {
    fn eq(&self, other: &Self) -> bool {
        self.ident == other.ident
    }
}
impl Eq for OpNameEntry {}
impl std::hash::Hash for OpNameEntry {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.ident.hash(state);
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl Context {
    /// A context that knows the built-in dialects ([`dialects::ALL`]).
    pub fn new() -> Context {
        let types = Interner::new();
        let i64 = TypeData::Integer { width: 64, signedness: Signedness::Signless };
        let idents = Interner::new();
        let common = Common {
            decisions: DECISIONS.map(|name| Ident::from_u32(idents.intern(name.into()))),
            i64: Type::from_u32(types.intern(i64)),
            f32: Type::from_u32(types.intern(TypeData::Float(FloatKind::F32))),
        };
        let ctx = Context {
            types,
            attrs: Interner::new(),
            idents,
            dim_exprs: Interner::new(),
            locations: Interner::new(),
            names: Interner::new(),
            dialects: boxcar::Vec::new(),
            blobs: RwLock::default(),
            sources: boxcar::Vec::new(),
            references: RwLock::default(),
            distinct_count: AtomicU64::new(0),
            common,
            family: Arc::default(),
        };
        let empty = ctx.attr(AttrData::Dict(Box::default()));
        assert_eq!(empty, Attr::EMPTY, "the empty dictionary is interned first");
        let unknown = ctx.location(LocationData::Unknown);
        assert_eq!(unknown, Location::UNKNOWN, "the unknown location is interned first");
        for dialect in dialects::ALL {
            ctx.register(dialect);
        }
        ctx
    }

    /// An independent copy in which all handles of this context have the same meaning. Handles made later are
    /// valid in one of the two only.
    pub fn copy(&self) -> Context {
        let blobs = self.blobs.read().expect("no thread panics while it holds blobs").clone();
        let references = self.references.read().expect("no thread panics here").clone();
        let sources = self.sources.iter().map(|(_, source)| source.clone());
        Context {
            types: self.types.copy(),
            attrs: self.attrs.copy(),
            idents: self.idents.copy(),
            dim_exprs: self.dim_exprs.copy(),
            locations: self.locations.copy(),
            names: self.names.copy(),
            dialects: self.dialects.iter().map(|(_, dialect)| *dialect).collect(),
            blobs: RwLock::new(blobs),
            sources: sources.collect(),
            references: RwLock::new(references),
            distinct_count: AtomicU64::new(self.distinct_count.load(Ordering::Relaxed)),
            common: self.common.clone(),
            family: self.family.clone(),
        }
    }

    /// Whether one context is a copy of the other, or both are copies of a third. Handles from before the
    /// copy are valid in both.
    pub fn is_kin(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.family, &other.family)
    }

    /// Removes the types, attributes and sizes made since this context was copied from another. Their handles
    /// become invalid, and may be reused for other contents.
    pub fn forget(&mut self) {
        self.types.forget();
        self.attrs.forget();
        self.dim_exprs.forget();
    }

    /// The number of interned types, attributes and sizes.
    pub fn interned(&self) -> usize {
        self.types.len() + self.attrs.len() + self.dim_exprs.len()
    }

    /// Registers a dialect. Registering it twice is allowed; another dialect of the same name is a defect.
    pub fn register(&self, dialect: &'static Dialect) {
        if let Some(known) = self.dialect(dialect.name) {
            assert!(std::ptr::eq(known, dialect), "two dialects are named `{}`", dialect.name);
            return;
        }
        self.dialects.push(dialect);
        for def in dialect.ops() {
            let name = self.op_name(def.name);
            let entry = self.names.get(name.index() as u32);
            assert!(entry.def.set(def).is_ok(), "two rows are named `{}`", def.name);
        }
    }

    /// The registered dialect of this name.
    pub fn dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.dialects.iter().map(|(_, dialect)| *dialect).find(|dialect| dialect.name == name)
    }

    /// All registered dialects, in the order of their registration.
    pub fn dialects(&self) -> impl Iterator<Item = &'static Dialect> + '_ {
        self.dialects.iter().map(|(_, dialect)| *dialect)
    }

    /// The handle of a string.
    pub fn ident(&self, text: &str) -> Ident {
        if let Some(ident) = self.decision(text) {
            return ident;
        }
        let hash = FxBuildHasher.hash_one(text);
        Ident::from_u32(self.idents.intern_with(hash, |other| &**other == text, || text.into()))
    }

    /// The handle of a name in [`DECISIONS`].
    pub(crate) fn decision(&self, text: &str) -> Option<Ident> {
        let index = decision_number(text)?;
        Some(self.common.decisions[index])
    }

    /// The index of a name in [`DECISIONS`].
    pub(crate) fn decision_index(&self, name: Ident) -> Option<usize> {
        // They were interned before all other names.
        Some(name.as_u32() as usize).filter(|index| *index < DECISIONS.len())
    }

    /// The string of a handle.
    pub fn str(&self, ident: Ident) -> &str {
        self.idents.get(ident.index() as u32)
    }

    /// The handle of an operation's name, registered or not.
    pub fn op_name(&self, name: &str) -> OpName {
        let ident = self.ident(name);
        OpName::from_u32(self.names.intern(OpNameEntry { ident, def: OnceLock::new() }))
    }

    /// The text of an operation's name.
    pub fn op_name_str(&self, name: OpName) -> &str {
        self.str(self.names.get(name.index() as u32).ident)
    }

    /// The row of an operation, if a dialect registered it.
    pub fn def(&self, name: OpName) -> Option<&'static OpDef> {
        self.names.get(name.index() as u32).def.get().copied()
    }

    /// The most common types.
    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    /// The handle of a type.
    pub fn ty(&self, data: TypeData) -> Type {
        Type::from_u32(self.types.intern(data))
    }

    /// The content of a type.
    pub fn type_data(&self, ty: Type) -> &TypeData {
        self.types.get(ty.index() as u32)
    }

    /// The handle of a polynomial in canonical form: only [`crate::dims`] makes them.
    pub(crate) fn intern_dim_expr(&self, polynomial: Polynomial) -> DimExpr {
        DimExpr::from_u32(self.dim_exprs.intern(polynomial))
    }

    /// The content of a computed size.
    pub fn dim_expr(&self, expr: DimExpr) -> &Polynomial {
        self.dim_exprs.get(expr.index() as u32)
    }

    /// The handle of an attribute. Dictionaries must be sorted by name (see [`Context::dict`]).
    pub fn attr(&self, data: AttrData) -> Attr {
        Attr::from_u32(self.attrs.intern(data))
    }

    /// The content of an attribute.
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        self.attrs.get(attr.index() as u32)
    }

    /// The handle of a location.
    pub fn location(&self, data: LocationData) -> Location {
        Location::from_u32(self.locations.intern(data))
    }

    /// The content of an interned location; [`Location::source_offset`] must be none.
    pub fn location_data(&self, location: Location) -> &LocationData {
        assert!(location.source_offset().is_none(), "a source offset has no interned content");
        self.locations.get(location.index() as u32)
    }

    /// `loc("name")`.
    pub fn name_location(&self, name: &str) -> Location {
        let name = self.ident(name);
        self.location(LocationData::Name { name, child: Location::UNKNOWN })
    }

    /// The name in a location, if it is a name, or a fusion that contains a name. For a place in a source
    /// text, the name of the value defined there, unless that is a number.
    pub fn location_name(&self, location: Location) -> Option<&str> {
        if let Some(offset) = location.source_offset() {
            let source = self.source_at(offset)?;
            return source.value_name((offset - source.start) as usize);
        }
        match self.location_data(location) {
            LocationData::Name { name, .. } => Some(self.str(*name)),
            LocationData::Fused { parts, .. } => parts.iter().find_map(|part| self.location_name(*part)),
            LocationData::CallSite { callee, .. } => self.location_name(*callee),
            _ => None,
        }
    }

    /// Whether a source text of this many bytes can still be kept: all together hold at most 2 GiB.
    pub fn has_room(&self, bytes: usize) -> bool {
        let used = self.sources.iter().map(|(_, source)| source.text.len() + 1).sum::<usize>();
        used.saturating_add(bytes) < (1 << 31) - 2
    }

    /// Keeps a source text for diagnostics; returns it, with its start in the numbering of
    /// [`Location::at_source`].
    pub fn add_source(&self, name: &str, text: String) -> &SourceText {
        let start =
            self.sources.iter().map(|(_, source)| source.start as usize + source.text.len() + 1).max();
        let start = u32::try_from(start.unwrap_or(0)).expect("source texts are at most 2 GiB");
        let number = self.sources.push(SourceText::new(name, text, start));
        &self.sources[number]
    }

    /// The source text that holds a byte offset.
    pub fn source_at(&self, offset: u32) -> Option<&SourceText> {
        self.sources.iter().map(|(_, source)| source).find(|source| {
            (source.start as usize..=source.start as usize + source.text.len()).contains(&(offset as usize))
        })
    }

    /// Keeps a constant's bytes under a name, and replaces earlier bytes of that name.
    pub fn set_blob(&self, key: Ident, blob: Blob) {
        self.set_blob_at(key, blob, BlobHome::Reference);
    }

    /// Keeps a constant's bytes under a name, with the place where a printed module finds them.
    pub fn set_blob_at(&self, key: Ident, blob: Blob, home: BlobHome) {
        self.blobs.write().expect("no thread panics while it holds blobs").insert(key, (blob, home));
    }

    /// Where a reader of the printed module finds the bytes stored under a name.
    pub fn blob_home(&self, key: Ident) -> Option<BlobHome> {
        self.blobs.read().expect("no thread panics while it holds blobs").get(&key).map(|entry| entry.1)
    }

    /// A number for a new distinct attribute, unique in this context.
    pub fn fresh_distinct(&self) -> u64 {
        self.distinct_count.fetch_add(1, Ordering::Relaxed)
    }

    /// The bytes kept under a name.
    pub fn blob(&self, key: Ident) -> Option<Blob> {
        self.blobs
            .read()
            .expect("no thread panics while it holds blobs")
            .get(&key)
            .map(|entry| entry.0.clone())
    }

    /// The names of the blobs that attributes of this context refer to, whether their bytes are stored or
    /// not.
    pub fn resources(&self) -> impl Iterator<Item = Ident> + '_ {
        self.attrs.items().filter_map(|attr| match attr {
            AttrData::Resource { key, .. } => Some(*key),
            _ => None,
        })
    }

    /// Sets the source of blobs that are not printed inline: an entry of `external_resources: {optc: {...}}`.
    pub fn set_reference(&self, key: &str, value: &str) {
        self.references.write().expect("no thread panics here").insert(key.to_owned(), value.to_owned());
    }

    /// The entries of [`Context::set_reference`], sorted by key.
    pub fn references(&self) -> Vec<(String, String)> {
        let references = self.references.read().expect("no thread panics here");
        let mut sorted: Vec<_> = references.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        sorted.sort();
        sorted
    }
}
