//! Lists of the buffers that are live together.
//!
//! Placing a buffer depends only on the buffers alive with it. In a long function these are few: lists of
//! them take O(n + pairs) memory, and a placement O(pairs log n) time instead of O(n^2).

use cranelift_entity::EntityRef;

use super::{BufferId, Problem, Step};

/// For fewer buffers, looking at all of them is faster than keeping lists.
const LEAST_BUFFERS: usize = 256;

/// Lists pay off if they hold at most 1 / `SHARE` of all pairs.
const SHARE: usize = 16;

/// The limit of all lists' entries: 128 MiB.
const MOST_ENTRIES: usize = 1 << 25;

/// The buffers that are alive with each buffer; those without bytes are in no list.
#[derive(Debug)]
pub(super) struct Neighbours {
    /// Where the list of each buffer begins in `lists`, and the end of the last one.
    starts: Vec<usize>,
    lists: Vec<BufferId>,
}

impl Neighbours {
    /// The lists, if they pay off.
    pub(super) fn of(problem: &Problem) -> Option<Neighbours> {
        let count = problem.buffers.len();
        if count < LEAST_BUFFERS {
            return None;
        }
        let births = births(problem);
        let entries = 2 * pairs(problem, &births);
        if entries > MOST_ENTRIES || entries > count * count / SHARE {
            return None;
        }
        Some(Neighbours::listed(problem, &births, entries))
    }

    /// The lists, whether they pay off or not.
    #[cfg(test)]
    pub(super) fn all(problem: &Problem) -> Neighbours {
        let births = births(problem);
        Neighbours::listed(problem, &births, 2 * pairs(problem, &births))
    }

    /// The lists of the buffers, which are given in order of their first steps.
    fn listed(problem: &Problem, births: &[BufferId], entries: usize) -> Neighbours {
        let mut starts = vec![0; problem.buffers.len() + 1];
        for_each_pair(problem, births, |a, b| {
            starts[a.index() + 1] += 1;
            starts[b.index() + 1] += 1;
        });
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut ends = starts.clone();
        let mut lists = vec![BufferId::new(0); entries];
        for_each_pair(problem, births, |a, b| {
            for (one, other) in [(a, b), (b, a)] {
                lists[ends[one.index()]] = other;
                ends[one.index()] += 1;
            }
        });
        Neighbours { starts, lists }
    }

    /// The buffers that are alive with one.
    pub(super) fn with(&self, id: BufferId) -> &[BufferId] {
        &self.lists[self.starts[id.index()]..self.starts[id.index() + 1]]
    }
}

/// The buffers that have bytes, in order of their first steps.
fn births(problem: &Problem) -> Vec<BufferId> {
    let mut births: Vec<BufferId> =
        problem.buffers.keys().filter(|id| problem.buffers[*id].size_bytes > 0).collect();
    births.sort_by_key(|id| problem.buffers[*id].first);
    births
}

/// The number of pairs alive together: for each buffer, those alive when it begins.
fn pairs(problem: &Problem, births: &[BufferId]) -> usize {
    let mut deaths: Vec<Step> = births.iter().map(|id| problem.buffers[*id].last).collect();
    deaths.sort_unstable();
    let mut dead = 0;
    let alive_before = births.iter().enumerate().map(|(born, id)| {
        while deaths[dead] < problem.buffers[*id].first {
            dead += 1;
        }
        born - dead
    });
    alive_before.sum()
}

fn for_each_pair(problem: &Problem, births: &[BufferId], mut visit: impl FnMut(BufferId, BufferId)) {
    let mut alive: Vec<BufferId> = Vec::new();
    for &id in births {
        let first = problem.buffers[id].first;
        alive.retain(|other| problem.buffers[*other].last >= first);
        alive.iter().for_each(|other| visit(*other, id));
        alive.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Family, buffer, problem};
    use super::*;

    #[test]
    fn a_list_holds_whoever_is_alive_with_a_buffer() {
        for family in Family::ALL {
            let problem = family.draw(40, 3);
            let neighbours = Neighbours::all(&problem);
            for (id, this) in &problem.buffers {
                let lives = |other: &BufferId| {
                    let that = &problem.buffers[*other];
                    let is_there = this.size_bytes > 0 && that.size_bytes > 0;
                    *other != id && is_there && this.first <= that.last && that.first <= this.last
                };
                let mut found = neighbours.with(id).to_vec();
                found.sort_unstable();
                let expected: Vec<BufferId> = problem.buffers.keys().filter(lives).collect();
                assert_eq!(found, expected, "{family:?} {id}");
            }
        }
    }

    #[test]
    fn the_lists_of_a_long_chain_are_as_long_as_the_chain() {
        let chain = |count: u32| problem(&(0..count).map(|i| buffer(i, i + 2, 64)).collect::<Vec<_>>());
        for count in [1_000u32, 100_000] {
            let neighbours = Neighbours::of(&chain(count)).expect("few pairs are alive together");
            assert_eq!(neighbours.lists.len(), 4 * count as usize - 6);
        }
    }

    #[test]
    fn where_most_pairs_are_alive_together_there_are_no_lists() {
        let all: Vec<_> = (0..300).map(|_| buffer(0, 9, 64)).collect();
        assert!(Neighbours::of(&problem(&all)).is_none());
    }
}
