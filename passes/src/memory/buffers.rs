//! The buffers of a function at all sizes: their values, live ranges and sizes.
//!
//! The structure of the plan is already decided ([`structure`]), so buffers and their live ranges do not
//! depend on sizes. [`ArenaProblem`] finds them in the function at the sizes for which its structure was
//! chosen. Values share a buffer only if that is proved right at all sizes. Only the number of bytes is an
//! expression:
//!
//! ```text
//! %0 = nn.exp %x   : tensor<?x8xf32, #optc.dims<N>>     buffer 0: 32 * N bytes, steps 0 to 1
//! %1 = nn.relu %0 {mem.tie = [0]}                       buffer 0, too
//! ```
//!
//! The checker checks the plan for the chosen sizes once. At other sizes only offsets change, and
//! [`crate::memory::assign`] checks that buffers that are live together share no byte.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use ir::alias::{AliasSets, ties};
use ir::dims::{self, Ranges};
use ir::flow::{Act, Event, walk};
use ir::memory_pools::{MemoryPool, pools};
use ir::plan::attrs;
use ir::plan::storage::Storage;
use ir::weights::WeightSet;
use ir::{Attr, Body, Context, Diagnostic, Dim, DimExpr, Location, Op, Target, Value};
use rustc_hash::FxHashMap;

use super::bytes::bytes_of;
use super::structure;
use crate::access::asks_target;
use crate::check::check;
use crate::place::{self, Buffer, BufferId, PlannerOptions, Problem, Step};
use crate::plan::{ArenaProblem, BufferContent, PoolProblem, SizeRanges};
use crate::select::select;

/// A step that runs an operation.
#[derive(Clone, Copy, Debug)]
pub struct OpRun {
    /// The operation.
    pub op: Op,
    /// The step.
    pub step: Step,
    /// The buffer of its scratch, which may be empty.
    pub scratch: BufferId,
    /// The operand that result 0 overwrites, if the target must allow it at each size.
    pub asked_tie: Option<usize>,
}

/// The size of a buffer in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSize {
    /// The bytes of a value.
    Bytes(DimExpr),
    /// The scratch of the step of this number, known from its kernel at each size.
    Scratch(usize),
    /// The scratch of a parallel move.
    Moves(DimExpr),
}

/// The buffers of a pool other than the arena, at all sizes.
#[derive(Clone)]
pub struct PoolBuffers {
    /// The pool.
    pub pool: MemoryPool,
    /// The bytes of each buffer.
    pub sizes: PrimaryMap<BufferId, DimExpr>,
    /// The live range of each buffer, with the pin of states; all sizes are 0.
    pub problem: Problem,
}

/// The buffers of a function at all its sizes.
#[derive(Clone)]
pub struct Buffers {
    /// The function, with its structure decided.
    pub body: Body,
    /// The steps that run operations, in text order.
    pub runs: Vec<OpRun>,
    /// The number of the run of each operation.
    numbers: SecondaryMap<Op, u32>,
    storage: SecondaryMap<Value, Option<Storage<BufferId>>>,
    /// For each value, the buffer that it fills, and the buffer in whose rows it has a part each.
    filled: SecondaryMap<Value, [Option<BufferId>; 2]>,
    /// The scratch of operations with a parallel move.
    moves: FxHashMap<Op, BufferId>,
    /// Pairs of values that share a buffer although each owns bytes.
    pub(crate) shared: Vec<(Value, Value)>,
    /// The properties of the arena.
    pub pool: MemoryPool,
    /// The buffers of each other pool, in the pools' order in memory.
    pub pools: Vec<PoolBuffers>,
    /// The size of each buffer.
    pub sizes: PrimaryMap<BufferId, BufferSize>,
    /// Whether a buffer of scratch has bytes at the sizes for which the structure was chosen.
    has_scratch: SecondaryMap<BufferId, bool>,
    /// The live range of each buffer; all sizes are 0.
    pub problem: Problem,
}

impl Buffers {
    /// The buffers of a function whose structure is decided, for runs on `threads` threads.
    ///
    /// # Errors
    /// If the function can't have the sizes for which its structure was chosen, or has a size that depends on
    /// no symbol; and faults that the checker finds.
    pub fn of(
        ctx: &Context,
        target: &dyn Target,
        body: &Body,
        threads: usize,
    ) -> Result<Buffers, Vec<Diagnostic>> {
        let sizes = structure::choice(ctx, body).ok_or_else(|| fault("it can't have its greatest sizes"))?;
        let mut at = structure::at_sizes(ctx, body, &sizes)?;
        let known = pools(ctx, body).map_err(|message| fault(&message))?;
        if let Some(pool) = known.iter().find(|pool| pool.pitch > 1) {
            let what = format!("the pool `{}` has a pitch, which is for known sizes", pool.name);
            return Err(fault(&what));
        }
        select(ctx, target, &mut at, threads);
        let aliases = AliasSets::of(ctx, &at);
        let ranges = Ranges::of_function(ctx, body);
        let mut arena =
            ArenaProblem::at_some_sizes(ctx, &at, &aliases, SizeRanges { body, ranges: &ranges })?;
        let buffers = BufferMaker { ctx, body, arena: &arena }.make()?;
        let placed = place::place(&arena.problem, &PlannerOptions::default());
        if !structure::has_greatest(ctx, body) {
            // The chosen sizes need not be sizes that the program must support.
            arena.set_no_capacities();
        }
        let mut planned = at.clone();
        arena.write_alone(ctx, &mut planned, placed)?;
        let faults = check(ctx, &planned);
        if faults.is_empty() { Ok(buffers) } else { Err(faults) }
    }

    /// The storage of a value; none for weights.
    pub fn storage(&self, value: Value) -> Option<Storage<BufferId>> {
        self.storage[value]
    }

    /// The index of an operation's run, if it is a step.
    pub fn number(&self, op: Op) -> Option<usize> {
        let number = self.numbers[op] as usize;
        self.runs.get(number).filter(|run| run.op == op).map(|_| number)
    }

    /// The scratch of an operation's parallel copy, if its values change places.
    pub fn moves(&self, op: Op) -> Option<BufferId> {
        self.moves.get(&op).copied()
    }

    /// The operations whose parallel copy needs scratch, each with that buffer.
    pub fn all_moves(&self) -> impl Iterator<Item = (Op, BufferId)> + '_ {
        self.moves.iter().map(|(op, buffer)| (*op, *buffer))
    }

    /// The live range of a buffer: its first and last step, both included.
    pub fn live_range(&self, buffer: BufferId) -> (Step, Step) {
        let Buffer { first, last, .. } = self.problem.buffers[buffer];
        (first, last)
    }

    /// The buffers of an operand and of result 0 of a step. The operand must fill its buffer, have no other
    /// reader, and die here. The result must fill its buffer, or be a part of each of its rows, and its
    /// buffer must begin here.
    pub fn pair(&self, op: Op, operand: usize) -> Option<[BufferId; 2]> {
        let body = &self.body;
        let read = (operand < body.operand_count(op)).then(|| body.operand(op, operand))?;
        let [whole, rows] = self.filled[body.results(op).next()?];
        let (input, output) = (self.filled[read][0]?, whole.or(rows)?);
        let readers = body.operands(op).filter(|value| self.storage[*value] == Some(Storage::Buffer(input)));
        let is_passed_on = self.live_range(input).1 == self.live_range(output).0;
        (is_passed_on && readers.count() == 1 && input != output).then_some([input, output])
    }
}

pub(crate) fn fault(message: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Location::UNKNOWN, message)]
}

/// Generalizes the buffers of a function at some sizes to all sizes.
struct BufferMaker<'a> {
    ctx: &'a Context,
    /// The function with named sizes.
    body: &'a Body,
    arena: &'a ArenaProblem<'a>,
}

impl BufferMaker<'_> {
    fn make(&self) -> Result<Buffers, Vec<Diagnostic>> {
        let mut buffers = Buffers {
            body: self.body.clone(),
            runs: Vec::new(),
            numbers: SecondaryMap::new(),
            storage: SecondaryMap::new(),
            filled: SecondaryMap::new(),
            moves: FxHashMap::default(),
            shared: self.arena.shared().to_vec(),
            pool: self.arena.pool.clone(),
            pools: self.arena.pools.iter().map(|pool| self.pool(pool)).collect::<Result<_, _>>()?,
            sizes: PrimaryMap::new(),
            has_scratch: SecondaryMap::new(),
            problem: Problem::default(),
        };
        let scratch = self.add_buffers(&mut buffers)?;
        self.add_runs(&mut buffers, &scratch);
        self.add_values(&mut buffers);
        Ok(buffers)
    }

    /// The buffers of a pool other than the arena, from its problem at some sizes.
    fn pool(&self, at: &PoolProblem) -> Result<PoolBuffers, Vec<Diagnostic>> {
        let size = |content: &BufferContent| match *content {
            BufferContent::Root(value) => bytes_of(self.ctx, self.body.ty(value)),
            BufferContent::Scratch(_) => None,
        };
        let sizes: Option<PrimaryMap<BufferId, DimExpr>> = at.contents.values().map(size).collect();
        let sizes = sizes.ok_or_else(|| fault("the size of a value follows from no symbols"))?;
        let mut problem = at.problem.clone();
        problem.buffers.values_mut().for_each(|buffer| buffer.size_bytes = 0);
        Ok(PoolBuffers { pool: at.pool.clone(), sizes, problem })
    }

    /// Adds the arena's buffers; returns the scratch of each operation.
    fn add_buffers(&self, to: &mut Buffers) -> Result<FxHashMap<Op, BufferId>, Vec<Diagnostic>> {
        let ctx = self.ctx;
        let mut scratch = FxHashMap::default();
        let runs: FxHashMap<Op, usize> = self.arena.steps().iter().map(|(_, op)| op).zip(0..).collect();
        for (id, content) in self.arena.contents.iter() {
            let size = match *content {
                BufferContent::Root(value) => bytes_of(ctx, self.body.ty(value)).map(BufferSize::Bytes),
                BufferContent::Scratch(op) => match runs.get(&op) {
                    Some(number) => Some(BufferSize::Scratch(*number)),
                    None => self.moved_bytes(op).map(BufferSize::Moves),
                },
            };
            let size = size.ok_or_else(|| fault("the size of a value follows from no symbols"))?;
            to.sizes.push(size);
            to.problem.buffers.push(Buffer { size_bytes: 0, ..self.arena.problem.buffers[id] });
            if let BufferContent::Scratch(op) = content {
                to.has_scratch[id] = true;
                scratch.insert(*op, id);
                if matches!(size, BufferSize::Moves(_)) {
                    to.moves.insert(*op, id);
                }
            }
        }
        Ok(scratch)
    }

    /// All bytes of an operation's parallel move, an upper bound of what its copies need.
    fn moved_bytes(&self, op: Op) -> Option<DimExpr> {
        let ctx = self.ctx;
        let events = self.arena.steps().events().map(|(_, event)| event);
        let events = events.filter(|event| event.op == op && event.act != Act::Run);
        let mut most = dims::constant(ctx, 0);
        for event in events {
            most = dims::add(ctx, most, self.event_bytes(event)?)?;
        }
        Some(most)
    }

    fn event_bytes(&self, event: Event) -> Option<DimExpr> {
        let ctx = self.ctx;
        let align = dims::constant(ctx, crate::plan::ALIGN_BYTES as i64);
        let mut sum = dims::constant(ctx, 0);
        for pair in event.moves(ctx, self.body) {
            let rounded = dims::ceil_div(ctx, bytes_of(ctx, self.body.ty(pair.to))?, align)?;
            sum = dims::add(ctx, sum, dims::mul(ctx, rounded, align)?)?;
        }
        Some(sum)
    }

    fn add_runs(&self, to: &mut Buffers, scratch: &FxHashMap<Op, BufferId>) {
        for (number, (step, op)) in self.arena.steps().iter().enumerate() {
            let ties = ties(self.body.at(self.ctx, op)).filter(|tie| tie.0 == 0).map(|tie| tie.1);
            let asked_tie = ties.into_iter().find(|tie| asks_target(self.ctx, self.body, op, 0, *tie));
            let scratch = scratch.get(&op).copied().unwrap_or_else(|| {
                to.sizes.push(BufferSize::Scratch(number));
                let align = self.arena.pool.align;
                to.problem.buffers.push(Buffer { first: step, last: step, size_bytes: 0, align, pin: None })
            });
            to.numbers[op] = number as u32;
            to.runs.push(OpRun { op, step, scratch, asked_tie });
        }
    }

    fn add_values(&self, to: &mut Buffers) {
        let (ctx, body) = (self.ctx, self.body);
        let weights = WeightSet::of(ctx, body);
        let mut values = Vec::new();
        for block in crate::edit::blocks(ctx, body) {
            values.extend_from_slice(body.args(block));
        }
        walk(ctx, body, |op| values.extend(body.results(op)));
        for value in values.into_iter().filter(|value| !weights.contains(*value)) {
            to.storage[value] = self.arena.storage(value);
            to.filled[value] = [self.arena.whole(value), self.arena.in_rows(value)];
        }
    }
}

impl Buffers {
    /// Writes the buffers into a function. `optc.buffers` has the first step, the last step and the bytes of
    /// each buffer, and its pool if that is not the arena. `mem.buffer` of each step has the index of each
    /// result's buffer (or the output or input that holds it), then that of its scratch.
    ///
    /// The bytes of scratch are those of `scratch_bytes`, the most that a kernel takes, or else a unit
    /// attribute. Empty scratch is left out.
    pub fn write(&self, ctx: &Context, body: &mut Body, scratch_bytes: &dyn Fn(BufferId) -> Option<u64>) {
        let mut numbers: PrimaryMap<BufferId, Option<i64>> = PrimaryMap::new();
        let mut entries: Vec<Attr> = Vec::new();
        for (id, size) in self.sizes.iter() {
            let bytes = match *size {
                BufferSize::Bytes(expr) | BufferSize::Moves(expr) => Some(dims::size(ctx, expr)),
                BufferSize::Scratch(_) => scratch_bytes(id).map(Dim::Known),
            };
            let is_none = bytes == Some(Dim::Known(0)) || bytes.is_none() && !self.has_scratch[id];
            numbers.push((!is_none).then_some(entries.len() as i64));
            if !is_none {
                let Buffer { first, last, .. } = self.problem.buffers[id];
                let step = |step: Step| ctx.int_attr(step.index() as i64);
                let bytes = bytes.map_or_else(|| ctx.unit_attr(), |bytes| ctx.dims_attr(&[bytes]));
                entries.push(ctx.array_attr(&[step(first), step(last), bytes]));
            }
        }
        let mut firsts = Vec::new();
        for PoolBuffers { pool, sizes, problem } in &self.pools {
            firsts.push(entries.len());
            for (id, size) in sizes {
                let Buffer { first, last, .. } = problem.buffers[id];
                let step = |step: Step| ctx.int_attr(step.index() as i64);
                let bytes = ctx.dims_attr(&[dims::size(ctx, *size)]);
                entries.push(ctx.array_attr(&[step(first), step(last), bytes, ctx.str_attr(&pool.name)]));
            }
        }
        let entry = |storage: Option<Storage<BufferId>>| match storage {
            Some(Storage::Buffer(id)) => numbers[id].map(|number| ctx.int_attr(number)),
            Some(Storage::Output(index)) => Some(caller(ctx, "out", index)),
            Some(Storage::Input(index)) => Some(caller(ctx, "in", index)),
            Some(Storage::Pool(pool, id)) => Some(ctx.int_attr((firsts[pool] + id.index()) as i64)),
            None => None,
        };
        for run in &self.runs {
            let results = body.results(run.op).map(|result| entry(self.storage(result)));
            let results: Vec<Attr> = results.map(|entry| entry.unwrap_or(ctx.unit_attr())).collect();
            let scratch = entry(Some(Storage::Buffer(run.scratch)));
            let all: Vec<Attr> = results.into_iter().chain(scratch).collect();
            body.set_attr(ctx, run.op, attrs::MEM_BUFFER, ctx.array_attr(&all));
        }
        body.set_own_attr(ctx, attrs::OPTC_BUFFERS, ctx.array_attr(&entries));
    }
}

fn caller(ctx: &Context, side: &str, index: usize) -> Attr {
    ctx.array_attr(&[ctx.str_attr(side), ctx.int_attr(index as i64)])
}
