//! Unary functions, applied to a slice: alone, or as a contraction's epilogue.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::isa::Isa;
use crate::simd::{Lanewise, Several, Simd, Task};
use crate::{math, scalar};

/// A function of one `f32`; [`crate::scalar`] says what each computes, to the bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarFunction {
    /// The identity.
    None,
    /// `0 > x ? 0 : x`: NaN for NaN.
    Relu,
    /// `min(hi, max(lo, x))`: NaN for NaN.
    Clip {
        /// The least result.
        lo: f32,
        /// The greatest result.
        hi: f32,
    },
    /// [`scalar::sigmoid`].
    Sigmoid,
    /// [`scalar::silu`].
    Silu,
    /// [`scalar::hard_sigmoid`].
    HardSigmoid {
        /// The slope.
        alpha: f32,
        /// The value at 0.
        beta: f32,
    },
    /// [`scalar::hard_swish`].
    HardSwish,
    /// [`scalar::tanh`].
    Tanh,
    /// [`scalar::gelu`].
    Gelu,
    /// [`scalar::gelu_tanh`].
    GeluTanh,
    /// [`scalar::leaky_relu`].
    LeakyRelu {
        /// The slope of the negative side.
        alpha: f32,
    },
    /// [`scalar::exp`].
    Exp,
    /// [`scalar::log`].
    Log,
    /// [`scalar::erf`].
    Erf,
    /// [`scalar::softplus`].
    Softplus,
    /// The square root, rounded once: NaN below zero.
    Sqrt,
}

/// The function that a contraction or pool applies last.
pub type Activation = ScalarFunction;

impl ScalarFunction {
    /// The function's value at `x`, the same bits as every vector path gives.
    pub fn apply(self, x: f32) -> f32 {
        match self {
            ScalarFunction::None => x,
            ScalarFunction::Relu => scalar::relu(x),
            ScalarFunction::Clip { lo, hi } => scalar::clip(x, lo, hi),
            ScalarFunction::Sigmoid => scalar::sigmoid(x),
            ScalarFunction::Silu => scalar::silu(x),
            ScalarFunction::HardSigmoid { alpha, beta } => scalar::hard_sigmoid(x, alpha, beta),
            ScalarFunction::HardSwish => scalar::hard_swish(x),
            ScalarFunction::Tanh => scalar::tanh(x),
            ScalarFunction::Gelu => scalar::gelu(x),
            ScalarFunction::GeluTanh => scalar::gelu_tanh(x),
            ScalarFunction::LeakyRelu { alpha } => scalar::leaky_relu(x, alpha),
            ScalarFunction::Exp => scalar::exp(x),
            ScalarFunction::Log => scalar::log(x),
            ScalarFunction::Erf => scalar::erf(x),
            ScalarFunction::Softplus => scalar::softplus(x),
            ScalarFunction::Sqrt => x.sqrt(),
        }
    }
}

/// A [`ScalarFunction`] as plain bytes: its kind and up to two parameters.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct FunctionCode {
    kind: u32,
    a: f32,
    b: f32,
}

/// `FunctionCode::kind`'s values, in the order of [`ScalarFunction`]'s variants.
mod kind {
    pub(super) const NONE: u32 = 0;
    pub(super) const RELU: u32 = 1;
    pub(super) const CLIP: u32 = 2;
    pub(super) const SIGMOID: u32 = 3;
    pub(super) const SILU: u32 = 4;
    pub(super) const HARD_SIGMOID: u32 = 5;
    pub(super) const HARD_SWISH: u32 = 6;
    pub(super) const TANH: u32 = 7;
    pub(super) const GELU: u32 = 8;
    pub(super) const GELU_TANH: u32 = 9;
    pub(super) const LEAKY_RELU: u32 = 10;
    pub(super) const EXP: u32 = 11;
    pub(super) const LOG: u32 = 12;
    pub(super) const ERF: u32 = 13;
    pub(super) const SOFTPLUS: u32 = 14;
    pub(super) const SQRT: u32 = 15;
}

impl From<ScalarFunction> for FunctionCode {
    fn from(function: ScalarFunction) -> FunctionCode {
        let (kind, a, b) = match function {
            ScalarFunction::None => (kind::NONE, 0.0, 0.0),
            ScalarFunction::Relu => (kind::RELU, 0.0, f32::INFINITY),
            ScalarFunction::Clip { lo, hi } => (kind::CLIP, lo, hi),
            ScalarFunction::Sigmoid => (kind::SIGMOID, 0.0, 0.0),
            ScalarFunction::Silu => (kind::SILU, 0.0, 0.0),
            ScalarFunction::HardSigmoid { alpha, beta } => (kind::HARD_SIGMOID, alpha, beta),
            ScalarFunction::HardSwish => (kind::HARD_SWISH, 0.0, 0.0),
            ScalarFunction::Tanh => (kind::TANH, 0.0, 0.0),
            ScalarFunction::Gelu => (kind::GELU, 0.0, 0.0),
            ScalarFunction::GeluTanh => (kind::GELU_TANH, 0.0, 0.0),
            ScalarFunction::LeakyRelu { alpha } => (kind::LEAKY_RELU, alpha, 0.0),
            ScalarFunction::Exp => (kind::EXP, 0.0, 0.0),
            ScalarFunction::Log => (kind::LOG, 0.0, 0.0),
            ScalarFunction::Erf => (kind::ERF, 0.0, 0.0),
            ScalarFunction::Softplus => (kind::SOFTPLUS, 0.0, 0.0),
            ScalarFunction::Sqrt => (kind::SQRT, 0.0, 0.0),
        };
        FunctionCode { kind, a, b }
    }
}

/// How a contraction's tile finishes, while its sums are still in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finish {
    /// The sums are stored as they are.
    Store,
    /// They are clipped first; relu is a clip to [0, infinity], bit for bit.
    Clip { lo: f32, hi: f32 },
}

impl FunctionCode {
    /// The part of the function that a tile applies in registers. If [`Self::is_deferred`], the function is
    /// applied to the stored block instead.
    #[inline(always)]
    pub(crate) fn finish(self) -> Finish {
        match self.kind {
            kind::RELU | kind::CLIP => Finish::Clip { lo: self.a, hi: self.b },
            _ => Finish::Store,
        }
    }

    /// Whether it is not the identity.
    #[inline(always)]
    pub(crate) fn is_applied(self) -> bool {
        self.kind != kind::NONE
    }

    /// Whether the function is applied by [`apply`] after the sums were stored.
    #[inline(always)]
    pub(crate) fn is_deferred(self) -> bool {
        self.kind > kind::CLIP
    }
}

/// Loads, computes and stores `n` elements, several vectors at a time as long as possible.
macro_rules! strip {
    ($s:ident, $from:ident, $to:ident, $n:ident, |$v:ident, $x:ident| $value:expr) => {{
        let mut i = 0;
        while i + Several::<S>::LANES <= $n {
            let $v = Several($s);
            let $x = $v.load($from.add(i));
            $v.store($to.add(i), $value);
            i += Several::<S>::LANES;
        }
        while i < $n {
            let $v = $s;
            let $x = $v.load_first($from.add(i), $n - i);
            $v.store_first($to.add(i), $n - i, $value);
            i += S::LANES;
        }
    }};
}

/// `to[i] = code(from[i])` for `n` elements.
#[derive(Clone, Copy)]
pub(crate) struct MapBody {
    pub(crate) code: FunctionCode,
    pub(crate) from: *const f32,
    pub(crate) to: *mut f32,
    pub(crate) n: usize,
}

/// Runs a [`MapBody`] without inlining: sixteen functions are too much code to repeat in every kernel.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `n` floats; they are the same or do not overlap. The
/// machine has `S`.
#[inline(never)]
pub(crate) unsafe fn apply<S: Simd>(apply: MapBody) {
    // SAFETY: the caller's promise.
    unsafe { S::vectorize(apply) }
}

/// Applies a function in place to `count` rows of `n` floats, `stride` floats apart. Contiguous rows are
/// treated as one.
///
/// # Safety
/// The rows are valid for reads and writes. The machine has `S`.
#[inline(always)]
pub(crate) unsafe fn apply_rows<S: Simd>(
    code: FunctionCode,
    start: *mut f32,
    [count, n]: [usize; 2],
    stride: usize,
) {
    let [count, n] = if stride == n { [1, count * n] } else { [count, n] };
    for row in 0..count {
        // SAFETY: the caller's promise.
        unsafe {
            let at = start.add(row * stride);
            apply::<S>(MapBody { code, from: at, to: at, n });
        }
    }
}

impl<S: Simd> Task<S> for MapBody {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let MapBody { code: FunctionCode { kind, a, b }, from, to, n } = self;
        // SAFETY: `strip!` accesses elements below `n` only.
        unsafe {
            match kind {
                kind::RELU => strip!(s, from, to, n, |v, x| math::relu(v, x)),
                kind::CLIP => strip!(s, from, to, n, |v, x| math::clip(v, x, a, b)),
                kind::SIGMOID => strip!(s, from, to, n, |v, x| math::sigmoid(v, x)),
                kind::SILU => strip!(s, from, to, n, |v, x| math::silu(v, x)),
                kind::HARD_SIGMOID => strip!(s, from, to, n, |v, x| math::hard_sigmoid(v, x, a, b)),
                kind::HARD_SWISH => strip!(s, from, to, n, |v, x| math::hard_swish(v, x)),
                kind::TANH => strip!(s, from, to, n, |v, x| math::tanh(v, x)),
                kind::GELU => strip!(s, from, to, n, |v, x| math::gelu(v, x)),
                kind::GELU_TANH => strip!(s, from, to, n, |v, x| math::gelu_tanh(v, x)),
                kind::LEAKY_RELU => strip!(s, from, to, n, |v, x| math::leaky_relu(v, x, a)),
                kind::EXP => strip!(s, from, to, n, |v, x| math::exp(v, x)),
                kind::LOG => strip!(s, from, to, n, |v, x| math::log(v, x)),
                kind::ERF => strip!(s, from, to, n, |v, x| math::erf(v, x)),
                kind::SOFTPLUS => strip!(s, from, to, n, |v, x| math::softplus(v, x)),
                kind::SQRT => strip!(s, from, to, n, |v, x| v.sqrt(x)),
                _ => strip!(s, from, to, n, |v, x| x),
            }
        }
    }
}

/// `out[i] = function(x[i])` for `n` contiguous elements.
///
/// Operands: `[out, x]`, each of `n` floats, the same memory or disjoint. No scratch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VectorMap {
    n: u64,
    code: FunctionCode,
    parts: u32,
    isa: Isa,
    reserved: u32,
}

/// A part is at least this many elements, so that its work exceeds the cost of handing it out.
const MIN_PART: usize = 4096;

impl VectorMap {
    /// The map of `function` over `n` elements.
    pub fn new(function: ScalarFunction, n: usize, isa: Isa, threads: usize) -> VectorMap {
        let parts = n.div_ceil(MIN_PART).min(threads * 4) as u32;
        VectorMap { n: n as u64, code: function.into(), parts, isa, reserved: 0 }
    }
}

// SAFETY: fields of 8, 12, 4, 4 and 4 bytes, without padding; `entry` reads this type.
unsafe impl Kernel for VectorMap {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<VectorMap>(self.isa)
    }
}

impl KernelBody for VectorMap {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let range = piece(self.n as usize, self.parts as usize, part as usize);
        // SAFETY: both operands have `n` elements and parts do not overlap.
        unsafe {
            let from = operands.get::<f32>(1).add(range.start);
            let to = operands.get::<f32>(0).add(range.start);
            apply::<S>(MapBody { code: self.code, from, to, n: range.len() });
        }
    }
}
