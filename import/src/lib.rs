//! Reads ONNX models into the IR.

pub mod onnx;
pub mod synth;
