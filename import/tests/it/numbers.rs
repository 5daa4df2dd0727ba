//! That transforms, losses, reductions, products and small numbers hold at their edges, by default, and where
//! they are refused.
//!
//! The oracle is the operator's text at onnx.ai/onnx/operators; inputs count 1, 2, 3, ...

use crate::fixture::refuses;
use crate::values::{check, close, compute, one_node, with_constants};
use crate::writer::{Graph, Message, float, floats_tensor, int, ints, ints_tensor, raw_tensor, string};

fn scalar(name: &str, number: i64) -> Message {
    raw_tensor(name, 7, &[], &number.to_le_bytes())
}

fn bytes(name: &str, dims: &[i64], bytes: &[u8]) -> Message {
    raw_tensor(name, 2, dims, bytes)
}

/// One node of constants alone.
fn of_weights(op: &str, weights: &[Message], attributes: &[Message]) -> Graph {
    let names = ["w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8"];
    let graph = weights.iter().cloned().fold(Graph::default(), Graph::weight);
    graph.node(op, &names[..weights.len()], &["y"], attributes).output("y")
}

fn as_floats(graph: Graph) -> Graph {
    Graph { outputs: vec![], ..graph }.node("Cast", &["y"], &["number"], &[int("to", 1)]).output("number")
}

#[test]
fn a_window_may_be_symmetric_and_of_another_type() {
    let window =
        |attributes: &[Message], size: i64| of_weights("HannWindow", &[scalar("w0", size)], attributes);
    check(17, window(&[int("periodic", 0)], 3), &[3], &[0.0, 1.0, 0.0]);
    check(17, as_floats(window(&[int("output_datatype", 7)], 4)), &[4], &[0.0, 0.0, 1.0, 0.0]);
    refuses(17, window(&[], 1 << 24), "input 0 is no size");
    refuses(17, of_weights("HannWindow", &[ints_tensor("w0", &[3, 4])], &[]), "input 0 is no size");
}

#[test]
fn a_transform_runs_along_the_second_axis_up_to_version_19_and_along_the_last_but_one_later() {
    let graph = |attributes: &[Message]| one_node("DFT", &[1, 2, 3, 1], &["x"], attributes);
    let columns = [5.0, 0.0, 7.0, 0.0, 9.0, 0.0, -3.0, 0.0, -3.0, 0.0, -3.0, 0.0];
    let root = 3f32.sqrt() / 2.0;
    let rows = [6.0, 0.0, -1.5, root, -1.5, -root, 15.0, 0.0, -1.5, root, -1.5, -root];
    for version in [17, 19] {
        close(compute(version, graph(&[])), &columns);
        close(compute(version, graph(&[int("axis", -2)])), &rows);
    }
    close(compute(20, graph(&[])), &rows);
    let along = |axis: i64| one_node("DFT", &[1, 2, 3, 1], &["x", "", "a"], &[]).weight(scalar("a", axis));
    close(compute(20, along(1)), &columns);
    assert_eq!(compute(20, along(1)).0, [1, 2, 3, 2]);
    refuses(20, along(3), "the axis of real and imaginary parts");
    refuses(19, graph(&[int("axis", -1)]), "the axis of real and imaginary parts");
}

#[test]
fn a_transform_is_as_long_as_asked_for_and_has_a_half_and_an_inverse() {
    let dft = |shape: &[i64], length: Option<i64>, flags: &[&str]| {
        let attributes: Vec<Message> = flags.iter().map(|flag| int(flag, 1)).collect();
        match length {
            Some(length) => with_constants("DFT", shape, &[scalar("w0", length)], &attributes),
            None => with_constants("DFT", shape, &[], &attributes),
        }
    };
    let half = ["onesided"];
    let back = ["inverse"];
    let real = ["inverse", "onesided"];
    close(compute(20, dft(&[1, 2, 1], Some(4), &[])), &[3.0, 0.0, 1.0, -2.0, -1.0, 0.0, 1.0, 2.0]);
    close(compute(20, dft(&[1, 2, 1], Some(4), &half)), &[3.0, 0.0, 1.0, -2.0, -1.0, 0.0]);
    close(compute(20, dft(&[1, 4, 1], Some(2), &[])), &[3.0, 0.0, -1.0, 0.0]);
    close(compute(20, dft(&[1, 4, 1], Some(1), &half)), &[1.0, 0.0]);
    close(compute(20, dft(&[1, 4, 2], None, &back)), &[4.0, 5.0, 0.0, -2.0, -1.0, -1.0, -2.0, 0.0]);
    // The middle frequency counts once; of an odd length there is none.
    close(compute(20, dft(&[1, 3, 2], None, &real)), &[3.0, -3.0, 0.0, 1.0]);
    let turned = 3f32.sqrt() * 2.0;
    let odd = [7.0 / 3.0, (1.0 + 2.0 * (-1.5 - turned)) / 3.0, (1.0 + 2.0 * (-1.5 + turned)) / 3.0];
    close(compute(20, dft(&[1, 3, 2], Some(3), &real)), &odd);
    assert_eq!(compute(20, dft(&[1, 3, 2], Some(3), &real)).0, [1, 3, 1]);
    refuses(20, dft(&[1, 1, 2], None, &real), "a transform of length 0");
    refuses(20, dft(&[1, 2, 2], Some(0), &[]), "input 1 is no size");
    refuses(20, dft(&[1, 2, 3], None, &[]), "numbers of 3 parts, expected 1 or 2");
    refuses(20, dft(&[1, 2, 0], None, &[]), "numbers of 0 parts, expected 1 or 2");
    refuses(20, dft(&[1, 4097, 1], None, &[]), "a transform of 4097 by 4097 numbers");
}

#[test]
fn frames_begin_each_step_and_end_inside_the_signal() {
    let frames = |step: i64, length: i64, attributes: &[Message]| {
        let graph = one_node("STFT", &[1, 5, 1], &["x", "step", "", "length"], attributes);
        graph.weight(scalar("step", step)).weight(scalar("length", length))
    };
    let root = 3f32.sqrt() / 2.0;
    let (shape, found) = compute(17, frames(2, 3, &[]));
    assert_eq!(shape, [1, 2, 2, 2]);
    close((shape, found), &[6.0, 0.0, -1.5, root, 12.0, 0.0, -1.5, root]);
    let (shape, found) = compute(17, frames(3, 3, &[int("onesided", 0)]));
    assert_eq!(shape, [1, 1, 3, 2]);
    close((shape, found), &[6.0, 0.0, -1.5, root, -1.5, -root]);
    assert_eq!(compute(17, frames(1, 5, &[])).0, [1, 1, 3, 2]);
    refuses(17, frames(1, 6, &[]), "frames of 6 samples of 5");
    let windowed = one_node("STFT", &[1, 5, 1], &["x", "step", "window"], &[]).weight(scalar("step", 2));
    let windowed = windowed.weight(floats_tensor("window", &[3], &[1.0, 0.0, 2.0]));
    let expected = [7.0, 0.0, -2.0, 6.0 * root, 13.0, 0.0, -2.0, 10.0 * root];
    close(compute(17, windowed), &expected);
    let bare = one_node("STFT", &[1, 5, 1], &["x", "step"], &[]).weight(scalar("step", 2));
    refuses(17, bare, "neither a window nor its length");
}

#[test]
fn sequences_are_reversed_along_the_first_two_axes_alone() {
    let reversed = |shape: &[i64], lengths: &[i64], attributes: &[Message]| {
        with_constants("ReverseSequence", shape, &[ints_tensor("w0", lengths)], attributes)
    };
    check(10, reversed(&[3, 2], &[3, 1], &[]), &[3, 2], &[5.0, 2.0, 3.0, 4.0, 1.0, 6.0]);
    let batch_first = [int("batch_axis", 0), int("time_axis", -2)];
    let expected = [3.0, 4.0, 1.0, 2.0, 5.0, 6.0, 11.0, 12.0, 9.0, 10.0, 7.0, 8.0];
    check(10, reversed(&[2, 3, 2], &[2, 3], &batch_first), &[2, 3, 2], &expected);
    for (time, batch) in [(1, 1), (0, 0), (2, 0)] {
        let axes = [int("time_axis", time), int("batch_axis", batch)];
        let said = "axes of time and batch that are not the first two";
        refuses(10, reversed(&[2, 2, 2], &[1, 1], &axes), said);
    }
}

#[test]
fn a_determinant_is_of_a_square_of_64_at_most() {
    let unit = |size: i64| {
        let graph = Graph::default().input("x", &[size, size]).node("EyeLike", &["x"], &["e"], &[]);
        graph.node("Det", &["e"], &["y"], &[]).output("y")
    };
    check(11, unit(64), &[], &[1.0]);
    refuses(11, unit(65), "65 x 65 numbers, expected a square of at most 64 x 64");
    refuses(11, one_node("Det", &[2, 3], &["x"], &[]), "2 x 3 numbers, expected a square");
    refuses(11, one_node("Det", &[4], &["x"], &[]), "an input that is no matrix");
}

#[test]
fn a_loss_is_a_mean_unless_said_and_ignores_a_class() {
    let loss = |targets: &[i64], weights: &[f32], attributes: &[Message]| {
        let mut all = vec![ints_tensor("w0", targets)];
        if !weights.is_empty() {
            all.push(floats_tensor("w1", &[weights.len() as i64], weights));
        }
        with_constants("NegativeLogLikelihoodLoss", &[2, 3], &all, attributes)
    };
    let weights = [1.0, 2.0, 4.0];
    let ignored = |class: i64| int("ignore_index", class);
    let how = |reduction: &str| string("reduction", reduction);
    check(13, loss(&[2, 0], &[], &[]), &[], &[-3.5]);
    check(13, loss(&[2, 0], &weights, &[]), &[], &[-3.2]);
    check(13, loss(&[2, 0], &weights, &[how("sum")]), &[], &[-16.0]);
    check(13, loss(&[2, 0], &[], &[how("none")]), &[2], &[-3.0, -4.0]);
    check(13, loss(&[2, 0], &[], &[ignored(0)]), &[], &[-3.0]);
    check(13, loss(&[2, 0], &weights, &[ignored(0)]), &[], &[-3.0]);
    check(13, loss(&[2, 0], &weights, &[ignored(0), how("none")]), &[2], &[-12.0, 0.0]);
    check(13, loss(&[2, -1], &[], &[ignored(-1)]), &[], &[-3.0]);
    refuses(13, loss(&[2, 0], &[], &[how("max")]), "`reduction` \"max\", expected");
    let single = with_constants("NegativeLogLikelihoodLoss", &[3], &[scalar("w0", 1)], &[]);
    refuses(13, single, "an input without classes");
}

#[test]
fn masks_stand_for_indices_of_any_sign() {
    let hot = |depth: i64, attributes: &[Message]| {
        let values = floats_tensor("w2", &[2], &[5.0, 9.0]);
        of_weights("OneHot", &[ints_tensor("w0", &[0, -1, 1]), scalar("w1", depth), values], attributes)
    };
    check(11, hot(1, &[]), &[3, 1], &[9.0, 9.0, 5.0]);
    check(11, hot(2, &[]), &[3, 2], &[9.0, 5.0, 5.0, 9.0, 5.0, 9.0]);
    check(11, hot(2, &[int("axis", 0)]), &[2, 3], &[9.0, 5.0, 5.0, 5.0, 9.0, 9.0]);
    refuses(11, hot(0, &[]), "a depth that is no size");
    refuses(11, hot(2, &[int("axis", 2)]), "axis 2, expected -2 to 1");
    let eye = |k: i64| one_node("EyeLike", &[2, 3], &["x"], &[int("k", k)]);
    check(9, eye(-1), &[2, 3], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    check(9, eye(2), &[2, 3], &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    refuses(9, one_node("EyeLike", &[3], &["x"], &[]), "an input that is no matrix");
    let upper = |k: i64| with_constants("Trilu", &[2, 3], &[scalar("w0", k)], &[]);
    let lower = |k: i64| with_constants("Trilu", &[2, 3], &[scalar("w0", k)], &[int("upper", 0)]);
    check(14, one_node("Trilu", &[2, 3], &["x"], &[]), &[2, 3], &[1.0, 2.0, 3.0, 0.0, 5.0, 6.0]);
    check(14, upper(1), &[2, 3], &[0.0, 2.0, 3.0, 0.0, 0.0, 6.0]);
    check(14, lower(0), &[2, 3], &[1.0, 0.0, 0.0, 4.0, 5.0, 0.0]);
    check(14, lower(-1), &[2, 3], &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
    refuses(14, one_node("Trilu", &[3], &["x"], &[]), "an input that is no matrix");
}

#[test]
fn walks_along_an_axis_have_defaults_by_version() {
    let most = |attributes: &[Message]| one_node("Hardmax", &[2, 2, 2], &["x"], attributes);
    let of_planes = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    check(12, most(&[]), &[2, 2, 2], &of_planes);
    check(12, most(&[int("axis", -2)]), &[2, 2, 2], &of_planes);
    check(13, most(&[]), &[2, 2, 2], &[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    let sums = |axes: &[i64], attributes: &[Message]| {
        with_constants("CumSum", &[2, 2], &[ints_tensor("w0", axes)], attributes)
    };
    check(14, sums(&[-2], &[]), &[2, 2], &[1.0, 2.0, 4.0, 6.0]);
    check(14, sums(&[1], &[int("exclusive", 1)]), &[2, 2], &[0.0, 1.0, 0.0, 3.0]);
    check(14, sums(&[1], &[int("reverse", 1)]), &[2, 2], &[3.0, 2.0, 7.0, 4.0]);
    refuses(14, sums(&[0, 1], &[]), "the axis is not one number");
    refuses(14, sums(&[2], &[]), "axis 2, expected -2 to 1");
    let pool = |attributes: &[Message]| one_node("GlobalLpPool", &[1, 2, 2, 2], &["x"], attributes);
    check(1, pool(&[float("p", 1.0)]), &[1, 2, 1, 1], &[10.0, 26.0]);
    check(2, pool(&[int("p", 1)]), &[1, 2, 1, 1], &[10.0, 26.0]);
    close(compute(1, pool(&[])), &[30f32.sqrt(), 174f32.sqrt()]);
    refuses(2, pool(&[int("p", 0)]), "`p` 0, expected a number above 0");
    refuses(1, pool(&[float("p", -1.0)]), "`p` -1, expected a number above 0");
}

#[test]
fn reductions_change_with_their_versions_and_no_other() {
    let axes = [ints("axes", &[-1])];
    check(12, one_node("ReduceSum", &[2, 2], &["x"], &axes), &[2, 1], &[3.0, 7.0]);
    check(17, one_node("ReduceMax", &[2, 2], &["x"], &axes), &[2, 1], &[2.0, 4.0]);
    refuses(17, one_node("ReduceMax", &[2, 2], &["x"], &[ints("axes", &[2])]), "axis 2, expected -2 to 1");
    let zeros = |op: &str, attributes: &[Message]| {
        of_weights(op, &[floats_tensor("w0", &[1, 2, 2], &[0.0; 4])], attributes)
    };
    let last = [int("axis", -1)];
    close(compute(12, zeros("LogSoftmax", &[])), &[0.25f32.ln(); 4]);
    close(compute(12, zeros("LogSoftmax", &last)), &[0.5f32.ln(); 4]);
    close(compute(13, zeros("LogSoftmax", &[])), &[0.5f32.ln(); 4]);
    check(12, zeros("Softmax", &[]), &[1, 2, 2], &[0.25; 4]);
    check(12, zeros("Softmax", &last), &[1, 2, 2], &[0.5; 4]);
    check(13, zeros("Softmax", &[int("axis", 0)]), &[1, 2, 2], &[1.0; 4]);
}

#[test]
fn an_epsilon_left_out_is_a_hundred_thousandth() {
    let x = |shape: &[i64]| floats_tensor("w0", shape, &[0.0, 0.002]);
    let number = |name: &str, number: f32| floats_tensor(name, &[1], &[number]);
    let affine = [number("w1", 1.0), number("w2", 0.0)];
    let of = |version, op: &str, shape: &[i64], more: &[Message], attributes: &[Message]| {
        compute(version, of_weights(op, &[&[x(shape)], more].concat(), attributes))
    };
    // The mean of the squares of 0.001 is a tenth of it, that of 0 and 0.002 a fifth.
    let part = 0.1f32 / 1.1;
    let expected = [-part.sqrt(), part.sqrt()];
    close(of(17, "LayerNormalization", &[1, 2], &affine, &[]), &expected);
    close(of(17, "InstanceNormalization", &[1, 1, 2], &affine, &[]), &expected);
    close(of(21, "GroupNormalization", &[1, 1, 2], &affine, &[int("num_groups", 1)]), &expected);
    close(of(23, "RMSNormalization", &[1, 2], &affine[..1], &[]), &[0.0, (0.4f32 / 1.2).sqrt()]);
    let statistics = [&affine[..], &[number("w3", 0.001), number("w4", 1e-6)]].concat();
    close(of(15, "BatchNormalization", &[1, 1, 2], &statistics, &[]), &expected);
}

#[test]
fn groups_have_factors_up_to_version_20_and_channels_from_21() {
    let group = |shape: &[i64], count: i64, attributes: &[Message]| {
        let factors = [[1.0, 10.0, 1.0, 1.0], [0.0, 0.5, 0.0, 0.0]];
        let row = |at: usize| &factors[at][..count as usize];
        let weights = [0, 1].map(|at| floats_tensor(&format!("w{at}"), &[count], row(at)));
        with_constants(
            "GroupNormalization",
            shape,
            &weights,
            &[&[float("epsilon", 0.0)], attributes].concat(),
        )
    };
    let two = [int("num_groups", 2)];
    close(compute(20, group(&[1, 4, 1], 2, &two)), &[-1.0, 1.0, -9.5, 10.5]);
    close(compute(21, group(&[1, 4, 1], 4, &two)), &[-1.0, 10.5, -1.0, 1.0]);
    refuses(21, group(&[1, 4, 1], 4, &[int("num_groups", 3)]), "`num_groups` does not divide 4 channels");
    refuses(21, group(&[1, 4, 1], 4, &[int("num_groups", 0)]), "`num_groups` does not divide 4 channels");
    refuses(21, group(&[1, 4, 1], 4, &[]), "`num_groups` is left out");
    let flat = [floats_tensor("w0", &[2], &[1.0; 2]), floats_tensor("w1", &[2], &[0.0; 2])];
    let flat = with_constants("InstanceNormalization", &[1, 2], &flat, &[]);
    refuses(17, flat, "an input of 2 dimensions, expected 3 or more");
}

#[test]
fn normalisations_tell_their_statistics_and_keep_what_has_no_length() {
    let layer = |result: &str| {
        let graph = Graph::default().input("x", &[2, 2]).weight(floats_tensor("w", &[2], &[1.0; 2]));
        let results = ["y", "mean", "factor"];
        graph.node("LayerNormalization", &["x", "w"], &results, &[float("epsilon", 0.0)]).output(result)
    };
    check(17, layer("mean"), &[2, 1], &[1.5, 3.5]);
    check(17, layer("factor"), &[2, 1], &[2.0, 2.0]);
    let trained = |result: &str| {
        let number = |name: &str, number: f32| floats_tensor(name, &[1], &[number]);
        let graph = Graph::default().input("x", &[1, 1, 2]).weight(number("s", 1.0)).weight(number("b", 0.0));
        let graph = graph.weight(number("m", 1.0)).weight(number("v", 2.0));
        let training = [int("training_mode", 1), float("epsilon", 0.0)];
        let operands = ["x", "s", "b", "m", "v"];
        graph.node("BatchNormalization", &operands, &["y", "mean", "var"], &training).output(result)
    };
    close(compute(15, trained("y")), &[-1.0, 1.0]);
    close(compute(15, trained("mean")), &[1.05]);
    close(compute(15, trained("var")), &[1.825]);
    let unit = |numbers: &[f32], attributes: &[Message]| {
        of_weights("LpNormalization", &[floats_tensor("w0", &[2, 2], numbers)], attributes)
    };
    close(compute(1, unit(&[3.0, -4.0, 0.0, 0.0], &[])), &[0.6, -0.8, 0.0, 0.0]);
    close(compute(1, unit(&[3.0, 0.0, -1.0, 0.0], &[int("p", 1), int("axis", 0)])), &[0.75, 0.0, -0.25, 0.0]);
    refuses(1, unit(&[1.0; 4], &[int("p", 3)]), "`p` 3, expected 1 or 2");
}

#[test]
fn gemm_adds_rows_columns_and_numbers() {
    let unit = floats_tensor("w0", &[2, 2], &[1.0, 0.0, 0.0, 1.0]);
    let sum = |dims: &[i64], attributes: &[Message]| {
        let count = dims.iter().product::<i64>() as usize;
        let bias = floats_tensor("w1", dims, &[10.0, 20.0, 30.0, 40.0][..count]);
        with_constants("Gemm", &[2, 2], &[unit.clone(), bias], attributes)
    };
    check(13, sum(&[2], &[]), &[2, 2], &[11.0, 22.0, 13.0, 24.0]);
    check(13, sum(&[2, 1], &[]), &[2, 2], &[11.0, 12.0, 23.0, 24.0]);
    check(13, sum(&[2, 2], &[]), &[2, 2], &[11.0, 22.0, 33.0, 44.0]);
    check(13, sum(&[], &[]), &[2, 2], &[11.0, 12.0, 13.0, 14.0]);
    check(13, sum(&[2], &[float("beta", 0.0)]), &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    check(13, sum(&[2], &[float("beta", 2.0)]), &[2, 2], &[21.0, 42.0, 23.0, 44.0]);
    check(13, sum(&[2], &[float("alpha", 3.0)]), &[2, 2], &[13.0, 26.0, 19.0, 32.0]);
    let turned = [int("transA", 1), int("transB", 1)];
    let weights = [floats_tensor("w0", &[1, 3], &[1.0, 10.0, 100.0]), floats_tensor("w1", &[1], &[0.5])];
    check(13, with_constants("Gemm", &[3, 2], &weights, &turned), &[2, 1], &[531.5, 642.5]);
    let statistics = ["w0", "w1", "w2", "w3"].map(|name| floats_tensor(name, &[1], &[1.0]));
    let spatial = with_constants("BatchNormalization", &[1, 1, 2], &statistics, &[int("spatial", 0)]);
    refuses(7, spatial, "`spatial` 0");
}

#[test]
fn products_of_wide_integers_are_those_of_vectors_too() {
    let product = |shape: &[i64], operands: &[&str], vector: &[i64]| {
        let graph = Graph::default().input("x", shape).weight(ints_tensor("v", vector));
        let graph = graph.node("Cast", &["x"], &["a"], &[int("to", 7)]);
        as_floats(graph.node("MatMul", operands, &["y"], &[]))
    };
    check(13, product(&[2, 2], &["a", "v"], &[1, 10]), &[2], &[21.0, 43.0]);
    check(13, product(&[2, 2], &["v", "a"], &[1, 10]), &[2], &[31.0, 42.0]);
    check(13, product(&[2], &["a", "v"], &[1, 10]), &[], &[21.0]);
    check(13, product(&[2, 1, 2], &["a", "v"], &[1, 10]), &[2, 1], &[21.0, 43.0]);
    check(13, product(&[2, 2], &["a", "a"], &[1]), &[2, 2], &[7.0, 10.0, 15.0, 22.0]);
    refuses(13, product(&[2, 2], &["a", "v"], &[1, 2, 3]), "sums of 2 and of 3 products");
}

#[test]
fn an_equation_says_which_axes_are_summed() {
    let sum = |equation: &str, shape: &[i64], weights: &[Message]| {
        with_constants("Einsum", shape, weights, &[string("equation", equation)])
    };
    let line = [floats_tensor("w0", &[3], &[1.0, 10.0, 100.0])];
    let turned = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
    check(12, sum("ba", &[2, 3], &[]), &[3, 2], &turned);
    check(12, sum("...j->j...", &[2, 3], &[]), &[3, 2], &turned);
    check(12, sum("ij->j", &[2, 3], &[]), &[3], &[5.0, 7.0, 9.0]);
    check(12, sum("ii", &[2, 2], &[]), &[], &[5.0]);
    check(12, sum("iji->ji", &[2, 2, 2], &[]), &[2, 2], &[1.0, 6.0, 3.0, 8.0]);
    check(12, sum(" i j , j ", &[2, 3], &line), &[2], &[321.0, 654.0]);
    check(12, sum("...j,j", &[2, 3], &line), &[2], &[321.0, 654.0]);
    check(12, sum("i,j->ij", &[2], &line), &[2, 3], &[1.0, 10.0, 100.0, 2.0, 20.0, 200.0]);
    let rows = [floats_tensor("w0", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])];
    check(12, sum("ij,kj", &[2, 3], &rows), &[2, 2], &[14.0, 32.0, 32.0, 77.0]);
    let three = [line[0].clone(), floats_tensor("w1", &[2], &[1.0, 2.0])];
    check(12, sum("ij,j,i->", &[2, 3], &three), &[], &[1629.0]);
    let wide = Graph::default().input("x", &[2, 2]).weight(ints_tensor("v", &[1, 10]));
    let wide = wide.node("Cast", &["x"], &["a"], &[int("to", 7)]);
    let wide = wide.node("Einsum", &["a", "v"], &["y"], &[string("equation", "ij,j->i")]);
    check(12, as_floats(wide), &[2], &[21.0, 43.0]);
    refuses(12, sum("ij,j", &[2, 3], &[]), "2 operands in `equation`, expected 1");
    refuses(12, sum("ijk", &[2, 3], &[]), "\"ijk\" for an operand of 2 axes");
    refuses(12, sum("i.j", &[2, 3], &[]), "\"i.j\" in `equation`");
    refuses(12, sum("i1", &[2, 3], &[]), "\"i1\" in `equation`");
    refuses(12, sum("ijk...", &[2, 3], &[]), "\"ijk...\" in `equation`");
    refuses(12, sum("ii", &[2, 3], &[]), "a diagonal of 2 x 3 elements");
    refuses(12, sum("ij,j", &[2, 2], &line), "a label of two sizes");
    refuses(12, sum("ij->k", &[2, 3], &[]), "a label of the result that no operand has");
    refuses(12, one_node("Einsum", &[2], &["x"], &[]), "`equation` is left out");
}

#[test]
fn an_axis_of_broadcasting_up_to_version_6_must_fit() {
    let graph = |shape: &[i64], dims: &[i64], axis: i64| {
        let count = dims.iter().product::<i64>() as usize;
        let weight = floats_tensor("w0", dims, &[10.0, 20.0, 30.0, 40.0][..count]);
        with_constants("Add", shape, &[weight], &[int("broadcast", 1), int("axis", axis)])
    };
    let middle = [11.0, 12.0, 23.0, 24.0, 15.0, 16.0, 27.0, 28.0];
    check(6, graph(&[2, 2, 2], &[2], 1), &[2, 2, 2], &middle);
    check(6, graph(&[2, 2, 2], &[2], -2), &[2, 2, 2], &middle);
    check(6, graph(&[2, 2], &[2], -1), &[2, 2], &[11.0, 22.0, 13.0, 24.0]);
    check(6, graph(&[2, 2], &[2, 2], 0), &[2, 2], &[11.0, 22.0, 33.0, 44.0]);
    refuses(6, graph(&[2, 2], &[2], 2), "`axis` does not fit the shapes");
    refuses(6, graph(&[2, 2], &[2, 2], 1), "`axis` does not fit the shapes");
    refuses(6, graph(&[2, 2], &[2], -3), "`axis` does not fit the shapes");
}

#[test]
fn elementwise_operators_have_defaults_and_refuse_other_words() {
    let of = |version, op: &str, numbers: &[f32], attributes: &[Message]| {
        let weight = floats_tensor("w0", &[numbers.len() as i64], numbers);
        compute(version, of_weights(op, &[weight], attributes)).1
    };
    assert_eq!(of(17, "Shrink", &[-0.5, -0.75, 0.5, 0.75], &[]), [0.0, -0.75, 0.0, 0.75]);
    assert_eq!(of(17, "ThresholdedRelu", &[1.0, 1.5, -2.0], &[]), [0.0, 1.5, 0.0]);
    assert_eq!(of(6, "Clip", &[1.0, 9.0], &[float("min", 2.0)]), [2.0, 9.0]);
    assert_eq!(of(10, "Clip", &[-9.0, 9.0], &[float("max", 2.0)]), [-9.0, 2.0]);
    let infinities = [f32::INFINITY, 1.0, f32::NEG_INFINITY];
    let found = |up: i64, down: i64| {
        let signs = [int("detect_positive", up), int("detect_negative", down)];
        let graph = of_weights("IsInf", &[floats_tensor("w0", &[3], &infinities)], &signs);
        compute(20, as_floats(graph)).1
    };
    assert_eq!([found(0, 0), found(1, 0), found(0, 1)], [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    refuses(20, one_node("Gelu", &[2], &["x"], &[string("approximate", "fast")]), "`approximate` \"fast\"");
    let shift = |attributes: &[Message]| {
        of_weights("BitShift", &[ints_tensor("w0", &[1]), ints_tensor("w1", &[1])], attributes)
    };
    refuses(28, shift(&[]), "`direction` is left out");
    refuses(28, shift(&[string("direction", "UP")]), "`direction` \"UP\", expected");
    let cast = |attributes: &[Message]| one_node("Cast", &[2], &["x"], attributes);
    refuses(5, cast(&[string("to", "FLOOT")]), "`to` \"FLOOT\", expected the name of an element type");
    refuses(6, cast(&[]), "`to` is left out");
    refuses(13, cast(&[int("to", 99)]), "`to` 99, expected the number of a numeric type");
    let whole = of_weights("Cast", &[floats_tensor("w0", &[2], &[1.5, -2.5])], &[string("to", "INT32")]);
    let whole = Graph { outputs: vec![], ..whole }.node("Cast", &["y"], &["n"], &[string("to", "float")]);
    check(5, whole.output("n"), &[2], &[1.0, -2.0]);
}

#[test]
fn integers_are_clipped_and_nothing_is_dropped_in_a_training_without_a_ratio() {
    let clipped = Graph::default().input("x", &[4]).weight(scalar("lo", 2)).weight(scalar("hi", 3));
    let clipped = clipped.node("Cast", &["x"], &["i"], &[int("to", 7)]);
    let clipped = clipped.node("Clip", &["i", "lo", "hi"], &["y"], &[]);
    check(12, as_floats(clipped), &[4], &[2.0, 2.0, 3.0, 3.0]);
    let dropped = |ratio: &str, training: u8| {
        let graph = one_node("Dropout", &[2], &["x", ratio, "t"], &[]);
        let graph = graph.weight(raw_tensor("t", 9, &[], &[training]));
        graph.weight(floats_tensor("none", &[], &[0.0])).weight(floats_tensor("half", &[], &[0.5]))
    };
    check(13, dropped("none", 1), &[2], &[1.0, 2.0]);
    check(13, dropped("half", 0), &[2], &[1.0, 2.0]);
    refuses(13, dropped("", 1), "training mode, expected inference");
    refuses(13, dropped("half", 1), "training mode, expected inference");
}

/// Numbers as small floats, and back.
fn through(element: i64, numbers: &[f32], attributes: &[Message]) -> Vec<f32> {
    let attributes = [&[int("to", element)], attributes].concat();
    let weight = floats_tensor("w0", &[numbers.len() as i64], numbers);
    compute(23, as_floats(of_weights("Cast", &[weight], &attributes))).1
}

#[test]
fn small_floats_are_rounded_to_even_and_cut_unless_said() {
    let tiny = 2f32.powi(-10);
    let infinite = f32::INFINITY;
    let kept = [int("saturate", 0)];
    let fn3 = [448.0, 500.0, infinite, -infinite, 1.0625, 1.1875, tiny, 3.0 * tiny];
    assert_eq!(through(17, &fn3, &[]), [448.0, 448.0, 448.0, -448.0, 1.0, 1.25, 0.0, 4.0 * tiny]);
    let beyond = through(17, &[448.0, 512.0, -infinite, f32::NAN], &kept);
    assert_eq!(beyond[0], 448.0);
    assert!(beyond[1..].iter().all(|number| number.is_nan()), "{beyond:?}");
    let uz3 = [240.0, 256.0, -256.0, 1.0625, tiny, tiny / 2.0];
    assert_eq!(through(18, &uz3, &[]), [240.0, 240.0, -240.0, 1.0, tiny, 0.0]);
    assert!(through(18, &[256.0], &kept)[0].is_nan());
    let least = 2f32.powi(-16);
    let e5 = [57344.0, 65536.0, infinite, 1.125, 1.375, least, least / 2.0];
    assert_eq!(through(19, &e5, &[]), [57344.0, 57344.0, 57344.0, 1.0, 1.5, least, 0.0]);
    assert_eq!(through(19, &[57344.0, 65536.0, -infinite], &kept), [57344.0, infinite, -infinite]);
    let uz5 = [65536.0, 1.125, least / 2.0, least / 4.0];
    assert_eq!(through(20, &uz5, &[]), [57344.0, 1.0, least / 2.0, 0.0]);
    assert!(through(20, &[65536.0], &kept)[0].is_nan());
    let e2 = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, -9.0];
    assert_eq!(through(23, &e2, &[]), [0.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, -6.0]);
    // Zero has a sign where there is one; a number that becomes zero is none without.
    let zero = [17, 18, 19, 20].map(|element| through(element, &[-0.0, -1e-9], &[]));
    let signs = zero.map(|numbers| [0, 1].map(|at| numbers[at] == 0.0 && numbers[at].is_sign_negative()));
    assert_eq!(signs, [[true; 2], [false; 2], [true; 2], [false; 2]]);
    assert!(through(18, &[-1e-9], &[])[0] == 0.0);
}

#[test]
fn quantised_numbers_are_cut_to_the_range_of_their_type() {
    let quantised = |numbers: &[f32], more: &[Message], attributes: &[Message]| {
        let x = [floats_tensor("w0", &[numbers.len() as i64], numbers), floats_tensor("w1", &[], &[1.0])];
        compute(21, as_floats(of_weights("QuantizeLinear", &[&x[..], more].concat(), attributes))).1
    };
    let of_type = |element: i64, numbers: &[f32]| quantised(numbers, &[], &[int("output_dtype", element)]);
    assert_eq!(quantised(&[-1.0, 255.0, 256.0, 0.5, 1.5, 2.5], &[], &[]), [0.0, 255.0, 255.0, 0.0, 2.0, 2.0]);
    assert_eq!(of_type(0, &[-1.0, 255.0]), [0.0, 255.0]);
    assert_eq!(of_type(3, &[-129.0, -128.0, 127.0, 128.0]), [-128.0, -128.0, 127.0, 127.0]);
    assert_eq!(of_type(4, &[-1.0, 65_535.0, 65_536.0]), [0.0, 65_535.0, 65_535.0]);
    assert_eq!(of_type(5, &[-32_769.0, 32_767.0, 32_768.0]), [-32_768.0, 32_767.0, 32_767.0]);
    assert_eq!(of_type(21, &[-1.0, 0.0, 15.0, 16.0]), [0.0, 0.0, 15.0, 15.0]);
    assert_eq!(of_type(22, &[-9.0, -8.0, 7.0, 8.0]), [-8.0, -8.0, 7.0, 7.0]);
    let zero = raw_tensor("w2", 3, &[], &(-10i8).to_le_bytes());
    assert_eq!(quantised(&[1.0, 137.0, 138.0, -119.0], &[zero], &[]), [-9.0, 127.0, 127.0, -128.0]);
}

#[test]
fn scales_and_zeros_stand_along_the_second_axis_unless_said() {
    let scale = floats_tensor("w1", &[2], &[1.0, 10.0]);
    let zeros = bytes("w2", &[2], &[1, 2]);
    let x = floats_tensor("w0", &[2, 2], &[10.0, 10.0, 20.0, 20.0]);
    let there = |attributes: &[Message]| {
        let weights = [x.clone(), scale.clone(), zeros.clone()];
        compute(13, as_floats(of_weights("QuantizeLinear", &weights, attributes))).1
    };
    assert_eq!(there(&[]), [11.0, 3.0, 21.0, 4.0]);
    assert_eq!(there(&[int("axis", 0)]), [11.0, 11.0, 4.0, 4.0]);
    assert_eq!(there(&[int("axis", -2)]), [11.0, 11.0, 4.0, 4.0]);
    let back = |attributes: &[Message]| {
        let weights = [bytes("w0", &[2, 2], &[1, 2, 3, 4]), scale.clone(), zeros.clone()];
        compute(13, of_weights("DequantizeLinear", &weights, attributes)).1
    };
    assert_eq!(back(&[]), [0.0, 0.0, 2.0, 20.0]);
    assert_eq!(back(&[int("axis", 0)]), [0.0, 1.0, 10.0, 20.0]);
    let dynamic = |numbers: &[f32], result: &str| {
        let graph = Graph::default().weight(floats_tensor("x", &[2], numbers));
        let graph = graph.node("DynamicQuantizeLinear", &["x"], &["q", "s", "z"], &[]);
        compute(11, as_floats(graph.node("Identity", &[result], &["y"], &[]))).1
    };
    assert_eq!([dynamic(&[-1.0, 3.0], "q"), dynamic(&[-1.0, 3.0], "z")], [vec![0.0, 255.0], vec![64.0]]);
    assert_eq!([dynamic(&[-2.0, -0.5], "q"), dynamic(&[-2.0, -0.5], "z")], [vec![0.0, 191.0], vec![255.0]]);
    assert_eq!(dynamic(&[51.0, 255.0], "q"), [51.0, 255.0]);
}

/// The integers that `node` makes as `y`, less a number.
fn less(graph: Graph, number: i32) -> Graph {
    let graph = Graph { outputs: vec![], ..graph };
    let graph = graph.weight(raw_tensor("less", 6, &[], &number.to_le_bytes()));
    let graph = graph.node("Sub", &["y", "less"], &["rest"], &[]);
    graph.node("Cast", &["rest"], &["number"], &[int("to", 1)]).output("number")
}

#[test]
fn sums_of_more_products_than_a_float_holds_are_exact() {
    let all = |name: &str, dims: &[i64], byte: u8| {
        bytes(name, dims, &vec![byte; dims.iter().product::<i64>() as usize])
    };
    let full = |name: &str, dims: &[i64]| all(name, dims, 255);
    let ones = |name: &str, dims: &[i64]| all(name, dims, 1);
    let product = of_weights("MatMulInteger", &[full("w0", &[1, 513]), full("w1", &[513, 1])], &[]);
    check(10, less(product, 513 * 65_025 - 3), &[1, 1], &[3.0]);
    let convolved = |image: &[i64], filter: &[i64], attributes: &[Message]| {
        of_weights("ConvInteger", &[ones("w0", image), ones("w1", filter)], attributes)
    };
    let many = of_weights("ConvInteger", &[full("w0", &[1, 257, 2]), full("w1", &[1, 257, 2])], &[]);
    check(10, less(many, 514 * 65_025 - 3), &[1, 1, 1], &[3.0]);
    let two = [int("group", 2)];
    check(10, as_floats(convolved(&[1, 512, 1], &[2, 256, 1], &two)), &[1, 2, 1], &[256.0; 2]);
    check(10, as_floats(convolved(&[1, 514, 1], &[2, 257, 1], &two)), &[1, 2, 1], &[257.0; 2]);
    // Only images of at most two axes are convolved as integers.
    check(10, as_floats(convolved(&[1, 4, 1, 1, 1], &[2, 2, 1, 1, 1], &two)), &[1, 2, 1, 1, 1], &[2.0; 2]);
    check(
        10,
        as_floats(convolved(&[1, 512, 1, 1, 1], &[2, 256, 1, 1, 1], &two)),
        &[1, 2, 1, 1, 1],
        &[256.0; 2],
    );
    refuses(10, convolved(&[1, 514, 1, 1, 1], &[2, 257, 1, 1, 1], &two), "sums of 257 products");
    check(10, as_floats(convolved(&[1, 1, 256], &[1, 1, 256], &[])), &[1, 1, 1], &[256.0]);
    check(10, as_floats(convolved(&[1, 1, 257], &[1, 1, 257], &[])), &[1, 1, 1], &[257.0]);
    refuses(10, convolved(&[1, 2, 257], &[2, 1, 257], &two), "sums of 257 products");
    refuses(10, convolved(&[1, 1, 2], &[1, 1, 0], &[]), "expected 1 or more");
}

#[test]
fn a_quantised_convolution_has_a_bias_and_scales_of_its_channels() {
    let bias: Vec<u8> = [4i32, 6].iter().flat_map(|number| number.to_le_bytes()).collect();
    let number = |name: &str, number: f32| floats_tensor(name, &[], &[number]);
    let weights = |zero: u8| {
        [
            bytes("w0", &[1, 1, 2], &[2, 4]),
            number("w1", 0.5),
            bytes("w2", &[], &[0]),
            bytes("w3", &[2, 1, 1], &[1, 3]),
            floats_tensor("w4", &[2], &[1.0, 2.0]),
            bytes("w5", &[2], &[0, 1]),
            number("w6", 1.0),
            bytes("w7", &[], &[zero]),
            raw_tensor("w8", 6, &[2], &bias),
        ]
    };
    let graph = |zero: u8| as_floats(of_weights("QLinearConv", &weights(zero), &[]));
    check(10, graph(10), &[1, 2, 2], &[13.0, 14.0, 20.0, 24.0]);
    check(10, graph(243), &[1, 2, 2], &[246.0, 247.0, 253.0, 255.0]);
    let bare = as_floats(of_weights("QLinearConv", &weights(10)[..8], &[]));
    check(10, bare, &[1, 2, 2], &[11.0, 12.0, 14.0, 18.0]);
}

#[test]
fn a_window_of_doubles_has_their_digits() {
    let double = |name: &str, number: f64| raw_tensor(name, 11, &[], &number.to_le_bytes());
    let graph = Graph::default().weight(scalar("size", 5)).weight(double("large", 1e12));
    // The second number of five is the square of the sine of a fifth of half a turn.
    let graph = graph.weight(double("second", (std::f64::consts::PI / 5.0).sin().powi(2)));
    let graph = graph.node("HannWindow", &["size"], &["w"], &[int("output_datatype", 11)]);
    let graph = graph.node("Sub", &["w", "second"], &["d"], &[]).node("Mul", &["d", "large"], &["m"], &[]);
    let graph = graph.node("Cast", &["m"], &["y"], &[int("to", 1)]).output("y");
    let found = compute(17, graph).1;
    assert!(found[1].abs() < 1.0 && found[0].abs() > 1e9, "{found:?}");
}
