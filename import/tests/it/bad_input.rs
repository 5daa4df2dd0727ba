//! What the importer says of models that are wrong: every fault, where it is, and what was expected.

use import::onnx::StrippedWeights;
use import::onnx::declared::DeclaredSizes;
use import::onnx::rows::coverage;

use crate::fixture::{faults, import_bytes, import_sized, refuses};
use crate::values::compute_model;
use crate::writer::{
    FLOAT, Graph, INT64, Message, float, floats_tensor, graph as subgraph, int, ints, ints_tensor, model,
    property, raw_tensor, string, value_info,
};

fn check(graph: Graph, expected: &[&str]) {
    assert_eq!(faults(&model(17, graph)), expected);
}

/// A graph with an image `x` of shape [1, 3, 8, 8], of which one node makes `y`.
fn one_node(op: &str, inputs: &[&str], attributes: &[Message]) -> Graph {
    let graph = Graph::default().input("x", &[1, 3, 8, 8]).output("y");
    graph.node(op, inputs, &["y"], attributes)
}

#[test]
fn an_empty_a_truncated_and_a_random_file_are_refused_with_a_place() {
    let whole = model(17, one_node("Relu", &["x"], &[])).0;
    let text = |bytes: &[u8]| import_bytes(bytes, StrippedWeights::Refuse, &[]).err().expect("a fault");
    assert_eq!(text(b""), ["`m.onnx`: byte 0: an empty file, expected an ONNX model"]);
    let cut = text(&whole[..whole.len() / 2]);
    assert_eq!(cut, ["`m.onnx`: byte 4: 59 bytes expected, 30 left"]);
    assert_eq!(text(b"not a model"), ["`m.onnx`: byte 0: wire type 6, expected 0, 1, 2 or 5"]);
}

#[test]
fn every_unknown_operator_is_told_once_with_its_nodes() {
    let mut graph = Graph::default().input("x", &[4]).output("a9");
    graph = graph.node("Rellu", &["x"], &["a0"], &[]).node("HardSwish", &["a0"], &["b"], &[]);
    for i in 0..9 {
        graph = graph.node("Foo", &[&format!("a{i}")], &[&format!("a{}", i + 1)], &[]);
    }
    let expected = [
        "`Rellu_a0`: operator `Rellu` is not supported in version 13 of the operator set, in 1 node: `Rellu_a0` (did you mean `Relu`?)",
        "`HardSwish_b`: operator `HardSwish` is not supported in version 13 of the operator set, in 1 node: `HardSwish_b` (it is supported from version 14 to 28)",
        "`Foo_a1`: operator `Foo` is not supported in version 13 of the operator set, in 9 nodes: `Foo_a1`, `Foo_a2`, `Foo_a3`, `Foo_a4`, `Foo_a5`, `Foo_a6`, `Foo_a7`, `Foo_a8` and 1 more",
    ];
    assert_eq!(faults(&model(13, graph)), expected);
}

#[test]
fn an_operator_of_another_domain_names_it() {
    let node =
        Message::default().strings(1, &["x"]).strings(2, &["y"]).bytes(4, "Relu").bytes(7, "com.example");
    let graph = Graph { nodes: vec![node], ..one_node("Relu", &["x"], &[]) };
    check(graph, &["`Relu_0`: operator `Relu` of `com.example` is not supported, in 1 node: `Relu_0`"]);
    let node = Message::default().strings(1, &["x"]).strings(2, &["y"]).bytes(4, "BiasGelu");
    let node = node.bytes(7, "com.microsoft");
    let said = faults(&model(17, Graph { nodes: vec![node], ..one_node("Relu", &["x"], &[]) })).join("\n");
    assert!(said.contains("ONNX's own operators compute the same: `Add`, then `Gelu`"), "{said}");
}

#[test]
fn a_cycle_is_located_at_its_first_node() {
    let graph = Graph::default().input("x", &[4]).output("b");
    let graph = graph.node("Add", &["x", "b"], &["a"], &[]).node("Relu", &["a"], &["b"], &[]);
    check(graph, &["`Add_a`: a cycle: `Add_a` -> `Relu_b` -> `Add_a`"]);
}

#[test]
fn an_undefined_name_is_located_at_its_reader() {
    let graph = one_node("Add", &["x", "xx"], &[]);
    check(graph, &["`Add_y`: input `xx` is not defined (did you mean `x`?)"]);
}

#[test]
fn all_nodes_that_refuse_are_told_except_those_that_follow() {
    let graph = Graph::default().input("x", &[1, 3, 8, 8]).weight(floats_tensor("w", &[5], &[0.0; 5]));
    let graph = graph.node("Add", &["x", "w"], &["a"], &[]).node("Relu", &["a"], &["b"], &[]);
    let graph = graph.node("MaxPool", &["x"], &["c"], &[]).node("Add", &["b", "c"], &["y"], &[]).output("y");
    check(
        graph,
        &["`Add_a`: sizes 8 and 5 of axis 3 do not broadcast", "`MaxPool_c`: `kernel_shape` is left out"],
    );
}

#[test]
fn weights_of_the_wrong_size_are_told_where_they_are_read() {
    let floats = |name, dims: &[i64]| raw_tensor(name, FLOAT, dims, &[0; 12]);
    let graph = one_node("Sum", &["x", "short", "none", "negative", "few"], &[]);
    let graph = graph.weight(floats("short", &[4])).weight(floats("negative", &[-1]));
    let graph = graph.weight(raw_tensor("none", FLOAT, &[2], &[]));
    let graph =
        graph.weight(Message::default().packed(1, &[2]).int(2, 8).bytes(8, "few").bytes(6, "one string"));
    check(
        graph,
        &[
            "`short`: 12 bytes of data, expected 16 by type and shape",
            "`none`: no data, expected 8 bytes by type and shape",
            "`negative`: size -1, expected 0 or more",
            "`few`: 8 bytes of data, expected 16 by type and shape",
        ],
    );
}

#[test]
fn a_sparse_weight_that_is_read_is_refused() {
    let graph = one_node("Add", &["x", "w"], &[]).sparse_weight(floats_tensor("w", &[2], &[1.0, 2.0]));
    check(graph, &["`w`: its data is sparse, expected a dense tensor"]);
}

#[test]
fn a_shape_with_more_elements_than_memory_is_refused() {
    let big = raw_tensor("w", FLOAT, &[1 << 40, 1 << 40], &[]);
    check(
        one_node("Add", &["x", "w"], &[]).weight(big),
        &["`w`: shape [1099511627776, 1099511627776] has more elements than memory holds"],
    );
    let graph =
        Graph::default().input("x", &[1 << 40, 1 << 40]).output("y").node("Relu", &["x"], &["y"], &[]);
    check(graph, &["`x`: shape [1099511627776, 1099511627776] has more elements than memory holds"]);
}

#[test]
fn external_data_outside_the_folder_is_refused() {
    let place = property("location", "../secret");
    let weight = Message::default().packed(1, &[8]).int(2, 1).bytes(8, "w").message(13, &place).int(14, 1);
    check(
        one_node("Add", &["x", "w"], &[]).weight(weight),
        &["`w`: external data `../secret`: expected a relative path without `..`"],
    );
}

#[test]
fn a_value_that_is_not_what_the_file_says_is_refused() {
    let mut graph = one_node("Relu", &["x"], &[]);
    graph.outputs = vec![value_info("y", FLOAT, &[1, -1, 9, 8])];
    check(graph, &["`Relu_y`: `y` is float [1, 3, 8, 8], but the file says float [1, ?, 9, 8]"]);
    let mut graph = one_node("Relu", &["x"], &[]);
    graph.value_infos = vec![value_info("y", 7, &[1, 3, 8, 8])];
    check(graph, &["`Relu_y`: `y` is float [1, 3, 8, 8], but the file says int64 [1, 3, 8, 8]"]);
}

#[test]
fn wrong_attributes_are_told_with_what_was_expected() {
    let pool = |attributes: &[Message]| one_node("MaxPool", &["x"], attributes);
    check(
        pool(&[ints("kernel_shap", &[2, 2])]),
        &["`MaxPool_y`: unknown attribute `kernel_shap` of MaxPool (did you mean `kernel_shape`?)"],
    );
    check(
        pool(&[int("kernel_shape", 2)]),
        &["`MaxPool_y`: attribute `kernel_shape` is an integer, expected integers"],
    );
    check(
        pool(&[ints("kernel_shape", &[2])]),
        &["`MaxPool_y`: `kernel_shape` [2], expected 2 sizes from 0 to 2147483647"],
    );
    check(
        pool(&[ints("kernel_shape", &[2, 2]), ints("strides", &[0, 1])]),
        &["`MaxPool_y`: kernel [2, 2], strides [0, 1], dilations [1, 1], expected 1 or more"],
    );
    check(
        pool(&[ints("kernel_shape", &[2, 2]), string("auto_pad", "SAME")]),
        &["`MaxPool_y`: `auto_pad` \"SAME\", expected NOTSET, VALID, SAME_UPPER or SAME_LOWER"],
    );
    check(
        pool(&[ints("kernel_shape", &[9, 9])]),
        &["`MaxPool_y`: a window of [9, 9] does not fit an image of size 8"],
    );
    for p in [0, -1] {
        let pool = one_node("LpPool", &["x"], &[ints("kernel_shape", &[2, 2]), int("p", p)]);
        check(pool, &[&format!("`LpPool_y`: `p` {p}, expected 1 or more")]);
    }
    check(one_node("Relu", &["x", "x"], &[]), &["`Relu_y`: 2 inputs, expected 1"]);
    check(one_node("Clip", &["x", "x", "x", "x"], &[]), &["`Clip_y`: 4 inputs, expected 1 to 3"]);
    check(one_node("Elu", &[""], &[float("alpha", 1.0)]), &["`Elu_y`: input 0 is left out"]);
}

#[test]
fn operands_that_break_a_law_of_the_ir_are_refused() {
    let graph = Graph { inputs: vec![value_info("x", INT64, &[4])], ..one_node("Sigmoid", &["x"], &[]) };
    check(
        graph,
        &["`Sigmoid_y`: operand 0 (`x`) of `nn.sigmoid` is a tensor of floats, found `tensor<4xi64>`"],
    );
    let norm = one_node("BatchNormalization", &["x", "w", "w", "w", "w"], &[]);
    check(
        norm.weight(floats_tensor("w", &[4], &[1.0; 4])),
        &[
            "`BatchNormalization_y`: `nn.batch_norm`: operand 1 is not a tensor of one number for each channel",
        ],
    );
}

#[test]
fn a_shape_that_is_computed_is_refused() {
    let graph = Graph::default().input("x", &[4]).output("y");
    let graph = graph.node("Relu", &["x"], &["s"], &[]).node("Reshape", &["x", "s"], &["y"], &[]);
    check(graph, &["`Reshape_y`: input 1 is computed, expected a constant"]);
    let graph = one_node("Reshape", &["x", "s"], &[]).weight(ints_tensor("s", &[5, -1]));
    check(
        graph,
        &["`Reshape_y`: the new shape [5, -1] does not have as many elements as the input's [1, 3, 8, 8]"],
    );
}

#[test]
fn results_beyond_the_supported_ones_are_refused() {
    let graph = Graph::default().input("x", &[1, 3, 8, 8]).output("y").output("i");
    let graph = graph.node("Relu", &["x"], &["y", "i"], &[]);
    check(graph, &["`Relu_y`: result 1, `i`, is not supported"]);
}

#[test]
fn training_is_refused() {
    let graph = one_node("Dropout", &["x", "r", "t"], &[]).weight(floats_tensor("r", &[], &[0.5]));
    let graph = graph.weight(raw_tensor("t", 9, &[], &[1]));
    check(graph, &["`Dropout_y`: training mode, expected inference"]);
}

#[test]
fn a_size_that_the_file_names_or_leaves_open_is_a_symbol_unless_its_value_is_given() {
    let named = Message::default().bytes(2, "past + 1");
    let shape = Message::default().message(1, &named).message(1, &Message::default());
    let tensor = Message::default().int(1, 1).message(2, &shape);
    let input = Message::default().bytes(1, "x").message(2, &Message::default().message(1, &tensor));
    let graph = Graph { inputs: vec![input], ..one_node("Relu", &["x"], &[]) };
    let bytes = model(17, graph).0;
    let import = |sizes: &[(&str, u64)]| {
        let module = import_bytes(&bytes, StrippedWeights::Refuse, sizes)?;
        let body = module.function("main").unwrap();
        let op = body.ops(body.entry(body.root()).unwrap()).next().unwrap();
        Ok::<String, Vec<String>>(ir::text::type_text(&module.ctx, body.ty(body.result(op, 0))))
    };
    assert_eq!(import(&[]).unwrap(), "tensor<?x?xf32, #optc.dims<past + 1, x_1>>");
    assert_eq!(import(&[("past", 2), ("x_1", 5)]).unwrap(), "tensor<3x5xf32>");
    let expected = ": no input has a named size `pst` (did you mean `past`?)";
    assert_eq!(import(&[("pst", 2)]).unwrap_err(), [expected]);
}

#[test]
fn an_operator_set_that_nobody_knows_is_refused() {
    let graph = one_node("Relu", &["x"], &[]);
    let expected = "`m.onnx`: version 1000 of the operator set, expected 1 to 28";
    assert_eq!(faults(&model(1000, graph)), [expected]);
    let silent = Message::default().int(1, 8).message(7, &one_node("Relu", &["x"], &[]).message());
    let expected = "`m.onnx`: the model does not say which version of the operator set it uses";
    assert_eq!(faults(&silent), [expected]);
}

#[test]
fn a_model_of_other_operators_alone_need_not_say_which_version_of_these_it_uses() {
    let of = |graph: Graph| Message::default().int(1, 8).message(7, &graph.message());
    let silent = || Graph::default().input("x", &[2]).output("x");
    assert_eq!(compute_model(&of(silent())), (vec![2], vec![1.0, 2.0]));
    let other =
        || Graph::default().node("Binarizer", &["x"], &["z"], &[]).nodes.remove(0).bytes(7, "ai.onnx.ml");
    let relu = Graph::default().node("Relu", &["x"], &["y"], &[]).nodes.remove(0);
    let expected = "`m.onnx`: the model does not say which version of the operator set it uses";
    for nodes in [vec![other(), relu.clone()], vec![relu.clone(), other()], vec![relu.clone()]] {
        assert_eq!(faults(&of(Graph { nodes, ..silent() })), [expected]);
    }
    let versioned = of(Graph { nodes: vec![other()], ..silent() });
    let set = Message::default().bytes(1, "ai.onnx.ml").int(2, 3);
    assert_eq!(compute_model(&versioned.message(8, &set)), (vec![2], vec![1.0, 2.0]));
}

#[test]
fn malformed_rules_are_told() {
    let stripped =
        |json| model(17, one_node("Relu", &["x"], &[])).message(14, &property("stripped_weights", json));
    let expected = "`m.onnx`: stripped_weights: expected value at line 1 column 1";
    assert_eq!(faults(&stripped("x")), [expected]);
}

#[test]
fn a_range_of_more_elements_than_are_written_down_is_refused() {
    let number = |name: &str, number: i64| raw_tensor(name, INT64, &[], &number.to_le_bytes());
    let range = |start: i64, limit: i64, step: i64| {
        let graph = Graph::default().weight(number("a", start)).weight(number("b", limit));
        let graph = graph.weight(number("c", step)).node("Range", &["a", "b", "c"], &["y"], &[]);
        import_bytes(&model(17, graph.output("y")).0, StrippedWeights::Refuse, &[])
    };
    let refused = |start: i64, limit: i64, step: i64| {
        let said = range(start, limit, step).err().expect("it is refused").join("\n");
        assert!(said.contains("a range of more than 16777216 elements"), "{said}");
    };
    refused(-9_079_256_848_778_919_936, 4, 1);
    refused(i64::MIN, i64::MAX, 1);
    refused(i64::MAX, i64::MIN, -1);
    assert!(range(i64::MIN, i64::MAX, i64::MAX).is_ok() && range(3, 3, -1).is_ok());
    for limit in [3, 4] {
        let said = range(3, limit, 0).err().expect("it is refused").join("\n");
        assert!(said.contains("a range in steps of 0"), "{said}");
        let float = |name, number: i64| floats_tensor(name, &[], &[number as f32]);
        let graph = Graph::default().weight(float("a", 4)).weight(float("b", limit)).weight(float("c", 0));
        let said = faults(&model(17, graph.node("Range", &["a", "b", "c"], &["y"], &[]).output("y")));
        assert!(said.join("\n").contains("a range in steps of 0"), "{said:?}");
    }
}

#[test]
fn a_node_without_results_is_refused_of_each_operator() {
    let number = |name: &str| raw_tensor(name, INT64, &[], &1i64.to_le_bytes());
    let mut seen = 0;
    for operator in coverage() {
        for names in [["x"; 6], ["n"; 6], ["v"; 6], ["f"; 6]] {
            for (count, results) in (0..=names.len()).flat_map(|count| [(count, &[][..]), (count, &[""][..])])
            {
                let graph = Graph::default().input("x", &[1, 3, 8, 8]).output("x").weight(number("n"));
                let graph = graph.weight(ints_tensor("v", &[1])).weight(floats_tensor("f", &[], &[2.0]));
                let graph = graph.node(operator.op, &names[..count], results, &[]);
                let model = model(*operator.versions.end(), graph);
                let said = import_bytes(&model.0, StrippedWeights::Refuse, &[]).err().unwrap_or_default();
                seen += usize::from(said.join("\n").contains("no results, expected at least one"));
            }
        }
    }
    assert!(seen > 500, "{seen} refused");
}

#[test]
fn eight_nodes_of_an_unknown_operator_are_all_of_those_that_are_named() {
    let node = |graph: Graph, index: usize| graph.node("Foo", &["x"], &[&format!("a{index}")], &[]);
    let graph = (0..8).fold(Graph::default().input("x", &[4]), node).output("a7");
    let names = (0..8).map(|index| format!("`Foo_a{index}`")).collect::<Vec<_>>().join(", ");
    let expected = "operator `Foo` is not supported in version 17 of the operator set, in 8 nodes";
    check(graph, &[&format!("`Foo_a0`: {expected}: {names}")]);
}

#[test]
fn versions_of_the_operator_set_are_1_to_28_and_the_first_formats_do_not_say_theirs() {
    let of_version = |version: i64| model(version, one_node("Relu", &["x"], &[]));
    for version in [1, 28] {
        assert!(import_bytes(&of_version(version).0, StrippedWeights::Refuse, &[]).is_ok(), "{version}");
    }
    for version in [-1, 0, 29] {
        let expected = format!("`m.onnx`: version {version} of the operator set, expected 1 to 28");
        assert_eq!(faults(&of_version(version)), [expected]);
    }
    // A concatenation without an axis is one along the second, in the first version alone.
    let silent = |format: i64| {
        let graph = Graph::default().input("x", &[1, 2]).node("Concat", &["x", "x"], &["y"], &[]);
        Message::default().int(1, format).message(7, &graph.output("y").message())
    };
    for format in [1, 2] {
        assert_eq!(compute_model(&silent(format)), (vec![1, 4], vec![1.0, 2.0, 1.0, 2.0]));
    }
    let expected = "`m.onnx`: the model does not say which version of the operator set it uses";
    assert_eq!(faults(&silent(3)), [expected]);
}

#[test]
fn a_named_size_of_a_result_is_the_number_that_is_given_for_it() {
    let named = |name: &str, size: &str| {
        let shape = Message::default().message(1, &Message::default().bytes(2, size));
        let tensor = Message::default().int(1, 1).message(2, &shape);
        Message::default().bytes(1, name).message(2, &Message::default().message(1, &tensor))
    };
    let mut graph = Graph::default().input("x", &[2]).node("Relu", &["x"], &["y"], &[]);
    graph.inputs.push(named("z", "N"));
    graph.outputs.push(named("y", "N"));
    let bytes = model(17, graph).0;
    let import = |sizes: &[(&str, u64)]| import_bytes(&bytes, StrippedWeights::Refuse, sizes);
    assert!(import(&[]).is_ok() && import(&[("N", 2)]).is_ok());
    let said = import(&[("N", 3)]).err().expect("it is refused");
    assert_eq!(said, ["`Relu_y`: `y` is float [2], but the file says float [N]"]);
    let ranges = [("M".to_owned(), (1, 2))].into();
    let sizes = DeclaredSizes { ranges, ..DeclaredSizes::new() };
    let said = import_sized(&bytes, StrippedWeights::Refuse, sizes).err().expect("it is refused");
    assert!(said[0].contains("no input has a named size `M`"), "{said:?}");
}

#[test]
fn a_graph_of_a_node_that_defines_a_name_twice_is_refused() {
    let then = Graph::default().node("Relu", &["x"], &["t"], &[]);
    let otherwise = Graph::default().node("Neg", &["x"], &["e"], &[]).output("e");
    let whole = |then: Graph| {
        let branches =
            [subgraph("then_branch", then.output("t")), subgraph("else_branch", otherwise.clone())];
        let graph = Graph::default().input("x", &[2]).weight(raw_tensor("c", 9, &[], &[1]));
        graph.node("If", &["c"], &["y"], &branches).output("y")
    };
    assert_eq!(compute_model(&model(17, whole(then.clone()))).0, [2]);
    let twice = then.node("Neg", &["x"], &["t"], &[]);
    refuses(17, whole(twice), "`t` is defined twice");
}

#[test]
fn an_input_of_a_loop_with_a_weight_of_its_name_hides_the_outer_value_within_only() {
    // The body's state `x` is an input with a default, and `x` is the model's input around it.
    let inputs = [value_info("i", INT64, &[]), value_info("p", 9, &[]), value_info("x", FLOAT, &[2])];
    let inner = Graph { inputs: inputs.to_vec(), ..Graph::default() };
    let inner = inner.weight(floats_tensor("x", &[2], &[5.0, 5.0]));
    let inner = inner.node("Add", &["x", "x"], &["twice"], &[]).node("Identity", &["p"], &["o"], &[]);
    let body = subgraph("body", inner.output("o").output("twice"));
    let graph = Graph::default().input("x", &[2]).weight(raw_tensor("n", INT64, &[], &1i64.to_le_bytes()));
    let graph = graph.node("Loop", &["n", "", "x"], &["l"], &[body]).node("Sub", &["l", "x"], &["y"], &[]);
    let found = compute_model(&model(17, graph.output("y")));
    // Twice the input, less the input: the input, which the other tests have as 1, 2, ...
    assert_eq!(found, (vec![2], vec![1.0, 2.0]));
}
