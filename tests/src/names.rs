//! The rule that type names are unique in the product's crates.
//!
//! If a name stands for two types, readers must ask which one is meant, and a search finds both. So each
//! struct, enum, trait and type alias has a name of its own. Tests may repeat names.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Code;
use crate::tidy::{Fault, at};
use crate::workspace::TextFile;

/// The crates with unique type names.
pub const PRODUCT: [&str; 7] = ["ir", "import", "passes", "kernels", "runtime", "codegen", "optc"];

/// Names that occur twice, with the reason.
const ALLOWED: [(&str, &str); 1] =
    [("KernelFn", "one C interface, declared by the crate that calls and by the one that is called")];

/// Types with the name of an earlier type.
pub fn repeated_types(files: &[TextFile]) -> Vec<Fault> {
    let tests = test_modules(files);
    let mut first = BTreeMap::new();
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| is_product(&file.path) && !tests.contains(&file.path)) {
        for (line, name) in types(&file.text) {
            let here = format!("{}:{line}", file.path);
            let is_allowed = ALLOWED.iter().any(|(allowed, _)| *allowed == name);
            match first.get(&name) {
                Some(there) if !is_allowed => {
                    faults.push(at(file, line, &format!("`{name}` is the name of a type at {there} too")));
                }
                _ => _ = first.insert(name, here),
            }
        }
    }
    faults
}

fn is_product(path: &str) -> bool {
    PRODUCT.iter().any(|room| path.strip_prefix(room).is_some_and(|rest| rest.starts_with("/src/")))
}

/// The types that a source defines outside of its tests, each with its line. (Associated types are indented.)
fn types(source: &str) -> Vec<(usize, String)> {
    let code = Code::of(source);
    let mut types = Vec::new();
    for (n, line) in code.lines() {
        if line.starts_with("mod tests {") {
            break;
        }
        let is_indented = line.starts_with(' ');
        let mut words =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let keyword = words.find(|word| !["pub", "crate", "super", "in", "unsafe"].contains(word));
        let is_type = match keyword {
            Some("struct" | "enum" | "trait") => true,
            Some("type") => !is_indented,
            _ => false,
        };
        // A macro's parameter is in lower case.
        let name = words.next().filter(|name| is_type && name.starts_with(char::is_uppercase));
        types.extend(name.map(|name| (n, name.to_owned())));
    }
    types
}

/// The paths of the files that are compiled for tests only.
fn test_modules(files: &[TextFile]) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for file in files {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let stem = file.path.trim_end_matches(".rs").trim_end_matches("/lib").trim_end_matches("/mod");
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for (i, _) in lines.iter().enumerate().filter(|(_, line)| **line == "#[cfg(test)]") {
            let rest = &lines[i + 1..];
            let path = rest.first().and_then(|line| line.strip_prefix("#[path = \"")?.strip_suffix("\"]"));
            let module = rest.first().and_then(|line| line.strip_suffix(';'));
            let name = module.and_then(|line| line.rsplit_once("mod ")).map(|(_, name)| name);
            paths.extend(path.map(|path| format!("{folder}/{path}")));
            paths.extend(name.map(|name| format!("{stem}/{name}.rs")));
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| TextFile { path: (*path).into(), text: (*text).into() };
        let files: Vec<TextFile> = texts.iter().map(file).collect();
        assert_eq!(repeated_types(&files), expected, "{texts:?}");
    }

    #[test]
    fn a_type_has_a_name_of_its_own() {
        let a = ("ir/src/a.rs", "pub struct Row;\n// enum Pool\nfn f() {\n    struct Pool;\n}\n");
        check(&[a, ("passes/src/a.rs", "type Column = u8;\nimpl A for B {\n    type Row = u8;\n}\n")], &[]);
        let fault = "`Row` is the name of a type at ir/src/a.rs:1 too";
        let twice = ("optc/src/a.rs", "\npub(crate) trait Row: Sized {}\n");
        check(&[a, twice], &[&format!("optc/src/a.rs:2: {fault}")]);
        let pool = "passes/src/b.rs:1: `Pool` is the name of a type at ir/src/a.rs:4 too";
        check(&[a, ("passes/src/b.rs", "pub(super) enum Pool<'a> {}\n")], &[pool]);
    }

    #[test]
    fn tests_may_repeat_names() {
        let a = ("ir/src/a.rs", "struct Row;\n");
        let inside = ("ir/src/b.rs", "#[cfg(test)]\nmod tests {\n    struct Row;\n}\n");
        let beside = ("ir/src/c.rs", "#[cfg(test)]\n#[path = \"c_tests.rs\"]\nmod tests;\n");
        let module = ("ir/src/lib.rs", "#[cfg(test)]\npub(crate) mod testing;\n");
        let row = "struct Row;\n";
        check(&[a, inside, beside, ("ir/src/c_tests.rs", row), module, ("ir/src/testing.rs", row)], &[]);
        check(&[a, ("tests/src/d.rs", row)], &[]);
    }
}
