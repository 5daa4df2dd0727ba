//! Laws about convolutions of images with gaps, which is what transposed convolutions are. Along an axis,
//! every `gap`-th element of the result meets the same taps of the filter, and zeros otherwise. These
//! elements are a phase: the convolution of the image without gaps by these taps.
//!
//! ```text
//! image x 0 y 0 z, filter a b c    =>    phases b*x, b*y, b*z and a*x + c*y, a*y + c*z
//! ```
//!
//! Source: Shi et al. 2016, "Is the deconvolution layer the same as a convolutional layer?".

use ir::Dim;
use ir::dims::SizeArithmetic;

use crate::constants::filled;
use crate::rewrite::{LawCondition, LawMatch, Matched, Rule, Term, Terms};

const PHASES: &str = "for each phase the convolution of x by the taps that meet it, side by side";

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("conv-of-gaps", "(nn.conv2d (nn.slice (nn.reshape (nn.pad ?x))) ?w)",
        PHASES, by_phases).near().only(CONDITIONS),
    Rule::computed("conv-of-gaps-with-bias", "(nn.conv2d (nn.slice (nn.reshape (nn.pad ?x))) ?w ?b)",
        PHASES, by_phases).near().only(CONDITIONS),
];

// A filter that moves by more than one element gives a result of another size, unless it has one element.
#[rustfmt::skip]
const CONDITIONS: &[LawCondition] = &[
    LawCondition { doc: "the gaps are zeros", holds: |terms, found| {
        let value = terms.input(&found.ops[3]).attr("value").and_then(|value| terms.ctx().float_value(value));
        value.is_none_or(|value| value == 0.0)
    } },
    LawCondition { doc: "the slice begins with an element of x, and leaves none out", holds: |terms, found| {
        let slice = terms.input(&found.ops[1]);
        let [starts, strides] = ["starts", "strides"].map(|name| slice.ints(name));
        starts.is_ok_and(|starts| starts.iter().all(|start| *start == 0))
            && strides.unwrap_or_default().iter().all(|stride| *stride == 1)
    } },
];

/// A filter that moves over an image with gaps, along the axis of the gaps.
struct GapAxis {
    /// 2 for rows, 3 for columns.
    axis: usize,
    /// The distance between two elements of the image without gaps.
    gap: i64,
    /// The elements of the image without gaps.
    size: Dim,
    /// The taps of the filter.
    taps: i64,
    dilation: i64,
    /// The padding before the image.
    low: i64,
    /// The elements of a phase beyond `size`.
    more: i64,
}

/// The window of a phase over the image without gaps.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Window {
    taps: i64,
    dilation: i64,
    /// Padding before and after the image; numbers below 0 cut elements off.
    pads: [i64; 2],
}

/// A phase: its window, and its taps of the filter.
struct Phase {
    window: Window,
    first: i64,
    step: i64,
}

impl GapAxis {
    /// The phase of the elements `number`, `number + gap`, ... of the result; none if they meet only zeros.
    /// Element `t` of the image is at `gap * t` with gaps, so tap `k` meets one for `number` if `gap` divides
    /// `number + k * dilation - low`.
    fn phase(&self, number: i64) -> Option<Phase> {
        let at = |tap: i64| number + tap * self.dilation - self.low;
        let meeting: Vec<i64> = (0..self.taps).filter(|tap| at(*tap) % self.gap == 0).collect();
        let first = *meeting.first()?;
        let step = meeting.get(1).map_or(1, |second| second - first);
        let taps = meeting.len() as i64;
        let dilation = if taps > 1 { step * self.dilation / self.gap } else { 1 };
        let before = -at(first) / self.gap;
        let after = self.more - before + (taps - 1) * dilation;
        Some(Phase { window: Window { taps, dilation, pads: [before, after] }, first, step })
    }
}

/// The axis of the gaps: rows or columns of an image whose channels come first.
fn gap_axis(terms: &dyn Terms<'_>, found: &LawMatch) -> Option<usize> {
    let high = terms.input(&found.ops[3]).ints("high").ok()?;
    let axis = high.iter().position(|size| *size != 0)?.checked_sub(1)?;
    (high.len() == 5 && (2..4).contains(&axis)).then_some(axis)
}

/// The gaps of an image, if they are made so: `x` has an axis of one element after that of the gaps, padding
/// fills it with zeros, the reshape joins both axes, and the slice cuts off zeros after the last element.
fn gaps_of(terms: &dyn Terms<'_>, found: &LawMatch) -> Option<GapAxis> {
    let [conv, slice, _, pad] = &found.ops[..] else { return None };
    let axis = gap_axis(terms, found)?;
    let input = terms.input(pad);
    let [low, high] = [input.ints("low").ok()?, input.ints("high").ok()?];
    let gap = high[axis + 1] + 1;
    let is_one_axis = high.iter().enumerate().all(|(other, size)| *size == 0 || other == axis + 1);
    if gap < 2 || !is_one_axis || low.iter().any(|size| *size != 0) {
        return None;
    }
    let sizes = SizeArithmetic(terms.ctx());
    let apart = terms.dims(pad.operands[0])?;
    let joined = sizes.mul(apart[axis], Dim::Known(gap.unsigned_abs()));
    let with_gaps = |size: Dim| [&apart[..axis], &[size], &apart[axis + 2..]].concat();
    if apart[axis + 1] != Dim::Known(1) || terms.dims(slice.operands[0])? != with_gaps(joined) {
        return None;
    }
    let kept = terms.dims(conv.operands[0])?;
    let cut = (0..gap).find(|cut| kept == with_gaps(sizes.offset(joined, -cut)))?;
    let input = terms.input(conv);
    if input.text("layout") == Some("NHWC") {
        return None;
    }
    let pads = input.ints("pads").ok()?;
    let dilation = input.ints("dilations").ok()?[axis - 2];
    let [low, high] = [pads[axis - 2], pads[axis]];
    let taps = terms.shape(conv.operands[1])?.get(axis)?.cast_signed();
    let beyond = low + high - dilation * (taps - 1) - cut;
    let more = -(-beyond).div_euclid(gap);
    Some(GapAxis { axis, gap, size: apart[axis], taps, dilation, low, more })
}

/// The convolution of an image with gaps as those of the image without gaps, phase by phase.
fn by_phases(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (ctx, conv) = (terms.ctx(), &found.ops[0]);
    let sizes = SizeArithmetic(ctx);
    let gaps = gaps_of(terms, found)?;
    let apart = terms.dims(found.vars[0])?;
    let without = [&apart[..=gaps.axis], &apart[gaps.axis + 2..]].concat();
    let image = terms.make("nn.reshape", &[found.vars[0]], &[("shape", ctx.dims_attr(&without))])?;
    let wanted = ctx.type_data(found.ty).tensor_shape()?;
    let mut shape = wanted.to_vec();
    shape[gaps.axis] = sizes.offset(gaps.size, gaps.more);
    shape.insert(gaps.axis + 1, Dim::Known(1));
    let phases: Vec<Option<Phase>> = (0..gaps.gap).map(|number| gaps.phase(number)).collect();
    let is_stacked = gaps.axis == 3 && terms.input(conv).int("groups").unwrap_or(1) == 1;
    let window = |phase: &Option<Phase>| phase.as_ref().map(|phase| phase.window);
    let mut pieces = Vec::new();
    for phases in phases.chunk_by(|a, b| is_stacked && window(a).is_some() && window(a) == window(b)) {
        let phases: Vec<&Phase> = phases.iter().flatten().collect();
        let piece = match phases.is_empty() {
            true => only_bias(terms, conv, &shape),
            false => piece(terms, conv, &gaps, image, &phases),
        };
        pieces.push(piece?);
    }
    let beside = ctx.int_attr(gaps.axis as i64 + 1);
    let all = match pieces[..] {
        [piece] => piece,
        _ => terms.make("nn.concat", &pieces, &[("axis", beside)])?,
    };
    shape.remove(gaps.axis + 1);
    shape[gaps.axis] = sizes.mul(shape[gaps.axis], Dim::Known(gaps.gap.unsigned_abs()));
    let joined = terms.make("nn.reshape", &[all], &[("shape", ctx.dims_attr(&shape))])?;
    if wanted == shape { Some(joined) } else { sliced(terms, joined, &[0; 4], wanted, &[1; 4]) }
}

/// The phase that meets only zeros.
fn only_bias(terms: &mut dyn Terms<'_>, conv: &Matched, shape: &[Dim]) -> Option<Term> {
    let ctx = terms.ctx();
    let number = match conv.operands.get(2) {
        Some(bias) => {
            let mut sizes = [Dim::Known(1); 5];
            sizes[1] = shape[1];
            terms.make("nn.reshape", &[*bias], &[("shape", ctx.dims_attr(&sizes))])?
        }
        None => {
            let ty = ctx.tensor(&[], ctx.elem(terms.ty(conv.operands[0])));
            terms.make_constant(filled(ctx, ty, 0.0)?, ty)?
        }
    };
    terms.make("nn.broadcast", &[number], &[("shape", ctx.dims_attr(shape))])
}

/// Consecutive phases with the same window: one convolution by the filters of all. The result has an axis of
/// the phases after that of the gaps.
fn piece(
    terms: &mut dyn Terms<'_>,
    conv: &Matched,
    gaps: &GapAxis,
    image: Term,
    phases: &[&Phase],
) -> Option<Term> {
    let ctx = terms.ctx();
    let filter = conv.operands[1];
    let window = phases.first()?.window;
    let mut operands = conv.operands.clone();
    operands[0] = cut(terms, image, gaps, window)?;
    let mut filters = Vec::new();
    for phase in phases {
        filters.push(taps_of(terms, filter, gaps.axis, phase)?);
    }
    operands[1] = stacked(terms, &filters)?;
    if let Some(bias) = operands.get_mut(2) {
        *bias = stacked(terms, &vec![*bias; phases.len()])?;
    }
    let mut pads = terms.input(conv).ints("pads").ok()?;
    pads[gaps.axis - 2] = window.pads[0].max(0);
    pads[gaps.axis] = window.pads[1].max(0);
    let mut properties = ctx.dict_set(conv.properties, ctx.ident("pads"), ctx.ints_attr(&pads));
    if window.dilation != gaps.dilation {
        let mut dilations = terms.input(conv).ints("dilations").ok()?;
        dilations[gaps.axis - 2] = window.dilation;
        properties = ctx.dict_set(properties, ctx.ident("dilations"), ctx.ints_attr(&dilations));
    }
    let result = terms.make_op(conv.name, &operands, properties)?;
    let mut shape = terms.dims(result)?.to_vec();
    let count = Dim::Known(phases.len() as u64);
    if phases.len() == 1 {
        shape.insert(gaps.axis + 1, count);
        return terms.make("nn.reshape", &[result], &[("shape", ctx.dims_attr(&shape))]);
    }
    shape[1] = *terms.dims(filter)?.first()?;
    shape.insert(1, count);
    let apart = terms.make("nn.reshape", &[result], &[("shape", ctx.dims_attr(&shape))])?;
    terms.make("nn.transpose", &[apart], &[("permutation", ctx.ints_attr(&[0, 2, 3, 4, 1]))])
}

/// The image without the elements that a window leaves out.
fn cut(terms: &mut dyn Terms<'_>, image: Term, gaps: &GapAxis, window: Window) -> Option<Term> {
    let [before, after] = window.pads.map(|pad| pad.min(0));
    if before == 0 && after == 0 {
        return Some(image);
    }
    let mut starts = vec![0; 4];
    starts[gaps.axis] = -before;
    let mut sizes = terms.dims(image)?.to_vec();
    if let Dim::Known(size) = gaps.size {
        size.checked_add_signed(before + after).filter(|size| *size > 0)?;
    }
    sizes[gaps.axis] = SizeArithmetic(terms.ctx()).offset(gaps.size, before + after);
    sliced(terms, image, &starts, &sizes, &[1; 4])
}

/// The taps of a phase.
fn taps_of(terms: &mut dyn Terms<'_>, filter: Term, axis: usize, phase: &Phase) -> Option<Term> {
    let mut starts = [0; 4];
    let mut strides = [1; 4];
    let mut sizes = terms.dims(filter)?.to_vec();
    starts[axis] = phase.first;
    strides[axis] = phase.step;
    sizes[axis] = Dim::Known(phase.window.taps.cast_unsigned());
    sliced(terms, filter, &starts, &sizes, &strides)
}

fn sliced(
    terms: &mut dyn Terms<'_>,
    x: Term,
    starts: &[i64],
    sizes: &[Dim],
    strides: &[i64],
) -> Option<Term> {
    let ctx = terms.ctx();
    let mut attrs = vec![("starts", ctx.ints_attr(starts)), ("sizes", ctx.dims_attr(sizes))];
    if strides.iter().any(|stride| *stride != 1) {
        attrs.push(("strides", ctx.ints_attr(strides)));
    }
    terms.make("nn.slice", &[x], &attrs)
}

/// Filters or biases one after the other.
fn stacked(terms: &mut dyn Terms<'_>, parts: &[Term]) -> Option<Term> {
    match parts {
        [part] => Some(*part),
        _ => terms.make("nn.concat", parts, &[("axis", terms.ctx().int_attr(0))]),
    }
}
