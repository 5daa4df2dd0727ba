//! That external data is read from the model's folder and from nowhere else.

use std::fs;
use std::path::Path;

use import::onnx::external::{ExternalFiles, read_file};
use tempfile::TempDir;

/// A folder of the test's own, with `models/w.bin` of 16 bytes and `secret.bin` beside `models`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir_all(folder.path().join("models/parts")).unwrap();
    fs::write(folder.path().join("models/w.bin"), (0..16).collect::<Vec<u8>>()).unwrap();
    fs::write(folder.path().join("secret.bin"), [0; 16]).unwrap();
    folder
}

fn read(folder: &Path, entries: &[(&str, &str)], len_bytes: usize) -> Result<Vec<u8>, String> {
    let model = folder.join("models/m.onnx");
    ExternalFiles::beside(&model, &read_file).blob(entries, len_bytes).map(|blob| blob.to_vec())
}

fn error(folder: &Path, entries: &[(&str, &str)]) -> String {
    read(folder, entries, 4).unwrap_err()
}

#[test]
fn bytes_are_found_by_offset_and_length() {
    let folder = folder();
    assert_eq!(
        read(folder.path(), &[("location", "w.bin"), ("offset", "4"), ("length", "4")], 4).unwrap(),
        [4, 5, 6, 7]
    );
    assert_eq!(read(folder.path(), &[("location", "./w.bin")], 2).unwrap(), [0, 1]);
}

#[test]
fn a_file_is_opened_once() {
    let folder = folder();
    let opened = std::cell::Cell::new(0);
    let open = |path: &Path| {
        opened.set(opened.get() + 1);
        read_file(path)
    };
    let model = folder.path().join("models/m.onnx");
    let mut files = ExternalFiles::beside(&model, &open);
    files.blob(&[("location", "w.bin")], 4).unwrap();
    files.blob(&[("location", "./w.bin"), ("offset", "4")], 4).unwrap();
    assert_eq!(opened.get(), 1);
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let folder = folder();
    let absolute = folder.path().join("secret.bin");
    for location in ["../secret.bin", "parts/../../secret.bin", absolute.to_str().unwrap(), ""] {
        let expected = format!("external data `{location}`: expected a relative path without `..`");
        assert_eq!(error(folder.path(), &[("location", location)]), expected);
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_folder_is_refused() {
    let folder = folder();
    let link = folder.path().join("models/link.bin");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(folder.path().join("secret.bin"), &link).unwrap();
    let expected = "external data `link.bin`: a link that leaves the model's folder";
    assert_eq!(error(folder.path(), &[("location", "link.bin")]), expected);
}

#[test]
fn every_wrong_entry_says_what_is_wrong() {
    let folder = folder();
    let at = |offset| error(folder.path(), &[("location", "w.bin"), ("offset", offset)]);
    assert_eq!(at("13"), "external data `w.bin`: 4 bytes at offset 13, the file has 16");
    assert_eq!(
        at("18446744073709551615"),
        "external data `w.bin`: 4 bytes at offset 18446744073709551615, the file has 16"
    );
    assert_eq!(at("-1"), "external data: offset `-1`, expected a number of bytes");
    let length = error(folder.path(), &[("location", "w.bin"), ("length", "5")]);
    assert_eq!(length, "external data `w.bin`: length 5 bytes, expected 4 by type and shape");
    assert_eq!(error(folder.path(), &[("location", "parts")]), "external data `parts`: not a regular file");
    assert_eq!(error(folder.path(), &[]), "external data without a location");
    assert!(
        error(folder.path(), &[("location", "none.bin")])
            .starts_with("external data `none.bin`: No such file")
    );
}
