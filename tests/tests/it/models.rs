//! Real networks: right results, the same bits on one and on two threads, and no more memory than promised.
//!
//! SqueezeNet is in the project. The others are in the folder that `OPTC_MODELS` names:
//! `OPTC_MODELS=/path/to/models cargo test -p optc-tests --test it models:: -- --nocapture`.

use std::path::Path;

use ir::Module;
use optc::plan_report::plan_report;
use optc::{Array, CompileOptions, DeadMemory, Goal, LoadOptions, Model, StrippedWeights, load};
use tests::given::given;
use tests::workspace::root;

/// A network: its name, and the greatest size of its arena in bytes, scratch included, in a balanced plan and
/// in the smallest.
const NETS: &[(&str, Limits)] = &[
    ("resnet50", Limits { balanced: 5_250_000, memory: 4_900_000 }),
    ("mobilenet_v2", Limits { balanced: 6_030_000, memory: 1_300_000 }),
    ("densenet121", Limits { balanced: 6_450_000, memory: 3_450_000 }),
    ("inception_v3", Limits { balanced: 8_300_000, memory: 3_700_000 }),
    ("efficientnet_b0", Limits { balanced: 6_030_000, memory: 2_300_000 }),
    ("se_resnext152_bn", Limits { balanced: 8_030_000, memory: 6_500_000 }),
    ("sd15_vae_dec_32", Limits { balanced: 137_000_000, memory: 104_000_000 }),
];

/// The greatest size of an arena in bytes.
#[derive(Clone, Copy)]
struct Limits {
    balanced: u64,
    memory: u64,
}

fn load_net(path: &Path) -> Module {
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, ..LoadOptions::default() };
    load(path, &options).unwrap_or_else(|failure| panic!("{}: {failure}", path.display()))
}

/// The inputs of a network, by the rule of `--random`.
fn inputs(model: &Model) -> Vec<Array> {
    let only = model.program().only().expect("its sizes are known");
    let inputs = only.inputs().iter().map(|desc| {
        let element = import::onnx::element::Element::Float;
        let blob =
            import::synth::input(&desc.name, None, element, &desc.shape).expect("floats of that shape");
        Array {
            name: desc.name.clone(),
            element: desc.element,
            shape: desc.shape.clone(),
            bytes: blob.to_vec(),
        }
    });
    inputs.collect()
}

fn run(module: &mut Module, threads: usize, dead: DeadMemory, goal: Goal) -> (Model, Vec<Array>) {
    let options = CompileOptions { threads, dead, goal, ..CompileOptions::default() };
    let mut model = Model::compile(module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let outputs = model.run(&inputs(&model)).unwrap_or_else(|failure| panic!("{failure}"));
    (model, outputs)
}

fn check(model: &Path, expected: &Path, limits: Limits) {
    let source = load_net(model);
    let mut planned = source.clone();
    let (two, on_two) = run(&mut planned, 2, DeadMemory::Kept, Goal::Balanced);
    optc::expect::check(&on_two, expected, 1e-4)
        .unwrap_or_else(|failure| panic!("{}: {failure}", model.display()));
    let (_, on_one) = run(&mut source.clone(), 1, DeadMemory::Poisoned, Goal::Balanced);
    assert!(on_one == on_two, "{}: other bits on one thread, or with dead memory poisoned", model.display());
    let (small, smallest) = run(&mut source.clone(), 2, DeadMemory::Poisoned, Goal::Memory);
    // Steps with faster algorithms, chosen for the goal, are rounded in another way.
    optc::expect::check(&smallest, expected, 1e-4)
        .unwrap_or_else(|failure| panic!("{} in the smallest arena: {failure}", model.display()));
    let [arena, least] = [&two, &small].map(|model| {
        let only = model.program().only();
        only.expect("its sizes are known").arena_bytes() as u64
    });
    for (bytes, limit) in [(arena, limits.balanced), (least, limits.memory)] {
        assert!(bytes <= limit, "{}: the arena takes {bytes} bytes, more than {limit}", model.display());
    }
    let body = planned.function("main").expect("models have a function `main`");
    let report = plan_report(&planned.ctx, body, 0).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.pools[0].size_bytes, arena, "the plan says what the run allocates");
}

#[test]
fn squeezenet_is_right_in_its_memory() {
    let (model, expected) =
        (root().join("examples/squeezenet1_1.onnx"), root().join("tests/data/squeezenet1_1.json"));
    check(&model, &expected, Limits { balanced: 3_930_000, memory: 1_800_000 });
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn larger_networks_are_right_in_their_memory() {
    let folder = given("OPTC_MODELS");
    for (name, limits) in NETS {
        let expected = folder.join("expected").join(format!("{name}.json"));
        check(&folder.join(format!("{name}.onnx")), &expected, *limits);
    }
}

#[test]
fn printed_text_runs_to_the_same_bits() {
    let mut planned = load_net(&root().join("examples/squeezenet1_1.onnx"));
    let (_, expected) = run(&mut planned, 2, DeadMemory::Kept, Goal::Balanced);
    let text = ir::text::print(&planned);
    let mut again = optc::parse("planned.mlir", text.clone(), None, &LoadOptions::default())
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(ir::text::print(&again) == text, "what is printed is read, and printed alike");
    let (_, found) = run(&mut again, 2, DeadMemory::Kept, Goal::Balanced);
    assert!(found == expected, "the printed program gives other bits");
}
