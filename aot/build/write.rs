//! Serialization of a library of pieces.

use crate::library::{Library, Piece, Relocation, Target};

impl Library {
    /// The library as bytes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        count(&mut out, self.symbols.len());
        self.symbols.iter().for_each(|name| text(&mut out, name));
        count(&mut out, self.roots.len());
        for (name, piece) in &self.roots {
            text(&mut out, name);
            number(&mut out, *piece);
        }
        count(&mut out, self.pieces.len());
        self.pieces.iter().for_each(|piece| piece.write(&mut out));
        out
    }
}

impl Piece {
    fn write(&self, out: &mut Vec<u8>) {
        text(out, &self.name);
        number(out, self.section as u32);
        number(out, self.align);
        count(out, self.bytes.len());
        out.extend(&self.bytes);
        count(out, self.relocations.len());
        for Relocation { offset, kind, target, addend } in &self.relocations {
            number(out, *offset);
            number(out, *kind as u32);
            let (is_symbol, index) = match target {
                Target::Piece(index) => (0, index),
                Target::Symbol(index) => (1, index),
            };
            number(out, is_symbol);
            number(out, *index);
            out.extend(addend.to_le_bytes());
        }
    }
}

fn number(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

fn count(out: &mut Vec<u8>, count: usize) {
    number(out, u32::try_from(count).expect("a library has less than 4 GiB"));
}

fn text(out: &mut Vec<u8>, text: &str) {
    count(out, text.len());
    out.extend(text.as_bytes());
}
