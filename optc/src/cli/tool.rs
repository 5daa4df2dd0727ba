//! The command line of a tool with passes and dialects of its own: that of `optc`, under another name.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Command, CommandFactory};

use super::lit::{self, LitArgs};
use super::{Cli, VERSION, run_command};
use crate::failure::Failure;
use crate::opt::Setup;

/// Does what the arguments of a tool say (the first is the program's own name): `my-opt --passes=... FILE`,
/// `my-opt run FILE`, and so on: every verb of `optc` knows the dialects, passes, laws, kernels and the target
/// of the setup. The exit status is that of `optc`.
///
/// ```no_run
/// use optc::opt::Setup;
///
/// fn main() -> std::process::ExitCode {
///     optc::cli::tool(&Setup { name: "my-opt", ..Setup::default() }, std::env::args_os())
/// }
/// ```
pub fn tool(setup: &Setup, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_command(setup, command(setup), arguments, None)
}

/// The command of `optc` with the name of a tool, also in its examples.
fn command(setup: &Setup) -> Command {
    let name = setup.name;
    let renamed = |text: Option<&clap::builder::StyledStr>| {
        text.map(|text| text.to_string().replace("optc ", &format!("{name} ")))
    };
    let dialects: Vec<String> = setup.dialects.iter().map(|known| format!("`{}`", known.name)).collect();
    let known = match &dialects[..] {
        [] => String::new(),
        some => format!(" and the dialects {}", some.join(", ")),
    };
    let command = Cli::command().name(name).bin_name(name);
    let command = command.version(format!("(optc {})", *VERSION)).long_about(None);
    let command = command.about(format!("optc with the passes{known} of {name}"));
    command.mut_subcommands(|mut verb| {
        if let Some(about) = renamed(verb.get_long_about()) {
            verb = verb.long_about(about);
        }
        match renamed(verb.get_after_help()) {
            Some(after) => verb.after_help(after),
            None => verb,
        }
    })
}

/// Runs tests; those of `optc` itself are for one processor, whatever it runs on.
pub(super) fn lit(setup: &Setup, args: &LitArgs) -> Result<(), Failure> {
    if setup.name == Setup::default().name {
        lit::run(&lit::same_everywhere(), args)
    } else {
        lit::run(setup, args)
    }
}
