//! Failures, for people and for programs: each error with its location, notes and a hint.

use std::fmt;

use anstyle::{AnsiColor, Style};
use ir::diag::{self, MessagePlace};
use ir::{Context, Diagnostic, InferError, Severity};
use runtime::RunError;

/// The style of the word `error` on a terminal, as in clap.
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The reason for a failure of the command or the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Errors in the input: all those of the first stage that found any. Exit status 1.
    Input(Vec<Fault>),
    /// Wrong usage of the command. Exit status 2.
    Usage(String),
}

/// The stage that found an error, for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultCode {
    /// Anything else: a file, a name, a size, a budget.
    #[default]
    Input,
    /// IR text can't be read.
    Text,
    /// A model can't be imported.
    Model,
    /// A program violates a law of its operations.
    Program,
    /// The text of a pipeline is wrong.
    Pipeline,
    /// A pass, or the verifier after it, refused the program.
    Pass,
    /// There is no machine code for the program.
    MachineCode,
    /// A run failed.
    Run,
    /// An observer ended the work.
    Cancelled,
}

impl FaultCode {
    /// A stable name for it.
    pub fn name(self) -> &'static str {
        match self {
            FaultCode::Input => "input",
            FaultCode::Text => "text",
            FaultCode::Model => "model",
            FaultCode::Program => "program",
            FaultCode::Pipeline => "pipeline",
            FaultCode::Pass => "pass",
            FaultCode::MachineCode => "machine-code",
            FaultCode::Run => "run",
            FaultCode::Cancelled => "cancelled",
        }
    }
}

/// An error in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The stage that found it.
    pub code: FaultCode,
    /// The first operation that the message names, if any.
    pub op: Option<String>,
    /// The severity.
    pub severity: Severity,
    /// What was found and what was expected, without the place.
    pub message: String,
    /// The place, if it is known.
    pub place: Option<MessagePlace>,
    /// Notes, each with its place.
    pub notes: Vec<String>,
    /// Hints: how to correct it.
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
            code: FaultCode::Input,
            op: None,
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
        let quoted = diagnostic.message.split('`').skip(1).step_by(2);
        let mut ops = quoted.filter(|word| ctx.def(ctx.op_name(word)).is_some());
        Fault {
            code: FaultCode::Input,
            op: ops.next().map(str::to_owned),
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
    #[cfg(feature = "jit")]
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
    /// A failure with a single error in the input.
    pub fn input(message: impl Into<String>) -> Failure {
        Failure::Input(vec![Fault::new(message)])
    }

    /// A failure with these diagnostics, with their places in the sources of `ctx`.
    pub fn diagnostics(ctx: &Context, diagnostics: &[Diagnostic]) -> Failure {
        Failure::Input(diagnostics.iter().map(|diagnostic| Fault::of(ctx, diagnostic)).collect())
    }

    /// The same failure with the stage that found it; faults that already have a stage keep it.
    pub(crate) fn coded(mut self, code: FaultCode) -> Failure {
        if let Failure::Input(faults) = &mut self {
            faults
                .iter_mut()
                .filter(|fault| fault.code == FaultCode::Input)
                .for_each(|fault| fault.code = code);
        }
        self
    }

    /// The stage that found the first error.
    pub fn code(&self) -> FaultCode {
        match self {
            Failure::Input(faults) => faults.first().map_or(FaultCode::Input, |fault| fault.code),
            Failure::Usage(_) => FaultCode::Input,
        }
    }

    /// Fails if there are any of these faults of the input.
    ///
    /// # Errors
    /// All of them.
    #[cfg(feature = "jit")]
    pub(crate) fn unless_none(messages: impl IntoIterator<Item = String>) -> Result<(), Failure> {
        let faults: Vec<Fault> = messages.into_iter().map(Fault::new).collect();
        if faults.is_empty() { Ok(()) } else { Err(Failure::Input(faults)) }
    }

    /// The displayed text, with colours.
    pub fn styled(&self) -> String {
        match self {
            Failure::Input(faults) => {
                let texts: Vec<&str> = faults.iter().map(|fault| fault.styled.as_str()).collect();
                texts.join("\n")
            }
            Failure::Usage(_) => self.to_string().replacen("error", &format!("{ERROR}error{ERROR:#}"), 1),
        }
    }

    /// The exit status of the process for this failure.
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

impl std::error::Error for Fault {}

impl std::error::Error for Failure {
    /// The first fault.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Input(faults) => faults.first().map(|fault| fault as _),
            Failure::Usage(_) => None,
        }
    }
}

/// A run that was refused, failed, or was cancelled.
impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        let code = if error == RunError::Stopped { FaultCode::Cancelled } else { FaultCode::Run };
        Failure::input(error.to_string()).coded(code)
    }
}

/// A function that could not be built.
impl From<InferError> for Failure {
    fn from(error: InferError) -> Failure {
        Failure::input(error.to_string()).coded(FaultCode::Program)
    }
}
