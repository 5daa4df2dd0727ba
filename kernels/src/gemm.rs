//! Matrix products of `f32`, computed as 1x1 convolutions over one line of pixels.

use crate::abi::{Kernel, KernelFn};
use crate::conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides, ImageStrides};
use crate::isa::Isa;
use crate::map::Activation;
use crate::pack::WeightStrides;

/// `c[m, n] = activation(bias[n] + residual[m, n] + sum over k of a[m, k] * b[k, n])`: sizes, and strides
/// between rows in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmShape {
    /// Rows of `a` and `c`.
    pub m: usize,
    /// Columns of `b` and `c`.
    pub n: usize,
    /// Columns of `a`, rows of `b`.
    pub k: usize,
    /// Between rows of `a`, whose columns are contiguous.
    pub a_stride: usize,
    /// Between rows of `c`.
    pub c_stride: usize,
    /// Between rows of the residual; ignored without a residual.
    pub residual_stride: usize,
}

impl GemmShape {
    /// Dense matrices.
    pub fn dense(m: usize, n: usize, k: usize) -> GemmShape {
        GemmShape { m, n, k, a_stride: k, c_stride: n, residual_stride: n }
    }

    /// The product as a convolution of one line of pixels with a 1x1 kernel.
    pub(crate) fn as_line(&self) -> (Conv2dShape, ConvStrides) {
        let line = |stride: usize| ImageStrides { n: 0, h: 0, w: stride as u64, c: 1 };
        let strides = ConvStrides {
            input: line(self.a_stride),
            output: line(self.c_stride),
            residual: line(self.residual_stride),
        };
        (Conv2dShape::line(self.m, self.k, self.n), strides)
    }
}

/// A matrix product with packed `b`.
///
/// Operands: `[c, a, packed b, bias, residual]`. Bias (`n`) and residual may be null. The residual may be `c`
/// itself (same address and stride); otherwise `c` overlaps nothing.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Gemm(Conv2d);

impl Gemm {
    /// The product of a shape.
    pub fn new(shape: &GemmShape, activation: Activation, isa: Isa, threads: usize) -> Gemm {
        let (pixels, strides) = shape.as_line();
        Gemm(Conv2d::new(&pixels, &strides, ConvPrologue::None, activation, isa, threads))
    }

    /// Floats of packed `b`.
    pub fn packed_len(&self) -> usize {
        self.0.packed_len()
    }

    /// Packs `b`, element (k, n) at `k * k_stride + n * n_stride`, into `out` of `packed_len` floats.
    pub fn pack(&self, b: &[f32], k_stride: usize, n_stride: usize, out: &mut [f32]) {
        self.0.pack(b, WeightStrides { o: n_stride, i: k_stride, h: 0, w: 0 }, out);
    }

    /// This product as a convolution, with the same operands.
    pub fn as_convolution(&self) -> Conv2d {
        self.0
    }
}

// SAFETY: `Conv2d`'s layout, and its function, which reads no prologue's scale and shift here.
unsafe impl Kernel for Gemm {
    fn parts(&self) -> u32 {
        self.0.parts()
    }

    fn scratch_bytes(&self) -> usize {
        self.0.scratch_bytes()
    }

    fn most_scratch_bytes(&self) -> usize {
        self.0.most_scratch_bytes()
    }

    fn entry(&self) -> KernelFn {
        self.0.entry()
    }
}
