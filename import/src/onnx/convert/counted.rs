//! Conversion of shapes with data-dependent sizes: `reshape(y, [shape(x)[0], -1])` with an open axis of x.
//!
//! During the import, such a size is a symbol in expressions like any other (see
//! [`crate::onnx::open::OpenAxes::elements`]), so sizes are compared by proof; in a type it is replaced by
//! its bound.

use ir::dims::{self, SizeArithmetic};
use ir::{Dim, DimExpr, Value};

use crate::onnx::call::{NodeConversion, Refusal};
use crate::onnx::open::OpenAxis;

/// The bounds of sizes, at most one of them data-dependent, and the open axis, counted from the last one.
pub(super) fn bounds(
    call: &NodeConversion<'_, '_>,
    sizes: &[DimExpr],
) -> Result<(Vec<Dim>, Option<OpenAxis>), Refusal> {
    let mut shape = Vec::new();
    let mut open = None;
    for (axis, size) in sizes.iter().enumerate() {
        if !call.open.has_symbols(call.ctx(), *size) {
            shape.push(dims::size(call.ctx(), *size));
            continue;
        }
        let counted = call.open.counted(axis, *size).filter(|_| open.is_none());
        let (axis, bound) = counted.ok_or("sizes computed of such that depend on data")?;
        open = Some(OpenAxis { axis: sizes.len() - 1 - axis.axis, ..axis });
        shape.push(bound);
    }
    Ok((shape, open))
}

/// A value broadcast to a shape with this open axis, counted from the end: the value has size 1 there, or the
/// same size.
pub(super) fn stretched(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    shape: &[Dim],
    open: OpenAxis,
) -> Result<Value, Refusal> {
    let from = call.dims(x)?;
    let open = OpenAxis { axis: shape.len() - 1 - open.axis, ..open };
    let own = (open.axis + from.len()).checked_sub(shape.len());
    match (call.open(x), own) {
        (Some(x_open), Some(axis)) if x_open != (OpenAxis { axis, ..open }) => {
            return Err("two sizes that depend on data, of which none is known to stretch".into());
        }
        (Some(_), None) => return Err("sizes along two axes that depend on data".into()),
        (None, Some(axis)) if from[axis] != Dim::Known(1) => {
            return Err("a size that depends on data, of what has another".into());
        }
        _ => {}
    }
    let shape = call.ctx().dims_attr(shape);
    call.emit_open("nn.broadcast", &[x], &[("shape", shape)], Some(open))
}

/// Refuses a shape whose size differs from 1 at the value's data-dependent axis: they would have to be equal.
pub(super) fn expected_one(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    wanted: &[Dim],
) -> Result<(), Refusal> {
    let rank = call.rank(x)?;
    let said =
        call.open(x).and_then(|open| wanted.get((open.axis + wanted.len()).checked_sub(rank)?).copied());
    match said {
        None | Some(Dim::Known(1)) => Ok(()),
        Some(_) => Err("a size of a value that depends on data, which is to be another".into()),
    }
}

/// A range from 0 to a data-dependent size; none if the size is another one.
pub(super) fn range_of_elements(call: &mut NodeConversion<'_, '_>) -> Result<Option<Value>, Refusal> {
    let bounds = [0, 1, 2].map(|index| call.counted_sizes(index).ok().flatten());
    let [Some(start), Some(limit), Some(step)] = &bounds else { return Ok(None) };
    let (&[start], &[limit], &[step]) = (&start[..], &limit[..], &step[..]) else { return Ok(None) };
    let [start, step] = [start, step].map(|bound| call.ctx().dim_expr(bound).constant());
    let Some((open, bound)) = call.open.counted(0, limit) else { return Ok(None) };
    if (start, step) != (Some(0), Some(1)) {
        return Err("a range to a size that depends on data, but not from 0 in steps of 1".into());
    }
    let numbers = call.indices(bound)?;
    let to = call.element(call.operand(0)?);
    let attrs = [("to", call.ctx().type_attr(to))];
    Ok(Some(call.emit_open("nn.cast", &[numbers], &attrs, Some(open))?))
}

/// A new shape whose size `at` depends on data; the size is that of the reshaped value's open axis.
pub(super) fn reshape_counted(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    wanted: &[DimExpr],
    at: usize,
) -> Result<Value, Refusal> {
    let ctx = call.ctx();
    let old = call.dims(x)?;
    let sizes = SizeArithmetic(call.ctx());
    let open = call.open(x).ok_or("a new shape with a size that depends on data, of what has none")?;
    let refusal = || Refusal::from("a new shape whose sizes need not fit those that depend on data");
    let count = call.open.elements(ctx, call.builder.body, open.count, call.ranges).ok_or_else(refusal)?[0];
    let number = |axis: usize| ctx.dim_expr(wanted[axis]).constant();
    // The missing size follows from the elements inside a slice, and the other sizes from the old shape.
    let mut shape: Vec<Option<Dim>> = (0..wanted.len())
        .map(|axis| match number(axis) {
            _ if axis == at => Some(Dim::Known(1)),
            Some(0) => old.get(axis).copied().filter(|_| axis != open.axis),
            Some(-1) => None,
            _ => Some(dims::size(ctx, wanted[axis])),
        })
        .collect();
    let others = old.iter().enumerate().filter(|(axis, _)| *axis != open.axis).map(|(_, size)| *size);
    let others = sizes.product(&others.collect::<Vec<Dim>>());
    if let Some(rest) = shape.iter().position(Option::is_none) {
        let given: Vec<Dim> = shape.iter().flatten().copied().collect();
        let each = ctx.dim_expr(wanted[at]).terms().first().map_or(0, |term| term.factor);
        let given = sizes.mul(sizes.product(&given), Dim::Known(each.unsigned_abs()));
        shape[rest] = Some(sizes.floor_div(others, given));
    }
    let mut shape: Vec<Dim> = shape.into_iter().collect::<Option<_>>().ok_or_else(refusal)?;
    let inside = sizes.product(&shape);
    shape[at] = sizes.floor_div(sizes.product(&old), inside);
    let is_all = || {
        let counted = dims::mul(ctx, count, sizes.expr(others)?)?;
        Some(dims::mul(ctx, wanted[at], sizes.expr(inside)?)? == counted)
    };
    let has_others = (0..wanted.len()).any(|axis| axis != at && call.open.has_symbols(ctx, wanted[axis]));
    if has_others || shape.contains(&Dim::Unknown) || is_all() != Some(true) {
        return Err(refusal());
    }
    call.reshape_open(x, open, &shape, at)
}
