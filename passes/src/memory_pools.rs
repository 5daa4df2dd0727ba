//! Memory pools: assigns results to the pools that the target requests.
//!
//! ```text
//! %0 = nn.conv2d %x, %w    =>    %0 = nn.conv2d %x, %w {mem.pool = ["vtcm"]}
//! ```
//!
//! Runs with the pass `select` (with `inplace` for named sizes), before all decisions about memory. Pools
//! given in the text are kept: those of operations (`mem.pool`) and those of the function (`optc.pools`).

use ir::memory_pools::{ARENA, add_pools, pools};
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Attr, Body, Context, Diagnostic, Location, Op, Target, flow};

/// Writes the target's pools into a function, and the requested pool of each result.
///
/// # Errors
/// If `optc.pools` of the function is malformed.
pub fn assign(ctx: &Context, target: &dyn Target, body: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let mut added = target.pools();
    if added.is_empty() {
        return Ok(());
    }
    let malformed = |fault| vec![Diagnostic::error(Location::UNKNOWN, fault)];
    if body.own_attr(ctx, ctx.ident(attrs::OPTC_POOLS)).is_some() {
        let known = pools(ctx, body).map_err(malformed)?;
        added.retain(|pool| known.iter().all(|known| known.name != pool.name));
    }
    add_pools(ctx, body, &added).map_err(malformed)?;
    let weights = WeightSet::of(ctx, body);
    let mut chosen: Vec<(Op, Attr)> = Vec::new();
    flow::walk(ctx, body, |op| {
        if !weights.is_weight_op(body, op) {
            chosen.extend(names(ctx, target, body, op).map(|names| (op, names)));
        }
    });
    for (op, names) in chosen {
        body.set_attr(ctx, op, attrs::MEM_POOL, names);
    }
    Ok(())
}

/// The pool of each result, unless the text gives them or all are the arena.
fn names(ctx: &Context, target: &dyn Target, body: &Body, op: Op) -> Option<Attr> {
    let op_ref = body.at(ctx, op);
    if op_ref.attr(attrs::MEM_POOL).is_some() || op_ref.is_structured() {
        return None;
    }
    let names = (0..body.result_count(op)).map(|result| target.pool(op_ref, result).unwrap_or(ARENA));
    let names: Vec<&str> = names.collect();
    let is_elsewhere = names.iter().any(|name| *name != ARENA);
    is_elsewhere.then(|| ctx.array_attr(&names.iter().map(|name| ctx.str_attr(name)).collect::<Vec<_>>()))
}
