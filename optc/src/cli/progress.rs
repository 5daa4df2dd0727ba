//! How long work shows that it goes on: one line on a terminal's standard error, and nothing elsewhere.

use std::io::{self, IsTerminal, Write};

/// The line, which goes when the work is done.
pub(super) struct ProgressLine {
    is_terminal: bool,
}

impl ProgressLine {
    /// A line without text.
    pub(super) fn new() -> ProgressLine {
        ProgressLine { is_terminal: io::stderr().is_terminal() }
    }

    /// Puts a text in the place of that before. A terminal that went away is no fault.
    pub(super) fn say(&self, text: &str) {
        if self.is_terminal {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[2K{text}").and_then(|()| stderr.flush());
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.say("");
    }
}
