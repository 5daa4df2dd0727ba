//! The language: entities, types, attributes, operations, dialects, text, verifier, diagnostics, interpreter.
//!
//! A [`Context`] interns every type, attribute, string and location, and knows the dialects. A [`Module`] is
//! a tree of [`Body`] tables: each isolated operation (a module, a function) owns one, so that functions can
//! be rewritten in parallel. Operations are described by rows ([`OpDef`]) in dialect tables; passes ask a
//! row's [`Traits`] and [`Kind`], never its name.
//!
//! Text becomes a module, and the module is verified, looked at, run by the interpreter, and changed:
//!
//! ```
//! use ir::{Builder, Context, Kind, interp, text, verify};
//! use std::sync::Arc;
//!
//! let ctx = Arc::new(Context::new());
//! let program = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
//!     %0 = nn.relu %x : tensor<3xf32>
//!     return %0 : tensor<3xf32>
//! }";
//! let mut module = text::parse(&ctx, "relu.mlir", program.to_owned()).expect("the text is right");
//! verify::verify(&module).expect("the program is right");
//!
//! let body = module.function("main").expect("there is a function `main`");
//! let block = body.entry(body.root()).expect("it has a body");
//! let relu = body.ops(block).next().expect("it has an operation");
//! assert!(matches!(body.at(&ctx, relu).kind(), Kind::Elementwise(_)));
//!
//! let bytes = [-1.0f32, 0.5, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
//! let x = interp::Tensor::new(&ctx, ctx.tensor(&[3], ctx.f32()), bytes);
//! let results = interp::run(&module, "main", &[x]).expect("it can be run");
//! assert_eq!(results[0].to_f32(), [0.0, 0.5, 2.0]);
//!
//! let body = module.function_mut("main").expect("there is a function `main`");
//! let end = body.last_op(block).expect("it returns");
//! let returned = body.operand(end, 0);
//! let negated = Builder::before(&ctx, body, end).value("nn.neg", &[returned], &[]);
//! body.set_operand(end, 0, negated.expect("its type follows from its operand's"));
//! assert!(text::print(&module).contains("%1 = nn.neg %0 : tensor<3xf32>"));
//! ```

pub mod affine;
pub mod alias;
pub mod attrs;
pub mod blob;
pub mod body;
pub mod branch;
pub mod builder;
pub mod context;
pub mod dequantized;
pub mod diag;
pub mod dialects;
pub mod dims;
pub mod dominance;
pub mod entities;
pub mod flow;
pub mod function;
mod infer;
mod intern;
pub mod interp;
pub mod liveness;
pub mod location;
pub mod memory_pools;
pub mod module;
pub mod narrow;
pub mod opdef;
pub mod plan;
pub mod ranges;
pub mod scalar;
mod shorthand;
pub mod size;
pub mod sized;
pub mod source;
pub mod states;
pub mod strings;
pub mod target;
pub mod text;
pub mod types;
pub mod verify;
mod walk;
pub mod weights;
pub mod window;
pub mod words;

pub use attrs::{AttrData, DenseData};
pub use blob::{Blob, ConstantSource, SharedBytes};
pub use body::{Body, OpParts, Successor};
pub use builder::{Builder, OpSpec};
pub use context::{BlobHome, Context};
pub use diag::{Diagnostic, Severity};
pub use entities::{Attr, Block, DimExpr, Ident, Location, Op, OpName, Region, Type, Use, Value};
pub use function::{ConstantElement, FunctionBuilder, OpBuilder};
pub use location::LocationData;
/// Elementwise functions, defined to the last bit.
pub use math;
pub use module::{Aliases, Module, Resource};
pub use opdef::{
    Access, Arity, AttrDef, AttrKind, Branch, Dialect, Infer, InferError, Kind, OpDef, OperandDef,
    RegionFlow, Reuse, Traits, TypeDef,
};
pub use scalar::Scalar;
pub use target::Target;
pub use types::{Dim, FloatKind, OpaquePiece, Signedness, TypeData};
