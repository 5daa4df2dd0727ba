//! Runs work whose panics are treated as errors and not printed.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

/// The result of the work; none if it panics.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let found = catch_unwind(AssertUnwindSafe(work));
    set_hook(hook);
    found.ok()
}
