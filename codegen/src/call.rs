//! Calls: a lowered operation is a list of calls of kernels and generated functions, with descriptors and
//! operands.
//!
//! Nothing here knows the addresses of operands: a [`Pointer`] names them by number.

use ir::target::Bands;
use kernels::{Kernel, KernelFn};

use crate::fold;
use crate::pointwise::stages::PointwiseForm;
use crate::weights::WeightPacking;

/// A lowered operation.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    /// The name in `mem.kernel`.
    pub(crate) kernel: &'static str,
    /// The calls, in order.
    pub(crate) calls: Vec<LoweredCall>,
    /// Bytes at the beginning of scratch that all calls share, a multiple of 64.
    pub(crate) shared_bytes: u64,
    /// The least scratch of all workers together, if the calls can do with less than they ask for.
    pub(crate) least_scratch_bytes: Option<u64>,
    /// Scratch of all workers together that is enough at any sizes up to these, if it is not what is enough
    /// for the calls.
    pub(crate) enough_scratch_bytes: Option<u64>,
    /// The most workers that run parts of a call at the same time, if there is a limit: if not all do, calls
    /// have no more parts than that.
    pub(crate) most_workers: Option<usize>,
    /// How result 0 may overwrite rows after they are read.
    pub(crate) bands: Option<Bands>,
    /// A condition that is known after the first call, if there is one; if it is false, the program stops
    /// there.
    pub(crate) condition: Option<Condition>,
}

/// A byte that must be 1.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// The address of the byte.
    pub(crate) truth: Pointer,
    /// The message if it is 0.
    pub(crate) message: String,
}

impl Lowered {
    /// Calls that share no scratch.
    pub(crate) fn new(kernel: &'static str, calls: Vec<LoweredCall>) -> Lowered {
        Lowered {
            kernel,
            calls,
            shared_bytes: 0,
            least_scratch_bytes: None,
            enough_scratch_bytes: None,
            most_workers: None,
            bands: None,
            condition: None,
        }
    }

    /// Why generated code computes one element at a time, if it does so in any call.
    pub(crate) fn slow(&self) -> Option<String> {
        self.calls.iter().find_map(|call| match &call.code {
            KernelCode::Kernel(_) => None,
            KernelCode::Pointwise { form, .. } => form.slow(),
            KernelCode::Reduce { form, .. } => form.slow(),
        })
    }

    /// The most of these threads that run parts of a call at the same time.
    fn workers(&self, threads: usize) -> usize {
        self.most_workers.map_or(threads, |workers| workers.min(threads))
    }

    /// Scratch of all workers together, in bytes.
    pub(crate) fn scratch_bytes(&self, threads: usize) -> u64 {
        // Calls that can do with less are then divided into other parts.
        let is_fixed = self.least_scratch_bytes.is_none();
        let all = self.workers(threads);
        let workers = |call: &LoweredCall| if is_fixed { all.min(call.parts as usize) } else { all };
        let bytes = self.calls.iter().map(|call| call.scratch_bytes * workers(call) as u64).max();
        self.shared_bytes + bytes.unwrap_or(0)
    }

    /// The greatest scratch of all workers together, in bytes, at any sizes up to these.
    pub(crate) fn most_scratch_bytes(&self, threads: usize) -> u64 {
        let workers =
            self.calls.iter().map(|call| call.most_scratch_bytes * self.workers(threads) as u64).max();
        self.shared_bytes + workers.unwrap_or(0)
    }

    /// Scratch of all workers together that is enough at any sizes up to these, in bytes.
    pub(crate) fn enough_scratch_bytes(&self, threads: usize) -> u64 {
        if let Some(bytes) = self.enough_scratch_bytes {
            return bytes;
        }
        if self.least_scratch_bytes.is_none() {
            return self.most_scratch_bytes(threads);
        }
        let workers =
            self.calls.iter().map(|call| call.enough_scratch_bytes * self.workers(threads) as u64).max();
        self.shared_bytes + workers.unwrap_or(0)
    }

    /// The least scratch of all workers together, in bytes.
    pub(crate) fn least_scratch_bytes(&self, threads: usize) -> u64 {
        self.least_scratch_bytes.unwrap_or_else(|| self.scratch_bytes(threads))
    }

    /// Bytes of repacked weights, which all calls share.
    pub(crate) fn packed_bytes(&self) -> u64 {
        let packed = |call: &LoweredCall| call.operands.iter().map(Pointer::packed_bytes).sum();
        self.calls.iter().map(packed).max().unwrap_or(0)
    }
}

/// One function run on all its parts.
#[derive(Clone, Debug)]
pub(crate) struct LoweredCall {
    /// The function.
    pub(crate) code: KernelCode,
    /// The sizes for the function, encoded.
    pub(crate) descriptor: Vec<u8>,
    /// Parts that may run at the same time; 0 if there is nothing to do.
    pub(crate) parts: u32,
    /// Scratch of each worker, in bytes, a multiple of 64.
    pub(crate) scratch_bytes: u64,
    /// The greatest scratch of each worker, in bytes, at any sizes up to these.
    pub(crate) most_scratch_bytes: u64,
    /// Scratch of each worker that is enough at any sizes up to these, in bytes.
    pub(crate) enough_scratch_bytes: u64,
    /// The table of operands.
    pub(crate) operands: Vec<Pointer>,
}

/// A function with the kernels' interface.
#[derive(Clone, Debug)]
pub(crate) enum KernelCode {
    /// A precompiled kernel.
    Kernel(KernelFn),
    /// A generated loop nest.
    Pointwise {
        /// The form, which determines its code.
        form: Box<PointwiseForm>,
        /// The greatest number of its loops at other sizes: axes of the iteration space.
        axes: usize,
    },
    /// A generated reduction.
    Reduce {
        /// The form, which determines its code.
        form: fold::FoldForm,
        /// The greatest numbers of its loops at other sizes: kept axes, and folded axes.
        axes: [usize; 2],
    },
}

/// An entry of the table of operands.
#[derive(Clone, Debug)]
pub(crate) enum Pointer {
    /// A result of the operation, from this byte on.
    Result(usize, u64),
    /// An operand of the operation, from this byte on.
    Operand(usize, u64),
    /// An operand of the operation that is a weight, in another arrangement.
    Packed(usize, WeightPacking),
    /// A number, repeated a number of times.
    Repeated(f32, usize),
    /// Scratch that all calls share, from this byte on.
    Shared(u64),
    /// Null.
    Absent,
}

impl Pointer {
    /// Moves a pointer into a result or an operand forward by this number of bytes; other pointers stay.
    pub(crate) fn advance(&mut self, bytes: u64) {
        if let Pointer::Result(_, offset) | Pointer::Operand(_, offset) = self {
            *offset += bytes;
        }
    }

    fn packed_bytes(&self) -> u64 {
        match self {
            Pointer::Packed(_, packing) => packing.packed_bytes(),
            _ => 0,
        }
    }
}

impl LoweredCall {
    /// A call of a kernel.
    pub(crate) fn kernel(kernel: &impl Kernel, operands: Vec<Pointer>) -> LoweredCall {
        LoweredCall {
            code: KernelCode::Kernel(kernel.entry()),
            descriptor: kernel.as_bytes().to_vec(),
            parts: kernel.parts(),
            scratch_bytes: (kernel.scratch_bytes() as u64).next_multiple_of(64),
            most_scratch_bytes: (kernel.most_scratch_bytes() as u64).next_multiple_of(64),
            enough_scratch_bytes: (kernel.enough_scratch_bytes() as u64).next_multiple_of(64),
            operands,
        }
    }

    /// The same call with other operands.
    pub(crate) fn on(&self, operands: Vec<Pointer>) -> LoweredCall {
        LoweredCall { operands, code: self.code.clone(), descriptor: self.descriptor.clone(), ..*self }
    }
}
