//! A plan is never larger than the solution of `optc place` for the problem exported by `optc plan --csv`,
//! and donated inputs never make a plan larger.
//!
//! Tested with the model in the project, those in the folder named by `OPTC_MODELS`, and random graphs.

use std::path::{Path, PathBuf};

use ir::alias::AliasSets;
use ir::plan::attrs;
use ir::{Attr, Body, Context, Module, flow};
use optc::compile::complete;
use optc::plan_report::plan_report;
use optc::{Goal, LoadOptions, StrippedWeights, load, parse};
use passes::place::{PlannerOptions, Problem, csv, place};
use passes::plan::{ALIGN_BYTES, ArenaProblem};
use tests::flows;
use tests::given::given;
use tests::graphs::graph;
use tests::workspace::root;

const GOALS: [Goal; 3] = [Goal::Memory, Goal::Balanced, Goal::Speed];

/// A planned function: its arena, and its placement problem, exported and read again.
fn planned(module: &Module, goal: Goal) -> (u64, Problem) {
    let mut module = module.clone();
    complete(&mut module, "main", 2, goal).unwrap_or_else(|failure| panic!("{failure}"));
    let body = module.function("main").expect("it was just planned");
    let report = plan_report(&module.ctx, body, 0).unwrap_or_else(|failure| panic!("{failure}"));
    let aliases = AliasSets::of(&module.ctx, body);
    let arena = ArenaProblem::of(&module.ctx, body, &aliases).expect("all sizes are known");
    let names: Vec<String> = arena.problem.buffers.keys().map(|id| id.to_string()).collect();
    let table = csv::read(&csv::write(&arena.problem, &names, None)).expect("what is written is read");
    (report.pools[0].size_bytes, table.problem)
}

#[track_caller]
fn check(name: &str, module: &Module) {
    for goal in GOALS {
        let (arena_bytes, problem) = planned(module, goal);
        let placed_bytes = place(&problem, &PlannerOptions::default()).size_bytes;
        let name = format!("{name}, {}", goal.name());
        assert!(arena_bytes <= placed_bytes, "{name}: plan {arena_bytes}, place {placed_bytes} bytes");
    }
}

fn check_model(path: &Path) {
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, ..LoadOptions::default() };
    // Some models have operators that are not supported, or named sizes.
    let Ok(module) = load(path, &options) else { return };
    let is_symbolic = |body: &Body| passes::symbolic::is_symbolic(&module.ctx, body);
    if !module.function("main").is_some_and(is_symbolic) {
        check(&path.display().to_string(), &module);
    }
}

#[test]
fn a_plan_is_never_larger_than_what_place_makes_of_its_export() {
    check_model(&root().join("examples/squeezenet1_1.onnx"));
    for seed in 0..30 {
        check(&format!("graph {seed}"), &graph(seed).0);
    }
    for seed in 0..20 {
        let text = flows::function(seed);
        let module = parse("flow.mlir", text, None, &LoadOptions::default());
        check(&format!("flow {seed}"), &module.unwrap_or_else(|failure| panic!("{failure}")));
    }
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn a_plan_of_a_real_network_is_never_larger_than_what_place_makes_of_its_export() {
    let folder = given("OPTC_MODELS");
    let files = std::fs::read_dir(&folder).expect("it is a folder").filter_map(Result::ok);
    let mut models: Vec<PathBuf> = files.map(|file| file.path()).collect();
    models.retain(|path| path.extension().is_some_and(|extension| extension == "onnx"));
    models.sort();
    models.iter().for_each(|model| check_model(model));
}

/// The size of the arena, and the number of copied values.
fn cost(module: &Module) -> (u64, usize) {
    let mut module = module.clone();
    complete(&mut module, "main", 2, Goal::Balanced).unwrap_or_else(|failure| panic!("{failure}"));
    let ctx = &module.ctx;
    let body = module.function("main").expect("it was just planned");
    let report = plan_report(ctx, body, 0).unwrap_or_else(|failure| panic!("{failure}"));
    let mut copies = 0;
    flow::walk(ctx, body, |op| copies += usize::from(body.at(ctx, op).name() == "optc.copy"));
    (report.pools[0].size_bytes, copies)
}

/// The same function with all its inputs donated.
fn donated(module: &Module) -> Module {
    let mut module = module.clone();
    let ctx: &Context = &module.ctx.clone();
    let body = module.function_mut("main").expect("all have a function `main`");
    let count = body.args(body.entry(body.root()).expect("it has a block")).len();
    let given = body.own_attr(ctx, ctx.ident("arg_attrs")).and_then(|attrs| ctx.array_value(attrs));
    let mut dicts = given.map_or_else(|| vec![Attr::EMPTY; count], <[Attr]>::to_vec);
    for dict in &mut dicts {
        *dict = ctx.dict_set(*dict, ctx.ident(attrs::OPTC_DONATED), ctx.unit_attr());
    }
    body.properties = ctx.dict_set(body.properties, ctx.ident("arg_attrs"), ctx.array_attr(&dicts));
    module
}

/// A value that overwrites the input would have to be copied to the output in the end.
const CHAIN: &str = "func.func @main(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = nn.exp %x : tensor<1024xf32>
  %1 = nn.softmax %0 {axis = 0} : tensor<1024xf32>
  %2 = nn.add %1, %y : tensor<1024xf32>
  %3 = nn.softmax %2 {axis = 0} : tensor<1024xf32>
  return %3 : tensor<1024xf32>
}";

#[test]
fn no_donated_input_makes_a_plan_worse() {
    let chain = parse("chain.mlir", CHAIN.to_owned(), None, &LoadOptions::default());
    let chain = chain.unwrap_or_else(|failure| panic!("{failure}"));
    let graphs = (0..40).map(|seed| (format!("graph {seed}"), graph(seed).0));
    for (name, module) in std::iter::once(("chain".to_owned(), chain)).chain(graphs) {
        let kept = cost(&module);
        let given = cost(&donated(&module));
        // The live bytes decide, with gaps smaller than an alignment.
        let most = (kept.0 + ALIGN_BYTES, kept.1);
        assert!(given <= most, "{name}: {given:?} bytes and copies, without donation {kept:?}");
    }
}
