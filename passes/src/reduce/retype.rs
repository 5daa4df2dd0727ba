//! Types: smaller sizes and simpler element types.
//!
//! A size is changed everywhere (in types, constants and lists of sizes), or for only one argument or
//! constant; then the types of all results are inferred again. Inference and the verifier refuse inconsistent
//! candidates.

use ir::attrs::AttrData;
use ir::builder::infer;
use ir::dims;
use ir::opdef::{AttrKind, Infer};
use ir::{Attr, Body, Context, Dim, Kind, Module, Op, Region, Traits, Type, TypeData, Value};
use rustc_hash::FxHashMap;

use super::search::Search;
use super::sites::{self, BodyPath, body_at, body_at_mut, mapped};
use crate::constants::{splat, splat_of};
use crate::edit::write_function_type;

/// Tries to replace named sizes by numbers, and all sizes by smaller ones.
pub(super) fn sizes(search: &mut Search<'_>) {
    search.attempt(|module| {
        let names = dims::symbols_of(module);
        let numbers = names.iter().map(|name| (*name, 2)).collect();
        !names.is_empty() && dims::substitute(module, &numbers).is_ok() && infer_all(module)
    });
    for size in known_sizes(&search.program) {
        let mut size = Some(size);
        while let Some(larger) = size {
            size = shrink_everywhere(search, larger);
        }
    }
    for (path, value, axis) in sources(&search.program) {
        while shrink_axis(search, &path, value, axis) {}
    }
}

/// Tries to replace a size by a smaller one everywhere, perhaps with its multiples; returns the smaller one.
fn shrink_everywhere(search: &mut Search<'_>, size: u64) -> Option<u64> {
    smaller_sizes(size).find(|smaller| {
        let exact = |other: u64| if other == size { *smaller } else { other };
        let multiples = |other: u64| if other.is_multiple_of(size) { other / size * smaller } else { other };
        let ctx = search.program.ctx.clone();
        search.attempt(|module| Retyping::sizes(&ctx, &exact).run(module))
            || search.attempt(|module| Retyping::sizes(&ctx, &multiples).run(module))
    })
}

/// Tries to make one axis of an argument or constant smaller.
fn shrink_axis(search: &mut Search<'_>, path: &[Op], value: Value, axis: usize) -> bool {
    let Some(size) = size_of(&search.program, path, value, axis) else { return false };
    smaller_sizes(size).any(|smaller| search.attempt(|module| resize(module, path, value, axis, smaller)))
}

/// The sizes to try instead of this one, the smallest first.
fn smaller_sizes(size: u64) -> impl Iterator<Item = u64> {
    let mut smaller = vec![1, 2, 4, size / 2, size - 1];
    smaller.retain(|smaller| (1..size).contains(smaller));
    smaller.dedup();
    smaller.into_iter()
}

/// The sizes above 1 of a module's values, the largest first.
fn known_sizes(module: &Module) -> Vec<u64> {
    let mut found = Vec::new();
    for_each_type(module, |ty| {
        let shape = module.ctx.type_data(ty).tensor_shape().unwrap_or_default();
        found.extend(shape.iter().filter_map(|dim| dim.known()).filter(|size| *size > 1));
    });
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.dedup();
    found
}

fn for_each_type(module: &Module, mut visit: impl FnMut(Type)) {
    for path in sites::bodies(module) {
        let body = body_at(module, &path).expect("the place was just found");
        for block in body.all_blocks() {
            let results = body.ops(block).flat_map(|op| body.results(op));
            body.args(block).iter().copied().chain(results).for_each(|value| visit(body.ty(value)));
        }
    }
}

/// The axes of arguments of functions and of constants.
fn sources(module: &Module) -> Vec<(BodyPath, Value, usize)> {
    let mut found = Vec::new();
    for path in sites::bodies(module) {
        let body = body_at(module, &path).expect("the place was just found");
        let args = body.entry(body.root()).map_or(&[][..], |entry| body.args(entry));
        let constants =
            sites::ops(body).into_iter().filter(|op| body.at(&module.ctx, *op).has(Traits::CONSTANT));
        let values = args.iter().copied().chain(constants.flat_map(|op| body.results(op)));
        for value in values {
            let rank = module.ctx.type_data(body.ty(value)).tensor_shape().map_or(0, <[_]>::len);
            found.extend((0..rank).map(|axis| (path.clone(), value, axis)));
        }
    }
    found
}

fn size_of(module: &Module, path: &[Op], value: Value, axis: usize) -> Option<u64> {
    let ty = body_at(module, path)?.ty(value);
    module.ctx.type_data(ty).tensor_shape()?.get(axis)?.known()
}

/// Changes the size of one axis of an argument or constant.
fn resize(module: &mut Module, path: &[Op], value: Value, axis: usize, size: u64) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, path) else { return false };
    let TypeData::Tensor { shape, elem, encoding } = ctx.type_data(body.ty(value)) else { return false };
    let mut shape = shape.to_vec();
    shape[axis] = Dim::Known(size);
    let ty = ctx.ty(TypeData::Tensor { shape: shape.into(), elem: *elem, encoding: *encoding });
    if let Some(op) = body.defining_op(value) {
        let Some(old) = body.at(&ctx, op).attr("value") else { return false };
        let Some(new) = retyped_constant(&ctx, old, body.ty(value), ty) else { return false };
        body.set_attr(&ctx, op, "value", new);
    }
    body.set_ty(value, ty);
    infer_again(&ctx, body).is_some()
}

/// Tries to use only `f32` and `i32`.
pub(super) fn elements(search: &mut Search<'_>) {
    let ctx = search.program.ctx.clone();
    let mut found: Vec<Type> = Vec::new();
    for_each_type(&search.program, |ty| found.push(ctx.elem(ty)));
    found.sort_unstable();
    found.dedup();
    for from in found {
        let to = match ctx.type_data(from) {
            TypeData::Float(_) => ctx.f32(),
            TypeData::Integer { width, .. } if *width > 1 => ctx.int(32),
            _ => continue,
        };
        if from != to {
            let elem = |ty: Type| if ty == from { to } else { ty };
            search.attempt(|module| Retyping::elements(&ctx, &elem).run(module));
        }
    }
}

/// Other sizes or element types for a whole module.
struct Retyping<'a> {
    ctx: &'a Context,
    size: Option<&'a dyn Fn(u64) -> u64>,
    elem: Option<&'a dyn Fn(Type) -> Type>,
    types: FxHashMap<Type, Type>,
}

impl<'a> Retyping<'a> {
    fn sizes(ctx: &'a Context, size: &'a dyn Fn(u64) -> u64) -> Retyping<'a> {
        Retyping { ctx, size: Some(size), elem: None, types: FxHashMap::default() }
    }

    fn elements(ctx: &'a Context, elem: &'a dyn Fn(Type) -> Type) -> Retyping<'a> {
        Retyping { ctx, size: None, elem: Some(elem), types: FxHashMap::default() }
    }

    /// Changes a module; returns whether its types are then consistent.
    fn run(mut self, module: &mut Module) -> bool {
        for path in sites::bodies(module) {
            let body = body_at_mut(module, &path).expect("the place was just found");
            self.body(body);
        }
        infer_all(module)
    }

    fn body(&mut self, body: &mut Body) {
        body.properties = self.attr(body.properties);
        for op in sites::ops(body) {
            self.op(body, op);
        }
        for block in body.all_blocks().collect::<Vec<_>>() {
            let results: Vec<Value> = body.ops(block).flat_map(|op| body.results(op)).collect();
            for value in [body.args(block), &results].concat() {
                let ty = self.ty(body.ty(value));
                body.set_ty(value, ty);
            }
        }
    }

    /// Changes attributes that contain types, elements or sizes.
    fn op(&mut self, body: &mut Body, op: Op) {
        let ctx = self.ctx;
        let at = body.at(ctx, op);
        let Some(def) = at.def() else { return };
        let mut changed: Vec<(&str, Attr)> = Vec::new();
        for attr in def.attrs {
            let Some(old) = at.attr(attr.name) else { continue };
            let new = match (attr.kind, self.size) {
                (AttrKind::Sizes, Some(size)) => mapped(ctx, old, |number| match u64::try_from(number) {
                    Ok(number) => i64::try_from(size(number)).unwrap_or(i64::MAX),
                    Err(_) => number,
                }),
                (AttrKind::Type, _) => Some(self.attr(old)),
                _ if at.has(Traits::CONSTANT) && attr.name == "value" => {
                    let ty = at.result_type(0);
                    retyped_constant(ctx, old, ty, self.ty(ty))
                }
                _ => None,
            };
            changed.extend(new.map(|new| (attr.name, new)));
        }
        changed.into_iter().for_each(|(name, new)| body.set_attr(ctx, op, name, new));
    }

    /// Changes a type, or a dictionary with types among its entries.
    fn attr(&mut self, attr: Attr) -> Attr {
        let ctx = self.ctx;
        match ctx.attr_data(attr) {
            AttrData::Type(ty) => ctx.type_attr(self.ty(*ty)),
            AttrData::Dict(entries) => {
                let entries = entries.iter().map(|(name, value)| (*name, self.attr(*value)));
                ctx.attr(AttrData::Dict(entries.collect()))
            }
            _ => attr,
        }
    }

    fn ty(&mut self, ty: Type) -> Type {
        if let Some(known) = self.types.get(&ty) {
            return *known;
        }
        let ctx = self.ctx;
        let new = match ctx.type_data(ty) {
            TypeData::Tensor { shape, elem, encoding } => {
                let dim = |dim: &Dim| match (dim, self.size) {
                    (Dim::Known(number), Some(size)) => Dim::Known(size(*number)),
                    _ => *dim,
                };
                let shape = shape.iter().map(dim).collect();
                let elem = self.elem.map_or(*elem, |change| change(*elem));
                ctx.ty(TypeData::Tensor { shape, elem, encoding: *encoding })
            }
            TypeData::Function { inputs, results } => {
                let inputs = inputs.iter().map(|ty| self.ty(*ty)).collect();
                let results = results.iter().map(|ty| self.ty(*ty)).collect();
                ctx.ty(TypeData::Function { inputs, results })
            }
            TypeData::Float(_) | TypeData::Integer { .. } => self.elem.map_or(ty, |change| change(ty)),
            _ => ty,
        };
        self.types.insert(ty, new);
        new
    }
}

/// A constant with another type: filled with the same number if all its elements are equal, otherwise with
/// ones.
fn retyped_constant(ctx: &Context, value: Attr, old: Type, new: Type) -> Option<Attr> {
    if old == new {
        return None;
    }
    let one = splat(ctx, value, old).filter(|_| ctx.elem(old) == ctx.elem(new));
    match one {
        Some(one) => Some(crate::constants::attr(ctx, new, &one.bytes)),
        None => splat_of(ctx, new, 1.0),
    }
}

/// Infers the types of all values of a module again; returns whether that succeeded.
pub(super) fn infer_all(module: &mut Module) -> bool {
    let ctx = module.ctx.clone();
    sites::bodies(module).iter().all(|path| {
        let body = body_at_mut(module, path).expect("the place was just found");
        infer_again(&ctx, body).is_some()
    })
}

/// Infers the types of a body's values again from those of its arguments and constants, and updates the
/// function's type; none if an `OpDef` refuses its operands.
pub(super) fn infer_again(ctx: &Context, body: &mut Body) -> Option<()> {
    for root in body.roots().to_vec() {
        infer_region(ctx, body, root)?;
    }
    write_function_type(ctx, body);
    Some(())
}

fn infer_region(ctx: &Context, body: &mut Body, region: Region) -> Option<()> {
    for block in body.blocks(region).to_vec() {
        for op in body.ops(block).collect::<Vec<_>>() {
            infer_op(ctx, body, op)?;
        }
    }
    Some(())
}

fn infer_op(ctx: &Context, body: &mut Body, op: Op) -> Option<()> {
    let is_group = matches!(body.at(ctx, op).kind(), Kind::Group);
    let operands: Vec<Type> = body.operands(op).map(|operand| body.ty(operand)).collect();
    for region in body.regions(op).to_vec() {
        if let (true, Some(entry)) = (is_group, body.entry(region)) {
            let args = body.args(entry).to_vec();
            set_types(body, &args, &operands)?;
        }
        infer_region(ctx, body, region)?;
    }
    let results: Vec<Value> = body.results(op).collect();
    if is_group {
        let block = body.regions(op).first().and_then(|region| body.entry(*region))?;
        let yielded: Vec<Type> = body.operands(body.last_op(block)?).map(|value| body.ty(value)).collect();
        return set_types(body, &results, &yielded);
    }
    let is_inferred = |infer: &Infer| matches!(infer, Infer::SameAs(_) | Infer::Rule(_));
    if !body.at(ctx, op).def().is_some_and(|def| is_inferred(&def.infer)) {
        return Some(());
    }
    let types = infer(ctx, body.name(op), &operands, body.properties(op)).ok()?;
    set_types(body, &results, &types)
}

fn set_types(body: &mut Body, values: &[Value], types: &[Type]) -> Option<()> {
    if values.len() != types.len() {
        return None;
    }
    for (value, ty) in values.iter().zip(types) {
        if body.ty(*value) != *ty {
            body.set_ty(*value, *ty);
        }
    }
    Some(())
}
