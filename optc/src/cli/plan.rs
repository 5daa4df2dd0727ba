//! `optc plan`: where everything is placed.

use std::path::PathBuf;

use clap::Args;
use passes::place::csv;
use passes::plan::{Arena, Content};
use passes::symbolic::is_symbolic;
use serde::Serialize;

use super::recipe::recipe;
use super::summary::{memory_summary, report};
use super::{FileArgs, MemoryArgs, ThreadsArgs, write_output};
use crate::compile::{CompileOptions, DeadMemory, compile, entry};
use crate::failure::Failure;
use crate::load::load;

/// Print where everything is placed.
#[derive(Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Write the plan to a file.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    /// Write the placement problem to a file.
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
    /// The function that is the program; else the only public one, or `main`.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
}

pub(super) fn run(args: &PlanArgs) -> Result<(), Failure> {
    write_output(&text(args)?, None)
}

/// What is printed.
pub(super) fn text(args: &PlanArgs) -> Result<String, Failure> {
    let mut module = load(&args.file.file, &args.file.options()?)?;
    let entry = entry(&module, args.entry.as_deref())?;
    let threads = args.threads.threads;
    let (donated, goal) = (args.memory.donate.clone(), args.memory.goal());
    let options = CompileOptions {
        threads,
        entry: Some(entry.clone()),
        dead: DeadMemory::Kept,
        donated,
        goal,
        budget_bytes: args.memory.budget,
        pools: args.memory.pool.clone(),
    };
    let body = module.function(&entry).expect("the entry was just found");
    if is_symbolic(&module.ctx, body) {
        if args.csv.is_some() {
            return Err(Failure::input(
                "a placement problem is one of known sizes: give them with `--dim NAME=SIZE`",
            ));
        }
        let report = recipe(&module, options)?;
        write_json(args, &report)?;
        return Ok(report.text());
    }
    let program = compile(&mut module, &options)?;
    let report = report(&module, &entry, &program)?;
    write_json(args, &report)?;
    if let Some(path) = &args.csv {
        let ctx = &module.ctx;
        let body = module.function(&entry).expect("the entry was just compiled");
        let aliases = ir::alias::AliasSets::of(ctx, body);
        let arena = Arena::of(ctx, body, &aliases).map_err(|faults| Failure::diagnostics(ctx, &faults))?;
        let names: Vec<String> = arena.contents.values().map(content_name).collect();
        write_output(&csv::write(&arena.problem, &names, None), Some(path))?;
    }
    let steps = format!(
        "{} steps on {threads} threads; inputs {} bytes, outputs {} bytes\n",
        report.steps.len(),
        report.inputs_bytes,
        report.outputs_bytes
    );
    Ok(memory_summary(&report) + &steps)
}

fn write_json(args: &PlanArgs, report: &impl Serialize) -> Result<(), Failure> {
    let Some(path) = &args.json else { return Ok(()) };
    let text = serde_json::to_string_pretty(report).expect("a report is plain JSON") + "\n";
    write_output(&text, Some(path))
}

fn content_name(content: &Content) -> String {
    match content {
        Content::Root(value) => value.to_string(),
        Content::Scratch(op) => format!("scratch_{op}"),
    }
}
