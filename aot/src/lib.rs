//! What object file is this program? Machine code, frame and kernels for a C linker, and the C text around.
//!
//! An object file has what a program reaches: generated code, its frame as data whose function words are
//! addresses for the linker, the machine code of the kernels that the frame names, and functions for C. Of
//! named sizes it has all frames.
//! Nothing in it allocates, keeps state, starts threads or calls the system.
//!
//! 1. The build script compiles `kernels` a second time, and cuts the result into pieces (`library`).
//! 2. `frames` keeps the frames of named sizes in few bytes.
//! 3. `link` adds the program's own pieces, keeps what the functions for C reach, and writes ELF.
//! 4. `header` and `example` write the C text: what a caller must know, and a program that calls it.
//!
//! A panic in a kernel, which would be a fault of ours, ends the process by an illegal instruction.
//!
//! Deliberately not here: choices. The program is planned and its code is made before.

mod columns;
mod example;
mod frames;
mod header;
mod library;
mod link;
mod names;
mod near;
mod read;

use std::fmt;

use codegen::{Isa, RelocatableProgram};
use object::Architecture;

pub use frames::{MOST_COMBINATIONS, SizeRange, SizedFrames};
pub use link::EXTERNALS;

/// Words before the bytes of inputs and outputs in a frame of named sizes, see `standalone`.
const HEADER_WORDS: usize = 4;

/// Where the weights of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsPlace {
    /// In a file beside the object file, for the caller to load or map.
    File,
    /// In the object file, as constants.
    Embedded,
}

/// A program for C.
pub struct Bundle<'p> {
    program: &'p RelocatableProgram,
    /// What its functions' names begin with.
    name: String,
    place: WeightsPlace,
    /// Its frames, if it has named sizes.
    sizes: Option<&'p SizedFrames>,
}

/// Why there is no object file of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

/// An input, output or state, as C has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CTensor {
    /// The identifier of its member and of its macros.
    pub identifier: String,
    /// The type of its elements.
    pub element: &'static str,
}

impl<'p> Bundle<'p> {
    /// A program whose functions have names that begin like `name`.
    pub fn new(program: &'p RelocatableProgram, name: &str, place: WeightsPlace) -> Bundle<'p> {
        Bundle { program, name: names::identifier(name), place, sizes: None }
    }

    /// The same of named sizes, with its frames; what the program says is of its greatest sizes.
    #[must_use]
    pub fn with_sizes(self, sizes: &'p SizedFrames) -> Bundle<'p> {
        Bundle { sizes: Some(sizes), ..self }
    }

    /// What the names of its functions, and of its files, begin with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The object file: ELF for the architecture that the program is for.
    ///
    /// # Errors
    /// If the program calls what an object file can't have; if this build has no kernels for its
    /// architecture.
    pub fn object(&self) -> Result<Vec<u8>, Fault> {
        link::object(self)
    }

    /// The header file.
    pub fn header(&self) -> String {
        header::text(self)
    }

    /// A C program that runs it.
    pub fn example(&self) -> String {
        example::text(self)
    }

    /// The named sizes, each with its member of the structure of sizes.
    pub fn sizes(&self) -> Vec<(String, &SizeRange)> {
        let ranges = self.sizes.map_or(&[][..], |sizes| &sizes.ranges);
        let names = names::identifiers(ranges.iter().map(|range| &*range.name));
        names.into_iter().zip(ranges).collect()
    }

    /// The shapes of inputs and outputs as texts of their sizes, if the program has named sizes.
    pub fn shapes(&self) -> Option<&[Vec<Vec<String>>; 2]> {
        self.sizes.map(|sizes| &sizes.shapes)
    }

    /// The bytes of a frame, if the program has named sizes.
    pub fn frame_bytes(&self) -> Option<usize> {
        self.sizes.map(SizedFrames::frame_bytes)
    }

    /// The inputs, outputs and states, as C has them.
    pub fn tensors(&self) -> [Vec<CTensor>; 3] {
        header::tensors(self.program)
    }
}

/// The precompiled pieces for each architecture that there are some for, compressed by the build script.
static LIBRARIES: &[(&str, Architecture, &[u8])] = &[
    #[cfg(target_arch = "x86_64")]
    ("x86_64", Architecture::X86_64, include_bytes!(concat!(env!("OUT_DIR"), "/library.bin"))),
    #[cfg(target_arch = "aarch64")]
    ("aarch64", Architecture::Aarch64, include_bytes!(concat!(env!("OUT_DIR"), "/library.bin"))),
    #[cfg(all(feature = "aarch64", not(target_arch = "aarch64")))]
    ("aarch64", Architecture::Aarch64, include_bytes!(concat!(env!("OUT_DIR"), "/aarch64.bin"))),
];

/// The architectures that this build makes object files for, as Rust calls them.
pub fn architectures() -> impl Iterator<Item = &'static str> {
    LIBRARIES.iter().map(|library| library.0)
}

/// The architecture of an object file for an instruction set.
///
/// # Errors
/// If this build has no kernels for it.
fn architecture(isa: Isa) -> Result<Architecture, Fault> {
    let name = isa.architecture();
    LIBRARIES.iter().find(|library| library.0 == name).map(|library| library.1).ok_or_else(|| {
        Fault(match name {
            "aarch64" => "this optc has no kernels for aarch64. To build one that has: rustup target add \
                          aarch64-unknown-linux-gnu; cargo build --release -p optc --features aarch64"
                .to_owned(),
            _ => format!("this optc has no kernels for {name}"),
        })
    })
}

/// That this build makes object files for an instruction set.
///
/// # Errors
/// If it has no kernels for it.
pub fn check(isa: Isa) -> Result<(), Fault> {
    architecture(isa).map(drop)
}

/// The precompiled pieces for an architecture that there are some for.
fn library(architecture: Architecture) -> library::Library {
    let found = LIBRARIES.iter().find(|library| library.1 == architecture).expect("it was asked for");
    let bytes = miniz_oxide::inflate::decompress_to_vec(found.2).expect("the build script compressed them");
    library::Library::read(&bytes)
}
