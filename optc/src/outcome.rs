//! The outcome of a command on a program.
//!
//! The program is written to a file of its own, and the command is started on it. The outcome is its exit
//! status or the signal that ended it, its standard error, and whether it took too long.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::{Builder, NamedTempFile, TempDir};

use crate::whole_file::UnfinishedPath;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It ended with this exit status.
    Status(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It took too long, and was killed.
    TimedOut,
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: ProcessEnd,
    /// The first megabyte of its standard error.
    pub stderr: String,
}

impl Outcome {
    /// The place of a panic, `file:line:column`, if a Rust program reported one.
    pub fn panic_place(&self) -> Option<&str> {
        let (_, rest) = self.stderr.split_once("panicked at ")?;
        Some(rest.lines().next()?.trim_end_matches(':'))
    }
}

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessEnd::Status(status) => write!(f, "exit status {status}"),
            ProcessEnd::Signal(signal) => write!(f, "signal {signal}"),
            ProcessEnd::TimedOut => f.write_str("a timeout"),
        }
    }
}

/// The limit of standard error that is kept.
const STDERR_BYTES: u64 = 1 << 20;

/// A command that runs on programs.
pub struct ProgramCommand {
    words: Vec<OsString>,
    timeout: Duration,
    candidate: PathBuf,
    folder: TempDir,
    /// The file of the candidate, if it is not in the folder.
    _beside: Option<NamedTempFile>,
    _unfinished: Vec<UnfinishedPath>,
}

impl ProgramCommand {
    /// The command with these words, in which `{}` stands for the path of the program; without it, the path
    /// is appended. The command may run for `timeout`. The program's file has the given extension, and is in
    /// the folder `beside` if that is given, for programs that read other files there.
    ///
    /// # Errors
    /// If no file can be created for the program.
    pub fn new(
        words: &[OsString],
        timeout: Duration,
        extension: &str,
        beside: Option<&Path>,
    ) -> io::Result<ProgramCommand> {
        assert!(!words.is_empty(), "a command has a first word");
        let mut builder = Builder::new();
        builder.prefix("optc_");
        let (folder, unfinished) = UnfinishedPath::of(|| builder.tempdir(), TempDir::path)?;
        let mut all_unfinished = vec![unfinished];
        let mut candidate = folder.path().join(format!("candidate.{extension}"));
        let mut file = None;
        if let Some(place) = beside {
            let suffix = format!(".{extension}");
            let mut builder = Builder::new();
            builder.prefix(".optc_").suffix(&suffix);
            let make = || builder.tempfile_in(fs::canonicalize(place)?);
            let (made, unfinished) = UnfinishedPath::of(make, NamedTempFile::path)?;
            all_unfinished.push(unfinished);
            made.path().clone_into(&mut candidate);
            file = Some(made);
        }
        let mut replaced: Vec<OsString> = words.iter().map(|word| with_path(word, &candidate)).collect();
        if replaced == words {
            replaced.push(candidate.clone().into());
        }
        Ok(ProgramCommand {
            words: replaced,
            timeout,
            candidate,
            folder,
            _beside: file,
            _unfinished: all_unfinished,
        })
    }

    /// Runs the command on a file with this content.
    ///
    /// # Errors
    /// If the program can't be written, or the command can't be started.
    pub fn run(&self, content: &[u8]) -> io::Result<Outcome> {
        fs::write(&self.candidate, content)?;
        let said = self.folder.path().join("stderr");
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        // A backtrace takes longer than everything else.
        command.stderr(File::create(&said)?).env("RUST_BACKTRACE", "0");
        let end = match wait(command.spawn()?, self.timeout)? {
            None => ProcessEnd::TimedOut,
            Some(status) => match status.code() {
                Some(code) => ProcessEnd::Status(code),
                None => ProcessEnd::Signal(status.signal().unwrap_or(0)),
            },
        };
        let mut stderr = Vec::new();
        File::open(said)?.take(STDERR_BYTES).read_to_end(&mut stderr)?;
        Ok(Outcome { end, stderr: String::from_utf8_lossy(&stderr).into_owned() })
    }
}

/// A word with `{}` replaced by a path.
fn with_path(word: &OsStr, path: &Path) -> OsString {
    match word.to_str() {
        Some(word) => word.replace("{}", &path.display().to_string()).into(),
        None => word.to_owned(),
    }
}

/// Waits for a process; kills it after the timeout and returns none.
fn wait(mut child: Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= timeout {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}
