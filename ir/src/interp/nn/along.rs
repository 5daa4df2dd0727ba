//! Operations along one axis: arg-max, running sums and running products.

use std::cmp::Ordering;

use super::reduce::ordered;
use super::{Operand, axis_below, by_lane};
use crate::body::OpRef;
use crate::interp::element::{Elem, Extension, IntElem, Lane, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};
use crate::opdef::Kind;

/// The lines along an axis of a dense operand `[outer, count, inner]`.
pub(super) struct AxisLines {
    outer: usize,
    count: usize,
    inner: usize,
}

impl AxisLines {
    pub(super) fn of(shape: &[usize], axis: usize) -> AxisLines {
        let (outer, inner) = (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
        AxisLines { outer, count: shape[axis], inner }
    }

    /// For each line the positions of its elements, in order.
    pub(super) fn positions(&self) -> impl Iterator<Item = impl DoubleEndedIterator<Item = usize>> {
        let (count, inner) = (self.count, self.inner);
        (0..self.outer * inner).map(move |line| {
            let first = line / inner * count * inner + line % inner;
            (0..count).map(move |index| first + index * inner)
        })
    }
}

/// The index of the largest (`arg_max`) or smallest element along attribute `axis`; with `last`, the last of
/// equal ones.
///
/// # Errors
/// If the axis has no elements.
pub fn arg_extreme(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let operand = Operand::of(op, operands, 0)?;
    let axis = axis_below(op, operand.shape.len())?;
    let lines = AxisLines::of(&operand.shape, axis);
    if lines.count == 0 {
        return Err("has no element along `axis`".into());
    }
    let way = (matches!(op.kind(), Kind::Kernel("arg_max")), op.attr("last").is_some());
    let found = if is_long_unsigned(operand.elem) {
        let bytes = ordered(operand.bytes);
        let elem = operand.elem.extended(Extension::Sign);
        extremes::<i64>(&Operand { elem, shape: operand.shape.clone(), bytes: &bytes }, &lines, way)
    } else {
        by_lane!(operand.elem, extremes(&operand, &lines, way))
    };
    let bytes = found.iter().flat_map(|index| index.to_le_bytes()).collect();
    let mut shape = operand.shape.clone();
    shape[axis] = 1;
    if op.attr("keepdims").is_none() {
        shape.remove(axis);
    }
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}

fn extremes<L: Lane>(operand: &Operand<'_>, lines: &AxisLines, (is_max, is_last): (bool, bool)) -> Vec<i64> {
    let lanes = read_all::<L>(operand.elem, operand.bytes);
    let wanted = if is_max { Ordering::Greater } else { Ordering::Less };
    let replaces = |x: L, best: L| {
        let order = x.partial_cmp(&best);
        order == Some(wanted) || is_last && order == Some(Ordering::Equal)
    };
    let of_line = |line: &mut dyn Iterator<Item = usize>| {
        let mut best = lanes[line.next().expect("a line has an element")];
        let mut found = 0;
        for (index, at) in line.enumerate() {
            if replaces(lanes[at], best) {
                (best, found) = (lanes[at], index as i64 + 1);
            }
        }
        found
    };
    lines.positions().map(|mut line| of_line(&mut line)).collect()
}

fn is_long_unsigned(elem: Elem) -> bool {
    matches!(elem, Elem::Int(IntElem { width: 64, extension: Extension::Zero }))
}

/// Running sums (`cum_sum`) or products along attribute `axis`. With `reverse` they start at the end, with
/// `exclusive` each contains only the elements before its own. Narrow floats are accumulated in `f32`.
///
/// # Errors
/// If the operand has no such axis.
pub fn cumulate(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let operand = Operand::of(op, operands, 0)?;
    let axis = axis_below(op, operand.shape.len())?;
    let lines = AxisLines::of(&operand.shape, axis);
    let bytes = by_lane!(operand.elem, running(op, &operand, &lines));
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &operand.shape, bytes)?])
}

fn running<L: Lane>(op: OpRef<'_>, operand: &Operand<'_>, lines: &AxisLines) -> Vec<u8> {
    let mut lanes = read_all::<L>(operand.elem, operand.bytes);
    let (exclusive, reverse) = (op.attr("exclusive").is_some(), op.attr("reverse").is_some());
    let adds = matches!(op.kind(), Kind::Kernel("cum_sum"));
    for line in lines.positions() {
        let line: Box<dyn Iterator<Item = usize>> =
            if reverse { Box::new(line.rev()) } else { Box::new(line) };
        let mut sum = if adds { L::default() } else { L::from_f64(1.0) };
        for at in line {
            let next = if adds { sum.plus(lanes[at]) } else { sum.times(lanes[at]) };
            lanes[at] = if exclusive { sum } else { next };
            sum = next;
        }
    }
    write_all(operand.elem, &lanes)
}
