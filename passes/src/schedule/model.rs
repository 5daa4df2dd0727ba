//! The memory model of an order of a block's operations.
//!
//! *Items* run one after the other; each reads and writes *roots*, the owners of bytes. Which roots are live
//! depends only on the set of items that have run, not on their order, because a result has the same size as
//! an operand that it overwrites:
//!
//! ```text
//! live(done)       roots that some item of `done` wrote (or live on entry), and that another item reads
//! peak(done, item) live(done) + what the item writes anew and ties to no dying operand + its scratch
//! ```
//!
//! So the best order is the path through the sets of done items with the lowest peak on it. An item may
//! overwrite a root under the conditions of the pass `inplace`: those that hold in every order are evaluated
//! when the model is built, the death of the root during the search.

use cranelift_entity::{PrimaryMap, entity_impl};

/// An operation that runs, by its position in the given order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ItemId(u32);
entity_impl!(ItemId, "item");

/// An owner of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RootId(u32);
entity_impl!(RootId, "root");

/// An operation that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct ScheduleItem {
    /// Items that must run before it, each earlier in the given order.
    pub(super) before: Vec<ItemId>,
    /// The roots that it reads, without duplicates.
    pub(super) reads: Vec<RootId>,
    /// The roots that it writes, without duplicates.
    pub(super) writes: Vec<RootWrite>,
    /// The scratch that it needs while it runs.
    pub(super) scratch_bytes: u64,
}

/// A root that an item writes.
#[derive(Clone, Debug)]
pub(super) struct RootWrite {
    pub(super) root: RootId,
    /// The roots that it may overwrite if they die, in the order of trial.
    pub(super) overwrites: Vec<RootId>,
}

/// An owner of bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Root {
    /// Bytes in the arena; 0 if it is in the caller's memory.
    pub(super) size_bytes: u64,
    pub(super) readers: Vec<ItemId>,
    pub(super) writers: Vec<ItemId>,
    /// Whether it is live before the first item.
    pub(super) lives_on_entry: bool,
    /// Whether it is live after the last item.
    pub(super) lives_on: bool,
}

/// The items of a block, in the given order, and the roots that they share.
#[derive(Clone, Debug, Default)]
pub(super) struct ScheduleModel {
    pub(super) items: PrimaryMap<ItemId, ScheduleItem>,
    pub(super) roots: PrimaryMap<RootId, Root>,
}

/// The memory use of running an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// Live bytes while it runs.
    pub(super) peak_bytes: u64,
    /// Live bytes after it.
    pub(super) live_bytes: u64,
}

impl ScheduleModel {
    /// Adds an item after all others, and itself to the readers and writers of its roots.
    pub(super) fn push(&mut self, item: ScheduleItem) -> ItemId {
        let id = self.items.next_key();
        item.reads.iter().for_each(|root| self.roots[*root].readers.push(id));
        item.writes.iter().for_each(|write| self.roots[write.root].writers.push(id));
        self.items.push(item)
    }

    /// Live bytes before the first item.
    pub(super) fn bytes_on_entry(&self) -> u64 {
        self.roots.values().filter(|root| root.lives_on_entry).map(|root| root.size_bytes).sum()
    }

    /// The cost of running `item` when `live_bytes` are live; `is_done` says which items have run.
    pub(super) fn cost(&self, item: ItemId, live_bytes: u64, is_done: impl Fn(ItemId) -> bool) -> Cost {
        let dies = |root: RootId| {
            let root = &self.roots[root];
            !root.lives_on && root.readers.iter().all(|reader| *reader == item || is_done(*reader))
        };
        let item = &self.items[item];
        let (mut untied, mut written, mut dead) = (0, 0, 0);
        for (index, write) in item.writes.iter().enumerate() {
            let root = &self.roots[write.root];
            if root.lives_on_entry || root.writers.iter().any(|writer| is_done(*writer)) {
                continue;
            }
            written += root.size_bytes;
            let is_taken =
                |owner: &RootId| item.writes[..index].iter().any(|other| other.overwrites.contains(owner));
            let owner = write.overwrites.iter().find(|owner| dies(**owner) && !is_taken(owner));
            untied += root.size_bytes.saturating_sub(owner.map_or(0, |owner| self.roots[*owner].size_bytes));
            if !root.lives_on && root.readers.is_empty() {
                dead += root.size_bytes;
            }
        }
        let reads = item.reads.iter().filter(|root| dies(**root));
        dead += reads.map(|root| self.roots[*root].size_bytes).sum::<u64>();
        Cost {
            peak_bytes: live_bytes + untied + item.scratch_bytes,
            live_bytes: (live_bytes + written).saturating_sub(dead),
        }
    }

    /// The costs of running all items in an order.
    #[cfg(test)]
    pub(super) fn costs(&self, order: &[ItemId]) -> Vec<Cost> {
        let mut done = vec![false; self.items.len()];
        let mut live_bytes = self.bytes_on_entry();
        let mut costs = Vec::new();
        for &item in order {
            let cost = self.cost(item, live_bytes, |item| done[item.as_u32() as usize]);
            live_bytes = cost.live_bytes;
            done[item.as_u32() as usize] = true;
            costs.push(cost);
        }
        costs
    }
}
