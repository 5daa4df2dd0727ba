//! Where the buffers of a function are at given sizes, without making IR.
//!
//! As [`crate::plan`] does for a function of known sizes: where the goal says so, the steps at the peak get
//! less scratch than their kernels prefer, or are written over rows of their operands ([`crate::tradeoff`]),
//! unless whole tensors take next to no more ([`ENOUGH`]). Orders of buffers that were good at other sizes
//! are tried first ([`KnownOrders`]).

use std::ops::Range;

use cranelift_entity::{EntityRef, PrimaryMap};
use ir::dims::SizeId;
use ir::memory_pools::{MemoryPool, stack};
use ir::target::Bands;
use ir::{Body, Context, DimExpr, Op, Target};

use super::bound::Bound;
use super::buffers::{BufferSize, Buffers};
use super::faster::{FasterSteps, RunningSteps};
use super::pools::{PoolAssigner, PoolAssignment};
use super::shared_rows::SharedRows;
use crate::overlap::{Banding, OperandRows, RowOrder};
use crate::place::orders::{BoundedPlacement, ENOUGH, Effort, KnownOrders};
use crate::place::{Buffer, BufferId, Overlap};
use crate::plan::{ALIGN_BYTES, too_small};
use crate::tradeoff::{self, Goal, Offer, OverlapCandidate, Question, RunningStep, TradeOff};

/// What a step's kernel needs at some sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepNeeds {
    /// The scratch that it prefers, in bytes.
    pub scratch_bytes: u64,
    /// The least scratch that it can run with.
    pub least_scratch_bytes: u64,
    /// How it may run in bands.
    pub bands: Option<Bands>,
}

/// Where all buffers are at given sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where each buffer of the arena is.
    pub placed: BoundedPlacement,
    /// The bytes of each.
    pub sizes: PrimaryMap<BufferId, u64>,
    /// What steps do otherwise than their usual kernels prefer.
    pub choices: Vec<StepChoice>,
    /// How many steps are computed as usual only since the bound or the pool has no room for the scratch of
    /// their faster algorithm.
    pub given_up: usize,
    /// Where the buffers of each pool beside the arena are.
    pub pools: Vec<PoolAssignment>,
    /// The bytes of all pools, the arena among them.
    pub size_bytes: u64,
}

impl Assignment {
    /// The bytes that a buffer of the arena has.
    pub fn place(&self, buffer: BufferId) -> Range<u64> {
        let start = self.placed.offsets[buffer];
        start..start + self.sizes[buffer]
    }
}

/// What a step does otherwise than its usual kernel prefers, to save memory or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepChoice {
    /// The step.
    pub step: usize,
    /// The bytes of scratch that it gets, if its kernel prefers more.
    pub scratch_bytes: Option<u64>,
    /// The rows in bands of which it is written over an operand.
    pub banding: Option<Banding>,
    /// The faster algorithm that computes it.
    pub method: Option<&'static str>,
}

/// What assigns offsets to the buffers of a function, at any sizes.
pub struct Assigner {
    /// The buffers.
    pub buffers: Buffers,
    /// Where the bytes of each buffer come from.
    sources: PrimaryMap<BufferId, BytesAt>,
    orders: KnownOrders,
    pools: Vec<PoolAssigner>,
    goal: Goal,
}

/// Where the bytes of a buffer come from at given sizes.
#[derive(Clone, Copy)]
enum BytesAt {
    Expr(SizeId),
    Scratch(usize),
}

impl Assigner {
    /// An assigner for these buffers; `table` takes their sizes.
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

    /// Places all buffers, in no more bytes than the bound, where there is one; `body` is the function with
    /// the sizes' types, `at` gives the numbers of the table's expressions, `running` what its runs need.
    ///
    /// # Errors
    /// Which pool holds too little.
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

    /// Places the buffers of the arena. Where that takes more than the bound or the pool has, if steps are
    /// computed by faster algorithms, they are computed as usual.
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
            let most = bound.map_or(u64::MAX, Bound::arena_bytes);
            let most = most.min(self.buffers.pool.capacity.unwrap_or(u64::MAX));
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

    /// The steps that are computed by faster algorithms.
    fn faster(
        &self,
        (ctx, body): (&Context, &Body),
        at: &dyn Fn(SizeId) -> u64,
        running: RunningSteps<'_>,
    ) -> FasterSteps {
        let RunningSteps { needs, faster } = running;
        let sizes = self.sizes(at, needs);
        let asked = TradeOffQuery::new((ctx, body), &self.buffers, Goal::Memory, needs, &sizes);
        FasterSteps::of(&asked, self.goal, faster)
    }

    /// Places all buffers in the order for which the bound is proved, those in rows of others that it says.
    fn assign_in_order(
        &self,
        ctx: &Context,
        body: &Body,
        at: &dyn Fn(SizeId) -> u64,
        needs: &[StepNeeds],
        bound: &Bound,
    ) -> Assignment {
        let sizes = self.sizes(at, needs);
        let offer = |shared: &SharedRows| {
            let bands = needs[self.buffers.number(shared.op)?].bands?;
            let rows = OperandRows::of(ctx, body, shared.op, shared.operand)?;
            let &SharedRows { op, operand, band_rows, order, .. } = shared;
            (bands.operand == operand).then_some((Offer { op, operand, band_rows, rows }, order))
        };
        let offers: Vec<(Offer, RowOrder)> = bound.shared_rows().iter().filter_map(offer).collect();
        let overlaps = offers.iter().map(|(offer, order)| overlap(&self.buffers, offer, *order)).collect();
        let placed = self.orders.place_in_order(&sizes, overlaps, bound.order());
        let offers: Vec<Offer> = offers.into_iter().map(|(offer, _)| offer).collect();
        settled(&self.buffers, placed, sizes, Vec::new(), &offers)
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
        let way = self.goal.band_shares().first().and_then(|share| tradeoff::way(&asked, *share));
        let Some(way) = way else {
            return whole(self.orders.place(&sizes, Vec::new(), 0, Effort::AsNeeded), &sizes);
        };
        let is_enough = |bytes: u64| bytes <= way.target_bytes + way.target_bytes / ENOUGH;
        let quickly = || self.orders.place(&sizes, Vec::new(), 0, Effort::Little);
        // No placement of whole tensors is smaller than what is live at the peak.
        let quick = asked.peak().is_none_or(is_enough).then(quickly);
        if let Some(quick) = quick.as_ref().filter(|quick| is_enough(quick.size_bytes)) {
            return whole(quick.clone(), &sizes);
        }
        let saved = asked.saved(&self.orders, &way, Effort::Little);
        if is_enough(saved.placed.size_bytes) {
            return saved;
        }
        // A whole planner's walk through many buffers costs milliseconds.
        let (quick, saved) = match self.buffers.runs.len() {
            ..MANY => (
                self.orders.place(&sizes, Vec::new(), 0, Effort::AsNeeded),
                asked.saved(&self.orders, &way, Effort::AsNeeded),
            ),
            _ => (quick.unwrap_or_else(quickly), saved),
        };
        if saved.placed.size_bytes < quick.size_bytes { saved } else { whole(quick, &sizes) }
    }

    /// Keeps the orders that are good at some sizes, with and without saving, for others.
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
        let way = self.goal.band_shares().first().and_then(|share| tradeoff::way(&asked, *share));
        let saved = way.map(|way| asked.saved(&self.orders, &way, Effort::Full));
        let whole = self.orders.place(&sizes, Vec::new(), 0, Effort::Full);
        for placed in saved.map(|saved| saved.placed).into_iter().chain([whole]) {
            self.orders.learn(&sizes, &placed);
        }
        self.pools.iter_mut().for_each(|pool| pool.learn(at));
    }

    /// The bytes of each buffer, for runs with these needs.
    fn sizes(&self, at: &dyn Fn(SizeId) -> u64, needs: &[StepNeeds]) -> PrimaryMap<BufferId, u64> {
        let bytes = |source: &BytesAt| match *source {
            BytesAt::Expr(id) => at(id),
            BytesAt::Scratch(number) => needs[number].scratch_bytes,
        };
        self.sources.values().map(bytes).collect()
    }
}

/// From how many steps on what a few orders give is taken, where it is not near what may be possible.
const MANY: usize = 200;

fn whole(placed: BoundedPlacement, sizes: &PrimaryMap<BufferId, u64>) -> Assignment {
    of_arena(placed, sizes.clone(), Vec::new())
}

/// What an offer means for a placement, if the rows are written in this order.
pub(super) fn overlap(buffers: &Buffers, offer: &Offer, order: RowOrder) -> Overlap {
    let [input, output] = buffers.pair(offer.op, offer.operand).expect("a candidate is a pair");
    let min_distance_bytes = offer.rows.distance(offer.band_rows, order);
    match order {
        RowOrder::Down => Overlap { input, output, min_distance_bytes },
        RowOrder::Up => Overlap { input: output, output: input, min_distance_bytes },
    }
}

/// Where the buffers are placed, with what steps do beside what they save otherwise: those offers that the
/// places take.
fn settled(
    buffers: &Buffers,
    placed: BoundedPlacement,
    sizes: PrimaryMap<BufferId, u64>,
    mut choices: Vec<StepChoice>,
    offers: &[Offer],
) -> Assignment {
    for Offer { op, operand, band_rows, rows } in offers {
        let pair = buffers.pair(*op, *operand).expect("a candidate is a pair");
        let places = pair.map(|id| placed.offsets[id]..placed.offsets[id] + sizes[id]);
        let Some((rows, order)) = tradeoff::settled(*rows, *band_rows, places) else { continue };
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

/// The bytes of the tensors that are live at each step, each rounded up to a whole number of places.
fn live(buffers: &Buffers, sizes: &PrimaryMap<BufferId, u64>) -> Vec<u64> {
    let problem = &buffers.problem;
    let steps = problem.buffers.values().map(|buffer| buffer.last.index() + 2).max().unwrap_or(0);
    let mut changes = vec![0i64; steps];
    for (id, size) in buffers.sizes.iter() {
        if !matches!(size, BufferSize::Scratch(_)) {
            let Buffer { first, last, .. } = problem.buffers[id];
            let bytes = sizes[id].next_multiple_of(ALIGN_BYTES) as i64;
            changes[first.index()] += bytes;
            changes[last.index() + 1] -= bytes;
        }
    }
    let sums = changes.iter().scan(0, |sum, change| {
        *sum += change;
        Some(*sum as u64)
    });
    sums.collect()
}

/// What [`crate::tradeoff`] asks about a function at given sizes.
pub(super) struct TradeOffQuery<'a> {
    ctx: &'a Context,
    body: &'a Body,
    buffers: &'a Buffers,
    goal: Goal,
    needs: &'a [StepNeeds],
    live: Vec<u64>,
    sizes: &'a PrimaryMap<BufferId, u64>,
}

impl<'a> TradeOffQuery<'a> {
    /// Of a function that has the types of the sizes.
    pub(super) fn new(
        (ctx, body): (&'a Context, &'a Body),
        buffers: &'a Buffers,
        goal: Goal,
        needs: &'a [StepNeeds],
        sizes: &'a PrimaryMap<BufferId, u64>,
    ) -> TradeOffQuery<'a> {
        TradeOffQuery { ctx, body, buffers, goal, needs, live: live(buffers, sizes), sizes }
    }

    /// The most bytes that are live at a step.
    fn peak(&self) -> Option<u64> {
        let runs = self.buffers.runs.iter().zip(self.needs);
        runs.map(|(run, needs)| self.live[run.step.index()] + needs.scratch_bytes).max()
    }

    /// The placement in which the steps at the peak save memory.
    fn saved(&self, orders: &KnownOrders, way: &TradeOff, effort: Effort) -> Assignment {
        let buffers = self.buffers;
        let mut sizes = self.sizes.clone();
        let mut choices: Vec<StepChoice> = Vec::new();
        for (op, bytes) in &way.scratch {
            let step = buffers.number(*op).expect("only runs have scratch to save");
            sizes[buffers.runs[step].scratch] = *bytes;
            choices.push(StepChoice { step, scratch_bytes: Some(*bytes), banding: None, method: None });
        }
        let both = |offer| [RowOrder::Down, RowOrder::Up].map(|order| overlap(buffers, offer, order));
        let overlaps = way.offers.iter().flat_map(both).collect();
        let placed = orders.place(&sizes, overlaps, way.target_bytes, effort);
        settled(buffers, placed, sizes, choices, &way.offers)
    }
}

impl Question for TradeOffQuery<'_> {
    fn goal(&self) -> Goal {
        self.goal
    }

    fn steps(&self) -> Vec<RunningStep> {
        let steps = self.buffers.runs.iter().zip(self.needs);
        let running = steps.map(|(step, needs)| RunningStep {
            op: step.op,
            live: self.live[step.step.index()],
            wished: needs.scratch_bytes,
        });
        running.collect()
    }

    fn scratch(&self, op: Op, wished: u64) -> (u64, Option<Bands>) {
        let needs = self.buffers.number(op).map(|number| self.needs[number]);
        needs.map_or((wished, None), |needs| (needs.least_scratch_bytes, needs.bands))
    }

    fn candidate(&self, op: Op, bands: Bands, share: u64) -> Option<OverlapCandidate> {
        let pair = self.buffers.pair(op, bands.operand)?;
        let rows = OperandRows::of(self.ctx, self.body, op, bands.operand)?;
        OverlapCandidate::new(self.goal, rows, pair.map(|id| self.sizes[id]), bands, share)
    }
}

/// What the runs of a function at given sizes need.
pub(super) fn needs(
    ctx: &Context,
    target: &dyn Target,
    buffers: &Buffers,
    at: &Body,
    threads: usize,
) -> Vec<StepNeeds> {
    let needs = buffers.runs.iter().map(|run| {
        let choice = target.select(at.at(ctx, run.op), threads);
        choice.map_or(StepNeeds::default(), |choice| StepNeeds {
            scratch_bytes: choice.scratch_bytes,
            least_scratch_bytes: choice.least_scratch_bytes,
            bands: choice.bands,
        })
    });
    needs.collect()
}
