//! That real models import, with the types that their files claim, and compute what onnxruntime computes from
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use import::onnx::declared::DeclaredSizes;
use import::onnx::element::Element;
use import::onnx::external::read_file;
use import::onnx::{ImportOptions, StrippedWeights, import};
use import::synth::input;
use ir::interp::{Tensor, run};
use ir::{Context, Diagnostic, Module};
use tests::given::given;
use tests::workspace::root;

fn import_model(
    ctx: &Arc<Context>,
    path: &Path,
    stripped: StrippedWeights,
) -> Result<Module, Vec<Diagnostic>> {
    import(ctx, path, &ImportOptions { open_file: &read_file, stripped, sizes: DeclaredSizes::new() })
}

/// How often each operation occurs in `@main`, as `12 nn.relu`, in the order of their names.
fn census(module: &Module) -> String {
    let body = module.function("main").expect("the model's function");
    let block = body.entry(body.root()).expect("a function has a block");
    let mut counts = BTreeMap::new();
    for op in body.ops(block).filter(|op| Some(*op) != body.last_op(block)) {
        *counts.entry(body.at(&module.ctx, op).name()).or_insert(0) += 1;
    }
    counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

/// The shapes of what `@main` returns.
fn result_shapes(module: &Module) -> Vec<Vec<u64>> {
    let body = module.function("main").expect("the model's function");
    let block = body.entry(body.root()).expect("a function has a block");
    let last = body.at(&module.ctx, body.last_op(block).expect("a return"));
    (0..last.operand_count()).map(|index| last.operand_shape(index).expect("known sizes")).collect()
}

fn check(path: &Path, expected: &str) {
    let ctx = Arc::new(Context::new());
    let module = import_model(&ctx, path, StrippedWeights::Synthesize).unwrap_or_else(|diagnostics| {
        let texts: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.render(&ctx)).collect();
        panic!("{}", texts.join("\n"))
    });
    assert_eq!(census(&module), expected, "{}", path.display());
    assert_eq!(result_shapes(&module), [[1, 1000]]);
}

/// The elements of the one result, for the input that the weights' rule makes.
fn compute(path: &Path) -> Vec<f32> {
    let ctx = Arc::new(Context::new());
    let module = import_model(&ctx, path, StrippedWeights::Synthesize).expect("the model imports");
    let body = module.function("main").expect("the model's function");
    let block = body.entry(body.root()).expect("a function has a block");
    let ty = body.ty(body.args(block)[0]);
    let dims = ctx.static_shape(ty).expect("known sizes");
    let input = input("input", None, Element::Float, &dims).expect("a rule for f32");
    let results = run(&module, "main", &[Tensor::new(&ctx, ty, input.to_vec())]);
    results.expect("the interpreter runs it").remove(0).to_f32()
}

/// Checks sampled elements against those that onnxruntime computed.
fn check_values(path: &Path, absmax: f32, samples: impl Iterator<Item = (usize, f32)>) {
    let result = compute(path);
    for (index, expected) in samples {
        let error = (result[index] - expected).abs() / absmax;
        assert!(error < 1e-5, "{}: element {index}: {} for {expected}", path.display(), result[index]);
    }
}

/// The model in the folder that the variable `OPTC_MODELS` names.
fn check_in_folder(name: &str, expected: &str) {
    let folder = given("OPTC_MODELS");
    let path = folder.join(format!("{name}.onnx"));
    check(&path, expected);
    let text =
        std::fs::read_to_string(folder.join(format!("expected/{name}.json"))).expect("expected values");
    let outputs: BTreeMap<String, Expected> = serde_json::from_str(&text).expect("expected values");
    let output = outputs.into_values().next().expect("one output");
    check_values(&path, output.absmax, output.index.into_iter().zip(output.value));
}

/// What onnxruntime computed: sampled elements, by their indices in row-major order.
#[derive(serde::Deserialize)]
struct Expected {
    absmax: f32,
    index: Vec<usize>,
    value: Vec<f32>,
}

fn carried() -> PathBuf {
    root().join("examples/squeezenet1_1.onnx")
}

#[test]
fn squeezenet_imports() {
    check(
        &carried(),
        "8 nn.concat, 52 nn.constant, 26 nn.conv2d, 3 nn.max_pool2d, 1 nn.reduce_mean, 26 nn.relu, 1 nn.reshape",
    );
}

#[test]
fn squeezenet_computes_what_onnxruntime_computes() {
    let samples = [
        (0, 0.009_931_877),
        (125, 7.386_657e-5),
        (250, 0.0),
        (376, 0.413_228_9),
        (501, 0.0),
        (877, 0.147_911_6),
    ];
    check_values(&carried(), 0.761_179, samples.into_iter());
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn resnet_is_right() {
    check_in_folder(
        "resnet50",
        "16 nn.add, 108 nn.constant, 53 nn.conv2d, 1 nn.matmul, 1 nn.max_pool2d, 1 nn.reduce_mean, 49 nn.relu, 1 nn.reshape",
    );
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn mobilenet_is_right() {
    check_in_folder(
        "mobilenet_v2",
        "10 nn.add, 35 nn.clip, 106 nn.constant, 52 nn.conv2d, 1 nn.matmul, 1 nn.reduce_mean, 1 nn.reshape",
    );
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn densenet_is_right() {
    check_in_folder(
        "densenet121",
        "3 nn.avg_pool2d, 62 nn.batch_norm, 62 nn.concat, 429 nn.constant, 120 nn.conv2d, 1 nn.matmul, 1 nn.max_pool2d, 1 nn.reduce_mean, 121 nn.relu, 1 nn.reshape",
    );
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn inception_is_right() {
    check_in_folder(
        "inception_v3",
        "9 nn.avg_pool2d, 11 nn.concat, 190 nn.constant, 94 nn.conv2d, 1 nn.matmul, 4 nn.max_pool2d, 1 nn.reduce_mean, 94 nn.relu, 1 nn.reshape",
    );
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn efficientnet_is_right() {
    check_in_folder(
        "efficientnet_b0",
        "9 nn.add, 164 nn.constant, 81 nn.conv2d, 1 nn.matmul, 65 nn.mul, 17 nn.reduce_mean, 1 nn.reshape, 65 nn.sigmoid",
    );
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn se_resnext_is_right() {
    check_in_folder(
        "se_resnext152_bn",
        "50 nn.add, 155 nn.batch_norm, 977 nn.constant, 255 nn.conv2d, 1 nn.matmul, 1 nn.max_pool2d, 50 nn.mul, 51 nn.reduce_mean, 201 nn.relu, 1 nn.reshape, 50 nn.sigmoid",
    );
}

#[test]
fn a_stripped_model_is_refused_unless_synthesised_numbers_are_wanted() {
    let ctx = Arc::new(Context::new());
    let path = carried();
    let diagnostics =
        import_model(&ctx, &path, StrippedWeights::Refuse).err().expect("the weights are missing");
    let [diagnostic] = &diagnostics[..] else { panic!("{diagnostics:?}") };
    assert_eq!(diagnostic.message, "the data of 27 tensors was stripped from this model");
    assert!(diagnostic.help.as_ref().unwrap().contains("--synthesize-weights"));
}
