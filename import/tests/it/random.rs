//! That random numbers have the standard's distributions, and follow from seeds alone.

use crate::values::{compute, one_node};
use crate::writer::{Graph, Message, float, floats_tensor, int, ints};

const COUNT: usize = 20_000;

fn drawn(op: &str, attributes: &[Message]) -> Vec<f32> {
    let shape = ints("shape", &[2, COUNT as i64 / 2]);
    let graph = Graph::default().node(op, &[], &["y"], &[&[shape], attributes].concat()).output("y");
    let (shape, numbers) = compute(13, graph);
    assert_eq!(shape, [2, COUNT as u64 / 2]);
    numbers
}

fn mean(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    numbers.clone().sum::<f64>() / numbers.count() as f64
}

#[track_caller]
fn check_moments(numbers: &[f32], expected: [f64; 4]) {
    let numbers = numbers.iter().map(|number| f64::from(*number));
    let first = mean(numbers.clone());
    let moment = |power: i32| mean(numbers.clone().map(|number| (number - first).powi(power)));
    let found = [first, moment(2), moment(3), moment(4)];
    // Five times the deviation of the fourth moment of as many numbers of a normal distribution.
    let is_close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.35);
    assert!(is_close && (found[1] - expected[1]).abs() < 0.05, "{found:?}, expected {expected:?}");
}

#[test]
fn numbers_are_distributed_as_the_operator_says() {
    check_moments(&drawn("RandomNormal", &[]), [0.0, 1.0, 0.0, 3.0]);
    check_moments(
        &drawn("RandomNormal", &[float("mean", 3.0), float("scale", 0.5)]),
        [3.0, 0.25, 0.0, 3.0 / 16.0],
    );
    let uniform = drawn("RandomUniform", &[float("low", -1.0), float("high", 2.0)]);
    check_moments(&uniform, [0.5, 0.75, 0.0, 81.0 / 80.0]);
    assert!(uniform.iter().all(|number| (-1.0..2.0).contains(number)));
    let inner = drawn("RandomNormal", &[]).iter().filter(|number| number.abs() < 1.0).count();
    assert!((inner as f64 / COUNT as f64 - 0.6827).abs() < 0.02, "{inner}");
}

#[test]
fn numbers_follow_from_the_seed_or_the_name() {
    let seeded = |seed: f32| drawn("RandomUniform", &[float("seed", seed)]);
    assert_eq!(seeded(1.5), seeded(1.5));
    assert_ne!(seeded(1.5)[..4], seeded(2.5)[..4]);
    let graph = Graph::default().input("x", &[4]);
    let graph =
        graph.node("RandomUniformLike", &["x"], &["a"], &[]).node("RandomUniformLike", &["x"], &["b"], &[]);
    let differences = compute(13, graph.node("Sub", &["a", "b"], &["y"], &[]).output("y")).1;
    assert!(differences.iter().all(|difference| *difference != 0.0), "{differences:?}");
}

#[test]
fn classes_are_drawn_as_often_as_they_are_probable() {
    let share = |numbers: &[f32], wanted: f32| {
        numbers.iter().filter(|number| **number == wanted).count() as f64 / numbers.len() as f64
    };
    let probability = floats_tensor("p", &[1], &[0.25]);
    let graph = one_node("Bernoulli", &[COUNT as i64], &["q"], &[int("dtype", 1)]).weight(probability);
    let graph = graph.node("Mul", &["x", "zero"], &["z"], &[]).node("Add", &["z", "p"], &["q"], &[]);
    let ones = compute(15, graph.weight(floats_tensor("zero", &[1], &[0.0]))).1;
    assert!((share(&ones, 1.0) - 0.25).abs() < 0.02 && share(&ones, 0.0) + share(&ones, 1.0) == 1.0);
    let all = compute(15, one_node("Bernoulli", &[9], &["x"], &[])).1;
    assert_eq!(all, [1.0; 9]);
    let logarithms = floats_tensor("w", &[1, 3], &[0.5f32.ln(), f32::NEG_INFINITY, 1.5f32.ln()]);
    let graph = Graph::default().weight(logarithms);
    let attributes = [int("sample_size", COUNT as i64)];
    let graph = graph.node("Multinomial", &["w"], &["c"], &attributes);
    let graph = graph.node("Cast", &["c"], &["y"], &[int("to", 1)]).output("y");
    let (shape, classes) = compute(7, graph);
    assert_eq!(shape, [1, COUNT as u64]);
    let shares = [0.0, 1.0, 2.0].map(|class| share(&classes, class));
    let is_close =
        shares.iter().zip([0.25, 0.0, 0.75]).all(|(found, expected)| (found - expected).abs() < 0.02);
    assert!(is_close, "{shares:?}");
}
