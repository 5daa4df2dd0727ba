//! The pass manager: how passes are named, composed and run.
//!
//! A pass is a row ([`PassDef`]): its name, documentation, options and function. A [`Registry`] contains
//! rows: the built-in ones ([`crate::PASSES`]) and those of an embedder. A [`Pipeline`] is parsed from text,
//! and run on a module. A pass with state is a closure ([`PassRun::on_functions`]):
//!
//! ```text
//! simplify,func(fuse{max-ops=64},inplace),plan{planner=exact}
//!   => simplify,func(layout,fuse{max-ops=64},select,inplace),plan{planner=exact}
//! ```
//!
//! Some stages are mandatory: if a later one is named without them, they are inserted (see [`Stage`]). The
//! stage that a function has reached is written on it (`optc.stage`), so that it never goes through a stage
//! twice.
//!
//! A pass on functions runs on all of them, in parallel if there are several. Diagnostics, remarks and counts
//! come in text order, so that the same input gives the same bytes at any number of threads.
//!
//! ```
//! use std::sync::Arc;
//! use passes::manager::{Pipeline, PlainTarget, Registry, RunOptions};
//!
//! let mut module = ir::Module::new(Arc::new(ir::Context::new()));
//! let pipeline = Pipeline::parse(&module.ctx, "cse,func(dce)", &Registry::new()).unwrap();
//! assert_eq!(pipeline.to_string(), "cse,func(dce)");
//! let report = pipeline.run(&mut module, &RunOptions::new(&PlainTarget)).unwrap();
//! assert!(report.remarks.is_empty());
//! ```

mod changes;
mod context;
mod crash;
mod default;
mod diff;
mod execute;
mod options;
mod parse;
mod pipeline;
mod plain;
mod registry;
mod report;
mod run_options;
mod stage;
mod trace;

#[cfg(test)]
mod made_tests;
#[cfg(test)]
mod tests;

pub use changes::{ChangeLimit, Changes};
pub use context::PassContext;
pub use crash::Reproducer;
pub use default::{BEFORE_STAGES, after_schedule, default_pipeline};
pub use diff::unified_diff;
pub use options::{OptionDef, OptionKind, OptionValue, PassOptions};
pub use pipeline::{Anchor, Invocation, Origin, Pipeline, PipelineItem};
pub use plain::PlainTarget;
pub use registry::{Example, FunctionPass, ModulePass, PassDef, PassRow, PassRun, Registry};
pub use report::{PassChanges, Remark, Report, Statistic, Timing};
pub use run_options::{PassDebug, PassObserver, RunOptions, Selection, Verify};
pub use stage::{Stage, StageRule};
