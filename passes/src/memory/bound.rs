//! An upper bound of the arena for all sizes that a function may have.
//!
//! ```text
//! %0 of 4 * n * m * max(n - m, 1) bytes, n <= 20, m <= 5   =>   6000 bytes
//! %0 of 4 * N bytes, beside %1 of 2048 - 4 * N             =>   2048 bytes, and not 4096
//! ```
//!
//! The planner places the buffers once, each at its greatest size. That determines, for two buffers that are
//! live together, which one is below the other. At any sizes, a buffer then begins at the highest end of
//! those below it, and the arena is the longest path from the bottom up. The joint maximum of that path over
//! the ranges of all symbols ([`dims::maximize`]) is enough at every size: first fit in the order from the
//! bottom up ([`Bound::order`]) places no buffer higher.
//!
//! The scratch of a step is the target's upper bound ([`ir::target::KernelChoice::most_scratch_bytes`]) with
//! all sizes at their greatest; no scratch is saved. Results that overwrite rows of operands at the greatest
//! sizes do so at all sizes if possible (`shared_rows`). The upper one of the two then begins at most a
//! distance above the lower one's first byte, instead of at its end.

use cranelift_entity::PrimaryMap;
use ir::dims::{self, Maximum, Ranges};
use ir::memory_pools::{MemoryPool, stack};
use ir::{Body, Context, Target};

use super::buffers::{BufferSize, Buffers};
use super::faster::FasterSteps;
use super::pools::PoolBound;
use super::price::{StepNeeds, TradeOffQuery, needs, overlap};
use super::shared_rows::SharedRows;
use super::stacked::{BufferSizes, order_of};
use super::structure::write_rows;
use crate::overlap::RowOrder;
use crate::place::{self, BufferId, Placement, PlannerOptions, Problem};
use crate::tradeoff::{self, BandCandidate, Goal};

/// Upper bounds for the buffers of a function at all its sizes.
#[derive(Clone, Debug)]
pub struct Bound {
    maximum: Maximum,
    order: Vec<BufferId>,
    scratch: PrimaryMap<BufferId, Option<u64>>,
    shared_rows: Vec<SharedRows>,
    pools: Vec<PoolBound>,
    size_bytes: u64,
}

impl Bound {
    /// The bound of a function with these buffers, for runs on `threads` threads and plans with this goal.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn of(
        ctx: &Context,
        target: &dyn Target,
        buffers: &Buffers,
        threads: usize,
        goal: Goal,
    ) -> Result<Bound, String> {
        let ranges = Ranges::of_function(ctx, &buffers.body);
        for name in dims::symbols_in(ctx, &buffers.body) {
            if ranges.of(name).1 == u64::MAX {
                return Err(format!("`{}` has no upper bound", ctx.str(name)));
            }
        }
        let mut greatest = buffers.body.clone();
        dims::greatest_in(ctx, &mut greatest, &ranges).map_err(|faults| faults[0].message.clone())?;
        let mut in_rows = greatest.clone();
        write_rows(ctx, &mut in_rows);
        let mut scratch = most_scratch(ctx, target, buffers, [&greatest, &in_rows], threads)?;
        let mut sizes = BufferSizes::of(ctx, buffers, &scratch, &ranges);
        let greatest = sizes.at_greatest(&buffers.problem);
        let bytes = greatest.buffers.values().map(|buffer| buffer.size_bytes).collect();
        let usual = needs(ctx, target, buffers, &in_rows, threads);
        let asked = TradeOffQuery::new((ctx, &in_rows), buffers, Goal::Memory, &usual, &bytes);
        let method = |step: usize, room_bytes| {
            target.faster(in_rows.at(ctx, buffers.runs[step].op), threads, room_bytes)
        };
        let faster = FasterSteps::of(&asked, goal, &method);
        if !faster.is_empty() {
            for (id, bytes) in faster.scratch(buffers) {
                scratch[id] = scratch[id].max(Some(bytes));
            }
            sizes = BufferSizes::of(ctx, buffers, &scratch, &ranges);
        }
        let pools = buffers.pools.iter().map(|pool| PoolBound::of(ctx, pool, &ranges));
        let pools: Vec<PoolBound> = pools.collect::<Result<_, _>>()?;
        let problem = sizes.at_greatest(&buffers.problem);
        let (order, maximum) = sizes.stacked(&problem);
        let whole = Bound { maximum, order, scratch, shared_rows: Vec::new(), pools, size_bytes: 0 };
        let needs = faster.needs(&usual);
        let (order, shared_rows) =
            share_rows(ctx, buffers, &ranges, problem.clone(), (&in_rows, &needs), goal);
        if shared_rows.is_empty() {
            return Ok(whole.with_pools(buffers));
        }
        let maximum = sizes.joint_maximum(&problem, &order, &shared_rows);
        let is_better = maximum.value < whole.maximum.value;
        let best = if is_better { Bound { maximum, order, shared_rows, ..whole } } else { whole };
        Ok(best.with_pools(buffers))
    }

    /// The bound with the size of all pools, which follow the arena.
    fn with_pools(self, buffers: &Buffers) -> Bound {
        let mut pools = vec![MemoryPool { size_bytes: self.arena_bytes(), ..buffers.pool.clone() }];
        pools.extend(
            buffers.pools.iter().zip(&self.pools).map(|(buffers, bound)| MemoryPool {
                size_bytes: bound.size_bytes(),
                ..buffers.pool.clone()
            }),
        );
        Bound { size_bytes: stack(&mut pools), ..self }
    }

    /// The bound in bytes of the arena and all other pools.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Whether some sizes reach the bound of the arena alone, with its buffers in this order.
    pub fn is_arena_exact(&self) -> bool {
        self.maximum.is_exact
    }

    /// The bound in bytes of the arena alone.
    pub fn arena_bytes(&self) -> u64 {
        u64::try_from(self.maximum.value).unwrap_or(u64::MAX)
    }

    /// The bound of each other pool.
    pub fn pools(&self) -> &[PoolBound] {
        &self.pools
    }

    /// All buffers of the arena from the bottom up: first fit in this order never exceeds the bound.
    pub fn order(&self) -> &[BufferId] {
        &self.order
    }

    /// Whether faster steps fit the scratch of the bound, and can overwrite the rows that it assumes.
    pub(super) fn has_room_for(&self, buffers: &Buffers, faster: &FasterSteps) -> bool {
        let has_room = |(id, bytes): (BufferId, u64)| self.scratch[id].is_some_and(|most| bytes <= most);
        let shares =
            |rows: &SharedRows| buffers.number(rows.op).is_none_or(|step| faster.can_share(step, rows));
        faster.scratch(buffers).all(has_room) && self.shared_rows.iter().all(shares)
    }

    /// The results that overwrite rows of operands in that order.
    pub(crate) fn shared_rows(&self) -> &[SharedRows] {
        &self.shared_rows
    }

    /// The largest size of a buffer of scratch in bytes.
    pub fn scratch_bytes(&self, buffer: BufferId) -> Option<u64> {
        self.scratch[buffer]
    }
}

/// The results that overwrite rows of operands with all buffers at their greatest sizes, for steps with these
/// needs, and the order of buffers then.
fn share_rows(
    ctx: &Context,
    buffers: &Buffers,
    ranges: &Ranges,
    mut problem: Problem,
    (at, needs): (&Body, &[StepNeeds]),
    goal: Goal,
) -> (Vec<BufferId>, Vec<SharedRows>) {
    let bytes: PrimaryMap<BufferId, u64> = problem.buffers.values().map(|buffer| buffer.size_bytes).collect();
    let asked = TradeOffQuery::new((ctx, at), buffers, goal, needs, &bytes);
    let both = |candidate: &BandCandidate| {
        [RowOrder::Down, RowOrder::Up].map(|order| overlap(buffers, candidate, order))
    };
    let mut best: Option<(Vec<BandCandidate>, Placement)> = None;
    for trade_off in goal.band_widths().iter().map_while(|width| tradeoff::trade_off(&asked, *width)) {
        problem.overlaps = trade_off.candidates.iter().flat_map(both).collect();
        let placement = place::place(&problem, &PlannerOptions::default());
        let is_met = placement.size_bytes <= trade_off.target_bytes;
        if best.as_ref().is_none_or(|best| placement.size_bytes < best.1.size_bytes) {
            best = Some((trade_off.candidates, placement));
        }
        if is_met {
            break;
        }
    }
    let (candidates, placement) =
        best.unwrap_or_else(|| (Vec::new(), place::place(&problem, &PlannerOptions::default())));
    problem.overlaps = candidates.iter().flat_map(both).collect();
    let shared = candidates.iter().filter_map(|candidate| {
        let [input, output] = buffers.pair(candidate.op, candidate.operand)?;
        let range = |id: BufferId| placement.offsets[id]..placement.offsets[id] + bytes[id];
        let (_, order) = tradeoff::settled(candidate, [range(input), range(output)])?;
        let stacked = match order {
            RowOrder::Down => [output, input],
            RowOrder::Up => [input, output],
        };
        SharedRows::new(ctx, buffers, ranges, candidate, order, stacked)
    });
    let shared = shared.collect();
    (order_of(&problem, &placement), shared)
}

/// The most scratch of each step, with dense operands and with the layouts of the structure.
fn most_scratch(
    ctx: &Context,
    target: &dyn Target,
    buffers: &Buffers,
    [whole, in_rows]: [&Body; 2],
    threads: usize,
) -> Result<PrimaryMap<BufferId, Option<u64>>, String> {
    let bytes_of = |size: &BufferSize| {
        let BufferSize::Scratch(number) = *size else { return Ok(None) };
        let op = buffers.runs[number].op;
        let bytes = |body: &Body| target.select(body.at(ctx, op), threads).map(|it| it.most_scratch_bytes);
        let name = || whole.at(ctx, op).name().to_owned();
        let most = bytes(whole).ok_or_else(|| format!("the scratch of `{}` has no bound", name()))?;
        Ok(Some(most.max(bytes(in_rows).unwrap_or(0))))
    };
    let bytes: Result<Vec<Option<u64>>, String> = buffers.sizes.values().map(bytes_of).collect();
    Ok(bytes?.into_iter().collect())
}
