//! Helpers with which tests write and change messages of an ONNX file, field by field.

use import::onnx::wire::Message;
use optc::protobuf::append_bytes;

/// A field's number, and all of its bytes.
pub(crate) type Field = (u64, Vec<u8>);

/// The fields of a well-formed message.
///
/// # Panics
/// If it is not.
pub(crate) fn fields(message: &[u8]) -> Vec<Field> {
    let found: Vec<(u64, usize)> = Message::new(message)
        .fields()
        .map(|field| field.map(|field| (field.number, field.offset())).expect("the message is well-formed"))
        .collect();
    let ends = found.iter().skip(1).map(|(_, offset)| *offset).chain([message.len()]);
    found.iter().zip(ends).map(|((number, begin), end)| (*number, message[*begin..end].to_vec())).collect()
}

/// The content of a field of bytes.
///
/// # Panics
/// If it holds a number.
pub(crate) fn content((_, bytes): &Field) -> &[u8] {
    let field = Message::new(bytes).fields().next().expect("it is a field").expect("it is well-formed");
    field.bytes("a message").expect("it holds bytes").bytes
}

/// A field that holds bytes.
pub(crate) fn holding(number: u8, content: &[u8]) -> Field {
    let mut bytes = Vec::new();
    append_bytes(&mut bytes, number, content);
    (number.into(), bytes)
}

/// The message of some fields.
pub(crate) fn joined(fields: &[Field]) -> Vec<u8> {
    fields.iter().flat_map(|(_, bytes)| bytes).copied().collect()
}

/// A message of fields that hold bytes.
pub(crate) fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut message = Vec::new();
    fields.iter().for_each(|(field, bytes)| append_bytes(&mut message, *field, bytes));
    message
}

/// A message with one more field that holds a number.
pub(crate) fn with_int(mut message: Vec<u8>, field: u8, mut number: u64) -> Vec<u8> {
    message.extend((u64::from(field) << 3 >= 128).then_some(field << 3 | 128));
    message.push(if field >= 16 { field >> 4 } else { field << 3 });
    while number >= 128 {
        message.push(number as u8 | 128);
        number >>= 7;
    }
    message.push(number as u8);
    message
}
