//! How many bytes of arena are enough at all sizes that a function may have.
//!
//! ```text
//! %0 of 4 * n * m * max(n - m, 1) bytes, n <= 20, m <= 5   =>   6000 bytes
//! %0 of 4 * N bytes, beside %1 of 2048 - 4 * N             =>   2048 bytes, and not 4096
//! ```
//!
//! The planner places the buffers once, each at its greatest size. That says which of two buffers that are
//! live together is below the other. At any sizes, a buffer then begins where the highest below it ends, and
//! the arena is the longest way up. The joint maximum of that over the ranges of all symbols
//! ([`dims::maximize`]) is enough at every size: first fit in the order from the bottom up ([`Bound::order`])
//! places no buffer higher.
//!
//! The scratch of a step is the most that the target says ([`ir::target::KernelChoice::most_scratch_bytes`])
//! with all its sizes at their greatest; no scratch is saved. Results that are written over rows of operands
//! at the greatest sizes are so at all sizes where that can be (`shared_rows`): then the upper one of two
//! begins at most a distance above the lower one's first byte, in place of its last.

use std::ops::Range;

use cranelift_entity::PrimaryMap;
use ir::dims::{self, Maximum, Ranges};
use ir::memory_pools::{MemoryPool, stack};
use ir::{Body, Context, DimExpr, Ident, Target};

use super::assign::{StepNeeds, TradeOffQuery, needs, overlap};
use super::buffers::{BufferSize, Buffers};
use super::faster::FasterSteps;
use super::pools::PoolBound;
use super::shared_rows::SharedRows;
use super::structure::write_rows;
use crate::overlap::RowOrder;
use crate::place::{self, Buffer, BufferId, Placement, PlannerOptions, Problem};
use crate::plan::ALIGN_BYTES;
use crate::tradeoff::{self, Goal, Offer};

/// What is enough for the buffers of a function at all its sizes.
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
    /// The bound of a function with these buffers, run on `threads` threads, in plans of this goal.
    ///
    /// # Errors
    /// Why there is none.
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
                return Err(format!("`{}` has no greatest number", ctx.str(name)));
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

    /// With the bytes of the arena and of all pools after it.
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

    /// The bytes of the arena and of all other pools.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Whether some sizes need as many, with all buffers in these orders.
    pub fn is_exact(&self) -> bool {
        self.maximum.is_exact && self.pools.iter().all(PoolBound::is_constant)
    }

    /// Whether some sizes need as many bytes of the arena alone, with its buffers in this order.
    pub fn is_arena_exact(&self) -> bool {
        self.maximum.is_exact
    }

    /// The bytes of the arena alone.
    pub fn arena_bytes(&self) -> u64 {
        u64::try_from(self.maximum.value).unwrap_or(u64::MAX)
    }

    /// What is enough for each pool beside the arena.
    pub fn pools(&self) -> &[PoolBound] {
        &self.pools
    }

    /// All buffers of the arena from the bottom up: first fit in this order never takes more bytes.
    pub fn order(&self) -> &[BufferId] {
        &self.order
    }

    /// Whether steps that are computed faster have no more scratch than here, and share no rows.
    pub(super) fn has_room_for(&self, buffers: &Buffers, faster: &FasterSteps) -> bool {
        let has_room = |(id, bytes): (BufferId, u64)| self.scratch[id].is_some_and(|most| bytes <= most);
        let shares = |rows: &SharedRows| buffers.number(rows.op).is_some_and(|step| faster.contains(step));
        faster.scratch(buffers).all(has_room) && !self.shared_rows.iter().any(shares)
    }

    /// The results that are written over rows of operands in that order.
    pub(crate) fn shared_rows(&self) -> &[SharedRows] {
        &self.shared_rows
    }

    /// The most bytes that a buffer of scratch takes.
    pub fn scratch_bytes(&self, buffer: BufferId) -> Option<u64> {
        self.scratch[buffer]
    }
}

/// The buffers from the bottom up.
fn order_of(problem: &Problem, placement: &Placement) -> Vec<BufferId> {
    let mut order: Vec<BufferId> = problem.buffers.keys().collect();
    order.sort_by_key(|id| placement.offsets[*id]);
    order
}

/// Which results are written over rows of operands where all buffers have their greatest sizes, for which
/// steps have these needs, and the order of the buffers then.
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
    let way = goal.band_shares().first().and_then(|share| tradeoff::way(&asked, *share));
    let offers: Vec<Offer> = way.map_or_else(Vec::new, |way| way.offers);
    let both = |offer| [RowOrder::Down, RowOrder::Up].map(|order| overlap(buffers, offer, order));
    problem.overlaps = offers.iter().flat_map(both).collect();
    let placement = place::place(&problem, &PlannerOptions::default());
    let shared = offers.iter().filter_map(|offer| {
        let [input, output] = buffers.pair(offer.op, offer.operand)?;
        let range = |id: BufferId| placement.offsets[id]..placement.offsets[id] + bytes[id];
        let (_, order) = tradeoff::settled(offer.rows, offer.band_rows, [range(input), range(output)])?;
        let stacked = match order {
            RowOrder::Down => [output, input],
            RowOrder::Up => [input, output],
        };
        SharedRows::new(ctx, buffers, ranges, offer, order, stacked)
    });
    let shared = shared.collect();
    (order_of(&problem, &placement), shared)
}

/// The most scratch of each run, with its operands whole and where the structure has them.
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

/// The bytes of the buffers of a pool, as expressions.
pub(super) struct BufferSizes<'a> {
    ctx: &'a Context,
    /// The symbols in them, with their ranges.
    names: Vec<Ident>,
    sides: Vec<(u64, u64)>,
    exprs: Vec<DimExpr>,
    /// For each buffer, the number of its expression.
    numbers: PrimaryMap<BufferId, usize>,
    /// The greatest value of each expression.
    greatest: Vec<i128>,
}

impl<'a> BufferSizes<'a> {
    /// The sizes of the arena's buffers, of which those of scratch have these bytes.
    fn of(
        ctx: &'a Context,
        buffers: &Buffers,
        scratch: &PrimaryMap<BufferId, Option<u64>>,
        ranges: &Ranges,
    ) -> BufferSizes<'a> {
        let expr = |(id, size): (BufferId, &BufferSize)| match *size {
            BufferSize::Bytes(expr) | BufferSize::Moves(expr) => expr,
            BufferSize::Scratch(_) => dims::constant(ctx, scratch[id].unwrap_or(0) as i64),
        };
        BufferSizes::new(ctx, buffers.sizes.iter().map(expr), ranges)
    }

    /// The sizes of buffers, in their order.
    pub(super) fn new(
        ctx: &'a Context,
        sizes: impl Iterator<Item = DimExpr>,
        ranges: &Ranges,
    ) -> BufferSizes<'a> {
        let mut exprs: Vec<DimExpr> = Vec::new();
        let mut numbers: PrimaryMap<BufferId, usize> = PrimaryMap::new();
        for expr in sizes {
            let known = exprs.iter().position(|known| *known == expr);
            numbers.push(known.unwrap_or_else(|| {
                exprs.push(expr);
                exprs.len() - 1
            }));
        }
        let greatest = |expr: &DimExpr| {
            let found = dims::maximum(ctx, *expr, ranges);
            found.map_or(0, |found| found.value.max(0))
        };
        let greatest = exprs.iter().map(greatest).collect();
        let mut names: Vec<Ident> = exprs.iter().flat_map(|expr| dims::symbols(ctx, *expr)).collect();
        names.sort_by(|a, b| ctx.str(*a).cmp(ctx.str(*b)));
        names.dedup();
        let sides = names.iter().map(|name| ranges.of(*name)).collect();
        BufferSizes { ctx, names, sides, exprs, numbers, greatest }
    }

    /// The buffers, each at its greatest size.
    fn at_greatest(&self, problem: &Problem) -> Problem {
        let mut problem = problem.clone();
        for (id, buffer) in problem.buffers.iter_mut() {
            buffer.size_bytes = u64::try_from(self.greatest[self.numbers[id]]).unwrap_or(u64::MAX);
        }
        problem
    }

    /// The order of buffers, none over rows of another, that is good at their greatest sizes, and the maximum
    /// over all sizes of their height in it.
    pub(super) fn stacked(&self, problem: &Problem) -> (Vec<BufferId>, Maximum) {
        let problem = self.at_greatest(problem);
        let order = order_of(&problem, &place::place(&problem, &PlannerOptions::default()));
        let maximum = self.joint_maximum(&problem, &order, &[]);
        (order, maximum)
    }

    /// The maximum over the ranges of all symbols of the height of the buffers, stacked in an order.
    fn joint_maximum(&self, problem: &Problem, order: &[BufferId], shared: &[SharedRows]) -> Maximum {
        let stack = Stack::new(problem, order, &self.numbers, shared);
        let upper = |part: &[(u64, u64)]| {
            let size = |expr: &DimExpr| dims::bounds(self.ctx, *expr, &self.names, part).high.max(0);
            let sizes: Vec<i128> = self.exprs.iter().map(size).collect();
            let distance = |rows: &SharedRows| rows.distance(self.ctx, &self.names, part);
            let distances: Vec<Option<i128>> = shared.iter().map(distance).collect();
            stack.height(&sizes, &distances)
        };
        dims::maximize(&self.sides, &upper).expect("each symbol has a greatest number")
    }
}

/// Buffers, each above those below it that are live with it.
struct Stack {
    /// For each buffer from the bottom up, the number of its size.
    sizes: Vec<usize>,
    /// The multiples at which each may begin.
    aligns: Vec<i128>,
    /// For each, those below it that are live with it, and the number of the distance between the two, if
    /// they may share bytes.
    below: Vec<Vec<(usize, Option<usize>)>>,
}

impl Stack {
    fn new(
        problem: &Problem,
        order: &[BufferId],
        sizes: &PrimaryMap<BufferId, usize>,
        shared: &[SharedRows],
    ) -> Stack {
        let live = |id: BufferId| &problem.buffers[id];
        let meet = |a: &Buffer, b: &Buffer| a.first <= b.last && b.first <= a.last;
        let distance = |pair: [BufferId; 2]| shared.iter().position(|rows| rows.buffers == pair);
        let below = |index: usize| {
            let this = order[index];
            let lower = (0..index).filter(|lower| meet(live(order[*lower]), live(this)));
            lower.map(|lower| (lower, distance([order[lower], this]))).collect()
        };
        Stack {
            sizes: order.iter().map(|id| sizes[*id]).collect(),
            aligns: order.iter().map(|id| i128::from(live(*id).align.max(ALIGN_BYTES))).collect(),
            below: (0..order.len()).map(below).collect(),
        }
    }

    /// Where the highest buffer ends.
    fn height(&self, sizes: &[i128], distances: &[Option<i128>]) -> i128 {
        let mut places: Vec<Range<i128>> = Vec::with_capacity(self.below.len());
        for (index, lower) in self.below.iter().enumerate() {
            let above = |&(lower, distance): &(usize, Option<usize>)| {
                let place: &Range<i128> = &places[lower];
                let near = distance.and_then(|number| distances[number]);
                near.map_or(place.end, |distance| place.end.min(place.start.saturating_add(distance)))
            };
            let highest = lower.iter().map(above).max().unwrap_or(0);
            let align = self.aligns[index];
            let size = sizes[self.sizes[index]].max(0);
            let start = highest.saturating_add((align - highest % align) % align);
            places.push(if size == 0 { 0..0 } else { start..start.saturating_add(size) });
        }
        places.iter().map(|place| place.end).max().unwrap_or(0)
    }
}
