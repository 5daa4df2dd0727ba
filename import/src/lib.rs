//! Reads ONNX models into the IR.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use import::onnx::external::read_file;
//! use import::onnx::{ImportOptions, StrippedWeights, import};
//!
//! let ctx = Arc::new(ir::Context::new());
//! let stripped = StrippedWeights::Synthesize;
//! let options = ImportOptions { open_file: &read_file, stripped, sizes: Default::default() };
//! let module = import(&ctx, Path::new("../examples/squeezenet1_1.onnx"), &options).unwrap();
//! assert!(module.function("main").is_some());
//! ```
//!
//! From bytes to a module: [`onnx::wire`] splits messages into fields, [`onnx::model`] and [`onnx::tensor`]
//! interpret them, [`onnx::order`] finds an order of the nodes, [`onnx::rows`] lists the converter of each
//! operator, [`onnx::call`] is the converters' interface, and [`onnx::weights`] finds the elements of
//! tensors: in the file, in others beside it ([`onnx::external`]), or by rule ([`synth`]). Nothing here maps
//! files: the caller of the import decides how they are opened.
//!
//! To add an operator: a row in [`onnx::rows`], and a converter if no existing one fits.

pub mod onnx;
pub mod synth;
