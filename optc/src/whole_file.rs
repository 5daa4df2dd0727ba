//! Files that are written completely or not at all, even if the process is told to end.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// Paths to remove if the process is told to end now.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes unfinished files and folders. To be called just before the process ends: nothing can be begun
/// after that.
#[cfg(feature = "cli")]
pub(crate) fn remove_unfinished() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        remove(path);
    }
    std::mem::forget(unfinished);
}

/// How often the removal of a folder is attempted.
#[cfg(feature = "cli")]
const ATTEMPTS: usize = 100;

/// Removes a file or folder. Errors are ignored, as there is nobody to tell.
#[cfg(feature = "cli")]
fn remove(path: &Path) {
    if !path.is_dir() {
        let _ = fs::remove_file(path);
        return;
    }
    // Other threads may still create files in the folder after its files were listed.
    let _ = (0..ATTEMPTS).find(|_| fs::remove_dir_all(path).is_ok() || !path.exists());
}

/// A file or folder that is removed, with its contents, if the process is told to end before this is dropped.
pub(crate) struct UnfinishedPath(PathBuf);

impl UnfinishedPath {
    /// The result of `make`, with its path.
    pub(crate) fn of<T>(
        make: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(T, UnfinishedPath)> {
        let mut unfinished = unfinished();
        let made = make()?;
        let path = path(&made).to_owned();
        unfinished.insert(path.clone());
        Ok((made, UnfinishedPath(path)))
    }
}

impl Drop for UnfinishedPath {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

/// A file that replaces its path's contents when it is finished. If it is dropped before that, the path is
/// unchanged. Anything but a regular file, such as a pipe, is written directly.
pub(crate) struct WholeFile {
    path: PathBuf,
    written: Written,
}

enum Written {
    Beside { file: NamedTempFile, _unfinished: UnfinishedPath },
    InPlace(File),
}

impl WholeFile {
    /// Begins a file.
    ///
    /// # Errors
    /// If it can't be created in its folder.
    pub(crate) fn create(path: &Path) -> io::Result<WholeFile> {
        // A link is kept, and then leads to the new file.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&path).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = File::create(&path)?;
            return Ok(WholeFile { path, written: Written::InPlace(file) });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        let permissions = old.map_or_else(new_permissions, |old| old.permissions());
        builder.prefix(".optc-").permissions(permissions);
        // A relative path would change its meaning with the current folder.
        let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
        let (file, unfinished) = UnfinishedPath::of(|| builder.tempfile_in(folder), NamedTempFile::path)?;
        Ok(WholeFile { path, written: Written::Beside { file, _unfinished: unfinished } })
    }

    /// Flushes the file to the disk.
    ///
    /// # Errors
    /// If that fails.
    #[cfg(feature = "jit")]
    pub(crate) fn sync(&self) -> io::Result<()> {
        match &self.written {
            Written::Beside { file, .. } => file.as_file().sync_all(),
            Written::InPlace(_) => Ok(()),
        }
    }

    /// Moves the file to its path.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        match self.written {
            Written::Beside { file, .. } => file.persist(&self.path).map(drop).map_err(|error| error.error),
            Written::InPlace(_) => Ok(()),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.written {
            Written::Beside { file, .. } => file.write(bytes),
            Written::InPlace(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.written {
            Written::Beside { file, .. } => file.flush(),
            Written::InPlace(file) => file.flush(),
        }
    }
}

/// Writes a file in one call.
///
/// # Errors
/// If that fails.
#[cfg(any(feature = "aot", feature = "cli", feature = "onnx"))]
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// The permissions of a new file: the defaults of the process.
#[cfg(unix)]
fn new_permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;

    fs::Permissions::from_mode(0o666)
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "cli")]
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// The names of the files in a folder.
    fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).expect("the folder is there").flatten();
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_what_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        let begin = || {
            let mut file = WholeFile::create(&path).expect("the folder can be written");
            file.write_all(b"new").expect("the file can be written");
            file
        };
        drop(begin());
        assert!(names(folder.path()).is_empty());
        fs::write(&path, "old").expect("the file can be written");
        drop(begin());
        assert_eq!(fs::read(&path).expect("it is there"), b"old");
        begin().finish().expect("it can be replaced");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_file_is_unfinished_until_it_is_at_its_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = fs::canonicalize(folder.path()).expect("it is there");
        let count = || unfinished().iter().filter(|path| path.starts_with(&own)).count();
        let path = folder.path().join("a.txt");
        let file = WholeFile::create(&path).expect("the folder can be written");
        assert_eq!(count(), 1);
        file.finish().expect("it can be put there");
        assert_eq!(count(), 0);
        drop(WholeFile::create(&path).expect("the folder can be written"));
        assert_eq!(count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().expect("a folder");
        let [path, link] = ["a.txt", "link"].map(|name| folder.path().join(name));
        write_whole(&path, b"old").expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        symlink(&path, &link).expect("a link can be made");
        write_whole(&link, b"new").expect("it can be written");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o640);
        write_whole(Path::new("/dev/null"), b"new").expect("it takes anything");
        assert!(!fs::metadata("/dev/null").expect("it is there").is_file());
    }

    /// Creates files in a folder until the folder is gone, and reports the first one.
    #[cfg(feature = "cli")]
    fn make_files(folder: &Path, is_begun: &AtomicBool) {
        for file in 0.. {
            let made = File::create(folder.join(file.to_string()));
            is_begun.store(true, Ordering::Relaxed);
            if made.is_err() {
                return;
            }
        }
    }

    #[cfg(feature = "cli")]
    #[test]
    fn a_folder_is_removed_while_files_are_made_in_it() {
        let parent = tempfile::tempdir().expect("a folder");
        for turn in 0..20 {
            let folder = parent.path().join(turn.to_string());
            fs::create_dir(&folder).expect("a folder can be made");
            let is_begun = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| make_files(&folder, &is_begun));
                while !is_begun.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                remove(&folder);
                let stays = folder.exists();
                // The thread ends with its folder.
                while folder.exists() {
                    remove(&folder);
                }
                assert!(!stays, "the folder {turn} stays");
            });
        }
    }
}
