//! Convolutions and max-pools of doubles, which have no kernel.
//!
//! ```text
//! [n, c, h, w]  =>  padded, and gathered along both axes: [n, c, rows, kernel, columns, kernel]
//! ```

use ir::{Dim, FloatKind, TypeData, Value};

use super::window::{WindowAttrs, pads_of};
use crate::onnx::call::{MOST_WRITTEN, NodeConversion, Refusal};

/// Whether a value's elements are doubles.
pub(super) fn is_double(call: &NodeConversion<'_, '_>, x: Value) -> bool {
    matches!(call.ctx().type_data(call.element(x)), TypeData::Float(FloatKind::F64))
}

/// The elements of each window over an image, as `[batch, channels, rows, kernel, columns, kernel]`.
fn windows(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    window: &WindowAttrs,
    padding: f64,
) -> Result<(Value, [u64; 6]), Refusal> {
    let shape = call.shape(x)?;
    let mut sizes = [shape[0], shape[1], 0, 0, 0, 0];
    let mut y = x;
    for (index, along) in pads_of(window)?.into_iter().enumerate() {
        let (axis, size) = (2 + index, shape[2 + index]);
        let along = if window.ceil { along.with_ceil(size) } else { along };
        let count = along.windows(size);
        if count == 0 || along.kernel.saturating_mul(count) > MOST_WRITTEN {
            return Err(format!("{count} windows of {} elements along axis {axis}", along.kernel).into());
        }
        y = call.padded(y, axis, [along.low.cast_signed(), along.high.cast_signed()], padding)?;
        let first = (0..count).map(|window| window * along.stride);
        let places = first.flat_map(|first| (0..along.kernel).map(move |tap| first + tap * along.dilation));
        let places: Vec<i64> = places.map(u64::cast_signed).collect();
        let places = call.int64_constant(&places, &[places.len() as u64])?;
        y = call.picked(y, places, axis)?;
        (sizes[2 + 2 * index], sizes[3 + 2 * index]) = (count, along.kernel);
    }
    Ok((call.reshape(y, &sizes)?, sizes))
}

/// A convolution of images: a product of matrices for each group.
pub(super) fn convolution(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    filter: Value,
    bias: Option<Value>,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    let weights = call.shape(filter)?;
    let (columns, [batch, channels, rows, _, width, _]) = windows(call, x, window, 0.0)?;
    let groups = window.groups.cast_unsigned();
    let is_right = groups > 0 && weights[1].checked_mul(groups) == Some(channels) && weights[0] % groups == 0;
    if !is_right {
        return Err(format!("weights {weights:?} for {channels} channels in {groups} groups").into());
    }
    let terms = weights[1..].iter().product();
    let columns = call.transposed(columns, &[0, 1, 3, 5, 2, 4])?;
    let columns = call.reshape(columns, &[batch, groups, terms, rows * width])?;
    let filter = call.reshape(filter, &[groups, weights[0] / groups, terms])?;
    let product = call.two("nn.matmul", filter, columns)?;
    let y = call.reshape(product, &[batch, weights[0], rows, width])?;
    let Some(bias) = bias else { return Ok(y) };
    if call.dims(bias)? != [Dim::Known(weights[0])] {
        return Err(format!("a bias of another size than {}", weights[0]).into());
    }
    let bias = call.reshape(bias, &[weights[0], 1, 1])?;
    call.two("nn.add", y, bias)
}

/// The largest element of each window.
pub(super) fn largest(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    let (elements, _) = windows(call, x, window, f64::NEG_INFINITY)?;
    let axes = call.ctx().ints_attr(&[3, 5]);
    call.emit("nn.reduce_max", &[elements], &[("axes", axes)])
}
