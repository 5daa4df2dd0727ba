//! The pipeline `default`: all passes from a function's present stage to its plan.

use super::{PassDef, Registry, Stage};
use crate::lines::LINES;
use crate::precision::Precision;
use crate::tradeoff::Goal;

/// The passes before all stages. They inline calls, so that the whole call tree has one arena; remaining
/// calls can't be compiled.
pub const BEFORE_STAGES: &str = "inline{max-ops=1000000},symbol-dce,integers,variants";

/// The name of the pipeline in lists of passes. It has the options of the pass `plan`.
pub(super) const DEFAULT: &str = "default";

/// The pass between `schedule` and the next stage, if the goal needs one.
pub fn after_schedule(goal: Goal) -> Option<&'static PassDef> {
    (goal == Goal::Memory).then_some(&LINES)
}

/// The text of the pipeline for functions that have reached the stage `reached`, if any. With a budget,
/// values are recomputed until the arena has at most that many bytes. With `Precision::Bf16`, numbers are
/// rounded before kernels are selected. The passes of [`Registry::extend_default`] are inserted after their
/// stages, or before all.
pub fn default_pipeline(
    registry: &Registry,
    reached: Option<Stage>,
    goal: Goal,
    budget_bytes: Option<u64>,
    precision: Precision,
) -> String {
    let missing = Stage::ALL.into_iter().filter(|stage| Some(*stage) > reached);
    let put = |after: Option<Stage>| registry.extensions(after).map(str::to_owned);
    let before = reached.is_none().then_some(BEFORE_STAGES.to_owned());
    let before = before.into_iter().flat_map(|before| put(None).chain([before]));
    let stages = missing.filter_map(|stage| {
        let name = registry.of_stage(stage)?.name;
        let passes = match stage {
            Stage::Plan => format!("{name}{{optimize={}}}", goal.name()),
            Stage::Schedule => {
                let recompute =
                    budget_bytes.map_or(String::new(), |bytes| format!("recompute{{budget={bytes}}},"));
                let after = after_schedule(goal).map_or(String::new(), |after| format!(",{}", after.name));
                format!("{recompute}{name}{after}")
            }
            Stage::Select if precision == Precision::Bf16 => format!("precision,{name}"),
            _ => name.to_owned(),
        };
        Some(std::iter::once(passes).chain(put(Some(stage))))
    });
    before.chain(stages.flatten()).collect::<Vec<String>>().join(",")
}
