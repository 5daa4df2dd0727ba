//! `optc bench`: how long loading, compiling and running take.

mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use runtime::{CountingAllocator, InputBuffer};
use serde_json::{Map, Value, json};

use self::report::Comparison;
use super::compiled::CompileArgs;
use super::inputs::InputArgs;
use super::source::{ArtifactArgs, ProgramSource};
use super::summary::Specialized;
use super::{FileArgs, write_output};
use crate::arrays::Array;
use crate::compile::DeadMemory;
use crate::failure::Failure;
use crate::model::Model;

/// Time a program: loading, compilation, the first run, and the latency of those that follow.
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
    /// Timed runs, after 3 warm-up runs.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Write the figures to a file as JSON, or with `-` to standard output in the place of the table.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    /// Compare the latencies with those of a file that `--json` wrote: a difference counts if it is larger
    /// than the noise of both, which is what lies between the fastest run and the median.
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    #[command(flatten)]
    artifact: ArtifactArgs,
}

/// Runs that warm caches and are not timed.
const WARM_UP_RUNS: u64 = 3;

pub(super) fn run(args: &BenchArgs, allocator: &CountingAllocator) -> Result<(), Failure> {
    let start = Instant::now();
    let limits = args.compile.limits.hold()?;
    let source = ProgramSource { file: &args.file, compile: &args.compile };
    let mut program = source.program(&args.artifact, DeadMemory::Kept)?;
    let cases = args.inputs.cases(&program.module, &program.entry)?;
    if args.inputs.fix_sizes() {
        program.fix_sizes(&cases)?;
    }
    let load_ms = milliseconds(start);
    let start = Instant::now();
    let mut model = program.compile(&cases)?;
    let compile_ms = milliseconds(start);
    drop(limits);
    let threads = program.threads;
    drop(program);
    let old = args.compare.as_deref().map(read_figures).transpose()?;
    let mut all: Vec<(Value, Option<Comparison>)> = Vec::new();
    for (number, mut case) in cases.into_iter().enumerate() {
        let mut timed = time(&mut model, &mut case.inputs, args.runs, allocator)?;
        let old = old.as_ref().map(|old| old["inputs"].get(number).unwrap_or(old));
        let comparison = old.map(|old| Comparison::of(old, &Value::Object(timed.clone()))).transpose()?;
        if let Some(comparison) = &comparison {
            timed.insert("compare".to_owned(), json!(comparison));
        }
        all.push((Value::Object(timed), comparison));
    }
    let program = model.program();
    let mut figures = json!({
        "version": 1, "threads": threads,
        "load_ms": load_ms, "compile_ms": compile_ms,
        "weights_bytes": program.weights_bytes(), "peak_rss_bytes": runtime::peak_resident_bytes(),
    });
    let to_output = args.json.as_deref() == Some(Path::new("-"));
    if !to_output {
        let name = args.file.file.display().to_string();
        write_output(&report::table(&name, &figures, &all), None)?;
    }
    let Some(path) = &args.json else { return Ok(()) };
    let first = figures.as_object_mut().expect("the figures have names");
    first.extend(all[0].0.as_object().cloned().unwrap_or_default());
    if all.len() > 1 {
        let cases: Vec<&Value> = all.iter().map(|(case, _)| case).collect();
        first.insert("inputs".to_owned(), json!(cases));
    }
    let text = serde_json::to_string_pretty(&figures).expect("figures are plain JSON") + "\n";
    write_output(&text, Some(path))
}

/// The figures of an earlier run.
fn read_figures(path: &Path) -> Result<Value, Failure> {
    let fault = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
    serde_json::from_str(&text).map_err(|error| fault(&error))
}

/// The figures of runs on some inputs, at their sizes.
fn time(
    model: &mut Model,
    inputs: &mut [Array],
    runs: u64,
    allocator: &CountingAllocator,
) -> Result<Map<String, Value>, Failure> {
    let specialized = Specialized::of(model, inputs)?;
    let mut outputs = model.empty_outputs()?;
    let donated = Donated::of(model, inputs)?;
    let start = Instant::now();
    model.run_donating(inputs, &mut outputs)?;
    let first_run_ms = milliseconds(start);
    let mut bound = model.bind_donating(inputs)?;
    let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
    for _ in 0..WARM_UP_RUNS {
        donated.fill_again(&mut bound);
        model.run_buffers(&mut bound, &mut views)?;
    }
    let mut latencies = Vec::with_capacity(runs as usize);
    let (done, allocations) = allocator.measure(|| {
        (0..runs).try_for_each(|_| {
            donated.fill_again(&mut bound);
            let start = Instant::now();
            model.run_buffers(&mut bound, &mut views)?;
            latencies.push(milliseconds(start));
            Ok(())
        })
    });
    done?;
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share).round() as usize];
    let mut figures = Map::new();
    if !specialized.sizes().is_empty() {
        let sizes = specialized.sizes().iter().map(|(name, size)| (name.clone(), json!(size)));
        figures.insert("sizes".to_owned(), Value::Object(sizes.collect()));
        figures.insert("specialize_us".to_owned(), json!(specialized.cost_us()));
    }
    figures.insert("first_run_ms".to_owned(), json!(first_run_ms));
    let latency = json!({ "min": at(0.0), "p50": at(0.5), "p90": at(0.9), "runs": runs });
    figures.insert("latency_ms".to_owned(), latency);
    figures.insert("arena_bytes".to_owned(), json!(specialized.arena_bytes()));
    figures.insert("allocations_per_run".to_owned(), json!(allocations.count / runs));
    Ok(figures)
}

/// What the inputs that a program overwrites held, by their place among its inputs.
struct Donated(Vec<(usize, Vec<u8>)>);

impl Donated {
    fn of(model: &mut Model, inputs: &mut [Array]) -> Result<Donated, Failure> {
        let specialization = model.prepare()?;
        let bound = model.bind_donating(inputs)?;
        let mut held = Vec::new();
        for (index, (desc, buffer)) in specialization.inputs().iter().zip(bound).enumerate() {
            if let (true, InputBuffer::Donated(bytes)) = (desc.overwritten, buffer) {
                held.push((index, bytes.to_vec()));
            }
        }
        Ok(Donated(held))
    }

    fn fill_again(&self, buffers: &mut [InputBuffer<'_>]) {
        for (index, bytes) in &self.0 {
            if let InputBuffer::Donated(buffer) = &mut buffers[*index] {
                buffer.copy_from_slice(bytes);
            }
        }
    }
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
