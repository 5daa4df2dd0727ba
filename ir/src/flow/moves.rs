//! Parallel moves, turned into sequences of single copies.
//!
//! A move may be done as soon as no other pending move reads the bytes that it writes. If moves form a cycle
//! (`%a, %b <- %b, %a`), the source of one of them is first copied to scratch. So is the source of a move
//! that overwrites a part of it, because single copies must not overlap. Planning and code generation both
//! use this function, so the planned scratch is the scratch used. Quadratic in the moves of one point.

/// One copy of a sequence that implements a parallel copy; the numbers are indices of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Performs a move.
    Direct(usize),
    /// Copies the source of a move to scratch, from this byte on.
    Save(usize, u64),
    /// Performs a move whose source was copied to scratch, from this byte on.
    Restore(usize, u64),
}

/// The sequence of copies for `sizes.len()` parallel moves of `sizes` bytes, and the bytes of scratch needed.
///
/// `clobbers(a, b)` tells whether move `a` writes bytes that move `b` reads, and `is_done(a)` whether move
/// `a` has nothing to do. Offsets in scratch are multiples of 64.
pub fn transfers(
    sizes: &[u64],
    is_done: impl Fn(usize) -> bool,
    clobbers: impl Fn(usize, usize) -> bool,
) -> (Vec<Transfer>, u64) {
    let mut waiting: Vec<usize> = (0..sizes.len()).filter(|index| !is_done(*index)).collect();
    let mut saved: Vec<Option<u64>> = vec![None; sizes.len()];
    let mut transfers = Vec::new();
    let mut scratch_bytes = 0;
    while !waiting.is_empty() {
        let blocker = |index: usize| {
            waiting.iter().copied().find(|other| saved[*other].is_none() && clobbers(index, *other))
        };
        if let Some(position) = waiting.iter().position(|index| blocker(*index).is_none()) {
            let index = waiting.remove(position);
            transfers.push(match saved[index] {
                Some(offset) => Transfer::Restore(index, offset),
                None => Transfer::Direct(index),
            });
            continue;
        }
        // All moves wait, so following the blockers far enough ends up in a cycle.
        let circle = (0..waiting.len()).fold(waiting[0], |at, _| blocker(at).expect("all wait"));
        transfers.push(Transfer::Save(circle, scratch_bytes));
        saved[circle] = Some(scratch_bytes);
        scratch_bytes += sizes[circle].next_multiple_of(64);
    }
    (transfers, scratch_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares moves between numbered cells done one after the other with the same moves done at once.
    fn check(moves: &[(usize, usize)], saves: usize) {
        let sizes = vec![4; moves.len()];
        let is_done = |index: usize| moves[index].0 == moves[index].1;
        let (transfers, bytes) = transfers(&sizes, is_done, |a, b| moves[a].1 == moves[b].0);
        let mut cells: Vec<usize> = (0..8).collect();
        let mut scratch = [usize::MAX; 8];
        for transfer in &transfers {
            match *transfer {
                Transfer::Direct(index) => cells[moves[index].1] = cells[moves[index].0],
                Transfer::Save(index, offset) => scratch[offset as usize / 64] = cells[moves[index].0],
                Transfer::Restore(index, offset) => cells[moves[index].1] = scratch[offset as usize / 64],
            }
        }
        let mut expected: Vec<usize> = (0..8).collect();
        moves.iter().for_each(|(from, to)| expected[*to] = *from);
        assert_eq!(cells, expected, "{moves:?} by {transfers:?}");
        assert_eq!(bytes, 64 * saves as u64);
    }

    #[test]
    fn moves_wait_for_those_that_read_what_they_write() {
        check(&[(0, 1), (1, 2), (2, 3)], 0);
        check(&[(2, 3), (0, 1), (1, 2)], 0);
    }

    #[test]
    fn a_move_to_its_own_place_is_nothing() {
        check(&[(1, 1), (1, 2)], 0);
    }

    #[test]
    fn a_move_onto_a_part_of_what_it_reads_saves_it() {
        let (copies, bytes) = transfers(&[96, 96], |index| index == 1, |_, _| true);
        assert_eq!((copies, bytes), (vec![Transfer::Save(0, 0), Transfer::Restore(0, 0)], 128));
    }

    #[test]
    fn a_circle_saves_one_of_its_values() {
        check(&[(0, 1), (1, 0)], 1);
        check(&[(0, 1), (1, 2), (2, 0), (2, 3), (5, 6), (6, 5)], 2);
    }
}
