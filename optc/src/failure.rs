//! What went wrong, for a person to read, and for a program: each fault with its place, notes and a hint.

use std::fmt;

use anstyle::{AnsiColor, Style};
use ir::diag::{self, MessagePlace};
use ir::{Context, Diagnostic, Severity};

/// How the word `error` looks on a terminal: as clap's.
const ERROR: Style = AnsiColor::Red.on_default().bold();

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
    /// The same with colours.
    styled: String,
}

impl Fault {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Fault {
        let message = message.into();
        Fault {
            severity: Severity::Error,
            place: None,
            notes: Vec::new(),
            help: Vec::new(),
            text: format!("error: {message}"),
            styled: format!("{ERROR}error{ERROR:#}: {message}"),
            message,
        }
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
            styled: diagnostic.render_styled(ctx).trim_end().to_owned(),
        }
    }

    /// Adds hints.
    pub(crate) fn with_help(mut self, help: impl IntoIterator<Item = String>) -> Fault {
        for line in help {
            let hint = format!("\n  = help: {line}");
            self.text += &hint;
            self.styled += &hint;
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

    /// As it is displayed, with colours.
    pub fn styled(&self) -> String {
        match self {
            Failure::Input(faults) => {
                let texts: Vec<&str> = faults.iter().map(|fault| fault.styled.as_str()).collect();
                texts.join("\n")
            }
            Failure::Usage(_) => self.to_string().replacen("error", &format!("{ERROR}error{ERROR:#}"), 1),
        }
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
