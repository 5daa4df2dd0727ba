//! Nogoods: hashes of parts that are known to have no solution.

/// A hash table in which each slot keeps only its newest entry. So the memory is bounded; a nogood may be
/// lost, which costs only time.
pub(super) struct Nogoods {
    slots: Vec<u128>,
    stored: usize,
}

const FIRST_SLOTS: usize = 1 << 12;
const MOST_SLOTS: usize = 1 << 21;

impl Nogoods {
    pub(super) fn new() -> Self {
        Self { slots: vec![0; FIRST_SLOTS], stored: 0 }
    }

    pub(super) fn contains(&self, key: u128) -> bool {
        self.slots[key as usize % self.slots.len()] == key
    }

    pub(super) fn insert(&mut self, key: u128) {
        if self.stored >= self.slots.len() && self.slots.len() < MOST_SLOTS {
            let grown = vec![0; 4 * self.slots.len()];
            for key in std::mem::replace(&mut self.slots, grown) {
                let slot = key as usize % self.slots.len();
                self.slots[slot] = key;
            }
        }
        let slot = key as usize % self.slots.len();
        self.slots[slot] = key;
        self.stored += 1;
    }
}
