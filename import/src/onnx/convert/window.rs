//! Conversion of convolution and pooling: the operators that slide a window over an image.
//!
//! Padding is explicit in the IR. `auto_pad` asks for as much as makes the output `ceil(input / stride)`: in
//! each dimension `max((output - 1) * stride + (kernel - 1) * dilation + 1 - input, 0)` in all, half before
//! and half after, the odd one after (SAME_UPPER) or before (SAME_LOWER).

use ir::dims::{self, Sizes};
use ir::{Attr, Dim, Value};

use crate::onnx::call::{Call, Refusal};

/// A window's sizes in each spatial dimension, as the node gives them.
struct Window {
    kernel: Vec<u64>,
    strides: Vec<u64>,
    dilations: Vec<u64>,
    /// Before each dimension, then after each.
    pads: Vec<Dim>,
}

/// Sizes beyond this are refused, so that no sum or product of two overflows.
const MAX_SIZE: u64 = 1 << 31;

impl Window {
    /// The window of a node over an image of the sizes `spatial`; `kernel` is known from the weights or must
    /// be an attribute.
    fn of(call: &Call<'_, '_>, spatial: &[Dim], kernel: Option<&[u64]>) -> Result<Window, Refusal> {
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
        let mut window = Window { kernel, strides, dilations, pads: Vec::new() };
        window.pads = window.padding(call, spatial)?;
        Ok(window)
    }

    /// The window of a line as that of an image of one row.
    fn of_one_row(self) -> Window {
        let prepended = |size: u64, sizes: Vec<u64>| [vec![size], sizes].concat();
        let none = Dim::Known(0);
        Window {
            kernel: prepended(1, self.kernel),
            strides: prepended(1, self.strides),
            dilations: prepended(1, self.dilations),
            pads: vec![none, self.pads[0], none, self.pads[1]],
        }
    }

    fn padding(&self, call: &Call<'_, '_>, spatial: &[Dim]) -> Result<Vec<Dim>, Refusal> {
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
            let sizes = Sizes(call.ctx());
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

    /// Elements that are added to a dimension.
    fn same_padding(&self, call: &Call<'_, '_>, i: usize, size: Dim) -> Dim {
        let ctx = call.ctx();
        let sizes = Sizes(call.ctx());
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

fn sizes_attr(call: &Call<'_, '_>, sizes: &[u64]) -> Attr {
    let sizes: Vec<i64> = sizes.iter().map(|size| size.cast_signed()).collect();
    call.ctx().ints_attr(&sizes)
}

/// The attribute `name`: `count` sizes.
fn sizes(call: &Call<'_, '_>, name: &str, count: usize) -> Result<Option<Vec<u64>>, Refusal> {
    let Some(numbers) = call.node.ints(name)? else { return Ok(None) };
    let sizes = numbers.iter().map(|&size| u64::try_from(size).ok().filter(|&size| size < MAX_SIZE));
    match sizes.collect::<Option<Vec<u64>>>() {
        Some(sizes) if sizes.len() == count => Ok(Some(sizes)),
        _ => Err(format!("`{name}` {numbers:?}, expected {count} sizes from 0 to {}", MAX_SIZE - 1).into()),
    }
}

/// The sizes of an image `[batch, channels, height, width]`.
fn image(call: &Call<'_, '_>, x: Value) -> Result<[Dim; 4], Refusal> {
    let shape = call.dims(x)?;
    let is_small = |size: Dim| size.known().is_none_or(|size| size < MAX_SIZE);
    match shape[..] {
        [n, c, h, w] if is_small(h) && is_small(w) => Ok([n, c, h, w]),
        _ => {
            let shape = Sizes(call.ctx()).list(&shape);
            Err(format!("an input of shape {shape}, expected [batch, channels, height, width]").into())
        }
    }
}

/// Conv, of images, or of lines: those are images of one row.
pub(crate) fn conv(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, filter) = (call.operand(0)?, call.operand(1)?);
    if let [batch, channels, width] = call.dims(x)?[..] {
        let [out_channels, in_group, kernel] = call.shape(filter)?[..] else {
            return Err("weights of another rank than the input".into());
        };
        if width.known().is_some_and(|width| width >= MAX_SIZE) || kernel >= MAX_SIZE {
            let width = Sizes(call.ctx()).text(width);
            return Err(format!("a line of {width} elements and a kernel of {kernel}").into());
        }
        let x = call.reshape_to(x, &[batch, channels, Dim::Known(1), width])?;
        let filter = call.reshape(filter, &[out_channels, in_group, 1, kernel])?;
        let window = Window::of(call, &[width], Some(&[kernel]))?.of_one_row();
        let row = convolution(call, x, filter, &window)?;
        let [batch, channels, _, width] = image(call, row)?;
        return Ok(vec![call.reshape_to(row, &[batch, channels, width])?]);
    }
    let [_, _, height, width] = image(call, x)?;
    image(call, filter)?;
    let [kernel_height, kernel_width] = [call.shape(filter)?[2], call.shape(filter)?[3]];
    let window = Window::of(call, &[height, width], Some(&[kernel_height, kernel_width]))?;
    Ok(vec![convolution(call, x, filter, &window)?])
}

fn convolution(call: &mut Call<'_, '_>, x: Value, filter: Value, window: &Window) -> Result<Value, Refusal> {
    let groups = call.node.int("group")?.unwrap_or(1);
    let attrs = [
        ("strides", sizes_attr(call, &window.strides)),
        ("pads", call.ctx().dims_attr(&window.pads)),
        ("dilations", sizes_attr(call, &window.dilations)),
        ("groups", call.ctx().int_attr(groups)),
    ];
    let mut operands = vec![x, filter];
    operands.extend(call.optional(2));
    call.emit("nn.conv2d", &operands, &attrs)
}

/// MaxPool. Its second result, the indices of the elements chosen, is not supported.
pub(crate) fn max_pool(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = call.operand(0)?;
    let (window, mut attrs) = pool(call, x)?;
    attrs.push(("dilations", sizes_attr(call, &window.dilations)));
    Ok(vec![call.emit("nn.max_pool2d", &[x], &attrs)?])
}

/// AveragePool. Whether the padding counts is `count_include_pad`'s to say.
pub(crate) fn average_pool(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = call.operand(0)?;
    let (window, mut attrs) = pool(call, x)?;
    if window.dilations.iter().any(|&dilation| dilation != 1) {
        return Err(format!("`dilations` {:?}, expected 1", window.dilations).into());
    }
    if call.node.truth("count_include_pad")?.unwrap_or(false) {
        attrs.push(("count_include_pad", call.ctx().unit_attr()));
    }
    Ok(vec![call.emit("nn.avg_pool2d", &[x], &attrs)?])
}

type Attrs = Vec<(&'static str, Attr)>;

/// The window of a pool over `x`, with the attributes that all pools have.
fn pool(call: &Call<'_, '_>, x: Value) -> Result<(Window, Attrs), Refusal> {
    let [_, _, height, width] = image(call, x)?;
    let window = Window::of(call, &[height, width], None)?;
    let mut attrs = vec![
        ("kernel", sizes_attr(call, &window.kernel)),
        ("strides", sizes_attr(call, &window.strides)),
        ("pads", call.ctx().dims_attr(&window.pads)),
    ];
    if call.node.truth("ceil_mode")?.unwrap_or(false) {
        attrs.push(("ceil", call.ctx().unit_attr()));
    }
    Ok((window, attrs))
}

/// GlobalAveragePool: the mean of each channel.
pub(crate) fn global_average_pool(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    global_pool(call, "nn.reduce_mean")
}

/// GlobalMaxPool: the largest of each channel.
pub(crate) fn global_max_pool(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    global_pool(call, "nn.reduce_max")
}

fn global_pool(call: &mut Call<'_, '_>, name: &str) -> Result<Vec<Value>, Refusal> {
    let x = call.operand(0)?;
    let axes: Vec<i64> = (2..call.rank(x)? as i64).collect();
    let axes = call.ctx().ints_attr(&axes);
    let keepdims = call.ctx().unit_attr();
    Ok(vec![call.emit(name, &[x], &[("axes", axes), ("keepdims", keepdims)])?])
}
