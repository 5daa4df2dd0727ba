//! Side effects of operations.

use ir::opdef::RegionFlow;
use ir::{Body, Context, Kind, Op, Traits};

/// Whether an operation only computes its results, so that it may be removed if unused, and merged with an
/// equal one. A condition or a counted loop is pure if its regions are. A call is not, nor is a loop that may
/// never end.
pub fn is_pure(ctx: &Context, body: &Body, op: Op) -> bool {
    let Some(def) = ctx.def(body.name(op)) else { return false };
    if def.traits.contains(Traits::TERMINATOR) {
        return false;
    }
    def.traits.contains(Traits::PURE)
        || matches!(def.kind, Kind::Region(RegionFlow::If | RegionFlow::For)) && runs_pure_ops(ctx, body, op)
}

/// Whether all operations in the regions of an operation are pure, except terminators.
fn runs_pure_ops(ctx: &Context, body: &Body, op: Op) -> bool {
    let blocks = body.regions(op).iter().flat_map(|region| body.blocks(*region));
    blocks.flat_map(|block| body.ops(*block)).all(|inner| {
        let is_end = body.at(ctx, inner).has(Traits::TERMINATOR) && body.successors(inner).is_empty();
        is_end || is_pure(ctx, body, inner)
    })
}
