//! Constraint propagation on a partial placement, and its undoing.
//!
//! Items are placed so that every open neighbour of a placed item is above it. So a state consists of the
//! open items and the lowest possible offset (`low`) of each. Constraints are propagated one section at a
//! time. There the open items form a one-machine scheduling problem with release dates (`low`), processing
//! times (sizes), and one deadline (the capacity):
//!
//! - **Makespan.** Items stacked in the order of `low` must end within the capacity (exact for one machine).
//! - **Not first** (Carlier and Pinson, *An algorithm for solving the job-shop problem*, 1989). If an item at
//!   `low`, stacked with all those that cannot end below `low`, does not fit, one of these must go below it.
//!
//! An item raised by such an argument *floats*: no placed item ends at its `low`. Every placement can be
//! pushed down until each item rests on another one or on the floor, so a floating item has to rest on an
//! open neighbour.

use super::model::{PlacementItem, PlacementModel, Section, range_of};
use cranelift_entity::PrimaryMap;

/// No placement within the capacity extends the state.
#[derive(Debug)]
pub(super) struct Dead;

/// A change to be undone.
#[derive(Clone, Copy)]
enum UndoStep {
    Raised(PlacementItem, Position),
    Placed(PlacementItem),
    Refilled(Section, Fill),
}

/// The possible offsets of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// The lowest offset of an open item; the offset of a placed one.
    pub(super) low: u64,
    /// Whether no placed item ends at `low`.
    pub(super) floats: bool,
}

/// The load of a section.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Fill {
    /// The lowest `low` of an open item; `u64::MAX` if none is open.
    pub(super) floor: u64,
    /// The room left when the open items are stacked in the order of `low`.
    pub(super) slack: u64,
    /// The length of the front of the section's lists that contains all its open items.
    front: usize,
}

/// The partial placement, with a trail to undo it.
pub(super) struct SearchState<'m> {
    pub(super) model: &'m PlacementModel,
    pub(super) positions: PrimaryMap<PlacementItem, Position>,
    pub(super) open: PrimaryMap<PlacementItem, bool>,
    pub(super) fills: PrimaryMap<Section, Fill>,
    /// For each section, how often it was overfull, plus one.
    pub(super) weights: PrimaryMap<Section, u64>,
    /// The number of open items that span a section and the next.
    pub(super) cuts: PrimaryMap<Section, u32>,
    /// Whether a cut has become 0 since this was last reset.
    pub(super) severed: bool,
    capacity: u64,
    trail: Vec<UndoStep>,
    dirty: Vec<Section>,
    is_dirty: PrimaryMap<Section, bool>,
    /// The items of each section, sorted by `low` at the last visit.
    by_low: PrimaryMap<Section, Vec<PlacementItem>>,
    /// The same, by `low + size`.
    by_end: PrimaryMap<Section, Vec<PlacementItem>>,
    raises: Vec<(PlacementItem, u64)>,
}

impl<'m> SearchState<'m> {
    /// Nothing is placed.
    pub(super) fn new(model: &'m PlacementModel, capacity: u64) -> Self {
        let ground = Position { low: 0, floats: false };
        let mut state = Self {
            model,
            capacity,
            positions: model.items.values().map(|_| ground).collect(),
            open: model.items.values().map(|_| true).collect(),
            fills: model
                .sections
                .values()
                .map(|s| Fill { floor: 0, slack: capacity, front: s.len() })
                .collect(),
            weights: model.sections.values().map(|_| 1).collect(),
            cuts: model.sections.values().map(|_| 0).collect(),
            severed: true,
            trail: Vec::new(),
            dirty: model.sections.keys().collect(),
            is_dirty: model.sections.values().map(|_| true).collect(),
            by_low: model.sections.clone(),
            by_end: model.sections.clone(),
            raises: Vec::new(),
        };
        for facts in model.items.values() {
            for section in facts.from..facts.to - 1 {
                state.cuts[Section::from_u32(section)] += 1;
            }
        }
        state
    }

    /// The current state, for [`SearchState::undo`].
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    pub(super) fn undo(&mut self, mark: usize) {
        self.forget_dirty();
        for change in self.trail.drain(mark..).rev() {
            match change {
                UndoStep::Raised(item, position) => self.positions[item] = position,
                UndoStep::Refilled(section, fill) => self.fills[section] = fill,
                UndoStep::Placed(item) => {
                    self.open[item] = true;
                    let facts = &self.model.items[item];
                    for section in facts.from..facts.to - 1 {
                        self.cuts[Section::from_u32(section)] += 1;
                    }
                }
            }
        }
    }

    /// The end of an item at its lowest offset.
    pub(super) fn end(&self, item: PlacementItem) -> u64 {
        self.positions[item].low + self.model.items[item].size
    }

    /// Places an open item at its lowest offset. No open neighbour may be able to end below that.
    pub(super) fn place(&mut self, item: PlacementItem) {
        let model = self.model;
        self.trail.push(UndoStep::Placed(item));
        self.open[item] = false;
        let facts = &model.items[item];
        for section in facts.from..facts.to - 1 {
            let cut = &mut self.cuts[Section::from_u32(section)];
            *cut -= 1;
            self.severed |= *cut == 0;
        }
        self.touch(item);
        let end = self.end(item);
        for &other in model.neighbours(item) {
            if !self.open[other] {
                continue;
            }
            let Position { low, floats } = self.positions[other];
            let above = model.items[other].align_up(end);
            if above > low || (above == low && floats) {
                self.raise(other, Position { low: above, floats: false });
            }
        }
    }

    /// Rules out that an open item at its lowest offset rests on a placed one: it has to rest on an open
    /// neighbour.
    pub(super) fn lift(&mut self, item: PlacementItem) -> Result<(), Dead> {
        let facts = &self.model.items[item];
        let open = self.model.neighbours(item).iter().filter(|&&other| self.open[other]);
        let low = open.map(|&other| facts.align_up(self.end(other))).min().ok_or(Dead)?;
        if low + facts.size > self.capacity {
            return Err(Dead);
        }
        self.raise(item, Position { low: low.max(self.positions[item].low), floats: true });
        Ok(())
    }

    fn raise(&mut self, item: PlacementItem, position: Position) {
        let old = self.positions[item];
        self.trail.push(UndoStep::Raised(item, old));
        self.positions[item] = position;
        if old.low != position.low {
            self.touch(item);
        }
    }

    fn touch(&mut self, item: PlacementItem) {
        for section in range_of(&self.model.items[item]) {
            if !self.is_dirty[section] {
                self.is_dirty[section] = true;
                self.dirty.push(section);
            }
        }
    }

    fn forget_dirty(&mut self) {
        for section in self.dirty.drain(..) {
            self.is_dirty[section] = false;
        }
    }

    /// Propagates the constraints of all sections that changed.
    pub(super) fn propagate(&mut self) -> Result<(), Dead> {
        while let Some(section) = self.dirty.pop() {
            self.is_dirty[section] = false;
            if self.tighten(section).is_err() {
                self.weights[section] += 1;
                self.forget_dirty();
                return Err(Dead);
            }
        }
        Ok(())
    }

    fn tighten(&mut self, section: Section) -> Result<(), Dead> {
        let mut by_low = std::mem::take(&mut self.by_low[section]);
        let mut by_end = std::mem::take(&mut self.by_end[section]);
        let front = self.fills[section].front;
        insertion_sort(&mut by_low[..front], |item| {
            if self.open[item] { self.positions[item].low } else { u64::MAX }
        });
        insertion_sort(&mut by_end[..front], |item| if self.open[item] { self.end(item) } else { u64::MAX });
        let count = by_low[..front].iter().position(|&item| !self.open[item]).unwrap_or(front);
        let mut result = self.stack(section, &by_low[..count]);
        if let Ok(total) = result {
            result = self.find_not_first(&by_low[..count], &by_end[..count], total);
        }
        self.by_low[section] = by_low;
        self.by_end[section] = by_end;
        result.map(|_| ())
    }

    /// Stacks the open items of a section; returns the sum of their sizes.
    fn stack(&mut self, section: Section, by_low: &[PlacementItem]) -> Result<u64, Dead> {
        let (mut top, mut total) = (0, 0);
        for &item in by_low {
            let size = self.model.items[item].size;
            top = self.positions[item].low.max(top) + size;
            total += size;
        }
        if top > self.capacity {
            return Err(Dead);
        }
        let floor = by_low.first().map_or(u64::MAX, |&item| self.positions[item].low);
        let fill = Fill { floor, slack: self.capacity - top, front: by_low.len() };
        if fill != self.fills[section] {
            self.trail.push(UndoStep::Refilled(section, self.fills[section]));
            self.fills[section] = fill;
        }
        Ok(total)
    }

    /// Raises the open items of a section that cannot be the lowest.
    fn find_not_first(
        &mut self,
        by_low: &[PlacementItem],
        by_end: &[PlacementItem],
        total: u64,
    ) -> Result<u64, Dead> {
        let mut raises = std::mem::take(&mut self.raises);
        raises.clear();
        let mut above = total;
        let mut index = 0;
        for &item in by_low {
            let low = self.positions[item].low;
            while index < by_end.len() && self.end(by_end[index]) <= low {
                above -= self.model.items[by_end[index]].size;
                index += 1;
            }
            if low + above > self.capacity {
                match self.lowest_first(item, &by_end[index..], above) {
                    Ok(low) => raises.push((item, low)),
                    Err(Dead) => {
                        self.raises = raises;
                        return Err(Dead);
                    }
                }
            }
        }
        for &(item, low) in &raises {
            self.raise(item, Position { low, floats: true });
        }
        self.raises = raises;
        Ok(total)
    }

    /// The lowest offset at which `item` fits below those of `by_end` that cannot end below it. `above` is
    /// the sum of the sizes in `by_end`, which contains `item`.
    fn lowest_first(
        &self,
        item: PlacementItem,
        by_end: &[PlacementItem],
        mut above: u64,
    ) -> Result<u64, Dead> {
        let mut low = self.positions[item].low;
        let mut others = by_end.iter().filter(|&&other| other != item);
        while low + above > self.capacity {
            let &other = others.next().ok_or(Dead)?;
            low = low.max(self.model.items[item].align_up(self.end(other)));
            above -= self.model.items[other].size;
        }
        Ok(low)
    }
}

/// Sorts a nearly sorted list.
fn insertion_sort(items: &mut [PlacementItem], key: impl Fn(PlacementItem) -> u64) {
    for i in 1..items.len() {
        let item = items[i];
        let value = key(item);
        let mut j = i;
        while j > 0 && key(items[j - 1]) > value {
            items[j] = items[j - 1];
            j -= 1;
        }
        items[j] = item;
    }
}
