//! The files of a model. Its weights are read from them when they are needed, not through the mapping, whose
//! pages would stay in memory beside the packed weights.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ir::{Blob, ConstantSource, Context, SharedBytes};
use runtime::MappedFile;

/// The least bytes of a weight that is read from the file. Others share their pages with the rest of the
/// model.
const LEAST_BYTES: usize = 64 << 10;

/// The files of a model.
#[derive(Default)]
pub(crate) struct ModelFiles {
    mapped: RefCell<Vec<(SharedBytes, MappedFile)>>,
}

impl ModelFiles {
    /// The bytes of a file, mapped.
    pub(crate) fn open(&self, path: &Path) -> io::Result<SharedBytes> {
        let file = MappedFile::open(path)?;
        let bytes: SharedBytes = Arc::new(file.clone());
        self.mapped.borrow_mut().push((bytes.clone(), file));
        Ok(bytes)
    }

    /// Lets each large constant of the context whose bytes are a mapped file's be read from the file, and
    /// gives back what has been read.
    pub(crate) fn unmap_weights(&self, ctx: &Context) {
        let mapped = self.mapped.borrow();
        mapped.iter().for_each(|(_, file)| file.give_back());
        for key in ctx.resources() {
            let (Some(Blob::Shared { owner, range }), Some(home)) = (ctx.blob(key), ctx.blob_home(key))
            else {
                continue;
            };
            let is_owner = |(bytes, _): &&(SharedBytes, MappedFile)| Arc::ptr_eq(bytes, &owner);
            if range.len() < LEAST_BYTES {
                continue;
            }
            if let Some((_, file)) = mapped.iter().find(is_owner) {
                let weight = WeightOfFile { file: file.clone(), range };
                ctx.set_blob_at(key, Blob::Lazy(Arc::new(weight)), home);
            }
        }
    }
}

/// A range of a file's bytes.
struct WeightOfFile {
    file: MappedFile,
    range: Range<usize>,
}

impl ConstantSource for WeightOfFile {
    fn len_bytes(&self) -> usize {
        self.range.len()
    }

    fn read(&self, start_byte: usize, out: &mut [u8]) {
        self.file.read(self.range.start + start_byte, out);
    }
}

impl fmt::Debug for WeightOfFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {:?} of a file", self.range)
    }
}
