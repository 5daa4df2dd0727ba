//! Constants: replaced by ones, zeros, or a single number.

use ir::{Attr, Context, Module, Traits, Type};

use super::search::{Search, change_each};
use super::sites::{self, OpSite, body_at, body_at_mut};
use crate::constants::{splat, splat_of};

/// A simplified constant; none if it would not be simpler.
type Simpler = fn(&Context, Attr, Type) -> Option<Attr>;

/// Tries to simplify constants.
pub(super) fn run(search: &mut Search<'_>) {
    let simpler: [Simpler; 3] = [ones, zeros, first];
    for simpler in simpler {
        let module = &search.program;
        let changes = |site: &OpSite| changed(module, site, simpler).is_some();
        let found: Vec<OpSite> = sites::sites(module).into_iter().filter(changes).collect();
        search.halve(found, |module, found| change_each(found.iter(), |site| change(module, site, simpler)));
    }
}

fn changed(module: &Module, site: &OpSite, simpler: Simpler) -> Option<Attr> {
    let ctx = &module.ctx;
    let body = body_at(module, &site.path)?;
    let op = body.at(ctx, site.op);
    if !op.has(Traits::CONSTANT) {
        return None;
    }
    let value = op.attr("value")?;
    simpler(ctx, value, op.result_type(0)).filter(|new| *new != value)
}

fn change(module: &mut Module, site: &OpSite, simpler: Simpler) -> bool {
    let ctx = module.ctx.clone();
    let Some(new) = changed(module, site, simpler) else { return false };
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    body.set_attr(&ctx, site.op, "value", new);
    true
}

fn ones(ctx: &Context, _: Attr, ty: Type) -> Option<Attr> {
    splat_of(ctx, ty, 1.0)
}

/// Zeros are as simple as ones, but simpler than all other constants.
fn zeros(ctx: &Context, value: Attr, ty: Type) -> Option<Attr> {
    splat_of(ctx, ty, 0.0).filter(|_| Some(value) != splat_of(ctx, ty, 1.0))
}

/// The first element, repeated for all others.
fn first(ctx: &Context, value: Attr, ty: Type) -> Option<Attr> {
    if splat(ctx, value, ty).is_some() {
        return None;
    }
    let tensor = ir::interp::constant_value(ctx, value, ty).ok()?;
    let width = ir::size::storage_bytes(ctx, ctx.elem(ty), 1)? as usize;
    Some(crate::constants::attr(ctx, ty, tensor.bytes.get(..width)?))
}
