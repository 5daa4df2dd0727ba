//! Reproducers: the module on which a pass panicked.
//!
//! ```text
//! // optc crash: --threads=2 --passes='fuse{max-ops=64}'
//! module { ... }
//! ```
//!
//! The module as it was before the pass, under a line that says what ran: enough to see the panic again.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use ir::{Module, text};

use super::{Invocation, RunOptions};

const HEAD: &str = "// optc crash: --threads=";
const PASSES: &str = " --passes='";

/// The settings with which a reproducer's text shows the panic again.
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

/// Runs a pass; if it panics and a reproducer is wanted, that is written before the panic goes on. Else the
/// user is told how to get one.
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

/// Writes the reproducer; gives what to tell the user.
fn written(path: &Path, pass: &Invocation, threads: usize, before: &Module) -> String {
    let content = format!("{HEAD}{threads}{PASSES}{pass}'\n{}", text::print(before));
    match fs::write(path, content) {
        Ok(()) => format!("pass `{pass}` panicked; its input program is in `{}`\n", path.display()),
        Err(error) => format!("pass `{pass}` panicked; can't write `{}`: {error}\n", path.display()),
    }
}
