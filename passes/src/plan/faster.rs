//! Which steps are computed by a faster algorithm that rounds otherwise and takes more scratch.
//!
//! ```text
//! conv2d {mem.kernel = "conv2d"}   =>   conv2d {mem.kernel = "winograd", mem.method = "winograd"}
//! ```
//!
//! Decided after the arena is known that the usual algorithms take, and for `speed` alone: a step is computed
//! faster wherever the error of a sample of it is at most 1e-3 of its largest number. A remark says what is,
//! and what is not.
//!
//! Results must not depend on the number of threads, so neither may the choice.

use ir::alias::AliasSets;
use ir::plan::attrs;
use ir::target::FasterMethod;
use ir::{Body, Context, Diagnostic, Op, Target};

use super::ArenaProblem;
use crate::manager::Changes;
use crate::place::{Placement, Placer, Step};
use crate::select::select_again;
use crate::tradeoff::Goal;

/// The problem that a placement solves, with the remarks on it.
pub(super) type Placed<'a> = (ArenaProblem<'a>, Placement, Vec<Diagnostic>);

/// How far results may be from exact ones, as a share of the largest.
const MOST_ERROR: f64 = 1e-3;

/// A step that could be computed faster.
struct FasterStep {
    op: Op,
    method: FasterMethod,
}

impl FasterStep {
    /// The scratch of the step, if it may be computed faster.
    ///
    /// # Errors
    /// Why it may not.
    fn scratch(&self) -> Result<u64, String> {
        let FasterMethod { error, scratch_bytes, .. } = self.method;
        match error <= MOST_ERROR {
            true => Ok(scratch_bytes),
            false => Err(format!("its error of {error:.0e} of the largest number is above {MOST_ERROR:.0e}")),
        }
    }
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
    if goal != Goal::Speed {
        return Ok((arena, placement, Vec::new()));
    }
    let threads = attrs::threads(ctx, body).unwrap_or(1);
    let steps = faster_steps(ctx, target, body, &arena, threads);
    let mut remarks = Vec::new();
    let mut earlier = Vec::new();
    for step in &steps {
        let scratch = step.scratch();
        remarks.push(remark(body, step, scratch.as_ref().err()));
        let Ok(scratch) = scratch else { continue };
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
    threads: usize,
) -> Vec<FasterStep> {
    let of = |(_, op): (Step, Op)| {
        let method = target.faster(body.at(ctx, op), threads)?;
        Some(FasterStep { op, method })
    };
    arena.steps().iter().filter_map(of).collect()
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

/// Has a step computed by a method with so much scratch, or as usual.
fn set(ctx: &Context, target: &dyn Target, body: &mut Body, op: Op, method: Option<(&str, u64)>) {
    body.remove_attr(ctx, op, attrs::MEM_METHOD);
    let Some((name, scratch)) = method else { return select_again(ctx, target, body, op) };
    body.remove_attr(ctx, op, attrs::MEM_OVERLAP);
    body.set_attr(ctx, op, attrs::MEM_METHOD, ctx.str_attr(name));
    select_again(ctx, target, body, op);
    body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(scratch as i64));
}
