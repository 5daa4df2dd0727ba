//! That graphs in nodes are given what the standard says, may stand in one another, and name what there is.

use crate::fixture::refuses;
use crate::values::{check, compute};
use crate::writer::{FLOAT, Graph, INT64, Message, floats_tensor, graph, int, ints, raw_tensor, value_info};

fn number(name: &str, number: i64) -> Message {
    raw_tensor(name, INT64, &[], &number.to_le_bytes())
}

/// The inputs of a loop's graph: a number, a truth value, and a state of one float.
fn body_of(number: &str, truth: &str, state: &str) -> Graph {
    let inputs =
        vec![value_info(number, INT64, &[]), value_info(truth, 9, &[]), value_info(state, FLOAT, &[1])];
    Graph { inputs, ..Graph::default() }
}

#[test]
fn a_turn_is_given_its_number_and_that_the_condition_holds() {
    let body = body_of("i", "p", "h").node("Cast", &["i"], &["number"], &[int("to", 1)]);
    let body = body.node("Cast", &["p"], &["truth"], &[int("to", 1)]).node("Identity", &["p"], &["o"], &[]);
    let body = body.node("Add", &["h", "number"], &["s"], &[]).node("Add", &["s", "truth"], &["g"], &[]);
    let body = graph("body", body.output("o").output("g").output("number"));
    for (turns, condition) in [1i64, 3, 63, 64, 100].into_iter().flat_map(|turns| [(turns, ""), (turns, "t")])
    {
        let whole = Graph::default().input("x", &[1]).weight(number("n", turns));
        let whole = whole.weight(raw_tensor("t", 9, &[], &[1]));
        let whole = whole.node("Loop", &["n", condition, "x"], &["y", "z"], std::slice::from_ref(&body));
        // 1 at first, then the sum of all numbers below `turns`, and 1 for each turn.
        let last = 1 + turns * (turns - 1) / 2 + turns;
        check(13, whole.clone().output("y"), &[1], &[last as f32]);
        let numbers: Vec<f32> = (0..turns).map(|turn| turn as f32).collect();
        check(13, whole.output("z"), &[turns.unsigned_abs()], &numbers);
    }
}

#[test]
fn loops_stand_in_loops_and_hide_the_names_around_them() {
    // The inner loop adds the number of the outer turn three times.
    let inner = body_of("j", "q", "h").node("Add", &["h", "number"], &["g"], &[]);
    let inner = inner.node("Identity", &["q"], &["o"], &[]).output("o").output("g");
    let outer = body_of("i", "p", "h").node("Cast", &["i"], &["number"], &[int("to", 1)]);
    let outer = outer.node("Loop", &["three", "", "h"], &["m"], &[graph("body", inner)]);
    let outer = outer.node("Add", &["m", "h"], &["g"], &[]).node("Sub", &["g", "h"], &["k"], &[]);
    let outer = outer.node("Identity", &["p"], &["o"], &[]).output("o").output("k");
    let outer = graph("body", outer);
    for turns in [2i64, 5, 70] {
        let whole = Graph::default().input("x", &[1]).weight(number("n", turns)).weight(number("three", 3));
        let whole = whole.node("Loop", &["n", "", "x"], &["y"], std::slice::from_ref(&outer));
        let sum = 3 * turns * (turns - 1) / 2;
        check(13, whole.output("y"), &[1], &[(1 + sum) as f32]);
    }
}

#[test]
fn a_scan_of_nothing_shows_nothing_and_leaves_its_state() {
    let inner = Graph::default().input("h", &[2]).input("e", &[2]);
    let inner = inner.node("Add", &["h", "e"], &["g"], &[]).node("Neg", &["e"], &["d"], &[]);
    let inner = graph("body", inner.output("g").output("d"));
    let whole = Graph::default().input("h0", &[2]).input("x", &[0, 2]);
    let whole = whole.node("Scan", &["h0", "x"], &["y", "z"], &[inner, int("num_scan_inputs", 1)]);
    check(13, whole.clone().output("y"), &[2], &[1.0, 2.0]);
    check(13, whole.output("z"), &[0, 2], &[]);
}

/// A recurrence over columns of `x`, from the last one on where `backward` is 1: the sum of what was.
fn scanned(steps: i64, backward: i64, result: &str) -> (Vec<u64>, Vec<f32>) {
    let inner = Graph::default().input("h", &[2]).input("e", &[2]).input("f", &[2]);
    let inner = inner.node("Add", &["h", "e"], &["s"], &[]).node("Sub", &["s", "f"], &["g"], &[]);
    let inner = graph("body", inner.output("g").output("s"));
    let attributes = [
        inner,
        int("num_scan_inputs", 2),
        ints("scan_input_axes", &[1, 0]),
        ints("scan_input_directions", &[backward, 0]),
        ints("scan_output_axes", &[1]),
        ints("scan_output_directions", &[backward]),
    ];
    let whole = Graph::default().input("h0", &[2]).input("x", &[2, steps]).input("w", &[steps, 2]);
    let whole = whole.node("Scan", &["h0", "x", "w"], &["y", "z"], &attributes);
    compute(13, whole.output(result))
}

#[test]
fn each_input_of_a_scan_has_an_axis_and_a_direction_of_its_own() {
    for (steps, backward) in [3usize, 63, 64].into_iter().flat_map(|steps| [(steps, 0), (steps, 1)]) {
        let mut state = [1.0f32, 2.0];
        let mut shown = vec![0.0; 2 * steps];
        for turn in 0..steps {
            let column = if backward == 0 { turn } else { steps - 1 - turn };
            for (row, state) in state.iter_mut().enumerate() {
                let sum = *state + (row * steps + column + 1) as f32;
                shown[row * steps + column] = sum;
                *state = sum - (2 * turn + row + 1) as f32;
            }
        }
        let size = steps as i64;
        assert_eq!(scanned(size, backward, "y"), (vec![2], state.to_vec()));
        assert_eq!(scanned(size, backward, "z"), (vec![2, steps as u64], shown));
    }
}

#[test]
fn graphs_that_name_what_there_is_not_are_refused() {
    let none = Graph::default;
    let faults = [
        (none().node("Neg", &["q"], &["t"], &[]).output("t"), "`q` is not defined"),
        (none().node("Add", &["x", "t"], &["t"], &[]).output("t"), "`t` is not defined"),
        (none().node("Neg", &["x"], &["t"], &[]).output("u"), "a graph's output that is not defined"),
        (none().node("Foo", &["x"], &["t"], &[]).output("t"), "operator `Foo` is not supported"),
        (
            none().input("i", &[2]).node("Neg", &["i"], &["t"], &[]).output("t"),
            "a graph of 1 inputs, expected 0",
        ),
    ];
    for (condition, (inner, reason)) in
        ["known", "computed"].into_iter().flat_map(|name| faults.clone().map(|fault| (name, fault)))
    {
        let right = none().node("Abs", &["x"], &["e"], &[]).output("e");
        let branches = [graph("then_branch", inner), graph("else_branch", right)];
        let whole = Graph::default().input("x", &[2]).weight(raw_tensor("known", 9, &[], &[1]));
        let whole = whole.weight(floats_tensor("limit", &[], &[0.0]));
        let whole = whole.node("ReduceSum", &["x"], &["s"], &[int("keepdims", 0)]);
        let whole = whole.node("Greater", &["s", "limit"], &["computed"], &[]);
        refuses(13, whole.node("If", &[condition], &["y"], &branches).output("y"), reason);
    }
}

#[test]
fn a_graph_has_weights_and_constants_of_its_own() {
    let branch = |name: &str, number: f32| {
        let inner = Graph::default().weight(floats_tensor("w", &[2], &[number, 2.0 * number]));
        let inner = inner.node("Mul", &["x", "w"], &["t"], &[]).node("Add", &["t", "v"], &["u"], &[]);
        graph(name, inner.output("u"))
    };
    let branches = [branch("then_branch", 10.0), branch("else_branch", 100.0)];
    for (condition, limit) in [("s", 2.5), ("s", 3.5), ("known", 0.0)] {
        let whole = Graph::default().input("x", &[2]).weight(raw_tensor("known", 9, &[], &[0]));
        let whole = whole.weight(floats_tensor("w", &[2], &[0.5, 0.25]));
        let whole =
            whole.weight(floats_tensor("limit", &[], &[limit])).weight(floats_tensor("v", &[1], &[1.0]));
        let whole = whole.node("ReduceSum", &["x"], &["r"], &[int("keepdims", 0)]);
        let whole = whole.node("Greater", &["r", "limit"], &["s"], &[]);
        let whole = whole.node("If", &[condition], &["b"], &branches).node("Mul", &["b", "w"], &["y"], &[]);
        let number = if condition == "s" && limit < 3.0 { 10.0 } else { 100.0 };
        let expected = [(number + 1.0) * 0.5, (4.0 * number + 1.0) * 0.25];
        check(13, whole.output("y"), &[2], &expected);
    }
}

#[test]
fn what_an_if_makes_may_be_what_it_reads() {
    let branch = |name: &str, output: &str| graph(name, Graph::default().output(output));
    let branches = [branch("then_branch", "x"), branch("else_branch", "w")];
    for (limit, expected) in [(2.5, [1.0, 2.0]), (3.5, [5.0, 6.0])] {
        let whole = Graph::default().input("x", &[2]).weight(floats_tensor("w", &[2], &[5.0, 6.0]));
        let whole = whole.weight(floats_tensor("limit", &[], &[limit]));
        let whole = whole.node("ReduceSum", &["x"], &["s"], &[int("keepdims", 0)]);
        let whole = whole.node("Greater", &["s", "limit"], &["c"], &[]);
        check(13, whole.node("If", &["c"], &["y"], &branches).output("y"), &[2], &expected);
    }
}

#[test]
fn what_data_decide_the_size_of_is_not_made_where_data_decide_whether() {
    let branch = |name: &str| {
        let inner = Graph::default().node("NonZero", &["x"], &["t"], &[]);
        graph(name, inner.output("t"))
    };
    let whole = |condition: &str| {
        let whole = Graph::default().input("x", &[2]).weight(raw_tensor("known", 9, &[], &[1]));
        let whole = whole.weight(floats_tensor("limit", &[], &[0.0]));
        let whole = whole.node("ReduceSum", &["x"], &["s"], &[int("keepdims", 0)]);
        let whole = whole.node("Greater", &["s", "limit"], &["computed"], &[]);
        let whole = whole.node("If", &[condition], &["b"], &[branch("then_branch"), branch("else_branch")]);
        whole.node("Cast", &["b"], &["y"], &[int("to", 1)]).output("y")
    };
    check(13, whole("known"), &[1, 2], &[0.0, 1.0]);
    let said = "a size that depends on data, of a value made in a graph that may not run";
    refuses(13, whole("computed"), said);
}

/// A Scan of version 8 of these operands, whose body adds the slice `e` to its state `h`.
fn batched(body: Graph, states: &[i64], scanned: &[&[i64]]) -> Graph {
    let names = ["x0", "x1"];
    let attributes = [graph("body", body), int("num_scan_inputs", scanned.len() as i64)];
    let whole = Graph::default().input("h0", states);
    let whole = names.iter().zip(scanned).fold(whole, |whole, (name, shape)| whole.input(name, shape));
    let inputs = [&["", "h0"], &names[..scanned.len()]].concat();
    whole.node("Scan", &inputs, &["y", "z"], &attributes)
}

#[test]
fn each_element_of_a_batch_is_scanned_by_itself() {
    let body = || {
        let body = Graph::default().input("h", &[1]).input("e", &[1]).node("Add", &["h", "e"], &["g"], &[]);
        body.node("Neg", &["g"], &["k"], &[]).output("g").output("k")
    };
    // States are 1 and 2; the sums add 1, 2, 3, and 4, 5, 6.
    let whole = batched(body(), &[2, 1], &[&[2, 3, 1]]);
    check(8, whole.clone().output("y"), &[2, 1], &[7.0, 17.0]);
    check(8, whole.output("z"), &[2, 3, 1], &[-2.0, -4.0, -7.0, -6.0, -11.0, -17.0]);
    let batches = "inputs of different batches, or a body with fewer outputs than states";
    refuses(8, batched(body(), &[2, 1], &[&[3, 3, 1]]).output("z"), batches);
    let silent = || Graph::default().input("h", &[1]).input("e", &[1]);
    refuses(8, batched(silent(), &[2, 1], &[&[2, 3, 1]]).output("y"), batches);
    let two = || body().input("f", &[1]);
    refuses(8, batched(two(), &[2, 1], &[&[2, 3, 1], &[2, 2, 1]]).output("z"), "inputs of different lengths");
    let open = batched(body(), &[2, 1], &[&[2, -1, 1]]).output("z");
    refuses(8, open, "a number of iterations that is not known");
}

#[test]
fn a_scan_of_a_batch_may_have_states_alone() {
    let body = Graph::default().input("h", &[1]).input("e", &[1]).node("Add", &["h", "e"], &["g"], &[]);
    let attributes = [graph("body", body.output("g")), int("num_scan_inputs", 1)];
    let whole = Graph::default().input("h0", &[2, 1]).input("x0", &[2, 3, 1]);
    let whole = whole.node("Scan", &["", "h0", "x0"], &["y"], &attributes).output("y");
    check(8, whole, &[2, 1], &[7.0, 17.0]);
}

#[test]
fn a_batch_has_1024_elements_at_most() {
    let body = || Graph::default().input("e", &[1]).node("Neg", &["e"], &["d"], &[]).output("d");
    let whole = |count: i64| {
        let attributes = [graph("body", body()), int("num_scan_inputs", 1)];
        let whole = Graph::default().input("x", &[count, 1, 1]);
        whole.node("Scan", &["", "x"], &["y"], &attributes).output("y")
    };
    let below: Vec<f32> = (1..=1024).map(|x| -(x as f32)).collect();
    check(8, whole(1024), &[1024, 1, 1], &below);
    refuses(8, whole(1025), "a loop of more than 1024 iterations");
}

#[test]
fn a_scan_makes_all_of_its_states() {
    let body = Graph::default().input("a", &[2]).input("b", &[2]).input("e", &[2]);
    let body = graph("body", body.node("Add", &["a", "e"], &["g"], &[]).output("g"));
    for steps in [3, 100] {
        let whole = Graph::default().input("p", &[2]).input("q", &[2]).input("x", &[steps, 2]);
        let attributes = [body.clone(), int("num_scan_inputs", 1)];
        let whole = whole.node("Scan", &["p", "q", "x"], &["y", "z"], &attributes).output("y");
        refuses(13, whole, "a body with fewer outputs than states");
    }
}
