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

/// The steps that use faster algorithms.
#[derive(Clone, Debug, Default)]
pub(super) struct FasterSteps {
    steps: Vec<FasterChoice>,
}

#[derive(Clone, Copy, Debug)]
struct FasterChoice {
    number: usize,
    /// The algorithm's name.
    name: &'static str,
    scratch_bytes: u64,
    /// The least scratch that it can run with.
    least_scratch_bytes: u64,
    bands: Option<Bands>,
}

impl FasterSteps {
    /// The faster steps of a function for a goal; `asked` has the goal of the smallest arena.
    pub(super) fn of(asked: &TradeOffQuery<'_>, goal: Goal, faster: &FasterOf<'_>) -> FasterSteps {
        let room = Room::of(goal, asked);
        let of = |(number, step): (usize, RunningStep)| {
            let found = room.method(asked, &step, &|bytes| faster(number, bytes))?;
            let FasterMethod { name, bands, .. } = found.method;
            let least_scratch_bytes = found.least_scratch_bytes;
            let scratch_bytes = found.scratch.ok()?;
            Some(FasterChoice { number, name, scratch_bytes, least_scratch_bytes, bands })
        };
        FasterSteps { steps: asked.steps().into_iter().enumerate().filter_map(of).collect() }
    }

    /// Whether any of the steps may be faster.
    pub(super) fn may_be(steps: usize, faster: &FasterOf<'_>) -> bool {
        (0..steps).any(|step| faster(step, u64::MAX).is_some())
    }

    /// Whether no step is faster.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The number of faster steps.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The needs of all steps, with those of the faster algorithms.
    pub(super) fn needs(&self, usual: &[StepNeeds]) -> Vec<StepNeeds> {
        let mut needs = usual.to_vec();
        for &FasterChoice { number, scratch_bytes, least_scratch_bytes, bands, .. } in &self.steps {
            needs[number] = StepNeeds { scratch_bytes, least_scratch_bytes, bands };
        }
        needs
    }

    /// Adds the algorithms to the choices that save memory (bands and less scratch).
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

    /// The scratch buffers of the faster steps, with their bytes.
    pub(super) fn scratch<'a>(&'a self, buffers: &'a Buffers) -> impl Iterator<Item = (BufferId, u64)> + 'a {
        self.steps.iter().map(|step| (buffers.runs[step.number].scratch, step.scratch_bytes))
    }

    /// The scratch buffers of the faster steps, with the least bytes that their algorithms can run with.
    pub(super) fn least_scratch<'a>(
        &'a self,
        buffers: &'a Buffers,
    ) -> impl Iterator<Item = (BufferId, u64)> + 'a {
        self.steps.iter().map(|step| (buffers.runs[step.number].scratch, step.least_scratch_bytes))
    }

    /// Whether the algorithm of a step, if it has one, can write its result over these rows.
    pub(super) fn can_share(&self, step: usize, rows: &SharedRows) -> bool {
        let of_step = self.steps.iter().filter(|faster| faster.number == step);
        of_step.map(|faster| faster.bands).all(|bands| bands.is_some_and(|bands| rows.is_of(bands)))
    }
}

#[cfg(test)]
mod tests {
    use ir::Context;

    use super::*;
    use crate::overlap::{Banding, RowOrder};

    /// Step 1 has an algorithm that prefers 800 bytes of scratch, and runs in bands of operand 0.
    fn of_one_step() -> FasterSteps {
        let bands = Some(Bands { operand: 0, free_rows: 8, multiple: 4 });
        let (scratch_bytes, least_scratch_bytes) = (800, 200);
        let step = FasterChoice { number: 1, name: "fast", scratch_bytes, least_scratch_bytes, bands };
        FasterSteps { steps: vec![step] }
    }

    #[test]
    fn an_algorithm_may_get_as_little_scratch_as_it_can_run_with() {
        let usual = StepNeeds { scratch_bytes: 64, least_scratch_bytes: 64, bands: None };
        let [first, second] = of_one_step().needs(&[usual; 2])[..] else { panic!("two steps") };
        assert_eq!(first, usual);
        assert_eq!((second.scratch_bytes, second.least_scratch_bytes), (800, 200));
        assert_eq!(second.bands.map(|bands| bands.multiple), Some(4));
    }

    #[test]
    fn what_was_saved_at_a_step_stays_when_its_algorithm_is_added() {
        let banding = Some(Banding { operand: 0, rows: 8, order: RowOrder::Up });
        let saved = |step| StepChoice { step, scratch_bytes: Some(300), banding, method: None };
        let mut choices = vec![saved(1), saved(2)];
        of_one_step().write(&mut choices);
        assert_eq!(choices, [saved(2), StepChoice { method: Some("fast"), ..saved(1) }]);
        let mut choices = Vec::new();
        of_one_step().write(&mut choices);
        let whole = StepChoice { scratch_bytes: Some(800), banding: None, ..saved(1) };
        assert_eq!(choices, [StepChoice { method: Some("fast"), ..whole }]);
    }

    #[test]
    fn an_algorithm_shares_rows_in_its_own_bands_only() {
        let ctx = Context::new();
        let can_share = |step, operand, band_rows| {
            of_one_step().can_share(step, &SharedRows::of_bands(&ctx, operand, band_rows))
        };
        assert!(can_share(1, 0, 4) && can_share(1, 0, 12));
        assert!(!can_share(1, 0, 6), "no multiple of 4");
        assert!(!can_share(1, 1, 4), "another operand");
        assert!(can_share(0, 1, 6), "a step with its usual algorithm");
    }
}
