//! The cost of a new size, counted: nothing is interned, nothing is compiled, no weight is packed twice, and
//! each class of steps is lowered once.

use ir::plan::attrs;
use std::sync::Arc;

use codegen::DeadMemory;
use ir::interp::Tensor;
use passes::memory::specialize::Specializer;
use passes::tradeoff::Goal;
use runtime::{ElementKind, Program, as_bytes, as_bytes_mut};

use super::*;
use crate::arrays::Array;
use crate::compile::{CompileOptions, SizeOptions, compile};
use crate::model::Model;

/// Three pairs of equal convolutions with residuals, and a mean.
fn network() -> ir::Module {
    let conv = |number: usize, from: &str| {
        let weights = format!("  %w{number} = nn.constant dense<0.0{number}> : tensor<8x8x3x3xf32>\n");
        let nchw = "tensor<?x8x?x12xf32, #optc.dims<N, H>>";
        format!(
            "{weights}  %c{number} = nn.conv2d %{from}, %w{number} {{pads = array<i64: 1, 1, 1, 1>}} : ({nchw}, tensor<8x8x3x3xf32>) -> {nchw}\n"
        )
    };
    let nchw = "tensor<?x8x?x12xf32, #optc.dims<N, H>>";
    let mean = "tensor<?x8x1x1xf32, #optc.dims<N>>";
    let mut text = format!("func.func @main(%x: {nchw}) -> {mean} {{\n");
    let mut from = "x".to_owned();
    for block in 0..3 {
        text += &conv(2 * block + 1, &from);
        text += &format!("  %r{block} = nn.relu %c{} : {nchw}\n", 2 * block + 1);
        text += &conv(2 * block + 2, &format!("r{block}"));
        text += &format!("  %s{block} = nn.add %c{}, %{from} : {nchw}\n", 2 * block + 2);
        from = format!("s{block}");
    }
    text += &format!(
        "  %m = nn.reduce_mean %{from} {{axes = array<i64: 2, 3>, keepdims}} : ({nchw}) -> {mean}\n"
    );
    text += &format!("  return %m : {mean}\n}}\n");
    parse(text)
}

fn parse(text: String) -> ir::Module {
    crate::parse("sizes.mlir", text, None, &Default::default()).unwrap_or_else(|failure| panic!("{failure}"))
}

fn options() -> CompileOptions {
    CompileOptions { threads: 2, ..CompileOptions::default() }
}

fn decided(module: &ir::Module, options: &CompileOptions) -> AllSizes {
    AllSizes::decide(&mut module.clone(), options).unwrap_or_else(|failure| panic!("{failure}"))
}

/// The specializations of a module.
fn specializations(module: &ir::Module, dead: DeadMemory) -> Specializations {
    compiled(decided(module, &options()), dead)
}

fn compiled(all: AllSizes, dead: DeadMemory) -> Specializations {
    let options = codegen::CodegenOptions { dead, ..codegen::CodegenOptions::new(2) };
    Specializations::compile(all, &options).unwrap_or_else(|failure| panic!("{failure}"))
}

impl Specializations {
    /// The number of types, attributes and sizes in the workspace's context, and of classes lowered so far.
    fn counts(&self) -> (usize, usize) {
        let spare = self.spare.lock().unwrap();
        assert_eq!(spare.len(), 1, "one thread needs one workspace");
        (spare[0].lowered.ctx().interned(), spare[0].lowered.lowerings())
    }
}

/// Valid sizes of the networks of these tests.
fn many_sizes() -> impl Iterator<Item = [u64; 2]> {
    (0..40).map(|number| [number % 4 + 1, number * 3 + 3])
}

#[test]
fn a_new_size_interns_nothing_and_lowers_each_class_once() {
    let made = specializations(&network(), DeadMemory::Kept);
    let classes = made.code.class_count();
    assert!(classes < made.all.plans().buffers().runs.len(), "equal convolutions are one class");
    assert!(made.code.prepared_count() >= 2, "convolutions are prepared");
    let (ctx, _) = made.all.named();
    let shared = ctx.interned();
    made.specialize(&[1, 10]).expect("any size will do");
    let (_, lowered) = made.counts();
    let weights = made.weights_bytes();
    let mut interned = Vec::new();
    let many: Vec<[u64; 2]> = many_sizes().collect();
    for (round, sizes) in (1..).zip(many.repeat(2)) {
        let specialization = made.specialize(&sizes).expect("any size will do");
        assert_eq!(specialization.inputs()[0].shape, [sizes[0], 8, sizes[1], 12]);
        assert_eq!(made.counts().1, lowered + round * classes, "{sizes:?}");
        interned.push(made.counts().0);
    }
    assert_eq!(interned[..many.len()], interned[many.len()..], "what a size needs is forgotten");
    assert_eq!(made.weights_bytes(), weights, "the kernels take them as they are");
    assert_eq!(ctx.interned(), shared);
}

#[test]
fn sizes_outside_their_ranges_are_refused() {
    let mut options = options();
    options.sizes.ranges = [("N".to_owned(), (2, 8))].into();
    let program = compile(&mut network(), &options).unwrap_or_else(|failure| panic!("{failure}"));
    for outside in [[1, 12], [9, 12]] {
        let refused = program.at(&outside).expect_err("the function says which sizes there are").to_string();
        assert!(refused.ends_with("expected 2 <= N <= 8"), "{refused}");
    }
    program.at(&[8, 12]).unwrap_or_else(|error| panic!("{error}"));
    options.sizes.sample = vec![("N".to_owned(), 9)];
    let refused = Model::compile(&mut network(), &options).err().map(|failure| failure.to_string());
    let refused = refused.expect("no code can be made first");
    assert!(refused.contains("for `N` = 9, expected 2 <= N <= 8"), "{refused}");
}

#[test]
fn specializations_take_as_much_memory_as_the_plan_in_the_ir() {
    let made = specializations(&network(), DeadMemory::Kept);
    for sizes in [[1, 64], [1, 9], [2, 33], [5, 128]] {
        let specialization = made.specialize(&sizes).expect("any size will do");
        let planned = made.all.at(&sizes).unwrap_or_else(|failure| panic!("{failure}"));
        let body = planned.function(made.all.entry()).expect("it is there");
        let arena = attrs::arena_bytes(&planned.ctx, body).expect("it is planned") as usize;
        assert_eq!(specialization.arena_bytes(), arena, "{sizes:?}");
    }
}

#[test]
fn dead_memory_is_poisoned_without_a_plan_in_the_ir() {
    let frame_bytes = |dead| {
        specializations(&network(), dead).specialize(&[2, 21]).expect("any size will do").frame_bytes()
    };
    let [kept, poisoned] = [DeadMemory::Kept, DeadMemory::Poisoned].map(frame_bytes);
    assert!(poisoned > kept, "{poisoned} bytes, {kept} where dead memory is kept");
}

/// Functions of `N` rows with more than a list of kernels: branches, loops that pass values on in a cycle,
/// steps that stop the program, numbers derived from sizes, a variant for N = 1.
const FLOWS: [&str; 5] = [
    "func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>, %c: i1) -> tensor<?x8xf32, #optc.dims<N>> {
  %y = nn.exp %x : tensor<?x8xf32, #optc.dims<N>>
  %0 = scf.if %c -> (tensor<?x8xf32, #optc.dims<N>>) {
    %1 = nn.sigmoid %y : tensor<?x8xf32, #optc.dims<N>>
    scf.yield %1 : tensor<?x8xf32, #optc.dims<N>>
  } else {
    scf.yield %y : tensor<?x8xf32, #optc.dims<N>>
  }
  return %0 : tensor<?x8xf32, #optc.dims<N>>
}",
    "func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x8xf32, #optc.dims<N>> {
  %from = arith.constant 0 : index
  %to = arith.constant 5 : index
  %by = arith.constant 1 : index
  %a = nn.exp %x : tensor<?x8xf32, #optc.dims<N>>
  %b = nn.neg %x : tensor<?x8xf32, #optc.dims<N>>
  %0, %1 = scf.for %i = %from to %to step %by iter_args(%p = %a, %q = %b) -> (tensor<?x8xf32, #optc.dims<N>>, tensor<?x8xf32, #optc.dims<N>>) {
    scf.yield %q, %p : tensor<?x8xf32, #optc.dims<N>>, tensor<?x8xf32, #optc.dims<N>>
  }
  %2 = nn.sub %0, %1 : tensor<?x8xf32, #optc.dims<N>>
  return %2 : tensor<?x8xf32, #optc.dims<N>>
}",
    "func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<?x8xf32, #optc.dims<N>>, tensor<3xi64>) -> tensor<3x8xf32>
  %1 = nn.exp %0 : tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}",
    "func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x8xf32, #optc.dims<N>> {
  %i = nn.iota {size = #optc.dims<N>} : tensor<?xi64, #optc.dims<N>>
  %f = nn.cast %i {to = f32} : (tensor<?xi64, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>>
  %r = nn.reshape %f {shape = #optc.dims<N, 1>} : (tensor<?xf32, #optc.dims<N>>) -> tensor<?x1xf32, #optc.dims<N>>
  %w = nn.constant dense<0.5> : tensor<256x8xf32>
  %s = nn.slice %w {starts = array<i64: 0, 0>, sizes = #optc.dims<N, 8>} : (tensor<256x8xf32>) -> tensor<?x8xf32, #optc.dims<N>>
  %0 = nn.add %x, %r : (tensor<?x8xf32, #optc.dims<N>>, tensor<?x1xf32, #optc.dims<N>>) -> tensor<?x8xf32, #optc.dims<N>>
  %1 = nn.mul %0, %s : tensor<?x8xf32, #optc.dims<N>>
  return %1 : tensor<?x8xf32, #optc.dims<N>>
}",
    "func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x8xf32, #optc.dims<N>> {
  %w = nn.constant dense<0.5> : tensor<8x8xf32>
  %p = nn.matmul %x, %w : (tensor<?x8xf32, #optc.dims<N>>, tensor<8x8xf32>) -> tensor<?x8xf32, #optc.dims<N>>
  %r = nn.reshape %p {shape = #optc.dims<N, 2, 4>} : (tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x2x4xf32, #optc.dims<N>>
  %t = nn.transpose %r {permutation = array<i64: 1, 0, 2>} : (tensor<?x2x4xf32, #optc.dims<N>>) -> tensor<2x?x4xf32, #optc.dims<N>>
  %s = nn.softmax %t {axis = 2} : tensor<2x?x4xf32, #optc.dims<N>>
  %c = nn.cum_sum %s {axis = 0} : tensor<2x?x4xf32, #optc.dims<N>>
  %u = nn.transpose %c {permutation = array<i64: 1, 0, 2>} : (tensor<2x?x4xf32, #optc.dims<N>>) -> tensor<?x2x4xf32, #optc.dims<N>>
  %0 = nn.reshape %u {shape = #optc.dims<N, 8>} : (tensor<?x2x4xf32, #optc.dims<N>>) -> tensor<?x8xf32, #optc.dims<N>>
  return %0 : tensor<?x8xf32, #optc.dims<N>>
}",
];

/// The second argument, if there is one: a boolean, or indices.
fn second(number: usize) -> Option<Array> {
    let array = |element, shape: &[u64], bytes: Vec<u8>| Array {
        name: "arg1".to_owned(),
        element,
        shape: shape.to_vec(),
        bytes,
    };
    match number {
        0 => Some(array(ElementKind::Bool, &[], vec![1])),
        2 => Some(array(ElementKind::I64, &[3], [0i64, 1, -1].map(i64::to_le_bytes).concat())),
        _ => None,
    }
}

#[test]
fn branches_loops_checks_and_sized_weights_are_in_the_frame() {
    for (number, text) in FLOWS.iter().enumerate() {
        for dead in [DeadMemory::Kept, DeadMemory::Poisoned] {
            let options = CompileOptions { dead, ..options() };
            let model = Model::compile(&mut parse((*text).to_owned()), &options);
            let mut model = model.unwrap_or_else(|failure| panic!("{text}: {failure}"));
            // The indices need two rows.
            let least = if number == 2 { 2 } else { 1 };
            for rows in [2u64, 5, least, 33, 2] {
                let values: Vec<f32> = (0..rows * 8).map(|index| index as f32 * 0.125 - 1.0).collect();
                let inputs: Vec<Array> =
                    [Array::f32("x", &[rows, 8], &values)].into_iter().chain(second(number)).collect();
                let mut fixed = parse((*text).to_owned());
                let bindings = [(fixed.ctx.ident("N"), rows)].into();
                ir::dims::substitute(&mut fixed, &bindings).expect("it can have that size");
                let body = fixed.function("main").expect("it is called so");
                let args = body.args(body.entry(body.root()).expect("it has a body")).iter().zip(&inputs);
                let tensors: Vec<Tensor> = args
                    .map(|(arg, input)| Tensor::new(&fixed.ctx, body.ty(*arg), input.bytes.clone()))
                    .collect();
                let meant = ir::interp::run(&fixed, "main", &tensors).expect("the interpreter runs it");
                let alone = Model::compile(&mut fixed, &options);
                let mut alone = alone.unwrap_or_else(|failure| panic!("{text}: {failure}"));
                let expected = alone.run(&inputs).unwrap_or_else(|failure| panic!("{text}: {failure}"));
                let found = model.run(&inputs).unwrap_or_else(|failure| panic!("{text}: {failure}"));
                assert!(found == expected, "{rows} rows, other bits: {text}");
                assert!(found[0].bytes == *meant[0].bytes, "{rows} rows, not what is meant: {text}");
            }
        }
    }
}

#[test]
fn a_variant_runs_where_its_guard_holds_and_only_there() {
    let all = decided(&parse(FLOWS[4].to_owned()), &options());
    let [variant] = all.variants() else { panic!("{} variants", all.variants().len()) };
    assert_eq!(variant.guard.equal, [(0, 1)]);
    assert!(variant.all.steps() < all.steps(), "the transposes are no steps");
    let arenas: Vec<usize> = [1, 2].map(|rows| arena_bytes(&all, rows)).to_vec();
    let steps = [variant.all.steps(), all.steps()];
    let made = compiled(all, DeadMemory::Kept);
    for (index, rows) in [(0, 1), (1, 2), (0, 1)] {
        let specialization = made.specialize(&[rows]).expect("any size will do");
        assert_eq!(specialization.arena_bytes(), arenas[index], "{rows} rows");
    }
    let [(_, own)] = &made.variants[..] else { panic!("the variant is compiled") };
    assert_eq!([own.all.steps(), made.all.steps()], steps);
    assert_eq!(own.weights_bytes(), made.weights_bytes(), "weights are shared");
    assert!(own.spare.lock().unwrap()[0].lowered.lowerings() > 0, "it ran");
}

/// The bytes of the arena according to the plan in the IR.
fn arena_bytes(all: &AllSizes, rows: u64) -> usize {
    let planned = all.at(&[rows]).unwrap_or_else(|failure| panic!("{failure}"));
    let body = planned.function(all.entry()).expect("it is there");
    attrs::arena_bytes(&planned.ctx, body).expect("it is planned") as usize
}

#[test]
fn a_check_that_fails_stops_the_program_at_any_size() {
    let model = Model::compile(&mut parse(FLOWS[2].to_owned()), &options());
    let mut model = model.unwrap_or_else(|failure| panic!("{failure}"));
    let index = Array { bytes: [0i64, 1, 4].map(i64::to_le_bytes).concat(), ..second(2).expect("indices") };
    let mut run = |rows: u64| {
        let inputs = [Array::f32("x", &[rows, 8], &vec![1.0; 8 * rows as usize]), index.clone()];
        model.run(&inputs).err().map(|failure| failure.to_string())
    };
    assert_eq!(run(5), None);
    assert!(run(4).expect("4 is no row of 4").contains("an index is outside axis 0"));
    assert_eq!(run(6), None);
}

#[test]
fn weights_of_one_size_go_with_its_specialization() {
    let options = CompileOptions { sizes: SizeOptions { cached: 1, ..Default::default() }, ..options() };
    let model = Model::compile(&mut parse(FLOWS[3].to_owned()), &options);
    let mut model = model.unwrap_or_else(|failure| panic!("{failure}"));
    let mut bytes = |rows: u64| {
        let input = Array::f32("x", &[rows, 8], &vec![1.0; 8 * rows as usize]);
        model.run(&[input]).unwrap_or_else(|failure| panic!("{failure}"));
        model.program().weights_bytes()
    };
    let first = bytes(4);
    assert!(bytes(40) > first, "more rows of weights");
    assert_eq!(bytes(4), first);
}

/// Runs a program at some sizes.
fn run(program: &Arc<Program>, sizes: [u64; 2], input: &[f32]) -> Result<Vec<f32>, runtime::RunError> {
    let mut context = program.context(2).expect("it is planned for them");
    context.set_shape("x", &[sizes[0], 8, sizes[1], 12]).expect("these are the symbols");
    let mut output = vec![0.0; 8 * sizes[0] as usize];
    context.run(&[as_bytes(input)], &mut [as_bytes_mut(&mut output)])?;
    Ok(output)
}

#[test]
fn results_are_those_of_the_program_for_one_size() {
    results_are_equal(Goal::Balanced, DeadMemory::Kept);
    results_are_equal(Goal::Balanced, DeadMemory::Poisoned);
}

#[test]
fn results_in_the_least_memory_are_those_of_the_program_for_one_size() {
    results_are_equal(Goal::Memory, DeadMemory::Kept);
}

#[track_caller]
fn results_are_equal(goal: Goal, dead: DeadMemory) {
    let options = CompileOptions { goal, dead, ..options() };
    let program = compile(&mut network(), &options).unwrap_or_else(|failure| panic!("{failure}"));
    let program = Arc::new(program);
    for sizes @ [n, h] in [[1, 3], [2, 21], [3, 64]] {
        let input: Vec<f32> = (0..n * h * 96).map(|index| (index % 17) as f32 * 0.25 - 1.0).collect();
        let text = ir::text::print(&network())
            .replace("?x8x?x12xf32, #optc.dims<N, H>", &format!("{n}x8x{h}x12xf32"))
            .replace("?x8x1x1xf32, #optc.dims<N>", &format!("{n}x8x1x1xf32"));
        let mut fixed = parse(text);
        let fixed = compile(&mut fixed, &options).unwrap_or_else(|failure| panic!("{failure}"));
        let mut expected = vec![0.0; 8 * n as usize];
        let mut alone = Arc::new(fixed).context(2).expect("it is planned for them");
        alone.run(&[as_bytes(&input)], &mut [as_bytes_mut(&mut expected)]).expect("it runs");
        assert!(run(&program, sizes, &input).expect("it runs") == expected, "{sizes:?}: other bits");
    }
}

/// Three convolutions with equal scratch that Winograd's algorithm computes; the first has a relu.
fn winograd_text(image: &str) -> String {
    let filter = "tensor<64x64x3x3xf32>";
    let conv = |to: &str, from: &str, weights: &str| {
        let attrs = "{pads = array<i64: 1, 1, 1, 1>, layout = \"NHWC\"}";
        format!("  %{to} = nn.conv2d %{from}, %{weights} {attrs} : ({image}, {filter}) -> {image}\n")
    };
    let mut text = format!("func.func @main(%x: {image}) -> {image} {{\n");
    text += &format!("  %w = nn.constant dense<0.015625> : {filter}\n");
    text += &format!("  %v = nn.constant dense<-0.015625> : {filter}\n");
    text += &format!("{}  %r = nn.relu %0 : {image}\n", conv("0", "x", "w"));
    text + &conv("1", "r", "v") + &conv("2", "1", "w") + &format!("  return %2 : {image}\n}}\n")
}

#[test]
fn steps_that_take_as_much_scratch_are_lowered_each_as_its_class() {
    let options = CompileOptions { goal: Goal::Speed, ..options() };
    let named = parse(winograd_text("tensor<1x?x?x64xf32, #optc.dims<H, W>>"));
    let all = decided(&named, &options);
    let program = compile(&mut named.clone(), &options).unwrap_or_else(|failure| panic!("{failure}"));
    let mut context = Arc::new(program).context(2).expect("it is planned for them");
    for [h, w] in [[40, 40], [24, 36]] {
        let planned = all.at(&[h, w]).unwrap_or_else(|failure| panic!("{failure}"));
        let text = ir::text::print(&planned);
        assert_eq!(text.matches("mem.method = \"winograd\"").count(), 3, "{text}");
        let input: Vec<f32> = (0..h * w * 64).map(|index| (index % 17) as f32 * 0.25 - 1.0).collect();
        let mut fixed = parse(winograd_text(&format!("tensor<1x{h}x{w}x64xf32>")));
        let fixed = compile(&mut fixed, &options).unwrap_or_else(|failure| panic!("{failure}"));
        let mut alone = Arc::new(fixed).context(2).expect("it is planned for them");
        let [mut expected, mut found] = [0, 1].map(|_| vec![0.0f32; input.len()]);
        alone.run(&[as_bytes(&input)], &mut [as_bytes_mut(&mut expected)]).expect("it runs");
        context.set_shape("x", &[1, h, w, 64]).expect("these are the symbols");
        context.run(&[as_bytes(&input)], &mut [as_bytes_mut(&mut found)]).expect("it runs");
        assert!(found == expected, "other bits at {h} x {w}");
    }
}

/// A transpose fused into the exponential after it, tied by hand: in place if N or M is 1, and wrong at all
/// other sizes.
const TURNED: &str = "func.func @main(%x: tensor<?x?xf32, #optc.dims<N, M>>) -> tensor<?x?xf32, #optc.dims<M, N>> {
  %0 = nn.exp %x : tensor<?x?xf32, #optc.dims<N, M>>
  %1 = optc.group(%a = %0) : (tensor<?x?xf32, #optc.dims<N, M>>) -> tensor<?x?xf32, #optc.dims<M, N>> {
    %3 = nn.transpose %a {permutation = array<i64: 1, 0>} : (tensor<?x?xf32, #optc.dims<N, M>>) -> tensor<?x?xf32, #optc.dims<M, N>>
    %4 = nn.exp %3 : tensor<?x?xf32, #optc.dims<M, N>>
    optc.yield %4 : tensor<?x?xf32, #optc.dims<M, N>>
  }
  %2 = nn.tanh %1 : tensor<?x?xf32, #optc.dims<M, N>>
  return %2 : tensor<?x?xf32, #optc.dims<M, N>>
}";

#[test]
fn a_tie_that_only_some_sizes_allow_is_asked_for_at_each() {
    let all = decided(&parse(TURNED.to_owned()), &options());
    let (ctx, names) = all.named();
    let mut buffers = all.plans().buffers().clone();
    let is_group = |op: ir::Op| matches!(buffers.body.at(ctx, op).kind(), ir::Kind::Group);
    let group = buffers.runs.iter().position(|run| is_group(run.op)).expect("it has one");
    buffers.body.set_attr(ctx, buffers.runs[group].op, attrs::MEM_TIE, ctx.ints_attr(&[0]));
    buffers.runs[group].asked_tie = Some(0);
    let plans = Specializer::new(ctx, codegen::Cpu::native(), buffers, names, 2, Goal::Balanced, &[]);
    let made = compiled(all.with_plans(plans), DeadMemory::Kept);
    for (sizes, is_allowed) in
        [([1, 8], true), ([8, 1], true), ([2, 8], false), ([1, 3], true), ([3, 3], false)]
    {
        assert_eq!(made.specialize(&sizes).is_ok(), is_allowed, "{sizes:?}");
    }
}
