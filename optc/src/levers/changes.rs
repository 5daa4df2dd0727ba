//! The changes that the command tries: the quick ones in `optc plan`, all in `optc explain`.

use ir::Module;
use passes::memory::bound::Bound;

use super::{Advice, BUDGET, Change, HALF_NUMBERS, levers_of, planned_cost};
use crate::budget::least_bytes;
use crate::compile::{CompileOptions, Goal, Precision, plan_known_sizes};
use crate::specialize::AllSizes;

impl Change {
    /// The goal `memory`, if it is not set already.
    fn sparing(options: &CompileOptions) -> Option<Change> {
        let change = |changed: &mut CompileOptions| changed.goal = Goal::Memory;
        (options.goal != Goal::Memory).then(|| Change::new("--optimize=memory".to_owned(), options, change))
    }

    /// Numbers of 16 bits, if the program uses the default precision.
    fn in_half_numbers(options: &CompileOptions) -> Option<Change> {
        let change = |changed: &mut CompileOptions| changed.precision = Precision::Bf16;
        (options.precision == Precision::default())
            .then(|| Change::new(HALF_NUMBERS.to_owned(), options, change))
    }

    /// For each named size, half of the planned one, unless that is below its least value.
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

    /// The smallest arena found by recomputation.
    fn recomputing(module: &Module, entry: &str, options: &CompileOptions) -> Option<Change> {
        let least = least_bytes(module, entry, &options.unobserved()).ok()?;
        let flag = format!("{BUDGET}{least}");
        Some(Change::new(flag, options, |changed| changed.budget_bytes = Some(least)))
    }
}

/// The changes that cost no more than planning twice, for a summary.
pub(crate) fn quick_changes(options: &CompileOptions) -> Vec<Change> {
    Change::sparing(options).into_iter().chain(Change::alone(options)).collect()
}

/// A named size that could be smaller.
pub(crate) struct SizeToHalve {
    pub(crate) name: String,
    pub(crate) least: u64,
    /// The planned size.
    pub(crate) planned: u64,
}

/// All changes for named sizes.
pub(crate) fn changes_at_named_sizes(
    module: &Module,
    entry: &str,
    options: &CompileOptions,
    sizes: &[SizeToHalve],
) -> Vec<Change> {
    let halved = Change::halved_sizes(options, sizes);
    changes_at_any_sizes(module, entry, options).into_iter().chain(halved).collect()
}

/// All changes for both known and named sizes.
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

/// Those changes that make the arena of a module without a plan smaller than `arena_bytes`.
pub(crate) fn levers(module: &Module, entry: &str, changes: Vec<Change>, arena_bytes: u64) -> Vec<Advice> {
    let cost = |options: &CompileOptions| {
        let mut trial = module.clone();
        plan_known_sizes(&mut trial, entry, options)?;
        Ok(planned_cost(&trial, entry))
    };
    levers_of(changes, arena_bytes, &cost)
}

/// Like [`levers`] for a module with named sizes. Its arena is the one that suffices at all sizes; if there
/// is none, the one at the default sizes.
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
