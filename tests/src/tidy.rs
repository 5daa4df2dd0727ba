//! The house rules, and their violations in a file.
//!
//! Each rule is a function from a file to its faults, so a test can show that it fails on a line of text.
//! `tests/tidy.rs` applies them to the whole repository.

use ir::plan::attrs::{self, PlanAttr};

use crate::source::{Code, has_word};
use crate::workspace::TextFile;

/// A broken rule, as `path:line: what is wrong`.
pub type Fault = String;

/// The most lines of a source file.
pub const MOST_FILE_LINES: usize = 600;
/// The most lines of a function, from its `fn` to its closing brace.
pub const MOST_FUNCTION_LINES: usize = 60;
/// The most lines of `docs/ARCHITECTURE.md`.
pub const MOST_ARCHITECTURE_LINES: usize = 200;

/// The crates (rooms), and for each the crates that it may depend on. The crate `tests` is above all of them;
/// the examples are in the position of external crates. The tests of `import` select its features.
pub const ARROWS: [(&str, &[&str]); 15] = [
    ("features", &[]),
    ("math", &[]),
    ("ir", &["math", "features"]),
    ("import", &["import", "ir", "features"]),
    ("passes", &["ir", "features"]),
    ("kernels", &["math"]),
    ("runtime", &["features"]),
    ("codegen", &["ir", "kernels", "runtime", "features"]),
    ("aot", &["kernels", "runtime", "codegen", "features"]),
    ("aot/standalone", &["kernels"]),
    ("optc", &["ir", "import", "passes", "codegen", "aot", "runtime", "features"]),
    ("tests", &["ir", "import", "passes", "kernels", "runtime", "codegen", "optc"]),
    ("examples/my-machine", &["ir", "runtime", "codegen", "import", "optc", "features"]),
    ("examples/my-opt", &["import", "optc", "features"]),
    ("examples/toy-tensors", &["import", "optc", "features"]),
];

/// The crates in which `unsafe` is allowed, and single files of others: the promises of `codegen`, an
/// embedder's kernel, and the interfaces to C and Python.
const UNSAFE_PLACES: [&str; 8] = [
    "capi/",
    "kernels/",
    "runtime/",
    "aot/standalone/",
    "codegen/src/trust.rs",
    "examples/my-machine/src/kernel.rs",
    "python/src/dlpack.rs",
    "python/src/memory.rs",
];

/// The crates with lints other than the workspace's: those in which `unsafe` is allowed, in part or
/// everywhere.
const OWN_LINTS: [&str; 5] = ["kernels/", "runtime/", "codegen/", "aot/standalone/", "examples/my-machine/"];

/// The file with the names of a plan's attributes.
const PLAN_ATTRIBUTES: &str = "ir/src/plan/attrs.rs";

/// Text that code must not contain, without blanks.
const UNFINISHED_CODE: [&str; 5] = ["todo!", "unimplemented!", "dead_code", "allow(unused", "dbg!"];

/// Text that not even a comment may contain. (It is split in halves here, so that this file passes.)
const UNFINISHED_TEXT: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// A file longer than `most` lines.
pub fn file_size(file: &TextFile, most: usize) -> Vec<Fault> {
    let lines = file.text.lines().count();
    if lines <= most {
        return Vec::new();
    }
    vec![format!("{}: {lines} lines, at most {most} are allowed", file.path)]
}

/// Functions longer than [`MOST_FUNCTION_LINES`].
pub fn function_size(file: &TextFile) -> Vec<Fault> {
    let functions = Code::of(&file.text).functions();
    let long = functions.iter().filter(|function| function.lines > MOST_FUNCTION_LINES);
    long.map(|function| {
        let (name, lines) = (&function.name, function.lines);
        let found = format!("`{name}` has {lines} lines, at most {MOST_FUNCTION_LINES} are allowed");
        at(file, function.line, &found)
    })
    .collect()
}

/// A source file without a first line about its subject.
pub fn first_line(file: &TextFile) -> Vec<Fault> {
    let first = file.text.lines().next().unwrap_or_default();
    let says = first.strip_prefix("//! ").is_some_and(|question| question.trim().len() > 10);
    if says {
        return Vec::new();
    }
    vec![at(file, 1, "the first line must be `//!` and the question that the file answers")]
}

/// Source files that are no other file's module, so nothing compiles them. Modules are looked up in the
/// folder of a file and the one above. Crate roots (`lib.rs`, files in a folder `bin` or `tests`, ...) need
/// none.
pub fn unread(sources: &[TextFile]) -> Vec<Fault> {
    let split = |file: &TextFile| {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        (folder.to_owned(), name.trim_end_matches(".rs").to_owned())
    };
    let is_root = |folder: &str, name: &str| {
        let last = folder.rsplit('/').next().unwrap_or_default();
        ["lib", "main", "mod", "build"].contains(&name)
            || ["bin", "tests", "examples", "benches", "fuzz_targets"].contains(&last)
    };
    let mut faults = Vec::new();
    for file in sources {
        let (folder, name) = split(file);
        let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
        let names = [format!("mod {name};"), format!("{name}.rs\"")];
        let mut near = sources.iter().filter(|other| {
            let other = split(other).0;
            other == folder || other == above
        });
        if !is_root(&folder, &name) && !near.any(|other| names.iter().any(|name| other.text.contains(name))) {
            faults.push(at(file, 1, "no file has this one as a module, so nothing compiles it"));
        }
    }
    faults
}

/// `unsafe` outside of the allowed places.
pub fn unsafe_code(file: &TextFile) -> Vec<Fault> {
    if UNSAFE_PLACES.iter().any(|place| file.path.starts_with(place)) {
        return Vec::new();
    }
    let code = Code::of(&file.text);
    let lines = code.lines().filter(|(_, line)| has_word(line, "unsafe"));
    lines
        .map(|(n, _)| at(file, n, "`unsafe` is for `kernels`, `runtime` and `codegen/src/trust.rs` only"))
        .collect()
}

/// Unfinished code: placeholders, notes to oneself, dead code.
pub fn unfinished(file: &TextFile) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (n, line) in Code::of(&file.text).lines() {
        let line: String = line.split_whitespace().collect();
        let found = UNFINISHED_CODE.iter().filter(|word| line.contains(**word));
        faults.extend(found.map(|word| at(file, n, &format!("`{word}` has no place here"))));
    }
    for (n, line) in (1..).zip(file.text.lines()) {
        let found = UNFINISHED_TEXT.iter().filter(|word| has_word(line, word));
        faults.extend(found.map(|word| at(file, n, &format!("`{word}` has no place here"))));
    }
    faults
}

/// Parameters of type `bool`: two functions or an enum say more at the call. A conversion (`From::from`) may
/// take one.
pub fn boolean_parameters(file: &TextFile) -> Vec<Fault> {
    let functions = Code::of(&file.text).functions();
    let found = functions.iter().filter(|function| {
        let signature: String = function.signature.split_whitespace().collect();
        let takes_one = signature.contains(":bool,") || signature.contains(":bool)");
        takes_one && function.name != "from"
    });
    found.map(|function| at(file, function.line, &format!("`{}` takes a `bool`", function.name))).collect()
}

/// A lit file that runs nothing.
pub fn run_line(file: &TextFile) -> Vec<Fault> {
    if file.text.lines().any(|line| line.starts_with("// RUN: ")) {
        return Vec::new();
    }
    vec![format!("{}: no line begins with `// RUN: `", file.path)]
}

/// Dependencies of a crate's `Cargo.toml` that break the arrows, or have a version of their own.
pub fn dependencies(file: &TextFile) -> Vec<Fault> {
    let room = file.path.trim_end_matches("/Cargo.toml");
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
        return vec![format!("{}: `{room}` is not one of the rooms", file.path)];
    };
    let mut faults = Vec::new();
    for (n, name, value) in dependency_lines(&file.text) {
        let is_room = ARROWS.iter().any(|(room, _)| *room == name);
        if is_room && !allowed.contains(&name) {
            faults.push(at(file, n, &format!("`{room}` must not depend on `{name}`")));
        }
        if !value.replace(' ', "").contains("workspace=true") {
            faults.push(at(file, n, &format!("`{name}` must be `workspace = true`")));
        }
    }
    faults
}

/// A crate whose package name an embedder's own crate might have: a lock file holds one package of a name,
/// version and source.
pub fn package_name(file: &TextFile) -> Vec<Fault> {
    let mut lines = (1..).zip(file.text.lines());
    let Some((n, line)) = lines.find(|(_, line)| line.starts_with("name = ")) else {
        return vec![format!("{}: the package has no name", file.path)];
    };
    let name = line.trim_start_matches("name = ").trim_matches('"');
    if name == "optc" || name.starts_with("optc-") {
        return Vec::new();
    }
    vec![at(file, n, &format!("the package `{name}` must be called `optc-{name}`"))]
}

/// The entries of all sections of dependencies: line, name, and value (`workspace = true`). A section for a
/// single dependency is an entry with an empty value.
fn dependency_lines(manifest: &str) -> Vec<(usize, &str, &str)> {
    let mut within = false;
    let mut entries = Vec::new();
    for (n, line) in (1..).zip(manifest.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.starts_with('[') {
            let section = line.trim_matches(['[', ']']);
            within = section.ends_with("dependencies");
            entries.extend(section.split_once("dependencies.").map(|(_, name)| (n, name, "")));
        } else if let (true, Some((name, value))) = (within, line.split_once(['.', '='])) {
            entries.push((n, name.trim(), value.trim()));
        }
    }
    entries
}

/// A crate's `Cargo.toml` without the workspace's lints, unless it may use `unsafe`.
pub fn lints(file: &TextFile) -> Vec<Fault> {
    let inherits = file.text.replace(' ', "").contains("[lints]\nworkspace=true");
    if inherits || OWN_LINTS.iter().any(|room| file.path.starts_with(room)) {
        let is_for_a_file =
            file.path.starts_with("codegen/") && !file.text.contains("unsafe_code = \"deny\"");
        let fault = || format!("{}: `unsafe_code` must be denied, for one file to allow it", file.path);
        return is_for_a_file.then(fault).into_iter().collect();
    }
    vec![format!("{}: `[lints]` must be `workspace = true`", file.path)]
}

/// Names of a plan's attributes written as a string instead of taken from their table.
pub fn plan_attributes(file: &TextFile) -> Vec<Fault> {
    if file.path == PLAN_ATTRIBUTES {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let spelt = attrs::ALL.iter().filter(|attr| line.contains(&format!("\"{}\"", attr.name)));
        let say = |attr: &PlanAttr| format!("`{}` has a name in `{PLAN_ATTRIBUTES}`", attr.name);
        faults.extend(spelt.map(|attr| at(file, index + 1, &say(attr))));
    }
    faults
}

/// A fault in a line of a file.
pub(crate) fn at(file: &TextFile, line: usize, what: &str) -> Fault {
    format!("{}:{line}: {what}", file.path)
}

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
