//! Resources of compilations and runs: threads with contexts of their own, freed memory, and memory that is
//! not available.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use ir::{Context, Module};
use optc::{Array, CompileOptions, DeadMemory, Failure, LoadOptions, Model};
use tests::graphs::graph;
use tests::programs::{Program, array, execute, floats};
use tests::random::Random;

use crate::ALLOCATOR;

/// Marks a process of this test program as the measured one.
const CHILD: &str = "OPTC_MEASURED_CHILD";
const COMPILATIONS: usize = 1_000;
/// The freed bytes that the allocator may keep.
const SLACK_BYTES: u64 = 6 << 20;

#[test]
fn one_program_runs_in_sixteen_threads_with_contexts_of_their_own() {
    for seed in [3, 8] {
        let (mut module, inputs) = graph(seed);
        let options = CompileOptions { threads: 2, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
        let program = optc::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
        let program = Arc::new(program);
        let only = program.only().expect("its sizes are known");
        let bytes_of = |number: u64| -> Vec<Vec<u8>> {
            let mut random = Random::new(number);
            let floats = |desc: &runtime::TensorDesc| random.floats(desc.size_bytes as u64 / 4);
            let arrays: Vec<Vec<f32>> = only.inputs().iter().map(floats).collect();
            arrays.into_iter().map(|array| array.iter().flat_map(|x| x.to_le_bytes()).collect()).collect()
        };
        let run = |number: u64| {
            let mut context = program.context(1 + number as usize % 2).expect("it has as many threads");
            let mut results = Vec::new();
            for round in 0..8 {
                let inputs = bytes_of(100 * number + round);
                let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
                let mut outputs: Vec<Vec<u8>> =
                    only.outputs().iter().map(|desc| vec![0; desc.size_bytes]).collect();
                let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output[..]).collect();
                context.run(&inputs, &mut views).unwrap_or_else(|error| panic!("{error}"));
                results.push(outputs);
            }
            results
        };
        let expected: Vec<_> = (0..16).map(run).collect();
        let found: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16).map(|number| scope.spawn(move || run(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
        });
        assert!(found == expected, "seed {seed}: threads disturb each other");
        drop(inputs);
    }
}

/// Resident bytes of this process.
fn resident_bytes() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").expect("Linux says what is resident");
    let pages: u64 = pages.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number");
    pages * 4096
}

fn compile_and_run(size: u64) {
    let ctx = Arc::new(Context::new());
    let (mut program, args) = Program::new(ctx.clone(), &[ctx.tensor(&[size, 8], ctx.f32())]);
    let weights = program.constant(&[8, 8], &[0.5; 64]);
    let product = program.op("nn.matmul", &[args[0], weights], &[]);
    let exp = program.op("nn.exp", &[product], &[]);
    let mut module = program.finish(&[exp]);
    let input = [array("arg0", &[size, 8], &vec![0.0; 8 * size as usize])];
    let options = CompileOptions { threads: 2, ..CompileOptions::default() };
    let found = execute(&mut module, &input, &options).expect("it compiles");
    assert!(floats(&found[0]).iter().all(|x| *x == 1.0));
}

/// In a process of its own, since other tests' memory would count.
#[test]
fn a_thousand_compilations_leave_resident_memory_flat() {
    if std::env::var_os(CHILD).is_some() {
        (0..COMPILATIONS / 5).for_each(|round| compile_and_run(1 + round as u64 % 7));
        let before = resident_bytes();
        (0..COMPILATIONS).for_each(|round| compile_and_run(1 + round as u64 % 7));
        let after = resident_bytes();
        assert!(after < before + SLACK_BYTES, "{before} bytes resident became {after}");
        return;
    }
    let name = "resources::a_thousand_compilations_leave_resident_memory_flat";
    let this = std::env::current_exe().expect("a test program has a path");
    let child = Command::new(this).args(["--exact", name, "--nocapture"]).env(CHILD, "1").output();
    let child = child.expect("it can be started");
    let said = [child.stdout, child.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(child.status.success() && said[0].contains("1 passed"), "{}{}", said[0], said[1]);
}

#[test]
fn an_arena_that_no_machine_has_is_an_error_and_no_end_of_the_process() {
    let ctx = Arc::new(Context::new());
    let (mut program, args) = Program::new(ctx.clone(), &[ctx.tensor(&[1, 1, 1], ctx.f32())]);
    let counts = ctx.ints_attr(&[1 << 20, 1 << 20, 1 << 4]);
    let huge = program.op("nn.repeat", &[args[0]], &[("counts", counts)]);
    let axis = ctx.int_attr(2);
    let sums = program.op("nn.cum_sum", &[huge], &[("axis", axis)]);
    let axes = [("axes", ctx.ints_attr(&[0, 1, 2]))];
    let sum = program.op("nn.reduce_sum", &[sums], &axes);
    let mut module = program.finish(&[sum]);
    let options = CompileOptions { threads: 1, ..CompileOptions::default() };
    let mut model = Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    for _ in 0..2 {
        let failure = model.run(&[array("arg0", &[1, 1, 1], &[1.0])]).expect_err("2^46 bytes");
        assert!(failure.to_string().contains("no memory"), "{failure}");
    }
    compile_and_run(3);
}

/// Programs whose inputs, outputs, arena or scratch are larger than 2 MiB.
const LARGE: [&str; 4] = [
    "func.func @main(%x: tensor<1024x600xf32>) -> tensor<1024x600xf32> {
  %0 = nn.exp %x : tensor<1024x600xf32>
  %1 = nn.softmax %0 {axis = 0 : i64} : tensor<1024x600xf32>
  %2 = nn.cum_sum %1 {axis = 1 : i64} : tensor<1024x600xf32>
  return %2 : tensor<1024x600xf32>
}",
    "func.func @main(%x: tensor<?x600xf32, #optc.dims<N>>) -> tensor<?x600xf32, #optc.dims<N>> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x600xf32, #optc.dims<N>>) -> tensor<600x?xf32, #optc.dims<N>>
  %1 = nn.cum_sum %0 {axis = 1 : i64} : tensor<600x?xf32, #optc.dims<N>>
  %2 = nn.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<600x?xf32, #optc.dims<N>>) -> tensor<?x600xf32, #optc.dims<N>>
  return %2 : tensor<?x600xf32, #optc.dims<N>>
}",
    "func.func @main(%x: tensor<1x64x96x96xf32>) -> tensor<1x64x96x96xf32> {
  %w = nn.constant dense<0.01> : tensor<64x64x3x3xf32>
  %0 = nn.conv2d %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x96x96xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x96x96xf32>
  %1 = nn.relu %0 : tensor<1x64x96x96xf32>
  return %1 : tensor<1x64x96x96xf32>
}",
    "func.func @main(%x: tensor<1024x600xf32>, %c: i1) -> tensor<1024x600xf32> {
  %0 = scf.if %c -> (tensor<1024x600xf32>) {
    %1 = nn.sin %x : tensor<1024x600xf32>
    scf.yield %1 : tensor<1024x600xf32>
  } else {
    %1 = nn.softmax %x {axis = 1 : i64} : tensor<1024x600xf32>
    scf.yield %1 : tensor<1024x600xf32>
  }
  return %0 : tensor<1024x600xf32>
}",
];

/// The programs of [`LARGE`], and one with large weights.
fn large_modules() -> Vec<Module> {
    let parse = |text: &&str| optc::parse("large.mlir", (*text).to_owned(), None, &LoadOptions::default());
    let mut modules: Vec<Module> = LARGE.iter().map(|text| parse(text).expect("it has no faults")).collect();
    let ctx = Arc::new(Context::new());
    let (mut program, args) = Program::new(ctx.clone(), &[ctx.tensor(&[2, 512], ctx.f32())]);
    // Together they are large; each value is a list of the interpreter, whose failed allocation would abort
    // the process.
    let first = program.constant(&[512, 900], &vec![0.5; 512 * 900]);
    let second = program.constant(&[900, 512], &vec![0.25; 512 * 900]);
    let product = program.op("nn.matmul", &[args[0], first], &[]);
    let product = program.op("nn.matmul", &[product, second], &[]);
    modules.push(program.finish(&[product]));
    modules
}

/// Compiles and runs a program.
fn compile_and_run_all(module: &Module, inputs: &[Array]) -> Result<Vec<Array>, Failure> {
    let options = CompileOptions { threads: 1, ..CompileOptions::default() };
    Model::compile(&mut module.clone(), &options)?.run(inputs)
}

#[test]
fn no_large_block_that_is_refused_ends_the_process() {
    for (number, module) in large_modules().iter().enumerate() {
        let shape: &[u64] = match number {
            2 => &[1, 64, 96, 96],
            4 => &[2, 512],
            _ => &[1024, 600],
        };
        let numbers: Vec<f32> = (0..shape.iter().product()).map(|at: u64| (at % 17) as f32 / 16.0).collect();
        let mut inputs = vec![array("x", shape, &numbers)];
        if number == 3 {
            let element = runtime::ElementKind::Bool;
            inputs.push(Array { name: "c".to_owned(), element, shape: Vec::new(), bytes: vec![1] });
        }
        let expected =
            compile_and_run_all(module, &inputs).unwrap_or_else(|failure| panic!("{number}: {failure}"));
        let mut errors = Vec::new();
        for block in 1.. {
            let (found, is_refused) = ALLOCATOR.refuse_large(block, || compile_and_run_all(module, &inputs));
            match found {
                Ok(found) => assert!(found == expected, "program {number} without block {block}"),
                Err(failure) => errors.push(failure.to_string()),
            }
            if !is_refused {
                break;
            }
        }
        println!("program {number}: {errors:?}");
        assert!(!errors.is_empty() && errors.iter().all(|error| error.contains("no memory")), "{errors:?}");
    }
}
