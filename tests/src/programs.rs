//! Helpers with which tests build programs, and run them in the interpreter and as machine code.

use std::sync::Arc;

use ir::interp::{self, Tensor};
use ir::{Attr, Block, Body, Builder, Context, Dim, Location, Module, OpSpec, Type, TypeData, Value, size};
use optc::{Array, CompileOptions, Failure, Model};

use crate::random::Random;

/// A function `@main` under construction.
pub struct Program {
    /// The context of all handles.
    pub ctx: Arc<Context>,
    body: Body,
    block: Block,
    inputs: Vec<Type>,
}

impl Program {
    /// A function of arguments of these types, with their values.
    pub fn new(ctx: Arc<Context>, inputs: &[Type]) -> (Program, Vec<Value>) {
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        let args = inputs.iter().map(|ty| body.add_arg(block, *ty)).collect();
        (Program { ctx, body, block, inputs: inputs.to_vec() }, args)
    }

    /// Appends an argument.
    pub fn argument(&mut self, ty: Type) -> Value {
        self.inputs.push(ty);
        self.body.add_arg(self.block, ty)
    }

    /// Appends an operation with inferred types, and returns its first result.
    pub fn op(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Value {
        let built = Builder::at_end(&self.ctx, &mut self.body, self.block).value(name, operands, attrs);
        built.unwrap_or_else(|error| panic!("{name}: {}", error.0))
    }

    /// Appends an operation, unless its types cannot be inferred.
    pub fn try_op(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Option<Value> {
        Builder::at_end(&self.ctx, &mut self.body, self.block).value(name, operands, attrs).ok()
    }

    /// Appends a constant of `f32`.
    pub fn constant(&mut self, shape: &[u64], values: &[f32]) -> Value {
        let ty = self.ctx.tensor(shape, self.ctx.f32());
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let key = format!("constant{}", self.body.value_capacity());
        let value = self.ctx.resource_attr(&key, ty, ir::Blob::from_bytes(bytes));
        Builder::at_end(&self.ctx, &mut self.body, self.block).constant(value, ty)
    }

    /// Known sizes of a value.
    pub fn shape(&self, value: Value) -> Vec<u64> {
        self.ctx.static_shape(self.body.ty(value)).expect("tests use known sizes")
    }

    /// The type of a value's elements.
    pub fn elem(&self, value: Value) -> Type {
        self.ctx.elem(self.body.ty(value))
    }

    /// The sizes of a value.
    pub fn dims(&self, value: Value) -> Vec<Dim> {
        self.ctx.type_data(self.body.ty(value)).tensor_shape().expect("tests compute with tensors").to_vec()
    }

    /// The module, with these values returned.
    pub fn finish(mut self, outputs: &[Value]) -> Module {
        let spec = OpSpec { operands: outputs, ..OpSpec::default() };
        Builder::at_end(&self.ctx, &mut self.body, self.block)
            .build("func.return", spec)
            .expect("a terminator");
        module_of(&self.ctx, self.body, &self.inputs, outputs)
    }
}

/// A module with one function, `main`, with this body, inputs and outputs.
pub fn module_of(ctx: &Arc<Context>, body: Body, inputs: &[Type], outputs: &[Value]) -> Module {
    let results: Vec<Type> = outputs.iter().map(|value| body.ty(*value)).collect();
    let ty = ir::TypeData::Function { inputs: inputs.into(), results: results.into() };
    let mut module = Module::new(ctx.clone());
    let block = module.block();
    let top = module.body_mut();
    let func = top.make_op(ctx.op_name("func.func"), &[], &[], Location::UNKNOWN);
    top.set_attr(ctx, func, "sym_name", ctx.str_attr("main"));
    top.set_attr(ctx, func, "function_type", ctx.type_attr(ctx.ty(ty)));
    top.set_child(func, body);
    top.append(func, block);
    module
}

/// The interpreter's results for inputs of `f32`.
pub fn interpret(module: &Module, inputs: &[Array]) -> Vec<Array> {
    let ctx = &module.ctx;
    let tensors: Vec<Tensor> = inputs
        .iter()
        .map(|array| Tensor::new(ctx, ctx.tensor(&array.shape, ctx.f32()), array.bytes.clone()))
        .collect();
    let outputs = interp::run(module, "main", &tensors);
    let outputs = outputs.unwrap_or_else(|fault| panic!("{}", fault.render(ctx)));
    let element = |tensor: &Tensor| {
        if ctx.elem(tensor.ty) == ctx.int(1) { runtime::ElementKind::Bool } else { runtime::ElementKind::F32 }
    };
    let arrays = outputs.into_iter().enumerate().map(|(index, tensor)| Array {
        name: format!("result{index}"),
        element: element(&tensor),
        shape: ctx.static_shape(tensor.ty).expect("values have known sizes"),
        bytes: tensor.bytes.to_vec(),
    });
    arrays.collect()
}

/// The results of machine code; the module is left planned.
///
/// # Errors
/// If the module can't be compiled.
pub fn execute(
    module: &mut Module,
    inputs: &[Array],
    options: &CompileOptions,
) -> Result<Vec<Array>, Failure> {
    Model::compile(module, options)?.run(inputs)
}

/// An array of `f32`.
pub fn array(name: &str, shape: &[u64], values: &[f32]) -> Array {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Array { name: name.to_owned(), element: runtime::ElementKind::F32, shape: shape.to_vec(), bytes }
}

/// The elements of an array of `f32`.
pub fn floats(array: &Array) -> Vec<f32> {
    let words = array.bytes.chunks_exact(4);
    words.map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

/// An argument of this type: floats between -1 and 1, small numbers, and alternating booleans; none if its
/// size is not known.
pub fn argument(ctx: &Context, ty: Type, case: u64, random: &mut Random) -> Option<Tensor> {
    let bytes = usize::try_from(size::tensor_bytes(ctx, ty)?).ok()?;
    let content = match ctx.type_data(ctx.elem(ty)) {
        TypeData::Float(_) => random.floats(bytes as u64 / 4).iter().flat_map(|x| x.to_le_bytes()).collect(),
        TypeData::Integer { width: 1, .. } => vec![(case % 2) as u8; bytes],
        _ => {
            let mut content = vec![0; bytes];
            content.chunks_mut(8).for_each(|chunk| chunk[0] = (case % 5) as u8);
            content
        }
    };
    Some(Tensor::new(ctx, ty, content))
}
