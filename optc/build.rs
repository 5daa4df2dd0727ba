//! Names this build of the compiler, for artifacts: by the contents of the sources that decide what machine
//! code is made and what it is called with. And leaves the symbols out of the released command.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
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
    strip();
}

/// The profile says `strip`, but Cargo forgets that for a package whose own entry in the profile says
/// something else, as this one's does. `--profile lines` has line tables, and keeps its symbols.
fn strip() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("DEBUG", "false") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
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
