//! That elements of a byte and less stand for the numbers that their formats say, and that numbers are
//! rounded to the nearest of them.
//!
//! The oracle is the formats' definition: a sign, an exponent less its bias, and a mantissa.

use crate::values::compute;
use crate::writer::{FLOAT, Graph, Message, floats_tensor, int, raw_tensor};

/// A format of floats.
#[derive(Clone, Copy)]
struct Format {
    /// Its number among the element types.
    element: i32,
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: SpecialCodes,
}

/// Which codes stand for no finite number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpecialCodes {
    None,
    /// Those of all ones, with either sign.
    AllOnes,
    /// Those of the greatest exponent: infinite without a mantissa, else no number.
    GreatestExponent,
    /// That of zero with a sign.
    NegativeZero,
}

const FORMATS: [Format; 5] = [
    Format { element: 17, exponent_bits: 4, mantissa_bits: 3, bias: 7, special: SpecialCodes::AllOnes },
    Format { element: 18, exponent_bits: 4, mantissa_bits: 3, bias: 8, special: SpecialCodes::NegativeZero },
    Format {
        element: 19,
        exponent_bits: 5,
        mantissa_bits: 2,
        bias: 15,
        special: SpecialCodes::GreatestExponent,
    },
    Format { element: 20, exponent_bits: 5, mantissa_bits: 2, bias: 16, special: SpecialCodes::NegativeZero },
    Format { element: 23, exponent_bits: 2, mantissa_bits: 1, bias: 1, special: SpecialCodes::None },
];

impl Format {
    /// How many codes there are without a sign.
    fn half(self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The number of a code.
    fn number(self, code: u32) -> f64 {
        let sign = if code < self.half() { 1.0 } else { -1.0 };
        let magnitude = code % self.half();
        let exponent = magnitude >> self.mantissa_bits;
        let mantissa = magnitude % (1 << self.mantissa_bits);
        let is_greatest = exponent + 1 == 1 << self.exponent_bits;
        match self.special {
            SpecialCodes::AllOnes if magnitude + 1 == self.half() => return f64::NAN,
            SpecialCodes::GreatestExponent if is_greatest && mantissa == 0 => return sign * f64::INFINITY,
            SpecialCodes::GreatestExponent if is_greatest => return f64::NAN,
            SpecialCodes::NegativeZero if code == self.half() => return f64::NAN,
            _ => {}
        }
        let fraction = f64::from(mantissa) / f64::from(1u32 << self.mantissa_bits);
        let scale = |exponent: i32| f64::from(exponent - self.bias).exp2();
        sign * if exponent == 0 { fraction * scale(1) } else { (1.0 + fraction) * scale(exponent as i32) }
    }

    /// The finite numbers that are not below 0, in their order.
    fn finite(self) -> Vec<f64> {
        (0..self.half()).map(|code| self.number(code)).take_while(|number| number.is_finite()).collect()
    }
}

/// Codes as elements of a type, the first in the low bits where several stand in a byte.
fn packed(element: i32, bits: usize, codes: &[u8]) -> Message {
    let byte =
        |codes: &[u8]| codes.iter().rev().fold(0, |byte: u32, code| (byte << bits) | u32::from(*code)) as u8;
    let bytes: Vec<u8> = codes.chunks(8 / bits).map(byte).collect();
    raw_tensor("w", element, &[codes.len() as i64], &bytes)
}

fn as_floats(weight: Message) -> Vec<f32> {
    let graph = Graph::default().weight(weight);
    compute(25, graph.node("Cast", &["w"], &["y"], &[int("to", FLOAT.into())]).output("y")).1
}

/// Numbers as elements of a type, and back.
fn through(element: i32, numbers: &[f32], attributes: &[Message]) -> Vec<f32> {
    let attributes = [&[int("to", element.into())], attributes].concat();
    let graph = Graph::default().weight(floats_tensor("w", &[numbers.len() as i64], numbers));
    let graph = graph.node("Cast", &["w"], &["q"], &attributes);
    compute(25, graph.node("Cast", &["q"], &["y"], &[int("to", FLOAT.into())]).output("y")).1
}

/// The bits of numbers, of which all that are none are alike.
fn bits(numbers: &[f32]) -> Vec<u32> {
    let bits = |number: &f32| (if number.is_nan() { f32::NAN } else { *number }).to_bits();
    numbers.iter().map(bits).collect()
}

#[test]
fn each_code_of_a_small_float_stands_for_its_number() {
    for format in FORMATS {
        let codes: Vec<u8> = (0..2 * format.half()).map(|code| code as u8).collect();
        let width = 1 + (format.exponent_bits + format.mantissa_bits) as usize;
        let expected: Vec<f32> = codes.iter().map(|code| format.number(u32::from(*code)) as f32).collect();
        let found = as_floats(packed(format.element, width, &codes));
        assert_eq!(bits(&found), bits(&expected), "element type {}", format.element);
        let kept: Vec<f32> = expected.iter().copied().filter(|number| number.is_finite()).collect();
        assert_eq!(
            bits(&through(format.element, &kept, &[])),
            bits(&kept),
            "element type {}",
            format.element
        );
    }
}

#[test]
fn numbers_between_two_small_floats_become_the_nearer_one_or_that_of_an_even_code() {
    for format in FORMATS {
        let finite = format.finite();
        let mut numbers = Vec::new();
        let mut expected = Vec::new();
        for (code, pair) in finite.windows(2).enumerate() {
            let [low, high] = [pair[0], pair[1]].map(|number| number as f32);
            let middle = (low + high) / 2.0;
            let even = if code % 2 == 0 { low } else { high };
            numbers.extend([middle.next_down(), middle, middle.next_up()]);
            expected.extend([low, even, high]);
        }
        assert_eq!(through(format.element, &numbers, &[]), expected, "element type {}", format.element);
        let below: Vec<f32> = numbers.iter().map(|number| -number).collect();
        let expected: Vec<f32> = expected.iter().map(|number| -number).collect();
        assert_eq!(through(format.element, &below, &[]), expected, "element type {}", format.element);
    }
}

#[test]
fn numbers_beyond_the_greatest_small_float_are_it_unless_they_are_kept() {
    for format in FORMATS {
        let finite = format.finite();
        let [before, most] = [finite[finite.len() - 2], finite[finite.len() - 1]];
        // Up to half a step beyond, numbers are rounded to the greatest one.
        let half = (most + (most - before) / 2.0) as f32;
        let numbers = [half.next_down(), half.next_up(), 2.0 * most as f32, f32::INFINITY];
        assert_eq!(through(format.element, &numbers, &[]), [most as f32; 4], "{}", format.element);
        if format.special == SpecialCodes::None {
            continue;
        }
        let kept = through(format.element, &numbers, &[int("saturate", 0)]);
        assert_eq!(kept[0], most as f32, "element type {}", format.element);
        let is_beyond = |number: &f32| match format.special {
            SpecialCodes::GreatestExponent => *number == f32::INFINITY,
            _ => number.is_nan(),
        };
        assert!(kept[1..].iter().all(is_beyond), "element type {}: {kept:?}", format.element);
    }
}

#[test]
fn integers_of_two_and_four_bits_are_all_of_their_codes() {
    for (element, width, least) in [(21, 4, 0), (22, 4, -8), (25, 2, 0), (26, 2, -2)] {
        let count = 1i32 << width;
        let codes: Vec<u8> = (0..count).map(|code| code as u8).collect();
        let number = |code: i32| if least < 0 && code >= -least { code - count } else { code };
        let expected: Vec<f32> = (0..count).map(|code| number(code) as f32).collect();
        assert_eq!(as_floats(packed(element, width, &codes)), expected, "element type {element}");
        assert_eq!(through(element, &expected, &[]), expected, "element type {element}");
        // An odd number of them ends inside of a byte.
        assert_eq!(as_floats(packed(element, width, &codes[1..])), expected[1..], "element type {element}");
    }
}

#[test]
fn numbers_are_quantised_to_integers_of_two_bits() {
    for (element, [least, most]) in [(25, [0.0, 3.0]), (26, [-2.0, 1.0])] {
        let numbers = [-1e6, 1e6, 1.0, 0.5, least, most, least - 1.0, most + 1.0];
        let graph = Graph::default().weight(floats_tensor("w", &[8], &numbers));
        let graph = graph.weight(floats_tensor("scale", &[], &[1.0]));
        let graph = graph.node("QuantizeLinear", &["w", "scale"], &["q"], &[int("output_dtype", element)]);
        let found = compute(25, graph.node("Cast", &["q"], &["y"], &[int("to", FLOAT.into())]).output("y")).1;
        assert_eq!(found, [least, most, 1.0, 0.0, least, most, least, most], "element type {element}");
    }
}

#[test]
fn integers_with_a_scale_of_16_bits_are_computed_with_as_wide_numbers() {
    let words = |numbers: &[u16]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let float16 = |name: &str, shape: &[i64], bits: &[u16]| raw_tensor(name, 10, shape, &words(bits));
    let zero = |graph: Graph| {
        let graph = graph.input("x", &[3]).weight(floats_tensor("none", &[], &[0.0]));
        let graph = graph.node("Mul", &["x", "none"], &["z"], &[]).node("Add", &["f", "z"], &["y"], &[]);
        graph.output("y")
    };
    let float = [int("to", FLOAT.into())];
    // Beyond 65504 there is no float of 16 bits; 0x3400 is a quarter, 16383.75 is next to 16384.
    let graph = Graph::default().weight(raw_tensor("q", 4, &[3], &words(&[60000, 65535, 100])));
    let graph = graph.weight(float16("s", &[], &[0x3400]));
    let graph = graph.node("DequantizeLinear", &["q", "s"], &["d"], &[]).node("Cast", &["d"], &["f"], &float);
    assert_eq!(compute(21, zero(graph)), (vec![3], vec![15000.0, 16384.0, 25.0]));
    // 2048 and 1 are such numbers, their sum is none.
    let graph = Graph::default().weight(float16("h", &[3], &[0x6800, 0xe800, 0x3c00]));
    let graph = graph.weight(float16("s", &[], &[0x3c00])).weight(raw_tensor("p", 5, &[], &words(&[1])));
    let graph = graph.node("QuantizeLinear", &["h", "s", "p"], &["q"], &[]);
    let graph = graph.node("Cast", &["q"], &["f"], &float);
    assert_eq!(compute(21, zero(graph)), (vec![3], vec![2049.0, -2047.0, 2.0]));
}
