//! What one program for all sizes costs beside a program for each:
//! `cargo run --release -p optc --example symbolic_cost -- MODEL INPUT:0=N,2=H,3=W N=1,H=224,W=224 N=2,H=160,W=192 ...`.
//!
//! At each of the sizes the model is compiled for these alone, and taken from the program for all; the first sizes are the sample.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use import::onnx::declared::{Sizes, Symbolized};
use optc::shaped::Variants;
use optc::symbolic::{Symbolic, SymbolicOptions, compile_symbolic};
use optc::{CompileOptions, Failure, LoadOptions, StrippedWeights, compile, load};
use runtime::TensorDesc;

/// Measurements of what is slow; of what is fast there are as many as make up a third of a second.
const RUNS: usize = 7;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, symbolized, sizes @ ..] = &args[..] else { panic!("MODEL INPUT:AXIS=NAME,... NAME=SIZE,...") };
    let path = Path::new(path);
    let sizes: Vec<Vec<(String, u64)>> = sizes.iter().map(|text| numbers(text)).collect();
    let module = load(path, &options(symbolized, &[]))?;
    let symbolic =
        SymbolicOptions { sample: sizes[0].clone(), ..SymbolicOptions::new(CompileOptions::default()) };
    let threads = symbolic.compile.threads;
    let start = Instant::now();
    let program = Arc::new(compile_symbolic(&module, &symbolic)?);
    println!("compiled for all sizes in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    let variants = Symbolic::decide(&module, &symbolic)?;
    let mut context = program.context(threads).expect("it is planned for them");
    for sizes in &sizes {
        let mut fixed = load(path, &options(symbolized, sizes))?;
        let fixed = Arc::new(compile(&mut fixed, &symbolic.compile)?);
        let number = |name: &str| sizes.iter().find(|size| size.0 == name).expect("each symbol has a size").1;
        let numbers: Vec<u64> = program.symbols().iter().map(|symbol| number(&symbol.name)).collect();
        let plan = median(|| drop(variants.at(&numbers)));
        for desc in fixed.inputs() {
            context.set_shape(&desc.name, &desc.shape).expect("the program takes the shape");
        }
        let start = Instant::now();
        let arena = context.prepare().unwrap_or_else(|error| panic!("{error}")).arena_bytes();
        let prepare = start.elapsed().as_secs_f64() * 1e3;
        let inputs: Vec<Vec<u8>> = fixed.inputs().iter().map(noise).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
        let mut results = [buffers(fixed.outputs()), buffers(fixed.outputs())];
        let mut alone = fixed.context(threads).expect("it is planned for them");
        let mut times = [Vec::new(), Vec::new()];
        let once = time(|| context.run(&inputs, &mut views(&mut results[1])).expect("it runs"));
        let runs = RUNS.max((333.0 / once) as usize);
        for _ in 0..runs {
            let [first, second] = &mut results;
            times[0].push(time(|| alone.run(&inputs, &mut views(first)).expect("it runs")));
            times[1].push(time(|| context.run(&inputs, &mut views(second)).expect("it runs")));
        }
        let [first, second] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[runs / 2]
        });
        println!(
            "{numbers:?}: bits {}, arena {} to {arena} ({:.3}), plan {plan:.3} ms, prepared in {prepare:.3} ms, run {first:.2} to {second:.2} ms ({:.3})",
            if results[0] == results[1] { "equal" } else { "DIFFER" },
            fixed.arena_bytes(),
            arena as f64 / fixed.arena_bytes() as f64,
            second / first
        );
    }
    Ok(())
}

fn options(symbolized: &str, values: &[(String, u64)]) -> LoadOptions {
    let (input, axes) = symbolized.rsplit_once(':').expect("INPUT:AXIS=NAME,...");
    let axes = axes.split(',').map(|axis| {
        let (axis, size) = axis.split_once('=').expect("AXIS=NAME");
        Symbolized { input: input.to_owned(), axis: axis.parse().expect("a number"), size: size.to_owned() }
    });
    let values = values.iter().cloned().collect();
    let sizes = Sizes { values, symbolized: axes.collect(), ..Sizes::new() };
    LoadOptions { stripped: StrippedWeights::Synthesize, sizes, ..LoadOptions::default() }
}

fn numbers(text: &str) -> Vec<(String, u64)> {
    let pairs = text.split(',').map(|pair| pair.split_once('=').expect("NAME=SIZE"));
    pairs.map(|(name, size)| (name.to_owned(), size.parse().expect("a number"))).collect()
}

/// Numbers between 0 and 1.
fn noise(desc: &TensorDesc) -> Vec<u8> {
    let number = |index: usize| ((index * 7919) % 1009) as f32 / 1009.0;
    (0..desc.size_bytes / 4).flat_map(|index| number(index).to_le_bytes()).collect()
}

fn buffers(descs: &[TensorDesc]) -> Vec<Vec<u8>> {
    descs.iter().map(|desc| vec![0; desc.size_bytes]).collect()
}

fn views(buffers: &mut [Vec<u8>]) -> Vec<&mut [u8]> {
    buffers.iter_mut().map(|buffer| &mut buffer[..]).collect()
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..RUNS).map(|_| time(&mut work)).collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}
