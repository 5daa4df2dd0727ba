//! Elements of arrays: their bytes as numbers, and the element types of ONNX's files.

use half::{bf16, f16};
#[cfg(feature = "onnx")]
use import::onnx::element::Element;
use runtime::ElementKind;

/// The element types of arrays, with ONNX's names.
#[cfg(feature = "onnx")]
const ELEMENTS: [(ElementKind, Element); 24] = [
    (ElementKind::Bool, Element::Bool),
    (ElementKind::I2, Element::Int2),
    (ElementKind::U2, Element::Uint2),
    (ElementKind::I4, Element::Int4),
    (ElementKind::U4, Element::Uint4),
    (ElementKind::I8, Element::Int8),
    (ElementKind::U8, Element::Uint8),
    (ElementKind::I16, Element::Int16),
    (ElementKind::U16, Element::Uint16),
    (ElementKind::I32, Element::Int32),
    (ElementKind::U32, Element::Uint32),
    (ElementKind::I64, Element::Int64),
    (ElementKind::U64, Element::Uint64),
    (ElementKind::F4E2M1FN, Element::Float4E2m1),
    (ElementKind::F8E4M3FN, Element::Float8E4m3fn),
    (ElementKind::F8E4M3FNUZ, Element::Float8E4m3fnuz),
    (ElementKind::F8E5M2, Element::Float8E5m2),
    (ElementKind::F8E5M2FNUZ, Element::Float8E5m2fnuz),
    (ElementKind::F8E8M0FNU, Element::Float8E8m0),
    (ElementKind::F16, Element::Float16),
    (ElementKind::BF16, Element::Bfloat16),
    (ElementKind::F32, Element::Float),
    (ElementKind::F64, Element::Double),
    (ElementKind::String, Element::String),
];

/// ONNX's element type for one of arrays.
#[cfg(feature = "onnx")]
pub(crate) fn onnx_element(kind: ElementKind) -> Element {
    let pair = ELEMENTS.iter().find(|(known, _)| *known == kind);
    pair.expect("the table has every element type").1
}

/// The element type of arrays for one of ONNX; none for complex numbers.
#[cfg(feature = "onnx")]
pub(crate) fn of_onnx(element: Element) -> Option<ElementKind> {
    ELEMENTS.iter().find(|(_, known)| *known == element).map(|(kind, _)| *kind)
}

/// The bits of an element; those of less than eight bits share bytes, the first in the low bits.
pub(crate) fn bits(kind: ElementKind) -> usize {
    match kind {
        ElementKind::I2 | ElementKind::U2 => 2,
        ElementKind::I4 | ElementKind::U4 | ElementKind::F4E2M1FN => 4,
        ElementKind::Bool | ElementKind::I8 | ElementKind::U8 => 8,
        ElementKind::F8E4M3FN | ElementKind::F8E4M3FNUZ => 8,
        ElementKind::F8E5M2 | ElementKind::F8E5M2FNUZ | ElementKind::F8E8M0FNU => 8,
        ElementKind::I16 | ElementKind::U16 | ElementKind::F16 | ElementKind::BF16 => 16,
        ElementKind::I32 | ElementKind::U32 | ElementKind::F32 => 32,
        ElementKind::I64 | ElementKind::U64 | ElementKind::F64 | ElementKind::String => 64,
    }
}

/// The bits of each of `count` elements that share bytes.
pub(crate) fn unpacked(bytes: &[u8], bits: usize, count: usize) -> impl Iterator<Item = u8> + '_ {
    let mask = ((1u16 << bits) - 1) as u8;
    (0..count).map(move |index| bytes[index * bits / 8] >> (index * bits % 8) & mask)
}

/// Packs elements of less than eight bits, given as a byte each.
pub(crate) fn packed(elements: &[u8], bits: usize) -> Vec<u8> {
    let mut bytes = vec![0; (elements.len() * bits).div_ceil(8)];
    for (index, element) in elements.iter().enumerate() {
        let element = element & ((1u16 << bits) - 1) as u8;
        bytes[index * bits / 8] |= element << (index * bits % 8);
    }
    bytes
}

/// `count` elements as numbers. Integers beyond 2^53 are rounded. Strings are equal as numbers if they are
/// equal.
pub(crate) fn numbers(kind: ElementKind, bytes: &[u8], count: usize) -> Vec<f64> {
    let float = |sign: u8, mantissa, bias, end| move |code: u8| small_float(code, sign, mantissa, bias, end);
    match kind {
        ElementKind::F32 => words(bytes, |word| f64::from(f32::from_le_bytes(word))),
        ElementKind::F64 => words(bytes, f64::from_le_bytes),
        ElementKind::F16 => words(bytes, |word| f16::from_le_bytes(word).to_f64()),
        ElementKind::BF16 => words(bytes, |word| bf16::from_le_bytes(word).to_f64()),
        ElementKind::I64 => words(bytes, |word| i64::from_le_bytes(word) as f64),
        ElementKind::U64 | ElementKind::String => words(bytes, |word| u64::from_le_bytes(word) as f64),
        ElementKind::I32 => words(bytes, |word| f64::from(i32::from_le_bytes(word))),
        ElementKind::U32 => words(bytes, |word| f64::from(u32::from_le_bytes(word))),
        ElementKind::I16 => words(bytes, |word| f64::from(i16::from_le_bytes(word))),
        ElementKind::U16 => words(bytes, |word| f64::from(u16::from_le_bytes(word))),
        ElementKind::I8 => words(bytes, |word| f64::from(i8::from_le_bytes(word))),
        ElementKind::U8 | ElementKind::Bool => bytes.iter().map(|byte| f64::from(*byte)).collect(),
        ElementKind::U2 | ElementKind::U4 => unpacked(bytes, bits(kind), count).map(f64::from).collect(),
        ElementKind::I2 | ElementKind::I4 => {
            let unused = 8 - bits(kind);
            let signed = |code: u8| f64::from((code << unused).cast_signed() >> unused);
            unpacked(bytes, bits(kind), count).map(signed).collect()
        }
        ElementKind::F4E2M1FN => unpacked(bytes, 4, count).map(float(8, 1, 1, FloatEnd::Numbers)).collect(),
        ElementKind::F8E4M3FN => bytes.iter().copied().map(float(0x80, 3, 7, FloatEnd::OneNan)).collect(),
        ElementKind::F8E5M2 => bytes.iter().copied().map(float(0x80, 2, 15, FloatEnd::Infinity)).collect(),
        ElementKind::F8E4M3FNUZ => {
            bytes.iter().copied().map(float(0x80, 3, 8, FloatEnd::NegativeZero)).collect()
        }
        ElementKind::F8E5M2FNUZ => {
            bytes.iter().copied().map(float(0x80, 2, 16, FloatEnd::NegativeZero)).collect()
        }
        ElementKind::F8E8M0FNU => bytes.iter().copied().map(power).collect(),
    }
}

fn words<const WIDTH: usize>(bytes: &[u8], number: impl Fn([u8; WIDTH]) -> f64) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|word| number(*word)).collect()
}

/// The codes of a small float that are not finite numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FloatEnd {
    /// None.
    Numbers,
    /// The largest code of each sign is NaN.
    OneNan,
    /// The largest exponent is infinity, or NaN with a fraction.
    Infinity,
    /// The code of negative zero is NaN.
    NegativeZero,
}

/// The power of two of a code; the greatest code is NaN.
fn power(code: u8) -> f64 {
    if code == u8::MAX { f64::NAN } else { f64::from(i32::from(code) - 127).exp2() }
}

/// The number of a code of at most eight bits; `sign` is the bit of its sign.
fn small_float(code: u8, sign: u8, mantissa: u32, bias: i32, end: FloatEnd) -> f64 {
    let size = code & (sign - 1);
    let fraction = size & ((1 << mantissa) - 1);
    let factor = if code & sign == 0 { 1.0 } else { -1.0 };
    let is_largest = (size - fraction) == (sign - 1) & !((1 << mantissa) - 1);
    match end {
        FloatEnd::OneNan if size == sign - 1 => return f64::NAN,
        FloatEnd::NegativeZero if code == sign => return f64::NAN,
        FloatEnd::Infinity if is_largest && fraction == 0 => return factor * f64::INFINITY,
        FloatEnd::Infinity if is_largest => return f64::NAN,
        _ => {}
    }
    let exponent = i32::from(size >> mantissa);
    let fraction = f64::from(fraction) / f64::from(1 << mantissa);
    let (exponent, whole) = if exponent == 0 { (1, 0.0) } else { (exponent, 1.0) };
    factor * (whole + fraction) * f64::from(exponent - bias).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "onnx")]
    #[test]
    fn every_element_type_has_a_name_in_onnx() {
        for (kind, element) in ELEMENTS {
            assert_eq!((onnx_element(kind), of_onnx(element)), (element, Some(kind)));
            assert_eq!(bits(kind), element.bits() as usize, "{kind:?}");
        }
    }

    /// The greatest, the least and the special codes of each format, from the definitions of the Open Compute
    /// Project and of Graphcore's and AMD's formats.
    #[test]
    fn small_floats_are_the_numbers_of_their_formats() {
        let number = |kind, code: u8| numbers(kind, &[code], 1)[0];
        assert_eq!(number(ElementKind::F8E4M3FN, 0x7e), 448.0);
        assert_eq!(number(ElementKind::F8E4M3FN, 0x01), 2f64.powi(-9));
        assert!(number(ElementKind::F8E4M3FN, 0xff).is_nan());
        assert_eq!(number(ElementKind::F8E5M2, 0x7b), 57344.0);
        assert_eq!(number(ElementKind::F8E5M2, 0xfc), f64::NEG_INFINITY);
        assert!(number(ElementKind::F8E5M2, 0x7d).is_nan());
        assert_eq!(number(ElementKind::F8E4M3FNUZ, 0x7f), 240.0);
        assert!(number(ElementKind::F8E4M3FNUZ, 0x80).is_nan());
        assert_eq!(number(ElementKind::F8E5M2FNUZ, 0xff), -57344.0);
        assert_eq!(numbers(ElementKind::F8E8M0FNU, &[0, 127, 254], 3), [-127f64, 0.0, 127.0].map(f64::exp2));
        assert!(number(ElementKind::F8E8M0FNU, 0xff).is_nan());
        assert_eq!(numbers(ElementKind::F4E2M1FN, &[0x97], 2), [6.0, -0.5]);
    }

    #[test]
    fn elements_that_share_bytes_are_those_that_were_put_there() {
        assert_eq!(numbers(ElementKind::I4, &[0x8f, 0x07], 3), [-1.0, -8.0, 7.0]);
        assert_eq!(numbers(ElementKind::U2, &[0b11_10_01_00, 0b01], 5), [0.0, 1.0, 2.0, 3.0, 1.0]);
        for bits in [2, 4] {
            let elements: Vec<u8> = (0..13).map(|i| i & ((1 << bits) - 1)).collect();
            assert_eq!(unpacked(&packed(&elements, bits), bits, 13).collect::<Vec<_>>(), elements);
        }
    }
}
