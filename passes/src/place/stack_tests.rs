//! The offsets that the search through stacks tries, and the cases in which it gives up.

use super::super::testing::{aligned, buffer, problem};
use super::super::{Buffer, Overlap};
use super::*;

static NEVER: fn() -> bool = || false;

fn id(index: u32) -> BufferId {
    BufferId::from_u32(index)
}

fn search(problem: &Problem, size_bytes: u64) -> StackSearch<'_> {
    StackSearch::new(problem, size_bytes, u64::MAX, &NEVER)
}

/// Three buffers, two of them alive at a time, and optionally a pinned one.
fn chain(pinned: Option<(u64, u64)>) -> Problem {
    let mut buffers = vec![buffer(0, 1, 4), buffer(1, 2, 6), buffer(2, 3, 5)];
    if let Some((offset, size)) = pinned {
        buffers.push(Buffer { pin: Some(offset), ..buffer(2, 2, size) });
    }
    problem(&buffers)
}

#[test]
fn what_waits_must_fit_above_the_floor_at_each_step() {
    let has_room = |pinned, floor| search(&chain(pinned), 12).has_room(floor);
    assert!(has_room(None, 0) && has_room(None, 1), "two of them have 11 bytes");
    assert!(!has_room(None, 2));
    assert!(has_room(Some((0, 1)), 0) && has_room(Some((0, 1)), 1), "the pinned byte is below the floor");
    assert!(!has_room(Some((0, 2)), 0));
    assert!(has_room(Some((3, 1)), 0) && !has_room(Some((3, 1)), 1), "the pinned byte is above the floor");
    let mut sharing = chain(None);
    sharing.overlaps.push(Overlap { input: id(0), output: id(1), min_distance_bytes: 0 });
    let has_room = |floor| search(&sharing, 12).has_room(floor);
    assert!(has_room(2) && has_room(6), "they might share bytes");
    assert!(!has_room(7), "one alone does not fit");
}

/// The possible offsets of a buffer that is alive with a pinned one of 4 bytes at 0.
fn candidates(align: u64, size_bytes: u64, floor: u64) -> Vec<u64> {
    let mut pair = problem(&[buffer(0, 9, 4), aligned(0, 9, 6, align)]);
    pair.buffers[id(0)].pin = Some(0);
    search(&pair, size_bytes).candidates(id(1), floor, None)
}

#[test]
fn a_buffer_stands_right_above_another_or_on_the_ground() {
    assert_eq!(candidates(1, 10, 0), [4]);
    assert_eq!(candidates(1, 9, 0), [0; 0], "a byte too few");
    assert_eq!(candidates(1, 10, 4), [4]);
    assert_eq!(candidates(1, 10, 5), [0; 0], "it is below the floor");
    assert_eq!(candidates(8, 14, 0), [8]);
    assert_eq!(candidates(8, 13, 0), [0; 0]);
    let apart = problem(&[buffer(0, 1, 4), buffer(2, 3, 6)]);
    let mut search = search(&apart, 10);
    search.offsets[id(0)] = Some(0);
    search.placed.push(id(0));
    assert_eq!(search.candidates(id(1), 0, Some(id(0))), [0, 4], "they are not alive together");
}

#[test]
fn of_the_orders_of_neighbours_that_do_not_touch_one_is_tried() {
    let mut pair = problem(&[buffer(0, 1, 4), buffer(2, 3, 6), buffer(8, 9, 1), buffer(9, 10, 1)]);
    let on_ground = |problem: &Problem, of: u32, after: u32| {
        let candidates = search(problem, 10).candidates(id(of), 0, Some(id(after)));
        candidates == [0]
    };
    assert!(on_ground(&pair, 1, 0) && on_ground(&pair, 0, 1), "all orders go up here");
    pair.overlaps.push(Overlap { input: id(2), output: id(3), min_distance_bytes: -1 });
    assert!(on_ground(&pair, 1, 0) && !on_ground(&pair, 0, 1));
    pair.overlaps[0].min_distance_bytes = 0;
    assert!(on_ground(&pair, 0, 1));
}

/// A buffer of 5 bytes that does not fit below a pinned one, and a small one alive later: the smallest
/// placement has 13 bytes, and the peak has 9.
fn blocked(capacity: Option<u64>) -> Problem {
    let mut pair = problem(&[buffer(0, 1, 4), buffer(0, 1, 5), buffer(5, 6, 1)]);
    pair.buffers[id(0)].pin = Some(4);
    pair.capacity = capacity;
    pair
}

#[test]
fn a_smallest_placement_above_the_bound_is_proved() {
    let placed = |capacity, max_nodes| {
        let options = PlannerOptions { max_nodes, threads: 1 };
        let found = stack(&blocked(capacity), &options, &|| false);
        (found.size_bytes, found.lower_bound_bytes, found.proved_best)
    };
    assert_eq!(placed(None, 1_000), (13, 13, true));
    assert_eq!(placed(None, 0), (13, 9, false), "nothing was searched");
    assert_eq!(placed(Some(12), 1_000), (13, 9, false), "nobody asks what more than the capacity takes");
    assert_eq!(placed(Some(13), 1_000), (13, 9, false), "it fits");
    let stopped = stack(&blocked(None), &PlannerOptions::default(), &|| true);
    assert_eq!(stopped.size_bytes, 13);
}

#[test]
fn used_up_tries_are_no_answer() {
    let blocked = blocked(None);
    for (size_bytes, tries, answer) in
        [(13, 1_000, Answer::Found), (12, 1_000, Answer::None), (13, 0, Answer::Unknown)]
    {
        let found = StackSearch::new(&blocked, size_bytes, tries, &NEVER).extend(0, None);
        assert!(found == answer, "{size_bytes} bytes, {tries} tries");
    }
    let nothing = problem(&[buffer(0, 1, 0)]);
    assert!(StackSearch::new(&nothing, 0, 0, &NEVER).extend(0, None) == Answer::Found);
}

#[test]
fn more_buffers_with_bytes_than_the_search_takes_on_are_left_as_they_are() {
    let improved = |count: u32, empty: u32| {
        let small = (0..count).map(|step| buffer(step, step, 1));
        let buffers: Vec<Buffer> = small.chain((0..empty).map(|step| buffer(step, step, 0))).collect();
        let problem = problem(&buffers);
        let mut best = Best::new(&problem);
        best.offer(Some((problem.buffers.values().map(|_| 99).collect(), 100)), "far up");
        improve(&problem, &PlannerOptions::default(), &NEVER, &mut best);
        best.size_bytes
    };
    assert_eq!((improved(24, 0), improved(24, 5)), (1, 1), "all stand on the ground");
    assert_eq!((improved(25, 0), improved(2, 0)), (100, 1));
}
