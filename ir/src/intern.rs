//! How equal contents get equal handles.
//!
//! An append-only table that many threads may read without a lock; writers take turns. Contents are never dropped
//! before the table is.

use std::hash::{BuildHasher, Hash};
use std::sync::Mutex;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A set of `T` whose members are numbered in the order of their first appearance.
pub(crate) struct Interner<T> {
    items: boxcar::Vec<T>,
    index: Mutex<HashTable<u32>>,
}

impl<T: Eq + Hash> Interner<T> {
    pub(crate) fn new() -> Self {
        Interner { items: boxcar::Vec::new(), index: Mutex::new(HashTable::new()) }
    }

    /// The number of `item`, which is added if it is new.
    pub(crate) fn intern(&self, item: T) -> u32 {
        let hash = FxBuildHasher.hash_one(&item);
        let mut index = self.index.lock().expect("no thread panics while it interns");
        if let Some(&number) = index.find(hash, |&number| self.items[number as usize] == item) {
            return number;
        }
        self.push(&mut index, hash, item)
    }

    /// The number of the item with this hash for which `is_equal` holds; else that of `make()`, which is added.
    ///
    /// `hash` must be what hashing the item itself gives.
    pub(crate) fn intern_with(
        &self,
        hash: u64,
        is_equal: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> u32 {
        let mut index = self.index.lock().expect("no thread panics while it interns");
        let found = index.find(hash, |&number| is_equal(&self.items[number as usize]));
        if let Some(&number) = found {
            return number;
        }
        self.push(&mut index, hash, make())
    }

    fn push(&self, index: &mut HashTable<u32>, hash: u64, item: T) -> u32 {
        let number = u32::try_from(self.items.push(item)).expect("fewer than 2^32 interned items");
        index.insert_unique(hash, number, |&other| FxBuildHasher.hash_one(&self.items[other as usize]));
        number
    }

    /// All items, in the order of their numbers.
    pub(crate) fn items(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, item)| item)
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }
}
