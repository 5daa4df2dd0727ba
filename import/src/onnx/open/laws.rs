//! Propagation of data-dependent axes: which operations map each slice of an operand to one slice of their
//! result, and along which axis.
//!
//! ```text
//! x: [B, 3], open along 0
//! transpose(x): open along 1    matmul(x, w): open along 0    reduce(x, axis 1): open along 0
//! ```
//!
//! Sizes count as equal only if that is proved: a bound that might equal another size by chance opens no
//! axis. Nothing here depends on the padding; an operation whose result depends on it has no law.

use ir::body::OpRef;
use ir::dims::SizeArithmetic;
use ir::opdef::{Contract, View};
use ir::{Dim, Kind, Traits, Value};

use super::{OpenAxes, OpenAxis};

/// The open axis of the result of an operation with an open operand.
pub(super) fn through(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    match at.kind() {
        _ if at.has(Traits::WINDOW) => image(axes, at),
        Kind::Elementwise(_) => elements(axes, at),
        Kind::View(View::OfOperand(_)) => viewed(axes, at),
        Kind::View(View::OfResult(_)) => joined(axes, at),
        Kind::Reduce(_) => folded(axes.of(at.operand(0))?, &at.ints("axes")?, at),
        Kind::Contract(Contract::Matmul | Contract::QuantizedMatmul) => product(axes, at),
        Kind::Kernel("arg_max" | "arg_min") => folded(axes.of(at.operand(0))?, &[at.int("axis")?], at),
        Kind::Kernel("softmax" | "cum_sum" | "cum_prod") => along(axes, at),
        Kind::Kernel("batch_norm") => along(axes, at),
        Kind::Kernel("pad") => padded(axes, at),
        Kind::Kernel("gather") => gathered(axes, at),
        Kind::Kernel("lookup") => axes.of(at.operand(0)).filter(|_| is_alone(axes, at)),
        Kind::Kernel("roi_align") => boxed(axes, at),
        _ => None,
    }
}

/// The sizes of a value.
pub(super) fn shape<'a>(at: OpRef<'a>, value: Value) -> &'a [Dim] {
    at.ctx.type_data(at.body.ty(value)).tensor_shape().unwrap_or(&[])
}

fn rank(at: OpRef<'_>, value: Value) -> usize {
    shape(at, value).len()
}

/// Elementwise: the other operands have one element for all slices, or the same slices.
fn elements(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    let result = rank(at, at.result(0));
    let operands = || (0..at.operand_count()).map(|index| at.operand(index));
    let mut found = None;
    for operand in operands() {
        let Some(open) = axes.of(operand) else { continue };
        let open = OpenAxis { axis: open.axis + result - rank(at, operand), ..open };
        if found.replace(open).is_some_and(|other| other != open) {
            return None;
        }
    }
    let found = found?;
    let has_slices = |operand: Value| {
        let own = shape(at, operand);
        let axis = (found.axis + own.len()).checked_sub(result);
        axis.is_some_and(|axis| own[axis] != Dim::Known(1))
    };
    operands().all(|operand| axes.of(operand).is_some() || !has_slices(operand)).then_some(found)
}

/// Views that keep the whole axis.
fn viewed(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    let OpenAxis { axis, count } = axes.of(at.operand(0))?;
    let from = shape(at, at.operand(0));
    let to = shape(at, at.result(0));
    let sizes = SizeArithmetic(at.ctx);
    let is_whole = |axis: usize, found: usize| sizes.are_equal(from[axis], to[found]);
    let found = match at.name() {
        "nn.transpose" => at.ints("permutation")?.iter().position(|from| *from == axis as i64)?,
        "nn.slice" => {
            let stride = at.ints("strides").map_or(1, |strides| strides[axis]);
            Some(axis).filter(|_| stride == 1)?
        }
        "nn.broadcast" => axis + to.len() - from.len(),
        "nn.bitcast" => axis,
        // A reshape: the matching axis has the same number of elements before it. If its size is 1, there may
        // be several such axes.
        _ => {
            let before = sizes.product(&from[..axis]);
            let is_place = |found: &usize| sizes.are_equal(sizes.product(&to[..*found]), before);
            let is_clear = from[axis] != Dim::Known(1) && before != Dim::Known(0);
            (0..to.len()).filter(|found| is_clear && is_whole(axis, *found)).find(is_place)?
        }
    };
    is_whole(axis, found).then_some(OpenAxis { axis: found, count })
}

/// A concatenation along another axis: all operands have the same slices.
fn joined(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    let open = axes.of(at.operand(0))?;
    let is_same = (0..at.operand_count()).all(|index| axes.of(at.operand(index)) == Some(open));
    (is_same && at.int("axis")? != open.axis as i64).then_some(open)
}

/// A reduction of other axes.
fn folded(open: OpenAxis, axes: &[i64], at: OpRef<'_>) -> Option<OpenAxis> {
    let before = axes.iter().filter(|axis| **axis < open.axis as i64).count();
    let gone = if at.attr("keepdims").is_some() { 0 } else { before };
    (!axes.contains(&(open.axis as i64))).then_some(OpenAxis { axis: open.axis - gone, ..open })
}

/// A scan along another axis, of operand 0 only.
fn along(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    let open = axes.of(at.operand(0)).filter(|_| is_alone(axes, at))?;
    (at.int("axis")? != open.axis as i64).then_some(open)
}

fn is_alone(axes: &OpenAxes, at: OpRef<'_>) -> bool {
    (1..at.operand_count()).all(|index| axes.of(at.operand(index)).is_none())
}

/// Images are independent.
fn image(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    axes.of(at.operand(0)).filter(|open| open.axis == 0 && is_alone(axes, at))
}

/// Padding of other axes.
fn padded(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    let open = axes.of(at.operand(0))?;
    let is_none = |name: &str| at.ints(name).is_some_and(|sizes| sizes.get(open.axis) == Some(&0));
    (is_none("low") && is_none("high")).then_some(open)
}

/// Rows or columns of a product, or whole products, but not the axis of its sums.
fn product(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    let sides = [at.operand(0), at.operand(1)];
    let ranks = sides.map(|side| rank(at, side));
    let result = rank(at, at.result(0));
    // The position of a side's own axis and its batches in the result, if it has an own axis.
    let batches = result - usize::from(ranks[0] > 1) - usize::from(ranks[1] > 1);
    let own = [(ranks[0] > 1).then_some(batches), (ranks[1] > 1).then(|| result - 1)];
    let mut found = None;
    for (index, name) in ["transpose_a", "transpose_b"].into_iter().enumerate() {
        let Some(open) = axes.of(sides[index]) else { continue };
        let rank = ranks[index];
        let is_turned = at.attr(name).is_some();
        let outer = rank.saturating_sub(2);
        let axis = match open.axis.checked_sub(outer) {
            None => batches + open.axis - outer,
            Some(_) if rank == 1 => return None,
            Some(inner) if (inner == 0) == ((index == 0) != is_turned) => own[index]?,
            Some(_) => return None,
        };
        let other = sides[1 - index];
        let batch = (axis + ranks[1 - index].saturating_sub(2)).checked_sub(batches);
        let has_slices =
            batch.filter(|_| axis < batches).is_some_and(|axis| shape(at, other)[axis] != Dim::Known(1));
        if has_slices && axes.of(other).is_none() {
            return None;
        }
        let open = OpenAxis { axis, ..open };
        if found.replace(open).is_some_and(|before| before != open) {
            return None;
        }
    }
    let has_bias = at.operand_count() > 2;
    found.filter(|open| !has_bias || (open.axis != result - 1 && axes.of(at.operand(2)).is_none()))
}

/// Slices along another axis, or by indices with zeros as padding.
fn gathered(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    let axis = usize::try_from(at.int("axis")?).ok()?;
    let indices = rank(at, at.operand(1));
    match (axes.of(at.operand(0)), axes.of(at.operand(1))) {
        (None, Some(open)) => {
            axes.has_zeros(at.operand(1)).then_some(OpenAxis { axis: axis + open.axis, ..open })
        }
        (Some(open), None) if open.axis < axis => Some(open),
        (Some(open), None) if open.axis > axis => Some(OpenAxis { axis: open.axis + indices - 1, ..open }),
        _ => None,
    }
}

/// Boxes are independent. Indices of images have zeros as padding; so have the boxes, since a run would stop
/// for some values.
fn boxed(axes: &OpenAxes, at: OpRef<'_>) -> Option<OpenAxis> {
    let [x, boxes, images] = [0, 1, 2].map(|index| at.operand(index));
    let open = axes.of(boxes).filter(|open| open.axis == 0 && axes.of(images) == Some(*open))?;
    let is_valid = axes.of(x).is_none() && [boxes, images].iter().all(|value| axes.has_zeros(*value));
    is_valid.then_some(open)
}
