//! What the bytes of all pools hold while the judge runs a program.

use std::collections::BTreeMap;
use std::ops::Range;

use ir::Value;

/// Bytes of one pool: the arena, one of the caller's inputs, or one of its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pool {
    Arena,
    Input(usize),
    Output(usize),
}

/// Where something is said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) pool: Pool,
    pub(super) bytes: Range<u64>,
}

impl Home {
    pub(super) fn meets(&self, other: &Home) -> bool {
        let (a, b) = (&self.bytes, &other.bytes);
        self.pool == other.pool && a.start < b.end && b.start < a.end
    }
}

/// What a run of bytes holds: bytes of `value`, from byte `from` of it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    end: u64,
    value: Option<Value>,
    from: u64,
}

/// For each pool, runs of bytes by their first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    pools: BTreeMap<Pool, BTreeMap<u64, Held>>,
}

impl Memory {
    /// What is known on both of two ways: the bytes that hold the same.
    pub(super) fn meet(&self, other: &Memory) -> Memory {
        let mut both = Memory::default();
        for (pool, runs) in &self.pools {
            let Some(others) = other.pools.get(pool) else { continue };
            let met = both.pools.entry(*pool).or_default();
            for (first, held) in runs {
                meet_run(*first, *held, others, met);
            }
        }
        both.pools.retain(|_, runs| !runs.is_empty());
        both
    }

    /// Whether a home holds the bytes of `value`, from byte `from` of it on.
    pub(super) fn holds(&self, home: &Home, value: Value, from: u64) -> bool {
        let Some(runs) = self.pools.get(&home.pool) else { return home.bytes.is_empty() };
        let mut at = home.bytes.start;
        while at < home.bytes.end {
            let Some((start, held)) = runs.range(..=at).next_back() else { return false };
            let expected = from + (at - home.bytes.start);
            if held.end <= at || held.value != Some(value) || held.from + (at - start) != expected {
                return false;
            }
            at = held.end;
        }
        true
    }

    /// Writes the bytes of `value` (or garbage) to a home.
    pub(super) fn write(&mut self, home: &Home, value: Option<Value>) {
        let Range { start, end } = home.bytes;
        if start == end {
            return;
        }
        let runs = self.pools.entry(home.pool).or_default();
        if let Some(held) = runs.get_mut(&start)
            && held.end == end
        {
            *held = Held { end, value, from: 0 };
            return;
        }
        if let Some((&first, &held)) = runs.range(..start).next_back()
            && held.end > start
        {
            runs.insert(first, Held { end: start, ..held });
            if held.end > end {
                runs.insert(end, Held { from: held.from + (end - first), ..held });
            }
        }
        let covered: Vec<u64> = runs.range(start..end).map(|(first, _)| *first).collect();
        for first in covered {
            let held = runs.remove(&first).expect("a run that was just listed");
            if held.end > end {
                runs.insert(end, Held { from: held.from + (end - first), ..held });
            }
        }
        runs.insert(start, Held { end, value, from: 0 });
    }
}

/// Adds to `met` the parts of a run that hold the same among `others`.
fn meet_run(first: u64, held: Held, others: &BTreeMap<u64, Held>, met: &mut BTreeMap<u64, Held>) {
    let before = others.range(..=first).next_back().map_or(first, |(start, _)| *start);
    for (start, other) in others.range(before..held.end) {
        let (from, end) = (first.max(*start), held.end.min(other.end));
        let same = held.value == other.value
            && held.from + (from.max(first) - first) == other.from + (from.max(*start) - start);
        if from < end && same && held.value.is_some() {
            met.insert(from, Held { end, value: held.value, from: held.from + (from - first) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(first: u64, end: u64) -> Home {
        Home { pool: Pool::Arena, bytes: first..end }
    }

    #[test]
    fn two_ways_agree_on_the_bytes_that_hold_the_same() {
        let [x, y] = [Value::from_u32(1), Value::from_u32(2)];
        let (mut a, mut b) = (Memory::default(), Memory::default());
        a.write(&home(0, 100), Some(x));
        b.write(&home(0, 100), Some(x));
        b.write(&home(40, 60), Some(y));
        let met = a.meet(&b);
        assert!(met.holds(&home(0, 40), x, 0) && met.holds(&home(60, 100), x, 60));
        assert!(!met.holds(&home(30, 50), x, 30) && !met.holds(&home(40, 60), y, 0));
        assert_eq!(met, b.meet(&a));
        a.write(&home(40, 60), Some(y));
        assert!(a.meet(&b).holds(&home(40, 60), y, 0));
    }
}
