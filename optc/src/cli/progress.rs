//! What is being done: a line on a terminal's standard error while it lasts, and nothing elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// What is being done now, as far as it was said.
static NOW: Mutex<Now> = Mutex::new(Now { step: String::new(), is_shown: false });

struct Now {
    step: String,
    /// Whether a line stands on the terminal.
    is_shown: bool,
}

/// Says what is being done, in place of what was said before. A terminal that went away is no fault.
pub(super) fn say(step: &str) {
    let mut now = NOW.lock().unwrap_or_else(PoisonError::into_inner);
    step.clone_into(&mut now.step);
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        now.is_shown = write!(stderr, "\r\x1b[2K{step}").and_then(|()| stderr.flush()).is_ok();
    }
}

/// Takes the line off the terminal, before anything is printed there.
pub(super) fn clear() {
    let mut now = NOW.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut now.is_shown) {
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[2K").and_then(|()| stderr.flush());
    }
}

/// Takes the line off the terminal, where nobody writes it just now.
pub(super) fn clear_if_idle() {
    let idle = NOW.try_lock();
    if idle.is_ok_and(|now| now.is_shown) {
        clear();
    }
}

/// What was said last.
pub(super) fn step() -> String {
    NOW.lock().unwrap_or_else(PoisonError::into_inner).step.clone()
}

/// Prints to standard error, where no line of progress stands then. Colours are left out as `--color` says.
pub(super) fn print_error(text: &str) {
    clear();
    anstream::eprint!("{text}");
}
