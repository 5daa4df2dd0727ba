//! Hand-tuned microkernels on strided views; no knowledge of the IR.

pub mod scalar;
