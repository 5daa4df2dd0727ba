//! Bounds, the best placement so far, named planners, faults of problems, and tables of problems.

use std::sync::Mutex;

use super::greedy::{Fit, GreedyOrder};
use super::portfolio::{ATTEMPTS, single, try_orders};
use super::random::Random;
use super::testing::{Family, aligned, buffer, problem};
use super::*;

fn id(index: u32) -> BufferId {
    BufferId::from_u32(index)
}

fn overlap(input: u32, output: u32, min_distance_bytes: i64) -> Overlap {
    Overlap { input: id(input), output: id(output), min_distance_bytes }
}

/// The bytes that are live at each step, counted one by one.
fn counted(problem: &Problem) -> Vec<u64> {
    let end = problem.buffers.values().map(|buffer| buffer.last.as_u32() + 1).max().unwrap_or(0);
    let at = |step: u32| {
        let live = problem.buffers.values();
        let live = live.filter(|buffer| buffer.first.as_u32() <= step && step <= buffer.last.as_u32());
        live.map(|buffer| buffer.size_bytes).sum()
    };
    (0..end).map(at).collect()
}

#[test]
fn live_bytes_are_the_sizes_of_what_is_alive_at_a_step_and_the_first_of_the_most_is_the_peak() {
    for family in [Family::Uniform, Family::Chain, Family::Residual, Family::Nested, Family::Skewed] {
        for seed in 0..20 {
            let problem = family.draw(1 + seed as u32, seed);
            let live = counted(&problem);
            assert_eq!(live_bytes(&problem), live, "{family:?} {seed}");
            let most = live.iter().copied().max().unwrap_or(0);
            let first = live.iter().position(|bytes| *bytes == most).unwrap_or(0);
            assert_eq!(peak_of(&problem), Some((Step::from_u32(first as u32), most)), "{family:?} {seed}");
        }
    }
    assert_eq!(live_bytes(&problem(&[])), [0; 0]);
    assert_eq!(peak_of(&problem(&[buffer(0, 3, 0)])), None);
}

#[test]
fn an_overlap_saves_only_while_both_are_alive() {
    let chain = [buffer(0, 1, 10), buffer(1, 2, 8), buffer(4, 5, 15), buffer(5, 6, 2)];
    let bound = |overlaps: &[Overlap]| {
        let problem = Problem { overlaps: overlaps.to_vec(), ..problem(&chain) };
        (lower_bound(&problem), peak_of(&problem).map(|(step, _)| step.as_u32()))
    };
    assert_eq!(bound(&[]), (18, Some(1)));
    assert_eq!(bound(&[overlap(0, 1, 0)]), (17, Some(5)), "the second pair is as it was");
    assert_eq!(bound(&[overlap(0, 1, 7)]), (17, Some(1)), "a byte is saved");
    assert_eq!(bound(&[overlap(0, 1, 8)]), (18, Some(1)));
    assert_eq!(bound(&[overlap(0, 2, 0), overlap(1, 3, 0)]), (18, Some(1)), "they never meet");
    assert_eq!(bound(&[overlap(0, 1, 7), overlap(1, 0, 6)]), (17, Some(5)), "the most that one allows");
    assert_eq!(bound(&[overlap(1, 0, 6), overlap(0, 1, 7)]), (17, Some(5)));
    let both = [overlap(0, 1, 0), overlap(2, 3, 0)];
    assert_eq!(bound(&both), (15, Some(4)));
}

#[test]
fn sizes_are_rounded_to_what_divides_all_alignments() {
    let bound = |buffers: &[Buffer]| lower_bound(&problem(buffers));
    assert_eq!(bound(&[aligned(0, 1, 5, 8), aligned(0, 1, 9, 12)]), 17, "8 and 9, or 12 and 5");
    assert_eq!(bound(&[aligned(0, 1, 5, 8), aligned(1, 2, 7, 8), aligned(1, 2, 8, 8)]), 21);
    assert_eq!(bound(&[aligned(0, 1, 5, 8), aligned(2, 3, 0, 3), aligned(0, 1, 5, 8)]), 13);
    assert_eq!(bound(&[aligned(0, 0, 5, 8), aligned(1, 1, 5, 8)]), 5);
}

fn placed(bytes: u64) -> Option<(PrimaryMap<BufferId, u64>, u64)> {
    Some((std::iter::once(bytes).collect(), bytes))
}

#[test]
fn the_best_is_the_first_of_the_smallest_and_proved_where_it_meets_the_bound() {
    let mut best = Best::new(&problem(&[buffer(0, 1, 10)]));
    assert_eq!((best.lower_bound_bytes, best.target(), best.is_enough()), (10, 10, false));
    best.offer(None, "nobody");
    best.offer(placed(30), "first");
    best.offer(placed(30), "as good");
    best.offer_ref(&PrimaryMap::new(), 31, "worse");
    assert_eq!((best.size_bytes, best.planner, best.is_enough()), (30, "first", false));
    best.offer_ref(&std::iter::once(20).collect(), 20, "better");
    assert_eq!((best.size_bytes, best.planner, best.offsets[id(0)]), (20, "better", 20));
    best.prove_above(10, 4);
    assert_eq!((best.lower_bound_bytes, best.target()), (12, 12), "the next multiple of 4");
    best.prove_above(12, 4);
    assert_eq!((best.lower_bound_bytes, best.target()), (16, 16));
    best.prove_above(3, 1);
    assert_eq!((best.lower_bound_bytes, best.is_enough()), (16, false), "that was known");
    best.prove_above(19, 1);
    assert!(best.is_enough());
    let found = best.into_placement();
    assert_eq!((found.size_bytes, found.lower_bound_bytes, found.proved_best), (20, 20, true));
}

#[test]
fn with_a_capacity_whatever_fits_is_enough() {
    let sized = |capacity: u64| Problem { capacity: Some(capacity), ..problem(&[buffer(0, 1, 10)]) };
    for (capacity, target) in [(5, 10), (10, 10), (25, 25)] {
        let mut best = Best::new(&sized(capacity));
        assert_eq!(best.target(), target);
        best.offer(placed(target + 1), "too large");
        assert!(!best.is_enough());
        best.offer(placed(target), "just");
        assert!(best.is_enough());
        let found = best.into_placement();
        assert_eq!((found.lower_bound_bytes, found.proved_best), (10, target == 10));
        let again = Best::of(&sized(capacity), found);
        assert_eq!((again.size_bytes, again.target(), again.planner), (target, target, "just"));
    }
}

#[test]
fn gaps_are_counted_from_the_bound() {
    let placement = |size_bytes: u64, lower_bound_bytes: u64| Placement {
        offsets: PrimaryMap::new(),
        size_bytes,
        lower_bound_bytes,
        proved_best: false,
        planner: "test",
    };
    assert_eq!((placement(15, 10).gap_bytes(), placement(15, 10).gap()), (5, 0.5));
    assert_eq!((placement(10, 10).gap_bytes(), placement(10, 10).gap()), (0, 0.0));
    assert_eq!((placement(9, 10).gap_bytes(), placement(3, 0).gap()), (0, 3.0));
}

#[test]
fn who_watches_is_told_of_each_better_size_and_bound() {
    for family in Family::ALL {
        for seed in 0..4 {
            let problem = family.draw(12, seed);
            let told: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
            let list = told.clone();
            let watch: Watch = Arc::new(move |size: u64, bound: u64| {
                list.lock().expect("nobody panics").push((size, bound));
            });
            let placement = place_watched(&problem, &PlannerOptions::default(), &|| false, watch);
            assert_eq!(placement, place(&problem, &PlannerOptions::default()), "{family:?} {seed}");
            let told = told.lock().expect("nobody panics").clone();
            let last = (placement.size_bytes, placement.lower_bound_bytes);
            assert_eq!(told.last(), Some(&last), "{family:?} {seed}");
            let grows = told.windows(2).all(|pair| pair[1].0 <= pair[0].0 && pair[1].1 >= pair[0].1);
            assert!(grows, "{family:?} {seed}: {told:?}");
        }
    }
}

#[test]
fn the_first_of_the_best_orders_is_taken() {
    for family in Family::ALL {
        for seed in 0..6 {
            let problem = family.draw(25, seed);
            let of = |(name, order, fit)| (single(&problem, name, order, fit).size_bytes, name);
            let all: Vec<(u64, &str)> = ATTEMPTS.into_iter().map(of).collect();
            let least = all.iter().map(|(size, _)| *size).min().expect("there are some");
            let first = all.iter().find(|(size, _)| *size == least).expect("it is one of them");
            let mut best = Best::new(&problem);
            try_orders(&problem, &mut best, &|| false, ..);
            assert_eq!((best.size_bytes, best.planner), *first, "{family:?} {seed}");
            let mut stopped = Best::new(&problem);
            try_orders(&problem, &mut stopped, &|| true, ..);
            assert_eq!((stopped.size_bytes, stopped.planner), all[0], "one is tried at the least");
        }
    }
}

#[test]
fn a_named_planner_is_asked_once_and_the_best_one_twice() {
    let mut smaller = 0;
    for seed in 0..30 {
        let problem = Family::Uniform.draw(24, seed);
        let birth = Placer::named("birth").expect("it is a planner");
        let only = single(&problem, "birth", GreedyOrder::Birth, Fit::Best);
        assert_eq!(birth.sketch(&problem), only);
        assert_eq!(birth.finish(&problem, only.clone()), only);
        assert_eq!(birth.place(&problem), only);
        let auto = Placer::named("auto").expect("it is a planner");
        let best = place(&problem, &PlannerOptions::default());
        assert_eq!(auto.sketch(&problem), sketch(&problem));
        assert_eq!(auto.place(&problem), best);
        assert_eq!(auto.finish(&problem, sketch(&problem)), best);
        smaller += u32::from(best.size_bytes < only.size_bytes);
    }
    assert!(smaller > 0, "the order of execution is never worse");
    assert!(Placer::named("aut").is_none() && planner("area").is_some_and(|found| found.name == "area"));
}

/// A problem of two buffers, with the first one changed.
fn changed(change: impl FnOnce(&mut Buffer)) -> Problem {
    let mut problem = problem(&[aligned(2, 4, 8, 4), buffer(3, 5, 8)]);
    change(&mut problem.buffers[id(0)]);
    problem
}

#[test]
fn each_fault_of_a_buffer_is_told_and_what_is_next_to_it_is_right() {
    let steps = |first, last| {
        changed(move |buffer| {
            buffer.first = Step::from_u32(first);
            buffer.last = Step::from_u32(last);
        })
    };
    assert_eq!(steps(4, 4).validate(), []);
    assert_eq!(steps(5, 4).validate(), [ProblemFault::LifeEndsBeforeItBegins(id(0))]);
    assert_eq!(changed(|buffer| buffer.align = 1).validate(), []);
    assert_eq!(changed(|buffer| buffer.align = 0).validate(), [ProblemFault::ZeroAlignment(id(0))]);
    let pinned = |size_bytes, pin| {
        changed(move |buffer| {
            buffer.size_bytes = size_bytes;
            buffer.pin = Some(pin);
        })
    };
    for (size, pin) in [(8, 0), (8, 12), (0, 0)] {
        assert_eq!(pinned(size, pin).validate(), [], "{size} bytes at {pin}");
    }
    for (size, pin) in [(8, 2), (8, 11), (0, 4), (0, 1)] {
        assert_eq!(pinned(size, pin).validate(), [ProblemFault::MisalignedPin(id(0))], "{size} at {pin}");
    }
    let mut both = steps(5, 4);
    both.buffers[id(1)].align = 0;
    let faults = [ProblemFault::LifeEndsBeforeItBegins(id(0)), ProblemFault::ZeroAlignment(id(1))];
    assert_eq!(both.validate(), faults, "all faults at once");
}

#[test]
fn an_overlap_is_of_two_buffers_that_there_are() {
    let faults = |input, output| {
        let mut problem = changed(|_| {});
        problem.overlaps.push(overlap(input, output, -8));
        problem.validate()
    };
    assert_eq!(faults(0, 1), []);
    assert_eq!(faults(1, 0), []);
    for (input, output) in [(0, 0), (1, 1), (0, 2), (2, 0)] {
        let expected = ProblemFault::SenselessOverlap(id(input), id(output));
        assert_eq!(faults(input, output), [expected], "{input} {output}");
    }
}

#[test]
fn all_numbers_together_stay_below_two_to_the_62() {
    const MOST: u64 = 1 << 62;
    // The other buffer takes 8 bytes at an alignment of 1; this one has an alignment of 4.
    let sized = |size_bytes, pin| {
        changed(move |buffer| {
            buffer.size_bytes = size_bytes;
            buffer.pin = Some(pin);
        })
    };
    let is_right = |problem: &Problem| problem.validate().is_empty();
    assert!(is_right(&sized(MOST - 14, 0)));
    assert_eq!(sized(MOST - 13, 0).validate(), [ProblemFault::TooManyBytes]);
    assert!(is_right(&sized(MOST - 18, 4)));
    assert_eq!(sized(MOST - 17, 4).validate(), [ProblemFault::TooManyBytes], "pins count");
    for distance in [-100, 100] {
        let mut problem = sized(MOST - 114, 0);
        problem.overlaps.push(overlap(0, 1, distance));
        assert!(is_right(&problem));
        problem.buffers[id(0)].size_bytes += 1;
        assert_eq!(problem.validate(), [ProblemFault::TooManyBytes], "a distance of {distance} counts");
    }
    assert_eq!(sized(u64::MAX, 0).validate(), [ProblemFault::TooManyBytes], "the sum does not wrap");
}

#[test]
fn a_table_has_the_columns_that_its_problem_needs() {
    let names: Vec<String> = ["a", "b"].map(str::to_owned).to_vec();
    let write = |problem: &Problem| csv::write(problem, &names, None);
    let mut pair = problem(&[buffer(0, 1, 8), buffer(1, 4, 6)]);
    assert_eq!(write(&pair), "id,lower,upper,size\na,0,2,8\nb,1,5,6\n");
    pair.buffers[id(1)].pin = Some(64);
    assert_eq!(write(&pair), "id,lower,upper,size,pin\na,0,2,8,\nb,1,5,6,64\n");
    pair.buffers[id(0)].align = 4;
    assert_eq!(write(&pair), "id,lower,upper,size,alignment,pin\na,0,2,8,4,\nb,1,5,6,1,64\n");
    pair.overlaps = vec![overlap(0, 1, -3), overlap(0, 1, 7)];
    let mut placement = place(&problem(&[buffer(0, 1, 8), buffer(1, 4, 6)]), &PlannerOptions::default());
    placement.offsets = [16, 64].into_iter().collect();
    let expected =
        "id,lower,upper,size,alignment,pin,overlaps,offset\na,0,2,8,4,,,16\nb,1,5,6,1,64,a:-3;a:7,64\n";
    assert_eq!(csv::write(&pair, &names, Some(&placement)), expected);
    let read = csv::read(expected).expect("it was just written");
    assert!(read.problem.buffers == pair.buffers && read.problem.overlaps == pair.overlaps);
    assert_eq!(read.offsets, Some(vec![16, 64]));
}

#[test]
fn numbers_that_look_random_lie_in_their_range_and_reach_its_ends() {
    for (low, high) in [(0, 0), (0, 1), (5, 9), (3, 3)] {
        let mut random = Random(1);
        let drawn: Vec<u64> = (0..200).map(|_| random.range(low, high)).collect();
        assert!((low..=high).all(|number| drawn.contains(&number)));
        assert!(drawn.iter().all(|number| (low..=high).contains(number)));
    }
}

#[test]
fn a_table_is_read_with_blanks_around_its_fields_and_lines() {
    let text = "\n  \n id , lower,upper ,size\n\n a , 4294967293 ,4294967294, 8 \n";
    let read = csv::read(text).expect("blanks say nothing");
    let only = &read.problem.buffers[id(0)];
    assert_eq!((only.first.as_u32(), only.last.as_u32(), only.size_bytes), (u32::MAX - 2, u32::MAX - 2, 8));
    assert_eq!(read.names, ["a"]);
    let overlaps = csv::read("id,start,end,size,overlaps\na,5,5,1,\nb,5,6,1,;a:-4;\n");
    let overlaps = overlaps.expect("an overlap may be left out").problem;
    assert_eq!(overlaps.overlaps, [overlap(0, 1, -4)]);
    assert_eq!([0, 1].map(|index| overlaps.buffers[id(index)].last), [5, 6].map(Step::from_u32));
}

#[test]
fn what_is_wrong_in_a_table_is_told_at_its_first_character() {
    let faults = |text: &str| {
        let faults = csv::read(text).expect_err("something is wrong");
        faults.iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    let lacks = |name: &str| [format!("1:1: the header has no column `{name}`")];
    assert_eq!(faults("lower,upper,size"), lacks("id"));
    assert_eq!(faults("id,upper,size"), lacks("lower"));
    assert_eq!(faults("id,lower,size"), lacks("upper"));
    assert_eq!(faults("size"), lacks("id"), "the first of all that it lacks");
    assert_eq!(
        faults("id,lower,upper,size\n  a, 0,  x ,y"),
        [
            "2:10: `x` is no upper: expected a whole number below 2^62",
            "2:13: `y` is no size: expected a whole number below 2^62",
        ]
    );
    assert_eq!(faults("id,lower,upper,size\na,0,1,2, 3"), ["2:10: 5 fields, expected 4"]);
    assert_eq!(faults("\nid,lower, id"), ["2:11: `id` repeats an earlier column"]);
}

#[test]
fn what_is_wrong_is_said_with_the_buffers_that_it_is_about() {
    use super::checker::Violation;

    for (violation, expected) in [
        (Violation::WrongCount { found: 1, expected: 2 }, "1 offsets, expected 2"),
        (Violation::Misaligned(id(3)), "the offset of buffer3 is not a multiple of its alignment"),
        (Violation::AboveCapacity(id(3)), "buffer3 ends above the capacity"),
        (Violation::WrongSize { found: 4, expected: 5 }, "the size is given as 4, expected 5"),
    ] {
        assert_eq!(violation.to_string(), expected);
    }
    for (fault, expected) in [
        (ProblemFault::LifeEndsBeforeItBegins(id(1)), "the live range of buffer1 ends before it begins"),
        (ProblemFault::ZeroAlignment(id(1)), "the alignment of buffer1 is 0, expected at least 1"),
        (ProblemFault::SenselessOverlap(id(0), id(0)), "buffer0 and buffer0 are no pair of two buffers"),
    ] {
        assert_eq!(fault.to_string(), expected);
    }
}
