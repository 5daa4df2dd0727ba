//! Where a test's files lie: in a folder of the test's own, so that tests in other threads and processes
//! write elsewhere.

use std::path::PathBuf;

use tempfile::TempDir;

thread_local! {
    /// Goes when the test's thread ends.
    static FOLDER: TempDir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder for the test's files");
}

/// The path of a file that may not be there yet.
pub(crate) fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.path().join(name))
}

/// A file of this name and content.
pub(crate) fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = path(name);
    std::fs::write(&path, content).expect("the test's file can be written");
    path
}
