//! That object files of named sizes compute in C, at each size, the results of programs here. Frames are
//! bound there by tables made from all frames; the outputs are compared to the bit, and arenas to the byte.

use std::path::Path;
use std::sync::Arc;

use codegen::{Cpu, Isa};
use ir::Module;
use optc::bundle::{Bundle, WeightsPlace};
use optc::{Array, CompileOptions, parse};
use runtime::{Extent, Program, RunContext};
use tests::programs::array;
use tests::random::Random;
use tests::sized_graphs::{NAMES, sized_graph};

use crate::object_files::{command, link, run_example, said};

/// A table with gathered rows, a mask that depends on the size, a product, and a condition on the data.
const ROWS: &str = "func.func @main(%x: tensor<?x4xf32, #optc.dims<N>>, %rows: tensor<?xi64, #optc.dims<N>>)
    -> (tensor<?x?xf32, #optc.dims<N, N>>, tensor<?x2xf32, #optc.dims<N>>) {
  %table = nn.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x4xf32, #optc.dims<N>>) -> tensor<4x?xf32, #optc.dims<N>>
  %1 = nn.matmul %x, %0 : (tensor<?x4xf32, #optc.dims<N>>, tensor<4x?xf32, #optc.dims<N>>) -> tensor<?x?xf32, #optc.dims<N, N>>
  %2 = nn.softmax %1 {axis = 1 : i64} : tensor<?x?xf32, #optc.dims<N, N>>
  %3 = nn.gather %table, %rows {axis = 0 : i64} : (tensor<3x2xf32>, tensor<?xi64, #optc.dims<N>>) -> tensor<?x2xf32, #optc.dims<N>>
  return %2, %3 : tensor<?x?xf32, #optc.dims<N, N>>, tensor<?x2xf32, #optc.dims<N>>
}";

fn module(text: &str) -> Module {
    parse("sizes.mlir", text.into(), None, &Default::default()).unwrap_or_else(|failure| panic!("{failure}"))
}

fn options(isa: Isa, ranges: &[(&str, u64, u64)]) -> CompileOptions {
    let mut options = CompileOptions { threads: 2, cpu: Cpu::of(isa), ..CompileOptions::default() };
    let range = |(name, least, most): &(&str, u64, u64)| ((*name).to_owned(), (*least, *most));
    options.sizes.ranges = ranges.iter().map(range).collect();
    options
}

/// A program here, and the same in a folder for an instruction set, linked with its example.
struct Both {
    program: Arc<Program>,
    isa: Isa,
    folder: tempfile::TempDir,
}

impl Both {
    fn new(module: &Module, options: &CompileOptions, place: WeightsPlace) -> Both {
        let folder = tempfile::tempdir().expect("there is a folder for files");
        let built = Bundle::build(&mut module.clone(), options, "net", place);
        let built = built.unwrap_or_else(|failure| panic!("{failure}"));
        built.write(folder.path()).unwrap_or_else(|failure| panic!("{failure}"));
        let isa = options.cpu.isa();
        link(folder.path(), isa);
        let here = if isa.missing().is_none() { isa } else { Isa::PATHS[isa.path()] };
        let options = CompileOptions { cpu: options.cpu.with_isa(here), ..options.clone() };
        let program = optc::compile(&mut module.clone(), &options);
        Both { isa, program: Arc::new(program.unwrap_or_else(|failure| panic!("{failure}"))), folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The inputs' shapes at these sizes.
    fn shapes(&self, sizes: &[u64]) -> Vec<Vec<u64>> {
        let size = |extent: &Extent| match extent {
            Extent::Known(size) => *size,
            Extent::Symbol(number) => sizes[*number],
            Extent::Expr(_) => panic!("inputs have plain sizes"),
        };
        self.program.inputs().iter().map(|input| input.extents.iter().map(size).collect()).collect()
    }

    /// The outputs here.
    fn run(&self, context: &mut RunContext<'_>, inputs: &[Array]) -> Vec<Vec<u8>> {
        for (spec, input) in self.program.inputs().iter().zip(inputs) {
            context.set_shape(&spec.name, &input.shape).unwrap_or_else(|error| panic!("{error}"));
        }
        let at = context.prepare().unwrap_or_else(|error| panic!("{error}")).clone();
        let mut outputs: Vec<Vec<u8>> = at.outputs().iter().map(|desc| vec![0; desc.size_bytes]).collect();
        let given: Vec<&[u8]> = inputs.iter().map(|input| &*input.bytes).collect();
        let mut taken: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        context.run(&given, &mut taken).unwrap_or_else(|error| panic!("{error}"));
        outputs
    }

    /// Compares the bits at these sizes.
    fn check(&self, sizes: &[u64], inputs: &[Array], name: &str) {
        let mut context = self.program.context(1).expect("there is memory");
        let expected = self.run(&mut context, inputs);
        let (done, found) = run_example(self.path(), self.isa, sizes, inputs, expected.len());
        assert!(done.status.success(), "{name} {sizes:?}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(expected == found, "{name} has other bits at {sizes:?}");
    }

    /// Compares the bytes of the arena, and of inputs and outputs, at each of all sizes.
    fn check_bytes(&self, all: &[Vec<u64>], name: &str) {
        let symbols = self.program.symbols().len();
        let text = format!(
            "#include <stdio.h>\n#include <stdlib.h>\n#include \"net.h\"\n
            int main(int argc, char **argv) {{
                for (int at = 1; at + {symbols} <= argc; at += {symbols}) {{
                    uint64_t numbers[{symbols}];
                    for (int i = 0; i < {symbols}; i++) numbers[i] = strtoull(argv[at + i], NULL, 10);
                    const struct net_sizes *sizes = (const struct net_sizes *)numbers;
                    printf(\"%lld %lld %lld\\n\", (long long)net_arena_bytes(sizes),
                        (long long)net_input_bytes(sizes, 0), (long long)net_output_bytes(sizes, 0));
                }}
                return 0;
            }}"
        );
        std::fs::write(self.path().join("bytes.c"), text).expect("files can be written");
        said(self.path(), &["cc", "bytes.c", "net.o", "-lm", "-o", "bytes"]);
        let mut words = vec!["./bytes".to_owned()];
        words.extend(all.iter().flatten().map(u64::to_string));
        let found = said(self.path(), &words.iter().map(String::as_str).collect::<Vec<_>>());
        let mut arenas = std::collections::BTreeSet::new();
        for (line, sizes) in found.lines().zip(all) {
            let expected = match self.program.at(sizes) {
                Ok(at) => {
                    arenas.insert(at.arena_bytes());
                    let sides = [at.inputs(), at.outputs()].map(|tensors| tensors[0].size_bytes);
                    format!("{} {} {}", at.arena_bytes(), sides[0], sides[1])
                }
                Err(_) => "-1 -1 -1".to_owned(),
            };
            assert_eq!(line, expected, "{name} at {sizes:?}");
        }
        assert_eq!(found.lines().count(), all.len());
        assert!(arenas.len() > 1, "{name}: sizes decide the arena");
    }
}

fn integers(shape: &[u64], values: &[i64]) -> Array {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Array { name: "rows".into(), element: runtime::ElementKind::I64, shape: shape.to_vec(), bytes }
}

#[test]
fn random_graphs_give_the_same_bits_at_each_size() {
    check_random_graphs(Isa::detect());
}

/// Random graphs have the same bits in C as here, and need the same bytes if they run here too.
pub(crate) fn check_random_graphs(isa: Isa) {
    let ranges = [(NAMES[0], 1, 3), (NAMES[1], 1, 5), (NAMES[2], 2, 6)];
    let places = [WeightsPlace::File, WeightsPlace::Embedded];
    let mut random = Random::new(7);
    for seed in 0..5 {
        let module = sized_graph(seed);
        let both = Both::new(&module, &options(isa, &ranges), places[seed as usize % 2]);
        let names: Vec<&str> = both.program.symbols().iter().map(|symbol| &*symbol.name).collect();
        let range = |name: &&str| ranges.iter().find(|range| range.0 == *name).expect("it has a range");
        let name = format!("seed {seed}");
        for at in 0..6 {
            let sizes = names.iter().map(range).map(|(_, least, most)| match at {
                0 => *least,
                1 => *most,
                _ => least + random.below((most - least + 1) as usize) as u64,
            });
            let sizes: Vec<u64> = sizes.collect();
            if both.program.at(&sizes).is_err() {
                let (done, _) = run_example(both.path(), both.isa, &sizes, &[], 0);
                assert!(!done.status.success(), "{name}: {sizes:?} are bound");
                continue;
            }
            let shapes = both.shapes(&sizes);
            let input = |shape: &Vec<u64>| array("x", shape, &random.floats(shape.iter().product()));
            let inputs: Vec<Array> = shapes.iter().map(input).collect();
            both.check(&sizes, &inputs, &name);
        }
        if isa.missing().is_some() {
            continue;
        }
        let all: Vec<Vec<u64>> = names.iter().map(range).fold(vec![Vec::new()], |all, (_, least, most)| {
            let with = |sizes: &Vec<u64>| {
                let sizes = sizes.clone();
                (*least..=*most).map(move |size| [&sizes[..], &[size]].concat())
            };
            all.iter().flat_map(with).collect()
        });
        both.check_bytes(&all, &name);
    }
}

#[test]
fn a_fault_in_the_data_has_its_message_and_sizes_outside_are_refused() {
    let both = Both::new(&module(ROWS), &options(Isa::detect(), &[("N", 1, 40)]), WeightsPlace::File);
    for n in [1u64, 2, 16, 39, 40] {
        let numbers: Vec<f32> = (0..4 * n).map(|number| number as f32 / 7.0 - 2.0).collect();
        let rows: Vec<i64> = (0..n as i64).map(|row| row % 3).collect();
        let inputs = [array("x", &[n, 4], &numbers), integers(&[n], &rows)];
        both.check(&[n], &inputs, "rows");
        let bad: Vec<i64> = rows.iter().map(|row| row + 1).collect();
        let (done, _) =
            run_example(both.path(), both.isa, &[n], &[inputs[0].clone(), integers(&[n], &bad)], 0);
        let message = String::from_utf8_lossy(&done.stderr).into_owned();
        let is_fault = n > 2 && message.contains("axis") || n <= 2 && done.status.success();
        assert!(is_fault, "{n}: {message}");
    }
    for n in ["0", "41", "18446744073709551615"] {
        let done = command(both.path(), &["./net", n]);
        let message = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && message.contains("can't have these sizes"), "{n}: {message}");
    }
}

#[test]
fn what_has_no_frame_for_each_size_is_refused() {
    for (ranges, expected) in [(&[][..], "has no greatest one"), (&[("N", 1, 20_000)], "there are 20000")] {
        let built =
            Bundle::build(&mut module(ROWS), &options(Isa::Scalar, ranges), "net", WeightsPlace::File);
        let message = built.err().expect("it is refused").to_string();
        assert!(message.contains(expected) && message.contains("--dim 'N"), "{message}");
    }
}

/// A constant next to a branch, and an equal one in it.
const CONSTANTS: &str =
    "func.func @main(%x: tensor<?xf32, #optc.dims<N>>, %c: i1) -> tensor<?xf32, #optc.dims<N>> {
  %k = nn.constant dense<0.5> : tensor<f32>
  %0 = scf.if %c -> (tensor<?xf32, #optc.dims<N>>) {
    %1 = nn.constant dense<0.5> : tensor<f32>
    %2 = nn.mul %x, %1 : (tensor<?xf32, #optc.dims<N>>, tensor<f32>) -> tensor<?xf32, #optc.dims<N>>
    scf.yield %2 : tensor<?xf32, #optc.dims<N>>
  } else {
    scf.yield %x : tensor<?xf32, #optc.dims<N>>
  }
  %3 = nn.add %0, %k : (tensor<?xf32, #optc.dims<N>>, tensor<f32>) -> tensor<?xf32, #optc.dims<N>>
  return %3 : tensor<?xf32, #optc.dims<N>>
}";

#[test]
fn equal_constants_of_different_regions_are_kept_once() {
    let options = options(Isa::Scalar, &[("N", 1, 40)]);
    let built = Bundle::build(&mut module(CONSTANTS), &options, "net", WeightsPlace::File);
    built.map(drop).unwrap_or_else(|failure| panic!("{failure}"));
}
