//! That operators that multiply matrices or slide windows compute the same of f64 as of f32.
//!
//! No kernel computes with f64, so they become other programs.

use crate::fixture::refuses;
use crate::values::compute;
use crate::writer::{Graph, Message, floats_tensor, int, ints, raw_tensor, string};

/// The results of a node for inputs that count 1, 2, 3, ..., less 5, in tenths, as floats and as doubles.
#[track_caller]
fn check(op: &str, shapes: &[&[i64]], attributes: &[Message]) {
    let result = |number: i64| {
        let five = floats_tensor("five", &[1], &[5.0]);
        let mut graph = Graph::default().weight(five).weight(floats_tensor("tenth", &[1], &[0.1]));
        let mut names = Vec::new();
        for (index, shape) in shapes.iter().enumerate() {
            let [x, less, small, wide] = ["x", "l", "s", "w"].map(|name| format!("{name}{index}"));
            graph = graph.input(&x, shape).node("Sub", &[&x, "five"], &[&less], &[]);
            graph = graph.node("Mul", &[&less, "tenth"], &[&small], &[]);
            graph = graph.node("Cast", &[&small], &[&wide], &[int("to", number)]);
            names.push(wide);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        graph = graph.node(op, &names, &["y"], attributes).node("Cast", &["y"], &["z"], &[int("to", 1)]);
        compute(23, graph.output("z"))
    };
    let [(shape, expected), (own_shape, found)] = [result(1), result(11)];
    assert_eq!(own_shape, shape, "{op}");
    let largest = expected.iter().fold(1.0f32, |largest, x| largest.max(x.abs()));
    let agree = expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-5 * largest);
    assert!(agree, "{op}: {found:?}, expected {expected:?}");
}

/// What is left of a double without the nearest float is below the last digit of that.
#[test]
fn a_range_of_doubles_is_not_rounded_to_floats() {
    let number = |name: &str, number: f64| raw_tensor(name, 11, &[], &number.to_le_bytes());
    let graph = Graph::default().weight(number("a", 0.1)).weight(number("b", 0.55)).weight(number("c", 0.1));
    let graph = graph.node("Range", &["a", "b", "c"], &["r"], &[]);
    let graph = graph.node("Cast", &["r"], &["near"], &[int("to", 1)]);
    let graph = graph.node("Cast", &["near"], &["wide"], &[int("to", 11)]);
    let graph = graph.node("Sub", &["r", "wide"], &["less"], &[]);
    let graph = graph.node("Cast", &["less"], &["y"], &[int("to", 1)]).output("y");
    let (shape, found) = compute(23, graph);
    let expected: Vec<f32> = (0..5)
        .map(|index| 0.1 + f64::from(index) * 0.1)
        .map(|number| (number - f64::from(number as f32)) as f32)
        .collect();
    assert_eq!((shape, found), (vec![5], expected));
}

#[test]
fn convolutions_of_doubles() {
    check("Conv", &[&[2, 3, 7], &[4, 3, 2], &[4]], &[ints("strides", &[2]), ints("pads", &[1, 0])]);
    let attributes = [ints("dilations", &[2, 1]), ints("pads", &[1, 0, 2, 1]), int("group", 2)];
    check("Conv", &[&[2, 4, 6, 5], &[6, 2, 2, 3]], &attributes);
    check("Conv", &[&[1, 2, 3, 4, 5], &[2, 2, 2, 3, 2], &[2]], &[ints("strides", &[1, 2, 1])]);
    let attributes = [ints("strides", &[2, 1]), ints("pads", &[1, 0, 0, 1]), int("group", 2)];
    check("ConvTranspose", &[&[1, 4, 3, 4], &[4, 3, 2, 3], &[6]], &attributes);
}

#[test]
fn pools_of_doubles() {
    let kernel = ints("kernel_shape", &[3, 2]);
    let pads = ints("pads", &[1, 0, 0, 1]);
    let strides = ints("strides", &[2, 2]);
    for attributes in [vec![], vec![pads.clone(), strides.clone()], vec![int("ceil_mode", 1), strides]] {
        for op in ["MaxPool", "AveragePool", "LpPool"] {
            check(op, &[&[1, 2, 6, 5]], &[std::slice::from_ref(&kernel), &attributes[..]].concat());
        }
    }
    check("AveragePool", &[&[1, 2, 6, 5]], &[kernel.clone(), pads, int("count_include_pad", 1)]);
    check("MaxPool", &[&[1, 2, 6, 5]], &[kernel, ints("dilations", &[2, 1])]);
    check("MaxPool", &[&[1, 2, 4, 3, 5]], &[ints("kernel_shape", &[2, 2, 3])]);
    check("AveragePool", &[&[2, 2, 7]], &[ints("kernel_shape", &[3])]);
}

#[test]
fn attention_and_recurrent_operators_of_doubles() {
    check("Attention", &[&[1, 4, 3, 2], &[1, 2, 5, 2], &[1, 2, 5, 2]], &[]);
    check("LSTM", &[&[3, 2, 2], &[1, 12, 2], &[1, 12, 3], &[1, 24]], &[int("hidden_size", 3)]);
    let both = [int("hidden_size", 2), string("direction", "bidirectional")];
    check("GRU", &[&[3, 2, 2], &[2, 6, 2], &[2, 6, 2]], &both);
    check("RNN", &[&[70, 1, 2], &[1, 2, 2], &[1, 2, 2]], &[int("hidden_size", 2)]);
}

#[test]
fn transforms_of_doubles() {
    check("DFT", &[&[1, 6, 1]], &[]);
    check("DeformConv", &[&[1, 1, 4, 4], &[2, 1, 2, 2], &[1, 8, 3, 3]], &[ints("kernel_shape", &[2, 2])]);
    check("Einsum", &[&[2, 3, 4], &[2, 4, 2]], &[string("equation", "bij,bjk->bik")]);
}

#[test]
fn normalisations_of_doubles() {
    for groups in [1, 2, 4] {
        check("GroupNormalization", &[&[2, 4, 3], &[4], &[4]], &[int("num_groups", groups)]);
        check("GroupNormalization", &[&[2, 4, 2, 3], &[4], &[4]], &[int("num_groups", groups)]);
    }
    check("InstanceNormalization", &[&[2, 3, 4], &[3], &[3]], &[]);
    check("InstanceNormalization", &[&[2, 3, 2, 2], &[3], &[3]], &[]);
    for axis in [1, 2, -1, -2] {
        check("LayerNormalization", &[&[2, 3, 4], &[4], &[4]], &[int("axis", axis)]);
        check("RMSNormalization", &[&[2, 3, 4], &[4]], &[int("axis", axis)]);
        check("LogSoftmax", &[&[2, 3, 4]], &[int("axis", axis)]);
        check("LpNormalization", &[&[2, 3, 4]], &[int("axis", axis), int("p", 1)]);
    }
}

#[test]
fn convolutions_of_doubles_whose_parts_do_not_fit_are_refused() {
    let convolved = |filter: &[i64], bias: &[i64], groups: i64| {
        let weight = |name: &str, shape: &[i64]| {
            let count = shape.iter().product::<i64>() as usize;
            raw_tensor(name, 11, shape, &vec![0; 8 * count])
        };
        let graph = Graph::default().weight(weight("x", &[1, 4, 3])).weight(weight("w", filter));
        let graph = graph.weight(weight("b", bias));
        graph.node("Conv", &["x", "w", "b"], &["y"], &[int("group", groups)]).output("y")
    };
    let right = convolved(&[2, 2, 2], &[2], 2).node("Cast", &["y"], &["z"], &[int("to", 1)]);
    assert_eq!(compute(22, Graph { outputs: vec![], ..right }.output("z")), (vec![1, 2, 2], vec![0.0; 4]));
    let refused = |filter: &[i64], groups: i64| {
        let [outputs, each, kernel] = *filter else { panic!("a filter of a line") };
        let said = format!("weights [{outputs}, {each}, 1, {kernel}] for 4 channels in {groups} groups");
        refuses(22, convolved(filter, &[outputs], groups), &said);
    };
    refused(&[2, 2, 2], 1);
    refused(&[3, 2, 2], 2);
    refused(&[2, 4, 2], 2);
    refuses(22, convolved(&[2, 2, 2], &[1], 2), "a bias of another size than 2");
    refuses(22, convolved(&[2, 2, 4], &[2], 2), "0 windows of 4 elements along axis 3");
}
