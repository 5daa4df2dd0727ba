//! That parts of a model file can be removed, and when what is left is a model.

use import::onnx::edit::{ModelParts, ValueParts};

use crate::writer::{Graph, Message, floats_tensor, graph, model};

/// `a` is a sum of an input, a weight and a sparse one, of which an If with graphs makes the output `y`.
fn parts() -> ModelParts {
    let branch = |op: &str| Graph::default().node(op, &["a"], &["z"], &[]).output("z");
    let branches = [graph("then_branch", branch("Neg")), graph("else_branch", branch("Exp"))];
    let whole = Graph::default().input("x", &[2]).input("c", &[]).weight(floats_tensor("w", &[2], &[0.0; 2]));
    let whole = whole.sparse_weight(floats_tensor("v", &[2], &[0.0; 2]));
    let whole = whole.node("Sum", &["x", "w", "v", ""], &["a"], &[]);
    let whole = whole.node("If", &["c"], &["y"], &branches).output("y");
    ModelParts::read(&model(17, whole).0).expect("the model is read")
}

/// Whether the model is well-formed once it is changed, as it is and written and read again.
fn is_well_formed_once(change: impl Fn(&mut ModelParts)) -> bool {
    let mut parts = parts();
    change(&mut parts);
    let again = ModelParts::read(&parts.to_bytes()).expect("what is written is read");
    assert_eq!(again.is_well_formed(), parts.is_well_formed());
    parts.is_well_formed()
}

fn output(parts: &ModelParts, name: &str) -> ValueParts {
    ValueParts { name: name.to_owned(), ..parts.outputs[0].clone() }
}

#[test]
fn a_model_is_well_formed_if_all_that_is_read_is_defined_once() {
    assert!(is_well_formed_once(|_| {}));
    assert!(!is_well_formed_once(|parts| parts.nodes.reverse()), "read before it is defined");
    assert!(!is_well_formed_once(|parts| drop(parts.nodes.remove(0))), "read in a graph of a node");
    assert!(!is_well_formed_once(|parts| parts.inputs.truncate(1)), "read and no input");
    assert!(!is_well_formed_once(|parts| parts.weights.clear()), "read and no weight");
    assert!(!is_well_formed_once(|parts| parts.nodes[1].outputs.push("a".to_owned())), "defined again");
    assert!(!is_well_formed_once(|parts| parts.nodes[1].outputs.push("v".to_owned())), "a weight already");
}

#[test]
fn outputs_are_some_and_all_of_them_defined() {
    assert!(!is_well_formed_once(|parts| parts.outputs.clear()));
    for name in ["x", "c", "w", "v", "a", "y"] {
        assert!(is_well_formed_once(|parts| parts.outputs[0] = output(parts, name)), "{name}");
        assert!(is_well_formed_once(|parts| parts.outputs.push(output(parts, name))), "{name} too");
    }
    // `z` is defined in a graph of a node only.
    for name in ["", "z", "other"] {
        assert!(!is_well_formed_once(|parts| parts.outputs[0] = output(parts, name)), "{name}");
        assert!(!is_well_formed_once(|parts| parts.outputs.push(output(parts, name))), "{name} too");
        assert!(!is_well_formed_once(|parts| parts.outputs.insert(0, output(parts, name))), "{name} first");
    }
    assert!(!is_well_formed_once(|parts| drop(parts.nodes.pop())), "of a node that is gone");
    assert!(!parts().emptied().is_well_formed());
}

#[test]
fn a_file_without_a_graph_has_no_parts() {
    let version = Message::default().int(1, 8);
    let said = ModelParts::read(&version.0).map(|_| ()).unwrap_err().to_string();
    assert_eq!(said, "byte 0: a model without a graph");
}
