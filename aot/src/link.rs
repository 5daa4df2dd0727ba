//! Which pieces a program reaches, and what object file they make.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use codegen::{FrameCallee, RelocatableFrame, RelocatableProgram};
use kernels::{Isa, STRIP_FUNCTIONS, is_for_this_machine};
use object::write::{Object, Relocation as ObjectRelocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope, elf,
};
use runtime::{CodeImage, RelocationTarget, TensorDesc};

use crate::frames::SizedFrames;
use crate::library::{Library, Piece, Relocation, RelocationKind, Section, Target};
use crate::{Bundle, Fault, WeightsPlace};

/// What an object file may leave to others: functions of C's library that need no system.
pub const EXTERNALS: [&str; 17] = [
    "bcmp",
    "ceil",
    "ceilf",
    "floor",
    "floorf",
    "fma",
    "fmaf",
    "fmod",
    "fmodf",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "nearbyint",
    "nearbyintf",
    "trunc",
    "truncf",
];

/// The program's own description, which functions for C read.
const PROGRAM: &str = "optc_program";

/// Where addresses are in it: fields of `Program` of the crate `standalone`.
const ENTRY_FIELD: u32 = 0;
const FRAME_FIELD: u32 = 8;
const WEIGHTS_FIELD: u32 = 16;
const BUFFERS_FIELD: u32 = 24;
const MESSAGES_FIELD: u32 = 56;
const SIZES_FIELD: u32 = 80;
const CALLEES_FIELD: u32 = 88;

/// The pieces of an object file, numbered on from those of the library.
struct Pieces<'p> {
    library: Library,
    named: BTreeMap<String, u32>,
    program: &'p RelocatableProgram,
    /// The first function of each image of generated code.
    generated: Vec<u32>,
}

/// The object file of a program.
///
/// # Errors
/// If the program calls what an object file can't have.
pub(crate) fn object(bundle: &Bundle<'_>) -> Result<Vec<u8>, Fault> {
    let mut pieces = Pieces::of_library(bundle.program);
    bundle.program.images.iter().try_for_each(|image| pieces.add_code(image))?;
    let runs = match bundle.sizes {
        None => pieces.add_frame()?,
        Some(sizes) => pieces.add_sizes(sizes)?,
    };
    let weights = (bundle.place == WeightsPlace::Embedded).then(|| pieces.add_weights());
    pieces.add_program(runs, weights);
    let globals = pieces.globals(bundle);
    let kept = pieces.reached(globals.iter().map(|global| global.1))?;
    Ok(Writer::new(&pieces.library).write(&kept, &globals))
}

impl<'p> Pieces<'p> {
    fn of_library(program: &'p RelocatableProgram) -> Self {
        let library = crate::library();
        let named = library.roots.iter().cloned().collect();
        Pieces { library, named, program, generated: Vec::new() }
    }

    fn add(&mut self, piece: Piece) -> u32 {
        self.library.pieces.push(piece);
        self.library.pieces.len() as u32 - 1
    }

    /// What a symbol of generated code is.
    fn symbol(&mut self, name: &str) -> Target {
        let isa = self.program.isa;
        let strip = STRIP_FUNCTIONS.iter().position(|strip| strip.name == name);
        let piece = match strip {
            Some(number) => self.named.get(&table_entry("optc_strips", number, isa)),
            None => self.named.get(name),
        };
        match piece.copied() {
            Some(piece) => Target::Piece(piece),
            None => Target::Symbol(self.external(name)),
        }
    }

    fn external(&mut self, name: &str) -> u32 {
        let symbols = &mut self.library.symbols;
        let known = symbols.iter().position(|symbol| symbol == name);
        known.unwrap_or_else(|| {
            symbols.push(name.to_owned());
            symbols.len() - 1
        }) as u32
    }

    /// Adds the functions of an image of generated code.
    fn add_code(&mut self, image: &CodeImage) -> Result<(), Fault> {
        let first = self.library.pieces.len() as u32;
        self.generated.push(first);
        for function in &image.functions {
            let range = function.start..function.start + function.size;
            let own = image.relocations.iter().filter(|relocation| range.contains(&relocation.offset));
            let mut bytes = image.code[range.start as usize..range.end as usize].to_vec();
            let mut relocations = Vec::new();
            for found in own {
                let target = match found.target {
                    RelocationTarget::Function(number) => Target::Piece(first + number),
                    RelocationTarget::Symbol(number) => self.symbol(&image.symbols[number as usize]),
                };
                let kind = match (found.kind, target) {
                    (runtime::RelocationKind::Absolute64, _) => RelocationKind::Call,
                    (runtime::RelocationKind::Relative32, Target::Piece(_)) => RelocationKind::Relative,
                    (runtime::RelocationKind::Relative32, Target::Symbol(_)) => RelocationKind::Call,
                    (other, _) => {
                        return Err(Fault(format!("no object file has addresses of kind {other:?}")));
                    }
                };
                let relocation =
                    Relocation { offset: found.offset - function.start, kind, target, addend: found.addend };
                relocations.push(match found.kind {
                    runtime::RelocationKind::Absolute64 => near(&mut bytes, relocation),
                    _ => relocation,
                });
            }
            let (name, section, align) = (function.name.clone(), Section::Code, runtime::FUNCTION_ALIGNMENT);
            self.add(Piece { name, section, align, bytes, relocations });
        }
        Ok(())
    }

    /// Adds the frame, with the addresses of the functions that its records call; the program's relocations
    /// for it and for its entry.
    fn add_frame(&mut self) -> Result<Vec<Relocation>, Fault> {
        let RelocatableFrame { words: frame, callees } = &self.program.frame;
        let mut bytes = words(frame.iter().map(|word| *word as u64));
        let mut relocations = Vec::new();
        for (word, callee) in callees {
            bytes[8 * word..8 * word + 8].fill(0);
            relocations.push(address(8 * *word as u32, self.callee(0, *callee)?));
        }
        let frame = self.add(data("frame", Section::Pointers, bytes, relocations));
        let functions = &self.program.images[0].functions;
        let entry = functions.iter().position(|function| function.name == codegen::ENTRY);
        let entry = self.generated[0] + entry.expect("code has an entry") as u32;
        Ok(vec![address(ENTRY_FIELD, entry), address(FRAME_FIELD, frame)])
    }

    /// Adds what named sizes decide, and the functions that all frames call; the program's relocations for
    /// them.
    fn add_sizes(&mut self, sizes: &SizedFrames) -> Result<Vec<Relocation>, Fault> {
        let tables = self.add(data("sizes", Section::Constants, sizes.tables()?, Vec::new()));
        let mut relocations = Vec::new();
        for (number, (image, callee)) in sizes.callees.iter().enumerate() {
            relocations.push(address(8 * number as u32, self.callee(*image, *callee)?));
        }
        let bytes = vec![0; 8 * relocations.len()];
        let callees = self.add(data("callees", Section::Pointers, bytes, relocations));
        Ok(vec![address(SIZES_FIELD, tables), address(CALLEES_FIELD, callees)])
    }

    /// The piece that a frame of an image calls.
    fn callee(&self, image: usize, callee: FrameCallee) -> Result<u32, Fault> {
        match callee {
            FrameCallee::Generated(number) => Ok(self.generated[image] + number as u32),
            FrameCallee::Kernel(number, _) if is_for_this_machine(number) => Err(Fault(
                "its products of bf16 take instructions that this machine has: an object file is for \
                 others, too, and takes --precision=f32"
                    .to_owned(),
            )),
            FrameCallee::Kernel(number, isa) => self.kernel(number, isa),
            FrameCallee::Unknown => Err(Fault(
                "a step calls an embedder's own kernel, and that is in this process only".to_owned(),
            )),
        }
    }

    fn kernel(&self, number: usize, isa: Isa) -> Result<u32, Fault> {
        let found = self.named.get(&table_entry("optc_kernels", number, isa));
        let missing = || {
            Fault(format!("there is no machine code of {} for object files", kernels::kernel_name(number)))
        };
        found.copied().ok_or_else(missing)
    }

    fn add_weights(&mut self) -> u32 {
        let bytes = self.program.weights.as_slice().to_vec();
        self.add(data("weights", Section::Constants, bytes, Vec::new()))
    }

    /// Adds what functions for C read: `Program` of the crate `standalone`.
    fn add_program(&mut self, runs: Vec<Relocation>, weights: Option<u32>) {
        let RelocatableProgram { inputs, outputs, faults, threads, isa, .. } = self.program;
        let buffer = |tensor: &TensorDesc| [tensor.size_bytes as u64, tensor.align as u64];
        let buffers = words(inputs.iter().chain(outputs).flat_map(buffer));
        let buffers = self.add(data("buffers", Section::Constants, buffers, Vec::new()));
        let mut texts = Vec::new();
        let mut begins = Vec::new();
        for fault in faults.iter() {
            begins.push(texts.len() as i64);
            texts.extend(fault.bytes().filter(|byte| *byte != 0).chain([0]));
        }
        let texts = self.add(data("texts", Section::Constants, texts, Vec::new()));
        let message = |(index, addend): (usize, &i64)| Relocation {
            addend: *addend,
            ..address(8 * index as u32, texts)
        };
        let messages = begins.iter().enumerate().map(message).collect();
        let messages = self.add(data("messages", Section::Pointers, vec![0; 8 * begins.len()], messages));
        let counts = [inputs.len(), outputs.len(), *threads, 0, faults.len(), *isa as usize];
        let numbers = [0; 4].into_iter().chain(counts).chain([0; 2]);
        let mut relocations = runs;
        relocations.extend([address(BUFFERS_FIELD, buffers), address(MESSAGES_FIELD, messages)]);
        relocations.extend(weights.map(|weights| address(WEIGHTS_FIELD, weights)));
        let bytes = words(numbers.map(|number| number as u64));
        let program = self.add(data(PROGRAM, Section::Pointers, bytes, relocations));
        self.named.insert(PROGRAM.to_owned(), program);
    }

    /// The functions for C, each with its piece.
    fn globals(&self, Bundle { name, place, sizes, .. }: &Bundle<'_>) -> Vec<(String, u32)> {
        let own = if sizes.is_some() { "_sized" } else { "" };
        let place = match place {
            WeightsPlace::File => "",
            WeightsPlace::Embedded => "_embedded",
        };
        let mut functions = vec![
            ("message", "message".to_owned()),
            ("run", format!("run{own}{place}")),
            ("run_threads", format!("run_threads{own}{place}")),
            ("supported", "supported".to_owned()),
        ];
        if sizes.is_some() {
            let more = ["arena_bytes", "bind", "input_bytes", "output_bytes"];
            functions.extend(more.map(|end| (end, end.to_owned())));
        }
        let piece = |own: &str| self.named[&format!("optc_standalone_{own}")];
        functions.iter().map(|(end, own)| (format!("{name}_{end}"), piece(own))).collect()
    }

    /// What a target is once all pieces are there.
    fn found(&self, target: Target) -> Target {
        match target {
            Target::Symbol(symbol) => {
                let named = self.named.get(&self.library.symbols[symbol as usize]);
                named.map_or(target, |piece| Target::Piece(*piece))
            }
            Target::Piece(_) => target,
        }
    }

    /// All that some pieces reach, in order; relocations then point to where symbols are.
    fn reached(&mut self, from: impl Iterator<Item = u32>) -> Result<Vec<u32>, Fault> {
        let mut kept = BTreeSet::new();
        let mut waiting: Vec<u32> = from.collect();
        let mut foreign = BTreeSet::new();
        while let Some(number) = waiting.pop() {
            if !kept.insert(number) {
                continue;
            }
            let mut relocations = std::mem::take(&mut self.library.pieces[number as usize].relocations);
            for relocation in &mut relocations {
                relocation.target = self.found(relocation.target);
                match relocation.target {
                    Target::Piece(piece) => waiting.push(piece),
                    Target::Symbol(symbol) => {
                        foreign.insert(self.library.symbols[symbol as usize].clone());
                    }
                }
            }
            self.library.pieces[number as usize].relocations = relocations;
        }
        foreign.retain(|name| !EXTERNALS.contains(&&**name));
        if foreign.is_empty() {
            return Ok(kept.into_iter().collect());
        }
        let names: Vec<String> = foreign.into_iter().collect();
        Err(Fault(format!("the program calls what an object file can't have: {}", names.join(", "))))
    }
}

/// An instruction with an address of 8 bytes in it, as one with a distance: code that linkers may put
/// anywhere has no addresses.
///
/// `movabs $address, %register` => `lea distance(%rip), %register; nop`
fn near(bytes: &mut [u8], relocation: Relocation) -> Relocation {
    let at = relocation.offset as usize;
    let (prefix, code) = (bytes[at - 2], bytes[at - 1]);
    assert!(prefix & 0xfe == 0x48 && code & 0xf8 == 0xb8, "generated code moves addresses to registers");
    bytes[at - 2] = 0x48 | (prefix & 1) << 2;
    bytes[at - 1] = 0x8d;
    bytes[at] = 0x05 | (code & 7) << 3;
    bytes[at + 5..at + 8].copy_from_slice(&[0x0f, 0x1f, 0x00]);
    Relocation { offset: relocation.offset + 1, addend: relocation.addend - 4, ..relocation }
}

fn table_entry(table: &str, number: usize, isa: Isa) -> String {
    format!("{table}.{number}.{}", isa as usize)
}

/// Data that begins where all data may.
fn data(name: &str, section: Section, bytes: Vec<u8>, relocations: Vec<Relocation>) -> Piece {
    Piece { name: name.to_owned(), section, align: 64, bytes, relocations }
}

fn words(words: impl Iterator<Item = u64>) -> Vec<u8> {
    words.flat_map(u64::to_le_bytes).collect()
}

/// The address of a piece, written in 8 bytes.
fn address(offset: u32, piece: u32) -> Relocation {
    Relocation { offset, kind: RelocationKind::Absolute, target: Target::Piece(piece), addend: 0 }
}

/// An object file while it is written.
struct Writer<'l> {
    library: &'l Library,
    object: Object<'static>,
    sections: [SectionId; 3],
    /// Where each piece is.
    places: BTreeMap<u32, (Section, u64)>,
    externals: BTreeMap<u32, SymbolId>,
}

impl<'l> Writer<'l> {
    fn new(library: &'l Library) -> Self {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let mut section = |name: &str, kind| object.add_section(Vec::new(), name.as_bytes().to_vec(), kind);
        let sections = [
            section(".text", SectionKind::Text),
            section(".rodata", SectionKind::ReadOnlyData),
            section(".data.rel.ro", SectionKind::ReadOnlyDataWithRel),
        ];
        // Nothing of it wants a stack that can be run.
        section(".note.GNU-stack", SectionKind::Other);
        Writer { library, object, sections, places: BTreeMap::new(), externals: BTreeMap::new() }
    }

    fn write(mut self, kept: &[u32], globals: &[(String, u32)]) -> Vec<u8> {
        for number in kept {
            let piece = &self.library.pieces[*number as usize];
            let section = self.sections[piece.section as usize];
            let offset =
                self.object.append_section_data(section, &piece.bytes, u64::from(piece.align.max(1)));
            self.places.insert(*number, (piece.section, offset));
            if piece.section == Section::Code && !globals.iter().any(|global| global.1 == *number) {
                self.define(&piece.name, *number, SymbolScope::Compilation);
            }
        }
        for (name, number) in globals {
            self.define(name, *number, SymbolScope::Dynamic);
        }
        for number in kept {
            let library = self.library;
            let piece = &library.pieces[*number as usize];
            piece.relocations.iter().for_each(|relocation| self.relocate(*number, relocation));
        }
        self.object.write().expect("all that is written has its place")
    }

    fn define(&mut self, name: &str, number: u32, scope: SymbolScope) {
        let (section, value) = self.places[&number];
        self.object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size: self.library.pieces[number as usize].bytes.len() as u64,
            kind: SymbolKind::Text,
            scope,
            weak: false,
            section: SymbolSection::Section(self.sections[section as usize]),
            flags: SymbolFlags::None,
        });
    }

    /// Writes a distance within a section, and leaves all else to the linker.
    fn relocate(&mut self, number: u32, relocation: &Relocation) {
        let (section, start) = self.places[&number];
        let offset = start + u64::from(relocation.offset);
        let id = self.sections[section as usize];
        let (symbol, addend) = match relocation.target {
            Target::Symbol(symbol) => (self.foreign(symbol), relocation.addend),
            Target::Piece(piece) => {
                let (to, place) = self.places[&piece];
                let addend = relocation.addend + place as i64;
                let is_distance = matches!(relocation.kind, RelocationKind::Relative | RelocationKind::Call);
                if to == section && is_distance {
                    let distance = i32::try_from(addend - offset as i64).expect("code has less than 2 GiB");
                    let field: Range<usize> = offset as usize..offset as usize + 4;
                    self.object.section_mut(id).data_mut()[field].copy_from_slice(&distance.to_le_bytes());
                    return;
                }
                (self.object.section_symbol(self.sections[to as usize]), addend)
            }
        };
        let r_type = match relocation.kind {
            RelocationKind::Absolute => elf::R_X86_64_64,
            RelocationKind::Relative => elf::R_X86_64_PC32,
            RelocationKind::Call => elf::R_X86_64_PLT32,
        };
        let flags = RelocationFlags::Elf { r_type };
        let added = self.object.add_relocation(id, ObjectRelocation { offset, symbol, addend, flags });
        added.expect("the format has these relocations");
    }

    /// A symbol that is defined elsewhere.
    fn foreign(&mut self, symbol: u32) -> SymbolId {
        let Writer { library, object, externals, .. } = self;
        *externals.entry(symbol).or_insert_with(|| {
            object.add_symbol(Symbol {
                name: library.symbols[symbol as usize].clone().into_bytes(),
                value: 0,
                size: 0,
                kind: SymbolKind::Text,
                scope: SymbolScope::Unknown,
                weak: false,
                section: SymbolSection::Undefined,
                flags: SymbolFlags::None,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_and_function_has_machine_code_for_each_instruction_set() {
        let names: BTreeSet<String> = crate::library().roots.into_iter().map(|root| root.0).collect();
        let tables = [("optc_kernels", kernels::kernel_count()), ("optc_strips", STRIP_FUNCTIONS.len())];
        for (table, count) in tables {
            for number in 0..count {
                // Of a kernel that no object file may have, there is nothing.
                let is_there = table != "optc_kernels" || !is_for_this_machine(number);
                for isa in Isa::ALL {
                    assert_eq!(
                        names.contains(&table_entry(table, number, isa)),
                        is_there,
                        "{table} {number}"
                    );
                }
            }
        }
        kernels::NUMBER_FUNCTIONS.iter().for_each(|function| assert!(names.contains(function.name)));
    }

    #[test]
    fn nothing_in_the_library_reaches_what_an_object_file_cannot_have() {
        let library = crate::library();
        let found: BTreeSet<&str> = library.symbols.iter().map(String::as_str).collect();
        let allowed: BTreeSet<&str> = EXTERNALS.into_iter().chain([PROGRAM]).collect();
        assert_eq!(found.difference(&allowed).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    #[test]
    fn an_address_in_an_instruction_becomes_a_distance() {
        // movabs $0, %r10; call *%r10
        let mut bytes = [0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xd2];
        let relocation =
            Relocation { offset: 2, kind: RelocationKind::Call, target: Target::Piece(0), addend: 0 };
        let near = near(&mut bytes, relocation);
        // lea 0(%rip), %r10; nop; call *%r10
        assert_eq!(bytes, [0x4c, 0x8d, 0x15, 0, 0, 0, 0, 0x0f, 0x1f, 0, 0x41, 0xff, 0xd2]);
        assert_eq!((near.offset, near.addend), (3, -4));
    }
}
