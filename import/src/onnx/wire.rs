//! The protobuf wire format, read in place, and written.
//!
//! A message is a sequence of fields; a field is a tag `(number << 3) | wire type`, then a value encoded by
//! wire type. [`Message::fields`] iterates over them without copying: strings, bytes and nested messages are
//! borrowed from the buffer, and a [`ByteSpan`] knows its offset from the buffer's start for error messages.
//!
//! ```text
//! 0a 03 61 62 63   =>   field 1, wire type 2 (length-delimited), 3 bytes "abc"
//! 10 96 01         =>   field 2, wire type 0 (varint), 150
//! ```
//!
//! The law: no input makes the reader panic, read outside its span, or allocate more than a constant factor
//! of its bytes. Linear in the bytes read. Source: protobuf.dev/programming-guides/encoding. Groups (wire
//! types 3 and 4) are refused: ONNX has none.

use std::fmt;

use super::numbers::Encoding;

/// A malformed message: the fault, its byte offset, and the path of fields from the outermost message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    /// Offset in bytes from the start of the buffer.
    pub offset: usize,
    /// What was found and what was expected, lower case.
    pub message: String,
    /// Names of the fields on the path, innermost first.
    path: Vec<String>,
}

impl WireError {
    /// An error at byte `offset`, not yet inside any field.
    pub fn new(offset: usize, message: impl Into<String>) -> WireError {
        WireError { offset, message: message.into(), path: Vec::new() }
    }

    /// The same error, seen from the enclosing message's field `field`.
    #[must_use]
    pub fn inside(mut self, field: &str) -> WireError {
        self.path.push(field.to_owned());
        self
    }

    /// The same error, seen from element `index` of the enclosing message's repeated field `field`.
    #[must_use]
    pub fn inside_item(mut self, field: &str, index: usize) -> WireError {
        self.path.push(format!("{field}[{index}]"));
        self
    }

    /// The fields from the outermost to the innermost, such as `graph.node[3].input`; empty at the top.
    pub fn path(&self) -> String {
        let names: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        names.join(".")
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, " (in {})", self.path()) }
    }
}

impl std::error::Error for WireError {}

/// Bytes borrowed from the buffer, with their offset from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByteSpan<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Offset of the first of them from the start of the buffer.
    pub offset: usize,
}

/// A message that is not split into fields yet.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a>(ByteSpan<'a>);

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub struct WireField<'a> {
    /// The field's number in the schema.
    pub number: u64,
    value: Value<'a>,
    offset: usize,
}

#[derive(Debug, Clone, Copy)]
enum Value<'a> {
    Varint(u64, ByteSpan<'a>),
    Fixed32(ByteSpan<'a>),
    Fixed64(ByteSpan<'a>),
    Delimited(ByteSpan<'a>),
}

impl<'a> Message<'a> {
    /// The outermost message: the whole buffer.
    pub fn new(buffer: &'a [u8]) -> Message<'a> {
        Message(ByteSpan { bytes: buffer, offset: 0 })
    }

    /// Offset of the message's first byte.
    pub fn offset(self) -> usize {
        self.0.offset
    }

    /// The fields in the order of the file. There are none after the first error.
    pub fn fields(self) -> Fields<'a> {
        Fields { rest: self.0 }
    }

    /// The same, each with its bytes in the buffer, including the tag.
    pub fn written_fields(self) -> impl Iterator<Item = Result<(WireField<'a>, &'a [u8]), WireError>> {
        let mut fields = self.fields();
        std::iter::from_fn(move || {
            let before = fields.rest.bytes;
            let field = fields.next()?;
            Some(field.map(|field| (field, &before[..before.len() - fields.rest.bytes.len()])))
        })
    }
}

/// Iterator over a message's fields.
#[derive(Debug)]
pub struct Fields<'a> {
    rest: ByteSpan<'a>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<WireField<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.bytes.is_empty() {
            return None;
        }
        let field = read_field(&mut self.rest);
        if field.is_err() {
            self.rest = ByteSpan::default();
        }
        Some(field)
    }
}

fn read_field<'a>(rest: &mut ByteSpan<'a>) -> Result<WireField<'a>, WireError> {
    let offset = rest.offset;
    let (tag, _) = take_varint(rest)?;
    let number = tag >> 3;
    if number == 0 || number > MAX_FIELD_NUMBER {
        return Err(WireError::new(
            offset,
            format!("field number {number}, expected 1 to {MAX_FIELD_NUMBER}"),
        ));
    }
    let value = match tag & 7 {
        0 => take_varint(rest).map(|(number, span)| Value::Varint(number, span))?,
        1 => Value::Fixed64(take(rest, 8)?),
        2 => {
            let at = rest.offset;
            let (length, _) = take_varint(rest)?;
            let length =
                usize::try_from(length).map_err(|_| WireError::new(at, format!("length {length} bytes")))?;
            Value::Delimited(take(rest, length)?)
        }
        5 => Value::Fixed32(take(rest, 4)?),
        other => {
            return Err(WireError::new(offset, format!("wire type {other}, expected 0, 1, 2 or 5")));
        }
    };
    Ok(WireField { number, value, offset })
}

const MAX_FIELD_NUMBER: u64 = (1 << 29) - 1;

fn take<'a>(rest: &mut ByteSpan<'a>, length: usize) -> Result<ByteSpan<'a>, WireError> {
    let Some((bytes, after)) = rest.bytes.split_at_checked(length) else {
        let left = rest.bytes.len();
        return Err(WireError::new(rest.offset, format!("{length} bytes expected, {left} left")));
    };
    let taken = ByteSpan { bytes, offset: rest.offset };
    *rest = ByteSpan { bytes: after, offset: rest.offset + length };
    Ok(taken)
}

/// A varint: seven bits a byte, least significant first; the top bit is set if another byte follows. At most
/// 10 bytes.
pub(super) fn take_varint<'a>(rest: &mut ByteSpan<'a>) -> Result<(u64, ByteSpan<'a>), WireError> {
    let mut number = 0u64;
    for (i, &byte) in rest.bytes.iter().enumerate().take(10) {
        if i == 9 && byte > 1 {
            return Err(WireError::new(rest.offset, "a varint of more than 64 bits"));
        }
        number |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((number, take(rest, i + 1)?));
        }
    }
    Err(WireError::new(rest.offset, "a varint that does not end"))
}

impl<'a> WireField<'a> {
    /// Offset of the field's tag.
    pub fn offset(&self) -> usize {
        self.offset
    }

    fn mismatch(&self, name: &str, expected: &str) -> WireError {
        let found = match self.value {
            Value::Varint(..) => "a varint",
            Value::Fixed32(_) => "4 fixed bytes",
            Value::Fixed64(_) => "8 fixed bytes",
            Value::Delimited(_) => "length-delimited bytes",
        };
        WireError::new(self.offset, format!("{found}, expected {expected}")).inside(name)
    }

    /// The value as bytes. `name` is the field's name in the schema, for the error's path; so below.
    pub fn bytes(&self, name: &str) -> Result<ByteSpan<'a>, WireError> {
        match self.value {
            Value::Delimited(span) => Ok(span),
            _ => Err(self.mismatch(name, "length-delimited bytes")),
        }
    }

    /// The value as a nested message.
    pub fn message(&self, name: &str) -> Result<Message<'a>, WireError> {
        self.bytes(name).map(Message)
    }

    /// The value as UTF-8 text.
    pub fn string(&self, name: &str) -> Result<&'a str, WireError> {
        let span = self.bytes(name)?;
        str::from_utf8(span.bytes).map_err(|error| {
            WireError::new(span.offset + error.valid_up_to(), "bytes that are not UTF-8, expected text")
                .inside(name)
        })
    }

    /// The value as an `int64` (negative numbers are ten bytes long, two's complement).
    pub fn int(&self, name: &str) -> Result<i64, WireError> {
        match self.value {
            Value::Varint(number, _) => Ok(number.cast_signed()),
            _ => Err(self.mismatch(name, "a varint")),
        }
    }

    /// The value as an `int32` or an enumeration; a number outside 32 bits is an error.
    pub fn int32(&self, name: &str) -> Result<i32, WireError> {
        let number = self.int(name)?;
        i32::try_from(number)
            .map_err(|_| WireError::new(self.offset, format!("{number}, expected 32 bits")).inside(name))
    }

    /// The value as a `float`.
    pub fn float(&self, name: &str) -> Result<f32, WireError> {
        match self.value {
            Value::Fixed32(span) => Ok(float(span.bytes)),
            _ => Err(self.mismatch(name, "4 fixed bytes")),
        }
    }

    /// The bytes of a repeated number field: one element, or all of them if the field is packed.
    pub(super) fn number_span(&self, name: &str, encoding: Encoding) -> Result<ByteSpan<'a>, WireError> {
        match (self.value, encoding) {
            (Value::Varint(_, span), Encoding::Varint)
            | (Value::Fixed32(span), Encoding::Fixed32)
            | (Value::Fixed64(span), Encoding::Fixed64)
            | (Value::Delimited(span), _) => Ok(span),
            _ => Err(self.mismatch(name, encoding.expected())),
        }
    }
}

/// Appends a field of bytes, text or a message to a message.
pub fn append_bytes(message: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    append_varint(message, u64::from(field) << 3 | 2);
    append_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

/// Appends a field that is an `int64`, an `int32` or an enumeration to a message.
pub fn append_int(message: &mut Vec<u8>, field: u8, number: i64) {
    append_varint(message, u64::from(field) << 3);
    append_varint(message, number.cast_unsigned());
}

/// A number as a varint.
fn append_varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        message.push(number as u8 | 128);
        number >>= 7;
    }
    message.push(number as u8);
}

pub(super) fn float(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(bytes.try_into().expect("a `float` span has 4 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<WireField<'_>>, WireError> {
        Message::new(bytes).fields().collect()
    }

    fn error(bytes: &[u8]) -> String {
        fields(bytes).unwrap_err().to_string()
    }

    #[test]
    fn a_field_is_a_tag_and_a_value() {
        let fields = fields(b"\x0a\x03abc\x10\x96\x01\x1d\0\0\x80\x3f").unwrap();
        assert_eq!(fields.iter().map(|field| field.number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(fields[0].string("name").unwrap(), "abc");
        assert_eq!(fields[1].int("value").unwrap(), 150);
        assert_eq!(fields[2].float("weight").unwrap(), 1.0);
    }

    #[test]
    fn what_is_appended_is_read() {
        let mut message = Vec::new();
        append_bytes(&mut message, 25, b"hi");
        append_int(&mut message, 3, -1);
        let fields: Vec<_> = Message::new(&message).written_fields().map(Result::unwrap).collect();
        assert_eq!((fields[0].0.number, fields[0].0.string("text").unwrap()), (25, "hi"));
        assert_eq!((fields[1].0.number, fields[1].0.int("number").unwrap()), (3, -1));
        assert_eq!([fields[0].1, fields[1].1].concat(), message);
    }

    #[test]
    fn a_negative_number_is_ten_bytes_long() {
        let fields = fields(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").unwrap();
        assert_eq!(fields[0].int("value").unwrap(), -1);
        assert_eq!(fields[0].int32("value").unwrap(), -1);
    }

    #[test]
    fn a_span_knows_its_offset_in_the_buffer() {
        let outer = fields(b"\x08\x01\x12\x04\x0a\x02hi").unwrap();
        let inner: Vec<_> = outer[1].message("inner").unwrap().fields().map(Result::unwrap).collect();
        assert_eq!(inner[0].bytes("text").unwrap(), ByteSpan { bytes: b"hi", offset: 6 });
    }

    #[test]
    fn every_malformed_field_is_located() {
        assert_eq!(error(b"\x0a\x05abc"), "byte 2: 5 bytes expected, 3 left");
        assert_eq!(error(b"\x08\x01\x08"), "byte 3: a varint that does not end");
        assert_eq!(
            error(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
            "byte 1: a varint of more than 64 bits"
        );
        assert_eq!(error(b"\x0b"), "byte 0: wire type 3, expected 0, 1, 2 or 5");
        assert_eq!(error(b"\x00"), "byte 0: field number 0, expected 1 to 536870911");
        assert_eq!(
            error(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            format!("byte 11: {} bytes expected, 0 left", u64::MAX)
        );
    }

    #[test]
    fn a_value_of_another_type_names_the_field() {
        let field = fields(b"\x0a\x02\xc3\x28").unwrap()[0];
        let text = field.string("name").unwrap_err().inside_item("node", 3).inside("graph");
        assert_eq!(
            text.to_string(),
            "byte 2: bytes that are not UTF-8, expected text (in graph.node[3].name)"
        );
        assert_eq!(
            field.int("i").unwrap_err().to_string(),
            "byte 0: length-delimited bytes, expected a varint (in i)"
        );
    }
}
