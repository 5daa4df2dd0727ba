//! Random modules of all operations, from their rows: functions that call each other, with branches, loops
//! and blocks, at known sizes or a named one.
//!
//! An operation reads values in scope if its row allows their types. Otherwise it appears as in its row's
//! example, at other sizes and with other attributes, on operands that are sliced, padded or cast to the
//! required types. So operations registered later are covered, too. The numbers of a [`Random`] determine the
//! module, and it is verified.

mod flow;
mod rows;

use std::sync::Arc;

use ir::opdef::{Infer, OpDef, RegionCount};
use ir::{
    Attr, Blob, Block, Body, Builder, Context, Dialect, Dim, Location, Module, Op, OpSpec, Traits, Type,
    TypeData, Value, dims, verify,
};

use crate::layouts::{Content, bytes};
use crate::random::Random;

/// The name of the symbolic size.
pub const NAME: &str = "N";
/// The greatest nesting of branches and loops.
const DEPTH: usize = 2;
/// The greatest number of elements of a value.
const MOST_ELEMENTS: u64 = 600;

/// A function that others may call.
struct Callee {
    name: String,
    inputs: Vec<Type>,
    results: Vec<Type>,
}

/// A function under construction.
struct Writer<'a> {
    ctx: Arc<Context>,
    random: &'a mut Random,
    body: Body,
    entry: Block,
    /// The block of the next operation.
    block: Block,
    /// Values in scope, besides the arguments of the function.
    values: Vec<Value>,
    rows: &'a [&'static OpDef],
    /// The sizes to choose from.
    sizes: &'a [Dim],
    callees: &'a [Callee],
}

/// The module determined by these numbers; a third of the modules have a named size.
pub fn random_module(random: &mut Random) -> Module {
    let ctx = Arc::new(Context::new());
    let rows: Vec<&'static OpDef> = ctx.dialects().flat_map(Dialect::ops).filter(|def| stands(def)).collect();
    let mut sizes: Vec<Dim> =
        (0..4).map(|_| Dim::Known(random.pick(&[1, 2, 2, 3, 4, 4, 5, 8, 9, 16, 17]))).collect();
    if random.below(3) == 0 {
        sizes[0] = dims::size(&ctx, dims::symbol(&ctx, NAME));
    }
    let mut module = Module::new(ctx);
    let mut callees = Vec::new();
    for number in 0..random.below(3) {
        callees.push(function(&mut module, &format!("f{number}"), random, &rows, &sizes, &callees));
    }
    function(&mut module, "main", random, &rows, &sizes, &callees);
    module
}

/// Whether operations of a row may be in functions, and are built from operands and attributes alone.
fn stands(def: &OpDef) -> bool {
    let is_other = def.traits.intersects(Traits::TERMINATOR | Traits::CONSTANT | Traits::SYMBOL);
    let calls = def.name == "func.call" || def.name == "func.constant";
    matches!(def.regions, RegionCount::Exactly(0)) && !is_other && !calls && !def.results.is_empty()
}

/// Appends a function to a module.
fn function(
    module: &mut Module,
    name: &str,
    random: &mut Random,
    rows: &[&'static OpDef],
    sizes: &[Dim],
    callees: &[Callee],
) -> Callee {
    let ctx = module.ctx.clone();
    let mut body = Body::new(1);
    let entry = body.add_block(body.root());
    let values = Vec::new();
    let mut writer = Writer { ctx, random, body, entry, block: entry, values, rows, sizes, callees };
    writer.write(if name == "main" { 3 } else { 1 });
    let outputs = writer.outputs();
    writer.end("func.return", &outputs);
    let types = |values: &[Value]| values.iter().map(|value| writer.body.ty(*value)).collect::<Vec<Type>>();
    let (inputs, results) = (types(writer.body.args(entry)), types(&outputs));
    let (ctx, body) = (writer.ctx, writer.body);
    let ty = TypeData::Function { inputs: inputs.clone().into(), results: results.clone().into() };
    let block = module.block();
    let top = module.body_mut();
    let func = top.make_op(ctx.op_name("func.func"), &[], &[], Location::UNKNOWN);
    top.set_attr(&ctx, func, "sym_name", ctx.str_attr(name));
    top.set_attr(&ctx, func, "function_type", ctx.type_attr(ctx.ty(ty)));
    if name != "main" {
        top.set_attr(&ctx, func, "sym_visibility", ctx.str_attr("private"));
    }
    top.set_child(func, body);
    top.append(func, block);
    Callee { name: name.to_owned(), inputs, results }
}

impl Writer<'_> {
    /// Writes statements, some of them blocks, and at least one value.
    fn write(&mut self, parts: usize) {
        let first = self.size();
        let ty = self.tensor(&[first, Dim::Known(4)], self.ctx.f32());
        self.fresh(ty);
        for _ in 0..parts {
            for _ in 0..1 + self.random.below(5) {
                self.statement(DEPTH);
            }
            match self.random.below(8) {
                0 => self.fork(),
                1 => self.turns(),
                _ => {}
            }
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if depth > 0 { 24 } else { 20 }) {
            0..=8 => self.direct(),
            9..=18 => self.example(),
            19 => self.call(),
            20 | 21 => self.choice(depth - 1),
            22 => self.count(depth - 1),
            _ => self.repeat(depth - 1),
        }
    }

    fn size(&mut self) -> Dim {
        self.random.pick(self.sizes)
    }

    fn tensor(&self, shape: &[Dim], elem: Type) -> Type {
        self.ctx.ty(TypeData::Tensor { shape: shape.into(), elem, encoding: None })
    }

    fn ty(&self, value: Value) -> Type {
        self.body.ty(value)
    }

    /// A value in scope: most often one of the last.
    fn any(&mut self) -> Value {
        let all: Vec<Value> = self.body.args(self.entry).iter().chain(&self.values).copied().collect();
        let from = if self.random.below(3) == 0 { 0 } else { all.len().saturating_sub(4) };
        all[from + self.random.below(all.len() - from)]
    }

    /// A value of a type in scope; often the last one.
    fn of_type(&mut self, ty: Type) -> Option<Value> {
        let all = self.body.args(self.entry).iter().chain(&self.values).copied();
        let alike: Vec<Value> = all.filter(|value| self.body.ty(*value) == ty).collect();
        let last = *alike.last()?;
        Some(if self.random.below(2) == 0 { last } else { self.random.pick(&alike) })
    }

    /// A value of a type: one in scope, or a new one.
    fn get(&mut self, ty: Type) -> Value {
        match self.of_type(ty) {
            Some(value) if self.random.below(4) > 0 => value,
            _ => self.fresh(ty),
        }
    }

    /// A constant or a further argument.
    fn fresh(&mut self, ty: Type) -> Value {
        let is_known = self.ctx.static_shape(ty).is_some_and(|shape| !shape.contains(&0));
        if is_known && self.random.below(3) == 0 {
            let content = content(&self.ctx, ty, self.random);
            let value = self.ctx.resource_attr(&self.key(), ty, Blob::from_bytes(content));
            let constant = Builder::at_end(&self.ctx, &mut self.body, self.block).constant(value, ty);
            self.values.push(constant);
            return constant;
        }
        self.body.add_arg(self.entry, ty)
    }

    /// An unused name for a constant's bytes.
    fn key(&self) -> String {
        format!("c{}", self.ctx.resources().count())
    }

    /// Appends an operation, unless its types cannot be inferred, are too large, or the verifier refuses it.
    /// If result types cannot be inferred, they are `said`.
    fn build(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)], said: &[Type]) -> Option<Op> {
        let types: Vec<Type> = operands.iter().map(|value| self.ty(*value)).collect();
        let results = results(&self.ctx, name, &types, attrs, said)?;
        let spec = OpSpec { operands, attrs, results: Some(&results), ..OpSpec::default() };
        let op = Builder::at_end(&self.ctx, &mut self.body, self.block).build(name, spec).ok()?;
        let made: Vec<Value> = self.body.results(op).collect();
        self.values.extend(made);
        Some(op)
    }

    /// Ends a block.
    fn end(&mut self, name: &str, operands: &[Value]) {
        let spec = OpSpec { operands, ..OpSpec::default() };
        Builder::at_end(&self.ctx, &mut self.body, self.block).build(name, spec).expect("a terminator");
    }

    /// The returned values: the last one, most of the unread ones, and any others.
    fn outputs(&mut self) -> Vec<Value> {
        let mut outputs: Vec<Value> = self.values.last().copied().into_iter().collect();
        let unread: Vec<Value> =
            self.values.iter().copied().filter(|value| !self.body.is_used(*value)).collect();
        outputs.extend(unread.into_iter().rev().skip(1).take(5));
        outputs.push(self.any());
        outputs
    }

    /// A call of an earlier function.
    fn call(&mut self) {
        if self.callees.is_empty() {
            return;
        }
        let callee = &self.callees[self.random.below(self.callees.len())];
        let operands: Vec<Value> = callee.inputs.iter().map(|ty| self.get(*ty)).collect();
        let root = self.ctx.ident(&callee.name);
        let symbol = self.ctx.attr(ir::AttrData::SymbolRef { root, nested: Box::new([]) });
        let attrs = [("callee", symbol)];
        let spec = OpSpec {
            operands: &operands,
            attrs: &attrs,
            results: Some(&callee.results),
            ..OpSpec::default()
        };
        let op = Builder::at_end(&self.ctx, &mut self.body, self.block).build("func.call", spec);
        let results: Vec<Value> = self.body.results(op.expect("the types are given")).collect();
        self.values.extend(results);
    }
}

/// The result types of an operation on operands of these types, if it is valid and they are not large.
fn results(
    ctx: &Context,
    name: &str,
    operands: &[Type],
    attrs: &[(&str, Attr)],
    said: &[Type],
) -> Option<Vec<Type>> {
    let is_declared = matches!(ctx.def(ctx.op_name(name))?.infer, Infer::Declared);
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let args: Vec<Value> = operands.iter().map(|ty| body.add_arg(block, *ty)).collect();
    let mut builder = Builder::at_end(ctx, &mut body, block);
    let said = is_declared.then_some(said);
    let op =
        builder.build(name, OpSpec { operands: &args, attrs, results: said, ..OpSpec::default() }).ok()?;
    builder.build("func.return", OpSpec::default()).ok()?;
    let types: Vec<Type> = body.results(op).map(|value| body.ty(value)).collect();
    let is_small = types.iter().all(|ty| elements(ctx, *ty) <= MOST_ELEMENTS);
    (is_small && verify::verify_body(ctx, &body).is_ok()).then_some(types)
}

/// The number of elements of a value of a type, with a moderate number for a named size.
fn elements(ctx: &Context, ty: Type) -> u64 {
    let Some(shape) = ctx.type_data(ty).tensor_shape() else { return 1 };
    shape.iter().map(|size| size.known().unwrap_or(6)).fold(1, u64::saturating_mul)
}

/// Whether arguments may have a type: a scalar or a tensor of booleans, or of numbers of at least a byte.
fn is_plain(ctx: &Context, ty: Type) -> bool {
    let elem = match ctx.type_data(ty) {
        TypeData::Tensor { elem, encoding: None, .. } => *elem,
        _ => ty,
    };
    match ctx.type_data(elem) {
        TypeData::Float(kind) => [16, 32, 64].contains(&kind.bits()),
        TypeData::Integer { width, .. } => [1, 8, 16, 32, 64].contains(width),
        _ => false,
    }
}

/// The bytes of an argument or a constant: numbers, or small indices for integers.
pub fn content(ctx: &Context, ty: Type, random: &mut Random) -> Vec<u8> {
    let is_index =
        matches!(ctx.type_data(ctx.elem(ty)), TypeData::Index | TypeData::Integer { width: 8.., .. });
    let small = if random.below(3) == 0 { 3 } else { 1 };
    bytes(ctx, ty, if is_index { Content::Indices(small) } else { Content::Numbers }, random)
}
