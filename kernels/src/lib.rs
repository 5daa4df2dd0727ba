//! Hand-tuned microkernels on strided views; no knowledge of the IR.
//!
//! A kernel is a *descriptor*: plain bytes that say what to compute, made by `Name::new(shapes, isa, threads)`, which also
//! chooses the blocking and the number of independent parts. Generated code embeds [`Kernel::as_bytes`] and calls
//! [`Kernel::entry`] once for each part, with the operands' pointers in the order that the descriptor documents.
//!
//! The law that all kernels keep: the bits of a result depend on the shapes and operands alone, not on the instruction set, the
//! number of threads, parts or blocks. Elementwise functions are those of [`scalar`]; a contraction's accumulator starts
//! with bias + residual and takes the products in the order of K, each by one fused multiply-add.

mod abi;
mod conv;
mod copy;
mod gather;
mod gemm;
mod isa;
mod lanes;
mod map;
mod math;
mod pack;
mod pool;
mod rows;
pub mod scalar;
mod simd;
mod strip;
mod tile;

pub use abi::{Kernel, KernelFn};
pub use conv::{Conv2d, Conv2dShape, ConvStrides, ImageStrides, Prologue};
pub use copy::Copy;
pub use gemm::{Gemm, GemmShape};
pub use isa::Isa;
pub use map::{Activation, Function, VectorMap};
pub use pack::{Panel, Panels, WeightStrides};
pub use pool::{GlobalAveragePool, Pool2d, Pool2dShape, PoolKind};
pub use strip::{StripFn, strip_function};
