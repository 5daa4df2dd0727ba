//! Which steps are computed by a faster algorithm that rounds otherwise and takes more scratch.
//!
//! ```text
//! conv2d {mem.kernel = "conv2d"}   =>   conv2d {mem.kernel = "winograd", mem.method = "winograd"}
//! ```
//!
//! - `speed`: wherever the error of a sample of the step is at most 1e-3 of its largest number.
//! - `balanced`: where that is at most 1e-4, and the scratch of four workers fits beside what is live at the
//!   step beneath the peak, which no arena is below ([`tradeoff::peak_of_tensors`]).
//! - `memory`: nowhere.
//!
//! A remark says what is computed faster, and what is not. Results must not depend on the number of threads,
//! so neither may the choice; it is the same rule for known sizes, after the arena of the usual algorithms is
//! known, and for named ones, at each size ([`crate::memory::assign`]).

use ir::alias::AliasSets;
use ir::plan::attrs;
use ir::target::FasterMethod;
use ir::{Body, Context, Diagnostic, Op, Target};

use super::ArenaProblem;
use crate::manager::Changes;
use crate::place::{Placement, Placer};
use crate::select::select_again;
use crate::tradeoff::{self, ArenaQuery, Goal, Question, RunningStep};

/// The problem that a placement solves, with the remarks on it.
pub(super) type Placed<'a> = (ArenaProblem<'a>, Placement, Vec<Diagnostic>);

/// How much scratch faster algorithms may take, and how far their results may be from exact ones.
pub(crate) struct Room {
    /// The bytes beneath which they stay, with what is live; none if any are theirs.
    most_bytes: Option<u64>,
    /// As a share of the largest number.
    most_error: f64,
}

impl Room {
    /// The room in a function of which the question for the smallest arena is asked; none if the goal allows
    /// no such algorithm.
    pub(crate) fn of(goal: Goal, question: &impl Question) -> Option<Room> {
        match goal {
            Goal::Memory => None,
            Goal::Balanced => {
                let peak = tradeoff::peak_of_tensors(question);
                Some(Room { most_bytes: Some(peak), most_error: 1e-4 })
            }
            Goal::Speed => Some(Room { most_bytes: None, most_error: 1e-3 }),
        }
    }

    /// The bytes of room for the scratch of a step at which `live` bytes of tensors are live.
    pub(crate) fn beside(&self, live: u64) -> u64 {
        self.most_bytes.map_or(u64::MAX, |most| most.saturating_sub(live))
    }

    /// The scratch of a step that may be computed by a method, with that room.
    ///
    /// # Errors
    /// Why it may not.
    pub(crate) fn scratch(&self, method: &FasterMethod, room_bytes: u64) -> Result<u64, String> {
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
        Ok(scratch_bytes)
    }
}

/// A step that could be computed faster.
struct FasterStep {
    op: Op,
    method: FasterMethod,
    /// Its scratch, or why it is not computed so.
    scratch: Result<u64, String>,
}

/// Forgets what an earlier plan chose.
pub(super) fn forget(ctx: &Context, target: &dyn Target, body: &mut Body) {
    let mut chosen = Vec::new();
    ir::flow::walk(ctx, body, |op| {
        chosen.extend(body.at(ctx, op).attr(attrs::MEM_METHOD).map(|_| op));
    });
    chosen.into_iter().for_each(|op| set(ctx, target, body, op, None));
}

/// Computes steps faster where the goal allows it; `arena` and `placement` are those without.
///
/// # Errors
/// If a size is not known.
pub(super) fn choose<'a>(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    (arena, placement): (ArenaProblem<'a>, Placement),
    aliases: &'a AliasSets,
    (goal, placer, changes): (Goal, Placer, &Changes),
) -> Result<Placed<'a>, Vec<Diagnostic>> {
    let steps = faster_steps(ctx, target, body, &arena, goal);
    let mut remarks = Vec::new();
    let mut earlier = Vec::new();
    for step in &steps {
        remarks.push(remark(body, step, step.scratch.as_ref().err()));
        let Ok(scratch) = step.scratch else { continue };
        let name = step.method.name;
        if changes.allow(|| format!("{} is computed by {name}", body.at(ctx, step.op).describe())) {
            earlier.push(EarlierChoice::of(ctx, body, step.op));
            set(ctx, target, body, step.op, Some((name, scratch)));
        }
    }
    if earlier.is_empty() {
        return Ok((arena, placement, remarks));
    }
    let problem = ArenaProblem::of(ctx, body, aliases)?;
    let found = placer.place(&problem.problem);
    if arena.pool.capacity.is_none_or(|capacity| found.size_bytes <= capacity) {
        return Ok((problem, found, remarks));
    }
    earlier.into_iter().for_each(|earlier| earlier.restore(ctx, target, body));
    let why = format!("the arena would have {} bytes, more than its capacity", found.size_bytes);
    let remarks = steps.iter().map(|step| remark(body, step, Some(&why))).collect();
    Ok((arena, placement, remarks))
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
    let Some(room) = Room::of(goal, &question) else { return Vec::new() };
    let threads = attrs::threads(ctx, body).unwrap_or(1);
    let of = |RunningStep { op, live, .. }: RunningStep| {
        let bytes = room.beside(live);
        let method = target.faster(body.at(ctx, op), threads, bytes)?;
        Some(FasterStep { op, method, scratch: room.scratch(&method, bytes) })
    };
    question.steps().into_iter().filter_map(of).collect()
}

fn remark(body: &Body, step: &FasterStep, refusal: Option<&String>) -> Diagnostic {
    let FasterMethod { name, speedup, .. } = step.method;
    let message = match refusal {
        None => format!("computed by `{name}`, about {speedup:.1} times as fast"),
        Some(why) => format!("`{name}` would be about {speedup:.1} times as fast, but {why}"),
    };
    Diagnostic::remark(body.location(step.op), message)
}

/// What a step's attributes said.
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

/// Has a step computed by a method with these bytes of scratch, or as usual.
pub(crate) fn set(ctx: &Context, target: &dyn Target, body: &mut Body, op: Op, method: Option<(&str, u64)>) {
    body.remove_attr(ctx, op, attrs::MEM_METHOD);
    let Some((name, scratch)) = method else { return select_again(ctx, target, body, op) };
    body.remove_attr(ctx, op, attrs::MEM_OVERLAP);
    body.set_attr(ctx, op, attrs::MEM_METHOD, ctx.str_attr(name));
    select_again(ctx, target, body, op);
    body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(scratch as i64));
}
