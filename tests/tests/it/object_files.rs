//! That object files in C compute the results of programs here. Each is linked with its own example by `cc`,
//! with all warnings as errors, and run; its outputs are compared to the bit.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use codegen::{Cpu, Isa};
use ir::Module;
use optc::bundle::{Bundle, EXTERNALS, WeightsPlace, architectures};
use optc::{Array, CompileOptions, Model, Precision, parse};
use runtime::ElementKind;
use tests::graphs::graph;
use tests::programs::array;

/// Functions on strips and on scalars, of each element type that has some.
pub(crate) const FUNCTIONS: &str = "func.func @main(%x: tensor<70xf32>, %y: tensor<70xf64>, %i: tensor<70xi64>) -> (tensor<70xf32>, tensor<70xf64>, tensor<70xi64>) {
  %0 = nn.exp %x : tensor<70xf32>
  %1 = nn.sin %0 : tensor<70xf32>
  %2 = nn.erf %1 : tensor<70xf32>
  %3 = nn.pow %2, %x : tensor<70xf32>
  %4 = nn.sigmoid %3 : tensor<70xf32>
  %5 = nn.atanh %y : tensor<70xf64>
  %6 = nn.cos %5 : tensor<70xf64>
  %7 = nn.floor %6 : tensor<70xf64>
  %8 = nn.add %7, %6 : tensor<70xf64>
  %9 = nn.pow %i, %i : tensor<70xi64>
  return %4, %8, %9 : tensor<70xf32>, tensor<70xf64>, tensor<70xi64>
}";

/// A loop whose number of iterations is an input.
pub(crate) const FLOW: &str = "func.func @main(%n: index, %x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %at = %zero to %n step %one iter_args(%s = %x) -> (tensor<8xf32>) {
    %0 = nn.mul %s, %x : tensor<8xf32>
    %1 = nn.tanh %0 : tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}";

/// Rows of a table, with checked indices.
pub(crate) const TAKE: &str = "func.func @main(%rows: tensor<3xi64>) -> tensor<3x2xf32> {
  %table = nn.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = nn.gather %table, %rows {axis = 0 : i64} : (tensor<3x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}";

pub(crate) fn module(text: &str) -> Module {
    parse("object.mlir", text.into(), None, &Default::default()).unwrap_or_else(|failure| panic!("{failure}"))
}

pub(crate) fn options(isa: Isa) -> CompileOptions {
    CompileOptions { threads: 2, cpu: Cpu::of(isa), ..CompileOptions::default() }
}

pub(crate) fn bundle(module: &Module, isa: Isa, place: WeightsPlace) -> Bundle {
    let built = Bundle::build(&mut module.clone(), &options(isa), "net", place);
    built.unwrap_or_else(|failure| panic!("{failure}"))
}

pub(crate) fn command(folder: &Path, words: &[&str]) -> Output {
    let done = Command::new(words[0]).args(&words[1..]).current_dir(folder).output();
    done.unwrap_or_else(|error| panic!("{}: {error}", words[0]))
}

/// The output of a command, which must succeed.
pub(crate) fn said(folder: &Path, words: &[&str]) -> String {
    let done = command(folder, words);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{words:?}: {}{}", text(&done.stdout), text(&done.stderr));
    text(&done.stdout)
}

/// The C compiler for an instruction set.
fn compiler(isa: Isa) -> &'static str {
    if isa.architecture() == std::env::consts::ARCH { "cc" } else { "aarch64-linux-gnu-gcc" }
}

/// The command that starts a program for an instruction set: if it does not run here, an emulator with the
/// path of the C library.
fn emulator(isa: Isa) -> Vec<String> {
    if isa.architecture() == std::env::consts::ARCH {
        return Vec::new();
    }
    let library = std::env::var("OPTC_AARCH64").expect("it was set when the tests were built");
    vec!["qemu-aarch64".to_owned(), "-L".to_owned(), library]
}

/// Links a bundle's example in a folder.
pub(crate) fn link(folder: &Path, isa: Isa) {
    let words: Vec<&str> = [compiler(isa)].into_iter().chain(LINK.iter().copied()).collect();
    said(folder, &words);
}

const LINK: &[&str] = &[
    "-Wall",
    "-Wextra",
    "-Werror",
    "-std=c11",
    "-pedantic",
    "-Wl,--fatal-warnings,-z,text",
    "main.c",
    "net.o",
    "-lm",
    "-o",
    "net",
];

/// Links a bundle's example, and runs it on these inputs; returns its text output, with the outputs' bytes.
pub(crate) fn run_in_c(
    bundle: &Bundle,
    isa: Isa,
    inputs: &[Array],
    outputs: usize,
) -> (Output, Vec<Vec<u8>>) {
    let folder = tempfile::tempdir().expect("there is a folder for files");
    let folder = folder.path();
    bundle.write(folder).unwrap_or_else(|failure| panic!("{failure}"));
    link(folder, isa);
    run_example(folder, isa, &[], inputs, outputs)
}

/// Runs a linked example at these sizes on these inputs; returns its text output, with the outputs' bytes.
pub(crate) fn run_example(
    folder: &Path,
    isa: Isa,
    sizes: &[u64],
    inputs: &[Array],
    outputs: usize,
) -> (Output, Vec<Vec<u8>>) {
    let mut words = emulator(isa);
    words.push("./net".to_owned());
    words.extend(sizes.iter().map(u64::to_string));
    for (index, input) in inputs.iter().enumerate() {
        let name = format!("in{index}.bin");
        std::fs::write(folder.join(&name), &input.bytes).expect("files can be written");
        words.push(name);
    }
    words.extend((0..outputs).map(|index| format!("out{index}.bin")));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = command(folder, &words);
    let written = (0..outputs).map(|index| std::fs::read(folder.join(format!("out{index}.bin"))));
    (done, written.map(Result::unwrap_or_default).collect())
}

/// The outputs in C equal those here to the bit. For an instruction set that this machine lacks, they equal
/// those of its kernel path here.
pub(crate) fn check(module: &Module, inputs: &[Array], isa: Isa, place: WeightsPlace, name: &str) {
    let here = if isa.missing().is_none() { isa } else { Isa::PATHS[isa.path()] };
    let mut model =
        Model::compile(&mut module.clone(), &options(here)).unwrap_or_else(|failure| panic!("{failure}"));
    let expected = model.run(inputs).unwrap_or_else(|failure| panic!("{failure}"));
    let (done, found) = run_in_c(&bundle(module, isa, place), isa, inputs, expected.len());
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    for (expected, found) in expected.iter().zip(found) {
        let is_same = match here == isa {
            true => expected.bytes == found,
            // The bits of a NaN depend on the processor.
            false => with_one_nan(expected, &expected.bytes) == with_one_nan(expected, &found),
        };
        assert!(is_same, "{name}: `{}` has other bits for {}", expected.name, isa.name());
    }
}

/// The elements of an array, with all NaNs equal.
fn with_one_nan(array: &Array, bytes: &[u8]) -> Vec<u64> {
    let number = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_le_bytes(word);
        let is_nan = match array.element {
            ElementKind::F32 => f32::from_bits(bits as u32).is_nan(),
            ElementKind::F64 => f64::from_bits(bits).is_nan(),
            _ => false,
        };
        if is_nan { u64::MAX } else { bits }
    };
    let wide = if array.element == ElementKind::F64 { 8 } else { 4 };
    bytes.chunks(wide).map(number).collect()
}

pub(crate) fn integers(name: &str, shape: &[u64], values: &[i64]) -> Array {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Array { name: name.to_owned(), element: ElementKind::I64, shape: shape.to_vec(), bytes }
}

#[test]
fn random_graphs_give_the_same_bits() {
    let available = Isa::available();
    for seed in 0..9 {
        let (module, inputs) = graph(seed);
        let place = if seed % 2 == 0 { WeightsPlace::File } else { WeightsPlace::Embedded };
        let isa = available[seed as usize % available.len()];
        check(&module, &inputs, isa, place, &format!("seed {seed}"));
    }
}

/// The inputs of [`FUNCTIONS`].
pub(crate) fn function_inputs() -> [Array; 3] {
    let numbers: Vec<f32> = (0..70).map(|index| index as f32 / 16.0 - 2.0).collect();
    let doubles = numbers.iter().flat_map(|number| (f64::from(*number) / 3.0).to_le_bytes()).collect();
    let doubles = Array { name: "arg1".into(), element: ElementKind::F64, shape: vec![70], bytes: doubles };
    let whole: Vec<i64> = (0..70).map(|number| number % 9).collect();
    [array("arg0", &[70], &numbers), doubles, integers("arg2", &[70], &whole)]
}

#[test]
fn functions_give_the_same_bits_for_each_instruction_set() {
    for isa in Isa::available() {
        check(&module(FUNCTIONS), &function_inputs(), isa, WeightsPlace::Embedded, "functions");
    }
}

#[test]
fn loops_run_as_often_as_data_say() {
    for rounds in [0, 3] {
        let inputs = [integers("arg0", &[], &[rounds]), array("arg1", &[8], &[0.75; 8])];
        check(&module(FLOW), &inputs, Isa::detect(), WeightsPlace::File, "a loop");
    }
}

#[test]
fn a_fault_in_the_data_is_a_status_with_the_programs_message() {
    a_fault_is_a_status(Isa::detect());
}

/// A fault in the data has the program's message in C.
pub(crate) fn a_fault_is_a_status(isa: Isa) {
    let good = [integers("arg0", &[3], &[2, 0, -1])];
    check(&module(TAKE), &good, isa, WeightsPlace::File, "rows");
    let bad = [integers("arg0", &[3], &[2, 3, 0])];
    let mut model = Model::compile(&mut module(TAKE), &options(Isa::detect())).expect("it compiles");
    let message = model.run(&bad).expect_err("3 is no row").to_string();
    let (done, _) = run_in_c(&bundle(&module(TAKE), isa, WeightsPlace::File), isa, &bad, 1);
    let found = String::from_utf8_lossy(&done.stderr);
    assert!(
        !done.status.success() && message.contains(found.trim()) && !found.is_empty(),
        "{found} {message}"
    );
}

#[test]
fn an_object_file_has_the_documented_symbols_and_leaves_few_to_others() {
    let (module, _) = graph(3);
    let is_made = |isa: &Isa| architectures().any(|architecture| architecture == isa.architecture());
    for isa in Isa::ALL.into_iter().filter(is_made) {
        let folder = tempfile::tempdir().expect("there is a folder for files");
        let folder = folder.path();
        bundle(&module, isa, WeightsPlace::File).write(folder).unwrap_or_else(|failure| panic!("{failure}"));
        let listed = said(folder, &["nm", "-g", "net.o"]);
        let (mut defined, mut left) = (BTreeSet::new(), BTreeSet::new());
        for line in listed.lines() {
            let mut words = line.split_whitespace().rev();
            let name = words.next().unwrap_or_default().to_owned();
            let is_defined = words.next() != Some("U");
            if is_defined {
                defined.insert(name)
            } else {
                left.insert(name)
            };
        }
        assert_eq!(Vec::from_iter(defined), ["net_message", "net_run", "net_run_threads", "net_supported"]);
        assert!(left.iter().all(|name| EXTERNALS.contains(&&**name)), "{left:?}");
    }
}

#[test]
fn the_same_program_gives_the_same_files() {
    let (module, _) = graph(5);
    let build = || -> Vec<(String, Vec<u8>)> {
        let files = bundle(&module, Isa::Avx2, WeightsPlace::Embedded).files;
        files.into_iter().map(|file| (file.name, (*file.bytes).as_ref().to_vec())).collect()
    };
    assert_eq!(build(), build());
}

#[test]
fn products_of_bf16_are_refused() {
    let text = "func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = nn.constant dense<0.3> : tensor<8x16xf32>
  %0 = nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}";
    let options = CompileOptions { precision: Precision::Bf16, ..options(Isa::Avx2) };
    let built = Bundle::build(&mut module(text), &options, "net", WeightsPlace::File);
    let message = built.err().map(|failure| failure.to_string()).expect("it is refused");
    assert!(message.contains("takes --precision=f32"), "{message}");
}

#[test]
fn the_arena_is_the_planned_one() {
    let (module, _) = graph(1);
    let model = Model::compile(&mut module.clone(), &options(Isa::detect())).expect("it compiles");
    let arena = model.program().only().expect("its sizes are known").arena_bytes();
    let files = bundle(&module, Isa::detect(), WeightsPlace::File).files;
    let header = files.iter().find(|file| file.name == "net.h").expect("there is a header");
    let header = String::from_utf8_lossy((*header.bytes).as_ref()).into_owned();
    assert!(arena > 0 && header.contains(&format!("#define net_ARENA_BYTES {arena}\n")), "{header}");
}
