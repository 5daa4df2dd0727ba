//! The buffer of the printer's text.
//!
//! It holds bytes, not characters, because most of a module's text are numbers of values, written digit by
//! digit. The contents are UTF-8 nevertheless; this is checked once, at each flush.

use std::fmt;

/// Text that grows at its end.
#[derive(Default)]
pub(super) struct TextBuffer {
    bytes: Vec<u8>,
}

impl TextBuffer {
    /// Adds a text.
    pub(super) fn push_str(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Adds a character.
    pub(super) fn push(&mut self, character: char) {
        match u8::try_from(character) {
            Ok(byte) if byte.is_ascii() => self.bytes.push(byte),
            _ => self.push_str(character.encode_utf8(&mut [0; 4])),
        }
    }

    /// Adds a number.
    pub(super) fn push_number(&mut self, mut number: u32) {
        let mut digits = [0; 10];
        let mut start = digits.len();
        while number >= 100 {
            start -= 2;
            digits[start..start + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
            number /= 100;
        }
        start -= 2;
        digits[start..start + 2].copy_from_slice(&PAIRS[number as usize]);
        start += usize::from(number < 10);
        self.bytes.extend_from_slice(&digits[start..]);
    }

    /// Appends a copy of the bytes from `start` to `end` of another buffer.
    pub(super) fn push_part(&mut self, other: &TextBuffer, start: usize, end: usize) {
        self.bytes.extend_from_slice(&other.bytes[start..end]);
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether this is the last byte.
    pub(super) fn ends_with(&self, byte: u8) -> bool {
        self.bytes.last() == Some(&byte)
    }

    /// Removes all bytes from `length` on.
    pub(super) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    /// The contents.
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes).expect("only text was written")
    }
}

impl fmt::Write for TextBuffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

/// The numbers from 00 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are_displayed() {
        for number in (0..1200).chain([9_999, 10_000, 99_999, 100_000, 1_234_567, u32::MAX]) {
            let mut buffer = TextBuffer::default();
            buffer.push_number(number);
            assert_eq!(buffer.as_str(), number.to_string());
        }
    }
}
