//! Substitution of named sizes: specializes a program for given sizes.
//!
//! [`substitute`] replaces symbols by numbers in every type and attribute of a module, as if the model had
//! been imported with these numbers. Each distinct type and attribute is processed once; the rest is a walk
//! over the tables. The verifier decides afterwards whether the program allows the sizes: a window may not
//! fit its image, or operands may differ.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Ranges, constant, maximum, print, replace, size, symbols};
use crate::attrs::{AttrData, DenseData, Splat};
use crate::body::Body;
use crate::context::Context;
use crate::diag::{Diagnostic, did_you_mean_or_all};
use crate::entities::{Attr, DimExpr, Ident, Location, Op, Type};
use crate::interp::eval_op;
use crate::module::Module;
use crate::opdef::{Kind, Traits};
use crate::size::tensor_bytes;
use crate::types::{Dim, TypeData};

/// The largest source, in bytes, that becomes a constant.
const MOST_SETTLED_BYTES: u64 = 1 << 20;

/// Numbers for symbols, by name.
pub type Bindings = BTreeMap<Ident, u64>;

/// Replaces symbols by numbers, everywhere in a module. A symbol without a number stays.
///
/// # Errors
/// Every size that would be below 0 or too large, with its expression; every symbol that the module does not
/// have, with "did you mean". The module is then partly changed.
pub fn substitute(module: &mut Module, bindings: &Bindings) -> Result<(), Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut work = Substitution::new(&ctx, bindings);
    work.body(&mut module.top);
    let unknown = bindings.keys().filter(|name| !work.met.contains(name)).map(|name| {
        let name = ctx.str(*name);
        let fault = Diagnostic::error(Location::UNKNOWN, format!("the program has no named size `{name}`"));
        match did_you_mean_or_all(name, work.met.iter().map(|known| ctx.str(*known))) {
            Some(help) => fault.with_help(help),
            None => fault,
        }
    });
    let faults: Vec<Diagnostic> = work.faults.iter().cloned().chain(unknown).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Replaces symbols by numbers in one function and its nested functions; a symbol that does not occur is no
/// error.
///
/// # Errors
/// Every size that would be below 0 or too large.
pub fn substitute_in(ctx: &Context, body: &mut Body, bindings: &Bindings) -> Result<(), Vec<Diagnostic>> {
    let mut work = Substitution::new(ctx, bindings);
    work.body(body);
    if work.faults.is_empty() { Ok(()) } else { Err(work.faults) }
}

/// The symbols in the types of a module's values, sorted by name.
pub fn symbols_of(module: &Module) -> Vec<Ident> {
    symbols_in(&module.ctx, &module.top)
}

/// The symbols in the types of the values of a body and of those in it, sorted by name.
pub fn symbols_in(ctx: &Context, body: &Body) -> Vec<Ident> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    collect(ctx, body, &mut seen, &mut found);
    found.sort_by(|a, b| ctx.str(*a).cmp(ctx.str(*b)));
    found.dedup();
    found
}

fn collect(ctx: &Context, body: &Body, seen: &mut FxHashSet<Type>, found: &mut Vec<Ident>) {
    for block in body.all_blocks() {
        let results = body.ops(block).flat_map(|op| body.results(op));
        for value in body.args(block).iter().copied().chain(results) {
            let ty = body.ty(value);
            if seen.insert(ty) {
                let dims = ctx.type_data(ty).tensor_shape().unwrap_or_default();
                found.extend(dims.iter().flat_map(|dim| match dim {
                    Dim::Symbolic(expr) => symbols(ctx, *expr),
                    _ => Vec::new(),
                }));
            }
        }
    }
    for (_, child) in body.children() {
        collect(ctx, child, seen, found);
    }
}

/// The typical number of a symbol, if its range contains it.
const NOMINAL: u64 = 128;

/// A typical number for each symbol of a function: 128, or the nearest number in its range. It is for
/// decisions that are right at all sizes, but need to be good at some.
pub fn nominal(ctx: &Context, body: &Body) -> Bindings {
    let symbols = symbols_in(ctx, body);
    if symbols.is_empty() {
        return Bindings::new();
    }
    let ranges = Ranges::of_function(ctx, body);
    let number = |symbol: Ident| {
        let (low, high) = ranges.of(symbol);
        high.min(NOMINAL.max(low))
    };
    symbols.into_iter().map(|symbol| (symbol, number(symbol))).collect()
}

/// Replaces each size of a function and its nested functions, independently of the others, by its upper
/// bound. The result need not be a valid program, but bounds the size of each operation.
///
/// # Errors
/// Every size that has no upper bound.
pub fn greatest_in(ctx: &Context, body: &mut Body, ranges: &Ranges) -> Result<(), Vec<Diagnostic>> {
    let mut work = Substitution { greatest: Some(ranges), ..Substitution::new(ctx, NO_BINDINGS) };
    work.body(body);
    if work.faults.is_empty() { Ok(()) } else { Err(work.faults) }
}

static NO_BINDINGS: &Bindings = &Bindings::new();

struct Substitution<'a> {
    ctx: &'a Context,
    bindings: &'a Bindings,
    /// The ranges in which sizes are maximized, if there are no bindings.
    greatest: Option<&'a Ranges>,
    types: FxHashMap<Type, Type>,
    attrs: FxHashMap<Attr, Attr>,
    sizes: FxHashMap<DimExpr, Dim>,
    /// The symbols that occur, sorted by name.
    met: Vec<Ident>,
    faults: Vec<Diagnostic>,
}

impl<'a> Substitution<'a> {
    fn new(ctx: &'a Context, bindings: &'a Bindings) -> Self {
        let (types, attrs, sizes) = Default::default();
        let (met, faults) = (Vec::new(), Vec::new());
        Substitution { ctx, bindings, greatest: None, types, attrs, sizes, met, faults }
    }

    fn body(&mut self, body: &mut Body) {
        body.properties = self.attr(body.properties);
        body.attrs = self.attr(body.attrs);
        let blocks: Vec<_> = body.all_blocks().collect();
        for block in blocks {
            let args = body.args(block).to_vec();
            let ops: Vec<Op> = body.ops(block).collect();
            let results = ops.iter().flat_map(|op| body.results(*op));
            for value in args.into_iter().chain(results.collect::<Vec<_>>()) {
                let (old, new) = (body.ty(value), self.ty(body.ty(value)));
                if old != new {
                    body.set_ty(value, new);
                }
            }
            for op in ops {
                self.op(body, op);
            }
        }
    }

    fn op(&mut self, body: &mut Body, op: Op) {
        let old = body.properties(op);
        let new = self.attr(body.properties(op));
        if old != new {
            body.set_properties(op, new);
            self.settle(body, op);
        }
        let old = body.attrs(op);
        let new = self.attr(body.attrs(op));
        if old != new {
            body.set_attrs(op, new);
        }
        if let Some(child) = body.child_mut(op) {
            self.body(child);
        }
    }

    /// Turns a source whose sizes have all become numbers into a constant, unless it is large: the sizes may
    /// only be tried, and a constant's elements are hashed.
    fn settle(&self, body: &mut Body, op: Op) {
        let ctx = self.ctx;
        let at = body.at(self.ctx, op);
        let is_small = |ty| tensor_bytes(ctx, ty).is_some_and(|bytes| bytes <= MOST_SETTLED_BYTES);
        let is_open = matches!(at.kind(), Kind::Source)
            && !at.has(Traits::CONSTANT)
            && at.operand_count() == 0
            && body.results(op).all(|result| is_small(body.ty(result)));
        let value = if is_open { eval_op(at, &[]).ok() } else { None };
        let Some([value]) = value.as_deref() else { return };
        let width = value.bytes.len()
            / ctx.static_shape(value.ty).map_or(1, |shape| shape.iter().product::<u64>().max(1) as usize);
        let first = value.bytes.get(..width).unwrap_or_default();
        let is_splat = width > 0 && value.bytes.chunks(width).all(|element| element == first);
        let (splat, bytes) =
            if is_splat { (Splat::One, first.into()) } else { (Splat::All, value.bytes[..].into()) };
        let value = ctx.attr(AttrData::Dense { ty: value.ty, data: DenseData::Bytes { splat, bytes } });
        body.set_name(op, ctx.op_name("nn.constant"));
        body.set_properties(op, ctx.dict(vec![(ctx.ident("value"), value)]));
    }

    fn size(&mut self, dim: Dim) -> Dim {
        let Dim::Symbolic(expr) = dim else { return dim };
        if let Some(found) = self.sizes.get(&expr) {
            return *found;
        }
        let ctx = self.ctx;
        for name in symbols(ctx, expr) {
            if let Err(at) = self.met.binary_search_by(|known| ctx.str(*known).cmp(ctx.str(name))) {
                self.met.insert(at, name);
            }
        }
        let found = self.number(expr);
        if found == Dim::Unknown {
            self.faults.push(self.fault(expr));
        }
        self.sizes.insert(expr, found);
        found
    }

    /// The size that replaces an expression.
    fn number(&self, expr: DimExpr) -> Dim {
        let ctx = self.ctx;
        if let Some(ranges) = self.greatest {
            let found = maximum(ctx, expr, ranges).map(|found| u64::try_from(found.value.max(0)));
            return found.and_then(Result::ok).map_or(Dim::Unknown, Dim::Known);
        }
        let number = |name| {
            let value = self.bindings.get(&name)?;
            Some(constant(ctx, i64::try_from(*value).ok()?))
        };
        replace(ctx, expr, &number).map_or(Dim::Unknown, |found| size(ctx, found))
    }

    fn fault(&self, expr: DimExpr) -> Diagnostic {
        if self.greatest.is_some() {
            let what = format!("`{}` has no upper bound", print(self.ctx, expr));
            return Diagnostic::error(Location::UNKNOWN, what);
        }
        let given = symbols(self.ctx, expr).into_iter().filter_map(|name| {
            let value = self.bindings.get(&name)?;
            Some(format!("{} = {value}", self.ctx.str(name)))
        });
        let given = given.collect::<Vec<_>>().join(", ");
        let size = print(self.ctx, expr);
        Diagnostic::error(Location::UNKNOWN, format!("`{size}` is no size where {given}"))
    }

    fn ty(&mut self, ty: Type) -> Type {
        if let Some(found) = self.types.get(&ty) {
            return *found;
        }
        let ctx = self.ctx;
        let found = match ctx.type_data(ty) {
            TypeData::Tensor { shape, elem, encoding } => {
                let shape = shape.iter().map(|dim| self.size(*dim)).collect();
                ctx.ty(TypeData::Tensor { shape, elem: *elem, encoding: *encoding })
            }
            TypeData::Function { inputs, results } => {
                let inputs = inputs.iter().map(|ty| self.ty(*ty)).collect();
                let results = results.iter().map(|ty| self.ty(*ty)).collect();
                ctx.ty(TypeData::Function { inputs, results })
            }
            _ => ty,
        };
        self.types.insert(ty, found);
        found
    }

    fn attr(&mut self, attr: Attr) -> Attr {
        if let Some(found) = self.attrs.get(&attr) {
            return *found;
        }
        let ctx = self.ctx;
        let found = match ctx.attr_data(attr) {
            AttrData::Dict(entries) => {
                let entries = entries.iter().map(|(name, value)| (*name, self.attr(*value)));
                ctx.attr(AttrData::Dict(entries.collect()))
            }
            AttrData::Array(items) => {
                let items = items.iter().map(|item| self.attr(*item)).collect();
                ctx.attr(AttrData::Array(items))
            }
            AttrData::Type(ty) => ctx.type_attr(self.ty(*ty)),
            AttrData::Dims(dims) => {
                let dims: Vec<Dim> = dims.iter().map(|dim| self.size(*dim)).collect();
                ctx.dims_attr(&dims)
            }
            _ => attr,
        };
        self.attrs.insert(attr, found);
        found
    }
}
