//! The arrays that a run's results are written to: the caller's, or fresh ones of numpy.

use optc::runtime::TensorDesc;
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};

use crate::element::ElementRow;
use crate::memory::ArrayMemory;

/// An array for an output.
pub(crate) struct OutputArray<'py> {
    /// What the caller gets; none for an output that only says the size of another one.
    array: Option<Bound<'py, PyAny>>,
    pub(crate) memory: ArrayMemory,
}

impl<'py> OutputArray<'py> {
    /// An array of the caller.
    pub(crate) fn given(array: Bound<'py, PyAny>, desc: &TensorDesc) -> PyResult<OutputArray<'py>> {
        let memory = ArrayMemory::to_write(&array)?;
        check(&memory, desc, "output")?;
        Ok(OutputArray { array: Some(array), memory })
    }

    /// A fresh array.
    pub(crate) fn fresh(py: Python<'py>, desc: &TensorDesc) -> PyResult<OutputArray<'py>> {
        let row = ElementRow::of(desc.element);
        let stored = match (row.is_in_numpy(), row.bytes()) {
            (true, _) => row.name,
            (false, Some(1)) => "uint8",
            (false, Some(_)) => "uint16",
            (false, None) => {
                let message =
                    format!("output `{}` has elements of {}, which no array has", desc.name, row.name);
                return Err(PyTypeError::new_err(message));
            }
        };
        let shape = PyTuple::new(py, &desc.shape)?;
        let mut array = numpy_empty(py)?.call1((shape, stored))?;
        let memory = ArrayMemory::to_write(&array)?;
        if !row.is_in_numpy() {
            array = array.call_method1(intern!(py, "view"), (extension_type(py, desc, row)?,))?;
        }
        Ok(OutputArray { array: Some(array), memory })
    }

    /// Memory for an output that the caller does not get.
    pub(crate) fn hidden(desc: &TensorDesc) -> PyResult<OutputArray<'py>> {
        let memory = ArrayMemory::fresh(ElementRow::of(desc.element), desc.shape.clone())?;
        Ok(OutputArray { array: None, memory })
    }

    /// What the caller gets: the elements that come first, where data decide how many there are.
    pub(crate) fn result(self, exact: Option<&[u64]>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (Some(array), Some(shape)) = (self.array.as_ref(), exact) else { return Ok(self.array) };
        let py = array.py();
        let count: u64 = shape.iter().product();
        let first = PySlice::new(py, 0, count as isize, 1);
        let flat = array.call_method1(intern!(py, "reshape"), (-1,))?;
        let shape = PyTuple::new(py, shape)?;
        flat.get_item(first)?.call_method1(intern!(py, "reshape"), (shape,)).map(Some)
    }
}

/// That an array is what the program takes or writes.
pub(crate) fn check(memory: &ArrayMemory, desc: &TensorDesc, side: &str) -> PyResult<()> {
    let name = &desc.name;
    if memory.row.kind != desc.element {
        let expected = ElementRow::of(desc.element).name;
        let found = memory.row.name;
        let message = format!("{side} `{name}` has elements of {found}, expected {expected}");
        return Err(PyTypeError::new_err(message));
    }
    if memory.shape != desc.shape {
        let message = format!("{side} `{name}` has shape {:?}, expected {:?}", memory.shape, desc.shape);
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}

/// The caller's arrays, one for each name that it gives one for: a list in the order of the names, a
/// dictionary, or an array alone.
pub(crate) fn by_name<'py>(
    out: &Bound<'py, PyAny>,
    names: &[&str],
) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
    if let Ok(named) = out.cast::<PyDict>() {
        let unknown = named.keys().iter().find(|key| !names.iter().any(|name| key.eq(name).unwrap_or(false)));
        if let Some(unknown) = unknown {
            return Err(PyTypeError::new_err(format!("`out` has `{unknown}`, expected of {names:?}")));
        }
        return names.iter().map(|name| named.get_item(name)).collect();
    }
    let arrays: Vec<Bound<'py, PyAny>> = match (out.cast::<PyList>(), out.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => vec![out.clone()],
    };
    if arrays.len() != names.len() {
        let message =
            format!("`out` has {} arrays, and the program has {} outputs", arrays.len(), names.len());
        return Err(PyTypeError::new_err(message));
    }
    Ok(arrays.into_iter().map(|array| Some(array).filter(|array| !array.is_none())).collect())
}

fn numpy_empty(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    EMPTY.import(py, "numpy", "empty")
}

/// A type that numpy has from the package `ml_dtypes`.
fn extension_type<'py>(py: Python<'py>, desc: &TensorDesc, row: &ElementRow) -> PyResult<Bound<'py, PyAny>> {
    let package = py.import(intern!(py, "ml_dtypes")).map_err(|_| {
        let what = format!("output `{}` has elements of {}, which numpy lacks", desc.name, row.name);
        PyImportError::new_err(format!("{what}: install `ml_dtypes`, or give an array to write to (`out=`)"))
    });
    package?.getattr(row.name)
}
