//! Names this build of the compiler, for artifacts: by the contents of the sources that decide what machine
//! code is made and what it is called with. And links the released command without symbols and duplicates.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// The crates beside this one, where they are: a published crate is named by its version.
const CRATES: [&str; 7] = ["math", "ir", "import", "passes", "kernels", "runtime", "codegen"];

fn main() {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"));
    let mut hasher = DefaultHasher::new();
    for folder in CRATES.iter().map(|name| own.join("..").join(name)).chain([own.clone()]) {
        let sources = folder.join("src");
        if sources.is_dir() {
            println!("cargo::rerun-if-changed={}", sources.display());
            hash(&sources, &mut hasher);
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=OPTC_BUILD={:08x}", hasher.finish() >> 32);
    shrink();
}

/// The released command is for users, without symbols, and functions of the same code are in it once. The
/// profile says `strip`, but Cargo forgets that for a package whose own entry in the profile says something
/// else, as this one's does. `--profile lines` has line tables, and keeps its symbols.
fn shrink() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !(is("PROFILE", "release") && is("DEBUG", "false") && is("CARGO_CFG_TARGET_OS", "linux")) {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    // Functions are nowhere told apart by their addresses, which may be equal in Rust anyway.
    for option in [FOLD_SAME_CODE, PACK_RELOCATIONS] {
        if works_with(option) == Some(true) {
            println!("cargo::rustc-link-arg-bins={option}");
        }
    }
}

/// An option of LLD (Rust's own linker on x86-64), gold and mold, but not of GNU ld.
const FOLD_SAME_CODE: &str = "-Wl,--icf=all";

/// The addresses that a start writes into tables, each as one bit in place of 24 bytes. They are a megabyte
/// of the command, and a third of what a start takes. The loader must know that form: glibc 2.36 and newer
/// do.
const PACK_RELOCATIONS: &str = "-Wl,-z,pack-relative-relocs";

/// Whether the linker that links the command takes an option, and what it links runs here: that is tried with
/// an empty program.
fn works_with(argument: &str) -> Option<bool> {
    let output = PathBuf::from(env::var_os("OUT_DIR")?).join("linked");
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.args(env::var("CARGO_ENCODED_RUSTFLAGS").ok()?.split('\x1f').filter(|flag| !flag.is_empty()));
    rustc.args(["--crate-name=linked", "--crate-type=bin", "--target", &env::var("TARGET").ok()?]);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = OsString::from("linker=");
        option.push(linker);
        rustc.arg("-C").arg(option);
    }
    rustc.args(["-C", &format!("link-arg={argument}"), "-", "-o"]).arg(&output);
    let mut running = rustc.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    running.stdin.take()?.write_all(b"fn main() {}").ok()?;
    let is_linked = running.wait().ok()?.success();
    let is_for_here = env::var("HOST").ok()? == env::var("TARGET").ok()?;
    Some(is_linked && is_for_here && Command::new(output).status().ok()?.success())
}

/// Adds the contents of all files in a folder, in the order of their names.
fn hash(folder: &Path, hasher: &mut DefaultHasher) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            hash(&entry, hasher);
        } else if let Ok(content) = fs::read(&entry) {
            hasher.write(entry.file_name().expect("an entry has a name").as_encoded_bytes());
            hasher.write(&content);
        }
    }
}
