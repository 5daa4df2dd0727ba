//! Laws about the taps of dilated convolutions, some of which meet only padding if the image is no larger
//! than the distance of taps. Winograd's algorithm, whose results differ in the last bits, is not worth its
//! time for such images, with or without these taps. A convolution without dilation may be computed by it;
//! that keeps its taps, so that it is computed in one way at all sizes.

use std::ops::Range;

use crate::rewrite::{LawMatch, Rule, Term, Terms};

const WITHOUT_OUTER_TAPS: &str =
    "a dilated convolution without the outer rows and columns of w that meet only padding";

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("outer-taps", "(nn.conv2d ?x $w)", WITHOUT_OUTER_TAPS, inner_taps).near(),
    Rule::computed("outer-taps-with-bias", "(nn.conv2d ?x $w $b)", WITHOUT_OUTER_TAPS, inner_taps).near(),
];

/// An axis of a sliding window.
struct WindowAxis {
    /// Elements of the image.
    image: i64,
    /// Positions of the window.
    count: i64,
    stride: i64,
    dilation: i64,
    /// Padding before the image.
    pad: i64,
}

impl WindowAxis {
    /// Whether a tap meets an element of the image in some position.
    fn meets_image(&self, tap: i64) -> bool {
        let first = tap * self.dilation - self.pad;
        // The first position that is not before the image.
        let position = (-first).max(0).unsigned_abs().div_ceil(self.stride.unsigned_abs()).cast_signed();
        position < self.count && first + position * self.stride < self.image
    }

    /// The taps from the first to the last one that meets the image, if there is one.
    fn inner(&self, taps: i64) -> Option<Range<i64>> {
        let first = (0..taps).find(|tap| self.meets_image(*tap))?;
        let last = (first..taps).rfind(|tap| self.meets_image(*tap))?;
        Some(first..last + 1)
    }
}

/// A convolution by the inner part of its filter, with as much less padding.
fn inner_taps(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (ctx, conv) = (terms.ctx(), &found.ops[0]);
    let [x, w] = [0, 1].map(|index| conv.operands[index]);
    let input = terms.input(conv);
    let [strides, dilations, mut pads] =
        ["strides", "dilations", "pads"].map(|name| input.ints(name).unwrap_or_default());
    if dilations.iter().all(|dilation| *dilation == 1) {
        return None;
    }
    let rows = if input.text("layout") == Some("NHWC") { 1 } else { 2 };
    let mut sizes = terms.shape(w)?;
    let mut starts = vec![0; sizes.len()];
    for axis in 0..2 {
        let image = terms.dims(x)?.get(rows + axis)?.known()?.cast_signed();
        let taps = sizes[axis + 2].cast_signed();
        let (stride, dilation) = (*strides.get(axis)?, *dilations.get(axis)?);
        let [pad, pad_after] = [*pads.get(axis)?, *pads.get(axis + 2)?];
        let count = (image + pad + pad_after - dilation * (taps - 1) - 1).div_euclid(stride) + 1;
        let inner = WindowAxis { image, count, stride, dilation, pad }.inner(taps)?;
        pads[axis] -= inner.start * dilation;
        pads[axis + 2] -= (taps - inner.end) * dilation;
        if pads[axis].min(pads[axis + 2]) < 0 {
            return None;
        }
        starts[axis + 2] = inner.start;
        sizes[axis + 2] = (inner.end - inner.start).unsigned_abs();
    }
    if terms.shape(w)? == sizes {
        return None;
    }
    let sizes: Vec<i64> = sizes.into_iter().map(u64::cast_signed).collect();
    let mut operands = conv.operands.clone();
    let window = [("starts", ctx.ints_attr(&starts)), ("sizes", ctx.ints_attr(&sizes))];
    operands[1] = terms.make("nn.slice", &[w], &window)?;
    let properties = ctx.dict_set(conv.properties, ctx.ident("pads"), ctx.ints_attr(&pads));
    terms.make_op(conv.name, &operands, properties)
}
