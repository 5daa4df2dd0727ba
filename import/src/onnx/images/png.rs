//! Decoder of PNG files.
//!
//! The crate `png` decodes them; here samples become bytes. Of 16-bit samples the high byte is used, but gray
//! alone is refused, since Pillow clamps it at 255. Animations are refused.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};

use super::{ImageFault, MOST_BYTES, Picture, Pixels, damaged, pixel_count, refused};

/// The greatest expansion of a byte of a deflated stream, rounded up.
const MOST_INFLATION: usize = 1040;

fn fault(error: DecodingError) -> ImageFault {
    match error {
        DecodingError::LimitsExceeded => refused("a PNG that takes too much memory"),
        error => ImageFault::Damaged(error.to_string()),
    }
}

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, ImageFault> {
    let limits = Limits { bytes: MOST_BYTES as usize };
    let mut decoder = Decoder::new_with_limits(Cursor::new(stream), limits);
    decoder.set_transformations(Transformations::IDENTITY);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(fault)?;
    let info = reader.info();
    let width = info.width as usize;
    let height = info.height as usize;
    let depth = info.bit_depth;
    let colour = info.color_type;
    pixel_count(width, height)?;
    if info.animation_control.is_some() {
        return Err(refused("an animated PNG"));
    }
    if depth == BitDepth::Sixteen && colour == ColorType::Grayscale {
        return Err(refused("gray samples of 16 bits"));
    }
    let palette = info.palette.as_deref().unwrap_or_default().to_vec();
    let bytes = reader.output_buffer_size().ok_or_else(|| damaged("it is too large"))?;
    if bytes / MOST_INFLATION > stream.len() {
        return Err(damaged("it is too short for its pixels"));
    }
    let mut rows = vec![0; bytes];
    reader.next_frame(&mut rows).map_err(fault)?;
    let stride = bytes / height;
    let samples = match colour {
        ColorType::Grayscale => Pixels::Gray(narrow(&rows, stride, width, depth, gray_step(depth))),
        ColorType::Indexed => {
            Pixels::Rgb(coloured(&narrow(&rows, stride, width, depth, 1), palette.as_chunks().0)?)
        }
        ColorType::GrayscaleAlpha => Pixels::Gray(rows.chunks(2 * width_of(depth)).map(|p| p[0]).collect()),
        ColorType::Rgb | ColorType::Rgba => {
            let channels = if colour == ColorType::Rgb { 3 } else { 4 };
            let width = width_of(depth);
            let pixels = rows.chunks(channels * width);
            Pixels::Rgb(pixels.flat_map(|pixel| [pixel[0], pixel[width], pixel[2 * width]]).collect())
        }
    };
    Ok(Picture { width, height, samples })
}

/// Bytes of a sample that has 8 bits or more.
fn width_of(depth: BitDepth) -> usize {
    if depth == BitDepth::Sixteen { 2 } else { 1 }
}

/// The factor that scales a gray sample to 0 to 255.
fn gray_step(depth: BitDepth) -> u8 {
    match depth {
        BitDepth::One => 255,
        BitDepth::Two => 85,
        BitDepth::Four => 17,
        BitDepth::Eight | BitDepth::Sixteen => 1,
    }
}

/// Samples of at most 8 bits, times a factor.
fn narrow(rows: &[u8], stride: usize, width: usize, depth: BitDepth, step: u8) -> Vec<u8> {
    unpacked(rows, stride, width, depth as usize).map(|sample| sample * step).collect()
}

/// The numbers of at most 8 bits in rows of bytes, from the highest bits of each byte.
pub(super) fn unpacked(rows: &[u8], stride: usize, width: usize, bits: usize) -> impl Iterator<Item = u8> {
    let mask = ((1_u16 << bits) - 1) as u8;
    let sample = move |row: &[u8], at: usize| row[at * bits / 8] >> (8 - bits - at * bits % 8) & mask;
    rows.chunks(stride).flat_map(move |row| (0..width).map(move |at| sample(row, at)))
}

/// The colours of pixels in a palette.
fn coloured(indices: &[u8], palette: &[[u8; 3]]) -> Result<Vec<u8>, ImageFault> {
    let mut pixels = Vec::with_capacity(3 * indices.len());
    for index in indices {
        let colour = palette.get(usize::from(*index));
        pixels.extend(colour.ok_or_else(|| refused("a pixel that is not in its palette"))?);
    }
    Ok(pixels)
}
