//! How an instance is made for sizes that come up, where a function has a recipe: without making IR, and without growing anything.
//!
//! ```text
//! sizes -> numbers and types -> kernels, each class of steps once -> scratch -> offsets, judged -> frame
//! ```
//! All else was decided when the program was compiled: [`passes::symbolic::recipe`] says whose bytes each value has and how long they are kept,
//! [`codegen::Reframe`] which steps become the same calls. What is made on the way belongs to a `Workspace`, which is used again; its context
//! forgets the types of the sizes before.
//!
//! Where the function has no recipe, or more must be decided at some sizes (they are refused, values can lie in the caller's buffers, the
//! arena for all sizes is too small), there is no answer, and the function is planned as a whole.

use ir::plan::attrs;
use std::sync::{Arc, Mutex, PoisonError};

use codegen::{FramedCode, Reframe, Reframing, Slot, StepSlots};
use ir::sized::{SizedBody, SizedTypes};
use ir::{Body, Context, Ident, Value};
use passes::fit::Goal;
use passes::place::BufferId;
use passes::symbolic::again::{Saving, StepNeeds};
use passes::symbolic::recipe::{Home, Recipe};
use runtime::Instance;

/// A function that is decided but for its sizes.
pub struct Decided<'a> {
    /// The context of the function.
    pub ctx: &'a Arc<Context>,
    /// The function, with its ties.
    pub body: &'a Body,
    /// The names of the sizes, in the order of their numbers.
    pub symbols: &'a [Ident],
    /// What its plan is to be best at.
    pub goal: Goal,
    /// The most bytes of arena that a plan may take.
    pub most_bytes: u64,
}

/// What all sizes of a function have in common.
pub(crate) struct Replan {
    ctx: Arc<Context>,
    types: SizedTypes,
    recipe: Recipe,
    reframe: Reframe,
    most_bytes: u64,
    spare: Mutex<Vec<Workspace>>,
}

/// What one thread needs to make an instance.
pub(crate) struct Workspace {
    body: SizedBody,
    made: Reframing,
    needs: Vec<StepNeeds>,
}

impl Workspace {
    fn of(body: SizedBody) -> Workspace {
        Workspace { body, made: Reframing::default(), needs: Vec::new() }
    }
}

impl Replan {
    /// What the sizes of a function have in common whose code this is, if it has a recipe; `samples` are sizes that it can have.
    pub(crate) fn of(decided: &Decided<'_>, code: &FramedCode, samples: &[Vec<u64>]) -> Option<Replan> {
        let Decided { ctx, body, symbols, goal, most_bytes } = *decided;
        let mut types = SizedTypes::of(ctx, body, symbols)?;
        let mut recipe = Recipe::of(ctx, body, &mut types, goal)?;
        let slots = recipe.steps.iter().map(|step| {
            let of_values =
                |values: &mut dyn Iterator<Item = Value>| values.map(|value| slot(&recipe, value)).collect();
            StepSlots {
                op: step.op,
                operands: of_values(&mut recipe.body.operands(step.op)),
                results: of_values(&mut recipe.body.results(step.op)),
                scratch: number(step.scratch),
                asked_tie: step.asked_tie,
            }
        });
        let mut reframe = Reframe::of(code, ctx, &recipe.body, slots.collect())?;
        let mut work = Workspace::of(SizedBody::new(ctx, &types, &recipe.body));
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
            work.needs.clear();
            work.needs.extend(needs(&reframe, &work.made));
            recipe.learn(work.body.ctx(), work.body.body(), work.body.at(), &work.needs);
        }
        if tried == 0 {
            return None;
        }
        for sizes in drawn(samples) {
            let lowered =
                work.body.set(&types, &sizes).and_then(|()| reframe.lower(code, &work.body, &mut work.made));
            if lowered.is_some() {
                work.needs.clear();
                work.needs.extend(needs(&reframe, &work.made));
                recipe.learn(work.body.ctx(), work.body.body(), work.body.at(), &work.needs);
            }
        }
        Some(Replan { ctx: ctx.clone(), types, recipe, reframe, most_bytes, spare: Mutex::new(vec![work]) })
    }

    /// The instance at some sizes; none if the function must be planned as a whole there.
    pub(crate) fn instance(&self, code: &FramedCode, sizes: &[u64]) -> Option<Instance> {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = spare().pop();
        let mut work =
            taken.unwrap_or_else(|| Workspace::of(SizedBody::new(&self.ctx, &self.types, &self.recipe.body)));
        let instance = self.instance_in(code, sizes, &mut work);
        spare().push(work);
        instance
    }

    fn instance_in(&self, code: &FramedCode, sizes: &[u64], work: &mut Workspace) -> Option<Instance> {
        let Workspace { body, made, needs: found } = work;
        body.set(&self.types, sizes)?;
        self.reframe.lower(code, body, made)?;
        found.clear();
        found.extend(needs(&self.reframe, made));
        let plan = self.recipe.place(body.ctx(), body.body(), body.at(), found)?;
        if plan.placed.size_bytes > self.most_bytes {
            return None;
        }
        for Saving { step, scratch_bytes, banding } in &plan.savings {
            let op = self.recipe.steps[*step].op;
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
        self.reframe.instance(code, body, made, &offsets, arena_bytes).ok().flatten()
    }
}

/// Sizes about the first sample's, for which good orders of placing are looked for.
fn drawn(samples: &[Vec<u64>]) -> impl Iterator<Item = Vec<u64>> + '_ {
    let numbers = |round: usize| {
        let size = move |(index, sample): (usize, &u64)| {
            // Each symbol in turn is small, of middle size, or as the sample's.
            let shares = [[1, 128], [1, 2], [3, 4], [5, 8]];
            let [part, of] = shares[(round + index * (1 + round / 4)) % shares.len()];
            (sample * part / of).max(1)
        };
        samples.first().map(|sample| sample.iter().enumerate().map(size).collect())
    };
    (0..12).filter_map(numbers)
}

fn needs<'a>(reframe: &'a Reframe, made: &'a Reframing) -> impl Iterator<Item = StepNeeds> + 'a {
    reframe.needs(made).map(|needs| StepNeeds {
        scratch_bytes: needs.scratch_bytes,
        least_scratch_bytes: needs.least_scratch_bytes,
        bands: needs.bands,
    })
}

fn slot(recipe: &Recipe, value: Value) -> Slot {
    match recipe.home(value) {
        Some(Home::Input(index)) => Slot::Input(index),
        Some(Home::Output(index)) => Slot::Output(index),
        Some(Home::Buffer(id)) => Slot::Buffer(number(id)),
        None => Slot::Weight(value),
    }
}

fn number(id: BufferId) -> usize {
    id.as_u32() as usize
}

#[cfg(test)]
#[path = "replan_tests.rs"]
mod tests;
