//! Helpers for operators that become loops: counters, slices read and written at a computed index, and the
//! counted loop itself.
//!
//! ```text
//! %y = optc.fill {shape = [steps, batch]}
//! %r:2 = scf.for %i = 0 to %steps step 1 iter_args(%state = %initial, %all = %y) {
//!   %step = nn.from_scalar %i
//!   %x = nn.gather %inputs, %step
//!   ...
//!   %written = nn.scatter %all, %step, %new       in place: a slice of %y
//!   scf.yield %new, %written }
//! ```

use ir::builder::InsertPoint;
use ir::dims::SizeArithmetic;
use ir::{Dim, OpSpec, Type, TypeData, Value};

use super::call::{NodeConversion, Refusal, Results};

impl NodeConversion<'_, '_> {
    /// A value of one element as a scalar, for control flow.
    pub(super) fn number_of(&mut self, x: Value) -> Result<Value, Refusal> {
        let flat = self.reshape_to(x, &[])?;
        self.emit("nn.to_scalar", &[flat], &[])
    }

    /// A scalar as a tensor of rank 0.
    pub(super) fn value_of_number(&mut self, number: Value) -> Result<Value, Refusal> {
        self.emit("nn.from_scalar", &[number], &[])
    }

    /// A number of iterations, as a scalar.
    pub(super) fn turns(&mut self, count: Dim) -> Result<Value, Refusal> {
        match count {
            Dim::Known(count) => Ok(self.index(count.cast_signed())),
            Dim::Symbolic(_) => {
                let sizes = self.ctx().dims_attr(&[count]);
                let size = self.emit("nn.sizes", &[], &[("value", sizes)])?;
                self.number_of(size)
            }
            Dim::Unknown => Err("a number of iterations that is not known".into()),
        }
    }

    /// The truth value `true`, of rank 0.
    pub(super) fn always(&mut self) -> Result<Value, Refusal> {
        let one = self.int64_constant(&[1], &[])?;
        self.two("nn.eq", one, one)
    }

    /// A scalar integer of 64 bits.
    pub(super) fn index(&mut self, number: i64) -> Value {
        let value = self.ctx().int_attr(number);
        let ty = self.ctx().int(64);
        let spec = OpSpec { attrs: &[("value", value)], results: Some(&[ty]), ..OpSpec::default() };
        let op = self.builder.build("arith.constant", spec).expect("the type is given");
        self.builder.body.result(op, 0)
    }

    /// A tensor to be filled slice by slice; its initial content does not matter.
    pub(super) fn filled_later(&mut self, shape: &[Dim], elem: Type) -> Result<Value, Refusal> {
        if !matches!(self.ctx().type_data(elem), TypeData::Integer { .. } | TypeData::Float(_)) {
            return Err("scan outputs of elements that are no numbers".into());
        }
        let attrs = [("shape", self.ctx().dims_attr(shape)), ("to", self.ctx().type_attr(elem))];
        self.emit("optc.fill", &[], &attrs)
    }

    /// The slice of a value at this index along an axis, without that axis.
    pub(super) fn slice_at(&mut self, x: Value, number: Value, axis: usize) -> Result<Value, Refusal> {
        let axis = self.ctx().int_attr(axis as i64);
        self.emit("nn.gather", &[x, number], &[("axis", axis)])
    }

    /// A value with its slice at this index of the first axis replaced.
    pub(super) fn with_slice(&mut self, whole: Value, number: Value, slice: Value) -> Result<Value, Refusal> {
        let number = self.reshape_to(number, &[Dim::Known(1)])?;
        let shape = [&[Dim::Known(1)], &self.dims(slice)?[..]].concat();
        let slice = self.reshape_to(slice, &shape)?;
        self.emit("nn.scatter", &[whole, number, slice], &[])
    }

    /// `count - 1 - number`: an index below `count`, counted from the last one.
    pub(in crate::onnx) fn counted_back(&mut self, number: Value, count: Dim) -> Result<Value, Refusal> {
        let last = match count {
            Dim::Known(count) => self.int64_constant(&[count.cast_signed() - 1], &[])?,
            _ => {
                let last = SizeArithmetic(self.ctx()).sub(count, Dim::Known(1));
                let sizes = self.ctx().dims_attr(&[last]);
                let last = self.emit("nn.sizes", &[], &[("value", sizes)])?;
                self.reshape_to(last, &[])?
            }
        };
        self.two("nn.sub", last, number)
    }

    /// Ends the region of a loop or a branch with these operands.
    ///
    /// # Errors
    /// If they are not of these types, or have a size that depends on data.
    pub(super) fn end_region(&mut self, values: &[Value], types: Option<&[Type]>) -> Result<(), Refusal> {
        if values.iter().any(|value| self.open.of(*value).is_some()) {
            return Err("a size that depends on data, of a value made in a graph that may not run".into());
        }
        if let Some(types) = types {
            self.check_kept(values, types)?;
        }
        self.builder.build("scf.yield", OpSpec { operands: values, ..OpSpec::default() })?;
        Ok(())
    }

    /// Refuses an iteration that changes the type of a state.
    fn check_kept(&self, values: &[Value], types: &[Type]) -> Result<(), Refusal> {
        let ctx = self.ctx();
        for (value, before) in values.iter().zip(types) {
            let after = self.builder.body.ty(*value);
            if after != *before {
                let [before, after] = [*before, after].map(|ty| ir::text::type_text(ctx, ty));
                let message = format!("a state of type `{before}` that an iteration changes to `{after}`");
                return Err(message.into());
            }
        }
        Ok(())
    }

    /// The states after a loop of `count` iterations; `turn` gets the iteration's index, a value of rank 0.
    pub(super) fn repeated(
        &mut self,
        count: Dim,
        initial: &[Value],
        turn: impl FnOnce(&mut Self, Value, &[Value]) -> Results,
    ) -> Results {
        let types: Vec<Type> = initial.iter().map(|value| self.builder.body.ty(*value)).collect();
        let bounds = [self.index(0), self.turns(count)?, self.index(1)];
        let operands = [&bounds[..], initial].concat();
        let spec = OpSpec { operands: &operands, results: Some(&types), ..OpSpec::default() };
        let op = self.builder.build("scf.for", spec)?;
        let body = &mut *self.builder.body;
        let region = body.add_op_region(op);
        let block = body.add_block(region);
        let number = body.add_arg(block, self.builder.ctx.int(64));
        let states: Vec<Value> = types.iter().map(|ty| body.add_arg(block, *ty)).collect();
        let around = std::mem::replace(&mut self.builder.at, InsertPoint::End(block));
        let open = self.open.clone();
        let number = self.value_of_number(number)?;
        let values = turn(self, number, &states)?;
        self.end_region(&values, Some(&types))?;
        self.builder.at = around;
        *self.open = open;
        Ok(self.builder.body.results(op).collect())
    }
}
