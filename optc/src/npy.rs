//! Parsing of `.npy` files.
//!
//! The format is numpy's (`numpy.lib.format`): eight bytes with the version, the length of a header, the
//! header, and the elements. The header is a Python dictionary of three entries, padded to a multiple of 64
//! bytes:
//!
//! ```text
//! {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//! ```
//!
//! Elements in Fortran order or big-endian are converted. Records and text are refused. Elements of types
//! that numpy lacks are raw bytes (`V2`), as written by the package `ml_dtypes`.

use std::borrow::Cow;
use std::iter::repeat;

use ir::strings::digests;
use runtime::ElementKind;

use crate::arrays::Array;
use crate::elements::{bits, packed, unpacked};

/// The first bytes of every file, before the version.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The names of the element types of tensors in a header, after the byte order.
const ELEMENTS: [(&str, ElementKind); 12] = [
    ("b1", ElementKind::Bool),
    ("i1", ElementKind::I8),
    ("i2", ElementKind::I16),
    ("i4", ElementKind::I32),
    ("i8", ElementKind::I64),
    ("u1", ElementKind::U8),
    ("u2", ElementKind::U16),
    ("u4", ElementKind::U32),
    ("u8", ElementKind::U64),
    ("f2", ElementKind::F16),
    ("f4", ElementKind::F32),
    ("f8", ElementKind::F64),
];

/// The element types that numpy lacks, by their names in the package `ml_dtypes`.
const FURTHER: [(&str, ElementKind); 11] = [
    ("bfloat16", ElementKind::BF16),
    ("float8_e4m3fn", ElementKind::F8E4M3FN),
    ("float8_e4m3fnuz", ElementKind::F8E4M3FNUZ),
    ("float8_e5m2", ElementKind::F8E5M2),
    ("float8_e5m2fnuz", ElementKind::F8E5M2FNUZ),
    ("float8_e8m0fnu", ElementKind::F8E8M0FNU),
    ("float4_e2m1fn", ElementKind::F4E2M1FN),
    ("int4", ElementKind::I4),
    ("uint4", ElementKind::U4),
    ("int2", ElementKind::I2),
    ("uint2", ElementKind::U2),
];

/// Parses the bytes of a `.npy` file to an array called `name`. Elements of a type that numpy lacks are raw
/// bytes, at least one per element; they get the `expected` type.
///
/// # Errors
/// A message about what is wrong with the file, or that no tensor has such elements.
pub(crate) fn read(file: &[u8], name: &str, expected: Option<ElementKind>) -> Result<Array, String> {
    let (header, elements) = split(file)?;
    let header = NpyHeader::parse(header)?;
    let (element, size_bytes) = header.element(expected)?;
    let count = header.shape.iter().try_fold(size_bytes as u64, |count, size| count.checked_mul(*size));
    let count = count.and_then(|count| usize::try_from(count).ok()).ok_or("it is too large")?;
    let found = elements.len();
    let elements = elements.get(..count);
    let mut bytes = elements.ok_or(format!("{found} bytes where {count} were announced"))?.to_vec();
    if header.descr.starts_with('>') {
        let unit = if element == ElementKind::String { 4 } else { size_bytes };
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
    }
    if header.fortran_order {
        bytes = row_major(&bytes, size_bytes, &header.shape);
    }
    if element == ElementKind::String {
        let strings = bytes.chunks_exact(size_bytes).map(string_of).collect::<Result<Vec<_>, _>>()?;
        bytes = digests(strings.iter().map(|string| string.as_bytes()))?;
    } else if bits(element) < 8 {
        bytes = packed(&bytes, bits(element));
    } else if element == ElementKind::Bool && bytes.iter().any(|byte| *byte > 1) {
        return Err("a truth value other than 0 and 1".to_owned());
    }
    Ok(Array { name: name.to_owned(), element, shape: header.shape, bytes })
}

/// The bytes before the elements of an array in a `.npy` file.
pub(crate) fn header(array: &Array) -> Vec<u8> {
    let known = ELEMENTS.iter().find(|(_, element)| *element == array.element);
    let class = match (known, array.to_strings()) {
        (Some((class, _)), _) => (*class).to_owned(),
        (None, Some(strings)) => format!("U{}", width(&strings)),
        (None, None) => format!("V{}", bits(array.element).div_ceil(8)),
    };
    let order = if class.ends_with('1') { '|' } else { '<' };
    let sizes: Vec<String> = array.shape.iter().map(u64::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let sizes = sizes.join(", ");
    let mut text =
        format!("{{'descr': '{order}{class}', 'fortran_order': False, 'shape': ({sizes}{comma}), }}");
    let before = MAGIC.len() + 2 + 4;
    let padded = (before + text.len() + 1).next_multiple_of(64) - before;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let length = u32::try_from(text.len()).expect("a header is short");
    [MAGIC, &[2, 0], &length.to_le_bytes(), text.as_bytes()].concat()
}

/// The elements of an array in a `.npy` file, in which no two share a byte.
pub(crate) fn elements(array: &Array) -> Cow<'_, [u8]> {
    if let Some(strings) = array.to_strings() {
        let width = width(&strings);
        let padded = |string: &'static str| string.chars().map(u32::from).chain(repeat(0)).take(width);
        return Cow::Owned(strings.into_iter().flat_map(padded).flat_map(u32::to_le_bytes).collect());
    }
    match bits(array.element) {
        bits if bits < 8 => {
            let count = array.shape.iter().product::<u64>() as usize;
            Cow::Owned(unpacked(&array.bytes, bits, count).collect())
        }
        _ => Cow::Borrowed(&array.bytes),
    }
}

/// The width of strings in numpy, in characters of 4 bytes: the longest string's; shorter ones are padded
/// with zeros.
fn width(strings: &[&str]) -> usize {
    strings.iter().map(|string| string.chars().count()).max().unwrap_or(0).max(1)
}

/// The string of characters of 4 bytes, without trailing zeros.
fn string_of(bytes: &[u8]) -> Result<String, String> {
    let characters = bytes.as_chunks().0.iter().map(|bytes| char::from_u32(u32::from_le_bytes(*bytes)));
    let string: Option<String> = characters.collect();
    Ok(string.ok_or("a string of no characters")?.trim_end_matches('\0').to_owned())
}

/// The header's text, and the bytes after it.
fn split(file: &[u8]) -> Result<(&str, &[u8]), String> {
    let rest = file.strip_prefix(MAGIC).ok_or("it is no `.npy` file")?;
    let cut = || "it ends within its header".to_owned();
    let (&[version, _], rest) = rest.split_first_chunk().ok_or_else(cut)?;
    let (length, rest) = match version {
        1 => rest.split_first_chunk().map(|(length, rest)| (u16::from_le_bytes(*length).into(), rest)),
        2 | 3 => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length), rest)),
        other => return Err(format!("version {other} of the format is not known")),
    }
    .ok_or_else(cut)?;
    let (header, elements) = rest.split_at_checked(length as usize).ok_or_else(cut)?;
    Ok((str::from_utf8(header).map_err(|_| "its header is no text")?, elements))
}

/// The dictionary in a header.
struct NpyHeader<'t> {
    /// The byte order of an element, its class, and its size.
    descr: &'t str,
    /// Whether the first index runs fastest.
    fortran_order: bool,
    shape: Vec<u64>,
}

impl<'t> NpyHeader<'t> {
    fn parse(text: &'t str) -> Result<NpyHeader<'t>, String> {
        let malformed = || format!("its header is malformed: `{}`", text.trim());
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut literal = PythonLiteral { rest: text };
        literal.take("{").ok_or_else(malformed)?;
        while literal.take("}").is_none() {
            let key = literal.text().ok_or_else(malformed)?;
            literal.take(":").ok_or_else(malformed)?;
            match key {
                "descr" if literal.take("[").is_some() => return Err("it holds records".to_owned()),
                "descr" => descr = literal.text(),
                "fortran_order" => fortran_order = literal.truth(),
                "shape" => shape = literal.sizes(),
                _ => return Err(malformed()),
            }
            if literal.take(",").is_none() && !literal.rest.trim_start().starts_with('}') {
                return Err(malformed());
            }
        }
        match (descr, fortran_order, shape) {
            (Some(descr), Some(fortran_order), Some(shape)) if literal.rest.trim().is_empty() => {
                Ok(NpyHeader { descr, fortran_order, shape })
            }
            _ => Err(malformed()),
        }
    }

    /// The kind of the elements, and the size of each in bytes.
    fn element(&self, expected: Option<ElementKind>) -> Result<(ElementKind, usize), String> {
        let class = self.descr.trim_start_matches(['<', '>', '|', '=']);
        if let Some((name, element)) = ELEMENTS.iter().find(|(name, _)| *name == class) {
            return Ok((*element, name[1..].parse().expect("the table says the bytes")));
        }
        if let Some((_, element)) = FURTHER.iter().find(|(name, _)| *name == class) {
            return Ok((*element, bits(*element).div_ceil(8)));
        }
        if let Some(count @ 1..) = class.strip_prefix('U').and_then(|count| count.parse::<usize>().ok()) {
            let size = count.checked_mul(4).ok_or("it is too large")?;
            return Ok((ElementKind::String, size));
        }
        // Floats of 8 bits are raw bytes or `f1`, depending on their format.
        let raw = class.strip_prefix(['V', 'f']).and_then(|size| size.parse().ok());
        let further = expected.filter(|element| FURTHER.iter().any(|(_, further)| further == element));
        match (raw, further) {
            (Some(size), Some(element)) if bits(element).div_ceil(8) == size => Ok((element, size)),
            _ => Err(format!("no tensor has elements of type `{}`", self.descr)),
        }
    }
}

/// The rest of a Python literal to be parsed.
struct PythonLiteral<'t> {
    rest: &'t str,
}

impl<'t> PythonLiteral<'t> {
    /// Consumes a token, if it comes next.
    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(token)?;
        Some(())
    }

    /// A string without escapes.
    fn text(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
        let (text, rest) = rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    fn truth(&mut self) -> Option<bool> {
        if self.take("True").is_some() {
            return Some(true);
        }
        self.take("False").map(|()| false)
    }

    /// A tuple of sizes; Python 2 wrote `3L`.
    fn sizes(&mut self) -> Option<Vec<u64>> {
        self.take("(")?;
        let mut sizes = Vec::new();
        while self.take(")").is_none() {
            let rest = self.rest.trim_start();
            let digits = rest.find(|c: char| !c.is_ascii_digit())?;
            sizes.push(rest[..digits].parse().ok()?);
            self.rest = &rest[digits..];
            let _ = self.take("L");
            if self.take(",").is_none() && !self.rest.trim_start().starts_with(')') {
                return None;
            }
        }
        Some(sizes)
    }
}

/// Reorders the elements of an array from Fortran order to row-major order.
fn row_major(bytes: &[u8], size_bytes: usize, shape: &[u64]) -> Vec<u8> {
    let mut strides = Vec::new();
    let mut stride = size_bytes;
    for size in shape {
        strides.push(stride);
        stride *= *size as usize;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0; shape.len()];
    let mut from = 0;
    while out.len() < bytes.len() {
        out.extend_from_slice(&bytes[from..][..size_bytes]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            from += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            from -= strides[axis] * shape[axis] as usize;
            index[axis] = 0;
        }
    }
    out
}

#[cfg(test)]
#[path = "npy_tests.rs"]
mod tests;
