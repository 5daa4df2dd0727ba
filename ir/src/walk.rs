//! A walk over a body's operations that visits definitions before uses.

use crate::body::Body;
use crate::context::Context;
use crate::dominance::Dominators;
use crate::entities::{Block, Op};

/// Calls `visit` for each reachable operation of a body: definitions before uses, and an `if` or a loop after
/// the operations in it.
pub fn walk(ctx: &Context, body: &Body, mut visit: impl FnMut(Op)) {
    let root = body.root();
    if let [block] = body.blocks(root) {
        return walk_block(ctx, body, *block, &mut visit);
    }
    let dominators = Dominators::of(body, root);
    dominators.reachable().iter().for_each(|block| walk_block(ctx, body, *block, &mut visit));
}

fn walk_block(ctx: &Context, body: &Body, block: Block, visit: &mut impl FnMut(Op)) {
    for op in body.ops(block) {
        if body.at(ctx, op).is_structured() {
            let blocks = body.regions(op).iter().flat_map(|region| body.blocks(*region));
            blocks.for_each(|block| walk_block(ctx, body, *block, visit));
        }
        visit(op);
    }
}
