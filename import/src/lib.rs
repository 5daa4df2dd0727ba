//! Reads ONNX models into the IR.
