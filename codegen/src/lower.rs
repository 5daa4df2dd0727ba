//! What each operation becomes: calls of kernels and of generated functions.
//!
//! The same answer serves the pass `select` (which kernel, how much scratch) and the emission of code, so that they can't
//! disagree. Nothing here knows where operands are.

use ir::Kind;
use ir::body::OpRef;
use ir::opdef::{Contract, Flow};
use ir::plan::attrs;
use ir::size::static_extents;
use ir::target::Bands;
use ir::window::{Arrangement, is_plain};
use kernels::{Isa, Kernel, KernelFn};

use crate::pointwise::known_layout;
use crate::pointwise::stages::Form;
use crate::refusal::Refusal;
use crate::target::{takes, takes_rows, writes_strides};
use crate::weights::Packing;
use crate::{along, bands, compress, contract, copy, group, lines, normalise, pointwise, pool, reduce, take};

/// What code is generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// The instruction set of the kernels.
    pub(crate) isa: Isa,
    /// Threads that share each call.
    pub(crate) threads: usize,
}

/// What an operation becomes.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    /// What `mem.kernel` says.
    pub(crate) kernel: &'static str,
    /// The calls, in order.
    pub(crate) calls: Vec<Call>,
    /// Bytes at the beginning of scratch that all calls share, a multiple of 64.
    pub(crate) shared_bytes: u64,
    /// The least scratch of all workers together, where that can be less than the calls take.
    pub(crate) least_scratch_bytes: Option<u64>,
    /// How result 0 may be written over rows that were read.
    pub(crate) bands: Option<Bands>,
    /// What the first call finds out; unless it holds, the program stops there.
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
    pub(crate) fn new(kernel: &'static str, calls: Vec<Call>) -> Lowered {
        let (least_scratch_bytes, bands, condition) = (None, None, None);
        Lowered { kernel, calls, shared_bytes: 0, least_scratch_bytes, bands, condition }
    }

    /// Scratch of all workers together, in bytes.
    pub(crate) fn scratch_bytes(&self, threads: usize) -> u64 {
        let workers = self.calls.iter().map(|call| call.scratch_bytes * threads as u64).max();
        self.shared_bytes + workers.unwrap_or(0)
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
        let packed = |call: &Call| call.operands.iter().map(Pointer::packed_bytes).sum();
        self.calls.iter().map(packed).max().unwrap_or(0)
    }
}

/// One function run on all its parts.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The function.
    pub(crate) code: Code,
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
pub(crate) enum Code {
    /// A precompiled kernel.
    Kernel {
        /// Its name, which is the same for all instruction sets.
        name: &'static str,
        /// The instruction set that it is compiled for.
        isa: Isa,
        /// Where it is.
        entry: KernelFn,
    },
    /// A generated loop nest.
    Pointwise {
        /// What decides its code.
        form: Box<Form>,
        /// The most loops that it has at other sizes: axes of the iterations.
        axes: usize,
    },
    /// A generated reduction.
    Reduce {
        /// What decides its code.
        form: reduce::Form,
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
    Packed(usize, Packing),
    /// So many equal numbers.
    Repeated(f32, usize),
    /// Scratch that all calls share, from this byte on.
    Shared(u64),
    /// Null.
    Absent,
}

impl Code {
    /// What a precompiled kernel is referred to by.
    pub(crate) fn symbol(name: &str, isa: Isa) -> String {
        format!("optc_{name}_{isa:?}")
    }
}

impl Pointer {
    /// Points so many bytes further into a result or an operand; other pointers stay.
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

impl Call {
    /// A call of the kernel called `name`.
    pub(crate) fn kernel(name: &'static str, kernel: &impl Kernel, isa: Isa, operands: Vec<Pointer>) -> Call {
        Call {
            code: Code::Kernel { name, isa, entry: kernel.entry() },
            descriptor: kernel.as_bytes().to_vec(),
            parts: kernel.parts(),
            scratch_bytes: (kernel.scratch_bytes() as u64).next_multiple_of(64),
            most_scratch_bytes: (kernel.most_scratch_bytes() as u64).next_multiple_of(64),
            operands,
        }
    }
}

type Rule = fn(OpRef<'_>, &Machine) -> Result<Lowered, Refusal>;

/// The lowerings of operations that are kernels by name of their kind.
static KERNELS: &[(&str, Rule)] = &[
    ("max_pool2d", pool::lower_max),
    ("avg_pool2d", pool::lower_average),
    ("pad", copy::lower_pad),
    ("repeat", copy::lower_repeat),
    ("insert_slice", copy::lower_insert_slice),
    ("softmax", normalise::lower_softmax),
    ("batch_norm", normalise::lower_batch_norm),
    ("group_norm", normalise::lower_group_norm),
    ("arg_max", along::lower_arg_max),
    ("arg_min", along::lower_arg_min),
    ("cum_sum", along::lower_cum_sum),
    ("cum_prod", along::lower_cum_prod),
    ("compress", compress::lower_compress),
];

/// What an operation becomes.
///
/// # Errors
/// If there is no code for it, with the reason.
pub(crate) fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    check_arrangements(op)?;
    let lowered = by_kind(op, machine)?;
    bands::band_rows(op, lowered.bands)?;
    Ok(lowered)
}

/// What an operation of a function becomes in which everything lies without gaps.
///
/// # Errors
/// As for [`lower`].
pub(crate) fn lower_plain(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    by_kind(op, machine)
}

/// Refuses operands and results that lie otherwise than the kernels take them.
fn check_arrangements(op: OpRef<'_>) -> Result<(), Refusal> {
    let is_plain = |value: ir::Value| is_plain(op.ctx, op.body, value);
    for result in op.body.results(op.op).filter(|result| !is_plain(*result)) {
        let is_apart = Arrangement::of(&known_layout(op, result)?) == Arrangement::Strides;
        if !takes_rows(op) || is_apart && !writes_strides(op) {
            return Err(Refusal::new("its kernel does not write rows with gaps between them"));
        }
    }
    for (index, value) in op.body.operands(op.op).enumerate().filter(|(_, value)| !is_plain(*value)) {
        if !takes(op, index, Arrangement::of(&known_layout(op, value)?)) {
            return Err(Refusal::new(format!("its kernel does not take operand {index} as it lies")));
        }
    }
    Ok(())
}

fn by_kind(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    match op.kind() {
        // It stops the program where an index is wrong, at all sizes or at none.
        Kind::Kernel("gather") => take::lower_gather(op, machine),
        _ if writes_nothing(op) => Ok(Lowered::new("nothing", Vec::new())),
        Kind::Elementwise(_) => pointwise::lower_op(op, machine),
        Kind::Group if op.attr(attrs::MEM_LINES).is_some() => lines::lower(op, machine),
        Kind::Group => match group::root(op) {
            Some(root) => contract::lower_group(op, root, machine),
            None => pointwise::lower_group(op, machine),
        },
        Kind::Contract(Contract::Conv2d) => contract::lower_conv2d(op, machine),
        Kind::Contract(Contract::Matmul) => contract::lower_matmul(op, machine),
        Kind::View(view) => copy::lower_view(op, view, machine),
        Kind::Reduce(reduce) => reduce::lower(op, reduce, machine),
        Kind::Kernel(name) => match KERNELS.iter().find(|row| row.0 == name) {
            Some((_, rule)) => rule(op, machine),
            None => Err(Refusal::new(format!("the kernel `{name}` does not exist"))),
        },
        Kind::Region(Flow::Call) => Err(Refusal::new("calls are not compiled; run the pass `inline` first")),
        _ => Err(Refusal::new("operations of its kind have no lowering")),
    }
}

/// Whether none of the results of an operation that computes has an element: then kernels need not ask for operands that have none.
fn writes_nothing(op: OpRef<'_>) -> bool {
    let mut results = op.body.results(op.op).map(|result| static_extents(op.ctx, op.body.ty(result)));
    let is_empty = |shape: Option<Vec<u64>>| shape.is_some_and(|shape| shape.contains(&0));
    op.body.result_count(op.op) > 0 && !matches!(op.kind(), Kind::Region(_)) && results.all(is_empty)
}
