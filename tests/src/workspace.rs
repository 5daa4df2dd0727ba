//! Access to the repository's files, for the tests that read them.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Its path from the repository's root, with `/` between the names.
    pub path: String,
    /// Its contents.
    pub text: String,
}

/// The repository's root.
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the crate `tests` lies in the repository").to_path_buf()
}

/// All files whose name ends in `.` and one of `extensions`, sorted by path. Build products and hidden
/// directories are left out.
///
/// # Panics
/// If a directory or file can't be read, or a file is not UTF-8.
pub fn files(extensions: &[&str]) -> Vec<TextFile> {
    let mut paths = Vec::new();
    collect(&root(), &mut paths);
    paths.retain(|path| {
        path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension))
    });
    let mut files: Vec<TextFile> = paths.iter().map(|path| read(path)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        let path = entry.path();
        let name = entry.file_name();
        if !path.is_dir() {
            paths.push(path);
        } else if name != "target" && !name.to_string_lossy().starts_with('.') {
            collect(&path, paths);
        }
    }
}

fn read(path: &Path) -> TextFile {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let relative = path.strip_prefix(root()).expect("the walk began at the root");
    let names: Vec<_> = relative.iter().map(|name| name.to_string_lossy()).collect();
    TextFile { path: names.join("/"), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_file_is_found() {
        let files = files(&["rs"]);
        let this = files.iter().find(|file| file.path == "tests/src/workspace.rs").unwrap();
        assert!(this.text.contains("this_very_file_is_found"));
        assert!(files.is_sorted_by(|a, b| a.path < b.path));
        assert!(!files.iter().any(|file| file.path.starts_with("target/")));
    }
}
