//! What a lowered operation is: calls of kernels and of generated functions, with what they are told and
//! handed.
//!
//! Nothing here knows where operands are: a [`Pointer`] names them by number.

use ir::target::Bands;
use kernels::{Kernel, KernelFn};

use crate::fold;
use crate::pointwise::stages::PointwiseForm;
use crate::weights::WeightPacking;

/// What an operation becomes.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    /// What `mem.kernel` says.
    pub(crate) kernel: &'static str,
    /// The calls, in order.
    pub(crate) calls: Vec<LoweredCall>,
    /// Bytes at the beginning of scratch that all calls share, a multiple of 64.
    pub(crate) shared_bytes: u64,
    /// The least scratch of all workers together, where that can be less than the calls take.
    pub(crate) least_scratch_bytes: Option<u64>,
    /// How result 0 may be written over rows that were read.
    pub(crate) bands: Option<Bands>,
    /// What is known once the first call is done, if there is one; unless it holds, the program stops there.
    pub(crate) condition: Option<Condition>,
}

/// A byte that is 1 where all is well.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// Where it is.
    pub(crate) truth: Pointer,
    /// What is wrong where it is 0.
    pub(crate) message: String,
}

impl Lowered {
    /// Calls that share no scratch.
    pub(crate) fn new(kernel: &'static str, calls: Vec<LoweredCall>) -> Lowered {
        let (least_scratch_bytes, bands, condition) = (None, None, None);
        Lowered { kernel, calls, shared_bytes: 0, least_scratch_bytes, bands, condition }
    }

    /// Why generated code computes one element at a time, if it does so in any call.
    pub(crate) fn slow(&self) -> Option<String> {
        self.calls.iter().find_map(|call| match &call.code {
            KernelCode::Kernel(_) => None,
            KernelCode::Pointwise { form, .. } => form.slow(),
            KernelCode::Reduce { form, .. } => form.slow(),
        })
    }

    /// Scratch of all workers together, in bytes.
    pub(crate) fn scratch_bytes(&self, threads: usize) -> u64 {
        // What can do with less is cut into other parts then.
        let is_fixed = self.least_scratch_bytes.is_none();
        let workers = |call: &LoweredCall| if is_fixed { threads.min(call.parts as usize) } else { threads };
        let bytes = self.calls.iter().map(|call| call.scratch_bytes * workers(call) as u64).max();
        self.shared_bytes + bytes.unwrap_or(0)
    }

    /// The most scratch of all workers together, in bytes, where each size is at most what it is here.
    pub(crate) fn most_scratch_bytes(&self, threads: usize) -> u64 {
        let workers = self.calls.iter().map(|call| call.most_scratch_bytes * threads as u64).max();
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
    /// The bytes that tell it sizes.
    pub(crate) descriptor: Vec<u8>,
    /// Parts that may run at the same time; 0 if there is nothing to do.
    pub(crate) parts: u32,
    /// Scratch of each worker, in bytes, a multiple of 64.
    pub(crate) scratch_bytes: u64,
    /// The most that is, where each size is at most what it is here.
    pub(crate) most_scratch_bytes: u64,
    /// What the table of operands holds.
    pub(crate) operands: Vec<Pointer>,
}

/// A function with the kernels' interface.
#[derive(Clone, Debug)]
pub(crate) enum KernelCode {
    /// A precompiled kernel.
    Kernel(KernelFn),
    /// A generated loop nest.
    Pointwise {
        /// What decides its code.
        form: Box<PointwiseForm>,
        /// The most loops that it has at other sizes: axes of the iterations.
        axes: usize,
    },
    /// A generated reduction.
    Reduce {
        /// What decides its code.
        form: fold::FoldForm,
        /// The most loops that it has at other sizes: axes that stay, and axes that are folded.
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
    /// A number, as often as the second says.
    Repeated(f32, usize),
    /// Scratch that all calls share, from this byte on.
    Shared(u64),
    /// Null.
    Absent,
}

impl Pointer {
    /// Points further into a result or an operand, by that many bytes; other pointers stay.
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
            operands,
        }
    }

    /// The same with other operands.
    pub(crate) fn on(&self, operands: Vec<Pointer>) -> LoweredCall {
        LoweredCall { operands, code: self.code.clone(), descriptor: self.descriptor.clone(), ..*self }
    }
}
