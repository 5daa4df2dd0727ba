//! The plan of a function with named sizes at given ones, in the IR.
//!
//! Only offsets ([`assign`](crate::memory::assign)), scratch and bands are decided anew: structure and
//! buffers are those for all sizes. The checker checks the result like every plan.

use std::ops::Range;

use cranelift_entity::PrimaryMap;
use ir::alias::AliasSets;
use ir::dims::{Bindings, SizeTable, SizeValues};
use ir::plan::attrs;
use ir::plan::storage::Storage;
use ir::ranges::without;
use ir::target::FasterMethod;
use ir::{Body, Context, Diagnostic, Ident, Op, Target};

use super::assign::{Assigner, Assignment};
use super::bound::Bound;
use super::buffers::{Buffers, fault};
use super::faster::RunningSteps;
use super::price::{StepNeeds, needs};
use super::structure::at_sizes;
use crate::check::check;
use crate::manager::Stage;
use crate::place::orders::BoundedPlacement;
use crate::place::{BufferId, Placement, Problem};
use crate::plan::{ArenaProblem, BufferContent, faster};
use crate::select::select;
use crate::tradeoff::Goal;

/// The reason why the buffers of a function can't be placed at some sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignFault {
    /// A size is below 0 or too large.
    Sizes,
    /// A pool is too small.
    Pool(String),
}

/// The buffers of a function, ready to be placed at any sizes.
pub struct Specializer {
    assigner: Assigner,
    table: SizeTable,
    symbols: Vec<Ident>,
    threads: usize,
}

impl Specializer {
    /// A specializer for these buffers; sizes are given in the order of `symbols`. Orders that are good at
    /// and near the sizes of `samples` are tried first at others.
    pub fn new(
        ctx: &Context,
        target: &dyn Target,
        buffers: Buffers,
        symbols: &[Ident],
        threads: usize,
        goal: Goal,
        samples: &[Vec<u64>],
    ) -> Specializer {
        let mut table = SizeTable::new(symbols.to_vec());
        let assigner = Assigner::new(buffers, &mut |expr| table.add(expr), goal);
        let mut specializer = Specializer { assigner, table, symbols: symbols.to_vec(), threads };
        for sizes in samples.iter().cloned().chain(about(samples)) {
            let mut values = SizeValues::default();
            if let Ok(at) = specializer.at(ctx, target, &sizes, &mut values) {
                let needs = specializer.needs(ctx, target, &at);
                let faster = specializer.faster(ctx, target, &at);
                let running = RunningSteps { needs: &needs, faster: &faster };
                specializer.assigner.learn(ctx, &at, &|id| values.get(id), running);
            }
        }
        specializer
    }

    /// The buffers.
    pub fn buffers(&self) -> &Buffers {
        &self.assigner.buffers
    }

    /// Assigns offsets at given sizes; `body` has types at these sizes, `running` describes the steps, and
    /// `values` is overwritten.
    ///
    /// # Errors
    /// If a size is below 0 or too large, or a pool holds too little.
    pub fn assign(
        &self,
        (ctx, body): (&Context, &Body),
        sizes: &[u64],
        running: RunningSteps<'_>,
        bound: Option<&Bound>,
        values: &mut SizeValues,
    ) -> Result<Assignment, AssignFault> {
        self.table.evaluate(ctx, sizes, values).ok_or(AssignFault::Sizes)?;
        let found = self.assigner.assign(ctx, body, &|id| values.get(id), running, bound);
        found.map_err(AssignFault::Pool)
    }

    /// The bytes of the arena and all pools that die with each step, with the step's number, for these
    /// offsets. For debug runs that fill dead memory with NaN.
    pub fn dead(&self, assignment: &Assignment) -> Vec<(usize, Range<u64>)> {
        let buffers = self.buffers();
        let mut dead = self.dead_in(&buffers.problem, &|id| assignment.place(id));
        for (pool, placed) in buffers.pools.iter().zip(&assignment.pools) {
            dead.extend(self.dead_in(&pool.problem, &|id| placed.place(id)));
        }
        dead
    }

    /// The same for one pool, whose buffers have these bytes.
    fn dead_in(&self, problem: &Problem, place: &dyn Fn(BufferId) -> Range<u64>) -> Vec<(usize, Range<u64>)> {
        let live_range = |id: BufferId| &problem.buffers[id];
        let mut dead = Vec::new();
        for (number, run) in self.buffers().runs.iter().enumerate() {
            let begun = problem.buffers.keys().filter(|id| live_range(*id).first <= run.step);
            let (live, ended): (Vec<BufferId>, Vec<BufferId>) =
                begun.partition(|id| live_range(*id).last > run.step);
            for id in ended.into_iter().filter(|id| live_range(*id).last == run.step) {
                let pieces = without(place(id), live.iter().map(|id| place(*id)));
                dead.extend(pieces.into_iter().map(|piece| (number, piece)));
            }
        }
        dead
    }

    /// The function at given sizes with kernels selected; evaluates the size table.
    fn at(
        &self,
        ctx: &Context,
        target: &dyn Target,
        sizes: &[u64],
        values: &mut SizeValues,
    ) -> Result<Body, Vec<Diagnostic>> {
        let bindings: Bindings = self.symbols.iter().copied().zip(sizes.iter().copied()).collect();
        let mut at = at_sizes(ctx, &self.buffers().body, &bindings)?;
        select(ctx, target, &mut at, self.threads);
        let known = self.table.evaluate(ctx, sizes, values);
        known.ok_or_else(|| fault("a size is below 0 or too large"))?;
        Ok(at)
    }

    /// The planned function at given sizes, within the bound if there is one.
    ///
    /// # Errors
    /// If it can't have these sizes; and faults that the checker finds, which mean that the plan for all
    /// sizes is wrong.
    pub fn plan(
        &self,
        ctx: &Context,
        target: &dyn Target,
        sizes: &[u64],
        bound: Option<&Bound>,
    ) -> Result<Body, Vec<Diagnostic>> {
        let mut values = SizeValues::default();
        let mut at = self.at(ctx, target, sizes, &mut values)?;
        let found = {
            let needs = self.needs(ctx, target, &at);
            let faster = self.faster(ctx, target, &at);
            let running = RunningSteps { needs: &needs, faster: &faster };
            self.assigner.assign(ctx, &at, &|id| values.get(id), running, bound)
        };
        let found = found.map_err(|message| fault(&message))?;
        self.write(ctx, target, &mut at, &found)?;
        let faults = check(ctx, &at);
        if faults.is_empty() { Ok(at) } else { Err(faults) }
    }

    fn needs(&self, ctx: &Context, target: &dyn Target, at: &Body) -> Vec<StepNeeds> {
        needs(ctx, target, self.buffers(), at, self.threads)
    }

    /// The faster algorithms of the steps of the function at these sizes.
    fn faster<'a>(
        &self,
        ctx: &'a Context,
        target: &'a dyn Target,
        at: &'a Body,
    ) -> impl Fn(usize, u64) -> Option<FasterMethod> + use<'a> {
        let ops: Vec<Op> = self.buffers().runs.iter().map(|run| run.op).collect();
        let threads = self.threads;
        move |step, room_bytes| target.faster(at.at(ctx, ops[step]), threads, room_bytes)
    }

    /// Writes an assignment into the function at its sizes.
    fn write(
        &self,
        ctx: &Context,
        target: &dyn Target,
        at: &mut Body,
        found: &Assignment,
    ) -> Result<(), Vec<Diagnostic>> {
        let buffers = self.buffers();
        for choice in &found.choices {
            let op = buffers.runs[choice.step].op;
            if let Some((method, bytes)) = choice.method.zip(choice.scratch_bytes) {
                faster::set(ctx, target, at, op, Some((method, bytes)));
            } else if let Some(bytes) = choice.scratch_bytes {
                at.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(bytes as i64));
            }
            choice.banding.iter().for_each(|banding| banding.write(ctx, at, op));
        }
        let aliases = AliasSets::of(ctx, at);
        let arena = ArenaProblem::sharing(ctx, at, &aliases, &buffers.shared)?;
        let number = |content: &BufferContent| match *content {
            BufferContent::Root(value) => match buffers.storage(value) {
                Some(Storage::Buffer(id)) => Some(id),
                _ => None,
            },
            BufferContent::Scratch(op) => {
                buffers.number(op).map(|run| buffers.runs[run].scratch).or_else(|| buffers.moves(op))
            }
        };
        let mut placements = vec![placement(&found.placed, arena.contents.values().map(number))];
        for (index, (pool, found)) in arena.pools.iter().zip(&found.pools).enumerate() {
            let number = |content: &BufferContent| match *content {
                BufferContent::Root(value) => match buffers.storage(value) {
                    Some(Storage::Pool(pool, id)) if pool == index => Some(id),
                    _ => None,
                },
                BufferContent::Scratch(_) => None,
            };
            placements.push(placement(&found.placed, pool.contents.values().map(number)));
        }
        let placements: Option<Vec<Placement>> = placements.into_iter().collect();
        let placements =
            placements.ok_or_else(|| fault("a value is stored that is stored at no other size"))?;
        arena.write_placements(ctx, at, placements)?;
        Stage::Plan.mark(ctx, at);
        Ok(())
    }
}

/// The placement of the buffers of these indices.
fn placement(
    found: &BoundedPlacement,
    mut numbers: impl Iterator<Item = Option<BufferId>>,
) -> Option<Placement> {
    let offsets = numbers.try_fold(PrimaryMap::new(), |mut offsets, number| {
        offsets.push(found.offsets[number?]);
        Some(offsets)
    });
    Some(Placement {
        size_bytes: found.size_bytes,
        lower_bound_bytes: found.bound_bytes,
        proved_best: false,
        planner: "specialize",
        offsets: offsets?,
    })
}

/// Sizes near the first sample's, at which good orders are learned.
fn about(samples: &[Vec<u64>]) -> impl Iterator<Item = Vec<u64>> + '_ {
    let numbers = |round: usize| {
        let size = move |(index, sample): (usize, &u64)| {
            // Each symbol in turn is small, of middle size, or near the sample's.
            let shares = [[1, 128], [1, 2], [3, 4], [5, 8]];
            let [part, of] = shares[(round + index * (1 + round / 4)) % shares.len()];
            (sample * part / of).max(1)
        };
        samples.first().map(|sample| sample.iter().enumerate().map(size).collect())
    };
    (0..12).filter_map(numbers)
}
