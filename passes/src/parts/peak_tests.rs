//! Which concatenations are in place, compared with the cost of every other choice?

use super::*;
use crate::place::Step;
use crate::place::random::Random;

fn value(index: usize) -> Value {
    Value::new(index)
}

/// A value's first and last step, and its bytes.
type Life = (usize, usize, u64);

/// A function with values of these live ranges and nothing in place.
fn peak_of(lives: &[Life], steps: usize) -> Peak {
    let mut peak = Peak { live_ranges: SecondaryMap::new(), copied: vec![0; steps] };
    for (index, (first, last, bytes)) in lives.iter().enumerate() {
        let live_range = LiveRange { first: Step::new(*first), last: Step::new(*last) };
        peak.live_ranges[value(index)] = Some((live_range, *bytes));
        (*first..=*last).for_each(|step| peak.copied[step] += bytes);
    }
    peak
}

/// A concatenation: the index of its result, and those of the operands that could be in place.
type Whole = (usize, Vec<usize>);

/// The peak if the concatenations of this choice are in place.
fn most_bytes(lives: &[Life], wholes: &[Whole], kept: &[bool], steps: usize) -> u64 {
    let at = |step: usize| {
        let own = |(index, (first, last, bytes)): (usize, &Life)| {
            let whole = wholes.iter().zip(kept).find(|((result, _), kept)| **kept && *result == index);
            let is_part = wholes.iter().zip(kept).any(|((_, parts), kept)| *kept && parts.contains(&index));
            // In place, a concatenation is live from its first operand on, and its operands have no bytes of
            // their own.
            let first = whole.map_or(*first, |((_, parts), _)| {
                parts.iter().map(|part| lives[*part].0).fold(*first, usize::min)
            });
            if !is_part && first <= step && step <= *last { *bytes } else { 0 }
        };
        lives.iter().enumerate().map(own).sum()
    };
    (0..steps).map(at).max().unwrap_or(0)
}

fn kept(lives: &[Life], wholes: &[Whole], steps: usize) -> Vec<bool> {
    let wholes: Vec<ConcatValue> = wholes
        .iter()
        .map(|(result, parts)| ConcatValue {
            value: value(*result),
            parts: parts.iter().map(|part| value(*part)).collect(),
        })
        .collect();
    peak_of(lives, steps).keep(&wholes)
}

#[test]
fn operands_are_in_place_unless_that_raises_the_peak() {
    // Two operands of 4 bytes and their concatenation, and an earlier value.
    let with = |bytes: u64| {
        let lives = [(0, 4, 4), (3, 4, 4), (4, 5, 8), (0, 2, bytes)];
        kept(&lives, &[(2, vec![0, 1])], 6)
    };
    assert_eq!(with(0), [true], "8 bytes and not 16");
    assert_eq!(with(8), [true], "16 bytes either way");
    assert_eq!(with(9), [false], "the bytes of the second operand are not used yet, 17 would be live");
    // One concatenation raises the peak, the other does not.
    let lives = [(0, 4, 4), (3, 4, 4), (4, 5, 8), (0, 2, 9), (6, 7, 4), (7, 8, 4)];
    assert_eq!(kept(&lives, &[(2, vec![0, 1]), (5, vec![4])], 9), [false, true]);
}

#[test]
fn of_two_that_raise_the_peak_only_what_must_be_is_copied() {
    // Both results would be live from step 1 on, with 10 bytes each, of which only 2 are written so far.
    let lives = [(1, 4, 2), (4, 5, 10), (1, 6, 2), (6, 7, 10), (1, 1, 3), (4, 4, 6)];
    let wholes = [(1, vec![0]), (3, vec![2])];
    let copied = most_bytes(&lives, &wholes, &[false, false], 8);
    let found = kept(&lives, &wholes, 8);
    assert_eq!(copied, 20, "2, 10, 2 and 6 at step 4");
    assert_eq!(most_bytes(&lives, &wholes, &[true, true], 8), 26);
    assert_eq!(most_bytes(&lives, &wholes, &[true, false], 8), 18);
    assert_eq!(most_bytes(&lives, &wholes, &[false, true], 8), 28);
    assert_eq!(found, [true, false]);
}

#[test]
fn a_choice_is_never_worse_than_none_or_all_in_place() {
    let mut random = Random(5);
    let mut lowered = 0;
    for _ in 0..500 {
        let mut lives: Vec<Life> = Vec::new();
        let mut wholes: Vec<Whole> = Vec::new();
        for _ in 0..random.range(1, 3) {
            let at = random.range(3, 9) as usize;
            let parts = random.range(1, 3) as usize;
            let begin = lives.len();
            for _ in 0..parts {
                let first = random.range(0, at as u64 - 1) as usize;
                lives.push((first, at, random.range(1, 9)));
            }
            let bytes = lives[begin..].iter().map(|life| life.2).sum::<u64>() + random.range(0, 9);
            lives.push((at, random.range(at as u64, 11) as usize, bytes));
            wholes.push((begin + parts, (begin..begin + parts).collect()));
        }
        let first = random.range(0, 8) as usize;
        lives.push((first, first + random.range(0, 3) as usize, random.range(0, 30)));
        let found = kept(&lives, &wholes, 12);
        let bytes = |kept: &[bool]| most_bytes(&lives, &wholes, kept, 12);
        let none = bytes(&vec![false; wholes.len()]);
        let all = bytes(&vec![true; wholes.len()]);
        let most = bytes(&found);
        assert!(most <= none && most <= all, "{lives:?} {wholes:?}: {most} of {none} and {all}");
        assert!(wholes.len() > 1 || found[0] == (all <= none), "{lives:?}: {all} and {none}");
        // Dropping one more would not be better.
        for index in (0..wholes.len()).filter(|index| found[*index]) {
            let mut without = found.clone();
            without[index] = false;
            assert!(bytes(&without) >= most, "{lives:?} {wholes:?} {found:?}");
        }
        lowered += u32::from(most < none);
    }
    assert!(lowered > 0, "nothing was worth it");
}
