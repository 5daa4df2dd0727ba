//! Object files of compiled programs: machine code, frame and kernels for a C linker, with their C text.
//!
//! An object file contains all that a program reaches: generated code, its frame as data with relocations for
//! addresses of functions, the machine code of the kernels in the frame, and functions for C. With named
//! sizes it contains all frames. Its code does not allocate, keep state, start threads or call the system.
//!
//! 1. The build script compiles `kernels` a second time, and splits the result into pieces (`library`).
//! 2. `frames` encodes the frames of named sizes compactly.
//! 3. `link` adds the program's own pieces, keeps those that the functions for C reach, and writes ELF.
//! 4. `header` and `example` write the C text: the contract for callers, and a program that calls it.
//!
//! A panic in a kernel, which would be our error, ends the process by an illegal instruction.
//!
//! This crate deliberately makes no choices. The program is already planned and its code generated.

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

/// The number of words before the bytes of inputs and outputs in a frame of named sizes, see `standalone`.
const HEADER_WORDS: usize = 4;

/// The place of a program's weights.
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
    /// The prefix of its functions' names.
    name: String,
    place: WeightsPlace,
    /// Its frames, if it has named sizes.
    sizes: Option<&'p SizedFrames>,
}

/// The reason why a program has no object file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

/// An input, output or state in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CTensor {
    /// The identifier of its member and of its macros.
    pub identifier: String,
    /// The type of its elements.
    pub element: &'static str,
}

impl<'p> Bundle<'p> {
    /// A program whose functions' names are derived from `name`.
    pub fn new(program: &'p RelocatableProgram, name: &str, place: WeightsPlace) -> Bundle<'p> {
        Bundle { program, name: names::identifier(name), place, sizes: None }
    }

    /// The same for named sizes, with its frames. All other facts of the program are those of its greatest
    /// sizes.
    #[must_use]
    pub fn with_sizes(self, sizes: &'p SizedFrames) -> Bundle<'p> {
        Bundle { sizes: Some(sizes), ..self }
    }

    /// The prefix of the names of its functions and files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The object file: ELF for the program's architecture.
    ///
    /// # Errors
    /// If the program calls a function that an object file can't contain; if this build has no kernels for
    /// its architecture.
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

    /// The shapes of inputs and outputs with their sizes as texts, if the program has named sizes.
    pub fn shapes(&self) -> Option<&[Vec<Vec<String>>; 2]> {
        self.sizes.map(|sizes| &sizes.shapes)
    }

    /// The bytes of a frame, if the program has named sizes.
    pub fn frame_bytes(&self) -> Option<usize> {
        self.sizes.map(SizedFrames::frame_bytes)
    }

    /// The inputs, outputs and states, with their C names and types.
    pub fn tensors(&self) -> [Vec<CTensor>; 3] {
        header::tensors(self.program)
    }
}

/// The precompiled pieces for each supported architecture, compressed by the build script.
static LIBRARIES: &[(&str, Architecture, &[u8])] = &[
    #[cfg(target_arch = "x86_64")]
    ("x86_64", Architecture::X86_64, include_bytes!(concat!(env!("OUT_DIR"), "/library.bin"))),
    #[cfg(target_arch = "aarch64")]
    ("aarch64", Architecture::Aarch64, include_bytes!(concat!(env!("OUT_DIR"), "/library.bin"))),
    #[cfg(all(feature = "aarch64", not(target_arch = "aarch64")))]
    ("aarch64", Architecture::Aarch64, include_bytes!(concat!(env!("OUT_DIR"), "/aarch64.bin"))),
];

/// The architectures of object files that this build makes, under their Rust names.
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

/// Checks that this build makes object files for an instruction set.
///
/// # Errors
/// If it has no kernels for it.
pub fn check(isa: Isa) -> Result<(), Fault> {
    architecture(isa).map(drop)
}

/// The precompiled pieces for a supported architecture.
fn library(architecture: Architecture) -> library::Library {
    let found = LIBRARIES.iter().find(|library| library.1 == architecture).expect("it was asked for");
    let bytes = miniz_oxide::inflate::decompress_to_vec(found.2).expect("the build script compressed them");
    library::Library::read(&bytes)
}
