//! Which mutant of this build is active: the one whose number the variable `MUTANT` holds.
//!
//! Every rewritten place asks [`on`]. If `MUTANT_REACHED` names a file, the number of each place that asks is
//! appended to it once, in a line.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::LazyLock;

/// The most mutants of a build.
const MOST: usize = 1 << 16;

static ACTIVE: LazyLock<u32> = LazyLock::new(|| {
    let number = std::env::var("MUTANT").ok().and_then(|text| text.parse().ok());
    number.unwrap_or(0)
});
static LOG: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MUTANT_REACHED").ok());
/// The places that asked.
static SEEN: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];

/// Whether the place with this number is the one that is changed.
#[inline(always)]
#[must_use]
pub fn on(number: u32) -> bool {
    if LOG.is_some() {
        note(number);
    }
    *ACTIVE == number
}

#[cold]
fn note(number: u32) {
    let bit = 1 << (number % 64);
    let word = &SEEN[number as usize / 64];
    if word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        let path = LOG.as_ref().expect("there is a log");
        let mut file =
            OpenOptions::new().create(true).append(true).open(path).expect("the log can be written");
        file.write_all(format!("{number}\n").as_bytes()).expect("the log can be written");
    }
}
