//! Where the elements of a Python array lie, and that they stay there while a program reads or writes them.
//!
//! An array is anything with a buffer (numpy) or with `__dlpack__` (torch, jax, cupy on the host), else what
//! `numpy.asarray` makes of it. Nothing is copied where elements lie one after the other, rows first, at an
//! address that the program takes.

#![allow(unsafe_code, reason = "memory of Python objects is borrowed")]

use std::any::Any;
use std::ops::Range;

use optc::runtime::AlignedBuffer;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;

use crate::dlpack::{BorrowedTensor, TensorPlace, dense_strides};
use crate::element::{BOOL, ElementRow, SIGNED, UNSIGNED};

/// The elements of an array, kept where they are while this lives.
pub(crate) struct ArrayMemory {
    pub(crate) row: &'static ElementRow,
    pub(crate) shape: Vec<u64>,
    start: *mut u8,
    size_bytes: usize,
    is_writable: bool,
    _owner: MemoryOwner,
}

/// A [`PyUntypedBuffer`], [`BorrowedTensor`] or [`AlignedBuffer`]: it is kept for what it owns.
type MemoryOwner = Box<dyn Any>;

impl ArrayMemory {
    /// The elements of an array as they are, or a copy without gaps; `wanted` is what elements of plain
    /// numbers and lists become.
    pub(crate) fn to_read(object: &Bound<'_, PyAny>, wanted: &'static ElementRow) -> PyResult<ArrayMemory> {
        let (place, owner) = match Self::place_of(object)? {
            Some(found) => found,
            None => Self::place_of(&numpy_array(object, wanted)?)?.ok_or_else(|| no_array(object))?,
        };
        let memory = Self::dense(place, owner);
        memory.or_else(Self::gathered)
    }

    /// The elements of an array that is written to.
    pub(crate) fn to_write(object: &Bound<'_, PyAny>) -> PyResult<ArrayMemory> {
        let (place, owner) = Self::place_of(object)?.ok_or_else(|| no_array(object))?;
        if !place.is_writable {
            return Err(PyBufferError::new_err("the array is read-only, expected one to write to"));
        }
        let memory = Self::dense(place, owner);
        memory.map_err(|_| PyBufferError::new_err("the array has gaps, expected rows one after the other"))
    }

    /// Where the elements of an object are, if it says so.
    fn place_of(object: &Bound<'_, PyAny>) -> PyResult<Option<(TensorPlace, MemoryOwner)>> {
        let py = object.py();
        if let Ok(buffer) = PyUntypedBuffer::get(object) {
            let row = ElementRow::of_format(buffer.format().to_bytes(), buffer.item_size());
            let row = row.ok_or_else(|| {
                let format = buffer.format().to_string_lossy().into_owned();
                PyTypeError::new_err(format!("no tensor has elements of the format `{format}`"))
            })?;
            return Ok(Some(buffer_place(buffer, row)));
        }
        // Types of `ml_dtypes` have no format, so a buffer of them is one of integers.
        let name = object.getattr(intern!(py, "dtype")).and_then(|dtype| dtype.getattr(intern!(py, "name")));
        let name: Option<String> = name.and_then(|name| name.extract()).ok();
        let row = name.and_then(|name| ElementRow::named(&name)).filter(|row| !row.is_in_numpy());
        if let (Some(row), true) = (row, object.hasattr(intern!(py, "view"))?) {
            let integers = match row.bytes() {
                Some(1) => "uint8",
                Some(_) => "uint16",
                None => return Err(PyTypeError::new_err(format!("arrays of {} can't be passed", row.name))),
            };
            let integers = object.call_method1(intern!(py, "view"), (integers,));
            if let Some(buffer) = integers.ok().and_then(|view| PyUntypedBuffer::get(&view).ok()) {
                return Ok(Some(buffer_place(buffer, row)));
            }
        }
        if object.hasattr(intern!(py, "__dlpack__"))? {
            let tensor = BorrowedTensor::of(object)?;
            return Ok(Some((tensor.place()?, Box::new(tensor))));
        }
        Ok(None)
    }

    /// Memory without gaps; else what was given.
    fn dense(place: TensorPlace, owner: MemoryOwner) -> Result<ArrayMemory, (TensorPlace, MemoryOwner)> {
        let TensorPlace { start, is_writable, row, shape, strides } = place;
        let dense = dense_strides(&shape, i64::from(row.bits / 8));
        let is_empty = shape.contains(&0);
        let mut axes = shape.iter().zip(strides.iter().zip(&dense));
        if !is_empty && axes.any(|(size, (stride, dense))| *size > 1 && stride != dense) {
            return Err((TensorPlace { start, is_writable, row, shape, strides }, owner));
        }
        let size_bytes = shape.iter().product::<u64>() as usize * usize::from(row.bits) / 8;
        Ok(ArrayMemory { row, shape, start, size_bytes, is_writable, _owner: owner })
    }

    /// A copy of an array with gaps.
    fn gathered((place, owner): (TensorPlace, MemoryOwner)) -> PyResult<ArrayMemory> {
        let TensorPlace { start, row, shape, strides, .. } = place;
        let item_bytes = usize::from(row.bits) / 8;
        let mut copy = buffer(shape.iter().product::<u64>() as usize * item_bytes)?;
        // SAFETY: shape and strides are the producer's, which says that all elements lie there; `owner` keeps
        // them.
        unsafe { gather(start, &shape, &strides, item_bytes, &mut copy.as_mut_slice()) };
        drop(owner);
        Ok(Self::copied(copy, row, shape))
    }

    /// Memory of our own, of zeros.
    pub(crate) fn fresh(row: &'static ElementRow, shape: Vec<u64>) -> PyResult<ArrayMemory> {
        let elements = shape.iter().product::<u64>() as usize;
        Ok(Self::copied(buffer(elements * usize::from(row.bits) / 8)?, row, shape))
    }

    fn copied(mut copy: AlignedBuffer, row: &'static ElementRow, shape: Vec<u64>) -> ArrayMemory {
        let start = copy.as_mut_slice().as_mut_ptr();
        let size_bytes = copy.as_slice().len();
        ArrayMemory { row, shape, start, size_bytes, is_writable: true, _owner: Box::new(copy) }
    }

    /// The same elements at an address that is a multiple of `align`.
    pub(crate) fn aligned(self, align: usize) -> PyResult<ArrayMemory> {
        if self.size_bytes == 0 || self.start.addr().is_multiple_of(align) {
            return Ok(self);
        }
        let mut copy = buffer(self.size_bytes)?;
        copy.as_mut_slice().copy_from_slice(self.bytes());
        Ok(Self::copied(copy, self.row, self.shape))
    }

    /// The elements. Python code that writes to them meanwhile, in another thread, changes what is read.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.size_bytes == 0 {
            return &[];
        }
        // SAFETY: the owner keeps the memory, of which dense elements take these bytes.
        unsafe { std::slice::from_raw_parts(self.start, self.size_bytes) }
    }

    /// The elements, to be written.
    ///
    /// # Panics
    /// If the array is read-only: whoever writes asks before.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        assert!(self.is_writable, "an array that is written is writable");
        if self.size_bytes == 0 {
            return &mut [];
        }
        // SAFETY: as above; callers make sure that no other array of the call has some of these bytes.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.size_bytes) }
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// The addresses of the elements.
    pub(crate) fn addresses(&self) -> Range<usize> {
        self.start.addr()..self.start.addr() + self.size_bytes
    }
}

/// What numpy makes of an object. Plain numbers have no element type, so they become what is wanted, unless
/// that would cut off fractions; what has a type keeps it.
fn numpy_array<'py>(object: &Bound<'py, PyAny>, wanted: &ElementRow) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let asarray = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "asarray"))?;
    if object.hasattr(intern!(py, "__array__"))? {
        return asarray.call1((object,));
    }
    if [SIGNED, UNSIGNED, BOOL].contains(&wanted.code) {
        let array = asarray.call1((object,))?;
        let kind: String = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "kind"))?.extract()?;
        if kind == "f" {
            return Ok(array);
        }
    }
    asarray.call1((object, wanted.name))
}

fn buffer_place(buffer: PyUntypedBuffer, row: &'static ElementRow) -> (TensorPlace, MemoryOwner) {
    let place = TensorPlace {
        start: buffer.buf_ptr().cast(),
        is_writable: !buffer.readonly(),
        row,
        shape: buffer.shape().iter().map(|size| *size as u64).collect(),
        strides: buffer.strides().iter().map(|stride| *stride as i64).collect(),
    };
    (place, Box::new(buffer))
}

fn no_array(object: &Bound<'_, PyAny>) -> PyErr {
    let name = object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("`{name}` is no array: it has neither a buffer nor `__dlpack__`"))
}

/// Memory of our own.
pub(crate) fn buffer(bytes: usize) -> PyResult<AlignedBuffer> {
    AlignedBuffer::zeroed(bytes).map_err(|error| PyMemoryError::new_err(error.to_string()))
}

/// Appends the elements of an array to `out`, rows first, and leaves in `out` what is not yet written.
///
/// # Safety
/// All elements of that shape lie at `start` with these strides, and `out` has room for them.
unsafe fn gather(start: *const u8, shape: &[u64], strides: &[i64], item_bytes: usize, out: &mut &mut [u8]) {
    let (Some((size, shape)), Some((stride, strides))) = (shape.split_first(), strides.split_first()) else {
        let (item, rest) = std::mem::take(out).split_at_mut(item_bytes);
        // SAFETY: what the caller vouches for, at no axis left.
        item.copy_from_slice(unsafe { std::slice::from_raw_parts(start, item_bytes) });
        *out = rest;
        return;
    };
    for index in 0..*size as isize {
        // SAFETY: what the caller vouches for, of the slices along the first axis.
        unsafe { gather(start.offset(index * *stride as isize), shape, strides, item_bytes, out) };
    }
}
