//! That results whose size depends on data are as large as they can be, and read only by what knows which are
//! elements.
//!
//! What such readers compute is held against onnxruntime by `tests/tests/it/open.rs`; here is what is
//! refused, and why.

use import::onnx::StrippedWeights;
use ir::interp::{Tensor, run};

use crate::fixture::{faults, import_bytes, refuses};
use crate::values::{check, compute};
use crate::writer::{
    Graph, INT64, Message, float, floats_tensor, int, ints, ints_tensor, model, raw_tensor, string,
    value_info,
};

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
fn places_stand_first_and_zeros_after_them() {
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
fn slices_of_what_is_open_count_from_the_end_of_its_elements() {
    let graph = |start: i64, end: i64, step: i64| {
        let graph = Graph::default().input("x", &[5]).weight(ints_tensor("c", &[1, 0, 1, 1, 0]));
        let graph = graph.node("Cast", &["c"], &["b"], &[int("to", 9)]);
        let graph = graph.node("Compress", &["x", "b"], &["some"], &[int("axis", 0)]);
        let bounds = [("s", start), ("e", end), ("a", 0), ("t", step)];
        let graph =
            bounds.iter().fold(graph, |graph, (name, number)| graph.weight(ints_tensor(name, &[*number])));
        graph.node("Slice", &["some", "s", "e", "a", "t"], &["y"], &[]).output("y")
    };
    let check = |[start, end, step]: [i64; 3], elements: &[f32]| {
        let (_, found) = compute(13, graph(start, end, step));
        assert!(found.starts_with(elements), "[{start}:{end}:{step}]: {found:?}");
    };
    // The elements are 1, 3 and 4.
    check([1, i64::MAX, 1], &[3.0, 4.0]);
    check([-2, i64::MAX, 1], &[3.0, 4.0]);
    check([-9, -1, 1], &[1.0, 3.0]);
    check([-3, i64::MAX, 2], &[1.0, 4.0]);
    check([0, -1, 1], &[1.0, 3.0]);
    check([1, -1, 1], &[3.0]);
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

#[test]
fn a_fold_moves_an_open_axis_down_by_the_axes_before_it_that_are_gone() {
    let folds = [
        ("ReduceMax", ints("axes", &[0]), 1, "1x2x6", 2),
        ("ReduceMax", ints("axes", &[0]), 0, "2x6", 1),
        ("ReduceMax", ints("axes", &[0, 1]), 0, "6", 0),
        ("ArgMax", int("axis", 1), 1, "1x1x6", 2),
        ("ArgMax", int("axis", 1), 0, "1x6", 1),
    ];
    for (op, axes, keeps, shape, axis) in folds {
        let graph = found().weight(ints_tensor("front", &[0]));
        let graph = graph.node("Unsqueeze", &["i", "front"], &["u"], &[]);
        let graph = graph.node(op, &["u"], &["y"], &[axes, int("keepdims", keeps)]).output("y");
        let module = import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]).unwrap();
        let text = ir::text::print(&module);
        let result = format!("tensor<{shape}xi64> {{optc.name = \"y\", optc.open = array<i64: {axis}, 1>}}");
        assert!(text.contains(&result), "no {result} in:\n{text}");
    }
}

#[test]
fn what_is_computed_of_zeros_after_elements_need_not_be_zeros() {
    // The places 1 and 2, compared with 0. The elements after them are 0, so the comparison is true there,
    // which as an index is 1: outside of a single row.
    let flags = floats_tensor("flags", &[4], &[0.0, 1.0, 1.0, 0.0]);
    let graph = Graph::default().weight(flags).weight(floats_tensor("row", &[1], &[7.0]));
    let graph = graph.node("NonZero", &["flags"], &["i"], &[]);
    let graph = graph.node("Cast", &["i"], &["b"], &[int("to", 9)]).node("Not", &["b"], &["n"], &[]);
    let graph = graph.node("Cast", &["n"], &["k"], &[int("to", 7)]);
    let graph = graph.node("Gather", &["row", "k"], &["y"], &[]).output("y");
    let (shape, found) = compute(13, graph);
    assert_eq!((&shape[..], &found[..2]), (&[1, 4][..], &[7.0, 7.0][..]));
}

#[test]
fn products_from_the_last_element_on_begin_at_the_last_of_an_open_axis() {
    let graph = found().weight(ints_tensor("axis", &[1])).weight(ints_tensor("one", &[1]));
    let graph = graph.node("Add", &["i", "one"], &["k"], &[]).node("Cast", &["k"], &["f"], &[int("to", 1)]);
    let graph = graph.node("CumProd", &["f", "axis"], &["y"], &[int("reverse", 1)]).output("y");
    let (shape, found) = compute(26, graph);
    // Rows 1 1 2 2 2 and columns 1 3 1 2 3.
    assert_eq!(
        (&shape[..], &found[..5], &found[6..11]),
        (&[2, 6][..], &[8.0, 8.0, 8.0, 4.0, 2.0][..], &[18.0, 18.0, 6.0, 6.0, 3.0][..])
    );
}

#[test]
fn channels_whose_number_depends_on_data_have_no_factors() {
    let names = ["f", "scale", "bias", "mean", "variance"];
    let normalized = |from: &str, channels: usize| {
        let graph = places().node("Transpose", &["f"], &["rows"], &[ints("perm", &[1, 0])]);
        let graph = names[1..].iter().fold(graph, |graph, name| {
            graph.weight(floats_tensor(name, &[channels as i64], &vec![1.0; channels]))
        });
        let operands = [&[from], &names[1..]].concat();
        graph.node("BatchNormalization", &operands, &["y"], &[float("epsilon", 0.0)])
    };
    let turned = [[0.0, 0.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]].concat();
    let (shape, found) = compute(15, normalized("rows", 2).output("y"));
    assert_eq!((&shape[..], &found[..10]), (&[6, 2][..], &turned[..]));
    check_refused(normalized("f", 6), WOULD_TAKE);
}

/// The sizes of one place in another order: those of a slice are 1, so any of them may be the open one.
#[test]
fn a_new_shape_may_keep_a_size_where_another_becomes_the_open_one() {
    let one_of_three = floats_tensor("flags", &[3], &[0.0, 5.0, 0.0]);
    let graph = Graph::default().weight(one_of_three).node("NonZero", &["flags"], &["i"], &[]);
    let graph = graph.node("Transpose", &["i"], &["rows"], &[]).node("Shape", &["rows"], &["s"], &[]);
    let graph = graph.weight(ints_tensor("first", &[0])).node("Gather", &["s", "first"], &["n"], &[]);
    let graph = graph.node("Concat", &["first", "n"], &["to"], &[int("axis", 0)]);
    let graph = graph.node("Reshape", &["rows", "to"], &["line"], &[]);
    check(13, as_floats(graph, "line"), &[1, 3], &[1.0, 0.0, 0.0]);
}

#[test]
fn parts_have_zeros_after_their_elements_if_each_of_them_has() {
    // The places 1 and 2, after which are zeros; and zeros, after which are fives: outside of a row of three.
    let flags = floats_tensor("flags", &[4], &[0.0, 1.0, 1.0, 0.0]);
    let graph = Graph::default().weight(flags).weight(floats_tensor("row", &[3], &[7.0, 8.0, 9.0]));
    let graph = graph.node("NonZero", &["flags"], &["i"], &[]).weight(ints_tensor("five", &[5]));
    let graph = graph.node("Cast", &["i"], &["b"], &[int("to", 9)]).node("Not", &["b"], &["n"], &[]);
    let graph = graph.node("Cast", &["n"], &["c"], &[int("to", 7)]).node("Mul", &["c", "five"], &["k"], &[]);
    for (parts, [first, second]) in
        [(["i", "k"], [[8.0, 9.0], [7.0, 7.0]]), (["k", "i"], [[7.0, 7.0], [8.0, 9.0]])]
    {
        let both = graph.clone().node("Concat", &parts, &["both"], &[int("axis", 0)]);
        let (shape, found) = compute(13, both.node("Gather", &["row", "both"], &["y"], &[]).output("y"));
        assert_eq!((&shape[..], &found[..2], &found[4..6]), (&[2, 4][..], &first[..], &second[..]));
    }
}

/// The text of a module, of the only model of a graph.
fn text(graph: Graph) -> String {
    let module = import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]);
    ir::text::print(&module.unwrap_or_else(|faults| panic!("{faults:?}")))
}

#[test]
fn each_open_output_has_a_size_of_its_own_after_all_outputs() {
    let graph = found().node("NonZero", &["x"], &["o"], &[]).output("i").output("x").output("o");
    let module = import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]).unwrap();
    let text = ir::text::print(&module);
    let results = "(tensor<2x6xi64> {optc.name = \"i\", optc.open = array<i64: 1, 3>}, \
                   tensor<2x3xf32> {optc.name = \"x\"}, \
                   tensor<2x6xi64> {optc.name = \"o\", optc.open = array<i64: 1, 4>}, \
                   tensor<i64> {optc.count, optc.name = \"i.size1\"}, \
                   tensor<i64> {optc.count, optc.name = \"o.size1\"})";
    assert!(text.contains(results), "{text}");
    let x = Tensor::from_f32(&module.ctx, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let found = run(&module, "main", &[x]).unwrap();
    assert_eq!([&found[3].bytes[..], &found[4].bytes[..]], [5i64, 6].map(i64::to_le_bytes));
}

#[test]
fn the_file_may_say_any_size_of_an_open_axis_and_no_other_than_that_of_others() {
    let declared = |sizes: &[i64]| Graph { outputs: vec![value_info("i", INT64, sizes)], ..found() };
    for sizes in [[2, 5], [2, 6], [2, 0], [2, 70], [-1, -1]] {
        assert!(text(declared(&sizes)).contains("optc.open = array<i64: 1, 1>"));
    }
    refuses(13, declared(&[3, 6]), "`i` is int64 [2, 6], but the file says int64 [3, 6]");
}

/// The places of `found` as floats: `f` of `[2, 6]`.
fn places() -> Graph {
    found().node("Cast", &["i"], &["f"], &[int("to", 1)])
}

#[test]
fn pads_stand_along_other_axes_than_the_open_one() {
    let padded = |pads: &[i64]| {
        let graph = places().weight(ints_tensor("pads", pads));
        graph.node("Pad", &["f", "pads"], &["y"], &[])
    };
    let rows = [[0.0, 0.0, 1.0, 1.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0, 2.0, 0.0], [0.0; 6]].concat();
    check(13, padded(&[0, 0, 1, 0]).output("y"), &[3, 6], &rows);
    check(13, padded(&[-1, 0, 1, 0]).output("y"), &[2, 6], &rows[6..]);
    for along in [[0, 1, 0, 0], [0, 0, 0, 1], [0, -1, 0, 0], [0, 0, 0, -1], [0, 1, 0, -1]] {
        check_refused(padded(&along), WOULD_TAKE);
    }
}

#[test]
fn an_operand_that_has_one_element_for_all_slices_keeps_them_apart() {
    // A number, a column, and a column of each of three matrices: the open axis is the last one of all.
    let operands: [(&[i64], &[f32], &str, i64); 3] = [
        (&[], &[10.0], "2x6", 1),
        (&[2, 1], &[10.0, 100.0], "2x6", 1),
        (&[3, 2, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "3x2x6", 2),
    ];
    for (shape, numbers, result, axis) in operands {
        for sides in [["f", "w"], ["w", "f"]] {
            let graph = places().weight(floats_tensor("w", shape, numbers));
            let text = text(graph.node("Mul", &sides, &["y"], &[]).output("y"));
            let open =
                format!("tensor<{result}xf32> {{optc.name = \"y\", optc.open = array<i64: {axis}, 1>}}");
            assert!(text.contains(&open), "no {open} in:\n{text}");
        }
    }
    for shape in [[1, 6], [2, 6]] {
        let count = shape.iter().product::<i64>() as usize;
        let graph = places().weight(floats_tensor("w", &shape, &vec![1.0; count]));
        check_refused(graph.node("Mul", &["f", "w"], &["y"], &[]), WOULD_TAKE);
    }
}

#[test]
fn a_bias_stands_beside_open_rows_and_not_beside_open_columns() {
    let weight = |name: &str, shape: &[i64]| {
        let count = shape.iter().product::<i64>() as usize;
        floats_tensor(name, shape, &(0..count).map(|x| x as f32).collect::<Vec<_>>())
    };
    let rows = places().weight(weight("w", &[2, 3])).weight(weight("b", &[3]));
    let rows = text(rows.node("Gemm", &["f", "w", "b"], &["y"], &[int("transA", 1)]).output("y"));
    let open = "tensor<6x3xf32> {optc.name = \"y\", optc.open = array<i64: 0, 1>}";
    assert!(rows.contains(open), "no {open} in:\n{rows}");
    let columns = |operands: &[&str], attributes: &[Message]| {
        let graph = places().weight(weight("w", &[3, 2])).weight(weight("b", &[6]));
        graph.node("Gemm", operands, &["y"], attributes)
    };
    let open = "tensor<3x6xf32> {optc.name = \"y\", optc.open = array<i64: 1, 1>}";
    let alone = text(columns(&["w", "f"], &[]).output("y"));
    assert!(alone.contains(open), "no {open} in:\n{alone}");
    check_refused(columns(&["w", "f", "b"], &[]), WOULD_TAKE);
    check_refused(columns(&["w", "f", "b"], &[float("beta", 2.0)]), WOULD_TAKE);
}

#[test]
fn indices_of_two_axes_move_an_open_axis_after_them_by_one() {
    let indices = raw_tensor("k", INT64, &[2, 2], &[1i64, 0, 1, 1].map(i64::to_le_bytes).concat());
    let gathered = |from: Graph, name: &str, axis: i64| {
        let graph = from.weight(indices.clone()).node("Gather", &[name, "k"], &["y"], &[int("axis", axis)]);
        text(graph.output("y"))
    };
    let after = gathered(found(), "i", 0);
    let open = "tensor<2x2x6xi64> {optc.name = \"y\", optc.open = array<i64: 2, 1>}";
    assert!(after.contains(open), "no {open} in:\n{after}");
    let turned = found().node("Transpose", &["i"], &["rows"], &[]);
    let before = gathered(turned, "rows", 1);
    let open = "tensor<6x2x2xi64> {optc.name = \"y\", optc.open = array<i64: 0, 1>}";
    assert!(before.contains(open), "no {open} in:\n{before}");
}

#[track_caller]
fn check_refused(graph: Graph, reason: &str) {
    let faults = faults(&model(13, graph.output("y")));
    assert!(faults[0].contains(reason), "{faults:?}");
}

const WOULD_TAKE: &str = "would take what lies after its elements for more of them";

/// Where `x` is not 0, which another number says than of `found`.
fn others() -> Graph {
    found().node("NonZero", &["x"], &["o"], &[])
}

#[test]
fn other_sizes_are_not_taken_for_the_same() {
    let six = || found().weight(ints_tensor("six", &[1, 2, 3, 4, 5, 6]));
    check_refused(six().node("Add", &["i", "six"], &["y"], &[]), WOULD_TAKE);
    check_refused(six().node("MatMul", &["i", "six"], &["y"], &[]), WOULD_TAKE);
    check_refused(others().node("Add", &["i", "o"], &["y"], &[]), WOULD_TAKE);
    check_refused(others().node("Concat", &["i", "o"], &["y"], &[int("axis", 0)]), WOULD_TAKE);
    let graph = others().node("Transpose", &["o"], &["t_o"], &[]);
    check_refused(graph.node("MatMul", &["i", "t_o"], &["y"], &[]), WOULD_TAKE);
    let conditions = six().node("Cast", &["six"], &["c"], &[int("to", 9)]);
    let compress = |graph: Graph, inputs: &[&str]| graph.node("Compress", inputs, &["y"], &[int("axis", 1)]);
    check_refused(compress(conditions, &["i", "c"]), "conditions that need not be as many");
    let along_rows = found().node("ReduceMax", &["i"], &["r"], &[ints("axes", &[0]), int("keepdims", 0)]);
    let along_rows = along_rows.node("Cast", &["r"], &["c"], &[int("to", 9)]);
    check_refused(compress(along_rows.clone(), &["x", "c"]), "conditions whose number depends on data");
    let both = along_rows.node("Compress", &["i", "c"], &["p"], &[int("axis", 1)]);
    check_refused(both.node("Add", &["i", "p"], &["y"], &[]), WOULD_TAKE);
}

#[test]
fn shapes_that_do_not_follow_are_refused() {
    let reshape =
        |shape: &[i64]| found().weight(ints_tensor("to", shape)).node("Reshape", &["i", "to"], &["y"], &[]);
    check_refused(reshape(&[-1]), "axis 1 of [2, 6], whose size depends on data, is no axis 0 of [12]");
    check_refused(reshape(&[2, 6]), "a new shape that says a size that depends on data");
    check_refused(reshape(&[2, 2, -1]), "is no axis 2 of [2, 2, 3]");
    let turned = found().node("Transpose", &["i"], &["t_i"], &[]).weight(ints_tensor("to", &[-1, 3]));
    let turned = turned.node("Reshape", &["t_i", "to"], &["y"], &[]);
    check_refused(turned, "axis 0 of [6, 2], whose size depends on data, is no axis 0 of [4, 3]");
    let axes = |axes: &[i64]| found().weight(ints_tensor("axes", axes));
    check_refused(axes(&[1]).node("Squeeze", &["i", "axes"], &["y"], &[]), "expected one of size 1");
    check_refused(found().node("Squeeze", &["i"], &["y"], &[]), "axes by their sizes");
    let tile = found().weight(ints_tensor("times", &[1, 2])).node("Tile", &["i", "times"], &["y"], &[]);
    check_refused(tile, WOULD_TAKE);
    let sizes = |name: &str| others().node("Shape", &[name], &["s"], &[]);
    check_refused(sizes("o").node("Reshape", &["i", "s"], &["y"], &[]), "need not fit");
    check_refused(sizes("i").node("Reshape", &["x", "s"], &["y"], &[]), "of what has none");
    check_refused(sizes("o").node("Expand", &["i", "s"], &["y"], &[]), "none is known to stretch");
    check_refused(sizes("i").node("Expand", &["x", "s"], &["y"], &[]), "of what has another");
    let twice = sizes("i").node("Add", &["s", "s"], &["both"], &[]);
    check_refused(
        twice.node("ConstantOfShape", &["both"], &["y"], &[]),
        "computed of such that depend on data",
    );
    // The places as an image of two channels, whose last axis is open.
    let image = found().node("Cast", &["i"], &["f"], &[int("to", 1)]).weight(ints_tensor("front", &[0, 3]));
    let image = image.node("Unsqueeze", &["f", "front"], &["image"], &[]);
    let pool = image.node("MaxPool", &["image"], &["y"], &[ints("kernel_shape", &[1, 1])]);
    check_refused(pool, WOULD_TAKE);
    // The places are the images and also the filters: the zeros after them would become extra channels.
    let image = found().node("Cast", &["i"], &["f"], &[int("to", 1)]).weight(ints_tensor("end", &[2, 3]));
    let image = image.node("Transpose", &["f"], &["t_f"], &[]);
    let image = image.node("Unsqueeze", &["t_f", "end"], &["image"], &[]);
    check_refused(image.node("Conv", &["image", "image"], &["y"], &[]), WOULD_TAKE);
    let six = found().weight(ints_tensor("to", &[2, 6])).node("Expand", &["i", "to"], &["y"], &[]);
    check_refused(six, "which is to be another");
}

#[test]
fn parts_that_do_not_follow_are_refused() {
    let bounds = found().weight(ints_tensor("from", &[-1])).weight(ints_tensor("to", &[0]));
    let bounds = bounds.weight(ints_tensor("axis", &[1])).weight(ints_tensor("step", &[-1]));
    check_refused(bounds.node("Slice", &["i", "from", "to", "axis", "step"], &["y"], &[]), "a step of -1");
    check_refused(found().node("Split", &["i"], &["y", "z"], &[int("axis", 1)]), WOULD_TAKE);
    let corners = found().node("GatherElements", &["x", "i"], &["y"], &[int("axis", 0)]);
    check_refused(corners, "size 6 of axis 1 of the indices, expected 3 at most");
    let places = others().node("Transpose", &["i"], &["t_i"], &[]).node("Transpose", &["o"], &["t_o"], &[]);
    let other = places.clone().node("GatherND", &["x", "t_o"], &["u"], &[]);
    check_refused(other.node("ScatterND", &["x", "t_i", "u"], &["y"], &[]), "not one for each index");
    let other = places.node("Neg", &["t_i"], &["n"], &[]).node("GatherND", &["x", "t_i"], &["u"], &[]);
    check_refused(other.node("ScatterND", &["x", "n", "u"], &["y"], &[]), WOULD_TAKE);
    let turned = found().node("GatherND", &["x", "i"], &["y"], &[]);
    check_refused(turned, "indices for a number of axes that depends on data");
}

#[test]
fn a_number_has_no_places_where_it_is_not_0() {
    let number = Graph::default().input("x", &[]).node("NonZero", &["x"], &["y"], &[]);
    check_refused(number, "a number has no axes to say where it is not zero");
}

#[test]
fn slices_along_one_axis_are_not_picked_from_what_is_open_along_another() {
    let rows = found().weight(raw_tensor("c", 9, &[2], &[1, 0]));
    let rows = rows.node("Compress", &["i", "c"], &["y"], &[int("axis", 0)]);
    check_refused(rows, "sizes along two axes that depend on data");
}

#[test]
fn parts_are_open_along_the_axis_along_which_they_are_joined() {
    let turned = found().node("Transpose", &["i"], &["t_i"], &[]);
    let joined = |graph: Graph, parts: &[&str]| graph.node("Concat", parts, &["y"], &[int("axis", 1)]);
    let along = "parts whose sizes along different axes depend on data";
    check_refused(joined(turned.clone(), &["i", "t_i"]), along);
    check_refused(joined(turned, &["t_i", "i"]), along);
    let line = found().weight(ints_tensor("line", &[1, 2]));
    check_refused(joined(line, &["i", "line"]), "parts with different numbers of axes");
}

#[test]
fn elements_of_several_parts_follow_one_another_and_are_counted() {
    // Five places by two rows, of at most six.
    let numbers: Vec<u8> = [7i64, 8].iter().flat_map(|number| number.to_le_bytes()).collect();
    let graph = found().weight(raw_tensor("k", INT64, &[2, 1], &numbers));
    let rows = [[0.0, 0.0, 1.0, 1.0, 1.0], [0.0, 2.0, 0.0, 1.0, 2.0]];
    let first = [7.0, 8.0];
    let cases: [(&[&str], usize, usize); 5] = [
        (&["i"], 0, 1),
        (&["k", "i"], 1, 1),
        (&["k", "k", "i"], 2, 1),
        (&["k", "i", "i"], 1, 2),
        (&["k", "k", "i", "i"], 2, 2),
    ];
    for (parts, known, open) in cases {
        let joined = graph.clone().node("Concat", parts, &["c"], &[int("axis", 1)]);
        let joined = joined.node("Cast", &["c"], &["f"], &[int("to", 1)]);
        let (shape, found) = compute(13, joined.clone().output("f"));
        let most = known + 6 * open;
        assert_eq!(shape, [2, most as u64], "{parts:?}");
        let mut means = Vec::new();
        for row in [0, 1] {
            let elements = [vec![first[row]; known], rows[row].repeat(open)].concat();
            assert_eq!(found[row * most..][..elements.len()], elements, "{parts:?}");
            means.push(elements.iter().sum::<f32>() / elements.len() as f32);
        }
        let mean = [ints("axes", &[1]), int("keepdims", 0)];
        let mean = joined.node("ReduceMean", &["f"], &["y"], &mean).output("y");
        crate::values::close(compute(13, mean), &means);
    }
}

#[test]
fn bounds_along_an_open_axis_are_numbers() {
    let graph = found().input("z", &[-1]).node("Shape", &["z"], &["n"], &[]);
    let graph = graph.weight(ints_tensor("zero", &[0])).weight(ints_tensor("one", &[1]));
    let said = "a slice of a size that depends on data, by bounds that are no numbers";
    for [start, end] in [["zero", "n"], ["n", "one"]] {
        check_refused(graph.clone().node("Slice", &["i", start, end, "one"], &["y"], &[]), said);
    }
}

#[test]
fn what_lies_after_elements_is_neither_the_least_nor_the_greatest_of_any_type() {
    let bytes = |numbers: [i64; 2], width: usize| {
        numbers.iter().flat_map(|number| number.to_le_bytes()[..width].to_vec()).collect::<Vec<u8>>()
    };
    let types: [(i32, usize, i64, i64); 9] = [
        (2, 1, 0, i64::from(u8::MAX)),
        (3, 1, i64::from(i8::MIN), i64::from(i8::MAX)),
        (6, 4, i64::from(i32::MIN), i64::from(i32::MAX)),
        (7, 8, i64::MIN, i64::MAX),
        (9, 1, 0, 1),
        (12, 4, 0, i64::from(u32::MAX)),
        // All bits of the greatest are set.
        (13, 8, 0, -1),
        (3, 1, i64::from(i8::MIN) + 1, i64::from(i8::MAX) - 1),
        (7, 8, -5, 5),
    ];
    for (element, width, least, greatest) in types {
        for (op, number) in [("ReduceMax", least), ("ReduceMin", greatest)] {
            // Two elements of which one is picked, and nothing after it.
            let graph = Graph::default().weight(raw_tensor("w", element, &[2], &bytes([number; 2], width)));
            let graph = graph.weight(raw_tensor("c", 9, &[2], &[1, 0]));
            let graph = graph.node("Compress", &["w", "c"], &["p"], &[int("axis", 0)]);
            let graph = graph.node(op, &["p"], &["r"], &[int("keepdims", 0)]);
            let expected = if element == 13 && number < 0 { u64::MAX as f32 } else { number as f32 };
            check(20, as_floats(graph, "r"), &[], &[expected]);
        }
    }
}

/// Updates where `x` of 2 x 3 numbers is not 2, which are those numbers.
fn updated(names: [&str; 3], attributes: &[Message]) -> Graph {
    let graph = found().node("Transpose", &["i"], &["t_i"], &[]).input("z", &[3, 2]);
    let graph = graph.node("GatherND", &["x", "t_i"], &["u"], &[]);
    graph.node("ScatterND", &names, &["y"], attributes)
}

#[test]
fn elements_that_were_found_are_joined_with_what_is_written_to_them_and_no_others() {
    let joined = |reduction: &str| updated(["x", "t_i", "u"], &[string("reduction", reduction)]).output("y");
    check(18, joined("none"), &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    check(18, joined("add"), &[2, 3], &[2.0, 2.0, 6.0, 8.0, 10.0, 12.0]);
    check(18, joined("mul"), &[2, 3], &[1.0, 2.0, 9.0, 16.0, 25.0, 36.0]);
    let other = updated(["z", "t_i", "u"], &[]);
    check_refused(other, "indices that were found in another shape");
}
