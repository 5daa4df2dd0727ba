//! Prepared parts of a program: its machine code, and its packed weights, both slow to make.
//!
//! A compilation with a [`Prepared`] reuses its contents, and adds whatever was missing. So an empty one
//! collects the contents of an artifact, and one loaded from an artifact makes the same program again in the
//! time needed to read the IR. Everything else is computed and checked as usual.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ir::SharedBytes;
use runtime::CodeImage;

/// Machine code and packed weights of all functions of a program.
#[derive(Default)]
pub struct Prepared {
    images: Mutex<Vec<(String, Arc<CodeImage>)>>,
    weights: Mutex<Vec<PreparedWeight>>,
    missed: Mutex<PreparedMisses>,
}

/// How much was missing and had to be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PreparedMisses {
    /// The number of functions that were compiled.
    pub functions: usize,
    /// The number of weights that were evaluated and packed.
    pub weights: usize,
}

/// A packed weight in memory.
#[derive(Clone)]
pub struct PreparedWeight {
    /// The key, from its computation, its constants and its packing.
    pub key: WeightKey,
    owner: SharedBytes,
    range: Range<usize>,
}

/// A key that is equal for equal weights with the same packing, in all contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WeightKey(pub u64);

impl WeightKey {
    /// The key of what is hashed.
    pub(crate) fn of(content: &impl Hash) -> WeightKey {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        WeightKey(hasher.finish())
    }
}

impl PreparedWeight {
    /// The weight in these bytes of `owner`.
    ///
    /// # Panics
    /// If the range lies outside of them.
    pub fn new(key: WeightKey, owner: SharedBytes, range: Range<usize>) -> PreparedWeight {
        assert!((*owner).as_ref().get(range.clone()).is_some(), "a weight lies in its owner's bytes");
        PreparedWeight { key, owner, range }
    }

    /// Its bytes, which stay valid as long as this value or a clone lives.
    pub fn bytes(&self) -> &[u8] {
        &(*self.owner).as_ref()[self.range.clone()]
    }
}

impl Prepared {
    /// Machine code of functions by name, and weights, from an earlier compilation.
    pub fn of(images: Vec<(String, Arc<CodeImage>)>, weights: Vec<PreparedWeight>) -> Prepared {
        Prepared { images: Mutex::new(images), weights: Mutex::new(weights), missed: Mutex::default() }
    }

    /// The machine code of each function, in the order in which they were compiled.
    pub fn images(&self) -> Vec<(String, Arc<CodeImage>)> {
        lock(&self.images).clone()
    }

    /// The weights, in the order in which they were asked for.
    pub fn weights(&self) -> Vec<PreparedWeight> {
        lock(&self.weights).clone()
    }

    /// How much compilations had to make.
    pub fn missed(&self) -> PreparedMisses {
        *lock(&self.missed)
    }

    pub(crate) fn image(&self, function: &str) -> Option<Arc<CodeImage>> {
        lock(&self.images).iter().find(|known| known.0 == function).map(|known| known.1.clone())
    }

    pub(crate) fn add_image(&self, function: &str, image: Arc<CodeImage>) {
        lock(&self.images).push((function.to_owned(), image));
        lock(&self.missed).functions += 1;
    }

    /// The weight of this key and size in bytes.
    pub(crate) fn weight(&self, key: WeightKey, bytes: u64) -> Option<PreparedWeight> {
        let weights = lock(&self.weights);
        let is_it = |known: &&PreparedWeight| {
            let found = known.bytes();
            known.key == key && found.len() as u64 == bytes && found.as_ptr().addr().is_multiple_of(64)
        };
        weights.iter().find(is_it).cloned()
    }

    pub(crate) fn add_weight(&self, weight: PreparedWeight) {
        lock(&self.weights).push(weight);
        lock(&self.missed).weights += 1;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
