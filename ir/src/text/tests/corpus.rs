//! Does MLIR's own text come back byte for byte? Reads a corpus of mlir-opt's output from the folder that `OPTC_MLIR_CORPUS` names
//! (`generic/`, `generic_local/`, `generic_loc/`: one module a file); without it these tests say so and pass.

use std::path::{Path, PathBuf};

use super::*;

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("OPTC_MLIR_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: OPTC_MLIR_CORPUS names no corpus");
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("generic")).expect("the corpus has a folder `generic`");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn generic(text: &str, name: &str) -> Result<String, String> {
    let ctx = Arc::new(Context::new());
    let options = ParseOptions { unregistered: Unregistered::Allow };
    let module =
        parse_with(&ctx, name, text.to_owned(), &options).map_err(|errors| rendered(&ctx, &errors))?;
    let options = PrintOptions { form: PrintForm::Generic, ..PrintOptions::default() };
    Ok(print_with(&module, &options) + "\n")
}

/// The first line in which two texts differ.
fn first_difference(found: &str, expected: &str) -> String {
    let mut lines = found.lines().zip(expected.lines()).enumerate();
    match lines.find(|(_, (found, expected))| found != expected) {
        Some((line, (found, expected))) => {
            format!("line {}:\n  found    {found}\n  expected {expected}", line + 1)
        }
        None => format!("{} lines, expected {}", found.lines().count(), expected.lines().count()),
    }
}

#[track_caller]
fn check_folder(source: &str, is_exempt: impl Fn(&str) -> bool) {
    let Some(folder) = corpus() else { return };
    let (mut failures, mut count) = (Vec::new(), 0);
    for name in names(&folder).iter().filter(|name| !is_exempt(name)) {
        let expected = std::fs::read_to_string(folder.join("generic").join(name)).unwrap();
        let Ok(text) = std::fs::read_to_string(folder.join(source).join(name)) else { continue };
        count += 1;
        match generic(&text, name) {
            Ok(found) if found == expected => {}
            Ok(found) => failures.push(format!("{name}: {}", first_difference(&found, &expected))),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    let shown: Vec<&String> = failures.iter().take(40).collect();
    assert!(failures.is_empty(), "{} of {count} differ: {shown:#?}", failures.len());
    assert!(count > 0, "no files in `{source}`");
}

#[test]
fn generic_text_comes_back() {
    check_folder("generic", |_| false);
}
