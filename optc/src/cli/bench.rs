//! `optc bench`: how long loading, compiling and running take.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use runtime::{CountingAllocator, InputBuffer};
use serde_json::json;

use super::inputs::{InputArgs, describe};
use super::{FileArgs, MemoryArgs, ThreadsArgs, write_output};
use crate::arrays::Array;
use crate::compile::{CompileOptions, DeadMemory, entry};
use crate::failure::Failure;
use crate::load::load;
use crate::model::Model;

/// Time a program.
#[derive(Args)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// How many runs are timed, after three that are not.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Write the figures to a file.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    /// The function that is the program; else the only public one, or `main`.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
}

/// Runs that warm caches and are not timed.
const WARM_UP_RUNS: u64 = 3;

pub(super) fn run(args: &BenchArgs, allocator: &CountingAllocator) -> Result<(), Failure> {
    let start = Instant::now();
    let mut module = load(&args.file.file, &args.file.options()?)?;
    let entry = entry(&module, args.entry.as_deref())?;
    let mut inputs = args.inputs.arrays(args.inputs.given()?, &describe(&module, &entry)?)?;
    let load_ms = milliseconds(start);
    let start = Instant::now();
    let threads = args.threads.threads;
    let (donated, goal) = (args.memory.donate.clone(), args.memory.goal());
    let options = CompileOptions {
        threads,
        entry: Some(entry),
        dead: DeadMemory::Kept,
        donated,
        goal,
        budget_bytes: args.memory.budget,
        pools: args.memory.pool.clone(),
    };
    let mut model = Model::compile(&mut module, &options)?;
    let compile_ms = milliseconds(start);
    drop(module);
    let mut outputs = model.outputs();
    let donated = Donated::of(&model, &inputs)?;
    let start = Instant::now();
    model.run_donating(&mut inputs, &mut outputs)?;
    let first_run_ms = milliseconds(start);
    let mut bound = model.bind_donating(&mut inputs)?;
    let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
    for _ in 0..WARM_UP_RUNS {
        donated.fill_again(&mut bound);
        model.run_buffers(&mut bound, &mut views)?;
    }
    let mut latencies = Vec::with_capacity(args.runs as usize);
    let (done, allocations) = allocator.measure(|| {
        (0..args.runs).try_for_each(|_| {
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
    let program = model.program();
    let figures = json!({
        "version": 1, "threads": threads,
        "load_ms": load_ms, "compile_ms": compile_ms, "first_run_ms": first_run_ms,
        "latency_ms": { "min": at(0.0), "p50": at(0.5), "p90": at(0.9), "runs": args.runs },
        "arena_bytes": program.arena_bytes(), "weights_bytes": program.weights_bytes(),
        "peak_rss_bytes": runtime::peak_resident_bytes(),
        "allocations_per_run": allocations.count / args.runs,
    });
    let text = serde_json::to_string_pretty(&figures).expect("figures are plain JSON") + "\n";
    write_output(&text, args.json.as_ref())
}

/// What the inputs that a program overwrites held, by their place among its inputs.
struct Donated(Vec<(usize, Vec<u8>)>);

impl Donated {
    fn of(model: &Model, inputs: &[Array]) -> Result<Donated, Failure> {
        let bound = model.bind(inputs)?;
        let all = model.program().inputs().iter().zip(bound).enumerate();
        let overwritten = all.filter(|(_, (desc, _))| desc.overwritten);
        Ok(Donated(overwritten.map(|(index, (_, bytes))| (index, bytes.to_vec())).collect()))
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
