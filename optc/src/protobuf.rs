//! Arrays in ONNX's test data: a folder with a `TensorProto` for each input and output, `input_0.pb`,
//! `input_1.pb`, ..., `output_0.pb`, ...
//!
//! A sequence is stored as a `SequenceProto`, and an optional as an `OptionalProto`; a file does not say
//! which of the three it contains. A file that is no valid tensor is parsed as one of the other two, whose
//! fields are the same as far as they contain tensors and sequences of tensors. Their elements are written as
//! separate files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use import::onnx::weights::tensor_of_file;
use import::onnx::wire::{Message, append_int};

use crate::arrays::Array;
use crate::elements::{of_onnx, onnx_element};
use crate::failure::Failure;
use crate::whole_file::write_whole;

pub use import::onnx::wire::append_bytes;

/// The array in the bytes of a file, with its name there.
///
/// # Errors
/// If the file is damaged, or no array has such elements (complex numbers).
pub fn array_of(file: Vec<u8>) -> Result<Array, String> {
    let weight = tensor_of_file(Arc::new(file))?;
    let name = weight.element.name();
    let element = of_onnx(weight.element).ok_or_else(|| format!("elements of type {name}"))?;
    Ok(Array { name: String::new(), element, shape: weight.dims, bytes: weight.blob.to_vec() })
}

/// The contents of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum HeldArrays {
    /// A tensor.
    Tensor(Array),
    /// A sequence of tensors, or an optional that is not empty.
    Items(Vec<Array>),
    /// An optional that is empty.
    Nothing,
}

impl HeldArrays {
    /// The shapes of its arrays; none for an empty optional.
    pub fn shapes(&self) -> Option<Vec<Vec<u64>>> {
        let shapes = |arrays: &[Array]| arrays.iter().map(|array| array.shape.clone()).collect();
        match self {
            HeldArrays::Tensor(array) => Some(vec![array.shape.clone()]),
            HeldArrays::Items(arrays) => Some(shapes(arrays)),
            HeldArrays::Nothing => None,
        }
    }

    /// Its arrays, in order.
    pub fn into_arrays(self) -> Vec<Array> {
        match self {
            HeldArrays::Tensor(array) => vec![array],
            HeldArrays::Items(arrays) => arrays,
            HeldArrays::Nothing => Vec::new(),
        }
    }
}

/// The contents of a file's bytes.
///
/// # Errors
/// If the file is damaged, or holds maps, sequences of sequences, or elements that no array has.
pub fn held_in(file: Vec<u8>) -> Result<HeldArrays, String> {
    array_of(file.clone()).map(HeldArrays::Tensor).or_else(|fault| items_in(&file).ok_or(fault)?)
}

/// The tensors in a `SequenceProto` or an `OptionalProto`; none if it can't be one. Fields are `name` (1),
/// `elem_type` (2), a tensor (3) for each element, and a sequence (5) in an optional one.
fn items_in(file: &[u8]) -> Option<Result<HeldArrays, String>> {
    /// The value of `SequenceProto.DataType` and `OptionalProto.DataType` without elements.
    const UNDEFINED: i64 = 0;
    let mut kind = None;
    let mut arrays = Vec::new();
    let mut sequence = None;
    for field in Message::new(file).fields() {
        let field = field.ok()?;
        match field.number {
            1 => drop(field.string("name").ok()?),
            2 => kind = Some(field.int("elem_type").ok()?),
            3 => arrays.push(array_of(field.bytes("tensor").ok()?.bytes.to_vec())),
            5 if sequence.is_none() => sequence = Some(field.bytes("sequence").ok()?.bytes),
            _ => return None,
        }
    }
    let arrays = match arrays.into_iter().collect::<Result<Vec<Array>, String>>() {
        Ok(arrays) => arrays,
        Err(fault) => return Some(Err(fault)),
    };
    match (kind?, sequence) {
        (_, Some(sequence)) if arrays.is_empty() => items_in(sequence),
        (UNDEFINED, None) if arrays.is_empty() => Some(Ok(HeldArrays::Nothing)),
        (_, None) => Some(Ok(HeldArrays::Items(arrays))),
        _ => None,
    }
}

/// The bytes of a file with an array and its name. The fields are those of `TensorProto`: `dims` (1),
/// `data_type` (2), `name` (8), and `raw_data` (9) or `string_data` (6).
pub fn file_of(array: &Array) -> Vec<u8> {
    let mut file = Vec::new();
    array.shape.iter().for_each(|size| append_int(&mut file, 1, size.cast_signed()));
    append_int(&mut file, 2, onnx_element(array.element).number().into());
    append_bytes(&mut file, 8, array.name.as_bytes());
    match array.to_strings() {
        Some(strings) => strings.iter().for_each(|string| append_bytes(&mut file, 6, string.as_bytes())),
        None => append_bytes(&mut file, 9, &array.bytes),
    }
    file
}

/// The arrays of the files `PREFIX_0.pb`, `PREFIX_1.pb`, ... of a folder, up to the first missing file; for a
/// sequence all its elements.
///
/// # Errors
/// If there is none, or one can't be read.
pub fn read_folder(folder: &Path, prefix: &str) -> Result<Vec<Array>, Failure> {
    let held = read_held(folder, prefix)?;
    Ok(held.into_iter().flat_map(HeldArrays::into_arrays).collect())
}

/// The contents of the files `PREFIX_0.pb`, `PREFIX_1.pb`, ... of a folder.
///
/// # Errors
/// As [`read_folder`].
pub fn read_held(folder: &Path, prefix: &str) -> Result<Vec<HeldArrays>, Failure> {
    let paths = (0..).map(|index| path_of(folder, prefix, index)).take_while(|path| path.exists());
    let held = paths.map(|path| {
        let file = fs::read(&path).map_err(|error| error.to_string());
        file.and_then(held_in).map_err(|error| fault(&path, error))
    });
    let held = held.collect::<Result<Vec<_>, _>>()?;
    match held.is_empty() {
        true => Err(fault(&path_of(folder, prefix, 0), "there is no such file")),
        false => Ok(held),
    }
}

/// Writes arrays to the files `PREFIX_0.pb`, `PREFIX_1.pb`, ... of a folder, which is made if necessary.
///
/// # Errors
/// If a file can't be written.
pub fn write_folder(folder: &Path, prefix: &str, arrays: &[Array]) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| fault(folder, error))?;
    for (index, array) in arrays.iter().enumerate() {
        let path = path_of(folder, prefix, index);
        write_whole(&path, &file_of(array)).map_err(|error| fault(&path, error))?;
    }
    Ok(())
}

/// Whether a path denotes a folder: it exists as one, or ends with a slash.
#[cfg(feature = "cli")]
pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

fn path_of(folder: &Path, prefix: &str, index: usize) -> PathBuf {
    folder.join(format!("{prefix}_{index}.pb"))
}

fn fault(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use runtime::ElementKind;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let numbers = Array::f32("", &[2, 300], &[0.5; 600]);
        let nibbles =
            Array { name: String::new(), element: ElementKind::U4, shape: vec![3], bytes: vec![0x21, 3] };
        let scalar =
            Array { name: String::new(), element: ElementKind::BF16, shape: vec![], bytes: vec![0, 1] };
        let strings = Array::strings("", &[2, 1], &["", "的 x"]).unwrap();
        let arrays = [numbers, nibbles, scalar, strings, Array::f32("", &[0, 3], &[])];
        write_folder(&folder.path().join("new"), "output", &arrays).unwrap();
        assert_eq!(read_folder(&folder.path().join("new"), "output").unwrap(), arrays);
        let missing = format!("{:?}", read_folder(folder.path(), "input").unwrap_err());
        assert!(missing.contains("input_0.pb: there is no such file"), "{missing}");
    }

    #[test]
    fn a_damaged_file_is_refused_or_holds_an_array() {
        let file = file_of(&Array::f32("name", &[2, 2], &[1.0, 2.0, 3.0, 4.0]));
        for length in 0..file.len() {
            let _ = array_of(file[..length].to_vec());
        }
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                if let Ok(array) = array_of(damaged) {
                    let bits =
                        array.shape.iter().product::<u64>() as usize * crate::elements::bits(array.element);
                    assert_eq!(array.bytes.len(), bits.div_ceil(8), "byte {at}, bit {bit}");
                }
            }
        }
        assert!(array_of(file[..file.len() - 1].to_vec()).is_err());
    }
}
