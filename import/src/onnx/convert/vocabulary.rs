//! Helpers for formulas over a node's operands.

use ir::strings::is_string;
use ir::{Blob, Dim, FloatKind, Type, TypeData, Value};

use super::pick::{SliceWindow, broadcast};
use super::powers::{PowerRounding, is_power, of_powers, powers};
use super::small::{OverflowMode, is_packed, is_small, narrowed, packed, widened};
use crate::onnx::call::{NodeConversion, Refusal};
use crate::onnx::element::Element;
use crate::onnx::weights::Weight;

impl NodeConversion<'_, '_> {
    pub(super) fn one(&mut self, name: &str, x: Value) -> Result<Value, Refusal> {
        self.emit(name, &[x], &[])
    }

    pub(in crate::onnx) fn two(&mut self, name: &str, a: Value, b: Value) -> Result<Value, Refusal> {
        self.emit(name, &[a, b], &[])
    }

    /// `nn.NAME` of a value and a number of its type.
    pub(in crate::onnx) fn with_number(
        &mut self,
        name: &str,
        a: Value,
        number: f64,
    ) -> Result<Value, Refusal> {
        let number = self.scalar_like(number, a)?;
        self.two(name, a, number)
    }

    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Result<Value, Refusal> {
        self.emit("nn.select", &[condition, a, b], &[])
    }

    /// The first value if a condition holds, otherwise a number of its type.
    pub(super) fn where_or(&mut self, condition: Value, a: Value, number: f64) -> Result<Value, Refusal> {
        let number = self.scalar_like(number, a)?;
        self.select(condition, a, number)
    }

    /// The value in another element type.
    pub(in crate::onnx) fn cast(&mut self, x: Value, to: Type) -> Result<Value, Refusal> {
        self.cast_or(x, to, (PowerRounding::Up, OverflowMode::Cut))
    }

    /// The same, with a rounding of powers of two, and a handling of numbers beyond the greatest small float.
    pub(super) fn cast_or(
        &mut self,
        x: Value,
        to: Type,
        narrowing: (PowerRounding, OverflowMode),
    ) -> Result<Value, Refusal> {
        let ctx = self.ctx();
        let from = self.element(x);
        if from == to {
            return Ok(x);
        }
        if is_small(ctx, from) {
            let wide = widened(self, x)?;
            return self.cast_or(wide, to, narrowing);
        }
        if is_power(ctx, from) {
            let wide = of_powers(self, x)?;
            return self.cast_or(wide, to, narrowing);
        }
        if is_packed(ctx, from) {
            let bytes = self.one("nn.unpack", x)?;
            return self.cast_or(bytes, to, narrowing);
        }
        if is_packed(ctx, to) {
            return packed(self, x, to);
        }
        if is_small(ctx, to) {
            let wide = self.cast(x, ctx.f32())?;
            return narrowed(self, wide, to, narrowing.1);
        }
        if is_power(ctx, to) {
            return powers(self, x, to, narrowing);
        }
        self.emit("nn.cast", &[x], &[("to", ctx.type_attr(to))])
    }

    /// The bits of the elements as elements of another type.
    pub(super) fn with_bits(&mut self, x: Value, to: Type) -> Result<Value, Refusal> {
        if self.element(x) == to {
            return Ok(x);
        }
        self.emit("nn.bitcast", &[x], &[("to", self.ctx().type_attr(to))])
    }

    /// Strings replaced by their digests, as integers, which are equal exactly if the strings are. Other
    /// elements are unchanged.
    pub(super) fn digests_of_strings(&mut self, values: [Value; 2]) -> Result<[Value; 2], Refusal> {
        let ctx = self.ctx();
        let [a, b] = values;
        match [a, b].map(|value| is_string(ctx, self.element(value))) {
            [false, false] => Ok(values),
            [true, true] => Ok([self.with_bits(a, ctx.int(64))?, self.with_bits(b, ctx.int(64))?]),
            _ => Err("strings beside other elements".into()),
        }
    }

    /// A float attribute, or its default.
    pub(super) fn number(&self, name: &str, default: f32) -> Result<f64, Refusal> {
        Ok(self.node.float(name)?.unwrap_or(default).into())
    }

    /// The value with axis `i` of the result being its axis `order[i]`.
    pub(in crate::onnx) fn transposed(&mut self, x: Value, order: &[i64]) -> Result<Value, Refusal> {
        let order = self.ctx().ints_attr(order);
        self.emit("nn.transpose", &[x], &[("permutation", order)])
    }

    /// The concatenation of values along an axis, which is not open.
    pub(in crate::onnx) fn concatenated(&mut self, parts: &[Value], axis: usize) -> Result<Value, Refusal> {
        let axis = self.ctx().int_attr(axis as i64);
        self.emit("nn.concat", parts, &[("axis", axis)])
    }

    /// `size` slices of a value along an axis.
    pub(in crate::onnx) fn part(
        &mut self,
        x: Value,
        axis: usize,
        start: Dim,
        size: Dim,
    ) -> Result<Value, Refusal> {
        let sizes = self.dims(x)?;
        if axis >= sizes.len() {
            return Err(format!("a value of {} axes where axis {axis} is read", sizes.len()).into());
        }
        let mut part = SliceWindow::whole(&sizes);
        part.starts[axis] = start;
        part.sizes[axis] = size;
        part.emit(self, x)
    }

    /// `nn.reduce_NAME` over some axes, which stay with size 1.
    pub(super) fn folded(&mut self, name: &str, x: Value, axes: &[i64]) -> Result<Value, Refusal> {
        let axes = self.ctx().ints_attr(axes);
        let keeps = self.ctx().unit_attr();
        self.emit(&format!("nn.reduce_{name}"), &[x], &[("axes", axes), ("keepdims", keeps)])
    }

    /// The value with zeros, or another number, before and after its elements along an axis.
    pub(super) fn padded(
        &mut self,
        x: Value,
        axis: usize,
        [low, high]: [i64; 2],
        number: f64,
    ) -> Result<Value, Refusal> {
        if [low, high] == [0, 0] {
            return Ok(x);
        }
        let rank = self.rank(x)?;
        let only =
            |count: i64| (0..rank).map(|other| if other == axis { count } else { 0 }).collect::<Vec<_>>();
        let attrs = [
            ("low", self.ctx().ints_attr(&only(low))),
            ("high", self.ctx().ints_attr(&only(high))),
            ("value", self.ctx().f32_attr(number as f32)),
        ];
        self.emit("nn.pad", &[x], &attrs)
    }

    /// A constant tensor of numbers, of the element type of `like`.
    pub(super) fn numbers_like(
        &mut self,
        numbers: &[f64],
        shape: &[u64],
        like: Value,
    ) -> Result<Value, Refusal> {
        self.numbers_of(numbers, shape, self.element(like))
    }

    /// A constant tensor of numbers, of a float type.
    pub(super) fn numbers_of(
        &mut self,
        numbers: &[f64],
        shape: &[u64],
        elem: Type,
    ) -> Result<Value, Refusal> {
        if *self.ctx().type_data(elem) != TypeData::Float(FloatKind::F64) {
            let value = self.numbers(numbers, shape)?;
            return self.cast(value, elem);
        }
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let weight = Weight { element: Element::Double, dims: shape.to_vec(), blob: Blob::from_bytes(bytes) };
        self.constant(weight, self.node.outputs.first().copied().unwrap_or("numbers"))
    }

    /// A constant tensor of `f32`.
    pub(super) fn numbers(&mut self, numbers: &[f64], shape: &[u64]) -> Result<Value, Refusal> {
        let bytes = numbers.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect();
        let weight = Weight { element: Element::Float, dims: shape.to_vec(), blob: Blob::from_bytes(bytes) };
        self.constant(weight, self.node.outputs.first().copied().unwrap_or("numbers"))
    }

    /// The integers from 0 on along one of `rank` axes of this size.
    pub(super) fn indices_along(&mut self, size: Dim, axis: usize, rank: usize) -> Result<Value, Refusal> {
        let indices = self.indices(size)?;
        let mut shape = vec![Dim::Known(1); rank];
        shape[axis] = size;
        self.reshape_to(indices, &shape)
    }

    /// A number of the type of `like`, in a shape.
    pub(super) fn filler(&mut self, number: f64, like: Value, shape: &[Dim]) -> Result<Value, Refusal> {
        let number = self.scalar_like(number, like)?;
        broadcast(self, number, shape)
    }
}
