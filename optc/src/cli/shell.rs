//! Shell completions and manual pages, generated from the same definition as `--help`.

use std::io;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Failure;

/// Print completions for a shell.
///
/// For bash: `optc completions bash > ~/.local/share/bash-completion/completions/optc`.
#[derive(Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Print the manual page of the command, or of a verb.
///
/// To read it: `optc man plan | man -l -`.
#[derive(Args)]
pub(super) struct ManArgs {
    /// A verb [default: the command itself].
    #[arg(value_name = "VERB")]
    verb: Option<String>,
}

pub(super) fn completions(command: &mut Command, args: &CompletionsArgs) -> Result<(), Failure> {
    let mut text = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, command, name, &mut text);
    print(&text)
}

pub(super) fn manual(mut command: Command, args: &ManArgs) -> Result<(), Failure> {
    // Gives verbs their shared options and full names.
    command.build();
    let page = match &args.verb {
        None => command,
        Some(name) => verb(&command, name)?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(failed)?;
    print(&text)
}

/// A verb, which clap calls `optc-plan` after building.
fn verb(command: &Command, name: &str) -> Result<Command, Failure> {
    let known = || command.get_subcommands().map(Command::get_name);
    let found = command.find_subcommand(name).ok_or_else(|| {
        let hint =
            ir::diag::did_you_mean(name, known()).unwrap_or_else(|| "`optc --help` lists them".to_owned());
        Failure::Usage(format!("there is no verb `{name}` ({hint})"))
    })?;
    Ok(found.clone())
}

fn print(text: &[u8]) -> Result<(), Failure> {
    let text = std::str::from_utf8(text).map_err(|error| Failure::input(error.to_string()))?;
    super::write_output(text, None)
}

fn failed(error: io::Error) -> Failure {
    Failure::input(error.to_string())
}
