//! Conversion of products and convolutions of small integers: MatMulInteger, ConvInteger, QLinearMatMul,
//! QLinearConv.
//!
//! With weights they are quantized contractions, which machine code multiplies as integers. All others, and
//! convolutions with narrow groups, are computed in floats. An 8-bit integer minus its zero point is exact as
//! a float, and so is a product of two, and a sum of up to 256 products. Longer sums are split into such
//! sums, which are added as integers.

use ir::dequantized::are_integers_faster;
use ir::{Dim, Kind, Traits, TypeData, Value};

use super::quantised::saturate;
use super::spread::{convolution, of_one_row, one_row};
use super::window::{WindowAttrs, convolution_attrs};
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// Products whose sum is exact: `256 * 255 * 255 < 2^24`.
const EXACT: u64 = 256;

/// The integers of an operand minus their zero point, as floats. The zero point is one number, or one for
/// each index of an axis.
fn centred(
    call: &mut NodeConversion<'_, '_>,
    operand: usize,
    zero: usize,
    axis: usize,
) -> Result<Value, Refusal> {
    let x = call.operand(operand)?;
    if !is_byte(call, x) {
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

/// Whether elements are integers of 8 bits.
fn is_byte(call: &NodeConversion<'_, '_>, x: Value) -> bool {
    matches!(call.ctx().type_data(call.element(x)), TypeData::Integer { width: 8, .. })
}

/// Whether a value is computed from the model's weights only, in a few steps.
fn is_weight(call: &NodeConversion<'_, '_>, value: Value, steps: usize) -> bool {
    let body = &*call.builder.body;
    let Some(op) = body.defining_op(value).filter(|_| steps > 0) else { return false };
    let op = body.at(call.ctx(), op);
    let is_pure = op.has(Traits::PURE) && body.regions(op.op).is_empty();
    let is_made = matches!(op.kind(), Kind::Source) || op.operand_count() > 0;
    is_pure && is_made && body.operands(op.op).all(|operand| is_weight(call, operand, steps - 1))
}

/// The greatest number of steps from a weight.
const STEPS: usize = 4;

/// The operands of a quantized contraction: operands `x` and `w` of the node with their zero points, which
/// are operands too; none if `w` is no weight, or there are too many zero points.
fn quantized(
    call: &mut NodeConversion<'_, '_>,
    [x, w]: [usize; 2],
    [x_zero, w_zero]: [usize; 2],
) -> Result<Option<[Value; 4]>, Refusal> {
    let operands = [call.operand(x)?, call.operand(w)?];
    if !operands.iter().all(|operand| is_byte(call, *operand)) || !is_weight(call, operands[1], STEPS) {
        return Ok(None);
    }
    let mut zeros = operands;
    for ((zero, operand), number) in zeros.iter_mut().zip(operands).zip([x_zero, w_zero]) {
        let given = call.optional(number);
        *zero = match given {
            None => call.scalar_like(0.0, operand)?,
            Some(given) if call.dims(given)?.iter().all(|size| *size == Dim::Known(1)) => {
                call.reshape(given, &[])?
            }
            Some(given) if number == w_zero && call.rank(given)? == 1 => given,
            Some(_) => return Ok(None),
        };
        if call.element(*zero) != call.element(operand) {
            return Ok(None);
        }
    }
    Ok(Some([operands[0], operands[1], zeros[0], zeros[1]]))
}

/// The product of two operands of the node, minus their zero points, as 32-bit integers.
fn integer_product(
    call: &mut NodeConversion<'_, '_>,
    operands: [usize; 2],
    zeros: [usize; 2],
) -> Result<Value, Refusal> {
    let columns = call.operand(operands[1])?;
    let columns = call.rank(columns)?;
    if (1..=2).contains(&columns)
        && let Some(operands) = quantized(call, operands, zeros)?
    {
        return call.emit("nn.quantized_matmul", &operands, &[]);
    }
    let rank = call.rank(call.operand(operands[0])?)?;
    let a = centred(call, operands[0], zeros[0], rank.saturating_sub(2))?;
    let b = centred(call, operands[1], zeros[1], columns.saturating_sub(1))?;
    exact_product(call, a, b)
}

/// The convolution of two operands of the node, minus their zero points, as 32-bit integers.
fn integer_convolution(
    call: &mut NodeConversion<'_, '_>,
    operands: [usize; 2],
    zeros: [usize; 2],
) -> Result<Value, Refusal> {
    let weights = call.shape(call.operand(operands[1])?)?;
    let groups = call.node.int("group")?.unwrap_or(1);
    let image = call.dims(call.operand(operands[0])?)?;
    if are_integers_faster(groups.max(0) as u64, &weights)
        && image.len() == weights.len()
        && (3..=4).contains(&image.len())
        && let Some([x, filter, x_zero, zero]) = quantized(call, operands, zeros)?
    {
        let window = WindowAttrs::of(call, &image[2..], Some(&weights[2..]))?;
        if image.len() == 4 {
            let attrs = convolution_attrs(call, &window);
            return call.emit("nn.quantized_conv2d", &[x, filter, x_zero, zero], &attrs);
        }
        let (x, filter) = (one_row(call, x)?, one_row(call, filter)?);
        let attrs = convolution_attrs(call, &window.of_one_row());
        let sums = call.emit("nn.quantized_conv2d", &[x, filter, x_zero, zero], &attrs)?;
        return of_one_row(call, sums);
    }
    let x = centred(call, operands[0], zeros[0], 1)?;
    let filter = centred(call, operands[1], zeros[1], 0)?;
    exact_convolution(call, x, filter)
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
    Ok(vec![integer_product(call, [0, 1], [2, 3])?])
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
    Ok(vec![integer_convolution(call, [0, 1], [2, 3])?])
}

/// A sum times its scale, rounded, plus a zero point, clipped to the zero point's type.
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

/// The product of two scales over a third, which is a single number.
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
    let sum = integer_product(call, [0, 3], [2, 5])?;
    let rank = call.rank(sum)?;
    let scale = joint_scale(call, [1, 4, 6], sum, [rank.saturating_sub(2), rank.saturating_sub(1)])?;
    Ok(vec![requantised(call, sum, scale, 7)?])
}

/// QLinearConv.
pub(crate) fn qlinear_conv(call: &mut NodeConversion<'_, '_>) -> Results {
    let mut sum = integer_convolution(call, [0, 3], [2, 5])?;
    if let Some(bias) = call.optional(8) {
        let bias = along(call, bias, sum, 1)?;
        sum = call.two("nn.add", sum, bias)?;
    }
    let scale = joint_scale(call, [1, 4, 6], sum, [1, 1])?;
    Ok(vec![requantised(call, sum, scale, 7)?])
}
