//! Conversion of convolution and pooling: operators with a sliding window over an image.
//!
//! Padding is explicit in the IR. With `auto_pad`, the output has `ceil(input / stride)` elements. In each
//! dimension the padding is `max((output - 1) * stride + (kernel - 1) * dilation + 1 - input, 0)` in all,
//! half before and half after, the odd one after (SAME_UPPER) or before (SAME_LOWER).

use ir::dims::{self, SizeArithmetic};
use ir::{Attr, Dim, TypeData, Value};

use super::doubles;
use super::spread::{Along, Pooling, convolution, places_of_largest, pool};
use super::transposed::TransposedWindow;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// A window's sizes in each spatial dimension, as the node gives them.
#[derive(Clone)]
pub(super) struct WindowAttrs {
    pub(super) kernel: Vec<u64>,
    pub(super) strides: Vec<u64>,
    pub(super) dilations: Vec<u64>,
    /// Before each dimension, then after each.
    pub(super) pads: Vec<Dim>,
    /// The number of channel groups of a convolution.
    pub(super) groups: i64,
    /// Whether a last window may extend beyond the end.
    pub(super) ceil: bool,
}

/// Larger sizes are refused, so that no sum or product of two overflows.
const MAX_SIZE: u64 = 1 << 31;

impl WindowAttrs {
    /// The window of a node over an image of the sizes `spatial`; `kernel` is known from the weights or must
    /// be an attribute.
    pub(super) fn of(
        call: &NodeConversion<'_, '_>,
        spatial: &[Dim],
        kernel: Option<&[u64]>,
    ) -> Result<WindowAttrs, Refusal> {
        let rank = spatial.len();
        let given = sizes(call, "kernel_shape", rank)?;
        let kernel = match (given, kernel) {
            (Some(given), Some(kernel)) if given != kernel => {
                return Err(format!("`kernel_shape` {given:?}, but the weights have {kernel:?}").into());
            }
            (Some(given), _) => given,
            (None, Some(kernel)) => kernel.to_vec(),
            (None, None) => return Err("`kernel_shape` is left out".into()),
        };
        let strides = sizes(call, "strides", rank)?.unwrap_or_else(|| vec![1; rank]);
        let dilations = sizes(call, "dilations", rank)?.unwrap_or_else(|| vec![1; rank]);
        let positive = [&kernel, &strides, &dilations].into_iter().flatten().all(|&size| size > 0);
        if !positive {
            return Err(format!(
                "kernel {kernel:?}, strides {strides:?}, dilations {dilations:?}, expected 1 or more"
            )
            .into());
        }
        let groups = call.node.int("group")?.unwrap_or(1);
        let ceil = call.node.truth("ceil_mode")?.unwrap_or(false);
        let mut window = WindowAttrs { kernel, strides, dilations, pads: Vec::new(), groups, ceil };
        window.pads = window.padding(call, spatial)?;
        Ok(window)
    }

    /// The window of a pool over `x`.
    pub(super) fn of_pool(call: &NodeConversion<'_, '_>, x: Value) -> Result<WindowAttrs, Refusal> {
        let spatial = spatial(call, x)?;
        WindowAttrs::of(call, &spatial, None)
    }

    /// The placement of a transposed convolution's kernel over each axis of the result, from the sizes of the
    /// input and of the weights.
    pub(super) fn of_transposed(
        call: &NodeConversion<'_, '_>,
        spatial: &[Dim],
        kernel: &[u64],
    ) -> Result<Vec<TransposedWindow>, Refusal> {
        let rank = spatial.len();
        let window = WindowAttrs::of(call, spatial, Some(kernel))?;
        let more = sizes(call, "output_padding", rank)?.unwrap_or_else(|| vec![0; rank]);
        let wanted = sizes(call, "output_shape", rank)?;
        let policy = call.node.text("auto_pad")?.unwrap_or("NOTSET");
        let is_same = policy.starts_with("SAME");
        let mut all = Vec::new();
        for axis in 0..rank {
            let reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
            let stride = window.strides[axis];
            // Elements covered by windows in excess of the requested result: `SAME` asks for a stride for
            // each element.
            let beyond = match (&wanted, is_same) {
                (Some(wanted), _) => {
                    let size =
                        spatial[axis].known().ok_or("an `output_shape` of sizes that are not known")?;
                    let covered = size
                        .saturating_sub(1)
                        .checked_mul(stride)
                        .and_then(|starts| starts.checked_add(reach + more[axis]))
                        .and_then(|covered| i64::try_from(covered).ok())
                        .ok_or("a result that is larger than memory")?;
                    Some(covered - wanted[axis].cast_signed())
                }
                (None, true) => Some((reach + more[axis]).cast_signed() - stride.cast_signed()),
                (None, false) => None,
            };
            let known = |pad: Dim| pad.known().map(u64::cast_signed).ok_or("pads that are no numbers");
            let [low, high] = match beyond {
                None => [known(window.pads[axis])?, known(window.pads[rank + axis])?],
                Some(total) => {
                    // Missing elements are added at the end.
                    let less = total / 2;
                    match policy {
                        _ if total < 0 => [0, total],
                        "SAME_UPPER" => [less, total - less],
                        _ => [total - less, less],
                    }
                }
            };
            all.push(TransposedWindow {
                kernel: window.kernel[axis],
                stride: window.strides[axis],
                dilation: window.dilations[axis],
                low,
                high,
                more: more[axis].cast_signed(),
            });
        }
        Ok(all)
    }

    /// The placement of the kernel over the first axis, whose padding is known, and the window over the
    /// others.
    pub(super) fn first_and_rest(&self) -> Result<(Along, WindowAttrs), Refusal> {
        let first = pads_of(self)?[0];
        let rank = self.kernel.len();
        let rest = WindowAttrs {
            kernel: self.kernel[1..].to_vec(),
            strides: self.strides[1..].to_vec(),
            dilations: self.dilations[1..].to_vec(),
            pads: [&self.pads[1..rank], &self.pads[rank + 1..]].concat(),
            ..*self
        };
        Ok((first, rest))
    }

    /// The window along the first axis alone, over an image of lines.
    pub(super) fn of_first_column(&self) -> Result<WindowAttrs, Refusal> {
        let (first, _) = self.first_and_rest()?;
        let none = Dim::Known(0);
        Ok(WindowAttrs {
            kernel: vec![first.kernel, 1],
            strides: vec![first.stride, 1],
            dilations: vec![first.dilation, 1],
            pads: vec![Dim::Known(first.low), none, Dim::Known(first.high), none],
            ..*self
        })
    }

    /// The window over a line, as one over an image of one row.
    pub(super) fn of_one_row(&self) -> WindowAttrs {
        let none = Dim::Known(0);
        WindowAttrs {
            kernel: [&[1], &self.kernel[..]].concat(),
            strides: [&[1], &self.strides[..]].concat(),
            dilations: [&[1], &self.dilations[..]].concat(),
            pads: vec![none, self.pads[0], none, self.pads[1]],
            ..*self
        }
    }

    fn padding(&self, call: &NodeConversion<'_, '_>, spatial: &[Dim]) -> Result<Vec<Dim>, Refusal> {
        let rank = spatial.len();
        let none = || vec![Dim::Known(0); 2 * rank];
        let odd_one_behind = match call.node.text("auto_pad")?.unwrap_or("NOTSET") {
            "NOTSET" | "" => {
                let pads = sizes(call, "pads", 2 * rank)?;
                return Ok(pads.map_or_else(none, |pads| pads.into_iter().map(Dim::Known).collect()));
            }
            "VALID" => return Ok(none()),
            "SAME_UPPER" => true,
            "SAME_LOWER" => false,
            other => {
                let expected = "NOTSET, VALID, SAME_UPPER or SAME_LOWER";
                return Err(format!("`auto_pad` {other:?}, expected {expected}").into());
            }
        };
        let mut pads = none();
        for (i, &size) in spatial.iter().enumerate() {
            let sizes = SizeArithmetic(call.ctx());
            let total = self.same_padding(call, i, size);
            let less = sizes.floor_div(total, Dim::Known(2));
            // Together they are the total, in the same form.
            let more = sizes.sub(total, less);
            if less == Dim::Unknown || more == Dim::Unknown {
                return Err(
                    format!("`auto_pad` over a size `{}`, expected a known one", sizes.text(size)).into()
                );
            }
            (pads[i], pads[rank + i]) = if odd_one_behind { (less, more) } else { (more, less) };
        }
        Ok(pads)
    }

    /// Elements added to a dimension.
    fn same_padding(&self, call: &NodeConversion<'_, '_>, i: usize, size: Dim) -> Dim {
        let ctx = call.ctx();
        let sizes = SizeArithmetic(call.ctx());
        let stride = self.strides[i];
        let reach = (self.kernel[i] - 1) * self.dilations[i] + 1;
        if let Dim::Known(size) = size {
            let output = size.div_ceil(stride);
            return Dim::Known((output.saturating_sub(1) * stride + reach).saturating_sub(size));
        }
        let zero = dims::constant(ctx, 0);
        let total = || {
            let (size, stride) = (sizes.expr(size)?, sizes.expr(Dim::Known(stride))?);
            let covered = dims::mul(ctx, dims::ceil_div(ctx, size, stride)?, stride)?;
            let more = dims::sub(ctx, sizes.expr(Dim::Known(reach))?, stride)?;
            let total = dims::add(ctx, dims::sub(ctx, covered, size)?, more)?;
            if call.is_at_most(zero, total) {
                Some(total)
            } else if call.is_at_most(total, zero) {
                Some(zero)
            } else {
                dims::max(ctx, total, zero)
            }
        };
        total().map_or(Dim::Unknown, |total| dims::size(ctx, total))
    }
}

fn sizes_attr(call: &NodeConversion<'_, '_>, sizes: &[u64]) -> Attr {
    let sizes: Vec<i64> = sizes.iter().map(|size| size.cast_signed()).collect();
    call.ctx().ints_attr(&sizes)
}

/// The attribute `name`: `count` sizes.
fn sizes(call: &NodeConversion<'_, '_>, name: &str, count: usize) -> Result<Option<Vec<u64>>, Refusal> {
    let Some(numbers) = call.node.ints(name)? else { return Ok(None) };
    let sizes = numbers.iter().map(|&size| u64::try_from(size).ok().filter(|&size| size < MAX_SIZE));
    match sizes.collect::<Option<Vec<u64>>>() {
        Some(sizes) if sizes.len() == count => Ok(Some(sizes)),
        _ => Err(format!("`{name}` {numbers:?}, expected {count} sizes from 0 to {}", MAX_SIZE - 1).into()),
    }
}

/// The placement of a window over each axis; its padding must be known.
pub(super) fn pads_of(window: &WindowAttrs) -> Result<Vec<Along>, Refusal> {
    let rank = window.kernel.len();
    let known = |pad: Dim| pad.known().ok_or("padding that is no number");
    let along = (0..rank).map(|axis| {
        Ok(Along {
            kernel: window.kernel[axis],
            stride: window.strides[axis],
            dilation: window.dilations[axis],
            low: known(window.pads[axis])?,
            high: known(window.pads[rank + axis])?,
        })
    });
    along.collect()
}

/// The sizes of an image after `[batch, channels]`.
fn spatial(call: &NodeConversion<'_, '_>, x: Value) -> Result<Vec<Dim>, Refusal> {
    let shape = call.dims(x)?;
    let is_small = |size: &Dim| size.known().is_none_or(|size| size < MAX_SIZE);
    match &shape[..] {
        [_, _, spatial @ ..] if !spatial.is_empty() && spatial.iter().all(is_small) => Ok(spatial.to_vec()),
        _ => {
            let shape = SizeArithmetic(call.ctx()).list(&shape);
            Err(format!("an input of shape {shape}, expected [batch, channels, sizes...]").into())
        }
    }
}

/// Conv.
pub(crate) fn conv(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, filter) = (call.operand(0)?, call.operand(1)?);
    let image = spatial(call, x)?;
    let kernel = spatial(call, filter)?;
    if kernel.len() != image.len() {
        return Err("weights of another rank than the input".into());
    }
    let kernel = call.shape(filter)?[2..].to_vec();
    let window = WindowAttrs::of(call, &image, Some(&kernel))?;
    let bias = call.optional(2);
    Ok(vec![convolution(call, x, filter, bias, &window)?])
}

/// A convolution of images.
pub(super) fn convolution_2d(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    filter: Value,
    bias: Option<Value>,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    if doubles::is_double(call, x) {
        return doubles::convolution(call, x, filter, bias, window);
    }
    let attrs = convolution_attrs(call, window);
    let mut operands = vec![x, filter];
    operands.extend(bias);
    call.emit("nn.conv2d", &operands, &attrs)
}

/// The attributes of a convolution of images.
pub(super) fn convolution_attrs(
    call: &NodeConversion<'_, '_>,
    window: &WindowAttrs,
) -> [(&'static str, Attr); 4] {
    [
        ("strides", sizes_attr(call, &window.strides)),
        ("pads", call.ctx().dims_attr(&window.pads)),
        ("dilations", sizes_attr(call, &window.dilations)),
        ("groups", call.ctx().int_attr(window.groups)),
    ]
}

/// MaxPool. Its second result is where in the input each element was found.
pub(crate) fn max_pool(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let window = WindowAttrs::of_pool(call, x)?;
    let elem = call.element(x);
    // Bytes have max-pool kernels; 16-bit integers are exact as floats.
    let width = match call.ctx().type_data(elem) {
        TypeData::Integer { width, .. } => Some(*width),
        _ => None,
    };
    let pooled = if width == Some(16) { call.cast(x, call.ctx().f32())? } else { x };
    let largest = pool(call, pooled, Pooling::Largest, &window)?;
    let mut results = vec![call.cast(largest, elem)?];
    if call.wants_result(1) {
        let floats = if width == Some(8) { call.cast(x, call.ctx().f32())? } else { pooled };
        results.push(places_of_largest(call, floats, &window)?);
    }
    Ok(results)
}

/// AveragePool. Whether the padding counts is `count_include_pad`'s to say.
pub(crate) fn average_pool(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let window = WindowAttrs::of_pool(call, x)?;
    let counts_padding = call.node.truth("count_include_pad")?.unwrap_or(false);
    Ok(vec![pool(call, x, Pooling::Mean { counts_padding }, &window)?])
}

/// A pool over images.
pub(super) fn pool_2d(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    pool_kind: Pooling,
    window: &WindowAttrs,
) -> Result<Value, Refusal> {
    let mut attrs = vec![
        ("kernel", sizes_attr(call, &window.kernel)),
        ("strides", sizes_attr(call, &window.strides)),
        ("pads", call.ctx().dims_attr(&window.pads)),
    ];
    if window.ceil {
        attrs.push(("ceil", call.ctx().unit_attr()));
    }
    match pool_kind {
        Pooling::Largest if doubles::is_double(call, x) => doubles::largest(call, x, window),
        Pooling::Largest => {
            attrs.push(("dilations", sizes_attr(call, &window.dilations)));
            call.emit("nn.max_pool2d", &[x], &attrs)
        }
        Pooling::Mean { counts_padding } => {
            if counts_padding {
                attrs.push(("count_include_pad", call.ctx().unit_attr()));
            }
            call.emit("nn.avg_pool2d", &[x], &attrs)
        }
    }
}

/// GlobalAveragePool: the mean of each channel.
pub(crate) fn global_average_pool(call: &mut NodeConversion<'_, '_>) -> Results {
    global_pool(call, "nn.reduce_mean")
}

/// GlobalMaxPool: the largest of each channel.
pub(crate) fn global_max_pool(call: &mut NodeConversion<'_, '_>) -> Results {
    global_pool(call, "nn.reduce_max")
}

fn global_pool(call: &mut NodeConversion<'_, '_>, name: &str) -> Results {
    let x = call.operand(0)?;
    let axes: Vec<i64> = (2..call.rank(x)? as i64).collect();
    let axes = call.ctx().ints_attr(&axes);
    let keepdims = call.ctx().unit_attr();
    Ok(vec![call.emit(name, &[x], &[("axes", axes), ("keepdims", keepdims)])?])
}
