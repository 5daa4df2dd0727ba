//! Values in pools other than the arena: one placement problem for each pool.
//!
//! All pools are ranges of one piece of memory: the arena first, then each other pool at a multiple of its
//! alignment. So a program needs one address, and a run allocates once. Values that control flow passes on
//! keep their place only within one pool.

use cranelift_entity::PrimaryMap;
use ir::memory_pools::{ARENA, MemoryPool, pools, pools_attr, stack, wanted};
use ir::plan::attrs;
use ir::plan::storage::Storage;
use ir::{Body, Context, Diagnostic, Location, Value};

use super::{ArenaProblem, BufferContent, peak};
use crate::place::{Buffer, BufferId, Placement, Problem};

/// The placement problem of a pool other than the arena.
pub struct PoolProblem {
    /// The pool.
    pub pool: MemoryPool,
    /// Live ranges and sizes.
    pub problem: Problem,
    /// The content of each buffer of the problem.
    pub contents: PrimaryMap<BufferId, BufferContent>,
}

/// The arena, and the other pools without buffers.
pub(super) fn of(ctx: &Context, body: &Body) -> Result<(MemoryPool, Vec<PoolProblem>), Vec<Diagnostic>> {
    let mut pools = pools(ctx, body).map_err(|fault| vec![Diagnostic::error(Location::UNKNOWN, fault)])?;
    let arena = pools.remove(0);
    let empty = |pool| PoolProblem { pool, problem: Problem::default(), contents: PrimaryMap::new() };
    Ok((arena, pools.into_iter().map(empty).collect()))
}

/// The placement of each pool, the arena's first.
pub(super) struct PoolPlacements {
    pub(super) placements: Vec<Placement>,
    pools: Vec<MemoryPool>,
}

impl PoolPlacements {
    /// The name of a pool other than the arena, and the offset of a buffer in it.
    pub(super) fn place(&self, index: usize, id: BufferId) -> (&str, u64) {
        (&self.pools[index + 1].name, self.placements[index + 1].offsets[id])
    }

    /// Writes the size of all memory and the range of each pool, if there are pools other than the arena.
    pub(super) fn write(&self, ctx: &Context, body: &mut Body) {
        let end = self.pools.iter().map(|pool| pool.start + pool.size_bytes).max().unwrap_or(0);
        body.set_own_attr(ctx, attrs::OPTC_ARENA, ctx.int_attr(end as i64));
        if self.pools.len() > 1 || body.own_attr(ctx, ctx.ident(attrs::OPTC_POOLS)).is_some() {
            body.set_own_attr(ctx, attrs::OPTC_POOLS, pools_attr(ctx, &self.pools));
        }
    }
}

impl ArenaProblem<'_> {
    /// Gives each value that requests a pool, and is not in the caller's memory, a buffer there.
    pub(super) fn fill_pools(&mut self, ctx: &Context, body: &Body) -> Result<(), Vec<Diagnostic>> {
        let mut faults = Vec::new();
        for root in self.classes.roots().to_vec() {
            let class = self.classes.class(root);
            let name = wanted(ctx, body, class);
            if name == ARENA || self.homes[class].is_some() {
                continue;
            }
            if let Err(fault) = self.fill_pool(name, class) {
                let location = body.defining_op(class).map_or(Location::UNKNOWN, |op| body.location(op));
                faults.push(Diagnostic { location, ..fault });
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn fill_pool(&mut self, name: &str, class: Value) -> Result<(), Diagnostic> {
        let Some(index) = self.pools.iter().position(|pool| pool.pool.name == name) else {
            return Err(unknown_pool(name, &self.pools));
        };
        let (Some(live_range), Some(size_bytes)) =
            (self.classes.live_range(class), self.aliases.extent_bytes(class))
        else {
            return Err(Diagnostic::error(Location::UNKNOWN, "the size of a result is not known"));
        };
        let PoolProblem { pool, problem, contents } = &mut self.pools[index];
        contents.push(BufferContent::Root(class));
        let buffer = Buffer {
            first: live_range.first,
            last: live_range.last,
            size_bytes,
            align: pool.align,
            pin: None,
        };
        self.homes[class] = Some(Storage::Pool(index, problem.buffers.push(buffer)));
        Ok(())
    }

    /// Places the buffers of the pools other than the arena, whose placement is given.
    ///
    /// # Errors
    /// For each pool that is too small.
    pub(super) fn place_pools(
        &self,
        ctx: &Context,
        body: &Body,
        placements: Vec<Placement>,
    ) -> Result<PoolPlacements, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let mut pools: Vec<MemoryPool> = Vec::new();
        for (index, placement) in placements.iter().enumerate() {
            let (pool, problem, contents) = self.problem_of(index);
            let size_bytes = placement.size_bytes;
            if let Some(capacity) = pool.capacity.filter(|capacity| size_bytes > *capacity) {
                let message = too_small(pool, capacity, size_bytes);
                faults.push(peak::explain(ctx, body, &self.steps, problem, contents, message));
            }
            pools.push(MemoryPool { size_bytes, ..pool.clone() });
        }
        stack(&mut pools);
        if faults.is_empty() { Ok(PoolPlacements { placements, pools }) } else { Err(faults) }
    }

    /// Removes the capacity of every pool.
    pub(crate) fn set_no_capacities(&mut self) {
        let others = self.pools.iter_mut().map(|pool| &mut pool.pool);
        std::iter::once(&mut self.pool).chain(others).for_each(|pool| pool.capacity = None);
    }

    /// The problem of a pool: the arena's for 0, then the others'.
    fn problem_of(&self, index: usize) -> (&MemoryPool, &Problem, &PrimaryMap<BufferId, BufferContent>) {
        match index.checked_sub(1).map(|index| &self.pools[index]) {
            Some(PoolProblem { pool, problem, contents }) => (pool, problem, contents),
            None => (&self.pool, &self.problem, &self.contents),
        }
    }
}

/// The message for a pool that can't hold its values.
pub(crate) fn too_small(pool: &MemoryPool, capacity: u64, size_bytes: u64) -> String {
    format!("the pool `{}` holds {capacity} bytes, but {size_bytes} are needed", pool.name)
}

fn unknown_pool(name: &str, pools: &[PoolProblem]) -> Diagnostic {
    let hint = ir::diag::did_you_mean(name, pools.iter().map(|pool| pool.pool.name.as_str()));
    let help =
        hint.unwrap_or_else(|| format!("declare it: `--pool {name}`, or `optc.pools` of the function"));
    Diagnostic::error(Location::UNKNOWN, format!("there is no pool `{name}`")).with_help(help)
}
