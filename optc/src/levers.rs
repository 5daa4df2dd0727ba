//! Options that would lower the arena of a program: each is tried by planning again, so its figure is exact.

use std::cmp::Reverse;

use ir::Module;
use ir::plan::attrs;
use ir::weights::WeightSet;
use passes::memory::bound::Bound;
use serde::Serialize;

use crate::budget::least_bytes;
use crate::compile::{CompileOptions, Goal, Precision, plan_known_sizes, signature};
use crate::failure::Failure;
use crate::specialize::AllSizes;

/// The most inputs whose donation is tried.
const MOST_DONATIONS: usize = 8;

/// The flag that computes in other numbers.
const HALF_NUMBERS: &str = "--precision=bf16";

/// How the flag of a budget begins.
const BUDGET: &str = "--budget=";

/// A change that makes the arena smaller.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lever {
    /// The options to add to the command line.
    pub flags: String,
    /// The options that they replace on the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// The number of runs over which the samples of one are spread with it.
    pub runs: usize,
    /// The bytes of the arena with it.
    pub arena_bytes: u64,
    /// The bytes saved.
    pub saved_bytes: u64,
    /// The number of steps with it.
    pub steps: usize,
    /// The slowdown of a run, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_ratio: Option<f64>,
}

impl Lever {
    /// One that adds flags to the command line, for an arena that had `arena_bytes`; none if it is not
    /// smaller with them.
    pub(crate) fn new(flags: String, arena_bytes: u64, (found, steps): PlanCost) -> Option<Lever> {
        let saved_bytes = arena_bytes.checked_sub(found).filter(|saved| *saved > 0)?;
        let (replaces, run_ratio) = (None, None);
        Some(Lever { flags, replaces, runs: 1, arena_bytes: found, saved_bytes, steps, run_ratio })
    }
}

/// A change that makes the arena smaller, with the options that were tried.
pub(crate) struct Advice {
    pub(crate) lever: Lever,
    pub(crate) options: CompileOptions,
}

/// A change of options, with the words of the command line that make it.
pub(crate) struct Change {
    flags: String,
    options: CompileOptions,
}

impl Change {
    fn new(flags: String, options: &CompileOptions, change: impl FnOnce(&mut CompileOptions)) -> Change {
        let mut options = CompileOptions { budget_bytes: None, ..options.unobserved() };
        change(&mut options);
        Change { flags, options }
    }

    /// To the goal `memory`, if that is not the goal.
    fn sparing(options: &CompileOptions) -> Option<Change> {
        let change = |changed: &mut CompileOptions| changed.goal = Goal::Memory;
        (options.goal != Goal::Memory).then(|| Change::new("--optimize=memory".to_owned(), options, change))
    }

    /// To one thread, if there are several: each has scratch of its own.
    fn alone(options: &CompileOptions) -> Option<Change> {
        let change = |changed: &mut CompileOptions| changed.threads = 1;
        (options.threads > 1).then(|| Change::new("--threads=1".to_owned(), options, change))
    }

    /// To numbers of 16 bits, if those of the program are what it computes in.
    fn in_half_numbers(options: &CompileOptions) -> Option<Change> {
        let change = |changed: &mut CompileOptions| changed.precision = Precision::Bf16;
        (options.precision == Precision::default())
            .then(|| Change::new(HALF_NUMBERS.to_owned(), options, change))
    }

    /// To half of what each named size is planned for; these are the sizes, with the least that they may be.
    fn halved_sizes(options: &CompileOptions, sizes: &[SizeToHalve]) -> Vec<Change> {
        let halved = |size: &SizeToHalve| {
            let range = (size.least, size.planned / 2);
            let flag = format!("--dim='{}<={}'", size.name, range.1);
            let change = |changed: &mut CompileOptions| {
                changed.sizes.ranges.insert(size.name.clone(), range);
            };
            Change::new(flag, options, change)
        };
        sizes.iter().filter(|size| size.planned / 2 > size.least).map(halved).collect()
    }

    /// To one with this input donated, for each input that is not.
    fn donations(module: &Module, entry: &str, options: &CompileOptions) -> Vec<Change> {
        let signature = signature(module, entry);
        let inputs = signature.iter().flat_map(|signature| signature.inputs());
        let kept = inputs.filter(|input| !input.is_donated && !options.donated.contains(&input.name));
        let donation = |name: &String| {
            let flag = format!("--donate={name}");
            Change::new(flag, options, |changed| changed.donated.push(name.clone()))
        };
        kept.take(MOST_DONATIONS).map(|input| donation(&input.name)).collect()
    }

    /// To the least arena that is found by computing values again.
    fn recomputing(module: &Module, entry: &str, options: &CompileOptions) -> Option<Change> {
        let least = least_bytes(module, entry, &options.unobserved()).ok()?;
        let flag = format!("{BUDGET}{least}");
        Some(Change::new(flag, options, |changed| changed.budget_bytes = Some(least)))
    }
}

/// The changes that cost no more than planning twice again, for a summary.
pub(crate) fn quick_changes(options: &CompileOptions) -> Vec<Change> {
    Change::sparing(options).into_iter().chain(Change::alone(options)).collect()
}

/// The changes that a budget does not make by itself.
pub(crate) fn changes_beside_budget(module: &Module, entry: &str, options: &CompileOptions) -> Vec<Change> {
    Change::donations(module, entry, options).into_iter().chain(Change::alone(options)).collect()
}

/// A named size that could be smaller.
pub(crate) struct SizeToHalve {
    pub(crate) name: String,
    pub(crate) least: u64,
    /// What it is planned for.
    pub(crate) planned: u64,
}

/// All changes that there are for named sizes.
pub(crate) fn changes_at_named_sizes(
    module: &Module,
    entry: &str,
    options: &CompileOptions,
    sizes: &[SizeToHalve],
) -> Vec<Change> {
    let halved = Change::halved_sizes(options, sizes);
    changes_at_any_sizes(module, entry, options).into_iter().chain(halved).collect()
}

/// All changes that there are for known and for named sizes.
fn changes_at_any_sizes(module: &Module, entry: &str, options: &CompileOptions) -> Vec<Change> {
    let mut changes = quick_changes(options);
    if let (Some(sparing), true) = (Change::sparing(options), options.threads > 1) {
        let both = Change::alone(&sparing.options);
        let flags = |alone: &Change| format!("{} {}", sparing.flags, alone.flags);
        changes.extend(both.map(|alone| Change { flags: flags(&alone), ..alone }));
    }
    changes.extend(Change::donations(module, entry, options));
    changes
}

/// All changes.
pub(crate) fn all_changes(module: &Module, entry: &str, options: &CompileOptions) -> Vec<Change> {
    let recomputing = Change::recomputing(module, entry, options);
    let others = recomputing.into_iter().chain(Change::in_half_numbers(options));
    changes_at_any_sizes(module, entry, options).into_iter().chain(others).collect()
}

/// What a plan with some options takes: bytes of the arena, and operations that run.
pub(crate) type PlanCost = (u64, usize);

/// Those changes that make the arena of a module, which is not planned yet, smaller than `arena_bytes`; the
/// one that saves most first.
pub(crate) fn levers(module: &Module, entry: &str, changes: Vec<Change>, arena_bytes: u64) -> Vec<Advice> {
    let cost = |options: &CompileOptions| {
        let mut trial = module.clone();
        plan_known_sizes(&mut trial, entry, options)?;
        Ok(planned_cost(&trial, entry))
    };
    levers_of(changes, arena_bytes, &cost)
}

/// The same for a module of named sizes. Its arena is the one that is enough at all sizes; if none is, that
/// at the sizes that are taken where none is said.
pub(crate) fn levers_at_named_sizes(
    module: &Module,
    options: &CompileOptions,
    changes: Vec<Change>,
) -> Vec<Advice> {
    let cost = |options: &CompileOptions| {
        let all = AllSizes::decide(&mut module.clone(), options)?;
        let (at_sample, _) = planned_cost(&all.at(all.sample())?, all.entry());
        Ok((all.bound().map_or(at_sample, Bound::size_bytes), all.steps()))
    };
    let Ok((arena_bytes, _)) = cost(&options.unobserved()) else { return Vec::new() };
    levers_of(changes, arena_bytes, &cost)
}

/// What a planned function takes.
pub(crate) fn planned_cost(planned: &Module, entry: &str) -> PlanCost {
    let body = planned.function(entry).expect("the entry was just planned");
    let weights = WeightSet::of(&planned.ctx, body);
    let steps = passes::liveness::Steps::of(&planned.ctx, body, &weights).iter().count();
    (attrs::arena_bytes(&planned.ctx, body).unwrap_or(0), steps)
}

/// The same, where `cost` says what a plan takes.
pub(crate) fn levers_of(
    changes: Vec<Change>,
    arena_bytes: u64,
    cost: &dyn Fn(&CompileOptions) -> Result<PlanCost, Failure>,
) -> Vec<Advice> {
    let advice = |Change { flags, options }: Change| {
        let found = cost(&options).ok()?;
        Some(Advice { lever: Lever::new(flags, arena_bytes, found)?, options })
    };
    let mut all: Vec<Advice> = changes.into_iter().filter_map(advice).collect();
    all.sort_by_key(|advice| Reverse(advice.lever.saved_bytes));
    // A budget that another change meets by itself, with the same numbers, says nothing new.
    let is_budget = |lever: &Lever| lever.flags.starts_with(BUDGET);
    let same_numbers = all.iter().map(|advice| &advice.lever).filter(|lever| lever.flags != HALF_NUMBERS);
    let least = same_numbers.filter(|lever| !is_budget(lever)).map(|lever| lever.arena_bytes).min();
    all.retain(|Advice { lever, .. }| {
        !is_budget(lever) || least.is_none_or(|least| lever.arena_bytes < least)
    });
    all
}
