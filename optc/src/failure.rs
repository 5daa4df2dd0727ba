//! What went wrong, for a person to read, and for a program: each fault with its place, notes and a hint.

use std::fmt;

use ir::diag::{self, MessagePlace};
use ir::{Context, Diagnostic, Severity};

/// Why the command or the library could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The input is at fault: every fault of the first stage that found some. Exit status 1.
    Input(Vec<Fault>),
    /// The command was used wrongly. Exit status 2.
    Usage(String),
}

/// A fault of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How grave.
    pub severity: Severity,
    /// What was found, and what was expected, without the place.
    pub message: String,
    /// Where, if that is known.
    pub place: Option<MessagePlace>,
    /// What else there is to know, each with its place.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
    /// All of it as it is printed, with a line of the source.
    text: String,
}

impl Fault {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Fault {
        let message = message.into();
        let text = format!("error: {message}");
        Fault { severity: Severity::Error, message, place: None, notes: Vec::new(), help: Vec::new(), text }
    }

    /// A diagnostic, with its place in the sources that `ctx` knows.
    pub fn of(ctx: &Context, diagnostic: &Diagnostic) -> Fault {
        Fault {
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            place: diag::place(ctx, diagnostic.location),
            notes: diagnostic.note_texts(ctx),
            help: diagnostic.help.iter().cloned().collect(),
            text: diagnostic.render(ctx).trim_end().to_owned(),
        }
    }

    /// Adds hints.
    pub(crate) fn with_help(mut self, help: impl IntoIterator<Item = String>) -> Fault {
        for line in help {
            self.text += &format!("\n  = help: {line}");
            self.help.push(line);
        }
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Failure {
    /// One fault of the input.
    pub fn input(message: impl Into<String>) -> Failure {
        Failure::Input(vec![Fault::new(message)])
    }

    /// Faults of the input, with their places in the sources that `ctx` knows.
    pub fn diagnostics(ctx: &Context, diagnostics: &[Diagnostic]) -> Failure {
        Failure::Input(diagnostics.iter().map(|diagnostic| Fault::of(ctx, diagnostic)).collect())
    }

    /// That there are none of these faults of the input.
    ///
    /// # Errors
    /// All of them.
    pub(crate) fn unless_none(messages: impl IntoIterator<Item = String>) -> Result<(), Failure> {
        let faults: Vec<Fault> = messages.into_iter().map(Fault::new).collect();
        if faults.is_empty() { Ok(()) } else { Err(Failure::Input(faults)) }
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
            Failure::Input(faults) => {
                let texts: Vec<&str> = faults.iter().map(|fault| fault.text.as_str()).collect();
                f.write_str(&texts.join("\n"))
            }
            Failure::Usage(message) => write!(f, "error: {message}\n\nFor more information, try '--help'."),
        }
    }
}

impl std::error::Error for Failure {}
