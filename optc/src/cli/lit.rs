//! `optc lit FILES`: run tests that are files of IR text.

use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;

use clap::Args;
use codegen::{Cpu, Isa};
use serde::Serialize;

use super::output::{check_writable, instead, json};
use crate::failure::Failure;
use crate::lit::{self, LitDifference};
use crate::opt::Setup;

/// Run tests: files of IR text with a command in their first line, `// RUN: optc ...`, and the expected
/// output.
///
/// The expected output follows a line `// ----- output`, or comments require parts of it: `// CHECK: text`,
/// `CHECK-NEXT`, `CHECK-SAME`, `CHECK-NOT`, `CHECK-DAG`, `CHECK-LABEL`, with `{{expression}}`,
/// `[[NAME:expression]]` and `[[NAME]]`. Programs are compiled for `x86-64-v3` and one thread, unless the
/// first line has `--target-cpu` or `--threads`, so that results are the same on every machine.
#[derive(Args)]
pub(super) struct LitArgs {
    /// Tests (`.mlir`), folders of tests, or `-` for a test on standard input.
    #[arg(required = true, value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// Write the actual output into tests that differ. On a terminal, each difference is shown, and confirmed
    /// first.
    #[arg(long)]
    bless: bool,
    /// Run only tests whose path contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write the results of the tests as JSON to a file; `-` prints them instead of the text.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
}

/// What `--json` writes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct LitReport {
    version: u32,
    /// The number of tests.
    tests: usize,
    /// The number of tests that were rewritten.
    rewritten: usize,
    /// Failed tests, each with its path and the reason.
    failed: Vec<String>,
}

/// The setup for tests, the same on any machine.
pub(super) fn same_everywhere() -> Setup {
    Setup { cpu: Cpu::of(Isa::Avx2), ..Setup::default() }
}

/// The outcome of a differing test.
enum Blessing {
    Failed,
    Blessed,
}

pub(super) fn run(setup: &Setup, args: &LitArgs) -> Result<(), Failure> {
    check_writable(&args.json)?;
    if args.bless && args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::Usage("--bless is for files: standard input can't be rewritten".to_owned()));
    }
    let mut tests = Vec::new();
    for path in &args.paths {
        if path.is_dir() {
            tests.extend(lit::files(path).map_err(Failure::input)?);
        } else {
            tests.push(path.clone());
        }
    }
    let filter = args.filter.as_deref().unwrap_or_default();
    tests.retain(|path| path.to_string_lossy().contains(filter));
    if tests.is_empty() {
        return Err(Failure::input("there is no test: no such file ends in `.mlir`"));
    }
    let mut asking = Asking { bless: args.bless, all: !stdin().is_terminal() || !stdout().is_terminal() };
    let mut failed = Vec::new();
    let mut blessed = 0;
    for path in &tests {
        let found = match path.as_os_str() == "-" {
            true => lit::difference_of_stdin(setup),
            false => lit::difference(setup, path),
        };
        let faults = match found {
            Ok(None) => continue,
            Err(fault) => fault,
            Ok(Some(difference)) => match asking.decide(path, &difference)? {
                Blessing::Failed => {
                    format!("{}: the output differs:\n{}", path.display(), difference.text)
                }
                Blessing::Blessed => {
                    difference.bless(path).map_err(Failure::input)?;
                    blessed += 1;
                    continue;
                }
            },
        };
        failed.push(faults);
    }
    let report = LitReport { version: 1, tests: tests.len(), rewritten: blessed, failed };
    super::write_output(&instead(&args.json, || json(&report), report.text())?, None)?;
    Failure::unless_none(report.failed)
}

impl LitReport {
    fn text(&self) -> String {
        let counted = |count: usize, what: &str| match count {
            0 => String::new(),
            _ => format!(", {count} {what}"),
        };
        let (rewritten, failed) =
            (counted(self.rewritten, "rewritten"), counted(self.failed.len(), "failed"));
        format!("{} tests{rewritten}{failed}\n", self.tests)
    }
}

/// The state of confirming changes.
struct Asking {
    bless: bool,
    /// Whether no more questions are asked.
    all: bool,
}

impl Asking {
    fn decide(&mut self, path: &std::path::Path, difference: &LitDifference) -> Result<Blessing, Failure> {
        if !self.bless {
            return Ok(Blessing::Failed);
        }
        while !self.all {
            let question =
                format!("{}:\n{}rewrite it? [y]es, [n]o, [a]ll, [q]uit ", path.display(), difference.text);
            let mut answer = String::new();
            let asked = stdout().write_all(question.as_bytes()).and_then(|()| stdout().flush());
            let read = asked.and_then(|()| stdin().read_line(&mut answer));
            let length = read.map_err(|error| Failure::input(format!("nobody answers: {error}")))?;
            match answer.trim() {
                "y" | "yes" => return Ok(Blessing::Blessed),
                "n" | "no" => return Ok(Blessing::Failed),
                "a" | "all" => self.all = true,
                "q" | "quit" => self.bless = false,
                _ if length == 0 => self.bless = false,
                _ => {}
            }
            if !self.bless {
                return Ok(Blessing::Failed);
            }
        }
        Ok(Blessing::Blessed)
    }
}
