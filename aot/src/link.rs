//! The linker of object files: collects the pieces that a program reaches, and writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use codegen::{FrameCallee, RelocatableFrame, RelocatableProgram};
use kernels::{Isa, STRIP_FUNCTIONS, is_for_this_machine};
use object::write::{Object, Relocation as ObjectRelocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};
use runtime::{CodeImage, RelocationTarget, TensorDesc};

use crate::frames::SizedFrames;
use crate::library::{Library, Piece, Relocation, RelocationKind, Section, Target};
use crate::near;
use crate::{Bundle, Fault, WeightsPlace};

/// The symbols that an object file may leave undefined: functions of the C library that need no system.
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

/// The program's own description, read by functions for C.
const PROGRAM: &str = "optc_program";

/// The offsets of addresses in it: fields of `Program` of the crate `standalone`.
const ENTRY_FIELD: u32 = 0;
const FRAME_FIELD: u32 = 8;
const WEIGHTS_FIELD: u32 = 16;
const BUFFERS_FIELD: u32 = 24;
const MESSAGES_FIELD: u32 = 56;
const SIZES_FIELD: u32 = 80;
const CALLEES_FIELD: u32 = 88;

/// The pieces of an object file, numbered after those of the library.
struct Pieces<'p> {
    architecture: Architecture,
    library: Library,
    named: BTreeMap<String, u32>,
    program: &'p RelocatableProgram,
    /// The first function of each image of generated code.
    generated: Vec<u32>,
}

/// The object file of a program.
///
/// # Errors
/// If the program calls a function that an object file can't contain.
pub(crate) fn object(bundle: &Bundle<'_>) -> Result<Vec<u8>, Fault> {
    let architecture = crate::architecture(bundle.program.isa)?;
    linked(bundle, architecture, crate::library(architecture))
}

/// The object file, with the pieces of a library.
fn linked(bundle: &Bundle<'_>, architecture: Architecture, library: Library) -> Result<Vec<u8>, Fault> {
    let mut pieces = Pieces::of(architecture, library, bundle.program);
    bundle.program.images.iter().try_for_each(|image| pieces.add_code(image))?;
    let runs = match bundle.sizes {
        None => pieces.add_frame()?,
        Some(sizes) => pieces.add_sizes(sizes)?,
    };
    let weights = (bundle.place == WeightsPlace::Embedded).then(|| pieces.add_weights());
    pieces.add_program(runs, weights);
    let globals = pieces.globals(bundle);
    let kept = pieces.reached(globals.iter().map(|global| global.1))?;
    let generated = pieces.generated.iter().copied().min();
    Ok(Writer::new(architecture, &pieces.library, generated).write(&kept, &globals))
}

impl<'p> Pieces<'p> {
    fn of(architecture: Architecture, library: Library, program: &'p RelocatableProgram) -> Self {
        let named = library.roots.iter().cloned().collect();
        Pieces { architecture, library, named, program, generated: Vec::new() }
    }

    fn add(&mut self, piece: Piece) -> u32 {
        self.library.pieces.push(piece);
        self.library.pieces.len() as u32 - 1
    }

    /// The target of a symbol of generated code.
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
                relocations.extend(near::relocations(
                    self.architecture,
                    &mut bytes,
                    Relocation {
                        offset: found.offset - function.start,
                        kind: match found.kind {
                            runtime::RelocationKind::Absolute64 => RelocationKind::Absolute,
                            runtime::RelocationKind::Relative32 => RelocationKind::Relative,
                            runtime::RelocationKind::Arm64Call => RelocationKind::Call,
                        },
                        target,
                        addend: found.addend,
                    },
                )?);
            }
            let (name, section, align) = (function.name.clone(), Section::Code, runtime::FUNCTION_ALIGNMENT);
            self.add(Piece { name, section, align, bytes, relocations });
        }
        Ok(())
    }

    /// Adds the frame, with the addresses of the functions that its records call. Returns the program's
    /// relocations for it and for its entry.
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

    /// Adds the frames of named sizes, and the functions that they call. Returns the program's relocations
    /// for them.
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

    /// Adds the data that functions for C read: `Program` of the crate `standalone`.
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

    /// The resolved target once all pieces are added.
    fn found(&self, target: Target) -> Target {
        match target {
            Target::Symbol(symbol) => {
                let named = self.named.get(&self.library.symbols[symbol as usize]);
                named.map_or(target, |piece| Target::Piece(*piece))
            }
            Target::Piece(_) => target,
        }
    }

    /// All pieces that the given ones reach, in order. Relocations then point to the targets of symbols.
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

fn table_entry(table: &str, number: usize, isa: Isa) -> String {
    format!("{table}.{number}.{}", isa.path())
}

/// Data with the alignment of all data.
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

/// An object file under construction.
struct Writer<'l> {
    architecture: Architecture,
    library: &'l Library,
    /// The first piece that is not from the library.
    generated: Option<u32>,
    object: Object<'static>,
    sections: [SectionId; 3],
    /// The place of each piece.
    places: BTreeMap<u32, (Section, u64)>,
    externals: BTreeMap<u32, SymbolId>,
}

impl<'l> Writer<'l> {
    fn new(architecture: Architecture, library: &'l Library, generated: Option<u32>) -> Self {
        let mut object = Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
        let mut section = |name: &str, kind| object.add_section(Vec::new(), name.as_bytes().to_vec(), kind);
        let sections = [
            section(".text", SectionKind::Text),
            section(".rodata", SectionKind::ReadOnlyData),
            section(".data.rel.ro", SectionKind::ReadOnlyDataWithRel),
        ];
        // None of its code needs an executable stack.
        section(".note.GNU-stack", SectionKind::Other);
        Writer {
            architecture,
            library,
            generated,
            object,
            sections,
            places: BTreeMap::new(),
            externals: BTreeMap::new(),
        }
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
        if self.architecture == Architecture::Aarch64 {
            self.mark_instructions();
        }
        for number in kept {
            let library = self.library;
            let piece = &library.pieces[*number as usize];
            piece.relocations.iter().for_each(|relocation| self.relocate(*number, relocation));
        }
        self.object.write().expect("all that is written has its place")
    }

    /// Marks the instructions that linkers may change to work around errata of early Cortex-A53 (mapping
    /// symbols of ELF for the Arm 64-bit Architecture). Generated code is marked as data: it has constants
    /// among its instructions, and needs no change, since it has no load or store after an ADRP.
    fn mark_instructions(&mut self) {
        let generated = self.generated;
        let is_generated = |number: u32| generated.is_some_and(|first| number >= first);
        let code = self.places.iter().filter(|place| place.1.0 == Section::Code);
        let first = |wanted: bool| code.clone().find(|place| is_generated(*place.0) == wanted);
        let marks = [("$x", first(false)), ("$d", first(true))];
        let marks: Vec<(&str, u64)> =
            marks.into_iter().filter_map(|(name, place)| Some((name, place?.1.1))).collect();
        for (name, value) in marks {
            self.add_symbol(name, (Section::Code, value), (0, SymbolKind::Label), SymbolScope::Compilation);
        }
    }

    fn define(&mut self, name: &str, number: u32, scope: SymbolScope) {
        let size = self.library.pieces[number as usize].bytes.len() as u64;
        self.add_symbol(name, self.places[&number], (size, SymbolKind::Text), scope);
    }

    fn add_symbol(
        &mut self,
        name: &str,
        (section, value): (Section, u64),
        (size, kind): (u64, SymbolKind),
        scope: SymbolScope,
    ) {
        self.object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size,
            kind,
            scope,
            weak: false,
            section: SymbolSection::Section(self.sections[section as usize]),
            flags: SymbolFlags::None,
        });
    }

    /// Writes a distance within a section, and leaves all others to the linker.
    fn relocate(&mut self, number: u32, relocation: &Relocation) {
        let (section, start) = self.places[&number];
        let offset = start + u64::from(relocation.offset);
        let id = self.sections[section as usize];
        let (symbol, addend) = match relocation.target {
            Target::Symbol(symbol) => (self.foreign(symbol), relocation.addend),
            Target::Piece(piece) => {
                let (to, place) = self.places[&piece];
                let addend = relocation.addend + place as i64;
                let is_distance = matches!(
                    relocation.kind,
                    RelocationKind::Relative | RelocationKind::Call | RelocationKind::Jump
                );
                if to == section && is_distance {
                    let field: Range<usize> = offset as usize..offset as usize + 4;
                    let field = &mut self.object.section_mut(id).data_mut()[field];
                    write_distance(self.architecture, relocation.kind, field, addend - offset as i64);
                    return;
                }
                (self.object.section_symbol(self.sections[to as usize]), addend)
            }
        };
        let kinds = RelocationKind::of_elf(self.architecture);
        let r_type = kinds.iter().find(|kind| kind.1 == relocation.kind).expect("all kinds have a number").0;
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

/// Writes the distance from a field to its target.
fn write_distance(architecture: Architecture, kind: RelocationKind, field: &mut [u8], distance: i64) {
    let bytes = match (architecture, kind) {
        (Architecture::Aarch64, RelocationKind::Call | RelocationKind::Jump) => {
            assert!((-(1 << 27)..1 << 27).contains(&distance), "code has less than 128 MiB");
            let steps = (distance / 4) as u32 & 0x03ff_ffff;
            let old = u32::from_le_bytes((&*field).try_into().expect("an instruction has four bytes"));
            (old & 0xfc00_0000 | steps).to_le_bytes()
        }
        _ => i32::try_from(distance).expect("code has less than 2 GiB").to_le_bytes(),
    };
    field.copy_from_slice(&bytes);
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
