//! The minimum distance of two buffers when one is above the other.

use super::{BufferId, Overlap, Problem};
use cranelift_entity::SecondaryMap;

/// The distance that an overlap allows a buffer from another one.
#[derive(Clone, Copy, Debug)]
struct Allowed {
    other: BufferId,
    /// `D(this, other)`: the least distance of `other` above this one.
    above: i64,
}

/// The distances `D(a, b)`: `offset(b) - offset(a) >= D(a, b)` holds if `b` is above `a`.
#[derive(Debug, Default)]
pub(super) struct Separations {
    /// By buffer; empty for most.
    allowed: SecondaryMap<BufferId, Vec<Allowed>>,
    /// Whether the buffer is part of any overlap.
    special: SecondaryMap<BufferId, bool>,
}

impl Separations {
    pub(super) fn new(problem: &Problem) -> Self {
        let mut separations = Self::default();
        for &Overlap { input, output, min_distance_bytes } in &problem.overlaps {
            let above = min_distance_bytes.min(problem.buffers[output].size_bytes as i64);
            let allowed = &mut separations.allowed[output];
            match allowed.iter_mut().find(|entry| entry.other == input) {
                Some(entry) => entry.above = entry.above.min(above),
                None => allowed.push(Allowed { other: input, above }),
            }
            separations.special[input] = true;
            separations.special[output] = true;
        }
        separations
    }

    /// Whether this buffer is part of an overlap, so that some distance may not be the ordinary one.
    pub(super) fn is_special(&self, buffer: BufferId) -> bool {
        self.special[buffer]
    }

    /// `D(below, above)` for a pair that is alive at once.
    pub(super) fn distance(&self, problem: &Problem, below: BufferId, above: BufferId) -> i64 {
        let found = self.allowed[below].iter().find(|entry| entry.other == above);
        found.map_or(problem.buffers[below].size_bytes as i64, |entry| entry.above)
    }

    /// The offsets of `buffer` that are forbidden by `placed` at `offset`: those strictly between the two
    /// numbers. Nothing is forbidden if the first is not below the second.
    pub(super) fn forbidden(
        &self,
        problem: &Problem,
        buffer: BufferId,
        placed: BufferId,
        offset: u64,
    ) -> (i64, i64) {
        let offset = offset as i64;
        let low = offset - self.distance(problem, buffer, placed);
        (low, offset + self.distance(problem, placed, buffer))
    }
}
