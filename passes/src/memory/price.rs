//! The needs of steps at given sizes, and the cost of choices at the peak.
//!
//! It answers the questions of [`crate::tradeoff`]; `tradeoff::ArenaQuery` does so for known sizes.

use cranelift_entity::{EntityRef, PrimaryMap};
use ir::target::Bands;
use ir::{Body, Context, Op, Target};

use super::buffers::{BufferSize, Buffers};
use crate::overlap::{Banding, OperandRows, RowOrder};
use crate::place::{Buffer, BufferId, Overlap};
use crate::plan::ALIGN_BYTES;
use crate::tradeoff::{BandCandidate, Goal, Question, RunningStep};

/// The needs of a step's kernel at given sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepNeeds {
    /// The scratch that it prefers, in bytes.
    pub scratch_bytes: u64,
    /// The least scratch that it can run with.
    pub least_scratch_bytes: u64,
    /// How it can run in bands of rows.
    pub bands: Option<Bands>,
}

/// A step's deviation from its usual kernel's preferences, to save memory or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepChoice {
    /// The step.
    pub step: usize,
    /// The bytes of scratch that it gets, if fewer than its kernel prefers.
    pub scratch_bytes: Option<u64>,
    /// The bands of rows in which it writes over an operand.
    pub banding: Option<Banding>,
    /// The faster algorithm that computes it.
    pub method: Option<&'static str>,
}

/// The overlap that a candidate allows in a placement, with the rows written in this order.
pub(super) fn overlap(buffers: &Buffers, candidate: &BandCandidate, order: RowOrder) -> Overlap {
    let [input, output] = buffers.pair(candidate.op, candidate.operand).expect("a candidate is a pair");
    let min_distance_bytes = candidate.rows.distance(candidate.band_rows, order);
    match order {
        RowOrder::Down => Overlap { input, output, min_distance_bytes },
        RowOrder::Up => Overlap { input: output, output: input, min_distance_bytes },
    }
}

/// The bytes of live tensors at each step, each rounded up to the alignment.
fn live(buffers: &Buffers, sizes: &PrimaryMap<BufferId, u64>) -> Vec<u64> {
    let problem = &buffers.problem;
    let steps = problem.buffers.values().map(|buffer| buffer.last.index() + 2).max().unwrap_or(0);
    let mut changes = vec![0i64; steps];
    for (id, size) in buffers.sizes.iter() {
        if !matches!(size, BufferSize::Scratch(_)) {
            let Buffer { first, last, .. } = problem.buffers[id];
            let bytes = sizes[id].next_multiple_of(ALIGN_BYTES) as i64;
            changes[first.index()] += bytes;
            changes[last.index() + 1] -= bytes;
        }
    }
    let sums = changes.iter().scan(0, |sum, change| {
        *sum += change;
        Some(*sum as u64)
    });
    sums.collect()
}

/// The queries of [`crate::tradeoff`] about a function at given sizes.
pub(super) struct TradeOffQuery<'a> {
    pub(super) ctx: &'a Context,
    body: &'a Body,
    pub(super) buffers: &'a Buffers,
    goal: Goal,
    needs: &'a [StepNeeds],
    live: Vec<u64>,
    pub(super) sizes: &'a PrimaryMap<BufferId, u64>,
}

impl<'a> TradeOffQuery<'a> {
    /// The queries for a function with types at these sizes.
    pub(super) fn new(
        (ctx, body): (&'a Context, &'a Body),
        buffers: &'a Buffers,
        goal: Goal,
        needs: &'a [StepNeeds],
        sizes: &'a PrimaryMap<BufferId, u64>,
    ) -> TradeOffQuery<'a> {
        TradeOffQuery { ctx, body, buffers, goal, needs, live: live(buffers, sizes), sizes }
    }

    /// The peak of live bytes.
    pub(super) fn peak(&self) -> Option<u64> {
        let runs = self.buffers.runs.iter().zip(self.needs);
        runs.map(|(run, needs)| self.live[run.step.index()] + needs.scratch_bytes).max()
    }
}

impl Question for TradeOffQuery<'_> {
    fn goal(&self) -> Goal {
        self.goal
    }

    fn steps(&self) -> Vec<RunningStep> {
        let steps = self.buffers.runs.iter().zip(self.needs);
        let running = steps.map(|(step, needs)| RunningStep {
            op: step.op,
            live: self.live[step.step.index()],
            preferred: needs.scratch_bytes,
        });
        running.collect()
    }

    fn scratch(&self, op: Op, preferred: u64) -> (u64, Option<Bands>) {
        let needs = self.buffers.number(op).map(|number| self.needs[number]);
        needs.map_or((preferred, None), |needs| (needs.least_scratch_bytes, needs.bands))
    }

    fn rows(&self, op: Op, operand: usize) -> Option<(OperandRows, [u64; 2])> {
        let pair = self.buffers.pair(op, operand)?;
        let rows = OperandRows::of(self.ctx, self.body, op, operand)?;
        Some((rows, pair.map(|id| self.sizes[id])))
    }
}

/// The needs of the steps of a function at given sizes.
pub(super) fn needs(
    ctx: &Context,
    target: &dyn Target,
    buffers: &Buffers,
    at: &Body,
    threads: usize,
) -> Vec<StepNeeds> {
    let needs = buffers.runs.iter().map(|run| {
        let choice = target.select(at.at(ctx, run.op), threads);
        choice.map_or(StepNeeds::default(), |choice| StepNeeds {
            scratch_bytes: choice.scratch_bytes,
            least_scratch_bytes: choice.least_scratch_bytes,
            bands: choice.bands,
        })
    });
    needs.collect()
}
