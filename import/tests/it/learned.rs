//! That operators of `ai.onnx.ml` compute what their texts say.

use crate::fixture::faults;
use crate::values::compute_model;
use crate::writer::{
    Graph, Message, float, floats, floats_tensor, int, ints, ints_tensor, raw_tensor, tensor,
};

/// A model with one node of `ai.onnx.ml` of an input `x` and weights.
fn learned(op: &str, shape: &[i64], weights: &[Message], attributes: &[Message]) -> Message {
    let graph =
        weights.iter().fold(Graph::default().input("x", shape), |graph, weight| graph.weight(weight.clone()));
    let names: &[&str] = if weights.is_empty() { &["x"] } else { &["x", "w"] };
    let node = Message::default().strings(1, names).strings(2, &["y"]).bytes(3, "n").bytes(4, op);
    let node = node.bytes(7, "ai.onnx.ml").messages(5, attributes);
    let graph = Graph { nodes: vec![node], ..graph.output("y") };
    let set = Message::default().bytes(1, "ai.onnx.ml").int(2, 5);
    Message::default().int(1, 8).message(8, &set).message(7, &graph.message())
}

/// A model of a graph, and after it one node of `ai.onnx.ml` of an input of that makes `y`.
fn learned_after(graph: Graph, input: &str, op: &str, attributes: &[Message]) -> Message {
    let graph = graph.output("y");
    let node = Message::default().strings(1, &[input]).strings(2, &["y"]).bytes(3, "n").bytes(4, op);
    let node = node.bytes(7, "ai.onnx.ml").messages(5, attributes);
    let graph = Graph { nodes: [&graph.nodes[..], &[node]].concat(), ..graph };
    let sets = [("ai.onnx.ml", 5), ("", 17)].map(|(name, set)| Message::default().bytes(1, name).int(2, set));
    Message::default().int(1, 8).messages(8, &sets).message(7, &graph.message())
}

#[test]
fn features_are_picked_and_thresholds_passed() {
    let picked = learned("ArrayFeatureExtractor", &[2, 3], &[ints_tensor("w", &[2, 0])], &[]);
    assert_eq!(compute_model(&picked), (vec![2, 2], vec![3.0, 1.0, 6.0, 4.0]));
    let row = learned("ArrayFeatureExtractor", &[3], &[ints_tensor("w", &[1])], &[]);
    assert_eq!(compute_model(&row), (vec![1, 1], vec![2.0]));
    let binary = learned("Binarizer", &[3], &[], &[float("threshold", 2.0)]);
    assert_eq!(compute_model(&binary), (vec![3], vec![0.0, 0.0, 1.0]));
}

#[test]
fn labels_stand_beside_their_keys() {
    let labels = |keys: &[f32], values: &[f32], default: &[Message]| {
        let attributes = [&[floats("keys_floats", keys), floats("values_floats", values)], default].concat();
        learned("LabelEncoder", &[2, 2], &[], &attributes)
    };
    let found = compute_model(&labels(&[3.0, 1.0], &[30.0, 10.0], &[float("default_float", -5.0)]));
    assert_eq!(found, (vec![2, 2], vec![10.0, -5.0, 30.0, -5.0]));
    assert_eq!(compute_model(&labels(&[4.0], &[0.5], &[])).1, [0.0, 0.0, 0.0, 0.5]);
    let refuses = |model: Message, expected: &str| {
        let said = faults(&model).join("\n");
        assert!(said.contains(expected), "no `{expected}` in: {said}");
    };
    refuses(labels(&[1.0, 1.0], &[1.0, 2.0], &[]), "a key that is there twice");
    refuses(labels(&[f32::NAN], &[1.0], &[]), "a key that is NaN");
    refuses(labels(&[1.0, 2.0], &[1.0], &[]), "2 keys of 1 values");
    let whole = [ints("keys_int64s", &[1]), ints("values_int64s", &[1])];
    refuses(learned("LabelEncoder", &[2], &[], &whole), "keys of another type than the input");
    // Keys of 8 bytes each: that all differ is not seen in their bytes one by one.
    let numbers = |keys: &[i64]| {
        let cast = Graph::default().input("x", &[3]).node("Cast", &["x"], &["k"], &[int("to", 7)]);
        let attributes = [ints("keys_int64s", keys), floats("values_floats", &vec![0.5; keys.len()])];
        learned_after(cast, "k", "LabelEncoder", &[&attributes[..], &[float("default_float", 9.0)]].concat())
    };
    assert_eq!(compute_model(&numbers(&[3, 1, 1 << 32])).1, [0.5, 9.0, 0.5]);
    refuses(numbers(&[3, 1 << 40, 3]), "a key that is there twice");
}

/// A tree of two conditions: the first at the root, the second where that holds.
fn trees(modes: [u8; 2], more: &[Message]) -> Message {
    learned("TreeEnsemble", &[3, 2], &[], &two_conditions(modes, more))
}

fn two_conditions(modes: [u8; 2], more: &[Message]) -> Vec<Message> {
    let attributes = [
        int("n_targets", 2),
        ints("tree_roots", &[0]),
        ints("nodes_featureids", &[0, 1]),
        tensor("nodes_modes", &raw_tensor("", 2, &[2], &modes)),
        tensor("nodes_splits", &floats_tensor("", &[2], &[3.0, 2.0])),
        ints("nodes_truenodeids", &[1, 0]),
        ints("nodes_trueleafs", &[0, 1]),
        ints("nodes_falsenodeids", &[2, 1]),
        ints("nodes_falseleafs", &[1, 1]),
        ints("leaf_targetids", &[0, 1, 1]),
        tensor("leaf_weights", &floats_tensor("", &[3], &[10.0, 20.0, 30.0])),
    ];
    [&attributes[..], more].concat()
}

#[test]
fn trees_are_walked_for_each_row() {
    // Rows are (1, 2), (3, 4), (5, 6): below or at 3, then below or at 2.
    let found = compute_model(&trees([0, 0], &[]));
    assert_eq!(found, (vec![3, 2], vec![10.0, 0.0, 0.0, 20.0, 0.0, 30.0]));
    let strict = compute_model(&trees([1, 4], &[])).1;
    assert_eq!(strict, [10.0, 0.0, 0.0, 30.0, 0.0, 30.0]);
    let member = [tensor("membership_values", &floats_tensor("", &[3], &[4.0, 2.0, f32::NAN]))];
    assert_eq!(compute_model(&trees([0, 6], &member)).1, [10.0, 0.0, 10.0, 0.0, 0.0, 30.0]);
    let mean = compute_model(&trees([0, 0], &[int("aggregate_function", 0)])).1;
    assert_eq!(mean, found.1);
}

#[test]
fn a_missing_value_goes_where_its_condition_says() {
    let found = |tracks: &[Message]| {
        let graph = Graph::default().input("x", &[1, 2]).node("Sub", &["x", "x"], &["zero"], &[]);
        let graph = graph.node("Div", &["zero", "zero"], &["missing"], &[]);
        compute_model(&learned_after(graph, "missing", "TreeEnsemble", &two_conditions([0, 0], tracks))).1
    };
    let tracks = |tracks: &[i64]| found(&[ints("nodes_missing_value_tracks_true", tracks)]);
    assert_eq!(found(&[]), [0.0, 30.0]);
    assert_eq!(tracks(&[0, 0]), [0.0, 30.0]);
    assert_eq!(tracks(&[1, 0]), [0.0, 20.0]);
    assert_eq!(tracks(&[1, 1]), [10.0, 0.0]);
}

#[test]
fn trees_without_end_are_refused() {
    let refuses = |attributes: &[Message], expected: &str| {
        let said = faults(&trees([0, 0], attributes)).join("\n");
        assert!(said.contains(expected), "no `{expected}` in: {said}");
    };
    refuses(&[int("post_transform", 1)], "`post_transform`, expected 0");
    refuses(&[int("aggregate_function", 2)], "`aggregate_function` 2 of 2 targets");
    refuses(&[tensor("membership_values", &floats_tensor("", &[5000], &[0.0; 5000]))], "more than 4096");
    let circle = [
        ints("tree_roots", &[0]),
        ints("nodes_featureids", &[0]),
        tensor("nodes_modes", &raw_tensor("", 2, &[1], &[0])),
        tensor("nodes_splits", &floats_tensor("", &[1], &[3.0])),
        ints("nodes_truenodeids", &[0]),
        ints("nodes_trueleafs", &[0]),
        ints("nodes_falsenodeids", &[0]),
        ints("nodes_falseleafs", &[0]),
        ints("leaf_targetids", &[0]),
        tensor("leaf_weights", &floats_tensor("", &[1], &[10.0])),
    ];
    let said = faults(&learned("TreeEnsemble", &[3, 2], &[], &circle)).join("\n");
    assert!(said.contains("trees that are more than 64 deep"), "{said}");
}
