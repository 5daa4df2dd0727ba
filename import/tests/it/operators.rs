//! That each family of operators computes what ONNX says.
//!
//! The oracle is the operator's text at onnx.ai/onnx/operators; every input counts 1, 2, 3, ...

use import::onnx::StrippedWeights;

use crate::fixture::{faults, import_bytes, refuses};
use crate::values::{check, compute, one_node, w, with_constants};
use crate::writer::{
    Graph, Message, float, floats, floats_tensor, int, ints, ints_tensor, model, raw_tensor, string, tensor,
};

/// One node, with constants after its first operand `x`.
fn with_weights(op: &str, shape: &[i64], attributes: &[Message], weights: &[Message]) -> Graph {
    with_constants(op, shape, weights, attributes)
}

/// What an operator makes of 1, 2, 3 less 2: of -1, 0 and 1.
fn around_zero(version: i64, op: &str, attributes: &[Message]) -> Vec<f32> {
    let two = floats_tensor("two", &[1], &[2.0]);
    let graph = Graph::default().input("x", &[3]).weight(two).node("Sub", &["x", "two"], &["d"], &[]);
    compute(version, graph.node(op, &["d"], &["y"], attributes).output("y")).1
}

fn close(found: &[f32], expected: &[f64]) {
    let is_close = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() < 1e-5;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(is_close),
        "{found:?}, expected {expected:?}"
    );
}

#[test]
fn functions_of_one_number() {
    let softplus = |x: f64| (1.0 + x.exp()).ln();
    close(&around_zero(17, "Sign", &[]), &[-1.0, 0.0, 1.0]);
    close(&around_zero(17, "Softsign", &[]), &[-0.5, 0.0, 0.5]);
    close(&around_zero(18, "Mish", &[]), &[-1.0, 0.0, 1.0].map(|x: f64| x * softplus(x).tanh()));
    close(&around_zero(24, "Swish", &[]), &[-1.0, 0.0, 1.0].map(|x: f64| x / (1.0 + (-x).exp())));
    close(&around_zero(17, "Celu", &[float("alpha", 2.0)]), &[2.0 * ((-0.5f64).exp() - 1.0), 0.0, 1.0]);
    close(
        &around_zero(17, "Selu", &[float("alpha", 2.0), float("gamma", 3.0)]),
        &[6.0 * ((-1f64).exp() - 1.0), 0.0, 3.0],
    );
    close(&around_zero(17, "ThresholdedRelu", &[float("alpha", 0.5)]), &[0.0, 0.0, 1.0]);
    close(&around_zero(17, "Shrink", &[float("lambd", 0.5), float("bias", 0.25)]), &[-0.75, 0.0, 0.75]);
    close(&around_zero(20, "Gelu", &[string("approximate", "tanh")]), &[-0.158_808, 0.0, 0.841_192]);
}

#[test]
fn comparisons_choose() {
    let graph = |op: &str| {
        let graph = Graph::default().input("x", &[3]).weight(floats_tensor("w0", &[1], &[2.0]));
        graph.node(op, &["x", "w0"], &["c"], &[]).node("Where", &["c", "x", "w0"], &["y"], &[]).output("y")
    };
    check(17, graph("Greater"), &[3], &[2.0, 2.0, 3.0]);
    check(17, graph("LessOrEqual"), &[3], &[1.0, 2.0, 2.0]);
    check(17, graph("Equal"), &[3], &[2.0, 2.0, 2.0]);
    let prelu = with_weights("PRelu", &[3], &[], &[floats_tensor("w0", &[1], &[9.0])]);
    check(17, prelu, &[3], &[1.0, 2.0, 3.0]);
}

#[test]
fn a_remainder_has_the_divisors_sign_unless_fmod() {
    let graph = |fmod: i64| {
        let graph = Graph::default().weight(w(0, &[-4, 7, 5, -4])).weight(w(1, &[3, -3, 5, -3]));
        let graph = graph.node("Mod", &["w0", "w1"], &["m"], &[int("fmod", fmod)]);
        graph.node("Cast", &["m"], &["y"], &[int("to", 1)]).output("y")
    };
    check(17, graph(0), &[4], &[2.0, -2.0, 0.0, -1.0]);
    check(17, graph(1), &[4], &[-1.0, 1.0, 0.0, -1.0]);
}

#[test]
fn a_remainder_by_a_fraction_is_below_it() {
    let divisors = floats_tensor("w0", &[4], &[0.5, 0.75, -0.75, -1.5]);
    check(17, with_weights("Mod", &[4], &[], &[divisors]), &[4], &[0.0, 0.5, 0.0, -0.5]);
}

#[test]
fn reductions_take_axes_as_attributes_and_later_as_operands() {
    let old = |op: &str, attributes: &[Message]| one_node(op, &[2, 2], &["x"], attributes);
    check(13, old("ReduceMean", &[ints("axes", &[-1])]), &[2, 1], &[1.5, 3.5]);
    check(13, old("ReduceMax", &[ints("axes", &[0]), int("keepdims", 0)]), &[2], &[3.0, 4.0]);
    check(11, old("ReduceSum", &[]), &[1, 1], &[10.0]);
    let new = |op: &str, attributes: &[Message]| with_weights(op, &[2, 2], attributes, &[w(0, &[1])]);
    check(18, new("ReduceMin", &[]), &[2, 1], &[1.0, 3.0]);
    check(13, new("ReduceSum", &[int("keepdims", 0)]), &[2], &[3.0, 7.0]);
    check(18, old("ReduceProd", &[int("noop_with_empty_axes", 1)]), &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    check(18, new("ReduceL1", &[]), &[2, 1], &[3.0, 7.0]);
    check(18, new("ReduceSumSquare", &[]), &[2, 1], &[5.0, 25.0]);
    let root = |squares: f64| squares.sqrt();
    close(&compute(18, new("ReduceL2", &[])).1, &[root(5.0), 5.0]);
    close(&compute(18, new("ReduceLogSum", &[])).1, &[3f64.ln(), 7f64.ln()]);
    let log_sum_exp = [(1f64.exp() + 2f64.exp()).ln(), (3f64.exp() + 4f64.exp()).ln()];
    close(&compute(18, new("ReduceLogSumExp", &[int("keepdims", 0)])).1, &log_sum_exp);
    let infinities = [f32::INFINITY, 0.0, f32::NEG_INFINITY, f32::NEG_INFINITY];
    let infinite = Graph::default().input("x", &[2, 2]).weight(floats_tensor("i", &[2, 2], &infinities));
    let infinite = infinite.node("Add", &["x", "i"], &["z"], &[]).weight(ints_tensor("a", &[1]));
    let infinite = infinite.node("ReduceLogSumExp", &["z", "a"], &["y"], &[]).output("y");
    check(18, infinite, &[2, 1], &[f32::INFINITY, f32::NEG_INFINITY]);
    let below = -(1.0 + 1f64.exp()).ln();
    close(&compute(13, old("LogSoftmax", &[])).1, &[below, below + 1.0, below, below + 1.0]);
}

/// A running sum of a 2 x 2 input along an axis that is computed from the input `a`, which is 1.
fn running_sum_along(steps: &[&str], add: f32) -> Graph {
    let mut graph = Graph::default().input("x", &[2, 2]).input("a", &[]).output("y");
    graph = graph.weight(floats_tensor("more", &[], &[add])).node("Add", &["a", "more"], &["a0"], &[]);
    let mut last = "a0".to_owned();
    for (index, step) in steps.iter().enumerate() {
        let next = format!("a{}", index + 1);
        graph = graph.node(step, &[&last], &[&next], &[]);
        last = next;
    }
    let graph = graph.node("Cast", &[&last], &["axis"], &[int("to", 7)]);
    graph.node("CumSum", &["x", "axis"], &["y"], &[])
}

#[test]
fn an_axis_may_be_computed_and_is_checked_then() {
    check(17, running_sum_along(&[], 0.0), &[2, 2], &[1.0, 3.0, 3.0, 7.0]);
    check(17, running_sum_along(&[], -1.0), &[2, 2], &[1.0, 2.0, 4.0, 6.0]);
    check(17, running_sum_along(&["Neg"], 1.0), &[2, 2], &[1.0, 2.0, 4.0, 6.0]);
    for axis in [2.0, -3.0] {
        let outside = crate::writer::model(17, running_sum_along(&[], axis - 1.0));
        let module =
            crate::fixture::import_bytes(&outside.0, import::onnx::StrippedWeights::Refuse, &[]).unwrap();
        let ctx = &module.ctx;
        let x = ir::interp::Tensor::from_f32(ctx, &[2, 2], &[1.0; 4]);
        let a = ir::interp::Tensor::from_f32(ctx, &[], &[1.0]);
        assert!(ir::interp::run(&module, "main", &[x, a]).is_err(), "axis {axis} is none of two");
    }
}

#[test]
fn axes_without_elements_are_known_wherever_they_come_from() {
    let graph = Graph::default().input("x", &[2, 2]).input("none", &[0]).output("y");
    let graph = graph.node("Cast", &["none"], &["axes"], &[int("to", 7)]);
    check(18, graph.node("ReduceMax", &["x", "axes"], &["y"], &[]), &[1, 1], &[4.0]);
}

#[test]
fn normalisations_centre_and_scale() {
    let (scale, bias) = (floats_tensor("w0", &[2], &[1.0, 2.0]), floats_tensor("w1", &[2], &[0.5, 0.0]));
    let layer =
        with_weights("LayerNormalization", &[1, 2], &[float("epsilon", 0.0)], &[scale.clone(), bias.clone()]);
    close(&compute(17, layer).1, &[-0.5, 2.0]);
    let instance =
        with_weights("InstanceNormalization", &[1, 2, 2], &[float("epsilon", 0.0)], &[scale, bias]);
    close(&compute(17, instance).1, &[-0.5, 1.5, -2.0, 2.0]);
    let ones = [floats_tensor("w0", &[4], &[1.0; 4]), floats_tensor("w1", &[4], &[0.0; 4])];
    let group = [float("epsilon", 0.0), int("num_groups", 2)];
    let group = with_weights("GroupNormalization", &[1, 4, 1], &group, &ones);
    close(&compute(21, group).1, &[-1.0, 1.0, -1.0, 1.0]);
    let root = with_weights(
        "RMSNormalization",
        &[1, 2],
        &[float("epsilon", 0.0)],
        &[floats_tensor("w0", &[2], &[1.0, 1.0])],
    );
    close(&compute(23, root).1, &[1.0 / 2.5f64.sqrt(), 2.0 / 2.5f64.sqrt()]);
    let unit = one_node("LpNormalization", &[1, 2], &["x"], &[int("p", 1)]);
    close(&compute(22, unit).1, &[1.0 / 3.0, 2.0 / 3.0]);
}

#[test]
fn slices_are_cut_at_the_ends_and_may_run_backwards() {
    let old = [ints("starts", &[1]), ints("ends", &[1000]), ints("axes", &[-1])];
    check(9, one_node("Slice", &[2, 3], &["x"], &old), &[2, 2], &[2.0, 3.0, 5.0, 6.0]);
    let new = |start, end, step| {
        with_weights("Slice", &[5], &[], &[w(0, &[start]), w(1, &[end]), w(2, &[0]), w(3, &[step])])
    };
    check(13, new(-2, i64::MAX, 1), &[2], &[4.0, 5.0]);
    check(13, new(-1, i64::MIN, -2), &[3], &[5.0, 3.0, 1.0]);
    check(13, new(3, 3, 1), &[0], &[]);
    check(13, new(9, 12, 1), &[0], &[]);
}

#[test]
fn a_split_is_equal_or_as_its_sizes_say() {
    let split = |inputs: &[&str], attributes: &[Message]| {
        Graph::default().input("x", &[2, 3]).node("Split", inputs, &["a", "b"], attributes).output("b")
    };
    check(13, split(&["x"], &[int("axis", 0)]), &[1, 3], &[4.0, 5.0, 6.0]);
    let uneven = crate::writer::model(13, split(&["x"], &[int("axis", 1)]));
    assert_eq!(faults(&uneven), ["`Split_a`: 2 equal parts of an axis of 3"]);
    let sized = [int("axis", 1), ints("split", &[1, 2])];
    check(11, split(&["x"], &sized), &[2, 2], &[2.0, 3.0, 5.0, 6.0]);
    let sized = split(&["x", "w0"], &[int("axis", 1)]).weight(w(0, &[2, 1]));
    check(13, sized, &[2, 1], &[3.0, 6.0]);
    check(18, split(&["x"], &[int("num_outputs", 2)]), &[1, 3], &[4.0, 5.0, 6.0]);
}

#[test]
fn what_is_repeated_picked_or_surrounded() {
    let picked = with_weights("Gather", &[3, 2], &[], &[w(0, &[-1, 0])]);
    check(13, picked, &[2, 2], &[5.0, 6.0, 1.0, 2.0]);
    let following = with_weights("Gather", &[3, 2], &[], &[w(0, &[-2, -1])]);
    check(13, following, &[2, 2], &[3.0, 4.0, 5.0, 6.0]);
    let last = with_weights("Gather", &[3, 2], &[], &[w(0, &[-1])]);
    let text =
        ir::text::print(&import_bytes(&model(13, last).0, StrippedWeights::Refuse, &[]).expect("it is read"));
    assert!(
        text.contains("nn.slice") && !text.contains("nn.gather") && !text.contains("strides"),
        "what lies together is a slice without steps: {text}"
    );
    let number = raw_tensor("w0", 7, &[], &(-1i64).to_le_bytes());
    check(13, with_weights("Gather", &[2, 3], &[int("axis", 1)], &[number]), &[2], &[3.0, 6.0]);
    check(
        13,
        with_weights("Expand", &[2, 1], &[], &[w(0, &[2, 1, 2])]),
        &[2, 2, 2],
        &[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0],
    );
    check(
        13,
        with_weights("Tile", &[1, 2], &[], &[w(0, &[2, 2])]),
        &[2, 4],
        &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
    );
    let pads = |mode: &str| with_weights("Pad", &[3], &[string("mode", mode)], &[w(0, &[2, 1])]);
    check(13, pads("constant"), &[6], &[0.0, 0.0, 1.0, 2.0, 3.0, 0.0]);
    check(13, pads("edge"), &[6], &[1.0, 1.0, 1.0, 2.0, 3.0, 3.0]);
    check(13, pads("reflect"), &[6], &[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]);
    check(19, pads("wrap"), &[6], &[2.0, 3.0, 1.0, 2.0, 3.0, 1.0]);
    let old = [ints("pads", &[1, 0]), float("value", 9.0)];
    check(10, one_node("Pad", &[2], &["x"], &old), &[3], &[9.0, 1.0, 2.0]);
    let nearest = [string("coordinate_transformation_mode", "asymmetric"), string("nearest_mode", "floor")];
    let doubled = &[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0];
    let scales =
        one_node("Resize", &[1, 2], &["x", "", "s"], &nearest).weight(floats_tensor("s", &[2], &[2.0, 2.0]));
    check(13, scales, &[2, 4], doubled);
    let sizes = one_node("Resize", &[1, 2], &["x", "", "", "s"], &[]).weight(ints_tensor("s", &[2, 4]));
    check(13, sizes, &[2, 4], doubled);
    check(7, one_node("Upsample", &[1, 2], &["x"], &[floats("scales", &[2.0, 2.0])]), &[2, 4], doubled);
}

#[test]
fn depth_and_space_change_places() {
    let attributes = [int("blocksize", 2)];
    check(
        13,
        one_node("DepthToSpace", &[1, 4, 1, 1], &["x"], &attributes),
        &[1, 1, 2, 2],
        &[1.0, 2.0, 3.0, 4.0],
    );
    let crd = [int("blocksize", 2), string("mode", "CRD")];
    check(
        13,
        one_node("DepthToSpace", &[1, 4, 1, 2], &["x"], &crd),
        &[1, 1, 2, 4],
        &[1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0],
    );
    check(
        13,
        one_node("SpaceToDepth", &[1, 1, 2, 4], &["x"], &attributes),
        &[1, 4, 1, 2],
        &[1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0],
    );
}

#[test]
fn tensors_are_made_from_shapes_and_bounds() {
    let filled = |graph: Graph| {
        graph
            .weight(w(0, &[2]))
            .node(
                "ConstantOfShape",
                &["w0"],
                &["y"],
                &[tensor("value", &raw_tensor("", 1, &[1], &3f32.to_le_bytes()))],
            )
            .output("y")
    };
    check(13, filled(Graph::default()), &[2], &[3.0, 3.0]);
    let number = |name: &str, number: f32| floats_tensor(name, &[], &[number]);
    let range = Graph::default().weight(number("a", 3.0)).weight(number("b", 10.0)).weight(number("c", 2.5));
    check(13, range.node("Range", &["a", "b", "c"], &["y"], &[]).output("y"), &[3], &[3.0, 5.5, 8.0]);
}

#[test]
fn a_shape_that_is_computed_from_shapes_is_known() {
    let graph = Graph::default().input("x", &[2, 3]).weight(w(0, &[1])).weight(w(1, &[2])).output("y");
    let graph = graph.node("Shape", &["x"], &["s"], &[]).node("Gather", &["s", "w0"], &["last"], &[]);
    let graph = graph.node("Mul", &["last", "w1"], &["all"], &[]);
    check(17, graph.node("Reshape", &["x", "all"], &["y"], &[]), &[6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn a_convolution_of_lines_is_one_of_images_of_one_row() {
    let filter = floats_tensor("w0", &[1, 1, 3], &[1.0, 10.0, 100.0]);
    let conv = |attributes: &[Message]| {
        with_weights("Conv", &[1, 1, 4], attributes, &[filter.clone(), floats_tensor("w1", &[1], &[0.5])])
    };
    check(17, conv(&[]), &[1, 1, 2], &[321.5, 432.5]);
    check(17, conv(&[ints("pads", &[1, 0])]), &[1, 1, 3], &[210.5, 321.5, 432.5]);
    check(17, conv(&[ints("pads", &[0, 2]), ints("strides", &[2])]), &[1, 1, 2], &[321.5, 43.5]);
    check(
        17,
        conv(&[string("auto_pad", "SAME_UPPER"), ints("dilations", &[2])]),
        &[1, 1, 4],
        &[310.5, 420.5, 31.5, 42.5],
    );
}

#[test]
fn a_tensor_is_an_optional_with_an_element() {
    let graph = |inputs: &[&str]| {
        let graph = Graph::default().input("x", &[2]).node("OptionalHasElement", inputs, &["h"], &[]);
        graph.node("Cast", &["h"], &["y"], &[int("to", 1)]).output("y")
    };
    check(18, graph(&["x"]), &[], &[1.0]);
    check(18, graph(&[""]), &[], &[0.0]);
    check(18, graph(&[]), &[], &[0.0]);
    check(18, one_node("OptionalGetElement", &[2], &["x"], &[]), &[2], &[1.0, 2.0]);
}

#[test]
fn what_surrounds_may_be_longer_than_the_axis() {
    for (size, mode) in (1..=3).flat_map(|size: i64| ["edge", "reflect", "wrap"].map(|mode| (size, mode))) {
        // The element at a place; reflected, both ways from it are multiples of the period.
        let element = |place: i64| match mode {
            "edge" => place.clamp(0, size - 1),
            "wrap" => place.rem_euclid(size),
            _ => (0..size)
                .find(|at| [place - at, place + at].iter().any(|apart| apart % (2 * size - 2).max(1) == 0))
                .expect("it is one of them"),
        };
        for around in (0..=5).flat_map(|before| (0..=5).map(move |after| [before, after])) {
            let graph = with_weights("Pad", &[size], &[string("mode", mode)], &[w(0, &around)]);
            let expected: Vec<f32> =
                (-around[0]..size + around[1]).map(|place| element(place) as f32 + 1.0).collect();
            assert_eq!(compute(19, graph).1, expected, "{mode} {around:?} of {size}");
        }
    }
}

#[test]
fn what_surrounds_may_stand_at_one_side_of_one_axis() {
    let row = |mode: &str, around: [i64; 2]| {
        compute(19, with_weights("Pad", &[3], &[string("mode", mode)], &[w(0, &around)])).1
    };
    assert_eq!(row("edge", [2, 0]), [1.0, 1.0, 1.0, 2.0, 3.0]);
    assert_eq!(row("reflect", [2, 0]), [3.0, 2.0, 1.0, 2.0, 3.0]);
    assert_eq!(row("wrap", [2, 0]), [2.0, 3.0, 1.0, 2.0, 3.0]);
    assert_eq!(row("edge", [0, 2]), [1.0, 2.0, 3.0, 3.0, 3.0]);
    assert_eq!(row("reflect", [0, 2]), [1.0, 2.0, 3.0, 2.0, 1.0]);
    assert_eq!(row("wrap", [0, 2]), [1.0, 2.0, 3.0, 1.0, 2.0]);
    for mode in ["edge", "reflect", "wrap"] {
        assert_eq!(row(mode, [0, 0]), [1.0, 2.0, 3.0]);
        assert_eq!(row(mode, [-1, 0]), [2.0, 3.0]);
        assert_eq!(row(mode, [0, -1]), [1.0, 2.0]);
        // An axis that has no elements is left as it is.
        let none = with_weights("Pad", &[0, 2], &[string("mode", mode)], &[w(0, &[0, 1, 0, 0])]);
        check(19, none, &[0, 3], &[]);
    }
    let edges = |pads: &[i64]| with_weights("Pad", &[2, 2], &[string("mode", "edge")], &[w(0, pads)]);
    check(19, edges(&[1, 0, 0, 0]), &[3, 2], &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0]);
    check(19, edges(&[0, 1, 0, 0]), &[2, 3], &[1.0, 1.0, 2.0, 3.0, 3.0, 4.0]);
    check(19, edges(&[0, 0, 1, 0]), &[3, 2], &[1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    check(19, edges(&[0, 0, 0, 1]), &[2, 3], &[1.0, 2.0, 2.0, 3.0, 4.0, 4.0]);
}

/// The sums of the windows over 1, 2, ..., of which the last may hang over the end, as the standard says.
fn sums_of_windows(size: i64, kernel: i64, stride: i64, dilation: i64, pads: [i64; 2]) -> Vec<f32> {
    let room = size + pads[0] + pads[1] - (kernel - 1) * dilation - 1;
    let starts = (0..).map(|window| window * stride).take_while(|start| *start < room + stride);
    // What begins in the padding at the end is left out.
    let starts = starts.filter(|start| *start < size + pads[0]);
    let element = |at: i64| if (0..size).contains(&at) { (at + 1) as f32 } else { 0.0 };
    let window = |start: i64| (0..kernel).map(|tap| element(start + tap * dilation - pads[0])).sum();
    starts.map(window).collect()
}

#[test]
fn a_last_window_hangs_over_the_end_if_it_begins_inside() {
    let windows = [(1, 1), (2, 1), (2, 2), (3, 1)].into_iter();
    let windows = windows.flat_map(|window| [1, 2, 3, 4].map(|stride| (window, stride)));
    for ((kernel, dilation), stride) in windows {
        let attributes = [("kernel_shape", kernel), ("strides", stride), ("dilations", dilation)];
        let attributes = attributes.map(|(name, number)| ints(name, &[number]));
        for (size, pads) in
            [[0, 0], [1, 0], [0, 1], [1, 1]].iter().flat_map(|pads| (4..8).map(move |size| (size, pads)))
        {
            let attributes = [&attributes[..], &[ints("pads", pads), int("ceil_mode", 1)]].concat();
            let text = format!("{kernel} by {dilation} of {size} in steps of {stride}, pads {pads:?}");
            let expected = sums_of_windows(size, kernel, stride, dilation, *pads);
            let shape = vec![1, 1, expected.len() as u64];
            let sum = [&attributes[..], &[int("p", 1)]].concat();
            let found = compute(18, one_node("LpPool", &[1, 1, size], &["x"], &sum));
            assert_eq!(found, (shape.clone(), expected), "{text}");
            // The largest elements stand at the places that are said, one below what they are.
            let largest = Graph::default().input("x", &[1, 1, size]);
            let largest = largest.node("MaxPool", &["x"], &["most", "i"], &attributes);
            let largest = largest.node("Cast", &["i"], &["at"], &[int("to", 1)]);
            let (of_largest, found) =
                compute(18, largest.node("Sub", &["most", "at"], &["y"], &[]).output("y"));
            assert_eq!(of_largest, shape, "{text}");
            assert!(found.iter().all(|below| *below == 1.0 || below.is_infinite()), "{text}: {found:?}");
        }
    }
}

#[test]
fn small_integers_are_convolved_along_any_number_of_axes() {
    let convolved = |image: &[i64], filter: &[i64]| {
        let bytes = |name: &str, dims: &[i64], bytes: &[u8]| raw_tensor(name, 2, dims, bytes);
        let graph = Graph::default().input("x", image).weight(bytes("f", filter, &[1, 2]));
        let graph = graph.weight(bytes("one", &[], &[1])).node("Cast", &["x"], &["i"], &[int("to", 2)]);
        let graph = graph.node("ConvInteger", &["i", "f", "one"], &["c"], &[]);
        graph.node("Cast", &["c"], &["y"], &[int("to", 1)]).output("y")
    };
    // The sums of an element and twice the next one, each less 1.
    let sums = [2.0, 5.0, 8.0];
    check(10, convolved(&[1, 1, 4], &[1, 1, 2]), &[1, 1, 3], &sums);
    check(10, convolved(&[1, 1, 4, 1], &[1, 1, 2, 1]), &[1, 1, 3, 1], &sums);
    check(10, convolved(&[1, 1, 1, 4], &[1, 1, 1, 2]), &[1, 1, 1, 3], &sums);
    check(10, convolved(&[1, 1, 4, 1, 1], &[1, 1, 2, 1, 1]), &[1, 1, 3, 1, 1], &sums);
    check(10, convolved(&[1, 1, 1, 1, 4], &[1, 1, 1, 1, 2]), &[1, 1, 1, 1, 3], &sums);
    for (image, filter) in [(&[1, 4][..], &[1, 2][..]), (&[1, 1, 4], &[1, 2]), (&[1, 1, 4], &[1, 1, 1, 2])] {
        let said = faults(&model(10, convolved(image, filter))).join("\n");
        assert!(said.contains("an image or weights of another rank"), "{said}");
    }
}

#[test]
fn a_part_of_a_head_is_turned_and_the_rest_is_kept() {
    let turned = |angles: [&[f32]; 2], attributes: &[Message]| {
        let table = |name, angle: &[f32]| floats_tensor(name, &[1, 1, angle.len() as i64], angle);
        let tables = [table("w0", angles[0]), table("w1", angles[1])];
        with_weights("RotaryEmbedding", &[1, 1, 1, 4], attributes, &tables)
    };
    let whole = turned([&[0.5, 2.0], &[1.0, 3.0]], &[]);
    check(23, whole.clone(), &[1, 1, 1, 4], &[-2.5, -8.0, 2.5, 14.0]);
    let first = turned([&[0.5], &[1.0]], &[int("rotary_embedding_dim", 2)]);
    check(23, first.clone(), &[1, 1, 1, 4], &[-1.5, 2.0, 3.0, 4.0]);
    // Where there is no rest, none is joined.
    let joins = |graph: Graph| {
        let module = import_bytes(&model(23, graph).0, StrippedWeights::Refuse, &[]).expect("it is read");
        ir::text::print(&module).matches("nn.concat").count()
    };
    assert_eq!([joins(whole), joins(first)], [1, 2]);
}

#[test]
fn each_activation_of_a_recurrent_operator_has_its_own_numbers() {
    // The states are the gates alone, of inputs 1 and 2 in each direction.
    let states = |names: [&str; 2], numbers: &[Message]| {
        let names = Message::default().bytes(1, "activations").int(20, 8).strings(9, &names);
        let attributes = [names, string("direction", "bidirectional"), int("hidden_size", 1)];
        let weights = [("w0", 1.0), ("w1", 0.0)].map(|(name, w)| floats_tensor(name, &[2, 1, 1], &[w; 2]));
        with_weights("RNN", &[2, 1, 1], &[&attributes[..], numbers].concat(), &weights)
    };
    let alpha = "activation_alpha";
    let beta = "activation_beta";
    let both = [floats(alpha, &[2.0, 3.0]), floats(beta, &[10.0, 20.0])];
    check(14, states(["Affine", "Affine"], &both), &[2, 2, 1, 1], &[12.0, 23.0, 14.0, 26.0]);
    let factors = states(["Affine", "Affine"], &both[..1]);
    check(14, factors, &[2, 2, 1, 1], &[2.0, 3.0, 4.0, 6.0]);
    let sums = states(["Affine", "Relu"], &both[1..]);
    check(14, sums, &[2, 2, 1, 1], &[11.0, 1.0, 12.0, 2.0]);
    // They are for the functions that have such parameters, in their order.
    let fewer = states(["Relu", "Affine"], &[floats(alpha, &[2.0])]);
    check(14, fewer, &[2, 2, 1, 1], &[1.0, 2.0, 2.0, 4.0]);
    let fewer = states(["Affine", "Affine"], &[floats(beta, &[10.0])]);
    check(14, fewer, &[2, 2, 1, 1], &[11.0, 1.0, 12.0, 2.0]);
    for name in [alpha, beta] {
        let more = states(["Affine", "Affine"], &[floats(name, &[2.0, 3.0, 4.0])]);
        refuses(14, more, &format!("more numbers in `{name}` than activations"));
    }
}

#[test]
fn rates_of_linear_attention_are_those_of_all_heads_or_of_each() {
    let outputs = |rates: &[f32]| {
        let heads = [int("q_num_heads", 2), int("kv_num_heads", 2), string("update_rule", "delta")];
        let graph = Graph::default().input("q", &[1, 1, 2]);
        let graph = graph.weight(floats_tensor("k", &[1, 1, 2], &[3.0, 5.0]));
        let graph = graph.weight(floats_tensor("v", &[1, 1, 2], &[7.0, 11.0]));
        let graph = graph.weight(floats_tensor("rates", &[1, 1, rates.len() as i64], rates));
        let operands = ["q", "k", "v", "", "", "rates"];
        graph.node("LinearAttention", &operands, &["y", "state"], &heads).output("y")
    };
    // From no state a step gets to its rate times key times value, of which its query reads.
    check(28, outputs(&[0.5]), &[1, 1, 2], &[10.5, 55.0]);
    check(28, outputs(&[0.5, 2.0]), &[1, 1, 2], &[10.5, 220.0]);
}

#[test]
fn a_determinant_takes_the_largest_pivot_and_ends_with_the_last() {
    let graph = |size: i64, numbers: &[f32]| {
        let count = numbers.len() as i64 / (size * size);
        let graph = Graph::default().weight(floats_tensor("w", &[count, size, size], numbers));
        graph.node("Det", &["w"], &["y"], &[]).output("y")
    };
    check(11, graph(1, &[3.0, -2.0]), &[2], &[3.0, -2.0]);
    check(11, graph(2, &[1.0, 2.0, 4.0, 4.0, 0.0, 1.0, 0.0, 5.0]), &[2], &[-4.0, 0.0]);
    check(11, graph(3, &[0.0, 2.0, 0.0, 0.0, 0.0, 4.0, 8.0, 0.0, 0.0]), &[1], &[64.0]);
    let module = import_bytes(&model(11, graph(2, &[1.0; 4])).0, StrippedWeights::Refuse, &[]).unwrap();
    let text = ir::text::print(&module);
    assert!(!text.contains("x0x"), "rows without elements:\n{text}");
}

#[test]
fn each_image_is_read_by_its_own_grid() {
    // The first and the last of three pixels, and the last and the first of three others.
    let places = [-1.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0];
    let attributes = [string("mode", "nearest"), int("align_corners", 1)];
    let graph = one_node("GridSample", &[2, 1, 1, 3], &["x", "grid"], &attributes);
    let graph = graph.weight(floats_tensor("grid", &[2, 1, 2, 2], &places));
    check(20, graph, &[2, 1, 1, 2], &[1.0, 3.0, 6.0, 4.0]);
}

#[test]
fn an_axis_that_is_computed_is_one_number_and_gives_one_shape_wherever_it_is() {
    let of = |shape: &[i64], axis: &[i64]| {
        let graph = Graph::default().input("x", shape).input("a", axis).output("y");
        graph.node("Cast", &["a"], &["axis"], &[int("to", 7)])
    };
    let computed = "input 1 is computed, expected a constant";
    refuses(17, of(&[2, 2], &[2]).node("CumSum", &["x", "axis"], &["y"], &[]), computed);
    let some = of(&[2, 2], &[]).weight(ints_tensor("c", &[1, 0]));
    let some = some.node("Cast", &["c"], &["b"], &[int("to", 9)]);
    let some = some.node("Compress", &["x", "b"], &["some"], &[int("axis", 1)]);
    refuses(17, some.node("CumSum", &["some", "axis"], &["y"], &[]), computed);
    // Of 1, 2 and 3 numbers a half has 1, 2 and 2.
    let half = of(&[1, 2, 3, 1], &[]).node("DFT", &["x", "", "axis"], &["y"], &[int("onesided", 1)]);
    refuses(20, half, "input 2 is computed, expected a constant");
}

#[test]
fn products_of_small_integers_are_of_8_bits_and_of_vectors_too() {
    let bytes = |name: &str, dims: &[i64], bytes: &[u8]| raw_tensor(name, 2, dims, bytes);
    let product = |weights: &[Message], names: &[&str]| {
        let graph = weights.iter().cloned().fold(Graph::default(), Graph::weight);
        let graph = graph.node("MatMulInteger", names, &["i"], &[]);
        graph.node("Cast", &["i"], &["y"], &[int("to", 1)]).output("y")
    };
    let vectors = [bytes("a", &[3], &[1, 2, 3]), bytes("b", &[3], &[4, 5, 6])];
    check(10, product(&vectors, &["a", "b"]), &[], &[32.0]);
    let matrices = [bytes("a", &[2, 2], &[1, 2, 3, 4]), bytes("b", &[2, 2], &[5, 6, 7, 8])];
    // Zeros may be a column or a row of a matrix.
    let zeros = [bytes("a0", &[2, 1], &[0, 1]), bytes("b0", &[1, 2], &[1, 2])];
    let all = [&matrices[..], &zeros].concat();
    check(10, product(&all, &["a", "b", "a0"]), &[2, 2], &[19.0, 22.0, 31.0, 36.0]);
    check(10, product(&all, &["a", "b", "", "b0"]), &[2, 2], &[16.0, 16.0, 36.0, 36.0]);
    let wide =
        [("a", 1i32), ("b", 2)].map(|(name, number)| raw_tensor(name, 6, &[1, 1], &number.to_le_bytes()));
    let said = "elements of another type than integers of 8 bits";
    refuses(10, product(&wide, &["a", "b"]), said);
    refuses(10, product(&[bytes("a", &[1, 1], &[1]), wide[1].clone()], &["a", "b"]), said);
}

/// Which product of integers is chosen shows in the text: `nn.quantized_matmul` has packed weights of 8 bits.
#[test]
fn a_second_factor_of_integers_is_a_weight_and_a_matrix_for_the_kernel_of_weights() {
    let bytes = |name: &str, dims: &[i64], bytes: &[u8]| raw_tensor(name, 2, dims, bytes);
    let product = |x: &[i64], first: &str, second: &str, weight: Message| {
        let graph = Graph::default().input("x", x).weight(weight);
        let graph = graph.node("Cast", &["x"], &["c"], &[int("to", 2)]);
        let graph = graph.node("MatMulInteger", &[first, second], &["i"], &[]);
        graph.node("Cast", &["i"], &["y"], &[int("to", 1)]).output("y")
    };
    let matrix = || bytes("w", &[2, 2], &[1, 2, 3, 4]);
    let stack = bytes("w", &[2, 2, 2], &[1, 2, 3, 4, 1, 0, 0, 1]);
    let cases = [
        (product(&[2, 2], "c", "w", matrix()), true, vec![7.0, 10.0, 15.0, 22.0]),
        (product(&[1, 2, 2], "c", "w", matrix()), true, vec![7.0, 10.0, 15.0, 22.0]),
        (product(&[2, 2], "w", "c", matrix()), false, vec![7.0, 10.0, 15.0, 22.0]),
        (product(&[2, 2], "c", "w", stack), false, vec![7.0, 10.0, 15.0, 22.0, 1.0, 2.0, 3.0, 4.0]),
    ];
    for (graph, is_of_weights, expected) in cases {
        let module = import_bytes(&model(10, graph.clone()).0, StrippedWeights::Refuse, &[]).unwrap();
        assert_eq!(ir::text::print(&module).contains("nn.quantized_matmul"), is_of_weights);
        assert_eq!(compute(10, graph).1, expected);
    }
}

#[test]
fn products_of_integers_of_32_bits_are_sums_of_elements() {
    let graph = Graph::default().input("x", &[2, 2]).node("Cast", &["x"], &["a"], &[int("to", 6)]);
    let graph = graph.node("MatMul", &["a", "a"], &["m"], &[]);
    let graph = graph.node("Cast", &["m"], &["y"], &[int("to", 1)]).output("y");
    check(13, graph.clone(), &[2, 2], &[7.0, 10.0, 15.0, 22.0]);
    let module = import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]).expect("it is read");
    let text = ir::text::print(&module);
    assert!(!text.contains("nn.matmul"), "there is no kernel for such products:\n{text}");
}

#[test]
fn a_number_of_a_type_is_not_that_of_strings() {
    let eye = |kind: i64| one_node("EyeLike", &[1, 2], &["x"], &[int("dtype", kind)]);
    check(9, eye(1), &[1, 2], &[1.0, 0.0]);
    refuses(9, eye(8), "`dtype` 8, expected the number of a numeric type");
    refuses(9, eye(0), "`dtype` 0, expected the number of a numeric type");
    refuses(9, eye(1 << 32 | 1), "`dtype` 4294967297, expected the number of a numeric type");
}
