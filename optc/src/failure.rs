//! What went wrong, for a person to read.

use std::fmt;

use ir::{Context, Diagnostic};

/// Why the command or the library could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The input is at fault: each fault, rendered with its place. Exit status 1.
    Input(Vec<String>),
    /// The command was used wrongly. Exit status 2.
    Usage(String),
}

impl Failure {
    /// One fault of the input.
    pub fn input(message: impl Into<String>) -> Failure {
        Failure::Input(vec![format!("error: {}", message.into())])
    }

    /// Faults of the input, with their places in the sources that `ctx` knows.
    pub fn diagnostics(ctx: &Context, diagnostics: &[Diagnostic]) -> Failure {
        Failure::Input(diagnostics.iter().map(|diagnostic| diagnostic.render(ctx)).collect())
    }

    /// What the process returns for it.
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Input(_) => 1,
            Failure::Usage(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(faults) => f.write_str(&faults.join("\n")),
            Failure::Usage(message) => write!(f, "error: {message}\n\nFor more information, try '--help'."),
        }
    }
}

impl std::error::Error for Failure {}
