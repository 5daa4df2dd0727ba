//! Memory budgets: how a program is made to fit an arena of a given size.
//!
//! Ways to save memory are tried in the order of their cost at run time: reordering operations, and
//! everything that the goal allows (always); row streaming and results written over rows of their operands
//! (`--optimize=memory`); recomputation (the pass `recompute`). If none suffices, the failure names the
//! smallest arena found, the values live at its peak, and how much other changes would save, as tried, not
//! estimated. A function of named sizes has to fit at its greatest sizes; there, nothing is recomputed.

use ir::plan::attrs;

use ir::alias::AliasSets;
use ir::{Diagnostic, Module};
use passes::plan::{ArenaProblem, peak};

use crate::compile::{CompileOptions, Goal, PassSequence, PlanRoute, complete_with, donate};
use crate::failure::{Failure, Fault};
use crate::levers::{Advice, changes_beside_budget, levers_of, planned_cost};
use crate::specialize::AllSizes;

/// Runs the stages that a module's entry lacks, so that its arena has at most `budget_bytes`.
///
/// # Errors
/// All errors of the first pass that finds any; if the budget can't be met, the message described above.
pub fn meet(
    module: &mut Module,
    entry: &str,
    options: &CompileOptions,
    budget_bytes: u64,
) -> Result<(), Failure> {
    let given = PlanRoute::of(options);
    let sparing = PlanRoute { goal: Goal::Memory, ..given };
    let ways = [given, sparing, PlanRoute { steps: PassSequence::Recompute { budget_bytes }, ..sparing }];
    let mut best: Option<(u64, Module)> = None;
    for way in ways {
        let (arena_bytes, trial) = try_way(way, module, entry)?;
        if arena_bytes <= budget_bytes {
            *module = trial;
            return Ok(());
        }
        if best.as_ref().is_none_or(|(least, _)| arena_bytes < *least) {
            best = Some((arena_bytes, trial));
        }
    }
    let (least_bytes, planned) = best.expect("some way was tried");
    let message = format!(
        "the arena does not fit the budget of {budget_bytes} bytes: the smallest that was found has {least_bytes}"
    );
    let fault = explain(&planned, entry, message)?;
    let advice = advice(module, entry, options, least_bytes);
    Err(Failure::Input(vec![Fault::of(&module.ctx, &fault).with_help(advice)]))
}

/// The function of a module with an arena of at most `budget_bytes` at all sizes: for the goal of the options
/// or, if that does not suffice, for the smallest arena.
///
/// # Errors
/// All errors of the first pass that finds any; if no arena suffices at all sizes, or the smallest that was
/// found is larger than the budget, with the values live at the peak at the greatest sizes.
pub(crate) fn meet_at_all_sizes(
    module: &mut Module,
    entry: &str,
    options: &CompileOptions,
    budget_bytes: u64,
) -> Result<AllSizes, Failure> {
    let others = (options.goal != Goal::Memory).then_some(Goal::Memory);
    let mut best: Option<(u64, AllSizes)> = None;
    for goal in std::iter::once(options.goal).chain(others) {
        let mut trial = module.clone();
        let options = CompileOptions { goal, ..options.clone() };
        let all = AllSizes::for_goal(&mut trial, entry, &options)?;
        let bound_bytes = match all.bound() {
            Ok(bound) => bound.size_bytes(),
            Err(why) => {
                return Err(Failure::input(format!(
                    "no arena of {budget_bytes} bytes, or of any size, is enough at all sizes: {why}"
                )));
            }
        };
        if bound_bytes <= budget_bytes {
            *module = trial;
            return Ok(all);
        }
        if best.as_ref().is_none_or(|(least, _)| bound_bytes < *least) {
            best = Some((bound_bytes, all));
        }
    }
    let (bound_bytes, all) = best.expect("some goal was tried");
    let greatest: Vec<u64> = all.symbols().iter().map(|symbol| symbol.most).collect();
    let sizes = all.symbols().iter().map(|symbol| format!("{} = {}", symbol.name, symbol.most));
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    let message = format!(
        "the arena for all sizes does not fit the budget of {budget_bytes} bytes: it has {bound_bytes}, with its peak at {sizes}"
    );
    let planned = all.at(&greatest)?;
    let fault = explain(&planned, all.entry(), message)?;
    Err(Failure::diagnostics(&planned.ctx, &[fault]))
}

/// Plans a module by one route; returns the size of its arena, and the planned module.
fn try_way(way: PlanRoute<'_>, module: &Module, entry: &str) -> Result<(u64, Module), Failure> {
    let mut trial = module.clone();
    complete_with(&mut trial, entry, way)?;
    let body = trial.function(entry).expect("the entry was just planned");
    let bytes = attrs::arena_bytes(&trial.ctx, body).unwrap_or(0);
    Ok((bytes, trial))
}

/// The fault, with the values live at the peak of a planned arena.
fn explain(planned: &Module, entry: &str, message: String) -> Result<Diagnostic, Failure> {
    let ctx = &planned.ctx;
    let body = planned.function(entry).expect("the entry was just planned");
    let aliases = AliasSets::of(ctx, body);
    let arena = ArenaProblem::of(ctx, body, &aliases).map_err(|faults| Failure::diagnostics(ctx, &faults))?;
    Ok(peak::explain(ctx, body, arena.steps(), &arena.problem, &arena.contents, message))
}

/// The smallest arena found with everything that saves memory, including recomputation.
///
/// # Errors
/// All errors of the first pass that finds any.
#[cfg(feature = "cli")]
pub(crate) fn least_bytes(module: &Module, entry: &str, options: &CompileOptions) -> Result<u64, Failure> {
    Ok(try_way(least_way(options), module, entry)?.0)
}

fn least_way(options: &CompileOptions) -> PlanRoute<'_> {
    let steps = PassSequence::Recompute { budget_bytes: 0 };
    PlanRoute { goal: Goal::Memory, steps, ..PlanRoute::of(options) }
}

/// Other changes that would save memory, one per line, the largest saving first.
fn advice(module: &Module, entry: &str, options: &CompileOptions, least_bytes: u64) -> Vec<String> {
    let cost = |options: &CompileOptions| {
        let mut trial = module.clone();
        donate(&mut trial, entry, &options.donated)?;
        complete_with(&mut trial, entry, least_way(options))?;
        Ok(planned_cost(&trial, entry))
    };
    let levers = levers_of(changes_beside_budget(module, entry, options), least_bytes, &cost);
    let line = |Advice { lever, .. }| format!("{} saves {} bytes", lever.flags, lever.saved_bytes);
    levers.into_iter().map(line).collect()
}
