//! That calls of a model's own functions compute what their bodies do.

use crate::fixture::faults;
use crate::values::compute_model;
use crate::writer::{
    Graph, Message, called, float, floats_tensor, function, graph, model, tensor, with_functions,
};

/// An attribute that is one of the call's.
fn reference(name: &str, of: &str) -> Message {
    Message::default().bytes(1, name).bytes(21, of).int(20, 1)
}

fn leaky() -> Message {
    let body = Graph::default().node("LeakyRelu", &["t"], &["y"], &[reference("alpha", "slope")]);
    let two = tensor("value", &floats_tensor("", &[], &[2.0]));
    let first =
        Graph::default().node("Constant", &[], &["two"], &[two]).node("Sub", &["x", "two"], &["t"], &[]);
    let body = Graph { nodes: [first.nodes, body.nodes].concat(), ..Graph::default() };
    function("Leaky", &["x"], &["y"], &["slope"], body)
}

#[test]
fn a_call_has_names_and_attributes_of_its_own() {
    let graph = Graph::default().input("x", &[3]);
    let graph = called(graph, "Leaky", &["x"], &["t"], &[float("slope", 0.5)]);
    let graph = called(graph, "Leaky", &["t"], &["two"], &[]);
    let (shape, found) = compute_model(&with_functions(graph.output("two"), &[leaky()]));
    // x - 2 with a slope of 0.5, and that less 2 with the slope that the operator has by itself.
    let expected = [-0.025, -0.02, -0.01];
    assert_eq!(shape, [3]);
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{found:?}");
}

#[test]
fn functions_call_functions() {
    let body = called(Graph::default(), "Leaky", &["a"], &["b"], &[float("slope", 0.0)]);
    let body = called(body, "Leaky", &["c"], &["d"], &[reference("slope", "s")]);
    let body = body.node("Add", &["b", "d"], &["sum"], &[]);
    // An output that is an input, and one that is there twice.
    let outer = function("Both", &["a", "c"], &["sum", "a", "sum"], &["s"], body);
    let graph = Graph::default().input("x", &[3]);
    let graph = called(graph, "Both", &["x", "x"], &["p", "q", "r"], &[float("s", 1.0)]);
    let graph = graph.node("Add", &["p", "q"], &["pq"], &[]).node("Add", &["pq", "r"], &["y"], &[]);
    let (_, found) = compute_model(&with_functions(graph.output("y"), &[outer, leaky()]));
    // max(x - 2, 0) + (x - 2) twice, and x.
    assert_eq!(found, [-1.0, 2.0, 7.0]);
}

#[test]
fn a_graph_in_a_body_reads_the_values_of_the_call() {
    let branch = |op: &str| Graph::default().node(op, &["x"], &["z"], &[]).output("z");
    let branches = [graph("then_branch", branch("Neg")), graph("else_branch", branch("Exp"))];
    let body = Graph::default().node("If", &["c"], &["y"], &branches);
    let choice = function("Choice", &["c", "x"], &["y"], &[], body);
    let truth = crate::writer::raw_tensor("truth", 9, &[], &[1]);
    let graph = Graph::default().input("z", &[3]).weight(truth);
    let graph = called(graph, "Choice", &["truth", "z"], &["y"], &[]);
    let graph = graph.node("Add", &["y", "z"], &["w"], &[]).output("w");
    assert_eq!(compute_model(&with_functions(graph, &[choice])).1, [0.0, 0.0, 0.0]);
}

#[test]
fn calls_without_an_end_are_refused() {
    let endless = function("F", &["x"], &["y"], &[], called(Graph::default(), "F", &["x"], &["y"], &[]));
    let main = called(Graph::default().input("x", &[3]), "F", &["x"], &["y"], &[]).output("y");
    let said = faults(&with_functions(main, &[endless])).join("\n");
    assert!(said.contains("calls of functions nested deeper than 32, the last of `F`"), "{said}");
    // Each calls the next twice: 2^20 nodes.
    let twice = |index: usize| {
        let next = format!("F{}", index + 1);
        let body = called(Graph::default(), &next, &["x"], &["t"], &[]);
        let body = called(body, &next, &["t"], &["y"], &[]);
        function(&format!("F{index}"), &["x"], &["y"], &[], body)
    };
    let last = function("F20", &["x"], &["y"], &[], Graph::default().node("Neg", &["x"], &["y"], &[]));
    let all: Vec<Message> = (0..20).map(twice).chain([last]).collect();
    let main = called(Graph::default().input("x", &[3]), "F0", &["x"], &["y"], &[]).output("y");
    let said = faults(&with_functions(main, &all)).join("\n");
    assert!(said.contains("too many calls of functions"), "{said}");
}

#[test]
fn attributes_of_a_call_count_as_no_nodes() {
    let attributes: Vec<Message> = (0..5000).map(|index| float(&format!("a{index}"), 1.0)).collect();
    let graph = called(Graph::default().input("x", &[3]), "Neg", &["x"], &["y"], &attributes).output("y");
    let body = Graph::default().node("Neg", &["a"], &["b"], &[]);
    let function = function("Neg", &["a"], &["b"], &[], body);
    assert_eq!(compute_model(&with_functions(graph, &[function])).1, [-1.0, -2.0, -3.0]);
}

#[test]
fn a_function_of_another_version_is_refused() {
    let main = called(Graph::default().input("x", &[3]), "Leaky", &["x"], &["y"], &[]).output("y");
    let said = faults(&model(18, main).messages(25, &[leaky()])).join("\n");
    assert!(said.contains("function `Leaky` uses version 17 of the operator set, the model 18"), "{said}");
}

#[test]
fn a_result_that_a_call_leaves_out_is_still_read_in_the_body() {
    let body = Graph::default().node("Neg", &["a"], &["t"], &[]).node("Neg", &["t"], &["u"], &[]);
    let twice = function("Twice", &["a"], &["t", "u"], &[], body);
    let second = called(Graph::default().input("x", &[3]), "Twice", &["x"], &["", "y"], &[]);
    assert_eq!(
        compute_model(&with_functions(second.output("y"), std::slice::from_ref(&twice))).1,
        [1.0, 2.0, 3.0]
    );
    let first = called(Graph::default().input("x", &[3]), "Twice", &["x"], &["y"], &[]);
    assert_eq!(
        compute_model(&with_functions(first.output("y"), std::slice::from_ref(&twice))).1,
        [-1.0, -2.0, -3.0]
    );
}

/// A chain of calls, in the last of which graphs of nodes stand in one another, and a negation in the last.
fn nested(calls: usize, graphs: usize) -> Message {
    let negated = Graph::default().node("Neg", &["a"], &["b0"], &[]);
    let within = |inner: Graph, depth: usize| {
        let [inside, outside] = [depth, depth + 1].map(|depth| format!("b{depth}"));
        let other = format!("e{depth}");
        let other = Graph::default().node("Abs", &["a"], &[&other], &[]).output(&other);
        let branches = [graph("then_branch", inner.output(&inside)), graph("else_branch", other)];
        Graph::default().node("If", &["c"], &[&outside], &branches)
    };
    let last = (0..graphs).fold(negated, within).node("Identity", &[&format!("b{graphs}")], &["b"], &[]);
    let link = |index: usize| {
        let next = format!("F{}", index + 1);
        let next = called(Graph::default(), &next, &["a", "c"], &["b"], &[]);
        let body = if index + 1 < calls { next } else { last.clone() };
        function(&format!("F{index}"), &["a", "c"], &["b"], &[], body)
    };
    let functions: Vec<Message> = (0..calls).map(link).collect();
    let truth = crate::writer::raw_tensor("truth", 9, &[], &[1]);
    let main = called(Graph::default().input("x", &[3]).weight(truth), "F0", &["x", "truth"], &["y"], &[]);
    with_functions(main.output("y"), &functions)
}

#[test]
fn calls_and_graphs_nest_32_deep_together() {
    assert_eq!(compute_model(&nested(20, 12)).1, [-1.0, -2.0, -3.0]);
    let said = faults(&nested(20, 13)).join("\n");
    assert!(said.contains("functions and graphs nested deeper than 32"), "{said}");
}

#[test]
fn a_model_that_is_written_again_has_its_functions() {
    let graph = called(Graph::default().input("x", &[3]), "Leaky", &["x"], &["y"], &[]).output("y");
    let whole = with_functions(graph, &[leaky()]);
    let parts = import::onnx::edit::ModelParts::read(&whole.0).expect("the model is read");
    let again = Message(parts.to_bytes());
    assert_eq!(compute_model(&again), compute_model(&whole));
}
