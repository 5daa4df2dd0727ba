//! That the repository keeps its house rules.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use tests::names::repeated_types;
use tests::prose;
use tests::tidy::{self, Fault, MOST_ARCHITECTURE_LINES, MOST_FILE_LINES};
use tests::workspace::{TextFile, files, root};

/// Fails with every fault that `rule` finds in the files with this extension whose path passes `filter`;
/// there must be at least one such file.
fn check(extension: &str, filter: impl Fn(&str) -> bool, rule: impl Fn(&TextFile) -> Vec<Fault>) {
    let files: Vec<TextFile> = files(&[extension]).into_iter().filter(|file| filter(&file.path)).collect();
    assert!(!files.is_empty(), "no .{extension} file to check");
    let faults: Vec<Fault> = files.iter().flat_map(rule).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn every_path(_: &str) -> bool {
    true
}

/// The crates whose `let`s must keep the rules of prose.
const PLAIN_ROOMS: [&str; 5] = ["ir/", "import/", "kernels/", "tests/", "examples/"];

fn in_a_plain_room(path: &str) -> bool {
    PLAIN_ROOMS.iter().any(|room| path.starts_with(room))
}

/// Workspaces of their own, next to the crates.
const BESIDE: [&str; 5] = ["capi/", "fuzz/", "python/", "tests/loom/", "tests/mutants/"];

fn manifest_of_a_room(path: &str) -> bool {
    path.ends_with("/Cargo.toml") && !BESIDE.iter().any(|beside| path.starts_with(beside))
}

/// Functions called by Python take Python's types, booleans too.
fn not_called_by_python(path: &str) -> bool {
    !path.starts_with("python/")
}

#[test]
fn files_are_short() {
    check("rs", every_path, |file| tidy::file_size(file, MOST_FILE_LINES));
}

#[test]
fn functions_are_short() {
    check("rs", every_path, tidy::function_size);
}

#[test]
fn files_begin_with_their_question() {
    check("rs", every_path, tidy::first_line);
}

#[test]
fn every_source_is_compiled() {
    let faults = tidy::unread(&files(&["rs"]));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn unsafe_stays_in_kernels_and_runtime() {
    check("rs", every_path, tidy::unsafe_code);
}

#[test]
fn nothing_is_left_for_later() {
    check("rs", every_path, tidy::unfinished);
}

#[test]
fn attributes_of_a_plan_are_taken_from_their_table() {
    check("rs", every_path, tidy::plan_attributes);
}

#[test]
fn booleans_are_no_parameters() {
    check("rs", not_called_by_python, tidy::boolean_parameters);
}

#[test]
fn rooms_depend_along_the_arrows() {
    check("toml", manifest_of_a_room, tidy::dependencies);
}

#[test]
fn packages_bear_the_projects_name() {
    let ours = |path: &str| manifest_of_a_room(path) && !path.starts_with("examples/");
    check("toml", ours, tidy::package_name);
}

#[test]
fn every_room_exists() {
    let manifests = files(&["toml"]);
    for (room, _) in tidy::ARROWS {
        let path = format!("{room}/Cargo.toml");
        assert!(manifests.iter().any(|file| file.path == path), "{path} is missing");
    }
}

#[test]
fn rooms_take_over_the_workspaces_lints() {
    check("toml", manifest_of_a_room, tidy::lints);
    let forbidden = |file: &TextFile| {
        if file.text.contains("\nunsafe_code = \"forbid\"\n") {
            Vec::new()
        } else {
            vec![format!("{}: `unsafe_code` must be forbidden", file.path)]
        }
    };
    check("toml", |path| path == "Cargo.toml", forbidden);
}

/// The sections of a manifest that configure release builds.
fn release_profile(path: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(root().join(path)).expect("the manifest can be read");
    let sections = text.split("\n[").filter(|section| section.starts_with("profile.release"));
    let lines = |section: &str| {
        let lines = section.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| format!("{line}\n")).collect()
    };
    sections.map(|section| (section.lines().next().unwrap_or_default().to_owned(), lines(section))).collect()
}

/// Otherwise the libraries for C and Python would be slower or larger than the command, and their
/// dependencies built twice in one target folder.
#[test]
fn libraries_are_built_as_the_command_is() {
    let command = release_profile("Cargo.toml");
    for path in ["capi/Cargo.toml", "python/Cargo.toml"] {
        let library = release_profile(path);
        for (section, lines) in &library {
            assert_eq!(Some(lines), command.get(section), "{path}: [{section}");
        }
        // A library has no command, and no object files.
        let parts =
            ["optc]", "optc-ir]", "optc-passes]", "optc-kernels]", "optc-codegen]", "cranelift-codegen]"];
        for part in parts {
            let section = format!("profile.release.package.{part}");
            assert!(library.contains_key(&section), "{path} lacks [{section}");
        }
    }
}

/// The unconditional dependencies of a package, by its manifest.
fn dependencies(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(path)).expect("the manifest can be read");
    let sections = text.split("\n[").filter(|section| section.starts_with("dependencies]\n"));
    let lines = sections
        .flat_map(str::lines)
        .skip(1)
        .filter(|line| !line.starts_with('#') && !line.contains("optional = true"));
    lines.filter_map(|line| Some(line.split_once([' ', '.'])?.0.to_owned())).collect()
}

/// Otherwise `cargo build --locked` refuses them.
#[test]
fn locks_outside_of_the_workspace_know_every_dependency() {
    for outside in ["capi", "fuzz", "python"] {
        let lock = std::fs::read_to_string(root().join(outside).join("Cargo.lock")).expect("a lock is there");
        for package in lock.split("[[package]]\nname = \"optc-").skip(1) {
            let name = package.split('"').next().unwrap_or_default();
            if name == outside {
                continue;
            }
            for dependency in dependencies(&format!("{name}/Cargo.toml")) {
                let known = [format!(" \"{dependency}"), format!(" \"optc-{dependency}")];
                assert!(
                    known.iter().any(|known| package.contains(known)),
                    "{outside}/Cargo.lock: optc-{name} lacks {dependency}: run `cargo metadata` there"
                );
            }
        }
    }
}

#[test]
fn the_architecture_is_told_in_few_lines() {
    let page = |path: &str| path == "docs/ARCHITECTURE.md";
    check("md", page, |file| tidy::file_size(file, MOST_ARCHITECTURE_LINES));
    check("md", page, prose::document_width);
}

#[test]
fn comments_end_where_code_ends() {
    check("rs", every_path, prose::comment_width);
}

#[test]
fn unrelated_values_are_bound_one_by_one() {
    check("rs", in_a_plain_room, prose::tuples_of_unrelated_values);
}

#[test]
fn types_have_names_of_their_own() {
    let files = files(&["rs"]);
    assert!(files.len() > 300, "only {} files were found", files.len());
    let faults = repeated_types(&files);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn lit_files_run_something() {
    let files = files(&["mlir"]);
    let lit_files = files.iter().filter(|file| file.path.starts_with("lit-tests/"));
    let faults: Vec<Fault> = lit_files.flat_map(tidy::run_line).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The external crates that the tests of these packages use, each with its features, except those used only
/// by macros.
fn builds(selection: &[&str]) -> BTreeSet<String> {
    let arguments =
        ["tree", "--offline", "--locked", "--edges=normal,dev", "--prefix=none", "--format={p} [{f}]"];
    let mut command = Command::new(env!("CARGO"));
    let output = command.args(arguments).args(selection).current_dir(root()).output().expect("cargo starts");
    assert!(output.status.success(), "{selection:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names of crates are text");
    let crates = text.lines().map(|line| line.trim_end_matches(" (*)").to_owned());
    crates.filter(|line| !line.starts_with("syn ")).collect()
}

#[test]
fn the_tests_of_one_package_use_the_builds_of_all() {
    let all = builds(&["--workspace"]);
    for (room, _) in tidy::ARROWS {
        let folder = room.rsplit('/').next().unwrap_or(room);
        let package = if ["optc", "my-machine", "my-opt", "toy-tensors"].contains(&folder) {
            folder.into()
        } else {
            format!("optc-{folder}")
        };
        let alone = builds(&["-p", &package]);
        let others: Vec<&String> = alone.difference(&all).collect();
        assert!(others.is_empty(), "{package}: `features/Cargo.toml` lacks what all have of {others:#?}");
    }
}

#[test]
fn lit_files_say_why_they_exist() {
    check("mlir", |path| path.starts_with("lit-tests/"), prose::reason);
}
