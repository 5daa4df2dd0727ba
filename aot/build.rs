//! Build script: compiles the kernels a second time, into a library of pieces that this crate embeds.
//!
//! Functions can't be extracted from a finished executable, because their relocations are gone. So the crate
//! `standalone`, which depends on `kernels`, is built as a static library in its own target folder, always
//! with the settings of the release profile. All profiles of the surrounding build share that folder. Only
//! the code that kernels and the functions for C reach is kept, without the code that prints panics.

#[path = "src/library.rs"]
mod library;
#[path = "build/link.rs"]
mod link;
#[path = "build/write.rs"]
mod write;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Settings of the surrounding build that must not affect the machine code of object files.
const NOT_OURS: [&str; 9] = [
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "CARGO_PROFILE_RELEASE_LTO",
];

/// Settings of the machine code: those of the release profile, with names of functions, which select the kept
/// pieces.
const PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_PANIC", "abort"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "none"),
    ("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "false"),
    ("CARGO_INCREMENTAL", "0"),
];

/// The target of object files with the feature `aarch64`.
const AARCH64: &str = "aarch64-unknown-linux-gnu";

/// The sources of the machine code.
const SOURCES: [&str; 5] = ["standalone", "../kernels", "../math", "../Cargo.toml", "build"];

fn main() {
    let package = path_of("CARGO_MANIFEST_DIR");
    let out = path_of("OUT_DIR");
    SOURCES.iter().for_each(|source| println!("cargo::rerun-if-changed={source}"));
    ["src/library.rs", "build.rs"].iter().for_each(|source| println!("cargo::rerun-if-changed={source}"));
    let of_crate = env::var("TARGET").expect("cargo sets it");
    let is_here = env::var("HOST").is_ok_and(|host| host == of_crate);
    write_library(&package, &out.join("library.bin"), (!is_here).then_some(&*of_crate));
    if env::var_os("CARGO_FEATURE_AARCH64").is_some() && !of_crate.starts_with("aarch64-") {
        write_library(&package, &out.join("aarch64.bin"), Some(AARCH64));
    }
}

/// Writes the library for a target, or for the host.
fn write_library(package: &Path, to: &Path, target: Option<&str>) {
    let archive = build(package, &folder(to), target);
    let archive = fs::read(&archive).unwrap_or_else(|error| panic!("{}: {error}", archive.display()));
    let library = link::library(&archive).unwrap_or_else(|fault| panic!("{fault}"));
    let tiles = link::tile_frames(&archive).unwrap_or_else(|fault| panic!("{fault}"));
    fs::write(to.with_extension("tiles"), tiles).expect("the folder for products can be written");
    let bytes = miniz_oxide::deflate::compress_to_vec(&library.write(), 9);
    fs::write(to, bytes).expect("the folder for products can be written");
}

fn path_of(variable: &str) -> PathBuf {
    PathBuf::from(env::var_os(variable).expect("cargo sets it"))
}

/// The folder of the static library: beside the profiles' folders, or beside a library that does not lie in
/// `PROFILE/build/PACKAGE/out`.
fn folder(library: &Path) -> PathBuf {
    let build = library.ancestors().nth(3).filter(|folder| folder.ends_with("build"));
    let target = build.and_then(|build| build.ancestors().nth(2));
    target.map_or_else(|| library.with_file_name("standalone"), |target| target.join("standalone"))
}

/// Builds the static library in a folder.
fn build(package: &Path, folder: &Path, target: Option<&str>) -> PathBuf {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    cargo.current_dir(package).args(["build", "--release", "--package=optc-standalone", "--quiet"]);
    cargo.arg("--target-dir").arg(folder).args(target.into_iter().flat_map(|target| ["--target", target]));
    NOT_OURS.iter().for_each(|variable| {
        cargo.env_remove(variable);
    });
    let root = package.parent().expect("the package lies in the repository");
    // Panics contain file names; the location of the repository must not leak.
    let mut flags = format!("--remap-path-prefix={}=optc", root.display());
    // Kernels do not ask for the machine's features beyond its instruction set: that code would be kept.
    flags += " --cfg=optc_object";
    // Names of functions with the types that they are compiled for: a test looks at those of tiles.
    flags += " -Csymbol-mangling-version=v0";
    if target.unwrap_or(env::consts::ARCH).starts_with("aarch64") {
        // Atomic counters use instructions that each machine has, instead of functions of the compiler's
        // library, which would ask the system for better ones.
        flags += " -Ctarget-feature=-outline-atomics";
    }
    let status = cargo.env("RUSTFLAGS", flags).envs(PROFILE).status().expect("cargo runs");
    let help = match target {
        Some(target) => format!(" (they take `rustup target add {target}`)"),
        None => String::new(),
    };
    assert!(status.success(), "the kernels for object files can't be built{help}");
    folder.join(target.unwrap_or_default()).join("release/libstandalone.a")
}
