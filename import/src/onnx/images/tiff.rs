//! Which pixels the first image of a TIFF file holds.
//!
//! The crate `tiff` decodes strips and tiles, here samples become bytes. Decoded are unsigned samples of 8 bits,
//! gray, RGB or CMYK, and gray of 1, 2 or 4 bits, without compression or with LZW, deflate or PackBits. Others
//! are refused: a palette, 16 bits, an orientation (which Pillow applies), alpha that the colours are multiplied
//! by.

use std::io::Cursor;

use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;
use tiff::{TiffError, TiffResult};

use super::png::unpacked;
use super::{Fault, MOST_BYTES, Picture, Samples, damaged, pixel_count, refused, rgb_of_inks};

/// The tags that say what the samples are, with the numbers that are decoded; the first is the default.
const DECODED: &[(Tag, &[u64], &str)] = &[
    (Tag::Compression, &[1, 5, 8, 32946, 32773], "compression"),
    (Tag::SampleFormat, &[1], "sample format"),
    (Tag::FillOrder, &[1], "order of bits"),
    (Tag::Orientation, &[1], "orientation"),
    (Tag::PlanarConfiguration, &[1], "arrangement of samples in planes"),
    (Tag::ExtraSamples, &[2, 0], "alpha"),
    (Tag::Predictor, &[1, 2], "predictor"),
];

fn fault(error: TiffError) -> Fault {
    match error {
        TiffError::UnsupportedError(error) => refused(error.to_string()),
        TiffError::LimitsExceeded => refused("a TIFF that takes too much memory"),
        error => Fault::Damaged(error.to_string()),
    }
}

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, Fault> {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = MOST_BYTES as usize;
    limits.intermediate_buffer_size = MOST_BYTES as usize;
    limits.ifd_value_size = stream.len();
    let decoder = Decoder::new(Cursor::new(stream)).map_err(fault)?;
    let mut decoder = decoder.with_limits(limits);
    let (width, height) = decoder.dimensions().map_err(fault)?;
    let width = width as usize;
    let height = height as usize;
    pixel_count(width, height)?;
    for (tag, numbers, what) in DECODED {
        let found = numbers_of(&mut decoder, *tag).map_err(fault)?;
        if !found.iter().all(|number| numbers.contains(number)) {
            return Err(refused(format!("a TIFF whose {what} is {found:?}")));
        }
    }
    let photometric = numbers_of(&mut decoder, Tag::PhotometricInterpretation).map_err(fault)?;
    let bits = numbers_of(&mut decoder, Tag::BitsPerSample).map_err(fault)?;
    let channels = numbers_of(&mut decoder, Tag::SamplesPerPixel).map_err(fault)?;
    let extra = numbers_of(&mut decoder, Tag::ExtraSamples).map_err(fault)?;
    let channels = channels.first().map_or(1, |count| *count as usize);
    let bits = bits.first().map_or(1, |bits| *bits as usize);
    let colours = channels.checked_sub(extra.len());
    let layout = match (photometric.first(), colours, bits) {
        (Some(0 | 1), Some(1), 1 | 2 | 4) if extra.is_empty() => Layout::Gray,
        (Some(0), Some(1), 8) if extra.is_empty() => Layout::Gray,
        (Some(1), Some(1), 8) => Layout::Gray,
        (Some(2), Some(3), 8) => Layout::Rgb,
        (Some(5), Some(4), 8) => Layout::Cmyk,
        _ => {
            let what =
                format!("photometric interpretation {photometric:?}, {channels} samples of {bits} bits");
            return Err(refused(format!("a TIFF of {what}")));
        }
    };
    let DecodingResult::U8(rows) = decoder.read_image().map_err(fault)? else {
        return Err(refused("a TIFF of other samples than bytes"));
    };
    let stride = (width * channels * bits).div_ceil(8);
    if rows.len() != stride * height {
        return Err(damaged("it has not as many bytes as its samples take"));
    }
    let pixels = rows.chunks(channels);
    let samples = match layout {
        Layout::Rgb => Samples::Rgb(pixels.flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()),
        Layout::Cmyk => Samples::Rgb(pixels.flat_map(|p| rgb_of_inks([p[0], p[1], p[2], p[3]])).collect()),
        Layout::Gray if channels > 1 => Samples::Gray(pixels.map(|pixel| pixel[0]).collect()),
        Layout::Gray => {
            let step = (255 / ((1_u16 << bits) - 1)) as u8;
            Samples::Gray(unpacked(&rows, stride, width, bits).map(|sample| sample * step).collect())
        }
    };
    Ok(Picture { width, height, samples })
}

/// What samples are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Gray,
    Rgb,
    Cmyk,
}

/// The numbers of a tag; none if it is not there.
fn numbers_of(decoder: &mut Decoder<Cursor<&[u8]>>, tag: Tag) -> TiffResult<Vec<u64>> {
    Ok(decoder.find_tag_unsigned_vec(tag)?.unwrap_or_default())
}
