//! Hand-tuned microkernels on strided views; no knowledge of the IR.
//!
//! A kernel is a *descriptor*: plain bytes that say what to compute, made by
//! `Name::new(shapes, isa, threads)`, which also chooses the blocking and the number of independent parts.
//! Generated code embeds [`Kernel::as_bytes`] and calls [`Kernel::entry`] once for each part, with the
//! operands' pointers in the order that the descriptor documents.
//!
//! ```
//! use kernels::{Copy, Isa, Kernel};
//!
//! // The transpose of a matrix of 2 x 3 `f32`: its shape, and the strides that are read and written.
//! let kernel = Copy::new(&[3, 2], &[1, 3], &[2, 1], 4, Isa::detect(), 1);
//! let (x, mut out) = ([1f32, 2.0, 3.0, 4.0, 5.0, 6.0], [0f32; 6]);
//! let operands: [*mut u8; 2] = [out.as_mut_ptr().cast(), x.as_ptr().cast_mut().cast()];
//! for part in 0..kernel.parts() {
//!     // SAFETY: both operands have the descriptor's six elements, and the kernel needs no scratch.
//!     unsafe {
//!         kernel.entry()(kernel.as_bytes().as_ptr(), operands.as_ptr(), part, std::ptr::null_mut());
//!     }
//! }
//! assert_eq!(out, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! ```
//!
//! All kernels keep one law: the bits of a result depend only on the shapes and operands, not on the
//! instruction set, the number of threads, parts or blocks. Elementwise functions are those of [`scalar`]. A
//! contraction's accumulator starts with bias + residual and adds the products in the order of K, each by one
//! fused multiply-add. [`Winograd`] has an order of its own, and the sums of [`QuadConv2d`] are exact.

mod abi;
mod along;
mod attention;
mod bf16;
mod bits;
mod compress;
mod contiguous;
mod conv;
mod copy;
mod depthwise;
mod functions;
mod gather;
mod gemm;
mod im2col;
mod image_lines;
mod isa;
mod lanes;
mod lines;
mod lookup;
mod map;
mod math;
mod norm;
mod pack;
mod packing;
mod pairs;
mod pixels;
mod planes;
mod pooling;
mod product;
mod put;
mod quads;
mod regions;
mod requantize;
mod resample;
mod row_norm;
mod row_softmax;
mod rows;
pub mod scalar;
mod segments;
mod simd;
mod soften;
mod softmax;
mod sort;
mod strip;
mod suppress;
mod table;
mod take;
mod tile;
mod tiled;
mod wide_lines;
mod winograd;
mod winograd_error;
mod winograd_filter;
mod winograd_run;
mod winograd_transforms;

pub use abi::{Kernel, KernelFn};
pub use along::{Accumulation, ArgExtreme, Cumulate, Direction, Extreme, NumberType, OwnElement};
pub use attention::{Attention, AttentionNumbers, AttentionShape, HEAD_AXES, HeadMatrices};
pub use bf16::{StoredFloat, nearest_bf16, wide_bf16};
pub use bits::{BitPacking, Bits};
pub use compress::Compress;
pub use conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides, ImageStrides, are_narrow};
pub use copy::Copy;
pub use depthwise::DepthwiseConv2d;
pub use functions::{NUMBER_FUNCTIONS, NumberFunction, STRIP_FUNCTIONS, StripFunction};
pub use gemm::{Gemm, GemmShape};
pub use isa::Isa;
pub use lookup::Lookup;
pub use map::{Activation, ScalarFunction, VectorMap};
pub use norm::{Centre, GroupNorm, GroupNormShape, GroupNormStep};
pub use pack::{Panel, Panels, WeightStrides};
pub use packing::RowPacking;
pub use pairs::{ConvNumbers, PairConv2d, PairUnit};
pub use pooling::{GlobalAveragePool, Pool2d, Pool2dShape, PoolKind, PooledNumber};
pub use put::{Join, Put};
pub use quads::{ByteSign, QuadConv2d, QuadNumbers, QuadUnit, StepOperand, StoredSum, SumStep, WeightZero};
pub use regions::{CheckBoxes, RoiAlign, RoiAlignShape, SampleFold};
pub use requantize::{Requantization, Requantize, RequantizeStep, StepFunction, StepNumber, StepSource};
pub use resample::Resample;
pub use row_norm::{RowNorm, RowNormShape};
pub use row_softmax::RowSoftmax;
pub use softmax::ColumnSoftmax;
pub use sort::ArgSort;
pub use strip::StripFn;
pub use suppress::NonMaxSuppression;
pub use table::{is_for_this_machine, kernel_count, kernel_name, kernel_number};
pub use take::{CheckIndices, Indices, Take};
pub use winograd::Winograd;
