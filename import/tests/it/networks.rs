//! That recurrent nets, attention, moved filters, images that are sampled, trees, strings and random numbers
//! hold at their edges, by default, and where they are refused.
//!
//! The oracle is the operator's text at onnx.ai/onnx/operators; inputs count 1, 2, 3, ...

use crate::fixture::{refuses, refuses_model};
use crate::values::{check, close, compute, compute_model, one_node};
use crate::writer::{
    Graph, Message, float, floats, floats_tensor, int, ints, ints_tensor, raw_tensor, string, tensor,
};

/// An attribute of kind STRINGS.
fn texts(name: &str, texts: &[&str]) -> Message {
    Message::default().bytes(1, name).strings(9, texts).int(20, 8)
}

/// A tensor of strings.
fn words(name: &str, dims: &[i64], words: &[&str]) -> Message {
    Message::default().packed(1, dims).int(2, 8).strings(6, words).bytes(8, name)
}

/// A recurrent node whose operands after the input are named; one that is left out is not among the weights.
fn recurrent(op: &str, steps: i64, weights: &[Message], names: [&str; 7], more: &[Message]) -> Graph {
    let operands = [&["x"], &names[..]].concat();
    let used = operands.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
    let graph = Graph::default().input("x", &[steps, 1, 1]);
    let graph = weights.iter().cloned().fold(graph, Graph::weight);
    let attributes = [&[int("hidden_size", 1)], more].concat();
    graph.node(op, &operands[..used], &["y", "h", "c"][..if op == "LSTM" { 3 } else { 2 }], &attributes)
}

fn column(name: &str, numbers: &[f32]) -> Message {
    floats_tensor(name, &[1, numbers.len() as i64, 1], numbers)
}

fn row(name: &str, numbers: &[f32]) -> Message {
    floats_tensor(name, &[1, numbers.len() as i64], numbers)
}

#[test]
fn a_reset_gate_acts_before_the_product_unless_it_is_linear() {
    let weights = [
        column("w", &[0.5, 2.0, 3.0]),
        column("r", &[0.0, 0.0, 1.0]),
        row("b", &[0.0, 0.0, 0.0, 0.0, 0.0, 4.0]),
        column("h0", &[5.0]),
    ];
    let names = ["w", "r", "b", "", "h0", "", ""];
    let state = |linear: i64| {
        let more = [texts("activations", &["Affine", "Affine"]), int("linear_before_reset", linear)];
        recurrent("GRU", 1, &weights, names, &more).output("y")
    };
    // Update 0.5, reset 2: the new state is 3 + 2 * 5 + 4, or 3 + 2 * (5 + 4).
    check(14, state(0), &[1, 1, 1, 1], &[11.0]);
    check(14, state(1), &[1, 1, 1, 1], &[13.0]);
    let few = recurrent("GRU", 1, &weights, names, &[texts("activations", &["Affine"])]);
    refuses(14, few.output("y"), "1 activations, expected 2");
    let unknown = [texts("activations", &["Affine", "Cosine"])];
    refuses(14, recurrent("GRU", 1, &weights, names, &unknown).output("y"), "the activation \"cosine\"");
}

#[test]
fn recurrent_weights_have_rows_for_all_gates() {
    for (op, rows) in [("RNN", 2), ("GRU", 2), ("LSTM", 3)] {
        let gates = if op == "RNN" { 1 } else { rows + 1 };
        let weights = [column("w", &vec![1.0; gates]), column("r", &vec![1.0; rows])];
        let graph = recurrent(op, 1, &weights, ["w", "r", "", "", "", "", ""], &[]).output("y");
        refuses(14, graph, &format!("recurrent weights [1, {rows}, 1] for 1 directions"));
    }
}

#[test]
fn gates_of_an_lstm_are_coupled_see_the_cell_and_end_with_the_sequence() {
    let lstm = |steps: i64, operands: [&str; 7], more: &[Message], result: &str| {
        let weights = [
            column("w", &[0.5, 2.0, 0.25, 3.0]),
            column("r", &[0.0; 4]),
            raw_tensor("length", 6, &[1], &1i32.to_le_bytes()),
            column("c0", &[4.0]),
            row("p", &[0.25, 0.5, 0.125]),
        ];
        let more = [&[texts("activations", &["Affine"; 3])], more].concat();
        compute(14, recurrent("LSTM", steps, &weights, operands, &more).output(result)).1
    };
    let cell = ["w", "r", "", "", "", "c0", ""];
    let seen = ["w", "r", "", "", "", "c0", "p"];
    let coupled = [int("input_forget", 1)];
    assert_eq!([lstm(1, cell, &[], "y"), lstm(1, cell, &[], "c")], [[5.0], [2.5]]);
    assert_eq!([lstm(1, cell, &coupled, "y"), lstm(1, cell, &coupled, "c")], [[7.0], [3.5]]);
    assert_eq!([lstm(1, seen, &[], "y"), lstm(1, seen, &[], "c")], [[43.125], [7.5]]);
    assert_eq!([lstm(1, seen, &coupled, "y"), lstm(1, seen, &coupled, "c")], [[8.125], [2.5]]);
    let short = ["w", "r", "", "length", "", "", ""];
    for more in [vec![], vec![string("direction", "reverse")]] {
        assert_eq!(lstm(2, short, &more, "y"), [3.0, 0.0]);
        assert_eq!([lstm(2, short, &more, "h"), lstm(2, short, &more, "c")], [[3.0], [1.5]]);
    }
}

fn running_sums(numbers: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut sum = 0.0;
    let added = numbers.map(|number| {
        sum += number;
        sum
    });
    added.collect()
}

#[test]
fn a_recurrent_net_is_the_same_in_a_row_and_as_a_loop() {
    let weights = [column("w", &[1.0]), column("r", &[1.0]), ints_tensor("length", &[60])];
    let sums = |steps: i64, direction: &str, length: &str, result: &str| {
        let more = [texts("activations", &["Affine"]), string("direction", direction)];
        let graph = recurrent("RNN", steps, &weights, ["w", "r", "", length, "", "", ""], &more);
        let graph = graph.node("Cast", &["length"], &["short"], &[int("to", 6)]);
        compute(14, graph.output(result)).1
    };
    for steps in [63, 64, 65] {
        let numbers: Vec<f32> = (1..=steps).map(|x| x as f32).collect();
        let ahead = running_sums(numbers.iter().copied());
        let mut back = running_sums(numbers.iter().rev().copied());
        back.reverse();
        assert_eq!(sums(steps, "forward", "", "y"), ahead);
        assert_eq!(sums(steps, "reverse", "", "y"), back);
        assert_eq!(sums(steps, "forward", "short", "y")[59..62], [1830.0, 0.0, 0.0]);
        assert_eq!(sums(steps, "reverse", "short", "y")[58..61], [119.0, 60.0, 0.0]);
        assert_eq!(sums(steps, "forward", "short", "h"), [1830.0]);
        assert_eq!(sums(steps, "reverse", "short", "h"), [1830.0]);
    }
}

#[test]
fn sums_of_gates_are_cut_and_bent_before_they_are_shown() {
    let shown = |weight: f32, steps: i64, activation: &str, more: &[Message]| {
        let weights = [column("w", &[weight]), column("r", &[0.0])];
        let more = [&[texts("activations", &[activation])], more].concat();
        recurrent("RNN", steps, &weights, ["w", "r", "", "", "", "", ""], &more).output("y")
    };
    let cut = [float("clip", 2.5)];
    check(14, shown(1.0, 3, "Affine", &cut), &[3, 1, 1, 1], &[1.0, 2.0, 2.5]);
    check(14, shown(-1.0, 3, "affine", &cut), &[3, 1, 1, 1], &[-1.0, -2.0, -2.5]);
    check(14, shown(-1.0, 1, "Relu", &[]), &[1, 1, 1, 1], &[0.0]);
    check(14, shown(-1.0, 1, "Softsign", &[]), &[1, 1, 1, 1], &[-0.5]);
    let numbers = |alpha: f32, beta: f32| {
        [("activation_alpha", alpha), ("activation_beta", beta)].map(|(name, number)| floats(name, &[number]))
    };
    close(compute(14, shown(1.0, 1, "ScaledTanh", &numbers(2.0, 0.5))), &[2.0 * 0.5f32.tanh()]);
    close(compute(14, shown(1.0, 1, "HardSigmoid", &numbers(0.25, 0.5))), &[0.75]);
    close(compute(14, shown(1.0, 1, "Tanh", &[])), &[1f32.tanh()]);
    refuses(14, shown(1.0, 1, "Tanh", &[string("direction", "both")]), "`direction` \"both\"");
    refuses(14, shown(1.0, 0, "Tanh", &[]), "a sequence of a number of steps that is 0");
    let two = shown(1.0, 1, "Tanh", &[string("direction", "bidirectional")]);
    refuses(14, two, "recurrent weights [1, 1, 1] for 2 directions");
}

/// Attention of queries to three keys that are all alike, with values 2, 4 and 9.
fn of_three_keys(queries: i64, more: &[(&str, Message)], attributes: &[Message]) -> Graph {
    let named = |name: &&str| more.iter().any(|(other, _)| other == name);
    let last = ["mask", "", "", "length"];
    let used = last.iter().rposition(named).map_or(0, |at| at + 1);
    let further: Vec<&str> = last[..used].iter().map(|name| if named(name) { *name } else { "" }).collect();
    let graph = Graph::default().input("x", &[1, 1, queries, 1]);
    let graph = graph.weight(floats_tensor("k", &[1, 1, 3, 1], &[0.0; 3]));
    let graph = graph.weight(floats_tensor("v", &[1, 1, 3, 1], &[2.0, 4.0, 9.0]));
    let graph = more.iter().fold(graph, |graph, (_, weight)| graph.weight(weight.clone()));
    graph.node("Attention", &[&["x", "k", "v"], &further[..]].concat(), &["y"], attributes).output("y")
}

#[test]
fn queries_see_the_keys_that_a_window_a_mask_and_a_length_leave() {
    let seen = |queries: i64, more: &[(&str, Message)], attributes: &[Message]| {
        compute(28, of_three_keys(queries, more, attributes))
    };
    let left = "left_window_size";
    let right = "right_window_size";
    close(seen(2, &[], &[]), &[5.0, 5.0]);
    close(seen(3, &[], &[int("is_causal", 1)]), &[2.0, 3.0, 5.0]);
    close(seen(3, &[], &[int(left, 1)]), &[5.0, 5.0, 6.5]);
    close(seen(3, &[], &[int(left, -1), int(right, -1)]), &[5.0; 3]);
    close(seen(3, &[], &[int(right, 0)]), &[2.0, 3.0, 5.0]);
    close(seen(3, &[], &[int(right, 1)]), &[3.0, 5.0, 5.0]);
    close(seen(3, &[], &[int(left, 0), int(right, 0)]), &[2.0, 4.0, 9.0]);
    let mask = |dims: &[i64]| ("mask", floats_tensor("mask", dims, &[0.0, 0.0]));
    close(seen(1, &[mask(&[1, 2])], &[]), &[3.0]);
    let length = |count: i64| ("length", ints_tensor("length", &[count]));
    close(seen(1, &[length(2)], &[]), &[3.0]);
    close(seen(1, &[length(1)], &[]), &[2.0]);
}

#[test]
fn attention_is_scaled_by_the_root_of_a_heads_size_and_refuses_heads_that_do_not_fit() {
    let attention = |shape: &[i64], attributes: &[Message]| {
        let graph = Graph::default().input("x", shape);
        let results = ["y", "k", "v", "scores"];
        graph.node("Attention", &["x", "x", "x"], &results, attributes).output("scores")
    };
    // 1, 4, 9 and 16 over the root of 4.
    check(24, attention(&[1, 1, 1, 4], &[]), &[1, 1, 1, 1], &[15.0]);
    check(24, attention(&[1, 1, 1, 4], &[float("scale", 0.1)]), &[1, 1, 1, 1], &[3.0]);
    let mode = |mode: i64| int("qk_matmul_output_mode", mode);
    check(24, attention(&[1, 1, 1, 4], &[mode(3)]), &[1, 1, 1, 1], &[1.0]);
    refuses(24, attention(&[1, 1, 1, 4], &[mode(4)]), "`qk_matmul_output_mode` 4, expected 0 to 3");
    let heads = |queries: i64, keys: i64| [int("q_num_heads", queries), int("kv_num_heads", keys)];
    refuses(24, attention(&[1, 1, 6], &heads(3, 2)), "`3` heads of queries that share `2` heads of keys");
    refuses(24, attention(&[1, 1, 5], &heads(2, 1)), "numbers for 2 heads");
    refuses(24, attention(&[1, 1, 4], &heads(2, 1)[..1]), "`kv_num_heads` is left out or no number of heads");
    refuses(24, attention(&[1, 1, 4], &heads(0, 1)), "`q_num_heads` is left out or no number of heads");
    let turned = |angles: i64, part: i64| {
        let graph = one_node(
            "RotaryEmbedding",
            &[1, 1, 1, 4],
            &["x", "cos", "sin"],
            &[int("rotary_embedding_dim", part)],
        );
        let table = |name| floats_tensor(name, &[1, 1, angles], &vec![1.0; angles as usize]);
        graph.weight(table("cos")).weight(table("sin"))
    };
    check(23, turned(2, 4), &[1, 1, 1, 4], &[-2.0, -2.0, 4.0, 6.0]);
    refuses(23, turned(1, 3), "`rotary_embedding_dim` is no even part of a head");
    refuses(23, turned(3, 6), "`rotary_embedding_dim` is no even part of a head");
    refuses(23, turned(1, -2), "a negative `rotary_embedding_dim`");
    refuses(23, turned(2, 2), "caches of another width than half of `rotary_embedding_dim`");
}

#[test]
fn channels_are_convolved_with_what_came_before_and_leave_a_state() {
    let graph = |weights: &[i64], attributes: &[Message], result: &str| {
        let filter = floats_tensor("w", weights, &[1.0, 10.0, 2.0, 100.0]);
        let graph = Graph::default().input("x", &[1, 2, 2]).weight(filter);
        graph.node("CausalConvWithState", &["x", "w"], &["y", "state"], attributes).output(result)
    };
    check(27, graph(&[2, 1, 2], &[], "y"), &[1, 2, 2], &[10.0, 21.0, 300.0, 406.0]);
    check(27, graph(&[2, 1, 2], &[], "state"), &[1, 2, 1], &[2.0, 4.0]);
    refuses(27, graph(&[1, 2, 2], &[], "y"), "weights that are not [channels, 1, length]");
    let said = "`activation` \"relu\", expected";
    refuses(27, graph(&[2, 1, 2], &[string("activation", "relu")], "y"), said);
}

#[test]
fn filters_that_are_not_moved_convolve() {
    let operands = |op: &str, attributes: &[Message]| {
        let filter: Vec<f32> = (0..32).map(|number| (number % 7) as f32).collect();
        let names: &[&str] = if op == "Conv" { &["x", "w"] } else { &["x", "w", "o"] };
        let graph = one_node(op, &[2, 4, 4, 5], names, attributes);
        let graph = graph.weight(floats_tensor("w", &[4, 2, 2, 2], &filter));
        graph.weight(floats_tensor("o", &[2, 16, 2, 4], &[0.0; 256]))
    };
    let window =
        [int("group", 2), ints("strides", &[2, 1]), ints("pads", &[1, 0, 0, 1]), ints("dilations", &[1, 2])];
    let moved = |more: &[Message]| operands("DeformConv", &[&window[..], more].concat());
    let expected = compute(22, operands("Conv", &window));
    assert_eq!(expected.0, [2, 4, 2, 4]);
    assert_eq!(compute(22, moved(&[int("offset_group", 2)])), expected);
    refuses(22, moved(&[]), "channels, groups and offsets that do not agree");
    refuses(22, moved(&[int("offset_group", 0)]), "`offset_group` is no size");
    refuses(22, operands("DeformConv", &[int("group", 0)]), "`group` is no size");
    let other = ints("kernel_shape", &[2, 3]);
    refuses(22, moved(&[other]), "a `kernel_shape` that is not the filter's");
    refuses(22, operands("DeformConv", &[ints("dilations", &[4, 1])]), "a filter larger than the image");
}

#[test]
fn a_line_is_sampled_beyond_its_ends() {
    let sampled = |places: &[f32], attributes: &[Message]| {
        let grid = floats_tensor("g", &[1, places.len() as i64, 1], places);
        compute(20, one_node("GridSample", &[1, 1, 4], &["x", "g"], attributes).weight(grid)).1
    };
    let beyond = |mode: &str| string("padding_mode", mode);
    let corners = int("align_corners", 1);
    assert_eq!(sampled(&[-1.0, 0.0, 1.0], &[]), [0.5, 2.5, 2.0]);
    assert_eq!(sampled(&[-1.0, 2.0], &[beyond("border")]), [1.0, 4.0]);
    assert_eq!(sampled(&[1.5, -1.25], &[beyond("reflection")]), [3.5, 1.0]);
    assert_eq!(sampled(&[0.0, 1.0], std::slice::from_ref(&corners)), [2.5, 4.0]);
    assert_eq!(sampled(&[1.5], &[corners, beyond("reflection")]), [3.25]);
    // Halves are rounded to even numbers.
    assert_eq!(sampled(&[0.0, 0.5], &[string("mode", "nearest")]), [3.0, 3.0]);
    let volume = one_node(
        "GridSample",
        &[1, 1, 2, 2, 2],
        &["x", "g"],
        &[string("mode", "nearest"), int("align_corners", 1)],
    );
    let places = [1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0];
    let volume = volume.weight(floats_tensor("g", &[1, 1, 1, 3, 3], &places));
    check(20, volume, &[1, 1, 1, 1, 3], &[2.0, 3.0, 5.0]);
    let wrong = |dims: &[i64], attributes: &[Message]| {
        let grid = floats_tensor("g", dims, &vec![0.0; dims.iter().product::<i64>() as usize]);
        one_node("GridSample", &[1, 1, 4], &["x", "g"], attributes).weight(grid)
    };
    refuses(20, wrong(&[1, 2, 2], &[]), "an image [1, 1, 4] and a grid [1, 2, 2]");
    refuses(20, wrong(&[1, 2, 1], &[beyond("wrap")]), "`padding_mode` \"wrap\"");
    refuses(20, wrong(&[1, 2, 1], &[string("mode", "area")]), "`mode` \"area\", expected nearest");
    let affine = |sizes: &[i64]| {
        let graph = one_node("AffineGrid", &[1, 2, 3], &["x", "s"], &[]);
        graph.weight(ints_tensor("s", sizes))
    };
    close(compute(20, affine(&[1, 1, 1, 2])), &[2.5, 4.0, 3.5, 8.0]);
    // An axis of one element is in the middle, as in PyTorch.
    let cornered = |sizes: &[i64]| {
        let graph = one_node("AffineGrid", &[1, 2, 3], &["x", "s"], &[int("align_corners", 1)]);
        graph.weight(ints_tensor("s", sizes))
    };
    close(compute(20, cornered(&[1, 1, 1, 2])), &[2.0, 2.0, 4.0, 10.0]);
    close(compute(20, cornered(&[1, 1, 2, 1])), &[1.0, 1.0, 5.0, 11.0]);
    close(compute(20, cornered(&[1, 1, 1, 1])), &[3.0, 6.0]);
    refuses(20, affine(&[1, 1, 2]), "sizes of no image");
    refuses(20, affine(&[1, 1, 0, 2]), "sizes of no image");
    refuses(20, affine(&[2, 1, 2, 2]), "a matrix that is not one for each image");
}

#[test]
fn regions_and_boxes_refuse_other_words_and_sizes() {
    let region = |attributes: &[Message]| {
        let graph = one_node("RoiAlign", &[1, 1, 4, 4], &["x", "b", "i"], attributes);
        graph.weight(floats_tensor("b", &[1, 4], &[0.0; 4])).weight(ints_tensor("i", &[0]))
    };
    refuses(16, region(&[string("mode", "sum")]), "`mode` \"sum\", expected \"avg\" or \"max\"");
    refuses(16, region(&[int("output_height", 0)]), "`output_height` is no size");
    refuses(16, region(&[int("output_width", 1 << 16)]), "`output_width` is no size");
    refuses(16, region(&[int("sampling_ratio", -1)]), "`sampling_ratio` -1, expected 0 to 4096");
    refuses(16, region(&[int("sampling_ratio", 4097)]), "`sampling_ratio` 4097, expected 0 to 4096");
    let other = string("coordinate_transformation_mode", "asymmetric");
    refuses(16, region(&[other]), "`coordinate_transformation_mode` \"asymmetric\"");
    let boxes = one_node("NonMaxSuppression", &[1, 2, 4], &["x", "s"], &[int("center_point_box", 2)]);
    let boxes = boxes.weight(floats_tensor("s", &[1, 1, 2], &[0.0; 2]));
    refuses(11, boxes, "`center_point_box` 2, expected 0 or 1");
    let slices = |width: i64| one_node("Unique", &[2, width], &["x"], &[int("axis", 0)]);
    refuses(11, slices(257), "slices of more than 256 numbers");
    assert_eq!(compute(11, slices(256)).0, [2, 256]);
}

/// A model with one node of `ai.onnx.ml`, of an input `x`.
fn learned(op: &str, shape: &[i64], attributes: &[Message]) -> Message {
    let node = Message::default().strings(1, &["x"]).strings(2, &["y"]).bytes(3, "n").bytes(4, op);
    let node = node.bytes(7, "ai.onnx.ml").messages(5, attributes);
    let graph = Graph { nodes: vec![node], ..Graph::default().input("x", shape).output("y") };
    let set = Message::default().bytes(1, "ai.onnx.ml").int(2, 5);
    Message::default().int(1, 8).message(8, &set).message(7, &graph.message())
}

/// Two trees over rows (1, 2), (3, 4), (5, 6): both conditions from the first on, and the second alone.
fn forest(first_mode: u8, features: &[i64], leaf: i64, more: &[Message]) -> Message {
    let attributes = [
        ints("nodes_featureids", features),
        tensor("nodes_modes", &raw_tensor("", 2, &[2], &[first_mode, 0])),
        tensor("nodes_splits", &floats_tensor("", &[2], &[3.0, 2.0])),
        ints("nodes_truenodeids", &[1, 0]),
        ints("nodes_trueleafs", &[0, 1]),
        ints("nodes_falsenodeids", &[leaf, 1]),
        ints("nodes_falseleafs", &[1, 1]),
        tensor("leaf_weights", &floats_tensor("", &[3], &[10.0, 20.0, 30.0])),
    ];
    learned("TreeEnsemble", &[3, 2], &[&attributes[..], more].concat())
}

#[test]
fn trees_are_joined_and_their_conditions_compare() {
    let joined = |mode: u8, roots: &[i64], aggregate: &[Message]| {
        let more = [ints("tree_roots", roots), ints("leaf_targetids", &[0; 3]), int("n_targets", 1)];
        compute_model(&forest(mode, &[0, 1], 2, &[&more[..], aggregate].concat())).1
    };
    let how = |number: i64| [int("aggregate_function", number)];
    assert_eq!(joined(0, &[0], &[]), [10.0, 20.0, 30.0]);
    assert_eq!(joined(0, &[0, 1], &[]), [20.0, 40.0, 50.0]);
    assert_eq!(joined(0, &[0, 1], &how(1)), [20.0, 40.0, 50.0]);
    assert_eq!(joined(0, &[0, 1], &how(0)), [10.0, 20.0, 25.0]);
    assert_eq!(joined(0, &[0, 1], &how(2)), [10.0, 20.0, 20.0]);
    assert_eq!(joined(0, &[0, 1], &how(3)), [10.0, 20.0, 30.0]);
    let of_modes = [1, 2, 3, 4, 5].map(|mode| joined(mode, &[0], &[]));
    let expected =
        [[10.0, 30.0, 30.0], [30.0, 20.0, 20.0], [30.0, 30.0, 20.0], [30.0, 20.0, 30.0], [10.0, 30.0, 20.0]];
    assert_eq!(of_modes, expected);
    let of_targets = |targets: &[i64], count: i64, more: &[Message]| {
        let own = [ints("tree_roots", &[0]), ints("leaf_targetids", targets), int("n_targets", count)];
        [&own[..], more].concat()
    };
    let right = of_targets(&[0; 3], 1, &[]);
    refuses_model(&forest(7, &[0, 1], 2, &right), "mode 7 of a condition");
    refuses_model(&forest(6, &[0, 1], 2, &right), "fewer sets than conditions of membership");
    refuses_model(&forest(0, &[2, 1], 2, &right), "no feature 2");
    refuses_model(&forest(0, &[-1, 1], 2, &right), "a feature of a negative number");
    refuses_model(&forest(0, &[0, 1], 3, &right), "no leaf 3");
    refuses_model(&forest(0, &[0, 1], -1, &right), "a node of a negative number");
    refuses_model(&forest(0, &[0, 1], 2, &of_targets(&[0, 1, 0], 1, &[])), "a target beyond 1");
    let none = of_targets(&[0; 3], 0, &[]);
    refuses_model(&forest(0, &[0, 1], 2, &none), "`n_targets` is no number of targets");
    refuses_model(&forest(0, &[0, 1], 2, &of_targets(&[0; 2], 1, &[])), "of leaves of different numbers");
    let other = of_targets(&[0; 3], 1, &how(4));
    refuses_model(&forest(0, &[0, 1], 2, &other), "`aggregate_function` 4 of 1 targets");
    refuses_model(&forest(0, &[0, 1, 1], 2, &right), "conditions of different numbers");
    let values = [ints("values_int64s", &[1])];
    refuses_model(&learned("LabelEncoder", &[2], &values), "no attribute says the keys");
}

#[test]
fn sequences_of_numbers_are_counted_in_each_row() {
    let counted = |shape: &[i64], mode: &str, sizes: [i64; 2], places: &[i64]| {
        let attributes = [
            string("mode", mode),
            int("min_gram_length", sizes[0]),
            int("max_gram_length", sizes[1]),
            int("max_skip_count", 0),
            ints("pool_int64s", &[1, 1, 2]),
            ints("ngram_counts", &[0, 1]),
            ints("ngram_indexes", places),
        ];
        let numbers: Vec<u8> = [1i64, 2, 1, 2, 1, 2].iter().flat_map(|number| number.to_le_bytes()).collect();
        let count = shape.iter().product::<i64>() as usize;
        let graph = Graph::default().weight(raw_tensor("w", 7, shape, &numbers[..8 * count]));
        graph.node("TfIdfVectorizer", &["w"], &["y"], &attributes).output("y")
    };
    let both = [1, 2];
    check(9, counted(&[2, 3], "TF", both, &[0, 1]), &[2, 2], &[2.0, 1.0, 1.0, 1.0]);
    check(9, counted(&[2, 3], "TF", [2, 2], &[0, 1]), &[2, 2], &[0.0, 1.0, 0.0, 1.0]);
    check(9, counted(&[2, 3], "TF", [1, 1], &[0, 1]), &[2, 2], &[2.0, 0.0, 1.0, 0.0]);
    check(9, counted(&[2, 3], "IDF", both, &[0, 1]), &[2, 2], &[1.0; 4]);
    check(9, counted(&[1, 1], "TF", both, &[0, 1]), &[1, 2], &[1.0, 0.0]);
    check(9, counted(&[2], "TF", both, &[1, 0]), &[2], &[1.0, 1.0]);
    refuses(9, counted(&[1, 2, 3], "TF", both, &[0, 1]), "an input of other than one or two axes");
    refuses(9, counted(&[2], "IDFTF", both, &[0, 1]), "`mode` \"IDFTF\", expected TF, IDF or TFIDF");
    refuses(9, counted(&[2], "TF", [-1, 2], &[0, 1]), "`min_gram_length` is no size");
    refuses(9, counted(&[2], "TF", [1, 256], &[0, 1]), "`max_gram_length` is no size");
    refuses(9, counted(&[2], "TF", both, &[0]), "`ngram_indexes` is not a place for each sequence");
    refuses(9, counted(&[2], "TF", both, &[0, 1 << 24]), "`ngram_indexes` is not a place for each sequence");
}

/// Whether the strings that a node makes of `w` and `v` are those expected.
fn makes(op: &str, operands: &[Message], attributes: &[Message], expected: &Message) -> Vec<f32> {
    let names = ["w", "v"];
    let graph = operands.iter().cloned().fold(Graph::default(), Graph::weight).weight(expected.clone());
    let graph = graph.node(op, &names[..operands.len()], &["s"], attributes);
    let graph = graph.node("Equal", &["s", "e"], &["equal"], &[]);
    compute(20, graph.node("Cast", &["equal"], &["y"], &[int("to", 1)]).output("y")).1
}

#[test]
fn strings_are_joined_split_and_changed_where_they_stand() {
    let all = |dims: &[i64], strings: &[&str]| words("w", dims, strings);
    let joined = words("e", &[2, 1], &["ac", "bc"]);
    let parts = [all(&[2, 1], &["a", "b"]), words("v", &[], &["c"])];
    assert_eq!(makes("StringConcat", &parts, &[], &joined), [1.0; 2]);
    let dots = [string("delimiter", "."), int("maxsplit", 1)];
    let pieces = words("e", &[2, 2], &["a", "b.c", "d", ""]);
    assert_eq!(makes("StringSplit", &[all(&[2], &["a.b.c", "d"])], &dots, &pieces), [1.0; 4]);
    let every = [string("delimiter", "."), int("maxsplit", -1)];
    let both = words("e", &[1, 2], &["a", "b"]);
    assert_eq!(makes("StringSplit", &[all(&[1], &["a.b"])], &every, &both), [1.0; 2]);
    let lower = [string("case_change_action", "LOWER"), string("locale", "en_US")];
    let changed = words("e", &[1, 2], &["ab", "c"]);
    assert_eq!(makes("StringNormalizer", &[all(&[1, 2], &["AB", "c"])], &lower, &changed), [1.0; 2]);
    let count = Graph::default().weight(all(&[2], &["a b  c", ""]));
    let count = count.node("StringSplit", &["w"], &["s", "n"], &[]);
    check(20, count.node("Cast", &["n"], &["y"], &[int("to", 1)]).output("y"), &[2], &[3.0, 0.0]);
    let wrong = |op: &str, dims: &[i64], attributes: &[Message]| {
        let graph = Graph::default().weight(all(dims, &["a", "b"])).weight(words("v", &[3], &["a"; 3]));
        let operands: &[&str] = if op == "StringConcat" { &["w", "v"] } else { &["w"] };
        graph.node(op, operands, &["y"], attributes).output("y")
    };
    refuses(20, wrong("StringConcat", &[2], &[]), "shapes [2] and [3] do not broadcast");
    refuses(20, wrong("StringNormalizer", &[2, 1], &[]), "strings of shape [2, 1], expected [C] or [1, C]");
    refuses(20, wrong("StringNormalizer", &[2], &[string("locale", "de_DE")]), "`locale` \"de_DE\"");
    let title = [string("case_change_action", "TITLE")];
    refuses(20, wrong("StringNormalizer", &[2], &title), "`case_change_action` \"TITLE\"");
    refuses(20, wrong("RegexFullMatch", &[2], &[]), "`pattern` is left out");
    refuses(20, wrong("RegexFullMatch", &[2], &[string("pattern", "(")]), "`pattern` \"(\": ");
}

#[test]
fn random_numbers_have_a_shape_and_are_floats() {
    let uniform =
        |attributes: &[Message]| Graph::default().node("RandomUniform", &[], &["y"], attributes).output("y");
    refuses(22, uniform(&[]), "`shape` is left out");
    refuses(22, uniform(&[ints("shape", &[2, -1])]), "`shape` has a size below 0");
    refuses(22, uniform(&[ints("shape", &[2]), int("dtype", 6)]), "random numbers that are no floats");
    let drawn = |rows: &[i64], attributes: &[Message]| {
        let count = rows.iter().product::<i64>() as usize;
        let graph = Graph::default().weight(floats_tensor("w", rows, &vec![0.0; count]));
        let graph = graph.node("Multinomial", &["w"], &["c"], attributes);
        graph.node("Cast", &["c"], &["y"], &[int("to", 1)]).output("y")
    };
    check(22, drawn(&[3, 1], &[]), &[3, 1], &[0.0; 3]);
    check(22, drawn(&[2, 1], &[int("sample_size", 2)]), &[2, 2], &[0.0; 4]);
    refuses(22, drawn(&[3], &[]), "an input of other than two axes");
    refuses(22, drawn(&[3, 1], &[int("sample_size", -1)]), "`sample_size` is below 0");
}

#[test]
fn a_query_that_sees_no_key_gives_zeros() {
    let seen = |queries: i64, more: &[(&str, Message)], attributes: &[Message]| {
        compute(28, of_three_keys(queries, more, attributes))
    };
    let sizes = [int("left_window_size", 0), int("right_window_size", 0)];
    close(seen(5, &[], &sizes), &[2.0, 4.0, 9.0, 0.0, 0.0]);
    close(seen(5, &[], &sizes[..1]), &[5.0, 6.5, 9.0, 0.0, 0.0]);
    close(seen(5, &[], &sizes[1..]), &[2.0, 3.0, 5.0, 5.0, 5.0]);
    let length = ("length", ints_tensor("length", &[0]));
    close(seen(2, &[length], &[]), &[0.0, 0.0]);
    let mask = ("mask", raw_tensor("mask", 9, &[2, 3], &[0, 0, 0, 1, 0, 1]));
    close(seen(2, &[mask], &[]), &[0.0, 5.5]);
}

#[test]
fn weights_are_those_of_all_sequences_of_numbers() {
    let graph = |more: &[Message]| {
        let attributes = [
            string("mode", "IDF"),
            int("min_gram_length", 1),
            int("max_gram_length", 2),
            int("max_skip_count", 0),
            ints("ngram_counts", &[0, 1]),
            ints("ngram_indexes", &[0, 1]),
        ];
        let graph = Graph::default().weight(ints_tensor("w", &[1, 2]));
        graph.node("TfIdfVectorizer", &["w"], &["y"], &[&attributes[..], more].concat()).output("y")
    };
    let weighed = |weights: &[f32]| graph(&[ints("pool_int64s", &[1, 1, 2]), floats("weights", weights)]);
    check(9, weighed(&[0.5, 3.0]), &[2], &[0.5, 3.0]);
    check(9, weighed(&[]), &[2], &[1.0, 1.0]);
    let said = "`weights` of sequences whose places are not in their order";
    refuses(9, weighed(&[0.5]), said);
    refuses(9, weighed(&[0.5, 3.0, 4.0]), said);
    refuses(9, graph(&[]), "`pool_int64s` is left out");
    refuses(9, graph(&[texts("pool_strings", &["a"])]), "a pool of strings, expected numbers");
}
