//! That transforms of signals are the sums that the standard writes, along each axis and of each length.
//!
//! The oracle is the definition as plain loops over all elements; inputs count 1, 2, 3, ...

use std::f64::consts::TAU;

use crate::fixture::refuses;
use crate::values::{compute, one_node};
use crate::walks::{counted, indices, place, sizes};
use crate::writer::{Graph, INT64, Message, floats_tensor, int, raw_tensor};

fn number(name: &str, number: i64) -> Message {
    raw_tensor(name, INT64, &[], &number.to_le_bytes())
}

#[track_caller]
fn check_close(version: i64, graph: Graph, shape: &[i64], expected: &[f64]) {
    let (found_shape, found) = compute(version, graph);
    assert_eq!(found_shape, sizes(shape));
    let is_close = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() < 1e-3;
    assert!(found.iter().zip(expected).all(is_close), "{found:?}, expected {expected:?}");
}

/// The sum of `length` complex numbers, each turned by its number times `turns`, that a transform has at a
/// frequency; numbers beyond the last are 0.
fn frequency(numbers: &[[f64; 2]], turns: f64, length: usize) -> [f64; 2] {
    let terms = numbers.iter().take(length).enumerate().map(|(at, [real, imaginary])| {
        let angle = TAU * turns * at as f64;
        let (sine, cosine) = angle.sin_cos();
        [real * cosine - imaginary * sine, real * sine + imaginary * cosine]
    });
    terms.fold([0.0; 2], |[real, imaginary], term| [real + term[0], imaginary + term[1]])
}

const SHAPE: [i64; 3] = [2, 3, 4];

/// The numbers of `[2, 3, 4, parts]` along an axis, at an index of the others.
fn line(parts: i64, axis: usize, index: &[i64]) -> Vec<[f64; 2]> {
    let shape = [&SHAPE[..], &[parts]].concat();
    let x = counted(&shape);
    let part = |at: i64, part: i64| {
        let mut index = [&index[..3], &[part]].concat();
        index[axis] = at;
        place(&shape, &index).map_or(0.0, |place| f64::from(x[place]))
    };
    (0..SHAPE[axis]).map(|at| [part(at, 0), part(at, 1)]).collect()
}

#[test]
fn a_transform_is_the_sum_of_turned_numbers_along_each_axis() {
    let flags: [(i64, &[&str]); 5] =
        [(1, &[]), (2, &[]), (1, &["inverse"]), (2, &["inverse"]), (1, &["onesided"])];
    for ((parts, flags), axis) in flags.into_iter().flat_map(|flags| [1, 2].map(|axis| (flags, axis))) {
        for wanted in [None, Some(2), Some(5), Some(6)] {
            let length = wanted.unwrap_or(SHAPE[axis]);
            let is_inverse = flags.contains(&"inverse");
            let mut shape = [2, 3, 4, 2];
            shape[axis] = if flags.contains(&"onesided") { length / 2 + 1 } else { length };
            let mut expected = Vec::new();
            for index in indices(&shape[..3]) {
                let turns = index[axis] as f64 / length as f64;
                let numbers = line(parts, axis, &index);
                let sum = frequency(&numbers, if is_inverse { turns } else { -turns }, length as usize);
                expected.extend(sum.map(|part| if is_inverse { part / length as f64 } else { part }));
            }
            let attributes: Vec<Message> = flags.iter().map(|flag| int(flag, 1)).collect();
            let graph = |operands: &[&str], attributes: &[Message]| {
                let graph = one_node("DFT", &[2, 3, 4, parts], operands, attributes);
                let graph = graph.weight(number("axis", axis as i64 - 4));
                wanted.iter().fold(graph, |graph, length| graph.weight(number("length", *length)))
            };
            let named = if wanted.is_some() { "length" } else { "" };
            check_close(20, graph(&["x", named, "axis"], &attributes), &shape, &expected);
            let attributes = [&attributes[..], &[int("axis", axis as i64)]].concat();
            check_close(19, graph(&["x", named], &attributes), &shape, &expected);
        }
    }
}

#[test]
fn frames_of_a_signal_are_transformed_one_by_one() {
    let weights = [0.5, 1.0, 2.0, -1.0];
    for (parts, onesided) in [(1, 1), (1, 0), (2, 0)] {
        for (step, is_weighted) in [(1, false), (2, true), (3, false), (5, true), (6, true)] {
            let frames = (9 - 4) / step + 1;
            let shape = [2, frames, if onesided == 1 { 3 } else { 4 }, 2];
            let signal = [2, 9, parts];
            let x = counted(&signal);
            let mut expected = Vec::new();
            for index in indices(&shape[..3]) {
                let part = |at: i64, part: i64| {
                    let from = place(&signal, &[index[0], index[1] * step + at, part]);
                    let factor = if is_weighted { weights[at as usize] } else { 1.0 };
                    from.map_or(0.0, |from| f64::from(x[from]) * factor)
                };
                let numbers: Vec<[f64; 2]> = (0..4).map(|at| [part(at, 0), part(at, 1)]).collect();
                expected.extend(frequency(&numbers, -index[2] as f64 / 4.0, 4));
            }
            let window = if is_weighted { "window" } else { "" };
            let operands = ["x", "step", window, "length"];
            let graph = one_node("STFT", &signal, &operands, &[int("onesided", onesided)]);
            let graph = graph.weight(number("step", step)).weight(number("length", 4));
            let window = floats_tensor("window", &[4], &weights.map(|weight| weight as f32));
            check_close(17, graph.weight(window), &shape, &expected);
        }
    }
}

/// The matrix of ONNX's reference: rows are frequencies, columns are bands.
fn mel(bands: usize, length: usize, rate: f64, [low, high]: [f64; 2]) -> Vec<f64> {
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let step = (mel(high) - mel(low)) / (bands + 2) as f64;
    let bin = |index: usize| {
        let hertz = 700.0 * (10f64.powf((index as f64 * step + mel(low)) / 2595.0) - 1.0);
        ((length + 1) as f64 * hertz / rate).floor() as usize
    };
    let mut matrix = vec![0.0; (length / 2 + 1) * bands];
    for band in 0..bands {
        let [left, centre, right] = [bin(band), bin(band + 1), bin(band + 2)];
        if left == centre {
            matrix[centre * bands + band] = 1.0;
        } else {
            for row in left..=centre {
                matrix[row * bands + band] = (row - left) as f64 / (centre - left) as f64;
            }
        }
        for row in centre..right {
            matrix[row * bands + band] = (right - row) as f64 / (right - centre) as f64;
        }
    }
    matrix
}

#[test]
fn bands_are_triangles_over_the_frequencies() {
    for (bands, length, rate, bounds) in [
        (3, 16, 8000, [100.0, 3000.0]),
        (8, 16, 8192, [0.0, 4096.0]),
        (5, 31, 16000, [50.0, 7000.0]),
        (6, 9, 1000, [20.0, 500.0]),
    ] {
        let sizes = [("bands", bands as i64), ("length", length as i64), ("rate", rate)];
        let graph =
            sizes.iter().fold(Graph::default(), |graph, (name, size)| graph.weight(number(name, *size)));
        let bounds_of = ["low", "high"].into_iter().zip(bounds);
        let graph = bounds_of
            .fold(graph, |graph, (name, bound)| graph.weight(floats_tensor(name, &[], &[bound as f32])));
        let operands = ["bands", "length", "rate", "low", "high"];
        let graph = graph.node("MelWeightMatrix", &operands, &["y"], &[]).output("y");
        let shape = [length as i64 / 2 + 1, bands as i64];
        check_close(17, graph, &shape, &mel(bands, length, rate as f64, bounds));
    }
}

#[test]
fn frames_have_samples_and_are_not_more_than_a_table_holds() {
    let framed = |samples: i64, length: i64| {
        let graph = one_node("STFT", &[1, samples, 1], &["x", "step", "", "length"], &[]);
        graph.weight(number("step", 1)).weight(number("length", length))
    };
    refuses(17, framed(8192, 4096), "4097 frames of 4096 samples");
    let empty = one_node("STFT", &[1, 5, 1], &["x", "step", "window"], &[]).weight(number("step", 1));
    refuses(17, empty.weight(floats_tensor("window", &[0], &[])), "frames of 0 samples of 5");
    let flat = one_node("STFT", &[5, 1], &["x", "step", "", "length"], &[]);
    let flat = flat.weight(number("step", 1)).weight(number("length", 2));
    refuses(17, flat, "a signal that is not [batch, samples, parts]");
    let lone = one_node("STFT", &[], &["x", "step", "", "length"], &[]);
    let lone = lone.weight(number("step", 1)).weight(number("length", 2));
    refuses(17, lone, "a number, expected a signal");
}
