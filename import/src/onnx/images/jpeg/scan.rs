//! Decoding of the coefficients in a scan of a JPEG frame (T.81, annexes F and G).

use super::frame::{Coding, CoefficientBlock, Component, Frame};
use super::huffman::{BitReader, HuffmanTable};
use super::segments::{SegmentReader, ZIGZAG, next_marker};
use crate::onnx::images::{ImageFault, cut_short, damaged, refused};

/// The greatest number of blocks of a unit.
const MOST_BLOCKS_IN_UNIT: usize = 10;
/// The greatest number of bits left to later scans.
const MOST_MISSING_BITS: u8 = 13;

/// The part of each block in a scan.
#[derive(Clone, Copy)]
struct SpectralBand {
    /// The first and the last coefficient, in the order of the stream.
    first: usize,
    last: usize,
    /// The bits that were missing before; 0 if it is the first scan of these coefficients.
    before: u8,
    /// The bits that are missing after it.
    after: u8,
}

/// A component of a scan, with the tables that the scan needs.
struct ScanComponent<'t> {
    /// Its index in the frame.
    index: usize,
    dc: Option<&'t HuffmanTable>,
    ac: Option<&'t HuffmanTable>,
    /// The last DC coefficient.
    dc_before: i32,
}

/// Reads the scan that begins with `segment`, and the data up to the next marker.
pub(super) fn read(
    decoder: &mut SegmentReader<'_>,
    frame: &mut Frame,
    segment: &[u8],
) -> Result<(), ImageFault> {
    let (&count, rest) = segment.split_first().ok_or_else(cut_short)?;
    let (parts, rest) = rest.split_at_checked(2 * usize::from(count)).ok_or_else(cut_short)?;
    let [first, last, bits] = *rest else { return Err(damaged("a scan's segment of another length")) };
    let band = SpectralBand { first: first.into(), last: last.into(), before: bits >> 4, after: bits & 15 };
    let band = match frame.coding {
        Coding::Progressive => band,
        Coding::Sequential => SpectralBand { first: 0, last: 63, before: 0, after: 0 },
    };
    check_band(band, frame.coding, count)?;
    let mut chosen: Vec<ScanComponent<'_>> = Vec::new();
    for &[name, tables] in parts.as_chunks::<2>().0 {
        let index = frame.components.iter().position(|component| component.name == name);
        let index = index.ok_or_else(|| damaged("a scan of a component that is not there"))?;
        if chosen.iter().any(|part| part.index == index) {
            return Err(damaged("a scan has a component twice"));
        }
        begin(&mut frame.components[index], band, decoder)?;
        let dc = decoder.dc_tables.get(usize::from(tables >> 4)).and_then(Option::as_ref);
        let ac = decoder.ac_tables.get(usize::from(tables & 15)).and_then(Option::as_ref);
        chosen.push(ScanComponent { index, dc, ac, dc_before: 0 });
    }
    let blocks =
        |part: &ScanComponent<'_>| frame.components[part.index].across * frame.components[part.index].down;
    if chosen.is_empty() {
        return Err(damaged("a scan has no component"));
    }
    if chosen.len() > 1 && chosen.iter().map(blocks).sum::<usize>() > MOST_BLOCKS_IN_UNIT {
        return Err(damaged("a unit has too many blocks"));
    }
    frame.is_one_scan |= chosen.len() == frame.components.len();
    let mut scan = ScanReader {
        bits: BitReader::new(decoder.stream, decoder.at),
        coding: frame.coding,
        band,
        parts: chosen,
        empty_blocks: 0,
    };
    let restart_interval = decoder.restart_interval;
    decoder.at = scan.run(frame, restart_interval)?;
    Ok(())
}

fn check_band(band: SpectralBand, coding: Coding, components: u8) -> Result<(), ImageFault> {
    let SpectralBand { first, last, before, after } = band;
    let is_right = match first {
        0 => last == 0 || coding == Coding::Sequential,
        _ => first <= last && last < 64 && components == 1,
    };
    if !is_right || after > MOST_MISSING_BITS || (before > 0 && before != after + 1) {
        return Err(damaged("a scan of coefficients that can't be together"));
    }
    Ok(())
}

/// Records the coefficients that a scan reads of a component.
fn begin(
    component: &mut Component,
    band: SpectralBand,
    decoder: &SegmentReader<'_>,
) -> Result<(), ImageFault> {
    if component.quantization.is_none() {
        let quantization = decoder.quantizations.get(usize::from(component.quantization_number));
        let quantization = quantization.copied().flatten();
        component.quantization = Some(quantization.ok_or_else(|| damaged("a table of divisors is missing"))?);
    }
    let expected = (band.before > 0).then_some(band.before);
    for missing in &mut component.missing_bits[band.first..=band.last] {
        if *missing != expected {
            return Err(refused("scans of JPEG that repeat or omit bits of coefficients"));
        }
        *missing = Some(band.after);
    }
    Ok(())
}

/// A scan that is being read.
struct ScanReader<'s, 't> {
    bits: BitReader<'s>,
    coding: Coding,
    band: SpectralBand,
    parts: Vec<ScanComponent<'t>>,
    /// The number of further blocks without coefficients in this band.
    empty_blocks: i32,
}

impl ScanReader<'_, '_> {
    /// Reads all units, and returns the position after them.
    fn run(&mut self, frame: &mut Frame, restart_interval: usize) -> Result<usize, ImageFault> {
        let is_interleaved = self.parts.len() > 1;
        let (across, down) = match &self.parts[..] {
            [part] => frame.components[part.index].own_blocks(),
            _ => (frame.units_across(), frame.units_down()),
        };
        let mut until_restart = restart_interval;
        let mut restarts = 0;
        for unit in 0..across * down {
            if restart_interval > 0 && until_restart == 0 {
                self.restart(restarts)?;
                restarts += 1;
                until_restart = restart_interval;
            }
            until_restart = until_restart.saturating_sub(1);
            let row = unit / across;
            let column = unit % across;
            for part in 0..self.parts.len() {
                let component = &mut frame.components[self.parts[part].index];
                if !is_interleaved {
                    let block = row * component.blocks_across + column;
                    self.block(part, &mut component.blocks[block])?;
                    continue;
                }
                for inner in 0..component.across * component.down {
                    let row = row * component.down + inner / component.across;
                    let column = column * component.across + inner % component.across;
                    let block = row * component.blocks_across + column;
                    self.block(part, &mut component.blocks[block])?;
                }
            }
        }
        Ok(self.bits.at)
    }

    /// Skips the marker of a restart, whose low three bits are a counter.
    fn restart(&mut self, count: usize) -> Result<(), ImageFault> {
        let (second, after) = next_marker(self.bits.stream, self.bits.at)?;
        if second != 0xD0 | (count & 7) as u8 {
            return Err(damaged("a restart is missing"));
        }
        self.bits = BitReader::new(self.bits.stream, after);
        self.empty_blocks = 0;
        self.parts.iter_mut().for_each(|part| part.dc_before = 0);
        Ok(())
    }

    fn block(&mut self, part: usize, block: &mut CoefficientBlock) -> Result<(), ImageFault> {
        let part = &mut self.parts[part];
        match (self.coding, self.band) {
            (Coding::Sequential, _) => {
                first_dc(&mut self.bits, part, 0, block)?;
                match first_ac(&mut self.bits, table(part.ac)?, self.band, block)? {
                    0 => Ok(()),
                    _ => Err(damaged("a sequential scan has empty blocks")),
                }
            }
            (_, SpectralBand { first: 0, before: 0, after, .. }) => {
                first_dc(&mut self.bits, part, after, block)
            }
            (_, SpectralBand { first: 0, after, .. }) => {
                block[0] |= i16::from(self.bits.bit()?) << after;
                Ok(())
            }
            (_, SpectralBand { before: 0, .. }) if self.empty_blocks > 0 => {
                self.empty_blocks -= 1;
                Ok(())
            }
            (_, SpectralBand { before: 0, .. }) => {
                self.empty_blocks = first_ac(&mut self.bits, table(part.ac)?, self.band, block)?;
                Ok(())
            }
            _ => {
                let ac = table(part.ac)?;
                next_ac(&mut self.bits, ac, self.band, &mut self.empty_blocks, block)
            }
        }
    }
}

fn table(table: Option<&HuffmanTable>) -> Result<&HuffmanTable, ImageFault> {
    table.ok_or_else(|| refused("a JPEG without a table of codes"))
}

/// The DC coefficient, as its difference from that of the block before.
fn first_dc(
    bits: &mut BitReader<'_>,
    part: &mut ScanComponent<'_>,
    shift: u8,
    block: &mut CoefficientBlock,
) -> Result<(), ImageFault> {
    let width = bits.symbol(table(part.dc)?)?;
    part.dc_before = part.dc_before.wrapping_add(bits.signed(width.into())?);
    block[0] = part.dc_before.wrapping_shl(shift.into()) as i16;
    Ok(())
}

/// The AC coefficients of a band: a run of zeros before each nonzero one. Returns the number of following
/// blocks without any.
fn first_ac(
    bits: &mut BitReader<'_>,
    ac: &HuffmanTable,
    band: SpectralBand,
    block: &mut CoefficientBlock,
) -> Result<i32, ImageFault> {
    let mut at = band.first.max(1);
    while at <= band.last {
        let symbol = bits.symbol(ac)?;
        let zeros = usize::from(symbol >> 4);
        let width = u32::from(symbol & 15);
        if width == 0 && zeros < 15 {
            return Ok((1 << zeros) + bits.number(zeros as u32)? - 1);
        }
        at += zeros;
        if width > 0 {
            let value = bits.signed(width)?;
            let index = ZIGZAG.get(at).filter(|_| at <= band.last);
            let index = index.ok_or_else(|| damaged("a block has more than its coefficients"))?;
            block[usize::from(*index)] = (value << band.after) as i16;
        }
        at += 1;
    }
    Ok(0)
}

/// Reads one more bit of the AC coefficients of a band. A symbol is for a coefficient that becomes nonzero,
/// after a run of those that stay 0; each coefficient on the way that is already nonzero gets a bit.
fn next_ac(
    bits: &mut BitReader<'_>,
    ac: &HuffmanTable,
    band: SpectralBand,
    empty_blocks: &mut i32,
    block: &mut CoefficientBlock,
) -> Result<(), ImageFault> {
    let one = 1_i16 << band.after;
    let mut at = band.first;
    while *empty_blocks == 0 && at <= band.last {
        let symbol = bits.symbol(ac)?;
        let mut zeros = symbol >> 4;
        let value = match symbol & 15 {
            0 if zeros < 15 => {
                *empty_blocks = (1 << zeros) + bits.number(zeros.into())?;
                break;
            }
            0 => 0,
            1 if bits.bit()? => one,
            1 => -one,
            _ => return Err(damaged("a coefficient gets more than a bit")),
        };
        while at <= band.last {
            let coefficient = &mut block[usize::from(ZIGZAG[at])];
            if *coefficient != 0 {
                refine(bits, coefficient, one)?;
            } else if zeros == 0 {
                *coefficient = value;
                break;
            } else {
                zeros -= 1;
            }
            at += 1;
        }
        if at > band.last && value != 0 {
            return Err(damaged("a block has more than its coefficients"));
        }
        at += 1;
    }
    if *empty_blocks > 0 {
        for index in &ZIGZAG[at.min(band.last + 1)..=band.last] {
            let coefficient = &mut block[usize::from(*index)];
            if *coefficient != 0 {
                refine(bits, coefficient, one)?;
            }
        }
        *empty_blocks -= 1;
    }
    Ok(())
}

/// Adds a bit to a coefficient that is not 0.
fn refine(bits: &mut BitReader<'_>, coefficient: &mut i16, one: i16) -> Result<(), ImageFault> {
    if bits.bit()? && *coefficient & one == 0 {
        let step = if *coefficient >= 0 { one } else { -one };
        *coefficient = coefficient.wrapping_add(step);
    }
    Ok(())
}
