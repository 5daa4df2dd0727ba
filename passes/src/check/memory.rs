//! The checker's memory: the contents of each byte of all pools while it runs a program.
//!
//! A *run* is rows of bytes at one pitch that hold rows of one value; bytes without gaps are one row. Runs
//! whose hulls meet (the operands of a concatenation) are kept together, by their first byte. So a write
//! costs O(log runs) where nothing is interleaved. If rows of two pitches meet, the bytes between the rows
//! are forgotten too: the checker may then refuse a correct plan, but never accepts a wrong one.

use std::collections::BTreeMap;
use std::ops::Range;

use cranelift_entity::SecondaryMap;
use ir::Value;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// A memory: a pool of the plan (0 is the arena), one of the caller's inputs, or one of its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum MemorySpace {
    Planned(usize),
    Input(usize),
    Output(usize),
}

/// The place of a value in memory: rows of bytes at one pitch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Home {
    pub(super) pool: MemorySpace,
    /// From the first byte to the last, including the gaps between rows.
    pub(super) bytes: Range<u64>,
    /// The bytes of a row; all bytes if there are no gaps.
    pub(super) row: u64,
    /// The distance between the first bytes of consecutive rows.
    pub(super) pitch: u64,
    /// Whether the elements are permuted in these bytes, or have others between them.
    pub(super) is_turned: bool,
}

impl Home {
    /// A home without gaps.
    pub(super) fn dense(pool: MemorySpace, bytes: Range<u64>) -> Home {
        let row = bytes.end - bytes.start;
        Home { pool, bytes, row, pitch: row, is_turned: false }
    }

    /// `count` rows that begin at byte `start`; without gaps between them they become one row.
    pub(super) fn of_rows(pool: MemorySpace, start: u64, count: u64, row: u64, pitch: u64) -> Home {
        if count <= 1 || row == pitch {
            Home::dense(pool, start..start + count * row)
        } else {
            Home { pool, bytes: start..start + (count - 1) * pitch + row, row, pitch, is_turned: false }
        }
    }

    pub(super) fn is_dense(&self) -> bool {
        self.bytes.end - self.bytes.start == self.row
    }

    /// The number of rows.
    pub(super) fn count(&self) -> u64 {
        (self.bytes.end - self.bytes.start).div_ceil(self.pitch.max(1))
    }

    /// The first byte of each row.
    fn starts(&self) -> impl Iterator<Item = u64> + use<> {
        self.bytes.clone().step_by(self.pitch.max(1) as usize)
    }

    pub(super) fn meets(&self, other: &Home) -> bool {
        let (a, b) = (&self.bytes, &other.bytes);
        let is_near = self.pool == other.pool && a.start < b.end && b.start < a.end;
        is_near && self.starts().any(|start| other.meets_row(&(start..start + self.row)))
    }

    fn meets_row(&self, row: &Range<u64>) -> bool {
        // The first row of this home that ends after the beginning of the other.
        let after = (row.start + 1).saturating_sub(self.bytes.start + self.row);
        let start = self.bytes.start + after.div_ceil(self.pitch.max(1)) * self.pitch;
        start < self.bytes.end && start < row.end
    }

    /// `count` rows of the value that has this home, the first of them from its byte `first` on; none if they
    /// are not rows at one pitch here.
    pub(super) fn rows_within(&self, first: u64, count: u64, row: u64, pitch: u64) -> Option<Home> {
        if count <= 1 || row == pitch {
            return self.part(first, count * row);
        }
        // A row that is interrupted by a gap here would be several rows.
        let begin = |at: u64| Some(self.part(at, row).filter(Home::is_dense)?.bytes.start);
        let start = begin(first)?;
        let next = begin(first + pitch)?;
        let last = begin(first + (count - 1) * pitch)?;
        let is_even = last - start == (count - 1) * (next - start);
        is_even.then(|| Home::of_rows(self.pool, start, count, row, next - start))
    }

    /// The bytes `from..from + count` of the value that has this home; none if they are not whole rows.
    pub(super) fn part(&self, from: u64, count: u64) -> Option<Home> {
        let (skipped, first) = (from / self.row.max(1), from % self.row.max(1));
        let start = self.bytes.start + skipped * self.pitch + first;
        if first + count <= self.row {
            return Some(Home::dense(self.pool, start..start + count));
        }
        let is_whole = first == 0 && count.is_multiple_of(self.row);
        is_whole.then(|| Home::of_rows(self.pool, start, count / self.row, self.row, self.pitch))
    }
}

/// The home of each value; equal homes are stored once.
#[derive(Default)]
pub(super) struct Homes {
    /// For each value, the index of its home plus 1; 0 for none.
    numbers: SecondaryMap<Value, u32>,
    homes: Vec<Home>,
    known: FxHashMap<Home, u32>,
}

impl Homes {
    pub(super) fn get(&self, value: Value) -> Option<&Home> {
        self.homes.get((self.numbers[value] as usize).checked_sub(1)?)
    }

    pub(super) fn set(&mut self, value: Value, home: &Home) {
        self.numbers[value] = match self.known.get(home) {
            Some(number) => *number,
            None => {
                self.homes.push(home.clone());
                self.known.insert(home.clone(), self.homes.len() as u32);
                self.homes.len() as u32
            }
        };
    }
}

/// Rows of a value's bytes: the first begins at its byte `from`, each further one `step` bytes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueBytes {
    pub(super) value: Value,
    pub(super) from: u64,
    pub(super) step: u64,
}

/// Rows of bytes (see [`Home`]) with what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByteRun {
    start: u64,
    end: u64,
    row: u64,
    pitch: u64,
    content: ValueBytes,
}

/// The pieces of a run that are left after a write.
type RemainingRuns = SmallVec<[ByteRun; 4]>;

impl ByteRun {
    fn of(home: &Home, content: ValueBytes) -> ByteRun {
        let Range { start, end } = home.bytes;
        ByteRun { start, end, row: home.row, pitch: home.pitch, content }
    }

    fn is_dense(&self) -> bool {
        self.end - self.start == self.row
    }

    /// Bytes without gaps, holding `value` from its byte `from` on.
    fn dense(bytes: Range<u64>, value: Value, from: u64) -> ByteRun {
        let row = bytes.end - bytes.start;
        ByteRun {
            start: bytes.start,
            end: bytes.end,
            row,
            pitch: row,
            content: ValueBytes { value, from, step: row },
        }
    }

    /// The columns `first..first + width` of each row.
    fn columns(&self, first: u64, width: u64) -> ByteRun {
        let content = ValueBytes { from: self.content.from + first, ..self.content };
        let start = self.start + first;
        ByteRun { start, end: self.end - self.row + first + width, row: width, content, ..*self }
    }

    /// `count` rows, from row `first` on.
    fn rows(&self, first: u64, count: u64) -> ByteRun {
        let start = self.start + first * self.pitch;
        let content = ValueBytes { from: self.content.from + first * self.content.step, ..self.content };
        match count {
            1 => ByteRun::dense(start..start + self.row, content.value, content.from),
            _ => ByteRun { start, end: start + (count - 1) * self.pitch + self.row, content, ..*self },
        }
    }

    fn row_count(&self) -> u64 {
        if self.is_dense() { 1 } else { (self.end - self.start - self.row) / self.pitch + 1 }
    }

    /// The pieces that are left after `home` is written.
    fn without(&self, home: &Home) -> RemainingRuns {
        let Range { start, end } = home.bytes;
        if end <= self.start || self.end <= start || self.is_missed(home) {
            return smallvec![*self];
        }
        match (self.is_dense(), home.is_dense()) {
            (true, false) if self.start <= start && end <= self.end => self.between_rows(home),
            (true, _) => self.outside(&home.bytes),
            (false, false) if self.pitch == home.pitch => match self.beside(home) {
                Some(pieces) => pieces,
                None => self.rows_outside(&home.bytes),
            },
            (false, _) => self.rows_outside(&home.bytes),
        }
    }

    /// Whether a home lies in the gaps between rows, as one row or as rows at the same pitch.
    fn is_missed(&self, home: &Home) -> bool {
        if self.is_dense() {
            return false;
        }
        if home.is_dense() {
            let rows = Home::of_rows(home.pool, self.start, self.row_count(), self.row, self.pitch);
            return !rows.meets_row(&home.bytes);
        }
        // From the beginning of a row of this run to the next row of the home.
        let shift = (home.bytes.start + self.pitch - self.start % self.pitch) % self.pitch;
        home.pitch == self.pitch && shift >= self.row && shift + home.row <= self.pitch
    }

    /// The pieces outside a range; for runs without gaps.
    fn outside(&self, bytes: &Range<u64>) -> RemainingRuns {
        let ranges = [self.start..self.end.min(bytes.start), self.start.max(bytes.end)..self.end];
        let ranges = ranges.into_iter().filter(|range| range.start < range.end);
        ranges
            .map(|r| {
                ByteRun::dense(r.clone(), self.content.value, self.content.from + (r.start - self.start))
            })
            .collect()
    }

    /// The pieces around and between the rows of a home; for runs without gaps.
    fn between_rows(&self, home: &Home) -> RemainingRuns {
        let mut pieces = self.outside(&home.bytes);
        let (first, gap) = (home.bytes.start + home.row, home.pitch - home.row);
        let between = Home::of_rows(home.pool, first, (home.bytes.end - first) / home.pitch, gap, home.pitch);
        let from = self.content.from + (first - self.start);
        pieces.push(ByteRun::of(&between, ValueBytes { from, step: home.pitch, ..self.content }));
        pieces
    }

    /// The columns on both sides of a home, if that has the same number of rows at the same pitch; none
    /// otherwise.
    fn beside(&self, home: &Home) -> Option<RemainingRuns> {
        let (a, b) = (self.start, home.bytes.start);
        let shift = a.abs_diff(b);
        let rows = (home.bytes.end - b - home.row) / home.pitch + 1;
        let reach = if a <= b { shift + home.row } else { shift + self.row };
        if rows != self.row_count() || reach > self.pitch {
            return None;
        }
        let left = if a < b { shift.min(self.row) } else { 0 };
        let right = if a <= b {
            (shift + home.row).min(self.row)
        } else {
            home.row.saturating_sub(shift).min(self.row)
        };
        let mut pieces = RemainingRuns::new();
        if left > 0 {
            pieces.push(self.columns(0, left));
        }
        if right < self.row {
            pieces.push(self.columns(right, self.row - right));
        }
        Some(pieces)
    }

    /// The rows that have no byte in a range.
    fn rows_outside(&self, bytes: &Range<u64>) -> RemainingRuns {
        let count = self.row_count();
        let before = (bytes.start + self.pitch).saturating_sub(self.start + self.row) / self.pitch;
        let after = bytes.end.saturating_sub(self.start).div_ceil(self.pitch);
        let mut pieces = RemainingRuns::new();
        if before > 0 {
            pieces.push(self.rows(0, before.min(count)));
        }
        if after < count && before < count {
            pieces.push(self.rows(after, count - after));
        }
        pieces
    }

    /// Whether it contains all of a home and holds `content` there.
    fn holds(&self, home: &Home, content: ValueBytes) -> bool {
        let Range { start, end } = home.bytes;
        if start < self.start || self.end < end || self.content.value != content.value {
            return false;
        }
        if self.is_dense() {
            let is_even = home.is_dense() || content.step == home.pitch;
            return is_even && content.from == self.content.from + (start - self.start);
        }
        let (skipped, column) = ((start - self.start) / self.pitch, (start - self.start) % self.pitch);
        let is_even = home.is_dense()
            || (home.pitch.is_multiple_of(self.pitch)
                && content.step == home.pitch / self.pitch * self.content.step);
        is_even
            && column + home.row <= self.row
            && content.from == self.content.from + skipped * self.content.step + column
    }

    /// The bytes that both runs hold alike; none if their rows differ.
    fn meet(&self, other: &ByteRun) -> Option<ByteRun> {
        if self.is_dense() && other.is_dense() {
            let start = self.start.max(other.start);
            let end = self.end.min(other.end);
            let from = |run: &ByteRun| run.content.from + (start - run.start);
            let is_alike =
                start < end && self.content.value == other.content.value && from(self) == from(other);
            return is_alike.then(|| ByteRun::dense(start..end, self.content.value, from(self)));
        }
        let home = |run: &ByteRun| {
            Home::of_rows(MemorySpace::Planned(0), run.start, run.row_count(), run.row, run.pitch)
        };
        if other.holds(&home(self), self.content) {
            return Some(*self);
        }
        self.holds(&home(other), other.content).then_some(*other)
    }
}

/// Runs whose hulls meet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Area {
    end: u64,
    runs: RemainingRuns,
}

/// For each pool, its areas by their first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CheckedMemory {
    pools: BTreeMap<MemorySpace, BTreeMap<u64, Area>>,
}

impl CheckedMemory {
    /// The meet of two edges: bytes that hold the same on both.
    pub(super) fn meet(&self, other: &CheckedMemory) -> CheckedMemory {
        let mut both = CheckedMemory::default();
        for (pool, areas) in &self.pools {
            let Some(others) = other.pools.get(pool) else { continue };
            let mut met = RemainingRuns::new();
            for (first, area) in areas {
                for other in touched(others, &(*first..area.end)).flat_map(|(_, area)| &area.runs) {
                    met.extend(area.runs.iter().filter_map(|run| run.meet(other)));
                }
            }
            let mut areas = BTreeMap::new();
            insert(&mut areas, met);
            both.pools.insert(*pool, areas);
        }
        both.pools.retain(|_, areas| !areas.is_empty());
        both
    }

    /// Whether a home holds the bytes of `value`, from its byte `from` on.
    pub(super) fn holds(&self, home: &Home, value: Value, from: u64) -> bool {
        self.holds_content(home, ValueBytes { value, from, step: home.row })
    }

    /// Whether a home holds rows of a value.
    pub(super) fn holds_content(&self, home: &Home, content: ValueBytes) -> bool {
        if home.bytes.is_empty() {
            return true;
        }
        let areas = self.pools.get(&home.pool);
        let area = areas.and_then(|areas| areas.range(..=home.bytes.start).next_back());
        area.is_some_and(|(_, area)| area.runs.iter().any(|run| run.holds(home, content)))
    }

    /// Writes the bytes of `value`, or garbage if none, to a home.
    pub(super) fn write(&mut self, home: &Home, value: Option<Value>) {
        if home.bytes.is_empty() {
            return;
        }
        let areas = self.pools.entry(home.pool).or_default();
        let written = value.map(|value| ByteRun::of(home, ValueBytes { value, from: 0, step: home.row }));
        if let (Some(area), Some(run)) = (areas.get_mut(&home.bytes.start), written)
            && area.end == home.bytes.end
            && home.is_dense()
        {
            area.runs = smallvec![run];
            return;
        }
        let firsts: SmallVec<[u64; 4]> = touched(areas, &home.bytes).map(|(first, _)| *first).collect();
        let mut pieces = RemainingRuns::new();
        for first in firsts {
            let area = areas.remove(&first).expect("an area that was just listed");
            pieces.extend(area.runs.iter().flat_map(|run| run.without(home)));
        }
        pieces.extend(written);
        insert(areas, pieces);
    }
}

/// The areas that have bytes in a range.
fn touched<'a>(
    areas: &'a BTreeMap<u64, Area>,
    bytes: &Range<u64>,
) -> impl Iterator<Item = (&'a u64, &'a Area)> {
    let before = areas.range(..=bytes.start).next_back().map_or(bytes.start, |(first, _)| *first);
    let start = bytes.start;
    areas.range(before..bytes.end.max(before)).filter(move |(_, area)| area.end > start)
}

/// Adds runs that meet no area; those whose hulls meet form one area.
fn insert(areas: &mut BTreeMap<u64, Area>, mut runs: RemainingRuns) {
    runs.sort_unstable_by_key(|run| run.start);
    let mut open: Option<(u64, Area)> = None;
    for run in runs {
        match &mut open {
            Some((_, area)) if run.start < area.end => {
                area.end = area.end.max(run.end);
                area.runs.push(run);
            }
            _ => {
                areas.extend(open.replace((run.start, Area { end: run.end, runs: smallvec![run] })));
            }
        }
    }
    areas.extend(open);
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
