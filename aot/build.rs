//! Compiles the kernels a second time, to a library of pieces that this crate carries.
//!
//! A finished executable can't give its functions back: their relocations are gone. So the crate
//! `standalone`, with `kernels` below it, is built as a static library, in a target folder of its own; of
//! that, what the kernels and the functions for C reach is kept, without what panics would print.

#[path = "src/library.rs"]
mod library;
#[path = "build/link.rs"]
mod link;
#[path = "build/write.rs"]
mod write;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Settings of the build around this one that are not for the machine code of object files.
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

/// How the machine code is made: as the release profile makes it, with names of functions, which choose what
/// is kept.
const PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_PANIC", "abort"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "none"),
    ("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "false"),
    ("CARGO_INCREMENTAL", "0"),
];

/// What the machine code is made of.
const SOURCES: [&str; 5] = ["standalone", "../kernels", "../math", "../Cargo.toml", "build"];

fn main() {
    let package = path_of("CARGO_MANIFEST_DIR");
    let out = path_of("OUT_DIR");
    SOURCES.iter().for_each(|source| println!("cargo::rerun-if-changed={source}"));
    ["src/library.rs", "build.rs"].iter().for_each(|source| println!("cargo::rerun-if-changed={source}"));
    let archive = build(&package, &out.join("standalone"));
    let archive = fs::read(&archive).unwrap_or_else(|error| panic!("{}: {error}", archive.display()));
    let library = link::library(&archive).unwrap_or_else(|fault| panic!("{fault}"));
    let bytes = miniz_oxide::deflate::compress_to_vec(&library.write(), 9);
    fs::write(out.join("library.bin"), bytes).expect("the folder for products can be written");
}

fn path_of(variable: &str) -> PathBuf {
    PathBuf::from(env::var_os(variable).expect("cargo sets it"))
}

/// Builds the static library.
fn build(package: &Path, target: &Path) -> PathBuf {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    cargo.current_dir(package).args(["build", "--release", "--package=optc-standalone", "--quiet"]);
    cargo.arg("--target-dir").arg(target);
    NOT_OURS.iter().for_each(|variable| {
        cargo.env_remove(variable);
    });
    let root = package.parent().expect("the package lies in the repository");
    // Panics name files; where the repository was is nobody's business.
    cargo.env("RUSTFLAGS", format!("--remap-path-prefix={}=optc", root.display()));
    let status = cargo.envs(PROFILE).status().expect("cargo runs");
    assert!(status.success(), "the kernels for object files can't be built");
    target.join("release/libstandalone.a")
}
