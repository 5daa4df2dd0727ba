//! The function builder: builds a function from its inputs, operations and outputs.
//!
//! ```
//! use std::sync::Arc;
//! use ir::{Context, FunctionBuilder, Module};
//!
//! let ctx = Arc::new(Context::new());
//! let mut module = Module::new(ctx.clone());
//! let matrix = ctx.tensor(&[2, 2], ctx.f32());
//! let mut main = FunctionBuilder::new(&mut module, "main", &[("x", matrix)]);
//! let x = main.input(0);
//! let weight = main.constant(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
//! let product = main.op("nn.matmul").operands(&[x, weight]).flag("transpose_b").build()?;
//! let shares = main.op("nn.softmax").operands(&[product]).int("axis", 1).build()?;
//! main.finish(&[("y", shares)])?;
//! ir::verify::verify_touched(&mut module).expect("the function is right");
//! assert!(ir::text::print(&module).contains("nn.softmax %1 {axis = 1 : i64}"));
//! # Ok::<(), ir::InferError>(())
//! ```

use std::sync::Arc;

use crate::attrs::{AttrData, DenseData, Splat};
use crate::blob::Blob;
use crate::body::Body;
use crate::builder::{Builder, OpSpec};
use crate::context::Context;
use crate::diag::{did_you_mean, suggestion};
use crate::entities::{Attr, Block, Location, Type, Value};
use crate::infer::InferError;
use crate::module::Module;
use crate::opdef::{Arity, Presence};
use crate::plan::attrs;
use crate::types::{FloatKind, Signedness, TypeData};

/// Builds a function. It is added to the module by [`FunctionBuilder::finish`].
pub struct FunctionBuilder<'m> {
    module: &'m mut Module,
    name: String,
    inputs: Vec<String>,
    ctx: Arc<Context>,
    body: Body,
    block: Block,
}

/// An element type of constant tensors.
pub trait ConstantElement: Copy {
    /// Its type in a context.
    fn ty(ctx: &Context) -> Type;

    /// Appends its bytes, least significant first.
    fn write(self, to: &mut Vec<u8>);
}

macro_rules! elements {
    ($($ty:ty, $data:expr;)+) => {
        $(impl ConstantElement for $ty {
            fn ty(ctx: &Context) -> Type {
                ctx.ty($data)
            }

            fn write(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
        })+
    };
}

/// Signless integers are signed, as in MLIR's dialects.
const fn int(width: u32, signedness: Signedness) -> TypeData {
    TypeData::Integer { width, signedness }
}

elements! {
    f32, TypeData::Float(FloatKind::F32);
    f64, TypeData::Float(FloatKind::F64);
    i8, int(8, Signedness::Signless);
    i16, int(16, Signedness::Signless);
    i32, int(32, Signedness::Signless);
    i64, int(64, Signedness::Signless);
    u8, int(8, Signedness::Unsigned);
    u16, int(16, Signedness::Unsigned);
    u32, int(32, Signedness::Unsigned);
    u64, int(64, Signedness::Unsigned);
}

impl ConstantElement for bool {
    fn ty(ctx: &Context) -> Type {
        ctx.int(1)
    }

    fn write(self, to: &mut Vec<u8>) {
        to.push(self.into());
    }
}

impl<'m> FunctionBuilder<'m> {
    /// Begins a function of a module, with the names and types of its inputs.
    pub fn new(module: &'m mut Module, name: &str, inputs: &[(&str, Type)]) -> FunctionBuilder<'m> {
        let ctx = module.ctx.clone();
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        inputs.iter().for_each(|(_, ty)| {
            body.add_arg(block, *ty);
        });
        let inputs = inputs.iter().map(|(name, _)| (*name).to_owned()).collect();
        FunctionBuilder { module, name: name.to_owned(), inputs, ctx, body, block }
    }

    /// The context of all handles.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// Input `index`.
    ///
    /// # Panics
    /// If the function has no such input.
    pub fn input(&self, index: usize) -> Value {
        self.body.args(self.block)[index]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.body.ty(value)
    }

    /// Begins an operation. It is appended once it is built.
    pub fn op(&mut self, name: &str) -> OpBuilder<'_> {
        let builder = Builder::at_end(&self.ctx, &mut self.body, self.block);
        OpBuilder { builder, name: name.to_owned(), operands: Vec::new(), attrs: Vec::new(), results: None }
    }

    /// A constant tensor with these elements, in row-major order.
    ///
    /// # Errors
    /// If their number differs from the number of elements of the shape.
    pub fn constant<T: ConstantElement>(&mut self, shape: &[u64], values: &[T]) -> Result<Value, InferError> {
        let count: u64 = shape.iter().product();
        if count != values.len() as u64 {
            return Err(format!("a constant of {count} elements is given {}", values.len()).into());
        }
        let mut bytes = Vec::new();
        values.iter().for_each(|value| value.write(&mut bytes));
        let ty = self.ctx.tensor(shape, T::ty(&self.ctx));
        // A name that no blob has yet.
        let names = (0..).map(|number| format!("{}.constant{number}", self.name));
        let mut fresh = names.filter(|name| self.ctx.blob(self.ctx.ident(name)).is_none());
        let name = fresh.next().expect("numbers do not end");
        let value = self.ctx.resource_attr(&name, ty, Blob::from_bytes(bytes));
        Ok(Builder::at_end(&self.ctx, &mut self.body, self.block).constant(value, ty))
    }

    /// A constant tensor with one value for all elements.
    pub fn splat<T: ConstantElement>(&mut self, shape: &[u64], value: T) -> Value {
        let ty = self.ctx.tensor(shape, T::ty(&self.ctx));
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        let data = DenseData::Bytes { splat: Splat::One, bytes: bytes.into() };
        let value = self.ctx.attr(AttrData::Dense { ty, data });
        Builder::at_end(&self.ctx, &mut self.body, self.block).constant(value, ty)
    }

    /// Adds the function to the module, and makes it return these values under these names.
    ///
    /// # Errors
    /// If a value is not one of this function's.
    pub fn finish(mut self, outputs: &[(&str, Value)]) -> Result<(), InferError> {
        let ctx = &*self.ctx;
        let returned: Vec<Value> = outputs.iter().map(|(_, value)| *value).collect();
        let spec = OpSpec { operands: &returned, ..OpSpec::default() };
        Builder::at_end(ctx, &mut self.body, self.block).build("func.return", spec)?;
        let types =
            |values: &[Value]| values.iter().map(|value| self.body.ty(*value)).collect::<Box<[Type]>>();
        let [inputs, results] = [self.body.args(self.block), &returned].map(types);
        let function_type = ctx.type_attr(ctx.ty(TypeData::Function { inputs, results }));
        let named = |name: &str| ctx.dict(vec![(ctx.ident(attrs::OPTC_NAME), ctx.str_attr(name))]);
        let arguments: Vec<Attr> = self.inputs.iter().map(|name| named(name)).collect();
        let outputs: Vec<Attr> = outputs.iter().map(|(name, _)| named(name)).collect();
        let block = self.module.block();
        let top = self.module.body_mut();
        let function = top.make_op(ctx.op_name("func.func"), &[], &[], Location::UNKNOWN);
        for (key, value) in [
            ("sym_name", ctx.str_attr(&self.name)),
            ("function_type", function_type),
            ("arg_attrs", ctx.array_attr(&arguments)),
            ("res_attrs", ctx.array_attr(&outputs)),
        ] {
            top.set_attr(ctx, function, key, value);
        }
        top.set_child(function, self.body);
        top.append(function, block);
        Ok(())
    }
}

/// An operation under construction.
#[must_use = "an operation is appended when it is built"]
pub struct OpBuilder<'b> {
    builder: Builder<'b>,
    name: String,
    operands: Vec<Value>,
    attrs: Vec<(String, Attr)>,
    results: Option<Vec<Type>>,
}

impl OpBuilder<'_> {
    /// Adds operands.
    pub fn operands(mut self, operands: &[Value]) -> Self {
        self.operands.extend_from_slice(operands);
        self
    }

    /// Sets an attribute.
    pub fn attr(mut self, name: &str, value: Attr) -> Self {
        self.attrs.push((name.to_owned(), value));
        self
    }

    /// Sets a unit attribute.
    pub fn flag(self, name: &str) -> Self {
        let value = self.builder.ctx.unit_attr();
        self.attr(name, value)
    }

    /// Sets an integer attribute.
    pub fn int(self, name: &str, value: i64) -> Self {
        let value = self.builder.ctx.int_attr(value);
        self.attr(name, value)
    }

    /// Sets a list of integers.
    pub fn ints(self, name: &str, values: &[i64]) -> Self {
        let value = self.builder.ctx.ints_attr(values);
        self.attr(name, value)
    }

    /// Sets a float attribute.
    pub fn float(self, name: &str, value: f32) -> Self {
        let value = self.builder.ctx.f32_attr(value);
        self.attr(name, value)
    }

    /// Sets a string attribute.
    pub fn word(self, name: &str, value: &str) -> Self {
        let value = self.builder.ctx.str_attr(value);
        self.attr(name, value)
    }

    /// Sets the result types, if they can't be inferred.
    pub fn results(mut self, types: &[Type]) -> Self {
        self.results = Some(types.to_vec());
        self
    }

    /// Appends the operation, and returns its first result.
    ///
    /// # Errors
    /// If there is no such operation, an attribute is unknown or missing, the result types can't be inferred,
    /// or there are no results.
    pub fn build(self) -> Result<Value, InferError> {
        let name = self.name.clone();
        let results = self.build_all()?;
        results.first().copied().ok_or_else(|| format!("`{name}` has no result").into())
    }

    /// Appends the operation, and returns all its results.
    ///
    /// # Errors
    /// As for [`OpBuilder::build`].
    pub fn build_all(mut self) -> Result<Vec<Value>, InferError> {
        self.check()?;
        let attrs: Vec<(&str, Attr)> = self.attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
        let results = self.results.as_deref();
        let spec = OpSpec { operands: &self.operands, attrs: &attrs, results, ..OpSpec::default() };
        let op =
            self.builder.build(&self.name, spec).map_err(|error| match error.0.contains(&self.name) {
                true => error,
                false => format!("`{}`: {}", self.name, error.0).into(),
            })?;
        Ok(self.builder.body.results(op).collect())
    }

    /// Checks that there is such an operation, with these attributes and all required ones.
    fn check(&self) -> Result<(), InferError> {
        let ctx = self.builder.ctx;
        let name = self.name.as_str();
        let hinted = |text: String, hint: Option<String>| match hint {
            Some(hint) => format!("{text} ({hint})"),
            None => text,
        };
        let Some(def) = ctx.def(ctx.op_name(name)) else {
            let hint = ctx.similar_op(name).map(suggestion);
            return Err(hinted(format!("no operation is called `{name}`"), hint).into());
        };
        // An attribute with a dot belongs to another dialect.
        let is_known = |attr: &str| def.attr(attr).is_some() || attr.contains('.');
        if let Some((unknown, _)) = self.attrs.iter().find(|(attr, _)| !is_known(attr)) {
            let hint = did_you_mean(unknown, def.attrs.iter().map(|attr| attr.name));
            return Err(hinted(format!("`{name}` has no attribute `{unknown}`"), hint).into());
        }
        let fewest = def.operands.iter().filter(|operand| operand.arity == Arity::One).count();
        let most = if fewest == def.operands.len() { fewest } else { usize::MAX };
        let found = self.operands.len();
        if !(fewest..=most).contains(&found) {
            let expected = if most == fewest { "" } else { "at least " };
            return Err(format!("`{name}` has {found} operands, expected {expected}{fewest}").into());
        }
        let is_given = |attr: &str| self.attrs.iter().any(|(given, _)| given == attr);
        let mut required = def.attrs.iter().filter(|attr| attr.presence == Presence::Required);
        match required.find(|attr| !is_given(attr.name)) {
            Some(lacking) => Err(format!("`{name}` lacks the attribute `{}`", lacking.name).into()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::print;
    use crate::verify::verify_touched;

    fn said(result: Result<Value, InferError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn wrong_operations_are_told_with_what_may_be_meant() {
        let ctx = Arc::new(Context::new());
        let mut module = Module::new(ctx.clone());
        let vector = ctx.tensor(&[4], ctx.f32());
        let mut main = FunctionBuilder::new(&mut module, "main", &[("x", vector)]);
        let x = main.input(0);
        assert_eq!(
            said(main.op("nn.sofmax").operands(&[x]).build()),
            "no operation is called `nn.sofmax` (did you mean `nn.softmax`?)"
        );
        assert_eq!(
            said(main.op("linalg.softmax").operands(&[x]).build()),
            "no operation is called `linalg.softmax` (did you mean `nn.softmax`?)"
        );
        assert_eq!(
            said(main.op("nn.softmax").operands(&[x]).int("axs", 0).build()),
            "`nn.softmax` has no attribute `axs` (did you mean `axis`?)"
        );
        let lacking = said(main.op("nn.reduce_sum").operands(&[x]).build());
        assert_eq!(lacking, "`nn.reduce_sum` lacks the attribute `axes`");
        assert_eq!(said(main.op("nn.add").operands(&[x]).build()), "`nn.add` has 1 operands, expected 2");
        let outside = said(main.op("nn.reduce_sum").operands(&[x]).ints("axes", &[5]).build());
        assert_eq!(outside, "`nn.reduce_sum`: axis 5 is not one of the operand's 1");
        assert_eq!(said(main.constant(&[3], &[1i64])), "a constant of 3 elements is given 1");
        assert_eq!(said(main.op("func.return").operands(&[x]).build()), "`func.return` has no result");
    }

    #[test]
    fn functions_have_names_types_and_constants_of_every_kind() {
        let ctx = Arc::new(Context::new());
        let mut module = Module::new(ctx.clone());
        for name in ["f", "g"] {
            let vector = ctx.tensor(&[2], ctx.f32());
            let mut function = FunctionBuilder::new(&mut module, name, &[("x", vector)]);
            let weight = function.constant(&[2], &[0.5f32, 0.25]).unwrap();
            let one = function.splat(&[2], 1.0f32);
            let x = function.input(0);
            let product = function.op("nn.mul").operands(&[x, weight]).build().unwrap();
            let sum = function.op("nn.add").operands(&[product, one]).build().unwrap();
            let flags = function.constant(&[3], &[true, false, true]).unwrap();
            let numbers = function.constant(&[1, 2], &[7u16, 9]).unwrap();
            assert_eq!(function.ty(flags), ctx.tensor(&[3], ctx.int(1)));
            function.finish(&[("y", sum), ("flags", flags), ("numbers", numbers)]).unwrap();
        }
        verify_touched(&mut module).unwrap();
        let text = print(&module);
        assert!(text.contains("{optc.name = \"flags\"}") && text.contains("dense<1.000000e+00>"), "{text}");
        assert!(text.contains("dense_resource<f.constant0>") && text.contains("dense_resource<g.constant0>"));
    }
}
