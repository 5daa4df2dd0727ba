//! What a run and a plan say of themselves in a few lines.

use ir::Module;
use runtime::Program;

use crate::arrays::Array;
use crate::failure::Failure;
use crate::plan_report::{PlanReport, plan_report};

/// How many of the largest elements of an output are shown.
const TOP: usize = 5;

/// A line for each output: its shape, and its largest elements with their indices.
pub(super) fn top_results(outputs: &[Array]) -> String {
    outputs.iter().map(top_result).collect()
}

fn top_result(output: &Array) -> String {
    let values = output.to_f64();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    let top: Vec<String> =
        order.iter().take(TOP).map(|index| format!("[{index}] {:.5}", values[*index])).collect();
    format!("output `{}` {:?}: top {}\n", output.name, output.shape, top.join(", "))
}

/// Arena against its bound and against no reuse.
pub(super) fn memory_line(module: &Module, entry: &str, program: &Program) -> Result<String, Failure> {
    Ok(memory_summary(&report(module, entry, program)?))
}

/// The plan of a compiled program.
pub(super) fn report(module: &Module, entry: &str, program: &Program) -> Result<PlanReport, Failure> {
    let body = module.function(entry).expect("the entry was just compiled");
    plan_report(&module.ctx, body, program.weights_bytes() as u64)
}

/// The same, of a plan that was read already.
pub(super) fn memory_summary(report: &PlanReport) -> String {
    let arena = &report.pools[0];
    let share = |part: u64, whole: u64| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let others = report.pools[1..].iter().map(|pool| {
        format!("pool `{}` {} bytes: lower bound {}\n", pool.name, pool.size_bytes, pool.lower_bound_bytes)
    });
    let others: String = others.collect();
    let verdict = if arena.proved_best { "proved best" } else { "not proved best" };
    format!(
        "arena {} bytes: {:.3} x its lower bound ({}), {verdict}, {:.3} x no reuse ({}); weights {} bytes\n{others}",
        arena.size_bytes,
        share(arena.size_bytes, arena.lower_bound_bytes),
        arena.lower_bound_bytes,
        share(arena.size_bytes, report.naive_bytes),
        report.naive_bytes,
        report.weights_bytes,
    )
}
