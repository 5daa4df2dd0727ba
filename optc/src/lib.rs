//! The facade library that an embedder depends on, and the logic of the `optc` binary.
//!
//! # A program, from text to results
//!
//! ```
//! let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = nn.relu %x : tensor<4xf32>
//!     return %0 : tensor<4xf32>
//! }";
//! let mut module = optc::parse("relu.mlir", text.into(), None, &Default::default())?;
//! let mut model = optc::Model::compile(&mut module, &Default::default())?;
//! let outputs = model.run(&[optc::Array::f32("x", &[4], &[-1.0, 0.0, 1.0, 2.0])])?;
//! assert_eq!(outputs[0].to_f64(), [0.0, 0.0, 1.0, 2.0]);
//! # Ok::<(), optc::Failure>(())
//! ```
//!
//! [`load()`] reads a file (an ONNX model, text, an artifact), [`run_pipeline`] runs passes, [`Model`] is a
//! compiled program with what it needs to run.
//!
//! # A program that is built here
//!
//! ```
//! use std::sync::Arc;
//! use optc::prelude::*;
//!
//! let ctx = Arc::new(Context::new());
//! let mut module = Module::new(ctx.clone());
//! let mut main = FunctionBuilder::new(&mut module, "main", &[("x", ctx.tensor(&[2, 3], ctx.f32()))]);
//! let weight = main.constant(&[3, 2], &[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0])?;
//! let x = main.input(0);
//! let product = main.op("nn.matmul").operands(&[x, weight]).build()?;
//! let y = main.op("nn.relu").operands(&[product]).build()?;
//! main.finish(&[("y", y)])?;
//!
//! // The plan is in the IR.
//! optc::run_pipeline(&mut module, "fuse,inplace,plan", &RunOptions::new(Cpu::native()))?;
//! let mut model = Model::compile(&mut module, &CompileOptions::default())?;
//! let outputs = model.run(&[Array::of("x", &[2, 3], &[1.0f32, -2.0, 3.0, 0.0, 0.0, -1.0])])?;
//! assert_eq!(outputs[0].to_vec::<f32>(), Some(vec![4.0, 1.0, 0.0, 0.0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Threads and memory of one's own
//!
//! A [`Program`](runtime::Program) is shared: it is `Send` and `Sync`, and each thread runs it in a context
//! of its own, in an arena that may be the embedder's.
//!
//! ```
//! use std::sync::Arc;
//! use optc::prelude::*;
//!
//! let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = nn.exp %x : tensor<4xf32>
//!     return %0 : tensor<4xf32>
//! }";
//! let mut module = optc::parse("exp.mlir", text.into(), None, &Default::default())?;
//! let program = Arc::new(optc::compile(&mut module, &CompileOptions { threads: 1, ..Default::default() })?);
//! let bytes = program.only().map_or(0, |only| only.arena_bytes());
//! let mut memory = AlignedBuffer::zeroed(bytes)?;
//! let pool = Arc::new(ThreadPool::new(1));
//! let mut context = program.context_in(pool, Arena::given(memory.as_mut_slice()))?;
//! let mut y = [0f32; 4];
//! context.run(&[as_bytes(&[0f32, 1.0, 0.0, 1.0])], &mut [as_bytes_mut(&mut y)])?;
//! assert_eq!(y[0], 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Operations, passes and kernels of one's own, and a target: `examples/my-opt` and `examples/my-machine`.

mod apart;
pub mod arrays;
pub mod artifact;
pub mod bisect;
pub mod budget;
#[cfg(feature = "aot")]
pub mod bundle;
pub mod cache;
pub mod cli;
pub mod compile;
pub mod describe;
mod elements;
pub mod expect;
mod expected;
pub mod explain;
pub mod failure;
pub mod intermediates;
pub mod interpret;
pub mod items;
pub mod levers;
pub mod lit;
pub mod load;
pub mod lsp;
mod machine_rates;
mod measure;
pub mod model;
pub mod module_diff;
mod npy;
pub mod open;
pub mod opt;
pub mod outcome;
pub mod pass_debug;
pub mod plan_report;
pub mod protobuf;
pub mod sizes;
mod specializations;
pub mod specialize;
mod step_work;
pub mod view;
mod whole_file;

pub use {codegen, import, ir, passes, runtime};

/// What most embedders name.
pub mod prelude {
    pub use codegen::Cpu;
    pub use ir::{
        Attr, Blob, Body, Builder, Context, Diagnostic, FunctionBuilder, Module, OpSpec, Target, Type, Value,
    };
    pub use passes::manager::{Pipeline, Registry, RunOptions};
    pub use runtime::{AlignedBuffer, Arena, Program, RunContext, ThreadPool, as_bytes, as_bytes_mut};

    pub use crate::{Array, Artifact, Cache, CompileOptions, Failure, Goal, LoadOptions, Model, Precision};
}

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use apart::{BufferUse, are_apart};
pub use arrays::{Array, ArrayElement};
pub use artifact::Artifact;
pub use cache::Cache;
pub use compile::{
    CompileOptions, DeadMemory, Goal, Precision, SizeOptions, StepTimes, compile, run_pipeline,
};
pub use explain::Explained;
pub use failure::{Failure, Fault};
pub use import::onnx::StrippedWeights;
pub use load::{LoadOptions, load, load_model_bytes, parse};
pub use model::Model;

/// The README's code is tested with the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The book's code, too.
#[cfg(doctest)]
#[doc = include_str!("../../docs/book/dialect.md")]
#[doc = include_str!("../../docs/book/pass.md")]
#[doc = include_str!("../../docs/book/embed.md")]
struct Book;
