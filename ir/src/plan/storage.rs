//! Where a value is stored: in the caller's memory, or in a buffer of the plan.

/// The storage of a value; `B` identifies a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage<B> {
    /// In the caller's input of this number.
    Input(usize),
    /// In the caller's output of this number.
    Output(usize),
    /// In a buffer of the arena.
    Buffer(B),
    /// In a buffer of the pool of this number beside the arena.
    Pool(usize, B),
}

impl<B> Storage<B> {
    /// The same storage, with the buffer identified by another key.
    pub fn renamed<C>(self, name: impl FnOnce(B) -> C) -> Storage<C> {
        match self {
            Storage::Input(index) => Storage::Input(index),
            Storage::Output(index) => Storage::Output(index),
            Storage::Buffer(buffer) => Storage::Buffer(name(buffer)),
            Storage::Pool(pool, buffer) => Storage::Pool(pool, name(buffer)),
        }
    }
}
