//! Running passes on a module, from the text of a pipeline.

use std::cell::Cell;
use std::ops::ControlFlow;

use ir::{Context, Module};
use passes::manager::{PassObserver, Pipeline, Registry, Report, RunOptions};

use crate::failure::{Failure, FaultCode};

/// Runs a textual pipeline of built-in passes.
///
/// # Errors
/// Errors in the pipeline's text, or all errors of the first pass that finds any.
pub fn run_pipeline(
    module: &mut Module,
    pipeline: &str,
    options: &RunOptions<'_>,
) -> Result<Report, Failure> {
    run_passes(module, pipeline, &Registry::new(), options)
}

/// Runs a textual pipeline of a registry's passes.
///
/// # Errors
/// As for [`run_pipeline`].
pub fn run_passes(
    module: &mut Module,
    pipeline: &str,
    registry: &Registry,
    options: &RunOptions<'_>,
) -> Result<Report, Failure> {
    let ctx = module.ctx.clone();
    let parsed = Pipeline::parse(&ctx, pipeline, registry);
    let parsed = parsed.map_err(|faults| Failure::diagnostics(&ctx, &faults).coded(FaultCode::Pipeline))?;
    let observer = Ended { observer: options.observer, is_ended: Cell::new(false) };
    let options = RunOptions {
        observer: &observer,
        debug: options.debug.clone(),
        remarks: options.remarks.clone(),
        ..*options
    };
    parsed.run(module, &options).map_err(|faults| {
        let code = if observer.is_ended.get() { FaultCode::Cancelled } else { FaultCode::Pass };
        Failure::diagnostics(&ctx, &faults).coded(code)
    })
}

/// Records whether an observer ended the work.
struct Ended<'a> {
    observer: &'a dyn PassObserver,
    is_ended: Cell<bool>,
}

impl PassObserver for Ended<'_> {
    fn begins(&self, step: &str) -> ControlFlow<String> {
        let answer = self.observer.begins(step);
        self.is_ended.set(answer.is_break());
        answer
    }

    fn prints(&self, text: &str) {
        self.observer.prints(text);
    }

    fn ends(&self, ctx: &Context, report: &Report) {
        self.observer.ends(ctx, report);
    }
}
