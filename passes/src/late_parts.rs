//! Copies of small parts of a value that are read late, so that the value itself can die earlier.
//!
//! A view keeps all bytes of its root alive. If few of them are read late, a copy of those takes less memory.
//! Also, an operation that reads a part of a value in another order can't overwrite the value, but can if the
//! part is a copy.
//!
//! ```text
//! %0 = exp %x                  8 rows               %0 = exp %x
//! %1 = slice %0 [0], 1 row                          %1 = slice %0 [0], 1 row
//! %2 = conv %0                               =>     %c = copy %1
//! ...                                               %2 = conv %0          the last that reads %0
//! %9 = mul %8, %1                                   ...
//!                                                   %9 = mul %8, %c
//! ```
//!
//! For each root and each operation that reads it, a trial copies the parts that are read after that
//! operation. `inplace` and the planner's bound then give the peak of live bytes. The best trial is taken if
//! its peak is lower, and the search goes on from there. Weights, roots in the caller's memory and values
//! read in other blocks are left alone. Each trial costs one `inplace` and one liveness analysis, so only the
//! cuts that save most are tried, and fewer in large functions. Functions without parts cost a walk.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use ir::alias::{AliasSets, is_free_view, view_offset_bytes};
use ir::weights::WeightSet;
use ir::{Block, Body, Builder, Context, Diagnostic, Op, Target, Value};

use crate::edit::{blocks, kept_inputs};
use crate::schedule::max_live_bytes;

/// The operations visited in all trials of a function, and the number of trials, at most.
const TRIED_OPS: usize = 8_000;
const MOST_TRIALS: usize = 64;

/// The copies that let a root die early: an operation, and the values to copy after it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cut {
    after: Op,
    parts: Vec<Value>,
    /// The root's bytes minus those of the copies.
    saved_bytes: u64,
}

/// Copies parts of values if that lowers the peak of live bytes; returns a remark for each copy.
pub fn copy_late_parts(ctx: &Context, target: &dyn Target, body: &mut Body) -> Vec<Diagnostic> {
    let mut remarks = Vec::new();
    let mut cuts = cuts(ctx, body);
    if cuts.is_empty() {
        return remarks;
    }
    let ops: usize = blocks(ctx, body).into_iter().map(|block| body.ops(block).count()).sum();
    let mut trials = (TRIED_OPS / ops.max(1)).clamp(1, MOST_TRIALS);
    while !cuts.is_empty() && trials > 0 {
        let Some(given) = max_live_bytes(ctx, target, body) else { break };
        let mut best: Option<(u64, &Cut)> = None;
        for cut in cuts.iter().take(trials) {
            let mut trial = body.clone();
            apply(ctx, &mut trial, cut);
            let bytes = max_live_bytes(ctx, target, &trial).unwrap_or(given);
            if bytes < best.map_or(given, |(bytes, _)| bytes) {
                best = Some((bytes, cut));
            }
        }
        trials = trials.saturating_sub(cuts.len());
        let Some((bytes, cut)) = best.map(|(bytes, cut)| (bytes, cut.clone())) else { break };
        remarks.extend(cut.parts.iter().map(|part| remark(body, *part, cut.after, given - bytes)));
        apply(ctx, body, &cut);
        cuts = self::cuts(ctx, body);
    }
    remarks
}

fn remark(body: &Body, part: Value, after: Op, saved: u64) -> Diagnostic {
    let location = body.defining_op(part).map_or(ir::Location::UNKNOWN, |op| body.location(op));
    let message =
        format!("this part is copied, so that the rest need not be kept: {saved} bytes fewer are live");
    Diagnostic::remark(location, message).with_note(body.location(after), "it is copied after this")
}

/// Copies the parts of a cut; later operations then read the copies.
fn apply(ctx: &Context, body: &mut Body, cut: &Cut) {
    let mut after = cut.after;
    for &part in &cut.parts {
        let view = body.defining_op(part).expect("parts are views");
        let block = body.block_of(after).expect("a cut is in a block");
        let late: Vec<(Op, usize)> = late_uses(ctx, body, part, block, cut.after);
        hoist(body, view, after);
        let at = if body.is_before(after, view) { view } else { after };
        let copy = copy_after(ctx, body, part, at);
        after = body.defining_op(copy).expect("a copy is an operation");
        for (op, index) in late {
            sink(body, op, after);
            body.set_operand(op, index, copy);
        }
    }
}

/// Moves a view that will read a copy, and views of that view, to after the copy. Views do not run, and their
/// readers come after the copy.
fn sink(body: &mut Body, view: Op, copy: Op) {
    if !body.is_before(view, copy) {
        return;
    }
    body.detach(view);
    body.insert_after(view, copy);
    let users: Vec<Op> = body.uses(body.result(view, 0)).map(|used| used.op).collect();
    users.into_iter().for_each(|user| sink(body, user, view));
}

/// Moves a view, and the views that it is based on, up to right after an operation where their root is
/// available. Views do not run.
fn hoist(body: &mut Body, view: Op, after: Op) {
    if body.is_before(view, after) {
        return;
    }
    let mut at = after;
    if let Some(operand) = body.defining_op(body.operand(view, 0)).filter(|op| body.is_before(after, *op)) {
        hoist(body, operand, after);
        at = operand;
    }
    body.detach(view);
    body.insert_after(view, at);
}

fn copy_after(ctx: &Context, body: &mut Body, value: Value, after: Op) -> Value {
    let next = body.next_op(after).expect("a cut is before the end of its block");
    let copy = Builder::before(ctx, body, next).value("optc.copy", &[value], &[]);
    copy.expect("a copy has the type of its operand")
}

/// All cuts of a function that could let a root die early, largest savings first.
fn cuts(ctx: &Context, body: &Body) -> Vec<Cut> {
    let is_part = |op: Op| view_offset_bytes(body.at(ctx, op)).is_some();
    if !blocks(ctx, body).into_iter().any(|block| body.ops(block).any(is_part)) {
        return Vec::new();
    }
    let aliases = AliasSets::of(ctx, body);
    let weights = WeightSet::of(ctx, body);
    let kept = kept_inputs(ctx, body);
    let mut cuts = Vec::new();
    for block in blocks(ctx, body) {
        let mut parts: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
        for op in body.ops(block).filter(|op| is_part(*op)) {
            let part = body.result(op, 0);
            let whole = body.operand(op, 0);
            let root = aliases.root(part);
            let is_whole = aliases.size_bytes(whole) == aliases.size_bytes(root);
            let is_smaller = is_whole && aliases.size_bytes(part) < aliases.size_bytes(root);
            let is_in_block = body.defining_op(root).and_then(|op| body.block_of(op)) == Some(block);
            if is_smaller && is_in_block && !weights.contains(root) && !kept[root] {
                parts.entry(root).or_default().push(part);
            }
        }
        for (root, parts) in parts {
            cuts.extend(cuts_of(ctx, body, block, &aliases, root, &parts));
        }
    }
    cuts.sort_by_key(|cut| Reverse(cut.saved_bytes));
    cuts
}

/// The cuts of one root after each operation that reads it, except the last, if less is copied than dies.
fn cuts_of(
    ctx: &Context,
    body: &Body,
    block: Block,
    aliases: &AliasSets,
    root: Value,
    parts: &[Value],
) -> Vec<Cut> {
    let mut readers = Vec::new();
    if !readers_of(ctx, body, root, block, &mut readers) {
        return Vec::new();
    }
    readers.extend(body.defining_op(root));
    sort_by_order(body, block, &mut readers);
    let bytes = |value: Value| aliases.size_bytes(value).unwrap_or(u64::MAX);
    let cut = |&after: &Op| {
        let is_late = |part: &Value| !late_uses(ctx, body, *part, block, after).is_empty();
        let late: Vec<Value> = parts.iter().copied().filter(is_late).collect();
        let copied = late.iter().fold(0u64, |sum, part| sum.saturating_add(bytes(*part)));
        let mut covered = Vec::new();
        for (op, _) in late.iter().flat_map(|part| late_uses(ctx, body, *part, block, after)) {
            readers_through(ctx, body, op, block, &mut covered);
        }
        let mut left = readers.iter().filter(|reader| body.is_before(after, **reader));
        let is_cut = copied < bytes(root) && !late.is_empty() && left.all(|reader| covered.contains(reader));
        is_cut.then(|| Cut { after, parts: late, saved_bytes: bytes(root) - copied })
    };
    readers[..readers.len() - 1].iter().filter_map(cut).collect()
}

fn sort_by_order(body: &Body, block: Block, ops: &mut Vec<Op>) {
    let mut rank: SecondaryMap<Op, usize> = SecondaryMap::new();
    body.ops(block).enumerate().for_each(|(at, op)| rank[op] = at);
    ops.sort_by_key(|op| rank[*op]);
    ops.dedup();
}

/// Collects the operations of a block that read a value, directly or through views; false if there are
/// readers elsewhere.
fn readers_of(ctx: &Context, body: &Body, value: Value, block: Block, readers: &mut Vec<Op>) -> bool {
    body.uses(value).all(|used| readers_through(ctx, body, used.op, block, readers))
}

/// Collects the operations that read through `op`: the operation itself, or the readers of a view.
fn readers_through(ctx: &Context, body: &Body, op: Op, block: Block, readers: &mut Vec<Op>) -> bool {
    if body.block_of(op) != Some(block) {
        return false;
    }
    if is_free_view(body.at(ctx, op)) {
        return readers_of(ctx, body, body.result(op, 0), block, readers);
    }
    readers.push(op);
    true
}

/// The uses of a part that lead only to readers after `after`.
fn late_uses(ctx: &Context, body: &Body, part: Value, block: Block, after: Op) -> Vec<(Op, usize)> {
    let uses = body.uses(part).map(|used| (used.op, used.index));
    let is_late = |(op, _): &(Op, usize)| {
        let mut readers = Vec::new();
        readers_through(ctx, body, *op, block, &mut readers)
            && !readers.is_empty()
            && readers.iter().all(|reader| body.is_before(after, *reader))
    };
    uses.filter(is_late).collect()
}

#[cfg(test)]
#[path = "late_parts_tests.rs"]
mod tests;
