//! What passes may know of this machine: the CPU as a target.

use ir::body::OpRef;
use ir::opdef::{Access, Contract, Strided, View};
use ir::plan::attrs;
use ir::target::{KernelChoice, Place};
use ir::window::Arrangement;
use ir::{Kind, Op, Target};
use kernels::Isa;

use crate::activation::activation;
use crate::group::{Fused, PrologueStep, is_sum, prologue_step, root};
use crate::lower::{Machine, lower};
use crate::{lines, pointwise};

/// The processor that this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Cpu {
    /// The processor that this process runs on.
    pub fn new() -> Cpu {
        Cpu
    }
}

impl Target for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    /// Channels last, where an operation has the choice.
    fn layout(&self, op: OpRef<'_>) -> Option<&'static str> {
        op.def()?.attr("layout").map(|_| "NHWC")
    }

    fn fuses(&self, root: OpRef<'_>, op: OpRef<'_>, place: Place) -> bool {
        let is_f32 = root.ctx.elem(root.result_type(0)) == root.ctx.f32();
        let is_contraction = matches!(root.kind(), Kind::Contract(_));
        let is_norm = crate::normalise::takes_activation(root);
        is_f32
            && (is_contraction || is_norm && place == Place::Activation)
            && match place {
                Place::Bias | Place::Residual => is_sum(op),
                Place::Activation => activation(op).is_some(),
                Place::Prologue => takes_prologue(root, op),
            }
    }

    fn select(&self, op: OpRef<'_>, threads: usize) -> Option<KernelChoice> {
        let lowered = lower(op, &Machine { isa: Isa::detect(), threads }).ok()?;
        Some(KernelChoice {
            kernel: lowered.kernel.to_owned(),
            scratch_bytes: lowered.scratch_bytes(threads),
            least_scratch_bytes: lowered.least_scratch_bytes(threads),
            most_scratch_bytes: lowered.most_scratch_bytes(threads),
            packed_bytes: lowered.packed_bytes(),
            bands: lowered.bands,
        })
    }

    /// A kernel reads what it adds to its result right before it writes that; what it normalises, before it writes anything.
    fn access(&self, op: OpRef<'_>, operand: usize) -> Access {
        if !matches!(op.kind(), Kind::Group) || op.attr(attrs::MEM_LINES).is_some() {
            return Access::Never;
        }
        let Some(root) = root(op) else {
            return pointwise::group_access(op, operand).unwrap_or(Access::Never);
        };
        match Fused::of_group(op, root) {
            Ok(fused) if fused.residual == Some(operand) => Access::SameIndex,
            Ok(fused) if matches!(fused.root.kind(), Kind::Kernel(_)) && fused.operands[0] == operand => {
                Access::Whole
            }
            _ => Access::Never,
        }
    }

    fn writes_rows(&self, op: OpRef<'_>) -> bool {
        takes_rows(op)
    }

    fn writes_strides(&self, op: OpRef<'_>) -> bool {
        writes_strides(op)
    }

    fn reads_rows(&self, op: OpRef<'_>, operand: usize) -> bool {
        takes(op, operand, Arrangement::Rows) && !is_viewed(op, operand)
    }

    fn reads_strides(&self, op: OpRef<'_>, operand: usize) -> bool {
        takes(op, operand, Arrangement::Strides) && !is_viewed(op, operand)
    }
}

/// Whether the kernels of an operation write results in rows with gaps, and take all operands in such rows: convolutions, pools, loop
/// nests and copies.
pub(crate) fn takes_rows(op: OpRef<'_>) -> bool {
    match op.kind() {
        Kind::Elementwise(_) | Kind::View(_) | Kind::Kernel("max_pool2d" | "avg_pool2d" | "pad") => true,
        Kind::Contract(Contract::Conv2d) => true,
        Kind::Group if op.attr(attrs::MEM_LINES).is_some() => lines::steps(op).into_iter().all(takes_rows),
        Kind::Group => match root(op).map(|root| op.body.at(op.ctx, root).kind()) {
            None | Some(Kind::Contract(Contract::Conv2d)) => true,
            Some(_) => false,
        },
        _ => false,
    }
}

/// Whether the kernels of an operation, which write rows, write elements at any distance, too: loop nests and copies.
pub(crate) fn writes_strides(op: OpRef<'_>) -> bool {
    match op.kind() {
        Kind::Elementwise(_) | Kind::View(_) => true,
        Kind::Group => op.attr(attrs::MEM_LINES).is_none() && root(op).is_none(),
        _ => false,
    }
}

/// Whether the kernels of an operation take an operand that lies so. Loop nests and copies take any distances, convolutions for
/// their images, products for their matrices.
pub(crate) fn takes(op: OpRef<'_>, operand: usize, arrangement: Arrangement) -> bool {
    let any = arrangement == Arrangement::Strides;
    match op.kind() {
        _ if arrangement == Arrangement::Plain => true,
        Kind::View(View::OfOperand(_)) => keeps_strides(op),
        Kind::Elementwise(_) | Kind::View(_) | Kind::Kernel("pad") => true,
        Kind::Kernel("batch_norm") => operand == 0,
        Kind::Reduce(_) | Kind::Kernel("softmax") => !any,
        Kind::Contract(contract) => contracts(contract, &Fused::alone(op), operand, arrangement),
        Kind::Group if op.attr(attrs::MEM_LINES).is_some() => lines::readers(op, operand)
            .into_iter()
            .all(|(step, index)| takes(step, index, arrangement) && !is_viewed(step, index)),
        Kind::Group => match root(op).map(|root| Fused::of_group(op, root)) {
            None => true,
            Some(Ok(fused)) => match fused.root.kind() {
                Kind::Contract(contract) => contracts(contract, &fused, operand, arrangement),
                _ => false,
            },
            Some(Err(_)) => false,
        },
        _ => takes_rows(op) && !any,
    }
}

fn contracts(contract: Contract, fused: &Fused<'_>, operand: usize, arrangement: Arrangement) -> bool {
    let is_added = fused.residual == Some(operand) || fused.bias == Some(operand);
    match contract {
        Contract::Conv2d => arrangement == Arrangement::Rows || operand == fused.operands[0] && !is_added,
        Contract::Matmul => fused.operands[..2].contains(&operand) && !is_added,
    }
}

/// Whether a view in a group's body reads an operand: views of rows need not be rows.
fn is_viewed(group: OpRef<'_>, operand: usize) -> bool {
    let Some(block) = group.body.regions(group.op).first().and_then(|region| group.body.entry(*region))
    else {
        return false;
    };
    let mut uses = group.body.uses(group.body.args(block)[operand]);
    uses.any(|used| matches!(group.body.at(group.ctx, used.op).kind(), Kind::View(_)))
}

/// Whether a view's layout follows from any layout of its operand.
fn keeps_strides(op: OpRef<'_>) -> bool {
    let (Kind::View(View::OfOperand(map)), Some(shape)) = (op.kind(), op.operand_shape(0)) else {
        return false;
    };
    let strides = Strided::row_major(0, shape.iter().map(|size| size + 1).collect()).strides;
    map(op, 0, &Strided { offset: 0, shape, strides }).is_some()
}

/// Whether a convolution can do `op`, and all that stands between the two, while it reads its input.
fn takes_prologue(root: OpRef<'_>, op: OpRef<'_>) -> bool {
    if !matches!(root.kind(), Kind::Contract(Contract::Conv2d)) {
        return false;
    }
    // A larger window would compute the prologue once for each tap.
    let filter = root.operand_shape(1);
    let Some(&[_, channels, 1, 1]) = filter.as_deref() else { return false };
    if root.text("layout") != Some("NHWC") || root.int("groups") != Some(1) {
        return false;
    }
    let mut later: Option<PrologueStep> = None;
    let mut chain = chain(root, op);
    chain.reverse();
    chain.into_iter().all(|op| {
        let op = root.body.at(root.ctx, op);
        let step = prologue_step(op).filter(|step| later.is_none_or(|later| *step < later));
        let fits = step.is_some_and(|step| step == PrologueStep::Relu || reads_channels(op, channels));
        later = step;
        fits
    })
}

/// The operations from `op` on that lead to the root's first operand.
fn chain(root: OpRef<'_>, op: OpRef<'_>) -> Vec<Op> {
    let mut ops = vec![op.op];
    let mut value = root.operand(0);
    let mut between = Vec::new();
    while let Some(producer) = root.body.defining_op(value).filter(|producer| *producer != op.op) {
        between.push(producer);
        if root.body.operand_count(producer) == 0 || between.len() > 3 {
            break;
        }
        value = root.body.operand(producer, 0);
    }
    between.reverse();
    ops.append(&mut between);
    ops
}

/// Whether operand 1 has one number for each channel.
fn reads_channels(op: OpRef<'_>, channels: u64) -> bool {
    crate::group::is_per_channel(op, op.operand(1), channels)
}
