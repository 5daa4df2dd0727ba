//! `optc plan`: the arena's size and the place of every value.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use ir::size::tensor_bytes;
use ir::weights::WeightSet;
use ir::{Module, Value};
use passes::place::csv;
use passes::plan::{ArenaProblem, BufferContent};

use super::compiled::CompileArgs;
use super::explain::{levers_text, peak_text};
use super::output::{check_writable, instead, is_stdout, json};
use super::summary::{counted, memory_summary};
use super::symbolic;
use super::{FileArgs, progress, write_output};
use crate::compile::{CompileOptions, DeadMemory, entry};
use crate::explain::{Explained, Grid};
use crate::failure::Failure;
use crate::levers::{Lever, quick_changes};
use crate::opt::Setup;
use crate::specialize::{AllSizes, has_named_sizes};
use crate::view;

/// Plan a program, and print the size of its arena; with `--json`, the place of every value.
#[derive(Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Another program, to show both plans side by side: which values are new, removed, moved, or live
    /// longer.
    #[arg(value_name = "OTHER", requires = "html")]
    other: Option<PathBuf>,
    #[command(flatten)]
    compile: CompileArgs,
    /// Write the plan as JSON to a file; `-` prints it instead of the summary.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    /// Write the placement problem as CSV to a file; `-` prints it instead of the summary.
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
    /// Draw the plan to an HTML file: one page for a browser, which needs no network.
    #[arg(long, value_name = "F.html")]
    html: Option<PathBuf>,
    /// Open that page in the browser.
    #[arg(long, requires = "html")]
    open: bool,
    /// Write the summary to a file.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(setup: &Setup, args: &PlanArgs) -> Result<(), Failure> {
    write_output(&text(setup, args)?, args.output.as_ref())
}

/// The printed text.
pub(super) fn text(setup: &Setup, args: &PlanArgs) -> Result<String, Failure> {
    if [&args.json, &args.csv, &args.html].into_iter().filter(|path| is_printed(path)).count() > 1 {
        return Err(Failure::Usage(
            "only one of --json, --csv and --html can go to standard output".to_owned(),
        ));
    }
    check_writable([&args.json, &args.csv, &args.html, &args.output].into_iter().flatten())?;
    let _limits = args.compile.limits.hold()?;
    if let Some(other) = &args.other {
        return compare(setup, args, other);
    }
    progress::say("loading");
    let mut module = args.compile.load(&args.file.file, &args.file.plan_options(setup)?)?;
    let entry = entry(&module, args.compile.entry.as_deref())?;
    let options = args.compile.options(setup, &entry, DeadMemory::Kept)?;
    let body = module.function(&entry).expect("the entry was just found");
    if has_named_sizes(&module.ctx, body) {
        if args.csv.is_some() {
            return Err(Failure::input(
                "a placement problem is one of known sizes: give them with `--dim NAME=SIZE`",
            ));
        }
        let all = AllSizes::decide(&mut module, &options)?;
        if args.html.is_some() {
            let mut grid = Grid::of(&all);
            for plan in grid.plans.iter_mut().flatten() {
                plan.report.weights_bytes = weights(&plan.planned, &plan.entry, &options).0;
            }
            show(args, || view::page_of_sizes(&title(&args.file.file), &grid))?;
        }
        let report = symbolic::report(&all)?;
        let text = if is_printed(&args.html) { String::new() } else { report.text() };
        return instead(&args.json, || json(&report), text);
    }
    let mut explained = Explained::of(&module, &entry, &options, &[])?;
    let (weights_bytes, note) = weights(&explained.planned, &explained.entry, &options);
    explained.report.weights_bytes = weights_bytes;
    let (planned, report) = (&explained.planned, &explained.report);
    let is_summary = !is_printed(&args.json) && !is_printed(&args.csv) && !is_printed(&args.html);
    let wants_levers = (is_summary || args.html.is_some()) && report.steps.len() <= MOST_STEPS;
    let changes = if wants_levers { quick_changes(&options) } else { Vec::new() };
    let levers: Vec<Lever> =
        explained.levers(&module, changes).into_iter().map(|advice| advice.lever).collect();
    show(args, || view::page(&title(&args.file.file), &explained, &levers))?;
    let mut printed = String::new();
    if is_summary {
        printed = summary(&explained, &levers, options.threads) + &note;
    }
    if args.csv.is_some() {
        let ctx = &planned.ctx;
        let body = planned.function(&explained.entry).expect("the entry was just planned");
        let aliases = ir::alias::AliasSets::of(ctx, body);
        let arena =
            ArenaProblem::of(ctx, body, &aliases).map_err(|faults| Failure::diagnostics(ctx, &faults))?;
        let names: Vec<String> = arena.contents.values().map(content_name).collect();
        printed = instead(&args.csv, || csv::write(&arena.problem, &names, None), printed)?;
    }
    instead(&args.json, || json(report), printed)
}

/// Shows the plans of two programs side by side.
fn compare(setup: &Setup, args: &PlanArgs, other: &Path) -> Result<String, Failure> {
    if args.json.is_some() || args.csv.is_some() {
        return Err(Failure::Usage("--json and --csv are of one plan".to_owned()));
    }
    let explained = |path: &Path| {
        let module = args.compile.load(path, &args.file.plan_options(setup)?)?;
        let entry = entry(&module, args.compile.entry.as_deref())?;
        let options = args.compile.options(setup, &entry, DeadMemory::Kept)?;
        let mut explained = Explained::of(&module, &entry, &options, &[])?;
        explained.report.weights_bytes = weights(&explained.planned, &explained.entry, &options).0;
        Ok::<_, Failure>((title(path), explained))
    };
    let [(name, before), (other_name, after)] = [explained(&args.file.file)?, explained(other)?];
    show(args, || view::page_of_two([&name, &other_name], [&before, &after]))?;
    let lines = [(name, before), (other_name, after)]
        .map(|(name, explained)| format!("{name}: {}", memory_summary(&explained.report)));
    Ok(if is_printed(&args.html) { String::new() } else { lines.concat() })
}

/// Whether a text is requested on standard output.
fn is_printed(path: &Option<PathBuf>) -> bool {
    path.as_ref().is_some_and(|path| is_stdout(path))
}

/// The name of a program's file.
fn title(path: &Path) -> String {
    path.file_name().map_or("-".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Writes the view of a plan, and opens it in the browser, as requested.
fn show(args: &PlanArgs, page: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = &args.html else { return Ok(()) };
    write_output(&page(), Some(path))?;
    if !args.open {
        return Ok(());
    }
    let started = Command::new("xdg-open").arg(path).spawn();
    started.map(drop).map_err(|error| Failure::input(format!("`xdg-open` can't be started: {error}")))
}

/// The bytes of weights as packed for the kernels; if there is no machine code, unpacked, with a line that
/// says so.
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

/// The limit of steps for planning a program again with other options to find savings; for larger programs
/// `optc explain` reports them.
const MOST_STEPS: usize = 5000;

/// The limit of listed buffers at the peak.
const MOST_BUFFERS: usize = 10;

/// The size of the arena, the buffers at its peak, and the options that would lower it.
fn summary(explained: &Explained, levers: &[Lever], threads: usize) -> String {
    let report = &explained.report;
    // A program that was planned before keeps the number of threads of its plan.
    let threads = ir::plan::attrs::threads(&explained.planned.ctx, explained.body()).unwrap_or(threads);
    let steps = format!(
        "{} on {}; inputs {} bytes, outputs {} bytes\n",
        counted(report.steps.len(), "step"),
        counted(threads, "thread"),
        report.inputs_bytes,
        report.outputs_bytes
    );
    memory_summary(report) + &steps + &peak_text(&explained.memory, MOST_BUFFERS) + &levers_text("", levers)
}

fn content_name(content: &BufferContent) -> String {
    match content {
        BufferContent::Root(value) => value.to_string(),
        BufferContent::Scratch(op) => format!("scratch_{op}"),
    }
}
