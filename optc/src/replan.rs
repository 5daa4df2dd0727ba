//! How a program is specialized to sizes that come up, without making IR and without growing anything.
//!
//! ```text
//! sizes -> numbers and types -> kernels, each class of steps once -> scratch -> offsets, checked -> frame
//! ```
//! Everything else was decided at compile time: [`passes::memory`] has the buffers and their live ranges, and
//! [`codegen::Reframe`] the steps that become the same calls. Intermediate results belong to a `Workspace`,
//! which is used again; its context forgets the types of the sizes before.
//!
//! Functions with branches, loops, pools, states or weights that depend on sizes take the same plan by way of
//! the IR, and so do runs with poisoned memory.

use ir::plan::attrs;
use std::sync::{Arc, Mutex, PoisonError};

use codegen::{FramedCode, Reframe, Reframing, Slot, StepSlots};
use ir::dims::SizeValues;
use ir::sized::{SizedBody, SizedTypes};
use ir::weights::WeightSet;
use ir::{Body, Context, Ident, Value};
use passes::memory::assign::{Saving, StepNeeds};
use passes::memory::bound::Bound;
use passes::memory::buffers::Buffers;
use passes::memory::specialize::Specializer;
use passes::place::BufferId;
use passes::plan::Storage;
use passes::symbolic::has_sized_weights;
use runtime::Specialization;

/// A function that is decided but for its sizes.
pub struct Decided<'a> {
    /// The context of the function.
    pub ctx: &'a Arc<Context>,
    /// The names of the sizes, in the order of their numbers.
    pub symbols: &'a [Ident],
    /// Its plans.
    pub plans: &'a Arc<Specializer>,
    /// The bytes of arena that are enough at all sizes, where that is known.
    pub bound: Option<&'a Bound>,
}

/// What all sizes of a function have in common.
pub(crate) struct Replan {
    ctx: Arc<Context>,
    types: SizedTypes,
    plans: Arc<Specializer>,
    reframe: Reframe,
    bound: Option<Bound>,
    /// Whether dead memory is filled with NaN.
    is_poisoned: bool,
    spare: Mutex<Vec<Workspace>>,
}

/// What one thread needs to make an instance.
pub(crate) struct Workspace {
    body: SizedBody,
    made: Reframing,
    needs: Vec<StepNeeds>,
    values: SizeValues,
}

impl Workspace {
    fn of(body: SizedBody) -> Workspace {
        Workspace { body, made: Reframing::default(), needs: Vec::new(), values: SizeValues::default() }
    }
}

impl Replan {
    /// What the sizes of a function have in common whose code this is, if it has a recipe; `samples` are
    /// sizes that it can have.
    pub(crate) fn of(decided: &Decided<'_>, code: &FramedCode, samples: &[Vec<u64>]) -> Option<Replan> {
        let Decided { ctx, symbols, plans, bound } = *decided;
        let buffers = plans.buffers();
        let body = &buffers.body;
        let types = SizedTypes::of(ctx, body, symbols)?;
        if buffers.has_pools || has_sized_weights(ctx, body, &WeightSet::of(ctx, body)) {
            return None;
        }
        let slots = buffers.runs.iter().map(|run| {
            let of_values =
                |values: &mut dyn Iterator<Item = Value>| values.map(|value| slot(buffers, value)).collect();
            StepSlots {
                op: run.op,
                operands: of_values(&mut body.operands(run.op)),
                results: of_values(&mut body.results(run.op)),
                scratch: number(run.scratch),
                asked_tie: run.asked_tie,
            }
        });
        let mut reframe = Reframe::of(code, ctx, body, slots.collect())?;
        let mut work = Workspace::of(SizedBody::new(ctx, &types, body));
        let mut tried = 0;
        for sizes in samples {
            let is_made = work.body.set(&types, sizes).and_then(|()| {
                reframe.split(&work.body)?;
                reframe.lower(code, &work.body, &mut work.made)
            });
            if is_made.is_none() {
                continue;
            }
            tried += 1;
        }
        if tried == 0 {
            return None;
        }
        Some(Replan {
            ctx: ctx.clone(),
            types,
            plans: Arc::clone(plans),
            reframe,
            bound: bound.cloned(),
            is_poisoned: code.is_poisoned(),
            spare: Mutex::new(vec![work]),
        })
    }

    /// The instance at some sizes; none if the function must be planned as a whole there.
    pub(crate) fn instance(&self, code: &FramedCode, sizes: &[u64]) -> Option<Specialization> {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = spare().pop();
        let mut work = taken.unwrap_or_else(|| {
            Workspace::of(SizedBody::new(&self.ctx, &self.types, &self.plans.buffers().body))
        });
        let instance = self.instance_in(code, sizes, &mut work);
        spare().push(work);
        instance
    }

    fn instance_in(&self, code: &FramedCode, sizes: &[u64], work: &mut Workspace) -> Option<Specialization> {
        let Workspace { body, made, needs: found, values } = work;
        body.set(&self.types, sizes)?;
        self.reframe.lower(code, body, made)?;
        found.clear();
        found.extend(needs(&self.reframe, made));
        let at = (body.ctx(), body.body());
        let plan = self.plans.assign(at, sizes, found, self.bound.as_ref(), values)?;
        for Saving { step, scratch_bytes, banding } in &plan.savings {
            let op = self.plans.buffers().runs[*step].op;
            let limit = scratch_bytes.unwrap_or(found[*step].scratch_bytes);
            let set = |ctx: &Context, body: &mut Body| {
                if limit > 0 {
                    body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(limit as i64));
                }
                banding.iter().for_each(|banding| banding.write(ctx, body, op));
            };
            self.reframe.lower_own(*step, limit, set, body, made)?;
        }
        let offsets = |buffer: usize| plan.placed.offsets[BufferId::from_u32(buffer as u32)];
        let arena_bytes = usize::try_from(plan.placed.size_bytes).ok()?;
        let dead = if self.is_poisoned { self.plans.dead(&plan, found, values) } else { Vec::new() };
        self.reframe.instance(code, body, made, &offsets, arena_bytes, &dead).ok().flatten()
    }
}

fn needs<'a>(reframe: &'a Reframe, made: &'a Reframing) -> impl Iterator<Item = StepNeeds> + 'a {
    reframe.needs(made).map(|needs| StepNeeds {
        scratch_bytes: needs.scratch_bytes,
        least_scratch_bytes: needs.least_scratch_bytes,
        bands: needs.bands,
    })
}

fn slot(buffers: &Buffers, value: Value) -> Slot {
    match buffers.storage(value) {
        Some(Storage::Input(index)) => Slot::Input(index),
        Some(Storage::Output(index)) => Slot::Output(index),
        Some(Storage::Buffer(id) | Storage::Pool(_, id)) => Slot::Buffer(number(id)),
        None => Slot::Weight(value),
    }
}

fn number(id: BufferId) -> usize {
    id.as_u32() as usize
}

#[cfg(test)]
#[path = "replan_tests.rs"]
mod tests;
