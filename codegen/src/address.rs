//! Addresses in code: which of the memories that the entry gets, and the offset from its start.

/// The start of some memory that compiled code is handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Base {
    /// The arena.
    Arena,
    /// The caller's input of this index.
    Input(usize),
    /// The caller's output of this index.
    Output(usize),
}

/// A byte of memory that compiled code is handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    /// Whose memory.
    pub(crate) base: Base,
    /// Its offset in bytes.
    pub(crate) offset: u64,
}

impl Address {
    /// The address `bytes` further.
    pub(crate) fn plus(self, bytes: u64) -> Address {
        Address { offset: self.offset + bytes, ..self }
    }
}
