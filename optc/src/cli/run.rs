//! `optc run`: compile a program and run it.

mod debug;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use super::compiled::CompileArgs;
use super::inputs::{InputArgs, RunInputs};
use super::limits::HeldLimits;
use super::output::is_stdout;
use super::passes::replay;
use super::source::{ArtifactArgs, ProgramSource, SourceProgram};
use super::summary::{Specialized, memory_line, named_memory_line, top_results};
use super::{FileArgs, progress, write_output};
use crate::arrays::{Array, write_npz};
use crate::compile::DeadMemory;
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
    /// Write the outputs to a `.npz` file, or to standard output (`-`), or to the files `output_0.pb`,
    /// `output_1.pb`, ... of a folder (`DIR/`); once for each `--inputs`.
    #[arg(long, value_name = "Y.npz|DIR/")]
    out: Vec<PathBuf>,
    /// Compare the outputs with expected ones: `.json` (samples), `.npz`, or a folder with `output_0.pb`,
    /// ..., each element as ONNX compares those of its tests; once for each `--inputs`.
    #[arg(long, value_name = "EXPECTED")]
    check: Vec<PathBuf>,
    /// How far off an output may be, as a share of its absolute maximum; a folder has tolerances of its own.
    #[arg(long, default_value_t = 1e-4)]
    tolerance: f64,
    /// Run the reference interpreter instead of machine code.
    #[arg(long)]
    interpret: bool,
    /// Fill memory with NaN after its last reader, which makes a wrong plan visible.
    #[arg(long)]
    poison: bool,
    /// Show values that are computed on the way, by the names of the model's nodes (`Conv_5`) or in the
    /// printed program (`%12`), or `all`, and compare them with the interpreter's. They become outputs,
    /// which no group leaves out and nothing overwrites; dead memory is NaN, as with `--poison`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    debug_tensors: Vec<String>,
    /// Write the values of `--debug-tensors` to a file.
    #[arg(long, value_name = "T.npz", requires = "debug_tensors")]
    debug_out: Option<PathBuf>,
    /// Compare the values of `--debug-tensors` with those of a file, by name, in place of the interpreter's.
    #[arg(long, value_name = "T.npz", requires = "debug_tensors")]
    debug_check: Option<PathBuf>,
    #[command(flatten)]
    artifact: ArtifactArgs,
}

/// What the runs say of themselves.
struct Ran {
    runs: Vec<RanOnce>,
    /// What the program allocates at any sizes.
    memory: String,
}

/// What a run says of itself.
struct RanOnce {
    outputs: Vec<Array>,
    /// Its sizes, if they have names, and what it allocates at them.
    sizes: String,
    /// How long it took.
    times: String,
}

pub(super) fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(crash) = &args.replay {
        let opt = OptArgs { debug: args.compile.debug.clone(), ..OptArgs::default() };
        return replay(&Setup::default(), &opt, crash, None);
    }
    args.check_counts()?;
    if !args.debug_tensors.is_empty() {
        return debug::run(args);
    }
    let Ran { runs, memory } = ran(args)?;
    let said = runs.iter().map(|run| top_results(&run.outputs) + &run.sizes + &run.times);
    let said = said.collect::<String>() + &memory;
    // Arrays on standard output stand there alone.
    let say = |text: &str| match args.out.iter().any(|path| is_stdout(path)) {
        true => {
            progress::print_error(text);
            Ok(())
        }
        false => write_output(text, None),
    };
    say(&said)?;
    for (run, path) in runs.iter().zip(&args.out) {
        match is_folder(path) {
            true => write_folder(path, "output", &run.outputs)?,
            false => write_npz(path, &run.outputs)?,
        }
    }
    for (run, path) in runs.iter().zip(&args.check) {
        let lines = expect::check(&run.outputs, path, args.tolerance)?;
        say(&(lines.join("\n") + "\n"))?;
    }
    Ok(())
}

/// What is printed, but for times.
pub(super) fn text(args: &RunArgs) -> Result<String, Failure> {
    args.check_counts()?;
    let Ran { runs, memory } = ran(args)?;
    Ok(runs.iter().map(|run| top_results(&run.outputs) + &run.sizes).collect::<String>() + &memory)
}

impl RunArgs {
    /// Outputs are written and checked for every run, or for none.
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

fn ran(args: &RunArgs) -> Result<Ran, Failure> {
    let Some(file) = &args.file else { return Err(Failure::Usage("a file is required".to_owned())) };
    let dead = if args.poison { DeadMemory::Poisoned } else { DeadMemory::Kept };
    let limits = args.compile.limits.hold()?;
    let source = ProgramSource { file, compile: &args.compile };
    let mut program = source.program(&args.artifact, dead)?;
    let (module, entry) = (&mut program.module, &program.entry);
    let cases = args.inputs.cases(module, entry)?;
    if args.interpret || args.inputs.fix_sizes() {
        program.fix_sizes(&cases)?;
    }
    if !args.interpret {
        return compile_and_run(program, cases, limits);
    }
    let SourceProgram { module, entry, .. } = program;
    let runs = cases.iter().map(|case| {
        let outputs = interpret(&module, &entry, &case.inputs)?;
        Ok(RanOnce { outputs, sizes: String::new(), times: String::new() })
    });
    let runs = runs.collect::<Result<_, Failure>>()?;
    Ok(Ran { runs, memory: String::new() })
}

fn compile_and_run(
    mut program: SourceProgram,
    cases: Vec<RunInputs>,
    limits: HeldLimits,
) -> Result<Ran, Failure> {
    let start = Instant::now();
    let mut model = program.compile(&cases)?;
    drop(limits);
    let mut before = format!("{} in {:.0} ms", program.made(), start.elapsed().as_secs_f64() * 1e3);
    let mut runs = Vec::new();
    for case in cases {
        runs.push(run_once(&mut model, case, before)?);
        before = String::new();
    }
    let memory = match model.program().symbols().is_empty() {
        true => memory_line(&program.module, &program.entry, model.program())?,
        false => named_memory_line(model.program()),
    };
    Ok(Ran { runs, memory })
}

/// Runs at the sizes of the inputs, which the program is specialized for first if they are new. What was done
/// `before` is told with that.
fn run_once(model: &mut Model, case: RunInputs, before: String) -> Result<RanOnce, Failure> {
    let mut inputs = case.inputs;
    model.set_states(&inputs)?;
    let specialized = Specialized::of(model, &inputs)?;
    let mut outputs = model.empty_outputs()?;
    let start = Instant::now();
    model.run_donating(&mut inputs, &mut outputs)?;
    let run_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut outputs = model.exact(outputs);
    outputs.extend(model.states()?);
    let before = if before.is_empty() { specialized.cost_text() } else { before };
    let times = format!("{before}, first run in {run_ms:.2} ms\n");
    Ok(RanOnce { outputs, sizes: specialized.sizes_text(), times })
}
