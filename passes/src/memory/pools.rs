//! Pools other than the arena: the places of their buffers at given sizes, and their size for all sizes.
//!
//! Each pool is a placement problem of its own. All pools are ranges of one piece of memory, after the arena,
//! so the start of a pool depends on the sizes, too. States are pinned to their places in the pool `state`.

use std::ops::Range;

use cranelift_entity::PrimaryMap;
use ir::dims::{Ranges, SizeId};
use ir::memory_pools::MemoryPool;
use ir::{Context, DimExpr};

use super::buffers::PoolBuffers;
use super::stacked::BufferSizes;
use crate::place::orders::{BoundedPlacement, Effort, KnownOrders};
use crate::place::{Buffer, BufferId};

/// The places of a pool's buffers at given sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolAssignment {
    /// The pool's start in the memory of all pools, in bytes.
    pub start: u64,
    /// The offset of each buffer in the pool.
    pub placed: BoundedPlacement,
    /// The bytes of each buffer.
    pub sizes: PrimaryMap<BufferId, u64>,
}

impl PoolAssignment {
    /// The bytes of a buffer in the memory of all pools.
    pub fn place(&self, buffer: BufferId) -> Range<u64> {
        let start = self.start + self.placed.offsets[buffer];
        start..start + self.sizes[buffer]
    }
}

/// An upper bound of a pool for all sizes.
#[derive(Clone, Debug)]
pub struct PoolBound {
    size_bytes: u64,
    is_exact: bool,
    /// First fit in this order never exceeds the bound; none for pinned buffers.
    order: Option<Vec<BufferId>>,
}

impl PoolBound {
    /// The bound of a pool, for sizes in these ranges.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn of(ctx: &Context, pool: &PoolBuffers, ranges: &Ranges) -> Result<PoolBound, String> {
        if pool.problem.buffers.values().all(|buffer| buffer.pin.is_none()) {
            let (order, maximum) =
                BufferSizes::new(ctx, pool.sizes.values().copied(), ranges).stacked(&pool.problem);
            let size_bytes = u64::try_from(maximum.value).unwrap_or(u64::MAX);
            return Ok(PoolBound { size_bytes, is_exact: maximum.is_exact, order: Some(order) });
        }
        let end = |(buffer, size): (&Buffer, &DimExpr)| {
            let bytes = ctx.dim_expr(*size).constant().and_then(|bytes| u64::try_from(bytes).ok());
            Some(buffer.pin? + bytes?)
        };
        let ends: Option<Vec<u64>> =
            pool.problem.buffers.values().zip(pool.sizes.values()).map(end).collect();
        let ends =
            ends.ok_or_else(|| format!("values lie among the states, in the pool `{}`", pool.pool.name))?;
        let size_bytes = ends.into_iter().max().unwrap_or(0);
        Ok(PoolBound { size_bytes, is_exact: true, order: None })
    }

    /// The bound in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Whether some sizes reach the bound, with the buffers in this order.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }
}

/// Places the buffers of a pool at any sizes.
pub(super) struct PoolAssigner {
    pool: MemoryPool,
    sources: PrimaryMap<BufferId, SizeId>,
    orders: KnownOrders,
    has_pins: bool,
}

impl PoolAssigner {
    /// An assigner for these buffers; `table` collects their sizes.
    pub(super) fn new(buffers: &PoolBuffers, table: &mut dyn FnMut(DimExpr) -> SizeId) -> PoolAssigner {
        let PoolBuffers { pool, sizes, problem } = buffers;
        PoolAssigner {
            pool: pool.clone(),
            sources: sizes.values().map(|size| table(*size)).collect(),
            has_pins: problem.buffers.values().any(|buffer| buffer.pin.is_some()),
            orders: KnownOrders::new(problem.clone()),
        }
    }

    /// The pool.
    pub(super) fn pool(&self) -> &MemoryPool {
        &self.pool
    }

    /// Places all buffers, within the bound if there is one; the pool begins at 0.
    pub(super) fn assign(&self, at: &dyn Fn(SizeId) -> u64, bound: Option<&PoolBound>) -> PoolAssignment {
        let sizes: PrimaryMap<BufferId, u64> = self.sources.values().map(|id| at(*id)).collect();
        let effort = if self.has_pins { Effort::Full } else { Effort::AsNeeded };
        let mut placed = self.orders.place(&sizes, Vec::new(), 0, effort);
        if let Some(PoolBound { size_bytes, order: Some(order), .. }) = bound
            && placed.size_bytes > *size_bytes
        {
            placed = self.orders.place_in_order(&sizes, Vec::new(), order);
        }
        PoolAssignment { start: 0, placed, sizes }
    }

    /// Learns the good order at some sizes for use at others.
    pub(super) fn learn(&mut self, at: &dyn Fn(SizeId) -> u64) {
        let sizes: PrimaryMap<BufferId, u64> = self.sources.values().map(|id| at(*id)).collect();
        let placed = self.orders.place(&sizes, Vec::new(), 0, Effort::Full);
        self.orders.learn(&sizes, &placed);
    }
}

#[cfg(test)]
#[path = "pools_tests.rs"]
mod tests;
