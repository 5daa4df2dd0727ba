//! Mapped files: read without copying.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use memmap2::{Mmap, UncheckedAdvice};

/// A file mapped for reading. Clones share the mapping, which lasts as long as the last of them.
///
/// The bytes are those of the file at the time of reading. The caller trusts that nobody writes to the file
/// or shortens it meanwhile (a page beyond a shortened file's end ends the process with SIGBUS). Replacing a
/// file by renaming is harmless.
#[derive(Clone, Debug)]
pub struct MappedFile {
    map: Arc<Mmap>,
    file: Arc<File>,
}

impl MappedFile {
    /// Maps the whole of the file at `path`. An empty file gives no bytes.
    ///
    /// # Errors
    /// If the file can't be opened or mapped, for example a directory.
    pub fn open(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // SAFETY: the mapping is private to reading. That nobody changes the file is the trust stated on the
        // type; without it no file could be mapped at all.
        let map = unsafe { Mmap::map(&file)? };
        Ok(MappedFile { map: Arc::new(map), file: Arc::new(file) })
    }

    /// The file's bytes, beginning at a page.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Copies the bytes from `start` on, until `out` is full. They are read from the file, so that no pages
    /// of the mapping stay in memory.
    ///
    /// # Panics
    /// If the file ends before.
    pub fn read(&self, start: usize, out: &mut [u8]) {
        let mapped = &self.bytes()[start..start + out.len()];
        if self.file.read_exact_at(out, start as u64).is_err() {
            out.copy_from_slice(mapped);
        }
    }

    /// Gives the memory of the mapping's pages back; what is read later is loaded from the file again. Fails
    /// silently: then the pages stay.
    pub fn give_back(&self) {
        // SAFETY: the mapping is of a file and nobody writes to it, so no contents are lost.
        let _ = unsafe { self.map.unchecked_advise(UncheckedAdvice::DontNeed) };
    }

    /// The mapping as shared bytes.
    pub fn into_shared(self) -> Arc<dyn AsRef<[u8]> + Send + Sync> {
        self.map
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps a temporary file of `contents`.
    fn map(name: &str, contents: &[u8]) -> MappedFile {
        let path = std::env::temp_dir().join(format!("optc-runtime-{}-{name}", std::process::id()));
        std::fs::write(&path, contents).unwrap();
        let mapped = MappedFile::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        mapped
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn bytes_outlive_the_first_handle_and_the_name() {
        let mapped = map("shared", b"weights");
        let shared = mapped.clone().into_shared();
        drop(mapped);
        assert_eq!((*shared).as_ref(), b"weights");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_part_is_read_from_the_file() {
        let mapped = map("part", b"weights");
        let mut part = [0; 4];
        mapped.read(2, &mut part);
        assert_eq!(&part, b"ight");
        mapped.give_back();
        assert_eq!(mapped.bytes(), b"weights");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    #[should_panic(expected = "out of range")]
    fn nothing_is_read_beyond_the_end() {
        map("end", b"weights").read(4, &mut [0; 4]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn an_empty_file_has_no_bytes() {
        assert_eq!(map("empty", b"").bytes(), b"");
    }

    #[test]
    fn what_is_no_file_is_an_error() {
        let missing = MappedFile::open("/nonexistent/file").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let directory = MappedFile::open(std::env::temp_dir()).unwrap_err();
        assert_eq!(directory.kind(), io::ErrorKind::InvalidInput);
    }
}
