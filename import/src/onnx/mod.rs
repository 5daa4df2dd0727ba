//! Where the parts of an ONNX file are read, from bytes to tensors.

pub mod attributes;
pub mod element;
pub mod external;
pub mod model;
pub mod numbers;
pub mod order;
pub mod tensor;
pub mod weights;
pub mod wire;
