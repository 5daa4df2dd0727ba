//! That conditions and numbers of turns which the program computes decide at run time, and that many turns
//! and steps are a loop.

use import::onnx::StrippedWeights;
use ir::Module;
use ir::plan::attrs::OPTC_OPEN;

use crate::fixture::{faults, import_bytes};
use crate::values::{check, compute};
use crate::writer::{FLOAT, Graph, INT64, Message, graph, int, ints_tensor, model, raw_tensor, value_info};
use crate::writer::{floats_tensor, ints, string, tensor};

fn text(version: i64, graph: Graph) -> String {
    let module: Module =
        import_bytes(&model(version, graph).0, StrippedWeights::Refuse, &[]).expect("the model is read");
    ir::text::print(&module)
}

/// A number of `INT64` that follows from the first element of `x`.
fn counted(graph: Graph) -> Graph {
    let graph = graph.weight(raw_tensor("first", INT64, &[], &0i64.to_le_bytes()));
    let graph = graph.node("Gather", &["x", "first"], &["e"], &[int("axis", 0)]);
    graph.node("Cast", &["e"], &["n"], &[int("to", INT64.into())])
}

fn number(name: &str, value: f32) -> Message {
    floats_tensor(name, &[], &[value])
}

/// An If whose branches are `Add(x, w)` and `Neg(x)`, by whether the sum of `x` is above `limit`.
fn chosen(limit: f32) -> Graph {
    let then = Graph::default().node("Add", &["x", "w"], &["t"], &[]).output("t");
    let otherwise = Graph::default().node("Neg", &["x"], &["e"], &[]).output("e");
    let branches = [graph("then_branch", then), graph("else_branch", otherwise)];
    let whole = Graph::default().input("x", &[2]).weight(number("limit", limit)).weight(number("w", 10.0));
    let whole = whole.node("ReduceSum", &["x"], &["s"], &[int("keepdims", 0)]);
    whole.node("Greater", &["s", "limit"], &["c"], &[]).node("If", &["c"], &["b"], &branches)
}

#[test]
fn a_computed_condition_chooses_a_branch_at_run_time() {
    check(13, chosen(2.5).output("b"), &[2], &[11.0, 12.0]);
    check(13, chosen(3.5).output("b"), &[2], &[-1.0, -2.0]);
    // The weight that the branch reads first is also read after it.
    let after = |limit| chosen(limit).node("Mul", &["b", "w"], &["y"], &[]).output("y");
    check(13, after(2.5), &[2], &[110.0, 120.0]);
    check(13, after(3.5), &[2], &[-10.0, -20.0]);
    assert!(text(13, chosen(2.5).output("b")).contains("scf.if"));
}

#[test]
fn a_known_condition_leaves_one_branch() {
    let then = Graph::default().node("Relu", &["x"], &["t"], &[]).output("t");
    let otherwise = Graph::default().node("Neg", &["x"], &["e"], &[]).output("e");
    let branches = [graph("then_branch", then), graph("else_branch", otherwise)];
    let whole = Graph::default().input("x", &[2]).weight(raw_tensor("c", 9, &[], &[0]));
    let whole = whole.node("If", &["c"], &["y"], &branches).output("y");
    check(13, whole.clone(), &[2], &[-1.0, -2.0]);
    assert!(!text(13, whole).contains("scf.if"));
}

#[test]
fn branches_of_other_types_are_refused() {
    let then = Graph::default().node("Relu", &["x"], &["t"], &[]).output("t");
    let otherwise = Graph::default().node("Concat", &["x", "x"], &["e"], &[int("axis", 0)]).output("e");
    let branches = [graph("then_branch", then), graph("else_branch", otherwise)];
    let whole = Graph::default().input("x", &[2]).weight(number("limit", 0.0));
    let whole = whole.node("ReduceSum", &["x"], &["s"], &[int("keepdims", 0)]);
    let whole = whole.node("Greater", &["s", "limit"], &["c"], &[]).node("If", &["c"], &["y"], &branches);
    let said = faults(&model(13, whole.output("y"))).join("\n");
    let expected = "branches that make `tensor<2xf32>` and `tensor<4xf32>`, expected the same types";
    assert!(said.contains(expected), "{said}");
}

/// A body with the state `h`, to which a turn adds `x`; the condition is what these nodes make `o` of.
fn turn(condition: &[(&str, &[&str], &str)]) -> Graph {
    let inputs = [value_info("i", INT64, &[]), value_info("p", 9, &[]), value_info("h", FLOAT, &[3])];
    let mut inner = Graph { inputs: inputs.to_vec(), ..Graph::default() };
    inner = inner.node("Add", &["h", "x"], &["g"], &[]);
    for (op, inputs, output) in condition {
        let attributes: &[Message] = if *op == "ReduceMax" { &[int("keepdims", 0)] } else { &[] };
        inner = inner.node(op, inputs, &[output], attributes);
    }
    inner.output("o").output("g")
}

fn body(condition: &[(&str, &[&str], &str)]) -> Message {
    graph("body", turn(condition))
}

/// The same, which shows the state doubled.
fn showing_body(condition: &[(&str, &[&str], &str)]) -> Message {
    graph("body", turn(condition).node("Add", &["g", "g"], &["d"], &[]).output("d"))
}

const GOES_ON: &[(&str, &[&str], &str)] = &[("Identity", &["p"], "o")];
const BELOW: &[(&str, &[&str], &str)] = &[("ReduceMax", &["g"], "m"), ("Less", &["m", "limit"], "o")];

#[test]
fn a_computed_number_of_turns_is_counted_at_run_time() {
    // x is 1, 2, 3: a turn, in which x is added to itself.
    let whole = counted(Graph::default().input("x", &[3]));
    let whole = whole.node("Loop", &["n", "", "x"], &["y"], &[body(GOES_ON)]).output("y");
    check(13, whole.clone(), &[3], &[2.0, 4.0, 6.0]);
    assert!(text(13, whole).contains("scf.for"));
    let shown = counted(Graph::default().input("x", &[3]));
    let shown = shown.node("Loop", &["n", "", "x"], &["y", "z"], &[showing_body(GOES_ON)]).output("z");
    let said = faults(&model(13, shown)).join("\n");
    let expected = "scan outputs of a loop whose number of iterations has no known limit";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_computed_condition_ends_a_loop() {
    let whole = |limit: f32, outputs: &[&str], inputs: &[&str]| {
        let whole = Graph::default().input("x", &[3]).weight(number("limit", limit));
        let whole = whole.weight(raw_tensor("t", 9, &[], &[1])).weight(raw_tensor(
            "most",
            INT64,
            &[],
            &5i64.to_le_bytes(),
        ));
        whole.node(
            "Loop",
            inputs,
            outputs,
            &[if outputs.len() > 1 { showing_body(BELOW) } else { body(BELOW) }],
        )
    };
    // After turn k, the state is (k + 1) x, whose largest element is 3 (k + 1).
    for (limit, turns) in [(0.0, 1.0), (7.0, 2.0), (11.0, 3.0)] {
        let last = whole(limit, &["y"], &["", "t", "x"]).output("y");
        check(13, last, &[3], &[1.0, 2.0, 3.0].map(|x| x * (turns + 1.0)));
    }
    check(13, whole(100.0, &["y"], &["most", "t", "x"]).output("y"), &[3], &[6.0, 12.0, 18.0]);
    // Slices are shown up to the end, with zeros after them.
    let shown = whole(7.0, &["y", "z"], &["most", "t", "x"]).output("z");
    let (shape, elements) = compute(13, shown.clone());
    assert_eq!(shape, [5, 3]);
    assert_eq!(elements, [[4.0, 8.0, 12.0].as_slice(), &[6.0, 12.0, 18.0], &[0.0; 9]].concat());
    let said = text(13, shown);
    assert!(
        said.contains("scf.while") && said.contains(&format!("{OPTC_OPEN} = array<i64: 0, 1>")),
        "{said}"
    );
    // How many there are is known where it is asked for: the mean of what was shown.
    let mean = whole(7.0, &["y", "z"], &["most", "t", "x"]).weight(ints_tensor("axes", &[0]));
    let mean = mean.node("ReduceMean", &["z"], &["m0"], &[ints("axes", &[0]), int("keepdims", 0)]);
    check(13, mean.output("m0"), &[3], &[5.0, 10.0, 15.0]);
}

#[test]
fn a_loop_whose_condition_does_not_hold_has_no_turns() {
    const HOLDS: &[(&str, &[&str], &str)] = &[("Identity", &["t"], "o")];
    // The sum of 1, 2, 3 is 6; the first of them is the number of turns that is computed.
    let whole = |limit: f32, known: i64, numbers: [&str; 2], ends: &[(&str, &[&str], &str)]| {
        let whole = counted(Graph::default().input("x", &[3])).weight(number("limit", limit));
        let whole = whole.weight(raw_tensor("known", INT64, &[], &known.to_le_bytes()));
        let whole = whole.weight(raw_tensor("t", 9, &[], &[1])).weight(raw_tensor("f", 9, &[], &[0]));
        let whole = whole.node("ReduceSum", &["x"], &["s"], &[int("keepdims", 0)]);
        let whole = whole.node("Greater", &["s", "limit"], &["c"], &[]).weight(ints_tensor("list", &[1]));
        let lists = |whole: Graph, name: &str| {
            whole.node("Reshape", &[name, "list"], &[&format!("{name}_list")], &[])
        };
        let whole = ["known", "n", "c", "t", "f"].into_iter().fold(whole, lists);
        whole.node("Loop", &[numbers[0], numbers[1], "x"], &["y"], &[body(ends)]).output("y")
    };
    for ends in [GOES_ON, HOLDS] {
        for (name, known) in [("known", -1), ("known", 0), ("known", 3), ("known", 200), ("n", 1)] {
            let after = [1.0, 2.0, 3.0].map(|x| x * (known.max(0) + 1) as f32);
            // Both may be a number or a list of one.
            for list in ["", "_list"] {
                let whole = |limit: f32, condition: &str| {
                    whole(limit, known, [&format!("{name}{list}"), &format!("{condition}{list}")], ends)
                };
                check(13, whole(5.0, "c"), &[3], &after);
                check(13, whole(7.0, "c"), &[3], &[1.0, 2.0, 3.0]);
                check(13, whole(0.0, "t"), &[3], &after);
                check(13, whole(0.0, "f"), &[3], &[1.0, 2.0, 3.0]);
            }
        }
    }
    let two = Graph::default().input("x", &[3]).input("z", &[3, -1]).node("Shape", &["z"], &["n"], &[]);
    let two = two.node("Loop", &["n", "", "x"], &["y"], &[body(GOES_ON)]).output("y");
    let said = faults(&model(13, two)).join("\n");
    assert!(said.contains("2 elements do not fit the shape []"), "{said}");
}

#[test]
fn a_loop_without_turns_shows_no_slices() {
    for most in [0i64, -1, i64::MIN] {
        let whole =
            Graph::default().input("x", &[3]).weight(raw_tensor("n", INT64, &[], &most.to_le_bytes()));
        let whole = whole.node("Loop", &["n", "", "x"], &["y", "z"], &[showing_body(GOES_ON)]);
        check(13, whole.clone().output("z"), &[0, 3], &[]);
        check(13, whole.output("y"), &[3], &[1.0, 2.0, 3.0]);
    }
}

#[test]
fn what_a_loop_showed_is_as_long_as_it_says_where_shapes_are_computed() {
    // Two turns show 4, 8, 12 and 6, 12, 18.
    let whole = Graph::default().input("x", &[3]).weight(number("limit", 7.0));
    let whole = whole.weight(raw_tensor("t", 9, &[], &[1])).weight(ints_tensor("most", &[5]));
    let whole = whole.node("Loop", &["most", "t", "x"], &["y", "z"], &[showing_body(BELOW)]);
    let whole = whole.node("Shape", &["z"], &["s"], &[]);
    let sums = |graph: Graph| {
        graph.node("ReduceSum", &["v"], &["r"], &[ints("axes", &[0]), int("keepdims", 0)]).output("r")
    };
    let one = tensor("value", &floats_tensor("", &[1], &[1.0]));
    let ones = whole.clone().node("ConstantOfShape", &["s"], &["o"], &[one]);
    check(11, sums(ones.node("Add", &["z", "o"], &["v"], &[])), &[3], &[12.0, 22.0, 32.0]);
    let wide = whole.weight(number("w", 1.5)).node("Expand", &["w", "s"], &["v"], &[]);
    check(11, sums(wide), &[3], &[3.0; 3]);
}

#[test]
fn many_turns_are_a_loop_and_few_are_not() {
    let turns = |count: i64| {
        let whole = Graph::default().input("x", &[3]);
        let whole = whole.weight(raw_tensor("n", INT64, &[], &count.to_le_bytes()));
        whole.node("Loop", &["n", "", "x"], &["y", "z"], &[showing_body(GOES_ON)]).output("z")
    };
    let (shape, elements) = compute(13, turns(200));
    assert_eq!(shape, [200, 3]);
    assert_eq!((&elements[..3], elements[599]), (&[4.0, 8.0, 12.0][..], 2.0 * 201.0 * 3.0));
    let [few, many, more] = [3, 200, 4000].map(|count| text(13, turns(count)));
    assert!(!few.contains("scf.for") && many.contains("scf.for"), "{few}");
    assert_eq!(many.lines().count(), more.lines().count());
    assert!(!many.contains(OPTC_OPEN), "as many slices as turns are no question of data: {many}");
}

/// A loop in which a turn adds the first element of `x` to a state that is `x` before.
fn grown_by(most: Graph, numbers: [&str; 2], condition: &[(&str, &[&str], &str)]) -> Graph {
    let inputs = [value_info("i", INT64, &[]), value_info("p", 9, &[]), value_info("h", FLOAT, &[1])];
    let mut inner = Graph { inputs: inputs.to_vec(), ..Graph::default() };
    inner = inner.node("Concat", &["h", "row"], &["g"], &[int("axis", 0)]);
    for (op, inputs, output) in condition {
        let attributes: &[Message] = if *op == "ReduceMax" { &[int("keepdims", 0)] } else { &[] };
        inner = inner.node(op, inputs, &[output], attributes);
    }
    let inner = graph("body", inner.output("o").output("g"));
    let whole = most.weight(number("limit", 7.0)).weight(ints_tensor("zero", &[0]));
    let whole = whole.node("Gather", &["x", "zero"], &["row"], &[int("axis", 0)]);
    whole.node("Loop", &[numbers[0], numbers[1], "x"], &["y"], &[inner]).output("y")
}

#[test]
fn a_state_that_grows_is_written_down_turn_by_turn_or_refused() {
    let grown = |most: Graph, condition| grown_by(most, ["n", ""], condition);
    let known = |count: i64| {
        let count = raw_tensor("n", INT64, &[], &count.to_le_bytes());
        Graph::default().input("x", &[2]).weight(count)
    };
    for count in [0, 3, 100] {
        let all = [&[1.0, 2.0][..], &vec![1.0; count as usize]].concat();
        check(13, grown(known(count), GOES_ON), &[2 + count as u64], &all);
    }
    // Without a number of turns, the body says when it ends.
    let unlimited =
        Graph::default().input("x", &[2]).weight(raw_tensor("two", INT64, &[], &2i64.to_le_bytes()));
    let unlimited = |condition| grown_by(unlimited.clone(), ["", ""], condition);
    check(13, unlimited(&[("Less", &["i", "two"], "o")]), &[5], &[1.0, 2.0, 1.0, 1.0, 1.0]);
    let refused = |whole: Graph| faults(&model(13, whole)).join(" ");
    let expected = "a state of type `tensor<2xf32>` that an iteration changes to `tensor<3xf32>`";
    for endless in [grown(known(2000), GOES_ON), unlimited(GOES_ON)] {
        let too_many = refused(endless);
        assert!(too_many.contains(expected) && too_many.contains("more than 1024 iterations"), "{too_many}");
    }
    let ended = refused(grown(known(3), BELOW));
    assert!(ended.contains(expected), "{ended}");
    let computed = counted(Graph::default().input("x", &[2]));
    let said = refused(grown(computed, GOES_ON));
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_loop_is_written_down_in_1024_turns_at_most() {
    let grown = |count: i64| {
        let count = raw_tensor("n", INT64, &[], &count.to_le_bytes());
        grown_by(Graph::default().input("x", &[1]).weight(count), ["n", ""], GOES_ON)
    };
    check(13, grown(1024), &[1025], &[1.0; 1025]);
    let said = faults(&model(13, grown(1025))).join(" ");
    assert!(said.contains("a loop of more than 1024 iterations"), "{said}");
}

#[test]
fn a_name_in_a_graph_hides_one_outside() {
    let inputs = [value_info("i", INT64, &[]), value_info("p", 9, &[]), value_info("x", FLOAT, &[3])];
    let inner = Graph { inputs: inputs.to_vec(), ..Graph::default() };
    let inner = inner.node("Neg", &["x"], &["g"], &[]).node("Identity", &["p"], &["o"], &[]);
    let inner = graph("body", inner.output("o").output("g"));
    let whole = Graph::default().input("x", &[3]).weight(raw_tensor("n", INT64, &[], &3i64.to_le_bytes()));
    let whole = whole.node("Loop", &["n", "", "x"], &["h"], &[inner]);
    let whole = whole.node("Sub", &["x", "h"], &["y"], &[]).output("y");
    check(13, whole, &[3], &[2.0, 4.0, 6.0]);
}

#[test]
fn after_a_graph_names_stand_for_what_they_did_before_it() {
    // Outside, `k` is a value, `v` and `w` are weights, of which `v` is read, and `q` is a sequence.
    let outside = || {
        let whole = Graph::default().input("x", &[2]).weight(number("v", 100.0)).weight(number("w", 1000.0));
        let whole = whole.weight(raw_tensor("t", 9, &[], &[1])).weight(number("limit", 0.0));
        let whole = whole.weight(raw_tensor("n", INT64, &[], &2i64.to_le_bytes()));
        let whole = whole.weight(raw_tensor("at", INT64, &[], &0i64.to_le_bytes()));
        let whole = whole.node("Mul", &["x", "v"], &["k"], &[]);
        let whole = whole.node("SequenceConstruct", &["x", "k"], &["q"], &[]);
        let whole = whole.node("ReduceSum", &["x"], &["s"], &[int("keepdims", 0)]);
        whole.node("Greater", &["s", "limit"], &["c"], &[])
    };
    let after = |whole: Graph| {
        let whole = whole.node("Add", &["b", "k"], &["s0"], &[]).node("Add", &["s0", "v"], &["s1"], &[]);
        let whole = whole.node("Add", &["s1", "w"], &["s2"], &[]);
        let whole = whole.node("SequenceAt", &["q", "at"], &["e"], &[]);
        whole.node("Add", &["s2", "e"], &["y"], &[]).output("y")
    };
    let inner = |inner: Graph| {
        let inner = inner.weight(number("v", 1.0)).weight(number("w", 2.0));
        let inner = inner.node("Add", &["x", "v"], &["k"], &[]);
        inner.node("Mul", &["k", "w"], &["q"], &[])
    };
    let branch = |name| graph(name, inner(Graph::default()).output("q"));
    let branches = [branch("then_branch"), branch("else_branch")];
    // (x + 1) 2, and of what stands outside 100 x, 100, 1000, and x.
    for condition in ["t", "c"] {
        check(13, after(outside().node("If", &[condition], &["b"], &branches)), &[2], &[1205.0, 1308.0]);
    }
    // A turn makes 2 (x + 1) of its state `x`.
    let inputs = [value_info("i", INT64, &[]), value_info("p", 9, &[]), value_info("x", FLOAT, &[2])];
    let body = inner(Graph { inputs: inputs.to_vec(), ..Graph::default() });
    let body = graph("body", body.node("Identity", &["p"], &["o"], &[]).output("o").output("q"));
    for condition in ["", "c"] {
        let whole = outside().node("Loop", &["n", condition, "x"], &["b"], std::slice::from_ref(&body));
        check(13, after(whole), &[2], &[1211.0, 1316.0]);
    }
}

#[test]
fn inputs_of_a_scan_are_equally_long() {
    let inner = Graph::default().input("e", &[2]).input("f", &[2]);
    let inner = graph("body", inner.node("Add", &["e", "f"], &["d"], &[]).output("d"));
    let scan = |rows: [i64; 2]| {
        let whole = Graph::default().input("v", &[rows[0], 2]).input("w", &[rows[1], 2]);
        whole.node("Scan", &["v", "w"], &["y"], &[inner.clone(), int("num_scan_inputs", 2)]).output("y")
    };
    let other = faults(&model(13, scan([3, 4])));
    assert!(other[0].contains("inputs of different lengths"), "{other:?}");
    let text = text(13, scan([-1, -1]));
    assert!(text.contains("optc.dims = {w_0 = #optc.dims<v_0>}"), "{text}");
}

#[test]
fn a_scan_of_many_slices_is_a_loop() {
    let inner = Graph::default().input("h", &[2]).input("e", &[2]);
    let inner = inner.node("Add", &["h", "e"], &["g"], &[]).node("Neg", &["g"], &["d"], &[]);
    let inner = graph("body", inner.output("g").output("d"));
    let scanned = |count: i64, backward: i64| {
        let ways = |name| ints(name, &[backward]);
        let attributes = [
            inner.clone(),
            int("num_scan_inputs", 1),
            ways("scan_input_directions"),
            ways("scan_output_directions"),
        ];
        let whole = Graph::default().input("h0", &[2]).input("x", &[count, 2]);
        whole.node("Scan", &["h0", "x"], &["y", "z"], &attributes).output("z")
    };
    // Rows are (1, 2), (3, 4), ...; the sums of k rows are k^2 and k^2 + k, after (1, 2) that was there.
    let sums = |k: f32| [-(k * k + 1.0), -(k * k + k + 2.0)];
    let (shape, elements) = compute(13, scanned(100, 0));
    assert_eq!((shape, &elements[198..]), (vec![100, 2], &sums(100.0)[..]));
    let (_, elements) = compute(13, scanned(100, 1));
    assert_eq!((&elements[..2], &elements[198..]), (&sums(100.0)[..], &[-200.0, -202.0][..]));
    assert!(text(13, scanned(100, 0)).contains("scf.for"));
    assert!(!text(13, scanned(9, 0)).contains("scf.for"));
}

/// An RNN whose cell is the sum of input and state, of sequences `x` of two batches of one number.
fn sums(steps: i64, direction: &str, lengths: Option<[i64; 2]>) -> Graph {
    let directions = if direction == "bidirectional" { 2 } else { 1 };
    let one = |name| floats_tensor(name, &[directions, 1, 1], &vec![1.0; directions as usize]);
    let affine = Message::default().bytes(1, "activations").int(20, 8);
    let affine = (0..directions).fold(affine, |attribute, _| attribute.bytes(9, "Affine"));
    let attributes = [affine, string("direction", direction), int("hidden_size", 1)];
    let mut whole = Graph::default().input("x", &[steps, 2, 1]).weight(one("w")).weight(one("r"));
    let mut inputs = vec!["x", "w", "r"];
    if let Some(lengths) = lengths {
        let lengths = lengths.map(|length| (length as i32).to_le_bytes()).concat();
        whole = whole.weight(raw_tensor("l", 6, &[2], &lengths));
        inputs.extend(["", "l"]);
    }
    whole.node("RNN", &inputs, &["y", "z"], &attributes)
}

#[test]
fn a_recurrent_operator_of_many_steps_is_a_loop() {
    // Batch 0 has 1, 3, 5, ...: the sum of k is k^2. Batch 1 has 2, 4, 6, ...: k^2 + k.
    let sum = |k: f32| [k * k, k * k + k];
    let (shape, elements) = compute(14, sums(100, "forward", None).output("y"));
    assert_eq!((shape, &elements[..4]), (vec![100, 1, 2, 1], &[1.0, 2.0, 4.0, 6.0][..]));
    assert_eq!(elements[198..], sum(100.0));
    check(14, sums(100, "forward", None).output("z"), &[1, 2, 1], &sum(100.0));
    let (_, elements) = compute(14, sums(100, "reverse", None).output("y"));
    assert_eq!((&elements[..2], &elements[198..]), (&sum(100.0)[..], &[199.0, 200.0][..]));
    let (shape, elements) = compute(14, sums(100, "bidirectional", None).output("y"));
    assert_eq!(shape, [100, 2, 2, 1]);
    assert_eq!(elements[..4], [[1.0, 2.0], sum(100.0)].concat());
    assert_eq!(elements[396..], [sum(100.0), [199.0, 200.0]].concat());
    // Of sequences that end before, the rest is zero, and the last state that at their end.
    let (_, elements) = compute(14, sums(100, "forward", Some([100, 3])).output("y"));
    assert_eq!((elements[5], elements[7], elements[198]), (12.0, 0.0, 10000.0));
    check(14, sums(100, "forward", Some([100, 3])).output("z"), &[1, 2, 1], &[10000.0, 12.0]);
    check(14, sums(100, "reverse", Some([2, 100])).output("z"), &[1, 2, 1], &[4.0, 10100.0]);
    let many = text(14, sums(100, "forward", None).output("y"));
    let more = text(14, sums(4000, "forward", None).output("y"));
    assert_eq!(many.lines().count(), more.lines().count());
    assert!(many.contains("scf.for"), "{many}");
    assert!(!text(14, sums(9, "forward", None).output("y")).contains("scf.for"));
}

#[test]
fn a_loop_that_can_be_written_in_neither_way_is_refused_with_both_reasons() {
    let said = |count: i64, condition| {
        let count = raw_tensor("n", INT64, &[], &count.to_le_bytes());
        let graph = Graph::default().input("x", &[2]).weight(count);
        faults(&model(13, grown_by(graph, ["n", ""], condition))).join(" ")
    };
    let rolled = "as a loop: a state of type `tensor<2xf32>` that an iteration changes to `tensor<3xf32>`";
    // Few turns are written down at first, and many are a loop at first.
    let few = said(3, BELOW);
    let reasons = format!("{rolled}; unrolled: input 0 is computed, expected a constant");
    assert!(few.contains(&reasons), "{few}");
    let many = said(2000, GOES_ON);
    let reasons = format!("{rolled}; unrolled: a loop of more than 1024 iterations");
    assert!(many.contains(&reasons), "{many}");
}

#[test]
fn graphs_of_more_nodes_than_are_written_down_are_refused_at_once() {
    let node = |inner: Graph, index: usize| inner.node("Relu", &["x"], &[&format!("t{index}")], &[]);
    let inner = (0..1 << 17).fold(Graph::default(), node).output("t0");
    let other = Graph::default().node("Neg", &["x"], &["e"], &[]).output("e");
    let branches = [graph("then_branch", inner), graph("else_branch", other)];
    let whole = Graph::default().input("x", &[2]).weight(raw_tensor("c", 9, &[], &[1]));
    let said = faults(&model(13, whole.node("If", &["c"], &["y"], &branches).output("y"))).join(" ");
    assert!(said.contains("loops of more than 131072 nodes over all iterations"), "{said}");
}
