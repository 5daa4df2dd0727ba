//! Memoization of pieces of text that recur.
//!
//! Attribute dictionaries and signatures recur in the thousands. A table, addressed by a piece's first bytes,
//! remembers the last piece of each address with what it means; a piece that stands here again, byte for
//! byte, is not read again.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHasher};

use crate::entities::{Attr, OpName, Type};

const SLOTS: usize = 1024;
const HASHED_BYTES: usize = 32;

/// The types of an operation's operands and results.
#[derive(Debug, Default)]
pub(super) struct OpTypes {
    pub inputs: Vec<Type>,
    pub results: Vec<Type>,
}

/// Pieces of one text with what they mean.
#[derive(Default)]
pub(super) struct Memo<'c> {
    pub names: FxHashMap<&'c str, OpName>,
    pub dicts: MemoTable<'c, Attr>,
    pub signatures: MemoTable<'c, Rc<OpTypes>>,
}

/// What pieces mean, and how deep each nests.
pub(super) struct MemoTable<'c, T> {
    slots: Vec<Option<(&'c str, T, u32)>>,
}

impl<T> Default for MemoTable<'_, T> {
    fn default() -> Self {
        MemoTable { slots: Vec::new() }
    }
}

impl<'c, T: Clone> MemoTable<'c, T> {
    /// The piece that `rest` begins with, if it was read before: its length, meaning and height.
    pub(super) fn find(&self, rest: &'c str) -> Option<(usize, T, u32)> {
        let (piece, value, height) = self.slots.get(slot(rest.as_bytes()))?.as_ref()?;
        rest.as_bytes().starts_with(piece.as_bytes()).then(|| (piece.len(), value.clone(), *height))
    }

    /// Remembers what the first `length` bytes of `rest` mean.
    pub(super) fn remember(&mut self, rest: &'c str, length: usize, value: T, height: u32) {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, || None);
        }
        if let Some(piece) = rest.get(..length) {
            self.slots[slot(rest.as_bytes())] = Some((piece, value, height));
        }
    }
}

fn slot(rest: &[u8]) -> usize {
    let mut hasher = FxHasher::default();
    rest[..rest.len().min(HASHED_BYTES)].hash(&mut hasher);
    hasher.finish() as usize >> 7 & (SLOTS - 1)
}
