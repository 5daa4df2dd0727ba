//! The kernel and the target: each is planned, run, and compared with the interpreter.

use std::sync::Arc;

use codegen::Cpu;
use ir::Module;
use ir::interp::{self, Tensor};
use my_machine::{kernel, target::Board};
use optc::artifact::ArtifactOptions;
use optc::opt::Setup;
use optc::{Array, Artifact, CompileOptions, DeadMemory, Model};
use runtime::{as_bytes, as_bytes_mut};

/// The filter overwrites what dies in it, and nothing else is left to write.
const FILTERED: &str = "func.func @main(%x: tensor<6x100xf32>) -> tensor<6x100xf32> {
  %0 = nn.constant dense<[0.5, 0.25, -0.125]> : tensor<3xf32>
  %1 = nn.tanh %x : tensor<6x100xf32>
  %2 = my.fir %1, %0 : (tensor<6x100xf32>, tensor<3xf32>) -> tensor<6x100xf32>
  %3 = nn.reduce_max %2 {axes = array<i64: 0>} : (tensor<6x100xf32>) -> tensor<100xf32>
  %4 = nn.sub %x, %3 : (tensor<6x100xf32>, tensor<100xf32>) -> tensor<6x100xf32>
  return %4 : tensor<6x100xf32>
}";

const PRODUCTS: &str = "func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %w = nn.constant dense<0.125> : tensor<16x16xf32>
  %0 = nn.matmul %x, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = nn.add %0, %x : tensor<8x16xf32>
  %2 = nn.matmul %1, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %3 = nn.relu %2 : tensor<8x16xf32>
  %4 = nn.sub %3, %x : tensor<8x16xf32>
  return %4 : tensor<8x16xf32>
}";

fn parse(text: &str) -> Module {
    let ctx = Setup { dialects: vec![&kernel::MY], ..Setup::default() }.context();
    ir::text::parse(&ctx, "t", text.to_owned()).unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)))
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37) % 101) as f32 / 32.0 - 1.5).collect()
}

/// Compiles and runs a program with dead memory poisoned, and compares the results with the interpreter's up
/// to this difference. Returns the text of its plan.
fn check(text: &str, shape: &[u64], options: &CompileOptions, most_off: f64) -> String {
    let mut module = parse(text);
    let x = numbers(shape.iter().product::<u64>() as usize);
    let input = Tensor::new(&module.ctx, module.ctx.tensor(shape, module.ctx.f32()), as_bytes(&x).to_vec());
    let expected = interp::run(&module, "main", &[input]).expect("it has a meaning")[0].to_f32();
    for threads in [2, 1] {
        let mut module = module.clone();
        let options = CompileOptions { threads, dead: DeadMemory::Poisoned, ..options.clone() };
        let mut model = Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
        let found = model.run(&[Array::f32("x", shape, &x)]).unwrap_or_else(|failure| panic!("{failure}"));
        for (found, expected) in found[0].to_f64().into_iter().zip(&expected) {
            assert!((found - f64::from(*expected)).abs() <= most_off, "{found} is not {expected}");
        }
    }
    Model::compile(&mut module, options).unwrap_or_else(|failure| panic!("{failure}"));
    ir::text::print(&module)
}

#[test]
fn the_plan_counts_the_kernels_scratch_and_lets_it_overwrite() {
    let options = CompileOptions { threads: 2, cpu: kernel::cpu(), ..CompileOptions::default() };
    let plan = check(FILTERED, &[6, 100], &options, 0.0);
    // Rows of 400 bytes for two threads, each row aligned to 64.
    assert!(plan.contains("mem.kernel = \"my_fir\"") && plan.contains("mem.scratch = 896"), "{plan}");
    assert!(plan.contains("mem.tie = array<i64: 0>"), "{plan}");
}

#[test]
fn a_kernel_runs_at_sizes_that_come_up_later() {
    let text = FILTERED.replace("tensor<6x100xf32>", "tensor<?x100xf32, #optc.dims<N>>");
    let options = CompileOptions { threads: 2, cpu: kernel::cpu(), ..CompileOptions::default() };
    let program = optc::compile(&mut parse(&text), &options);
    let program = Arc::new(program.unwrap_or_else(|failure| panic!("{failure}")));
    let mut context = program.context(2).unwrap();
    for rows in [1, 6, 9] {
        let fixed = FILTERED.replace("6x100", &format!("{rows}x100"));
        let module = parse(&fixed);
        let x = numbers(rows * 100);
        let ty = module.ctx.tensor(&[rows as u64, 100], module.ctx.f32());
        let input = Tensor::new(&module.ctx, ty, as_bytes(&x).to_vec());
        let expected = interp::run(&module, "main", &[input]).unwrap()[0].to_f32();
        let mut y = vec![0f32; x.len()];
        context.set_shape("x", &[rows as u64, 100]).unwrap();
        context.run(&[as_bytes(&x)], &mut [as_bytes_mut(&mut y)]).unwrap();
        assert_eq!(y, expected, "{rows} rows");
    }
}

#[test]
fn an_artifact_runs_the_kernel_of_the_program_that_loads_it() {
    let options = CompileOptions { threads: 1, cpu: kernel::cpu(), ..CompileOptions::default() };
    let x = Array::f32("x", &[6, 100], &numbers(600));
    let expected =
        Model::compile(&mut parse(FILTERED), &options).unwrap().run(std::slice::from_ref(&x)).unwrap();
    let path = std::env::temp_dir().join(format!("my-machine-{}.optc", std::process::id()));
    Artifact::build(&parse(FILTERED), &options).unwrap().write(&path).unwrap();
    let load = |cpu| {
        let artifact = Artifact::open(&path)?.with_dialects(&[&kernel::MY]);
        artifact.model(&ArtifactOptions { cpu, ..ArtifactOptions::default() })
    };
    let (found, refused) = (load(Some(kernel::cpu())), load(None));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found.unwrap().run(&[x]).unwrap(), expected);
    let refused = refused.map(drop).unwrap_err().to_string();
    assert!(refused.contains("the kernel `my_fir` does not exist"), "{refused}");
}

#[test]
fn a_processor_without_the_kernel_refuses_the_operation() {
    let Err(failure) = Model::compile(&mut parse(FILTERED), &CompileOptions::default()) else {
        panic!("it was compiled");
    };
    assert!(failure.to_string().contains("the kernel `my_fir` does not exist"), "{failure}");
}

#[test]
fn passes_ask_the_target_and_code_runs_what_they_plan() {
    let plain = CompileOptions { threads: 1, ..CompileOptions::default() };
    let board = Arc::new(Board { cpu: Cpu::default(), fast_bytes: 4096 });
    let own = CompileOptions { target: Some(board), ..plain.clone() };
    let [theirs, ours] = [plain, own].map(|options| check(PRODUCTS, &[8, 16], &options, 1e-5));
    assert!(!theirs.contains("[\"fast\""), "{theirs}");
    assert!(ours.contains("[\"fast\", 0, 512]"), "{ours}");
    // Only the CPU fuses the sum of the first product and x.
    assert!(ours.matches("optc.group").count() < theirs.matches("optc.group").count(), "{ours}");
}

#[test]
fn the_examples_are_short() {
    for text in [include_str!("../src/kernel.rs"), include_str!("../src/target.rs")] {
        assert!(text.lines().count() <= 80);
    }
}

/// The command of an embedder runs the kernel, planned for the target.
#[test]
fn a_tool_runs_programs_with_the_kernel_and_the_target() {
    let program = std::env::temp_dir().join(format!("my_machine_{}.mlir", std::process::id()));
    std::fs::write(&program, FILTERED).unwrap();
    let [path, values] = [program.clone(), program.with_extension("npz")];
    let setup = |cpu: Cpu| {
        let target = Board { cpu, fast_bytes: 4096 };
        Setup {
            name: "my-machine",
            cpu,
            target: Some(Arc::new(target)),
            dialects: vec![&kernel::MY],
            ..Setup::default()
        }
    };
    let run = |cpu: Cpu, more: &[&str]| {
        let words = ["my-machine".into(), "run".into(), path.clone().into_os_string(), "--random".into()];
        let more = more.iter().map(std::ffi::OsString::from);
        optc::cli::tool(&setup(cpu), words.into_iter().chain(more))
    };
    let file = values.display().to_string();
    assert_eq!(run(kernel::cpu(), &["--interpret", "--out", &file]), std::process::ExitCode::SUCCESS);
    assert_eq!(run(kernel::cpu(), &["--poison", "--check", &file]), std::process::ExitCode::SUCCESS);
    assert_eq!(run(Cpu::default(), &[]), std::process::ExitCode::FAILURE, "there is no kernel");
    for file in [path, values] {
        std::fs::remove_file(file).unwrap();
    }
}
