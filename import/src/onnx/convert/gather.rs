//! Conversion of GatherElements and GatherND: one gather from the flattened operand.
//!
//! ```text
//! GatherND(x: [4, 5, 6], i: [n, 2])         =>  gather(reshape(x, [20, 6]), i[:, 0] * 5 + i[:, 1])
//! GatherElements(x: [4, 5], i: [2, 5], 0)   =>  gather(reshape(x, [20]), i * 5 + iota(5))
//! ```
//!
//! An index below 0 counts from the end of its own axis. An index outside its axis becomes one outside of all
//! elements, so the run fails.

use ir::dims::SizeArithmetic;
use ir::{Dim, Value};

use super::pick::number;
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::open::OpenAxis;

/// The flat indices of picked elements among some axes, under construction.
pub(super) struct PickedIndices {
    /// The axes.
    sizes: Vec<Dim>,
    /// If not all elements of an axis in the bound count, that axis and its count.
    open: Option<OpenAxis>,
    sum: Option<Value>,
    /// Whether the indices are in range.
    inside: Option<Value>,
}

impl PickedIndices {
    pub(super) fn new(sizes: &[Dim], open: Option<OpenAxis>) -> PickedIndices {
        let open = open.filter(|open| open.axis < sizes.len());
        PickedIndices { sizes: sizes.to_vec(), open, sum: None, inside: None }
    }

    /// Adds the steps along an axis.
    fn walk(&mut self, call: &mut NodeConversion<'_, '_>, axis: usize, steps: Value) -> Result<(), Refusal> {
        let inner = SizeArithmetic(call.ctx()).product(&self.sizes[axis + 1..]);
        let steps = match inner {
            Dim::Known(1) => steps,
            inner => {
                let inner = number(call, inner)?;
                call.two("nn.mul", steps, inner)?
            }
        };
        self.sum = Some(self.sum.map_or(Ok(steps), |sum| call.two("nn.add", sum, steps))?);
        Ok(())
    }

    /// Adds the steps along an axis by indices.
    pub(super) fn pick(
        &mut self,
        call: &mut NodeConversion<'_, '_>,
        axis: usize,
        indices: Value,
    ) -> Result<(), Refusal> {
        let count = match self.open {
            Some(open) if open.axis == axis => open.count,
            _ => number(call, self.sizes[axis])?,
        };
        let (indices, is_inside) = call.wrapped(indices, count)?;
        let inside = self.inside.map_or(Ok(is_inside), |inside| call.two("nn.and", inside, is_inside))?;
        self.inside = Some(inside);
        self.walk(call, axis, indices)
    }

    /// Adds the picked element's own index along an axis of a result of this rank, with this open axis.
    pub(super) fn stay(
        &mut self,
        call: &mut NodeConversion<'_, '_>,
        axis: usize,
        size: Dim,
        (rank, open): (usize, Option<OpenAxis>),
    ) -> Result<(), Refusal> {
        let numbers = call.indices(size)?;
        let mut shape = vec![Dim::Known(1); rank];
        shape[axis] = size;
        let open = open.filter(|open| open.axis == axis);
        let attrs = [("shape", call.ctx().dims_attr(&shape))];
        let numbers = call.emit_open("nn.reshape", &[numbers], &attrs, open)?;
        self.walk(call, axis, numbers)
    }

    /// The flat indices, and the number of elements; that number is also the index for one out of range.
    pub(super) fn numbers(&self, call: &mut NodeConversion<'_, '_>) -> Result<(Value, Dim), Refusal> {
        let all = SizeArithmetic(call.ctx()).product(&self.sizes);
        let (sum, inside) = self.sum.zip(self.inside).ok_or("indices of no axis")?;
        let outside = number(call, all)?;
        Ok((call.emit("nn.select", &[inside, sum, outside], &[])?, all))
    }

    /// The elements at these indices of a value, whose first axes are the axes here.
    fn take(self, call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
        let (places, all) = self.numbers(call)?;
        let shape = [&[all], &call.dims(x)?[self.sizes.len()..]].concat();
        let flat = match self.open {
            // places were checked by how many elements there are.
            Some(_) => {
                call.emit_open("nn.reshape", &[x], &[("shape", call.ctx().dims_attr(&shape))], None)?
            }
            None => call.reshape_to(x, &shape)?,
        };
        call.picked(flat, places, 0)
    }
}

/// GatherND: the last axis of the indices holds one index for each axis of what is picked from, after
/// `batch_dims` common ones.
pub(crate) fn gather_nd(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, indices) = (call.operand(0)?, call.operand(1)?);
    let (shape, picked) = (call.dims(x)?, call.dims(indices)?);
    let batches = call.node.int("batch_dims")?.unwrap_or(0);
    let batches =
        usize::try_from(batches).map_err(|_| format!("`batch_dims` {batches}, expected 0 or more"))?;
    let (last, outer) = picked.split_last().ok_or("indices of rank 0")?;
    let open = call.open(indices);
    if open.is_some_and(|open| open.axis == outer.len()) {
        return Err("indices for a number of axes that depends on data".into());
    }
    let count = last.known().ok_or("indices for a number of axes that is not known")? as usize;
    if batches > outer.len() || count == 0 || batches.saturating_add(count) > shape.len() {
        let (shape, picked) =
            (SizeArithmetic(call.ctx()).list(&shape), SizeArithmetic(call.ctx()).list(&picked));
        return Err(format!("indices {picked} after {batches} common axes do not fit {shape}").into());
    }
    let mut places = PickedIndices::new(&shape[..batches + count], call.open(x));
    for axis in 0..batches {
        expect_same(call, [x, indices], axis)?;
        places.stay(call, axis, outer[axis], (outer.len(), open))?;
    }
    for axis in 0..count {
        let column = column(call, indices, axis as u64)?;
        let column =
            call.emit_open("nn.reshape", &[column], &[("shape", call.ctx().dims_attr(outer))], open)?;
        places.pick(call, batches + axis, column)?;
    }
    Ok(vec![places.take(call, x)?])
}

/// One column of the last axis.
fn column(call: &mut NodeConversion<'_, '_>, x: Value, index: u64) -> Result<Value, Refusal> {
    let mut sizes = call.dims(x)?;
    let last = sizes.len() - 1;
    let mut starts = vec![Dim::Known(0); sizes.len()];
    (starts[last], sizes[last]) = (Dim::Known(index), Dim::Known(1));
    let ctx = call.ctx();
    call.emit("nn.slice", &[x], &[("starts", ctx.dims_attr(&starts)), ("sizes", ctx.dims_attr(&sizes))])
}

/// Checks that an axis has the same size in both values, and does not depend on data in different ways.
fn expect_same(call: &mut NodeConversion<'_, '_>, values: [Value; 2], axis: usize) -> Result<(), Refusal> {
    let open = values.map(|value| call.open_along(value, axis));
    let (a, b) = (call.dims(values[0])?[axis], call.dims(values[1])?[axis]);
    if open[0] != open[1] || !SizeArithmetic(call.ctx()).are_equal(a, b) {
        let (a, b) = (SizeArithmetic(call.ctx()).text(a), SizeArithmetic(call.ctx()).text(b));
        return Err(format!("sizes {a} and {b} of axis {axis}, expected the same size").into());
    }
    Ok(())
}

/// GatherElements: of each index, the element at the same place but along one axis.
pub(crate) fn gather_elements(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, indices) = (call.operand(0)?, call.operand(1)?);
    let (shape, picked) = (call.dims(x)?, call.dims(indices)?);
    if shape.len() != picked.len() {
        return Err(format!("indices of {} axes for {}", picked.len(), shape.len()).into());
    }
    let along = call.axis(call.node.int("axis")?.unwrap_or(0), shape.len())?;
    let open = call.open(indices);
    let mut places = PickedIndices::new(&shape, call.open(x));
    for axis in 0..shape.len() {
        if axis == along {
            places.pick(call, axis, indices)?;
            continue;
        }
        if call.open_along(x, axis).is_some() {
            expect_same(call, [x, indices], axis)?;
        }
        let sizes = SizeArithmetic(call.ctx());
        let (most, size) = (sizes.expr(shape[axis]), sizes.expr(picked[axis]));
        if !size.zip(most).is_some_and(|(size, most)| call.is_at_most(size, most)) {
            let (size, most) = (sizes.text(picked[axis]), sizes.text(shape[axis]));
            return Err(format!("size {size} of axis {axis} of the indices, expected {most} at most").into());
        }
        places.stay(call, axis, picked[axis], (shape.len(), open))?;
    }
    Ok(vec![places.take(call, x)?])
}
