//! Simplification of basic blocks: removing and merging them.
//!
//! ```text
//!   cf.br ^bb1(%x)                 %0 = nn.exp %x
//! ^bb1(%a):                  =>    return %0
//!   %0 = nn.exp %a
//!   return %0
//! ```
//!
//! In each region of several blocks: unreachable blocks are removed; a block with a single predecessor that
//! is its only successor is merged into it; and an argument that gets the same value on every incoming edge
//! is replaced by that value. Each round costs O(operations).

use cranelift_entity::EntitySet;
use ir::dominance::Dominators;
use ir::opdef::Branch;
use ir::{Block, Body, Context, Op, Region, Value};

use crate::branches::{self, Ways};
use crate::rewrite::RewriteOutcome;

/// Simplifies all regions of a body.
pub(crate) fn simplify(ctx: &Context, body: &mut Body) -> RewriteOutcome {
    let mut outcome = RewriteOutcome::Unchanged;
    for region in regions(body) {
        if body.blocks(region).len() < 2 {
            continue;
        }
        let removed = remove_unreachable(body, region);
        let ways = branches::ways(body);
        let joined = join_args(ctx, body, region, &ways) | merge(ctx, body, region, &ways);
        if removed | joined {
            outcome = RewriteOutcome::Changed;
        }
    }
    outcome
}

/// All regions of a body, outer ones first.
fn regions(body: &Body) -> Vec<Region> {
    let mut regions = body.roots().to_vec();
    let mut at = 0;
    while let Some(&region) = regions.get(at) {
        let ops = body.blocks(region).iter().flat_map(|block| body.ops(*block));
        regions.extend(ops.flat_map(|op| body.regions(op)));
        at += 1;
    }
    regions
}

/// Removes the blocks that are unreachable from the entry.
fn remove_unreachable(body: &mut Body, region: Region) -> bool {
    let dominators = Dominators::of(body, region);
    let blocks = body.blocks(region).to_vec();
    let dead: Vec<Block> = blocks.into_iter().filter(|block| !dominators.is_reachable(*block)).collect();
    body.remove_blocks(region, &dead);
    !dead.is_empty()
}

/// Replaces arguments that get the same value on every incoming edge.
fn join_args(ctx: &Context, body: &mut Body, region: Region, ways: &Ways) -> bool {
    let mut has_changed = false;
    for block in body.blocks(region).to_vec() {
        if !branches::owns_its_args(ctx, body, block, ways) {
            continue;
        }
        for (index, arg) in body.args(block).to_vec().into_iter().enumerate() {
            if let Some(value) = the_same(body, ways, block, (index, arg)) {
                body.replace_uses(arg, value);
                has_changed = true;
            }
        }
    }
    has_changed
}

/// The value that every incoming edge passes for an argument, if the argument is read and there is only one
/// such value.
fn the_same(body: &Body, ways: &Ways, block: Block, (index, arg): (usize, Value)) -> Option<Value> {
    if !body.is_used(arg) {
        return None;
    }
    let mut found = None;
    for &(op, number) in ways.get(&block)? {
        let first = body.successors(op)[number].first_operand as usize;
        let value = body.operand(op, first + index);
        if value != arg && *found.get_or_insert(value) != value {
            return None;
        }
    }
    found
}

/// Merges each block into its only predecessor, if that has no other successor.
fn merge(ctx: &Context, body: &mut Body, region: Region, ways: &Ways) -> bool {
    let mut gone = EntitySet::new();
    for block in body.blocks(region).to_vec() {
        if gone.contains(block) {
            continue;
        }
        while let Some((end, next)) = continuation(ctx, body, block, ways) {
            for (arg, value) in body.args(next).to_vec().into_iter().zip(branches::handed(body, end, 0)) {
                body.replace_uses(arg, value);
            }
            body.erase(end);
            let ops: Vec<Op> = body.ops(next).collect();
            for op in ops {
                body.detach(op);
                body.append(op, block);
            }
            gone.insert(next);
        }
    }
    let gone: Vec<Block> =
        body.blocks(region).iter().copied().filter(|block| gone.contains(*block)).collect();
    body.remove_blocks(region, &gone);
    !gone.is_empty()
}

/// The successor to merge into this block, with the branch that goes there.
fn continuation(ctx: &Context, body: &Body, block: Block, ways: &Ways) -> Option<(Op, Block)> {
    let end = body.last_op(block)?;
    let Some(Branch::Always) = branches::branch(ctx, body, end) else { return None };
    let next = body.successors(end)[0].block;
    let is_only = ways.get(&next)?.len() == 1;
    (is_only && next != block && branches::owns_its_args(ctx, body, next, ways)).then_some((end, next))
}
