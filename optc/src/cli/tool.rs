//! The command line of a tool with passes and dialects of its own.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::color::ColorArgs;
use super::list::{self, NameArgs, OpsArgs};
use super::lit::{self, LitArgs};
use super::passes::{self, PassesArgs};
use super::{begin, exit, misused};
use crate::opt::Setup;

/// Runs passes over IR text and prints it.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
struct Tool {
    #[command(subcommand)]
    verb: Option<ToolVerb>,
    #[command(flatten)]
    passes: PassesArgs,
    #[command(flatten)]
    color: ColorArgs,
}

#[derive(Subcommand)]
enum ToolVerb {
    /// List the passes, or describe one.
    Passes(NameArgs),
    /// List the operations, or describe one.
    Ops(OpsArgs),
    Lit(LitArgs),
    /// Serve an editor: faults, types, completion and more in IR text (Language Server Protocol, on standard
    /// input and output).
    Lsp,
}

/// Does what the arguments of a tool say (the first is the program's own name): `my-opt --passes=... FILE`,
/// `my-opt passes [NAME]`, `my-opt ops [NAME]`, `my-opt lit FILES`,
/// `my-opt lsp`. The exit status is that of `optc`.
///
/// ```no_run
/// use optc::opt::Setup;
///
/// fn main() -> std::process::ExitCode {
///     optc::cli::tool(&Setup { name: "my-opt", ..Setup::default() }, std::env::args_os())
/// }
/// ```
pub fn tool(setup: &Setup<'_>, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = Tool::command().name(setup.name).bin_name(setup.name);
    let matches = command.try_get_matches_from(arguments);
    let tool = match matches.and_then(|matches| Tool::from_arg_matches(&matches)) {
        Ok(tool) => tool,
        Err(error) => return misused(&error),
    };
    begin(&tool.color);
    exit(match tool.verb {
        None => passes::run(setup, &tool.passes),
        Some(ToolVerb::Passes(args)) => list::passes(setup, &args),
        Some(ToolVerb::Ops(args)) => list::ops(setup, &args),
        Some(ToolVerb::Lit(args)) => lit::run(setup, &args),
        Some(ToolVerb::Lsp) => crate::lsp::run(setup),
    })
}
