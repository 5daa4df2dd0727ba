//! Sizes of sliding windows, and the rows of pooling.

use super::{LAYOUT, attr};
use crate::attrs::AttrData;
use crate::body::OpRef;
use crate::dims::SizeArithmetic;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    AttrDef, AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Traits, TypeClass,
};
use crate::types::Dim;

/// A sliding window over an image, with all defaults filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlidingWindow {
    /// Rows and columns of the window.
    pub kernel: [u64; 2],
    /// Distance between neighbouring windows.
    pub strides: [u64; 2],
    /// Padding above, left, below, right.
    pub pads: [u64; 4],
    /// Distance between neighbouring elements of the window.
    pub dilations: [u64; 2],
    /// The rounding of the number of windows.
    pub rounding: Rounding,
}

/// The rounding of the number of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// A window that does not fit is dropped.
    Down,
    /// A window that begins inside the image (or its left padding) counts.
    Up,
}

impl SlidingWindow {
    /// The height of the window in rows, with the gaps between its elements.
    pub fn extent(&self) -> u64 {
        (self.kernel[0] - 1) * self.dilations[0] + 1
    }

    /// Whether each window reaches into an image of any number of rows, except of none: no window lies wholly
    /// in the padding above or below.
    pub fn reaches_rows(&self) -> bool {
        self.pads[0].max(self.pads[2]) < self.extent()
    }

    /// Whether no window fits into an image without rows.
    pub fn needs_rows(&self) -> bool {
        self.pads[0] + self.pads[2] < self.extent()
    }

    /// The number of windows that fit along `axis` (0: height, 1: width) of an image of `size` elements; none
    /// if no window does.
    pub fn count(&self, axis: usize, size: u64) -> Option<u64> {
        let extent = (self.kernel[axis].checked_sub(1)?).checked_mul(self.dilations[axis])?.checked_add(1)?;
        let (before, after) = (self.pads[axis], self.pads[axis + 2]);
        let padded = size.checked_add(before)?.checked_add(after)?;
        let room = padded.checked_sub(extent)?;
        let stride = self.strides[axis];
        let count = match self.rounding {
            Rounding::Down => room.checked_div(stride)? + 1,
            Rounding::Up => {
                let count = room.checked_add(stride)?.checked_sub(1)?.checked_div(stride)? + 1;
                count - u64::from((count - 1) * stride >= size + before)
            }
        };
        Some(count)
    }

    fn from_lists(
        kernel: &[i64],
        strides: &[i64],
        pads: &[i64],
        dilations: &[i64],
        rounding: Rounding,
    ) -> Result<SlidingWindow, InferError> {
        let window = SlidingWindow {
            kernel: sizes("kernel", kernel, 1)?,
            strides: sizes("strides", strides, 1)?,
            pads: sizes("pads", pads, 0)?,
            dilations: sizes("dilations", dilations, 1)?,
            rounding,
        };
        Ok(window)
    }
}

/// A window in type inference: its padding may depend on named sizes.
pub(super) struct Sliding {
    /// The window, with padding 0 if that is not a number.
    window: SlidingWindow,
    pads: [Dim; 4],
}

impl Sliding {
    /// [`SlidingWindow::count`] for a size of an image; none if no window fits, for any values of the
    /// symbols.
    fn count_of(&self, sizes: SizeArithmetic<'_>, axis: usize, size: Dim) -> Option<Dim> {
        let window = &self.window;
        let extent = (window.kernel[axis] as i64 - 1) * window.dilations[axis] as i64 + 1;
        let (before, after) = (self.pads[axis], self.pads[axis + 2]);
        if let (Dim::Known(size), Dim::Known(before), Dim::Known(after)) = (size, before, after) {
            let mut window = *window;
            (window.pads[axis], window.pads[axis + 2]) = (before, after);
            return window.count(axis, size).map(Dim::Known);
        }
        let padded = sizes.add(size, before);
        let room = sizes.offset(sizes.add(padded, after), -extent);
        if sizes.is_at_most(room, -1) {
            return None;
        }
        let stride = Dim::Known(window.strides[axis]);
        let last = match window.rounding {
            Rounding::Down => sizes.floor_div(room, stride),
            // The last window begins inside the image or its left padding.
            Rounding::Up if sizes.is_at_most(after, extent - 1) => {
                let up = sizes.floor_div(sizes.offset(room, window.strides[axis] as i64 - 1), stride);
                sizes.min(up, sizes.floor_div(sizes.offset(padded, -1), stride))
            }
            Rounding::Up => Dim::Unknown,
        };
        Some(sizes.offset(last, 1))
    }
}

fn sizes<const N: usize>(name: &str, values: &[i64], least: i64) -> Result<[u64; N], InferError> {
    let wrong = || InferError(format!("`{name}` is {values:?}, not {N} numbers of at least {least}"));
    let values: &[i64; N] = values.try_into().map_err(|_| wrong())?;
    if values.iter().any(|value| *value < least || *value > i64::from(u32::MAX)) {
        return Err(wrong());
    }
    Ok(values.map(|value| value as u64))
}

/// The window of a convolution or pool; none if its attributes are malformed.
pub fn window_of(op: OpRef<'_>) -> Option<SlidingWindow> {
    let kernel = match op.ints("kernel") {
        Some(kernel) => kernel,
        None => op.operand_shape(1)?.get(2..4)?.iter().map(|size| *size as i64).collect(),
    };
    let rounding = if op.attr("ceil").is_some() { Rounding::Up } else { Rounding::Down };
    let dilations = op.ints("dilations").unwrap_or(vec![1, 1]);
    SlidingWindow::from_lists(&kernel, &op.ints("strides")?, &op.ints("pads")?, &dilations, rounding).ok()
}

/// The window of an inference rule; `kernel` is given by an attribute, or is the filter's.
pub(super) fn infer_window(input: &InferInput<'_>, kernel: &[i64]) -> Result<Sliding, InferError> {
    let rounding = if input.attr("ceil").is_some() { Rounding::Up } else { Rounding::Down };
    let dilations = match input.def.attr("dilations") {
        Some(_) => input.ints("dilations")?,
        None => vec![1, 1],
    };
    let strides = input.ints("strides")?;
    let named = input.attr("pads").map(|pads| input.ctx.attr_data(pads));
    if let Some(AttrData::Dims(pads)) = named {
        let pads = <[Dim; 4]>::try_from(&pads[..]).ok().filter(|pads| !pads.contains(&Dim::Unknown));
        let pads = pads.ok_or("`pads` is not 4 sizes")?;
        let window = SlidingWindow::from_lists(kernel, &strides, &[0; 4], &dilations, rounding)?;
        return Ok(Sliding { window, pads });
    }
    let window = SlidingWindow::from_lists(kernel, &strides, &input.ints("pads")?, &dilations, rounding)?;
    Ok(Sliding { window, pads: window.pads.map(Dim::Known) })
}

/// The shape of the result of sliding a window over operand 0, with `channels` channels.
pub(super) fn slide(input: &InferInput<'_>, window: &Sliding, channels: Dim) -> Result<Vec<Dim>, InferError> {
    let image = input.shape(0)?;
    let [batch, height, width] = match (image, input.text("layout")) {
        (&[n, h, w, _], Some("NHWC")) => [n, h, w],
        (&[n, _, h, w], _) => [n, h, w],
        _ => return Err(format!("operand 0 has {} axes, expected 4", image.len()).into()),
    };
    let slide = |axis: usize, size: Dim| {
        window.count_of(input.sizes(), axis, size).ok_or_else(|| {
            let size = input.sizes().text(size);
            let kernel = window.window.kernel;
            InferError(format!("a window of {kernel:?} does not fit an image of size {size}"))
        })
    };
    let (height, width) = (slide(0, height)?, slide(1, width)?);
    Ok(match input.text("layout") {
        Some("NHWC") => vec![batch, height, width, channels],
        _ => vec![batch, channels, height, width],
    })
}

fn infer_pool(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let window = infer_window(input, &input.ints("kernel")?)?;
    let image = input.shape(0)?;
    let channel_axis = if input.text("layout") == Some("NHWC") { 3 } else { 1 };
    let channels = *image.get(channel_axis).ok_or("operand 0 has too few axes, expected 4")?;
    Ok(vec![input.tensor(slide(input, &window, channels)?, input.elem(0)?)])
}

pub(super) const STRIDES: AttrDef = attr(
    "strides",
    AttrKind::Ints,
    Presence::DefaultInts(&[1, 1]),
    "Distance between neighbouring windows: rows, columns.",
);
pub(super) const PADS: AttrDef =
    attr("pads", AttrKind::Sizes, Presence::DefaultInts(&[0, 0, 0, 0]), "Padding above, left, below, right.");
pub(super) const DILATIONS: AttrDef = attr(
    "dilations",
    AttrKind::Ints,
    Presence::DefaultInts(&[1, 1]),
    "Distance between neighbouring elements of a window: rows, columns.",
);
const KERNEL: AttrDef = attr("kernel", AttrKind::Ints, Presence::Required, "Rows and columns of a window.");
const CEIL: AttrDef = attr(
    "ceil",
    AttrKind::Unit,
    Presence::Optional,
    "If there, a window that begins inside the image or its left padding counts even if it does not fit.",
);

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.max_pool2d",
        doc: "The largest element of each window; padding never is, and NaN is if there is one. A window \
              wholly in padding has the least number of its type.",
        example: "%1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>",
        operands: &[OperandDef::one("input", TypeClass::FloatOrByteTensor)],
        results: &[OperandDef::one("result", TypeClass::FloatOrByteTensor)],
        attrs: &[KERNEL, STRIDES, PADS, DILATIONS, CEIL, LAYOUT],
        infer: Infer::Rule(infer_pool),
        traits: Traits::PURE.union(Traits::WINDOW).union(Traits::SELECTS),
        kind: Kind::Kernel("max_pool2d"),
        eval: Some(nn::max_pool2d),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.avg_pool2d",
        doc: "The mean of each window.",
        example: "%1 = nn.avg_pool2d %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>",
        operands: &[OperandDef::one("input", TypeClass::FloatTensor)],
        results: &[OperandDef::one("result", TypeClass::FloatTensor)],
        attrs: &[
            KERNEL,
            STRIDES,
            PADS,
            CEIL,
            attr(
                "count_include_pad",
                AttrKind::Unit,
                Presence::Optional,
                "If there, padding counts as zeros (but not what `ceil` adds); else the mean is over the image only.",
            ),
            LAYOUT,
        ],
        infer: Infer::Rule(infer_pool),
        traits: Traits::PURE.union(Traits::WINDOW),
        kind: Kind::Kernel("avg_pool2d"),
        eval: Some(nn::avg_pool2d),
        ..OpDef::BLANK
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of up to 3 rows with all dilations, strides, paddings and roundings up to 4.
    fn windows() -> impl Iterator<Item = SlidingWindow> {
        (0..3 * 2 * 4 * 5 * 5 * 2).map(|number: u64| SlidingWindow {
            kernel: [1 + number % 3, 1],
            dilations: [1 + number / 3 % 2, 1],
            strides: [1 + number / 6 % 4, 1],
            pads: [number / 24 % 5, 0, number / 120 % 5, 0],
            rounding: if number / 600 == 0 { Rounding::Down } else { Rounding::Up },
        })
    }

    #[test]
    fn windows_that_reach_rows_do_so_in_images_of_any_height() {
        let mut reach = 0;
        for window in windows() {
            // The rows of the image between the first and the last element of a window.
            let is_inside = |rows: u64, index: u64| {
                let (first, pad) = (index * window.strides[0], window.pads[0]);
                first + window.extent() > pad && first < pad + rows
            };
            let all_inside = |rows: u64| {
                window.count(0, rows).is_none_or(|count| (0..count).all(|index| is_inside(rows, index)))
            };
            if window.reaches_rows() {
                assert!((1..9).all(all_inside), "{window:?}");
                reach += 1;
            }
            assert_eq!(window.needs_rows(), window.count(0, 0).is_none(), "{window:?}");
        }
        assert!(reach > 100);
    }

    #[test]
    fn windows_that_may_lie_in_the_padding_do_not_reach_rows() {
        let window = |pads, rounding| SlidingWindow {
            kernel: [3, 1],
            dilations: [1, 1],
            strides: [1, 1],
            pads,
            rounding,
        };
        assert!(window([2, 0, 2, 0], Rounding::Down).reaches_rows());
        assert!(!window([3, 0, 0, 0], Rounding::Down).reaches_rows());
        assert!(!window([0, 0, 3, 0], Rounding::Down).reaches_rows());
        assert!(!window([0, 9, 3, 9], Rounding::Up).reaches_rows());
    }
}
