//! What a new size costs, counted: nothing is interned, nothing is compiled, no weight is packed twice, and
//! each class of steps is lowered once.

use ir::plan::attrs;
use std::sync::Arc;

use codegen::DeadMemory;
use runtime::{Program, as_bytes, as_bytes_mut};

use super::*;
use passes::fit::Goal;

use crate::compile::{CompileOptions, compile};
use crate::specialize::AllSizes;

const TYPE: &str = "tensor<?x?x12x8xf32, #optc.dims<N, H>>";

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
    crate::parse("replan.mlir", text, None, &Default::default()).unwrap_or_else(|failure| panic!("{failure}"))
}

fn options() -> CompileOptions {
    CompileOptions { threads: 2, ..CompileOptions::default() }
}

/// The code of a module for all sizes, and what its sizes have in common.
fn replan(module: &ir::Module, dead: DeadMemory, goal: Goal) -> (FramedCode, Option<Replan>) {
    let options = CompileOptions { goal, ..options() };
    let variants =
        AllSizes::decide(&mut module.clone(), &options).unwrap_or_else(|failure| panic!("{failure}"));
    let sample = variants.sample().to_vec();
    let planned = variants.at(&sample).unwrap_or_else(|failure| panic!("{failure}"));
    let options = codegen::Options { dead, ..codegen::Options::new(2) };
    let code = FramedCode::compile(&[&planned], variants.entry(), &options).expect("it has code");
    let replan = Replan::of(&variants.before_sizes(), &code, &[sample]);
    (code, replan)
}

impl Replan {
    /// Types, attributes and sizes in the context of the workspace; classes that were lowered so far.
    fn counts(&self) -> (usize, usize) {
        let spare = self.spare.lock().unwrap();
        assert_eq!(spare.len(), 1, "one thread needs one workspace");
        (spare[0].body.ctx().interned(), spare[0].made.lowerings())
    }
}

/// Sizes that the networks of these tests can have.
fn many_sizes() -> impl Iterator<Item = [u64; 2]> {
    (0..40).map(|number| [number % 4 + 1, number * 3 + 3])
}

#[test]
fn a_new_size_interns_nothing_and_lowers_each_class_once() {
    let (code, replan) = replan(&network(), DeadMemory::Kept, Goal::Balanced);
    let replan = replan.expect("it has a recipe");
    let classes = replan.reframe.class_count();
    assert!(classes < replan.plans.buffers().runs.len(), "equal convolutions are one class");
    assert!(replan.reframe.prepared_count() >= 2, "convolutions are prepared");
    let shared = replan.ctx.interned();
    replan.instance(&code, &[1, 10]).expect("any size will do");
    let (_, lowered) = replan.counts();
    let weights = code.weights_bytes();
    let mut interned = Vec::new();
    let many: Vec<[u64; 2]> = many_sizes().collect();
    for (round, sizes) in (1..).zip(many.repeat(2)) {
        let instance = replan.instance(&code, &sizes).expect("any size will do");
        assert_eq!(instance.inputs()[0].shape, [sizes[0], 8, sizes[1], 12]);
        assert_eq!(replan.counts().1, lowered + round * classes, "{sizes:?}");
        interned.push(replan.counts().0);
    }
    assert_eq!(interned[..many.len()], interned[many.len()..], "what a size needs is forgotten");
    assert_eq!(code.weights_bytes(), weights, "the kernels take them as they are");
    assert_eq!(replan.ctx.interned(), shared);
}

#[test]
fn instances_take_as_much_memory_as_plans_of_the_whole_function() {
    let module = network();
    let (code, replan) = replan(&module, DeadMemory::Kept, Goal::Balanced);
    let replan = replan.expect("it has a recipe");
    let variants =
        AllSizes::decide(&mut module.clone(), &options()).unwrap_or_else(|failure| panic!("{failure}"));
    let mut found = 0;
    for sizes in [[1, 64], [1, 9], [2, 33], [5, 128]] {
        let Some(instance) = replan.instance(&code, &sizes) else { continue };
        let planned = variants.at(&sizes).unwrap_or_else(|failure| panic!("{failure}"));
        let body = planned.function(variants.entry()).expect("it is there");
        let arena = attrs::arena_bytes(&planned.ctx, body).expect("it is planned") as usize;
        assert!(
            instance.arena_bytes() <= arena + arena / 20,
            "{sizes:?}: {} for {arena}",
            instance.arena_bytes()
        );
        found += 1;
    }
    assert!(found > 0, "some size is placed by the recipe");
}

#[test]
fn dead_memory_is_poisoned_without_a_plan_in_the_ir() {
    let frame_bytes = |dead| {
        let (code, replan) = replan(&network(), dead, Goal::Balanced);
        let made = replan.expect("it has a recipe").instance(&code, &[2, 21]).expect("any size will do");
        made.frame_bytes()
    };
    let [kept, poisoned] = [DeadMemory::Kept, DeadMemory::Poisoned].map(frame_bytes);
    assert!(poisoned > kept, "{poisoned} bytes, {kept} where dead memory is kept");
}

#[test]
fn what_has_no_recipe_is_planned_as_a_whole() {
    let has = |module: &ir::Module, dead, goal| replan(module, dead, goal).1.is_some();
    let network = network();
    assert!(has(&network, DeadMemory::Kept, Goal::Balanced));
    let branches = format!(
        "func.func @main(%x: {TYPE}, %c: tensor<i1>) -> {TYPE} {{
  %0 = scf.if %c -> ({TYPE}) {{
    %1 = nn.exp %x : {TYPE}
    scf.yield %1 : {TYPE}
  }} else {{
    scf.yield %x : {TYPE}
  }}
  return %0 : {TYPE}
}}"
    )
    .replace("tensor<i1>", "i1");
    assert!(!has(&parse(branches), DeadMemory::Kept, Goal::Balanced), "control flow");
}

/// A module that has no recipe, decided but for its sizes.
fn planned_as_a_whole(module: &ir::Module) -> AllSizes {
    let compile = CompileOptions { threads: 2, goal: Goal::Memory, ..CompileOptions::default() };
    AllSizes::decide(&mut module.clone(), &compile).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn what_is_planned_as_a_whole_at_many_sizes_leaves_nothing_behind() {
    let variants = planned_as_a_whole(&network());
    let at_once = |sizes: &[u64]| variants.at_once(sizes).unwrap_or_else(|failure| panic!("{failure}"));
    let shared = variants.decided().0.interned();
    let many: Vec<[u64; 2]> = many_sizes().collect();
    let counts = || many.iter().map(|sizes| at_once(sizes).ctx.interned()).collect::<Vec<_>>();
    let (first, again) = (counts(), counts());
    assert_eq!(first, again, "what a size needs is forgotten");
    assert!(first.iter().all(|count| *count > shared), "each size needs something");
    assert_eq!(variants.decided().0.interned(), shared);
    let [a, b] = [[1, 64], [2, 21]].map(|sizes| at_once(&sizes));
    assert!(!Arc::ptr_eq(&a.ctx, &b.ctx), "two modules of one time know nothing of each other");
    assert_eq!(ir::text::print(&a), ir::text::print(&variants.at(&[1, 64]).expect("any size will do")));
}

#[test]
fn a_weight_that_is_another_at_each_size_has_handles_that_stay() {
    let text = format!(
        "func.func @main(%x: {TYPE}) -> {TYPE} {{
  %c = nn.constant dense<1.0> : tensor<f32>
  %b = nn.broadcast %c {{shape = #optc.dims<N, H, 12, 8>}} : (tensor<f32>) -> {TYPE}
  %y = nn.add %x, %b : {TYPE}
  return %y : {TYPE}
}}"
    );
    let variants = planned_as_a_whole(&parse(text));
    let module = variants.at_once(&[2, 3]).expect("any size will do");
    assert!(std::ptr::eq(&*module.ctx, variants.decided().0));
}

/// Runs a program at some sizes.
fn run(program: &Arc<Program>, sizes: [u64; 2], input: &[f32]) -> Result<Vec<f32>, runtime::RunError> {
    let mut context = program.context(2).expect("it is planned for them");
    context.set_shape("arg0", &[sizes[0], 8, sizes[1], 12]).expect("these are the symbols");
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
fn results_without_a_recipe_are_those_of_the_program_for_one_size() {
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

/// A transpose that is taken into the exponential behind it, tied by hand: in place where N or M is 1, and
/// wrong at all other sizes.
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
    let variants = AllSizes::decide(&mut parse(TURNED.to_owned()), &options())
        .unwrap_or_else(|failure| panic!("{failure}"));
    let planned = variants.at(&[1, 8]).unwrap_or_else(|failure| panic!("{failure}"));
    let code =
        FramedCode::compile(&[&planned], variants.entry(), &codegen::Options::new(2)).expect("it has code");
    let decided = variants.before_sizes();
    let mut buffers = decided.plans.buffers().clone();
    let is_group = |op: ir::Op| matches!(buffers.body.at(decided.ctx, op).kind(), ir::Kind::Group);
    let group = buffers.runs.iter().position(|run| is_group(run.op)).expect("it has one");
    buffers.body.set_attr(decided.ctx, buffers.runs[group].op, attrs::MEM_TIE, decided.ctx.ints_attr(&[0]));
    buffers.runs[group].asked_tie = Some(0);
    let (ctx, sample) = (decided.ctx, vec![1, 8]);
    let plans =
        Specializer::new(ctx, codegen::Cpu::native(), buffers, decided.symbols, 2, Goal::Balanced, &[]);
    let decided = Decided { plans: &Arc::new(plans), ..decided };
    let replan = Replan::of(&decided, &code, &[sample]).expect("it has code");
    for (sizes, is_allowed) in
        [([1, 8], true), ([8, 1], true), ([2, 8], false), ([1, 3], true), ([3, 3], false)]
    {
        assert_eq!(replan.instance(&code, &sizes).is_some(), is_allowed, "{sizes:?}");
    }
}
