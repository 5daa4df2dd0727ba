//! Repeated number fields of protobuf messages, read in place.
//!
//! A writer may pack the elements (one length-delimited field) or not (one field each), or mix both; all are
//! read alike. So the elements of a big tensor can be used, or shared, without a copy.

use super::wire::{ByteSpan, WireError, WireField, float, take_varint};

/// How the elements of a repeated number field are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `int32`, `int64`, `uint64`, enumerations.
    Varint,
    /// `float`.
    Fixed32,
    /// `double`.
    Fixed64,
}

impl Encoding {
    pub(super) fn expected(self) -> &'static str {
        match self {
            Encoding::Varint => "varints",
            Encoding::Fixed32 => "elements of 4 bytes",
            Encoding::Fixed64 => "elements of 8 bytes",
        }
    }
}

fn count_numbers(span: ByteSpan<'_>, encoding: Encoding) -> Result<usize, WireError> {
    let width = match encoding {
        Encoding::Fixed32 => 4,
        Encoding::Fixed64 => 8,
        Encoding::Varint => return count_varints(span),
    };
    if span.bytes.len().is_multiple_of(width) {
        return Ok(span.bytes.len() / width);
    }
    let message = format!("{} bytes, expected {}", span.bytes.len(), encoding.expected());
    Err(WireError::new(span.offset, message))
}

fn count_varints(mut span: ByteSpan<'_>) -> Result<usize, WireError> {
    let mut count = 0;
    while !span.bytes.is_empty() {
        take_varint(&mut span)?;
        count += 1;
    }
    Ok(count)
}

/// The elements of a repeated number field, in place, in the pieces that the writer made.
#[derive(Debug, Clone, Default)]
pub struct NumberField<'a> {
    spans: Vec<ByteSpan<'a>>,
    count: usize,
}

impl<'a> NumberField<'a> {
    /// Appends the field's element, or all of its elements if it is packed. `name` is the field's name in the
    /// schema. Every element is checked here, so that the iterators cannot fail.
    pub fn append(&mut self, field: WireField<'a>, name: &str, encoding: Encoding) -> Result<(), WireError> {
        let span = field.number_span(name, encoding)?;
        self.count += count_numbers(span, encoding).map_err(|error| error.inside(name))?;
        if !span.bytes.is_empty() {
            self.spans.push(span);
        }
        Ok(())
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The piece with all elements, if there is only one: for fixed encodings these are the elements
    /// themselves, little-endian.
    pub fn contiguous(&self) -> Option<ByteSpan<'a>> {
        match self.spans.as_slice() {
            [] => Some(ByteSpan::default()),
            [span] => Some(*span),
            _ => None,
        }
    }

    /// The bytes of all pieces, one after the other.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.spans.iter().flat_map(|span| span.bytes.iter().copied())
    }

    /// The elements of a varint field.
    pub fn varints(&self) -> impl Iterator<Item = i64> + '_ {
        self.spans.iter().flat_map(|&span| Varints { rest: span })
    }

    /// The elements of a `float` field.
    pub fn floats(&self) -> impl Iterator<Item = f32> + '_ {
        self.spans.iter().flat_map(|span| span.bytes.chunks_exact(4).map(float))
    }
}

struct Varints<'a> {
    rest: ByteSpan<'a>,
}

impl Iterator for Varints<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        if self.rest.bytes.is_empty() {
            return None;
        }
        let (number, _) = take_varint(&mut self.rest).expect("`Numbers::append` checked every varint");
        Some(number.cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::Message;
    use super::*;

    fn fields(bytes: &[u8]) -> Vec<WireField<'_>> {
        Message::new(bytes).fields().map(Result::unwrap).collect()
    }

    #[test]
    fn packed_and_unpacked_numbers_are_the_same() {
        for bytes in [&b"\x08\x01\x08\x96\x01"[..], b"\x0a\x03\x01\x96\x01", b"\x08\x01\x0a\x02\x96\x01"] {
            let mut numbers = NumberField::default();
            assert!(numbers.is_empty());
            for field in fields(bytes) {
                numbers.append(field, "dims", Encoding::Varint).unwrap();
            }
            assert_eq!(numbers.varints().collect::<Vec<_>>(), [1, 150]);
            assert_eq!((numbers.len(), numbers.is_empty()), (2, false));
        }
    }

    #[test]
    fn packed_floats_stay_where_they_lie() {
        let field = fields(b"\x0a\x08\0\0\x80\x3f\0\0\0\x40")[0];
        let mut numbers = NumberField::default();
        numbers.append(field, "float_data", Encoding::Fixed32).unwrap();
        assert_eq!(numbers.contiguous().unwrap().offset, 2);
        assert_eq!(numbers.floats().collect::<Vec<_>>(), [1.0, 2.0]);
    }

    #[test]
    fn a_number_cut_short_is_located() {
        let field = fields(b"\x0a\x02\xc3\x28")[0];
        let error = NumberField::default().append(field, "floats", Encoding::Fixed32).unwrap_err();
        assert_eq!(error.to_string(), "byte 2: 2 bytes, expected elements of 4 bytes (in floats)");
    }
}
