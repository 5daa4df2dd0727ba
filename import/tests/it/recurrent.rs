//! That recurrent operators compute what their equations say, in both directions, from given states, with all
//! operands, and in both layouts.
//!
//! The oracle is the equations at onnx.ai/onnx/operators, written as plain loops.

use crate::fixture::refuses;
use crate::values::{close, compute, with_constants};
use crate::walks::numbers;
use crate::writer::{Graph, Message, float, floats, floats_tensor, int, raw_tensor, string};

/// The states after a step: of its direction, what it reads, and the states before.
type RecurrentStep<'a> = dyn Fn(usize, &[f64], [&[f64]; 2]) -> [Vec<f64>; 2] + 'a;

const STEPS: usize = 3;
const BATCH: usize = 2;
const INPUTS: usize = 3;
const HIDDEN: usize = 2;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Elements with the axes of their shape in another order.
fn transposed(elements: &[f64], shape: [usize; 4], order: [usize; 4]) -> Vec<f64> {
    let to = order.map(|axis| shape[axis]);
    let mut turned = Vec::new();
    for number in 0..elements.len() {
        let mut rest = number;
        let mut index = [0; 4];
        for axis in (0..4).rev() {
            index[order[axis]] = rest % to[axis];
            rest /= to[axis];
        }
        turned.push(elements[index.iter().zip(shape).fold(0, |at, (index, size)| at * size + index)]);
    }
    turned
}

/// The operands of a node of two directions, each in the standard's first layout.
struct NetOperands {
    gates: usize,
    x: Vec<f64>,
    w: Vec<f64>,
    r: Vec<f64>,
    b: Vec<f64>,
    h0: Vec<f64>,
    c0: Vec<f64>,
    peepholes: Vec<f64>,
}

impl NetOperands {
    fn new(gates: usize) -> NetOperands {
        let rows = 2 * gates * HIDDEN;
        NetOperands {
            gates,
            x: numbers(1, STEPS * BATCH * INPUTS),
            w: numbers(2, rows * INPUTS),
            r: numbers(3, rows * HIDDEN),
            b: numbers(4, 2 * rows),
            h0: numbers(5, 2 * BATCH * HIDDEN),
            c0: numbers(6, 2 * BATCH * HIDDEN),
            peepholes: numbers(7, 2 * 3 * HIDDEN),
        }
    }

    /// What element `k` of a gate gets of the inputs of a step, with its bias.
    fn of_inputs(&self, direction: usize, gate: usize, k: usize, x: &[f64]) -> f64 {
        let row = (direction * self.gates + gate) * HIDDEN + k;
        let product: f64 = (0..INPUTS).map(|i| self.w[row * INPUTS + i] * x[i]).sum();
        product + self.b[(2 * direction * self.gates + gate) * HIDDEN + k]
    }

    /// The same of a state.
    fn of_state(&self, direction: usize, gate: usize, k: usize, state: &[f64]) -> f64 {
        let row = (direction * self.gates + gate) * HIDDEN + k;
        let product: f64 = (0..HIDDEN).map(|i| self.r[row * HIDDEN + i] * state[i]).sum();
        product + self.b[((2 * direction + 1) * self.gates + gate) * HIDDEN + k]
    }

    fn rnn(&self, direction: usize, x: &[f64], h: &[f64]) -> Vec<f64> {
        let element =
            |k: usize| (self.of_inputs(direction, 0, k, x) + self.of_state(direction, 0, k, h)).tanh();
        (0..HIDDEN).map(element).collect()
    }

    /// Gates z, r and h; `linear` is the attribute `linear_before_reset`.
    fn gru(&self, direction: usize, x: &[f64], h: &[f64], linear: i64) -> Vec<f64> {
        let inputs = |gate: usize, k: usize| self.of_inputs(direction, gate, k, x);
        let gate = |gate: usize, k: usize| sigmoid(inputs(gate, k) + self.of_state(direction, gate, k, h));
        let reset: Vec<f64> = (0..HIDDEN).map(|k| gate(1, k)).collect();
        let kept: Vec<f64> = (0..HIDDEN).map(|k| reset[k] * h[k]).collect();
        let element = |k: usize| {
            let recurred = match linear {
                0 => self.of_state(direction, 2, k, &kept),
                _ => reset[k] * self.of_state(direction, 2, k, h),
            };
            let new = (inputs(2, k) + recurred).tanh();
            let update = gate(0, k);
            (1.0 - update) * new + update * h[k]
        };
        (0..HIDDEN).map(element).collect()
    }

    /// Gates i, o, f and c: the new state and the new cell; `coupled` is the attribute `input_forget`.
    fn lstm(&self, direction: usize, x: &[f64], [h, c]: [&[f64]; 2], coupled: i64) -> [Vec<f64>; 2] {
        let sum = |gate: usize, k: usize| {
            self.of_inputs(direction, gate, k, x) + self.of_state(direction, gate, k, h)
        };
        let seen =
            |gate: usize, k: usize, cell: f64| self.peepholes[(3 * direction + gate) * HIDDEN + k] * cell;
        let cell = |k: usize| {
            let into = sigmoid(sum(0, k) + seen(0, k, c[k]));
            let forget = if coupled == 1 { 1.0 - into } else { sigmoid(sum(2, k) + seen(2, k, c[k])) };
            forget * c[k] + into * sum(3, k).tanh()
        };
        let cells: Vec<f64> = (0..HIDDEN).map(cell).collect();
        let state = |k: usize| sigmoid(sum(1, k) + seen(1, k, cells[k])) * cells[k].tanh();
        [(0..HIDDEN).map(state).collect(), cells]
    }

    /// All states, the last ones, and the last cells, of sequences of these lengths.
    fn run(&self, lengths: [usize; BATCH], step: &RecurrentStep<'_>) -> [Vec<f64>; 3] {
        let mut all = vec![0.0; STEPS * 2 * BATCH * HIDDEN];
        let mut last = [Vec::new(), Vec::new()];
        for direction in 0..2 {
            for (element, length) in lengths.into_iter().enumerate() {
                let first = (direction * BATCH + element) * HIDDEN;
                let mut states = [&self.h0, &self.c0].map(|all| all[first..first + HIDDEN].to_vec());
                for number in 0..length {
                    let turn = if direction == 0 { number } else { length - 1 - number };
                    let x = &self.x[(turn * BATCH + element) * INPUTS..][..INPUTS];
                    states = step(direction, x, [&states[0][..], &states[1][..]]);
                    let place = ((turn * 2 + direction) * BATCH + element) * HIDDEN;
                    all[place..place + HIDDEN].copy_from_slice(&states[0]);
                }
                last.iter_mut().zip(&states).for_each(|(all, state)| all.extend(state));
            }
        }
        let [h, c] = last;
        [all, h, c]
    }

    /// A node of these operands, with its results `y`, `h` and `c`.
    fn graph(&self, op: &str, layout: i64, lengths: Option<[usize; BATCH]>, more: &[Message]) -> Graph {
        let weight = |name: &str, shape: &[usize], elements: &[f64]| {
            let shape: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
            floats_tensor(name, &shape, &elements.iter().map(|x| *x as f32).collect::<Vec<_>>())
        };
        // In the other layout, the batch comes first.
        let turned = |name: &str, [outer, batch, inner]: [usize; 3], elements: &[f64]| match layout {
            0 => weight(name, &[outer, batch, inner], elements),
            _ => {
                let elements = transposed(elements, [1, outer, batch, inner], [0, 2, 1, 3]);
                weight(name, &[batch, outer, inner], &elements)
            }
        };
        let rows = self.gates * HIDDEN;
        let mut graph = Graph::default()
            .weight(turned("x", [STEPS, BATCH, INPUTS], &self.x))
            .weight(weight("w", &[2, rows, INPUTS], &self.w))
            .weight(weight("r", &[2, rows, HIDDEN], &self.r))
            .weight(weight("b", &[2, 2 * rows], &self.b))
            .weight(turned("h0", [2, BATCH, HIDDEN], &self.h0));
        let length = if lengths.is_some() { "l" } else { "" };
        let mut operands = vec!["x", "w", "r", "b", length, "h0"];
        let mut results = vec!["y", "h"];
        if op == "LSTM" {
            graph = graph.weight(turned("c0", [2, BATCH, HIDDEN], &self.c0));
            graph = graph.weight(weight("p", &[2, 3 * HIDDEN], &self.peepholes));
            operands.extend(["c0", "p"]);
            results.push("c");
        }
        if let Some(lengths) = lengths {
            let lengths = lengths.map(|length| (length as i32).to_le_bytes()).concat();
            graph = graph.weight(raw_tensor("l", 6, &[BATCH as i64], &lengths));
        }
        let own = [string("direction", "bidirectional"), int("hidden_size", HIDDEN as i64)];
        let attributes = [&own[..], &[int("layout", layout)], more].concat();
        graph.node(op, &operands, &results, &attributes)
    }

    /// Holds an operator against a step of it.
    fn check(&self, op: &str, more: &[Message], step: &RecurrentStep<'_>) {
        for (layout, lengths) in [(0, None), (0, Some([3, 1])), (1, None), (1, Some([2, 3]))] {
            let [all, h, c] = self.run(lengths.unwrap_or([STEPS; BATCH]), step);
            let graph = self.graph(op, layout, lengths, more);
            for (result, expected) in [("y", all), ("h", h), ("c", c)] {
                if result == "c" && op != "LSTM" {
                    continue;
                }
                let (own, order) = match (result, layout) {
                    ("y", 0) => ([STEPS, 2, BATCH, HIDDEN], [0, 1, 2, 3]),
                    ("y", _) => ([STEPS, 2, BATCH, HIDDEN], [2, 0, 1, 3]),
                    (_, 0) => ([1, 2, BATCH, HIDDEN], [0, 1, 2, 3]),
                    _ => ([1, 2, BATCH, HIDDEN], [0, 2, 1, 3]),
                };
                let expected = transposed(&expected, own, order);
                let rank = if result == "y" { 4 } else { 3 };
                let shape: Vec<u64> = order.iter().map(|axis| own[*axis] as u64).skip(4 - rank).collect();
                let (found_shape, found) = compute(14, graph.clone().output(result));
                assert_eq!(found_shape, shape, "{op} {layout} {result}");
                let is_close = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() < 1e-5;
                assert!(
                    found.iter().zip(&expected).all(is_close),
                    "{op} {layout} {lengths:?} {result}: {found:?}, expected {expected:?}"
                );
            }
        }
    }
}

#[test]
fn an_rnn_is_what_its_equations_say() {
    let net = NetOperands::new(1);
    net.check("RNN", &[], &|direction, x, [h, c]| [net.rnn(direction, x, h), c.to_vec()]);
}

#[test]
fn a_gru_is_what_its_equations_say() {
    let net = NetOperands::new(3);
    for linear in [0, 1] {
        let step =
            |direction: usize, x: &[f64], [h, c]: [&[f64]; 2]| [net.gru(direction, x, h, linear), c.to_vec()];
        net.check("GRU", &[int("linear_before_reset", linear)], &step);
    }
}

#[test]
fn an_lstm_is_what_its_equations_say() {
    let net = NetOperands::new(4);
    for coupled in [0, 1] {
        let step = |direction: usize, x: &[f64], states: [&[f64]; 2]| net.lstm(direction, x, states, coupled);
        net.check("LSTM", &[int("input_forget", coupled)], &step);
    }
}

#[test]
fn sums_of_the_gates_are_cut_and_the_cell_is_not() {
    let one = |name: &str, number: f32| floats_tensor(name, &[1, 1, 1], &[number]);
    let column = |name: &str, numbers: &[f32]| floats_tensor(name, &[1, 4, 1], numbers);
    let lstm = |result: &str| {
        let graph = Graph::default().weight(one("x", 1.0)).weight(column("w", &[4.0, 3.0, 5.0, 5.0]));
        let graph = graph.weight(column("r", &[0.0; 4])).weight(one("c0", 6.0));
        let attributes = [int("hidden_size", 1), float("clip", 2.0)];
        let operands = ["x", "w", "r", "", "", "", "c0"];
        compute(14, graph.node("LSTM", &operands, &["y", "h", "c"], &attributes).output(result))
    };
    // All gates are those of 2, but the tangent is that of the whole cell.
    let [gate, new] = [sigmoid(2.0), 2f64.tanh()];
    let cell = gate * 6.0 + gate * new;
    close(lstm("c"), &[cell as f32]);
    close(lstm("y"), &[(gate * cell.tanh()) as f32]);
}

#[test]
fn activations_have_the_defaults_of_the_operators_of_their_names() {
    let net = |input: f32, name: &str, more: &[Message]| {
        let names = Message::default().bytes(1, "activations").int(20, 8).bytes(9, name);
        let weights = [("w0", input), ("w1", 0.0)];
        let weights = weights.map(|(weight, number)| floats_tensor(weight, &[1, 1, 1], &[number]));
        let attributes = [&[names, int("hidden_size", 1)], more].concat();
        with_constants("RNN", &[1, 1, 1], &weights, &attributes)
    };
    let alpha = |number: f32| [floats("activation_alpha", &[number])];
    let of_one_below_0 = |name: &str, more: &[Message]| compute(14, net(-1.0, name, more));
    let power = (-1f32).exp();
    close(of_one_below_0("LeakyRelu", &[]), &[-0.01]);
    close(of_one_below_0("LeakyRelu", &alpha(0.5)), &[-0.5]);
    close(of_one_below_0("Elu", &[]), &[power - 1.0]);
    close(of_one_below_0("Elu", &alpha(2.0)), &[2.0 * (power - 1.0)]);
    close(of_one_below_0("HardSigmoid", &[]), &[0.3]);
    close(of_one_below_0("HardSigmoid", &alpha(0.25)), &[0.25]);
    close(of_one_below_0("Softplus", &[]), &[(1.0 + power).ln()]);
    close(of_one_below_0("Sigmoid", &[]), &[power / (1.0 + power)]);
    close(compute(14, net(1.0, "LeakyRelu", &[])), &[1.0]);
    refuses(14, net(1.0, "Sine", &[]), "the activation \"sine\"");
}

#[test]
fn an_input_of_a_recurrent_operator_has_three_axes() {
    let weights = [("w0", 1.0), ("w1", 0.0)].map(|(name, w)| floats_tensor(name, &[1, 1, 1], &[w]));
    let attributes = [int("hidden_size", 1)];
    let flat = with_constants("RNN", &[2, 1], &weights, &attributes);
    refuses(14, flat, "an input that is not [steps, batch, numbers]");
    let deep = with_constants("RNN", &[2, 1, 1, 1], &weights, &attributes);
    refuses(14, deep, "an input that is not [steps, batch, numbers]");
}
