//! Operations: removed, with other values read in place of their results.

use std::collections::BTreeSet;

use ir::builder::InsertPoint;
use ir::{Block, Body, Builder, Context, Kind, Module, Op, OpSpec, Traits, Type, Value};

use super::search::{Search, change_each};
use super::signature;
use super::sites::{self, BodyPath, OpSite, body_at, body_at_mut};
use crate::constants::splat_of;
use crate::dce::remove_dead;

/// Tries to remove operations with bodies: functions and modules without references.
pub(super) fn functions(search: &mut Search<'_>) {
    let module = &search.program;
    let owns_body = |site: &OpSite| body_at(module, &site.path).is_some_and(|b| b.child(site.op).is_some());
    let found: Vec<OpSite> = sites::sites(module).into_iter().filter(owns_body).collect();
    remove_all(search, found);
}

/// Tries to remove operations.
pub(super) fn run(search: &mut Search<'_>) {
    let module = &search.program;
    let may_go = |site: &OpSite| {
        let body = body_at(module, &site.path).expect("the place was just found");
        body.child(site.op).is_none() && !body.at(&module.ctx, site.op).has(Traits::TERMINATOR)
    };
    let found: Vec<OpSite> = sites::sites(module).into_iter().filter(may_go).collect();
    remove_all(search, found);
}

fn remove_all(search: &mut Search<'_>, found: Vec<OpSite>) {
    let open = sites::uncalled(&search.program);
    search.halve(found, |module, found| {
        // Operations come before their readers.
        change_each(found.iter(), |site| remove(module, site, &open))
    });
}

fn remove(module: &mut Module, site: &OpSite, open: &BTreeSet<BodyPath>) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    if !sites::stands(body, site.op) {
        return false;
    }
    let arguments = Arguments::of(open, &site.path);
    for result in body.results(site.op) {
        if !body.is_used(result) {
            continue;
        }
        let Some(other) = stand_in(&ctx, body, site.op, body.ty(result), arguments) else { return false };
        body.replace_uses(result, other);
    }
    body.erase(site.op);
    true
}

/// Tries to remove all dead operations.
pub(super) fn dead(search: &mut Search<'_>) {
    search.attempt(|module| {
        let ctx = module.ctx.clone();
        let paths = sites::bodies(module);
        let counts = paths.iter().filter_map(|path| Some(remove_dead(&ctx, body_at_mut(module, path)?)));
        counts.sum::<u64>() > 0
    });
}

/// Whether a function may get new arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    /// It may get new ones.
    New,
    /// It is called elsewhere with its current arguments.
    Given,
}

impl Arguments {
    /// The rule for the body at a path: only functions in `open` may get new arguments.
    pub(super) fn of(open: &BTreeSet<BodyPath>, path: &BodyPath) -> Arguments {
        if open.contains(path) { Arguments::New } else { Arguments::Given }
    }
}

/// A replacement for a result of this type: an operand of the operation, or a value from [`from_outside`].
pub(super) fn stand_in(
    ctx: &Context,
    body: &mut Body,
    op: Op,
    ty: Type,
    arguments: Arguments,
) -> Option<Value> {
    let operand = body.operands(op).find(|operand| body.ty(*operand) == ty);
    operand.or_else(|| from_outside(ctx, body, op, ty, arguments))
}

/// A value of this type that does not depend on other operations of the block: an argument (a new one if
/// there is none), or else a constant.
pub(super) fn from_outside(
    ctx: &Context,
    body: &mut Body,
    op: Op,
    ty: Type,
    arguments: Arguments,
) -> Option<Value> {
    let block = body.block_of(op)?;
    let region = body.region_of(block)?;
    let entry = body.entry(region)?;
    let of_type = |block: Block| body.args(block).iter().copied().find(|arg| body.ty(*arg) == ty);
    if let Some(arg) = of_type(block).or_else(|| of_type(entry)) {
        return Some(arg);
    }
    match body.owner_of(region) {
        None if arguments == Arguments::New => signature::add_argument(ctx, body, ty),
        None => constant(ctx, body, op, ty),
        Some(group) if matches!(body.at(ctx, group).kind(), Kind::Group) => {
            let outer = from_outside(ctx, body, group, ty, arguments)?;
            let operands: Vec<Value> = body.operands(group).chain([outer]).collect();
            body.set_operands(group, &operands);
            Some(body.add_arg(entry, ty))
        }
        Some(owner) => from_outside(ctx, body, owner, ty, arguments),
    }
}

/// A constant of ones, inserted before an operation.
fn constant(ctx: &Context, body: &mut Body, op: Op, ty: Type) -> Option<Value> {
    let value = splat_of(ctx, ty, 1.0)?;
    let is_tensor = ctx.type_data(ty).tensor_shape().is_some();
    let name = if is_tensor { "nn.constant" } else { "arith.constant" };
    let location = body.location(op);
    let mut builder = Builder { ctx, body, at: InsertPoint::Before(op), location };
    let spec = OpSpec { attrs: &[("value", value)], results: Some(&[ty]), ..OpSpec::default() };
    let made = builder.build(name, spec).ok()?;
    Some(body.result(made, 0))
}
