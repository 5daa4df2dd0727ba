//! That converted nodes compute what ONNX says, where its versions differ or a model can say it in several
//! ways.
//!
//! The oracle is the operator's text at onnx.ai/onnx/operators; the numbers are small enough to be worked out
//! by hand.

use import::onnx::StrippedWeights;
use ir::TypeData;
use ir::interp::{Tensor, run};

use crate::fixture::import_bytes;
use crate::writer::{
    Graph, Message, float, floats, floats_tensor, int, ints, ints_tensor, model, packed_floats, property,
    raw_tensor, string, tensor,
};

/// The sizes of the first result, and its elements, where every argument counts 1, 2, 3, ...
pub(crate) fn compute(version: i64, graph: Graph) -> (Vec<u64>, Vec<f32>) {
    compute_model(&model(version, graph))
}

/// The same of a model.
pub(crate) fn compute_model(model: &Message) -> (Vec<u64>, Vec<f32>) {
    let module = import_bytes(&model.0, StrippedWeights::Refuse, &[]).unwrap();
    let ctx = &module.ctx;
    let body = module.function("main").unwrap();
    let counted = body.args(body.entry(body.root()).unwrap()).iter().map(|&arg| {
        let shape = ctx.static_shape(body.ty(arg)).unwrap();
        let count: u64 = shape.iter().product();
        Tensor::from_f32(ctx, &shape, &(1..=count).map(|x| x as f32).collect::<Vec<_>>())
    });
    let counted: Vec<Tensor> = counted.collect();
    let result = run(&module, "main", &counted).unwrap().remove(0);
    let TypeData::Tensor { shape, .. } = ctx.type_data(result.ty) else { panic!("a tensor") };
    (shape.iter().map(|dim| dim.known().unwrap()).collect(), result.to_f32())
}

pub(crate) fn check(version: i64, graph: Graph, shape: &[u64], elements: &[f32]) {
    assert_eq!(compute(version, graph), (shape.to_vec(), elements.to_vec()));
}

/// A graph with an input `x` of this shape, of which one node makes `y`.
pub(crate) fn one_node(op: &str, shape: &[i64], inputs: &[&str], attributes: &[Message]) -> Graph {
    Graph::default().input("x", shape).node(op, inputs, &["y"], attributes).output("y")
}

/// The same with constants `w0`, `w1`, ... after its first operand `x`.
pub(crate) fn with_constants(op: &str, shape: &[i64], weights: &[Message], attributes: &[Message]) -> Graph {
    let names = ["x", "w0", "w1", "w2", "w3"];
    let graph = one_node(op, shape, &names[..=weights.len()], attributes);
    weights.iter().cloned().fold(graph, Graph::weight)
}

/// The constant `w{index}` of integers.
pub(crate) fn w(index: usize, numbers: &[i64]) -> Message {
    ints_tensor(&format!("w{index}"), numbers)
}

/// Checks that a result has these elements, but for roundings.
#[track_caller]
pub(crate) fn close((_, found): (Vec<u64>, Vec<f32>), expected: &[f32]) {
    let is_close = |(found, expected): (&f32, &f32)| (found - expected).abs() < 1e-5;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(is_close),
        "{found:?}, expected {expected:?}"
    );
}

#[test]
fn shapes_are_equal_before_version_7_unless_a_node_says_that_one_is_stretched() {
    let graph = |attributes: &[Message]| {
        one_node("Add", &[2, 2], &["x", "w"], attributes).weight(floats_tensor("w", &[2], &[10.0, 20.0]))
    };
    check(6, graph(&[int("broadcast", 1)]), &[2, 2], &[11.0, 22.0, 13.0, 24.0]);
    check(6, graph(&[int("broadcast", 1), int("axis", 0)]), &[2, 2], &[11.0, 12.0, 23.0, 24.0]);
    let said = crate::fixture::faults(&model(6, graph(&[]))).join("\n");
    assert!(said.contains("shapes [2, 2] and [2], expected equal ones without `broadcast`"), "{said}");
    check(7, graph(&[]), &[2, 2], &[11.0, 22.0, 13.0, 24.0]);
}

/// Small numbers without a sign, as bytes.
fn bytes_tensor(name: &str, dims: &[i64], bytes: &[u8]) -> Message {
    raw_tensor(name, 2, dims, bytes)
}

#[test]
fn each_row_and_each_column_may_have_a_zero_and_a_scale_of_its_own() {
    let matrices = || {
        let graph = Graph::default().weight(bytes_tensor("a", &[2, 2], &[1, 2, 3, 4]));
        graph.weight(bytes_tensor("b", &[2, 2], &[5, 6, 7, 8]))
    };
    let graph = matrices().weight(bytes_tensor("a0", &[], &[0])).weight(bytes_tensor("b0", &[2], &[1, 2]));
    let graph = graph.node("MatMulInteger", &["a", "b", "a0", "b0"], &["i"], &[]);
    let graph = graph.node("Cast", &["i"], &["y"], &[int("to", 1)]).output("y");
    check(10, graph, &[2, 2], &[16.0, 16.0, 36.0, 36.0]);
    let one = |name| floats_tensor(name, &[], &[1.0]);
    let graph =
        matrices().weight(bytes_tensor("a0", &[2], &[0, 1])).weight(bytes_tensor("b0", &[2], &[5, 6]));
    let graph =
        graph.weight(floats_tensor("as", &[2], &[1.0, 2.0])).weight(floats_tensor("bs", &[2], &[1.0, 3.0]));
    let graph = graph.weight(one("ys")).weight(bytes_tensor("y0", &[], &[7]));
    let graph = graph.node("QLinearMatMul", &["a", "as", "a0", "b", "bs", "b0", "ys", "y0"], &["i"], &[]);
    let graph = graph.node("Cast", &["i"], &["y"], &[int("to", 1)]).output("y");
    // (1 2, 4 6) times (0 0, 2 6), and 7.
    check(10, graph, &[2, 2], &[11.0, 19.0, 19.0, 43.0]);
}

#[test]
fn a_window_of_no_size_is_refused() {
    let window = |size: i64| {
        let size = raw_tensor("size", 7, &[], &size.to_le_bytes());
        Graph::default().weight(size).node("HannWindow", &["size"], &["y"], &[]).output("y")
    };
    check(17, window(4), &[4], &[0.0, 0.5, 1.0, 0.5]);
    check(17, window(1), &[1], &[0.0]);
    let said = crate::fixture::faults(&model(17, window(0))).join("\n");
    assert!(said.contains("input 0 is no size"), "{said}");
}

#[test]
fn small_deviations_are_no_more_than_others_beside_an_epsilon() {
    let small = Graph::default().input("x", &[1, 1, 1, 2]).weight(floats_tensor("k", &[], &[1e-5]));
    let small = small.node("Mul", &["x", "k"], &["s"], &[]);
    let small = small.node("MeanVarianceNormalization", &["s"], &["n"], &[]);
    // -1 and 1 but for 2 in ten thousand, of which thousandths are left.
    let thousand = small.weight(floats_tensor("t", &[], &[1000.0])).node("Mul", &["n", "t"], &["m"], &[]);
    let (_, found) = compute(13, thousand.node("Round", &["m"], &["y"], &[]).output("y"));
    assert_eq!(found, [-1000.0, 1000.0]);
}

#[test]
fn an_expansion_to_sizes_that_do_not_fit_is_refused() {
    let expanded =
        |shape: &[i64]| one_node("Expand", &[2, 3], &["x", "to"], &[]).weight(ints_tensor("to", shape));
    check(13, expanded(&[1, 3]), &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for (shape, said) in [
        (&[2, 2][..], "sizes 3 and 2 of axis 1"),
        (&[6], "sizes 3 and 6 of axis 1"),
        (&[4, 1], "sizes 2 and 4 of axis 0"),
    ] {
        let found = crate::fixture::faults(&model(13, expanded(shape))).join("\n");
        assert!(found.contains(said), "no `{said}` in: {found}");
    }
}

#[test]
fn pixels_are_not_repeated_more_along_one_axis_if_the_ratio_is_kept() {
    let resized = |policy: &str| {
        let policy = string("keep_aspect_ratio_policy", policy);
        let graph = one_node("Resize", &[1, 2], &["x", "", "", "to"], &[string("mode", "nearest"), policy]);
        graph.weight(ints_tensor("to", &[2, 6]))
    };
    check(18, resized("stretch"), &[2, 6], &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0].repeat(2));
    check(18, resized("not_larger"), &[2, 4], &[1.0, 1.0, 2.0, 2.0].repeat(2));
    check(18, resized("not_smaller"), &[3, 6], &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0].repeat(3));
}

#[test]
fn concat_has_a_default_axis_before_version_4() {
    let graph = |attributes: &[Message]| one_node("Concat", &[1, 2, 2], &["x", "x"], attributes);
    check(1, graph(&[]), &[1, 4, 2], &[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    check(1, graph(&[int("axis", 2)]), &[1, 2, 4], &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    let said = crate::fixture::faults(&model(4, graph(&[]))).join("\n");
    assert!(said.contains("`axis` is left out"), "{said}");
}

#[test]
fn clip_has_attributes_up_to_version_10_and_operands_from_11() {
    let attributes = [float("min", 2.0), float("max", 3.0)];
    for version in [6, 10] {
        check(version, one_node("Clip", &[4], &["x"], &attributes), &[4], &[2.0, 2.0, 3.0, 3.0]);
    }
    let bound = |name| floats_tensor(name, &[], &[2.5]);
    let least = one_node("Clip", &[4], &["x", "lo"], &[]).weight(bound("lo"));
    check(11, least, &[4], &[2.5, 2.5, 3.0, 4.0]);
    let most = one_node("Clip", &[4], &["x", "", "hi"], &[]).weight(bound("hi"));
    check(11, most, &[4], &[1.0, 2.0, 2.5, 2.5]);
    let computed = Graph::default().input("x", &[4]).input("lo", &[]).output("y");
    let computed = computed.node("Neg", &["lo"], &["n"], &[]).node("Neg", &["x"], &["m"], &[]);
    let computed = computed.node("Clip", &["m", "n"], &["y"], &[]);
    check(13, computed, &[4], &[-1.0, -1.0, -1.0, -1.0]);
}

#[test]
fn a_binary_operator_broadcasts_from_an_axis_up_to_version_6() {
    let weight = floats_tensor("w", &[2], &[10.0, 20.0]);
    let along_rows = [int("broadcast", 1), int("axis", 0)];
    let graph = one_node("Add", &[2, 3], &["x", "w"], &along_rows).weight(weight.clone());
    check(6, graph, &[2, 3], &[11.0, 12.0, 13.0, 24.0, 25.0, 26.0]);
    let graph = one_node("Mul", &[3, 2], &["x", "w"], &[int("broadcast", 1)]).weight(weight.clone());
    check(6, graph, &[3, 2], &[10.0, 40.0, 30.0, 80.0, 50.0, 120.0]);
    let graph = one_node("Sub", &[3, 2], &["x", "w"], &[]).weight(weight);
    check(7, graph, &[3, 2], &[-9.0, -18.0, -7.0, -16.0, -5.0, -14.0]);
}

#[test]
fn softmax_takes_all_dimensions_from_its_axis_up_to_version_12() {
    let constant = |shape: &[i64], count| floats_tensor("w", shape, &vec![0.0; count]);
    let graph = one_node("Mul", &[1, 2, 2], &["x", "w"], &[]).weight(constant(&[1, 2, 2], 4));
    let zeros = Graph { outputs: vec![], ..graph };
    let old = zeros.clone().node("Softmax", &["y"], &["z"], &[]).output("z");
    check(11, old, &[1, 2, 2], &[0.25; 4]);
    let new = zeros.node("Softmax", &["y"], &["z"], &[]).output("z");
    check(13, new, &[1, 2, 2], &[0.5; 4]);
}

#[test]
fn axes_are_attributes_up_to_version_12_and_operands_from_13() {
    let count = |n: u64| (1..=n).map(|x| x as f32).collect::<Vec<_>>();
    let graph = one_node("Squeeze", &[1, 3, 1], &["x"], &[ints("axes", &[-1])]);
    check(11, graph, &[1, 3], &count(3));
    let axes = |graph: Graph, axes: &[i64]| graph.weight(ints_tensor("axes", axes));
    check(13, axes(one_node("Squeeze", &[1, 3, 1], &["x", "axes"], &[]), &[0]), &[3, 1], &count(3));
    check(13, one_node("Squeeze", &[1, 3, 1], &["x"], &[]), &[3], &count(3));
    let graph = one_node("Unsqueeze", &[3], &["x"], &[ints("axes", &[0, 2])]);
    check(11, graph, &[1, 3, 1], &count(3));
    check(13, axes(one_node("Unsqueeze", &[3], &["x", "axes"], &[]), &[-1]), &[3, 1], &count(3));
}

#[test]
fn a_new_shape_is_an_attribute_up_to_version_4_and_an_operand_from_5() {
    let count: Vec<f32> = (1..=6).map(|x| x as f32).collect();
    let graph = one_node("Reshape", &[2, 3], &["x"], &[ints("shape", &[3, -1])]);
    check(1, graph, &[3, 2], &count);
    let graph = one_node("Reshape", &[2, 3], &["x", "s"], &[]).weight(ints_tensor("s", &[0, 1, -1]));
    check(5, graph, &[2, 1, 3], &count);
    let graph = one_node("Reshape", &[0, 3], &["x", "s"], &[int("allowzero", 1)]);
    check(14, graph.weight(ints_tensor("s", &[3, 0])), &[3, 0], &[]);
}

#[test]
fn gemm_scales_transposes_and_adds() {
    let weights = |graph: Graph| {
        let b = floats_tensor("b", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        graph.weight(b).weight(floats_tensor("c", &[1, 2], &[10.0, 20.0]))
    };
    let plain = weights(one_node("Gemm", &[1, 2], &["x", "b", "c"], &[]));
    check(13, plain, &[1, 2], &[17.0, 30.0]);
    let attributes = [int("transB", 1), float("alpha", 2.0), float("beta", 0.5)];
    let scaled = weights(one_node("Gemm", &[1, 2], &["x", "b", "c"], &attributes));
    check(13, scaled, &[1, 2], &[15.0, 32.0]);
    let bare = weights(one_node("Gemm", &[2, 1], &["x", "b"], &[int("transA", 1)]));
    check(13, bare, &[1, 2], &[7.0, 10.0]);
}

#[test]
fn padding_is_found_from_auto_pad() {
    let sums = |auto_pad| {
        let attributes = [ints("strides", &[1, 2]), crate::writer::string("auto_pad", auto_pad)];
        let graph = one_node("Conv", &[1, 1, 1, 4], &["x", "w"], &attributes);
        compute(17, graph.weight(floats_tensor("w", &[1, 1, 1, 3], &[1.0; 3])))
    };
    assert_eq!(sums("SAME_UPPER"), (vec![1, 1, 1, 2], vec![6.0, 7.0]));
    assert_eq!(sums("SAME_LOWER"), (vec![1, 1, 1, 2], vec![3.0, 9.0]));
    assert_eq!(sums("VALID"), (vec![1, 1, 1, 1], vec![6.0]));
}

#[test]
fn dropout_and_identity_are_their_operand() {
    let graph = Graph::default().input("x", &[2]).output("y");
    let graph = graph.node("Dropout", &["x"], &["d", ""], &[float("ratio", 0.5)]);
    check(10, graph.node("Identity", &["d"], &["y"], &[]), &[2], &[1.0, 2.0]);
}

#[test]
fn an_input_that_is_a_weight_too_is_a_weight() {
    let graph = one_node("Add", &[2], &["x", "w"], &[]).input("w", &[2]);
    check(6, graph.weight(floats_tensor("w", &[2], &[10.0, 20.0])), &[2], &[11.0, 22.0]);
}

#[test]
fn every_encoding_of_a_tensor_reads_the_same() {
    let head = |element: i64| Message::default().packed(1, &[2]).int(2, element).bytes(8, "w");
    let raw = |element, bytes: &[u8]| raw_tensor("w", element, &[2], bytes);
    let half = [0x3c00u16, 0xc000].map(u16::to_le_bytes).concat();
    for (weight, expected) in [
        (raw(1, &[1f32, -2.0].map(f32::to_le_bytes).concat()), [1.0, -2.0]),
        (head(1).message(4, &packed_floats(&[1.0, -2.0])), [1.0, -2.0]),
        (head(1).float(4, 1.0).float(4, -2.0), [1.0, -2.0]),
        (raw(10, &half), [1.0, -2.0]),
        (head(10).packed(5, &[0x3c00, 0xc000]), [1.0, -2.0]),
        (head(6).packed(5, &[1, -2]), [1.0, -2.0]),
        (head(3).packed(5, &[1, -2]), [1.0, -2.0]),
        (head(7).packed(7, &[1, -2]), [1.0, -2.0]),
        (head(13).packed(11, &[1, 2]), [1.0, 2.0]),
        (head(9).packed(5, &[1, 0]), [1.0, 0.0]),
    ] {
        let graph = Graph::default().weight(weight).output("w");
        let module = import_bytes(&model(17, graph).0, StrippedWeights::Refuse, &[]).unwrap();
        let result = run(&module, "main", &[]).unwrap().remove(0);
        assert_eq!(numbers(&module, &result), expected);
    }
}

/// The elements of a tensor of any type, by its bytes.
fn numbers(module: &ir::Module, tensor: &Tensor) -> Vec<f64> {
    let elem = module.ctx.elem(tensor.ty);
    let width = tensor.bytes.len() / 2;
    let signed = |bytes: &[u8]| {
        let mut wide = [if bytes[width - 1] & 0x80 == 0 { 0 } else { 0xff }; 8];
        wide[..width].copy_from_slice(bytes);
        i64::from_le_bytes(wide) as f64
    };
    let number = |bytes: &[u8]| match module.ctx.type_data(elem) {
        TypeData::Float(kind) if kind.bits() == 16 => {
            half::f16::from_le_bytes(bytes.try_into().unwrap()).into()
        }
        TypeData::Float(_) => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
        _ => signed(bytes),
    };
    tensor.bytes.chunks(width).map(number).collect()
}

#[test]
fn stripped_weights_and_constants_are_made_by_their_rules() {
    let rules = ["w", "const:c", "v", "u"].iter().zip(["0.5", "4", "7", "7"]);
    let rules = rules.map(|(key, fill)| format!(r#""{key}": {{"dtype": 1, "shape": [2], "fill": {fill}}}"#));
    let rules = format!("{{{}}}", rules.collect::<Vec<_>>().join(", "));
    let empty = |name| raw_tensor(name, 1, &[2], &[]);
    let graph = one_node("Add", &[2], &["x", "w"], &[]).weight(empty("w"));
    let graph = graph.node("Constant", &[], &["c"], &[tensor("value", &empty(""))]);
    let graph = Graph { outputs: vec![], ..graph }.node("Mul", &["y", "c"], &["z"], &[]);
    // Weights that the file has are no other ones for that there is a rule.
    let there = raw_tensor("v", 1, &[2], &[10.0f32, 20.0].map(f32::to_le_bytes).concat());
    let graph = graph.weight(there).weight(floats_tensor("u", &[2], &[100.0, 200.0]));
    let graph = graph.node("Add", &["z", "v"], &["s"], &[]).node("Add", &["s", "u"], &["t"], &[]).output("t");
    let bytes = model(17, graph).message(14, &property("stripped_weights", &rules)).0;
    let module = import_bytes(&bytes, StrippedWeights::Synthesize, &[]).unwrap();
    let ones = Tensor::from_f32(&module.ctx, &[2], &[1.0, 2.0]);
    assert_eq!(run(&module, "main", &[ones]).unwrap()[0].to_f32(), [116.0, 230.0]);
}

#[test]
fn constants_are_said_in_several_ways() {
    let weight = |attribute: Message, expected: f32| {
        let graph = Graph::default().input("x", &[1]).node("Constant", &[], &["c"], &[attribute]);
        check(13, graph.node("Add", &["x", "c"], &["y"], &[]).output("y"), &[1], &[expected]);
    };
    weight(float("value_float", 5.0), 6.0);
    weight(floats("value_floats", &[7.0]), 8.0);
    weight(tensor("value", &floats_tensor("", &[1], &[9.0])), 10.0);
    let shape = |attribute: Message| {
        let graph = Graph::default().input("x", &[2, 2]).node("Constant", &[], &["s"], &[attribute]);
        graph.node("Reshape", &["x", "s"], &["y"], &[]).output("y")
    };
    check(13, shape(ints("value_ints", &[4])), &[4], &[1.0, 2.0, 3.0, 4.0]);
    check(13, shape(tensor("value", &ints_tensor("", &[1, -1]))), &[1, 4], &[1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_shape_that_follows_from_shapes_is_a_constant() {
    let graph = Graph::default().input("x", &[2, 3]).input("z", &[3, 2]).output("y");
    let graph = graph.node("Shape", &["z"], &["s"], &[]).node("Reshape", &["x", "s"], &["y"], &[]);
    check(17, graph, &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn products_of_wide_elements_are_sums_of_products() {
    // The product of [2, 3] and [3, 1] of `f64`, with the column turned on its way.
    let to = |kind: i64| [int("to", kind)];
    let wide = Graph::default().input("x", &[2, 3]).weight(floats_tensor("w", &[3], &[1.0, 10.0, 100.0]));
    let wide = wide.node("Cast", &["x"], &["a"], &to(11)).node("Cast", &["w"], &["b"], &to(11));
    let vector = wide.clone().node("MatMul", &["a", "b"], &["p"], &[]);
    check(13, vector.node("Cast", &["p"], &["y"], &to(1)).output("y"), &[2], &[321.0, 654.0]);
    let row = wide.weight(ints_tensor("zero", &[0]));
    let row = row.node("Unsqueeze", &["b", "zero"], &["r"], &[]);
    let turned = row.node("Gemm", &["a", "r"], &["p"], &[int("transB", 1), float("alpha", 2.0)]);
    check(13, turned.node("Cast", &["p"], &["y"], &to(1)).output("y"), &[2, 1], &[642.0, 1308.0]);
}

#[test]
fn numbers_that_no_float_of_32_bits_is_surround_as_they_are() {
    let padded = Graph::default().input("x", &[2]).weight(ints_tensor("pads", &[1, 0]));
    let padded = padded.weight(ints_tensor("all", &[16_777_217])).weight(ints_tensor("base", &[16_777_216]));
    let padded = padded.node("Cast", &["x"], &["i"], &[int("to", 7)]);
    let padded = padded.node("Pad", &["i", "pads", "all"], &["p"], &[]);
    let padded = padded.node("Sub", &["p", "base"], &["d"], &[]);
    let padded = padded.node("Cast", &["d"], &["y"], &[int("to", 1)]).output("y");
    check(13, padded, &[3], &[1.0, -16_777_215.0, -16_777_214.0]);
}

/// A number that is computed, or that a type other than the input's has, would be refused if it was read.
#[test]
fn what_is_padded_with_elements_ignores_the_number() {
    for (mode, expected) in
        [("edge", [1.0, 1.0, 2.0, 3.0]), ("reflect", [2.0, 1.0, 2.0, 3.0]), ("wrap", [3.0, 1.0, 2.0, 3.0])]
    {
        let padded = |number: Graph| {
            let graph = number.weight(ints_tensor("pads", &[1, 0]));
            graph.node("Pad", &["x", "pads", "number"], &["y"], &[string("mode", mode)]).output("y")
        };
        let input = || Graph::default().input("x", &[3]);
        let computed = padded(input().node("ReduceSum", &["x"], &["number"], &[int("keepdims", 0)]));
        check(13, computed, &[4], &expected);
        check(13, padded(input().weight(ints_tensor("number", &[5, 6]))), &[4], &expected);
        let old = input().node(
            "Pad",
            &["x"],
            &["y"],
            &[string("mode", mode), ints("pads", &[1, 0]), float("value", 5.0)],
        );
        check(2, old.output("y"), &[4], &expected);
    }
    let computed = Graph::default().input("x", &[3]).weight(ints_tensor("pads", &[1, 0]));
    let computed = computed.node("ReduceSum", &["x"], &["number"], &[int("keepdims", 0)]);
    let computed = computed.node("Pad", &["x", "pads", "number"], &["y"], &[]).output("y");
    crate::fixture::refuses(13, computed, "input 2 is computed, expected a constant");
}

#[test]
fn a_constant_has_one_attribute_which_may_be_an_integer() {
    let constant = |attributes: &[Message]| {
        let graph = Graph::default().input("x", &[2, 3]).node("Constant", &[], &["c"], attributes);
        graph.node("Gather", &["x", "c"], &["y"], &[]).output("y")
    };
    check(13, constant(&[int("value_int", 1)]), &[3], &[4.0, 5.0, 6.0]);
    check(13, constant(&[ints("value_ints", &[1])]), &[1, 3], &[4.0, 5.0, 6.0]);
    crate::fixture::refuses(13, constant(&[]), "0 attributes, expected one value");
    let two = constant(&[int("value_int", 1), ints("value_ints", &[1])]);
    crate::fixture::refuses(13, two, "2 attributes, expected one value");
}
