//! That operators that multiply matrices or slide windows compute the same of f64 as of f32.
//!
//! No kernel computes with f64, so they become other programs.

use crate::values::compute;
use crate::writer::{Graph, Message, floats_tensor, int, ints, string};

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
