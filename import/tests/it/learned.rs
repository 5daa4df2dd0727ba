//! That operators of `ai.onnx.ml` compute what their texts say.

use import::onnx::StrippedWeights;

use crate::fixture::{faults, import_bytes, refuses_model};
use crate::values::compute_model;
use crate::writer::{
    Graph, Message, float, floats, floats_tensor, int, ints, ints_tensor, raw_tensor, string, tensor,
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

/// A model of one node of `ai.onnx.ml` of the input `x` that makes `l`, and of the nodes of a graph after it.
fn learned_before(op: &str, attributes: &[Message], rest: Graph) -> Message {
    let node = Message::default().strings(1, &["x"]).strings(2, &["l"]).bytes(3, "n").bytes(4, op);
    let node = node.bytes(7, "ai.onnx.ml").messages(5, attributes);
    let graph = Graph { nodes: [&[node][..], &rest.nodes].concat(), ..rest };
    let sets = [("ai.onnx.ml", 5), ("", 20)].map(|(name, set)| Message::default().bytes(1, name).int(2, set));
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
    let refuses = |model: Message, expected: &str| refuses_model(&model, expected);
    // The last of equal keys counts, and zeros of both signs are equal.
    assert_eq!(compute_model(&labels(&[1.0, 3.0, 1.0], &[0.5, 1.5, 2.5], &[])).1, [2.5, 0.0, 1.5, 0.0]);
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
    assert_eq!(compute_model(&numbers(&[3, 1 << 40, 3])).1, [9.0, 9.0, 0.5]);
}

#[test]
fn a_key_that_is_nan_is_equal_to_every_nan() {
    let labels = |keys: &[f32], values: &[f32]| {
        let roots = Graph::default().input("x", &[3]).weight(floats_tensor("two", &[1], &[2.0]));
        let roots = roots.node("Sub", &["x", "two"], &["d"], &[]).node("Sqrt", &["d"], &["k"], &[]);
        let attributes = [floats("keys_floats", keys), floats("values_floats", values)];
        learned_after(roots, "k", "LabelEncoder", &[&attributes[..], &[float("default_float", 9.0)]].concat())
    };
    for nan in [f32::NAN, -f32::NAN, f32::from_bits(0x7FA0_0001)] {
        assert_eq!(compute_model(&labels(&[nan, -0.0], &[7.0, 8.0])).1, [7.0, 8.0, 9.0]);
        assert_eq!(compute_model(&labels(&[nan, 5.0, -nan], &[7.0, 8.0, 6.0])).1, [6.0, 9.0, 9.0]);
    }
    // Without such a key, NaN is none of them.
    assert_eq!(compute_model(&labels(&[0.0, 1.0], &[7.0, 8.0])).1, [9.0, 7.0, 8.0]);
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
    let refuses =
        |attributes: &[Message], expected: &str| refuses_model(&trees([0, 0], attributes), expected);
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

#[test]
fn trees_have_one_target_unless_they_say_how_many() {
    let attributes = [
        ints("tree_roots", &[0]),
        ints("nodes_featureids", &[0, 1]),
        tensor("nodes_modes", &raw_tensor("", 2, &[2], &[0, 0])),
        tensor("nodes_splits", &floats_tensor("", &[2], &[3.0, 2.0])),
        ints("nodes_truenodeids", &[1, 0]),
        ints("nodes_trueleafs", &[0, 1]),
        ints("nodes_falsenodeids", &[2, 1]),
        ints("nodes_falseleafs", &[1, 1]),
        ints("leaf_targetids", &[0, 0, 0]),
        tensor("leaf_weights", &floats_tensor("", &[3], &[10.0, 20.0, 30.0])),
    ];
    let found = compute_model(&learned("TreeEnsemble", &[3, 2], &[], &attributes));
    assert_eq!(found, (vec![3, 1], vec![10.0, 20.0, 30.0]));
}

/// A tree in which as many conditions follow one another where they do not hold: that the input is at most 0,
/// 1, 2, ...; each leaf has ten times the number of its condition.
fn chain(conditions: i64) -> Message {
    let last = conditions - 1;
    let all: Vec<i64> = (0..conditions).collect();
    let next: Vec<i64> = (1..=conditions).collect();
    let zeros = vec![0; all.len()];
    let is_last: Vec<i64> = all.iter().map(|at| i64::from(*at == last)).collect();
    let splits: Vec<f32> = all.iter().map(|at| *at as f32).collect();
    let weights: Vec<f32> = (0..=conditions).map(|at| 10.0 * at as f32).collect();
    let attributes = [
        ints("tree_roots", &[0]),
        ints("nodes_featureids", &zeros),
        tensor("nodes_modes", &raw_tensor("", 2, &[conditions], &vec![0; all.len()])),
        tensor("nodes_splits", &floats_tensor("", &[conditions], &splits)),
        ints("nodes_truenodeids", &all),
        ints("nodes_trueleafs", &vec![1; all.len()]),
        ints("nodes_falsenodeids", &next),
        ints("nodes_falseleafs", &is_last),
        ints("leaf_targetids", &vec![0; weights.len()]),
        tensor("leaf_weights", &floats_tensor("", &[conditions + 1], &weights)),
    ];
    learned("TreeEnsemble", &[66, 1], &[], &attributes)
}

#[test]
fn a_tree_is_64_conditions_deep_at_most() {
    // Rows are 1, 2, 3, ...: the condition of that number is the first that holds, if there is one.
    let expected: Vec<f32> = (1..=66i64).map(|row| 10.0 * row.min(64) as f32).collect();
    assert_eq!(compute_model(&chain(64)), (vec![66, 1], expected));
    let said = faults(&chain(65)).join("\n");
    assert!(said.contains("trees that are more than 64 deep"), "{said}");
}

#[test]
fn what_is_no_key_has_the_default_of_the_values_type() {
    let keys = floats("keys_floats", &[1.0]);
    let whole = |more: &[Message]| {
        let rest =
            Graph::default().input("x", &[2]).node("Cast", &["l"], &["y"], &[int("to", 1)]).output("y");
        let attributes = [&[keys.clone(), ints("values_int64s", &[7])], more].concat();
        compute_model(&learned_before("LabelEncoder", &attributes, rest)).1
    };
    assert_eq!(whole(&[]), [7.0, -1.0]);
    assert_eq!(whole(&[int("default_int64", 5)]), [7.0, 5.0]);
    let texts = |name: &str, all: &[&str]| Message::default().bytes(1, name).strings(9, all).int(20, 8);
    let words = |expected: &[&str], more: &[Message]| {
        let words = Message::default().packed(1, &[2]).int(2, 8).strings(6, expected).bytes(8, "w");
        let rest = Graph::default().input("x", &[2]).weight(words).node("Equal", &["l", "w"], &["e"], &[]);
        let rest = rest.node("Cast", &["e"], &["y"], &[int("to", 1)]).output("y");
        let attributes = [&[keys.clone(), texts("values_strings", &["one"])], more].concat();
        compute_model(&learned_before("LabelEncoder", &attributes, rest)).1
    };
    assert_eq!(words(&["one", "_Unused"], &[]), [1.0, 1.0]);
    assert_eq!(words(&["one", "none"], &[string("default_string", "none")]), [1.0, 1.0]);
    let parts = [keys.clone(), floats("values_floats", &[0.5])];
    let found = compute_model(&learned("LabelEncoder", &[2], &[], &parts)).1;
    assert_eq!(found, [0.5, 0.0]);
    assert!(found[1].is_sign_negative(), "the default is -0");
}

#[test]
fn a_default_is_one_element_of_the_values_type() {
    let of_tensors = |values: &Message, default: Option<&Message>| {
        let keys = tensor("keys_tensor", &floats_tensor("", &[1], &[1.0]));
        let mut attributes = vec![keys, tensor("values_tensor", values)];
        attributes.extend(default.map(|default| tensor("default_tensor", default)));
        learned("LabelEncoder", &[2], &[], &attributes)
    };
    let [half, eight] = [0.5, 8.0].map(|number| floats_tensor("", &[1], &[number]));
    assert_eq!(compute_model(&of_tensors(&half, Some(&eight))).1, [0.5, 8.0]);
    let number = floats_tensor("", &[], &[8.0]);
    assert_eq!(compute_model(&of_tensors(&half, Some(&number))).1, [0.5, 8.0]);
    let refuses = |model: Message, expected: &str| refuses_model(&model, expected);
    let other = "`default_tensor` is not one element of the values' type";
    refuses(of_tensors(&half, Some(&ints_tensor("", &[8]))), other);
    refuses(of_tensors(&half, Some(&floats_tensor("", &[2], &[8.0, 9.0]))), other);
    refuses(of_tensors(&half, Some(&floats_tensor("", &[0], &[]))), other);
    let double = raw_tensor("", 11, &[1], &0.5f64.to_le_bytes());
    refuses(of_tensors(&double, None), "values of this type need a `default_tensor`");
}

#[test]
fn keys_are_there_and_comparable() {
    let refuses = |attributes: &[Message], expected: &str| {
        refuses_model(&learned("LabelEncoder", &[2], &[], attributes), expected)
    };
    refuses(&[floats("keys_floats", &[]), floats("values_floats", &[])], "0 keys of 0 values");
    refuses(&[floats("keys_floats", &[1.0]), floats("values_floats", &[1.0, 2.0])], "1 keys of 2 values");
    let double = tensor("keys_tensor", &raw_tensor("", 11, &[1], &1f64.to_le_bytes()));
    refuses(&[double, floats("values_floats", &[1.0])], "floats other than f32");
}

#[test]
fn trees_compare_features_with_numbers_of_their_type() {
    let row = learned("TreeEnsemble", &[2], &[], &two_conditions([0, 0], &[]));
    refuses_model(&row, "an input of rank 1, expected rows of features");
    let cube = learned("TreeEnsemble", &[1, 1, 2], &[], &two_conditions([0, 0], &[]));
    refuses_model(&cube, "an input of rank 3, expected rows of features");
    let words = Message::default().packed(1, &[1, 2]).int(2, 8).strings(6, &["a", "b"]).bytes(8, "w");
    let words = Graph::default().weight(words);
    let words = learned_after(words, "w", "TreeEnsemble", &two_conditions([0, 0], &[]));
    refuses_model(&words, "an input of strings, which ai.onnx.ml.TreeEnsemble does not take");
    let with = |index: usize, attribute: Message| {
        let mut attributes = two_conditions([0, 0], &[]);
        attributes[index] = attribute;
        learned("TreeEnsemble", &[3, 2], &[], &attributes)
    };
    let doubles = [3f64, 2.0].map(f64::to_le_bytes).concat();
    let splits = tensor("nodes_splits", &raw_tensor("", 11, &[2], &doubles));
    refuses_model(&with(4, splits), "splits of another type than the input");
    let lengths = "conditions of different numbers";
    for (index, name) in [(5, "true"), (6, "true"), (7, "false"), (8, "false")] {
        let list = if index % 2 == 1 { format!("nodes_{name}nodeids") } else { format!("nodes_{name}leafs") };
        refuses_model(&with(index, ints(&list, &[1])), lengths);
        refuses_model(&with(index, ints(&list, &[1, 1, 1])), lengths);
    }
    refuses_model(&with(3, tensor("nodes_modes", &raw_tensor("", 2, &[3], &[0; 3]))), lengths);
    refuses_model(&with(4, tensor("nodes_splits", &floats_tensor("", &[1], &[3.0]))), lengths);
    let missing = two_conditions([0, 0], &[ints("nodes_missing_value_tracks_true", &[1])]);
    refuses_model(&learned("TreeEnsemble", &[3, 2], &[], &missing), lengths);
    // There are the conditions 0 and 1.
    refuses_model(&with(1, ints("tree_roots", &[2])), "no condition 2");
    refuses_model(&with(5, ints("nodes_truenodeids", &[2, 0])), "no condition 2");
}

#[test]
fn trees_have_4096_conditions_leaves_and_members_at_most() {
    let said = |conditions: i64| faults(&chain(conditions)).join("\n");
    let first = said(4097);
    assert!(first.contains("conditions of different numbers, or more than 4096"), "{first}");
    // A chain has a leaf more than it has conditions.
    let second = said(4096);
    assert!(second.contains("weights and targets of leaves of different numbers, or above 4096"), "{second}");
    let third = said(4095);
    assert!(third.contains("trees that are more than 64 deep"), "{third}");
    let members = [tensor("membership_values", &floats_tensor("", &[4096], &[0.0; 4096]))];
    assert_eq!(compute_model(&trees([0, 0], &members)).1, [10.0, 0.0, 0.0, 20.0, 0.0, 30.0]);
}

#[test]
fn trees_are_written_down_up_to_4096_nodes() {
    // From the first condition on there are 3 nodes, from the second one on 5.
    let forest = |threes: usize, fives: usize| {
        let roots = [vec![0; threes], vec![1; fives]].concat();
        let attributes = [
            ints("tree_roots", &roots),
            ints("nodes_featureids", &[0, 0]),
            tensor("nodes_modes", &raw_tensor("", 2, &[2], &[0, 0])),
            tensor("nodes_splits", &floats_tensor("", &[2], &[3.0, 2.0])),
            ints("nodes_truenodeids", &[0, 0]),
            ints("nodes_trueleafs", &[1, 0]),
            ints("nodes_falsenodeids", &[1, 1]),
            ints("nodes_falseleafs", &[1, 1]),
            ints("leaf_targetids", &[0, 0]),
            tensor("leaf_weights", &floats_tensor("", &[2], &[10.0, 20.0])),
        ];
        learned("TreeEnsemble", &[1, 1], &[], &attributes)
    };
    let most = import_bytes(&forest(1362, 2).0, StrippedWeights::Refuse, &[]);
    assert!(most.is_ok(), "3 * 1362 + 5 * 2 nodes are 4096");
    let said = faults(&forest(1364, 1)).join("\n");
    assert!(said.contains("trees of more than 4096 nodes"), "{said}");
}

#[test]
fn an_integer_is_above_a_threshold_between_integers() {
    let of = |threshold: f32| {
        let mut graph = Graph::default().input("x", &[4]).weight(floats_tensor("two", &[], &[2.0]));
        graph = graph.node("Sub", &["x", "two"], &["t"], &[]);
        graph = graph.node("Cast", &["t"], &["i"], &[int("to", 7)]);
        let node = Message::default().strings(1, &["i"]).strings(2, &["b"]).bytes(3, "n");
        let node = node.bytes(4, "Binarizer").bytes(7, "ai.onnx.ml");
        graph.nodes.push(node.messages(5, &[float("threshold", threshold)]));
        let graph = graph.node("Cast", &["b"], &["y"], &[int("to", 1)]).output("y");
        let sets =
            [("ai.onnx.ml", 1), ("", 17)].map(|(name, set)| Message::default().bytes(1, name).int(2, set));
        compute_model(&Message::default().int(1, 8).messages(8, &sets).message(7, &graph.message())).1
    };
    // Of -1, 0, 1 and 2.
    assert_eq!(of(-0.5), [0.0, 1.0, 1.0, 1.0]);
    assert_eq!(of(0.5), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(of(1.0), [0.0, 0.0, 0.0, 1.0]);
}
