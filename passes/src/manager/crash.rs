//! Reproducers: the module on which a pass panicked.
//!
//! ```text
//! // optc crash: --threads=2 --passes='fuse{max-ops=64}'
//! module { ... }
//! ```
//!
//! The reproducer contains the module before the pass, under a line with the pipeline: enough to reproduce
//! the panic.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use ir::{Module, text};

use super::{Invocation, RunOptions};

const HEAD: &str = "// optc crash: --threads=";
const PASSES: &str = " --passes='";

/// The settings that reproduce the panic with a reproducer's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproducer {
    /// The pipeline.
    pub pipeline: String,
    /// The number of threads.
    pub threads: usize,
}

impl Reproducer {
    /// Parses the first line of a text; none if the text is no reproducer.
    pub fn of(text: &str) -> Option<Reproducer> {
        let (threads, pipeline) = text.lines().next()?.strip_prefix(HEAD)?.split_once(PASSES)?;
        Some(Reproducer { pipeline: pipeline.strip_suffix('\'')?.to_owned(), threads: threads.parse().ok()? })
    }
}

/// Runs a pass. If it panics, writes the reproducer before the panic continues, or tells the user how to get
/// one if none was requested.
pub(super) fn guard<R>(
    options: &RunOptions<'_>,
    pass: &Invocation,
    module: &mut Module,
    run: impl FnOnce(&mut Module) -> R,
) -> R {
    let kept = options.debug.reproducer.as_ref().map(|path| (path, module.clone()));
    match catch_unwind(AssertUnwindSafe(|| run(module))) {
        Ok(result) => result,
        Err(panic) => {
            let told = match kept {
                Some((path, before)) => written(path, pass, options.threads, &before),
                None => format!("pass `{pass}` panicked; `--reproducer=FILE` writes its input program\n"),
            };
            options.observer.prints(&told);
            resume_unwind(panic)
        }
    }
}

/// Writes the reproducer; returns a message for the user.
fn written(path: &Path, pass: &Invocation, threads: usize, before: &Module) -> String {
    let content = format!("{HEAD}{threads}{PASSES}{pass}'\n{}", text::print(before));
    match fs::write(path, content) {
        Ok(()) => format!("pass `{pass}` panicked; its input program is in `{}`\n", path.display()),
        Err(error) => format!("pass `{pass}` panicked; can't write `{}`: {error}\n", path.display()),
    }
}
