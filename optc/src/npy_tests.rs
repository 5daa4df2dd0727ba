//! `.npy` files are read with numpy's meaning, and damaged ones are refused with a message.

use super::*;

/// A file with this header and 24 bytes, 0 to 23.
fn file(header: &str) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    let elements: Vec<u8> = (0..24).collect();
    [MAGIC, &[1, 0], &length, header.as_bytes(), &elements].concat()
}

fn bytes(descr: &str, fortran_order: &str, shape: &str) -> Result<Vec<u8>, String> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}  \n");
    read(&file(&header), "x", None).map(|array| array.bytes)
}

fn refuses(found: Result<impl std::fmt::Debug, String>, words: &str) {
    let message = found.expect_err("the file is wrong");
    assert!(message.contains(words), "no `{words}` in: {message}");
}

#[test]
fn elements_come_in_the_order_of_rows() {
    assert_eq!(bytes("|u1", "False", "(2, 3)").unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(bytes("|u1", "True", "(2, 3)").unwrap(), [0, 2, 4, 1, 3, 5]);
    let cube = bytes("|u1", "True", "(2, 3, 4)").unwrap();
    assert_eq!(cube[..8], [0, 6, 12, 18, 2, 8, 14, 20]);
    assert_eq!(bytes("<u2", "True", "(2, 2)").unwrap(), [0, 1, 4, 5, 2, 3, 6, 7]);
}

#[test]
fn the_low_byte_comes_first() {
    assert_eq!(bytes("<i4", "False", "(1,)").unwrap(), [0, 1, 2, 3]);
    assert_eq!(bytes(">i4", "False", "(1,)").unwrap(), [3, 2, 1, 0]);
    assert_eq!(bytes(">u2", "True", "(2, 2)").unwrap(), [1, 0, 5, 4, 3, 2, 7, 6]);
}

#[test]
fn arrays_without_axes_or_elements_are_arrays() {
    assert_eq!(bytes("<f8", "False", "()").unwrap().len(), 8);
    assert_eq!(bytes("<f8", "True", "(0, 5)").unwrap().len(), 0);
}

#[test]
fn old_and_odd_spellings_are_read() {
    let header = r#"{"shape":(2L,2L),"fortran_order":False,"descr":"|u1"}"#;
    assert_eq!(read(&file(header), "x", None).unwrap().shape, [2, 2]);
}

#[test]
fn what_is_written_is_read_again() {
    for (_, element) in ELEMENTS.into_iter().chain(FURTHER) {
        for shape in [vec![], vec![3], vec![2, 3], vec![0, 2]] {
            let count = shape.iter().product::<u64>() as usize;
            let bytes: Vec<u8> = match bits(element) {
                bits if bits < 8 => packed(&(0..count).map(|i| i as u8 + 1).collect::<Vec<_>>(), bits),
                _ if element == ElementKind::Bool => (0..count).map(|i| i as u8 % 2).collect(),
                bits => (0..count * bits / 8).map(|i| i as u8).collect(),
            };
            let array = Array { name: "x".to_owned(), element, shape, bytes };
            let header = header(&array);
            assert_eq!(header.len() % 64, 0, "numpy aligns the elements");
            let file = [header, elements(&array).into_owned()].concat();
            assert_eq!(read(&file, "x", Some(element)).unwrap(), array);
        }
    }
}

#[test]
fn a_truth_value_is_0_or_1() {
    let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}";
    assert_eq!(read(&file(header), "x", None).unwrap().bytes, [0, 1]);
    let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}";
    refuses(read(&file(header), "x", None), "a truth value other than 0 and 1");
}

/// Arrays of `ml_dtypes` as written by `numpy.save`, and as written by other tools.
#[test]
fn types_that_numpy_lacks_are_read_by_name_or_by_what_is_expected() {
    let read = |descr: &str, expected| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,)}}");
        super::read(&file(&header), "x", expected).map(|array| (array.element, array.bytes))
    };
    assert_eq!(read("bfloat16", None).unwrap(), (ElementKind::BF16, vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(read("<V2", Some(ElementKind::BF16)).unwrap().0, ElementKind::BF16);
    assert_eq!(read("<f1", Some(ElementKind::F8E5M2)).unwrap(), (ElementKind::F8E5M2, vec![0, 1, 2]));
    assert_eq!(read("int4", None).unwrap(), (ElementKind::I4, vec![0x10, 2]));
    refuses(read("<V2", None), "no tensor has elements of type `<V2`");
    refuses(read("<V2", Some(ElementKind::F8E5M2)), "no tensor has elements of type `<V2`");
    refuses(read("|V4", Some(ElementKind::F32)), "no tensor has elements of type `|V4`");
}

#[test]
fn what_no_tensor_holds_is_refused() {
    refuses(bytes("<c8", "False", "(1,)"), "no tensor has elements of type `<c8`");
    refuses(bytes("|S2", "False", "(1,)"), "no tensor has elements of type `|S2`");
    refuses(bytes("<U2", "False", "(1,)"), "a string of no characters");
    refuses(bytes("<U0", "False", "(1,)"), "no tensor has elements of type `<U0`");
    refuses(bytes("<U4611686018427387904", "False", "(1,)"), "it is too large");
    let records = "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,), }";
    refuses(read(&file(records), "x", None), "it holds records");
}

/// A file of strings of two characters each.
fn strings(descr: &str, fortran_order: &str, strings: [&str; 4]) -> Vec<u8> {
    let mut file =
        file(&format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': (2, 2), }}"));
    file.truncate(file.len() - 24);
    let to_bytes = if descr.starts_with('>') { u32::to_be_bytes } else { u32::to_le_bytes };
    for string in strings {
        let padded = string.chars().map(u32::from).chain([0, 0]).take(2);
        file.extend(padded.flat_map(to_bytes));
    }
    file
}

#[test]
fn strings_have_characters_of_four_bytes() {
    let texts = ["ab", "", "的", "c"];
    for (descr, order, expected) in
        [("<U2", "False", texts), (">U2", "False", texts), ("<U2", "True", ["ab", "的", "", "c"])]
    {
        let array = read(&strings(descr, order, texts), "x", None).unwrap();
        assert_eq!(array.to_strings().unwrap(), expected, "{descr} {order}");
        let again = [header(&array), elements(&array).into_owned()].concat();
        assert_eq!(read(&again, "x", None).unwrap(), array, "{descr} {order}");
    }
}

#[test]
fn damaged_files_are_refused() {
    refuses(bytes("|u1", "False", "(5, 5)"), "24 bytes where 25 were announced");
    refuses(bytes("<f8", "False", "(9223372036854775807, 9)"), "it is too large");
    let malformed = "its header is malformed";
    refuses(bytes("|u1", "Maybe", "(1,)"), malformed);
    refuses(bytes("|u1", "False", "(1 2)"), malformed);
    refuses(bytes("|u1", "False", "(-1,)"), malformed);
    refuses(bytes("|u1", "False", "(99999999999999999999,)"), malformed);
    refuses(read(&file("{'descr': '|u1', 'shape': (1,), }"), "x", None), malformed);
    refuses(
        read(&file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} more"), "x", None),
        malformed,
    );
    refuses(read(&file("{'descr': '|u1' 'fortran_order': False, 'shape': (1,)}"), "x", None), malformed);
    refuses(read(b"PK\x03\x04", "x", None), "it is no `.npy` file");
    refuses(read(b"\x93NUMPY\x09\x00", "x", None), "version 9");
    let whole = file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}");
    for length in MAGIC.len()..40 {
        refuses(read(&whole[..length], "x", None), "it ends within its header");
    }
}
