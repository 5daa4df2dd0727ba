//! That sequences, which are gone when a model is read, have the elements that ONNX says.

use std::collections::BTreeMap;

use import::onnx::StrippedWeights;
use import::onnx::declared::DeclaredSizes;
use ir::Module;
use ir::interp::{Tensor, run};
use ir::plan::signature::Signature;

use crate::fixture::{faults, import_sized, refuses};
use crate::values::{check, compute};
use crate::writer::{FLOAT, Graph, Message, graph, int, ints_tensor, model, raw_tensor, value_info};

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
    assert!(short.contains("parts of [1, 2] of an axis of 6"), "{short}");
    // Sizes of parts that only a run knows: these are no slices.
    let computed = Graph::default().input("x", &[6, 2]).input("f", &[2]);
    let computed = computed.node("Cast", &["f"], &["p"], &[int("to", 7)]);
    let computed = computed.node("SplitToSequence", &["x", "p"], &["s"], &[]);
    let computed = faults(&model(17, concat(computed, "s", 0, 0))).join("\n");
    assert!(computed.contains("input 1 is computed, expected a constant"), "{computed}");
    let counted = parts(&["x", "p"], &[]).weight(ints_tensor("p", &[1, 2]));
    let counted = counted.node("SequenceLength", &["s"], &["n"], &[]);
    let counted = counted.node("Cast", &["n"], &["y"], &[int("to", 1)]).output("y");
    check(17, counted, &[], &[2.0]);
    let returned = parts(&["x", "p"], &[]).weight(ints_tensor("p", &[1, 2])).output("s");
    let returned = faults(&model(17, returned)).join("\n");
    assert!(returned.contains("parts of [1, 2] of an axis of 6"), "{returned}");
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
    check(17, concat(erased.clone(), "u", 0, 0), &[4], &[1.0, 2.0, -1.0, -2.0]);
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
fn elements_at_one_position_of_several_sequences_meet() {
    let body = Graph::default().input("e", &[2, 2]).input("f", &[1, 2]).input("b", &[1, 2]);
    let body = body.node("Mul", &["e", "f"], &["m"], &[]).node("Sub", &["m", "b"], &["r"], &[]);
    let body = [graph("body", body.output("r"))];
    let mapped = |rows: i64| {
        let whole = parts(&["x", "two"], &[]).weight(index("two", 2)).weight(index("rows", rows));
        let whole = whole.input("z", &[3, 2]).input("b", &[1, 2]);
        let whole = whole.node("SplitToSequence", &["z", "rows"], &["t"], &[]);
        concat(whole.node("SequenceMap", &["s", "t", "b"], &["u"], &body), "u", 0, 0)
    };
    // Rows of `x` are 1 2, 3 4, ... by two, those of `z` 1 2, 3 4, 5 6 one by one, and `b` is 1 2.
    let elements = [0.0, 2.0, 2.0, 6.0, 14.0, 22.0, 20.0, 30.0, 44.0, 58.0, 54.0, 70.0];
    check(17, mapped(1), &[6, 2], &elements);
    let said = faults(&model(17, mapped(2))).join("\n");
    assert!(said.contains("sequences of different lengths"), "{said}");
    let longer =
        parts(&["x", "two"], &[]).weight(index("two", 2)).weight(index("one", 1)).input("b", &[1, 2]);
    let longer = longer.node("SplitToSequence", &["x", "one"], &["t"], &[]);
    let longer = concat(longer.node("SequenceMap", &["s", "t", "b"], &["u"], &body), "u", 0, 0);
    let said = faults(&model(17, longer)).join("\n");
    assert!(said.contains("sequences of different lengths"), "{said}");
}

#[test]
fn a_sequence_is_no_tensor() {
    let said = faults(&model(17, parts(&["x"], &[]).node("Neg", &["s"], &["y"], &[]).output("y"))).join("\n");
    assert!(said.contains("an input is a sequence or an empty optional, expected a tensor"), "{said}");
    let graph = Graph::default().input("x", &[2]).node("SequenceLength", &["x"], &["y"], &[]).output("y");
    let said = faults(&model(17, graph)).join("\n");
    assert!(said.contains("input 0 is a tensor, expected a sequence"), "{said}");
}

/// An input or output whose type holds others: a sequence (4) or an optional (9).
fn holding(name: &str, kinds: &[u64], dims: &[i64]) -> Message {
    let tensor = |info: Message| info.0[2 + name.len() + 2..].to_vec();
    let mut ty = Message(tensor(value_info(name, FLOAT, dims)));
    for kind in kinds {
        ty = Message::default().message(*kind, &Message::default().message(1, &ty));
    }
    Message::default().bytes(1, name).message(2, &ty)
}

const SEQUENCE: u64 = 4;
const OPTIONAL: u64 = 9;

/// What is given for an input `s`.
fn import_given(graph: Graph, given: Option<&[&[u64]]>) -> Result<Module, Vec<String>> {
    let given = given.map(|shapes| shapes.iter().map(|shape| shape.to_vec()).collect());
    let items = BTreeMap::from([("s".to_owned(), given)]);
    let sizes = DeclaredSizes { items, ..DeclaredSizes::new() };
    import_sized(&model(17, graph).0, StrippedWeights::Refuse, sizes)
}

/// The names of a program's arguments.
fn arguments(module: &Module) -> Vec<String> {
    let main = module.function("main").expect("models have a function `main`");
    let taken = Signature::of(&module.ctx, main).expect("it has a signature");
    taken.args.into_iter().map(|arg| arg.name).collect()
}

/// A graph of an input `s`, and a node of it that makes `y`.
fn of_given(input: Message, op: &str) -> Graph {
    let mut graph = Graph::default().node(op, &["s"], &["y"], &[]).output("y");
    graph.inputs.push(input);
    graph
}

#[test]
fn a_sequence_that_is_given_has_an_argument_for_each_element() {
    let whole = || of_given(holding("s", &[SEQUENCE], &[2]), "Identity");
    let module = import_given(whole(), Some(&[&[2], &[2]])).unwrap();
    assert_eq!(arguments(&module), ["s[0]", "s[1]"]);
    let inputs = [1.0, 2.0].map(|x| Tensor::from_f32(&module.ctx, &[2], &[x, x]));
    let results = run(&module, "main", &inputs).unwrap();
    assert_eq!(results.iter().map(Tensor::to_f32).collect::<Vec<_>>(), [[1.0, 1.0], [2.0, 2.0]]);
    assert!(arguments(&import_given(whole(), Some(&[])).unwrap()).is_empty());
    let other = import_given(whole(), Some(&[&[3]])).err().unwrap().join("\n");
    assert!(other.contains("an array of shape [3], expected [2]"), "{other}");
    let unknown = faults(&model(17, whole())).join("\n");
    assert!(unknown.contains("a sequence whose shape is not known before arrays are given"), "{unknown}");
}

#[test]
fn an_optional_that_is_given_is_empty_or_what_it_holds() {
    let has = || of_given(holding("s", &[OPTIONAL], &[2]), "OptionalHasElement");
    let is_there = |given: Option<&[&[u64]]>, inputs: &[&[f32]]| {
        let module = import_given(has(), given).unwrap();
        let inputs: Vec<Tensor> =
            inputs.iter().map(|x| Tensor::from_f32(&module.ctx, &[x.len() as u64], x)).collect();
        run(&module, "main", &inputs).unwrap()[0].bytes.to_vec()
    };
    assert_eq!(is_there(Some(&[&[2]]), &[&[1.0, 2.0]]), [1]);
    assert_eq!(is_there(None, &[]), [0]);
    let get = || of_given(holding("s", &[SEQUENCE, OPTIONAL], &[2]), "OptionalGetElement");
    assert_eq!(arguments(&import_given(get(), Some(&[&[2]])).unwrap()), ["s[0]"]);
    let empty = import_given(get(), None).err().unwrap().join("\n");
    assert!(empty.contains("an optional that is empty"), "{empty}");
    let several = import_given(has(), Some(&[&[2], &[2]])).err().unwrap().join("\n");
    assert!(several.contains("several arrays, expected a tensor or nothing"), "{several}");
}

#[test]
fn a_type_that_nests_without_end_is_refused() {
    let kinds = vec![SEQUENCE; 1000];
    let said = import_given(of_given(holding("s", &kinds, &[2]), "Identity"), Some(&[&[2]]));
    let said = said.err().unwrap().join("\n");
    assert!(said.contains("a sequence or an optional in another, expected tensors"), "{said}");
}

#[test]
fn a_loop_carries_a_sequence() {
    let body = Graph::default().input("i", &[]).input("c", &[]).input("t", &[2]);
    let body = body.node("Identity", &["c"], &["d"], &[]).node("SequenceInsert", &["t", "x"], &["u"], &[]);
    let body = graph("body", body.output("d").output("u"));
    let looped =
        Graph::default().input("x", &[2]).weight(index("n", 3)).node("SequenceEmpty", &[], &["e"], &[]);
    let looped = looped.node("Loop", &["n", "", "e"], &["t3"], &[body]);
    check(17, concat(looped, "t3", 0, 0), &[6], &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
}

#[test]
fn an_optional_is_what_it_was_made_of() {
    let truth = |inputs: &[&str]| {
        let graph = Graph::default().input("x", &[2]).node("Optional", inputs, &["o"], &[]);
        let graph = graph.node("OptionalHasElement", &["o"], &["h"], &[]);
        graph.node("Cast", &["h"], &["y"], &[int("to", 1)]).output("y")
    };
    check(18, truth(&["x"]), &[], &[1.0]);
    check(18, truth(&[]), &[], &[0.0]);
    let held = parts(&["x"], &[]).node("Optional", &["s"], &["o"], &[]);
    let held = held.node("OptionalGetElement", &["o"], &["t"], &[]);
    let counted = held.clone().node("SequenceLength", &["t"], &["n"], &[]);
    check(18, counted.node("Cast", &["n"], &["y"], &[int("to", 1)]).output("y"), &[], &[6.0]);
    check(18, concat(held, "t", 0, 0), &[6, 2], &(1..=12).map(|x| x as f32).collect::<Vec<_>>());
    let empty = Graph::default().node("Optional", &[], &["o"], &[]);
    let counted = empty.clone().node("SequenceLength", &["o"], &["y"], &[]).output("y");
    refuses(18, counted, "input 0 is an optional that is empty");
    let joined = concat(empty.clone(), "o", 0, 0);
    refuses(18, joined, "input 0 is an optional that is empty");
    let got = empty.node("OptionalGetElement", &["o"], &["y"], &[]).output("y");
    refuses(18, got, "an optional that is empty");
}

#[test]
fn a_sequence_holds_no_sequences_and_nothing_that_is_left_out() {
    let said = "an element that is left out, or a sequence itself";
    for inputs in [["x", "s"], ["s", "x"], ["x", ""]] {
        let graph = parts(&["x"], &[]).node("SequenceConstruct", &inputs, &["t"], &[]);
        refuses(17, concat(graph, "t", 0, 0), said);
    }
}

/// An If whose graphs both make the sequence `s`, and an element of what it makes.
fn chosen(condition: &str) -> Graph {
    let branch = |name: &str| {
        let inner = Graph::default().node("SequenceInsert", &["s", "x", "end"], &["t"], &[]);
        graph(name, inner.output("t"))
    };
    let whole = Graph::default().input("x", &[2]).input("c", &[]).weight(raw_tensor("known", 9, &[], &[1]));
    let whole = whole.weight(index("end", 1)).node("Neg", &["x"], &["n"], &[]);
    let whole = whole.node("SequenceConstruct", &["n"], &["s"], &[]);
    let whole = whole.node("Cast", &["c"], &["computed"], &[int("to", 9)]);
    let branches = [branch("then_branch"), branch("else_branch")];
    let whole = whole.node("If", &[condition], &["b"], &branches);
    whole.node("SequenceAt", &["b", "end"], &["y"], &[]).output("y")
}

#[test]
fn a_graph_makes_a_sequence_where_its_condition_is_known() {
    check(17, chosen("known"), &[2], &[1.0, 2.0]);
    refuses(17, chosen("computed"), "a graph makes a sequence, or nothing, in the place of a tensor");
}

#[test]
fn a_loop_of_a_computed_number_of_turns_carries_no_sequence() {
    let body = Graph::default().input("i", &[]).input("c", &[]).input("t", &[2]);
    let body = body.node("Identity", &["c"], &["d"], &[]).node("SequenceInsert", &["t", "x"], &["u"], &[]);
    let body = graph("body", body.output("d").output("u"));
    let looped = Graph::default().input("x", &[2]).input("f", &[]).node("SequenceEmpty", &[], &["e"], &[]);
    let looped = looped.node("Cast", &["f"], &["n"], &[int("to", 7)]);
    let looped = looped.node("Loop", &["n", "", "e"], &["t3"], &[body]);
    refuses(17, concat(looped, "t3", 0, 0), "a state that is a sequence or an empty optional");
}

#[test]
fn arrays_that_are_given_fit_the_type_that_the_file_says() {
    let of = |kinds: &[u64], dims: &[i64]| of_given(holding("s", kinds, dims), "Identity");
    let refused = |graph: Graph, given: Option<&[&[u64]]>, reason: &str| {
        let said = import_given(graph, given).err().expect("it is refused").join(" ");
        assert!(said.contains(reason), "no `{reason}` in: {said}");
    };
    let rank = "an array of shape [2, 2], expected [2]";
    refused(of(&[SEQUENCE], &[2]), Some(&[&[2, 2]]), rank);
    refused(of(&[SEQUENCE], &[2]), Some(&[&[2], &[2, 2]]), rank);
    refused(of(&[SEQUENCE], &[2, -1]), Some(&[&[3, 5]]), "an array of shape [3, 5], expected [2, ?]");
    refused(of(&[SEQUENCE], &[2]), None, "arrays that do not fit its type");
    let many = [1u64 << 40; 2];
    refused(of(&[SEQUENCE], &[-1, -1]), Some(&[&many]), "has more elements than memory holds");
    let any = import_given(of(&[SEQUENCE], &[2, -1]), Some(&[&[2, 5], &[2, 0]])).unwrap();
    assert_eq!(arguments(&any), ["s[0]", "s[1]"]);
}
