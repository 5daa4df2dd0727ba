//! Search strategies: the choice of the item to decide on next.
//!
//! A strategy is a focus (a choice of the section) and a rank (a choice among its lowest items). None is the
//! best for all problems, and one strategy may need 300 nodes where another needs 10^7; so the search runs
//! many of them in turns.

use super::model::{PlacementItem, PlacementModel, Section, range_of};
use super::state::SearchState;
use cranelift_entity::PrimaryMap;
use std::cmp::Reverse;

/// The choice of the section for the next decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    /// The section of the lowest item (as in MiniMalloc).
    Lowest,
    /// The section with the least room.
    Tightest,
    /// The section with the most open bytes.
    Fullest,
    /// Between `Tightest` and `Fullest`.
    TightAndFull,
    /// The section with the least room per failure (dom/wdeg: Boussemart et al., *Boosting systematic search
    /// by weighting constraints*, ECAI 2004).
    TightestByFailures,
    /// The section with the most open bytes, weighted by failures.
    FullestByFailures,
    /// The section with the most failures.
    Failures,
}

/// The choice among the lowest items of a section: the one with the largest key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    Area,
    Sections,
    Degree,
    Size,
    Life,
    SectionArea,
    /// The bytes of its largest section.
    Total,
}

/// All strategies; first those that solve the most problems in few nodes.
pub(super) fn strategies() -> Vec<(Focus, Rank)> {
    let mut strategies = vec![
        (Focus::FullestByFailures, Rank::Sections),
        (Focus::Fullest, Rank::Degree),
        (Focus::Lowest, Rank::Sections),
        (Focus::TightestByFailures, Rank::Degree),
        (Focus::Failures, Rank::Sections),
        (Focus::Tightest, Rank::Life),
        (Focus::TightAndFull, Rank::Life),
        (Focus::Lowest, Rank::SectionArea),
    ];
    for rank in
        [Rank::Sections, Rank::Degree, Rank::Life, Rank::SectionArea, Rank::Size, Rank::Total, Rank::Area]
    {
        for focus in [
            Focus::Fullest,
            Focus::FullestByFailures,
            Focus::Lowest,
            Focus::TightAndFull,
            Focus::Failures,
            Focus::Tightest,
            Focus::TightestByFailures,
        ] {
            if !strategies.contains(&(focus, rank)) {
                strategies.push((focus, rank));
            }
        }
    }
    strategies
}

impl Rank {
    /// The position of each item in this order.
    pub(super) fn positions(self, model: &PlacementModel) -> PrimaryMap<PlacementItem, u32> {
        let mut order: Vec<PlacementItem> = model.items.keys().collect();
        order.sort_by_cached_key(|&item| (Reverse(self.keys(model, item)), item));
        let mut positions: PrimaryMap<PlacementItem, u32> = model.items.values().map(|_| 0).collect();
        for (position, &item) in order.iter().enumerate() {
            positions[item] = position as u32;
        }
        positions
    }

    fn keys(self, model: &PlacementModel, item: PlacementItem) -> (u128, u128) {
        let facts = &model.items[item];
        let size = u128::from(facts.size);
        let life = u128::from(facts.life);
        let sections = u128::from(facts.to - facts.from);
        let total =
            |section: Section| model.sections[section].iter().map(|&i| u128::from(model.items[i].size)).sum();
        match self {
            Self::Area => (size * life, size),
            Self::Sections => (sections, size * life),
            Self::Degree => (model.neighbours(item).len() as u128, size),
            Self::Size => (size, life),
            Self::Life => (life, size),
            Self::SectionArea => (size * sections, size),
            Self::Total => (range_of(facts).map(total).max().unwrap_or(0), size),
        }
    }
}

/// Chooses an open item of `list`, a part that shares no section with other open items. No open neighbour can
/// end below the chosen item.
pub(super) fn choose(
    state: &SearchState<'_>,
    list: &[PlacementItem],
    focus: Focus,
    rank: &PrimaryMap<PlacementItem, u32>,
) -> PlacementItem {
    let lowest = |items: &mut dyn Iterator<Item = PlacementItem>| {
        items.min_by_key(|&item| (state.positions[item].low, rank[item]))
    };
    let model = state.model;
    let start = match focused_section(state, list, focus) {
        Some(section) => {
            lowest(&mut model.sections[section].iter().copied().filter(|&item| state.open[item]))
        }
        None => lowest(&mut list.iter().copied()),
    };
    let mut item = start.expect("a part and its sections have open items");
    loop {
        let low = state.positions[item].low;
        let neighbours = model.neighbours(item).iter().copied();
        match lowest(&mut neighbours.filter(|&other| state.open[other] && state.end(other) <= low)) {
            Some(below) => item = below,
            None => return item,
        }
    }
}

fn focused_section(state: &SearchState<'_>, list: &[PlacementItem], focus: Focus) -> Option<Section> {
    if focus == Focus::Lowest {
        return None;
    }
    let from = list.iter().map(|&item| state.model.items[item].from).min()?;
    let to = list.iter().map(|&item| state.model.items[item].to).max()?;
    let sections = (from..to).map(Section::from_u32).filter(|&section| state.fills[section].floor < u64::MAX);
    sections.min_by_key(|&section| {
        let (slack, floor) = (u128::from(state.fills[section].slack), u128::from(state.fills[section].floor));
        let weight = u128::from(state.weights[section]);
        match focus {
            Focus::Lowest => 0,
            Focus::Tightest => slack,
            Focus::Fullest => slack + floor,
            Focus::TightAndFull => 2 * slack + floor,
            Focus::TightestByFailures => (slack << 20) / weight,
            Focus::FullestByFailures => ((slack + floor) << 20) / weight,
            Focus::Failures => u128::MAX - weight,
        }
    })
}
