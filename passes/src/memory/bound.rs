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
//! all sizes at their greatest, or what its faster algorithm prefers there. Steps that have less scratch in a
//! plan for the greatest sizes have less here, too, but enough for all sizes
//! ([`ir::target::KernelChoice::enough_scratch_bytes`]); where a faster algorithm needs more, the step uses
//! its usual one. Results that overwrite rows of operands at the greatest sizes do so at all sizes if
//! possible (`shared_rows`). The upper one of the two then begins at most a distance above the lower one's
//! first byte, instead of at its end.

use cranelift_entity::PrimaryMap;
use ir::dims::{self, Maximum, Ranges};
use ir::memory_pools::{MemoryPool, stack};
use ir::target::KernelChoice;
use ir::{Body, Context, Target};

use super::buffers::{BufferSize, Buffers};
use super::faster::FasterSteps;
use super::pools::PoolBound;
use super::price::{TradeOffQuery, needs, overlap};
use super::shared_rows::SharedRows;
use super::stacked::{BufferSizes, order_of};
use super::structure::write_rows;
use crate::overlap::RowOrder;
use crate::place::{self, BufferId, Placement, PlannerOptions, Problem};
use crate::tradeoff::{self, BandCandidate, Goal, Question};

/// Upper bounds for the buffers of a function at all its sizes.
#[derive(Clone, Debug)]
pub struct Bound {
    maximum: Maximum,
    /// The most scratch that a step may prefer.
    scratch: PrimaryMap<BufferId, Option<u64>>,
    stacking: Stacking,
    pools: Vec<PoolBound>,
    size_bytes: u64,
}

/// How the buffers are stacked.
#[derive(Clone, Debug)]
struct Stacking {
    /// All buffers from the bottom up.
    order: Vec<BufferId>,
    /// The bytes of each buffer of scratch.
    scratch: PrimaryMap<BufferId, Option<u64>>,
    /// The results that overwrite rows of operands.
    shared_rows: Vec<SharedRows>,
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
        let ScratchAtAllSizes { most: mut scratch, enough } =
            ScratchAtAllSizes::of(ctx, target, buffers, [&greatest, &in_rows], threads)?;
        let mut sizes = BufferSizes::of(ctx, buffers, &scratch, &ranges);
        let bytes = bytes_of(&sizes.at_greatest(&buffers.problem));
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
        let stacking = Stacking { order, scratch: scratch.clone(), shared_rows: Vec::new() };
        let whole = Bound { maximum, scratch, stacking, pools, size_bytes: 0 };
        let needs = faster.needs(&usual);
        let bytes = bytes_of(&problem);
        let asked = TradeOffQuery::new((ctx, &in_rows), buffers, goal, &needs, &bytes);
        let best = match saving(&asked, &ranges, &problem, &enough) {
            Some(stacking) => whole.or_smaller(ctx, buffers, &ranges, stacking),
            None => whole,
        };
        Ok(best.with_pools(buffers))
    }

    /// The bound with this stacking, if it is smaller.
    fn or_smaller(self, ctx: &Context, buffers: &Buffers, ranges: &Ranges, stacking: Stacking) -> Bound {
        let sizes = BufferSizes::of(ctx, buffers, &stacking.scratch, ranges);
        let problem = sizes.at_greatest(&buffers.problem);
        let maximum = sizes.joint_maximum(&problem, &stacking.order, &stacking.shared_rows);
        if maximum.value < self.maximum.value { Bound { maximum, stacking, ..self } } else { self }
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
        &self.stacking.order
    }

    /// Whether faster steps can run with the scratch of the bound, and overwrite the rows that it assumes.
    pub(super) fn has_room_for(&self, buffers: &Buffers, faster: &FasterSteps) -> bool {
        let has_room =
            |(id, least): (BufferId, u64)| self.stacked_scratch(id).is_some_and(|most| least <= most);
        let shares =
            |rows: &SharedRows| buffers.number(rows.op).is_none_or(|step| faster.can_share(step, rows));
        faster.least_scratch(buffers).all(has_room) && self.shared_rows().iter().all(shares)
    }

    /// The results that overwrite rows of operands in that order.
    pub(crate) fn shared_rows(&self) -> &[SharedRows] {
        &self.stacking.shared_rows
    }

    /// The most bytes of a buffer of scratch in that order.
    pub(super) fn stacked_scratch(&self, buffer: BufferId) -> Option<u64> {
        self.stacking.scratch[buffer]
    }

    /// The largest size of a buffer of scratch in bytes, in any order: what its step prefers, unless the
    /// whole arena is smaller.
    pub fn scratch_bytes(&self, buffer: BufferId) -> Option<u64> {
        self.scratch[buffer].map(|bytes| bytes.min(self.arena_bytes()))
    }
}

/// The bytes of all buffers.
fn bytes_of(problem: &Problem) -> PrimaryMap<BufferId, u64> {
    problem.buffers.values().map(|buffer| buffer.size_bytes).collect()
}

/// A stacking that saves memory with all buffers at their greatest sizes, as in `problem`, if there is one: a
/// result overwrites rows of an operand, or a step gets less scratch than it prefers, but `enough`.
fn saving(
    asked: &TradeOffQuery<'_>,
    ranges: &Ranges,
    problem: &Problem,
    enough: &PrimaryMap<BufferId, Option<u64>>,
) -> Option<Stacking> {
    let buffers = asked.buffers;
    let both = |candidate: &BandCandidate| {
        [RowOrder::Down, RowOrder::Up].map(|order| overlap(buffers, candidate, order))
    };
    let mut best: Option<(Vec<BandCandidate>, Problem, Placement)> = None;
    for trade_off in asked.goal().band_widths().iter().map_while(|width| tradeoff::trade_off(asked, *width)) {
        let mut problem = problem.clone();
        for (op, bytes) in &trade_off.scratch {
            let id = buffers.runs[buffers.number(*op).expect("only runs have scratch to save")].scratch;
            problem.buffers[id].size_bytes = enough[id].unwrap_or(0).max(*bytes);
        }
        problem.overlaps = trade_off.candidates.iter().flat_map(both).collect();
        let placement = place::place(&problem, &PlannerOptions::default());
        let is_met = placement.size_bytes <= trade_off.target_bytes;
        if best.as_ref().is_none_or(|best| placement.size_bytes < best.2.size_bytes) {
            best = Some((trade_off.candidates, problem, placement));
        }
        if is_met {
            break;
        }
    }
    let (candidates, problem, placement) = best?;
    let shared = candidates.iter().filter_map(|candidate| {
        let [input, output] = buffers.pair(candidate.op, candidate.operand)?;
        let range =
            |id: BufferId| placement.offsets[id]..placement.offsets[id] + problem.buffers[id].size_bytes;
        let (_, order) = tradeoff::settled(candidate, [range(input), range(output)])?;
        let stacked = match order {
            RowOrder::Down => [output, input],
            RowOrder::Up => [input, output],
        };
        SharedRows::new(asked.ctx, buffers, ranges, candidate, order, stacked)
    });
    let scratch = |(id, size): (BufferId, &BufferSize)| match size {
        BufferSize::Scratch(_) => Some(problem.buffers[id].size_bytes),
        _ => None,
    };
    Some(Stacking {
        order: order_of(&problem, &placement),
        scratch: buffers.sizes.iter().map(scratch).collect(),
        shared_rows: shared.collect(),
    })
}

/// The scratch of the usual kernels at all sizes, with dense operands and with the layouts of the structure.
struct ScratchAtAllSizes {
    /// The most that they prefer, in bytes.
    most: PrimaryMap<BufferId, Option<u64>>,
    /// What is enough for them, in bytes.
    enough: PrimaryMap<BufferId, Option<u64>>,
}

impl ScratchAtAllSizes {
    fn of(
        ctx: &Context,
        target: &dyn Target,
        buffers: &Buffers,
        [whole, in_rows]: [&Body; 2],
        threads: usize,
    ) -> Result<ScratchAtAllSizes, String> {
        let (mut most, mut enough) = (PrimaryMap::new(), PrimaryMap::new());
        for size in buffers.sizes.values() {
            let BufferSize::Scratch(number) = *size else {
                most.push(None);
                enough.push(None);
                continue;
            };
            let op = buffers.runs[number].op;
            let select = |body: &Body| target.select(body.at(ctx, op), threads);
            let Some(dense) = select(whole) else {
                return Err(format!("the scratch of `{}` has no bound", whole.at(ctx, op).name()));
            };
            let laid_out = select(in_rows);
            let greatest =
                |bytes: fn(&KernelChoice) -> u64| Some(bytes(&dense).max(laid_out.as_ref().map_or(0, bytes)));
            most.push(greatest(|choice| choice.most_scratch_bytes));
            enough.push(greatest(|choice| choice.enough_scratch_bytes));
        }
        Ok(ScratchAtAllSizes { most, enough })
    }
}
