//! Which kernel runs each operation, and how much scratch it needs.
//!
//! Operations in the regions of branches and loops are asked for like all others. The target's answers are written into the IR (`mem.kernel`, `mem.scratch` in bytes, and on the function
//! `optc.target` and `optc.threads`), so that planning and code generation read them there.

use ir::alias::is_free;
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Body, Context, Op, Target, flow};

use crate::edit::entry;

/// Writes the target's kernels into a function, for a run on `threads` threads.
pub fn select(ctx: &Context, target: &dyn Target, body: &mut Body, threads: usize) {
    if entry(body).is_none() {
        return;
    }
    let weights = WeightSet::of(ctx, body);
    let mut steps: Vec<Op> = Vec::new();
    flow::walk(ctx, body, |op| {
        if !weights.is_weight_op(body, op) {
            steps.push(op);
        }
    });
    for op in steps {
        write(ctx, target, body, op, threads);
    }
    body.set_own_attr(ctx, attrs::OPTC_TARGET, ctx.str_attr(target.name()));
    body.set_own_attr(ctx, attrs::OPTC_THREADS, ctx.int_attr(threads as i64));
}

/// Asks again for an operation whose operands or result lie otherwise than they did; one that does no longer run has no kernel.
pub fn select_again(ctx: &Context, target: &dyn Target, body: &mut Body, op: Op) {
    let Some(threads) = attrs::threads(ctx, body) else { return };
    match is_free(body.at(ctx, op)) {
        true => body.remove_attr(ctx, op, attrs::MEM_KERNEL),
        false => write(ctx, target, body, op, threads),
    }
}

fn write(ctx: &Context, target: &dyn Target, body: &mut Body, op: Op, threads: usize) {
    // An earlier answer is no limit for this one.
    if body.at(ctx, op).attr(attrs::MEM_SCRATCH).is_some() {
        body.remove_attr(ctx, op, attrs::MEM_SCRATCH);
    }
    let Some(choice) = target.select(body.at(ctx, op), threads) else { return };
    body.set_attr(ctx, op, attrs::MEM_KERNEL, ctx.str_attr(&choice.kernel));
    if choice.scratch_bytes > 0 {
        body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(choice.scratch_bytes as i64));
    }
}
