//! What an operation does beside computing its results.

use ir::opdef::RegionFlow;
use ir::{Body, Context, Kind, Op, Traits};

/// Whether an operation does nothing but compute its results: it may be removed if nobody reads them, and be
/// left out where another one computes the same. A condition or a counted loop is as pure as what it runs; a
/// loop that may never end, and a call, are not.
pub fn is_pure(ctx: &Context, body: &Body, op: Op) -> bool {
    let Some(def) = ctx.def(body.name(op)) else { return false };
    if def.traits.contains(Traits::TERMINATOR) {
        return false;
    }
    def.traits.contains(Traits::PURE)
        || matches!(def.kind, Kind::Region(RegionFlow::If | RegionFlow::For)) && runs_pure_ops(ctx, body, op)
}

/// Whether all operations in the regions of an operation are pure, terminators apart.
fn runs_pure_ops(ctx: &Context, body: &Body, op: Op) -> bool {
    let blocks = body.regions(op).iter().flat_map(|region| body.blocks(*region));
    blocks.flat_map(|block| body.ops(*block)).all(|inner| {
        let is_end = body.at(ctx, inner).has(Traits::TERMINATOR) && body.successors(inner).is_empty();
        is_end || is_pure(ctx, body, inner)
    })
}
