//! Are the memory pools disjoint and within their capacity, and is each result in the pool that it requests?

use ir::memory_pools::{ARENA, MemoryPool as Range, pools};
use ir::plan::attrs;
use ir::states::STATE;
use ir::{Attr, Body, Context, Op, Value};

use super::PlanChecker;
use super::memory::{Home, MemorySpace};

/// The pools of a function, the arena first, each a range of its memory.
///
/// # Errors
/// A message if they overlap, exceed the memory or their capacity, or are not aligned.
pub(super) fn ranges(ctx: &Context, body: &Body) -> Result<Vec<Range>, String> {
    let all = body.own_attr(ctx, ctx.ident(attrs::OPTC_ARENA)).and_then(|attr| ctx.int_value(attr));
    let all = all.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
    let pools = pools(ctx, body)?;
    for (index, pool) in pools.iter().enumerate() {
        let Range { name, start, size_bytes, .. } = pool;
        let end = start.checked_add(*size_bytes).filter(|end| *end <= all);
        let end = end.ok_or_else(|| format!("the pool `{name}` exceeds the memory of {all} bytes"))?;
        if pools[..index].iter().any(|other| *start < other.start + other.size_bytes && other.start < end) {
            return Err(format!("the pool `{name}` shares bytes with another"));
        }
        if pool.capacity.is_some_and(|capacity| *size_bytes > capacity) {
            return Err(format!("the pool `{name}` has {size_bytes} bytes, more than it may take"));
        }
        if !start.is_multiple_of(pool.align) {
            return Err(format!("the pool `{name}` does not begin at its alignment"));
        }
    }
    Ok(pools)
}

impl PlanChecker<'_> {
    /// The memory and first byte of `span` bytes at `offset` of a pool.
    pub(super) fn in_pool(&self, name: &str, offset: u64, span: u64) -> Result<(MemorySpace, u64), String> {
        let index = self.pools.iter().position(|pool| pool.name == name);
        let index = index.ok_or_else(|| format!("there is no pool `{name}`"))?;
        let pool = &self.pools[index];
        if offset.checked_add(span).is_none_or(|end| end > pool.size_bytes) {
            let size = pool.size_bytes;
            return Err(format!("offset {offset} with {span} bytes exceeds the pool `{name}` of {size}"));
        }
        if !offset.is_multiple_of(pool.align) {
            return Err(format!("offset {offset} is not aligned in the pool `{name}`"));
        }
        Ok((MemorySpace::Planned(index), offset))
    }

    /// Checks that results are in the pools that they request. Only a result that requests the arena may be
    /// in the caller's memory.
    pub(super) fn check_pools(&mut self, op: Op, asked: Option<Attr>, results: &[Home]) {
        let asked = asked.and_then(|names| self.ctx.array_value(names)).unwrap_or(&[]);
        for (result, home) in results.iter().enumerate() {
            let asked = asked.get(result).and_then(|name| self.ctx.str_value(*name)).unwrap_or(ARENA);
            let is_there = match home.pool {
                MemorySpace::Planned(index) => self.holds_what_asks_for(index, asked),
                MemorySpace::Input(_) | MemorySpace::Output(_) => asked == ARENA,
            };
            if !is_there {
                self.fault(op, format!("result {result} is not in the pool `{asked}`, which it asks for"));
            }
            self.check_pitch(op, result, home);
        }
    }

    /// Whether a pool may hold a result that requests pool `asked`: a state's place may hold one that
    /// requests the arena, as a donated input may.
    fn holds_what_asks_for(&self, index: usize, asked: &str) -> bool {
        let name = &self.pools[index].name;
        name == asked || (name == STATE && asked == ARENA)
    }

    /// Checks that rows begin at multiples of their pool's pitch. An operand in place in a concatenation has
    /// the rows of its result.
    fn check_pitch(&mut self, op: Op, result: usize, home: &Home) {
        let MemorySpace::Planned(index) = home.pool else { return };
        let pitch = self.pools[index].pitch;
        let is_even = home.bytes.start.is_multiple_of(pitch) && home.pitch.is_multiple_of(pitch);
        if !home.is_dense() && !is_even && !self.is_part(self.body.result(op, result)) {
            self.fault(
                op,
                format!("rows of result {result} do not begin at multiples of the pool's pitch of {pitch}"),
            );
        }
    }

    /// Whether a value, or one that shares its bytes, is in place in a concatenation.
    fn is_part(&self, value: Value) -> bool {
        self.body.uses(value).any(|used| {
            let user = self.body.at(self.ctx, used.op);
            let names = |attr: &str| user.ints(attr).is_some_and(|list| list.contains(&(used.index as i64)));
            let shares = |result: Value| names(attrs::MEM_TIE) || self.view_source(result).is_some();
            names(attrs::MEM_PARTS)
                || self.body.results(used.op).any(|result| shares(result) && self.is_part(result))
        })
    }

    /// Checks that scratch, or an argument of a block, is in the arena or the caller's memory.
    pub(super) fn is_in_arena(&self, home: &Home) -> Result<(), String> {
        match home.pool {
            MemorySpace::Planned(index) if !self.holds_what_asks_for(index, ARENA) => {
                Err(format!("the pool `{}` may not hold scratch or block arguments", self.pools[index].name))
            }
            _ => Ok(()),
        }
    }
}
