//! The language: entities, types, attributes, operations, dialects, text, verifier, diagnostics, interpreter.
//!
//! A [`Context`] interns every type, attribute, string and location, and knows the dialects. A [`Module`] is a tree of
//! [`Body`] tables: each isolated operation (a module, a function) owns one, so that functions can be rewritten in
//! parallel. Operations are described by rows ([`OpDef`]) in dialect tables; passes ask a row's [`Traits`] and
//! [`Kind`], never its name.

pub mod affine;
pub mod alias;
pub mod attrs;
pub mod blob;
pub mod body;
pub mod branch;
pub mod builder;
pub mod context;
pub mod diag;
pub mod dialects;
pub mod dominance;
pub mod entities;
pub mod interp;

mod intern;
pub mod location;
pub mod math;
pub mod module;
pub mod opdef;
pub mod scalar;
mod shorthand;
pub mod size;
pub mod target;
pub mod text;
pub mod types;
pub mod verify;
pub mod weights;

pub use attrs::{AttrData, DenseData};
pub use blob::{Blob, ConstantSource};
pub use body::{Body, OpParts, Successor};
pub use builder::{Builder, OpSpec};
pub use context::{BlobHome, Context};
pub use diag::{Diagnostic, Severity};
pub use entities::{Attr, Block, Ident, Location, Op, OpName, Region, Type, Use, Value};
pub use location::LocationData;
pub use module::{Aliases, Module};
pub use opdef::{
    Access, Arity, AttrDef, AttrKind, Branch, Dialect, Flow, Infer, InferError, Kind, OpDef, OperandDef,
    Reuse, Traits,
};
pub use scalar::Scalar;
pub use target::Target;
pub use types::{Dim, FloatKind, Piece, Signedness, TypeData};
