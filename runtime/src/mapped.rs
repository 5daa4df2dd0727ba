//! Mapped files: read without copying.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

/// A file mapped for reading. Clones share the mapping, which lasts as long as the last of them.
///
/// The bytes are those of the file at the time of reading. The caller trusts that nobody writes to the file
/// or shortens it meanwhile (a page beyond a shortened file's end ends the process with SIGBUS). Replacing a
/// file by renaming is harmless.
#[derive(Clone, Debug)]
pub struct MappedFile {
    map: Arc<Mmap>,
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
        Ok(MappedFile { map: Arc::new(map) })
    }

    /// The file's bytes, beginning at a page.
    pub fn bytes(&self) -> &[u8] {
        &self.map
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
