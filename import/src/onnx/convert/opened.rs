//! Conversion of operands with a data-dependent size: the padding after the elements is overwritten with a
//! neutral element, so that it does not count.
//!
//! ```text
//! sum(x)        =>  sum(select(iota < count, x, 0))
//! x[-1]         =>  gather(x, checked(-1 + count))
//!                   an index outside 0..count becomes one outside the bound, so that the run fails
//! concat(x, y)  =>  compress(concat(x, y), concat(iota < count_x, iota < count_y))
//! ```
//!
//! See [`crate::onnx::open`]. The padding of indices is 0: this is in range, unless there is nothing to pick
//! from.

use ir::dims::SizeArithmetic;
use ir::{Attr, Dim, DimExpr, TypeData, Value};

use super::pick::{ENDLESS, SliceWindow, along, number};
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::open::OpenAxis;

impl NodeConversion<'_, '_> {
    /// The open axis of a value. By asking, a converter declares that it handles the axis.
    pub(super) fn open(&mut self, value: Value) -> Option<OpenAxis> {
        self.open.ask(value)
    }

    /// The same, if the axis is this one.
    pub(super) fn open_along(&mut self, value: Value, axis: usize) -> Option<OpenAxis> {
        self.open(value).filter(|open| open.axis == axis)
    }

    /// Like [`NodeConversion::emit`], for an operation whose open result axis is declared by the converter.
    pub(super) fn emit_open(
        &mut self,
        name: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        open: Option<OpenAxis>,
    ) -> Result<Value, Refusal> {
        let value = self.emit_unfollowed(name, operands, attrs)?;
        self.open.say(value, open);
        Ok(value)
    }

    /// The value in another shape with axis `at` open: the number of elements before the axis is the same,
    /// and each old slice consists of a whole number of new slices.
    pub(super) fn reshape_open(
        &mut self,
        x: Value,
        open: OpenAxis,
        shape: &[Dim],
        at: usize,
    ) -> Result<Value, Refusal> {
        let own = self.dims(x)?;
        let sizes = SizeArithmetic(self.ctx());
        let (before, inside) = (sizes.product(&own[..open.axis]), sizes.product(&own[open.axis + 1..]));
        let (new_before, new_inside) = (sizes.product(&shape[..at]), sizes.product(&shape[at + 1..]));
        let each = sizes.floor_div(inside, new_inside);
        if !sizes.are_equal(before, new_before) || !sizes.are_equal(sizes.mul(each, new_inside), inside) {
            let (own, new) = (sizes.list(&own), sizes.list(shape));
            let axis = open.axis;
            return Err(format!(
                "axis {axis} of {own}, whose size depends on data, is no axis {at} of {new}"
            )
            .into());
        }
        let count = match each {
            Dim::Known(1) => open.count,
            each => {
                let each = number(self, each)?;
                self.two("nn.mul", open.count, each)?
            }
        };
        let attrs = [("shape", self.ctx().dims_attr(shape))];
        let value = self.emit_open("nn.reshape", &[x], &attrs, Some(OpenAxis { axis: at, count }))?;
        if self.open.has_zeros(x) {
            self.open.say_zeros(value);
        }
        Ok(value)
    }

    /// For each of `size` slices, whether it is among the first `count`.
    pub(super) fn counted(&mut self, size: Dim, count: Value) -> Result<Value, Refusal> {
        let numbers = self.indices(size)?;
        self.two("nn.lt", numbers, count)
    }

    /// The same for a value's slices along its open axis, in a shape that broadcasts to the value's.
    fn mask(&mut self, value: Value, open: OpenAxis) -> Result<Value, Refusal> {
        let dims = self.dims(value)?;
        let is_element = self.counted(dims[open.axis], open.count)?;
        let mut shape = vec![Dim::Known(1); dims.len()];
        shape[open.axis] = dims[open.axis];
        self.reshape_to(is_element, &shape)
    }

    /// The value with its padding overwritten by a number.
    pub(super) fn filled(&mut self, value: Value, open: OpenAxis, with: f64) -> Result<Value, Refusal> {
        let key = (value, with.to_bits());
        if let Some(filled) = self.open.filled.get(&key) {
            return Ok(*filled);
        }
        let mask = self.mask(value, open)?;
        let filler = self.scalar_like(with, value)?;
        let value = self.emit_open("nn.select", &[mask, value, filler], &[], Some(open))?;
        if with == 0.0 {
            self.open.say_zeros(value);
        }
        self.open.filled.insert(key, value);
        Ok(value)
    }

    /// Indices with zeros as padding.
    fn filled_indices(&mut self, indices: Value) -> Result<Value, Refusal> {
        match self.open(indices) {
            Some(open) if !self.open.has_zeros(indices) => self.filled(indices, open, 0.0),
            _ => Ok(indices),
        }
    }

    /// A constant integer of rank 0 and 64 bits, the type of counts.
    pub(super) fn int(&mut self, number: i64) -> Result<Value, Refusal> {
        self.int64_constant(&[number], &[])
    }

    /// Indices from the start of an axis of `count` elements, and whether they are in range.
    pub(super) fn wrapped(&mut self, indices: Value, count: Value) -> Result<(Value, Value), Refusal> {
        let int64 = self.ctx().int(64);
        let indices = self.cast(indices, int64)?;
        let zero = self.int(0)?;
        let is_from_end = self.two("nn.lt", indices, zero)?;
        let from_end = self.two("nn.add", indices, count)?;
        let wrapped = self.emit("nn.select", &[is_from_end, from_end, indices], &[])?;
        let (low, high) = (self.two("nn.ge", wrapped, zero)?, self.two("nn.lt", wrapped, count)?);
        Ok((wrapped, self.two("nn.and", low, high)?))
    }

    /// Gathers slices of `x` along an axis; `x` and the indices may be open.
    pub(super) fn picked(&mut self, x: Value, indices: Value, axis: usize) -> Result<Value, Refusal> {
        let attrs = [("axis", self.ctx().int_attr(axis as i64))];
        let Some(open) = self.open_along(x, axis) else {
            let indices = self.filled_indices(indices)?;
            return self.emit("nn.gather", &[x, indices], &attrs);
        };
        let size = self.dims(x)?[axis];
        let size = number(self, size)?;
        let (wrapped, is_inside) = self.wrapped(indices, open.count)?;
        let kept = self.emit("nn.select", &[is_inside, wrapped, size], &[])?;
        let indices = self.filled_indices(kept)?;
        let open = self.open(indices).map(|open| OpenAxis { axis: axis + open.axis, ..open });
        self.emit_open("nn.gather", &[x, indices], &attrs, open)
    }

    /// A value that exists only if there are elements: without any, the run fails.
    pub(super) fn of_some(&mut self, value: Value, count: Value) -> Result<Value, Refusal> {
        let shape = self.dims(value)?;
        let zero = self.int(0)?;
        let is_none = self.two("nn.eq", count, zero)?;
        let int64 = self.ctx().int(64);
        let outside = self.cast(is_none, int64)?;
        let whole = self.reshape_to(value, &[&[Dim::Known(1)], &shape[..]].concat())?;
        self.emit("nn.gather", &[whole, outside], &[])
    }

    /// Concatenation along an axis that is open in some of the operands.
    pub(super) fn joined(&mut self, parts: &[Value], axis: usize) -> Result<Value, Refusal> {
        let attrs = [("axis", self.ctx().int_attr(axis as i64))];
        let opened: Vec<Option<OpenAxis>> = parts.iter().map(|part| self.open(*part)).collect();
        if opened.iter().flatten().any(|open| open.axis != axis) {
            return Err("parts whose sizes along different axes depend on data".into());
        }
        let mut counts = Vec::new();
        for (part, open) in parts.iter().zip(&opened) {
            let size = self.dims(*part)?.get(axis).copied().ok_or("parts with different numbers of axes")?;
            counts.push((size, open.map_or_else(|| number(self, size), |open| Ok(open.count))?));
        }
        let all = self.emit_open("nn.concat", parts, &attrs, None)?;
        if let [None, .., Some(_)] | [Some(_)] = opened[..]
            && opened.iter().flatten().count() == 1
        {
            // The padding of the last operand is padding of the result.
            let mut count = counts[0].1;
            for (_, more) in &counts[1..] {
                count = self.two("nn.add", count, *more)?;
            }
            self.open.say(all, Some(OpenAxis { axis, count }));
            return Ok(all);
        }
        let is_element = counts.into_iter().map(|(size, count)| self.counted(size, count));
        let is_element = is_element.collect::<Result<Vec<Value>, Refusal>>()?;
        let condition = self.emit("nn.concat", &is_element, &[("axis", self.ctx().int_attr(0))])?;
        self.compressed(all, condition, axis)
    }

    /// The slices selected by a condition, which must be false in the padding.
    pub(super) fn compressed(&mut self, x: Value, condition: Value, axis: usize) -> Result<Value, Refusal> {
        let attrs = [("axis", self.ctx().int_attr(axis as i64))];
        let value = self.emit_unfollowed("nn.compress", &[x, condition], &attrs)?;
        let body = &*self.builder.body;
        let op = body.defining_op(value).expect("it was just made");
        self.open.pick(body.at(self.builder.ctx, op));
        Ok(value)
    }

    /// A bound of a slice, counted from the end if it is below 0, and clamped to the number of elements.
    fn among_elements(&mut self, bound: i64, open: OpenAxis) -> Result<Value, Refusal> {
        match bound {
            ENDLESS.. => Ok(open.count),
            0.. => self.with_number("nn.min", open.count, bound as f64),
            _ => {
                let from_end = self.with_number("nn.add", open.count, bound.max(-ENDLESS) as f64)?;
                self.with_number("nn.max", from_end, 0.0)
            }
        }
    }

    /// The sizes of a value as numbers, each of rank 0.
    fn extents(&mut self, value: Value) -> Results {
        let open = self.open(value);
        let dims = self.dims(value)?.into_iter().enumerate();
        let extent = |(axis, dim)| match open {
            Some(open) if open.axis == axis => Ok(open.count),
            _ => number(self, dim),
        };
        dims.map(extent).collect()
    }

    /// The sizes `from..to` of a value with an open axis.
    pub(super) fn open_shape(&mut self, x: Value, axes: std::ops::Range<usize>) -> Result<Value, Refusal> {
        let mut sizes = Vec::new();
        for extent in &self.extents(x)?[axes] {
            sizes.push(self.reshape(*extent, &[1])?);
        }
        match sizes[..] {
            [] => self.int64_constant(&[], &[0]),
            [one] => Ok(one),
            _ => self.emit("nn.concat", &sizes, &[("axis", self.ctx().int_attr(0))]),
        }
    }

    /// The number of elements of a value with an open axis.
    pub(super) fn open_size(&mut self, x: Value) -> Result<Value, Refusal> {
        let mut product = self.int(1)?;
        for extent in self.extents(x)? {
            product = self.two("nn.mul", product, extent)?;
        }
        Ok(product)
    }

    /// The least or the greatest number of a value's type.
    pub(super) fn extreme(&self, value: Value, which: RangeEnd) -> f64 {
        let is_least = which == RangeEnd::Least;
        match self.ctx().type_data(self.element(value)) {
            TypeData::Integer { width: 1, .. } => f64::from(u8::from(!is_least)),
            // All bits are set in the greatest unsigned number, as in -1.
            TypeData::Integer { signedness: ir::Signedness::Unsigned, .. } => {
                if is_least {
                    0.0
                } else {
                    -1.0
                }
            }
            TypeData::Integer { width, .. } => {
                let power = 2f64.powi(width.saturating_sub(1).min(63) as i32);
                if is_least { -power } else { (power - 1.0).min(i64::MAX as f64) }
            }
            _ => {
                if is_least {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
        }
    }

    /// The number of elements in a reduction of an open axis and of others of these sizes: of rank 0, of 64
    /// bits.
    pub(super) fn folded_count(&mut self, open: OpenAxis, others: &[Dim]) -> Result<Value, Refusal> {
        match SizeArithmetic(self.ctx()).product(others) {
            Dim::Known(1) => Ok(open.count),
            others => {
                let others = number(self, others)?;
                self.two("nn.mul", open.count, others)
            }
        }
    }
}

/// The least or the greatest number of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RangeEnd {
    Least,
    Greatest,
}

/// A slice along an open axis. If its start is counted from the beginning, it is a window; if from the end,
/// it is a gather.
pub(super) fn part_of_elements(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    open: OpenAxis,
    bounds: [DimExpr; 2],
    step: i64,
) -> Result<Value, Refusal> {
    let ctx = call.ctx();
    let shape = call.dims(x)?;
    let axis = open.axis;
    let [Some(start), Some(end)] = bounds.map(|bound| ctx.dim_expr(bound).constant()) else {
        return Err("a slice of a size that depends on data, by bounds that are no numbers".into());
    };
    if step < 1 {
        return Err(format!("a step of {step} along a size that depends on data, expected 1 or more").into());
    }
    let (from, to) = (call.among_elements(start, open)?, call.among_elements(end, open)?);
    let room = call.two("nn.sub", to, from)?;
    let room = call.with_number("nn.add", room, (step - 1) as f64)?;
    let count = call.with_number("nn.div", room, step as f64)?;
    let count = call.with_number("nn.max", count, 0.0)?;
    let kept = Some(OpenAxis { axis, count });
    if start >= 0 {
        let mut part = SliceWindow::whole(&shape);
        (part.starts[axis], part.sizes[axis]) = along(call, shape[axis], bounds[0], bounds[1], step)?;
        part.strides[axis] = step;
        return call.emit_open("nn.slice", &[x], &part.attrs(ctx), kept);
    }
    let sizes = SizeArithmetic(ctx);
    let most = sizes.min(shape[axis], Dim::Known(start.unsigned_abs()));
    let steps = sizes.floor_div(sizes.offset(most, step - 1), Dim::Known(step.unsigned_abs()));
    let numbers = call.indices(steps)?;
    let numbers = call.with_number("nn.mul", numbers, step as f64)?;
    let places = call.two("nn.add", numbers, from)?;
    let size = number(call, shape[axis])?;
    let last = call.with_number("nn.sub", size, 1.0)?;
    let places = call.two("nn.min", places, last)?;
    call.emit_open("nn.gather", &[x, places], &[("axis", ctx.int_attr(axis as i64))], kept)
}
