//! Did any element of these arrays change? A hash of all their bytes.

use std::hash::Hasher;

use optc::runtime::ElementKind;
use pyo3::prelude::*;
use twox_hash::XxHash3_64;

use crate::element::ElementRow;
use crate::memory::ArrayMemory;

/// XXH3-64 of the elements of arrays, one array after the other, rows first.
#[pyfunction]
pub(crate) fn content_hash(py: Python<'_>, arrays: Vec<Bound<'_, PyAny>>) -> PyResult<u64> {
    let numbers = ElementRow::of(ElementKind::U8);
    let memories = arrays.iter().map(|array| ArrayMemory::to_read(array, numbers));
    let memories: Vec<ArrayMemory> = memories.collect::<PyResult<_>>()?;
    let pieces: Vec<&[u8]> = memories.iter().map(ArrayMemory::bytes).collect();
    Ok(py.detach(|| {
        let mut hasher = XxHash3_64::with_seed(0);
        pieces.iter().for_each(|piece| hasher.write(piece));
        hasher.finish()
    }))
}
