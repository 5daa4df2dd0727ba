//! The plan of a function: an offset in one arena for every value between inputs and outputs.
//!
//! ```text
//! %2 = nn.relu %1   =>   %2 = nn.relu %1 {mem.place = [["arena", 4096, 1024]]}
//! ```
//!
//! Every step gets `mem.place`: pool, offset and bytes of each result, then of its scratch. The entry of an
//! operand in place in a concatenation has the concatenation's offset and its own bytes, then its start
//! there, the bytes of its rows, and their pitch. Operations with regions get `mem.args`, the places of each
//! block's arguments; so does a function of several blocks.
//!
//! A value that is passed to an argument or a result (into a loop, from a region, along a branch) gets the
//! place of that one, unless both are live at the same time. Then it is copied there, with scratch if the
//! parallel copy has a cycle. An alias root that is returned is in the caller's buffer
//! (`["out", index, bytes]`) for its whole live range; other values may be there before it. An output without
//! bytes of its own (an input, a weight, an operand in place, a value returned twice) is copied first.
//!
//! Everything else makes one placement problem for each pool, which [`crate::place`] solves, with the
//! overlaps that [`crate::tradeoff`] chooses. [`crate::check`] checks every plan. The bytes of all pools
//! together are `optc.arena` on the function.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use ir::alias::AliasSets;
use ir::dims::Ranges;
use ir::flow::{Act, Event, Move, transfers};
use ir::memory_pools::{ARENA, MemoryPool, wanted};
use ir::plan::attrs;
use ir::plan::storage::Storage;
use ir::weights::WeightSet;
use ir::window::ByteWindow;
use ir::{Body, Builder, Context, Diagnostic, Op, Value};

use crate::edit::{entry, kept_inputs, returns};
use crate::liveness::{AliasClasses, LiveRange, Steps};
use crate::memory::bytes::are_as_large;
use crate::overlap::{Banding, OperandRows, RowOrder};
use crate::place::{Buffer, BufferId, Overlap, Problem, Step};

pub(crate) mod faster;
mod gaps;
mod memory_pools;
mod output_reuse;
pub mod peak;
mod pitch;
mod solve;
mod states;
mod write;

pub use memory_pools::PoolProblem;
pub(crate) use memory_pools::too_small;
pub use solve::plan;

pub use ir::memory_pools::ALIGN_BYTES;

/// The content of a buffer of the placement problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferContent {
    /// An alias root, with all values that share its bytes.
    Root(Value),
    /// The scratch of a step.
    Scratch(Op),
}

/// The placement problem of a function's arena.
pub struct ArenaProblem<'a> {
    /// Live ranges and sizes.
    pub problem: Problem,
    /// The content of each buffer of the problem.
    pub contents: PrimaryMap<BufferId, BufferContent>,
    /// The properties of the arena.
    pub pool: MemoryPool,
    /// The problem of each other pool; scratch is in the arena.
    pub pools: Vec<PoolProblem>,
    steps: Steps,
    aliases: &'a AliasSets,
    classes: AliasClasses<'a>,
    homes: SecondaryMap<Value, Option<Storage<BufferId>>>,
    /// States: the argument and the next value of each are two classes in one place.
    states: Vec<Value>,
    /// Bytes of scratch for an operation's parallel copies.
    handing: SecondaryMap<Op, u64>,
    /// The values that share a place although each has bytes of its own.
    shared: Vec<(Value, Value)>,
    /// The function with named sizes that this one is specialized from, if any: values may share a place only
    /// if they may at all sizes.
    all_sizes: Option<SizeRanges<'a>>,
}

/// A function with named sizes, and the ranges of these.
#[derive(Clone, Copy)]
pub(crate) struct SizeRanges<'a> {
    pub(crate) body: &'a Body,
    pub(crate) ranges: &'a Ranges,
}

impl<'a> ArenaProblem<'a> {
    /// The problem of a function whose outputs are separated and whose ties are chosen.
    ///
    /// # Errors
    /// If a size is not known.
    pub fn of(
        ctx: &Context,
        body: &Body,
        aliases: &'a AliasSets,
    ) -> Result<ArenaProblem<'a>, Vec<Diagnostic>> {
        ArenaProblem::begin(ctx, body, aliases)?.complete(ctx, body)
    }

    /// Like [`ArenaProblem::of`] for a function at some sizes; values share a place only if they may at all
    /// sizes.
    pub(crate) fn at_some_sizes(
        ctx: &Context,
        body: &Body,
        aliases: &'a AliasSets,
        all_sizes: SizeRanges<'a>,
    ) -> Result<ArenaProblem<'a>, Vec<Diagnostic>> {
        let arena = ArenaProblem { all_sizes: Some(all_sizes), ..ArenaProblem::begin(ctx, body, aliases)? };
        arena.complete(ctx, body)
    }

    /// Like [`ArenaProblem::of`], but with the given choice of values that share a place.
    pub(crate) fn sharing(
        ctx: &Context,
        body: &Body,
        aliases: &'a AliasSets,
        shared: &[(Value, Value)],
    ) -> Result<ArenaProblem<'a>, Vec<Diagnostic>> {
        let mut arena = ArenaProblem::begin(ctx, body, aliases)?;
        shared.iter().for_each(|(value, other)| arena.join(*value, *other));
        arena.fill_pools(ctx, body)?;
        arena.finish(ctx, body)?;
        Ok(arena)
    }

    /// The values that share a place although each has bytes of its own: with the argument or result they are
    /// passed to, or in a caller's buffer.
    pub(crate) fn shared(&self) -> &[(Value, Value)] {
        &self.shared
    }

    fn complete(mut self, ctx: &Context, body: &Body) -> Result<ArenaProblem<'a>, Vec<Diagnostic>> {
        self.join_handed(ctx, body);
        self.fill_pools(ctx, body)?;
        self.reuse_outputs(ctx, body);
        self.finish(ctx, body)?;
        Ok(self)
    }

    /// The storage of a value; none for weights, and in unreachable blocks.
    pub(crate) fn storage(&self, value: Value) -> Option<Storage<BufferId>> {
        self.homes[self.classes.class(value)]
    }

    fn begin(
        ctx: &Context,
        body: &Body,
        aliases: &'a AliasSets,
    ) -> Result<ArenaProblem<'a>, Vec<Diagnostic>> {
        let weights = WeightSet::of(ctx, body);
        let steps = Steps::of(ctx, body, &weights);
        let classes = AliasClasses::of(ctx, body, &steps, &weights, aliases);
        let (pool, pools) = memory_pools::of(ctx, body)?;
        let mut arena = ArenaProblem {
            problem: Problem::default(),
            contents: PrimaryMap::new(),
            pool,
            pools,
            steps,
            aliases,
            classes,
            homes: SecondaryMap::new(),
            states: Vec::new(),
            handing: SecondaryMap::new(),
            shared: Vec::new(),
            all_sizes: None,
        };
        arena.pin(ctx, body);
        arena.pin_states(ctx, body)?;
        Ok(arena)
    }

    fn finish(&mut self, ctx: &Context, body: &Body) -> Result<(), Vec<Diagnostic>> {
        self.add_classes(body)?;
        self.add_scratch(ctx, body);
        self.add_overlaps(ctx, body);
        Ok(())
    }

    /// The steps of the function.
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Whether a value's bytes are not placed in the arena: they belong to an input, an output, a state or
    /// another pool.
    pub fn is_outside(&self, value: Value) -> bool {
        !matches!(self.homes[self.classes.class(value)], None | Some(Storage::Buffer(_)))
    }

    /// Whether each of these values is in the arena at a step of the peak.
    pub(crate) fn are_at_peak(&self, values: &[Value]) -> Vec<bool> {
        if values.is_empty() {
            return Vec::new();
        }
        let live_range = |buffer: &Buffer| buffer.first.index()..=buffer.last.index();
        // First, the difference of each step's bytes from those of the step before.
        let mut loads = vec![0i128; self.steps.end().index() + 2];
        for buffer in self.problem.buffers.values() {
            loads[*live_range(buffer).start()] += i128::from(buffer.size_bytes);
            loads[*live_range(buffer).end() + 1] -= i128::from(buffer.size_bytes);
        }
        for step in 1..loads.len() {
            loads[step] += loads[step - 1];
        }
        let most = loads.iter().max().copied().unwrap_or(0);
        let is_at_peak = |value: &Value| match self.homes[self.classes.class(*value)] {
            Some(Storage::Buffer(id)) => loads[live_range(&self.problem.buffers[id])].contains(&most),
            _ => false,
        };
        values.iter().map(is_at_peak).collect()
    }

    /// Allows results to share bytes with the operands that they are written over (`mem.overlap`).
    fn add_overlaps(&mut self, ctx: &Context, body: &Body) {
        let bandings = self.steps.iter().filter_map(|(_, op)| Some((op, Banding::of(body.at(ctx, op))?)));
        let overlaps = bandings.filter_map(|(op, banding)| self.overlap(ctx, body, op, banding));
        self.problem.overlaps = overlaps.collect();
    }

    /// The overlap of a result and an operand.
    pub(crate) fn overlap(&self, ctx: &Context, body: &Body, op: Op, banding: Banding) -> Option<Overlap> {
        let Banding { operand, rows, order } = banding;
        let (read, written) = self.pair(body, op, operand)?;
        let min_distance_bytes = OperandRows::of(ctx, body, op, operand)?.distance(rows, order);
        let (input, output) = if order == RowOrder::Down { (read, written) } else { (written, read) };
        Some(Overlap { input, output, min_distance_bytes })
    }

    /// The buffers of an operand and of result 0 of a step, if the operand's value is alone in its buffer,
    /// has no other reader and dies here, and the result begins here and is alone in its buffer or has a
    /// piece of each row of it.
    pub(crate) fn pair(&self, body: &Body, op: Op, operand: usize) -> Option<(BufferId, BufferId)> {
        let read = (operand < body.operand_count(op)).then(|| body.operand(op, operand))?;
        let result = body.results(op).next()?;
        let (input, output) = (self.whole(read)?, self.whole(result).or_else(|| self.in_rows(result))?);
        let buffers = &self.problem.buffers;
        let class = self.classes.class(read);
        let readers = body.operands(op).filter(|value| self.classes.class(*value) == class).count();
        let is_passed_on = buffers[input].last == buffers[output].first;
        (is_passed_on && readers == 1 && input != output).then_some((input, output))
    }

    /// The buffer in the arena that holds a value and nothing else.
    pub(crate) fn whole(&self, value: Value) -> Option<BufferId> {
        let class = self.classes.class(value);
        let Some(Storage::Buffer(id)) = self.homes[class] else { return None };
        let whole = ByteWindow::dense(0, self.problem.buffers[id].size_bytes);
        let is_all = self.aliases.window(value)? == whole && self.aliases.is_in_order(value);
        is_all.then_some(id)
    }

    /// The buffer in the arena of which a value has a piece of each row.
    pub(crate) fn in_rows(&self, value: Value) -> Option<BufferId> {
        let class = self.classes.class(value);
        let Some(Storage::Buffer(id)) = self.homes[class] else { return None };
        let ByteWindow { first, rows, row, pitch } = self.aliases.window(value)?;
        (first + row <= pitch && rows * pitch == self.problem.buffers[id].size_bytes).then_some(id)
    }

    /// Assigns inputs and outputs to the caller's buffers.
    fn pin(&mut self, ctx: &Context, body: &Body) {
        for (index, arg) in entry_args(body).iter().enumerate() {
            self.homes[*arg] = Some(Storage::Input(index));
        }
        for end in returns(ctx, body) {
            for (index, value) in body.operands(end).enumerate() {
                self.homes[self.aliases.root(value)] = Some(Storage::Output(index));
            }
        }
    }

    /// Joins block arguments with the values passed to them, where their live ranges allow it.
    fn join_handed(&mut self, ctx: &Context, body: &Body) {
        let weights = WeightSet::of(ctx, body);
        let kept = kept_inputs(ctx, body);
        let moves: Vec<Move> = self.steps.events().flat_map(|(_, event)| event.moves(ctx, body)).collect();
        for Move { from, to } in moves {
            let root = self.aliases.root(from);
            let sizes = [from, root, to].map(|value| self.aliases.size_bytes(value));
            let is_whole = sizes[0].is_some() && sizes[0] == sizes[1] && sizes[1] == sizes[2];
            let is_whole =
                is_whole && self.aliases.is_in_order(from) && self.are_as_large(ctx, [from, root, to]);
            let pools = [from, to].map(|value| wanted(ctx, body, self.classes.class(value)));
            if is_whole && !weights.contains(from) && !kept[root] && pools[0] == pools[1] {
                self.join(from, to);
            }
        }
    }

    /// Whether values of equal sizes here are of equal sizes at all sizes of the function.
    fn are_as_large(&self, ctx: &Context, [from, root, to]: [Value; 3]) -> bool {
        self.all_sizes.is_none_or(|SizeRanges { body, ranges }| {
            are_as_large(ctx, body, from, to, ranges) && are_as_large(ctx, body, root, to, ranges)
        })
    }

    fn join(&mut self, from: Value, to: Value) {
        let (a, b) = (self.classes.class(from), self.classes.class(to));
        let homes = [self.homes[a], self.homes[b]];
        let is_pinned_twice = homes.iter().all(Option::is_some);
        let is_refused = a == b || is_pinned_twice || self.classes.conflict_in_steps(&self.steps, a, b);
        if is_refused || !self.is_free_for(homes[0].or(homes[1]), [a, b]) {
            return;
        }
        let is_first = self.classes.live_range(a).map(|live_range| live_range.first)
            <= self.classes.live_range(b).map(|live_range| live_range.first);
        let (class, other) = if is_first { (a, b) } else { (b, a) };
        self.classes.join(class, other);
        self.homes[class] = homes[0].or(homes[1]);
        self.shared.push((from, to));
    }

    fn add_classes(&mut self, body: &Body) -> Result<(), Vec<Diagnostic>> {
        let mut faults = Vec::new();
        for root in self.classes.roots().to_vec() {
            let class = self.classes.class(root);
            if self.homes[class].is_some() {
                continue;
            }
            match (self.classes.live_range(class), self.aliases.extent_bytes(class)) {
                (Some(live_range), Some(size_bytes)) => {
                    let id = self.push(live_range, size_bytes, BufferContent::Root(class));
                    self.homes[class] = Some(Storage::Buffer(id));
                }
                _ => {
                    let location =
                        body.defining_op(root).map_or(ir::Location::UNKNOWN, |op| body.location(op));
                    faults.push(Diagnostic::error(location, "the size of a result is not known"));
                }
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn add_scratch(&mut self, ctx: &Context, body: &Body) {
        let events: Vec<(Step, Event)> = self.steps.events().collect();
        for (step, event) in events {
            let bytes = match event.act {
                Act::Run => scratch_bytes(ctx, body, event.op),
                _ => Some(self.handing_bytes(ctx, body, event)).filter(|bytes| *bytes > 0),
            };
            let Some(bytes) = bytes else { continue };
            let live_range = LiveRange { first: step, last: step };
            match self.handing[event.op] {
                // Only one edge out of a block is taken at a time, so all of them share scratch.
                0 => {
                    self.push(live_range, bytes, BufferContent::Scratch(event.op));
                }
                _ => self.widen(event.op, live_range, bytes),
            }
            if event.act != Act::Run {
                self.handing[event.op] = self.handing[event.op].max(bytes);
            }
        }
    }

    fn widen(&mut self, op: Op, live_range: LiveRange, bytes: u64) {
        let (id, _) = self
            .contents
            .iter()
            .rfind(|(_, content)| **content == BufferContent::Scratch(op))
            .expect("it was pushed");
        let buffer = &mut self.problem.buffers[id];
        buffer.last = live_range.last;
        buffer.size_bytes = buffer.size_bytes.max(bytes);
    }

    /// The bytes of scratch for the parallel copy of an event.
    fn handing_bytes(&self, ctx: &Context, body: &Body, event: Event) -> u64 {
        let moves = event.moves(ctx, body);
        let bytes = |value: Value| {
            (self.classes.class(value), self.aliases.window(value).map_or(0..0, |window| window.hull()))
        };
        let places: Vec<_> = moves.iter().map(|pair| (bytes(pair.from), bytes(pair.to))).collect();
        let sizes: Vec<u64> = places.iter().map(|(_, to)| to.1.end - to.1.start).collect();
        let clobbers = |a: usize, b: usize| {
            let ((_, to), (from, _)) = (&places[a], &places[b]);
            to.0 == from.0 && to.1.start < from.1.end && from.1.start < to.1.end
        };
        transfers(&sizes, |index| places[index].0 == places[index].1, clobbers).1
    }

    fn push(&mut self, live_range: LiveRange, size_bytes: u64, content: BufferContent) -> BufferId {
        let LiveRange { first, last } = live_range;
        self.contents.push(content);
        self.problem.buffers.push(Buffer { first, last, size_bytes, align: self.pool.align, pin: None })
    }
}

/// The scratch that `select` chose for an operation, in bytes.
fn scratch_bytes(ctx: &Context, body: &Body, op: Op) -> Option<u64> {
    attrs::scratch_bytes(body.at(ctx, op)).filter(|bytes| *bytes > 0)
}

fn entry_args(body: &Body) -> &[Value] {
    entry(body).map_or(&[], |block| body.args(block))
}

/// Copies each output that has no bytes of its own or is requested in another pool, and all outputs if a
/// function has several returns. Returns the alias sets after that.
pub(crate) fn separate_outputs(ctx: &Context, body: &mut Body) -> AliasSets {
    let ends = returns(ctx, body);
    let aliases = AliasSets::of(ctx, body);
    let weights = WeightSet::of(ctx, body);
    let ranges = Ranges::of_function(ctx, body);
    // `pin_states` reports their faults.
    let states = ir::states::states(ctx, body).unwrap_or_default();
    let mut taken: SecondaryMap<Value, bool> = SecondaryMap::new();
    entry_args(body).iter().for_each(|arg| taken[*arg] = true);
    let mut copies = 0;
    for &end in &ends {
        for index in (0..body.operand_count(end)).filter(|index| !states::is_next(&states, *index)) {
            let value = body.operand(end, index);
            let root = aliases.root(value);
            let is_as_large = value == root || are_as_large(ctx, body, value, root, &ranges);
            let is_whole = is_as_large && aliases.is_in_order(value);
            let is_free = !taken[root] && !weights.contains(root) && wanted(ctx, body, root) == ARENA;
            if ends.len() == 1 && is_whole && is_free {
                taken[root] = true;
                continue;
            }
            let copy = Builder::before(ctx, body, end).value("optc.copy", &[value], &[]);
            body.set_operand(end, index, copy.expect("a copy has the type of its operand"));
            copies += 1;
        }
    }
    let aliases = if copies == 0 { aliases } else { AliasSets::of(ctx, body) };
    if states.is_empty() { aliases } else { states::separate(ctx, body, aliases, &states) }
}
