//! Where a recipe's buffers are at some sizes, without making IR.
//!
//! As [`crate::plan`] places a function whose values have no parts or views in place: the fullest steps get less scratch than their kernels
//! wish for where the goal says so, or are written over rows of their operands ([`crate::fit`]), unless whole tensors take next to no more ([`ENOUGH`]). Where a value fits into a caller's buffer
//! at these sizes, there is no answer, and the function is planned as a whole.

use cranelift_entity::{EntityRef, PrimaryMap};
use ir::sized::AtSizes;
use ir::target::Bands;
use ir::{Body, Context, Op};

use super::recipe::{Home, Recipe};
use crate::fit::{self, Candidate, Goal, Offer, Question, Running, Way};
use crate::overlap::{Banding, Order, Rows};
use crate::place::again::{ENOUGH, Effort, NEAR, PlacedAgain};
use crate::place::{BufferId, Overlap, Step};
use crate::plan::ALIGN_BYTES;

/// What a step's kernel needs at some sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepNeeds {
    /// The scratch that it wishes for, in bytes.
    pub scratch_bytes: u64,
    /// The scratch that it can do with.
    pub least_scratch_bytes: u64,
    /// How it may run in bands.
    pub bands: Option<Bands>,
}

/// A recipe placed at some sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedRecipe {
    /// Where each buffer is.
    pub placed: PlacedAgain,
    /// What steps do to save memory.
    pub savings: Vec<Saving>,
}

/// What a step does to save memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The step.
    pub step: usize,
    /// The bytes of scratch that it gets, if its kernel wishes for more.
    pub scratch_bytes: Option<u64>,
    /// The rows in bands of which it is written over an operand.
    pub banding: Option<Banding>,
}

impl Recipe {
    /// Places all buffers; `body` is the function with the sizes' types, `needs` are those of its steps. None if the function must be planned
    /// as a whole at these sizes.
    pub fn place(
        &self,
        ctx: &Context,
        body: &Body,
        at: &AtSizes,
        needs: &[StepNeeds],
    ) -> Option<PlacedRecipe> {
        let sizes = self.sizes(at, needs);
        let asked = Asked { ctx, body, recipe: self, needs, live: self.live(&sizes), sizes: &sizes };
        if asked.has_loan(self.lent.iter().map(|id| at.size(*id)).max()) {
            return None;
        }
        let way = match self.goal.band_shares().first() {
            Some(share) => fit::way(&asked, *share),
            None => None,
        };
        let Some(way) = way else {
            return Some(whole(self.again.place(&sizes, Vec::new(), 0, Effort::AsNeeded)));
        };
        let is_enough = |bytes: u64| bytes <= way.target_bytes + way.target_bytes / ENOUGH;
        let quickly = || self.again.place(&sizes, Vec::new(), 0, Effort::Little);
        // No placement of whole tensors is smaller than what is live at the fullest step.
        let quick = asked.fullest().is_none_or(|(most, _)| is_enough(most)).then(quickly);
        if let Some(quick) = quick.as_ref().filter(|quick| is_enough(quick.size_bytes)) {
            return Some(whole(quick.clone()));
        }
        let saved = asked.saved(&way, Effort::Little)?;
        if is_enough(saved.placed.size_bytes) {
            return Some(saved);
        }
        // A whole planner's walk through many buffers costs milliseconds.
        let (quick, saved) = match self.steps.len() {
            ..MANY => (
                self.again.place(&sizes, Vec::new(), 0, Effort::AsNeeded),
                asked.saved(&way, Effort::AsNeeded)?,
            ),
            _ => (quick.unwrap_or_else(quickly), saved),
        };
        Some(if saved.placed.size_bytes < quick.size_bytes { saved } else { whole(quick) })
    }

    /// Keeps the orders that are good at some sizes, with and without saving, for others.
    pub fn learn(&mut self, ctx: &Context, body: &Body, at: &AtSizes, needs: &[StepNeeds]) {
        let sizes = self.sizes(at, needs);
        let asked = Asked { ctx, body, recipe: self, needs, live: self.live(&sizes), sizes: &sizes };
        let way = self.goal.band_shares().first().and_then(|share| fit::way(&asked, *share));
        let saved = way.and_then(|way| asked.saved(&way, Effort::Full));
        let whole = self.again.place(&sizes, Vec::new(), 0, Effort::Full);
        for placed in saved.map(|saved| saved.placed).into_iter().chain([whole]) {
            self.again.learn(&sizes, &placed);
        }
    }

    fn sizes(&self, at: &AtSizes, needs: &[StepNeeds]) -> PrimaryMap<BufferId, u64> {
        let tensors = self.bytes.iter().map(|(_, id)| at.size(*id));
        tensors.chain(needs.iter().map(|needs| needs.scratch_bytes)).collect()
    }

    /// The bytes of the tensors that are live at each step, each rounded up to a whole number of places.
    fn live(&self, sizes: &PrimaryMap<BufferId, u64>) -> Vec<u64> {
        let steps = self.steps.last().map_or(0, |step| step.step.index() + 3);
        let mut changes = vec![0i64; steps];
        for (id, _) in &self.bytes {
            let (first, last) = self.life(*id);
            let bytes = sizes[*id].next_multiple_of(ALIGN_BYTES) as i64;
            changes[first.index()] += bytes;
            changes[last.index() + 1] -= bytes;
        }
        let sums = changes.iter().scan(0, |sum, change| {
            *sum += change;
            Some(*sum as u64)
        });
        sums.collect()
    }
}

/// From how many steps on what a few orders give is taken, where it is not near what may be possible.
const MANY: usize = 200;

fn whole(placed: PlacedAgain) -> PlacedRecipe {
    PlacedRecipe { placed, savings: Vec::new() }
}

/// What [`crate::fit`] asks about a recipe at some sizes.
struct Asked<'a> {
    ctx: &'a Context,
    body: &'a Body,
    recipe: &'a Recipe,
    needs: &'a [StepNeeds],
    live: Vec<u64>,
    sizes: &'a PrimaryMap<BufferId, u64>,
}

impl Asked<'_> {
    /// The step at which most bytes are live, after these.
    fn fullest(&self) -> Option<(u64, Step)> {
        let steps = self.recipe.steps.iter().zip(self.needs);
        let load = steps.map(|(step, needs)| (self.live[step.step.index()] + needs.scratch_bytes, step.step));
        load.max_by_key(|(bytes, _)| *bytes)
    }

    /// Whether what lives at the fullest step, and fits into a caller's buffer of so many bytes, is worth being there.
    fn has_loan(&self, capacity: Option<u64>) -> bool {
        let Some((capacity, (most, fullest))) = capacity.zip(self.fullest()) else { return false };
        let live = self.recipe.bytes.iter().filter(|(id, _)| {
            let (first, last) = self.recipe.life(*id);
            first <= fullest && fullest <= last
        });
        let lent: u64 = live.map(|(id, _)| self.sizes[*id]).filter(|bytes| *bytes <= capacity).sum();
        lent > most / NEAR
    }

    /// The placement in which the fullest steps save memory.
    fn saved(&self, way: &Way, effort: Effort) -> Option<PlacedRecipe> {
        let (again, mut sizes, mut overlaps) = (&self.recipe.again, self.sizes.clone(), Vec::new());
        let mut savings: Vec<Saving> = Vec::new();
        for (op, bytes) in &way.scratch {
            let step = self.recipe.number(*op)?;
            sizes[self.recipe.steps[step].scratch] = *bytes;
            savings.push(Saving { step, scratch_bytes: Some(*bytes), banding: None });
        }
        for Offer { op, operand, band_rows, rows } in &way.offers {
            let [input, output] = self.pair(*op, *operand)?;
            let [down, up] = [Order::Down, Order::Up].map(|order| rows.distance(*band_rows, order));
            overlaps.push(Overlap { input, output, min_distance_bytes: down });
            overlaps.push(Overlap { input: output, output: input, min_distance_bytes: up });
        }
        let placed = again.place(&sizes, overlaps, way.target_bytes, effort);
        for Offer { op, operand, band_rows, rows } in &way.offers {
            let pair = self.pair(*op, *operand)?;
            let places = pair.map(|id| placed.offsets[id]..placed.offsets[id] + sizes[id]);
            let Some((rows, order)) = fit::settled(*rows, *band_rows, places) else { continue };
            let (step, banding) =
                (self.recipe.number(*op)?, Some(Banding { operand: *operand, rows, order }));
            match savings.iter_mut().find(|saving| saving.step == step) {
                Some(saving) => saving.banding = banding,
                None => savings.push(Saving { step, scratch_bytes: None, banding }),
            }
        }
        Some(PlacedRecipe { placed, savings })
    }

    /// The buffers of an operand and of result 0 of a step, if the operand's is read by nothing else and ends where the result's begins.
    fn pair(&self, op: Op, operand: usize) -> Option<[BufferId; 2]> {
        let buffer = |value| match self.recipe.home(value) {
            Some(Home::Buffer(id)) => Some(id),
            _ => None,
        };
        let read = (operand < self.body.operand_count(op)).then(|| self.body.operand(op, operand))?;
        let (input, output) = (buffer(read)?, buffer(self.body.results(op).next()?)?);
        let readers = self.body.operands(op).filter(|value| buffer(*value) == Some(input)).count();
        let is_passed_on = self.recipe.life(input).1 == self.recipe.life(output).0;
        (is_passed_on && readers == 1 && input != output).then_some([input, output])
    }
}

impl Question for Asked<'_> {
    fn goal(&self) -> Goal {
        self.recipe.goal
    }

    fn steps(&self) -> Vec<Running> {
        let steps = self.recipe.steps.iter().zip(self.needs);
        let running = steps.map(|(step, needs)| Running {
            op: step.op,
            live: self.live[step.step.index()],
            wished: needs.scratch_bytes,
        });
        running.collect()
    }

    fn scratch(&self, op: Op, wished: u64) -> (u64, Option<Bands>) {
        let needs = self.recipe.number(op).map(|number| self.needs[number]);
        needs.map_or((wished, None), |needs| (needs.least_scratch_bytes, needs.bands))
    }

    fn candidate(&self, op: Op, bands: Bands, share: u64) -> Option<Candidate> {
        let (pair, rows) = (self.pair(op, bands.operand)?, Rows::of(self.ctx, self.body, op, bands.operand)?);
        Candidate::new(self.recipe.goal, rows, pair.map(|id| self.sizes[id]), bands, share)
    }
}
