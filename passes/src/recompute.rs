//! Recomputation: values are computed again for late readers instead of being kept through the peak.
//!
//! ```text
//! %1 = exp %x                       %1 = exp %x
//! %2 = ... %1 ...            =>     %2 = ... %1 ...
//! %8 = (the peak)                   %8 = (the peak)
//! %9 = add %8, %1                   %10 = exp %x
//!                                   %9 = add %8, %10
//! ```
//!
//! Greedy: as long as more is live than the budget, every value that is live but unused through the peak is a
//! candidate. It is recomputed by one operation, or by all whose operands are dead by then. Each candidate is
//! tried on a copy of the function, with ties and scratch as chosen by later passes. The one with the lowest
//! peak is taken, and of equal ones the one that moves the fewest bytes. The number of trials is bounded,
//! never the time. Recomputation against memory: Chen et al., "Training Deep Nets with Sublinear Memory Cost"
//! (2016).

use std::collections::BTreeSet;

use cranelift_entity::{EntityRef, SecondaryMap};
use ir::flow::Act;
use ir::size::tensor_bytes;
use ir::weights::WeightSet;
use ir::{Block, Body, Context, Kind, Op, Target};

use crate::copy::Copying;
use crate::edit::{entry, stands_in};
use crate::effects::is_pure;
use crate::inplace::in_trial;
use crate::manager::{Changes, Example, OptionDef, OptionKind, PassDef, PassRun, Stage, StageRule};
use crate::place::{Step, live_bytes};
use crate::plan::ArenaProblem;

/// The most operations to recompute for one value.
const MOST_OPS: usize = 8;
/// The most trials of a function.
const MOST_TRIALS: usize = 2_000;

/// The pass `recompute`.
pub static RECOMPUTE: PassDef = PassDef {
    name: "recompute",
    doc: "Recomputes values where they are read late, instead of keeping them through the peak, until the live bytes fit \
          the budget or nothing lowers them. Results stay the same to the bit.",
    options: &[OptionDef {
        name: "budget",
        kind: OptionKind::Int { min: 0, max: i64::MAX },
        default: "0",
        doc: "Limit of live bytes in the arena; within it nothing is recomputed.",
    }],
    example: Example {
        before: r#"func.func @main(%x: tensor<64xf32>) -> tensor<f32> {
  %0 = nn.neg %x : tensor<64xf32>
  %1 = nn.sqrt %0 : tensor<64xf32>
  %2 = nn.floor %1 : tensor<64xf32>
  %3 = nn.mul %2, %1 : tensor<64xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %5 = nn.mul %0, %4 : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = nn.reduce_sum %5 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<64xf32>) -> tensor<f32> {
    %0 = nn.neg %arg0 : tensor<64xf32>
    %1 = nn.sqrt %0 : tensor<64xf32>
    %2 = nn.floor %1 : tensor<64xf32>
    %3 = nn.mul %2, %1 : tensor<64xf32>
    %4 = nn.reduce_sum %3 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
    %5 = nn.neg %arg0 : tensor<64xf32>
    %6 = nn.mul %5, %4 : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    %7 = nn.reduce_sum %6 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
}"#,
    },
    stage: StageRule::UpTo(Stage::Schedule),
    run: PassRun::Function(|pass, body| {
        let budget = u64::try_from(pass.options.int("budget")).expect("the option's least value is 0");
        pass.count("recomputed", recompute(pass.ctx, pass.target, body, budget, &pass.changes) as u64);
        Ok(())
    }),
};

/// Recomputes values of a function's first block until the peak of live bytes in the arena is at most
/// `budget_bytes`, nothing lowers it, or no change is allowed; returns the number of operations added. Does
/// nothing if a size is not known.
pub fn recompute(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    budget_bytes: u64,
    changes: &Changes,
) -> usize {
    let Some(block) = entry(body) else { return 0 };
    let Some(mut now) = BudgetExcess::of(ctx, target, body, budget_bytes) else { return 0 };
    let (mut added, mut trials) = (0, 0);
    while now.peak_bytes > budget_bytes {
        let candidates = candidates(ctx, body, block, now.op);
        trials += candidates.len();
        if trials > MOST_TRIALS {
            break;
        }
        let tried = candidates.into_iter().filter_map(|candidate| {
            let mut trial = body.clone();
            candidate.apply(ctx, &mut trial);
            let fullness = BudgetExcess::of(ctx, target, &trial, budget_bytes)?;
            Some((fullness.rank(budget_bytes), candidate.moved_bytes(ctx, body), candidate, fullness))
        });
        let best =
            tried.min_by_key(|(rank, moved_bytes, candidate, _)| (*rank, *moved_bytes, candidate.head));
        let Some((rank, _, candidate, fullness)) = best else { break };
        let what = || format!("the value of {} is computed again", body.at(ctx, candidate.head).describe());
        if rank >= now.rank(budget_bytes) || !changes.allow(what) {
            break;
        }
        added += candidate.ops.len();
        candidate.apply(ctx, body);
        now = fullness;
    }
    added
}

/// The fullness of a function's arena.
struct BudgetExcess {
    peak_bytes: u64,
    /// The live bytes above the budget, summed over all steps.
    excess_bytes: u128,
    /// The operation at the first of the peak steps.
    op: Op,
}

impl BudgetExcess {
    /// Computes it on a copy, with ties and scratch as chosen by later passes.
    fn of(ctx: &Context, target: &dyn Target, body: &Body, budget_bytes: u64) -> Option<BudgetExcess> {
        in_trial(ctx, target, body, |_, arena| BudgetExcess::look(arena, budget_bytes))?
    }

    fn look(arena: &ArenaProblem<'_>, budget_bytes: u64) -> Option<BudgetExcess> {
        let live = live_bytes(&arena.problem);
        let peak_bytes = live.iter().copied().max()?;
        let excess_bytes = live.iter().map(|bytes| u128::from(bytes.saturating_sub(budget_bytes))).sum();
        let peak = |(step, event): (Step, ir::flow::Event)| {
            let is_full = live.get(step.index()) == Some(&peak_bytes);
            (is_full && event.act == Act::Run).then_some(event.op)
        };
        let op = arena.steps().events().find_map(peak)?;
        Some(BudgetExcess { peak_bytes, excess_bytes, op })
    }

    /// Lower is better.
    fn rank(&self, budget_bytes: u64) -> (u64, u128) {
        (self.peak_bytes.max(budget_bytes), self.excess_bytes)
    }
}

/// Operations to recompute.
struct RecomputeCandidate {
    /// The operation whose results are read late.
    head: Op,
    /// The operations to copy, in order, including the head.
    ops: Vec<Op>,
    /// The late uses that will read the copy of the head's results: operation and operand.
    late: Vec<(Op, usize)>,
    /// The insertion point of the copies.
    before: Op,
}

impl RecomputeCandidate {
    fn apply(&self, ctx: &Context, body: &mut Body) {
        let given = body.clone();
        let mut copying = Copying::in_place(ctx, &given);
        for &op in &self.ops {
            for operand in given.operands(op) {
                copying.values.entry(operand).or_insert(operand);
            }
            copying.insert_before(body, op, self.before);
        }
        copying.finish(body);
        for &(user, index) in &self.late {
            body.set_operand(user, index, copying.values[&given.operand(user, index)]);
        }
    }

    /// The bytes that the operations read and write.
    fn moved_bytes(&self, ctx: &Context, body: &Body) -> u64 {
        let values = self.ops.iter().flat_map(|op| body.operands(*op).chain(body.results(*op)));
        values.filter_map(|value| tensor_bytes(ctx, body.ty(value))).sum()
    }
}

/// The values that are live but unused while `peak` runs, with the ways to recompute them.
fn candidates(ctx: &Context, body: &Body, block: Block, peak: Op) -> Vec<RecomputeCandidate> {
    let mut at: SecondaryMap<Op, usize> = SecondaryMap::new();
    body.ops(block).enumerate().for_each(|(index, op)| at[op] = index);
    let Some(peak) = stands_in(body, peak, block) else { return Vec::new() };
    let weights = WeightSet::of(ctx, body);
    let search = RecomputeSearch { ctx, body, block, at, peak, weights };
    let heads = body.ops(block).take_while(|op| *op != peak);
    heads.filter(|head| search.may_copy(*head)).flat_map(|head| search.ways(head)).collect()
}

struct RecomputeSearch<'a> {
    ctx: &'a Context,
    body: &'a Body,
    block: Block,
    /// The position of each operation in the block.
    at: SecondaryMap<Op, usize>,
    peak: Op,
    weights: WeightSet,
}

impl RecomputeSearch<'_> {
    fn may_copy(&self, op: Op) -> bool {
        let has_flow = matches!(self.body.at(self.ctx, op).kind(), Kind::Region(_));
        is_pure(self.ctx, self.body, op) && !has_flow && !self.weights.is_weight_op(self.body, op)
    }

    /// Uses of an operation's results after the peak; each starts with the user's position in the block.
    fn late_uses(&self, op: Op) -> Vec<(usize, Op, usize)> {
        let uses = self.body.results(op).flat_map(|result| self.body.uses(result));
        let placed = uses.filter_map(|used| {
            Some((self.at[stands_in(self.body, used.op, self.block)?], used.op, used.index))
        });
        placed.filter(|(place, ..)| *place > self.at[self.peak]).collect()
    }

    /// Recomputation by the head alone, and together with everything that is dead by then.
    fn ways(&self, head: Op) -> Vec<RecomputeCandidate> {
        let late = self.late_uses(head);
        let Some(first) = late.iter().map(|(place, ..)| *place).min() else { return Vec::new() };
        let Some(before) = self.body.ops(self.block).nth(first) else { return Vec::new() };
        let late: Vec<(Op, usize)> = late.into_iter().map(|(_, user, index)| (user, index)).collect();
        let alone = RecomputeCandidate { head, ops: vec![head], late: late.clone(), before };
        let ops = self.with_dead(head);
        let deep = (ops.len() > 1).then_some(RecomputeCandidate { head, ops, late, before });
        [alone].into_iter().chain(deep).collect()
    }

    /// An operation and those before it whose results have no other reader after the peak, in order.
    fn with_dead(&self, head: Op) -> Vec<Op> {
        let mut ops = BTreeSet::from([(self.at[head], head)]);
        let mut open = vec![head];
        while let Some(op) = open.pop() {
            for maker in self.body.operands(op).filter_map(|value| self.body.defining_op(value)) {
                let is_here = self.body.block_of(maker) == Some(self.block);
                if ops.len() < MOST_OPS && is_here && self.may_copy(maker) && self.late_uses(maker).is_empty()
                {
                    let is_new = ops.insert((self.at[maker], maker));
                    open.extend(is_new.then_some(maker));
                }
            }
        }
        ops.into_iter().map(|(_, op)| op).collect()
    }
}
