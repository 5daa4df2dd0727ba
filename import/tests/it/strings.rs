//! That strings are moved and compared at run time, made only while a model is read, and never computed with.

use import::onnx::StrippedWeights;
use ir::interp::{Tensor, run};
use ir::strings::{digests, text};

use crate::fixture::{faults, import_bytes};
use crate::writer::{FLOAT, Graph, Message, int, ints_tensor, model, string, value_info};

const STRING: i32 = 8;

fn words(name: &str, dims: &[i64], words: &[&str]) -> Message {
    Message::default().packed(1, dims).int(2, STRING.into()).strings(6, words).bytes(8, name)
}

fn texts(name: &str, texts: &[&str]) -> Message {
    Message::default().bytes(1, name).strings(9, texts).int(20, 8)
}

/// An input `x` of strings.
fn input(dims: &[i64]) -> Graph {
    let mut graph = Graph::default();
    graph.inputs.push(value_info("x", STRING, dims));
    graph
}

/// The first result of a graph, where its input is some strings.
fn compute(graph: Graph, given: &[&str]) -> (Vec<u64>, Tensor) {
    let module = import_bytes(&model(20, graph).0, StrippedWeights::Refuse, &[]).unwrap();
    let body = module.function("main").unwrap();
    let args = body.args(body.entry(body.root()).unwrap()).iter();
    let bytes = digests(given.iter().map(|string| string.as_bytes())).unwrap();
    let tensors: Vec<Tensor> =
        args.map(|arg| Tensor::new(&module.ctx, body.ty(*arg), bytes.clone())).collect();
    let result = run(&module, "main", &tensors).unwrap().remove(0);
    (module.ctx.static_shape(result.ty).unwrap(), result)
}

fn check(graph: Graph, given: &[&str], shape: &[u64], expected: &[&str]) {
    let (found, result) = compute(graph, given);
    let strings = result.bytes.as_chunks().0.iter().map(|bytes| text(u64::from_le_bytes(*bytes)).unwrap());
    assert_eq!((&found[..], strings.collect::<Vec<_>>()), (shape, expected.to_vec()));
}

fn refuses(graph: Graph, expected: &str) {
    let found = faults(&model(20, graph)).join("\n");
    assert!(found.contains(expected), "no `{expected}` in: {found}");
}

#[test]
fn strings_are_moved() {
    let graph = input(&[3]).weight(ints_tensor("i", &[2, 0])).weight(words("w", &[1], &["new"]));
    let graph = graph.node("Gather", &["x", "i"], &["g"], &[]);
    let graph = graph.node("Concat", &["g", "w"], &["y"], &[int("axis", 0)]).output("y");
    check(graph, &["a", "", "c"], &[3], &["c", "a", "new"]);
    let constant = Graph::default().node("Constant", &[], &["c"], &[string("value_string", "one")]);
    let constant = constant.weight(ints_tensor("shape", &[2, 1]));
    check(constant.node("Expand", &["c", "shape"], &["y"], &[]).output("y"), &[], &[2, 1], &["one", "one"]);
}

#[test]
fn strings_are_compared_and_chosen() {
    let graph = input(&[3]).weight(words("w", &[], &["a"])).weight(words("z", &[3], &["p", "q", "r"]));
    let graph = graph.node("Equal", &["x", "w"], &["e"], &[]);
    let (shape, found) = compute(graph.clone().output("e"), &["a", "A", "a"]);
    assert_eq!((&shape[..], &found.bytes[..]), (&[3][..], &[1, 0, 1][..]));
    let graph = graph.node("Where", &["e", "x", "z"], &["y"], &[]).output("y");
    check(graph, &["a", "A", "a"], &[3], &["a", "q", "a"]);
}

#[test]
fn what_looks_into_strings_is_done_while_the_model_is_read() {
    let known = |strings: &[&str]| Graph::default().weight(words("w", &[strings.len() as i64], strings));
    let normalized = |strings: &[&str], attributes: &[Message]| {
        known(strings).node("StringNormalizer", &["w"], &["y"], attributes).output("y")
    };
    let stop = texts("stopwords", &["Mon"]);
    check(
        normalized(&["MON", "Tue"], &[stop.clone(), string("case_change_action", "UPPER")]),
        &[],
        &[1],
        &["TUE"],
    );
    let heeds = [stop.clone(), int("is_case_sensitive", 1)];
    check(normalized(&["MON", "Mon"], &heeds), &[], &[1], &["MON"]);
    check(normalized(&["mon"], &[stop]), &[], &[1], &[""]);
    let joined = known(&["a", "b"]).weight(words("v", &[2, 1], &[".x", ".y"]));
    let joined = joined.node("StringConcat", &["w", "v"], &["y"], &[]).output("y");
    check(joined, &[], &[2, 2], &["a.x", "b.x", "a.y", "b.y"]);
    let split = known(&["a b", "c"]).node("StringSplit", &["w"], &["y", "n"], &[]).output("y");
    check(split, &[], &[2, 2], &["a", "b", "c", ""]);
}

#[test]
fn strings_are_not_computed_with() {
    let one = |op: &str, attributes: &[Message]| input(&[2]).node(op, &["x"], &["y"], attributes).output("y");
    refuses(one("Neg", &[]), "an input of strings, which Neg does not take");
    refuses(one("Cast", &[int("to", FLOAT.into())]), "an input of strings, which Cast does not take");
    refuses(one("StringNormalizer", &[]), "input 0 is computed, expected a constant");
    let add = input(&[2]).node("Add", &["x", "x"], &["y"], &[]).output("y");
    refuses(add, "an input of strings, which Add does not take");
    let mixed = input(&[2]).weight(ints_tensor("i", &[1, 2]));
    refuses(mixed.node("Equal", &["x", "i"], &["y"], &[]).output("y"), "strings beside other elements");
    let made = Graph::default().weight(ints_tensor("i", &[1, 2]));
    let made = made.node("Cast", &["i"], &["y"], &[int("to", STRING.into())]).output("y");
    refuses(made, "`to` 8, expected the number of a numeric type");
    let undefined =
        Graph::default().weight(Message::default().packed(1, &[1]).int(2, 8).bytes(8, "w").bytes(6, [0xff]));
    refuses(undefined.node("Identity", &["w"], &["y"], &[]).output("y"), "a string that is not UTF-8");
}

#[test]
fn an_expression_matches_whole_strings_and_its_options_are_for_letters_of_ascii() {
    let matches = |pattern: &str, given: &[&str]| {
        let graph = Graph::default().weight(words("w", &[given.len() as i64], given));
        let graph = graph.node("RegexFullMatch", &["w"], &["m"], &[string("pattern", pattern)]);
        graph.node("Cast", &["m"], &["y"], &[int("to", 1)]).output("y")
    };
    let check = |pattern: &str, given: &[&str], expected: &[f32]| {
        assert_eq!(compute(matches(pattern, given), &[]).1.to_f32(), expected, "{pattern}");
    };
    check("a|bc", &["a", "bc", "abc", "b"], &[1.0, 1.0, 0.0, 0.0]);
    check("(?i)ab", &["aB", "b"], &[1.0, 0.0]);
    check("\u{e4}+", &["\u{e4}\u{e4}", "a"], &[1.0, 0.0]);
    for (pattern, given) in [("(?i)a", "\u{e4}"), ("(?i)\u{e4}", "a")] {
        refuses(matches(pattern, &[given]), "an expression with options, of more than letters of ASCII");
    }
}
