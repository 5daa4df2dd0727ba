//! Budgets: how a program is made to fit an arena of a given size.
//!
//! The ways are tried in the order of what they cost at run time: operations in another order, and what the
//! goal allows (always); images made and read in turns, results written over rows of their operands
//! (`--optimize=memory`); values computed again (the pass `recompute`). Where none suffices, the failure
//! names the smallest arena that was reached, what makes up its peak, and what would save how much:
//! tried, not estimated.

use ir::plan::attrs;

use ir::alias::AliasSets;
use ir::{Diagnostic, Module};
use passes::plan::{ArenaProblem, peak};

use crate::compile::{CompileOptions, Goal, PassSequence, PlanRoute, complete_with, donate};
use crate::failure::{Failure, Fault};
use crate::levers::{Advice, changes_beside_budget, levers_of, planned_cost};
use crate::specialize::AllSizes;

/// Takes a module through the stages that its entry lacks, so that its arena has at most `budget_bytes`.
///
/// # Errors
/// Every fault of the first pass that finds some; else, if no way that was tried leads below the budget, what
/// stands there.
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

/// Holds the arena that is enough at all sizes to a budget.
///
/// # Errors
/// If no arena is enough at all sizes, or a larger one is needed: with what is live at the peak at the
/// greatest sizes.
pub(crate) fn meet_at_all_sizes(all: &AllSizes, budget_bytes: u64) -> Result<(), Failure> {
    let bound_bytes = match all.bound() {
        Ok(bound) => bound.size_bytes(),
        Err(why) => {
            let what =
                format!("no arena of {budget_bytes} bytes, or of any size, is enough at all sizes: {why}");
            return Err(Failure::input(what));
        }
    };
    if bound_bytes <= budget_bytes {
        return Ok(());
    }
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

/// The size of the arena to which a way leads, and the planned module.
fn try_way(way: PlanRoute<'_>, module: &Module, entry: &str) -> Result<(u64, Module), Failure> {
    let mut trial = module.clone();
    complete_with(&mut trial, entry, way)?;
    let body = trial.function(entry).expect("the entry was just planned");
    let bytes = attrs::arena_bytes(&trial.ctx, body).unwrap_or(0);
    Ok((bytes, trial))
}

/// The fault, with what is live at the peak of a planned arena.
fn explain(planned: &Module, entry: &str, message: String) -> Result<Diagnostic, Failure> {
    let ctx = &planned.ctx;
    let body = planned.function(entry).expect("the entry was just planned");
    let aliases = AliasSets::of(ctx, body);
    let arena = ArenaProblem::of(ctx, body, &aliases).map_err(|faults| Failure::diagnostics(ctx, &faults))?;
    Ok(peak::explain(ctx, body, arena.steps(), &arena.problem, &arena.contents, message))
}

/// The least arena that is found with all that saves memory, values computed again among it.
///
/// # Errors
/// Every fault of the first pass that finds some.
#[cfg(feature = "cli")]
pub(crate) fn least_bytes(module: &Module, entry: &str, options: &CompileOptions) -> Result<u64, Failure> {
    Ok(try_way(least_way(options), module, entry)?.0)
}

fn least_way(options: &CompileOptions) -> PlanRoute<'_> {
    let steps = PassSequence::Recompute { budget_bytes: 0 };
    PlanRoute { goal: Goal::Memory, steps, ..PlanRoute::of(options) }
}

/// What else would save memory, the most first: a line for each.
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
