//! That random numbers have the standard's distributions, and follow from seeds alone.

use import::onnx::StrippedWeights;
use ir::interp::run;

use crate::fixture::import_bytes;
use crate::values::{compute, one_node};
use crate::writer::{Graph, Message, float, floats_tensor, int, ints, model};

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

/// A normal number is a logarithm's root, which would be infinite for 0: one of 2^23 draws.
#[test]
fn normal_numbers_are_made_of_fractions_above_0() {
    let halves = |op: &str| {
        let graph = Graph::default().node(op, &[], &["y"], &[ints("shape", &[4])]).output("y");
        let module = import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]).unwrap();
        let text = ir::text::print(&module);
        text.lines().filter(|line| line.contains("nn.constant dense<5.000000e-01>")).count()
    };
    assert_eq!([halves("RandomUniform"), halves("RandomNormal")], [0, 1]);
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

/// The last step of SplitMix64, as its authors write it down.
fn scrambled(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Number `at`, from 0 on, of SplitMix64 from a state on.
fn split_mix(state: u64, at: u64) -> u64 {
    scrambled(state.wrapping_add((at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// Number `at` of the `stream`-th sequence of a seed.
fn of_stream(seed: u64, stream: u64, at: u64) -> u64 {
    split_mix(scrambled(scrambled(seed).wrapping_add(stream)), at)
}

/// The same as a part of 1, of 23 bits, and half a step more where 0 is left out.
fn part(seed: u64, stream: u64, at: u64, half: f64) -> f64 {
    ((of_stream(seed, stream, at) >> 41) as f64 + half) / f64::from(1 << 23)
}

const SEED: f32 = 1.5;

#[test]
fn numbers_are_those_of_split_mix_from_a_seed_or_the_name_of_a_result() {
    assert_eq!(split_mix(1_234_567, 0), 6_457_827_717_110_365_317, "as published");
    let uniform = |attributes: &[Message]| {
        let attributes = [&[ints("shape", &[40])], attributes].concat();
        compute(13, Graph::default().node("RandomUniform", &[], &["y"], &attributes).output("y")).1
    };
    let parts = |seed: u64| (0..40).map(|at| part(seed, 0, at, 0.0) as f32).collect::<Vec<_>>();
    assert_eq!(uniform(&[float("seed", SEED)]), parts(u64::from(SEED.to_bits())));
    // FNV-1a of the name.
    let name = (0xCBF2_9CE4_8422_2325 ^ u64::from(b'y')).wrapping_mul(0x0100_0000_01B3);
    assert_eq!(uniform(&[]), parts(name));
}

#[test]
fn parts_of_1_are_of_52_bits_where_they_are_doubles() {
    let attributes = [ints("shape", &[40]), int("dtype", 11), float("seed", SEED)];
    let graph = Graph::default().node("RandomUniform", &[], &["y"], &attributes).output("y");
    let module = import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]).unwrap();
    let result = run(&module, "main", &[]).unwrap().remove(0);
    let found: Vec<f64> = result.bytes.as_chunks().0.iter().map(|word| f64::from_le_bytes(*word)).collect();
    let number = |at: u64| (of_stream(u64::from(SEED.to_bits()), 0, at) >> 12) as f64 / 52f64.exp2();
    assert_eq!(found, (0..40).map(number).collect::<Vec<_>>());
}

#[test]
fn normal_numbers_are_turned_from_two_sequences() {
    let attributes = [ints("shape", &[40]), float("seed", SEED)];
    let found = compute(13, Graph::default().node("RandomNormal", &[], &["y"], &attributes).output("y")).1;
    let seed = u64::from(SEED.to_bits());
    for (at, found) in (0..40).zip(&found) {
        let radius = (-2.0 * part(seed, 0, at, 0.5).ln()).sqrt();
        let expected = radius * (std::f64::consts::TAU * part(seed, 1, at, 0.0)).cos();
        assert!((f64::from(*found) - expected).abs() < 1e-3, "{at}: {found}, expected {expected}");
    }
}

#[test]
fn classes_follow_from_the_first_sequence_of_a_seed() {
    let logarithms = [[0.5f32.ln(), 0.0, 1.5f32.ln()], [1.0, 0.5, 0.0]];
    let graph = Graph::default().weight(floats_tensor("w", &[2, 3], &logarithms.concat()));
    let attributes = [int("sample_size", 10), float("seed", SEED)];
    let graph = graph.node("Multinomial", &["w"], &["c"], &attributes);
    let (shape, found) = compute(7, graph.node("Cast", &["c"], &["y"], &[int("to", 1)]).output("y"));
    assert_eq!(shape, [2, 10]);
    let mut expected = Vec::new();
    for (row, sample) in [0, 1].into_iter().flat_map(|row| (0..10).map(move |sample| (row, sample))) {
        let sum = |class: usize| {
            let at = (row * 10 + sample) * 3 + class as u64;
            let variate = -(-part(u64::from(SEED.to_bits()), 0, at, 0.5).ln()).ln();
            f64::from(logarithms[row as usize][class]) + variate
        };
        let largest = (0..3).max_by(|a, b| sum(*a).total_cmp(&sum(*b))).expect("there are three");
        expected.push(largest as f32);
    }
    assert_eq!(found, expected);
}

#[test]
fn a_class_of_two_is_drawn_where_a_part_of_1_is_below_its_probability() {
    let probabilities = floats_tensor("w", &[40], &[0.5; 40]);
    let graph = Graph::default().weight(probabilities);
    let attributes = [int("dtype", 7), float("seed", SEED)];
    let graph = graph.node("Bernoulli", &["w"], &["c"], &attributes);
    let found = compute(15, graph.node("Cast", &["c"], &["y"], &[int("to", 1)]).output("y")).1;
    let is_one = |at: u64| part(u64::from(SEED.to_bits()), 0, at, 0.0) < 0.5;
    assert_eq!(found, (0..40).map(|at| f32::from(u8::from(is_one(at)))).collect::<Vec<_>>());
}
