//! Which mutant of this build is active: the one whose number the variable `MUTANT` holds.
//!
//! Every rewritten place asks [`on`]. If `MUTANT_REACHED` names a file, a line is appended to it for each
//! test and each place that it asks: the number and the test, or `?` for a program that does not run each
//! test in a thread of its name. Tests run one by one then.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

/// The most mutants of a build.
const MOST: usize = 1 << 16;

static ACTIVE: LazyLock<u32> = LazyLock::new(|| {
    let number = std::env::var("MUTANT").ok().and_then(|text| text.parse().ok());
    number.unwrap_or(0)
});
static LOG: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MUTANT_REACHED").ok());
/// The places that were asked since the current test began.
static SEEN: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];
static TEST: Mutex<String> = Mutex::new(String::new());

thread_local! {
    static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
}

/// Whether the place with this number is the one that is changed.
#[inline(always)]
#[must_use]
pub fn on(number: u32) -> bool {
    if LOG.is_some() {
        note(number);
    }
    *ACTIVE == number
}

/// A thread with a name that is not yet known begins a test.
#[cold]
fn begin() {
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main");
    // Threads of pools and of parallel iterators work for the test.
    if let Some(name) = name.filter(|name| name.contains("::") || !name.contains('-')) {
        *TEST.lock().expect("no holder panics") = name.to_owned();
        SEEN.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

#[cold]
fn note(number: u32) {
    if !IS_KNOWN.replace(true) {
        begin();
    }
    let bit = 1 << (number % 64);
    let word = &SEEN[number as usize / 64];
    if word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        let test = TEST.lock().expect("no holder panics").clone();
        let test = if test.is_empty() { "?" } else { &test };
        let path = LOG.as_ref().expect("there is a log");
        let mut file =
            OpenOptions::new().create(true).append(true).open(path).expect("the log can be written");
        file.write_all(format!("{number} {test}\n").as_bytes()).expect("the log can be written");
    }
}
