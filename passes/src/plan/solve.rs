//! How a function gets its places: the problem is made and solved, the plan is written and checked.

use ir::alias::AliasSets;
use ir::{Body, Context, Diagnostic, Target};

use super::{ArenaProblem, pitch, separate_outputs};
use crate::check::check;
use crate::edit::entry;
use crate::place::{self, Placer};
use crate::tradeoff::{self, Goal};

/// Places the values of a function, and saves memory as the goal says; `planner` names a row of
/// [`place::PLANNERS`]. Gives a remark for each image that does not have the rows that its pool asks for.
///
/// # Errors
/// If there is no such planner, a size is not known, or the checker refuses the plan.
pub fn plan(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    planner: &str,
    goal: Goal,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    if entry(body).is_none() {
        return Ok(Vec::new());
    }
    let placer = Placer::named(planner).ok_or_else(|| vec![unknown_planner(planner)])?;
    tradeoff::forget(ctx, body);
    let mut aliases = separate_outputs(ctx, body);
    let (pitched, remarks) = pitch::pitch_rows(ctx, target, body, &aliases)?;
    if pitched > 0 {
        aliases = AliasSets::of(ctx, body);
    }
    let arena = ArenaProblem::of(ctx, body, &aliases)?;
    let (arena, placement) = tradeoff::place(ctx, target, body, arena, &aliases, goal, placer)?;
    let others = arena.pools.iter().map(|pool| placer.place(&pool.problem));
    let placed = arena.place_pools(ctx, body, std::iter::once(placement).chain(others).collect())?;
    arena.write(ctx, body, &placed);
    placed.write(ctx, body);
    let faults = check(ctx, body);
    if faults.is_empty() { Ok(remarks) } else { Err(faults) }
}

fn unknown_planner(name: &str) -> Diagnostic {
    let known = place::PLANNERS.iter().map(|planner| planner.name);
    let help = ir::diag::did_you_mean(name, known);
    Diagnostic { help, ..Diagnostic::error(ir::Location::UNKNOWN, format!("there is no planner `{name}`")) }
}
