//! Where each value lives: one arena for everything between inputs and outputs.
//!
//! ```text
//! %2 = nn.relu %1   =>   %2 = nn.relu %1 {mem.place = [["arena", 4096, 1024]]}
//! ```
//!
//! Every step gets `mem.place`: pool, offset and bytes of each result, and of its scratch behind them. An alias root that is
//! returned lives in the caller's buffer (`["out", index, bytes]`) for all its life; an output that has no bytes of its own
//! (an input, a weight, a part of something, a value returned twice) is copied first. The rest is one placement
//! problem for [`crate::place`], and every plan is judged by [`crate::check`]. The size of the arena is `optc.arena` on the function.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use ir::alias::AliasSets;
use ir::weights::WeightSet;
use ir::{Attr, Block, Body, Builder, Context, Diagnostic, Op, Traits, Value};

use crate::check::check;
use crate::edit::entry;
use crate::liveness::{Life, Liveness, Steps};
use crate::place::{self, Buffer, BufferId, Options, Placement, Problem};

/// Offsets of values are multiples of this many bytes.
pub const ALIGN_BYTES: u64 = 64;

/// Places the values of a function; `planner` names a row of [`place::PLANNERS`].
///
/// # Errors
/// If there is no such planner, a size is not known, or the checker refuses the plan.
pub fn plan(ctx: &Context, body: &mut Body, planner: &str) -> Result<(), Vec<Diagnostic>> {
    let Some(block) = entry(body) else { return Ok(()) };
    let planner = place::planner(planner).ok_or_else(|| vec![unknown_planner(planner)])?;
    separate_outputs(ctx, body, block);
    let arena = Arena::of(ctx, body)?;
    let placement = (planner.run)(&arena.problem, &Options::default(), &|| false);
    let places = arena.places(ctx, body, &placement);
    for (op, place) in places {
        body.set_attr(ctx, op, "mem.place", place);
    }
    body.set_own_attr(ctx, "optc.arena", ctx.int_attr(placement.size_bytes as i64));
    let faults = check(ctx, body);
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn unknown_planner(name: &str) -> Diagnostic {
    let known = place::PLANNERS.iter().map(|planner| planner.name);
    let help = ir::diag::did_you_mean(name, known);
    Diagnostic { help, ..Diagnostic::error(ir::Location::UNKNOWN, format!("there is no planner `{name}`")) }
}

/// What a buffer of the placement problem holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An alias root, with everything that shares its bytes.
    Root(Value),
    /// The scratch of a step.
    Scratch(Op),
}

/// The placement problem of a function's arena.
pub struct Arena {
    /// Lives and sizes.
    pub problem: Problem,
    /// What each buffer of the problem holds.
    pub contents: PrimaryMap<BufferId, Content>,
    steps: Steps,
    aliases: AliasSets,
    buffer_of: SecondaryMap<Value, Option<BufferId>>,
    input_of: SecondaryMap<Value, Option<usize>>,
    output_of: SecondaryMap<Value, Option<usize>>,
}

impl Arena {
    /// The problem of a function whose outputs are separated and whose ties are chosen.
    ///
    /// # Errors
    /// If a size is not known.
    pub fn of(ctx: &Context, body: &Body) -> Result<Arena, Vec<Diagnostic>> {
        let block = entry(body).expect("a declaration has no arena");
        let weights = WeightSet::of(ctx, body);
        let steps = Steps::of(ctx, body, block, &weights);
        let aliases = AliasSets::of(ctx, body);
        let mut arena = Arena {
            problem: Problem::default(),
            contents: PrimaryMap::new(),
            steps,
            aliases,
            buffer_of: SecondaryMap::new(),
            input_of: SecondaryMap::new(),
            output_of: SecondaryMap::new(),
        };
        arena.find_outputs(ctx, body, block);
        arena.add_roots(ctx, body, block)?;
        arena.add_scratch(ctx, body);
        Ok(arena)
    }

    fn find_outputs(&mut self, ctx: &Context, body: &Body, block: Block) {
        let Some(end) = body.last_op(block).filter(|op| body.at(ctx, *op).has(Traits::RETURN)) else {
            return;
        };
        for (index, value) in body.operands(end).enumerate() {
            self.output_of[self.aliases.root(value)] = Some(index);
        }
    }

    fn add_roots(&mut self, ctx: &Context, body: &Body, block: Block) -> Result<(), Vec<Diagnostic>> {
        let liveness = Liveness::of(ctx, body, block, &self.steps, &self.aliases);
        let lives: Vec<(Value, Option<Life>)> =
            liveness.roots().iter().map(|root| (*root, liveness.life(*root))).collect();
        for (index, arg) in body.args(block).iter().enumerate() {
            self.input_of[*arg] = Some(index);
        }
        let mut faults = Vec::new();
        for (root, life) in lives {
            if self.input_of[root].is_some() || self.output_of[root].is_some() {
                continue;
            }
            match (life, self.aliases.size_bytes(root)) {
                (Some(life), Some(size_bytes)) => {
                    let id = self.push(life, size_bytes, Content::Root(root));
                    self.buffer_of[root] = Some(id);
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
        let steps: Vec<_> = self.steps.iter().collect();
        for (step, op) in steps {
            if let Some(bytes) = scratch_bytes(ctx, body, op) {
                self.push(Life { first: step, last: step }, bytes, Content::Scratch(op));
            }
        }
    }

    fn push(&mut self, life: Life, size_bytes: u64, content: Content) -> BufferId {
        let Life { first, last } = life;
        self.contents.push(content);
        self.problem.buffers.push(Buffer { first, last, size_bytes, align: ALIGN_BYTES, pin: None })
    }

    /// `mem.place` of every step.
    fn places(&self, ctx: &Context, body: &Body, placement: &Placement) -> Vec<(Op, Attr)> {
        let mut scratch: SecondaryMap<Op, u64> = SecondaryMap::new();
        for (id, content) in self.contents.iter() {
            if let Content::Scratch(op) = content {
                scratch[*op] = placement.offsets[id];
            }
        }
        let steps = self.steps.iter();
        steps
            .map(|(_, op)| {
                let mut entries: Vec<Attr> =
                    body.results(op).map(|result| self.place(ctx, result, placement)).collect();
                if let Some(bytes) = scratch_bytes(ctx, body, op) {
                    entries.push(place_attr(ctx, "arena", scratch[op], bytes));
                }
                (op, ctx.array_attr(&entries))
            })
            .collect()
    }

    fn place(&self, ctx: &Context, value: Value, placement: &Placement) -> Attr {
        let root = self.aliases.root(value);
        let range = self.aliases.range(value).expect("sizes are known");
        let bytes = range.end - range.start;
        match (self.output_of[root], self.buffer_of[root]) {
            (Some(index), _) => place_attr(ctx, "out", index as u64, bytes),
            (None, Some(id)) => place_attr(ctx, "arena", placement.offsets[id] + range.start, bytes),
            (None, None) => {
                let index = self.input_of[root].expect("a root is in the arena, an input or an output");
                place_attr(ctx, "in", index as u64, bytes)
            }
        }
    }
}

fn place_attr(ctx: &Context, pool: &str, offset: u64, bytes: u64) -> Attr {
    ctx.array_attr(&[ctx.str_attr(pool), ctx.int_attr(offset as i64), ctx.int_attr(bytes as i64)])
}

/// The scratch that `select` wrote down for an operation, in bytes.
fn scratch_bytes(ctx: &Context, body: &Body, op: Op) -> Option<u64> {
    let bytes = body.at(ctx, op).int("mem.scratch")?;
    u64::try_from(bytes).ok().filter(|bytes| *bytes > 0)
}

/// Copies each output that has no bytes of its own.
fn separate_outputs(ctx: &Context, body: &mut Body, block: Block) {
    let Some(end) = body.last_op(block).filter(|op| body.at(ctx, *op).has(Traits::RETURN)) else { return };
    let aliases = AliasSets::of(ctx, body);
    let weights = WeightSet::of(ctx, body);
    let mut taken: SecondaryMap<Value, bool> = SecondaryMap::new();
    body.args(block).iter().for_each(|arg| taken[*arg] = true);
    for index in 0..body.operand_count(end) {
        let value = body.operand(end, index);
        let root = aliases.root(value);
        let is_whole = aliases.size_bytes(value) == aliases.size_bytes(root);
        if is_whole && !taken[root] && !weights.contains(root) {
            taken[root] = true;
            continue;
        }
        let copy = Builder::before(ctx, body, end).value("optc.copy", &[value], &[]);
        body.set_operand(end, index, copy.expect("a copy has the type of its operand"));
    }
}
