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
//! with all its sizes at their greatest. No result is written over rows of an operand, and no scratch is
//! saved.

use cranelift_entity::PrimaryMap;
use ir::dims::{self, Maximum, Ranges};
use ir::{Body, Context, DimExpr, Ident, Target};

use super::buffers::{Buffers, Size};
use super::structure::write_rows;
use crate::place::{self, Buffer, BufferId, Problem};
use crate::plan::ALIGN_BYTES;

/// What is enough for the buffers of a function at all its sizes.
#[derive(Clone, Debug)]
pub struct Bound {
    maximum: Maximum,
    order: Vec<BufferId>,
    scratch: PrimaryMap<BufferId, Option<u64>>,
}

impl Bound {
    /// The bound of a function with these buffers, run on `threads` threads.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(
        ctx: &Context,
        target: &dyn Target,
        buffers: &Buffers,
        threads: usize,
    ) -> Result<Bound, String> {
        if buffers.has_pools {
            return Err("it has pools beside the arena".to_owned());
        }
        let ranges = Ranges::of_function(ctx, &buffers.body);
        for name in dims::symbols_in(ctx, &buffers.body) {
            if ranges.of(name).1 == u64::MAX {
                return Err(format!("`{}` has no greatest number", ctx.str(name)));
            }
        }
        let scratch = most_scratch(ctx, target, buffers, &ranges, threads)?;
        let mut exprs: Vec<DimExpr> = Vec::new();
        let mut sizes: PrimaryMap<BufferId, usize> = PrimaryMap::new();
        for (id, size) in buffers.sizes.iter() {
            let expr = match *size {
                Size::Bytes(expr) | Size::Moves(expr) => expr,
                Size::Scratch(_) => dims::constant(ctx, scratch[id].unwrap_or(0) as i64),
            };
            let known = exprs.iter().position(|known| *known == expr);
            sizes.push(known.unwrap_or_else(|| {
                exprs.push(expr);
                exprs.len() - 1
            }));
        }
        let greatest: Vec<i128> = exprs.iter().map(|expr| greatest(ctx, *expr, &ranges)).collect();
        let mut problem = buffers.problem.clone();
        for (id, buffer) in problem.buffers.iter_mut() {
            buffer.size_bytes = u64::try_from(greatest[sizes[id]]).unwrap_or(u64::MAX);
        }
        let offsets = place::place(&problem, &place::Options::default()).offsets;
        let mut order: Vec<BufferId> = problem.buffers.keys().collect();
        order.sort_by_key(|id| offsets[*id]);
        let stack = Stack::new(&problem, &order, &sizes);
        let maximum = joint_maximum(ctx, &ranges, &exprs, &|sizes| stack.height(sizes));
        Ok(Bound { maximum, order, scratch })
    }

    /// The bytes, and whether some sizes need as many, stacked in this order.
    pub fn maximum(&self) -> Maximum {
        self.maximum
    }

    /// The bytes.
    pub fn size_bytes(&self) -> u64 {
        u64::try_from(self.maximum.value).unwrap_or(u64::MAX)
    }

    /// All buffers from the bottom up: first fit in this order never takes more bytes.
    pub fn order(&self) -> &[BufferId] {
        &self.order
    }

    /// The most bytes that a buffer of scratch takes.
    pub fn scratch_bytes(&self, buffer: BufferId) -> Option<u64> {
        self.scratch[buffer]
    }
}

/// The most scratch of each run, with its operands whole and where the structure has them.
fn most_scratch(
    ctx: &Context,
    target: &dyn Target,
    buffers: &Buffers,
    ranges: &Ranges,
    threads: usize,
) -> Result<PrimaryMap<BufferId, Option<u64>>, String> {
    let mut whole = buffers.body.clone();
    dims::greatest_in(ctx, &mut whole, ranges).map_err(|faults| faults[0].message.clone())?;
    let mut in_rows = whole.clone();
    write_rows(ctx, &mut in_rows);
    let bytes_of = |size: &Size| {
        let Size::Scratch(number) = *size else { return Ok(None) };
        let op = buffers.runs[number].op;
        let bytes = |body: &Body| target.select(body.at(ctx, op), threads).map(|it| it.most_scratch_bytes);
        let name = || whole.at(ctx, op).name().to_owned();
        let most = bytes(&whole).ok_or_else(|| format!("the scratch of `{}` has no bound", name()))?;
        Ok(Some(most.max(bytes(&in_rows).unwrap_or(0))))
    };
    let bytes: Result<Vec<Option<u64>>, String> = buffers.sizes.values().map(bytes_of).collect();
    Ok(bytes?.into_iter().collect())
}

/// Buffers, each above those below it that are live with it.
struct Stack<'a> {
    /// For each buffer from the bottom up, the number of its size.
    sizes: Vec<usize>,
    /// For each, those below it that are live with it.
    below: Vec<Vec<usize>>,
    problem: &'a Problem,
    order: &'a [BufferId],
}

impl<'a> Stack<'a> {
    fn new(problem: &'a Problem, order: &'a [BufferId], sizes: &PrimaryMap<BufferId, usize>) -> Stack<'a> {
        let live = |id: BufferId| &problem.buffers[id];
        let meet = |a: &Buffer, b: &Buffer| a.first <= b.last && b.first <= a.last;
        let below = |index: usize| {
            let this = live(order[index]);
            (0..index).filter(|lower| meet(live(order[*lower]), this)).collect()
        };
        let below = (0..order.len()).map(below).collect();
        Stack { sizes: order.iter().map(|id| sizes[*id]).collect(), below, problem, order }
    }

    /// Where the highest buffer ends.
    fn height(&self, sizes: &[i128]) -> i128 {
        let mut ends: Vec<i128> = Vec::with_capacity(self.below.len());
        for (index, lower) in self.below.iter().enumerate() {
            let align = i128::from(self.problem.buffers[self.order[index]].align.max(ALIGN_BYTES));
            let highest = lower.iter().map(|lower| ends[*lower]).max().unwrap_or(0);
            let size = sizes[self.sizes[index]].max(0);
            let start = highest.saturating_add((align - highest % align) % align);
            ends.push(if size == 0 { 0 } else { start.saturating_add(size) });
        }
        ends.into_iter().max().unwrap_or(0)
    }
}

fn greatest(ctx: &Context, expr: DimExpr, ranges: &Ranges) -> i128 {
    dims::maximum(ctx, expr, ranges).map_or(0, |found| found.value.max(0))
}

/// The maximum over the ranges of all symbols of what `of` makes of the sizes of expressions, and never makes
/// smaller for larger ones.
fn joint_maximum(ctx: &Context, ranges: &Ranges, exprs: &[DimExpr], of: &dyn Fn(&[i128]) -> i128) -> Maximum {
    let mut names: Vec<Ident> = exprs.iter().flat_map(|expr| dims::symbols(ctx, *expr)).collect();
    names.sort_by(|a, b| ctx.str(*a).cmp(ctx.str(*b)));
    names.dedup();
    let sides: Vec<(u64, u64)> = names.iter().map(|name| ranges.of(*name)).collect();
    let upper = |part: &[(u64, u64)]| {
        let sizes = exprs.iter().map(|expr| dims::bounds(ctx, *expr, &names, part).high.max(0));
        of(&sizes.collect::<Vec<_>>())
    };
    dims::maximize(&sides, &upper).expect("each symbol has a greatest number")
}
