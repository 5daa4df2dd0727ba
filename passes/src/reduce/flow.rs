//! Branches, regions and calls: removed or simplified.

use std::collections::BTreeSet;

use ir::{Block, Body, Context, Module, Op, Traits, Type, Value};

use super::operations::{Arguments, from_outside};
use super::search::{Search, change_each, op_count};
use super::sites::{self, BodyPath, OpSite, body_at, body_at_mut};
use crate::branches::{branch, go_to, handed};
use crate::canonicalize::simplify_blocks;
use crate::inline::INLINE;
use crate::manager::{PassContext, PassOptions, PassRun, PlainTarget};
use crate::rewrite::{RewriteOutcome, RuleSet};

/// Tries to end blocks with a return, to make branches unconditional, and to merge blocks.
pub(super) fn blocks(search: &mut Search<'_>) {
    let branches = branches(&search.program);
    if branches.is_empty() {
        return;
    }
    let open = sites::uncalled(&search.program);
    search.halve(branches.clone(), |module, found| {
        change_each(found.iter(), |site| end_here(module, site, &open)) && tidy(module, found)
    });
    for way in [0, 1] {
        search.halve(branches.clone(), |module, found| {
            change_each(found.iter(), |site| take(module, site, way)) && tidy(module, found)
        });
    }
    search.attempt(|module| tidy(module, &branches));
}

fn branches(module: &Module) -> Vec<OpSite> {
    let mut found = sites::sites(module);
    found.retain(|site| {
        let body = body_at(module, &site.path).expect("the place was just found");
        branch(&module.ctx, body, site.op).is_some()
    });
    found
}

/// Removes unreachable blocks and merges the others, in the bodies of these branches; returns true, because
/// these bodies were changed now or before.
fn tidy(module: &mut Module, found: &[OpSite]) -> bool {
    let ctx = module.ctx.clone();
    for path in sites::paths_of(found.iter()) {
        let Some(body) = body_at_mut(module, &path) else { continue };
        while simplify_blocks(&ctx, body) == RewriteOutcome::Changed {}
    }
    true
}

/// Makes a branch unconditional.
fn take(module: &mut Module, site: &OpSite, way: usize) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    if !sites::stands(body, site.op) || body.successors(site.op).len() < 2 {
        return false;
    }
    let Some(successor) = body.successors(site.op).get(way) else { return false };
    let target = successor.block;
    let args = handed(body, site.op, way);
    go_to(&ctx, body, site.op, target, &args);
    true
}

/// Replaces a branch by a return.
fn end_here(module: &mut Module, site: &OpSite, open: &BTreeSet<BodyPath>) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    if !sites::stands(body, site.op) || body.parent_op(site.op).is_some() {
        return false;
    }
    let ends = body.all_blocks().filter_map(|block| body.last_op(block)).collect::<Vec<_>>();
    let Some(end) = ends.into_iter().find(|op| body.at(&ctx, *op).has(Traits::RETURN)) else { return false };
    let types: Vec<Type> = body.operands(end).map(|value| body.ty(value)).collect();
    let arguments = Arguments::of(open, &site.path);
    let values = types.into_iter().map(|ty| from_outside(&ctx, body, site.op, ty, arguments));
    let Some(values) = values.collect::<Option<Vec<Value>>>() else { return false };
    let new = body.make_op(body.name(end), &values, &[], body.location(site.op));
    body.set_properties(new, body.properties(end));
    body.insert_before(new, site.op);
    body.erase(site.op);
    true
}

/// Tries to replace an operation with regions by the contents of one of them.
pub(super) fn regions(search: &mut Search<'_>) {
    let module = &search.program;
    let open = sites::uncalled(module);
    for region in [0, 1] {
        let mut found = sites::sites(&search.program);
        found.retain(|site| {
            let body = body_at(&search.program, &site.path).expect("the place was just found");
            body.regions(site.op).len() > region
        });
        search.halve(found, |module, found| {
            change_each(found.iter(), |site| unwrap_region(module, site, region, &open))
        });
    }
}

fn unwrap_region(module: &mut Module, site: &OpSite, region: usize, open: &BTreeSet<BodyPath>) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    if !sites::stands(body, site.op) {
        return false;
    }
    let [block] = body.blocks(body.regions(site.op)[region]) else { return false };
    let block = *block;
    inline_block(&ctx, body, site.op, block, Arguments::of(open, &site.path)).is_some()
}

/// Moves the operations of a block before its owner, and removes the owner; values of the same type replace
/// the block's arguments and the owner's results.
fn inline_block(ctx: &Context, body: &mut Body, op: Op, block: Block, arguments: Arguments) -> Option<()> {
    let mut given: Vec<Value> = body.operands(op).collect();
    for param in body.args(block).to_vec() {
        let value = take_of_type(body, &mut given, body.ty(param));
        let value = match value {
            Some(value) => value,
            None => from_outside(ctx, body, op, body.ty(param), arguments)?,
        };
        body.replace_uses(param, value);
    }
    let end = body.last_op(block).filter(|last| body.at(ctx, *last).has(Traits::TERMINATOR))?;
    let mut handed: Vec<Value> = body.operands(end).collect();
    body.erase(end);
    for inner in body.ops(block).collect::<Vec<_>>() {
        body.detach(inner);
        body.insert_before(inner, op);
    }
    for result in body.results(op) {
        let value = match take_of_type(body, &mut handed, body.ty(result)) {
            Some(value) => value,
            None => from_outside(ctx, body, op, body.ty(result), arguments)?,
        };
        body.replace_uses(result, value);
    }
    body.erase(op);
    Some(())
}

/// Removes and returns the first value of this type.
fn take_of_type(body: &Body, values: &mut Vec<Value>, ty: Type) -> Option<Value> {
    let index = values.iter().position(|value| body.ty(*value) == ty)?;
    Some(values.remove(index))
}

/// Tries to inline calls, if that does not increase the number of operations.
pub(super) fn calls(search: &mut Search<'_>) {
    let PassRun::Module(inline) = &INLINE.run else { return };
    let most = op_count(&search.program);
    search.attempt(|module| {
        let ctx = module.ctx.clone();
        let (options, rules) = (PassOptions::defaults(INLINE.options), RuleSet::default());
        let context = PassContext::new(&ctx, &PlainTarget, 1, &options, &rules);
        inline(&context, module).is_ok() && op_count(module) <= most
    });
}
