//! How convolutions, alone or with what is fused to them, become calls of the kernels.

use ir::body::OpRef;
use ir::dialects::nn::{Window, window_of};
use ir::opdef::{Access, Contract};
use ir::{Kind, Op, Value};
use kernels::{Conv2d, Conv2dShape, ConvStrides, WeightStrides};

use crate::constant::is_weight;
use crate::group::Fused;
use crate::lower::{Call, Lowered, Machine, Pointer};
use crate::product;
use crate::refusal::Refusal;
use crate::weights::Packing;

/// The call that runs a lone convolution.
pub(crate) fn lower_conv2d(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    conv2d(op, &Fused::alone(op), machine)
}

/// The calls that run a lone matrix product.
pub(crate) fn lower_matmul(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    product::lower(op, &Fused::alone(op), machine)
}

/// The calls that run a group around the contraction `root`.
pub(crate) fn lower_group(group: OpRef<'_>, root: Op, machine: &Machine) -> Result<Lowered, Refusal> {
    let fused = Fused::of_group(group, root)?;
    match fused.root.kind() {
        Kind::Contract(Contract::Matmul) => product::lower(group, &fused, machine),
        _ => conv2d(group, &fused, machine),
    }
}

/// The sizes of an NHWC convolution.
pub(crate) fn conv2d_shape(op: OpRef<'_>) -> Result<Conv2dShape, Refusal> {
    if op.text("layout") != Some("NHWC") {
        return Err(Refusal::new("its layout is not NHWC: run the pass `layout` first"));
    }
    let unknown = || Refusal::new("a size is not known");
    let image = op.operand_shape(0).ok_or_else(unknown)?;
    let filter = op.operand_shape(1).ok_or_else(unknown)?;
    let Window { kernel, strides, pads, dilations, .. } =
        window_of(op).ok_or_else(|| Refusal::new("its window is malformed"))?;
    let groups =
        op.int("groups").and_then(|groups| usize::try_from(groups).ok()).filter(|groups| *groups > 0);
    let size = |size: u64| size as usize;
    Ok(Conv2dShape {
        batch: size(image[0]),
        input: [size(image[1]), size(image[2])],
        in_channels: size(image[3]),
        out_channels: size(filter[0]),
        kernel: kernel.map(size),
        stride: strides.map(size),
        dilation: dilations.map(size),
        pads: pads.map(size),
        groups: groups.ok_or_else(|| Refusal::new("`groups` is not at least 1"))?,
    })
}

fn conv2d(whole: OpRef<'_>, fused: &Fused<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    check_f32(fused.root)?;
    let shape = conv2d_shape(fused.root)?;
    let prologue = match fused.prologue {
        None => kernels::Prologue::None,
        Some(prologue) if prologue.relu.is_some() => kernels::Prologue::ScaleShiftRelu,
        Some(_) => kernels::Prologue::ScaleShift,
    };
    let strides = ConvStrides::dense(&shape);
    let kernel = Conv2d::new(&shape, &strides, prologue, fused.activation, machine.isa, machine.threads);
    let order = WeightStrides::oihw(shape.in_channels / shape.groups, shape.kernel);
    let key = format!("{:?} {order:?}", kernel.panels()).into_bytes();
    let packing = Packing::new(key, kernel.packed_len(), move |from, to| kernel.pack(from, order, to));
    let mut operands = weight_operands(whole, fused, packing)?;
    if let Some(prologue) = fused.prologue {
        // Without a shift, -0 is added: it changes no product, not even the sign of zero.
        operands.push(numbers(prologue.scale, 1.0, shape.in_channels));
        operands.push(numbers(prologue.shift, -0.0, shape.in_channels));
    }
    let name = if shape.groups > 1 && shape.groups == shape.in_channels { "depthwise" } else { "conv2d" };
    let call = Call::kernel("conv2d", &kernel, machine.isa, operands);
    Ok(Lowered { overwrites: overwrites(fused), ..Lowered::new(name, vec![call]) })
}

/// `[out, x, packed weights, bias, residual]`.
pub(crate) fn weight_operands(
    whole: OpRef<'_>,
    fused: &Fused<'_>,
    packing: Packing,
) -> Result<Vec<Pointer>, Refusal> {
    let weights: Value = whole.operand(fused.operands[1]);
    if !is_weight(whole.ctx, whole.body, weights) {
        return Err(Refusal::new("its second operand is not known before the program runs"));
    }
    let optional = |operand: Option<usize>| match operand {
        Some(index) => Pointer::Operand(index, 0),
        None => Pointer::Absent,
    };
    Ok(vec![
        Pointer::Result(0, 0),
        Pointer::Operand(fused.operands[0], 0),
        Pointer::Packed(fused.operands[1], packing),
        optional(fused.bias),
        optional(fused.residual),
    ])
}

fn numbers(operand: Option<usize>, otherwise: f32, count: usize) -> Pointer {
    match operand {
        Some(index) => Pointer::Operand(index, 0),
        None => Pointer::Repeated(otherwise, count),
    }
}

/// The residual is read before the sum is written, element by element.
pub(crate) fn overwrites(fused: &Fused<'_>) -> Vec<(usize, Access)> {
    fused.residual.into_iter().map(|operand| (operand, Access::SameIndex)).collect()
}

/// Refuses operands that are not `f32`.
pub(crate) fn check_f32(op: OpRef<'_>) -> Result<(), Refusal> {
    let f32 = op.ctx.f32();
    let all = op.body.operands(op.op).all(|operand| op.ctx.elem(op.body.ty(operand)) == f32);
    if all { Ok(()) } else { Err(Refusal::new("its kernel computes with f32 only")) }
}

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
