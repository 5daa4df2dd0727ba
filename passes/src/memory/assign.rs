//! Offsets of a function's buffers at given sizes, without making IR.
//!
//! Like [`crate::plan`] for known sizes: if the goal allows it, the steps at the peak get less scratch than
//! their kernels prefer, or overwrite rows of their operands ([`crate::tradeoff`]), unless a placement
//! without savings is hardly larger ([`ENOUGH`]). Buffer orders that were good at other sizes are tried first
//! ([`KnownOrders`]).

use std::ops::Range;

use cranelift_entity::PrimaryMap;
use ir::dims::SizeId;
use ir::memory_pools::{MemoryPool, stack};
use ir::{Body, Context, DimExpr};

use super::bound::Bound;
use super::buffers::{BufferSize, Buffers};
use super::faster::{FasterSteps, RunningSteps};
use super::pools::{PoolAssigner, PoolAssignment};
use super::price::{StepChoice, StepNeeds, TradeOffQuery, overlap};
use super::shared_rows::SharedRows;
use crate::overlap::{Banding, OperandRows, RowOrder};
use crate::place::BufferId;
use crate::place::orders::{BoundedPlacement, ENOUGH, Effort, KnownOrders};
use crate::plan::too_small;
use crate::tradeoff::{self, BandCandidate, Goal, Question, TradeOff};

/// The places of all buffers at given sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The offsets of the arena's buffers.
    pub placed: BoundedPlacement,
    /// The bytes of each buffer.
    pub sizes: PrimaryMap<BufferId, u64>,
    /// Steps that deviate from their usual kernels' preferences.
    pub choices: Vec<StepChoice>,
    /// How many steps use the usual algorithm only because the bound or the pool has no room for the scratch
    /// of a faster one.
    pub given_up: usize,
    /// The places of the buffers of each other pool.
    pub pools: Vec<PoolAssignment>,
    /// The bytes of all pools, including the arena.
    pub size_bytes: u64,
}

impl Assignment {
    /// The bytes of a buffer in the arena.
    pub fn place(&self, buffer: BufferId) -> Range<u64> {
        let start = self.placed.offsets[buffer];
        start..start + self.sizes[buffer]
    }
}

/// Assigns offsets to the buffers of a function, at any sizes.
pub struct Assigner {
    /// The buffers.
    pub buffers: Buffers,
    /// The source of each buffer's size.
    sources: PrimaryMap<BufferId, BytesAt>,
    orders: KnownOrders,
    pools: Vec<PoolAssigner>,
    goal: Goal,
}

/// The source of a buffer's size at given sizes.
#[derive(Clone, Copy)]
enum BytesAt {
    Expr(SizeId),
    Scratch(usize),
}

impl Assigner {
    /// An assigner for these buffers; `table` collects their sizes.
    pub fn new(buffers: Buffers, table: &mut dyn FnMut(DimExpr) -> SizeId, goal: Goal) -> Assigner {
        let mut source = |size: &BufferSize| match *size {
            BufferSize::Bytes(expr) | BufferSize::Moves(expr) => BytesAt::Expr(table(expr)),
            BufferSize::Scratch(number) => BytesAt::Scratch(number),
        };
        let sources = buffers.sizes.values().map(&mut source).collect();
        let orders = KnownOrders::new(buffers.problem.clone());
        let pools = buffers.pools.iter().map(|pool| PoolAssigner::new(pool, table)).collect();
        Assigner { buffers, sources, orders, pools, goal }
    }

    /// Places all buffers, within the bound if there is one. `body` is the function with types at these
    /// sizes, `at` has the values of the table's expressions, and `running` describes the steps.
    ///
    /// # Errors
    /// The pool that is too small.
    pub fn assign(
        &self,
        ctx: &Context,
        body: &Body,
        at: &dyn Fn(SizeId) -> u64,
        running: RunningSteps<'_>,
        bound: Option<&Bound>,
    ) -> Result<Assignment, String> {
        let mut found = self.assign_arena(ctx, body, at, running, bound);
        let mut pools = vec![MemoryPool { size_bytes: found.placed.size_bytes, ..self.buffers.pool.clone() }];
        for (number, pool) in self.pools.iter().enumerate() {
            let placed = pool.assign(at, bound.map(|bound| &bound.pools()[number]));
            pools.push(MemoryPool { size_bytes: placed.placed.size_bytes, ..pool.pool().clone() });
            found.pools.push(placed);
        }
        let is_over = |pool: &&MemoryPool| pool.capacity.is_some_and(|capacity| pool.size_bytes > capacity);
        if let Some(pool) = pools.iter().find(is_over) {
            return Err(too_small(pool, pool.capacity.unwrap_or(0), pool.size_bytes));
        }
        found.size_bytes = stack(&mut pools);
        for (placed, pool) in found.pools.iter_mut().zip(&pools[1..]) {
            placed.start = pool.start;
        }
        Ok(found)
    }

    /// Places the buffers of the arena. If faster algorithms make it exceed the bound or the pool, the steps
    /// use their usual ones.
    fn assign_arena(
        &self,
        ctx: &Context,
        body: &Body,
        at: &dyn Fn(SizeId) -> u64,
        running: RunningSteps<'_>,
        bound: Option<&Bound>,
    ) -> Assignment {
        let faster = self.faster((ctx, body), at, running);
        if !faster.is_empty() {
            let needs = faster.needs(running.needs);
            let capacity = self.buffers.pool.capacity.unwrap_or(u64::MAX);
            let most = bound.map_or(u64::MAX, Bound::arena_bytes).min(capacity);
            let fits = |found: &Assignment| found.placed.size_bytes <= most;
            let freely = || Some(self.assign_freely(ctx, body, at, &needs));
            let in_order = || {
                let bound = bound.filter(|bound| bound.has_room_for(&self.buffers, &faster))?;
                Some(self.assign_in_order(ctx, body, at, &needs, bound))
            };
            if let Some(mut found) = freely().filter(fits).or_else(|| in_order().filter(fits)) {
                faster.write(&mut found.choices);
                return found;
            }
        }
        let found = self.assign_freely(ctx, body, at, running.needs);
        let found = match bound {
            Some(bound) if found.placed.size_bytes > bound.arena_bytes() => {
                self.assign_in_order(ctx, body, at, running.needs, bound)
            }
            _ => found,
        };
        Assignment { given_up: faster.len(), ..found }
    }

    /// The steps that use faster algorithms.
    fn faster(
        &self,
        (ctx, body): (&Context, &Body),
        at: &dyn Fn(SizeId) -> u64,
        running: RunningSteps<'_>,
    ) -> FasterSteps {
        let RunningSteps { needs, faster } = running;
        if !FasterSteps::may_be(needs.len(), faster) {
            return FasterSteps::default();
        }
        let sizes = self.sizes(at, needs);
        let asked = TradeOffQuery::new((ctx, body), &self.buffers, Goal::Memory, needs, &sizes);
        FasterSteps::of(&asked, self.goal, faster)
    }

    /// Places all buffers in the order of the bound's proof, with the overlaps of that proof.
    fn assign_in_order(
        &self,
        ctx: &Context,
        body: &Body,
        at: &dyn Fn(SizeId) -> u64,
        needs: &[StepNeeds],
        bound: &Bound,
    ) -> Assignment {
        let mut sizes = self.sizes(at, needs);
        let mut choices = Vec::new();
        for (step, run) in self.buffers.runs.iter().enumerate() {
            let most = bound.stacked_scratch(run.scratch).expect("each step has a buffer of scratch");
            if sizes[run.scratch] > most {
                sizes[run.scratch] = most;
                choices.push(StepChoice { step, scratch_bytes: Some(most), banding: None, method: None });
            }
        }
        let candidate = |shared: &SharedRows| {
            let bands = needs[self.buffers.number(shared.op)?].bands?;
            let rows = OperandRows::of(ctx, body, shared.op, shared.operand)?;
            let &SharedRows { op, operand, band_rows, order, .. } = shared;
            let candidate = BandCandidate { op, operand, band_rows, multiple: bands.multiple, rows };
            shared.is_of(bands).then_some((candidate, order))
        };
        let candidates: Vec<(BandCandidate, RowOrder)> =
            bound.shared_rows().iter().filter_map(candidate).collect();
        let overlaps =
            candidates.iter().map(|(candidate, order)| overlap(&self.buffers, candidate, *order)).collect();
        let placed = self.orders.place_in_order(&sizes, overlaps, bound.order());
        let candidates: Vec<BandCandidate> = candidates.into_iter().map(|(candidate, _)| candidate).collect();
        settled(&self.buffers, placed, sizes, choices, &candidates)
    }

    fn assign_freely(
        &self,
        ctx: &Context,
        body: &Body,
        at: &dyn Fn(SizeId) -> u64,
        needs: &[StepNeeds],
    ) -> Assignment {
        let sizes = self.sizes(at, needs);
        let asked = TradeOffQuery::new((ctx, body), &self.buffers, self.goal, needs, &sizes);
        let mut trade_offs = trade_offs(&asked);
        let Some(trade_off) = trade_offs.next() else {
            return whole(self.orders.place(&sizes, Vec::new(), 0, Effort::AsNeeded), &sizes);
        };
        let is_enough = |bytes: u64| is_enough(bytes, &trade_off);
        let quickly = || self.orders.place(&sizes, Vec::new(), 0, Effort::Little);
        // No placement without savings is smaller than the peak of live bytes.
        let quick = asked.peak().is_none_or(is_enough).then(quickly);
        if let Some(quick) = quick.as_ref().filter(|quick| is_enough(quick.size_bytes)) {
            return whole(quick.clone(), &sizes);
        }
        let (trade_off, saved) = best_savings(&asked, &self.orders, trade_off, trade_offs, Effort::Little);
        if self::is_enough(saved.placed.size_bytes, &trade_off) {
            return saved;
        }
        // A full planner run over many buffers takes milliseconds.
        let (quick, saved) = match self.buffers.runs.len() {
            ..MANY => (
                self.orders.place(&sizes, Vec::new(), 0, Effort::AsNeeded),
                with_savings(&asked, &self.orders, &trade_off, Effort::AsNeeded),
            ),
            _ => (quick.unwrap_or_else(quickly), saved),
        };
        if saved.placed.size_bytes < quick.size_bytes { saved } else { whole(quick, &sizes) }
    }

    /// Learns good orders at some sizes, with and without savings, for use at other sizes.
    pub fn learn(
        &mut self,
        ctx: &Context,
        body: &Body,
        at: &dyn Fn(SizeId) -> u64,
        running: RunningSteps<'_>,
    ) {
        let needs = self.faster((ctx, body), at, running).needs(running.needs);
        let sizes = self.sizes(at, &needs);
        let asked = TradeOffQuery::new((ctx, body), &self.buffers, self.goal, &needs, &sizes);
        let mut trade_offs = trade_offs(&asked);
        let first = trade_offs.next();
        let saved = first.map(|first| best_savings(&asked, &self.orders, first, trade_offs, Effort::Full).1);
        let whole = self.orders.place(&sizes, Vec::new(), 0, Effort::Full);
        for placed in saved.map(|saved| saved.placed).into_iter().chain([whole]) {
            self.orders.learn(&sizes, &placed);
        }
        self.pools.iter_mut().for_each(|pool| pool.learn(at));
    }

    /// The bytes of each buffer, for steps with these needs.
    fn sizes(&self, at: &dyn Fn(SizeId) -> u64, needs: &[StepNeeds]) -> PrimaryMap<BufferId, u64> {
        let bytes = |source: &BytesAt| match *source {
            BytesAt::Expr(id) => at(id),
            BytesAt::Scratch(number) => needs[number].scratch_bytes,
        };
        self.sources.values().map(bytes).collect()
    }
}

/// From this number of steps on, the result of a few known orders is taken even if it is not near the
/// optimum.
const MANY: usize = 200;

fn whole(placed: BoundedPlacement, sizes: &PrimaryMap<BufferId, u64>) -> Assignment {
    of_arena(placed, sizes.clone(), Vec::new())
}

/// An assignment from a placement, with the other choices of the steps and the bands that the places use.
fn settled(
    buffers: &Buffers,
    placed: BoundedPlacement,
    sizes: PrimaryMap<BufferId, u64>,
    mut choices: Vec<StepChoice>,
    candidates: &[BandCandidate],
) -> Assignment {
    for candidate in candidates {
        let BandCandidate { op, operand, .. } = candidate;
        let pair = buffers.pair(*op, *operand).expect("a candidate is a pair");
        let places = pair.map(|id| placed.offsets[id]..placed.offsets[id] + sizes[id]);
        let Some((rows, order)) = tradeoff::settled(candidate, places) else { continue };
        let step = buffers.number(*op).expect("only runs are in bands");
        let banding = Some(Banding { operand: *operand, rows, order });
        match choices.iter_mut().find(|choice| choice.step == step) {
            Some(choice) => choice.banding = banding,
            None => choices.push(StepChoice { step, scratch_bytes: None, banding, method: None }),
        }
    }
    of_arena(placed, sizes, choices)
}

fn of_arena(
    placed: BoundedPlacement,
    sizes: PrimaryMap<BufferId, u64>,
    choices: Vec<StepChoice>,
) -> Assignment {
    Assignment { placed, sizes, choices, given_up: 0, pools: Vec::new(), size_bytes: 0 }
}

/// The trade-offs for each band width of the goal, in order.
fn trade_offs<'a>(asked: &'a TradeOffQuery<'a>) -> impl Iterator<Item = TradeOff> + 'a {
    asked.goal().band_widths().iter().map_while(|width| tradeoff::trade_off(asked, *width))
}

/// Whether an arena of `bytes` is within 1 / [`ENOUGH`] of the trade-off's target.
fn is_enough(bytes: u64, trade_off: &TradeOff) -> bool {
    bytes <= trade_off.target_bytes + trade_off.target_bytes / ENOUGH
}

/// The trade-off with the smallest placement, and that placement. The search ends at the first one near its
/// target.
fn best_savings(
    asked: &TradeOffQuery<'_>,
    orders: &KnownOrders,
    first: TradeOff,
    others: impl Iterator<Item = TradeOff>,
    effort: Effort,
) -> (TradeOff, Assignment) {
    let saved = with_savings(asked, orders, &first, effort);
    let mut best = (first, saved);
    for other in others {
        if is_enough(best.1.placed.size_bytes, &best.0) {
            break;
        }
        let saved = with_savings(asked, orders, &other, effort);
        if saved.placed.size_bytes < best.1.placed.size_bytes {
            best = (other, saved);
        }
    }
    best
}

/// The placement with the savings of a trade-off.
fn with_savings(
    asked: &TradeOffQuery<'_>,
    orders: &KnownOrders,
    trade_off: &TradeOff,
    effort: Effort,
) -> Assignment {
    let buffers = asked.buffers;
    let mut sizes = asked.sizes.clone();
    let mut choices: Vec<StepChoice> = Vec::new();
    for (op, bytes) in &trade_off.scratch {
        let step = buffers.number(*op).expect("only runs have scratch to save");
        sizes[buffers.runs[step].scratch] = *bytes;
        choices.push(StepChoice { step, scratch_bytes: Some(*bytes), banding: None, method: None });
    }
    let both = |candidate| [RowOrder::Down, RowOrder::Up].map(|order| overlap(buffers, candidate, order));
    let overlaps = trade_off.candidates.iter().flat_map(both).collect();
    let placed = orders.place(&sizes, overlaps, trade_off.target_bytes, effort);
    settled(buffers, placed, sizes, choices, &trade_off.candidates)
}

#[cfg(test)]
#[path = "assign_tests.rs"]
mod tests;
