//! Parser of constants' elements: `dense`, `sparse` and `array`.
//!
//! Elements precede their type. So first only their starts are recorded (four bytes each), and they are
//! parsed again once the type is known.

use std::sync::Arc;

use super::{Read, TextReader};
use crate::attrs::{AttrData, DenseData, Splat};
use crate::entities::{Attr, Type};
use crate::strings::{digests, is_string};
use crate::text::lexer::{self, TokenKind};
use crate::types::{Dim, FloatKind, TypeData};

/// Bytes of elements wider than this are counted, so that no short text needs much memory.
const WIDE_BYTES: usize = 16;

/// Wide elements may take this many bytes for any text, and eight more for each byte of text.
const FREE_BYTES: usize = 1 << 22;

/// Recorded elements.
#[derive(Default)]
struct Noted {
    /// The first byte of each element.
    starts: Vec<u32>,
    /// Sizes of the brackets around them, outermost first; none for a single element.
    shape: Vec<u64>,
    has_brackets: bool,
}

impl TextReader<'_> {
    /// `dense<elements> : type`.
    pub(super) fn dense(&mut self) -> Read<Attr> {
        self.advance();
        self.expect(b'<')?;
        let noted = self.noted(b'>')?;
        self.expect(b'>')?;
        self.expect(b':')?;
        let at = self.token.start;
        let ty = self.ty()?;
        let data = self.dense_data(at, &noted, ty)?;
        Ok(self.ctx.attr(AttrData::Dense { ty, data }))
    }

    /// `sparse<indices, values> : type`.
    pub(super) fn sparse(&mut self) -> Read<Attr> {
        self.advance();
        self.expect(b'<')?;
        let indices = self.noted(b'>')?;
        let is_empty = self.is(b'>');
        let values = if is_empty {
            Noted::default()
        } else {
            self.expect(b',')?;
            self.noted(b'>')?
        };
        self.expect(b'>')?;
        self.expect(b':')?;
        let at = self.token.start;
        let ty = self.ty()?;
        let Some((shape, elem)) = self.static_shape(ty) else {
            return Err(self.fault(at, "expected a tensor or vector type of known sizes"));
        };
        let count = if is_empty { 0 } else { indices.shape.first().copied().unwrap_or(1) };
        let rank = shape.len() as u64;
        let index_shape = if indices.has_brackets { indices.shape.clone() } else { vec![count, rank] };
        let value_shape = if values.has_brackets { values.shape.clone() } else { vec![count] };
        let is_row = index_shape.len() == 2 && index_shape[1] == rank || index_shape.len() == 1 && rank == 1;
        if !(is_empty || is_row && value_shape == [count]) {
            let message = format!("expected {rank} indices and one value for each element that is not zero");
            return Err(self.fault(at, message));
        }
        let index_type = self.ctx.tensor(&index_shape, self.ctx.int(64));
        let value_type = self.ctx.tensor(&value_shape, elem);
        let index_data = self.dense_data(at, &indices, index_type)?;
        let value_data = self.dense_data(at, &values, value_type)?;
        let indices = self.ctx.attr(AttrData::Dense { ty: index_type, data: index_data });
        let values = self.ctx.attr(AttrData::Dense { ty: value_type, data: value_data });
        Ok(self.ctx.attr(AttrData::Sparse { ty, indices, values }))
    }

    /// `array<type: elements>`.
    pub(super) fn dense_array(&mut self) -> Read<Attr> {
        self.advance();
        self.expect(b'<')?;
        let at = self.token.start;
        let elem = self.ty()?;
        let fits = match self.ctx.type_data(elem) {
            TypeData::Integer { width, .. } => matches!(width, 1 | 8 | 16 | 32 | 64),
            TypeData::Float(kind) => matches!(kind, FloatKind::F32 | FloatKind::F64),
            _ => false,
        };
        if !fits {
            return Err(self
                .fault(at, "the elements of an array are `i1`, `i8`, `i16`, `i32`, `i64`, `f32` or `f64`"));
        }
        let mut bytes = Vec::new();
        if !self.is(b'>') {
            self.expect(b':')?;
        }
        self.list(b'>', |reader| reader.element(elem, &mut bytes))?;
        Ok(self.ctx.attr(AttrData::DenseArray { elem, bytes: bytes.into() }))
    }

    /// Records elements, nested in brackets or not, up to a token that `close` begins.
    fn noted(&mut self, close: u8) -> Read<Noted> {
        let mut noted = Noted::default();
        if !self.is(close) {
            noted.has_brackets = self.is(b'[');
            noted.shape = self.note_elements(&mut noted.starts)?;
        }
        Ok(noted)
    }

    /// Records one element or a bracket of them, and returns the sizes of the brackets.
    fn note_elements(&mut self, starts: &mut Vec<u32>) -> Read<Vec<u64>> {
        if !self.is(b'[') {
            starts.push(self.token.start as u32);
            self.skip_element()?;
            return Ok(Vec::new());
        }
        self.nested(|reader| {
            let at = reader.token.start;
            reader.advance();
            let mut count = 0;
            let mut inner = None;
            reader.list(b']', |reader| {
                let shape = reader.note_elements(starts)?;
                count += 1;
                match &inner {
                    Some(first) if *first != shape => Err(reader.fault(at, "rows of different sizes")),
                    Some(_) => Ok(()),
                    None => {
                        inner = Some(shape);
                        Ok(())
                    }
                }
            })?;
            let mut shape = vec![count];
            shape.extend(inner.unwrap_or_default());
            Ok(shape)
        })
    }

    fn skip_element(&mut self) -> Read<()> {
        match self.token.kind {
            TokenKind::Text => {
                self.advance();
            }
            TokenKind::Word if self.is_word("true") || self.is_word("false") => {
                self.advance();
            }
            TokenKind::Byte(b'(') => {
                self.advance();
                self.literal()?;
                self.expect(b',')?;
                self.literal()?;
                self.expect(b')')?;
            }
            _ => {
                self.literal()?;
            }
        }
        Ok(())
    }

    /// The sizes and element type of a tensor or vector, if all sizes are known.
    fn static_shape(&self, ty: Type) -> Option<(Vec<u64>, Type)> {
        match self.ctx.type_data(ty) {
            TypeData::Tensor { shape, elem, .. } => {
                let sizes = shape.iter().map(|dim| match dim {
                    Dim::Known(size) => Some(*size),
                    Dim::Symbolic(_) | Dim::Unknown => None,
                });
                Some((sizes.collect::<Option<_>>()?, *elem))
            }
            TypeData::Vector { shape, elem } => Some((shape.iter().map(|dim| dim.size).collect(), *elem)),
            _ => None,
        }
    }

    fn dense_data(&mut self, at: usize, noted: &Noted, ty: Type) -> Read<DenseData> {
        let Some((shape, elem)) = self.static_shape(ty) else {
            return Err(self.fault(at, "expected a tensor or vector type of known sizes"));
        };
        let Some(count) = shape.iter().try_fold(1u64, |count, size| count.checked_mul(*size)) else {
            return Err(self.fault(at, "a constant has at most 2^64 - 1 elements"));
        };
        let first = noted.starts.first().map(|start| *start as usize);
        let is_text = first.is_some_and(|start| self.bytes()[start] == b'"');
        let Some(width) = element_bytes(self.ctx.type_data(elem), |part| self.ctx.type_data(part)) else {
            let data = self.string_elements(at, noted, &shape, count)?;
            if let DenseData::Strings(strings) = &data
                && is_string(self.ctx, elem)
            {
                digests(strings.iter().map(|string| &**string)).map_err(|fault| self.fault(at, fault))?;
            }
            return Ok(data);
        };
        if is_text && !noted.has_brackets {
            return self.hex_elements(first.unwrap_or(at), elem, width, count);
        }
        if noted.has_brackets && noted.shape != shape || first.is_none() && count != 0 {
            return Err(self.shape_fault(at, noted, ty));
        }
        let token = self.token;
        let size_bytes = noted.starts.len() * width;
        if width > WIDE_BYTES {
            self.wide_bytes += size_bytes;
            if self.wide_bytes > self.text.len() * 8 + FREE_BYTES {
                let message = format!("elements of {width} bytes each are more than the text has room for");
                return Err(self.fault(at, message));
            }
        }
        let mut bytes = Vec::with_capacity(size_bytes);
        for &start in &noted.starts {
            self.resume(start as usize);
            self.element(elem, &mut bytes)?;
        }
        self.resume(token.start);
        Ok(if noted.has_brackets { compact(bytes, width, count) } else { one_for_all(bytes, width) })
    }

    fn shape_fault(&mut self, at: usize, noted: &Noted, ty: Type) -> super::Failed {
        let found: Vec<String> = noted.shape.iter().map(u64::to_string).collect();
        let ty = crate::text::short_type(self.ctx, ty);
        self.fault(at, format!("expected elements of shape [{}], found `{ty}`", found.join(", ")))
    }

    /// Appends the bytes of the element at the current place.
    pub(super) fn element(&mut self, elem: Type, bytes: &mut Vec<u8>) -> Read<()> {
        let at = self.token.start;
        match self.ctx.type_data(elem) {
            TypeData::Complex(part) => {
                self.expect(b'(')?;
                self.element(*part, bytes)?;
                self.expect(b',')?;
                self.element(*part, bytes)?;
                self.expect(b')')
            }
            TypeData::Integer { width: 1, .. } if self.token.kind == TokenKind::Word => {
                let value = self.eat_word("true");
                if !value {
                    self.expect_word("false")?;
                }
                bytes.push(value.into());
                Ok(())
            }
            TypeData::Float(kind) => {
                let literal = self.literal()?;
                let bits = self.float_bits(at, &literal, *kind)?;
                bytes.extend_from_slice(&bits.to_le_bytes()[..kind.bits().div_ceil(8) as usize]);
                Ok(())
            }
            data => {
                let width = element_bytes(data, |part| self.ctx.type_data(part)).unwrap_or(8);
                self.push_integer(at, elem, width, bytes)?;
                if let (TypeData::Integer { width: 1, .. }, Some(last)) = (data, bytes.last_mut()) {
                    *last &= 1;
                }
                Ok(())
            }
        }
    }

    /// The elements of a hexadecimal string, byte by byte as in memory (`i1`: eight to the byte).
    fn hex_elements(&mut self, at: usize, elem: Type, width: usize, count: u64) -> Read<DenseData> {
        let end = lexer::string_end(self.bytes(), at).unwrap_or(at + 2);
        let Some(bytes) = self.text.get(at + 1..end - 1).and_then(hex_bytes) else {
            return Err(self.fault(at, "expected a string of `0x` and hexadecimal digits, two for each byte"));
        };
        let is_bool = matches!(self.ctx.type_data(elem), TypeData::Integer { width: 1, .. });
        let length = bytes.len() as u64;
        if is_bool {
            let is_splat = length == 1 && (bytes[0] == 0 || bytes[0] == 0xFF);
            if !is_splat && length != count.div_ceil(8) {
                return Err(self.fault(at, format!("expected {} bytes, found {length}", count.div_ceil(8))));
            }
            let number = if is_splat { 1 } else { count };
            let unpacked = (0..number).map(|i| bytes[(i / 8) as usize] >> (i % 8) & 1).collect();
            return Ok(if is_splat { one_for_all(unpacked, 1) } else { compact(unpacked, 1, count) });
        }
        let expected = count.checked_mul(width as u64);
        if Some(length) != expected && length != width as u64 {
            let expected = expected.map_or("more".to_owned(), |bytes| bytes.to_string());
            return Err(self.fault(at, format!("expected {expected} bytes, found {length}")));
        }
        Ok(compact(bytes, width, count))
    }

    fn string_elements(&mut self, at: usize, noted: &Noted, shape: &[u64], count: u64) -> Read<DenseData> {
        let is_whole =
            if noted.has_brackets { noted.shape == shape } else { !noted.starts.is_empty() || count == 0 };
        if !is_whole {
            return Err(self.fault(at, "the number of strings is not that of the elements"));
        }
        let token = self.token;
        let mut strings = Vec::new();
        for &start in &noted.starts {
            self.resume(start as usize);
            strings.push(self.string()?.into_boxed_slice());
        }
        self.resume(token.start);
        if strings.windows(2).all(|pair| pair[0] == pair[1]) {
            strings.truncate(1);
        }
        Ok(DenseData::Strings(strings.into()))
    }
}

/// Elements, stored once if all are equal.
pub(super) fn compact(bytes: Vec<u8>, width: usize, count: u64) -> DenseData {
    let first = bytes.get(..width).unwrap_or_default();
    if !first.is_empty() && count > 0 && bytes.chunks(width).all(|element| element == first) {
        return one_for_all(bytes, width);
    }
    DenseData::Bytes { splat: Splat::All, bytes: bytes.into() }
}

/// The first element for all; no elements, if there are none.
fn one_for_all(bytes: Vec<u8>, width: usize) -> DenseData {
    match bytes.get(..width) {
        Some(first) if !first.is_empty() => DenseData::Bytes { splat: Splat::One, bytes: Arc::from(first) },
        _ => DenseData::Bytes { splat: Splat::All, bytes: bytes.into() },
    }
}

/// The bytes of an element in a dense attribute; none for types without a numeric format.
pub(in crate::text) fn element_bytes<'t>(
    elem: &'t TypeData,
    data: impl Fn(Type) -> &'t TypeData + Copy,
) -> Option<usize> {
    match elem {
        TypeData::Integer { width, .. } => Some(width.div_ceil(8).max(1) as usize),
        TypeData::Float(kind) => Some(kind.bits().div_ceil(8) as usize),
        TypeData::Index => Some(8),
        TypeData::Complex(part) => Some(2 * element_bytes(data(*part), data)?),
        _ => None,
    }
}

/// The bytes of `0x` and pairs of hexadecimal digits.
pub(super) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    let value = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(value(*high)? << 4 | value(*low)?),
        _ => None,
    });
    pairs.collect()
}
