//! Subtraction of byte ranges.

use std::ops::Range;

/// The pieces of a range that no other range covers, in order. O(pieces * others).
pub fn without(range: Range<u64>, others: impl IntoIterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut pieces = vec![range];
    for other in others {
        let cut = |piece: Range<u64>| {
            let below = piece.start..piece.end.min(other.start);
            let above = piece.start.max(other.end)..piece.end;
            [below, above].into_iter().filter(|piece| !piece.is_empty())
        };
        pieces = pieces.into_iter().flat_map(cut).collect();
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces as text.
    fn check(range: Range<u64>, others: impl IntoIterator<Item = Range<u64>>, expected: &str) {
        assert_eq!(format!("{:?}", without(range, others)), expected);
    }

    #[test]
    fn what_others_cover_is_cut_out() {
        check(0..100, [20..30, 90..140], "[0..20, 30..90]");
        check(0..100, [0..50, 50..100], "[]");
        check(0..8, std::iter::once(100..108), "[0..8]");
    }

    #[test]
    fn ranges_beside_it_leave_no_pieces() {
        check(0..8, (0..64).map(|index| 100 + index..200), "[0..8]");
    }
}
