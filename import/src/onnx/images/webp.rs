//! Decoder of WebP files.
//!
//! The crate `image-webp` decodes them, with libwebp's interpolation of colour differences in lossy streams.
//! Animations are refused.

use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};

use super::{ImageFault, MOST_BYTES, Picture, Pixels, cut_short, damaged, pixel_count, refused};

fn fault(error: DecodingError) -> ImageFault {
    match error {
        DecodingError::MemoryLimitExceeded => refused("a WebP that takes too much memory"),
        error => ImageFault::Damaged(error.to_string()),
    }
}

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, ImageFault> {
    check_chunks(stream)?;
    let mut decoder = WebPDecoder::new(Cursor::new(stream)).map_err(fault)?;
    decoder.set_memory_limit(MOST_BYTES as usize);
    let (width, height) = decoder.dimensions();
    let width = width as usize;
    let height = height as usize;
    let count = pixel_count(width, height)?;
    if decoder.is_animated() {
        return Err(refused("an animated WebP"));
    }
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    let mut bytes = vec![0; channels * count];
    decoder.read_image(&mut bytes).map_err(fault)?;
    if channels == 4 {
        bytes =
            bytes.as_chunks::<4>().0.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
    }
    Ok(Picture { width, height, samples: Pixels::Rgb(bytes) })
}

/// Checks that a file and its chunks have their declared lengths: missing bytes would count as zeros.
fn check_chunks(stream: &[u8]) -> Result<(), ImageFault> {
    let (header, rest) = stream.split_first_chunk::<12>().ok_or_else(cut_short)?;
    if &header[8..] != b"WEBP" {
        return Err(damaged("it begins like no format of images"));
    }
    let bytes = length(&header[4..])?.checked_sub(4).ok_or_else(cut_short)?;
    let mut rest = rest.get(..bytes).ok_or_else(cut_short)?;
    while let Some((header, after)) = rest.split_first_chunk::<8>() {
        let bytes = length(&header[4..])?;
        let chunk = after.get(..bytes).ok_or_else(cut_short)?;
        if header.starts_with(b"VP8 ") {
            check_frame(chunk)?;
        }
        rest = after.get(bytes.next_multiple_of(2)..).unwrap_or_default();
    }
    Ok(())
}

fn length(bytes: &[u8]) -> Result<usize, ImageFault> {
    let bytes = bytes.first_chunk().ok_or_else(cut_short)?;
    Ok(u32::from_le_bytes(*bytes) as usize)
}

/// Checks the first bytes of a lossy frame (RFC 6386, 9.1): a key frame that is shown, of versions 0 to 3,
/// and the length of its first partition.
fn check_frame(chunk: &[u8]) -> Result<(), ImageFault> {
    let [low, middle, high] = *chunk.first_chunk().ok_or_else(cut_short)?;
    let tag = u32::from_le_bytes([low, middle, high, 0]);
    if tag & 1 != 0 || tag >> 1 & 7 > 3 || tag >> 4 & 1 == 0 {
        return Err(damaged("a frame that is not shown, or needs others"));
    }
    if (tag >> 5) as usize >= chunk.len() { Err(cut_short()) } else { Ok(()) }
}
