//! Whose memory holds a value: the caller's, or a buffer of the plan.

/// Where a value is; `B` names a buffer.
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
    /// The same place with the buffer under another name.
    pub fn renamed<C>(self, name: impl FnOnce(B) -> C) -> Storage<C> {
        match self {
            Storage::Input(index) => Storage::Input(index),
            Storage::Output(index) => Storage::Output(index),
            Storage::Buffer(buffer) => Storage::Buffer(name(buffer)),
            Storage::Pool(pool, buffer) => Storage::Pool(pool, name(buffer)),
        }
    }
}
