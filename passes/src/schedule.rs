//! Scheduling: an order of a block's operations with the lowest peak of live bytes.
//!
//! ```text
//! %1 = norm %x                                %2 = conv1x1 %x, %v
//! %2 = conv1x1 %x, %v                         %1 = norm %x       overwrites %x, which has no later reader
//! %3 = conv3x3 %1, %w                   =>    %3 = conv3x3 %1, %w
//! %4 = add %3, %2                             %4 = add %3, %2
//! ```
//!
//! The search uses a model of each block (`model`) that knows which results may overwrite which operands;
//! blocks in regions are ordered before those around them. Which values are in the caller's memory depends on
//! later passes for a given order, so both alternate: after a search, results are tied to operands and the
//! peak is computed on a copy of the function, by `inplace` and the planner's own bound; then the search is
//! repeated with that knowledge. An order is taken only if its peak computed this way is lower than that of
//! the given order. Operations with effects keep their order. Views and arithmetic on weights, which do not
//! run, are put before their first reader.
//!
//! Sources: Liu, "An Application of Generalized Tree Pebbling to Sparse Matrix Factorization" (1987), for
//! decomposition; Ahn et al., "Ordering Chaos: Memory-Aware Scheduling of Irregularly Wired Neural Networks
//! for Edge Devices" (2020), for the search by frontiers.

mod build;
mod model;
mod search;
#[cfg(test)]
mod tests;

use cranelift_entity::SecondaryMap;
use ir::alias::AliasSets;
use ir::dims;
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Block, Body, Context, Op, Target, Traits, Value};
use rustc_hash::FxHashSet;

use crate::edit::{blocks, entry, kept_inputs, stands_in};
use crate::inplace::in_trial;
use crate::manager::{Example, PassContext, PassDef, PassRun, Stage, StageRule};
use build::{BlockModel, FunctionFacts, block_model};

/// The number of searches, each with the knowledge from `inplace` about the order before.
const ROUNDS: usize = 3;

/// The pass `schedule`.
pub static SCHEDULE: PassDef = PassDef {
    name: "schedule",
    doc: "Orders operations so that the peak of live bytes is lowest. Reuse of operands, views, scratch and output \
          buffers are taken into account. The given order stays unless another one is better.",
    options: &[],
    example: Example {
        before: r#"func.func @main(%x: tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32> {
  %0 = nn.exp %x : tensor<1x4x4x8xf32>
  %1 = nn.tanh %0 : tensor<1x4x4x8xf32>
  %2 = nn.reduce_mean %0 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %3 = nn.reduce_max %1 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %4 = nn.add %2, %3 : tensor<1x1x1x8xf32>
  return %4 : tensor<1x1x1x8xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32> attributes {optc.stage = "schedule", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
    %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
    %1 = nn.reduce_mean %0 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
    %2 = nn.tanh %0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
    %3 = nn.reduce_max %2 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
    %4 = nn.add %1, %3 {mem.kernel = "pointwise"} : tensor<1x1x1x8xf32>
    return %4 : tensor<1x1x1x8xf32>
  }
}"#,
    },
    stage: StageRule::Is(Stage::Schedule),
    run: PassRun::Function(|pass, body| {
        let given = order(pass.ctx, body);
        if let Some(outcome) = schedule(pass.ctx, pass.target, body) {
            keep_allowed(pass, body, &given);
            pass.count("moved", outcome.moved as u64);
            pass.count("saved bytes", outcome.before_bytes - outcome.after_bytes);
        }
        Ok(())
    }),
};

/// The operations of each block, in order.
fn order(ctx: &Context, body: &Body) -> Vec<(Block, Vec<Op>)> {
    blocks(ctx, body).into_iter().map(|block| (block, body.ops(block).collect())).collect()
}

/// Asks for each operation whether it may be moved before those that it was put ahead of. After the first
/// refusal, the remaining operations keep the given order, which is valid after any beginning of a valid
/// order.
fn keep_allowed(pass: &PassContext<'_>, body: &mut Body, given: &[(Block, Vec<Op>)]) {
    for (block, given) in given {
        let block = *block;
        let mut stands: FxHashSet<Op> = FxHashSet::default();
        let mut left = given.iter().copied().peekable();
        for op in body.ops(block).collect::<Vec<Op>>() {
            while left.next_if(|next| stands.contains(next)).is_some() {}
            let what = |next: Op| {
                let [op, next] = [op, next].map(|op| body.at(pass.ctx, op).describe());
                format!("{op} stands before {next}")
            };
            match left.peek().copied() {
                Some(next) if next != op && !pass.changes.allow(|| what(next)) => break,
                _ => stands.insert(op),
            };
        }
        for op in given.iter().copied().filter(|op| !stands.contains(op)) {
            body.detach(op);
            body.append(op, block);
        }
    }
}

/// The effect of a better order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleOutcome {
    /// The number of operations that moved.
    pub moved: usize,
    /// The peak of live bytes in the given order.
    pub before_bytes: u64,
    /// The peak of live bytes in the new order.
    pub after_bytes: u64,
}

/// Puts the operations of a function into a better order. None if the given one stays, because no better one
/// was found, a size is not known, or results are already tied to operands.
///
/// Every order is valid at all sizes. So a function with symbolic sizes gets the best order at nominal ones
/// ([`dims::nominal`]), and the outcome's bytes are for those.
pub fn schedule(ctx: &Context, target: &dyn Target, body: &mut Body) -> Option<ScheduleOutcome> {
    let sizes = dims::nominal(ctx, body);
    if sizes.is_empty() {
        return schedule_known(ctx, target, body);
    }
    let mut sized = body.clone();
    dims::substitute_in(ctx, &mut sized, &sizes).ok()?;
    let outcome = schedule_known(ctx, target, &mut sized)?;
    for block in blocks(ctx, &sized) {
        for op in sized.ops(block) {
            body.detach(op);
            body.append(op, block);
        }
    }
    Some(outcome)
}

fn schedule_known(ctx: &Context, target: &dyn Target, body: &mut Body) -> Option<ScheduleOutcome> {
    entry(body)?;
    let blocks = blocks(ctx, body);
    let is_tied = |op: Op| body.attr(ctx, op, ctx.ident(attrs::MEM_TIE)).is_some();
    if blocks.iter().any(|block| body.ops(*block).any(is_tied)) {
        return None;
    }
    let given = count(ctx, target, body)?;
    let (mut best, mut best_bytes) = (None, given.bytes);
    let mut outside = given.outside;
    for _ in 0..ROUNDS {
        let orders = orders(ctx, target, body, &blocks, &outside)?;
        if orders.is_empty() {
            break;
        }
        let mut candidate = body.clone();
        orders.iter().for_each(|order| put_in_order(ctx, &mut candidate, order));
        let counted = count(ctx, target, &candidate)?;
        if counted.bytes < best_bytes {
            best_bytes = counted.bytes;
            best = Some(orders);
        }
        if std::mem::replace(&mut outside, counted.outside) == outside {
            break;
        }
    }
    let before: Vec<Vec<Op>> = blocks.iter().map(|block| body.ops(*block).collect()).collect();
    best?.iter().for_each(|order| put_in_order(ctx, body, order));
    let after = blocks.iter().map(|block| body.ops(*block));
    let moved =
        before.iter().zip(after).map(|(old, new)| old.iter().zip(new).filter(|(a, b)| **a != *b).count());
    Some(ScheduleOutcome { moved: moved.sum(), before_bytes: given.bytes, after_bytes: best_bytes })
}

/// The peak of live bytes of the arena in a function's present order, once results are tied to operands; none
/// if a size is not known.
pub fn max_live_bytes(ctx: &Context, target: &dyn Target, body: &Body) -> Option<u64> {
    count(ctx, target, body).map(|counted| counted.bytes)
}

/// A block, and a new order of its operations that run.
struct BlockOrder {
    block: Block,
    ops: Vec<Op>,
}

/// The best orders found for the blocks whose order changes; none if a size is not known.
fn orders(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    blocks: &[Block],
    outside: &SecondaryMap<Value, bool>,
) -> Option<Vec<BlockOrder>> {
    let (aliases, weights) = (AliasSets::of(ctx, body), WeightSet::of(ctx, body));
    let kept = kept_inputs(ctx, body);
    let inner_bytes = SecondaryMap::new();
    let mut facts = FunctionFacts { ctx, target, body, aliases, weights, kept, outside, inner_bytes };
    let mut orders = Vec::new();
    for &block in blocks.iter().rev() {
        let BlockModel { model, ops } = block_model(&facts, block)?;
        let found = search::best_order(&model);
        if let Some(around) = body.region_of(block).and_then(|region| body.owner_of(region)) {
            let bytes = &mut facts.inner_bytes[around];
            *bytes = (*bytes).max(found.peak_bytes);
        }
        if !found.order.is_sorted() {
            orders.push(BlockOrder { block, ops: found.order.into_iter().map(|item| ops[item]).collect() });
        }
    }
    Some(orders)
}

/// The result of tying an order's results to operands.
struct Counted {
    /// The peak of live bytes in the arena.
    bytes: u64,
    /// The roots in the caller's memory.
    outside: SecondaryMap<Value, bool>,
}

/// The counts from [`in_trial`] for a function's current order.
fn count(ctx: &Context, target: &dyn Target, body: &Body) -> Option<Counted> {
    in_trial(ctx, target, body, |_, arena| {
        let mut outside = SecondaryMap::new();
        let given = AliasSets::of(ctx, body);
        for value in values(ctx, body) {
            outside[given.root(value)] = arena.is_outside(given.root(value));
        }
        Counted { bytes: crate::place::lower_bound(&arena.problem), outside }
    })
}

/// The arguments and results of all blocks that run.
fn values<'a>(ctx: &Context, body: &'a Body) -> impl Iterator<Item = Value> + 'a {
    blocks(ctx, body).into_iter().flat_map(move |block| {
        let results = body.ops(block).flat_map(|op| body.results(op));
        body.args(block).iter().copied().chain(results)
    })
}

/// Puts the operations of a block that run into a new order, and each of the others before its first reader.
fn put_in_order(ctx: &Context, body: &mut Body, order: &BlockOrder) {
    let given: Vec<Op> = body.ops(order.block).collect();
    let mut rank: SecondaryMap<Op, usize> = SecondaryMap::with_default(order.ops.len());
    order.ops.iter().enumerate().for_each(|(at, op)| rank[*op] = at);
    let mut runs: SecondaryMap<Op, bool> = SecondaryMap::new();
    order.ops.iter().for_each(|op| runs[*op] = true);
    for &op in given.iter().rev().filter(|op| !runs[**op]) {
        let users = body.results(op).flat_map(|result| body.uses(result));
        let users = users.filter_map(|used| stands_in(body, used.op, order.block));
        rank[op] = users.map(|user| rank[user]).min().unwrap_or(order.ops.len());
    }
    let mut sorted = given;
    let last = sorted.pop().filter(|op| body.at(ctx, *op).has(Traits::TERMINATOR));
    sorted.sort_by_key(|op| (rank[*op], runs[*op]));
    for op in sorted.into_iter().chain(last) {
        body.detach(op);
        body.append(op, order.block);
    }
}
