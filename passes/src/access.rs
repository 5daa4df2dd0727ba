//! The order in which an operation reads an operand while it writes a result: declared by its `OpDef` or the
//! target.

use ir::opdef::Access;
use ir::size::static_extents;
use ir::{Body, Context, Kind, Op, Target};

/// The order in which `op` reads `operand` while it writes `result`, and thus how the result may overwrite
/// it.
///
/// Elementwise operations, and groups of them, read an operand of the result's own shape and element size at
/// the index that they write. For other operations their `OpDef` declares the order; for contractions and
/// groups around them, the target does.
pub fn access(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    op: Op,
    result: usize,
    operand: usize,
) -> Access {
    let op_ref = body.at(ctx, op);
    if let Kind::Elementwise(_) = op_ref.kind() {
        return same_index(ctx, body, op, result, operand);
    }
    if let Kind::Group = op_ref.kind()
        && is_pointwise(ctx, body, op)
    {
        return same_index(ctx, body, op, result, operand);
    }
    let declared = op_ref.def().map_or(Access::Never, |def| def.access(result, operand));
    let is_targets = matches!(op_ref.kind(), Kind::Contract(_) | Kind::Group);
    if declared != Access::Never || result > 0 || !is_targets {
        return declared;
    }
    if let Kind::Group = op_ref.kind()
        && !is_read_once(ctx, body, op, operand)
    {
        return Access::Never;
    }
    target.access(op_ref, operand)
}

/// Whether the target must decide, at each size, whether `result` of `op` may overwrite `operand`.
pub fn asks_target(ctx: &Context, body: &Body, op: Op, result: usize, operand: usize) -> bool {
    let op_ref = body.at(ctx, op);
    let declared = op_ref.def().map_or(Access::Never, |def| def.access(result, operand));
    match op_ref.kind() {
        Kind::Group => !is_pointwise(ctx, body, op),
        Kind::Contract(_) => declared == Access::Never,
        _ => false,
    }
}

/// Whether a group consists of elementwise operations only.
pub fn is_pointwise(ctx: &Context, body: &Body, group: Op) -> bool {
    let blocks = body.regions(group).iter().flat_map(|region| body.blocks(*region));
    let mut ops = blocks.flat_map(|block| body.ops(*block));
    ops.all(|op| {
        let op_ref = body.at(ctx, op);
        matches!(op_ref.kind(), Kind::Elementwise(_)) || op_ref.has(ir::Traits::YIELD)
    })
}

/// Whether the body of a group reads an operand only once, perhaps converted: an addend may also be a factor.
fn is_read_once(ctx: &Context, body: &Body, group: Op, operand: usize) -> bool {
    let block = body.regions(group).first().and_then(|region| body.entry(*region));
    let mut value = block.map(|block| body.args(block)[operand]);
    while let Some(read) = value.filter(|read| body.has_one_use(*read)) {
        let user = body.uses(read).next().map(|used| body.at(ctx, used.op));
        let conversion = user.filter(|user| user.has(ir::Traits::CAST));
        match conversion {
            Some(conversion) => value = Some(conversion.result(0)),
            None => return true,
        }
    }
    false
}

fn same_index(ctx: &Context, body: &Body, op: Op, result: usize, operand: usize) -> Access {
    let (from, to) = (body.ty(body.operand(op, operand)), body.ty(body.result(op, result)));
    let shapes = (static_extents(ctx, from), static_extents(ctx, to));
    let bytes = |ty| ir::size::tensor_bytes(ctx, ty);
    match shapes {
        (Some(from_shape), Some(to_shape)) if from_shape == to_shape && bytes(from) == bytes(to) => {
            Access::SameIndex
        }
        _ => Access::Never,
    }
}
