//! `optc run`: compile a program and run it.

mod debug;
pub(super) mod report;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use import::onnx::declared::DeclaredSizes;

use self::report::RunReport;
use super::compiled::CompileArgs;
use super::inputs::{InputArgs, RunInputs};
use super::limits::HeldLimits;
use super::output::{check_writable, is_stdout, json};
use super::own_sizes::{self, Taken};
use super::passes::replay;
use super::source::{ArtifactArgs, ProgramSource, SourceProgram};
use super::summary::{Specialized, memory_line, named_memory_line, top_results};
use super::{FileArgs, MemoryArgs, parse_tolerance, progress, write_output};
use crate::arrays::{Array, write_npz};
use crate::artifact::is_artifact;
use crate::compile::{DeadMemory, Precision};
use crate::expect;
use crate::failure::Failure;
use crate::interpret::interpret;
use crate::model::Model;
use crate::opt::{OptArgs, Setup};
use crate::protobuf::{is_folder, write_folder};

/// Compile a program and run it.
#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    file: Option<FileArgs>,
    /// Re-run the crash file that `--reproducer` wrote.
    #[arg(long, value_name = "CRASH", conflicts_with = "file")]
    replay: Option<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    compile: CompileArgs,
    /// Write the outputs to a `.npz` file, to standard output (`-`), or to the files `output_0.pb`,
    /// `output_1.pb`, ... of a folder (`DIR/`); once for each `--inputs`.
    #[arg(long, value_name = "Y.npz|DIR/")]
    out: Vec<PathBuf>,
    /// Compare the outputs with expected ones: a `.json` file of samples, a `.npz` file, or a folder with
    /// `output_0.pb`, ..., with the tolerances of ONNX's tests; once for each `--inputs`.
    #[arg(long, value_name = "EXPECTED")]
    check: Vec<PathBuf>,
    /// Also run the program with numbers of this type, and print how much the outputs differ.
    #[arg(long, value_name = "NUMBERS", conflicts_with = "interpret")]
    #[arg(value_parser = Precision::NAMES.to_vec())]
    compare: Option<String>,
    /// Tolerance for outputs, as a share of the output's absolute maximum; a folder has tolerances of its
    /// own.
    #[arg(long, default_value_t = 1e-4, value_parser = parse_tolerance)]
    tolerance: f64,
    /// Run the reference interpreter instead of machine code.
    #[arg(long)]
    interpret: bool,
    /// Fill dead memory with NaN, which makes errors in a plan visible.
    #[arg(long)]
    poison: bool,
    /// Print intermediate values, by the names of the model's nodes (`Conv_5`) or in the printed program
    /// (`%12`), or `all`, and compare them with the interpreter's. They become outputs, so they are always
    /// stored and never overwritten; dead memory is NaN, as with `--poison`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    debug_tensors: Vec<String>,
    /// Write the values of `--debug-tensors` to a file.
    #[arg(long, value_name = "T.npz", requires = "debug_tensors")]
    debug_out: Option<PathBuf>,
    /// Compare the values of `--debug-tensors` with those of a file, by name, instead of the interpreter's.
    #[arg(long, value_name = "T.npz", requires = "debug_tensors")]
    debug_check: Option<PathBuf>,
    /// Write a report of the runs as JSON to a file; `-` prints it to standard output, and the text to
    /// standard error.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    #[command(flatten)]
    artifact: ArtifactArgs,
}

/// The results of all runs.
struct Ran {
    runs: Vec<RanOnce>,
    /// The kind and time of preparation (compiling, or loading a compiled program); none for the interpreter.
    compiled: Option<(&'static str, Duration)>,
    /// The memory that the program allocates at any sizes, as one line.
    memory: String,
}

/// The results of one run.
struct RanOnce {
    outputs: Vec<Array>,
    /// The specialization, and the time of the run; none for the interpreter.
    machine: Option<(Specialized, Duration)>,
}

pub(super) fn run(setup: &Setup, args: &RunArgs) -> Result<(), Failure> {
    if let Some(crash) = &args.replay {
        let opt = OptArgs { debug: args.compile.debug.clone(), ..OptArgs::default() };
        return replay(setup, &opt, crash, None);
    }
    args.check_counts()?;
    check_writable(args.out.iter().chain(&args.json).chain(&args.debug_out))?;
    args.check.iter().try_for_each(|path| expect::check_readable(path))?;
    if !args.debug_tensors.is_empty() {
        return debug::run(setup, args);
    }
    let ran = ran(setup, args, &args.compile)?;
    let is_report = args.json.as_ref().is_some_and(|path| is_stdout(path));
    let is_array = args.out.iter().any(|path| is_stdout(path));
    if is_report && is_array {
        return Err(Failure::Usage("--out and --json can't both go to standard output".to_owned()));
    }
    // Arrays and reports on standard output are not mixed with text.
    let say = |text: &str| {
        if is_array || is_report {
            progress::print_error(text);
            return Ok(());
        }
        write_output(text, None)
    };
    if let Some(path) = &args.json {
        write_output(&json(&RunReport::of(&ran)), Some(path))?;
    }
    say(&ran.text(Times::Shown))?;
    for (run, path) in ran.runs.iter().zip(&args.out) {
        match is_folder(path) {
            true => write_folder(path, "output", &run.outputs)?,
            false => write_npz(path, &run.outputs)?,
        }
    }
    if let Some(precision) = &args.compare {
        if args.file.as_ref().is_some_and(|file| is_artifact(&file.file)) {
            return Err(Failure::Usage("--compare compiles twice, which an artifact is not".to_owned()));
        }
        let memory = MemoryArgs { precision: Some(precision.clone()), ..args.compile.memory.clone() };
        let others = self::ran(setup, args, &CompileArgs { memory, ..args.compile.clone() })?;
        for (run, other) in ran.runs.iter().zip(&others.runs) {
            let lines = expect::compare_outputs(&run.outputs, &other.outputs)?;
            say(&(lines.join("\n") + "\n"))?;
        }
    }
    for (run, path) in ran.runs.iter().zip(&args.check) {
        let lines = expect::check(&run.outputs, path, args.tolerance)?;
        say(&(lines.join("\n") + "\n"))?;
    }
    Ok(())
}

/// The printed text without times.
pub(super) fn text(setup: &Setup, args: &RunArgs) -> Result<String, Failure> {
    args.check_counts()?;
    Ok(ran(setup, args, &args.compile)?.text(Times::Hidden))
}

/// Whether times are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Shown,
    Hidden,
}

impl Ran {
    fn text(&self, times: Times) -> String {
        let mut compiled = self.compiled;
        let mut text = String::new();
        for RanOnce { outputs, machine } in &self.runs {
            text += &top_results(outputs);
            let Some((specialized, took)) = machine else { continue };
            text += &specialized.sizes_text();
            if times == Times::Shown {
                let before = match compiled.take() {
                    Some((made, took)) => format!("{made} in {:.0} ms", took.as_secs_f64() * 1e3),
                    None => specialized.cost_text(),
                };
                text += &format!("{before}, first run in {:.2} ms\n", took.as_secs_f64() * 1e3);
            }
        }
        text + &self.memory
    }
}

impl RunArgs {
    /// Checks that outputs are written and checked for every run, or for none.
    fn check_counts(&self) -> Result<(), Failure> {
        let runs = self.inputs.runs();
        for (option, count) in [("--out", self.out.len()), ("--check", self.check.len())] {
            if count > 0 && count != runs {
                return Err(Failure::Usage(format!(
                    "{option} is given {count} times, expected {runs}: one for each --inputs"
                )));
            }
        }
        Ok(())
    }
}

/// The reason for a failure to run.
enum RunFailure {
    /// The program could not be read, or not compiled for all its named sizes.
    Sizes(Failure),
    /// The inputs do not match the program.
    Inputs(Failure),
    /// The program could be compiled or has no named sizes, but something else failed.
    Run(Failure),
}

impl RunFailure {
    fn failure(self) -> Failure {
        let (RunFailure::Sizes(failure) | RunFailure::Inputs(failure) | RunFailure::Run(failure)) = self;
        failure
    }
}

/// Runs the program, compiled with the options of `compile`. A model that can't be compiled with named sizes,
/// or whose inputs have no elements, which no named size allows, is run for the sizes of its inputs, with a
/// note on standard error. Failures of a run are errors.
fn ran(setup: &Setup, args: &RunArgs, compile: &CompileArgs) -> Result<Ran, Failure> {
    let (failure, for_all) = match ran_on(setup, args, compile, &args.inputs, &DeclaredSizes::new()) {
        result if compile.memory.has_budget() => return result.map_err(RunFailure::failure),
        Err(RunFailure::Sizes(failure @ Failure::Input(_))) => (failure, true),
        Err(RunFailure::Inputs(failure @ Failure::Input(_))) => (failure, false),
        result => return result.map_err(RunFailure::failure),
    };
    let model = args.file.as_ref().map(|file| file.file.as_path());
    let model = model.filter(|path| path.extension().is_some_and(|extension| extension == "onnx"));
    let arrays = model.and_then(|model| args.inputs.arrays_of(model));
    let is_empty = |array: &Array| array.shape.contains(&0);
    let arrays = arrays.filter(|arrays| for_all || arrays.iter().flatten().any(is_empty));
    let (Some(model), Some(arrays)) = (model, arrays) else { return Err(failure) };
    for taken in Taken::ALL {
        if let Some(ran) = ran_apart(setup, args, compile, (model, &arrays), taken) {
            let what = taken.words();
            progress::print_error(&format!(
                "note: compiled for the {what} of its inputs alone, since:\n{failure}\n"
            ));
            return Ok(ran);
        }
    }
    Err(failure)
}

/// Like `ran`, but each run has a program of its own, compiled for its inputs; none if one of them fails.
fn ran_apart(
    setup: &Setup,
    args: &RunArgs,
    compile: &CompileArgs,
    (model, arrays): (&Path, &[Vec<Array>]),
    taken: Taken,
) -> Option<Ran> {
    let mut all: Option<Ran> = None;
    for arrays in arrays {
        let said = own_sizes::said(model, arrays, taken)?;
        let is_argument = |array: &&Array| !said.constants.contains_key(&array.name);
        let inputs = args.inputs.held(arrays.iter().filter(is_argument).cloned().collect());
        let ran = ran_on(setup, args, compile, &inputs, &said).ok()?;
        match &mut all {
            Some(all) => all.runs.extend(ran.runs),
            None => all = Some(ran),
        }
    }
    all
}

/// Runs the program on inputs, with declarations about the model in addition to the options.
fn ran_on(
    setup: &Setup,
    args: &RunArgs,
    compile: &CompileArgs,
    inputs: &InputArgs,
    said: &DeclaredSizes,
) -> Result<Ran, RunFailure> {
    let file = args.file.as_ref().ok_or_else(|| Failure::Usage("a file is required".to_owned()));
    let file = file.map_err(RunFailure::Run)?;
    let dead = if args.poison { DeadMemory::Poisoned } else { DeadMemory::Kept };
    let limits = compile.limits.hold().map_err(RunFailure::Run)?;
    let source = ProgramSource { setup, file, inputs, compile, said };
    let program = source.program(&args.artifact, dead).map_err(RunFailure::Sizes)?;
    ran_program(args, program, inputs, limits)
}

/// Runs a loaded program.
fn ran_program(
    args: &RunArgs,
    mut program: SourceProgram,
    inputs: &InputArgs,
    limits: HeldLimits,
) -> Result<Ran, RunFailure> {
    let cases = inputs.cases(&program.module, &program.entry).map_err(RunFailure::Inputs)?;
    if args.interpret || args.inputs.fix_sizes() {
        program.fix_sizes(&cases).map_err(RunFailure::Run)?;
    }
    if !args.interpret {
        return compile_and_run(program, cases, limits);
    }
    let SourceProgram { module, entry, .. } = program;
    let runs = cases.iter().map(|case| {
        let outputs = interpret(&module, &entry, &case.inputs)?;
        Ok(RanOnce { outputs, machine: None })
    });
    let runs = runs.collect::<Result<_, Failure>>().map_err(RunFailure::Run)?;
    Ok(Ran { runs, compiled: None, memory: String::new() })
}

fn compile_and_run(
    mut program: SourceProgram,
    cases: Vec<RunInputs>,
    limits: HeldLimits,
) -> Result<Ran, RunFailure> {
    let start = Instant::now();
    let has_sizes = program.has_named_sizes();
    let failure = if has_sizes { RunFailure::Sizes } else { RunFailure::Run };
    let model = program.compile(&cases).map_err(failure)?;
    drop(limits);
    let compiled = Some((program.made(), program.read + start.elapsed()));
    run_all(&program, model, cases, compiled).map_err(RunFailure::Run)
}

/// Runs a compiled program on each set of inputs.
fn run_all(
    program: &SourceProgram,
    mut model: Model,
    cases: Vec<RunInputs>,
    compiled: Option<(&'static str, Duration)>,
) -> Result<Ran, Failure> {
    let runs = cases.into_iter().map(|case| run_once(&mut model, case));
    let runs = runs.collect::<Result<_, Failure>>()?;
    let memory = match model.program().symbols().is_empty() {
        true => memory_line(&program.module, &program.entry, model.program())?,
        false => named_memory_line(model.program()),
    };
    Ok(Ran { runs, compiled, memory })
}

/// Runs at the sizes of the inputs; the program is specialized first if they are new.
fn run_once(model: &mut Model, case: RunInputs) -> Result<RanOnce, Failure> {
    let mut inputs = case.inputs;
    model.set_states(&inputs)?;
    let specialized = Specialized::of(model, &inputs)?;
    let mut outputs = model.empty_outputs()?;
    let start = Instant::now();
    model.run_donating(&mut inputs, &mut outputs)?;
    let took = start.elapsed();
    let mut outputs = model.exact(outputs);
    outputs.extend(model.states()?);
    Ok(RanOnce { outputs, machine: Some((specialized, took)) })
}
