//! External data: tensors that a model keeps in another file.
//!
//! The law: a model reads nothing outside its own folder. A location is relative, has no `..`, and is still
//! in the folder after all symbolic links on the path are resolved. It is a regular file (a pipe would block)
//! and contains the requested bytes. Each file is opened once, and all its tensors share its bytes without
//! copies.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ir::{Blob, SharedBytes};

/// Opens a file's bytes: a caller that can map files passes its own function, [`read_file`] reads into
/// memory.
pub type OpenFile<'a> = &'a dyn Fn(&Path) -> io::Result<SharedBytes>;

/// Reads a whole file into memory.
pub fn read_file(path: &Path) -> io::Result<SharedBytes> {
    Ok(Arc::new(fs::read(path)?))
}

/// The files in a model's folder.
pub struct ExternalFiles<'a> {
    folder: PathBuf,
    open_file: OpenFile<'a>,
    opened: BTreeMap<PathBuf, SharedBytes>,
}

impl<'a> ExternalFiles<'a> {
    /// The files in the folder of the model at `model_path`.
    pub fn beside(model_path: &Path, open_file: OpenFile<'a>) -> ExternalFiles<'a> {
        let folder = model_path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        ExternalFiles { folder, open_file, opened: BTreeMap::new() }
    }

    /// The `len_bytes` bytes that a tensor's `external_data` entries name: `location`, and optionally
    /// `offset` and `length` in bytes. The error says what is wrong with them.
    pub fn blob(&mut self, entries: &[(&str, &str)], len_bytes: usize) -> Result<Blob, String> {
        let place = ExternalRange::parse(entries)?;
        let describe = |what: String| format!("external data `{}`: {what}", place.location);
        if let Some(length) = place.length.filter(|&length| length != len_bytes as u64) {
            return Err(describe(format!("length {length} bytes, expected {len_bytes} by type and shape")));
        }
        let owner = self.open(place.location).map_err(describe)?;
        let file_bytes = (*owner).as_ref().len();
        let start = usize::try_from(place.offset).ok();
        let end = start.and_then(|start| start.checked_add(len_bytes)).filter(|&end| end <= file_bytes);
        match (start, end) {
            (Some(start), Some(end)) => Ok(Blob::Shared { owner, range: start..end }),
            _ => Err(describe(format!(
                "{len_bytes} bytes at offset {}, the file has {file_bytes}",
                place.offset
            ))),
        }
    }

    fn open(&mut self, location: &str) -> Result<SharedBytes, String> {
        let path = self.resolve(location)?;
        if let Some(owner) = self.opened.get(&path) {
            return Ok(owner.clone());
        }
        let owner = (self.open_file)(&path).map_err(|error| error.to_string())?;
        self.opened.insert(path, owner.clone());
        Ok(owner)
    }

    fn resolve(&self, location: &str) -> Result<PathBuf, String> {
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if location.is_empty() || !Path::new(location).components().all(plain) {
            return Err("expected a relative path without `..`".to_owned());
        }
        let folder = fs::canonicalize(&self.folder).map_err(|error| error.to_string())?;
        let path = fs::canonicalize(folder.join(location)).map_err(|error| error.to_string())?;
        if !path.starts_with(&folder) {
            return Err("a link that leaves the model's folder".to_owned());
        }
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => Ok(path),
            Ok(_) => Err("not a regular file".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

struct ExternalRange<'e> {
    location: &'e str,
    offset: u64,
    length: Option<u64>,
}

impl<'e> ExternalRange<'e> {
    fn parse(entries: &[(&'e str, &'e str)]) -> Result<ExternalRange<'e>, String> {
        let value = |key| entries.iter().find(|(name, _)| *name == key).map(|&(_, value)| value);
        let number = |key| {
            let text = value(key)?;
            Some(
                text.parse::<u64>()
                    .map_err(|_| format!("external data: {key} `{text}`, expected a number of bytes")),
            )
        };
        let location = value("location").ok_or("external data without a location")?;
        let offset = number("offset").transpose()?.unwrap_or(0);
        Ok(ExternalRange { location, offset, length: number("length").transpose()? })
    }
}
