//! The model of a problem for the exact search: its items and sections.
//!
//! A *section* is a maximal set of buffers alive at once. Two buffers conflict if and only if a section holds
//! both (live ranges are intervals, and intervals that meet pairwise have a point in common), and each buffer
//! is in a run of consecutive sections.

use super::super::bound::gcd;
use super::super::{BufferId, Problem};
use cranelift_entity::{PrimaryMap, entity_impl};
use std::collections::BTreeMap;
use std::ops::Range;

/// A buffer that takes part in the search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PlacementItem(u32);
entity_impl!(PlacementItem, "item");

/// A maximal set of items alive at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Section(u32);
entity_impl!(Section, "section");

/// What never changes about an item.
#[derive(Clone, Debug)]
pub(super) struct ItemFacts {
    pub(super) id: BufferId,
    pub(super) size: u64,
    pub(super) align: u64,
    /// The first section, and the one after the last one.
    pub(super) from: u32,
    pub(super) to: u32,
    /// The steps of its live range.
    pub(super) life: u64,
    /// The same number for items that are interchangeable.
    pub(super) kind: u32,
    neighbours: Range<usize>,
}

impl ItemFacts {
    /// The lowest aligned offset from `offset` on.
    pub(super) fn align_up(&self, offset: u64) -> u64 {
        if self.align == 1 { offset } else { offset.next_multiple_of(self.align) }
    }
}

/// The items and sections of a problem without pins and overlaps.
#[derive(Debug)]
pub(super) struct PlacementModel {
    pub(super) items: PrimaryMap<PlacementItem, ItemFacts>,
    /// The items of each section.
    pub(super) sections: PrimaryMap<Section, Vec<PlacementItem>>,
    /// The greatest common divisor of all sizes and alignments, which divides every arena size worth trying.
    pub(super) grain: u64,
    neighbours: Vec<PlacementItem>,
    /// The items of each kind.
    kinds: Vec<Vec<PlacementItem>>,
}

impl PlacementModel {
    /// `None` if the sections have more than `max_members` members in all.
    pub(super) fn new(problem: &Problem, max_members: usize) -> Option<Self> {
        let mut items = PrimaryMap::new();
        for (id, buffer) in problem.buffers.iter().filter(|(_, buffer)| buffer.size_bytes > 0) {
            let (size, align) = (buffer.size_bytes, buffer.align);
            let life = u64::from(buffer.last.as_u32() - buffer.first.as_u32()) + 1;
            items.push(ItemFacts { id, size, align, life, from: 0, to: 0, kind: 0, neighbours: 0..0 });
        }
        let sections = sections(problem, &items, max_members)?;
        let grain = items.values().fold(0, |g, facts| gcd(gcd(g, facts.size), facts.align)).max(1);
        let mut model = Self { sections, items, grain, neighbours: Vec::new(), kinds: Vec::new() };
        model.link();
        model.sort_kinds();
        Some(model)
    }

    /// Fills in the sections and neighbours of each item.
    fn link(&mut self) {
        for (section, members) in &self.sections {
            for &item in members {
                let facts = &mut self.items[item];
                if facts.to == 0 {
                    facts.from = section.as_u32();
                }
                facts.to = section.as_u32() + 1;
            }
        }
        for item in self.items.keys() {
            let start = self.neighbours.len();
            for section in range_of(&self.items[item]) {
                let members = &self.sections[section];
                // A neighbour is listed at the first section that holds both.
                let new = members.iter().filter(|&&other| {
                    other != item && self.items[other].from.max(self.items[item].from) == section.as_u32()
                });
                self.neighbours.extend(new);
            }
            self.items[item].neighbours = start..self.neighbours.len();
        }
    }

    fn sort_kinds(&mut self) {
        let mut kinds: BTreeMap<(u32, u32, u64, u64), Vec<PlacementItem>> = BTreeMap::new();
        for (item, facts) in &self.items {
            kinds.entry((facts.from, facts.to, facts.size, facts.align)).or_default().push(item);
        }
        self.kinds = kinds.into_values().collect();
        for (kind, items) in self.kinds.iter().enumerate() {
            for &item in items {
                self.items[item].kind = kind as u32;
            }
        }
    }

    /// The items that are interchangeable with this one, itself included.
    pub(super) fn twins(&self, item: PlacementItem) -> &[PlacementItem] {
        &self.kinds[self.items[item].kind as usize]
    }

    /// All items that conflict with this one.
    pub(super) fn neighbours(&self, item: PlacementItem) -> &[PlacementItem] {
        &self.neighbours[self.items[item].neighbours.clone()]
    }
}

/// The sections that hold an item.
pub(super) fn range_of(facts: &ItemFacts) -> impl Iterator<Item = Section> + use<> {
    (facts.from..facts.to).map(Section::from_u32)
}

/// Finds the sections by a sweep over the steps: a set is maximal if a death follows a birth.
fn sections(
    problem: &Problem,
    items: &PrimaryMap<PlacementItem, ItemFacts>,
    max_members: usize,
) -> Option<PrimaryMap<Section, Vec<PlacementItem>>> {
    let life = |item: PlacementItem| &problem.buffers[items[item].id];
    let mut births: Vec<PlacementItem> = items.keys().collect();
    births.sort_by_key(|&item| life(item).first);
    let mut sections = PrimaryMap::new();
    let mut live: Vec<PlacementItem> = Vec::new();
    let mut members = 0;
    for item in births {
        let first = life(item).first;
        if live.iter().any(|&other| life(other).last < first) {
            members += live.len();
            if members > max_members {
                return None;
            }
            sections.push(live.clone());
            live.retain(|&other| life(other).last >= first);
        }
        live.push(item);
    }
    if !live.is_empty() {
        sections.push(live);
    }
    Some(sections)
}
