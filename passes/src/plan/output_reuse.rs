//! Reuse of output buffers: which intermediates live in a caller's buffer while that does not hold its own
//! value.
//!
//! An output's buffer is free until the output is written, and a donated input's after its last read. Values
//! there need no arena. So values that are live at the peak are moved there, the largest first, until no more
//! fit.

use std::cmp::Reverse;

use ir::flow::Act;
use ir::{Body, Context, Value};

use super::{ArenaProblem, SizeRanges, entry_args, returns, scratch_bytes};
use crate::edit::kept_inputs;
use crate::memory::bytes::is_at_most;
use crate::place::Step;

/// The most reuses of a function: each choice costs a sweep over the whole function.
const MOST_REUSES: usize = 16;

impl ArenaProblem<'_> {
    /// Moves values that are live at the peak into the callers' buffers.
    pub(super) fn reuse_outputs(&mut self, ctx: &Context, body: &Body) {
        let buffers = self.callers_buffers(ctx, body);
        let runs = self.steps.events().filter(|(_, event)| event.act == Act::Run);
        let scratch: Vec<(Step, u64)> =
            runs.filter_map(|(step, event)| Some((step, scratch_bytes(ctx, body, event.op)?))).collect();
        for _ in 0..MOST_REUSES {
            let Some((value, buffer)) = self.next_reuse(ctx, &buffers, &scratch) else { return };
            self.join(value, buffer);
        }
    }

    /// Donated inputs and outputs.
    fn callers_buffers(&self, ctx: &Context, body: &Body) -> Vec<Value> {
        let kept = kept_inputs(ctx, body);
        let inputs = entry_args(body).iter().copied().filter(|arg| !kept[*arg]);
        let ends = returns(ctx, body);
        let outputs = ends.iter().flat_map(|end| body.operands(*end)).map(|value| self.aliases.root(value));
        inputs.chain(outputs).collect()
    }

    /// The largest value live at the peak that fits a caller's buffer, with the own value of that buffer.
    fn next_reuse(
        &self,
        ctx: &Context,
        buffers: &[Value],
        scratch: &[(Step, u64)],
    ) -> Option<(Value, Value)> {
        let capacity = buffers.iter().filter_map(|buffer| self.aliases.size_bytes(*buffer)).max()?;
        let peak = self.peak(scratch)?;
        let is_live = |class: &Value| {
            self.classes
                .live_range(*class)
                .is_some_and(|live_range| live_range.first <= peak && peak <= live_range.last)
        };
        let size = |value: Value| self.aliases.extent_bytes(value).unwrap_or(u64::MAX);
        let mut live: Vec<Value> = self.in_arena().filter(|class| size(*class) <= capacity).collect();
        live.retain(is_live);
        // The caller's memory has no pitch.
        live.retain(|class| self.aliases.rows(*class).is_none());
        live.sort_by_key(|class| (Reverse(size(*class)), *class));
        let home = |buffer: &Value| self.homes[self.classes.class(*buffer)];
        let is_free = |value: Value, buffer: &Value| {
            let class = self.classes.class(*buffer);
            !self.classes.conflict_in_steps(&self.steps, value, class)
        };
        // A function that returns at several places has several values for one buffer.
        let fits = |value: Value, buffer: &Value| {
            let mut same = buffers.iter().filter(|other| home(other) == home(buffer));
            let is_small = size(value) <= size(*buffer) && self.is_at_most(ctx, value, *buffer);
            is_small && same.all(|other| is_free(value, other))
        };
        live.into_iter().find_map(|value| {
            let buffer = buffers.iter().find(|buffer| fits(value, buffer))?;
            Some((value, *buffer))
        })
    }

    /// Whether a value that fits a buffer at the chosen sizes fits at all sizes.
    fn is_at_most(&self, ctx: &Context, value: Value, buffer: Value) -> bool {
        self.all_sizes.is_none_or(|SizeRanges { body, ranges }| is_at_most(ctx, body, value, buffer, ranges))
    }

    /// The classes that need bytes of the arena.
    fn in_arena(&self) -> impl Iterator<Item = Value> + '_ {
        let roots = self.classes.roots().iter().copied();
        roots.filter(|root| self.classes.class(*root) == *root && self.homes[*root].is_none())
    }

    /// The first step of the arena's peak.
    fn peak(&self, scratch: &[(Step, u64)]) -> Option<Step> {
        let mut changes = Vec::new();
        for class in self.in_arena() {
            let (live_range, bytes) = (self.classes.live_range(class)?, self.aliases.extent_bytes(class)?);
            changes.push((live_range.first, LiveChange::Birth(bytes)));
            changes.push((live_range.last, LiveChange::Death(bytes)));
        }
        for &(step, bytes) in scratch {
            changes.push((step, LiveChange::Birth(bytes)));
            changes.push((step, LiveChange::Death(bytes)));
        }
        changes.sort_unstable();
        let (mut live, mut most, mut peak) = (0, 0, None);
        for (step, change) in changes {
            match change {
                LiveChange::Birth(bytes) => live += bytes,
                LiveChange::Death(bytes) => live -= bytes,
            }
            if live > most {
                (most, peak) = (live, Some(step));
            }
        }
        peak
    }
}

/// A change of live bytes at a step; births sort before deaths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LiveChange {
    Birth(u64),
    Death(u64),
}
