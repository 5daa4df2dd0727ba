//! Output to a file, or to standard output.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::write_output;
use crate::failure::Failure;
use crate::protobuf::is_folder;
use crate::whole_file::WholeFile;

/// Whether a path denotes standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes text piece by piece. The file appears once all pieces are written; after a failure there is none.
pub(super) struct Output<'a> {
    path: Option<&'a PathBuf>,
    file: Option<WholeFile>,
    error: Option<io::Error>,
}

impl<'a> Output<'a> {
    /// The file of this path, or standard output: for no path, or `-`.
    pub(super) fn to(path: Option<&'a PathBuf>) -> Output<'a> {
        Output { path: path.filter(|path| !is_stdout(path)), file: None, error: None }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match (self.path, &mut self.file) {
            (None, _) => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                stdout.flush()
            }
            (Some(_), Some(file)) => file.write_all(bytes),
            (Some(path), file) => file.insert(WholeFile::create(path)?).write_all(bytes),
        }
    }

    /// Writes bytes that need not be text.
    pub(super) fn write_bytes(&mut self, bytes: &[u8]) -> fmt::Result {
        self.put(bytes).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }

    /// The result of the work, combined with errors of writing; a closed pipe is no error.
    pub(super) fn finish(self, done: Result<(), Failure>) -> Result<(), Failure> {
        let Output { path, file, mut error } = self;
        if let (Ok(()), None, Some(file)) = (&done, &error, file) {
            error = file.finish().err();
        }
        match (error, path) {
            (None, _) => done,
            (Some(error), _) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            (Some(error), Some(path)) => Err(Failure::input(format!("{}: {error}", path.display()))),
            (Some(error), None) => Err(Failure::input(error.to_string())),
        }
    }
}

impl fmt::Write for Output<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write_bytes(text.as_bytes())
    }
}

/// Checks, before long work, that files can be written at these paths.
///
/// # Errors
/// For each that can't.
pub(super) fn check_writable<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    let files = paths.into_iter().filter(|path| !is_stdout(path));
    let refused = files.filter_map(|path| {
        let made = match is_folder(path) {
            true => fs::create_dir_all(path),
            false => WholeFile::create(path).map(drop),
        };
        made.err().map(|error| format!("{}: {error}", path.display()))
    });
    Failure::unless_none(refused)
}

/// A report as JSON.
pub(super) fn json(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).expect("a report is plain JSON") + "\n"
}

/// The text to print: the requested text if its path is `-`, otherwise the usual one. A text requested in a
/// file is written there.
pub(super) fn instead(
    path: &Option<PathBuf>,
    text: impl FnOnce() -> String,
    printed: String,
) -> Result<String, Failure> {
    match path {
        None => Ok(printed),
        Some(path) if is_stdout(path) => Ok(text()),
        Some(path) => write_output(&text(), Some(path)).map(|()| printed),
    }
}
