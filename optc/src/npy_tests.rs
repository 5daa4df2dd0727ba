//! That `.npy` files are read as numpy means them, and that damaged ones are refused in words.

use super::*;

/// A file with this header and 24 bytes, 0 to 23.
fn file(header: &str) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    let elements: Vec<u8> = (0..24).collect();
    [MAGIC, &[1, 0], &length, header.as_bytes(), &elements].concat()
}

fn bytes(descr: &str, fortran_order: &str, shape: &str) -> Result<Vec<u8>, String> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}  \n");
    read(&file(&header), "x").map(|array| array.bytes)
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
    assert_eq!(read(&file(header), "x").unwrap().shape, [2, 2]);
}

#[test]
fn what_is_written_is_read_again() {
    for (name, element) in ELEMENTS {
        let size_bytes: u64 = name[1..].parse().unwrap();
        for shape in [vec![], vec![3], vec![2, 3], vec![0, 2]] {
            let count = shape.iter().product::<u64>() * size_bytes;
            let bytes = (0..count).map(|i| i as u8).collect();
            let array = Array { name: "x".to_owned(), element, shape, bytes };
            let header = header(&array).unwrap();
            assert_eq!(header.len() % 64, 0, "numpy aligns the elements");
            assert_eq!(read(&[header, array.bytes.clone()].concat(), "x").unwrap(), array);
        }
    }
}

#[test]
fn what_no_tensor_holds_is_refused() {
    refuses(bytes("<c8", "False", "(1,)"), "no tensor has elements of type `<c8`");
    refuses(bytes("<U2", "False", "(1,)"), "no tensor has elements of type `<U2`");
    let records = "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,), }";
    refuses(read(&file(records), "x"), "it holds records");
    let array = Array { name: "x".to_owned(), element: ElementKind::BF16, shape: vec![], bytes: vec![0; 2] };
    refuses(header(&array), "numpy has no type for BF16");
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
    refuses(read(&file("{'descr': '|u1', 'shape': (1,), }"), "x"), malformed);
    refuses(read(&file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} more"), "x"), malformed);
    refuses(read(&file("{'descr': '|u1' 'fortran_order': False, 'shape': (1,)}"), "x"), malformed);
    refuses(read(b"PK\x03\x04", "x"), "it is no `.npy` file");
    refuses(read(b"\x93NUMPY\x09\x00", "x"), "version 9");
    let whole = file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}");
    for length in MAGIC.len()..40 {
        refuses(read(&whole[..length], "x"), "it ends within its header");
    }
}
