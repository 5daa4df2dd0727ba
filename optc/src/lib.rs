//! The library that embedders depend on, and the implementation of the `optc` command.
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
//! [`load()`] reads a file (an ONNX model, IR text, an artifact), [`run_pipeline`] runs passes, and [`Model`]
//! is a compiled program that is ready to run.
//!
//! # Building a program
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
//! let product = nn::matmul(&mut main, x, weight).build()?;
//! let y = nn::relu(&mut main, product).build()?;
//! main.finish(&[("y", y)])?;
//!
//! // The plan is in the IR.
//! optc::run_pipeline(&mut module, "fuse,inplace,plan", &RunOptions::new(Cpu::native()))?;
//! let mut model = Model::compile(&mut module, &CompileOptions::default())?;
//! let outputs = model.run(&[Array::of("x", &[2, 3], &[1.0f32, -2.0, 3.0, 0.0, 0.0, -1.0])])?;
//! assert_eq!(outputs[0].to_vec::<f32>(), Some(vec![4.0, 1.0, 0.0, 0.0]));
//! # Ok::<(), Failure>(())
//! ```
//!
//! [`ops`] has a function like these for each operation; [`FunctionBuilder::op`](ir::FunctionBuilder::op)
//! builds any operation by name.
//!
//! # Rewriting and planning a program
//!
//! A pass is a function or a closure. Inserted into the pipeline `default`, it runs whenever a program is
//! planned, also with named sizes.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::{Arc, Mutex};
//! use optc::ir::flow;
//! use optc::passes::manager::{PassDef, PassRun, Stage};
//! use optc::prelude::*;
//!
//! let census: Arc<Mutex<BTreeMap<String, u64>>> = Arc::default();
//! let counts = census.clone();
//! let run = PassRun::on_functions(move |pass, body| {
//!     flow::walk(pass.ctx, body, |op| {
//!         let name = pass.ctx.op_name_str(body.name(op)).to_owned();
//!         *counts.lock().expect("nobody panicked").entry(name).or_default() += 1;
//!     });
//!     Ok(())
//! });
//! let mut registry = Registry::new();
//! registry.add(PassDef { name: "census", doc: "Counts operations.", run, ..PassDef::BLANK });
//! registry.extend_default(Some(Stage::Fuse), "census");
//!
//! let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = nn.exp %x : tensor<4xf32>
//!     %1 = nn.softmax %0 {axis = 0} : tensor<4xf32>
//!     return %1 : tensor<4xf32>
//! }";
//! let mut module = optc::parse("exp.mlir", text.into(), None, &LoadOptions::default())?;
//! let options = CompileOptions { registry: Some(Arc::new(registry)), ..Default::default() };
//! optc::plan(&mut module, &options)?;
//! assert_eq!(census.lock().expect("nobody panicked")["nn.softmax"], 1);
//!
//! // The plan, read back: where each value is.
//! let main = module.function("main").expect("it was just planned");
//! let plan = optc::codegen::ReadPlan::of(&module.ctx, main).expect("it is whole");
//! // `%1` overwrites `%0`, in the buffer that the caller gives for it.
//! assert_eq!(plan.arena_bytes, 0);
//! # Ok::<(), Failure>(())
//! ```
//!
//! # Your own operation
//!
//! A row of a table defines the operation. Parsing, printing, verification, fusion, in-place updates and
//! machine code are derived from it.
//!
//! ```
//! use optc::ir::opdef::TypeClass::FloatTensor;
//! use optc::ir::scalar::{Binary, Scalar};
//! use optc::ir::{Dialect, Infer, Kind, OpDef, OperandDef, Traits};
//! use optc::prelude::*;
//!
//! static DSP: Dialect = Dialect { name: "dsp", doc: "Signals.", tables: &[&[TWICE]] };
//! const TWICE: OpDef = OpDef {
//!     name: "dsp.twice",
//!     doc: "x + x.",
//!     operands: &[OperandDef::one("x", FloatTensor)],
//!     results: &[OperandDef::one("result", FloatTensor)],
//!     infer: Infer::SameAs(0),
//!     traits: Traits::PURE,
//!     kind: Kind::Elementwise(&Scalar::Binary(Binary::Add, &Scalar::Arg(0), &Scalar::Arg(0))),
//!     ..OpDef::BLANK
//! };
//!
//! let options = LoadOptions { dialects: vec![&DSP], ..LoadOptions::default() };
//! let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!     %0 = dsp.twice %x : tensor<2xf32>
//!     return %0 : tensor<2xf32>
//! }";
//! let mut module = optc::parse("twice.mlir", text.into(), None, &options)?;
//! let mut model = Model::compile(&mut module, &CompileOptions::default())?;
//! assert_eq!(model.run(&[Array::f32("x", &[2], &[1.0, 2.5])])?[0].to_f64(), [2.0, 5.0]);
//! # Ok::<(), Failure>(())
//! ```
//!
//! # Your own target
//!
//! Passes ask a target for facts about the machine. This one leaves most answers to the CPU, for which code
//! is generated. A machine with a code generator of its own reads the plan.
//!
//! ```
//! use std::sync::Arc;
//! use optc::codegen::PlaceMemory;
//! use optc::ir::body::OpRef;
//! use optc::ir::memory_pools::MemoryPool;
//! use optc::ir::target::{GroupPosition, KernelChoice};
//! use optc::prelude::*;
//!
//! /// A machine with 64 KiB of fast memory for results of softmax.
//! struct Board;
//!
//! impl Target for Board {
//!     fn name(&self) -> &str {
//!         "board"
//!     }
//!
//!     fn layout(&self, _: OpRef<'_>) -> Option<&'static str> {
//!         None
//!     }
//!
//!     fn fuses(&self, _: OpRef<'_>, _: OpRef<'_>, _: GroupPosition) -> bool {
//!         false
//!     }
//!
//!     fn select(&self, _: OpRef<'_>, _threads: usize) -> Option<KernelChoice> {
//!         None
//!     }
//!
//!     fn pools(&self) -> Vec<MemoryPool> {
//!         let fast = MemoryPool::named("fast").expect("it is a word");
//!         vec![MemoryPool { capacity: Some(64 << 10), ..fast }]
//!     }
//!
//!     fn pool(&self, op: OpRef<'_>, _result: usize) -> Option<&str> {
//!         op.ctx.op_name_str(op.body.name(op.op)).ends_with("softmax").then_some("fast")
//!     }
//! }
//!
//! let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = nn.softmax %x {axis = 0} : tensor<4xf32>
//!     %1 = nn.cum_sum %0 {axis = 0} : tensor<4xf32>
//!     return %1 : tensor<4xf32>
//! }";
//! let mut module = optc::parse("board.mlir", text.into(), None, &LoadOptions::default())?;
//! optc::plan(&mut module, &CompileOptions { target: Some(Arc::new(Board)), ..Default::default() })?;
//! assert!(optc::ir::text::print(&module).contains("mem.place = [[\"fast\", 0, 16]]"));
//! # Ok::<(), Failure>(())
//! ```
//!
//! # Your own threads and memory
//!
//! A [`Program`](runtime::Program) is `Send` and `Sync`. Each thread runs it in its own context; the arena
//! may be the embedder's memory.
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
//! To use the threads of an existing pool, see [`ParallelFor`](runtime::ParallelFor) and
//! [`ThreadPool::of`](runtime::ThreadPool::of).
//!
//! # Cancellation
//!
//! A flag cancels a compilation before its next pass, and a run before its next step. Observers are called
//! before each ([`PassObserver`](passes::manager::PassObserver), [`RunObserver`](runtime::RunObserver)).
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
//! use optc::prelude::*;
//!
//! let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = nn.exp %x : tensor<4xf32>
//!     return %0 : tensor<4xf32>
//! }";
//! let mut module = optc::parse("exp.mlir", text.into(), None, &Default::default())?;
//! let cancelled = Arc::new(AtomicBool::new(false));
//! let options = CompileOptions { observer: Some(cancelled.clone()), ..Default::default() };
//! let mut model = Model::compile(&mut module, &options)?;
//! model.watch(Some(cancelled.clone()));
//! cancelled.store(true, Relaxed);
//! let failure = model.run(&[Array::f32("x", &[4], &[0.0; 4])]).unwrap_err();
//! assert_eq!(failure.code(), FaultCode::Cancelled);
//! # Ok::<(), Failure>(())
//! ```
//!
//! # Features
//!
//! All are on by default: `onnx` reads models, `jit` generates machine code and runs it, `aot` writes object
//! files, `cli` is the command, and the parts that tools share with it ([`opt`], [`lit`], [`lsp`]). Without
//! any there are the IR, its text, passes, planners, builders and arrays.
//!
//! # Compatibility
//!
//! Options are structures with `Default`: with `..Default::default()`, code that sets them still compiles
//! when a field is added. Reports and enumerations of errors are non-exhaustive. `docs/API.txt` lists the
//! public items of this crate; a test compares it.
//!
//! # Examples
//!
//! `examples/my-machine` adds a kernel, and a target based on the CPU. `examples/my-opt` is a crate with a
//! dialect, laws and a command. `examples/toy-tensors` is a language with optc as its back end.

mod apart;
pub mod arrays;
#[cfg(feature = "jit")]
pub mod artifact;
#[cfg(all(feature = "jit", feature = "onnx"))]
pub mod bisect;
#[cfg(feature = "jit")]
pub mod budget;
#[cfg(feature = "aot")]
pub mod bundle;
#[cfg(feature = "jit")]
pub mod cache;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "jit")]
pub mod compile;
pub mod describe;
mod elements;
#[cfg(all(feature = "jit", feature = "onnx"))]
pub mod expect;
#[cfg(feature = "cli")]
mod expected;
#[cfg(feature = "jit")]
pub mod explain;
pub mod failure;
#[cfg(feature = "jit")]
pub mod intermediates;
#[cfg(feature = "jit")]
pub mod interpret;
#[cfg(feature = "onnx")]
pub mod items;
#[cfg(feature = "jit")]
pub mod levers;
#[cfg(feature = "cli")]
pub mod lit;
pub mod load;
#[cfg(feature = "cli")]
pub mod lsp;
#[cfg(feature = "cli")]
mod machine_rates;
#[cfg(feature = "cli")]
mod measure;
#[cfg(feature = "jit")]
pub mod model;
#[cfg(feature = "onnx")]
mod model_files;
#[cfg(feature = "jit")]
pub mod module_diff;
mod npy;
#[cfg(feature = "jit")]
pub mod open;
pub mod ops;
#[cfg(feature = "cli")]
pub mod opt;
#[cfg(feature = "cli")]
pub mod outcome;
#[cfg(feature = "cli")]
pub mod pass_debug;
mod pipeline;
pub mod plan_report;
#[cfg(feature = "onnx")]
pub mod protobuf;
#[cfg(any(feature = "cli", all(feature = "jit", feature = "onnx")))]
mod quiet;
#[cfg(all(feature = "jit", feature = "onnx"))]
pub mod reduce_model;
#[cfg(any(feature = "jit", feature = "onnx"))]
mod size_ranges;
#[cfg(feature = "onnx")]
pub mod sizes;
#[cfg(feature = "jit")]
mod specializations;
#[cfg(feature = "jit")]
pub mod specialize;
#[cfg(feature = "cli")]
mod step_work;
#[cfg(feature = "jit")]
pub mod view;
mod whole_file;

#[cfg(feature = "jit")]
pub use codegen;
#[cfg(feature = "onnx")]
pub use import;
pub use {ir, passes, runtime};

/// The items that most embedders need.
pub mod prelude {
    #[cfg(feature = "jit")]
    pub use codegen::Cpu;
    pub use ir::{
        Attr, Blob, Body, Builder, Context, Diagnostic, FunctionBuilder, Module, OpSpec, Target, Type, Value,
    };
    pub use passes::manager::{Pipeline, Registry, RunOptions};
    pub use runtime::{AlignedBuffer, Arena, Program, RunContext, ThreadPool, as_bytes, as_bytes_mut};

    pub use crate::ops::{arith, nn};
    pub use crate::{Array, Failure, FaultCode, LoadOptions};
    #[cfg(feature = "jit")]
    pub use crate::{Artifact, Cache, CompileOptions, Goal, Model, Precision};
}

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use apart::{BufferUse, are_apart};
pub use arrays::{Array, ArrayElement};
#[cfg(feature = "jit")]
pub use artifact::Artifact;
#[cfg(feature = "jit")]
pub use cache::Cache;
#[cfg(feature = "jit")]
pub use compile::{CompileOptions, DeadMemory, Goal, Precision, SizeOptions, StepTimes, compile, plan};
#[cfg(feature = "jit")]
pub use explain::Explained;
pub use failure::{Failure, Fault, FaultCode};
#[cfg(feature = "onnx")]
pub use import::onnx::StrippedWeights;
#[cfg(feature = "onnx")]
pub use load::load_model_bytes;
pub use load::{LoadOptions, load, parse};
#[cfg(feature = "jit")]
pub use model::Model;
pub use pipeline::{run_passes, run_pipeline};

/// The README's code is tested with the documentation.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The book's code, too.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../../docs/book/dialect.md")]
#[doc = include_str!("../../docs/book/pass.md")]
#[doc = include_str!("../../docs/book/embed.md")]
struct Book;
