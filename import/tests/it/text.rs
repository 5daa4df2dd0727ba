//! What imported modules look like, and that their text stands for them.

use std::path::Path;
use std::sync::Arc;

use import::onnx::declared::DeclaredSizes;
use import::onnx::element::Element;
use import::onnx::external::read_file;
use import::onnx::{ImportOptions, StrippedWeights, import, restore};
use import::synth::input;
use ir::interp::{Tensor, run};
use ir::text::{Locations, PrintForm, PrintOptions, parse, print, print_with};
use ir::{AttrData, Context, Module};

use crate::fixture::import_bytes;
use crate::writer::{Graph, Message, float, floats_tensor, int, ints, ints_tensor, model, string};

/// Checks the lines between the function's first and last.
fn check(graph: Graph, expected: &[&str]) {
    let module = import_bytes(&model(17, graph).0, StrippedWeights::Refuse, &[]).unwrap();
    let text = print(&module);
    let lines: Vec<&str> = text.lines().map(str::trim).skip(2).collect();
    let end = lines.iter().position(|line| line.starts_with("return")).unwrap();
    assert_eq!(lines[..end], *expected, "\n{text}");
}

fn image(op: &str, inputs: &[&str], attributes: &[Message]) -> Graph {
    let graph = Graph::default().input("x", &[1, 4, 8, 8]).output("y");
    graph.node(op, inputs, &["y"], attributes)
}

#[test]
fn a_module_names_its_inputs_outputs_and_weights() {
    let graph = image("Add", &["x", "w"], &[]).weight(floats_tensor("w", &[1, 4, 8, 8], &[0.5; 256]));
    let module = import_bytes(&model(17, graph).0, StrippedWeights::Refuse, &[]).unwrap();
    let options = PrintOptions { locations: Locations::Shown, ..PrintOptions::default() };
    let expected = r#"#loc = loc(unknown)
module {
  func.func @main(%arg0: tensor<1x4x8x8xf32> {optc.name = "x"} loc(unknown)) -> (tensor<1x4x8x8xf32> {optc.name = "y"}) {
    %0 = nn.constant dense_resource<w> : tensor<1x4x8x8xf32> loc(#loc2)
    %1 = nn.add %arg0, %0 : tensor<1x4x8x8xf32> loc(#loc3)
    return %1 : tensor<1x4x8x8xf32> loc(#loc)
  } loc(#loc1)
} loc(#loc)
#loc1 = loc("g")
#loc2 = loc("w")
#loc3 = loc("Add_y")
"#;
    let text = print_with(&module, &options);
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_convolution_keeps_what_differs_from_the_defaults() {
    let weight = || floats_tensor("w", &[8, 2, 3, 3], &[0.5; 144]);
    let bias = floats_tensor("b", &[8], &[0.25; 8]);
    let attributes = [int("group", 2), ints("strides", &[2, 1]), string("auto_pad", "SAME_LOWER")];
    check(
        image("Conv", &["x", "w", "b"], &attributes).weight(weight()).weight(bias),
        &[
            "%0 = nn.constant dense_resource<w> : tensor<8x2x3x3xf32>",
            "%1 = nn.constant dense<2.500000e-01> : tensor<8xf32>",
            "%2 = nn.conv2d %arg0, %0, %1 {groups = 2 : i64, pads = array<i64: 1, 1, 0, 1>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xf32>, tensor<8x2x3x3xf32>, tensor<8xf32>) -> tensor<1x8x4x8xf32>",
        ],
    );
    let graph = image("Conv", &["x", "w"], &[int("group", 2), ints("dilations", &[2, 2])]).weight(weight());
    check(
        graph,
        &[
            "%0 = nn.constant dense_resource<w> : tensor<8x2x3x3xf32>",
            "%1 = nn.conv2d %arg0, %0 {dilations = array<i64: 2, 2>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x4x4xf32>",
        ],
    );
}

#[test]
fn pools_keep_their_windows() {
    let window = [ints("kernel_shape", &[3, 2]), ints("strides", &[2, 2]), ints("pads", &[1, 0, 1, 0])];
    let max = [&window[..], &[int("ceil_mode", 1)]].concat();
    check(
        image("MaxPool", &["x"], &max),
        &[
            "%0 = nn.max_pool2d %arg0 {ceil, kernel = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x5x4xf32>",
        ],
    );
    let average = [&window[..], &[int("count_include_pad", 1)]].concat();
    check(
        image("AveragePool", &["x"], &average),
        &[
            "%0 = nn.avg_pool2d %arg0 {count_include_pad, kernel = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>",
        ],
    );
    check(
        image("GlobalAveragePool", &["x"], &[]),
        &[
            "%0 = nn.reduce_mean %arg0 {axes = array<i64: 2, 3>, keepdims} : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>",
        ],
    );
}

#[test]
fn bounds_shapes_and_axes_become_attributes() {
    let lo = floats_tensor("lo", &[], &[0.0]);
    let hi = floats_tensor("hi", &[], &[6.0]);
    check(
        image("Clip", &["x", "lo", "hi"], &[]).weight(lo).weight(hi),
        &["%0 = nn.clip %arg0 {hi = 6.000000e+00 : f32, lo = 0.000000e+00 : f32} : tensor<1x4x8x8xf32>"],
    );
    check(
        image("Reshape", &["x", "s"], &[]).weight(ints_tensor("s", &[0, -1])),
        &["%0 = nn.reshape %arg0 {shape = array<i64: 1, 256>} : (tensor<1x4x8x8xf32>) -> tensor<1x256xf32>"],
    );
    check(
        image("Flatten", &["x"], &[int("axis", -2)]),
        &["%0 = nn.reshape %arg0 {shape = array<i64: 4, 64>} : (tensor<1x4x8x8xf32>) -> tensor<4x64xf32>"],
    );
}

#[test]
fn a_normalisation_and_a_matrix_product_take_their_weights() {
    let norm = image("BatchNormalization", &["x", "n", "n", "n", "n"], &[float("epsilon", 0.5)]);
    check(
        norm.weight(floats_tensor("n", &[4], &[1.0, 2.0, 3.0, 4.0])),
        &[
            "%0 = nn.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>",
            "%1 = nn.batch_norm %arg0, %0, %0, %0, %0 {epsilon = 5.000000e-01 : f32} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>",
        ],
    );
    let graph = Graph::default().input("x", &[2, 3]).output("y");
    let graph = graph.node("Gemm", &["x", "w", "b"], &["y"], &[int("transB", 1)]);
    let graph = graph.weight(floats_tensor("w", &[3, 3], &[1.0; 9]));
    check(
        graph.weight(floats_tensor("b", &[3], &[1.0; 3])),
        &[
            "%0 = nn.constant dense_resource<w> : tensor<3x3xf32>",
            "%1 = nn.constant dense<1.000000e+00> : tensor<3xf32>",
            "%2 = nn.matmul %arg0, %0, %1 {transpose_b} : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
        ],
    );
}

#[test]
fn a_bias_of_a_product_is_a_row_and_anything_else_is_added_to_it() {
    let imported = |rows: i64, bias: &[i64]| {
        let graph = Graph::default().input("x", &[rows, 3]).weight(floats_tensor("w", &[3, 3], &[1.0; 9]));
        let count = bias.iter().product::<i64>() as usize;
        let graph = graph.weight(floats_tensor("b", bias, &vec![1.0; count]));
        let graph = graph.node("Gemm", &["x", "w", "b"], &["y"], &[]).output("y");
        print(&import_bytes(&model(17, graph).0, StrippedWeights::Refuse, &[]).unwrap())
    };
    for bias in [&[3][..], &[1, 3]] {
        let text = imported(2, bias);
        assert!(!text.contains("nn.add"), "{bias:?}: {text}");
    }
    for (rows, bias) in [(2, &[][..]), (2, &[1]), (2, &[2, 1]), (2, &[2, 3]), (0, &[0, 3])] {
        let text = imported(rows, bias);
        assert!(text.contains("nn.add"), "{bias:?}: {text}");
    }
}

/// The keys of the module's big constants.
fn resource_keys(module: &Module) -> Vec<&str> {
    let body = module.function("main").unwrap();
    let block = body.entry(body.root()).unwrap();
    let values = body.ops(block).filter_map(|op| body.at(&module.ctx, op).attr("value"));
    let keys = values.filter_map(|value| match module.ctx.attr_data(value) {
        AttrData::Resource { key, .. } => Some(module.ctx.str(*key)),
        _ => None,
    });
    keys.collect()
}

fn run_main(module: &Module) -> Arc<Vec<u8>> {
    let ctx = &module.ctx;
    let body = module.function("main").unwrap();
    let ty = body.ty(body.args(body.entry(body.root()).unwrap())[0]);
    let image = input("input", None, Element::Float, &ctx.static_shape(ty).unwrap()).unwrap();
    run(module, "main", &[Tensor::new(ctx, ty, image.to_vec())]).unwrap().remove(0).bytes
}

#[test]
fn printed_text_parses_back_and_finds_its_weights_again() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    let synthesize = StrippedWeights::Synthesize;
    let options = ImportOptions { open_file: &read_file, stripped: synthesize, sizes: DeclaredSizes::new() };
    let module = import(&Arc::new(Context::new()), &path, &options).ok().unwrap();
    for form in [PrintForm::Pretty, PrintForm::Generic] {
        let text =
            print_with(&module, &PrintOptions { form, locations: Locations::Shown, ..Default::default() });
        let ctx = Arc::new(Context::new());
        let again = parse(&ctx, "squeezenet.mlir", text.clone()).ok().unwrap();
        assert_eq!(
            print_with(&again, &PrintOptions { form, locations: Locations::Shown, ..Default::default() }),
            text
        );
        let model_path = path.display().to_string();
        let references = [("model".to_owned(), model_path), ("synthesize".to_owned(), "true".to_owned())];
        assert_eq!(ctx.references(), references);
        restore(&ctx, &path, &options, &resource_keys(&again)).unwrap();
        assert_eq!(run_main(&again), run_main(&module));
    }
}

#[test]
fn a_key_that_the_model_does_not_have_is_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    let synthesize = StrippedWeights::Synthesize;
    let options = ImportOptions { open_file: &read_file, stripped: synthesize, sizes: DeclaredSizes::new() };
    let ctx = Context::new();
    let faults = restore(&ctx, &path, &options, &["classifier.1.weight", "nothing"]).unwrap_err();
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert_eq!(fault.message, "the model has no tensor `nothing`");
}

#[test]
fn two_models_in_one_context_keep_their_weights_apart() {
    let ctx = Arc::new(Context::new());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    let synthesize = StrippedWeights::Synthesize;
    let options = ImportOptions { open_file: &read_file, stripped: synthesize, sizes: DeclaredSizes::new() };
    let first = import(&ctx, &path, &options).ok().unwrap();
    let second = import(&ctx, &path, &options).ok().unwrap();
    assert_eq!(resource_keys(&first)[0], "features.0.weight");
    assert_eq!(resource_keys(&second)[0], "features.0.weight#1");
    restore(&ctx, &path, &options, &["features.0.weight#1"]).unwrap();
}
