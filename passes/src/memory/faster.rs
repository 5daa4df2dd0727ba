//! Faster algorithms at given sizes, chosen by the rule of `plan::faster`.

use ir::target::{Bands, FasterMethod};

use super::buffers::Buffers;
use super::price::{StepChoice, StepNeeds, TradeOffQuery};
use super::shared_rows::SharedRows;
use crate::place::BufferId;
use crate::plan::faster::Room;
use crate::tradeoff::{Goal, Question, RunningStep};

/// The faster algorithm of a step, if any, from the step's number and the bytes of room for scratch.
pub type FasterOf<'a> = dyn Fn(usize, u64) -> Option<FasterMethod> + 'a;

/// The steps of a function at given sizes.
#[derive(Clone, Copy)]
pub struct RunningSteps<'a> {
    /// The needs of each step's usual kernel.
    pub needs: &'a [StepNeeds],
    /// The steps' faster algorithms.
    pub faster: &'a FasterOf<'a>,
}

/// The steps that are computed faster.
#[derive(Clone, Debug, Default)]
pub(super) struct FasterSteps {
    steps: Vec<FasterChoice>,
}

#[derive(Clone, Copy, Debug)]
struct FasterChoice {
    number: usize,
    /// Its algorithm.
    name: &'static str,
    scratch_bytes: u64,
    /// The least scratch that it can run with.
    least_scratch_bytes: u64,
    bands: Option<Bands>,
}

impl FasterSteps {
    /// Those of a function in a plan of a goal; `asked` says what is live, and what the smallest arena would
    /// have.
    pub(super) fn of(asked: &TradeOffQuery<'_>, goal: Goal, faster: &FasterOf<'_>) -> FasterSteps {
        let Some(room) = Room::of(goal, asked) else { return FasterSteps::default() };
        let of = |(number, step): (usize, RunningStep)| {
            let found = room.method(asked, &step, &|bytes| faster(number, bytes))?;
            let FasterMethod { name, least_scratch_bytes, bands, .. } = found.method;
            let scratch_bytes = found.scratch.ok()?;
            Some(FasterChoice { number, name, scratch_bytes, least_scratch_bytes, bands })
        };
        FasterSteps { steps: asked.steps().into_iter().enumerate().filter_map(of).collect() }
    }

    /// Whether there may be some in a plan of a goal, of that many steps.
    pub(super) fn may_be(goal: Goal, steps: usize, faster: &FasterOf<'_>) -> bool {
        goal != Goal::Memory && (0..steps).any(|step| faster(step, u64::MAX).is_some())
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The needs of all steps, if these are computed faster.
    pub(super) fn needs(&self, usual: &[StepNeeds]) -> Vec<StepNeeds> {
        let mut needs = usual.to_vec();
        for &FasterChoice { number, scratch_bytes, least_scratch_bytes, bands, .. } in &self.steps {
            needs[number] = StepNeeds { scratch_bytes, least_scratch_bytes, bands };
        }
        needs
    }

    /// Adds the algorithms of the steps to what was chosen to save memory: bands, and less scratch.
    pub(super) fn write(&self, choices: &mut Vec<StepChoice>) {
        for &FasterChoice { number, name, scratch_bytes, .. } in &self.steps {
            let saving = choices.iter().position(|choice| choice.step == number);
            let saving = saving.map(|index| choices.remove(index));
            let scratch_bytes = saving.and_then(|saving| saving.scratch_bytes).unwrap_or(scratch_bytes);
            choices.push(StepChoice {
                step: number,
                scratch_bytes: Some(scratch_bytes),
                banding: saving.and_then(|saving| saving.banding),
                method: Some(name),
            });
        }
    }

    /// The buffers of their scratch, with the bytes that these have.
    pub(super) fn scratch<'a>(&'a self, buffers: &'a Buffers) -> impl Iterator<Item = (BufferId, u64)> + 'a {
        self.steps.iter().map(|step| (buffers.runs[step.number].scratch, step.scratch_bytes))
    }

    /// Whether the algorithm of a step, if it has one, can write its result over these rows.
    pub(super) fn can_share(&self, step: usize, rows: &SharedRows) -> bool {
        let of_step = self.steps.iter().filter(|faster| faster.number == step);
        of_step.map(|faster| faster.bands).all(|bands| bands.is_some_and(|bands| rows.is_of(bands)))
    }
}
