//! `optc bisect`: find the pass, and the change of it, that alters a program's results.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use ir::Module;
use passes::manager::PassObserver;
use serde::Serialize;

use super::inputs::{InputArgs, fix_sizes};
use super::output::{check_writable, instead, json};
use super::{CompareOutcome, FileArgs, MachineArgs, MemoryArgs, parse_tolerance, progress, write_output};
use crate::arrays::{Array, read_npz};
use crate::bisect::{BisectOptions, Bisected, Trouble, bisect};
use crate::compile::{CompileOptions, DeadMemory, entry, passes_to_plan, signature};
use crate::expect::first_difference;
use crate::failure::Failure;
use crate::interpret::interpret;
use crate::load::load;
use crate::opt::Setup;
use crate::quiet::quietly;

/// Find the pass, and the change of it, that alters a program's results.
///
/// The interpreter runs the program as it was read, and again after passes, with the pipeline cut off at
/// different passes; then real runs on poisoned memory are compared in the same way. Prints the pass at
/// fault, which of its changes, and the first value that differs. `select`, `variants` and `symbol-dce` count
/// as one change each, because their decisions hold only for a whole function or module. Exit status: 0 if
/// nothing differs, 1 if something does.
///
/// Examples:
///   optc bisect model.onnx --synthesize-weights --random
///   optc bisect net.mlir --inputs=x.npz --check=y.npz --passes=simplify,fuse
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct BisectArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    inputs: InputArgs,
    /// The passes to search [default: all passes up to the plan].
    #[arg(long, value_name = "PIPELINE")]
    passes: Option<String>,
    /// Expected outputs: a `.npz` file with an array for each output [default: the interpreter's].
    #[arg(long, value_name = "Y.npz")]
    check: Option<PathBuf>,
    /// Tolerance for outputs, as a share of the output's absolute maximum.
    #[arg(long, default_value_t = 1e-4, value_parser = parse_tolerance)]
    tolerance: f64,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Function to compile [default: the only public one, else `main`].
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Write the findings as JSON to a file; `-` prints them instead of the text.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
}

/// Shows the current trial on a terminal.
struct ShownTrials;

impl PassObserver for ShownTrials {
    fn begins(&self, step: &str) -> ControlFlow<String> {
        progress::say(step);
        ControlFlow::Continue(())
    }
}

/// What `--json` writes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct BisectReport<'a> {
    version: u32,
    differs: bool,
    #[serde(flatten)]
    found: Option<&'a Bisected>,
}

pub(super) fn run(setup: &Setup, args: &BisectArgs) -> Result<CompareOutcome, Failure> {
    check_writable(&args.json)?;
    progress::say("loading");
    let mut module = load(&args.file.file, &args.file.options(setup)?)?;
    let entry = entry(&module, args.entry.as_deref())?;
    let cases = args.inputs.cases(&module, &entry)?;
    let [case] = &cases[..] else { return Err(Failure::Usage("one --inputs can be bisected".to_owned())) };
    fix_sizes(&mut module, &cases)?;
    let expected = match &args.check {
        Some(path) => Some(expected(&module, &entry, (&case.inputs, path), args.tolerance)?),
        None => None,
    };
    let compile = args.memory.options(setup, &args.machine, &entry, DeadMemory::Poisoned);
    let compile = CompileOptions { observer: Some(Arc::new(ShownTrials)), ..compile };
    progress::say("interpreting");
    let passes = args.passes.clone().unwrap_or_else(|| passes_to_plan(&module, &entry, &compile));
    let options =
        BisectOptions { registry: &setup.registry, passes: &passes, compile, tolerance: args.tolerance };
    // A panicking pass counts as failing; its message is part of the result.
    let found = quietly(|| bisect(&module, &entry, &case.inputs, expected.as_deref(), &options));
    let found = found.ok_or_else(|| Failure::input("the interpreter panics on the program"))??;
    let report = BisectReport { version: 1, differs: found.is_some(), found: found.as_ref() };
    let text = match &found {
        Some(found) => found.text(&args.file.file, &passes),
        None => "nothing differs: the interpreter and a real run compute the same\n".to_owned(),
    };
    write_output(&instead(&args.json, || json(&report), text)?, None)?;
    Ok(if found.is_some() { CompareOutcome::Different } else { CompareOutcome::Same })
}

/// The arrays of a file in the order of the outputs; the interpreter must agree with them.
fn expected(
    module: &Module,
    entry: &str,
    (inputs, path): (&[Array], &Path),
    tolerance: f64,
) -> Result<Vec<Array>, Failure> {
    let mut arrays = read_npz(path, &|_| None)?;
    let signature = signature(module, entry)?;
    let mut expected = Vec::new();
    for output in signature.outputs() {
        let Some(index) = arrays.iter().position(|array| array.name == output.name) else {
            return Err(Failure::input(format!("{}: there is no array `{}`", path.display(), output.name)));
        };
        expected.push(arrays.swap_remove(index));
    }
    let computed = interpret(module, entry, inputs)?;
    match first_difference(&computed, &expected, tolerance) {
        None => Ok(expected),
        Some(difference) => {
            let what = "the interpreter computes something else already before any pass";
            Err(Failure::input(format!("{what}: {difference}")))
        }
    }
}

impl Bisected {
    fn text(&self, file: &Path, passes: &str) -> String {
        let by = if self.is_interpreted { "as the interpreter runs it" } else { "as machine code" };
        let mut text = match &self.pass {
            Some(pass) => format!("pass `{pass}` makes the program wrong, {by}\n"),
            None => "code generation or a kernel is wrong, whatever the passes do\n".to_owned(),
        };
        if let Some(change) = &self.change {
            text += &format!("change {} of {}: {}\n", change.number, change.count, change.what);
        }
        text += &match &self.trouble {
            Trouble::Differs(difference) => format!("output {difference}\n"),
            Trouble::Fails(message) => format!("it fails: {message}\n"),
        };
        if let Some(value) = &self.value {
            text += &format!("first value that differs: {}; {} makes it\n", value.difference, value.op);
        }
        if let (Some(pass), Some(change)) = (&self.pass, &self.change) {
            let limit = format!("--stop-after={pass}:{}", change.number);
            text += &format!("see it: optc --passes='{passes}' {limit} {}\n", file.display());
        }
        text
    }
}
