//! Helpers of passes to copy, rebuild and remove operations.

use cranelift_entity::SecondaryMap;
use ir::builder::{InsertPoint, infer};
use ir::opdef::InferError;
use ir::plan::attrs;
use ir::{
    Attr, AttrData, Block, Body, Builder, Context, Dim, Kind, Op, OpSpec, Traits, Type, TypeData, Value,
};
use rustc_hash::FxHashMap;

/// The entry block of a function's body; none for a declaration.
pub fn entry(body: &Body) -> Option<Block> {
    body.entry(body.root())
}

/// The blocks whose operations run as steps: those of a function, and of the branches and loops in them.
pub fn blocks(ctx: &Context, body: &Body) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Vec<Block> = body.blocks(body.root()).iter().rev().copied().collect();
    while let Some(block) = open.pop() {
        blocks.push(block);
        let inside = body.ops(block).filter(|op| body.at(ctx, *op).is_structured());
        let regions = inside.flat_map(|op| body.regions(op));
        let inner: Vec<Block> = regions.flat_map(|region| body.blocks(*region)).copied().collect();
        open.extend(inner.into_iter().rev());
    }
    blocks
}

/// The arguments that must not be overwritten: those without `optc.donated`, except states with a next value.
pub fn kept_inputs(ctx: &Context, body: &Body) -> SecondaryMap<Value, bool> {
    let attrs = body.own_attr(ctx, ctx.ident("arg_attrs")).and_then(|attrs| ctx.array_value(attrs));
    let donated = ctx.ident(attrs::OPTC_DONATED);
    let args = entry(body).map_or(&[][..], |block| body.args(block));
    let mut kept = SecondaryMap::new();
    for (index, arg) in args.iter().enumerate() {
        let dict = attrs.and_then(|attrs| attrs.get(index));
        kept[*arg] = dict.is_none_or(|dict| ctx.dict_get(*dict, donated).is_none());
    }
    for state in ir::states::states(ctx, body).unwrap_or_default() {
        kept[state.value] = state.result.is_none();
    }
    kept
}

/// Sets one discardable attribute on many operations; equal dictionaries are built once.
pub struct Setter<'a> {
    ctx: &'a Context,
    name: &'static str,
    made: FxHashMap<(Attr, Attr), Attr>,
}

impl<'a> Setter<'a> {
    /// A setter of the attribute `name`.
    pub fn new(ctx: &'a Context, name: &'static str) -> Setter<'a> {
        Setter { ctx, name, made: FxHashMap::default() }
    }

    /// Sets the attribute of an operation.
    pub fn set(&mut self, body: &mut Body, op: Op, value: Attr) {
        let ctx = self.ctx;
        let name = self.name;
        let attrs = body.attrs(op);
        let make = || ctx.dict_set(attrs, ctx.ident(name), value);
        body.set_attrs(op, *self.made.entry((attrs, value)).or_insert_with(make));
    }
}

/// Builds an operation like `op`, with its name, location and discardable attributes, but with new operands
/// and inherent attributes; result types are inferred. `at` is the insertion point.
///
/// # Errors
/// If the result types can't be inferred.
pub fn rebuild(
    ctx: &Context,
    body: &mut Body,
    op: Op,
    operands: &[Value],
    properties: Attr,
    at: InsertPoint,
) -> Result<Op, InferError> {
    let types: Vec<Type> = operands.iter().map(|value| body.ty(*value)).collect();
    let results = infer(ctx, body.name(op), &types, properties)?;
    let copy = body.make_op(body.name(op), operands, &results, body.location(op));
    body.set_properties(copy, properties);
    body.set_attrs(copy, body.attrs(op));
    let location = body.location(op);
    Builder { ctx, body, at, location }.insert(copy);
    Ok(copy)
}

/// Appends a copy of `op`, which has no regions, with other operands to `block`.
pub fn copy_to(body: &mut Body, op: Op, operands: &[Value], block: Block) -> Op {
    assert!(body.regions(op).is_empty() && body.child(op).is_none(), "{op} has regions");
    let results: Vec<Type> = body.results(op).map(|result| body.ty(result)).collect();
    let copy = body.make_op(body.name(op), operands, &results, body.location(op));
    body.set_properties(copy, body.properties(op));
    body.set_attrs(copy, body.attrs(op));
    body.append(copy, block);
    copy
}

/// The permutation of axes of a transpose.
pub fn permutation(ctx: &Context, body: &Body, op: Op) -> Option<Vec<usize>> {
    let op = body.at(ctx, op);
    let Kind::View(_) = op.kind() else { return None };
    op.def()?.attr("permutation")?;
    Some(op.ints("permutation")?.into_iter().map(|axis| axis as usize).collect())
}

/// The permutation that undoes another one.
pub(crate) fn inverse(permutation: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; permutation.len()];
    for (to, &from) in permutation.iter().enumerate() {
        inverse[from] = to;
    }
    inverse
}

/// `value` in another shape with the same number of elements; the operation is inserted before `at`.
pub fn reshape(ctx: &Context, body: &mut Body, value: Value, shape: &[Dim], at: Op) -> Value {
    let attrs = [("shape", ctx.dims_attr(shape))];
    let spec = OpSpec { operands: &[value], attrs: &attrs, ..OpSpec::default() };
    let op = Builder::before(ctx, body, at).build("nn.reshape", spec);
    body.result(op.expect("as many elements"), 0)
}

/// The operation of `block` that is `op`, or contains it in its regions.
pub fn stands_in(body: &Body, op: Op, block: Block) -> Option<Op> {
    let mut at = Some(op);
    while let Some(op) = at {
        if body.block_of(op) == Some(block) {
            return Some(op);
        }
        at = body.parent_op(op);
    }
    None
}

/// The operations that return from a function.
pub fn returns(ctx: &Context, body: &Body) -> Vec<Op> {
    let ends = body.blocks(body.root()).iter().filter_map(|block| body.last_op(*block));
    ends.filter(|op| body.at(ctx, *op).has(Traits::RETURN)).collect()
}

/// Updates the type of a function from its arguments and returned values.
pub fn write_function_type(ctx: &Context, body: &mut Body) {
    let key = ctx.ident("function_type");
    let Some(old) = ctx.dict_get(body.properties, key) else { return };
    let Some(entry) = body.entry(body.root()) else { return };
    let types = |values: &mut dyn Iterator<Item = Value>| values.map(|value| body.ty(value)).collect();
    let inputs = types(&mut body.args(entry).iter().copied());
    let results = match (returns(ctx, body).first(), ctx.attr_data(old)) {
        (Some(op), _) => types(&mut body.operands(*op)),
        (None, AttrData::Type(old)) => match ctx.type_data(*old) {
            TypeData::Function { results, .. } => results.clone(),
            _ => return,
        },
        (None, _) => return,
    };
    let new = ctx.type_attr(ctx.ty(TypeData::Function { inputs, results }));
    body.properties = ctx.dict_set(body.properties, key, new);
}
