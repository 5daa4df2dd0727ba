//! Options for running a pipeline.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use ir::diag::did_you_mean;
use ir::{Context, Diagnostic, Location, Target};

use super::{ChangeLimit, Registry, Report};

/// Options for running a pipeline.
pub struct RunOptions<'a> {
    /// The machine that is compiled for.
    pub target: &'a dyn Target,
    /// The number of threads that will run the program; compilation uses the same number.
    pub threads: usize,
    /// The passes whose remarks are kept.
    pub remarks: Selection,
    /// Checks and output for each pass.
    pub debug: PassDebug,
    /// The observer of the passes.
    pub observer: &'a dyn PassObserver,
}

/// Checks and output for each pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassDebug {
    /// When the module is verified.
    pub verify: Verify,
    /// The passes before which the module is printed.
    pub print_before: Selection,
    /// The passes after which the module is printed.
    pub print_after: Selection,
    /// The passes after which the module is printed if they changed it.
    pub print_after_change: Selection,
    /// A folder that gets the module (`0001_fuse.mlir`) and the difference (`0001_fuse.diff`) after every
    /// pass that changed it.
    pub dump_dir: Option<PathBuf>,
    /// Limits on the changes of passes; functions are then processed one after the other.
    pub limits: Vec<ChangeLimit>,
    /// A file for the module before a pass that panics.
    pub reproducer: Option<PathBuf>,
}

/// An observer of running passes. A closure on text receives the printed modules; an `AtomicBool` cancels the
/// work.
pub trait PassObserver {
    /// Called before each step: a pass, given as text, or the work after all passes. `Break` ends the work
    /// with an error that contains the reason.
    fn begins(&self, _step: &str) -> ControlFlow<String> {
        ControlFlow::Continue(())
    }

    /// Called with the output of [`PassDebug`].
    fn prints(&self, _text: &str) {}

    /// Called after a pipeline without errors.
    fn ends(&self, _ctx: &Context, _report: &Report) {}
}

impl<F: Fn(&str)> PassObserver for F {
    fn prints(&self, text: &str) {
        self(text);
    }
}

/// Ends the work before the next step once it is true.
impl PassObserver for AtomicBool {
    fn begins(&self, _step: &str) -> ControlFlow<String> {
        match self.load(Relaxed) {
            true => ControlFlow::Break("cancelled".to_owned()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// When a module is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// After each pass, the parts that it may have changed.
    #[default]
    AfterEach,
    /// Never.
    Never,
}

/// A selection of passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// The passes with these names.
    Named(Vec<String>),
}

impl Selection {
    /// Selects the passes with these names.
    ///
    /// # Errors
    /// One for each unknown name.
    pub fn named<S: AsRef<str>>(names: &[S], registry: &Registry) -> Result<Selection, Vec<Diagnostic>> {
        let unknown = |name: &str| {
            let message = format!("there is no pass `{name}`");
            let help = did_you_mean(name, registry.iter().map(|def| def.name));
            Diagnostic { help, ..Diagnostic::error(Location::UNKNOWN, message) }
        };
        let names = names.iter().map(AsRef::as_ref);
        let errors: Vec<Diagnostic> =
            names.clone().filter(|name| registry.get(name).is_none()).map(unknown).collect();
        if errors.is_empty() { Ok(Selection::Named(names.map(str::to_owned).collect())) } else { Err(errors) }
    }

    /// Whether a pass is selected.
    pub fn contains(&self, pass: &str) -> bool {
        match self {
            Selection::None => false,
            Selection::All => true,
            Selection::Named(names) => names.iter().any(|name| name == pass),
        }
    }
}

impl<'a> RunOptions<'a> {
    /// One thread, verification after each pass, no output, no remarks.
    pub fn new(target: &'a dyn Target) -> RunOptions<'a> {
        RunOptions {
            target,
            threads: 1,
            remarks: Selection::None,
            debug: PassDebug::default(),
            observer: &|_: &str| {},
        }
    }
}
