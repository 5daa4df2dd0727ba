//! Decoding of images to pixels: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF and WebP.
//!
//! ONNX defines `ImageDecoder` by its reference implementation, which uses Pillow. The pixels here equal
//! Pillow's, converted to RGB, to the bit. Formats without that guarantee (a lossy JPEG 2000, gray samples of
//! 16 bits) are refused. A damaged stream has no pixels, as the standard requires. Alpha, orientation, gamma
//! and colour profiles are ignored.
//!
//! Nothing panics. Time and memory are linear in the length of the stream and the size of the image, at most
//! [`MOST_BYTES`].

mod bmp;
mod jpeg;
mod jpeg2000;
mod png;
mod pnm;
mod tiff;
mod webp;

use std::fmt;

/// The most bytes of an image of three channels.
const MOST_BYTES: u64 = 1 << 28;

/// Why a stream has no pixels.
#[derive(Debug)]
pub(super) enum ImageFault {
    /// It is damaged, or in no known format: the standard requires an empty image.
    Damaged(String),
    /// It may be valid, but is not supported here.
    Refused(String),
}

impl fmt::Display for ImageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ImageFault::Damaged(what) | ImageFault::Refused(what)) = self;
        f.write_str(what)
    }
}

/// The fault of a stream that ends too early.
fn cut_short() -> ImageFault {
    ImageFault::Damaged("it ends too early".to_owned())
}

fn damaged(what: &str) -> ImageFault {
    ImageFault::Damaged(what.to_owned())
}

fn refused(what: impl Into<String>) -> ImageFault {
    ImageFault::Refused(what.into())
}

/// An image: rows from top to bottom, in each its pixels from left to right.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Picture {
    width: usize,
    height: usize,
    samples: Pixels,
}

/// Eight bits for each sample.
#[derive(Debug, PartialEq, Eq)]
enum Pixels {
    /// One for each pixel.
    Gray(Vec<u8>),
    /// Red, green and blue of each pixel.
    Rgb(Vec<u8>),
}

/// How pixels are stored: the attribute `pixel_format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PixelFormat {
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red.
    Bgr,
    /// The luma of ITU-R BT.601.
    Grayscale,
}

impl PixelFormat {
    /// The number of channels.
    pub(super) fn channels(self) -> u64 {
        if self == PixelFormat::Grayscale { 1 } else { 3 }
    }
}

impl Picture {
    /// The sizes along the axes of the result: rows, columns, channels.
    pub(super) fn shape(&self, format: PixelFormat) -> [u64; 3] {
        [self.height as u64, self.width as u64, format.channels()]
    }

    /// Its bytes in a pixel format.
    pub(super) fn into_bytes(self, format: PixelFormat) -> Vec<u8> {
        match (self.samples, format) {
            (Pixels::Gray(bytes), PixelFormat::Grayscale) | (Pixels::Rgb(bytes), PixelFormat::Rgb) => bytes,
            (Pixels::Gray(bytes), _) => bytes.iter().flat_map(|gray| [*gray; 3]).collect(),
            (Pixels::Rgb(mut bytes), PixelFormat::Bgr) => {
                bytes.as_chunks_mut::<3>().0.iter_mut().for_each(|pixel| pixel.reverse());
                bytes
            }
            (Pixels::Rgb(bytes), PixelFormat::Grayscale) => bytes.as_chunks().0.iter().map(luma).collect(),
        }
    }
}

/// The luma of a pixel: weights of 16 bits, rounded, as in Pillow.
fn luma([red, green, blue]: &[u8; 3]) -> u8 {
    let sum = u32::from(*red) * 19595 + u32::from(*green) * 38470 + u32::from(*blue) * 7471;
    ((sum + 0x8000) >> 16) as u8
}

/// Red, green and blue of inks with 255 as full, as in Pillow.
fn rgb_of_inks([cyan, magenta, yellow, black]: [u8; 4]) -> [u8; 3] {
    let paper = u32::from(255 - black);
    [cyan, magenta, yellow].map(|ink| {
        let product = u32::from(ink) * paper + 128;
        paper.saturating_sub(((product >> 8) + product) >> 8) as u8
    })
}

/// The number of pixels of an image, if it is above 0 and not too large.
fn pixel_count(width: usize, height: usize) -> Result<usize, ImageFault> {
    let bytes = (width as u64).checked_mul(height as u64).and_then(|pixels| pixels.checked_mul(3));
    match bytes {
        Some(0) => Err(damaged("it has no pixels")),
        Some(bytes) if bytes <= MOST_BYTES => Ok(width * height),
        _ => Err(refused(format!("{height} rows of {width} pixels have more than {MOST_BYTES} bytes"))),
    }
}

/// A decoder of one format.
type DecodeStream = fn(&[u8]) -> Result<Picture, ImageFault>;

/// The first bytes of each format, with its decoder.
const FORMATS: &[(&[u8], DecodeStream)] = &[
    (b"BM", bmp::decode),
    (b"\xFF\xD8\xFF", jpeg::decode),
    (b"\xFF\x4F\xFF\x51", jpeg2000::decode),
    (b"\x00\x00\x00\x0CjP  \x0D\x0A\x87\x0A", jpeg2000::decode),
    (b"\x89PNG\x0D\x0A\x1A\x0A", png::decode),
    (b"II\x2A\x00", tiff::decode),
    (b"II\x2B\x00", tiff::decode),
    (b"MM\x00\x2A", tiff::decode),
    (b"MM\x00\x2B", tiff::decode),
    (b"RIFF", webp::decode),
    (b"P", pnm::decode),
];

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, ImageFault> {
    let format = FORMATS.iter().find(|(magic, _)| stream.starts_with(magic));
    let (_, decode) = format.ok_or_else(|| damaged("it begins like no format of images"))?;
    decode(stream)
}

#[cfg(test)]
#[path = "images/tests.rs"]
mod tests;
