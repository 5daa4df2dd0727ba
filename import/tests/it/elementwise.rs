//! That elementwise operators and walks along an axis compute what ONNX says, in the versions that differ.
//!
//! The oracle is the operator's text at onnx.ai/onnx/operators; every input counts 1, 2, 3, ...

use crate::fixture::{faults, refuses};
use crate::values::{check, compute, one_node};
use crate::writer::{
    Graph, INT64, Message, float, floats_tensor, int, ints_tensor, model, raw_tensor, string,
};

/// What an operator makes of numbers that are given as a constant.
fn of_numbers(version: i64, op: &str, numbers: &[f32], attributes: &[Message]) -> Vec<f32> {
    let weight = floats_tensor("w", &[numbers.len() as i64], numbers);
    compute(version, Graph::default().weight(weight).node(op, &["w"], &["y"], attributes).output("y")).1
}

#[test]
fn inverse_and_hyperbolic_functions_are_exact_to_a_rounding() {
    type Function = fn(f64) -> f64;
    let functions: [(&str, Function, &[f32]); 9] = [
        ("Acos", f64::acos, &[-1.0, 0.3, 1.0]),
        ("Asin", f64::asin, &[-1.0, 1e-6, 1.0]),
        ("Atan", f64::atan, &[-1e30, 1e-6, 1.0]),
        ("Sinh", f64::sinh, &[-5.0, 1e-6, 80.0]),
        ("Cosh", f64::cosh, &[-5.0, 1e-6, 80.0]),
        ("Tan", f64::tan, &[-1.5, 1e-6, 1.0]),
        ("Asinh", f64::asinh, &[-1e30, 1e-6, 1.0]),
        ("Acosh", f64::acosh, &[1.0, 1.000_001, 1e30]),
        ("Atanh", f64::atanh, &[-0.999, 1e-6, 0.5]),
    ];
    for (op, function, numbers) in functions {
        let expected: Vec<f32> = numbers.iter().map(|x| function(f64::from(*x)) as f32).collect();
        assert_eq!(of_numbers(22, op, numbers, &[]), expected, "{op}");
    }
}

#[test]
fn what_cuts_numbers_off_keeps_nan() {
    for op in ["Relu", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu", "Sign"] {
        assert!(of_numbers(18, op, &[f32::NAN], &[])[0].is_nan(), "{op}");
    }
    let of_several =
        |op: &str, operands: &[&str]| {
            let graph = Graph::default()
                .weight(floats_tensor("nan", &[1], &[f32::NAN]))
                .weight(floats_tensor("one", &[1], &[1.0]));
            let graph = graph.input("x", &[1]).node("Mul", &["x", "nan"], &["n"], &[]);
            let graph = graph.node("Mul", &["x", "one"], &["m"], &[]);
            compute(18, graph.node(op, operands, &["y"], &[]).output("y")).1
        };
    let of_two = |op: &str, a: &str, b: &str| of_several(op, &[a, b]);
    for op in ["Max", "Min", "Clip"] {
        assert!(of_two(op, "n", "one")[0].is_nan(), "{op} of NaN and a constant");
    }
    for op in ["Max", "Min"] {
        assert!(of_two(op, "one", "n")[0].is_nan(), "{op} of a constant and NaN");
        assert!(of_two(op, "n", "m")[0].is_nan(), "{op} of NaN and a number");
        assert!(of_two(op, "m", "n")[0].is_nan(), "{op} of a number and NaN");
        assert!(of_two(op, "nan", "m")[0].is_nan(), "{op} of a constant that is NaN");
        assert_eq!(of_two(op, "m", "one"), [1.0]);
        for operands in [["one", "n", "m"], ["one", "m", "n"], ["n", "one", "m"], ["m", "n", "one"]] {
            assert!(of_several(op, &operands)[0].is_nan(), "{op} of {operands:?}, where n is NaN");
        }
    }
}

#[test]
fn logic_comparisons_and_powers_broadcast_from_an_axis_up_to_version_6() {
    let weight = floats_tensor("w", &[2], &[2.0, 3.0]);
    let along_rows = [int("broadcast", 1), int("axis", 0)];
    let pow = one_node("Pow", &[2, 2], &["x", "w"], &along_rows).weight(weight.clone());
    check(6, pow, &[2, 2], &[1.0, 4.0, 27.0, 64.0]);
    let as_number = |graph: Graph| graph.node("Cast", &["c"], &["y"], &[string("to", "FLOAT")]).output("y");
    let input = || Graph::default().input("x", &[2, 2]).weight(weight.clone());
    let compare = |op: &str| as_number(input().node(op, &["x", "w"], &["c"], &along_rows));
    check(1, compare("Equal"), &[2, 2], &[0.0, 1.0, 1.0, 0.0]);
    check(1, compare("Greater"), &[2, 2], &[0.0, 0.0, 0.0, 1.0]);
    check(1, compare("Less"), &[2, 2], &[1.0, 0.0, 0.0, 0.0]);
    let logic = |op: &str| {
        let truth = raw_tensor("t", 9, &[2], &[1, 0]);
        let graph = input().weight(truth).node("Less", &["x", "w"], &["l"], &along_rows);
        as_number(graph.node(op, &["l", "t"], &["c"], &along_rows))
    };
    check(1, logic("And"), &[2, 2], &[1.0, 0.0, 0.0, 0.0]);
    check(1, logic("Or"), &[2, 2], &[1.0, 1.0, 0.0, 0.0]);
    check(1, logic("Xor"), &[2, 2], &[0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn a_slope_is_that_of_a_channel_up_to_version_6_and_broadcasts_from_7() {
    let graph = |slope: &[f32]| {
        let slope = floats_tensor("s", &[slope.len() as i64], slope);
        let graph = Graph::default().input("x", &[1, 2, 2]).weight(slope);
        graph.node("Neg", &["x"], &["n"], &[]).node("PRelu", &["n", "s"], &["y"], &[]).output("y")
    };
    check(6, graph(&[2.0, 3.0]), &[1, 2, 2], &[-2.0, -4.0, -9.0, -12.0]);
    check(1, graph(&[2.0]), &[1, 2, 2], &[-2.0, -4.0, -6.0, -8.0]);
    check(7, graph(&[2.0, 3.0]), &[1, 2, 2], &[-2.0, -6.0, -6.0, -12.0]);
}

#[test]
fn a_remainder_of_numbers_has_the_divisors_sign_even_where_it_is_0() {
    let (a, b) = ([5.5, -5.5, 4.0, -4.0, 1.0], [-2.0, 2.0, -2.0, 2.0, f32::NEG_INFINITY]);
    let graph = Graph::default().weight(floats_tensor("a", &[5], &a)).weight(floats_tensor("b", &[5], &b));
    let found = compute(28, graph.node("Mod", &["a", "b"], &["y"], &[]).output("y")).1;
    assert_eq!(found, [-0.5, 0.5, 0.0, 0.0, f32::NEG_INFINITY]);
    let is_negative = found.iter().map(|x| x.is_sign_negative()).collect::<Vec<_>>();
    assert_eq!(is_negative, [true, false, true, false, true]);
}

/// A node of two constants of integers, as floats.
fn of_integers(version: i64, op: &str, [a, b]: [&[i64]; 2], attributes: &[Message]) -> Vec<f32> {
    let graph = Graph::default().weight(ints_tensor("a", a)).weight(ints_tensor("b", b));
    let graph = graph.node(op, &["a", "b"], &["r"], attributes);
    compute(version, graph.node("Cast", &["r"], &["y"], &[int("to", 1)]).output("y")).1
}

#[test]
fn bits_shifted_by_a_negative_number_or_the_width_are_gone() {
    let (x, bits): (&[i64], &[i64]) = (&[1, -8, -8, 5], &[3, 1, 64, -1]);
    assert_eq!(
        of_integers(28, "BitShift", [x, bits], &[string("direction", "LEFT")]),
        [8.0, -16.0, 0.0, 0.0]
    );
    assert_eq!(
        of_integers(28, "BitShift", [x, bits], &[string("direction", "RIGHT")]),
        [0.0, -4.0, -1.0, 0.0]
    );
}

#[test]
fn bits_are_those_of_another_type() {
    let graph = Graph::default().input("x", &[1]).node("BitCast", &["x"], &["b"], &[int("to", 6)]);
    let graph = graph.node("Cast", &["b"], &["y"], &[int("to", 1)]).output("y");
    check(26, graph, &[1], &[1f32.to_bits() as f32]);
}

#[test]
fn swiglu_gates_its_second_operand() {
    let graph = Graph::default().input("x", &[2]).weight(floats_tensor("w", &[2], &[3.0, 5.0]));
    let found = compute(28, graph.node("SwiGLU", &["x", "w"], &["y"], &[]).output("y")).1;
    let swish = |x: f64| x / (1.0 + (-x).exp());
    for (found, expected) in found.iter().zip([swish(1.0) * 3.0, swish(2.0) * 5.0]) {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found}, expected {expected}");
    }
}

#[test]
fn dropout_keeps_everything_and_says_so() {
    let mask = Graph::default().input("x", &[2]).node("Dropout", &["x"], &["d", "m"], &[]);
    let mask = mask.node("Cast", &["m"], &["y"], &[int("to", 1)]).output("y");
    check(13, mask, &[2], &[1.0, 1.0]);
    let old = Graph::default().input("x", &[2]).node("Dropout", &["x"], &["d", "y"], &[]);
    check(7, old.output("y"), &[2], &[1.0, 1.0]);
}

/// A node over `[[1, 2, 3], [3, 3, 1]]`, whose results are read as floats.
fn of_two_lines(version: i64, op: &str, attributes: &[Message]) -> (Vec<u64>, Vec<f32>) {
    let x = floats_tensor("x", &[2, 3], &[1.0, 2.0, 3.0, 3.0, 3.0, 1.0]);
    let graph = Graph::default().weight(x).node(op, &["x"], &["r"], attributes);
    compute(version, graph.node("Cast", &["r"], &["y"], &[int("to", 1)]).output("y"))
}

#[test]
fn the_extreme_is_found_along_an_axis() {
    let axis = int("axis", -1);
    assert_eq!(of_two_lines(13, "ArgMax", std::slice::from_ref(&axis)), (vec![2, 1], vec![2.0, 0.0]));
    let last = [axis.clone(), int("select_last_index", 1), int("keepdims", 0)];
    assert_eq!(of_two_lines(13, "ArgMax", &last), (vec![2], vec![2.0, 1.0]));
    assert_eq!(of_two_lines(11, "ArgMin", &[]), (vec![1, 3], vec![0.0, 0.0, 1.0]));
    let one = |version, attributes: &[Message]| of_two_lines(version, "Hardmax", attributes).1;
    assert_eq!(one(13, std::slice::from_ref(&axis)), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(one(11, &[int("axis", 0)]), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn elements_are_accumulated_from_either_end() {
    let graph = |op: &str, attributes: &[Message]| {
        one_node(op, &[2, 3], &["x", "axis"], attributes).weight(ints_tensor("axis", &[1]))
    };
    check(14, graph("CumSum", &[]), &[2, 3], &[1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    let back = [int("reverse", 1), int("exclusive", 1)];
    check(14, graph("CumSum", &back), &[2, 3], &[5.0, 3.0, 0.0, 11.0, 6.0, 0.0]);
    check(26, graph("CumProd", &[]), &[2, 3], &[1.0, 2.0, 6.0, 4.0, 20.0, 120.0]);
}

#[test]
fn a_global_pool_takes_any_norm() {
    let pool =
        |version, p: &[Message]| compute(version, one_node("GlobalLpPool", &[1, 1, 2], &["x"], p)).1[0];
    assert_eq!(pool(2, &[int("p", 1)]), 3.0);
    assert_eq!(pool(2, &[]), 5f32.sqrt());
    assert!((pool(22, &[int("p", 3)]) - 9f32.powf(1.0 / 3.0)).abs() < 1e-5);
}

#[test]
fn quantised_numbers_saturate_and_come_back() {
    let scale = floats_tensor("s", &[], &[0.01]);
    let zero = raw_tensor("z", 2, &[], &[10]);
    let graph = Graph::default().input("x", &[3]).weight(scale.clone()).weight(zero.clone());
    let graph = graph.node("QuantizeLinear", &["x", "s", "z"], &["q"], &[]);
    let number = graph.clone().node("Cast", &["q"], &["y"], &[int("to", 1)]).output("y");
    check(13, number, &[3], &[110.0, 210.0, 255.0]);
    let back = graph.node("DequantizeLinear", &["q", "s", "z"], &["y"], &[]).output("y");
    check(13, back, &[3], &[1.0, 2.0, 2.45]);
    let blocks = floats_tensor("s", &[1, 2], &[1.0, 10.0]);
    let x = raw_tensor("q", 3, &[1, 3], &[1, 2, 255]);
    let graph = Graph::default().weight(blocks).weight(x);
    let attributes = [int("axis", 1), int("block_size", 2)];
    let graph = graph.node("DequantizeLinear", &["q", "s"], &["y"], &attributes).output("y");
    check(21, graph, &[1, 3], &[1.0, 2.0, -10.0]);
    let dynamic =
        Graph::default().input("x", &[3]).node("DynamicQuantizeLinear", &["x"], &["q", "s", "z"], &[]);
    let number = dynamic.node("Cast", &["q"], &["y"], &[int("to", 1)]).output("y");
    check(11, number, &[3], &[85.0, 170.0, 255.0]);
    let zeros = Graph::default().weight(floats_tensor("x", &[2], &[0.0, -0.0]));
    let zeros = zeros.node("DynamicQuantizeLinear", &["x"], &["q", "y", "z"], &[]);
    check(11, zeros.clone().output("y"), &[], &[1.0 / 255.0]);
    let number = zeros.node("Cast", &["q"], &["n"], &[int("to", 1)]).output("n");
    check(11, number, &[2], &[0.0, 0.0]);
}

/// Numbers rounded to powers of two, as numbers.
fn rounded_to_powers(numbers: &[f32], attributes: &[Message]) -> Vec<f32> {
    let graph = Graph::default().weight(floats_tensor("w", &[numbers.len() as i64], numbers));
    let attributes = [&[int("to", 24)], attributes].concat();
    let graph = graph.node("Cast", &["w"], &["p"], &attributes).node("Cast", &["p"], &["y"], &[int("to", 1)]);
    compute(28, graph.output("y")).1
}

#[test]
fn powers_of_two_are_rounded_up_or_down_or_to_the_nearest() {
    let [least, most] = [-127f32, 127.0].map(f32::exp2);
    let numbers = [0.124, 0.25, 1.1, 1.5, 2.0, 3.0, 5.0, 3.0 * least];
    let rounded = |mode: &str| rounded_to_powers(&numbers, &[string("round_mode", mode)]);
    assert_eq!(rounded("up"), [0.125, 0.25, 2.0, 2.0, 2.0, 4.0, 8.0, 4.0 * least]);
    assert_eq!(rounded("down"), [0.0625, 0.25, 1.0, 1.0, 2.0, 2.0, 4.0, 2.0 * least]);
    assert_eq!(rounded("nearest"), [0.125, 0.25, 1.0, 2.0, 2.0, 4.0, 4.0, 4.0 * least]);
    let far = [0.0, least / 2.0, least, most, 1.5 * most, f32::INFINITY];
    assert_eq!(rounded_to_powers(&far, &[]), [least, least, least, most, most, most]);
    let kept = rounded_to_powers(&far, &[string("round_mode", "nearest"), int("saturate", 0)]);
    assert_eq!(kept.iter().map(|number| number.is_nan()).collect::<Vec<_>>(), {
        [true, true, false, false, true, true]
    });
    assert_eq!(kept[2..4], [least, most]);
    for strange in [f32::NAN, -1.0, f32::NEG_INFINITY] {
        assert!(rounded_to_powers(&[strange], &[])[0].is_nan());
    }
}

#[test]
fn powers_of_two_are_made_of_other_numbers_and_refused_of_what_would_be_rounded_twice() {
    let graph = |element: i32, raw: &[u8], attributes: &[Message]| {
        let attributes = [&[int("to", 24)], attributes].concat();
        let graph = Graph::default().weight(raw_tensor("w", element, &[1], raw));
        let graph = graph.node("Cast", &["w"], &["p"], &attributes);
        graph.node("Cast", &["p"], &["y"], &[int("to", 1)]).output("y")
    };
    // A number of 64 bits a little above 1 would be 1 as one of 32.
    check(28, graph(11, &(1.0 + 2f64.powi(-40)).to_le_bytes(), &[]), &[1], &[2.0]);
    check(28, graph(6, &(i32::MAX - 1).to_le_bytes(), &[]), &[1], &[31f32.exp2()]);
    let said = faults(&model(28, graph(7, &5i64.to_le_bytes(), &[]))).join(" ");
    assert!(said.contains("integers of 64 bits"), "{said}");
    let said = faults(&model(28, graph(1, &5f32.to_le_bytes(), &[int("saturate", 0)]))).join(" ");
    assert!(said.contains("other than nearest where `saturate` is 0"), "{said}");
    let said = faults(&model(28, graph(1, &5f32.to_le_bytes(), &[string("round_mode", "odd")]))).join(" ");
    assert!(said.contains("expected up, down or nearest"), "{said}");
}

#[test]
fn training_drops_nothing_where_the_ratio_is_0_and_half_where_it_is_left_out() {
    let trained = |inputs: &[&str], truth: u8| {
        let graph = one_node("Dropout", &[2], inputs, &[]).weight(floats_tensor("r", &[], &[0.0]));
        graph.weight(raw_tensor("t", 9, &[], &[truth]))
    };
    check(13, trained(&["x", "r", "t"], 1), &[2], &[1.0, 2.0]);
    check(13, trained(&["x", "", "t"], 0), &[2], &[1.0, 2.0]);
    refuses(13, trained(&["x", "", "t"], 1), "training mode, expected inference");
}

#[test]
fn integers_shrink_by_numbers_between_them() {
    let graph = Graph::default().input("x", &[4]).node("Cast", &["x"], &["i"], &[int("to", INT64.into())]);
    let attributes = [float("bias", 0.5), float("lambd", 1.5)];
    let graph =
        graph.node("Shrink", &["i"], &["s"], &attributes).node("Cast", &["s"], &["y"], &[int("to", 1)]);
    // 1.5 and 2.5 and 3.5, cut.
    check(9, graph.output("y"), &[4], &[0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn an_integer_to_the_power_of_a_float_is_that_float_cut() {
    let graph = Graph::default().input("x", &[4]).node("Cast", &["x"], &["i"], &[int("to", INT64.into())]);
    let half = floats_tensor("half", &[], &[0.5]);
    let graph = graph.weight(half).node("Pow", &["i", "half"], &["p"], &[]);
    let graph = graph.node("Cast", &["p"], &["y"], &[int("to", 1)]).output("y");
    check(15, graph, &[4], &[1.0, 1.0, 1.0, 2.0]);
}

#[test]
fn celu_with_a_negative_alpha_is_what_its_text_says() {
    let graph = Graph::default().input("x", &[2]).weight(floats_tensor("three", &[], &[3.0]));
    let graph = graph.node("Sub", &["x", "three"], &["t"], &[]);
    let graph = graph.node("Celu", &["t"], &["y"], &[float("alpha", -1.0)]).output("y");
    // Of -2 and -1: 1 - e^2 and 1 - e.
    let (shape, found) = compute(12, graph);
    let expected = [1.0 - 2f32.exp(), 1.0 - 1f32.exp()];
    assert_eq!(shape, [2]);
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5), "{found:?}");
}

#[test]
fn a_factor_between_integers_is_refused_where_integers_are_multiplied() {
    let graph = Graph::default().input("x", &[2, 2]);
    let graph = graph.node("Cast", &["x"], &["i"], &[int("to", 6)]);
    let graph = graph.node("Gemm", &["i", "i"], &["p"], &[float("alpha", 0.5)]);
    refuses(13, graph.node("Cast", &["p"], &["y"], &[int("to", 1)]).output("y"), "0.5 as an integer");
}

#[test]
fn a_batch_is_normalised_in_the_widest_of_its_types_and_keeps_its_own() {
    // One channel of 1, 2 and 3, less 2, times 3, plus 1.
    for [elements, statistics] in [[1, 11], [11, 1], [10, 1], [1, 10], [1, 1]] {
        let mut graph = Graph::default().input("x", &[3, 1]);
        graph = graph.node("Cast", &["x"], &["t"], &[int("to", elements)]);
        for (name, number) in [("scale", 3.0), ("bias", 1.0), ("mean", 2.0), ("variance", 1.0)] {
            let wide = format!("{name}_f32");
            graph = graph.weight(floats_tensor(&wide, &[1], &[number]));
            graph = graph.node("Cast", &[&wide], &[name], &[int("to", statistics)]);
        }
        let operands = ["t", "scale", "bias", "mean", "variance"];
        let graph = graph.node("BatchNormalization", &operands, &["n"], &[float("epsilon", 0.0)]);
        // Of the type of the elements: a sum with them is one.
        let graph = graph.node("Add", &["n", "t"], &["sum"], &[]);
        let graph = graph.node("Cast", &["sum"], &["y"], &[int("to", 1)]).output("y");
        check(15, graph, &[3, 1], &[-1.0, 3.0, 7.0]);
    }
}

#[test]
fn of_fewer_pixels_an_old_resize_takes_the_upper_one() {
    let graph =
        Graph::default().input("x", &[1, 1, 2, 4]).weight(floats_tensor("s", &[4], &[1.0, 1.0, 0.6, 0.6]));
    check(10, graph.node("Resize", &["x", "s"], &["y"], &[]).output("y"), &[1, 1, 1, 2], &[1.0, 3.0]);
    // Of 20 elements 14: the eighth is the eleventh, not the one after it.
    let graph = Graph::default().input("x", &[20]).weight(floats_tensor("s", &[1], &[0.7]));
    let (shape, found) = compute(10, graph.node("Resize", &["x", "s"], &["y"], &[]).output("y"));
    assert_eq!(shape, [14]);
    assert_eq!(found[7], 11.0);
}

#[test]
fn a_squeeze_of_what_may_have_one_element_or_not_is_refused() {
    let graph = Graph::default().input("x", &[-1, 3, 1]).node("Squeeze", &["x"], &["y"], &[]).output("y");
    refuses(13, graph, "no `axes`, and");
}
