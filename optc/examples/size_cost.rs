//! What named sizes cost beside a program for each: a new size, and runs.
//!
//! ```text
//! cargo run --release -p optc --example size_cost -- MODEL INPUT:0=N,2=H,3=W ROUNDS N=1,H=224,W=224 ...
//! ```
//!
//! At each of the sizes the model is compiled for these alone, and taken from the program for all, which
//! keeps no specialization: so each preparation makes one. Both are run in turn. The first sizes are those
//! for which the code is made.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use import::onnx::declared::{DeclaredSizes, Symbolized};
use optc::{CompileOptions, Failure, LoadOptions, SizeOptions, StrippedWeights, compile, load};
use runtime::{ElementKind, RunContext, Specialization, TensorDesc};

type Bytes = Vec<Vec<u8>>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, symbolized, rounds, sizes @ ..] = &args[..] else {
        panic!("MODEL INPUT:AXIS=NAME,... ROUNDS NAME=SIZE,...")
    };
    let path = Path::new(path);
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let sizes: Vec<Vec<(String, u64)>> = sizes.iter().map(|text| numbers(text)).collect();
    let options = CompileOptions {
        sizes: SizeOptions { sample: sizes[0].clone(), cached: 0, ..SizeOptions::default() },
        ..CompileOptions::default()
    };
    let start = Instant::now();
    let program = Arc::new(compile(&mut load(path, &load_options(symbolized, &[]))?, &options)?);
    println!("compiled for all sizes in {:.0} ms", milliseconds(start));
    let mut context = program.context(options.threads).expect("it is planned for them");
    for sizes in &sizes {
        let fixed = Arc::new(compile(&mut load(path, &load_options(symbolized, sizes))?, &options)?);
        let only = fixed.only().expect("its sizes are known");
        let mut times: Vec<f64> = (0..=rounds).map(|_| prepare(&mut context, &only)).collect();
        // The first one grows the arena.
        let prepared = middle(times.split_off(1));
        let arena = context.prepare().unwrap_or_else(|error| panic!("{error}")).arena_bytes();
        let mut alone = fixed.context(options.threads).expect("it is planned for them");
        let (alone_ms, ms, is_same) = race(&mut alone, &mut context, &only, rounds);
        println!(
            "{sizes:?}: bits {}, arena {} to {arena} ({:.3}), prepared in {:.1} us, run {alone_ms:.2} to {ms:.2} ms ({:.3})",
            if is_same { "equal" } else { "DIFFER" },
            only.arena_bytes(),
            arena as f64 / only.arena_bytes() as f64,
            prepared * 1e3,
            ms / alone_ms
        );
    }
    Ok(())
}

/// Sets the shapes of a program for known sizes, and tells how long the preparation takes.
fn prepare(context: &mut RunContext<'_>, only: &Specialization) -> f64 {
    for desc in only.inputs() {
        context.set_shape(&desc.name, &desc.shape).expect("the program takes the shape");
    }
    let start = Instant::now();
    context.prepare().unwrap_or_else(|error| panic!("{error}"));
    milliseconds(start)
}

/// Runs two contexts in turn: the median of each, and whether they compute the same bits.
fn race(
    alone: &mut RunContext<'_>,
    of_all: &mut RunContext<'_>,
    only: &Specialization,
    rounds: usize,
) -> (f64, f64, bool) {
    let inputs: Bytes = only.inputs().iter().map(noise).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
    let run = |context: &mut RunContext<'_>, outputs: &mut Bytes| {
        let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|buffer| &mut buffer[..]).collect();
        let start = Instant::now();
        context.run(&inputs, &mut views).unwrap_or_else(|error| panic!("{error}"));
        milliseconds(start)
    };
    let buffers = || only.outputs().iter().map(|desc| vec![0; desc.size_bytes]).collect::<Bytes>();
    let mut expected = buffers();
    let mut found = buffers();
    let times = (0..rounds.max(1)).map(|_| (run(alone, &mut expected), run(of_all, &mut found)));
    let (first, second): (Vec<f64>, Vec<f64>) = times.unzip();
    (middle(first), middle(second), expected == found)
}

fn load_options(symbolized: &str, values: &[(String, u64)]) -> LoadOptions {
    let (input, axes) = symbolized.rsplit_once(':').expect("INPUT:AXIS=NAME,...");
    let axes = axes.split(',').map(|axis| {
        let (axis, size) = axis.split_once('=').expect("AXIS=NAME");
        Symbolized { input: input.to_owned(), axis: axis.parse().expect("a number"), size: size.to_owned() }
    });
    let values = values.iter().cloned().collect();
    let sizes = DeclaredSizes { values, symbolized: axes.collect(), ..DeclaredSizes::new() };
    LoadOptions { stripped: StrippedWeights::Synthesize, sizes, ..LoadOptions::default() }
}

fn numbers(text: &str) -> Vec<(String, u64)> {
    let pairs = text.split(',').map(|pair| pair.split_once('=').expect("NAME=SIZE"));
    pairs.map(|(name, size)| (name.to_owned(), size.parse().expect("a number"))).collect()
}

/// Numbers between 0 and 1; zeros where elements are integers, which may be indices.
fn noise(desc: &TensorDesc) -> Vec<u8> {
    if desc.element != ElementKind::F32 {
        return vec![0; desc.size_bytes];
    }
    let number = |index: usize| ((index * 7919) % 1009) as f32 / 1009.0;
    (0..desc.size_bytes / 4).flat_map(|index| number(index).to_le_bytes()).collect()
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
