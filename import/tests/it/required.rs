//! What a model needs of its inputs' sizes: derived from what operators demand, and never from what may
//! stretch.

use import::onnx::StrippedWeights;
use import::onnx::declared::{DeclaredSizes, Symbolized};
use ir::Module;

use crate::fixture::{import_bytes, import_sized};
use crate::writer::{Graph, floats_tensor, int, ints, ints_tensor, model, string};

fn import(graph: Graph) -> Module {
    let module = import_bytes(&model(17, graph.output("y")).0, StrippedWeights::Refuse, &[]);
    module.unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// The types of the function, and what it says of its sizes; its text reads as itself.
#[track_caller]
fn check(graph: Graph, inputs: &str, result: &str, dims: Option<&str>) {
    let module = import(graph);
    let text = ir::text::print(&module);
    let again = ir::text::parse(&std::sync::Arc::new(ir::Context::new()), "again", text.clone());
    let again = again.unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].message));
    ir::verify::verify(&again).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    assert_eq!(ir::text::print(&again), text);
    let ctx = &module.ctx;
    let body = module.function("main").expect("a model is a function `main`");
    let block = body.entry(body.root()).expect("it has a block");
    let end = body.last_op(block).expect("it returns");
    let types = body.args(block).iter().map(|arg| ir::text::type_text(ctx, body.ty(*arg)));
    assert_eq!(types.collect::<Vec<_>>().join(" "), inputs);
    assert_eq!(ir::text::type_text(ctx, body.ty(body.operand(end, 0))), result);
    let said = text.split_once("attributes {optc.dims = ").and_then(|(_, rest)| rest.split_once("} {\n"));
    assert_eq!(said.map(|(said, _)| said), dims);
}

/// The sums of the rows of `x: [open, 4]`, as `r: [open]`, and the number of rows as `m`.
fn rows() -> Graph {
    let graph = Graph::default().input("x", &[-1, 4]);
    let graph = graph.weight(ints_tensor("zero", &[0])).weight(ints_tensor("one", &[1]));
    let graph = graph.node("Shape", &["x"], &["s"], &[]).node("Gather", &["s", "zero"], &["m"], &[]);
    graph.node("ReduceSum", &["x", "one"], &["r"], &[int("keepdims", 0)])
}

const X: &str = "tensor<?x4xf32, #optc.dims<x_0>>";

#[test]
fn a_part_that_must_be_as_long_as_asked_for_limits_it() {
    let capped = rows().weight(floats_tensor("five", &[5], &[1.0; 5]));
    let capped = capped.node("Slice", &["five", "zero", "m", "zero"], &["c"], &[]);
    let sum = capped.clone().node("Add", &["c", "r"], &["y"], &[]);
    check(sum, X, "tensor<?xf32, #optc.dims<x_0>>", Some("{x_0 = [1, 5]}"));
    // The part alone is right at all sizes.
    let alone = capped.node("Neg", &["c"], &["y"], &[]);
    check(alone, X, "tensor<?xf32, #optc.dims<min(x_0, 5)>>", None);
}

#[test]
fn a_table_of_positions_limits_how_many_there_are() {
    let positions = rows().weight(floats_tensor("table", &[5, 2], &[1.0; 10]));
    let positions = positions.node("Range", &["zero", "m", "one"], &["p"], &[]);
    let as_column = positions.clone().node("Unsqueeze", &["p", "one"], &["c"], &[]);
    let taken = as_column.node("Gather", &["table", "c"], &["y"], &[]);
    check(taken.clone(), X, "tensor<?x1x2xf32, #optc.dims<x_0>>", Some("{x_0 = [1, 5]}"));
    // They are a slice of the table, as they are where there is a number of them.
    let text = ir::text::print(&import(taken));
    assert!(!text.contains("nn.gather"), "{text}");
    // Along the other axis there are two.
    let columns = positions.clone().node("Gather", &["table", "p"], &["y"], &[int("axis", 1)]);
    check(columns, X, "tensor<5x?xf32, #optc.dims<x_0>>", Some("{x_0 = [1, 2]}"));
    // What is picked by the elements of an input may be inside at all sizes.
    let picked = Graph::default().input("x", &[-1, 4]).weight(floats_tensor("table", &[5, 2], &[1.0; 10]));
    let picked =
        picked.node("Cast", &["x"], &["i"], &[int("to", 7)]).node("Gather", &["table", "i"], &["y"], &[]);
    check(picked, X, "tensor<?x4x2xf32, #optc.dims<x_0>>", None);
}

#[test]
fn what_may_stretch_needs_nothing() {
    let images = Graph::default().input("x", &[-1, 3, 1, 1]).input("z", &[-1, 3, -1, -1]);
    let sum = images.node("Add", &["x", "z"], &["y"], &[]);
    let inputs = "tensor<?x3x1x1xf32, #optc.dims<x_0>> tensor<?x3x?x?xf32, #optc.dims<z_0, z_2, z_3>>";
    check(sum, inputs, "tensor<?x3x?x?xf32, #optc.dims<_, z_2, z_3>>", None);
}

#[test]
fn a_lower_bound_is_not_used_as_a_size() {
    let bounded = rows().weight(ints_tensor("four", &[4])).node("Max", &["m", "four"], &["k"], &[]);
    let bounded = bounded.node("ConstantOfShape", &["k"], &["c"], &[]);
    let sum = bounded.clone().node("Add", &["c", "r"], &["y"], &[]);
    // One row stretches to four, two and three do not: that is left to each run.
    check(sum, X, "tensor<?xf32, #optc.dims<max(x_0, 4)>>", None);
    // Beside one another, they must be of one length.
    let columns = bounded.weight(ints_tensor("column", &[-1, 1]));
    let columns = columns.node("Reshape", &["c", "column"], &["d"], &[]);
    let columns = columns.node("Concat", &["x", "d"], &["e"], &[int("axis", 1)]);
    let columns = columns.node("ReduceSum", &["e", "one"], &["f"], &[int("keepdims", 0)]);
    let columns = columns.node("Add", &["f", "c"], &["y"], &[]);
    check(columns, X, "tensor<?xf32, #optc.dims<max(x_0, 4)>>", Some("{x_0 = [4, 9223372036854775807]}"));
}

/// `x: [open, 4]` beside `z: [open, 4]`, as `b`.
fn beside() -> Graph {
    rows().input("z", &[-1, 4]).node("Concat", &["x", "z"], &["b"], &[int("axis", 1)])
}

#[test]
fn two_names_are_one_size_only_where_an_operator_says_so() {
    let apart = rows().input("z", &[-1, 4]).node("Add", &["x", "z"], &["y"], &[]);
    let inputs = "tensor<?x4xf32, #optc.dims<x_0>> tensor<?x4xf32, #optc.dims<z_0>>";
    check(apart, inputs, "tensor<?x4xf32>", None);
    // What no output follows from may be wrong.
    let dead = beside().node("Neg", &["r"], &["y"], &[]);
    check(dead, inputs, "tensor<?xf32, #optc.dims<x_0>>", None);
    let sum = beside().node("ReduceSum", &["z", "one"], &["c"], &[]).node("Add", &["b", "c"], &["y"], &[]);
    let inputs = "tensor<?x4xf32, #optc.dims<x_0>> tensor<?x4xf32, #optc.dims<x_0>>";
    check(sum, inputs, "tensor<?x8xf32, #optc.dims<x_0>>", Some("{z_0 = #optc.dims<x_0>}"));
}

#[test]
fn what_a_product_sums_over_is_of_one_size() {
    let product = rows().input("z", &[4, -1]).input("v", &[-1, 6]);
    let product = product.node("MatMul", &["z", "v"], &["p"], &[]);
    let sum = product.node("ReduceSum", &["v", "one"], &["c"], &[]).node(
        "ReduceSum",
        &["z", "zero"],
        &["d"],
        &[int("keepdims", 0)],
    );
    let column = sum.weight(ints_tensor("column", &[-1, 1])).node("Reshape", &["d", "column"], &["e"], &[]);
    let column = column.node("ReduceSum", &["p", "zero"], &["q"], &[]);
    let both = column.node("Add", &["c", "e"], &["f"], &[]).node("Add", &["f", "q"], &["y"], &[]);
    let inputs =
        "tensor<?x4xf32, #optc.dims<x_0>> tensor<4x?xf32, #optc.dims<z_1>> tensor<?x6xf32, #optc.dims<z_1>>";
    check(both, inputs, "tensor<?x6xf32, #optc.dims<z_1>>", Some("{v_0 = #optc.dims<z_1>}"));
}

/// The types of inputs of four columns whose rows are named so.
fn named(rows: &[&str]) -> Vec<String> {
    let names: Vec<String> = (0..rows.len()).map(|index| format!("x{index}")).collect();
    let graph = names.iter().fold(Graph::default(), |graph, name| graph.input(name, &[-1, 4]));
    let graph = graph.node("Neg", &["x0"], &["y"], &[]).output("y");
    let symbolized = names.iter().zip(rows);
    let symbolized = symbolized.map(|(input, size)| Symbolized {
        input: input.clone(),
        axis: 0,
        size: (*size).to_owned(),
    });
    let sizes = DeclaredSizes { symbolized: symbolized.collect(), ..DeclaredSizes::new() };
    let module = import_sized(&model(17, graph).0, StrippedWeights::Refuse, sizes);
    let module = module.unwrap_or_else(|faults| panic!("{faults:?}"));
    let body = module.function("main").expect("a model is a function `main`");
    let args = body.args(body.entry(body.root()).expect("it has a block"));
    args.iter().map(|arg| ir::text::type_text(&module.ctx, body.ty(*arg))).collect()
}

#[test]
fn a_quotient_of_what_no_input_has_is_a_name() {
    let [seq, half, name] =
        ["seq", "seq floordiv 2", "\"seq/2\""].map(|size| format!("tensor<?x4xf32, #optc.dims<{size}>>"));
    assert_eq!(named(&["seq/2", "seq"]), [half, seq]);
    assert_eq!(named(&["seq/2", "seq/2"]), [name.clone(), name]);
    // Of a product, both factors must be there.
    let product = "tensor<?x4xf32, #optc.dims<\"a*b/2\">>".to_owned();
    assert_eq!(named(&["a*b/2", "a"])[0], product);
    assert_ne!(named(&["a*b/2", "a", "b"])[0], product);
}

#[test]
fn there_is_a_score_for_each_box() {
    let scores = floats_tensor("scores", &[1, 2, 3], &[0.5; 6]);
    let most = ints_tensor("most", &[1]);
    let graph = Graph::default().input("x", &[-1, -1, 4]).weight(scores).weight(most);
    let graph = graph.node("NonMaxSuppression", &["x", "scores", "most"], &["y"], &[]);
    let sizes = "{x_0 = array<i64: 1>, x_1 = array<i64: 3>}";
    check(graph, "tensor<1x3x4xf32>", "tensor<2x3xi64>", Some(sizes));
}

#[test]
fn convolutions_products_and_recurrent_nets_take_named_sizes() {
    let image =
        Graph::default().input("x", &[-1, 2, -1, 5]).weight(floats_tensor("w", &[2, 3, 3, 3], &[0.5; 54]));
    let attributes = [ints("strides", &[2, 2]), ints("pads", &[1, 1, 1, 1]), ints("output_padding", &[1, 1])];
    let wide = image.clone().node("ConvTranspose", &["x", "w"], &["y"], &attributes);
    let inputs = "tensor<?x2x?x5xf32, #optc.dims<x_0, x_2>>";
    check(wide, inputs, "tensor<?x3x?x10xf32, #optc.dims<x_0, 2 * x_2>>", None);
    let same = [ints("strides", &[2, 2]), string("auto_pad", "SAME_LOWER")];
    let same = image.node("ConvTranspose", &["x", "w"], &["y"], &same);
    check(same, inputs, "tensor<?x3x?x10xf32, #optc.dims<x_0, 2 * x_2>>", None);

    let rows = Graph::default().input("x", &[4, -1, 5]);
    let rows = rows.weight(floats_tensor("w", &[1, 6, 5], &[0.5; 30]));
    let rows = rows.weight(floats_tensor("r", &[1, 6, 2], &[0.5; 12]));
    let states = rows.node("GRU", &["x", "w", "r"], &["y"], &[int("hidden_size", 2)]);
    check(states, "tensor<4x?x5xf32, #optc.dims<x_1>>", "tensor<4x1x?x2xf32, #optc.dims<x_1>>", None);

    let heads = Graph::default().input("q", &[-1, 2, -1, 4]).input("k", &[-1, 2, -1, 4]);
    let product = heads.node("Einsum", &["q", "k"], &["y"], &[string("equation", "bhid,bhjd->bhij")]);
    let inputs = "tensor<?x2x?x4xf32, #optc.dims<q_0, q_2>> tensor<?x2x?x4xf32, #optc.dims<q_0, k_2>>";
    check(product, inputs, "tensor<?x2x?x?xf32, #optc.dims<q_0, q_2, k_2>>", Some("{k_0 = #optc.dims<q_0>}"));
}

#[test]
fn images_of_any_number_are_resized() {
    let images = Graph::default().input("x", &[-1, 3, 4, 6]);
    let images = images.weight(floats_tensor("scales", &[4], &[1.0, 1.0, 1.5, 2.5]));
    let by_scales = images.node("Resize", &["x", "", "scales"], &["y"], &[string("mode", "linear")]);
    let inputs = "tensor<?x3x4x6xf32, #optc.dims<x_0>>";
    check(by_scales, inputs, "tensor<?x3x6x15xf32, #optc.dims<x_0>>", None);
    let sizes = Graph::default().input("x", &[-1, 3, 4, 6]).weight(ints_tensor("rest", &[3, 9, 7]));
    let sizes = sizes.node("Shape", &["x"], &["n"], &[int("end", 1)]);
    let sizes = sizes.node("Concat", &["n", "rest"], &["s"], &[int("axis", 0)]);
    let by_sizes = sizes.node("Resize", &["x", "", "", "s"], &["y"], &[string("mode", "cubic")]);
    check(by_sizes, inputs, "tensor<?x3x9x7xf32, #optc.dims<x_0>>", None);
}

#[test]
fn a_size_that_follows_from_another_hands_its_range_on() {
    let graph = Graph::default().input("x", &[-1, 4]).input("y", &[-1, 4]).weight(ints_tensor("zero", &[0]));
    let graph = graph.weight(ints_tensor("one", &[1])).weight(ints_tensor("end", &[i64::MAX]));
    let graph = graph.node("Slice", &["y", "one", "end", "zero"], &["z"], &[]);
    let graph = graph.node("Concat", &["x", "z"], &["w"], &[int("axis", 1)]).output("w");
    let symbolized = [("x", "N"), ("y", "M")].map(|(input, size)| Symbolized {
        input: input.to_owned(),
        axis: 0,
        size: size.to_owned(),
    });
    let ranges = [("M".to_owned(), (2, 9))].into();
    let sizes = DeclaredSizes { symbolized: symbolized.to_vec(), ranges, ..DeclaredSizes::new() };
    let module = import_sized(&model(17, graph).0, StrippedWeights::Refuse, sizes);
    let text = ir::text::print(&module.unwrap_or_else(|faults| panic!("{faults:?}")));
    assert!(text.contains("optc.dims = {M = #optc.dims<N + 1>, N = [1, 8]}"), "{text}");
}
