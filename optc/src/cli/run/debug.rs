//! `optc run --debug-tensors`: the intermediate values of a run, compared with the expected ones.

use import::onnx::declared::DeclaredSizes;
use std::path::PathBuf;

use super::{ProgramSource, RunArgs, write_output};
use crate::arrays::{Array, read_npz, write_npz};
use crate::compile::DeadMemory;
use crate::expect::difference;
use crate::failure::Failure;
use crate::intermediates::{Intermediate, show};
use crate::interpret::interpret;
use crate::opt::Setup;

/// Runs the program with the requested values as further outputs, reports which are as expected, and writes
/// them to the requested file.
pub(super) fn run(setup: &Setup, args: &RunArgs) -> Result<(), Failure> {
    let Some(file) = &args.file else { return Err(Failure::Usage("a file is required".to_owned())) };
    if args.interpret || args.inputs.runs() > 1 || !args.out.is_empty() || !args.check.is_empty() {
        let what = "--debug-tensors is for one run, without --interpret, --out and --check";
        return Err(Failure::Usage(what.to_owned()));
    }
    let limits = args.compile.limits.hold()?;
    let source = ProgramSource {
        setup,
        file,
        inputs: &args.inputs,
        compile: &args.compile,
        said: &DeclaredSizes::new(),
    };
    let mut program = source.program(&args.artifact, DeadMemory::Poisoned)?;
    let cases = args.inputs.cases(&program.module, &program.entry)?;
    program.fix_sizes(&cases)?;
    let wanted = match &args.debug_tensors[..] {
        [all] if all == "all" => None,
        names => Some(names),
    };
    let shown = show(&mut program.module, &program.entry, wanted)?;
    let [case] = &cases[..] else { unreachable!("there is one run") };
    let expected = expected(args.debug_check.as_ref(), &shown, || {
        interpret(&program.module, &program.entry, &case.inputs)
    })?;
    let mut model = program.compile(&cases)?;
    drop(limits);
    let outputs = model.run(&case.inputs)?;
    let values = outputs.get(outputs.len().saturating_sub(shown.len())..).unwrap_or_default();
    if let Some(path) = &args.debug_out {
        write_npz(path, values)?;
    }
    let mut faults = Vec::new();
    let mut text = String::new();
    for ((value, found), expected) in shown.iter().zip(values).zip(&expected) {
        let name = &value.name;
        match expected.as_ref().map(|expected| difference(found, expected, args.tolerance)) {
            None => text += &format!("`{name}`: nothing is expected of it\n"),
            Some(None) => text += &format!("`{name}`: as expected\n"),
            Some(Some(difference)) => faults.push(format!("{difference}; {} makes it", value.op)),
        }
    }
    if shown.is_empty() {
        text += "no value is intermediate: all are inputs, constants or outputs\n";
    }
    write_output(&text, None)?;
    Failure::unless_none(faults)
}

/// The expected contents of each value, if known.
fn expected(
    path: Option<&PathBuf>,
    shown: &[Intermediate],
    interpreted: impl FnOnce() -> Result<Vec<Array>, Failure>,
) -> Result<Vec<Option<Array>>, Failure> {
    let Some(path) = path else {
        let mut outputs = interpreted()?;
        let first = outputs.len().saturating_sub(shown.len());
        return Ok(outputs.drain(first..).map(Some).collect());
    };
    let mut arrays = read_npz(path, &|_| None)?;
    let mut take = |value: &Intermediate| {
        let index = arrays.iter().position(|array| array.name == value.name)?;
        Some(arrays.swap_remove(index))
    };
    Ok(shown.iter().map(&mut take).collect())
}
