//! `optc --passes=... FILE` as a function: runs passes on a text.
//!
//! The command line, the lit tests and other tools (such as `my-opt`, with its own passes and dialects) call
//! the same function with a [`Setup`]. The `main` of such a tool is [`crate::cli::tool`].

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, Parser};
use codegen::Cpu;
use import::onnx::StrippedWeights;
use ir::text::{Locations, ParseOptions, PrintForm, PrintOptions, Unregistered};
use ir::{Context, Diagnostic, Dialect, Module, Target};
use passes::manager::{PassObserver, Pipeline, Registry, Reproducer, RunOptions};

use crate::expected;
use crate::failure::Failure;
use crate::load::{context_of, restore_weights};
use crate::pass_debug::PassDebugArgs;

/// A tool's settings.
pub struct Setup {
    /// Its name on the command line, and in the first line of its tests.
    pub name: &'static str,
    /// Its passes and rules.
    pub registry: Registry,
    /// The processor that it compiles for, with its own kernels.
    pub cpu: Cpu,
    /// The target for passes; none for the processor.
    pub target: Option<Arc<dyn Target + Send>>,
    /// Dialects in addition to the built-in ones.
    pub dialects: Vec<&'static Dialect>,
    /// The default number of threads to compile for.
    pub threads: usize,
}

/// A text with its origin.
pub struct Source<'a> {
    /// The name in diagnostics.
    pub name: &'a str,
    /// The text; an owned one is not copied.
    pub text: Cow<'a, str>,
    /// The file; a model whose weights the text uses may be in its folder.
    pub path: Option<&'a Path>,
    /// The replacement of weights that were stripped from that model.
    pub stripped: StrippedWeights,
}

impl<'a> Source<'a> {
    /// A text without a file.
    pub fn new(name: &'a str, text: &'a str) -> Source<'a> {
        Source { name, text: Cow::Borrowed(text), path: None, stripped: StrippedWeights::Refuse }
    }
}

/// The reason why a text became no module.
enum Refused {
    Faults(Vec<Diagnostic>),
    Failure(Failure),
}

/// The arguments.
#[derive(Args, Clone, Debug, Default)]
pub struct OptArgs {
    /// The passes to run: `fuse,inplace,plan`, `func(fuse{max-ops=64}),plan{planner=exact}`.
    #[arg(long, value_name = "PIPELINE", default_value = "")]
    pub passes: String,
    /// Print MLIR's generic form.
    #[arg(long)]
    pub print_generic: bool,
    /// Print locations.
    #[arg(long)]
    pub print_locations: bool,
    /// Accept operations that no dialect registered.
    #[arg(long)]
    pub allow_unregistered: bool,
    /// Read each section between lines `// -----` as a program of its own.
    #[arg(long)]
    pub split_input_file: bool,
    /// Check that exactly the diagnostics in comments `// expected-error@+1 {{part of the text}}` are
    /// emitted.
    #[arg(long)]
    pub verify_diagnostics: bool,
    /// Print the pipeline as it will run, with the mandatory passes that are inserted, and stop; needs no
    /// file.
    #[arg(long)]
    pub print_pipeline: bool,
    /// Number of threads to compile and run with; scratch is planned for each of them.
    #[arg(long, value_parser = crate::cli::parse_threads)]
    pub threads: Option<usize>,
    /// CPU to compile for: `native`, `x86-64-v4`, `x86-64-v3`, `aarch64` or `portable` (any of this machine's
    /// architecture); need not be this one.
    #[arg(long, value_name = "CPU", value_parser = Cpu::named)]
    pub target_cpu: Option<&'static Cpu>,
    /// Checks and output for each pass.
    #[command(flatten)]
    pub debug: PassDebugArgs,
}

impl Default for Setup {
    /// Our own passes and dialects, the processor of this machine, one thread.
    fn default() -> Self {
        Setup {
            name: "optc",
            registry: Registry::new(),
            cpu: *Cpu::native(),
            target: None,
            dialects: Vec::new(),
            threads: 1,
        }
    }
}

#[derive(Parser)]
#[command(no_binary_name = true)]
struct OptLine {
    #[command(flatten)]
    args: OptArgs,
}

impl OptArgs {
    /// Parses arguments, without the program's name and without a file.
    ///
    /// # Errors
    /// A message about what is wrong.
    pub fn parse<S: Into<std::ffi::OsString> + Clone>(arguments: &[S]) -> Result<OptArgs, String> {
        OptLine::try_parse_from(arguments.iter().cloned())
            .map(|line| line.args)
            .map_err(|error| error.render().to_string())
    }

    /// The options for parsing.
    pub fn parse_options(&self) -> ParseOptions {
        let unregistered = if self.allow_unregistered { Unregistered::Allow } else { Unregistered::Refuse };
        ParseOptions { unregistered }
    }

    /// Options for printing.
    pub fn print_options(&self) -> PrintOptions {
        let form = if self.print_generic { PrintForm::Generic } else { PrintForm::Pretty };
        let locations = if self.print_locations { Locations::Shown } else { Locations::Hidden };
        PrintOptions { form, locations, ..PrintOptions::default() }
    }
}

impl Setup {
    /// A context with the dialects.
    pub fn context(&self) -> Arc<Context> {
        context_of(self.dialects.iter().copied())
    }

    /// The processor, with other instructions if they are named.
    pub(crate) fn cpu_of(&self, named: Option<&Cpu>) -> Cpu {
        named.map_or(self.cpu, |named| self.cpu.with_isa(named.isa()))
    }

    /// The pipeline as it will run, as one line.
    ///
    /// # Errors
    /// If its text has errors.
    pub fn pipeline_text(&self, args: &OptArgs) -> Result<String, Failure> {
        let ctx = self.context();
        let pipeline = Pipeline::parse(&ctx, &args.passes, &self.registry);
        let pipeline = pipeline.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
        Ok(format!("{pipeline}\n"))
    }

    /// Parses a text, runs the passes and returns the printed result; `say` receives the output for standard
    /// error.
    ///
    /// # Errors
    /// For each part of the text, all errors of the first stage that finds any.
    pub fn opt_text(
        &self,
        args: &OptArgs,
        source: Source<'_>,
        say: &dyn Fn(&str),
    ) -> Result<String, Failure> {
        let mut printed = String::new();
        self.opt(args, source, say, &mut printed)?;
        Ok(printed)
    }

    /// Like [`Setup::opt_text`], but prints to `out`, in pieces if the text is a single program.
    ///
    /// # Errors
    /// As [`Setup::opt_text`], and if writing to `out` fails.
    pub fn opt(
        &self,
        args: &OptArgs,
        mut source: Source<'_>,
        say: &dyn Fn(&str),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if args.print_pipeline {
            return put(out, &self.pipeline_text(args)?);
        }
        let text = std::mem::take(&mut source.text);
        if !args.split_input_file {
            return self.opt_part(args, &source, text.into_owned(), say, out);
        }
        let mut outputs = Vec::new();
        let mut faults = Vec::new();
        for part in split(&text) {
            let mut output = String::new();
            match self.opt_part(args, &source, part, say, &mut output) {
                Ok(()) => outputs.push(output),
                Err(Failure::Input(more)) => faults.extend(more),
                Err(usage) => return Err(usage),
            }
        }
        if faults.is_empty() { put(out, &outputs.join("// -----\n")) } else { Err(Failure::Input(faults)) }
    }

    /// Runs the pipeline of a reproducer on its program, and prints the result to `out`; the panic occurs
    /// again, unless it was fixed.
    ///
    /// # Errors
    /// As [`Setup::opt`], and if the text is no reproducer.
    pub fn replay(
        &self,
        args: &OptArgs,
        source: Source<'_>,
        say: &dyn Fn(&str),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let Some(Reproducer { pipeline, threads }) = Reproducer::of(&source.text) else {
            let message = format!("`{}` is no reproducer: its first line does not say what ran", source.name);
            return Err(Failure::input(message));
        };
        let args =
            OptArgs { passes: pipeline, threads: Some(threads), allow_unregistered: true, ..args.clone() };
        self.opt(&args, source, say, out)
    }

    fn opt_part(
        &self,
        args: &OptArgs,
        source: &Source<'_>,
        text: String,
        say: &dyn Fn(&str),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let ctx = self.context();
        let fail = |faults: Vec<Diagnostic>| Failure::diagnostics(&ctx, &faults);
        if args.verify_diagnostics {
            let announced = expected::read(source.name, &text).map_err(Failure::input)?;
            let (output, told) = match self.read(args, source, text, &ctx) {
                Err(Refused::Failure(failure)) => return Err(failure),
                Err(Refused::Faults(faults)) => (String::new(), faults),
                Ok(mut module) => match self.run(args, &mut module, say) {
                    Ok(remarks) => (ir::text::print_with(&module, &args.print_options()), remarks),
                    Err(faults) => (String::new(), faults),
                },
            };
            let compared = expected::compare(&ctx, source.name, &announced, &told);
            compared.or_else(Failure::unless_none)?;
            return put(out, &output);
        }
        match self.read(args, source, text, &ctx) {
            Err(Refused::Failure(failure)) => Err(failure),
            Err(Refused::Faults(faults)) => Err(fail(faults)),
            Ok(mut module) => self.opt_module(args, &mut module, say, out),
        }
    }

    fn read(
        &self,
        args: &OptArgs,
        source: &Source<'_>,
        text: String,
        ctx: &Arc<Context>,
    ) -> Result<Module, Refused> {
        let module = ir::text::parse_with(ctx, source.name, text, &args.parse_options());
        let mut module = module.map_err(Refused::Faults)?;
        ir::verify::verify_touched(&mut module).map_err(Refused::Faults)?;
        restore_weights(&module, source.path, source.stripped).map_err(Refused::Failure)?;
        Ok(module)
    }

    /// Runs the passes on a module and prints it, in pieces.
    ///
    /// # Errors
    /// All errors of the first stage that finds any; an error if writing to `out` fails.
    pub fn opt_module(
        &self,
        args: &OptArgs,
        module: &mut Module,
        say: &dyn Fn(&str),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let ctx = module.ctx.clone();
        let remarks = self.run(args, module, say);
        let remarks = remarks.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
        remarks.iter().for_each(|remark| say(&format!("{}\n", remark.render(&ctx))));
        ir::text::write(module, &args.print_options(), out).map_err(|_| unwritable())
    }

    /// Runs the passes; returns the requested remarks.
    fn run(
        &self,
        args: &OptArgs,
        module: &mut Module,
        say: &dyn Fn(&str),
    ) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let pipeline = Pipeline::parse(&module.ctx, &args.passes, &self.registry)?;
        let cpu = self.cpu_of(args.target_cpu);
        let target: &dyn Target = self.target.as_deref().unwrap_or(&cpu);
        let options = self.run_options(args, target, &say)?;
        let report = pipeline.run(module, &options)?;
        say(&args.debug.told(&report));
        Ok(report.remarks.into_iter().map(|remark| remark.diagnostic).collect())
    }

    fn run_options<'s>(
        &self,
        args: &OptArgs,
        target: &'s dyn Target,
        observer: &'s dyn PassObserver,
    ) -> Result<RunOptions<'s>, Vec<Diagnostic>> {
        Ok(RunOptions {
            threads: args.threads.unwrap_or(self.threads),
            remarks: args.debug.remarks(&self.registry)?,
            debug: args.debug.debug(&self.registry)?,
            observer,
            ..RunOptions::new(target)
        })
    }
}

fn put(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    out.write_str(text).map_err(|_| unwritable())
}

fn unwritable() -> Failure {
    Failure::input("the output can't be written")
}

/// The parts between lines `// -----`, each preceded by empty lines, so that its lines keep their numbers.
fn split(text: &str) -> Vec<String> {
    let padded = |range: Range<usize>| {
        let before = text[..range.start].matches('\n').count();
        "\n".repeat(before) + &text[range]
    };
    part_ranges(text).into_iter().map(padded).collect()
}

/// The ranges of the parts between lines `// -----` in a text.
pub(crate) fn part_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("// -----") && line.trim_end() == "// -----" {
            ranges.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    ranges.push(start..text.len());
    ranges
}
