//! Selection: the kernel of each operation, and its scratch.
//!
//! Operations in the regions of branches and loops are included. The target's answers are written into the IR
//! (`mem.kernel`, `mem.scratch` in bytes, and on the function `optc.target` and `optc.threads`), so that
//! planning and code generation read them there.

use ir::alias::is_free;
use ir::plan::attrs;
use ir::target::KernelChoice;
use ir::weights::WeightSet;
use ir::window::is_plain;
use ir::{Attr, Body, Context, Op, OpName, Target, Type, Value, flow};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::edit::entry;

/// Writes the target's kernels into a function, for a run on `threads` threads. Returns the operations that
/// run slower than others of their kind, each with the reason.
pub fn select(ctx: &Context, target: &dyn Target, body: &mut Body, threads: usize) -> Vec<(Op, String)> {
    let mut slow: Vec<(Op, String)> = Vec::new();
    if entry(body).is_none() {
        return slow;
    }
    let weights = WeightSet::of(ctx, body);
    let mut steps: Vec<Op> = Vec::new();
    flow::walk(ctx, body, |op| {
        if !weights.is_weight_op(body, op) {
            steps.push(op);
        }
    });
    let mut answers: FxHashMap<OpKey, Option<KernelChoice>> = FxHashMap::default();
    for op in steps {
        forget_scratch(ctx, body, op);
        let choice = match key(ctx, body, &weights, op) {
            None => target.select(body.at(ctx, op), threads),
            Some(key) => {
                let ask = || target.select(body.at(ctx, op), threads);
                answers.entry(key).or_insert_with(ask).clone()
            }
        };
        slow.extend(choice.iter().find_map(|choice| Some((op, choice.slow.clone()?))));
        write(ctx, body, op, choice);
    }
    body.set_own_attr(ctx, attrs::OPTC_TARGET, ctx.str_attr(target.name()));
    body.set_own_attr(ctx, attrs::OPTC_THREADS, ctx.int_attr(threads as i64));
    slow
}

/// Selects again for an operation whose operands or result changed their layout; an operation that is no
/// longer a step loses its kernel.
pub fn select_again(ctx: &Context, target: &dyn Target, body: &mut Body, op: Op) {
    let Some(threads) = attrs::threads(ctx, body) else { return };
    if is_free(body.at(ctx, op)) {
        body.remove_attr(ctx, op, attrs::MEM_KERNEL);
        return;
    }
    forget_scratch(ctx, body, op);
    let choice = target.select(body.at(ctx, op), threads);
    write(ctx, body, op, choice);
}

/// Everything that a target may depend on: an operation's name, attributes, and the types and numbers of its
/// values.
type OpKey = (OpName, [Attr; 2], SmallVec<[(Type, u32); 6]>);

/// A key that is equal for operations with the same kernel. None for an operation that reads weights, has
/// regions, or has a value that is not contiguous.
fn key(ctx: &Context, body: &Body, weights: &WeightSet, op: Op) -> Option<OpKey> {
    let results = body.results(op).collect::<SmallVec<[Value; 2]>>();
    let operands = || body.operands(op).chain(results.iter().copied());
    let is_simple = |value: Value| !weights.contains(value) && is_plain(ctx, body, value);
    if !body.regions(op).is_empty() || !operands().all(is_simple) {
        return None;
    }
    let mut values: SmallVec<[Value; 6]> = SmallVec::new();
    let mut number = |value: Value| {
        let known = values.iter().position(|known| *known == value);
        let number = known.unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        });
        (body.ty(value), number as u32)
    };
    let numbered = operands().map(&mut number).collect();
    Some((body.name(op), [body.properties(op), body.attrs(op)], numbered))
}

/// Removes an earlier answer, which must not limit a new one.
fn forget_scratch(ctx: &Context, body: &mut Body, op: Op) {
    if body.at(ctx, op).attr(attrs::MEM_SCRATCH).is_some() {
        body.remove_attr(ctx, op, attrs::MEM_SCRATCH);
    }
}

fn write(ctx: &Context, body: &mut Body, op: Op, choice: Option<KernelChoice>) {
    let Some(choice) = choice else { return };
    body.set_attr(ctx, op, attrs::MEM_KERNEL, ctx.str_attr(&choice.kernel));
    if choice.scratch_bytes > 0 {
        body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(choice.scratch_bytes as i64));
    }
}
