//! Work whose panics are errors, and are told nowhere else.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

/// What the work returns; none if it panics.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let found = catch_unwind(AssertUnwindSafe(work));
    set_hook(hook);
    found.ok()
}
