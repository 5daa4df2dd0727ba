//! Decoder of the first image of a TIFF file.
//!
//! The crate `tiff` decodes strips and tiles; here samples become bytes. It supports unsigned samples of 8
//! bits, gray, RGB or CMYK, and gray of 1, 2 or 4 bits, without compression or with LZW, deflate or PackBits.
//! Other formats are refused: a palette, 16 bits, an orientation (which Pillow applies), colours
//! premultiplied by alpha.

use std::collections::BTreeSet;
use std::io::Cursor;

use tiff::TiffError;
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;

use super::png::unpacked;
use super::{ImageFault, MOST_BYTES, Picture, Pixels, damaged, pixel_count, refused, rgb_of_inks};

/// The tags that describe the samples, with the supported numbers; the first is the default.
const DECODED: &[(Tag, &[u64], &str)] = &[
    (Tag::Compression, &[1, 5, 8, 32946, 32773], "compression"),
    (Tag::SampleFormat, &[1], "sample format"),
    (Tag::FillOrder, &[1], "order of bits"),
    (Tag::Orientation, &[1], "orientation"),
    (Tag::PlanarConfiguration, &[1], "arrangement of samples in planes"),
    (Tag::ExtraSamples, &[2, 0], "alpha"),
    (Tag::Predictor, &[1, 2], "predictor"),
];

fn fault(error: TiffError) -> ImageFault {
    match error {
        TiffError::UnsupportedError(error) => refused(error.to_string()),
        TiffError::LimitsExceeded => refused("a TIFF that takes too much memory"),
        error => ImageFault::Damaged(error.to_string()),
    }
}

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, ImageFault> {
    check_tags(stream)?;
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
    check_is_decoded(&mut decoder)?;
    let TiffLayout { colours, channels, bits } = TiffLayout::read(&mut decoder)?;
    let DecodingResult::U8(rows) = decoder.read_image().map_err(fault)? else {
        return Err(refused("a TIFF of other samples than bytes"));
    };
    let stride = (width * channels * bits).div_ceil(8);
    if rows.len() != stride * height {
        return Err(damaged("it has not as many bytes as its samples take"));
    }
    let pixels = rows.chunks(channels);
    let samples = match colours {
        TiffColours::Rgb => Pixels::Rgb(pixels.flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()),
        TiffColours::Cmyk => {
            Pixels::Rgb(pixels.flat_map(|p| rgb_of_inks([p[0], p[1], p[2], p[3]])).collect())
        }
        TiffColours::Gray if channels > 1 => Pixels::Gray(pixels.map(|pixel| pixel[0]).collect()),
        TiffColours::Gray => {
            let step = (255 / ((1_u16 << bits) - 1)) as u8;
            Pixels::Gray(unpacked(&rows, stride, width, bits).map(|sample| sample * step).collect())
        }
    };
    Ok(Picture { width, height, samples })
}

/// Refuses unsupported formats, apart from the layout of the samples.
fn check_is_decoded(decoder: &mut Decoder<Cursor<&[u8]>>) -> Result<(), ImageFault> {
    for (tag, numbers, what) in DECODED {
        let found = numbers_of(decoder, *tag)?;
        if !found.iter().all(|number| numbers.contains(number)) {
            return Err(refused(format!("a TIFF whose {what} is {found:?}")));
        }
    }
    let has_predictor = numbers_of(decoder, Tag::Predictor)?.contains(&2);
    let compression = numbers_of(decoder, Tag::Compression)?;
    if has_predictor && !compression.iter().any(|number| [5, 8, 32946].contains(number)) {
        return Err(refused("a TIFF with a predictor, but without a compression that has one"));
    }
    Ok(())
}

/// The colour space of the first samples of a pixel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TiffColours {
    Gray,
    Rgb,
    Cmyk,
}

/// The samples of a pixel: their number, including extra ones after the colours, and the bits of each.
struct TiffLayout {
    colours: TiffColours,
    channels: usize,
    bits: usize,
}

impl TiffLayout {
    fn read(decoder: &mut Decoder<Cursor<&[u8]>>) -> Result<TiffLayout, ImageFault> {
        let photometric = numbers_of(decoder, Tag::PhotometricInterpretation)?;
        let extra = numbers_of(decoder, Tag::ExtraSamples)?.len();
        let bits = numbers_of(decoder, Tag::BitsPerSample)?.first().map_or(1, |bits| *bits as usize);
        let channels = numbers_of(decoder, Tag::SamplesPerPixel)?.first().map_or(1, |count| *count as usize);
        let colours = match (photometric.first(), channels.checked_sub(extra), extra, bits) {
            (Some(0 | 1), Some(1), 0, 1 | 2 | 4 | 8) | (Some(1), Some(1), _, 8) => TiffColours::Gray,
            (Some(2), Some(3), _, 8) => TiffColours::Rgb,
            (Some(5), Some(4), _, 8) => TiffColours::Cmyk,
            _ => {
                let samples = format!("{channels} samples of {bits} bits");
                return Err(refused(format!(
                    "a TIFF of photometric interpretation {photometric:?}, {samples}"
                )));
            }
        };
        Ok(TiffLayout { colours, channels, bits })
    }
}

/// The numbers of a tag; none if it is not there.
fn numbers_of(decoder: &mut Decoder<Cursor<&[u8]>>, tag: Tag) -> Result<Vec<u64>, ImageFault> {
    Ok(decoder.find_tag_unsigned_vec(tag).map_err(fault)?.unwrap_or_default())
}

/// Refuses a first image that has a tag twice, since decoders differ in their choice. A faulty offset of the
/// tags is left to the crate.
fn check_tags(stream: &[u8]) -> Result<(), ImageFault> {
    let is_big_endian = stream.starts_with(b"M");
    let number = |at: usize, width: usize| {
        let bytes = stream.get(at..)?.get(..width)?;
        let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let number =
            if is_big_endian { bytes.iter().fold(0, append) } else { bytes.iter().rev().fold(0, append) };
        usize::try_from(number).ok()
    };
    let is_big = number(2, 2) == Some(43);
    let place = if is_big { number(8, 8) } else { number(4, 4) };
    let count_bytes = if is_big { 8 } else { 2 };
    let tag_bytes = if is_big { 20 } else { 12 };
    let Some(begin) = place.filter(|begin| *begin < stream.len()) else { return Ok(()) };
    let count = number(begin, count_bytes).unwrap_or(0).min(stream.len() / tag_bytes);
    let tags = (0..count).map_while(|tag| number(begin + count_bytes + tag * tag_bytes, 2));
    let mut seen = BTreeSet::new();
    for tag in tags {
        if !seen.insert(tag) {
            return Err(refused(format!("a TIFF with the tag {tag} twice")));
        }
    }
    Ok(())
}
