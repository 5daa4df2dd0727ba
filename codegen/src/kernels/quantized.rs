//! How 8-bit products and convolutions are lowered to calls of their kernel, with an epilogue on the sums:
//! scale, bias, residual, activation, and requantization.

use ir::body::{OpRef, ValueDef};
use ir::dequantized::{Dequantized, bytes_of};
use ir::opdef::{Access, Contract};
use ir::plan::attrs;
use ir::scalar::{Binary, Unary};
use ir::target::GroupPosition;
use ir::window::Arrangement;
use ir::{Context, Dim, Kind, Op, Scalar, Traits, Type, Value};
use kernels::{
    Activation, ByteSign, ConvStrides, QuadConv2d, QuadNumbers, StepOperand, StoredSum, SumStep,
    WeightStrides, WeightZero,
};

use crate::activation::activation;
use crate::call::{Lowered, LoweredCall, Pointer};
use crate::constant::is_weight;
use crate::elem::ElemType;
use crate::group::{converted, is_per_channel, roots};
use crate::kernels::conv::{conv2d_shape, filter_shape, image_strides};
use crate::kernels::matmul::MatmulSizes;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::weights::{PackingKey, WeightPacking};

/// `nn.quantized_conv2d`, alone or with fused operations.
pub(crate) const CONV: KernelRow = KernelRow {
    name: "quantized_conv2d",
    doc: "Convolutions of NHWC images of 8-bit integers, with what rescales the sums.",
    runs: Runs::Contract(Contract::QuantizedConv2d),
    reads: |whole, operand| match QuantizedSums::of(whole) {
        // The image may also be the residual, whose channels must be contiguous.
        Ok(sums) if Some(operand) == sums.residual => Arrangement::Rows,
        // Kernels for several groups are much faster if channels are contiguous.
        Ok(sums) if operand == sums.operands[0] => match sums.root.int("groups") {
            Some(1) => Arrangement::Strides,
            _ => Arrangement::Rows,
        },
        _ => Arrangement::Plain,
    },
    reads_a_copy: |whole, operand| match QuantizedSums::of(whole) {
        Ok(sums) => {
            let is_image = operand == sums.operands[0] && Some(operand) != sums.residual;
            is_image && copies_lines(sums.root)
        }
        Err(_) => false,
    },
    writes: Arrangement::Rows,
    access: added_access,
    joins: Some(joins),
    lower: lower_convolution,
    ..KernelRow::PLAIN
};

/// `nn.quantized_matmul`, alone or with fused operations.
pub(crate) const MATMUL: KernelRow = KernelRow {
    name: "quantized_gemm",
    doc: "Products of matrices of 8-bit integers, with what rescales the sums.",
    runs: Runs::Contract(Contract::QuantizedMatmul),
    access: added_access,
    joins: Some(joins),
    lower: lower_product,
    ..KernelRow::PLAIN
};

/// Whether the kernel of a convolution copies lines of the image, at any size of that.
fn copies_lines(root: OpRef<'_>) -> bool {
    filter_shape(root).is_some_and(|shape| root.int("groups") == Some(1) && shape.widens_pixels())
}

/// The access to an operand of a group. A residual is read right before the result is written at the same
/// index. At sizes where the result has one row, a residual may be mistaken for one number for each channel.
fn added_access(group: OpRef<'_>, operand: usize) -> Access {
    let is_as_wide = group.ctx.elem(group.operand_type(operand)) == group.ctx.elem(group.result_type(0));
    let is_alike = group.operand_type(operand) == group.result_type(0);
    match QuantizedSums::of(group) {
        Ok(sums) if is_as_wide && sums.reads_once(operand) => match sums.residual {
            Some(residual) if residual == operand => Access::SameIndex,
            _ if is_alike && sums.numbers.contains(&Some(operand)) => Access::SameIndex,
            _ => Access::Never,
        },
        _ => Access::Never,
    }
}

/// Whether the kernel can apply an operation to the sums after everything between the two.
fn joins(root: OpRef<'_>, op: OpRef<'_>, place: GroupPosition) -> bool {
    place == GroupPosition::Rescaling && Rescaling::until(root, Some(op.op)).is_ok()
}

/// The epilogue of a contraction, in order.
struct Rescaling {
    steps: Vec<RescalingStep>,
    /// The type in which results are stored.
    output: StoredSum,
}

/// A step with its operands.
struct RescalingStep {
    step: SumStep,
    /// The residual, added element by element.
    residual: Option<Value>,
    /// The other operands; none for 0.
    numbers: Vec<Option<Value>>,
}

impl RescalingStep {
    /// A step with these operands.
    fn new(step: SumStep, numbers: &[Value]) -> RescalingStep {
        RescalingStep { step, residual: None, numbers: numbers.iter().copied().map(Some).collect() }
    }
}

impl Rescaling {
    /// The epilogue from a contraction up to operation `last`, or up to the terminator.
    ///
    /// # Errors
    /// If the kernel can't apply one of the operations.
    fn until(root: OpRef<'_>, last: Option<Op>) -> Result<Rescaling, CodeRefusal> {
        let mut this = Rescaling { steps: Vec::new(), output: StoredSum::I32 };
        let mut value = root.result(0);
        loop {
            let mut uses = root.body.uses(value);
            let form = || CodeRefusal::new("its sums are not only rescaled");
            let user = uses.next().filter(|_| uses.next().is_none()).ok_or_else(form)?.op;
            let op = root.body.at(root.ctx, user);
            if op.has(Traits::YIELD) {
                return Ok(this);
            }
            this.step(root, op, value)?;
            if last == Some(user) {
                return Ok(this);
            }
            value = op.result(0);
        }
    }

    /// Adds an operation that reads `value`.
    fn step(&mut self, root: OpRef<'_>, op: OpRef<'_>, value: Value) -> Result<(), CodeRefusal> {
        let form = || CodeRefusal::new("its kernel does not do this to its sums");
        let ctx = op.ctx;
        // Two unknown sizes are not known to be equal.
        let is_known = |shape: &&[Dim]| !shape.contains(&Dim::Unknown);
        let shape = |op: OpRef<'_>| ctx.type_data(op.result_type(0)).tensor_shape().filter(is_known);
        if shape(op).is_none() || shape(op) != shape(root) {
            return Err(form());
        }
        let sums = ctx.elem(root.result_type(0));
        match self.output {
            StoredSum::I32 if converted(op, sums, ctx.f32()).is_some() => {
                self.output = StoredSum::F32;
                return Ok(());
            }
            StoredSum::I32 => return Err(form()),
            StoredSum::U8 | StoredSum::I8 => {
                let sign = byte_sign(ctx, ctx.elem(op.operand_type(0))).filter(|_| bytes_of(op).is_some());
                self.steps.push(RescalingStep::new(SumStep::Byte(sign.ok_or_else(form)?), &[]));
                self.output = StoredSum::F32;
            }
            StoredSum::F32 => match stored_bytes(op) {
                Some(output) => self.output = output,
                None => self.steps.push(rescaling_step(root, op, value).ok_or_else(form)?),
            },
        }
        let residuals = self.steps.iter().filter(|step| step.residual.is_some()).count();
        match self.steps.len() > QuadConv2d::MOST_STEPS || residuals > 1 {
            true => Err(form()),
            false => Ok(()),
        }
    }
}

/// The stored type of a conversion of `f32` to 8-bit integers.
fn stored_bytes(op: OpRef<'_>) -> Option<StoredSum> {
    let to = op.ctx.elem(op.result_type(0));
    converted(op, op.ctx.f32(), to)?;
    Some(match byte_sign(op.ctx, to)? {
        ByteSign::Unsigned => StoredSum::U8,
        ByteSign::Signed => StoredSum::I8,
    })
}

/// The sign of 8-bit integers.
pub(super) fn byte_sign(ctx: &Context, elem: Type) -> Option<ByteSign> {
    ElemType::of(ctx, elem)?.byte_sign()
}

/// The kernel's step for an operation on `f32`.
fn rescaling_step(root: OpRef<'_>, op: OpRef<'_>, value: Value) -> Option<RescalingStep> {
    let Kind::Elementwise(meaning) = op.kind() else { return None };
    if op.ctx.elem(op.result_type(0)) != op.ctx.f32() {
        return None;
    }
    match meaning {
        Scalar::Unary(Unary::RoundEven, Scalar::Arg(0)) => Some(RescalingStep::new(SumStep::Round, &[])),
        Scalar::Binary(function, Scalar::Arg(0), Scalar::Arg(1)) if op.operand_count() == 2 => {
            let [first, second] = [op.operand(0), op.operand(1)];
            let other = if first == value { second } else { first };
            let is_swapped = first != value;
            if other == value || op.ctx.elem(op.body.ty(other)) != op.ctx.f32() {
                return None;
            }
            if let Some(made) = Dequantized::of_addend(op, other) {
                return byte_residual(op, made);
            }
            let Some(operand) = step_operand(root, op, other) else {
                let is_added = *function == Binary::Add && op.body.ty(other) == op.result_type(0);
                return is_added.then(|| RescalingStep {
                    step: SumStep::Residual,
                    residual: Some(other),
                    numbers: Vec::new(),
                });
            };
            let step = match function {
                Binary::Mul => SumStep::Mul(operand),
                Binary::Add => SumStep::Add(operand),
                Binary::Sub if !is_swapped => SumStep::Sub(operand),
                Binary::Div if !is_swapped => SumStep::Div(operand),
                _ => return None,
            };
            Some(RescalingStep::new(step, &[other]))
        }
        _ => match activation(op)? {
            Activation::None => None,
            activation => Some(RescalingStep::new(SumStep::Function(activation), &[])),
        },
    }
}

/// The addition of a dequantized residual.
fn byte_residual(op: OpRef<'_>, made: Dequantized) -> Option<RescalingStep> {
    let Dequantized { bytes, zero, scale, .. } = made;
    let sign = byte_sign(op.ctx, op.ctx.elem(op.body.ty(bytes)))?;
    let step = SumStep::ByteResidual(sign);
    Some(RescalingStep { step, residual: Some(bytes), numbers: vec![zero, Some(scale)] })
}

/// Whether a step's operand is one number, or one for each output channel.
fn step_operand(root: OpRef<'_>, op: OpRef<'_>, other: Value) -> Option<StepOperand> {
    let shape = op.ctx.static_shape(op.body.ty(other))?;
    if shape.iter().all(|size| *size == 1) {
        return Some(StepOperand::One);
    }
    let channels = channels(root)?;
    let dims = op.ctx.type_data(root.result_type(0)).tensor_shape()?;
    (dims.last() == Some(&Dim::Known(channels)) && is_per_channel(op, other, channels))
        .then_some(StepOperand::Channel)
}

/// The output channels of a contraction.
fn channels(root: OpRef<'_>) -> Option<u64> {
    let shape = root.operand_shape(1)?;
    match root.kind() {
        Kind::Contract(Contract::QuantizedConv2d) => {
            // The channels are last only with this layout.
            root.text("layout").filter(|layout| *layout == "NHWC")?;
            shape.first().copied()
        }
        _ if shape.len() < 2 => Some(1),
        _ if root.attr("transpose_b").is_some() => shape.get(shape.len() - 2).copied(),
        _ => shape.last().copied(),
    }
}

/// A contraction with its epilogue. Operand indices are those of the whole: the group, or the lone
/// contraction.
struct QuantizedSums<'a> {
    /// The contraction.
    root: OpRef<'a>,
    /// For each operand of the contraction, the index of the whole's operand.
    operands: [usize; 4],
    steps: Vec<SumStep>,
    /// For each operand of the steps, the index of the whole's operand; none for 0.
    numbers: Vec<Option<usize>>,
    residual: Option<usize>,
    output: StoredSum,
}

impl<'a> QuantizedSums<'a> {
    /// A lone contraction, or a group around one.
    ///
    /// # Errors
    /// If a group's body is not of the kernel's form.
    fn of(whole: OpRef<'a>) -> Result<QuantizedSums<'a>, CodeRefusal> {
        if !matches!(whole.kind(), Kind::Group) {
            let (steps, numbers) = (Vec::new(), Vec::new());
            let operands = [0, 1, 2, 3];
            return Ok(QuantizedSums {
                root: whole,
                operands,
                steps,
                numbers,
                residual: None,
                output: StoredSum::I32,
            });
        }
        if whole.body.result_count(whole.op) != 1 {
            return Err(CodeRefusal::new("its kernel has one result"));
        }
        let root = roots(whole).first().copied();
        let root = root.ok_or_else(|| CodeRefusal::new("its body has no kernel of its own"))?;
        let root = whole.body.at(whole.ctx, root);
        let mut operands = [0; 4];
        for (index, operand) in operands.iter_mut().enumerate() {
            *operand = input(whole, root.operand(index))?;
        }
        let Rescaling { steps, output } = Rescaling::until(root, None)?;
        let mut this = QuantizedSums {
            root,
            operands,
            steps: steps.iter().map(|step| step.step).collect(),
            numbers: Vec::new(),
            residual: None,
            output,
        };
        for RescalingStep { residual, numbers, .. } in steps {
            if let Some(residual) = residual {
                this.residual = Some(input(whole, residual)?);
            }
            for number in numbers {
                this.numbers.push(number.map(|number| input(whole, number)).transpose()?);
            }
        }
        Ok(this)
    }

    /// Whether an operand of the whole is read only once.
    fn reads_once(&self, operand: usize) -> bool {
        let numbers = self.numbers.iter().filter(|number| **number == Some(operand)).count();
        let added = usize::from(self.residual == Some(operand));
        !self.operands.contains(&operand) && numbers + added == 1
    }

    /// The element types, for `channels` output channels.
    ///
    /// # Errors
    /// If the kernel does not support one of them.
    fn numbers(&self, whole: OpRef<'_>, channels: u64) -> Result<QuadNumbers, CodeRefusal> {
        if !is_weight(whole.ctx, whole.body, whole.operand(self.operands[1])) {
            return Err(CodeRefusal::new("a matrix of 8-bit integers is not packed while the program runs"));
        }
        let sign = |index: usize| {
            byte_sign(whole.ctx, whole.operand_type(self.operands[index]))
                .ok_or_else(|| CodeRefusal::new("its kernel multiplies integers of 8 bits"))
        };
        let zero = whole.ctx.static_shape(whole.operand_type(self.operands[3]));
        let zero = match zero.map(|shape| shape.iter().product::<u64>()) {
            Some(1) => WeightZero::One,
            Some(count) if count == channels => WeightZero::Channel,
            _ => return Err(CodeRefusal::new("the number of its zero points is not known")),
        };
        Ok(QuadNumbers { image: sign(0)?, weights: sign(1)?, zero, output: self.output })
    }

    /// The call of a kernel.
    fn lowered(
        &self,
        name: &'static str,
        kernel: Option<QuadConv2d>,
        order: WeightStrides,
        (machine, limit): (&Machine, Option<u64>),
    ) -> Result<Lowered, CodeRefusal> {
        let kernel = kernel.ok_or_else(|| CodeRefusal::new("its kernel does not do all this to its sums"))?;
        let limit = limit.map(|bytes| bytes as usize / machine.threads / 64 * 64);
        let within = limit.map_or(kernel, |bytes| kernel.within(bytes, machine.threads));
        let WeightStrides { o, i, h, w } = order;
        let key = PackingKey::new(&kernel.panels(), [o, i, h, w]).of_quads(&kernel);
        let packing =
            WeightPacking::new(key, kernel.packed_len(), None, move |from, to| kernel.pack(from, order, to));
        let mut operands = vec![
            Pointer::Result(0, 0),
            Pointer::Operand(self.operands[0], 0),
            Pointer::Packed(self.operands[1], packing),
            Pointer::Operand(self.operands[2], 0),
            Pointer::Operand(self.operands[3], 0),
            self.residual.map_or(Pointer::Absent, |index| Pointer::Operand(index, 0)),
        ];
        operands.extend(self.numbers.iter().map(|number| match number {
            Some(index) => Pointer::Operand(*index, 0),
            None => Pointer::Repeated(0.0, 1),
        }));
        let least = (within.least_scratch_bytes() as u64).next_multiple_of(64);
        Ok(Lowered {
            least_scratch_bytes: Some(least * machine.threads as u64),
            ..Lowered::new(name, vec![LoweredCall::kernel(&within, operands)])
        })
    }
}

/// The index of the group's operand that a value of its body is.
fn input(group: OpRef<'_>, value: Value) -> Result<usize, CodeRefusal> {
    match group.body.def(value) {
        ValueDef::Arg(_, index) => Ok(index),
        ValueDef::Result(..) => {
            Err(CodeRefusal::new("its body computes an operand that the kernel wants as it is"))
        }
    }
}

fn lower_convolution(whole: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let sums = QuantizedSums::of(whole)?;
    let shape = conv2d_shape(sums.root)?;
    let output = image_strides(whole, whole.result(0))?;
    let strides = ConvStrides {
        input: image_strides(whole, whole.operand(sums.operands[0]))?,
        output,
        residual: sums.residual.map_or(Ok(output), |index| image_strides(whole, whole.operand(index)))?,
    };
    if strides.residual.c != 1 {
        return Err(CodeRefusal::new("the channels of its residual are not contiguous"));
    }
    let numbers = sums.numbers(whole, shape.out_channels as u64)?;
    let kernel = QuadConv2d::new(&shape, &strides, &numbers, &sums.steps, machine.isa, machine.threads);
    let order = WeightStrides::oihw(shape.in_channels / shape.groups, shape.kernel);
    sums.lowered(CONV.name, kernel, order, (machine, attrs::scratch_bytes(whole)))
}

fn lower_product(whole: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let sums = QuantizedSums::of(whole)?;
    let sizes = MatmulSizes::of(whole, sums.root, [sums.operands[0], sums.operands[1]])?;
    if !sizes.b.batch.is_empty() || !sizes.a.batch.is_empty() || sizes.a.is_turned() {
        return Err(CodeRefusal::new("it multiplies one matrix of 8-bit integers"));
    }
    let shape = sizes.shape();
    let numbers = sums.numbers(whole, shape.n as u64)?;
    let kernel = QuadConv2d::product(&shape, &numbers, &sums.steps, machine.isa, machine.threads);
    let [k_stride, n_stride] = sizes.b.strides;
    let order = WeightStrides { o: n_stride, i: k_stride, h: 0, w: 0 };
    sums.lowered(MATMUL.name, kernel, order, (machine, attrs::scratch_bytes(whole)))
}
