//! Real networks: right results, at one thread and at two the same bits, in no more memory than promised.
//!
//! SqueezeNet is in the project. The others are read from the folder that `OPTC_MODELS` names, and skipped, saying so, where it is not
//! set: `OPTC_MODELS=/path/to/models cargo test -p tests --test models -- --nocapture`.

use std::path::{Path, PathBuf};

use ir::Module;
use optc::plan_report::plan_report;
use optc::{Array, CompileOptions, DeadMemory, LoadOptions, Model, StrippedWeights, load};
use tests::workspace::root;

/// A network: its name and the most bytes that its arena may take, scratch included. For those of convolutions alone: 1.1 times
/// the bound at which nothing is stored that could be fused, overwritten or accumulated.
const NETS: &[(&str, u64)] = &[
    ("resnet50", 5_742_000),
    ("mobilenet_v2", 6_622_000),
    ("densenet121", 6_450_000),
    ("inception_v3", 9_130_000),
    ("efficientnet_b0", 6_622_000),
    ("se_resnext152_bn", 8_833_000),
    ("sd15_vae_dec_32", 201_400_000),
];

fn load_net(path: &Path) -> Module {
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, ..LoadOptions::default() };
    load(path, &options).unwrap_or_else(|failure| panic!("{}: {failure}", path.display()))
}

/// The inputs of a network, by the rule of `--random`.
fn inputs(model: &Model) -> Vec<Array> {
    let inputs = model.program().inputs().iter().map(|desc| {
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

fn run(module: &mut Module, threads: usize, dead: DeadMemory) -> (Model, Vec<Array>) {
    let options = CompileOptions { threads, dead, ..CompileOptions::default() };
    let mut model = Model::compile(module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let outputs = model.run(&inputs(&model)).unwrap_or_else(|failure| panic!("{failure}"));
    (model, outputs)
}

fn check(model: &Path, expected: &Path, arena_limit: u64) {
    let source = load_net(model);
    let mut planned = source.clone();
    let (two, on_two) = run(&mut planned, 2, DeadMemory::Kept);
    optc::expect::check(&on_two, expected, 1e-4)
        .unwrap_or_else(|failure| panic!("{}: {failure}", model.display()));
    let (_, on_one) = run(&mut source.clone(), 1, DeadMemory::Poisoned);
    assert!(on_one == on_two, "{}: other bits on one thread, or with dead memory poisoned", model.display());
    let arena = two.program().arena_bytes() as u64;
    assert!(
        arena <= arena_limit,
        "{}: the arena takes {arena} bytes, more than {arena_limit}",
        model.display()
    );
    let body = planned.function("main").expect("models have a function `main`");
    let report = plan_report(&planned.ctx, body, 0).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.pools[0].size_bytes, arena, "the plan says what the run allocates");
}

#[test]
fn squeezenet_is_right_in_its_memory() {
    let (model, expected) =
        (root().join("examples/squeezenet1_1.onnx"), root().join("tests/data/squeezenet1_1.json"));
    check(&model, &expected, 4_323_000);
}

#[test]
fn larger_networks_are_right_in_their_memory() {
    let Some(folder) = std::env::var_os("OPTC_MODELS").map(PathBuf::from) else {
        println!("skipped: OPTC_MODELS names no folder of models");
        return;
    };
    for (name, arena_limit) in NETS {
        let expected = folder.join("expected").join(format!("{name}.json"));
        check(&folder.join(format!("{name}.onnx")), &expected, *arena_limit);
    }
}

#[test]
fn printed_text_runs_to_the_same_bits() {
    let mut planned = load_net(&root().join("examples/squeezenet1_1.onnx"));
    let (_, expected) = run(&mut planned, 2, DeadMemory::Kept);
    let text = ir::text::print(&planned);
    let mut again = optc::parse("planned.mlir", text.clone(), None, &LoadOptions::default())
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(ir::text::print(&again) == text, "what is printed is read, and printed alike");
    let (_, found) = run(&mut again, 2, DeadMemory::Kept);
    assert!(found == expected, "the printed program gives other bits");
}
