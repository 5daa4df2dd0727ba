//! Differences between two texts, line by line.
//!
//! Histogram diff, which matches the rarest lines first. SSA text consists almost only of unique lines, and
//! renumbering one value changes every line after it. Then the number of differences is the number of lines,
//! and the shortest edit (Myers) would cost the square of that.

use std::fmt::Write;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// The number of context lines around a change.
const CONTEXT: u32 = 3;

/// The difference in unified format, with the file names `before` and `after`; empty if there is none.
pub fn unified_diff(before: &str, after: &str) -> String {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let changes: Vec<Hunk> = diff.hunks().collect();
    if changes.is_empty() {
        return String::new();
    }
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut out = String::from("--- before\n+++ after\n");
    for group in changes.chunk_by(|a, b| b.before.start - a.before.end <= 2 * CONTEXT) {
        write_group(&mut out, group, &before, &after).expect("writing to a string");
    }
    out
}

/// Writes changes that are near each other, with the lines around them.
fn write_group(out: &mut String, changes: &[Hunk], before: &[&str], after: &[&str]) -> std::fmt::Result {
    let (first, last) = (&changes[0], &changes[changes.len() - 1]);
    let lead = first.before.start.min(CONTEXT);
    let tail = (before.len() as u32 - last.before.end).min(CONTEXT);
    let old = first.before.start - lead..last.before.end + tail;
    let new = first.after.start - lead..last.after.end + tail;
    writeln!(out, "@@ -{},{} +{},{} @@", number(&old), old.len(), number(&new), new.len())?;
    let mut shown = old.start;
    for change in changes {
        write_lines(out, ' ', before, shown..change.before.start)?;
        write_lines(out, '-', before, change.before.clone())?;
        write_lines(out, '+', after, change.after.clone())?;
        shown = change.before.end;
    }
    write_lines(out, ' ', before, shown..old.end)
}

/// The number of the first line, from 1; for an empty range, that of the line before it.
fn number(lines: &Range<u32>) -> u32 {
    if lines.is_empty() { lines.start } else { lines.start + 1 }
}

fn write_lines(out: &mut String, sign: char, lines: &[&str], range: Range<u32>) -> std::fmt::Result {
    let mut shown = lines[range.start as usize..range.end as usize].iter();
    shown.try_for_each(|line| writeln!(out, "{sign}{line}"))
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
        check("x } y }", "y } x }", "--- before\n+++ after\n@@ -1,4 +1,4 @@\n-x\n-}\n y\n }\n+x\n+}\n");
        check("} } }", "} }", "--- before\n+++ after\n@@ -1,3 +1,2 @@\n }\n }\n-}\n");
    }

    /// The shortest edit of these would cost 4 * 10^10 comparisons.
    #[test]
    fn renumbered_text_costs_no_square() {
        let text = |prefix: &str| (0..100_000).map(|i| format!("{prefix}{i}\n")).collect::<String>();
        let lines = unified_diff(&text("%a"), &text("%b")).lines().count();
        assert_eq!(lines, 3 + 200_000);
    }
}
