//! The bytes of a planned value.

use std::ops::Range;

/// Memory of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pool {
    Arena,
    Input(usize),
    Output(usize),
}

/// The bytes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) pool: Pool,
    /// The ranges of its bytes, in order; adjacent ranges are merged.
    pub(super) runs: Vec<Range<usize>>,
}

impl Home {
    pub(super) fn dense(pool: Pool, bytes: Range<usize>) -> Home {
        Home { pool, runs: vec![bytes] }
    }

    /// The bytes of `rows` rows, the first at `first`.
    pub(super) fn of_rows(pool: Pool, first: usize, [rows, row, pitch]: [usize; 3]) -> Home {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for start in (0..rows).map(|index| first + index * pitch) {
            match runs.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = start + row,
                None => runs.push(start..start + row),
            }
        }
        Home { pool, runs }
    }

    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(|run| run.len()).sum()
    }

    pub(super) fn meets(&self, other: &Home) -> bool {
        let meet = |a: &Range<usize>| other.runs.iter().any(|b| a.start < b.end && b.start < a.end);
        self.pool == other.pool && self.runs.iter().any(meet)
    }

    /// Some of its bytes.
    pub(super) fn part(&self, bytes: Range<usize>) -> Home {
        let mut at = 0;
        let mut runs = Vec::new();
        for run in &self.runs {
            let from = bytes.start.max(at);
            let to = bytes.end.min(at + run.len());
            if from < to {
                runs.push(run.start + from - at..run.start + to - at);
            }
            at += run.len();
        }
        Home { pool: self.pool, runs }
    }
}
