//! How far apart two buffers must stand when one is above the other.

use super::{BufferId, Overlap, Problem};
use cranelift_entity::SecondaryMap;

/// What a buffer that has overlaps allows towards another one.
#[derive(Clone, Copy, Debug)]
struct Allowed {
    other: BufferId,
    /// `D(this, other)`: how far above this one `other` must start at the least, if above.
    above: i64,
}

/// The distances `D(a, b)`: `offset(b) - offset(a) >= D(a, b)` holds if `b` stands above `a`.
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

    /// Whether any distance from or to this buffer is not the ordinary one.
    pub(super) fn is_special(&self, buffer: BufferId) -> bool {
        self.special[buffer]
    }

    /// `D(below, above)` for a pair that is alive at once.
    pub(super) fn distance(&self, problem: &Problem, below: BufferId, above: BufferId) -> i64 {
        let found = self.allowed[below].iter().find(|entry| entry.other == above);
        found.map_or(problem.buffers[below].size_bytes as i64, |entry| entry.above)
    }

    /// The offsets of `buffer` that `placed`, standing at `offset`, forbids: those strictly between the two
    /// numbers. Nothing is forbidden where the first is not below the second.
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
