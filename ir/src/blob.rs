//! Blobs: the bytes of big constants, and where they are.
//!
//! A constant's bytes are never formatted and rarely copied: a [`Blob`] is shared bytes (a mapped file, or
//! memory), or a rule ([`ConstantSource`]) that writes any part of them on demand.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes kept in memory by their owner: a mapped file, a vector.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The bytes of a constant.
#[derive(Clone)]
pub enum Blob {
    /// Bytes that something else owns: a mapped file, a vector.
    Shared {
        /// The owner.
        owner: SharedBytes,
        /// The range of the owner's bytes.
        range: Range<usize>,
    },
    /// Bytes made on demand.
    Lazy(Arc<dyn ConstantSource>),
}

/// A rule that produces the bytes of a constant.
pub trait ConstantSource: Send + Sync + fmt::Debug {
    /// The number of bytes.
    fn len_bytes(&self) -> usize;

    /// Checks that the bytes are intact; called before a constant is evaluated.
    ///
    /// # Errors
    /// The reason why they are not.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Writes the bytes from `start_byte` on, until `out` is full.
    ///
    /// `start_byte` and the length of `out` are multiples of the element's size, and lie within `len_bytes`.
    fn read(&self, start_byte: usize, out: &mut [u8]);
}

impl Blob {
    /// A blob that owns `bytes`.
    pub fn from_bytes(bytes: Vec<u8>) -> Blob {
        let range = 0..bytes.len();
        Blob::Shared { owner: Arc::new(bytes), range }
    }

    /// The number of bytes.
    pub fn len_bytes(&self) -> usize {
        match self {
            Blob::Shared { range, .. } => range.len(),
            Blob::Lazy(source) => source.len_bytes(),
        }
    }

    /// The bytes, if they are in memory already.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Blob::Shared { owner, range } => Some(&(**owner).as_ref()[range.clone()]),
            Blob::Lazy(_) => None,
        }
    }

    /// Checks that the bytes are intact.
    ///
    /// # Errors
    /// The reason why they are not.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Blob::Shared { .. } => Ok(()),
            Blob::Lazy(source) => source.check(),
        }
    }

    /// Fills `out` with the bytes from `start_byte` on.
    pub fn read(&self, start_byte: usize, out: &mut [u8]) {
        match self {
            Blob::Shared { .. } => {
                let bytes = self.as_bytes().expect("shared blobs are in memory");
                out.copy_from_slice(&bytes[start_byte..start_byte + out.len()]);
            }
            Blob::Lazy(source) => source.read(start_byte, out),
        }
    }

    /// All bytes, copied or produced.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = vec![0; self.len_bytes()];
        self.read(0, &mut out);
        out
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blob::Shared { range, .. } => write!(f, "Shared({} bytes)", range.len()),
            Blob::Lazy(source) => write!(f, "Lazy({source:?})"),
        }
    }
}
