//! The height of stacked buffers at all sizes: in an order from the bottom up, each begins at the highest end
//! of the buffers below it that are live with it.

use std::ops::Range;

use cranelift_entity::PrimaryMap;
use ir::dims::{self, Maximum, Ranges};
use ir::{Context, DimExpr, Ident};

use super::buffers::{BufferSize, Buffers};
use super::shared_rows::SharedRows;
use crate::place::{self, Buffer, BufferId, Placement, PlannerOptions, Problem};
use crate::plan::ALIGN_BYTES;

/// The bytes of the buffers of a pool, as expressions.
pub(super) struct BufferSizes<'a> {
    ctx: &'a Context,
    /// The symbols in them, with their ranges.
    names: Vec<Ident>,
    sides: Vec<(u64, u64)>,
    exprs: Vec<DimExpr>,
    /// For each buffer, the index of its expression.
    numbers: PrimaryMap<BufferId, usize>,
    /// The greatest value of each expression.
    greatest: Vec<i128>,
}

impl<'a> BufferSizes<'a> {
    /// The sizes of the arena's buffers; `scratch` has those of scratch.
    pub(super) fn of(
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
    pub(super) fn at_greatest(&self, problem: &Problem) -> Problem {
        let mut problem = problem.clone();
        for (id, buffer) in problem.buffers.iter_mut() {
            buffer.size_bytes = u64::try_from(self.greatest[self.numbers[id]]).unwrap_or(u64::MAX);
        }
        problem
    }

    /// An order of buffers, without overlap, that is good at their greatest sizes, and the maximum of their
    /// height in it over all sizes.
    pub(super) fn stacked(&self, problem: &Problem) -> (Vec<BufferId>, Maximum) {
        let problem = self.at_greatest(problem);
        let order = order_of(&problem, &place::place(&problem, &PlannerOptions::default()));
        let maximum = self.joint_maximum(&problem, &order, &[]);
        (order, maximum)
    }

    /// The maximum height of the buffers, stacked in an order, over the ranges of all symbols.
    pub(super) fn joint_maximum(
        &self,
        problem: &Problem,
        order: &[BufferId],
        shared: &[SharedRows],
    ) -> Maximum {
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
    /// For each buffer from the bottom up, the index of its size.
    sizes: Vec<usize>,
    /// The alignment of each buffer.
    aligns: Vec<i128>,
    /// For each buffer, those below it that are live with it, and the index of the pair's distance if they
    /// may overlap.
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

    /// The end of the highest buffer.
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

/// The buffers from the bottom up.
pub(super) fn order_of(problem: &Problem, placement: &Placement) -> Vec<BufferId> {
    let mut order: Vec<BufferId> = problem.buffers.keys().collect();
    order.sort_by_key(|id| placement.offsets[*id]);
    order
}

#[cfg(test)]
#[path = "stacked_tests.rs"]
mod tests;
