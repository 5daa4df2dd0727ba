//! Progress: a line with the current step on a terminal's standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// The current step.
static NOW: Mutex<Now> = Mutex::new(Now { step: String::new(), is_shown: false });

struct Now {
    step: String,
    /// Whether the line is shown on the terminal.
    is_shown: bool,
}

/// Shows a step instead of the previous one. A closed terminal is no error.
pub(super) fn say(step: &str) {
    let mut now = NOW.lock().unwrap_or_else(PoisonError::into_inner);
    step.clone_into(&mut now.step);
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        now.is_shown = write!(stderr, "\r\x1b[2K{step}").and_then(|()| stderr.flush()).is_ok();
    }
}

/// Removes the line from the terminal, before anything is printed there.
pub(super) fn clear() {
    let mut now = NOW.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut now.is_shown) {
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[2K").and_then(|()| stderr.flush());
    }
}

/// Removes the line from the terminal, unless another thread is writing it.
pub(super) fn clear_if_idle() {
    let idle = NOW.try_lock();
    if idle.is_ok_and(|now| now.is_shown) {
        clear();
    }
}

/// The last shown step.
pub(super) fn step() -> String {
    NOW.lock().unwrap_or_else(PoisonError::into_inner).step.clone()
}

/// Prints to standard error, after removing the line of progress. Colours follow `--color`.
pub(super) fn print_error(text: &str) {
    clear();
    anstream::eprint!("{text}");
}
