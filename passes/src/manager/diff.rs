//! Which lines of two texts differ.
//!
//! Patience differencing (Bram Cohen): lines that occur once in either text are matched where their order agrees, and the
//! method is repeated between them; a small stretch without such lines is matched by longest common subsequence, a large
//! one counts as replaced. SSA text consists almost only of unique lines, so that this costs O(n log n) where the
//! shortest edit would cost the square: renumbering a value changes every line behind it.

use std::fmt::Write;

use rustc_hash::FxHashMap;

/// Lines around a change that are shown.
const CONTEXT: usize = 3;
/// Largest table of a longest common subsequence.
const TABLE_LIMIT: usize = 1 << 20;

/// The difference in unified form, named `before` and `after`; empty if there is none.
pub fn unified_diff(before: &str, after: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut same = Vec::new();
    match_lines(&a, &b, (0, 0), &mut same);
    let hunks = hunks(&same, a.len(), b.len());
    let mut out = String::new();
    if !hunks.is_empty() {
        out.push_str("--- before\n+++ after\n");
    }
    for hunk in hunks {
        write_hunk(&mut out, &hunk, &a, &b);
    }
    out
}

/// Adds the pairs of equal lines, in order; `at` is where the two stretches begin.
fn match_lines(a: &[&str], b: &[&str], at: (usize, usize), same: &mut Vec<(usize, usize)>) {
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    same.extend((0..head).map(|line| (at.0 + line, at.1 + line)));
    let (rest_a, rest_b) = (&a[head..], &b[head..]);
    let tail = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (inner_a, inner_b) = (&rest_a[..rest_a.len() - tail], &rest_b[..rest_b.len() - tail]);
    match_inner(inner_a, inner_b, (at.0 + head, at.1 + head), same);
    let (tail_a, tail_b) = (at.0 + a.len() - tail, at.1 + b.len() - tail);
    same.extend((0..tail).map(|line| (tail_a + line, tail_b + line)));
}

fn match_inner(a: &[&str], b: &[&str], at: (usize, usize), same: &mut Vec<(usize, usize)>) {
    let anchors = longest_increasing(&unique_pairs(a, b));
    if anchors.is_empty() {
        if a.len().saturating_mul(b.len()) <= TABLE_LIMIT {
            same.extend(longest_common(a, b).into_iter().map(|(i, j)| (at.0 + i, at.1 + j)));
        }
        return;
    }
    let mut from = (0, 0);
    for (i, j) in anchors {
        match_lines(&a[from.0..i], &b[from.1..j], (at.0 + from.0, at.1 + from.1), same);
        same.push((at.0 + i, at.1 + j));
        from = (i + 1, j + 1);
    }
    match_lines(&a[from.0..], &b[from.1..], (at.0 + from.0, at.1 + from.1), same);
}

/// The places of the lines that occur exactly once in both, in the order of the first.
fn unique_pairs(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    let mut places: FxHashMap<&str, (usize, usize, usize)> = FxHashMap::default();
    for line in a {
        places.entry(line).or_default().0 += 1;
    }
    for (place, line) in b.iter().enumerate() {
        if let Some(entry) = places.get_mut(line) {
            (entry.1, entry.2) = (entry.1 + 1, place);
        }
    }
    let pair = |(place, line): (usize, &&str)| match places[*line] {
        (1, 1, other) => Some((place, other)),
        _ => None,
    };
    a.iter().enumerate().filter_map(pair).collect()
}

/// The longest subsequence of pairs whose second places rise, by piles of cards.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tops: Vec<usize> = Vec::new();
    let mut below: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (card, pair) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|top| pairs[*top].1 < pair.1);
        below.push(pile.checked_sub(1).map(|left| tops[left]));
        match tops.get_mut(pile) {
            Some(top) => *top = card,
            None => tops.push(card),
        }
    }
    let mut chain: Vec<_> =
        std::iter::successors(tops.last().copied(), |card| below[*card]).map(|card| pairs[card]).collect();
    chain.reverse();
    chain
}

/// Pairs of a longest common subsequence, by the table of its lengths.
fn longest_common(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut lengths = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * width + j] = match a[i] == b[j] {
                true => lengths[(i + 1) * width + j + 1] + 1,
                false => lengths[(i + 1) * width + j].max(lengths[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// A stretch of changes with the context between them: the changed ranges of both texts.
type Hunk = Vec<(std::ops::Range<usize>, std::ops::Range<usize>)>;

fn hunks(same: &[(usize, usize)], a_len: usize, b_len: usize) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut from = (0, 0);
    for &(i, j) in same.iter().chain([&(a_len, b_len)]) {
        if from != (i, j) {
            let change = (from.0..i, from.1..j);
            let last = hunks.last_mut().filter(|hunk| {
                let end = hunk.last().map_or(0, |change| change.0.end);
                from.0 <= end + 2 * CONTEXT
            });
            match last {
                Some(hunk) => hunk.push(change),
                None => hunks.push(vec![change]),
            }
        }
        from = (i + 1, j + 1);
    }
    hunks
}

fn write_hunk(out: &mut String, hunk: &Hunk, a: &[&str], b: &[&str]) {
    let (first, last) = (&hunk[0], &hunk[hunk.len() - 1]);
    let before = first.0.start.min(CONTEXT);
    let after = (a.len() - last.0.end).min(CONTEXT);
    let (a_start, b_start) = (first.0.start - before, first.1.start - before);
    let (a_end, b_end) = (last.0.end + after, last.1.end + after);
    let mut line = |sign: char, text: &str| writeln!(out, "{sign}{text}").expect("writing to a string");
    let number = |start: usize, end: usize| if start == end { start } else { start + 1 };
    let (a_size, b_size) = (a_end - a_start, b_end - b_start);
    let (a_first, b_first) = (number(a_start, a_end), number(b_start, b_end));
    line('@', &format!("@ -{a_first},{a_size} +{b_first},{b_size} @@"));
    let mut shown = a_start;
    for (old, new) in hunk {
        a[shown..old.start].iter().for_each(|text| line(' ', text));
        a[old.clone()].iter().for_each(|text| line('-', text));
        b[new.clone()].iter().for_each(|text| line('+', text));
        shown = old.end;
    }
    a[shown..a_end].iter().for_each(|text| line(' ', text));
}

#[cfg(test)]
mod tests {
    use super::unified_diff;

    fn check(before: &str, after: &str, expected: &str) {
        let lines = |text: &str| text.split(' ').map(|line| format!("{line}\n")).collect::<String>();
        assert_eq!(unified_diff(&lines(before), &lines(after)), expected);
    }

    #[test]
    fn equal_texts_have_no_difference() {
        check("a b c", "a b c", "");
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        check(
            "a b c d e f g h i",
            "a b c d X f g h i",
            "--- before\n+++ after\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+X\n f\n g\n h\n",
        );
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let found = unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "2\n3\n4\n5\n6\n7\n8\n9\n10\n");
        let heads: Vec<&str> = found.lines().filter(|line| line.starts_with("@@")).collect();
        assert_eq!(heads, ["@@ -1,4 +1,3 @@", "@@ -7,3 +6,4 @@"]);
    }

    #[test]
    fn moved_and_repeated_lines_are_matched_in_order() {
        check("x } y }", "y } x }", "--- before\n+++ after\n@@ -1,4 +1,4 @@\n-x\n-}\n y\n+}\n+x\n }\n");
        check("} } }", "} }", "--- before\n+++ after\n@@ -1,3 +1,2 @@\n }\n }\n-}\n");
    }
}
