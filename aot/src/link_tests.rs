//! The linker's object files are complete, and accepted by a linker.

use std::sync::Arc;

use codegen::RelocatableFrame;
use object::elf;
use runtime::{AlignedBuffer, ImageFunction};

use super::*;

#[test]
fn each_kernel_and_function_has_machine_code_for_each_instruction_set() {
    for (_, architecture, _) in crate::LIBRARIES {
        let names: BTreeSet<String> =
            crate::library(*architecture).roots.into_iter().map(|root| root.0).collect();
        let tables = [("optc_kernels", kernels::kernel_count()), ("optc_strips", STRIP_FUNCTIONS.len())];
        for (table, count) in tables {
            for number in 0..count {
                // Kernels that are excluded from object files are absent.
                let is_there = table != "optc_kernels" || !is_for_this_machine(number);
                for isa in Isa::ALL {
                    let is_found = names.contains(&table_entry(table, number, isa));
                    assert_eq!(is_found, is_there, "{table} {number} for {architecture:?}");
                }
            }
        }
        kernels::NUMBER_FUNCTIONS.iter().for_each(|function| assert!(names.contains(function.name)));
    }
}

#[test]
fn nothing_in_the_library_reaches_what_an_object_file_cannot_have() {
    for (_, architecture, _) in crate::LIBRARIES {
        let library = crate::library(*architecture);
        let found: BTreeSet<&str> = library.symbols.iter().map(String::as_str).collect();
        let allowed: BTreeSet<&str> = EXTERNALS.into_iter().chain([PROGRAM]).collect();
        let more: Vec<_> = found.difference(&allowed).collect();
        assert!(more.is_empty(), "{more:?} for {architecture:?}");
    }
}

/// Tiles whose sums are in memory take many times as long, which no result shows. The kernels for object
/// files are optimized in every profile, and there are tiles for instructions that this machine lacks too.
#[cfg(target_arch = "x86_64")]
#[test]
fn optimized_tiles_have_their_sums_in_registers() {
    /// Parts of the names of some tiles' functions, how many there are, and a limit of bytes: the sums of a
    /// largest tile take 384 on AVX2 and 1,792 on AVX-512. Steps keep some of the sums of bytes in memory for
    /// a while.
    const TILES: [([&str; 2], usize, u32); 5] = [
        (["8TileTask", "CompiledForAvx210vectorized"], 13, 384),
        (["8TileTask", "CompiledForAvx51210vectorized"], 31, 384),
        (["12PairTileTask", "CompiledForAvx51210vectorized"], 24, 384),
        (["12PairTileTask", "CompiledForAvx51210with_pairs"], 28, 384),
        (["12QuadTileTask", "CompiledForAvx51210with_quads"], 56, 1408),
    ];
    let lines = include_str!(concat!(env!("OUT_DIR"), "/library.tiles")).lines();
    let found: Vec<(&str, u32)> = lines
        .map(|line| line.split_once(' ').expect("a name and a number"))
        .map(|(name, frame)| (name, frame.parse().expect("a number")))
        .collect();
    for (parts, count, below) in TILES {
        let tiles = found.iter().filter(|(name, _)| parts.iter().all(|part| name.contains(part)));
        let frames: Vec<u32> = tiles.map(|tile| tile.1).collect();
        assert_eq!(frames.len(), count, "{parts:?}");
        assert!(frames.iter().all(|frame| *frame < below), "{parts:?}: bytes of frames {frames:?}");
    }
}

/// A library for AArch64 in which each function for C, and each callee of generated code, is one instruction.
fn small_library() -> Library {
    let mut library = Library { symbols: vec!["floorf".to_owned()], ..Library::default() };
    let code = |name: &str, code: &[u32], relocations| Piece {
        name: name.to_owned(),
        section: Section::Code,
        align: 4,
        bytes: code.iter().flat_map(|word| word.to_le_bytes()).collect(),
        relocations,
    };
    let relocation = |offset, kind, target| Relocation { offset, kind, target, addend: 0 };
    for name in ["message", "run_threads", "supported"] {
        library.pieces.push(code(name, &[RET], Vec::new()));
    }
    // bl callee; adrp x0, constant; ldr s0, [x0, within]; b floorf
    library.pieces.push(code(
        "run",
        &[0x9400_0000, 0x9000_0000, 0xbd40_0000, 0x1400_0000],
        vec![
            relocation(0, RelocationKind::Call, Target::Piece(4)),
            relocation(4, RelocationKind::Page, Target::Piece(5)),
            relocation(8, RelocationKind::Within4, Target::Piece(5)),
            relocation(12, RelocationKind::Jump, Target::Symbol(0)),
        ],
    ));
    // The address of the program's description.
    library.symbols.push(PROGRAM.to_owned());
    library.pieces.push(code(
        "callee",
        &[0x9000_0000, RET],
        vec![relocation(0, RelocationKind::Page, Target::Symbol(1))],
    ));
    library.pieces.push(data("constant", Section::Constants, vec![0, 0, 128, 63], Vec::new()));
    let roots = ["message", "run_threads", "supported", "run"];
    let root = |(number, name): (usize, &str)| (format!("optc_standalone_{name}"), number as u32);
    library.roots = roots.into_iter().enumerate().map(root).collect();
    library.roots.push(("optc_kernels.0.0".to_owned(), 4));
    library
}

const RET: u32 = 0xd65f_03c0;

/// A program of one function, which loads the address of a function of the image and calls another.
fn small_program() -> RelocatableProgram {
    let entry = [0x5800_0051_u32, 0x1400_0003, 0, 0, 0x9400_0000, RET];
    let mut code: Vec<u8> = entry.into_iter().flat_map(u32::to_le_bytes).collect();
    code.resize(64, 0);
    code.extend(RET.to_le_bytes());
    let function = |name: &str, start, size| ImageFunction { name: name.to_owned(), start, size };
    let to_loop =
        |offset, kind| runtime::Relocation { offset, kind, target: RelocationTarget::Function(1), addend: 0 };
    let image = CodeImage {
        code,
        functions: vec![function(codegen::ENTRY, 0, 24), function("loop", 64, 4)],
        symbols: Vec::new(),
        relocations: vec![
            to_loop(8, runtime::RelocationKind::Absolute64),
            to_loop(16, runtime::RelocationKind::Arm64Call),
        ],
    };
    image.check().expect("it is one");
    let callees = vec![(0, FrameCallee::Kernel(0, Isa::Scalar)), (1, FrameCallee::Generated(1))];
    RelocatableProgram {
        isa: Isa::Aarch64,
        threads: 1,
        images: vec![Arc::new(image)],
        frame: RelocatableFrame { words: vec![0, 0, 7], callees },
        weights: AlignedBuffer::zeroed(64).expect("there is memory"),
        arena_bytes: 0,
        inputs: Vec::new(),
        outputs: Vec::new(),
        open: Vec::new(),
        states: Vec::new(),
        faults: Vec::new(),
    }
}

/// An ELF file, as far as the tests need it.
struct Elf<'a>(&'a [u8]);

/// A section: its name and its bytes.
type ElfSection<'a> = (String, &'a [u8]);

impl<'a> Elf<'a> {
    fn number(bytes: &[u8], at: usize, count: usize) -> usize {
        let mut word = [0; 8];
        word[..count].copy_from_slice(&bytes[at..at + count]);
        u64::from_le_bytes(word) as usize
    }

    fn text(bytes: &[u8], at: usize) -> String {
        let text = bytes[at..].split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8(text.to_vec()).expect("names are text")
    }

    fn sections(&self) -> Vec<ElfSection<'a>> {
        let file = self.0;
        let [table, count, names] =
            [(40, 8), (60, 2), (62, 2)].map(|(at, bytes)| Self::number(file, at, bytes));
        let header = |index: usize| &file[table + 64 * index..table + 64 * index + 64];
        let bytes = |index: usize| {
            let [start, size] = [24, 32].map(|at| Self::number(header(index), at, 8));
            &file[start..start + size]
        };
        let name = |index: usize| Self::text(bytes(names), Self::number(header(index), 0, 4));
        (1..count).map(|index| (name(index), bytes(index))).collect()
    }

    fn section(&self, name: &str) -> &'a [u8] {
        let sections = self.sections();
        sections.iter().find(|section| section.0 == name).unwrap_or_else(|| panic!("no {name}")).1
    }

    /// The symbols: name, number of the section, offset, and whether it is global.
    fn symbols(&self) -> Vec<(String, usize, usize, bool)> {
        let names = self.section(".strtab");
        let symbol = |entry: &[u8]| {
            let [name, section, value] = [(0, 4), (6, 2), (8, 8)].map(|(at, n)| Self::number(entry, at, n));
            (Self::text(names, name), section, value, entry[4] >> 4 == 1)
        };
        self.section(".symtab").chunks(24).skip(1).map(symbol).collect()
    }

    /// The relocations of a section: offset, kind, and the distance from their symbol.
    fn relocations(&self, name: &str) -> Vec<(usize, u32, usize)> {
        let entry = |entry: &[u8]| {
            let [at, kind, addend] = [(0, 8), (8, 4), (16, 8)].map(|(at, n)| Self::number(entry, at, n));
            (at, kind as u32, addend)
        };
        let mut found: Vec<_> = self.section(name).chunks(24).map(entry).collect();
        found.sort_unstable();
        found
    }
}

#[test]
fn an_object_file_for_aarch64_has_its_relocations_and_leaves_few_symbols_to_others() {
    let program = small_program();
    let bundle = Bundle::new(&program, "net", WeightsPlace::File);
    let object = linked(&bundle, Architecture::Aarch64, small_library()).expect("all is there");
    let elf = Elf(&object);
    assert_eq!(object[..6], [0x7f, b'E', b'L', b'F', 2, 1]);
    assert_eq!((Elf::number(&object, 16, 2), Elf::number(&object, 18, 2)), (1, 183));
    let symbols = elf.symbols();
    let mut globals: Vec<&str> = symbols.iter().filter(|symbol| symbol.3).map(|symbol| &*symbol.0).collect();
    globals.sort_unstable();
    assert_eq!(globals, ["floorf", "net_message", "net_run", "net_run_threads", "net_supported"]);
    let left: Vec<&str> = symbols.iter().filter(|symbol| symbol.1 == 0).map(|symbol| &*symbol.0).collect();
    assert_eq!(left, ["floorf"]);

    // Functions are in this order: message, run_threads, supported, run, callee; then generated ones.
    let text = elf.section(".text");
    let word = |at: usize| Elf::number(text, at, 4) as u32;
    assert_eq!(word(12), 0x9400_0000 | 4, "a call of what is 16 bytes on");
    let entry = 64;
    let code = [0x9000_0011, 0x9100_0231, 0xd503_201f, 0xd503_201f, 0x9400_0000 | 12, RET];
    assert_eq!((0..6).map(|at| word(entry + 4 * at)).collect::<Vec<u32>>(), code);
    let [page, within, within4] =
        [elf::R_AARCH64_ADR_PREL_PG_HI21, elf::R_AARCH64_ADD_ABS_LO12_NC, elf::R_AARCH64_LDST32_ABS_LO12_NC];
    let found: Vec<(usize, u32)> =
        elf.relocations(".rela.text").iter().map(|found| (found.0, found.1)).collect();
    let jump = elf::R_AARCH64_JUMP26;
    assert_eq!(found, [(16, page), (20, within4), (24, jump), (28, page), (64, page), (68, within)]);
    let pointers = elf.relocations(".rela.data.rel.ro");
    assert!(pointers.iter().all(|found| found.1 == elf::R_AARCH64_ABS64), "{pointers:?}");
    // The frame's kernel, and its generated function.
    assert!(pointers.iter().any(|found| found.2 == 28) && pointers.iter().any(|found| found.2 == 128));
    let mark = |name: &str| symbols.iter().find(|symbol| symbol.0 == name).map(|symbol| symbol.2);
    assert_eq!((mark("$x"), mark("$d")), (Some(0), Some(entry)));
}

#[test]
fn what_is_left_to_others_and_may_not_be_is_refused() {
    let program = small_program();
    let bundle = Bundle::new(&program, "net", WeightsPlace::File);
    let mut library = small_library();
    library.symbols[0] = "malloc".to_owned();
    let fault = linked(&bundle, Architecture::Aarch64, library).expect_err("nothing allocates");
    assert!(fault.0.ends_with("what an object file can't have: malloc"), "{fault}");
}

#[test]
fn a_distance_in_a_branch_is_counted_in_instructions() {
    for (distance, code) in [(16, 0x9400_0004_u32), (-4, 0x97ff_ffff), (0, 0x9400_0000)] {
        let mut field = 0x9400_0000_u32.to_le_bytes();
        write_distance(Architecture::Aarch64, RelocationKind::Call, &mut field, distance);
        assert_eq!(field, code.to_le_bytes());
    }
}
