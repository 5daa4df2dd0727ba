//! That the plan checker refuses every plan with wrong results.
//!
//! Planned programs (the files of `lit-tests/` for the memory passes, random graphs, random branches and
//! loops) are damaged in all ways of [`tests::damage`]. If the checker accepts a damaged plan, the plan must
//! compute the interpreter's results in the bytes of [`tests::arena`]: then the damage is harmless.

use std::collections::BTreeMap;
use std::path::Path;

use ir::interp::{self, Tensor};
use ir::text::{ParseOptions, Unregistered};
use ir::{Context, Module};
use optc::lit::files;
use optc::opt::Setup;
use passes::manager::RunOptions;
use tests::damage::{Damage, KINDS, damages};
use tests::flows::function;
use tests::graphs::graph;
use tests::permuted::permuted;
use tests::plan_programs::plan_program;
use tests::programs::argument;
use tests::random::Random;
use tests::{arena, damage};

const FOLDERS: [&str; 4] = ["fuse", "inplace", "known-failures", "plan"];
pub(crate) const PIPELINES: [&str; 2] = ["inplace,plan", "layout,fuse,inplace,plan{optimize=memory}"];

/// The number of damaged plans of a kind, and their outcomes.
#[derive(Default)]
struct Count {
    refused: usize,
    /// Refused although the results are right: garbage that no result shows, or a violation of the rules that
    /// is harmless here.
    harmless: usize,
    accepted: usize,
}

/// A planned program with inputs for which it terminates.
struct Case {
    name: String,
    planned: Module,
    inputs: Vec<Vec<Tensor>>,
}

fn inputs(module: &Module, seeds: std::ops::Range<u64>) -> Option<Vec<Vec<Tensor>>> {
    let body = module.function("main")?;
    let args = body.args(body.entry(body.root())?);
    let inputs = seeds.map(|seed| {
        let mut random = Random::new(seed);
        let args = args.iter().enumerate();
        args.map(|(index, arg)| argument(&module.ctx, body.ty(*arg), seed + index as u64, &mut random))
            .collect()
    });
    inputs.collect()
}

impl Case {
    /// Plans a program; none if it cannot be planned or no inputs are known for which it is right and
    /// terminates.
    fn new(name: &str, module: &Module, pipeline: &str) -> Option<Case> {
        let mut planned = module.clone();
        optc::run_pipeline(&mut planned, pipeline, &RunOptions::new(codegen::Cpu::native())).ok()?;
        let mut inputs = inputs(&planned, 0..6)?;
        inputs.retain(|inputs| simulate(&planned, inputs).is_ok());
        inputs.truncate(2);
        inputs.iter().for_each(|inputs| compare(name, module, &planned, inputs));
        let case = Case { name: format!("{name} after {pipeline}"), planned, inputs };
        (!case.inputs.is_empty()).then_some(case)
    }

    /// The fault of a damaged plan of this program, if there is one.
    fn fault(&self, damaged: &Module) -> Option<String> {
        self.inputs.iter().find_map(|inputs| {
            let found = match simulate(damaged, inputs) {
                Ok(found) => found,
                Err(fault) => return Some(fault),
            };
            let expected = interp::run(damaged, "main", inputs);
            let expected = expected.expect("a program that ends on bytes ends on values");
            let expected: Vec<Vec<u8>> = expected.iter().map(|tensor| tensor.bytes.to_vec()).collect();
            (found != expected).then(|| "other numbers".to_owned())
        })
    }

    fn try_damage(&self, damage: &Damage, counts: &mut BTreeMap<&'static str, Count>) {
        let mut damaged = self.planned.clone();
        let ctx = damaged.ctx.clone();
        let body = damaged.function_mut("main").expect("it was planned");
        damage.apply(&ctx, body);
        let faults = passes::check::check(&ctx, body);
        let fault = self.fault(&damaged);
        let count = counts.entry(damage.kind).or_default();
        match (faults.is_empty(), &fault) {
            (true, None) => count.accepted += 1,
            (false, _) => {
                let compiled = optc::compile::complete(&mut damaged, "main", 1, optc::Goal::default());
                assert!(compiled.is_err(), "{}: compiled, though it is refused: {damage:?}", self.name);
                count.refused += 1;
                count.harmless += usize::from(fault.is_none());
            }
            (true, Some(fault)) => {
                panic!("{}: accepted, but {fault}: {damage:?}\n{}", self.name, ir::text::print(&damaged))
            }
        }
    }
}

/// The passes changed only the order of sums.
fn compare(name: &str, given: &Module, planned: &Module, inputs: &[Tensor]) {
    let run = |module: &Module| interp::run(module, "main", inputs).expect("it ran on bytes");
    for (given, planned) in run(given).iter().zip(run(planned)) {
        let is_near =
            |(a, b): (f32, f32)| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-4 * a.abs().max(1.0);
        let near =
            given.bytes.len() % 4 == 0 && given.to_f32().into_iter().zip(planned.to_f32()).all(is_near);
        assert!(near || *given == planned, "{name}: the planned program computes something else");
    }
}

fn simulate(module: &Module, inputs: &[Tensor]) -> Result<Vec<Vec<u8>>, String> {
    arena::run(&module.ctx, module.function("main").ok_or("no function")?, codegen::Cpu::native(), inputs)
}

fn parse(ctx: &std::sync::Arc<Context>, text: &str) -> Option<Module> {
    let input = text.split("// ----- output").next().unwrap_or(text).to_owned();
    ir::text::parse_with(ctx, "test", input, &ParseOptions { unregistered: Unregistered::Allow }).ok()
}

/// The programs of lit files, with their names.
fn modules_of_files() -> Vec<(String, Module)> {
    let setup = Setup::default();
    let mut modules = Vec::new();
    for folder in FOLDERS {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests").join(folder);
        for path in files(&root).expect("a folder of lit files") {
            let text = std::fs::read_to_string(&path).expect("a lit file");
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            modules.extend(parse(&setup.context(), &text).map(|module| (name, module)));
        }
    }
    modules
}

fn files_of_passes() -> Vec<Case> {
    let planned = |(name, module): (String, Module)| {
        PIPELINES.iter().filter_map(move |pipeline| Case::new(&name, &module, pipeline)).collect::<Vec<_>>()
    };
    modules_of_files().into_iter().flat_map(planned).collect()
}

/// Programs of all kinds, to be planned and damaged.
pub(crate) fn sources() -> Vec<Module> {
    let setup = Setup::default();
    let files = modules_of_files().into_iter().map(|(_, module)| module);
    let flows = (0..8).filter_map(|seed| parse(&setup.context(), &function(seed)));
    let turns = LINES.iter().filter_map(|text| parse(&setup.context(), text));
    files.chain((0..6).map(|seed| graph(seed).0)).chain(flows).chain(turns).collect()
}

fn graphs() -> Vec<Case> {
    let cases = (0..12).flat_map(|seed| {
        let (module, _) = graph(seed);
        PIPELINES.map(|pipeline| Case::new(&format!("graph {seed}"), &module, pipeline))
    });
    cases.flatten().collect()
}

/// Structures that are rare in networks, with states, after each pipeline.
fn rare() -> Vec<Case> {
    let cases = (0..16).flat_map(|seed| {
        let module = plan_program(seed).module;
        PIPELINES.map(|pipeline| Case::new(&format!("rare {seed}"), &module, pipeline))
    });
    cases.flatten().collect()
}

/// Permutations of values of several sizes.
fn permutations() -> Vec<Case> {
    let setup = Setup::default();
    let cases = (0..10).filter_map(|seed| {
        let module = parse(&setup.context(), &permuted(seed)).expect("it was written to be read");
        Case::new(&format!("permuted {seed}"), &module, PIPELINES[seed as usize % 2])
    });
    cases.collect()
}

fn flows() -> Vec<Case> {
    let setup = Setup::default();
    let cases = (0..16).filter_map(|seed| {
        let module = parse(&setup.context(), &function(seed)).expect("it was written to be read");
        Case::new(&format!("flow {seed}"), &module, PIPELINES[seed as usize % 2])
    });
    cases.collect()
}

/// Streamed groups: a pool over a convolution's result, and a chain of three steps with two images between
/// them.
const LINES: [&str; 2] = [
    r#"func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x8xf32> {
      %w = nn.constant dense<0.5> : tensor<8x4x1x1xf32>
      %0 = nn.neg %x : tensor<1x8x4x4xf32>
      %1 = optc.group(%a = %0, %b = %w) {mem.lines} : (tensor<1x8x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x8xf32> {
        %3 = nn.conv2d %a, %b {layout = "NHWC"} : (tensor<1x8x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x8xf32>
        %4 = nn.max_pool2d %3 {kernel = array<i64: 3, 3>, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x8xf32>) -> tensor<1x8x4x8xf32>
        optc.yield %4 : tensor<1x8x4x8xf32>
      }
      %2 = nn.neg %1 : tensor<1x8x4x8xf32>
      return %2 : tensor<1x8x4x8xf32>
    }"#,
    r#"func.func @main(%x: tensor<1x10x4x4xf32>) -> tensor<1x5x2x4xf32> {
      %w = nn.constant dense<0.5> : tensor<16x4x1x1xf32>
      %v = nn.constant dense<0.25> : tensor<16x1x3x3xf32>
      %u = nn.constant dense<0.125> : tensor<4x16x1x1xf32>
      %0 = nn.tanh %x : tensor<1x10x4x4xf32>
      %1 = optc.group(%a = %0, %b = %w, %c = %v, %d = %u) {mem.lines} : (tensor<1x10x4x4xf32>, tensor<16x4x1x1xf32>, tensor<16x1x3x3xf32>, tensor<4x16x1x1xf32>) -> tensor<1x5x2x4xf32> {
        %3 = nn.conv2d %a, %b {layout = "NHWC"} : (tensor<1x10x4x4xf32>, tensor<16x4x1x1xf32>) -> tensor<1x10x4x16xf32>
        %4 = nn.conv2d %3, %c {groups = 16 : i64, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x10x4x16xf32>, tensor<16x1x3x3xf32>) -> tensor<1x5x2x16xf32>
        %5 = nn.conv2d %4, %d {layout = "NHWC"} : (tensor<1x5x2x16xf32>, tensor<4x16x1x1xf32>) -> tensor<1x5x2x4xf32>
        optc.yield %5 : tensor<1x5x2x4xf32>
      }
      %2 = nn.neg %1 : tensor<1x5x2x4xf32>
      return %2 : tensor<1x5x2x4xf32>
    }"#,
];

fn steps_in_turns() -> Vec<Case> {
    let setup = Setup::default();
    let case = |(index, text): (usize, &&str)| {
        let module = parse(&setup.context(), text).expect("the text has no faults");
        Case::new(&format!("lines {index}"), &module, "plan{optimize=memory}").expect("it can be planned")
    };
    LINES.iter().enumerate().map(case).collect()
}

/// Damages each program in every way, or in `most` random ways.
fn try_all(cases: &[Case], most: usize) -> BTreeMap<&'static str, Count> {
    let mut counts = BTreeMap::new();
    for (seed, case) in cases.iter().enumerate() {
        assert_eq!(case.fault(&case.planned), None, "{}", case.name);
        let mut random = Random::new(seed as u64);
        let body = case.planned.function("main").expect("it was planned");
        let mut all = damage::damages(&case.planned.ctx, body);
        while all.len() > most {
            all.swap_remove(random.below(all.len()));
        }
        all.iter().for_each(|damage| case.try_damage(damage, &mut counts));
    }
    for (kind, Count { refused, harmless, accepted }) in &counts {
        println!("{kind:8} {refused:6} refused ({harmless} of them harmless), {accepted} accepted and right");
    }
    counts
}

fn total(counts: &BTreeMap<&'static str, Count>) -> usize {
    counts.values().map(|count| count.refused + count.accepted).sum()
}

#[test]
fn damaged_plans_of_the_files_that_show_the_passes_are_refused_or_right() {
    let mut cases = files_of_passes();
    // Only streamed steps read their own scratch.
    cases.extend(steps_in_turns());
    assert!(cases.len() >= 60, "only {} programs could be planned and run", cases.len());
    let counts = try_all(&cases, 1_000);
    assert!(total(&counts) >= 5_000, "only {} plans were tried", total(&counts));
    for kind in KINDS {
        assert!(
            counts.get(kind).is_some_and(|count| count.refused > count.harmless),
            "no plan was wrong by its {kind}"
        );
    }
}

#[test]
fn damaged_plans_of_random_graphs_are_refused_or_right() {
    let cases = graphs();
    assert_eq!(cases.len(), 24, "each graph can be planned and run in both ways");
    let counts = try_all(&cases, 400);
    assert!(total(&counts) >= 3_000, "only {} plans were tried", total(&counts));
}

#[test]
fn damaged_plans_of_branches_and_loops_are_refused_or_right() {
    let cases = flows();
    assert_eq!(cases.len(), 16, "each function can be planned and run");
    let counts = try_all(&cases, 500);
    assert!(total(&counts) >= 3_000, "only {} plans were tried", total(&counts));
}

#[test]
fn damaged_plans_of_what_is_rare_are_refused_or_right() {
    let cases = rare();
    assert!(cases.len() >= 28, "only {} programs could be planned and run", cases.len());
    let counts = try_all(&cases, 150);
    assert!(total(&counts) >= 3_000, "only {} plans were tried", total(&counts));
}

#[test]
fn damaged_plans_of_values_that_change_places_are_refused_or_right() {
    let cases = permutations();
    assert_eq!(cases.len(), 10, "each function can be planned and run");
    let counts = try_all(&cases, 250);
    assert!(total(&counts) >= 2_000, "only {} plans were tried", total(&counts));
}

#[test]
fn damaged_plans_of_steps_in_turns_are_refused_or_right() {
    let counts = try_all(&steps_in_turns(), 1_000);
    for kind in ["offset", "missing", "scratch"] {
        assert!(counts[kind].refused > counts[kind].harmless, "no plan was wrong by its {kind}");
    }
}

#[test]
fn the_machine_shows_a_plan_that_is_wrong() {
    let setup = Setup::default();
    let text = "func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
      %0 = nn.exp %x : tensor<16xf32>
      %1 = nn.neg %x : tensor<16xf32>
      %2 = nn.add %0, %1 : tensor<16xf32>
      return %2 : tensor<16xf32>
    }";
    let module = parse(&setup.context(), text).expect("the text has no faults");
    let case = Case::new("two values", &module, "plan").expect("it can be planned");
    let body = case.planned.function("main").expect("it was planned");
    let wrong = damages(&case.planned.ctx, body).into_iter().filter(|damage| damage.kind == "offset");
    let wrong = wrong.filter(|damage| {
        let mut damaged = case.planned.clone();
        let ctx = damaged.ctx.clone();
        damage.apply(&ctx, damaged.function_mut("main").expect("it was planned"));
        case.fault(&damaged).is_some()
    });
    assert!(wrong.count() > 0);
}
