//! Options that would lower the arena of a program: each is tried by planning again, so its figure is exact.

use std::cmp::Reverse;

use ir::Module;
use ir::plan::attrs;
use ir::weights::WeightSet;
use serde::Serialize;

use crate::compile::{CompileOptions, signature};
use crate::failure::Failure;

#[cfg(feature = "cli")]
mod changes;

#[cfg(feature = "cli")]
pub(crate) use changes::{
    SizeToHalve, all_changes, changes_at_named_sizes, levers, levers_at_named_sizes, quick_changes,
};

/// The limit of inputs whose donation is tried.
const MOST_DONATIONS: usize = 8;

/// The flag for numbers of 16 bits.
const HALF_NUMBERS: &str = "--precision=bf16";

/// The first characters of the flag for a budget.
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
    /// A lever that adds flags to the command line, for an arena of `arena_bytes`; none if they do not make
    /// it smaller.
    pub(crate) fn new(flags: String, arena_bytes: u64, (found, steps): PlanCost) -> Option<Lever> {
        let saved_bytes = arena_bytes.checked_sub(found).filter(|saved| *saved > 0)?;
        let (replaces, run_ratio) = (None, None);
        Some(Lever { flags, replaces, runs: 1, arena_bytes: found, saved_bytes, steps, run_ratio })
    }
}

/// A change that makes the arena smaller, with the options that were tried.
pub(crate) struct Advice {
    pub(crate) lever: Lever,
    #[cfg(feature = "cli")]
    pub(crate) options: CompileOptions,
}

/// A change of options, with its words on the command line.
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

    /// One thread instead of several, each of which needs its own scratch.
    fn alone(options: &CompileOptions) -> Option<Change> {
        let change = |changed: &mut CompileOptions| changed.threads = 1;
        (options.threads > 1).then(|| Change::new("--threads=1".to_owned(), options, change))
    }

    /// For each input that is not donated, the change that donates it.
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
}

/// The changes that a budget does not try by itself.
pub(crate) fn changes_beside_budget(module: &Module, entry: &str, options: &CompileOptions) -> Vec<Change> {
    Change::donations(module, entry, options).into_iter().chain(Change::alone(options)).collect()
}

/// The cost of a plan: bytes of the arena, and operations that run.
pub(crate) type PlanCost = (u64, usize);

/// The cost of a planned function.
pub(crate) fn planned_cost(planned: &Module, entry: &str) -> PlanCost {
    let body = planned.function(entry).expect("the entry was just planned");
    let weights = WeightSet::of(&planned.ctx, body);
    let steps = passes::liveness::Steps::of(&planned.ctx, body, &weights).iter().count();
    (attrs::arena_bytes(&planned.ctx, body).unwrap_or(0), steps)
}

/// Those changes that make an arena smaller than `arena_bytes`, by the costs of their plans; the largest
/// saving first.
pub(crate) fn levers_of(
    changes: Vec<Change>,
    arena_bytes: u64,
    cost: &dyn Fn(&CompileOptions) -> Result<PlanCost, Failure>,
) -> Vec<Advice> {
    let advice = |Change { flags, options }: Change| {
        let found = cost(&options).ok()?;
        Some(Advice {
            lever: Lever::new(flags, arena_bytes, found)?,
            #[cfg(feature = "cli")]
            options,
        })
    };
    let mut all: Vec<Advice> = changes.into_iter().filter_map(advice).collect();
    all.sort_by_key(|advice| Reverse(advice.lever.saved_bytes));
    // A budget that another change meets by itself, with the same precision, adds nothing.
    let is_budget = |lever: &Lever| lever.flags.starts_with(BUDGET);
    let same_numbers = all.iter().map(|advice| &advice.lever).filter(|lever| lever.flags != HALF_NUMBERS);
    let least = same_numbers.filter(|lever| !is_budget(lever)).map(|lever| lever.arena_bytes).min();
    all.retain(|Advice { lever, .. }| {
        !is_budget(lever) || least.is_none_or(|least| lever.arena_bytes < least)
    });
    all
}
