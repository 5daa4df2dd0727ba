//! The command line of `optc` for a tool with its own name, passes and dialects.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Command, CommandFactory};

use super::lit::{self, LitArgs};
use super::{Cli, VERSION, run_command};
use crate::failure::Failure;
use crate::opt::Setup;

/// Runs the command line of a tool (the first argument is the program's own name):
/// `my-opt --passes=... FILE`, `my-opt run FILE`, and so on. Every verb of `optc` knows the dialects, passes,
/// laws, kernels and the target of the setup. The exit status is that of `optc`.
///
/// ```no_run
/// use optc::opt::Setup;
///
/// fn main() -> std::process::ExitCode {
///     optc::cli::tool(&Setup { name: "my-opt", ..Setup::default() }, std::env::args_os())
/// }
/// ```
pub fn tool(setup: &Setup, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let shows_help = |word: &OsString| matches!(word.to_str(), Some("--help" | "-h" | "help" | "man"));
    let command = command(setup);
    let command = if arguments.iter().any(shows_help) { renamed(command, setup.name) } else { command };
    run_command(setup, command, arguments, None)
}

/// The version of a tool: that of its `optc`.
static TOOL_VERSION: LazyLock<String> = LazyLock::new(|| format!("(optc {})", *VERSION));

/// The command of `optc` with the name of a tool.
fn command(setup: &Setup) -> Command {
    let name = setup.name;
    let dialects: Vec<String> = setup.dialects.iter().map(|known| format!("`{}`", known.name)).collect();
    let known = match &dialects[..] {
        [] => String::new(),
        some => format!(" and the dialects {}", some.join(", ")),
    };
    let command = Cli::command().name(name).bin_name(name);
    let command = command.version(TOOL_VERSION.as_str()).long_about(None);
    command.about(format!("optc with the passes{known} of {name}"))
}

/// A command with the tool's name in the examples of its verbs.
fn renamed(mut command: Command, name: &str) -> Command {
    let renamed = |text: &clap::builder::StyledStr| text.to_string().replace("optc ", &format!("{name} "));
    // Verbs have no descriptions before this.
    command.build();
    command.mut_subcommands(|verb| {
        let (about, after) = (verb.get_long_about().map(renamed), verb.get_after_help().map(renamed));
        let verb = match about {
            Some(about) => verb.long_about(about),
            None => verb,
        };
        match after {
            Some(after) => verb.after_help(after),
            None => verb,
        }
    })
}

/// Runs tests. Those of `optc` itself are for one processor, whatever machine they run on.
pub(super) fn lit(setup: &Setup, args: &LitArgs) -> Result<(), Failure> {
    if setup.name == Setup::default().name {
        lit::run(&lit::same_everywhere(), args)
    } else {
        lit::run(setup, args)
    }
}
