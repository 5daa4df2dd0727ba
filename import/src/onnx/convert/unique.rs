//! Conversion of Unique: elements or slices without repetitions.
//!
//! ```text
//! order  = arg_sort(x)                         equal elements in their order
//! is_new = sorted[i] != sorted[i - 1]          the first of its group
//! group  = cum_sum(is_new) - 1                 the number of the group, by value
//! Y      = compress(sorted, is_new)            indices = compress(order, is_new)
//! ```
//!
//! In the order of first appearance, groups are numbered by the positions of their first elements.

use ir::dims::SizeArithmetic;
use ir::{Dim, FloatKind, TypeData, Value};

use super::pick::broadcast;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// The greatest number of compared elements of a slice: each needs a sort of its own.
const MOST_NUMBERS: u64 = 256;

/// Unique.
pub(crate) fn unique(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let sizes = SizeArithmetic(call.ctx());
    let (slices, back) = match call.node.int("axis")? {
        None => (call.reshape_to(x, &[sizes.product(&shape)])?, vec![0]),
        Some(axis) => {
            let axis = call.axis(axis, shape.len())?;
            // The axis comes first; the others keep their order, in which slices are compared.
            let others = (0..shape.len()).filter(|other| *other != axis);
            let order: Vec<i64> = [axis].into_iter().chain(others).map(|axis| axis as i64).collect();
            let mut back: Vec<i64> = (1..shape.len() as i64).collect();
            back.insert(axis, 0);
            (call.transposed(x, &order)?, back)
        }
    };
    let groups = EqualSlices::of(call, slices)?;
    let is_sorted = call.node.truth("sorted")?.unwrap_or(true);
    let (from, indices, is_first, ids) =
        if is_sorted { groups.by_value(call, slices)? } else { groups.by_appearance(call, slices)? };
    let unique = call.compressed(from, is_first, 0)?;
    let firsts = call.compressed(indices, is_first, 0)?;
    let zeros = groups.zeros(call)?;
    let inverse = call.emit("nn.scatter", &[zeros, groups.order, ids], &[])?;
    let one = call.int(1)?;
    let ones = broadcast(call, one, &[groups.count])?;
    let join = call.ctx().str_attr("add");
    let counts = call.emit("nn.scatter", &[zeros, inverse, ones], &[("join", join)])?;
    let open = call.open(firsts);
    call.open.say(counts, open);
    call.open.say_zeros(counts);
    Ok(vec![call.transposed(unique, &back)?, firsts, inverse, counts])
}

/// The sorted slices, and which are the first of their groups.
struct EqualSlices {
    count: Dim,
    /// The indices of the slices in sorted order.
    order: Value,
    /// For each sorted slice, whether it differs from the one before.
    is_new: Value,
    /// For each sorted slice, the number of its group.
    group: Value,
}

/// Slices and their indices; which of them are first in their groups; and the group numbers of the slices,
/// sorted by value.
type Numbered = (Value, Value, Value, Value);

impl EqualSlices {
    /// Slices along the first axis.
    fn of(call: &mut NodeConversion<'_, '_>, slices: Value) -> Result<EqualSlices, Refusal> {
        let shape = call.dims(slices)?;
        let count = shape[0];
        let each = SizeArithmetic(call.ctx())
            .product(&shape[1..])
            .known()
            .filter(|each| *each <= MOST_NUMBERS)
            .ok_or_else(|| format!("slices of more than {MOST_NUMBERS} numbers"))?;
        let rows = call.reshape_to(slices, &[count, Dim::Known(each)])?;
        let rows = comparable(call, rows)?;
        let numbers = call.indices(count)?;
        let axis = [("axis", call.ctx().int_attr(0))];
        let mut order = numbers;
        for index in (0..each).rev() {
            let column = call.part(rows, 1, Dim::Known(index), Dim::Known(1))?;
            let column = call.reshape_to(column, &[count])?;
            let sorted = call.emit("nn.gather", &[column, order], &axis)?;
            let own = call.emit("nn.arg_sort", &[sorted], &axis)?;
            order = call.emit("nn.gather", &[order, own], &axis)?;
        }
        let sorted = call.emit("nn.gather", &[rows, order], &axis)?;
        let previous = call.with_number("nn.sub", numbers, 1.0)?;
        let previous = call.with_number("nn.max", previous, 0.0)?;
        let before = call.emit("nn.gather", &[sorted, previous], &axis)?;
        let mut is_new = call.with_number("nn.eq", numbers, 0.0)?;
        for index in 0..each {
            let [own, before] = [sorted, before].map(|rows| {
                let column = call.part(rows, 1, Dim::Known(index), Dim::Known(1))?;
                call.reshape_to(column, &[count])
            });
            let differs = differ(call, own?, before?)?;
            is_new = call.two("nn.or", is_new, differs)?;
        }
        let int64 = call.ctx().int(64);
        let steps = call.cast(is_new, int64)?;
        let group = call.emit("nn.cum_sum", &[steps], &axis)?;
        let group = call.with_number("nn.sub", group, 1.0)?;
        Ok(EqualSlices { count, order, is_new, group })
    }

    fn zeros(&self, call: &mut NodeConversion<'_, '_>) -> Result<Value, Refusal> {
        let zero = call.int(0)?;
        broadcast(call, zero, &[self.count])
    }

    /// The groups ordered by value.
    fn by_value(&self, call: &mut NodeConversion<'_, '_>, slices: Value) -> Result<Numbered, Refusal> {
        let axis = [("axis", call.ctx().int_attr(0))];
        let sorted = call.emit("nn.gather", &[slices, self.order], &axis)?;
        Ok((sorted, self.order, self.is_new, self.group))
    }

    /// The groups ordered by first appearance.
    fn by_appearance(&self, call: &mut NodeConversion<'_, '_>, slices: Value) -> Result<Numbered, Refusal> {
        let axis = [("axis", call.ctx().int_attr(0))];
        let int64 = call.ctx().int(64);
        let zeros = self.zeros(call)?;
        let steps = call.cast(self.is_new, int64)?;
        let firsts = call.emit("nn.scatter", &[zeros, self.order, steps], &[])?;
        let counts = call.emit("nn.cum_sum", &[firsts], &axis)?;
        let numbered = call.with_number("nn.sub", counts, 1.0)?;
        let sorted = call.emit("nn.gather", &[numbered, self.order], &axis)?;
        let of_firsts = call.where_or(self.is_new, sorted, 0.0)?;
        let join = call.ctx().str_attr("add");
        let by_group = call.emit("nn.scatter", &[zeros, self.group, of_firsts], &[("join", join)])?;
        let ids = call.emit("nn.gather", &[by_group, self.group], &axis)?;
        let is_first = call.with_number("nn.ne", firsts, 0.0)?;
        let numbers = call.indices(self.count)?;
        Ok((slices, numbers, is_first, ids))
    }
}

/// The numbers in a type that can be sorted.
fn comparable(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let ctx = call.ctx();
    match ctx.type_data(call.element(x)) {
        TypeData::Float(kind) if !matches!(kind, FloatKind::F32 | FloatKind::F64) => call.cast(x, ctx.f32()),
        _ => Ok(x),
    }
}

/// Whether numbers differ; NaN equals NaN.
fn differ(call: &mut NodeConversion<'_, '_>, a: Value, b: Value) -> Result<Value, Refusal> {
    let differs = call.two("nn.ne", a, b)?;
    if !matches!(call.ctx().type_data(call.element(a)), TypeData::Float(_)) {
        return Ok(differs);
    }
    let (a_is_number, b_is_number) = (call.two("nn.eq", a, a)?, call.two("nn.eq", b, b)?);
    let is_number = call.two("nn.or", a_is_number, b_is_number)?;
    call.two("nn.and", differs, is_number)
}
