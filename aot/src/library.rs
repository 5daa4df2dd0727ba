//! A library of precompiled machine code in pieces, and its file format.
//!
//! A piece is a section of an object file: a function, its constants, or a table of pointers. The build
//! script writes a [`Library`] of all pieces that object files may need; each object file takes those that it
//! reaches.
//!
//! ```text
//! list of symbols (text), list of roots (text, number), list of pieces:
//!     name (text), section (number), alignment (number), bytes, list of relocations:
//!         offset, kind, whether the target is a symbol, target (numbers), addend (8 bytes)
//! ```
//! A number has 4 bytes, the lowest first. A list, a text and bytes are preceded by their number of elements.

use object::{Architecture, elf};

/// Pieces, and the names of some.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Library {
    pub(crate) pieces: Vec<Piece>,
    /// Names that are defined elsewhere.
    pub(crate) symbols: Vec<String>,
    /// Pieces that are looked up by name.
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

/// The section of a piece.
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

/// The form of a field that depends on an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelocationKind {
    /// The address, in 8 bytes.
    Absolute,
    /// Its distance, in 4 bytes.
    Relative,
    /// The distance of a function, or of a jump to it: in 4 bytes on x86-64, in instructions in the low 26
    /// bits of a call on AArch64.
    Call,
    /// The same in a jump on AArch64.
    Jump,
    /// Its distance in pages of 4 KiB, in an ADRP of AArch64.
    Page,
    /// Its offset in a page, in an ADD of AArch64.
    Within,
    /// The same, in an instruction that accesses 1 byte there.
    Within1,
    /// 2 bytes.
    Within2,
    /// 4 bytes.
    Within4,
    /// 8 bytes.
    Within8,
    /// 16 bytes.
    Within16,
}

use RelocationKind::{
    Absolute, Call, Jump, Page, Relative, Within, Within1, Within2, Within4, Within8, Within16,
};

impl RelocationKind {
    /// The ELF numbers of the kinds of an architecture.
    pub(crate) fn of_elf(architecture: Architecture) -> &'static [(u32, RelocationKind)] {
        match architecture {
            Architecture::Aarch64 => &[
                (elf::R_AARCH64_ABS64, Absolute),
                (elf::R_AARCH64_PREL32, Relative),
                (elf::R_AARCH64_CALL26, Call),
                (elf::R_AARCH64_JUMP26, Jump),
                (elf::R_AARCH64_ADR_PREL_PG_HI21, Page),
                (elf::R_AARCH64_ADD_ABS_LO12_NC, Within),
                (elf::R_AARCH64_LDST8_ABS_LO12_NC, Within1),
                (elf::R_AARCH64_LDST16_ABS_LO12_NC, Within2),
                (elf::R_AARCH64_LDST32_ABS_LO12_NC, Within4),
                (elf::R_AARCH64_LDST64_ABS_LO12_NC, Within8),
                (elf::R_AARCH64_LDST128_ABS_LO12_NC, Within16),
            ],
            _ => &[(elf::R_X86_64_64, Absolute), (elf::R_X86_64_PC32, Relative), (elf::R_X86_64_PLT32, Call)],
        }
    }
}

/// The target of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// A piece, by number.
    Piece(u32),
    /// A symbol, by number.
    Symbol(u32),
}
