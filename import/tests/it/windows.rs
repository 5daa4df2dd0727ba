//! That windows, pixels, turns and sequences are what their text says at the edges of what it allows, and
//! that what is beyond them is refused with what was expected.
//!
//! The oracle is the operator's text at onnx.ai/onnx/operators; every input counts 1, 2, 3, ...

use import::onnx::StrippedWeights;

use crate::fixture::{import_bytes, refuses};
use crate::values::{check, compute, one_node, w, with_constants};
use crate::writer::{
    FLOAT, Graph, INT64, Message, float, floats_tensor, graph, int, ints, ints_tensor, model, raw_tensor,
    string, value_info,
};

fn number(name: &str, number: i64) -> Message {
    raw_tensor(name, INT64, &[], &number.to_le_bytes())
}

#[track_caller]
fn check_close(version: i64, graph: Graph, shape: &[u64], expected: &[f32]) {
    let (found_shape, found) = compute(version, graph);
    assert_eq!(found_shape, shape);
    let is_close = |(found, expected): (&f32, &f32)| (found - expected).abs() < 1e-5;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_close), "{found:?}");
}

/// A Resize of `x` by an operand of this number.
fn resized(shape: &[i64], at: usize, weight: Message, attributes: &[Message]) -> Graph {
    let mut names = ["x", "", "", ""];
    names[at] = "w0";
    one_node("Resize", shape, &names[..=at], attributes).weight(weight)
}

fn by_scales(shape: &[i64], scales: &[f32], attributes: &[Message]) -> Graph {
    resized(shape, 2, floats_tensor("w0", &[scales.len() as i64], scales), attributes)
}

fn by_sizes(shape: &[i64], sizes: &[i64], attributes: &[Message]) -> Graph {
    resized(shape, 3, w(0, sizes), attributes)
}

#[test]
fn pixels_are_resized_along_the_axes_that_are_said() {
    let doubled = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0];
    for axis in [1, -1] {
        check(18, by_scales(&[2, 2], &[2.0], &[ints("axes", &[axis])]), &[2, 4], &doubled);
        check(18, by_sizes(&[2, 2], &[4], &[ints("axes", &[axis])]), &[2, 4], &doubled);
    }
    let rows = by_scales(&[2, 2], &[2.0], &[ints("axes", &[0])]);
    check(18, rows, &[4, 2], &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    // Version 10 has neither regions nor modes of coordinates: a pixel is the one at or before its place.
    let old = one_node("Resize", &[2], &["x", "w0"], &[]).weight(floats_tensor("w0", &[1], &[1.5]));
    check(10, old, &[3], &[1.0, 1.0, 2.0]);
    let named = Graph::default().input("x", &[-1, 4]).weight(floats_tensor("s", &[2], &[1.5, 1.0]));
    let named = named.node("Resize", &["x", "", "s"], &["y"], &[string("mode", "linear")]).output("y");
    refuses(13, named, "axis 0 of size x_0 is resized, expected a known size");
}

#[test]
fn one_scale_of_all_axes_follows_from_the_least_or_greatest() {
    let keeping = |policy: &str| {
        let floor = [string("coordinate_transformation_mode", "asymmetric"), string("nearest_mode", "floor")];
        by_sizes(&[2, 3], &[3, 3], &[&floor[..], &[string("keep_aspect_ratio_policy", policy)]].concat())
    };
    check(18, keeping("not_larger"), &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let rows = [[1.0, 1.0, 2.0, 3.0, 3.0], [1.0, 1.0, 2.0, 3.0, 3.0], [4.0, 4.0, 5.0, 6.0, 6.0]];
    check(18, keeping("not_smaller"), &[3, 5], &rows.concat());
    check(18, keeping("stretch"), &[3, 3], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let linear = [string("mode", "linear"), string("keep_aspect_ratio_policy", "fit")];
    refuses(18, by_sizes(&[2], &[3], &linear), "`keep_aspect_ratio_policy` \"fit\"");
}

#[test]
fn what_lies_outside_of_a_region_is_zero_unless_another_number_is_said() {
    let region = |region: &[f32], attributes: &[Message]| {
        let graph = one_node("Resize", &[2], &["x", "r", "", "s"], attributes).weight(ints_tensor("s", &[3]));
        graph.weight(floats_tensor("r", &[region.len() as i64], region))
    };
    let mode =
        || vec![string("mode", "linear"), string("coordinate_transformation_mode", "tf_crop_and_resize")];
    check(13, region(&[0.0, 2.0], &mode()), &[3], &[1.0, 2.0, 0.0]);
    check(13, region(&[-1.0, 1.0], &mode()), &[3], &[0.0, 1.0, 2.0]);
    let nine = [&mode()[..], &[float("extrapolation_value", 9.0)]].concat();
    check(13, region(&[0.0, 2.0], &nine), &[3], &[1.0, 2.0, 9.0]);
    refuses(13, region(&[0.0, 1.0, 2.0], &mode()), "a region that is not two numbers for each axis");
}

#[test]
fn what_no_resize_knows_is_refused() {
    let mode = |name: &str, value: &str| by_sizes(&[2], &[4], &[string(name, value)]);
    refuses(13, mode("mode", "area"), "`mode` \"area\", expected nearest, linear or cubic");
    refuses(13, mode("nearest_mode", "round"), "`nearest_mode` \"round\"");
    let corner = "coordinate_transformation_mode";
    refuses(13, mode(corner, "corner"), "`coordinate_transformation_mode` \"corner\"");
    let linear = || [string("mode", "linear")];
    refuses(13, by_scales(&[2], &[2.0, 2.0], &linear()), "2 scales for 1 axes");
    refuses(13, by_scales(&[2, 2], &[2.0], &linear()), "1 scales for 2 axes");
    refuses(13, by_sizes(&[2, 2], &[4], &linear()), "1 sizes for 2 axes");
    refuses(13, one_node("Resize", &[2], &["x"], &linear()), "scales and sizes are left out");
    refuses(13, by_scales(&[2], &[0.25], &linear()), "0 elements along axis 0");
    refuses(13, by_sizes(&[1], &[1_000_000], &linear()), "1000000 elements along axis 0");
    refuses(18, by_sizes(&[2], &[4], &[ints("axes", &[1])]), "axis 1, expected -1 to 0");
    let whole = Graph::default().input("x", &[2]).weight(ints_tensor("s", &[3]));
    let whole = whole.node("Cast", &["x"], &["i"], &[int("to", INT64.into())]);
    let whole = whole.node("Resize", &["i", "", "", "s"], &["y"], &linear()).output("y");
    refuses(13, whole, "interpolated integers, expected floats");
}

#[test]
fn an_axis_that_is_not_resized_may_be_long() {
    let linear = [string("mode", "linear")];
    let resized = |to: &[i64]| by_sizes(&[1_000_001, 2], to, &linear);
    let import = |graph: Graph| import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]);
    assert!(import(resized(&[1_000_001, 3])).is_ok());
    refuses(13, resized(&[2, 3]), "axis 0 of 1000001 elements is resized");
    refuses(13, resized(&[1_000_002, 3]), "1000002 elements along axis 0");
}

#[test]
fn a_convolution_of_volumes_is_the_sum_of_those_of_its_planes() {
    let conv = |shape: &[i64], filter: &[i64], numbers: &[f32], attributes: &[Message]| {
        with_constants("Conv", shape, &[floats_tensor("w0", filter, numbers)], attributes)
    };
    let two = [2, 1, 2, 1, 1];
    let channels = conv(&[1, 1, 2, 1, 1], &two, &[1.0, 10.0, 100.0, 1000.0], &[]);
    check(17, channels, &[1, 2, 1, 1, 1], &[21.0, 2100.0]);
    let pair = [1, 1, 2, 1, 1];
    let batches = conv(&[2, 1, 3, 1, 1], &pair, &[1.0, 10.0], &[]);
    check(17, batches, &[2, 1, 2, 1, 1], &[21.0, 32.0, 54.0, 65.0]);
    let apart = conv(&[1, 1, 3, 1, 1], &pair, &[1.0, 10.0], &[ints("dilations", &[2, 1, 1])]);
    check(17, apart, &[1, 1, 1, 1, 1], &[31.0]);
    let steps = [ints("strides", &[2, 1, 1]), ints("pads", &[1, 0, 0, 0, 0, 0])];
    let filter = floats_tensor("w0", &pair, &[1.0, 10.0]);
    let biased =
        with_constants("Conv", &[1, 1, 3, 1, 1], &[filter, floats_tensor("w1", &[1], &[0.5])], &steps);
    check(17, biased, &[1, 1, 2, 1, 1], &[10.5, 32.5]);
    let deep = conv(&[1, 1, 1, 2, 2], &[1, 1, 1, 1, 2], &[1.0, 10.0], &[]);
    check(17, deep, &[1, 1, 1, 2, 1], &[21.0, 43.0]);
}

#[test]
fn a_pool_of_volumes_takes_all_elements_of_a_box() {
    let pool = |op: &str, shape: &[i64], attributes: &[Message]| one_node(op, shape, &["x"], attributes);
    let boxes = [ints("kernel_shape", &[2, 1, 2])];
    check(17, pool("MaxPool", &[1, 1, 2, 2, 2], &boxes), &[1, 1, 1, 2, 1], &[6.0, 8.0]);
    check(17, pool("AveragePool", &[1, 1, 2, 2, 2], &boxes), &[1, 1, 1, 2, 1], &[3.5, 5.5]);
    let around = [ints("kernel_shape", &[2, 1, 1]), ints("pads", &[1, 0, 0, 1, 0, 0])];
    check(17, pool("AveragePool", &[1, 1, 2, 1, 1], &around), &[1, 1, 3, 1, 1], &[1.0, 1.5, 2.0]);
    let counted = [&around[..], &[int("count_include_pad", 1)]].concat();
    check(17, pool("AveragePool", &[1, 1, 2, 1, 1], &counted), &[1, 1, 3, 1, 1], &[0.5, 1.5, 1.0]);
    check(17, pool("MaxPool", &[1, 2, 2], &[ints("kernel_shape", &[2])]), &[1, 2, 1], &[2.0, 4.0]);
    let root = pool("LpPool", &[1, 2, 2], &[ints("kernel_shape", &[2])]);
    check_close(18, root, &[1, 2, 1], &[5f32.sqrt(), 5.0]);
}

#[test]
fn windows_that_do_not_fit_their_image_are_refused() {
    let conv = |shape: &[i64], filter: &[i64], attributes: &[Message]| {
        let numbers = vec![1.0; filter.iter().product::<i64>() as usize];
        with_constants("Conv", shape, &[floats_tensor("w0", filter, &numbers)], attributes)
    };
    let line = [1, 1, 4];
    refuses(17, conv(&line, &[1, 1, 2, 2], &[]), "weights of another rank than the input");
    let other = "`kernel_shape` [3], but the weights have [2]";
    refuses(17, conv(&line, &[1, 1, 2], &[ints("kernel_shape", &[3])]), other);
    let flat = "an input of shape [1, 4], expected [batch, channels, sizes...]";
    refuses(17, conv(&[1, 4], &[1, 1, 2], &[]), flat);
    let pads = "`pads` [-1, 0], expected 2 sizes from 0 to 2147483647";
    refuses(17, conv(&line, &[1, 1, 2], &[ints("pads", &[-1, 0])]), pads);
    let strides = "`strides` [2147483648], expected 1 sizes from 0 to 2147483647";
    refuses(17, conv(&line, &[1, 1, 2], &[ints("strides", &[1 << 31])]), strides);
    let gaps = "kernel [2], strides [1], dilations [0], expected 1 or more";
    refuses(17, conv(&line, &[1, 1, 2], &[ints("dilations", &[0])]), gaps);
}

/// A transposed convolution of 1, 2, 3 in strides of 2.
fn spread(kernel: &[f32], attributes: &[Message]) -> Graph {
    let filter = floats_tensor("w0", &[1, 1, kernel.len() as i64], kernel);
    let attributes = [&[ints("strides", &[2])], attributes].concat();
    with_constants("ConvTranspose", &[1, 1, 3], &[filter], &attributes)
}

#[test]
fn what_is_spread_is_cut_to_the_size_that_is_wanted() {
    let check = |graph: Graph, elements: &[f32]| {
        check(11, graph, &[1, 1, elements.len() as u64], elements);
    };
    let pair = [1.0, 10.0];
    check(spread(&pair, &[]), &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    check(spread(&pair, &[ints("pads", &[1, 0])]), &[10.0, 2.0, 20.0, 3.0, 30.0]);
    check(spread(&pair, &[ints("pads", &[2, 3])]), &[2.0]);
    check(spread(&pair, &[ints("output_padding", &[1])]), &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 0.0]);
    // What is missing of an odd number is missing before the elements, unless it is said to be after them.
    let wanted = || ints("output_shape", &[5]);
    check(spread(&pair, &[wanted()]), &[10.0, 2.0, 20.0, 3.0, 30.0]);
    let upper = string("auto_pad", "SAME_UPPER");
    check(spread(&pair, &[wanted(), upper.clone()]), &[1.0, 10.0, 2.0, 20.0, 3.0]);
    let three = [1.0, 10.0, 100.0];
    check(spread(&three, &[upper]), &[1.0, 10.0, 102.0, 20.0, 203.0, 30.0]);
    let lower = string("auto_pad", "SAME_LOWER");
    check(spread(&three, &[lower]), &[10.0, 102.0, 20.0, 203.0, 30.0, 300.0]);
    for groups in [0, 2] {
        let reason = "a `group` that does not divide the channels";
        refuses(11, spread(&pair, &[int("group", groups)]), reason);
    }
    let filter = || floats_tensor("w0", &[1, 1, 2], &[1.0, 10.0]);
    let rank = "an input or weights of another rank than [batch, channels, sizes...]";
    refuses(11, with_constants("ConvTranspose", &[1, 1, 2, 2], &[filter()], &[]), rank);
    let blocks = |size: i64, attributes: &[Message]| {
        let filter = floats_tensor("w0", &[1, 1, 2, 1, 1], &[1.0, 10.0]);
        with_constants("ConvTranspose", &[1, 1, size, 2, 2], &[filter], attributes)
    };
    let apart = |stride: i64| ints("strides", &[stride, 1, 1]);
    refuses(11, blocks(3, &[apart(4095)]), "4097 steps, expected at most 4096");
    refuses(11, blocks(1 << 56, &[apart(4000)]), "a result that is larger than memory");
    let cut = ints("pads", &[2, 0, 0, 2, 0, 0]);
    refuses(11, blocks(3, &[apart(1), cut]), "a result without elements");
    let named = with_constants("ConvTranspose", &[1, 1, -1], &[filter()], &[wanted()]);
    refuses(11, named, "an `output_shape` of sizes that are not known");
}

#[test]
fn columns_are_added_up_where_their_blocks_lie() {
    let image = |shape: &[i64], size: &[i64], block: &[i64]| {
        with_constants("Col2Im", shape, &[w(0, size), w(1, block)], &[])
    };
    let elements = [1.0, 7.0, 6.0, 3.0, 11.0, 8.0];
    check(18, image(&[1, 2, 4], &[2, 3], &[1, 2]), &[1, 1, 2, 3], &elements);
    let lines = "3 x 4 elements for blocks [1, 2] at [2, 2] places";
    refuses(18, image(&[1, 3, 4], &[2, 3], &[1, 2]), lines);
    let places = "2 x 3 elements for blocks [1, 2] at [2, 2] places";
    refuses(18, image(&[1, 2, 3], &[2, 3], &[1, 2]), places);
    refuses(18, image(&[1, 2, 4], &[0, 3], &[1, 2]), "input 1 has a size below 1");
    refuses(18, image(&[1, 2, 4], &[2, 3], &[1, -2]), "input 2 has a size below 1");
    refuses(18, image(&[2, 4], &[2, 3], &[1, 2]), "an input that is not [batch, elements, columns]");
}

#[test]
fn neighbouring_channels_are_one_more_after_than_before() {
    let normalised = |shape: &[i64], size: i64, alpha: f32| {
        let attributes = [int("size", size), float("alpha", alpha), float("beta", 1.0), float("bias", 0.0)];
        one_node("LRN", shape, &["x"], &attributes)
    };
    check_close(13, normalised(&[1, 3, 1], 2, 2.0), &[1, 3, 1], &[1.0 / 5.0, 2.0 / 13.0, 3.0 / 9.0]);
    check_close(13, normalised(&[1, 3, 1], 3, 3.0), &[1, 3, 1], &[1.0 / 5.0, 2.0 / 14.0, 3.0 / 13.0]);
    check_close(13, normalised(&[1, 2], 1, 1.0), &[1, 2], &[1.0, 0.5]);
    for size in [0, -1] {
        refuses(13, normalised(&[1, 3, 1], size, 1.0), "`size` is left out or below 1");
    }
    refuses(13, one_node("LRN", &[1, 3, 1], &["x"], &[]), "`size` is left out or below 1");
    refuses(13, normalised(&[3], 1, 1.0), "an input without channels");
    refuses(13, normalised(&[1, 3, 1], 4097, 1.0), "4097 steps, expected at most 4096");
}

#[test]
fn what_is_cut_or_added_at_both_ends_is_one_more_at_the_last() {
    let crop = |shape: &[i64], sizes: &[i64], attributes: &[Message]| {
        with_constants("CenterCropPad", shape, &[w(0, sizes)], attributes)
    };
    check(18, crop(&[5], &[2], &[]), &[2], &[2.0, 3.0]);
    check(18, crop(&[2], &[5], &[]), &[5], &[0.0, 1.0, 2.0, 0.0, 0.0]);
    check(18, crop(&[2], &[2], &[]), &[2], &[1.0, 2.0]);
    check(18, crop(&[2, 3], &[1], &[ints("axes", &[-1])]), &[2, 1], &[2.0, 5.0]);
    check(18, crop(&[2, 3], &[1, 4], &[]), &[1, 4], &[1.0, 2.0, 3.0, 0.0]);
    refuses(18, crop(&[2, 3], &[1], &[]), "as many sizes as axes were expected");
    refuses(18, crop(&[2], &[-1], &[]), "a size below 0");
    refuses(18, crop(&[-1, 4], &[1, 1], &[]), "an input of sizes [x_0, 4], expected known sizes");
}

/// A Scan of `x` that negates each slice, of 2 numbers, and what it shows.
fn negated(shape: &[i64], attributes: &[Message]) -> Graph {
    let inner = Graph::default().input("e", &[2]).node("Neg", &["e"], &["d"], &[]).output("d");
    let attributes = [&[graph("body", inner), int("num_scan_inputs", 1)], attributes].concat();
    one_node("Scan", shape, &["x"], &attributes)
}

#[test]
fn slices_are_taken_and_put_along_any_axis_in_few_steps_and_in_many() {
    for steps in [3u64, 63, 64, 70] {
        let size = steps.cast_signed();
        let shape = [2, size];
        let column = |at: u64| [-((at + 1) as f32), -((at + 1 + steps) as f32)];
        let columns = |order: &dyn Fn(u64) -> u64| -> Vec<f32> {
            (0..steps).flat_map(|at| column(order(at))).collect()
        };
        let to_rows = negated(&shape, &[ints("scan_input_axes", &[1])]);
        check(13, to_rows, &[steps, 2], &columns(&|at| at));
        let back = [ints("scan_input_axes", &[-1]), ints("scan_input_directions", &[1])];
        check(13, negated(&shape, &back), &[steps, 2], &columns(&|at| steps - 1 - at));
        let shown = [ints("scan_input_axes", &[1]), ints("scan_output_directions", &[1])];
        check(13, negated(&shape, &shown), &[steps, 2], &columns(&|at| steps - 1 - at));
        let whole: Vec<f32> = (1..=2 * steps).map(|x| -(x as f32)).collect();
        for axis in [1, -1] {
            let same = [ints("scan_input_axes", &[1]), ints("scan_output_axes", &[axis])];
            check(13, negated(&shape, &same), &[2, steps], &whole);
        }
        let module = import_bytes(&model(13, negated(&[size, 2], &[])).0, StrippedWeights::Refuse, &[]);
        let text = ir::text::print(&module.expect("it is read"));
        assert_eq!(text.contains("scf.for"), steps >= 64, "{steps} steps");
    }
}

#[test]
fn a_scan_says_what_it_scans() {
    let lists = [
        ("scan_input_axes", 1),
        ("scan_input_directions", 1),
        ("scan_output_axes", 1),
        ("scan_output_directions", 1),
    ];
    for (name, count) in lists {
        let reason = format!("`{name}` has not {count} numbers");
        refuses(13, negated(&[3, 2], &[ints(name, &[0, 0])]), &reason);
    }
    refuses(13, negated(&[3, 2], &[ints("scan_input_axes", &[2])]), "axis 2, expected -2 to 1");
    let inner = || {
        let inner = Graph::default().input("e", &[2]).node("Neg", &["e"], &["d"], &[]);
        graph("body", inner.output("d"))
    };
    for count in [0, 2, -1] {
        let scan = one_node("Scan", &[3, 2], &["x"], &[inner(), int("num_scan_inputs", count)]);
        refuses(13, scan, "`num_scan_inputs` is no number of inputs");
    }
    refuses(13, one_node("Scan", &[3, 2], &["x"], &[inner()]), "`num_scan_inputs` is no number of inputs");
    let none = one_node("Scan", &[3, 2], &["x"], &[int("num_scan_inputs", 1)]);
    refuses(13, none, "`body` is left out, or no graph");
    let batched = |attributes: &[Message], lengths: &str| {
        let attributes = [&[inner(), int("num_scan_inputs", 1)], attributes].concat();
        one_node("Scan", &[2, 2, 2], &[lengths, "x"], &attributes).weight(ints_tensor("l", &[2, 1]))
    };
    let below: Vec<f32> = (1..=8).map(|x| -(x as f32)).collect();
    check(8, batched(&[], ""), &[2, 2, 2], &below);
    check(8, batched(&[ints("directions", &[0])], ""), &[2, 2, 2], &below);
    refuses(8, batched(&[ints("directions", &[1])], ""), "a scan from the last step on");
    refuses(8, batched(&[], "l"), "sequences of different lengths, expected as many steps for all");
}

#[test]
fn a_loop_needs_its_graph_and_one_number_of_turns() {
    let inputs = |count: usize| {
        let all = [value_info("i", INT64, &[]), value_info("p", 9, &[]), value_info("h", FLOAT, &[3])];
        Graph { inputs: all[..count].to_vec(), ..Graph::default() }
    };
    let doubled = |inner: Graph| {
        let inner = inner.node("Add", &["h", "h"], &["g"], &[]).node("Identity", &["p"], &["o"], &[]);
        inner.node("Neg", &["g"], &["d"], &[]).output("o").output("g").output("d")
    };
    let looped = |turns: Message, body: &[Message], output: &str| {
        let whole = Graph::default().input("x", &[3]).weight(turns);
        whole.node("Loop", &["n", "", "x"], &["y", "z"], body).output(output)
    };
    let body = || [graph("body", doubled(inputs(3)))];
    check(13, looped(number("n", 2), &body(), "y"), &[3], &[4.0, 8.0, 12.0]);
    check(13, looped(number("n", 2), &body(), "z"), &[2, 3], &[-2.0, -4.0, -6.0, -4.0, -8.0, -12.0]);
    check(13, looped(ints_tensor("n", &[1]), &body(), "z"), &[1, 3], &[-2.0, -4.0, -6.0]);
    let two = looped(ints_tensor("n", &[1, 2]), &body(), "y");
    refuses(13, two, "a number of iterations that is not one number");
    refuses(13, looped(number("n", 2), &[], "y"), "`body` is left out, or no graph");
    let few = [graph("body", inputs(2).node("Identity", &["p"], &["o"], &[]).output("o").output("o"))];
    refuses(13, looped(number("n", 2), &few, "y"), "a graph of 2 inputs, expected 3");
    let silent = [graph("body", inputs(3).node("Identity", &["p"], &["o"], &[]).output("o"))];
    refuses(13, looped(number("n", 2), &silent, "y"), "a body with fewer outputs than states");
}

#[test]
fn a_known_condition_needs_its_branch_and_is_one_truth_value() {
    let then = || graph("then_branch", Graph::default().node("Neg", &["x"], &["t"], &[]).output("t"));
    let other = || graph("else_branch", Graph::default().node("Add", &["x", "x"], &["e"], &[]).output("e"));
    let branch = |condition: &[u8], shape: &[i64], branches: &[Message]| {
        let whole = Graph::default().input("x", &[3]).weight(raw_tensor("c", 9, shape, condition));
        whole.node("If", &["c"], &["y"], branches).output("y")
    };
    for shape in [&[][..], &[1]] {
        check(13, branch(&[1], shape, &[then(), other()]), &[3], &[-1.0, -2.0, -3.0]);
        check(13, branch(&[0], shape, &[then(), other()]), &[3], &[2.0, 4.0, 6.0]);
        refuses(13, branch(&[1], shape, &[other()]), "`then_branch` is left out, or no graph");
        refuses(13, branch(&[0], shape, &[then()]), "`else_branch` is left out, or no graph");
    }
    let two = branch(&[1, 1], &[2], &[then(), other()]);
    refuses(13, two, "a condition that is not one truth value");
}

/// A sequence `s` of `x`, 1 and 2, and of its negative; and a node of it that makes `y`.
fn of_two(op: &str, inputs: &[&str], attributes: &[Message]) -> Graph {
    let graph = Graph::default().input("x", &[2]).node("Neg", &["x"], &["m"], &[]);
    let graph = graph.node("SequenceConstruct", &["x", "m"], &["s"], &[]);
    graph.node(op, inputs, &["y"], attributes)
}

/// The same sequence, with an element more at a position or one less, as one row.
fn changed(op: &str, inputs: &[&str], position: i64) -> Graph {
    let graph = of_two(op, inputs, &[]).weight(number("i", position));
    graph.node("ConcatFromSequence", &["y"], &["z"], &[int("axis", -1)]).output("z")
}

#[test]
fn positions_in_sequences_count_from_both_ends() {
    let at = |position: i64| of_two("SequenceAt", &["s", "i"], &[]).weight(number("i", position)).output("y");
    check(17, at(1), &[2], &[-1.0, -2.0]);
    check(17, at(-2), &[2], &[1.0, 2.0]);
    for position in [2, -3] {
        refuses(17, at(position), &format!("position {position} of 2"));
    }
    let put = |position: i64| changed("SequenceInsert", &["s", "x", "i"], position);
    check(17, put(2), &[6], &[1.0, 2.0, -1.0, -2.0, 1.0, 2.0]);
    check(17, put(-2), &[6], &[1.0, 2.0, 1.0, 2.0, -1.0, -2.0]);
    for position in [3, -3] {
        refuses(17, put(position), &format!("position {position} of 2"));
    }
    let erased = |position: i64| changed("SequenceErase", &["s", "i"], position);
    check(17, erased(-2), &[2], &[-1.0, -2.0]);
    check(17, erased(1), &[2], &[1.0, 2.0]);
    for position in [2, -3] {
        refuses(17, erased(position), &format!("position {position} of 2"));
    }
    let list = of_two("SequenceAt", &["s", "i"], &[]).weight(ints_tensor("i", &[0, 1])).output("y");
    refuses(17, list, "a position that is not one known number");
    let empty = Graph::default().input("x", &[2]).weight(number("i", 0));
    let empty = empty.node("SequenceEmpty", &[], &["s"], &[]);
    let of_none = |op: &str, inputs: &[&str], attributes: &[Message]| {
        empty.clone().node(op, inputs, &["y"], attributes).output("y")
    };
    let none = "a sequence without elements";
    refuses(17, of_none("SequenceAt", &["s", "i"], &[]), none);
    refuses(17, of_none("SequenceErase", &["s"], &[]), none);
    refuses(17, of_none("ConcatFromSequence", &["s"], &[int("axis", 0)]), none);
}

#[test]
fn sequences_are_joined_along_an_axis_that_is_there_or_new() {
    let joined = |attributes: &[Message]| of_two("ConcatFromSequence", &["s"], attributes).output("y");
    check(17, joined(&[int("axis", 0)]), &[4], &[1.0, 2.0, -1.0, -2.0]);
    let new = |axis: i64| joined(&[int("axis", axis), int("new_axis", 1)]);
    check(17, new(0), &[2, 2], &[1.0, 2.0, -1.0, -2.0]);
    check(17, new(-1), &[2, 2], &[1.0, -1.0, 2.0, -2.0]);
    refuses(17, new(2), "axis 2, expected -2 to 1");
    refuses(17, joined(&[int("axis", 1)]), "axis 1, expected -1 to 0");
    refuses(17, joined(&[]), "`axis` is left out");
    let ranks = Graph::default().input("x", &[2]).weight(floats_tensor("r", &[1, 2], &[1.0, 2.0]));
    let ranks = ranks.node("SequenceConstruct", &["x", "r"], &["s"], &[]);
    let new = [int("axis", 0), int("new_axis", 1)];
    let ranks = ranks.node("ConcatFromSequence", &["s"], &["y"], &new).output("y");
    refuses(17, ranks, "elements of different ranks");
}

#[test]
fn a_tensor_has_at_most_1024_parts() {
    let at = |shape: &[i64], split: &[Message], attributes: &[Message]| {
        let inputs = ["x", "p"];
        let graph = Graph::default().input("x", shape).weight(number("last", -1));
        let graph = split.iter().cloned().fold(graph, Graph::weight);
        let graph = graph.node("SplitToSequence", &inputs[..=split.len()], &["s"], attributes);
        graph.node("SequenceAt", &["s", "last"], &["y"], &[]).output("y")
    };
    let columns = [int("axis", 1)];
    check(17, at(&[2, 3], &[number("p", 2)], &columns), &[2, 1], &[3.0, 6.0]);
    // Axes are kept where sizes are given, whatever is said of them.
    let dropped = [int("axis", -1), int("keepdims", 0)];
    check(17, at(&[2, 3], &[number("p", 2)], &dropped), &[2, 1], &[3.0, 6.0]);
    check(17, at(&[2, 3], &[], &dropped), &[2], &[3.0, 6.0]);
    check(17, at(&[1024], &[], &[]), &[1], &[1024.0]);
    refuses(17, at(&[1025], &[], &[]), "a sequence of more than 1024 parts");
    refuses(17, at(&[2050], &[number("p", 2)], &[]), "a sequence of more than 1024 parts");
    for size in [0, -1] {
        refuses(17, at(&[4], &[number("p", size)], &[]), "a part of no elements");
    }
    refuses(17, at(&[-1, 4], &[], &[]), "parts of an axis whose size is not known");
}

#[test]
fn a_grid_is_over_an_image_of_few_places() {
    let grid = |sizes: &[i64]| with_constants("AffineGrid", &[1, 2, 3], &[w(0, sizes)], &[]);
    refuses(20, grid(&[1, 1, 1, 1 << 20]), "sizes of no image");
    refuses(20, grid(&[1, 1, 4097, 4097]), "a matrix that is not one for each image");
    let wide = by_sizes(&[1_000_001], &[1], &[string("mode", "linear")]);
    refuses(13, wide, "axis 0 of 1000001 elements is resized");
}

#[test]
fn the_largest_of_doubles_is_a_double() {
    let to = |element: i64| [int("to", element)];
    let graph =
        Graph::default().input("x", &[1, 1, 4]).weight(raw_tensor("e", 11, &[], &1e-9f64.to_le_bytes()));
    let graph = graph.node("Cast", &["x"], &["d"], &to(11)).node("Add", &["d", "e"], &["s"], &[]);
    let graph = graph.node("MaxPool", &["s"], &["m"], &[ints("kernel_shape", &[4])]);
    let last = floats_tensor("four", &[], &[4.0]);
    let graph = graph.weight(last).node("Cast", &["four"], &["f"], &to(11));
    let graph = graph.node("Sub", &["m", "f"], &["left"], &[]).node("Div", &["left", "e"], &["q"], &[]);
    let graph = graph.node("Cast", &["q"], &["y"], &to(1)).output("y");
    let (shape, found) = compute(13, graph);
    assert_eq!(shape, [1, 1, 1]);
    assert!((found[0] - 1.0).abs() < 1e-3, "{found:?}");
}
