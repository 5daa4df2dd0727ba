//! The copy of the project that holds the mutants: its files, and the builds of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::find::Mutant;
use crate::rewrite::{Rewritten, rewrite};

const MANIFEST: &str = "[package]\nname = \"mutant\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";

/// The copy.
pub struct Tree {
    /// The folder of the copy.
    pub root: PathBuf,
    /// The folder of its builds.
    target: PathBuf,
    rewritten: BTreeMap<String, Rewritten>,
}

/// A test program.
#[derive(Clone, Debug)]
pub struct TestProgram {
    /// The file.
    pub path: PathBuf,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// What it is called: its package and its name there.
    pub name: String,
}

/// Writes a file unless it holds just this, so that cargo builds no more than it must.
fn write(path: &Path, bytes: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
    fs::write(path, bytes).expect("files can be written");
}

/// The files that git knows or would take.
fn listed() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .expect("git starts");
    String::from_utf8(output.stdout).expect("paths are text").lines().map(str::to_owned).collect()
}

impl Tree {
    /// Copies the project with these mutants, by file.
    pub fn write(mutants: &BTreeMap<String, Vec<(u32, &Mutant)>>) -> Tree {
        let here = std::env::current_dir().expect("there is a folder");
        let root = here.join("target/mutants/tree");
        let target =
            std::env::var_os("MUTANTS_TARGET").map_or(here.join("target/mutants/build"), PathBuf::from);
        let mut tree = Tree { root, target, rewritten: BTreeMap::new() };
        let packages: BTreeSet<&str> = mutants.keys().filter_map(|path| path.split('/').next()).collect();
        for path in listed() {
            // A file that is gone, but not yet for git.
            let Ok(bytes) = fs::read(&path) else { continue };
            let bytes = if let Some(mutants) = mutants.get(&path) {
                let rewritten = rewrite(&String::from_utf8(bytes).expect("code is text"), mutants);
                let text = rewritten.text.clone().into_bytes();
                tree.rewritten.insert(path.clone(), rewritten);
                text
            } else if path == "Cargo.toml" {
                let text = String::from_utf8(bytes).expect("a manifest is text");
                // What is rewritten is no nice code.
                let text = text.replace("unsafe_code = \"forbid\"", "unused = \"allow\"");
                text.replace("= \"warn\"", "= \"allow\"").into_bytes()
            } else if path.strip_suffix("/Cargo.toml").is_some_and(|package| packages.contains(package)) {
                let text = String::from_utf8(bytes).expect("a manifest is text");
                let with = "\n[dependencies]\nmutant = { path = \"../mutant\" }\n";
                text.replacen("\n[dependencies]\n", with, 1).into_bytes()
            } else {
                bytes
            };
            write(&tree.root.join(&path), &bytes);
        }
        write(&tree.root.join("mutant/Cargo.toml"), MANIFEST.as_bytes());
        write(&tree.root.join("mutant/src/lib.rs"), include_bytes!("switch.rs"));
        tree
    }

    /// What cargo says of the copy, each message as JSON, and whether it succeeded.
    fn cargo(&self, arguments: &[&str]) -> (Vec<Value>, bool) {
        let output = Command::new("nice")
            .args(["-n", "5", "cargo"])
            .args(arguments)
            .args(["--offline", "--message-format=json", "--target-dir"])
            .arg(&self.target)
            .current_dir(&self.root)
            // A mutant may be what a lint denies, such as 256 for the greatest byte.
            .env("RUSTFLAGS", "--cap-lints=allow")
            .stderr(std::process::Stdio::inherit())
            .output()
            .expect("cargo starts");
        let text = String::from_utf8(output.stdout).expect("JSON is text");
        (text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), output.status.success())
    }

    /// The mutants that do not compile; empty if the libraries do.
    ///
    /// # Panics
    /// If something does not compile that is no mutant's.
    pub fn faults(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut others = Vec::new();
        for message in self.cargo(&["check", "--workspace", "--keep-going"]).0 {
            let message = &message["message"];
            if message["level"] != "error" {
                continue;
            }
            let spans = message["spans"].as_array().map_or(&[][..], |spans| &spans[..]);
            let before = found.len();
            for span in spans.iter().filter(|span| span["is_primary"] == true) {
                let file = span["file_name"].as_str().unwrap_or_default();
                let at = |name: &str| span[name].as_u64().unwrap_or_default() as usize;
                if let Some(rewritten) = self.rewritten.get(file) {
                    found.extend(rewritten.at_fault(&(at("byte_start")..at("byte_end"))));
                }
            }
            if found.len() == before {
                others.push(message["rendered"].as_str().unwrap_or_default().to_owned());
            }
        }
        assert!(
            !found.is_empty() || others.iter().all(|text| text.starts_with("error: aborting")),
            "{}",
            others.join("\n")
        );
        found
    }

    /// Builds all test programs.
    ///
    /// # Panics
    /// If one does not compile: what it reaches would count as reached by no test.
    pub fn tests(&self) -> Vec<TestProgram> {
        let (messages, is_built) = self.cargo(&["test", "--workspace", "--no-run"]);
        let errors = messages.iter().filter(|message| message["message"]["level"] == "error");
        let errors = errors.filter_map(|message| message["message"]["rendered"].as_str());
        assert!(is_built, "the tests do not compile:\n{}", errors.collect::<String>());
        let programs = messages.iter().filter_map(|message| {
            let path = PathBuf::from(message["executable"].as_str()?);
            let manifest = PathBuf::from(message["manifest_path"].as_str()?);
            let folder = manifest.parent()?.to_path_buf();
            let package = folder.strip_prefix(&self.root).ok()?.display().to_string();
            let is_test = message["profile"]["test"] == true;
            let name = format!("{package}:{}", message["target"]["name"].as_str()?);
            is_test.then_some(TestProgram { path, folder, name })
        });
        programs.collect()
    }
}
