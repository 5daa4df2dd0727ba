//! `optc plan`: where everything is placed.

use std::path::PathBuf;

use clap::Args;
use passes::place::csv;
use passes::plan::{Arena, Content};
use passes::symbolic::is_symbolic;

use super::recipe::recipe_summary;
use super::summary::{memory_summary, report};
use super::{FileArgs, MemoryArgs, ThreadsArgs, write_output};
use crate::compile::{DeadMemory, compile, entry};
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
    let mut module = load(&args.file.file, &args.file.options()?)?;
    let entry = entry(&module, args.entry.as_deref())?;
    let threads = args.threads.threads;
    let options = args.memory.options(threads, &entry, DeadMemory::Kept);
    let body = module.function(&entry).expect("the entry was just found");
    if is_symbolic(&module.ctx, body) {
        if args.json.is_some() || args.csv.is_some() {
            return Err(Failure::input("offsets are those at some sizes: give them with `--dim NAME=SIZE`"));
        }
        return write_output(&recipe_summary(&module, options)?, None);
    }
    let program = compile(&mut module, &options)?;
    let report = report(&module, &entry, &program)?;
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&report).expect("a report is plain JSON") + "\n";
        write_output(&text, Some(path))?;
    }
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
    write_output(&(memory_summary(&report) + &steps), None)
}

fn content_name(content: &Content) -> String {
    match content {
        Content::Root(value) => value.to_string(),
        Content::Scratch(op) => format!("scratch_{op}"),
    }
}
