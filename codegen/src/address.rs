//! Addresses in code: a memory passed to the entry, and an offset from its start.

/// The start of a memory passed to compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Base {
    /// The arena.
    Arena,
    /// The caller's input of this index.
    Input(usize),
    /// The caller's output of this index.
    Output(usize),
}

/// The address of a byte in a memory passed to compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    /// The memory.
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
