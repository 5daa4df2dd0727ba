//! Deserialization of a library of pieces.

use crate::library::{Library, Piece, Relocation, RelocationKind, Section, Target};

use RelocationKind::{
    Absolute, Call, Jump, Page, Relative, Within, Within1, Within2, Within4, Within8, Within16,
};

/// The kinds of relocations, by number.
const KINDS: [RelocationKind; 11] =
    [Absolute, Relative, Call, Jump, Page, Within, Within1, Within2, Within4, Within8, Within16];

impl Library {
    /// The library whose bytes the build script wrote.
    ///
    /// # Panics
    /// On malformed bytes.
    pub(crate) fn read(bytes: &[u8]) -> Library {
        let mut reader = Reader { rest: bytes };
        let symbols = reader.list(Reader::text);
        let roots = reader.list(|reader| (reader.text(), reader.number()));
        let pieces = reader.list(Reader::piece);
        Library { pieces, symbols, roots }
    }
}

/// The remaining bytes.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn bytes(&mut self, count: usize) -> &[u8] {
        let (bytes, rest) = self.rest.split_at(count);
        self.rest = rest;
        bytes
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes(4).try_into().expect("there are four bytes"))
    }

    fn text(&mut self) -> String {
        let count = self.number() as usize;
        String::from_utf8(self.bytes(count).to_vec()).expect("names are text")
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        let count = self.number();
        (0..count).map(|_| one(self)).collect()
    }

    fn piece(&mut self) -> Piece {
        let name = self.text();
        let section = match self.number() {
            0 => Section::Code,
            1 => Section::Constants,
            _ => Section::Pointers,
        };
        let align = self.number();
        let count = self.number() as usize;
        let bytes = self.bytes(count).to_vec();
        Piece { name, section, align, bytes, relocations: self.list(Reader::relocation) }
    }

    fn relocation(&mut self) -> Relocation {
        let offset = self.number();
        let kind = KINDS[self.number() as usize];
        let target = match self.number() {
            0 => Target::Piece(self.number()),
            _ => Target::Symbol(self.number()),
        };
        let addend = i64::from_le_bytes(self.bytes(8).try_into().expect("there are eight bytes"));
        Relocation { offset, kind, target, addend }
    }
}
