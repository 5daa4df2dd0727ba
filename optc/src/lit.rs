//! Lit tests: a test is one file of IR text. Other crates can use them for their own passes and dialects.
//!
//! ```text
//! // RUN: optc --passes=dce
//!
//! func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   %0 = nn.exp %x : tensor<4xf32>
//!   return %x : tensor<4xf32>
//! }
//! // ----- output
//! // module {
//! // ...
//! ```
//!
//! The first line is a command, run in process on the text above the output; the comment at the end is its
//! entire output: first standard error, then standard output. If the input is refused, the diagnostics are
//! the output. A printed program must print as itself when it is parsed again.
//!
//! For `// RUN: optc plan --dim N=4` and `optc run ...`, the output is what these verbs print for the file,
//! without times. Everything is compiled for the setup's target, on any machine, unless the line has
//! `--target-cpu`.
//!
//! Instead of the entire output, comments may check parts of it (see below):
//!
//! ```text
//! // RUN: optc --passes=fuse
//! func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   // CHECK: optc.group([[A:%.*]] = %arg0)
//!   // CHECK-NEXT: nn.exp [[A]]
//! ```
//!
//! # Directives
//!
//! The directives are FileCheck's: `CHECK`, `CHECK-NEXT`, `CHECK-SAME`, `CHECK-NOT`, `CHECK-DAG`,
//! `CHECK-LABEL`, with `{{expression}}`, `[[NAME:expression]]` and `[[NAME]]` in their patterns. A misspelt
//! one is an error, and so is one that can't fail.
//!
//! [`run_folder`] runs every such file in a folder; [`LitMode::Bless`] writes the output into the files.
//! [`check`] does the same with strings, for tests beside the code. All take a [`Setup`], and the first line
//! names its tool, so that a crate with its own passes and dialects tests them in the same way:
//!
//! ```no_run
//! use optc::lit::{LitMode, run_folder};
//! use optc::opt::Setup;
//!
//! let my_opt = Setup { name: "my-opt", ..Setup::default() };
//! run_folder(&my_opt, "lit-tests".as_ref(), LitMode::from_environment().unwrap()).unwrap();
//! ```

mod directives;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use codegen::Cpu;
use ir::Target;
use passes::manager::unified_diff;

use self::directives::Directives;
use crate::cli::verb_text;
use crate::opt::{OptArgs, Setup, Source};
#[cfg(feature = "cli")]
use crate::whole_file::UnfinishedPath;
use crate::whole_file::write_whole;

const RUN: &str = "// RUN: ";
const OUTPUT: &str = "// ----- output";

/// The reaction to a file that differs from the actual output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LitMode {
    /// The test fails.
    Check,
    /// The file is rewritten.
    Bless,
}

impl LitMode {
    /// [`LitMode::Bless`] if the environment has `OPTC_BLESS=1`.
    ///
    /// # Errors
    /// If it also has `CI`: there, nobody would review the blessed output.
    pub fn from_environment() -> Result<LitMode, String> {
        let is_set =
            |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        match (is_set("OPTC_BLESS"), is_set("CI")) {
            (true, true) => Err("OPTC_BLESS rewrites tests, and is refused where CI is set".to_owned()),
            (true, false) => Ok(LitMode::Bless),
            (false, _) => Ok(LitMode::Check),
        }
    }
}

/// All `.mlir` files in a folder and its subfolders, sorted.
///
/// # Errors
/// If a folder can't be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs the tests in all files of a folder; returns their number.
///
/// # Errors
/// If the folder can't be read or has no test; otherwise the faults of each failing file.
pub fn run_folder(setup: &Setup, folder: &Path, mode: LitMode) -> Result<usize, String> {
    let files = files(folder)?;
    if files.is_empty() {
        return Err(format!("{}: there is no .mlir file", folder.display()));
    }
    let faults: Vec<String> = files.iter().filter_map(|path| run_file(setup, path, mode).err()).collect();
    if faults.is_empty() { Ok(files.len()) } else { Err(faults.join("\n\n")) }
}

/// Runs the test in a file.
///
/// # Errors
/// If the file is no test, or its output differs from the expected one, or does not parse back as itself.
pub fn run_file(setup: &Setup, path: &Path, mode: LitMode) -> Result<(), String> {
    match (difference(setup, path)?, mode) {
        (None, _) => Ok(()),
        (Some(difference), LitMode::Check) => Err(format!(
            "the output differs from {} (OPTC_BLESS=1 rewrites it):\n{}",
            path.display(),
            difference.text
        )),
        (Some(difference), LitMode::Bless) => difference.bless(path),
    }
}

/// A test whose output differs from the expected one.
pub(crate) struct LitDifference {
    /// The lines that differ, as a unified diff.
    pub(crate) text: String,
    blessed: String,
}

impl LitDifference {
    /// Writes the output into the test.
    ///
    /// # Errors
    /// If the file can't be written.
    pub(crate) fn bless(&self, path: &Path) -> Result<(), String> {
        write_whole(path, self.blessed.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Runs the test in a file; returns the difference from its expected output, if that is the entire output.
///
/// # Errors
/// If the file is no test, or its output violates directives or does not parse back as itself.
pub(crate) fn difference(setup: &Setup, path: &Path) -> Result<Option<LitDifference>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    difference_in(setup, path, &name, &path.display().to_string())
}

/// Like [`difference`] for the test on standard input, which is stored in a file while it runs, because verbs
/// read files.
#[cfg(feature = "cli")]
pub(crate) fn difference_of_stdin(setup: &Setup) -> Result<Option<LitDifference>, String> {
    const STDIN: &str = "<stdin>";
    let said = |error: std::io::Error| format!("{STDIN}: {error}");
    let mut builder = tempfile::Builder::new();
    let (mut file, _unfinished) =
        UnfinishedPath::of(|| builder.suffix(".mlir").tempfile(), tempfile::NamedTempFile::path)
            .map_err(said)?;
    std::io::copy(&mut std::io::stdin().lock(), &mut file).map_err(said)?;
    difference_in(setup, file.path(), STDIN, STDIN)
}

/// The difference from the test in a file, which is called `name` in its output and `shown` in faults.
fn difference_in(
    setup: &Setup,
    path: &Path,
    name: &str,
    shown: &str,
) -> Result<Option<LitDifference>, String> {
    let said = |fault: &dyn std::fmt::Display| format!("{shown}: {fault}");
    let content = fs::read_to_string(path).map_err(|error| said(&error))?;
    let blessed = run_in(setup, name, &content, Some(path)).map_err(|fault| said(&fault))?;
    let differs = blessed != content;
    Ok(differs.then(|| LitDifference { text: unified_diff(&content, &blessed), blessed }))
}

/// Runs the test in a text; returns the text with the actual output, or unchanged if it has directives.
///
/// # Errors
/// If the text is no test, or its output violates directives or does not parse back as itself.
pub fn run_text(setup: &Setup, name: &str, content: &str) -> Result<String, String> {
    run_in(setup, name, content, None)
}

fn run_in(setup: &Setup, name: &str, content: &str, path: Option<&Path>) -> Result<String, String> {
    let line = content.lines().next().unwrap_or_default();
    let arguments = line.strip_prefix(RUN).and_then(|command| command.strip_prefix(setup.name));
    let arguments = arguments.filter(|rest| rest.is_empty() || rest.starts_with(' '));
    let arguments = arguments.ok_or_else(|| format!("the first line is not `{RUN}{} ...`", setup.name))?;
    let words = words(arguments)?;
    let marker = content.lines().position(|line| line == OUTPUT);
    let input: String = content.split_inclusive('\n').take(marker.unwrap_or(usize::MAX)).collect();
    let directives = Directives::read(&input)?;
    let output = match (words.first().map(String::as_str), path) {
        (Some("plan" | "run" | "explain"), Some(path)) => {
            verb_text(setup, path, &for_target(setup, words.clone()))?
                .replace(&path.display().to_string(), name)
        }
        _ => output(setup, &OptArgs::parse(&words)?, name, &input)?,
    };
    if let Some(directives) = directives {
        return match marker {
            Some(_) => Err("a test says its whole output, or has directives, not both".to_owned()),
            None => directives.check(&output).map(|()| content.to_owned()),
        };
    }
    let comment: String = output.lines().map(comment_line).collect();
    let newline = if input.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{input}{newline}{OUTPUT}\n{comment}"))
}

/// The words of a verb, with the setup's CPU as target unless they name one, so that the output is the same
/// on every machine.
fn for_target(setup: &Setup, mut words: Vec<String>) -> Vec<String> {
    let name = setup.cpu.name();
    if Cpu::named(name).is_ok() && !words.iter().any(|word| word.starts_with("--target-cpu")) {
        words.push(format!("--target-cpu={name}"));
    }
    words
}

/// Checks the result of a pipeline on a program, both as text. `expected` must include the module around
/// functions; spaces at the ends are ignored.
///
/// ```
/// optc::lit::check(
///     &optc::opt::Setup::default(),
///     "dce",
///     "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
///        %0 = nn.exp %x : tensor<4xf32>
///        return %x : tensor<4xf32>
///      }",
///     "module {
///   func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
///     return %arg0 : tensor<4xf32>
///   }
/// }",
/// );
/// ```
///
/// # Panics
/// If the result differs.
pub fn check(setup: &Setup, pipeline: &str, input: &str, expected: &str) {
    let args = OptArgs { passes: pipeline.to_owned(), ..OptArgs::default() };
    let found = output(setup, &args, "input", input).unwrap_or_else(|fault| panic!("{fault}"));
    let (found, expected) = (found.trim(), expected.trim());
    assert!(
        found == expected,
        "the output differs from the expected one:\n{}",
        unified_diff(expected, found)
    );
}

/// The entire output.
fn output(setup: &Setup, args: &OptArgs, name: &str, input: &str) -> Result<String, String> {
    let told = RefCell::new(String::new());
    let done = setup.opt_text(args, Source::new(name, input), &|text| told.borrow_mut().push_str(text));
    let told = told.into_inner();
    match done {
        Ok(printed) => {
            if !args.print_pipeline {
                read_back(setup, args, &printed)?;
            }
            Ok(told + &printed)
        }
        Err(failure) => Ok(format!("{told}{failure}\n")),
    }
}

/// Checks that each program of an output prints as itself.
fn read_back(setup: &Setup, args: &OptArgs, printed: &str) -> Result<(), String> {
    for part in printed.split("// -----\n").filter(|part| !part.is_empty()) {
        let ctx = setup.context();
        let module = ir::text::parse_with(&ctx, "output", part.to_owned(), &args.parse_options());
        let module = module.map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(|fault| fault.render(&ctx)).collect();
            format!("the printed program can't be read:\n{}\n{part}", faults.join("\n"))
        })?;
        let again = ir::text::print_with(&module, &args.print_options());
        if again != part {
            return Err(format!(
                "the printed program reads as a different one:\n{}",
                unified_diff(part, &again)
            ));
        }
    }
    Ok(())
}

fn comment_line(line: &str) -> String {
    if line.is_empty() { "//\n".to_owned() } else { format!("// {line}\n") }
}

/// The words of a `// RUN:` line, the tool's name first; none if the line is none.
pub(crate) fn run_line_words(line: &str) -> Option<Vec<String>> {
    words(line.strip_prefix(RUN)?).ok()
}

/// The words of a command, which may be quoted.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() { Err("a quotation mark of the RUN line is not closed".to_owned()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "func.func @f() {\n  return\n}\n";

    #[test]
    fn words_may_be_quoted() {
        assert_eq!(words(" a  'b c'd \"\" ").unwrap(), ["a", "b cd", ""]);
        assert!(words("'a").is_err());
    }

    #[test]
    fn the_output_replaces_what_the_text_says() {
        let test = format!("// RUN: optc --passes=dce\n{PROGRAM}");
        let blessed = run_text(&Setup::default(), "t", &test).unwrap();
        assert_eq!(
            blessed,
            format!(
                "{test}// ----- output\n// module {{\n//   func.func @f() {{\n//     return\n//   }}\n// }}\n"
            )
        );
        assert_eq!(run_text(&Setup::default(), "t", &blessed).unwrap(), blessed);
        let wrong = blessed.replace("//     return\n", "");
        assert_eq!(run_text(&Setup::default(), "t", &wrong).unwrap(), blessed);
    }

    #[test]
    fn what_is_refused_is_shown_with_its_place() {
        let blessed = run_text(&Setup::default(), "t", "// RUN: optc --passes=dec\nmodule {}\n").unwrap();
        assert!(blessed.contains("// error: there is no pass `dec`"), "{blessed}");
        assert!(blessed.contains("did you mean `dce`?"), "{blessed}");
    }

    #[test]
    fn a_test_names_the_tool_that_it_is_for() {
        let my_opt = Setup { name: "my-opt", ..Setup::default() };
        let test = format!("// RUN: my-opt --passes=dce\n{PROGRAM}");
        assert!(run_text(&my_opt, "t", &test).unwrap().contains("// module {"));
        let fault = run_text(&Setup::default(), "t", &test).unwrap_err();
        assert_eq!(fault, "the first line is not `// RUN: optc ...`");
        let longer = test.replace("my-opt", "my-optimizer");
        assert!(run_text(&my_opt, "t", &longer).is_err());
    }

    #[test]
    fn directives_take_the_place_of_the_output() {
        let setup = Setup::default();
        let test = format!("// RUN: optc --passes=dce\n{PROGRAM}// CHECK: func.func @f()\n");
        assert_eq!(run_text(&setup, "t", &test).unwrap(), test);
        let fault =
            run_text(&setup, "t", &test.replace("CHECK: func.func @f", "CHECK: func.func @g")).unwrap_err();
        assert!(fault.starts_with("line 5: `CHECK: func.func @g()` is not in the output"), "{fault}");
        let both = format!("{test}// ----- output\n");
        assert!(run_text(&setup, "t", &both).unwrap_err().contains("not both"));
    }

    #[test]
    fn a_file_that_is_no_test_is_refused() {
        let fault = run_text(&Setup::default(), "t", PROGRAM).unwrap_err();
        assert_eq!(fault, "the first line is not `// RUN: optc ...`");
        assert!(
            run_text(&Setup::default(), "t", "// RUN: optc --pases=a\n").unwrap_err().contains("--passes")
        );
    }
}
