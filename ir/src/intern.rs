//! Interning: equal contents get equal handles.
//!
//! An append-only table that many threads may read without a lock; writers take turns. Contents live as long
//! as the table, except in a copy: its only owner may remove the items that were added to the copy.

use std::hash::{BuildHasher, Hash};
use std::sync::Mutex;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A set of `T` whose members are numbered in the order of their first appearance.
pub(crate) struct Interner<T> {
    /// The items that a copy began with; empty for other tables.
    kept: Vec<T>,
    kept_index: HashTable<u32>,
    /// The items added afterwards.
    items: boxcar::Vec<T>,
    index: Mutex<HashTable<u32>>,
}

impl<T: Eq + Hash> Interner<T> {
    pub(crate) fn new() -> Self {
        let kept = Vec::new();
        let items = boxcar::Vec::new();
        Interner { kept, kept_index: HashTable::new(), items, index: Mutex::new(HashTable::new()) }
    }

    /// An independent table with the same items under the same numbers.
    pub(crate) fn copy(&self) -> Self
    where
        T: Clone,
    {
        let index = self.index.lock().expect("no thread panics while it interns");
        let kept: Vec<T> = self.items().cloned().collect();
        let mut kept_index = HashTable::with_capacity(kept.len());
        for (number, item) in kept.iter().enumerate() {
            let hash = |number: &u32| FxBuildHasher.hash_one(&kept[*number as usize]);
            kept_index.insert_unique(FxBuildHasher.hash_one(item), number as u32, hash);
        }
        drop(index);
        Interner { kept, kept_index, items: boxcar::Vec::new(), index: Mutex::new(HashTable::new()) }
    }

    /// Removes the items that were added to a copy: their numbers are used again.
    pub(crate) fn forget(&mut self) {
        if self.items.count() > 0 {
            self.items.clear();
            self.index.get_mut().expect("no thread panics while it interns").clear();
        }
    }

    /// The number of `item`, which is added if it is new.
    pub(crate) fn intern(&self, item: T) -> u32 {
        let hash = FxBuildHasher.hash_one(&item);
        if let Some(number) = self.find_kept(hash, |other| *other == item) {
            return number;
        }
        let mut index = self.index.lock().expect("no thread panics while it interns");
        if let Some(&number) = index.find(hash, |&number| *self.get(number) == item) {
            return number;
        }
        self.push(&mut index, hash, item)
    }

    /// The number of the item with this hash for which `is_equal` holds; otherwise adds `make()` and returns
    /// its number.
    ///
    /// `hash` must equal the hash of the item itself.
    pub(crate) fn intern_with(
        &self,
        hash: u64,
        is_equal: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> u32 {
        if let Some(number) = self.find_kept(hash, &is_equal) {
            return number;
        }
        let mut index = self.index.lock().expect("no thread panics while it interns");
        let found = index.find(hash, |&number| is_equal(self.get(number)));
        if let Some(&number) = found {
            return number;
        }
        self.push(&mut index, hash, make())
    }

    fn find_kept(&self, hash: u64, is_equal: impl Fn(&T) -> bool) -> Option<u32> {
        if self.kept.is_empty() {
            return None;
        }
        self.kept_index.find(hash, |&number| is_equal(&self.kept[number as usize])).copied()
    }

    fn push(&self, index: &mut HashTable<u32>, hash: u64, item: T) -> u32 {
        let number = self.kept.len() + self.items.push(item);
        let number = u32::try_from(number).expect("fewer than 2^32 interned items");
        index.insert_unique(hash, number, |&other| FxBuildHasher.hash_one(self.get(other)));
        number
    }

    /// All items, in the order of their numbers.
    pub(crate) fn items(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().chain(self.items.iter().map(|(_, item)| item))
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        self.kept.len() + self.items.count()
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        let number = number as usize;
        match number.checked_sub(self.kept.len()) {
            Some(added) => &self.items[added],
            None => &self.kept[number],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_same_numbers_and_forgets_its_own() {
        let table: Interner<String> = Interner::new();
        let numbers = ["a", "b"].map(|text| table.intern(text.to_owned()));
        let mut copy = table.copy();
        for round in 0..3 {
            let own = format!("own {round}");
            assert_eq!(copy.intern("b".to_owned()), numbers[1]);
            assert_eq!([copy.intern(own.clone()), copy.intern(own.clone())], [2, 2]);
            assert_eq!((copy.get(0).as_str(), copy.get(2), copy.len()), ("a", &own, 3));
            copy.forget();
            assert_eq!((copy.len(), copy.items().count()), (2, 2));
        }
        assert_eq!(table.intern("c".to_owned()), 2, "the first table does not know what the copy did");
    }
}
