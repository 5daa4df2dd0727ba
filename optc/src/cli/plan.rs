//! `optc plan`: the arena's size and the place of every value.

use std::path::PathBuf;

use clap::Args;
use ir::size::tensor_bytes;
use ir::weights::WeightSet;
use ir::{Module, Value};
use passes::place::csv;
use passes::plan::{ArenaProblem, BufferContent};

use super::explain::{levers_text, peak_text};
use super::output::{instead, is_stdout, json};
use super::summary::memory_summary;
use super::symbolic;
use super::{FileArgs, MachineArgs, MemoryArgs, write_output};
use crate::compile::{CompileOptions, DeadMemory, entry, plan_known_sizes};
use crate::explain::ArenaOverTime;
use crate::failure::Failure;
use crate::levers::{levers, quick_changes};
use crate::load::load;
use crate::plan_report::{PlanReport, plan_report};
use crate::specialize::has_named_sizes;

/// Print the size of the arena; with `--json`, the place of every value.
#[derive(Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Write the plan as JSON to a file; `-` prints it instead of the summary.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    /// Write the placement problem as CSV to a file; `-` prints it instead of the summary.
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
    /// Write the summary to a file.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Function to compile [default: the only public one, else `main`].
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
}

pub(super) fn run(args: &PlanArgs) -> Result<(), Failure> {
    write_output(&text(args)?, args.output.as_ref())
}

/// What is printed.
pub(super) fn text(args: &PlanArgs) -> Result<String, Failure> {
    if [&args.json, &args.csv].iter().all(|path| path.as_ref().is_some_and(|path| is_stdout(path))) {
        return Err(Failure::Usage("--json and --csv can't both go to standard output".to_owned()));
    }
    let mut module = load(&args.file.file, &args.file.options()?)?;
    let entry = entry(&module, args.entry.as_deref())?;
    let options = args.memory.options(&args.machine, &entry, DeadMemory::Kept);
    let body = module.function(&entry).expect("the entry was just found");
    if has_named_sizes(&module.ctx, body) {
        if args.csv.is_some() {
            return Err(Failure::input(
                "a placement problem is one of known sizes: give them with `--dim NAME=SIZE`",
            ));
        }
        let report = symbolic::report(&mut module, &options)?;
        return instead(&args.json, || json(&report), report.text());
    }
    let given = module.clone();
    plan_known_sizes(&mut module, &entry, &options)?;
    let (weights_bytes, note) = weights(&module, &entry, &options);
    let body = module.function(&entry).expect("the entry was just planned");
    let report = plan_report(&module.ctx, body, weights_bytes)?;
    let is_summary =
        [&args.json, &args.csv].iter().all(|path| path.as_ref().is_none_or(|path| !is_stdout(path)));
    let mut printed =
        if is_summary { summary(&given, &module, &report, &options)? + &note } else { String::new() };
    if args.csv.is_some() {
        let ctx = &module.ctx;
        let body = module.function(&entry).expect("the entry was just compiled");
        let aliases = ir::alias::AliasSets::of(ctx, body);
        let arena =
            ArenaProblem::of(ctx, body, &aliases).map_err(|faults| Failure::diagnostics(ctx, &faults))?;
        let names: Vec<String> = arena.contents.values().map(content_name).collect();
        printed = instead(&args.csv, || csv::write(&arena.problem, &names, None), printed)?;
    }
    instead(&args.json, || json(&report), printed)
}

/// The bytes of weights as kernels want them packed; where there is no machine code, as they are, with a line
/// that says so.
fn weights(module: &Module, entry: &str, options: &CompileOptions) -> (u64, String) {
    let faults = match codegen::weights_bytes(module, entry, &options.code()) {
        Ok(bytes) => return (bytes, String::new()),
        Err(faults) => faults,
    };
    let (ctx, body) = (&module.ctx, module.function(entry).expect("the entry was just planned"));
    let weights = WeightSet::of(ctx, body);
    let mut read: Vec<Value> = Vec::new();
    ir::flow::walk(ctx, body, |op| {
        if !weights.is_weight_op(body, op) {
            read.extend(body.operands(op).filter(|operand| weights.contains(*operand)));
        }
    });
    read.sort_unstable();
    read.dedup();
    let bytes = read.iter().filter_map(|weight| tensor_bytes(ctx, body.ty(*weight))).sum();
    let why = faults.first().map_or("", |fault| &fault.message);
    (bytes, format!("weights are as in the program, for there is no machine code: {why}\n"))
}

/// The most steps of a program whose plan is made again for what would lower its arena; of a larger one
/// `optc explain` says it.
const MOST_STEPS: usize = 5000;

/// The most buffers of the peak that a summary lists.
const MOST_BUFFERS: usize = 10;

/// The size of the arena, what its peak consists of, and which options would lower it. `given` is the module
/// before it was planned.
fn summary(
    given: &Module,
    planned: &Module,
    report: &PlanReport,
    options: &CompileOptions,
) -> Result<String, Failure> {
    let threads = options.threads;
    let steps = format!(
        "{} steps on {threads} {}; inputs {} bytes, outputs {} bytes\n",
        report.steps.len(),
        if threads == 1 { "thread" } else { "threads" },
        report.inputs_bytes,
        report.outputs_bytes
    );
    let entry = options.entry.as_deref().expect("the command names it");
    let body = planned.function(entry).expect("the entry was just compiled");
    let memory = ArenaOverTime::of(&planned.ctx, body)?;
    let changes = if report.steps.len() > MOST_STEPS { Vec::new() } else { quick_changes(options) };
    let levers = levers(given, entry, changes, memory.arena_bytes);
    Ok(memory_summary(report) + &steps + &peak_text(&memory, MOST_BUFFERS) + &levers_text(&levers))
}

fn content_name(content: &BufferContent) -> String {
    match content {
        BufferContent::Root(value) => value.to_string(),
        BufferContent::Scratch(op) => format!("scratch_{op}"),
    }
}
