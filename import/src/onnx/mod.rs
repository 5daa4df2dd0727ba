//! Where the parts of an ONNX file are read, from bytes to tensors.

pub mod element;
pub mod model;
pub mod numbers;
pub mod tensor;
pub mod wire;
