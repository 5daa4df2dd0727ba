//! Arrays, and numpy's files: `.npz`, a zip archive of `.npy` files, as written by `numpy.savez` and
//! `numpy.savez_compressed`, and single `.npy` files.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ir::ConstantElement;
use ir::strings::{digests, text};
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use rawzip::path::EntryPath;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveWriter, ZipFileHeaderRecord, ZipSliceArchive};
use runtime::{ElementKind, MappedFile};

use crate::elements;
use crate::failure::Failure;
use crate::npy;
use crate::whole_file::WholeFile;

/// A named array: row-major elements in little-endian bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its name in the file or the model.
    pub name: String,
    /// The type of its elements.
    pub element: ElementKind,
    /// Sizes, outermost first.
    pub shape: Vec<u64>,
    /// The elements.
    pub bytes: Vec<u8>,
}

impl Array {
    /// An array of `f32` with the values of all elements.
    ///
    /// # Panics
    /// If there are more or fewer.
    pub fn f32(name: &str, shape: &[u64], values: &[f32]) -> Array {
        Array::of(name, shape, values)
    }

    /// An array with the values of all elements, of any supported Rust type.
    ///
    /// # Panics
    /// If there are more or fewer.
    pub fn of<T: ArrayElement>(name: &str, shape: &[u64], values: &[T]) -> Array {
        assert_eq!(shape.iter().product::<u64>(), values.len() as u64, "an array's values fill its shape");
        let mut bytes = Vec::new();
        values.iter().for_each(|value| value.write(&mut bytes));
        Array { name: name.to_owned(), element: T::KIND, shape: shape.to_vec(), bytes }
    }

    /// The elements, if they are of this type.
    pub fn to_vec<T: ArrayElement>(&self) -> Option<Vec<T>> {
        (self.element == T::KIND).then(|| self.bytes.chunks_exact(size_of::<T>()).map(T::read).collect())
    }

    /// An array of strings, one for each element.
    ///
    /// # Errors
    /// If a string has the same digest as another one seen before (see [`ir::strings`]).
    ///
    /// # Panics
    /// If there are more or fewer.
    pub fn strings(name: &str, shape: &[u64], strings: &[&str]) -> Result<Array, Failure> {
        assert_eq!(shape.iter().product::<u64>(), strings.len() as u64, "an array's values fill its shape");
        let bytes = digests(strings.iter().map(|string| string.as_bytes())).map_err(Failure::input)?;
        Ok(Array { name: name.to_owned(), element: ElementKind::String, shape: shape.to_vec(), bytes })
    }

    /// The strings, if elements are strings; U+FFFD for unknown digests.
    pub fn to_strings(&self) -> Option<Vec<&'static str>> {
        let digests = self.bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let texts = digests.map(|digest| text(digest).unwrap_or("\u{fffd}"));
        (self.element == ElementKind::String).then(|| texts.collect())
    }

    /// The elements as numbers; integers beyond 2^53 are rounded.
    pub fn to_f64(&self) -> Vec<f64> {
        let count = self.shape.iter().product::<u64>() as usize;
        elements::numbers(self.element, &self.bytes, count)
    }
}

/// A Rust type of array elements.
pub trait ArrayElement: ConstantElement {
    /// The element type.
    const KIND: ElementKind;

    /// Reads the element from its bytes, least significant first.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($ty:ty, $kind:ident;)+) => {
        $(impl ArrayElement for $ty {
            const KIND: ElementKind = ElementKind::$kind;

            fn read(bytes: &[u8]) -> $ty {
                <$ty>::from_le_bytes(bytes.try_into().expect("as many bytes as an element has"))
            }
        })+
    };
}

elements! {
    f32, F32;
    f64, F64;
    i8, I8;
    i16, I16;
    i32, I32;
    i64, I64;
    u8, U8;
    u16, U16;
    u32, U32;
    u64, U64;
}

impl ArrayElement for bool {
    const KIND: ElementKind = ElementKind::Bool;

    fn read(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }
}

/// The element type expected for an array, by name, for types that numpy does not have.
pub type Expected<'a> = &'a dyn Fn(&str) -> Option<ElementKind>;

/// Reads every array of a `.npz` file. Elements that numpy stores as raw bytes get the `expected` type.
///
/// # Errors
/// If the file can't be read or is damaged, or no tensor has the type of an array.
pub fn read_npz(path: &Path, expected: Expected<'_>) -> Result<Vec<Array>, Failure> {
    let file = MappedFile::open(path).map_err(|error| fault(path, error))?;
    let archive = ZipArchive::from_slice(file.bytes()).map_err(|error| fault(path, error))?;
    let mut arrays = Vec::new();
    for entry in archive.entries() {
        let entry = entry.map_err(|error| fault(path, error))?;
        let file_path = entry.file_path();
        let entry_name = String::from_utf8_lossy(file_path.as_ref());
        let Some(name) = entry_name.strip_suffix(".npy") else { continue };
        let array = content(&archive, &entry).and_then(|bytes| npy::read(&bytes, name, expected(name)));
        arrays.push(array.map_err(|error| fault(path, format!("array `{name}`: {error}")))?);
    }
    Ok(arrays)
}

/// The contents of a file in an archive, checked against the archive's length and checksum.
fn content<'a>(
    archive: &'a ZipSliceArchive<&[u8]>,
    entry: &ZipFileHeaderRecord,
) -> Result<Cow<'a, [u8]>, String> {
    let found = archive.get_entry(entry.wayfinder()).map_err(|error| error.to_string())?;
    let announced = usize::try_from(entry.uncompressed_size_hint()).map_err(|error| error.to_string())?;
    let bytes = match entry.compression_method() {
        _ if entry.flags().is_encrypted() => return Err("it is encrypted".to_owned()),
        CompressionMethod::STORE => Cow::Borrowed(found.data()),
        CompressionMethod::DEFLATE => {
            let bytes = decompress_to_vec_with_limit(found.data(), announced);
            Cow::Owned(bytes.map_err(|error| format!("its compressed bytes are damaged: {error}"))?)
        }
        other => return Err(format!("it is compressed by {other}; only deflate is read")),
    };
    if bytes.len() != announced {
        return Err(format!("{} bytes where {announced} were announced", bytes.len()));
    }
    if rawzip::crc32(&bytes) != entry.crc32() {
        return Err("its bytes do not have the check sum that the archive says".to_owned());
    }
    Ok(bytes)
}

/// Reads the array of a `.npy` file, under the given name; raw bytes get the `expected` type.
///
/// # Errors
/// If the file can't be read, or no tensor has the type of the array.
pub fn read_npy(path: &Path, name: &str, expected: Expected<'_>) -> Result<Array, Failure> {
    let file = MappedFile::open(path).map_err(|error| fault(path, error))?;
    npy::read(file.bytes(), name, expected(name))
        .map_err(|error| fault(path, format!("array `{name}`: {error}")))
}

/// Writes arrays to a `.npz` file, or to standard output (`-`), without compression, as `numpy.savez` does.
/// Elements of types that numpy lacks are raw bytes, as in `ml_dtypes`.
///
/// # Errors
/// If the file can't be written.
pub fn write_npz(path: &Path, arrays: &[Array]) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return write_archive(io::stdout().lock(), arrays).map_err(|error| fault(path, error));
    }
    let mut file = WholeFile::create(path).map_err(|error| fault(path, error))?;
    write_archive(&mut file, arrays).map_err(|error| fault(path, error))?;
    file.finish().map_err(|error| fault(path, error))
}

fn write_archive(to: impl Write, arrays: &[Array]) -> Result<(), rawzip::Error> {
    let mut archive = ZipArchiveWriter::new(BufWriter::new(to));
    for array in arrays {
        append(&mut archive, array)?;
    }
    Ok(archive.finish()?.flush()?)
}

fn append<W: Write>(archive: &mut ZipArchiveWriter<W>, array: &Array) -> Result<(), rawzip::Error> {
    let file_name = format!("{}.npy", array.name);
    // Verbatim, since a model's names may begin with `/`; a conformant name is marked as UTF-8.
    let file_name = if file_name.is_ascii() {
        EntryPath::verbatim(file_name.into_bytes())
    } else {
        EntryPath::conformant(file_name)
    };
    let (mut entry, config) = archive.new_file(file_name).start()?;
    let mut writer = config.wrap(&mut entry);
    writer.write_all(&npy::header(array))?;
    writer.write_all(&npy::elements(array))?;
    let (_, sums) = writer.finish()?;
    entry.finish(sums)?;
    Ok(())
}

fn fault(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
    }

    /// The file's arrays as name, kind, shape and numbers.
    fn read(path: &Path) -> Vec<(String, ElementKind, Vec<u64>, Vec<f64>)> {
        let arrays = read_npz(path, &|_| None).unwrap();
        arrays.into_iter().map(|a| (a.name.clone(), a.element, a.shape.clone(), a.to_f64())).collect()
    }

    fn refuses(path: &Path, words: &str) {
        let message = format!("{:?}", read_npz(path, &|_| None).expect_err("the file is wrong"));
        assert!(message.contains(words), "no `{words}` in: {message}");
    }

    /// Both were written by numpy 2, by `savez` and by `savez_compressed`.
    #[test]
    fn the_archives_that_numpy_writes_are_read() {
        let rows = || (0..6).map(f64::from).collect::<Vec<f64>>();
        let expected = [
            ("rows", ElementKind::F32, vec![2, 3], rows()),
            ("columns", ElementKind::F32, vec![2, 3], rows()),
            ("cube", ElementKind::I16, vec![2, 3, 4], (0..24).map(f64::from).collect()),
            ("big", ElementKind::I64, vec![3], vec![0.0, 1.0, 2.0]),
            ("scalar", ElementKind::F64, vec![], vec![2.5]),
            ("none", ElementKind::U8, vec![0, 3], vec![]),
            ("truth", ElementKind::Bool, vec![2], vec![1.0, 0.0]),
            ("/node/out", ElementKind::I64, vec![1], vec![7.0]),
        ]
        .map(|(name, element, shape, numbers)| (name.to_owned(), element, shape, numbers));
        assert_eq!(read(&data("stored.npz")), expected);
        assert_eq!(read(&data("compressed.npz")), expected);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut arrays = read_npz(&data("compressed.npz"), &|_| None).unwrap();
        arrays.push(Array::f32("größe", &[1], &[3.0]));
        let nibbles =
            Array { name: "n".into(), element: ElementKind::I4, shape: vec![3], bytes: vec![0x21, 3] };
        arrays.push(nibbles);
        let path = std::env::temp_dir().join(format!("optc-arrays-{}.npz", std::process::id()));
        write_npz(&path, &arrays).unwrap();
        let again = read_npz(&path, &|name| (name == "n").then_some(ElementKind::I4)).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(again, arrays);
    }

    #[test]
    fn elements_of_each_type_go_in_and_come_back() {
        let array = Array::of("x", &[3], &[1i64, -2, i64::MAX]);
        assert_eq!(array.element, ElementKind::I64);
        assert_eq!(array.to_vec::<i64>(), Some(vec![1, -2, i64::MAX]));
        assert_eq!(array.to_vec::<u64>(), None, "it has another type");
        assert_eq!(Array::of("x", &[1, 2], &[true, false]).to_vec(), Some(vec![true, false]));
        assert_eq!(Array::f32("x", &[2], &[0.5, -1.5]).to_vec(), Some(vec![0.5f32, -1.5]));
        assert_eq!(Array::of("x", &[0], &[0u16; 0]).to_vec::<u16>(), Some(Vec::new()));
    }

    #[test]
    fn what_no_tensor_holds_is_refused_with_its_name() {
        refuses(&data("records.npz"), "array `r`: it holds records");
        let strings = read_npz(&data("text.npz"), &|_| None).unwrap();
        assert_eq!(strings[0].to_strings().unwrap(), ["ab", "c"]);
    }

    #[test]
    fn every_damaged_byte_of_an_archive_is_found_or_harmless() {
        let path = std::env::temp_dir().join(format!("optc-damaged-{}.npz", std::process::id()));
        for name in ["stored.npz", "compressed.npz"] {
            let (good, arrays) =
                (std::fs::read(data(name)).unwrap(), read_npz(&data(name), &|_| None).unwrap());
            for at in 0..good.len() {
                let mut bad = good.clone();
                bad[at] ^= 0x55;
                std::fs::write(&path, &bad).unwrap();
                let Ok(found) = read_npz(&path, &|_| None) else { continue };
                for array in &found {
                    let same = |other: &&Array| (other.shape == array.shape) && other.bytes == array.bytes;
                    assert!(arrays.iter().any(|other| same(&other)), "{name}, byte {at}: {array:?}");
                }
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
}
