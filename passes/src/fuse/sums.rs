//! Sums of two contractions: which of the two gets the sum in its epilogue.
//!
//! ```text
//! %1 = norm %0                              the later one gets it: %0 lives until then
//! %2 = conv2d %1, %v
//! %3 = conv2d %0, %w                        the earlier one gets it: %3 may run first, the norm then
//! %4 = nn.add %2, %3                        overwrites %0, and %2 is added to what %3 left
//! ```
//!
//! The better choice depends on everything in between, so both are tried on copies of the function, with
//! kernels selected and operations scheduled, sum by sum in text order. The earlier contraction gets the sum
//! only if that is strictly better; named sizes are replaced by nominal ones ([`dims::nominal`]). Linear in
//! the sums, each at the cost of the pass `schedule`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ir::scalar::{Binary, Scalar};
use ir::{Body, Context, Kind, Op, Target, Value, dims, size};

use super::fuse_with;
use crate::edit::blocks;
use crate::manager::Changes;
use crate::schedule::{max_live_bytes, schedule};
use crate::select::select;

/// The limit of sums that are tried.
const MOST: usize = 24;

/// The sums that the later of two contractions should leave to the earlier.
pub(super) fn sums_for_the_earlier(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    max_ops: usize,
) -> BTreeSet<Op> {
    let mut sized = Cow::Borrowed(body);
    let sizes = dims::nominal(ctx, body);
    if !sizes.is_empty() && dims::substitute_in(ctx, sized.to_mut(), &sizes).is_err() {
        return BTreeSet::new();
    }
    let body = &*sized;
    let ops = blocks(ctx, body).into_iter().flat_map(|block| body.ops(block));
    let sums: Vec<Op> = ops.filter(|op| is_worth_a_trial(ctx, body, *op)).take(MOST).collect();
    let bytes = |left: &BTreeSet<Op>| {
        let mut trial = body.clone();
        fuse_with(ctx, target, &mut trial, (max_ops, &Changes::unlimited()), left);
        select(ctx, target, &mut trial, 1);
        schedule(ctx, target, &mut trial);
        max_live_bytes(ctx, target, &trial)
    };
    let mut left = BTreeSet::new();
    let Some(mut best) = (!sums.is_empty()).then(|| bytes(&left)).flatten() else { return left };
    for sum in sums {
        let mut with = left.clone();
        with.insert(sum);
        if let Some(found) = bytes(&with).filter(|found| *found < best) {
            (left, best) = (with, found);
        }
    }
    left
}

/// Whether the operand `value` of a sum is computed by the later of its two contractions.
pub(super) fn is_of_the_later(body: &Body, sum: Op, value: Value) -> bool {
    let ends = [0, 1].map(|index| body.defining_op(body.operand(sum, index)));
    match (body.defining_op(value), ends) {
        (Some(op), [Some(a), Some(b)]) => {
            a != b && [a, b].iter().all(|end| *end == op || body.is_before(*end, op))
        }
        _ => false,
    }
}

/// Whether an operation adds the results of two contractions that nothing else reads, and the later one's
/// result is smaller than its operand: only then may running it early save memory.
fn is_worth_a_trial(ctx: &Context, body: &Body, op: Op) -> bool {
    let is_sum = matches!(
        body.at(ctx, op).kind(),
        Kind::Elementwise(Scalar::Binary(Binary::Add, Scalar::Arg(0), Scalar::Arg(1)))
    );
    let is_private = |value: Value| {
        let makes = |maker: Op| {
            body.block_of(maker) == body.block_of(op)
                && matches!(body.at(ctx, maker).kind(), Kind::Contract(_))
        };
        body.has_one_use(value) && body.defining_op(value).is_some_and(makes)
    };
    if !is_sum || !body.operands(op).all(is_private) {
        return false;
    }
    let later = body.operands(op).find(|value| is_of_the_later(body, op, *value));
    let later = later.and_then(|value| body.defining_op(value));
    later.is_some_and(|later| {
        size::is_larger(ctx, body.ty(body.operand(later, 0)), body.ty(body.result(later, 0)))
    })
}
