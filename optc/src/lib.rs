//! The facade library that an embedder depends on, and the logic of the `optc` binary.
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
//! [`load()`] reads a file, [`run_pipeline`] runs passes, [`Model`] is a compiled program with what it needs
//! to run. Programs without that (an embedder's own threads and arena) are in [`runtime`]: see
//! [`Model::program`].

mod apart;
pub mod arrays;
pub mod artifact;
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
pub mod levers;
pub mod lit;
pub mod load;
pub mod model;
mod npy;
pub mod open;
pub mod opt;
pub mod plan_report;
pub mod protobuf;
pub mod sizes;
mod specializations;
pub mod specialize;
pub mod view;

pub use {codegen, import, ir, passes, runtime};

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use apart::{BufferUse, are_apart};
pub use arrays::Array;
pub use artifact::Artifact;
pub use cache::Cache;
pub use compile::{CompileOptions, DeadMemory, Goal, SizeOptions, compile, run_pipeline};
pub use explain::Explained;
pub use failure::{Failure, Fault};
pub use import::onnx::StrippedWeights;
pub use load::{LoadOptions, load, load_model_bytes, parse};
pub use model::Model;

/// The README's code is tested with the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
