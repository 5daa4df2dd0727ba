//! Reading of ONNX files, from bytes to a module.

pub mod attributes;
pub mod call;
mod convert;
pub mod declared;
pub mod edit;
pub mod element;
pub mod element_types;
pub mod external;
mod facts;
mod flex;
mod flow;
mod functions;
#[cfg(feature = "images")]
mod images;
mod import;
mod loops;
mod lower;
pub mod model;
pub mod numbers;
mod open;
pub mod order;
mod regions;
mod rewind;
mod rolled;
pub mod rows;
pub mod sequences;
pub mod tensor;
mod unsupported;
pub mod weights;
pub mod wire;

pub use import::{ImportOptions, StrippedWeights, import, restore};
