//! The form of a fused contraction: prologue, bias, residual, activation.
//!
//! The group's body is matched against the only form that the kernels support, `activation(contraction(relu(x
//! * scale + shift), w) + bias + residual)`. Everything except the contraction may be absent. Tensors stored
//! as `bf16` are converted when they are read and written. A contraction whose two operands were just
//! converted from `bf16` multiplies `bf16` ([`Fused::multiplies_bf16`]).

use ir::body::OpRef;
use ir::opdef::Access;
use ir::scalar::Binary;
use ir::target::GroupPosition;
use ir::{FloatKind, Kind, Op, Scalar, Traits, Type, Value};
use kernels::{Activation, ConvNumbers, StoredFloat};

use crate::activation::activation;
use crate::elem::ElemType;
use crate::refusal::CodeRefusal;
use crate::shape::check_f32;

/// The contractions and other kernels of a group: one if it is built around one, none if it is elementwise.
pub(crate) fn roots(group: OpRef<'_>) -> Vec<Op> {
    let block = group.body.regions(group.op).first().and_then(|region| group.body.entry(*region));
    let is_root =
        |op: &Op| matches!(group.body.at(group.ctx, *op).kind(), Kind::Contract(_) | Kind::Kernel(_));
    block.into_iter().flat_map(|block| group.body.ops(block)).filter(is_root).collect()
}

/// The operations of a group's body, without the last one, which yields.
pub(crate) fn body_ops(group: OpRef<'_>) -> Result<Vec<OpRef<'_>>, CodeRefusal> {
    let block = group.body.regions(group.op).first().and_then(|region| group.body.entry(*region));
    let block = block.ok_or_else(|| CodeRefusal::new("its body is empty"))?;
    let ops = group.body.ops(block).map(|op| group.body.at(group.ctx, op));
    Ok(ops.filter(|op| !op.has(Traits::YIELD)).collect())
}

/// A contraction with its fused operations. The indices are operands of the whole (the group, or the lone
/// contraction).
pub(crate) struct Fused<'a> {
    /// The contraction.
    pub(crate) root: OpRef<'a>,
    /// For each operand of the contraction, the operand of the whole.
    pub(crate) operands: Vec<usize>,
    /// The operations on the contraction's first operand.
    pub(crate) prologue: Option<Prologue>,
    /// Added for each index of the last axis.
    pub(crate) bias: Option<usize>,
    /// Added element by element.
    pub(crate) residual: Option<usize>,
    /// Applied last.
    pub(crate) activation: Activation,
    /// Whether the contraction multiplies only `bf16`, in a body that computes with `f32`.
    pub(crate) multiplies_bf16: bool,
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

/// A step of a prologue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PrologueStep {
    /// Multiplies by operand 1.
    Scale,
    /// Adds operand 1.
    Shift,
    /// `max(x, 0)`.
    Relu,
}

/// An operation as a step of a prologue, if it is one; its other operand is operand 1.
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

/// Whether the kernels of contractions can do an operation at a position after the contraction: a sum, or an
/// activation.
pub(crate) fn follows(op: OpRef<'_>, place: GroupPosition) -> bool {
    match place {
        GroupPosition::Bias | GroupPosition::Residual => is_sum(op),
        GroupPosition::Activation => activation(op).is_some(),
        GroupPosition::Prologue | GroupPosition::Rescaling => false,
    }
}

/// The order in which the kernels of contractions read an operand of a group: addends of a result are read
/// right before the result is written.
pub(crate) fn added_access(group: OpRef<'_>, operand: usize) -> Access {
    let is_as_wide = group.ctx.elem(group.operand_type(operand)) == group.ctx.elem(group.result_type(0));
    match Fused::of_stored(group) {
        Ok(fused) if fused.operands.contains(&operand) => Access::Never,
        Ok(fused) if fused.residual == Some(operand) && is_as_wide => Access::SameIndex,
        _ => Access::Never,
    }
}

/// The storage type of a value's elements.
pub(crate) fn stored(op: OpRef<'_>, value: Value) -> Result<StoredFloat, CodeRefusal> {
    match ElemType::stored(op.ctx, op.body.ty(value)) {
        Some(ElemType::F32) => Ok(StoredFloat::F32),
        Some(ElemType::Bf16) => Ok(StoredFloat::Bf16),
        _ => Err(CodeRefusal::new("its kernel stores f32 and bf16 only")),
    }
}

/// The operand of an operation that converts floats from one type to the other.
pub(crate) fn converted(op: OpRef<'_>, from: Type, to: Type) -> Option<Value> {
    let is_cast = matches!(op.kind(), Kind::Elementwise(Scalar::Convert(Scalar::Arg(0))));
    let fits = |value: Value, elem: Type| op.ctx.elem(op.body.ty(value)) == elem;
    (is_cast && fits(op.operand(0), from) && fits(op.result(0), to)).then(|| op.operand(0))
}

/// Whether a value has one number for each of `count` indices of the last axis, constant along all other
/// axes.
pub(crate) fn is_per_channel(op: OpRef<'_>, value: Value, count: u64) -> bool {
    let shape = op.ctx.static_shape(op.body.ty(value));
    shape.is_some_and(|shape| shape.last() == Some(&count) && shape.iter().product::<u64>() == count)
}

impl<'a> Fused<'a> {
    /// A lone contraction, or a group around one, with all tensors stored as `f32`.
    ///
    /// # Errors
    /// If a group's body is not of the kernels' form, or a tensor is stored in another type.
    pub(crate) fn of(whole: OpRef<'a>) -> Result<Fused<'a>, CodeRefusal> {
        check_f32(whole)?;
        match whole.ctx.elem(whole.result_type(0)) == whole.ctx.f32() {
            true => Fused::of_stored(whole),
            false => Err(CodeRefusal::new("its kernel stores f32 only")),
        }
    }

    /// Like [`Fused::of`], with tensors that may be stored as `bf16`.
    ///
    /// # Errors
    /// If a group's body is not of the kernels' form.
    pub(crate) fn of_stored(whole: OpRef<'a>) -> Result<Fused<'a>, CodeRefusal> {
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

    /// The storage types of the kernels' tensors.
    ///
    /// # Errors
    /// If some are neither `f32` nor `bf16`, or a tensor of one number for each channel is not `f32`.
    pub(crate) fn numbers(&self, whole: OpRef<'_>) -> Result<ConvNumbers, CodeRefusal> {
        let output = stored(whole, whole.result(0))?;
        let prologue = self.prologue.unwrap_or_default();
        let weights = self.operands.get(1).copied();
        for index in [weights, self.bias, prologue.scale, prologue.shift].into_iter().flatten() {
            if stored(whole, whole.operand(index))? != StoredFloat::F32 {
                return Err(CodeRefusal::new(
                    "its kernel reads weights, and what is for each channel, as f32",
                ));
            }
        }
        let of = |index: usize| stored(whole, whole.operand(index));
        Ok(ConvNumbers {
            input: of(self.operands[0])?,
            residual: self.residual.map_or(Ok(output), of)?,
            output,
        })
    }

    /// Checks that the contraction has no prologue.
    ///
    /// # Errors
    /// If it has one.
    pub(crate) fn check_no_prologue(&self) -> Result<(), CodeRefusal> {
        match self.prologue {
            None => Ok(()),
            Some(_) => Err(CodeRefusal::new("its kernel reads its operand as it is")),
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
        Fused {
            root: op,
            operands,
            prologue: None,
            bias,
            residual: None,
            activation: Activation::None,
            multiplies_bf16: false,
        }
    }

    /// Reads the body of a group.
    ///
    /// # Errors
    /// If it is not of the kernels' form.
    fn of_group(group: OpRef<'a>, root: Op) -> Result<Fused<'a>, CodeRefusal> {
        if group.body.result_count(group.op) != 1 {
            return Err(CodeRefusal::new("its kernel has one result"));
        }
        let reader = GroupReader { group, root: group.body.at(group.ctx, root) };
        // Only kernels that multiply `bf16` round what they read.
        let multiplies_bf16 = group.body.operands(root).take(2).all(|operand| reader.is_bf16(operand));
        let read = |index: usize, operand: Value| match multiplies_bf16 && index < 2 {
            true => reader.before_rounding(operand),
            false => operand,
        };
        let (source, prologue) = reader.prologue(read(0, reader.root.operand(0)))?;
        let mut operands = vec![source];
        for (index, operand) in group.body.operands(root).enumerate().skip(1) {
            operands.push(reader.stored_input(read(index, operand))?);
        }
        let bias = operands.get(2).copied();
        let mut fused = Fused {
            root: reader.root,
            operands,
            prologue,
            bias,
            residual: None,
            activation: Activation::None,
            multiplies_bf16,
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

    /// The same of a value that may have been converted from `bf16`.
    fn stored_input(&self, value: Value) -> Result<usize, CodeRefusal> {
        self.input(self.widened(value).unwrap_or(value))
    }

    /// The `bf16` value from which a value is converted, if it is.
    fn widened(&self, value: Value) -> Option<Value> {
        let ctx = self.group.ctx;
        let op = self.group.body.at(ctx, self.group.body.defining_op(value)?);
        converted(op, ctx.float(FloatKind::Bf16), ctx.f32())
    }

    /// Whether a value is converted from `bf16`.
    fn is_bf16(&self, value: Value) -> bool {
        self.widened(value).is_some()
    }

    /// The value before it was rounded to `bf16`, or the value itself if it was not rounded.
    fn before_rounding(&self, value: Value) -> Value {
        let ctx = self.group.ctx;
        let rounded = self.widened(value).and_then(|half| self.group.body.defining_op(half));
        let op = rounded.map(|op| self.group.body.at(ctx, op));
        op.and_then(|op| converted(op, ctx.f32(), ctx.float(FloatKind::Bf16))).unwrap_or(value)
    }

    /// The operand of the group that the contraction reads first, and its prologue.
    fn prologue(&self, mut value: Value) -> Result<(usize, Option<Prologue>), CodeRefusal> {
        let mut later: Option<PrologueStep> = None;
        let mut prologue = Prologue::default();
        while let Some(op) = self.group.body.defining_op(value).filter(|_| !self.is_bf16(value)) {
            let op = self.group.body.at(self.group.ctx, op);
            let step = prologue_step(op).filter(|step| later.is_none_or(|later| *step < later));
            let step = step.filter(|step| self.is_of_channels(*step, op));
            match step.ok_or_else(|| CodeRefusal::new("its prologue is not relu(x * scale + shift)"))? {
                PrologueStep::Scale => prologue.scale = Some(self.input(op.operand(1))?),
                PrologueStep::Shift => prologue.shift = Some(self.input(op.operand(1))?),
                PrologueStep::Relu => prologue.relu = Some(()),
            }
            later = step;
            value = op.operand(0);
        }
        Ok((self.stored_input(value)?, later.map(|_| prologue)))
    }

    /// Whether a step keeps its first operand's type and uses one number for each input channel of the
    /// contraction.
    fn is_of_channels(&self, step: PrologueStep, op: OpRef<'a>) -> bool {
        // The filter of a convolution; other contractions have no prologue.
        let filter = self.root.operand_shape(1);
        let Some(&[_, channels, _, _]) = filter.as_deref() else { return false };
        op.body.ty(op.operand(0)) == op.result_type(0)
            && (step == PrologueStep::Relu || is_per_channel(op, op.operand(1), channels))
    }

    fn epilogue(&self, fused: &mut Fused<'a>) -> Result<(), CodeRefusal> {
        let form = || CodeRefusal::new("its epilogue is not activation(sum + bias + residual)");
        let mut value = self.root.result(0);
        let mut is_rounded = false;
        loop {
            let mut uses = self.group.body.uses(value);
            let user = uses.next().ok_or_else(form)?.op;
            let op = self.group.body.at(self.group.ctx, user);
            if op.has(Traits::YIELD) {
                return Ok(());
            }
            if uses.next().is_some() || is_rounded {
                return Err(form());
            }
            let ctx = self.group.ctx;
            is_rounded = converted(op, ctx.f32(), ctx.float(FloatKind::Bf16)).is_some();
            if is_rounded {
                value = op.result(0);
                continue;
            }
            if fused.activation != Activation::None {
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
        *slot = Some(self.stored_input(other)?);
        Ok(())
    }
}
