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

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use ir::alias::{AliasSets, is_free_view, view_offset_bytes};
use ir::weights::WeightSet;
use ir::{Block, Body, Builder, Context, Diagnostic, Op, Target, Value};
use rustc_hash::FxHashMap;

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
    let ops: usize = blocks(ctx, body).into_iter().map(|block| body.ops(block).count()).sum();
    let mut trials = (TRIED_OPS / ops.max(1)).clamp(1, MOST_TRIALS);
    while trials > 0 {
        let cuts = cuts(ctx, body, trials);
        if cuts.is_empty() {
            break;
        }
        let Some(given) = max_live_bytes(ctx, target, body) else { break };
        let mut best: Option<(u64, &Cut)> = None;
        for cut in &cuts {
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

/// The cuts of a function that could let a root die early, largest savings first: at most `most`.
fn cuts(ctx: &Context, body: &Body, most: usize) -> Vec<Cut> {
    let is_part = |op: Op| view_offset_bytes(body.at(ctx, op)).is_some();
    if !blocks(ctx, body).into_iter().any(|block| body.ops(block).any(is_part)) {
        return Vec::new();
    }
    let aliases = AliasSets::of(ctx, body);
    let weights = WeightSet::of(ctx, body);
    let kept = kept_inputs(ctx, body);
    let mut roots = Vec::new();
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
        roots
            .extend(parts.iter().filter_map(|(root, parts)| RootReaders::of(ctx, body, block, *root, parts)));
    }
    let found = roots.iter().flat_map(|root| root.cuts(&aliases).map(move |(saved, at)| (saved, root, at)));
    let mut found: Vec<(u64, &RootReaders, usize)> = found.collect();
    found.sort_by_key(|(saved, ..)| Reverse(*saved));
    found.truncate(most);
    found.into_iter().map(|(saved_bytes, root, at)| root.cut(at, saved_bytes)).collect()
}

/// The operations that read a root, by number, and what each of its parts has to do with them.
struct RootReaders {
    root: Value,
    /// The operation that makes the root and all that read it, in order.
    readers: Vec<Op>,
    /// The parts, each with the reader after which no use of it is late: a use is late if all that it leads
    /// to come later.
    parts: Vec<(Value, usize)>,
    /// For each reader, the same of the uses that lead to it; 0 for a reader of the root itself.
    late_until: Vec<usize>,
}

impl RootReaders {
    /// None if the root is read outside of its block.
    fn of(ctx: &Context, body: &Body, block: Block, root: Value, parts: &[Value]) -> Option<RootReaders> {
        let mut readers = Vec::new();
        if !readers_of(ctx, body, root, block, &mut readers) {
            return None;
        }
        readers.extend(body.defining_op(root));
        sort_by_order(body, &mut readers);
        let numbers: FxHashMap<Op, usize> = readers.iter().enumerate().map(|(at, op)| (*op, at)).collect();
        let mut late_until = vec![0; readers.len()];
        let last_use = |part: Value| {
            let firsts = body.uses(part).map(|used| {
                let mut through = Vec::new();
                readers_through(ctx, body, used.op, block, &mut through);
                let first = through.iter().map(|op| numbers[op]).min().unwrap_or(0);
                for op in &through {
                    late_until[numbers[op]] = late_until[numbers[op]].max(first);
                }
                first
            });
            (part, firsts.max().unwrap_or(0))
        };
        let parts = parts.iter().copied().map(last_use).collect();
        Some(RootReaders { root, readers, parts, late_until })
    }

    /// The numbers of the readers after which a cut copies less than dies, and how many bytes it saves.
    fn cuts(&self, aliases: &AliasSets) -> impl Iterator<Item = (u64, usize)> + use<> {
        let bytes = |value: Value| aliases.size_bytes(value).unwrap_or(u64::MAX);
        let count = self.readers.len();
        // For each reader, the bytes of the parts whose uses are late before it and no longer after it.
        let mut ending = vec![0u64; count];
        for (part, until) in &self.parts {
            ending[*until] = ending[*until].saturating_add(bytes(*part));
        }
        let root_bytes = bytes(self.root);
        let mut found = Vec::new();
        let mut copied = 0u64;
        let mut all_late_until = usize::MAX;
        for at in (0..count.saturating_sub(1)).rev() {
            copied = copied.saturating_add(ending[at + 1]);
            all_late_until = all_late_until.min(self.late_until[at + 1]);
            if copied < root_bytes && all_late_until > at {
                found.push((root_bytes - copied, at));
            }
        }
        found.into_iter().rev()
    }

    /// The cut after a reader.
    fn cut(&self, at: usize, saved_bytes: u64) -> Cut {
        let late = self.parts.iter().filter(|(_, until)| *until > at);
        Cut { after: self.readers[at], parts: late.map(|(part, _)| *part).collect(), saved_bytes }
    }
}

/// Sorts operations of a block by their order in it, without repetitions.
fn sort_by_order(body: &Body, ops: &mut Vec<Op>) {
    ops.sort_by(|a, b| match body.is_before(*a, *b) {
        true => Ordering::Less,
        false if a == b => Ordering::Equal,
        false => Ordering::Greater,
    });
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
