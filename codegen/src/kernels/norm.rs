//! How normalizations are lowered: batch, group and row normalization, and softmax.

use ir::body::OpRef;
use ir::opdef::{Access, Reduce};
use ir::scalar::{Binary, Unary};
use ir::target::GroupPosition;
use ir::window::Arrangement;
use kernels::{
    Activation, Centre, ColumnSoftmax, ConvNumbers, GroupNorm, GroupNormShape, GroupNormStep, RowNorm,
    RowNormShape, RowSoftmax, StoredFloat,
};

use crate::activation::activation;
use crate::call::{Lowered, LoweredCall, Pointer};
use crate::elem::ElemType;
use crate::group::Fused;
use crate::kernels::reduce::Folding;
use crate::pointwise::expr::{ExprBuilder, ExprNode, NodeOp};
use crate::pointwise::nest::dense_strides;
use crate::pointwise::{ElementWindow, call};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::{check_f32, known_layout, known_shape};

/// `nn.batch_norm`.
pub(crate) const BATCH_NORM: KernelRow = KernelRow {
    name: "pointwise",
    doc: "A generated loop nest that scales and shifts each channel.",
    runs: Runs::Kernel("batch_norm"),
    reads: |_, operand| if operand == 0 { Arrangement::Strides } else { Arrangement::Plain },
    lower: lower_batch_norm,
    ..KernelRow::PLAIN
};

/// `nn.softmax`.
pub(crate) const SOFTMAX: KernelRow = KernelRow {
    name: "softmax",
    doc: "Powers of e along an axis, divided by their sum.",
    runs: Runs::Kernel("softmax"),
    reads: |_, _| Arrangement::Rows,
    lower: lower_softmax,
    ..KernelRow::PLAIN
};

/// `nn.group_norm`, alone or with its activation.
pub(crate) const GROUP_NORM: KernelRow = KernelRow {
    name: "group_norm",
    doc: "Normalises groups of channels, or rows by themselves, and maps what it writes.",
    runs: Runs::Kernel("group_norm"),
    access: |group, operand| match Fused::of_stored(group) {
        Ok(fused) if fused.operands[0] == operand && is_stored_alike(group, operand) => Access::Whole,
        _ => Access::Never,
    },
    joins: Some(|_, op, place| place == GroupPosition::Activation && activation(op).is_some()),
    lower: lower_group_norm,
    ..KernelRow::PLAIN
};

/// `(x - mean) * (scale / sqrt(variance + epsilon)) + bias` for each channel; the product and the sum are
/// rounded together, once.
fn lower_batch_norm(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let shape = known_shape(op, op.operand(0))?;
    let elem = ElemType::of(op.ctx, op.operand_type(0)).filter(|elem| elem.is_float());
    let elem =
        elem.ok_or_else(|| CodeRefusal::new("generated code does not compute with this element type"))?;
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| CodeRefusal::new("`axis` is not one of the operand's"))?;
    let mut per_channel = vec![0; shape.len()];
    per_channel[axis] = 1;
    let window =
        |index: usize, strides: Vec<i64>| ElementWindow { place: Pointer::Operand(index, 0), elem, strides };
    let mut inputs = vec![window(0, known_layout(op, op.operand(0))?.strides)];
    inputs.extend((1..5).map(|index| window(index, per_channel.clone())));
    let mut builder = ExprBuilder::default();
    let [x, scale, bias, mean, variance] = [0, 1, 2, 3, 4].map(|n| builder.add(elem, NodeOp::Input(n)));
    let epsilon = op.float("epsilon").unwrap_or(0.0);
    let epsilon = builder.add(elem, NodeOp::Const(elem.constant_bits(epsilon)));
    let mut binary = |function, a: ExprNode, b: ExprNode| builder.add(elem, NodeOp::Binary(function, a, b));
    let centred = binary(Binary::Sub, x, mean);
    let sum = binary(Binary::Add, variance, epsilon);
    let deviation = builder.add(elem, NodeOp::Unary(Unary::Sqrt, sum));
    let factor = builder.add(elem, NodeOp::Binary(Binary::Div, scale, deviation));
    let node = builder.add(elem, NodeOp::Fma(centred, factor, bias));
    let result = ElementWindow { place: Pointer::Result(0, 0), elem, strides: dense_strides(&shape) };
    let call = call(&shape, builder.finish(), vec![(node, result)], inputs, machine)?;
    Ok(Lowered::new("pointwise", vec![call]))
}

/// `e^(x - max) / sum of e^(x - max)` along an axis, in one call if it is of `f32` without gaps. Otherwise in
/// four: the maxima go to scratch, the powers to the result, their sums to scratch, and the quotients
/// overwrite the powers.
fn lower_softmax(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let shape = known_shape(op, op.operand(0))?;
    let elem = ElemType::of(op.ctx, op.operand_type(0)).filter(|elem| elem.is_float());
    let elem =
        elem.ok_or_else(|| CodeRefusal::new("generated code does not compute with this element type"))?;
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| CodeRefusal::new("`axis` is not one of the operand's"))?;
    let mut folded = shape.clone();
    folded[axis] = 1;
    let mut strides = dense_strides(&folded);
    strides[axis] = 0;
    let read = known_layout(op, op.operand(0))?.strides;
    let dense = dense_strides(&shape);
    let fold = |reduce, from: Pointer, lies: &[i64]| {
        let folding = Folding { reduce, elem, shape: &shape, strides: lies, axes: &[axis as i64] };
        folding.call(Pointer::Shared(0), from, machine)
    };
    let combine = |from: Pointer, lies: &[i64], function, then: Option<Unary>| {
        let mut builder = ExprBuilder::default();
        let [x, folded] = [0, 1].map(|n| builder.add(elem, NodeOp::Input(n)));
        let node = builder.add(elem, NodeOp::Binary(function, x, folded));
        let node = then.map_or(node, |then| builder.add(elem, NodeOp::Unary(then, node)));
        let window = |place, strides: &[i64]| ElementWindow { place, elem, strides: strides.to_vec() };
        let inputs = vec![window(from, lies), window(Pointer::Shared(0), &strides)];
        let result = window(Pointer::Result(0, 0), &dense);
        call(&shape, builder.finish(), vec![(node, result)], inputs, machine)
    };
    let x = Pointer::Operand(0, 0);
    let powers = Pointer::Result(0, 0);
    let calls = vec![
        fold(Reduce::Max, x.clone(), &read),
        combine(x.clone(), &read, Binary::Sub, Some(Unary::Exp))?,
        fold(Reduce::Sum, powers.clone(), &dense),
        combine(powers.clone(), &dense, Binary::Div, None)?,
    ];
    let count: u64 = folded.iter().product();
    let shared_bytes = (count * u64::from(elem.bytes())).next_multiple_of(64);
    let loops = Lowered { shared_bytes, ..Lowered::new("softmax", calls) };
    let product = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
    let (blocks, size) = (product(&shape[..axis]), shape[axis] as usize);
    let columns = product(&shape[axis + 1..]);
    let is_last = axis + 1 == shape.len();
    if elem != ElemType::F32 || columns <= 1 && !is_last || read != dense {
        return Ok(loops);
    }
    if is_last {
        let kernel = RowSoftmax::new(blocks, size, machine.isa, machine.threads);
        return Ok(Lowered::new("softmax", vec![LoweredCall::kernel(&kernel, vec![powers, x])]));
    }
    let kernel = ColumnSoftmax::new(blocks, [size, columns], machine.isa, machine.threads);
    // If sizes are named, there may be one column at some of them: then the loops run.
    let call = LoweredCall {
        most_scratch_bytes: loops.most_scratch_bytes(1),
        enough_scratch_bytes: loops.enough_scratch_bytes(1),
        ..LoweredCall::kernel(&kernel, vec![powers, x])
    };
    Ok(Lowered::new("softmax", vec![call]))
}

/// A normalization with its activation. If each row is normalized by itself, this is one call. Otherwise
/// there are three: the moments of pieces of the image go to scratch, then each channel's factors, then all
/// elements are mapped.
fn lower_group_norm(whole: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let fused = Fused::of_stored(whole)?;
    let op = fused.root;
    check_f32(op)?;
    fused.check_no_prologue()?;
    if fused.residual.is_some() {
        return Err(CodeRefusal::new("its kernel adds nothing to what it normalises"));
    }
    let ConvNumbers { input, output, .. } = fused.numbers(whole)?;
    let epsilon = op.float("epsilon").unwrap_or(0.0) as f32;
    let centre = if op.attr("about_zero").is_some() { Centre::Zero } else { Centre::Mean };
    let operand = |index: usize| Pointer::Operand(fused.operands[index], 0);
    if let Some(shape) = row_norm_shape(op)? {
        if output == StoredFloat::Bf16 && fused.activation != Activation::None {
            return Err(CodeRefusal::new("what it stores as bf16 has no activation"));
        }
        let kernel = RowNorm::new(&shape, centre, epsilon, fused.activation, machine.isa, machine.threads);
        let kernel = kernel.stored(input, output);
        let operands = vec![Pointer::Result(0, 0), operand(0), operand(1), operand(2)];
        return Ok(Lowered::new("group_norm", vec![LoweredCall::kernel(&kernel, operands)]));
    }
    let shape = group_norm_shape(op)?;
    let moments_bytes = (shape.moments_len() as u64 * 4).next_multiple_of(64);
    let (moments, factors) = (Pointer::Shared(0), Pointer::Shared(moments_bytes));
    let steps = [
        (GroupNormStep::Moments, vec![moments.clone(), operand(0)]),
        (GroupNormStep::Factors, vec![factors.clone(), moments, operand(1), operand(2)]),
        (GroupNormStep::Apply, vec![Pointer::Result(0, 0), operand(0), factors, operand(2)]),
    ];
    let calls = steps.into_iter().map(|(step, operands)| {
        let kernel =
            GroupNorm::new(&shape, step, centre, epsilon, fused.activation, machine.isa, machine.threads);
        LoweredCall::kernel(&kernel.stored(input, output), operands)
    });
    let shared_bytes = moments_bytes + (shape.factors_len() as u64 * 4).next_multiple_of(64);
    Ok(Lowered { shared_bytes, ..Lowered::new("group_norm", calls.collect()) })
}

/// Whether an operand has the result's element type.
fn is_stored_alike(op: OpRef<'_>, operand: usize) -> bool {
    op.ctx.elem(op.operand_type(operand)) == op.ctx.elem(op.result_type(0))
}

/// The sizes of a normalization of each row of channels by itself, if it is one.
fn row_norm_shape(op: OpRef<'_>) -> Result<Option<RowNormShape>, CodeRefusal> {
    let shape = known_shape(op, op.operand(0))?;
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let is_of_rows = op.ints("axes").is_some_and(|axes| axes.is_empty()) && op.int("groups") == Some(1);
    let product = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
    Ok(axis.filter(|_| is_of_rows).map(|axis| RowNormShape {
        blocks: product(&shape[..axis]),
        channels: shape[axis] as usize,
        rows: product(&shape[axis + 1..]),
    }))
}

fn group_norm_shape(op: OpRef<'_>) -> Result<GroupNormShape, CodeRefusal> {
    let shape = known_shape(op, op.operand(0))?;
    let malformed = || CodeRefusal::new("its axes or groups are malformed");
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(malformed)?;
    let axes = op.ints("axes").ok_or_else(malformed)?;
    let said = op.int("groups").and_then(|groups| usize::try_from(groups).ok());
    let groups = if said == Some(0) { usize::try_from(shape[axis]).ok() } else { said };
    let groups = groups.filter(|groups| *groups > 0 && shape[axis] % *groups as u64 == 0);
    let is_pixel = |other: &usize| axes.contains(&(*other as i64));
    let as_one = |axes: Vec<usize>| {
        collapsed(&axes, &shape)
            .ok_or_else(|| CodeRefusal::new("its axes lie between others, so that they are not one"))
    };
    let (pixels, pixel_stride) = as_one((0..shape.len()).filter(is_pixel).collect())?;
    let others = (0..shape.len()).filter(|other| *other != axis && !is_pixel(other));
    let (batch, image_stride) = as_one(others.collect())?;
    Ok(GroupNormShape {
        batch,
        pixels,
        channels: shape[axis] as usize,
        groups: groups.ok_or_else(malformed)?,
        image_stride,
        pixel_stride,
        channel_stride: dense_strides(&shape)[axis] as usize,
    })
}

/// Some axes of a dense tensor collapsed into one: its size and stride.
fn collapsed(axes: &[usize], shape: &[u64]) -> Option<(usize, usize)> {
    let strides = dense_strides(shape);
    let mut count = 1;
    let mut stride = None;
    for &axis in axes.iter().rev().filter(|axis| shape[**axis] != 1) {
        let inner = *stride.get_or_insert(strides[axis] as usize);
        if strides[axis] as usize != inner * count {
            return None;
        }
        count *= shape[axis] as usize;
    }
    Some((count, stride.unwrap_or(1)))
}
