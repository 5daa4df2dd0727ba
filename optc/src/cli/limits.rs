//! Limits on the time and memory of a compilation.

use std::process::exit;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use ir::memory_pools::parse_bytes;

use super::progress;
use crate::failure::Failure;
use crate::whole_file::remove_unfinished;

/// The interval between checks of the limits.
const INTERVAL: Duration = Duration::from_millis(5);

/// What a compilation may take, loading included. Where it takes more, the process ends with exit status 1.
#[derive(Args, Clone)]
pub(super) struct LimitArgs {
    /// Fail if loading and compiling take more than this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Limits")]
    time_limit: Option<Duration>,
    /// Fail if loading and compiling take more than this many bytes of memory, sampled every 5 milliseconds;
    /// also given as `2GiB`. Mapped files, and weights that are not read, do not count (`plan` reads few
    /// weights).
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, help_heading = "Limits")]
    memory_limit: Option<u64>,
}

/// Enforces the limits until it is dropped.
pub(super) struct HeldLimits {
    _end: Option<Sender<()>>,
}

/// A time in seconds.
pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

impl LimitArgs {
    /// Enforces the limits from now on.
    ///
    /// # Errors
    /// If the system does not report the memory of the process.
    pub(super) fn hold(&self) -> Result<HeldLimits, Failure> {
        if self.time_limit.is_none() && self.memory_limit.is_none() {
            return Ok(HeldLimits { _end: None });
        }
        if self.memory_limit.is_some() && runtime::own_resident_bytes().is_none() {
            let what = "--memory-limit needs a system that says how much memory a process has";
            return Err(Failure::Usage(what.to_owned()));
        }
        let limits = self.clone();
        let (end, ended) = mpsc::channel::<()>();
        let start = Instant::now();
        thread::spawn(move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if let Some(breach) = limits.breach(start) {
                    progress::print_error(&(Failure::input(breach).styled() + "\n"));
                    remove_unfinished();
                    exit(1);
                }
            }
        });
        Ok(HeldLimits { _end: Some(end) })
    }

    /// A message about the exceeded limit, if any.
    fn breach(&self, start: Instant) -> Option<String> {
        let when = match progress::step() {
            step if step.is_empty() => String::new(),
            step => format!(" (while {step})"),
        };
        if let Some(limit) = self.time_limit.filter(|limit| start.elapsed() > *limit) {
            let seconds = limit.as_secs_f64();
            return Some(format!("compilation takes longer than the --time-limit of {seconds} s{when}"));
        }
        let bytes = self.memory_limit.filter(|limit| runtime::own_resident_bytes() > Some(*limit))?;
        Some(format!("compilation takes more memory than the --memory-limit of {bytes} bytes{when}"))
    }
}
