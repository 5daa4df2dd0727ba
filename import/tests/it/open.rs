//! That results whose size depends on data are as large as they can be, and read only by what makes of each slice one slice.

use import::onnx::StrippedWeights;

use crate::fixture::{faults, import_bytes};
use crate::values::check;
use crate::writer::{Graph, Message, int, ints, ints_tensor, model};

/// Where `x` of 2 x 3 numbers from 1 on is not 2.
fn found() -> Graph {
    let two = ints_tensor("two", &[2]);
    let graph = Graph::default().input("x", &[2, 3]).weight(two);
    let graph = graph.node("Cast", &["two"], &["t"], &[int("to", 1)]).node("Sub", &["x", "t"], &["d"], &[]);
    graph.node("NonZero", &["d"], &["i"], &[])
}

fn as_floats(graph: Graph, name: &str) -> Graph {
    graph.node("Cast", &[name], &["y"], &[int("to", 1)]).output("y")
}

#[test]
fn places_stand_first_and_zeros_behind_them() {
    let (rows, columns) = ([0.0, 0.0, 1.0, 1.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0, 2.0, 0.0]);
    check(13, as_floats(found(), "i"), &[2, 6], &[rows, columns].concat());
    let turned: Vec<f32> = rows.iter().zip(&columns).flat_map(|(row, column)| [*row, *column]).collect();
    let graph = found().node("Transpose", &["i"], &["t_i"], &[ints("perm", &[1, 0])]);
    check(13, as_floats(graph, "t_i"), &[6, 2], &turned);
}

#[test]
fn slices_are_picked_along_an_axis_or_of_all_elements() {
    let graph = |attributes: &[Message], condition: &[i64]| {
        let graph = Graph::default().input("x", &[2, 3]).weight(ints_tensor("c", condition));
        let graph = graph.node("Cast", &["c"], &["b"], &[int("to", 9)]);
        graph.node("Compress", &["x", "b"], &["y"], attributes).output("y")
    };
    check(11, graph(&[int("axis", 1)], &[1, 0, 1]), &[2, 3], &[1.0, 3.0, 0.0, 4.0, 6.0, 0.0]);
    check(11, graph(&[int("axis", -2)], &[0, 1]), &[2, 3], &[4.0, 5.0, 6.0, 0.0, 0.0, 0.0]);
    check(11, graph(&[int("axis", 1)], &[0, 1]), &[2, 2], &[2.0, 0.0, 5.0, 0.0]);
    check(9, graph(&[], &[0, 1, 0, 0, 1]), &[5], &[2.0, 5.0, 0.0, 0.0, 0.0]);
}

#[test]
fn an_output_says_which_of_its_axes_is_open_and_where_its_size_is() {
    let graph = found().node("Transpose", &["i"], &["y"], &[ints("perm", &[1, 0])]).output("y");
    let module = import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]).unwrap();
    let text = ir::text::print(&module);
    let results = "-> (tensor<6x2xi64> {optc.name = \"y\", optc.open = array<i64: 0, 1>}, \
                   tensor<i64> {optc.count, optc.name = \"y.size0\"})";
    assert!(text.contains(results), "{text}");
}

#[track_caller]
fn check_refused(graph: Graph) {
    let faults = faults(&model(13, graph.output("y")));
    assert!(faults[0].contains("an input's size depends on data"), "{faults:?}");
}

#[test]
fn what_would_take_zeros_for_elements_is_refused() {
    check_refused(found().node("ReduceMax", &["i"], &["y"], &[ints("axes", &[1])]));
    check_refused(found().node("Shape", &["i"], &["y"], &[]));
    let flat = found().weight(ints_tensor("flat", &[-1]));
    check_refused(flat.node("Reshape", &["i", "flat"], &["y"], &[]));
    let others = found().weight(ints_tensor("six", &[1, 2, 3, 4, 5, 6]));
    check_refused(others.node("Add", &["i", "six"], &["y"], &[]));
    let half = found().weight(ints_tensor("from", &[0])).weight(ints_tensor("to", &[3]));
    let half = half.weight(ints_tensor("axis", &[1]));
    check_refused(half.node("Slice", &["i", "from", "to", "axis"], &["y"], &[]));
    check_refused(found().node("Concat", &["i", "i"], &["y"], &[int("axis", 1)]));
}
