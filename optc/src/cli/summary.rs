//! The summaries of runs and plans.

use std::time::{Duration, Instant};

use ir::Module;
use ir::diag::did_you_mean;
use runtime::{ElementKind, Program};

use crate::arrays::Array;
use crate::failure::Failure;
use crate::model::Model;
use crate::plan_report::{PROVED_FOR, PlanReport, PoolReport, plan_report};

/// The number of largest elements to show of an output.
const TOP: usize = 5;

/// An output of at most this number of elements is shown completely, in order.
const FEW: usize = 16;

/// A line for each output: its shape, and all elements if they are few, otherwise the largest with their
/// indices; for strings the first ones.
pub(super) fn top_results(outputs: &[Array]) -> String {
    outputs.iter().map(top_result).collect()
}

fn top_result(output: &Array) -> String {
    if let Some(strings) = output.to_strings() {
        let first: Vec<String> = strings.iter().take(TOP).map(|string| format!("{string:?}")).collect();
        return format!("output `{}` {:?}: first {}\n", output.name, output.shape, first.join(", "));
    }
    let values = output.to_f64();
    let number =
        |value: f64| if is_whole(output.element) { format!("{value}") } else { format!("{value:.5}") };
    if values.len() <= FEW {
        let all: Vec<String> = values.iter().map(|value| number(*value)).collect();
        let all = if all.is_empty() { "no elements".to_owned() } else { all.join(", ") };
        return format!("output `{}` {:?}: {all}\n", output.name, output.shape);
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    let top: Vec<String> =
        order.iter().take(TOP).map(|index| format!("[{index}] {}", number(values[*index]))).collect();
    let nan = match values.iter().filter(|value| value.is_nan()).count() {
        0 => String::new(),
        count => format!("; {count} of {} are NaN", values.len()),
    };
    format!("output `{}` {:?}: top {}{nan}\n", output.name, output.shape, top.join(", "))
}

/// Whether elements are integers or booleans.
fn is_whole(element: ElementKind) -> bool {
    use ElementKind::{Bool, I2, I4, I8, I16, I32, I64, U2, U4, U8, U16, U32, U64};
    matches!(element, Bool | I2 | I4 | I8 | I16 | I32 | I64 | U2 | U4 | U8 | U16 | U32 | U64)
}

/// The arena, its lower bound, and its size without reuse.
pub(super) fn memory_line(module: &Module, entry: &str, program: &Program) -> Result<String, Failure> {
    let body = module.function(entry).expect("the entry was just compiled");
    Ok(memory_summary(&plan_report(&module.ctx, body, program.weights_bytes() as u64)?))
}

/// The memory that a program with named sizes allocates at any of them.
pub(super) fn named_memory_line(program: &Program) -> String {
    let arena = match program.bound_bytes() {
        Some(bytes) => format!("arena {bytes} bytes, enough at all sizes"),
        None => "the arena grows with the sizes".to_owned(),
    };
    format!("{arena}; weights {} bytes\n", program.weights_bytes())
}

/// The sizes of a run, and the cost of specialization.
pub(super) struct Specialized {
    /// Each named size with its number.
    sizes: Vec<(String, u64)>,
    /// The time to specialize the program to these sizes; none if that was done before.
    cost: Option<Duration>,
    arena_bytes: usize,
    /// The number of steps without room for their faster algorithm.
    given_up: usize,
}

impl Specialized {
    /// Prepares a model for the sizes of arrays.
    pub(super) fn of(model: &mut Model, inputs: &[Array]) -> Result<Specialized, Failure> {
        let before = model.program().specialized();
        let start = Instant::now();
        let prepared = model.prepare_for(inputs)?;
        let taken = start.elapsed();
        let is_new = model.program().specialized() > before;
        let names = model.program().symbols().iter().map(|symbol| symbol.name.clone());
        let sizes = names.zip(model.sizes().iter().copied()).collect();
        let (arena_bytes, given_up) = (prepared.arena_bytes(), prepared.given_up());
        Ok(Specialized { sizes, cost: is_new.then_some(taken), arena_bytes, given_up })
    }

    /// The sizes, and the memory of a run at them; empty without named sizes.
    pub(super) fn sizes_text(&self) -> String {
        if self.sizes.is_empty() {
            return String::new();
        }
        let sizes: Vec<String> = self.sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
        let given_up = match self.given_up {
            0 => String::new(),
            count => format!("; the arena of all sizes has no room to compute {count} of its steps faster"),
        };
        format!("at {}: arena {} bytes{given_up}\n", sizes.join(", "), self.arena_bytes)
    }

    /// The cost of a new size, as text.
    pub(super) fn cost_text(&self) -> String {
        let text = |cost: f64| format!("specialized in {cost:.0} us");
        self.cost_us().map_or_else(|| "specialized before".to_owned(), text)
    }

    /// The cost of a new size in microseconds.
    pub(super) fn cost_us(&self) -> Option<f64> {
        self.cost.map(|cost| cost.as_secs_f64() * 1e6)
    }

    /// The sizes with their names.
    pub(super) fn sizes(&self) -> &[(String, u64)] {
        &self.sizes
    }

    /// The arena of a run at these sizes.
    pub(super) fn arena_bytes(&self) -> usize {
        self.arena_bytes
    }
}

/// The memory summary of a plan report.
pub(super) fn memory_summary(report: &PlanReport) -> String {
    let weights = format!("; weights {}", bytes(report.weights_bytes));
    arena_line(report) + &weights + "\n" + &other_pools(report)
}

/// Like [`memory_summary`] without weights.
pub(super) fn arena_text(report: &PlanReport) -> String {
    arena_line(report) + "\n" + &other_pools(report)
}

fn arena_line(report: &PlanReport) -> String {
    let arena = &report.pools[0];
    let reuse = reuse(arena.size_bytes, report.naive_bytes);
    format!("arena {}, {}{reuse}", bytes(arena.size_bytes), verdict(arena))
}

fn other_pools(report: &PlanReport) -> String {
    let line = |pool: &PoolReport| match pool.size_bytes {
        0 => empty_pool(&pool.name, report),
        size_bytes => format!("pool `{}` {}, {}\n", pool.name, bytes(size_bytes), verdict(pool)),
    };
    report.pools[1..].iter().map(line).collect()
}

/// A hint for an empty pool, whose name may be mistyped.
fn empty_pool(name: &str, report: &PlanReport) -> String {
    let others = report.pools.iter().map(|pool| pool.name.as_str()).filter(|other| *other != name);
    let hint = did_you_mean(name, others).map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("pool `{name}` is empty: no `mem.pool` names it{hint}\n")
}

/// How close a pool is to its lower bound.
fn verdict(pool: &PoolReport) -> String {
    if pool.proved_best {
        return format!("optimal for {PROVED_FOR}");
    }
    let above = pool.size_bytes as f64 / pool.lower_bound_bytes.max(1) as f64 - 1.0;
    let bound = pool.lower_bound_bytes;
    format!("at most {:.1} % above the optimum for {PROVED_FOR} (at least {bound} bytes)", 100.0 * above)
}

/// The saving compared with an arena in which nothing shares bytes.
fn reuse(arena_bytes: u64, naive_bytes: u64) -> String {
    let times = naive_bytes as f64 / arena_bytes as f64;
    match arena_bytes {
        0 => String::new(),
        _ if times < 1.05 => format!("; without reuse {}", bytes(naive_bytes)),
        _ if times < 9.95 => format!("; {times:.1} times less than without reuse ({naive_bytes} bytes)"),
        _ => format!("; {times:.0} times less than without reuse ({naive_bytes} bytes)"),
    }
}

/// `1 step`, `2 steps`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A number of bytes; from ten thousand on also in a larger unit.
pub(super) fn bytes(bytes: u64) -> String {
    let number = bytes as f64;
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..1_000_000 => format!("{:.1} kB ({bytes} bytes)", number / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} MB ({bytes} bytes)", number / 1e6),
        _ => format!("{:.2} GB ({bytes} bytes)", number / 1e9),
    }
}
