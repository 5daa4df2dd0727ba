//! Validation of placement problems.

use super::{Buffer, BufferId, Problem};
use std::fmt;

/// An error in a [`Problem`], found before planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemFault {
    /// The last step comes before the first.
    LifeEndsBeforeItBegins(BufferId),
    /// Alignment 0 divides nothing.
    ZeroAlignment(BufferId),
    /// The pin is not a multiple of the alignment, or a buffer without bytes is pinned elsewhere than at 0.
    MisalignedPin(BufferId),
    /// An overlap names a buffer twice, or one that does not exist.
    SenselessOverlap(BufferId, BufferId),
    /// All sizes, alignments and pins together leave the range of 62 bits.
    TooManyBytes,
}

impl fmt::Display for ProblemFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LifeEndsBeforeItBegins(buffer) => {
                write!(f, "the live range of {buffer} ends before it begins")
            }
            Self::ZeroAlignment(buffer) => {
                write!(f, "the alignment of {buffer} is 0, expected at least 1")
            }
            Self::MisalignedPin(buffer) => {
                write!(f, "the pin of {buffer} is not a multiple of its alignment")
            }
            Self::SenselessOverlap(input, output) => {
                write!(f, "{input} and {output} are no pair of two buffers")
            }
            Self::TooManyBytes => write!(f, "the buffers have 2^62 bytes or more in all"),
        }
    }
}

impl Problem {
    /// All errors of the problem, in the order of its tables. Colliding pins are not among them: then every
    /// placement is wrong, and the checker reports that.
    pub fn validate(&self) -> Vec<ProblemFault> {
        let mut faults = Vec::new();
        let mut total = 0u64;
        for (id, buffer) in &self.buffers {
            faults.extend(fault_of(id, buffer));
            let bytes =
                buffer.size_bytes.saturating_add(buffer.align).saturating_add(buffer.pin.unwrap_or(0));
            total = total.saturating_add(bytes);
        }
        for overlap in &self.overlaps {
            let (input, output) = (overlap.input, overlap.output);
            if input == output || !self.buffers.is_valid(input) || !self.buffers.is_valid(output) {
                faults.push(ProblemFault::SenselessOverlap(input, output));
            }
            total = total.saturating_add(overlap.min_distance_bytes.unsigned_abs());
        }
        if total >= 1 << 62 {
            faults.push(ProblemFault::TooManyBytes);
        }
        faults
    }
}

fn fault_of(id: BufferId, buffer: &Buffer) -> Option<ProblemFault> {
    if buffer.last < buffer.first {
        return Some(ProblemFault::LifeEndsBeforeItBegins(id));
    }
    if buffer.align == 0 {
        return Some(ProblemFault::ZeroAlignment(id));
    }
    let pin = buffer.pin?;
    let misaligned = !pin.is_multiple_of(buffer.align) || (buffer.size_bytes == 0 && pin != 0);
    misaligned.then_some(ProblemFault::MisalignedPin(id))
}
