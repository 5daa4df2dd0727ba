//! That sequences, which are gone when a model is read, have the elements that ONNX says.

use crate::fixture::faults;
use crate::values::{check, compute};
use crate::writer::{Graph, Message, graph, int, ints_tensor, model, raw_tensor};

fn index(name: &str, number: i64) -> Message {
    raw_tensor(name, 7, &[], &number.to_le_bytes())
}

/// `x` of six rows of two, in a sequence `s` of parts.
fn parts(inputs: &[&str], attributes: &[Message]) -> Graph {
    Graph::default().input("x", &[6, 2]).node("SplitToSequence", inputs, &["s"], attributes)
}

fn concat(graph: Graph, sequence: &str, axis: i64, new_axis: i64) -> Graph {
    let attributes = [int("axis", axis), int("new_axis", new_axis)];
    graph.node("ConcatFromSequence", &[sequence], &["y"], &attributes).output("y")
}

#[test]
fn a_tensor_is_split_into_slices_or_parts() {
    let slice = |position: i64, attributes: &[Message]| {
        let graph = parts(&["x"], attributes).weight(index("i", position));
        graph.node("SequenceAt", &["s", "i"], &["y"], &[]).output("y")
    };
    check(17, slice(1, &[]), &[1, 2], &[3.0, 4.0]);
    check(17, slice(-1, &[int("keepdims", 0)]), &[2], &[11.0, 12.0]);
    check(17, slice(0, &[int("axis", 1), int("keepdims", 0)]), &[6], &[1.0, 3.0, 5.0, 7.0, 9.0, 11.0]);
    let part = |split: Message, position: i64| {
        let graph = parts(&["x", "p"], &[]).weight(split).weight(index("i", position));
        graph.node("SequenceAt", &["s", "i"], &["y"], &[]).output("y")
    };
    check(17, part(index("p", 4), 1), &[2, 2], &[9.0, 10.0, 11.0, 12.0]);
    check(17, part(ints_tensor("p", &[1, 2, 3]), 1), &[2, 2], &[3.0, 4.0, 5.0, 6.0]);
    let short = faults(&model(17, part(ints_tensor("p", &[1, 2]), 1))).join("\n");
    assert!(short.contains("parts that are not 6 elements together"), "{short}");
    let outside = faults(&model(17, part(index("p", 4), 2))).join("\n");
    assert!(outside.contains("position 2 of 2"), "{outside}");
}

#[test]
fn elements_are_put_in_and_taken_out() {
    let graph = Graph::default().input("a", &[2]).input("b", &[2]).node("Neg", &["a"], &["c"], &[]);
    let graph = graph.node("SequenceConstruct", &["a", "c"], &["s"], &[]);
    let graph = graph.weight(index("one", 1)).weight(index("last", -1));
    let graph = graph.node("SequenceInsert", &["s", "b", "one"], &["t"], &[]);
    check(17, concat(graph.clone(), "t", 0, 0), &[6], &[1.0, 2.0, 1.0, 2.0, -1.0, -2.0]);
    check(17, concat(graph.clone(), "t", 1, 1), &[2, 3], &[1.0, 1.0, -1.0, 2.0, 2.0, -2.0]);
    // A negative position counts from the end of the elements that were there.
    let before = graph.clone().node("SequenceInsert", &["s", "b", "last"], &["q"], &[]);
    check(17, concat(before, "q", 1, 1), &[2, 3], &[1.0, 1.0, -1.0, 2.0, 2.0, -2.0]);
    let erased = graph.clone().node("SequenceErase", &["t", "one"], &["u"], &[]);
    let erased = erased.node("SequenceErase", &["u"], &["v"], &[]).node("Identity", &["v"], &["w"], &[]);
    check(17, concat(erased, "w", 0, 0), &[2], &[1.0, 2.0]);
    let empty = Graph::default().input("a", &[2]).node("SequenceEmpty", &[], &["e"], &[]);
    let empty = empty.node("SequenceInsert", &["e", "a"], &["s"], &[]);
    check(17, concat(empty.clone(), "s", 0, 0), &[2], &[1.0, 2.0]);
    let counted =
        empty.node("SequenceLength", &["s"], &["n"], &[]).node("Cast", &["n"], &["f"], &[int("to", 1)]);
    check(17, counted.output("f"), &[], &[1.0]);
}

#[test]
fn a_graph_is_written_down_for_each_element() {
    let body = Graph::default().input("e", &[1, 2]).input("b", &[1, 2]);
    let body = body.node("Add", &["e", "b"], &["r"], &[]).node("Neg", &["e"], &["n"], &[]);
    let body = graph("body", body.output("r").output("n"));
    let mapped =
        parts(&["x"], &[]).input("b", &[1, 2]).node("SequenceMap", &["s", "b"], &["t", "m"], &[body]);
    let (shape, found) = compute(17, concat(mapped.clone(), "t", 0, 0));
    assert_eq!((shape, &found[..4], found[11]), (vec![6, 2], &[2.0, 4.0, 4.0, 6.0][..], 14.0));
    assert_eq!(compute(17, concat(mapped, "m", 0, 0)).1[3], -4.0);
}

#[test]
fn a_sequence_is_no_tensor() {
    let said = faults(&model(17, parts(&["x"], &[]).node("Neg", &["s"], &["y"], &[]).output("y"))).join("\n");
    assert!(said.contains("an input is a sequence, expected a tensor"), "{said}");
    let said = faults(&model(17, parts(&["x"], &[]).output("s"))).join("\n");
    assert!(said.contains("a sequence, expected a tensor"), "{said}");
    let graph = Graph::default().input("x", &[2]).node("SequenceLength", &["x"], &["y"], &[]).output("y");
    let said = faults(&model(17, graph)).join("\n");
    assert!(said.contains("input 0 is a tensor, expected a sequence"), "{said}");
}
