//! Conversion of transposed convolutions with any number of spatial axes.
//!
//! Over two axes, they are convolutions of an image with zeros between its elements; passes know how to
//! compute these without the zeros. Over more, the results along the first axis that meet the same elements
//! of the kernel are a phase: a sum of transposed convolutions of slices over the other axes.

use ir::{Dim, Value};

use super::pick::SliceWindow;
use super::spread::{check_steps, convolution, of_one_row, one_row, with_gaps};
use super::window::WindowAttrs;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// The placement of a transposed convolution's kernel over an axis of the result.
#[derive(Clone)]
pub(super) struct TransposedWindow {
    pub(super) kernel: u64,
    pub(super) stride: u64,
    pub(super) dilation: u64,
    pub(super) low: i64,
    pub(super) high: i64,
    /// Elements at the end that need not be covered by a window.
    pub(super) more: i64,
}

impl TransposedWindow {
    /// A kernel of one element.
    const UNIT: TransposedWindow =
        TransposedWindow { kernel: 1, stride: 1, dilation: 1, low: 0, high: 0, more: 0 };

    fn reach(&self) -> u64 {
        (self.kernel - 1) * self.dilation + 1
    }
}

/// What a transposed convolution reads.
#[derive(Clone, Copy)]
struct Operands {
    x: Value,
    filter: Value,
    bias: Option<Value>,
}

/// ConvTranspose.
pub(crate) fn transposed_convolution(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, filter) = (call.operand(0)?, call.operand(1)?);
    let shape = call.dims(x)?;
    let weights = call.shape(filter)?;
    let rank = shape.len().checked_sub(2).filter(|rank| *rank > 0 && weights.len() == shape.len());
    let rank = rank.ok_or("an input or weights of another rank than [batch, channels, sizes...]")?;
    let window = WindowAttrs::of_transposed(call, &shape[2..], &weights[2..])?;
    let bias = call.optional(2);
    if rank > 1 {
        return Ok(vec![transposed_over(call, Operands { x, filter, bias }, &window)?]);
    }
    let operands = Operands { x: one_row(call, x)?, filter: one_row(call, filter)?, bias };
    let y = of_images(call, operands, &[&[TransposedWindow::UNIT], &window[..]].concat())?;
    Ok(vec![of_one_row(call, y)?])
}

/// A transposed convolution over two axes or more.
fn transposed_over(
    call: &mut NodeConversion<'_, '_>,
    operands: Operands,
    window: &[TransposedWindow],
) -> Result<Value, Refusal> {
    let [first, rest @ ..] = window else { return Err("a kernel without axes".into()) };
    if rest.len() == 1 {
        return of_images(call, operands, window);
    }
    let size = call.shape(operands.x)?[2];
    check_steps(first.kernel + first.stride)?;
    let starts = size.saturating_sub(1).checked_mul(first.stride);
    let covered = starts.and_then(|starts| starts.checked_add(first.reach()));
    let covered = covered.ok_or("a result that is larger than memory")?;
    let total = covered.checked_add_signed(first.more - first.low - first.high).filter(|total| *total > 0);
    let total = total.ok_or("a result without elements")?;
    let count = total.div_ceil(first.stride);
    let mut phases = Vec::new();
    for number in 0..first.stride {
        phases.push(phase_of_slices(call, operands, window, number, count)?);
    }
    let some = phases.iter().flatten().next().ok_or("a kernel without elements")?;
    let made = call.shape(*some)?;
    let none = if phases.iter().all(Option::is_some) { *some } else { only_bias(call, operands, &made)? };
    let apart = [&made[..2], &[1], &made[2..]].concat();
    let mut parts = Vec::new();
    for phase in phases {
        parts.push(call.reshape(phase.unwrap_or(none), &apart)?);
    }
    let all = if let [part] = parts[..] { part } else { call.concatenated(&parts, 2)? };
    let joined = call.reshape(all, &[&[made[0], count * first.stride], &made[2..]].concat())?;
    let y = if total == count * first.stride {
        joined
    } else {
        call.part(joined, 1, Dim::Known(0), Dim::Known(total))?
    };
    swapped(call, y)
}

/// A value with its second and third axis swapped.
fn swapped(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let rank = call.shape(x)?.len() as i64;
    let order: Vec<i64> = [0, 2, 1].into_iter().chain(3..rank).collect();
    call.transposed(x, &order)
}

/// The phase of the results `number`, `number + stride`, ... along the first axis, of which there are
/// `count`, as [batch, count, channels, sizes...]; none if they meet no element of the kernel. Element `t` of
/// the input is at `stride * t`, and meets element `k` of the kernel for the result
/// `stride * t + k * dilation - low`.
fn phase_of_slices(
    call: &mut NodeConversion<'_, '_>,
    operands: Operands,
    window: &[TransposedWindow],
    number: u64,
    count: u64,
) -> Result<Option<Value>, Refusal> {
    let (first, rest) = window.split_first().ok_or("a kernel without axes")?;
    let Operands { x, filter, bias } = operands;
    let shape = call.shape(x)?;
    let filter_shape = call.shape(filter)?;
    let mut sum = None;
    for tap in 0..first.kernel {
        let at = number.cast_signed() + first.low - (tap * first.dilation).cast_signed();
        if at % first.stride.cast_signed() != 0 {
            continue;
        }
        let start = at / first.stride.cast_signed();
        let after = start + count.cast_signed() - shape[2].cast_signed();
        let slices = call.padded(x, 2, [-start, after], 0.0)?;
        let by_slice = swapped(call, slices)?;
        let batch = call.reshape(by_slice, &[&[shape[0] * count, shape[1]], &shape[3..]].concat())?;
        let plane = call.part(filter, 2, Dim::Known(tap), Dim::Known(1))?;
        let plane = call.reshape(plane, &[&filter_shape[..2], &filter_shape[3..]].concat())?;
        let bias = bias.filter(|_| sum.is_none());
        let term = transposed_over(call, Operands { x: batch, filter: plane, bias }, rest)?;
        sum = Some(sum.map_or(Ok(term), |sum| call.two("nn.add", sum, term))?);
    }
    let Some(sum) = sum else { return Ok(None) };
    let made = call.shape(sum)?;
    Ok(Some(call.reshape(sum, &[&[shape[0], count], &made[1..]].concat())?))
}

/// The phase that meets no element of the kernel: zeros and the bias.
fn only_bias(call: &mut NodeConversion<'_, '_>, operands: Operands, shape: &[u64]) -> Result<Value, Refusal> {
    let dims: Vec<Dim> = shape.iter().copied().map(Dim::Known).collect();
    let zeros = call.filler(0.0, operands.x, &dims)?;
    let Some(bias) = operands.bias else { return Ok(zeros) };
    let mut sizes = vec![1; shape.len()];
    sizes[2] = shape[2];
    let bias = call.reshape(bias, &sizes)?;
    call.two("nn.add", zeros, bias)
}

/// A transposed convolution over two axes: a convolution of stride 1 with the flipped kernel, over the input
/// with zeros between its elements.
fn of_images(
    call: &mut NodeConversion<'_, '_>,
    operands: Operands,
    window: &[TransposedWindow],
) -> Result<Value, Refusal> {
    let Operands { mut x, filter, bias } = operands;
    let weights = call.shape(filter)?;
    let groups = u64::try_from(call.node.int("group")?.unwrap_or(1))
        .ok()
        .filter(|groups| *groups > 0 && weights[0] % groups == 0)
        .ok_or("a `group` that does not divide the channels")?;
    for (axis, along) in window.iter().enumerate().rev() {
        x = with_gaps(call, x, 2 + axis, along.stride)?;
    }
    let mut pads = [Vec::new(), Vec::new()];
    for (axis, along) in window.iter().enumerate() {
        let reach = (along.reach() - 1).cast_signed();
        let around = [reach - along.low, reach - along.high + along.more];
        x = call.padded(x, 2 + axis, around.map(|pad| pad.min(0)), 0.0)?;
        for (side, pad) in around.into_iter().enumerate() {
            pads[side].push(Dim::Known(pad.max(0).cast_unsigned()));
        }
    }
    let window = WindowAttrs {
        kernel: weights[2..].to_vec(),
        strides: vec![1; window.len()],
        dilations: window.iter().map(|along| along.dilation).collect(),
        pads: pads.concat(),
        groups: groups.cast_signed(),
        ceil: false,
    };
    let filter = flipped(call, filter, groups)?;
    convolution(call, x, filter, bias, &window)
}

/// The filters of a convolution, [outputs, inputs of a group, sizes...], with the elements of those of a
/// transposed one, [inputs, outputs of a group, sizes...], in reverse order.
fn flipped(call: &mut NodeConversion<'_, '_>, filter: Value, groups: u64) -> Result<Value, Refusal> {
    let weights = call.shape(filter)?;
    let kernel = &weights[2..];
    let mut turned = SliceWindow::whole(&call.dims(filter)?);
    for (axis, size) in weights.iter().enumerate().skip(2) {
        turned.starts[axis] = Dim::Known(size.saturating_sub(1));
        turned.strides[axis] = -1;
    }
    let reversed = call.emit("nn.slice", &[filter], &turned.attrs(call.ctx()))?;
    let apart = [&[groups, weights[0] / groups, weights[1]], kernel].concat();
    let by_group = call.reshape(reversed, &apart)?;
    let outputs_first = swapped(call, by_group)?;
    call.reshape(outputs_first, &[&[groups * weights[1], weights[0] / groups], kernel].concat())
}
