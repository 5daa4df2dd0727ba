//! Conversion of DeformConv: a convolution whose filter reads each image at positions moved by offsets.
//!
//! ```text
//! DeformConv(x, w, offsets)  =>  matmul(w, sum(weight * gather(x, around the moved places)))
//! ```

use ir::{Dim, Value};

use super::sample::{ImageAxis, Tap, crossed};
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// The windows of a filter over an image, without the offsets that move its elements.
struct MovedWindows {
    kernel: [u64; 2],
    strides: [u64; 2],
    dilations: [u64; 2],
    pads: [i64; 4],
}

impl MovedWindows {
    fn of(call: &NodeConversion<'_, '_>, kernel: [u64; 2]) -> Result<MovedWindows, Refusal> {
        let list = |name: &str, count: usize, default: i64| -> Result<Vec<i64>, Refusal> {
            let list = call.node.ints(name)?.map_or(vec![default; count], <[i64]>::to_vec);
            let is_right = list.len() == count && list.iter().all(|number| (0..1 << 20).contains(number));
            if is_right { Ok(list) } else { Err(format!("`{name}` is not {count} sizes").into()) }
        };
        let pair = |name: &str| -> Result<[u64; 2], Refusal> {
            let list = list(name, 2, 1)?;
            Ok([list[0].unsigned_abs(), list[1].unsigned_abs()])
        };
        let pads = list("pads", 4, 0)?;
        let pads = [pads[0], pads[1], pads[2], pads[3]];
        let said = call.node.ints("kernel_shape")?;
        if said.is_some_and(|said| said.iter().map(|size| size.unsigned_abs()).ne(kernel)) {
            return Err("a `kernel_shape` that is not the filter's".into());
        }
        Ok(MovedWindows { kernel, strides: pair("strides")?, dilations: pair("dilations")?, pads })
    }

    /// The number of windows along an axis of an image.
    fn count(&self, axis: usize, size: u64) -> Option<u64> {
        let covered = self.kernel[axis].checked_sub(1)?.checked_mul(self.dilations[axis])?;
        let room =
            size.cast_signed() + self.pads[axis] + self.pads[2 + axis] - 1 - i64::try_from(covered).ok()?;
        let stride = self.strides[axis].cast_signed();
        (room >= 0 && stride > 0).then(|| (room / stride).unsigned_abs() + 1)
    }

    /// The position of each filter element in each window along an axis, without offsets, as `[elements of
    /// the filter, windows]`.
    fn places(
        &self,
        call: &mut NodeConversion<'_, '_>,
        axis: usize,
        windows: [u64; 2],
        like: Value,
    ) -> Result<Value, Refusal> {
        let along = |index: u64, sizes: [u64; 2]| if axis == 0 { index / sizes[1] } else { index % sizes[1] };
        let (elements, count) = (self.kernel.iter().product::<u64>(), windows.iter().product::<u64>());
        let inside = |index| (along(index, self.kernel) * self.dilations[axis]) as f64;
        let inside: Vec<f64> = (0..elements).map(inside).collect();
        let first = |index| (along(index, windows) * self.strides[axis]) as f64 - self.pads[axis] as f64;
        let first: Vec<f64> = (0..count).map(first).collect();
        let inside = call.numbers_like(&inside, &[elements, 1], like)?;
        let first = call.numbers_like(&first, &[1, count], like)?;
        call.two("nn.add", inside, first)
    }
}

/// The greatest number of filter elements times windows: their positions are a constant.
const MOST_PLACES: u64 = 1 << 24;

/// The sizes of operands, results and intermediate values: none of them is 0, and all products are in range.
struct MovedSizes {
    batch: u64,
    image: [u64; 2],
    outputs: u64,
    /// Input channels of an element of the result.
    each: u64,
    groups: u64,
    /// The number of groups of channels with offsets of their own.
    fields: u64,
    /// Channels of such a group.
    part: u64,
    windows: [u64; 2],
    /// Elements of the filter in a channel.
    elements: u64,
    /// Windows.
    count: u64,
}

impl MovedSizes {
    fn of(
        call: &NodeConversion<'_, '_>,
        [x, filter, offsets]: [Value; 3],
    ) -> Result<(MovedSizes, MovedWindows), Refusal> {
        let (x, filter) = (call.shape(x)?, call.shape(filter)?);
        let (&[batch, channels, height, width], &[outputs, each, rows, columns]) = (&x[..], &filter[..])
        else {
            return Err("an image or a filter of other than four axes".into());
        };
        if x.contains(&0) || filter.contains(&0) {
            return Err("an image or a filter without elements".into());
        }
        let size = |name: &str| -> Result<u64, Refusal> {
            let size = u64::try_from(call.node.int(name)?.unwrap_or(1)).ok().filter(|size| *size > 0);
            size.ok_or_else(|| format!("`{name}` is no size").into())
        };
        let (groups, fields) = (size("group")?, size("offset_group")?);
        let moved = MovedWindows::of(call, [rows, columns])?;
        let along = |axis: usize, size: u64| {
            moved.count(axis, size).ok_or_else(|| Refusal::from("a filter larger than the image"))
        };
        let windows = [along(0, height)?, along(1, width)?];
        let elements = rows * columns;
        if elements > MOST_PLACES || windows[0].saturating_mul(windows[1]) > MOST_PLACES {
            return Err(format!("a filter or a result of more than {MOST_PLACES} places").into());
        }
        let disagree = || Refusal::from("channels, groups and offsets that do not agree");
        let all = fields.checked_mul(2 * elements).ok_or_else(disagree)?;
        let is_right =
            each.checked_mul(groups) == Some(channels) && outputs % groups == 0 && channels % fields == 0;
        if !is_right || call.shape(offsets)? != [batch, all, windows[0], windows[1]] {
            return Err(disagree());
        }
        let image = [height, width];
        let part = channels / fields;
        let count = windows[0] * windows[1];
        Ok((
            MovedSizes { batch, image, outputs, each, groups, fields, part, windows, elements, count },
            moved,
        ))
    }

    /// The elements read by the filter in each image, as `[batch * fields, elements, count, part]`.
    fn read(
        &self,
        call: &mut NodeConversion<'_, '_>,
        moved: &MovedWindows,
        [x, offsets]: [Value; 2],
    ) -> Result<Value, Refusal> {
        let MovedSizes { batch, image: [height, width], fields, part, elements, count, .. } = *self;
        let offsets = call.reshape(offsets, &[batch * fields, elements, 2, count])?;
        let line = call.indices_along(Dim::Known(batch * fields), 0, 3)?;
        let first = call.with_number("nn.mul", line, (height * width) as f64)?;
        let mut taps = vec![Tap { index: first, weight: None, exists: None }];
        for (axis, (size, inside)) in [(height, width), (width, 1)].into_iter().enumerate() {
            let offset = call.part(offsets, 2, Dim::Known(axis as u64), Dim::Known(1))?;
            let offset = call.reshape(offset, &[batch * fields, elements, count])?;
            let undeformed = moved.places(call, axis, self.windows, offset)?;
            let places = call.two("nn.add", offset, undeformed)?;
            let along = ImageAxis::of_pixels(size).taps_at(call, places, "linear")?;
            taps = crossed(call, &taps, &along, inside)?;
        }
        let images = call.reshape(x, &[batch * fields, part, height * width])?;
        let channels_last = call.transposed(images, &[0, 2, 1])?;
        let pixels = call.reshape(channels_last, &[batch * fields * height * width, part])?;
        let mut sum = None;
        for tap in taps {
            let term = tap.read(call, pixels)?;
            sum = Some(sum.map_or(Ok(term), |sum| call.two("nn.add", sum, term))?);
        }
        sum.ok_or_else(|| "nothing is read".into())
    }
}

/// DeformConv.
pub(crate) fn deformed_convolution(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, filter, offsets) = (call.operand(0)?, call.operand(1)?, call.operand(2)?);
    let (sizes, moved) = MovedSizes::of(call, [x, filter, offsets])?;
    let MovedSizes { batch, outputs, each, groups, fields, windows, elements, count, .. } = sizes;
    let mut read = sizes.read(call, &moved, [x, offsets])?;
    if let Some(mask) = call.optional(4) {
        let mask = call.reshape(mask, &[batch * fields, elements, count, 1])?;
        read = call.two("nn.mul", read, mask)?;
    }
    // The channels of all groups are contiguous, each with its elements.
    let read = call.transposed(read, &[0, 3, 1, 2])?;
    let read = call.reshape(read, &[batch, groups, each * elements, count])?;
    let filter = call.reshape(filter, &[1, groups, outputs / groups, each * elements])?;
    let y = call.two("nn.matmul", filter, read)?;
    let mut y = call.reshape(y, &[batch, outputs, windows[0], windows[1]])?;
    if let Some(bias) = call.optional(3) {
        let bias = call.reshape(bias, &[1, outputs, 1, 1])?;
        y = call.two("nn.add", y, bias)?;
    }
    Ok(vec![y])
}
