//! The segments of a JPEG stream: tables, restart intervals, and the meaning of components.

use super::frame::Coding;
use super::huffman::HuffmanTable;
use crate::onnx::images::{ImageFault, cut_short, damaged, refused};

/// The index in a block of each coefficient in the order of the stream (T.81, figure 5).
pub(super) const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// The second byte of the first marker from a position on, and the position after it. Bytes before the marker
/// are skipped.
pub(super) fn next_marker(stream: &[u8], at: usize) -> Result<(u8, usize), ImageFault> {
    let rest = stream.get(at..).unwrap_or_default();
    let found = rest.windows(2).position(|pair| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xFF));
    let found = found.ok_or_else(cut_short)?;
    Ok((rest[found + 1], at + found + 2))
}

/// The greatest number of bits of a difference of DC coefficients.
const MOST_DC_BITS: u8 = 15;

/// The kind of a marker.
pub(super) enum Marker {
    StartOfFrame(Coding),
    StartOfScan,
    EndOfImage,
    /// A restart where none is expected; it is ignored.
    Restart,
    /// Another segment, by its second byte.
    Segment(u8),
}

/// The declarations about the colours of the components.
#[derive(Clone, Copy, Default)]
pub(super) struct ColourMarks {
    pub(super) has_jfif: bool,
    /// The transform of Adobe's segment.
    pub(super) adobe: Option<u8>,
}

/// Divisors of the coefficients of a block, by their index in it.
pub(super) type Quantization = [u16; 64];

/// A stream, and the content of its segments so far.
pub(super) struct SegmentReader<'s> {
    pub(super) stream: &'s [u8],
    /// The position of the next byte.
    pub(super) at: usize,
    pub(super) quantizations: [Option<Quantization>; 4],
    pub(super) dc_tables: [Option<HuffmanTable>; 4],
    pub(super) ac_tables: [Option<HuffmanTable>; 4],
    /// The number of units between restarts; 0 if there are none.
    pub(super) restart_interval: usize,
    colours: ColourMarks,
}

impl<'s> SegmentReader<'s> {
    /// A decoder after the first marker of a stream.
    pub(super) fn new(stream: &'s [u8]) -> SegmentReader<'s> {
        SegmentReader {
            stream,
            at: 2,
            quantizations: [None; 4],
            dc_tables: [const { None }; 4],
            ac_tables: [const { None }; 4],
            restart_interval: 0,
            colours: ColourMarks::default(),
        }
    }

    pub(super) fn colours(&self) -> ColourMarks {
        self.colours
    }

    pub(super) fn marker(&mut self) -> Result<Marker, ImageFault> {
        let (second, after) = next_marker(self.stream, self.at)?;
        self.at = after;
        Ok(match second {
            0xC0 | 0xC1 => Marker::StartOfFrame(Coding::Sequential),
            0xC2 => Marker::StartOfFrame(Coding::Progressive),
            0xC3 | 0xC5..=0xC7 | 0xCD..=0xCF => {
                return Err(refused("a lossless or hierarchical frame of JPEG"));
            }
            0xC9..=0xCB => return Err(refused("arithmetic coding of JPEG")),
            0xD0..=0xD7 | 0x01 => Marker::Restart,
            0xD8 => return Err(damaged("an image begins within another")),
            0xD9 => Marker::EndOfImage,
            0xDA => Marker::StartOfScan,
            kind => Marker::Segment(kind),
        })
    }

    /// The bytes of the segment that begins here, without its length.
    pub(super) fn segment(&mut self) -> Result<&'s [u8], ImageFault> {
        let rest = self.stream.get(self.at..).unwrap_or_default();
        let [high, low, ..] = *rest else { return Err(cut_short()) };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length < 2 {
            return Err(damaged("a segment has less than its length"));
        }
        let segment = rest.get(2..length).ok_or_else(cut_short)?;
        self.at += length;
        Ok(segment)
    }

    /// Reads a segment that is neither of a frame nor of a scan.
    pub(super) fn read_segment(&mut self, kind: u8) -> Result<(), ImageFault> {
        let segment = self.segment()?;
        match kind {
            0xC4 => self.read_huffman_tables(segment),
            0xDB => self.read_quantizations(segment),
            0xDD => match *segment {
                [high, low] => {
                    self.restart_interval = usize::from(u16::from_be_bytes([high, low]));
                    Ok(())
                }
                _ => Err(damaged("an interval of restarts has not two bytes")),
            },
            0xE0 => {
                self.colours.has_jfif |= segment.len() >= 14 && segment.starts_with(b"JFIF\0");
                Ok(())
            }
            0xEE => {
                if segment.len() >= 12 && segment.starts_with(b"Adobe") {
                    self.colours.adobe = Some(segment[11]);
                }
                Ok(())
            }
            0xCC | 0xDC | 0xE1..=0xED | 0xEF | 0xFE => Ok(()),
            // libjpeg refuses DHP, EXP and reserved kinds.
            _ => Err(damaged("a segment of unknown kind")),
        }
    }

    fn read_quantizations(&mut self, mut segment: &[u8]) -> Result<(), ImageFault> {
        while let Some((&first, rest)) = segment.split_first() {
            let width = match first >> 4 {
                0 => 1,
                _ => 2,
            };
            let table = self.quantizations.get_mut(usize::from(first & 15));
            let table = table.ok_or_else(|| damaged("a table of divisors has a number above 3"))?;
            let (divisors, rest) = rest.split_at_checked(64 * width).ok_or_else(cut_short)?;
            let mut read = [0; 64];
            for (index, bytes) in ZIGZAG.iter().zip(divisors.chunks(width)) {
                read[usize::from(*index)] =
                    bytes.iter().fold(0, |number, byte| number << 8 | u16::from(*byte));
            }
            *table = Some(read);
            segment = rest;
        }
        Ok(())
    }

    fn read_huffman_tables(&mut self, mut segment: &[u8]) -> Result<(), ImageFault> {
        while let Some((&first, rest)) = segment.split_first() {
            let tables = match first >> 4 {
                0 => &mut self.dc_tables,
                1 => &mut self.ac_tables,
                _ => return Err(damaged("a table of codes is neither for DC nor for AC")),
            };
            let table = tables.get_mut(usize::from(first & 15));
            let table = table.ok_or_else(|| damaged("a table of codes has a number above 3"))?;
            let (counts, rest) = rest.split_first_chunk::<16>().ok_or_else(cut_short)?;
            let count: usize = counts.iter().map(|count| usize::from(*count)).sum();
            let (symbols, rest) = rest.split_at_checked(count).ok_or_else(cut_short)?;
            if first >> 4 == 0 && symbols.iter().any(|width| *width > MOST_DC_BITS) {
                return Err(damaged("a difference has more than 15 bits"));
            }
            *table = Some(HuffmanTable::new(counts, symbols)?);
            segment = rest;
        }
        Ok(())
    }
}
