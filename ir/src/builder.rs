//! The builder of operations: inserts them and infers their types.

use crate::body::{Body, OpRef, Successor};
use crate::context::Context;
use crate::entities::{Attr, Block, Location, Op, OpName, Type, Value};
use crate::opdef::{Infer, InferError, InferInput};
use crate::words;
use cranelift_entity::EntityRef;

/// Where a builder inserts operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertPoint {
    /// At the end of a block.
    End(Block),
    /// Before an operation.
    Before(Op),
}

/// Inserts operations into a body, one after the other.
pub struct Builder<'a> {
    /// The context of all handles.
    pub ctx: &'a Context,
    /// The tables that hold the operations.
    pub body: &'a mut Body,
    /// The insertion point of the next operation.
    pub at: InsertPoint,
    /// The location of the operations that are made.
    pub location: Location,
}

/// The parts of an operation to be made.
#[derive(Clone, Debug, Default)]
pub struct OpSpec<'a> {
    /// Operands.
    pub operands: &'a [Value],
    /// Attributes; those of the row become inherent.
    pub attrs: &'a [(&'a str, Attr)],
    /// Result types; none to infer them.
    pub results: Option<&'a [Type]>,
    /// Successors of a terminator.
    pub successors: Vec<Successor>,
}

impl<'a> Builder<'a> {
    /// A builder that appends to `block`.
    pub fn at_end(ctx: &'a Context, body: &'a mut Body, block: Block) -> Builder<'a> {
        Builder { ctx, body, at: InsertPoint::End(block), location: Location::UNKNOWN }
    }

    /// A builder that inserts before `op`, with its location.
    pub fn before(ctx: &'a Context, body: &'a mut Body, op: Op) -> Builder<'a> {
        let location = body.location(op);
        Builder { ctx, body, at: InsertPoint::Before(op), location }
    }

    /// Makes an operation.
    ///
    /// # Errors
    /// If the result types can't be inferred from operands and attributes, an operand is not a value of this
    /// body, or an attribute is given twice.
    pub fn build(&mut self, name: &str, spec: OpSpec<'_>) -> Result<Op, InferError> {
        self.check(name, &spec)?;
        let name = self.ctx.op_name(name);
        let (inherent, other) = self.split_attrs(name, spec.attrs);
        let inherent = self.ctx.def(name).map_or(inherent, |def| words::fill(self.ctx, def, inherent));
        let operand_types: Vec<Type> = spec.operands.iter().map(|value| self.body.ty(*value)).collect();
        let results = match spec.results {
            Some(results) => results.to_vec(),
            None => infer(self.ctx, name, &operand_types, inherent)?,
        };
        let op = self.body.make_op(name, spec.operands, &results, self.location);
        self.body.set_properties(op, inherent);
        self.body.set_attrs(op, other);
        if !spec.successors.is_empty() {
            self.body.set_successors(op, spec.successors);
        }
        self.insert(op);
        Ok(op)
    }

    /// Checks a specification before anything is made.
    fn check(&self, name: &str, spec: &OpSpec<'_>) -> Result<(), InferError> {
        let is_here = |value: &Value| value.index() < self.body.value_capacity();
        if let Some(index) = spec.operands.iter().position(|value| !is_here(value)) {
            return Err(InferError(format!("operand {index} of `{name}` is no value of this body")));
        }
        let twice =
            (1..spec.attrs.len()).find(|at| spec.attrs[..*at].iter().any(|a| a.0 == spec.attrs[*at].0));
        match twice {
            Some(at) => Err(InferError(format!("`{}` of `{name}` is given twice", spec.attrs[at].0))),
            None => Ok(()),
        }
    }

    /// Makes an operation with inferred types, and returns its first result.
    ///
    /// # Errors
    /// If the result types can't be inferred, or there is no result; in the latter case the operation is
    /// made.
    pub fn value(
        &mut self,
        name: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
    ) -> Result<Value, InferError> {
        let op = self.build(name, OpSpec { operands, attrs, ..OpSpec::default() })?;
        let first = self.body.results(op).next();
        first.ok_or_else(|| InferError(format!("`{name}` has no result")))
    }

    /// Makes a constant: `nn.constant` with this value and type.
    pub fn constant(&mut self, value: Attr, ty: Type) -> Value {
        let spec = OpSpec { attrs: &[("value", value)], results: Some(&[ty]), ..OpSpec::default() };
        let op = self.build("nn.constant", spec).expect("the types are given");
        self.body.result(op, 0)
    }

    /// Inserts a detached operation at the insertion point.
    pub fn insert(&mut self, op: Op) {
        match self.at {
            InsertPoint::End(block) => self.body.append(op, block),
            InsertPoint::Before(before) => self.body.insert_before(op, before),
        }
    }

    fn split_attrs(&self, name: OpName, attrs: &[(&str, Attr)]) -> (Attr, Attr) {
        let def = self.ctx.def(name);
        let is_inherent = |key: &str| def.is_some_and(|def| def.attr(key).is_some());
        let (inherent, other): (Vec<_>, Vec<_>) = attrs.iter().partition(|(key, _)| is_inherent(key));
        let dict = |entries: Vec<&(&str, Attr)>| {
            self.ctx.dict(entries.into_iter().map(|(key, attr)| (self.ctx.ident(key), *attr)).collect())
        };
        (dict(inherent), dict(other))
    }
}

/// Infers the result types from operand types and inherent attributes.
///
/// # Errors
/// If the operation is not registered, its row has no inference, or inference fails.
pub fn infer(
    ctx: &Context,
    name: OpName,
    operands: &[Type],
    properties: Attr,
) -> Result<Vec<Type>, InferError> {
    let def =
        ctx.def(name).ok_or_else(|| InferError(format!("`{}` is not registered", ctx.op_name_str(name))))?;
    match &def.infer {
        Infer::Declared if def.results.is_empty() => Ok(Vec::new()),
        Infer::Declared => Err(InferError(format!("the result types of `{}` must be given", def.name))),
        Infer::SameAs(index) => {
            let ty = operands.get(*index as usize);
            Ok(vec![*ty.ok_or_else(|| InferError(format!("`{}` lacks operand {index}", def.name)))?])
        }
        Infer::Rule(rule) => rule(&InferInput { ctx, def, operands, properties }),
    }
}

impl Body {
    /// An operation together with its body and context.
    pub fn at<'a>(&'a self, ctx: &'a Context, op: Op) -> OpRef<'a> {
        OpRef::new(ctx, self, op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_uses_are_told() {
        let ctx = Context::new();
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        let vector = ctx.tensor(&[4], ctx.f32());
        let x = body.add_arg(block, vector);
        let mut other = Body::new(1);
        let entry = other.add_block(other.root());
        let far = (0..9).map(|_| other.add_arg(entry, vector)).last().unwrap();
        let mut builder = Builder::at_end(&ctx, &mut body, block);
        let axis = ("axis", ctx.int_attr(0));
        let said = |result: Result<Value, InferError>| result.unwrap_err().0;
        assert_eq!(
            said(builder.value("nn.softmax", &[x], &[axis, axis])),
            "`axis` of `nn.softmax` is given twice"
        );
        assert_eq!(
            said(builder.value("nn.exp", &[far], &[])),
            "operand 0 of `nn.exp` is no value of this body"
        );
        assert_eq!(said(builder.value("func.return", &[x], &[])), "`func.return` has no result");
        assert!(said(builder.value("nn.softmax", &[], &[axis])).contains("operand 0"));
        assert!(said(builder.value("nn.exq", &[x], &[])).contains("not registered"));
    }
}
