//! The position of an operation in a module, valid in every copy of the module.

use std::collections::BTreeSet;
use std::rc::Rc;

use ir::attrs::AttrData;
use ir::{Attr, Body, Context, Ident, Module, Op, Region, Traits};
use rustc_hash::FxHashSet;

use crate::symbols::References;

/// The operations that own the enclosing bodies, outermost first.
pub(super) type BodyPath = Rc<[Op]>;

/// An operation of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OpSite {
    pub(super) path: BodyPath,
    pub(super) op: Op,
}

/// The body at a path, unless it was removed.
pub(super) fn body_at<'m>(module: &'m Module, path: &[Op]) -> Option<&'m Body> {
    path.iter().try_fold(&module.top, |body, op| body.child(*op))
}

/// The body at a path, unless it was removed.
pub(super) fn body_at_mut<'m>(module: &'m mut Module, path: &[Op]) -> Option<&'m mut Body> {
    path.iter().try_fold(&mut module.top, |body, op| body.child_mut(*op))
}

/// All bodies below the outermost operation, in text order, outer ones before inner ones.
pub(super) fn bodies(module: &Module) -> Vec<BodyPath> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<Op>> = vec![vec![module.op()]];
    while let Some(path) = open.pop() {
        let Some(body) = body_at(module, &path) else { continue };
        let inner: Vec<Vec<Op>> = body.children().map(|(op, _)| [&path[..], &[op]].concat()).collect();
        open.extend(inner.into_iter().rev());
        found.push(path.into());
    }
    found
}

/// All operations below the outermost one, in text order; those of an inner body come after those of the body
/// around it.
pub(super) fn sites(module: &Module) -> Vec<OpSite> {
    let mut found = Vec::new();
    for path in bodies(module) {
        let ops = body_at(module, &path).map(ops).unwrap_or_default();
        found.extend(ops.into_iter().map(|op| OpSite { path: path.clone(), op }));
    }
    found
}

/// The operations of a body, each before those in its regions.
pub(super) fn ops(body: &Body) -> Vec<Op> {
    let mut found = Vec::new();
    body.roots().iter().for_each(|root| collect(body, *root, &mut found));
    found
}

fn collect(body: &Body, region: Region, found: &mut Vec<Op>) {
    for op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
        found.push(op);
        body.regions(op).iter().for_each(|inner| collect(body, *inner, found));
    }
}

/// The bodies of functions without references in the module: their arguments may change.
pub(super) fn uncalled(module: &Module) -> BTreeSet<BodyPath> {
    let ctx = &module.ctx;
    let mut references = References::new(ctx);
    let mut called: FxHashSet<Ident> = FxHashSet::default();
    let mut dicts: FxHashSet<Attr> = FxHashSet::default();
    for OpSite { path, op } in sites(module) {
        let Some(body) = body_at(module, &path) else { continue };
        for dict in [body.properties(op), body.attrs(op)] {
            if dicts.insert(dict) {
                called.extend(references.of(dict).iter().flat_map(|names| names.iter().copied()));
            }
        }
    }
    let is_free = |path: &BodyPath| {
        let symbol = body_at(module, path).and_then(|body| body.symbol(ctx));
        is_function(module, path) && symbol.is_none_or(|symbol| !called.contains(&ctx.ident(symbol)))
    };
    bodies(module).into_iter().filter(is_free).collect()
}

/// Whether the body at a path is that of a function.
pub(super) fn is_function(module: &Module, path: &[Op]) -> bool {
    let Some((op, around)) = path.split_last() else { return false };
    body_at(module, around).is_some_and(|body| body.at(&module.ctx, *op).has(Traits::FUNCTION))
}

/// Whether an operation is in a block, and all its enclosing operations are too.
pub(super) fn stands(body: &Body, op: Op) -> bool {
    body.block_of(op).is_some_and(|block| body.region_of(block).is_some())
}

/// The bodies of some sites, without duplicates.
pub(super) fn paths_of<'s>(sites: impl Iterator<Item = &'s OpSite>) -> Vec<BodyPath> {
    let mut paths: Vec<BodyPath> = sites.map(|site| site.path.clone()).collect();
    paths.dedup();
    paths
}

/// An `array<i64: ...>` or an integer, changed number by number; none if nothing changes.
pub(super) fn mapped(ctx: &Context, attr: Attr, number: impl Fn(i64) -> i64) -> Option<Attr> {
    let changed = match ctx.attr_data(attr) {
        AttrData::Integer { value, ty } => {
            let value = number(i64::try_from(*value).ok()?).into();
            ctx.attr(AttrData::Integer { value, ty: *ty })
        }
        AttrData::DenseArray { .. } => {
            ctx.ints_attr(&ctx.ints_value(attr)?.into_iter().map(number).collect::<Vec<_>>())
        }
        _ => return None,
    };
    (changed != attr).then_some(changed)
}
