//! Quoted strings, written such that the lexer reads them back.

use std::fmt::Write;

use super::lexer;

/// Writes bytes in quotes; bytes that are not printable ASCII become two hexadecimal digits.
pub(super) fn write_quoted(out: &mut impl Write, bytes: &[u8]) -> std::fmt::Result {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let plain = bytes.iter().take_while(|byte| is_plain(byte)).count();
    out.write_char('"')?;
    out.write_str(std::str::from_utf8(&bytes[..plain]).expect("printable ASCII"))?;
    for &byte in &bytes[plain..] {
        match byte {
            b'\\' => out.write_str("\\\\")?,
            b' '..=b'~' if byte != b'"' => out.write_char(byte as char)?,
            _ => write!(out, "\\{byte:02X}")?,
        }
    }
    out.write_char('"')
}

/// Adds a name, in quotes unless it is a word and not in `reserved`.
pub(crate) fn push_name(text: &mut String, name: &str, reserved: &[&str]) {
    if lexer::is_bare_word(name.as_bytes()) && !reserved.contains(&name) {
        text.push_str(name);
    } else {
        write_quoted(text, name.as_bytes()).expect("a string takes all text");
    }
}
