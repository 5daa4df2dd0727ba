//! Arguments of the verbs that compile a program: the machine, memory, and output of passes.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use ir::{Context, Module};
use passes::manager::{PassObserver, Report, Selection};

use super::limits::LimitArgs;
use super::{MachineArgs, MemoryArgs, progress};
use crate::artifact::{Artifact, ArtifactCode, is_artifact};
use crate::compile::{CompileOptions, DeadMemory};
use crate::failure::Failure;
use crate::load::{LoadOptions, load};
use crate::opt::Setup;
use crate::pass_debug::{PassDebugArgs, remarks_text};

/// The reason for refusing options that an artifact does not follow.
pub(super) const BUILT_ONCE: &str = "an artifact has the function, sizes, memory, goal, precision and CPU that \
                                     it was built with";

/// How a program is compiled.
#[derive(Args, Clone)]
pub(super) struct CompileArgs {
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    #[command(flatten)]
    pub(super) memory: MemoryArgs,
    /// Function to compile [default: the only public one, else `main`].
    #[arg(long, value_name = "NAME")]
    pub(super) entry: Option<String>,
    #[command(flatten)]
    pub(super) debug: PassDebugArgs,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
}

impl CompileArgs {
    /// Loads a program to plan with these arguments.
    ///
    /// # Errors
    /// All errors found in the file; an error for an artifact that was planned with other options.
    pub(super) fn load(&self, path: &Path, options: &LoadOptions) -> Result<Module, Failure> {
        if is_artifact(path) {
            self.check_built(&Artifact::open(path)?, ArtifactCode::Stored)?;
        }
        load(path, options)
    }

    /// Refuses options that an artifact can't follow, because it was built with others.
    ///
    /// # Errors
    /// If there are any.
    pub(super) fn check_built(&self, artifact: &Artifact, code: ArtifactCode) -> Result<(), Failure> {
        let is_other_cpu = self.machine.target_cpu.is_some_and(|cpu| cpu.isa().name() != artifact.cpu());
        let is_other_cpu = is_other_cpu && code == ArtifactCode::Stored;
        let is_other_entry = self.entry.as_ref().is_some_and(|entry| entry != artifact.entry());
        if is_other_cpu || is_other_entry || self.memory.differs_from(&artifact.built_options()?) {
            return Err(Failure::Usage(BUILT_ONCE.to_owned()));
        }
        Ok(())
    }

    /// The options of compilation.
    ///
    /// # Errors
    /// For each unknown name of a pass.
    pub(super) fn options(
        &self,
        setup: &Setup,
        entry: &str,
        dead: DeadMemory,
    ) -> Result<CompileOptions, Failure> {
        let registry = &setup.registry;
        let fail = |faults: Vec<ir::Diagnostic>| Failure::diagnostics(&Context::new(), &faults);
        let remarks = self.debug.remarks(registry).map_err(fail)?;
        let debug = self.debug.debug(registry).map_err(fail)?;
        let observer = Arc::new(TerminalObserver { asked: self.debug.clone(), remarks });
        let options = self.memory.options(setup, &self.machine, entry, dead);
        Ok(CompileOptions { debug, observer: Some(observer), ..options })
    }
}

/// Shows the requested output of passes on standard error, and the current step on a terminal.
struct TerminalObserver {
    asked: PassDebugArgs,
    remarks: Selection,
}

impl PassObserver for TerminalObserver {
    fn begins(&self, step: &str) -> ControlFlow<String> {
        progress::say(&format!("compiling: {step}"));
        ControlFlow::Continue(())
    }

    fn prints(&self, text: &str) {
        progress::print_error(text);
    }

    fn ends(&self, ctx: &Context, report: &Report) {
        let text = remarks_text(ctx, &report.remarks, &self.remarks) + &self.asked.told(report);
        if !text.is_empty() {
            progress::print_error(&text);
        }
    }
}
