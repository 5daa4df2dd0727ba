//! Conversion of products and convolutions of small integers: MatMulInteger, ConvInteger, QLinearMatMul,
//! QLinearConv.
//!
//! An integer of 8 bits less its zero point, and a product of two, are floats. So are sums of up to 256 of
//! them: sums of more are made of such parts, which are added as integers.

use ir::{Dim, Value};

use super::quantised::saturate;
use super::spread::convolution;
use super::window::WindowAttrs;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// Products whose sum is exact: `256 * 255 * 255 < 2^24`.
const EXACT: u64 = 256;

/// The integers of an operand less their zero point, as floats; the zero point is a number, or has one for
/// each index of an axis.
fn centred(
    call: &mut NodeConversion<'_, '_>,
    operand: usize,
    zero: usize,
    axis: usize,
) -> Result<Value, Refusal> {
    let x = call.operand(operand)?;
    if !matches!(call.ctx().type_data(call.element(x)), ir::TypeData::Integer { width: 8, .. }) {
        return Err("elements of another type than integers of 8 bits".into());
    }
    let f32 = call.ctx().f32();
    let numbers = call.cast(x, f32)?;
    let Some(zero) = call.optional(zero) else { return Ok(numbers) };
    let zero = call.cast(zero, f32)?;
    let zero = along(call, zero, numbers, axis)?;
    call.two("nn.sub", numbers, zero)
}

/// A number, or one for each index of an axis of `x`, so that it broadcasts with that.
fn along(call: &mut NodeConversion<'_, '_>, numbers: Value, x: Value, axis: usize) -> Result<Value, Refusal> {
    let sizes = call.dims(numbers)?;
    let shape = call.dims(x)?;
    if sizes.iter().all(|size| *size == Dim::Known(1)) {
        return call.reshape(numbers, &[]);
    }
    if sizes.len() != 1 {
        return Ok(numbers);
    }
    let mut apart = vec![Dim::Known(1); shape.len()];
    *apart.get_mut(axis).ok_or("numbers for an axis that is not there")? = sizes[0];
    call.reshape_to(numbers, &apart)
}

/// The product of two matrices of small integers, as integers of 32 bits.
fn exact_product(call: &mut NodeConversion<'_, '_>, a: Value, b: Value) -> Result<Value, Refusal> {
    let last = call.rank(a)?.checked_sub(1).ok_or("a number, expected a matrix")?;
    let row = call.rank(b)?.saturating_sub(2);
    let int32 = call.ctx().int(32);
    let Dim::Known(terms) = call.dims(a)?[last] else {
        return Err("sums of a number of products that is not known".into());
    };
    let mut sum = None;
    for first in (0..terms.max(1)).step_by(EXACT as usize) {
        let size = Dim::Known(EXACT.min(terms - first));
        let left = call.part(a, last, Dim::Known(first), size)?;
        let right = call.part(b, row, Dim::Known(first), size)?;
        let product = call.two("nn.matmul", left, right)?;
        let product = call.cast(product, int32)?;
        sum = Some(sum.map_or(Ok(product), |sum| call.two("nn.add", sum, product))?);
    }
    sum.ok_or_else(|| "a sum of no products".into())
}

/// MatMulInteger.
pub(crate) fn matmul_integer(call: &mut NodeConversion<'_, '_>) -> Results {
    let rank = call.rank(call.operand(0)?)?;
    let columns = call.rank(call.operand(1)?)?.saturating_sub(1);
    let a = centred(call, 0, 2, rank.saturating_sub(2))?;
    let b = centred(call, 1, 3, columns)?;
    Ok(vec![exact_product(call, a, b)?])
}

/// A convolution of small integers, as integers of 32 bits.
fn exact_convolution(call: &mut NodeConversion<'_, '_>, x: Value, filter: Value) -> Result<Value, Refusal> {
    let image = call.dims(x)?;
    let weights = call.shape(filter)?;
    if image.len() < 3 || weights.len() != image.len() {
        return Err("an image or weights of another rank".into());
    }
    let window = WindowAttrs::of(call, &image[2..], Some(&weights[2..]))?;
    let area: u64 = weights[2..].iter().product();
    let most = EXACT / area.max(1);
    let channels = weights[1];
    if most == 0 || (window.groups != 1 && most < channels) {
        return Err(format!("sums of {} products", channels * area).into());
    }
    let int32 = call.ctx().int(32);
    let mut sum = None;
    for first in (0..channels).step_by(most as usize) {
        let size = Dim::Known(most.min(channels - first));
        let (part, plane) = if most >= channels {
            (x, filter)
        } else {
            (call.part(x, 1, Dim::Known(first), size)?, call.part(filter, 1, Dim::Known(first), size)?)
        };
        let term = convolution(call, part, plane, None, &window)?;
        let term = call.cast(term, int32)?;
        sum = Some(sum.map_or(Ok(term), |sum| call.two("nn.add", sum, term))?);
    }
    sum.ok_or_else(|| "a convolution without channels".into())
}

/// ConvInteger.
pub(crate) fn conv_integer(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = centred(call, 0, 2, 1)?;
    let filter = centred(call, 1, 3, 0)?;
    Ok(vec![exact_convolution(call, x, filter)?])
}

/// A sum times its scale, rounded, plus a zero point, cut to the range of that.
fn requantised(
    call: &mut NodeConversion<'_, '_>,
    sum: Value,
    scale: Value,
    zero: usize,
) -> Result<Value, Refusal> {
    let zero = call.operand(zero)?;
    let to = call.element(zero);
    let f32 = call.ctx().f32();
    let numbers = call.cast(sum, f32)?;
    let scaled = call.two("nn.mul", numbers, scale)?;
    let rounded = call.one("nn.round", scaled)?;
    let zero = call.cast(zero, f32)?;
    let zero = call.reshape(zero, &[])?;
    let moved = call.two("nn.add", rounded, zero)?;
    saturate(call, moved, to)
}

/// The product of two scales over a third, which is one number.
fn joint_scale(
    call: &mut NodeConversion<'_, '_>,
    [a, b, y]: [usize; 3],
    like: Value,
    [row, column]: [usize; 2],
) -> Result<Value, Refusal> {
    let f32 = call.ctx().f32();
    let mut scales = Vec::new();
    for (operand, axis) in [(a, row), (b, column), (y, 0)] {
        let scale = call.operand(operand)?;
        let scale = call.cast(scale, f32)?;
        scales.push(along(call, scale, like, axis)?);
    }
    let product = call.two("nn.mul", scales[0], scales[1])?;
    call.two("nn.div", product, scales[2])
}

/// QLinearMatMul.
pub(crate) fn qlinear_matmul(call: &mut NodeConversion<'_, '_>) -> Results {
    let rank = call.rank(call.operand(0)?)?;
    let columns = call.rank(call.operand(3)?)?.saturating_sub(1);
    let a = centred(call, 0, 2, rank.saturating_sub(2))?;
    let b = centred(call, 3, 5, columns)?;
    let sum = exact_product(call, a, b)?;
    let rank = call.rank(sum)?;
    let scale = joint_scale(call, [1, 4, 6], sum, [rank.saturating_sub(2), rank.saturating_sub(1)])?;
    Ok(vec![requantised(call, sum, scale, 7)?])
}

/// QLinearConv.
pub(crate) fn qlinear_conv(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = centred(call, 0, 2, 1)?;
    let filter = centred(call, 3, 5, 0)?;
    let mut sum = exact_convolution(call, x, filter)?;
    if let Some(bias) = call.optional(8) {
        let bias = along(call, bias, sum, 1)?;
        sum = call.two("nn.add", sum, bias)?;
    }
    let scale = joint_scale(call, [1, 4, 6], sum, [1, 1])?;
    Ok(vec![requantised(call, sum, scale, 7)?])
}
