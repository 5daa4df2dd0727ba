//! Overlap check for buffers from callers outside of Rust, some of which are written.

use std::ops::Range;

/// A buffer of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferUse {
    /// At these addresses, to be read.
    Read(Range<usize>),
    /// At these addresses, to be written.
    Written(Range<usize>),
}

impl BufferUse {
    fn range(&self) -> &Range<usize> {
        match self {
            BufferUse::Read(range) | BufferUse::Written(range) => range,
        }
    }
}

/// Whether no written buffer overlaps another buffer. `n log n` steps for `n` buffers.
///
/// ```
/// use optc::{BufferUse, are_apart};
///
/// assert!(are_apart(vec![BufferUse::Read(0..8), BufferUse::Read(4..12), BufferUse::Written(12..16)]));
/// assert!(!are_apart(vec![BufferUse::Read(0..8), BufferUse::Written(7..9)]));
/// ```
pub fn are_apart(mut buffers: Vec<BufferUse>) -> bool {
    buffers.retain(|buffer| !buffer.range().is_empty());
    buffers.sort_unstable_by_key(|buffer| buffer.range().start);
    let mut end_of_read = 0;
    let mut end_of_written = 0;
    for buffer in &buffers {
        let range = buffer.range();
        let (end, before) = match buffer {
            BufferUse::Read(_) => (&mut end_of_read, end_of_written),
            BufferUse::Written(_) => {
                let before = end_of_read.max(end_of_written);
                (&mut end_of_written, before)
            }
        };
        if range.start < before {
            return false;
        }
        *end = range.end.max(*end);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::BufferUse::{Read, Written};
    use super::*;

    #[test]
    fn a_written_byte_is_in_one_buffer_only() {
        for (buffers, expected) in [
            (vec![], true),
            (vec![Read(0..4), Read(0..4)], true),
            (vec![Written(4..8), Read(0..4), Written(8..9)], true),
            (vec![Written(4..8), Written(0..5)], false),
            (vec![Read(0..100), Read(10..20), Written(50..51)], false),
            (vec![Written(0..100), Read(99..100)], false),
            (vec![Written(5..5), Read(0..10)], true),
        ] {
            assert_eq!(are_apart(buffers.clone()), expected, "{buffers:?}");
        }
    }
}
