//! Precompiled machine code in pieces, and how it stands in a file.
//!
//! A piece is a section of an object file: a function, its constants, or a table of pointers. The build
//! script writes a [`Library`] of all that object files may need; each object file takes what it reaches.
//!
//! ```text
//! list of symbols (text), list of roots (text, number), list of pieces:
//!     name (text), section (number), alignment (number), bytes, list of relocations:
//!         offset, kind, whether the target is a symbol, target (numbers), addend (8 bytes)
//! ```
//! A number has 4 bytes, the lowest first. A list, a text and bytes begin with their number of elements.

/// Pieces, and the names by which some are known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Library {
    pub(crate) pieces: Vec<Piece>,
    /// Names that are defined elsewhere.
    pub(crate) symbols: Vec<String>,
    /// Pieces that are asked for by name.
    pub(crate) roots: Vec<(String, u32)>,
}

/// A function, or data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) name: String,
    pub(crate) section: Section,
    pub(crate) align: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Code,
    Constants,
    /// Constants with addresses in them.
    Pointers,
}

/// Bytes of a piece that depend on an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    pub(crate) offset: u32,
    pub(crate) kind: RelocationKind,
    pub(crate) target: Target,
    pub(crate) addend: i64,
}

/// How bytes depend on an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelocationKind {
    /// They are the address, in 8 bytes.
    Absolute,
    /// They are its distance, in 4 bytes.
    Relative,
    /// They are the distance of a function, or of what jumps there, in 4 bytes.
    Call,
}

/// What an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// A piece, by number.
    Piece(u32),
    /// A symbol, by number.
    Symbol(u32),
}
