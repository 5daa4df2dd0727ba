//! Which sizes of values depend on data, and what may read such values.
//!
//! A result whose size depends on data has the type of its bound: an upper bound that follows from the operands' sizes. Its elements stand
//! first along that axis, zeros behind them, and how many there are is a value beside it. The axis is *open*. What is computed of it is
//! computed on all of the bound, so it may be read by what makes of each slice along the axis one slice: elementwise operations,
//! and views that leave the axis whole. All else would take the zeros for elements, and is refused. An output says which
//! of its axes are open, and by which further outputs (`optc.open`, `optc.count`), so that whoever runs the program cuts it.

use std::collections::HashMap;

use ir::opdef::{Strided, View};
use ir::{Body, Context, Kind, Op, Value};

use super::call::Refusal;

/// An axis whose size is a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenAxis {
    pub(super) axis: usize,
    /// How many slices there are.
    pub(super) count: Value,
}

/// The open axes of values.
#[derive(Default)]
pub(super) struct OpenAxes {
    of: HashMap<Value, OpenAxis>,
}

const REFUSED: &str =
    "an input's size depends on data; only elementwise operations and views of whole slices read it";

impl OpenAxes {
    /// The open axis of a value.
    pub(super) fn of(&self, value: Value) -> Option<OpenAxis> {
        self.of.get(&value).copied()
    }

    /// Follows open axes through the operations that a node has become.
    ///
    /// # Errors
    /// If a value with an open axis is read by what may not, or by nothing: then its type was.
    pub(super) fn follow(
        &mut self,
        ctx: &Context,
        body: &Body,
        ops: &[Op],
        [operands, results]: [&[Value]; 2],
    ) -> Result<(), Refusal> {
        for &op in ops {
            let at = body.at(ctx, op);
            let is_open = body.operands(op).any(|operand| self.of.contains_key(&operand));
            if let (Kind::Kernel("compress"), false) = (at.kind(), is_open) {
                let axis = at.int("axis").and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
                self.of.insert(at.result(0), OpenAxis { axis, count: at.result(1) });
            } else if is_open {
                let open = self.through(ctx, body, op).ok_or(REFUSED)?;
                self.of.insert(at.result(0), open);
            }
        }
        let is_read = |value: &Value| {
            results.contains(value) || ops.iter().any(|op| body.operands(*op).any(|read| read == *value))
        };
        let all = operands.iter().filter(|value| self.of.contains_key(value)).all(is_read);
        if all { Ok(()) } else { Err(REFUSED.into()) }
    }

    /// The open axis of the result of an operation that reads some.
    fn through(&self, ctx: &Context, body: &Body, op: Op) -> Option<OpenAxis> {
        let at = body.at(ctx, op);
        match at.kind() {
            Kind::Elementwise(_) => self.through_elements(ctx, body, op),
            Kind::View(View::OfOperand(map)) => {
                let operand = at.operand(0);
                let OpenAxis { axis, count } = self.of(operand)?;
                let own = at.operand_shape(0)?;
                let mut from = Strided::row_major(0, own.clone());
                if own[axis] == 1 {
                    // Any distance will do for one slice: this one tells the axis from others of one element.
                    from.strides[axis] = i64::MAX >> 16;
                }
                let to = map(at, 0, &from)?;
                let is_axis =
                    |found: &usize| (to.strides[*found], to.shape[*found]) == (from.strides[axis], own[axis]);
                let mut axes = (0..to.shape.len()).filter(is_axis);
                let found = axes.next().filter(|_| axes.next().is_none())?;
                Some(OpenAxis { axis: found, count })
            }
            _ => None,
        }
    }

    /// The same, of an elementwise operation: its other operands have one element for all slices.
    fn through_elements(&self, ctx: &Context, body: &Body, op: Op) -> Option<OpenAxis> {
        let rank = |value: Value| ctx.type_data(body.ty(value)).tensor_shape().map_or(0, <[_]>::len);
        let result = rank(body.result(op, 0));
        let mut found = None;
        for operand in body.operands(op) {
            let Some(open) = self.of(operand) else { continue };
            let open = OpenAxis { axis: open.axis + result - rank(operand), ..open };
            if found.replace(open).is_some_and(|other| other != open) {
                return None;
            }
        }
        let found = found?;
        let has_slices = |operand: Value| {
            let own = ctx.type_data(body.ty(operand)).tensor_shape().unwrap_or(&[]);
            let axis = (found.axis + own.len()).checked_sub(result);
            axis.is_some_and(|axis| own[axis].known() != Some(1))
        };
        body.operands(op).all(|operand| self.of(operand).is_some() || !has_slices(operand)).then_some(found)
    }
}
