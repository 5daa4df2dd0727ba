//! Decoder of JPEG 2000 files and codestreams.
//!
//! The crate `hayro-jpeg2000` decodes the reversible part of the format: the 5/3 transform of samples of 8
//! bits without quantization, for which all decoders use the same integers. Irreversible coding (the 9/7
//! transform, quantization) is refused. So are samples of other sizes, palettes, profiles, regions of
//! interest, changes of the progression, packed headers, and other styles of code blocks. To check this, the
//! headers are read here before anything is decoded.
//! anything is decoded.

use hayro_jpeg2000::{DecodeError, DecodeSettings, DecoderContext, Image};

use super::{ImageFault, Picture, Pixels, cut_short, damaged, pixel_count, refused};

/// The greatest number of samples of all components: each takes more memory here than in other decoders.
const MOST_SAMPLES: usize = 1 << 25;

fn fault(error: DecodeError) -> ImageFault {
    ImageFault::Damaged(error.to_string())
}

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, ImageFault> {
    let is_codestream = stream.starts_with(b"\xFF\x4F");
    let File { codestream, size } =
        if is_codestream { File { codestream: stream, size: None } } else { File::read(stream)? };
    let found = check_codestream(codestream)?;
    if size.is_some_and(|size| size != found) {
        return Err(damaged("a file of other sizes than its codestream"));
    }
    let components = usize::from(found.components);
    let settings = DecodeSettings { strict: true, ..DecodeSettings::default() };
    let image = Image::new(codestream, &settings).map_err(fault)?;
    let width = image.width() as usize;
    let height = image.height() as usize;
    let mut context = DecoderContext::default();
    let decoded = image.decode(&mut context).map_err(fault)?;
    let channels: Vec<&[f32]> = decoded.components().iter().map(|component| component.samples()).collect();
    let pixels = width * height;
    if channels.len() != components || channels.iter().any(|channel| channel.len() != pixels) {
        return Err(damaged("a component has other sizes than the image"));
    }
    let sample = |channel: usize, at: usize| channels[channel][at].clamp(0.0, 255.0) as u8;
    let samples = match components {
        1 | 2 => Pixels::Gray((0..pixels).map(|at| sample(0, at)).collect()),
        _ => Pixels::Rgb((0..3 * pixels).map(|at| sample(at % 3, at / 3)).collect()),
    };
    Ok(Picture { width, height, samples })
}

/// A box of a file: its type and content.
struct FileBox<'s> {
    kind: [u8; 4],
    content: &'s [u8],
}

/// The rest of the input, big-endian.
struct BoxReader<'s> {
    rest: &'s [u8],
}

impl<'s> BoxReader<'s> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], ImageFault> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn u8(&mut self) -> Result<u8, ImageFault> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, ImageFault> {
        self.take().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, ImageFault> {
        self.take().map(u32::from_be_bytes)
    }

    fn bytes(&mut self, count: usize) -> Result<&'s [u8], ImageFault> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next box of a file. A length of 0 extends to the end.
    fn next_box(&mut self) -> Result<Option<FileBox<'s>>, ImageFault> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let length = self.u32()?;
        let kind = self.take()?;
        let content = match length {
            0 => self.rest.len(),
            1 => {
                let length = usize::try_from(u64::from_be_bytes(self.take()?)).unwrap_or(usize::MAX);
                length.checked_sub(16).ok_or_else(|| damaged("a box without its header"))?
            }
            length => (length as usize).checked_sub(8).ok_or_else(|| damaged("a box without its header"))?,
        };
        Ok(Some(FileBox { kind, content: self.bytes(content)? }))
    }
}

/// The sizes in a file or codestream.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ImageSize {
    height: u32,
    width: u32,
    components: u16,
}

/// A codestream: its size, its bytes, and its required tiles.
struct Stream {
    size: ImageSize,
    bytes: usize,
    tiles: usize,
}

/// A file whose boxes declare only gray or sRGB.
struct File<'s> {
    codestream: &'s [u8],
    size: Option<ImageSize>,
}

impl File<'_> {
    fn read(stream: &[u8]) -> Result<File<'_>, ImageFault> {
        let mut reader = BoxReader { rest: stream };
        let mut size = None;
        while let Some(FileBox { kind, content }) = reader.next_box()? {
            match &kind {
                b"jp2h" => size = Some(read_header(content)?),
                b"jp2c" if size.is_some() => return Ok(File { codestream: content, size }),
                b"jp2c" => return Err(damaged("its header comes after its codestream")),
                _ => {}
            }
        }
        Err(damaged("it has no codestream"))
    }
}

fn read_header(header: &[u8]) -> Result<ImageSize, ImageFault> {
    let mut reader = BoxReader { rest: header };
    let mut size = None;
    while let Some(FileBox { kind, content }) = reader.next_box()? {
        let mut content = BoxReader { rest: content };
        match &kind {
            b"ihdr" => {
                let [height, width] = [content.u32()?, content.u32()?];
                size = Some(ImageSize { height, width, components: content.u16()? });
            }
            b"colr" => {
                let [method, _, _] = content.take()?;
                if method != 1 || !matches!(content.u32()?, 16 | 17) {
                    return Err(refused("a JPEG 2000 of other colours than gray and sRGB"));
                }
            }
            b"cdef" => check_channels(content)?,
            b"bpcc" | b"res " => {}
            _ => return Err(refused("a JPEG 2000 with a palette or unknown boxes")),
        }
    }
    size.ok_or_else(|| damaged("its header does not say its size"))
}

/// Checks that components are colours in their order, and alpha after them.
fn check_channels(mut content: BoxReader<'_>) -> Result<(), ImageFault> {
    for index in 0..content.u16()? {
        let [channel, kind, colour] = [content.u16()?, content.u16()?, content.u16()?];
        let is_colour = kind == 0 && colour == index + 1;
        let is_alpha = matches!(kind, 1 | 2) && colour == 0;
        if channel != index || !(is_colour || is_alpha) {
            return Err(refused("a JPEG 2000 of channels in another order"));
        }
    }
    Ok(())
}

/// Checks that a codestream is supported.
fn check_codestream(codestream: &[u8]) -> Result<ImageSize, ImageFault> {
    let mut reader = BoxReader { rest: codestream };
    if reader.u32()? != 0xFF4F_FF51 {
        return Err(damaged("a codestream without its beginning"));
    }
    let stream = read_sizes(&mut reader, codestream.len())?;
    let mut is_there = vec![false; stream.tiles];
    loop {
        match reader.u16()? {
            0xFF90 => {
                let tile = check_tile_part(&mut reader, &stream)?;
                *is_there.get_mut(tile).ok_or_else(|| damaged("it has more tiles than there are"))? = true;
            }
            0xFFD9 if is_there.contains(&false) => return Err(damaged("a tile is missing")),
            0xFFD9 => return Ok(stream.size),
            marker => check_segment(&mut reader, marker, &stream)?,
        }
    }
}

/// Reads the sizes of image, tiles and components of a codestream of this number of `bytes`, and counts its
/// tiles.
fn read_sizes(reader: &mut BoxReader<'_>, bytes: usize) -> Result<Stream, ImageFault> {
    let [length, _] = [reader.u16()?, reader.u16()?];
    let mut numbers = [0; 8];
    for number in &mut numbers {
        *number = reader.u32()?;
    }
    let [right, bottom, left, top, tile_width, tile_height, tile_left, tile_top] = numbers;
    let components = reader.u16()?;
    let size = |begin: u32, end: u32| end.checked_sub(begin).ok_or_else(|| damaged("it has no pixels"));
    let pixels = pixel_count(size(left, right)? as usize, size(top, bottom)? as usize)?;
    if !matches!(components, 1..=4) || length != 38 + 3 * components {
        return Err(damaged("it has not 1 to 4 components"));
    }
    if pixels * usize::from(components) > MOST_SAMPLES {
        return Err(refused(format!("a JPEG 2000 of more than {MOST_SAMPLES} samples")));
    }
    if (left, top, tile_left, tile_top) != (0, 0, 0, 0) {
        return Err(refused("a JPEG 2000 whose image or tiles do not begin at 0"));
    }
    if tile_width == 0 || tile_height == 0 {
        return Err(damaged("it has tiles without pixels"));
    }
    // Each tile has a header.
    let tiles = u64::from(right.div_ceil(tile_width)) * u64::from(bottom.div_ceil(tile_height));
    if tiles * 14 > bytes as u64 {
        return Err(cut_short());
    }
    for _ in 0..components {
        if reader.take()? != [7, 1, 1] {
            return Err(refused("a JPEG 2000 of other samples than one of 8 bits for each pixel"));
        }
    }
    Ok(Stream { size: ImageSize { height: bottom, width: right, components }, bytes, tiles: tiles as usize })
}

/// Reads a part of a tile up to its end, and returns the index of the tile.
fn check_tile_part(reader: &mut BoxReader<'_>, stream: &Stream) -> Result<usize, ImageFault> {
    let begin = reader.rest.len() + 2;
    reader.u16()?;
    let tile = usize::from(reader.u16()?);
    let length = reader.u32()? as usize;
    reader.take::<2>()?;
    loop {
        match reader.u16()? {
            0xFF93 => break,
            marker => check_segment(reader, marker, stream)?,
        }
    }
    let read = begin - reader.rest.len();
    let left = match length {
        // It is the last one, which extends to the end of the codestream.
        0 => reader.rest.len().checked_sub(2).ok_or_else(cut_short)?,
        length => length.checked_sub(read).ok_or_else(|| damaged("a part of a tile without its header"))?,
    };
    reader.bytes(left)?;
    Ok(tile)
}

/// Reads a segment of a header.
fn check_segment(reader: &mut BoxReader<'_>, marker: u16, stream: &Stream) -> Result<(), ImageFault> {
    let length = usize::from(reader.u16()?);
    let content =
        reader.bytes(length.checked_sub(2).ok_or_else(|| damaged("a segment without its length"))?)?;
    let mut content = BoxReader { rest: content };
    match marker {
        // COD
        0xFF52 => {
            let style = content.u8()?;
            content.take::<4>()?;
            check_style(content, style, stream)
        }
        // COC, of a component with a number of one byte.
        0xFF53 => {
            let [_, style] = content.take()?;
            check_style(content, style, stream)
        }
        // QCD
        0xFF5C => check_quantization(content.u8()?),
        // QCC
        0xFF5D => check_quantization(content.take::<2>()?[1]),
        // TLM, PLM, PLT, CRG, COM
        0xFF55 | 0xFF57 | 0xFF58 | 0xFF63 | 0xFF64 => Ok(()),
        // CAP, RGN, POC, PPM, PPT
        0xFF50 | 0xFF5E | 0xFF5F | 0xFF60 | 0xFF61 => {
            Err(refused("a JPEG 2000 with regions, packed headers, or changes of the progression"))
        }
        _ => Err(damaged("a segment of unknown kind")),
    }
}

fn check_style(mut style: BoxReader<'_>, precincts: u8, stream: &Stream) -> Result<(), ImageFault> {
    let [levels, width, height, blocks, transform] = style.take()?;
    if levels > 32 || width > 8 || height > 8 || width + height > 8 {
        return Err(damaged("code blocks of a size that there is not"));
    }
    if transform != 1 {
        return Err(refused("a lossy JPEG 2000: decoders differ in what they compute"));
    }
    if blocks != 0 {
        return Err(refused("a JPEG 2000 of an unusual style of code blocks"));
    }
    if precincts & 1 == 0 {
        return Ok(());
    }
    // Each precinct has a packet of a byte or more.
    let mut count = 0_u64;
    for (edges, level) in style.bytes(usize::from(levels) + 1)?.iter().zip((0..=levels).rev()) {
        let along = |size: u32, edge: u8| u64::from(size).div_ceil(1 << (level + edge).min(62));
        count += along(stream.size.width, edges & 15) * along(stream.size.height, edges >> 4);
    }
    if count > stream.bytes as u64 { Err(cut_short()) } else { Ok(()) }
}

fn check_quantization(style: u8) -> Result<(), ImageFault> {
    if style & 31 == 0 { Ok(()) } else { Err(refused("a quantized JPEG 2000")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_precinct_takes_a_byte() {
        let check = |[height, width]: [u32; 2], edges: &[u8], bytes: usize| {
            let levels = edges.len() as u8 - 1;
            let style = [&[levels, 4, 4, 0, 1], edges].concat();
            let size = ImageSize { height, width, components: 1 };
            check_style(BoxReader { rest: &style }, 1, &Stream { size, bytes, tiles: 1 })
        };
        // Of 2 columns and 4 rows: 5 x 2 precincts; at half the size, of one pixel each, 5 x 4 more.
        for (edges, least) in [(&[0x21][..], 10), (&[0x00, 0x21], 30), (&[0xFF], 1)] {
            assert!(check([8, 10], edges, least).is_ok(), "{edges:x?}");
            let fault = check([8, 10], edges, least - 1).expect_err("a byte is missing");
            assert_eq!(fault.to_string(), cut_short().to_string(), "{edges:x?}");
        }
    }

    #[test]
    fn a_box_is_as_long_as_its_header_at_least() {
        let content = |length: u32, long: &[u8]| {
            let rest = [&length.to_be_bytes()[..], b"kind", long, &[7; 20]].concat();
            let mut reader = BoxReader { rest: &rest };
            reader
                .next_box()
                .map(|found| found.expect("there is one").content.len())
                .map_err(|fault| fault.to_string())
        };
        let headless = Err(damaged("a box without its header").to_string());
        assert_eq!([content(0, &[]), content(8, &[]), content(11, &[])], [Ok(20), Ok(0), Ok(3)]);
        assert_eq!(content(7, &[]), headless);
        assert_eq!([16u64, 18].map(|length| content(1, &length.to_be_bytes())), [Ok(0), Ok(2)]);
        assert_eq!(content(1, &15u64.to_be_bytes()), headless);
        assert_eq!(content(1, &u64::MAX.to_be_bytes()), Err(cut_short().to_string()));
    }
}
