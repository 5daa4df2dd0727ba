//! The verbs of the command, with their arguments.
//!
//! They are not a derived enumeration, which would describe all arguments of all verbs at each start, at the
//! cost of most of the start-up time. The arguments of a verb are described only when it is named, or in help
//! that shows them.

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

use super::{
    bench, bisect, build, diff, doctor, explain, list, lit, new_dialect, place, plan, reduce, run, shell,
};

/// A verb without arguments.
#[derive(Args)]
pub(super) struct NoArgs {}

macro_rules! verbs {
    ($($name:literal $verb:ident($args:ty) $about:literal, $after:literal;)*) => {
        /// What is to be done.
        pub(super) enum Verb {
            $(#[doc = $about] $verb($args),)*
        }

        impl FromArgMatches for Verb {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Verb, Error> {
                match matches.subcommand() {
                    $(Some(($name, matches)) => {
                        <$args as FromArgMatches>::from_arg_matches(matches).map(Verb::$verb)
                    })*
                    _ => Err(Error::new(ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                Verb::from_arg_matches(matches).map(|verb| *self = verb)
            }
        }

        impl Subcommand for Verb {
            fn augment_subcommands(command: Command) -> Command {
                command$(.subcommand(Command::new($name).about($about).defer(|verb| {
                    let verb = <$args as Args>::augment_args(verb).about($about);
                    if $after.is_empty() { verb } else { verb.after_help($after) }
                })))*
            }

            fn augment_subcommands_for_update(command: Command) -> Command {
                Verb::augment_subcommands(command)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($name),*].contains(&name)
            }
        }
    };
}

verbs! {
    "run" Run(run::RunArgs)
        "Compile a program and run it",
        "Examples:\n\
        \x20 optc run model.onnx --inputs=x.npz --check=y.npz\n\
        \x20 optc run model.onnx --random --synthesize-weights --threads=1\n\
        \x20 optc run net.mlir --random --poison";
    "build" Build(build::BuildArgs)
        "Compile a program into a file that runs without compiling again",
        "Examples:\n\
        \x20 optc build model.onnx -o model.optc\n\
        \x20 optc build model.onnx --emit=obj -o out --target-cpu=x86-64-v3\n\
        \x20 optc build model.onnx --emit=obj -o out --target-cpu=aarch64";
    "plan" Plan(plan::PlanArgs)
        "Plan a program, and print the size of its arena; with `--json`, the place of every value",
        "Examples:\n\
        \x20 optc plan model.onnx\n\
        \x20 optc plan model.onnx --optimize=memory --html=plan.html\n\
        \x20 optc plan model.onnx --dim N=4 --json=-\n\
        \x20 optc plan before.mlir after.mlir --html=plan.html";
    "explain" Explain(explain::ExplainArgs)
        "Explain the peak of the arena and what would lower it, or the place of one value",
        "Examples:\n  optc explain model.onnx\n  optc explain net.mlir %12";
    "bench" Bench(bench::BenchArgs)
        "Time a program: loading, compilation, the first run, and the latency of later runs",
        "Examples:\n\
        \x20 optc bench model.onnx --random --threads=1 --json=before.json\n\
        \x20 optc bench model.onnx --random --threads=1 --compare=before.json";
    "bisect" Bisect(bisect::BisectArgs)
        "Find the pass, and the change of it, that alters a program's results", "";
    "diff" Diff(diff::DiffArgs)
        "Show how two programs, or two plans, differ", "";
    "reduce" Reduce(reduce::ReduceArgs)
        "Find the smallest program that still fails", "";
    "place" Place(place::PlaceArgs)
        "Solve a placement problem from a CSV file",
        "Example:\n  optc place problem.csv --capacity=4MB --out=placed.csv";
    "passes" Passes(list::NameArgs)
        "List the passes, or describe one",
        "Example:\n  optc passes fuse";
    "ops" Ops(list::OpsArgs)
        "List the operations, or describe one",
        "Examples:\n  optc ops nn.conv2d\n  optc ops --onnx";
    "lit" Lit(lit::LitArgs)
        "Run tests: files of IR text with a command in their first line, and the expected output",
        "Examples:\n  optc lit lit-tests\n  optc lit lit-tests --filter=fuse --bless";
    "new-dialect" NewDialect(new_dialect::NewDialectArgs)
        "Write a crate with a dialect, a pass, a law, tests, and a command of its own with a language \
         server",
        "Example:\n  optc new-dialect dsp";
    "lsp" Lsp(NoArgs)
        "Serve an editor: diagnostics, types, completion and more for IR text (Language Server Protocol, on \
         standard input and output)",
        "Example:\n  optc lsp";
    "doctor" Doctor(doctor::DoctorArgs)
        "Print the CPU, threads and memory that optc detects, and what it chooses for them",
        "Example:\n  optc doctor";
    "completions" Completions(shell::CompletionsArgs)
        "Print completions for a shell",
        "Example:\n  optc completions bash";
    "man" Man(shell::ManArgs)
        "Print the manual page of the command, or of a verb",
        "Example:\n  optc man run";
}
