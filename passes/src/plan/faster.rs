//! Faster algorithms: which steps use one that rounds differently and takes more scratch.
//!
//! ```text
//! conv2d {mem.kernel = "conv2d"}   =>   conv2d {mem.kernel = "winograd", mem.method = "winograd"}
//! ```
//!
//! - `speed`: if the error, measured on a sample of the step, is at most 1e-3 of its largest number.
//! - `balanced`: if the error is at most 1e-4, and the scratch of two workers fits under the peak together
//!   with the values that are live at the step. No arena is below that peak ([`tradeoff::peak_of_tensors`]).
//!   If it does not fit, the result overwrites rows already read, in bands ([`crate::overlap`]), which frees
//!   memory. If the scratch still does not fit, and the algorithm is at least 1.25 times as fast, the arena
//!   may exceed the peak by up to 10 %. In a chain of equal layers all steps are at the peak, and only in
//!   bands are they below it. So if that holds for more than half of the steps, the arena may grow to the
//!   peak without bands.
//! - `memory`: like `balanced`, beneath the peak of the smallest arena, without bands and without those 10 %.
//!   If a planner that starts anew finds no placement as small as the usual one, the scratch goes into the
//!   gaps of that one ([`super::gaps`]). If these are too small, the arena grows: the choice must not depend
//!   on places.
//!
//! Remarks list the steps that are computed faster, and those that are not. Results must not depend on the
//! number of threads, so neither may the choice. The same rule applies to known sizes, once the arena of the
//! usual algorithms is known, and to named ones, at each size ([`crate::memory::assign`]).

use ir::alias::AliasSets;
use ir::plan::attrs;
use ir::target::FasterMethod;
use ir::{Body, Context, Diagnostic, Op, Target};

use super::{ArenaProblem, gaps};
use crate::manager::Changes;
use crate::place::{Placement, Placer};
use crate::select::select_again;
use crate::tradeoff::{self, ArenaQuery, Goal, Question, RunningStep};

/// The goals of a plan.
#[derive(Clone, Copy)]
pub(super) struct PlanGoals {
    /// For the choice of algorithms.
    pub(super) goal: Goal,
    /// For the trade-off of memory for time.
    pub(super) savings: Goal,
}

/// A placement problem, its placement, and remarks.
pub(super) type Placed<'a> = (ArenaProblem<'a>, Placement, Vec<Diagnostic>);

/// The scratch and the error that faster algorithms may have.
pub(crate) struct Room {
    /// The limit of their scratch plus the live bytes; none if there is no limit.
    most_bytes: Option<u64>,
    /// The same limit for an algorithm that is [`MUCH_FASTER`].
    grown_bytes: u64,
    /// The greatest error, relative to the largest number.
    most_error: f64,
    /// The goal of the plan.
    goal: Goal,
}

/// A balanced plan's arena may exceed the peak by at least 1 / this for an algorithm that is [`MUCH_FASTER`].
const GROWTH: u64 = 10;
/// The least speedup, as a ratio of times, for which the arena may grow.
const MUCH_FASTER: f64 = 1.25;

/// A faster algorithm for a step, and whether there is room for its scratch.
pub(crate) struct MethodInRoom {
    pub(crate) method: FasterMethod,
    /// The bytes of its scratch, or why the step uses the usual algorithm.
    pub(crate) scratch: Result<u64, String>,
    /// The least scratch that it can run with, in bytes. For the smallest arena, not all threads need run it.
    pub(crate) least_scratch_bytes: u64,
    /// Whether the scratch only fits if the result is written over rows of an operand.
    pub(crate) in_bands: bool,
}

impl Room {
    /// The room in a function; `question` has the goal of the smallest arena.
    pub(crate) fn of(goal: Goal, question: &impl Question) -> Room {
        match goal {
            Goal::Speed => Room { most_bytes: None, grown_bytes: u64::MAX, most_error: 1e-3, goal },
            Goal::Memory | Goal::Balanced => {
                let peak = tradeoff::peak_of_tensors(question);
                let grown_bytes = if goal == Goal::Memory { peak } else { grown(question, peak) };
                Room { most_bytes: Some(peak), grown_bytes, most_error: 1e-4, goal }
            }
        }
    }

    /// The faster algorithm of a step, if there is one; `faster` returns it for a number of bytes of room.
    /// Tries, in this order: under the peak; there in bands; in the grown arena; there in bands. For the
    /// smallest arena, it tries the first only.
    pub(crate) fn method(
        &self,
        question: &impl Question,
        step: &RunningStep,
        faster: &dyn Fn(u64) -> Option<FasterMethod>,
    ) -> Option<MethodInRoom> {
        let most = self.most_bytes.unwrap_or(u64::MAX);
        let room = most.saturating_sub(step.live);
        let found = faster(room);
        if let Some(method) = found
            && let Ok(scratch) = self.scratch(&method, room)
        {
            return Some(self.with(method, Ok(scratch)));
        }
        let method = found.or_else(|| faster(u64::MAX))?;
        let bands = method.bands.filter(|_| self.goal != Goal::Memory);
        let candidate = bands.and_then(|bands| question.candidate(Goal::Balanced, step.op, bands, 1));
        let saved = candidate.map_or(0, |candidate| candidate.saved());
        let grown = self.grown_bytes;
        let others = [(most, saved, 0.0), (grown, 0, MUCH_FASTER), (grown, saved, MUCH_FASTER)];
        let found = others.into_iter().find_map(|(most, saved, speedup)| {
            let room = most.saturating_sub(step.live - saved);
            let method = faster(room).filter(|method| method.speedup >= speedup)?;
            let scratch = self.scratch(&method, room).ok()?;
            Some(MethodInRoom { in_bands: saved > 0, ..self.with(method, Ok(scratch)) })
        });
        let refused = || {
            let refusal = self.scratch(&method, room).err()?;
            Some(self.with(method, Err(refusal)))
        };
        found.or_else(refused)
    }

    /// The scratch of a method that a step may use with this room.
    ///
    /// # Errors
    /// The reason why it may not.
    fn scratch(&self, method: &FasterMethod, room_bytes: u64) -> Result<u64, String> {
        let FasterMethod { error, scratch_bytes, least_room_bytes, .. } = *method;
        if least_room_bytes > room_bytes {
            return Err(format!(
                "it needs {least_room_bytes} bytes of scratch, of which {room_bytes} are free"
            ));
        }
        if error > self.most_error {
            let most = self.most_error;
            return Err(format!("its error of {error:.0e} of the largest number is above {most:.0e}"));
        }
        Ok(if self.goal == Goal::Memory { scratch_bytes.min(room_bytes) } else { scratch_bytes })
    }

    /// A method with its scratch, or the reason why the step uses the usual algorithm.
    fn with(&self, method: FasterMethod, scratch: Result<u64, String>) -> MethodInRoom {
        let FasterMethod { least_scratch_bytes, least_room_bytes, .. } = method;
        let least_scratch_bytes = match self.goal {
            Goal::Memory => least_scratch_bytes.min(least_room_bytes),
            _ => least_scratch_bytes,
        };
        MethodInRoom { method, scratch, least_scratch_bytes, in_bands: false }
    }
}

/// The bytes to which the arena of a balanced plan may grow above the peak, for what is [`MUCH_FASTER`].
fn grown(question: &impl Question, peak: u64) -> u64 {
    let live: Vec<u64> = question.steps().iter().map(|step| step.live).collect();
    let in_bands = live.iter().filter(|live| **live > peak).count();
    let without_bands = live.iter().copied().max().filter(|_| 2 * in_bands > live.len());
    peak.saturating_add(peak / GROWTH).max(without_bands.unwrap_or(0))
}

/// A step that could be computed faster.
struct FasterStep {
    op: Op,
    found: MethodInRoom,
}

/// Removes the choices of an earlier plan.
pub(super) fn forget(ctx: &Context, target: &dyn Target, body: &mut Body) {
    let mut chosen = Vec::new();
    ir::flow::walk(ctx, body, |op| {
        chosen.extend(body.at(ctx, op).attr(attrs::MEM_METHOD).map(|_| op));
    });
    chosen.into_iter().for_each(|op| set(ctx, target, body, op, None));
}

/// Uses faster algorithms if the goal allows it; `arena` and `placement` are those of the usual ones. If an
/// algorithm needs bands, the trade-off of memory for time is decided again for all steps.
///
/// # Errors
/// If a size is not known.
pub(super) fn choose<'a>(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    (arena, placement): (ArenaProblem<'a>, Placement),
    aliases: &'a AliasSets,
    goals: PlanGoals,
    (placer, changes): (Placer, &Changes),
) -> Result<Placed<'a>, Vec<Diagnostic>> {
    let PlanGoals { goal, savings } = goals;
    let steps = faster_steps(ctx, target, body, &arena, goal);
    let mut remarks = Vec::new();
    let mut earlier = Vec::new();
    let mut needs_bands = false;
    for step in &steps {
        let MethodInRoom { method, scratch, in_bands, .. } = &step.found;
        remarks.push(remark(body, step, scratch.as_ref().err()));
        let Ok(scratch) = *scratch else { continue };
        let name = method.name;
        if changes.allow(|| format!("{} is computed by {name}", body.at(ctx, step.op).describe())) {
            earlier.push(EarlierChoice::of(ctx, body, step.op));
            set(ctx, target, body, step.op, Some((name, scratch)));
            needs_bands |= in_bands;
        }
    }
    if earlier.is_empty() {
        return Ok((arena, placement, remarks));
    }
    let (problem, found) = if needs_bands {
        earlier.extend(undo_savings(ctx, target, body, &arena));
        let problem = ArenaProblem::of(ctx, body, aliases)?;
        tradeoff::place(ctx, target, body, problem, aliases, savings, placer)?
    } else {
        let problem = ArenaProblem::of(ctx, body, aliases)?;
        let found = placer.place(&problem.problem);
        // A planner that starts anew may not find a placement as good as the usual one.
        let is_larger = goal == Goal::Memory && found.size_bytes > placement.size_bytes;
        let keeps_overlaps = earlier.iter().all(|earlier| earlier.overlap.is_none());
        let chosen = steps.iter().filter(|step| body.at(ctx, step.op).attr(attrs::MEM_METHOD).is_some());
        let least = chosen.map(|step| (step.op, step.found.least_scratch_bytes)).collect();
        let usual = (&arena, &placement);
        let in_gaps = || gaps::scratch_in_gaps(&problem, usual, &least);
        match (is_larger && keeps_overlaps).then(in_gaps).flatten() {
            None => (problem, found),
            Some(scratch) => gaps::place(ctx, body, usual, scratch, aliases)?,
        }
    };
    if arena.pool.capacity.is_none_or(|capacity| found.size_bytes <= capacity) {
        return Ok((problem, found, remarks));
    }
    earlier.into_iter().for_each(|earlier| earlier.restore(ctx, target, body));
    let why = format!("the arena would have {} bytes, more than its capacity", found.size_bytes);
    let remarks = steps.iter().map(|step| remark(body, step, Some(&why))).collect();
    Ok((arena, placement, remarks))
}

/// Undoes the trade-off for all steps with their usual algorithm: they get no bands, and their preferred
/// scratch. Returns the attributes from before.
fn undo_savings(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    arena: &ArenaProblem<'_>,
) -> Vec<EarlierChoice> {
    let mut earlier = Vec::new();
    for (_, op) in arena.steps().iter() {
        let whole = body.at(ctx, op);
        let says = |name| whole.attr(name).is_some();
        if (says(attrs::MEM_OVERLAP) || says(attrs::MEM_SCRATCH)) && !says(attrs::MEM_METHOD) {
            earlier.push(EarlierChoice::of(ctx, body, op));
            body.remove_attr(ctx, op, attrs::MEM_OVERLAP);
            select_again(ctx, target, body, op);
        }
    }
    earlier
}

/// The steps that could be computed faster.
fn faster_steps(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    arena: &ArenaProblem<'_>,
    goal: Goal,
) -> Vec<FasterStep> {
    let question = ArenaQuery::new(ctx, target, body, arena, Goal::Memory);
    let room = Room::of(goal, &question);
    let threads = attrs::threads(ctx, body).unwrap_or(1);
    let of = |step: RunningStep| {
        let op = step.op;
        let faster = |bytes| target.faster(body.at(ctx, op), threads, bytes);
        Some(FasterStep { op, found: room.method(&question, &step, &faster)? })
    };
    question.steps().into_iter().filter_map(of).collect()
}

fn remark(body: &Body, step: &FasterStep, refusal: Option<&String>) -> Diagnostic {
    let FasterMethod { name, speedup, .. } = step.found.method;
    let message = match refusal {
        None => format!("computed by `{name}`, about {speedup:.1} times as fast"),
        Some(why) => format!("`{name}` would be about {speedup:.1} times as fast, but {why}"),
    };
    Diagnostic::remark(body.location(step.op), message)
}

/// A step's attributes from before.
struct EarlierChoice {
    op: Op,
    scratch: Option<ir::Attr>,
    overlap: Option<ir::Attr>,
}

impl EarlierChoice {
    fn of(ctx: &Context, body: &Body, op: Op) -> EarlierChoice {
        let attr = |name| body.at(ctx, op).attr(name);
        EarlierChoice { op, scratch: attr(attrs::MEM_SCRATCH), overlap: attr(attrs::MEM_OVERLAP) }
    }

    fn restore(self, ctx: &Context, target: &dyn Target, body: &mut Body) {
        set(ctx, target, body, self.op, None);
        for (name, attr) in [(attrs::MEM_SCRATCH, self.scratch), (attrs::MEM_OVERLAP, self.overlap)] {
            match attr {
                Some(attr) => body.set_attr(ctx, self.op, name, attr),
                None => body.remove_attr(ctx, self.op, name),
            }
        }
    }
}

/// Makes a step use a method with these bytes of scratch, or the usual algorithm.
pub(crate) fn set(ctx: &Context, target: &dyn Target, body: &mut Body, op: Op, method: Option<(&str, u64)>) {
    body.remove_attr(ctx, op, attrs::MEM_METHOD);
    let Some((name, scratch)) = method else { return select_again(ctx, target, body, op) };
    body.remove_attr(ctx, op, attrs::MEM_OVERLAP);
    body.set_attr(ctx, op, attrs::MEM_METHOD, ctx.str_attr(name));
    select_again(ctx, target, body, op);
    body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(scratch as i64));
}

#[cfg(test)]
#[path = "faster_tests.rs"]
mod tests;
