//! That each house rule finds its violations and nothing else.

use super::*;

/// Compares the faults that `rule` finds in a file of this path and text; `expected` has `$` for `path`.
fn check(rule: impl Fn(&TextFile) -> Vec<Fault>, path: &str, text: &str, expected: &[&str]) {
    let faults = rule(&TextFile { path: path.to_owned(), text: text.to_owned() });
    let expected: Vec<String> = expected.iter().map(|fault| fault.replace('$', path)).collect();
    assert_eq!(faults, expected, "{text}");
}

#[test]
fn a_file_of_the_most_lines_is_fine_and_one_more_is_not() {
    let rule = |file: &TextFile| file_size(file, 3);
    check(rule, "a.rs", "1\n2\n3\n", &[]);
    check(rule, "a.rs", "1\n2\n3\n4", &["$: 4 lines, at most 3 are allowed"]);
}

#[test]
fn a_function_of_the_most_lines_is_fine_and_one_more_is_not() {
    let function = |lines: usize| format!("\nfn a() {{{}}}", "\n".repeat(lines - 1));
    check(function_size, "a.rs", &function(60), &[]);
    check(function_size, "a.rs", &function(61), &["$:2: `a` has 61 lines, at most 60 are allowed"]);
}

#[test]
fn a_file_begins_with_its_question() {
    check(first_line, "a.rs", "//! Which op reads a value last.\n", &[]);
    let fault = "$:1: the first line must be `//!` and the question that the file answers";
    for text in ["", "//!\n", "//! ops\n", "// Which op reads a value last.", "\n//! Which op it is."] {
        check(first_line, "a.rs", text, &[fault]);
    }
}

#[test]
fn attributes_of_a_plan_are_spelt_in_their_table_only() {
    let text = "// `mem.tie`\nlet tie = op.attr(\"mem.tie\");\nlet text = \"{mem.tie}\";";
    check(plan_attributes, "ir/src/plan/attrs.rs", text, &[]);
    check(plan_attributes, "a.rs", text, &["$:2: `mem.tie` has a name in `ir/src/plan/attrs.rs`"]);
}

#[test]
fn each_source_is_a_module_of_another() {
    let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
    let mut files = vec![
        file("a/src/lib.rs", "mod b;\npub mod c;"),
        file("a/src/b.rs", "#[path = \"b_tests.rs\"]\nmod tests;"),
        file("a/src/b_tests.rs", ""),
        file("a/src/c/mod.rs", "mod d;"),
        file("a/src/c/d.rs", ""),
        file("a/tests/it.rs", ""),
        file("x/src/lib.rs", "mod e;"),
    ];
    assert_eq!(unread(&files), [""; 0]);
    files.extend([file("a/src/e.rs", ""), file("a/src/c/b.rs", "mod f;")]);
    // A module of another crate: `b` is assumed to be the one of the folder above.
    let fault = "a/src/e.rs:1: no file has this one as a module, so nothing compiles it";
    assert_eq!(unread(&files), [fault]);
    files[1].text.clear();
    assert_eq!(unread(&files).len(), 2);
}

#[test]
fn unsafe_stays_in_its_rooms() {
    let text = "// unsafe\n#![forbid(unsafe_code)]\nfn a() { unsafe { b() } }";
    check(unsafe_code, "kernels/src/a.rs", text, &[]);
    check(unsafe_code, "codegen/src/trust.rs", text, &[]);
    for path in ["ir/src/a.rs", "codegen/src/a.rs"] {
        let fault = "$:3: `unsafe` is for `kernels`, `runtime` and `codegen/src/trust.rs` only";
        check(unsafe_code, path, text, &[fault]);
    }
}

#[test]
fn nothing_is_left_for_later() {
    for word in UNFINISHED_CODE {
        let fault = |line: usize| format!("$:{line}: `{word}` has no place here");
        check(unfinished, "a.rs", &format!("// This is not {word}() but done."), &[]);
        check(unfinished, "a.rs", &format!("{word}()"), &[&fault(1)]);
        let spaced = word.replace('!', " ! ").replace('(', " ( ");
        check(unfinished, "a.rs", &format!("\nfn a() {{ {spaced} }}"), &[&fault(2)]);
    }
    for word in UNFINISHED_TEXT {
        let fault = format!("$:2: `{word}` has no place here");
        check(unfinished, "a.rs", &format!("\n// {word}: later"), &[&fault]);
    }
}

#[test]
fn booleans_are_no_parameters() {
    let fine = "fn a(f: impl Fn(bool) -> bool, b: Vec<bool>) -> bool { let x: bool = c; }";
    check(boolean_parameters, "a.rs", fine, &[]);
    check(boolean_parameters, "a.rs", "impl From<bool> for A { fn from(b: bool) {} }", &[]);
    check(boolean_parameters, "a.rs", "fn a(x: bool) {}", &["$:1: `a` takes a `bool`"]);
    check(boolean_parameters, "a.rs", "\nfn a(\n  x: bool,\n) {}", &["$:2: `a` takes a `bool`"]);
}

#[test]
fn a_lit_file_runs_something() {
    check(run_line, "a.mlir", "\n// RUN: optc --passes=fuse %s\nmodule {}", &[]);
    check(run_line, "a.mlir", "// it RUN: s\n", &["$: no line begins with `// RUN: `"]);
}

#[test]
fn rooms_depend_along_the_arrows_only() {
    let fine = "[package]\nname = \"x\"\n[dependencies]\nir.workspace = true # the language\n\
        egg = { workspace = true, features = [] }\n[lints]\nworkspace = true\n";
    check(dependencies, "passes/Cargo.toml", fine, &[]);
    let against = "[dev-dependencies]\nimport.workspace = true\n";
    let fault = "$:2: `passes` must not depend on `import`";
    check(dependencies, "passes/Cargo.toml", against, &[fault]);
    let versions = "[dependencies]\negg = \"0.11\"\n[dependencies.half]\nversion = \"2\"\n";
    let faults = ["$:2: `egg` must be `workspace = true`", "$:3: `half` must be `workspace = true`"];
    check(dependencies, "passes/Cargo.toml", versions, &faults);
    check(dependencies, "misc/Cargo.toml", "", &["$: `misc` is not one of the rooms"]);
}

#[test]
fn packages_bear_the_projects_name() {
    check(package_name, "ir/Cargo.toml", "[package]\nname = \"optc-ir\"\n[lib]\nname = \"ir\"\n", &[]);
    check(package_name, "optc/Cargo.toml", "[package]\nname = \"optc\"\n", &[]);
    let fault = "$:2: the package `ir` must be called `optc-ir`";
    check(package_name, "ir/Cargo.toml", "[package]\nname = \"ir\"\n", &[fault]);
    check(package_name, "ir/Cargo.toml", "[lib]\n", &["$: the package has no name"]);
}

#[test]
fn rooms_take_over_the_lints() {
    check(lints, "ir/Cargo.toml", "[lints]\nworkspace = true\n", &[]);
    check(lints, "kernels/Cargo.toml", "[lints.rust]\n", &[]);
    check(lints, "codegen/Cargo.toml", "[lints.rust]\nunsafe_code = \"deny\"\n", &[]);
    let fault = "$: `unsafe_code` must be denied, for one file to allow it";
    check(lints, "codegen/Cargo.toml", "[lints.rust]\n", &[fault]);
    check(lints, "ir/Cargo.toml", "[lints.rust]\n", &["$: `[lints]` must be `workspace = true`"]);
}
