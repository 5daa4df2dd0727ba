//! Which kernel runs each operation, and how much scratch it needs.
//!
//! The target's answers are written into the IR (`mem.kernel`, `mem.scratch` in bytes, and on the function
//! `optc.target` and `optc.threads`), so that planning and code generation read them there.

use ir::weights::WeightSet;
use ir::{Body, Context, Op, Target};

use crate::edit::entry;

/// Writes the target's kernels into a function, for a run on `threads` threads.
pub fn select(ctx: &Context, target: &dyn Target, body: &mut Body, threads: usize) {
    let Some(block) = entry(body) else { return };
    let weights = WeightSet::of(ctx, body);
    let steps: Vec<Op> = body.ops(block).filter(|op| !weights.is_weight_op(body, *op)).collect();
    for op in steps {
        let Some(choice) = target.select(body.at(ctx, op), threads) else { continue };
        body.set_attr(ctx, op, "mem.kernel", ctx.str_attr(&choice.kernel));
        if choice.scratch_bytes > 0 {
            body.set_attr(ctx, op, "mem.scratch", ctx.int_attr(choice.scratch_bytes as i64));
        }
    }
    body.set_own_attr(ctx, "optc.target", ctx.str_attr(target.name()));
    body.set_own_attr(ctx, "optc.threads", ctx.int_attr(threads as i64));
}
