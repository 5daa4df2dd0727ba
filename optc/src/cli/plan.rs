//! `optc plan`: the arena's size and the place of every value.

use std::path::PathBuf;

use clap::Args;
use passes::place::csv;
use passes::plan::{ArenaProblem, BufferContent};
use serde::Serialize;

use super::output::is_stdout;
use super::summary::{memory_summary, report};
use super::symbolic;
use super::{FileArgs, MachineArgs, MemoryArgs, write_output};
use crate::compile::{DeadMemory, compile, entry};
use crate::failure::Failure;
use crate::load::load;
use crate::plan_report::PlanReport;
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
    let threads = args.machine.threads;
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
    let program = compile(&mut module, &options)?;
    let report = report(&module, &entry, &program)?;
    let mut printed = summary(&report, threads);
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

fn summary(report: &PlanReport, threads: usize) -> String {
    let steps = format!(
        "{} steps on {threads} threads; inputs {} bytes, outputs {} bytes\n",
        report.steps.len(),
        report.inputs_bytes,
        report.outputs_bytes
    );
    memory_summary(report) + &steps
}

fn json(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).expect("a report is plain JSON") + "\n"
}

/// What is printed: a text that is asked for at `-`, else what was to be printed. A text that is asked for in
/// a file is written there.
fn instead(
    path: &Option<PathBuf>,
    text: impl FnOnce() -> String,
    printed: String,
) -> Result<String, Failure> {
    match path {
        None => Ok(printed),
        Some(path) if is_stdout(path) => Ok(text()),
        Some(path) => write_output(&text(), Some(path)).map(|()| printed),
    }
}

fn content_name(content: &BufferContent) -> String {
    match content {
        BufferContent::Root(value) => value.to_string(),
        BufferContent::Scratch(op) => format!("scratch_{op}"),
    }
}
