//! That Attention is the softmax of products of queries and keys, times values, for each head.
//!
//! The oracle is the operator's text, as plain loops.

use import::onnx::StrippedWeights;

use crate::fixture::{import_bytes, refuses};
use crate::values::{close, compute};
use crate::walks::{counted, indices, numbers, place, sizes};
use crate::writer::{Graph, Message, float, floats_tensor, int, model, raw_tensor, string};

const BATCH: i64 = 2;
const HEADS: i64 = 4;
/// Heads of keys and values, of which each is that of several heads of queries.
const SHARED: i64 = 2;
const QUERIES: i64 = 3;
const KEYS: i64 = 3;
/// Numbers of a query and of a key, and of a value.
const SIZE: i64 = 2;
const VALUE: i64 = 3;

/// A tensor of four axes of small numbers.
struct Heads {
    shape: [i64; 4],
    numbers: Vec<f64>,
}

impl Heads {
    fn new(seed: usize, shape: [i64; 4]) -> Heads {
        Heads { shape, numbers: numbers(seed, shape.iter().product::<i64>() as usize) }
    }

    fn at(&self, index: [i64; 4]) -> f64 {
        self.numbers[place(&self.shape, &index).expect("it is inside")]
    }

    /// These and others after them along the positions.
    fn followed_by(&self, others: &Heads) -> Heads {
        let [batch, heads, before, size] = self.shape;
        let shape = [batch, heads, before + others.shape[2], size];
        let element = |at: &Vec<i64>| {
            if at[2] < before {
                self.at([at[0], at[1], at[2], at[3]])
            } else {
                others.at([at[0], at[1], at[2] - before, at[3]])
            }
        };
        Heads { shape, numbers: indices(&shape).iter().map(element).collect() }
    }

    /// The weight of this name: of four axes, or with the heads side by side where `flat` is 1.
    fn weight(&self, name: &str, flat: i64) -> Message {
        let as_f32 = |numbers: &[f64]| numbers.iter().map(|x| *x as f32).collect::<Vec<_>>();
        if flat == 0 {
            return floats_tensor(name, &self.shape, &as_f32(&self.numbers));
        }
        floats_tensor(name, &self.flat_shape(), &as_f32(&self.side_by_side()))
    }

    fn flat_shape(&self) -> [i64; 3] {
        let [batch, heads, positions, size] = self.shape;
        [batch, positions, heads * size]
    }

    fn side_by_side(&self) -> Vec<f64> {
        let [batch, heads, positions, size] = self.shape;
        let turned = indices(&[batch, positions, heads, size]);
        turned.iter().map(|at| self.at([at[0], at[2], at[1], at[3]])).collect()
    }
}

/// The sums of values that queries see of their keys, weighed by the softmax of scores. `seen` says what is
/// added to a score, and `bent` what becomes of one before.
fn attended(
    [q, keys, values]: [&Heads; 3],
    scale: f64,
    bent: &dyn Fn(f64) -> f64,
    seen: &dyn Fn([i64; 4]) -> f64,
) -> Heads {
    let shape = [BATCH, HEADS, QUERIES, VALUE];
    let element = |at: &Vec<i64>| {
        let [batch, head, query] = [at[0], at[1], at[2]];
        let shared = head / (HEADS / SHARED);
        let score = |key: i64| {
            let products = (0..SIZE)
                .map(|number| q.at([batch, head, query, number]) * keys.at([batch, shared, key, number]));
            bent(scale * products.sum::<f64>()) + seen([batch, head, query, key])
        };
        let weights: Vec<f64> = (0..keys.shape[2]).map(|key| score(key).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let weighed =
            weights.iter().zip(0..).map(|(weight, key)| weight * values.at([batch, shared, key, at[3]]));
        weighed.sum::<f64>() / sum
    };
    Heads { shape, numbers: indices(&shape).iter().map(element).collect() }
}

#[track_caller]
fn check(graph: Graph, flat: i64, expected: &Heads) {
    let (shape, found) = compute(24, graph);
    if flat == 1 {
        assert_eq!(shape, sizes(&expected.flat_shape()));
    } else {
        assert_eq!(shape, sizes(&expected.shape));
    }
    let expected = if flat == 1 { expected.side_by_side() } else { expected.numbers.clone() };
    let is_close = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() < 1e-5;
    assert!(found.iter().zip(&expected).all(is_close), "{found:?}, expected {expected:?}");
}

/// Queries, keys and values.
fn operands() -> [Heads; 3] {
    [
        Heads::new(1, [BATCH, HEADS, QUERIES, SIZE]),
        Heads::new(2, [BATCH, SHARED, KEYS, SIZE]),
        Heads::new(3, [BATCH, SHARED, KEYS, VALUE]),
    ]
}

/// A node of these operands, of three axes where `flat` is 1, and of further ones.
fn graph([q, k, v]: &[Heads; 3], flat: i64, further: &[&str], attributes: &[Message]) -> Graph {
    let graph = Graph::default().weight(q.weight("q", flat)).weight(k.weight("k", flat));
    let heads = [int("q_num_heads", HEADS), int("kv_num_heads", SHARED)];
    let heads = if flat == 1 { &heads[..] } else { &[] };
    let names = [&["q", "k", "v"], further].concat();
    let results = ["y", "present_key", "present_value"];
    graph.weight(v.weight("v", flat)).node("Attention", &names, &results, &[heads, attributes].concat())
}

const ROOT: f64 = std::f64::consts::FRAC_1_SQRT_2;

#[test]
fn heads_of_queries_share_keys_that_follow_those_of_the_past() {
    let all = operands();
    let [q, k, v] = &all;
    let past = [Heads::new(4, [BATCH, SHARED, 2, SIZE]), Heads::new(5, [BATCH, SHARED, 2, VALUE])];
    let [keys, values] = [past[0].followed_by(k), past[1].followed_by(v)];
    for flat in [0, 1] {
        let alone = graph(&all, flat, &[], &[]).output("y");
        check(alone, flat, &attended([q, k, v], ROOT, &|score| score, &|_| 0.0));
        let scaled = graph(&all, flat, &[], &[float("scale", 3.0)]).output("y");
        check(scaled, flat, &attended([q, k, v], 3.0, &|score| score, &|_| 0.0));
        let capped = graph(&all, flat, &[], &[float("softcap", 0.25)]).output("y");
        let bent = |score: f64| 0.25 * (score / 0.25).tanh();
        check(capped, flat, &attended([q, k, v], ROOT, &bent, &|_| 0.0));
        let causal = graph(&all, flat, &[], &[int("is_causal", 1)]).output("y");
        let before = |[_, _, query, key]: [i64; 4]| if key <= query { 0.0 } else { f64::NEG_INFINITY };
        check(causal, flat, &attended([q, k, v], ROOT, &|score| score, &before));
        let later = graph(&all, flat, &["", "pk", "pv"], &[]);
        let later = later.weight(past[0].weight("pk", 0)).weight(past[1].weight("pv", 0));
        let expected = attended([q, &keys, &values], ROOT, &|score| score, &|_| 0.0);
        check(later.clone().output("y"), flat, &expected);
        check(later.clone().output("present_key"), 0, &keys);
        check(later.output("present_value"), 0, &values);
    }
}

#[test]
fn a_mask_of_two_to_four_axes_is_added_or_says_what_is_seen() {
    let all = operands();
    let [q, k, v] = &all;
    let shapes: [&[i64]; 5] = [
        &[QUERIES, KEYS],
        &[HEADS, QUERIES, KEYS],
        &[BATCH, 1, QUERIES, KEYS],
        &[1, HEADS, 1, KEYS],
        &[BATCH, HEADS, QUERIES, KEYS],
    ];
    for (shape, flat) in shapes.into_iter().flat_map(|shape| [(shape, 0), (shape, 1)]) {
        let stretched = |index: [i64; 4]| {
            let own = index[4 - shape.len()..].iter().zip(shape);
            let own: Vec<i64> = own.map(|(at, size)| if *size == 1 { 0 } else { *at }).collect();
            place(shape, &own).expect("it is inside")
        };
        let count = counted(shape).len();
        let added = numbers(6, count);
        let mask = floats_tensor("mask", shape, &added.iter().map(|x| *x as f32).collect::<Vec<_>>());
        let masked = graph(&all, flat, &["mask"], &[]).weight(mask).output("y");
        let seen = |index: [i64; 4]| added[stretched(index)];
        check(masked, flat, &attended([q, k, v], ROOT, &|score| score, &seen));
        // The first key of each query is seen, and of the others some.
        let truth: Vec<u8> = (0..count).map(|at| u8::from(at % KEYS as usize == 0 || at % 5 < 2)).collect();
        let mask = raw_tensor("mask", 9, shape, &truth);
        let masked = graph(&all, flat, &["mask"], &[]).weight(mask).output("y");
        let seen = |index: [i64; 4]| if truth[stretched(index)] == 1 { 0.0 } else { f64::NEG_INFINITY };
        check(masked, flat, &attended([q, k, v], ROOT, &|score| score, &seen));
    }
}

/// The text of a module of the only node of a graph.
fn text(graph: Graph) -> String {
    let module = import_bytes(&model(25, graph.output("y")).0, StrippedWeights::Refuse, &[]);
    ir::text::print(&module.unwrap_or_else(|faults| panic!("{faults:?}")))
}

#[test]
fn distances_and_rows_without_keys_are_looked_for_only_where_there_may_be_some() {
    let all = operands();
    let mask = floats_tensor("mask", &[QUERIES, KEYS], &[0.0; 9]);
    let masked = graph(&all, 0, &["mask"], &[]).weight(mask);
    let alone = |attributes: &[Message]| graph(&all, 0, &[], attributes);
    // A causal query sees the first key at least, and one that looks ahead sees its own.
    for (attention, distances, rows) in [
        (alone(&[]), 0, 0),
        (alone(&[int("left_window_size", -1), int("right_window_size", -1)]), 0, 0),
        (masked, 0, 1),
        (alone(&[int("is_causal", 1)]), 1, 0),
        (alone(&[int("right_window_size", 0)]), 1, 0),
        (alone(&[int("left_window_size", 0)]), 1, 1),
    ] {
        let text = text(attention);
        let count = |name: &str| text.matches(name).count();
        assert_eq!([count("nn.sub"), count("nn.reduce_max")], [distances, rows], "{text}");
    }
}

#[test]
fn scores_are_shown_before_they_are_capped_unless_said() {
    let shown = |result: &str, attributes: &[Message]| {
        let results = ["y", "k", "v", "scores"];
        let graph = Graph::default().input("x", &[1, 1, 1, 4]);
        let attributes = [&[float("softcap", 30.0)], attributes].concat();
        graph.node("Attention", &["x", "x", "x"], &results, &attributes).output(result)
    };
    let mode = |mode: i64| int("qk_matmul_output_mode", mode);
    // 1, 4, 9 and 16 over the root of 4.
    let capped = 30.0 * 0.5f32.tanh();
    close(compute(24, shown("scores", &[])), &[15.0]);
    close(compute(24, shown("scores", &[mode(0)])), &[15.0]);
    close(compute(24, shown("scores", &[mode(1)])), &[capped]);
    close(compute(24, shown("scores", &[mode(2)])), &[capped]);
    // The number 0 is that of no type, 8 that of strings.
    let precision = |number: i64| int("softmax_precision", number);
    close(compute(24, shown("y", &[precision(0)])), &[1.0, 2.0, 3.0, 4.0]);
    let said = "`softmax_precision` 8, expected the number of a numeric type";
    refuses(24, shown("y", &[precision(8)]), said);
}

/// Linear attention of a head whose queries, keys and values are the input, by a rule, with further operands.
fn linear(steps: i64, rule: &str, further: &[&str]) -> Graph {
    let graph = Graph::default().input("x", &[1, steps, 2]);
    let one = [1, steps, 1];
    let numbers = vec![0.5; steps.unsigned_abs() as usize];
    let graph =
        graph.weight(floats_tensor("decay", &one, &numbers)).weight(floats_tensor("rate", &one, &numbers));
    let attributes = [int("q_num_heads", 1), int("kv_num_heads", 1), string("update_rule", rule)];
    let operands = [&["x", "x", "x", ""], further].concat();
    graph.node("LinearAttention", &operands, &["y", "state"], &attributes).output("y")
}

#[test]
fn linear_attention_takes_the_operands_of_its_rule() {
    // The key (1, 2) times the value (1, 2) is the state, of which the query reads 5 times the value.
    let expected = [5.0, 10.0].map(|number| number * std::f32::consts::FRAC_1_SQRT_2);
    close(compute(28, linear(1, "linear", &[])), &expected);
    close(compute(28, linear(1, "delta", &["", "rate"])), &expected.map(|number| number / 2.0));
    for (rule, further) in [
        ("linear", &["decay"][..]),
        ("linear", &["", "rate"]),
        ("gated", &[]),
        ("gated", &["decay", "rate"]),
        ("delta", &[]),
        ("delta", &["decay", "rate"]),
        ("gated_delta", &["decay"]),
        ("gated_delta", &["", "rate"]),
    ] {
        let said = format!("`update_rule` {rule:?} with other operands than it takes");
        refuses(28, linear(1, rule, further), &said);
    }
    refuses(28, linear(1, "ungated", &[]), "`update_rule` \"ungated\"");
}

#[test]
fn linear_attention_has_a_step_and_at_most_1024() {
    refuses(28, linear(0, "linear", &[]), "a sequence of 0 steps, expected 1 to 1024");
    refuses(28, linear(1025, "linear", &[]), "a sequence of 1025 steps, expected 1 to 1024");
    let two = compute(28, linear(2, "linear", &[]));
    // The second query (3, 4) reads 11 times the first value and 25 times its own.
    close(two, &[5.0, 10.0, 86.0, 122.0].map(|number| number * std::f32::consts::FRAC_1_SQRT_2));
}
