//! Memoization of pieces of text that recur.
//!
//! Attribute dictionaries and signatures recur in the thousands. A table, addressed by a piece's first bytes,
//! stores the last piece of each address with its meaning. A piece that recurs, byte for byte, is not parsed
//! again.

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

/// Pieces of one text with their meanings.
#[derive(Default)]
pub(super) struct Memo<'c> {
    pub names: FxHashMap<&'c str, OpName>,
    pub dicts: MemoTable<'c, Attr>,
    pub signatures: MemoTable<'c, Rc<OpTypes>>,
}

/// The meanings of pieces, and their nesting depths.
pub(super) struct MemoTable<'c, T> {
    slots: Vec<Option<(&'c str, T, u32)>>,
}

impl<T> Default for MemoTable<'_, T> {
    fn default() -> Self {
        MemoTable { slots: Vec::new() }
    }
}

impl<'c, T: Clone> MemoTable<'c, T> {
    /// The piece at the start of `rest`, if it was parsed before: its length, meaning and height.
    pub(super) fn find(&self, rest: &'c str) -> Option<(usize, T, u32)> {
        let (piece, value, height) = self.slots.get(slot(rest.as_bytes()))?.as_ref()?;
        rest.as_bytes().starts_with(piece.as_bytes()).then(|| (piece.len(), value.clone(), *height))
    }

    /// Stores the meaning of the first `length` bytes of `rest`.
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
