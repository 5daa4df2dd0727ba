//! Scatter and sort.

use std::cmp::Ordering;

use super::along::AxisLines;
use super::{Operand, axis_below};
use crate::body::OpRef;
use crate::interp::element::{Elem, IntElem, Lane, LaneKind, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};

/// Operand 0 with some slices along its first axis combined with those of operand 2, one after the other.
/// Operand 1 holds the indices; a negative one counts from the end.
///
/// # Errors
/// If an index is out of range.
pub fn scatter(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let x = Operand::of(op, operands, 0)?;
    let indices = Operand::of(op, operands, 1)?;
    let updates = Operand::like(op, operands, 2, x.elem)?;
    let join = op.text("join").unwrap_or("none").to_owned();
    let places = places(&x, &indices)?;
    let bytes = match x.elem.lane() {
        LaneKind::F32 => written::<f32>(&x, &updates, &places, |a, b| match &join[..] {
            "add" => a + b,
            "mul" => a * b,
            "max" if a > b => a,
            "min" if a < b => a,
            _ => b,
        }),
        LaneKind::F64 => written::<f64>(&x, &updates, &places, |a, b| match &join[..] {
            "add" => a + b,
            "mul" => a * b,
            "max" if a > b => a,
            "min" if a < b => a,
            _ => b,
        }),
        LaneKind::Int => {
            let Elem::Int(int) = x.elem else { return Err("elements that are no integers".into()) };
            written::<i64>(&x, &updates, &places, |a, b| match &join[..] {
                "add" => int.wrap(a.wrapping_add(b)),
                "mul" => int.wrap(a.wrapping_mul(b)),
                "max" if int.number(a) > int.number(b) => a,
                "min" if int.number(a) < int.number(b) => a,
                _ => b,
            })
        }
    };
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &x.shape, bytes)?])
}

/// The slices at these indices.
fn places(x: &Operand<'_>, indices: &Operand<'_>) -> Result<Vec<usize>, EvalError> {
    let Elem::Int(_) = indices.elem else { return Err("the indices are no integers".into()) };
    let size = *x.shape.first().ok_or("a number has no slices")?;
    let inside = |index: i64| {
        let place = if index < 0 { index.wrapping_add(size as i64) } else { index };
        let place = usize::try_from(place).ok().filter(|place| *place < size);
        place.ok_or_else(|| EvalError::from(format!("index {index} is outside 0..{size}")))
    };
    read_all::<i64>(indices.elem, indices.bytes).into_iter().map(inside).collect()
}

fn written<L: Lane>(
    x: &Operand<'_>,
    updates: &Operand<'_>,
    places: &[usize],
    join: impl Fn(L, L) -> L,
) -> Vec<u8> {
    let mut lanes = read_all::<L>(x.elem, x.bytes);
    let updates = read_all::<L>(updates.elem, updates.bytes);
    let slice: usize = x.shape[1..].iter().product();
    for (number, place) in places.iter().enumerate() {
        for i in 0..slice {
            let own = &mut lanes[place * slice + i];
            *own = join(*own, updates[number * slice + i]);
        }
    }
    write_all(x.elem, &lanes)
}

/// The order of the elements along attribute `axis`, as indices: equal elements keep their order, and NaN is
/// the largest. With `descending` the largest comes first.
///
/// # Errors
/// If there is no such axis.
pub fn arg_sort(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let x = Operand::of(op, operands, 0)?;
    let lines = AxisLines::of(&x.shape, axis_below(op, x.shape.len())?);
    let descending = op.attr("descending").is_some();
    let turned = |order: Ordering| if descending { order.reverse() } else { order };
    let found = match x.elem {
        Elem::Int(int) => sorted(&x, &lines, |a: i64, b: i64| turned(numbers(int, a, b))),
        Elem::F64 => sorted(&x, &lines, |a: f64, b: f64| turned(floats(a, b))),
        _ => sorted(&x, &lines, |a: f32, b: f32| turned(floats(a, b))),
    };
    let bytes = found.iter().flat_map(|index| index.to_le_bytes()).collect();
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &x.shape, bytes)?])
}

fn numbers(int: IntElem, a: i64, b: i64) -> Ordering {
    int.number(a).cmp(&int.number(b))
}

fn floats<L: Lane>(a: L, b: L) -> Ordering {
    let is_nan = |x: L| x.partial_cmp(&x).is_none();
    a.partial_cmp(&b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

fn sorted<L: Lane>(x: &Operand<'_>, lines: &AxisLines, order: impl Fn(L, L) -> Ordering) -> Vec<i64> {
    let lanes = read_all::<L>(x.elem, x.bytes);
    let mut found = vec![0; lanes.len()];
    for line in lines.positions() {
        let places: Vec<usize> = line.collect();
        let mut indices: Vec<usize> = (0..places.len()).collect();
        indices.sort_by(|a, b| order(lanes[places[*a]], lanes[places[*b]]));
        for (place, index) in places.iter().zip(indices) {
            found[*place] = index as i64;
        }
    }
    found
}
