//! Huffman decoding of the bits of a scan (T.81, annexes C and F).

use crate::onnx::images::{ImageFault, damaged};

/// Codes of at most this length are decoded by one lookup.
const SHORT: u32 = 8;

/// A table of codes. Codes of the same length are consecutive numbers.
pub(super) struct HuffmanTable {
    /// Length and symbol of the code at the start of 8 bits; a length of 0 if it is longer.
    short: [(u8, u8); 1 << SHORT],
    /// For each length, one more than its last code, left-aligned in 16 bits; nondecreasing in the length.
    ends: [u32; 17],
    /// For each length, the difference between the index of a symbol and its code.
    offsets: [i32; 17],
    symbols: Vec<u8>,
}

impl HuffmanTable {
    /// The table of codes with these counts of each length from 1 to 16.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Result<HuffmanTable, ImageFault> {
        let mut table = HuffmanTable {
            short: [(0, 0); 1 << SHORT],
            ends: [0; 17],
            offsets: [0; 17],
            symbols: symbols.to_vec(),
        };
        let mut code = 0_u32;
        let mut index = 0;
        for (length, &count) in (1_u32..).zip(counts) {
            let first = code;
            table.offsets[length as usize] = index - first.cast_signed();
            code += u32::from(count);
            // No code is all ones.
            if count > 0 && code >= 1 << length {
                return Err(damaged("a table has more codes than there are"));
            }
            table.ends[length as usize] = code << (16 - length);
            if length <= SHORT {
                for code in first..code {
                    let entry = (length as u8, table.symbols[(index as u32 + code - first) as usize]);
                    let begin = (code << (SHORT - length)) as usize;
                    table.short[begin..begin + (1 << (SHORT - length))].fill(entry);
                }
            }
            index += i32::from(count);
            code <<= 1;
        }
        Ok(table)
    }
}

/// The bits of a scan, up to the next marker.
pub(super) struct BitReader<'s> {
    pub(super) stream: &'s [u8],
    /// The position of the next byte: that of a marker if no data is left.
    pub(super) at: usize,
    /// Bits that are read but not consumed, from the highest bit; zeros after that.
    bits: u64,
    count: u32,
}

impl<'s> BitReader<'s> {
    pub(super) fn new(stream: &'s [u8], at: usize) -> BitReader<'s> {
        BitReader { stream, at, bits: 0, count: 0 }
    }

    /// The next byte of data. In data, 0xFF is followed by a zero; otherwise it begins a marker.
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.stream.get(self.at)?;
        if byte != 0xFF {
            self.at += 1;
            return Some(byte);
        }
        let rest = &self.stream[self.at + 1..];
        let filling = rest.iter().take_while(|byte| **byte == 0xFF).count();
        if rest.get(filling) != Some(&0) {
            return None;
        }
        self.at += filling + 2;
        Some(0xFF)
    }

    fn fill(&mut self) {
        while self.count <= 56 {
            let Some(byte) = self.byte() else { return };
            self.bits |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
    }

    fn take(&mut self, count: u32) -> Result<(), ImageFault> {
        if count > self.count {
            return Err(damaged("a scan ends too early"));
        }
        self.bits <<= count;
        self.count -= count;
        Ok(())
    }

    /// The number in the next `count` bits, at most 16.
    pub(super) fn number(&mut self, count: u32) -> Result<i32, ImageFault> {
        if count == 0 {
            return Ok(0);
        }
        if self.count < count {
            self.fill();
        }
        let number = (self.bits >> (64 - count)) as i32;
        self.take(count)?;
        Ok(number)
    }

    pub(super) fn bit(&mut self) -> Result<bool, ImageFault> {
        Ok(self.number(1)? == 1)
    }

    /// The number encoded by the next `count` bits: the lower half are the negative ones.
    pub(super) fn signed(&mut self, count: u32) -> Result<i32, ImageFault> {
        let number = self.number(count)?;
        let is_negative = count > 0 && number < 1 << (count - 1);
        Ok(if is_negative { number - (1 << count) + 1 } else { number })
    }

    pub(super) fn symbol(&mut self, table: &HuffmanTable) -> Result<u8, ImageFault> {
        if self.count < 16 {
            self.fill();
        }
        let (length, symbol) = table.short[(self.bits >> (64 - SHORT)) as usize];
        if length > 0 {
            self.take(length.into())?;
            return Ok(symbol);
        }
        let next = (self.bits >> 48) as u32;
        let length = (SHORT + 1..=16).find(|length| next < table.ends[*length as usize]);
        let length = length.ok_or_else(|| damaged("a scan has a code that is in no table"))?;
        self.take(length)?;
        let index = (next >> (16 - length)).cast_signed() + table.offsets[length as usize];
        let symbol = usize::try_from(index).ok().and_then(|index| table.symbols.get(index));
        symbol.copied().ok_or_else(|| damaged("a scan has a code that is in no table"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_fillings_after_a_byte_of_ones_are_no_data() {
        let mut bits = BitReader::new(&[0xFF, 0, 0x12, 0xFF, 0xFF, 0, 0x34, 0xFF, 0xD9], 0);
        let bytes: Vec<i32> = (0..4).map(|_| bits.number(8).unwrap()).collect();
        assert_eq!(bytes, [0xFF, 0x12, 0xFF, 0x34]);
        assert!(bits.bit().is_err() && bits.at == 7, "a marker comes next");
    }

    #[test]
    fn codes_of_any_length_are_symbols() {
        // 0, 10 and the first code of 12 bits after them.
        let mut counts = [0; 16];
        for length in [1, 2, 12] {
            counts[length - 1] = 1;
        }
        let table = HuffmanTable::new(&counts, &[7, 8, 9]).unwrap();
        let mut bits = BitReader::new(&[0b0101_1000, 0, 0b0001_0000], 0);
        let symbols: Vec<u8> = (0..4).map(|_| bits.symbol(&table).unwrap()).collect();
        assert_eq!(symbols, [7, 8, 9, 7]);
        counts[0] = 2;
        assert!(HuffmanTable::new(&counts, &[7, 7, 8, 9]).is_err(), "no code is all ones");
    }

    #[test]
    fn the_lower_half_of_numbers_is_negative() {
        let mut bits = BitReader::new(&[0b0001_1011, 0b0101_0110], 0);
        let numbers: Vec<i32> = [2, 2, 2, 2, 1, 1, 3, 0].map(|count| bits.signed(count).unwrap()).to_vec();
        assert_eq!(numbers, [-3, -2, 2, 3, -1, 1, -5, 0]);
    }
}
