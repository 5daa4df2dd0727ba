//! That MLIR's own text round-trips byte for byte.
//!
//! `OPTC_MLIR_CORPUS` names a folder of mlir-opt's output, one module a file: `generic/`, `generic_local/`,
//! `generic_loc/`, `custom/`, and optionally `scramble/` and `negative/`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ir::diag::describe;
use ir::text::{
    Locations, ParseOptions, PrintForm, PrintOptions, Unregistered, parse, parse_with, print, print_with,
};
use ir::verify::verify;
use ir::{Context, Diagnostic};
use tests::given::given;

fn corpus() -> PathBuf {
    given("OPTC_MLIR_CORPUS")
}

fn rendered(ctx: &Context, errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.render(ctx) + "\n").collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("generic")).expect("the corpus has a folder `generic`");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn generic(text: &str, name: &str, locations: Locations) -> Result<String, String> {
    let ctx = Arc::new(Context::new());
    let options = ParseOptions { unregistered: Unregistered::Allow };
    let module =
        parse_with(&ctx, name, text.to_owned(), &options).map_err(|errors| rendered(&ctx, &errors))?;
    let options = PrintOptions { form: PrintForm::Generic, locations, ..Default::default() };
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

/// Two maps in it have the same text; MLIR tells them apart by the nesting of their sums.
const TWINS: &str = "IR__affine-map.000.mlir";

/// Reads a folder's files; they must print as those of another.
#[track_caller]
fn check_folder(source: &str, target: &str, locations: Locations, is_exempt: impl Fn(&str) -> bool) {
    let folder = corpus();
    let mut failures = Vec::new();
    let mut count = 0;
    for name in names(&folder).iter().filter(|name| !is_exempt(name)) {
        let expected = std::fs::read_to_string(folder.join(target).join(name)).unwrap();
        let Ok(text) = std::fs::read_to_string(folder.join(source).join(name)) else { continue };
        // A text of local scope lacks the bytes of resources.
        if *name == TWINS || expected.contains("{-#") && !text.contains("{-#") {
            continue;
        }
        count += 1;
        match generic(&text, name, locations) {
            Ok(found) if found == expected => {}
            Ok(found) => failures.push(format!("{name}: {}", first_difference(&found, &expected))),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    let shown: Vec<&String> = failures.iter().take(10).collect();
    assert!(failures.is_empty(), "{} of {count} differ: {shown:#?}", failures.len());
    assert!(count > 0, "no files in `{source}`");
}

#[test]
#[cfg_attr(not(given = "OPTC_MLIR_CORPUS"), ignore = "needs OPTC_MLIR_CORPUS")]
fn generic_text_comes_back() {
    check_folder("generic", "generic", Locations::Hidden, |_| false);
}

/// A file lists the modules whose generic form has aliases that only a dialect's own code chooses, one a
/// line.
#[test]
#[cfg_attr(not(given = "OPTC_MLIR_DIALECT_ALIASES"), ignore = "needs OPTC_MLIR_DIALECT_ALIASES")]
fn aliases_are_found_where_none_were_written() {
    let exempt = std::fs::read_to_string(given("OPTC_MLIR_DIALECT_ALIASES")).unwrap();
    check_folder("generic_local", "generic", Locations::Hidden, |name| {
        exempt.lines().any(|line| line == name)
    });
}

#[test]
#[cfg_attr(not(given = "OPTC_MLIR_CORPUS"), ignore = "needs OPTC_MLIR_CORPUS")]
fn locations_may_be_dropped() {
    check_folder("generic_loc", "generic", Locations::Hidden, |_| false);
}

#[test]
#[cfg_attr(not(given = "OPTC_MLIR_CORPUS"), ignore = "needs OPTC_MLIR_CORPUS")]
fn locations_come_back() {
    check_folder("generic_loc", "generic_loc", Locations::Shown, |_| false);
}

#[test]
#[cfg_attr(not(given = "OPTC_MLIR_CORPUS/scramble"), ignore = "needs OPTC_MLIR_CORPUS/scramble")]
fn names_and_white_space_do_not_matter() {
    check_folder("scramble", "generic", Locations::Hidden, |_| false);
}

/// Whether every operation of a module is of a registered dialect.
fn is_ours(name: &str, text: &str) -> bool {
    parse(&Arc::new(Context::new()), name, text.to_owned()).is_ok()
}

/// Modules of registered operations, with their generic text.
fn our_modules() -> Vec<(String, String)> {
    let folder = corpus();
    let all = names(&folder).into_iter().map(|name| {
        let text = std::fs::read_to_string(folder.join("generic").join(&name)).unwrap();
        (name, text)
    });
    let found: Vec<(String, String)> = all.filter(|(name, text)| is_ours(name, text)).collect();
    assert!(!found.is_empty(), "no module of the corpus has registered operations only");
    found
}

#[track_caller]
fn check_none(failures: &[String], count: usize) {
    eprintln!("{count} files");
    let shown: Vec<&String> = failures.iter().take(10).collect();
    assert!(failures.is_empty(), "{} of {count}: {shown:#?}", failures.len());
}

#[test]
#[cfg_attr(not(given = "OPTC_MLIR_CORPUS"), ignore = "needs OPTC_MLIR_CORPUS")]
fn mlirs_pretty_form_is_read() {
    let folder = corpus().join("custom");
    let mut failures = Vec::new();
    let mut count = 0;
    for (name, expected) in our_modules() {
        let Ok(text) = std::fs::read_to_string(folder.join(&name)) else { continue };
        count += 1;
        match generic(&text, &name, Locations::Hidden) {
            Ok(found) if found == expected => {}
            Ok(found) => failures.push(format!("{name}: {}", first_difference(&found, &expected))),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    check_none(&failures, count);
}

#[test]
#[cfg_attr(not(given = "OPTC_MLIR_CORPUS"), ignore = "needs OPTC_MLIR_CORPUS")]
fn what_is_printed_pretty_reads_back() {
    let folder = corpus();
    let mut failures = Vec::new();
    let mut count = 0;
    for name in names(&folder) {
        let expected = std::fs::read_to_string(folder.join("generic").join(&name)).unwrap();
        let ctx = Arc::new(Context::new());
        let options = ParseOptions { unregistered: Unregistered::Allow };
        let Ok(module) = parse_with(&ctx, &name, expected.clone(), &options) else { continue };
        count += 1;
        match generic(&print(&module), &name, Locations::Hidden) {
            Ok(found) if found == expected || name == TWINS => {}
            Ok(found) => failures.push(format!("{name}: {}", first_difference(&found, &expected))),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    check_none(&failures, count);
}

#[test]
#[cfg_attr(not(given = "OPTC_MLIR_CORPUS"), ignore = "needs OPTC_MLIR_CORPUS")]
fn what_mlir_accepts_is_verified() {
    let folder = corpus();
    let mut failures = Vec::new();
    let mut count = 0;
    for name in names(&folder) {
        let text = std::fs::read_to_string(folder.join("generic").join(&name)).unwrap();
        let ctx = Arc::new(Context::new());
        let options = ParseOptions { unregistered: Unregistered::Allow };
        let Ok(module) = parse_with(&ctx, &name, text, &options) else { continue };
        count += 1;
        if let Err(errors) = verify(&module) {
            failures.push(format!("{name}: {}", rendered(&ctx, &errors)));
        }
    }
    check_none(&failures, count);
}

/// Whether a message has the location of its fault in the text: `t:3:14`.
fn says_where(ctx: &Context, error: &Diagnostic) -> bool {
    let place = describe(ctx, error.location).unwrap_or_default();
    let mut numbers = place.rsplit(':').take(2).map(|number| number.parse::<u32>().is_ok());
    numbers.next() == Some(true) && numbers.next() == Some(true)
}

#[test]
#[cfg_attr(not(given = "OPTC_MLIR_CORPUS/negative"), ignore = "needs OPTC_MLIR_CORPUS/negative")]
fn refusals_are_located_and_nothing_panics() {
    let folder = corpus().join("negative");
    let (mut refused, mut breaches) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let ctx = Arc::new(Context::new());
        let options = ParseOptions { unregistered: Unregistered::Allow };
        let errors = match parse_with(&ctx, "t", text, &options) {
            Ok(module) => {
                print(&module);
                let found = verify(&module).err().unwrap_or_default();
                breaches += usize::from(!found.is_empty());
                found
            }
            Err(errors) => {
                refused += 1;
                errors
            }
        };
        for error in errors {
            assert!(says_where(&ctx, &error), "{}: {}", path.display(), error.render(&ctx));
        }
    }
    assert!(refused > 0 && breaches > 0, "{refused} texts were malformed, {breaches} broke laws");
}

/// The names of the negative files on which one of MLIR's verifiers fails.
fn refused_by_verifier(folder: &Path) -> Vec<String> {
    let manifest = std::fs::read_to_string(folder.join("negative_manifest.jsonl")).unwrap();
    let lines = manifest.lines().filter(|line| line.ends_with("\"kind\": \"verifier\"}"));
    let names: Vec<String> = lines.filter_map(|line| Some(line.split('"').nth(3)?.to_owned())).collect();
    assert!(!names.is_empty(), "the manifest names no program that a verifier refuses");
    names
}

#[test]
#[cfg_attr(
    not(given = "OPTC_MLIR_CORPUS/negative_manifest.jsonl"),
    ignore = "needs OPTC_MLIR_CORPUS/negative_manifest.jsonl"
)]
fn what_mlir_refuses_is_not_verified() {
    let folder = corpus();
    let names = refused_by_verifier(&folder);
    let mut accepted = Vec::new();
    let mut count = 0;
    // The missing checks belong to dialects that are not registered here.
    let others = ["Dialect__LLVMIR__layout.004.mlir", "Dialect__Shape__invalid.022.mlir"];
    for name in names.into_iter().filter(|name| !others.contains(&&**name)) {
        let Ok(text) = std::fs::read_to_string(folder.join("negative").join(&name)) else { continue };
        let ctx = Arc::new(Context::new());
        let Ok(module) = parse(&ctx, &name, text) else { continue };
        count += 1;
        if verify(&module).is_ok() {
            accepted.push(name);
        }
    }
    assert!(count > 0, "no program that a verifier refuses could be read");
    check_none(&accepted, count);
}
