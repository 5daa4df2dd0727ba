//! How arrays are read from and written to numpy's files.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek};
use std::path::Path;

use npyz::npz::{NpzArchive, NpzWriter};
use npyz::{DType, NpyFile, Order, TypeChar, WriterBuilder};
use runtime::{ElementKind, from_bytes};

use crate::failure::Failure;

/// A named array: row-major elements in little-endian bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its name in the file or the model.
    pub name: String,
    /// Format of an element.
    pub element: ElementKind,
    /// Sizes, outermost first.
    pub shape: Vec<u64>,
    /// The elements.
    pub bytes: Vec<u8>,
}

impl Array {
    /// An array of `f32`; as many values as `shape` says.
    pub fn f32(name: &str, shape: &[u64], values: &[f32]) -> Array {
        assert_eq!(shape.iter().product::<u64>(), values.len() as u64, "an array's values fill its shape");
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Array { name: name.to_owned(), element: ElementKind::F32, shape: shape.to_vec(), bytes }
    }

    /// The elements as numbers; integers beyond 2^53 are rounded.
    pub fn to_f64(&self) -> Vec<f64> {
        fn widen<T: Copy, const N: usize>(
            bytes: &[u8],
            read: fn([u8; N]) -> T,
            widen: fn(T) -> f64,
        ) -> Vec<f64> {
            let words = bytes.chunks_exact(N);
            words.map(|word| widen(read(word.try_into().expect("a chunk of that length")))).collect()
        }
        let bytes = &self.bytes;
        match self.element {
            ElementKind::F32 => widen(bytes, f32::from_le_bytes, f64::from),
            ElementKind::F64 => widen(bytes, f64::from_le_bytes, f64::from),
            ElementKind::I64 => widen(bytes, i64::from_le_bytes, |x| x as f64),
            ElementKind::U64 => widen(bytes, u64::from_le_bytes, |x| x as f64),
            ElementKind::I32 => widen(bytes, i32::from_le_bytes, f64::from),
            ElementKind::U32 => widen(bytes, u32::from_le_bytes, f64::from),
            ElementKind::I16 => widen(bytes, i16::from_le_bytes, f64::from),
            ElementKind::U16 => widen(bytes, u16::from_le_bytes, f64::from),
            ElementKind::I8 => widen(bytes, i8::from_le_bytes, f64::from),
            _ => bytes.iter().map(|byte| f64::from(*byte)).collect(),
        }
    }
}

/// Every array of a `.npz` file.
///
/// # Errors
/// If the file can't be read, or an array is of a type that no tensor has.
pub fn read_npz(path: &Path) -> Result<Vec<Array>, Failure> {
    let fault = |error: io::Error| Failure::input(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(fault)?;
    let mut archive = NpzArchive::new(BufReader::new(file)).map_err(fault)?;
    let names: Vec<String> = archive.array_names().map(str::to_owned).collect();
    let mut arrays = Vec::new();
    for name in names {
        let array = archive.by_name(&name).map_err(fault)?.expect("a name that the archive lists");
        arrays.push(read_array(array, &name).map_err(fault)?);
    }
    Ok(arrays)
}

/// The array of a `.npy` file, under the given name.
///
/// # Errors
/// If the file can't be read, or the array is of a type that no tensor has.
pub fn read_npy(path: &Path, name: &str) -> Result<Array, Failure> {
    let fault = |error: io::Error| Failure::input(format!("{}: {error}", path.display()));
    let file = BufReader::new(File::open(path).map_err(fault)?);
    read_array(NpyFile::new(file).map_err(fault)?, name).map_err(fault)
}

fn read_array<R: Read>(file: NpyFile<R>, name: &str) -> io::Result<Array> {
    let invalid =
        |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("array `{name}`: {what}"));
    let DType::Plain(ty) = file.dtype() else { return Err(invalid("it holds records".into())) };
    let element = element_kind(ty.type_char(), ty.size_field());
    let element = element.ok_or_else(|| invalid(format!("no tensor has elements of type `{ty}`")))?;
    if file.order() != Order::C || ty.to_string().starts_with('>') {
        return Err(invalid("it is not row-major and little-endian".into()));
    }
    let shape = file.shape().to_vec();
    let count = shape.iter().try_fold(ty.size_field(), |count, size| count.checked_mul(*size));
    let count = count.ok_or_else(|| invalid("it is too large".into()))?;
    let mut bytes = Vec::new();
    file.into_inner().take(count).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != count {
        return Err(invalid(format!("{} bytes where {count} were announced", bytes.len())));
    }
    Ok(Array { name: name.to_owned(), element, shape, bytes })
}

fn element_kind(class: TypeChar, bytes: u64) -> Option<ElementKind> {
    Some(match (class, bytes) {
        (TypeChar::Bool, 1) => ElementKind::Bool,
        (TypeChar::Int, 1) => ElementKind::I8,
        (TypeChar::Int, 2) => ElementKind::I16,
        (TypeChar::Int, 4) => ElementKind::I32,
        (TypeChar::Int, 8) => ElementKind::I64,
        (TypeChar::Uint, 1) => ElementKind::U8,
        (TypeChar::Uint, 2) => ElementKind::U16,
        (TypeChar::Uint, 4) => ElementKind::U32,
        (TypeChar::Uint, 8) => ElementKind::U64,
        (TypeChar::Float, 4) => ElementKind::F32,
        (TypeChar::Float, 8) => ElementKind::F64,
        _ => return None,
    })
}

/// Writes arrays to a `.npz` file.
///
/// # Errors
/// If the file can't be written, or an array is of a type that numpy lacks.
pub fn write_npz(path: &Path, arrays: &[Array]) -> Result<(), Failure> {
    let fault = |error: io::Error| Failure::input(format!("{}: {error}", path.display()));
    let file = File::create(path).map_err(fault)?;
    let mut archive = NpzWriter::new(BufWriter::new(file));
    for array in arrays {
        write_array(&mut archive, array).map_err(fault)?;
    }
    Ok(())
}

fn write_array<W: io::Write + Seek>(archive: &mut NpzWriter<W>, array: &Array) -> io::Result<()> {
    macro_rules! write {
        ($type:ty) => {{
            let values = from_bytes::<$type>(&array.bytes).map(<[$type]>::to_vec).unwrap_or_else(|| {
                let words = array.bytes.chunks_exact(size_of::<$type>());
                words.map(|word| <$type>::from_le_bytes(word.try_into().expect("a whole element"))).collect()
            });
            let entry = archive.array(&array.name, npyz::zip::write::FileOptions::default())?;
            let mut writer = entry.default_dtype().shape(&array.shape).begin_nd()?;
            writer.extend(values)?;
            writer.finish()
        }};
    }
    match array.element {
        ElementKind::F32 => write!(f32),
        ElementKind::F64 => write!(f64),
        ElementKind::I64 => write!(i64),
        ElementKind::I32 => write!(i32),
        ElementKind::I16 => write!(i16),
        ElementKind::I8 => write!(i8),
        ElementKind::U64 => write!(u64),
        ElementKind::U32 => write!(u32),
        ElementKind::U16 => write!(u16),
        ElementKind::U8 => write!(u8),
        ElementKind::Bool => {
            let entry = archive.array(&array.name, npyz::zip::write::FileOptions::default())?;
            let mut writer = entry.default_dtype().shape(&array.shape).begin_nd()?;
            writer.extend(array.bytes.iter().map(|byte| *byte != 0))?;
            writer.finish()
        }
        other => Err(io::Error::new(io::ErrorKind::InvalidData, format!("numpy has no type for {other:?}"))),
    }
}
