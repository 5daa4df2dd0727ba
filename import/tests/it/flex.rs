//! That FlexAttention puts its graphs between the product, the softmax and the values.

use crate::fixture::faults;
use crate::values::compute_model;
use crate::writer::{FLOAT, Graph, Message, floats_tensor, graph, int, value_info};

/// Two heads of a query, 1 and 2, of one head of two keys with values 1 and 3.
fn flexible(keys: &[f32], attributes: &[Message]) -> Message {
    let graph = Graph::default().input("q", &[1, 2, 1, 1]).weight(floats_tensor("k", &[1, 1, 2, 1], keys));
    let graph = graph.weight(floats_tensor("v", &[1, 1, 2, 1], &[1.0, 3.0])).output("y");
    let node = Message::default().strings(1, &["q", "k", "v"]).strings(2, &["y"]).bytes(3, "n");
    let node = node.bytes(4, "FlexAttention").bytes(7, "ai.onnx.preview").messages(5, attributes);
    let graph = Graph { nodes: vec![node], ..graph };
    let sets = [("", 26), ("ai.onnx.preview", 1)];
    let sets = sets.map(|(domain, version)| Message::default().bytes(1, domain).int(2, version));
    Message::default().int(1, 8).messages(8, &sets).message(7, &graph.message())
}

/// A graph that makes of `x` what an operator makes of it and some numbers.
fn changed(name: &str, op: &str, numbers: &[f32]) -> Message {
    let input = value_info("x", FLOAT, &[1, 2, 1, 2]);
    let whole = Graph { inputs: vec![input], ..Graph::default() };
    let whole = whole.weight(floats_tensor("w", &[numbers.len() as i64], numbers));
    graph(name, whole.node(op, &["x", "w"], &["z"], &[]).output("z"))
}

#[test]
fn scores_and_weights_go_through_graphs() {
    let of = |keys: &[f32], attributes: &[Message]| compute_model(&flexible(keys, attributes));
    assert_eq!(of(&[0.0, 0.0], &[]), (vec![1, 2, 1, 1], vec![2.0, 2.0]));
    let masked = changed("score_mod", "Add", &[0.0, f32::NEG_INFINITY]);
    assert_eq!(of(&[0.0, 0.0], std::slice::from_ref(&masked)).1, [1.0, 1.0]);
    let doubled = changed("prob_mod", "Mul", &[2.0]);
    assert_eq!(of(&[0.0, 0.0], &[masked, doubled]).1, [2.0, 2.0]);
    // Scores of ln 3 and of twice that: weights of 3 and 9 beside 1.
    let flat = of(&[3f32.ln(), 0.0], &[]).1;
    assert!((flat[0] - 1.5).abs() < 1e-6 && (flat[1] - 1.2).abs() < 1e-6, "{flat:?}");
    let scaled = of(&[0.5 * 3f32.ln(), 0.0], &[crate::writer::float("scale", 2.0)]).1;
    assert!((scaled[0] - 1.5).abs() < 1e-6 && (scaled[1] - 1.2).abs() < 1e-6, "{scaled:?}");
}

#[test]
fn a_graph_that_makes_another_type_or_several_results_is_refused() {
    let smaller = graph("score_mod", {
        let input = value_info("x", FLOAT, &[1, 2, 1, 2]);
        let whole = Graph { inputs: vec![input], ..Graph::default() };
        whole.node("Cast", &["x"], &["z"], &[int("to", 11)]).output("z")
    });
    let said = faults(&flexible(&[0.0, 0.0], &[smaller])).join(" ");
    assert!(said.contains("`score_mod` makes `tensor<1x2x1x2xf64>` of `tensor<1x2x1x2xf32>`"), "{said}");
    let two = graph("prob_mod", {
        let input = value_info("x", FLOAT, &[1, 2, 1, 2]);
        Graph { inputs: vec![input], ..Graph::default() }.output("x").output("x")
    });
    let said = faults(&flexible(&[0.0, 0.0], &[two])).join(" ");
    assert!(said.contains("`prob_mod` makes 2 results"), "{said}");
    let other = faults(&flexible(&[0.0, 0.0], &[int("softmax_precision", 7)])).join(" ");
    assert!(other.contains("`softmax_precision` is no type of floats"), "{other}");
}

#[test]
fn scores_are_scaled_by_the_root_of_a_heads_size_unless_said() {
    // The products of 1, 2, 3, 4 with the first key are twice the logarithm of 3, and its half is taken.
    let part = 3f32.ln() / 5.0;
    let keys = [[part; 4], [0.0; 4]].concat();
    let graph = Graph::default().input("q", &[1, 1, 1, 4]).weight(floats_tensor("k", &[1, 1, 2, 4], &keys));
    let graph = graph.weight(floats_tensor("v", &[1, 1, 2, 1], &[1.0, 3.0])).output("y");
    let node = Message::default().strings(1, &["q", "k", "v"]).strings(2, &["y"]).bytes(3, "n");
    let node = node.bytes(4, "FlexAttention").bytes(7, "ai.onnx.preview");
    let graph = Graph { nodes: vec![node], ..graph };
    let sets = [("", 26), ("ai.onnx.preview", 1)];
    let sets = sets.map(|(domain, version)| Message::default().bytes(1, domain).int(2, version));
    let model = Message::default().int(1, 8).messages(8, &sets).message(7, &graph.message());
    let (shape, found) = compute_model(&model);
    assert_eq!(shape, [1, 1, 1, 1]);
    assert!((found[0] - 1.5).abs() < 1e-5, "{found:?}");
}
