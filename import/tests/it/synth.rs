//! That synthesised numbers are those of numpy: the constants here were printed by the rule's reference in
//! Python.

use import::onnx::element::Element;
use import::synth::{Stripped, input};
use ir::Blob;

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

fn blob(name: &str, entry: &str, element: Element, dims: &[u64]) -> Result<Blob, String> {
    let stripped = Stripped::parse(&format!(r#"{{"{name}": {entry}}}"#)).unwrap();
    stripped.get(name).unwrap().blob(name, element, dims)
}

/// Checks the FNV-1a-64 hash of the bytes that stand for `entry`.
fn check(name: &str, element: Element, dims: &[u64], rule: &str, hash: u64) {
    let entry = format!(r#"{{"dtype": {}, "shape": {dims:?}, {rule}}}"#, element.number());
    let bytes = blob(name, &entry, element, dims).unwrap().to_vec();
    assert_eq!(fnv1a(&bytes), hash, "{name} {}", element.name());
}

#[test]
fn weights_are_the_bits_of_the_reference() {
    check(
        "fc.weight",
        Element::Float,
        &[1000],
        r#""mean": -4.09401e-06, "std": 0.0127572"#,
        0x3f25_3b19_3547_52a9,
    );
    check(
        "bn.var",
        Element::Float,
        &[7, 11],
        r#""mean": 0.25, "std": 0.3, "min": 0.01"#,
        0xfb47_6208_d6cb_92cb,
    );
    check("héllo", Element::Float16, &[64], r#""mean": 0.1, "std": 1"#, 0x389e_0ce8_371f_20e7);
    check("d", Element::Double, &[64], r#""mean": 0.1, "std": 2.5"#, 0xfca8_41ec_856c_99b6);
    check("i", Element::Int64, &[64], r#""mean": 10, "std": 100"#, 0xecf1_6650_b95f_5e68);
}

#[test]
fn fills_are_the_bits_of_the_reference() {
    check("f", Element::Float, &[5], r#""fill": 0.1"#, 0x1ec3_39a4_617f_c6ff);
    check("fh", Element::Float16, &[5], r#""fill": 0.1"#, 0xf263_1ced_73ab_1a75);
    check("fi", Element::Int64, &[5], r#""fill": -3"#, 0x4bf4_e878_2375_e15f);
    check("b", Element::Bool, &[5], r#""fill": 1"#, 0x6f62_02b6_f92d_1e48);
}

#[test]
fn exact_bytes_are_unpacked() {
    let entry = r#"{"dtype": 1, "shape": [6], "z": "eJxjYACBBnsg4QBEQNwAxAscABsHAyA="}"#;
    let bytes = blob("z", entry, Element::Float, &[6]).unwrap().to_vec();
    assert_eq!(bytes, [0f32, 1.0, 2.0, 3.0, 4.0, 5.0].map(f32::to_le_bytes).concat());
}

#[test]
fn more_bytes_than_the_shape_has_are_refused() {
    let entry = r#"{"dtype": 1, "shape": [5], "z": "eJxjYACBBnsg4QBEQNwAxAscABsHAyA="}"#;
    let error = blob("z", entry, Element::Float, &[5]).unwrap_err();
    assert!(error.starts_with("stripped_weights: `z`: zlib: "), "{error}");
}

#[test]
fn inputs_are_the_bits_of_the_reference() {
    let image = input("input", None, Element::Float, &[1000]).unwrap().to_vec();
    assert_eq!(fnv1a(&image), 0x6138_ca18_4f26_398f);
    let seeded = input("input", Some(7), Element::Float, &[4]).unwrap().to_vec();
    assert_eq!(
        seeded,
        [0x3f54_8262u32, 0x3f77_71f6, 0x3f06_1bbc, 0xbe8d_088c].map(u32::to_le_bytes).concat()
    );
    let ids = input("input_ids", None, Element::Int64, &[1000]).unwrap().to_vec();
    assert_eq!(fnv1a(&ids), 0xd709_7afe_9a3f_fc74);
}

#[test]
fn a_part_is_the_same_as_in_the_whole() {
    let blob = input("input", None, Element::Float, &[100]).unwrap();
    let mut part = vec![0; 40];
    blob.read(120, &mut part);
    assert_eq!(part, blob.to_vec()[120..160]);
}

#[test]
fn an_entry_that_contradicts_its_tensor_is_refused() {
    let entry = r#"{"dtype": 1, "shape": [5], "fill": 0}"#;
    let error = blob("w", entry, Element::Float, &[6]).unwrap_err();
    assert_eq!(error, "stripped_weights: `w` has type 1 and shape [5], the tensor 1 and [6]");
    let empty = blob("w", r#"{"dtype": 1, "shape": [6], "mean": 0}"#, Element::Float, &[6]).unwrap_err();
    assert_eq!(empty, "stripped_weights: `w` has no `fill`, `z` or `mean` and `std`");
    assert!(Stripped::parse("{").unwrap_err().starts_with("stripped_weights: EOF"));
}

#[test]
fn every_element_type_of_whole_bytes_is_stored_in_its_width() {
    for &element in Element::ALL {
        match input("x", None, element, &[3]) {
            Ok(blob) => assert_eq!(blob.to_vec().len() as u64, 3 * element.bits() / 8),
            Err(error) => assert_eq!(error, format!("no rule makes numbers of type {}", element.name())),
        }
    }
}
