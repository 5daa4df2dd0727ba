//! What it costs to make an instance of a program, and to run from a frame: `cargo run --release -p optc --example frame_cost -- MODEL`.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use codegen::{FramedCode, Options, compile};
use optc::{CompileOptions, LoadOptions, StrippedWeights, load};
use runtime::{Extent, InputSpec, ShapedParts, ShapedProgram, TensorDesc};

const RUNS: usize = 30;

fn microseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let path = std::env::args().nth(1).expect("the argument is a model");
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, ..LoadOptions::default() };
    let mut module = load(Path::new(&path), &options).unwrap_or_else(|failure| panic!("{failure}"));
    let CompileOptions { threads, goal, .. } = CompileOptions::default();
    let entry = optc::compile::entry(&module, None).expect("the model has an entry");
    optc::compile::complete(&mut module, &entry, threads, goal).unwrap_or_else(|failure| panic!("{failure}"));
    let options = Options::new(threads);
    let code = FramedCode::compile(&[&module], &entry, &options).expect("the model compiles");
    let first = microseconds(|| drop(code.instance(&module)));
    let again: Vec<f64> = (0..200).map(|_| microseconds(|| drop(code.instance(&module)))).collect();
    println!("the first instance, which packs weights: {:.0} us; another: {:.0} us", first, median(again));

    let instance = code.instance(&module).expect("the model is its own instance");
    println!("frame: {} bytes", instance.frame_bytes());
    let spec = |desc: &TensorDesc| InputSpec {
        name: desc.name.clone(),
        element: desc.element,
        extents: desc.shape.iter().map(|size| Extent::Known(*size)).collect(),
    };
    let inputs = instance.inputs().iter().map(spec).collect();
    let instance = Mutex::new(Some(instance));
    let framed = Arc::new(ShapedProgram::new(ShapedParts {
        code: code.code(),
        threads,
        symbols: vec![],
        inputs,
        outputs: code.outputs(),
        faults: code.faults().to_vec(),
        instances: Box::new(move |_: &[u64]| Ok(instance.lock().expect("one asks").take().expect("once"))),
        cached: 1,
        chunk_bytes: None,
    }));
    let baked = Arc::new(compile(&module, &entry, &options).expect("the model compiles"));
    let buffers =
        |descs: &[TensorDesc]| descs.iter().map(|desc| vec![0u8; desc.size_bytes]).collect::<Vec<_>>();
    let (inputs, mut outputs) = (buffers(baked.inputs()), buffers(baked.outputs()));
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
    let mut outputs: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output[..]).collect();
    let mut baked = baked.context(threads).expect("it is planned for them");
    let mut framed = framed.context(threads).expect("it is planned for them");
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        times[0].push(microseconds(|| baked.run(&inputs, &mut outputs).expect("it runs")));
        times[1].push(microseconds(|| framed.run(&inputs, &mut outputs).expect("it runs")));
    }
    let [baked, framed] = times.map(median);
    println!(
        "a run: compiled for the size {baked:.0} us, from a frame {framed:.0} us, ratio {:.3}",
        framed / baked
    );
}
