//! States that a function keeps from run to run: each run reads the states left by the one before, as in the
//! interpreter.

use std::sync::Arc;

use ir::dims::{Bindings, substitute};
use ir::interp::{self, Tensor};
use ir::plan::signature::Signature;
use ir::{Context, Module};
use optc::{CompileOptions, DeadMemory, Model};
use tests::programs::{array, floats};

fn parse(text: &str) -> Module {
    let module = ir::text::parse(&Arc::new(Context::new()), "states.mlir", text.to_owned());
    module.unwrap_or_else(|faults| panic!("{} faults: {}", faults.len(), faults[0].message))
}

/// Compiles, sets the states to 1, 2, ..., and runs with one input after the other, each of 40 columns and of
/// these rows (or of 40 elements, if `None`). Returns the outputs and next states of each run, from the
/// program and from the interpreter.
fn run(text: &str, rows: &[Option<u64>]) -> [Vec<Vec<f32>>; 2] {
    let module = parse(text);
    let options = CompileOptions { threads: 1, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
    let mut planned = module.clone();
    let mut model = Model::compile(&mut planned, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let shape = |rows: Option<u64>| -> Vec<u64> { rows.into_iter().chain([40]).collect() };
    let ctx = &module.ctx;
    let body = module.function("main").expect("there is one");
    let signature = Signature::of(ctx, body).expect("it is well formed");
    let names: Vec<&str> = signature.args.iter().map(|arg| &*arg.name).collect();
    model.set_shape(names[0], &shape(rows[0])).unwrap_or_else(|failure| panic!("{failure}"));
    let first = |index: usize| vec![index as f32 + 1.0; 40];
    let states: Vec<_> = (1..names.len()).map(|index| array(names[index], &[40], &first(index))).collect();
    model.set_states(&states).unwrap_or_else(|failure| panic!("{failure}"));
    let tensor = |shape: &[u64], values: &[f32]| {
        let ty = ctx.tensor(shape, ctx.f32());
        Tensor::new(ctx, ty, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
    };
    let mut inputs: Vec<Tensor> = (0..4).map(|index| tensor(&[40], &first(index))).collect();
    let states = &signature.states;
    inputs.truncate(names.len());
    let mut runs = [Vec::new(), Vec::new()];
    for (round, &rows) in rows.iter().enumerate() {
        let shape = shape(rows);
        let count: u64 = shape.iter().product();
        let x: Vec<f32> = (0..count as usize).map(|index| (index % 97 + round) as f32).collect();
        let found = model.run(&[array(names[0], &shape, &x)]).unwrap_or_else(|failure| panic!("{failure}"));
        runs[0].extend(found.iter().map(floats));
        runs[0].extend(model.states().unwrap_or_else(|failure| panic!("{failure}")).iter().map(floats));
        inputs[0] = tensor(&shape, &x);
        let mut known = module.clone();
        let size: Bindings = rows.into_iter().map(|rows| (ctx.ident("N"), rows)).collect();
        substitute(&mut known, &size).unwrap_or_else(|faults| panic!("{}", faults[0].message));
        let expected = interp::run(&known, "main", &inputs).expect("it ends");
        let next: Vec<usize> = states.iter().filter_map(|state| state.result).collect();
        let outputs = (0..expected.len()).filter(|index| !next.contains(index));
        runs[1].extend(outputs.chain(next.iter().copied()).map(|index| expected[index].to_f32()));
        for state in states {
            if let Some(result) = state.result {
                inputs[state.index] = expected[result].clone();
            }
        }
    }
    runs
}

#[track_caller]
fn check(text: &str) {
    check_at(text, &[None; 3]);
}

#[track_caller]
fn check_at(text: &str, rows: &[Option<u64>]) {
    let [found, expected] = run(text, rows);
    assert_eq!(found, expected);
    assert!(!found.is_empty());
}

#[test]
fn a_state_is_what_the_last_run_left() {
    check(
        "func.func @main(%x: tensor<40xf32>, %s: tensor<40xf32> {optc.state}) -> (tensor<40xf32>, tensor<40xf32> {optc.state = 1 : i64}) {
  %0 = nn.add %s, %x : tensor<40xf32>
  %1 = nn.neg %0 : tensor<40xf32>
  return %1, %0 : tensor<40xf32>, tensor<40xf32>
}",
    );
}

#[test]
fn a_state_that_is_read_late_is_changed_later() {
    check(
        "func.func @main(%x: tensor<40xf32>, %s: tensor<40xf32> {optc.state}) -> (tensor<40xf32>, tensor<40xf32> {optc.state = 1 : i64}) {
  %0 = nn.add %s, %x : tensor<40xf32>
  %1 = nn.sqrt %0 : tensor<40xf32>
  %2 = nn.mul %1, %s : tensor<40xf32>
  return %2, %0 : tensor<40xf32>, tensor<40xf32>
}",
    );
}

#[test]
fn states_change_places() {
    check(
        "func.func @main(%x: tensor<40xf32>, %a: tensor<40xf32> {optc.state}, %b: tensor<40xf32> {optc.state}) -> (tensor<40xf32> {optc.state = 1 : i64}, tensor<40xf32>, tensor<40xf32> {optc.state = 2 : i64}) {
  %0 = nn.sub %a, %x : tensor<40xf32>
  return %b, %0, %a : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>
}",
    );
}

#[test]
fn a_state_is_an_output_too_or_an_input_or_stays() {
    check(
        "func.func @main(%x: tensor<40xf32>, %a: tensor<40xf32> {optc.state}, %b: tensor<40xf32> {optc.state}, %c: tensor<40xf32> {optc.state}) -> (tensor<40xf32> {optc.state = 1 : i64}, tensor<40xf32>, tensor<40xf32> {optc.state = 2 : i64}) {
  %0 = nn.sub %a, %c : tensor<40xf32>
  %1 = nn.add %0, %b : tensor<40xf32>
  return %1, %1, %x : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>
}",
    );
}

#[test]
fn a_dead_state_holds_others_until_it_is_written() {
    let text = "func.func @main(%x: tensor<40xf32>, %s: tensor<40xf32> {optc.state}) -> (tensor<f32>, tensor<40xf32> {optc.state = 1 : i64}) {
  %0 = nn.reduce_sum %s {axes = array<i64: 0>} : (tensor<40xf32>) -> tensor<f32>
  %1 = nn.mul %x, %0 : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0>} : (tensor<40xf32>) -> tensor<f32>
  %3 = nn.add %x, %2 : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  return %2, %3 : tensor<f32>, tensor<40xf32>
}";
    check(text);
    let mut planned = parse(text);
    Model::compile(&mut planned, &CompileOptions { threads: 1, ..CompileOptions::default() })
        .unwrap_or_else(|failure| panic!("{failure}"));
    let text = ir::text::print(&planned);
    assert_eq!(text.matches("[\"state\", 0, 160]").count(), 2, "{text}");
}

/// Sizes that grow and shrink again: the arena changes, and states have other offsets in it.
const SIZES: [Option<u64>; 7] = [Some(3), Some(3), Some(100), Some(1), Some(2000), Some(3), Some(100)];

#[test]
fn a_state_is_what_a_run_at_other_sizes_left() {
    for range in ["", " attributes {optc.dims = {N = [1, 4000]}}"] {
        check_at(
            &format!(
                "func.func @main(%x: tensor<?x40xf32, #optc.dims<N>>, %a: tensor<40xf32> {{optc.state}}, %b: tensor<40xf32> {{optc.state}}) -> (tensor<?x40xf32, #optc.dims<N>>, tensor<40xf32> {{optc.state = 2 : i64}}, tensor<40xf32> {{optc.state = 1 : i64}}){range} {{
  %0 = nn.reduce_max %x {{axes = array<i64: 0>}} : (tensor<?x40xf32, #optc.dims<N>>) -> tensor<40xf32>
  %1 = nn.sub %0, %a : tensor<40xf32>
  %2 = nn.mul %x, %b : (tensor<?x40xf32, #optc.dims<N>>, tensor<40xf32>) -> tensor<?x40xf32, #optc.dims<N>>
  %3 = nn.cum_sum %2 {{axis = 0}} : tensor<?x40xf32, #optc.dims<N>>
  %4 = nn.sub %3, %2 : tensor<?x40xf32, #optc.dims<N>>
  return %4, %a, %1 : tensor<?x40xf32, #optc.dims<N>>, tensor<40xf32>, tensor<40xf32>
}}"
            ),
            &SIZES,
        );
    }
}

#[test]
fn a_dead_state_holds_others_at_all_sizes() {
    check_at(
        "func.func @main(%x: tensor<?x40xf32, #optc.dims<N>>, %s: tensor<40xf32> {optc.state}) -> (tensor<40xf32>, tensor<40xf32> {optc.state = 1 : i64}) {
  %0 = nn.reduce_sum %x {axes = array<i64: 0>} : (tensor<?x40xf32, #optc.dims<N>>) -> tensor<40xf32>
  %1 = nn.mul %s, %0 : tensor<40xf32>
  %2 = nn.cum_sum %1 {axis = 0} : tensor<40xf32>
  %3 = nn.cum_sum %2 {axis = 0} : tensor<40xf32>
  %4 = nn.reduce_max %x {axes = array<i64: 0>} : (tensor<?x40xf32, #optc.dims<N>>) -> tensor<40xf32>
  return %3, %4 : tensor<40xf32>, tensor<40xf32>
}",
        &SIZES,
    );
}

#[test]
fn a_state_of_a_named_size_is_refused() {
    let mut module = parse(
        "func.func @main(%x: tensor<?xf32, #optc.dims<N>> {optc.state}, %y: tensor<?xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>> {
  %0 = nn.add %x, %y : tensor<?xf32, #optc.dims<N>>
  return %0 : tensor<?xf32, #optc.dims<N>>
}",
    );
    let failure = Model::compile(&mut module, &CompileOptions::default()).err().expect("it has no size");
    assert!(failure.to_string().contains("the size of the state 0 is not known"), "{failure}");
}
