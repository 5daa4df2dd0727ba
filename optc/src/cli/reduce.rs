//! `optc reduce`: the smallest program that still fails.

mod subject;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use ir::Module;
use passes::manager::{Pipeline, Reproducer};
use passes::reduce::{ReduceOptions, ReduceProgress, Reduced};
use serde::Serialize;

use self::subject::Subject;
use super::inputs::InputArgs;
use super::interrupt::OnInterrupt;
use super::limits::parse_seconds;
use super::output::{check_writable, is_stdout, json};
use super::progress;
use super::{FileArgs, parse_tolerance, write_content, write_output};
use crate::bisect::{BisectOptions, Trouble, interpreted_trouble};
use crate::compile::{CompileOptions, entry};
use crate::failure::Failure;
use crate::load::read_text;
use crate::opt::Setup;
use crate::outcome::{Outcome, ProcessEnd, ProgramCommand};
use crate::quiet::quietly;
use crate::reduce_model::ModelCandidate;

/// Find the smallest program that still fails.
///
/// Removes functions, blocks, operations, operands and attributes, and simplifies sizes, constants and types,
/// as long as the program still fails; every program that is tried is valid. If `-o` names a model
/// (`-o small.onnx`), COMMAND gets models, with fewer nodes, weights, inputs, outputs and attributes.
/// Otherwise a model is imported first, and the result is IR text.
///
/// A program fails if COMMAND ends on it as on the original: with the same exit status (which may be 0), by
/// the same signal, or at `--timeout`; and if it panicked, at the same place.
///
/// Ctrl-C stops the search; the smallest program so far is written.
///
/// Examples:
///   optc reduce big.mlir -o small.mlir -- optc --passes=fuse,plan
///   optc reduce model.onnx -o small.onnx -- python3 compare.py {}
///   optc reduce model.onnx --synthesize-weights -- optc run {} --random --poison
///   optc reduce big.mlir --crash=fuse,plan
///   optc reduce big.mlir --differs=simplify
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ReduceArgs {
    #[command(flatten)]
    file: FileArgs,
    /// A program fails if `optc --passes=PIPELINE` panics on it, or is killed [default: the pipeline of the
    /// crash file that `--reproducer` wrote].
    #[arg(long, value_name = "PIPELINE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    crash: Option<String>,
    /// A program fails if these passes change its results in the interpreter, for pseudo-random inputs.
    /// Programs on which the passes panic do not count.
    #[arg(long, value_name = "PIPELINE")]
    differs: Option<String>,
    /// The difference that counts for `--differs`, as a share of the output's absolute maximum.
    #[arg(long, default_value_t = 1e-4, value_parser = parse_tolerance)]
    tolerance: f64,
    /// The exit status of a failure [default: that of the original].
    #[arg(long, value_name = "N")]
    status: Option<i32>,
    /// A program fails only if COMMAND also writes this text to standard error.
    #[arg(long, value_name = "TEXT")]
    stderr: Option<String>,
    /// Time limit of COMMAND on one program, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    timeout: Duration,
    /// Stop after this many seconds with the smallest program so far.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    time_limit: Option<Duration>,
    /// Write the reduced program to a file.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a report as JSON to a file; `-` prints it to standard output, and needs `-o`.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    /// The command to run on each program; `{}` is replaced by the program's path, which otherwise is the
    /// last argument.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What `--json` writes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ReduceReport {
    version: u32,
    /// The operations of the original, or nodes of a model.
    ops_before: usize,
    /// The operations or nodes of the reduced program.
    ops_after: usize,
    /// The number of programs tried.
    tried: usize,
    seconds: f64,
    /// Whether nothing more can be removed; false if the reduction was stopped.
    is_minimal: bool,
}

/// The target of the result.
#[derive(Clone)]
struct ReduceTarget {
    output: Option<PathBuf>,
    json: Option<PathBuf>,
    ops_before: usize,
    start: Instant,
}

pub(super) fn run(setup: &Setup, args: &ReduceArgs) -> Result<(), Failure> {
    check_writable(args.output.iter().chain(&args.json))?;
    if args.json.as_ref().is_some_and(|path| is_stdout(path)) && args.output.is_none() {
        return Err(Failure::Usage("--json=- needs -o: both go to standard output".to_owned()));
    }
    let is_model = |path: &Path| path.extension().is_some_and(|extension| extension == "onnx");
    match args.output.as_deref().is_some_and(is_model) {
        true if is_model(&args.file.file) => args.reduce::<ModelCandidate>(setup),
        true => Err(Failure::Usage("`-o small.onnx` needs a model, and FILE is none".to_owned())),
        false => args.reduce::<Module>(setup),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReduceTarget {
    fn write<P: Subject>(&self, reduced: &Reduced<P>) -> Result<(), Failure> {
        let report = ReduceReport {
            version: 1,
            ops_before: self.ops_before,
            ops_after: reduced.program.op_count(),
            tried: reduced.tried,
            seconds: self.start.elapsed().as_secs_f64(),
            is_minimal: reduced.is_minimal,
        };
        progress::print_error(&report.text(P::COUNTED));
        if let Some(path) = &self.json {
            write_output(&json(&report), Some(path))?;
        }
        write_content(&reduced.program.content(), self.output.as_ref())
    }

    /// Writes the smallest program so far, before the command ends.
    fn write_interrupted<P: Subject>(&self, reduced: &Reduced<P>) {
        if let Err(failure) = self.write(reduced) {
            progress::print_error(&(failure.styled() + "\n"));
        }
    }
}

impl ReduceReport {
    fn text(&self, counted: &str) -> String {
        let ReduceReport { ops_before, ops_after, tried, seconds, .. } = self;
        let end = if self.is_minimal { "" } else { "; stopped early" };
        format!("{ops_before} -> {ops_after} {counted}, {tried} programs tried in {seconds:.1} s{end}\n")
    }
}

type Test<'a, P> = Box<dyn FnMut(&P) -> bool + 'a>;

impl ReduceArgs {
    fn reduce<P: Subject>(&self, setup: &Setup) -> Result<(), Failure> {
        let start = Instant::now();
        let program = P::load(setup, &self.file)?;
        let before = program.op_count();
        let target =
            ReduceTarget { output: self.output.clone(), json: self.json.clone(), ops_before: before, start };
        let mut fails = self.test(setup, &program)?;
        let smallest = Arc::new(Mutex::new(None));
        let interrupted = OnInterrupt::run({
            let (target, smallest) = (target.clone(), smallest.clone());
            move || lock(&smallest).take().into_iter().for_each(|reduced| target.write_interrupted(&reduced))
        });
        let progress = |progress: &ReduceProgress| {
            let ReduceProgress { step, ops, tried } = progress;
            let counted = P::COUNTED;
            progress::say(&format!("{ops} of {before} {counted} left after {tried} programs; trying {step}"));
        };
        let smaller = |reduced: Reduced<P>| *lock(&smallest) = Some(reduced);
        let deadline = self.time_limit.and_then(|limit| start.checked_add(limit));
        let options = ReduceOptions { deadline, progress: Some(&progress), smaller: Some(&smaller) };
        let reduced = program.reduce(&options, &mut fails);
        drop(interrupted);
        self.note_files(&reduced.program);
        target.write(&reduced)
    }

    /// Tells the user where the external data of a model must be.
    fn note_files<P: Subject>(&self, program: &P) {
        let folder = program.folder(&self.file);
        if let Some(folder) =
            folder.filter(|folder| Some(*folder) != self.output.as_deref().and_then(Path::parent))
        {
            let note = "note: the model takes weights from files, which must lie beside it as in";
            progress::print_error(&format!("{note} {}\n", folder.display()));
        }
    }

    /// A test for failing programs; the original must fail.
    fn test<'a, P: Subject>(&'a self, setup: &'a Setup, original: &P) -> Result<Test<'a, P>, Failure> {
        match (&self.crash, &self.differs, &self.command[..]) {
            (Some(pipeline), None, []) => self.crashes(setup, original, pipeline),
            (None, Some(pipeline), []) => self.computes_other(setup, original, pipeline),
            (None, None, [_, ..]) => self.ends_alike(original, &self.command),
            (None, None, []) => {
                Err(Failure::Usage("give `-- COMMAND`, `--crash=PIPELINE` or `--differs=PIPELINE`".into()))
            }
            _ => Err(Failure::Usage("give one of `-- COMMAND`, `--crash` and `--differs`".into())),
        }
    }

    fn crashes<'a, P: Subject>(
        &'a self,
        setup: &Setup,
        original: &P,
        pipeline: &str,
    ) -> Result<Test<'a, P>, Failure> {
        let mut words = vec![own_path()?];
        let pipeline = match pipeline {
            "" => {
                let (name, content) = read_text(&self.file.file)?;
                let Some(Reproducer { pipeline, threads }) = Reproducer::of(&content) else {
                    let what =
                        "its first line does not say which passes panicked: name them as --crash=PIPELINE";
                    return Err(Failure::input(format!("{name}: {what}")));
                };
                words.push(format!("--threads={threads}").into());
                pipeline
            }
            given => given.to_owned(),
        };
        let ctx = setup.context();
        let parsed = Pipeline::parse(&ctx, &pipeline, &setup.registry);
        parsed.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
        if self.file.synthesize_weights {
            words.push("--synthesize-weights".into());
        }
        words.push(format!("--passes={pipeline}").into());
        self.ends_alike(original, &words)
    }

    /// Tests whether a command ends as on the original.
    fn ends_alike<P: Subject>(&self, original: &P, words: &[OsString]) -> Result<Test<'_, P>, Failure> {
        let name = words[0].display();
        let unable = |error: std::io::Error| Failure::input(format!("can't run `{name}`: {error}"));
        let beside = original.folder(&self.file);
        let command = ProgramCommand::new(words, self.timeout, P::EXTENSION, beside).map_err(unable)?;
        let first = command.run(&original.content()).map_err(unable)?;
        self.check_first(&first)?;
        if self.status.is_none() && self.stderr.is_none() {
            let empty = command.run(&original.emptied().content()).map_err(unable)?;
            check_tells_apart(&first, &empty)?;
        }
        let wanted = self.status.map_or(first.end, ProcessEnd::Status);
        let place = first.panic_place().map(str::to_owned);
        Ok(Box::new(move |program: &P| {
            // A candidate that can't be run does not count as failing.
            command.run(&program.content()).is_ok_and(|found| {
                let says = self.stderr.as_ref().is_none_or(|text| found.stderr.contains(text));
                found.end == wanted && says && found.panic_place() == place.as_deref()
            })
        }))
    }

    /// Checks that the original fails.
    fn check_first(&self, first: &Outcome) -> Result<(), Failure> {
        let said = lines_of(first);
        if let Some(text) = self.stderr.as_ref().filter(|text| !first.stderr.contains(*text)) {
            let what = "on the original, the command does not write to standard error";
            return Err(Failure::input(format!("{what}: {text}{said}")));
        }
        match (first.end, self.status) {
            (end, Some(status)) if end != ProcessEnd::Status(status) => Err(Failure::input(format!(
                "on the original, the command ends with {end}, not {status}{said}"
            ))),
            (ProcessEnd::Status(status @ (CANT_EXECUTE | NOT_FOUND)), None) => {
                let what = if status == NOT_FOUND { "was not found" } else { "can't be executed" };
                let means = format!("exit status {status} says that a command {what}");
                Err(Failure::input(format!("{means} (`--status={status}` if it does not){said}")))
            }
            (ProcessEnd::Status(status), None) if self.crash.is_some() && status != PANIC => {
                let what = "the passes neither panic on the original, nor are they killed";
                Err(Failure::input(format!("{what}: they end with exit status {status}{said}")))
            }
            _ => Ok(()),
        }
    }

    /// Tests whether passes change a program's results.
    fn computes_other<'a, P: Subject>(
        &'a self,
        setup: &'a Setup,
        original: &P,
        pipeline: &str,
    ) -> Result<Test<'a, P>, Failure> {
        let test = Differs { setup, pipeline: pipeline.to_owned(), tolerance: self.tolerance };
        let found = original.module().map(|module| quietly(|| test.trouble(&module)))?;
        match found.ok_or_else(|| Failure::input("the interpreter panics on the original"))?? {
            Some(Trouble::Differs(_)) => {}
            Some(Trouble::Fails(message)) => {
                return Err(Failure::input(format!("`{pipeline}` fails on the original: {message}")));
            }
            None => {
                let what = format!("the interpreter computes the same before and after `{pipeline}`");
                return Err(Failure::input(format!("{what}, within {:.0e}", self.tolerance)));
            }
        }
        Ok(Box::new(move |program: &P| {
            let Ok(module) = program.module() else { return false };
            matches!(quietly(|| test.trouble(&module)), Some(Ok(Some(Trouble::Differs(_)))))
        }))
    }
}

/// Refuses a command that exits with the same status on an empty program, because it can't tell programs
/// apart.
fn check_tells_apart(first: &Outcome, empty: &Outcome) -> Result<(), Failure> {
    match first.end {
        ProcessEnd::Status(status) if first.panic_place().is_none() && empty.end == first.end => {
            let what = format!("the command ends with exit status {status} on an empty program too");
            let help = "name the failure with --stderr=TEXT or --status=N";
            Err(Failure::input(format!("{what}: {help}{}", lines_of(first))))
        }
        _ => Ok(()),
    }
}

/// The first lines of a command's standard error.
fn lines_of(outcome: &Outcome) -> String {
    outcome.stderr.trim_end().lines().take(5).map(|line| format!("\n  {line}")).collect()
}

/// The exit status of a Rust program that panicked.
const PANIC: i32 = 101;

/// The exit status of a shell that can't execute a command.
const CANT_EXECUTE: i32 = 126;

/// The exit status of a shell that can't find a command.
const NOT_FOUND: i32 = 127;

/// Passes that may change the results of programs.
struct Differs<'a> {
    setup: &'a Setup,
    pipeline: String,
    tolerance: f64,
}

impl Differs<'_> {
    /// The fault of a program after the passes, found as by `optc bisect`.
    fn trouble(&self, module: &Module) -> Result<Option<Trouble>, Failure> {
        let entry = entry(module, None)?;
        let cases = InputArgs::all_random().cases(module, &entry)?;
        let [case] = &cases[..] else { unreachable!("random inputs are one case") };
        let registry = &self.setup.registry;
        let compile = CompileOptions {
            cpu: self.setup.cpu,
            target: self.setup.target.clone(),
            ..CompileOptions::default()
        };
        let options = BisectOptions { registry, passes: &self.pipeline, compile, tolerance: self.tolerance };
        interpreted_trouble(module, &entry, &case.inputs, &options)
    }
}

/// The path of this command.
fn own_path() -> Result<OsString, Failure> {
    let path = std::env::current_exe();
    path.map(OsString::from).map_err(|error| Failure::input(format!("can't find this command: {error}")))
}
