//! Decoder of PBM, PGM or PPM files, as text or as bytes.
//!
//! Samples of another range than 0 to 255 are scaled to it and rounded, halves to even, as Pillow does; a PGM
//! file of more than 8 bits is refused, since Pillow does not scale it. PAM and PFM files are refused.

use super::{ImageFault, Picture, Pixels, cut_short, damaged, pixel_count, refused};

/// The most characters of a number.
const MOST_DIGITS: usize = 10;

/// The type of a file's samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PnmKind {
    Bits,
    Gray,
    Rgb,
}

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, ImageFault> {
    let (kind, is_text) = match stream.get(1) {
        Some(b'1') => (PnmKind::Bits, true),
        Some(b'2') => (PnmKind::Gray, true),
        Some(b'3') => (PnmKind::Rgb, true),
        Some(b'4') => (PnmKind::Bits, false),
        Some(b'5') => (PnmKind::Gray, false),
        Some(b'6') => (PnmKind::Rgb, false),
        Some(b'7' | b'F' | b'f') => return Err(refused("a file of PAM or PFM")),
        _ => return Err(damaged("it begins like no format of images")),
    };
    if !stream.get(2).copied().is_some_and(is_space) {
        return Err(damaged("after its magic number there is no space"));
    }
    let mut header = PnmHeader { rest: &stream[3..] };
    let width = header.number()?;
    let height = header.number()?;
    let most = if kind == PnmKind::Bits { 1 } else { header.number()? };
    let count = pixel_count(width, height)? * if kind == PnmKind::Rgb { 3 } else { 1 };
    if !(1..65536).contains(&most) {
        return Err(damaged("its greatest sample is not 1 to 65535"));
    }
    if most > 255 && kind == PnmKind::Gray {
        return Err(refused("gray samples of more than 8 bits"));
    }
    let samples = match (kind, is_text) {
        (PnmKind::Bits, true) => text_bits(header.rest, count)?,
        (PnmKind::Bits, false) => bits(header.rest, width, height)?,
        (_, true) => text_samples(header.rest, count, most)?,
        (_, false) => samples(header.rest, count, most)?,
    };
    let samples = if kind == PnmKind::Rgb { Pixels::Rgb(samples) } else { Pixels::Gray(samples) };
    Ok(Picture { width, height, samples })
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0D)
}

/// The rest of a header.
struct PnmHeader<'s> {
    rest: &'s [u8],
}

impl PnmHeader<'_> {
    /// The next number, with the space after it. A comment is skipped up to the end of its line, even within
    /// a number.
    fn number(&mut self) -> Result<usize, ImageFault> {
        let mut digits = Vec::new();
        while let Some((&byte, rest)) = self.rest.split_first() {
            self.rest = rest;
            match byte {
                b'#' => {
                    let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
                    self.rest = end.map_or(&[], |end| &rest[end + 1..]);
                }
                _ if is_space(byte) && digits.is_empty() => {}
                _ if is_space(byte) => break,
                _ => digits.push(byte),
            }
            if digits.len() > MOST_DIGITS {
                break;
            }
        }
        number_of(&digits)
    }
}

fn number_of(digits: &[u8]) -> Result<usize, ImageFault> {
    if digits.is_empty() || digits.len() > MOST_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return Err(damaged("a number is missing or has other characters than digits"));
    }
    Ok(digits.iter().fold(0, |number, digit| 10 * number + usize::from(digit - b'0')))
}

/// A text without its comments, each of which extends to the end of its line and includes that.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut is_comment = false;
    for byte in text {
        match byte {
            b'\r' | b'\n' if is_comment => is_comment = false,
            b'#' => is_comment = true,
            _ if !is_comment => kept.push(*byte),
            _ => {}
        }
    }
    kept
}

/// Bits as digits, of which 1 is black.
fn text_bits(text: &[u8], count: usize) -> Result<Vec<u8>, ImageFault> {
    let text = without_comments(text);
    let digits = text.into_iter().filter(|byte| !is_space(*byte));
    let samples = digits.map(|digit| match digit {
        b'0' => Ok(255),
        b'1' => Ok(0),
        _ => Err(damaged("a sample is neither 0 nor 1")),
    });
    let mut samples = samples.collect::<Result<Vec<u8>, ImageFault>>()?;
    if samples.len() < count {
        return Err(cut_short());
    }
    samples.truncate(count);
    Ok(samples)
}

/// Rows of bits, each in whole bytes, the highest bit first; 1 is black.
fn bits(bytes: &[u8], width: usize, height: usize) -> Result<Vec<u8>, ImageFault> {
    let stride = width.div_ceil(8);
    let rows = bytes.get(..stride * height).ok_or_else(cut_short)?.chunks(stride);
    let samples =
        rows.flat_map(|row| (0..width).map(|at| if row[at / 8] & (0x80 >> (at % 8)) == 0 { 255 } else { 0 }));
    Ok(samples.collect())
}

fn text_samples(text: &[u8], count: usize, most: usize) -> Result<Vec<u8>, ImageFault> {
    let text = without_comments(text);
    let numbers = text.split(|byte| is_space(*byte)).filter(|number| !number.is_empty());
    let samples = numbers.take(count).map(|digits| match number_of(digits)? {
        number if number <= most => Ok(scaled(number, most)),
        _ => Err(damaged("a sample is above the greatest")),
    });
    let samples = samples.collect::<Result<Vec<u8>, ImageFault>>()?;
    if samples.len() < count { Err(cut_short()) } else { Ok(samples) }
}

fn samples(bytes: &[u8], count: usize, most: usize) -> Result<Vec<u8>, ImageFault> {
    let width = if most < 256 { 1 } else { 2 };
    let bytes = bytes.get(..count * width).ok_or_else(cut_short)?;
    if most == 255 {
        return Ok(bytes.to_vec());
    }
    let number = |sample: &[u8]| sample.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
    Ok(bytes.chunks(width).map(|sample| scaled(number(sample), most)).collect())
}

/// A sample of 0 to `most` as one of 0 to 255.
fn scaled(number: usize, most: usize) -> u8 {
    (number as f64 / most as f64 * 255.0).round_ties_even() as u8
}
