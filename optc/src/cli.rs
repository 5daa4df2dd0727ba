//! The command line of `optc`.

mod bench;
mod bisect;
mod build;
mod color;
mod compiled;
mod diff;
mod doctor;
mod explain;
mod fewer_samples;
mod inputs;
mod interrupt;
mod limits;
mod list;
mod lit;
mod new_dialect;
mod output;
mod own_sizes;
mod passes;
mod place;
mod plan;
mod progress;
mod reduce;
mod run;
#[cfg(test)]
mod schemas;
mod shell;
mod source;
mod summary;
mod symbolic;
mod tool;
mod verbs;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use ::passes::precision::Precision;
use ::passes::tradeoff::Goal;
use clap::error::{ContextKind, ErrorKind};
use clap::{Args, Command, CommandFactory, FromArgMatches, Parser};
use codegen::Cpu;
use import::onnx::StrippedWeights;
use import::onnx::declared::Symbolized;
use ir::memory_pools::{MemoryPool, parse_bytes};
use runtime::CountingAllocator;

pub use tool::tool;

use self::verbs::{NoArgs, Verb};

use crate::artifact::BUILD;
use crate::compile::{CompileOptions, DeadMemory, check_threads};
use crate::failure::Failure;
use crate::load::LoadOptions;
use crate::opt::Setup;
use crate::sizes::{self, DimArg};

/// The version, the build that artifacts name, and the CPU that programs are compiled for.
static VERSION: LazyLock<String> = LazyLock::new(|| format!("{BUILD} for {}", codegen::Isa::detect().name()));

/// A compiler pass framework with an MLIR-like IR, whose speciality is memory.
///
/// Reads IR text or an ONNX model, fuses operations, lets results overwrite dead operands, gives every
/// intermediate value a place in one arena, and compiles the program to machine code. Without a command, it
/// runs the passes of `--passes` and prints the IR. Exit status: 0 success, 1 an error in the input, 2 wrong
/// usage.
#[derive(Parser)]
#[command(name = "optc", version = VERSION.as_str())]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    passes: passes::PassesArgs,
    #[command(flatten)]
    color: color::ColorArgs,
}

/// The program to read.
#[derive(Args, Clone)]
struct FileArgs {
    /// IR text (`.mlir`, or `-` for standard input), a model (`.onnx`), or an artifact that `optc build`
    /// wrote.
    file: PathBuf,
    /// Generate the missing weights of a weight-stripped model from the recipe in its metadata. `optc plan`
    /// and `optc explain`, which print no numbers, always do.
    #[arg(long)]
    synthesize_weights: bool,
    /// Make axes of a model's input symbolic: `x:0=N,2=H` names axes 0 and 2 of input `x` (ONNX only); may be
    /// repeated.
    #[arg(long, value_name = "INPUT:AXIS=NAME", value_parser = sizes::parse_symbolize)]
    symbolize: Vec<SymbolizedList>,
    /// Set a symbolic size (`N=4`) or its upper bound (`N..512`, or `'N<=512'`, quoted for the shell); may be
    /// repeated.
    #[arg(long, value_name = "NAME=SIZE", value_parser = sizes::parse_dim)]
    dim: Vec<DimArg>,
}

type SymbolizedList = Vec<Symbolized>;

impl FileArgs {
    /// Whether the arguments declare sizes beyond those of the file.
    fn says_sizes(&self) -> bool {
        !self.symbolize.is_empty() || !self.dim.is_empty()
    }

    fn options(&self, setup: &Setup) -> Result<LoadOptions, Failure> {
        let stripped =
            if self.synthesize_weights { StrippedWeights::Synthesize } else { StrippedWeights::Refuse };
        let sizes = sizes::gather(&self.symbolize, &self.dim)?;
        Ok(LoadOptions { stripped, sizes, dialects: setup.dialects.clone(), ..LoadOptions::default() })
    }

    /// The options for a verb that prints no numbers of the program: missing weights are generated.
    fn plan_options(&self, setup: &Setup) -> Result<LoadOptions, Failure> {
        Ok(LoadOptions { stripped: StrippedWeights::Synthesize, ..self.options(setup)? })
    }
}

/// Options about memory.
#[derive(Args, Clone)]
struct MemoryArgs {
    /// Let the program overwrite this input after its last reader; may be repeated.
    #[arg(long, value_name = "INPUT")]
    donate: Vec<String>,
    /// What to optimize for: `memory` takes the smallest arena, `speed` the fastest kernels (including those
    /// with other rounding), `balanced` saves memory where that costs almost no time [default: balanced].
    #[arg(long, value_name = "GOAL", value_parser = Goal::NAMES.to_vec())]
    optimize: Option<String>,
    /// The type of numbers in products and of stored values: `bf16` halves weights and much of the arena,
    /// with sums in `f32`, where there are kernels for that [default: f32].
    #[arg(long, value_name = "NUMBERS", value_parser = Precision::NAMES.to_vec())]
    precision: Option<String>,
    /// Declare a memory pool for values with `mem.pool`; the name `arena` sets properties of the arena; may
    /// be repeated. `align` and `pitch` (the alignment of image rows) are powers of two, `capacity` is the
    /// pool's largest size.
    #[arg(long, value_name = "NAME:align=A,pitch=P,capacity=C", value_parser = MemoryPool::parse)]
    pool: Vec<MemoryPool>,
    /// Fail unless the arena fits into this many bytes, also given as `512KiB` or `4.9MB`. Tries reordering,
    /// overlap and recomputation; if none suffices, reports the peak and what would lower it. With named
    /// sizes, the limit holds for all sizes.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    budget: Option<u64>,
}

impl MemoryArgs {
    /// Whether the arguments limit memory.
    fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    /// Whether a program that was planned with options can't follow these arguments.
    fn differs_from(&self, planned: &CompileOptions) -> bool {
        let is_other_goal = self.optimize.is_some() && self.goal() != planned.goal;
        let is_other_precision = self.precision.is_some() && self.precision() != planned.precision;
        !self.donate.is_empty() || !self.pool.is_empty() || is_other_goal || is_other_precision
    }

    fn goal(&self) -> Goal {
        let named = |name: &String| Goal::named(name).expect("the parser takes names of goals only");
        self.optimize.as_ref().map_or_else(Goal::default, named)
    }

    fn precision(&self) -> Precision {
        let named =
            |name: &String| Precision::named(name).expect("the parser takes names of precisions only");
        self.precision.as_ref().map_or_else(Precision::default, named)
    }

    /// The options of compilation for a machine that these arguments give.
    fn options(&self, setup: &Setup, machine: &MachineArgs, entry: &str, dead: DeadMemory) -> CompileOptions {
        CompileOptions {
            cpu: setup.cpu_of(Some(machine.target_cpu.unwrap_or(Cpu::native()))),
            target: setup.target.clone(),
            registry: Some(Arc::new(setup.registry.clone())),
            threads: machine.threads,
            entry: Some(entry.to_owned()),
            dead,
            donated: self.donate.clone(),
            goal: self.goal(),
            precision: self.precision(),
            budget_bytes: self.budget,
            pools: self.pool.clone(),
            ..CompileOptions::default()
        }
    }
}

/// What runs the program.
#[derive(Args, Clone)]
struct MachineArgs {
    /// Number of threads to run with; scratch is planned for each of them.
    #[arg(long, default_value_t = runtime::available_threads().clamp(1, 2), value_parser = parse_threads)]
    threads: usize,
    /// CPU to compile for: `native`, `x86-64-v4`, `x86-64-v3`, `aarch64` or `portable` (any of this machine's
    /// architecture); a partly planned program keeps the CPU of its plan [default: native].
    #[arg(long, value_name = "CPU", value_parser = Cpu::named)]
    target_cpu: Option<&'static Cpu>,
}

/// Parses a number of threads that programs can be compiled for.
///
/// # Errors
/// A message about what is wrong.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    check_threads(text.parse().map_err(|_| "not a number of threads".to_owned())?)
}

/// A tolerance for outputs.
fn parse_tolerance(text: &str) -> Result<f64, String> {
    let tolerance: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if tolerance >= 0.0 { Ok(tolerance) } else { Err("a tolerance is 0 or more".to_owned()) }
}

/// Runs the command with these arguments; `allocator` is the process's global allocator.
pub fn main(arguments: impl IntoIterator<Item = OsString>, allocator: &CountingAllocator) -> ExitCode {
    let setup = Setup { threads: runtime::available_threads().clamp(1, 2), ..Setup::default() };
    run_command(&setup, Cli::command(), arguments, Some(allocator))
}

/// Runs a command with its arguments.
fn run_command(
    setup: &Setup,
    mut command: Command,
    arguments: impl IntoIterator<Item = OsString>,
    allocator: Option<&CountingAllocator>,
) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // A pipeline, and what a reproducer holds, need none.
    command = command.mut_arg("file", |file| {
        file.required(false).required_unless_present_any(["print_pipeline", "replay"])
    });
    let matches = command.try_get_matches_from_mut(&arguments);
    let cli = match matches.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => cli,
        Err(error) => match no_verb(&error, &command, &arguments) {
            Some(failure) => return exit(Err(failure)),
            None => return misused(&error),
        },
    };
    begin(&cli.color);
    let done = match cli.verb {
        None => passes::run(setup, &cli.passes),
        Some(Verb::Run(args)) => run::run(setup, &args),
        Some(Verb::Build(args)) => build::run(setup, &args),
        Some(Verb::Plan(args)) => plan::run(setup, &args),
        Some(Verb::Explain(args)) => explain::run(setup, &args),
        Some(Verb::Bench(args)) => bench::run(setup, &args, allocator),
        Some(Verb::Bisect(args)) => return exit_compared(bisect::run(setup, &args)),
        Some(Verb::Diff(args)) => return exit_compared(diff::run(setup, &args)),
        Some(Verb::Reduce(args)) => reduce::run(setup, &args),
        Some(Verb::Place(args)) => place::run(&args),
        Some(Verb::Passes(args)) => list::passes(setup, &args),
        Some(Verb::Ops(args)) => list::ops(setup, &args),
        Some(Verb::Lit(args)) => tool::lit(setup, &args),
        Some(Verb::NewDialect(args)) => new_dialect::run(&args),
        Some(Verb::Lsp(NoArgs {})) => crate::lsp::run(setup),
        Some(Verb::Doctor(args)) => doctor::run(&args),
        Some(Verb::Completions(args)) => shell::completions(&mut command, &args),
        Some(Verb::Man(args)) => shell::manual(command, &args),
    };
    exit(done)
}

/// Setup before anything else.
fn begin(color: &color::ColorArgs) {
    interrupt::handle();
    color.choose();
}

/// The output of a verb for a file, without times, for lit tests.
///
/// # Errors
/// If a test can't use the verb with these arguments.
pub(crate) fn verb_text(setup: &Setup, file: &Path, arguments: &[String]) -> Result<String, String> {
    let (verb, rest) = arguments.split_first().ok_or("a verb is missing")?;
    let file = file.as_os_str().to_owned();
    let words = ["optc".into(), verb.into(), file].into_iter().chain(rest.iter().map(OsString::from));
    let cli = Cli::try_parse_from(words).map_err(|error| error.to_string())?;
    let said = match cli.verb {
        Some(Verb::Run(args)) => run::text(setup, &args),
        Some(Verb::Plan(args)) => plan::text(setup, &args),
        Some(Verb::Explain(args)) => explain::text(setup, &args),
        _ => return Err(format!("`{verb}` is no verb that a test can have")),
    };
    Ok(said.unwrap_or_else(|failure| format!("{failure}\n")))
}

/// Prints help, the version, or the error in the arguments.
fn misused(error: &clap::Error) -> ExitCode {
    let status = u8::try_from(error.exit_code()).unwrap_or(2);
    match error.print() {
        Ok(()) => ExitCode::from(status),
        Err(_) => ExitCode::from(2),
    }
}

/// The error if the first word is no verb and was taken for a file, and the second one for a verb.
fn no_verb(error: &clap::Error, command: &Command, arguments: &[OsString]) -> Option<Failure> {
    let mut words = arguments.iter().skip(1).filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let (first, second) = (Path::new(words.next()?), Path::new(words.next()?));
    if error.kind() != ErrorKind::ArgumentConflict || error.get(ContextKind::InvalidSubcommand).is_none() {
        return None;
    }
    let [first_text, second_text] = [first.display(), second.display()];
    if first.exists() || first.extension().is_some() {
        let what = format!("one file at a time: `{first_text}` or `{second_text}`");
        return Some(Failure::Usage(what));
    }
    let verbs = command.get_subcommands().map(Command::get_name);
    let hint = ir::diag::did_you_mean(&first_text.to_string(), verbs);
    let hint = hint.unwrap_or_else(|| "`--help` lists them".to_owned());
    Some(Failure::Usage(format!("there is no verb `{first_text}` ({hint})")))
}

/// The outcome of a comparison.
enum CompareOutcome {
    Same,
    Different,
}

/// Exit status 0 if both sides are equal, and 1 if they differ.
fn exit_compared(compared: Result<CompareOutcome, Failure>) -> ExitCode {
    match compared {
        Ok(CompareOutcome::Different) => ExitCode::FAILURE,
        Ok(CompareOutcome::Same) => exit(Ok(())),
        Err(failure) => exit(Err(failure)),
    }
}

fn exit(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            progress::print_error(&(failure.styled() + "\n"));
            ExitCode::from(failure.exit_status())
        }
    }
}

/// Writes text to a file, or to standard output; a closed pipe is no error.
fn write_output(text: &str, path: Option<&PathBuf>) -> Result<(), Failure> {
    write_content(text.as_bytes(), path)
}

/// Like [`write_output`] for bytes that need not be text.
fn write_content(content: &[u8], path: Option<&PathBuf>) -> Result<(), Failure> {
    progress::clear();
    let mut output = output::Output::to(path);
    let done = output.write_bytes(content).map_err(|_| Failure::input("the output can't be written"));
    output.finish(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands among the examples in a verb's `--help`.
    fn examples(help: &str) -> Vec<String> {
        let (_, examples) = help.split_once("Example").unwrap_or_default();
        let lines = examples.lines().skip(1).map(str::trim).take_while(|line| line.starts_with("optc "));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn every_verb_has_examples_that_are_read() {
        for verb in Cli::command().get_subcommands_mut() {
            let help = verb.render_long_help().to_string();
            let examples = examples(&help);
            assert!(!examples.is_empty(), "{} has no example:\n{help}", verb.get_name());
            for example in examples {
                let read = Cli::try_parse_from(example.split(' '));
                assert!(
                    read.is_ok(),
                    "{example}: {}",
                    read.err().map_or(String::new(), |error| error.to_string())
                );
            }
        }
    }
}
