//! For random modules (all operations from their rows, branches, loops, blocks, calls, named sizes), passes
//! in any order and machine code of any CPU level, at any number of threads, compute the interpreter's
//! results.
//!
//! `OPTC_SEEDS=0..100000 cargo test --release -p optc-tests --test it random_modules` tries more of them. A
//! failing module is reduced and written to a file; `OPTC_MODULE=FILE` with its seed tries that file alone.
//! `fuzz/run modules` lets a fuzzer write them.

use std::sync::Arc;

use ir::Context;
use optc::{Array, CompileOptions, Model};
use passes::manager::RunOptions;
use tests::trials::Tried;

/// Seeds of modules with a rare structure: the peak in the trial of `lines` is a copy made only there.
const RARE: [u64; 1] = [376];

const DEFAULT: std::ops::Range<u64> = 0..300;

fn seeds() -> std::ops::Range<u64> {
    let said = std::env::var("OPTC_SEEDS").unwrap_or_default();
    let ends = said.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.unwrap_or(DEFAULT)
}

#[test]
fn passes_in_any_order_and_machine_code_keep_the_meaning_of_any_module() {
    let seeds = seeds();
    let rare = RARE.into_iter().filter(|_| seeds == DEFAULT);
    let tried = Tried::of(seeds.clone().chain(rare), std::env::var("OPTC_MODULE").ok().as_deref());
    println!("{tried}");
    assert!(tried.faults.is_empty(), "{} faults:\n{}", tried.faults.len(), tried.faults.join("\n"));
    assert!(2 * tried.same() > tried.count(), "only {} modules are compiled", tried.same());
}

/// Runs passes on a text, then compiles and runs it on zeros of these shapes.
#[track_caller]
fn check(passes: &str, text: &str, shapes: &[&[u64]]) {
    let ctx = Arc::new(Context::new());
    let mut module = ir::text::parse(&ctx, "t", text.to_owned()).expect("it has no faults");
    optc::run_pipeline(&mut module, passes, &RunOptions::new(codegen::Cpu::native()))
        .unwrap_or_else(|failure| panic!("{failure}"));
    let inputs: Vec<Array> = shapes
        .iter()
        .map(|shape| Array::f32("", shape, &vec![0.0; shape.iter().product::<u64>() as usize]))
        .collect();
    let mut model =
        Model::compile(&mut module, &CompileOptions::default()).unwrap_or_else(|failure| panic!("{failure}"));
    model.run(&inputs).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_planned_function_beside_one_of_named_sizes_is_no_hindrance() {
    let text = "func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%a: tensor<?x4xf32, #optc.dims<N>>) -> tensor<?x4xf32, #optc.dims<N>> {
  %0 = nn.neg %a : tensor<?x4xf32, #optc.dims<N>>
  return %0 : tensor<?x4xf32, #optc.dims<N>>
}";
    for passes in ["select", "schedule", "inplace", "inplace,plan"] {
        check(passes, text, &[&[3, 4]]);
    }
}

#[test]
fn an_argument_is_returned_at_all_sizes_without_the_pass_inplace() {
    let text = "func.func @main(%a: tensor<?x4xf32, #optc.dims<N>>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<?x4xf32, #optc.dims<N>>) {
  return %b, %a : tensor<3xf32>, tensor<?x4xf32, #optc.dims<N>>
}";
    for passes in ["select,plan", "plan"] {
        check(passes, text, &[&[2, 4], &[3]]);
    }
}
