//! What a fused contraction does besides: prologue, bias, residual, activation.
//!
//! The group's body is read as the fixed form that the kernels have,
//! `activation(contraction(relu(x * scale + shift), w) + bias + residual)`, in which everything but the
//! contraction may be absent.

use ir::body::OpRef;
use ir::opdef::Access;
use ir::scalar::Binary;
use ir::target::GroupPosition;
use ir::{Kind, Op, Scalar, Traits, Value};
use kernels::Activation;

use crate::activation::activation;
use crate::refusal::CodeRefusal;

/// The contractions and other kernels of a group: one if it is built around that, none if it is elementwise.
pub(crate) fn roots(group: OpRef<'_>) -> Vec<Op> {
    let block = group.body.regions(group.op).first().and_then(|region| group.body.entry(*region));
    let is_root =
        |op: &Op| matches!(group.body.at(group.ctx, *op).kind(), Kind::Contract(_) | Kind::Kernel(_));
    block.into_iter().flat_map(|block| group.body.ops(block)).filter(is_root).collect()
}

/// The operations of a group's body, but for the last one, which yields.
pub(crate) fn body_ops(group: OpRef<'_>) -> Result<Vec<OpRef<'_>>, CodeRefusal> {
    let block = group.body.regions(group.op).first().and_then(|region| group.body.entry(*region));
    let block = block.ok_or_else(|| CodeRefusal::new("its body is empty"))?;
    let ops = group.body.ops(block).map(|op| group.body.at(group.ctx, op));
    Ok(ops.filter(|op| !op.has(Traits::YIELD)).collect())
}

/// A contraction with what is fused to it. Numbers are operands of the whole (the group, or the lone
/// contraction).
pub(crate) struct Fused<'a> {
    /// The contraction.
    pub(crate) root: OpRef<'a>,
    /// The whole's operand that is each operand of the contraction.
    pub(crate) operands: Vec<usize>,
    /// What is done to the contraction's first operand.
    pub(crate) prologue: Option<Prologue>,
    /// Added for each index of the last axis.
    pub(crate) bias: Option<usize>,
    /// Added element by element.
    pub(crate) residual: Option<usize>,
    /// Applied last.
    pub(crate) activation: Activation,
}

/// `relu(x * scale + shift)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prologue {
    /// Absent: 1.
    pub(crate) scale: Option<usize>,
    /// Absent: 0.
    pub(crate) shift: Option<usize>,
    /// Absent: nothing follows.
    pub(crate) relu: Option<()>,
}

/// What a step of a prologue does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PrologueStep {
    /// Multiplies by operand 1.
    Scale,
    /// Adds operand 1.
    Shift,
    /// `max(x, 0)`.
    Relu,
}

/// What an operation does in a prologue, if a prologue can do it; its other operand is operand 1.
pub(crate) fn prologue_step(op: OpRef<'_>) -> Option<PrologueStep> {
    let Kind::Elementwise(meaning) = op.kind() else { return None };
    match meaning {
        Scalar::Binary(Binary::Mul, Scalar::Arg(0), Scalar::Arg(1)) => Some(PrologueStep::Scale),
        Scalar::Binary(Binary::Add, Scalar::Arg(0), Scalar::Arg(1)) => Some(PrologueStep::Shift),
        _ => (activation(op) == Some(Activation::Relu)).then_some(PrologueStep::Relu),
    }
}

/// Whether an operation adds its two operands.
pub(crate) fn is_sum(op: OpRef<'_>) -> bool {
    let Kind::Elementwise(meaning) = op.kind() else { return false };
    matches!(meaning, Scalar::Binary(Binary::Add, Scalar::Arg(0), Scalar::Arg(1)))
}

/// Whether the kernels of contractions do an operation at a place after their own work: a sum, or an
/// activation.
pub(crate) fn follows(op: OpRef<'_>, place: GroupPosition) -> bool {
    match place {
        GroupPosition::Bias | GroupPosition::Residual => is_sum(op),
        GroupPosition::Activation => activation(op).is_some(),
        GroupPosition::Prologue => false,
    }
}

/// The order in which the kernels of contractions read an operand of a group: what they add to a result,
/// right before they write that.
pub(crate) fn added_access(group: OpRef<'_>, operand: usize) -> Access {
    match Fused::of(group) {
        Ok(fused) if fused.residual == Some(operand) => Access::SameIndex,
        _ => Access::Never,
    }
}

/// Whether a value has one number for each of `count` indices of the last axis, and the same for all others.
pub(crate) fn is_per_channel(op: OpRef<'_>, value: Value, count: u64) -> bool {
    let shape = op.ctx.static_shape(op.body.ty(value));
    shape.is_some_and(|shape| shape.last() == Some(&count) && shape.iter().product::<u64>() == count)
}

impl<'a> Fused<'a> {
    /// An operation with nothing fused to it, or a group around one.
    ///
    /// # Errors
    /// If a group's body is not of the kernels' form.
    pub(crate) fn of(whole: OpRef<'a>) -> Result<Fused<'a>, CodeRefusal> {
        match whole.kind() {
            Kind::Group => {
                let root = roots(whole).first().copied();
                Fused::of_group(
                    whole,
                    root.ok_or_else(|| CodeRefusal::new("its body has no kernel of its own"))?,
                )
            }
            _ => Ok(Fused::alone(whole)),
        }
    }

    /// Whether an operand of the whole is added to the contraction.
    pub(crate) fn adds(&self, operand: usize) -> bool {
        self.residual == Some(operand) || self.bias == Some(operand)
    }

    /// A contraction with nothing fused to it.
    fn alone(op: OpRef<'a>) -> Fused<'a> {
        let bias = (op.operand_count() > 2).then_some(2);
        let operands = (0..op.operand_count()).collect();
        Fused { root: op, operands, prologue: None, bias, residual: None, activation: Activation::None }
    }

    /// Reads the body of a group.
    ///
    /// # Errors
    /// If it is not of the kernels' form.
    fn of_group(group: OpRef<'a>, root: Op) -> Result<Fused<'a>, CodeRefusal> {
        let reader = GroupReader { group, root: group.body.at(group.ctx, root) };
        let (source, prologue) = reader.prologue()?;
        let mut operands = vec![source];
        for operand in group.body.operands(root).skip(1) {
            operands.push(reader.input(operand)?);
        }
        let bias = operands.get(2).copied();
        let mut fused = Fused {
            root: reader.root,
            operands,
            prologue,
            bias,
            residual: None,
            activation: Activation::None,
        };
        reader.epilogue(&mut fused)?;
        Ok(fused)
    }
}

struct GroupReader<'a> {
    group: OpRef<'a>,
    root: OpRef<'a>,
}

impl<'a> GroupReader<'a> {
    /// Which operand of the group a value of its body is.
    fn input(&self, value: Value) -> Result<usize, CodeRefusal> {
        match self.group.body.def(value) {
            ir::body::ValueDef::Arg(_, index) => Ok(index),
            ir::body::ValueDef::Result(..) => {
                Err(CodeRefusal::new("its body computes an operand that the kernel wants as it is"))
            }
        }
    }

    /// The operand that the contraction reads first, and what is done to it before.
    fn prologue(&self) -> Result<(usize, Option<Prologue>), CodeRefusal> {
        let mut value = self.root.operand(0);
        let mut later: Option<PrologueStep> = None;
        let mut prologue = Prologue::default();
        while let Some(op) = self.group.body.defining_op(value) {
            let op = self.group.body.at(self.group.ctx, op);
            let step = prologue_step(op).filter(|step| later.is_none_or(|later| *step < later));
            match step.ok_or_else(|| CodeRefusal::new("its prologue is not relu(x * scale + shift)"))? {
                PrologueStep::Scale => prologue.scale = Some(self.input(op.operand(1))?),
                PrologueStep::Shift => prologue.shift = Some(self.input(op.operand(1))?),
                PrologueStep::Relu => prologue.relu = Some(()),
            }
            later = step;
            value = op.operand(0);
        }
        Ok((self.input(value)?, later.map(|_| prologue)))
    }

    fn epilogue(&self, fused: &mut Fused<'a>) -> Result<(), CodeRefusal> {
        let form = || CodeRefusal::new("its epilogue is not activation(sum + bias + residual)");
        let mut value = self.root.result(0);
        loop {
            let mut uses = self.group.body.uses(value);
            let user = uses.next().ok_or_else(form)?.op;
            let op = self.group.body.at(self.group.ctx, user);
            if op.has(Traits::YIELD) {
                return Ok(());
            }
            if fused.activation != Activation::None || uses.next().is_some() {
                return Err(form());
            }
            match is_sum(op) {
                true => self.addend(fused, op, value)?,
                false => fused.activation = activation(op).ok_or_else(form)?,
            }
            value = op.result(0);
        }
    }

    fn addend(&self, fused: &mut Fused<'a>, op: OpRef<'a>, sum: Value) -> Result<(), CodeRefusal> {
        let other = if op.operand(0) == sum { op.operand(1) } else { op.operand(0) };
        let same = op.body.ty(other) == self.root.result_type(0);
        let channels = self.root.result_shape(0).and_then(|shape| shape.last().copied());
        let per_channel = channels.is_some_and(|channels| is_per_channel(op, other, channels));
        let slot = match () {
            () if same && fused.residual.is_none() => &mut fused.residual,
            () if per_channel && fused.bias.is_none() => &mut fused.bias,
            () => return Err(CodeRefusal::new("it adds what is neither a bias nor a residual")),
        };
        *slot = Some(self.input(other)?);
        Ok(())
    }
}
