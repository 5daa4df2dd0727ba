//! Every form of control flow, compiled: machine code computes the interpreter's results, and stops where it
//! must.

use std::sync::Arc;

use ir::interp::{self, Tensor};
use ir::{Context, Module};
use optc::{Array, CompileOptions, DeadMemory};
use runtime::ElementKind;
use tests::programs::{array, execute, floats};

fn parse(text: &str) -> Module {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "flow.mlir", text.to_owned());
    module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)))
}

fn number(element: ElementKind, bytes: &[u8]) -> Array {
    Array { name: String::new(), element, shape: Vec::new(), bytes: bytes.to_vec() }
}

fn index(value: i64) -> Array {
    number(ElementKind::I64, &value.to_le_bytes())
}

fn i32(value: i32) -> Array {
    number(ElementKind::I32, &value.to_le_bytes())
}

fn run(text: &str, inputs: &[Array]) -> Result<Vec<Array>, String> {
    let options = CompileOptions { threads: 2, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
    execute(&mut parse(text), inputs, &options).map_err(|failure| failure.to_string())
}

/// Runs `@main` as machine code and in the interpreter on these arguments: the first result must have the
/// `expected` numbers in both.
#[track_caller]
fn check(text: &str, inputs: &[Array], expected: &[f32]) {
    let found = run(text, inputs).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(floats(&found[0]), expected);
    let module = parse(text);
    let body = module.function("main").expect("it is called so");
    let args = body.args(body.entry(body.root()).expect("it has a body"));
    let tensor =
        |(arg, input): (&ir::Value, &Array)| Tensor::new(&module.ctx, body.ty(*arg), input.bytes.clone());
    let tensors: Vec<Tensor> = args.iter().zip(inputs).map(tensor).collect();
    let interpreted = interp::run(&module, "main", &tensors).expect("it runs");
    assert_eq!(interpreted[0].to_f32(), expected);
}

fn pair(a: f32, b: f32) -> Array {
    array("", &[2], &[a, b])
}

const FIBONACCI: &str = "func.func @main(%n: index, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %y) -> (tensor<2xf32>, tensor<2xf32>) {
    %c = nn.add %a, %b : tensor<2xf32>
    scf.yield %b, %c : tensor<2xf32>, tensor<2xf32>
  }
  return %r#0 : tensor<2xf32>
}";

#[test]
fn a_counting_loop_runs_its_rounds() {
    let inputs = |n| [index(n), pair(0.0, 1.0), pair(1.0, 1.0)];
    check(FIBONACCI, &inputs(0), &[0.0, 1.0]);
    check(FIBONACCI, &inputs(-3), &[0.0, 1.0]);
    check(FIBONACCI, &inputs(10), &[55.0, 89.0]);
}

#[test]
fn values_that_change_places_are_copied_through_scratch() {
    let text =
        "func.func @main(%n: index, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %y) -> (tensor<2xf32>, tensor<2xf32>) {
    scf.yield %b, %a : tensor<2xf32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}";
    check(text, &[index(3), pair(1.0, 2.0), pair(3.0, 4.0)], &[3.0, 4.0]);
    check(text, &[index(4), pair(1.0, 2.0), pair(3.0, 4.0)], &[1.0, 2.0]);
}

#[test]
fn counters_of_32_bits_keep_their_sign() {
    let loop_of = |unsigned: &str| {
        format!(
            "func.func @main(%from: i32, %to: i32, %x: tensor<2xf32>) -> tensor<2xf32> {{
  %one = arith.constant 1 : i32
  %r = scf.for {unsigned} %i = %from to %to step %one iter_args(%a = %x) -> (tensor<2xf32>) : i32 {{
    %c = nn.add %a, %x : tensor<2xf32>
    scf.yield %c : tensor<2xf32>
  }}
  return %r : tensor<2xf32>
}}"
        )
    };
    check(&loop_of(""), &[i32(-2), i32(1), pair(1.0, 2.0)], &[4.0, 8.0]);
    check(&loop_of(""), &[i32(0), i32(-2), pair(1.0, 2.0)], &[1.0, 2.0]);
    check(&loop_of("unsigned"), &[i32(-4), i32(-2), pair(1.0, 2.0)], &[3.0, 6.0]);
}

#[test]
fn the_counter_of_a_loop_is_a_value() {
    let text = "func.func @main(%n: index, %x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<2xf32>) {
    %late = arith.cmpi sge, %i, %three : index
    %s = scf.if %late -> (tensor<2xf32>) {
      %c = nn.add %a, %x : tensor<2xf32>
      scf.yield %c : tensor<2xf32>
    } else {
      scf.yield %a : tensor<2xf32>
    }
    scf.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}";
    check(text, &[index(5), pair(1.0, 2.0)], &[3.0, 6.0]);
}

#[test]
fn a_switch_goes_where_its_number_says() {
    let text = "func.func @main(%k: i32, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  cf.switch %k : i32, [
    default: ^bb1(%x : tensor<2xf32>),
    -1: ^bb1(%y : tensor<2xf32>),
    7: ^bb2
  ]
^bb1(%z: tensor<2xf32>):
  return %z : tensor<2xf32>
^bb2:
  %s = nn.add %x, %y : tensor<2xf32>
  return %s : tensor<2xf32>
}";
    let inputs = |k| [i32(k), pair(1.0, 2.0), pair(3.0, 4.0)];
    check(text, &inputs(0), &[1.0, 2.0]);
    check(text, &inputs(-1), &[3.0, 4.0]);
    check(text, &inputs(7), &[4.0, 6.0]);
}

#[test]
fn a_contraction_in_a_loop_has_its_scratch_and_layout() {
    let text = "func.func @main(%n: index, %x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %w = nn.constant dense<2.0> : tensor<1x1x1x1xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<1x1x2x2xf32>) {
    %c = nn.conv2d %a, %w : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
    %d = nn.relu %c : tensor<1x1x2x2xf32>
    scf.yield %d : tensor<1x1x2x2xf32>
  }
  return %r : tensor<1x1x2x2xf32>
}";
    check(text, &[index(3), array("", &[1, 1, 2, 2], &[1.0, 2.0, -3.0, 4.0])], &[8.0, 16.0, 0.0, 32.0]);
}

#[test]
fn an_assertion_that_does_not_hold_is_an_error() {
    let text = "func.func @main(%n: index, %x: tensor<2xf32>) -> tensor<2xf32> {
  %three = arith.constant 3 : index
  %fits = arith.cmpi slt, %n, %three : index
  cf.assert %fits, \"too many rounds\"
  %y = nn.neg %x : tensor<2xf32>
  return %y : tensor<2xf32>
}";
    check(text, &[index(2), pair(1.0, 2.0)], &[-1.0, -2.0]);
    let failure = run(text, &[index(3), pair(1.0, 2.0)]).expect_err("3 is not less than 3");
    assert!(failure.contains("too many rounds"), "{failure}");
}

#[test]
fn a_call_is_refused_with_what_helps() {
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @other(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32> attributes {no_inline} {
  %y = nn.neg %x : tensor<2xf32>
  return %y : tensor<2xf32>
}";
    let failure = run(text, &[pair(1.0, 2.0)]).expect_err("a call that is kept is refused");
    assert!(failure.contains("flow.mlir:2:") && failure.contains("inline"), "{failure}");
}
