//! How each ONNX operator is said in the IR, a file for each family of them.

pub(crate) mod linear;
pub(crate) mod pointwise;
pub(crate) mod shape;
pub(crate) mod window;
