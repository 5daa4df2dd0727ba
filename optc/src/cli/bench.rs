//! `optc bench`: the time of loading, compiling and running.

mod profile;
pub(super) mod report;

use import::onnx::declared::DeclaredSizes;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use runtime::CountingAllocator;

use self::profile::{Profile, StepTimings};
use self::report::{BenchReport, Comparison, InputFigures, Latency, OldReport};
use super::compiled::CompileArgs;
use super::inputs::{InputArgs, RunInputs};
use super::output::{check_writable, instead, json};
use super::source::{ArtifactArgs, ProgramSource, SourceProgram};
use super::summary::Specialized;
use super::{FileArgs, write_output};
use crate::arrays::Array;
use crate::compile::DeadMemory;
use crate::failure::Failure;
use crate::machine_rates::MachineRates;
use crate::measure::repeat;
use crate::model::Model;
use crate::opt::Setup;

/// Time a program: loading, compilation, the first run, and the latency of later runs.
///
/// Prints a table; `--json` has the same figures.
#[derive(Args)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    compile: CompileArgs,
    /// Number of timed runs, after 3 warm-up runs.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Write the figures as JSON to a file; `-` prints them instead of the table.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    /// Compare the latencies with those in a file that `--json` wrote: a difference counts if it is larger
    /// than the noise of both, the distance from the fastest run to the median.
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Time each step as well: print a table of the longest steps, compared with what this machine can reach,
    /// and write one run as a trace for Perfetto or chrome://tracing. With several inputs, the first are
    /// timed.
    #[arg(long, value_name = "TRACE.json")]
    profile: Option<PathBuf>,
    #[command(flatten)]
    artifact: ArtifactArgs,
}

pub(super) fn run(
    setup: &Setup,
    args: &BenchArgs,
    allocator: Option<&CountingAllocator>,
) -> Result<(), Failure> {
    check_writable(&args.json)?;
    check_writable(&args.profile)?;
    let start = Instant::now();
    let limits = args.compile.limits.hold()?;
    let source = ProgramSource {
        setup,
        file: &args.file,
        inputs: &args.inputs,
        compile: &args.compile,
        said: &DeclaredSizes::new(),
    };
    let mut program = source.program(&args.artifact, DeadMemory::Kept)?;
    let mut cases = args.inputs.cases(&program.module, &program.entry)?;
    if args.inputs.fix_sizes() || args.profile.is_some() {
        program.fix_sizes(&cases)?;
    }
    let load_ms = milliseconds(start);
    let start = Instant::now();
    let mut model = program.compile(&cases)?;
    let compile_ms = milliseconds(start);
    drop(limits);
    let threads = program.threads;
    let profiled = args.profile.as_ref().map(|path| (path, program));
    let old = args.compare.as_deref().map(OldReport::read).transpose()?;
    let mut figures = Vec::new();
    for (number, case) in cases.iter_mut().enumerate() {
        let timed = time(&mut model, &mut case.inputs, args.runs, allocator)?;
        let compare = old.as_ref().map(|old| Comparison::of(&old.latency(number), &timed.latency_ms));
        figures.push(InputFigures { compare, ..timed });
    }
    let report = BenchReport {
        version: 1,
        threads,
        load_ms,
        compile_ms,
        weights_bytes: model.program().weights_bytes(),
        peak_rss_bytes: runtime::peak_resident_bytes(),
        first: figures[0].clone(),
        inputs: if figures.len() > 1 { figures } else { Vec::new() },
    };
    let mut table = report.table(&args.file.file.display().to_string());
    if let Some((path, program)) = profiled {
        drop(model);
        let profile = profile(program, &mut cases, args.runs)?;
        table += &profile.table();
        table = instead(&Some(path.clone()), || profile.trace(), table)?;
    }
    write_output(&instead(&args.json, || json(&report), table)?, None)
}

/// Compiles the program again so that its steps can be timed, and times them.
fn profile(mut program: SourceProgram, cases: &mut [RunInputs], runs: u64) -> Result<Profile, Failure> {
    program.time_steps();
    let mut model = program.compile(cases)?;
    let SourceProgram { module, entry, .. } = &program;
    let timings = StepTimings::measure((module, entry), &mut model, &mut cases[0].inputs, runs)?;
    drop(model);
    Ok(Profile { timings, rates: MachineRates::measure(program.cpu(), program.threads)? })
}

/// The figures of runs on some inputs, at their sizes.
fn time(
    model: &mut Model,
    inputs: &mut [Array],
    runs: u64,
    allocator: Option<&CountingAllocator>,
) -> Result<InputFigures, Failure> {
    let specialized = Specialized::of(model, inputs)?;
    let mut outputs = model.empty_outputs()?;
    let mut once_more = inputs.to_vec();
    let start = Instant::now();
    model.run_donating(&mut once_more, &mut outputs)?;
    let first_run_ms = milliseconds(start);
    drop((once_more, outputs));
    let mut latencies = Vec::with_capacity(runs as usize);
    let allocations = repeat(model, inputs, |run| {
        let mut all = || {
            (0..runs).try_for_each(|_| {
                let Range { start, end } = run()?;
                latencies.push((end - start).as_secs_f64() * 1e3);
                Ok(())
            })
        };
        let Some(allocator) = allocator else { return all().map(|()| None) };
        let (done, allocations) = allocator.measure(all);
        done.map(|()| Some(allocations.count / runs))
    })?;
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share).round() as usize];
    Ok(InputFigures {
        sizes: specialized.sizes().iter().cloned().collect(),
        specialize_us: specialized.cost_us().filter(|_| !specialized.sizes().is_empty()),
        first_run_ms,
        latency_ms: Latency { min: at(0.0), p50: at(0.5), p90: at(0.9), runs },
        arena_bytes: specialized.arena_bytes(),
        allocations_per_run: allocations,
        compare: None,
    })
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
