//! How arrays of other libraries are borrowed through DLPack, versions 0 and 1
//! (<https://dmlc.github.io/dlpack/latest/>).

#![allow(unsafe_code, reason = "DLPack hands over pointers")]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::element::ElementRow;

#[repr(C)]
struct DlTensor {
    data: *mut u8,
    device: [i32; 2],
    rank: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensor`, of version 0.
#[repr(C)]
struct ManagedTensor {
    tensor: DlTensor,
    owner: *mut c_void,
    delete: Option<unsafe extern "C" fn(*mut ManagedTensor)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct VersionedTensor {
    version: [u32; 2],
    owner: *mut c_void,
    delete: Option<unsafe extern "C" fn(*mut VersionedTensor)>,
    flags: u64,
    tensor: DlTensor,
}

const READ_ONLY: u64 = 1;
const UNVERSIONED_NAME: &CStr = c"dltensor";
const VERSIONED_NAME: &CStr = c"dltensor_versioned";

/// Devices whose memory this processor reads: its own, and what CUDA and ROCm pin.
const HOSTS: [i32; 3] = [1, 3, 11];

/// A tensor that was handed over, to be given back when this is dropped.
pub(crate) struct BorrowedTensor(Managed);

enum Managed {
    Unversioned(NonNull<ManagedTensor>),
    Versioned(NonNull<VersionedTensor>),
}

/// Where a tensor lies.
pub(crate) struct TensorPlace {
    pub(crate) start: *mut u8,
    pub(crate) is_writable: bool,
    pub(crate) row: &'static ElementRow,
    pub(crate) shape: Vec<u64>,
    /// In bytes.
    pub(crate) strides: Vec<i64>,
}

impl BorrowedTensor {
    /// What an object hands over that has `__dlpack__`.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<BorrowedTensor> {
        let py = object.py();
        let (device, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
        if !HOSTS.contains(&device) {
            let message = format!(
                "the array is in the memory of a device (DLPack type {device}), expected one of the CPU"
            );
            return Err(PyBufferError::new_err(message));
        }
        let newest = PyDict::new(py);
        newest.set_item("max_version", (1, 0))?;
        let capsule = match object.call_method("__dlpack__", (), Some(&newest)) {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => object.call_method0("__dlpack__")?,
            other => other?,
        };
        let capsule = capsule.cast_into::<PyCapsule>()?;
        take::<VersionedTensor>(&capsule, VERSIONED_NAME, c"used_dltensor_versioned")
            .map(Managed::Versioned)
            .or_else(|| {
                let taken = take::<ManagedTensor>(&capsule, UNVERSIONED_NAME, c"used_dltensor");
                taken.map(Managed::Unversioned)
            })
            .map(BorrowedTensor)
            .ok_or_else(|| PyBufferError::new_err("`__dlpack__` gave no tensor that was not taken yet"))
    }

    /// Where it lies.
    pub(crate) fn place(&self) -> PyResult<TensorPlace> {
        let (tensor, is_writable) = match &self.0 {
            // SAFETY: the producer's tensor lives until it is deleted, which `drop` does.
            Managed::Unversioned(managed) => (unsafe { &managed.as_ref().tensor }, true),
            Managed::Versioned(managed) => {
                // SAFETY: as above.
                let managed = unsafe { managed.as_ref() };
                if managed.version[0] != 1 {
                    let version = managed.version[0];
                    return Err(PyBufferError::new_err(format!("version {version} of DLPack, expected 1")));
                }
                (&managed.tensor, managed.flags & READ_ONLY == 0)
            }
        };
        let row = ElementRow::coded(tensor.code, tensor.bits.into()).filter(|_| tensor.lanes == 1);
        let row = row.ok_or_else(|| {
            let DlTensor { code, bits, lanes, .. } = tensor;
            PyTypeError::new_err(format!(
                "no tensor has elements of DLPack's type {code}, {bits} bits, {lanes} lanes"
            ))
        })?;
        let rank = usize::try_from(tensor.rank).unwrap_or(0);
        let sizes = numbers(tensor.shape, rank).unwrap_or_default();
        let shape: Vec<u64> = sizes.iter().map(|size| u64::try_from(*size).unwrap_or(0)).collect();
        let item_bytes = i64::from(row.bits / 8);
        let strides = match numbers(tensor.strides, rank) {
            Some(strides) => strides.iter().map(|stride| stride * item_bytes).collect(),
            None => dense_strides(&shape, item_bytes),
        };
        let start = tensor.data.wrapping_add(usize::try_from(tensor.byte_offset).unwrap_or(0));
        Ok(TensorPlace { start, is_writable, row, shape, strides })
    }
}

/// The strides of an array without gaps, in bytes.
pub(crate) fn dense_strides(shape: &[u64], item_bytes: i64) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut stride = item_bytes;
    for (slot, size) in strides.iter_mut().zip(shape).rev() {
        *slot = stride;
        stride = stride.saturating_mul(i64::try_from(*size).unwrap_or(i64::MAX));
    }
    strides
}

fn numbers<'a>(start: *const i64, count: usize) -> Option<&'a [i64]> {
    if start.is_null() {
        return None;
    }
    // SAFETY: DLPack's tables have an entry for each dimension, and live as long as the tensor.
    Some(unsafe { std::slice::from_raw_parts(start, count) })
}

/// What a capsule of this name holds; its name then says that it was taken, so that nobody else does.
fn take<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr, taken: &'static CStr) -> Option<NonNull<T>> {
    let pointer = capsule.pointer_checked(Some(name)).ok()?;
    // SAFETY: the capsule is one, and the name is static.
    let renamed = unsafe { pyo3::ffi::PyCapsule_SetName(capsule.as_ptr(), taken.as_ptr()) };
    (renamed == 0).then(|| pointer.cast())
}

impl Drop for BorrowedTensor {
    fn drop(&mut self) {
        match &self.0 {
            Managed::Unversioned(managed) => {
                // SAFETY: the tensor was taken from its capsule, so this owns it alone, and deletes it once.
                unsafe {
                    if let Some(delete) = managed.as_ref().delete {
                        delete(managed.as_ptr());
                    }
                }
            }
            Managed::Versioned(managed) => {
                // SAFETY: as above.
                unsafe {
                    if let Some(delete) = managed.as_ref().delete {
                        delete(managed.as_ptr());
                    }
                }
            }
        }
    }
}
