//! `optc --passes=... FILE`: run passes and print the IR.

use std::path::PathBuf;

use clap::Args;
use codegen::Cpu;
use ir::text::{Locations, PrintForm, PrintOptions, Unregistered};
use passes::manager::{Pipeline, Registry, RunOptions, Selection};

use super::{FileArgs, ThreadsArgs, write_output};
use crate::failure::Failure;
use crate::load::{LoadOptions, load};

/// Run passes over a program and print it.
#[derive(Args)]
pub(super) struct PassesArgs {
    #[command(flatten)]
    file: Option<FileArgs>,
    /// The passes to run: `fuse,inplace,plan`, `func(fuse{max-ops=64}),plan{planner=size}`.
    #[arg(long, value_name = "PIPELINE", default_value = "")]
    passes: String,
    /// Write the output to a file.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadsArgs,
    /// Print MLIR's generic form.
    #[arg(long)]
    print_generic: bool,
    /// Print locations.
    #[arg(long)]
    print_locations: bool,
    /// Accept operations that no dialect registered.
    #[arg(long)]
    allow_unregistered: bool,
    /// Print the pipeline as it will run, with what is inserted, and stop.
    #[arg(long)]
    print_pipeline: bool,
    /// Print times of the passes to standard error.
    #[arg(long)]
    timing: bool,
    /// Print what the passes counted to standard error.
    #[arg(long)]
    statistics: bool,
    /// Print why a pass did not do something, to standard error; of one pass, or of all.
    #[arg(long, value_name = "PASS", num_args = 0..=1, require_equals = true)]
    remarks: Option<Option<String>>,
}

pub(super) fn run(args: &PassesArgs) -> Result<(), Failure> {
    let registry = Registry::new();
    if args.print_pipeline {
        let ctx = ir::Context::new();
        let pipeline = Pipeline::parse(&ctx, &args.passes, &registry);
        let pipeline = pipeline.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
        return write_output(&format!("{pipeline}\n"), args.output.as_ref());
    }
    let file = args.file.as_ref().ok_or_else(|| Failure::Usage("a file is required".to_owned()))?;
    let unregistered = if args.allow_unregistered { Unregistered::Allow } else { Unregistered::Refuse };
    let mut module = load(&file.file, &LoadOptions { unregistered, ..file.options() })?;
    let ctx = module.ctx.clone();
    let fail = |faults: Vec<ir::Diagnostic>| Failure::diagnostics(&ctx, &faults);
    let pipeline = Pipeline::parse(&ctx, &args.passes, &registry).map_err(fail)?;
    let remarks = match &args.remarks {
        None => Selection::None,
        Some(None) => Selection::All,
        Some(Some(name)) => Selection::named(&[name], &registry).map_err(fail)?,
    };
    let options = RunOptions { threads: args.threads.threads, remarks, ..RunOptions::new(&Cpu) };
    let report = pipeline.run(&mut module, &options).map_err(fail)?;
    for remark in &report.remarks {
        eprintln!("{}", remark.diagnostic.render(&ctx));
    }
    if args.statistics {
        eprint!("{}", report.statistics_text());
    }
    if args.timing {
        eprint!("{}", report.timing.to_text());
    }
    let form = if args.print_generic { PrintForm::Generic } else { PrintForm::Pretty };
    let locations = if args.print_locations { Locations::Shown } else { Locations::Hidden };
    let text = ir::text::print_with(&module, &PrintOptions { form, locations });
    write_output(&text, args.output.as_ref())
}
