//! The pass `plan`: builds and solves the placement problem, writes the plan, and checks it.

use ir::alias::AliasSets;
use ir::{Body, Context, Diagnostic, Target};

use super::faster::PlanGoals;
use super::{ArenaProblem, BufferContent, faster, pitch, separate_outputs};
use crate::check::check;
use crate::edit::entry;
use crate::manager::Changes;
use crate::place::{self, Placement, Placer};
use crate::tradeoff::{self, Goal};

/// Places the values of a function, and saves memory as far as the goal allows; `planner` names a row of
/// [`place::PLANNERS`]. Returns a remark for each image that lacks the row pitch of its pool.
///
/// # Errors
/// If there is no such planner, a size is not known, or the checker refuses the plan.
pub fn plan(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    planner: &str,
    goal: Goal,
    changes: &Changes,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    if entry(body).is_none() {
        return Ok(Vec::new());
    }
    let placer = Placer::named(planner).ok_or_else(|| vec![unknown_planner(planner)])?;
    tradeoff::forget(ctx, body);
    faster::forget(ctx, target, body);
    let mut aliases = separate_outputs(ctx, body);
    let (pitched, mut remarks) = pitch::pitch_rows(ctx, target, body, &aliases)?;
    if pitched > 0 {
        aliases = AliasSets::of(ctx, body);
    }
    let arena = ArenaProblem::of(ctx, body, &aliases)?;
    let savings = match changes.allow(|| "results overlap operands, and scratch is smaller".to_owned()) {
        true => goal,
        false => Goal::Speed,
    };
    let usual = tradeoff::place(ctx, target, body, arena, &aliases, savings, placer)?;
    let goals = PlanGoals { goal, savings };
    let (arena, mut placement, on_steps) =
        faster::choose(ctx, target, body, usual, &aliases, goals, (placer, changes))?;
    remarks.extend(on_steps);
    set_apart(ctx, body, &arena, &mut placement, changes);
    let others = arena.pools.iter().map(|pool| placer.place(&pool.problem));
    let placed = arena.place_pools(ctx, body, std::iter::once(placement).chain(others).collect())?;
    arena.write(ctx, body, &placed);
    placed.write(ctx, body);
    let faults = check(ctx, body);
    if faults.is_empty() { Ok(remarks) } else { Err(faults) }
}

/// Gives buffers their own bytes if sharing them would exceed the number of allowed changes.
fn set_apart(
    ctx: &Context,
    body: &Body,
    arena: &ArenaProblem<'_>,
    placement: &mut Placement,
    changes: &Changes,
) {
    for (id, buffer) in arena.problem.buffers.iter() {
        let op = match arena.contents[id] {
            BufferContent::Root(value) => body.defining_op(value),
            BufferContent::Scratch(op) => Some(op),
        };
        let place = || op.map_or("an argument".to_owned(), |op| body.at(ctx, op).describe());
        if changes.allow(|| format!("the buffer of {} shares bytes", place())) {
            continue;
        }
        placement.offsets[id] = placement.size_bytes.next_multiple_of(buffer.align);
        placement.size_bytes = placement.offsets[id] + buffer.size_bytes;
    }
}

fn unknown_planner(name: &str) -> Diagnostic {
    let known: Vec<&str> = place::PLANNERS.iter().map(|planner| planner.name).collect();
    let help = ir::diag::did_you_mean(name, known.iter().copied());
    let help = help.or_else(|| Some(format!("planners are {}", known.join(", "))));
    Diagnostic { help, ..Diagnostic::error(ir::Location::UNKNOWN, format!("there is no planner `{name}`")) }
}
