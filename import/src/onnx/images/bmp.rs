//! Decoder of Windows bitmaps.
//!
//! It supports bitmaps without compression, of 1, 4 or 8 bits with a palette and of 16, 24 or 32 bits with
//! the usual masks. Run lengths, or a JPEG or PNG inside, are refused.

use super::{ImageFault, Picture, Pixels, cut_short, damaged, pixel_count, refused};

/// The bytes before the header that gives its own length.
const FILE_HEADER: usize = 14;

/// The fields of a header.
struct Bitmap<'s> {
    stream: &'s [u8],
    header_bytes: usize,
    width: usize,
    height: usize,
    is_top_down: bool,
    bits: usize,
    /// None, run lengths of bytes or nibbles, masks, JPEG, PNG.
    compression: u32,
    /// Colours of the palette, each in 3 or 4 bytes.
    colours: usize,
    colour_bytes: usize,
}

fn u16_at(bytes: &[u8], at: usize) -> Result<usize, ImageFault> {
    let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or_else(cut_short)?;
    Ok(u16::from_le_bytes(*bytes).into())
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, ImageFault> {
    let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or_else(cut_short)?;
    Ok(u32::from_le_bytes(*bytes))
}

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, ImageFault> {
    let bitmap = Bitmap::read(stream)?;
    pixel_count(bitmap.width, bitmap.height)?;
    match (bitmap.compression, bitmap.bits) {
        (0, 1 | 4 | 8) => bitmap.indexed(),
        (0, 16) => bitmap.masked(&FIVE_BITS),
        (0, 24 | 32) => bitmap.masked(&BGR),
        (3, 16 | 24 | 32) => bitmap.masked(bitmap.masks()?),
        (3, _) => Err(damaged("a bitmap of masks with a palette")),
        (0, _) => Err(damaged("a bitmap of another number of bits")),
        _ => Err(refused("a compressed bitmap")),
    }
}

impl Bitmap<'_> {
    fn read(stream: &[u8]) -> Result<Bitmap<'_>, ImageFault> {
        let header_bytes = u32_at(stream, FILE_HEADER)? as usize;
        let header = stream.get(FILE_HEADER..).and_then(|rest| rest.get(..header_bytes));
        let header = header.ok_or_else(cut_short)?;
        if header_bytes == 12 {
            let bits = u16_at(header, 10)?;
            return Ok(Bitmap {
                stream,
                header_bytes,
                width: u16_at(header, 4)?,
                height: u16_at(header, 6)?,
                is_top_down: false,
                bits,
                compression: 0,
                colours: 1 << bits.min(16),
                colour_bytes: 3,
            });
        }
        if !matches!(header_bytes, 40 | 52 | 56 | 64 | 108 | 124) {
            return Err(damaged("a bitmap with a header of unknown length"));
        }
        let height = u32_at(header, 8)?;
        // Pillow tests only the highest byte of a height for its sign.
        let is_top_down = height >> 24 == 0xFF;
        let bits = u16_at(header, 14)?;
        let colours = match u32_at(header, 32)? {
            0 => 1 << bits.min(16),
            colours => colours as usize,
        };
        Ok(Bitmap {
            stream,
            header_bytes,
            width: u32_at(header, 4)? as usize,
            height: (if is_top_down { height.wrapping_neg() } else { height }) as usize,
            is_top_down,
            bits,
            compression: u32_at(header, 16)?,
            colours,
            colour_bytes: 4,
        })
    }

    /// The rows of pixels, from top to bottom.
    fn rows(&self) -> Result<Vec<&[u8]>, ImageFault> {
        let palette_bytes = self.colours * self.colour_bytes;
        let begin = match u32_at(self.stream, 10)? as usize {
            0 => return Err(refused("a bitmap that does not say where its pixels begin")),
            begin if begin == FILE_HEADER + self.header_bytes && self.bits <= 8 => begin + palette_bytes,
            begin => begin,
        };
        let row_bytes = (self.width * self.bits).div_ceil(8);
        let stride = row_bytes.next_multiple_of(4);
        let row = |row: usize| {
            let rest = self.stream.get(begin + row * stride..).unwrap_or_default();
            rest.get(..row_bytes).ok_or_else(cut_short)
        };
        let mut rows = (0..self.height).map(row).collect::<Result<Vec<_>, ImageFault>>()?;
        if !self.is_top_down {
            rows.reverse();
        }
        Ok(rows)
    }

    /// Pixels that are indices into a palette.
    fn indexed(&self) -> Result<Picture, ImageFault> {
        if !(1..=65536).contains(&self.colours) {
            return Err(damaged("a palette without colours, or with too many"));
        }
        let palette = self.stream.get(FILE_HEADER + self.header_bytes..).unwrap_or_default();
        let palette = palette.get(..self.colours * self.colour_bytes).ok_or_else(cut_short)?;
        let colours: Vec<[u8; 3]> =
            palette.chunks(self.colour_bytes).map(|colour| [colour[2], colour[1], colour[0]]).collect();
        // Pillow ignores a palette of grays, and reads a byte for each pixel, or a bit.
        let step = if self.colours == 2 { 255 } else { 1 };
        let grays = colours.iter().enumerate();
        let is_gray =
            grays.into_iter().all(|(at, colour)| at * step < 256 && *colour == [(at * step) as u8; 3]);
        if is_gray && self.bits != if self.colours == 2 { 1 } else { 8 } {
            return Err(refused("a palette of grays that are not samples"));
        }
        let mask = (1 << self.bits) - 1;
        let mut pixels = Vec::with_capacity(3 * self.width * self.height);
        for row in self.rows()? {
            for at in 0..self.width {
                let bit = at * self.bits;
                let index = usize::from(row[bit / 8]) >> (8 - self.bits - bit % 8) & mask;
                let colour =
                    colours.get(index).ok_or_else(|| refused("a pixel that is not in its palette"))?;
                pixels.extend(colour);
            }
        }
        Ok(Picture { width: self.width, height: self.height, samples: Pixels::Rgb(pixels) })
    }

    /// The bit masks of a pixel's channels.
    fn masks(&self) -> Result<&'static [Channel; 3], ImageFault> {
        let at = FILE_HEADER + 40;
        let has_alpha = self.header_bytes >= 56;
        let mask = |index: usize| u32_at(self.stream, at + 4 * index);
        let masks = [mask(0)?, mask(1)?, mask(2)?];
        let alpha = if has_alpha { mask(3)? } else { 0 };
        Ok(match (self.bits, masks, alpha) {
            (16, [0xF800, 0x7E0, 0x1F], _) => &SIX_BITS,
            (16, [0x7C00, 0x3E0, 0x1F], _) => &FIVE_BITS,
            (24, [0xFF_0000, 0xFF00, 0xFF], _) => &BGR,
            (32, [0xFF_0000, 0xFF00, 0xFF], 0 | 0xFF00_0000) | (32, [0, 0, 0], 0) => &BGR,
            (32, [0xFF00_0000, 0xFF_0000, 0xFF00], 0 | 0xFF) => &XBGR,
            (32, [0xFF, 0xFF00, 0xFF_0000], 0xFF00_0000) => &RGB,
            _ => return Err(refused("a bitmap with unusual masks")),
        })
    }

    /// Decodes pixels that consist of channels.
    fn masked(&self, channels: &[Channel; 3]) -> Result<Picture, ImageFault> {
        let mut pixels = Vec::with_capacity(3 * self.width * self.height);
        for row in self.rows()? {
            for pixel in row.chunks(self.bits / 8) {
                let number = pixel.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
                pixels.extend(
                    channels.map(|Channel { shift, most }| ((number >> shift & most) * 255 / most) as u8),
                );
            }
        }
        Ok(Picture { width: self.width, height: self.height, samples: Pixels::Rgb(pixels) })
    }
}

/// The bits of a channel in a pixel, and its greatest number.
#[derive(Clone, Copy)]
struct Channel {
    shift: u32,
    most: u32,
}

const fn channels(shifts: [u32; 3], most: [u32; 3]) -> [Channel; 3] {
    [
        Channel { shift: shifts[0], most: most[0] },
        Channel { shift: shifts[1], most: most[1] },
        Channel { shift: shifts[2], most: most[2] },
    ]
}

static BGR: [Channel; 3] = channels([16, 8, 0], [255; 3]);
static RGB: [Channel; 3] = channels([0, 8, 16], [255; 3]);
static XBGR: [Channel; 3] = channels([24, 16, 8], [255; 3]);
static FIVE_BITS: [Channel; 3] = channels([10, 5, 0], [31; 3]);
static SIX_BITS: [Channel; 3] = channels([11, 5, 0], [31, 63, 31]);
