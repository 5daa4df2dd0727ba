//! What sizes that were never asked for cost a program for all sizes:
//! `cargo run --release -p optc --example replan_cost -- MODEL INPUT:0=N,2=H,3=W ROUNDS 1,3,224,224 2,3,144,224 ...`.
//!
//! No instance is kept, so each preparation makes one. The first round packs weights and grows the arena; the others are told.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use import::onnx::declared::{Sizes, Symbolized};
use optc::symbolic::{SymbolicOptions, compile_symbolic};
use optc::{CompileOptions, Failure, LoadOptions, StrippedWeights, load};

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, symbolized, rounds, shapes @ ..] = &args[..] else {
        panic!("MODEL INPUT:AXIS=NAME,... ROUNDS SIZE,SIZE,...")
    };
    let (input, axes) = symbolized.rsplit_once(':').expect("INPUT:AXIS=NAME,...");
    let axes = axes.split(',').map(|axis| {
        let (axis, size) = axis.split_once('=').expect("AXIS=NAME");
        Symbolized { input: input.to_owned(), axis: axis.parse().expect("a number"), size: size.to_owned() }
    });
    let sizes = Sizes { symbolized: axes.collect(), ..Sizes::new() };
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, sizes, ..LoadOptions::default() };
    let module = load(Path::new(path), &options)?;
    let symbolic = SymbolicOptions { cached: 0, ..SymbolicOptions::new(CompileOptions::default()) };
    let threads = symbolic.compile.threads;
    let program = Arc::new(compile_symbolic(&module, &symbolic)?);
    let mut context = program.context(threads).expect("it is planned for them");
    let shapes: Vec<Vec<u64>> = shapes
        .iter()
        .map(|shape| shape.split(',').map(|size| size.parse().expect("a number")).collect())
        .collect();
    let mut times = vec![Vec::new(); shapes.len()];
    let rounds: usize = rounds.parse().expect("a number");
    for round in 0..=rounds {
        for (shape, times) in shapes.iter().zip(&mut times) {
            context.set_shape(input, shape).expect("the program takes the shape");
            let start = Instant::now();
            context.prepare().unwrap_or_else(|error| panic!("{error}"));
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    for (shape, mut times) in shapes.iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let (least, median) = (times[0], times[times.len() / 2]);
        println!("{shape:?}: {median:.1} us, least {least:.1} us");
    }
    Ok(())
}
