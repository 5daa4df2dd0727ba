//! The pieces of a static library that the functions of object files reach.

use std::collections::HashMap;

use object::read::archive::ArchiveFile;
use object::{
    Architecture, File, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionIndex,
    SectionKind, SymbolIndex, SymbolKind, elf,
};

use crate::library::{Library, Piece, Relocation, RelocationKind, Section, Target};

/// The crates whose machine code is kept. Their other references are defined elsewhere, or are panics.
const CRATES: [&str; 4] = ["kernels-", "libm-", "math-", "standalone-"];

/// Tables of functions; each entry's target is identified by the table's name and its number.
const TABLES: [&str; 2] = ["optc_kernels", "optc_strips"];

/// The entries of the first table that are excluded from object files: a byte for each kernel.
const ONLY_HERE: &str = "optc_only_here";

/// The function that replaces panics.
const TRAP: &str = "optc_standalone_trap";

/// Parts of the names of functions of `core` and `alloc` that panic, or print a panic's message.
const PANICS: [&str; 7] = [
    "4core9panicking",
    "4core3fmt",
    "core..fmt",
    "slice_index_fail",
    "panic_on_ord_violation",
    "assert_failed",
    "5alloc7raw_vec12handle_error",
];

/// A section of an object.
type SectionKey = (usize, SectionIndex);

/// The source of a piece.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum PieceKey {
    Section(SectionKey),
    /// The address of a target, for instructions that read it from memory.
    Address(Target, i64),
}

/// The library of all pieces that the tables' functions, and the functions for C, reach.
///
/// # Errors
/// If the archive is not in the form that rustc produces.
pub(crate) fn library(archive: &[u8]) -> Result<Library, String> {
    let files = objects(archive)?;
    let mut linker = Linker {
        files: &files,
        defined: HashMap::new(),
        numbers: HashMap::new(),
        queue: Vec::new(),
        library: Library::default(),
    };
    linker.define();
    linker.add_roots()?;
    let mut next = 0;
    while next < linker.queue.len() {
        let piece = match linker.queue[next] {
            PieceKey::Section(key) => linker.piece(key)?,
            PieceKey::Address(target, addend) => address(target, addend),
        };
        linker.library.pieces.push(piece);
        next += 1;
    }
    Ok(linker.library)
}

/// The frames of tiles' functions, for a test: a line for each function, with its name and the most bytes by
/// which it lowers its stack pointer at once (`sub rsp, N`; 0 if there is none, or on other machines).
///
/// # Errors
/// If the archive is not in the form that rustc produces.
pub(crate) fn tile_frames(archive: &[u8]) -> Result<String, String> {
    let said = |error: object::Error| error.to_string();
    let mut lines = String::new();
    for file in objects(archive)? {
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
            let name = symbol.name().map_err(said)?;
            if let Some(section) = symbol.section_index().filter(|_| name.contains("TileTask")) {
                let code = file.section_by_index(section).map_err(said)?.data().map_err(said)?;
                lines += &format!("{name} {}\n", frame_bytes(code));
            }
        }
    }
    Ok(lines)
}

fn frame_bytes(code: &[u8]) -> u32 {
    let frame = |bytes: &[u8; 7]| match *bytes {
        [0x48, 0x81, 0xec, n @ ..] => u32::from_le_bytes(n),
        [0x48, 0x83, 0xec, n, ..] => u32::from(n),
        _ => 0,
    };
    code.array_windows().map(frame).max().unwrap_or(0)
}

fn objects(archive: &[u8]) -> Result<Vec<File<'_>>, String> {
    let said = |error: object::Error| error.to_string();
    let mut files = Vec::new();
    for member in ArchiveFile::parse(archive).map_err(said)?.members() {
        let member = member.map_err(said)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        if CRATES.iter().any(|own| name.starts_with(own)) {
            files.push(File::parse(member.data(archive).map_err(said)?).map_err(said)?);
        }
    }
    Ok(files)
}

struct Linker<'a> {
    files: &'a [File<'a>],
    /// The section that defines a name, and the offset in it.
    defined: HashMap<&'a str, (SectionKey, u64)>,
    /// The number of each kept piece.
    numbers: HashMap<PieceKey, u32>,
    /// The kept pieces, in order.
    queue: Vec<PieceKey>,
    library: Library,
}

impl<'a> Linker<'a> {
    fn define(&mut self) {
        for (file, object) in self.files.iter().enumerate() {
            for symbol in object.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined()) {
                if let (Some(section), Ok(name)) = (symbol.section_index(), symbol.name()) {
                    self.defined.insert(name, ((file, section), symbol.address()));
                }
            }
        }
    }

    /// Adds the functions that are looked up by name: those of tables, and all others with names of ours.
    fn add_roots(&mut self) -> Result<(), String> {
        let mut names: Vec<&str> =
            self.defined.keys().copied().filter(|name| name.starts_with("optc_")).collect();
        names.sort_unstable();
        let only_here = self.only_here()?;
        for name in names.into_iter().filter(|name| *name != ONLY_HERE) {
            let (key, offset) = self.defined[name];
            if !TABLES.contains(&name) {
                self.add_root(name.to_owned(), key, offset)?;
                continue;
            }
            let section = self.section(key)?;
            let mut entries: Vec<(u64, object::Relocation)> = section.relocations().collect();
            entries.sort_by_key(|entry| entry.0);
            for (at, relocation) in entries.into_iter().filter(|entry| entry.0 >= offset) {
                let number = (at - offset) / 8;
                if name == TABLES[0] && only_here[number as usize / 3] != 0 {
                    continue;
                }
                let (found, within) =
                    self.place(key.0, &relocation)?.map_err(|name| format!("{name} is no kernel"))?;
                self.add_root(
                    format!("{name}.{}.{}", number / 3, number % 3),
                    found,
                    within + relocation.addend() as u64,
                )?;
            }
        }
        Ok(())
    }

    fn only_here(&self) -> Result<&'a [u8], String> {
        let (key, offset) = self.defined.get(ONLY_HERE).ok_or(format!("{ONLY_HERE} is missing"))?;
        let data = self.section(*key)?.data().map_err(|error| error.to_string())?;
        Ok(&data[*offset as usize..])
    }

    fn add_root(&mut self, name: String, key: SectionKey, offset: u64) -> Result<(), String> {
        if offset != 0 {
            return Err(format!("{name} does not begin its section"));
        }
        let number = self.number(PieceKey::Section(key));
        self.library.roots.push((name, number));
        Ok(())
    }

    fn number(&mut self, key: PieceKey) -> u32 {
        let Linker { numbers, queue, .. } = self;
        *numbers.entry(key).or_insert_with(|| {
            queue.push(key);
            queue.len() as u32 - 1
        })
    }

    fn section(&self, (file, section): SectionKey) -> Result<object::Section<'a, 'a>, String> {
        self.files[file].section_by_index(section).map_err(|error| error.to_string())
    }

    /// The target of a relocation, or the name that is defined elsewhere.
    fn place(
        &self,
        file: usize,
        relocation: &object::Relocation,
    ) -> Result<Result<(SectionKey, u64), &'a str>, String> {
        match relocation.target() {
            RelocationTarget::Section(section) => Ok(Ok(((file, section), 0))),
            RelocationTarget::Symbol(symbol) => self.symbol(file, symbol),
            other => Err(format!("a relocation to {other:?}")),
        }
    }

    fn symbol(&self, file: usize, symbol: SymbolIndex) -> Result<Result<(SectionKey, u64), &'a str>, String> {
        let symbol = self.files[file].symbol_by_index(symbol).map_err(|error| error.to_string())?;
        if let Some(section) = symbol.section_index() {
            return Ok(Ok(((file, section), symbol.address())));
        }
        let name = symbol.name().map_err(|error| error.to_string())?;
        let name = if PANICS.iter().any(|panic| name.contains(panic)) { TRAP } else { name };
        Ok(self.defined.get(name).copied().ok_or(name))
    }

    fn piece(&mut self, key: SectionKey) -> Result<Piece, String> {
        let section = self.section(key)?;
        let name = section.name().map_err(|error| error.to_string())?.to_owned();
        let kind = match section.kind() {
            SectionKind::Text => Section::Code,
            SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => Section::Constants,
            SectionKind::ReadOnlyDataWithRel => Section::Pointers,
            SectionKind::Data if name.starts_with(".data.rel.ro") => Section::Pointers,
            other => return Err(format!("{name} is {other:?}: kernels keep no state")),
        };
        let mut bytes = section.data().map_err(|error| error.to_string())?.to_vec();
        let mut relocations = Vec::new();
        for (offset, relocation) in section.relocations() {
            let found = self.relocation(key.0, &mut bytes, offset, &relocation);
            relocations.push(found.map_err(|fault| format!("{name}: {fault}"))?);
        }
        let name = name.trim_start_matches(".text.").to_owned();
        Ok(Piece { name, section: kind, align: section.align() as u32, bytes, relocations })
    }

    fn relocation(
        &mut self,
        file: usize,
        bytes: &mut [u8],
        offset: u64,
        relocation: &object::Relocation,
    ) -> Result<Relocation, String> {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { return Err("no ELF".to_owned()) };
        let (target, within) = match self.place(file, relocation)? {
            Ok((key, within)) => (Target::Piece(self.number(PieceKey::Section(key))), within),
            Err(name) => (Target::Symbol(self.external(name)), 0),
        };
        let addend = relocation.addend() + within as i64;
        let offset = offset as u32;
        let architecture = self.files[file].architecture();
        if let Some((_, kind)) = RelocationKind::of_elf(architecture).iter().find(|kind| kind.0 == r_type) {
            return Ok(Relocation { offset, kind: *kind, target, addend });
        }
        // An address that the code reads from a table of addresses.
        let kind = match (architecture, r_type) {
            (
                Architecture::X86_64,
                elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX,
            ) => RelocationKind::Relative,
            (Architecture::Aarch64, elf::R_AARCH64_ADR_GOT_PAGE) => RelocationKind::Page,
            (Architecture::Aarch64, elf::R_AARCH64_LD64_GOT_LO12_NC) => RelocationKind::Within8,
            (_, other) => return Err(format!("a relocation of kind {other}")),
        };
        let found = Relocation { offset, kind, target, addend };
        let direct = match architecture {
            Architecture::Aarch64 => direct_on_aarch64(bytes, found),
            _ => direct_on_x86_64(bytes, found),
        };
        if let Some(direct) = direct {
            return Ok(direct);
        }
        let slot = self.number(PieceKey::Address(target, within as i64));
        Ok(Relocation { target: Target::Piece(slot), addend: relocation.addend(), ..found })
    }

    fn external(&mut self, name: &str) -> u32 {
        let symbols = &mut self.library.symbols;
        let known = symbols.iter().position(|symbol| symbol == name);
        known.unwrap_or_else(|| {
            symbols.push(name.to_owned());
            symbols.len() - 1
        }) as u32
    }
}

/// The address of a target, in a piece of its own.
fn address(target: Target, addend: i64) -> Piece {
    let relocations = vec![Relocation { offset: 0, kind: RelocationKind::Absolute, target, addend }];
    Piece { name: "address".to_owned(), section: Section::Pointers, align: 8, bytes: vec![0; 8], relocations }
}

/// Replaces instructions that read an address from memory by ones that compute it, if possible.
///
/// `adrp x, slot; ldr x, [x, slot within its page]` => `adrp x, piece; add x, x, piece within its page`
fn direct_on_aarch64(bytes: &mut [u8], relocation: Relocation) -> Option<Relocation> {
    let at = relocation.offset as usize;
    match (relocation.target, relocation.kind) {
        (Target::Symbol(_), _) => None,
        (Target::Piece(_), RelocationKind::Page) => Some(relocation),
        (Target::Piece(_), _) => {
            let field: &mut [u8; 4] = (&mut bytes[at..at + 4]).try_into().ok()?;
            // Both registers of the `ldr` stay.
            *field = (0x9100_0000 | u32::from_le_bytes(*field) & 0x3ff).to_le_bytes();
            Some(Relocation { kind: RelocationKind::Within, ..relocation })
        }
    }
}

/// The same for x86-64, as linkers do it too (System V ABI for AMD64, B.2).
fn direct_on_x86_64(bytes: &mut [u8], relocation: Relocation) -> Option<Relocation> {
    let at = relocation.offset as usize;
    let is_piece = matches!(relocation.target, Target::Piece(_));
    match (bytes[at - 2], bytes[at - 1]) {
        (0xff, 0x15) => {
            bytes[at - 2..at].copy_from_slice(&[0x67, 0xe8]);
            Some(Relocation { kind: RelocationKind::Call, ..relocation })
        }
        (0xff, 0x25) => {
            bytes[at - 2] = 0xe9;
            bytes[at + 3] = 0x90;
            Some(Relocation { kind: RelocationKind::Call, offset: relocation.offset - 1, ..relocation })
        }
        (0x8b, register) if is_piece && register & 0xc7 == 5 => {
            bytes[at - 2] = 0x8d;
            Some(relocation)
        }
        _ => None,
    }
}
