//! Attributes of operations: MLIR's builtin attributes, and any other dialect's kept as text.

use std::sync::Arc;

use crate::affine::{AffineMap, IntegerSet};
use crate::entities::{Attr, Ident, Location, Type};
use crate::types::{Dim, OpaquePiece};

/// The content of an [`Attr`] handle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttrData {
    /// `{a = 1, b}`: names with attributes, sorted by name, each name once.
    Dict(Box<[(Ident, Attr)]>),
    /// `unit`.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `7 : i32`, `-1 : index`. The value is sign-extended; wider values are in `WideInteger`.
    Integer {
        /// The value.
        value: i128,
        /// An integer type or `index`.
        ty: Type,
    },
    /// An integer of more than 128 bits.
    WideInteger {
        /// Two's complement, least significant word first. Top words that only repeat the sign of the word
        /// below are omitted.
        words: Box<[u64]>,
        /// An integer type.
        ty: Type,
    },
    /// `1.5 : f32`.
    Float {
        /// The value in its own format, zero-extended (f80 and f128 included).
        bits: u128,
        /// A float type.
        ty: Type,
    },
    /// `"text"`, or `"text" : type`.
    String {
        /// The bytes, escapes resolved; MLIR strings need not be UTF-8.
        bytes: Box<[u8]>,
        /// The type after the colon, if any.
        ty: Option<Type>,
    },
    /// A type used as an attribute.
    Type(Type),
    /// `[a, b]`.
    Array(Box<[Attr]>),
    /// `array<i64: 1, 2>`: packed little-endian elements (booleans one byte each).
    DenseArray {
        /// `i1`, an integer type of 8, 16, 32 or 64 bits, `f32` or `f64`.
        elem: Type,
        /// The elements.
        bytes: Box<[u8]>,
    },
    /// `@root::@nested`.
    SymbolRef {
        /// The outermost symbol.
        root: Ident,
        /// The symbols inside it.
        nested: Box<[Ident]>,
    },
    /// `dense<...> : type`.
    Dense {
        /// A tensor or vector type.
        ty: Type,
        /// The elements.
        data: DenseData,
    },
    /// `sparse<indices, values> : type`.
    Sparse {
        /// A tensor or vector type.
        ty: Type,
        /// A dense attribute of `i64`.
        indices: Attr,
        /// A dense attribute.
        values: Attr,
    },
    /// `dense_resource<key> : type`; the bytes are in the context's blobs under `key`.
    Resource {
        /// A tensor or vector type.
        ty: Type,
        /// The blob's name.
        key: Ident,
    },
    /// `affine_map<(d0) -> (d0)>`.
    AffineMap(Arc<AffineMap>),
    /// `affine_set<(d0) : (d0 >= 0)>`.
    AffineSet(Arc<IntegerSet>),
    /// `strided<[?, 1], offset: 3>`; none stands for `?`.
    Strided(Box<Layout>),
    /// `distinct[3]<attr>`; two are equal only if their numbers are.
    Distinct {
        /// The number.
        id: u64,
        /// The wrapped attribute.
        inner: Attr,
    },
    /// `loc(...)` used as an attribute.
    Location(Location),
    /// `#optc.dims<N, 3, H floordiv 2, _>`: sizes, some of them expressions of named sizes or not given
    /// (`_`).
    Dims(Box<[Dim]>),
    /// `#dialect.body` or `#dialect<"...">`: an attribute of an unregistered dialect, kept as its text.
    Opaque {
        /// The dialect's name.
        dialect: Ident,
        /// The text after the dot, or in the angle brackets.
        body: Box<[OpaquePiece]>,
        /// The type after the colon, if any.
        ty: Option<Type>,
    },
}

/// The layout of a memref's elements in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Strides, outermost first.
    pub strides: Box<[Option<i64>]>,
    /// Offset of the first element.
    pub offset: Option<i64>,
}

/// The elements of a `dense` attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DenseData {
    /// Little-endian elements, each rounded up to whole bytes (`i1`: one byte each, 0 or 1), or a single
    /// element that stands for all.
    Bytes {
        /// Whether `bytes` holds one element that stands for all.
        splat: Splat,
        /// The elements.
        bytes: Arc<[u8]>,
    },
    /// Elements of a type without a numeric format, given as strings.
    Strings(Box<[Box<[u8]>]>),
}

/// Whether the stored bytes are one element for all, or all elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Splat {
    /// One element stands for all.
    One,
    /// Every element is stored.
    All,
}
